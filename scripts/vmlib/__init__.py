# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The parts of scripts/vm.

common     paths and functions that all parts use
scenarios  finds scenarios and reads their headers
kernel     the kernels that machines boot
image      what a machine boots from: kernel, root file system, our modules
archive    writes cpio archives
guest      the files in /ibex: tests/vm, test modules and programs
machine    runs QEMU
judge      decides whether a run passes or fails
options    the options of the command line, and the setup that depends on them
run        runs a scenario from its start to its result
shell      a machine with a shell, at a terminal or for piped commands
selftest   the seeded failures
"""
