# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The ports whose umad devices diff_umad.py opens, and the MADs that mark the end of others."""
import errno
import os
import select

import umad
from diff_umad_mad import NODE_DESC, Smp

MARK_CLASS = 0x0e
LOST_MS = 10000         # a mark that has not come by then does not come


def error(fn, *args):
    """ok or the name of the error, and the value"""
    try:
        return "ok", fn(*args)
    except OSError as e:
        return errno.errorcode.get(e.errno, "error %d" % e.errno), None


class Port:
    """
    Port 1 of a device, with a name that does not depend on the device.  It has an agent of its
    own, whose MADs follow those of the calls: when they have come there and back, the others
    have, too.
    """

    def __init__(self, device, name):
        self.device, self.name = device, name
        self.ib = device.startswith("vib")
        self.node = umad.dev_node(umad.node(device))
        issm = umad.node(device, "issm")
        self.issm = issm and umad.dev_node(issm)
        self.lid = int(umad.read("/sys/class/infiniband/%s/ports/1/lid" % device), 0)
        self.gids = [umad.gid_at(device, i) for i in range(2)]
        # of the switch sw0, where vib_star has put it
        self.behind = int(device[3:]) + 1 if self.ib else 0
        self.marks = umad.Umad(device)
        self.agent = self.marks.register(MARK_CLASS, methods=(umad.SEND,))
        self.manager = self.marks.register(0, qpn=0) if self.ib else None
        self.ready = select.poll()
        self.ready.register(self.marks.fd, select.POLLIN)
        self.sent = 0

    def mark(self, to):
        """sends one MAD, and waits until it has come to the port"""
        self.sent += 1
        self.marks.send(self.agent, to.gids[0], umad.mad(umad.SEND, self.sent, MARK_CLASS),
                        grh=0 if self.ib else 1, sgid=0, lid=to.lid)
        to.come()

    def mark_manager(self, to):
        """
        The same by the QP0s: the provider answers, from there and, for what does not leave the
        node, from here.
        """
        for smp in (Smp(umad.GET, self.sent + 1, NODE_DESC),
                    Smp(umad.GET, self.sent + 2, NODE_DESC, [])):
            self.marks.send(self.manager, bytes(16), smp.packed(), timeout=LOST_MS, grh=0, qpn=0,
                            sgid=0, lid=to.lid)
            self.come()
        self.sent += 2

    def come(self):
        if not self.ready.poll(LOST_MS):
            raise SystemExit("%s: a mark is lost" % self.device)
        os.read(self.marks.fd, umad.HDR + umad.MAD)


class Ports:
    """all that the calls of a process use"""

    def __init__(self, ethernet, fabric):
        self.pairs = [[Port(d, "r%d" % i) for i, d in enumerate(ethernet)],
                      [Port(d, "v%d" % i) for i, d in enumerate(fabric)]]
        self.all = [p for pair in self.pairs for p in pair]

    def lid_name(self, lid):
        """as printed: LIDs differ between the pairs of adapters"""
        for port in self.all:
            if lid and port.lid == lid:
                return port.name
        return "%x" % lid

    def gid_name(self, gid):
        for port in self.all:
            if gid in port.gids:
                return "%s.%d" % (port.name, port.gids.index(gid))
        return gid.hex()
