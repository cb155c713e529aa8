# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""With Secure Boot the kernel loads only modules that someone it trusts has signed."""
from .modules import CORES, Modules
from .obstacles import Obstacle

LOCKDOWN = "/sys/kernel/security/lockdown"
ENFORCED = "/sys/module/module/parameters/sig_enforce"


class Signatures:
    """of the cores on disk"""

    def __init__(self, host):
        self.host = host
        self.modules = Modules(host)

    def wanted(self):
        """whether this kernel refuses other modules"""
        lockdown = self.host.word(LOCKDOWN)
        return self.host.word(ENFORCED) == "Y" or bool(lockdown) and "[none]" not in lockdown

    def trusted(self, signer):
        """
        Whether a kernel's keyring has a key of this name.  A module names its key by a serial
        number, which the kernel does not show.
        """
        return any(" asymmetri %s: " % signer in line
                   for line in (self.host.read("/proc/keys") or "").splitlines())

    def refused(self, core):
        """why the kernel would refuse a core, as a list of one obstacle; or an empty one"""
        if not self.wanted():
            return []
        for name, path in sorted(self.modules.core_files()[core].items()):
            done = self.host.run("modinfo", "-F", "signer", path)
            signer = done.out.strip()
            if done.status or not signer:
                return [Obstacle("the kernel would refuse %s of the %s core, which is not signed "
                                 "(Secure Boot)" % (name, core),
                                 "install openssl and build the modules again", "", "")]
            if not self.trusted(signer):
                return [Obstacle("the kernel would refuse %s of the %s core, as it does not "
                                 "trust the key '%s' (Secure Boot)" % (name, core, signer),
                                 "mokutil --import /var/lib/dkms/mok.pub, reboot, and confirm",
                                 "", "")]
        return []

    def all(self):
        """what the kernel would refuse of the cores that are installed and not in memory"""
        # Which core is in memory takes reading all of its modules.
        if not self.wanted():
            return []
        memory = self.modules.memory()
        return [one for core in CORES if core != memory and self.modules.installed(core)
                for one in self.refused(core)]
