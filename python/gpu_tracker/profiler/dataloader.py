"""`PT_dataloader_analysis`: how a PyTorch data loader spent its time."""

from __future__ import annotations

import datetime
import statistics

from .._pandas import columns
from .._shown import Shown
from .frame import FORMAT
from .views import values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from .charts import Window
    from .frame import Moment, PandasFrame

    _Row = dict[str, Any]

_ITERATORS = ("_MultiProcessingDataLoaderIter.__init__", "_SingleProcessDataLoaderIter.__init__")
_OUTLIERS = ["start_time", "end_time", "duration_us", "worker_id"]


class PT_dataloader_analysis(Shown):
    """Initialization of iterators, lifetimes of workers, calls of GetNext, time a batch.

    Each `analyze_…` prints what it found, and returns a frame of the outliers, the longest first: those that took at least
    twice the median. None: there are none.

    pandas_frame: a PandasFrame.
    """

    pd_data_frame: PandasFrame
    dataIter_metric: Any
    initialize_metric: Any
    dataWorker_metric: Any
    analyze_dataIter: bool
    analyze_initializer: bool
    analyze_workers: bool

    def __init__(self, pandas_frame: PandasFrame) -> None:
        self.pd_data_frame = pandas_frame
        self.dataIter_metric, self.initialize_metric, self.dataWorker_metric = pandas_frame._dataloader_metrics(
            [".*DataLoaderIter::GetNext"], ["DataLoaderIterInitialize"], ["DataLoaderWorker"]
        )
        self.analyze_dataIter = len(self.dataIter_metric) > 0
        self.analyze_initializer = len(self.initialize_metric) > 0
        self.analyze_workers = len(self.dataWorker_metric) > 0

    def _facts(self) -> list[tuple[str, str]]:
        frames = (("initializations", self.initialize_metric), ("workers", self.dataWorker_metric), ("calls of GetNext", self.dataIter_metric))
        return [(what, str(len(frame))) for what, frame in frames]

    def analyze_dataloaderIter_initialization(self) -> None:
        """How iterators are configured, how often they were made, and how long that took (microseconds)."""
        for kind in _ITERATORS:
            self._inspect_iters(kind)

    def _inspect_iters(self, kind: str) -> None:
        if not self.analyze_initializer:
            print("Trace events corresponding to DataLoaderIter initialization are not present")
            return
        rows = [row for row in _rows(self.initialize_metric) if row["framework_metric"] == kind]
        if not rows:
            print(f"Training is not configured to use {kind} iterator")
            return
        print(
            f"Training is configured to use {kind} with pin_memory enabled = {rows[0]['pin_memory']} and number of workers = "
            f"{rows[0]['num_workers']}"
        )
        print(f"The {kind} is initialized for {len(rows)} times during training")
        durations = [row["duration_us"] for row in rows]
        print(f"Median Duration {_median(durations)} and Maximum duration for initialization of iterators {max(durations)}")
        found = _outliers(rows, "duration_us")
        if found:
            print("Start time and End time for iterator initialization that are outliers (duration > 2 * median)")
            print(_frame(found, _OUTLIERS[:3]))

    def analyze_dataloaderWorkers(self) -> Any:
        """How many workers there were, and how long they lived (microseconds)."""
        if not self.analyze_workers:
            print("Trace events corresponding to DataLoaderWorker processes are not present")
            return None
        rows = _rows(self.dataWorker_metric)
        print(f"Total number of workers spun off during the training {len(rows)}")
        _print_durations(rows)
        return _describe(
            _outliers(rows, "duration_us"),
            _OUTLIERS,
            "Start time and End time for iterator initialization that are outliers (duration > 2 * median)",
            "No outliers found in dataloader workers",
        )

    def analyze_dataloader_getnext(self) -> Any:
        """How often the next batch was asked for, and how long that took (microseconds)."""
        if not self.analyze_dataIter:
            print("Trace events corresponding to DataLoaderIter::GetNext calls are not present")
            return None
        rows = _rows(self.dataIter_metric)
        print(f"Total number of GetNext calls made during the training {len(rows)}")
        _print_durations(rows)
        return _describe(
            _outliers(rows, "duration_us"),
            _OUTLIERS,
            "Start time and End time for GetNext durations that are outliers (duration > 2 * median)",
            "No outliers found in dataloader getnext invocations.",
        )

    def analyze_batchtime(self) -> Any:
        """The time from one call of GetNext to the next one of the same process (seconds)."""
        if not self.analyze_dataIter:
            print("Trace events corresponding to DataLoaderIter::GetNext calls are not present")
            return None
        rows = _with_batch_times(_rows(self.dataIter_metric))
        times = [row["BatchTime_in_seconds"] for row in rows]
        print(f"Median time spent on each batch of data = {_median(times)} seconds")
        return _describe(
            _outliers(rows, "BatchTime_in_seconds"),
            ["previous_batch_start", "start_time", "BatchTime_in_seconds", "worker_id"],
            "Start time and End time for processing the databatches that are outliers (duration > 2 * median)",
            "No outliers found in time taken to process the databatches.",
        )

    def plot_the_window(
        self,
        start_timestamp: Moment,
        end_timestamp: Moment,
        select_events: list[str] = [".*"],
        select_dimensions: list[str] = [".*"],
    ) -> Window:
        """A chart of an interval: utilization over time, and the events below it.

        start_timestamp, end_timestamp: microseconds since the epoch, or moments as `convert_datetime_to_timestamp` takes
            them.
        select_events: regular expressions, of which one is found in an event's name or process.
        select_dimensions: regular expressions, of which one is found in a dimension ("CPUUtilization") or a metric ("cpu0").

        Returns what a notebook shows as a chart; its `html` is that as text.
        """
        from .charts import Window

        moment = self.pd_data_frame.convert_datetime_to_timestamp
        return Window(self.pd_data_frame, moment(start_timestamp), moment(end_timestamp), select_events, select_dimensions)


def _rows(frame: Any) -> list[_Row]:
    """A frame as a list of dictionaries."""
    names = list(frame.columns)
    return [dict(zip(names, row)) for row in zip(*(values_of(frame, name) for name in names))]


def _frame(rows: list[_Row], names: list[str]) -> Any:
    return columns({name: [row[name] for row in rows] for name in names})


def _median(values: list[float]) -> float:
    return float(statistics.median(values)) if values else float("nan")


def _print_durations(rows: list[_Row]) -> None:
    durations = [row["duration_us"] for row in rows]
    print(f"Median Duration {_median(durations)} and Maximum duration for worker processes {max(durations)}")


def _outliers(rows: list[_Row], name: str) -> list[_Row]:
    """Rows of at least twice the median, the longest first."""
    limit = 2 * _median([row[name] for row in rows])
    return sorted((row for row in rows if row[name] >= limit), key=lambda row: -row[name])


def _describe(rows: list[_Row], names: list[str], found: str, none: str) -> Any:
    print(found if rows else none)
    return _frame(rows, names) if rows else None


def _with_batch_times(rows: list[_Row]) -> list[_Row]:
    """Each call of GetNext but the first of its process, with the time since the one before it; moments as datetimes."""
    found: list[_Row] = []
    previous: dict[tuple[Any, Any], _Row] = {}
    for row in sorted(rows, key=lambda row: (row["node_id"], row["pid"], row["end_time_us"])):
        key = row["node_id"], row["pid"]
        before = previous.get(key)
        previous[key] = row
        if before is not None:
            seconds = (row["start_time_us"] - before["start_time_us"]) / 1000000
            moments = {"previous_batch_start": _moment(before), "start_time": _moment(row)}
            found.append(row | moments | {"BatchTime_in_seconds": seconds})
    return found


def _moment(row: _Row) -> datetime.datetime:
    return datetime.datetime.strptime(row["start_time"], FORMAT)
