#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Check, with tshark, the rping that scenario siw captured: siw-decode.py RUN-DIRECTORY

There must be an MPA request and its reply, then complete RDMAP messages: for each ping four
Sends (two advertise buffers, two reply), a Read Request with its Response and a Write.
"""
import collections
import os
import subprocess
import sys

OPCODES = {0: "Write", 1: "Read Request", 2: "Read Response", 3: "Send", 7: "Terminate"}
FIELDS = ("tcp.stream", "iwarp_mpa.key.req", "iwarp_mpa.key.rep", "iwarp_rdma.opcode",
          "_ws.malformed")


def frames(path):
    """for each packet with MPA in it, a list of the values of each field"""
    command = ["tshark", "-r", path, "-Y", "iwarp_mpa", "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    out = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    for line in out.splitlines():
        yield [value.split(",") if value else [] for value in line.split("\t")]


def decode(path):
    """for each stream, a list of its messages in order"""
    streams = collections.defaultdict(list)
    for (stream, *_), request, reply, opcodes, malformed in frames(path):
        seen = streams[stream]
        seen += ["MPA request"] * len(request) + ["MPA reply"] * len(reply)
        seen += [OPCODES.get(int(code, 0), code) for code in opcodes]
        seen += ["malformed"] * len(malformed)
    return streams


def wrong(seen):
    """what is wrong in a stream, or None"""
    count = collections.Counter(seen)
    pings = count["Write"]
    if seen[:2] != ["MPA request", "MPA reply"]:
        return "it does not begin with an MPA request and its reply"
    if count["MPA request"] + count["MPA reply"] != 2:
        return "a second MPA request or reply"
    if not pings:
        return "no Write"
    if count["Read Request"] != pings or count["Read Response"] != pings:
        return "not as many Reads as Writes"
    if count["Send"] != 4 * pings:
        return "not four Sends for each Write"
    if count["malformed"]:
        return "malformed frames"
    return None


def main(rundir):
    streams = decode(os.path.join(rundir, "rping.pcap"))
    found = ["no MPA at all"] if not streams else []
    for seen in streams.values():
        print("tshark:", ", ".join("%d %s" % (n, what) for what, n in
                                   collections.Counter(seen).items()))
        found += filter(None, [wrong(seen)])
    for what in found:
        print("tshark:", what)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
