"""Recordings of power, read: ExpResults of gpu_tracker.power."""

from __future__ import annotations

import datetime
import functools
import os
import sys

from . import _native
from ._messages import log_warnings
from ._power_drivers import JsonParser
from ._reports import Picture
from ._shown import Shown
from .table import Table, records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, SupportsFloat

    _Moment = datetime.datetime | str | SupportsFloat | None
    _Figure = float | dict[str, float | None] | None
    _Duration = tuple[float, float, float]

# The groups of metrics as ExpResults.list_metrics() names them.
_GROUPS = {"cpu": "CPU", "gpu": "GPU", "experiment": "Experiment", "wattmeter": "wattmeter"}


class Curve(list[list[dict[str, float]]]):
    """The points of a metric: a list for each segment (a recording may have stopped and gone on), of
    `{"date": seconds since 1970, "value": number}` in order of time.

    table: the same as a Table with the columns date (text), seconds (after the first moment of the recording), segment and
        value, which pandas, polars and pyarrow take.
    unit: of the values: "watts", "bytes" or None.
    """

    def __init__(self, table: Table) -> None:
        from itertools import groupby

        super().__init__(
            [{"date": _epoch(date), "value": value} for _, date, value in points]
            for _, points in groupby(zip(table["segment"], table["date"], table["value"]), key=lambda point: point[0])
        )
        self.table = table
        self.unit = table.units["value"]

    def _repr_html_(self) -> str:
        """For notebooks: the first points."""
        return self.table._repr_html_()


def _epoch(date: str) -> float:
    """A date of a recording, which is in the local time of its machine, in seconds since 1970."""
    return datetime.datetime.fromisoformat(date).timestamp()


class ExpResults(Shown):
    """A recording, read: what `energy record`, `run --energy-folder`, an Experiment or AIPowerMeter wrote.

    db_driver: a JsonParser or SqliteParser, or the folder.

    start and end, of all methods: an interval of it, both ends included; None: no bound. Each is a datetime, a date as the
    recording has it, or a number of seconds: after its first moment or, from 1e8 on, since 1970.

    A metric that has a number for each process counts as the sum of them. One that has a number for each GPU is a dictionary
    by GPU everywhere: `total_("per_gpu_nvidia_power")` is `{"0": joules, "1": joules}`, and
    `total_("per_gpu_nvidia_power:0")` the joules of the one. A figure that there is not, and all of a metric that the
    recording does not have, is None.

    Raises FileNotFoundError where there is no recording, ValueError for a damaged one and for an interval outside it.
    """

    def __init__(self, db_driver: JsonParser | str | os.PathLike[str]) -> None:
        self.db_driver = JsonParser(db_driver) if isinstance(db_driver, (str, os.PathLike)) else db_driver
        self._recording = self.db_driver._open()
        self._devices = {name: device for _, name, device in self._recording.metrics}
        if self._recording.warning:
            log_warnings([self._recording.warning])

    def _facts(self) -> list[tuple[str, str]]:
        return [("folder", self.db_driver.folder), ("metrics", str(len(self._devices)))]

    # Attributes of AIPowerMeter's results.

    @functools.cached_property
    def cpu_metrics(self) -> dict[str, Any] | None:
        """The curves of the CPU, `{name: {"dates": [datetime, …], "values": [number, …]}}`; None where there are none."""
        return self.db_driver.load_cpu_metrics()

    @functools.cached_property
    def gpu_metrics(self) -> dict[str, Any] | None:
        """The same of the GPUs; of a metric by GPU `{name: {gpu: {"dates": …, "values": …}}}`."""
        return self.db_driver.load_gpu_metrics()

    @functools.cached_property
    def exp_metrics(self) -> dict[str, Any] | None:
        """The same of results_exp.json."""
        return self.db_driver.load_exp_metrics()

    @functools.cached_property
    def wattmeter_metrics(self) -> dict[str, Any] | None:
        """The same of omegawatt.csv."""
        return self.db_driver.load_wattmeter_metrics()

    @functools.cached_property
    def segments(self) -> list[datetime.datetime]:
        """The last date of each segment but the last one."""
        return self.db_driver.get_segments()

    @property
    def model_card(self) -> Any:
        """What model_summary.json holds, or None."""
        return self.db_driver.get_model_card()

    def list_metrics(self) -> dict[str, list[str]]:
        """The names of the metrics: a list for each of "CPU", "GPU", "Experiment" and "wattmeter"."""
        found: dict[str, dict[str, bool]] = {group: {} for group in _GROUPS.values()}
        for group, name, device in self._recording.metrics:
            found[_GROUPS[group]][_base(name, device)] = True  # a set that keeps its order
        return {group: list(names) for group, names in found.items()}

    def print_metrics(self) -> None:
        """Prints the names of the metrics."""
        for group, names in self.list_metrics().items():
            print(f"{group}\n   {', '.join(names) or 'NOT AVAILABLE'}")

    def __str__(self) -> str:
        listed = "\n".join(f"{group}\n  {','.join(names) or 'NOT AVAILABLE'}" for group, names in self.list_metrics().items())
        return f"Available metrics :\n{listed}\n\nprint() shows what was used."

    def _repr_html_(self) -> str:
        """For notebooks: the summary, as print() prints it."""
        from ._display import text_html

        return text_html(self._recording.text(*_window(None, None)))

    def _each(self, name: str, function: Callable[[str], Any]) -> Any:
        """function() of a metric; of one by GPU a dictionary; None of one that there is not."""
        names = self._recording.select(name)
        if names and (name in names or self._devices[names[0]] is None):
            return function(names[0])
        return {self._devices[each]: function(each) for each in names} or None

    def get_curve(self, name: str, start: _Moment = None, end: _Moment = None) -> Curve | dict[str, Curve] | None:
        """The points of a metric: a Curve, a list of segments."""
        window = _window(start, end)
        found: Curve | dict[str, Curve] | None = self._each(name, lambda each: Curve(Table(self._recording.curves([each], *window)[each])))
        return found

    def _figure(self, name: str, figure: str, start: _Moment, end: _Moment) -> _Figure:
        window = _window(start, end)
        found: _Figure = self._each(name, lambda each: self._recording.metric(each, *window)[figure])
        return found

    def total_(self, metric_name: str, start: _Moment = None, end: _Moment = None) -> _Figure:
        """The metric integrated over seconds, segment by segment: joules, of a power in watts; None of a single point."""
        return self._figure(metric_name, "total", start, end)

    def average_(self, metric_name: str, start: _Moment = None, end: _Moment = None) -> _Figure:
        """The mean over the time that the metric was recorded, in its unit."""
        return self._figure(metric_name, "average", start, end)

    def max_(self, metric_name: str, start: _Moment = None, end: _Moment = None) -> _Figure:
        """The highest value, in the unit of the metric."""
        return self._figure(metric_name, "max", start, end)

    def total_power_draw(self, start: _Moment = None, end: _Moment = None) -> float | None:
        """Joules of CPU packages and GPUs, of the whole machine, as far as they were recorded. Those of DRAM are apart:
        `total_("total_dram_power")`."""
        (total,) = records_of(self._recording.summary(*_window(start, end))["total"])
        draw: float | None = total["total_power_draw"]
        return draw

    def get_exp_duration(self, start: _Moment = None, end: _Moment = None) -> _Duration:
        """How long was recorded, segment by segment, from when to when: (seconds, start, end), the last two since 1970."""
        window = _window(start, end)
        moments = self._recording.window(None, *window)
        assert moments is not None  # of all metrics together there are some
        first, last = moments
        return self._recording.seconds(*window), _epoch(first), _epoch(last)

    def get_duration_metric(
        self, metric_name: str, start: _Moment = None, end: _Moment = None
    ) -> _Duration | dict[str, _Duration | None] | None:
        """The same of one metric; None where it was not recorded."""
        window = _window(start, end)

        def duration(name: str) -> Any:
            moments = self._recording.window(name, *window)
            return moments and (self._recording.metric(name, *window)["seconds"], *map(_epoch, moments))

        found: _Duration | dict[str, _Duration | None] | None = self._each(metric_name, duration)
        return found

    def get_summary(self, start: _Moment = None, end: _Moment = None) -> dict[str, Any]:
        """All of it as a dictionary: total_power_draw (joules), exp_duration (seconds), metrics (of each: group, device, unit,
        total, average, max, seconds, points, segments), and metadata, model_summary and results_exp where the folder has
        them. AIPowerMeter's keys are in it too: duration, start, end, and cpu and gpu where there are such metrics."""
        tables = self._recording.summary(*_window(start, end))
        (total,) = records_of(tables["total"])
        metrics = {metric.pop("name"): metric for metric in records_of(tables["metrics"])}
        summary = {**total, "metrics": metrics, **self.db_driver._described()}
        duration, first, last = self.get_exp_duration(start, end)
        start_date, end_date = (str(datetime.datetime.fromtimestamp(moment)) for moment in (first, last))
        groups = self.list_metrics()
        summary |= {"duration": duration, "start": start_date, "end": end_date}
        if groups["CPU"]:
            summary["cpu"] = self._summary_of_cpu(start, end)
        if groups["GPU"]:
            summary["gpu"] = self._summary_of_gpu(start, end)
        return summary

    def _summary_of_cpu(self, start: _Moment, end: _Moment) -> dict[str, Any]:
        return {
            "total_psys_power": self.total_("psys_power", start, end),
            "total_intel_power": self.total_("intel_power", start, end),
            "rel_intel_power": self.total_("rel_intel_power", start, end),
            "total_dram_power": self.total_("total_dram_power", start, end),
            "total_cpu_power": self.total_("total_cpu_power", start, end),
            "rel_dram_power": self.total_("per_process_dram_power", start, end),
            "rel_cpu_power": self.total_("per_process_cpu_power", start, end),
            "relative_cpu_use": self.average_("per_process_cpu_uses", start, end),
            "mem_use_abs": self.average_("per_process_mem_use_abs", start, end),
            "mem_use_uss": self.average_("per_process_mem_use_uss", start, end),
            "max_total_mem_use": self.max_("total_mem_use", start, end),
            "absolute_cpu_time_per_pid": (cpu_time := self.total_("absolute_cpu_time_per_pid", start, end)),
            "cpu_time": cpu_time,
        }

    def _summary_of_gpu(self, start: _Moment, end: _Moment) -> dict[str, Any]:
        if not self._recording.select("nvidia_draw_absolute"):  # which recordings of 2023 have
            return {
                "nvidia_power": self.total_("nvidia_power", start, end),
                "nvidia_memory": self.max_("nvidia_memory", start, end),
                "nvidia_use_rate": self.average_("nvidia_use_rate", start, end),
                "per_gpu_power": (per_gpu_power := self.total_("per_gpu_nvidia_power", start, end)),
                "per_gpu_nvidia_power": per_gpu_power,
                "per_gpu_nvidia_memory": self.max_("per_gpu_nvidia_memory", start, end),
                "per_gpu_nvidia_use_rate": self.average_("per_gpu_nvidia_use_rate", start, end),
            }
        attributable = self.total_("nvidia_attributable_power", start, end)
        each = self.total_("per_gpu_attributable_power", start, end)
        return {
            "abs_nvidia_power": self.total_("nvidia_draw_absolute", start, end),
            "rel_nvidia_power": attributable,
            "nvidia_mem_use_abs": self.max_("nvidia_mem_use", start, end),
            "nvidia_average_sm": self.average_("nvidia_sm_use", start, end),
            "per_gpu_attributable_power": None if attributable is None else {**(each if isinstance(each, dict) else {}), "all": attributable},
        }

    def print(self, start: _Moment = None, end: _Moment = None) -> None:
        """Prints the summary."""
        print(self._recording.text(*_window(start, end)), end="")

    def _known(self, names: Sequence[str]) -> list[str]:
        """Those of the names that there are; the others are warned of. ValueError: there is none of them."""
        known = [name for name in names if self._recording.select(name)]
        for name in names:
            if name not in known and known:
                log_warnings([f"There is no metric {name!r} in {self.db_driver.folder}; the others are shown."])
        return known or list(names)

    def _curves(self, names: Iterable[str], start: _Moment, end: _Moment) -> dict[str, Curve]:
        """Every curve by its name, of metrics by GPU every GPU's."""
        tables = self._recording.curves(list(names), *_window(start, end))
        return {name: Curve(Table(table)) for name, table in tables.items()}

    def display_curves(
        self,
        metric_names: str | Iterable[str],
        saveto: str | os.PathLike[str] | None = None,
        *,
        start: _Moment = None,
        end: _Moment = None,
    ) -> None:
        """Shows metrics over time in one plot, of a metric by GPU a line for each: by matplotlib or, where that is not
        installed, as an SVG picture. Where nothing can be shown it goes to a temporary file, whose name is printed.

        saveto: write the plot to this file instead.
        """
        names = self._known([metric_names] if isinstance(metric_names, str) else list(metric_names))
        pyplot = _pyplot()
        if pyplot is None:
            return _show_picture(Picture(self._recording.draw(names, *_window(start, end))), saveto)
        curves = self._curves(names, start, end)
        figure, axes = pyplot.subplots()
        for number, (name, curve) in enumerate(curves.items()):
            _plot(axes, name, curve, f"C{number}")
        axes.set_xlabel("seconds")
        axes.set_ylabel(", ".join(dict.fromkeys(filter(None, (curve.unit for curve in curves.values())))))
        axes.legend()
        _show_figure(pyplot, figure, saveto)

    def display_2_curves(
        self,
        metric_name1: str,
        metric_name2: str,
        saveto: str | os.PathLike[str] | None = None,
        *,
        start: _Moment = None,
        end: _Moment = None,
    ) -> None:
        """The same of two metrics, each by a scale of its own."""
        names = (metric_name1, metric_name2)
        pyplot = _pyplot()
        if pyplot is None:
            return _show_picture(_apart({name: self._curves([name], start, end) for name in names}), saveto)
        figure, first = pyplot.subplots()
        first.set_xlabel("seconds")
        number = 0
        for name, axes in zip(names, (first, first.twinx())):
            colour = f"C{number}"
            for each, curve in self._curves([name], start, end).items():
                _plot(axes, each, curve, f"C{number}")
                number += 1
            axes.set_ylabel(f"{name} ({curve.unit})" if curve.unit else name, color=colour)
        _show_figure(pyplot, figure, saveto)


def _base(name: str, device: str | None) -> str:
    return name if device is None else name[: -len(device) - 1]


def _window(start: _Moment, end: _Moment) -> tuple[str | None, str | None]:
    return _bound(start), _bound(end)


def _bound(moment: _Moment) -> str | None:
    if moment is None or isinstance(moment, str):
        return moment
    if isinstance(moment, datetime.datetime):
        # Recordings have the local time of their machine.
        return str(moment.astimezone().replace(tzinfo=None) if moment.tzinfo else moment)
    return repr(float(moment))


# ---- Pictures ----

# Matplotlib's backends that only write files.
_WITHOUT_SCREEN = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot
    except ImportError:
        return None
    return matplotlib.pyplot


def _in_notebook() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython if ipython and ipython.get_ipython() else None


def _plot(axes: Any, name: str, curve: Curve, colour: str) -> None:
    from itertools import groupby

    label: str | None = name
    table = curve.table
    rows = zip(table["segment"], table["seconds"], table["value"])
    for _, points in groupby(rows, key=lambda row: row[0]):
        _, seconds, values = zip(*points)
        axes.plot(seconds, values, color=colour, label=label, marker="." if len(values) == 1 else None)
        label = None  # once in the legend


def _temporary_picture() -> str:
    import tempfile

    descriptor, path = tempfile.mkstemp(prefix="gpu-tracker-", suffix=".svg")
    os.close(descriptor)
    return path


def _show_figure(pyplot: Any, figure: Any, saveto: Any) -> None:
    """A notebook shows what show() gives it and what a cell returns: one of the two is enough."""
    if saveto is None and not _in_notebook() and pyplot.get_backend().lower() in _WITHOUT_SCREEN:
        saveto = _temporary_picture()
        print(f"matplotlib has no screen here. The curves are in {saveto}")
    if saveto is None:
        pyplot.show()
        return
    _save_figure(pyplot, figure, saveto)
    pyplot.close(figure)


def _save_figure(pyplot: Any, figure: Any, saveto: Any) -> None:
    """As savefig() does, but no link of another user in a folder such as /tmp is followed."""
    import io

    if hasattr(saveto, "write"):
        figure.savefig(saveto)
        return
    path = os.fspath(saveto)
    if not os.path.splitext(path)[1]:
        path = f"{path}.{pyplot.rcParams['savefig.format']}"
    drawn = io.BytesIO()
    figure.savefig(drawn, format=os.path.splitext(path)[1][1:])
    _native.write_file(path, drawn.getvalue())


def _apart(curves: Mapping[str, Mapping[str, Curve]]) -> Picture:
    """A picture in which each of the metrics has a scale of its own. curves: {metric: {name: Curve}}."""
    lines = [(metric, name, curve.unit or "", *_points(curve.table)) for metric, each in curves.items() for name, curve in each.items()]
    return Picture(_native.plot((), curves=lines)[0])


def _points(table: Table) -> tuple[list[float], list[float | None]]:
    """Seconds and values; None between two segments, where nothing was recorded."""
    seconds, values, before = [], [], None
    for time, value, segment in zip(table["seconds"], table["value"], table["segment"]):
        if before not in (None, segment):
            seconds.append(time)
            values.append(None)
        seconds.append(time)
        values.append(value)
        before = segment
    return seconds, values


def _show_picture(picture: Picture, saveto: str | os.PathLike[str] | None) -> None:
    if saveto is not None and os.path.splitext(saveto)[1].lower() != ".svg":
        raise ValueError(
            f"Without matplotlib a plot is an SVG picture. Name it ….svg, not {os.fspath(saveto)}, or install matplotlib."
        )
    notebook = _in_notebook()
    if saveto is None and notebook:
        from IPython.display import display

        show: Callable[[object], object] = display
        show(picture)
        return
    if saveto is None:
        saveto = _temporary_picture()
        print(f"matplotlib is not installed. The curves are in {saveto}")
    picture.save(saveto)
