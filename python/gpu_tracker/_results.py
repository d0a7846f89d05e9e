"""What analysis and comparison give. With pandas installed, tables are its DataFrames and Series."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import pickle
import tempfile
import types
import typing

from . import _native
from ._pandas import frame, series

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
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


def _series_to_json(series):
    return {name: _python(value) for name, value in series.to_dict().items()}


def _frame_to_json(frame):
    return {name: _series_to_json(row) for name, row in frame.iterrows()}


def _python(value):
    """numpy's numbers as Python's own."""
    value = value.item() if hasattr(value, "item") else value
    return str(value) if isinstance(value, str) else value


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
    exact: what the kernel counted from start to stop of each call: figure -> unit, total, mean, each None where it is not
        known. None: the marks were made without.
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


def _block_to_json(block):
    counts = {name: getattr(block, name) for name in ("name", "num_timepoints", "num_calls", "num_non_empty_calls")}
    return {
        **counts,
        **({"num_outside_calls": block.num_outside_calls} if block.num_outside_calls else {}),
        "compute_time": _series_to_json(block.compute_time),
        "resource_usage": _frame_to_json(block.resource_usage),
        **_missing_of(block),
        **_energy_of(block),
        **({} if block.exact is None else {"exact": block.exact}),
    }


def _missing_of(results):
    return {"missing_timepoints": dict(results.missing_timepoints)} if results.missing_timepoints else {}


def _energy_of(results):
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

    def __str__(self):
        from ._text import sub_tracking_text

        return sub_tracking_text(self.to_json())

    def _repr_html_(self):
        """For notebooks: the main figures of the session and its code blocks."""
        from ._display import analysis_html

        return analysis_html(self.to_json())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SubTrackingResults:
        """Reads results from a pickle of this package or of the old one, or from JSON. Needs no pandas, and calls nothing
        that a pickle names."""
        with files_of([content_of(path)]) as [file]:
            return results_of_json(_native.load_analysis(file, _native.JSON))


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

    def __str__(self):
        from ._text import comparison_text

        return comparison_text(self.to_json())


def _map(comparisons):
    return {name: _series_to_json(series) for name, series in comparisons.items()}


def _maps(measurements):
    return {name: _map(blocks) for name, blocks in measurements.items()}


# ---- Reading ----


def _with_more(results, values):
    if "missing_timepoints" in values:
        results.missing_timepoints = values["missing_timepoints"]
    if "energy" in values:
        results.energy = values["energy"]
    return results


def _block(values):
    block = CodeBlockResults(
        name=values["name"],
        num_timepoints=values["num_timepoints"],
        num_calls=values["num_calls"],
        num_non_empty_calls=values["num_non_empty_calls"],
        compute_time=series(_floats(values["compute_time"])),
        resource_usage=frame(_rows(values["resource_usage"])),
    )
    if "num_outside_calls" in values:
        block.num_outside_calls = values["num_outside_calls"]
    if "exact" in values:
        block.exact = values["exact"]
    return _with_more(block, values)


def _floats(values):
    return {name: float("nan") if value is None else float(value) for name, value in values.items()}


def _rows(rows):
    return {name: _floats(row) for name, row in rows.items()}


def results_of_json(text):
    """SubTrackingResults out of the JSON of an analysis."""
    values = json.loads(text)
    results = SubTrackingResults(
        overall=frame(_rows(values["overall"])),
        static_data=series(values["static_data"], name=0, dtype=object),
        code_block_results=[_block(block) for block in values["code_block_results"]],
    )
    for name in "num_lost_calls", "lost_calls_at_least":
        if name in values:
            setattr(results, name, values[name])
    return _with_more(results, values)


class _PlainUnpickler(pickle.Unpickler):
    """Reads results that were pickled without pandas: only their own classes, nothing else is ever called."""

    _ALLOWED = {
        (_MODULE, "SubTrackingResults"),
        (_MODULE, "CodeBlockResults"),
        ("gpu_tracker._tables", "Series"),
        ("gpu_tracker._tables", "Frame"),
    }

    def find_class(self, module, name):
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of results")
        return super().find_class(module, name)


def content_of(path):
    """What is in a file of results, as the library reads it."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        _native.load_analysis(path, _native.JSON)
    except ValueError:
        try:
            results = _PlainUnpickler(io.BytesIO(content)).load()
        except Exception:
            results = None
        if not isinstance(results, SubTrackingResults):
            raise
        return json.dumps(results.to_json()).encode()
    return content


@contextlib.contextmanager
def files_of(contents):
    """Paths of files of those contents."""
    with tempfile.TemporaryDirectory(prefix="gpu-tracker-") as folder:
        paths = [os.path.join(folder, str(i)) for i in range(len(contents))]
        for path, content in zip(paths, contents):
            with open(path, "wb") as file:
                file.write(content)
        yield paths


for _class in CodeBlockResults, SubTrackingResults, ComparisonResults:
    _class.__module__ = _MODULE
