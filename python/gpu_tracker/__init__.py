"""What a program really used: RAM, CPU, threads, GPU RAM, GPU utilization, energy and time.

    import gpu_tracker as gput

    with gput.Tracker(sleep_time=0.1) as tracker:
        work()
    print(tracker)

`Tracker` measures a block of code, or a whole process, with all it starts. `SubTracker` and `sub_track`
mark code blocks within; `SubTrackingAnalyzer` says what each of them used, `TrackingComparison` how several
sessions differ. Nothing is started and nothing heavy is imported by importing this package.
"""

import os as _os
import sys as _sys

if _os.path.exists(_os.path.join(__path__[0], "_helper_classes.py")):
    # A file of the older package, which has the same import name: pip mixes the two in one folder.
    _CLASH = (
        "The older package gpu-tracker and this one, gputracker, are both installed here and share the name gpu_tracker. "
        "Keep one: pip uninstall gpu-tracker gputracker, then install this one again (pip install gputracker, or its wheel)"
    )
    _is_command = _os.path.basename(_sys.argv[0] if _sys.argv else "") in ("gpu-tracker", "-m")
    raise SystemExit(f"gpu-tracker: {_CLASH}") if _is_command else ImportError(_CLASH)

from ._lazy import names_of as _names_of
from ._native import version as __version__
from .sub_tracker import SubTracker, sub_track
from .tracker import Tracker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._analysis import SubTrackingAnalyzer as SubTrackingAnalyzer, TrackingComparison as TrackingComparison
    from ._results import (
        CodeBlockResults as CodeBlockResults,
        ComparisonResults as ComparisonResults,
        SubTrackingResults as SubTrackingResults,
    )
    from ._bench import BenchResult as BenchResult, bench as bench
    from ._usage import load_resource_usage as load_resource_usage
    from ._reports import Picture as Picture, Report as Report, plot as plot, report as report
    from ._push import Pushed as Pushed, push as push
    from .recorded import (
        job as job,
        read_calls as read_calls,
        read_marks as read_marks,
        read_samples as read_samples,
        read_tables as read_tables,
        sessions as sessions,
    )
    from .table import Table as Table

__all__ = [
    "BenchResult",
    "CodeBlockResults",
    "ComparisonResults",
    "Picture",
    "Pushed",
    "Report",
    "SubTracker",
    "SubTrackingAnalyzer",
    "SubTrackingResults",
    "Table",
    "Tracker",
    "TrackingComparison",
    "__version__",
    "bench",
    "job",
    "load_ipython_extension",
    "load_resource_usage",
    "plot",
    "push",
    "read_calls",
    "read_marks",
    "read_samples",
    "read_tables",
    "report",
    "sessions",
    "sub_track",
    "unload_ipython_extension",
]

_WHERE = {
    "BenchResult": "_bench",
    "bench": "_bench",
    "CodeBlockResults": "_results",
    "ComparisonResults": "_results",
    "Picture": "_reports",
    "Pushed": "_push",
    "Report": "_reports",
    "SubTrackingAnalyzer": "_analysis",
    "SubTrackingResults": "_results",
    "Table": "table",
    "TrackingComparison": "_analysis",
    "job": "recorded",
    "load_resource_usage": "_usage",
    "plot": "_reports",
    "push": "_push",
    "read_calls": "recorded",
    "read_marks": "recorded",
    "read_samples": "recorded",
    "read_tables": "recorded",
    "report": "_reports",
    "sessions": "recorded",
}


__getattr__, __dir__ = _names_of(globals(), _WHERE)


def load_ipython_extension(shell: object) -> None:
    """`%load_ext gpu_tracker`: a report under every cell; `%%gput` and `%gput` for one."""
    from . import notebook

    notebook.load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    from . import notebook

    notebook.unload_ipython_extension(shell)
