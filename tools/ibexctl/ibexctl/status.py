# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Which core is in memory, which would load, and what runs on it."""
import time

from .choice import Choice
from .devices import Devices
from .host import Failed, Missing
from .journal import Journal, Lock
from .modules import CORE, Modules, module_name
from .processes import Processes
from .signatures import Signatures


class Status:
    """collects it as plain data; lines() is for people"""

    def __init__(self, host):
        self.host = host
        self.modules = Modules(host)

    def collect(self):
        """all of it"""
        loaded = self.modules.loaded_core()
        return {
            "kernel": self.host.kver, "memory": self.modules.memory(),
            "next": self.modules.next(), "choice": Choice(self.host).get(),
            "installed": [core for core in ("stock", "ibex") if self.modules.installed(core)],
            "taint": self.host.word("/proc/sys/kernel/tainted"),
            "booted": self.booted(), "since": self.since(),
            "modules": [self.module(name) for name in CORE
                        if name in loaded or self.may_load(name)],
            "dependants": [{"name": name, "holders": self.modules.holders(name),
                            "references": self.modules.references(name)}
                           for name in self.modules.family()],
            "devices": Devices(self.host).describe(), "users": self.users(),
            "initramfs": self.initramfs(), "interrupted": self.interrupted(),
            "refused": [one._asdict() for one in Signatures(self.host).all()]}

    def may_load(self, name):
        """whether modprobe would load it; with the distribution's core it loads no ib_mad"""
        return bool(self.modules.would_load(name)) and not (
            name == "ib_mad" and self.modules.next() == "stock")

    def booted(self):
        """seconds since 1970"""
        for line in (self.host.read("/proc/stat") or "").splitlines():
            if line.startswith("btime "):
                return int(line.split()[1])
        return None

    def since(self):
        """when the core was loaded: when its folder in sysfs was first looked at"""
        when = self.host.mtime("/sys/module/ib_core") if self.modules.loaded_core() else None
        return int(when) if when else None

    def module(self, name):
        """a module of the core"""
        path = self.modules.would_load(name)
        there = self.modules.loaded(name)
        found = {"name": name, "loaded": there, "file": path,
                 "core": self.modules.core_of_file(path), "package": self.package(path),
                 "version": "", "same": None,
                 "memory": self.modules.core_in_memory(name) if there else "",
                 "srcversion": self.host.word("/sys/module/%s/srcversion" % name),
                 "taint": self.host.word("/sys/module/%s/taint" % name)}
        if path:
            try:
                found["version"] = self.modules.file(path).info("version")
                found["same"] = self.modules.same(name, path) if there else None
            except Failed as error:
                found["error"] = str(error)
        return found

    def package(self, path):
        """the package that has a file, or the source that DKMS built it from; or "" """
        try:
            done = self.host.run("dpkg", "-S", self.dkms_source(path) or path) if path else None
        except Missing:
            done = None
        return done.out.partition(":")[0] if done and not done.status else ""

    def dkms_source(self, path):
        """the folder of the source of a module that DKMS built, or "" """
        if "/updates/dkms/" not in path:
            return ""
        top, file = "/var/lib/dkms", path.rsplit("/", 1)[-1]
        for name in self.host.list(top):
            for version in self.host.list("%s/%s" % (top, name)):
                folder = "%s/%s/%s" % (top, name, version)
                for arch in self.host.list("%s/%s" % (folder, self.host.kver)):
                    if self.host.exists("%s/%s/%s/module/%s" % (
                            folder, self.host.kver, arch, file)):
                        return self.host.readlink(folder + "/source")
        return ""

    def users(self):
        """processes, with what they have open, and modules"""
        found = [{"name": comm, "pid": pid, "objects": counts, "unit": "", "files": []}
                 for (comm, pid), counts in sorted(
                     Devices(self.host).users().items(), key=str)]
        known = {one["pid"]: one for one in found if one["pid"]}
        for user in Processes(self.host).users(set(known)):
            one = known.get(user.pid)
            if one is None:
                one = {"name": user.name, "pid": user.pid, "objects": {}}
                found.append(one)
            one.update(unit=user.unit, files=user.files)
        return found

    def initramfs(self):
        """the core's files in the initramfs of the running kernel"""
        image = "/boot/initrd.img-" + self.host.kver
        if not self.host.exists(image):
            return []
        try:
            done = self.host.run("lsinitramfs", image)
        except Failed:
            return []
        return [line for line in done.out.splitlines() if module_name(line) in CORE]

    def interrupted(self):
        """the step at which a swap has died, or "" """
        if Lock(self.host).is_taken():
            return ""
        try:
            entry = Journal(self.host).load()
        except Failed:
            return "unknown"
        return entry["step"] if entry else ""


def clock(seconds):
    """a time for people"""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)) if seconds else "?"


def initramfs_line(found):
    """what an early ib_core means, or "" """
    if not any(module_name(path) == "ib_core" for path in found):
        return ""
    core = "stock" if any("/drivers/infiniband/core/" in path for path in found) else "ibex"
    return "initramfs  has the %s ib_core, which boot may load; after a change of the core: " \
        "update-initramfs -u" % core


def lines(found):
    """for people"""
    yield "kernel     %s, taint %s, booted %s" % (
        found["kernel"], found["taint"], clock(found["booted"]))
    yield "in memory  " + found["memory"] + (
        found["since"] and ", since %s" % clock(found["since"]) or "")
    yield "would load %s, installed: %s" % (
        found["next"], " ".join(found["installed"]) or "none")
    if found["interrupted"]:
        yield "A swap was interrupted at the step %s: run ibexctl recover." % \
            found["interrupted"]
    for one in found["refused"]:
        yield "%s: %s." % (one["what"][0].upper() + one["what"][1:], one["stop"])
    for one in found["modules"]:
        state = "not loaded" if not one["loaded"] else "loaded, %s, %s" % (one["memory"], {
            True: "the same file", False: "ANOTHER FILE", None: "file unknown"}[one["same"]])
        yield "  %-10s %-28s %s" % (one["name"], state, " ".join(word for word in (
            one["file"], one["package"], one["version"],
            one["srcversion"] and "srcversion " + one["srcversion"],
            one["taint"] and "taint " + one["taint"], one.get("error")) if word))
    for one in found["dependants"]:
        if one["name"] not in CORE:
            yield "  %-10s in use %d times%s" % (
                one["name"], one["references"],
                one["holders"] and ", by " + " ".join(one["holders"]) or "")
    for one in found["devices"]:
        yield "device     %s, %s%s%s" % (
            one["name"], one["driver"] or "driver unknown",
            one["netdev"] and ", netdev " + one["netdev"] or "",
            "".join(", port %s %s" % port for port in sorted(one["ports"].items())))
    for one in found["users"]:
        yield "user       %s%s%s: %s" % (
            one["name"], one["pid"] and " (%d)" % one["pid"] or " (kernel)",
            one["unit"] and " of " + one["unit"] or "",
            ", ".join(["%d %s" % (count, kind) for kind, count in one["objects"].items()] +
                      one["files"]))
    if initramfs_line(found["initramfs"]):
        yield initramfs_line(found["initramfs"])
