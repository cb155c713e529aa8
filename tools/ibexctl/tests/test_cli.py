# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The commands as they are typed; status and report; what is masked."""
import contextlib
import io
import json
import os
import tarfile
import tempfile
import unittest

from ibexctl import cli, journal
from ibexctl.mask import Mask
from ibexctl.report import interesting
from ibexctl.status import Status

from .fake import KVER, TREE, HostTest


class Commands(HostTest):
    """on a host with rxe"""
    modules = ("rdma_ucm", "ib_umad", "rdma_rxe")

    def setUp(self):
        super().setUp()
        self.host.add_link("rxe_a", "va")

    def run_command(self, *argv):
        """the status, the output and the errors of a command"""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.main(list(argv), self.host)
            except SystemExit as leave:
                status = leave.code
        return status, out.getvalue(), err.getvalue()

    def test_bad_commands(self):
        for argv in ((), ("nosuch",), ("swap",), ("swap", "mofed"), ("swap", "ibex", "x"),
                     ("stat",), ("report", "--seconds", "-1"), ("report", "--seconds", "601"),
                     ("check", "--stop"), ("report", "--addr")):
            status, out, err = self.run_command(*argv)
            self.assertEqual((status, out), (2, ""), argv)
            self.assertIn("ibexctl", err)

    def test_not_root(self):
        self.host.is_root = lambda: False
        for argv in (("status",), ("check",), ("swap", "stock"), ("recover",), ("verify",),
                     ("report",)):
            self.assertEqual(self.run_command(*argv),
                             (1, "", "ibexctl: only root may do this\n"))

    def test_missing_command(self):
        self.host.missing = {"modinfo"}
        self.assertEqual(self.run_command("status"),
                         (1, "", "ibexctl: the command modinfo is missing\n"))

    def test_check(self):
        self.assertEqual(self.run_command("check"),
                         (0, "nothing stands in the way of a swap\n", ""))
        self.host.process(51, "rping", "/", "rdma_cm")
        self.assertEqual(self.run_command("check"), (
            1, "process 51 (rping) has /dev/infiniband/rdma_cm; what to do: kill 51\n", ""))
        status, out, _ = self.run_command("check", "-j")
        self.assertEqual((status, json.loads(out)[0]["stop"]), (1, "kill 51"))

    def test_verify(self):
        status, out, _ = self.run_command("verify")
        self.assertEqual((status, out.count("\nok"), out.count("DIFFERS")), (0, 8, 0))
        self.host.put("/sys/kernel/btf/ib_cm", "x")
        status, out, _ = self.run_command("verify")
        self.assertEqual((status, out.count("DIFFERS")), (1, 1))

    def test_status(self):
        self.host.process(51, "rping", "/system.slice/a.service", "rdma_cm")
        self.host.answers["rdma -j resource show qp"] = (
            0, '[{"comm":"rping","pid":51},{"comm":"rping","pid":51},{"comm":"[nvme]"}]', "")
        self.host.answers["dpkg -S %supdates/ib_cm.ko" % TREE] = (0, "ibex: /lib/x\n", "")
        status, out, err = self.run_command("status")
        self.assertEqual((status, err), (0, ""))
        for line in ("in memory  ibex, since ", "would load ibex, installed: stock ibex",
                     "device     rxe_a, rxe, netdev va, port 1 ACTIVE",
                     "user       rping (51) of a.service: 2 qp, /dev/infiniband/rdma_cm",
                     "user       nvme (kernel): 1 qp",
                     "ib_cm.ko ibex taint OE"):
            self.assertIn(line, out)
        self.assertNotIn("interrupted", out)
        self.assertNotIn("ANOTHER FILE", out)

    def test_package_of_dkms(self):
        """dpkg knows the source only"""
        path = TREE + "updates/dkms/ib_cm.ko"
        self.host.put("/var/lib/dkms/ibex/0.9.0/%s/x86_64/module/ib_cm.ko" % KVER, "")
        self.host.link_to("/var/lib/dkms/ibex/0.9.0/source", "/usr/src/ibex-0.9.0")
        self.host.answers["dpkg -S /usr/src/ibex-0.9.0"] = (
            0, "ibex-dkms: /usr/src/ibex-0.9.0\n", "")
        self.assertEqual(Status(self.host).package(path), "ibex-dkms")
        self.assertEqual(Status(self.host).package(path.replace("ib_cm", "ib_umad")), "")
        self.assertEqual(Status(self.host).package(path.replace("dkms/", "")), "")

    def test_status_of_an_upgrade(self):
        """the file is another than the one in memory"""
        self.host.put(TREE + "updates/ib_umad.ko", self.host.built("ib_umad", "next"))
        _, out, _ = self.run_command("status")
        self.assertRegex(out, "ib_umad +loaded, ibex, ANOTHER FILE")
        self.assertEqual(out.count("ANOTHER FILE"), 1)

    def test_status_of_a_dead_swap(self):
        journal.Journal(self.host).write(
            {"from": "ibex", "to": "stock", "step": "load", "state": {}})
        _, out, _ = self.run_command("status")
        self.assertIn("A swap was interrupted at the step load: run ibexctl recover.", out)

    def test_status_of_a_bad_journal(self):
        self.host.put(journal.PATH, "x")
        _, out, _ = self.run_command("status")
        self.assertIn("A swap was interrupted at the step unknown", out)

    def test_status_on_stock(self):
        """modprobe loads no ib_mad then"""
        self.host.put("/etc/depmod.d/ibex.conf", "")
        self.host.do_depmod("depmod")
        for name in ("rdma_rxe", "rdma_ucm", "rdma_cm", "ib_umad", "ib_cm", "iw_cm", "ib_mad",
                     "ib_uverbs", "ib_core"):
            self.host.unload(name)
        _, out, _ = self.run_command("status")
        self.assertRegex(out, "in memory  none\nwould load stock")
        self.assertIn("  ib_umad    not loaded", out)
        self.assertNotIn("ib_mad", out)

    def test_signatures(self):
        self.host.secure_boot()
        self.assertEqual(self.run_command("check")[0], 0)
        for name in ("rdma_rxe", "rdma_ucm", "rdma_cm", "ib_umad", "ib_cm", "iw_cm", "ib_mad",
                     "ib_uverbs", "ib_core"):
            self.host.unload(name)
        self.assertIn("\nThe kernel would refuse ib_cm of the ibex core, which is not signed "
                      "(Secure Boot): install openssl", self.run_command("status")[1])
        status, out, _ = self.run_command("check")
        self.assertEqual(status, 1)
        self.assertIn("not signed (Secure Boot); what to do: install openssl", out)

    def test_two_of_them(self):
        """the same modules in two folders, of which modprobe prefers one"""
        for name in ("ib_core", "ib_mad"):
            self.host.put(TREE + "extra/%s.ko" % name, self.host.built(name, "more"))
        _, out, _ = self.run_command("status")
        self.assertRegex(out, "in memory  ibex.*\nwould load ibex, installed: stock ibex")

    def test_initramfs(self):
        self.host.put("/boot/initrd.img-" + self.host.kver, "x")
        core = "usr/lib/modules/x/kernel/drivers/infiniband/core/"
        for text, said in (("bin/sh\n", False), (core + "ib_cm.ko\n", False),
                           (core + "ib_core.ko.xz\n", True)):
            self.host.answers["lsinitramfs /boot/initrd.img-" + self.host.kver] = (0, text, "")
            _, out, _ = self.run_command("status")
            self.assertEqual("initramfs  has the stock ib_core" in out, said)

    def report(self, *argv):
        """{file: text} of a report"""
        self.host.put("/proc/sys/kernel/hostname", "node7\n")
        self.host.put("/proc/cmdline", "ip=10.1.2.3 root=/dev/sda\n")
        self.host.put("/sys/kernel/debug/ib_cm/waiting", "peer 10.1.2.3 on node7\n")
        self.host.put("/sys/kernel/tracing/events/ib_mad/enable", "0\n")
        self.host.answers["dmesg"] = (0, "usb: 10.9.9.9\nrxe: to fe80::1\n", "")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.tar.gz")
            status, _, err = self.run_command("report", "-o", path, "--seconds", "0", *argv)
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            self.assertEqual(self.run_command("report", "-o", path)[0], 1)
            with tarfile.open(path) as tar:
                return {each.name[2:]: tar.extractfile(each).read().decode() for each in tar}

    def test_report(self):
        files = self.report()
        text = "".join(files.values())
        for secret in ("10.1.2.3", "node7", "fe80::1", "10.9.9.9"):
            self.assertNotIn(secret, text)
        self.assertEqual(files["cmdline"], "ip=ip4-1 root=/dev/sda\n")
        self.assertEqual(files["debugfs/ib_cm"], "waiting: peer ip4-1 on HOST\n")
        self.assertEqual(json.loads(files["status.json"])["memory"], "ibex")
        self.assertIn("rxe: to ip6-1", files["dmesg"])

    def test_report_with_addresses(self):
        files = self.report("--addresses")
        self.assertEqual(files["debugfs/ib_cm"], "waiting: peer 10.1.2.3 on node7\n")

    def test_a_report_that_cannot_be_written(self):
        status, _, err = self.run_command("report", "-o", "/nosuch/x", "--seconds", "0")
        self.assertEqual((status, err), (1, "ibexctl: /nosuch/x: No such file or directory\n"))

    def test_log(self):
        text = "usb: a\nBUG: x\n" + "".join("frame %d\n" % n for n in range(100)) + "rxe: b\n"
        kept = interesting(text).splitlines()
        self.assertEqual((kept[0], kept[1], kept[79], kept[-1], len(kept)),
                         ("BUG: x", "frame 0", "frame 78", "rxe: b", 81))


class Masks(unittest.TestCase):
    """texts with and without addresses"""

    def test_masked(self):
        mask = Mask("node7.example.org")
        for text, want in (
                ("10.0.0.1:7000", "ip4-1:7000"), ("src-addr:10.0.0.1:1", "src-addr:ip4-1:1"),
                ("::ffff:10.0.0.1", "ip4-1"), ("10.0.0.2/24.", "ip4-2/24."),
                ("0000:0000:0000:0000:0000:ffff:0a00:0001", "ip4-1"),
                ("00000000000000000000ffff0a000001", "ip4-1"),
                ("fe80:0000:0000:0000:5054:00ff:fe12:3456", "ip6-1"),
                ("[fe80::5054:ff:fe12:3456]:80", "[ip6-1]:80"), ("gid:fe80::1", "gid:ip6-2"),
                ("fe80::1: lost", "ip6-2: lost"), ("fd00::2/64", "ip6-3/64"),
                ("5054:00ff:fe12:3456", "guid-1"), ("0x505400fffe123456", "guid-1"),
                ("52:54:00:12:34:56: up", "mac-1: up"),
                ("80:00:02:08:fe:80:00:00:00:00:00:00:50:54:00:ff:fe:12:34:56", "ipoib-ip6-1"),
                ("node7 kernel node7.example.org:", "HOST kernel HOST:")):
            self.assertEqual(mask.text(text), want)

    def test_left_alone(self):
        mask = Mask("node7")
        for text in ("6.12.117+deb12-amd64", "12:34:56", "std::string", "0000:01:00.0", "::1",
                     "127.0.0.1", "0.0.0.0:0", "::", "00:00:00:00:00:00", "1.2.3.4.5",
                     "ff:ff:ff:ff:ff:ff", "node70", "dead:beef", "0x1234"):
            self.assertEqual(mask.text(text), text)


if __name__ == "__main__":
    unittest.main()
