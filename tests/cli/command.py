"""What the tests of the built command share: running it, and small programs to track."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

COMMAND = os.environ["GPUT_COMMAND"]
BUILD = pathlib.Path(os.environ["GPUT_BUILD"])
SANITIZED = b"__asan_init" in (BUILD / "libgputracker.so").read_bytes()
SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])

# The Python package reads and writes pickles for the command. A sanitizer's library would have to be loaded into Python, too.
NO_PACKAGE = "the package is built with a sanitizer" if SANITIZED else "" if (BUILD / "python" / "native-module-link").exists() else "the Python package is not built"
needs_package = unittest.skipIf(NO_PACKAGE, NO_PACKAGE)


def use_package():
    """Lets every command that is run from now on find the Python package."""
    os.environ.update(GPUT_PYTHON=sys.executable, PYTHONPATH=str(BUILD / "python"), PYTHONDONTWRITEBYTECODE="1")


# Who runs tests in the background or under nohup ignores signals; what we start is not to inherit that.
for _number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

# Long enough for the slowest machine under valgrind; only ever waited for when a test fails.
PATIENCE = 60

ANNOUNCEMENT = "Resource tracking complete. Process completed with status code: "


def python(code, *arguments):
    """A command line that runs that Python code, without what is installed for all programs: that can take most of its time."""
    return [sys.executable, "-S", "-c", code, *map(str, arguments)]


UNTIL_TICKS = """
import json, os, subprocess, sys, time
def ticks():
    done = subprocess.run([sys.argv[1], "show", "-f", "json", "kept"], capture_output=True)
    return 0 if done.returncode else json.loads(done.stdout)["tracker"]["ticks"]
while ticks() < int(sys.argv[2]) and os.path.exists("."):
    time.sleep(0.05)
sys.exit(int(sys.argv[3]))
"""


def until_ticks(count, status=0):
    """A command that ends when the results so far, in the file "kept", are of so many ticks."""
    return python(UNTIL_TICKS, COMMAND, count, status)


def wait_until(condition, what="something", patience=PATIENCE):
    """`patience` is more where seconds of CPU time are waited for, which a busy machine gives slowly."""
    end = time.monotonic() + patience
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.01)
    return result


def refusal(*command):
    """Why a command cannot be run here, or ''."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit status {done.returncode}"


AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
NO_NOBODY = refusal(*AS_NOBODY, "true")


def read_samples(path):
    """Of a tracking file in CSV: the lines before its rows, the rows, and the place of the timestamp in them. A truncated last
    row is left out."""
    lines = [line.split(",") for line in pathlib.Path(path).read_text().split("\n")[:-1]]
    head = next(i for i, line in enumerate(lines) if "timestamp" in line)
    return lines[: head + 1], lines[head + 1 :], lines[head].index("timestamp")


def times_of(path):
    """Of the rows of a tracking file in CSV, as texts."""
    _, rows, place = read_samples(path)
    return [row[place] for row in rows]


def with_times_later(path, seconds):
    """The text of a tracking file in CSV whose samples were taken so many seconds later."""
    heads, rows, place = read_samples(path)
    for row in rows:
        row[place] = f"{float(row[place]) + seconds:.6f}"
    return "".join(",".join(line) + "\n" for line in heads + rows)


def parse_text(report):
    """The text report as nested dictionaries of label -> value."""
    root = {}
    stack = [(-1, root)]
    for line in report.splitlines():
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        label, _, value = line.strip().partition(":")
        while stack[-1][0] >= indent:
            stack.pop()
        if value:
            stack[-1][1][label] = value.strip()
        else:
            stack[-1][1][label] = inner = {}
            stack.append((indent, inner))
    return root


SCALES = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}


def in_base_unit(text):
    """A figure of three digits in a unit that fits it, such as "31.4 MB" or "1 min 30 s", as a number of bytes, seconds …"""
    words = text.split()
    if len(words) == 4:  # "1 min 30 s"
        return float(words[0]) * SECONDS[words[1]] + float(words[2]) * SECONDS[words[3]]
    number, unit = words
    return float(number) * (1 if unit == "%" else SCALES[unit[:-1]])


def read_terminal(terminal):
    """All that was written to a terminal that no process holds any more: one read need not give it."""
    shown = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # how a terminal ends
            return shown
        if not more:
            return shown
        shown += more


class CommandTest(unittest.TestCase):
    """Each test has an empty working directory of its own, `self.folder`."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpu-tracker-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.processes = []
        self.addCleanup(self.end_processes)

    def end_processes(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()

    def open_to_nobody(self, *programs):
        """Lets another user into the folder, with copies of the programs: the build may lie where others cannot go."""
        if NO_NOBODY:
            self.skipTest(f"cannot become another user: {NO_NOBODY}")
        self.folder.chmod(0o777)
        for program in programs:
            shutil.copy(program, self.folder)

    def run_command(self, *arguments, **options):
        """Runs gpu-tracker with these arguments to its end."""
        options = {"cwd": self.folder, "capture_output": True, "text": True, "timeout": PATIENCE} | options
        return subprocess.run([COMMAND, *map(str, arguments)], **options)

    def start_command(self, *arguments, **options):
        """Starts gpu-tracker with pipes for its output; ended by the clean-up at the latest."""
        options = {"cwd": self.folder, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        process = subprocess.Popen([COMMAND, *map(str, arguments)], **options)
        self.processes.append(process)
        return process

    def finish(self, process):
        """Waits for its end; returns what it printed."""
        return process.communicate(timeout=PATIENCE)

    def assert_agrees(self, report):
        """No figure had to be taken back because another one contradicts it: that is a fault elsewhere."""
        self.assertNotIn("contradicted", json.dumps(report))
        self.assertEqual(report.get("tracker", {}).get("contradictions", 0), 0, report)

    def assert_is_summary(self, text):
        """What run, attach and show print on a screen by default."""
        text = re.sub("\033\\[[0-9;]*m", "", text)
        self.assertRegex(text, r"(?m)^  Time  +[0-9]+.* ([mu]?s|min)\b")
        self.assertRegex(text, r"(?m)^  RAM  +[0-9].*B  peak")
        self.assertNotIn("Max RAM:", text)

    def assert_is_report(self, text):
        """The report of the older tool, or that of -f full, in units that fit if none was asked for."""
        self.assertRegex(text, r"(?m)^Max RAM:\n   (Unit: [a-z]+|System capacity: [0-9.]+ [kMGT]?B)$")
        self.assertRegex(text, r"(?m)^Compute time:\n(   Unit: .*\n   Time: [0-9.]+|   Time: [0-9.]+ .*(s|min))$")

    def assert_fails(self, done, status, message):
        """It said exactly this one line, and nothing else."""
        said = re.sub(r"(?m)^==\d+==Running thread \d+ was not suspended.*\n", "", done.stderr)  # of a sanitizer that looks for leaks
        self.assertEqual((done.returncode, done.stdout, said), (status, "", f"gpu-tracker: {message}\n"))

    def assert_folder_is(self, *names):
        self.assertEqual(sorted(entry.name for entry in self.folder.iterdir()), sorted(names))


def main():
    tap.main()
