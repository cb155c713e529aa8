# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""coverage.py OBJECTS GCDA [LEAST FOLDER...]: line coverage from a run's gcov data.

Prints it a file and a folder.  Exits 1 when a FOLDER named has less than LEAST %.
"""
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile


def main():
    objects, gcda = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    lines = collections.defaultdict(dict)
    for data in glob.glob(gcda + '/**/*.gcda', recursive=True):
        rel = data.split('/build/uml/modules/', 1)[1]
        with tempfile.TemporaryDirectory() as tmp:
            base = os.path.basename(rel)[:-5]
            shutil.copy(data, tmp)
            note = os.path.join(objects, rel[:-5] + '.gcno')
            if not os.path.exists(note):
                continue
            shutil.copy(note, tmp)
            out = subprocess.run(['gcov', '--json-format', '--stdout', base + '.gcda'],
                                 cwd=tmp, capture_output=True, text=True).stdout
        for doc in filter(None, out.splitlines()):
            for f in json.loads(doc)['files']:
                name = f['file'].split('/build/uml/modules/')[-1]
                if name.startswith('/') or name.startswith('include') or '/' not in name:
                    continue
                for l in f['lines']:
                    seen = lines[name]
                    seen[l['line_number']] = seen.get(l['line_number'], 0) + l['count']
    folders = collections.defaultdict(lambda: [0, 0])
    for name, seen in sorted(lines.items()):
        hit = sum(1 for c in seen.values() if c)
        folder = folders[name.rsplit('/', 1)[0]]
        folder[0] += hit
        folder[1] += len(seen)
        print('  %-32s %5d of %5d lines' % (name, hit, len(seen)))
    for folder, (hit, total) in sorted(folders.items()):
        print('coverage %-12s %5.1f %% of %d lines' % (folder, 100.0 * hit / total, total))
    low = 0
    for folder in sys.argv[4:]:
        hit, total = folders[folder]
        if not total or 100.0 * hit / total < float(sys.argv[3]):
            print('coverage %s is below %s %%' % (folder, sys.argv[3]))
            low = 1
    return low


sys.exit(main())
