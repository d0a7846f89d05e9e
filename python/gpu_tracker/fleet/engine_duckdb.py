"""DuckDB: it has ASOF joins, and writes to a disk what does not fit into memory."""

from __future__ import annotations

import duckdb

from .sql import aggregates, call_aggregates, quote


def _read(paths):
    return f"read_parquet([{', '.join(map(quote, paths))}], union_by_name = true)"


def run(batch, columns):
    with duckdb.connect() as connection:
        samples = _read(batch.paths("samples"))
        leaves = connection.sql(
            f"SELECT s.session, leaf, count(*) AS rows, {aggregates(columns, 'var_pop')} FROM {samples} s "
            f"ASOF JOIN {_read(batch.paths('segments'))} g ON s.session = g.session AND s.timestamp >= g.start GROUP BY s.session, leaf"
        ).to_arrow_table()
        calls = batch.paths("calls")
        if not calls:
            return leaves, None
        # A call has a sample where the last one that is not after its stop is not before its start.
        return leaves, connection.sql(
            f"SELECT session, code_block_name, {call_aggregates('var_pop')} FROM ("
            f"SELECT c.session, code_block_name, c.start, c.stop, c.compute_time, s.timestamp AS last_row, first_timestamp, last_timestamp "
            f"FROM {_read(calls)} c JOIN {_read(batch.paths('sessions'))} t ON c.session = t.session "
            f"ASOF LEFT JOIN (SELECT session, timestamp FROM {samples}) s ON c.session = s.session AND c.stop >= s.timestamp"
            ") GROUP BY session, code_block_name"
        ).to_arrow_table()
