# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""ktap.py CONSOLE...: counts KUnit cases of console logs and looks for kernel trouble."""
import collections
import re
import sys

TROUBLE = re.compile(r'(BUG: |WARNING: |KASAN: |UBSAN: |Oops|Kernel panic|'
                     r'possible recursive locking|possible circular locking|'
                     r'INFO: task .* blocked|refcount_t: |DEBUG_LOCKS_WARN|'
                     r'unreferenced object|ODEBUG: |list_(add|del) corruption|'
                     r'insmod .* failed|rmmod .* failed)')
CASE = re.compile(r'^ +(not )?ok \d+ (\S+)(.*)')


def read_log(path, count, trouble):
    ended = False
    # A parameterised case prints one line for each parameter, deeper, and one for
    # itself; the deepest lines are not told apart: every line counts once.
    for line in open(path, errors='replace'):
        line = re.sub(r'^\[ *[\d.]+\] ', '', line.rstrip())
        m = CASE.match(line)
        if m:
            skipped = not m.group(1) and '# SKIP' in m.group(3)
            count['failed' if m.group(1) else 'skipped' if skipped else 'passed'] += 1
        elif TROUBLE.search(line):
            trouble.append(line)
        ended = ended or line == '### end'
    if not ended:
        trouble.append('%s: the kernel did not come to its end' % path)


def main():
    count, trouble = collections.Counter(), []
    for path in sys.argv[1:]:
        read_log(path, count, trouble)
    for line in trouble[:40]:
        print('TROUBLE', line)
    print('kunit: %d passed, %d failed, %d skipped, %d lines of trouble' % (
        count['passed'], count['failed'], count['skipped'], len(trouble)))
    return 1 if count['failed'] or trouble or not count['passed'] else 0


sys.exit(main())
