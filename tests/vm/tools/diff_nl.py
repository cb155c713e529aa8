#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Makes random RDMA netlink requests, and prints each with all attributes of the answers.

  diff_nl.py SEED < NUMBERS

A sequence of requests depends on SEED and its number only (scripts/vm-diff).
"""
import errno
import os
import random
import re
import socket
import struct
import subprocess
import sys

NETLINK_RDMA = 20
LS, NLDEV = 4, 5
REQUEST, ACK, DUMP = 1, 4, 0x300
ERROR, DONE = 2, 3
NESTED = 0x8000
NOBODY = 65534
COMMANDS = {
    1: "GET", 2: "SET", 3: "NEWLINK", 4: "DELLINK", 5: "PORT_GET", 6: "SYS_GET", 7: "SYS_SET",
    9: "RES_GET", 10: "RES_QP_GET", 11: "RES_CM_ID_GET", 12: "RES_CQ_GET", 13: "RES_MR_GET",
    14: "RES_PD_GET", 15: "GET_CHARDEV", 16: "STAT_SET", 17: "STAT_GET", 18: "STAT_DEL",
    19: "RES_QP_GET_RAW", 20: "RES_CQ_GET_RAW", 21: "RES_MR_GET_RAW", 22: "RES_CTX_GET",
    23: "RES_SRQ_GET", 24: "STAT_GET_STATUS", 25: "RES_SRQ_GET_RAW", 26: "NEWDEV", 27: "DELDEV",
}
# enum rdma_nldev_attr, in its order
ATTRS = """
UNSPEC DEV_INDEX DEV_NAME PORT_INDEX CAP_FLAGS FW_VERSION NODE_GUID SYS_IMAGE_GUID SUBNET_PREFIX LID
SM_LID LMC PORT_STATE PORT_PHYS_STATE DEV_NODE_TYPE RES_SUMMARY RES_SUMMARY_ENTRY
RES_SUMMARY_ENTRY_NAME RES_SUMMARY_ENTRY_CURR RES_QP RES_QP_ENTRY RES_LQPN RES_RQPN RES_RQ_PSN
RES_SQ_PSN RES_PATH_MIG_STATE RES_TYPE RES_STATE RES_PID RES_KERN_NAME RES_CM_ID RES_CM_ID_ENTRY
RES_PS RES_SRC_ADDR RES_DST_ADDR RES_CQ RES_CQ_ENTRY RES_CQE RES_USECNT RES_POLL_CTX RES_MR
RES_MR_ENTRY RES_RKEY RES_LKEY RES_IOVA RES_MRLEN RES_PD RES_PD_ENTRY RES_LOCAL_DMA_LKEY
RES_UNSAFE_GLOBAL_RKEY NDEV_INDEX NDEV_NAME DRIVER DRIVER_ENTRY DRIVER_STRING DRIVER_PRINT_TYPE
DRIVER_S32 DRIVER_U32 DRIVER_S64 DRIVER_U64 RES_PDN RES_CQN RES_MRN RES_CM_IDN RES_CTXN LINK_TYPE
SYS_NETNS_MODE DEV_PROTOCOL - CHARDEV_TYPE CHARDEV_NAME CHARDEV_ABI CHARDEV UVERBS_DRIVER_ID
STAT_MODE STAT_RES STAT_AUTO_MODE_MASK STAT_COUNTER STAT_COUNTER_ENTRY STAT_COUNTER_ID
STAT_HWCOUNTERS STAT_HWCOUNTER_ENTRY STAT_HWCOUNTER_ENTRY_NAME STAT_HWCOUNTER_ENTRY_VALUE DEV_DIM
RES_RAW RES_CTX RES_CTX_ENTRY RES_SRQ RES_SRQ_ENTRY RES_SRQN MIN_RANGE MAX_RANGE SYS_COPY_ON_FORK
STAT_HWCOUNTER_INDEX STAT_HWCOUNTER_DYNAMIC SYS_PRIVILEGED_QKEY_MODE DRIVER_DETAILS RES_SUBTYPE
DEV_TYPE PARENT_NAME NAME_ASSIGN_TYPE EVENT_TYPE SYS_MONITOR_MODE""".split()
NUMBER = {name: i for i, name in enumerate(ATTRS)}
NESTS = {NUMBER[n] for n in (
    "RES_SUMMARY RES_SUMMARY_ENTRY RES_QP RES_QP_ENTRY RES_CM_ID RES_CM_ID_ENTRY RES_CQ "
    "RES_CQ_ENTRY RES_MR RES_MR_ENTRY RES_PD RES_PD_ENTRY DRIVER DRIVER_ENTRY STAT_COUNTER "
    "STAT_COUNTER_ENTRY STAT_HWCOUNTERS STAT_HWCOUNTER_ENTRY RES_CTX RES_CTX_ENTRY RES_SRQ "
    "RES_SRQ_ENTRY").split()}
# Differ from run to run.
CHANCE = {"RES_PID", "RES_RQ_PSN", "RES_SQ_PSN", "STAT_HWCOUNTER_ENTRY_VALUE", "CHARDEV",
          "RES_LKEY", "RES_RKEY", "RES_IOVA", "RES_LOCAL_DMA_LKEY"}
WORDS = ("rxe_a", "rxe_b", "rxe_t", "rxe_%d", "nobody", "", "va", "vb", "lo", "rxe", "siw",
         "uverbs", "umad", "issm", "rdma_cm", "x" * 63, "x" * 64, "x" * 200, "a/b", "..")
# What the commands want; a name twice is more likely.
WANTED = {
    "GET": "DEV_INDEX", "SET": "DEV_INDEX DEV_NAME DEV_DIM SYS_NETNS_MODE",
    "PORT_GET": "DEV_INDEX PORT_INDEX",
    "NEWLINK": "DEV_NAME LINK_TYPE NDEV_NAME", "DELLINK": "DEV_INDEX",
    "SYS_SET": "SYS_COPY_ON_FORK SYS_PRIVILEGED_QKEY_MODE SYS_MONITOR_MODE SYS_NETNS_MODE",
    "RES_GET": "DEV_INDEX DRIVER_DETAILS", "RES_QP_GET": "DEV_INDEX RES_LQPN PORT_INDEX",
    "RES_CM_ID_GET": "DEV_INDEX RES_CM_IDN PORT_INDEX", "RES_CQ_GET": "DEV_INDEX RES_CQN",
    "RES_MR_GET": "DEV_INDEX RES_MRN", "RES_PD_GET": "DEV_INDEX RES_PDN",
    "RES_CTX_GET": "DEV_INDEX RES_CTXN", "RES_SRQ_GET": "DEV_INDEX RES_SRQN",
    "GET_CHARDEV": "CHARDEV_TYPE DEV_INDEX",
    "STAT_SET": "DEV_INDEX PORT_INDEX STAT_MODE STAT_RES STAT_AUTO_MODE_MASK STAT_COUNTER_ID "
                "RES_LQPN",
    "STAT_GET": "DEV_INDEX PORT_INDEX STAT_RES STAT_COUNTER_ID STAT_MODE",
    "STAT_DEL": "DEV_INDEX PORT_INDEX STAT_RES STAT_COUNTER_ID RES_LQPN",
    "STAT_GET_STATUS": "DEV_INDEX PORT_INDEX", "NEWDEV": "DEV_INDEX DEV_NAME DEV_TYPE",
    "DELDEV": "DEV_INDEX",
}


def attr(kind, data):
    raw = struct.pack("HH", 4 + len(data), kind) + data
    return raw.ljust((len(raw) + 3) & ~3, b"\0")


def parsed(data):
    at = 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("HH", data, at)
        if size < 4:
            break
        yield kind & 0x3fff, data[at + 4:at + size]
        at += (size + 3) & ~3


def value(name, data):
    if name in CHANCE:
        return "%d bytes" % len(data)
    if name in ("RES_SRC_ADDR", "RES_DST_ADDR"):
        return data[:28].hex()
    if len(data) > 1 and data.endswith(b"\0") and re.fullmatch(rb"[ -~]+", data[:-1]):
        return repr(data[:-1].decode())
    return data.hex() or "nothing"


def show(data, depth):
    # Their order means nothing, except of those of one kind.
    for kind, inside in sorted(parsed(data), key=lambda a: a[0]):
        name = ATTRS[kind] if kind < len(ATTRS) else str(kind)
        print("%s%s %s" % (" " * depth, name, "" if kind in NESTS else value(name, inside)))
        if kind in NESTS:
            show(inside, depth + 1)


USUAL = [number for number, name in COMMANDS.items()
         if name.endswith("GET") or name in ("SET", "SYS_SET", "NEWLINK", "DELLINK", "STAT_SET")]


def index_of(name):
    """of a device, or one that there is not"""
    show = subprocess.run(["rdma", "dev"], capture_output=True, text=True).stdout
    found = re.search(r"^(\d+): %s:" % name, show, re.M)
    return int(found[1]) if found and int(found[1]) > 1 else 0xffffff


class Requests:
    def __init__(self, seed, number):
        self.r = random.Random("%d %d" % (seed, number))
        self.root = self.r.random() < 0.85

    def one_in(self, n):
        return self.r.randrange(n) == 0

    def a_value(self, name):
        r = self.r
        if name in ("DEV_NAME", "NDEV_NAME", "LINK_TYPE", "CHARDEV_TYPE", "PARENT_NAME"):
            usual = {"DEV_NAME": ("rxe_t", "rxe_a"), "NDEV_NAME": ("vc", "vc", "va"),
                     "LINK_TYPE": ("rxe",), "CHARDEV_TYPE": ("uverbs", "umad", "issm", "rdma_cm"),
                     "PARENT_NAME": ("rxe_a",)}[name]
            word = r.choice(WORDS if self.one_in(4) else usual)
            return word.encode() + (b"" if self.one_in(20) else b"\0")
        if name in ("DEV_INDEX", "PORT_INDEX"):
            number = r.choice((0, 1, 2, 3, 0xffffffff)) if self.one_in(6) else \
                r.randrange(2) if name == "DEV_INDEX" else 1
            return struct.pack("I", number)
        if name in ("DEV_DIM", "DEV_TYPE") or name.startswith("SYS_") or name == "DRIVER_DETAILS":
            return struct.pack("B", r.choice((0, 1, 1, 2, 255)))
        if name == "STAT_MODE":
            return struct.pack("I", r.choice((0, 1, 1, 2, 3)))
        if name == "STAT_RES":
            return struct.pack("I", r.choice((0, 1, 2, 2, 2, 5, 9)))
        if name == "STAT_AUTO_MODE_MASK":
            return struct.pack("I", r.choice((0, 1, 2, 4, 0xffffffff)))
        return struct.pack("I", r.choice((0, 1, 1, 2, 2, 3, 17, 0x10000, 0xffffffff)))

    def an_attr(self, name):
        r, data, kind = self.r, self.a_value(name), NUMBER[name]
        told = name
        if self.one_in(25):
            data = data[:r.randrange(len(data) + 1)] + bytes(r.randrange(3))
            told = "spoiled " + told
        elif self.one_in(60):
            data += bytes(r.choice((1, 4, 60, 300)))
            told = "spoiled " + told
        if self.one_in(60):
            kind |= NESTED
            told += "+nested"
        print(" %s=%s" % (told, data.hex() or "nothing"), end="")
        return attr(kind, data)

    def request(self):
        """(type, flags, payload), printed"""
        r = self.r
        if self.one_in(30):
            client, op = r.choice((0, 1, 3, 4, 4, 6, 63)), r.randrange(4)
            size = r.choice((0, 4, 8, 20))
            print("client %d op %d size %d" % (client, op, size), end="")
            return client << 10 | op, REQUEST | ACK, bytes(size)
        number = r.randrange(32) if self.one_in(15) else \
            r.choice(list(COMMANDS) if self.one_in(4) else USUAL)
        name = COMMANDS.get(number, "command%d" % number)
        dump = self.one_in(3 if number in USUAL else 12)
        print(name + (" dump" if dump else ""), end="")
        payload = b""
        wanted = WANTED.get(name, "").split()
        if name == "SYS_SET":
            if self.one_in(5):
                print(" together", end="")
            else:
                wanted = [r.choice(wanted)]
        for want in wanted:
            if name == "DELLINK":
                # The other devices are needed.
                print(" the test's link", end="")
                payload += attr(NUMBER[want], struct.pack("I", index_of("rxe_t")))
            elif not self.one_in(12 if want == "DEV_INDEX" else
                                 2 if want in ("RES_LQPN", "PORT_INDEX") else 4):
                payload += self.an_attr(want)
        if name in ("RES_QP_GET", "RES_CM_ID_GET") and NUMBER["PORT_INDEX"] not in \
                [kind for kind, _ in parsed(payload)]:
            print(" without a port", end="")
        while self.one_in(8):
            print(" more", end="")
            payload += self.an_attr(r.choice([n for n in ATTRS if n not in ("-", "DEV_INDEX")]))
        if self.one_in(60):
            payload += bytes(r.randrange(1, 9))
            print(" and %d bytes" % len(payload), end="")
        return NLDEV << 10 | number, REQUEST | ACK | (DUMP if dump else 0), payload


def open_socket():
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
    sock.bind((0, 0))
    sock.settimeout(5)
    return sock


def ask(sock, kind, flags, payload):
    """(error, payloads of the answers)"""
    found = []
    sock.send(struct.pack("IHHII", 16 + len(payload), kind, flags, 1, 0) + payload)
    while True:
        try:
            data = sock.recv(1 << 17)
        except socket.timeout:
            return "no answer", found
        at = 0
        while at + 16 <= len(data):
            size, kind = struct.unpack_from("IH", data, at)
            if kind in (ERROR, DONE):
                code = -struct.unpack_from("i", data, at + 16)[0] if size >= 20 else 0
                return errno.errorcode.get(code, "error %d" % code) if code else "ok", found
            found.append(data[at + 16:at + size])
            at += (size + 3) & ~3


def reset():
    """The devices and settings are as at first, whatever a sequence has done."""
    with open_socket() as sock:
        for name, value in (("SYS_NETNS_MODE", 1), ("SYS_PRIVILEGED_QKEY_MODE", 0),
                            ("SYS_MONITOR_MODE", 0)):
            ask(sock, NLDEV << 10 | 7, REQUEST | ACK, attr(NUMBER[name], bytes([value])))
        for index in range(2):
            ask(sock, NLDEV << 10 | 2, REQUEST | ACK, attr(1, struct.pack("I", index)) +
                attr(NUMBER["DEV_DIM"], b"\0"))
    renamed = []
    links = subprocess.run(["rdma", "link"], capture_output=True, text=True).stdout
    for name, netdev in sorted(re.findall(r"^link (\S+)/1 .* netdev (\S+)", links, re.M)):
        wanted = {"va": "rxe_a", "vb": "rxe_b"}.get(netdev)
        if not wanted:
            subprocess.run(["rdma", "link", "delete", name], check=True)
        elif name != wanted:
            # It may be the other's name, and this one have the other's.
            subprocess.run(["rdma", "dev", "set", name, "name", "was_" + wanted], check=True)
            renamed.append(wanted)
    for name in renamed:
        subprocess.run(["rdma", "dev", "set", "was_" + name, "name", name], check=True)


def sequence(seed, number):
    requests = Requests(seed, number)
    print("#%d" % number, flush=True)
    if not requests.root:
        os.seteuid(NOBODY)
    sock = open_socket()
    for _ in range(requests.r.randrange(3, 12)):
        if not requests.root:
            print("nobody: ", end="")
        result, found = ask(sock, *requests.request())
        print(" = %s" % result)
        for one in found:
            print("  answer")
            show(one, 3)
    sock.close()
    if not requests.root:
        os.seteuid(0)
    reset()


def main():
    for line in sys.stdin:
        sequence(int(sys.argv[1]), int(line))


if __name__ == "__main__":
    main()
