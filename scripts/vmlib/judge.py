# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Decides whether a run passes or fails, by the scenario's exit status and its results."""
import os
import re
import subprocess

from . import races
from .common import TESTS, read, say

BAD_DMESG = re.compile(
    r"WARNING:|\bBUG\b|\bOops\b|general protection|kernel NULL pointer"
    r"|Kernel panic|unable to handle|refcount_t|use-after-free|\bleak(ed|s|ing)?\b"
    r"|possible (circular|recursive) locking|inconsistent lock state"
    r"|suspicious RCU|sleeping function called|scheduling while atomic"
    r"|blocked for more than|self-detected stall|detected stalls|soft lockup"
    r"|hard LOCKUP|list_(add|del) corruption|slab.*(corrupt|Objects remaining)"
    r"|unregister_netdevice: waiting|waiting for .* to become free"
    r"|Slab cache still has objects|disagrees about version|Unknown symbol"
    r"|stack segment|divide error|double fault|invalid opcode"
    r"|KFENCE: .* in|Redzone|Poison overwritten|Object already free"
    # What the debug kernel reports without one of these words, and its checkers that give up.
    r"|KASAN: |ODEBUG: (?!selftest)|DMA-API: .*(driver|memory)|ref_tracker: "
    r"|register non-static key|lockdep is turned off|MAX_LOCK\w+ too low|MAX_STACK\w+ too low"
    r"|unreferenced object|kmemleak: .*(disabled|suspected|unknown|empty|alias|overlaps)")
# Messages of our modules when something is left behind, lost or stuck.
DISTRESS = re.compile(
    r"send queue stalled|left its MAD agent behind|cannot be reset|lost, no MADs"
    r"|did not drain|drain called from a completion"
    r"|no MAD service|event lost, no memory|no memory to report event"
    r"|(deleting|reading) GID index|would move a pinned|not usable after a move")
# Modules that are not the kernel's own (4096), and not signed (8192).
GOOD_TAINT = 4096 | 8192
# Lines of a healthy kernel that the expression above would catch.
GOOD_DMESG = re.compile(r"Spectre|Speculative|MDS:|TAA:|mitigation|SRSO|RETBleed"
                        r"|leak detector initialized|use-after-free debug is enabled")
# The last line of a report, and how many lines one has at most.
END_OF_REPORT = re.compile(r"---\[ end |\] ={50,}$")
REPORT_LINES = 60


def bad_lines(text, allowed):
    bad = []
    for line in text.splitlines():
        if DISTRESS.search(line) or \
                BAD_DMESG.search(line) and not GOOD_DMESG.search(line):
            if not any(re.search(a, line) for a in allowed):
                bad.append(line)
    return bad


def report(text, first):
    """the lines that follow the bad line first, as far as they belong to its report"""
    lines = text.splitlines()
    at = lines.index(first) + 1
    for n, line in enumerate(lines[at:at + REPORT_LINES]):
        if END_OF_REPORT.search(line):
            return lines[at:at + n]
    return lines[at:at + REPORT_LINES]


def show(text, bad):
    """bad: its bad lines; the report of the first tells most: those after it may follow from it"""
    for line in bad[:10]:
        say("dmesg:", line)
    for line in report(text, bad[0]):
        say("report:", line)


def kernel(result, allowed, theirs):
    """what is wrong in the kernel's log, and with its taint; theirs: modules not to judge"""
    text, others = races.split(result["dmesg"], theirs)
    for title in sorted(set(others)):
        say("not of our modules:", title)
    bad = bad_lines(text, allowed)
    if bad:
        yield "%d bad lines in dmesg" % len(bad)
        show(text, bad)
    if "Linux version" not in text[:4000]:
        yield "dmesg does not begin at boot"
    taint = result.get("tainted", "").strip()
    if not taint.isdigit() or int(taint) & ~GOOD_TAINT:
        yield "taint " + (taint or "unknown")


def checkers(result, kind):
    """what the checkers that do not write to the log have to say"""
    if kind == "kcsan":
        counts = dict(re.findall(r"^(\w+): (\d+)$", result.get("kcsan", ""), re.M))
        say("kcsan: %s watchpoints, %s races" % (counts.get("setup_watchpoints"),
                                                 counts.get("data_races")))
        if counts.get("enabled") != "1":
            yield "KCSAN is off"
    if kind != "debug":
        return
    # It stops at its first report.
    if not re.search(r"^ *debug_locks: *1$", result.get("lockdep", ""), re.M):
        yield "lockdep is off"
    leaks = result.get("kmemleak", "kmemleak has failed").strip()
    if leaks:
        yield "memory that nothing points to"
        for line in leaks.splitlines()[:20]:
            say("kmemleak:", line)


def core(loaded, ours, stock, mode):
    """compare the loaded modules with the expected ones, by build id"""
    if not any(line.startswith("ib_core ") for line in loaded.splitlines()):
        yield "no proof of the core"
        return
    for line in loaded.splitlines():
        name, found = line.split()[:2]
        if found != (ours.get(name) if name in ours else stock.get(name)):
            yield "%s is not the %s one" % (name, mode)
            return


def machine(m, late, allowed, setup, mode):
    """what is wrong in the results of machine m; late: it was killed"""
    result = m.unpack()
    if "dmesg" not in result:
        yield "vm hung" if late else "vm died"
        bad = bad_lines(m.console(), allowed)
        if bad:
            yield "%d bad lines on the console" % len(bad)
            show(m.console(), bad)
        return
    if result.get("status", "").strip() != "0":
        yield "exit status " + result.get("status", "none").strip()
    ours, stock = setup.our_ids(), setup.image.stock_ids()
    yield from kernel(result, allowed, set(stock) - set(ours))
    yield from checkers(result, setup.image.kernel.kind)
    yield from core(result.get("core", ""), ours, stock, mode)


def host_checks(scenario, rundir):
    """failures of the programs in the scenario's "# host-check: FILE" lines"""
    for name in scenario.lines("host-check"):
        r = subprocess.run([os.path.join(TESTS, "tools", name), rundir], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(r.stdout, end="", flush=True)
        if r.returncode:
            yield "host check %s failed" % name


def emulator_race(m):
    """
    QEMU's TCG can execute a breakpoint that the kernel's text_poke placed and has
    already removed again. The kernel reports this as an Oops. If it happened in the
    kernel's own text, no module is to blame.
    """
    oops = re.search(r"Oops: int3:.*?RIP: (\S+)( \[\w+\])?", m.console(), re.S)
    return bool(oops and not oops.group(2))


def known_failure(scenario, mode, machines):
    """
    The reasons why the in-tree core is known to fail this scenario, if the log shows that
    it failed in the known way; else [].
    """
    with_lines = scenario.lines("stock-fails-with")
    if mode != "stock" or not with_lines:
        return []
    logs = "".join(read(m.file(name)).decode(errors="replace")
                   for m in machines for name in ("log", "dmesg") if os.path.exists(m.file(name)))
    if not any(re.search(w, logs, re.M) for w in with_lines):
        return []
    return scenario.lines("stock-fails")
