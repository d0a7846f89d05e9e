"""What the Python package costs, each next to what Python itself costs at the same moments: python.py BUILD

Uses the package of the build folder; reading tables is held against pandas where that is installed.
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
FULL = bool(os.environ.get("BENCH_FULL"))
ROUNDS = 41 if FULL else 11
sys.path.insert(0, str(BUILD / "python"))


def row(what, unit, ours, against, theirs, target):
    print(what, unit, f"{ours:.3g}", against, f"{theirs:.3g}", f"{ours / theirs:.2f}", target, sep="\t", flush=True)


def medians(*works, rounds=ROUNDS):
    """The median of each, taken in turn."""
    taken = [[work() for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken)]


# ---- Import ----


def child_cpu(code):
    """CPU milliseconds of a Python program."""
    environment = os.environ | {"PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": ""}
    program = subprocess.Popen([sys.executable, "-c", code], env=environment)
    usage = os.wait4(program.pid, 0)[2]
    program.returncode = 0
    return (usage.ru_utime + usage.ru_stime) * 1e3


def importing():
    child_cpu("import gpu_tracker")  # the files are in memory then
    ours, theirs = medians(lambda: child_cpu("import gpu_tracker"), lambda: child_cpu("pass"))
    row("import gpu_tracker, on top", "ms CPU", ours - theirs, "bare python", theirs, "<= 20 ms")


# ---- Marks ----


def a_pair(make, count=200):
    """CPU microseconds to enter and leave what `make` makes, made each time. So few that most rounds are not interrupted."""
    begin = time.process_time()
    for _ in range(count):
        with make():
            pass
    return (time.process_time() - begin) / count * 1e6


def marking(folder):
    import gpu_tracker as gput

    fast, csv = str(folder / "m.gputblocks"), str(folder / "m.csv")
    reused = gput.SubTracker("block", sub_tracking_file=fast)
    exact = gput.SubTracker("block", sub_tracking_file=str(folder / "exact.gputblocks"), exact=True)
    for what, make, target in (
        ("SubTracker, fast log", lambda: gput.SubTracker("block", sub_tracking_file=fast), "<= 2 us"),
        ("the same, one object again", lambda: reused, "<= 2 us"),
        ("one object again, exact", lambda: exact, ""),
        ("SubTracker, CSV", lambda: gput.SubTracker("block", sub_tracking_file=csv), "<= 6 us"),
        ("SubTracker, CSV, named by its line", lambda: gput.SubTracker(sub_tracking_file=csv), "<= 6 us"),
    ):
        ours, theirs = medians(lambda: a_pair(make), lambda: a_pair(contextlib.nullcontext), rounds=100 * ROUNDS // 4)
        row(what, "us CPU", ours, "nullcontext()", theirs, target)


# ---- Samples ----


def sampling(folder):
    """CPU of a sample of one idle process: from Python, and by the command."""
    import gpu_tracker as gput

    seconds = 2 if FULL else 0.5
    idle = subprocess.Popen(["sleep", "1000"])

    def cost(report):
        return report["tracker"]["cpu_seconds"] / report["tracker"]["ticks"] * 1e6

    def ours():
        with gput.Tracker(sleep_time=0.01, process_id=idle.pid, disable_logs=True) as tracker:
            time.sleep(seconds)
        return cost(tracker.details)

    def theirs():
        words = [BUILD / "gpu-tracker", "attach", "--st", "0.01", "--disable-logs", "-f", "json", str(idle.pid)]
        command = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
        time.sleep(seconds)
        command.send_signal(signal.SIGINT)
        return cost(json.loads(command.communicate()[0]))

    try:
        from_python, from_c = medians(ours, theirs)
    finally:
        idle.kill()
        idle.wait()
    row("a sample of one process, every 10 ms", "us CPU", from_python, "the command", from_c, "~ 1")


# ---- Tables ----


def write_samples(path, rows):
    import gpu_tracker as gput

    with gput.Tracker(tracking_file=path, disable_logs=True):
        pass
    head = path.read_text().splitlines()[:3]
    chance = random.Random(1)
    columns = head[2].split(",")
    with open(path, "w") as file:
        file.write("\n".join(head) + "\n")
        for i in range(rows):
            cells = [str(chance.randrange(9)) if name.endswith("threads") else repr(chance.random()) for name in columns]
            file.write(",".join(cells[:-1] + [f"{1.7e9 + i * 0.01:.6f}"]) + "\n")


def reading(folder):
    import gpu_tracker as gput

    try:
        import pandas
    except ImportError:
        print("skipped: reading tables (pandas is not installed)")
        return
    path = folder / "t.csv"
    rows = 200_000 if FULL else 50_000
    write_samples(path, rows)
    analyzer = gput.SubTrackingAnalyzer(path, None)
    pairs = [(1.7e9 + i, 1.7e9 + i + 0.5) for i in range(0, rows // 100, 2)]

    def timed(work):
        begin = time.process_time()
        work()
        return (time.process_time() - begin) * 1e3

    every, some, theirs = medians(
        lambda: timed(lambda: analyzer.load_timepoints([(0, 1e12)])),
        lambda: timed(lambda: analyzer.load_timepoints(pairs)),
        lambda: timed(lambda: pandas.read_csv(path, skiprows=2)),
    )
    row(f"load_timepoints, all of {rows:,}", "ms CPU", every, "pandas.read_csv", theirs, "<= 1")
    row("load_timepoints, half of them", "ms CPU", some, "pandas.read_csv", theirs, "<= 1")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        importing()
        marking(folder)
        sampling(folder)
        reading(folder)
        os.chdir("/")


if __name__ == "__main__":
    main()
