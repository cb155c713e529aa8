# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The MADs that diff_umad.py sends, and those that it prints."""
import struct
import zlib

GET, SET, SEND, TRAP, REPORT, REPRESS, GET_TABLE, GET_MULTI = 1, 2, 3, 5, 6, 7, 0x12, 0x14
RESPONSE = 0x80
SMP_LID, SMP_DIRECTED, SA, PERF, BOARD, CM = 0x01, 0x81, 0x03, 0x04, 0x05, 0x07
VENDOR2 = range(0x30, 0x50)
RMPP_CLASSES = frozenset([SA, 0x06, 0x10, 0x12, *VENDOR2])
OUI = 0x001405
SIZE = 256
ACTIVE = 1                      # flag of RMPP
DATA, ACK, STOP, ABORT = 1, 2, 3, 4
# bytes of the headers
SA_HEAD, DEVICE_HEAD, VENDOR_HEAD = 56, 64, 40
NODE_DESC, NODE_INFO, SM_INFO = 0x10, 0x11, 0x20


def is_smp(cls):
    return cls in (SMP_LID, SMP_DIRECTED)


def is_response(data):
    """whether a MAD is one, by its class, method and modifier"""
    return bool(data[3] & RESPONSE or data[3] == REPRESS or
                data[1] == BOARD and len(data) > 23 and data[23] & 1)


def is_active(data):
    """whether it is of an RMPP transfer"""
    return data[1] in RMPP_CLASSES and len(data) > 26 and bool(data[26] & ACTIVE)


def resptime_of(data):
    """RRespTime of a MAD of a transfer"""
    return data[26] >> 3 if is_active(data) else 0


def oui_of(data):
    return int.from_bytes(data[37:40], "big") if data[1] in VENDOR2 else 0


def method_as(data, method):
    return data[:3] + bytes([method]) + data[4:]


class Mad:
    """the fields of a MAD; "specific" are the two bytes whose meaning the class decides"""

    def __init__(self, cls, version, method, tid, oui=OUI, size=SIZE):
        self.base, self.cls, self.version, self.method = 1, cls, version, method
        self.status = self.specific = self.mod = 0
        self.tid, self.attr = tid, 0x15
        self.oui, self.size = oui, size
        self.rmpp = (0, 0, 0, 0, 0, 0)      # version, type, time and flags, status, two words

    def packed(self):
        head = struct.pack(">BBBBHHQHHI", self.base & 255, self.cls & 255, self.version & 255,
                           self.method & 255, self.status, self.specific, self.tid, self.attr, 0,
                           self.mod)
        if self.cls in RMPP_CLASSES:
            head += struct.pack(">BBBBII", *self.rmpp)
        if self.cls in VENDOR2:
            head += self.oui.to_bytes(4, "big")
        body = bytes((self.tid + n) & 255 for n in range(64))
        return (head + body * (self.size // 64 + 1))[:self.size]


class Smp(Mad):
    """of a subnet manager; directed along the ports of a path, or else by LID"""

    def __init__(self, method, tid, attr, path=None):
        super().__init__(SMP_LID if path is None else SMP_DIRECTED, 1, method, tid)
        self.attr = attr
        self.path = path or []
        self.pointer, self.count = 0, len(self.path)
        self.source = self.target = 0 if path is None else 0xffff

    def packed(self):
        self.specific = (self.pointer & 255) << 8 | self.count & 255
        head = struct.pack(">BBBBHHQHHI", self.base & 255, self.cls, self.version & 255,
                           self.method, self.status, self.specific, self.tid, self.attr, 0,
                           self.mod)
        head += struct.pack(">QHH", 0, self.source, self.target)
        path = bytes([0, *self.path])
        return (head.ljust(128, b"\0") + path).ljust(SIZE, b"\0")


def words(data):
    """a MAD that was received; for the in-tree core and ours the upper half of TIDs differs"""
    if len(data) < 24:
        return "mad " + data.hex()
    base, cls, version, method, status, specific, tid, attr, _, mod = struct.unpack_from(
        ">BBBBHHQHHI", data)
    text = "mad %x %x %x %x status %x %x tid %x attribute %x %x" % (
        base, cls, version, method, status, specific, tid & 0xffffffff, attr, mod)
    if is_smp(cls):
        # The data are the provider's own.
        return "%s lids %s path %s back %s" % (text, data[32:36].hex(), data[128:134].hex(),
                                               data[192:198].hex())
    if cls == PERF:
        return text
    return "%s %s rest %d %08x" % (text, data[24:40].hex(), len(data), zlib.crc32(data[40:]))
