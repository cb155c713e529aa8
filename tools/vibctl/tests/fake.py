# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A directory that behaves like the driver's configfs folder, as far as vibctl sees it."""
import errno
import os
import tempfile

from vib.configfs import Tree

NODE = {"type": "ca", "ports": "1", "pkeys": "32", "guids": "8", "data_vls": "4",
        "guid": "0x0000000000000000", "sys_guid": "0x0000000000000000", "mtu": "4096",
        "desc": "", "live": "0", "device": "", "ports_state": ""}
LINK = {"a": "", "b": "", "live": "0", "cut": "0", "drop": "0", "dup": "0", "corrupt": "0",
        "match": "0x000000", "delay": "0", "seed": "0", "dropped": "0", "duplicated": "0",
        "corrupted": "0", "capture": ""}
TRUNK = {"port": "", "local": "", "peer": "", "interval": "200", "live": "0", "cut": "0",
         "state": "-", "far": "", "counters": ""}
KINDS = {"nodes": NODE, "links": LINK, "trunks": TRUNK}
READ_ONLY = {"state", "far", "counters", "device", "ports_state", "dropped", "duplicated",
             "corrupted"}


def refuse(path, error):
    """what the kernel says"""
    raise OSError(error, os.strerror(error), path)


class FakeTree(Tree):
    """
    A tree in a directory of its own.  What is written is noted in `writes`; an entry in
    `refused`, such as ("f0", "nodes", "ca1", "live"), is not taken.
    """

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory()
        super().__init__(os.path.join(self.dir.name, "vib"))
        os.mkdir(self.root)
        self.writes = []
        self.refused = {}

    def close(self):
        """remove the directory"""
        self.dir.cleanup()

    def put(self, value, *parts):
        """set an attribute as the driver does"""
        with open(self.path(*parts), "w", encoding="utf-8") as file:
            file.write("%s\n" % value)

    def mkdir(self, *parts):
        """a folder, with what the driver puts in it"""
        if parts in self.refused:
            refuse(self.path(*parts), self.refused[parts])
        super().mkdir(*parts)
        if len(parts) == 1:
            for kind in KINDS:
                super().mkdir(*parts, kind)
            self.put("", *parts, "capture")
            return
        for attr, value in KINDS[parts[1]].items():
            self.put(value, *parts, attr)
        if parts[1] == "nodes":
            self.put(parts[2], *parts, "desc")

    def rmdir(self, *parts):
        """remove a folder; a fabric is empty before"""
        if len(parts) == 1:
            for kind in KINDS:
                if os.listdir(self.path(*parts, kind)):
                    refuse(self.path(*parts), errno.ENOTEMPTY)
                os.rmdir(self.path(*parts, kind))
            os.unlink(self.path(*parts, "capture"))
        else:
            for attr in os.listdir(self.path(*parts)):
                os.unlink(self.path(*parts, attr))
        super().rmdir(*parts)

    def write(self, value, *parts):
        """write an attribute; what is live is as a fabric without manager would be"""
        if parts in self.refused:
            refuse(self.path(*parts), self.refused[parts])
        if parts[-1] in READ_ONLY:
            refuse(self.path(*parts), errno.EACCES)
        if parts[-1] == "capture":
            self.capture(value, *parts)
            return
        super().write(value, *parts)
        self.writes.append((parts, str(value)))
        if parts[-1] == "live" and parts[1] == "nodes":
            self.node_lives(*parts[:-1])
        if parts[-1] == "live" and parts[1] == "trunks":
            self.put("Polling", *parts[:-1], "state")
            self.put("sent 5\nreceived 7", *parts[:-1], "counters")

    def capture(self, value, *parts):
        """a monitor is made, unless there is one, or removed"""
        self.writes.append((parts, str(value)))
        if value and self.read(*parts):
            refuse(self.path(*parts), errno.EBUSY)
        self.put("vibmon7" if value else "", *parts)

    def node_lives(self, *node):
        """the attributes that the driver sets"""
        switch = self.read(*node, "type") == "switch"
        if not int(self.read(*node, "guid"), 16):
            # What a test expects: counted from the names' sum
            self.put("0x%016x" % (0x200 + 16 * sum(node[2].encode())), *node, "guid")
        if not int(self.read(*node, "sys_guid"), 16):
            self.put(self.read(*node, "guid"), *node, "sys_guid")
        lines = ["%3u %-6s %-8s %5u %u %5s" % (0, "Active", "LinkUp", 7, 0, "-")] * switch
        for num in range(1, int(self.read(*node, "ports")) + 1):
            lid = 0 if switch else 10 + num
            lines.append("%3u %-6s %-8s %5u %u %5s"
                         % (num, "Init", "LinkUp", lid, 0, "4xQDR"))
        self.put("\n".join(lines), *node, "ports_state")
        if not switch:
            self.put("vib0", *node, "device")
