"""DuckDB: it has ASOF joins, and writes to a disk what does not fit into memory."""

from __future__ import annotations

import duckdb

from .sql import aggregates, call_aggregates, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any
    from .engines import Batch


def _read(paths: list[str]) -> str:
    return f"read_parquet([{', '.join(map(quote, paths))}], union_by_name = true)"


def queries(batch: Batch, columns: list[str]) -> Iterator[str]:
    """That of leaves, and that of calls where there are any."""
    samples, sessions, calls = _read(batch.paths("samples")), _read(batch.paths("sessions")), batch.paths("calls")
    yield (
        f"SELECT s.session, leaf, count(*) AS rows, {aggregates(columns, 'var_pop')} FROM {samples} s "
        f"ASOF JOIN {_read(batch.paths('segments'))} g ON s.session = g.session AND s.timestamp >= g.start GROUP BY s.session, leaf"
    )
    if not calls:
        return
    # A call has a sample where the last one that is not after its stop is not before its start. Sessions come last: DuckDB expects few
    # rows of a join with them, and makes an ASOF join of few rows a nested loop.
    yield (
        f"SELECT session, code_block_name, {call_aggregates('var_pop')} FROM ("
        f"SELECT c.session, code_block_name, c.start, c.stop, c.compute_time, s.timestamp AS last_row FROM {_read(calls)} c "
        f"ASOF LEFT JOIN (SELECT session, timestamp FROM {samples}) s ON c.session = s.session AND c.stop >= s.timestamp) "
        f"JOIN (SELECT session, first_timestamp, last_timestamp FROM {sessions}) USING (session) GROUP BY session, code_block_name"
    )


def run(batch: Batch, columns: list[str]) -> tuple[Any, Any]:
    with duckdb.connect() as connection:
        leaves, *calls = [connection.sql(query).to_arrow_table() for query in queries(batch, columns)]
        return leaves, calls[0] if calls else None
