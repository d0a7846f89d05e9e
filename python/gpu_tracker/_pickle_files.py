"""Pickles of results, written so that the older gpu_tracker loads them, too. `gpu-tracker` executes `main`, which also reads them for it."""

from __future__ import annotations

import json
import math
import os
import pickle
import sys
import types

from ._pickles import MOST_BYTES, read_analysis, read_usage
from ._results import COUNTS, STATISTICS, CodeBlockResults, ComparisonResults, SubTrackingResults
from ._usage import resource_usage_of
from .tracker import Tracker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    _Results = TypeVar("_Results")


class _Pandas:
    """A data frame or series that is written as a call of its constructor with plain lists. So it loads with every pandas, where a
    copy of its inner state would tie the file to one."""

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name = name
        self.arguments = arguments


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) is _Pandas:
            return getattr(sys.modules["pandas"], value.name), value.arguments
        return NotImplemented


def _stand_in_for_pandas() -> types.ModuleType:
    """A pickle only names pandas' classes, and pandas may be missing, or take half a second to import."""
    module = types.ModuleType("pandas")
    for name in ("DataFrame", "Series"):
        setattr(module, name, type(name, (), {"__module__": "pandas"}))
    return module


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _series(values: Mapping[str, float | None]) -> Any:
    return _Pandas("Series", [_known(value) for value in values.values()], list(values))


def _frame(rows: Mapping[str, Mapping[str, float | None]]) -> Any:
    cells = [[_known(row[name]) for name in STATISTICS] for row in rows.values()]
    return _Pandas("DataFrame", cells, list(rows), list(STATISTICS))


def _with_more(results: _Results, values: Mapping[str, Any], names: Iterable[str]) -> _Results:
    """Adds what the older gpu_tracker's classes do not know, and keep as plain attributes."""
    vars(results).update((name, values[name]) for name in names if name in values)
    return results


def _session(content: str) -> Tracker:
    """A stopped Tracker of a report, as JSON and then, after a NUL, as text."""
    report, _, text = content.partition("\0")
    report = json.loads(report)
    tracker = Tracker.__new__(Tracker)
    tracker.__setstate__({
        "resource_usage": resource_usage_of(report),
        "n_join_attempts": 5,  # the defaults, which a Tracker shows
        "join_timeout": 10.0,
        "state": Tracker.State.STOPPED,
        "details": report,
        "text": text,
    })  # fmt: skip
    return tracker


def _analysis(content: str) -> SubTrackingResults:
    """SubTrackingResults of an analysis as JSON."""
    values = json.loads(content)
    blocks = [
        _with_more(
            CodeBlockResults(
                name=block["name"],
                **{name: block[name] for name in COUNTS},
                compute_time=_series({name: block["compute_time"][name] for name in (*STATISTICS, "total")}),
                resource_usage=_frame(block["resource_usage"]),
            ),
            block,
            ("missing_timepoints", "energy", "exact", *(name for name, value in block.items() if type(value) is int)),
        )
        for block in values["code_block_results"]
    ]
    static_data = values["static_data"]
    # The name 0 is that which pandas gives to a file's first row.
    static_series: Any = _Pandas("Series", list(static_data.values()), list(static_data), "object", 0)
    results = SubTrackingResults(
        overall=_frame(values["overall"]),
        static_data=static_series,
        code_block_results=blocks,
    )
    return _with_more(results, values, ("num_lost_calls", "lost_calls_at_least", "missing_timepoints", "energy"))


def _comparison(content: str) -> ComparisonResults:
    """ComparisonResults of a comparison as JSON."""
    values = json.loads(content)
    of_all = {name: {key: _series(sessions) for key, sessions in values.get(name, {}).items()} for name in _OF_ALL}
    of_blocks = {
        name: {key: {block: _series(sessions) for block, sessions in blocks.items()} for key, blocks in values.get(name, {}).items()}
        for name in _OF_BLOCKS
    }
    names = ("overall_resource_usage", "code_block_resource_usage", "code_block_compute_time")
    parts = {**of_all, **of_blocks, "lost_calls": values.get("lost_calls")}
    results = ComparisonResults(**{name: parts.pop(name) for name in names})
    return _with_more(results, {name: part for name, part in parts.items() if part}, parts)


_OF_ALL = ("overall_resource_usage", "code_block_compute_time", "overall_energy")
_OF_BLOCKS = ("code_block_resource_usage", "code_block_energy")


# ---- The command ----


def _read(read: Callable[[bytes, str], dict[str, Any]], path: str) -> None:
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    json.dump(read(content, path), sys.stdout)


def _write(made_of: Callable[[str], object]) -> None:
    sys.modules.setdefault("pandas", _stand_in_for_pandas())
    content = sys.stdin.buffer.read().decode("utf-8", "replace")
    _Pickler(sys.stdout.buffer, 4).dump(made_of(content))


_READERS = {"read-analysis": read_analysis, "read-usage": read_usage}
_WRITERS: dict[str, Callable[[str], object]] = {"write-session": _session, "write-analysis": _analysis, "write-comparison": _comparison}


def main(arguments: list[str]) -> int:
    """What `gpu-tracker` executes: "read-…" and a pickle, of which JSON goes to the standard output; or "write-…", which makes a pickle of
    the JSON at the standard input; or "check", which says by its end that it can. Returns the exit status."""
    action, *paths = arguments
    try:
        if action in _READERS:
            _read(_READERS[action], os.fsdecode(paths[0]))
        elif action in _WRITERS:
            _write(_WRITERS[action])
        sys.stdout.flush()
    except (OSError, ValueError, MemoryError) as error:
        print(str(error) or "Out of memory.", file=sys.stderr)
        return 1
    return 0
