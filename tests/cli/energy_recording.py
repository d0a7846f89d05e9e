"""Recordings of power in AIPowerMeter's form, as tests make and read them."""

import contextlib
import datetime
import json
import os
import sqlite3

from command import BUILD, CommandTest
from energy_machine import Machine

END = json.dumps("END OF RECORDING SEGMENT")


def trapezoid(points):
    """The integral of (seconds, value) as the old tool computes it."""
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))


class TheirReader:
    """A recording as AIPowerMeter's own reader takes it: by these keys of every line, cut into segments where a curve has a
    point at the last date of one."""

    OF_ALL = ("nvidia_power", "nvidia_memory", "nvidia_use_rate")
    BY_GPU = ("per_gpu_nvidia_power", "per_gpu_nvidia_memory", "per_gpu_nvidia_use_rate")

    def __init__(self, folder):
        self.curves, self.ends, date = {}, [], None
        for text in (folder / "power_metrics.json").read_text().splitlines():
            entry = json.loads(text)
            if entry == "END OF RECORDING SEGMENT":
                self.ends.append(date)
                continue
            date = datetime.datetime.fromisoformat(entry["date"]).timestamp()
            for name, value in entry["metrics"]["cpu"].items():
                self.add(name, date, sum(value.values()) if isinstance(value, dict) else value)
            if "gpu" in entry["metrics"]:
                for name in self.OF_ALL:
                    self.add(name, date, entry["metrics"]["gpu"][name])
                for name in self.BY_GPU:
                    for gpu, value in entry["metrics"]["gpu"][name].items():
                        self.add((name, gpu), date, value)
        self.ends.pop()

    def add(self, name, date, value):
        if value is not None:
            self.curves.setdefault(name, []).append((date, value))

    def segments(self, name):
        found = [[]]
        for point in self.curves[name]:
            found[-1].append(point)
            if point[0] in self.ends:
                found.append([])
        return found

    def is_cut(self, name):
        return {date for date, _ in self.curves[name]}.issuperset(self.ends)

    def total(self, name):
        return sum(map(trapezoid, self.segments(name)))


class RecordingTest(CommandTest):
    """A folder with a machine of files, and what a recording of it, `rec`, says."""

    def setUp(self):
        super().setUp()
        self.machine = Machine(self.folder / "sys")

    def lines(self, folder="rec"):
        return [json.loads(text) for text in (self.folder / folder / "power_metrics.json").read_text().splitlines()]

    def summary(self):
        return json.loads(self.run_command("energy", "summary", "rec", "-f", "json").stdout)

    def total(self, *names):
        """The integral over the sum of these metrics as the old tool computes it, of the lines or rows as they are."""
        points = {}
        if (self.folder / "rec" / "power_metrics.json").exists():
            for entry in self.lines()[:-1]:
                for name in names:
                    value = entry["metrics"]["cpu"].get(name)
                    if value is not None:
                        value = sum(value.values()) if isinstance(value, dict) else value
                        points[entry["date"]] = points.get(entry["date"], 0) + value
        else:
            with contextlib.closing(sqlite3.connect(self.folder / "rec" / "power_metrics.sqlite")) as database:
                rows = f"SELECT date, sum(value) FROM power_metrics WHERE name IN ({', '.join('?' * len(names))}) GROUP BY date"
                points = dict(database.execute(rows, names))
        return trapezoid([(datetime.datetime.fromisoformat(date).timestamp(), points[date]) for date in sorted(points)])

    def assert_near(self, value, expected):
        """Within 0.1 %."""
        self.assertLessEqual(abs(value - expected), 1e-3 * abs(expected), f"{value} is not {expected}")

    def gpu_environment(self, scenario="", sysfs="/nonexistent"):
        """The GPUs of the scenario, and by default no counters of the CPU."""
        path = self.folder / "scenario"
        path.write_text(scenario)
        return os.environ | {"GPUT_SYSFS": str(sysfs), "FAKE_NVML_SCENARIO": str(path),
                             "GPUT_NVML": str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so")}
