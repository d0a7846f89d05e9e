"""`pytest --gput`: what each test used, and limits on it.

    @pytest.mark.gput_limit(ram="500 MB", gpu_ram="2 GB", seconds=10)
    def test_training(): ...

A limit counts also without --gput. `ram` and `gpu_ram` are the most that the test needed on top of what was in use when it
began, by pytest's process and its descendants; `seconds` is wall time. Only the test itself counts, not its fixtures.

The ten largest are shown, sorted by RAM: --gput-top, --gput-sort. What measuring itself takes is not counted.

Figures travel with the test's report (its user_properties): from the processes of pytest-xdist, and to a JUnit file. One
that is not known is not there.
"""

from __future__ import annotations

import argparse
import functools
import re

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from ._bench import BenchResult
    from ._meter import Memory
    from typing import Any

_UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SHORTEST = 0.001  # interval, in seconds
_LIMITS = ("ram", "gpu_ram", "seconds")
_SORTED_BY = {"ram": "gput_ram_bytes", "gpu-ram": "gput_gpu_ram_bytes", "cpu": "gput_cpu_seconds", "time": "gput_seconds"}


def _count(text: str) -> int | None:
    """How many tests to show; None: all."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'{text!r} is neither a number of tests nor "all"')
    return int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gput", "resources that tests use")
    group.addoption("--gput", action="store_true", help="report RAM peak, CPU, GPU RAM and time of each test")
    group.addoption("--gput-interval", type=float, default=0.001, metavar="SECONDS", help="between two samples (0.001)")
    group.addoption(
        "--gput-top", type=_count, default=10, metavar="N", help='how many of the largest tests to show, or "all" (10)'
    )
    group.addoption("--gput-sort", choices=_SORTED_BY, default="ram", help="what the largest have most of (ram)")

    group.addoption("--gput-baseline", default=None, metavar="FILE", help="compare what gput_bench measures with this file, which is written where it is not there")
    group.addoption("--gput-fail-if", action="append", default=[], metavar="RULE", help="fail a test with gput_bench for a rule such as 'ram > +5%%'")


@pytest.fixture
def gput_bench(request: pytest.FixtureRequest) -> Callable[..., BenchResult]:
    """Runs functions or commands repeatedly: gput_bench(function, runs=10) gives a BenchResult.

    With --gput-baseline FILE each is compared with the test's runs in that file. Those that it lacks are added, so that the first
    run makes it. --gput-fail-if 'ram > +5%' fails the test where the rule holds.
    """
    from ._bench import bench_of_test

    option = request.config.getoption
    return functools.partial(bench_of_test, request.node.nodeid, option("--gput-baseline"), option("--gput-fail-if"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        'gput_limit(ram="500 MB", gpu_ram="2 GB", seconds=10): fail the test when it uses more than that',
    )
    interval = config.getoption("--gput-interval")
    if not _SHORTEST <= interval < float("inf"):
        raise pytest.UsageError(f"--gput-interval={interval:g} is not an interval; it is a number of seconds, {_SHORTEST} or more")
    if config.getoption("--gput") and not hasattr(config, "workerinput"):
        top, sort = config.getoption("--gput-top"), config.getoption("--gput-sort")
        config.pluginmanager.register(_Table(top, _SORTED_BY[sort]), "gput-table")


def _size(value: Any) -> float:
    """Bytes out of 500000, "500 MB", "1.5GiB"."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    match = re.fullmatch(r"\s*([\d.]+)\s*([A-Za-z]*)\s*", str(value))
    try:
        number, unit = match.groups() if match else ("", "")
        return float(number) * _UNITS[unit.upper()]
    except (KeyError, ValueError):
        raise ValueError(f'{value!r} is not a size; write "500 MB" or a number of bytes') from None


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{value!r} is not a number of seconds")
    return seconds


def _limits_of(item: pytest.Item) -> dict[str, float]:
    limits: dict[str, float] = {}
    for marker in item.iter_markers("gput_limit"):
        unknown = set(marker.kwargs) - set(_LIMITS)
        if marker.args or unknown:
            raise ValueError(f"it takes only {', '.join(_LIMITS)}, by name")
        for name, value in marker.kwargs.items():
            # The closest marker comes first and wins.
            limits.setdefault(name, (_seconds if name == "seconds" else _size)(value))
    return limits


def _limits_or_failure(item: pytest.Item) -> dict[str, float]:
    try:
        return _limits_of(item)
    except ValueError as error:
        message = f"gput_limit: {error}"
    pytest.fail(message, pytrace=False)


def _grown(memory: Memory) -> float | None:
    """The most on top of the begin; None: not to be had, as where the driver has not answered since."""
    if memory.peak is None or memory.used is None or memory.consumed is None or memory.age_seconds > 0:
        return None
    return memory.peak - (memory.used - memory.consumed)


def _most_grown(memory: Memory) -> float | None:
    """The same at most; None: no upper bound is known."""
    if memory.used is None or memory.consumed is None or memory.peak_at_most is None:
        return None
    return memory.peak_at_most - (memory.used - memory.consumed)


def _mb(value: float | None) -> str:
    return "n/a" if value is None else f"{value / 1e6:.1f} MB"


@functools.cache
def _own_cpu_seconds(interval: float) -> float:
    """CPU time that starting and stopping to measure takes: that of an interval with nothing in it."""
    from ._meter import Meter

    usages = [Meter(interval).start().stop() for _ in range(3)]
    return min(usage.cpu_seconds or 0.0 for usage in usages if usage)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    limits = _limits_or_failure(item)
    if not limits and not item.config.getoption("--gput"):
        yield
        return
    from ._meter import Meter

    interval = item.config.getoption("--gput-interval")
    own = _own_cpu_seconds(interval)
    meter = Meter(interval).start()
    outcome = yield
    usage = meter.stop(excluded=(0.0, own))
    if usage is None:  # a forked child
        return
    cpu_seconds = usage.cpu_seconds
    if cpu_seconds is not None and usage.own_cpu_seconds is not None:
        cpu_seconds = min(cpu_seconds, usage.own_cpu_seconds)
    figures = {"ram": _grown(usage.ram), "gpu_ram": _grown(usage.gpu_ram), "seconds": usage.seconds}
    item.user_properties += _properties(figures | {"cpu_seconds": cpu_seconds})
    if not usage.has_gpu and not usage.why_no_gpu:  # what there is none of passes no limit
        limits.pop("gpu_ram", None)
    why = usage.why_no_gpu_ram or usage.why_no_gpu
    if why is None and usage.gpu_ram.age_seconds > 0:
        why = f"the driver has not answered for {usage.gpu_ram.age_seconds:.2f} s"
    if why:
        item.user_properties.append(("gput_no_gpu_ram", why))
    gpu_ram: dict[str, Any] = {"why": why, "at_most": _most_grown(usage.gpu_ram)}
    found = (_problem(name, figures[name], limit, **(gpu_ram if name == "gpu_ram" else {})) for name, limit in limits.items())
    problems = [problem for problem in found if problem]
    if problems and outcome.excinfo is None:
        outcome.force_exception(pytest.fail.Exception("gput_limit: " + "; ".join(problems), pytrace=False))


def _properties(figures: Mapping[str, float | None]) -> Iterator[tuple[str, object]]:
    """Those that are known, as names and values: whole bytes, microseconds."""
    for name, value in figures.items():
        if value is not None:
            yield (f"gput_{name}", round(value, 6)) if name.endswith("seconds") else (f"gput_{name}_bytes", round(value))


def _problem(name: str, figure: float | None, limit: float, why: str | None = None, at_most: float | None = None) -> str | None:
    """`why` there is no figure; `at_most`: the figure may be as high as that."""
    if figure is None:
        return f"{name} cannot be measured on this machine" + (f": {why}" if why else "")
    if figure <= limit and at_most is not None and at_most > limit:
        return f"it needed {_mb(figure)} to {_mb(at_most)} of {name.replace('_', ' ').upper()}, and its limit is {_mb(limit)}"
    if figure <= limit:
        return None
    if name == "seconds":
        return f"it took {figure:.3f} s, and its limit is {limit:g} s"
    return f"it needed {_mb(figure)} of {name.replace('_', ' ').upper()}, and its limit is {_mb(limit)}"


class _Table:
    """What the largest tests used, at the end. Of one that was run again, the last time."""

    def __init__(self, top: int | None, key: str) -> None:
        self._top, self._key = top, key
        self._rows: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        figures = dict(report.user_properties)
        if report.when == "call" and "gput_seconds" in figures:
            self._rows[report.nodeid] = figures

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self._rows:
            return
        terminalreporter.section("resources (gput)")
        table = [("RAM peak", "GPU RAM", "CPU", "time", "test")]
        largest = sorted(self._rows.items(), key=lambda row: row[1].get(self._key, -1.0), reverse=True)[: self._top]
        for name, figures in largest:
            cpu_seconds = figures.get("gput_cpu_seconds")
            cpu = "n/a" if cpu_seconds is None else f"{cpu_seconds:.3f} s"
            sizes = _mb(figures.get("gput_ram_bytes")), _mb(figures.get("gput_gpu_ram_bytes"))
            table.append((*sizes, cpu, f"{figures['gput_seconds']:.3f} s", name))
        widths = [max(len(row[i]) for row in table) for i in range(4)]
        for row in table:
            terminalreporter.line("  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths)) + f"  {row[4]}")
        if len(largest) < len(self._rows):
            terminalreporter.line(f"{len(self._rows) - len(largest)} more tests (--gput-top all)")
        for why in sorted({figures["gput_no_gpu_ram"] for figures in self._rows.values() if "gput_no_gpu_ram" in figures}):
            terminalreporter.line(f"GPU RAM n/a: {why}")
