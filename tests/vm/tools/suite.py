#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Run rdma-core's own Python suite: suite.py DEVICE [--times N] [PATTERN...]

Prints one line for each test, "test NAME ok|FAIL|skip", after a failure the end of
its traceback, and at the end the number of each. Every test runs in a process of its
own with a time bound, so a test that hangs or dies does not affect the others.
PATTERN: only tests with a matching name (shell wildcards). --times: run each test N
times, but start no further run after a minute.
"""
import argparse
import fnmatch
import os
import select
import signal
import sys
import time
import traceback
import unittest

SUITE = "/ibex/rdma-core/tests"
BOUND = 45          # seconds for a test; librdmacm's own waits are 15
REPEAT = 60         # seconds after which a test is not repeated

# Tests of hardware that no VM has: importing them takes long and is of no use.
HARDWARE = ("test_mlx5", "test_efa", "test_cuda")


def read(path):
    with open(path) as f:
        return f.read().strip()


def netdev(device, port, gid):
    """
    The netdev that goes with a GID: on Ethernet the GID's attributes name it; on InfiniBand
    it is IPoIB's, whose hardware address ends with the GID.  LookupError: there is none.
    """
    top = "/sys/class/infiniband/%s/ports/%d" % (device, port)
    try:
        return read("%s/gid_attrs/ndevs/%d" % (top, gid))
    except OSError:
        value = read("%s/gids/%d" % (top, gid)).replace(":", "")
    for name in os.listdir("/sys/class/net"):
        if read("/sys/class/net/%s/address" % name).replace(":", "").endswith(value):
            return name
    raise LookupError(value)


def load(device):
    """the suite's tests, for one device"""
    sys.argv = ["run_tests.py", "--dev", device]
    os.chdir(SUITE)
    sys.path[:1] = [os.path.dirname(SUITE), SUITE]
    for name in os.listdir(SUITE):
        if name.startswith(HARDWARE) and not name.endswith("base.py"):
            os.unlink(name)
    from args_parser import parser
    parser.parse_args()
    import tests
    from tests.base import RDMATestCase

    # The suite looks for a device's address under its parent device, but a software
    # device has none.
    def get_ip_mac(self, dev, port, idx):
        try:
            ip, mac = self.get_ip_mac_address(netdev(dev, port, idx))
        except LookupError:
            ip, mac = None, None
        self.args.append([dev, port, idx, ip, mac])
    RDMATestCase._get_ip_mac = get_ip_mac

    found = []

    def walk(suite):
        for item in suite:
            if isinstance(item, unittest.TestSuite):
                walk(item)
            else:
                found.append(item)
    for module in tests.__test_modules__:
        walk(unittest.TestLoader().loadTestsFromModule(module))
    return found


def short(test):
    return test.id().replace("tests.", "", 1)


def child(test, out):
    """run a test and write its verdict, as the first word, and an explanation"""
    result = unittest.TestResult()
    os.dup2(out, 1)
    os.dup2(out, 2)
    try:
        test.run(result)
        bad = result.failures + result.errors
        if bad:
            text = "FAIL " + bad[0][1].strip()
        elif result.skipped:
            text = "skip " + result.skipped[0][1]
        else:
            text = "ok"
    except BaseException:
        text = "FAIL " + traceback.format_exc().strip()
    sys.stdout.flush()
    os.write(out, b"\0" + text.encode(errors="replace"))
    os._exit(0)


def run(test):
    """the verdict of a test and its explanation"""
    r, w = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        os.close(r)
        os.setpgid(0, 0)
        child(test, w)
    os.close(w)
    end = time.monotonic() + BOUND
    data = b""
    verdict = "FAIL", "no answer within %d s" % BOUND
    while time.monotonic() < end:
        if not select.select([r], [], [], max(0, end - time.monotonic()))[0]:
            break
        got = os.read(r, 65536)
        if not got:
            break
        data += got
    said, _, text = data.rpartition(b"\0")
    # processes that a test starts are in its process group, and are killed with it
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    status = os.waitpid(pid, 0)[1]
    os.close(r)
    if b"\0" in data:
        word, _, why = text.decode(errors="replace").partition(" ")
        verdict = word, why
        if word == "FAIL" and said:
            verdict = word, why + "\n" + said.decode(errors="replace").strip()
    elif os.WIFSIGNALED(status) and time.monotonic() < end:
        verdict = "FAIL", "died of signal %d" % os.WTERMSIG(status)
    return verdict


def report(name, count, test):
    """run a test and print its line; returns the seconds it took"""
    start = time.monotonic()
    word, why = run(test)
    took = time.monotonic() - start
    count[word] += 1
    print("test %s %s %.1f s%s" % (name, word, took,
                                   " " + why if word == "skip" else ""), flush=True)
    if word == "FAIL":
        for line in why.splitlines()[-6:]:
            print("    " + line, flush=True)
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("device")
    parser.add_argument("patterns", nargs="*")
    args = parser.parse_intermixed_args()
    count = {"ok": 0, "FAIL": 0, "skip": 0}
    for test in load(args.device):
        name = short(test)
        if args.patterns and not any(fnmatch.fnmatch(name, p) for p in args.patterns):
            continue
        spent = 0
        for _ in range(args.times):
            if spent < REPEAT:
                spent += report(name, count, test)
    print("suite: %(ok)d ok, %(FAIL)d FAIL, %(skip)d skip" % count, flush=True)
    return 0 if sum(count.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
