"""A cell's report as HTML: a table, and RAM and GPU RAM over the cell as a static SVG."""

from html import escape

MB = 2**20
WIDTH, HEIGHT = 360, 64
POINTS = 180
_TABLE = "border-collapse:collapse;font-size:inherit;color:inherit"
_CELL = 'style="text-align:right;padding:1px 0.7em"'
_LINES = ((1, "RAM", "#4269d0"), (2, "GPU RAM", "#3ca951"))


def _size(value):
    return "n/a" if value is None else f"{value / MB:,.0f}"


def _row(name, memory):
    cells = "".join(f"<td {_CELL}>{_size(value)}</td>" for value in (memory.consumed, memory.peaked, memory.used))
    return f'<tr><th style="text-align:left">{name}, MB</th>{cells}</tr>'


def _thin(points):
    """At most POINTS of them; of neighbours the highest stays, so that no peak is lost."""
    if len(points) <= POINTS:
        return points
    step = len(points) / POINTS
    parts = (points[int(i * step) : int((i + 1) * step)] for i in range(POINTS))
    return [max(part, key=lambda point: point[1]) for part in parts if part]


def _path(points, seconds, top):
    at = lambda x, y: f"{x / seconds * WIDTH:.1f},{HEIGHT - y / top * (HEIGHT - 2) - 1:.1f}"
    return " ".join(at(x, y) for x, y in points)


def _chart(usage):
    """Empty where nothing was sampled between begin and end."""
    samples = usage.samples
    seconds = samples[-1][0] if samples else 0
    # Where only the kernel saw a peak, no line goes up to the top; the figures are those of the table all the same.
    top = max(usage.ram.peak or 0, usage.gpu_ram.peak or 0)
    if len(samples) < 3 or seconds <= 0 or top <= 0:
        return ""
    lines = legend = ""
    for column, name, color in _LINES:
        points = _thin([(sample[0], sample[column]) for sample in samples if sample[column] is not None])
        if len(points) < 2 or not any(y for _, y in points):
            continue
        lines += f'<polyline points="{_path(points, seconds, top)}" fill="none" stroke="{color}" stroke-width="1.5"/>'
        legend += f'<tspan fill="{color}">{name} </tspan>'
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT + 16}" viewBox="0 0 {WIDTH} {HEIGHT + 16}" role="img" '
        f'aria-label="RAM and GPU RAM over {seconds:.3f} seconds, at most {_size(top)} MB">'
        f'<line x1="0" y1="{HEIGHT}" x2="{WIDTH}" y2="{HEIGHT}" stroke="currentColor" stroke-opacity="0.3"/>{lines}'
        f'<text x="0" y="{HEIGHT + 12}" font-size="11" fill="currentColor">{legend}to {_size(top)} MB</text>'
        f'<text x="{WIDTH}" y="{HEIGHT + 12}" font-size="11" fill="currentColor" text-anchor="end">{seconds:.3f} s</text></svg>'
    )


def _facts(usage):
    """The rest in one line, without what is not known on this machine."""
    facts = [f"{usage.seconds:.3f} s"]
    if usage.cpu_seconds is not None:
        percent = f" ({100 * usage.cpu_seconds / usage.seconds:.0f} %)" if usage.seconds > 0 else ""
        facts.append(f"CPU {usage.cpu_seconds:.3f} s{percent}")
    if usage.gpu_percent is not None:
        facts.append(f"GPU {usage.gpu_percent:.0f} %")
    if usage.gpu_ram.age_seconds > 0:
        facts.append(f"GPU RAM as of {usage.gpu_ram.age_seconds:.2f} s before the end")
    if usage.joules is not None:
        facts.append(f"{usage.joules:.3g} J")
    return " · ".join(facts)


def html(report):
    usage = report.usage
    rows = _row("RAM", usage.ram) + _row("GPU RAM", usage.gpu_ram)
    note = ""
    if usage.why_no_gpu_ram:
        rows += _row("GPU RAM of all", usage.device_ram)
        note = f"<div>GPU RAM of this process is not known: {escape(usage.why_no_gpu_ram)}</div>"
    heads = "".join(f"<th {_CELL}>{head}</th>" for head in ("consumed", "peaked", "total"))
    title = "" if report.number is None else f"In [{report.number}] · "
    return (
        '<div class="gput-report" style="font-size:12px">'
        f"<div>{escape(title + _facts(usage))}</div>"
        '<div style="display:flex;align-items:center;gap:1.5em">'
        f'<table style="{_TABLE}"><thead><tr><th></th>{heads}</tr></thead><tbody>'
        f"{rows}</tbody></table>{_chart(usage)}</div>{note}</div>"
    )
