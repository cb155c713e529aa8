# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Captures: the packets of a link, or of all links of a fabric, to a file in pcap format."""
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import time

LINKTYPE_INFINIBAND = 247
LINKTYPE_ERF = 197
ERF_INFINIBAND = 21
ERF_VARIABLE = 4                # flag: records have the lengths that they need
SNAPLEN = 65535                 # the longest packet is much shorter
BUFFER = 16 << 20

# Of <net/if.h>, <linux/sockios.h>, <linux/if_packet.h> and <asm/socket.h>
IFF_UP = 1
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
ETH_P_ALL = 3
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35

NS = 1000000000


def erf(when, packet):
    """a packet as a record of ERF, in which older programs know InfiniBand"""
    seconds, rest = divmod(when, NS)
    return struct.pack("<Q", seconds << 32 | (rest << 32) // NS) + \
        struct.pack(">BBHHH", ERF_INFINIBAND, ERF_VARIABLE, 16 + len(packet), 0,
                    len(packet)) + packet


class Writer:
    """A pcap file with times in nanoseconds."""

    def __init__(self, out, as_erf=False):
        self.out = out
        self.as_erf = as_erf
        out.write(struct.pack("=IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, SNAPLEN,
                              LINKTYPE_ERF if as_erf else LINKTYPE_INFINIBAND))
        out.flush()

    def add(self, when, packet):
        """a packet that was seen at that time, in nanoseconds"""
        data = erf(when, packet) if self.as_erf else packet
        self.out.write(struct.pack("=IIII", when // NS, when % NS, len(data), len(data)) + data)
        self.out.flush()


def set_up(name):
    """bring a network device up"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", name.encode(), 0)
        flags = struct.unpack("16xH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[0]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", name.encode(),
                                                          flags | IFF_UP))


class Monitor:
    """The driver's monitor for a folder, made unless there is one."""

    def __init__(self, tree, where):
        self.tree = tree
        self.where = where + ("capture",)
        self.made = False

    def __enter__(self):
        try:
            self.tree.write(1, *self.where)
            self.made = True
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        return self.tree.read(*self.where)

    def __exit__(self, *_):
        # The fabric may have gone, and with it the monitor.
        if self.made and self.tree.has(*self.where):
            self.tree.write(0, *self.where)


class Tap:
    """The packets of a network device, as a packet socket has them."""

    def __init__(self, name):
        set_up(name)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
            self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self.socket.bind((name, ETH_P_ALL))
            self.socket.setblocking(False)
        except OSError:
            self.socket.close()
            raise

    def fileno(self):
        """for select()"""
        return self.socket.fileno()

    def read(self):
        """(time, packet); None: none is there.  OSError: the device has gone"""
        try:
            packet, control, _, _ = self.socket.recvmsg(SNAPLEN, socket.CMSG_SPACE(16))
        except BlockingIOError:
            return None
        for level, kind, data in control:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, rest = struct.unpack("qq", data)
                return seconds * NS + rest, packet
        return time.time_ns(), packet

    def lost(self):
        """how many packets the socket had no room for"""
        return struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]

    def close(self):
        """end it"""
        self.socket.close()


class Stop:
    """Whether a signal has asked for the end."""

    def __init__(self):
        self.asked = False
        self.wakeup, other = os.pipe()
        self.other = other
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.ask)

    def ask(self, *_):
        """the handler"""
        if not self.asked:
            self.asked = True
            os.write(self.other, b"x")


def copy(tap, writer, stop, most):
    """
    Write packets until a signal comes, and what came before it; or until there are so many, if
    most is not 0; or until the device goes.  Returns how many.
    """
    count = 0
    while not most or count < most:
        if not stop.asked:
            select.select([tap, stop.wakeup], [], [])
        try:
            found = tap.read()
        except OSError as error:
            # Once: then what is left can be read.
            if error.errno != errno.ENETDOWN:
                raise
            stop.asked = True
            continue
        if found:
            writer.add(*found)
            count += 1
        elif stop.asked:
            break
    return count


def run(tree, where, path, as_erf, most):
    """capture what belongs to a folder"""
    stop = Stop()
    with Monitor(tree, where) as name:
        tap = Tap(name)
        try:
            with open(path, "wb") if path != "-" else \
                    os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
                count = copy(tap, Writer(out, as_erf), stop, most)
            lost = tap.lost()
        finally:
            tap.close()
    print("%d packets%s" % (count, ", %d lost" % lost if lost else ""), file=sys.stderr)
