"""The name that programs of AIPowerMeter import: see gpu_tracker.power."""
