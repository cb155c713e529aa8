# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
The choice of the core that modprobe loads, in the configuration of depmod and modprobe.

depmod prefers updates/, that is Ibex, unless it is told otherwise.  The distribution has no
module ib_mad: depmod would still find the symbols of its ib_core in Ibex's ib_mad, too, and
have modprobe load that before the distribution's ib_cm, which fails.  So for the
distribution's core modprobe is told to load no ib_mad.
"""
from .index import Index
from .modules import SHARED, STOCK_DIR

NAME = "ibex.conf"
DEPMOD = "/etc/depmod.d/" + NAME
MODPROBE = "/etc/modprobe.d/ibexctl.conf"
HEAD = "# Written by ibexctl(8) swap stock; ibexctl swap ibex removes it.\n"


class Choice:
    """what is chosen, for all kernels"""

    def __init__(self, host):
        self.host = host

    def get(self):
        """stock, ibex, or other if only half of it is there"""
        there = [self.host.exists(DEPMOD), self.host.exists(MODPROBE)]
        return "stock" if all(there) else "other" if any(there) else "ibex"

    def prepare(self, core):
        """what set() will need, while nothing changes yet"""
        Index(self.host).prepare(NAME, self.overrides() if core == "stock" else None)

    def set(self, core, prepared=False):
        """choose a core; until depmod has run, or was prepared, the former one is chosen"""
        if core == "stock":
            self.host.save(MODPROBE, HEAD + "install ib_mad /bin/true\n")
            self.host.save(DEPMOD, self.overrides())
        else:
            self.host.remove(DEPMOD)
            self.host.remove(MODPROBE)
        if prepared:
            Index(self.host).commit()
        else:
            self.depmod()

    def depmod(self):
        """the index of all modules, as they are now"""
        self.host.must("depmod", "-a", self.host.kver, timeout=600)
        self.forget()

    def forget(self):
        """what was prepared is not needed"""
        Index(self.host).drop()

    @staticmethod
    def overrides():
        """the text of DEPMOD"""
        return HEAD + "".join("override %s * %s\n" % (name, STOCK_DIR) for name in SHARED)
