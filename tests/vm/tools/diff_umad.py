#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Makes random calls to /dev/infiniband/umad*, and prints each with what is received.

  diff_umad.py SEED DEVICE,DEVICE,ADAPTER,ADAPTER < NUMBERS

A sequence of calls depends on SEED and its number only (scripts/vm-diff).  It uses two RoCE devices
or two adapters of a fabric of vib.  A call is right, or wrong in one way, which is printed behind
its name.

The generator knows what must become of a MAD that is right: so it waits until all that must come
has come, for nothing else, and then sends a MAD behind, which shows by its arrival that nothing
else is on its way.  Whether it is right about that decides only how long a sequence takes.
"""
import ctypes
import fcntl
import os
import random
import select
import struct
import sys

import umad
from diff_umad_file import Agent, World, has_rmpp
from diff_umad_mad import BOARD, CM, GET, GET_TABLE, PERF, REPORT, SA, SEND, SET, SMP_LID
from diff_umad_mad import TRAP
from diff_umad_port import Ports, error
from diff_umad_send import Sends

MANY = 33               # one more than a file may have agents
PLAIN = (0x0a, 0x0a, 0x09, PERF, BOARD, CM, 0x08, 0x21)
RMPP = (SA, 0x06, 0x10, 0x12, 0x30, 0x31, 0x4f)
METHODS = ((), (SEND,), (GET,), (GET, SET), (GET, SET, SEND, GET_TABLE, 0x14), (GET, SEND),
           (TRAP, REPORT, 0x70, 0x7f))
# What may be wrong in a registration.
WRONG = {
    "qpn": (0, 1, 2, 255), "class": (0, 1, 2, 0x20, 0x2f, 0x50, 0x81, 0x82, 0xff),
    "version": (0, 7, 8, 255), "oui": (0, 0xffffff, 0x1000000, 0xffffffff),
    "rmpp": (1, 2, 255), "flags": (2, 3, 0x80000000, 0xffffffff), "res": (1, 0xffff),
    "methods": (1 << 0, 1 << 63, 1 << 64, 1 << 127, (1 << 128) - 1, 1 << 7), "address": (8,),
}
NARROW = {"qpn": 255, "oui": 0xffffff}      # of the older call
OTHER = (0x1b00, 0x1b05, 0xc01c1b05, 0xc0281b01, 0x40041b01, 0x40041b04, 0x5401, 0)


class Calls(Sends):
    def __init__(self, ports, seed, number):
        super().__init__(World(ports), random.Random("%d %d" % (seed, number)))
        self.pair = self.r.choice(ports.pairs)
        for _ in range(self.r.randrange(1, 4)):
            self.world.open(self.r.choice(self.pair))
        # Few, so that agents meet.
        self.classes = [self.r.choice(PLAIN), self.r.choice(RMPP), self.r.choice(PLAIN + RMPP)]

    # --- agents

    def registration(self, port):
        if port.ib and self.one_in(4):
            cls, qpn = self.r.choice((0x81, 0x01)), 0
        else:
            cls, qpn = self.r.choice(self.classes), 1
        methods = sum(1 << m for m in self.r.choice(METHODS))
        rmpp = 1 if has_rmpp(cls) and not self.one_in(4) else 0
        fields = {"qpn": qpn, "class": cls, "version": 2 if cls == CM else 1, "methods": methods,
                  "oui": 0x001405, "rmpp": rmpp, "flags": 0, "res": 0, "address": None}
        if self.one_in(12):
            fields.update({"class": 0, "version": 0, "methods": 0, "rmpp": self.r.randrange(2)})
        return fields

    def register(self, i):
        f = self.files[i]
        fields = self.registration(f.port)
        second = not self.one_in(3)
        name = "register2" if second else "register"
        if second and fields["rmpp"] and fields["class"] and self.one_in(3):
            fields["flags"] = 1
        if self.one_in(4):
            wrong = self.r.choice([w for w in WRONG if second or w not in ("flags", "res")])
            fields[wrong] = self.r.choice(WRONG[wrong])
            if not second and wrong in NARROW:
                fields[wrong] &= NARROW[wrong]
            name += ":" + wrong
        if fields["class"] == SMP_LID:
            # The fabric's own traps come when they want.
            fields["methods"] &= ~(1 << TRAP)
        print("%d %s %s" % (i, name, " ".join(
            "%s %x" % (k, v) for k, v in fields.items() if v is not None)), end="")
        if fields["address"] is not None:
            number = umad.REGISTER2 if second else umad.REGISTER
            print(" = %s" % error(fcntl.ioctl, f.fd, number, fields["address"])[0])
            return
        result = self.registered(f, second, fields)
        print(" = %s" % result)

    def registered(self, f, second, fields):
        """calls the kernel; the result, with what it has changed"""
        qpn, cls, version = fields["qpn"], fields["class"], fields["version"]
        methods, oui, rmpp = fields["methods"], fields["oui"], fields["rmpp"]
        mask = methods.to_bytes(16, "little")
        if second:
            data = struct.pack("=IIBBHI16sIB3x", 77, qpn, cls, version, fields["res"],
                               fields["flags"], mask, oui, rmpp)
        else:
            data = struct.pack("=I16sBBB3sB", 77, mask, qpn, cls, version, oui.to_bytes(3, "big"),
                               rmpp)
        result, left = f.ioctl(umad.REGISTER2 if second else umad.REGISTER, data)
        number = struct.unpack_from("=I", left)[0]
        if result == "ok":
            f.agents[number] = Agent(number, 1 if qpn else 0, cls, version, methods, oui, rmpp,
                                     fields["flags"])
            f.pkey = f.pkey or second and not f.used
            f.used = True
        changed = "" if left[4:] == data[4:] else " changed %s" % left[4:].hex()
        return "%s id %d%s" % (result, number, changed)

    def fill(self, i):
        """as many agents as a file may have, and one more"""
        f = self.files[i]
        results = [self.registered(f, True, dict.fromkeys(
            ("class", "version", "methods", "oui", "rmpp", "flags", "res"), 0) | {"qpn": 1})
            for _ in range(MANY)]
        print("%d fill = ok %d, then %s" % (
            i, sum(r.startswith("ok") for r in results), results[-1]))

    def unregister(self, i):
        f = self.files[i]
        if f.agents and not self.one_in(6):
            number, name = self.r.choice(list(f.agents)), "unregister"
        else:
            number, name = self.r.choice((0, 1, 31, 32, 33, 0xffffffff)), "unregister:id"
        print("%d %s %d" % (i, name, number), end="")
        result, _ = f.ioctl(umad.UNREGISTER, struct.pack("I", number))
        if result == "ok":
            f.agents.pop(number, None)
            f.asked = [a for a in f.asked if a.agent != number]
            for tid in [t for t, q in self.world.requests.items()
                        if q.file is f and q.agent == number]:
                del self.world.requests[tid]
        print(" = %s" % result)

    def enable_pkey(self, i):
        print("%d enable_pkey%s" % (i, " late" if self.files[i].used else ""), end="")
        result, _ = error(fcntl.ioctl, self.files[i].fd, umad.ENABLE_PKEY)
        if result == "ok":
            self.files[i].pkey = True
        print(" = %s" % result)

    def other_ioctl(self, i):
        number = self.r.choice(OTHER)
        print("%d ioctl %x = %s" % (i, number, self.files[i].ioctl(number, bytes(64))[0]))

    # --- files

    def read(self, i):
        """of a file that has nothing to be read"""
        size = self.r.choice((0, 1, 55, 56, 63, 64, 100, umad.HDR_OLD + umad.MAD,
                              umad.HDR + umad.MAD))
        print("%d read %d = %s" % (i, size, error(os.read, self.files[i].fd, size)[0]))

    def poll(self, i):
        p = select.poll()
        p.register(self.files[i].fd, select.POLLIN | select.POLLOUT | select.POLLPRI)
        print("%d poll = ok %s" % (i, [e for _, e in p.poll(0)]))

    def manage(self, i):
        """The issm device of a port may be opened once."""
        port = self.files[i].port
        if not port.issm:
            self.read(i)
            return
        fds = [error(os.open, port.issm, os.O_RDWR | os.O_NONBLOCK) for _ in range(2)]
        print("%d issm = %s again %s" % (i, fds[0][0], fds[1][0]))
        for _, fd in fds:
            if fd is not None:
                os.close(fd)

    def bad_write(self, i):
        size = self.r.choice((0, 64, 100, 320, 5000))
        libc = ctypes.CDLL(None, use_errno=True)
        libc.write(self.files[i].fd, ctypes.c_void_p(8), ctypes.c_size_t(size))
        print("%d write of %d:address = %s" % (
            i, size, umad.errno.errorcode.get(ctypes.get_errno())))

    def call(self):
        """one of the calls that make sense now, or any"""
        i = self.r.randrange(len(self.files))
        f = self.files[i]
        if not f.agents:
            kinds = [self.register]
        else:
            kinds = [self.register, self.send, self.send, self.send]
            kinds += [self.answer] * 4 if f.asked else []
            kinds += [self.transfer] * 2 if self.transferring(f) else []
            kinds += [self.manage_node] * 3 if self.managing(f) else []
            kinds += [self.again] if self.one_in(20) else []
        if self.one_in(4):
            kinds = [self.unregister, self.enable_pkey, self.other_ioctl, self.read, self.poll,
                     self.manage, self.bad_write, self.unregister, self.register, self.repeated]
            if self.one_in(30):
                kinds = [self.fill]
        kind = self.r.choice(kinds)
        if kind not in (self.send, self.transfer, self.manage_node):
            self.world.drain()
        kind(i)
        if self.one_in(6):
            self.short_read()
        # At times several MADs are on their way at once.
        if any(f.unsure for f in self.files) or not self.one_in(6):
            self.world.drain()


def main():
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    ports = Ports(*(lambda d: (d[:2], d[2:]))(sys.argv[2].split(",")))
    for line in sys.stdin.read().split():
        print("#%d" % int(line), flush=True)
        calls = Calls(ports, int(sys.argv[1]), int(line))
        print("open %s = ok" % " ".join(f.port.name for f in calls.files))
        for _ in range(calls.r.randrange(4, 16)):
            calls.call()
        calls.world.drain()
        calls.world.close()


if __name__ == "__main__":
    main()
