"""Notebooks and IPython: a report under every cell.

    from gpu_tracker.notebook import IPyGPULogger
    IPyGPULogger().start()

or `%load_ext gpu_tracker`, which also brings `%%gput` for one cell and `%gput` for a line. Options of both:

    --interval SECONDS   between two samples; default 0.001
    --compact            one line of text, as for every cell that used next to nothing
    --text               no HTML, only text
    --no-gc              do not collect garbage around the cell
    --no-preload         do not load the GPU context of frameworks before it

`%%gput_bench` runs a cell repeatedly, as %%timeit does, and says what it uses, with intervals. Lines `# --- NAME` split it into variants:

    %%gput_bench --runs 10
    data = list(range(10**6))
    # --- sorted
    sorted(data)
    # --- reversed
    sorted(data, reverse=True)

`%gput --off` ends the reports under every cell, so that only those with %%gput have one; `%gput --on` begins them again.
"""

from __future__ import annotations

import ast
import dis
import gc
import inspect
import re
import sys
import threading
import time
import typing

from ._frameworks import Frameworks
from ._meter import Meter
from ._nearest import question
from ._shown import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any
    from ._bench import BenchResult
    from ._meter import Memory, Usage

MIB = 2**20


def _figures_html(figures: Any) -> str:
    """For notebooks: a row for each figure."""
    from ._display import named_html

    return named_html(figures)


class Data(typing.NamedTuple):
    gen_mem_used_delta: int
    gen_mem_peaked: int
    gen_mem_used: int
    gpu_mem_used_delta: int | None  # None: there is no GPU
    gpu_mem_peaked: int | None
    gpu_mem_used: int | None
    time_delta: float

    def _repr_html_(self) -> str:
        return _figures_html(self)

    def __iter__(self) -> typing.Iterator[typing.Any]:
        """`cpu_mem, gpu_mem, time_data = il.data` has the form of later versions of ipygpulogger; all else the seven figures."""
        return iter(self._grouped()) if _unpacks_three(sys._getframe(1)) else tuple.__iter__(self)

    def _grouped(self) -> GroupedData:
        return GroupedData(MemoryData(*self[:3]), MemoryData(*self[3:6]), TimeData(self.time_delta))


def _unpacks_three(frame: FrameType) -> bool:
    """Whether the frame is at an assignment to three names."""
    opcode, argument = frame.f_code.co_code[frame.f_lasti :][:2]
    return opcode == _UNPACK_SEQUENCE and argument == 3


_UNPACK_SEQUENCE = dis.opmap["UNPACK_SEQUENCE"]


# The same in the form of later versions of ipygpulogger.
class MemoryData(typing.NamedTuple):
    used_delta: int | None
    peaked_delta: int | None
    used_total: int | None

    def _repr_html_(self) -> str:
        return _figures_html(self)


class TimeData(typing.NamedTuple):
    time_delta: float

    def _repr_html_(self) -> str:
        return _figures_html(self)


class GroupedData(typing.NamedTuple):
    cpu: MemoryData
    gpu: MemoryData
    time: TimeData

    def _repr_html_(self) -> str:
        return _figures_html(self)


def _mb(value: float | None) -> int | None:
    return None if value is None else round(value / MIB)


def _text_of(value: float | None) -> str:
    return "n/a" if value is None else str(value)


class CellReport:
    """What a cell used: as text, and as HTML with a small chart. No script in it."""

    def __init__(self, usage: Usage, number: int | None = None, compact: bool = False, grouped: bool = False, calm: bool = False) -> None:
        self.usage = usage
        self.number = number
        self.compact = compact
        self.grouped = grouped
        self.calm = calm  # one line of text, too, for a cell that used next to nothing

    @property
    def known_memories(self) -> list[tuple[str, Memory]]:
        """Those that are known, with their names."""
        named = [("RAM", self.usage.ram), ("GPU RAM", self.usage.gpu_ram)]
        if self.usage.why_no_gpu_ram:
            named.append(("GPU RAM of all", self.usage.device_ram))
        return [(name, memory) for name, memory in named if memory.used is not None]

    @property
    def moved(self) -> bool:
        """Whether the cell did anything to memory that is worth more than one line."""
        return any(abs(memory.consumed or 0) >= MIB or (memory.peaked or 0) >= MIB for _, memory in self.known_memories)

    def _memories(self) -> tuple[MemoryData, MemoryData]:
        ram, gpu = (
            MemoryData(_mb(memory.consumed), _mb(memory.peaked), _mb(memory.used)) for memory in (self.usage.ram, self.usage.gpu_ram)
        )
        return ram, gpu

    def _device(self) -> list[str]:
        memory = self.usage.device_ram
        return [_text_of(_mb(figure)) for figure in (memory.consumed, memory.peaked, memory.used)]

    @property
    def data(self) -> typing.Any:  # Data, or GroupedData
        """In MiB and seconds; None: not to be had."""
        ram, gpu = self._memories()
        if self.grouped:
            return GroupedData(ram, gpu, TimeData(self.usage.seconds))
        figures: Any = (*ram, *gpu, self.usage.seconds)
        return Data(*figures)

    def __str__(self) -> str:
        ram, gpu = ([_text_of(figure) for figure in memory] for memory in self._memories())
        why = self.usage.why_no_gpu_ram
        where = "" if self.compact or self.number is None else f" (In [{self.number}])"
        if self.compact or self.calm and not (self.moved or why):
            gpus = "n/a" if self.usage.gpu_ram.used is None else f"{'/'.join(gpu)} MiB{_age(self.usage.gpu_ram)}"
            if why:
                gpus += f" (all use: {'/'.join(self._device())} MiB{_age(self.usage.device_ram)})"
            gpus = f" | GPU: {gpus}" if self.usage.has_gpu else ""
            return f"CPU: {'/'.join(ram)} MiB{gpus} | Time {self.usage.seconds:.3f}s{where} | (Consumed/Peaked/Used Total)"
        label = "CPU" if self.grouped else "Gen"
        lines = [f"RAM: Consumed Peaked  Used Total  in {self.usage.seconds:.3f}s{where}"]
        # ipygpulogger, whose text this is, did not run without a GPU.
        rows = [(label, ram), ("GPU", gpu)] if self.usage.has_gpu else [(label, ram)]
        lines += [f"{name}:{row[0]:>9}{row[1]:>7}{row[2]:>7} MiB" for name, row in rows]
        lines[-1] += _age(self.usage.gpu_ram)
        if why:
            device = self._device()
            lines.append(f"All:{device[0]:>9}{device[1]:>7}{device[2]:>7} MiB{_age(self.usage.device_ram)}  use of the GPUs by any process; of this process: {why}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from ._cell_html import html

        return {"text/plain": str(self), "text/html": html(self)}


def _age(memory: Memory) -> str:
    """What is said of GPU RAM when the driver did not answer at the end of the cell; "": it did."""
    return f" (the driver's answer of {memory.age_seconds:.3f} s before the end)" if memory.age_seconds > 0 else ""


class Options:
    """The options of a magic's line; `rest` is the statement after them."""

    def __init__(self, line: str = "") -> None:
        self.interval, self.compact, self.html, self.gc_collect, self.preload = 0.001, False, True, True, True
        self.grouped = False
        self.calm = True
        while line.lstrip().startswith("--"):
            word, _, line = line.lstrip().partition(" ")
            if word == "--interval":
                value, _, line = line.lstrip().partition(" ")
                self.interval = _seconds(value)
            elif word.startswith("--interval="):
                self.interval = _seconds(word.partition("=")[2])
            elif word == "--compact":
                self.compact = True
            elif word == "--text":
                self.html = False
            elif word == "--no-gc":
                self.gc_collect = False
            elif word == "--no-preload":
                self.preload = False
            else:
                raise _usage_error(f'gput: "{word}" is not an option{question(_OPTIONS, word)} Options are {", ".join(_OPTIONS)}')
        self.rest = line.strip()

    @classmethod
    def of_cell(cls, line: str = "") -> Options:
        """Those of a line %%gput, which has no statement."""
        options = cls(line)
        if options.rest:
            raise _usage_error(f'gput: "{options.rest}" is not an option. The code to run goes below the line %%gput')
        return options


# --on and --off stand alone on a line %gput.
_OPTIONS = "--interval", "--compact", "--text", "--no-gc", "--no-preload", "--on", "--off"


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0.001 <= seconds < float("inf"):
        raise _usage_error(f'gput: --interval takes seconds, 0.001 or more, not "{word}"') from None
    return seconds


def _usage_error(message: str) -> Exception:
    from IPython.core.error import UsageError

    return UsageError(message)


class _OwnTime(threading.local):
    """Wall and CPU seconds that reports have taken in this thread. A cell around others, or one with two reports, is not
    to be charged for them."""

    def __init__(self) -> None:
        self.spent = (0.0, 0.0)
        self._since: list[tuple[float, float, tuple[float, float]]] = []

    def __enter__(self) -> None:
        self._since.append((time.perf_counter(), time.thread_time(), self.spent))

    def __exit__(self, *exception: object) -> None:
        wall, cpu, before = self._since.pop()
        # All of it at once: what was spent within is part of it.
        self.spent = (before[0] + time.perf_counter() - wall, before[1] + time.thread_time() - cpu)


class _CellMeter:
    """Measures one cell: collects garbage and releases caches on both sides, where asked to."""

    _frameworks = Frameworks()
    own_time = _OwnTime()

    def __init__(self, options: Options) -> None:
        self._options = options
        self._meter = Meter(options.interval)

    def _clean_up(self) -> None:
        if self._options.gc_collect:
            gc.collect()
            self._frameworks.release()

    def start(self) -> _CellMeter:
        with self.own_time:
            if self._options.preload:
                self._frameworks.preload()
            self._clean_up()
            self._meter.start()
        self._spent_before = self.own_time.spent
        return self

    def stop(self, number: int | None = None) -> CellReport | None:
        """The report; None in a forked child."""
        wall, cpu = (now - before for now, before in zip(self.own_time.spent, self._spent_before))
        with self.own_time:
            usage = self._meter.stop(self._clean_up, (wall, cpu))
        return None if usage is None else CellReport(usage, number, self._options.compact, self._options.grouped, self._options.calm)


class _RunningCells:
    """What is kept of each cell under way. A cell may run others, and Jupyter several in threads of their own."""

    def __init__(self) -> None:
        self._cells: list[tuple[int, Any, Any]] = []

    def begin(self, info: Any, kept: Any) -> None:
        self._cells.append((threading.get_ident(), info, kept))

    def end(self, result: Any) -> Any:
        """What was kept of the cell that has ended; None: its begin was not seen. Cells within it that were broken off
        are forgotten."""
        info = getattr(result, "info", None)
        here = [cell for cell in self._cells if cell[0] == threading.get_ident()]
        for i in reversed(range(len(here))):
            # One that was interrupted at its begin is announced by an info of its own.
            if info is None or here[i][1] is info or getattr(here[i][1], "raw_cell", None) == info.raw_cell:
                ended = {id(cell) for cell in here[i:]}
                self._cells = [cell for cell in self._cells if id(cell) not in ended]
                return here[i][2]
        return None

    def clear(self) -> None:
        self._cells = []


def _number_of(result: Any) -> int | None:
    """The number in In [n]; None: a cell that another runs has no number of its own."""
    is_kept = getattr(getattr(result, "info", None), "store_history", False)
    return result.execution_count if is_kept else None


def _is_captured(shell: Any) -> bool:
    """Whether %%capture holds what is shown. As its variable's text it has only what was printed."""
    from IPython.core.displaypub import CapturingDisplayPublisher

    return isinstance(shell.display_pub, CapturingDisplayPublisher)


def _show(shell: Any, report: CellReport, rich: bool) -> None:
    """Under the cell in a notebook, as text in a terminal and below %%capture."""
    with _CellMeter.own_time:
        if rich and getattr(shell, "kernel", None) is not None and not _is_captured(shell):
            from IPython.display import display

            show: Callable[[object], object] = display
            show(report)
        else:
            print(report, flush=True)


# The logger that reports under every cell of a shell, by the shell's id.
_reporting: dict[int, IPyGPULogger] = {}


class IPyGPULogger(Shown):
    """Prints a report after each cell. Of several loggers the one that was started last does; it stops the one before.

    compact: one line a cell.
    gc_collect: collect garbage and release the caches of frameworks before memory is read. Without it, memory that is only
        waiting to be collected counts as used: for finding leaks.
    interval: seconds between two samples.
    html: in notebooks, a table and a chart in addition to the text.
    preload: load the GPU context of a framework in the cell after its import, so that it is charged to none. Without it,
        cells can still configure the framework (visible devices, memory growth) before they first use it.
    grouped: the form of later versions of ipygpulogger: the label "CPU" in place of "Gen", and `data` that unpacks into
        `cpu_mem, gpu_mem, time_data`, the first two being (used_delta, peaked_delta, used_total), the third (time_delta,).

    `data` is that of the last cell, None before it.
    """

    data: typing.Any  # Data, or GroupedData of a grouped logger
    report: CellReport  # likewise None before the first cell

    def __init__(
        self,
        compact: bool = False,
        gc_collect: bool = True,
        interval: float = 0.001,
        html: bool = True,
        preload: bool = True,
        grouped: bool = False,
    ) -> None:
        if not interval >= 0.001:
            raise ValueError(f"The interval is {interval} seconds; it is at least 0.001.")
        self.options = Options()
        self.options.compact, self.options.gc_collect, self.options.preload = compact, gc_collect, preload
        self.options.interval, self.options.html, self.options.grouped = interval, html, grouped
        self.options.calm = False  # the text of ipygpulogger, as programs and people know it
        self.data = None
        vars(self)["report"] = None  # which types need not check for
        self._meters = _RunningCells()
        self._shell = None

    def _facts(self) -> list[tuple[str, str]]:
        reports = "stopped" if self._shell is None else "under every cell"
        last = "none yet" if self.report is None else str(self.report).splitlines()[0]
        return [("reports", reports), ("last", last), ("samples every", f"{self.options.interval:g} s")]

    def start(self) -> IPyGPULogger:
        if self._shell is not None:
            return self
        from IPython import get_ipython

        shell = get_ipython()
        if shell is None:
            raise RuntimeError("The logger needs IPython or Jupyter. In a program, use gpu_tracker.Tracker.")
        earlier = _reporting.get(id(shell))
        if earlier is not None:
            earlier.stop()
        if self.options.preload:
            _CellMeter._frameworks.preload()
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)
        self._shell = shell
        _reporting[id(shell)] = self
        return self

    def stop(self) -> None:
        if self._shell is None:
            return
        del _reporting[id(self._shell)]
        self._shell.events.unregister("pre_run_cell", self._before)
        self._shell.events.unregister("post_run_cell", self._after)
        self._meters.clear()
        self._shell = None

    def _before(self, info: Any = None) -> None:
        self._meters.begin(info, _CellMeter(self.options).start())

    def _after(self, result: Any = None) -> None:
        meter = self._meters.end(result)  # None: the cell that started the logger
        report = meter and meter.stop(_number_of(result))
        if report:
            self.report, self.data = report, report.data
            _show(self._shell, report, self.options.html)


class _SessionLogger(IPyGPULogger):
    """The one that %load_ext starts. A cell with %%gput has its report from that, with its options."""

    def __init__(self) -> None:
        super().__init__()
        self.options.calm = True

    def _before(self, info: Any = None) -> None:
        if _options_of(info):
            self._meters.begin(info, None)
        else:
            super()._before(info)


class _Magics:
    """%gput, %%gput, and the logger that %load_ext starts.

    A cell that begins with %%gput is run as if that line were not there, so that await, errors and line numbers are as usual.
    Only where that line is wrong, and for programs that call it, is it a magic like others.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells = _RunningCells()
        self.logger = _SessionLogger()

    def load(self) -> None:
        shell = self._shell
        shell.register_magic_function(self.line, "line", "gput")
        shell.register_magic_function(self.cell, "cell", "gput")
        shell.register_magic_function(self.bench, "cell", "gput_bench")
        shell.input_transformers_cleanup.append(_strip_magic)
        shell.input_transformers_post.append(self._await_lines)
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)
        self.logger.start()

    def unload(self) -> None:
        shell = self._shell
        self.logger.stop()
        shell.events.unregister("pre_run_cell", self._before)
        shell.events.unregister("post_run_cell", self._after)
        shell.input_transformers_cleanup.remove(_strip_magic)
        shell.input_transformers_post.remove(self._await_lines)
        for kind in "line", "cell":
            shell.magics_manager.magics[kind].pop("gput", None)
        shell.magics_manager.magics["cell"].pop("gput_bench", None)

    def _before(self, info: Any = None) -> None:
        options = _options_of(info)
        if options:
            self._cells.begin(info, (options, _CellMeter(options).start()))

    def _after(self, result: Any = None) -> None:
        cell = self._cells.end(result)
        if cell:
            options, meter = cell
            self._present(options, meter.stop(_number_of(result)))

    def _present(self, options: Options, report: CellReport | None) -> None:
        if report is not None:
            self.logger.report, self.logger.data = report, report.data
            _show(self._shell, report, options.html)

    def cell(self, line: str, cell: str) -> None:
        cell = f"%%gput {line}\n{cell}"
        _find_magic(cell.splitlines())
        self._shell.run_cell(cell).raise_error()

    def bench(self, line: str, cell: str) -> BenchResult:
        """%%gput_bench [--runs N] [--max-time SECONDS] [--number N]: the cell again and again, beside %%timeit. Lines `# --- NAME` split it into
        variants, of which the first is compared with the others. What comes before the first such line runs once."""
        from ._bench import bench_cell

        return bench_cell(self._shell, line, cell)

    def line(self, line: str, local_ns: dict[str, Any] | None = None) -> Any:
        """%gput STATEMENT: what it used; gives the value of an expression. With an await in it: a coroutine that does so.
        %gput --off: no report under every cell any more, only under those with %%gput. %gput --on: again."""
        switch = {"--on": self.logger.start, "--off": self.logger.stop}.get(line.strip())
        if switch:
            switch()
            return None
        options, code = self._parse_line(line)
        if code.co_flags & inspect.CO_COROUTINE:
            return self._await(options, code, local_ns)
        meter = _CellMeter(options).start()
        try:
            return eval(code, self._shell.user_ns, local_ns)
        finally:
            self._present(options, meter.stop())

    line.__dict__["needs_local_scope"] = True  # IPython then hands over the names of the function that contains the line

    async def _await(self, options: Options, code: CodeType, local_ns: dict[str, Any] | None) -> Any:
        meter = _CellMeter(options).start()
        try:
            return await eval(code, self._shell.user_ns, local_ns)
        finally:
            self._present(options, meter.stop())

    def _parse_line(self, line: str) -> tuple[Options, CodeType]:
        options = Options(line)
        return options, _compile(self._shell.transform_cell(options.rest))

    def _await_lines(self, lines: list[str]) -> list[str]:
        """An input transformer: has the call that a line %gput became awaited where its statement awaits, by the cell or
        function that it stands in. Only they can: a notebook's event loop is running already."""

        def awaited(call: re.Match[str]) -> str:
            from IPython.core.error import UsageError

            try:
                _, code = self._parse_line(ast.literal_eval(call[1]))
            except (SyntaxError, UsageError):  # the magic reports it
                return call[0]
            return f"(await {call[0]})" if code.co_flags & inspect.CO_COROUTINE else call[0]

        return [_LINE_CALL.sub(awaited, line) if "await" in line else line for line in lines]


# What IPython makes of a line %gput.
_LINE_CALL = re.compile(r"""get_ipython\(\)\.run_line_magic\('gput', ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)""")


def _compile(code: str) -> CodeType:
    compiled: CodeType
    try:
        compiled = compile(code, "<gput>", "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError:
        compiled = compile(code, "<gput>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return compiled


# Below these %%gput counts too: they run the cell below them as Python.
_PYTHON_MAGICS = {"%%capture", "%%debug", "%%prun", "%%time", "%%timeit"}


def _find_magic(lines: list[str]) -> tuple[list[int], Options | None]:
    """Which lines %%gput are among the magics at the top of a cell, and the options of all together; None: there is none."""
    found, options = [], []
    for at, line in enumerate(lines):
        first, *rest = line.strip().split(None, 1) or [""]
        if first == "%%gput":
            found.append(at)
            options += rest
        elif first and first not in _PYTHON_MAGICS:
            break
    return found, Options.of_cell(" ".join(options)) if found else None


def _options_of(info: Any) -> Options | None:
    """Those of the %%gput of a cell that is about to run; None: it has none, or wrong ones."""
    from IPython.core.error import UsageError

    try:
        return _find_magic((getattr(info, "raw_cell", None) or "").splitlines())[1]
    except UsageError:
        return None


def _strip_magic(lines: list[str]) -> list[str]:
    """An input transformer: takes those lines out, and leaves empty ones so that line numbers stay. A magic of the whole
    cell that follows has to come first. Wrong options are left to the magic, which says so and does not run the cell."""
    from IPython.core.error import UsageError

    try:
        found, _ = _find_magic(lines)
    except UsageError:
        return lines
    lines = ["\n" if at in found else line for at, line in enumerate(lines)]
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    return lines[first:] if found and lines[first].startswith("%%") else lines


_loaded: dict[int, _Magics] = {}


def load_ipython_extension(shell: object) -> None:
    if id(shell) not in _loaded:
        _loaded[id(shell)] = _Magics(shell)
        _loaded[id(shell)].load()


def unload_ipython_extension(shell: object) -> None:
    magics = _loaded.pop(id(shell), None)
    if magics:
        magics.unload()
