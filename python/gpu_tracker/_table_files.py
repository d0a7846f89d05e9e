"""The tables of a report as Parquet or Arrow files, written by pyarrow."""

import contextlib
import os

from . import _native
from .table import Table

FORMATS = ("parquet", "arrow")


def _open_writer(format, path, schema):
    if format == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.ParquetWriter(path, schema, compression="zstd")
    import pyarrow.ipc

    return pyarrow.ipc.new_file(path, schema)


class _Folder:
    """A file for each table, with the name of the table; they appear when all are complete."""

    def __init__(self, path, format):
        self._path = os.fspath(path)
        self._format = format
        self._writers = {}

    def _file(self, name, ending=""):
        return os.path.join(self._path, f"{name}.{self._format}{ending}")

    def take(self, tables):
        """Adds rows to the file of their table."""
        import pyarrow

        for name, native in tables.items():
            part = pyarrow.table(Table(native))
            if name not in self._writers:
                self._writers[name] = _open_writer(self._format, self._file(name, ".part"), part.schema)
            self._writers[name].write_table(part)

    def complete(self):
        for writer in self._writers.values():
            writer.close()
        for name in self._writers:
            os.replace(self._file(name, ".part"), self._file(name))

    def give_up(self):
        for name, writer in self._writers.items():
            with contextlib.suppress(Exception):
                writer.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._file(name, ".part"))


def write(sessions, output, format, marks):
    """Writes the files, with the rows as they are read; returns warnings. output: a folder, which is made unless it is there."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Parquet and Arrow files are written by pyarrow, which is not installed: pip install pyarrow. Without it, "
            "`gpu-tracker report -f csv` writes the same tables."
        ) from error
    os.makedirs(output, exist_ok=True)
    folder = _Folder(output, format)
    try:
        warnings = _native.report_tables(sessions, folder.take, marks=marks)
        folder.complete()
    except BaseException:
        folder.give_up()
        raise
    return warnings
