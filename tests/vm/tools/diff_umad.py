#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Makes random calls to /dev/infiniband/umad*, and prints each with what is received.

  diff_umad.py SEED < NUMBERS

A sequence of calls depends on SEED and its number only (scripts/vm-diff).  The devices are rxe_a
and rxe_b, and the adapters of a fabric of vib.
"""
import errno
import fcntl
import os
import random
import select
import struct
import sys

REGISTER, UNREGISTER, ENABLE_PKEY, REGISTER2 = 0xc01c1b01, 0x40041b02, 0x1b03, 0xc0281b04
HDR, HDR_OLD, MAD = 64, 56, 256
CLASSES = (0x01, 0x03, 0x04, 0x07, 0x0a, 0x0a, 0x10, 0x30, 0x31, 0x4f, 0x50, 0x81, 0x00, 0xff)
DEVICES = ("rxe_a", "rxe_b", "vib0", "vib1")
GIDS = {"rxe_a": "00000000000000000000ffff0a000001", "rxe_b": "00000000000000000000ffff0a000002"}
SOON, LATE = 0.1, 5.0        # seconds without a MAD; until requests have ended
TOP = "/sys/class/infiniband_mad"


def error(fn, *args):
    try:
        return "ok", fn(*args)
    except OSError as e:
        return errno.errorcode.get(e.errno, "error %d" % e.errno), None


def node(device, kind="umad"):
    for name in os.listdir(TOP):
        path = os.path.join(TOP, name, "ibdev")
        if name.startswith(kind) and os.path.exists(path):
            with open(path) as f:
                if f.read().strip() == device:
                    return "/dev/infiniband/" + name
    return None


NODES = {d: node(d) for d in DEVICES}


def lid(device):
    with open("/sys/class/infiniband/%s/ports/1/lid" % device) as f:
        return int(f.read(), 0)


LIDS = {d: lid(d) for d in DEVICES}


class File:
    def __init__(self, device):
        self.device = device
        self.fd = os.open(NODES[device], os.O_RDWR | os.O_NONBLOCK)
        self.agents = []        # (id, class, version, rmpp)
        self.pkey = self.used = False
        self.owed = 0           # requests that end by a response or a timeout

    def hdr(self):
        return HDR if self.pkey else HDR_OLD


class Calls:
    def __init__(self, seed, number):
        self.r = random.Random("%d %d" % (seed, number))
        first = self.r.choice(DEVICES[::2])
        pair = DEVICES[:2] if first == "rxe_a" else DEVICES[2:]
        self.files = [File(self.r.choice(pair)) for _ in range(self.r.randrange(1, 4))]
        self.tid = 0
        self.sent = False       # something may be on its way

    def one_in(self, n):
        return self.r.randrange(n) == 0

    def some(self, usual, other, n=12):
        return self.r.choice(other) if self.one_in(n) else self.r.choice(usual)

    # --- agents

    def ioctl(self, i, number, data):
        """prints the result; the bytes that the kernel has left in data"""
        buffer = bytearray(data)
        result, _ = error(fcntl.ioctl, self.files[i].fd, number, buffer)
        return result, bytes(buffer)

    def register(self, i):
        f = self.files[i]
        qpn = self.some((1,) if f.device in GIDS or not self.one_in(8) else (0,), (0, 2, 255))
        cls = self.some(CLASSES[1:9], CLASSES + (0x20, 0x2f))
        version = self.some((1, 1, 2), (0, 7, 8, 255))
        masks = self.some(((0, 0), (0, 0), (2, 0), (4, 0), (0x46, 0), (1 << 18, 0)),
                          ((1, 0), (0, 1 << 63), (~0 & (1 << 64) - 1,) * 2, (1 << 3, 1 << 1)), 6)
        oui = self.some((0x001405,), (0, 0xffffff, 0x1000000))
        rmpp = self.some((0, 0, 0, 1), (2, 255))
        if self.one_in(8):
            cls = version = 0
            masks = (0, 0)
        if self.one_in(2):
            flags = self.some((0, 0, 1), (2, 0x80000000, 3))
            res = self.some((0,), (1,))
            data = struct.pack("<IIBBHIQQIB3x", 7, qpn, cls, version, res, flags, *masks, oui, rmpp)
            print("%d register2 qpn %d class %x version %d res %d flags %x methods %x %x oui %x "
                  "rmpp %d" % (i, qpn, cls, version, res, flags, *masks, oui, rmpp), end="")
            result, left = self.ioctl(i, REGISTER2, data)
        else:
            data = struct.pack("<IQQBBB3sB", 7, *masks, qpn & 255, cls, version,
                               struct.pack(">I", oui)[1:], rmpp)
            print("%d register qpn %d class %x version %d methods %x %x oui %x rmpp %d" % (
                i, qpn, cls, version, *masks, oui, rmpp), end="")
            result, left = self.ioctl(i, REGISTER, data)
        if result == "ok":
            f.agents.append((struct.unpack_from("I", left)[0], cls, version, rmpp))
            f.used = True
        changed = "" if left[4:] == data[4:] else " changed %s" % left[4:].hex()
        print(" = %s id %d%s" % (result, struct.unpack_from("I", left)[0], changed))

    def unregister(self, i):
        f = self.files[i]
        known = [a[0] for a in f.agents]
        number = self.r.choice(known) if known and not self.one_in(6) else \
            self.r.choice((0, 1, 31, 32, 33, 0xffffffff))
        print("%d unregister %d" % (i, number), end="")
        result, _ = self.ioctl(i, UNREGISTER, struct.pack("I", number))
        if result == "ok":
            f.agents = [a for a in f.agents if a[0] != number]
        print(" = %s" % result)

    def enable_pkey(self, i):
        print("%d enable_pkey" % i, end="")
        result, _ = error(fcntl.ioctl, self.files[i].fd, ENABLE_PKEY)
        if result == "ok":
            self.files[i].pkey = True
        print(" = %s" % result)

    def other_ioctl(self, i):
        number = self.r.choice((0x1b00, 0x1b05, 0xc01c1b05, 0xc0281b01, 0x40041b01, 0x5401, 0))
        print("%d ioctl %x = %s" % (i, number, self.ioctl(i, number, bytes(64))[0]))

    # --- MADs

    def send(self, i):
        f = self.files[i]
        agent = self.r.choice(f.agents) if f.agents and not self.one_in(10) else \
            (self.r.choice((0, 1, 32, 0xffffffff)), 0x0a, 1, 0)
        to = self.r.choice(DEVICES[:2] if f.device in GIDS else DEVICES[2:])
        length = self.some((256,), (0, 23, 24, 36, 255, 257, 512, 3000), 6)
        told = self.some((length,), (0, 256, 0xffffffff))
        qpn = self.some((1,), (0, 2, 0xffffff, 0x1000000))
        qkey = self.some((0x80010000,), (0, 0x11111111))
        sl = self.some((0,), (15, 255))
        bits = self.some((0,), (1, 127, 255))
        index = self.some((1,), (0, 2, 255), 8)
        grh = f.device in GIDS and not self.one_in(10)
        pkey = self.some((0,), (1, 65535))
        method = self.some((1, 2, 3), (0x81, 0, 0x12, 0x83), 4)
        cls = self.some((agent[1] or 0x0a,), CLASSES)
        # The MAD layer answers Get and Set if nobody else does; then there must be time for it.
        timeout = self.some((0, 500), (1,)) if method in (1, 2) else self.some((0, 0, 20), (1,))
        retries = self.some((0,), (1, 2)) if timeout < 100 else 0
        version = self.some((agent[2],), (0, 1, 2, 99))
        gid = bytes.fromhex(GIDS.get(to, "00" * 16)) if not self.one_in(12) else bytes(16)
        status = self.some((0,), (0x1c,))
        lid = self.some((LIDS[to],), (0, 0xffff, 0xc000, 99))
        self.tid += 1
        head = struct.pack("=IIIII", agent[0], 0, timeout, retries, told)
        head += struct.pack(">IIHBBBBBB", qpn, qkey, lid, sl, bits, grh, index, 1, 0) + gid
        head += struct.pack(">I", self.some((0,), (0xfffff, 0xffffffff)))
        if f.pkey:
            head += struct.pack("=H6x", pkey)
        mad = struct.pack(">BBBBHHQHHI", 1, cls, version, method, status, 0, self.tid,
                          self.some((0x15, 0x11), (0,)), 0, 0)
        if self.one_in(3):      # an RMPP header
            mad += struct.pack(">BBBBII", self.r.choice((1, 1, 0, 2)), self.r.choice((0, 1, 4)),
                               self.r.choice((0, 1, 3, 7)), 0, 1, self.r.choice((0, 20, 220)))
        if agent[1] >= 0x30 and agent[1] < 0x50:
            mad = mad.ljust(37, b"\0") + b"\x00\x14\x05"
        data = head + mad.ljust(length, b"p")[:length]
        if self.one_in(20):
            data = data[:self.r.randrange(len(data) + 1)]
        print("%d send agent %d to %s timeout %d retries %d size %d told %x qpn %x qkey %x lid %x "
              "sl %d bits %d grh %d index %d pkey %d class %x version %d method %x status %x "
              "gid %s mad %s" % (
                  i, agent[0], to, timeout, retries, len(data), told, qpn, qkey, lid, sl, bits, grh,
                  index, pkey if f.pkey else 0, cls, version, method, status, gid[-4:].hex(),
                  mad[24:].hex() or "plain"), end="")
        result, count = error(os.write, f.fd, data)
        print(" = %s%s" % (result, "" if count is None else " %d" % count))
        if result == "ok":
            self.sent = True
            f.owed += timeout != 0

    def drain(self):
        """What comes; requests are waited for.  Before each call that it makes a difference to."""
        if not self.sent:
            return
        self.sent = False
        got = [[] for _ in self.files]
        while True:
            seconds = LATE if any(len(g) < f.owed for g, f in zip(got, self.files)) else SOON
            ready, _, _ = select.select([f.fd for f in self.files], [], [], seconds)
            if not ready:
                break
            for i, f in enumerate(self.files):
                if f.fd in ready:
                    got[i].append(self.received(f))
        for f in self.files:
            f.owed = 0
        for i, lines in enumerate(got):
            for line in sorted(lines):
                print("  %d %s" % (i, line))

    def received(self, f):
        size = f.hdr()
        result, data = error(os.read, f.fd, size + 4096)
        if data is None:
            return result
        agent, status, timeout, retries, length = struct.unpack_from("=IIIII", data)
        qpn, qkey, lid, sl, bits, grh, index, hops, traffic = struct.unpack_from(
            ">IIHBBBBBB", data, 20)
        mad = data[size:]
        base, cls, version, method, state, _, tid, number = struct.unpack_from(">BBBBHHQH", mad)
        return ("agent %d status %d timeout %d retries %d length %d size %d qpn %x qkey %x lid %x "
                "sl %d bits %d grh %d index %d hops %d traffic %d gid %s mad %x %x %x %x state %x "
                "tid %x attribute %x %s" % (
                    agent, status, timeout, retries, length, len(data), qpn, qkey, lid, sl, bits,
                    grh, index, hops, traffic, data[36:52].hex() if grh else "-", base, cls, version,
                    method, state, tid & 0xffffffff, number, mad[24:60].hex()))

    def read(self, i):
        size = self.some((HDR_OLD + 256, HDR + 256), (0, 1, 55, 56, 63, 64, 100))
        print("%d read %d" % (i, size), end="")
        result, data = error(os.read, self.files[i].fd, size)
        print(" = %s%s" % (result, "" if data is None else " %d" % len(data)))

    def poll(self, i):
        p = select.poll()
        p.register(self.files[i].fd, select.POLLIN | select.POLLOUT | select.POLLPRI)
        print("%d poll = ok %s" % (i, [e for _, e in p.poll(0)]))

    def second_open(self, i):
        """The issm device of a port may be opened once."""
        device = self.files[i].device
        path = node(device, "issm")
        if not path:
            print("%d issm %s = none" % (i, device))
            return
        result, fd = error(os.open, path, os.O_RDWR | os.O_NONBLOCK)
        print("%d issm %s = %s" % (i, device, result))
        if fd is not None:
            again, other = error(os.open, path, os.O_RDWR | os.O_NONBLOCK)
            print("%d issm %s again = %s" % (i, device, again))
            for one in (fd, other):
                if one is not None:
                    os.close(one)

    def call(self):
        i = self.r.randrange(len(self.files))
        usual = [self.register] if not self.files[i].agents else \
            [self.register, self.send, self.send, self.send]
        other = [self.register, self.unregister, self.enable_pkey, self.other_ioctl, self.send,
                 self.read, self.poll, self.second_open]
        call = self.r.choice(other if self.one_in(3) else usual)
        if call != self.send:
            self.drain()
        call(i)


def main():
    for line in sys.stdin:
        print("#%d" % int(line), flush=True)
        calls = Calls(int(sys.argv[1]), int(line))
        print("open %s = ok" % " ".join(f.device for f in calls.files))
        for _ in range(calls.r.randrange(4, 14)):
            calls.call()
        calls.drain()
        for f in calls.files:
            os.close(f.fd)


if __name__ == "__main__":
    main()
