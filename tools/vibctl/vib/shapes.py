# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
Regular topologies, made from a number.  Each switch has so many spare ports behind those that
the shape needs.
"""
from .topology import CA, MAX_PORTS, SWITCH, Node, Topology


class BadShape(Exception):
    """a number that the shape cannot have"""


def within(what, number, low, high):
    """raise BadShape unless the number is in the range"""
    if not low <= number <= high:
        raise BadShape("%s: expected a number from %d to %d, found %d"
                       % (what, low, high, number))


def star(count, spare=0):
    """adapters ca0, ca1, ... on the switch sw0, from its port 1 on"""
    within("--star", count, 1, MAX_PORTS)
    within("--spare", spare, 0, MAX_PORTS - count)
    made = Topology()
    made.add(Node("sw0", SWITCH, count + spare))
    for i in range(count):
        made.add(Node("ca%d" % i, CA, 1))
        made.join("sw0", i + 1, "ca%d" % i, 1)
    return made


def chain(count, spare=0):
    """
    switches sw0, sw1, ... in a row, each with the adapter of its number on port 1, the
    switch before it on port 2 and the one after it on port 3
    """
    within("--chain", count, 1, 10000)
    within("--spare", spare, 0, MAX_PORTS - 3)
    made = Topology()
    for i in range(count):
        made.add(Node("sw%d" % i, SWITCH, 3 + spare))
        made.add(Node("ca%d" % i, CA, 1))
        made.join("sw%d" % i, 1, "ca%d" % i, 1)
    for i in range(count - 1):
        made.join("sw%d" % i, 3, "sw%d" % (i + 1), 2)
    return made


def fat_tree(ports, spare=0):
    """
    two levels of switches with so many ports, K: K leaves with K/2 adapters each, and K/2
    spines, each with a link to each leaf, so that no adapter need wait for another's
    """
    within("--fat-tree", ports, 2, MAX_PORTS)
    if ports % 2:
        raise BadShape("--fat-tree: expected an even number of ports a switch, found %d"
                       % ports)
    within("--spare", spare, 0, MAX_PORTS - ports)
    half = ports // 2
    made = Topology()
    for i in range(half):
        made.add(Node("spine%d" % i, SWITCH, ports + spare))
    for i in range(ports):
        leaf = made.add(Node("leaf%d" % i, SWITCH, ports + spare)).name
        for j in range(half):
            ca = made.add(Node("ca%d" % (i * half + j), CA, 1)).name
            made.join(leaf, j + 1, ca, 1)
            made.join(leaf, half + j + 1, "spine%d" % j, i + 1)
    return made
