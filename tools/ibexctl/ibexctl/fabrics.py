# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
Fabrics of vib: in configfs, so that they end when vib is unloaded, and are made again from their
attributes.
"""
from .host import Failed

VIB = "/sys/kernel/config/vib"
# In the order in which they are set; live is the last of all.
ATTRIBUTES = {
    "nodes": ("type", "ports", "guid", "sys_guid", "desc", "mtu", "data_vls", "pkeys", "guids"),
    "links": ("a", "b", "cut", "drop", "dup", "corrupt", "match", "delay", "seed")}


class Fabrics:
    """records them, removes them, and makes them again"""

    def __init__(self, host):
        self.host = host

    def names(self):
        """of all fabrics"""
        return [name for name in self.host.list(VIB) if self.host.is_dir(VIB + "/" + name)]

    def trunks(self, name):
        """
        Of a fabric.  A trunk belongs to a network namespace that configfs does not show, so that
        it cannot be made again.
        """
        return self.host.list("%s/%s/trunks" % (VIB, name))

    def record(self):
        """[{folder, attributes, live, device}]: what is to be made, in that order"""
        found = []
        for name in self.names():
            found.append({"folder": name})
            for kind, attributes in ATTRIBUTES.items():
                parts = []
                for part in self.host.list("%s/%s/%s" % (VIB, name, kind)):
                    folder = "%s/%s/%s" % (name, kind, part)
                    parts.append({
                        "folder": folder, "live": self.word(folder, "live"),
                        "device": self.word(folder, "device"),
                        "attributes": [[each, self.word(folder, each)] for each in attributes]})
                # in the order of their devices, by which IPoIB numbers its interfaces
                found += sorted(parts, key=lambda part: (len(part["device"]), part["device"]))
        return found

    def word(self, folder, attribute):
        """the text of an attribute"""
        return self.host.word("%s/%s/%s" % (VIB, folder, attribute))

    def remove(self, record):
        """links before their nodes, and a fabric when it is empty"""
        for part in reversed(record):
            if self.host.is_dir("%s/%s" % (VIB, part["folder"])):
                self.host.rmdir("%s/%s" % (VIB, part["folder"]))

    def make(self, record):
        """what is not there yet"""
        for part in record:
            self.host.mkdir("%s/%s" % (VIB, part["folder"]))
            if "attributes" in part:
                self.fill(part)

    def fill(self, part):
        """a node or a link, which takes most attributes before it is live only"""
        path = "%s/%s/" % (VIB, part["folder"])
        if self.word(part["folder"], "live") != "1":
            for attribute, value in part["attributes"] + [["live", part["live"]]]:
                if self.host.word(path + attribute) != value:
                    self.host.write(path + attribute, value + "\n")
        now = self.word(part["folder"], "device")
        if part["device"] and not now:
            raise Failed("%s: has no device" % path)
        if now != part["device"]:
            self.host.must("rdma", "dev", "set", now, "name", part["device"])
