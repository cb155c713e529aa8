# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Topologies: nodes, and the links between their ports."""

SWITCH = "switch"
CA = "ca"

MAX_PORTS = 254         # of a node: in a switch's forwarding table 255 is no port
MAX_NAME = 100          # two names and two ports are the name of a link's folder
MAX_DESC = 63           # bytes that the driver keeps of a NodeDescription
MAX_GUID = 2 ** 64 - 1


def wrong_name(name):
    """what is expected of a name instead, or None"""
    if not name or len(name.encode()) > MAX_NAME:
        return "a name of 1 to %d bytes" % MAX_NAME
    if name in (".", "..") or "/" in name or ":" in name:
        return "a name without '/' and ':'"
    if name != name.strip() or not name.isprintable():
        return "a name of printable characters that neither begins nor ends with a space"
    return None


class Node:
    """A switch or an adapter; GUIDs of None are left to the driver."""

    def __init__(self, name, kind, ports, guid=None, sys_guid=None, desc=None):
        self.name = name
        self.kind = kind
        self.ports = ports
        self.guid = guid
        self.sys_guid = sys_guid
        self.desc = desc or name


class Topology:
    """Nodes by name, and links as pairs of ends: ((name, port), (name, port))."""

    def __init__(self):
        self.nodes = {}
        self.links = []

    def add(self, node):
        """add a node, whose name is new"""
        self.nodes[node.name] = node
        return node

    def join(self, name, port, peer, peer_port):
        """link two ports"""
        self.links.append(((name, port), (peer, peer_port)))

    def count(self, kind):
        """the number of nodes of a kind"""
        return sum(node.kind == kind for node in self.nodes.values())
