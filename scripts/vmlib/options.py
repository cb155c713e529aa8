# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The options of the command line, and the setup that the machines of a command share."""
import argparse
import os

from . import guest, kernel as kernels, machine
from .common import TOP, VM, build_id, die
from .image import Image


def parse(argv, command):
    p = argparse.ArgumentParser(prog="vm " + command, add_help=False)
    p.add_argument("--mode", choices=("ours", "stock"), default="ours")
    p.add_argument("--two", action="store_true")
    p.add_argument("--timeout", type=int)
    p.add_argument("--modules")
    p.add_argument("--only")
    p.add_argument("--args", default="")
    p.add_argument("--script")
    p.add_argument("--kernel", choices=("distribution",) + kernels.KINDS)
    p.add_argument("--kver")
    p.add_argument("--accel", choices=("tcg", "kvm"))
    p.add_argument("--smp", type=int)
    p.add_argument("--mem", type=int)
    p.add_argument("--cpu", default="Nehalem,+smep,+smap,+rdrand")
    p.add_argument("--icount", action="store_true")
    p.add_argument("--append", default="")
    p.add_argument("--plugin")
    p.add_argument("--hw", action="store_true")
    p.add_argument("--quiet", action="store_true")
    p.add_argument("--no-debug", dest="debug", action="store_false")
    p.add_argument("scenario", nargs="*")
    return p.parse_args(argv)


def for_scenario(opts, scenario):
    """the options for a scenario: without debugging if it measures, and with its machine"""
    debug = opts.debug and scenario.debug() and not opts.icount
    smp = opts.smp or (1 if opts.icount else scenario.smp())
    return argparse.Namespace(**{
        **vars(opts), "debug": debug, "smp": smp,
        "mem": opts.mem or scenario.mem()})


def our_modules(opts, kernel):
    where = opts.modules or os.path.join(TOP, "build", kernel.kver)
    found = {}
    for base, _, names in os.walk(where):
        for name in names:
            if name.endswith(".ko"):
                found[name] = os.path.join(base, name)
    only = opts.only.split() if opts.only else sorted(found)
    missing = [n for n in only if n not in found]
    if missing or not only:
        die("no", " ".join(missing) or "modules", "in", where,
            "(make %smodules)" % ("KERNEL=%s " % kernel.kind if kernel.kind else ""))
    return [found[n] for n in only]


class Setup:
    """the image, modules and accelerator of all machines of one command"""

    def __init__(self, opts):
        os.makedirs(VM, exist_ok=True)
        kernel = kernels.of(opts)
        self.modules = our_modules(opts, kernel) if opts.mode == "ours" else []
        self.image = Image(kernel)
        self.built = guest.built(kernel)
        self.accel = "tcg" if opts.icount else \
            opts.accel or machine.probe_kvm(self.image, opts)

    def overlay(self):
        """the overlay with our modules; made at the first call"""
        return self.image.overlay(self.modules)

    def our_ids(self):
        return {os.path.basename(m)[:-3]: build_id(m) for m in self.modules}
