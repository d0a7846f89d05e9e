"""Notebooks and IPython: a report under every cell.

    from gpu_tracker.notebook import IPyGPULogger
    IPyGPULogger().start()

or `%load_ext gpu_tracker`, which also brings `%%gput` for one cell and `%gput` for a line. Options of both:

    --interval SECONDS   between two samples; default 0.001
    --compact            one line of text
    --text               no HTML beside the text
    --no-gc              do not collect garbage around the cell
"""

import collections
import gc

from ._frameworks import Frameworks
from ._meter import Meter

MB = 2**20

Data = collections.namedtuple(
    "Data",
    "gen_mem_used_delta gen_mem_peaked gen_mem_used gpu_mem_used_delta gpu_mem_peaked gpu_mem_used time_delta",
)


def _mb(value):
    return None if value is None else round(value / MB)


def _text_of(value):
    return "n/a" if value is None else str(value)


class CellReport:
    """What a cell used: as text, and as HTML with a small chart. No script in it."""

    def __init__(self, usage, number=None, compact=False):
        self.usage = usage
        self.number = number
        self.compact = compact

    @property
    def data(self):
        """In MB of 2**20 bytes and seconds; None: not to be had."""
        memories = self.usage.ram, self.usage.gpu_ram
        figures = [_mb(figure) for memory in memories for figure in (memory.consumed, memory.peaked, memory.used)]
        return Data(*figures, self.usage.seconds)

    def __str__(self):
        figures = [_text_of(figure) for figure in self.data[:6]]
        ram, gpu = figures[:3], figures[3:]
        if self.compact:
            return (
                f"CPU: {'/'.join(ram)} MB | GPU: {'/'.join(gpu)} MB | Time {self.usage.seconds:.3f}s | "
                "(Consumed/Peaked/Used Total)"
            )
        where = "" if self.number is None else f" (In [{self.number}])"
        lines = [f"RAM: Consumed Peaked  Used Total  in {self.usage.seconds:.3f}s{where}"]
        lines += [f"{name}:{row[0]:>9}{row[1]:>7}{row[2]:>7} MB" for name, row in (("Gen", ram), ("GPU", gpu))]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_mimebundle_(self, include=None, exclude=None):
        from ._cell_html import html

        return {"text/plain": str(self), "text/html": html(self)}


class Options:
    def __init__(self, line=""):
        self.interval, self.compact, self.html, self.gc_collect, self.rest = 0.001, False, True, True, ""
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
            else:
                raise _usage_error(f'gput: "{word}" is no option. Options are --interval, --compact, --text, --no-gc')
        self.rest = line.strip()


def _seconds(word):
    try:
        return float(word)
    except ValueError:
        raise _usage_error(f'gput: --interval takes seconds, not "{word}"') from None


def _usage_error(message):
    from IPython.core.error import UsageError

    return UsageError(message)


class _CellMeter:
    """Measures one cell: collects garbage and releases caches on both sides, where asked to."""

    _frameworks = Frameworks()

    def __init__(self, options):
        self._options = options
        self._meter = Meter(options.interval)

    def _settle(self):
        if self._options.gc_collect:
            gc.collect()
            self._frameworks.release()

    def start(self):
        self._frameworks.preload()
        self._settle()
        self._meter.start()
        return self

    def stop(self, number=None):
        """The report; None in a forked child."""
        usage = self._meter.stop(self._settle)
        return None if usage is None else CellReport(usage, number, self._options.compact)


def _show(shell, report, rich):
    """Under the cell in a notebook, as text in a terminal."""
    if rich and getattr(shell, "kernel", None) is not None:
        from IPython.display import display

        display(report)
    else:
        print(report, flush=True)


class IPyGPULogger:
    """Prints a report after each cell.

    compact: one line a cell.
    gc_collect: collect garbage and release the caches of frameworks before memory is read. Without it, memory that is only
        waiting to be collected counts as used: for finding leaks.
    interval: seconds between two samples.
    html: in notebooks, a table and a chart beside the text.

    `data` is that of the last cell.
    """

    def __init__(self, compact=False, gc_collect=True, interval=0.001, html=True):
        self.options = Options()
        self.options.compact, self.options.gc_collect = compact, gc_collect
        self.options.interval, self.options.html = interval, html
        self.data = None
        self.report = None
        self._meters = []  # of the cells under way: a cell may run others
        self._shell = None

    def start(self):
        if self._shell is not None:
            return self
        from IPython import get_ipython

        shell = get_ipython()
        if shell is None:
            raise RuntimeError("The logger needs IPython or Jupyter. In a program, use gpu_tracker.Tracker.")
        _CellMeter._frameworks.preload()
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)
        self._shell = shell
        return self

    def stop(self):
        if self._shell is None:
            return
        self._shell.events.unregister("pre_run_cell", self._before)
        self._shell.events.unregister("post_run_cell", self._after)
        self._meters.clear()
        self._shell = None

    def _before(self, info=None):
        self._meters.append(_CellMeter(self.options).start())

    def _after(self, result=None):
        if not self._meters:  # the cell that started us
            return
        report = self._meters.pop().stop(getattr(result, "execution_count", None))
        if report is not None:
            self.report, self.data = report, report.data
            _show(self._shell, report, self.options.html)


class _Magics:
    """%gput, %%gput, and the logger that %load_ext starts.

    A cell that begins with %%gput is run as if that line were not there, so that await, errors and line numbers are as ever;
    only where another magic comes first is it a magic like others.
    """

    def __init__(self, shell):
        self._shell = shell
        self._pending = []
        self.logger = IPyGPULogger()

    def load(self):
        shell = self._shell
        shell.register_magic_function(self.line, "line", "gput")
        shell.register_magic_function(self.cell, "cell", "gput")
        shell.input_transformers_cleanup.append(_strip_magic)
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)
        self.logger.start()

    def unload(self):
        shell = self._shell
        self.logger.stop()
        shell.events.unregister("pre_run_cell", self._before)
        shell.events.unregister("post_run_cell", self._after)
        shell.input_transformers_cleanup.remove(_strip_magic)
        for kind in "line", "cell":
            shell.magics_manager.magics[kind].pop("gput", None)

    def _before(self, info=None):
        line = _magic_line(getattr(info, "raw_cell", None) or "")
        meter = options = None
        if line is not None:
            try:
                options = Options(line)
                meter = _CellMeter(options).start()
            finally:
                self._pending.append((options, meter))
        else:
            self._pending.append((None, None))

    def _after(self, result=None):
        options, meter = self._pending.pop() if self._pending else (None, None)
        if meter is not None:
            self._tell(options, meter.stop(getattr(result, "execution_count", None)))

    def _tell(self, options, report):
        if report is not None:
            self.logger.report, self.logger.data = report, report.data
            _show(self._shell, report, options.html)

    def cell(self, line, cell):
        options = Options(line)
        meter = _CellMeter(options).start()
        try:
            self._shell.run_cell(cell)
        finally:
            self._tell(options, meter.stop())

    def line(self, line):
        """%gput STATEMENT: what it used."""
        options = Options(line)
        code = self._shell.transform_cell(options.rest)
        names = self._shell.user_ns
        meter = _CellMeter(options).start()
        value = None
        try:
            try:
                expression = compile(code, "<gput>", "eval")
            except SyntaxError:
                exec(compile(code, "<gput>", "exec"), names)
            else:
                value = eval(expression, names)
        finally:
            self._tell(options, meter.stop())
        return value


def _magic_line(cell):
    """What follows %%gput on the first line of a cell that begins with it; None in others."""
    first = cell.lstrip().partition("\n")[0].strip()
    words = first.split(None, 1)
    if not words or words[0] != "%%gput":
        return None
    return words[1] if len(words) > 1 else ""


def _strip_magic(lines):
    """An input transformer: takes that line out, and leaves an empty one so that line numbers stay."""
    if _magic_line("".join(lines)) is None:
        return lines
    lines = list(lines)
    for i, line in enumerate(lines):
        if line.strip():
            lines[i] = "\n"
            break
    return lines


_loaded = {}


def load_ipython_extension(shell):
    if id(shell) not in _loaded:
        _loaded[id(shell)] = _Magics(shell)
        _loaded[id(shell)].load()


def unload_ipython_extension(shell):
    magics = _loaded.pop(id(shell), None)
    if magics:
        magics.unload()
