"""The name that programs of AIPowerMeter import: see gpu_tracker.power.

`python -m deep_learning_power_measure.power_measure.experiment --output_folder exp1 --curve intel_power` shows a recording.
"""

import itertools

import gpu_tracker.power
from gpu_tracker.power import EXP_DONE, STOP_MESSAGE, ExpResults

__all__ = [
    "EXP_DONE", "STOP_MESSAGE", "ExpResults", "Experiment", "cumsum", "humanize_bytes", "integrate", "interpolate",
    "joules_to_kwh", "joules_to_wh", "time_to_sec", "total",
]  # fmt: skip


class Experiment(gpu_tracker.power.Experiment):
    """That of gpu_tracker.power; without `cont` a recording that is in the folder is deleted, as programs expect here."""

    def __init__(self, driver, model=None, input_size=None, cont=False):
        if not (cont or driver.cont):
            driver.erase()
        super().__init__(driver, model, input_size, cont)

    def save_model_card(self, model, input_size, device="cpu"):
        """Writes model_summary.json of a torch model, which stays on its device."""
        self.db_driver.save_model_card(gpu_tracker.power._summary_of(model, input_size))


# ---- Curves: segments, lists of {"date": seconds, "value": number} ----


def _cut(points, start, end):
    """The points between the bounds, and those on the lines that the bounds cut."""
    for before, point in zip([None, *points], points):
        for bound in (start, end):
            if before is not None and bound is not None and before["date"] < bound < point["date"]:
                part = (bound - before["date"]) / (point["date"] - before["date"])
                yield {"date": bound, "value": before["value"] + part * (point["value"] - before["value"])}
        if (start is None or start <= point["date"]) and (end is None or point["date"] <= end):
            yield point


def integrate(metric, start=None, end=None, allow_None=False):
    """The integral of one segment over seconds, by trapezoids, as it has become at each point: [0, …]. Where a value is None
    it is None or, with allow_None, goes on after the gap."""
    sums = [0]
    if any(point["value"] is None for point in metric) and not allow_None:
        return None
    points = list(_cut([point for point in metric if point["value"] is not None], start, end))
    for before, point in zip(points, points[1:]):
        sums.append(sums[-1] + (point["date"] - before["date"]) * (before["value"] + point["value"]) / 2)
    return sums


def total(metric, start=None, end=None):
    """The integral of a curve, segment by segment; of one by GPU a dictionary. None: there is no curve."""
    if isinstance(metric, dict):
        return {device: total(segments, start, end) for device, segments in metric.items()}
    if not metric:
        return None
    sums = [integrate(segment, start, end) for segment in metric]
    return None if None in sums else sum(each[-1] for each in sums)


def cumsum(metric):
    """The sums of the values of one segment up to each point."""
    return list(itertools.accumulate(point["value"] for point in metric))


def interpolate(metric1, metric2):
    """Two segments at all dates of either, on the lines between their points."""
    dates = sorted({point["date"] for metric in (metric1, metric2) for point in metric})
    return tuple([{"date": date, "value": _value_at(metric, date)} for date in dates] for metric in (metric1, metric2))


def _value_at(points, date):
    if date <= points[0]["date"]:
        return points[0]["value"]
    for before, point in zip(points, points[1:]):
        if date <= point["date"]:
            part = (date - before["date"]) / (point["date"] - before["date"])
            return before["value"] + part * (point["value"] - before["value"])
    return points[-1]["value"]


# ---- Units ----


def humanize_bytes(num, suffix="B"):
    """A number of bytes for people: 1536 is 1.5KiB."""
    for unit in ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"):
        if abs(num) < 1024 or unit == "Yi":
            return f"{num:.1f}{unit}{suffix}"
        num /= 1024


def joules_to_wh(n):
    """Watt-hours, of a number or of each of several."""
    return [each / 3600 for each in n] if hasattr(n, "__iter__") else n / 3600


def joules_to_kwh(n):
    """Kilowatt-hours, of a number or of each of several."""
    return [each / 3.6e6 for each in n] if hasattr(n, "__iter__") else n / 3.6e6


def time_to_sec(t):
    """Seconds since 1970 of a datetime."""
    return t.timestamp()


if __name__ == "__main__":
    import sys

    from deep_learning_power_measure.__main__ import parser, show

    sys.exit(show(parser("python -m deep_learning_power_measure.power_measure.experiment").parse_args()))
