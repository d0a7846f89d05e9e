from os import PathLike
from typing import Any

from .python_stats import (
    PyinstrumentStepStats,
    PythonProfileModes,
    StepPhase,
    StepPythonProfileStats,
    cProfileStats,
)

class PythonProfileAnalysis:
    name: str
    profile_dir: str
    python_profile_stats: list[StepPythonProfileStats]
    def __init__(self, local_profile_dir: str | PathLike[str] = "/tmp/python_stats", s3_path: str | None = None) -> None: ...
    def fetch_profile_stats_by_step(
        self,
        start_step: float,
        end_step: float | None = None,
        mode: PythonProfileModes = ...,
        start_phase: StepPhase = ...,
        end_phase: StepPhase = ...,
        node_id: str = "any",
        refresh_stats: bool = True,
    ) -> Any: ...
    def fetch_profile_stats_by_time(
        self,
        start_time_since_epoch_in_secs: float,
        end_time_since_epoch_in_secs: float,
        node_id: str = "any",
        refresh_stats: bool = True,
    ) -> Any: ...
    def fetch_profile_stats_between_modes(
        self,
        start_mode: PythonProfileModes,
        end_mode: PythonProfileModes,
        node_id: str = "any",
        refresh_stats: bool = True,
    ) -> Any: ...
    def fetch_pre_step_zero_profile_stats(self, node_id: str = "any", refresh_stats: bool = True) -> Any: ...
    def fetch_post_hook_close_profile_stats(self, node_id: str = "any", refresh_stats: bool = True) -> Any: ...
    def list_profile_stats(self, refresh_stats: bool = True) -> Any: ...
    def list_available_node_ids(self, refresh_stats: bool = True) -> list[str]: ...

class cProfileAnalysis(PythonProfileAnalysis):
    def fetch_profile_stats_by_training_phase(
        self, node_id: str = "any", refresh_stats: bool = True
    ) -> dict[tuple[PythonProfileModes, PythonProfileModes], cProfileStats]: ...
    def fetch_profile_stats_by_job_phase(
        self, node_id: str = "any", refresh_stats: bool = True
    ) -> dict[str, cProfileStats]: ...

class PyinstrumentAnalysis(PythonProfileAnalysis):
    def _aggregate_stats(self, stats: list[StepPythonProfileStats]) -> list[PyinstrumentStepStats] | None: ...
