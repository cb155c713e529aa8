# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Paths and functions that all parts of scripts/vm use."""
import hashlib
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VM = os.path.join(TOP, "build", "vm")
TESTS = os.path.join(TOP, "tests", "vm")
TOOLS = os.path.join(TOP, "tools")
BENCH = os.path.join(TOP, "tests", "bench")


def say(*words):
    print("vm:", *words, file=sys.stderr, flush=True)


def die(*words):
    say(*words)
    sys.exit(2)


def script(name, *words):
    """what a script of scripts/ prints, or None if it fails"""
    r = subprocess.run([os.path.join(TOP, "scripts", name), *words],
                       stdout=subprocess.PIPE, text=True)
    return None if r.returncode else r.stdout.strip()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def digest(paths, *extra):
    h = hashlib.sha256(repr(extra).encode())
    for path in sorted(paths):
        h.update(os.path.basename(path).encode())
        h.update(read(path))
    return h.hexdigest()[:16]


def build_id(path):
    """the GNU build id of an ELF file, as hex"""
    data = read(path)
    at = data.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    return data[at + 16:at + 36].hex() if at >= 0 else ""
