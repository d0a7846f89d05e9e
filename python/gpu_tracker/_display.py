"""What notebooks show of the package's objects: the main figures or first rows, and curves as a static picture."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from html import escape

from . import _frame
from ._picture import curves as curves_picture
from ._picture import image, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike
    from typing import Any
    from ._usage import ResourceUsage
    from .table import Table

    _Path = str | PathLike[str]
    _Sample = tuple[float, ...]  # seconds, RAM, GPU RAM, CPU, GPU

_TABLE = "border-collapse:collapse;font-size:inherit;color:inherit;margin:2px 0 8px"
_FACTORS = {"bytes": 1.0, "kilobytes": 1e3, "megabytes": 1e6, "gigabytes": 1e9, "terabytes": 1e12}
_SECONDS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0}
# Rows of an analysis that people see first; all are in its text and its tables.
_MAIN = {
    "combined_ram": "RAM",
    "combined_gpu_ram": "GPU RAM",
    "cpu_combined_sum_utilization_percent": "CPU",
    "gpu_sum_utilization_percent": "GPU",
    "combined_n_threads": "Threads",
}
_STATISTICS = ("min", "max", "mean", "std")
_MAX_ROWS = 20
# Columns of a native session's samples that a picture shows.
_CURVES = ((1, "ram", "RAM", "bytes"), (2, "gpu_ram", "GPU RAM", "bytes"), (3, "cpu", "CPU", "percent"), (4, "gpu", "GPU", "percent"))


def size(value: float) -> str:
    """Bytes in a unit that fits: "412 MB"."""
    return _scaled(value, ("B", "kB", "MB", "GB", "TB", "PB"))


def duration(seconds: float) -> str:
    """"850 ms", "12.3 s", "3 min 12 s", "2 h 05 min"."""
    if math.isnan(seconds):
        return "n/a"
    if seconds < 59.95:
        return _scaled(seconds * 1e6, ("µs", "ms", "s"))
    minutes = round(seconds / 60)
    if round(seconds) < 3600:
        return f"{round(seconds) // 60} min {round(seconds) % 60} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _scaled(value: float, units: Sequence[str]) -> str:
    if math.isnan(value):
        return "n/a"
    place = 0
    while abs(value) >= 999.5 and place < len(units) - 1:
        value /= 1000
        place += 1
    decimals = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    text = f"{value:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if decimals else text} {units[place]}"


def _percent(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.3g} %"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], count: int | None = None) -> str:
    """Text to the left in the first column, figures to the right in the others. count: of all rows, where `rows` are the first of them."""
    right = 'style="text-align:right;padding:1px 0 1px 1.4em"'
    left = 'style="text-align:left"'
    head = "".join(f"<th {right if i else left}>{escape(text)}</th>" for i, text in enumerate(heads))
    body = "".join(
        f'<tr><th style="text-align:left;font-weight:normal">{escape(row[0])}</th>' + "".join(f"<td {right}>{escape(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in rows[:_MAX_ROWS]
    )
    count = len(rows) if count is None else count
    more = f"<div>and {count - _MAX_ROWS} more</div>" if count > _MAX_ROWS else ""
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def _page(*parts: str) -> str:
    return f'<div class="gput-report" style="font-size:12px">{"".join(part for part in parts if part)}</div>'


# ---- A tracker ----


def tracker_html(details: dict[str, Any], tracking_file: str | None, samples: Sequence[_Sample] = ()) -> str:
    """details: of a tracker that was stopped; tracking_file: None, or a path from which the curves are read; samples: those that
    were kept without one."""
    curves = recorded_curves(tracking_file)
    if not curves:
        return _page(_table(("What", "Figure"), tracker_rows(details)), kept_curves(samples))
    with _frame.sessions_of_tracker(tracking_file, details) as sessions:
        return _page(_table(("What", "Figure"), tracker_rows(details)), curves, _frame.charts(sessions))


def details_html(details: dict[str, Any]) -> str:
    """All of a report: a table of each section, and of each list in it."""
    parts = []
    for section, values in details.items():
        leaves = list(_leaves(values, section) if isinstance(values, dict) else [(section, values)])
        figures = [(name.removeprefix(section + ", "), _cell(value)) for name, value in leaves if not isinstance(value, list)]
        parts.append(_table((section, ""), figures) if figures else "")
        parts += [_list_html(name, value) for name, value in leaves if isinstance(value, list)]
    return _page(*parts)


def _list_html(name: str, values: list[Any]) -> str:
    """values: dictionaries, or texts and numbers."""
    if not all(isinstance(value, dict) for value in values):
        return _table((name, ""), [("", _cell(value)) for value in values])
    rows = [dict(_leaves(value)) for value in values[:_MAX_ROWS]]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return f"<div>{escape(name)}</div>" + _table(columns, [[_cell(row.get(column)) for column in columns] for row in rows], len(values)) if rows else ""


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, (bool, list)) else _number(value)


def running_html(details: dict[str, Any], tracking_file: str | None, samples: Sequence[_Sample]) -> str:
    """The same of a tracker that is running: figures so far."""
    curves = recorded_curves(tracking_file) or kept_curves(samples)
    return _page("<div>Tracking; so far:</div>", _table(("What", "Figure"), tracker_rows(details)), curves)


def usage_html(usage: ResourceUsage) -> str:
    """usage: a ResourceUsage."""
    return _page(_table(("What", "Figure"), tracker_rows(dataclasses.asdict(usage))))


def part_html(part: Any) -> str:
    """part: a data class of a ResourceUsage. Figures whose unit it does not know have none here."""
    values = dataclasses.asdict(part)
    unit = values.pop("unit", None)
    return _page(_table((type(part).__name__, "Figure"), [(name, _part_figure(name, value, unit)) for name, value in _leaves(values)]))


def _leaves(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        label = f"{path}, {name}" if path else name
        if isinstance(value, dict):
            yield from _leaves(value, label)
        else:
            yield label, value


def _part_figure(name: str, value: float | None, unit: str | None) -> str:
    if unit in _FACTORS:
        return size(_known(value) * _FACTORS[unit])
    if unit in _SECONDS:
        return duration(_known(value) * _SECONDS[unit])
    return _percent(_known(value)) if name.endswith("percent") else _number(value)


def tracker_rows(details: dict[str, Any]) -> list[tuple[str, str]]:
    """What is known, and whether there is a GPU."""
    time = details["compute_time"]
    ram, gpu_ram = details["max_ram"], details["max_gpu_ram"]
    ram_factor, gpu_factor = _FACTORS[ram["unit"]], _FACTORS[gpu_ram["unit"]]
    cpu = details["cpu_utilization"]["combined"]
    rows = [("Time", duration(_known(time["time"]) * _SECONDS[time["unit"]]))]
    cpu_seconds = ((details.get("accounting") or {}).get("cpu_seconds") or {}).get("sampled")
    mean = f"mean {_percent(_known(cpu['mean_sum_percent']))}, highest {_percent(_known(cpu['max_sum_percent']))}"
    rows.append(("CPU", mean if cpu_seconds is None else f"{duration(cpu_seconds)}; {mean}"))
    parts = f"main {size(_known(ram['main']['total_rss']) * ram_factor)}, descendants {size(_known(ram['descendants']['total_rss']) * ram_factor)}"
    rows.append(("RAM, peak", f"{size(_known(ram['combined']['total_rss']) * ram_factor)}; {parts}"))
    gpus = details["gpu_utilization"]
    if gpus["system_gpu_count"]:
        rows.append(("GPU RAM, peak", size(_known(gpu_ram["combined"]) * gpu_factor)))
        rows.append(("GPU", f"mean {_percent(_known(gpus['gpu_percentages']['mean_sum_percent']))}"))
    else:
        rows.append(("GPU", "none found"))
    energy = details.get("energy") or {}
    if energy.get("combined") is not None:
        rows.append(("Energy", f"{energy['combined']:.3g} {energy.get('unit', 'joules')}"))
    return rows


def _known(value: float | None) -> float:
    return math.nan if value is None else float(value)


def recorded_curves(tracking_file: _Path | None, marks: Sequence[_Path] = ()) -> str:
    """A picture of what was used; none where the file is gone or has too few samples. marks: files of code blocks that it has, too."""
    if tracking_file is None:
        return ""
    try:
        return session(tracking_file, marks)
    except (OSError, ValueError):
        return ""


def kept_curves(samples: Sequence[_Sample]) -> str:
    """A picture of what was used; none where too few samples are known."""
    lines = []
    for column, chart, label, unit in _CURVES:
        if chart == "cpu":  # of the time since the sample before: steps, as in plots of recorded samples
            points = [(at[0] - samples[0][0], now[column]) for before, now in zip(samples, samples[1:])
                      for at in (before, now) if now[column] == now[column]]  # fmt: skip
        else:
            points = [(sample[0] - samples[0][0], sample[column]) for sample in samples if sample[column] == sample[column]]
        if len(points) > 2 and any(value for _, value in points):
            lines.append((chart, label, unit, *zip(*points)))
    return curves_picture(lines, is_small=False) if lines else ""


# ---- An analysis ----


def analysis_html(results: dict[str, Any], tracking_file: _Path | None = None, sub_tracking_file: _Path | None = None) -> str:
    """results: as its to_json() gives them."""
    static = results["static_data"]
    rows = [(_MAIN[name], *_cells(name, results["overall"][name], static, ("mean", "max"))) for name in _MAIN if _is_used(results["overall"].get(name))]
    marks = [] if sub_tracking_file is None else [sub_tracking_file]
    curves = recorded_curves(tracking_file, marks)
    charts = _frame.charts([tracking_file], marks) if curves and tracking_file is not None else ""
    return _page(_table(("Session", "Mean", "Highest"), rows), curves, _block_table(results), charts)


def _block_table(results: dict[str, Any]) -> str:
    static, blocks = results["static_data"], results["code_block_results"]
    if not blocks:
        return ""
    shown = [name for name in _MAIN if name != "combined_n_threads" and any(_is_used(block["resource_usage"].get(name)) for block in blocks)]
    heads = ("Code block", "Calls", "Total", "Mean", "Longest", *(f"{_MAIN[name]}, {_statistic(name)}" for name in shown))
    rows = []
    for block in sorted(blocks, key=lambda block: -_or_zero(block["compute_time"].get("total"))):
        time = block["compute_time"]
        times = [duration(_known(time.get(name))) for name in ("total", "mean", "max")]
        usage = [_cells(name, block["resource_usage"].get(name, {}), static, (_statistic(name).replace("highest", "max"),))[0] for name in shown]
        rows.append((str(block["name"]), str(block["num_calls"]), *times, *usage))
    return _table(heads, rows)


def block_html(block: dict[str, Any]) -> str:
    """block: a code block of to_json(). It does not know the units of its measurements."""
    time = block["compute_time"]
    times = [duration(_known(time.get(name))) for name in ("total", "mean", "max")]
    usage = [(name, *(_number(row.get(statistic)) for statistic in _STATISTICS)) for name, row in block["resource_usage"].items() if _is_used(row)]
    return _page(
        _table(("Code block", "Calls", "Total", "Mean", "Longest"), [(str(block["name"]), str(block["num_calls"]), *times)]),
        _table(("Measurement", *_STATISTICS), usage) if usage else "",
    )


def _number(value: float | None) -> str:
    return "n/a" if value is None or value != value else f"{value:.6g}"


def _statistic(name: str) -> str:
    return "highest" if name.endswith("ram") else "mean"


def _is_used(row: Mapping[str, float | None] | None) -> bool:
    return row is not None and any(_or_zero(value) for value in row.values())


def _or_zero(value: float | None) -> float:
    return 0.0 if value is None or value != value else float(value)


def _cells(name: str, row: Mapping[str, float | None], static: Mapping[str, Any], statistics: Iterable[str]) -> list[str]:
    return [_figure(name, _known(row.get(statistic)), static) for statistic in statistics]


def _figure(name: str, value: float, static: Mapping[str, Any]) -> str:
    if name.endswith("ram"):
        return size(value * _FACTORS[str(static["gpu_ram_unit" if "gpu" in name else "ram_unit"])])
    if name.endswith("percent"):
        return _percent(value)
    return "n/a" if math.isnan(value) else f"{value:.3g}"


def _figure_of(name: str, static: Mapping[str, Any], value: float) -> str:
    return _figure(name, value, static)


# ---- A comparison ----


def comparison_html(results: dict[str, Any], statistic: str, static: Mapping[str, Any], sessions: list[str], draw: Callable[[], str]) -> str:
    """results: as to_json() of a comparison gives them; static: of one of its sessions, for units; sessions: in their order;
    draw: gives it as SVG."""
    words = {"min": "lowest", "max": "highest", "std": "standard deviation"}.get(statistic, statistic)
    overall = results["overall_resource_usage"]
    rows = [(_MAIN[name], *_changes(overall[name], sessions, functools.partial(_figure_of, name, static))) for name in _MAIN if _is_used(overall.get(name))]
    times = results["code_block_compute_time"]
    block_rows = [(str(block), *_changes(values, sessions, duration)) for block, values in times.items()]
    return _page(
        _table((f"Session, {words}", *sessions), rows),
        _table((f"Code block, {words} of a call", *sessions), block_rows) if block_rows else "",
        f"<div>Changes are against {escape(str(sessions[0]))}.</div>" if len(sessions) > 1 else "",
        _bars(draw),
    )


def _bars(draw: Callable[[], str]) -> str:
    try:
        return image(draw())
    except ValueError:  # nothing of it is known and above 0
        return ""


def _changes(values: Mapping[str, float | None], sessions: list[str], text: Callable[[float], str]) -> list[str]:
    base = _known(values.get(sessions[0]))
    cells = [text(base)]
    for session in sessions[1:]:
        value = _known(values.get(session))
        change = f" ({(value / base - 1) * 100:+.1f} %)" if base and value == value and base == base else ""
        cells.append(text(value) + change)
    return cells


def compared_html(results: dict[str, Any]) -> str:
    """results: to_json() of one statistic of several sessions, whose units it does not know."""
    overall, times = results["overall_resource_usage"], results["code_block_compute_time"]
    sessions = list(next(iter((overall or times).values()), ()))
    rows = [(name, *(_number(values.get(session)) for session in sessions)) for name, values in overall.items() if _is_used(values)]
    block_rows = [(str(block), *(duration(_known(values.get(session))) for session in sessions)) for block, values in times.items()]
    return _page(
        _table(("Session", *map(str, sessions)), rows),
        _table(("Code block", *map(str, sessions)), block_rows) if block_rows else "",
    )


# ---- A table, a text ----


def table_html(table: Table, text: Callable[[Any], str]) -> str:
    """table: a Table; text: makes a text of a value."""
    count, columns = table.shape
    heads = [f"{name} ({unit})" if unit else name for name, unit in table.units.items()]
    rows = [["n/a" if value is None else text(value) for value in row] for row in itertools.islice(table.rows(), _MAX_ROWS)]
    title = f"{table.name}: {count} row{'s' * (count != 1)}, {columns} column{'s' * (columns != 1)}"
    return _page(f"<div>{escape(title)}</div>", _table(heads, rows, count) if columns else "")


def facts_html(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """facts: pairs of texts."""
    return _page(_table((title, ""), list(facts)))


def named_html(values: Any) -> str:
    """values: a named tuple of figures, or of other named tuples."""
    flat = _leaves({name: value._asdict() if hasattr(value, "_asdict") else value for name, value in values._asdict().items()})
    return facts_html(type(values).__name__, [(name, _number(value)) for name, value in flat])


def cells_html(columns: Iterable[object], rows: Iterable[Sequence[str]], count: int) -> str:
    """rows: of texts, the first of them a name; the first ones are shown. count: of all."""
    return _page(_table(("", *map(str, columns)), list(itertools.islice(rows, _MAX_ROWS)), count))


def text_html(text: str) -> str:
    return _page(f"<pre>{escape(text)}</pre>")
