"""`cProfileAnalysis` and `PyinstrumentAnalysis`: the Python profiles of a training run by step, time, phase, mode and node."""

from __future__ import annotations

import itertools
import json
import os
import pstats

from .. import _native
from .._pandas import columns
from .._shown import Shown
from ..table import tables_of
from .python_stats import (
    PyinstrumentStepStats,
    PythonProfileModes,
    StepPhase,
    StepPythonProfileStats,
    cProfileStats,
    load_dump,
    word_of_mode,
)
from .views import logger, warned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    _Item = TypeVar("_Item")
    _Loaded = TypeVar("_Loaded")

_NONE_FIT = "No stats were found for the requested interval!"


class PythonProfileAnalysis(Shown):
    """The profiles below a folder, and those of them that fit what is asked for.

    local_profile_dir: the folder `framework/FRAMEWORK/PROFILER` of a trace root. s3_path is not read: copy it first.

    Each `fetch_…` takes node_id (default: the node of the first profile) and refresh_stats (False: the folder is not read
    again), and gives what the profiles that fit hold together; None, after a line that says so, where none fits.

    Raises FileNotFoundError, and ValueError for a folder whose name is not that of a profile.
    """

    profile_dir: str
    python_profile_stats: list[StepPythonProfileStats]

    name: str = ""

    def __init__(self, local_profile_dir: str | os.PathLike[str] = "/tmp/python_stats", s3_path: str | None = None) -> None:
        if s3_path is not None:
            raise ValueError(f"{s3_path} is not on this machine. Copy it first: aws s3 sync {s3_path} FOLDER")
        self.profile_dir = os.fspath(local_profile_dir)
        if not os.path.isdir(self.profile_dir):
            raise FileNotFoundError(f"There is no folder {self.profile_dir} of Python profiles")
        self._refresh_python_profile_stats(True)

    def _facts(self) -> list[tuple[str, str]]:
        return [("folder", self.profile_dir), ("profiles", str(len(self.python_profile_stats)))]

    def _refresh_python_profile_stats(self, refresh_stats: bool) -> None:
        if refresh_stats:
            found = [_describe(path, node, self.profile_dir) for path, node in _find(self.profile_dir)]
            found = [stats for stats in found if not self.name or stats.profiler_name == self.name]
            self.python_profile_stats = sorted(
                found, key=lambda stats: (stats.start_time_since_epoch_in_micros, stats.node_id)
            )

    def _fetch(self, node_id: str, refresh_stats: bool, fits: Callable[[StepPythonProfileStats], bool]) -> Any:
        self._refresh_python_profile_stats(refresh_stats)
        if node_id == "any" and self.python_profile_stats:
            node_id = self.python_profile_stats[0].node_id
        found = [stats for stats in self.python_profile_stats if stats.has_node_id(node_id) and fits(stats)]
        return self._aggregate_stats(found)

    def _aggregate_stats(self, stats: list[StepPythonProfileStats]) -> Any:
        return stats

    def fetch_profile_stats_by_step(
        self,
        start_step: float,
        end_step: float | None = None,
        mode: PythonProfileModes = PythonProfileModes.TRAIN,
        start_phase: StepPhase = StepPhase.STEP_START,
        end_phase: StepPhase = StepPhase.STEP_END,
        node_id: str = "any",
        refresh_stats: bool = True,
    ) -> Any:
        """Of steps, both inclusive (end_step None: of the one step), that began and ended in a mode."""
        end_step = start_step if end_step is None else end_step
        return self._fetch(
            node_id,
            refresh_stats,
            lambda stats: stats.in_step_interval(start_step, end_step, start_phase, end_phase)
            and stats.has_start_and_end_mode(mode, mode),
        )

    def fetch_profile_stats_by_time(
        self, start_time_since_epoch_in_secs: float, end_time_since_epoch_in_secs: float, node_id: str = "any", refresh_stats: bool = True
    ) -> Any:
        """Of the profiles that overlap an interval, in seconds since the epoch."""
        start, end = start_time_since_epoch_in_secs * 1000000, end_time_since_epoch_in_secs * 1000000
        return self._fetch(node_id, refresh_stats, lambda stats: stats.in_time_interval(start, end))

    def fetch_profile_stats_between_modes(self, start_mode: PythonProfileModes, end_mode: PythonProfileModes, node_id: str = "any", refresh_stats: bool = True) -> Any:
        """Of those that began in one mode and ended in the other."""
        return self._fetch(
            node_id, refresh_stats, lambda stats: stats.has_start_and_end_mode(start_mode, end_mode)
        )

    def fetch_pre_step_zero_profile_stats(self, node_id: str = "any", refresh_stats: bool = True) -> Any:
        """Of the time before step 0."""
        return self._fetch(node_id, refresh_stats, StepPythonProfileStats.has_pre_step_zero_profile_stats)

    def fetch_post_hook_close_profile_stats(self, node_id: str = "any", refresh_stats: bool = True) -> Any:
        """Of the time after the training, to the end of the script."""
        return self._fetch(node_id, refresh_stats, StepPythonProfileStats.has_post_hook_close_profile_stats)

    def list_profile_stats(self, refresh_stats: bool = True) -> Any:
        """A frame of all profiles: a row each, the columns the attributes of StepPythonProfileStats."""
        self._refresh_python_profile_stats(refresh_stats)
        if not self.python_profile_stats:
            print("No stats were found!")
            return columns({})
        rows = [vars(stats) for stats in self.python_profile_stats]
        data = {name: [row[name] for row in rows] for name in rows[0]}
        for name in ("start_mode", "end_mode"):
            data[name] = [word_of_mode(mode) for mode in data[name]]
        return columns(data)

    def list_available_node_ids(self, refresh_stats: bool = True) -> list[str]:
        """The nodes that there are profiles of, sorted."""
        self._refresh_python_profile_stats(refresh_stats)
        return sorted({stats.node_id for stats in self.python_profile_stats})


class cProfileAnalysis(PythonProfileAnalysis):
    """Profiles of cProfile; several that fit are added up as one cProfileStats."""

    name = "cprofile"

    def _aggregate_stats(self, stats: list[StepPythonProfileStats], refresh_stats: bool = True) -> cProfileStats | None:
        if not stats:
            print(_NONE_FIT)
            return None
        sum_of_all = pstats.Stats()
        for dump in _readable((one.stats_path for one in stats), load_dump):
            sum_of_all.add(dump)
        return cProfileStats(sum_of_all)

    def fetch_profile_stats_by_training_phase(self, node_id: str = "any", refresh_stats: bool = True) -> dict[tuple[PythonProfileModes, PythonProfileModes], cProfileStats]:
        """(start mode, end mode) -> cProfileStats, of those that there are."""
        self._refresh_python_profile_stats(refresh_stats)

        def of_pair(pair: tuple[PythonProfileModes, ...]) -> tuple[tuple[PythonProfileModes, PythonProfileModes], cProfileStats] | None:
            start, end = pair
            stats = self.fetch_profile_stats_between_modes(start, end, node_id, refresh_stats=False)
            return None if stats is None else ((start, end), stats)

        return dict(_readable(itertools.product(PythonProfileModes, repeat=2), of_pair))

    def fetch_profile_stats_by_job_phase(self, node_id: str = "any", refresh_stats: bool = True) -> dict[str, cProfileStats]:
        """"initialization", "training_loop", "finalization" -> cProfileStats; the first and last where there are any."""
        by_job_phase = {}
        loop = pstats.Stats()
        for (start_mode, end_mode), stats in self.fetch_profile_stats_by_training_phase(node_id, refresh_stats).items():
            if start_mode == PythonProfileModes.PRE_STEP_ZERO:
                by_job_phase["initialization"] = stats
            elif end_mode == PythonProfileModes.POST_HOOK_CLOSE:
                by_job_phase["finalization"] = stats
            else:
                loop.add(stats.ps)
        return by_job_phase | {"training_loop": cProfileStats(loop)}


class PyinstrumentAnalysis(PythonProfileAnalysis):
    """Sessions of pyinstrument; those that fit are a list of PyinstrumentStepStats."""

    name = "pyinstrument"

    def _aggregate_stats(self, stats: list[StepPythonProfileStats]) -> list[PyinstrumentStepStats] | None:
        if not stats:
            print(_NONE_FIT)
            return None
        return _readable((one.stats_path for one in stats if one.stats_path.endswith(".json")), _load_session)


def _readable(items: Iterable[_Item], load: Callable[[_Item], _Loaded | None]) -> list[_Loaded]:
    """What `load` makes of each, but for None. Those whose file it refuses are skipped with a warning, unless that leaves none."""
    loaded: list[_Loaded] = []
    refused: list[Exception] = []
    for item in items:
        try:
            result = load(item)
            loaded += [] if result is None else [result]
        except (OSError, ValueError) as refusal:
            refused.append(refusal)
    if refused and not loaded:
        raise refused[0]
    for error in refused:
        logger.warning("%s; this profile is skipped", error)
    return loaded


def _load_session(path: str) -> PyinstrumentStepStats:
    with open(path, encoding="utf-8") as file:
        try:
            session = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path} is not a session of pyinstrument: {error}") from error
    return PyinstrumentStepStats(path.removesuffix(".json") + ".html", session)


def _find(folder: str) -> Iterator[tuple[str, str]]:
    """(path, node) of each profile below a folder: dumps of cProfile, sessions of pyinstrument and their pages."""
    table = tables_of(warned(_native.python_profiles([folder])))["profiles"]
    for path, node in zip(table["stats_path"], table["node_id"]):
        if os.path.basename(path) not in ("python_stats", "python_stats.json"):
            logger.info("%s is not one of a training run's profiles and is skipped", path)
            continue
        yield path, node
        page = path.removesuffix(".json") + ".html"
        if path.endswith(".json") and os.path.exists(page):
            yield page, node


def _describe(path: str, node: str, profile_dir: str) -> StepPythonProfileStats:
    folder, name = os.path.split(path)
    profiler = "cprofile" if name == "python_stats" else "pyinstrument"
    node = node or os.path.basename(os.path.dirname(folder))
    framework = os.path.basename(os.path.dirname(os.path.abspath(profile_dir)))
    return StepPythonProfileStats(framework, profiler, node, os.path.basename(folder), path)
