"""Training profiles as SageMaker Debugger records them, with the classes of its analysis library over libgputracker.

    from gpu_tracker.profiler import PandasFrame, PandasFrameAnalysis, StatsBy

    frame = PandasFrame("profiler-output")
    analysis = PandasFrameAnalysis(frame.get_all_system_metrics(), frame.get_all_framework_metrics())
    print(analysis.get_step_statistics(by=StatsBy.PROCESS))

Names, arguments, columns and printed texts are those of `smdebug.profiler.analysis`; what differs is in
docs/smdebug-differences.md. Times are microseconds where a name ends in `_us`, relative to the first system file; moments as
text are UTC. Frames are pandas DataFrames where pandas is installed, else plain tables of the same columns.

`read_profile` and `read_kineto` give every view of `gpu-tracker profile` as Tables.
"""

from .._lazy import names_of as _names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .analysis import (
        JobStats as JobStats,
        PandasFrameAnalysis as PandasFrameAnalysis,
        Resource as Resource,
        StatsBy as StatsBy,
    )
    from .dataloader import PT_dataloader_analysis as PT_dataloader_analysis
    from .frame import PandasFrame as PandasFrame
    from .python_analysis import (
        PyinstrumentAnalysis as PyinstrumentAnalysis,
        PythonProfileAnalysis as PythonProfileAnalysis,
        cProfileAnalysis as cProfileAnalysis,
    )
    from .python_stats import (
        Metrics as Metrics,
        PyinstrumentStepStats as PyinstrumentStepStats,
        PythonProfileModes as PythonProfileModes,
        StepPhase as StepPhase,
        StepPythonProfileStats as StepPythonProfileStats,
        cProfileFunctionStats as cProfileFunctionStats,
        cProfileStats as cProfileStats,
    )
    from .timeline import MergedTimeline as MergedTimeline, MergeUnit as MergeUnit
    from .views import read_kineto as read_kineto, read_profile as read_profile

_WHERE = {
    "JobStats": "analysis",
    "MergeUnit": "timeline",
    "MergedTimeline": "timeline",
    "Metrics": "python_stats",
    "PT_dataloader_analysis": "dataloader",
    "PandasFrame": "frame",
    "PandasFrameAnalysis": "analysis",
    "PyinstrumentAnalysis": "python_analysis",
    "PyinstrumentStepStats": "python_stats",
    "PythonProfileAnalysis": "python_analysis",
    "PythonProfileModes": "python_stats",
    "Resource": "analysis",
    "StatsBy": "analysis",
    "StepPhase": "python_stats",
    "StepPythonProfileStats": "python_stats",
    "cProfileAnalysis": "python_analysis",
    "cProfileFunctionStats": "python_stats",
    "cProfileStats": "python_stats",
    "read_kineto": "views",
    "read_profile": "views",
}

__all__ = sorted(_WHERE)


__getattr__, __dir__ = _names_of(globals(), _WHERE)
