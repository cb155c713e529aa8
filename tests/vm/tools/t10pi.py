#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""T10 protection information of a LIO file, and of a disk whose errors it causes.

  t10pi.py check FILE BLOCK TYPE COUNT  the first COUNT blocks, of BLOCK bytes, of FILE have right
                                        tuples in FILE.protection: guards, and reference tags if
                                        TYPE is 1
  t10pi.py reset FILE COUNT             their tuples are as those of blocks never written
  t10pi.py spoil FILE NUMBER            changes the guard of block NUMBER
  t10pi.py copy FILE BLOCK FROM TO      block TO gets the data and the tuple of block FROM
  t10pi.py read DISK BLOCK NUMBER COUNT reads as many blocks, past all caches; prints "fine" or the
                                        name of the error
"""
import errno
import mmap
import os
import struct
import sys

TUPLE = 8


def table():
    """CRC-16 with T10's polynomial, by the upper byte"""
    entries = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8bb7 if crc & 0x8000 else crc << 1) & 0xffff
        entries.append(crc)
    return entries


def guard_of(data, entries):
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xffff) ^ entries[crc >> 8 ^ byte]
    return crc


def read_at(path, offset, count):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(count)


def write_at(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def check(path, block, kind, count):
    entries = table()
    for number in range(count):
        data = read_at(path, number * block, block)
        tuples = read_at(path + ".protection", number * TUPLE, TUPLE)
        guard, app, ref = struct.unpack(">HHI", tuples)
        right = guard_of(data, entries)
        if guard != right:
            return "block %d: guard %#x is not %#x" % (number, guard, right)
        if app == 0xffff or kind == 1 and ref != number:
            return "block %d: tags %#x, %#x" % (number, app, ref)
    return ""


def reset(path, count):
    write_at(path + ".protection", 0, b"\xff" * TUPLE * count)
    return ""


def spoil(path, number):
    guard = read_at(path + ".protection", number * TUPLE, 1)[0]
    write_at(path + ".protection", number * TUPLE, bytes([guard ^ 0x55]))
    return ""


def copy(path, block, source, target):
    write_at(path, target * block, read_at(path, source * block, block))
    path += ".protection"
    write_at(path, target * TUPLE, read_at(path, source * TUPLE, TUPLE))
    return ""


def read(path, block, number, count):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        if os.preadv(fd, [mmap.mmap(-1, block * count)], number * block) != block * count:
            return "a short read"
        print("fine")
    except OSError as error:
        print(errno.errorcode[error.errno])
    return ""


def main(what, path, *numbers):
    calls = {"check": check, "reset": reset, "spoil": spoil, "copy": copy, "read": read}
    wrong = calls[what](path, *map(int, numbers))
    if wrong:
        print(wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
