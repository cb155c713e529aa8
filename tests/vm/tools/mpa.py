#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Speak MPA (RFC 5044, 6581) over plain TCP to the test ULP on an iWARP device.

  mpa.py malformed SOURCE ADDRESS PORT  send requests that no honest peer sends, and good ones
  mpa.py silent SOURCE ADDRESS PORT N   N peers that connect and send no request, or only a
                                        part, until each has been dropped

If the stream ends before siw has accepted the connection, siw takes this for the end of
the listener, with either core. So a stream is ended only when siw has read all of it.
"""
import itertools
import os
import random
import socket
import struct
import sys
import time

STATS = "/sys/kernel/debug/ibex_ulp/stats"
REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
MARKERS, REJECT, ENHANCED = 0x80, 0x20, 0x10
HEADER = struct.Struct(">16sBBH")
IRD_ORD = struct.pack(">HH", 1, 1)
COOKIE = struct.pack(">Q", 0x1d5a)
ANSWER = struct.pack(">Q", ~0x1d5a & 2**64 - 1)
SILENT_BOUND = 30

failures = []


def request(private=IRD_ORD + COOKIE, key=REQUEST, flags=ENHANCED, revision=2, length=None):
    if length is None:
        length = len(private)
    return HEADER.pack(key, flags, revision, length) + private


def check(what, truth):
    if not truth:
        failures.append(what)
        print("  FAILED:", what, flush=True)


def wait_until(test, seconds=15):
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def requests_told():
    with open(STATS) as f:
        return int(next(line for line in f if line.startswith("requests="))[9:])


def hex_address(address):
    return "%08X:%04X" % (struct.unpack("=I", socket.inet_aton(address[0]))[0], address[1])


# Below the port range of rdma_cm and TCP, which choose ports independently of each other.
ports = itertools.count(10000 + os.getpid() * 200 % 20000)


class Peer:
    def __init__(self, source, listener):
        self.s = socket.create_connection(listener, 15, (source, next(ports)))
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        mine, theirs = hex_address(self.s.getsockname()), hex_address(listener)
        # for each end in /proc/net/tcp: which of its two queues holds the bytes we sent
        self.queue = {(mine, theirs): 0, (theirs, mine): 1}

    def queued(self):
        """bytes that were sent and not read by siw; None: siw has dropped the connection"""
        queued, seen = 0, 0
        with open("/proc/net/tcp") as f:
            for words in map(str.split, f):
                which = self.queue.get((words[1], words[2]))
                if which is not None and words[3] == "01":
                    queued += int(words[4].split(":")[which], 16)
                    seen += 1
        return queued if seen == 2 else None

    def send(self, data):
        try:
            self.s.sendall(data)
        except ConnectionError:
            pass    # dropped, which receiving will show

    def send_read(self, data):
        """send data, and return when siw has read it"""
        self.send(data)
        check("siw reads %r" % data, wait_until(lambda: not self.queued()))

    def reset(self):
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.s.close()

    def receive(self, size):
        """size bytes, or fewer if the stream ends"""
        data = b""
        while len(data) < size:
            try:
                more = self.s.recv(size - len(data))
            except ConnectionError:
                break
            if not more:
                break
            data += more
        return data

    def outcome(self):
        """the response to a request: "dropped", "refused", "silence" or the private data"""
        try:
            head = self.receive(HEADER.size)
            if len(head) < HEADER.size:
                return "dropped"
            key, flags, _, length = HEADER.unpack(head)
            private = self.receive(length)
        except TimeoutError:
            return "silence"
        if key != REPLY or len(private) < length:
            return "nonsense"
        return "refused" if flags & REJECT else private

    def dropped(self):
        """whether siw ends the stream, whatever else it sends before"""
        try:
            while self.receive(4096):
                pass
        except TimeoutError:
            return False
        return True


class Tester:
    def __init__(self, source, listener):
        self.source, self.listener = source, listener

    def peer(self):
        return Peer(self.source, self.listener)

    def refused(self, what, data, outcome, end=False):
        """send a request that must not be reported to the ULP"""
        told = requests_told()
        peer = self.peer()
        if end:
            peer.send_read(data)
            peer.s.shutdown(socket.SHUT_WR)
        else:
            peer.send(data)
        got = peer.outcome()
        check("%s: %s, not %s" % (what, got, outcome), got == outcome)
        check(what + ": the ULP is not told", requests_told() == told)
        peer.s.close()

    def accepted(self, what, *pieces, answer):
        peer = self.peer()
        for piece in pieces[:-1]:
            peer.send_read(piece)
        peer.send(pieces[-1])
        got = peer.outcome()
        check("%s: %r, not %r" % (what, got, answer), got == answer)
        return peer


def spoiled(peer):
    """
    Whether siw ends the stream after garbage.  Garbage that arrives too early is processed
    only when more data follows.
    """
    peer.s.settimeout(1)
    for _ in range(15):
        peer.send(random.randbytes(200))
        if peer.dropped():
            return True
    return False


def good(tester):
    """requests that must be accepted, including unusual ones"""
    enhanced = IRD_ORD + ANSWER
    tester.accepted("a good request", request(), answer=enhanced).s.close()
    data = request()
    tester.accepted("in pieces", data[:7], data[7:20], data[20:25], data[25:],
                    answer=enhanced).s.close()
    tester.accepted("revision 1", request(COOKIE, flags=0, revision=1),
                    answer=ANSWER).s.close()
    peer = tester.accepted("garbage behind the reply", request(), answer=enhanced)
    check("garbage behind the reply: dropped", spoiled(peer))
    peer.s.close()


def bad(tester):
    refused = tester.refused
    refused("a wrong key", request(key=b"MPA ID Rex Frame"), "dropped")
    refused("a reply for a request", request(key=REPLY), "dropped")
    for revision in (3, 4, 255):
        refused("revision %d" % revision, request(revision=revision), "dropped")
    refused("markers wanted", request(flags=ENHANCED | MARKERS), "refused")
    for size in range(4):
        refused("enhanced, %d bytes of IRD and ORD" % size, request(IRD_ORD[:size]), "refused")
    for length in (257, 512, 0x7fff, 0x8000, 0xffff):
        refused("private data of %d bytes" % length, request(length=length), "dropped")
        refused("really %d bytes" % length, request(bytes(length)), "dropped")
    refused("more private data than announced", request(length=8), "dropped")
    refused("data behind a request without any", request(COOKIE, flags=0, length=0), "dropped")
    data = request()
    for size in (1, 15, 16, 19, 20, 21, len(data) - 1):
        refused("cut short after %d bytes" % size, data[:size], "dropped", end=True)
    for _ in range(20):
        data = random.randbytes(random.randint(1, 600))
        refused("garbage, %d bytes" % len(data), data, "dropped", end=len(data) < 20)


def resets(tester):
    """the peer resets the stream while the request is reported to the ULP, or accepted"""
    for _ in range(20):
        peer = tester.peer()
        peer.send_read(request())
        peer.reset()
    for size in (1, 19, 25):
        peer = tester.peer()
        peer.send_read(request()[:size])
        peer.reset()


def malformed(tester):
    random.seed(5044)
    good(tester)
    bad(tester)
    resets(tester)
    good(tester)


def silent(tester, number):
    says = (b"", request()[:10], request()[:24])
    peers = [tester.peer() for _ in range(number)]
    for n, peer in enumerate(peers):
        peer.send(says[n % len(says)])
    print("  %d silent peers are connected" % number, flush=True)
    start = time.monotonic()
    for peer in peers:
        peer.s.settimeout(max(SILENT_BOUND - (time.monotonic() - start), 0.01))
        check("a silent peer is dropped", peer.dropped())
    print("  %d silent peers dropped within %.1f s" % (number, time.monotonic() - start))


def main(what, source, address, port, *number):
    tester = Tester(source, (address, int(port)))
    if what == "silent":
        silent(tester, int(number[0]))
    else:
        malformed(tester)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
