#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""SMC's settings and sockets, by netlink.

  smc.py eid NAME                   adds a user-defined EID, which version 2 of SMC-R needs
  smc.py pnet NAME NETDEV DEVICE    puts a netdev and port 1 of an RDMA device into a network
  smc.py flush                      removes all of these
  smc.py sockets                    prints a line for each socket: its state, and smcr, tcp or smcd
"""
import os
import socket
import struct
import sys

NETLINK_SOCK_DIAG, NETLINK_GENERIC = 4, 16
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
PNETID_NAME, PNETID_ETHNAME, PNETID_IBNAME, PNETID_IBPORT = 1, 2, 3, 4
PNETID_ADD, PNETID_FLUSH = 2, 4
EID_TABLE_ENTRY = 1
ADD_UEID, FLUSH_UEID = 10, 12
AF_SMC = 43
SOCK_DIAG_BY_FAMILY = 20
DIAG_FALLBACK = 5
STATES = {1: "active", 2: "init", 7: "closed", 10: "listen"}
MODES = ("smcr", "tcp", "smcd")


def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def name(text):
    return text.encode() + b"\0"


def attrs(data):
    """kind -> payload"""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


def ask(protocol, kind, flags, payload):
    """the payloads of the answers; an error is an OSError"""
    found = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as sock:
        sock.settimeout(10)
        sock.send(struct.pack("=IHHII", 16 + len(payload), kind, NLM_F_REQUEST | flags, 1, 0)
                  + payload)
        while True:
            data = sock.recv(65536)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                body, data = data[16:length], data[(length + 3) & ~3:]
                if kind == NLMSG_DONE:
                    return found
                if kind == NLMSG_ERROR:
                    error = -struct.unpack_from("=i", body)[0]
                    if error:
                        raise OSError(error, os.strerror(error))
                    return found
                found.append(body)


def family(text):
    body = ask(NETLINK_GENERIC, GENL_ID_CTRL, NLM_F_ACK,
               struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0)
               + attr(CTRL_ATTR_FAMILY_NAME, name(text)))[0]
    return struct.unpack("=H", attrs(body[4:])[CTRL_ATTR_FAMILY_ID])[0]


def command(text, number, payload=b""):
    ask(NETLINK_GENERIC, family(text), NLM_F_ACK, struct.pack("=BBH", number, 1, 0) + payload)


def eid(text):
    command("SMC_GEN_NETLINK", ADD_UEID, attr(EID_TABLE_ENTRY, name(text.ljust(32))))


def pnet(text, netdev, device):
    command("SMC_PNETID", PNETID_ADD, attr(PNETID_NAME, name(text))
            + attr(PNETID_ETHNAME, name(netdev)))
    command("SMC_PNETID", PNETID_ADD, attr(PNETID_NAME, name(text))
            + attr(PNETID_IBNAME, name(device)) + attr(PNETID_IBPORT, b"\1"))


def flush():
    command("SMC_PNETID", PNETID_FLUSH)
    command("SMC_GEN_NETLINK", FLUSH_UEID)


def sockets():
    question = struct.pack("=B2xB48x", AF_SMC, 1 << (DIAG_FALLBACK - 1))
    for body in ask(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, question):
        _, state, mode = struct.unpack_from("=BBB", body)
        why = attrs(body[64:]).get(DIAG_FALLBACK)
        print(STATES.get(state, state), MODES[mode],
              *(["%#x %#x" % struct.unpack("=II", why[:8])] if why and mode == 1 else []))


def main(what, *words):
    {"eid": eid, "pnet": pnet, "flush": flush, "sockets": sockets}[what](*words)


if __name__ == "__main__":
    main(*sys.argv[1:])
