"""The two questions as SQL, for engines that differ in a few words."""

from __future__ import annotations


def quote(path: str) -> str:
    """As a text of SQL; layout.sessions_in() refuses characters that would need more."""
    return f"'{path}'"


def aggregates(columns: list[str], variance: str, number: str = "DOUBLE") -> str:
    """Those of each column; whole numbers become floats first."""
    parts = []
    for name in columns:
        value = f"CAST({name} AS {number})"
        parts += [
            f"count({name}) AS {name}_n", f"avg({value}) AS {name}_mean", f"{variance}({value}) AS {name}_var",
            f"min({value}) AS {name}_min", f"max({value}) AS {name}_max",
        ]  # fmt: skip
    return ", ".join(parts)


def call_aggregates(variance: str) -> str:
    return (
        "count(*) AS calls, count(CASE WHEN last_row >= start THEN 1 END) AS non_empty, "
        "count(CASE WHEN stop < first_timestamp OR start > last_timestamp THEN 1 END) AS outside, "
        f"avg(compute_time) AS mean, {variance}(compute_time) AS var, min(compute_time) AS min, max(compute_time) AS max"
    )
