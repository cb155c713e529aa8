# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The parts of scripts/vm.

common     paths, and what all parts use
scenarios  where scenarios are and what their headers say
image      what a machine boots from: kernel, root file system, our modules
archive    cpio
guest      what else it finds in /ibex: tests/vm, test modules and programs
machine    QEMU
judge      what makes a run pass or fail
options    of the command line, and what follows from them
run        a scenario from its start to its result
shell      a machine for whoever types, or pipes commands in
selftest   the seeded failures
"""
