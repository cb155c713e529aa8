# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Settings of faults."""
import unittest

from vib import faults


class Settings(unittest.TestCase):
    """words on the command line, and numbers of the driver"""

    def test_values(self):
        for text, setting in (
                ("drop=1%", ("drop", 10000)), ("drop=100%", ("drop", 1000000)),
                ("dup=0.1%", ("dup", 1000)), ("corrupt=0.01%", ("corrupt", 100)),
                ("corrupt=0.0001%", ("corrupt", 1)), ("drop=5ppm", ("drop", 5)),
                ("drop=0", ("drop", 0)), ("drop=0%", ("drop", 0)),
                ("delay=5ms", ("delay", 5000)), ("delay=0.5ms", ("delay", 500)),
                ("delay=7us", ("delay", 7)), ("delay=10s", ("delay", 10000000)),
                ("delay=0", ("delay", 0)), ("seed=42", ("seed", 42)),
                ("match=RTU", ("match", 0x070014)), ("match=REQ", ("match", 0x070010)),
                ("match=APR", ("match", 0x07001a)), ("match=0x3", ("match", 0x030000)),
                ("match=0x81:0x15", ("match", 0x810015)), ("match=all", ("match", 0))):
            with self.subTest(text):
                self.assertEqual(faults.parse([text]), [setting])

    def test_refused(self):
        for text in ("drop", "drop=", "drop=1", "drop=-1%", "drop=1 %", "drop=101%",
                     "drop=1000001ppm", "drop=0.00001%", "drop=0.5ppm", "drop=1ms", "drop=x",
                     "delay=5", "delay=11s", "delay=0.5us", "delay=1%", "seed=-1", "seed=x",
                     "seed=%d" % 2 ** 64, "loss=1%", "=1%", "", "clean", "match=", "match",
                     "match=rtu", "match=7", "match=0x0", "match=0x0:0x14", "match=0x100",
                     "match=0x7:", "match=0x7:0x10000", "match=0x7:0x14:1"):
            with self.subTest(text):
                self.assertRaises(faults.BadFault, faults.parse, [text])

    def test_the_seed_comes_last(self):
        self.assertEqual(faults.parse(["seed=1", "drop=1%", "delay=1us"]),
                         [("drop", 10000), ("delay", 1), ("seed", 1)])

    def test_the_match_comes_first(self):
        self.assertEqual(faults.parse(["seed=1", "drop=1%", "match=RTU", "dup=1%"]),
                         [("match", 0x070014), ("drop", 10000), ("dup", 10000), ("seed", 1)])

    def test_twice(self):
        self.assertRaises(faults.BadFault, faults.parse, ["drop=1%", "drop=2%"])
        self.assertRaises(faults.BadFault, faults.parse, ["clear", "drop=2%"])

    def test_clear(self):
        self.assertEqual(faults.parse(["clear"]),
                         [("drop", 0), ("dup", 0), ("corrupt", 0), ("delay", 0),
                          ("match", 0)])

    def test_text_is_what_would_set_it(self):
        for rate in (0, 1, 100, 1000, 10000, 12345, 1000000):
            self.assertEqual(faults.parse(["drop=" + faults.rate_text(rate)]),
                             [("drop", rate)])
        for delay in (0, 1, 999, 5000, 1500, 2000000, 2500000):
            self.assertEqual(faults.parse(["delay=" + faults.delay_text(delay)]),
                             [("delay", delay)])
        for match in (0, 0x070010, 0x070014, 0x07001a, 0x070000, 0x07001b, 0x030038):
            self.assertEqual(faults.parse(["match=" + faults.match_text(match)]),
                             [("match", match)])
        self.assertEqual(faults.match_text(0x070014), "RTU")
        self.assertEqual(faults.rate_text(100), "0.01%")
        self.assertEqual(faults.delay_text(2500000), "2500ms")


if __name__ == "__main__":
    unittest.main()
