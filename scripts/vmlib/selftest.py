# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
Checks that the runner detects each kind of failure: tests/vm/seeded has one of each. Those
with a line "# kernel: KIND..." are for what that debug kernel reports.
"""
import os

from .common import VM, read, say
from .judge import bad_lines, report
from .run import label, run_all
from .scenarios import seeded


def unnoticed(opts, scenario):
    """whether the scenario passed, and the expected failures that were not detected"""
    run_all(opts, [scenario])
    run = os.path.join(VM, "runs", label(scenario.name, opts))
    result, log = (read(os.path.join(run, n)).decode() for n in ("result", "log"))
    unseen = [w for w in scenario.lines("expect")
              if w.replace(" ", "_") not in result and "FAIL: " + w not in log]
    titles, stack = scenario.lines("expect-dmesg"), scenario.lines("expect-report")
    if titles or stack:
        dmesg = read(os.path.join(run, "dmesg")).decode()
        bad = bad_lines(dmesg, [])
        unseen += [w for w in titles if w not in "\n".join(bad)]
        unseen += [w for w in stack if w not in "\n".join(report(dmesg, bad[0]))]
    return "status=fail" not in result, unseen


def selftest(opts):
    opts.quiet = True
    missed = 0
    for scenario in seeded():
        kernels = [k for words in scenario.lines("kernel") for k in words.split()]
        if (opts.kernel or "distribution") not in (kernels or ["distribution"]):
            continue
        passed, unseen = unnoticed(opts, scenario)
        if passed or unseen:
            say(scenario.name, "was not noticed:", *unseen)
            missed += 1
    print("vm: %s" % ("%d seeded failures missed" % missed if missed else
                      "every seeded failure was noticed"))
    return 1 if missed else 0
