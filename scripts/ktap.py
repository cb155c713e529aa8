# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""ktap.py CONSOLE: counts KUnit cases of a console log and looks for kernel trouble."""
import re
import sys

TROUBLE = re.compile(r'(BUG: |WARNING: |KASAN: |UBSAN: |Oops|Kernel panic|'
                     r'possible recursive locking|possible circular locking|'
                     r'INFO: task .* blocked|refcount_t: |DEBUG_LOCKS_WARN|'
                     r'unreferenced object|ODEBUG: |list_(add|del) corruption|'
                     r'insmod .* failed|rmmod .* failed)')
CASE = re.compile(r'^ +(not )?ok \d+ (\S+)(.*)')


def main():
    passed, failed, skipped, trouble, ended = 0, 0, 0, [], False
    # A parameterised case prints one line for each parameter, deeper, and one for
    # itself; the deepest lines are not told apart: every line counts once.
    for line in open(sys.argv[1], errors='replace'):
        line = re.sub(r'^\[ *[\d.]+\] ', '', line.rstrip())
        m = CASE.match(line)
        if m:
            if m.group(1):
                failed += 1
            elif '# SKIP' in m.group(3):
                skipped += 1
            else:
                passed += 1
        elif TROUBLE.search(line):
            trouble.append(line)
        ended = ended or line == '### end'
    for line in trouble[:40]:
        print('TROUBLE', line)
    if not ended:
        print('TROUBLE the kernel did not come to its end')
        trouble.append('end')
    print('kunit: %d passed, %d failed, %d skipped, %d lines of trouble' %
          (passed, failed, skipped, len(trouble)))
    return 1 if failed or trouble or not passed else 0


sys.exit(main())
