"""The name that programs of AIPowerMeter import: see gpu_tracker.power.

`python -m deep_learning_power_measure.power_measure.experiment --output_folder exp1 --curve intel_power` shows a recording.
"""

from __future__ import annotations

import itertools

import gpu_tracker.power
from gpu_tracker.power import EXP_DONE, STOP_MESSAGE, ExpResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator
    from typing import Any
    from gpu_tracker.power import JsonParser

    _Point = dict[str, Any]  # date: seconds, value: number or None

__all__ = [
    "EXP_DONE", "STOP_MESSAGE", "ExpResults", "Experiment", "cumsum", "humanize_bytes", "integrate", "interpolate",
    "joules_to_kwh", "joules_to_wh", "time_to_sec", "total",
]  # fmt: skip


class Experiment(gpu_tracker.power.Experiment):
    """That of gpu_tracker.power; without `cont` a recording that is in the folder is deleted, as programs expect here."""

    def __init__(self, driver: JsonParser, model: Any = None, input_size: Any = None, cont: bool = False) -> None:
        if not (cont or driver.cont):
            driver.erase()
        super().__init__(driver, model, input_size, cont)

    def save_model_card(self, model: Any, input_size: Any, device: Any = "cpu") -> None:
        """Writes model_summary.json of a torch model, which stays on its device."""
        self.db_driver.save_model_card(gpu_tracker.power._summary_of(model, input_size))


# ---- Curves: segments, lists of {"date": seconds, "value": number} ----


def _cut(points: list[_Point], start: float | None, end: float | None) -> Iterator[_Point]:
    """The points between the bounds, and those on the lines that the bounds cut."""
    for before, point in zip([None, *points], points):
        for bound in (start, end):
            if before is not None and bound is not None and before["date"] < bound < point["date"]:
                part = (bound - before["date"]) / (point["date"] - before["date"])
                yield {"date": bound, "value": before["value"] + part * (point["value"] - before["value"])}
        if (start is None or start <= point["date"]) and (end is None or point["date"] <= end):
            yield point


def integrate(metric: Iterable[_Point], start: float | None = None, end: float | None = None, allow_None: bool = False) -> list[float] | None:
    """The integral of one segment over seconds, by trapezoids, as it has become at each point: [0, …]. Where a value is None
    it is None or, with allow_None, goes on after the gap."""
    sums: list[float] = [0]
    every = list(metric)
    if any(point["value"] is None for point in every) and not allow_None:
        return None
    points = list(_cut([point for point in every if point["value"] is not None], start, end))
    for before, point in zip(points, points[1:]):
        sums.append(sums[-1] + (point["date"] - before["date"]) * (before["value"] + point["value"]) / 2)
    return sums


def total(metric: Any, start: float | None = None, end: float | None = None) -> Any:
    """The integral of a curve, segment by segment; of one by GPU a dictionary. None: there is no curve."""
    if isinstance(metric, dict):
        return {device: total(segments, start, end) for device, segments in metric.items()}
    if not metric:
        return None
    sums = [integrate(segment, start, end) for segment in metric]
    known = [each[-1] for each in sums if each is not None]
    return sum(known) if len(known) == len(sums) else None


def cumsum(metric: Iterable[_Point]) -> list[float]:
    """The sums of the values of one segment up to each point."""
    return list(itertools.accumulate(point["value"] for point in metric))


def interpolate(metric1: list[_Point], metric2: list[_Point]) -> tuple[list[_Point], list[_Point]]:
    """Two segments at all dates of either, on the lines between their points."""
    dates = sorted({point["date"] for metric in (metric1, metric2) for point in metric})
    first, second = ([{"date": date, "value": _value_at(metric, date)} for date in dates] for metric in (metric1, metric2))
    return first, second


def _value_at(points: list[_Point], date: float) -> Any:
    if date <= points[0]["date"]:
        return points[0]["value"]
    for before, point in zip(points, points[1:]):
        if date <= point["date"]:
            part = (date - before["date"]) / (point["date"] - before["date"])
            return before["value"] + part * (point["value"] - before["value"])
    return points[-1]["value"]


# ---- Units ----


def humanize_bytes(num: float, suffix: str = "B") -> str:
    """A number of bytes for people: 1536 is 1.5KiB."""
    for unit in ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi"):
        if abs(num) < 1024:
            return f"{num:.1f}{unit}{suffix}"
        num /= 1024
    return f"{num:.1f}Yi{suffix}"


def joules_to_wh(n: Any) -> Any:
    """Watt-hours, of a number or of each of several."""
    return [each / 3600 for each in n] if hasattr(n, "__iter__") else n / 3600


def joules_to_kwh(n: Any) -> Any:
    """Kilowatt-hours, of a number or of each of several."""
    return [each / 3.6e6 for each in n] if hasattr(n, "__iter__") else n / 3.6e6


def time_to_sec(t: datetime.datetime) -> float:
    """Seconds since 1970 of a datetime."""
    return t.timestamp()


if __name__ == "__main__":
    import sys

    from deep_learning_power_measure.__main__ import parser, show

    sys.exit(show(parser("python -m deep_learning_power_measure.power_measure.experiment").parse_args()))
