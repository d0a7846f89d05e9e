"""`MergedTimeline`: all traces of a training job as one file for a trace viewer."""

from __future__ import annotations

import os
import socket
from enum import Enum

from .. import _native
from .._shown import Shown
from .views import is_step, local_path, logger, warned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

_SUFFIX = "merged_timeline.json"


class MergeUnit(Enum):
    """What the start and end of a merged timeline are."""

    #: microseconds since the epoch
    TIME = "time"
    #: step numbers: from the begin of the one to just before the begin of the other
    STEP = "step"


class MergedTimeline(Shown):
    """Merges what a trace root holds into one file, for Perfetto or chrome://tracing.

    path: the trace root, a folder with `framework` and `system` in it.
    file_suffix_filter: only the files with these suffixes: "pythontimeline.json", "model_timeline.json", "trace.json.gz",
        "horovod_timeline.json", "smdataparallel_timeline.json". Default: all.
    output_directory: where the merged file is saved. Default: `path`.
    """

    path: str
    out_dir: str
    file_suffix_filter: Sequence[str] | None

    def __init__(
        self,
        path: str | os.PathLike[str],
        file_suffix_filter: Sequence[str] | None = None,
        output_directory: str | os.PathLike[str] | None = None,
    ) -> None:
        self.path = local_path(path)
        self.out_dir = self.path if output_directory is None else os.fspath(output_directory)
        self.file_suffix_filter = file_suffix_filter
        self._opened: str | None = None

    def _facts(self) -> list[tuple[str, str]]:
        return [("trace root", self.path), ("merges into", self._opened or self.out_dir)]

    def open(self, file_path: str | os.PathLike[str]) -> None:
        """Names the file that the next merge writes; it is written then, whole or not at all."""
        self._opened = os.fspath(file_path)

    def close(self) -> None:
        """Forgets the file that was named by open()."""
        self._opened = None

    def file_name(self, end_timestamp_in_us: float) -> str:
        """The path of the merged file of a timeline that ends then, microseconds since the epoch."""
        return os.path.join(self.out_dir, f"{round(end_timestamp_in_us)}_{_node()}_{_SUFFIX}")

    def merge_timeline(
        self,
        start: float | None,
        end: float | None,
        unit: MergeUnit | Literal["time", "step"] = MergeUnit.TIME,
        sys_metrics_filter: Mapping[str, Any] | None = {"lowgpu": ()},
    ) -> str:
        """Merges the events from `start` to `end`, which are what `unit` says; None: from the beginning, to the end.

        sys_metrics_filter: {"lowgpu": ()} adds the readings of the system as counters, and marks the moments at which a GPU is
            used below 85 %; {"lowgpu": (dimension, threshold)} does so for another dimension and percentage. None or {}: no
            readings.

        Returns the path of the file. Raises FileNotFoundError (no such step, nothing in that interval), ValueError, OSError.
        """
        options: dict[str, Any] = {} if self._opened is None else {"output": self._opened}
        if sys_metrics_filter and sys_metrics_filter.get("lowgpu"):
            options["low_dimension"], threshold = sys_metrics_filter["lowgpu"]
            options["low_threshold"] = float(threshold)
        merged = _native.merge_timeline(
            [self.path],
            start=start,
            end=end,
            by_step=is_step(unit),
            suffixes=self.file_suffix_filter,
            output_folder=self.out_dir,
            node=_node(),
            readings=bool(sys_metrics_filter),
            **options,
        )
        path: str = warned(merged)["path"]
        self.close()
        logger.info("Merged timeline saved at: %s", path)
        return path


def _node() -> str:
    """This process and machine, as the names of trace files have them."""
    return f"{os.getpid()}-{socket.gethostname()}".replace("_", "-")
