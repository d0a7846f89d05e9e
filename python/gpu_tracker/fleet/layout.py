"""The folder of an export: FOLDER/TABLE/SESSION.parquet. A session is complete when its file in `sessions` is there."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMATS = ("parquet", "arrow")
VERSION = "1"

# What the analysis reads of a session; one without calls has none of those that may be missing.
_TABLES = {"sessions": True, "samples": True, "segments": True, "leaves": False, "calls": False}
_MAGIC = b"PAR1"

# What is known of a session by the names of src/model/identity_list.h.
IDENTITY_TEXTS = (
    "host", "boot_id", "clock", "user", "command", "start", "end", "version", "container", "pod", "cgroup", "cpus", "launcher", "job_id",
    "task", "step", "run", "ranks", "ranks_of", "node", "session_id", "within", "job_name", "tracking_file", "first_sample", "energy_folder",
)  # fmt: skip
IDENTITY_NUMBERS = (
    "pid", "exit_status", "signal", "rank", "local_rank", "local_size", "world_size", "node_rank", "node_count", "restarts", "time_limit_seconds",
)  # fmt: skip
ALLOWED = (
    "allowed_ram_bytes", "allowed_cores", "allowed_affinity_cores", "allowed_quota_cores", "allowed_cpuset_cores",
    "allowed_memory_max_bytes", "allowed_swap_max_bytes", "allowed_pids_max", "allowed_slurm_cores", "allowed_slurm_ram_bytes",
    "allowed_limit_ram_bytes", "allowed_gpus", "allowed_named_gpus",
)  # fmt: skip
# Figures of the whole session, which its tracking file has when it has ended (src/model/results_identity.h): what samples do not have.
FIGURES = (
    "elapsed_seconds", "max_main_ram_bytes", "max_descendants_ram_bytes", "max_combined_ram_bytes", "max_combined_gpu_ram_bytes",
    "peaks_main_bytes", "peaks_main_at_most_bytes", "peaks_combined_bytes", "peaks_combined_at_most_bytes",
    "peaks_control_group_bytes", "peaks_control_group_at_most_bytes", "gpu_peaks_combined_bytes", "gpu_peaks_combined_at_most_bytes",
    "accounting_cpu_seconds_kernel", "accounting_cpu_seconds_kernel_user", "accounting_cpu_seconds_kernel_system",
    "accounting_cpu_seconds_sampled", "accounting_cpu_seconds_captured_percent", "accounting_processes_seen",
    "accounting_processes_missed", "accounting_processes_oom_killed", "accounting_bytes_read", "accounting_bytes_written",
    "mean_cpu_combined_sum_utilization_percent", "mean_cpu_system_sum_utilization_percent", "mean_gpu_hardware_utilization_percent",
    "energy_combined_joules", "energy_machine_total_joules", "tracker_cpu_seconds",
)  # fmt: skip


def path_of(folder: str, table: str, session: str, format: str = "parquet") -> str:
    return os.path.join(folder, table, f"{session}.{format}")


def pyarrow_or_error() -> Any:
    """pyarrow. Raises ImportError that says how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "Parquet and Arrow files are read and written by pyarrow, which is not installed: pip install pyarrow. Without it, "
            "`gpu-tracker report -f csv` writes tables of sessions."
        ) from error
    return pyarrow


def sessions_in(folder: str) -> list[str]:
    """The names of the complete sessions, sorted. Raises FileNotFoundError and ValueError."""
    odd = sorted(set(folder) & set("*?[]{}\\,'"))
    if odd:
        raise ValueError(f"Engines take {odd[0]} in {folder} for a pattern: give the folder another name, or a link to it.")
    try:
        names = os.listdir(os.path.join(folder, "sessions"))
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"{folder} is not a folder of exported sessions: `python -m gpu_tracker.fleet export` makes one.") from None
    found = sorted(name[: -len(".parquet")] for name in names if name.endswith(".parquet"))
    if not found:
        arrow = any(name.endswith(".arrow") for name in names)
        raise ValueError(
            f"{folder} has Arrow files, which not all engines read: export to Parquet." if arrow else f"{folder} has no session."
        )
    return found


def whole_sessions(folder: str, names: list[str]) -> tuple[list[str], list[str]]:
    """-> the sessions with samples of which every file is there to its end, and a sentence about each one that is damaged.

    Sessions that were exported from their report have no samples. An engine that meets a damaged file gives nothing at all, often without its name.
    """
    whole, said = [], []
    for name in names:
        if _is_of_report(folder, name):
            continue
        fault = next(filter(None, (_fault_of(path_of(folder, table, name), table) for table in _TABLES)), None)
        if fault:
            said.append(f"{name} is skipped: {fault} Export it again with overwrite.")
        else:
            whole.append(name)
    return whole, said


def _is_of_report(folder: str, name: str) -> bool:
    import pyarrow
    import pyarrow.parquet

    if os.path.exists(path_of(folder, "samples", name)):
        return False
    try:
        return bool(pyarrow.parquet.read_table(path_of(folder, "sessions", name), columns=["samples"])["samples"].to_pylist() == [0])
    except (OSError, pyarrow.ArrowInvalid):
        return False


def _fault_of(path: str, table: str) -> str | None:
    """A file of Parquet begins and ends with the same four bytes."""
    try:
        with open(path, "rb") as file:
            head = file.read(len(_MAGIC))
            file.seek(-len(_MAGIC), os.SEEK_END)
            return None if head == file.read() == _MAGIC else f"{path} is damaged."
    except FileNotFoundError:
        return f"{path} is missing." if _TABLES[table] else None
    except OSError as error:
        return f"{path}: {error.strerror}." if os.path.getsize(path) >= len(_MAGIC) else f"{path} is damaged."
