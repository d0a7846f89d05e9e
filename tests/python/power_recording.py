"""Recordings of power, as tests of gpu_tracker.power make and read them."""

import datetime
import json
import pathlib
import time

import package

BEGIN = datetime.datetime(2023, 6, 30, 16, 32, 14)
END = json.dumps("END OF RECORDING SEGMENT")


def line(seconds, **cpu):
    return json.dumps({"date": str(BEGIN + datetime.timedelta(seconds=seconds)), "metrics": {"cpu": cpu}})


def write_recording(*lines, folder="rec", last="\n"):
    pathlib.Path(folder).mkdir(exist_ok=True)
    (pathlib.Path(folder) / "power_metrics.json").write_text("\n".join(lines) + last)


def lines_of(folder="rec"):
    return [json.loads(text) for text in (pathlib.Path(folder) / "power_metrics.json").read_text().splitlines()]


def wait_until(condition):
    end = time.monotonic() + package.PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


def wait_for_lines(count, folder="rec"):
    path = pathlib.Path(folder) / "power_metrics.json"
    wait_until(lambda: path.read_text().count("\n") >= count)


def trapezoid(points):
    """The integral of (seconds, value)."""
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))
