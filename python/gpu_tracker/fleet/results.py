"""What an analysis gives: tables as those of `gpu-tracker sub-track analyze`, after the columns of their group."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any
    from .analysis import _Sessions

WHOLE = -1  # in place of the number of a code block: the whole session


def tables_of(sessions: _Sessions, names: list[str], usage: Any, calls: Any, units: Mapping[str, str | None]) -> dict[str, Any]:
    """-> {"overall": …, "code_blocks": …, "code_block_usage": …}"""
    import pyarrow.compute as compute

    whole = usage.filter(compute.equal(usage["block"], WHOLE)).sort_by("group")
    blocks = usage.filter(compute.not_equal(usage["block"], WHOLE))
    group = _Group(sessions)
    return {
        "overall": _usage(whole, units, lambda rows: {**group.columns(rows), **group.sessions(rows)}),
        "code_blocks": _code_blocks(calls, blocks, group, names),
        "code_block_usage": _usage(
            _sorted(blocks, names), units, lambda rows: {**group.columns(rows), "code_block_name": _named(rows["block"], names)}
        ),
    }


class _Group:
    def __init__(self, sessions: _Sessions) -> None:
        self.sessions_table = sessions

    def columns(self, rows: Any) -> dict[str, Any]:
        """The columns that groups have in common, one value a row."""
        import pyarrow

        found = self.sessions_table
        types = {name: found.table.schema.field(name).type for name in found.by}
        values = zip(*found.groups) if found.by else ()
        return {name: pyarrow.array(value, types[name]).take(rows["group"]) for name, value in zip(found.by, values)}

    def sessions(self, rows: Any) -> dict[str, Any]:
        import pyarrow

        return {"sessions": pyarrow.array(self.sessions_table.counts).take(rows["group"])}


def _named(blocks: Any, names: list[str]) -> Any:
    import pyarrow

    return pyarrow.array(names, pyarrow.string()).take(blocks)


def _sorted(table: Any, names: list[str]) -> Any:
    """By group, and by name of the code block."""
    rank = {name: number for number, name in enumerate(sorted(names))}
    import pyarrow

    order = pyarrow.array([rank[name] for name in names], pyarrow.int64()).take(table["block"])
    return table.append_column("order", order).sort_by([("group", "ascending"), ("order", "ascending")])


def _statistics(rows: Any, name: str) -> dict[str, Any]:
    """min, max, mean, std, missing_timepoints. Where all values are 0 and some are missing, none is known, as unseen use is 0, too."""
    import pyarrow
    import pyarrow.compute as compute

    count, missing = rows[f"{name}_n"], compute.subtract(rows[f"{name}_rows"], rows[f"{name}_n"])
    zero = compute.and_(compute.equal(rows[f"{name}_min"], 0), compute.equal(rows[f"{name}_max"], 0))
    unseen = compute.and_(compute.greater(missing, 0), compute.fill_null(zero, False))
    unknown = compute.or_(unseen, compute.equal(count, 0))
    figures = {
        "min": rows[f"{name}_min"],
        "max": rows[f"{name}_max"],
        "mean": rows[f"{name}_mean"],
        "std": compute.sqrt(rows[f"{name}_var"]),
    }
    known = {key: compute.if_else(unknown, pyarrow.scalar(None, pyarrow.float64()), value) for key, value in figures.items()}
    return {**known, "missing_timepoints": missing}


def _usage(rows: Any, units: Mapping[str, str | None], head: Callable[[Any], dict[str, Any]]) -> Any:
    """A row for each row and measurement, in this order."""
    import pyarrow
    import pyarrow.compute as compute

    begin = {**head(rows), "num_timepoints": rows["rows"]}
    parts = []
    for number, (name, unit) in enumerate(units.items()):
        same = {
            "measurement": pyarrow.array([name] * len(rows), pyarrow.string()),
            "unit": pyarrow.array([unit] * len(rows), pyarrow.string()),
        }
        places = {"_row": pyarrow.array(range(len(rows)), pyarrow.int64()), "_number": pyarrow.array([number] * len(rows), pyarrow.int64())}
        parts.append(pyarrow.table({**begin, **same, **_statistics(rows, name), **places}))
    table = pyarrow.concat_tables(parts)
    order = compute.sort_indices(table, [("_row", "ascending"), ("_number", "ascending")])
    return table.take(order).drop_columns(["_row", "_number"])


def _code_blocks(calls: Any, usage: Any, group: _Group, names: list[str]) -> Any:
    """Without calls there are no rows."""
    import pyarrow
    import pyarrow.compute as compute

    if calls is None:
        return pyarrow.table({"code_block_name": pyarrow.array([], pyarrow.string())})
    rows = _sorted(calls.join(usage.select(["group", "block", "rows"]), ["group", "block"], join_type="left outer"), names)
    return pyarrow.table(
        {
            **group.columns(rows),
            "code_block_name": _named(rows["block"], names),
            "num_timepoints": compute.fill_null(rows["rows"], 0),
            "num_calls": rows["calls"],
            "num_non_empty_calls": rows["non_empty"],
            "num_outside_calls": rows["outside"],
            "compute_time_min": rows["min"],
            "compute_time_max": rows["max"],
            "compute_time_mean": rows["mean"],
            "compute_time_std": compute.sqrt(rows["var"]),
            "compute_time_total": compute.multiply(rows["mean"], rows["calls"].cast(pyarrow.float64())),
        }
    )
