# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Replaces addresses and the host's name in a text, each by the same word everywhere."""
import ipaddress
import re

HEX = r"[0-9a-fA-F]"
# the longest first: hardware addresses of IPoIB, GIDs and IPv6, MACs, GUIDs, IPv4
ADDRESS = re.compile(
    r"(?<![\w.])(?:"
    r"(?P<ipoib>(?:%(h)s{2}:){19}%(h)s{2})"
    r"|(?P<mac>(?:%(h)s{2}:){5}%(h)s{2})"
    r"|(?P<guid8>(?:%(h)s{2}:){7}%(h)s{2})"
    r"|(?P<guid>(?:%(h)s{4}:){3}%(h)s{4})"
    r"|(?P<ip6>(?:%(h)s{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|%(h)s{0,4}))"
    r"|(?P<hexgid>(?:0x)?%(h)s{32})"
    r"|(?P<hexguid>0x%(h)s{16})"
    r")(?!\w|:\w|\.\d)"
    # a port may follow
    r"|(?<![\w.])(?P<ip4>\d{1,3}(?:\.\d{1,3}){3})(?!\w|\.\d)" % {"h": HEX})


class Mask:
    """remembers what it has replaced"""

    def __init__(self, host_name=""):
        self.words = {}
        self.counts = {}
        short = host_name.split(".")[0]
        # a name such as "a" would be found everywhere
        names = [re.escape(name) for name in {host_name, short} if len(name) > 1]
        self.name = re.compile(r"(?<![\w.-])(?:%s)(?![\w-])" % "|".join(
            sorted(names, key=len, reverse=True))) if names else None

    def word(self, kind, key):
        """the placeholder of an address"""
        if (kind, key) not in self.words:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.words[kind, key] = "%s-%d" % (kind, self.counts[kind])
        return self.words[kind, key]

    def address(self, text):
        """the placeholder of an IP address or GID, or None if it says nothing of the host"""
        try:
            value = ipaddress.ip_address(text)
        except ValueError:
            return None
        if value.version == 6 and value.ipv4_mapped:
            value = value.ipv4_mapped
        if value.is_unspecified or value.is_loopback or value.is_multicast:
            return text
        return self.word("ip%d" % value.version, value)

    def replace(self, match):
        """one that was found"""
        kind, text = match.lastgroup, match[0]
        if text.endswith(":") and not text.endswith("::"):
            return self.text(text[:-1]) + ":"
        if kind in ("ip4", "ip6"):
            return self.address(text) or text
        plain = re.sub("^0x|:", "", text).lower()
        if not plain.strip("0f"):
            return text
        if kind == "hexgid":
            return self.address(":".join(plain[i:i + 4] for i in range(0, 32, 4)))
        if kind == "ipoib":
            return "ipoib-" + self.address(
                ":".join(plain[i:i + 4] for i in range(8, 40, 4)))
        return self.word("mac" if kind == "mac" else "guid", plain)

    def text(self, text):
        """a text without addresses"""
        text = ADDRESS.sub(self.replace, text)
        return self.name.sub("HOST", text) if self.name else text
