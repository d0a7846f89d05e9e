"""Runs the unittest cases of the calling script and prints TAP, which meson reads and counts.

Most tests wait: for samples, for ends, for programs that sleep. So several run at once, each in a fork of the script.
The script adopts what they leave running, such as the command of a tracker that was killed, and kills it at the end.
"""

import contextlib
import ctypes
import errno
import json
import os
import re
import signal
import sys
import tempfile
import time
import unittest

os.environ["GPUT_CONFIG"] = ""  # defaults of whoever runs the tests

PR_SET_CHILD_SUBREAPER = 36


def skip_terminals():
    """Skips each test that opens a terminal on a machine without /dev/pts, such as a bare chroot."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError as error:
        reason = f"no terminal can be opened here: {os.strerror(error.errno or errno.ENOENT)}"

        def refuse():
            raise unittest.SkipTest(reason)

        os.openpty = refuse

# More than one only while a processor is free: on a busy machine tests run one by one. Those of a class with MOSTLY_WAITS take next to
# no processor time: they come first, and at once there too.
AT_ONCE = 6


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
        self._line(True, test, " # SKIP " + " ".join(reason.split()))  # as one line, whatever a compiler said

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


def only_tests(program):
    """The names of the tests that tools/run-tests.py wants of a program, such as tests/cli/test_run.py; none for all of them."""
    wanted = os.environ.pop("GPUT_ONLY_TESTS", None)
    if not wanted:
        return ()
    folder, name = os.path.split(os.path.abspath(program))
    with open(wanted) as file:
        return json.load(file).get(os.path.basename(folder) + "/" + re.sub("^(test|trial)_|[.]py$", "", name), ())


def choose(suite, names):
    """Leaves the tests of those names; all where one of them is none of the suite, such as a class that was skipped as a whole."""

    def name_of(test):
        return test.id().split(".", 1)[-1]

    def within(suite):
        return suite if isinstance(suite, unittest.TestCase) else unittest.TestSuite(
            within(inner) for inner in suite if not isinstance(inner, unittest.TestCase) or name_of(inner) in names)

    chosen = within(suite) if names else suite
    return chosen if chosen.countTestCases() == len(set(names)) else suite


def parts_of(suite):
    """What runs by itself: a test, or a class of tests that share what setUpClass() makes."""
    if isinstance(suite, unittest.TestCase):
        return [suite]
    tests = list(suite)
    if tests and isinstance(tests[0], unittest.TestCase) and type(tests[0]).setUpClass.__func__ is not unittest.TestCase.setUpClass.__func__:
        return [suite]
    return [part for inner in tests for part in parts_of(inner)]


def processor_is_free():
    with open("/proc/loadavg") as file:
        return int(file.read().split()[3].split("/")[0]) <= 2 * os.cpu_count()


def mostly_waits(part):
    """Of a test, or of a class of them."""
    return getattr(part if isinstance(part, unittest.TestCase) else next(iter(part)), "MOSTLY_WAITS", False)


class Part:
    """Runs in a process of its own; its lines are kept in a file until it has ended."""

    def __init__(self, suite):
        self.output = tempfile.TemporaryFile("w+")
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid:
            return
        os.dup2(self.output.fileno(), 1)
        result = TapResult()
        try:
            unittest.TestSuite([suite]).run(result)
        finally:
            sys.stdout.flush()
            os._exit(0 if result.wasSuccessful() and result.count else 1)

    def lines(self, status):
        self.output.seek(0)
        lines = self.output.read().splitlines()
        self.output.close()
        if status and not any(line.startswith("not ok") for line in lines):
            lines.append(f"not ok 1 - a test that ended with wait status {status}")
        return lines


def run(suite):
    """Yields the lines of all tests, in the order of their ends."""
    waiting, running = sorted(parts_of(suite)[::-1], key=mostly_waits), {}
    while waiting or running:
        may_start = waiting and len(running) < AT_ONCE
        if may_start and (not running or mostly_waits(waiting[-1]) or processor_is_free()):
            part = Part(waiting.pop())
            running[part.pid] = part
            continue
        pid, status = os.waitpid(-1, os.WNOHANG if may_start else 0)
        if pid in running:
            yield from running.pop(pid).lines(status)
        else:
            time.sleep(0.02)


def children():
    """{process id: command line} of what this script has started or adopted."""
    found = {}
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            if parent == os.getpid():
                with open(f"/proc/{entry}/cmdline", errors="replace") as file:
                    found[int(entry)] = ascii(file.read().replace("\0", " ").strip())
        except OSError:  # it has ended
            pass
    return found


def end_leftovers():
    """Kills what tests left running, and what that leaves in turn: whoever reads our output would wait for its end."""
    while True:
        for child, command in children().items():
            with contextlib.suppress(PermissionError):  # of another user: it is waited for
                os.kill(child, signal.SIGKILL)
            print(f"# left running: {child} {command}", flush=True)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    skip_terminals()
    count, failed = 0, False
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    for line in run(choose(tests, only_tests(sys.argv[0]))):
        is_test = re.match(r"(not )?ok \d+", line)
        if is_test:
            count += 1
            failed = failed or bool(is_test[1])
            line = re.sub(r"\d+", str(count), line, count=1)
        print(line, flush=True)
    end_leftovers()
    print(f"1..{count}", flush=True)
    sys.exit(0 if count and not failed else 1)
