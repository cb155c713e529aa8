# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""RoCEv2 datagrams to and from QP1, built and read by hand.

Layouts are those of the InfiniBand Architecture Specification vol. 1: BTH and
DETH in 9, the MAD header in 13.4, the CM messages in 12.6, the RDMA IP CM
private data in annex A11, RoCEv2's invariant CRC in annex A17.
"""
import random
import select
import socket
import struct
import time
import zlib

ROCE_PORT = 4791
UD_SEND_ONLY = 0x64
SO_RCVBUFFORCE = 33     # socket does not have it before Python 3.13
QKEY_QP1 = 0x80010000
CM_CLASS = 0x07
SEND = 0x03

REQ, MRA, REJ, REP, RTU, DREQ, DREP = range(0x10, 0x17)
SIDR_REQ, SIDR_REP, LAP, APR = range(0x17, 0x1b)
NAMES = {REQ: "REQ", MRA: "MRA", REJ: "REJ", REP: "REP", RTU: "RTU",
         DREQ: "DREQ", DREP: "DREP", SIDR_REQ: "SIDR_REQ",
         SIDR_REP: "SIDR_REP", LAP: "LAP", APR: "APR"}
CM_BODY = 232


def gid(ip):
    return b"\0" * 10 + b"\xff\xff" + socket.inet_aton(ip)


def bth(opcode=UD_SEND_ONLY, qpn=1, psn=0, pkey=0xffff, flags=0x40):
    return struct.pack(">BBHII", opcode, flags, pkey, qpn, psn)


def deth(qkey=QKEY_QP1, src_qpn=1):
    return struct.pack(">II", qkey, src_qpn)


def mad(attr, body=b"", tid=None, mgmt_class=CM_CLASS, base=1, version=2,
        method=SEND, status=0, mod=0, size=256):
    if tid is None:
        tid = struct.unpack(">Q", random.randbytes(8))[0] >> 8
    head = struct.pack(">BBBBHHQHHI", base, mgmt_class, version, method,
                       status, 0, tid, attr, 0, mod)
    return (head + body).ljust(size, b"\0")


def req(comm_id, src, dst, qpn, port=7471, service=None, cookie=b"", **change):
    """a REQ's body; change replaces any of the values below"""
    v = dict(guid=0x0200_00ff_fe00_0002, qkey=0, resp=1, depth=1, timeout=18,
             transport=0, flow=0, psn=7, retry=7, pkey=0xffff, mtu=3, rnr=7,
             cm_retries=3, srq=0, lid=0xffff, hop=64, ack_timeout=20,
             sgid=gid(src), dgid=gid(dst), alt=b"\0" * 44,
             private=ip_cm(src, dst, 40000) + cookie)
    v.update(change)
    if service is None:
        service = 0x01060000 | port
    body = struct.pack(
        ">IIQQIIIIIIHBB", comm_id, 0, service, v["guid"], 0, v["qkey"],
        qpn << 8 | v["resp"], v["depth"],
        v["timeout"] << 3 | v["transport"] << 1 | v["flow"],
        v["psn"] << 8 | v["timeout"] << 3 | v["retry"], v["pkey"],
        v["mtu"] << 4 | v["rnr"], v["cm_retries"] << 4 | v["srq"] << 3)
    body += struct.pack(">HH", v["lid"], v["lid"]) + v["sgid"] + v["dgid"]
    body += struct.pack(">IBBBB", 3, 0, v["hop"], 0x08, v["ack_timeout"] << 3)
    return body + v["alt"] + v["private"][:92].ljust(92, b"\0")


def ip_cm(src, dst, sport, version=0, ip_version=4):
    return struct.pack(">BBH", version, ip_version << 4, sport) + \
        (b"\0" * 12 + socket.inet_aton(src)) + (b"\0" * 12 + socket.inet_aton(dst))


def pair(local, remote, rest=b""):
    """the body of messages that begin with both communication ids"""
    return struct.pack(">II", local, remote) + rest


def dreq(local, remote, remote_qpn):
    return pair(local, remote, struct.pack(">I", remote_qpn << 8))


def rej(local, remote, reason, message=0):
    return pair(local, remote, struct.pack(">BBH", message << 6, 0, reason))


class Message:
    """a CM message that was seen on the wire"""

    def __init__(self, data):
        self.attr, = struct.unpack_from(">H", data, 16)
        self.tid, = struct.unpack_from(">Q", data, 8)
        body = data[24:]
        self.local, self.remote = struct.unpack_from(">II", body)
        self.reason = struct.unpack_from(">H", body, 10)[0] \
            if self.attr == REJ else None
        # REP: Q_Key, then the QPN
        self.qpn = struct.unpack_from(">I", body, 12)[0] >> 8 \
            if self.attr == REP else None

    def __repr__(self):
        return NAMES.get(self.attr, hex(self.attr)) + \
            (":%d" % self.reason if self.reason is not None else "")


class Wire:
    """sends packets from src on netdev, and receives the replies"""

    def __init__(self, netdev, src, dst):
        self.src, self.dst = src, dst
        self.out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, netdev.encode())
        self.back = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        self.back.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)
        self.back.bind((netdev, 0x0800))
        self.sent = 0

    def datagram(self, payload, good_icrc=True, source_port=0xc123):
        """payload: from the BTH on; adds IP, UDP and the ICRC"""
        udp_len = 8 + len(payload) + 4
        self.sent += 1
        head = [0x45, 0, 20 + udp_len, self.sent & 0x7fff | 1, 0x4000, 64, 17, 0]
        addr = socket.inet_aton(self.src) + socket.inet_aton(self.dst)

        def packed(tos, ttl, check, udp_check):
            return struct.pack(">BBHHHBBH", head[0], tos, head[2], head[3],
                               head[4], ttl, 17, check) + addr + \
                struct.pack(">HHHH", source_port, ROCE_PORT, udp_len, udp_check)
        masked = payload[:4] + b"\xff" + payload[5:] if len(payload) > 4 else payload
        crc = zlib.crc32(b"\xff" * 8 + packed(0xff, 0xff, 0xffff, 0xffff) + masked)
        if not good_icrc:
            crc ^= 0x5a5a
        packet = packed(0, 64, 0, 0) + payload + struct.pack("<I", crc)
        self.out.sendto(packet, (self.dst, 0))

    def send(self, message):
        self.datagram(bth(psn=self.sent & 0xffffff) + deth() + message)

    def cm(self, attr, body, **header):
        self.send(mad(attr, body, **header))

    def receive(self, timeout=3.0):
        """the next CM message from the other side, or None"""
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                return None
            data, where = self.back.recvfrom(65536)
            if where[2] == socket.PACKET_OUTGOING or len(data) < 28 + 20 + 256:
                continue
            ihl = (data[0] & 15) * 4
            if data[9] != 17 or socket.inet_ntoa(data[12:16]) != self.dst:
                continue
            if struct.unpack_from(">H", data, ihl + 2)[0] != ROCE_PORT:
                continue
            body = data[ihl + 8:]
            if body[0] != UD_SEND_ONLY or body[20 + 1] != CM_CLASS:
                continue
            return Message(body[20:])

    def drain(self, quiet=0.3):
        """all CM messages until none arrives for a while"""
        seen = []
        while (m := self.receive(quiet)) is not None:
            seen.append(m)
        return seen

    def until(self, attr, timeout=5.0, remote=None):
        """the next message attr, for communication id remote if given; or None"""
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            m = self.receive(left)
            if m is not None and m.attr == attr and remote in (None, m.remote):
                return m
        return None
