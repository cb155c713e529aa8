#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""RDS messages between two addresses of this machine, both ways.

  rds.py A B [COUNT]     COUNT messages of each size, each way

Each message is compared with what was sent, and they have to come in order. Prints the bytes
that were exchanged.
"""
import hashlib
import signal
import socket
import sys

SIZES = (1, 64, 4095, 4096, 4097, 65536, 300001)
PORT = 4000
TIMEOUT = 60
WINDOW = 4
# Room for a window of the longest messages: one task cannot wait for itself to receive.
BUFFER = 4 << 20
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33


def message(number, size):
    """reproducible bytes"""
    block = hashlib.sha256(b"%d %d" % (number, size)).digest()
    return (block * (size // len(block) + 1))[:size]


def bound(address):
    sock = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET)
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    sock.bind((address, PORT))
    return sock


def one_way(source, to, size, count):
    """what is wrong, or nothing"""
    here, there = source.getsockname(), to.getsockname()
    sent = 0
    for number in range(count):
        while sent < min(number + WINDOW, count):
            if source.sendto(message(sent, size), there) != size:
                return "message %d was not sent as a whole" % sent
            sent += 1
        data, sender = to.recvfrom(2 * max(SIZES))
        if sender != here:
            return "message %d comes from %r" % (number, sender)
        if data != message(number, size):
            return "message %d is another, of %d bytes" % (number, len(data))
    return ""


def main(a, b, count=20):
    # A send without blocking fails if the peer has not yet said that it is not congested.
    signal.alarm(TIMEOUT)
    ends = bound(a), bound(b)
    total = 0
    for size in SIZES:
        for source, to in (ends, ends[::-1]):
            wrong = one_way(source, to, size, int(count))
            if wrong:
                print("size %d, from %s: %s" % (size, source.getsockname()[0], wrong))
                return 1
            total += size * int(count)
    print(total)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
