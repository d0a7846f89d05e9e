from collections.abc import Callable
from os import PathLike
from types import TracebackType
from typing import ParamSpec, TypeVar

from ._analysis import SubTrackingAnalyzer as SubTrackingAnalyzer, TrackingComparison as TrackingComparison
from ._results import (
    CodeBlockResults as CodeBlockResults,
    ComparisonResults as ComparisonResults,
    SubTrackingResults as SubTrackingResults,
)

_P = ParamSpec("_P")
_R = TypeVar("_R")

class SubTracker:
    code_block_name: str
    process_id: int
    sub_tracking_file: str
    def __init__(
        self,
        code_block_name: str | None = None,
        code_block_attribute: str | None = None,
        sub_tracking_file: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
        overwrite: bool = False,
        exact: bool | None = None,
    ) -> None: ...
    def __enter__(self) -> SubTracker: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

def sub_track(
    code_block_name: str | None = None,
    code_block_attribute: str | None = None,
    sub_tracking_file: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
    overwrite: bool = False,
    exact: bool | None = None,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
