"""The part of gpu-check that needs PyTorch: a short training run, next to what torch itself says of it."""

import json
import os
import pathlib
import subprocess
import tempfile
import time

STEPS, TRACED_STEPS = 100, 20
WAIT_S = 0.01
MIB = 1 << 20


def check(rows):
    try:
        import torch
    except ImportError:
        return rows.skip("PyTorch", "it is not installed here")
    if not torch.cuda.is_available():
        return rows.skip("PyTorch", "it sees no GPU")
    training = Training(torch)
    check_memory(rows, torch, training)
    check_trace(rows, torch, training)


class Training:
    """A model that is trained on one batch, and has been for some steps: all kernels are loaded."""

    def __init__(self, torch):
        self.torch = torch
        self.model = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(8))).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.data = torch.rand(1024, 4096, device="cuda")
        for _ in range(3):
            self.step()
        torch.cuda.synchronize()

    def step(self):
        """One step, in an NVTX range."""
        self.torch.cuda.nvtx.range_push("gpu-check step")
        self.optimizer.zero_grad()
        self.model(self.data).square().mean().backward()
        self.optimizer.step()
        self.torch.cuda.nvtx.range_pop()


def check_memory(rows, torch, training):
    """The allocator says what it reserved. What a context takes is in both sessions, and in neither figure of torch."""
    import gpu_tracker
    from gpu_check import PIECE, why_missing

    figure = "PyTorch: memory of a run, less what was kept after it"
    torch.cuda.reset_peak_memory_stats()
    with gpu_tracker.Tracker(sleep_time=0.05, gpu_ram_unit="bytes") as during:
        work = torch.empty(512 * MIB, dtype=torch.uint8, device="cuda")
        for _ in range(STEPS):
            training.step()
        torch.cuda.synchronize()
        time.sleep(0.3)
        reserved = torch.cuda.max_memory_reserved()
    del work
    torch.cuda.empty_cache()
    kept = torch.cuda.memory_reserved()
    with gpu_tracker.Tracker(sleep_time=0.05, gpu_ram_unit="bytes") as after:
        time.sleep(0.5)
    details = [tracker.details for tracker in (during, after)]
    peaks = [each["gpu_peaks"]["main"] for each in details]
    ours = None if None in peaks else peaks[0] - peaks[1]
    rows.compare(figure, "bytes", reserved - kept, ours, 2 * PIECE, why_missing(details[0]))


def check_trace(rows, torch, training):
    """Kernels, breakdown and idle time of a Kineto trace, next to torch's own events of the same run."""
    profile, activity = torch.profiler.profile, torch.profiler.ProfilerActivity
    with profile(activities=[activity.CPU, activity.CUDA]) as profiler:
        for _ in range(TRACED_STEPS):
            training.step()
            torch.cuda.synchronize()
            time.sleep(WAIT_S)  # the stream is idle, and its reason is the host
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        tables = {command: _table(command, trace) for command in ("kernels", "breakdown", "idle")}
        has_ranges = "gpu-check step" in trace.read_text(errors="replace")
    events = [event for event in profiler.events() if _is_of_gpu(event)]
    if not events:
        return rows.skip("PyTorch trace", "torch's profiler has no event of the GPU: CUPTI may not be used here")
    compare_kernels(rows, profiler, tables["kernels"])
    compare_times(rows, events, tables["breakdown"], tables["idle"])
    if has_ranges:
        rows.state("PyTorch trace: NVTX ranges are in it, and in no kernel's time", True)
    else:
        rows.skip("PyTorch trace: NVTX ranges", "torch's profiler writes none into its trace")


def compare_kernels(rows, profiler, kernels):
    """By torch's table: all together, and the three that took longest."""
    table = {event.key: (_own_us(event), event.count) for event in profiler.key_averages() if _is_of_gpu(event)}
    total_us = sum(own_us for own_us, _ in table.values())
    ours = {kernel["name"]: kernel for kernel in kernels}
    found_us = sum(kernel["total_us"] for kernel in kernels)
    rows.compare("PyTorch trace: time of all kernels", "us", total_us, found_us, total_us * 0.01)
    longest = sorted(table, key=lambda name: -table[name][0])[:3]
    for number, name in enumerate(longest, 1):
        own_us, count = table[name]
        found = ours.get(name, {"total_us": None, "count": None})
        figure = f"PyTorch trace: kernel {number} by time"
        rows.compare(figure, "us", own_us, found["total_us"], own_us * 0.01 + 1, None)
        rows.compare(f"{figure}: how often", "", count, found["count"], 0)


def compare_times(rows, events, breakdown, idle):
    """Torch has no table of these: they are made of the times of its events."""
    spans = sorted((event.time_range.start, event.time_range.end) for event in events)
    busy_us, reached = 0.0, spans[0][0]
    for start, end in spans:
        busy_us += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    span_us = reached - spans[0][0]
    tolerance = len(spans) * 1.0 + span_us * 0.001  # torch cuts times to microseconds
    if len(breakdown) != 1:
        return rows.state("PyTorch trace: breakdown has one GPU", False, f"it has {len(breakdown)}")
    row = breakdown[0]
    rows.compare("PyTorch trace: breakdown: from the first to the last kernel", "us", span_us, row["span_us"], tolerance)
    rows.compare("PyTorch trace: breakdown: idle", "us", span_us - busy_us, row["idle_us"], tolerance)
    rows.compare("PyTorch trace: breakdown: not idle", "us", busy_us, row["compute_us"] + row["non_compute_us"], tolerance)
    waits_us = (TRACED_STEPS - 1) * WAIT_S * 1e6
    host_us = sum(stream["host_wait_us"] for stream in idle)
    rows.state("PyTorch trace: idle: waits of the host are found", host_us >= waits_us,
               f"{host_us:.0f} us, of which the check itself waited {waits_us:.0f}")  # fmt: skip


def _is_of_gpu(event):
    """Kernels and copies; not ranges of the program, which torch shows on the GPU too."""
    is_range = getattr(event, "is_user_annotation", False) or "gpu-check" in getattr(event, "name", getattr(event, "key", ""))
    return str(event.device_type).endswith("CUDA") and not is_range


def _own_us(event):
    return event.self_device_time_total if hasattr(event, "self_device_time_total") else event.self_cuda_time_total


def _table(command, trace):
    tracker = os.environ.get("GPU_TRACKER", "gpu-tracker")
    arguments = ["-n", "100000"] if command == "kernels" else []
    done = subprocess.run([tracker, "pytorch", command, "-f", "json", *arguments, str(trace)],
                          capture_output=True, text=True, check=True, timeout=120)  # fmt: skip
    return json.loads(done.stdout)
