# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The kernels that machines boot."""
import os

from .common import die, read, script

KINDS = ("debug", "kcsan")      # of scripts/kernel/debug-kernel


def newest_kver():
    found = script("kernel/kver")
    if not found:
        die("no linux-headers package installed; run scripts/install-deps")
    return found


class Kernel:
    """
    The distribution's kernel kver, or the newest that has headers. kdir is what modules are
    built against, kind which of KINDS it is, mem what a machine needs, in MiB; slow is how many
    times longer than on this kernel everything may take.
    """
    kind = None
    mem = 1536
    slow = 1

    def __init__(self, kver=None, kdir=None):
        self.kver = kver or newest_kver()
        self.is_6_1 = self.kver.startswith("6.1.")
        self.kdir = kdir or script("kernel/stock-headers", self.kver)
        if not self.kdir:
            die("no headers of kernel " + self.kver)

    def image(self):
        """the directory that vm-image makes"""
        return script("vmlib/vm-image", self.kver)


class DebugKernel(Kernel):
    """Those of scripts/kernel/debug-kernel: debug has KASAN and lockdep, kcsan has KCSAN."""
    mem = 3072
    slow = 4

    def __init__(self, kind):
        kdir = script("kernel/debug-kernel", kind)
        if not kdir:
            die("the %s kernel does not build" % kind)
        release = os.path.join(kdir, "include", "config", "kernel.release")
        super().__init__(read(release).decode().strip(), kdir)
        self.kind = kind

    def image(self):
        return script("vmlib/vm-image", self.kver, self.kdir)


def of(opts):
    """the kernel that the options name"""
    if opts.kernel in KINDS:
        if opts.kver:
            die("--kver is of the distribution's kernel")
        return DebugKernel(opts.kernel)
    return Kernel(opts.kver)
