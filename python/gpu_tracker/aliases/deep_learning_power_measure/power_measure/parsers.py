"""The name that programs of AIPowerMeter import: see gpu_tracker.power."""

from gpu_tracker.power import JsonParser

__all__ = ["JsonParser"]
