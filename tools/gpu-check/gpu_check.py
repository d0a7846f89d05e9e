"""The part of gpu-check that is in Python: cells, code blocks and, where it is installed, PyTorch.

gpu_check.py ROWS.json writes rows {figure, unit, truth, at_least, at_most, tolerance}, {figure, holds, note} or
{figure, skipped}.
"""

import ctypes
import json
import os
import pathlib
import sys
import tempfile
import time
import traceback

MIB = 1 << 20
PIECE = 2 * MIB  # a driver gives memory to a process in pieces of that size
IS_SHARED = bool(os.environ.get("GPU_CHECK_SHARED"))  # others use the GPU


class Rows:
    """What was compared."""

    def __init__(self):
        self.rows = []

    def skip(self, figure, why):
        self.rows.append({"figure": figure, "skipped": why})

    def state(self, figure, holds, note=""):
        self.rows.append({"figure": figure, "holds": bool(holds), "note": note})

    def bounds(self, figure, unit, truth, at_least, at_most, tolerance):
        numbers = {"truth": truth, "at_least": at_least, "at_most": at_most, "tolerance": tolerance}
        self.rows.append({"figure": figure, "unit": unit, **{name: _real(number) for name, number in numbers.items()}})

    def compare(self, figure, unit, truth, ours, tolerance, why_missing=None):
        """A figure that gpu-tracker does not have, and says why, is skipped; without a reason it differs."""
        if ours is not None:
            self.bounds(figure, unit, truth, ours, ours, tolerance)
        elif why_missing:
            self.skip(figure, why_missing)
        else:
            self.state(figure, False, "missing without a reason")

    def attempt(self, name, function):
        """A check that fails costs its own rows alone."""
        try:
            function()
        except Exception as error:
            traceback.print_exc()
            self.state(name, False, f"{type(error).__name__}: {error}: see log.txt")


def _real(number):
    return None if number is None else float(number)


def why_missing(report):
    """Of a session's details: why there are no figures of processes; None: it does not say."""
    source = report["sources"].get("process_gpu_ram")
    return source and source["reason"]


class Cuda:
    """Allocations of the driver's library alone."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ.get("GPU_CHECK_CUDA", "libcuda.so.1"))
        self.context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuCtxCreate_v2", ctypes.byref(self.context), 0, 0)
        self.free(self.allocate(MIB))  # what the driver loads when it is first used

    def _call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: CUDA error {code}")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        self._call("cuMemsetD8_v2", pointer, ctypes.c_ubyte(1), ctypes.c_size_t(size))
        self._call("cuCtxSynchronize")
        return pointer

    def free(self, pointer):
        self._call("cuMemFree_v2", pointer)

    def close(self):
        """A program that leaves contexts of its own next to PyTorch's profiler crashes now and then when it ends."""
        self._call("cuCtxDestroy_v2", self.context)


def compare_left(rows, figure, memory, why_missing=None):
    if memory.age_seconds:
        rows.skip(figure, f"the driver's answer was {memory.age_seconds * 1e3:.0f} ms late")
    else:
        rows.compare(figure, "bytes", 256 * MIB, memory.consumed, PIECE, why_missing)


def check_left(rows, cuda):
    """As a notebook measures a cell: what it left."""
    from gpu_tracker._meter import Meter

    held = []
    meter = Meter()
    meter.start()
    meter.stop()  # what Python and gpu-tracker load when they are first used
    for milliseconds in 0, 10, 50:
        meter.start()
        held.append(cuda.allocate(256 * MIB))
        time.sleep(milliseconds / 1000)
        usage = meter.stop()
        figure = f"cell of {milliseconds} ms that leaves 256 MiB"
        compare_left(rows, figure, usage.gpu_ram, usage.why_no_gpu_ram)
        if not IS_SHARED:
            compare_left(rows, f"{figure}: in use on the GPU", usage.device_ram)
    for pointer in held:
        cuda.free(pointer)


def check_peaks(rows, cuda):
    """What a cell needed for a while. Bounds are those of samples: they hold where these are closer than the peak is long."""
    from gpu_tracker._meter import Meter

    meter = Meter()
    for milliseconds in 5, 20, 50, 500:
        meter.start()
        before = cuda.allocate(64 * MIB)
        time.sleep(0.1)
        peak = cuda.allocate(512 * MIB)
        time.sleep(milliseconds / 1000)
        cuda.free(peak)
        time.sleep(0.1)
        usage = meter.stop()
        cuda.free(before)
        figure, memory = f"cell with a peak of {milliseconds} ms: bounds", usage.gpu_ram
        times = [at for at, *_ in usage.samples]
        gap_ms = 1e3 * max(later - earlier for earlier, later in zip(times, times[1:], strict=False))
        if memory.used is None:
            rows.compare(figure, "bytes", 512 * MIB, None, PIECE, usage.why_no_gpu_ram)
            continue
        at_most = None if memory.peak_at_most is None else memory.peak_at_most - memory.used
        is_missed = at_most is not None and at_most < 512 * MIB - PIECE
        if is_missed and 2 * gap_ms > milliseconds:
            rows.skip(figure, f"samples were up to {gap_ms:.3g} ms apart: it may lie between two")
        elif is_missed and os.getloadavg()[0] > os.cpu_count():
            rows.skip(figure, f"missed, but the machine is busy: load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        else:
            rows.bounds(figure, "bytes", 512 * MIB, memory.peak - memory.used, at_most, PIECE)


def check_blocks(rows, cuda):
    """Statistics of a code block over the samples of a tracking file."""
    import gpu_tracker

    with tempfile.TemporaryDirectory() as folder:
        samples, marks = (str(pathlib.Path(folder) / name) for name in ("samples.csv", "marks.csv"))
        tracker = gpu_tracker.Tracker(sleep_time=0.05, tracking_file=samples, gpu_ram_unit="bytes")
        with tracker:
            time.sleep(0.3)
            with gpu_tracker.SubTracker(code_block_name="block", sub_tracking_file=marks):
                pointer = cuda.allocate(512 * MIB)
                time.sleep(1.0)
            cuda.free(pointer)
            time.sleep(0.3)
        figure = "code block that holds 512 MiB: maximum less minimum of the session"
        why = why_missing(tracker.details)
        if why:
            return rows.skip(figure, why)
        analysis = gpu_tracker.SubTrackingAnalyzer(samples, marks).sub_tracking_results()
        block = analysis.code_block_results[0].resource_usage
        held = block.loc["main_gpu_ram", "max"] - analysis.overall.loc["main_gpu_ram", "min"]
        rows.compare(figure, "bytes", 512 * MIB, held, PIECE)


def with_context(rows, check):
    cuda = Cuda()
    try:
        check(rows, cuda)
    finally:
        cuda.close()


def main(path):
    rows = Rows()
    try:
        import gpu_tracker  # noqa: F401
    except ImportError as error:
        rows.skip("gpu_tracker in Python", f"cannot be imported: {error}")
    else:
        import gpu_check_torch

        for name, check in ("cells", check_left), ("cells with a peak", check_peaks), ("code blocks", check_blocks):
            rows.attempt(name, lambda check=check: with_context(rows, check))
        rows.attempt("PyTorch", lambda: gpu_check_torch.check(rows))
    pathlib.Path(path).write_text(json.dumps(rows.rows, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
