# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A machine with a shell, at this terminal or for piped commands."""
import os
import sys
import termios
import time

from . import guest, judge, machine
from .common import die, say
from .options import Setup, for_scenario
from .run import files_of, folder, label
from .scenarios import Scenario

# Seconds in which piped commands must end, as no user is there to notice a hang.
PIPE_BOUND = 600
# the bound for a terminal without --timeout
NO_BOUND = 10**8


def settings(terminal):
    """what the machine must know about this terminal"""
    if not terminal:
        return {"IBEX_SHELL": "pipe"}
    size = os.get_terminal_size(sys.stdin.fileno())
    return {"IBEX_SHELL": "terminal", "IBEX_TERM": os.environ.get("TERM", "dumb"),
            "IBEX_ROWS": size.lines or 24, "IBEX_COLUMNS": size.columns or 80}


def devices(terminal, rundir):
    """
    A terminal is connected to the serial line. A pipe is connected to a virtio port, which
    waits for its reader and passes on the end of file; the serial line would lose input that
    arrives too early.
    """
    if terminal:
        return ["-chardev", "stdio,id=con,mux=on,signal=off,logfile=%s/console" % rundir,
                "-mon", "chardev=con"]
    return machine.port("in", "stdio", "signal=off")


def run_machine(cmd, rundir, terminal, bound):
    """run the machine to its end and return it"""
    files = {"stdin": None}
    if terminal:
        files["stdout"] = None
        attributes = termios.tcgetattr(sys.stdin)
    m = machine.Machine(cmd, rundir, **files)
    try:
        machine.watch([m], time.monotonic(), bound + 60,
                      lambda line: None if terminal else print(line, flush=True))
        if m.running():
            say("killed after %d s" % (bound + 60))
    finally:
        m.kill()
        os.unlink(os.path.join(rundir, "initrd"))
        # QEMU restores both when it ends, but not when it is killed.
        os.set_blocking(sys.stdin.fileno(), True)
        if terminal:
            termios.tcsetattr(sys.stdin, termios.TCSANOW, attributes)
    return m


def shell(opts):
    """the shell's exit status, or 1 if the machine ended otherwise"""
    if opts.two or len(opts.scenario) > 1:
        die("a shell is of one machine, and for one scenario")
    scenario = Scenario(opts.scenario[0], opts.script) if opts.scenario else None
    if scenario:
        opts = for_scenario(opts, scenario)
    terminal = sys.stdin.isatty()
    bound = opts.timeout or (NO_BOUND if terminal else PIPE_BOUND)
    setup = Setup(opts)
    rundir, lock = folder(label("shell", opts))
    with lock:
        files, more = files_of(setup, opts, scenario)
        files.update(guest.config(
            IBEX_SCENARIO=scenario.name if scenario else "", IBEX_ROLE="both",
            IBEX_MODE=opts.mode, IBEX_TIMEOUT=bound, IBEX_ARGS=opts.args,
            IBEX_SLOW=setup.image.kernel.slow,
            **settings(terminal)))
        setup.image.initrd(os.path.join(rundir, "initrd"), setup.overlay(), files, more)
        if terminal:
            say("booting; exit or poweroff ends it, Ctrl-A and x end it at once")
        m = run_machine(machine.command(setup.image, opts, setup.accel, rundir,
                                        more=devices(terminal, rundir)),
                        rundir, terminal, bound)
        result = m.unpack()
    for line in judge.bad_lines(result.get("dmesg") or m.console(), [])[:10]:
        say("dmesg:", line)
    status = result.get("status", "the machine died").strip()
    say("exit status %s; what it left is in" % status if status.isdigit() else status + "; see",
        os.path.relpath(rundir))
    return int(status) if status.isdigit() else 1
