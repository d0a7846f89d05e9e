"""gpu_tracker.power: recordings of power with AIPowerMeter's classes, held to arithmetic of Python's own."""

import datetime
import importlib.util
import io
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import types
import unittest
import xml.dom.minidom
from contextlib import redirect_stdout
from unittest import mock

import package

sys.path.insert(0, str(package.SOURCE / "tests" / "cli"))
from energy_machine import MOVE, Machine
from gpu_tracker import power

BEGIN = datetime.datetime(2023, 6, 30, 16, 32, 14)
END = json.dumps("END OF RECORDING SEGMENT")
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def line(seconds, **cpu):
    return json.dumps({"date": str(BEGIN + datetime.timedelta(seconds=seconds)), "metrics": {"cpu": cpu}})


def write_recording(*lines, folder="rec", last="\n"):
    pathlib.Path(folder).mkdir(exist_ok=True)
    (pathlib.Path(folder) / "power_metrics.json").write_text("\n".join(lines) + last)


def lines_of(folder="rec"):
    return [json.loads(text) for text in (pathlib.Path(folder) / "power_metrics.json").read_text().splitlines()]


def wait_until(condition):
    end = time.monotonic() + package.PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


def wait_for_lines(count, folder="rec"):
    path = pathlib.Path(folder) / "power_metrics.json"
    wait_until(lambda: path.read_text().count("\n") >= count)


def trapezoid(points):
    """The integral of (seconds, value)."""
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))


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
        self.assertAlmostEqual(results.get_exp_duration(), duration, places=9)
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
        self.assertEqual(results.get_exp_duration(start=60), 2)
        self.assertEqual(len(results.get_curve("intel_power", 1.5, 60)), 2)
        self.assertIsNone(results.total_("intel_power", 5, 6))
        self.assert_raises(
            ValueError,
            'The start "soon" is no moment of a recording. It is a date such as "2023-06-30 16:32:14.5", or seconds after the beginning.',
            results.total_, "intel_power", "soon",
        )  # fmt: skip

    def test_curves(self):
        results = self.write_small()
        self.assertEqual(results.list_metrics(), ["intel_power", "total_mem_use", "per_process_cpu_uses"])
        curve = results.get_curve("intel_power")
        self.assertEqual(len(curve), 4)
        self.assertEqual(curve[1], {"date": BEGIN + datetime.timedelta(seconds=1.5), "value": 20.0})
        self.assertEqual([point["value"] for point in curve], [10.5, 20, 30, 40])
        self.assertEqual(curve[-2:], list(curve)[2:])
        self.assertEqual(curve["seconds"].tolist(), [0, 1.5, 60, 62])
        self.assertEqual(curve["segment"].tolist(), [0, 0, 1, 1])
        self.assertEqual(curve.units["value"], "watts")
        self.assertEqual(list(curve.segments()), [([0, 1.5], [10.5, 20]), ([60, 62], [30, 40])])
        self.assertEqual(results.get_curve("total_mem_use").units["value"], "bytes")
        self.assertEqual(list(results.get_curve("per_process_cpu_uses"))[0]["value"], 0.75)
        self.assertRaises(IndexError, lambda: curve[4])
        self.assertEqual(list(results.get_curve("intel_power", 3, 4).segments()), [])

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_curves_are_arrow_tables(self):
        import pyarrow

        table = pyarrow.table(self.write_small().get_curve("intel_power"))
        self.assertEqual(table.column_names, ["date", "seconds", "segment", "value"])
        self.assertEqual(table["value"].to_pylist(), [10.5, 20, 30, 40])

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_curves_are_data_frames(self):
        self.assertEqual(self.write_small().get_curve("intel_power").to_pandas()["value"].sum(), 100.5)

    def test_summary(self):
        results = self.write_small()
        results.driver.save_exp_metrics([{"accuracy": 0.5, "end_training_epoch": BEGIN}, {"accuracy": 1, "end_training_epoch": str(BEGIN)}])
        results.driver.save_model_summary({"total_params": 12})
        results = power.ExpResults(results.driver)
        summary = results.get_summary()
        self.assertEqual((summary["exp_duration"], summary["total_power_draw"]), (3.5, 92.875))
        self.assertEqual((summary["metrics"]["accuracy"]["max"], summary["metrics"]["accuracy"]["unit"]), (1, None))
        self.assertEqual((summary["model_summary"], summary["metrics"]["intel_power"]["unit"]), ({"total_params": 12}, "watts"))
        self.assertEqual(results.get_summary(60)["total_power_draw"], 70)
        with redirect_stdout(io.StringIO()) as printed:
            results.print()
        self.assertEqual(printed.getvalue(), str(results) + "\n")
        self.assertIn("   intel_power: 92.875 joules (mean 26.536 W, max 40.0 W)\n", printed.getvalue())

    def test_what_is_not_there(self):
        results = self.write_small()
        message = 'There is no metric "x" in rec. There are: intel_power, total_mem_use, per_process_cpu_uses.'
        for function in results.total_, results.get_curve, results.display_curves:
            self.assert_raises(ValueError, message, function, "x")
        self.assert_raises(FileNotFoundError, "There is no folder nowhere.", power.ExpResults, "nowhere")
        write_recording(line(0, total_mem_use=1))
        self.assertIsNone(power.ExpResults("rec").total_power_draw())

    def test_a_torn_line_is_warned_of(self):
        write_recording(line(0, intel_power=1), line(1, intel_power=1), line(2, intel_power=1)[:-5], last="")
        with self.assertLogs("gpu_tracker") as logs:
            results = power.ExpResults("rec")
        self.assertIn("line 3 is cut off", logs.output[0])
        self.assertEqual(results.total_("intel_power"), 1)


class Recording(package.PackageTest):
    def setUp(self):
        super().setUp()
        self.machine = Machine(self.folder / "sys")
        patch = mock.patch.dict(os.environ, self.machine.environment())
        patch.start()
        self.addCleanup(patch.stop)
        self.driver = power.JsonParser("rec")

    def start(self, command=SLEEP):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def record_a_moment(self, experiment, seconds=0.3):
        process, queue = experiment.measure_yourself(period=0.1)
        process.join(seconds)
        self.assertTrue(process.is_alive())
        queue.put(experiment.STOP_MESSAGE)
        self.assertFalse(process.is_alive())
        process.join()

    def test_what_the_machine_drew(self):
        self.machine.add_two_packages()
        mover = self.start([sys.executable, "-c", MOVE, *map(str, self.machine.move(600, package_0=60, package_1=40, package_0_0=8))])
        counter = self.machine.counter("intel-rapl:0")
        start = counter.read_text()
        wait_until(lambda: counter.read_text() != start)
        process, queue = power.Experiment(self.driver).measure_yourself(period=0.05, measurement_period=0.2)
        sum(range(5_000_000))
        wait_for_lines(4)
        queue.put(power.STOP_MESSAGE)
        mover.kill()
        *lines, end = lines_of()
        self.assertEqual(end, "END OF RECORDING SEGMENT")
        self.assertGreaterEqual(len(lines), 4)
        own = str(os.getpid())
        for entry in lines:
            cpu = entry["metrics"]["cpu"]
            self.assertIn(own, cpu["per_process_cpu_uses"])
            self.assertLessEqual(sum(cpu["rel_intel_power"].values()), cpu["intel_power"] * (1 + 1e-9))
        self.assertGreater(max(entry["metrics"]["cpu"]["per_process_cpu_uses"][own] for entry in lines), 0)
        results = power.ExpResults(self.driver)
        self.assertGreater(results.max_("intel_power"), 50)
        self.assertGreater(results.total_power_draw(), results.total_("total_dram_power"))
        self.assertAlmostEqual(results.get_exp_duration(), results.total_("intel_power") / results.average_("intel_power"))

    def test_a_recording_is_not_written_over(self):
        self.record_a_moment(power.Experiment(self.driver))
        before = lines_of()
        self.assert_raises(
            FileExistsError,
            "There is a recording in rec already. Give another folder, or cont=True to add to it.",
            power.Experiment(self.driver).measure_yourself,
        )
        self.assertEqual(lines_of(), before)
        self.record_a_moment(power.Experiment(self.driver, cont=True))
        again = power.Experiment(power.JsonParser("rec", cont=True))
        self.record_a_moment(again)
        self.record_a_moment(again)  # one experiment measures as often as it likes
        self.assertEqual(power.ExpResults("rec").get_summary()["metrics"]["per_process_cpu_uses"]["segments"], 4)

    def test_two_at_once_are_refused(self):
        process, queue = power.Experiment(self.driver).measure_yourself(period=0.1)
        again = power.Experiment(power.SqliteParser("rec", cont=True))
        self.assert_raises(
            OSError,
            "Another recording to rec is under way. Give another folder, or wait until it has ended"
            " (if it was killed: end the forks that it left).",
            again.measure_yourself,
        )
        child = os.fork()  # has the files open, and lives on
        if child == 0:
            time.sleep(600)
            os._exit(0)
        self.addCleanup(lambda: (os.kill(child, signal.SIGKILL), os.waitpid(child, 0)))
        queue.put(power.STOP_MESSAGE)
        self.record_a_moment(again)

    def test_sqlite(self):
        self.machine.add_two_packages()
        self.record_a_moment(power.Experiment(power.SqliteParser("rec")))
        self.assertEqual(sorted(os.listdir("rec")), ["metadata.json", "power_metrics.sqlite"])
        self.assertRaises(FileExistsError, power.Experiment(self.driver).measure_yourself)  # in the other form
        self.record_a_moment(power.Experiment(power.SqliteParser("rec", cont=True)))
        for driver in power.SqliteParser("rec"), self.driver, "rec":
            results = power.ExpResults(driver)
            self.assertEqual(results.get_summary()["metrics"]["total_mem_use"]["segments"], 2)
            self.assertEqual(2 * len(results.get_curve("total_mem_use")), len(results.get_curve("per_process_cpu_uses")))

    def test_a_machine_without_counters_is_told_once(self):
        with self.assertLogs("gpu_tracker") as logs:
            self.record_a_moment(power.Experiment(power.JsonParser("deep/down/rec")))
        self.assertEqual(len([text for text in logs.output if "The recording goes on without the CPU's power" in text]), 1, logs.output)
        results = power.ExpResults("deep/down/rec")
        self.assertNotIn("intel_power", results.list_metrics())
        self.assertIsNone(results.total_power_draw())
        self.assertGreater(results.max_("per_process_mem_use_abs"), 1e6)

    def test_several_processes(self):
        first, second, gone = self.start(), self.start(), self.start()
        gone.kill()
        gone.wait()
        with self.assertLogs("gpu_tracker") as logs:
            process, queue = power.Experiment(self.driver).measure_from_pid_list([gone.pid, first, second.pid], period=0.1)
        self.assertIn(f"There is no process {gone.pid} to track; the others are tracked.", " ".join(logs.output))
        wait_for_lines(1)
        first.kill()
        first.wait()
        wait_for_lines(len(lines_of()) + 2)
        queue.put_nowait(power.STOP_MESSAGE)
        *lines, _ = lines_of()
        memory = [cpu["per_process_mem_use_abs"] for entry in lines if "per_process_mem_use_abs" in (cpu := entry["metrics"]["cpu"])]
        self.assertEqual(set(memory[0]), {str(first.pid), str(second.pid)})
        self.assertEqual(set(memory[-1]), {str(second.pid)})
        other = power.Experiment(power.JsonParser("other"))
        with self.assertRaises(ProcessLookupError):
            other.measure_from_pid_list([gone.pid])
        self.assert_raises(ValueError, "No process was given.", other.measure_from_pid_list, [])
        self.assertFalse(os.path.exists("other"))

    def test_it_ends_with_the_processes(self):
        command = self.start([sys.executable, "-c", "import time; time.sleep(0.5)"])
        process, queue = power.Experiment(self.driver).measure_from_pid_list([command.pid], period=0.1)
        process.join()  # a zombie has ended, too
        self.assertFalse(process.is_alive())
        self.assertEqual(lines_of()[-1], "END OF RECORDING SEGMENT")
        queue.put(power.STOP_MESSAGE)  # does nothing more

    def test_any_thread_may_stop_it(self):
        process, queue = power.Experiment(self.driver).measure_yourself(period=0.1)
        threads = [threading.Thread(target=queue.put, args=[power.STOP_MESSAGE]) for _ in range(4)]
        for thread in threads:
            thread.start()
        process.join()
        for thread in threads:
            thread.join()
        self.assertFalse(process.is_alive())

    def test_a_fork_may_not_stop_it(self):
        done = self.run_python(
            "import os, sys\n"
            "from gpu_tracker import power\n"
            "process, queue = power.Experiment(power.JsonParser('rec')).measure_yourself(period=0.1)\n"
            "if os.fork() == 0:\n"
            "    try:\n"
            "        queue.put(power.STOP_MESSAGE)\n"
            "    except RuntimeError as error:\n"
            "        sys.stdout.write(f'{error}\\n')\n"
            "        sys.stdout.flush()\n"
            "    os._exit(0)\n"
            "os.wait()\n"
            "print(process.is_alive())\n"
            "queue.put(power.STOP_MESSAGE)\n"
            "print(process.is_alive())\n"
        )
        error, *alive = done.stdout.splitlines()
        self.assertIn("only that one can end the recording. Tell it to, by a queue of multiprocessing", error)
        self.assertEqual(alive, ["True", "False"])

    def test_arguments_that_make_no_sense(self):
        experiment = power.Experiment(self.driver)
        self.assert_raises(
            ValueError, "measurement_period=0.01 is too short: it is 0.1 seconds or more.",
            experiment.measure_yourself, measurement_period=0.01,
        )  # fmt: skip
        self.assertRaises(ValueError, experiment.measure_yourself, period=0)
        process, queue = experiment.measure_yourself(period=0.1)
        self.assert_raises(
            ValueError, "'halt' means nothing to a recording. It takes STOP_MESSAGE, which ends it.", queue.put, "halt"
        )
        self.assertTrue(process.is_alive())
        process.terminate()

    def test_one_that_is_not_stopped_ends_with_the_program(self):
        done = self.run_python(
            "import os, time\n"
            "from gpu_tracker import power\n"
            "power.Experiment(power.JsonParser('rec')).measure_yourself(period=0.1)\n"
            "time.sleep(0.3)\n"
            "if os.fork() == 0:\n"
            "    raise SystemExit\n"  # a fork completes nothing
            "os.wait()\n"
            "print(open('rec/power_metrics.json').read().count('END'))\n"
        )
        self.assertEqual(done.stdout, "0\n")
        self.assertEqual(lines_of()[-1], "END OF RECORDING SEGMENT")

    def test_what_a_kill_leaves_is_read(self):
        done = self.run_python(
            "import os, signal, time\n"
            "from gpu_tracker import power\n"
            "power.Experiment(power.JsonParser('rec')).measure_yourself(period=0.1)\n"
            "while open('rec/power_metrics.json').read().count('\\n') < 3:\n"
            "    time.sleep(0.01)\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n",
            check=False,
        )
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertGreater(power.ExpResults("rec").get_exp_duration(), 0)

    def test_models(self):
        model = mock.Mock()
        model.parameters.return_value = [mock.Mock(numel=lambda: 30), mock.Mock(numel=lambda: 12)]
        with mock.patch.dict(sys.modules, {"torchinfo": None}), self.assertLogs("gpu_tracker") as logs:
            power.Experiment(self.driver, model, (1, 3))
        self.assertIn("The summary of the model has no multiply-adds: torchinfo is not installed.", logs.output[0])
        self.assertEqual(json.loads(pathlib.Path("rec/model_summary.json").read_text()), {"total_params": 42})
        found = types.SimpleNamespace(total_params=42, total_mult_adds=7)
        torchinfo = types.SimpleNamespace(summary=lambda model, input_size, verbose: found)
        with mock.patch.dict(sys.modules, {"torchinfo": torchinfo}):
            power.Experiment(self.driver, model, (1, 3))
        self.record_a_moment(power.Experiment(self.driver))
        self.assertEqual(power.ExpResults("rec").get_summary()["model_summary"], vars(found))

    def test_a_file_that_cannot_be_written_leaves_nothing(self):
        self.assertRaises(ValueError, self.driver.save_exp_metrics, (circle := [], circle.append(circle))[0])
        self.assertEqual(os.listdir("rec"), [])


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

    def display(self, function, *arguments):
        """The picture without matplotlib, as the printed file has it."""
        with mock.patch.dict(sys.modules, {"matplotlib": None}), redirect_stdout(io.StringIO()) as printed:
            picture = function(*arguments)
        path = printed.getvalue().rstrip().rpartition(" ")[2]
        self.addCleanup(os.unlink, path)
        self.assertEqual(pathlib.Path(path).read_text(), picture.svg)
        self.assertEqual(picture._repr_svg_(), picture.svg)
        return xml.dom.minidom.parse(path)

    def test_without_matplotlib(self):
        picture = self.display(self.results.display_curves, ["intel_power", "total_mem_use"])
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 4)
        self.assertEqual(len(self.display(self.results.display_curves, "intel_power", 5).getElementsByTagName("polyline")), 1)

    def test_two_scales_without_matplotlib(self):
        picture = self.display(self.results.display_2_curves, "intel_power", "total_mem_use")
        outer, *inner = picture.getElementsByTagName("svg")
        self.assertEqual([svg.getAttribute("y") for svg in inner], ["0", "400"])
        self.assertEqual(outer.getAttribute("height"), "800")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_with_matplotlib(self):
        import matplotlib

        matplotlib.use("svg")
        figure = self.results.display_curves(["intel_power", "total_mem_use"])
        (axes,) = figure.axes
        self.assertEqual([line.get_ydata().tolist() for line in axes.lines], [[10, 20], [30, 5], [1], [2]])
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["intel_power", "total_mem_use"])
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("seconds", "watts, bytes"))
        first, second = self.results.display_2_curves("intel_power", "total_mem_use").axes
        self.assertEqual((first.get_ylabel(), second.get_ylabel()), ("intel_power (watts)", "total_mem_use (bytes)"))


class Alias(package.PackageTest):
    def test_a_program_runs_as_it_is(self):
        done = self.run_python(
            "from deep_learning_power_measure.power_measure import experiment, parsers\n"
            "driver = parsers.JsonParser('rec', cont=False)\n"
            "exp = experiment.Experiment(driver)\n"
            "p, q = exp.measure_yourself(period=0.1)\n"
            "p.join(0.3)\n"
            "q.put(experiment.STOP_MESSAGE)\n"
            "exp_result = experiment.ExpResults(driver)\n"
            "exp_result.print()\n"
        )
        self.assertRegex(done.stdout, "^Energy consumption:\n   Total power draw: ")
        self.assertIn("   per_process_cpu_uses: mean ", done.stdout)

    def run_module(self, *arguments):
        command = [sys.executable, "-m", "deep_learning_power_measure", "--output_folder", "rec", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=package.PATIENCE, env=os.environ | {"MPLBACKEND": "svg"})

    def test_the_command(self):
        command = f"{sys.executable} -c 'import time; time.sleep(0.4); exit(7)'"
        done = self.run_module("--cmd", command, "--period", "0.1", "--measurement_period", "0.1")
        self.assertEqual((done.returncode, done.stdout), (7, ""), done.stderr)
        self.assertEqual(lines_of()[-1], "END OF RECORDING SEGMENT")
        self.assertIn("   total_mem_use: mean ", self.run_module().stdout)
        failed = self.run_module("--curve", "intel")
        self.assertEqual((failed.returncode, failed.stdout), (1, ""))
        self.assertIn('There is no metric "intel" in rec. There are: ', failed.stderr)


if __name__ == "__main__":
    logging.getLogger("gpu_tracker").setLevel(logging.WARNING)
    package.main()
