# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Writes cpio archives; the kernel unpacks several of them, one after the other."""


def entry(out, name, mode, data=b""):
    name = name.encode() + b"\0"
    out.write(b"070701" + b"".join(b"%08X" % v for v in (
        0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)))
    out.write(name + b"\0" * (-(110 + len(name)) % 4))
    out.write(data + b"\0" * (-len(data) % 4))


def write(out, files):
    """files: path in the guest -> (mode, bytes); folders are added automatically"""
    made = set()
    for path in sorted(files):
        parts = path.split("/")[:-1]
        for i in range(1, len(parts) + 1):
            folder = "/".join(parts[:i])
            if folder not in made:
                made.add(folder)
                entry(out, folder, 0o040755)
        mode, data = files[path]
        entry(out, path, 0o100000 | mode, data)
    entry(out, "TRAILER!!!", 0)
