#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Check what scenario capture captured, with tshark: vib-decode.py RUN-DIRECTORY

In fabric.pcap there are SMPs, GMPs and datagrams, each by the links that it passed; in link.pcap
all that connections of NFS and IPoIB send.  Each packet has the CRCs that the specification
asks for (IBA vol. 1, 7.8).  some.pcap is in the format that tshark does not know yet.
"""
import collections
import os
import struct
import subprocess
import sys
import zlib

LINKTYPES = {197: 16, 247: 0}   # the link type, and the length of the header before a packet
UD_SEND_ONLY = 100
RC = {0: "SEND First", 1: "SEND Middle", 2: "SEND Last", 4: "SEND Only",
      6: "RDMA WRITE First", 7: "RDMA WRITE Middle", 8: "RDMA WRITE Last",
      10: "RDMA WRITE Only", 12: "RDMA READ Request", 13: "RDMA READ response First",
      14: "RDMA READ response Middle", 15: "RDMA READ response Last",
      16: "RDMA READ response Only", 17: "Acknowledge", 23: "SEND Only with Invalidate"}
# What one connection or another must have sent
WANTED = (0, 1, 2, 4, 6, 7, 8, 12, 13, 14, 15, 17, 23)
FIELDS = ("infiniband.lrh.vl", "infiniband.lrh.slid", "infiniband.lrh.dlid",
          "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn",
          "_ws.malformed")

Packet = collections.namedtuple("Packet", "vl slid dlid opcode qp psn malformed")


def decode(path):
    """the packets as tshark sees them"""
    command = ["tshark", "-r", path, "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    out = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    for line in out.splitlines():
        values = line.split("\t")
        yield Packet(*[int(v, 0) for v in values[:6]], values[6])


def read(path):
    """the bytes of the packets in a pcap file"""
    with open(path, "rb") as file:
        data = file.read()
    skip = LINKTYPES[struct.unpack("<I", data[20:24])[0]]
    at = 24
    while at < len(data):
        length = struct.unpack("<I", data[at + 8:at + 12])[0]
        at += 16
        yield data[at + skip:at + length]
        at += length


def icrc(packet):
    """of all that no switch and no router changes"""
    masked = bytearray(packet[:-6])
    bth = 8
    if masked[1] & 3 == 3:
        masked[:8] = b"\xff" * 8
        masked[8] |= 0x0f
        masked[9:12] = b"\xff" * 3
        masked[15] = 0xff
        bth += 40
    else:
        masked[0] |= 0xf0
    masked[bth + 4] = 0xff
    return struct.pack("<I", zlib.crc32(masked))


def vcrc(packet):
    """of all before it"""
    crc = 0xffff
    for byte in packet[:-2]:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xd008 if crc & 1 else 0)
    return struct.pack("<H", crc ^ 0xffff)


def wrong_bytes(path):
    """what is wrong with the bytes of its packets"""
    packets = list(read(path))
    if not packets:
        yield "no packets"
    for packet in packets:
        if len(packet) != struct.unpack(">H", packet[4:6])[0] * 4 + 2:
            yield "a length that is not the LRH's"
        if packet[-6:-2] != icrc(packet):
            yield "a wrong ICRC"
    # Bit by bit this takes a while.
    if any(packet[-2:] != vcrc(packet) for packet in packets[:300]):
        yield "a wrong VCRC"


def wrong_fabric(path):
    """what is missing of a subnet that comes up"""
    packets = list(decode(path))
    smps = [p for p in packets if p.vl == 15]
    gmps = [p for p in packets if p.vl < 15 and p.qp == 1]
    data = [p for p in packets if p.vl < 15 and p.qp > 1 and p.dlid < 0xc000]
    print("tshark: %d SMPs, %d GMPs, %d datagrams" % (len(smps), len(gmps), len(data)))
    if not smps or not gmps or not data:
        yield "no SMPs, no GMPs or no datagrams"
    if any(p.malformed or p.opcode != UD_SEND_ONLY for p in packets):
        yield "malformed packets, or others than datagrams"
    # From one adapter to the other by the switch: two links
    seen = collections.Counter((p.slid, p.dlid, p.qp, p.psn) for p in data)
    if any(n % 2 for n in seen.values()):
        yield "datagrams that are not on both links"


def wrong_link(path):
    """what is missing of connections"""
    packets = list(decode(path))
    count = collections.Counter(p.opcode for p in packets)
    for opcode, n in sorted(count.items()):
        print("tshark: %d %s" % (n, RC.get(opcode, "of opcode %d" % opcode)))
    for opcode in WANTED:
        if not count[opcode]:
            yield "no " + RC[opcode]
    if len({p.slid for p in packets if p.opcode == 17}) != 2:
        yield "ACKs of one direction only"


def wrong_some(path):
    """what is wrong with 20 packets of link type 247"""
    with open(path, "rb") as file:
        if struct.unpack("<I", file.read(24)[20:])[0] != 247:
            yield "not link type 247"
    if len(list(read(path))) != 20:
        yield "not 20 packets"


def main(rundir):
    """the exit status"""
    checks = {"fabric.pcap": wrong_fabric, "link.pcap": wrong_link, "some.pcap": wrong_some,
              "other.pcap": lambda path: (), "gone.pcap": lambda path: ()}
    bad = 0
    for name, check in checks.items():
        path = os.path.join(rundir, name)
        if not os.path.exists(path):
            print("%s: not captured" % name)
            bad += 1
            continue
        for what in sorted(set(wrong_bytes(path)) | set(check(path))):
            print("%s: %s" % (name, what))
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
