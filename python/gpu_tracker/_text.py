"""Results as text, laid out as they always were: tabs for indents, columns to the right, 8 decimals at most."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


def number(value: Any) -> str:
    """As the command shows it: "0.08691302", "0.0"; words and whole numbers with a blank before them."""
    return repr(round(float(value), 8)).replace("nan", "NaN") if isinstance(value, float) else f" {value}"


def table(row_names: Iterable[Any], column_names: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines: row names to the left, everything else to the right, one blank between columns."""
    head = max((len(str(name)) for name in row_names), default=0)
    widths = [max(len(name), *(len(row[i]) for row in cells)) if cells else len(name) for i, name in enumerate(column_names)]
    lines = [" " * head + "".join(f" {name:>{width}}" for name, width in zip(column_names, widths))]
    for name, row in zip(row_names, cells):
        lines.append(f"{name!s:<{head}}" + "".join(f" {cell:>{width}}" for cell, width in zip(row, widths)))
    return lines


def _static(values: Mapping[str, Any]) -> list[str]:
    """Words, counts and sizes in one row."""
    return ["\t" + line for line in table([""], list(values), [[number(value) for value in values.values()]])]


def _usage(rows: Mapping[str, Mapping[str, Any]], indent: str) -> list[str]:
    """Columns of numbers, which are one wider than their names."""
    names = [f" {name}" for name in next(iter(rows.values()), ())]
    cells = [[number(value) for value in row.values()] for row in rows.values()]
    return [indent + line for line in table(list(rows), names, cells)]


def _row(values: Mapping[str, Any], indent: str) -> list[str]:
    """The same of one row that has no name."""
    return _usage({"": values}, indent)


def _missing(results: Mapping[str, Any], indent: str) -> list[str]:
    """How many samples lack which measurement."""
    counts = results.get("missing_timepoints")
    if not counts:
        return []
    lines = table([""], list(counts), [[number(count) for count in counts.values()]])
    return [f"{indent}Missing Timepoints:", *(f"{indent}\t{line}" for line in lines)]


def _block(block: Mapping[str, Any], known: list[str]) -> list[str]:
    lines = [f"\t{_title(key) + ':':<20} {value}" for key, value in block.items() if not isinstance(value, dict)]
    lines += ["\tCompute Time:", *_row(block["compute_time"], "\t\t")]
    return [*lines, "\tResource Usage:", *_usage(block["resource_usage"], "\t\t"), *_missing(block, "\t"), *_energy(block, known, "\t"), ""]


def _energy(results: Mapping[str, Any], known: list[str], indent: str) -> list[str]:
    """A row of those figures that the session or some block knows, and of the total."""
    if not known:
        return []
    joules = {name: float("nan") if results["energy"][name] is None else results["energy"][name] for name in known}
    return [f"{indent}Energy (joules):", *_row(joules, indent + "\t")]


def _lost(results: Mapping[str, Any]) -> str:
    words = "at least " if results.get("lost_calls_at_least") else ""
    return f"{words}{results['num_lost_calls']}" if results["num_lost_calls"] else "not known"


def sub_tracking_text(results: Mapping[str, Any]) -> str:
    """The text of SubTrackingResults.to_json()."""
    energies = [part.get("energy", {}) for part in (results, *results["code_block_results"])]
    known = [name for name in energies[0] if name == "total" or any(isinstance(joules[name], float) for joules in energies)]
    lines = ["Overall:", *_usage(results["overall"], "\t"), *_missing(results, ""), *_energy(results, known, "")]
    lines += ["Static Data:", *_static(results["static_data"])]
    if results["code_block_results"]:
        lines.append("Code Block Results:")
    for block in results["code_block_results"]:
        lines += _block(block, known)
    if "num_lost_calls" in results:
        lines.append(f"Lost Calls: {_lost(results)}")
    return "\n".join(lines) + "\n"


def _title(name: str) -> str:
    return name.replace("_", " ").title()


def _compared(measurements: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = []
    for measurement, sessions in measurements.items():
        lines += [f"\t{_title(measurement)}:", *_row(sessions, "\t\t")]
    return lines


def _compared_blocks(measurements: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    lines = []
    for measurement, blocks in measurements.items():
        lines.append(f"\t{_title(measurement)}:")
        for block, sessions in blocks.items():
            lines += [f"\t\t{block}:", *_row(sessions, "\t\t\t")]
    return lines


def comparison_text(results: Mapping[str, Any]) -> str:
    """The text of ComparisonResults.to_json()."""
    lines = ["Overall Resource Usage:"]
    lines += _compared(results["overall_resource_usage"])
    if "overall_energy" in results:
        lines += ["Overall Energy (joules):", *_compared(results["overall_energy"])]
    if results["code_block_compute_time"]:
        lines += ["Code Block Resource Usage:", *_compared_blocks(results["code_block_resource_usage"])]
        lines.append("Code Block Compute Time:")
        for block, sessions in results["code_block_compute_time"].items():
            lines += [f"\t{block}:", *_row(sessions, "\t\t")]
        if "code_block_energy" in results:
            lines += ["Code Block Energy (joules):", *_compared_blocks(results["code_block_energy"])]
    if "lost_calls" in results:
        lines.append("Lost Calls:")
    for session, lost in results.get("lost_calls", {}).items():
        lines.append(f"\t{session}: {_lost(lost)}")
    return "\n".join(lines) + "\n"


_WORDS = {"cpu": "CPU", "gpu": "GPU", "gpus": "GPUs", "ram": "RAM", "rss": "RSS", "dram": "DRAM", "n": "number of"}


def _label(key: str) -> str:
    label = " ".join(_WORDS.get(word, word) for word in key.split("_"))
    return label[:1].upper() + label[1:]


def _rounded(value: float) -> float:
    """Three places, or as many that not all of it is rounded away."""
    return round(value, 3) or float(f"{value:.3g}")


def _scalar(value: Any, is_old: bool) -> str:
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(round(value, 3) if is_old else _rounded(value)) if isinstance(value, float) else str(value)


# For the first sections, which have the older package's layout.
_OLD_SECTIONS = ("max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time")


def report_text(report: dict[str, Any] | list[Any], indent: int = 0, is_old: bool = False) -> str:
    """A report's JSON as the command's text, for one that only its JSON is left of."""
    lines = []
    for key, value in report.items() if isinstance(report, dict) else enumerate(report):
        label = " " * indent + (_label(key) if isinstance(key, str) else str(key))
        if isinstance(value, (dict, list)):
            lines += [f"{label}:", report_text(value, indent + 3, is_old or key in _OLD_SECTIONS)] if value else []
        else:
            lines.append(f"{label}: {_scalar(value, is_old)}")
    return "\n".join(lines)
