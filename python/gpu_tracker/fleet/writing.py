"""Sessions as Parquet or Arrow: a file for each session and table, row by row, in bounded memory."""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import datetime
import hashlib
import json
import math
import os
import re
import shutil
import tempfile

from .. import _native
from .._messages import log_warnings
from ..table import Table
from .layout import ALLOWED, FIGURES, FORMATS, IDENTITY_NUMBERS, IDENTITY_TEXTS, VERSION, path_of, pyarrow_or_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike
    from typing import Any

    _Path = str | PathLike[str]

# Further tables of .sqlite tracking files, by the names that they have there.
_FURTHER = {"process_data": "processes", "gpu_data": "gpus", "energy_data": "energy", "io_data": "io"}
_HEAD_BYTES = 1 << 16
_MANIFEST = ".session.json"  # of the file before it
_WORD_LENGTH = 40
_LAST_DIGIT = 1e-15  # of a double
_BYTES = {b"kilobytes": 1e3, b"megabytes": 1e6, b"gigabytes": 1e9, b"terabytes": 1e12}


def export(sessions: _Path | Iterable[_Path], folder: _Path, *, format: str = "parquet", overwrite: bool = False) -> list[str]:
    """Writes sessions for analysis on an engine; gives the names of their files.

    sessions: tracking files, reports in JSON, or folders of them; sub-tracking files are found next to them, as reports do. Ranks of
    one job, or any others. A report without a tracking file gives a row of the table sessions, and nothing else.
    folder: is made unless it is there; sessions that it has stay. FOLDER/TABLE/SESSION.parquet, with the tables sessions, samples,
    marks, calls, segments and leaves, and processes, gpus, energy and io where the tracking file has them. Sizes are in bytes,
    times in seconds since the epoch; units and identity are in the metadata.
    format: "parquet" or "arrow".
    overwrite: also sessions that the folder has.

    What cannot be exported is a warning; the rest is. Raises ValueError and OSError where nothing can be, ImportError without pyarrow.
    """
    return export_some(sessions, folder, format, overwrite)[0]


def export_some(sessions: _Path | Iterable[_Path], folder: _Path, format: str, overwrite: bool) -> tuple[list[str], int]:
    """As export(), and how many sessions could not be exported."""
    if format not in FORMATS:
        raise ValueError(f'"{format}" is not a valid format of an export. Valid values are "parquet" and "arrow".')
    pyarrow_or_error()
    paths = [sessions] if isinstance(sessions, (str, bytes, os.PathLike)) else list(sessions)
    folder = os.fspath(folder)
    found, warnings, unreadable = _find(paths)
    os.makedirs(folder, exist_ok=True)
    written: dict[str, str] = {}
    problems: list[Exception] = []
    there = _There(folder, format)
    for source in found:
        path = source.path
        try:
            _export_once(source, there, overwrite, written, warnings)
        except (ValueError, OSError) as error:
            problems.append(error)
            warnings.append(f"{path} is skipped: {error}")
    log_warnings(warnings)
    if written:
        return list(written), unreadable + len(problems)
    if problems:
        raise problems[0]
    raise ValueError("The named files and folders contain no tracking file and no report.")


@dataclasses.dataclass(frozen=True)
class _Source:
    """The files of a session."""

    path: str  # the tracking file; where there is none, the report
    has_samples: bool
    results: str  # its report, or what it kept; "": there is none
    marks: list[str]


def _find(paths: list[_Path]) -> tuple[list[_Source], list[str], int]:
    """-> sources, warnings, how many files are damaged or cannot be read."""
    manifests = _find_manifests(paths)
    try:
        found_tables, warnings = _native.report_files(paths)
    except (ValueError, OSError, RuntimeError):
        if manifests:
            return manifests, [], 0
        raise
    tables = {name: Table(table) for name, table in found_tables.items()}
    unreadable = len(tables["left_out"])
    marks: dict[int, list[str]] = {}
    for session, path in tables["marks"].rows():
        marks.setdefault(session, []).append(path)
    found = []
    others: dict[str, list[str]] = {}
    for session, path, kind, results, copy_of in tables["sessions"].rows():
        if copy_of:
            continue  # a warning says so
        if kind == "tracking":
            found.append(_Source(path, True, results or "", marks.get(session, [])))
        elif kind == "results" and _is_report(path):
            found.append(_Source(path, False, path, []))
        else:
            others.setdefault(kind, []).append(path)
    for kind, left_out in others.items():
        many = len(left_out) > 1
        warnings.append(
            f"{left_out[0]} {f'and {len(left_out) - 1} more are' if many else 'is'} skipped: "
            f"{'they have' if many else 'it has'} no samples and no report ({kind}), or it is not clear which tracking "
            f"{'files they belong' if many else 'file it belongs'} to.")  # fmt: skip
    return found + manifests, warnings, unreadable


def _find_manifests(paths: list[_Path]) -> list[_Source]:
    """Of sessions that wrote no other file which says whose it is."""
    try:
        sessions = Table(_native.read_sessions(paths)["sessions"])
    except (ValueError, OSError):
        return []  # there is no session, or a warning says more
    return [_Source(path, False, path, []) for path in sessions["path"] if path.endswith(_MANIFEST)]


def _is_report(path: str) -> bool:
    """Whether it is a report of a session that has ended, and not what a session kept while it ran."""
    with open(path, "rb") as file:
        return file.read(_HEAD_BYTES).lstrip().startswith(b"{")


class _There:
    """The sessions that a folder had before this export."""

    def __init__(self, folder: str, format: str) -> None:
        self.folder = folder
        self.format = format
        self._by_samples: dict[str, tuple[str, bool]] | None = None

    def has(self, session: str, with_samples: bool) -> bool:
        return os.path.exists(path_of(self.folder, "samples" if with_samples else "sessions", session, self.format))

    def same_samples(self, session: str, digest: str, is_known: bool) -> tuple[str | None, bool]:
        """The name of a session with the same samples, if it or this one lacks its identity: then one is a copy. None: there is none.
        Second, whether that is the one to keep: it is unless it alone lacks its identity."""
        if self._by_samples is None:
            self._by_samples = dict(self._read())
        name, other_is_known = self._by_samples.get(digest, (session, True))
        return (None, True) if name == session or (is_known and other_is_known) else (name, other_is_known or not is_known)

    def remove(self, session: str) -> None:
        """The file that makes it a session is the first to go."""
        for table in ("sessions", *sorted(os.listdir(self.folder))):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(path_of(self.folder, table, session, self.format))

    def _read(self) -> Iterator[tuple[str, tuple[str, bool]]]:
        import pyarrow.ipc
        import pyarrow.parquet

        names: list[str] = []
        ending = f".{self.format}"
        with contextlib.suppress(FileNotFoundError):
            names = [name[: -len(ending)] for name in os.listdir(os.path.join(self.folder, "sessions")) if name.endswith(ending)]
        for name in names:
            path = path_of(self.folder, "sessions", name, self.format)
            with contextlib.suppress(OSError, pyarrow.ArrowInvalid):
                table = pyarrow.parquet.read_table(path) if self.format == "parquet" else pyarrow.ipc.open_file(path).read_all()
                if "samples_digest" in table.column_names and table.num_rows and table["samples_digest"][0].is_valid:
                    yield table["samples_digest"][0].as_py(), (name, table["start"][0].is_valid)


def _export_once(source: _Source, there: _There, overwrite: bool, written: dict[str, str], warnings: list[str]) -> None:
    """A session that was exported from its report alone is written again when its tracking file is there."""
    path = source.path
    identity = _identity(source)
    session = _session_name(path, identity)
    if session in written:
        warnings.append(f"{path} is skipped: it is the same session as {written[session]}.")
        return
    if not overwrite and there.has(session, source.has_samples):
        warnings.append(f"{path} is skipped: {there.folder} has this session, as {session}. To write it again: overwrite.")
        written[session] = path
        return
    other = _Session(path, session, identity, there.folder, there.format).write(source, warnings, there)
    if other:
        warnings.append(f"{path} is skipped: {there.folder} has its samples, as {other}.")
    written[other or session] = path


# ---- Identity ----


def _identity(source: _Source) -> dict[str, Any]:
    """What is known of a session: name -> value. A tracking file has more digits of what a report has, too."""
    names = {*IDENTITY_TEXTS, *IDENTITY_NUMBERS, *ALLOWED, *FIGURES}
    if source.results.endswith(_MANIFEST):
        values = _values_of_manifest(source.results)
    else:
        values = _values_of_report(source.results) if source.results and _is_report(source.results) else {}
    if source.has_samples:
        values |= {name: value for name, value in _values_of_tracking(source.path).items() if value is not None}
    return {name: value for name, value in values.items() if name in names and value not in (None, "")}


def _values_of_report(path: str) -> dict[str, Any]:
    """Its columns by the names that session_data has for them: "identity.host" is host, "max.main_ram" max_main_ram_bytes."""
    table = Table(_native.load_results(path)["results"])
    values = {}
    for column in table.columns:
        section = column.partition(".")[0]
        name = column.removeprefix("identity.").removeprefix("job.").removeprefix("files.").replace(".", "_")
        is_size = section in ("max", "mean") and table.units[column] == "bytes"
        value = table[column][0]
        is_whole = name in IDENTITY_NUMBERS and value is not None
        values[f"{name}_bytes" if is_size else name] = int(value) if is_whole else value
    return values


def _values_of_tracking(path: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if path.endswith(".sqlite"):
        try:
            table = _native.read_tables(path).get("session_data")
        except ValueError:
            values = _salvage_identity(path)
        else:
            if table:
                for row in Table(table).rows():
                    values = dict(zip((field[0] for field in table.fields), row))
    else:
        with contextlib.suppress(OSError, ValueError):
            values = _values_of_manifest(path + _MANIFEST)
    return values


def _values_of_manifest(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        values: dict[str, Any] = json.load(file)
    return values


def _salvage_identity(path: str) -> dict[str, Any]:
    """That of a database of which a part cannot be read."""
    import sqlite3

    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("pragma writable_schema = on")  # it may be shorter than its header says
        rows = database.execute("select * from session_data")
        return dict(zip((column[0] for column in rows.description), rows.fetchone() or ()))
    return {}


def _seconds(moment: Any) -> float | None:
    """2026-01-31T12:00:00.5Z in seconds since the epoch; None: not a time."""
    with contextlib.suppress(AttributeError, ValueError):
        return datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
    return None


def _session_name(path: str, identity: dict[str, Any]) -> str:
    """What people know it by, and a digest: 4711.r3.node1.0123456789abcde. The same for copies of a file, and for what a file had when
    its session was still running. Names of files, and no sign that an engine takes for a pattern."""
    known = [identity.get(name) for name in ("host", "boot_id", "pid", "start", "job_id", "step", "rank", "restarts")]
    digest = hashlib.sha256(json.dumps(known).encode())
    if not identity.get("start"):
        with open(path, "rb") as file:
            digest.update(file.read(_HEAD_BYTES))
    rank = f"r{identity['rank']:.0f}" if "rank" in identity else None
    words = [str(word) for word in (identity.get("job_id"), identity.get("task"), rank, identity.get("host")) if word]
    return ".".join([*(re.sub(r"[^A-Za-z0-9_-]", "-", word)[:_WORD_LENGTH] for word in words), digest.hexdigest()[:15]])


def _in_bytes(native: _native.Table) -> Any:
    """A table whose sizes are in the unit of its file; those of samples are in bytes when they come."""
    import pyarrow
    import pyarrow.compute as compute

    table = pyarrow.table(Table(native))
    for number, field in enumerate(table.schema):
        factor = _BYTES.get((field.metadata or {}).get(b"unit", b""))
        if factor:
            values = compute.multiply(table[number], factor)
            whole = compute.round(values)
            is_whole = compute.less_equal(compute.abs(compute.subtract(values, whole)), compute.multiply(compute.abs(values), _LAST_DIGIT))
            table = table.set_column(number, field.with_metadata({"unit": "bytes"}), compute.if_else(is_whole, whole, values))
    return table


# ---- Files ----


class _Writer:
    """A file that appears when it is complete, or not at all."""

    def __init__(self, path: str, format: str, schema: Any) -> None:
        import pyarrow

        self.path = path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            if format == "parquet":
                import pyarrow.parquet

                self._writer = pyarrow.parquet.ParquetWriter(f"{path}.part", schema, compression="zstd")
            else:
                import pyarrow.ipc

                self._writer = pyarrow.ipc.new_file(f"{path}.part", schema)
        except OSError:  # a full disk has no space for its first bytes
            self._remove_part()
            raise

    def write(self, table: Any) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()

    def publish(self) -> None:
        os.replace(f"{self.path}.part", self.path)

    def give_up(self) -> None:
        with contextlib.suppress(Exception):
            self._writer.close()
        self._remove_part()

    def _remove_part(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self.path}.part")


class _Session:
    def __init__(self, path: str, name: str, identity: dict[str, Any], folder: str, format: str) -> None:
        self.path = path
        self.name = name
        self.identity = identity
        self.folder = folder
        self.format = format
        self.number = int(name.rpartition(".")[2], 16)
        self.writers: dict[str, _Writer] = {}
        self.facts: dict[str, Any] = {
            "samples": 0, "backward_samples": 0, "first_timestamp": math.inf, "last_timestamp": -math.inf, "first_leaf": None,
            "first_missing": "",
        }  # fmt: skip
        self.said: list[str] = []
        self._samples = hashlib.sha256()

    def write(self, source: _Source, warnings: list[str], there: _There) -> str | None:
        """Gives the name of the session that the folder has in its place, or None."""
        other, is_to_stay = None, True
        try:
            if source.has_samples:
                self._add_samples()
                other, is_to_stay = there.same_samples(self.name, self._samples.hexdigest(), "start" in self.identity)
            if other and is_to_stay:
                for writer in self.writers.values():
                    writer.give_up()
                return other
            if source.has_samples:
                self._add_calls(source.marks)
            if self.path.endswith(".sqlite"):
                self._add_further()
            self._add_session()
            for writer in self.writers.values():
                writer.close()
        except BaseException:
            for writer in self.writers.values():
                writer.give_up()
            raise
        warnings.extend(self.said)
        if other:
            there.remove(other)
            warnings.append(f"{self.path} replaces {other} in {there.folder}, a copy of it without its identity.")
        for writer in self.writers.values():  # the session itself is the last
            writer.publish()
        return None

    def _put(self, name: str, table: Any) -> None:
        """Adds rows to a file of the session, after its number."""
        import pyarrow

        table = table if isinstance(table, pyarrow.Table) else pyarrow.table(Table(table))
        number = pyarrow.repeat(pyarrow.scalar(self.number, pyarrow.int64()), table.num_rows)
        metadata = {"gpu_tracker": json.dumps({"table": name, "format": VERSION, "session": self.name, **self.identity})}
        table = table.add_column(0, "session", number).replace_schema_metadata(metadata)
        if name not in self.writers:
            self.writers[name] = _Writer(path_of(self.folder, name, self.name, self.format), self.format, table.schema)
        self.writers[name].write(table)

    def _read(self, kind: str, path: str, take: Callable[[dict[str, _native.Table]], None]) -> None:
        _, warnings = _native.read_parts(kind, path, take)
        self.said.extend(warning for warning in warnings if warning not in self.said)  # a file is read several times

    # -- samples --

    def _take_samples(self, part: dict[str, _native.Table]) -> None:
        import pyarrow

        table = pyarrow.table(Table(part["samples"]))
        if table.num_rows:
            self._note(table)
        self._put("samples", table)

    def _note(self, table: Any) -> None:
        """What the analysis must know of the order of the samples, and of the first one."""
        import pyarrow
        import pyarrow.compute as compute

        facts, times = self.facts, table["timestamp"].combine_chunks()
        for name in ("timestamp", "combined_ram"):
            values = compute.fill_null(table[name].combine_chunks(), math.nan)
            self._samples.update(values.buffers()[1].slice(8 * values.offset, 8 * len(values)))
        before = pyarrow.concat_arrays([pyarrow.array([facts.get("previous", -math.inf)]), times[:-1]])
        facts["backward_samples"] += compute.sum(compute.less(times, before)).as_py() or 0
        facts["previous"] = times[-1].as_py()
        facts["samples"] += table.num_rows
        lowest, highest = compute.min_max(times).as_py().values()
        if lowest < facts["first_timestamp"]:
            row = compute.index(times, lowest).as_py()
            facts["first_timestamp"] = lowest
            facts["first_missing"] = ",".join(
                name for name in table.column_names if name.startswith("cpu_") and not table[name][row].is_valid
            )
        facts["last_timestamp"] = max(facts["last_timestamp"], highest)

    def _add_samples(self) -> None:
        self._read("samples", self.path, self._take_samples)
        if not self.facts["samples"]:
            raise ValueError(f"Tracking file {self.path} has no samples.")

    # -- calls --

    def _take_segments(self, part: dict[str, _native.Table]) -> None:
        for name, table in part.items():
            if name == "segments" and len(table):
                place = bisect.bisect_right(table.column(0), self.facts["first_timestamp"])
                if place:
                    self.facts["first_leaf"] = table.column(1)[place - 1]
            self._put(name, table)

    def _take(self, part: dict[str, _native.Table]) -> None:
        for name, table in part.items():
            self._put(name, table)

    def _add_calls(self, marks: list[str]) -> None:
        """Without calls, or where they are invalid, all samples are in leaf 0."""
        import pyarrow

        before = set(self.writers)
        if marks:
            try:
                with _one_file(marks) as path:
                    for kind, take in (("segments", self._take_segments), ("calls", self._take), ("marks", self._take)):
                        self._read(kind, path, take)
                return
            except ValueError as error:
                self.said.append(f"Of {self.path} only samples are exported: {error}")
        for name in set(self.writers) - before:
            self.writers.pop(name).give_up()
        self.facts["first_leaf"] = 0
        self._put("segments", pyarrow.table({"start": [-math.inf], "leaf": [0]}))

    # -- the rest --

    def _add_further(self) -> None:
        try:
            tables = _native.read_tables(self.path)
        except ValueError as error:
            self.said.append(f"Of {self.path} no further tables are exported: {error}")
            return
        for name, table in tables.items():
            if name in _FURTHER and len(table):
                self._put(_FURTHER[name], _in_bytes(table))

    def _add_session(self) -> None:
        import pyarrow

        columns: dict[str, Any] = {"name": pyarrow.array([self.name]), "path": pyarrow.array([self.path])}
        kinds = (IDENTITY_TEXTS, pyarrow.string()), (IDENTITY_NUMBERS, pyarrow.int64()), ((*ALLOWED, *FIGURES), pyarrow.float64())
        for names, kind in kinds:
            for name in names:
                columns[name] = pyarrow.array([self.identity.get(name)], kind)
        for name in ("start", "end"):
            columns[f"{name}_timestamp"] = pyarrow.array([_seconds(self.identity.get(name))], pyarrow.float64())
        for name in ("samples", "backward_samples", "first_leaf"):
            columns[name] = pyarrow.array([self.facts[name]], pyarrow.int64())
        has_samples = self.facts["samples"] > 0
        for name in ("first_timestamp", "last_timestamp"):
            columns[name] = pyarrow.array([self.facts[name] if has_samples else None], pyarrow.float64())
        columns["samples_digest"] = pyarrow.array([self._samples.hexdigest() if has_samples else None], pyarrow.string())
        columns["first_missing"] = pyarrow.array([self.facts["first_missing"]])
        columns["warnings"] = pyarrow.array(["\n".join(self.said)])
        self._put("sessions", pyarrow.table(columns))


@contextlib.contextmanager
def _one_file(marks: list[str]) -> Iterator[str]:
    """The sub-tracking file of a session; several are combined for the time being."""
    if len(marks) == 1:
        yield marks[0]
        return
    folder = tempfile.mkdtemp(prefix="gpu-tracker-")
    try:
        path = os.path.join(folder, "all" + os.path.splitext(marks[0])[1])
        _native.combine(path, marks, True)
        yield path
    finally:
        shutil.rmtree(folder)
