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
