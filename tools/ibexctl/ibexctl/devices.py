# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""RDMA devices, their links to netdevs, and what uses them."""

CLASS = "/sys/class/infiniband"
RESOURCES = ("qp", "cm_id", "cq", "mr", "pd", "ctx", "srq")


class Devices:
    """the devices of a host"""

    def __init__(self, host):
        self.host = host

    def names(self):
        """their names"""
        return self.host.list(CLASS)

    def word(self, name, attribute):
        """an attribute of a device"""
        return self.host.word("%s/%s/%s" % (CLASS, name, attribute))

    def is_virtual(self, name):
        """whether it belongs to no hardware"""
        return "/virtual/" in self.host.readlink("%s/%s" % (CLASS, name))

    def driver(self, name):
        """the driver of a device, or "" if that is not known"""
        return self.host.base("%s/%s/device/driver" % (CLASS, name)) or self.soft(name)

    def soft(self, name):
        """rxe or siw for a link that rdma(8) has made, else "" """
        if not self.is_virtual(name):
            return ""
        # only rxe has the attribute
        if self.word(name, "parent"):
            return "rxe"
        if self.word(name, "node_type").endswith("RNIC") and \
                self.host.exists("/sys/module/siw"):
            return "siw"
        return ""

    def netdevs(self):
        """{device: netdev}"""
        found = {}
        for link in self.host.json("rdma", "-j", "link", "show"):
            if link.get("netdev"):
                found.setdefault(link.get("ifname"), link["netdev"])
        return found

    def ports(self, name):
        """{port: state}, such as ACTIVE"""
        return {port: self.word(name, "ports/%s/state" % port).partition(": ")[2]
                for port in self.host.list("%s/%s/ports" % (CLASS, name))}

    def resources(self, kind):
        """the objects of one kind on all devices, as rdma(8) lists them"""
        return self.host.json("rdma", "-j", "resource", "show", kind)

    def describe(self):
        """what there is, for status"""
        netdevs = self.netdevs() if self.names() else {}
        return [{"name": name, "driver": self.driver(name), "netdev": netdevs.get(name, ""),
                 "node_type": self.word(name, "node_type").partition(": ")[2],
                 "firmware": self.word(name, "fw_ver"), "ports": self.ports(name)}
                for name in self.names()]

    def users(self):
        """
        {(comm, pid): {kind: count}}: what processes and modules, whose pid is None, have on
        the devices.  What the core has for itself is left out.
        """
        found = {}
        if not self.names():
            return found
        for kind in RESOURCES:
            for item in self.resources(kind):
                comm = str(item.get("comm", "")).strip("[]")
                if comm in ("ib_core", "ib_mad", ""):
                    continue
                counts = found.setdefault((comm, item.get("pid")), {})
                counts[kind] = counts.get(kind, 0) + 1
        return found
