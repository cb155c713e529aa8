# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Captures: what is in the file, and when they end."""
import contextlib
import errno
import io
import os
import struct
import unittest
from unittest import mock

from vib import capture, cli

from .fake import FakeTree

WHEN = 1700000000 * 10 ** 9 + 123456789
FILE_HEADER, PACKET_HEADER = 24, 16


class FakeTap:
    """packets one after the other; None: there is none; an error: it is raised"""

    def __init__(self, found):
        self.found = list(found)
        self.ready, other = os.pipe()
        os.write(other, b"x")
        os.close(other)

    def fileno(self):
        return self.ready

    def read(self):
        found = self.found.pop(0) if self.found else None
        if isinstance(found, OSError):
            raise found
        return found

    def lost(self):
        return 3

    def close(self):
        os.close(self.ready)


class FakeStop:
    """asked for after so many questions"""

    def __init__(self, after=1000):
        self.left = after
        self.wakeup, other = os.pipe()
        os.close(other)
        self.set = False

    @property
    def asked(self):
        self.left -= 1
        return self.set or self.left < 0

    @asked.setter
    def asked(self, value):
        self.set = value


class Files(unittest.TestCase):
    """the two formats"""

    def test_infiniband(self):
        out = io.BytesIO()
        capture.Writer(out).add(WHEN, b"packet")
        data = out.getvalue()
        self.assertEqual(struct.unpack("=IHHiIII", data[:FILE_HEADER]),
                         (0xa1b23c4d, 2, 4, 0, 0, 65535, 247))
        self.assertEqual(struct.unpack("=IIII", data[FILE_HEADER:][:PACKET_HEADER]),
                         (1700000000, 123456789, 6, 6))
        self.assertEqual(data[FILE_HEADER + PACKET_HEADER:], b"packet")

    def test_erf(self):
        out = io.BytesIO()
        capture.Writer(out, True).add(WHEN, b"packet")
        data = out.getvalue()
        self.assertEqual(struct.unpack("=I", data[20:24]), (197,))
        record = data[FILE_HEADER + PACKET_HEADER:]
        self.assertEqual(struct.unpack("=IIII", data[FILE_HEADER:][:PACKET_HEADER])[2:],
                         (len(record), len(record)))
        fraction, seconds = struct.unpack("<II", record[:8])
        self.assertEqual(seconds, 1700000000)
        self.assertAlmostEqual(fraction / 2 ** 32, 0.123456789, 8)
        self.assertEqual(struct.unpack(">BBHHH", record[8:16]), (21, 4, 22, 0, 6))
        self.assertEqual(record[16:], b"packet")


class Ends(unittest.TestCase):
    """how many packets there are in the end"""

    def copied(self, found, most=0, after=1000):
        out = io.BytesIO()
        tap = FakeTap(found)
        self.addCleanup(tap.close)
        count = capture.copy(tap, capture.Writer(out), FakeStop(after), most)
        self.assertEqual(len(out.getvalue()) - FILE_HEADER, count * (PACKET_HEADER + 1))
        return count

    def test_after_so_many(self):
        self.assertEqual(self.copied([(WHEN, b"x")] * 5, most=3), 3)

    def test_by_a_signal_with_what_came_before(self):
        self.assertEqual(self.copied([(WHEN, b"x")] * 5, after=0), 5)

    def test_with_the_device(self):
        gone = OSError(errno.ENETDOWN, "gone")
        self.assertEqual(self.copied([(WHEN, b"x"), gone, (WHEN, b"x")]), 2)
        self.assertRaises(OSError, self.copied, [OSError(errno.EIO, "broken")])


class Monitors(unittest.TestCase):
    """the driver's device"""

    def setUp(self):
        self.tree = FakeTree()
        self.addCleanup(self.tree.close)
        self.tree.mkdir("f0")

    def test_is_made_and_removed(self):
        with capture.Monitor(self.tree, ("f0",)) as name:
            self.assertEqual(name, "vibmon7")
        self.assertEqual([value for _, value in self.tree.writes], ["1", "0"])

    def test_of_another_is_left_alone(self):
        with capture.Monitor(self.tree, ("f0",)):
            with capture.Monitor(self.tree, ("f0",)) as name:
                self.assertEqual(name, "vibmon7")
            self.assertEqual(self.tree.read("f0", "capture"), "vibmon7")

    def test_may_go_before(self):
        with capture.Monitor(self.tree, ("f0",)):
            self.tree.rmdir("f0")


class Commands(unittest.TestCase):
    """as they are typed"""

    def setUp(self):
        self.tree = FakeTree()
        self.addCleanup(self.tree.close)
        self.file = os.path.join(self.tree.dir.name, "out.pcap")
        cli.main(["up", "--star", "2"], self.tree)

    def run_command(self, *argv):
        """the status, the errors, and the folders whose packets were captured"""
        err = io.StringIO()
        where = []

        def tap(name):
            where.append([parts for parts, value in self.tree.writes
                          if parts[-1] == "capture"][-1][:-1])
            self.assertEqual(name, "vibmon7")
            return FakeTap([(WHEN, b"x"), OSError(errno.ENETDOWN, "gone")])

        with mock.patch.object(capture, "Tap", tap), \
                mock.patch.object(capture, "Stop", FakeStop), contextlib.redirect_stderr(err):
            try:
                status = cli.main(["capture", *argv], self.tree)
            except SystemExit as leave:
                status = leave.code
        return status, err.getvalue(), where

    def test_a_fabric_and_a_link(self):
        self.assertEqual(self.run_command(self.file),
                         (0, "1 packets, 3 lost\n", [("f0",)]))
        status, _, where = self.run_command(self.file, "ca1:1", "--erf")
        self.assertEqual((status, where), (0, [("f0", "links", "sw0:2-ca1:1")]))
        self.assertEqual(os.path.getsize(self.file), FILE_HEADER + PACKET_HEADER + 17)
        self.assertEqual(self.tree.read("f0", "links", "sw0:2-ca1:1", "capture"), "")

    def test_refused(self):
        self.assertEqual(self.run_command(self.file, "ca7:1")[0], 1)
        self.assertEqual(self.run_command(self.file, "--fabric", "f1")[0], 1)
        self.assertEqual(self.run_command(self.file, "--packets", "0")[0], 2)
        self.assertEqual(self.run_command()[0], 2)
        self.assertEqual(self.run_command(os.path.join(self.file, "none"))[0], 1)
        self.assertEqual(self.tree.read("f0", "capture"), "")


if __name__ == "__main__":
    unittest.main()
