#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Writes to a block device and reads back, past all caches, until it is told to stop.

  blocks.py DEVICE STOP COUNT [PAUSE]    until the file STOP exists; in COUNT blocks of 64 KiB,
                                         with PAUSE seconds between the rounds

Each block has its number and that of the round in it. Prints the rounds that have ended. An error
of the device, or a block that is not what was written last, ends it with status 1.
"""
import mmap
import os
import struct
import sys
import time

SIZE = 65536


def fill(block, number, turn):
    block[:] = struct.pack("=QQ", number, turn) * (SIZE // 16)


def one_round(fd, block, expected, count, turn):
    """what is wrong, or nothing"""
    for number in range(count):
        fill(block, number, turn)
        if os.pwritev(fd, [block], number * SIZE) != SIZE:
            return "a short write of block %d" % number
    for number in range(count):
        fill(expected, number, turn)
        if os.preadv(fd, [block], number * SIZE) != SIZE:
            return "a short read of block %d" % number
        if block[:] != expected[:]:
            found = struct.unpack("=QQ", block[:16])
            return "block %d of round %d begins with %d, %d" % (number, turn, *found)
    return ""


def main(device, stop, count, pause="0"):
    fd = os.open(device, os.O_RDWR | os.O_DIRECT)
    block, expected = mmap.mmap(-1, SIZE), bytearray(SIZE)
    turn = 0
    while turn == 0 or not os.path.exists(stop):
        turn += 1
        wrong = one_round(fd, block, expected, int(count), turn)
        if wrong:
            print(wrong, flush=True)
            return 1
        print(turn, flush=True)
        time.sleep(float(pause))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except OSError as error:
        print(error, flush=True)
        sys.exit(1)
