"""What `pytest --gput` adds to a suite of quick tests: suite.py BUILD

The suite is run with and without, in turn; CPU time of the whole pytest process, medians of pairs. Once more with 500 MB in
use by pytest, as where it has loaded a framework. Prints rows as bench.h says.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

TESTS = 663
PAIRS = 15 if os.environ.get("BENCH_FULL") == "1" else 5
SUITE = f"""
import pytest
loaded = b"x" * int({{megabytes}} * 1e6)

@pytest.mark.parametrize("n", range({TESTS}))
def test_sum(n):
    assert sum(range(n)) == n * (n - 1) // 2
"""


def run(suite, *options):
    """Seconds of CPU time of a run."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "gpu_tracker.pytest_plugin", *options, suite.name]
    path = os.pathsep.join([str(pathlib.Path(sys.argv[1]).resolve() / "python"), os.environ.get("PYTHONPATH", "")])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=suite.parent, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    if done.returncode or f"{TESTS} passed" not in done.stdout:
        sys.exit(done.stdout[-2000:] + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(name, megabytes):
    with tempfile.TemporaryDirectory() as folder:
        suite = pathlib.Path(folder) / "test_suite.py"
        suite.write_text(SUITE.format(megabytes=megabytes))
        pairs = [(run(suite, "--gput"), run(suite)) for _ in range(PAIRS)]
    ours, alone = map(statistics.median, zip(*pairs))
    ratio = statistics.median(with_us / without for with_us, without in pairs)
    each = statistics.median(with_us - without for with_us, without in pairs) / TESTS
    print(name, "s CPU", f"{ours:.3g}", "alone", f"{alone:.3g}", f"{ratio:.2f}", "-", sep="\t", flush=True)
    print(f"{name}: added to each", "ms CPU", f"{each * 1e3:.2f}", "-", "-", "-", "<= 3", sep="\t", flush=True)


def main():
    try:
        import pytest  # noqa: F401
    except ImportError:
        print("pytest is not installed; nothing was measured", file=sys.stderr)
        return
    compare(f"{TESTS} quick tests", 0)
    compare(f"{TESTS} quick tests, 500 MB in use", 500)


main()
