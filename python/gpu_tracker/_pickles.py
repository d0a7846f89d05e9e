"""Pickles of results, read as data.

A pickle is a program for a machine with a stack, and `pickle.load` calls whatever it names. Here nothing is called: `_value_of`
follows the program with values of its own, in which an object is its class's name, its arguments and its state. Any name that results
do not consist of is refused. So pandas, of whatever version, need not be installed, and what is hostile meets no code but this.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pickletools
import struct
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    _Path = str | os.PathLike[str]
    _Row = dict[str, Any]  # name -> number, text or None
    _Reader = Callable[[Any], dict[str, Any]]

# Bounds of what reading takes: each value takes about 100 bytes of memory. Results of 10,000 code blocks stay below them.
MOST_BYTES = 64 << 20
_MOST_VALUES = 4_000_000
# A few bytes may lead to the same large table again and again: a walk through a pickle may meet this many values for each byte of it.
_VALUES_PER_BYTE = 8
_LEAST_VALUES = 1_000_000
_MOST_TEXT = 4096
_CHARACTERS_PER_VALUE = 16
_MOST_DEPTH = 4
_MOST_MEASUREMENTS = 256

# The names that pickles of results consist of, by the package that has them. None of them is ever imported.
_USAGE_NAMES = frozenset(
    "ResourceUsage MaxRAM RSSValues MaxGPURAM CPUUtilization ProcessingUnitPercentages GPUUtilization ComputeTime".split()
)
_NAMES = {
    "gpu_tracker": {"SubTrackingResults", "CodeBlockResults", "Series", "Frame", *_USAGE_NAMES},
    "pandas": {
        "DataFrame", "Series", "BlockManager", "SingleBlockManager", "_unpickle_block", "_new_Index", "Index", "RangeIndex", "StringDtype",
        "__pyx_unpickle_NDArrayBacked", "StringArray", "StringArrayNumpySemantics", "ArrowStringArray", "ArrowStringArrayNumpySemantics",
    },
    "numpy": {"ndarray", "dtype", "_reconstruct", "scalar", "_frombuffer"},
    "pyarrow": {"_restore_array", "py_buffer", "type_for_alias"},
    "sqlalchemy": {"quoted_name"},
    "builtins": {"slice", "bytearray"},
    "__builtin__": {"slice", "bytearray"},
    "_codecs": {"encode"},
}  # fmt: skip

_SECTIONS = ("max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time")
_RAM_UNITS = ("bytes", "kilobytes", "megabytes", "gigabytes", "terabytes")
_TIME_UNITS = ("seconds", "minutes", "hours", "days")
_OLDER_FILE = {
    "state": "sampled",
    "reason": "from the Python package gpu_tracker, which counts MiB of GPU RAM as MB; only its figures are known",
}


class _Refused(Exception):
    """Why a pickle is not read, as a part of a sentence."""


# ---- The machine ----


class _Class:
    """A class or function that a pickle names."""

    __slots__ = ("name",)

    def __init__(self, package: str, name: str) -> None:
        if name not in _NAMES.get(package.split(".")[0], ()):
            raise _Refused(f'it names "{package[:100]}.{name[:100]}", which results do not need; nothing of it was run')
        self.name = name


class _Object:
    """What a pickle has made by calling a class or function with arguments; `state` is what it then sets."""

    __slots__ = ("name", "arguments", "state")

    def __init__(self, made_by: Any, arguments: Any) -> None:
        if type(made_by) is not _Class or type(arguments) is not tuple:
            raise _Refused("it calls something that is not a class")
        self.name: str = made_by.name
        self.arguments: tuple[Any, ...] = arguments
        self.state: Any = None


# Opcodes whose argument is the value, those that stand for a value, and those that end a collection, as a dict does that lacks its items.
_VALUES = frozenset(
    "BININT BININT1 BININT2 LONG1 LONG4 BINFLOAT SHORT_BINUNICODE BINUNICODE BINUNICODE8 SHORT_BINBYTES BINBYTES BINBYTES8 BYTEARRAY8".split()
)
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_SET": list,
    "EMPTY_DICT": dict,
}
_COLLECTIONS: dict[str, Callable[[list[Any]], Any]] = {"TUPLE": tuple, "LIST": list, "FROZENSET": list, "DICT": lambda items: _extend({}, items)}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_ADDED_ITEMS = {"APPEND": 1, "SETITEM": 2}
_MADE = ("REDUCE", "NEWOBJ", "NEWOBJ_EX")


def _extend(container: Any, items: list[Any]) -> Any:
    """Adds items to a list, or keys and values by turns to a dict. Keys are texts: hashing a nest of tuples can take for ever."""
    if type(container) is list:
        container.extend(items)
    elif type(container) is dict and len(items) % 2 == 0:
        keys = items[0::2]
        if not all(type(key) is str for key in keys):
            raise _Refused("a dict in it has a key that is not a text")
        container.update(zip(keys, items[1::2]))
    else:
        raise _Refused("something is added to what is neither a list nor a dict")
    return container


def _take(stack: list[Any], count: int) -> list[Any]:
    """Takes the topmost values off the stack."""
    if len(stack) < count:
        raise IndexError
    items = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    return items


def _run(content: bytes) -> Any:
    """The value that a pickle's program makes. Memory is bounded by its number of steps; a frame's length means nothing."""
    stack: list[Any] = []
    outer: list[list[Any]] = []
    memo: dict[int, Any] = {}
    argument: Any
    for step, (opcode, argument, at) in enumerate(pickletools.genops(content)):
        name = opcode.name
        if step == _MOST_VALUES:
            raise _Refused("its content is too large for results")
        if name in _VALUES:
            if type(argument) is int and not -(1 << 63) <= argument < 1 << 63:
                raise _Refused("a whole number in it is too large")
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name]())
        elif name == "MARK":
            outer.append(stack)
            stack = []
        elif name in _COLLECTIONS:
            items, stack = stack, outer.pop()
            stack.append(_COLLECTIONS[name](items))
        elif name in _TUPLES:
            stack.append(tuple(_take(stack, _TUPLES[name])))
        elif name in _ADDED_ITEMS:
            items = _take(stack, _ADDED_ITEMS[name])
            _extend(stack[-1], items)
        elif name in ("APPENDS", "ADDITEMS", "SETITEMS"):
            items, stack = stack, outer.pop()
            _extend(stack[-1], items)
        elif name == "GLOBAL":
            stack.append(_Class(*argument.split(" ", 1)))
        elif name == "STACK_GLOBAL":
            stack.append(_Class(*_take(stack, 2)))
        elif name in _MADE:
            made_by, arguments, *_ = _take(stack, 3 if name == "NEWOBJ_EX" else 2)
            stack.append(_Object(made_by, arguments))
        elif name == "BUILD":
            made, state = stack[-2], stack.pop()
            if type(made) is not _Object:
                raise _Refused("it gives a state to what is not an object")
            made.state = state
        elif name in ("MEMOIZE", "BINPUT", "LONG_BINPUT"):
            memo[len(memo) if name == "MEMOIZE" else argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "DUP":
            stack.append(stack[-1])
        elif name == "POP":
            if stack:
                stack.pop()
            else:
                stack = outer.pop()
        elif name == "POP_MARK":
            stack = outer.pop()
        elif name == "STOP":
            return stack.pop()
        elif name not in ("PROTO", "FRAME"):
            raise _Refused(f"its opcode {name} at byte {at} is not accepted")
    raise IndexError


def _value_of(content: bytes) -> Any:
    """The value that was pickled, with objects as _Object."""
    if len(content) > MOST_BYTES:
        raise _Refused("it is too large for results")
    if len(content) < 2 or content[0] != 0x80:
        raise _Refused("it is not a pickle of protocol 2 to 5")
    if not 2 <= content[1] <= 5:
        raise _Refused(f"protocol {content[1]} is unknown (2 to 5 are read)")
    try:
        return _run(content)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise _Refused("it is truncated or damaged") from None


# ---- Values ----


class _Walk:
    """Makes plain values of those of a pickle. What does not have the form that results have raises any of _ODD."""

    def __init__(self, length: int) -> None:
        self._left = min(_LEAST_VALUES + _VALUES_PER_BYTE * length, _MOST_VALUES)

    def _spend(self, cost: int) -> None:
        self._left -= cost
        if self._left < 0:
            raise _Refused("it leads to more values than a file of its size can hold")

    def plain(self, value: Any, depth: int = 0) -> Any:
        """A number, a text, a dict; of an object its state. None stands for anything else."""
        self._spend(1)
        if type(value) is _Object and type(value.state) is dict:
            value = value.state
        if type(value) is dict and depth < _MOST_DEPTH:
            return {self._scalar(key): self.plain(inner, depth + 1) for key, inner in value.items()}
        if type(value) is bool:
            return value
        try:
            return self._scalar(value)
        except _ODD:
            return None

    def frame(self, value: Any) -> dict[str, _Row]:
        """A data frame as row -> column -> cell."""
        if value.name == "Frame":  # of this package, without pandas
            return {self._scalar(name): self._cells(row) for name, row in value.state["_rows"].items()}
        if value.name != "DataFrame":
            raise ValueError
        if value.state is None:  # made by its constructor: rows, their names, names of columns
            rows, names, columns = value.arguments[0], self._names(value.arguments[1]), self._names(value.arguments[2])
            return self._record(names, [self._record(columns, self._array(row)[0]) for row in rows])
        manager = self._manager(value, "BlockManager")
        blocks, (columns, names) = manager.arguments[0], map(self._names, manager.arguments[1])
        self._spend(len(names) * len(columns))
        if len(blocks) > len(columns):
            raise ValueError
        frame = self._record(names, [dict.fromkeys(columns) for _ in names])
        for block in blocks:
            self._add_block(frame, columns, block)
        return frame

    def series(self, value: Any) -> _Row:
        """A series as name -> value."""
        if value.name != "Series":
            raise ValueError
        if value.state is None:
            names, values = value.arguments[1], value.arguments[0]
        elif type(value.state.get("_data")) is dict:  # of this package, without pandas
            return self._cells(value.state["_data"])
        else:
            (names,), (values,) = self._manager(value, "SingleBlockManager").state[:2]
        return self._record(self._names(names), self._array(values)[0])

    def _cells(self, values: dict[str, Any]) -> _Row:
        """Of a dict of scalars."""
        self._spend(len(values))
        return {self._scalar(name): self._scalar(value) for name, value in values.items()}

    @staticmethod
    def _manager(value: _Object, name: str) -> Any:
        """What holds the content of a data frame or a series of pandas."""
        manager = value.state.get("_mgr", value.state.get("_data"))
        if manager.name != name:
            raise ValueError
        return manager

    @staticmethod
    def _record(names: list[str], values: list[Any]) -> dict[str, Any]:
        """A value for each name, which is there once."""
        record = dict(zip(names, values))
        if not len(names) == len(values) == len(record):
            raise ValueError
        return record

    def _add_block(self, frame: dict[str, _Row], columns: list[str], block: _Object) -> None:
        """pandas keeps columns of one type as rows of one array: _unpickle_block(array, its columns' numbers, 2)."""
        if block.name != "_unpickle_block":
            raise ValueError
        values, (height, width) = self._array(block.arguments[0])
        if height > len(columns) or width != len(frame):
            raise ValueError
        placement = block.arguments[1]
        if type(placement) is _Object and placement.name == "slice":
            first, _, step = map(self._scalar, placement.arguments)
            numbers = [first + i * (1 if step is None else step) for i in range(height)]
        else:
            numbers = self._array(placement)[0]
        if len(numbers) != height or min(numbers, default=0) < 0:
            raise ValueError
        for i, number in enumerate(numbers):
            for row, cell in zip(frame.values(), values[i * width : (i + 1) * width]):
                row[columns[number]] = cell

    def _names(self, value: Any) -> list[str]:
        names = self._array(value)[0]
        if not all(type(name) is str for name in names):
            raise ValueError
        return names

    def _scalar(self, value: Any) -> Any:
        """A number or a text; None: missing. What is true or false is 1 or 0 in a table."""
        if type(value) is _Object and value.name == "quoted_name":
            value = value.arguments[0]
        elif type(value) is _Object and value.name == "scalar":
            dtype, data = value.arguments[:2]
            (value,) = self._numbers(dtype, data, 1)
        if type(value) is str:
            if len(value) > _MOST_TEXT:
                raise ValueError
            self._spend(len(value) // _CHARACTERS_PER_VALUE)
        elif value is not None and type(value) not in (bool, int, float):
            raise ValueError
        return int(value) if type(value) is bool else value

    def _array(self, value: Any) -> tuple[list[Any], tuple[int, ...]]:
        """The items of an array, an index or a list, row by row, and its shape."""
        self._spend(4)
        value = self._inner(value)
        if type(value) is list:
            items, shape, by_column = [self._scalar(item) for item in value], (len(value),), False
        elif value.name == "_reconstruct":
            _, shape, dtype, by_column, data = value.state
            items = self._items(dtype, data, shape)
        elif value.name == "_frombuffer":
            data, dtype, shape, order = value.arguments
            items, by_column = self._items(dtype, data, shape), order == "F"
        elif value.name == "_restore_array":
            items = self._arrow_texts(*value.arguments[0][:5])
            shape, by_column = (len(items),), False
        else:
            raise ValueError
        self._spend(len(items))
        if by_column and len(shape) == 2 and items:
            items = [items[column * shape[0] + row] for row in range(shape[0]) for column in range(shape[1])]
        return items, shape

    @staticmethod
    def _inner(value: Any) -> Any:
        """What lies inside of an index, or of an array of texts."""
        for _ in range(8):
            if type(value) is not _Object:
                break
            if value.name == "_new_Index":
                value = value.arguments[1]["data"]
            elif value.name == "Index":
                value = value.arguments[0]
            elif value.name.startswith("ArrowStringArray"):
                value = value.state.get("_pa_array") or value.state["_data"]
            elif value.name in ("__pyx_unpickle_NDArrayBacked", "StringArray", "StringArrayNumpySemantics"):
                value = value.state["_ndarray"] if type(value.state) is dict else value.state[1]
            else:
                break
        return value

    def _items(self, dtype: _Object, data: Any, shape: Sequence[int]) -> list[Any]:
        """The items of a numpy array: texts and numbers as objects, or numbers as bytes."""
        if not 1 <= len(shape) <= 2 or min(shape) < 0:
            raise ValueError
        count = math.prod(shape)
        if dtype.arguments[0] == "O8":
            if type(data) is not list or len(data) != count:
                raise ValueError
            return [self._scalar(item) for item in data]
        return self._numbers(dtype, data, count)

    def _numbers(self, dtype: _Object, data: Any, count: int) -> list[Any]:
        """That many numbers out of bytes, as a dtype of numpy says: dtype("f8", …) with the state (3, "<", …)."""
        code = _CODES[dtype.arguments[0]]
        order = ">" if dtype.state and dtype.state[1] == ">" else "<"
        data = self._bytes(data)
        if len(data) != count * struct.calcsize(order + code):
            raise ValueError
        self._spend(count)
        return list(struct.unpack(f"{order}{count}{code}", data))

    def _bytes(self, value: Any, depth: int = 0) -> Any:
        """Bytes; in protocol 2 a text stands for them."""
        self._spend(1)
        if type(value) in (bytes, bytearray):
            return value
        if value.name not in ("encode", "bytearray", "py_buffer") or depth == _MOST_DEPTH:
            raise ValueError
        inner = value.arguments[0]
        if type(inner) is not str:
            return self._bytes(inner, depth + 1)
        self._spend(len(inner) // _CHARACTERS_PER_VALUE)
        return inner.encode("latin-1")

    def _arrow_texts(self, kind: _Object, count: int, missing: int, first: int, buffers: Sequence[Any]) -> list[str]:
        """Arrow's texts: where each begins and ends, and the characters of all of them."""
        if missing != 0 or min(count, first) < 0:
            raise ValueError
        size, code = {"large_string": (8, "q"), "string": (4, "i")}[kind.arguments[0]]
        ends, characters = self._bytes(buffers[1]), self._bytes(buffers[2])
        self._spend(count + (len(ends) + len(characters)) // _CHARACTERS_PER_VALUE)
        places = struct.unpack_from(f"<{count + 1}{code}", ends, first * size)
        if places[0] < 0 or places[-1] > len(characters) or any(to < begin for begin, to in zip(places, places[1:])):
            raise ValueError
        return [self._scalar(bytes(characters[begin:to]).decode()) for begin, to in zip(places, places[1:])]


# numpy's types as the module struct has them.
_CODES = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H", "u1": "B", "b1": "?"}
# A value of another form than expected: something has no such member, or a number stands where a text belongs.
_ODD = (LookupError, TypeError, ValueError, AttributeError, struct.error, OverflowError)


# ---- Results ----


def is_pickle(content: bytes) -> bool:
    """Whether a file begins as a pickle of protocol 2 and later does."""
    return content[:1] == b"\x80"


def read_analysis(content: bytes, name: str) -> dict[str, Any]:
    """SubTrackingResults out of a pickle, of this package or the older one and any pandas, as to_json() has them.

    name: of the file. Raises ValueError where the file is no such pickle.
    """
    try:
        root, walk = _value_of(content), _Walk(len(content))
    except _Refused as reason:
        raise ValueError(f"Pickle file {name} cannot be read: {reason}.") from None
    try:
        tables = {"overall": walk.frame, "static_data": walk.series}
        results = _attributes_of(walk, root, "SubTrackingResults", tables, "it is not a SubTrackingResults object")
        blocks = root.state.get("code_block_results")
        if not 1 <= len(results["overall"]) <= _MOST_MEASUREMENTS:
            raise _Refused('it has no "overall"' if not results["overall"] else "it has too many measurements")
        if type(blocks) is not list:
            raise _Refused("it has no list of code blocks")
        tables = {"compute_time": walk.series, "resource_usage": walk.frame}
        results["code_block_results"] = [
            _attributes_of(walk, block, "CodeBlockResults", tables, "its list of code blocks has something else in it") for block in blocks
        ]
    except _Refused as reason:
        raise ValueError(f"Pickle file {name} does not hold results of an analysis: {reason}.") from None
    return results


def _attributes_of(walk: _Walk, value: Any, class_name: str, tables: Mapping[str, _Reader], otherwise: str) -> dict[str, Any]:
    """The attributes of an object as JSON has them: its tables by those functions, numbers and texts as they are."""
    if type(value) is not _Object or value.name != class_name or type(value.state) is not dict:
        raise _Refused(otherwise)
    others = {name: inner for name, inner in value.state.items() if name not in tables and name != "code_block_results"}
    try:
        attributes: dict[str, Any] = walk.plain(others)
    except _ODD:
        raise _Refused("it has attributes that results do not have") from None
    for name, read in tables.items():
        try:
            attributes[name] = read(value.state[name])
        except _ODD:
            raise _Refused(f'its "{name}" is not in a form that pandas 1.5 to 3 writes') from None
    return attributes


def read_usage(content: bytes, name: str) -> dict[str, Any]:
    """The ResourceUsage that the older gpu_tracker (3 to 5) keeps while it runs, as the report of the command has it.

    name: of the file. Raises ValueError where the file is no such pickle.
    """
    try:
        root = _value_of(content)
    except _Refused as reason:
        raise ValueError(f"Pickle file {name} cannot be read: {reason}.") from None
    try:
        if type(root) is not _Object or root.name != "ResourceUsage":
            raise _Refused("it is not a ResourceUsage object")
        usage = _with_descendants(_Walk(len(content)).plain(root))
        if type(usage) is not dict or not all(type(usage.get(section)) is dict for section in _SECTIONS):
            raise _Refused("a part of it is missing")
        for section, units in (("max_ram", _RAM_UNITS), ("max_gpu_ram", _RAM_UNITS), ("compute_time", _TIME_UNITS)):
            if usage[section].get("unit") not in units:
                raise _Refused(f'"{usage[section].get("unit")}" is not a valid unit of "{section}"')
    except _Refused as reason:
        raise ValueError(f"Pickle file {name} does not hold the resource usage of a session: {reason}.") from None
    return {**{section: usage[section] for section in _SECTIONS}, "sources": {"older_file": _OLDER_FILE}}


def _with_descendants(value: Any) -> Any:
    """Versions before 4 write "descendents", and "descendents_n_threads". What is not a number is not known."""
    if type(value) is dict:
        return {key.replace("descendents", "descendants", 1): _with_descendants(inner) for key, inner in value.items()}
    return None if type(value) is float and not math.isfinite(value) else value


# ---- Files ----


@contextlib.contextmanager
def as_json(paths: Iterable[_Path]) -> Iterator[list[_Path]]:
    """These paths, where pickles of the older gpu_tracker's resource usage have become temporary files with JSON, of the same names."""
    with contextlib.ExitStack() as stack:
        yield [_as_json(path, stack) for path in paths]


def _as_json(path: _Path, stack: contextlib.ExitStack) -> _Path:
    if not os.path.isfile(path):
        return path
    with open(path, "rb") as file:
        content = file.read(512)
        if not is_pickle(content) or b"ResourceUsage" not in content:
            return path
        content += file.read(MOST_BYTES)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gpu-tracker-"))
    copy = os.path.join(folder, os.path.basename(os.fsdecode(path)))
    with open(copy, "w", encoding="utf-8") as file:
        json.dump(read_usage(content, os.fsdecode(path)), file)
    return copy
