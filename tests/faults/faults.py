"""What the trials share: the rounds of one, counting what survived, and running each in small as a test.

A trial does one thing many times: it starts a command, does it harm, and examines what is left. A file of
trials has functions marked with @trial; `main()` runs them in small as tests, torture.py all of them in large.
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "cli")]
import tap
from command import BUILD, COMMAND, PATIENCE, SANITIZED, SOURCE, wait_until

MARKER = BUILD / "tests" / "faults" / "marker"
STEPPING_CLOCK = BUILD / "tests" / "faults" / "stepping-clock.so"
FAILING_MALLOC = BUILD / "tests" / "failing-malloc.so"
CONSUMER = os.environ["GPUT_CONSUMER"]

# No trial in small takes longer, however slow the machine is; what was tried by then counts.
SMALL_SECONDS = 8

# Instead of an exit status, of a command that did not end.
HANGS = -1000

TRIALS = []


def trial(fault, victim, small, large):
    """Marks a function of a Rounds. `small` and `large` say how often it is tried; 0: not at all, for what is known to be lost."""

    def add(function):
        TRIALS.append(Trial(function, fault, victim, small, large))
        return function

    return add


class Trial:
    def __init__(self, function, fault, victim, small, large):
        self.function, self.fault, self.victim, self.small, self.large = function, fault, victim, small, large

    def run(self, count, seconds):
        """Returns the Rounds, with what was tried and lost."""
        with tempfile.TemporaryDirectory(prefix="gpu-tracker-faults-") as folder:
            rounds = Rounds(pathlib.Path(folder), count, seconds)
            try:
                self.function(rounds)
            except unittest.SkipTest as reason:
                rounds.skipped = str(reason)
            except (AssertionError, ValueError, OSError, subprocess.SubprocessError) as stop:
                rounds.count_round(f"the trial stopped: {stop}")
            finally:
                rounds.end_processes()
        return rounds


class Rounds:
    """The rounds of one trial: `for number in rounds` as often as it is to be tried, or until its time is over."""

    def __init__(self, folder, count, seconds):
        self.folder, self.count = folder, count
        self.end = time.monotonic() + seconds
        self.tried, self.lost, self.skipped, self.note = 0, [], "", ""
        self.random = random.Random(20261122)  # the same faults each time
        self.processes = []

    def __iter__(self):
        """Begins at least one round, however late it is."""
        for number in range(self.count):
            if number and time.monotonic() > self.end:
                return
            yield number

    def spread(self, size):
        """At most `count` different numbers below `size`, over all of it: the n-th byte, the n-th allocation."""
        chosen = list(range(size)) if size <= self.count else sorted(self.random.sample(range(size), self.count))
        if len(chosen) < size:
            self.random.shuffle(chosen)  # where time is over first, what was tried is spread too
        for number, chose in enumerate(chosen):
            if number and time.monotonic() > self.end:
                return
            yield chose

    def count_round(self, problem, what=""):
        """One was tried; `problem` says what was lost, or is empty."""
        self.tried += 1
        if problem:
            self.lost.append(f"{what}: {problem}" if what else problem)

    def fresh(self):
        """An empty folder for one round."""
        folder = self.folder / "round"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def start(self, command, **options):
        """Starts a program that the trial ends at the latest."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process = subprocess.Popen([str(word) for word in command], **options)
        self.processes.append(process)
        return process

    def close(self, process):
        """Waits for a program that has ended, and closes its pipes."""
        process.wait(PATIENCE)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        self.processes.remove(process)

    def end_processes(self):
        for process in list(self.processes):
            if process.poll() is None:
                process.kill()
            self.close(process)


def run(*arguments, folder, wrapper=(), **options):
    """gpu-tracker with these arguments to its end; output as bytes decoded however broken."""
    options = {"capture_output": True, "stdin": subprocess.DEVNULL, "timeout": PATIENCE} | options
    command = [*wrapper, COMMAND, *arguments]
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, HANGS, "", "")
    done.stdout, done.stderr = ((text or b"").decode(errors="replace") for text in (done.stdout, done.stderr))
    return done


def problem_of(done):
    """Why this end is none that a command may have: by a signal, a sanitizer, or a failure that says nothing."""
    if done.returncode == HANGS:
        return f"did not end in {PATIENCE} s"
    if done.returncode < 0:
        return f"died of signal {-done.returncode}"
    if "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
        return "a sanitizer found something: " + done.stderr[:300]
    if done.returncode > 0 and not done.stderr.strip():
        return f"exit status {done.returncode} without a word"
    return ""


def leftovers(folder, *expected):
    """Names in a folder beyond those that belong there."""
    return sorted(entry.name for entry in folder.iterdir() if entry.name not in expected)


class Small(unittest.TestCase):
    """Each trial a few times; a test for each is added by main()."""


def main():
    """Runs the trials of the calling script in small, as tests."""
    for number, one in enumerate(one for one in TRIALS if one.small):

        def test(self, one=one):
            rounds = one.run(one.small, SMALL_SECONDS)
            if rounds.skipped:
                self.skipTest(rounds.skipped)
            self.assertEqual(rounds.lost, [])
            self.assertGreater(rounds.tried, 0)

        setattr(Small, f"test_{number:02}_{one.fault}_{one.victim}".replace(" ", "_"), test)
    sys.modules["__main__"].Small = Small
    tap.main()
