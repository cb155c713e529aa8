# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Types of a kernel module, read from its BTF with bpftool."""
import json
import subprocess

AGGREGATES = ('STRUCT', 'UNION')


def dump(path, base=None):
    cmd = ['bpftool', '-j'] + (['-B', base] if base else []) + \
          ['btf', 'dump', 'file', path]
    return json.loads(subprocess.check_output(cmd))['types']


def has(path):
    sections = subprocess.check_output(['readelf', '-SW', path], text=True)
    return ' .BTF ' in sections


class Btf:
    """The BTF of one module on top of the kernel's own."""

    def __init__(self, base_types, module_types):
        self.types = {t['id']: t for t in base_types}
        self.types.update({t['id']: t for t in module_types})
        self.functions = {t['name']: t for t in module_types
                          if t['kind'] == 'FUNC'}
        self.own = {t['id'] for t in module_types}
        self.aggregates = {}
        for t in list(base_types) + list(module_types):
            if t['kind'] in AGGREGATES and t['name'] != '(anon)':
                self.aggregates[t['kind'].lower() + ' ' + t['name']] = t

    def prototype(self, name):
        """Declaration of a function without its parameter names, or None."""
        fn = self.functions.get(name)
        return self.declare(fn['type_id'], name) if fn else None

    def declare(self, type_id, inner=''):
        if type_id == 0:
            return 'void ' + inner
        t = self.types[type_id]
        kind = t['kind']
        if kind == 'PTR':
            target = self.types.get(t['type_id'])
            if target and target['kind'] == 'FUNC_PROTO':
                inner = '(*' + inner + ')'
            else:
                inner = '*' + inner
            return self.declare(t['type_id'], inner)
        if kind in ('CONST', 'VOLATILE', 'RESTRICT'):
            word = kind.lower()
            target = self.types.get(t['type_id'])
            if target and target['kind'] == 'PTR':
                return self.declare(t['type_id'], word + ' ' + inner)
            return word + ' ' + self.declare(t['type_id'], inner)
        if kind == 'ARRAY':
            return self.declare(t['type_id'], '%s[%d]' % (inner, t['nr_elems']))
        if kind == 'FUNC_PROTO':
            params = [self.declare(p['type_id']).strip()
                      if p['type_id'] or p['name'] != '(anon)' else '...'
                      for p in t['params']]
            return self.declare(t['ret_type_id'],
                                '%s(%s)' % (inner, ', '.join(params) or 'void'))
        if kind in ('TYPE_TAG', 'DECL_TAG'):
            return self.declare(t['type_id'], inner)
        if kind in AGGREGATES and t['name'] == '(anon)':
            return '{%s} %s' % ('; '.join(self.layout(t)), inner)
        word = {'FWD': t.get('fwd_kind', 'struct'), 'ENUM64': 'enum',
                'INT': '', 'TYPEDEF': '', 'FLOAT': ''}.get(kind, kind.lower())
        return ('%s %s %s' % (word, t['name'], inner)).strip()

    def reached(self, names, public):
        """
        The structs and unions that the prototypes of the named functions refer to,
        directly or through other types.  A module's private structs are not followed.
        """
        todo = [self.functions[n]['type_id'] for n in names if n in self.functions]
        seen, found = set(), set()
        while todo:
            type_id = todo.pop()
            if type_id in seen or type_id not in self.types:
                continue
            seen.add(type_id)
            t = self.types[type_id]
            if t['kind'] in AGGREGATES:
                name = t['kind'].lower() + ' ' + t['name']
                if type_id in self.own and t['name'] != '(anon)' and name not in public:
                    continue
                found.add(name)
            todo += [t[k] for k in ('type_id', 'ret_type_id') if k in t]
            todo += [p['type_id'] for p in t.get('params', []) + t.get('members', [])]
        return found

    def layout(self, t):
        """One line for the size of a struct and one for each of its members."""
        lines = ['%d bytes' % t['size']]
        for m in t['members']:
            lines.append('%s @%d%s' % (
                self.declare(m['type_id'], m['name']), m['bits_offset'],
                ':%d' % m['bitfield_size'] if m.get('bitfield_size') else ''))
        return lines
