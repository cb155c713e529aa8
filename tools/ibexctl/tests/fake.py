# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
A host in a directory: a kernel with modules of two cores, rxe links, IPoIB, systemd.  Its
commands do to the directory what the real ones do to /sys.
"""
import json
import os
import shutil
import tempfile
import unittest

from ibexctl import choice
from ibexctl.fabrics import VIB
from ibexctl.host import Failed, Host, Missing, Result
from ibexctl.modules import CORE, SHARED, STOCK_DIR

from . import elfs
from .vib import FakeVib

KVER = "6.12.0-test"
TREE = "/lib/modules/%s/" % KVER
# what each needs; in the distribution ib_mad is a part of ib_core
NEEDS = {"ib_core": (), "ib_mad": ("ib_core",), "ib_cm": ("ib_core", "ib_mad"),
         "iw_cm": ("ib_core",), "rdma_cm": ("ib_core", "ib_cm", "iw_cm"),
         "ib_uverbs": ("ib_core",), "ib_umad": ("ib_core", "ib_mad"),
         "rdma_ucm": ("rdma_cm", "ib_uverbs", "ib_core"), "rdma_rxe": ("ib_core", "ib_uverbs"),
         "mlx5_ib": ("ib_core", "ib_uverbs"), "rpcrdma": ("rdma_cm", "ib_core"),
         "ib_ipoib": ("ib_core", "ib_cm"), "ib_isert": ("rdma_cm", "ib_core"),
         "nvmet_rdma": ("rdma_cm", "ib_core"), "vib": ("ib_core", "ib_uverbs")}
PATHS = {"rdma_rxe": "sw/rxe", "mlx5_ib": "hw/mlx5", "rpcrdma": "xprt", "ib_ipoib": "ulp/ipoib",
         "ib_isert": "ulp/isert", "nvmet_rdma": "nvme", "vib": "sw/vib"}
CHANGING = ("rmmod", "modprobe", "depmod", "systemctl", "umount", "mount", "write", "unlink",
            "symlink", "mkdir", "rmdir")
GROUP = "/sys/kernel/config/target/iscsi/iqn.2001-04.org:a/tpgt_1/"
PORTAL = GROUP + "np/10.0.0.1:3260"
PORT = "/sys/kernel/config/nvmet/ports/1/"
SUBSYSTEMS = "/sys/kernel/config/nvmet/subsystems/"
CHILD = {"ifname": "ib0.8001", "link": "ib0", "mtu": 2044, "flags": ["UP"],
         "linkinfo": {"info_data": {"pkey": "0x8001", "mode": "datagram"}}}
PARENT = {"ifname": "ib0", "mtu": 2044, "flags": ["UP"],
          "linkinfo": {"info_data": {"pkey": "0xffff", "mode": "datagram"}}}
GID = "fe:80:00:00:00:00:00:00:00:02:c9:03:00:01:02:03"


class Killed(BaseException):
    """kill -9"""


class FakeHost(FakeVib, Host):
    """
    The host.  commands has all commands that change something; at(n) is called before the nth
    of them, and saved(n) after the nth time that the journal was written.
    """

    def __init__(self):
        # many hosts are made, and journals are synced
        self.dir = tempfile.TemporaryDirectory(
            dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        super().__init__(self.dir.name)
        self.time = 0.0
        self.commands, self.links, self.at = [], {}, lambda n: None
        self.saves, self.saved, self.after = 0, lambda n: None, lambda n: None
        self.units, self.busy, self.answers, self.missing = {}, {}, {}, set()
        self.nets, self.configured, self.sessions = {}, {}, 0
        # who has signed the modules of each core
        self.signers = {"stock": "the distribution", "ibex": ""}
        self.put("/proc/sys/kernel/osrelease", KVER + "\n")
        self.put("/proc/sys/kernel/random/boot_id", "boot-1\n")
        self.put("/proc/self/mounts", "/dev/sda / ext4 rw 0 0\n")
        self.put(TREE + "modules.dep", "ibex")
        self.put(TREE + "modules.order", "")
        os.makedirs(self.path("/run/systemd/system"))
        for name in SHARED:
            self.put(TREE + STOCK_DIR + "/%s.ko" % name, self.built(name, "stock"))
        for name in CORE:
            self.put(TREE + "updates/%s.ko" % name, self.built(name, "ibex"))
        for name, folder in PATHS.items():
            self.put(TREE + "kernel/%s/%s.ko" % (folder, name), self.built(name, "any"))

    def close(self):
        """remove the directory"""
        self.dir.cleanup()

    @staticmethod
    def built(name, core):
        """a module's file: it exports a symbol of its name, and imports those it needs"""
        exports = {name + "_sym": 7}
        if core == "stock" and name == "ib_core":
            exports["ib_mad_sym"] = 7
        return elfs.module(core + name, exports, {need + "_sym": 7 for need in NEEDS[name]},
                           {"depends": ",".join(NEEDS[name])}, btf=(core + name).encode())

    def put(self, path, data):
        """a file"""
        full = self.path(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def link_to(self, path, target):
        """a symbolic link"""
        full = self.path(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        os.symlink(target, full)

    def secure_boot(self, *owners):
        """the kernel loads what the distribution or one of the owners has signed"""
        self.put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n")
        self.put("/proc/keys", "".join(
            "0a I------ 1 perm 1f010000 0 0 asymmetri %s: 4c48: X509.rsa cb []\n" % name
            for name in ("the distribution",) + owners))

    # --- the kernel ----------------------------------------------------------------------
    @property
    def chosen(self):
        """the core that depmod has preferred"""
        return self.word(TREE + "modules.dep")

    def file_of(self, name):
        """what modprobe would load"""
        if name in SHARED and self.chosen == "stock":
            path = TREE + STOCK_DIR + "/%s.ko" % name
        elif name in CORE:
            path = TREE + "updates/%s.ko" % name
        elif name in PATHS:
            path = TREE + "kernel/%s/%s.ko" % (PATHS[name], name)
        else:
            return ""
        return path if self.exists(path) else ""

    def is_loaded(self, name):
        """whether it is in memory"""
        return self.exists("/sys/module/%s/initstate" % name)

    def mad_is_core(self):
        """whether the ib_core in memory has the MADs"""
        return b"stockib_core" in (self.read_bytes(
            "/sys/module/ib_core/notes/.note.gnu.build-id") or b"")

    def count(self):
        """refcnt of all"""
        for name in self.list("/sys/module"):
            count = "%d\n" % (len(self.list("/sys/module/%s/holders" % name)) +
                              self.busy.get(name, 0))
            if self.read("/sys/module/%s/refcnt" % name) != count:
                self.put("/sys/module/%s/refcnt" % name, count)

    def load(self, name):
        """what modprobe does"""
        if self.is_loaded(name):
            return ""
        if name == "ib_mad" and self.exists(choice.MODPROBE):
            return ""
        path = self.file_of(name)
        if not path:
            return "FATAL: Module %s not found" % name
        for need in NEEDS[name]:
            # the distribution's modules need what our ib_mad exports, as depmod sees it
            wrong = self.load(need)
            if wrong:
                return wrong
        if name == "ib_mad" and self.mad_is_core():
            return "ib_mad: Unknown symbol"
        top = "/sys/module/%s/" % name
        data = self.read_bytes(path)
        at = data.index(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0")
        self.put(top + "notes/.note.gnu.build-id", data[at:at + 36])
        self.put(top + "taint", "OE\n" if "/updates/" in path else "\n")
        self.put("/sys/kernel/btf/" + name, data[at:at + 0] + self.btf_of(path))
        self.put(top + "initstate", "live\n")
        for need in NEEDS[name]:
            if self.is_loaded(need):
                self.put("/sys/module/%s/holders/%s" % (need, name), "")
        if name == "ib_ipoib":
            self.add_net(PARENT)
        self.count()
        return ""

    def btf_of(self, path):
        """the section of a file"""
        core = "ibex" if "/updates/" in path else "stock" if STOCK_DIR in path else "any"
        return (core + os.path.basename(path)[:-3]).encode()

    def unload(self, name):
        """what rmmod does"""
        if not self.is_loaded(name):
            return "ERROR: Module %s is not currently loaded" % name
        if int(self.word("/sys/module/%s/refcnt" % name)):
            return "ERROR: Module %s is in use" % name
        shutil.rmtree(self.path("/sys/module/" + name))
        os.unlink(self.path("/sys/kernel/btf/" + name))
        for other in self.list("/sys/module"):
            held = self.path("/sys/module/%s/holders/%s" % (other, name))
            if os.path.exists(held):
                os.unlink(held)
        if name == "rdma_rxe":
            for link in list(self.links):
                self.drop_link(link)
        if name == "ib_ipoib":
            for net in list(self.nets):
                self.drop_net(net)
        self.count()
        return ""

    def add_link(self, name, netdev):
        """rdma link add"""
        if not self.is_loaded("rdma_rxe"):
            return "error: Invalid argument"
        self.links[name] = netdev
        self.link_to("/sys/class/infiniband/" + name, "../../devices/virtual/infiniband/" + name)
        top = "/sys/devices/virtual/infiniband/%s/" % name
        self.put(top + "parent", netdev)
        self.put(top + "node_type", "1: CA")
        self.put(top + "ports/1/state", "4: ACTIVE")
        return ""

    def drop_link(self, name):
        """rdma link delete"""
        if name not in self.links:
            return "error: No such device"
        del self.links[name]
        os.unlink(self.path("/sys/class/infiniband/" + name))
        shutil.rmtree(self.path("/sys/devices/virtual/infiniband/" + name))
        return ""

    def add_net(self, what):
        """an interface of IPoIB"""
        name = what["ifname"]
        self.nets[name] = dict(what, address=[], flags=[])
        data = what["linkinfo"]["info_data"]
        for key, value in (("type", "32"), ("address", "80:00:02:08:" + GID),
                           ("pkey", data["pkey"]), ("mode", "datagram")):
            self.put("/sys/class/net/%s/%s" % (name, key), value)

    def drop_net(self, name):
        """it is gone"""
        del self.nets[name]
        shutil.rmtree(self.path("/sys/class/net/" + name))

    # --- commands ------------------------------------------------------------------------
    def run(self, *argv, timeout=120):
        if argv[0] in self.missing:
            raise Missing("the command %s is missing" % argv[0])
        changes = argv[0] in CHANGING and "--version" not in argv and \
            argv[1] not in ("is-active",) or argv[:2] in (
                ("rdma", "link"), ("rdma", "dev"), ("ip", "link"), ("ip", "address")) and \
            argv[2] != "-j"
        if changes:
            self.commands.append(" ".join(argv))
            broken = self.at(len(self.commands))
            if broken:
                return Result(1, "", "%s\n" % broken)
        text = getattr(self, "do_" + argv[0], self.other)(*argv)
        if changes:
            self.after(len(self.commands))
        if isinstance(text, tuple):
            return Result(*text)
        return Result(1 if text else 0, "", text)

    def other(self, *argv):
        """what a test has prepared"""
        return self.answers.get(" ".join(argv), (1, "", "no such thing"))

    def do_modinfo(self, *argv):
        """modinfo -F filename NAME, or -F signer FILE"""
        if "signer" in argv:
            signer = self.signers["stock" if STOCK_DIR in argv[-1] else "ibex"]
            return (0, signer and signer + "\n", "")
        path = self.file_of(argv[-1])
        return (0, path + "\n", "") if path else (1, "", "not found")

    def do_depmod(self, *argv):
        """depmod -a [-b FOLDER -C FOLDER] KVER; it refuses a tree without modules"""
        if "--version" in argv:
            return ""
        top = argv[argv.index("-b") + 1] if "-b" in argv else self.root
        conf = argv[argv.index("-C") + 1] if "-C" in argv else self.path("/etc/depmod.d")
        if not os.path.isdir(top + TREE + "updates"):
            return "no modules"
        with open(top + TREE + "modules.dep", "w", encoding="utf-8") as file:
            file.write("stock" if os.path.exists(conf + "/ibex.conf") else "ibex")
        return ""

    def do_modprobe(self, *argv):
        """modprobe"""
        return self.load(argv[1])

    def do_rmmod(self, *argv):
        """rmmod"""
        return self.unload(argv[1])

    def do_rdma(self, *argv):
        """rdma"""
        if argv[1:3] == ("dev", "set"):
            return self.rename_device(argv[3], argv[5])
        if argv[1:3] == ("link", "add"):
            return self.add_link(argv[3], argv[7])
        if argv[1:3] == ("link", "delete"):
            return self.drop_link(argv[3])
        if argv[1:] == ("-j", "link", "show"):
            return (0, json.dumps([{"ifname": name, "port": 1, "netdev": netdev}
                                   for name, netdev in self.links.items()]), "")
        if argv[1:] == ("system", "show"):
            return (0, "netns shared copy-on-fork on\n", "")
        return self.other(*argv)

    def do_ip(self, *argv):
        """ip"""
        if argv[-2:] == ("link", "show"):
            return (0, json.dumps([{k: v for k, v in net.items() if k != "address"}
                                   for net in self.nets.values()]), "")
        if argv[1:4] == ("-j", "address", "show"):
            return (0, json.dumps([{"addr_info": [
                {"local": one.split("/")[0], "prefixlen": int(one.split("/")[1]),
                 "scope": "global"} for one in self.nets[argv[-1]]["address"]]}]), "")
        if argv[1:3] == ("link", "add"):
            self.add_net(CHILD)
        elif argv[1:3] == ("address", "replace"):
            if argv[3] not in self.nets[argv[-1]]["address"]:
                self.nets[argv[-1]]["address"].append(argv[3])
        elif argv[1:3] == ("link", "set") and argv[-1] == "up":
            self.nets[argv[4]]["flags"] = ["UP"]
        elif argv[1:3] == ("link", "set") and argv[5] == "name":
            self.nets[argv[6]] = dict(self.nets.pop(argv[4]), ifname=argv[6])
            os.rename(self.path("/sys/class/net/" + argv[4]),
                      self.path("/sys/class/net/" + argv[6]))
        elif argv[1:3] != ("link", "set"):
            return (0, "[]", "")
        return ""

    def do_systemctl(self, *argv):
        """systemctl"""
        if argv[1] == "is-active":
            return "" if self.units.get(argv[-1]) else (3, "", "")
        if argv[-1] not in self.units:
            return "Unit %s not found." % argv[-1]
        self.units[argv[-1]] = argv[1] == "start"
        if argv[-1] == "srp_daemon.service":
            self.open_files(self.units[argv[-1]])
        return ""

    def do_umount(self, *argv):
        """umount"""
        keep = [line for line in self.read("/proc/self/mounts").splitlines(True)
                if line.split()[1] != argv[1].replace(" ", "\\040")]
        self.put("/proc/self/mounts", "".join(keep))
        self.busy.pop("rpcrdma", None)
        self.count()
        return ""

    def do_mount(self, *argv):
        """mount, of what is not in fstab"""
        if len(argv) == 2:
            return "can't find in /etc/fstab"
        self.mount(argv[6].replace(" ", "\\040"))
        return ""

    def mkdir(self, path):
        """configfs fills the folder of a device"""
        if path.startswith(VIB):
            self.configfs("mkdir", path, lambda: self.make_vib(path))
            return
        if path.split("/")[-1] not in self.links:
            raise Failed("%s: No such device" % path)
        if not self.exists(path):
            self.put(path + "/ports/1/default_roce_tos", "0\n")
            self.put(path + "/ports/1/default_roce_mode", "RoCE v2\n")
            self.busy["rdma_cm"] = 2
            self.count()

    def rmdir(self, path):
        """and empties it"""
        if path.startswith(VIB):
            self.configfs("rmdir", path, lambda: self.remove_vib(path))
            return
        shutil.rmtree(self.path(path))
        self.busy.pop("rdma_cm", None)
        self.count()

    # --- configfs of targets and vib: each change is one of commands, too ------------------
    def configfs(self, word, path, change):
        """a change, and the users of modules after it"""
        if not path.startswith((GROUP, PORT, VIB)):
            change()
            return
        done = self.run(word, path)
        if done.status:
            raise Failed("%s: %s" % (path, done.trouble()))
        change()
        self.count_targets()
        self.after(len(self.commands))

    def do_write(self, _word, path):
        """what configfs refuses before it is written"""
        if path.startswith(VIB):
            return self.refuse_vib(path)
        if path.endswith("/iser") and self.word(path) == "0" and \
                not (self.links and self.is_loaded("ib_isert")):
            return "Cannot assign requested address"
        return ""

    def do_symlink(self, _word, _path):
        """a port's first subsystem needs an address"""
        return "" if self.links and self.is_loaded("nvmet_rdma") else "Invalid argument"

    def do_unlink(self, _word, _path):
        """is never refused"""
        return ""

    do_mkdir = do_rmdir = do_unlink

    def count_targets(self):
        """the users of their modules; sessions of iSER end when the group is disabled"""
        if self.word(GROUP + "enable") == "0":
            self.sessions = 0
        self.busy["ib_isert"] = (self.word(PORTAL + "/iser") == "1") + self.sessions
        self.busy["nvmet_rdma"] = len(self.list(PORT + "subsystems"))
        self.count()

    def write(self, path, text):
        def change():
            super(FakeHost, self).write(path, text)
            if path.startswith(VIB):
                self.start_vib(path)

        self.configfs("write", path, change)

    def symlink(self, path, target):
        self.configfs("symlink", path, lambda: super(FakeHost, self).symlink(path, target))

    def unlink(self, path):
        self.configfs("unlink", path, lambda: super(FakeHost, self).unlink(path))

    # --- what people have set up ---------------------------------------------------------
    def targets(self):
        """an iSCSI target with a session over iSER, and a port of nvmet with two subsystems"""
        self.put(GROUP + "enable", "1\n")
        self.put(PORTAL + "/iser", "1\n")
        self.put(PORT + "addr_trtype", "rdma\n")
        for name in ("nqn.a", "nqn.b"):
            self.put(SUBSYSTEMS + name + "/attr_serial", "1\n")
            self.link_to(PORT + "subsystems/" + name, self.path(SUBSYSTEMS + name))
        self.sessions = 1
        self.count_targets()

    def mount(self, where):
        """NFS over RDMA, at a place as the kernel writes it"""
        self.put("/proc/self/mounts", self.read("/proc/self/mounts") +
                 "10.0.0.1:/ %s nfs4 rw,proto=rdma,port=20049 0 0\n" % where)
        self.busy["rpcrdma"] = 1
        self.count()

    def open_files(self, there):
        """a daemon, or none"""
        if os.path.exists(self.path("/proc/77")):
            shutil.rmtree(self.path("/proc/77"))
        self.busy.pop("ib_umad", None)
        if there:
            self.process(77, "srp_daemon", "/system.slice/srp_daemon.service", "umad0")
            self.busy["ib_umad"] = 1
        self.count()

    def process(self, pid, name, cgroup, device):
        """with a device open"""
        self.put("/proc/%d/comm" % pid, name + "\n")
        self.put("/proc/%d/cgroup" % pid, "0::%s\n" % cgroup)
        self.link_to("/proc/%d/fd/3" % pid, "/dev/infiniband/" + device)

    def save(self, path, text):
        super().save(path, text)
        if path.endswith("swap.json"):
            self.saves += 1
            self.saved(self.saves)

    def is_root(self):
        return True

    def sleep(self, seconds):
        self.time += seconds

    def now(self):
        return self.time


class HostTest(unittest.TestCase):
    """on a host with these modules, and those that they need"""
    modules = ()

    def setUp(self):
        self.host = self.new_host()
        self.load_modules()

    def new_host(self):
        """a host without modules, which goes with the test"""
        host = FakeHost()
        self.addCleanup(host.close)
        return host

    def load_modules(self):
        """into self.host"""
        for name in self.modules:
            self.host.load(name)
