"""The NVIDIA GPUs at this moment as `nvidia-smi` reports them, for AIPowerMeter's programs. A whole recording, of GPUs of every
vendor, is `gpu_tracker.power.Experiment`."""

from __future__ import annotations

import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any


def _ask(*words: str) -> str:
    """What nvidia-smi says. RuntimeError: why it says nothing."""
    try:
        done = subprocess.run(["nvidia-smi", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        raise RuntimeError("There is no nvidia-smi here: NVIDIA's driver brings it.") from None
    except subprocess.TimeoutExpired:
        raise RuntimeError("nvidia-smi does not answer.") from None
    if done.returncode:
        raise RuntimeError(f"nvidia-smi fails: {(done.stdout + done.stderr).strip()}")
    return done.stdout


def _query(of: str, *fields: str) -> list[list[Any]]:
    """A list of texts for each GPU or process; None: not to be had."""
    text = _ask(f"--query-{of}={','.join(fields)}", "--format=csv,noheader,nounits")
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    return [[None if cell.startswith("[") else cell for cell in row] for row in rows if len(row) == len(fields)]


def _number(text: str | None, factor: float = 1) -> float | None:
    return None if text is None else float(text) * factor


def is_nvidia_compatible() -> tuple[bool, str]:
    """(whether the power of NVIDIA GPUs is to be had, which GPUs there are or why it is not)."""
    try:
        gpus = _query("gpu", "index", "name", "power.draw")
    except RuntimeError as error:
        return False, str(error)
    silent = [name for _, name, power in gpus if power is None]
    if not gpus or silent:
        return False, f"{silent[0]} does not report its power." if silent else "nvidia-smi finds no GPU."
    return True, f"NVIDIA's GPUs report their power: {', '.join(name for _, name, _ in gpus)}"


def get_min_power() -> dict[int, float | None]:
    """The lowest power limit of each GPU in watts, by index; None: not reported."""
    return {int(index): _number(power) for index, power in _query("gpu", "index", "power.min_limit")}


def _memory_of_processes(gpus: list[list[Any]], pid_list: Collection[int] | None) -> dict[int, dict[int, int | None]]:
    """{gpu: {pid: bytes}}"""
    memory: dict[int, dict[int, int | None]] = {int(index): {} for index, _, _ in gpus}
    indexes = {uuid: int(index) for index, uuid, _ in gpus}
    for uuid, pid, mebibytes in _query("compute-apps", "gpu_uuid", "pid", "used_gpu_memory"):
        if uuid in indexes and (pid_list is None or int(pid) in pid_list):
            number = _number(mebibytes, 1024**2)
            memory[indexes[uuid]][int(pid)] = None if number is None else int(number)
    return memory


def get_gpu_use_pmon(nsample: int = 1) -> dict[int, dict[int, float | None]]:
    """The part, 0 to 1, of the processors of each GPU that each process uses: `{gpu: {pid: part}}`, the mean of samples a second
    apart; None: nvidia-smi does not know."""
    # The columns stand as the first line names them.
    names: list[str] = []
    found: dict[int, dict[int, list[float]]] = {}
    for line in _ask("pmon", "-c", str(nsample)).splitlines():
        words = line.split()
        if words[:2] == ["#", "gpu"]:
            names = words[1:]
        if not names or not words or words[0].startswith("#") or len(words) < len(names):
            continue
        row = dict(zip(names, words))
        gpu = found.setdefault(int(row["gpu"]), {})
        if row["pid"] != "-":
            samples = gpu.setdefault(int(row["pid"]), [])
            samples += [] if row["sm"] == "-" else [float(row["sm"])]
    return {
        gpu: {pid: sum(samples) / nsample / 100 if samples else None for pid, samples in pids.items()}
        for gpu, pids in found.items()
    }


def _sum(numbers: Iterable[float | None]) -> float | None:
    """Of those that are known; None: of some, none is."""
    each = list(numbers)
    known = [number for number in each if number is not None]
    return sum(known) if known or not each else None


def _part(number: float | None, of: float | None) -> float | None:
    return number / of if number and of else number


def get_nvidia_gpu_power(pid_list: Collection[int] | None = None, nsample: int = 1) -> dict[str, Any]:
    """Power and use of the GPUs, and what processes have of them.

    pid_list: the processes that are meant; None: all.
    nsample: how many times, a second apart, the use of the processors is asked for.

    A dictionary of

    - nvidia_draw_absolute: watts of all GPUs,
    - per_gpu_power_draw: watts, by GPU,
    - per_gpu_attributable_mem_use: bytes of the processes, by GPU and pid,
    - per_gpu_per_pid_utilization_absolute: the part, 0 to 1, of the GPU's processors (SM) that each process uses, of all processes,
      by GPU and pid,
    - per_gpu_absolute_percent_usage: the part that the processes of pid_list use, by GPU,
    - per_gpu_estimated_attributable_utilization: of what all processes use the part of those of pid_list, by GPU.

    What nvidia-smi does not know is None. Raises RuntimeError where it reports nothing.
    """
    gpus = _query("gpu", "index", "uuid", "power.draw")
    powers = {int(index): _number(power) for index, _, power in gpus}
    uses = get_gpu_use_pmon(nsample)
    own = {
        gpu: _sum(use for pid, use in each.items() if pid_list is None or pid in pid_list) for gpu, each in uses.items()
    }
    return {
        "nvidia_draw_absolute": None if None in powers.values() else _sum(powers.values()),
        "per_gpu_power_draw": powers,
        "per_gpu_attributable_mem_use": _memory_of_processes(gpus, pid_list),
        "per_gpu_per_pid_utilization_absolute": uses,
        "per_gpu_absolute_percent_usage": own,
        "per_gpu_estimated_attributable_utilization": {
            gpu: _part(own[gpu], _sum(each.values())) for gpu, each in uses.items()
        },
    }
