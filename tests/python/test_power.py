"""gpu_tracker.power: recordings of power read with AIPowerMeter's classes, held to arithmetic of Python's own."""

import datetime
import importlib
import importlib.util
import io
import json
import logging
import math
import os
import pathlib
import sys
import types
import unittest
import xml.dom.minidom
from contextlib import redirect_stdout
from unittest import mock

import package

from gpu_tracker import power
from power_recording import BEGIN, END, line, trapezoid, write_recording


class Reading(package.PackageTest):
    def write_small(self):
        write_recording(
            line(0, intel_power=10.5, total_mem_use=4096),
            line(1.5, intel_power=20, per_process_cpu_uses={"7": 0.5, "8": 0.25}),
            END,
            line(60, intel_power=30),
            line(62, intel_power=40),
            END,
        )
        return power.ExpResults(power.JsonParser("rec"))

    def test_figures_are_those_of_plain_arithmetic(self):
        seed, segments, lines = 7, [], []
        for segment in range(3):
            segments.append([])
            for i in range(200):
                seed = seed * 1103515245 % 2**31
                seconds = round(segment * 1000 + i * 0.2 + seed % 1000 / 1e5, 6)
                parts = {"12": seed % 991 / 7, "13": seed % 17 / 3}
                segments[-1].append((seconds, 40 + seed % 997 / 31, sum(parts.values())))
                lines.append(line(seconds, intel_power=segments[-1][-1][1], rel_intel_power=parts))
            lines.append(END)
        write_recording(*lines)
        results = power.ExpResults("rec")
        duration = sum(points[-1][0] - points[0][0] for points in segments)
        for column, name in (1, "intel_power"), (2, "rel_intel_power"):
            curves = [[(point[0], point[column]) for point in points] for points in segments]
            total = sum(map(trapezoid, curves))
            for figure, expected in (
                (results.total_(name), total),
                (results.average_(name), total / duration),
                (results.max_(name), max(value for curve in curves for _, value in curve)),
                (results.total_(name, 900, 1900), trapezoid(curves[1])),
            ):
                self.assertLessEqual(abs(figure - expected), 1e-9 * expected, name)
        first, last = BEGIN + datetime.timedelta(seconds=segments[0][0][0]), BEGIN + datetime.timedelta(seconds=segments[-1][-1][0])
        recorded, start, end = results.get_exp_duration()
        self.assertAlmostEqual(recorded, duration, places=9)
        self.assertEqual((start, end), (first.timestamp(), last.timestamp()))
        total = results.total_("intel_power")
        self.assertAlmostEqual(results.total_power_draw(), total, delta=1e-12 * total)  # the segments, added up in another order

    def test_windows(self):
        results = self.write_small()
        zone = datetime.timezone(datetime.timedelta(hours=5))
        end = BEGIN + datetime.timedelta(seconds=1.5)
        for start, stop in (
            (0, 1.5), (None, 2), (BEGIN, end), (str(BEGIN), str(end)), (BEGIN, end.astimezone().astimezone(zone)),
        ):  # fmt: skip
            self.assertEqual(results.total_("intel_power", start, stop), 1.5 * 15.25)
        self.assertEqual(results.get_exp_duration(start=60)[0], 2)
        self.assertEqual([len(segment) for segment in results.get_curve("intel_power", 1.5, 60)], [1, 1])
        self.assertIsNone(results.total_("intel_power", 5, 6))
        self.assert_raises(
            ValueError,
            'The start "soon" is not a valid time of a recording. Give a date such as "2023-06-30 16:32:14.5", or seconds after the '
            "beginning or since 1970.",
            results.total_, "intel_power", "soon",
        )  # fmt: skip

    def test_windows_since_1970(self):
        results, epoch = self.write_small(), BEGIN.timestamp()
        self.assertEqual(results.total_("intel_power", epoch, epoch + 1.5), 1.5 * 15.25)
        self.assertEqual(results.get_exp_duration(epoch + 60.5), (1.5, epoch + 60.5, epoch + 62))
        self.assertEqual(results.get_exp_duration(epoch - 9, epoch + 99), (3.5, epoch, epoch + 62))

    def test_a_window_outside_of_the_recording_is_an_error(self):
        results, epoch = self.write_small(), BEGIN.timestamp()
        said = "Nothing was recorded between the given start and end: rec has 2023-06-30 16:32:14 to 2023-06-30 16:33:16."
        for start, end in ((63, None), (epoch + 63, None), (None, epoch - 1), (0.5 - epoch, -1)):
            self.assert_raises(ValueError, said, results.total_, "intel_power", start, end)
        self.assert_raises(ValueError, "The start is after the end.", results.get_summary, 2, 1)

    def test_curves(self):
        results = self.write_small()
        names = ["intel_power", "total_mem_use", "per_process_cpu_uses"]
        self.assertEqual(results.list_metrics(), {"CPU": names, "GPU": [], "Experiment": [], "wattmeter": []})
        curve, epoch = results.get_curve("intel_power"), BEGIN.timestamp()
        self.assertEqual(curve, [
            [{"date": epoch, "value": 10.5}, {"date": epoch + 1.5, "value": 20}],
            [{"date": epoch + 60, "value": 30}, {"date": epoch + 62, "value": 40}],
        ])  # fmt: skip
        self.assertEqual(curve.table["seconds"].tolist(), [0, 1.5, 60, 62])
        self.assertEqual(curve.table["segment"].tolist(), [0, 0, 1, 1])
        self.assertEqual((curve.unit, results.get_curve("total_mem_use").unit), ("watts", "bytes"))
        self.assertEqual(results.get_curve("per_process_cpu_uses")[0][0]["value"], 0.75)
        self.assertEqual(results.get_curve("intel_power", 3, 4), [])
        self.assertEqual(results.get_duration_metric("intel_power"), (3.5, epoch, epoch + 62))
        self.assertEqual(results.get_duration_metric("total_mem_use"), (0, epoch, epoch))
        self.assertEqual(results.get_duration_metric("intel_power", 60.5, 61), (0.5, epoch + 60.5, epoch + 61))

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_curves_are_arrow_tables(self):
        import pyarrow

        table = pyarrow.table(self.write_small().get_curve("intel_power").table)
        self.assertEqual(table.column_names, ["date", "seconds", "segment", "value"])
        self.assertEqual(table["value"].to_pylist(), [10.5, 20, 30, 40])

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_curves_are_data_frames(self):
        self.assertEqual(self.write_small().get_curve("intel_power").table.to_pandas()["value"].sum(), 100.5)

    def test_summary(self):
        results = self.write_small()
        self.assertEqual(results.total_power_draw(60, 61), results.get_summary(60, 61)["total_power_draw"])
        results.db_driver.save_exp_metrics([{"accuracy": 0.5, "end_training_epoch": BEGIN}, {"accuracy": 1, "end_training_epoch": str(BEGIN)}])
        results.db_driver.save_model_card({"total_params": 12})
        results = power.ExpResults(results.db_driver)
        self.assertEqual(results.model_card, {"total_params": 12})
        summary = results.get_summary()
        self.assertEqual((summary["exp_duration"], summary["total_power_draw"]), (3.5, 92.875))
        self.assertEqual((summary["metrics"]["accuracy"]["max"], summary["metrics"]["accuracy"]["unit"]), (1, None))
        self.assertEqual((summary["model_summary"], summary["metrics"]["intel_power"]["unit"]), ({"total_params": 12}, "watts"))
        self.assertEqual(results.get_summary(60)["total_power_draw"], 70)
        with redirect_stdout(io.StringIO()) as printed:
            results.print()
        self.assertIn("   intel_power: 92.875 joules (average 26.536 W, max 40.0 W)\n", printed.getvalue())
        self.assertIn("   intel_power: 92.875 joules (average 26.536 W, max 40.0 W)\n", results._repr_html_())
        self.assertIn("value (watts)", results.get_curve("intel_power")._repr_html_())

    def test_what_is_not_there(self):
        results = self.write_small()
        for function in results.total_, results.average_, results.max_, results.get_curve, results.get_duration_metric:
            self.assertIsNone(function("x"))
        message = 'There is no metric "x" in rec. There are: intel_power, total_mem_use, per_process_cpu_uses.'
        self.assert_raises(ValueError, message, results.display_curves, "x")
        self.assert_raises(FileNotFoundError, "There is no folder nowhere.", power.ExpResults, "nowhere")
        write_recording(line(0, total_mem_use=1))
        self.assertIsNone(power.ExpResults("rec").total_power_draw())

    def test_a_torn_line_is_warned_of(self):
        write_recording(line(0, intel_power=1), line(1, intel_power=1), line(2, intel_power=1)[:-5], last="")
        with self.assertLogs("gpu_tracker") as logs:
            results = power.ExpResults("rec")
        self.assertIn("line 3 is truncated", logs.output[0])
        self.assertEqual(results.total_("intel_power"), 1)


def gpu_line(seconds, **gpu):
    return json.dumps({"date": str(BEGIN + datetime.timedelta(seconds=seconds)), "metrics": {"gpu": gpu}})


def line_of_2023(seconds, first, second):
    """As AIPowerMeter wrote it in 2023: "all" is the sum of the GPUs next to it, a GPU that none of ours ran on is not there."""
    return gpu_line(
        seconds,
        nvidia_draw_absolute=first + second,
        per_gpu_power_draw={"0": first, "1": second},
        per_gpu_attributable_mem_use={"0": {}, "1": {"20382": 1000, "20383": 500}},
        per_gpu_per_pid_utilization_absolute={"0": {"14091": 0.0}, "1": {"20382": 0.5}},
        per_gpu_absolute_percent_usage={"0": 0, "1": 0.5},
        per_gpu_estimated_attributable_utilization={"0": 0, "1": 1.0},
        per_gpu_attributable_power={"1": second, "all": second},
    )


def line_of_2026(seconds, rate):
    """As AIPowerMeter writes it today: with temperatures, and how busy GPUs are in percent."""
    gpu = {"nvidia_power": 30.0, "nvidia_memory": 3000, "nvidia_use_rate": rate / 2, "per_gpu_nvidia_power": {"0": 10.0, "1": 20.0},
           "per_gpu_nvidia_memory": {"0": 1000, "1": 2000}, "per_gpu_nvidia_use_rate": {"0": rate, "1": 0}}  # fmt: skip
    cpu = {"absolute_cpu_time_per_pid": {"7": 0.5, "8": 1.0}, "total_mem_use": 5000 + seconds, "psys_power": -1, "intel_power": 40.0}
    return json.dumps({"date": str(BEGIN + datetime.timedelta(seconds=seconds)), "metrics": {"temperature": {}, "cpu": cpu, "gpu": gpu}})


class ReadingGpus(package.PackageTest):
    def test_the_summary_has_the_keys_of_aipowermeter_today(self):
        write_recording(line_of_2026(0, 100), line_of_2026(2, 50), END)
        results = power.ExpResults("rec")
        summary = results.get_summary()
        self.assertEqual(summary["gpu"], {
            "nvidia_power": 60, "nvidia_memory": 3000, "nvidia_use_rate": 0.375, "per_gpu_power": {"0": 20, "1": 40},
            "per_gpu_nvidia_power": {"0": 20, "1": 40}, "per_gpu_nvidia_memory": {"0": 1000, "1": 2000},
            "per_gpu_nvidia_use_rate": {"0": 0.75, "1": 0},
        })  # fmt: skip
        self.assertEqual((summary["cpu"]["absolute_cpu_time_per_pid"], summary["cpu"]["max_total_mem_use"]), (3, 5002))
        self.assertIsNone(summary["cpu"]["total_psys_power"])
        dates = [BEGIN, BEGIN + datetime.timedelta(seconds=2)]
        self.assertEqual(results.cpu_metrics["total_mem_use"], {"dates": dates, "values": [5000, 5002]})
        self.assertEqual(results.gpu_metrics["per_gpu_nvidia_memory"]["1"], {"dates": dates, "values": [2000, 2000]})
        self.assertEqual((results.exp_metrics, results.wattmeter_metrics, results.segments), (None, None, []))

    def test_no_bound_is_infinite(self):
        write_recording(line_of_2026(0, 0), line_of_2026(2, 0), END)
        results = power.ExpResults("rec")
        for start, end in ((None, math.inf), (-math.inf, math.inf), (0, math.inf)):
            self.assertEqual(results.total_("intel_power", start, end), 80)
            self.assertEqual(results.get_summary(start, end)["duration"], 2)
        with self.assertRaisesRegex(ValueError, "^Nothing was recorded between the given start and end: "):
            results.total_("intel_power", math.inf)
        with self.assertRaisesRegex(ValueError, '^The end "nan" is not a valid time'):
            results.total_("intel_power", None, math.nan)

    def test_what_no_computer_draws_is_no_joule(self):
        write_recording(line(0, intel_power=10, psys_power=-1, uncore_power=-0.5), line(1, intel_power=3e6, psys_power=-1),
                        gpu_line(1.5, nvidia_power=-4, per_gpu_nvidia_power={"0": 1e9}), line(2, intel_power=10, psys_power=-1), END)  # fmt: skip
        with self.assertLogs("gpu_tracker") as logs:
            results = power.ExpResults("rec")
        self.assertIn("rec: 4 powers below 0 W or above 100 kW are not plausible, and left out.", logs.output[0])
        self.assertEqual((results.total_("intel_power"), results.max_("intel_power"), results.total_power_draw()), (20, 10, 20))
        self.assertEqual(results.list_metrics()["CPU"] + results.list_metrics()["GPU"], ["intel_power"])

    def test_a_recording_of_aipowermeter(self):
        write_recording(line_of_2023(0, 20, 70), line_of_2023(2, 20, 80), END)
        results = power.ExpResults("rec")
        self.assertEqual(results.list_metrics()["GPU"], [
            "nvidia_draw_absolute", "per_gpu_power_draw", "nvidia_mem_use", "per_gpu_per_pid_utilization_absolute", "nvidia_sm_use",
            "per_gpu_estimated_attributable_utilization", "per_gpu_attributable_power", "nvidia_attributable_power",
        ])  # fmt: skip
        self.assertEqual(results.total_power_draw(), 2 * (20 + 75))
        self.assertEqual(results.total_("nvidia_attributable_power"), 150)
        self.assertEqual(results.total_("per_gpu_attributable_power"), {"1": 150})  # "all" is not a GPU
        self.assertEqual(results.total_("per_gpu_power_draw"), {"0": 40, "1": 150})
        self.assertEqual(results.total_("per_gpu_power_draw:1"), 150)
        self.assertEqual(results.max_("nvidia_mem_use"), {"0": 0, "1": 1500})
        self.assertEqual(results.max_("per_gpu_attributable_mem_use"), {"0": 0, "1": 1500})  # as the file has it
        self.assertEqual(results.average_("nvidia_sm_use"), {"0": 0, "1": 0.5})
        epoch = BEGIN.timestamp()
        self.assertEqual(results.get_curve("per_gpu_power_draw"), {
            "0": [[{"date": epoch, "value": 20}, {"date": epoch + 2, "value": 20}]],
            "1": [[{"date": epoch, "value": 70}, {"date": epoch + 2, "value": 80}]],
        })  # fmt: skip
        self.assertEqual(results.get_duration_metric("per_gpu_attributable_power"), {"1": (2, epoch, epoch + 2)})
        summary = results.get_summary()
        self.assertEqual(summary["metrics"]["per_gpu_power_draw:1"]["device"], "1")
        self.assertEqual((summary["duration"], summary["start"]), (2, str(BEGIN)))
        self.assertEqual(summary["gpu"], {
            "abs_nvidia_power": 190, "rel_nvidia_power": 150, "nvidia_mem_use_abs": {"0": 0, "1": 1500},
            "nvidia_average_sm": {"0": 0, "1": 0.5}, "per_gpu_attributable_power": {"1": 150, "all": 150},
        })  # fmt: skip
        with redirect_stdout(io.StringIO()) as printed:
            results.print()
        self.assertIn("   per_gpu_power_draw:0: 40.0 joules (average 20.0 W, max 20.0 W)\n", printed.getvalue())
        self.assertIn("   per_gpu_power_draw:1: 150.0 joules (average 75.0 W, max 80.0 W)\n", printed.getvalue())
        self.assertNotIn(":all", printed.getvalue())

    def test_the_total_is_of_packages_and_gpus(self):
        for name in "intel_power", "total_dram_power":
            parts = {name: 10}
            write_recording(line(0, **parts), line(2, **parts), END, line_of_2023(5, 20, 70), line_of_2023(7, 20, 80), END)
            results = power.ExpResults("rec")
            self.assertEqual(results.total_power_draw(), 190 + (20 if name == "intel_power" else 0))
        write_recording(line(0, total_dram_power=10), line(2, total_dram_power=10))
        self.assertIsNone(power.ExpResults("rec").total_power_draw())

    def test_a_gpu_that_comes_later(self):
        write_recording(gpu_line(0, per_gpu_nvidia_power={"0": 10}), gpu_line(1, per_gpu_nvidia_power={"0": 10, "1": None}),
                        gpu_line(2, per_gpu_nvidia_power={"0": 10, "1": 4}), gpu_line(3, per_gpu_nvidia_power={"0": 10, "1": 4}))  # fmt: skip
        results = power.ExpResults("rec")
        self.assertEqual(results.total_("per_gpu_nvidia_power"), {"0": 30, "1": 4})
        self.assertEqual(results.total_power_draw(), 34)

    def test_drivers_load_what_they_have(self):
        write_recording(line(0, intel_power=1), END, line_of_2023(5, 20, 70), END, line(9, intel_power=2, x=[1, {"pid": 7}]))
        driver = power.JsonParser("rec")
        cpu, gpu, experiment, wattmeter = driver.load_metrics()
        dates = [BEGIN, BEGIN + datetime.timedelta(seconds=9)]
        self.assertEqual(cpu, {"intel_power": {"dates": dates, "values": [1, 2]}, "x": {"dates": dates[1:], "values": [1]}})
        second = {"dates": [BEGIN + datetime.timedelta(seconds=5)], "values": [70]}
        self.assertEqual(gpu["per_gpu_power_draw"]["1"], second)
        self.assertEqual((experiment, wattmeter), (None, None))
        self.assertEqual((driver.load_cpu_metrics(), driver.load_gpu_metrics()), (cpu, gpu))
        self.assertEqual(driver.get_segments(), [BEGIN, second["dates"][0]])

    def test_epochs_by_number_and_columns_of_a_wattmeter(self):
        write_recording(line(0, intel_power=1), line(2, intel_power=1))
        epochs = {str(i): {"accuracy": i / 2, "end_training_epoch": str(BEGIN + datetime.timedelta(seconds=i))} for i in range(3)}
        power.JsonParser("rec").save_exp_metrics(epochs)
        rows = "".join(f"{BEGIN.timestamp() + i},true,{100 + i}\n" for i in range(3))
        pathlib.Path("rec/omegawatt.csv").write_text("wattmeter\n#timestamp,#frame_is_ok,#activepow1\n" + rows)
        results = power.ExpResults("rec")
        self.assertEqual(results.total_("accuracy"), 1)
        self.assertEqual((results.total_("#activepow1"), results.total_("activepow1")), (202, 202))
        self.assertEqual(results.list_metrics()["wattmeter"], ["activepow1"])
        self.assertEqual(results.db_driver.load_exp_metrics()["accuracy"]["values"], [0, 0.5, 1])
        self.assertEqual(results.db_driver.load_wattmeter_metrics()["activepow1"]["values"], [100, 101, 102])


class Displaying(package.PackageTest):
    def setUp(self):
        super().setUp()
        write_recording(
            line(0, intel_power=10, total_mem_use=1),
            line(2, intel_power=20),
            END,
            line(9, intel_power=30, total_mem_use=2),
            line(11, intel_power=5),
        )
        self.results = power.ExpResults("rec")

    def display(self, function, *arguments, **keywords):
        """The picture without matplotlib, as the printed file has it."""
        with mock.patch.dict(sys.modules, {"matplotlib": None}), redirect_stdout(io.StringIO()) as printed:
            self.assertIsNone(function(*arguments, **keywords))
        path = printed.getvalue().rstrip().rpartition(" ")[2]
        self.addCleanup(os.unlink, path)
        return xml.dom.minidom.parse(path)

    def segments(self, picture):
        """How many parts each curve has."""
        curves = [path for path in picture.getElementsByTagName("path") if path.hasChildNodes()]
        return {path.firstChild.firstChild.data: path.getAttribute("d").count("M") for path in curves}

    def test_without_matplotlib(self):
        picture = self.display(self.results.display_curves, ["intel_power", "total_mem_use"])
        self.assertEqual(self.segments(picture), {"intel_power": 2, "total_mem_use": 2})
        self.assertEqual(self.segments(self.display(self.results.display_curves, "intel_power", start=5)), {"intel_power": 1})

    def test_an_unknown_metric_next_to_a_known_one_is_warned_of(self):
        with self.assertLogs("gpu_tracker") as logs:
            picture = self.display(self.results.display_curves, ["x", "intel_power"])
        self.assertIn("There is no metric 'x' in rec; the others are shown.", logs.output[0])
        self.assertEqual(self.segments(picture), {"intel_power": 2})

    def test_to_a_file_without_matplotlib(self):
        with mock.patch.dict(sys.modules, {"matplotlib": None}):
            self.results.display_curves(["intel_power"], "x.svg")
            self.results.display_2_curves("intel_power", "total_mem_use", saveto=pathlib.Path("y.svg"))
            said = "Without matplotlib a plot is an SVG picture. Name it ….svg, not x.png, or install matplotlib."
            self.assert_raises(ValueError, said, self.results.display_curves, ["intel_power"], saveto="x.png")
        for path in "x.svg", "y.svg":
            xml.dom.minidom.parse(path)

    def test_a_notebook_shows_a_picture_once(self):
        shown = []
        ipython = types.SimpleNamespace(get_ipython=lambda: object(), display=types.SimpleNamespace(display=shown.append))
        modules = {"matplotlib": None, "IPython": ipython, "IPython.display": ipython.display}
        with mock.patch.dict(sys.modules, modules):
            self.assertIsNone(self.results.display_curves("intel_power"))  # what a cell returns is shown, too
            self.assertIsNone(self.results.display_2_curves("intel_power", "total_mem_use"))
        self.assertEqual([type(picture) for picture in shown], [power.Picture, power.Picture])
        xml.dom.minidom.parseString(shown[0]._repr_svg_())

    def test_two_scales_without_matplotlib(self):
        picture = self.display(self.results.display_2_curves, "intel_power", "total_mem_use")
        self.assertEqual(self.segments(picture), {"intel_power": 2, "total_mem_use": 2})
        texts = [text.firstChild.data for text in picture.getElementsByTagName("text")]
        self.assertEqual([text.split(" (")[0] for text in texts if text.startswith(("intel", "total"))], ["intel_power", "total_mem_use"])

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_with_matplotlib(self):
        import matplotlib

        matplotlib.use("svg")
        import matplotlib.pyplot

        shown = mock.Mock(side_effect=lambda: figures.append(matplotlib.pyplot.gcf()))
        figures = []
        with mock.patch("matplotlib.pyplot.show", shown), mock.patch("matplotlib.pyplot.get_backend", lambda: "screen"):
            self.assertIsNone(self.results.display_curves(["intel_power", "total_mem_use"]))
            self.assertIsNone(self.results.display_2_curves("intel_power", "total_mem_use"))
        (axes,) = figures[0].axes
        self.assertEqual([list(line.get_ydata()) for line in axes.lines], [[10, 20], [30, 5], [1], [2]])
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["intel_power", "total_mem_use"])
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("seconds", "watts, bytes"))
        first, second = figures[1].axes
        self.assertEqual((first.get_ylabel(), second.get_ylabel()), ("intel_power (watts)", "total_mem_use (bytes)"))
        self.results.display_curves("intel_power", "x.png")
        self.assertEqual(pathlib.Path("x.png").read_bytes()[1:4], b"PNG")
        with redirect_stdout(io.StringIO()) as printed:  # this backend has no screen
            self.results.display_2_curves("intel_power", "total_mem_use")
        path = printed.getvalue().rstrip().rpartition(" ")[2]
        self.assertIn("matplotlib has no screen here.", printed.getvalue())
        xml.dom.minidom.parse(path)
        os.unlink(path)


if __name__ == "__main__":
    logging.getLogger("gpu_tracker").setLevel(logging.WARNING)
    package.main()
