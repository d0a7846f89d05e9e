"""Curves as static pictures for notebooks: an <img> with a data URI, which viewers keep that strip scripts and inline SVG."""

import base64
from html import escape

POINTS = 180
INK = "#808891"  # readable on light and on dark pages: a picture does not know its page


def thin(points, count=POINTS):
    """At most 2 * `count` of them: of neighbours the lowest and the highest stay, in their order, so that no peak is lost."""
    if len(points) <= 2 * count:
        return points
    step = len(points) / count
    kept = []
    for i in range(count):
        part = points[int(i * step) : int((i + 1) * step)]
        ends = sorted((min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])))
        kept += ends[:1] if ends[0] == ends[1] else ends
    return kept


def curves(lines, top, notes, label, width=360, height=64):
    """An <img> of curves over one axis of time.

    lines: (name, colour, points) each, a point being (seconds, value); the first point of all is at the left.
    top: the value at the upper edge.
    notes: texts below, to the left (after the names of the lines) and to the right.
    label: what a screen reader says.
    """
    seconds = max(points[-1][0] for _, _, points in lines)
    start = min(points[0][0] for _, _, points in lines)
    span = seconds - start or 1.0

    def place(x, y):
        return f"{(x - start) / span * width:.1f},{height - y / top * (height - 2) - 1:.1f}"

    drawn = "".join(
        f'<polyline points="{" ".join(place(x, y) for x, y in thin(points))}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        for _, colour, points in lines
    )
    names = "".join(f'<tspan fill="{colour}">{escape(name)} </tspan>' for name, colour, _ in lines)
    text = f'font-family="sans-serif" font-size="11" fill="{INK}" y="{height + 12}"'
    return image(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 16}" viewBox="0 0 {width} {height + 16}">'
        f'<line x1="0" y1="{height}" x2="{width}" y2="{height}" stroke="{INK}" stroke-opacity="0.5"/>{drawn}'
        f'<text x="0" {text}>{names}{escape(notes[0])}</text>'
        f'<text x="{width}" {text} text-anchor="end">{escape(notes[1])}</text></svg>',
        label,
    )


def image(svg, label):
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(label)}" src="data:image/svg+xml;base64,{data}"/>'
