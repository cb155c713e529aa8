# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a fabric is and how it is: for people, and as ibnetdiscover prints it."""
import time

from .faults import Faults
from .topology import CA, SWITCH

# What the driver says in each NodeInfo
VENDOR_ID = 0x20000
DEVICE_ID = 0x7662


class Shown:
    """A node as it was when it was looked at."""

    def __init__(self, fabric, name):
        self.name = name
        self.kind = fabric.attr(name, "type")
        self.guid = int(fabric.attr(name, "guid"), 16)
        self.sys_guid = int(fabric.attr(name, "sys_guid"), 16)
        self.desc = fabric.attr(name, "desc")
        self.device = fabric.attr(name, "device")
        self.ports = {port.num: port for port in fabric.ports(name)}

    def lid(self, num):
        """the LID by which a port is reached: a switch has one, that of port 0"""
        return self.ports[0 if self.kind == SWITCH else num].lid

    def ident(self):
        """its ID in a topology file"""
        return '"%s-%016x"' % ("S" if self.kind == SWITCH else "H", self.guid)

    def port_guid(self, num):
        """the GUID of a port: an adapter's ports count up from it"""
        return self.guid if self.kind == SWITCH else self.guid + num


class View:
    """Nodes by name, and links by their ends: (name, port) -> Link."""

    def __init__(self, fabric):
        fabric.must_exist()
        self.fabric = fabric
        self.nodes = {name: Shown(fabric, name) for name in fabric.nodes()}
        self.links = {}
        self.trunks = {trunk.ends[0]: trunk for trunk in fabric.trunks()}
        for link in fabric.links():
            for end in link.ends:
                self.links[end] = link

    def of(self, kind):
        """the nodes of a kind"""
        return [node for node in self.nodes.values() if node.kind == kind]

    def peer(self, name, num):
        """the node and the number of the port at the other end of a link; or None"""
        link = self.links.get((name, num))
        if not link:
            return None
        far, far_num = link.other((name, num))
        node = self.nodes.get(far)
        return (node, far_num) if node and far_num in node.ports else None


# ---- for people ----

def plural(count, word):
    """2 adapters, 1 switch"""
    ending = "" if count == 1 else "es" if word.endswith("ch") else "s"
    return "%d %s%s" % (count, word, ending)


def trunk_words(trunk):
    """what is at the other end of a trunk, and how it is"""
    words = ["trunk to %s" % trunk.peer, trunk.state]
    if trunk.far:
        words.append("%s port %s" % tuple(trunk.far.split()))
    return words + ["cut" if trunk.cut else ""]


def port_line(view, node, port):
    """a port and its link"""
    link = view.links.get((node.name, port.num))
    words = ["%5d  %-6s  %-8s  %-5s" % (port.num, port.state, port.phys, port.rate)]
    if node.kind == CA:
        words.append("lid %-5d" % port.lid)
    if link:
        words.append("%s:%d" % link.other((node.name, port.num)))
        words.append("cut" if link.cut else "")
        words.append(Faults(view.fabric, link).brief())
    trunk = view.trunks.get((node.name, port.num))
    if trunk:
        words += trunk_words(trunk)
    return "  ".join(word for word in words if word).rstrip()


def node_lines(view, node):
    """a node, with its ports that have a link; of an adapter, with all"""
    about = ["%s %s" % (node.kind, node.name), "guid %#018x" % node.guid]
    if node.kind == SWITCH and 0 in node.ports:
        about.append("lid %d" % node.lid(0))
    if node.device:
        about.append(node.device)
    if node.desc != node.name:
        about.append('"%s"' % node.desc)
    if not node.ports:
        about.append("not live")
    yield "  ".join(about)
    for num, port in node.ports.items():
        end = node.name, num
        if num and (node.kind == CA or end in view.links or end in view.trunks):
            yield port_line(view, node, port)


def people(fabric):
    """lines that show the fabric"""
    view = View(fabric)
    counts = [plural(len(view.of(SWITCH)), "switch"), plural(len(view.of(CA)), "adapter"),
              plural(len(set(view.links.values())), "link")]
    if view.trunks:
        counts.append(plural(len(view.trunks), "trunk"))
    yield "%s: %s" % (fabric.name, ", ".join(counts))
    for kind in (SWITCH, CA):
        for node in view.of(kind):
            yield ""
            yield from node_lines(view, node)


# ---- as ibnetdiscover does ----

def ids(node):
    """the lines before a node's own"""
    yield ""
    yield "vendid=%#x" % VENDOR_ID
    yield "devid=%#x" % DEVICE_ID
    yield "sysimgguid=%#x" % node.sys_guid


def linked(view, node):
    """its ports whose links are up: number, port, the node and the port at the other end"""
    for num, port in node.ports.items():
        peer = view.peer(node.name, num)
        if num and port.phys == "LinkUp" and peer:
            yield num, port, *peer


def far_end(far, far_num):
    """the other end of a link, with an adapter's port GUID"""
    text = "%s[%d]" % (far.ident(), far_num)
    return text if far.kind == SWITCH else text + "(%x) " % far.port_guid(far_num)


def ibnet_switch(view, node):
    """the record of a switch"""
    yield from ids(node)
    yield "switchguid=%#x(%x)" % (node.guid, node.guid)
    yield ('Switch\t%d %s\t\t# "%s" base port 0 lid %d lmc %d'
           % (max(node.ports), node.ident(), node.desc, node.lid(0), node.ports[0].lmc))
    for num, port, far, far_num in linked(view, node):
        yield ('[%d]\t%s\t\t# "%s" lid %d %s'
               % (num, far_end(far, far_num), far.desc, far.lid(far_num), port.rate))


def ibnet_ca(view, node):
    """the record of an adapter"""
    yield from ids(node)
    yield "caguid=%#x" % node.guid
    yield 'Ca\t%d %s\t\t# "%s"' % (max(node.ports), node.ident(), node.desc)
    for num, port, far, far_num in linked(view, node):
        yield ('[%d](%x) \t%s\t\t# lid %d lmc %d "%s" lid %d %s'
               % (num, node.port_guid(num), far_end(far, far_num), port.lid, port.lmc,
                  far.desc, far.lid(far_num), port.rate))


def ibnet(fabric, now=None):
    """the fabric as a topology file, of the nodes that are live and the links that are up"""
    view = View(fabric)
    yield "#"
    yield "# Topology file: generated on %s" % time.ctime(now)
    yield "#"
    for kind, record in ((SWITCH, ibnet_switch), (CA, ibnet_ca)):
        for node in view.of(kind):
            if node.ports:
                yield from record(view, node)
