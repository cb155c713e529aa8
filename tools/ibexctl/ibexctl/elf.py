# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a module's file says: build id, modinfo, BTF, exports and imports with their CRCs."""
import gzip
import lzma
import struct
import zlib

from .host import Failed

SHN_LORESERVE = 0xff00
SHN_ABS = 0xfff1
SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
VERSION = struct.Struct("<Q56s")


def unpack(host, path):
    """the bytes of a module's file, which may be compressed"""
    data = host.read_bytes(path)
    if data is None:
        raise Failed("%s: cannot be read" % path)
    try:
        if path.endswith(".xz"):
            return lzma.decompress(data)
        if path.endswith(".gz"):
            return gzip.decompress(data)
    except (lzma.LZMAError, EOFError, OSError, zlib.error):
        raise Failed("%s: is damaged" % path) from None
    if path.endswith(".zst"):
        return host.unzstd(path)
    return data


def text_at(data, offset):
    """the string that begins at offset"""
    return data[offset:data.index(b"\0", offset)].decode(errors="replace")


class Module:
    """the file of a module"""

    def __init__(self, host, path):
        self.path = path
        self.data = unpack(host, path)
        self.sections = []
        self.names = []
        # 64 bits, little endian: what Ibex is built for
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise Failed("%s: is not a module" % path)
        try:
            self.find_sections()
        except (struct.error, IndexError, ValueError):
            raise Failed("%s: is damaged" % path) from None

    def find_sections(self):
        """fills sections, as (offset, size, link), and names"""
        start, = struct.unpack_from("<Q", self.data, 40)
        size, count, of_names = struct.unpack_from("<HHH", self.data, 58)
        found = [SECTION.unpack_from(self.data, start + i * size) for i in range(count)]
        base = found[of_names][4]
        for name, kind, _, _, offset, length, link, *_ in found:
            # a section of type 8 has no bytes in the file
            self.sections.append((offset, 0 if kind == 8 else length, link))
            self.names.append(text_at(self.data, base + name))

    def index(self, name):
        """the number of a section, or None"""
        return self.names.index(name) if name in self.names else None

    def section(self, name):
        """the bytes of a section, or None"""
        at = self.index(name)
        if at is None:
            return None
        offset, size, _ = self.sections[at]
        return self.data[offset:offset + size]

    @property
    def note(self):
        """the note with the build id, as sysfs shows it; or None"""
        return self.section(".note.gnu.build-id") or None

    def info(self, name):
        """a value of modinfo, or "" """
        for line in (self.section(".modinfo") or b"").split(b"\0"):
            key, _, value = line.partition(b"=")
            if key == name.encode():
                return value.decode(errors="replace")
        return ""

    def symbols(self):
        """(name, section, value) of each symbol"""
        at = self.index(".symtab")
        if at is None:
            return
        offset, size, link = self.sections[at]
        strings = self.sections[link][0]
        for entry in SYMBOL.iter_unpack(self.data[offset:offset + size // 24 * 24]):
            yield text_at(self.data, strings + entry[0]), entry[3], entry[4]

    def exports(self):
        """{symbol: CRC} of what it exports"""
        found = {}
        for name, section, value in self.symbols():
            if not name.startswith("__crc_"):
                continue
            if section == SHN_ABS:
                found[name[6:]] = value & 0xffffffff
            elif 0 < section < SHN_LORESERVE:
                at = self.sections[section][0] + value
                found[name[6:]], = struct.unpack_from("<I", self.data, at)
        return found

    def imports(self):
        """{symbol: CRC} of what it needs"""
        table = self.section("__versions") or b""
        return {name.rstrip(b"\0").decode(errors="replace"): crc for crc, name in
                VERSION.iter_unpack(table[:len(table) // 64 * 64])}
