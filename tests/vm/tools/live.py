#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""live.py server|client ADDRESS PORT: a ping-pong over rsockets (rsocket(7)).

The client says "begun" after the first round, goes on until SIGTERM, and then says how many
rounds there were and how long the longest took.
"""

import ctypes
import signal
import socket
import struct
import sys
import time

RDMACM = ctypes.CDLL("librdmacm.so.1", use_errno=True)
PING = b"ping"


def call(name, *args):
    result = getattr(RDMACM, name)(*args)
    if result < 0:
        sys.exit(f"{name}: errno {ctypes.get_errno()}")
    return result


def server(address):
    listener = call("rsocket", socket.AF_INET, socket.SOCK_STREAM, 0)
    call("rbind", listener, address, len(address))
    call("rlisten", listener, 1)
    peer = call("raccept", listener, None, None)
    data = ctypes.create_string_buffer(8)
    while (got := call("rrecv", peer, data, len(data), 0)):
        call("rsend", peer, data, got, 0)
    call("rclose", peer)
    call("rclose", listener)


def client(address):
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(True))
    # The signal must not end rrecv() with EINTR.
    signal.siginterrupt(signal.SIGTERM, False)
    data = ctypes.create_string_buffer(8)
    rounds, longest = 0, 0.0
    peer = call("rsocket", socket.AF_INET, socket.SOCK_STREAM, 0)
    call("rconnect", peer, address, len(address))
    while not over:
        begin = time.monotonic()
        call("rsend", peer, PING, len(PING), 0)
        if call("rrecv", peer, data, len(data), 0) != len(PING):
            sys.exit("the connection is lost")
        if rounds:
            longest = max(longest, time.monotonic() - begin)
        else:
            print("begun", flush=True)
        rounds += 1
        time.sleep(0.001)
    call("rshutdown", peer, socket.SHUT_RDWR)
    call("rclose", peer)
    print(f"{rounds} rounds, longest {longest * 1e6:.0f} us")


def main():
    what, host, port = sys.argv[1:]
    address = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(int(port)),
                          socket.inet_aton(host))
    {"server": server, "client": client}[what](address)


main()
