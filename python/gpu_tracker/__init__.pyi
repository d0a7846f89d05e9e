from typing import Any

from ._analysis import SubTrackingAnalyzer as SubTrackingAnalyzer, TrackingComparison as TrackingComparison
from ._results import (
    CodeBlockResults as CodeBlockResults,
    ComparisonResults as ComparisonResults,
    SubTrackingResults as SubTrackingResults,
)
from ._usage import load_resource_usage as load_resource_usage
from .recorded import (
    read_calls as read_calls,
    read_marks as read_marks,
    read_samples as read_samples,
    read_tables as read_tables,
)
from .sub_tracker import SubTracker as SubTracker, sub_track as sub_track
from .table import Table as Table
from .tracker import Tracker as Tracker

__version__: str
__all__: list[str]

def load_ipython_extension(shell: Any) -> None: ...
def unload_ipython_extension(shell: Any) -> None: ...
