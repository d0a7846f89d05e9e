"""A session in the run of an experiment tracker: MLflow, Weights & Biases, Trackio or TensorBoard. `Tracker(log_to=…)` calls `log` at its
end. `gpu-tracker run --log-to` executes `main`, which logs curves while the command runs. Of these packages only the one that is asked for is imported."""

from __future__ import annotations

import bisect
import contextlib
import importlib
import importlib.util
import math
import os
import signal
import sys
import tempfile
import time
from datetime import datetime, timezone

from . import _native
from .table import records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    _Row = tuple[float, dict[str, float]]

# Samples are logged at most once a second. One point is the maximum of a stretch of samples, which is this share of the time so far.
_LEAST_SECONDS = 1
_STRETCH = 1 / 500
# Reading the samples again takes at most this share of the time.
_READING = 1 / 20
# What a tracker may take to answer: while the session runs, once it has ended, and then if it did not answer before.
_ANSWER_SECONDS = 30
_END_SECONDS = 15
_LAST_TRY_SECONDS = 3
_TICK_SECONDS = 0.25
# After a failure the next try is later, up to this.
_MOST_SECONDS = 60
# MLflow takes no more metrics at once.
_MLFLOW_BATCH = 1000
_UNITS = {"gigabytes": ("megabytes", 1e3), "bytes": ("megabytes", 1e-6)}
# Of the results, with the names of `session_data` in a .sqlite tracking file.
_SUMMARY = (
    "elapsed_seconds",
    "max.main_ram",
    "max.combined_ram",
    "mean.combined_ram",
    "peaks.combined_bytes",
    "peaks.combined_at_most_bytes",
    "max.combined_n_threads",
    "max.cpu_combined_sum_utilization_percent",
    "mean.cpu_combined_sum_utilization_percent",
    "mean.cpu_combined_hardware_utilization_percent",
    "accounting.cpu_seconds.kernel",
    "accounting.cpu_seconds.captured_percent",
    "accounting.run_queue.wait_seconds",
    "accounting.processes.seen",
    "accounting.processes.oom_killed",
    "accounting.bytes.read",
    "accounting.bytes.written",
    "accounting.bytes.read_from_storage",
    "accounting.bytes.written_to_storage",
    "max.combined_gpu_ram",
    "gpu_peaks.combined_bytes",
    "gpu_peaks.combined_at_most_bytes",
    "max.gpu_sum_utilization_percent",
    "mean.gpu_sum_utilization_percent",
    "mean.gpu_hardware_utilization_percent",
    "energy.combined_joules",
    "energy.machine.total_joules",
    "energy.mean_watts",
    "energy.co2e_grams",
    "time_went.computing_seconds",
    "time_went.cpu_wait_seconds",
    "time_went.storage_seconds",
    "time_went.unknown_seconds",
    "gpu_idle.seconds",
)
_FACTS = (
    "command",
    "host",
    "session_id",
    "within",
    "exit_status",
    "signal",
    "start",
    "end",
    "version",
    "peaks_combined_source",
    "launcher",
    "job_id",
    "rank",
    "world_size",
)


class _Session:
    """What is logged of a session: `facts`, and of one that has ended the `summary`. `rows()` gives its samples, each once."""

    def __init__(self, facts: dict[str, Any], samples: str | None) -> None:
        self.facts = {name: _plain(facts[name]) for name in _FACTS if facts.get(name) is not None}
        self.start = _seconds_of(facts["start"])
        self.rank = facts["rank"]
        self.is_one_of_many = self.rank is not None and (facts["world_size"] or 0) > 1
        self.name = os.path.basename(facts["command"] or "") or "session"
        if self.is_one_of_many:
            self.name += f" rank {self.rank:.0f}"
        self.samples = samples
        self.has_ended = False
        self.has_failed = False
        self.summary: dict[str, float] = {}
        # While it runs, that is known once a figure is not 0.
        self.has_gpus = self.has_process_gpu_ram = False
        self._uuids: list[str] = []
        self._logged = {"samples": -math.inf, "gpu_data": -math.inf}
        self.n_steps = 0

    def end(self, report: str) -> None:
        """Adds what a report in JSON says."""
        tables = _native.load_results(report)
        (results,) = records_of(tables["results"])
        units = {name: unit for name, _, unit, _ in tables["results"].fields}
        sources = {row["name"]: row["state"] for row in records_of(tables["sources"])}
        gpus = records_of(tables["gpus"])
        self.has_gpus = len(gpus) > 0
        self.has_process_gpu_ram = sources.get("process_gpu_ram") != "unavailable"
        self._uuids += [gpu["uuid"] for gpu in gpus if gpu["uuid"] not in self._uuids]
        self.summary = dict(self._known((_named(name, units[name]), results[name]) for name in _SUMMARY if name in results))
        for gpu in gpus:
            number = self._uuids.index(gpu["uuid"])
            self.summary.update(self._known((f"gpu_{number}_{name}", value) for name, value in gpu.items() if name.startswith(("max_", "mean_"))))
        self.facts = _facts_of(results)
        self.facts = {name: _plain(value) for name, value in self.facts.items() if name in _FACTS and value is not None}
        self.end_time = _seconds_of(results["identity.end"])
        self.has_failed = bool(results["identity.exit_status"] or results["identity.signal"])
        self.has_ended = True

    def child_of(self, run: str | None) -> str | None:
        """The run in whose group this session gets one of its own: the launcher gave its ranks one name of a run, which the first has."""
        return run if run and self.is_one_of_many and self.rank != 0 else None

    def rows(self) -> list[_Row]:
        """The samples that were not given before: seconds since the epoch, and the figures at that moment."""
        if not self.samples:
            return []
        rows = self._read(_native.read_samples(self.samples, None)[0], "samples", lambda _: "")
        if not self.samples.endswith(".csv"):
            rows += self._read(_native.read_tables(self.samples), "gpu_data", self._gpu_prefix)
        return _thinned(sorted(rows, key=lambda row: row[0]), self.start)

    def _gpu_prefix(self, row: dict[str, Any]) -> str:
        if row["uuid"] not in self._uuids:
            self._uuids.append(row["uuid"])
        return f"gpu_{self._uuids.index(row['uuid'])}_"

    def _read(self, tables: dict[str, _native.Table], name: str, prefix: Callable[[dict[str, Any]], str]) -> list[_Row]:
        """The rows of a table that are later than those of the last call."""
        if name not in tables:
            return []
        table, after = tables[name], self._logged[name]
        names = [field[0] for field in table.fields]
        units = [_UNITS.get(field[2] or "", (None, 1.0)) for field in table.fields]
        times = table.column(names.index("timestamp")).tolist()
        first = bisect.bisect_right(times, after)
        columns = [table.column(number)[first:] for number in range(len(names))]
        rows = []
        for values in zip(*columns):
            row = dict(zip(names, values))
            before = prefix(row)
            self._note_gpus(before, row)
            figures = [(before + key + (f"_{unit}" if unit else ""), value * factor)
                       for (key, value), (unit, factor) in zip(row.items(), units) if key != "timestamp" and isinstance(value, (int, float))]  # fmt: skip
            rows.append((row["timestamp"], dict(self._known(figures))))
        if times:
            self._logged[name] = times[-1]
        return rows

    def _note_gpus(self, prefix: str, row: dict[str, Any]) -> None:
        """What a row of a session that still runs says; of one that has ended the report says it."""
        if self.has_ended:
            return
        self.has_gpus = self.has_gpus or bool(prefix or row.get("system_gpu_ram"))
        self.has_process_gpu_ram = self.has_process_gpu_ram or bool(row.get("combined_gpu_ram"))

    def _known(self, figures: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, float]]:
        """Those that this machine has: what it has no source for is left out, not 0."""
        for name, value in figures:
            is_process_gpu_ram = name.startswith(("main_gpu", "descendants_gpu", "combined_gpu", "max_combined_gpu", "gpu_peaks"))
            if "gpu" in name and (not self.has_gpus or (is_process_gpu_ram and not self.has_process_gpu_ram)):
                continue
            if isinstance(value, (int, float)) and math.isfinite(value):
                yield name, float(value)

    def curves(self, rows: list[_Row]) -> Iterator[tuple[int, float, dict[str, float]]]:
        """Steps, times and figures by the names that trackers are to have."""
        for moment, figures in rows:
            yield self.n_steps, moment, {f"system/{name}": value for name, value in figures.items()}
            self.n_steps += 1

    def totals(self) -> dict[str, float]:
        return {f"gpu_tracker/{name}": value for name, value in self.summary.items()}


def _facts_of(results: dict[str, Any]) -> dict[str, Any]:
    """Of the results, by the names that the table of sessions has."""
    facts = {name.removeprefix("identity.").removeprefix("job.").replace(".", "_"): value for name, value in results.items()}
    return facts | {"end": results["identity.end"]}


def _session_that_ended(report: str, samples: str | None) -> _Session:
    (results,) = records_of(_native.load_results(report)["results"])
    session = _Session(_facts_of(results), samples)
    session.end(report)
    return session


def _named(name: str, unit: str | None) -> str:
    plain = name.replace(".", "_")
    return f"{plain}_bytes" if unit == "bytes" and "bytes" not in plain else plain


def _plain(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _seconds_of(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _thinned(rows: list[_Row], start: float) -> list[_Row]:
    """One row for each stretch, with the maximum of every figure, at the time of its last sample. Stretches grow with the time since the start."""
    thinned: list[_Row] = []
    begin = -math.inf
    for moment, figures in rows:
        if moment - begin <= (moment - start) * _STRETCH:
            highest = thinned.pop()[1]
            for name, value in figures.items():
                highest[name] = max(value, highest.get(name, value))
        else:
            begin, highest = moment, dict(figures)
        thinned.append((moment, highest))
    return thinned


class _MLflow:
    def __init__(self, session: _Session) -> None:
        self.mlflow = importlib.import_module("mlflow")
        self.entities = importlib.import_module("mlflow.entities")
        self.client = self.mlflow.MlflowClient()
        active = self.mlflow.active_run()
        named = os.environ.get("MLFLOW_RUN_ID")
        parent = session.child_of(None if active else named)
        run_id = active.info.run_id if active else None if parent else named
        self.is_own = run_id is None
        if run_id is None:
            tags = {"mlflow.runName": session.name, "mlflow.source.name": "gpu-tracker"}
            if parent:
                tags["mlflow.parentRunId"] = parent
            experiment = self.client.get_run(parent).info.experiment_id if parent else self._experiment()
            run_id = self.client.create_run(experiment, start_time=int(session.start * 1e3), tags=tags).info.run_id
        self.run_id = run_id

    def _experiment(self) -> str:
        """The one that is active in this process, or that MLflow's variables name; MLflow's default one."""
        fluent = importlib.import_module("mlflow.tracking.fluent")
        found = getattr(fluent, "_get_experiment_id", lambda: None)() or os.environ.get("MLFLOW_EXPERIMENT_ID")
        return str(found or "0")

    def add(self, session: _Session, rows: list[_Row]) -> None:
        metric = self.entities.Metric
        metrics = [metric(name, value, int(time * 1e3), step) for step, time, figures in session.curves(rows) for name, value in figures.items()]
        for begin in range(0, len(metrics), _MLFLOW_BATCH):
            self.client.log_batch(self.run_id, metrics=metrics[begin : begin + _MLFLOW_BATCH])

    def end(self, session: _Session) -> str:
        try:
            if session.has_ended:
                metrics = [self.entities.Metric(name, value, int(session.end_time * 1e3), 0) for name, value in session.totals().items()]
                tags = [self.entities.RunTag(f"gpu_tracker.{name}", value) for name, value in session.facts.items()]
                self.client.log_batch(self.run_id, metrics=metrics, tags=tags)
        finally:
            if self.is_own:
                status = "KILLED" if not session.has_ended else "FAILED" if session.has_failed else "FINISHED"
                self.client.set_terminated(self.run_id, status, end_time=int(session.end_time * 1e3) if session.has_ended else None)
        return f"run {self.run_id} of {self.mlflow.get_tracking_uri()}"


class _Wandb:
    def __init__(self, session: _Session) -> None:
        wandb = importlib.import_module("wandb")
        self.is_own = wandb.run is None
        self.run = wandb.run
        if self.run is None:
            named = os.environ.get("WANDB_RUN_ID")
            parent = session.child_of(named)
            self.run = wandb.init(
                id=f"{parent}-rank-{session.rank:.0f}" if parent else named,
                name=None if named and not parent else os.environ.get("WANDB_NAME") or session.name,
                group=os.environ.get("WANDB_RUN_GROUP") or parent or (session.facts.get("job_id") if session.is_one_of_many else None),
                job_type=os.environ.get("WANDB_JOB_TYPE"),
                resume="allow",
                # Its own system metrics are those of this process, which only sends what was recorded.
                settings=wandb.Settings(console="off", silent=True, x_disable_stats=True, x_disable_meta=True),
            )
        # Curves over the time of the session leave the steps of the program's own metrics alone.
        self.run.define_metric("system/seconds", hidden=True)
        self.run.define_metric("system/*", step_metric="system/seconds")

    def add(self, session: _Session, rows: list[_Row]) -> None:
        for _, time, figures in session.curves(rows):
            self.run.log({"system/seconds": time - session.start, **figures})

    def end(self, session: _Session) -> str:
        run = self.run
        run.summary.update(session.totals())
        run.config.update({"gpu_tracker": session.facts}, allow_val_change=True)
        place = f"run {run.id} ({'offline, in ' + os.path.dirname(run.dir) if run.settings._offline else run.url or run.dir})"
        if self.is_own:
            run.finish(exit_code=1 if session.has_failed or not session.has_ended else 0)
        return place


class _Trackio:
    def __init__(self, session: _Session) -> None:
        self.trackio = importlib.import_module("trackio")
        self.run = importlib.import_module("trackio.context_vars").current_run.get()
        self.is_own = self.run is None
        if self.run is None:
            named = os.environ.get("TRACKIO_RUN_NAME")
            self.run = self.trackio.init(
                project=os.environ.get("TRACKIO_PROJECT") or "gpu-tracker",
                name=f"{named} rank {session.rank:.0f}" if session.child_of(named) else named or f"{session.name} {session.facts['session_id']}",
                group=named or session.facts.get("job_id") if session.is_one_of_many else None,
                config={f"gpu_tracker_{name}": value for name, value in session.facts.items()},
                resume="allow",
                embed=False,
                # Those of this process, which only sends what was recorded.
                auto_log_gpu=False,
                auto_log_cpu=False,
            )

    def add(self, session: _Session, rows: list[_Row]) -> None:
        curves = list(session.curves(rows))
        if not self.run._is_local:
            for _, time, figures in curves:
                self.run.log_system({**figures, "system/seconds": time - session.start})
        elif curves:
            # Run.log_system() has no time but now.
            self.trackio.SQLiteStorage.bulk_log_system(
                project=self.run.project,
                run=self.run.name,
                run_id=self.run.id,
                metrics_list=[figures for _, _, figures in curves],
                timestamps=[datetime.fromtimestamp(time, timezone.utc).isoformat() for _, time, _ in curves],
            )

    def end(self, session: _Session) -> str:
        if session.has_ended:
            self.run.log(session.totals())
        if self.is_own:
            self.run.finish()
        return f"run {self.run.name} of project {self.run.project}"


class _TensorBoard:
    def __init__(self, session: _Session) -> None:
        named = os.environ.get("TENSORBOARD_LOGDIR") or os.environ.get("TENSORBOARD_LOGGING_DIR")
        self.folder = named or os.path.join("runs", f"{session.name} {session.facts['session_id']}".replace(" ", "-"))
        if named and session.is_one_of_many:
            self.folder = os.path.join(named, f"rank-{session.rank:.0f}")
        package = "tensorboardX" if importlib.util.find_spec("tensorboardX") else "torch.utils.tensorboard"
        self.writer = importlib.import_module(package).SummaryWriter(self.folder)

    def add(self, session: _Session, rows: list[_Row]) -> None:
        for step, time, figures in session.curves(rows):
            for name, value in figures.items():
                self.writer.add_scalar(name, value, step, time)
        self.writer.flush()

    def end(self, session: _Session) -> str:
        with contextlib.closing(self.writer):
            for name, value in session.totals().items():
                self.writer.add_scalar(name, value, 0, session.end_time)
            self.writer.add_text("gpu_tracker", "  \n".join(f"{name}: {value}" for name, value in session.facts.items()), 0)
        return self.folder


# The name that people give: what it is called, packages of which one is needed, and what logs to it.
_TARGETS: dict[str, tuple[str, tuple[str, ...], Callable[[_Session], Any]]] = {
    "mlflow": ("MLflow", ("mlflow",), _MLflow),
    "wandb": ("Weights & Biases", ("wandb",), _Wandb),
    "trackio": ("Trackio", ("trackio",), _Trackio),
    "tensorboard": ("TensorBoard", ("tensorboardX", "torch.utils.tensorboard"), _TensorBoard),
}


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:
        return False


def check(target: str) -> None:
    """Raises ValueError for another word than those of `log_to`, ImportError where its package is not installed."""
    if target not in _TARGETS:
        from ._nearest import question

        words = ", ".join(f'"{name}"' for name in _TARGETS)
        raise ValueError(f'log_to="{target}" is not an experiment tracker{question(tuple(_TARGETS), target)} Those that are: {words}.')
    title, packages, _ = _TARGETS[target]
    if not any(map(_is_installed, packages)):
        raise ImportError(f"To log to {title}, {sys.executable or 'python3'} needs its package: {sys.executable or 'python3'} -m pip install {packages[0]}")


def log(target: str, report: str, samples: str | None) -> str:
    """Logs the session of a report in JSON, with its tracking file. Returns where it is then."""
    check(target)
    title, _, function = _TARGETS[target]
    session = _session_that_ended(report, samples)
    # What these packages print is not part of the program's output.
    with contextlib.redirect_stdout(sys.stderr):
        run = function(session)
        run.add(session, session.rows())
        return f"{title}: {run.end(session)}"


class _GaveUp(BaseException):
    """No Exception: packages that try again after a timeout would catch it."""


@contextlib.contextmanager
def _at_most(seconds: float, at_end: float) -> Iterator[None]:
    """Ends what takes longer, or `at_end` longer than the session, with a TimeoutError."""
    begin = time.monotonic()
    end = begin + seconds

    def check_time(*_: Any) -> None:
        nonlocal end
        now = time.monotonic()
        if signal.SIGUSR1 in signal.sigpending():
            end = min(end, now + at_end)
        if now >= end:
            raise _GaveUp

    signal.signal(signal.SIGALRM, check_time)
    signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)
    try:
        yield
    except _GaveUp:
        raise TimeoutError(f"there was no answer for {time.monotonic() - begin:.0f} seconds") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class _Follower:
    """Logs a session while it runs. gpu-tracker sends SIGUSR1 when the report is in the standard input."""

    def __init__(self, target: str, samples: str) -> None:
        self.title, packages, self.function = _TARGETS[target]
        self.samples = samples
        self.session: _Session | None = None
        self.run: Any = None
        self.waiting: list[_Row] = []  # rows that the tracker has not taken
        self.seconds: float = _LEAST_SECONDS
        self.has_failed = False  # the last time
        self.parent = os.getppid()
        importlib.import_module(next(filter(_is_installed, packages)))

    def follow(self) -> str:
        """Until the session has ended. Returns where it is then; "" if gpu-tracker was killed."""
        while not signal.sigtimedwait({signal.SIGUSR1}, self.seconds):
            if os.getppid() != self.parent:
                self._end(None)
                return ""
            begin = time.monotonic()
            try:
                self._read()
                read = time.monotonic()
                self._log()
                self.has_failed = False
                so_far = time.time() - self.session.start if self.session else 0
                self.seconds = max(_LEAST_SECONDS, so_far * _STRETCH, (read - begin) / _READING)
            except Exception:  # it is tried again, and said at the end if it fails then
                self.has_failed = True
                self.seconds = min(2 * self.seconds, _MOST_SECONDS)
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            report.write(os.pread(0, os.fstat(0).st_size, 0))
            report.flush()
            return f"{self.title}: {self._end(report.name)}"

    def _read(self) -> None:
        """Reads the samples that are new; there may be none yet."""
        if self.session is None and os.path.exists(self.samples):
            (facts,) = records_of(_native.read_sessions([self.samples])["sessions"])
            self.session = _Session(facts, self.samples)
        if self.session is not None:
            self.waiting += self.session.rows()

    def _limit(self) -> contextlib.AbstractContextManager[None]:
        at_end = _LAST_TRY_SECONDS if self.has_failed else _END_SECONDS
        return _at_most(at_end if self.session and self.session.has_ended else _ANSWER_SECONDS, at_end)

    def _log(self) -> None:
        """Gives the tracker the samples that it does not have."""
        if self.session is None:
            return
        with self._limit():
            if self.run is None:
                self.run = self.function(self.session)
            if self.waiting:
                self.run.add(self.session, self.waiting)
        self.waiting = []

    def _end(self, report: str | None) -> str:
        if self.session is None and report:
            self.session = _session_that_ended(report, self.samples)
        if self.session is None:
            return ""
        if report:
            self.session.end(report)
        self.waiting += self.session.rows() if os.path.exists(self.samples) else []
        self._log()
        with self._limit():
            return str(self.run.end(self.session))


def main(arguments: list[str]) -> int:
    """What `gpu-tracker run --log-to` executes: "check" and the word; or the word and the tracking file of a session that is about to begin.
    Prints where the session is at its end. Returns the exit status."""
    try:
        if arguments[0] == "check":
            check(arguments[1])
            return 0
        # The command comes first.
        os.nice(10)
        # What these packages print is not part of the program's output.
        with contextlib.redirect_stdout(sys.stderr):
            place = _Follower(*arguments).follow()
        print(place, flush=True)
    except (Exception, SystemExit) as error:
        print(f"gpu-tracker: {' '.join(str(error).split())[:600] or type(error).__name__}", file=sys.stderr, flush=True)
        os._exit(1)
    # What these packages do at the end of Python is bounded, too.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_END_SECONDS)
    return 0
