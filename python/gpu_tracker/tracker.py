"""`Tracker`: what a block of code, or a process, used."""

from __future__ import annotations

import enum
import operator
import os
import sys

from . import _native
from ._lazy import names_of as _names_of
from ._messages import log_warnings as _log_warnings
from ._nearest import explains_options as _explains_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    import tempfile
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal
    from ._usage import (
        ComputeTime as ComputeTime,
        CPUUtilization as CPUUtilization,
        GPUUtilization as GPUUtilization,
        MaxGPURAM as MaxGPURAM,
        MaxRAM as MaxRAM,
        ProcessingUnitPercentages as ProcessingUnitPercentages,
        ResourceUsage as ResourceUsage,
        RSSValues as RSSValues,
    )
    from ._reports import Picture
    from .table import Table

    _RamUnit = Literal["bytes", "kilobytes", "megabytes", "gigabytes", "terabytes"]
    _TimeUnit = Literal["seconds", "minutes", "hours", "days"]
    _EnergyUnit = Literal["joules", "watt-hours", "kilowatt-hours"]

_DISPLAY_TOO_EARLY = (
    "Cannot display the tracker in string or JSON format before tracking completes. "
    "Exit the content manager or call the stop() method before calling to_json() or str()"
)
# The part of a report that `str` and `to_json` give, as in the older package; `report` and `details` have the rest.
# Another tracker may take the same name at the same time.
_MAX_NAME_TRIES = 100
# For the curves of notebooks, without a tracking file: 100 kB at most.
_KEPT_SAMPLES = 2048
_SESSION = "GPUT_SESSION"
_SECTIONS = ("max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time")

_USAGE_CLASSES = (
    "RSSValues MaxRAM MaxGPURAM ProcessingUnitPercentages CPUUtilization GPUUtilization ComputeTime ResourceUsage".split()
)
__getattr__, __dir__ = _names_of(globals(), dict.fromkeys(_USAGE_CLASSES, "_usage"))


class _State(enum.Enum):
    NEW = 0
    STARTED = 1
    STOPPED = 2

    def __reduce_ex__(self, protocol: Any) -> tuple[type[_State], tuple[int]]:
        """By its value: Python 3.11.2 would have pickles call getattr()."""
        return type(self), (self.value,)


_State.__qualname__ = "Tracker.State"  # pickles name the class by its public place
_STATES = {_State.NEW: "not started", _State.STARTED: "tracking", _State.STOPPED: "stopped"}


class Tracker:
    """Tracks the resources that the calling process, or another, and all its descendants use.

    Use it as a context manager, or call `start()` and `stop()`. A native thread takes the samples and never holds the
    interpreter's lock. So it does not slow Python code down, and a call that holds the lock does not stop it. The
    figures are kept if the block raises. After a fork only the parent tracks.

    sleep_time: seconds between two samples, from 0.001.
    ram_unit, gpu_ram_unit: bytes, kilobytes, megabytes, gigabytes, terabytes; decimal.
    time_unit: seconds, minutes, hours, days.
    n_expected_cores: the divisor of hardware percentages; None: those that the process may use.
    gpu_uuids: the GPUs whose utilization counts: a list, or one as a string; None: those that the process sees
        (CUDA_VISIBLE_DEVICES).
    disable_logs: no warnings. Otherwise they go to the logger "gpu_tracker", when tracking starts and when it stops.
    process_id: the process to track; None: this one.
    resource_usage_file: the file for the figures so far while tracking runs, for `gpu_tracker.load_resource_usage`
        after a crash; None: a hidden file of a random name in the working directory. `stop` removes it.
    n_join_attempts, join_timeout: how often, and for how many seconds each time, `stop` waits for the tracking process
        of `own_process`; without one there is nothing to wait for.
    gpu_brand: nvidia, amd or intel; None: all that are found.
    tracking_file: a .csv or .sqlite file for every sample. Names of files have the placeholders of the command (`%r`, `%h` …);
        under mpirun and other launchers the rank is put into a name without any, and one that is taken gets a number.
    overwrite: replace an existing tracking file.
    own_process: track from a separate process, which goes on to the end if this one crashes, and completes the files:
        `resource_usage_file` then has the report as JSON.
    ram_mode: "adaptive", or "exact": read private and shared RAM at every sample, at any cost; "totals": not
        while only one process is tracked.
    processes: keep a record of every process: see `processes`. command_lines: with their command lines, which may
        contain secrets.
    gpu_parts: how busy parts of NVIDIA's chips are, from Hopper on: DCGM may miss values meanwhile, which a warning says.
    energy_unit: joules, watt-hours, kilowatt-hours; for `report` and `details`.
    carbon_intensity: grams of CO2 equivalent per kWh of the grid, or the code of a country ("FR", "FRA") for its mean
        over a year; the report then has the emissions.
    energy_folder: also record power in this folder, in AIPowerMeter's format: `gpu_tracker.power.ExpResults` reads it.
    listen: "127.0.0.1:5001", or another host and port: where /metrics is served to Prometheus while tracking runs. A
        port alone listens on this machine only. Port 0 chooses a free port, which `address` then has. Other names of
        this machine follow after commas: "0.0.0.0:5001,trainer.example.org".
    otlp: "http://collector:4318", or "" for what OpenTelemetry's variables say: where metrics are sent while tracking
        runs. remote_write: the same for Prometheus' remote write. push_interval: seconds between two samples that are sent.
        push_timeout: seconds that a receiver has to answer, at the end 10 at most; 0: 10 by otlp, 30 by remote_write, at the end 0.5 to 3. labels: {"job": "train"}: of all metrics.
        textfile_folder: a folder of node_exporter's textfile collector, which sessions may share: a file with the metrics of this one.
    limits: {"ram": "8GB", "gpu_ram": 2e9, "seconds": "2h", "cpu_seconds": 90}, any of them: when the tracked processes
        exceed one, there is a warning, and `limit_passed` is set. Sizes take B, KB, KiB and so on, times s, m, h, d.
    log_to: "mlflow", "wandb", "trackio" or "tensorboard": where the curves and the summary are logged when tracking stops: into the run
        that is active in this process or that the tool's variables name, else into one of its own (docs/log-to.md).
    history: keep a row of the session for `gpu-tracker history`; None: if `gpu-tracker history on` was said or GPUT_HISTORY is set,
        and this is not inside of another session.
    enforce: end the tracked processes, with all they started, when a limit is exceeded: SIGTERM, and SIGKILL five
        seconds later for those that are left. It needs `process_id`, or `own_process`: a program that tracks itself is not ended.

    `resource_usage` holds the figures as data classes after `stop`, None before; `max_ram`, `max_gpu_ram`, `cpu_utilization`,
    `gpu_utilization` and `compute_time` are its parts.
    """

    state: _State
    resource_usage: ResourceUsage  # None before stop(), which types need not check for
    max_ram: MaxRAM
    max_gpu_ram: MaxGPURAM
    cpu_utilization: CPUUtilization
    gpu_utilization: GPUUtilization
    compute_time: ComputeTime
    n_join_attempts: int
    join_timeout: float

    State = _State

    @_explains_options
    def __init__(
        self,
        sleep_time: float = 1.0,
        ram_unit: _RamUnit = "gigabytes",
        gpu_ram_unit: _RamUnit = "gigabytes",
        time_unit: _TimeUnit = "hours",
        n_expected_cores: int | None = None,
        gpu_uuids: Iterable[str] | None = None,
        disable_logs: bool = False,
        process_id: int | None = None,
        resource_usage_file: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
        n_join_attempts: int = 5,
        join_timeout: float = 10.0,
        gpu_brand: Literal["nvidia", "amd", "intel"] | None = None,
        tracking_file: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
        overwrite: bool = False,
        *,
        own_process: bool = False,
        ram_mode: Literal["adaptive", "exact", "totals"] = "adaptive",
        processes: bool = False,
        command_lines: bool = False,
        energy_unit: _EnergyUnit = "joules",
        carbon_intensity: float | str | None = None,
        energy_folder: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
        listen: str | None = None,
        limits: Mapping[str, str | float] | None = None,
        enforce: bool = False,
        otlp: str | None = None,
        labels: Mapping[str, str] | None = None,
        push_interval: float = 0,
        remote_write: str | None = None,
        textfile_folder: str | os.PathLike[str] | None = None,
        push_timeout: float = 0,
        log_to: Literal["mlflow", "wandb", "trackio", "tensorboard"] | None = None,
        history: bool | None = None,
        gpu_parts: bool = False,
    ) -> None:
        _check_join(n_join_attempts, join_timeout)
        self.state = self.State.NEW
        vars(self)["resource_usage"] = None
        self.n_join_attempts = n_join_attempts
        self.join_timeout = join_timeout
        self._disable_logs = disable_logs
        self._process_id = _number("process_id", process_id)
        self._owner = os.getpid()
        self._is_gone = False  # the process, before tracking could begin
        self._report: dict[str, Any] | None = None
        self._report_text: str | None = None
        self._processes: _native.Table | None = None
        if _path(resource_usage_file) == "":
            raise ValueError("resource_usage_file needs the name of a file, and was given an empty one.")
        options = {
            "sleep_time": _seconds("sleep_time", sleep_time),
            "ram_unit": ram_unit,
            "gpu_ram_unit": gpu_ram_unit,
            "time_unit": time_unit,
            "n_expected_cores": _number("n_expected_cores", n_expected_cores) or None,
            "gpu_uuids": _uuids(gpu_uuids),
            "gpu_brand": _brand(gpu_brand),
            "tracking_file": _path(tracking_file),
            "overwrite": overwrite,
            "resource_usage_file": _path(resource_usage_file),
            "ram_mode": ram_mode,
            "gpu_parts": gpu_parts,
            "processes": processes or command_lines,
            "command_lines": command_lines,
            "energy_unit": "joules" if energy_unit is None else energy_unit,
            "carbon_intensity": carbon_intensity,
            "energy_folder": _path(energy_folder),
            "listen": listen,
            "limits": limits,
            "enforce": enforce,
            "otlp": otlp,
            "labels": ",".join(f"{name}={value}" for name, value in labels.items()) if labels else None,
            "push_interval": push_interval or None,
            "remote_write": remote_write,
            "textfile_folder": textfile_folder and os.path.abspath(textfile_folder),
            "push_timeout": push_timeout or None,
        }
        self._has_processes = options["processes"] and not own_process
        self._takes_free_names = _name_files(options)
        self._tracking_file = options["tracking_file"] and os.path.abspath(options["tracking_file"])
        self._keeps_samples = not own_process and not self._tracking_file
        if log_to is not None:
            self._prepare_log(log_to, options)
        from . import _history

        self._keeps_history = _history.is_kept(history)
        if own_process:
            from ._own_process import OwnProcessSession

            # A session that never begins checks all options and leaves no files.
            warnings = _create_session(options).take_warnings()
            self._session: Any = OwnProcessSession(options, warnings, n_join_attempts, join_timeout, self._keeps_history)
        else:
            if self._keeps_samples:
                options["keep_samples"] = _KEPT_SAMPLES
            self._session = self._create_session(options)
        if log_to is not None:
            self._logged_samples = options["tracking_file"]
        self._warn()

    # The class's, for trackers from older pickles.
    _tracking_file: str | None = None
    _samples: Sequence[tuple[float, ...]] = ()
    _named: str | None = None  # the environment's variable while tracking runs
    _outer: str | None = None  # and before
    _keeps_history = False
    _log_to: str | None = None
    _logged_samples: str | None = None  # the tracking file, perhaps a temporary one
    _temporary: tempfile.TemporaryDirectory[str] | None = None

    def _prepare_log(self, target: str, options: dict[str, Any]) -> None:
        """Raises where that cannot be logged to; samples of a session without a tracking file go to a temporary one."""
        from ._log_to import check

        check(target)
        if not options["tracking_file"]:
            import tempfile

            self._temporary = tempfile.TemporaryDirectory(prefix="gpu-tracker-")
            options["tracking_file"] = os.path.join(self._temporary.name, "samples.sqlite")
        self._log_to = target

    def _log(self) -> None:
        """Logs the session that has ended. What the tracker of experiments does not take is a warning, as the figures are here."""
        import json
        import logging
        import tempfile

        from ._log_to import log

        assert self._log_to is not None
        try:
            with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as report:
                json.dump(self._report, report)
                report.flush()
                place = log(self._log_to, report.name, self._logged_samples)
            logging.getLogger("gpu_tracker").info("Logged to %s", place)
        except Exception as error:
            if not self._disable_logs:
                _log_warnings([f"This session is not in {self._log_to}: {' '.join(str(error).split())[:600]}"])

    def _create_session(self, options: dict[str, Any]) -> _native.Session:
        """In a job a tracking file that is taken is not an error: it gets the next free name."""
        for _ in range(_MAX_NAME_TRIES):
            try:
                return _create_session(options)
            except FileExistsError:
                taken = options["tracking_file"]
                if not self._takes_free_names or not taken or not os.path.exists(taken):
                    raise
            options["tracking_file"] = _native.free_name(taken)
            self._tracking_file = os.path.abspath(options["tracking_file"])
            if not self._disable_logs:
                _log_warnings([f"The tracking file exists: samples are written to {options['tracking_file']}."])
        return _create_session(options)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles, which `gpu-tracker -f pickle` writes too. Of a tracker that was stopped; a running one has none."""
        if self.state is not self.State.STOPPED:
            raise TypeError("Cannot pickle a tracker before tracking completes. Call the stop() method first.")
        names = ("resource_usage", "n_join_attempts", "join_timeout", "state")
        return {name: getattr(self, name) for name in names} | {"details": self._report, "text": self._report_text}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        self._report, self._report_text = state.pop("details"), state.pop("text")
        self._session = self._processes = None
        self._owner = os.getpid()
        vars(self).update(state)

    def __enter__(self) -> Tracker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        # A child that was forked inside the block leaves it too; it has nothing to stop.
        if self._owner == os.getpid():
            self.stop()

    def __getattr__(self, name: str) -> Any:
        # The first release had them on the tracker itself: `tracker.max_ram`.
        if name not in _SECTIONS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.resource_usage and getattr(self.resource_usage, name)

    def __repr__(self) -> str:
        return f"State: {self.state.name}"

    def start(self) -> None:
        """Takes the first sample and starts the sampling thread.

        Raises RuntimeError when it was started before.
        """
        if self.state is not self.State.NEW:
            word = "started" if self.state is self.State.STARTED else "stopped"
            raise RuntimeError(f"Cannot start tracking when tracking has already {word}.")
        try:
            self._session.track(self._process_id)
        except ProcessLookupError:
            self._is_gone = True
            if not self._disable_logs:
                _log_warnings([f"The target process of ID {self._process_id} ended before tracking could begin."])
        self.state = self.State.STARTED
        if self._process_id in (0, os.getpid()) and not self._is_gone:
            self._name_in_environment()
        self._warn()

    def _name_in_environment(self) -> None:
        """Programs that are started from here on know by this that they are within this session, as the command of
        `gpu-tracker run` does."""
        details = getattr(self._session, "details_so_far", self._details_so_far)()
        if details and (own := details["identity"]["session_id"]):
            self._outer = os.environ.get(_SESSION)
            self._named = "/".join(filter(None, (details["identity"]["within"], own)))
            os.environ[_SESSION] = self._named

    def _leave_environment(self) -> None:
        if self._named is None or os.environ.get(_SESSION) != self._named:
            return
        if self._outer is None:
            del os.environ[_SESSION]
        else:
            os.environ[_SESSION] = self._outer

    def stop(self) -> None:
        """Takes the last sample, completes the files and fills `resource_usage`.

        Raises RuntimeError when it was not started, or was stopped before.
        """
        if self.state is self.State.NEW:
            raise RuntimeError("Cannot stop tracking when tracking has not started yet.")
        if self.state is self.State.STOPPED:
            raise RuntimeError("Cannot stop tracking when tracking has already stopped.")
        if not self._is_gone:
            self._session.stop()
        self._leave_environment()
        self._take_report()
        self._keep_in_history()
        self._warn()
        self._session = None
        self.state = self.State.STOPPED
        from ._usage import resource_usage_of

        assert self._report is not None
        self.resource_usage = resource_usage_of(self._report)
        if self._log_to and not self._is_gone:
            self._log()
        if self._temporary:
            self._temporary.cleanup()

    def _keep_in_history(self) -> None:
        """Of `own_process` that process does it."""
        if not self._keeps_history or self._is_gone or not isinstance(self._session, _native.Session):
            return
        from . import _history

        name = _history.own_name() if self._process_id in (0, os.getpid()) else None
        files = [self._tracking_file] if self._tracking_file else []
        try:
            self._session.keep(_history.place(), name, *files)
        except (OSError, ValueError, RuntimeError) as error:  # also of a database that is none
            if not self._disable_logs:
                _log_warnings([f"This session is not in the history: {error}"])

    def _take_report(self) -> None:
        report = self._session.empty_report if self._is_gone else self._session.report
        if not self._is_gone:
            self._processes = self._read_processes()
            self._samples = self._session.samples() if self._keeps_samples else ()
        self._report = report(_native.DETAILS)
        self._report_text = report(_native.FULL)

    def _read_processes(self) -> _native.Table | None:
        """The native table; None when it was not asked for, or is not to be had."""
        tables = self._session.processes() if self._has_processes else {}
        return tables.get("processes")

    @property
    def processes(self) -> Table:
        """With `processes` of the constructor: a Table with a row for each process that was tracked, also those that lived
        between two samples; so far while tracking runs. Times in seconds, sizes in bytes."""
        is_running = self.state is self.State.STARTED and not self._is_gone
        table = self._read_processes() if is_running else self._processes
        if table is None:
            raise RuntimeError(
                "There is no list of processes: set processes to True, own_process to False, and start tracking."
            )
        from .table import Table

        return Table(table)

    @property
    def address(self) -> str | None:
        """Where metrics are served, as "127.0.0.1:5001" (of `own_process` as it was given); None: nowhere, or not any more."""
        address: str | None = self._session and self._session.address()
        return address

    @property
    def limit_passed(self) -> dict[str, Any] | None:
        """The first of `limits` that was exceeded, as a dictionary: kind, value (sizes in `ram_unit` or `gpu_ram_unit`, times in
        seconds), at_seconds, enforced. None: none was. Also while tracking runs, as of the last sample, but not with
        `own_process`."""
        report = self._report or self._details_so_far()
        return _plain(report.get("limit_passed")) if report else None

    def _warn(self) -> None:
        for message in self._session.take_warnings():
            # Notebooks show warnings in red, and what the tracker shows there says that there is no GPU.
            is_shown = "ipykernel" in sys.modules and message.startswith("No GPU was found")
            if not self._disable_logs and not is_shown:
                _log_warnings([message])

    def _check_done(self) -> None:
        if self.resource_usage is None:
            raise RuntimeError(_DISPLAY_TOO_EARLY)

    def __str__(self) -> str:
        return _first_sections(self.report())

    def _repr_html_(self) -> str:
        """For notebooks: the main figures and curves, while tracking runs those so far. Charts to zoom into if there is a tracking file and
        tracking is complete."""
        from . import _display

        if self.resource_usage is not None and self._report is not None:
            return _display.tracker_html(self._report, self._tracking_file, self._samples)
        details = self._details_so_far()
        if details is None:
            return _display.facts_html("Tracker", [("State", _STATES[self.state])])
        samples = self._session.samples() if self._keeps_samples else ()
        return _display.running_html(details, self._tracking_file, samples)

    def _details_so_far(self) -> dict[str, Any] | None:
        """None: tracking does not run, or in a process of its own."""
        if self.state is not self.State.STARTED or self._is_gone:
            return None
        details: dict[str, Any] = self._session.report(_native.DETAILS)
        return details

    def to_json(self) -> dict[str, dict[str, Any]]:
        """`resource_usage` as a dictionary, ready for `json.dumps`."""
        self._check_done()
        assert self._report is not None
        return {section: _plain(self._report[section]) for section in _SECTIONS}

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The whole report as text: also energy, each GPU, the kernel's own peaks and counts, the cost of tracking, and
        where each figure comes from. As the command `gpu-tracker` prints it.

        path: also write an HTML report to this file, with curves where there is a tracking file: see docs/report.md.
        """
        self._check_done()
        assert self._report is not None and self._report_text is not None
        if path is not None:
            from ._reports import report_of_tracker

            report_of_tracker(self._tracking_file, self._report, path)
        return self._report_text

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Picture | None:
        """Draws what the tracking file has, as `gpu_tracker.plot()` does, with the options that it takes."""
        self._check_done()
        if self._tracking_file is None:
            raise RuntimeError("There are no samples to draw: give the tracker a tracking_file.")
        from ._reports import plot

        return plot(self._tracking_file, path, **options)

    @property
    def details(self) -> dict[str, Any]:
        """The same as a dictionary, which notebooks show as tables; None is a figure that is not known on this machine."""
        self._check_done()
        return _Details(_plain(self._report))


class _Details(dict[str, "Any"]):
    """Notebooks show each section as a table."""

    def _repr_html_(self) -> str:
        from ._display import details_html

        return details_html(self)


def _number(name: str, value: Any) -> int:
    """0 for None."""
    if value is None:
        return 0
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} is {value!r}; it is a whole number, or None.")
    number = operator.index(value)
    if not 1 <= number < 2**31:
        raise ValueError(f"{name} is {number}; it is a number from 1 to {2**31 - 1}, or None.")
    return int(number)


def _seconds(name: str, value: Any) -> Any:
    if not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise TypeError(f"{name} is {value!r}; it is a number of seconds.")
    return value


def _check_join(attempts: int, timeout: float) -> None:
    if not operator.index(attempts) >= 1:
        raise ValueError(f"n_join_attempts is {attempts}; it is 1 or more.")
    if not 0 < timeout < float("inf"):
        raise ValueError(f"join_timeout is {timeout}; it is a number of seconds above 0.")


def _brand(brand: str | None) -> str | None:
    if brand not in (None, "nvidia", "amd", "intel"):
        from ._nearest import question

        raise ValueError(f'"{brand}" is not a valid GPU brand{question(("nvidia", "amd", "intel"), brand)} Supported values are "nvidia", "amd" and "intel".')
    return brand


def _path(path: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None) -> str | None:
    return None if path is None else os.fsdecode(path)


def _uuids(uuids: Iterable[str] | None) -> str | None:
    """Of any iterable; a text is one, or several with commas between them."""
    if uuids is None or isinstance(uuids, str):
        return uuids
    uuids = ",".join(sorted(uuids))
    if not uuids:
        raise ValueError("gpu_uuids is not None but the set is empty. Please provide a set of at least one GPU UUID.")
    return uuids


def _plain(value: Any) -> Any:
    """A copy of a report that its user may change."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _first_sections(text: str) -> str:
    """The lines up to the one that ends the section "Compute time"."""
    lines = text.splitlines()
    end = lines.index("Compute time:") + 1
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    return "\n".join(lines[:end])


def _roots() -> dict[str, str | None]:
    """Where sessions read, as the environment has it."""
    get = os.environ.get
    return {"procfs_root": get("GPUT_PROCFS"), "sysfs_root": get("GPUT_SYSFS"), "nvml_path": get("GPUT_NVML")}


def _name_files(options: dict[str, Any]) -> bool:
    """Each file gets the name that it has in this process; whether one that is taken gets the next free one."""
    names = "tracking_file", "resource_usage_file", "energy_folder"
    paths, takes_free_names = _native.name_files([options[name] or None for name in names])
    options.update({name: path for name, path in zip(names, paths) if path})
    return takes_free_names


def _create_session(options: dict[str, Any]) -> _native.Session:
    """A session in this process."""
    try:
        return _native.Session(**_roots(), **options)
    except FileExistsError as error:
        # A recording of power is continued by the command and by `power.Experiment`, not here.
        raise FileExistsError(str(error).replace(", or --cont to add to it", "")) from None
