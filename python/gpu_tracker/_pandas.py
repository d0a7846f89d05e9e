"""Results as pandas objects where pandas is installed, else as the plain ones of `_tables`."""

from __future__ import annotations

import functools
import importlib.util
import sys

from . import _tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any
    from .table import Table


@functools.cache
def _is_installed() -> bool:
    """A search in all of sys.path: once is enough for a thousand results."""
    return importlib.util.find_spec("pandas") is not None


def pandas() -> Any:
    """The module, or None where it is not installed. Importing it takes long, so only when a result is made."""
    if "pandas" not in sys.modules and not _is_installed():
        return None
    import pandas

    return pandas


def series(data: Mapping[Any, Any], name: object = None, dtype: Any = float) -> Any:
    library = pandas()
    if library is None:
        return _tables.Series(data, name)
    return library.Series(list(data.values()), index=list(data), name=name, dtype=dtype)


def frame(rows: Mapping[str, Mapping[str, Any]]) -> Any:
    """A table of floats out of row label -> column -> value."""
    library = pandas()
    if library is None:
        return _tables.Frame(rows)
    columns = list(next(iter(rows.values()), ()))
    values = [list(row.values()) for row in rows.values()]
    return library.DataFrame(values, index=list(rows), columns=columns, dtype=float)


def timepoints(table: Table) -> Any:
    """A Table of samples, rows numbered from 0."""
    if pandas() is not None:
        return table.to_pandas()
    missing = float("nan")
    rows = ([missing if value is None else value for value in row] for row in table.rows())
    return _tables.Frame({i: dict(zip(table.columns, row)) for i, row in enumerate(rows)})


def columns(data: Mapping[Any, Sequence[Any]]) -> Any:
    """A table out of column -> values, rows numbered from 0."""
    library = pandas()
    if library is not None:
        return library.DataFrame(data)
    rows = zip(*data.values())
    return _tables.Frame({i: dict(zip(data, row)) for i, row in enumerate(rows)}, list(data))
