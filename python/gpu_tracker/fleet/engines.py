"""The engines, and what each of them is asked for: aggregates of samples for each leaf, and of calls for each code block.

An engine is a function of (batch, columns) that gives two pyarrow Tables:

    leaves   session, leaf, rows, and for each column NAME_n, NAME_mean, NAME_var, NAME_min, NAME_max
    calls    session, code_block_name, calls, non_empty, outside, mean, var, min, max: of compute_time

All of them find the leaf of a sample by an ASOF join: the last segment of its session that begins at or before its timestamp.
What is made of these aggregates is the same for all engines (analysis.py). Variances are of the population, by an algorithm
that keeps the digits of small spreads around large means.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import shutil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Engine = Callable[["Batch", list[str]], tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class Batch:
    """Sessions of one folder that are analyzed at once."""

    folder: str
    sessions: list[str]
    sorted: bool  # no sample lies before the one before it

    def paths(self, table: str) -> list[str]:
        """The files of a table; sessions without calls have no leaves and calls."""
        import os

        from .layout import path_of

        return [path for path in (path_of(self.folder, table, name) for name in self.sessions) if os.path.exists(path)]


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _has_clickhouse() -> bool:
    return _has("chdb") or shutil.which("clickhouse") is not None


def _has_spark() -> bool:
    return _has("pyspark") and shutil.which("java") is not None


# Name -> whether it is here, how to get it, whether it takes all sessions at once. The first one here is the default.
_KNOWN: dict[str, tuple[Callable[[], bool], str, bool]] = {
    "duckdb": (lambda: _has("duckdb"), "pip install duckdb", False),
    "polars": (lambda: _has("polars"), "pip install polars", False),
    "clickhouse": (_has_clickhouse, "pip install chdb, or the command clickhouse", False),
    "spark": (_has_spark, "pip install pyspark, and Java", True),
}
ENGINES = tuple(_KNOWN)


def installed_engines() -> list[str]:
    """The names of the engines that can be used here, the default first."""
    return [name for name, (is_here, *_) in _KNOWN.items() if is_here()]


def engine_of(name: str | None) -> tuple[str, Engine, bool]:
    """Its name, function, and whether it takes all sessions at once. Raises ValueError and ImportError."""
    here = installed_engines()
    if name is None and not here:
        raise ImportError("There is no engine here. Get one of them: " + "; ".join(f"{name} ({how})" for name, (_, how, _) in _KNOWN.items()))
    name = name or here[0]
    if name not in _KNOWN:
        raise ValueError(f'"{name}" is not a valid engine. Valid values are {", ".join(ENGINES)}.')
    if name not in here:
        raise ImportError(f"{name} is not installed: {_KNOWN[name][1]}")
    from importlib import import_module

    return name, import_module(f".engine_{name}", __package__).run, _KNOWN[name][2]
