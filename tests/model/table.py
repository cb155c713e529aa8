#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Writes the state machines of cm/ibcm/state.c as Promela: connection and alternate path.

usage: table.py [--cell STATE EVENT CELL]... CM_STATE_C CM_H

CELL, one of the tables' macros with its arguments, takes the place of the cell
of EVENT in STATE: a seeded mistake.  "none" removes the cell.

The C preprocessor expands the tables' own macros, so the one definition of what
a cell means is that of the code.  Everything between the braces must be
understood: what is not is an error, never a cell that is missing.
"""
import re
import subprocess
import sys

TABLE = "ibcm_steps[IBCM_STATES][IBCM_EVENTS] = {"
LAP_TABLE = "ibcm_lap_steps[IBCM_LAP_STATES][IBCM_LAP_EVENTS] = {"
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


def source_of(text, table):
    """The macros before a table, and what is between its braces."""
    start = text.find(table)
    if start < 0:
        raise Error("no table: %s" % table)
    start += len(table)
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


class Table:
    """One table: its cells, and the names of its states and events."""
    def __init__(self, text, header, table, prefix, enum):
        self.prefix = prefix
        self.macros, self.body = source_of(text, table)
        self.cells, rows = cells_of(expand(self.macros, self.body))
        # In the order of their first appearance: the kernel's header has the values.
        self.states = Names("state", {name: n for n, name in enumerate(rows)})
        self.events = Names("event", enum_of(header, enum))
        self.size = enum.upper() + "S"

    def told(self):
        return [f["event"][0] for _, _, f in self.cells]

    def seed(self, state, event, cell):
        self.body = seed(self.body, state, event, cell)
        self.cells, _ = cells_of(expand(self.macros, self.body))

    def arrays(self):
        for field in ("next", "event", "flags", "reply"):
            yield "hidden byte %s_%s[%d];" % (self.prefix, field, len(self.states.values) *
                                              self.events.values[self.size])

    def fill(self, told, flags, replies):
        for state, event, fields in self.cells:
            yield "\t/* %s %s */" % (state, event)
            at = "[%s * %s + %s]" % (state, self.size, event)
            self.events.of([event])
            for field, names in (("next", self.states), ("event", told),
                                 ("flags", flags), ("reply", replies)):
                yield "\t%s_%s%s = %d;" % (self.prefix, field, at,
                                           names.of(fields[field]))


def promela(tables, told, flags, replies):
    yield "/* Made of cm/ibcm/state.c by tests/model/table.py. */"
    # The letters are those of cm.pml's printf, for scripts/model.
    names = [(told, "T"), (flags, "F"), (replies, "R")]
    for table, letters in zip(tables, ("SE", "LK")):
        names += [(table.states, letters[0]), (table.events, letters[1])]
    for group, letter in names:
        for name, value in group.values.items():
            yield "#define %s %d /* %s */" % (name, value, letter)
    for table in tables:
        yield from table.arrays()
    # Filled once: Spin cannot initialise what is not part of the state.
    yield "inline ibcm_table_fill()\n{"
    for table in tables:
        yield from table.fill(told, flags, replies)
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

    tables = [Table(text, header, TABLE, "ibcm", "ibcm_event"),
              Table(text, header, LAP_TABLE, "ibcm_lap", "ibcm_lap_event")]
    flags = Names("flag", enum_of(header, "ibcm_step_flags"))
    replies = Names("reply", enum_of(header, "ibcm_reply"))
    names = [name for table in tables for name in table.told()]
    told = Names("event told", {name: n for n, name in
                                enumerate(dict.fromkeys(names))})
    if "IBCM_NO_EVENT" not in told.values:
        raise Error("IBCM_NO_EVENT is not used")
    for state, event, cell in seeds:
        tables[event in tables[1].events.values].seed(state, event, cell)
    print("\n".join(promela(tables, told, flags, replies)))


try:
    main(sys.argv[1:])
except Error as error:
    sys.exit("table.py: %s" % error)
