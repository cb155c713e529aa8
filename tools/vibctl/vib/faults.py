# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Faults of a link: drop=1% dup=0.1% corrupt=100ppm delay=5ms match=RTU seed=42."""
import decimal
import re

RATES = ("drop", "dup", "corrupt")
STRUCK = ("dropped", "duplicated", "corrupted")     # the driver's counts, in that order
ALL = 1000000               # the rate of each packet
MAX_DELAY = 10 * 1000000    # us
MAX_SEED = 2 ** 64 - 1

RATE_UNITS = {"%": 10000, "ppm": 1}
DELAY_UNITS = {"us": 1, "ms": 1000, "s": 1000000}
# What match= names: a class of MADs and the ID of an attribute, 0 for any.  Those with a name
# are the connection manager's.
CM_CLASS = 0x07
CM_ATTRS = {name: number for number, name in enumerate(
    ("REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"),
    0x10)}
MATCH = re.compile(r"0x([0-9a-f]{1,2})(?::0x([0-9a-f]{1,4}))?$", re.I)
NUMBER = re.compile(r"(\d+(?:\.\d+)?)([a-z%]*)$")


class BadFault(Exception):
    """a setting that is none"""


def quantity(text, units):
    """a number with a unit in the driver's own, if it is a whole number there; else None"""
    found = NUMBER.match(text)
    if not found:
        return None
    number, unit = found.groups()
    if not unit and decimal.Decimal(number) == 0:
        return 0
    if unit not in units:
        return None
    value = decimal.Decimal(number) * units[unit]
    return int(value) if value == int(value) else None


def parse_match(text):
    """the driver's number of some MADs; 0 for all packets; None"""
    if text == "all":
        return 0
    if text in CM_ATTRS:
        return CM_CLASS << 16 | CM_ATTRS[text]
    found = MATCH.match(text)
    if not found or not int(found.group(1), 16):
        return None
    return int(found.group(1), 16) << 16 | int(found.group(2) or "0", 16)


def parse_setting(text):
    """the attribute and the value that it is to get"""
    key, equals, value = text.partition("=")
    if key in RATES and equals:
        rate = quantity(value, RATE_UNITS)
        if rate is None or rate > ALL:
            raise BadFault("%s: expected %s=RATE, from 0 to 100%%, such as 1%%, 0.01%% or "
                           "5ppm" % (text, key))
        return key, rate
    if key == "delay" and equals:
        delay = quantity(value, DELAY_UNITS)
        if delay is None or delay > MAX_DELAY:
            raise BadFault("%s: expected delay=TIME, from 0 to 10s, such as 5ms or 200us"
                           % text)
        return key, delay
    if key == "match" and equals:
        match = parse_match(value)
        if match is None:
            raise BadFault("%s: expected match=NAME of a message of the connection manager, "
                           "such as RTU; match=CLASS[:ATTRIBUTE], such as 0x03:0x38; or "
                           "match=all" % text)
        return key, match
    if key == "seed" and equals:
        if not value.isdecimal() or int(value) > MAX_SEED:
            raise BadFault("%s: expected seed=NUMBER of 64 bits" % text)
        return key, int(value)
    raise BadFault("%s: expected drop=, dup=, corrupt=, delay=, match= or seed=" % text)


def parse(texts):
    """settings as a list of (attribute, value); clear is all of them 0, but for the seed"""
    if texts == ["clear"]:
        return [(key, 0) for key in RATES + ("delay", "match")]
    settings = [parse_setting(text) for text in texts]
    keys = [key for key, _ in settings]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise BadFault("%s: set twice" % twice[0])
    # What rates are for comes before them: they never strike anything else.  A new seed counts
    # packets from when the rates are those that go with it.
    return sorted(settings, key=lambda setting: (setting[0] == "seed") - (setting[0] == "match"))


def decimal_text(number, unit):
    """1.5 for 15000 of 10000"""
    whole, rest = divmod(number, unit)
    if not rest:
        return str(whole)
    return ("%d.%0*d" % (whole, len(str(unit)) - 1, rest)).rstrip("0")


def rate_text(rate):
    """the rate in percent"""
    return decimal_text(rate, RATE_UNITS["%"]) + "%"


def delay_text(delay):
    """the delay in its largest unit"""
    for unit in ("s", "ms"):
        if delay and not delay % DELAY_UNITS[unit]:
            return "%d%s" % (delay // DELAY_UNITS[unit], unit)
    return "%dus" % delay if delay else "0"


def match_text(match):
    """RTU for 0x070014"""
    for name, attr in CM_ATTRS.items():
        if match == CM_CLASS << 16 | attr:
            return name
    if not match:
        return "all"
    attr = match & 0xffff
    return "0x%02x" % (match >> 16) + (":0x%04x" % attr if attr else "")


class Faults:
    """The faults of a link in configfs."""

    def __init__(self, fabric, link):
        self.tree = fabric.tree
        self.where = (fabric.name, "links", link.name)

    def read(self, attr):
        """a number in an attribute of the link"""
        return int(self.tree.read(*self.where, attr), 0)

    def apply(self, settings):
        """write what parse() made"""
        for attr, value in settings:
            self.tree.write(value, *self.where, attr)

    def brief(self):
        """those that are set, in a line; empty if none is"""
        rates = ((key, self.read(key)) for key in RATES)
        texts = ["%s=%s" % (key, rate_text(rate)) for key, rate in rates if rate]
        match, delay = self.read("match"), self.read("delay")
        texts += ["match=" + match_text(match)] * bool(texts and match)
        return " ".join(texts + ["delay=" + delay_text(delay)] * bool(delay))

    def full(self):
        """all of them, with what they have struck, a line each"""
        lines = ["%s=%s (%d packets)" % (key, rate_text(self.read(key)), self.read(struck))
                 for key, struck in zip(RATES, STRUCK)]
        return lines + ["match=" + match_text(self.read("match")),
                        "delay=" + delay_text(self.read("delay")),
                        "seed=%d" % self.read("seed")]
