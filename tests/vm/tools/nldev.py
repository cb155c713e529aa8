#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Sends RDMA netlink requests that iproute2's rdma does not make.

  nldev.py sys                     the system's settings, NAME=VALUE
  nldev.py set ATTRIBUTE VALUE     set one of them
  nldev.py chardev TYPE [INDEX]    a character device, globally or of a device
  nldev.py newdev INDEX NAME       add a sub device
  nldev.py deldev INDEX            delete a sub device
  nldev.py monitor SECONDS         print "listening", then events as they occur
  nldev.py attrs COMMAND [INDEX [PORT]]   numbers of the attributes of a reply
  nldev.py malformed INDEX         send malformed requests, which must all be refused

An error ends with the status of its number, and is named.
"""
import errno
import os
import select
import socket
import struct
import sys
import time

NETLINK_RDMA = 20
NLDEV = 5
GROUP_NOTIFY = 4
REQUEST, ACK, DUMP = 1, 4, 0x300
ERROR, DONE = 2, 3

CMD = dict(GET=1, SET=2, NEWLINK=3, DELLINK=4, PORT_GET=5, SYS_GET=6, SYS_SET=7,
           RES_GET=9, RES_QP_GET=10, RES_CM_ID_GET=11, RES_CQ_GET=12,
           RES_MR_GET=13, RES_PD_GET=14, GET_CHARDEV=15, STAT_SET=16,
           STAT_GET=17, STAT_DEL=18, RES_QP_GET_RAW=19, RES_CTX_GET=22,
           RES_SRQ_GET=23, STAT_GET_STATUS=24, NEWDEV=26, DELDEV=27, MONITOR=28)
DEV_INDEX, DEV_NAME, PORT_INDEX = 1, 2, 3
NDEV_INDEX, NDEV_NAME = 50, 51
NETNS_MODE, CHARDEV_TYPE, CHARDEV_NAME, CHARDEV_ABI, CHARDEV = 66, 69, 70, 71, 72
UVERBS_DRIVER_ID = 73
COPY_ON_FORK, PRIVILEGED_QKEY = 93, 96
DEV_TYPE, EVENT_TYPE, MONITOR_MODE = 99, 102, 103
SYS = {"netns": NETNS_MODE, "copy-on-fork": COPY_ON_FORK,
       "privileged-qkey": PRIVILEGED_QKEY, "monitor": MONITOR_MODE}
EVENTS = ("register", "unregister", "netdev-attach", "netdev-detach")


def attr(kind, data):
    raw = struct.pack("HH", 4 + len(data), kind) + data
    return raw.ljust((len(raw) + 3) & ~3, b"\0")


def u32(kind, value):
    return attr(kind, struct.pack("I", value))


def u8(kind, value):
    return attr(kind, struct.pack("B", value))


def string(kind, value):
    return attr(kind, value.encode() + b"\0")


def attrs(data):
    """kind -> bytes; if a kind occurs more than once, the last one"""
    found, at = {}, 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("HH", data, at)
        if size < 4:
            break
        found[kind & 0x1fff] = data[at + 4:at + size]
        at += (size + 3) & ~3
    return found


def text(data):
    return data.rstrip(b"\0").decode()


def messages(data):
    at = 0
    while at + 16 <= len(data):
        size, kind = struct.unpack_from("IH", data, at)
        yield kind, data[at + 16:at + size]
        at += (size + 3) & ~3


class Nldev:
    def __init__(self, groups=0):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
        self.sock.bind((0, groups))
        self.sock.settimeout(20)
        self.seq = 1

    def call(self, cmd, body=b"", flags=0, kind=None, size=None):
        """the attributes of each message of the reply; OSError if refused"""
        self.seq += 1
        kind = NLDEV << 10 | CMD[cmd] if kind is None else kind
        head = struct.pack("IHHII", 16 + len(body) if size is None else size, kind,
                           REQUEST | ACK | flags, self.seq, 0)
        self.sock.send(head + body)
        answer = []
        while True:
            for kind, data in messages(self.sock.recv(65536)):
                if kind not in (ERROR, DONE):
                    answer.append(attrs(data))
                    continue
                code = struct.unpack_from("i", data)[0]
                if code:
                    raise OSError(-code, os.strerror(-code))
                return answer


def show_sys():
    (got,) = Nldev().call("SYS_GET")
    for name, kind in SYS.items():
        print(f"{name}={got[kind][0]}" if kind in got else f"{name}: none")


def show_chardev(kind, index=None):
    body = string(CHARDEV_TYPE, kind)
    if index is not None:
        body += u32(DEV_INDEX, int(index))
    (got,) = Nldev().call("GET_CHARDEV", body)
    number = struct.unpack("Q", got[CHARDEV])[0]
    abi = struct.unpack("Q", got[CHARDEV_ABI])[0]
    # the device number is encoded as for user space
    major = number >> 8 & 0xfff
    minor = number & 0xff | number >> 12 & 0xfff00
    driver = got.get(UVERBS_DRIVER_ID)
    driver = struct.unpack("I", driver)[0] if driver else "unnamed"
    print(f"{text(got[CHARDEV_NAME])} {major}:{minor} abi {abi} driver {driver}")


def show_event(got):
    words = [EVENTS[got[EVENT_TYPE][0]], text(got[DEV_NAME])]
    if PORT_INDEX in got:
        words.append("port %u" % struct.unpack("I", got[PORT_INDEX]))
    if NDEV_NAME in got:
        words.append("netdev " + text(got[NDEV_NAME]))
    print(*words, flush=True)


def monitor(seconds):
    nl = Nldev(1 << GROUP_NOTIFY - 1)
    end = time.monotonic() + float(seconds)
    print("listening", flush=True)
    while select.select([nl.sock], [], [], max(0, end - time.monotonic()))[0]:
        for kind, data in messages(nl.sock.recv(65536)):
            if kind == NLDEV << 10 | CMD["MONITOR"]:
                show_event(attrs(data))


def show_attrs(cmd, index=None, port=None):
    body = b"" if index is None else u32(DEV_INDEX, int(index))
    body += b"" if port is None else u32(PORT_INDEX, int(port))
    for flags in (0, DUMP):
        try:
            for got in Nldev().call(cmd, body, flags):
                print("dump" if flags else "get",
                      *(f"{k}:{len(v)}" for k, v in sorted(got.items())))
        except OSError as error:
            print("dump" if flags else "get", errno.errorcode[error.errno])


def malformed(index):
    """each request must be refused, and none may hang or break the socket"""
    nl, bad = Nldev(), 0
    dev = u32(DEV_INDEX, int(index))
    cases = [("GET", b""), ("GET", u8(DEV_INDEX, 0)), ("GET", attr(DEV_INDEX, b"\0" * 3)),
             ("GET", u32(DEV_INDEX, 4711)), ("GET", struct.pack("HH", 8, DEV_INDEX)),
             ("PORT_GET", dev), ("PORT_GET", dev + u32(PORT_INDEX, 0)),
             ("PORT_GET", dev + u32(PORT_INDEX, 99)), ("SET", dev + string(DEV_NAME, "")),
             ("SET", dev + string(DEV_NAME, "x" * 64)),
             ("SET", dev + attr(DEV_NAME, b"no end")),
             ("SET", dev + string(DEV_NAME, "a/b")),
             ("SYS_SET", b""), ("SYS_SET", u8(NETNS_MODE, 2)),
             ("SYS_SET", u8(PRIVILEGED_QKEY, 2)), ("SYS_SET", u32(NETNS_MODE, 0) * 0),
             ("NEWLINK", b""), ("NEWLINK", string(DEV_NAME, "x")), ("DELLINK", b""),
             ("GET_CHARDEV", b""), ("GET_CHARDEV", string(CHARDEV_TYPE, "nosuch")),
             ("GET_CHARDEV", string(CHARDEV_TYPE, "x" * 40)),
             ("RES_QP_GET", dev), ("RES_PD_GET", dev), ("STAT_GET", dev),
             ("STAT_SET", dev), ("STAT_SET", dev + u32(PORT_INDEX, 1)),
             ("STAT_DEL", dev + u32(PORT_INDEX, 1)), ("STAT_GET_STATUS", dev),
             ("NEWDEV", dev), ("NEWDEV", dev + string(DEV_NAME, "x") + u8(DEV_TYPE, 1)),
             ("DELDEV", dev), ("MONITOR", dev)]
    for cmd, body in cases:
        try:
            nl.call(cmd, body)
            print(f"accepted: {cmd} {body.hex()}")
            bad += 1
        except OSError as error:
            if error.errno is None:
                print(f"no answer: {cmd} {body.hex()}")
                bad += 1
    for kind in (NLDEV << 10, NLDEV << 10 | 999, 3 << 10 | 1, 63 << 10 | 1):
        try:
            nl.call(None, b"", kind=kind)
            print(f"accepted: type {kind:#x}")
            bad += 1
        except OSError:
            pass
    print(f"{len(cases) + 4} requests, {bad} not refused")
    # and a good request is still answered
    nl.call("GET", dev)
    return bad


def set_sys(name, value):
    Nldev().call("SYS_SET", u8(SYS[name], int(value)))


def newdev(index, name):
    Nldev().call("NEWDEV", u32(DEV_INDEX, int(index)) + string(DEV_NAME, name) +
                 u8(DEV_TYPE, 1))


def deldev(index):
    Nldev().call("DELDEV", u32(DEV_INDEX, int(index)))


COMMANDS = dict(sys=show_sys, set=set_sys, chardev=show_chardev, newdev=newdev,
                deldev=deldev, monitor=monitor, attrs=show_attrs,
                malformed=malformed)


def main():
    try:
        status = COMMANDS[sys.argv[1]](*sys.argv[2:]) or 0
    except OSError as error:
        print(errno.errorcode.get(error.errno, error))
        status = error.errno or 1
    sys.exit(status)


if __name__ == "__main__":
    main()
