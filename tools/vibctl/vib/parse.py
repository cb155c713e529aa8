# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
Topology files, as ibnetdiscover prints them and ibsim reads them:

    switchguid=0x8f10400410015(8f10400410015)
    Switch  8 "S-0008f10400410015"  # "a switch" base port 0 lid 3 lmc 0
    [6]     "H-0008f10403960558"[1](8f10403960559)  # "an adapter" lid 5 4xSDR

A link may be in the record of either node or in both.
"""
import re

from .topology import CA, MAX_DESC, MAX_GUID, MAX_PORTS, SWITCH, Node, Topology, wrong_name

COMMENT = r"\s*(?:#.*)?$"
NODE = re.compile(r'(Switch|Hca|Ca)\s+(\d+)\s*"([^"]*)"\s*(?:#\s*(.*))?$')
PORT = re.compile(r'\[(\d+)\](?:\[ext \d+\])?\s*(?:\([0-9a-fA-F]+\))?\s*'
                  r'"([^"]*)"\s*(?:\[(\d+)\])?(?:\[ext \d+\])?\s*(?:\([0-9a-fA-F]+\))?'
                  + COMMENT)
GUID = re.compile(r"(switchguid|caguid|hcaguids|sysimgguid)=(0x[0-9a-fA-F]+)"
                  r"(?:\([0-9a-fA-F]+\))?" + COMMENT)
# The driver has IDs of its own; what ibnetdiscover -g says of a chassis is not used either.
IGNORED = re.compile(r"((vendid|devid)=(0x[0-9a-fA-F]+|\d+)" + COMMENT +
                     r"|Chassis \d+|Hostname: )")
ID_GUID = re.compile(r"[SH]-([0-9a-fA-F]{16})$")
QUOTED = re.compile(r'"([^"]*)"')
AFTER_DESC = re.compile(r"\s(enhanced port|base port|lid|lmc)\s")

KINDS = {"Switch": SWITCH, "Hca": CA, "Ca": CA}
GUID_OF = {"switchguid": SWITCH, "caguid": CA, "hcaguids": CA}
# In words, for who has written something else
FORMS = (
    ("[", '[PORT] "ID"[PORT], such as [1] "S-0008f10400410015"[6]'),
    ("Switch", 'Switch PORTS "ID"'),
    ("Hca", 'Hca PORTS "ID"'),
    ("Ca", 'Ca PORTS "ID"'),
    ("switchguid", "switchguid=0xGUID"),
    ("caguid", "caguid=0xGUID"),
    ("hcaguids", "hcaguids=0xGUID"),
    ("sysimgguid", "sysimgguid=0xGUID"),
    ("vendid", "vendid=NUMBER"),
    ("devid", "devid=NUMBER"),
    ("", "a node (Switch or Ca), a port ([1] ...), an ID (switchguid=, caguid=, "
         "sysimgguid=, vendid=, devid=), or a comment (#)"),
)


class Malformed(Exception):
    """a file that is no topology: where, and what was expected there"""

    def __init__(self, path, line, expected, found=None):
        self.path = path
        self.line = line
        text = "%s:%d: expected %s" % (path, line, expected)
        super().__init__(text if found is None else "%s, found %s" % (text, found))


def description(comment):
    """the NodeDescription in the comment behind a node, or None"""
    if not comment:
        return None
    quoted = QUOTED.match(comment)
    if quoted:
        return quoted.group(1)
    return AFTER_DESC.split(" " + comment + " ")[0].strip()


class Claim:
    """what a line says about a port: which port is at the other end of its link"""

    def __init__(self, line, peer, peer_port):
        self.line = line
        self.peer = peer
        self.peer_port = peer_port


class Parser:
    """A file as it is read: the topology so far, and what its lines said of ports."""

    def __init__(self, path):
        self.path = path
        self.line = 0
        self.topology = Topology()
        self.lines = {}         # name of a node -> its line
        self.guids = {}         # GUID -> the name of its node
        self.claims = {}        # (name, port) -> Claim, in the order of the lines
        self.current = None     # the node whose ports are listed
        self.base = {}          # kind -> the GUID of the next node
        self.told = set()       # kinds of which the last lines told a GUID
        self.sys_guid = None

    def fail(self, expected, found=None, line=None):
        """raise Malformed for a line, the present one unless told"""
        raise Malformed(self.path, line or self.line, expected, found)

    def read(self, lines):
        """the topology that the lines, which are bytes, describe"""
        for self.line, raw in enumerate(lines, 1):
            try:
                self.read_line(raw.decode().rstrip())
            except UnicodeDecodeError:
                self.fail("text in UTF-8")
        if not self.topology.nodes:
            self.fail('a node, such as Switch 8 "sw0"', "none in the file",
                      max(self.line, 1))
        self.link()
        return self.topology

    def read_line(self, text):
        """one line"""
        if not text or text.startswith("#"):
            # An empty line ends the record of a node.
            self.current = self.current if text else None
            return
        for form, method in ((PORT, self.port), (NODE, self.node), (GUID, self.guid)):
            found = form.match(text)
            if found:
                method(*found.groups())
                return
        if not IGNORED.match(text):
            expected = next(words for start, words in FORMS if text.startswith(start))
            self.fail(expected, repr(text))

    # ---- IDs ----

    def guid(self, which, number):
        """a GUID of the next node"""
        guid = int(number, 16)
        if not 0 < guid <= MAX_GUID:
            self.fail("a GUID of 64 bits other than 0", number)
        self.current = None
        if which == "sysimgguid":
            self.sys_guid = guid
        else:
            self.base[GUID_OF[which]] = guid
            self.told.add(GUID_OF[which])

    def next_guid(self, kind, ports, name):
        """
        the GUID of a node: that of the line before it, else the one in its ID, else it is
        counted up from the last, as ibsim does; None leaves it to the driver
        """
        in_id = ID_GUID.match(name)
        if kind in self.told or not in_id:
            guid = self.base.get(kind)
            if guid is not None:
                # An adapter's ports have the numbers that follow.
                self.base[kind] = guid + (1 if kind == SWITCH else ports + 1)
        else:
            guid = int(in_id.group(1), 16)
        self.told.discard(kind)
        if guid is not None and not 0 < guid <= MAX_GUID:
            self.fail("a GUID of 64 bits other than 0", "%#x" % guid)
        if guid in self.guids:
            self.fail("a GUID of its own", "%#x, which is %s's" % (guid, self.guids[guid]))
        if guid is not None:
            self.guids[guid] = name
        return guid

    # ---- nodes ----

    def node(self, word, ports, name, comment):
        """the line that begins the record of a node"""
        kind, ports = KINDS[word], int(ports)
        expected = wrong_name(name)
        if expected:
            self.fail(expected, repr(name))
        if name in self.lines:
            self.fail("an ID of its own", '"%s", as in line %d' % (name, self.lines[name]))
        if not 1 <= ports <= MAX_PORTS:
            self.fail("1 to %d ports" % MAX_PORTS, ports)
        desc = description(comment)
        if desc and len(desc.encode()) > MAX_DESC:
            self.fail("a description of up to %d bytes" % MAX_DESC, repr(desc))
        guid = self.next_guid(kind, ports, name)
        self.current = self.topology.add(Node(name, kind, ports, guid, self.sys_guid, desc))
        self.sys_guid = None
        self.lines[name] = self.line

    # ---- links ----

    def port(self, num, peer, peer_port):
        """the line of a port; of one without a number at the other end, that is 1"""
        node, num = self.current, int(num)
        if not node:
            self.fail("a node (Switch or Ca) before its ports")
        if not 1 <= num <= node.ports:
            self.fail('a port of "%s": 1 to %d' % (node.name, node.ports), num)
        before = self.claims.get((node.name, num))
        if before:
            self.fail('one link for port %d of "%s"' % (num, node.name),
                      "another in line %d" % before.line)
        self.claims[node.name, num] = Claim(self.line, peer, int(peer_port or 1))

    def check(self, end, claim):
        """that the other end of a link exists, and is not said to be linked elsewhere"""
        peer = self.topology.nodes.get(claim.peer)
        if not peer:
            self.fail("the ID of a node in this file", '"%s"' % claim.peer, claim.line)
        if not 1 <= claim.peer_port <= peer.ports:
            self.fail('a port of "%s": 1 to %d' % (peer.name, peer.ports), claim.peer_port,
                      claim.line)
        if (claim.peer, claim.peer_port) == end:
            self.fail("another port at the other end", "the same", claim.line)

    def link(self):
        """turn what was said of ports into links"""
        linked = {}             # (name, port) -> the line that says so
        for end, claim in self.claims.items():
            self.check(end, claim)
            far = claim.peer, claim.peer_port
            back = self.claims.get(far)
            if back and (back.peer, back.peer_port) != end:
                self.fail('"%s"[%d] at the other end, as in line %d'
                          % (back.peer, back.peer_port, back.line),
                          '"%s"[%d]' % end, claim.line)
            if back and far in linked:
                continue        # the same link, from its other end
            if far in linked:
                self.fail('one link for port %d of "%s"' % (far[1], far[0]),
                          "another in line %d" % linked[far], claim.line)
            linked[end] = linked[far] = claim.line
            self.topology.join(*end, *far)


def parse(path, lines):
    """the topology in lines of bytes; raises Malformed, which names the path"""
    return Parser(path).read(lines)


def parse_file(path):
    """the topology in a file; raises Malformed or OSError"""
    with open(path, "rb") as file:
        return parse(path, file)
