"""Benchmarks: functions or commands that run repeatedly, and what differs between them."""

from __future__ import annotations

import functools
import gc
import html
import json
import math
import os
import re
import tempfile
import time

from . import _native
from ._messages import log_warnings
from ._nearest import explains_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from typing import Any

    _Path = str | PathLike[str]
    _Subject = Callable[[], Any] | str | Sequence[str]

_LONG_ENOUGH = 0.02  # seconds of a run: one of fewer is mostly what measuring it costs
_TOO_LONG = 0.5
_FORMATS = {".json": "json", ".csv": "csv", ".md": "markdown", ".adoc": "asciidoc", ".html": "html", ".txt": "text"}


class BenchResult:
    """What a benchmark found. Printed, it is the table of `gpu-tracker bench`; in a notebook one with a row for each figure.

    data: everything, as `gpu-tracker bench -o x.json` writes it. variants: a dictionary for each, with the mean, interval and spread
    of each figure. comparisons: with the first variant, figure by figure, with a verdict ("less", "more", "same", "perhaps",
    "too_noisy", "unknown") and its words. runs: each run in its order.
    """

    def __init__(self, native: _native.Bench) -> None:
        self._native = native
        self.data: dict[str, Any] = json.loads(native.render("json"))
        self.variants: list[dict[str, Any]] = self.data["variants"]
        self.comparisons: list[dict[str, Any]] = self.data["comparisons"]
        self.runs: list[dict[str, Any]] = self.data["runs"]

    def __str__(self) -> str:
        return self._native.render("text")

    def __repr__(self) -> str:
        return f"<BenchResult of {len(self.variants)} variants, {len(self.runs)} runs>"

    def __getitem__(self, name: str) -> dict[str, Any]:
        """The figures of a variant: result["new"]["wall_seconds"]["mean"]."""
        for variant in self.variants:
            if variant["name"] == name:
                figures: dict[str, Any] = variant["figures"]
                return figures
        raise KeyError(name)

    def details(self) -> str:
        """The text with all figures, and why others are missing."""
        return self._native.render("text", True)

    def check(self, rule: str) -> str | None:
        """A sentence where a rule holds, such as "ram > +5%" or "wall > 2.5"; None where it does not. Raises ValueError for a rule
        that is none, RuntimeError for one that meets no figure."""
        return self._native.check(rule)

    def save(self, path: _Path, format: str | None = None) -> None:
        """Writes a file: .json (for `baseline`), .csv, .md, .adoc, .html, .txt. format: also "hyperfine" and "bencher"."""
        path = os.fspath(path)
        _native.write_file(path, self._native.render(format or _FORMATS.get(os.path.splitext(path)[1], "text")).encode())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _name_of(subject: _Subject) -> str:
    if callable(subject):
        return getattr(subject, "__name__", None) or repr(subject)
    return subject if isinstance(subject, str) else " ".join(subject)


def _named(subjects: Sequence[_Subject | Mapping[str, _Subject]]) -> dict[str, _Subject]:
    named: dict[str, _Subject] = {}
    for subject in subjects:
        pairs = subject.items() if hasattr(subject, "items") else [(_name_of(subject), subject)]
        for name, value in pairs:
            number, base = 2, name
            while name in named:
                name, number = f"{base} {number}", number + 1
            named[name] = value
    return named


def _seconds_of(function: Callable[[], Any], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        function()
    return time.perf_counter() - start


def _calls_of_a_run(functions: Sequence[Callable[[], Any]]) -> int:
    """So many that a run of the quickest is long enough, and one of the slowest not too long. All have as many."""
    most = 1
    for function in functions:
        number = 1
        while (seconds := _seconds_of(function, number)) < _LONG_ENOUGH:
            number = max(2 * number, min(100 * number, math.ceil(number * _LONG_ENOUGH / max(seconds, 1e-9))))
        most = max(most, number)
    slowest = max(_seconds_of(function, 1) for function in functions)
    return max(1, min(most, int(_TOO_LONG / max(slowest, 1e-9))))


def _environment() -> dict[str, str | None]:
    get = os.environ.get
    return {"procfs_root": get("GPUT_PROCFS"), "sysfs_root": get("GPUT_SYSFS"), "nvml_path": get("GPUT_NVML")}


def _measure(native: _native.Bench, function: Callable[[], Any], number: int) -> None:
    """One run: collected before, and not meanwhile, as by timeit."""
    session = _native.Session(sleep_time=0.001, resource_usage_file="", ram_mode="totals", **_environment())
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        session.track()
        native.begin_run()
        seconds = _seconds_of(function, number)
        native.end_run()
    finally:
        if was_enabled:
            gc.enable()
    session.stop()
    native.add_run(session, seconds, float(number) if number > 1 else math.nan)


def _run_functions(native: _native.Bench, functions: dict[str, Callable[[], Any]], warmup: int, number: int | None) -> None:
    for name in functions:
        native.add_variant(name)
    calls = list(functions.values())
    for _ in range(warmup):
        for call in calls:
            call()
    number = number or _calls_of_a_run(calls)
    while (variant := native.next()) is not None:
        _measure(native, calls[variant], number)


@explains_options
def bench(
    *subjects: _Subject | Mapping[str, _Subject],
    runs: int | None = None,
    precision: float = 1,
    min_time: float = 3,
    max_time: float = 60,
    warmup: int = 0,
    number: int | None = None,
    seed: int = 0,
    in_order: bool = False,
    parameters: Mapping[str, str | Sequence[Any]] | None = None,
    baseline: _Path | None = None,
    shell: bool = False,
    ignore_failure: bool = False,
    input: _Path | None = None,
    timeout: float = 0,
    prepare: str | None = None,
    work: str | None = None,
    keep: _Path | None = None,
) -> BenchResult:
    """Runs functions or commands repeatedly, in random order within blocks, and compares what they use with the first.

        result = gput.bench({"old": lambda: solve(1), "new": lambda: solve(2)}, runs=10)
        print(result)
        gput.bench("./simulate old.in", "./simulate new.in")

    subjects: functions without arguments, or commands (a text, split as a shell does; or its words), or dictionaries of names and these.
    runs: of each; None: until wall time and RAM are known to ± precision percent, for min_time to max_time seconds.
    warmup: runs before, that do not count.
    number: calls of a function in a run; None: as many as take 20 ms or more, the same of all. Of several, time and energy are also per call.
    parameters: {"threads": [1, 2, 4]} or {"threads": "1..8"}: values of {threads} in commands.
    baseline: a file that save() or `gpu-tracker bench -o x.json` wrote.
    The others are those of `gpu-tracker bench`, for commands.

    The RAM of a function is that of this whole process, at samples 1 ms apart. Raises ValueError, FileNotFoundError and the like;
    RuntimeError when a command fails; what a function raises.
    """
    named = _named(subjects)
    if not named:
        raise ValueError("Nothing to run was given: bench(function) or bench('command').")
    functions = {name: subject for name, subject in named.items() if callable(subject)}
    if functions and len(functions) < len(named):
        raise ValueError("Functions and commands cannot be compared with each other.")
    if runs is not None and not (hasattr(runs, "__index__") and runs >= 1):
        raise ValueError(f"runs={runs!r} is not a number of runs: give a whole number above 0, or None.")
    native = _native.Bench(
        runs=runs or 0, precision=float(precision), min_time=float(min_time), max_time=float(max_time), warmup=warmup,
        timeout=float(timeout), seed=seed, in_order=in_order, shell=shell, ignore_failure=ignore_failure, prepare=prepare, work=work,
        input=None if input is None else os.fspath(input), keep=None if keep is None else os.fspath(keep), **_environment(),
    )  # fmt: skip
    if baseline is not None:
        native.load_baseline(os.fspath(baseline))
    if functions:
        _run_functions(native, functions, warmup, number)
    else:
        for name, values in (parameters or {}).items():
            native.add_parameter(name, values if isinstance(values, str) else ",".join(map(str, values)))
        for name, subject in named.items():
            shown = None if name == _name_of(subject) else name
            if isinstance(subject, str):
                native.add_command(shown, subject)
            elif not callable(subject):
                native.add_argv(shown, [str(word) for word in subject])
        native.run()
    log_warnings(native.take_warnings())
    return BenchResult(native)


_SEPARATOR = re.compile(r"(?m)^# ?---+ *(.*?) *-*$")


def _options_of_cell(line: str) -> dict[str, Any]:
    """--runs 10 --max-time 5 --number 3 --seed 1; what is wrong is said as of other magics."""
    from IPython.core.error import UsageError

    kinds: dict[str, Callable[[str], Any]] = {"--runs": int, "--number": int, "--warmup": int, "--seed": int, "--max-time": float, "--min-time": float, "--precision": float}
    words, options = iter(line.replace("=", " ").split()), {}
    for word in words:
        try:
            options[word[2:].replace("-", "_")] = kinds[word](next(words))
        except (KeyError, StopIteration, ValueError):
            raise UsageError(f"%%gput_bench: {word} is no option, or lacks its number. Options: {', '.join(kinds)}") from None
    return options


def bench_cell(shell: Any, line: str, cell: str) -> BenchResult:
    """%%gput_bench: see notebook.py."""
    options = _options_of_cell(line)
    parts = _SEPARATOR.split(shell.transform_cell(cell))
    setup, names, codes = (parts[0], parts[1::2], parts[2::2]) if len(parts) > 1 else ("", ["cell"], parts)
    exec(compile(setup, "<gput_bench setup>", "exec"), shell.user_ns)
    functions: dict[str, _Subject] = {}
    for name, code in zip(names, codes):
        compiled = compile(code, f"<gput_bench {name}>", "exec")
        functions[name or f"variant {len(functions) + 1}"] = functools.partial(exec, compiled, shell.user_ns)
    return bench(functions, **options)


def bench_of_test(test: str, path: str | None, rules: Sequence[str], *subjects: _Subject | Mapping[str, _Subject], **options: Any) -> BenchResult:
    """The fixture gput_bench. The baseline's file has the results of each test by its name."""
    known = _read_baselines(path) if path else {}
    with tempfile.TemporaryDirectory() as folder:
        if test in known:
            options["baseline"] = os.path.join(folder, "baseline.json")
            with open(options["baseline"], "w") as file:
                json.dump(known[test], file)
        result = bench(*subjects, **options)
    if path and test not in known:
        _native.write_file(path, json.dumps({**known, test: result.data}, indent=1).encode())
    if path and test not in known and len(result.variants) == 1:
        return result  # there is nothing to compare with yet
    broken = [sentence for rule in rules if (sentence := result.check(rule))]
    if broken:
        raise AssertionError("; ".join(broken))
    return result


def _read_baselines(path: str) -> dict[str, Any]:
    try:
        with open(path) as file:
            known = json.load(file)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path} is not a file of --gput-baseline: {error}") from None
    if not isinstance(known, dict) or "bench" in known:
        raise ValueError(f"{path} is not a file of --gput-baseline; a run of pytest with another name writes one")
    return known
