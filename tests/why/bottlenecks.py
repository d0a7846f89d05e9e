"""Runs of programs with one known bottleneck: what they say of themselves, and what gpu-tracker says of them."""

import csv
import json
import os
import pathlib
import shutil
import subprocess

# The name of each, and what of the results is of its main thread alone.
PROGRAMS = {
    "compute": "time_went", "core": "main_thread", "pipe": "time_went", "socket": "time_went", "poll": "time_went", "sleep": "time_went",
    "mutex": "time_went", "flock": "time_went", "child": "main_thread", "forks": "main_thread", "stopped": "time_went",
    "storage": "time_went", "mapped": "time_went"}
COUNTED = {"computing", "cpu_wait", "quota"}


def shares(seconds, whole):
    return {cause: 100 * value / whole for cause, value in seconds.items()}


def truth_of(path):
    """Shares in percent, by what the program knows of itself, and of how many seconds."""
    lines = dict(line.split() for line in path.read_text().splitlines())
    seconds = {cause: float(value) for cause, value in lines.items()}
    whole = seconds.pop("seconds")
    return shares(seconds, whole), whole


def said_of(report, section):
    """Shares in percent, and the half-widths of those that are sampled (95 %)."""
    wall = report[section]
    said = {name[:-len("_seconds")]: value for name, value in wall.items() if name.endswith("_seconds")}
    said = shares(said, wall["seconds"])
    rest = sum(value for cause, value in said.items() if cause not in COUNTED)
    widths = {}
    for cause, value in said.items():
        part = value / rest if rest else 0
        widths[cause] = 0 if cause in COUNTED else rest * min(1, max(1.96 * (max(part * (1 - part), 0) / max(wall["samples"], 1)) ** 0.5,
                                                                     1.5 / max(wall["samples"], 1)))
    return said, widths


def rows_of(path):
    """Shares of the causes in a tracking file: means of its rows, each with the time since the row before."""
    _, _, names, *rows = csv.reader(pathlib.Path(path).read_text().splitlines())
    times = [float(row[names.index("timestamp")]) for row in rows]
    columns = {name[len("time_"):-len("_percent")]: i for i, name in enumerate(names) if name.startswith("time_")}
    # The first row is of the time since the start, which no row says: it is left out where there are others.
    weights = [0 if len(times) > 1 else 1, *(after - before for before, after in zip(times, times[1:]))]
    known = [(row, weight) for row, weight in zip(rows, weights) if row[columns["computing"]]]
    whole = sum(weight for _, weight in known)
    return {cause: sum(float(row[i]) * weight for row, weight in known) / whole for cause, i in columns.items()}


def run(folder, command, program, name, seconds, interval, as_user=(), options=()):
    """The report of a run, and what the program says of itself: shares, of so many seconds. `as_user`: words that make it another user."""
    folder = pathlib.Path(folder)
    for file in "truth", "report.json", "rows.csv":
        (folder / file).unlink(missing_ok=True)
    words = [*as_user, str(command), "run", "--disable-logs", "--st", str(interval), *options, "--tf", "rows.csv", "-f", "json", "-o", "report.json",
             "--", str(program), name, str(seconds), "truth"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return json.loads((folder / "report.json").read_text()), *truth_of(folder / "truth")


def first(causes):
    return max(causes, key=causes.get)
