#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Writes the state machine of cm/ibcm/state.c as Promela.

usage: table.py [--cell STATE EVENT CELL]... CM_STATE_C CM_H

CELL, one of the table's macros with its arguments, takes the place of the cell
of EVENT in STATE: a seeded mistake.  "none" removes the cell.

The C preprocessor expands the table's own macros, so the one definition of what
a cell means is that of the code.  Everything between the braces must be
understood: what is not is an error, never a cell that is missing.
"""
import re
import subprocess
import sys

TABLE = "ibcm_steps[IBCM_STATES][IBCM_EVENTS] = {"
# "[STATE] = {", "[EVENT] = { fields }," and the end of a row
ROW = re.compile(r"\s*\[(IB_CM_\w+)\]\s*=\s*\{")
CELL = re.compile(r"\s*\[(IBCM_\w+)\]\s*=\s*\{([^{}]*)\}\s*,")
ROW_END = re.compile(r"\s*\}\s*,")
FIELD = re.compile(r"\s*\.(\w+)\s*=\s*([\w\s|()]+?)\s*(?:,|$)")


class Error(Exception):
    pass


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def enum_of(header, name):
    """The constants of an enum: values given as BIT(n), or counted."""
    found = re.search(r"enum %s\s*\{(.*?)\}" % name, header, re.S)
    if not found:
        raise Error("no enum %s" % name)
    values = {}
    for item in filter(None, (i.strip() for i in found.group(1).split(","))):
        m = re.fullmatch(r"(\w+)(?:\s*=\s*BIT\((\d+)\))?", item)
        if not m:
            raise Error("enum %s: %r" % (name, item))
        values[m.group(1)] = 1 << int(m.group(2)) if m.group(2) else len(values)
    return values


def source_of(text):
    """The table's macros, and what is between its braces."""
    start = text.find(TABLE)
    if start < 0:
        raise Error("no table: %s" % TABLE)
    start += len(TABLE)
    end = text.find("\n};", start)
    if end < 0:
        raise Error("the table does not end")
    macros = re.findall(r"^#define (?:.*\\\n)*.*\n", text[:start], re.M)
    return "".join(macros), text[start:end]


def seed(body, state, event, cell):
    """@body with another cell; it must be there, so that no seed goes stale."""
    row = re.search(r"\[%s\] = \{.*?\n\t\}," % state, body, re.S)
    old = row and re.search(r"\[%s\]\s*=\s*[^\[]*?,(?=\s*(?:\[|/\*|\}))" % event,
                            row.group(0), re.S)
    if not old:
        raise Error("no cell %s in %s to be changed" % (event, state))
    new = "" if cell == "none" else "[%s] = %s," % (event, cell)
    return (body[:row.start() + old.start()] + new +
            body[row.start() + old.end():])


def expand(macros, body):
    run = subprocess.run(["cc", "-E", "-P", "-x", "c", "-"],
                         input=macros + body, stdout=subprocess.PIPE,
                         check=True, universal_newlines=True)
    return run.stdout


def fields_of(where, text):
    fields = {}
    at = 0
    while at < len(text) and text[at:].strip():
        m = FIELD.match(text, at)
        if not m or m.group(1) in fields:
            raise Error("%s: %r" % (where, text[at:]))
        fields[m.group(1)] = [w.strip("() ") for w in m.group(2).split("|")]
        at = m.end()
    if set(fields) != {"next", "event", "flags", "reply"}:
        raise Error("%s: fields %s" % (where, sorted(fields)))
    return fields


def cells_of(text):
    """(state, event, fields) of each cell; all of @text is consumed."""
    cells, states = [], []
    at = 0
    while text[at:].strip():
        row = ROW.match(text, at)
        if not row or row.group(1) in states:
            raise Error("a row is expected: %r" % text[at:at + 60])
        state = row.group(1)
        states.append(state)
        at = row.end()
        events = set()
        while not ROW_END.match(text, at):
            cell = CELL.match(text, at)
            if not cell or cell.group(1) in events:
                raise Error("%s: a cell is expected: %r" %
                            (state, text[at:at + 60]))
            event = cell.group(1)
            events.add(event)
            cells.append((state, event, fields_of("%s %s" % (state, event),
                                                  cell.group(2))))
            at = cell.end()
        at = ROW_END.match(text, at).end()
    return cells, states


class Names:
    """Values of names; a name that nobody defines is an error."""
    def __init__(self, what, values):
        self.what = what
        self.values = values

    def of(self, words):
        value = 0
        for word in words:
            if word != "0" and word not in self.values:
                raise Error("%s: %r is not known" % (self.what, word))
            value |= 0 if word == "0" else self.values[word]
        return value


def promela(cells, states, told, events, flags, replies):
    yield "/* Made of cm/ibcm/state.c by tests/model/table.py. */"
    # The letters are those of cm.pml's printf, for scripts/model.
    for names, letter in ((states, "S"), (told, "T"), (events, "E"),
                          (flags, "F"), (replies, "R")):
        for name, value in names.values.items():
            yield "#define %s %d /* %s */" % (name, value, letter)
    size = len(states.values) * events.values["IBCM_EVENTS"]
    for field in ("next", "event", "flags", "reply"):
        yield "hidden byte ibcm_%s[%d];" % (field, size)
    # Filled once: Spin cannot initialise what is not part of the state.
    yield "inline ibcm_table_fill()\n{"
    for state, event, fields in cells:
        yield "\t/* %s %s */" % (state, event)
        at = "[%s * IBCM_EVENTS + %s]" % (state, event)
        events.of([event])
        for field, names in (("next", states), ("event", told),
                             ("flags", flags), ("reply", replies)):
            yield "\tibcm_%s%s = %d;" % (field, at, names.of(fields[field]))
    yield "}"


def main(args):
    seeds = []
    while args[:1] == ["--cell"] and len(args) > 4:
        seeds.append(args[1:4])
        args = args[4:]
    if len(args) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    with open(args[0], encoding="ascii") as f:
        text = without_comments(f.read())
    with open(args[1], encoding="ascii") as f:
        header = without_comments(f.read())

    macros, body = source_of(text)
    cells, rows = cells_of(expand(macros, body))
    events = Names("event", enum_of(header, "ibcm_event"))
    flags = Names("flag", enum_of(header, "ibcm_step_flags"))
    replies = Names("reply", enum_of(header, "ibcm_reply"))
    # In the order of their first appearance: the kernel's header has the values.
    states = Names("state", {name: n for n, name in enumerate(rows)})
    names = [f["event"][0] for _, _, f in cells]
    told = Names("event told", {name: n for n, name in
                                enumerate(dict.fromkeys(names))})
    if "IBCM_NO_EVENT" not in told.values:
        raise Error("IBCM_NO_EVENT is not used")
    for state, event, cell in seeds:
        body = seed(body, state, event, cell)
    if seeds:
        cells, _ = cells_of(expand(macros, body))
    print("\n".join(promela(cells, states, told, events, flags, replies)))


try:
    main(sys.argv[1:])
except Error as error:
    sys.exit("table.py: %s" % error)
