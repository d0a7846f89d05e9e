"""What a tracking session used, as data classes: `Tracker.resource_usage`.

RAM is in the RAM unit, GPU RAM in the GPU RAM unit, time in the time unit of the tracker; sizes are decimal. 100 percent
are one core or one GPU; a hardware percent is that over the expected number of cores or GPUs. Figures that this machine
does not provide are 0.0 here, as in the older package; `Tracker.details` distinguishes them from a true zero.
"""

from __future__ import annotations

import dataclasses
import json
import os

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    _PartOf = TypeVar("_PartOf", bound="_Part")

# How the file begins that a tracker keeps: a pickle of its bytes, for those who load it by themselves.
_KEPT = b"\x80\x04cgpu_tracker._usage\n"
_MOST_BYTES = 64 << 20


class _Part:
    """One of the data classes that a ResourceUsage is made of."""

    def _repr_html_(self) -> str:
        """For notebooks: a row for each figure."""
        from ._display import part_html

        return part_html(self)


class _OlderSpelling(_Part):
    """Versions before 4 of the older package spelled it so, in attributes and in the pickles of crashed sessions."""

    @property
    def descendents(self) -> Any:
        return self.descendants

    @descendents.setter
    def descendents(self, value: Any) -> None:
        self.descendants = value

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


@dataclasses.dataclass
class RSSValues(_Part):
    """RAM in use. Linux: from statm and smaps, each page once."""

    total_rss: float = 0.0
    private_rss: float = 0.0
    shared_rss: float = 0.0


@dataclasses.dataclass
class MaxRAM(_OlderSpelling):
    """The most RAM in use at any sample."""

    unit: str
    system_capacity: float
    system: float = 0.0
    main: RSSValues = dataclasses.field(default_factory=RSSValues)
    descendants: RSSValues = dataclasses.field(default_factory=RSSValues)
    combined: RSSValues = dataclasses.field(default_factory=RSSValues)


@dataclasses.dataclass
class MaxGPURAM(_OlderSpelling):
    """The most GPU RAM in use at any sample, over all GPUs."""

    unit: str
    system_capacity: float
    system: float = 0.0
    main: float = 0.0
    descendants: float = 0.0
    combined: float = 0.0


@dataclasses.dataclass
class ProcessingUnitPercentages(_Part):
    """100 is one core or one GPU; hardware: over those that are expected."""

    max_sum_percent: float = 0.0
    max_hardware_percent: float = 0.0
    mean_sum_percent: float = 0.0
    mean_hardware_percent: float = 0.0


@dataclasses.dataclass
class CPUUtilization(_OlderSpelling):
    """CPU time over wall time between two samples, from the kernel's clocks."""

    system_core_count: int
    n_expected_cores: int
    system: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    main: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    descendants: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    combined: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    main_n_threads: int = 0
    descendants_n_threads: int = 0
    combined_n_threads: int = 0

    @property
    def descendents_n_threads(self) -> int:
        return self.descendants_n_threads

    @descendents_n_threads.setter
    def descendents_n_threads(self, value: int) -> None:
        self.descendants_n_threads = value


@dataclasses.dataclass
class GPUUtilization(_Part):
    """Utilization of the selected GPUs by any process, from their drivers."""

    system_gpu_count: int
    n_expected_gpus: int
    gpu_percentages: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)


@dataclasses.dataclass
class ComputeTime(_Part):
    """Wall time from the start to the last sample."""

    unit: str
    time: float = 0.0


@dataclasses.dataclass
class ResourceUsage:
    max_ram: MaxRAM
    max_gpu_ram: MaxGPURAM
    cpu_utilization: CPUUtilization
    gpu_utilization: GPUUtilization
    compute_time: ComputeTime

    def _repr_html_(self) -> str:
        """For notebooks: the main figures."""
        from ._display import usage_html

        return usage_html(self)


for _class in (
    RSSValues, MaxRAM, MaxGPURAM, ProcessingUnitPercentages, CPUUtilization, GPUUtilization, ComputeTime, ResourceUsage,
):  # fmt: skip
    _class.__module__ = "gpu_tracker.tracker"  # pickles name the classes by their public place


def _of(cls: type[_PartOf], values: Mapping[str, Any], **parts: type[Any]) -> _PartOf:
    """The class's fields out of a report's object; parts are fields that are classes themselves. What is missing is 0.0."""
    fields = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        value = values.get(field.name)
        if field.name in parts:
            fields[field.name] = _of(parts[field.name], value or {})
        elif value is not None:
            fields[field.name] = value
        elif field.default is dataclasses.MISSING:
            fields[field.name] = 0 if field.type is int else 0.0
    return cls(**fields)


def resource_usage_of(report: Mapping[str, Any]) -> ResourceUsage:
    """The data classes of a report (the JSON of the command, read)."""
    percentages = dict.fromkeys(("system", "main", "descendants", "combined"), ProcessingUnitPercentages)
    return ResourceUsage(
        max_ram=_of(MaxRAM, report["max_ram"], main=RSSValues, descendants=RSSValues, combined=RSSValues),
        max_gpu_ram=_of(MaxGPURAM, report["max_gpu_ram"]),
        cpu_utilization=_of(CPUUtilization, report["cpu_utilization"], **percentages),
        gpu_utilization=_of(GPUUtilization, report["gpu_utilization"], gpu_percentages=ProcessingUnitPercentages),
        compute_time=_of(ComputeTime, report["compute_time"]),
    )


def load_kept(copies: bytes) -> ResourceUsage:
    """What pickle.load() of a resource usage file calls, with all that is in it."""
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(copies)
        file.flush()
        return load_resource_usage(file.name)


def load_resource_usage(path: "str | bytes | os.PathLike[str] | os.PathLike[bytes]") -> ResourceUsage:
    """The figures so far that a tracker kept in its resource usage file, after its program was killed. The pickle that the
    older package keeps is read too, as data: nothing that it names is ever called.

    Raises FileNotFoundError, and ValueError when the file is not a tracker's.
    """
    from ._pickles import is_pickle, read_usage

    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES)
    if content.startswith(b"{"):  # of a tracker's own process, which went on to the program's end
        return resource_usage_of(json.loads(content))
    if is_pickle(content) and not content.startswith(_KEPT):
        return resource_usage_of(read_usage(content, os.fsdecode(path)))
    return resource_usage_of(_native.load_report(path))
