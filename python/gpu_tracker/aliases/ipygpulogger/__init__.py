"""The name that notebooks of ipygpulogger import: see gpu_tracker.notebook."""

from gpu_tracker import __version__
from gpu_tracker.notebook import IPyGPULogger

__all__ = ["IPyGPULogger", "__version__"]
