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

import atexit
import datetime
import os
import sys
import threading

from . import _native, tracker
from .table import Table

__all__ = ["STOP_MESSAGE", "Curve", "ExpResults", "Experiment", "JsonParser", "Picture", "Recorder", "SqliteParser"]

STOP_MESSAGE = "stop"

# Counters of energy move in steps of milliseconds; a shorter period would show little but those.
_SHORTEST_PERIOD_SECONDS = 0.1


class JsonParser:
    """A recording in a folder: power_metrics.json and what lies beside it, AIPowerMeter's and ours. Both parsers read what
    either wrote.

    cont: a new recording is added to the one that is there, as a segment of its own.
    """

    _sqlite = False

    def __init__(self, output_folder, cont=False):
        self.folder = os.fspath(output_folder)
        self.cont = cont

    def save_exp_metrics(self, metrics):
        """Writes results_exp.json, which ExpResults reads: what an experiment found, for example
        `[{"accuracy": 0.9, "end_training_epoch": "2023-06-30 16:32:15"}, …]`, an object for each epoch."""
        self._save("results_exp.json", metrics)

    def save_model_summary(self, summary):
        """Writes model_summary.json: `{"total_params": 11689512, "total_mult_adds": 1814073344}`."""
        self._save("model_summary.json", summary)

    def _save(self, name, value):
        import json

        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, name)
        beside = f"{path}.{os.getpid()}"
        try:
            with open(beside, "w", encoding="utf-8") as file:
                json.dump(value, file, default=str)
            os.replace(beside, path)
        except BaseException:
            if os.path.exists(beside):
                os.unlink(beside)
            raise

    def _session(self, cont, options):
        try:
            return _native.Session(
                energy_folder=self.folder, energy_sqlite=self._sqlite, energy_continue=cont, **options
            )
        except FileExistsError:
            raise FileExistsError(
                f"There is a recording in {self.folder} already. Give another folder, or cont=True to add to it."
            ) from None

    def _open(self):
        return _native.Recording(self.folder)


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
    tell is a warning of the logger "gpu_tracker", and the recording goes on without it.
    """

    STOP_MESSAGE = STOP_MESSAGE

    def __init__(self, driver, model=None, input_size=None, cont=False):
        self.driver = driver
        self._cont = cont or driver.cont
        if model is not None:
            driver.save_model_summary(_summary_of(model, input_size))

    def measure_yourself(self, period=2.0, measurement_period=None):
        """This process and all it starts.

        period: seconds between two samples.
        measurement_period: seconds, at least 0.1, that the recording gives the mean over, with a line at the beginning and
            one at the end; None: of every sample.
        Raises FileExistsError where there is a recording and `cont` is not given.
        """
        return self._measure(None, period, measurement_period)

    def measure_from_pid_list(self, pid_list, period=2.0, measurement_period=None):
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
        session = self.driver._session(self._cont, options)
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
    tracker._log_warning(f"The summary of the model has no multiply-adds: {missing}.")
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

    def stop(self):
        """Takes the last sample and completes the recording. The second time, it does nothing.

        Raises RuntimeError in a fork of the process that records.
        """
        if self._owner != os.getpid():  # where nobody would give the lock back
            raise RuntimeError(
                "This process is a fork of the one that records; only that one can end the recording. "
                "Tell it to, by a queue of multiprocessing for example, or have it do so when this process has ended."
            )
        with self._lock:
            if not self._done.is_set():
                self._session.stop()
                self._warn()
                self._session = None
                self._done.set()
                atexit.unregister(self._leave)

    terminate = kill = stop

    def is_alive(self):
        """False once it is complete."""
        return not self._done.is_set()

    def join(self, timeout=None):
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
            tracker._log_warning(message)


def _lives(pid):
    try:
        with open(f"{os.environ.get('GPUT_PROCFS') or '/proc'}/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


class _Queue:
    """Takes the message that ends a recording."""

    def __init__(self, recorder):
        self._recorder = recorder

    def put(self, message, block=True, timeout=None):
        if message != STOP_MESSAGE:
            raise ValueError(f"{message!r} means nothing to a recording. It takes STOP_MESSAGE, which ends it.")
        self._recorder.stop()

    put_nowait = put


class Curve(Table):
    """The points of a metric in order of time: a sequence of `{"date": datetime, "value": number}`, and a Table with the
    columns date (text), seconds (after the first moment of the recording), segment (goes up where recording was stopped
    and went on) and value. The unit of the values is `units["value"]`."""

    __slots__ = ()

    def __getitem__(self, key):
        if isinstance(key, str):
            return super().__getitem__(key)
        dates, values = super().__getitem__("date")[key], super().__getitem__("value")[key]
        if isinstance(key, slice):
            return [_point(date, value) for date, value in zip(dates, values)]
        return _point(dates, values)

    def __iter__(self):
        return map(_point, self["date"], self["value"])

    def segments(self):
        """A pair of lists for each segment: seconds, values."""
        from itertools import groupby

        rows = zip(self["segment"], self["seconds"], self["value"])
        for _, points in groupby(rows, key=lambda row: row[0]):
            _, seconds, values = zip(*points)
            yield list(seconds), list(values)


def _point(date, value):
    return {"date": datetime.datetime.fromisoformat(date), "value": value}


class ExpResults:
    """A recording, read: what `energy record`, `run --energy-folder`, an Experiment or AIPowerMeter wrote.

    driver: a JsonParser or SqliteParser, or the folder.

    start and end, of all methods: a stretch of it, both ends included, each a datetime, a date as the recording has it, or
    a number of seconds after its first moment; None: no bound. A metric that has a number for each process counts as the
    sum of them. A figure that there is not is None.

    Raises FileNotFoundError where there is no recording, ValueError for a damaged one and for a metric it does not have.
    """

    def __init__(self, driver):
        self.driver = driver if hasattr(driver, "_open") else JsonParser(driver)
        self._recording = self.driver._open()
        if self._recording.warning:
            tracker._log_warning(self._recording.warning)

    def list_metrics(self):
        """The names of the metrics."""
        return self._recording.names

    def get_curve(self, name, start=None, end=None):
        """The points of a metric: a Curve."""
        return Curve(self._recording.curves([name], *_window(start, end))[name])

    def total_(self, metric_name, start=None, end=None):
        """The metric integrated over seconds, segment by segment: joules, of a power in watts; None of a single point."""
        return self._recording.metric(metric_name, *_window(start, end))["total"]

    def average_(self, metric_name, start=None, end=None):
        """The mean over time, in the unit of the metric."""
        return self._recording.metric(metric_name, *_window(start, end))["average"]

    def max_(self, metric_name, start=None, end=None):
        """The highest value, in the unit of the metric."""
        return self._recording.metric(metric_name, *_window(start, end))["max"]

    def total_power_draw(self, start=None, end=None):
        """Joules of the machine: CPU packages, DRAM and GPUs, as far as they were recorded."""
        return self._recording.total(*_window(start, end))

    def get_exp_duration(self, start=None, end=None):
        """Seconds recorded, segment by segment."""
        return self._recording.seconds(*_window(start, end))

    def get_summary(self, start=None, end=None):
        """All of it as a dictionary: total_power_draw (joules), exp_duration (seconds), metrics (of each: group, unit, total,
        average, max, seconds, points, segments), and metadata, model_summary and results_exp where the folder has them."""
        import json

        return json.loads(self._recording.render(_native.JSON, *_window(start, end)))

    def __str__(self):
        return self._recording.render(_native.TEXT, None, None).rstrip("\n")

    def print(self, start=None, end=None):
        """Prints the summary."""
        print(self._recording.render(_native.TEXT, *_window(start, end)), end="")

    def display_curves(self, metric_names, start=None, end=None):
        """Shows metrics over time in one plot: with matplotlib a figure of it, else a Picture, which notebooks show; other
        programs write it to a temporary file and print where. Returns either."""
        names = [metric_names] if isinstance(metric_names, str) else list(metric_names)
        pyplot = _pyplot()
        if pyplot is None:
            return _show(Picture(self._recording.draw(names, *_window(start, end))))
        curves = {name: self.get_curve(name, start, end) for name in names}
        figure, axes = pyplot.subplots()
        for number, (name, curve) in enumerate(curves.items()):
            _plot(axes, name, curve, f"C{number}")
        axes.set_xlabel("seconds")
        axes.set_ylabel(", ".join(dict.fromkeys(filter(None, (curve.units["value"] for curve in curves.values())))))
        axes.legend()
        pyplot.show()
        return figure

    def display_2_curves(self, metric_name1, metric_name2, start=None, end=None):
        """The same of two metrics, each by a scale of its own."""
        names = (metric_name1, metric_name2)
        pyplot = _pyplot()
        if pyplot is None:
            return _show(_below_each_other([self._recording.draw([name], *_window(start, end)) for name in names]))
        figure, first = pyplot.subplots()
        first.set_xlabel("seconds")
        for number, (name, axes) in enumerate(zip(names, (first, first.twinx()))):
            curve = self.get_curve(name, start, end)
            _plot(axes, name, curve, f"C{number}")
            unit = curve.units["value"]
            axes.set_ylabel(f"{name} ({unit})" if unit else name, color=f"C{number}")
        pyplot.show()
        return figure


def _window(start, end):
    return _bound(start), _bound(end)


def _bound(moment):
    if moment is None or isinstance(moment, str):
        return moment
    if isinstance(moment, datetime.datetime):
        # Recordings have the local time of their machine.
        return str(moment.astimezone().replace(tzinfo=None) if moment.tzinfo else moment)
    return repr(float(moment))


# ---- Pictures ----


def _pyplot():
    try:
        import matplotlib.pyplot
    except ImportError:
        return None
    return matplotlib.pyplot


def _plot(axes, name, curve, colour):
    label = name
    for seconds, values in curve.segments():
        axes.plot(seconds, values, color=colour, label=label, marker="." if len(values) == 1 else None)
        label = None  # once in the legend


class Picture:
    """An SVG picture: notebooks show it, `save` writes it."""

    def __init__(self, svg):
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def save(self, path):
        """Writes it to a file."""
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self.svg)


def _below_each_other(pictures):
    import re

    parts, bottom, width = [], 0, 0
    for svg in pictures:
        wide, high = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
        parts.append(svg.replace("<svg ", f'<svg y="{bottom}" ', 1))
        bottom, width = bottom + high, max(width, wide)
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}" width="{width}" height="{bottom}">\n'
    return Picture(f"{begin}{''.join(parts)}</svg>\n")


def _show(picture):
    ipython = sys.modules.get("IPython")
    if ipython and ipython.get_ipython():
        ipython.display.display(picture)
        return picture
    import tempfile

    descriptor, path = tempfile.mkstemp(prefix="gpu-tracker-", suffix=".svg")
    os.close(descriptor)
    picture.save(path)
    print(f"matplotlib is not installed. The curves are in {path}")
    return picture
