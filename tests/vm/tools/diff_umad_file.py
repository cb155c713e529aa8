# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The files that diff_umad.py has open, their agents, and what is to be read from them."""
import fcntl
import os
import select
import struct
import time

import umad
from diff_umad_mad import ACTIVE, CM, GET, PERF, REPRESS, RMPP_CLASSES, SEND, SET
from diff_umad_mad import is_active, is_response, is_smp, oui_of, words
from diff_umad_port import error

QKEY = 0x80010000
# How long a MAD that must come may take, in seconds; it makes a difference only if it does not.
LATE = 1.5
# After the mark of a port, and when every processor was free: in milliseconds.
GRACE_MS = 2
KERNEL_RMPP, USER_RMPP = 1, 2
# What becomes of a MAD.
NOWHERE, TAKEN, ANSWERED, RESPONDED, UNKNOWN = range(5)


class Agent:
    def __init__(self, number, qp, cls, version, methods, oui, rmpp, flags):
        self.id, self.qp, self.cls, self.version = number, qp, cls, version
        self.methods = methods if cls else 0
        # those of requests
        self.asks = [m for m in range(128) if self.methods >> m & 1 and m != REPRESS] \
            if self.methods else []
        self.oui = oui
        self.rmpp = 0 if not rmpp else USER_RMPP if flags & 1 else KERNEL_RMPP

    def takes(self, qp, data):
        return (self.qp == qp and self.cls == data[1] and self.version == data[2] and
                data[3] < 128 and bool(self.methods >> data[3] & 1) and
                (self.cls not in range(0x30, 0x50) or self.oui == oui_of(data)))


class Head:
    """the fields of struct ib_user_mad_hdr, to a port"""

    def __init__(self, agent, source, to, qp):
        self.id, self.status, self.timeout, self.retries, self.length = agent, 0, 0, 0, 0
        self.qp = self.qpn = qp
        self.qkey = QKEY if qp else 0
        self.lid = to.lid if source.ib else 0
        self.sl = self.bits = 0
        self.grh = 0 if source.ib else 1
        self.index, self.hops, self.traffic, self.flow = 0, 64, 0, 0
        self.gid = bytes(16) if source.ib else to.gids[0]
        self.pkey = 0

    def packed(self, pkey):
        head = struct.pack("=5I", self.id, self.status, self.timeout, self.retries, self.length)
        head += struct.pack(">IIH6B16sI", self.qpn, self.qkey, self.lid, self.sl, self.bits,
                            self.grh, self.index, self.hops, self.traffic, self.gid, self.flow)
        return head + (struct.pack("=H6x", self.pkey) if pkey else b"")


class Request:
    """a request that waits for its response until the file is closed"""

    def __init__(self, file, agent, to, data):
        self.file, self.agent, self.to, self.data = file, agent, to, data


class Asked:
    """a request that was received"""

    def __init__(self, agent, raw, data):
        self.agent, self.raw, self.data = agent, raw, data


class File:
    def __init__(self, port):
        self.port = port
        self.fd = os.open(port.node, os.O_RDWR | os.O_NONBLOCK)
        self.agents = {}
        self.pkey = self.used = False
        self.asked = []
        self.reset()

    def reset(self):
        """nothing is on its way"""
        self.lines = []
        # MADs that must come: of others, and the ends of its own requests; and that have come
        self.due = self.ends = self.came = self.ended = 0
        self.unsure = False     # some of them may be of either kind, or different

    def owed(self):
        return self.came < self.due or self.ended < self.ends

    def close(self):
        os.close(self.fd)

    def head(self):
        return umad.HDR if self.pkey else umad.HDR_OLD

    def ioctl(self, number, data):
        """the result, and the bytes that the kernel has left in data"""
        buffer = bytearray(data)
        result, _ = error(fcntl.ioctl, self.fd, number, buffer)
        return result, bytes(buffer)

    def ready(self, seconds):
        p = select.poll()
        p.register(self.fd, select.POLLIN)
        return bool(p.poll(seconds * 1000))

    def read(self, ports):
        """reads one MAD, and notes it"""
        result, raw = error(os.read, self.fd, umad.HDR + 16384)
        if raw is None:
            self.lines.append(result)
            return
        agent, status, timeout, retries, length = struct.unpack_from("=5I", raw)
        (qpn, qkey, lid, sl, bits, grh, index, hops, traffic, gid, flow) = struct.unpack_from(
            ">IIH6B16sI", raw, 20)
        pkey = struct.unpack_from("=H", raw, umad.HDR_OLD)[0] if self.pkey else 0
        data = raw[self.head():]
        self.lines.append(
            "agent %d status %d timeout %d retries %d length %d size %d qpn %x qkey %x lid %s sl %d "
            "bits %d grh %d index %d hops %d traffic %d flow %x pkey %d gid %s %s" % (
                agent, status, timeout, retries, length, len(raw), qpn, qkey, ports.lid_name(lid),
                sl, bits, grh, index, hops, traffic, flow, pkey,
                ports.gid_name(gid) if grh else "-", words(data)))
        if status or is_response(data):
            self.ended += 1
            return
        self.came += 1
        if not is_smp(data[1]):
            self.asked.append(Asked(agent, raw[:self.head()], data))


def settle():
    """
    Runs on each processor after what was to run there: agents that have got a MAD before the mark
    have passed it on then.  As a batch process this one does not interrupt the kernel's threads.
    """
    allowed = os.sched_getaffinity(0)
    for cpu in allowed:
        os.sched_setaffinity(0, {cpu})
        os.sched_yield()
    os.sched_setaffinity(0, allowed)


class World:
    """the files of a sequence, and what is on its way between them"""

    def __init__(self, ports):
        self.ports = ports
        self.files = []
        self.sent = False       # since the last drain
        self.routes = set()     # (from, to, QP) of MADs that are to be waited for by a mark
        self.requests = {}      # by TID
        self.poll = select.poll()

    def open(self, port):
        file = File(port)
        self.poll.register(file.fd, select.POLLIN)
        self.files.append(file)

    def taker(self, port, qp, data):
        """the agent that receives a request"""
        for file in self.files:
            if file.port is port:
                for agent in file.agents.values():
                    if agent.takes(qp, data):
                        return file, agent
        return None, None

    def fate(self, to, qp, data):
        """
        What becomes of a MAD that arrives: nothing, an agent takes it, the kernel answers it, it
        is the response to a request, or the generator does not know; and the file and agent.
        """
        data = data.ljust(64, b"\0")
        cls, version, method = data[1:4]
        if data[0] != 1 or is_smp(cls) != (qp == 0):
            return NOWHERE, None, None
        if is_response(data):
            return UNKNOWN, None, None
        if to.ib and cls == PERF and method in (GET, SET):
            return ANSWERED, None, None
        file, agent = self.taker(to, qp, data)
        if agent:
            return TAKEN, file, agent
        if cls == CM and (version, method) == (2, SEND):
            return NOWHERE, None, None
        return ANSWERED if method in (GET, SET) else NOWHERE, None, None

    # --- what comes

    def marks(self):
        for source, to, qp in sorted(self.routes, key=lambda r: (r[0].name, r[1].name, r[2])):
            if qp:
                source.mark(to)
                to.mark(source)
            elif source.manager is not None:
                source.mark_manager(to)
        self.routes.clear()

    def gather(self, ms):
        """reads what there is; whether there was anything"""
        ready = {fd for fd, _ in self.poll.poll(ms)}
        for file in self.files:
            if file.fd in ready:
                file.read(self.ports)
        return bool(ready)

    def owed(self):
        return any(f.owed() for f in self.files)

    def wait(self, done):
        """until what must come has come, or nothing comes any more"""
        end = time.monotonic() + LATE
        while not done() and time.monotonic() < end:
            if self.gather(100):
                end = time.monotonic() + LATE

    def drain(self):
        """Reads and prints what has come, when all that was sent has."""
        if not self.sent:
            return
        self.sent = False
        self.wait(lambda: not self.owed())
        grace = GRACE_MS if self.routes else 0
        self.marks()
        if grace:
            settle()
        while self.gather(grace):
            pass
        for i, file in enumerate(self.files):
            for line in sorted(file.lines):
                print("  %d %s" % (i, line))
            # Some may have overtaken others.
            file.asked.sort(key=lambda a: (a.data[12:16], a.agent, a.data[16:]))
            file.reset()

    def close(self):
        for file in self.files:
            file.close()


def kernel_rmpp(agent, data):
    """whether the MAD layer handles such a MAD of the agent as part of a transfer"""
    return agent is not None and agent.rmpp == KERNEL_RMPP and is_active(data)


def active_header(kind=1, flags=ACTIVE, segment=0, word=0, version=1):
    return (version, kind, flags, 0, segment, word)


def has_rmpp(cls):
    return cls in RMPP_CLASSES
