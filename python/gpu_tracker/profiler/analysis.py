"""`PandasFrameAnalysis`: statistics of the frames that PandasFrame gives, or of any with the same columns."""

from __future__ import annotations

from enum import Enum

from .. import _native
from .._pandas import columns, pandas, series
from .._shown import Shown
from .views import frame_of, logger, profile, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..table import Table
    from typing import Any

    _Rows = tuple[int, list[list[Any]], list[list[Any]]]


class StatsBy(Enum):
    """What steps are grouped by."""

    #: training phases: TRAIN, EVAL, GLOBAL
    TRAINING_PHASE = "training_phase"
    #: functions, operators
    FRAMEWORK_METRICS = "framework_metric"
    #: the phase that an event belongs to
    PROCESS = "process"


class Resource(Enum):
    """What readings of the system are about."""

    CPU = "cpu"
    GPU = "gpu"
    IO = "i/o"
    NETWORK = "network"
    MEMORY = "memory"


class JobStats(dict[str, "Any"]):
    """A dictionary whose entries are attributes too."""

    def __init__(self, *arguments: Any, **entries: Any) -> None:
        super().__init__(*arguments, **entries)
        self.__dict__ = self

    def _table(self) -> tuple[range, dict[str, list[Any]]]:
        """Columns, and key -> cells."""
        rows = max((len(_cells(value)) for value in self.values()), default=0)
        cells = {key: _cells(value) for key, value in self.items()}
        return range(rows), {key: list(row) if len(row) == rows else list(row) * rows for key, row in cells.items()}

    def __repr__(self) -> str:
        names, cells = self._table()
        library = pandas()
        if library is not None:
            return repr(library.DataFrame(cells).T)
        from .._text import table

        return "\n".join(table(cells, list(map(str, names)), [list(map(str, row)) for row in cells.values()]))

    def _repr_html_(self) -> str:
        from .._display import cells_html

        names, cells = self._table()
        return cells_html(names, ((key, *map(str, row)) for key, row in cells.items()), len(cells))


def _cells(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) or not hasattr(value, "__len__") else list(value)


#: what a reading, an event is to the library, by the columns of the frames
_READING = ("timestamp_us", "value", "system_metric", "dimension", "nodeID", "type")
_EVENT = ("start_time_us", "end_time_us", "step", "framework_metric", "process", "nodeID")
_NUMBERS = frozenset(("timestamp_us", "value", "start_time_us", "end_time_us", "step"))
_LOOPS = ("Step:ModeKeys.TRAIN", "Step:ModeKeys.GLOBAL")
_PHASE = "Step:ModeKeys"
_UTILIZATION = [f"utilization_{name}" for name in ("mean", "min", "max", "p50", "p95", "p99")]
_DURATIONS = [f"duration_{name}_us" for name in ("mean", "min", "max", "p50", "p95", "p99")]
_RANGES = [(90, 100), (10, 90), (0, 10)]


class PandasFrameAnalysis(Shown):
    """Statistics of a training profile.

    system_df, framework_df: the frames of PandasFrame. The second one gets a column duration_us, and in its column step the
        step of each event: the one that it names, else the one whose interval contains it, else -1.
    """

    sys_metrics_df: Any
    framework_metrics_df: Any

    def __init__(self, system_df: Any, framework_df: Any) -> None:
        self.sys_metrics_df = system_df
        self.framework_metrics_df = framework_df
        starts, ends = (values_of(framework_df, name) for name in ("start_time_us", "end_time_us"))
        framework_df["duration_us"] = [end - start for start, end in zip(starts, ends)]
        framework_df["step"] = _native.assign_steps(self._rows(readings=False))

    def _facts(self) -> list[tuple[str, str]]:
        frames = (("readings of the system", self.sys_metrics_df, "timestamp_us"), ("events", self.framework_metrics_df, "start_time_us"))
        return [(what, str(len(values_of(frame, column)))) for what, frame, column in frames]

    def _rows(self, readings: bool = True, events: bool = True) -> _Rows:
        """The frames as the library takes rows."""
        return (
            0,
            [_column(self.sys_metrics_df, name) if readings else [] for name in _READING],
            [_column(self.framework_metrics_df, name) if events else [] for name in _EVENT],
        )

    def get_job_statistics(self) -> JobStats:
        """When the job and its training loop began and ended, as JobStats: start_time, end_time, job_duration,
        training_loop_start, training_loop_end, training_loop_duration, initialization, finalization (microseconds, moments as
        text) and initialization_%, training_loop_%, finalization_% of the job's duration.

        The loop begins at step 0 of Step:ModeKeys.TRAIN or .GLOBAL. Its duration and percentage are Series: one row for each
        process that has that step.

        Raises ValueError when there is no reading or no step 0.
        """
        system = {name: values_of(self.sys_metrics_df, name) for name in ("timestamp", "timestamp_us")}
        names = ("start_time", "end_time", "start_time_us", "end_time_us", "step", "framework_metric")
        events = {name: values_of(self.framework_metrics_df, name) for name in names}
        first = [i for i, step in enumerate(events["step"]) if step == 0 and events["framework_metric"][i] in _LOOPS]
        if not system["timestamp"]:
            raise ValueError("There are no readings of the system: when the job began is not known")
        if not first:
            raise ValueError(f"There is no step 0 of {' or '.join(_LOOPS)}: when the training loop began is not known")
        job = max(system["timestamp_us"]) - min(system["timestamp_us"])
        end = max(events["end_time_us"])
        loops = [end - events["start_time_us"][i] for i in first]
        initialization = events["start_time_us"][first[0]]
        finalization = max(system["timestamp_us"]) - end
        return JobStats(
            {
                "start_time": min(system["timestamp"]),
                "end_time": max(system["timestamp"]),
                "job_duration": job,
                "training_loop_start": events["start_time"][first[0]],
                "training_loop_end": max(events["end_time"]),
                "training_loop_duration": _loop(loops, "int64"),
                "initialization": initialization,
                "finalization": finalization,
                "initialization_%": _percent(initialization, job),
                "training_loop_%": _loop([_percent(loop, job) for loop in loops], float),
                "finalization_%": _percent(finalization, job),
            }
        )

    def get_step_statistics(self, by: StatsBy = StatsBy.TRAINING_PHASE) -> Any:
        """Durations of steps: mean, min, max, p50, p95, p99 in microseconds, a row for each phase, metric or process.

        What happened under one name in one step is one span, from its first begin to its last end.
        Returns None when `by` is not a StatsBy.
        """
        if not isinstance(by, StatsBy):
            logger.warning("%s should be of type StatsBy", by)
            return None
        table = profile("steps", self._rows(readings=False), by=by.value)["steps"]
        return frame_of(table, [by.value, *_DURATIONS])

    def get_utilization_stats(
        self, resource: Resource | list[Resource] | None = None, by: StatsBy | None = None, phase: str | list[str] | None = None
    ) -> Any:
        """Utilization of resources by node: mean, min, max, p50, p95, p99 over all readings of a resource.

        resource: a Resource or a list of them. Default: all.
        by: StatsBy.TRAINING_PHASE: for each training phase, and before, between and after them.
        phase: with that, the phases that count. Default: all.
        Returns None when an argument is of another type, or no phase is there.
        """
        if by is not None and not isinstance(by, StatsBy):
            logger.warning("%s should be of type StatsBy", by)
            return None
        resources = _resources(resource, [Resource.CPU, Resource.GPU, Resource.MEMORY, Resource.IO, Resource.NETWORK])
        if resources is None:
            return None
        by_phase = by == StatsBy.TRAINING_PHASE
        options = self._phase_options(phase) if by_phase else {}
        if options is None:
            return None
        names = ["Resource", *(["Training_phase"] if by_phase else []), "nodeID"]
        rows = self._rows(events=by_phase)
        table = profile("utilization", rows, resources=resources, by_phase=by_phase, **options)["utilization"]
        data = table.to_dict()
        place = {name: i for i, name in enumerate(resources)}
        order = sorted(range(len(table)), key=lambda i: (place[data["Resource"][i]], *(data[name][i] for name in names[1:])))
        return columns({name: [data[name][i] for i in order] for name in [*names, *_UTILIZATION]})

    def get_device_usage_stats(
        self, device: Resource | list[Resource] | None = None, utilization_ranges: list[tuple[float, float]] | None = None
    ) -> Any:
        """How many readings of devices are in which range of percent: a row for each type and node, a column for each range
        that has any. A reading counts in the first range that it fits in, ends included.

        device: a Resource or a list of them. Default: CPU and GPU.
        utilization_ranges: a list of pairs. Default: 90 to 100, 10 to 90, 0 to 10.
        Returns an empty frame when an argument is of another type.
        """
        resources = _resources(device, [Resource.CPU, Resource.GPU])
        ranges = _RANGES if utilization_ranges is None else utilization_ranges
        if resources is None or not _are_ranges(ranges):
            return columns({})
        table = profile("devices", self._rows(events=False), resources=resources, ranges=ranges)["devices"]
        counts = {}
        for kind, node, *row in table.rows():
            if any(row[:-1]):  # the last one is of those in no range
                counts[kind, node] = dict(zip(map(tuple, ranges), row))
        keys = sorted(counts)
        used = sorted({pair for row in counts.values() for pair, count in row.items() if count})
        data = {"type": [kind for kind, _ in keys], "nodeID": [node for _, node in keys]}
        frame = columns(data | {pair: [counts[key][pair] for key in keys] for pair in used})
        if pandas() is not None:
            frame.columns = frame.columns.rename("ranges")
        return frame

    def get_training_phase_intervals(self, phase: str | list[str] | None = None) -> Any:
        """The intervals of training phases, and those before, between and after them: start_time_us, end_time_us, phase.

        phase: a name or a list of names. Default: all. Of several phases the runs of steps are intervals, of one its steps.
        Returns None when `phase` is of another type, or none is there.
        """
        options = self._phase_options(phase)
        if options is None:
            return None
        table = profile("phases", self._rows(), **options)["phases"].to_dict()
        return columns({name: table[old] for name, old in _INTERVALS.items()})

    def _phase_options(self, phase: str | list[str] | None) -> dict[str, Any] | None:
        """What selects the intervals of these phases; None when there are none."""
        there = dict.fromkeys(values_of(self.framework_metrics_df, "process"))
        if phase is None:
            phase = [name for name in there if _PHASE in name]
        phases = [phase] if isinstance(phase, str) else phase
        if not isinstance(phases, list):
            logger.warning("%s should be a list of strings", phase)
            return None
        found = [name for name in phases if name in there]
        if not found or not set(found) & set(values_of(self.framework_metrics_df, "framework_metric")):
            logger.warning("None of the training phases %s is in the framework's events", ", ".join(map(str, phases)))
            return None
        return {"phases": found, "each_step": len(found) == 1}


_INTERVALS = {"start_time_us": "start_time_us", "end_time_us": "end_time_us", "phase": "training_phase"}


def _column(frame: Any, name: str) -> list[Any]:
    """A column as the library takes it: a number that is missing is NaN, a text that is missing is empty."""
    values = values_of(frame, name)
    if name in _NUMBERS:
        return values
    return [value if isinstance(value, str) else "" for value in values]


def _loop(values: list[float], dtype: Any) -> Any:
    return series(dict(enumerate(values)), dtype=dtype)


def _percent(part: float, whole: float) -> float:
    return part / whole * 100 if whole else float("nan")


def _resources(resource: Resource | list[Resource] | None, default: list[Resource]) -> list[str] | None:
    """Names of resources; None when they are of another type."""
    if resource is None:
        resource = default
    elif isinstance(resource, Resource):
        resource = [resource]
    elif not isinstance(resource, list):
        logger.warning("%s should be of type list or Resource", resource)
        return None
    elif any(not isinstance(item, Resource) for item in resource):
        logger.warning("%s should hold nothing but Resource", resource)
        return None
    return [item.value for item in resource]


def _are_ranges(ranges: Any) -> bool:
    if not isinstance(ranges, list):
        logger.warning("%s should be a list of tuples containing the ranges", ranges)
    elif not ranges:
        logger.warning("The list of ranges cannot be empty")
    elif any(len(pair) != 2 for pair in ranges):
        logger.warning("Each range in %s must have a start and end value", ranges)
    else:
        return True
    return False
