# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Topology files, good and bad."""
import glob
import os
import unittest

from vib.parse import Malformed, parse, parse_file
from vib.topology import CA, SWITCH

NETS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "tests", "vm", "nets")

DISCOVERED = """\
#
# Topology file: generated on Sat Mar  1 12:00:00 2025
#
# Initiated from node 00025500000000a0 port 00025500000000a1

vendid=0x2c9
devid=0xb924
sysimgguid=0x25500000000f3
switchguid=0x25500000000f0(25500000000f0)
Switch\t24 "S-00025500000000f0"\t\t# "the; switch" base port 0 lid 6 lmc 0
[22]\t"H-00025500000000a0"[1](25500000000a1) \t\t# "node a" lid 4 4xSDR
[10][ext 4]\t"S-00025500000000e0"[1]\t\t# "edge" lid 3 4xDDR s=4 w=2 v=4

vendid=0x2c9
devid=0xb924
switchguid=0x25500000000e0(25500000000e0)\t# Line 1
Switch\t8 "S-00025500000000e0"\t\t# edge enhanced port 0 lid 3 lmc 0
[1]\t"S-00025500000000f0"[10][ext 4]\t\t# "the; switch" lid 6 4xDDR

vendid=0x2c9
devid=0x5a44
sysimgguid=0x25500000000a3
caguid=0x25500000000a0
Ca\t2 "H-00025500000000a0"\t\t# "node a"
[1](25500000000a1) \t"S-00025500000000f0"[22]\t\t# lid 4 lmc 0 "the; switch" lid 6 4xSDR
"""

SIMULATED = """\
# as ibsim reads it
switchguid=0x1000
hcaguids=0x2000
Switch\t8 "Switch1"
[1]\t"Hca1"[1]
# a comment in a record
[2]\t"Hca2"

Switch 8 "Switch2"
[3]\t"Switch1" [3]

Hca\t2 "Hca1"
Hca 2 "Hca2"
[1]"Switch1"[2]
"""


def read(text):
    """the topology in a text"""
    return parse("net", text.encode().splitlines(keepends=True))


def links(topology):
    """its links, without direction"""
    return {frozenset(ends) for ends in topology.links}


class Good(unittest.TestCase):
    """what is understood"""

    def test_output_of_ibnetdiscover(self):
        net = read(DISCOVERED)
        self.assertEqual(net.count(SWITCH), 2)
        self.assertEqual(net.count(CA), 1)
        switch = net.nodes["S-00025500000000f0"]
        self.assertEqual((switch.kind, switch.ports, switch.guid, switch.sys_guid, switch.desc),
                         (SWITCH, 24, 0x25500000000f0, 0x25500000000f3, "the; switch"))
        adapter = net.nodes["H-00025500000000a0"]
        self.assertEqual((adapter.kind, adapter.ports, adapter.guid, adapter.desc),
                         (CA, 2, 0x25500000000a0, "node a"))
        # Each of the two links was in both records.
        self.assertEqual(len(net.links), 2)
        self.assertIn({("S-00025500000000f0", 10), ("S-00025500000000e0", 1)}, links(net))

    def test_description_without_quotes(self):
        self.assertEqual(read(DISCOVERED).nodes["S-00025500000000e0"].desc, "edge")
        self.assertEqual(read('Ca 1 "x" # lid 3').nodes["x"].desc, "x")
        self.assertEqual(read('Ca 1 "x" # far away').nodes["x"].desc, "far away")

    def test_a_node_without_a_system_guid_of_its_own(self):
        self.assertIsNone(read(DISCOVERED).nodes["S-00025500000000e0"].sys_guid)

    def test_input_of_ibsim(self):
        net = read(SIMULATED)
        self.assertEqual(list(net.nodes), ["Switch1", "Switch2", "Hca1", "Hca2"])
        self.assertEqual(net.nodes["Hca1"].desc, "Hca1")
        self.assertEqual(links(net), {
            frozenset({("Switch1", 1), ("Hca1", 1)}),
            frozenset({("Switch1", 2), ("Hca2", 1)}),
            frozenset({("Switch2", 3), ("Switch1", 3)})})

    def test_guids_count_up(self):
        nodes = read(SIMULATED).nodes
        self.assertEqual([n.guid for n in nodes.values()], [0x1000, 0x1001, 0x2000, 0x2003])

    def test_guid_in_an_id(self):
        net = read('caguid=0x5\nCa 1 "H-00000000000000aa"\nCa 1 "H-00000000000000ab"\n')
        self.assertEqual([n.guid for n in net.nodes.values()], [5, 0xab])

    def test_without_guids_they_are_the_drivers(self):
        self.assertIsNone(read('Switch 8 "sw"').nodes["sw"].guid)

    def test_a_switch_may_be_linked_with_itself(self):
        self.assertEqual(read('Switch 8 "s"\n[1] "s"[2]').links, [(("s", 1), ("s", 2))])

    def test_examples(self):
        sizes = {}
        for path in glob.glob(os.path.join(NETS, "*")):
            net = parse_file(path)
            sizes[os.path.basename(path)] = (net.count(SWITCH), net.count(CA),
                                             len(net.links))
        self.assertEqual(sizes, {"pair": (1, 2, 2), "fat-tree-8": (6, 8, 16),
                                 "ring": (4, 4, 8)})


class Bad(unittest.TestCase):
    """what is refused: with its line, and what was expected there"""

    def refused(self, text, line, expected):
        """read a text that is no topology"""
        with self.assertRaises(Malformed) as caught:
            read(text)
        self.assertRegex(str(caught.exception), r"^net:%d: expected .*%s" % (line, expected))

    def test_lines(self):
        for text, line, expected in (
                ("", 1, r"a node.*none"),
                ("# nothing\n\n", 2, r"a node.*none"),
                ('\nRt 2 "R"\n', 2, r"a node \(Switch or Ca\), .* found 'Rt 2 \"R\"'"),
                ('Switch "s"', 1, r'Switch PORTS "ID"'),
                ('Switch 8 s', 1, r'Switch PORTS "ID"'),
                ('Switch 8 "s" base port 0', 1, r'Switch PORTS "ID"'),
                ('Hca 2 "h', 1, r'Hca PORTS "ID"'),
                ('Ca -1 "h"', 1, r'Ca PORTS "ID"'),
                ('Switch 8 "s"\n[1] Hca1[1]', 2, r'\[PORT\] "ID"\[PORT\]'),
                ('Switch 8 "s"\n[1] "s"[2] w=12', 2, r'\[PORT\] "ID"\[PORT\]'),
                ('Switch 8 "s"\n[x] "s"[2]', 2, r'\[PORT\] "ID"\[PORT\]'),
                ('Switch 8 "s"\n@[1] "s"', 2, r"a node"),
                ('include "other"', 1, r"a node"),
                ("switchguid=12", 1, r"switchguid=0xGUID"),
                ("devid=", 1, r"devid=NUMBER")):
            with self.subTest(text):
                self.refused(text, line, expected)

    def test_text_that_is_none(self):
        with self.assertRaisesRegex(Malformed, "net:2: expected text in UTF-8"):
            parse("net", [b"\n", b"# \xff\n"])

    def test_guids(self):
        for text, line, expected in (
                ("caguid=0x0", 1, "a GUID of 64 bits other than 0"),
                ("caguid=0x10000000000000000", 1, "a GUID of 64 bits"),
                ('caguid=0xffffffffffffffff\nCa 1 "a"\nCa 1 "b"', 3, "a GUID of 64 bits"),
                ('Ca 1 "H-0000000000000000"', 1, "a GUID of 64 bits"),
                ('caguid=0x5\nCa 1 "a"\nswitchguid=0x5\nSwitch 8 "b"', 4,
                 "a GUID of its own, found 0x5, which is a's")):
            with self.subTest(text):
                self.refused(text, line, expected)

    def test_nodes(self):
        for text, line, expected in (
                ('Ca 1 "a"\nCa 1 "a"', 2, 'an ID of its own, found "a", as in line 1'),
                ('Ca 0 "a"', 1, "1 to 254 ports, found 0"),
                ('Switch 255 "s"', 1, "1 to 254 ports, found 255"),
                ('Ca 1 ""', 1, "a name of 1 to 100 bytes"),
                ('Ca 1 "%s"' % ("x" * 101), 1, "a name of 1 to 100 bytes"),
                ('Ca 1 ".."', 1, "a name without '/'"),
                ('Ca 1 "a/b"', 1, "a name without '/'"),
                ('Ca 1 "a:1"', 1, "a name without '/'"),
                ('Ca 1 " a"', 1, "a name of printable"),
                ('Ca 1 "a\x07"', 1, "a name of printable"),
                ('Ca 1 "a" # "%s"' % ("x" * 64), 1, "a description of up to 63 bytes")):
            with self.subTest(text):
                self.refused(text, line, expected)

    def test_links(self):
        for text, line, expected in (
                ('[1] "s"[1]', 1, r"a node \(Switch or Ca\) before its ports"),
                ('Switch 8 "s"\n\n[1] "s"[2]', 3, "a node .* before its ports"),
                ('Switch 8 "s"\n[9] "s"[1]', 2, 'a port of "s": 1 to 8, found 9'),
                ('Switch 8 "s"\n[0] "s"[1]', 2, 'a port of "s": 1 to 8, found 0'),
                ('Switch 8 "s"\n[1] "s"[9]', 2, 'a port of "s": 1 to 8, found 9'),
                ('Switch 8 "s"\n[1] "t"[1]', 2, 'the ID of a node in this file, found "t"'),
                ('Switch 8 "s"\n[1] "s"[1]', 2, "another port at the other end"),
                ('Switch 8 "s"\n[1] "s"[2]\n[1] "s"[3]', 3, 'one link for port 1 of "s"'),
                ('Switch 8 "s"\n[1] "a"\n[2] "a"\nCa 1 "a"', 3,
                 'one link for port 1 of "a", found another in line 2'),
                ('Switch 8 "s"\n[1] "a"[1]\nCa 1 "a"\n[1] "s"[2]', 2,
                 r'"s"\[2\] at the other end, as in line 4, found "s"\[1\]'),
                ('Switch 8 "s"\n[1] "a"\n[2] "a"\nCa 1 "a"\n[1] "s"[1]', 3,
                 r'"s"\[1\] at the other end, as in line 5, found "s"\[2\]')):
            with self.subTest(text):
                self.refused(text, line, expected)


if __name__ == "__main__":
    unittest.main()
