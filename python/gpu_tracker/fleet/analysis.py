"""What code blocks used, of many sessions: aggregates that an engine made for each leaf become those of code blocks and groups."""

from __future__ import annotations

import os

from .._messages import log_warnings
from .engines import Batch, engine_of
from .layout import path_of, pyarrow_or_error, sessions_in, whole_sessions
from .merge import merged
from .results import WHOLE, tables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from .merge import Figure
    from os import PathLike
    from typing import Any

# Sessions are analyzed together up to that many samples, so that memory does not grow with the fleet.
_BATCH_SAMPLES = 20_000_000
_KEYS = "session", "timestamp"


def analyze(folder: str | PathLike[str], *, engine: str | None = None, by: str | Iterable[str] = "name") -> dict[str, Any]:
    """What sessions, and the code blocks in them, used, as pyarrow Tables in bytes and seconds:

        overall            sessions, num_timepoints; measurement, unit, min, max, mean, std, missing_timepoints
        code_block_usage   the same for each code block
        code_blocks        code_block_name, num_timepoints, num_calls, num_non_empty_calls, num_outside_calls, compute_time_…

    folder: made by export(), as Parquet.
    engine: "duckdb", "polars", "clickhouse" or "spark"; None: the first that is installed.
    by: columns of the table "sessions" that the tables begin with: a row for each of their values. "name": each session by itself,
    as `gpu-tracker sub-track analyze` has it; "job_id", ("job_id", "host"); (): all as one.

    Sessions of which a file is missing or truncated are skipped, each with a warning. Raises FileNotFoundError and ValueError for a
    folder without a session that is whole, ImportError without pyarrow and an engine.
    """
    return analyze_some(folder, engine, by)[0]


def analyze_some(folder: str | PathLike[str], engine: str | None, by: str | Iterable[str]) -> tuple[dict[str, Any], int]:
    """As analyze(), and how many sessions were skipped."""
    pyarrow_or_error()
    folder = os.path.abspath(os.fspath(folder))
    names, damaged = whole_sessions(folder, sessions_in(folder))
    log_warnings(damaged)
    if not names:
        raise ValueError(f"No session in {folder} is complete and has samples.")
    _, run, takes_all = engine_of(engine)
    sessions = _Sessions(folder, names, [by] if isinstance(by, str) else list(by))
    columns, units = _columns(folder, names)
    blocks = _Blocks()
    usage, calls = [], []
    for batch in sessions.batches(None if takes_all else _BATCH_SAMPLES):
        leaves, of_calls = run(batch, columns)
        usage.append(merged([_of_blocks(leaves, batch, sessions, blocks, columns)], *_usage_figures(columns)))
        if of_calls is not None:
            calls.append(merged([_of_groups(of_calls, sessions, blocks)], *_CALL_FIGURES))
    totals = merged(usage, *_usage_figures(columns)), merged(calls, *_CALL_FIGURES) if calls else None
    return tables_of(sessions, blocks.names, *totals, units), len(damaged)


# ---- What is to be read ----


class _Sessions:
    """The table "sessions", and the group of each session."""

    def __init__(self, folder: str, names: list[str], by: list[str]) -> None:
        import pyarrow
        import pyarrow.parquet

        self.folder = folder
        self.by = by
        parts = [pyarrow.parquet.ParquetFile(path_of(folder, "sessions", name)).read() for name in names]
        self.table = pyarrow.concat_tables(parts, promote_options="permissive")
        unknown = [name for name in by if name not in self.table.column_names]
        if unknown:
            raise ValueError(f'Sessions have no column "{unknown[0]}". They have: {", ".join(self.table.column_names)}.')
        rows = list(zip(*(self.table[name].to_pylist() for name in by))) if by else [()] * len(names)
        self.groups = list(dict.fromkeys(rows))
        numbers = {group: number for number, group in enumerate(self.groups)}
        self.group_of = pyarrow.table({"session": self.table["session"], "group": [numbers[row] for row in rows]})
        self.counts = [rows.count(group) for group in self.groups] if len(self.groups) < len(rows) else [1] * len(rows)

    def batches(self, most: int | None) -> Iterator[Batch]:
        batch: list[str] = []
        samples, is_sorted = 0, True
        for row in self.table.select(["name", "samples", "backward_samples"]).to_pylist():
            if most and batch and samples + row["samples"] > most:
                yield Batch(self.folder, batch, is_sorted)
                batch, samples, is_sorted = [], 0, True
            batch.append(row["name"])
            samples += row["samples"]
            is_sorted &= not row["backward_samples"]
        yield Batch(self.folder, batch, is_sorted)


def _columns(folder: str, names: list[str]) -> tuple[list[str], dict[str, str | None]]:
    """The measurements of samples, and their units. Exports of other versions may have more or fewer."""
    import pyarrow.parquet

    units: dict[str, str | None] = {}
    for name in names:
        for field in pyarrow.parquet.read_schema(path_of(folder, "samples", name)):
            if field.name not in _KEYS:
                units[field.name] = ((field.metadata or {}).get(b"unit") or b"").decode() or None
    return list(units), units


# ---- From leaves to code blocks ----


class _Blocks:
    """Names of code blocks and their numbers."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def numbered(self, table: Any) -> Any:
        """With `block` in place of code_block_name."""
        import pyarrow
        import pyarrow.compute as compute

        names = table["code_block_name"].cast(pyarrow.string())
        known = set(self.names)
        self.names += [name for name in compute.unique(names).to_pylist() if name not in known]
        block = compute.index_in(names, value_set=pyarrow.array(self.names, pyarrow.string()))
        return table.drop_columns(["code_block_name"]).append_column("block", block.cast(pyarrow.int64()))


def _usage_figures(columns: list[str]) -> tuple[list[Figure], list[str]]:
    return [(f"{name}_", f"{name}_n", [f"{name}_rows"]) for name in columns], ["rows"]


_CALL_FIGURES: tuple[list[Figure], list[str]] = [("", "calls", [])], ["non_empty", "outside"]


def _of_blocks(leaves: Any, batch: Batch, sessions: _Sessions, blocks: _Blocks, columns: list[str]) -> Any:
    """The aggregates of each leaf once for every code block of it, and once for the whole session."""
    import pyarrow
    import pyarrow.parquet

    leaves = _without_first(_plain(leaves, ["leaf", "rows", *(f"{name}_n" for name in columns)]), sessions.table, columns)
    pairs = leaves.select(["session", "leaf"]).append_column("block", pyarrow.array([WHOLE] * len(leaves), pyarrow.int64()))
    closure = [pyarrow.parquet.ParquetFile(path).read() for path in batch.paths("leaves")]
    if closure:
        pairs = pyarrow.concat_tables([pairs, blocks.numbered(pyarrow.concat_tables(closure))])
    return leaves.join(pairs, ["session", "leaf"], join_type="inner").join(sessions.group_of, "session")


def _of_groups(calls: Any, sessions: _Sessions, blocks: _Blocks) -> Any:
    return _plain(blocks.numbered(calls), ["block", "calls", "non_empty", "outside"]).join(sessions.group_of, "session")


def _plain(table: Any, whole: Iterable[str]) -> Any:
    """In the same types from all engines."""
    import pyarrow

    whole = {"session", *whole}
    return table.cast(pyarrow.schema([(name, pyarrow.int64() if name in whole else pyarrow.float64()) for name in table.column_names]))


def _without_first(leaves: Any, sessions: Any, columns: list[str]) -> Any:
    """Adds NAME_rows, the samples that can have it: CPU use is of intervals, and not missing in the first sample of a session."""
    import pyarrow
    import pyarrow.compute as compute

    leaves = leaves.join(sessions.select(["session", "first_leaf", "first_missing"]), "session")
    is_first = compute.fill_null(compute.equal(leaves["leaf"], leaves["first_leaf"]), False)
    rows = {}
    for name in columns:
        rows[f"{name}_rows"] = leaves["rows"]
        if name.startswith("cpu_"):
            lacks_it = compute.and_(is_first, compute.match_substring(leaves["first_missing"], name))
            rows[f"{name}_rows"] = compute.subtract(leaves["rows"], lacks_it.cast(pyarrow.int64()))
    leaves = leaves.drop_columns(["first_leaf", "first_missing"])
    return pyarrow.table({**{name: leaves[name] for name in leaves.column_names}, **rows})
