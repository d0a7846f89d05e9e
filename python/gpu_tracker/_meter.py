"""Measures a short interval of a program closely: a notebook cell, a test."""

from __future__ import annotations

import math
import os
import time

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Usage:
    """What an interval used. Sizes in bytes; None: not known on this machine.

    seconds: wall time.
    ram, gpu_ram: a Memory each, of this process and its descendants.
    has_gpu: the machine has a GPU with a driver; without one, gpu_ram is not known.
    device_ram: a Memory of all GPUs, in use by any process.
    why_no_gpu: a sentence if the machine may have GPUs but none can be read; else None.
    why_no_gpu_ram: a sentence if there are GPUs but gpu_ram is not known; else None.
    cpu_seconds: CPU time, as the kernel's clocks counted it.
    own_cpu_seconds: CPU time of this process alone, without what measuring takes; None where there were others, too.
    gpu_percent: mean utilization of all GPUs together, by any process; 100 is one GPU.
    joules: energy that was these processes' share.
    samples: (seconds since the begin, RAM, GPU RAM) over time; the last is what is in use after cleaning up.
    """

    def __init__(self, seconds: float, report: dict[str, Any], samples: Sequence[tuple[float, ...]], excluded: tuple[float, float] = (0.0, 0.0)) -> None:
        """excluded: wall and CPU seconds in it that do not count."""
        self.seconds = max(0.0, seconds - excluded[0])
        start = samples[0][0] if samples else 0.0
        known: list[tuple[float, float | None, float | None, float | None]] = [
            (min(at - start, seconds), _known(ram), _known(gpu_ram), _known(device)) for at, ram, gpu_ram, *_, device in samples
        ]
        # Samples taken after the interval, while cleaning up, do not belong to it.
        known = [sample for sample in known[:-1] if sample[0] < seconds] + known[-1:]
        device_ram = [device for *_, device in known]
        self.samples = [sample[:3] for sample in known]
        # The kernel's own peak is in the report where it rose: then no moment between two samples is missed.
        self.ram = Memory([ram for _, ram, _ in self.samples], report["max_ram"]["combined"]["total_rss"])
        gpu = report["gpu_utilization"]
        self.has_gpu = bool(gpu["system_gpu_count"])
        why = report["sources"].get("gpu", {"reason": "their driver had not answered in time"})["reason"]
        self.why_no_gpu = why if gpu["system_gpu_count"] is None else None
        self.device_ram = Memory(device_ram if self.has_gpu else [], age_seconds=_device_age(report))
        # What drivers hide at one sample may be what they list at none.
        is_known = self.has_gpu and report["max_gpu_ram"]["combined"] is not None
        peaks = report.get("gpu_peaks") or {}
        self.gpu_ram = Memory(
            [gpu_ram for _, _, gpu_ram in self.samples] if is_known else [],
            peaks.get("combined"), peaks.get("combined_at_most"), peaks.get("list_age_seconds") or 0.0,
        )  # fmt: skip
        self.why_no_gpu_ram = _why_no_gpu_ram(report) if self.has_gpu and self.gpu_ram.used is None else None
        self.gpu_percent = gpu["gpu_percentages"]["mean_sum_percent"] if self.has_gpu else None
        cpu_seconds = report["accounting"]["cpu_seconds"]["sampled"]
        self.cpu_seconds = None if cpu_seconds is None else max(0.0, cpu_seconds - excluded[1])
        self.own_cpu_seconds: float | None = None
        self.joules = (report.get("energy") or {}).get("combined")


class Memory:
    """consumed: more (or less) than before, None where that is not known; peaked: on top of what is used now, for a while;
    used: now; peak: the most, `known_peak` at least; peak_at_most: and at most, None where no upper bound is known; age_seconds:
    how much older than the end what is used now is."""

    def __init__(self, figures: Sequence[float | None], known_peak: float | None = None, peak_at_most: float | None = None, age_seconds: float = 0.0) -> None:
        self.peak_at_most, self.age_seconds = peak_at_most, age_seconds
        known = [figure for figure in figures if figure is not None]
        if not known or figures[-1] is None:
            self.consumed = self.peaked = self.used = self.peak = None
            return
        self.used = known[-1]
        self.peak = max([*known, known_peak or 0.0])
        self.consumed = None if figures[0] is None else self.used - figures[0]
        self.peaked = max(0.0, self.peak - self.used)


def _why_no_gpu_ram(report: dict[str, Any]) -> str:
    source = report["sources"].get("process_gpu_ram")
    if source:
        return str(source["reason"]).partition("; by any process, ")[0]
    reasons = [gpu["missing"] for gpu in report.get("gpus", []) if gpu.get("missing")]
    return str(reasons[0]) if reasons else "the driver had not reported it in time"


def _device_age(report: dict[str, Any]) -> float:
    """How long before the last sample the driver was last read; 0.0: for that sample, or there is none."""
    read = [gpu["last_reading_seconds"] for gpu in report.get("gpus", []) if gpu["last_reading_seconds"] is not None]
    return max(0.0, report["compute_time"]["time"] - min(read)) if read else 0.0


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


class Meter:
    """start() and stop() around the interval. The native thread samples every `interval` seconds without the
    interpreter's lock."""

    def __init__(self, interval: float = 0.001) -> None:
        self._interval = interval
        self._owner = os.getpid()

    def start(self) -> Meter:
        get = os.environ.get
        self._session: _native.Session | None = _native.Session(
            sleep_time=self._interval,
            ram_unit="bytes",
            gpu_ram_unit="bytes",
            time_unit="seconds",
            keep_samples=4096,
            resource_usage_file="",
            ram_mode="totals",
            procfs_root=get("GPUT_PROCFS"),
            sysfs_root=get("GPUT_SYSFS"),
            nvml_path=get("GPUT_NVML"),
        )
        self._session.track()
        self._start = time.perf_counter()
        self._cpu_start = time.process_time()
        return self

    def stop(self, clean_up: Callable[[], None] | None = None, excluded: tuple[float, float] = (0.0, 0.0)) -> Usage | None:
        """The Usage; None in a forked child. `clean_up` cleans up: it is called after the interval and before the last
        sample, so what it frees is no longer in use. `excluded`: wall and CPU seconds that do not count."""
        own_cpu_seconds = time.process_time() - self._cpu_start
        seconds = time.perf_counter() - self._start
        if self._owner != os.getpid():
            return None
        assert self._session is not None
        cpu_seconds = 0.0
        if clean_up:  # without it, this would be what the sampling thread used while this thread waited for a CPU
            cpu_seconds = time.process_time()
            clean_up()
            cpu_seconds = time.process_time() - cpu_seconds
        self._session.stop()
        report = self._session.report(_native.DETAILS)
        usage = Usage(seconds, report, self._session.samples(), (excluded[0], excluded[1] + cpu_seconds))
        # Without what starting and stopping to measure takes; CPU time of other processes is in the report alone.
        usage.own_cpu_seconds = own_cpu_seconds if report["accounting"]["processes"]["seen"] == 1 else None
        self._session = None
        return usage
