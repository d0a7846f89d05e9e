"""The name that programs of SageMaker Debugger import: see gpu_tracker.profiler."""

from gpu_tracker.profiler import PyinstrumentAnalysis, PythonProfileAnalysis, cProfileAnalysis

__all__ = ["PyinstrumentAnalysis", "PythonProfileAnalysis", "cProfileAnalysis"]
