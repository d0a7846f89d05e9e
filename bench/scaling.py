"""How costs grow: a curve each over processes, rate, rows, calls, bytes of a trace and ranks, with its slope.

    bench/scaling.py BUILD [CURVE]...       BUILD has gpu-tracker and bench/; curves: processes busy many rate rows calls trace ranks

CPU time of our process alone, so that others on the machine count for little. The slope is that of the logarithms between neighbouring
points: 1 is proportional, 0 constant. BENCH_FULL=1 goes to the largest sizes, for which memory, a disk and minutes are needed.
"""

import json
import math
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import job

FULL = os.environ.get("BENCH_FULL") == "1"
BUILD = pathlib.Path(sys.argv[1]).resolve()
COMMAND = BUILD / "gpu-tracker"
BENCH = pathlib.Path(__file__).parent


def cpu_seconds(pid):
    """Of a process that runs, by its CPU clock."""
    return time.clock_gettime(~pid << 3 | 2)


def seconds_a_sample(count, kind, interval, seconds, rounds=3, wakes_ms=25, rows=None):
    """Of a tracker in its steady state, without its start and its end. By the rows of a tracking file where ticks may be missed."""
    # A session of its own: the scheduler shares the processor out between sessions (autogroup), not between the tracker and 10,000 others.
    tree = subprocess.Popen([BUILD / "bench" / "bench-tree", str(count), kind, str(wakes_ms)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    tree.stdout.read(1)
    file = ["--tf", rows] if rows else []
    tracker = subprocess.Popen([COMMAND, "attach", "-q", "--st", str(interval), *file, str(tree.pid)], stderr=subprocess.DEVNULL)
    time.sleep(max(1.5, 3 * interval, count / 1000))  # the first readings of thousands take seconds
    found = []
    for _ in range(rounds):
        used, begun, before = cpu_seconds(tracker.pid), time.monotonic(), rows and rows.read_text().count("\n")
        time.sleep(seconds)
        used = cpu_seconds(tracker.pid) - used
        found.append(used / (rows.read_text().count("\n") - before if rows else (time.monotonic() - begun) / interval))
    tree.stdin.close()
    tracker.wait()
    tree.wait()
    return statistics.median(found)


def used_by(*command):
    """CPU seconds and peak memory in MB of a command that runs to its end, and what it printed."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise RuntimeError(f"{command}: wait status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed


def over_processes(kind):
    for count in (1, 10, 100, 1000, 10_000) if kind == "idle" else (1, 10, 100, 1000):
        yield count, seconds_a_sample(count, kind, 0.1, 2.0), None


def over_many():
    """Of that many, two cores cannot wake each 40 times a second: the queue for them has thousands then."""
    for count in 1000, 10_000:
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder, "samples.csv")
            yield count, seconds_a_sample(count, "busy", 1.0, 20.0, rounds=1, wakes_ms=400, rows=rows), None


def over_rate():
    for rate in 1, 10, 100, 1000:
        yield rate, seconds_a_sample(1, "idle", 1 / rate, 5.0 if rate == 1 else 2.0), None


def analyzed(rows, calls):
    printed = used_by(BUILD / "bench" / "bench-analyze", rows, calls, 10)[2]
    found = re.search(r"analyze ([\d.]+) s, ratio [\d.]+, (\d+) ", printed)
    return float(found[1]), float(found[2])


def over_rows():
    for rows in (10_000, 100_000, 1_000_000, *([10_000_000] if FULL else [])):
        yield rows, *analyzed(rows, 1000)


def over_calls():
    for calls in (1000, 10_000, 100_000, 1_000_000, *([10_000_000] if FULL else [])):
        yield calls, *analyzed(100_000, calls)


def over_trace():
    for megabytes in (10, 100, *([1000, 10_000] if FULL else [])):
        with tempfile.TemporaryDirectory() as folder:
            trace, merged = pathlib.Path(folder, "trace.json"), pathlib.Path(folder, "merged.json")
            subprocess.run([sys.executable, BENCH / "kineto-trace.py", str(megabytes), trace], check=True)
            yield megabytes, *used_by(COMMAND, "timeline", "merge", trace, "-o", merged)[:2]


def over_ranks():
    for ranks in 10, 100, 1000, 10_000:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            job.write_samples(folder / "samples", 1000)
            (folder / "results").mkdir()
            for rank in range(ranks):
                job.write_rank(folder / "results", folder / "samples", rank, ranks, 1000)
            seconds, megabytes, _ = used_by(COMMAND, "job", "-f", "json", "-o", folder / "job.json", folder / "results")
            assert json.loads((folder / "job.json").read_text())["jobs"][0]["ranks"] == ranks
            yield ranks, seconds, megabytes


CURVES = {
    "processes": ("idle processes, CPU of a sample at 10 Hz", lambda: over_processes("idle")),
    "busy": ("busy processes, CPU of a sample at 10 Hz", lambda: over_processes("busy")),
    "many": ("busy processes that wake 2.5 times a second, CPU of a sample at 1 Hz", over_many),
    "rate": ("samples a second of one idle process, CPU of a sample", over_rate),
    "rows": ("rows of a tracking file with 1,000 calls, CPU of an analysis", over_rows),
    "calls": ("calls in 100,000 rows, CPU of an analysis", over_calls),
    "trace": ("MB of a trace, CPU of timeline merge", over_trace),
    "ranks": ("ranks of 1,000 samples, CPU of job", over_ranks),
}


def in_words(seconds):
    return f"{seconds * 1e6:,.0f} us" if seconds < 0.1 else f"{seconds:.2f} s"


def main():
    load = os.getloadavg()[0]
    for name in sys.argv[2:] or CURVES:
        title, points = CURVES[name]
        print(f"\n{title} (load {load:.0f})\n\n| {name} | CPU | slope | memory |\n| ---: | ---: | ---: | ---: |")
        before = None
        for size, seconds, megabytes in points():
            slope = f"{math.log(seconds / before[1]) / math.log(size / before[0]):.2f}" if before else ""
            print(f"| {size:,} | {in_words(seconds)} | {slope} | {f'{megabytes:.0f} MB' if megabytes else ''} |", flush=True)
            before = size, seconds


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    main()
