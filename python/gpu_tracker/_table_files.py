"""The tables of a report as Parquet or Arrow files, written by pyarrow. `gpu-tracker report -f parquet` executes `main`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys

from . import _native
from ._messages import log_warnings
from .table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    _Path = str | os.PathLike[str]

FORMATS = ("parquet", "arrow")


def _open_writer(format: str, path: str, schema: Any) -> Any:
    if format == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.ParquetWriter(path, schema, compression="zstd")
    import pyarrow.ipc

    return pyarrow.ipc.new_file(path, schema)


def _discard(writer: Any, path: str) -> None:
    with contextlib.suppress(Exception):
        writer.close()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _known_of(table: Any) -> list[dict[str, Any]]:
    """What is known of each session; the table of them comes first."""
    return [{name: value for name, value in row.items() if value is not None} for row in table.to_pylist()]


def _described(table: Any, known: Any) -> Any:
    """With what is known of the session in the metadata of the file, as gpu_tracker.fleet has it there."""
    return table.replace_schema_metadata({**(table.schema.metadata or {}), "gpu_tracker": json.dumps(known)})


class _Folder:
    """A file for each table, with the name of the table; they appear when all are complete."""

    def __init__(self, path: str, format: str) -> None:
        self._path = path
        self._format = format
        self._writers: dict[str, Any] = {}
        self._sessions: list[dict[str, Any]] = []
        os.makedirs(path, exist_ok=True)

    def _file(self, name: str, ending: str = "") -> str:
        return os.path.join(self._path, f"{name}.{self._format}{ending}")

    def _session_of(self, table: str) -> dict[str, Any] | None:
        """What is known of it; None: the table is of all sessions."""
        if len(self._sessions) == 1:
            return None if table == "sessions" else self._sessions[0]
        number = re.match(r"(\d+)-", table)
        return self._sessions[int(number[1]) - 1] if number else None

    def take(self, tables: Mapping[str, _native.Table]) -> None:
        """Adds rows to the file of their table."""
        import pyarrow

        for name, native in tables.items():
            part = pyarrow.table(Table(native))
            if name == "sessions":
                self._sessions += _known_of(part)
            known = self._session_of(name)
            if known:
                part = _described(part, known)
            if name not in self._writers:
                self._writers[name] = _open_writer(self._format, self._file(name, ".part"), part.schema)
            self._writers[name].write_table(part)

    def complete(self) -> None:
        for writer in self._writers.values():
            writer.close()
        for name in self._writers:
            os.replace(self._file(name, ".part"), self._file(name))

    def give_up(self) -> None:
        for name, writer in self._writers.items():
            _discard(writer, self._file(name, ".part"))


class _SamplesFile:
    """One file with the samples of all sessions, sorted by time: a row of one time axis has no figures of the others."""

    def __init__(self, path: str, format: str) -> None:
        self._path = path
        self._format = format
        self._parts: dict[int, list[Any]] = {}  # by the number of their session
        self._sessions: list[dict[str, Any]] = []

    def take(self, tables: Mapping[str, _native.Table]) -> None:
        """Keeps samples, and what is known of their sessions."""
        import pyarrow

        for name, native in tables.items():
            samples = re.fullmatch(r"(?:(\d+)-)?samples(?:-\d+)?", name)
            if samples:
                self._parts.setdefault(int(samples[1] or 1), []).append(pyarrow.table(Table(native)))
            elif name == "sessions":
                self._sessions += _known_of(pyarrow.table(Table(native)))

    def _session(self, number: int) -> Any:
        import pyarrow

        samples = pyarrow.concat_tables(self._parts.pop(number), promote_options="default").sort_by("time")
        if len(self._sessions) > 1:
            samples = samples.add_column(0, "session", pyarrow.repeat(number, len(samples)))
            samples = samples.add_column(1, "name", pyarrow.repeat(self._sessions[number - 1]["name"], len(samples)))
        return samples.replace_schema_metadata({"name": "samples"})

    def complete(self) -> None:
        import pyarrow

        if not self._parts:
            raise ValueError(f"There are no samples for {self._path}; the other tables go to a folder, a file each: name one.")
        samples = pyarrow.concat_tables([self._session(number) for number in sorted(self._parts)], promote_options="default")
        samples = _described(samples, self._sessions[0] if len(self._sessions) == 1 else {"sessions": self._sessions})
        part = self._path + ".part"
        writer = _open_writer(self._format, part, samples.schema)
        try:
            writer.write_table(samples)
            writer.close()
            os.replace(part, self._path)
        except BaseException:
            _discard(writer, part)
            raise

    def give_up(self) -> None:
        """Nothing was written before it was complete."""


def format_of(path: str | os.PathLike[str]) -> str | None:
    """What the ending of a file says; None: nothing."""
    ending = os.path.splitext(os.fspath(path))[1][1:].lower()
    return ending if ending in FORMATS else None


def write(sessions: Sequence[_Path], output: _Path, format: str, marks: Sequence[_Path], names: Sequence[str] = ()) -> list[str]:
    """Writes the files; returns warnings. `output`: a folder, which is made unless it is there, for all tables, with
    their rows as they are read; or a file with the ending of the format, for the samples. `names`: of the sessions, "" for none."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"Parquet and Arrow files are written by pyarrow, which is not installed: {sys.executable or 'python3'} -m pip install "
            "pyarrow. Without it, `gpu-tracker report -f csv` writes the same tables."
        ) from error
    output = os.fspath(output)
    is_file = format_of(output) == format and not os.path.isdir(output)
    written = _SamplesFile(output, format) if is_file else _Folder(output, format)
    try:
        warnings = _native.report_tables(sessions, written.take, marks=marks, names=names)
        written.complete()
    except BaseException:
        written.give_up()
        raise
    return warnings


def main(arguments: list[str]) -> int:
    """What `gpu-tracker report` executes: format, output, and three words for each file. Returns the exit status."""
    format, output, *words = arguments
    files = list(zip(words[0::3], words[1::3], words[2::3]))
    sessions = [(name, path) for kind, name, path in files if kind == "session"]
    marks = [path for kind, _, path in files if kind == "stf"]
    try:
        log_warnings(write([path for _, path in sessions], output, format, marks, [name for name, _ in sessions]))
    except (OSError, ValueError, ImportError, RuntimeError, MemoryError) as error:
        print(f"gpu-tracker: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 0
