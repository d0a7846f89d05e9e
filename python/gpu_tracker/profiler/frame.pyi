from collections.abc import Iterable
from datetime import datetime
from os import PathLike
from typing import Any, TypeAlias

Moment: TypeAlias = str | datetime | int | float
FORMAT: str

class PandasFrame:
    path: str
    start_time: int
    def __init__(
        self, path: str | PathLike[str], use_in_memory_cache: bool = False, scan_interval: int = 5000000000
    ) -> None: ...
    def get_all_system_metrics(self, selected_system_metrics: list[str] = []) -> Any: ...
    def get_all_framework_metrics(self, selected_framework_metrics: list[str] = []) -> Any: ...
    def convert_datetime_to_timestamp(self, timestamp: Moment) -> int: ...
    def get_framework_metrics_by_timesteps(
        self, timestep_list: Iterable[Moment] = [], selected_framework_metrics: list[str] = []
    ) -> tuple[dict[str, float], dict[str, int], dict[str, int]]: ...
    def get_framework_metrics_by_begin_and_end_timesteps(
        self,
        begin_timestep_list: Iterable[Moment],
        end_timestep_list: Iterable[Moment],
        selected_framework_metrics: list[str] = [],
    ) -> tuple[dict[str, float], dict[str, float]]: ...
    def get_profiler_data_by_time(
        self,
        start_time_us: float,
        end_time_us: float,
        cache_metrics: bool = False,
        selected_framework_metrics: list[str] = [],
        selected_system_metrics: list[str] = [],
        get_framework_metrics: bool = True,
        get_system_metrics: bool = True,
    ) -> tuple[Any, Any]: ...
    def get_profiler_data_by_step(self, start_step: int, end_step: int, cache_metrics: bool = False) -> tuple[Any, Any]: ...
    def get_all_dataloader_metrics(self, selected_framework_metrics: list[str] = []) -> Any: ...
