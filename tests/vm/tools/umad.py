#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""MADs from user space (the kernel's user_mad.rst), between the QP1s of rxe_a and rxe_b.

Makes the same system calls on /dev/infiniband/umad* as libibumad. Each line of output is
a fact; a check that fails prints FAILED. Facts that start with "~" may differ between
the cores.
"""
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import sys
import time

REGISTER, UNREGISTER = 0xc01c1b01, 0x40041b02
ENABLE_PKEY, REGISTER2 = 0x1b03, 0xc0281b04
ENOSPC, EINVAL, EAGAIN, EIO, EFAULT = (errno.ENOSPC, errno.EINVAL, errno.EAGAIN,
                                       errno.EIO, errno.EFAULT)
CLASS, CLASS_RMPP, OUI = 0x0a, 0x30, 0x001405
GET, SET, SEND, RESP = 1, 2, 3, 0x80
HDR, HDR_OLD, MAD = 64, 56, 256
# <rdma/rdma_netlink.h>
GET_CHARDEV = 15
CHARDEV_TYPE, CHARDEV_NAME, CHARDEV_ABI, CHARDEV = 69, 70, 71, 72
CLASS_DIR = "/sys/class/infiniband_mad"
ADDRESS = {"rxe_a": "10.0.0.1", "rxe_b": "10.0.0.2"}
failures = 0
ipv4 = False
stock = os.environ.get("IBEX_MODE") == "stock"


def fact(*what):
    print("  ", *what, flush=True)


def check(what, got, want):
    global failures
    if want == "~":
        fact("~%s: %r" % (what, got))
    elif got != want:
        failures += 1
        print("   FAILED: %s: %r, not %r" % (what, got, want), flush=True)
    else:
        fact("%s: %r" % (what, got))


def error(fn, *args):
    """the name of the error, or the return value"""
    try:
        return fn(*args)
    except OSError as e:
        return errno.errorcode.get(e.errno, e.errno)


def read(path):
    with open(path) as f:
        return f.read().strip()


def gid_at(dev, index):
    try:
        text = read("/sys/class/infiniband/%s/ports/1/gids/%d" % (dev, index))
    except OSError:
        return bytes(16)
    return bytes.fromhex(text.replace(":", ""))


def gid_of(dev):
    """the device's link-local GID, or that of its IPv4 address if ipv4 is set"""
    if not ipv4:
        return gid_at(dev, 0)
    return bytes(10) + b"\xff\xff" + bytes(int(x) for x in ADDRESS[dev].split("."))


def gid_index(dev):
    for i in range(16):
        if gid_at(dev, i) == gid_of(dev):
            return i
    raise SystemExit("%s lacks a GID" % dev)


def node(dev, kind="umad"):
    for name in sorted(os.listdir(CLASS_DIR)):
        if name.startswith(kind) and read("%s/%s/ibdev" % (CLASS_DIR, name)) == dev:
            return name
    return None


def dev_node(name):
    path = "/dev/infiniband/" + name
    if not os.path.exists(path):
        major, minor = read("%s/%s/dev" % (CLASS_DIR, name)).split(":")
        os.makedirs("/dev/infiniband", exist_ok=True)
        os.mknod(path, 0o20600, os.makedev(int(major), int(minor)))
    return path


class Umad:
    """a umad file"""

    def __init__(self, dev, new=True, flags=os.O_NONBLOCK):
        self.dev = dev
        self.fd = os.open(dev_node(node(dev)), os.O_RDWR | flags)
        self.hdr = HDR if new else HDR_OLD
        if new:
            fcntl.ioctl(self.fd, ENABLE_PKEY)

    def close(self):
        os.close(self.fd)

    def register(self, mgmt_class=CLASS, methods=(), qpn=1, version=1, rmpp=0,
                 oui=OUI):
        mask = sum(1 << m for m in methods)
        req = bytearray(struct.pack("=I16sBBB3sB", 0xffffffff,
                                    mask.to_bytes(16, "little"), qpn, mgmt_class,
                                    version, oui.to_bytes(3, "big"), rmpp))
        req += bytes(28 - len(req))
        fcntl.ioctl(self.fd, REGISTER, req, True)
        return struct.unpack_from("=I", req)[0]

    def register2(self, mgmt_class=CLASS, methods=(), qpn=1, version=1, rmpp=0,
                  oui=OUI, flags=0, back=None):
        mask = sum(1 << m for m in methods)
        req = bytearray(struct.pack("=IIBBHI16sIB3x", 0xffffffff, qpn, mgmt_class,
                                    version, 0xdead, flags,
                                    mask.to_bytes(16, "little"), oui, rmpp))
        try:
            fcntl.ioctl(self.fd, REGISTER2, req, True)
        finally:
            if back is not None:
                back.append(struct.unpack_from("=I", req, 12)[0])
        return struct.unpack_from("=I", req)[0]

    def unregister(self, agent):
        fcntl.ioctl(self.fd, UNREGISTER, struct.pack("=I", agent))

    def header(self, agent, to, timeout=0, retries=0, grh=1, qpn=1, sgid=None,
               pkey=0, lid=0, sl=0, path_bits=0):
        if sgid is None:
            sgid = gid_index(self.dev)
        hdr = struct.pack("=5I", agent, 0x55, timeout, retries, 0)
        hdr += struct.pack(">IIH6B16sI", qpn, 0x80010000, lid, sl, path_bits, grh, sgid,
                           64, 0, to, 0)
        return hdr + (struct.pack("=H6x", pkey) if self.hdr == HDR else b"")

    def send(self, agent, to, mad, **how):
        """how: as for header()"""
        to = gid_of(to) if isinstance(to, str) else to
        return os.write(self.fd, self.header(agent, to, **how) + mad)

    def ready(self, seconds=5.0):
        p = select.poll()
        p.register(self.fd, select.POLLIN)
        return bool(p.poll(seconds * 1000))

    def recv(self, size=MAD, seconds=5.0):
        if not self.ready(seconds):
            return None
        return Got(self, os.read(self.fd, self.hdr + size))


class Got:
    def __init__(self, umad, data):
        self.raw = data
        (self.id, self.status, self.timeout, self.retries,
         self.length) = struct.unpack_from("=5I", data)
        (self.qpn, self.qkey, self.lid, self.sl, self.path_bits, self.grh, self.index,
         self.hops, self.tclass, self.gid, self.flow) = struct.unpack_from(
             ">IIH6B16sI", data, 20)
        self.mad = data[umad.hdr:]
        self.tid = struct.unpack_from(">Q", self.mad, 8)[0]
        self.method = self.mad[3]


def mad(method=GET, tid=1, mgmt_class=CLASS, size=MAD, rmpp=None, payload=b"",
        version=1):
    head = struct.pack(">BBBBHHQHHI", 1, mgmt_class, version, method, 0, 0, tid,
                       0x10, 0, 0)
    if rmpp is not None:
        head += rmpp
        if 0x30 <= mgmt_class <= 0x4f:
            head += b"\0" + OUI.to_bytes(3, "big")
    body = head + payload
    return body + bytes(max(0, size - len(body)))


def answer(server, got, agent, **change):
    reply = bytearray(got.mad)
    reply[3] |= RESP
    return server.send(agent, got.gid, bytes(reply), **change)


# ---- cases ---------------------------------------------------------------------
def sysfs():
    check("abi_version", read(CLASS_DIR + "/abi_version"), "5")
    fact("~devices", sorted(os.listdir(CLASS_DIR)))
    for dev in ("rxe_a", "rxe_b"):
        name = node(dev)
        where = "%s/%s" % (CLASS_DIR, name)
        check(name + " port", read(where + "/port"), "1")
        fact(name, "dev", read(where + "/dev"))
        fact(name, "uevent", read(where + "/uevent").split("\n"))
        fact("~" + name, sorted(os.listdir(where)))
        fact(name, "is", os.path.relpath(os.path.realpath(where), "/sys/devices"))
        issm = node(dev, "issm")
        fact(dev, "issm", issm,
             issm and read("%s/%s/dev" % (CLASS_DIR, issm)))
        node_path = "/dev/infiniband/" + name
        if os.path.exists(node_path):
            fact(node_path, oct(os.stat(node_path).st_mode))
    fact("/proc/devices", [x for x in read("/proc/devices").split("\n")
                           if "infiniband_mad" in x])


def registration():
    f = Umad("rxe_a")
    check("first id", f.register(methods=(GET,)), 0)
    check("same method again", error(f.register, CLASS, (GET,)), "EINVAL")
    check("another method", f.register(methods=(SET,)), 1)
    check("no class", f.register(0), 2)
    check("QP 2", error(f.register, CLASS, (), 2), "EINVAL")
    check("QP 0 on RoCE", error(f.register, 1, (GET,), 0), "EPROTONOSUPPORT")
    check("SMI class on QP1", error(f.register, 1, (GET,), 1), "EINVAL")
    check("RMPP version 2", error(f.register, CLASS_RMPP, (GET,), 1, 1, 2), "EINVAL")
    check("RMPP for a class without", error(f.register, CLASS, (GET,), 1, 2, 1),
          "EINVAL")
    check("no OUI", error(f.register, CLASS_RMPP, (GET,), 1, 1, 1, 0), "EINVAL")
    check("class 0xff", error(f.register, 0xff, (GET,)), "EINVAL")
    check("response methods", error(f.register, CLASS, (GET | 0x40, 127)), 3)
    check("no methods", f.register(0x0b), 4)
    check("unregister", error(f.unregister, 1), None)
    check("unregister again", error(f.unregister, 1), "EINVAL")
    check("unregister 99", error(f.unregister, 99), "EINVAL")
    check("lowest id is used", f.register(methods=(SET,)), 1)
    back = []
    check("flags unknown", error(lambda: f.register2(methods=(3,), flags=6, back=back)),
          "EINVAL")
    check("flags answered", back, [1])
    check("OUI of 4 bytes", error(lambda: f.register2(CLASS_RMPP, (3,), rmpp=1,
                                                      oui=0x01001405)), "EINVAL")
    check("register2", f.register2(CLASS_RMPP, (GET,), rmpp=1, flags=1), 5)
    check("register2 QP 7", error(lambda: f.register2(qpn=7)), "EINVAL")
    check("PKEY late", error(fcntl.ioctl, f.fd, ENABLE_PKEY), "EINVAL")
    check("unknown ioctl", error(fcntl.ioctl, f.fd, 0x1b77), "ENOTTY")
    n = 0
    while n < 100 and isinstance(error(f.register, 0), int):
        n += 1
    check("agents a file", n + 6, 32)
    check("one more", error(f.register, 0), "ENOMEM")
    libc = ctypes.CDLL(None, use_errno=True)
    for cmd in (REGISTER, UNREGISTER, REGISTER2):
        ret = libc.ioctl(f.fd, ctypes.c_ulong(cmd), ctypes.c_void_p(8))
        check("bad address %#x" % cmd, (ret, ctypes.get_errno()), (-1, EFAULT))
    f.close()

    f = Umad("rxe_a", new=False)
    fcntl.ioctl(f.fd, ENABLE_PKEY)
    check("PKEY twice", error(fcntl.ioctl, f.fd, ENABLE_PKEY), 0)
    f.close()
    f = Umad("rxe_a", new=False)
    check("old register", f.register(methods=(GET,)), 0)
    check("PKEY after register", error(fcntl.ioctl, f.fd, ENABLE_PKEY), "EINVAL")
    f.close()


def exchange(new_a, new_b):
    print("exchange:", "new" if new_a else "old", "header to",
          "new" if new_b else "old", flush=True)
    a, b = Umad("rxe_a", new_a), Umad("rxe_b", new_b)
    ida, idb = a.register(), b.register(methods=(GET, SET))
    check("nothing yet", error(os.read, a.fd, HDR + MAD), "EAGAIN")
    check("write", a.send(ida, "rxe_b", mad(tid=0x1122334455667788), timeout=2000),
          a.hdr + MAD)
    got = b.recv()
    check("request", (got.id, got.status, got.method, got.length), (idb, 0, GET,
                                                                   b.hdr + MAD))
    fact("hi tid nonzero", bool(got.tid >> 32))
    check("low tid", got.tid & 0xffffffff, 0x55667788)
    check("from", (got.qpn, got.grh, got.gid, got.lid, got.sl, got.path_bits),
          (1, 1, gid_of("rxe_a"), 0, 0, 0))
    check("local gid index", got.index, gid_index("rxe_b"))
    check("rest of header", (got.timeout, got.retries, got.qkey, got.hops, got.tclass,
                             got.flow), "~")
    if new_b:
        check("pkey index", got.raw[56:64].hex(), "00" * 8)
    check("response written", answer(b, got, idb), b.hdr + MAD)
    back = a.recv()
    check("response", (back.id, back.status, back.method, back.tid & 0xffffffff,
                       back.length),
          (ida, 0, GET | RESP, 0x55667788, a.hdr + MAD))
    check("tid as it went", back.tid, got.tid)
    check("no more", a.recv(seconds=0.2), None)
    a.close()
    b.close()


def timeouts():
    a = Umad("rxe_a")
    ida = a.register()
    start = time.monotonic()
    a.send(ida, "rxe_b", mad(SEND, tid=0x99aabbccdd), timeout=200,
           retries=2)
    got = a.recv()
    took = time.monotonic() - start
    check("timed out", (got.id, got.status, got.method, got.tid & 0xffffffff),
          (ida, errno.ETIMEDOUT, SEND, 0xaabbccdd))
    check("bytes", len(got.raw), HDR + 24)
    fact("~length", got.length)
    fact("hi tid", "kernel's" if got.tid >> 32 != 0x99 else "as written")
    check("after all retries", 0.55 < took < 2.5, True)
    check("the header as written", (got.timeout, got.retries, got.qpn, got.qkey, got.grh,
                                    got.index, got.gid),
          (200, 2, 1, 0x80010000, 1, 0, gid_of("rxe_b")))
    a.send(ida, "rxe_b", mad(SEND, 5))
    check("nothing is expected", a.recv(seconds=0.3), None)
    a.send(ida, "rxe_b", mad(SEND, 6), timeout=100)
    a.ready()
    check("short read", error(os.read, a.fd, HDR + 23), "~")
    got = error(os.read, a.fd, HDR + 24)
    check("read of just the timeout", len(got), HDR + 24)
    a.send(ida, "rxe_b", mad(SEND, 7), timeout=60000)
    a.unregister(ida)
    check("cancelled by unregister", a.recv(seconds=0.3), None)
    ida = a.register()
    a.send(ida, "rxe_b", mad(SEND, 8), timeout=60000)
    a.close()


def bad_writes():
    a = Umad("rxe_a")
    ida = a.register()
    idr = a.register(CLASS_RMPP, rmpp=1)
    for n, want in ((0, "EINVAL"), (HDR, "EINVAL"), (HDR + 35, "EINVAL"),
                    (HDR + 36, HDR + 36), (HDR + 255, HDR + 255),
                    (HDR + 257, "EINVAL"), (HDR + 2048, "EINVAL")):
        data = (a.header(ida, gid_of("rxe_b")) + mad(tid=n))[:n]
        data += bytes(n - len(data))
        check("write of %d" % n, error(os.write, a.fd, data), want)
    check("unknown agent", error(a.send, 17, "rxe_b", mad()), "EIO")
    check("agent 4 billion", error(a.send, 0xffffffff, "rxe_b", mad()), "EINVAL")
    check("no GRH", error(lambda: a.send(ida, "rxe_b", mad(), grh=0)), "EINVAL")
    check("gid index 200", error(lambda: a.send(ida, "rxe_b", mad(), sgid=200)), "ENODATA")
    nowhere = bytes(10) + b"\xff\xff\xc0\0\2\1"
    check("no route", error(lambda: a.send(ida, nowhere, mad(), sgid=1)), "ETIMEDOUT")
    check("pkey index 60000", error(lambda: a.send(ida, "rxe_b", mad(), pkey=60000)),
          HDR + MAD)
    check("class of another", error(lambda: a.send(ida, "rxe_b", mad(mgmt_class=7))),
          HDR + MAD)
    check("base version 9", error(lambda: a.send(ida, "rxe_b", b"\x09" + mad()[1:])),
          HDR + MAD)
    check("SMP on QP1", error(lambda: a.send(ida, "rxe_b", mad(mgmt_class=0x81))), HDR + MAD)
    check("reply nobody asked for", error(lambda: a.send(ida, "rxe_b",
                                                         mad(GET | RESP, 77))), HDR + MAD)
    for kind in range(6):
        rmpp = struct.pack(">BBBBII", 1, kind, 1, 0, 0, 0)
        check("RMPP type %d" % kind,
              error(lambda: a.send(idr, "rxe_b", mad(tid=100 + kind, rmpp=rmpp,
                                                     mgmt_class=CLASS_RMPP))), HDR + MAD)
    rmpp = struct.pack(">BBBBII", 2, 1, 1, 0, 0, 0)
    check("RMPP version 2",
          error(lambda: a.send(idr, "rxe_b", mad(tid=200, rmpp=rmpp,
                                                 mgmt_class=CLASS_RMPP))), HDR + MAD)
    rmpp = struct.pack(">BBBBII", 1, 1, 1, 0, 0, 0)
    check("long, not active",
          error(lambda: a.send(idr, "rxe_b", mad(tid=201, rmpp=bytes(12), size=1000,
                                                 mgmt_class=CLASS_RMPP))), "EINVAL")
    check("short, active",
          error(lambda: a.send(idr, "rxe_b", mad(tid=202, rmpp=rmpp, size=38,
                                                 mgmt_class=CLASS_RMPP)[:38])), "EINVAL")
    libc = ctypes.CDLL(None, use_errno=True)
    for n in (HDR + MAD, HDR + 10000):
        ret = libc.write(a.fd, ctypes.c_void_p(8), ctypes.c_size_t(n))
        check("bad address", (ret, ctypes.get_errno()), (-1, EFAULT))
    for n in (0, 1, HDR - 1):
        check("read of %d" % n, error(os.read, a.fd, n), "EINVAL")
    a.close()


def duplicates():
    """similar MADs that are outstanding at the same time"""
    a = Umad("rxe_a")
    ida, idb = a.register(), a.register(mgmt_class=CLASS_RMPP, rmpp=1)

    def one(want, what, tid, method=SEND, to="rxe_b", agent=ida, mgmt_class=CLASS):
        check(what, error(lambda: a.send(agent, to, mad(method, tid, mgmt_class),
                                         timeout=60000)), want)

    one(HDR + MAD, "a request", 9)
    one("EINVAL", "the same", 9)
    one("EINVAL", "with another high half", 0x500000009)
    one(HDR + MAD, "another tid", 10)
    one("EINVAL", "another method", 9, SET)
    one(HDR + MAD, "another class", 9, mgmt_class=0x0d)
    one("EINVAL", "another peer", 9, to="rxe_a")
    one(HDR + MAD, "another agent", 9, agent=a.register())
    one("EINVAL", "an agent for RMPP", 10, agent=idb)
    one(HDR + MAD, "response", 0x700000009, GET | RESP)
    one("EINVAL", "same response", 0x700000009, GET | RESP)
    one("EINVAL", "other response", 0x700000009, SET | RESP)
    rmpp_hdr = struct.pack(">BBBBII", 1, 1, 1, 0, 0, 0)

    def big(want, what, method, tid, to="rxe_b"):
        check(what, error(lambda: a.send(
            idb, to, mad(method, tid, CLASS_RMPP, 3000, rmpp_hdr), timeout=60000)), want)

    big(HDR + 3000, "RMPP response", 0x81, 0x123400000001)
    big("EINVAL", "same", 0x81, 0x123400000001)
    big(HDR + 3000, "other peer", 0x81, 0x123400000001, "rxe_a")
    big("EINVAL", "other method", 0x92, 0x123400000001)
    # a Get would be answered
    big(HDR + 3000, "RMPP request", SEND, 3)
    big("EINVAL", "same", SEND, 3)
    a.close()


def rmpp():
    # No request is answered.  The timeouts are long, since a resent one is a new request.
    a, b = Umad("rxe_a"), Umad("rxe_b")
    ida = a.register(CLASS_RMPP, rmpp=1)
    idb = b.register(CLASS_RMPP, (GET, 3), rmpp=1)
    for size in (10, 216, 217, 5000, 100000):
        head = struct.pack(">BBBBII", 1, 1, 1, 0, 0, 0)
        payload = bytes(i * 7 & 255 for i in range(size))
        m = mad(3, size, CLASS_RMPP, 0, head, payload)
        check("write", a.send(ida, "rxe_b", m, timeout=60000, retries=3), HDR + len(m))
        b.ready()
        if size > 216:
            buf = bytearray(HDR + MAD)
            check("short read", error(os.readv, b.fd, [buf]), "ENOSPC")
            need = struct.unpack_from("=I", buf, 16)[0]
            check("length needed", need, HDR + 40 + size)
            check("first segment came along",
                  (buf[HDR:HDR + 8] == m[:8], bytes(buf[HDR + 40:]) == payload[:216]),
                  (True, True))
        got = b.recv(150000)
        check("RMPP of %d" % size, got and (len(got.raw), got.length, got.id,
                                    got.mad[40:40 + size] == payload),
              (max(HDR + 40 + size, 0), HDR + 40 + size, idb, True))
        check("RMPP header", got and got.mad[24:36].hex(),
              "0101%02x0000000001%08x" % (7 if size <= 216 else 3,
                                          4 + size + (-(-size // 216) - 1) * 4))
        a.recv(seconds=0.05)
    a.close()
    b.close()


def chardev():
    """RDMA_NLDEV_CMD_GET_CHARDEV"""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20)

    def attr(kind, value):
        return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) & 3)

    def ask(kind, index, port):
        body = attr(1, struct.pack("=I", index)) + attr(CHARDEV_TYPE, kind + b"\0")
        if port is not None:
            body += attr(3, struct.pack("=I", port))
        sock.send(struct.pack("=IHHII", 16 + len(body), 5 << 10 | GET_CHARDEV, 1, 1, 0)
                  + body)
        data = sock.recv(4096)
        if struct.unpack_from("=H", data, 4)[0] == 2:
            return errno.errorcode[-struct.unpack_from("=i", data, 16)[0]]
        found, at = {}, 16
        while at < len(data):
            size, kind = struct.unpack_from("=HH", data, at)
            found[kind] = data[at + 4:at + size]
            at += size + 3 & ~3
        dev = struct.unpack("=Q", found[CHARDEV])[0]
        return (found[CHARDEV_NAME], struct.unpack("=Q", found[CHARDEV_ABI])[0],
                "%d:%d" % (os.major(dev), os.minor(dev)))

    for index, dev in ((0, "rxe_a"), (1, "rxe_b")):
        name = node(dev)
        check(dev, ask(b"umad", index, 1),
              (name.encode() + b"\0", 5, read("%s/%s/dev" % (CLASS_DIR, name))))
    check("port 2", ask(b"umad", 0, 2), "EINVAL")
    check("no port", ask(b"umad", 0, None), "EINVAL")
    check("issm of RoCE", ask(b"issm", 0, 1), "~")


def library():
    """the same through libibumad"""
    lib = ctypes.CDLL("libibumad.so.3", use_errno=True)
    lib.umad_size.restype = ctypes.c_size_t
    check("umad_init", lib.umad_init(), 0)
    fds = [lib.umad_open_port(dev, 1) for dev in (b"rxe_a", b"rxe_b")]
    check("umad_open_port", [fd >= 0 for fd in fds], [True, True])
    check("umad_size", lib.umad_size(), HDR)
    mask = (ctypes.c_long * 2)(1 << GET, 0)
    ida = lib.umad_register(fds[0], CLASS, 1, 0, None)
    idb = lib.umad_register(fds[1], CLASS, 1, 0, mask)
    check("umad_register", (ida, idb), (0, 0))
    check("umad_register taken", lib.umad_register(fds[1], CLASS, 1, 0, mask), -1)
    attr = ctypes.create_string_buffer(struct.pack("=BBxxIQQIB3x", CLASS, 1, 0,
                                                   1 << SET, 0, 0, 0))
    agent = ctypes.c_uint32()
    check("umad_register2", (lib.umad_register2(fds[1], attr, ctypes.byref(agent)),
                             agent.value), (0, 1))
    a = Umad.__new__(Umad)
    a.dev, a.hdr = "rxe_a", HDR
    umad = ctypes.create_string_buffer(a.header(0, gid_of("rxe_b")) + mad(GET, 0x77))
    check("umad_send", lib.umad_send(fds[0], ida, umad, MAD, 1000, 1), 0)
    got = ctypes.create_string_buffer(HDR + MAD)
    length = ctypes.c_int(MAD)
    check("umad_recv", (lib.umad_recv(fds[1], got, ctypes.byref(length), 3000),
                        length.value, lib.umad_status(got)), (idb, MAD, 0))
    reply = bytearray(got.raw)
    reply[HDR + 3] |= RESP
    check("umad_send", lib.umad_send(fds[1], idb,
                                     ctypes.create_string_buffer(bytes(reply)), MAD,
                                     0, 0), 0)
    check("umad_recv", (lib.umad_recv(fds[0], got, ctypes.byref(length), 3000),
                        length.value, lib.umad_status(got), got.raw[HDR + 3]),
          (ida, MAD, 0, GET | RESP))
    check("umad_recv, nothing there", lib.umad_recv(fds[0], got, ctypes.byref(length),
                                                    100), -errno.ETIMEDOUT)
    check("umad_unregister", lib.umad_unregister(fds[0], ida), 0)
    check("again", lib.umad_unregister(fds[0], ida), -1)
    for fd in fds:
        lib.umad_close_port(fd)


def netns():
    """opening from a network namespace that the device is not in (rdma-system(8))"""
    path = dev_node(node("rxe_a"))
    for mode, want in (("exclusive", "EPERM"), ("shared", True)):
        os.system("rdma system set netns " + mode)
        pid = os.fork()
        if not pid:
            libc = ctypes.CDLL(None)
            libc.unshare(0x40000000)
            got = error(lambda: os.open(path, os.O_RDWR) >= 0)
            check("open from elsewhere, " + mode, got, want)
            os._exit(got != want)
        check("in a namespace of its own", os.waitpid(pid, 0)[1], 0)
        os.close(os.open(path, os.O_RDWR))


def removal():
    """rxe_b is removed while it is open, with sends outstanding and a sleeping reader"""
    b = Umad("rxe_b")
    idb = b.register()
    b.send(idb, "rxe_a", mad(tid=1, mgmt_class=0x0c), timeout=60000)
    slow = Umad("rxe_b", flags=0)
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(r)
        os.write(w, str(error(os.read, slow.fd, HDR + MAD)).encode())
        os._exit(0)
    os.close(w)
    time.sleep(0.3)
    start = time.monotonic()
    os.system("rdma link delete rxe_b")
    check("removal took", time.monotonic() - start < 5, True)
    p = select.poll()
    p.register(r, select.POLLIN)
    woken = os.read(r, 100) if p.poll(3000) else None
    # the in-tree core does not wake it up
    check("sleeping reader", woken, "~" if stock else b"EIO")
    p = select.poll()
    p.register(b.fd, select.POLLIN | select.POLLOUT)
    check("poll", [x[1] for x in p.poll(0)], [select.POLLERR])
    check("read", error(os.read, b.fd, HDR + MAD), "EIO")
    check("write", error(os.write, b.fd, b.header(idb, gid_of("rxe_a"), sgid=1) + mad()),
          "EIO")
    check("register", error(b.register), "EPIPE")
    check("register2", error(b.register2), "EPIPE")
    check("unregister", error(b.unregister, idb), "EINVAL")
    b.close()
    slow.close()
    if woken is None:
        os.kill(pid, 9)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    for case in sys.argv[1:]:
        print(case, flush=True)
        if case == "exchange":
            for new_a in (True, False):
                for new_b in (True, False):
                    exchange(new_a, new_b)
        elif case.endswith("-ipv4"):
            # with IPv4 GIDs the in-tree core does not match a response with its request
            ipv4 = True
            if case[:-5] == "exchange":
                exchange(True, True)
            else:
                globals()[case[:-5]]()
            ipv4 = False
        else:
            globals()[case]()
    sys.exit(failures != 0)
