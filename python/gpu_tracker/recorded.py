"""What tracking and sub-tracking files hold, row by row, as Tables."""

from __future__ import annotations

import html

from . import _native
from ._messages import log_warnings
from .table import Table, tables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any
    from os import PathLike
    from .table import Table

    _Path = str | PathLike[str]


def _read(function: Callable[..., tuple[dict[str, _native.Table], list[str]]], *arguments: Any) -> dict[str, _native.Table]:
    tables, warnings = function(*arguments)
    log_warnings(warnings)
    return tables


def read_samples(tracking_file: _Path, spans: Iterable[tuple[float, float]] | None = None) -> Table:
    """The samples of a tracking file: a column for each measurement that it has, `timestamp` (seconds since the epoch) last.

    spans: pairs of start and stop in seconds since the epoch: only samples inside at least one, ends included.
    Raises FileNotFoundError, and ValueError for a file of another kind.
    """
    if spans is not None:
        spans = [(float(start), float(stop)) for start, stop in spans]
    return Table(_read(_native.read_samples, tracking_file, spans)["samples"])


def read_tables(tracking_file: _Path) -> dict[str, Table]:
    """The further tables of a tracking file, by name, as far as its session had them: "gpu_data" (each GPU by itself). Of .sqlite also
    "energy_data" (joules since the start), "io_data" (bytes read and written since then), "process_data" (with `processes`).

    Raises FileNotFoundError, and ValueError for a file of another kind.
    """
    return tables_of(_native.read_tables(tracking_file))


def read_marks(sub_tracking_file: _Path, code_block_name: str | None = None) -> Table:
    """The marks of a sub-tracking file as they are: process_id, thread_id, code_block_name, position (0 start, 1 stop),
    timestamp, and the kernel's counts where the file has them.

    code_block_name: only of that code block.
    Raises FileNotFoundError, and ValueError for a file of another kind.
    """
    return Table(_read(_native.read_marks, sub_tracking_file, code_block_name)["marks"])


def read_calls(sub_tracking_file: _Path, code_block_name: str | None = None) -> Table:
    """The calls of code blocks: process_id, thread_id, code_block_name, start, stop (seconds since the epoch),
    compute_time (seconds), sorted by start. Calls that are still open are skipped. Of marks with exact figures, also what
    the kernel counted in each call: exact_thread_cpu_time, exact_process_cpu_time (seconds), exact_minor_faults,
    exact_major_faults, exact_peak_rss_rise (bytes), exact_package_energy (joules); where they were asked for,
    exact_block_peak_rss and exact_block_peak_rss_rise (bytes), exact_instructions, exact_cycles, exact_cache_misses,
    exact_gpu_time (seconds).

    code_block_name: only of that code block.
    Raises FileNotFoundError, and ValueError for a file of another kind, or whose starts and stops do not pair up.
    """
    return Table(_read(_native.read_calls, sub_tracking_file, code_block_name)["calls"])


class JobTables(dict[str, Table]):
    """The tables of jobs by their names; notebooks show them one below the other."""

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{html.escape(name)}</h4>{table._repr_html_()}" for name, table in self.items() if len(table))


def job(*paths: _Path) -> dict[str, Table]:
    """The results of many ranks as jobs: the tables "jobs", "machines", "ranks", "allocations" and "findings" of `gpu-tracker job`, in base units.

    paths: reports in JSON, tracking files, what killed sessions left, or folders of these.
    Raises FileNotFoundError, and ValueError where no session is found.
    """
    return JobTables(tables_of(_native.read_job(list(paths))))


def sessions(*paths: _Path) -> Table:
    """All that reports and tracking files say of each session: a row for each, with what it is, what it was allowed, and its figures at its
    end in base units, by the names of the table session_data ("max_combined_ram_bytes"). Copies count once. pyarrow and polars take it as it is.

    paths: as of job(), whose exceptions it has.
    """
    return tables_of(_native.read_sessions(list(paths)))["sessions"]
