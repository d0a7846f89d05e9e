"""HTML reports and pictures of sessions."""

from __future__ import annotations

import os

from . import _native
from ._frame import frame, page_of, sessions_of_tracker
from ._messages import log_warnings
from ._nearest import explains_options
from ._pickles import as_json
from ._shown import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

    _Path = str | os.PathLike[str]


@explains_options
def report(
    sessions: _Path | Iterable[_Path],
    output: _Path | None = None,
    *,
    sub_tracking_files: _Path | Iterable[_Path] = (),
    title: str | None = None,
    format: Literal["html", "parquet", "arrow"] | None = None,
) -> Report | None:
    """Writes an HTML report, one file that needs no network, or its tables: see docs/report.md.

    output: the file. None: the report is returned, and notebooks show it.
    sessions: tracking files, results, recordings of power, training profiles, traces, or folders of these.
    sub_tracking_files: code blocks of the only session, or one file for each.
    format: "parquet" and "arrow" are the tables of the report, a file each in the folder `output`, or the samples in a file that
    ends so. They need pyarrow. None: what the ending of `output` says, or "html".
    """
    chosen = _format_of(output) if format is None else format
    if chosen != "html":
        _write_tables(sessions, output, sub_tracking_files, chosen)
        return None
    options: dict[str, Any] = {"marks": _paths(sub_tracking_files), "title": title}
    with as_json(_paths(sessions)) as paths:
        if output is None:
            html, warnings = page_of(paths, **options)
        else:
            warnings = _native.report(paths, output, page=os.environ.get("GPUT_REPORT_PAGE"), **options)
    log_warnings(warnings)
    return Report(html) if output is None else None


@explains_options
def plot(
    sessions: _Path | Iterable[_Path],
    output: _Path | None = None,
    *,
    sub_tracking_files: _Path | Iterable[_Path] = (),
    figures: Iterable[str] | None = None,
    blocks: bool = False,
    start: float | None = None,
    end: float | None = None,
    size: tuple[float, float] | float | None = None,
    title: str | None = None,
) -> Picture | None:
    """Draws curves of sessions for a paper, as SVG, PDF or PNG: see docs/plots.md.

    output: the file, .svg, .pdf or .png. None: the picture is returned, and notebooks show it.
    figures: charts ("ram", "gpu_ram", "cpu", "gpu", "power", "threads") or curves ("main_ram"); None: those that were used.
    blocks: with rows and bands of code blocks.
    start, end: seconds after the beginning of a session.
    size: width, or width and height, in millimetres.
    """
    width, height = size if isinstance(size, tuple) else (size, None)
    numbers = {"start": start, "end": end, "width_mm": width, "height_mm": height}
    options = {name: float(value) for name, value in numbers.items() if value is not None}
    names = None if figures is None else list(figures)
    svg, warnings = _native.plot(_paths(sessions), output, marks=_paths(sub_tracking_files), figures=names, blocks=blocks, title=title, **options)
    log_warnings(warnings)
    return Picture(svg) if output is None else None


def _format_of(output: _Path | None) -> str:
    from . import _table_files

    return (_table_files.format_of(output) if output is not None else None) or "html"


def _write_tables(sessions: _Path | Iterable[_Path], output: _Path | None, marks: _Path | Iterable[_Path], format: str) -> None:
    from . import _table_files

    if format not in _table_files.FORMATS:
        raise ValueError(f'"{format}" is not a valid format of a report. Valid values are "html", "parquet" and "arrow".')
    if output is None:
        raise ValueError("There are several tables: name the folder that they should go to.")
    with as_json(_paths(sessions)) as paths:
        log_warnings(_table_files.write(paths, output, format, _paths(marks)))


def report_of_tracker(tracking_file: str | None, results: dict[str, Any], output: _Path) -> None:
    with sessions_of_tracker(tracking_file, results) as sessions:
        report(sessions, output)


class Report(Shown):
    """An HTML report: notebooks show it in a frame, `save` writes it."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _facts(self) -> list[tuple[str, str]]:
        return [("characters of HTML", f"{len(self.html):,}")]

    def _repr_html_(self) -> str:
        content = frame(self.html, "A report is shown here once the notebook is trusted; <code>save()</code> writes it to a file.")
        return content or "<div>This report is too large for a notebook: <code>save()</code> writes it to a file.</div>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        _native.write_file(path, self.html.encode("utf-8", "surrogateescape"))


class Picture(Shown):
    """An SVG picture: notebooks show it, `save` writes it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _facts(self) -> list[tuple[str, str]]:
        return [("characters of SVG", f"{len(self.svg):,}")]

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        """Viewers of other people's notebooks strip an SVG picture, and keep an image."""
        from ._picture import image

        return image(self.svg)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        _native.write_file(path, self.svg.encode("utf-8", "surrogateescape"))


def _paths(paths: _Path | Iterable[_Path]) -> list[_Path]:
    return [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
