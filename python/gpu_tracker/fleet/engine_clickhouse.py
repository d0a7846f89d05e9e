"""ClickHouse: chdb in this process, or the command clickhouse."""

from __future__ import annotations

import subprocess

import pyarrow

from .sql import aggregates, call_aggregates, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from .engines import Batch

# A session without calls may lack columns; what is not found is null.
_SETTINGS = " SETTINGS schema_inference_mode = 'union', join_use_nulls = 1, schema_inference_make_columns_nullable = 1"


def _ask(query: str) -> Any:
    try:
        import chdb
    except ImportError:
        done = subprocess.run(["clickhouse", "local", "--query", f"{query} FORMAT ArrowStream"], capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"clickhouse: {done.stderr.decode(errors='replace').strip()}") from None
        content = done.stdout
    else:
        content = chdb.query(query, "ArrowStream").bytes()
    return pyarrow.ipc.open_stream(content).read_all()


def _read(paths: list[str]) -> str:
    pattern = paths[0] if len(paths) == 1 else _pattern(paths)
    return f"file({quote(pattern)}, Parquet)"


def _pattern(paths: list[str]) -> str:
    """FOLDER/{a,b,c}.parquet"""
    folder = paths[0].rsplit("/", 1)[0]
    names = ",".join(path.rsplit("/", 1)[1].removesuffix(".parquet") for path in paths)
    return f"{folder}/{{{names}}}.parquet"


def run(batch: Batch, columns: list[str]) -> tuple[Any, Any]:
    samples = _read(batch.paths("samples"))
    leaves = _ask(
        f"SELECT s.session AS session, leaf, count(*) AS rows, {aggregates(columns, 'varPopStable', 'Nullable(Float64)')} FROM {samples} AS s "
        f"ASOF JOIN {_read(batch.paths('segments'))} AS g ON s.session = g.session AND s.timestamp >= g.start "
        "GROUP BY session, leaf" + _SETTINGS
    )
    calls = batch.paths("calls")
    if not calls:
        return leaves, None
    return leaves, _ask(
        f"SELECT session, code_block_name, {call_aggregates('varPopStable')} FROM ("
        "SELECT c.session AS session, c.code_block_name AS code_block_name, c.start AS start, c.stop AS stop, c.compute_time AS compute_time, s.timestamp AS last_row, first_timestamp, last_timestamp "
        f"FROM (SELECT c.*, first_timestamp, last_timestamp FROM {_read(calls)} AS c JOIN {_read(batch.paths('sessions'))} AS t "
        f"ON c.session = t.session) AS c ASOF LEFT JOIN (SELECT session, timestamp FROM {samples}) AS s "
        "ON c.session = s.session AND c.stop >= s.timestamp) GROUP BY session, code_block_name" + _SETTINGS
    )
