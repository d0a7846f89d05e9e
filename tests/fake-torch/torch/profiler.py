"""torch.profiler: events of the GPU, the table of them, and a trace as Kineto writes it."""

import json
import os
from types import SimpleNamespace

import torch

RANGE = "gpu-check step"
ProfilerActivity = SimpleNamespace(CPU="CPU", CUDA="CUDA")
_factor = float(os.environ.get("FAKE_TORCH_FACTOR", "1"))


class profile:  # noqa: N801: torch's name
    def __init__(self, activities):
        assert activities == [ProfilerActivity.CPU, ProfilerActivity.CUDA]

    def __enter__(self):
        torch._recorded = []
        return self

    def __exit__(self, *_):
        self._recorded, torch._recorded = torch._recorded, None

    def _us(self, time_ns):
        return (time_ns - self._recorded[0][1]) / 1e3

    def events(self):
        """Those of the kernels, and a range of the program around them, which torch shows on the GPU too."""
        events = [_event(name, self._us(start_ns), self._us(end_ns)) for name, _, start_ns, end_ns in self._recorded]
        return [*events, _event(RANGE, events[0].time_range.start - 50, events[-1].time_range.end + 50)]

    def key_averages(self):
        table = {}
        for event in self.events():
            row = table.setdefault(event.name, SimpleNamespace(
                key=event.name, device_type=event.device_type, count=0, self_device_time_total=0.0))  # fmt: skip
            row.count += 1
            row.self_device_time_total += (event.time_range.end - event.time_range.start) * _factor
        return list(table.values())

    def export_chrome_trace(self, path):
        events = [_range(cat, pid, self.events()[-1].time_range)
                  for cat, pid in (("user_annotation", 100), ("gpu_user_annotation", 0))]  # fmt: skip
        for number, (name, launched_ns, start_ns, end_ns) in enumerate(self._recorded, 1):
            launch = {"correlation": number}
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100,
                           "ts": self._us(launched_ns), "dur": 5, "args": launch})  # fmt: skip
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": self._us(start_ns),
                           "dur": (end_ns - start_ns) / 1e3, "args": {"device": 0, "stream": 7, **launch}})  # fmt: skip
        with open(path, "w") as file:
            json.dump({"schemaVersion": 1, "traceEvents": events}, file)


def _event(name, start_us, end_us):
    times = SimpleNamespace(start=start_us, end=start_us + (end_us - start_us) * _factor)
    return SimpleNamespace(name=name, device_type="DeviceType.CUDA", time_range=times)


def _range(cat, pid, times):
    return {"ph": "X", "cat": cat, "name": RANGE, "pid": pid, "tid": 7, "ts": times.start, "dur": times.end - times.start, "args": {}}
