# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""quirks.py FILE: the rows of the fake adapter's quirks.c, a line for each set of
quirks: the name of a provider that has it, then those of others that have the same."""
import re
import sys

ROW = re.compile(r'\{([^{}]*\.provider\s*=\s*"([^"]+)"[^{}]*)\}')
FIELD = re.compile(r'\.(\w+)\s*=\s*([^,\s]+)')


def rows(text):
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    for body, name in ROW.findall(text):
        fields = dict(FIELD.findall(body))
        del fields['provider'], fields['driver']
        yield name, frozenset(fields.items())


def main():
    sets = {}
    for name, quirks in rows(open(sys.argv[1]).read()):
        sets.setdefault(quirks, []).append(name)
    for names in sets.values():
        print(*names)
    return 0 if sets else 1


sys.exit(main())
