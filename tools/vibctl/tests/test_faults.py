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
                ("delay=0", ("delay", 0)), ("seed=42", ("seed", 42))):
            with self.subTest(text):
                self.assertEqual(faults.parse([text]), [setting])

    def test_refused(self):
        for text in ("drop", "drop=", "drop=1", "drop=-1%", "drop=1 %", "drop=101%",
                     "drop=1000001ppm", "drop=0.00001%", "drop=0.5ppm", "drop=1ms", "drop=x",
                     "delay=5", "delay=11s", "delay=0.5us", "delay=1%", "seed=-1", "seed=x",
                     "seed=%d" % 2 ** 64, "loss=1%", "=1%", "", "clean"):
            with self.subTest(text):
                self.assertRaises(faults.BadFault, faults.parse, [text])

    def test_the_seed_comes_last(self):
        self.assertEqual(faults.parse(["seed=1", "drop=1%", "delay=1us"]),
                         [("drop", 10000), ("delay", 1), ("seed", 1)])

    def test_twice(self):
        self.assertRaises(faults.BadFault, faults.parse, ["drop=1%", "drop=2%"])
        self.assertRaises(faults.BadFault, faults.parse, ["clear", "drop=2%"])

    def test_clear(self):
        self.assertEqual(faults.parse(["clear"]),
                         [("drop", 0), ("dup", 0), ("corrupt", 0), ("delay", 0)])

    def test_text_is_what_would_set_it(self):
        for rate in (0, 1, 100, 1000, 10000, 12345, 1000000):
            self.assertEqual(faults.parse(["drop=" + faults.rate_text(rate)]),
                             [("drop", rate)])
        for delay in (0, 1, 999, 5000, 1500, 2000000, 2500000):
            self.assertEqual(faults.parse(["delay=" + faults.delay_text(delay)]),
                             [("delay", delay)])
        self.assertEqual(faults.rate_text(100), "0.01%")
        self.assertEqual(faults.delay_text(2500000), "2500ms")


if __name__ == "__main__":
    unittest.main()
