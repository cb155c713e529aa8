#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Datagrams of chosen LIDs, SLs and P_Keys, between the QP1s of two devices of this machine.

  gsi.py answered FROM TO [sl=N] [pkey=0xN]  a MAD gets there, and its response back
  gsi.py lost FROM TO [sl=N] [pkey=0xN]      a MAD does not get there
  gsi.py lids FROM TO                        from each LID of FROM to each LID of TO

Says what is not as it must be, and exits with status 1.
"""
import sys

import umad

MS = 3000


def sysfs(dev, name):
    return umad.read("/sys/class/infiniband/%s/ports/1/%s" % (dev, name))


def pkey_at(dev, index):
    return int(sysfs(dev, "pkeys/%d" % index), 16)


def pkey_index(dev, pkey):
    """the entry of the table with this P_Key, of whatever membership"""
    index = 0
    while (pkey_at(dev, index) ^ pkey) & 0x7fff:
        index += 1
    return index


class Port:
    """the QP1 of a device's port 1"""

    def __init__(self, dev, methods=()):
        self.dev = dev
        self.lid = int(sysfs(dev, "lid"), 16)
        self.lids = 1 << int(sysfs(dev, "lid_mask_count"))
        self.file = umad.Umad(dev)
        self.agent = self.file.register(methods=methods)

    def send(self, mad, lid, **how):
        self.file.send(self.agent, bytes(16), mad, grh=0, sgid=0, lid=lid, **how)


def got_pkey(dev, got):
    return pkey_at(dev, int.from_bytes(got.raw[56:58], sys.byteorder)) & 0x7fff


def exchange(client, server, tid, pkey=0x7fff, sl=0, bits=(0, 0)):
    """a request and its response; None: it did not arrive, else what is wrong with it"""
    index = pkey_index(client.dev, pkey)
    client.send(umad.mad(tid=tid), server.lid + bits[1], pkey=index, sl=sl,
                path_bits=bits[0], timeout=MS)
    got = server.file.recv(seconds=MS / 1000)
    if not got:
        return None
    seen = (got.lid, got.path_bits, got.sl, got_pkey(server.dev, got))
    want = (client.lid + bits[0], bits[1], sl, pkey & 0x7fff)
    if seen != want:
        return "slid, path bits, sl, pkey are %r, not %r" % (seen, want)
    reply = bytearray(got.mad)
    reply[3] |= umad.RESP
    server.send(bytes(reply), got.lid, pkey=pkey_index(server.dev, pkey), sl=sl,
                path_bits=got.path_bits)
    back = client.file.recv(seconds=2 * MS / 1000)
    if not back or back.status:
        return "there is no response"
    if (back.lid, back.path_bits) != (server.lid + bits[1], bits[0]):
        return "the response is from LID %d to path bits %d" % (back.lid, back.path_bits)
    return ""


def main(what, source, to, *options):
    client, server = Port(source), Port(to, methods=(umad.GET,))
    how = {key: int(value, 0) for key, value in (text.split("=") for text in options)}
    pairs = [(0, 0)]
    if what == "lids":
        pairs = [(a, b) for a in range(client.lids) for b in range(server.lids)]
    for tid, bits in enumerate(pairs):
        wrong = exchange(client, server, tid + 1, bits=bits, **how)
        if wrong is None and what != "lost":
            wrong = "the request does not arrive"
        elif wrong is not None and what == "lost":
            wrong = "the request arrives"
        if wrong:
            print("%s to %s, path bits %r, %r: %s" % (source, to, bits, how, wrong))
            return 1
    print("%s to %s %r: %s, %d MADs" % (source, to, how, what, len(pairs)))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
