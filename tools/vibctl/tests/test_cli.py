# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The commands as they are typed, and what they print."""
import contextlib
import errno
import io
import os
import tempfile
import unittest

from vib import cli, configfs, parse, show

from .fake import FakeTree

PAIR = """\
switchguid=0xf0
Switch 8 "sw" # "a switch"
[3] "left"[2]
caguid=0xa0
Ca 2 "left" # "node a"
Ca 1 "right"
"""


class Commands(unittest.TestCase):
    """with a fabric, or without"""

    def setUp(self):
        self.tree = FakeTree()
        self.addCleanup(self.tree.close)

    def run_command(self, *argv):
        """the status, the output and the errors of a command"""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.main(list(argv), self.tree)
            except SystemExit as leave:
                status = leave.code
        return status, out.getvalue(), err.getvalue()

    def succeeds(self, *argv):
        """the output of a command that succeeds"""
        status, out, err = self.run_command(*argv)
        self.assertEqual((status, err), (0, ""))
        return out

    def fails(self, status, *argv):
        """the error of a command that fails and prints nothing else"""
        was, out, err = self.run_command(*argv)
        self.assertEqual((was, out), (status, ""))
        return err

    def file(self, text):
        """the path of a file with that text"""
        file = tempfile.NamedTemporaryFile("w", suffix=".net", delete=False)
        self.addCleanup(os.unlink, file.name)
        with file:
            file.write(text)
        return file.name

    # ---- up and down ----

    def test_up_and_down(self):
        for argv, nodes in ((("--star", "4"), 5), (("--fat-tree", "4"), 14),
                            (("--chain", "3"), 6), ((self.file(PAIR),), 3)):
            with self.subTest(argv):
                self.succeeds("up", *argv)
                self.assertEqual(len(self.tree.list("f0", "nodes")), nodes)
                self.succeeds("down")
                self.assertEqual(self.tree.list(), [])

    def test_fabrics_have_names(self):
        self.succeeds("up", "--star", "1", "--fabric", "left")
        self.succeeds("up", "--star", "2", "--fabric", "right")
        self.succeeds("down", "--fabric", "left")
        self.assertEqual(self.tree.list(), ["right"])
        self.assertIn("expected a name without", self.fails(2, "up", "--star", "1",
                                                            "--fabric", "../f1"))

    def test_a_malformed_file_makes_nothing(self):
        path = self.file(PAIR + '[1] "left"[1]\n[1] "nobody"[1]\n')
        self.assertEqual(self.fails(2, "up", path),
                         'vibctl: %s:8: expected one link for port 1 of "right", '
                         'found another in line 7\n' % path)
        self.assertEqual(self.tree.list(), [])
        self.assertEqual(self.tree.writes, [])

    def test_a_file_that_is_not_there(self):
        self.assertEqual(self.fails(1, "up", "/nonexistent"),
                         "vibctl: /nonexistent: No such file or directory\n")

    def test_a_refusal_is_told(self):
        self.tree.refused = {("f0", "nodes", "ca1", "live"): errno.ENOMEM}
        self.assertRegex(self.fails(1, "up", "--star", "2"),
                         "^vibctl: .*/f0/nodes/ca1/live: Cannot allocate memory\n$")
        self.assertEqual(self.tree.list(), [])

    def test_wrong_commands(self):
        for argv in ((), ("up",), ("up", "--star"), ("up", "--star", "x"),
                     ("up", "--star", "0"), ("up", "--star", "1", "--chain", "1"),
                     ("up", "--star", "1", "file"), ("up", "--fat-tree", "3"),
                     ("up", "--star", "1", "--spare", "254"), ("up", "file", "--spare", "1"),
                     ("trunk",), ("trunk", "sw0:1", "10.0.0.1"),
                     ("trunk", "sw0:1", "10.0.0.1", "10.0.0.2", "x"),
                     ("trunk", "sw0:1", "10.0.0.1", "10.0.0.2", "--interval", "x"),
                     ("link", "ca0:1"), ("link", "ca0:1", "sideways"), ("fault",),
                     ("fault", "ca0:1", "drop=2"), ("sideways",)):
            with self.subTest(argv):
                self.fails(2, *argv)

    def test_without_a_fabric(self):
        for argv in (("down",), ("show",), ("show", "--ibnet"), ("link", "ca0:1", "down"),
                     ("fault", "ca0:1"), ("fault", "ca0:1", "clear"), ("trunk", "sw0:1"),
                     ("trunk", "sw0:1", "10.0.0.1", "10.0.0.2")):
            with self.subTest(argv):
                self.assertEqual(self.fails(1, *argv), "vibctl: f0: no such fabric\n")

    # ---- links ----

    def test_link(self):
        self.succeeds("up", "--star", "2")
        self.succeeds("link", "ca1:1", "down")
        self.assertEqual(self.tree.read("f0", "links", "sw0:2-ca1:1", "cut"), "1")
        self.assertEqual(self.tree.read("f0", "links", "sw0:1-ca0:1", "cut"), "0")
        self.succeeds("link", "sw0:2", "up")
        self.assertEqual(self.tree.read("f0", "links", "sw0:2-ca1:1", "cut"), "0")
        self.assertEqual(self.fails(1, "link", "ca2:1", "up"), "vibctl: ca2: no such node\n")

    def test_fault(self):
        self.succeeds("up", "--star", "2")
        self.succeeds("fault", "ca1:1", "drop=1%", "dup=0.1%", "delay=5ms", "corrupt=0.01%")
        self.tree.put(12, "f0", "links", "sw0:2-ca1:1", "dropped")
        self.assertEqual(self.succeeds("fault", "ca1:1").splitlines(),
                         ["drop=1% (12 packets)", "dup=0.1% (0 packets)",
                          "corrupt=0.01% (0 packets)", "match=all", "delay=5ms", "seed=0"])
        self.succeeds("fault", "ca1:1", "match=RTU")
        self.assertEqual(self.succeeds("fault", "ca1:1").splitlines()[3], "match=RTU")
        self.assertIn("drop=1% dup=0.1% corrupt=0.01% match=RTU delay=5ms",
                      self.succeeds("show"))
        self.succeeds("fault", "ca1:1", "clear")
        self.assertEqual(self.succeeds("fault", "ca1:1").splitlines()[0],
                         "drop=0% (12 packets)")
        self.assertIn("expected drop=RATE",
                      self.fails(2, "fault", "ca1:1", "dup=1%", "drop=1"))
        self.assertEqual(self.tree.read("f0", "links", "sw0:2-ca1:1", "dup"), "0")

    # ---- trunks ----

    def test_trunk(self):
        self.succeeds("up", "--star", "2", "--spare", "1")
        self.succeeds("trunk", "sw0:3", "10.0.0.1", "10.0.0.2:999")
        self.assertEqual(self.tree.writes[-4:], [
            (("f0", "trunks", "sw0:3", "port"), "sw0:3"),
            (("f0", "trunks", "sw0:3", "local"), "10.0.0.1"),
            (("f0", "trunks", "sw0:3", "peer"), "10.0.0.2:999"),
            (("f0", "trunks", "sw0:3", "live"), "1")])
        self.assertEqual(self.succeeds("trunk", "sw0:3"), "sent 5\nreceived 7\n")
        self.succeeds("link", "sw0:3", "down")
        self.assertEqual(self.tree.read("f0", "trunks", "sw0:3", "cut"), "1")
        self.assertIn("tc-netem", self.fails(1, "fault", "sw0:3", "drop=1%"))
        self.assertEqual(self.fails(1, "trunk", "sw0:1"),
                         "vibctl: sw0:1: a link within the fabric, no trunk\n")
        self.succeeds("trunk", "sw0:3", "clear")
        self.assertEqual(self.tree.list("f0", "trunks"), [])
        self.assertEqual(self.fails(1, "trunk", "sw0:3", "clear"),
                         "vibctl: sw0:3: no link at that port\n")
        self.succeeds("trunk", "sw0:3", "10.0.0.1", "10.0.0.2", "--interval", "50")
        self.assertEqual(self.tree.read("f0", "trunks", "sw0:3", "interval"), "50")
        self.succeeds("down")

    def test_a_trunk_that_is_refused_is_not_left(self):
        self.succeeds("up", "--star", "1", "--spare", "1")
        self.tree.refused = {("f0", "trunks", "sw0:2", "local"): errno.EINVAL}
        self.assertIn("Invalid argument", self.fails(1, "trunk", "sw0:2", "x", "10.0.0.2"))
        self.assertEqual(self.tree.list("f0", "trunks"), [])

    def test_show_of_trunks(self):
        self.succeeds("up", "--star", "1", "--spare", "1")
        self.succeeds("trunk", "sw0:2", "10.0.0.1", "10.0.0.2")
        self.tree.put("0x0600000000000100 3", "f0", "trunks", "sw0:2", "far")
        self.tree.put("Up", "f0", "trunks", "sw0:2", "state")
        out = self.succeeds("show")
        self.assertIn("1 link, 1 trunk\n", out)
        self.assertIn("    2  Init    LinkUp    4xQDR  trunk to 10.0.0.2  Up  "
                      "0x0600000000000100 port 3\n", out)
        self.succeeds("link", "sw0:2", "down")
        self.assertIn("port 3  cut\n", self.succeeds("show"))

    # ---- show ----

    def test_show(self):
        self.succeeds("up", self.file(PAIR))
        self.succeeds("link", "left:2", "down")
        self.succeeds("fault", "left:2", "drop=1%", "delay=5ms")
        self.assertEqual(self.succeeds("show"), """\
f0: 1 switch, 2 adapters, 1 link

switch sw  guid 0x00000000000000f0  lid 7  "a switch"
    3  Init    LinkUp    4xQDR  left:2  cut  drop=1% delay=5ms

ca left  guid 0x00000000000000a0  vib0  "node a"
    1  Init    LinkUp    4xQDR  lid 11
    2  Init    LinkUp    4xQDR  lid 12     sw:3  cut  drop=1% delay=5ms

ca right  guid 0x00000000000000a3  vib0
    1  Init    LinkUp    4xQDR  lid 11
""")

    def test_show_of_what_is_not_live(self):
        self.tree.mkdir("f0")
        self.tree.mkdir("f0", "nodes", "ca0")
        self.assertIn("not live", self.succeeds("show"))
        self.assertNotIn("Ca", self.succeeds("show", "--ibnet"))

    def test_show_as_ibnetdiscover(self):
        self.succeeds("up", self.file(PAIR))
        lines = list(show.ibnet(configfs.Fabric(self.tree, "f0"), 0))
        self.assertRegex(lines[1], "^# Topology file: generated on ")
        self.assertEqual("\n".join(lines[3:-6]), """\

vendid=0x20000
devid=0x7662
sysimgguid=0xf0
switchguid=0xf0(f0)
Switch\t8 "S-00000000000000f0"\t\t# "a switch" base port 0 lid 7 lmc 0
[3]\t"H-00000000000000a0"[2](a2) \t\t# "node a" lid 12 4xQDR

vendid=0x20000
devid=0x7662
sysimgguid=0xa0
caguid=0xa0
Ca\t2 "H-00000000000000a0"\t\t# "node a"
[2](a2) \t"S-00000000000000f0"[3]\t\t# lid 12 lmc 0 "a switch" lid 7 4xQDR""")

    def test_what_is_shown_can_be_made_again(self):
        self.succeeds("up", "--fat-tree", "4")
        net = parse.parse("-", self.succeeds("show", "--ibnet").encode().splitlines())
        view = show.View(configfs.Fabric(self.tree, "f0"))
        self.assertEqual(len(net.nodes), 14)
        self.assertEqual(len(net.links), 16)
        self.assertEqual({(n.desc, n.guid, n.ports) for n in net.nodes.values()},
                         {(n.desc, n.guid, max(n.ports)) for n in view.nodes.values()})

    def test_links_that_are_down_are_not_in_it(self):
        self.succeeds("up", "--star", "1")
        line = "  1 Down   Polling      0 0     -"
        self.tree.put(line, "f0", "nodes", "ca0", "ports_state")
        self.tree.put("  0 Active LinkUp       7 0 -    \n" + line, "f0", "nodes", "sw0",
                      "ports_state")
        self.assertNotIn("[1]", self.succeeds("show", "--ibnet"))


if __name__ == "__main__":
    unittest.main()
