"""A session that has ended, in the run of an experiment tracker: MLflow, Weights & Biases, Trackio or TensorBoard. `Tracker(log_to=…)`
calls `log`, and `gpu-tracker run --log-to` executes `main`. Of these packages only the one that is asked for is imported."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
import os
import signal
import sys
import tempfile
from datetime import datetime, timezone

from . import _native
from .recorded import read_samples, read_tables
from .table import records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    _Row = tuple[float, dict[str, float]]

# Longer sessions get the maximum of each stretch of samples.
_MOST_ROWS = 1000
_TIMEOUT_SECONDS = 120
# MLflow takes no more metrics, tags and parameters at once.
_MLFLOW_BATCH = 1000, 100
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
    "identity.command",
    "identity.host",
    "identity.session_id",
    "identity.within",
    "identity.exit_status",
    "identity.signal",
    "identity.start",
    "identity.end",
    "identity.version",
    "peaks.combined_source",
    "job.launcher",
    "job.job_id",
    "job.rank",
    "job.world_size",
)


class _Session:
    """What is logged: `rows` (seconds since the epoch and the figures at that moment), `summary` and `facts` of the whole session."""

    def __init__(self, report: str, samples: str | None) -> None:
        tables = _native.load_results(report)
        (results,) = records_of(tables["results"])
        units = {name: unit for name, _, unit, _ in tables["results"].fields}
        sources = {row["name"]: row["state"] for row in records_of(tables["sources"])}
        self.has_gpus = len(tables["gpus"]) > 0
        self.has_process_gpu_ram = sources.get("process_gpu_ram") != "unavailable"
        gpus = records_of(tables["gpus"])
        self.summary = dict(self._known((_named(name, units[name]), results[name]) for name in _SUMMARY if name in results))
        for number, gpu in enumerate(gpus):
            self.summary.update(self._known((f"gpu_{number}_{name}", value) for name, value in gpu.items() if name.startswith(("max_", "mean_"))))
        self.facts = {name.replace(".", "_").removeprefix("identity_"): _plain(results[name]) for name in _FACTS if results.get(name) is not None}
        self.rows = _thinned(sorted(self._read_rows(samples, [gpu["uuid"] for gpu in gpus]), key=lambda row: row[0])) if samples else []
        self.start = _seconds_of(results["identity.start"])
        self.end = _seconds_of(results["identity.end"])
        self.has_failed = bool(results["identity.exit_status"] or results["identity.signal"])
        self.rank = results["job.rank"]
        self.is_one_of_many = self.rank is not None and (results["job.world_size"] or 0) > 1
        self.name = os.path.basename(results["identity.command"] or "") or "session"
        if self.is_one_of_many:
            self.name += f" rank {self.rank:.0f}"

    def child_of(self, run: str | None) -> str | None:
        """The run in whose group this session gets one of its own: the launcher gave its ranks one name of a run, which the first has."""
        return run if run and self.is_one_of_many and self.rank != 0 else None

    def _known(self, figures: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, float]]:
        """Those that this machine has: what it has no source for is left out, not 0."""
        for name, value in figures:
            is_process_gpu_ram = name.startswith(("main_gpu", "descendants_gpu", "combined_gpu", "max_combined_gpu", "gpu_peaks"))
            if "gpu" in name and (not self.has_gpus or (is_process_gpu_ram and not self.has_process_gpu_ram)):
                continue
            if isinstance(value, (int, float)) and math.isfinite(value):
                yield name, float(value)

    def _read_rows(self, samples: str, uuids: list[str]) -> Iterator[_Row]:
        yield from self._rows_of(read_samples(samples)._table, lambda _: "")
        if samples.endswith(".csv"):
            return
        table = read_tables(samples).get("gpu_data")
        if table is not None:
            yield from self._rows_of(table._table, lambda row: f"gpu_{uuids.index(row['uuid'])}_" if row["uuid"] in uuids else "gpu_other_")

    def _rows_of(self, table: _native.Table, prefix: Callable[[dict[str, Any]], str]) -> Iterator[_Row]:
        units = {name: _UNITS.get(unit or "", (None, 1.0)) for name, _, unit, _ in table.fields}
        for row in records_of(table):
            before, time = prefix(row), row.pop("timestamp")
            figures = {before + name + (f"_{units[name][0]}" if units[name][0] else ""): value * units[name][1]
                       for name, value in row.items() if isinstance(value, (int, float))}  # fmt: skip
            yield time, dict(self._known(figures.items()))


def _named(name: str, unit: str | None) -> str:
    plain = name.replace(".", "_")
    return f"{plain}_bytes" if unit == "bytes" and "bytes" not in plain else plain


def _plain(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _seconds_of(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _thinned(rows: list[_Row]) -> list[_Row]:
    """At most _MOST_ROWS, in which no maximum is lost."""
    stretch = -(-len(rows) // _MOST_ROWS)
    if stretch <= 1:
        return rows
    thinned = []
    for begin in range(0, len(rows), stretch):
        highest: dict[str, float] = {}
        for _, figures in rows[begin : begin + stretch]:
            for name, value in figures.items():
                highest[name] = max(value, highest.get(name, value))
        thinned.append((rows[min(begin + stretch, len(rows)) - 1][0], highest))
    return thinned


def _curves(session: _Session) -> Iterator[tuple[int, float, dict[str, float]]]:
    for step, (time, figures) in enumerate(session.rows):
        yield step, time, {f"system/{name}": value for name, value in figures.items()}


def _summary(session: _Session) -> dict[str, float]:
    return {f"gpu_tracker/{name}": value for name, value in session.summary.items()}


def _to_mlflow(session: _Session) -> str:
    mlflow = importlib.import_module("mlflow")
    entities = importlib.import_module("mlflow.entities")
    client = mlflow.MlflowClient()
    active = mlflow.active_run()
    named = os.environ.get("MLFLOW_RUN_ID")
    parent = session.child_of(None if active else named)
    run_id = active.info.run_id if active else None if parent else named
    is_own = run_id is None
    if run_id is None:
        tags = {"mlflow.runName": session.name, "mlflow.source.name": "gpu-tracker"}
        if parent:
            tags["mlflow.parentRunId"] = parent
        experiment = client.get_run(parent).info.experiment_id if parent else _mlflow_experiment(client)
        run_id = client.create_run(experiment, start_time=int(session.start * 1e3), tags=tags).info.run_id
    try:
        metrics = [entities.Metric(name, value, int(time * 1e3), step) for step, time, figures in _curves(session) for name, value in figures.items()]
        metrics += [entities.Metric(name, value, int(session.end * 1e3), 0) for name, value in _summary(session).items()]
        tags_of_run = [entities.RunTag(f"gpu_tracker.{name}", value) for name, value in session.facts.items()]
        for begin in range(0, max(len(metrics), 1), _MLFLOW_BATCH[0] - _MLFLOW_BATCH[1]):
            batch = metrics[begin : begin + _MLFLOW_BATCH[0] - _MLFLOW_BATCH[1]]
            client.log_batch(run_id, metrics=batch, tags=[] if begin else tags_of_run)
    finally:
        if is_own:
            client.set_terminated(run_id, "FAILED" if session.has_failed else "FINISHED", end_time=int(session.end * 1e3))
    return f"run {run_id} of {mlflow.get_tracking_uri()}"


def _mlflow_experiment(client: Any) -> str:
    """The one that is active in this process, or that MLflow's variables name; MLflow's default one."""
    fluent = importlib.import_module("mlflow.tracking.fluent")
    found = getattr(fluent, "_get_experiment_id", lambda: None)() or os.environ.get("MLFLOW_EXPERIMENT_ID")
    return str(found or "0")


def _to_wandb(session: _Session) -> str:
    wandb = importlib.import_module("wandb")
    active = wandb.run
    run = active
    if run is None:
        named = os.environ.get("WANDB_RUN_ID")
        parent = session.child_of(named)
        run = wandb.init(
            id=f"{parent}-rank-{session.rank:.0f}" if parent else named,
            name=None if named and not parent else os.environ.get("WANDB_NAME") or session.name,
            group=os.environ.get("WANDB_RUN_GROUP") or parent or (session.facts.get("job_job_id") if session.is_one_of_many else None),
            job_type=os.environ.get("WANDB_JOB_TYPE"),
            resume="allow",
            # Its own system metrics are those of this process, which only sends what was recorded.
            settings=wandb.Settings(console="off", silent=True, x_disable_stats=True, x_disable_meta=True),
        )
    # Curves over the time of the session leave the steps of the program's own metrics alone.
    run.define_metric("system/seconds", hidden=True)
    run.define_metric("system/*", step_metric="system/seconds")
    for _, time, figures in _curves(session):
        run.log({"system/seconds": time - session.start, **figures})
    run.summary.update(_summary(session))
    run.config.update({"gpu_tracker": session.facts}, allow_val_change=True)
    place = f"run {run.id} ({'offline, in ' + os.path.dirname(run.dir) if run.settings._offline else run.url or run.dir})"
    if active is None:
        run.finish(exit_code=1 if session.has_failed else 0)
    return place


def _to_trackio(session: _Session) -> str:
    trackio = importlib.import_module("trackio")
    active = importlib.import_module("trackio.context_vars").current_run.get()
    run = active
    if run is None:
        named = os.environ.get("TRACKIO_RUN_NAME")
        run = trackio.init(
            project=os.environ.get("TRACKIO_PROJECT") or "gpu-tracker",
            name=f"{named} rank {session.rank:.0f}" if session.child_of(named) else named or f"{session.name} {session.facts['session_id']}",
            group=named or session.facts.get("job_job_id") if session.is_one_of_many else None,
            config={f"gpu_tracker_{name}": value for name, value in session.facts.items()},
            resume="allow",
            embed=False,
            # Those of this process, which only sends what was recorded.
            auto_log_gpu=False,
            auto_log_cpu=False,
        )
    if run._is_local and session.rows:
        # Run.log_system() has no time but now.
        trackio.SQLiteStorage.bulk_log_system(
            project=run.project,
            run=run.name,
            run_id=run.id,
            metrics_list=[figures for _, _, figures in _curves(session)],
            timestamps=[datetime.fromtimestamp(time, timezone.utc).isoformat() for _, time, _ in _curves(session)],
        )
    else:
        for _, time, figures in _curves(session):
            run.log_system({**figures, "system/seconds": time - session.start})
    run.log(_summary(session))
    if active is None:
        run.finish()
    return f"run {run.name} of project {run.project}"


def _to_tensorboard(session: _Session) -> str:
    named = os.environ.get("TENSORBOARD_LOGDIR") or os.environ.get("TENSORBOARD_LOGGING_DIR")
    folder = named or os.path.join("runs", f"{session.name} {session.facts['session_id']}".replace(" ", "-"))
    if named and session.is_one_of_many:
        folder = os.path.join(named, f"rank-{session.rank:.0f}")
    about = "  \n".join(f"{name}: {value}" for name, value in session.facts.items())
    if importlib.util.find_spec("tensorboardX"):
        writer = importlib.import_module("tensorboardX").SummaryWriter(folder)
    else:
        writer = importlib.import_module("torch.utils.tensorboard").SummaryWriter(folder)
    with contextlib.closing(writer):
        for step, time, figures in _curves(session):
            for name, value in figures.items():
                writer.add_scalar(name, value, step, time)
        for name, value in _summary(session).items():
            writer.add_scalar(name, value, 0, session.end)
        writer.add_text("gpu_tracker", about, 0, session.end)
    return folder


# The name that people give: what it is called, packages of which one is needed, and what logs to it.
_TARGETS: dict[str, tuple[str, tuple[str, ...], Callable[[_Session], str]]] = {
    "mlflow": ("MLflow", ("mlflow",), _to_mlflow),
    "wandb": ("Weights & Biases", ("wandb",), _to_wandb),
    "trackio": ("Trackio", ("trackio",), _to_trackio),
    "tensorboard": ("TensorBoard", ("tensorboardX", "torch.utils.tensorboard"), _to_tensorboard),
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
    session = _Session(report, samples)
    # What these packages print is not part of the program's output.
    with contextlib.redirect_stdout(sys.stderr):
        return f"{title}: {function(session)}"


def _give_up(*_: Any) -> None:
    raise TimeoutError(f"it took longer than {_TIMEOUT_SECONDS} seconds")


def main(arguments: list[str]) -> int:
    """What `gpu-tracker run --log-to` executes: "check" and the word; or the word and the tracking file, with the report as standard
    input. Prints where the session is then. Returns the exit status."""
    try:
        if arguments[0] == "check":
            check(arguments[1])
            return 0
        target, samples = arguments
        signal.signal(signal.SIGALRM, _give_up)
        signal.alarm(_TIMEOUT_SECONDS)
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            report.write(sys.stdin.buffer.read())
            report.flush()
            print(log(target, report.name, samples))
    except (Exception, SystemExit) as error:
        print(f"gpu-tracker: {' '.join(str(error).split())[:600] or type(error).__name__}", file=sys.stderr)
        return 1
    # What these packages do at the end of Python is bounded, too.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return 0
