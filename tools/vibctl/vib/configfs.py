# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The driver's configfs folder: fabrics, their nodes, links and trunks, made and read."""
import collections
import errno
import os
import subprocess

MOUNT = "/sys/kernel/config"
ROOT = MOUNT + "/vib"

Port = collections.namedtuple("Port", "num state phys lid lmc rate")


class NotThere(Exception):
    """what was asked for does not exist"""


class Tree:
    """Folders and attributes below a root; paths are given in parts."""

    def __init__(self, root=ROOT):
        self.root = root

    def path(self, *parts):
        """the path of a folder or an attribute"""
        return os.path.join(self.root, *parts)

    def mkdir(self, *parts):
        """make a folder"""
        os.mkdir(self.path(*parts))

    def rmdir(self, *parts):
        """remove a folder"""
        os.rmdir(self.path(*parts))

    def exists(self, *parts):
        """whether there is such a folder"""
        return os.path.isdir(self.path(*parts))

    def has(self, *parts):
        """whether there is such an attribute"""
        return os.path.exists(self.path(*parts))

    def list(self, *parts):
        """names of the folders in a folder, sorted with numbers by their value"""
        names = os.listdir(self.path(*parts))
        return sorted((n for n in names if self.exists(*parts, n)), key=by_number)

    def write(self, value, *parts):
        """write an attribute, in one call as the driver wants it"""
        path = self.path(*parts)
        fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, ("%s\n" % value).encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        finally:
            os.close(fd)

    def read(self, *parts):
        """the text of an attribute"""
        path = self.path(*parts)
        fd = os.open(path, os.O_RDONLY)
        try:
            data = b"".join(iter(lambda: os.read(fd, 65536), b""))
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        finally:
            os.close(fd)
        return data.decode(errors="replace").rstrip("\n")


def by_number(name):
    """sorts ca2 before ca10"""
    parts, digits = [""], False
    for char in name:
        if char.isdecimal() != digits:
            digits = not digits
            parts.append("")
        parts[-1] += char
    return [int(p) if i % 2 else p for i, p in enumerate(parts)]


def prepare(tree):
    """load the driver and mount configfs, unless that was done"""
    if tree.exists():
        return
    if not os.path.ismount(MOUNT):
        subprocess.run(["modprobe", "-q", "configfs"], check=False)
        subprocess.run(["mount", "-t", "configfs", "configfs", MOUNT], check=False)
    if not tree.exists():
        subprocess.run(["modprobe", "vib"], check=False)
    if not tree.exists():
        raise OSError(errno.ENODEV, "The module vib is not loaded", tree.root)


class Link:
    """A link as it is in configfs: its folder's name, its two ends, and whether it is cut."""

    folder = "links"

    def __init__(self, name, ends, cut):
        self.name = name
        self.ends = ends
        self.cut = cut

    def other(self, end):
        """the end that is not this one"""
        return self.ends[1] if self.ends[0] == end else self.ends[0]


class Trunk:
    """
    A link to another host: its folder's name, its end here as the only one, whether it is cut,
    the peer's address, and the GUID and the port of the node there, if the peer has told them
    """

    folder = "trunks"

    def __init__(self, name, end, cut, peer, state, far):
        self.name = name
        self.ends = (end,)
        self.cut = cut
        self.peer = peer
        self.state = state
        self.far = far


class Fabric:
    """A fabric in the tree, whether it is there yet or not."""

    def __init__(self, tree, name):
        self.tree = tree
        self.name = name

    # ---- making and removing ----

    def add_node(self, node):
        """set the attributes of a node whose folder is there, and start it"""
        where = (self.name, "nodes", node.name)
        self.tree.write(node.kind, *where, "type")
        self.tree.write(node.ports, *where, "ports")
        if node.guid is not None:
            self.tree.write("%#x" % node.guid, *where, "guid")
        if node.sys_guid is not None:
            self.tree.write("%#x" % node.sys_guid, *where, "sys_guid")
        if node.desc != node.name:
            self.tree.write(node.desc, *where, "desc")
        self.tree.write(1, *where, "live")

    def add_link(self, name, ends):
        """the same for a link"""
        for attr, end in zip("ab", ends):
            self.tree.write("%s:%d" % end, self.name, "links", name, attr)
        self.tree.write(1, self.name, "links", name, "live")

    def add_trunk(self, end, local, peer, interval):
        """make a trunk at a port; it is removed again if the driver refuses anything"""
        name = "%s:%d" % end
        where = (self.name, "trunks", name)
        self.tree.mkdir(*where)
        try:
            self.tree.write(name, *where, "port")
            self.tree.write(local, *where, "local")
            self.tree.write(peer, *where, "peer")
            if interval is not None:
                self.tree.write(interval, *where, "interval")
            self.tree.write(1, *where, "live")
        except BaseException:
            self.undo([where])
            raise

    def create(self, topology):
        """make the fabric; what was made is removed again if the driver refuses anything"""
        made = []

        def mkdir(*parts):
            self.tree.mkdir(*parts)
            made.append(parts)

        try:
            mkdir(self.name)
            for node in topology.nodes.values():
                mkdir(self.name, "nodes", node.name)
                self.add_node(node)
            for ends in topology.links:
                name = "-".join("%s:%d" % end for end in ends)
                mkdir(self.name, "links", name)
                self.add_link(name, ends)
        except BaseException:
            self.undo(made)
            raise

    def undo(self, made):
        """remove folders, the last one first; the error that is being handled counts"""
        for parts in reversed(made):
            try:
                self.tree.rmdir(*parts)
            except OSError:
                pass

    def remove(self):
        """remove the fabric with all that is in it, as if its power failed"""
        for kind in ("trunks", "links", "nodes"):
            for name in self.tree.list(self.name, kind):
                self.tree.rmdir(self.name, kind, name)
        self.tree.rmdir(self.name)

    # ---- looking ----

    def nodes(self):
        """names of the nodes"""
        return self.tree.list(self.name, "nodes")

    def attr(self, node, attr):
        """the text of an attribute of a node"""
        return self.tree.read(self.name, "nodes", node, attr)

    def ports(self, node):
        """the ports of a node, port 0 of a switch first; none of one that is not live"""
        if self.attr(node, "live") != "1":
            return []
        ports = []
        for line in self.attr(node, "ports_state").splitlines():
            num, state, phys, lid, lmc, rate = line.split()
            ports.append(Port(int(num), state, phys, int(lid), int(lmc), rate))
        return ports

    def links(self):
        """the links whose ends are set"""
        found = []
        for name in self.tree.list(self.name, "links"):
            where = (self.name, "links", name)
            ends = [parse_end(self.tree.read(*where, attr)) for attr in "ab"]
            if all(ends):
                cut = self.tree.read(*where, "cut") == "1"
                found.append(Link(name, tuple(ends), cut))
        return found

    def trunks(self):
        """the trunks whose ports are set"""
        found = []
        for name in self.tree.list(self.name, "trunks"):
            where = (self.name, "trunks", name)
            end = parse_end(self.tree.read(*where, "port"))
            if end:
                found.append(Trunk(name, end, self.tree.read(*where, "cut") == "1",
                                   *(self.tree.read(*where, attr)
                                     for attr in ("peer", "state", "far"))))
        return found

    def find_node(self, name):
        """the node of that name, or else of that description if one alone has it"""
        if self.tree.exists(self.name, "nodes", name):
            return name
        found = [n for n in self.nodes() if self.attr(n, "desc") == name]
        if len(found) != 1:
            raise NotThere("%s: %s" % (name, "no such node" if not found else
                                       "a description of %d nodes" % len(found)))
        return found[0]

    def find_end(self, text):
        """a port, such as ca0:1; ca0 alone is port 1"""
        self.must_exist()
        end = parse_end(text)
        if not end:
            raise NotThere("%s: not a port, such as ca0:1" % text)
        return self.find_node(end[0]), end[1]

    def find_link(self, text):
        """the link or the trunk at a port"""
        end = self.find_end(text)
        for link in self.links() + self.trunks():
            if end in link.ends:
                return link
        raise NotThere("%s: no link at that port" % text)

    def find_trunk(self, text):
        """the trunk at a port"""
        found = self.find_link(text)
        if not isinstance(found, Trunk):
            raise NotThere("%s: a link within the fabric, no trunk" % text)
        return found

    def must_exist(self):
        """raise NotThere unless the fabric is there"""
        if not self.tree.exists(self.name):
            raise NotThere("%s: no such fabric" % self.name)


def parse_end(text):
    """("sw0", 3) for sw0:3 and ("ca0", 1) for ca0, as the driver reads it; else None"""
    name, colon, num = text.rpartition(":")
    if not colon:
        name, num = text, "1"
    if not name or "/" in name or not num.isdecimal():
        return None
    return name, int(num)
