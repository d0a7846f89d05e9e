"""`SubTrackingAnalyzer` and `TrackingComparison`: thin over the library."""

from __future__ import annotations

import contextlib
import functools
import os

from . import _native
from ._messages import log_warnings
from ._pandas import timepoints
from ._results import SubTrackingResults, comparison_of, content_of, files_of, results_of
from ._shown import Shown
from .recorded import read_calls, read_marks, read_samples
from .table import Table, tables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike
    from typing import Any, Literal
    from ._reports import Picture
    from ._results import ComparisonResults, Frame, Series, SubTrackingResults
    from .table import Table

    _Path = str | PathLike[str]

_MODULE = "gpu_tracker.sub_tracker"
_EXTENSIONS = (".csv", ".sqlite", ".gputblocks")


def _check_name(path: _Path | None, extensions: tuple[str, ...]) -> None:
    if path is not None and not os.fspath(path).endswith(extensions):
        raise ValueError(f'Invalid file name: "{os.fspath(path)}". Valid file extensions are ".csv" and ".sqlite".')


_check_there = os.stat  # raises what stands for the reason: FileNotFoundError, NotADirectoryError


class SubTrackingAnalyzer(Shown):
    """Statistics of a tracking session and of its code blocks.

    tracking_file: a .csv or .sqlite file that a Tracker or the command wrote; None: only to combine files.
    sub_tracking_file: a .csv, .sqlite or .gputblocks file of marks; None: only the session as a whole.
    """

    def __init__(self, tracking_file: _Path | None, sub_tracking_file: _Path | None) -> None:
        _check_name(tracking_file, _EXTENSIONS[:2])
        _check_name(sub_tracking_file, _EXTENSIONS)
        self._tracking_file = tracking_file
        self._sub_tracking_file = sub_tracking_file

    def _facts(self) -> list[tuple[str, str]]:
        paths = (("tracking file", self._tracking_file), ("marks of code blocks", self._sub_tracking_file))
        return [(what, "none" if path is None else os.fspath(path)) for what, path in paths]

    def _checked_files(self, *, with_blocks: bool = True) -> tuple[_Path, _Path | None]:
        if self._tracking_file is None:
            raise ValueError("The analysis needs a tracking file.")
        files = self._tracking_file, self._sub_tracking_file if with_blocks else None
        for path in files:
            if path is not None:
                _check_there(path)
        return files

    def _analyze(self, *, with_blocks: bool = True) -> SubTrackingResults:
        tables, warnings = _native.analyze(*self._checked_files(with_blocks=with_blocks))
        log_warnings(warnings)
        return results_of(tables)

    def _repr_html_(self) -> str:
        """For notebooks: the main figures, and curves."""
        if self._tracking_file is None:
            return super()._repr_html_()
        from ._display import analysis_html

        results = self._analyze(with_blocks=self._sub_tracking_file is not None).to_json()
        return analysis_html(results, self._tracking_file, self._sub_tracking_file)

    def read_static_data(self) -> Series[Any]:
        """What does not change during a session: units, capacities, counts."""
        return self._analyze(with_blocks=False).static_data

    def overall_timepoint_results(self) -> Frame:
        """min, max, mean, std of each measurement over all samples."""
        return self._analyze(with_blocks=False).overall

    def sub_tracking_results(self) -> SubTrackingResults:
        """All of it, as SubTrackingResults.

        Raises FileNotFoundError, and ValueError for a file that is not what it should be, or whose starts and stops
        do not pair up.
        """
        results = self._analyze()
        files = self._tracking_file, self._sub_tracking_file
        vars(results)["_files"] = tuple(path and os.path.abspath(path) for path in files)
        return results

    def tables(
        self,
        details: bool = False,
        split: Literal["process", "thread", "rank", "source", "domain", "category"] | None = None,
    ) -> dict[str, Table]:
        """All of it as Tables by name, for other libraries: "overall", "code_blocks", "code_block_usage", and those of one row:
        "static_data", "lost_calls" and, where the tracking file has it, "energy".

        details: also percentiles, self time and the CPU time of the thread.
        split: "process", "thread" or "rank": also a row for each part of a code block. "source", "domain" or "category": code
            blocks that are called source:domain/name [category] together.
        """
        tables, warnings = _native.analyze(*self._checked_files(), details, split)
        log_warnings(warnings)
        return tables_of(tables)

    def _marks(self) -> _Path:
        if self._sub_tracking_file is None:
            raise ValueError("This needs a sub-tracking file.")
        return self._sub_tracking_file

    def combine_sub_tracking_files(self, files: Iterable[_Path]) -> None:
        """Combines these files, or those of the one folder given, into the sub-tracking file of this analyzer.

        Raises ValueError when that is there already, or an extension is another; FileNotFoundError.
        """
        paths = [os.fspath(file) for file in files]
        if len(paths) == 1 and os.path.isdir(paths[0]):
            paths = sorted(entry.path for entry in os.scandir(paths[0]))
        output = self._marks()
        for path in paths:
            if path.endswith(os.path.splitext(output)[1]):
                _check_there(path)
        log_warnings(_native.combine(output, paths))

    def load_code_block_names(self) -> list[str]:
        """The names of the code blocks, sorted."""
        _check_there(self._marks())
        return sorted(set(read_marks(self._marks())["code_block_name"]))

    def load_timestamp_pairs(self, code_block_name: str) -> list[tuple[float, float]]:
        """Start and stop of each call, in seconds since the epoch, by process and time.

        Raises ValueError when starts and stops do not pair up.
        """
        _check_there(self._marks())
        calls = read_calls(self._marks(), code_block_name)
        return [(start, stop) for _, start, stop in sorted(zip(calls["process_id"], calls["start"], calls["stop"]))]

    def load_timepoints(self, timestamp_pairs: Iterable[tuple[float, float]]) -> Any:
        """The samples inside at least one of these calls, ends included."""
        tracking_file, _ = self._checked_files(with_blocks=False)
        return timepoints(read_samples(tracking_file, timestamp_pairs))


# ---- Comparison ----


class TrackingComparison(Shown):
    """Compares sessions by their results.

    file_path_map: session name -> file of its SubTrackingResults, pickled or as JSON; a list of files means several
        runs, which are compared by their mean.
    """

    def __init__(self, file_path_map: Mapping[str, _Path | list[_Path]]) -> None:
        if not hasattr(file_path_map, "items"):
            raise TypeError('file_path_map is a dict of names and files, for example {"old": "old.csv", "new": "new.csv"}')
        if not file_path_map:
            raise ValueError("A mapping of tracking session name to file path must be provided.")
        self._results_map: dict[str, SubTrackingResults] | None = None
        # Held from the beginning, so that what becomes of the files changes nothing.
        self._contents = [
            (name, content_of(path))
            for name, paths in file_path_map.items()
            for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)
        ]
        self._compare("mean")  # reports at once what does not match

    def _facts(self) -> list[tuple[str, str]]:
        return [("sessions", ", ".join(dict.fromkeys(str(name) for name, _ in self._contents)))]

    @property
    def results_map(self) -> dict[str, SubTrackingResults]:
        """Session name -> its SubTrackingResults."""
        if self._results_map is None:
            with self._files() as files:
                self._results_map = {name: SubTrackingResults.load(path) for name, path in files}
        return self._results_map

    @contextlib.contextmanager
    def _files(self) -> Iterator[list[tuple[str, str]]]:
        with files_of([content for _, content in self._contents]) as paths:
            yield [(name, path) for (name, _), path in zip(self._contents, paths)]

    def _compare(self, statistic: str, format: int = _native.TABLES, *, is_inline: bool = False) -> tuple[Any, list[str]]:
        warnings: list[str] = []
        with self._files() as files:
            try:
                return _native.compare(files, statistic, format, warnings, is_inline), warnings
            except ValueError:
                log_warnings(warnings)  # of the pairs before the one that does not match
                raise

    def compare(self, statistic: Literal["min", "max", "mean", "std"] = "mean") -> ComparisonResults:
        """One statistic of all sessions: "min", "max", "mean" or "std", as ComparisonResults.

        Raises ValueError for another statistic.
        """
        tables, warnings = self._compare(statistic)
        log_warnings(warnings)
        results = comparison_of(tables)
        vars(results)["_shown"] = functools.partial(self._shown, statistic)
        return results

    def _shown(self, statistic: str, results: dict[str, Any]) -> str:
        from ._display import comparison_html

        first = next(iter(self.results_map.values()))
        draw = functools.partial(self._draw, statistic)
        return comparison_html(results, statistic, first.to_json()["static_data"], list(self.results_map), draw)

    def _draw(self, statistic: str) -> str:
        content: bytes = self._compare(statistic, _native.SVG, is_inline=True)[0]
        return content.decode()

    def _repr_html_(self) -> str:
        """For notebooks: the means of all sessions, and their changes against the first."""
        return self.compare()._repr_html_()

    def plot(self, path: _Path | None = None, *, statistic: Literal["min", "max", "mean", "std"] = "mean") -> Picture | None:
        """Draws the main figures and the time of code blocks, a bar for each session.

        path: the file, .svg, .pdf or .png. None: the picture is returned, and notebooks show it.
        """
        from ._reports import Picture

        formats = {".svg": _native.SVG, ".pdf": _native.PDF, ".png": _native.PNG}
        ending = ".svg" if path is None else os.path.splitext(os.fspath(path))[1].lower()
        if ending not in formats:
            raise ValueError(f"A picture is SVG, PDF or PNG: name it .svg, .pdf or .png, not {path}")
        content, warnings = self._compare(statistic, formats[ending])
        log_warnings(warnings)
        if path is None:
            return Picture(content.decode())
        _native.write_file(path, content)
        return None

    def table(self, statistic: Literal["min", "max", "mean", "std"] = "mean") -> Table:
        """The same as one Table for other libraries, a row for each figure and session: code_block (None: the session as a
        whole), measurement, statistic, session, value, percent_change from the first session; of several runs also low and
        high of the mean's 95 % interval, and within_noise.
        """
        tables, warnings = self._compare(statistic)
        log_warnings(warnings)
        return Table(tables["comparison"])


for _class in (SubTrackingAnalyzer, TrackingComparison):
    _class.__module__ = _MODULE
