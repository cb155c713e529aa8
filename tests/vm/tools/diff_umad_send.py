# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The calls of diff_umad.py that send MADs, and the short reads of what they cause."""
import os
import struct

import umad
from diff_umad_file import ANSWERED, KERNEL_RMPP, NOWHERE, RESPONDED, TAKEN, UNKNOWN
from diff_umad_file import LATE, Head, Request, active_header, has_rmpp, kernel_rmpp
from diff_umad_mad import ABORT, ACK, ACTIVE, DATA, GET, GET_MULTI, GET_TABLE, NODE_DESC
from diff_umad_mad import NODE_INFO, REPORT, RESPONSE, SEND, SET, SIZE, SM_INFO
from diff_umad_mad import STOP, TRAP, VENDOR2, Mad, Smp, is_active, is_response
from diff_umad_mad import method_as, resptime_of
from diff_umad_port import error

# Milliseconds: until a request ends that nobody answers; that perhaps somebody answers; that the
# kernel answers at once; that waits for the call that answers it; that only has its TID.
EXPIRES, PERHAPS, AT_ONCE, ASKS, HOLDS = 10, 300, 800, 30000, 60000
AGAIN = 300             # until a request is sent again that is answered then
# What may be wrong in a header.
WRONG = {
    "id": (0, 1, 31, 32, 0xffffffff), "status": (0xffffffff,), "length": (0, 256, 0xffffffff),
    "qpn": (0, 2, 0xffffff, 0x1000000), "qkey": (0, 0x11111111), "lid": (0, 99, 0xc000, 0xffff),
    "sl": (15, 16, 255), "bits": (1, 127, 255), "grh": (0, 1, 255), "index": (1, 2, 255),
    "hops": (0, 1, 255), "traffic": (1, 255), "flow": (0xfffff, 0xffffffff),
    "gid": (bytes(16), b"\xfe\x80" + bytes(13) + b"\x99"), "pkey": (1, 65535),
    "timeout": (0x7fffffff, 0xffffffff), "retries": (0x7fffffff, 0xffffffff),
}
# What does not decide whether a MAD arrives, if it is accepted; of InfiniBand, and of RoCE.  Others
# are lost.
HARMLESS = {True: ("status", "length", "qkey", "sl", "bits", "gid", "hops", "traffic", "flow"),
            False: ("status", "length", "qkey", "sl", "bits", "lid", "traffic", "flow")}
LOST = {True: ("qpn", "lid"), False: ("qpn", "gid")}
# What may be unusual in a MAD.
ODD = {
    "base": (0, 2, 9, 0x80), "cls": (0x01, 0x81, 0x07, 0x0b, 0x30, 0x00, 0xff),
    "version": (0, 2, 99), "method": (0, 7, 0x12, 0x7f, 0x81, 0x87, 0x92), "status": (0x1c, 0xffff),
    "mod": (1, 0xffffffff), "oui": (0, 0x123456), "specific": (0xffff,),
    "size": (0, 23, 24, 35, 36, 37, 39, 40, 100, 255, 257, 512, 3000),
}
RMPP_ODD = [(v, t, flags, status, segment, word)
            for v in (1, 0, 2) for t in (DATA, 0, ACK, STOP, ABORT, 5)
            for flags in (0, 1, 3, 7, 5, 0x29, 0x2f, 0x28, 6)
            for status in (0, 1, 127) for segment in (0, 1, 2) for word in (0, 20, 220)]
RMPP_ACTIVE = [h for h in RMPP_ODD if h[2] & ACTIVE]
RMPP_NONE = [h for h in RMPP_ODD if not h[2] & ACTIVE]
SMP_ODD = {
    "base": (0, 2), "version": (0, 2), "attr": (0, 0xff), "pointer": (1, 2, 64, 255),
    "count": (1, 3, 63, 64, 255), "source": (0, 99), "target": (0, 99), "status": (0x8000, 0x1c),
    "method": (0, 5, 7, 0x81), "mod": (1, 255),
}
SIZES = (40, 41, 100, 255, 256, 257, 300, 472, 473, 1000, 5000)


class Sends:
    def __init__(self, world, r):
        self.world, self.r = world, r
        self.files = world.files
        self.tid = 0

    def one_in(self, n):
        return self.r.randrange(n) == 0

    def next_tid(self):
        self.tid += 1
        return self.tid

    def agent_of(self, f, fits=lambda agent: True):
        fitting = [a for a in f.agents.values() if fits(a)]
        return self.r.choice(fitting) if fitting else None

    def transferring(self, f):
        return any(a.rmpp == KERNEL_RMPP for a in f.agents.values())

    def managing(self, f):
        return any(a.qp == 0 for a in f.agents.values())

    # --- one write

    def spoiled(self, thing, table, avoid=()):
        """makes one field wrong; its name"""
        name = self.r.choice([n for n in table if n not in avoid])
        value = self.r.choice([v for v in table[name] if v != getattr(thing, name)])
        setattr(thing, name, value)
        return name

    def wait(self, head, fate, wrong):
        """chooses how long a request waits; whether its end must come"""
        if wrong in ("timeout", "retries"):
            head.timeout = head.timeout or HOLDS
            return False
        if self.one_in(3):
            return False
        if fate == UNKNOWN:
            head.timeout = PERHAPS
        elif fate == ANSWERED:
            head.timeout = AT_ONCE
        elif fate == TAKEN and not self.one_in(3):
            head.timeout = ASKS
        elif fate == NOWHERE and self.one_in(3):
            head.timeout = HOLDS
        else:
            head.timeout, head.retries = EXPIRES, self.r.choice((0, 0, 1, 2))
        return head.timeout < ASKS

    def post(self, i, word, head, to, data, fate, wrong=None, ends=False):
        """
        Writes a MAD.  fate says what must become of it (World.fate()); ends, that its request ends
        by itself.
        """
        f = self.files[i]
        kind, taker, _ = fate
        raw = head.packed(f.pkey) + data
        if head.grh and head.gid == to.gids[1] and not f.port.ib:
            word += "-ipv4"
        # Nothing else is on its way when a MAD is whose fate may differ between the cores.
        unsure = kind == UNKNOWN or word.endswith("-ipv4") or word.startswith("smp-0") or \
            resptime_of(data) > 0
        if unsure:
            self.world.drain()
        value = "" if not wrong or not hasattr(head, wrong) else " %s=%s" % (
            wrong, getattr(head, wrong) if wrong != "gid" else head.gid.hex())
        print("%d %s%s%s agent %d to %s timeout %d retries %d size %d mad %s" % (
            i, word, ":" + wrong if wrong else "", value, head.id, to.name, head.timeout,
            head.retries, len(data), self.told(data)), end="")
        result, count = error(os.write, f.fd, raw)
        print(" = %s%s" % (result, "" if count is None else " %d" % (count - f.head())))
        if result != "ok":
            return False
        self.world.sent = True
        if kind == RESPONDED:
            taker.ends += 1
        elif kind == UNKNOWN or kind != TAKEN and not ends:
            self.world.routes.add((f.port, to, head.qp))
        if is_active(data):
            # The sender of a transfer waits for its last ACK.
            self.world.routes.add((f.port, to, head.qp))
        if kind == TAKEN:
            taker.due += 1 + (head.retries if ends else 0)
        f.ends += ends
        f.unsure = f.unsure or unsure
        if head.timeout >= ASKS:
            self.world.requests[data[12:16]] = Request(f, head.id, to, data)
        return True

    def told(self, data):
        """the headers of a MAD, as printed with the call"""
        if len(data) < 24:
            return "short"
        text = "%x %x %x %x" % tuple(data[:4])
        text += " %s tid %x %s" % (data[4:8].hex(), struct.unpack_from(">I", data, 12)[0],
                                   data[16:24].hex())
        return text + (" " + data[24:40].hex() if has_rmpp(data[1]) else "")

    def fate_of(self, sender, to, data):
        """as World.fate(), for an agent's MAD"""
        data = data.ljust(64, b"\0")
        fate = self.world.fate(to, sender.qp, data[:SIZE])
        if kernel_rmpp(fate[2], data) or is_active(data) and fate[0] == ANSWERED:
            return UNKNOWN, None, None
        return fate

    def fate_with(self, fate, wrong, port):
        """the fate of a MAD of a port, of whose header a field is wrong"""
        if not wrong or wrong in HARMLESS[port.ib]:
            return fate
        return NOWHERE if wrong in LOST[port.ib] else UNKNOWN, None, None

    # --- requests

    def method_for(self, agent, to):
        """of an agent there, mostly"""
        takers = [a for g in self.files if g.port is to for a in g.agents.values()
                  if a.cls == agent.cls and a.asks]
        if takers and not self.one_in(4):
            return self.r.choice(self.r.choice(takers).asks)
        return self.r.choice((GET, SET, SEND, SEND, TRAP, REPORT, GET_TABLE))

    def send(self, i):
        f = self.files[i]
        agent = self.agent_of(f)
        to = self.r.choice(self.pair)
        cls = agent.cls or (self.classes[1] if agent.rmpp else self.r.choice(self.classes))
        mad = Mad(cls, agent.version or 1, self.method_for(agent, to), self.next_tid(),
                  agent.oui if cls in VENDOR2 else 0)
        head = Head(agent.id, f.port, to, agent.qp)
        if not f.port.ib and self.one_in(24):
            head.gid, head.index = to.gids[1], 1        # of IPv4
        wrong = odd = None
        if self.one_in(3):
            wrong = self.spoiled(head, WRONG, () if f.pkey else ("pkey",))
        elif self.one_in(3):
            odd = self.spoiled(mad, ODD)
            wrong = "size" if odd == "size" and not 36 <= mad.size <= SIZE else None
        elif has_rmpp(cls) and self.one_in(3):
            # What is active is a transfer, if the kernel does that for the agent.
            mad.rmpp = self.r.choice(RMPP_NONE if agent.rmpp == KERNEL_RMPP else RMPP_ODD)
            odd = "rmpp"
        data = mad.packed()
        fate = self.fate_of(agent, to, data)
        if agent.rmpp == KERNEL_RMPP and is_active(data.ljust(64, b"\0")):
            fate = UNKNOWN, None, None
        fate = self.fate_with(fate, wrong, f.port)
        ends = self.wait(head, fate[0], wrong)
        self.post(i, "send/" + odd if odd and not wrong else "send", head, to, data, fate, wrong, ends)

    def repeated(self, i):
        """sends with the TID of a request that is outstanding"""
        f = self.files[i]
        own = [q for q in self.world.requests.values() if q.file is f and q.agent in f.agents]
        if not own:
            self.register(i)
            return
        request = self.r.choice(own)
        data, to, number = request.data, request.to, request.agent
        how = self.r.choice(("same", "method", "to", "agent", "class", "response", "once"))
        if how == "method":
            data = method_as(data, REPORT)
        elif how == "to":
            to = self.r.choice(self.pair)
        elif how == "agent":
            number = self.r.choice(list(f.agents))
        elif how == "class":
            data = data[:1] + b"\x0d" + data[2:]
        elif how == "response":
            data = method_as(data, data[3] ^ RESPONSE)
        head = Head(number, f.port, to, f.agents[number].qp)
        head.timeout = 0 if how == "once" else HOLDS
        fate = self.fate_of(f.agents[number], to, data)
        if is_active(data) and f.agents[number].rmpp == KERNEL_RMPP:
            fate = UNKNOWN, None, None
        kept = self.world.requests.get(data[12:16])
        self.post(i, "repeat-" + how, head, to, data, fate)
        self.world.requests[data[12:16]] = kept

    # --- responses

    def answer(self, i):
        """a response to a request that was received, by the way that it came"""
        f = self.files[i]
        # Mostly one that is waited for.
        waits = [n for n, a in enumerate(f.asked) if a.data[12:16] in self.world.requests]
        asked = f.asked.pop(self.r.choice(waits) if waits and not self.one_in(4) else
                            self.r.randrange(len(f.asked)))
        if self.one_in(4):
            f.asked.append(asked)       # another one will follow
        head, to = self.way_back(f, asked)
        data = method_as(asked.data[:SIZE], asked.data[3] | RESPONSE)
        how = "right"
        if self.one_in(2):
            how = self.r.choice(("request", "class", "version", "method", "tid", "upper", "status",
                                 "agent", "to", "rmpp"))
            data = self.wrong_answer(how, data, head)
            if how == "to":
                to = self.r.choice(self.pair)
                head.lid, head.gid = to.lid if f.port.ib else 0, to.gids[0]
        elif f.agents[head.id].rmpp == KERNEL_RMPP and self.one_in(2):
            how = "transfer"
            data = self.transfer_of(data, self.r.choice(SIZES))
        fate = UNKNOWN, None, None
        request = self.world.requests.get(data[12:16])
        if how == "to" and request is not None and to is not request.file.port:
            how = "astray"              # to another port than that which asked
        transfer = head.id in f.agents and kernel_rmpp(f.agents[head.id], data)
        # The requester looks at the TID and the class.
        reaches = how not in ("request", "class", "tid", "upper", "astray") and \
            head.id in f.agents and request is not None and to is not None
        if reaches:
            fate = self.answered(request, transfer)
        ends = transfer and fate[0] == UNKNOWN
        if ends:
            # Nobody acknowledges it; but a request may be answered.
            head.timeout = EXPIRES if is_response(data) else PERHAPS
        if self.post(i, "answer-%s%s" % (how, "/transfer" if transfer else ""), head,
                     to or f.port, data, fate, None, ends) and ends and reaches:
            # Who does no RMPP takes the first segment.
            request.file.ends += 1

    def answered(self, request, transfer):
        """what must become of the response to a request"""
        agent = request.file.agents.get(request.agent)
        if agent is None or transfer and agent.rmpp != KERNEL_RMPP:
            return UNKNOWN, None, None
        del self.world.requests[request.data[12:16]]
        return RESPONDED, request.file, agent

    def way_back(self, f, asked):
        """the header of a response, and the port that it goes to"""
        head = Head(asked.agent, f.port, f.port, f.agents[asked.agent].qp)
        (head.qpn, _, head.lid, head.sl, head.bits, head.grh, head.index, head.hops, head.traffic,
         head.gid, head.flow) = struct.unpack_from(">IIH6B16sI", asked.raw, 20)
        if f.pkey:
            head.pkey = struct.unpack_from("=H", asked.raw, umad.HDR_OLD)[0]
        for port in self.pair:
            if port.lid == head.lid and f.port.ib or head.grh and head.gid in port.gids:
                return head, port
        return head, None

    def wrong_answer(self, how, data, head):
        if how == "request":
            return method_as(data, data[3] & ~RESPONSE)
        if how == "class":
            return data[:1] + b"\x0b" + data[2:]
        if how == "version":
            return data[:2] + bytes([data[2] ^ 3]) + data[3:]
        if how == "method":
            return method_as(data, data[3] ^ 3)
        if how == "tid":
            return data[:12] + b"\1\2\3\4" + data[16:]
        if how == "upper":
            return data[:8] + b"\1\2\3\4" + data[12:]
        if how == "status":
            return data[:4] + b"\0\x1c" + data[6:]
        if how == "agent":
            head.id = self.r.choice((0, 1, 2))
        if how == "rmpp":
            return data[:24] + struct.pack(">BBBBII", *self.r.choice(RMPP_ODD)) + data[36:]
        return data

    # --- transfers of several MADs

    def transfer_of(self, data, size):
        """the same headers, before as much as the kernel sends by several MADs"""
        head = data[:24] + struct.pack(">BBBBII", *active_header()) + data[36:40]
        return (head + bytes(n * 7 & 255 for n in range(size)))[:max(size, 40)]

    def transfer(self, i):
        f = self.files[i]
        agent = self.agent_of(f, lambda a: a.rmpp == KERNEL_RMPP)
        to = self.r.choice(self.pair)
        cls = agent.cls if has_rmpp(agent.cls) else 0x30
        method = self.method_for(agent, to)
        mad = Mad(cls, agent.version or 1, GET_MULTI if self.one_in(6) else method,
                  self.next_tid(), agent.oui if cls in VENDOR2 else 0)
        mad.size, mad.rmpp = self.r.choice(SIZES), active_header()
        word = "transfer"
        if self.one_in(6):
            mad.rmpp, word = self.r.choice(RMPP_ACTIVE), "transfer/rmpp"
        data = mad.packed()
        if self.world.fate(to, 1, data)[0] == ANSWERED and not self.one_in(4):
            # What the cores answer differs, and what follows is not compared.
            data = method_as(data, SEND)
        fate = self.world.fate(to, 1, data)
        head = Head(agent.id, f.port, to, 1)
        ends = False
        if is_response(data):
            fate = UNKNOWN, None, None
        elif fate[0] == TAKEN and fate[2].rmpp == KERNEL_RMPP:
            head.timeout = self.r.choice((0, 0, ASKS, ASKS, PERHAPS))
            ends = head.timeout == PERHAPS
        elif fate[0] == TAKEN or fate[0] == NOWHERE:
            head.timeout, head.retries = EXPIRES, self.r.choice((0, 0, 1))
            ends = True
        else:
            fate = UNKNOWN, None, None
            head.timeout, ends = PERHAPS, True
        self.post(i, word, head, to, data, fate, None, ends)

    # --- subnet management

    def manage_node(self, i):
        f = self.files[i]
        agent = self.agent_of(f, lambda a: a.qp == 0)
        to = self.r.choice(self.pair)
        hops = self.r.randrange(4)
        path = None if hops == 3 else [[], [1], [1, to.behind]][hops]
        smp = Smp(GET, self.next_tid(), self.r.choice((NODE_DESC, NODE_INFO, SM_INFO)), path)
        target = to if hops > 1 else f.port
        head = Head(agent.id, f.port, to, 0)
        if path is not None:
            head.lid = 0xffff
        wrong, odd = None, ""
        if self.one_in(3):
            odd = "/" + self.spoiled(smp, SMP_ODD)
        elif self.one_in(4):
            wrong = self.spoiled(head, WRONG, ("grh",) if f.pkey else ("grh", "pkey"))
        data = smp.packed()
        fate = UNKNOWN, None, None
        if not odd and smp.attr != SM_INFO:
            fate = ANSWERED, None, None
        elif not odd and hops != 1:
            fate = self.world.fate(target, 0, data)
            if fate[0] == ANSWERED:
                fate = UNKNOWN, None, None
        # The other fields of the address do not decide where a directed route goes.
        fate = self.fate_with(fate, wrong, f.port) if path is None or wrong in HARMLESS[True] \
            else (UNKNOWN, None, None) if wrong else fate
        ends = self.wait(head, fate[0], wrong)
        self.post(i, "smp%s%s" % ("-lid" if path is None else "-%d" % len(path), odd), head, to,
                  data, fate, wrong, ends)

    # --- reading

    def again(self, i):
        """a request that is answered when it has come twice"""
        f = self.files[i]
        pairs = [(a, g, b) for a in f.agents.values() for g in self.files
                 for b in g.agents.values()
                 if a.cls == b.cls and a.qp == b.qp == 1 and b.asks]
        if not pairs:
            self.send(i)
            return
        agent, g, taker = self.r.choice(pairs)
        method = self.r.choice(taker.asks)
        data = Mad(taker.cls, taker.version, method, self.next_tid(), taker.oui).packed()
        if self.fate_of(agent, g.port, data)[1] is not g:
            self.send(i)
            return
        head = Head(agent.id, f.port, g.port, 1)
        head.timeout, head.retries = AGAIN, 3
        if not self.post(i, "again", head, g.port, data, (UNKNOWN, None, None)):
            return
        g.due += 2
        self.world.wait(lambda: g.came >= 2)
        if not g.asked or g.asked[-1].data[12:16] != data[12:16]:
            f.ends += 1
            return
        asked = g.asked.pop()
        head, to = self.way_back(g, asked)
        self.post(self.files.index(g), "answer-again", head, to or g.port,
                  method_as(asked.data, method | RESPONSE), (RESPONDED, f, agent))

    def short_read(self):
        """of a file that has something to be read, or will have"""
        some = [(i, f) for i, f in enumerate(self.files)
                if f.due + f.ends == 1 and not f.lines and not f.unsure]
        if not some:
            return
        i, f = self.r.choice(some)
        if not f.ready(LATE):
            return
        size = self.r.choice((0, 55, 63, 79, 80, 87, 88, 100, 311, 312, 319, 320, 400))
        buffer = bytearray(size)
        result, count = error(os.readv, f.fd, [buffer])
        print("%d short_read %d = %s%s" % (
            i, size, result, "" if count is None else " %d" % count), end="")
        if result == "ENOSPC" and size > f.head():
            print(" length %d mad %s" % (struct.unpack_from("=I", buffer, 16)[0],
                                         buffer[f.head():].hex()[:16]), end="")
        print()
        if result == "ok":
            f.due = f.ends = 0
