#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Files for the NFS and 9P scenarios: write DIR | sums DIR | churn DIR SECONDS

write makes some 200 files of 1 B to 8 MiB from random data and prints the
SHA-256 of each; sums reads the files of DIR and prints the same. churn keeps
writing and reading back until the time is over and prints the number of bytes;
on an I/O error it reports the error and exits with status 3.
"""
import hashlib
import mmap
import os
import sys
import time

# Sizes around the limits on the path: inline threshold, page, rsize, credits.
EDGES = (1, 2, 3, 4, 7, 8, 63, 64, 65, 511, 512, 513, 1000, 1023, 1024, 1025,
         2048, 3000, 4095, 4096, 4097, 8191, 8192, 8193, 16383, 16384, 16385,
         20000, 32767, 32768, 32769, 65535, 65536, 65537, 100000)
LARGE = (131072, 200000, 262143, 262144, 262145, 300001, 524288, 1000000,
         1048576, 1048577, 2000003, 8388608)
POOL = 12 << 20


def sizes():
    return EDGES * 4 + tuple(range(5000, 80000, 5000)) + LARGE


def write(where):
    pool = os.urandom(POOL)
    for number, size in enumerate(sizes()):
        start = number * 7919 % (POOL - size)
        data = memoryview(pool)[start:start + size]
        name = "%03d-%d" % (number, size)
        with open(os.path.join(where, name), "wb") as f:
            f.write(data)
        print(hashlib.sha256(data).hexdigest(), size, name)


def sums(where):
    for name in sorted(os.listdir(where)):
        with open(os.path.join(where, name), "rb") as f:
            data = f.read()
        print(hashlib.sha256(data).hexdigest(), len(data), name)


def churn(where, seconds):
    end = time.monotonic() + seconds
    moved = 0
    data = mmap.mmap(-1, 1 << 20)     # aligned, as O_DIRECT wants it
    data.write(os.urandom(1 << 20))
    path = os.path.join(where, "churn-%d" % os.getpid())
    try:
        while time.monotonic() < end:
            f = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT)
            try:
                moved += os.pwrite(f, data, 0)
                moved += os.preadv(f, [data], 0)
            finally:
                os.close(f)
    except OSError as e:
        print("churn:", moved, "bytes, then", e.strerror, flush=True)
        return 3
    print("churn:", moved, "bytes", flush=True)
    return 0


def main():
    if sys.argv[1] == "write":
        write(sys.argv[2])
    elif sys.argv[1] == "sums":
        sums(sys.argv[2])
    elif sys.argv[1] == "churn":
        return churn(sys.argv[2], float(sys.argv[3]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
