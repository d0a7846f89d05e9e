"""Power of the machine and of programs: recorded to a folder while they run, and read back, with AIPowerMeter's classes.

    from gpu_tracker.power import Experiment, ExpResults, JsonParser

    driver = JsonParser("exp1")
    process, queue = Experiment(driver).measure_yourself(period=2)
    train()
    queue.put(Experiment.STOP_MESSAGE)

    results = ExpResults(driver)
    results.print()
    results.total_("intel_power")                 # joules

Programs that import `deep_learning_power_measure` run as they are. What the metrics are: docs/energy.md.
"""

from __future__ import annotations

import atexit
import datetime
import json
import os
import threading

from . import _native, tracker
from ._messages import log_warnings
from ._power_results import Curve, ExpResults, Picture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Final

    _Group = dict[str, Any] | None

__all__ = ["EXP_DONE", "STOP_MESSAGE", "Curve", "ExpResults", "Experiment", "JsonParser", "Picture", "Recorder", "SqliteParser"]

STOP_MESSAGE: Final[str] = "Stop"
EXP_DONE: Final[str] = "Done"

# Counters of energy move in steps of milliseconds; a shorter period would show little but those.
_SHORTEST_PERIOD_SECONDS = 0.1


class JsonParser:
    """A recording in a folder: power_metrics.json and the files next to it, of AIPowerMeter or gpu-tracker. Both
    parsers read what either wrote.

    meta_data: what metadata.json has in addition to the date: a dictionary, or a string, the description.
    cont: a new recording is added to the one that is there, as a segment of its own.
    """

    _sqlite = False

    def __init__(
        self, location: str | os.PathLike[str], meta_data: dict[str, Any] | str | None = None, cont: bool = False
    ) -> None:
        if isinstance(meta_data, bool):
            raise TypeError(
                "meta_data is a dictionary that describes the recording. To add to one, give cont=True by its name."
            )
        self.folder = os.fspath(location)
        self.meta_data = {"description": meta_data} if isinstance(meta_data, str) else dict(meta_data or {})
        self.cont = cont

    # Attributes of AIPowerMeter's drivers.

    @property
    def power_metric_filename(self) -> str:
        return self._path("power_metrics.json")

    @property
    def exp_metric_filename(self) -> str:
        return self._path("results_exp.json")

    @property
    def model_card_file(self) -> str:
        return self._path("model_summary.json")

    @property
    def wattmeter_logfile(self) -> str:
        return self._path("omegawatt.csv")

    def _path(self, name):
        return os.path.join(self.folder, name)

    # ---- writing ----

    def save_exp_metrics(self, metrics: Any) -> None:
        """Writes results_exp.json, which ExpResults reads: what an experiment found, for example
        `[{"accuracy": 0.9, "end_training_epoch": "2023-06-30 16:32:15"}, …]`, an object for each epoch."""
        self._save("results_exp.json", metrics)

    def save_model_summary(self, summary: Any) -> None:
        """Writes model_summary.json: `{"total_params": 11689512, "total_mult_adds": 1814073344}`."""
        self._save("model_summary.json", summary)

    save_model_card = save_model_summary

    def _save(self, name, value):
        os.makedirs(self.folder, exist_ok=True)
        _native.write_file(self._path(name), json.dumps(value, default=str).encode())

    def erase(self) -> None:
        """Deletes the recording, and nothing else that is in the folder.

        Raises BlockingIOError while it is being recorded.
        """
        with self._alone():
            for name in _FILES:
                try:
                    os.unlink(self._path(name))
                except FileNotFoundError:
                    pass

    def _alone(self):
        """Holds the lock of a recording under way: see energy_recording_writer.c."""
        import contextlib
        import fcntl

        try:
            file = open(self._path("metadata.json"), "rb")
        except FileNotFoundError:
            return contextlib.nullcontext()
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BlockingIOError(f"A recording to {self.folder} is under way. It can be erased when it has ended.") from None
        except OSError:  # some network file systems have no locks
            pass
        return file

    def _session(self, cont, options):
        try:
            session = _native.Session(energy_folder=self.folder, energy_sqlite=self._sqlite, energy_continue=cont, **options)
        except FileExistsError:
            raise FileExistsError(
                f"There is a recording in {self.folder} already. Give another folder, or cont=True to add to it."
            ) from None
        if self.meta_data:
            self._describe()
        return session

    def _describe(self):
        """In place: the file is the lock of the recording that has begun."""
        with open(self._path("metadata.json"), "r+", encoding="utf-8") as file:
            known = json.load(file)
            file.seek(0)
            json.dump((known if isinstance(known, dict) else {}) | self.meta_data, file, default=str)
            file.truncate()

    # ---- reading ----

    def get_description(self) -> Any:
        """What metadata.json holds: `{"description": …, "date": …}` and what meta_data added; None without one."""
        return self._load("metadata.json")

    def get_model_card(self) -> Any:
        """What model_summary.json holds; None without one."""
        return self._load("model_summary.json")

    def _load(self, name):
        try:
            with open(self._path(name), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def load_metrics(self) -> tuple[_Group, _Group, _Group, _Group]:
        """All curves, for those of the CPU, of the GPUs, of the experiment and of the wattmeter each a dictionary
        `{name: {"dates": [datetime, …], "values": [number, …]}}`, of a metric by GPU `{name: {gpu: {"dates", "values"}}}`;
        None where there are none."""
        recording = self._open()
        return tuple(_load_group(recording, group) for group in ("cpu", "gpu", "experiment", "wattmeter"))

    def load_cpu_metrics(self) -> _Group:
        """Those of the CPU alone."""
        return _load_group(self._open(), "cpu")

    def load_gpu_metrics(self) -> _Group:
        """Those of the GPUs alone."""
        return _load_group(self._open(), "gpu")

    def load_exp_metrics(self) -> _Group:
        """Those of the experiment alone."""
        return _load_group(self._open(), "experiment")

    def load_wattmeter_metrics(self) -> _Group:
        """Those of the wattmeter alone."""
        return _load_group(self._open(), "wattmeter")

    def get_segments(self) -> list[datetime.datetime]:
        """The last date of each segment but the last one: where recording was stopped and went on."""
        ends = {}
        recording = self._open()
        for group, name, _ in recording.metrics:
            if group in ("cpu", "gpu"):
                table = recording.curves([name])[name]
                for date, segment in zip(*(table.column(number) for number in (0, 2))):
                    ends[segment] = max(date, ends.get(segment, date), key=datetime.datetime.fromisoformat)
        return [datetime.datetime.fromisoformat(ends[segment]) for segment in sorted(ends)][:-1]

    def _open(self):
        return _native.Recording(self.folder)


# All that a recording can consist of. The lock comes last.
_FILES = (
    "power_metrics.json", "power_metrics.sqlite", "power_metrics.sqlite-wal", "power_metrics.sqlite-shm",
    "results_exp.json", "model_summary.json", "omegawatt.csv", "metadata.json",
)  # fmt: skip


def _load_group(recording, wanted):
    found = {}
    for group, name, device in recording.metrics:
        if group == wanted:
            table = recording.curves([name])[name]
            dates = [datetime.datetime.fromisoformat(date) for date in table.column(0).tolist()]
            curve = {"dates": dates, "values": table.column(3).tolist()}
            if device is None:
                found[name] = curve
            else:
                found.setdefault(name[: -len(device) - 1], {})[device] = curve
    return found or None


class SqliteParser(JsonParser):
    """The same with power_metrics.sqlite, for those who query: a table `power_metrics` with the columns date, segment,
    device, name, key (process or GPU) and value."""

    _sqlite = True


class Experiment:
    """Records the power of this program, or of others, in the background.

    driver: where to, a JsonParser or SqliteParser.
    model, input_size: a torch model; its number of parameters and, where torchinfo is installed, of multiply-adds of a
        forward pass are kept with the recording.
    cont: add to the recording that is there. Without it one that is there is an error.

    Samples are taken by a native thread that never takes the interpreter's lock. Both methods return at once, with a
    Recorder and what takes the message that ends it:

        process, queue = experiment.measure_yourself(period=2)
        ...
        queue.put(Experiment.STOP_MESSAGE)

    When `put` returns, the recording is complete. One that is not stopped ends with the program. What the machine cannot
    measure is a warning of the logger "gpu_tracker", and the recording goes on without it.
    """

    STOP_MESSAGE: Final[str] = STOP_MESSAGE

    def __init__(self, driver: JsonParser, model: Any = None, input_size: Any = None, cont: bool = False) -> None:
        self.db_driver = driver
        self._cont = cont or driver.cont
        if model is not None:
            driver.save_model_summary(_summary_of(model, input_size))

    def measure_yourself(self, period: float = 2.0, measurement_period: float | None = None) -> tuple[Recorder, _Queue]:
        """This process and all it starts.

        period: seconds between two samples.
        measurement_period: seconds, at least 0.1, that the recording gives the mean over, with a line at the beginning and
            one at the end; None: of every sample.
        Raises FileExistsError where there is a recording and `cont` is not given.
        """
        return self._measure(None, period, measurement_period)

    def measure_from_pid_list(
        self, pid_list: Iterable[Any], period: float = 2.0, measurement_period: float | None = None
    ) -> tuple[Recorder, _Queue]:
        """The processes of these ids and all that they start; those that are not there are left out with a warning.

        Raises ProcessLookupError when none is there; otherwise as measure_yourself.
        """
        pids = tuple(getattr(process, "pid", process) for process in pid_list)
        return self._measure(pids, period, measurement_period)

    def _measure(self, pids, period, measurement_period):
        if measurement_period is None:
            measurement_period = max(period, _SHORTEST_PERIOD_SECONDS)
        elif measurement_period < _SHORTEST_PERIOD_SECONDS:
            raise ValueError(f"measurement_period={measurement_period} is too short: it is 0.1 seconds or more.")
        options = {"sleep_time": period, "energy_period": measurement_period, **tracker._roots()}
        session = self.db_driver._session(self._cont, options)
        try:
            session.track() if pids is None else session.track_all(pids)
        except BaseException:
            del session  # and with it what it began to write
            raise
        self._cont = True  # what this experiment measures next
        recorder = Recorder(session, pids)
        return recorder, _Queue(recorder)


def _summary_of(model, input_size):
    try:
        import torchinfo
    except ImportError:
        torchinfo = None
    if torchinfo and input_size is not None:
        found = torchinfo.summary(model, input_size=input_size, verbose=0)
        return {"total_params": found.total_params, "total_mult_adds": found.total_mult_adds}
    missing = "input_size is not given" if torchinfo else "torchinfo is not installed"
    log_warnings([f"The summary of the model has no multiply-adds: {missing}."])
    return {"total_params": sum(parameter.numel() for parameter in model.parameters())}


class Recorder:
    """A recording under way; has those methods of a process that programs use on it."""

    def __init__(self, session, pids):
        self._session = session
        self._pids = pids
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._warn()
        atexit.register(self._leave)

    def stop(self) -> None:
        """Takes the last sample and completes the recording. The second time, it does nothing.

        Raises RuntimeError in a fork of the process that records.
        """
        if self._owner != os.getpid():  # where the lock would not be released
            raise RuntimeError(
                "This process is a fork of the one that records; only that one can end the recording. "
                "Ask it to, by a queue of multiprocessing for example, or have it do so when this process has ended."
            )
        with self._lock:
            if not self._done.is_set():
                self._session.stop()
                self._warn()
                self._session = None
                self._done.set()
                atexit.unregister(self._leave)

    terminate = kill = stop

    def is_alive(self) -> bool:
        """False once it is complete."""
        return not self._done.is_set()

    def join(self, timeout: float | None = None) -> None:
        """Waits until it is stopped, or `timeout` seconds; with a list of processes, until all have ended, and stops."""
        from time import monotonic

        end = None if timeout is None else monotonic() + timeout
        while not self._done.is_set() and (end is None or monotonic() < end):
            if self._pids is None:
                self._done.wait(timeout)
            elif any(map(_lives, self._pids)):
                self._done.wait(0.05 if end is None else min(0.05, max(0, end - monotonic())))
            else:
                self.stop()

    def _leave(self):
        # A fork ends too; it has nothing to complete.
        if self._owner == os.getpid():
            self.stop()

    def _warn(self):
        for message in self._session.take_warnings():
            log_warnings([message])


def _lives(pid):
    try:
        with open(f"{os.environ.get('GPUT_PROCFS') or '/proc'}/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


class _Queue:
    """Takes the message that ends a recording, and then has EXP_DONE."""

    def __init__(self, recorder):
        self._recorder = recorder

    def put(self, message: str, block: bool = True, timeout: float | None = None) -> None:
        if message != STOP_MESSAGE:
            raise ValueError(f"{message!r} means nothing to a recording. It takes STOP_MESSAGE, which ends it.")
        self._recorder.stop()

    put_nowait = put

    def get(self, block: bool = True, timeout: float | None = None) -> str:
        """EXP_DONE when the recording is complete; waits for that, `timeout` seconds at most, or raises queue.Empty."""
        import queue

        if block:
            self._recorder.join(timeout)
        if self._recorder.is_alive():
            raise queue.Empty
        return EXP_DONE

    def get_nowait(self) -> str:
        return self.get(block=False)
