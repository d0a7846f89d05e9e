import logging
from os import PathLike
from typing import Any, Literal

from ..table import Table

logger: logging.Logger

def local_path(path: str | PathLike[str]) -> str: ...
def read_profile(
    view: Literal[
        "job", "steps", "phases", "utilization", "devices", "dataloader", "metrics", "readings", "framework", "events"
    ],
    path: str | PathLike[str],
    *,
    start: float | None = None,
    end: float | None = None,
    unit: Literal["time", "step"] = "time",
    by: Literal["training_phase", "framework_metric", "process"] = "training_phase",
    by_phase: bool = False,
    by_dimension: bool = False,
    each_step: bool = False,
    resources: list[str] | None = None,
    phases: list[str] | None = None,
    metrics: list[str] | None = None,
    ranges: list[tuple[float, float]] | None = None,
    moments: list[int] | None = None,
    intervals: list[tuple[int, int]] | None = None,
) -> dict[str, Table]: ...
def read_kineto(
    view: Literal["breakdown", "kernels", "idle", "diff"], *paths: str | PathLike[str], limit: int = 0
) -> Table: ...
