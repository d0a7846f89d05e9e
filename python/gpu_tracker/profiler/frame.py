"""`PandasFrame`: the readings and events of a trace root as tables."""

from __future__ import annotations

import datetime
import re

from .. import _native
from .._pandas import columns
from .._shown import Shown
from .views import frame_of, local_path, profile, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike
    from typing import Any, TypeAlias

    Moment: TypeAlias = str | datetime.datetime | int | float

_SYSTEM = ["timestamp", "timestamp_us", "value", "system_metric", "dimension", "nodeID", "type"]
_FRAMEWORK = [
    "start_time",
    "end_time",
    "start_time_us",
    "end_time_us",
    "tid",
    "pid",
    "framework_metric",
    "step",
    "bytes",
    "process",
    "nodeID",
]
_DATALOADER = [
    "start_time",
    "end_time",
    "start_time_us",
    "end_time_us",
    "duration_us",
    "pid",
    "framework_metric",
    "step",
    "worker_id",
    "num_workers",
    "pin_memory",
    "process",
    "nodeID",
]
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
FORMAT: str = "%Y-%m-%dT%H:%M:%S:%f"


class PandasFrame(Shown):
    """A training profile row by row.

    path: the trace root, a folder with `framework` and `system` in it. Its files are read at each call, so those that a
        running job adds are there at the next one.
    use_in_memory_cache, scan_interval: taken for the sake of old programs; they change nothing.

    `start_time` is the moment that the `_us` columns count from: that of the first system file, in microseconds since the
    epoch; 0 without one.

    Raises FileNotFoundError (no such folder), ValueError (no trace root).
    """

    path: str
    start_time: int

    def __init__(self, path: str | PathLike[str], use_in_memory_cache: bool = False, scan_interval: int = 5000000000) -> None:
        self.path = local_path(path)
        self.interval = scan_interval
        self.step_time_mapping: dict[int, Any] = {}
        self.start_time = _native.profile_start(self.path)
        self._requested: dict[str, dict[tuple[Any, ...], None]] = {}

    def _facts(self) -> list[tuple[str, str]]:
        return [("trace root", self.path), ("begins at", f"{self.start_time} µs since 1970" if self.start_time else "an unknown time")]

    def get_all_system_metrics(self, selected_system_metrics: list[str] = []) -> Any:
        """The readings of the system: timestamp, timestamp_us, value, system_metric, dimension, nodeID, type.

        selected_system_metrics: only those of these metrics ("gpu0") or dimensions.
        """
        return self._readings(selected_system_metrics)

    def get_all_framework_metrics(self, selected_framework_metrics: list[str] = []) -> Any:
        """The events of the framework: start_time, end_time, start_time_us, end_time_us, tid, pid, framework_metric, step,
        bytes, process, nodeID; step and bytes are -1 where they are not known.

        selected_framework_metrics: only those of these names, their own or what the column framework_metric shows, or
            processes (training phases).
        """
        return self._events(selected_framework_metrics)

    def convert_datetime_to_timestamp(self, timestamp: Moment) -> int:
        """Microseconds since the epoch of a moment: text as the frames have it, or a datetime; UTC unless it says otherwise."""
        return _microseconds(timestamp)

    def get_framework_metrics_by_timesteps(
        self, timestep_list: Iterable[Moment] = [], selected_framework_metrics: list[str] = []
    ) -> tuple[dict[str, float], dict[str, int], dict[str, int]]:
        """What went on at moments: each event that contains one, its ends not included, adds its whole duration.

        timestep_list: moments as `convert_datetime_to_timestamp` takes them.

        Returns three dictionaries: process -> sum as a share of the largest; event -> microseconds; step phase ->
        microseconds.
        """
        moments = [_microseconds(moment) for moment in timestep_list]
        if not moments:
            return {}, {}, {}
        tables = profile("metrics", self.path, start=min(moments), moments=moments, metrics=selected_framework_metrics)
        processes, metrics, steps = (dict(tables[name].rows()) for name in ("processes_at", "metrics_at", "steps_at"))
        return processes, _whole(metrics), _whole(steps)

    def get_framework_metrics_by_begin_and_end_timesteps(
        self,
        begin_timestep_list: Iterable[Moment],
        end_timestep_list: Iterable[Moment],
        selected_framework_metrics: list[str] = [],
    ) -> tuple[dict[str, float], dict[str, float]]:
        """What went on in intervals: each event that overlaps one, but for steps, adds its whole duration.

        begin_timestep_list, end_timestep_list: moments as `convert_datetime_to_timestamp` takes them.

        Returns two dictionaries: process -> sum, event -> sum, each as a share of its largest.
        """
        intervals = [(_microseconds(begin), _microseconds(end)) for begin, end in zip(begin_timestep_list, end_timestep_list)]
        if not intervals:
            return {}, {}
        tables = profile(
            "metrics",
            self.path,
            start=min(begin for begin, _ in intervals),
            intervals=intervals,
            metrics=selected_framework_metrics,
        )
        processes, metrics = (dict(tables[name].rows()) for name in ("processes_between", "metrics_between"))
        return processes, metrics

    def get_profiler_data_by_time(
        self,
        start_time_us: float,
        end_time_us: float,
        cache_metrics: bool = False,
        selected_framework_metrics: list[str] = [],
        selected_system_metrics: list[str] = [],
        get_framework_metrics: bool = True,
        get_system_metrics: bool = True,
    ) -> tuple[Any, Any]:
        """The readings within an interval, and the events that overlap it: (system, framework).

        start_time_us, end_time_us: microseconds since the epoch, both inclusive; an interval that ends before it starts is empty.
        cache_metrics: all that was asked for so far in this way, together.
        get_framework_metrics, get_system_metrics: False: that one is empty.
        """
        span = {"start": start_time_us, "end": end_time_us}
        if start_time_us > end_time_us:
            get_framework_metrics = get_system_metrics = False
        system = self._readings(selected_system_metrics, **span) if get_system_metrics else _empty(_SYSTEM)
        framework = self._events(selected_framework_metrics, **span) if get_framework_metrics else _empty(_FRAMEWORK)
        if cache_metrics:
            system = self._with_earlier("system", system, _SYSTEM)
            framework = self._with_earlier("framework", framework, _FRAMEWORK)
        return system, framework

    def get_profiler_data_by_step(self, start_step: int, end_step: int, cache_metrics: bool = False) -> tuple[Any, Any]:
        """The events of steps, both inclusive, and the readings between the first begin and the last end of those:
        (system, framework).

        Events that name no step belong to no step here; from a step to a lower one there is nothing.
        """
        if start_step > end_step:
            return _empty(_SYSTEM), _empty(_FRAMEWORK)
        tables = profile("metrics", self.path, start=start_step, end=end_step, by_step=True)
        return frame_of(tables["system"], _SYSTEM), frame_of(tables["framework"], _FRAMEWORK)

    def get_all_dataloader_metrics(self, selected_framework_metrics: list[str] = []) -> Any:
        """The events with what data loaders say: start_time, end_time, start_time_us, end_time_us, duration_us, pid,
        framework_metric, step, worker_id, num_workers (-1: not known), pin_memory ("True", "False", "NA"), process, node_id.

        selected_framework_metrics: regular expressions, of which one is found in the event's name or its process.
        """
        return self._dataloader_metrics(selected_framework_metrics)[0]

    def _dataloader_metrics(self, *selections: list[str]) -> list[Any]:
        """get_all_dataloader_metrics() of several selections; the files are read once."""
        table = profile("events", self.path)["events"]
        data = {name: table[name].tolist() for name in [*_DATALOADER, "event"]}
        names = ["node_id" if name == "nodeID" else name for name in _DATALOADER]
        frames = []
        for patterns in selections:
            kept: Sequence[int] = range(len(table))
            if patterns:
                fits = _Matches(patterns)
                kept = [i for i in kept if fits[data["event"][i]] or fits[data["process"][i]]]
            frames.append(columns({new: [data[old][i] for i in kept] for new, old in zip(names, _DATALOADER)}))
        return frames

    def _readings(self, metrics: list[str], **span: float) -> Any:
        return frame_of(profile("readings", self.path, metrics=metrics, **span)["system"], _SYSTEM)

    def _events(self, metrics: list[str], **span: float) -> Any:
        return frame_of(profile("framework", self.path, metrics=metrics, **span)["framework"], _FRAMEWORK)

    def _with_earlier(self, kind: str, frame: Any, names: list[str]) -> Any:
        """The rows of a frame together with those of earlier requests, each once."""
        rows = self._requested.setdefault(kind, {})
        rows.update(dict.fromkeys(zip(*(values_of(frame, name) for name in names))))
        return columns({name: [row[i] for row in rows] for i, name in enumerate(names)})


class _Matches(dict[str, bool]):
    """Name -> is one of the patterns found in it?"""

    def __init__(self, patterns: Iterable[str]) -> None:
        super().__init__()
        self._patterns = [re.compile(pattern) for pattern in patterns]

    def __missing__(self, name: str) -> bool:
        self[name] = found = any(pattern.search(name) for pattern in self._patterns)
        return found


def _empty(names: list[str]) -> Any:
    return columns({name: [] for name in names})


def _whole(sums: dict[str, float]) -> dict[str, int]:
    return {name: int(microseconds) for name, microseconds in sums.items()}


def _microseconds(moment: Any) -> int:
    if isinstance(moment, (int, float)):
        return int(moment)
    if hasattr(moment, "astype"):  # numpy's
        moment = moment.astype("datetime64[us]").item()
    if isinstance(moment, str):
        moment = datetime.datetime.strptime(moment, FORMAT)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    return int((moment - _EPOCH) // datetime.timedelta(microseconds=1))
