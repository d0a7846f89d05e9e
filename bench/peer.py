"""The Python gpu_tracker from PyPI on the same trees of processes, in an environment of its own: peer.py BUILD

Prints rows as bench.h says, with our figures of the same moment next to the peer's.
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
PEER = BUILD / "peer"
COMMAND = BUILD / "gpu-tracker"
FULL = os.environ.get("BENCH_FULL") == "1"


def row(what, unit, ours, theirs, target):
    ratio = f"{theirs / ours:.3g}" if ours else "-"
    print(what, unit, f"{ours:.4g}", "peer (times ours)", f"{theirs:.4g}", ratio, target, sep="\t", flush=True)


def make_environment():
    if (PEER / "bin/gpu-tracker").exists():
        return
    subprocess.run([sys.executable, "-m", "venv", PEER], check=True, stdout=sys.stderr)
    subprocess.run([PEER / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "gpu_tracker", "psutil", "pandas"],
                   check=True, stdout=sys.stderr)


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def peer_cpu(folder, pid, interval, seconds):
    """CPU seconds and samples of the peer, attached to `pid` for a while."""
    code = f"""
import time, gpu_tracker
with gpu_tracker.Tracker(process_id={pid}, sleep_time={interval}, disable_logs=True, tracking_file="peer.csv", overwrite=True):
    time.sleep({seconds})
"""
    before = children_cpu()
    subprocess.run([PEER / "bin/python", "-c", code], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    rows = len((folder / "peer.csv").read_text().splitlines()) - 3
    return children_cpu() - before, max(rows, 1)


def our_cpu(folder, pid, interval, seconds):
    subprocess.run([COMMAND, "attach", "--disable-logs", "--st", str(interval), "--for", str(seconds), "-f", "json",
                    "-o", "ours.json", "--tf", "ours.csv", "--overwrite", str(pid)], cwd=folder, check=True)
    tracker = json.loads((folder / "ours.json").read_text())["tracker"]
    return tracker["cpu_seconds"], tracker["ticks"]


def compare_samples(folder, count, target):
    tree = subprocess.Popen([BUILD / "bench/bench-tree", str(count), "idle"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    tree.stdout.read(1)
    seconds = 10 if FULL else 4
    # What the peer costs before and after its samples is taken out by the difference of two lengths.
    long_cpu, long_rows = peer_cpu(folder, tree.pid, 0.1, seconds)
    short_cpu, short_rows = peer_cpu(folder, tree.pid, 0.1, seconds / 4)
    theirs = (long_cpu - short_cpu) / max(long_rows - short_rows, 1)
    cpu, ticks = our_cpu(folder, tree.pid, 0.1, seconds)
    row(f"a sample with its row, {count} idle, every 100 ms", "us CPU", cpu / ticks * 1e6, theirs * 1e6, target)
    tree.stdin.close()
    tree.wait()


def added_wall(folder, command, rounds):
    times = []
    for _ in range(rounds):
        begin = time.monotonic()
        subprocess.run(["/bin/true"])
        alone = time.monotonic() - begin
        begin = time.monotonic()
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - begin - alone)
    return statistics.median(times) * 1e3


def main():
    try:
        make_environment()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: the peer cannot be installed here ({error})")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for count, target in ((1, ">= 20 x"), (100, ">= 50 x"), (500, ">= 70 x")):
            # Half a second a sample: minutes, on a machine that is busy.
            if count < 500 or FULL:
                compare_samples(folder, count, target)
        row("wall time added to `true`", "ms",
            added_wall(folder, [COMMAND, "-e", "true", "--disable-logs"], 11),
            added_wall(folder, [PEER / "bin/gpu-tracker", "-e", "true", "--disable-logs"], 3), "<= 5 ms")


if __name__ == "__main__":
    main()
