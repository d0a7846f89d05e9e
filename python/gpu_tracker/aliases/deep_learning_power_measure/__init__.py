"""The name that programs of AIPowerMeter import: see gpu_tracker.power."""

from __future__ import annotations


def main() -> int:
    """What `python -m deep_learning_power_measure` does."""
    from .__main__ import main as run

    return run()
