"""A cell's report as HTML: one line for a cell that used next to nothing; else a table, and a picture where memory moved."""

from __future__ import annotations

from html import escape

from ._picture import curves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._meter import Memory, Usage
    from .notebook import CellReport

MIB = 2**20
_TABLE = "border-collapse:collapse;font-size:inherit;color:inherit"
_CELL = 'style="text-align:right;padding:1px 0.7em"'


def _size(value: float | None) -> str:
    return "n/a" if value is None else f"{value / MIB:,.0f}"


def _row(name: str, memory: Memory) -> str:
    cells = "".join(f"<td {_CELL}>{_size(value)}</td>" for value in (memory.consumed, memory.peaked, memory.used))
    return f'<tr><th style="text-align:left">{name}, MiB</th>{cells}</tr>'


def _picture(usage: Usage) -> str:
    """Empty where a curve would say nothing: nothing was sampled between begin and end, or memory stayed as it was."""
    samples = usage.samples
    if len(samples) < 3 or samples[-1][0] <= 0:
        return ""
    lines = []
    for column, name in ((1, "RAM"), (2, "GPU RAM")):
        points = [(sample[0], figure / MIB) for sample in samples if (figure := sample[column]) is not None]
        if len(points) >= 2 and any(value for _, value in points):
            lines.append(("Memory", name, "MiB", *zip(*points)))
    return curves(lines) if lines else ""


def _facts(usage: Usage) -> list[str]:
    """The rest in one line, without what is not known on this machine."""
    facts = [f"{usage.seconds:.3f} s"]
    if usage.cpu_seconds is not None:
        percent = f" ({100 * usage.cpu_seconds / usage.seconds:.0f} %)" if usage.seconds > 0 else ""
        facts.append(f"CPU {usage.cpu_seconds:.3f} s{percent}")
    if usage.gpu_percent is not None:
        facts.append(f"GPU {usage.gpu_percent:.0f} %")
    gpu_ram = usage.device_ram if usage.why_no_gpu_ram else usage.gpu_ram
    if gpu_ram.age_seconds > 0:
        facts.append(f"GPU RAM as of {gpu_ram.age_seconds:.3f} s before the end")
    if usage.joules is not None:
        facts.append(f"{usage.joules:.3g} J")
    return facts


def html(report: CellReport) -> str:
    usage = report.usage
    memories = report.known_memories
    facts = [] if report.number is None else [f"In [{report.number}]"]
    facts += _facts(usage)
    if report.moved:
        heads = "".join(f"<th {_CELL}>{head}</th>" for head in ("consumed", "peaked", "total"))
        rows = "".join(_row(name, memory) for name, memory in memories)
        body = (
            '<div style="display:flex;align-items:center;gap:1.5em">'
            f'<table style="{_TABLE}"><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>{_picture(usage)}</div>'
        )
    else:
        body = ""
        facts += [f"{name} {_size(memory.used)} MiB" for name, memory in memories if memory.used]
    note = f"<div>GPU RAM of this process is not known: {escape(usage.why_no_gpu_ram)}</div>" if usage.why_no_gpu_ram else ""
    return f'<div class="gput-report" style="font-size:12px"><div>{escape(" · ".join(facts))}</div>{body}{note}</div>'
