# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Loads the symbols of our modules into gdb when User Mode Linux loads the modules; see
scripts/kunit --gdb.

In a module functions, lines, arguments and local variables are right; the addresses of its
global variables are not set.
"""
import glob
import os
import subprocess

import gdb

MODULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                       "build", "uml", "modules")


def offset(member):
    """of a member of struct module, from a module: the kernel has no debug information"""
    expression = "output/d (unsigned long)&((struct module *)0)->" + member
    ko = os.path.join(MODULES, "core", "ib_core.ko")
    return int(subprocess.run(["gdb", "-batch", "-ex", expression, ko], check=True,
                              text=True, stdout=subprocess.PIPE).stdout)


NAME, TEXT = offset("name"), offset("mem[0].base")


def loaded():
    """called at the start of do_init_module(), before any code of the module has run"""
    name = gdb.parse_and_eval("(char *)$rdi + %d" % NAME).string()
    text = int(gdb.parse_and_eval("*(unsigned long *)($rdi + %d)" % TEXT))
    for ko in glob.glob(MODULES + "/**/%s.ko" % name, recursive=True):
        gdb.execute("add-symbol-file %s %#x" % (ko, text), to_string=True)


# The kernel's page faults, timer ticks and device interrupts are signals.
for line in ("set confirm off", "set breakpoint pending on",
             "handle SIGSEGV SIGUSR1 SIGUSR2 SIGALRM SIGIO SIGCHLD nostop noprint pass"):
    gdb.execute(line, to_string=True)
# gdb sets pending breakpoints while it is stopped, but not in a stop handler: so load the
# symbols in the commands of a breakpoint.
gdb.Breakpoint("do_init_module").commands = "silent\npython loaded()\ncontinue"
