#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Write all packets of a netdev to a pcap file, until SIGTERM: capture.py NETDEV FILE

When the file has its header, no further packet is missed.
"""
import select
import signal
import socket
import struct
import sys
import time

ETH_P_ALL, LINKTYPE_ETHERNET, SNAPLEN = 3, 1, 262144


def record(data):
    now = time.time_ns()
    return struct.pack("=IIII", now // 10**9, now % 10**9 // 1000,
                       len(data), len(data)) + data


def main(netdev, path):
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
    wire.bind((netdev, ETH_P_ALL))
    wire.setblocking(False)
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    with open(path, "wb", buffering=0) as out:
        out.write(struct.pack("=IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, SNAPLEN,
                              LINKTYPE_ETHERNET))
        # Packets that arrived before the signal are still written.
        while select.select([wire], [], [], 0 if ended else 0.1)[0] or not ended:
            try:
                out.write(record(wire.recv(SNAPLEN)))
            except BlockingIOError:
                pass


if __name__ == "__main__":
    main(*sys.argv[1:])
