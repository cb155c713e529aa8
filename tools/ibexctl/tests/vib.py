# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The configfs folder of vib, in a FakeHost."""
import os
import shutil

from ibexctl.fabrics import ATTRIBUTES, VIB
from ibexctl.host import Failed

DEFAULTS = {"type": "ca", "ports": "1", "guid": "0x0", "sys_guid": "0x0", "mtu": "4096"}
CLASS = "/sys/class/infiniband/"


class FakeVib:
    """what the driver does when its folders change; a part of FakeHost"""

    def make_vib(self, path):
        """mkdir"""
        kind = path.split("/")[-2]
        if not self.is_loaded("vib"):
            raise Failed("%s: No such file or directory" % path)
        if self.exists(path):
            return
        if kind in ATTRIBUTES:
            for attribute in ATTRIBUTES[kind] + ("live",):
                self.put("%s/%s" % (path, attribute), DEFAULTS.get(attribute, "0") + "\n")
        else:
            for each in ("nodes", "links", "trunks"):
                os.makedirs(self.path("%s/%s" % (path, each)))
        self.use_vib()

    def remove_vib(self, path):
        """rmdir"""
        if any(self.list("%s/%s" % (path, kind)) for kind in ATTRIBUTES):
            raise Failed("%s: Directory not empty" % path)
        self.drop_device(self.word(path + "/device"))
        shutil.rmtree(self.path(path))
        self.use_vib()

    def use_vib(self):
        """a fabric keeps the module"""
        self.busy["vib"] = len(self.list(VIB))
        self.count()

    def refuse_vib(self, path):
        """what a node or a link that is live does not take, and a link without its ends"""
        folder, attribute = path.rsplit("/", 1)
        if attribute not in ("live", "cut") and self.word(folder + "/live") == "1":
            return "Device or resource busy"
        if attribute == "live" and self.exists(folder + "/a") and not all(
                self.word("%s/nodes/%s/live" % (folder.split("/links/")[0],
                                                self.word(folder + "/" + end).split(":")[0])) == "1"
                for end in "ab"):
            return "No such device"
        return ""

    def start_vib(self, path):
        """an adapter that goes live gets a device"""
        folder = path.rsplit("/", 1)[0]
        if not path.endswith("/live") or self.word(folder + "/type") != "ca":
            return
        number = 0
        while self.exists(CLASS + "vib%d" % number):
            number += 1
        self.put(folder + "/device", "vib%d\n" % number)
        self.put(CLASS + "vib%d/node_type" % number, "1: CA\n")

    def drop_device(self, name):
        """it is gone"""
        if name:
            shutil.rmtree(self.path(CLASS + name))

    def rename_device(self, old, new):
        """rdma dev set OLD name NEW"""
        if not self.exists(CLASS + old) or self.exists(CLASS + new):
            return "error: File exists"
        os.rename(self.path(CLASS + old), self.path(CLASS + new))
        for path in self.walk(VIB):
            if path.endswith("/device") and self.word(path) == old:
                self.put(path, new + "\n")
        return ""

    def fabric(self):
        """two adapters at a switch, which one is cut off from; one has another name"""
        self.make_vib(VIB + "/f0")
        for name, settings in (("sw", {"type": "switch", "ports": "2"}),
                               ("ca2", {"guid": "0x7", "sys_guid": "0x8", "mtu": "2048",
                                        "data_vls": "8", "pkeys": "64", "guids": "16"}),
                               ("ca1", {"desc": "one"}),
                               ("ca0", {"pkeys": "8", "live": "0"})):
            self.part("nodes/" + name, settings)
        for end in "12":
            self.part("links/l" + end, {"a": "sw:" + end, "b": "ca%s:1" % end,
                                        "cut": str(int(end) - 1), "drop": "20", "dup": "30",
                                        "corrupt": "40", "match": "0x070014", "delay": "50",
                                        "seed": "60"})
        self.rename_device("vib1", "ib_one")

    def part(self, name, settings):
        """a node or a link, which is live unless its settings say otherwise"""
        path = "%s/f0/%s/" % (VIB, name)
        self.make_vib(path[:-1])
        for attribute, value in {"live": "1", **settings}.items():
            self.put(path + attribute, value + "\n")
        if self.word(path + "live") == "1":
            self.start_vib(path + "live")

    def fabrics(self):
        """{path: text} of what the fabrics consist of"""
        return {path: self.word(path) for path in self.walk(VIB)}
