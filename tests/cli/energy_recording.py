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
                             "GPUT_NVML": str(BUILD / "tests" / "gpu" / "libfake-nvml.so")}
