# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Kernel modules: those in memory, and the files that modprobe would load."""
from .elf import Module
from .host import Failed

CORE = ("ib_core", "ib_mad", "ib_cm", "iw_cm", "rdma_cm", "ib_uverbs", "ib_umad", "rdma_ucm")
# those that the distribution has, too
SHARED = tuple(name for name in CORE if name != "ib_mad")
STOCK_DIR = "kernel/drivers/infiniband/core"
SUFFIXES = (".ko", ".ko.xz", ".ko.zst", ".ko.gz")
CORES = ("ibex", "stock")


def module_name(path):
    """the name of the module in a file, or "" if it is none"""
    name = path.rsplit("/", 1)[-1]
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return name[:-len(suffix)].replace("-", "_")
    return ""


class Modules:
    """the modules of a host"""

    def __init__(self, host):
        self.host = host
        self.tree = "/lib/modules/%s/" % host.kver
        self.opened = {}
        self.paths = {}
        self.found = None
        self.ibex = []

    # --- in memory -----------------------------------------------------------------------
    def loaded(self, name):
        """whether a module is in memory"""
        return self.host.exists("/sys/module/%s/initstate" % name)

    def loaded_core(self):
        """the modules of the core in memory"""
        return [name for name in CORE if self.loaded(name)]

    def holders(self, name):
        """the modules in memory that use it"""
        return self.host.list("/sys/module/%s/holders" % name)

    def references(self, name):
        """how often it is in use, by modules and by others"""
        count = self.host.word("/sys/module/%s/refcnt" % name)
        return int(count) if count.lstrip("-").isdigit() else 0

    def held_otherwise(self, name):
        """how often it is in use by something other than a module"""
        return self.references(name) - len(self.holders(name))

    def family(self):
        """
        The core in memory and all that depends on it, each module after those that it needs:
        in this order they are loaded, in the opposite one unloaded.
        """
        order, seen = [], set()

        def visit(name):
            if name in seen:
                return
            seen.add(name)
            for holder in self.holders(name):
                visit(holder)
            order.append(name)

        for name in self.loaded_core():
            visit(name)
        return order[::-1]

    def memory_note(self, name):
        """the build id of a module in memory"""
        return self.host.read_bytes("/sys/module/%s/notes/.note.gnu.build-id" % name)

    # --- on disk -------------------------------------------------------------------------
    def file(self, path):
        """what is in a module's file"""
        if path not in self.opened:
            self.opened[path] = Module(self.host, path)
        return self.opened[path]

    def forget(self):
        """files may have changed"""
        self.opened, self.paths, self.found = {}, {}, None

    def core_files(self):
        """
        {core: {module: path}} of the cores that are installed.  Ibex is in a folder of any
        name, and unlike any other core it has a module ib_mad.
        """
        if self.found is not None:
            return self.found
        folders = {}
        for top in self.host.list(self.tree):
            if top in ("build", "source") or not self.host.is_dir(self.tree + top):
                continue
            top = self.tree + (STOCK_DIR if top == "kernel" else top)
            for path in self.host.walk(top):
                if module_name(path) in CORE:
                    folder = path.rsplit("/", 1)[0]
                    folders.setdefault(folder, {})[module_name(path)] = path
        stock = folders.pop(self.tree + STOCK_DIR, {})
        # There may be more than one; that which modprobe prefers is first.
        self.ibex = sorted((files for files in folders.values()
                            if "ib_core" in files and "ib_mad" in files),
                           key=lambda files: self.would_load("ib_core") not in files.values())
        self.found = {"stock": stock, "ibex": self.ibex[0] if self.ibex else {}}
        return self.found

    def installed(self, core):
        """whether a core is installed whole"""
        return not set(CORE if core == "ibex" else SHARED) - set(self.core_files()[core])

    def would_load(self, name):
        """the file that modprobe would load, or "" """
        if name not in self.paths:
            done = self.host.run("modinfo", "-k", self.host.kver, "-F", "filename", name)
            path = "" if done.status else done.out.partition("\n")[0].strip()
            self.paths[name] = path if path.startswith("/") else ""
        return self.paths[name]

    def core_of_file(self, path):
        """stock, ibex or other; "" for no file"""
        if path in self.core_files()["stock"].values():
            return "stock"
        if any(path in files.values() for files in self.ibex):
            return "ibex"
        return "other" if path else ""

    def same(self, name, path):
        """whether the module in memory is that of a file; None if nothing tells"""
        file = self.file(path)
        note = self.memory_note(name)
        if note and file.note:
            return note == file.note
        version = self.host.word("/sys/module/%s/srcversion" % name)
        if version and file.info("srcversion"):
            return version == file.info("srcversion")
        return None

    def core_in_memory(self, name):
        """
        stock, ibex or other, for a module of the core in memory.  After an upgrade of the
        package its file is gone: then its taint tells, O for out of tree.
        """
        for core, files in self.core_files().items():
            try:
                if name in files and self.same(name, files[name]):
                    return core
            except Failed:
                continue
        if "O" not in self.host.word("/sys/module/%s/taint" % name):
            return "stock"
        # a parameter that no other core has
        return "ibex" if self.loaded("ib_mad") or self.host.exists(
            "/sys/module/ib_core/parameters/xrc_rcv_limit") else "other"

    def memory(self):
        """the core in memory: stock, ibex, other, none, or mixed"""
        cores = {self.core_in_memory(name) for name in self.loaded_core()}
        if not cores:
            return "none"
        return cores.pop() if len(cores) == 1 else "mixed"

    def next(self):
        """the core that modprobe would load: stock, ibex, other, none, or mixed"""
        cores = {self.core_of_file(self.would_load(name)) for name in SHARED} - {""}
        if not cores:
            return "none"
        return cores.pop() if len(cores) == 1 else "mixed"
