# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics in configfs: made, undone, removed, found."""
import errno
import unittest

from vib import configfs, shapes
from vib.topology import CA, SWITCH, Node, Topology

from .fake import FakeTree


class Fabrics(unittest.TestCase):
    """in a directory that behaves like configfs"""

    def setUp(self):
        self.tree = FakeTree()
        self.addCleanup(self.tree.close)
        self.fabric = configfs.Fabric(self.tree, "f0")

    def test_attributes_come_before_live(self):
        net = Topology()
        net.add(Node("sw", SWITCH, 8, 0xf0, 0xf3, "a switch"))
        net.add(Node("ca", CA, 2))
        net.join("sw", 1, "ca", 2)
        self.fabric.create(net)
        self.assertEqual(self.tree.writes, [
            (("f0", "nodes", "sw", "type"), "switch"),
            (("f0", "nodes", "sw", "ports"), "8"),
            (("f0", "nodes", "sw", "guid"), "0xf0"),
            (("f0", "nodes", "sw", "sys_guid"), "0xf3"),
            (("f0", "nodes", "sw", "desc"), "a switch"),
            (("f0", "nodes", "sw", "live"), "1"),
            (("f0", "nodes", "ca", "type"), "ca"),
            (("f0", "nodes", "ca", "ports"), "2"),
            (("f0", "nodes", "ca", "live"), "1"),
            (("f0", "links", "sw:1-ca:2", "a"), "sw:1"),
            (("f0", "links", "sw:1-ca:2", "b"), "ca:2"),
            (("f0", "links", "sw:1-ca:2", "live"), "1")])

    def test_a_refusal_undoes_all(self):
        for refused in (("f0",), ("f0", "nodes", "sw0"), ("f0", "nodes", "sw0", "type"),
                        ("f0", "nodes", "ca2", "live"), ("f0", "links", "sw0:3-ca2:1"),
                        ("f0", "links", "sw0:3-ca2:1", "b"),
                        ("f0", "links", "sw0:3-ca2:1", "live")):
            with self.subTest(refused):
                self.tree.refused = {refused: errno.ENOMEM}
                with self.assertRaises(OSError) as caught:
                    self.fabric.create(shapes.star(3))
                self.assertEqual(caught.exception.filename, self.tree.path(*refused))
                self.assertEqual(self.tree.list(), [])

    def test_an_interrupt_undoes_all(self):
        def interrupted(*_args):
            raise KeyboardInterrupt

        self.fabric.add_link = interrupted
        self.assertRaises(KeyboardInterrupt, self.fabric.create, shapes.star(3))
        self.assertEqual(self.tree.list(), [])

    def test_a_fabric_that_exists_is_left_alone(self):
        self.fabric.create(shapes.star(2))
        self.assertRaises(FileExistsError, self.fabric.create, shapes.star(3))
        self.assertEqual(self.fabric.nodes(), ["ca0", "ca1", "sw0"])

    def test_remove(self):
        self.fabric.create(shapes.chain(3))
        configfs.Fabric(self.tree, "f1").create(shapes.star(1))
        self.fabric.remove()
        self.assertEqual(self.tree.list(), ["f1"])

    def test_names_are_sorted_by_number(self):
        self.fabric.create(shapes.star(12))
        self.assertEqual(self.fabric.nodes()[-3:], ["ca10", "ca11", "sw0"])

    def test_ports(self):
        self.fabric.create(shapes.star(2))
        self.assertEqual(self.fabric.ports("ca0"),
                         [configfs.Port(1, "Init", "LinkUp", 11, 0, "4xQDR")])
        self.assertEqual([port.num for port in self.fabric.ports("sw0")], [0, 1, 2])
        self.tree.put("0", "f0", "nodes", "ca0", "live")
        self.assertEqual(self.fabric.ports("ca0"), [])

    def test_find_link(self):
        self.fabric.create(shapes.star(2))
        for port in ("ca1:1", "ca1", "sw0:2"):
            self.assertEqual(self.fabric.find_link(port).name, "sw0:2-ca1:1")
        for port in ("ca1:2", "ca7:1", "ca1:", ":1", "../f1:1", "ca1:x"):
            with self.subTest(port):
                self.assertRaises(configfs.NotThere, self.fabric.find_link, port)

    def test_a_port_without_a_number_is_port_1(self):
        self.fabric.create(shapes.star(1))
        self.tree.put("ca0", "f0", "links", "sw0:1-ca0:1", "b")
        self.assertEqual(self.fabric.find_link("ca0:1").other(("ca0", 1)), ("sw0", 1))

    def test_a_description_finds_a_node_if_it_is_of_one_alone(self):
        net = shapes.star(3)
        net.nodes["ca0"].desc = net.nodes["ca1"].desc = "same"
        net.nodes["ca2"].desc = "other"
        self.fabric.create(net)
        self.assertEqual(self.fabric.find_node("other"), "ca2")
        with self.assertRaisesRegex(configfs.NotThere, "a description of 2 nodes"):
            self.fabric.find_node("same")

    def test_a_link_without_ends_is_not_listed(self):
        self.fabric.create(shapes.star(1))
        self.tree.mkdir("f0", "links", "loose")
        self.assertEqual([link.name for link in self.fabric.links()], ["sw0:1-ca0:1"])


if __name__ == "__main__":
    unittest.main()
