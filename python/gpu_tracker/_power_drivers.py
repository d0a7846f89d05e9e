"""Where recordings of power are: JsonParser and SqliteParser of gpu_tracker.power."""

from __future__ import annotations

import datetime
import json
import os

from . import _native
from ._shown import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    _Group = dict[str, Any] | None


class JsonParser(Shown):
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

    def _facts(self) -> list[tuple[str, str]]:
        return [("folder", self.folder), *((str(name), str(value)) for name, value in self.meta_data.items())]

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

    def _path(self, name: str) -> str:
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

    def _save(self, name: str, value: Any) -> None:
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

    def _alone(self) -> AbstractContextManager[Any]:
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

    def _session(self, cont: bool, options: dict[str, Any]) -> _native.Session:
        try:
            session = _native.Session(energy_folder=self.folder, energy_driver="sqlite" if self._sqlite else "json", energy_continue=cont, **options)
        except FileExistsError:
            raise FileExistsError(
                f"There is a recording in {self.folder} already. Give another folder, or cont=True to add to it."
            ) from None
        if self.meta_data:
            self._describe()
        return session

    def _describe(self) -> None:
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

    def _load(self, name: str) -> Any:
        try:
            with open(self._path(name), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def _described(self) -> dict[str, Any]:
        """What the folder has besides the curves; a file that is damaged, of which the recording warns, is skipped."""
        found = {}
        for key in "metadata", "model_summary", "results_exp":
            try:
                with open(self._path(f"{key}.json"), encoding="utf-8") as file:
                    found[key] = json.load(file, parse_constant=lambda name: None)  # NaN: not known
            except (OSError, ValueError):
                continue
        return found

    def load_metrics(self) -> tuple[_Group, _Group, _Group, _Group]:
        """All curves, for those of the CPU, of the GPUs, of the experiment and of the wattmeter each a dictionary
        `{name: {"dates": [datetime, …], "values": [number, …]}}`, of a metric by GPU `{name: {gpu: {"dates", "values"}}}`;
        None where there are none."""
        recording = self._open()
        cpu, gpu, experiment, wattmeter = (_load_group(recording, group) for group in ("cpu", "gpu", "experiment", "wattmeter"))
        return cpu, gpu, experiment, wattmeter

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
        ends: dict[int, str] = {}
        recording = self._open()
        for group, name, _ in recording.metrics:
            if group in ("cpu", "gpu"):
                table = recording.curves([name])[name]
                for date, segment in zip(*(table.column(number) for number in (0, 2))):
                    ends[segment] = max(date, ends.get(segment, date), key=datetime.datetime.fromisoformat)
        return [datetime.datetime.fromisoformat(ends[segment]) for segment in sorted(ends)][:-1]

    def _open(self) -> _native.Recording:
        return _native.Recording(self.folder)


# All that a recording can consist of. The lock comes last.
_FILES = (
    "power_metrics.json", "power_metrics.sqlite", "power_metrics.sqlite-wal", "power_metrics.sqlite-shm",
    "results_exp.json", "model_summary.json", "omegawatt.csv", "metadata.json",
)  # fmt: skip


def _load_group(recording: _native.Recording, wanted: str) -> _Group:
    found: dict[str, Any] = {}
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


for _class in JsonParser, SqliteParser:
    _class.__module__ = "gpu_tracker.power"  # where programs import them from
