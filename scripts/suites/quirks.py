# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""quirks.py FILE [NAME,...]: prints the rows of the fake adapter's quirks.c, with a line for
each set of quirks: the name of a provider that has it, then those of other providers that
have the same.  With NAMEs other than *, prints only the sets of these providers."""
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
    wanted = sys.argv[2] if len(sys.argv) > 2 else '*'
    if wanted != '*':
        known = {name: names for names in sets.values() for name in names}
        unknown = [name for name in wanted.split(',') if name not in known]
        if unknown:
            sys.exit('quirks: no row of %s' % ' '.join(unknown))
        sets = {name: known[name] for name in wanted.split(',')}
    for names in sets.values():
        print(*names)
    return 0 if sets else 1


sys.exit(main())
