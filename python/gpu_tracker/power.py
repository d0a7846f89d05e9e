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
import os
import threading

from . import tracker
from ._messages import log_warnings
from ._power_drivers import JsonParser, SqliteParser
from ._power_results import Curve, ExpResults
from ._reports import Picture
from ._shown import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import _native
    from collections.abc import Iterable
    from typing import Any, Final

__all__ = ["EXP_DONE", "STOP_MESSAGE", "Curve", "ExpResults", "Experiment", "JsonParser", "Picture", "Recorder", "SqliteParser"]

STOP_MESSAGE: Final[str] = "Stop"
EXP_DONE: Final[str] = "Done"

# Counters of energy move in steps of milliseconds; a shorter period would show little but those.
_SHORTEST_PERIOD_SECONDS = 0.1


class Experiment(Shown):
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

    def _facts(self) -> list[tuple[str, str]]:
        return [("records into", self.db_driver.folder)]

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
        """The processes of these ids and all that they start; those that are not there are skipped with a warning.

        Raises ProcessLookupError when none is there; otherwise as measure_yourself.
        """
        pids = tuple(getattr(process, "pid", process) for process in pid_list)
        return self._measure(pids, period, measurement_period)

    def _measure(self, pids: tuple[int, ...] | None, period: float, measurement_period: float | None) -> tuple[Recorder, _Queue]:
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


def _summary_of(model: Any, input_size: Any) -> dict[str, Any]:
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


class Recorder(Shown):
    """A recording under way; has those methods of a process that programs use on it."""

    def __init__(self, session: _native.Session, pids: tuple[int, ...] | None) -> None:
        self._session: _native.Session | None = session
        self._pids = pids
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._warn()
        atexit.register(self._leave)

    def _facts(self) -> list[tuple[str, str]]:
        processes = "this one" if self._pids is None else ", ".join(map(str, self._pids))
        return [("recording", "complete" if self._done.is_set() else "under way"), ("processes", processes)]

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
            if self._session is not None and not self._done.is_set():
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

    def _leave(self) -> None:
        # A fork ends too; it has nothing to complete.
        if self._owner == os.getpid():
            self.stop()

    def _warn(self) -> None:
        for message in self._session.take_warnings() if self._session else ():
            log_warnings([message])


def _lives(pid: int) -> bool:
    try:
        with open(f"{os.environ.get('GPUT_PROCFS') or '/proc'}/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


class _Queue(Shown):
    """Takes the message that ends a recording, and then has EXP_DONE."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def _facts(self) -> list[tuple[str, str]]:
        return [("ends the recording", "put(STOP_MESSAGE)")]

    def put(self, message: str, block: bool = True, timeout: float | None = None) -> None:
        if message != STOP_MESSAGE:
            raise ValueError(f"{message!r} is not a message for a recording. It takes only STOP_MESSAGE, which ends it.")
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
