# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What stands in the way of unloading the core, and what to stop."""
import collections

from .devices import Devices
from .fabrics import Fabrics
from .modules import Modules
from .processes import Processes, stoppable
from .targets import Targets

# what: one line for people.  kind and name: what --stop can stop, see services.py.
Obstacle = collections.namedtuple("Obstacle", "what stop kind name")


class Obstacles:
    """finds them; each method yields those of one kind"""

    def __init__(self, host):
        self.host = host
        self.modules = Modules(host)
        # modules whose users have been named
        self.explained = set()

    def all(self):
        """every one"""
        found = []
        for method in (self.mounts, self.nfsd, self.block, self.targets, self.sockets,
                       self.processes, self.fabrics, self.insmodded, self.unknown):
            found += method()
        # nfsd has the same port for IPv4 and IPv6
        return list(dict.fromkeys(found))

    def unit(self, what, unit, stop, names):
        """an obstacle that ends with a unit, if systemd runs it"""
        self.explained.update(names)
        if self.host.is_dir("/run/systemd/system") and \
                not self.host.run("systemctl", "is-active", "--quiet", unit).status:
            return Obstacle(what, "systemctl stop %s" % unit, "unit", unit)
        return Obstacle(what, stop, "", "")

    def mounts(self):
        """file systems over RDMA"""
        for _, where, kind, options in self.host.mounts():
            words = options.split(",")
            if kind.startswith("nfs") and {"proto=rdma", "proto=rdma6"} & set(words):
                what, names = "NFS over RDMA", ["rpcrdma", "xprtrdma"]
            elif kind == "9p" and "trans=rdma" in words:
                what, names = "9P over RDMA", ["9pnet_rdma"]
            elif kind in ("cifs", "smb3") and "rdma" in words:
                what, names = "SMB over RDMA", ["cifs"]
            else:
                continue
            self.explained.update(names)
            yield Obstacle("%s is mounted at %s" % (what, where), "umount %s" % where,
                           "mount", where)

    def nfsd(self):
        """a server of NFS over RDMA"""
        for line in (self.host.read("/proc/fs/nfsd/portlist") or "").splitlines():
            if line.startswith("rdma"):
                yield self.unit("nfsd listens on RDMA port %s" % line.split()[-1],
                                "nfs-server.service", "rpc.nfsd 0", ["rpcrdma", "svcrdma"])

    def block(self):
        """disks over RDMA"""
        for host in self.host.list("/sys/class/iscsi_host"):
            if self.host.word("/sys/class/scsi_host/%s/proc_name" % host) == "iser":
                self.explained.add("ib_iser")
                yield Obstacle("an iSER session, SCSI %s" % host,
                               "log out with iscsiadm -m node -u", "", "")
        for name in self.host.list("/sys/class/nvme"):
            folder = "/sys/class/nvme/" + name
            if self.host.word(folder + "/transport") == "rdma":
                self.explained.add("nvme_rdma")
                yield Obstacle("%s is connected over RDMA to %s" % (
                    name, self.host.word(folder + "/subsysnqn") or "a subsystem"),
                    "nvme disconnect -d %s" % name, "", "")
        for name in self.host.list("/sys/class/srp_remote_ports"):
            self.explained.add("ib_srp")
            yield Obstacle("SRP is logged in to %s" % name,
                           "echo 1 > /sys/class/srp_remote_ports/%s/delete" % name, "", "")
        for name in self.host.list("/sys/class/rnbd-client/ctl/devices"):
            self.explained.add("rnbd_client")
            yield Obstacle("RNBD has the device %s" % name,
                           "echo normal > /sys/class/rnbd-client/ctl/devices/%s/rnbd/unmap_device"
                           % name, "", "")

    def targets(self):
        """targets that others connect to"""
        targets = Targets(self.host)
        for port in targets.nvmet():
            self.explained.update(("nvmet_rdma", "nvmet"))
            yield Obstacle("nvmet listens on RDMA, port %s" % port,
                           "rm %s/*" % targets.links(port), "nvmet", port)
        for portal in targets.iser():
            self.explained.add("ib_isert")
            yield Obstacle("LIO has an iSER portal, %s" % portal.split("/")[-1],
                           "echo 0 > %s/iser, and to enable of its group" % portal, "iser",
                           portal)
        for name in self.host.list("/sys/kernel/config/target/srpt"):
            if name.startswith(("0x", "fe80")) or ":" in name:
                self.explained.add("ib_srpt")
                yield Obstacle("LIO has an SRP target, %s" % name,
                               "targetcli clearconfig", "", "")

    def sockets(self):
        """families of sockets over RDMA"""
        for name, what, stop in (
                ("rds_rdma", "RDS over RDMA", "end the programs with RDS sockets"),
                ("smc", "SMC", "end the programs with SMC sockets (smcss)")):
            if self.modules.loaded(name) and self.modules.held_otherwise(name) > 0:
                self.explained.add(name)
                yield Obstacle("%s is in use" % what, stop, "", "")

    def processes(self):
        """processes with devices open"""
        ids = {pid for (_, pid) in Devices(self.host).users() if pid}
        for user in Processes(self.host).users(ids):
            what = "process %d (%s)%s has %s" % (
                user.pid, user.name, user.unit and " of " + user.unit,
                ", ".join(user.files) or "RDMA resources")
            # what it has open may be of any provider
            self.explained.update(("rdma_ucm", "ib_uverbs", "ib_umad"))
            self.explained.update(self.modules.family())
            if stoppable(user.unit):
                yield Obstacle(what, "systemctl stop %s" % user.unit, "unit", user.unit)
            else:
                yield Obstacle(what, "kill %d" % user.pid, "", "")

    def fabrics(self):
        """fabrics of vib that cannot be made again"""
        fabrics = Fabrics(self.host)
        for name in fabrics.names():
            self.explained.add("vib")
            if fabrics.trunks(name):
                yield Obstacle("vib has the fabric %s, which has trunks" % name,
                               "vibctl down --fabric %s" % name, "", "")

    def insmodded(self):
        """modules that modprobe could not load again"""
        for name in self.modules.family():
            if name != "ib_mad" and not self.modules.would_load(name):
                yield Obstacle("module %s was loaded from a file that modprobe does not know"
                               % name, "rmmod %s, or install it below %s" % (
                                   name, self.modules.tree), "", "")

    def unknown(self):
        """modules in use by something else than the above"""
        if self.host.list("/sys/kernel/config/rdma_cm"):
            # the settings of ports, which are restored, use it more than once each
            self.explained.add("rdma_cm")
        for name in self.modules.family():
            others = self.modules.held_otherwise(name)
            if others > 0 and name not in self.explained:
                yield Obstacle("module %s is in use %d times by the kernel" % (name, others),
                               "what uses it (lsmod, dmesg)", "", "")
