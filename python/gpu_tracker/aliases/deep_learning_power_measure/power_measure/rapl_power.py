"""CPU time, memory and power of processes at this moment, as AIPowerMeter's programs ask for them. They need nothing but this
package: a process is one of psutil, anything with a `pid`, or its pid. A whole recording is `gpu_tracker.power.Experiment`."""

from __future__ import annotations

import os
import pathlib
import time
import warnings

from . import rapl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


class _Process:
    def __init__(self, pid: int) -> None:
        self.pid = pid

    def __repr__(self) -> str:
        return f"process {self.pid}"


def _pids(process_list: Iterable[Any]) -> list[int]:
    return [getattr(process, "pid", process) for process in process_list]


def _procfs() -> pathlib.Path:
    return pathlib.Path(os.environ.get("GPUT_PROCFS") or "/proc")


def is_rapl_compatible() -> tuple[bool, str]:
    """(whether RAPL's counters can be read, which domains there are or why there are none)."""
    try:
        sample = rapl.RAPLSample.take_sample()
    except ValueError as error:
        return False, str(error)
    names = {domain.name for domain in sample.domains_by_id.values()}
    return True, f"RAPL is available: {', '.join(sorted(names))}"


def get_processes(pid_list: Iterable[int]) -> list[Any]:
    """The processes of these ids; those that are not there are skipped with a warning."""
    there = [pid for pid in pid_list if (_procfs() / str(pid)).exists()]
    for pid in pid_list:
        if pid not in there:
            warnings.warn(f"There is no process {pid}; it is skipped.")
    try:
        import psutil
    except ImportError:
        return [_Process(pid) for pid in there]
    return [psutil.Process(pid) for pid in there]


# ---- memory ----


def _fields(path: pathlib.Path) -> dict[str, int]:
    """{"Pss": bytes, …} of a file with lines such as `Pss: 12 kB`."""
    found = {}
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if len(words) == 2 and words[1] == "kB" and words[0].isdecimal():
            found[name] = int(words[0]) * 1024
    return found


def get_mem_uses(process_list: Iterable[Any]) -> tuple[dict[int, int], dict[int, int]]:
    """Bytes by pid: (PSS, USS). PSS has of memory that is shared with others the process's part; where it may not be read it
    is RSS, all of what is shared. USS is what no other has; where it may not be read it is missing. A process that has ended
    is in neither."""
    pss, uss = {}, {}
    for pid in _pids(process_list):
        folder = _procfs() / str(pid)
        try:
            fields = _fields(folder / "smaps_rollup")
        except PermissionError:
            fields = {}
        except OSError:
            continue
        try:
            if "Pss" in fields:
                pss[pid] = fields["Pss"]
                uss[pid] = sum(fields.get(name, 0) for name in ("Private_Clean", "Private_Dirty", "Private_Hugetlb"))
            elif "VmRSS" in (status := _fields(folder / "status")):
                pss[pid] = status["VmRSS"]
        except OSError:
            continue
    return pss, uss


def get_relative_mem_use(mem_info_per_process: Mapping[int, float]) -> dict[int, float]:
    """The parts of the RAM in use on the machine that these bytes by pid are, 0 to 1."""
    machine = _fields(_procfs() / "meminfo")
    used = machine["MemTotal"] - machine["MemAvailable"]
    return {pid: number / used for pid, number in mem_info_per_process.items()}


# ---- CPU time ----


def _cpu_seconds(pid: int) -> tuple[int, float] | None:
    """(when it started in ticks, its user and system time); None: it has ended."""
    try:
        fields = (_procfs() / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    if fields[0] in (b"Z", b"X"):
        return None
    return int(fields[19]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _machine_seconds() -> float:
    """The user and system time of all CPUs, without that of low priority, waiting and interrupts."""
    with open(_procfs() / "stat", "rb") as file:
        user, _, system = map(int, file.readline().split()[1:4])
    return (user + system) / os.sysconf("SC_CLK_TCK")


def get_cpu_uses(process_list: Iterable[Any], period: float = 2.0) -> tuple[dict[int, float], dict[int, float]]:
    """Waits for `period` seconds. (the part that each process had of the user and system time of the machine, 0 to 1; the
    seconds of CPU time that it used), by pid. A process that has ended by then is in neither."""
    machine = _machine_seconds()
    before = {pid: _cpu_seconds(pid) for pid in _pids(process_list)}
    time.sleep(period)
    uses, seconds = {}, {}
    machine = _machine_seconds() - machine
    for pid, begin in before.items():
        end = _cpu_seconds(pid)
        if begin and end and begin[0] == end[0]:
            seconds[pid] = end[1] - begin[1]
            uses[pid] = min(1.0, seconds[pid] / machine) if machine > 0 else 0.0
    return uses, seconds


# ---- power ----


def get_power(diff: rapl.RAPLDifference) -> dict[str, Any]:
    """Watts of the domains of RAPL, all packages together: intel_power (of the packages), psys_power (None: the machine has no
    such counter), and dram_power, cpu_power and uncore_power where there are such domains.

    diff: of two samples (rapl.RAPLSample). Raises ValueError where no package drew anything.
    """
    kinds = {"ram": "dram_power", "dram": "dram_power", "core": "cpu_power", "cpu": "cpu_power", "uncore": "uncore_power"}
    powers: dict[str, Any] = {"intel_power": 0, "psys_power": None}
    for package in diff.domains.values():
        watts = diff.average_power(package.name)
        if package.name == "psys":
            powers["psys_power"] = watts
            continue
        powers["intel_power"] += watts
        for domain in package.subdomains.values():
            kind = kinds.get(domain.name.lower())
            if kind:
                powers[kind] = powers.get(kind, 0) + diff.average_power(package.name, domain.name)
    if powers["intel_power"] == 0:
        raise ValueError("The counters of the CPU's packages have not advanced, so its power is not known.")
    return powers


get_diff_power_draw = get_power


def get_rel_power(rel_uses: Mapping[int, float], power: float) -> dict[int, float]:
    """What each process's part of a power is: {pid: watts}."""
    return {pid: part * power for pid, part in rel_uses.items()}


def get_metrics(pid_list: Iterable[int], period: float = 2.0) -> dict[str, Any]:
    """Waits for `period` seconds. What a line of a recording has of the CPU: see docs/energy.md."""
    before = rapl.RAPLSample.take_sample()
    processes = get_processes(pid_list)
    uses, seconds = get_cpu_uses(processes, period)
    pss, uss = get_mem_uses(processes)
    parts = get_relative_mem_use(pss)
    powers = get_power(rapl.RAPLSample.take_sample() - before)
    metrics = {
        "per_process_mem_use_abs": pss,
        "per_process_cpu_uses": uses,
        "per_process_mem_use_percent": parts,
        "absolute_cpu_time_per_pid": seconds,
        "intel_power": powers["intel_power"],
        "psys_power": powers["psys_power"],
        "rel_intel_power": get_rel_power(uses, powers["intel_power"]),
    }
    if "uncore_power" in powers:
        metrics["uncore_power"] = powers["uncore_power"]
    if "cpu_power" in powers:
        metrics |= {"total_cpu_power": powers["cpu_power"], "per_process_cpu_power": get_rel_power(uses, powers["cpu_power"])}
    if "dram_power" in powers:
        metrics |= {"total_dram_power": powers["dram_power"], "per_process_dram_power": get_rel_power(parts, powers["dram_power"])}
    if uss:
        metrics["per_process_mem_use_uss"] = uss
    return metrics
