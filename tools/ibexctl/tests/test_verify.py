# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Modules in memory held against files: each kind of difference is found, and only there."""
import lzma
import unittest

from ibexctl import elf
from ibexctl.host import Failed
from ibexctl.verify import Verify

from . import elfs
from .fake import STOCK_DIR, TREE, HostTest


class Verified(HostTest):
    """on a host with Ibex and mlx5_ib"""
    modules = ("rdma_ucm", "ib_umad", "mlx5_ib")

    def wrong(self):
        """{module: what is wrong}"""
        return {name: wrong for name, _, wrong in Verify(self.host).checks() if wrong}

    def replace(self, path, name, *, imports=None, exports=None, build="", btf=None):
        """another file in the place of a module's"""
        self.host.put(path, elfs.module(
            build or ("ibex" if "updates" in path else "any") + name,
            exports or {name + "_sym": 7}, imports or {}, {"depends": "ib_core"},
            ("ibex" + name).encode() if btf is None else btf))

    def test_all_well(self):
        for core in ("ibex", "stock"):
            found = list(Verify(self.host).checks())
            self.assertEqual(self.wrong(), {})
            self.assertEqual([name for name, *_ in found][-1], "mlx5_ib")
            self.assertEqual(len(found), 9 if core == "ibex" else 8)
            self.assertIn("2 symbols of the core", found[-1][1])
            if core == "ibex":
                self.on_stock()

    def on_stock(self):
        """the same host with the distribution's core"""
        self.host.close()
        self.host = self.new_host()
        self.host.put("/etc/depmod.d/ibex.conf", "")
        self.host.put("/etc/modprobe.d/ibexctl.conf", "")
        self.host.do_depmod("depmod")
        self.load_modules()

    def test_none(self):
        self.assertRaisesRegex(Failed, "no core", list, Verify(self.new_host()).checks())

    def test_another_file(self):
        self.replace(TREE + "updates/ib_umad.ko", "ib_umad", build="new")
        self.assertEqual(self.wrong(), {
            "ib_umad": ["is not %supdates/ib_umad.ko" % TREE]})

    def test_another_consumer(self):
        self.replace(TREE + "kernel/hw/mlx5/mlx5_ib.ko", "mlx5_ib", build="new")
        self.assertEqual(list(self.wrong()), ["mlx5_ib"])

    def test_types(self):
        self.host.put("/sys/kernel/btf/ib_cm", "other")
        self.assertEqual(self.wrong(), {
            "ib_cm": ["the BTF in the kernel is not that of its file"]})

    def test_no_types(self):
        self.host.remove("/sys/kernel/btf/ib_cm")
        self.assertEqual(self.wrong(), {})
        self.host.put("/sys/kernel/btf/vmlinux", "x")
        self.assertEqual(self.wrong(), {"ib_cm": ["the kernel has no BTF of it"]})

    def test_crc(self):
        self.replace(TREE + "kernel/hw/mlx5/mlx5_ib.ko", "mlx5_ib",
                     imports={"ib_core_sym": 8, "ib_uverbs_sym": 7, "printk": 3})
        self.assertEqual(self.wrong(), {
            "mlx5_ib": ["ib_core_sym has CRC 00000008, ib_core exports 00000007"]})

    def test_crc_within_the_core(self):
        path = TREE + "updates/ib_cm.ko"
        self.replace(path, "ib_cm", imports={"ib_mad_sym": 9})
        self.assertEqual(self.wrong(), {
            "ib_cm": ["ib_mad_sym has CRC 00000009, ib_mad exports 00000007"]})

    def test_not_exported(self):
        stock = TREE + STOCK_DIR + "/ib_core.ko"
        self.host.put(stock, elfs.module("stockib_core", {"ib_core_sym": 7, "ib_gone": 1}))
        self.replace(TREE + "kernel/hw/mlx5/mlx5_ib.ko", "mlx5_ib",
                     imports={"ib_core_sym": 7, "ib_gone": 1})
        self.assertEqual(self.wrong(), {"mlx5_ib": ["ib_gone is not exported"]})

    def test_no_imports(self):
        self.replace(TREE + "kernel/hw/mlx5/mlx5_ib.ko", "mlx5_ib")
        self.assertRegex(self.wrong()["mlx5_ib"][0], "imports nothing from the core")

    def test_a_mixture(self):
        stock = self.host.read_bytes(TREE + STOCK_DIR + "/ib_umad.ko")
        at = stock.index(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0")
        self.host.put("/sys/module/ib_umad/notes/.note.gnu.build-id", stock[at:at + 36])
        wrong = self.wrong()
        self.assertEqual(len(wrong), 8)
        self.assertEqual(wrong["ib_umad"], ["is of the stock core, others are not",
                                            "is not %supdates/ib_umad.ko" % TREE])

    def test_damaged_file(self):
        for data in (b"", b"\x7fELF\x02\x01" + b"\1" * 100, b"text"):
            self.host.put(TREE + "updates/ib_cm.ko", data)
            self.assertRegex(self.wrong()["ib_cm"][0], "is (damaged|not a module)$|nothing tells")

    def test_srcversion(self):
        """where there is no build id"""
        path = TREE + "updates/ib_cm.ko"
        self.host.put(path, elfs.module(info={"srcversion": "ABC"}, exports={"ib_cm_sym": 7}))
        self.assertRegex(self.wrong()["ib_cm"][0], "nothing tells whether it is")
        self.host.put("/sys/module/ib_cm/srcversion", "ABC\n")
        self.assertEqual(self.wrong(), {})
        self.host.put("/sys/module/ib_cm/srcversion", "ABD\n")
        self.assertEqual(self.wrong(), {"ib_cm": ["is not " + path]})


class Files(HostTest):
    """of modules"""

    def test_read(self):
        data = elfs.module("id", {"a": 1, "bc": 0xfffffffe}, {"d": 5}, {"version": "1.2"}, b"T")
        for name, packed in (("x.ko", data), ("x.ko.xz", lzma.compress(data))):
            self.host.put("/" + name, packed)
            file = elf.Module(self.host, "/" + name)
            self.assertEqual(file.exports(), {"a": 1, "bc": 0xfffffffe})
            self.assertEqual(file.imports(), {"d": 5})
            self.assertEqual((file.info("version"), file.info("ver")), ("1.2", ""))
            self.assertEqual((file.note, file.section(".BTF")), (elfs.note("id"), b"T"))
            self.assertIsNone(file.section(".nosuch"))

    def test_damaged(self):
        data = elfs.module("id")
        for name, packed in (("x.ko.xz", b"no"), ("x.ko.xz", lzma.compress(data)[:-20]),
                             ("x.ko.gz", b"no"), ("x.ko.zst", b"no"), ("x.ko", data[:-10])):
            self.host.put("/" + name, packed)
            self.assertRaisesRegex(Failed, "is damaged|zstd is missing", elf.Module, self.host,
                                   "/" + name)
        self.assertRaisesRegex(Failed, "cannot be read", elf.Module, self.host, "/nosuch.ko")


if __name__ == "__main__":
    unittest.main()
