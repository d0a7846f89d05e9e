"""Runs of programs with one known bottleneck: what they say of themselves, and what gpu-tracker says of them."""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# The name of each, and what of the results is of its main thread alone.
PROGRAMS = {
    "compute": "time_went", "core": "main_thread", "quota": "time_went", "pipe": "time_went", "socket": "time_went", "poll": "time_went",
    "sleep": "time_went", "mutex": "time_went", "flock": "time_went", "gil": "time_went", "child": "main_thread", "forks": "main_thread",
    "stopped": "time_went", "storage": "time_went", "fuse": "time_went", "mapped": "time_went", "reclaim": "time_went", "swap": "time_went",
    "gpu_wait": "time_went", "gpu_slowed": "time_went"}
COUNTED = {"computing", "cpu_wait", "quota"}
MAPPED_BYTES = 64 << 20
# A control group (version 1) in which each of them runs, and its settings.
GROUPS = {
    "quota": ("cpu", {"cpu.cfs_period_us": 100000, "cpu.cfs_quota_us": 50000}),
    "reclaim": ("memory", {"memory.limit_in_bytes": 24 << 20}),
    "swap": ("memory", {"memory.limit_in_bytes": 24 << 20})}
# What the first piece of advice says of a GPU.
GPU_ADVICE = {"gpu_wait": ("gpu idle", r"The GPU was idle for "), "gpu_slowed": ("gpu slowed", r"GPU \d+ was slowed by ")}


class Refused(Exception):
    """The program cannot run here; says why."""


def shares(seconds, whole):
    return {cause: 100 * value / whole for cause, value in seconds.items()}


def truth_of(path):
    """Seconds of each cause, by what the program knows of itself, and of how many seconds."""
    lines = dict(line.split() for line in path.read_text().splitlines())
    seconds = {cause: float(value) for cause, value in lines.items()}
    return seconds, seconds.pop("seconds")


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
    """Shares of the causes in a tracking file: means of its rows, each with the time since the row before; and of how many seconds they are."""
    _, _, names, *rows = csv.reader(pathlib.Path(path).read_text().splitlines())
    times = [float(row[names.index("timestamp")]) for row in rows]
    columns = {name[len("time_"):-len("_percent")]: i for i, name in enumerate(names) if name.startswith("time_")}
    # The first row is of the time since the start, which no row says: it is left out where there are others.
    weights = [0 if len(times) > 1 else 1, *(after - before for before, after in zip(times, times[1:]))]
    known = [(row, weight) for row, weight in zip(rows, weights) if row[columns["computing"]]]
    whole = sum(weight for _, weight in known)
    return {cause: sum(float(row[i]) * weight for row, weight in known) / whole for cause, i in columns.items()}, whole if len(times) > 1 else 0


class Group:
    """A control group of a program, for the time of a with statement; nothing for those without one."""

    def __init__(self, name):
        self.controller, self.settings = GROUPS.get(name, (None, {}))
        self.path = pathlib.Path(f"/sys/fs/cgroup/{self.controller}/gpu-tracker-test-{os.getpid()}-{name}")

    def __enter__(self):
        try:
            if self.controller:
                self.path.mkdir()
            for file, value in self.settings.items():
                (self.path / file).write_text(str(value))
        except OSError as error:
            raise Refused(f"no control group ({self.controller}) can be made: {error}") from None
        if self.controller:
            (self.path / "cgroup.procs").chmod(0o666)
        return self

    def __exit__(self, *_):
        if self.controller:
            self.path.rmdir()

    def enter(self):
        """The words that run a command in it."""
        return ["sh", "-c", f'echo $$ > {self.path}/cgroup.procs && exec "$@"', "sh"] if self.controller else []

    def held_seconds(self):
        if self.controller != "cpu":
            return 0
        return int((self.path / "cpu.stat").read_text().split("throttled_time ")[1].split()[0]) / 1e9


def has_swap():
    return len(pathlib.Path("/proc/swaps").read_text().splitlines()) > 1


def prepare(folder, name, as_user):
    """Makes the files that a program needs. Returns the words that come before gpu-tracker's, those that run the program, and the environment."""
    before, environment = [], dict(os.environ)
    words = [os.environ["GPUT_BOTTLENECK"] if not as_user else "./bottleneck"]
    if name == "gil":
        python = next((path for path in ("/usr/bin/python3", sys.executable) if pathlib.Path(path).exists()))
        shutil.copy(HERE / "gil.py", folder)
        words = [python, "gil.py"]
    if name == "fuse":
        before = [os.environ["GPUT_SLOW_DISK"]]
        refused = subprocess.run([*before, "true"], cwd=folder, capture_output=True, text=True)
        if refused.returncode != 0:
            raise Refused(refused.stderr.strip())
    if name == "swap" and not has_swap():
        raise Refused("there is no swap space")
    if name in ("mapped", "reclaim"):
        with open(folder / "mapped", "wb") as file:
            for i in range(MAPPED_BYTES >> 20):
                file.write(bytes([i]) * (1 << 20))
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if name in GPU_ADVICE:
        shutil.copy(os.environ["GPUT_FAKE_NVML"], folder)
        environment |= {"GPUT_NVML": "./" + pathlib.Path(os.environ["GPUT_FAKE_NVML"]).name, "FAKE_NVML_SCENARIO": "gpu", "GPUT_SYSFS": "/nonexistent"}
        # What a driver does not have at first, it is not asked for again.
        (folder / "gpu").write_text("gpu GPU-aaaa\nmemory 16000000000 0 9000000000\nutilization 0\n"
                                    "value nvmlDeviceGetCurrentClocksEventReasons 0\nvalue field/74 0\n")
    return before, words, environment


def run(folder, command, name, seconds, interval, as_user=(), before=()):
    """The report of a run, and what the program says of itself: shares, of so many seconds. `as_user`: words that make it another user. Its folder
    has copies of the programs then. `before`: words that come first."""
    folder = pathlib.Path(folder)
    for file in folder.iterdir():
        if file.name in ("truth", "report.json", "rows.csv", "mapped", "gpu"):
            file.unlink()
    with Group(name) as group:
        first_words, program, environment = prepare(folder, name, as_user)
        # What has less memory than it needs is the program alone, not gpu-tracker.
        outside, inside = ([], group.enter()) if group.controller == "memory" else (group.enter(), [])
        program_name = "compute" if name == "quota" else name
        words = [*before, *first_words, *outside, *as_user, str(command), "run", "--disable-logs", "--st", str(interval), "--tf", "rows.csv",
                 "-f", "json", "-o", "report.json", "--", *inside, *program, program_name, str(seconds), "truth"]
        subprocess.run(words, cwd=folder, check=True, capture_output=True, env=environment)
        truth, whole = truth_of(folder / "truth")
        if group.controller == "cpu":
            truth["quota"] = min(group.held_seconds(), truth["cpu_wait"])
            truth["cpu_wait"] -= truth["quota"]
    return json.loads((folder / "report.json").read_text()), shares(truth, whole), whole


def first(causes):
    return max(causes, key=causes.get)


def first_named(folder, command, report, name):
    """The first cause that `why` names: its first share, or what its first piece of advice says of a GPU."""
    page = subprocess.run([str(command), "why", "report.json"], cwd=folder, capture_output=True, text=True, check=True).stdout
    advice = re.search(r"\nAdvice\n  (.*)", page)
    for cause, pattern in GPU_ADVICE.values():
        if advice and re.match(pattern, advice[1]):
            return cause
    return first(said_of(report, PROGRAMS[name])[0])


def first_known(truth, name):
    return GPU_ADVICE[name][0] if name in GPU_ADVICE else first(truth)
