# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""coverage.py OBJECTS GCDA [FOLDER=LEAST...]: line coverage from a run's gcov data.

Prints the coverage of each file and folder.  Exits 1 if a FOLDER has less than LEAST %,
or if an object in it has no data, since then its lines would not be counted.
"""
import collections
import glob
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile

OBJECTS, GCDA = (os.path.abspath(p) for p in sys.argv[1:3])


def read_data(data):
    """({source: {line: count}}, name of the object) of a .gcda file"""
    rel = data.split('/build/uml/modules/', 1)[1][:-5]
    note = os.path.join(OBJECTS, rel + '.gcno')
    if not os.path.exists(note):
        return {}, ''
    with tempfile.TemporaryDirectory() as tmp:
        base = os.path.basename(rel)
        shutil.copy(data, tmp)
        shutil.copy(note, tmp)
        out = subprocess.run(['gcov', '--json-format', '--stdout', base + '.gcda'],
                             cwd=tmp, capture_output=True, text=True).stdout
    lines = collections.defaultdict(collections.Counter)
    for doc in filter(None, out.splitlines()):
        for f in json.loads(doc)['files']:
            name = f['file'].split('/build/uml/modules/')[-1]
            if name.startswith('/') or name.startswith('include') or '/' not in name:
                continue
            for line in f['lines']:
                lines[name][line['line_number']] += line['count']
    return {name: dict(seen) for name, seen in lines.items()}, rel


def has_functions(note):
    """whether the object of a .gcno file has code, not only tables"""
    out = subprocess.run(['gcov', '--json-format', '--stdout', note],
                         capture_output=True, text=True).stdout
    return any(f['functions'] for doc in filter(None, out.splitlines())
               for f in json.loads(doc)['files'])


def main():
    floors = dict(word.split('=') for word in sys.argv[3:])
    lines = collections.defaultdict(collections.Counter)
    objects = set()
    with multiprocessing.Pool() as pool:
        for part, rel in pool.imap_unordered(
                read_data, glob.glob(GCDA + '/**/*.gcda', recursive=True), 16):
            objects.add(rel)
            for name, seen in part.items():
                for number, count in seen.items():
                    lines[name][number] += count
    folders = collections.defaultdict(lambda: [0, 0])
    for name, seen in sorted(lines.items()):
        hit = sum(1 for c in seen.values() if c)
        folder = folders[name.split('/', 1)[0]]
        folder[0] += hit
        folder[1] += len(seen)
        print('  %-32s %5d of %5d lines' % (name, hit, len(seen)))
    for folder, (hit, total) in sorted(folders.items()):
        print('coverage %-12s %5.1f %% of %d lines' % (folder, 100.0 * hit / total, total))
    low = 0
    for folder, least in floors.items():
        hit, total = folders[folder]
        if not total or 100.0 * hit / total < float(least):
            print('coverage %s is below %s %%' % (folder, least))
            low = 1
        for note in glob.glob('%s/%s/**/*.gcno' % (OBJECTS, folder), recursive=True):
            rel = os.path.relpath(note, OBJECTS)[:-5]
            if not os.path.exists(note[:-5] + '.c'):
                continue  # left over from a source that was moved
            if (rel not in objects and not rel.endswith('.mod') and
                    has_functions(note)):
                print('coverage: no data of %s' % rel)
                low = 1
    return low


if __name__ == '__main__':
    sys.exit(main())
