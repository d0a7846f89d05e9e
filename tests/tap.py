"""Runs the unittest cases of the calling script and prints TAP, which meson reads and counts."""

import os
import sys
import unittest

os.environ["GPUT_CONFIG"] = ""  # defaults of whoever runs the tests


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.count = 0

    def _line(self, ok, test, comment=""):
        self.count += 1
        print(f"{'ok' if ok else 'not ok'} {self.count} - {test.id().split('.', 1)[-1]}{comment}", flush=True)

    def _failure(self, test, error):
        self._line(False, test)
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        self._line(True, test)

    def addSkip(self, test, reason):
        self._line(True, test, f" # SKIP {reason}")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._failure(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._failure(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._failure(subtest, error)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = TapResult()
    suite.run(result)
    print(f"1..{result.count}", flush=True)
    sys.exit(0 if result.wasSuccessful() and result.count else 1)
