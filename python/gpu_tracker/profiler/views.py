"""The views of profiles as Tables, and what the other modules of this package share."""

from __future__ import annotations

import logging
import os

from .. import _native
from .._messages import log_warnings
from .._pandas import columns, pandas
from ..table import tables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeVar
    from ..table import Table

    _Given = TypeVar("_Given")

logger: logging.Logger = logging.getLogger("gpu_tracker")


def warned(answer: tuple[_Given, list[str]]) -> _Given:
    """What the library gave, after its warnings went to the logger."""
    given, warnings = answer
    log_warnings(warnings)
    return given


def local_path(path: str | os.PathLike[str]) -> str:
    path = os.fspath(path)
    if path.startswith("s3:"):
        raise ValueError(f"{path} is not on this machine. Copy it first: aws s3 sync {path} FOLDER")
    return path


def frame_of(table: Table, names: list[str]) -> Any:
    """These columns of a Table as a DataFrame, or as a plain table."""
    if pandas() is None:
        return columns({name: table[name].tolist() for name in names})
    return table.to_pandas()[names]


def values_of(frame: Any, column: str) -> list[Any]:
    """A column of a DataFrame or of a plain table as a list."""
    column = frame[column]
    return column.tolist() if hasattr(column, "tolist") else list(column)


def profile(view: str, source: Any, **options: Any) -> dict[str, Table]:
    return tables_of(warned(_native.profile(view, source, **options)))


def read_profile(
    view: Literal[
        "job", "steps", "phases", "utilization", "devices", "dataloader", "metrics", "readings", "framework", "events"
    ],
    path: str | os.PathLike[str],
    *,
    start: float | None = None,
    end: float | None = None,
    unit: Literal["time", "step"] = "time",
    by: Literal["training_phase", "framework_metric", "process"] = "training_phase",
    **options: Any,
) -> dict[str, Table]:
    """A view of a trace root as Tables by name: what `gpu-tracker profile` shows.

    view: "job", "steps", "phases", "utilization", "devices", "dataloader", "metrics" (those of the next two), "readings",
        "framework", "events" (with what data loaders say).
    start, end: only what happened between, both inclusive: microseconds since the epoch or, with unit="step", step numbers.
    by: "training_phase", "framework_metric" or "process" (steps).
    Further options: by_phase, by_dimension, each_step (bool); resources, phases, metrics (lists of names); ranges (pairs of
        percent); moments (microseconds since the epoch); intervals (pairs of those).

    Raises FileNotFoundError (no such folder, or nothing of the kind in it), ValueError (no trace root, or a wrong option).
    """
    return profile(view, local_path(path), start=start, end=end, by_step=is_step(unit), by=by, **options)


def read_kineto(view: Literal["breakdown", "kernels", "idle", "diff"], *paths: str | os.PathLike[str], limit: int = 0) -> Table:
    """A view of traces of PyTorch's profiler (files, or folders of them, one file a rank) as a Table; times in microseconds.

    view: "breakdown", "kernels", "idle" or "diff" (of two files, or two folders).
    limit: how many kernels, names; 0: 10 kernels, all names.

    Raises FileNotFoundError (a path; no activity in any trace), ValueError (no trace).
    """
    (table,) = tables_of(warned(_native.kineto(view, [local_path(path) for path in paths], limit))).values()
    return table


def is_step(unit: object) -> bool:
    word = getattr(unit, "value", unit)
    if word not in ("time", "step"):
        raise ValueError(f'"{word}" is not a valid unit. Valid values are time, step')
    return word == "step"
