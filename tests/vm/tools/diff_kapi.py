#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Has the module ibex_kapi make random calls of the kernel's RDMA interface, and prints them.

  diff_kapi.py SEED < NUMBERS

A sequence of calls depends on SEED and its number only (scripts/vm-diff).
"""
import os
import sys
import threading

RUN = "/sys/kernel/debug/ibex_kapi/run"
BOUND = 60              # seconds that a sequence may take


def stopped(run, number):
    """a call does not return, and so this process cannot end by itself"""
    with open("/proc/%d/stack" % os.getpid()) as f:
        sys.stderr.write(f.read())
    os.write(1, os.pread(run, 1 << 20, 0))
    os.write(1, ("\nstopped since %s at %s\n" % (number, number)).encode())


def main():
    run = os.open(RUN, os.O_RDWR)
    for number in sys.stdin.read().split():
        watch = threading.Timer(BOUND, stopped, (run, number))
        watch.daemon = True
        watch.start()
        # which is known even if the kernel dies with all that was printed
        sys.stderr.write("at %s\n" % number)
        os.write(run, ("%s %s" % (sys.argv[1], number)).encode())
        watch.cancel()
        os.write(1, os.pread(run, 1 << 20, 0))


if __name__ == "__main__":
    main()
