#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Send MADs to QP1 of 10.0.0.1, both those of an honest peer and those that no honest
peer sends.

The test ULP listens there on port 7471. Each case checks what the ULP has seen and
what was sent back; at the end nothing may be left.
"""
import os
import random
import socket
import struct
import sys
import time

from roce import (APR, CM_BODY, CM_CLASS, DREP, DREQ, MRA, NAMES, QKEY_QP1,
                  REJ, REP, REQ, RTU, SIDR_REP, SIDR_REQ, Wire, bth, deth, dreq,
                  gid, ip_cm, mad, pair, rej, req)

SRC, DST = "10.0.0.2", "10.0.0.1"
STATS = "/sys/kernel/debug/ibex_ulp/stats"
COUNTERS = "/sys/class/infiniband/rxe_a/ports/1"
INVALID_SID, STALE_CONN = 8, 10

random.seed(4791)
wire = Wire("vb", SRC, DST)
failures = []
next_id = 0x10000
next_qpn = 0x100


def fresh():
    """a communication id and a QPN that were not used before"""
    global next_id, next_qpn
    next_id += 1
    next_qpn += 1
    return next_id, next_qpn


def ulp(name):
    with open(STATS) as f:
        for line in f:
            key, value = line.strip().split("=")
            if key == name:
                return int(value)
    raise KeyError(name)


def counter(path):
    try:
        with open(os.path.join(COUNTERS, path)) as f:
            return int(f.read())
    except OSError:
        return None


def check(what, truth):
    if not truth:
        failures.append(what)
        print("  FAILED:", what, flush=True)


def eventually(what, test, seconds=5):
    end = time.monotonic() + seconds
    while not test() and time.monotonic() < end:
        time.sleep(0.05)
    check(what, test())


def good_req(**change):
    comm_id, qpn = fresh()
    return comm_id, qpn, req(comm_id, SRC, DST, qpn,
                             cookie=struct.pack(">Q", comm_id), **change)


def connect():
    """REQ and REP; leaves the passive side waiting for the RTU"""
    comm_id, qpn, body = good_req()
    wire.cm(REQ, body)
    rep = wire.until(REP, remote=comm_id)
    check("a good REQ is answered with a REP", rep is not None)
    return comm_id, qpn, body, rep


def disconnect(comm_id, rep):
    wire.cm(DREQ, dreq(comm_id, rep.local, rep.qpn))
    check("DREQ is answered with a DREP", wire.until(DREP, remote=comm_id) is not None)


# --- messages of an honest peer, some repeated by the wire ---------------------

def case_honest():
    before = ulp("requests"), ulp("passive_established"), ulp("passive_disconnected")
    comm_id, _, _, rep = connect()
    if rep is None:
        return
    check("the REP names our id", rep.remote == comm_id)
    wire.cm(RTU, pair(comm_id, rep.local))
    eventually("ESTABLISHED", lambda: ulp("passive_established") == before[1] + 1)
    disconnect(comm_id, rep)
    eventually("DISCONNECTED", lambda: ulp("passive_disconnected") == before[2] + 1)
    check("one request", ulp("requests") == before[0] + 1)


def case_duplicates():
    before = ulp("requests"), ulp("passive_established"), ulp("passive_disconnected")
    counted = counter("cm_rx_duplicates/req")
    comm_id, _, body, rep = connect()
    if rep is None:
        return
    for _ in range(5):
        wire.cm(REQ, body)
    again = wire.drain()
    check("a repeated REQ is answered with the same REP, or not",
          all(m.attr in (REP, MRA) and m.local == rep.local for m in again))
    for _ in range(5):
        wire.cm(RTU, pair(comm_id, rep.local))
    eventually("ESTABLISHED", lambda: ulp("passive_established") == before[1] + 1)
    for _ in range(3):
        wire.cm(REQ, body)
    for _ in range(4):
        wire.cm(DREQ, dreq(comm_id, rep.local, rep.qpn))
    check("DREP", wire.until(DREP, remote=comm_id) is not None)
    wire.drain()
    eventually("DISCONNECTED", lambda: ulp("passive_disconnected") == before[2] + 1)
    check("one request, one ESTABLISHED",
          ulp("requests") == before[0] + 1 and
          ulp("passive_established") == before[1] + 1)
    if counted is not None:
        check("repeated REQs are counted", counter("cm_rx_duplicates/req") > counted)


def case_no_service():
    for service in (0x01060000 | 9, 0, 0xffffffffffffffff, 0x01110000 | 7471):
        comm_id, _, body = good_req(service=service)
        wire.cm(REQ, body)
        answer = wire.until(REJ, remote=comm_id)
        check("service %x is rejected as an invalid service id" % service,
              answer is not None and answer.reason == INVALID_SID)


def case_stale():
    """a REQ from a QP that is already connected: the old one is stale"""
    comm_id, qpn, _, rep = connect()
    if rep is None:
        return
    wire.cm(RTU, pair(comm_id, rep.local))
    time.sleep(0.3)
    again, _ = fresh()
    wire.cm(REQ, req(again, SRC, DST, qpn, cookie=struct.pack(">Q", again)))
    answer = wire.until(REJ, remote=again)
    check("a REQ from a connected QP is rejected as stale",
          answer is not None and answer.reason == STALE_CONN)
    wire.drain()
    # the old connection has ended, or ends now
    wire.cm(DREQ, dreq(comm_id, rep.local, rep.qpn))
    wire.drain()


def case_early_end():
    """DREQ, REJ and MRA to a passive side that waits for the RTU"""
    for message in ("dreq", "rej", "mra"):
        comm_id, _, _, rep = connect()
        if rep is None:
            return
        if message == "dreq":
            disconnect(comm_id, rep)
            continue
        if message == "mra":
            wire.cm(MRA, pair(comm_id, rep.local, struct.pack(">BB", 1 << 6, 10 << 3)))
        wire.cm(REJ, rej(comm_id, rep.local, 28, message=1))
        wire.drain()
        eventually("%s ends the connection" % message, lambda: ulp("live") == 0)


# --- messages that no honest peer sends ----------------------------------------

def case_wrong_partner():
    """messages for a live connection with a wrong id or QPN, or in the wrong state"""
    comm_id, _, _, rep = connect()
    if rep is None:
        return
    established = ulp("passive_established")
    wire.cm(RTU, pair(comm_id ^ 1, rep.local))
    wire.cm(RTU, pair(comm_id, rep.local ^ 0x100))
    wire.cm(DREQ, dreq(comm_id, rep.local, rep.qpn ^ 3))
    wire.cm(DREP, pair(comm_id, rep.local))
    wire.cm(REP, pair(comm_id, rep.local))
    wire.cm(APR, pair(comm_id, rep.local))
    wire.drain()
    check("no ESTABLISHED from a foreign RTU", ulp("passive_established") == established)
    wire.cm(RTU, pair(comm_id, rep.local))
    eventually("the right RTU still works",
               lambda: ulp("passive_established") == established + 1)
    disconnect(comm_id, rep)


def case_unknown_ids():
    for attr in NAMES:
        if attr in (REQ, SIDR_REQ):
            continue
        for local, remote in ((0, 0), (1, 0xffffffff), (0x1234, 0x5678)):
            wire.cm(attr, pair(local, remote, random.randbytes(40)))
    answers = wire.drain()
    check("only REJ, DREP or APR answers what belongs to nobody: %r" % answers,
          all(m.attr in (REJ, DREP, APR) for m in answers))
    check("a LAP of no connection is answered once (IBA vol. 1, 12.8)",
          sum(m.attr == APR for m in answers) <= 3)


def case_mad_header():
    _, _, body = good_req()
    for value in range(0, 256, 5):
        wire.cm(REQ, body, base=value if value != 1 else 2)
        wire.cm(REQ, body, version=value if value != 2 else 3)
        wire.cm(REQ, body, mgmt_class=value if value != CM_CLASS else 8)
        wire.cm(REQ, body, method=value if value != 3 else 4)
        wire.cm(value if value not in NAMES else 0x40, body)
        wire.cm(0xff00 | value, body)
    # RMPP and directed route headers in classes that do not use them
    for mgmt_class in (0x01, 0x03, 0x04, 0x06, 0x81, 0x0a, 0x32):
        for kind in range(6):
            rmpp = struct.pack(">BBBBII", 1, kind, 0x07, 0, 0xffffffff, 0xffffffff)
            wire.send(mad(0x11, rmpp + random.randbytes(200), mgmt_class=mgmt_class, method=1))
            wire.send(mad(0x35, rmpp + random.randbytes(200), mgmt_class=mgmt_class, method=0x81))
    wire.drain()


def case_truncated():
    _, _, body = good_req()
    whole = bth() + deth() + mad(REQ, body)
    for length in list(range(0, 60)) + list(range(60, len(whole), 7)):
        wire.datagram(whole[:length])
    for size in (257, 260, 512, 1024, 4000):
        wire.send(mad(REQ, body, size=size))
    wire.drain()


def case_transport():
    _, _, body = good_req()
    message = mad(REQ, body)
    wire.datagram(bth() + deth() + message, good_icrc=False)
    for qkey in (0, 1, QKEY_QP1 ^ 1, 0xffffffff):
        wire.datagram(bth() + deth(qkey) + message)
    for qpn in (0, 2, 0x10, 0xfffffe, 0xffffff):
        wire.datagram(bth(qpn=qpn) + deth() + message)
    for opcode in list(range(0, 0x20)) + [0x60, 0x65, 0x80, 0xff]:
        wire.datagram(bth(opcode=opcode) + deth() + message)
    for flags in (0x0f, 0x30, 0x4f, 0xff):
        wire.datagram(bth(flags=flags) + deth() + message)
    for pkey in (0, 0x7fff, 1, 0x8001):
        wire.datagram(bth(pkey=pkey) + deth() + message)
    for src_qpn in (0, 2, 0xffffff):
        wire.datagram(bth() + deth(src_qpn=src_qpn) + message)
    wire.drain()


def case_req_fields():
    changes = (
        [dict(private=ip_cm(SRC, DST, 1, version=v)) for v in (1, 15, 255)] +
        [dict(private=ip_cm(SRC, DST, 1, ip_version=v)) for v in (0, 1, 5, 15)] +
        [dict(private=ip_cm("0.0.0.0", DST, 1)), dict(private=ip_cm(SRC, "10.9.9.9", 1)),
         dict(private=ip_cm("255.255.255.255", "224.0.0.1", 0)), dict(private=b"")] +
        [dict(transport=t) for t in (1, 2, 3)] +
        [dict(mtu=m) for m in (0, 6, 15)] +
        [dict(sgid=b"\0" * 16), dict(dgid=b"\0" * 16), dict(dgid=b"\xff" * 16),
         dict(sgid=b"\xff" * 16), dict(dgid=random.randbytes(16)), dict(sgid=random.randbytes(16))] +
        [dict(lid=0), dict(lid=0x1234), dict(hop=0), dict(pkey=0), dict(pkey=0x1234)] +
        [dict(alt=random.randbytes(44)), dict(alt=b"\xff" * 44)] +
        [dict(timeout=31, ack_timeout=31), dict(timeout=0, ack_timeout=0),
         dict(cm_retries=0), dict(retry=0, rnr=0), dict(resp=255, depth=255),
         dict(guid=0), dict(guid=0xffffffffffffffff)])
    for change in changes:
        wire.cm(REQ, good_req(**change)[2])
    for qpn in (0, 1, 0xffffff):
        comm_id, _ = fresh()
        wire.cm(REQ, req(comm_id, SRC, DST, qpn))
    # the same id each time, but another QPN
    for _ in range(5):
        wire.cm(REQ, req(0, SRC, DST, random.randrange(1 << 24)))
    refuse(1.0)


def case_posing():
    """requests from the wire whose source is the host itself, or to loopback addresses"""
    def ip6(src, dst):
        return struct.pack(">BBH", 0, 6 << 4, 40000) + \
            socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(socket.AF_INET6, dst)

    privates = [ip_cm(src, dst, 40000) for src, dst in (
        ("127.0.0.1", DST), ("127.0.0.1", "127.0.0.1"), ("127.8.9.10", DST),
        (SRC, "127.0.0.1"), ("224.0.0.1", DST), ("255.255.255.255", DST), ("0.0.0.0", DST))]
    privates += [ip6(src, dst) for src, dst in (
        ("::1", "::ffff:" + DST), ("::ffff:127.0.0.1", "::ffff:" + DST),
        ("::ffff:" + DST, "::ffff:" + DST), ("::1", "::1"))]
    before = ulp("requests")
    for private in privates:
        # also with the host's own GID as the source of the path
        for gids in ({}, dict(sgid=gid(DST))):
            comm_id, _, body = good_req(private=private, **gids)
            wire.cm(REQ, body)
            check("a REQ that poses as %s gets no REP" % private[4:20].hex(),
                  all(m.attr != REP or m.remote != comm_id for m in wire.drain()))
    check("the consumer hears of none", ulp("requests") == before)


def case_sidr():
    """SIDR requests for services without a listener, and malformed ones"""
    for service in (0, 0x01060000 | 7471, 0x01110000 | 7471, 0x0111ffff, 1 << 63):
        body = struct.pack(">IHHQ", fresh()[0], 0xffff, 0, service) + \
            ip_cm(SRC, DST, 5)
        wire.cm(SIDR_REQ, body)
    for _ in range(20):
        wire.cm(SIDR_REQ, random.randbytes(CM_BODY))
        wire.cm(SIDR_REP, random.randbytes(CM_BODY))
    wire.drain()


def case_random():
    for _ in range(300):
        flipped = bytearray(mad(REQ, req(fresh()[0], SRC, DST, fresh()[1])))
        for _ in range(random.choice((1, 1, 2, 5, 40))):
            flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
        wire.send(bytes(flipped))
    refuse()
    for _ in range(200):
        attr = random.choice(list(NAMES))
        wire.cm(attr, random.randbytes(CM_BODY))
        wire.send(mad(attr, random.randbytes(CM_BODY), mgmt_class=random.randrange(256),
                      method=random.randrange(256)))
    refuse()


def refuse(quiet=0.3):
    """
    End connections that were accepted: reject their REPs until none arrives for a while.
    Each is rejected when it arrives, as a REP is sent a few times only, and a REQ with
    flipped bits may ask for hours after the last one.
    """
    while (m := wire.receive(quiet)) is not None:
        if m.attr == REP:
            wire.cm(REJ, rej(m.remote, m.local, 28, message=1))


def quench():
    """
    No connection of one case may affect the next one: a live connection resends its
    REP, which is rejected here, or gives up.
    """
    end = time.monotonic() + 30
    while ulp("live") and time.monotonic() < end:
        refuse(0.5)


def main():
    cases = [(n[5:], f) for n, f in sorted(globals().items()) if n.startswith("case_")]
    wanted = sys.argv[1:]
    for name, case in cases:
        if wanted and name not in wanted:
            continue
        sent = wire.sent
        start = time.monotonic()
        case()
        quench()
        print("  %-14s %4d datagrams, %.1f s" %
              (name, wire.sent - sent, time.monotonic() - start), flush=True)
    print("  %d datagrams sent, %d failures" % (wire.sent, len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
