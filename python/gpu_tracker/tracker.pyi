import enum
from collections.abc import Iterable, Mapping
from os import PathLike
from types import TracebackType
from typing import Any, Literal

from ._usage import (
    ComputeTime as ComputeTime,
    CPUUtilization as CPUUtilization,
    GPUUtilization as GPUUtilization,
    MaxGPURAM as MaxGPURAM,
    MaxRAM as MaxRAM,
    ProcessingUnitPercentages as ProcessingUnitPercentages,
    ResourceUsage as ResourceUsage,
    RSSValues as RSSValues,
)
from .table import Table

_RamUnit = Literal["bytes", "kilobytes", "megabytes", "gigabytes", "terabytes"]
_TimeUnit = Literal["seconds", "minutes", "hours", "days"]
_EnergyUnit = Literal["joules", "watt-hours", "kilowatt-hours"]

class Tracker:
    class State(enum.Enum):
        NEW = 0
        STARTED = 1
        STOPPED = 2

    state: State
    resource_usage: ResourceUsage  # None before stop()
    max_ram: MaxRAM
    max_gpu_ram: MaxGPURAM
    cpu_utilization: CPUUtilization
    gpu_utilization: GPUUtilization
    compute_time: ComputeTime
    n_join_attempts: int
    join_timeout: float
    def __init__(
        self,
        sleep_time: float = 1.0,
        ram_unit: _RamUnit = "gigabytes",
        gpu_ram_unit: _RamUnit = "gigabytes",
        time_unit: _TimeUnit = "hours",
        n_expected_cores: int | None = None,
        gpu_uuids: Iterable[str] | None = None,
        disable_logs: bool = False,
        process_id: int | None = None,
        resource_usage_file: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
        n_join_attempts: int = 5,
        join_timeout: float = 10.0,
        gpu_brand: Literal["nvidia", "amd", "intel"] | None = None,
        tracking_file: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
        overwrite: bool = False,
        *,
        own_process: bool = False,
        ram_mode: Literal["adaptive", "exact"] = "adaptive",
        processes: bool = False,
        command_lines: bool = False,
        energy_unit: _EnergyUnit = "joules",
        carbon_intensity: float | str | None = None,
        energy_folder: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
        listen: str | None = None,
        limits: Mapping[str, str | float] | None = None,
        enforce: bool = False,
    ) -> None: ...
    def __enter__(self) -> Tracker: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    @property
    def processes(self) -> Table: ...
    @property
    def address(self) -> str | None: ...
    @property
    def limit_passed(self) -> dict[str, Any] | None: ...
    def to_json(self) -> dict[str, dict[str, Any]]: ...
    def report(self) -> str: ...
    @property
    def details(self) -> dict[str, Any]: ...
