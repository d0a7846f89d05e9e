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

__all__: list[str]
