"""What the trials share: the rounds of one, counting what survived, and running each in small as a test.

A trial does one thing many times: it starts a command, does it harm, and examines what is left. A file of
trials has functions marked with @trial; `main()` runs them in small as tests, torture.py all of them in large.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "cli")]
import tap
from command import BUILD, COMMAND, PATIENCE, SANITIZED, SOURCE, wait_until

FORKER = BUILD / "tests" / "faults" / "forker"
MARKER = BUILD / "tests" / "faults" / "marker"
STEPPING_CLOCK = BUILD / "tests" / "faults" / "stepping-clock.so"
RERUN = BUILD / "tests" / "faults" / "rerun.so"
FAILING_MALLOC = BUILD / "tests" / "failing-malloc.so"
CONSUMER = os.environ["GPUT_CONSUMER"]

# No trial in small takes longer, however slow the machine is; what was tried by then counts.
SMALL_SECONDS = 8

# Instead of an exit status, of a command that did not end.
HANGS = -1000

TRIALS = []


def trial(fault, victim, small, large, patience=1):
    """Marks a function of a Rounds. `small` and `large` say how often it is tried; 0: not at all, for what is known to be lost.

    In large it may take `patience` times as long as others."""

    def add(function):
        TRIALS.append(Trial(function, fault, victim, small, large, patience))
        return function

    return add


class Trial:
    def __init__(self, function, fault, victim, small, large, patience):
        self.function, self.fault, self.victim = function, fault, victim
        self.small, self.large, self.patience = small, large, patience

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
        self.last_folder = None  # of fresh()

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
        """An empty folder for one round, with a name of its own: what was killed may still write into the one before."""
        if self.last_folder:
            shutil.rmtree(self.last_folder, ignore_errors=True)
        self.last_folder = pathlib.Path(tempfile.mkdtemp(prefix="round-", dir=self.folder))
        self.last_folder.chmod(0o755)
        return self.last_folder

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


class Rerun:
    """gpu-tracker with the same arguments many times, each a fork of one process, which takes a tenth of the time."""

    def __init__(self, rounds, *arguments, folder):
        self.arguments, self.folder, self.errors = arguments, folder, None
        if SANITIZED or not RERUN.exists():
            return  # the sanitizer's own library has to come first
        ends = *os.pipe(), *os.pipe()
        self.errors = open(rounds.folder / "errors", "w+b")
        environment = os.environ | {"LD_PRELOAD": str(RERUN), "RERUN_REQUESTS": str(ends[0]), "RERUN_ANSWERS": str(ends[3])}
        with open(rounds.folder / "errors", "ab") as appended:
            rounds.start([COMMAND, *arguments], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=appended, pass_fds=(ends[0], ends[3]))
        for end in ends[0], ends[3]:
            os.close(end)
        self.requests, self.answers = ends[1:3]

    def run(self):
        """Once, as run() does."""
        if not self.errors:
            return run(*self.arguments, folder=self.folder)
        self.errors.truncate(0)
        os.write(self.requests, b"x")
        status = os.waitstatus_to_exitcode(int.from_bytes(os.read(self.answers, 4), sys.byteorder, signed=True))
        text = os.pread(self.errors.fileno(), 1 << 20, 0).decode(errors="replace")
        return subprocess.CompletedProcess(self.arguments, HANGS if status == -signal.SIGALRM else status, "", text)

    def close(self):
        if self.errors:
            self.errors.close()
            os.close(self.requests)
            os.close(self.answers)


def problem_of(done):
    """Why a command must not end like this: by a signal, a sanitizer, or a failure that says nothing."""
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
    """Names in a folder beyond those that belong there; what says whose a tracking file is belongs to it."""
    return sorted(entry.name for entry in folder.iterdir() if not {entry.name, entry.name.removesuffix(".session.json")} & set(expected))


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
