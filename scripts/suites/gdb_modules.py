# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Has gdb know our modules as User Mode Linux loads them; see scripts/kunit --gdb.

Of a module functions, lines, arguments and local variables are right; where its global
variables are is not told.
"""
import glob
import os
import subprocess

import gdb

MODULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                       "build", "uml", "modules")


def offset(member):
    """of struct module, which the kernel itself has no debug information of"""
    expression = "output/d (unsigned long)&((struct module *)0)->" + member
    ko = os.path.join(MODULES, "core", "ib_core.ko")
    return int(subprocess.run(["gdb", "-batch", "-ex", expression, ko], check=True,
                              text=True, stdout=subprocess.PIPE).stdout)


NAME, TEXT = offset("name"), offset("mem[0].base")


def loaded():
    """at the beginning of do_init_module(): nothing of the module has run"""
    name = gdb.parse_and_eval("(char *)$rdi + %d" % NAME).string()
    text = int(gdb.parse_and_eval("*(unsigned long *)($rdi + %d)" % TEXT))
    for ko in glob.glob(MODULES + "/**/%s.ko" % name, recursive=True):
        gdb.execute("add-symbol-file %s %#x" % (ko, text), to_string=True)


# Faults, ticks and devices of the kernel are signals.
for line in ("set confirm off", "set breakpoint pending on",
             "handle SIGSEGV SIGUSR1 SIGUSR2 SIGALRM SIGIO SIGCHLD nostop noprint pass"):
    gdb.execute(line, to_string=True)
# A breakpoint that waits for a symbol is set where gdb has stopped, not in a stop handler.
gdb.Breakpoint("do_init_module").commands = "silent\npython loaded()\ncontinue"
