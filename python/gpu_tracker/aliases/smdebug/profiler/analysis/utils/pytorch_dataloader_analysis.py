"""The name that programs of SageMaker Debugger import: see gpu_tracker.profiler."""

from gpu_tracker.profiler import PT_dataloader_analysis

__all__ = ["PT_dataloader_analysis"]
