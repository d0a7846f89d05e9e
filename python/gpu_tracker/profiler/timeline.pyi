from collections.abc import Mapping, Sequence
from enum import Enum
from os import PathLike
from typing import Any, Literal

class MergeUnit(Enum):
    TIME = "time"
    STEP = "step"

class MergedTimeline:
    path: str
    out_dir: str
    file_suffix_filter: Sequence[str] | None
    def __init__(
        self,
        path: str | PathLike[str],
        file_suffix_filter: Sequence[str] | None = None,
        output_directory: str | PathLike[str] | None = None,
    ) -> None: ...
    def open(self, file_path: str | PathLike[str]) -> None: ...
    def close(self) -> None: ...
    def file_name(self, end_timestamp_in_us: float) -> str: ...
    def merge_timeline(
        self,
        start: float | None,
        end: float | None,
        unit: MergeUnit | Literal["time", "step"] = ...,
        sys_metrics_filter: Mapping[str, Any] | None = {"lowgpu": ()},
    ) -> str: ...
