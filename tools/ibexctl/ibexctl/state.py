# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
What is lost when the core is unloaded: recorded before, made again after.  All of it is plain
data, since the journal keeps it.  Whatever is there already is left as it is, so that it can be
done twice.
"""
from .devices import Devices
from .fabrics import Fabrics
from .host import Failed
from .modules import Modules

SETTINGS = "/sys/kernel/config/rdma_cm"
INFINIBAND = "32"
PATIENCE = 10


def insist(host, change):
    """until change() is not refused: it may need an address that is not there yet"""
    end = host.now() + PATIENCE
    while True:
        try:
            return change()
        except Failed:
            if host.now() >= end:
                raise
        host.sleep(0.1)


def wait_for(host, what, ready):
    """until ready() is true"""
    def look():
        if not ready():
            raise Failed("%s has not come back after %d s" % (what, PATIENCE))

    insist(host, look)


class State:
    """the record of a host, and what makes it again"""

    def __init__(self, host):
        self.host = host
        self.devices = Devices(host)
        self.fabrics = Fabrics(host)

    def record(self):
        """all of it"""
        modules = Modules(self.host)
        return {"modules": modules.family(), "links": self.links(),
                "fabrics": self.fabrics.record(),
                "settings": self.settings(), "netns": self.netns(), "ipoib": self.ipoib()}

    # --- links that rdma(8) made ---------------------------------------------------------
    def links(self):
        """name, type and netdev of each"""
        netdevs = self.devices.netdevs() if self.devices.names() else {}
        # in the order in which they were made, in which rdma(8) lists them
        order = list(netdevs)
        found = []
        for name in sorted(self.devices.names(),
                           key=lambda name: order.index(name) if name in order else -1):
            kind = self.devices.soft(name)
            netdev = netdevs.get(name) or self.devices.word(name, "parent")
            if kind and not netdev:
                raise Failed("the netdev of link %s is not known, so that it could not be "
                             "made again" % name)
            if kind:
                found.append({"name": name, "type": kind, "netdev": netdev})
        return found

    def delete_links(self, links):
        """those that are still there"""
        for link in links:
            if link["name"] in self.devices.names():
                self.host.must("rdma", "link", "delete", link["name"])

    def make_links(self, links):
        """
        Those that are not there, and all after them: a consumer that has not named a device
        gets the first one with its address.
        """
        names = [link["name"] for link in links]
        there = [name for name in self.devices.netdevs() if name in names]
        same = 0
        while same < len(there) and there[same] == names[same]:
            same += 1
        self.delete_links(links[same:])
        for link in links[same:]:
            self.host.must("rdma", "link", "add", link["name"], "type", link["type"],
                           "netdev", link["netdev"])

    # --- the RDMA CM's settings of ports -------------------------------------------------
    def settings(self):
        """{device/ports/N/file: value}, and None for a device's folder"""
        found = {}
        for name in self.host.list(SETTINGS):
            found[name] = None
            for port in self.host.list("%s/%s/ports" % (SETTINGS, name)):
                folder = "%s/ports/%s" % (name, port)
                for file in self.host.list("%s/%s" % (SETTINGS, folder)):
                    found[folder + "/" + file] = self.host.word(
                        "%s/%s/%s" % (SETTINGS, folder, file))
        return found

    def drop_settings(self):
        """their folders keep rdma_cm in memory"""
        for name in self.host.list(SETTINGS):
            self.host.rmdir("%s/%s" % (SETTINGS, name))

    def make_settings(self, settings):
        """each file that the core has"""
        for path, value in sorted(settings.items()):
            full = "%s/%s" % (SETTINGS, path)
            if value is None:
                wait_for(self.host, "the device " + path, lambda: path in self.devices.names())
                self.host.mkdir(full)
            elif self.host.exists(full) and self.host.word(full) != value:
                self.host.write(full, value + "\n")

    # --- network namespaces --------------------------------------------------------------
    def netns(self):
        """shared or exclusive, or "" """
        words = self.host.run("rdma", "system", "show").out.split()
        return words[words.index("netns") + 1] if "netns" in words[:-1] else ""

    def set_netns(self, mode):
        """if it is another"""
        if mode and self.netns() != mode:
            self.host.must("rdma", "system", "set", "netns", mode)

    # --- IPoIB ---------------------------------------------------------------------------
    def ipoib(self):
        """
        The interfaces, parents first.  An address ends with a GID, which stays; the bytes
        before it do not.
        """
        found = []
        for link in self.host.json("ip", "-j", "-d", "link", "show"):
            name = link.get("ifname", "")
            folder = "/sys/class/net/" + name
            if self.host.word(folder + "/type") != INFINIBAND:
                continue
            data = link.get("linkinfo", {}).get("info_data", {})
            found.append({
                "name": name, "parent": link.get("link") or "",
                "gid": self.host.word(folder + "/address")[12:],
                "pkey": self.host.word(folder + "/pkey") or data.get("pkey", ""),
                "mode": self.host.word(folder + "/mode"), "mtu": link.get("mtu"),
                "up": "UP" in link.get("flags", ()), "addresses": self.addresses(name),
                "routes": self.routes(name)})
        return sorted(found, key=lambda each: bool(each["parent"]))

    def addresses(self, name):
        """those that people gave it"""
        return ["%s/%s" % (one["local"], one["prefixlen"])
                for link in self.host.json("ip", "-j", "address", "show", "dev", name)
                for one in link.get("addr_info", ())
                if one.get("local") and one.get("scope") != "link"]

    def routes(self, name):
        """those that people gave it, as words for ip(8)"""
        found = []
        for family in ("-4", "-6"):
            for route in self.host.json("ip", "-j", family, "route", "show", "dev", name):
                if route.get("protocol") == "kernel" or "dst" not in route:
                    continue
                words = [family, route["dst"]]
                for key, word in (("gateway", "via"), ("metric", "metric")):
                    if key in route:
                        words += [word, str(route[key])]
                found.append(words)
        return found

    def find_ipoib(self, wanted):
        """the present name of an interface, or "" """
        for name in self.host.list("/sys/class/net"):
            folder = "/sys/class/net/" + name
            if self.host.word(folder + "/type") == INFINIBAND and \
                    self.host.word(folder + "/address")[12:] == wanted["gid"] and \
                    (self.host.word(folder + "/pkey") == wanted["pkey"] or
                     name == wanted["name"]):
                return name
        return ""

    def make_ipoib(self, wanted):
        """an interface with all that it had"""
        name = wanted["name"]
        if wanted["parent"] and not self.find_ipoib(wanted):
            self.host.must("ip", "link", "add", "link", wanted["parent"], "name", name,
                           "type", "ipoib", "pkey", wanted["pkey"])
        wait_for(self.host, "the interface " + name, lambda: self.find_ipoib(wanted))
        now = self.find_ipoib(wanted)
        if now != name:
            self.host.must("ip", "link", "set", "dev", now, "down")
            self.host.must("ip", "link", "set", "dev", now, "name", name)
        mode = "/sys/class/net/%s/mode" % name
        if wanted["mode"] and self.host.word(mode) not in ("", wanted["mode"]):
            self.host.write(mode, wanted["mode"] + "\n")
        self.host.must("ip", "link", "set", "dev", name, "mtu", str(wanted["mtu"]))
        for address in wanted["addresses"]:
            self.host.must("ip", "address", "replace", address, "dev", name)
        self.host.must("ip", "link", "set", "dev", name, "up" if wanted["up"] else "down")
        for family, dst, *rest in wanted["routes"] if wanted["up"] else ():
            self.host.must("ip", family, "route", "replace", dst, *rest, "dev", name)

    # --- all -----------------------------------------------------------------------------
    def load(self, state):
        """the modules, which are no longer in memory; ib_mad is there if the core has it"""
        for name in state["modules"]:
            if name != "ib_mad":
                self.host.must("modprobe", name)

    def make(self, state):
        """what the modules do not do by themselves"""
        self.set_netns(state["netns"])
        self.make_links(state["links"])
        # a journal of the version before has none
        self.fabrics.make(state.get("fabrics", []))
        for wanted in state["ipoib"]:
            self.make_ipoib(wanted)
        self.make_settings(state["settings"])
