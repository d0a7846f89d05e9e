"""Tables without pandas: as much of its Series and DataFrame as results need, in plain Python."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence
    from typing import Any


class Series:
    """Values by label, in order: `series["main_ram"]`, `series.min`, `.items()`, `.to_dict()`."""

    def __init__(self, data: Mapping[Any, Any], name: object = None) -> None:
        self._data = dict(data)
        self.name = name

    @property
    def index(self) -> list[Any]:
        return list(self._data)

    @property
    def values(self) -> list[Any]:
        return list(self._data.values())

    def __getitem__(self, label: Any) -> Any:
        return self._data[label]

    def __getattr__(self, label: str) -> Any:
        # Only for labels; read from __dict__ so that copying and unpickling do not recurse.
        data = self.__dict__.get("_data", {})
        if label in data:
            return data[label]
        raise AttributeError(f"no label {label!r}")

    @property
    def loc(self) -> Series:
        return self

    def keys(self) -> KeysView[Any]:
        return self._data.keys()

    def items(self) -> ItemsView[Any, Any]:
        return self._data.items()

    def to_dict(self) -> dict[Any, Any]:
        return dict(self._data)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._data.values())

    def __len__(self) -> int:
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, Series) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        width = max((len(str(label)) for label in self._data), default=0)
        texts = {label: _number(value) for label, value in self._data.items()}
        right = max((len(text) for text in texts.values()), default=0)
        return "\n".join(f"{str(label):<{width}}    {text:>{right}}" for label, text in texts.items())

    def _repr_html_(self) -> str:
        from ._display import cells_html

        return cells_html((self.name or "",), ((str(label), _number(value)) for label, value in self._data.items()), len(self))


def no_column(columns: Iterable[str], column: object) -> str:
    from ._nearest import question

    return f"there is no column {column!r}{question(columns, column)}"


class Frame:
    """Rows by label: `frame["max"]` is a column, `frame.loc["main_ram"]` a row, `frame.loc["main_ram", "max"]` a cell."""

    def __init__(self, rows: Mapping[Any, Mapping[Any, Any]], columns: Iterable[Any] | None = None) -> None:
        self._rows = {label: dict(row) for label, row in rows.items()}
        self._columns = list(next(iter(rows.values()), ()) if columns is None else columns)

    @property
    def index(self) -> list[Any]:
        return list(self._rows)

    @property
    def columns(self) -> list[Any]:
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._rows), len(self.columns)

    @property
    def loc(self) -> _Rows:
        return _Rows(self._rows)

    def __getitem__(self, column: Any) -> Series:
        if column not in self._columns:
            raise KeyError(no_column(self._columns, column))
        return Series({label: row[column] for label, row in self._rows.items()}, column)

    def __setitem__(self, column: Any, values: Sequence[Any]) -> None:
        if len(values) != len(self._rows):
            raise ValueError(f"{len(values)} values for {len(self._rows)} rows")
        for row, value in zip(self._rows.values(), values):
            row[column] = value
        if column not in self._columns:
            self._columns.append(column)

    def __getattr__(self, column: str) -> Series:
        if column in self.__dict__.get("_columns", ()):
            return self[column]
        raise AttributeError(no_column(self.__dict__.get("_columns", ()), column))

    def to_dict(self, orient: str = "dict") -> dict[Any, dict[Any, Any]]:
        if orient == "index":
            return {label: dict(row) for label, row in self._rows.items()}
        if orient == "dict":
            return {column: self[column].to_dict() for column in self.columns}
        raise ValueError(f'"{orient}" is not a valid orient. Valid values are dict, index')

    def iterrows(self) -> Iterator[tuple[Any, Series]]:
        for label, row in self._rows.items():
            yield label, Series(row, label)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return self._rows == other._rows if isinstance(other, Frame) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from ._text import table

        cells = [[_number(value) for value in row.values()] for row in self._rows.values()]
        return "\n".join(table(self.index, [str(name) for name in self.columns], cells))

    def _repr_html_(self) -> str:
        from ._display import cells_html

        rows = ((str(label), *(_number(row[name]) for name in self._columns)) for label, row in self._rows.items())
        return cells_html(self._columns, rows, len(self))


class _Rows:
    def __init__(self, rows: dict[Any, dict[Any, Any]]) -> None:
        self._rows = rows

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            row, column = key
            return self._rows[row][column]
        return Series(self._rows[key], key)


def _number(value: Any) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)
