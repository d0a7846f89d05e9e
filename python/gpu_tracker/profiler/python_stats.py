"""What Python's profilers counted in intervals of a training run: cProfile's functions, pyinstrument's sessions."""

from __future__ import annotations

import os
import pstats
import re
import time
from enum import Enum, IntEnum

from .. import _native
from .._pandas import columns
from .._shown import Shown
from ..table import tables_of
from .views import warned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Metrics(Enum):
    """What functions are sorted by."""

    #: time in the function itself, seconds
    TOTAL_TIME = "tottime"
    #: time in the function and in what it called, seconds
    CUMULATIVE_TIME = "cumtime"
    #: calls that do not recurse
    PRIMITIVE_CALLS = "pcalls"
    #: all calls
    TOTAL_CALLS = "ncalls"


class PythonProfileModes(IntEnum):
    """The training phase in which profiling began or ended."""

    TRAIN = 1
    EVAL = 2
    PREDICT = 3
    GLOBAL = 4
    PRE_STEP_ZERO = 5
    POST_HOOK_CLOSE = 6


class StepPhase(Enum):
    """The moment of a step at which profiling began or ended."""

    #: before step 0
    START = "start"
    STEP_START = "stepstart"
    FORWARD_PASS_END = "forwardpassend"
    STEP_END = "stepend"
    #: the end of the script
    END = "end"


_MODES = {mode.name.replace("_", "").lower(): mode for mode in PythonProfileModes}
_MODE_WORDS = {mode: word for word, mode in _MODES.items()}
_MOMENT = r"(?P<{0}mode>\w+?)-(?P<{0}step>\d+|\*)-(?P<{0}phase>\w+?)-(?P<{0}time>[\d.]+)"
_FOLDER = re.compile(_MOMENT.format("start_") + "_" + _MOMENT.format("end_"))
_OLDER_FOLDER = re.compile(r"(?P<start_time>[\d.]+)_(?P<end_time>[\d.]+)_.+_(?P<step>\d+)")


def mode_of_word(word: str) -> PythonProfileModes:
    if word not in _MODES:
        raise ValueError(f'"{word}" is not a valid mode. Valid values are {", ".join(_MODES)}')
    return _MODES[word]


def word_of_mode(mode: PythonProfileModes | None) -> str | None:
    """The word of a PythonProfileModes; None of None."""
    return None if mode is None else _MODE_WORDS.get(mode)


class StepPythonProfileStats(Shown):
    """One profile: what it covers, and where it is. Prints as the dictionary of its attributes.

    profiler_name: "cprofile" or "pyinstrument". framework, node_id: of the training.
    start_mode, end_mode: PythonProfileModes; start_phase, end_phase: StepPhase.
    start_step: -1 before step 0; end_step: infinity at the end of the script.
    start_time_since_epoch_in_micros, end_time_since_epoch_in_micros: UTC, microseconds.
    stats_path: the file.

    stats_dir: the name of the file's folder, which says all that: "train-3-stepstart-1596…_train-3-stepend-1596…", or the
        older "1596…_1596…_NODE_3", which says no mode and no phase: these are None. Raises ValueError for any other.
    """

    profiler_name: str
    framework: str
    node_id: str
    start_mode: PythonProfileModes | None
    start_step: int
    start_phase: StepPhase | None
    start_time_since_epoch_in_micros: float
    end_mode: PythonProfileModes | None
    end_step: float
    end_phase: StepPhase | None
    end_time_since_epoch_in_micros: float
    stats_path: str

    def __init__(self, framework: str, profiler_name: str, node_id: str, stats_dir: str, stats_path: str) -> None:
        parts = _read_folder_name(stats_dir)
        self.profiler_name = profiler_name
        self.framework = framework
        self.node_id = node_id
        (
            self.start_mode,
            self.start_step,
            self.start_phase,
            self.start_time_since_epoch_in_micros,
            self.end_mode,
            self.end_step,
            self.end_phase,
            self.end_time_since_epoch_in_micros,
        ) = parts
        self.stats_path = stats_path

    def has_start_and_end_mode(self, start_mode: PythonProfileModes, end_mode: PythonProfileModes) -> bool:
        return self.start_mode == start_mode and self.end_mode == end_mode

    def in_time_interval(self, start_time_since_epoch_in_micros: float, end_time_since_epoch_in_micros: float) -> bool:
        """Whether the profile overlaps an interval, both ends included."""
        return (
            self.start_time_since_epoch_in_micros <= end_time_since_epoch_in_micros
            and self.end_time_since_epoch_in_micros >= start_time_since_epoch_in_micros
        )

    def in_step_interval(self, start_step: float, end_step: float, start_phase: StepPhase, end_phase: StepPhase) -> bool:
        """Is the profile within steps and, where it begins or ends in the same step, within their phases?"""
        if start_step > self.start_step or end_step < self.end_step:
            return False
        late = start_phase in (StepPhase.STEP_END, StepPhase.FORWARD_PASS_END) and self.start_phase != start_phase
        early = end_phase == StepPhase.STEP_START and self.end_phase != end_phase
        return not (start_step == self.start_step and late or end_step == self.end_step and early)

    def has_pre_step_zero_profile_stats(self) -> bool:
        return self.start_phase == StepPhase.START

    def has_post_hook_close_profile_stats(self) -> bool:
        return self.end_phase == StepPhase.END

    def has_node_id(self, node_id: str) -> bool:
        return self.node_id == node_id

    def __repr__(self) -> str:
        return repr(self.__dict__)

    def _facts(self) -> list[tuple[str, str]]:
        return [(name, str(getattr(value, "name", value))) for name, value in vars(self).items()]


def _read_folder_name(name: str) -> tuple[Any, ...]:
    """mode, step, phase and microseconds of the start, and of the end."""
    match = _FOLDER.fullmatch(name)
    if match is None:
        older = _OLDER_FOLDER.fullmatch(name)
        if older is None:
            raise ValueError(f'"{name}" is not a folder of a Python profile: MODE-STEP-PHASE-MICROSECONDS twice, "_" between')
        number = int(older["step"])
        return None, number, None, float(older["start_time"]), None, number, None, float(older["end_time"])
    moments: list[Any] = []
    for side, open_step in (("start_", -1), ("end_", float("inf"))):
        step = match[side + "step"]
        moments += [
            mode_of_word(match[side + "mode"]),
            open_step if step == "*" else int(step),
            StepPhase(match[side + "phase"]),
            float(match[side + "time"]),
        ]
    return tuple(moments)


class _Dump:
    """A dump of cProfile, read by the library as data, in the form that pstats.Stats takes."""

    def __init__(self, path: str) -> None:
        tables = tables_of(warned(_native.python_functions([path])))
        functions = list(tables["functions"].rows())
        keys = [function[:3] for function in functions]
        self.stats = {key: (*figures, {}) for key, (_, _, _, *figures) in zip(keys, functions) if figures[0] is not None}
        for function, caller, *figures in tables["callers"].rows():
            self.stats[keys[function]][4][keys[caller]] = tuple(figures)

    def create_stats(self) -> None:
        pass  # they are there


def load_dump(path: str | os.PathLike[str]) -> pstats.Stats:
    """A dump of cProfile as pstats.Stats makes it of the file.

    Raises FileNotFoundError, and ValueError for a file that is not a profile.
    """
    path = os.fspath(path)
    dump: Any = _Dump(path)  # which pstats takes for a profiler: it has create_stats() and stats
    stats = pstats.Stats(dump)
    vars(stats)["files"] = [f"{time.ctime(os.stat(path).st_mtime)}    {path}"]
    return stats


def _standard_name(key: tuple[str, int, str]) -> str:
    """file:line(function), as pstats prints it; its types do not have the function that does so."""
    return str(vars(pstats)["func_std_string"](key))


class cProfileStats(Shown):
    """What cProfile counted.

    ps: the pstats.Stats of it. function_stats_list: its functions as cProfileFunctionStats.
    """

    ps: pstats.Stats
    function_stats_list: list[cProfileFunctionStats]

    def __init__(self, ps: pstats.Stats) -> None:
        self.ps = ps
        self.function_stats_list = [cProfileFunctionStats(key, value) for key, value in vars(ps)["stats"].items()]

    def _facts(self) -> list[tuple[str, str]]:
        return [("functions", str(len(self.function_stats_list))), ("seconds", f"{vars(self.ps)['total_tt']:.6g}")]

    def print_top_n_functions(self, by: Metrics, n: int = 10) -> None:
        """Prints the first n functions sorted by a Metrics, as pstats prints them."""
        assert isinstance(by, Metrics), "by must be valid metric from Metrics!"
        assert isinstance(n, int), "n must be an integer!"
        self.ps.sort_stats(by.value).print_stats(n)

    def get_function_stats(self) -> Any:
        """The functions as a frame: function name, # of primitive calls, # of total calls, total time, cumulative time
        (seconds)."""
        rows = [function.figures() for function in self.function_stats_list]
        names = cProfileFunctionStats(("", 0, ""), (0, 0, 0, 0, {})).figures()
        return columns({name: [row[name] for row in rows] for name in names})


class cProfileFunctionStats(Shown):
    """One function and what cProfile counted of it.

    function_name: "file:line(function)". prim_calls: calls that do not recurse; total_calls: all.
    total_time: seconds in the function itself; cumulative_time: and in what it called. callers: names of functions.

    key, value: as in pstats: (file, line, function), (prim_calls, total_calls, total_time, cumulative_time, callers).
    """

    function_name: str
    prim_calls: int
    total_calls: int
    total_time: float
    cumulative_time: float
    callers: list[str]

    def __init__(
        self, key: tuple[str, int, str], value: tuple[int, int, float, float, dict[tuple[str, int, str], Any]]
    ) -> None:
        self.function_name = _standard_name(key)
        self.prim_calls, self.total_calls, self.total_time, self.cumulative_time, callers = value
        self.callers = [_standard_name(caller) for caller in callers]

    def figures(self) -> dict[str, Any]:
        """The figures by their names."""
        return {
            "function name": self.function_name,
            "# of primitive calls": self.prim_calls,
            "# of total calls": self.total_calls,
            "total time": self.total_time,
            "cumulative time": self.cumulative_time,
        }

    def __repr__(self) -> str:
        return repr(self.figures())

    def _facts(self) -> list[tuple[str, str]]:
        return [(name, str(value)) for name, value in self.figures().items()]


class PyinstrumentStepStats(Shown):
    """A session of pyinstrument: the path of its page, and its JSON as a dictionary."""

    html_file_path: str
    json_stats: dict[str, Any]

    def __init__(self, html_file_path: str, json_stats: dict[str, Any]) -> None:
        self.html_file_path = html_file_path
        self.json_stats = json_stats

    def _facts(self) -> list[tuple[str, str]]:
        return [("page", str(self.html_file_path))]
