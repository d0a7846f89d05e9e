"""Aggregates of parts made into those of their union, by group and code block."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Figure = tuple[str, str, list[str]]  # prefix, count, what is added up with it

_KEYS = ["group", "block"]


def merged(parts: list[Any], figures: Sequence[Figure], sums: Sequence[str]) -> Any:
    """One row for each group and block.

    figures: (prefix of mean, var, min and max; the column of their count; further columns to add up). sums: columns to add up.
    """
    import pyarrow

    table = pyarrow.concat_tables(parts, promote_options="permissive")
    totals = _totals(table, figures, sums)
    return totals.join(_variances(table, totals, figures), _KEYS)


def _as_float(column: Any) -> Any:
    import pyarrow

    return column.cast(pyarrow.float64())


def _divided(dividend: Any, count: Any) -> Any:
    """Null without any."""
    import pyarrow.compute as compute

    return compute.divide(dividend, _as_float(compute.if_else(compute.equal(count, 0), None, count)))


def _totals(table: Any, figures: Sequence[Figure], sums: Sequence[str]) -> Any:
    """Counts, means and extremes."""
    import pyarrow
    import pyarrow.compute as compute

    wanted = [(name, "sum") for name in sums]
    columns = {name: table[name] for name in [*_KEYS, *sums]}
    for prefix, count, more in figures:
        columns.update({name: table[name] for name in [count, *more, f"{prefix}min", f"{prefix}max"]})
        columns[f"{prefix}weighted"] = compute.multiply(_as_float(table[count]), table[f"{prefix}mean"])
        wanted += [(name, "sum") for name in [count, *more, f"{prefix}weighted"]]
        wanted += [(f"{prefix}min", "min"), (f"{prefix}max", "max")]
    total = pyarrow.table(columns).group_by(_KEYS).aggregate(wanted)
    result = {name: total[name] for name in _KEYS} | {name: total[f"{name}_sum"] for name in sums}
    for prefix, count, more in figures:
        result.update({name: total[f"{name}_sum"] for name in [count, *more]})
        result[f"{prefix}mean"] = _divided(total[f"{prefix}weighted_sum"], result[count])
        result[f"{prefix}min"] = total[f"{prefix}min_min"]
        result[f"{prefix}max"] = total[f"{prefix}max_max"]
    return pyarrow.table(result)


def _variances(table: Any, totals: Any, figures: Sequence[Figure]) -> Any:
    """What is within the parts, and what is between their means: by distances, since squares of large values would lose digits."""
    import pyarrow
    import pyarrow.compute as compute

    means = {f"{prefix}common": totals[f"{prefix}mean"] for prefix, *_ in figures}
    both = table.join(pyarrow.table({**{name: totals[name] for name in _KEYS}, **means}), _KEYS)
    columns = {name: both[name] for name in _KEYS}
    for prefix, count, _ in figures:
        distance = compute.subtract(both[f"{prefix}mean"], both[f"{prefix}common"])
        square = compute.add(both[f"{prefix}var"], compute.multiply(distance, distance))
        columns[f"{prefix}n"] = both[count]
        columns[f"{prefix}squares"] = compute.multiply(_as_float(both[count]), square)
    names = [name for prefix, *_ in figures for name in (f"{prefix}n", f"{prefix}squares")]
    added = pyarrow.table(columns).group_by(_KEYS).aggregate([(name, "sum") for name in names])
    variances = {f"{prefix}var": _divided(added[f"{prefix}squares_sum"], added[f"{prefix}n_sum"]) for prefix, *_ in figures}
    return pyarrow.table({**{name: added[name] for name in _KEYS}, **variances})
