# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the benchmarks of scenarios share: the runs, their rows, and tables of results."""
import os
import subprocess

from vmlib.common import TOP


def run_vm(*words):
    """the status of scripts/vm run"""
    return subprocess.run([os.path.join(TOP, "scripts", "vm"), "run", "--quiet", *words]).returncode


def rows(scenario, mode="ours", mark="row"):
    """the cells of each row that the last run has printed, which begins with mark"""
    with open(os.path.join(TOP, "build", "vm", "runs", scenario + "-" + mode, "log")) as log:
        for line in log:
            cells = [c.strip() for c in line.split("|")]
            if cells[0] == mark:
                yield cells[1:]


def show_table(table):
    """in reStructuredText, with a header"""
    print("\n.. csv-table::\n   :header-rows: 1\n")
    for row in table:
        print("   " + ", ".join('"%s"' % cell for cell in row))
