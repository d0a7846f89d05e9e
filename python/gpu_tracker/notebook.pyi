from typing import Any, NamedTuple

class Data(NamedTuple):
    gen_mem_used_delta: int
    gen_mem_peaked: int
    gen_mem_used: int
    gpu_mem_used_delta: int | None  # None: there is no GPU
    gpu_mem_peaked: int | None
    gpu_mem_used: int | None
    time_delta: float

class MemoryData(NamedTuple):
    used_delta: int | None  # None: there is no GPU
    peaked_delta: int | None
    used_total: int | None

class TimeData(NamedTuple):
    time_delta: float

class GroupedData(NamedTuple):
    cpu: MemoryData
    gpu: MemoryData
    time: TimeData

class CellReport:
    number: int | None
    compact: bool
    grouped: bool
    @property
    def data(self) -> Any: ...  # Data, or GroupedData

class IPyGPULogger:
    data: Any  # Data, or GroupedData of a grouped logger; None before the first cell
    report: CellReport  # likewise
    def __init__(
        self,
        compact: bool = False,
        gc_collect: bool = True,
        interval: float = 0.001,
        html: bool = True,
        preload: bool = True,
        grouped: bool = False,
    ) -> None: ...
    def start(self) -> IPyGPULogger: ...
    def stop(self) -> None: ...

def load_ipython_extension(shell: Any) -> None: ...
def unload_ipython_extension(shell: Any) -> None: ...
