"""What analysis and comparison give. With pandas installed, tables are its DataFrames and Series."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import tempfile
import types
import typing

from . import _native
from ._pandas import frame, series
from .table import records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike
    from typing import Any, Protocol, TypeVar

    _Value = TypeVar("_Value", covariant=True)

    class Series(Protocol[_Value]):
        """pandas.Series; without pandas a plain object of the same shape."""

        @property
        def index(self) -> Any: ...
        @property
        def loc(self) -> Any: ...
        def __getitem__(self, label: str, /) -> _Value: ...
        def __iter__(self) -> Iterator[_Value]: ...
        def __len__(self) -> int: ...
        def items(self) -> Iterable[tuple[Any, _Value]]: ...
        def to_dict(self) -> dict[str, Any]: ...
        def __getattr__(self, name: str) -> Any: ...  # labels, and all else that pandas has

    class Frame(Protocol):
        """pandas.DataFrame; without pandas a plain object of the same shape."""

        @property
        def index(self) -> Any: ...
        @property
        def columns(self) -> Any: ...
        @property
        def loc(self) -> Any: ...
        def __getitem__(self, column: str, /) -> Series[float]: ...
        def iterrows(self) -> Iterable[tuple[Any, Series[float]]]: ...
        def __getattr__(self, name: str) -> Any: ...

    _Any = TypeVar("_Any")
    _Results = TypeVar("_Results", "CodeBlockResults", "SubTrackingResults")


def _series_to_json(series: Series[Any]) -> dict[str, Any]:
    return {name: _python(value) for name, value in series.to_dict().items()}


def _frame_to_json(frame: Frame) -> dict[str, dict[str, Any]]:
    return {name: _series_to_json(row) for name, row in frame.iterrows()}


def _python(value: Any) -> Any:
    """numpy's numbers as Python's own."""
    value = value.item() if hasattr(value, "item") else value
    return str(value) if isinstance(value, str) else value


COUNTS = ("num_timepoints", "num_calls", "num_non_empty_calls")
STATISTICS = ("min", "max", "mean", "std")
_MODULE = "gpu_tracker.sub_tracker"  # pickles name the classes by their public place, the old package's too


@dataclasses.dataclass
class CodeBlockResults:
    """What one code block used over all of its calls.

    name: of the block.
    num_timepoints: samples inside at least one call.
    num_calls: calls that were started and stopped.
    num_non_empty_calls: of these, calls with at least one sample.
    num_outside_calls: of these, calls that stopped before the first sample or started after the last: what they used is not known.
    compute_time: min, max, mean, std, total, in seconds.
    resource_usage: min, max, mean, std of each measurement over those samples, in the units of the tracking file.
    missing_timepoints: measurement -> in how many of the samples it is missing, where it is in some. Its figures are of the
        others; NaN where those are all 0.
    energy: joules of the machine and of the tracked processes while it ran; None: the tracking file has none.
    exact: what the kernel counted from start to stop of each call: figure -> unit, total, mean (block_peak_rss: max), each
        None where it is not known. None: the marks were made without.
    """

    # Not dataclass fields: the old package's classes have none.
    energy: typing.ClassVar[dict[str, Any] | None] = None
    exact: typing.ClassVar[dict[str, Any] | None] = None
    num_outside_calls: typing.ClassVar[int] = 0
    missing_timepoints: typing.ClassVar[Mapping[str, int]] = types.MappingProxyType({})

    name: str
    num_timepoints: int
    num_calls: int
    num_non_empty_calls: int
    compute_time: Series[float]
    resource_usage: Frame

    def _repr_html_(self) -> str:
        """For notebooks: calls, times, and what was used."""
        from ._display import block_html

        return block_html(_block_to_json(self))


def _block_to_json(block: CodeBlockResults) -> dict[str, Any]:
    counts = {name: value for name, value in vars(block).items() if not hasattr(value, "items")}
    return {
        **counts,
        "compute_time": _series_to_json(block.compute_time),
        "resource_usage": _frame_to_json(block.resource_usage),
        **_missing_of(block),
        **_energy_of(block),
        **({} if block.exact is None else {"exact": block.exact}),
    }


def _missing_of(results: CodeBlockResults | SubTrackingResults) -> dict[str, Any]:
    return {"missing_timepoints": dict(results.missing_timepoints)} if results.missing_timepoints else {}


def _energy_of(results: CodeBlockResults | SubTrackingResults) -> dict[str, Any]:
    return {} if results.energy is None else {"energy": dict(results.energy)}


@dataclasses.dataclass
class SubTrackingResults:
    """What a session used as a whole, and in each of its code blocks.

    overall: min, max, mean, std of each measurement over all samples.
    missing_timepoints: measurement -> in how many samples it is missing, as in CodeBlockResults.
    num_lost_calls: calls that are not in the sub-tracking file, because its disk was full or it had reached a limit.
    lost_calls_at_least: there may be more: the file was truncated.
    static_data: what does not change during a session: units, capacities, counts.
    code_block_results: a CodeBlockResults for each block, sorted by name.
    energy: joules of the machine and of the tracked processes: unit, then package, dram, …, total, main, descendants,
        combined, each None where it is not known. None: the tracking file has none.
    """

    energy: typing.ClassVar[dict[str, Any] | None] = None
    missing_timepoints: typing.ClassVar[Mapping[str, int]] = types.MappingProxyType({})
    num_lost_calls: typing.ClassVar[int] = 0
    lost_calls_at_least: typing.ClassVar[bool] = False
    # The tracking file and the marks that an analysis read. Pickles do not have them.
    _files: typing.ClassVar[tuple[str | None, ...]] = ()

    overall: Frame
    static_data: Series[Any]
    code_block_results: list[CodeBlockResults]

    def to_json(self) -> dict[str, Any]:
        """As dictionaries and lists, ready for `json.dumps`."""
        return {
            "overall": _frame_to_json(self.overall),
            "static_data": _series_to_json(self.static_data),
            "code_block_results": [_block_to_json(block) for block in self.code_block_results],
            **({"num_lost_calls": self.num_lost_calls} if self.num_lost_calls or self.lost_calls_at_least else {}),
            **({"lost_calls_at_least": True} if self.lost_calls_at_least else {}),
            **_missing_of(self),
            **_energy_of(self),
        }

    def __str__(self) -> str:
        from ._text import sub_tracking_text

        return sub_tracking_text(self.to_json())

    def _repr_html_(self) -> str:
        """For notebooks: the main figures of the session and its code blocks, and of an analysis its curves."""
        from ._display import analysis_html

        return analysis_html(self.to_json(), *self._files)

    def __getstate__(self) -> dict[str, Any]:
        return _without(self, "_files")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SubTrackingResults:
        """Reads results from a pickle of this package or of the old one, or from JSON. Needs no pandas, and calls nothing
        that a pickle names."""
        with files_of([content_of(path)]) as [file]:
            return results_of(_native.load_analysis(file))


@dataclasses.dataclass
class ComparisonResults:
    """One statistic of several sessions, each time sorted by value.

    overall_resource_usage: measurement -> session -> value.
    code_block_resource_usage: measurement -> code block -> session -> value.
    code_block_compute_time: code block -> session -> seconds.
    overall_energy, code_block_energy: package, dram, …, total, main, descendants, combined -> (code block ->) session -> joules; None:
        no session has any.
    lost_calls: session -> {"num_lost_calls": …, "lost_calls_at_least": …} as in SubTrackingResults, of sessions that lost calls; None: none has.
    """

    # No fields, as above.
    lost_calls: typing.ClassVar[dict[str, dict[str, int]] | None] = None
    overall_energy: typing.ClassVar[dict[str, Series[float]] | None] = None
    code_block_energy: typing.ClassVar[dict[str, dict[str, Series[float]]] | None] = None
    # Makes HTML of to_json(): the TrackingComparison, which knows units. Pickles do not have it.
    _shown: typing.ClassVar[typing.Any] = None

    overall_resource_usage: dict[str, Series[float]]
    code_block_resource_usage: dict[str, dict[str, Series[float]]]
    code_block_compute_time: dict[str, Series[float]]

    def to_json(self) -> dict[str, Any]:
        """As dictionaries, ready for `json.dumps`."""
        return {
            "overall_resource_usage": _map(self.overall_resource_usage),
            "code_block_resource_usage": _maps(self.code_block_resource_usage),
            "code_block_compute_time": _map(self.code_block_compute_time),
            **({} if self.overall_energy is None else {"overall_energy": _map(self.overall_energy)}),
            **({} if self.code_block_energy is None else {"code_block_energy": _maps(self.code_block_energy)}),
            **({} if self.lost_calls is None else {"lost_calls": self.lost_calls}),
        }

    def __str__(self) -> str:
        from ._text import comparison_text

        return comparison_text(self.to_json())

    def _repr_html_(self) -> str:
        """For notebooks: the session as a whole and the times of code blocks; a TrackingComparison's with units and a picture."""
        from ._display import compared_html

        return (self._shown or compared_html)(self.to_json())

    def __getstate__(self) -> dict[str, Any]:
        return _without(self, "_shown")


def _without(results: SubTrackingResults | ComparisonResults, name: str) -> dict[str, Any]:
    return {key: value for key, value in vars(results).items() if key != name}


def _map(comparisons: Mapping[str, Series[Any]]) -> dict[str, dict[str, Any]]:
    return {name: _series_to_json(series) for name, series in comparisons.items()}


def _maps(measurements: Mapping[str, Mapping[str, Series[Any]]]) -> dict[str, dict[str, dict[str, Any]]]:
    return {name: _map(blocks) for name, blocks in measurements.items()}


# ---- Reading ----


def results_of(tables: Mapping[str, _native.Table]) -> SubTrackingResults:
    """SubTrackingResults out of the native tables of an analysis."""
    usage = iter(records_of(tables["code_block_usage"]))
    overall = records_of(tables["overall"])
    units = {name: unit for name, _, unit, _ in tables["code_blocks"].fields}
    results = SubTrackingResults(
        overall=_frame_of(overall),
        static_data=series(_record(tables["static_data"]), name=0, dtype=object),
        code_block_results=[
            _block_of(block, list(itertools.islice(usage, len(overall))), units) for block in records_of(tables["code_blocks"])
        ],
    )
    lost = _lost_of(_record(tables["lost_calls"]))
    if lost["num_lost_calls"] or lost["lost_calls_at_least"]:
        vars(results)["num_lost_calls"] = lost["num_lost_calls"]
    if lost["lost_calls_at_least"]:
        vars(results)["lost_calls_at_least"] = True
    if "energy" in tables:
        vars(results)["energy"] = {"unit": "joules", **_record(tables["energy"])}
    return _with_missing(results, overall)


def _record(table: _native.Table) -> dict[str, Any]:
    """The one row of a table."""
    return next(iter(records_of(table)), {})


def _block_of(row: dict[str, Any], usage: list[dict[str, Any]], units: Mapping[str, str | None]) -> CodeBlockResults:
    """Of its row, and of the rows of its measurements."""
    block = CodeBlockResults(
        name=row["code_block_name"],
        **{name: row[name] for name in COUNTS},
        compute_time=series({name: _known(row[f"compute_time_{name}"]) for name in (*STATISTICS, "total")}),
        resource_usage=_frame_of(usage),
    )
    for name, value in row.items():  # num_outside_calls, and what a later version has
        if value and name not in vars(block) and not name.startswith(_NO_COUNTS):
            setattr(block, name, value)
    exact = {name: _exact_of(name, value, units[f"exact_{name}"], row["num_calls"]) for name, value in _after("exact_", row)}
    if exact:
        vars(block)["exact"] = exact
    joules = dict(_after("energy_", row))
    if joules:
        vars(block)["energy"] = {"unit": "joules", **joules}
    return _with_missing(block, usage)


# Columns of the table of code blocks that say which one it is, or that are in tables of their own here.
_NO_COUNTS = "code_block_name", "process_id", "thread_", "rank", "category", "compute_time_", "self_time_", "cpu_time_", "energy_", "exact_"


def _after(prefix: str, row: Mapping[str, _Any]) -> list[tuple[str, _Any]]:
    """The columns of that prefix, without it."""
    return [(name.removeprefix(prefix), value) for name, value in row.items() if name.startswith(prefix)]


def _exact_of(name: str, value: float | None, unit: str | None, calls: int) -> dict[str, Any]:
    """A sum over the calls with its mean, or the largest of them. A count of the kernel is whole, and stays that."""
    if value is not None and unit in (None, "bytes") and value == int(value):
        value = int(value)
    figure: dict[str, Any] = {"unit": unit} if unit else {}
    if name == "block_peak_rss":
        return {**figure, "max": value}
    mean = None if value is None or not calls else value / calls
    return {**figure, "total": value, "mean": mean}


def _known(value: float | None) -> float:
    return float("nan") if value is None else value


def _frame_of(rows: Iterable[Mapping[str, Any]]) -> Frame:
    usage: Frame = frame({row["measurement"]: {name: _known(row[name]) for name in STATISTICS} for row in rows})
    return usage


def _with_missing(results: _Results, rows: Iterable[Mapping[str, Any]]) -> _Results:
    missing = {row["measurement"]: row["missing_timepoints"] for row in rows if row["missing_timepoints"]}
    if missing:
        vars(results)["missing_timepoints"] = missing
    return results


def _lost_of(record: Mapping[str, Any]) -> dict[str, int]:
    return {"num_lost_calls": int(record["num_lost_calls"]), "lost_calls_at_least": bool(record["at_least"])}


def comparison_of(tables: Mapping[str, _native.Table]) -> ComparisonResults:
    """ComparisonResults out of the native tables of a comparison."""
    overall: dict[str, dict[str, float]] = {}
    blocks: dict[str, dict[str, dict[str, float]]] = {}
    times: dict[str, dict[str, float]] = {}
    lost: dict[str, dict[str, int]] = {}
    for row in records_of(tables["comparison"]):
        block, measurement, session = row["code_block"], row["measurement"], row["session"]
        if measurement in _LOST and row["statistic"] == "total":
            lost[session] = _lost_of({"num_lost_calls": row["value"], "at_least": _LOST[measurement]})
            continue
        if block is None:
            values = overall.setdefault(measurement, {})
        elif measurement == "compute_time":
            values = times.setdefault(block, {})
        else:
            values = blocks.setdefault(measurement, {}).setdefault(block, {})
        values[session] = _known(row["value"])
    for measurement in tables["whole_numbers"].column(0):
        overall[measurement] = {session: int(value) for session, value in overall[measurement].items()}
    results = ComparisonResults(
        overall_resource_usage=_compared({name: overall[name] for name in overall if not name.startswith("energy_")}),
        code_block_resource_usage={name: _compared(blocks[name]) for name in blocks if not name.startswith("energy_")},
        code_block_compute_time=_compared(times),
    )
    overall_energy, block_energy = _after("energy_", overall), _after("energy_", blocks)
    if overall_energy:
        vars(results)["overall_energy"] = _compared(dict(overall_energy))
    if block_energy:
        vars(results)["code_block_energy"] = {name: _compared(values) for name, values in block_energy}
    if lost:
        vars(results)["lost_calls"] = lost
    return results


# The rows of calls that a session lost, and whether there may be more.
_LOST = {"lost_calls": False, "lost_calls_at_least": True}


def _compared(sessions: Mapping[str, Mapping[str, Any]]) -> dict[str, Series[float]]:
    """Of name -> session -> value. Whole numbers stay that."""
    return {name: series(values, dtype=None) for name, values in sessions.items()}


def content_of(path: str | PathLike[str]) -> bytes:
    """What is in a file of results, as the library reads it: a pickle becomes JSON."""
    from ._pickles import is_pickle, read_analysis

    with open(path, "rb") as file:
        content = file.read()
    if is_pickle(content):
        return json.dumps(read_analysis(content, os.fsdecode(path))).encode()
    _native.load_analysis(path)  # says at once what is wrong with it
    return content


@contextlib.contextmanager
def files_of(contents: Sequence[bytes]) -> Iterator[list[str]]:
    """Paths of files of those contents."""
    with tempfile.TemporaryDirectory(prefix="gpu-tracker-") as folder:
        paths = [os.path.join(folder, str(i)) for i in range(len(contents))]
        for path, content in zip(paths, contents):
            with open(path, "wb") as file:
                file.write(content)
        yield paths


for _class in CodeBlockResults, SubTrackingResults, ComparisonResults:
    _class.__module__ = _MODULE
