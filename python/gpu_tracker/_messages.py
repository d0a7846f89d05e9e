"""What is said to people: warnings go to the logger "gpu_tracker"."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def log_warnings(messages: Iterable[str]) -> None:
    """Where no logging is configured, Python prints the bare message: then it begins with our name, as the command's do."""
    for message in messages:
        import logging

        logger = logging.getLogger("gpu_tracker")
        logger.warning("%s%s", "" if logger.hasHandlers() else "gpu-tracker: ", message)
