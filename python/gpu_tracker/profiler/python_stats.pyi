import pstats
from enum import Enum, IntEnum
from os import PathLike
from typing import Any

class Metrics(Enum):
    TOTAL_TIME = "tottime"
    CUMULATIVE_TIME = "cumtime"
    PRIMITIVE_CALLS = "pcalls"
    TOTAL_CALLS = "ncalls"

class PythonProfileModes(IntEnum):
    TRAIN = 1
    EVAL = 2
    PREDICT = 3
    GLOBAL = 4
    PRE_STEP_ZERO = 5
    POST_HOOK_CLOSE = 6

class StepPhase(Enum):
    START = "start"
    STEP_START = "stepstart"
    FORWARD_PASS_END = "forwardpassend"
    STEP_END = "stepend"
    END = "end"

def mode_of_word(word: str) -> PythonProfileModes: ...
def word_of_mode(mode: PythonProfileModes | None) -> str | None: ...

class StepPythonProfileStats:
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
    def __init__(self, framework: str, profiler_name: str, node_id: str, stats_dir: str, stats_path: str) -> None: ...
    def has_start_and_end_mode(self, start_mode: PythonProfileModes, end_mode: PythonProfileModes) -> bool: ...
    def in_time_interval(
        self, start_time_since_epoch_in_micros: float, end_time_since_epoch_in_micros: float
    ) -> bool: ...
    def in_step_interval(
        self, start_step: float, end_step: float, start_phase: StepPhase, end_phase: StepPhase
    ) -> bool: ...
    def has_pre_step_zero_profile_stats(self) -> bool: ...
    def has_post_hook_close_profile_stats(self) -> bool: ...
    def has_node_id(self, node_id: str) -> bool: ...

def load_dump(path: str | PathLike[str]) -> pstats.Stats: ...

class cProfileStats:
    ps: pstats.Stats
    function_stats_list: list[cProfileFunctionStats]
    def __init__(self, ps: pstats.Stats) -> None: ...
    def print_top_n_functions(self, by: Metrics, n: int = 10) -> None: ...
    def get_function_stats(self) -> Any: ...

class cProfileFunctionStats:
    function_name: str
    prim_calls: int
    total_calls: int
    total_time: float
    cumulative_time: float
    callers: list[str]
    def __init__(
        self, key: tuple[str, int, str], value: tuple[int, int, float, float, dict[tuple[str, int, str], Any]]
    ) -> None: ...
    def figures(self) -> dict[str, Any]: ...

class PyinstrumentStepStats:
    html_file_path: str
    json_stats: dict[str, Any]
    def __init__(self, html_file_path: str, json_stats: dict[str, Any]) -> None: ...
