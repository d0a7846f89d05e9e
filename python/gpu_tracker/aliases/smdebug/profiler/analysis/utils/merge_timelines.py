"""The name that programs of SageMaker Debugger import: see gpu_tracker.profiler."""

from gpu_tracker.profiler import MergedTimeline, MergeUnit

__all__ = ["MergeUnit", "MergedTimeline"]
