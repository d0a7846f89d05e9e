"""An interval of a training profile as a chart: static SVG, which needs no script and no other package."""

from __future__ import annotations

import re
from html import escape

from .views import values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any
    from .frame import PandasFrame

_WIDTH, _HEIGHT, _BAR, _LABEL = 900, 120, 12, 190
_COLORS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0")
_MAX_ROWS = 40


class Window:
    """Utilization over an interval, a line for each dimension and metric, and below it a row of bars for each event.

    Percentages reach from 0 to 100; larger readings (of a network) to the highest of them, which the legend shows.

    `html` is the chart; a notebook shows it by itself. `system` and `framework` are the frames that it is made of.
    """

    start_us: int
    end_us: int
    system: Any
    framework: Any

    def __init__(
        self, frame: PandasFrame, start_us: int, end_us: int, select_events: Iterable[str], select_dimensions: Iterable[str]
    ) -> None:
        if not start_us < end_us:
            raise ValueError(f"The window must end after it begins: {start_us} is not before {end_us}")
        self.start_us, self.end_us = start_us, end_us
        self._zero_us = frame.start_time
        self.system, self.framework = frame.get_profiler_data_by_time(start_us, end_us)
        self._lines = self._find_lines(_finder(select_dimensions))
        self._bars = self._find_bars(_finder(select_events))

    def _find_lines(self, fits: Callable[[str], bool]) -> dict[str, tuple[float, list[tuple[float, float]]]]:
        """ "CPUUtilization cpu0 algo-1" -> the top of its scale, (microseconds, value) …"""
        lines: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
        tops: dict[str, float] = {}
        names = ("timestamp_us", "value", "dimension", "system_metric", "nodeID")
        for time, value, dimension, metric, node in zip(*(values_of(self.system, name) for name in names)):
            if value == value and (fits(dimension) or fits(metric)):
                lines.setdefault((dimension, metric, node), []).append((time + self._zero_us, value))
                tops[dimension] = max(tops.get(dimension, 100), value)
        return {" ".join(filter(None, key)): (tops[key[0]], points) for key, points in sorted(lines.items())}

    def _find_bars(self, fits: Callable[[str], bool]) -> dict[str, list[tuple[float, float]]]:
        """Event -> (begin, end) …, those of which there is the most first."""
        bars: dict[str, list[tuple[float, float]]] = {}
        names = ("start_time_us", "end_time_us", "framework_metric", "process")
        for start, end, metric, process in zip(*(values_of(self.framework, name) for name in names)):
            if fits(metric) or fits(process):
                name = metric if metric == process else f"{process}: {metric}"
                bars.setdefault(name, []).append((start + self._zero_us, end + self._zero_us))
        return dict(sorted(bars.items(), key=lambda item: sum(start - end for start, end in item[1])))

    @property
    def html(self) -> str:
        shown = dict(list(self._bars.items())[:_MAX_ROWS])
        height = _HEIGHT + 20 + _BAR * len(shown) + 16
        parts = [self._line(i, points, top) for i, (top, points) in enumerate(self._lines.values())]
        parts += [self._row(i, name, spans) for i, (name, spans) in enumerate(shown.items())]
        seconds = (self.end_us - self.start_us) / 1e6
        rest = len(self._bars) - len(shown)
        return (
            '<div class="gput-window" style="font-size:12px">'
            f'<svg width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" role="img" '
            f'aria-label="Utilization and events of {seconds:.3f} seconds" font-size="10" fill="currentColor">'
            f'<line x1="{_LABEL}" y1="{_HEIGHT}" x2="{_WIDTH}" y2="{_HEIGHT}" stroke="currentColor" stroke-opacity="0.3"/>'
            f'<text x="{_LABEL - 4}" y="10" text-anchor="end">100 %</text>{"".join(parts)}'
            f'<text x="{_LABEL}" y="{height - 4}">{seconds:.3f} s{f", {rest} more kinds of events" * (rest > 0)}</text></svg>'
            f"<div>{self._legend()}</div>{self._empty_html()}</div>"
        )

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        seconds = (self.end_us - self.start_us) / 1e6
        counts = f"{seconds:.3f} s: {len(self._lines)} lines, {len(self._bars)} kinds of events; a notebook shows the chart"
        return "\n".join([counts, *self._empty()])

    def _empty(self) -> Iterator[str]:
        """Sentences on what the chart has none of, and why."""
        parts = (
            (self._lines, self.system, "reading", "timestamp_us", "select_dimensions"),
            (self._bars, self.framework, "event", "start_time_us", "select_events"),
        )
        for shown, frame, kind, column, argument in parts:
            if not len(values_of(frame, column)):
                yield f"There are no {kind}s in this window."
            elif not shown:
                yield f"No {kind} in this window fits {argument}."

    def _empty_html(self) -> str:
        return "".join(f"<div>{escape(sentence)}</div>" for sentence in self._empty())

    def _x(self, time_us: float) -> float:
        inside = min(max(time_us, self.start_us), self.end_us)
        return _LABEL + (inside - self.start_us) / (self.end_us - self.start_us) * (_WIDTH - _LABEL)

    def _line(self, number: int, points: list[tuple[float, float]], top: float) -> str:
        path = " ".join(f"{self._x(time):.1f},{_HEIGHT - value / top * (_HEIGHT - 2):.1f}" for time, value in points)
        color = _COLORS[number % len(_COLORS)]
        return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.2"/>'

    def _row(self, number: int, name: str, spans: list[tuple[float, float]]) -> str:
        y = _HEIGHT + 14 + number * _BAR
        short = name if len(name) <= 34 else name[:33] + "…"
        bars = "".join(
            f'<rect x="{self._x(start):.1f}" y="{y}" width="{max(self._x(end) - self._x(start), 0.5):.1f}" height="{_BAR - 3}"/>'
            for start, end in spans
        )
        return (
            f'<text x="{_LABEL - 4}" y="{y + _BAR - 4}" text-anchor="end">{escape(short)}</text>'
            f'<g fill="{_COLORS[number % len(_COLORS)]}"><title>{escape(name)}</title>{bars}</g>'
        )

    def _legend(self) -> str:
        names = (
            f'<span style="color:{_COLORS[i % len(_COLORS)]}">{escape(name)}{f" (to {top:g})" * (top > 100)}</span>'
            for i, (name, (top, _)) in enumerate(self._lines.items())
        )
        return " · ".join(names)


def _finder(patterns: Iterable[str]) -> Callable[[str], bool]:
    compiled = [re.compile(pattern) for pattern in patterns]
    return lambda name: any(pattern.search(name) for pattern in compiled)
