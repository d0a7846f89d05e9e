"""`SubTrackingAnalyzer` and `TrackingComparison`: thin over the library."""

import json
import os
import pickle
import tempfile

from . import _native
from ._pandas import columns, frame, series
from ._results import CodeBlockResults, ComparisonResults, SubTrackingResults

_MODULE = "gpu_tracker.sub_tracker"
_EXTENSIONS = (".csv", ".sqlite", ".gputblocks")


def _warn(messages):
    for message in messages:
        import logging

        logging.getLogger("gpu_tracker").warning(message)


def _check_name(path, extensions):
    if path is not None and not os.fspath(path).endswith(extensions):
        raise ValueError(f'Invalid file name: "{os.fspath(path)}". Valid file extensions are ".csv" and ".sqlite".')


def _check_there(path):
    if not os.path.exists(path):
        raise FileNotFoundError(2, os.strerror(2), os.fspath(path))


def _block(values):
    return CodeBlockResults(
        name=values["name"],
        num_timepoints=values["num_timepoints"],
        num_calls=values["num_calls"],
        num_non_empty_calls=values["num_non_empty_calls"],
        compute_time=series(_numbers(values["compute_time"])),
        resource_usage=frame(_rows(values["resource_usage"])),
    )


def _numbers(values):
    return {name: float("nan") if value is None else value for name, value in values.items()}


def _rows(rows):
    return {name: _numbers(row) for name, row in rows.items()}


def _results(text):
    """SubTrackingResults out of the JSON of an analysis."""
    values = json.loads(text)
    return SubTrackingResults(
        overall=frame(_rows(values["overall"])),
        static_data=series(values["static_data"], name=0, dtype=object),
        code_block_results=[_block(block) for block in values["code_block_results"]],
    )


class SubTrackingAnalyzer:
    """Statistics of a tracking session and of its code blocks.

    tracking_file: a .csv or .sqlite file that a Tracker or the command wrote; None: only to combine files.
    sub_tracking_file: a .csv, .sqlite or .gputblocks file of marks; None: only the session as a whole.
    """

    def __init__(self, tracking_file, sub_tracking_file):
        _check_name(tracking_file, _EXTENSIONS[:2])
        _check_name(sub_tracking_file, _EXTENSIONS)
        self._tracking_file = tracking_file
        self._sub_tracking_file = sub_tracking_file

    def _analyze(self, sub_tracking_file):
        if self._tracking_file is None:
            raise ValueError("The analysis needs a tracking file.")
        for path in (self._tracking_file, sub_tracking_file):
            if path is not None:
                _check_there(path)
        text, warnings = _native.analyze(self._tracking_file, sub_tracking_file, _native.JSON)
        _warn(warnings)
        return _results(text)

    def read_static_data(self):
        """What does not change during a session: units, capacities, counts."""
        return self._analyze(None).static_data

    def overall_timepoint_results(self):
        """min, max, mean, std of each measurement over all samples."""
        return self._analyze(None).overall

    def sub_tracking_results(self):
        """All of it, as SubTrackingResults.

        Raises FileNotFoundError, and ValueError for a file that is not what it should be, or whose starts and stops
        do not pair up.
        """
        return self._analyze(self._sub_tracking_file)

    def combine_sub_tracking_files(self, files):
        """Combines these files, or those of the one folder given, into the sub-tracking file of this analyzer.

        Raises ValueError when that is there already, or an extension is another; FileNotFoundError.
        """
        files = [os.fspath(file) for file in files]
        if len(files) == 1 and os.path.isdir(files[0]):
            files = sorted(entry.path for entry in os.scandir(files[0]))
        for file in files:
            if file.endswith(os.path.splitext(self._sub_tracking_file)[1]):
                _check_there(file)
        _warn(_native.combine(self._sub_tracking_file, files))

    def load_code_block_names(self):
        """The names of the code blocks, sorted."""
        return sorted({name for _, name, _, _ in self._marks()})

    def load_timestamp_pairs(self, code_block_name):
        """Start and stop of each call, in seconds since the epoch.

        Raises ValueError when starts and stops do not pair up.
        """
        rows = sorted(
            (process, time, position) for process, name, position, time in self._marks() if name == code_block_name
        )
        # A start that is a process's last mark is a call that is still open.
        rows = [
            row for row, after in zip(rows, [*rows[1:], (None,)]) if row[2] != 0 or row[0] == after[0]
        ]
        if len(rows) % 2:
            process, time, _ = rows[-1]
            raise ValueError(
                f'Sub-tracking file is invalid. Code block "{code_block_name}" of process ID {process} stops at {time} '
                "without a start."
            )
        return [_pair(first, second) for first, second in zip(rows[::2], rows[1::2])]

    def load_timepoints(self, timestamp_pairs):
        """The samples inside at least one of these calls, ends included."""
        names, rows = self._samples()
        spans = _union(timestamp_pairs)
        at = names.index("timestamp")
        kept = []
        for row in rows:
            if _is_in(row[at], spans):
                kept.append(row)
        return columns({name: [row[i] for row in kept] for i, name in enumerate(names)})

    def _marks(self):
        """(process id, name, position, time) of each mark."""
        path = self._sub_tracking_file
        _check_there(path)
        with tempfile.TemporaryDirectory() as folder:
            if os.fspath(path).endswith(".gputblocks"):
                log, path = path, os.path.join(folder, "marks.csv")
                _warn(_native.combine(path, [log], True))
            names, rows = _read_table(path, 0)
        places = [names.index(name) for name in ("process_id", "code_block_name", "position", "timestamp")]
        for row in rows:
            process, name, position, time = (row[place] for place in places)
            yield int(process), str(name), int(position), float(time)

    def _samples(self):
        _check_there(self._tracking_file)
        names, rows = _read_table(self._tracking_file, 2)
        return names, [[_figure(cell) for cell in row] for row in rows]


def _figure(cell):
    """A cell as the number it is; an empty one is not known."""
    if isinstance(cell, (int, float)):
        return cell
    if not cell:
        return float("nan")
    return float(cell) if "." in cell or "e" in cell or "n" in cell else int(cell)


def _read_table(path, skip):
    """Column names and rows of a CSV file, or of the table `data`."""
    if os.fspath(path).endswith(".csv"):
        import csv

        with open(path, newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))[skip:]
        names = lines[0] if lines else []
        return names, [row for row in lines[1:] if len(row) == len(names)]
    import contextlib
    import sqlite3

    with contextlib.closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT * FROM data")
        return [column[0] for column in rows.description], rows.fetchall()


def _pair(first, second):
    (process, start, begins), (other, stop, ends) = first, second
    if process == other and begins <= ends:
        return start, stop
    if process != other:
        what = f"with differing process IDs: {process} and {other}."
    else:
        what = f"of process ID {process} with a start time greater than the stop time."
    raise ValueError(f"Sub-tracking file is invalid. Detected timestamp pair ({start}, {stop}) {what}")


def _union(pairs):
    spans = []
    for start, stop in sorted(pairs):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(stop, spans[-1][1]))
        else:
            spans.append((start, stop))
    return spans


def _is_in(time, spans):
    from bisect import bisect_right

    at = bisect_right(spans, (time, float("inf"))) - 1
    return at >= 0 and spans[at][0] <= time <= spans[at][1]


# ---- Comparison ----


class _PlainUnpickler(pickle.Unpickler):
    """Reads results that were pickled without pandas: only their own classes, nothing else is ever called."""

    _ALLOWED = {
        (_MODULE, "SubTrackingResults"),
        (_MODULE, "CodeBlockResults"),
        ("gpu_tracker._tables", "Series"),
        ("gpu_tracker._tables", "Frame"),
    }

    def find_class(self, module, name):
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of results")
        return super().find_class(module, name)


def _json_of(path):
    """The JSON of results in a file of any kind."""
    _check_there(path)
    try:
        return _native.load_analysis(path, _native.JSON)
    except ValueError:
        try:
            with open(path, "rb") as file:
                results = _PlainUnpickler(file).load()
        except Exception:
            results = None
        if not isinstance(results, SubTrackingResults):
            raise
        return json.dumps(results.to_json()).encode()


def load_results(path):
    return _results(_json_of(path))


class TrackingComparison:
    """Compares sessions by their results.

    file_path_map: session name -> file of its SubTrackingResults, pickled or as JSON; a list of files stands for several
        runs, which are compared by their mean.
    """

    def __init__(self, file_path_map):
        if not file_path_map:
            raise ValueError("A mapping of tracking session name to file path must be provided.")
        self._results_map = None
        self._files = [
            (name, _json_of(path))
            for name, paths in file_path_map.items()
            for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)
        ]
        self._compare("mean")  # what does not match is told at once

    @property
    def results_map(self):
        """Session name -> its SubTrackingResults."""
        if self._results_map is None:
            self._results_map = {name: _results(text) for name, text in self._files}
        return self._results_map

    def _compare(self, statistic):
        with tempfile.TemporaryDirectory(prefix="gpu-tracker-") as folder:
            pairs = []
            for i, (name, text) in enumerate(self._files):
                path = os.path.join(folder, f"{i}.json")
                with open(path, "wb") as file:
                    file.write(text)
                pairs.append((name, path))
            return _native.compare(pairs, statistic, _native.JSON)

    def compare(self, statistic="mean"):
        """One statistic of all sessions: "min", "max", "mean" or "std", as ComparisonResults.

        Raises ValueError for another statistic.
        """
        text, warnings = self._compare(statistic)
        _warn(warnings)
        values = json.loads(text)
        return ComparisonResults(
            overall_resource_usage=_map(values["overall_resource_usage"]),
            code_block_resource_usage={
                name: _map(blocks) for name, blocks in values.get("code_block_resource_usage", {}).items()
            },
            code_block_compute_time=_map(values.get("code_block_compute_time", {})),
        )


def _map(comparisons):
    return {name: series(_numbers(sessions)) for name, sessions in comparisons.items()}


for _class in (SubTrackingAnalyzer, TrackingComparison):
    _class.__module__ = _MODULE
