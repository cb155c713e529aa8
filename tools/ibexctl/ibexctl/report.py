# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A tarball for a bug report."""
import io
import json
import os
import re
import tarfile
import time

from .devices import RESOURCES
from .host import Failed
from .mask import Mask
from .modules import CORE, Modules
from .status import Status

DMESG = re.compile(
    r"infiniband|\brdma|\bib_|\biw_cm|\bibex|\brxe|\bsiw|\bvib|mlx[45]|irdma|bnxt_re|qedr|cxgb4"
    r"|\bhns|efa\b|iser|nvme|rpcrdma|xprt|svcrdma|\bsmc|\brds|srp|iscsi|\bcma\b|\bGID\b", re.I)
# what begins the report of an oops or a warning, and how much of the log belongs to it
OOPS = re.compile(r"WARNING:|BUG:|Oops|general protection|cut here|Kernel panic|Call Trace")
OOPS_LINES = 80
EVENTS = re.compile(r"^(ib_|icm_|iw_|rdma_|rpcrdma|ibex)")
# what a file may have, and the trace
LARGEST = 4 << 20


def interesting(text):
    """the lines of the kernel's log that are of RDMA, and those of any oops"""
    kept, left = [], 0
    for line in text.splitlines():
        if OOPS.search(line):
            left = OOPS_LINES
        if left or DMESG.search(line):
            kept.append(line)
        left = max(0, left - 1)
    return "\n".join(kept) + "\n"


class Report:
    """collects {file: text}"""

    def __init__(self, host, addresses=False, seconds=3):
        self.host = host
        self.seconds = seconds
        self.files = {}
        name = host.word("/proc/sys/kernel/hostname")
        self.mask = None if addresses else Mask(name)

    def add(self, name, text):
        """a file of the report"""
        if text:
            text = text[:LARGEST]
            self.files[name] = self.mask.text(text) if self.mask else text

    def command(self, name, *argv, timeout=60, keep=lambda text: text):
        """what a command prints"""
        try:
            done = self.host.run(*argv, timeout=timeout)
        except Failed as error:
            self.add(name, "%s\n" % error)
            return
        self.add(name, "$ %s\n%s%s" % (" ".join(argv), keep(done.out), done.err))

    def tree(self, name, top, fits=lambda path: True):
        """all files below a folder as one file of path: text"""
        found = []
        for path in self.host.walk(top) if self.host.is_dir(top) else ():
            text = self.host.read(path) if fits(path) else None
            if text is not None:
                found.append("%s: %s" % (path[len(top):].lstrip("/"),
                                         ("\n" + text if "\n" in text.rstrip() else text)
                                         .rstrip()))
        self.add(name, "\n".join(found) + "\n" if found else "")

    def collect(self):
        """all of it"""
        self.command("uname", "uname", "-a")
        self.add("cmdline", self.host.read("/proc/cmdline"))
        self.add("os-release", self.host.read("/etc/os-release"))
        for package, argv in (("kmod", ("modprobe", "--version")), ("iproute2", ("rdma", "-V")),
                              ("systemd", ("systemctl", "--version"))):
            self.command("versions/" + package, *argv)
        self.command("versions/packages", "dpkg-query", "-W", "ibex*", "rdma-core",
                     "libibverbs1", "linux-image-" + self.host.kver)
        try:
            self.add("status.json", json.dumps(Status(self.host).collect(), indent=1) + "\n")
        except Failed as error:
            self.add("status.json", "%s\n" % error)
        self.command("dmesg", "dmesg", keep=interesting)
        self.add("modules", self.host.read("/proc/modules"))
        self.rdma()
        for name in ("ib_cm", "ib_mad", "rdma_cm"):
            self.tree("debugfs/" + name, "/sys/kernel/debug/" + name)
        self.parameters()
        self.counters()
        self.trace()
        return self.files

    def rdma(self):
        """what rdma(8) tells"""
        for what in ("dev", "link", "system"):
            self.command("rdma/" + what, "rdma", "-d", what, "show")
        for kind in RESOURCES:
            self.command("rdma/resource-" + kind, "rdma", "-d", "resource", "show", kind)
        self.command("rdma/statistic", "rdma", "statistic", "show")
        self.command("rdma/statistic-qp", "rdma", "statistic", "qp", "show")

    def parameters(self):
        """those of the core and of what uses it"""
        for name in sorted(set(Modules(self.host).family()) | set(CORE)):
            self.tree("parameters/" + name, "/sys/module/%s/parameters" % name)

    def counters(self):
        """of devices and ports"""
        for device in self.host.list("/sys/class/infiniband"):
            self.tree("counters/" + device, "/sys/class/infiniband/%s/" % device,
                      lambda path: re.search(r"counters/|/cm_|/mad/|/mad_|/state$|/phys_state$",
                                             path))

    def trace(self):
        """a few seconds of the trace events of RDMA, in an instance of their own"""
        top = next((path for path in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
                    if self.host.is_dir(path + "/events")), "")
        systems = [name for name in self.host.list(top + "/events") if EVENTS.match(name)] \
            if top else []
        if not systems or not self.seconds:
            return
        mine = "%s/instances/ibexctl-%d" % (top, os.getpid())
        try:
            self.host.mkdir(mine)
            try:
                for name in systems:
                    self.host.write("%s/events/%s/enable" % (mine, name), "1\n")
                self.host.sleep(self.seconds)
                self.host.write(mine + "/tracing_on", "0\n")
                self.add("trace", "systems: %s\n%s" % (
                    " ".join(systems), self.host.read(mine + "/trace") or ""))
            finally:
                self.host.rmdir(mine)
        except Failed as error:
            self.add("trace", "%s\n" % error)

    def write(self, path):
        """the tarball, which only its owner can read"""
        folder = os.path.basename(path).split(".tar")[0]
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise Failed("%s: %s" % (path, error.strerror)) from None
        try:
            with os.fdopen(fd, "wb") as raw, tarfile.open(fileobj=raw, mode="w:gz") as tar:
                for name, text in sorted(self.files.items()):
                    data = text.encode(errors="replace")
                    entry = tarfile.TarInfo("%s/%s" % (folder, name))
                    entry.size, entry.mtime, entry.mode = len(data), int(time.time()), 0o644
                    tar.addfile(entry, io.BytesIO(data))
        except OSError as error:
            os.unlink(path)
            raise Failed("%s: %s" % (path, error.strerror)) from None
