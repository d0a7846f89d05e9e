"""What the tests of the Python package share."""

import atexit
import base64
import contextlib
import csv
import gc
import logging
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import nvml_calls
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
FIXTURES = SOURCE / "tests" / "fixtures"
PATIENCE = 60

# Warnings of missing GPUs belong to no test.
logging.getLogger("gpu_tracker").addHandler(logging.NullHandler())
logging.getLogger("gpu_tracker").propagate = False

# Its allocator may be in the hands of another thread at a fork (up to GCC 12 at least), and a child then waits for ever.
forks_hang = "libasan" in os.environ.get("LD_PRELOAD", "")
skip_where_forks_hang = unittest.skipIf(
    forks_hang, "AddressSanitizer's allocator does not stand a fork next to other threads"
)


def picture_of(html, place=0):
    """The SVG inside of an <img> of a report."""
    data = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)[place]
    return base64.b64decode(data).decode()


def chart_of(html, place=0):
    """The same, read: see tests/cli/svg_chart.py."""
    sys.path.append(str(SOURCE / "tests" / "cli"))
    try:
        from svg_chart import Chart
    finally:
        sys.path.pop()
    return Chart(picture_of(html, place))


@contextlib.contextmanager
def fake_gpu(folder, lines):
    """Programs that are started meanwhile have one NVIDIA GPU, of which tests/fake-nvml says these lines."""
    scenario = folder / "scenario"
    scenario.write_text("gpu GPU-aaaa\n" + lines)
    library = pathlib.Path(os.environ["GPUT_BUILD"]) / "tests" / "fake-nvml" / "libfake-nvml.so"
    machine = {"GPUT_NVML": str(library), "GPUT_SYSFS": "/nonexistent", "FAKE_NVML_SCENARIO": str(scenario)}
    with unittest.mock.patch.dict(os.environ, machine):
        yield


def _become_program(main, files, folder, environment):
    """In a fork: ends it as Python ends a program."""
    signal.alarm(PATIENCE)
    gc.freeze()  # what the test imported: each collection of garbage would read, and so copy, all of it
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = open(2, "w", buffering=1, closefd=False)
    sys.path[:] = [str(folder), *(path for path in sys.path if not pathlib.Path(path).is_relative_to(SOURCE / "tests"))]
    os.environ.update(environment)
    status = 0
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(int(status or 0))


def run_forked(main, input="", environment={}):
    """main() as a program of its own, in the current folder: a fork has what the test imported, which takes a program most of its time.
    Returns what subprocess.run() does."""
    with tempfile.TemporaryFile("w+") as stdin, tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        stdin.write(input)
        stdin.seek(0)
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _become_program(main, (stdin, stdout, stderr), os.getcwd(), environment)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(main, status, stdout.read(), stderr.read())


class PackageTest(unittest.TestCase):
    """Each test has an empty working directory of its own, `self.folder`."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpu-tracker-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def run_python(self, code, *arguments, check=True, **options):
        """Runs a program of its own; returns what subprocess.run does."""
        path = self.folder / "program.py"
        path.write_text(code)
        options = {"capture_output": True, "text": True, "timeout": PATIENCE} | options
        done = subprocess.run([sys.executable, str(path), *map(str, arguments)], **options)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def assert_raises(self, exception, message, function, *arguments, **keywords):
        """It raises exactly this, with exactly this message."""
        with self.assertRaises(exception) as caught:
            function(*arguments, **keywords)
        self.assertEqual(str(caught.exception), message)


class FakeGpu:
    """A machine with one NVIDIA GPU, of which processes hold what is said. `environment` is for them."""

    LIBRARY = pathlib.Path(os.environ["GPUT_BUILD"]) / "tests" / "fake-nvml" / "libfake-nvml.so"
    # For programs of their own: hold(MB) has the program itself hold that much from then on, and hold_until_listed(MB) returns when
    # the driver was asked who holds it, after its memory was read.
    HOLD = nvml_calls.WAIT_UNTIL_LISTED + """
import os

def hold(size, mb=2**20):
    path = os.environ["FAKE_NVML_SCENARIO"]
    with open(path + ".new", "w") as file:
        file.write(f"gpu GPU-a\\nmemory {80000 * mb} 0 {(size + 9) * mb}\\nutilization 10\\ncompute {os.getpid()} {size * mb}\\n")
    os.rename(path + ".new", path)
    return size

def hold_until_listed(size):
    log = os.environ["FAKE_NVML_LOG"]
    n_before = len(nvml_calls(log))
    hold(size)
    wait_until_listed(log, n_before)
"""

    def __init__(self, folder):
        self.scenario = folder / "scenario"
        self.scenario.write_text("gpu GPU-a\nmemory 80000000000 0 9000000\n")
        self.environment = os.environ | {
            "GPUT_NVML": str(self.LIBRARY), "GPUT_SYSFS": "/nonexistent", "FAKE_NVML_SCENARIO": str(self.scenario),
            "FAKE_NVML_LOG": str(folder / "calls"),
        }  # fmt: skip
        (folder / "calls").touch()


def await_threads(count):
    """The kernel lists a thread a moment longer than others can wait for it."""
    end = time.monotonic() + PATIENCE
    while (threads := len(os.listdir("/proc/self/task"))) != count and time.monotonic() < end:
        time.sleep(0.001)
    if threads != count:
        raise AssertionError(f"{threads} threads, not {count}")


def marks(path):
    """(name, position) of each mark in a CSV file, in its order."""
    with open(path, newline="") as file:
        return [(row["code_block_name"], int(row["position"])) for row in csv.DictReader(file)]


def main():
    tap.main()
