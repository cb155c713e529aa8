# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Holds the modules in memory against their files and against each other."""
from .host import Failed
from .modules import CORE, Modules


class Verify:
    """checks() yields (module, what was held, what is wrong) of each module"""

    def __init__(self, host):
        self.host = host
        self.modules = Modules(host)
        self.exports = {}

    def checks(self):
        """the core's modules first"""
        loaded = self.modules.loaded_core()
        if not loaded:
            raise Failed("no core is in memory")
        memory = self.modules.memory()
        self.read_exports(loaded)
        for name in loaded:
            yield self.checked(name, lambda name=name: self.core_module(name, memory))
        for name in self.modules.family():
            if name not in CORE:
                yield self.checked(name, lambda name=name: self.consumer(name))

    @staticmethod
    def checked(name, check):
        """a file that cannot be read is a difference, too"""
        try:
            held, wrong = check()
        except Failed as error:
            held, wrong = "", [str(error)]
        return name, held, wrong

    def read_exports(self, loaded):
        """{symbol: (module, CRC)} of the files that modprobe would load"""
        for name in loaded:
            path = self.modules.would_load(name)
            try:
                found = self.modules.file(path).exports() if path else {}
            except Failed:
                continue
            self.exports.update((symbol, (name, crc)) for symbol, crc in found.items())

    def core_module(self, name, memory):
        """a module of the core"""
        wrong = []
        path = self.modules.would_load(name)
        core = self.modules.core_in_memory(name)
        if memory == "mixed":
            wrong.append("is of the %s core, others are not" % core)
        if not path:
            return core, wrong + ["modprobe knows no such module"]
        same = self.modules.same(name, path)
        if same is None:
            wrong.append("nothing tells whether it is " + path)
        elif not same:
            wrong.append("is not " + path)
        else:
            wrong += self.types(name, path)
            wrong += self.symbols(path, own=name)
        return "%s, %s" % (core, path), wrong

    def types(self, name, path):
        """whether the kernel has the BTF of the file"""
        file = self.modules.file(path)
        ours = file.section(".BTF")
        # The kernel changes BTF that was made for any kernel.
        if not ours or file.section(".BTF.base"):
            return []
        theirs = self.host.read_bytes("/sys/kernel/btf/" + name)
        if theirs is None:
            return ["the kernel has no BTF of it"] if self.host.exists(
                "/sys/kernel/btf/vmlinux") else []
        return [] if theirs == ours else ["the BTF in the kernel is not that of its file"]

    def symbols(self, path, own=""):
        """what a file imports from the core, held against what the core exports"""
        wrong = []
        # A symbol of the distribution's core that the core in memory lacks is missed.
        stock = self.stock_symbols()
        for symbol, crc in sorted(self.modules.file(path).imports().items()):
            if symbol in self.exports:
                module, exported = self.exports[symbol]
                if exported != crc:
                    wrong.append("%s has CRC %08x, %s exports %08x" % (
                        symbol, crc, module, exported))
            elif symbol in stock and stock[symbol] not in (own, ""):
                wrong.append("%s is not exported" % symbol)
        return wrong

    def stock_symbols(self):
        """{symbol: module} that the distribution's core exports"""
        if not hasattr(self, "of_stock"):
            self.of_stock = {}
            for name, path in self.modules.core_files()["stock"].items():
                if name in self.modules.loaded_core():
                    self.of_stock.update(dict.fromkeys(self.modules.file(path).exports(), name))
        return self.of_stock

    def consumer(self, name):
        """a module that uses the core"""
        path = self.modules.would_load(name)
        if not path:
            return "", ["modprobe knows no such module"]
        count = len([s for s in self.modules.file(path).imports() if s in self.exports])
        if self.modules.same(name, path) is False:
            return "", ["is not " + path]
        return "%d symbols of the core" % count, self.symbols(path) + (
            [] if count else ["imports nothing from the core, or its imports are not in %s"
                              % path] if "ib_core" in self.needs(path) else [])

    def needs(self, path):
        """the modules that a file depends on"""
        return self.modules.file(path).info("depends").split(",")
