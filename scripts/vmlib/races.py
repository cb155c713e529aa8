# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Reports of KCSAN in the kernel's log: whose they are."""
import re

TITLE = re.compile(r"BUG: KCSAN: (.*)")
ACCESS = re.compile(r"(read|write)\b.* to 0x")
FRAME = re.compile(r"\] +([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(\w+)\])?")
RULER = re.compile(r"\] ={60}")


def _accessors(lines):
    """the modules whose code made the accesses of a report: the first frame of each stack"""
    found, begins = set(), False
    for line in lines:
        if ACCESS.search(line):
            begins = True
        frame = FRAME.search(line)
        if begins and frame:
            found.add(frame[2])
            begins = False
    return found


def split(text, theirs):
    """
    The log without the reports of races whose accesses are both in one of the modules
    theirs, and the titles of these.  A report in which no module is named stays.
    """
    kept, others, report = [], [], None
    for line in text.splitlines():
        if TITLE.search(line):
            report = [line]
        elif report is not None:
            report.append(line)
        else:
            kept.append(line)
        if report is not None and RULER.search(line):
            modules = _accessors(report)
            if modules and modules <= theirs:
                others.append("%s [%s]" % (TITLE.search(report[0])[1],
                                           " ".join(sorted(modules))))
            else:
                kept += report
            report = None
    return "\n".join(kept + (report or [])), others
