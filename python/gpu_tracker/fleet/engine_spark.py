"""Spark: the session that is active, or one of this machine. Its own ASOF join compares every pair; instead segments and samples
are sorted together, and each sample takes the last segment before it."""

from __future__ import annotations

import os
import sys

import pyarrow
from pyspark.sql import SparkSession, Window, functions

from .sql import aggregates, call_aggregates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from .engines import Batch


def _partitions(sessions: int) -> str:
    """A session is in one partition as a whole: more of them than sessions are empty, and each costs a task."""
    return str(min(200, max(2 * (os.cpu_count() or 1), sessions)))


def _session(sessions: int) -> tuple[Any, bool]:
    active = SparkSession.getActiveSession()
    if active is not None:
        return active, False
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[*]").appName("gpu_tracker.fleet")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": _partitions(sessions),
        "spark.driver.host": "localhost",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate(), True


def _read(spark: Any, paths: list[str]) -> Any:
    return spark.read.option("mergeSchema", "true").parquet(*paths)


def _last_before(left: Any, left_time: str, right: Any, right_time: str, value: str, order: str) -> Any:
    """Adds to each row of `left` the last `value` of `right`, of its session, at or before its time. `right` comes first at one time."""
    found = right.select("session", functions.col(right_time).alias("_time"), functions.lit(0).alias("_side"), functions.col(value).alias("_value"))
    wanted = left.select("*", functions.col(left_time).alias("_time"), functions.lit(1).alias("_side"))
    both = wanted.unionByName(found, allowMissingColumns=True)
    window = Window.partitionBy("session").orderBy("_time", "_side").rowsBetween(Window.unboundedPreceding, 0)
    return both.withColumn("_found", functions.last("_value", ignorenulls=True).over(window)).where("_side = 1").withColumnRenamed("_found", order)


def _arrow(frame: Any) -> Any:
    return frame.toArrow() if hasattr(frame, "toArrow") else pyarrow.Table.from_pylist([row.asDict() for row in frame.collect()])


def run(batch: Batch, columns: list[str]) -> tuple[Any, Any]:
    spark, is_ours = _session(len(batch.sessions))
    try:
        samples = _read(spark, batch.paths("samples"))
        segments = _read(spark, batch.paths("segments"))
        leaves = _last_before(samples, "timestamp", segments, "start", "leaf", "leaf")
        leaves.createOrReplaceTempView("gpu_tracker_leaves")
        found = _arrow(
            spark.sql(f"SELECT session, leaf, count(*) AS rows, {aggregates(columns, 'var_pop')} FROM gpu_tracker_leaves GROUP BY session, leaf")
        )
        paths = batch.paths("calls")
        if not paths:
            return found, None
        calls = _read(spark, paths).select("session", "code_block_name", "start", "stop", "compute_time")
        calls = _last_before(calls, "stop", samples.select("session", "timestamp"), "timestamp", "timestamp", "last_row")
        of_session = _read(spark, batch.paths("sessions")).select("session", "first_timestamp", "last_timestamp")
        calls.join(functions.broadcast(of_session), "session").createOrReplaceTempView("gpu_tracker_calls")
        return found, _arrow(
            spark.sql(
                f"SELECT session, code_block_name, {call_aggregates('var_pop')} FROM gpu_tracker_calls "
                "GROUP BY session, code_block_name"
            )
        )
    finally:
        if is_ours:
            spark.stop()
