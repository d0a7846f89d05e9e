"""The name that programs of SageMaker Debugger import: see gpu_tracker.profiler."""

from gpu_tracker.profiler import JobStats, PandasFrameAnalysis, Resource, StatsBy

__all__ = ["JobStats", "PandasFrameAnalysis", "Resource", "StatsBy"]
