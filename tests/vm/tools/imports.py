#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Whether a test module calls every function of the RDMA core that a ULP calls.

  imports.py MODULE.ko [ULP.ko...]

Prints how many of the core's exports MODULE imports, and how many the stock kernel's ULPs do, with
those that are named; fails if one of theirs is not among its own.
"""
import glob
import os
import struct
import sys

TOP = "/lib/modules/" + os.uname().release
CORE = ("ib_core", "ib_mad", "ib_cm", "iw_cm", "rdma_cm", "ib_uverbs")
NOT_ULPS = ("/drivers/infiniband/core/", "/drivers/infiniband/hw/", "/drivers/infiniband/sw/")
SYMTAB = 2


def undefined(path):
    """the symbols that an ELF file of 64 bits imports"""
    with open(path, "rb") as f:
        data = f.read()
    start, size, count = struct.unpack_from("<Q10xHH", data, 0x28)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    names = set()
    for s in sections:
        if s[1] != SYMTAB:
            continue
        strings = sections[s[6]][4]
        for at in range(s[4], s[4] + s[5], 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            if name and not section:
                end = data.index(b"\0", strings + name)
                names.add(data[strings + name:end].decode())
    return names


def exports():
    names = set()
    with open(TOP + "/modules.symbols") as f:
        for line in f:
            words = line.split()
            if words[0] == "alias" and words[2] in CORE:
                names.add(words[1].partition(":")[2])
    return names


def main():
    core = exports()
    own = undefined(sys.argv[1]) & core
    ulps = {}
    for path in glob.glob(TOP + "/kernel/**/*.ko", recursive=True) + sys.argv[2:]:
        if not any(part in path for part in NOT_ULPS):
            names = undefined(path) & core
            if names:
                ulps[os.path.basename(path)[:-3]] = names
    needed = set().union(*ulps.values())
    print("imports: %d of the core's %d exports; the %d ULPs import %d: %s" % (
        len(own), len(core), len(ulps), len(needed), " ".join(sorted(ulps))))
    missing = sorted(needed - own)
    if missing or len(ulps) < 10:
        sys.exit("imports: not called: %s" % " ".join(missing))


if __name__ == "__main__":
    main()
