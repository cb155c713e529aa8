# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""ktap.py [--modules] TESTS | ktap.py [--some] [--provider NAME] TESTS CONSOLE...

Counts the KUnit cases in console logs and looks for reports of the kernel.  TESTS is the
folder with the suites' sources, Kbuild, and the list of cases that may be skipped.  A
CONSOLE is RUN/MODULE/console, from the machine that ran MODULE's suites, or
RUN/MODULE:GLOB/console, if it ran only the suites that GLOB matches.  A run fails

- if a case fails, or is skipped but not listed in TESTS/skips,
- if a suite has fewer results than its plan (1..N) announces,
- without --some, if a case of the sources has no result: this finds sources that are not
  compiled, suites that no module registers, and a GLOB that matches nothing,
- if one of the kernel's own checkers reports anything.

--modules prints the modules of suites that TESTS/Kbuild builds.
"""
import argparse
import collections
import fnmatch
import glob
import os
import re
import sys

TROUBLE = re.compile(r'(\bBUG\b|WARNING: |KASAN: |UBSAN: |Oops|Kernel panic|'
                     r'possible recursive locking|possible circular locking|'
                     r'INFO: task .* blocked|INFO: rcu|refcount_t: |DEBUG_LOCKS_WARN|'
                     r'unreferenced object|ODEBUG: |list_(add|del) corruption|'
                     r'unregister_netdevice: waiting|Objects remaining|^### .* failed)')
RESULT = re.compile(r'^( *)(not )?ok \d+ (\S+)(.*)')
FAILURE = re.compile(r'^ +# \w+: ((?:EXPECTATION|ASSERTION) FAILED at .*)')
PLAN = re.compile(r'^    1\.\.(\d+)$')
SUBTEST = re.compile(r'^    # Subtest: (\S+)$')

Result = collections.namedtuple('Result', 'suite case failed skipped')


def read(path):
    with open(path, errors='replace') as f:
        return f.read()


def kbuild_modules(tests):
    """{module: [source file]}"""
    text = re.sub(r'\\\n', ' ', read(os.path.join(tests, 'Kbuild')))
    modules = collections.defaultdict(list)
    for name, objects in re.findall(r'^(\w+)-y\s*[:+]?=(.*)$', text, re.M):
        if not name.startswith('ccflags'):
            modules[name] += [o[:-1] + 'c' for o in objects.split()]
    return modules


def source_cases(path):
    """(suite, case) for each case that a source file defines; (None, place) if unclear"""
    text = read(path)
    arrays = {name: re.findall(r'\bKUNIT_CASE\w*\((\w+)', body) for name, body in
              re.findall(r'struct kunit_case (\w+)\[\] = \{(.*?)\n\};', text, re.S)}
    for body in re.findall(r'struct kunit_suite \w+ = \{(.*?)\n\};', text, re.S):
        name = re.search(r'\.name = "([^"]+)"', body)
        array = re.search(r'\.test_cases = (\w+)', body)
        if not name or not array or not arrays.get(array[1]):
            yield None, path
            continue
        for case in arrays.pop(array[1]):
            yield name[1], case
    for array in arrays:
        yield None, '%s: %s' % (path, array)


def expected(tests, trouble):
    """{module: {(suite, case)}} according to the sources"""
    modules, cases = kbuild_modules(tests), {}
    built = {file for files in modules.values() for file in files}
    for path in glob.glob(os.path.join(tests, '*', '**', '*.c'), recursive=True):
        if os.path.relpath(path, tests) not in built:
            trouble.append('%s is in no module of Kbuild' % path)
    for module, files in modules.items():
        # A source that the build generates has no cases; if that fails, the build fails.
        paths = [os.path.join(tests, file) for file in files]
        found = {c for path in paths if os.path.exists(path) for c in source_cases(path)}
        trouble += ['cannot tell the cases of %s' % what for suite, what in found
                    if not suite]
        cases[module] = {c for c in found if c[0]}
    return cases


def matches(pattern, suite, case):
    """whether the pattern matches, as in kunit.filter_glob"""
    of_suite, dot, of_case = pattern.partition('.')
    return (fnmatch.fnmatchcase(suite, of_suite) and
            (not dot or fnmatch.fnmatchcase(case, of_case)))


def allowed_skips(tests, provider):
    """{SUITE.CASE}; a line is SUITE.CASE PROVIDERS REASON..., PROVIDERS is a,b or * for any"""
    allowed = set()
    for line in read(os.path.join(tests, 'skips')).splitlines():
        words = line.split(None, 2)
        if not words or words[0].startswith('#'):
            continue
        if len(words) < 3:
            sys.exit('skips: %s: which providers, why?' % words[0])
        if words[1] == '*' or provider in words[1].split(','):
            allowed.add(words[0])
    return allowed


class Console:
    """The output of a machine."""

    def __init__(self, path):
        self.results, self.trouble = [], []
        self.failures, self.said = [], []  # (case, first lines) of those that fail
        self.suite, self.planned, self.seen, self.ended = None, None, 0, False
        # A parameterised case prints one line for each parameter, indented further, and
        # one for itself.  Both kinds are counted, each line once.
        for line in read(path).splitlines():
            self.take(re.sub(r'^\[ *[\d.]+\] ', '', line.rstrip()))
        if not self.ended:
            self.trouble.append('%s: the kernel did not come to its end' % path)
        self.end_suite()

    def take(self, line):
        m = RESULT.match(line)
        if m:
            self.take_result(len(m[1]), m)
        elif TROUBLE.search(line):
            self.trouble.append(line)
        elif FAILURE.match(line):
            self.said = self.said or [FAILURE.match(line)[1]]
        elif self.said and line.startswith('    ') and len(self.said) < 6:
            self.said.append(line.strip())
        elif SUBTEST.match(line):
            self.end_suite()
            self.suite = SUBTEST.match(line)[1]
        elif PLAN.match(line):
            self.planned, self.seen = int(PLAN.match(line)[1]), 0
        self.ended = self.ended or line == '### end'

    def take_result(self, depth, m):
        if depth == 0:
            self.end_suite()
            return
        self.seen += depth == 4
        if m[2] and depth == 4:
            self.failures.append(('%s.%s' % (self.suite, m[3]), self.said))
        self.said = []
        self.results.append(Result(self.suite, m[3], bool(m[2]),
                                   not m[2] and '# SKIP' in m[4]))

    def end_suite(self):
        if self.suite and self.seen != self.planned:
            self.trouble.append('%s: %d results where %s were planned' % (
                self.suite, self.seen, self.planned))
        self.suite, self.planned, self.seen = None, None, 0


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument('--modules', action='store_true')
    ap.add_argument('--some', action='store_true')
    ap.add_argument('--provider', default='')
    ap.add_argument('tests')
    ap.add_argument('consoles', nargs='*')
    args = ap.parse_args()

    trouble = []
    cases = expected(args.tests, trouble)
    if args.modules:
        print(' '.join(sorted(m for m in cases if m.endswith('_test'))))
        return 0
    count = collections.Counter()
    failures = []
    allowed = allowed_skips(args.tests, args.provider)
    for path in args.consoles:
        console = Console(path)
        module, _, some = os.path.basename(os.path.dirname(path)).partition(':')
        trouble += console.trouble
        failures += console.failures
        for r in console.results:
            count['failed' if r.failed else 'skipped' if r.skipped else 'passed'] += 1
            if r.skipped and '%s.%s' % (r.suite, r.case) not in allowed:
                trouble.append('%s.%s is skipped' % (r.suite, r.case))
        if args.some:
            continue
        wanted = {c for c in cases.get(module, ()) if matches(some or '*', *c)}
        if not wanted:
            trouble.append('%s has no suite %s' % (module, some or 'at all'))
        ran = {(r.suite, r.case) for r in console.results}
        trouble += ['%s.%s did not run' % c for c in sorted(wanted - ran)]
    for case, said in failures:
        print('FAILED', case)
        print(''.join('    %s\n' % line for line in said), end='')
    for line in trouble[:40]:
        print('TROUBLE', line)
    print('kunit: %d passed, %d failed, %d skipped, %d lines of trouble' % (
        count['passed'], count['failed'], count['skipped'], len(trouble)))
    return 1 if count['failed'] or trouble or not count['passed'] else 0


if __name__ == '__main__':
    sys.exit(main())
