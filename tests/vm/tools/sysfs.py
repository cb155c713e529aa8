#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Prints what the RDMA core shows in sysfs, configfs, procfs and /dev, for scripts/vm-diff.

  sysfs.py dump STAGE    each file's type, permissions, owner and content; of directories with many
                         files the first and the last
  sysfs.py write STAGE   what writing valid and invalid values to those that can be written
                         gives, and what is read afterwards

Numbers that differ from run to run, such as counters, are printed as "number".
"""
import errno
import fnmatch
import os
import re
import stat
import sys

CLASSES = ("infiniband", "infiniband_verbs", "infiniband_mad", "infiniband_cm")
MODULES = ("ib_core", "ib_mad", "ib_cm", "iw_cm", "rdma_cm", "ib_uverbs", "ib_umad", "rdma_ucm")
PLACES = ("/sys/class/misc/rdma_cm", "/sys/kernel/config/rdma_cm", "/proc/sys/net/rdma_ucm",
          "/dev/infiniband")
MANY = 40           # more files in a directory are those of a table
SHOWN = 20          # of these
# Counters, and what depends on the order of modules or on the time
CHANGING = ("*/counters/*", "*/hw_counters/*", "*/power/*", "*/dev", "*/ifindex")
WRITES = {
    "node_desc": ("ibex", "", "x" * 63, "x" * 64, "x" * 65, "two words", "a\0b"),
    "default_roce_mode": ("IB/RoCE v1", "RoCE v1", "RoCE v2", "roce v2", "", "RoCE v3", "0",
                          "RoCE v2 "),
    "default_roce_tos": ("0", "255", "256", "-1", "abc", "", "0x20", "7 ", "32"),
    "max_backlog": ("1024", "0", "-1", "2147483648", "abc", "", "1 2"),
    "hw_counters/lifespan": ("10", "0", "10000", "10001", "-1", "abc", ""),
}


def quoted(data):
    return data.decode("latin-1").encode("unicode_escape").decode()


def error(e):
    return errno.errorcode.get(e.errno, "error %d" % e.errno)


def content(path):
    try:
        with open(path, "rb", buffering=0) as f:
            data = f.read(65536) or b""
    except OSError as e:
        return error(e)
    if any(fnmatch.fnmatchcase(path, p) for p in CHANGING) and not path.endswith("/lifespan"):
        data = re.sub(rb"\d+", b"number", data)
    if path.endswith("/uevent"):
        data = re.sub(rb"(?m)^(MAJOR|MINOR)=\d+", rb"\1=number", data)
    return "ok " + quoted(data)


def owned(st):
    return "%s %o %d:%d" % ({stat.S_IFDIR: "dir", stat.S_IFREG: "file", stat.S_IFLNK: "link",
                             stat.S_IFCHR: "char"}.get(stat.S_IFMT(st.st_mode), "other"),
                            stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid)


def say(stage, name, what, result):
    print("#%s %s\n%s %s = %s" % (stage, name, name, what, result))


def walk(stage, name, path):
    """@name is printed; they differ for what is behind the link of a class"""
    st = os.lstat(path)
    kind = stat.S_IFMT(st.st_mode)
    if kind == stat.S_IFLNK:
        say(stage, name, owned(st), "ok " + os.readlink(path))
    elif kind == stat.S_IFREG:
        say(stage, name, owned(st), content(path))
    elif kind == stat.S_IFDIR:
        inside = sorted(os.listdir(path), key=lambda n: (len(n), n))
        many = len(inside) > MANY
        say(stage, name, owned(st), "ok" + (" %d files" % len(inside) if many else ""))
        for n in inside[:SHOWN] + inside[-1:] if many else inside:
            walk(stage, name + "/" + n, path + "/" + n)
    else:
        say(stage, name, owned(st), "ok")


def places():
    """(name, path) of all that is shown"""
    for c in CLASSES:
        top = "/sys/class/" + c
        if not os.path.isdir(top):
            continue
        for n in sorted(os.listdir(top)):
            path = top + "/" + n
            yield path, os.path.realpath(path) if os.path.islink(path) else path
    for m in MODULES:
        path = "/sys/module/%s/parameters" % m
        if os.path.isdir(path):
            yield path, path
    for path in PLACES:
        if os.path.exists(path):
            yield path, os.path.realpath(path)


def dump(stage):
    for name, path in places():
        walk(stage, name, path)


def write(path, value):
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as e:
        return error(e)
    try:
        return "ok %d" % os.write(fd, value.encode())
    except OSError as e:
        return error(e)
    finally:
        os.close(fd)


def writable():
    for _, top in places():
        for path, _, files in os.walk(top):
            for f in sorted(files):
                full = os.path.join(path, f)
                for ends, values in WRITES.items():
                    if full.endswith("/" + ends):
                        yield full, values


def make(stage, path, how):
    try:
        how(path)
        result = "ok"
    except OSError as e:
        result = error(e)
    say(stage, "%s %s" % (how.__name__, path), "", result)


def writes(stage):
    cma = "/sys/kernel/config/rdma_cm"
    if os.path.isdir(cma):
        for name in sorted(os.listdir("/sys/class/infiniband")) + ["nobody", "x" * 70]:
            make(stage, cma + "/" + name, os.mkdir)
        make(stage, cma + "/rxe_a/more", os.mkdir)
        make(stage, cma + "/rxe_a/ports/1", os.rmdir)
        dump(stage + "-configured")
    for path, values in sorted(set(writable())):
        before = content(path)[3:].encode().decode("unicode_escape")
        for value in values:
            write(path, before)
            wrote = write(path, value)
            say(stage, "write %s %s" % (path, quoted(value.encode()[:70])), "",
                "%s then %s" % (wrote, content(path)))
        write(path, before)
    if os.path.isdir(cma):
        for name in sorted(os.listdir(cma)):
            make(stage, cma + "/" + name, os.rmdir)


def main():
    {"dump": dump, "write": writes}[sys.argv[1]](sys.argv[2])


if __name__ == "__main__":
    main()
