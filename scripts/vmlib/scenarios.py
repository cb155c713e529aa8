# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Finds scenarios, and reads the comments at their head."""
import glob
import os
import re

from .common import TESTS, die, read


class Scenario:
    def __init__(self, name, path=None):
        self.name = name
        self.path = path or find(name)
        if not os.path.exists(self.path):
            die("no scenario", self.path)

    def lines(self, word):
        """the texts of its "# WORD: TEXT" lines"""
        text = read(self.path).decode()
        return re.findall(r"^# %s: *(.+)$" % word, text, re.M)

    def timeout(self):
        return int((self.lines("timeout") or [120])[0])

    def mem(self):
        """MiB that its machine needs at least"""
        return int((self.lines("mem") or [0])[0])

    def smp(self):
        """processors that it needs"""
        return int((self.lines("smp") or [2])[0])

    def debug(self):
        return "off" not in self.lines("debug")

    def allowed(self, mode):
        """expressions for bad lines in dmesg that the scenario provokes"""
        return self.lines("allow-dmesg") + \
            (self.lines("stock-fails-with") if mode == "stock" else [])


def find(name):
    found = glob.glob(os.path.join(TESTS, "scenarios", "*", name + ".sh"))
    if len(found) != 1:
        die("no scenario" if not found else "more than one scenario", name, "(vm list)")
    return found[0]


def seeded():
    """scenarios that must fail"""
    for path in sorted(glob.glob(os.path.join(TESTS, "seeded", "*.sh"))):
        yield Scenario("seeded-" + os.path.basename(path)[:-3], path)


def show():
    """print a line for each scenario, by folder"""
    for folder in sorted(glob.glob(os.path.join(TESTS, "scenarios", "*"))):
        print(os.path.basename(folder) + ":")
        for path in sorted(glob.glob(folder + "/*.sh")):
            name = os.path.basename(path)[:-3]
            print("  %-16s %s" % (name, " ".join(Scenario(name, path).lines("about"))))
    return 0
