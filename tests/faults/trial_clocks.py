"""A system clock that jumps, and a day that passes in jumps: durations, rows and figures stay what they are."""

import csv
import json
import os
import subprocess
import unittest

from faults import MARKER, SANITIZED, STEPPING_CLOCK, main, problem_of, run, trial
from formats import rapl

HOUR, DAY = 3600, 86400


def stepping(kind, seconds, milliseconds):
    if SANITIZED or not STEPPING_CLOCK.exists():
        raise unittest.SkipTest("clocks cannot be replaced here")
    return os.environ | {"LD_PRELOAD": str(STEPPING_CLOCK), "CLOCK_STEPS": f"{kind} {seconds} {milliseconds}"}


def read_stamps(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file.read().splitlines()[2:]))
    return [float(row["timestamp"]) for row in rows], rows


def impossible(report, rows):
    """Figures that no clock may bring about."""
    shares = [float(row[name]) for row in rows for name in row if name.endswith("percent") and row[name]]
    if any(not 0 <= share <= 100 * 2 * os.cpu_count() for share in shares):
        return f"percent between {min(shares)} and {max(shares)}"
    return "" if 0 <= report["cpu_utilization"]["main"]["mean_sum_percent"] <= 100 * os.cpu_count() else "an impossible mean"


@trial("stepped clock", "run, the system's time an hour forth and back", 3, 60)
def system_time(rounds):
    script = "echo output; until [ $(cat t.csv 2>/dev/null | wc -l) -ge 6 ]; do sleep 0.1; done; sleep 0.2; exit 7"  # with three lines above the rows
    for number in rounds:
        folder = rounds.fresh()
        environment = stepping("system", HOUR, 20)
        done = run("run", "--st", "0.01", "--tu", "seconds", "--tf", "t.csv", "-o", "r.json", "--", "sh", "-c", script,
                   folder=folder, env=environment)
        problem = "" if done.returncode == 7 and done.stdout == "output\n" else f"exit status {done.returncode}: {done.stderr}"
        if not problem:
            report = json.loads((folder / "r.json").read_text())
            stamps, rows = read_stamps(folder / "t.csv")
            seconds = report["compute_time"]["time"]
            problem = impossible(report, rows)
            if not 0.2 <= seconds < HOUR / 2:
                problem = f"{seconds} s"
            elif len(stamps) < 3:
                problem = f"{len(stamps)} rows"
            elif stamps != sorted(stamps) or stamps[-1] - stamps[0] >= HOUR / 2:
                problem = f"rows over {stamps[-1] - stamps[0]} s"
        rounds.count_round(problem, f"round {number}")


@trial("stepped clock", "energy record, the system's time an hour forth and back", 2, 40)
def recorded_power(rounds):
    for number in rounds:
        folder = rounds.fresh()
        environment = stepping("system", HOUR, 30) | rapl(folder)
        driver = ("json", "sqlite")[number % 2]
        done = run("energy", "record", "--output-folder", "rec", "--energy-driver", driver, "--measurement-period", "0.1", "--period", "0.02", "--", "sleep", "0.4",
                   folder=folder, env=environment)
        problem = problem_of(done)
        if not problem:
            done = run("energy", "summary", "rec", "-f", "json", folder=folder)
            problem = problem_of(done)
            seconds = json.loads(done.stdout)["exp_duration"] if not done.returncode else None
            problem = problem or ("" if seconds is not None and seconds < HOUR / 2 else f"{driver}: {seconds} s, {done.stderr}")
        rounds.count_round(problem, f"round {number}")


@trial("stepped clock", "marks as CSV, SQLite and .gputblocks, the system's time an hour forth and back", 6, 60)
def marks(rounds):
    names = ("m.csv", "m.sqlite", "m.gputblocks")
    for number in rounds:
        folder = rounds.fresh()
        name = names[number % len(names)]
        done = subprocess.run([MARKER, folder / name, "500"], env=stepping("system", HOUR, 2), capture_output=True)
        problem = "" if done.returncode == 0 else done.stderr.decode()
        if not problem:
            run("sub-track", "combine", "--mix", "--stf", "all.csv", "-p", name, folder=folder)
            with open(folder / "all.csv", newline="") as file:
                stamps = [float(row["timestamp"]) for row in csv.DictReader(file)]
            seconds = [stop - start for start, stop in zip(stamps[::2], stamps[1::2])]
            problem = "" if 0 <= min(seconds) and max(seconds) < HOUR / 2 else f"{name}: calls of {min(seconds)} to {max(seconds)} s"
            problem = problem or ("" if stamps == sorted(stamps) else f"{name}: marks are out of order")
        rounds.count_round(problem, f"round {number}")


@trial("stepped clock", "run, a day in 120 steps", 1, 10)
def day(rounds):
    script = "sleep 1.2; until [ $(wc -l <t.csv) -ge 14 ]; do sleep 0.1; done; exit 7"  # with three lines above the rows
    for number in rounds:
        folder = rounds.fresh()
        done = run("run", "--st", "60", "--tu", "seconds", "--tf", "t.csv", "-o", "r.json", "--", "sh", "-c", script,
                   folder=folder, env=stepping("all", DAY // 120, 10))
        problem = "" if done.returncode == 7 else f"exit status {done.returncode}: {done.stderr}"
        if not problem:
            report = json.loads((folder / "r.json").read_text())
            stamps, rows = read_stamps(folder / "t.csv")
            seconds = report["compute_time"]["time"]
            problem = impossible(report, rows)
            if seconds < DAY * 0.99 or not 0.5 * seconds < stamps[-1] - stamps[0] < seconds + HOUR:
                problem = f"{seconds} s, rows over {stamps[-1] - stamps[0]} s"
            elif len(rows) < 10 or stamps != sorted(stamps):
                problem = f"{len(rows)} rows"
        rounds.count_round(problem, f"round {number}")


if __name__ == "__main__":
    main()
