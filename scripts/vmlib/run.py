# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs a scenario from its start to its result."""
import fcntl
import glob
import os
import resource
import shutil
import tempfile
import time

from . import guest, judge, machine
from .common import VM, die, read, say
from .kernel import KINDS
from .options import Setup, for_scenario
from .scenarios import Scenario


def folder(label):
    """the empty folder of a run, and its lock file, which is locked while it is open"""
    rundir = os.path.join(VM, "runs", label)
    os.makedirs(os.path.dirname(rundir), exist_ok=True)
    lock = open(rundir + ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    shutil.rmtree(rundir, ignore_errors=True)
    os.makedirs(rundir)
    return rundir, lock


def label(name, opts):
    """the name of a run's folder"""
    return "-".join([name, opts.mode] + ([opts.kernel] if opts.kernel in KINDS else []))


def time_bound(opts, scenario, kernel):
    """the time bound, extended on a busy machine: it is there to end hangs"""
    bound = opts.timeout or scenario.timeout() * kernel.slow
    busy = os.getloadavg()[0] / (os.cpu_count() or 1) * (2 if opts.two else 1)
    return int(bound * min(max(1, busy), 5))


def files_of(setup, opts, scenario):
    """
    The files for the machine, path in the guest -> (mode, bytes), and the names of the
    archives of the image that it needs, too; a shell may have no scenario.
    """
    files = guest.tests()
    more = ["hw"] if opts.hw else []
    built = setup.built
    if scenario:
        files["ibex/scenario.sh"] = (0o644, read(scenario.path))
        more = scenario.lines("image") + more
    for name in guest.SUBJECTS:
        if name in more:
            built = {**built, **guest.subject(name, setup.image.kernel)}
    more = [name for name in more if name not in guest.SUBJECTS]
    for i, name in enumerate(more):
        if name in guest.PROGRAMS:
            more[i], programs = guest.programs(name)
            built = {**built, **programs}
    for there, path in built.items():
        files[there] = (0o755, read(path))
    return files, more


def start_machines(setup, opts, scenario, rundir, bound, socket):
    """yields the machines as they start; two are connected by a network over socket"""
    files, more = files_of(setup, opts, scenario)
    start = time.monotonic()
    for role in ("server", "client") if opts.two else ("both",):
        suffix = "." + role if opts.two else ""
        files.update(guest.config(
            IBEX_SCENARIO=scenario.name, IBEX_ROLE=role, IBEX_MODE=opts.mode,
            IBEX_TIMEOUT=bound, IBEX_ARGS=opts.args, IBEX_SLOW=setup.image.kernel.slow))
        setup.image.initrd(os.path.join(rundir, "initrd" + suffix),
                           setup.overlay(), files, more)
        while role == "client" and not os.path.exists(socket):
            if time.monotonic() - start > 20:
                die("the first VM does not listen")
            time.sleep(0.05)
        yield machine.Machine(machine.command(
            setup.image, opts, setup.accel, rundir, suffix,
            machine.network(role, socket) if opts.two else ()), rundir, suffix)


def run_machines(setup, opts, scenario, rundir, bound):
    """the machines, those that had to be killed, and the boot time"""
    machines = []
    start = time.monotonic()
    socket = os.path.join(tempfile.mkdtemp(prefix="ibex-vm-"), "net")
    try:
        for m in start_machines(setup, opts, scenario, rundir, bound, socket):
            machines.append(m)
        boot = machine.watch(
            machines, start, bound + 60,
            lambda line: None if opts.quiet else print(line, flush=True))
        late = [m for m in machines if m.running()]
    finally:
        for m in machines:
            m.kill()
        shutil.rmtree(os.path.dirname(socket))
        for path in glob.glob(rundir + "/initrd*"):
            os.unlink(path)
    return machines, late, boot


def cpu_time():
    """CPU time of children that have ended, seconds"""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime


def run_scenario(setup, opts, scenario, again):
    """pass, known or fail; or emulator, if the emulator failed and again is set"""
    name = scenario.name + ("-two" if opts.two else "")
    rundir, lock = folder(label(name, opts))
    with lock:
        setup.overlay()
        start, cpu = time.monotonic(), cpu_time()
        kernel = setup.image.kernel
        machines, late, boot = run_machines(setup, for_scenario(opts, scenario), scenario,
                                            rundir, time_bound(opts, scenario, kernel))
        cpu = cpu_time() - cpu
        allowed = scenario.allowed(opts.mode)
        reasons = []
        for m in machines:
            reasons += judge.machine(m, m in late, allowed, setup, opts.mode)
        reasons += judge.host_checks(scenario, rundir)
        if again and any(judge.emulator_race(m) for m in machines):
            say("the emulator tripped over a code patch (int3): once more")
            return "emulator"
        known = judge.known_failure(scenario, opts.mode, machines) \
            if all(r.startswith(("exit status", "taint")) for r in reasons) else []
        status = "pass" if not reasons else "known" if known else "fail"
        line = "RESULT scenario=%s mode=%s%s status=%s wall=%.1f cpu=%.1f boot=%.1f " \
            "reason=%s" % (name, opts.mode, " kernel=%s" % kernel.kind if kernel.kind else "", status,
                           time.monotonic() - start, cpu, boot,
                           ",".join(r.replace(" ", "_") for r in reasons) or "none")
        with open(os.path.join(rundir, "result"), "w") as f:
            f.write(line + "\n")
        if reasons:
            say(*(["known:"] + known if known else ["see"]), os.path.relpath(rundir))
        print(line, flush=True)
        return status


def run_all(opts, scenarios=None):
    """how many of the scenarios failed"""
    scenarios = scenarios or [Scenario(name, opts.script) for name in opts.scenario]
    setup = Setup(opts)
    good = 0
    for scenario in scenarios:
        # On a busy host the emulator has failed twice in a row.
        for again in (True, True, False):
            status = run_scenario(setup, opts, scenario, again)
            if status != "emulator":
                break
        good += status in ("pass", "known")
    if len(scenarios) > 1:
        print("vm: %d of %d scenarios passed" % (good, len(scenarios)))
    return len(scenarios) - good
