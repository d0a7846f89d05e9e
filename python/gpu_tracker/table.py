"""`Table`: rows and columns of the library, in its own memory, that other libraries take without copying."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any
    from . import _native


class Table:
    """A table: samples, calls, the views of a profile.

        len(samples), samples.columns, samples.units    rows, names of the columns, name -> unit (None: a plain number, a text)
        samples.meanings                                name -> what it is, in a few words, where it is described
        samples["main_ram"]                             a column: a sequence, None where a value is missing
        samples.rows()                                  each row as a tuple
        pyarrow.table(samples), polars.DataFrame(samples), duckdb.sql("SELECT … FROM samples")
        samples.to_pandas()                             a DataFrame

    It has the Arrow PyCapsule interface, so whatever takes that takes a Table, without a copy; missing values are null,
    units are in the metadata of the fields. Columns of numbers have the buffer protocol: `numpy.asarray(samples["main_ram"])`
    does not copy either, and has NaN where a figure is missing. A Table never changes.
    """

    name: str
    types: dict[str, str]
    units: dict[str, str | None]
    meanings: dict[str, str | None]

    __slots__ = ("_table", "name", "types", "units", "meanings", "_numbers")

    def __init__(self, table: _native.Table) -> None:
        # Made by this package; `table` is the native one.
        fields = table.fields
        self._table = table
        self.name = table.name
        self.types = {name: kind for name, kind, *_ in fields}
        self.units = {name: unit for name, _, unit, _ in fields}
        self.meanings = {name: meaning for name, *_, meaning in fields}
        self._numbers = {name: number for number, name in enumerate(self.types)}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._numbers)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._table), len(self._numbers)

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> _native.Column:
        if column not in self._numbers:
            from ._tables import no_column

            raise KeyError(no_column(self._numbers, column))
        return self._table.column(self._numbers[column])

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """An iterator over the rows, a tuple each."""
        return zip(*map(self.__getitem__, self._numbers))

    def to_dict(self) -> dict[str, list[Any]]:
        """Column -> list of its values."""
        return {name: self[name].tolist() for name in self._numbers}

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        # By the interface another schema is only a request; consumers cast.
        return self._table.arrow_stream()

    def to_pandas(self) -> Any:
        """A DataFrame, which is a copy. Whole numbers become floats where some are missing.

        Raises ImportError where pandas is not installed.
        """
        import pandas

        return pandas.DataFrame({name: _values(self[name], kind) for name, kind in self.types.items()})

    def __repr__(self) -> str:
        rows, columns = self.shape
        lines = [f"{self.name}: {rows} row{'s' * (rows != 1)}, {columns} column{'s' * (columns != 1)}"]
        width = max(map(len, self._numbers), default=0)
        unit_width = max((len(unit) for unit in self.units.values() if unit), default=0)
        for name, unit in self.units.items():
            lines.append(f"  {name:<{width}}  {unit or '':<{unit_width}}  {_begin(self[name])}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the first rows."""
        from ._display import table_html

        return table_html(self, _text)


def _values(column: _native.Column, kind: str) -> Any:
    """What pandas makes a column of."""
    if kind == "utf8":
        return column.tolist()
    import numpy

    try:
        return numpy.asarray(memoryview(column))
    except BufferError:
        return numpy.array(column.tolist(), dtype=float)


def _begin(column: _native.Column, limit: int = 6) -> str:
    """The first values of a column."""
    texts = [_text(value) for value in column[:limit]]
    return ", ".join(texts + ["…"] * (len(column) > limit))


def _text(value: Any) -> str:
    """Short; a time since the epoch has microseconds."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.6g}" if abs(value) < 1000 else f"{value:.6f}".rstrip("0").rstrip(".")


def records_of(table: _native.Table) -> list[dict[str, Any]]:
    """The rows of a native table, a dictionary each; None: missing."""
    names = [name for name, *_ in table.fields]
    columns = [table.column(number).tolist() for number in range(len(names))]
    return [dict(zip(names, values)) for values in zip(*columns)]


def tables_of(native: Mapping[str, _native.Table]) -> dict[str, Table]:
    """Name -> Table out of name -> native table."""
    return {name: Table(table) for name, table in native.items()}
