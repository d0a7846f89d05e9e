"""polars: each session is a join of its own, and all of a batch run at once."""

from __future__ import annotations

import polars

from .layout import path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from .engines import Batch


def _scan(batch: Batch, table: str, session: str) -> polars.LazyFrame:
    return polars.scan_parquet(path_of(batch.folder, table, session))


def _aggregates(name: str) -> list[polars.Expr]:
    value = polars.col(name).cast(polars.Float64)
    figures = {"mean": value.mean(), "var": value.var(ddof=0), "min": value.min(), "max": value.max()}
    return [polars.col(name).count().alias(f"{name}_n"), *(figure.alias(f"{name}_{key}") for key, figure in figures.items())]


def _samples(batch: Batch, session: str, columns: list[str]) -> polars.LazyFrame:
    frame = _scan(batch, "samples", session)
    there = frame.collect_schema().names()
    frame = frame.with_columns(polars.lit(None, polars.Float64).alias(name) for name in columns if name not in there)
    return frame if batch.sorted else frame.sort("timestamp", maintain_order=True)


def _leaves(batch: Batch, session: str, columns: list[str]) -> polars.LazyFrame:
    segments = _scan(batch, "segments", session).select("start", "leaf")
    joined = _samples(batch, session, columns).set_sorted("timestamp").join_asof(
        segments.set_sorted("start"), left_on="timestamp", right_on="start", strategy="backward"
    )  # fmt: skip
    figures = [figure for name in columns for figure in _aggregates(name)]
    return joined.group_by("session", "leaf").agg(polars.len().cast(polars.Int64).alias("rows"), *figures)


def _calls(batch: Batch, session: str) -> polars.LazyFrame:
    times = _samples(batch, session, []).select(polars.col("timestamp").alias("last_row"))
    times = times.set_sorted("last_row")
    start, stop, seconds = polars.col("start"), polars.col("stop"), polars.col("compute_time")
    calls = _scan(batch, "calls", session).select("session", "code_block_name", "start", "stop", "compute_time").sort("stop")
    joined = calls.join_asof(times, left_on="stop", right_on="last_row", strategy="backward").join(
        _scan(batch, "sessions", session).select("session", "first_timestamp", "last_timestamp"), on="session"
    )
    outside = (stop < polars.col("first_timestamp")) | (start > polars.col("last_timestamp"))
    return joined.group_by("session", "code_block_name").agg(
        polars.len().cast(polars.Int64).alias("calls"),
        (polars.col("last_row") >= start).sum().cast(polars.Int64).alias("non_empty"),
        outside.sum().cast(polars.Int64).alias("outside"),
        seconds.mean().alias("mean"), seconds.var(ddof=0).alias("var"), seconds.min().alias("min"), seconds.max().alias("max"),
    )  # fmt: skip


def run(batch: Batch, columns: list[str]) -> tuple[Any, Any]:
    paths = set(batch.paths("calls"))
    with_calls = [session for session in batch.sessions if path_of(batch.folder, "calls", session) in paths]
    leaves = polars.concat([_leaves(batch, session, columns) for session in batch.sessions])
    calls = polars.concat([_calls(batch, session) for session in with_calls]) if with_calls else None
    return leaves.collect(engine="streaming").to_arrow(), None if calls is None else calls.collect(engine="streaming").to_arrow()
