"""The name that programs of AIPowerMeter import: see gpu_tracker.power."""

from gpu_tracker.power import STOP_MESSAGE, Experiment, ExpResults

__all__ = ["STOP_MESSAGE", "ExpResults", "Experiment"]
