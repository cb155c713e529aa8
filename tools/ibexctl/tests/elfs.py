# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Writes the files of modules, as far as ibexctl reads them."""
import struct


def note(build_id):
    """the note with a build id of 20 bytes"""
    return struct.pack("<III", 4, 20, 3) + b"GNU\0" + build_id.encode().ljust(20, b".")


def module(build_id="", exports=None, imports=None, info=None, btf=b""):
    """the bytes of a module's file"""
    strings, symbols, crcs = b"\0", b"\0" * 24, b""
    for name, crc in sorted((exports or {}).items()):
        symbols += struct.pack("<IBBHQQ", len(strings), 0, 0, 1, len(crcs), 0)
        strings += b"__crc_" + name.encode() + b"\0"
        crcs += struct.pack("<I", crc)
    versions = b"".join(struct.pack("<Q56s", crc, name.encode())
                        for name, crc in sorted((imports or {}).items()))
    modinfo = b"".join(b"%s=%s\0" % (k.encode(), v.encode()) for k, v in (info or {}).items())
    # name, bytes, link
    sections = [("__kcrctab", crcs, 0), (".symtab", symbols, 3), (".strtab", strings, 0),
                ("__versions", versions, 0), (".modinfo", modinfo, 0), (".BTF", btf, 0),
                (".note.gnu.build-id", note(build_id) if build_id else b"", 0)]
    names, body, table = b"\0", b"", struct.pack("<IIQQQQIIQQ", *[0] * 10)
    sections.append((".shstrtab", b"\0" + b"".join(
        n.encode() + b"\0" for n in [s[0] for s in sections] + [".shstrtab"]), 0))
    for name, data, link in sections:
        table += struct.pack("<IIQQQQIIQQ", len(names), 1, 0, 0, 64 + len(body), len(data),
                             link, 0, 0, 0)
        names += name.encode() + b"\0"
        body += data
    header = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
        len(sections) + 1, len(sections))
    return header + body + table
