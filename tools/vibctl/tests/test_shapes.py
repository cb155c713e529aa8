# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Regular topologies."""
import unittest

from vib import shapes
from vib.topology import CA, SWITCH


class Shapes(unittest.TestCase):
    """their nodes and links"""

    def whole(self, net):
        """each link joins two ports that exist, and no port has two; all is in one piece"""
        ends = [end for link in net.links for end in link]
        self.assertEqual(len(ends), len(set(ends)))
        for name, port in ends:
            self.assertTrue(1 <= port <= net.nodes[name].ports, (name, port))
        reached = {next(iter(net.nodes))}
        for _ in net.nodes:
            for (name, _p), (peer, _q) in net.links:
                if name in reached or peer in reached:
                    reached |= {name, peer}
        self.assertEqual(reached, set(net.nodes))

    def test_star(self):
        for count in (1, 4, 254):
            net = shapes.star(count)
            self.whole(net)
            self.assertEqual((net.count(SWITCH), net.count(CA)), (1, count))
        self.assertEqual(net.links[3], (("sw0", 4), ("ca3", 1)))

    def test_chain(self):
        for count in (1, 2, 7):
            net = shapes.chain(count)
            self.whole(net)
            self.assertEqual((net.count(SWITCH), net.count(CA), len(net.links)),
                             (count, count, 2 * count - 1))

    def test_fat_tree(self):
        for ports in (2, 4, 8):
            net = shapes.fat_tree(ports)
            self.whole(net)
            self.assertEqual(net.count(CA), ports * ports // 2)
            self.assertEqual(net.count(SWITCH), ports + ports // 2)
            # As many links up as down: nothing is blocked.
            up = [ends for ends in net.links if ends[1][0].startswith("spine")]
            self.assertEqual(len(up), net.count(CA))

    def test_switches_have_spare_ports(self):
        for make, count, ports in ((shapes.star, 2, 2), (shapes.chain, 2, 3),
                                   (shapes.fat_tree, 4, 4)):
            with self.subTest(make.__name__):
                net = make(count, 3)
                self.whole(net)
                self.assertEqual({n.ports for n in net.nodes.values() if n.kind == SWITCH},
                                 {ports + 3})
                self.assertEqual(net.links, make(count).links)
                for spare in (-1, 255 - ports):
                    self.assertRaises(shapes.BadShape, make, count, spare)

    def test_refused(self):
        for make, number in ((shapes.star, 0), (shapes.star, 255), (shapes.star, -1),
                             (shapes.chain, 0), (shapes.fat_tree, 0), (shapes.fat_tree, 3),
                             (shapes.fat_tree, 256)):
            with self.subTest((make.__name__, number)):
                self.assertRaises(shapes.BadShape, make, number)


if __name__ == "__main__":
    unittest.main()
