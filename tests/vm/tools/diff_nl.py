#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Makes random RDMA netlink requests, and prints each with all attributes of the answers.

  diff_nl.py SEED < NUMBERS

A sequence of requests depends on SEED and its number only (scripts/vm-diff).  A request is right,
or wrong in one way, which is printed behind the command's name, so that there is one reason for
which it can be refused.
"""
import errno
import os
import random
import re
import socket
import struct
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
NUMBERS = (0, 1, 2, 3, 17, 255, 0x10000, 0xffffffff)
DEVICES = ("rxe_a", "rxe_b")    # by their indices
LINK = "rxe_t"                  # which comes and goes
# Sizes of attributes as the UAPI header has them; the others, but strings and nests, have 4 bytes.
SIZES = dict.fromkeys((
    "LMC PORT_STATE PORT_PHYS_STATE DEV_NODE_TYPE RES_PATH_MIG_STATE RES_TYPE RES_STATE "
    "RES_POLL_CTX "
    "DRIVER_PRINT_TYPE SYS_NETNS_MODE SYS_COPY_ON_FORK SYS_PRIVILEGED_QKEY_MODE SYS_MONITOR_MODE "
    "DEV_DIM DEV_TYPE DRIVER_DETAILS STAT_HWCOUNTER_DYNAMIC NAME_ASSIGN_TYPE "
    "EVENT_TYPE").split(), 1)
SIZES.update(dict.fromkeys((
    "CAP_FLAGS NODE_GUID SYS_IMAGE_GUID SUBNET_PREFIX RES_SUMMARY_ENTRY_CURR RES_IOVA RES_MRLEN "
    "RES_USECNT "
    "DRIVER_S64 DRIVER_U64 CHARDEV CHARDEV_ABI STAT_HWCOUNTER_ENTRY_VALUE").split(), 8))
SIZES.update(RES_SRC_ADDR=128, RES_DST_ADDR=128)
STRINGS = set((
    "DEV_NAME FW_VERSION RES_SUMMARY_ENTRY_NAME RES_KERN_NAME NDEV_NAME DRIVER_STRING LINK_TYPE "
    "DEV_PROTOCOL CHARDEV_TYPE CHARDEV_NAME STAT_HWCOUNTER_ENTRY_NAME RES_SUBTYPE "
    "PARENT_NAME").split())
# What a resource is asked for by.
IDS = {"QP": "RES_LQPN", "CM_ID": "RES_CM_IDN", "CQ": "RES_CQN", "MR": "RES_MRN", "PD": "RES_PDN",
       "CTX": "RES_CTXN", "SRQ": "RES_SRQN"}
# Attributes that some command reads.  What belongs to no command is not sent: NET_NS_FD.
READ = set(IDS.values()) | set((
    "DEV_INDEX DEV_NAME PORT_INDEX DEV_DIM DEV_TYPE DRIVER_DETAILS LINK_TYPE NDEV_NAME "
    "CHARDEV_TYPE "
    "STAT_MODE STAT_RES STAT_AUTO_MODE_MASK STAT_COUNTER_ID STAT_HWCOUNTERS STAT_HWCOUNTER_INDEX "
    "SYS_NETNS_MODE SYS_PRIVILEGED_QKEY_MODE").split())
UNREAD = [n for n in ATTRS if n not in READ and n not in ("-", "UNSPEC")]
READ = sorted(READ)
# Commands: those that may be dumps; by how often they are made; and those that are made rarely.
DUMPS = ("GET PORT_GET RES_GET RES_QP_GET RES_CM_ID_GET RES_CQ_GET RES_MR_GET RES_PD_GET "
         "RES_CTX_GET RES_SRQ_GET STAT_GET RES_QP_GET_RAW RES_CQ_GET_RAW RES_MR_GET_RAW "
         "RES_SRQ_GET_RAW").split()
USUAL = DUMPS[:11] + "SYS_GET SET SET SYS_SET LINK STAT_SET GET_CHARDEV STAT_GET_STATUS".split()
RARE = DUMPS[11:] + "STAT_DEL NEWDEV DELDEV command client".split()


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
    if name == "RES_KERN_NAME" and data in (b"ib_core\0", b"ib_mad\0"):
        # In-tree it is in ib_core, ours is a module of its own.
        return "of the MAD layer"
    if name == "DEV_INDEX" and number(data) >= len(DEVICES):
        # Of the link, which has another whenever it comes.
        return "more"
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


def number(data):
    return int.from_bytes(data[:4], sys.byteorder)


def u32(value):
    return struct.pack("I", value)


def by_name(*pairs):
    return b"".join(attr(NUMBER[name], data) for name, data in pairs)


class Kernel:
    """the core, and what is known of it"""

    def __init__(self):
        self.sock = open_socket()
        self.seq = 0
        self.ids = {(device, kind): self.numbers(device, kind)
                    for device in range(len(DEVICES)) for kind in IDS}

    def command(self, name, *pairs, dump=0):
        code = next(n for n, c in COMMANDS.items() if c == name)
        return ask(self.sock, NLDEV << 10 | code, REQUEST | ACK | dump, by_name(*pairs))

    def numbers(self, device, kind):
        """of the resources of a kind"""
        found = []

        def look(data):
            for k, inside in parsed(data):
                if k in NESTS:
                    look(inside)
                elif k == NUMBER[IDS[kind]]:
                    found.append(number(inside))

        for answer in self.command("RES_%s_GET" % kind, ("DEV_INDEX", u32(device)), dump=DUMP)[1]:
            look(answer)
        # QP 1 is listed by another number than it is found by.
        return sorted(set(n for n in found if kind != "QP" or n > 1))

    def names(self):
        """{index: name} of the devices"""
        found = [dict(parsed(a)) for a in self.command("GET", dump=DUMP)[1]]
        return {number(a[NUMBER["DEV_INDEX"]]): a[NUMBER["DEV_NAME"]][:-1].decode() for a in found}

    def link(self):
        """the index of the link that comes and goes, or None"""
        return next((i for i in self.names() if i >= len(DEVICES)), None)

    def reset(self):
        """The devices and settings are as at first, whatever a sequence has done."""
        for name, mode in (("SYS_NETNS_MODE", 1), ("SYS_PRIVILEGED_QKEY_MODE", 0)):
            self.command("SYS_SET", (name, bytes([mode])))
        for i in range(len(DEVICES)):
            self.command("SET", ("DEV_INDEX", u32(i)), ("DEV_DIM", b"\0"))
            self.command("STAT_SET", ("DEV_INDEX", u32(i)), ("PORT_INDEX", u32(1)),
                         ("STAT_RES", u32(NUMBER["RES_QP"])), ("STAT_MODE", u32(1)))
        names = self.names()
        for i in names:
            if i >= len(DEVICES):
                self.command("DELLINK", ("DEV_INDEX", u32(i)))
        renamed = [i for i, name in enumerate(DEVICES) if names[i] != name]
        # One may have the other's name.
        for wanted in ("was_%s", "%s"):
            for i in renamed:
                result, _ = self.command("SET", ("DEV_INDEX", u32(i)),
                                         ("DEV_NAME", (wanted % DEVICES[i]).encode() + b"\0"))
                if result != "ok":
                    sys.exit("device %d cannot be renamed: %s" % (i, result))


class Requests:
    def __init__(self, kernel, seed, number):
        self.r = random.Random("%d %d" % (seed, number))
        self.kernel = kernel
        self.root = not self.one_in(10)
        self.linked = self.changed = False

    def one_in(self, n):
        return self.r.randrange(n) == 0

    # --- attributes

    def word(self, *words):
        return self.r.choice(words).encode() + b"\0"

    def filler(self, name):
        """some value of the right size"""
        if name in STRINGS:
            return self.word("rxe_a", "uverbs", "x")
        if NUMBER[name] in NESTS:
            return b""
        return self.r.choice((0, 1, 2)).to_bytes(SIZES.get(name, 4), sys.byteorder)

    def strange(self, name):
        """a value of the right size that means nothing, or something else"""
        r = self.r
        if name in STRINGS:
            return r.choice(WORDS).encode() + (b"" if self.one_in(6) else b"\0")
        if name == "STAT_HWCOUNTERS":
            return by_name((r.choice(("STAT_HWCOUNTER_INDEX", "PORT_INDEX")),
                            u32(r.choice(NUMBERS))))
        size = SIZES.get(name, 4)
        return (r.choice(NUMBERS) & (1 << 8 * size) - 1).to_bytes(size, sys.byteorder)

    def spoil(self, name, data):
        """data of another length"""
        length = self.r.choice([n for n in (0, len(data) - 1, len(data) + 1, 2, 4, 300)
                                if n >= 0 and n != len(data)])
        if name in STRINGS:
            return data[:length] if length < len(data) else data[:-1].ljust(length, b"x") + b"\0"
        return data[:length].ljust(length, b"\1")

    # --- what the commands want: a list of (name, value)

    def res_get(self, name, device):
        kind = name[4:].partition("_GET")[0]
        if not self.kernel.ids[device, kind]:
            device = 1 - device
        wanted = [("DEV_INDEX", u32(device)),
                  (IDS[kind], u32(self.r.choice(self.kernel.ids[device, kind])))]
        if kind in ("QP", "CM_ID"):
            wanted.append(("PORT_INDEX", u32(1)))
        return wanted

    def set(self, device):
        self.changed = True
        return [("DEV_INDEX", u32(device)),
                ("DEV_NAME", self.word("rxe_c", "rxe_d", "rxe_e", LINK)) if self.one_in(2) else
                ("DEV_DIM", bytes([self.r.randrange(2)]))]

    def sys_set(self):
        self.changed = True
        return [(self.r.choice(("SYS_NETNS_MODE", "SYS_PRIVILEGED_QKEY_MODE")),
                 bytes([self.r.randrange(2)]))]

    def stat_get(self, device):
        wanted = [("DEV_INDEX", u32(device))]
        if self.one_in(4):
            return wanted + [("STAT_RES", u32(NUMBER["RES_MR"])),
                             ("RES_MRN", u32(self.r.choice(self.kernel.ids[device, "MR"])))]
        wanted.append(("PORT_INDEX", u32(1)))
        if self.one_in(3):
            wanted += [("STAT_RES", u32(NUMBER["RES_QP"])), ("STAT_MODE", u32(1))]
        return wanted

    def stat_set(self, device):
        self.changed = True
        wanted = [("DEV_INDEX", u32(device)), ("PORT_INDEX", u32(1))]
        if not self.one_in(3):
            return wanted + [("STAT_HWCOUNTERS", b"")]
        wanted += [("STAT_RES", u32(NUMBER["RES_QP"])), ("STAT_MODE", u32(self.r.randrange(3)))]
        return wanted + [("STAT_AUTO_MODE_MASK", u32(self.r.randrange(3))) if self.one_in(2) else
                         ("RES_LQPN", u32(self.r.choice(self.kernel.ids[device, "QP"])))]

    def chardev(self, device):
        kind = self.r.choice(("uverbs", "umad", "rdma_cm"))
        wanted = [("CHARDEV_TYPE", self.word(kind))]
        if kind != "rdma_cm":
            wanted.append(("DEV_INDEX", u32(device)))
        if kind == "umad":
            wanted.append(("PORT_INDEX", u32(1)))
        return wanted

    def wanted(self, name, dump):
        device = self.r.randrange(len(DEVICES))
        if name == "NEWLINK":
            return [("DEV_NAME", LINK.encode() + b"\0"), ("LINK_TYPE", b"rxe\0"),
                    ("NDEV_NAME", b"vc\0")]
        if name == "SYS_SET":
            return self.sys_set()
        if name == "SYS_GET" or (dump and name in ("GET", "RES_GET")):
            return []
        if dump and name == "STAT_GET":
            return [("DEV_INDEX", u32(device)),
                    ("STAT_RES", u32(NUMBER[self.r.choice(("RES_QP", "RES_MR"))]))]
        if not dump and name.startswith("RES_") and name != "RES_GET":
            return self.res_get(name, device)
        per_name = {"SET": self.set, "STAT_GET": self.stat_get, "STAT_SET": self.stat_set,
                    "GET_CHARDEV": self.chardev}
        if name in per_name:
            return per_name[name](device)
        wanted = [("DEV_INDEX", u32(device))]
        if name in ("PORT_GET", "STAT_GET_STATUS", "STAT_DEL") and not (dump and self.one_in(2)):
            wanted.append(("PORT_INDEX", u32(1)))
        if name == "STAT_DEL":
            wanted += [("STAT_RES", u32(NUMBER["RES_QP"])), ("STAT_COUNTER_ID", u32(1)),
                       ("RES_LQPN", u32(self.r.choice(self.kernel.ids[device, "QP"])))]
        if name == "NEWDEV":
            wanted += [("DEV_NAME", self.word(LINK)), ("DEV_TYPE", b"\1")]
        return wanted

    # --- what is wrong

    def wrong(self, name, wanted):
        """changes wanted; (what was done, bytes behind the attributes, flags)"""
        r = self.r
        ways = ["unread", "unread", "unread-spoiled", "more", "more-spoiled", "bytes", "dump"]
        own = ["spoiled", "no", "odd", "odd", "odd", "nested", "twice"] if wanted else []
        way = r.choice(own if own and self.one_in(2) else own + ways)
        if way == "bytes":
            return "%s-%d" % (way, len(wanted)), bytes(r.randrange(1, 9)), 0
        if way == "dump":
            return "" if name in DUMPS else way, b"", DUMP
        if way in ways:
            attribute = r.choice(UNREAD if way.startswith("unread") else
                                 [n for n in READ if n not in dict(wanted) and n != "DEV_INDEX"])
            data = self.filler(attribute)
            if way.endswith("spoiled"):
                data = self.spoil(attribute, data)
            wanted.insert(r.randrange(len(wanted) + 1), (attribute, data))
            return "%s-%s" % (way, attribute), b"", 0
        i = r.randrange(len(wanted))
        attribute, data = wanted[i]
        if name == "DELLINK" and attribute == "DEV_INDEX" and way in ("odd", "twice", "spoiled"):
            # The other devices are needed.
            way = "no"
        if way == "no":
            del wanted[i]
        elif way == "nested":
            wanted[i] = (attribute, data, not NUMBER[attribute] in NESTS)
        elif way == "twice":
            wanted.insert(r.randrange(len(wanted) + 1), (attribute, self.strange(attribute)))
        else:
            wanted[i] = (attribute, self.spoil(attribute, data) if way == "spoiled" else
                         self.strange(attribute))
        return "%s-%s" % (way, attribute), b"", 0

    def client(self):
        """a message to another client of RDMA netlink"""
        client, op = self.r.choice((0, 1, 3, 4, 4, 6, 63)), self.r.randrange(4)
        size = self.r.choice((0, 4, 8, 20))
        print("client-%d op %d size %d" % (client, op, size), end="")
        return client << 10 | op, REQUEST | ACK, bytes(size)

    def link(self):
        """the name of the command that changes whether the link is there, and its index"""
        self.changed = True
        index = self.kernel.link()
        return ("NEWLINK", None) if index is None else ("DELLINK", index)

    def request(self):
        """(type, flags, payload), printed"""
        r = self.r
        name = r.choice(RARE if self.one_in(20) else USUAL if self.root or self.one_in(5) else
                        DUMPS[:11])
        if name == "client":
            return self.client()
        index = None
        if name == "LINK":
            name, index = self.link()
        code = next((n for n, c in COMMANDS.items() if c == name), None) or \
            r.choice([n for n in range(64) if n not in COMMANDS])
        dump = DUMP if name in DUMPS and self.one_in(3) else 0
        wanted = [("DEV_INDEX", u32(index))] if index is not None else self.wanted(name, dump)
        way, tail, more = "", b"", 0
        if self.one_in(3):
            way, tail, more = self.wrong(name, wanted)
        print("%s%s%s" % (name if name != "command" else "command%d" % code,
                          ":" + way if way else "", " dump" if dump or more else ""), end="")
        payload = b""
        for attribute, data, *flag in wanted:
            told = "the link" if name == "DELLINK" and data == u32(index) else data.hex()
            print(" %s=%s" % (attribute, told or "nothing"), end="")
            kind = NUMBER[attribute]
            payload += attr(kind | (NESTED if (flag or [kind in NESTS])[0] else 0), data)
        return NLDEV << 10 | code, REQUEST | ACK | dump | more, payload + tail


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


def sequence(kernel, seed, number):
    requests = Requests(kernel, seed, number)
    print("#%d" % number, flush=True)
    if not requests.root:
        os.seteuid(NOBODY)
    sock = open_socket()
    for _ in range(requests.r.randrange(3, 12)):
        if not requests.root:
            print("nobody:", end="")
        result, found = ask(sock, *requests.request())
        print(" = %s" % result)
        for one in found:
            print("  answer")
            show(one, 3)
    sock.close()
    if not requests.root:
        os.seteuid(0)
    if requests.changed:
        kernel.reset()


def main():
    kernel = Kernel()
    for line in sys.stdin:
        sequence(kernel, int(sys.argv[1]), int(line))


if __name__ == "__main__":
    main()
