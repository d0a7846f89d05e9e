"""As much of PyTorch as tools/gpu-check/gpu_check_torch.py calls, without any of its code: tensors are memory of the simulated GPU
(../../fake-nvml), and steps run kernels of known times, which its profiler knows exactly.

FAKE_TORCH_FACTOR: times of its own tables are multiplied by that, so that they contradict its trace.
"""

import ctypes
import os
import time
from types import SimpleNamespace

_library = ctypes.CDLL(os.environ["GPU_CHECK_CUDA"])
_FLOAT_BYTES = 4
_KERNEL_NS = {"sgemm": 400_000, "relu": 100_000, "multi_tensor_apply": 50_000}
_reserved = SimpleNamespace(now=0, peak=0)
_recorded = None  # events of the profiler that runs
_context = None
_stream = SimpleNamespace(free_at_ns=0)
uint8 = "uint8"


def _call(name, *arguments):
    if code := getattr(_library, name)(*arguments):
        raise RuntimeError(f"{name}: CUDA error {code}")


def _use_gpu():
    global _context
    if _context is None:
        _context = ctypes.c_void_p()
        _call("cuInit", 0)
        _call("cuCtxCreate_v2", ctypes.byref(_context), 0, 0)


class _Tensor:
    def __init__(self, size):
        _use_gpu()
        self._pointer, self._size = ctypes.c_uint64(), size
        _call("cuMemAlloc_v2", ctypes.byref(self._pointer), ctypes.c_size_t(size))
        _reserved.now += size
        _reserved.peak = max(_reserved.peak, _reserved.now)

    def __del__(self):
        _library.cuMemFree_v2(self._pointer)
        _reserved.now -= self._size

    def square(self):
        _run("relu")
        return self

    def mean(self):
        return self

    def backward(self):
        _run("sgemm")


def empty(size, dtype, device):
    assert (dtype, device) == (uint8, "cuda")
    return _Tensor(size)


def rand(rows, columns, device):
    assert device == "cuda"
    return _Tensor(rows * columns * _FLOAT_BYTES)


def _run(kernel):
    duration_ns = _KERNEL_NS[kernel]
    parameter = ctypes.c_uint64(duration_ns)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(parameter))
    _call("cuLaunchKernel", ctypes.c_void_p(1), 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
    launched_ns = time.monotonic_ns()
    start_ns = max(launched_ns, _stream.free_at_ns)
    _stream.free_at_ns = start_ns + duration_ns
    if _recorded is not None:
        _recorded.append((kernel, launched_ns, start_ns, _stream.free_at_ns))


class _Module:
    def __init__(self, *layers):
        self._layers = layers

    def cuda(self):
        self._weights = _Tensor(sum(layer.size for layer in self._layers))
        return self

    def parameters(self):
        return [self._weights]

    def __call__(self, data):
        _run("sgemm")
        return data


class _Optimizer:
    def __init__(self, parameters, lr):
        pass

    def zero_grad(self):
        pass

    def step(self):
        _run("multi_tensor_apply")


nn = SimpleNamespace(Sequential=_Module, Linear=lambda inputs, outputs: SimpleNamespace(size=inputs * outputs * _FLOAT_BYTES))
optim = SimpleNamespace(SGD=_Optimizer)


def _synchronize():
    _call("cuCtxSynchronize")


def _reset_peak():
    _reserved.peak = _reserved.now


cuda = SimpleNamespace(
    is_available=lambda: True,
    synchronize=_synchronize,
    reset_peak_memory_stats=_reset_peak,
    max_memory_reserved=lambda: _reserved.peak,
    memory_reserved=lambda: _reserved.now,
    empty_cache=lambda: None,
    nvtx=SimpleNamespace(range_push=lambda name: 0, range_pop=lambda: 0),
)

from . import profiler  # noqa: E402, F401
