"""`SubTracker` and `sub_track`: mark code blocks of a program."""

from __future__ import annotations

import os
import sys
from _thread import RLock

from ._lazy import names_of as _names_of
from ._native import BlockMarker, Blocks, fork_hooks
from ._nearest import explains_options
from ._shown import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from typing import Any, ParamSpec, TypeVar
    from ._analysis import SubTrackingAnalyzer as SubTrackingAnalyzer, TrackingComparison as TrackingComparison
    from ._results import (
        CodeBlockResults as CodeBlockResults,
        ComparisonResults as ComparisonResults,
        SubTrackingResults as SubTrackingResults,
    )

    _P = ParamSpec("_P")
    _R = TypeVar("_R")


_WHERE = {
    "CodeBlockResults": "_results",
    "ComparisonResults": "_results",
    "SubTrackingAnalyzer": "_analysis",
    "SubTrackingResults": "_results",
    "TrackingComparison": "_analysis",
}
__getattr__, __dir__ = _names_of(globals(), _WHERE)


# The logs of this process, by their absolute paths. A file is opened by the
# first mark and stays open, also for SubTrackers of the same file that come later; `overwrite` counts once, and again
# when somebody removed the file.
_logs: dict[str, Blocks] = {}
_opening = RLock()  # a signal handler may mark, too
_pid = os.getpid()


def _close(log: Blocks) -> None:
    status = log.status()
    try:
        log.close()
    except OSError:  # its folder is gone, say; every mark was written when it was made
        pass
    if status and status[1]:
        import warnings

        path, lost, reason = status
        warnings.warn(f"{lost} marks of code blocks are not in {path}. The first: {reason}", RuntimeWarning, stacklevel=2)


def _close_logs() -> None:
    """At the end of the program: completes the SQLite files, which are otherwise whole but in two parts."""
    with _opening:
        for log in _logs.values():
            _close(log)


def _begin_child() -> None:
    global _pid
    _pid = os.getpid()


_begin_fork, _end_fork = fork_hooks(_opening, _logs)
os.register_at_fork(before=_begin_fork, after_in_parent=_end_fork, after_in_child=_end_fork)
os.register_at_fork(after_in_child=_begin_child)


def _key(path: str) -> str:
    return path if path[:1] == "/" else f"{os.getcwd()}/{path}"


def _exact_of_environment() -> str:
    """As the library takes it for marks in C: a word that it does not know is skipped."""
    words = os.environ.get("GPUT_BLOCK_EXACT", "").split(",")
    return ",".join(word if word in ("peak", "counters", "gpu") else "1" for word in words if word not in ("", "0"))


def _find_log(path: str, overwrite: bool, joins: bool, exact: bool | str | None, free_name: bool) -> Blocks:
    with _opening:
        key = _key(path)
        log = _logs.get(key)
        if log is not None:
            if log.is_in_place():
                return log
            if log.status() is None:
                raise RuntimeError("The log of code blocks was closed: the program is ending.")
            if not overwrite:
                raise FileNotFoundError(f"The file {path} was removed in the middle of writing data to it.")
            _close(_logs.pop(key))
        if not _logs:
            import atexit

            atexit.unregister(_close_logs)
            atexit.register(_close_logs)
        if exact is None:
            exact = _exact_of_environment()
        log = _logs[key] = Blocks(path, overwrite=overwrite and not joins, join=joins, exact=exact, free_name=free_name)
        return log


# By the path of the file. Computed once: a block keeps its name when the working directory changes, and asking for that
# each time would cost more than a mark.
_names: dict[str, str] = {}


def _relative(path: str) -> str:
    """The path as seen from the working directory; a cell of a notebook as `In[3]`; `<stdin>` and the like as they are."""
    name = _names.get(path)
    if name is None:
        name = _cell(path) or (os.path.relpath(path) if os.path.exists(path) else path)
        _names[path] = name
    return name


def _cell(path: str) -> str | None:
    """IPython's name of a cell, "In[3]", or None. The temporary path that the kernel gives it is another in each session."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    describe = getattr(getattr(shell, "compile", None), "format_code_name", None)  # IPython 8
    found = describe(path) if describe else None
    return found[1] if found else None


_EXTENSIONS = (".csv", ".sqlite", ".gputblocks")


class SubTracker(Shown, BlockMarker):
    """Marks where a code block starts and stops, as a context manager.

    code_block_name: None: the file, relative to the working directory when it is first named, and the line where the
        SubTracker is made ("train.py:42"); in a notebook the cell ("In[3]:2").
    code_block_attribute: what follows the colon then, instead of the line.
    sub_tracking_file: .csv, .sqlite, or .gputblocks (gpu-tracker's own log: a mark costs a tenth of a microsecond). None: the
        process id with ".csv", or the next free name where another machine's process has taken it. Placeholders as in
        `Tracker(tracking_file=…)`: "marks.%h.%r.csv". A forked child adds to the files that its parent has begun, and so does another process that
        is given a SubTracker (pickled, which keeps the absolute path). A .gputblocks log belongs to one process: each
        other process writes its own, with its process id in the name.
    overwrite: replace a file of an earlier run; within one program, further SubTrackers of the file always add to it, and
        if it was removed meanwhile, they create it again, which is an error without `overwrite`.
    exact: record the kernel's counts at each mark: CPU time, page faults, peak RSS, and energy where it can be read. So
        calls between two samples have figures, too, for some microseconds per call. "peak": also the peak of RSS within
        each call; "counters": also instructions, cycles and cache misses; "gpu": also the process's time of GPUs whose driver
        reports it; or several, with commas. The first SubTracker that
        marks in a file decides for the whole file. None: as the environment variable GPUT_BLOCK_EXACT says.

    On a full disk marks are lost, and a RuntimeWarning says at the end how many. The file has each call as a whole or
    not at all, and marking resumes when there is space again.

    The first mark creates the file. Any thread and task can mark. Every mark survives if the program is killed. Using
    one object again for one block is fastest; it checks every 10 ms whether its file still exists.
    """

    code_block_name: str
    process_id: int
    sub_tracking_file: str

    __slots__ = ("process_id", "sub_tracking_file", "_overwrite", "_joins", "_exact", "_free_name", "__dict__", "__weakref__")

    def __init__(
        self,
        code_block_name: str | None = None,
        code_block_attribute: str | None = None,
        sub_tracking_file: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
        overwrite: bool = False,
        exact: bool | str | None = None,
    ) -> None:
        if code_block_name is None:
            frame = sys._getframe(1)
            attribute = frame.f_lineno if code_block_attribute is None else code_block_attribute
            code_block_name = f"{_relative(frame.f_code.co_filename)}:{attribute}"
        self.code_block_name = str(code_block_name)
        self.process_id = _pid
        self._free_name = sub_tracking_file is None
        if sub_tracking_file is None:
            sub_tracking_file = f"{self.process_id}.csv"
        elif type(sub_tracking_file) is str and (log := _logs.get(sub_tracking_file)) is not None:
            if log.is_log and not exact:
                self._log = log  # as _open() would find it
        else:
            sub_tracking_file = os.fsdecode(sub_tracking_file)
            if not sub_tracking_file.endswith(_EXTENSIONS):
                raise ValueError(f'Invalid file name: "{sub_tracking_file}". Valid file extensions are ".csv" and ".sqlite".')
        self.sub_tracking_file = sub_tracking_file
        self._overwrite = overwrite
        self._exact = exact
        self._joins = False

    def _facts(self) -> list[tuple[str, str]]:
        return [("code block", self.code_block_name), ("marks in", self.sub_tracking_file)]

    def __getstate__(self) -> dict[str, Any]:
        # For another process, whose marks then come into the same file, wherever it runs: it is made here, if it is not
        # there yet.
        log = self._log if self._log is not None and self._log.is_in_place() else self._open()
        log.share()
        names = "code_block_name", "_overwrite"
        state = {name: getattr(self, name) for name in names}
        return state | {"sub_tracking_file": os.fsdecode(log.path), "_exact": log.exact} | self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self.process_id = _pid
        self._joins = True
        self._free_name = False

    def _open(self) -> Blocks:
        # Called by the first mark. Most often the log is there, and finding it takes no lock.
        path, exact = self.sub_tracking_file, self._exact
        log = _logs.get(_key(path))
        if log is None or not log.is_in_place():
            log = _find_log(path, self._overwrite, self._joins, exact, self._free_name)
        if exact and not log.exact:
            import warnings

            warnings.warn(
                f"The file {path} was begun without exact figures, so exact=True adds none: say it where the program makes"
                " its first mark, or set GPUT_BLOCK_EXACT=1.",
                stacklevel=2,
            )
        return log


@explains_options
def sub_track(
    code_block_name: str | None = None,
    code_block_attribute: str | None = None,
    sub_tracking_file: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
    overwrite: bool = False,
    exact: bool | str | None = None,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A decorator: each call of the function is a call of the code block.

    Arguments as for `SubTracker`, but that the name defaults to the file where it is decorated and the name of the function
    ("train.py:load"). Coroutine functions are marked from their first step to their end, generators likewise. What gives
    back a coroutine and is not a coroutine function (another decorator's function) is marked from its call to that one's end.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        name = code_block_name
        if name is None:
            attribute = function.__name__ if code_block_attribute is None else code_block_attribute
            # Where it is decorated: below other decorators stands what they made, in their file or without code at all.
            name = f"{_relative(sys._getframe(1).f_code.co_filename)}:{attribute}"

        def tracker() -> SubTracker:
            return SubTracker(name, None, sub_tracking_file, overwrite, exact)

        wrapped: Callable[_P, _R] = _wrap(function, tracker)
        return wrapped

    return decorate


def _wrap(function: Any, tracker: Callable[[], SubTracker]) -> Any:
    import inspect
    from functools import wraps
    from types import CoroutineType

    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_wrap(function.__func__, tracker))

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            with tracker():
                return await function(*args, **kwargs)

    elif inspect.isgeneratorfunction(function):

        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with tracker():
                return (yield from function(*args, **kwargs))

    elif inspect.isasyncgenfunction(function):
        return wraps(function)(_wrap_async_generator(function, tracker))

    else:

        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            block = tracker()
            block.__enter__()
            try:
                result = function(*args, **kwargs)
            except BaseException:
                block.__exit__()
                raise
            if type(result) is CoroutineType:
                return _finish(block, result)
            block.__exit__()
            return result

    return wrapper


def _wrap_async_generator(function: Callable[..., AsyncGenerator[Any, Any]], tracker: Callable[[], SubTracker]) -> Callable[..., AsyncGenerator[Any, Any]]:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        with tracker():
            generator = function(*args, **kwargs)
            step = generator.__anext__()
            while True:
                try:
                    value = await step
                except StopAsyncIteration:
                    return
                try:
                    sent = yield value
                except GeneratorExit:
                    await generator.aclose()
                    raise
                except BaseException as error:
                    step = generator.athrow(error)
                else:
                    step = generator.asend(sent)

    return wrapper


async def _finish(block: SubTracker, coroutine: Awaitable[Any]) -> Any:
    """The rest of a call that returned a coroutine, which the function itself does not show."""
    try:
        return await coroutine
    finally:
        block.__exit__()
