# SPDX-License-Identifier: Apache-2.0
"""The end of a test in Python: main() runs the tests of the file that was started, prints the closing line
that harness/run.sh reads, and ends with status 1 if one failed."""
import sys
import unittest


def main():
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    # a test fails once, however many of its subtests do
    bad = {getattr(test, "test_case", test).id()
           for test, _ in result.failures + result.errors}
    bad |= {test.id() for test in result.unexpectedSuccesses}
    print(f"{max(0, result.testsRun - len(bad))} passed, {len(bad)} failed")
    sys.exit(1 if bad else 0)
