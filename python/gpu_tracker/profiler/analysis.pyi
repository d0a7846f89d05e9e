from enum import Enum
from typing import Any

class StatsBy(Enum):
    TRAINING_PHASE = "training_phase"
    FRAMEWORK_METRICS = "framework_metric"
    PROCESS = "process"

class Resource(Enum):
    CPU = "cpu"
    GPU = "gpu"
    IO = "i/o"
    NETWORK = "network"
    MEMORY = "memory"

class JobStats(dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...

class PandasFrameAnalysis:
    sys_metrics_df: Any
    framework_metrics_df: Any
    def __init__(self, system_df: Any, framework_df: Any) -> None: ...
    def get_job_statistics(self) -> JobStats: ...
    def get_step_statistics(self, by: StatsBy = ...) -> Any: ...
    def get_utilization_stats(
        self,
        resource: Resource | list[Resource] | None = None,
        by: StatsBy | None = None,
        phase: str | list[str] | None = None,
    ) -> Any: ...
    def get_device_usage_stats(
        self, device: Resource | list[Resource] | None = None, utilization_ranges: list[tuple[float, float]] | None = None
    ) -> Any: ...
    def get_training_phase_intervals(self, phase: str | list[str] | None = None) -> Any: ...
