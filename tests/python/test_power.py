"""gpu_tracker.power: recordings of power with AIPowerMeter's classes, held to arithmetic of Python's own."""

import datetime
import importlib
import importlib.util
import io
import json
import logging
import os
import pathlib
import queue as Queue
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
from energy_machine import MOVE, RANGE_UJ, Machine
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
            'The start "soon" is no moment of a recording. It is a date such as "2023-06-30 16:32:14.5", or seconds after the '
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
        said = "Nothing was recorded from the start to the end that are given: rec has 2023-06-30 16:32:14 to 2023-06-30 16:33:16."
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
        self.assertIn("   intel_power: 92.875 joules (mean 26.536 W, max 40.0 W)\n", printed.getvalue())

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
        self.assertIn("line 3 is cut off", logs.output[0])
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


class ReadingGpus(package.PackageTest):
    def test_a_recording_of_aipowermeter(self):
        write_recording(line_of_2023(0, 20, 70), line_of_2023(2, 20, 80), END)
        results = power.ExpResults("rec")
        self.assertEqual(results.list_metrics()["GPU"], [
            "nvidia_draw_absolute", "per_gpu_power_draw", "nvidia_mem_use", "per_gpu_per_pid_utilization_absolute", "nvidia_sm_use",
            "per_gpu_estimated_attributable_utilization", "per_gpu_attributable_power", "nvidia_attributable_power",
        ])  # fmt: skip
        self.assertEqual(results.total_power_draw(), 2 * (20 + 75))
        self.assertEqual(results.total_("nvidia_attributable_power"), 150)
        self.assertEqual(results.total_("per_gpu_attributable_power"), {"1": 150})  # "all" is no GPU
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
        self.assertIn("   per_gpu_power_draw:0: 40.0 joules (mean 20.0 W, max 20.0 W)\n", printed.getvalue())
        self.assertIn("   per_gpu_power_draw:1: 150.0 joules (mean 75.0 W, max 80.0 W)\n", printed.getvalue())
        self.assertNotIn(":all", printed.getvalue())

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
        self.assertAlmostEqual(results.get_exp_duration()[0], results.total_("intel_power") / results.average_("intel_power"))

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
            self.assertEqual(len(results.get_curve("total_mem_use")), 2)

    def test_a_machine_without_counters_is_warned_of_once(self):
        with self.assertLogs("gpu_tracker") as logs:
            self.record_a_moment(power.Experiment(power.JsonParser("deep/down/rec")))
        self.assertEqual(len([text for text in logs.output if "The recording goes on without the CPU's power" in text]), 1, logs.output)
        results = power.ExpResults("deep/down/rec")
        self.assertNotIn("intel_power", results.list_metrics()["CPU"])
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
        self.assertIn("only that one can end the recording. Ask it to, by a queue of multiprocessing", error)
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
        self.assertGreater(power.ExpResults("rec").get_exp_duration()[0], 0)

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


@unittest.skipUnless(os.geteuid() == 0, "only the superuser can make links of others")
class LinksOfOthers(package.PackageTest):
    """In a sticky folder that everybody can write to, as /tmp is."""

    def setUp(self):
        super().setUp()
        pathlib.Path("victim").write_text("precious")
        os.mkdir("shared")
        os.chmod("shared", 0o1777)

    def link(self, name):
        path = f"shared/{name}"
        os.symlink(os.path.abspath("victim"), path)
        os.lchown(path, 65534, 65534)
        return path

    def assert_refused(self, function, *arguments):
        self.assertRaisesRegex(PermissionError, "is a link of another user", function, *arguments)
        self.assertEqual(pathlib.Path("victim").read_text(), "precious")

    def test_a_picture_does_not_go_there(self):
        self.assert_refused(power.Picture("<svg/>").save, self.link("picture.svg"))

    def test_nor_does_a_chart_of_matplotlib(self):
        write_recording(line(0, intel_power=10), line(2, intel_power=20))
        pyplot = types.SimpleNamespace(subplots=lambda: (mock.MagicMock(), mock.MagicMock()), close=lambda figure: None)
        with mock.patch("gpu_tracker._power_results._pyplot", lambda: pyplot):
            self.assert_refused(power.ExpResults("rec").display_curves, "intel_power", self.link("chart.png"))

    def test_nor_do_files_of_a_recording(self):
        driver = power.JsonParser("shared", meta_data="mine")
        self.link("results_exp.json"), self.link("model_summary.json")
        self.assert_refused(driver.save_exp_metrics, [])
        self.assert_refused(driver.save_model_card, {})
        self.link("metadata.json")
        self.assert_refused(power.Experiment(driver).measure_yourself)


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

    def test_without_matplotlib(self):
        picture = self.display(self.results.display_curves, ["intel_power", "total_mem_use"])
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 4)
        self.assertEqual(len(self.display(self.results.display_curves, "intel_power", start=5).getElementsByTagName("polyline")), 1)

    def test_an_unknown_metric_next_to_a_known_one_is_warned_of(self):
        with self.assertLogs("gpu_tracker") as logs:
            picture = self.display(self.results.display_curves, ["x", "intel_power"])
        self.assertIn("There is no metric 'x' in rec; the others are shown.", logs.output[0])
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 2)

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
        outer, *inner = picture.getElementsByTagName("svg")
        self.assertEqual([svg.getAttribute("y") for svg in inner], ["0", "400"])
        self.assertEqual(outer.getAttribute("height"), "800")

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


class Drivers(package.PackageTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, Machine(self.folder / "sys").environment())
        patch.start()
        self.addCleanup(patch.stop)

    def record(self, driver, **options):
        process, queue = power.Experiment(driver, **options).measure_yourself(period=0.1)
        process.join(0.2)
        queue.put(power.STOP_MESSAGE)
        return queue

    def test_meta_data(self):
        driver = power.JsonParser("rec", {"description": "train", "jobid": 7})
        self.assertIsNone(driver.get_description())
        self.record(driver)
        self.assertEqual({name: driver.get_description()[name] for name in ("description", "jobid")}, {"description": "train", "jobid": 7})
        datetime.datetime.fromisoformat(driver.get_description()["date"])
        self.assertEqual(power.ExpResults(driver).get_summary()["metadata"]["jobid"], 7)
        self.record(power.JsonParser("rec", meta_data="again", cont=True))
        self.assertEqual((driver.get_description()["description"], driver.get_description()["jobid"]), ("again", 7))
        with self.assertRaisesRegex(TypeError, "give cont=True by its name"):
            power.JsonParser("rec", True)

    def test_the_queue_says_when_it_is_done(self):
        process, queue = power.Experiment(power.JsonParser("rec")).measure_yourself(period=0.1)
        self.assertRaises(Queue.Empty, queue.get_nowait)
        self.assertRaises(Queue.Empty, queue.get, timeout=0.05)
        queue.put("Stop")
        self.assertEqual((queue.get(block=True), power.EXP_DONE), ("Done", "Done"))

    def test_erase_takes_the_recording_alone(self):
        driver = power.JsonParser("rec")
        driver.erase()  # there is none
        self.record(driver)
        driver.save_model_card({"total_params": 1})
        pathlib.Path("rec/model.pt").touch()
        driver.erase()
        self.assertEqual(os.listdir("rec"), ["model.pt"])
        process, queue = power.Experiment(driver).measure_yourself(period=0.1)
        said = "A recording to rec is under way. It can be erased when it has ended."
        self.assert_raises(BlockingIOError, said, driver.erase)
        queue.put(power.STOP_MESSAGE)
        driver.erase()
        self.assertEqual(os.listdir("rec"), ["model.pt"])


class Alias(package.PackageTest):
    def test_a_program_runs_as_it_is(self):
        program = (
            "from deep_learning_power_measure.power_measure import experiment, parsers\n"
            "driver = parsers.JsonParser('rec')\n"
            "exp = experiment.Experiment(driver)\n"
            "for phase in range(2):\n"
            "    p, q = exp.measure_yourself(period=0.1)\n"
            "    p.join(0.3)\n"
            "    q.put(experiment.STOP_MESSAGE)\n"
            "    assert q.get(block=True) == experiment.EXP_DONE\n"
            "driver = parsers.JsonParser('rec')\n"
            "exp_result = experiment.ExpResults(driver)\n"
            "exp_result.print()\n"
            "print(exp_result)\n"
            "exp_result.print_metrics()\n"
            "d, start, end = exp_result.get_exp_duration()\n"
            "curve = exp_result.get_curve('total_mem_use')\n"
            "assert [point['date'] for segment in curve for point in segment][0] >= start and d <= end - start\n"
            "assert abs(experiment.total(curve) / exp_result.total_('total_mem_use') - 1) < 1e-6\n"
            "assert len(curve) == 2\n"
        )
        for _ in range(2):  # the second time what the first one recorded is replaced
            done = self.run_python(program)
            self.assertRegex(done.stdout, "^Energy consumption:\n   Total power draw: ")
            self.assertIn("   per_process_cpu_uses: mean ", done.stdout)
            self.assertIn("Available metrics :\nCPU\n  ", done.stdout)
            self.assertIn("GPU\n   NOT AVAILABLE\n", done.stdout)

    def run_module(self, *arguments, module="deep_learning_power_measure", folder=("--output_folder", "rec")):
        command = [sys.executable, "-m", module, *folder, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=package.PATIENCE, env=os.environ | {"MPLBACKEND": "svg"})

    def test_the_command(self):
        command = f"{sys.executable} -c 'import time; print(\"here\", flush=True); time.sleep(0.4); exit(7)'"
        recorded = ("--cmd", command, "--period", "0.1", "--measurement_period", "0.1")
        done = self.run_module(*recorded)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertRegex(done.stdout, "^here\nEnergy consumption:\n")
        self.assertEqual(lines_of()[-1], "END OF RECORDING SEGMENT")
        for segments, cont in ((2, ["--cont", "True"]), (3, ["--cont"]), (1, ["--cont", "False"])):
            self.assertEqual(self.run_module(*recorded, *cont).returncode, 7)
            self.assertEqual(lines_of().count("END OF RECORDING SEGMENT"), segments)
        self.assertIn("'maybe' is neither True nor False", self.run_module(*recorded, "--cont", "maybe").stderr)
        self.assertIn("   total_mem_use: mean ", self.run_module().stdout)
        failed = self.run_module("--curve", "intel")
        self.assertEqual(failed.returncode, 1)
        self.assertIn('There is no metric "intel" in rec. There are: ', failed.stderr)

    def test_a_signal_that_ends_the_command_ends_it_too(self):
        pathlib.Path("end.sh").write_text("sleep 0.3; kill -KILL $$")
        done = self.run_module("--cmd", "sh end.sh")
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertIn("Energy consumption:", done.stdout)

    def test_a_command_that_there_is_not(self):
        done = self.run_module("--cmd", "no-such-command")
        self.assertEqual((done.returncode, done.stdout), (127, ""))

    def test_a_shell_runs_the_command(self):
        done = self.run_module("--cmd", "cd / && pwd; for word in a b; do echo $word; done | tr -d '\\n' >&2; exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stdout, "^/\nEnergy consumption:\n")
        self.assertIn("ab", done.stderr)

    def test_the_folder_has_a_default(self):
        done = self.run_module("--cmd", "sleep 0.3", folder=())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Recorded duration: ", done.stdout)
        self.assertTrue(os.path.exists("power_measure/power_metrics.json"))

    def test_the_module_shows_a_recording(self):
        write_recording(line(0, intel_power=10), line(2, intel_power=20))
        module = "deep_learning_power_measure.power_measure.experiment"
        done = self.run_module("--curve", "intel_power", module=module)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("   intel_power: 30.0 joules", done.stdout)
        path = done.stdout.rstrip().rpartition(" ")[2]
        xml.dom.minidom.parse(path)
        os.unlink(path)

    def import_alias(self, name):
        return importlib.import_module(f"deep_learning_power_measure.power_measure.{name}")

    def test_arithmetic(self):
        experiment = self.import_alias("experiment")
        sizes = [experiment.humanize_bytes(number) for number in (0, 1023, 1536, 4.6 * 2**30, 2**90)]
        self.assertEqual(sizes, ["0.0B", "1023.0B", "1.5KiB", "4.6GiB", "1024.0YiB"])
        self.assertEqual((experiment.joules_to_wh(7200), experiment.joules_to_wh([3600]), experiment.joules_to_kwh(3.6e6)), (2, [1], 1))
        first = [{"date": 0, "value": 2}, {"date": 2, "value": 4}]
        second = [{"date": 10, "value": 1}, {"date": 13, "value": 1}]
        self.assertEqual(experiment.integrate(first), [0, 6])
        self.assertEqual(experiment.total([first, second]), 9)
        self.assertEqual(experiment.total([first, second], start=1, end=11), 3.5 + 1)
        self.assertEqual(experiment.total({"0": [first], "1": [second]}), {"0": 6, "1": 3})
        self.assertIsNone(experiment.total(None))
        gap = [{"date": 0, "value": 2}, {"date": 1, "value": None}, {"date": 2, "value": 2}]
        self.assertEqual((experiment.integrate(gap), experiment.integrate(gap, allow_None=True), experiment.total([gap])), (None, [0, 4], None))
        one, other = experiment.interpolate(first, [{"date": 1, "value": 7}])
        self.assertEqual(one, [{"date": 0, "value": 2}, {"date": 1, "value": 3}, {"date": 2, "value": 4}])
        self.assertEqual([point["value"] for point in other], [7, 7, 7])
        self.assertEqual(experiment.time_to_sec(BEGIN), BEGIN.timestamp())

    def test_processes_now(self):
        rapl_power = self.import_alias("rapl_power")
        code = "more = bytearray(64 << 20); more[::4096] = b'x' * len(more[::4096]); print(flush=True)\nwhile True: pass"
        busy = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (busy.kill(), busy.wait(), busy.stdout.close()))
        busy.stdout.readline()
        gone = subprocess.Popen(["true"])
        gone.wait()
        with self.assertWarns(UserWarning):
            processes = rapl_power.get_processes([busy.pid, gone.pid])
        self.assertEqual([process.pid for process in processes], [busy.pid])
        ended = types.SimpleNamespace(pid=gone.pid)
        pss, uss = rapl_power.get_mem_uses([*processes, ended])
        self.assertEqual((set(pss), set(uss)), ({busy.pid}, {busy.pid}))
        self.assertTrue(64 << 20 < uss[busy.pid] <= pss[busy.pid] < 1 << 30, (uss, pss))
        self.assertTrue(0 < rapl_power.get_relative_mem_use(pss)[busy.pid] < 1)
        wait_until(lambda: rapl_power.get_cpu_uses(processes, period=0.2)[1][busy.pid] > 0)
        uses, seconds = rapl_power.get_cpu_uses([*processes, ended], period=0.2)
        self.assertEqual((set(uses), set(seconds)), ({busy.pid}, {busy.pid}))
        self.assertTrue(0 <= uses[busy.pid] <= 1)
        self.assertEqual(rapl_power.get_rel_power({7: 0.25}, 100), {7: 25})

    def test_memory_that_may_not_be_read(self):
        rapl_power = self.import_alias("rapl_power")
        folder = self.folder / "proc" / "7"
        folder.mkdir(parents=True)
        (folder / "status").write_text("Name:\tx\nVmRSS:\t      12 kB\n")
        (folder / "smaps_rollup").write_text("")  # as for one of the kernel's own
        with mock.patch.dict(os.environ, {"GPUT_PROCFS": str(self.folder / "proc")}):
            self.assertEqual(rapl_power.get_mem_uses([types.SimpleNamespace(pid=7)]), ({7: 12288}, {}))

    def test_a_model(self):
        model = mock.Mock()
        model.parameters.return_value = [mock.Mock(numel=lambda: 30)]
        with mock.patch.dict(sys.modules, {"torchinfo": None}), self.assertLogs("gpu_tracker"):
            self.assertEqual(self.import_alias("model_complexity").get_summary(model, (1, 3)), {"total_params": 30})

    def test_counters_now(self):
        rapl, rapl_power = self.import_alias("rapl"), self.import_alias("rapl_power")
        machine = Machine(self.folder / "sys")
        with mock.patch.dict(os.environ, machine.environment()):
            self.assertFalse(rapl_power.is_rapl_compatible()[0])
            self.assertRaises(ValueError, rapl.RAPLSample.take_sample)
            machine.add_two_packages()
            compatible, said = rapl_power.is_rapl_compatible()
            self.assertTrue(compatible)
            self.assertEqual(said, "RAPL is available: core, dram, package-0, package-1, psys")
            before = rapl.RAPLSample().take_sample()
            for zone, joules in (("0", 60), ("1", 40), ("0:0", 8), ("1:0", 1), ("0:1", 30), ("2", 200)):
                machine.counter(f"intel-rapl:{zone}").write_text(f"{int((1000 + joules) * 1e6)}\n")
            machine.counter("intel-rapl:1").write_text(f"{40_000_000 - 1}\n")  # it has begun anew
            difference = rapl.RAPLSample.take_sample() - before
            difference.duration = 2.0
            self.assertEqual(rapl_power.get_diff_power_draw(difference), rapl_power.get_power(difference))
            powers = rapl_power.get_power(difference)
            wrapped = (RANGE_UJ - 1e9 + 4e7 - 1) / 1e6
            self.assertAlmostEqual(powers.pop("intel_power"), (60 + wrapped) / 2)
            self.assertEqual(powers, {"psys_power": 100, "dram_power": 4.5, "cpu_power": 15})
            self.assertEqual(difference.energy("package-0", "dram"), 8e6)
            self.assertEqual((difference.energy("package-0", unit=rapl.JOULES), difference.average_power("package-0")), (60, 30))
            unmoved = before - before
            unmoved.duration = 1
            self.assertRaises(ValueError, rapl_power.get_power, unmoved)
            machine.counter("intel-rapl:2").unlink()
            sample = rapl.RAPLMonitor.sample()
            self.assertNotIn("psys", sample.domains)
            mover = subprocess.Popen([sys.executable, "-c", MOVE, *map(str, machine.move(600, package_0=60, package_0_0=6))])
            self.addCleanup(lambda: (mover.kill(), mover.wait()))
            start = machine.counter("intel-rapl:0").read_text()
            wait_until(lambda: machine.counter("intel-rapl:0").read_text() != start)
            metrics = rapl_power.get_metrics([os.getpid()], period=0.2)
        self.assertGreater(metrics["intel_power"], 0)
        self.assertIsNone(metrics["psys_power"])
        self.assertEqual(set(metrics["per_process_dram_power"]), {os.getpid()})

    def nvidia_smi(self, memory="20382, 1737", pmon="    1      20382     C     40      0      0      0    python\n"):
        """A program of that name that says this."""
        uuids = ["GPU-a", "GPU-b"]
        answers = {
            "--query-gpu=index,uuid,power.draw": "0, GPU-a, 18.92\n1, GPU-b, 69.24\n",
            "--query-gpu=index,name,power.draw": "0, NVIDIA A, 18.92\n1, NVIDIA B, 69.24\n",
            "--query-gpu=index,power.min_limit": "0, 100.00\n1, [N/A]\n",
            "--query-compute-apps=gpu_uuid,pid,used_gpu_memory": f"{uuids[1]}, {memory}\n{uuids[1]}, 99, [N/A]\n",
            "pmon": "# gpu        pid  type    sm   mem   enc   dec   command\n# Idx          #   C/G     %     %     %     %   name\n"
                    "    0          -     -      -      -      -      -      -\n" + pmon + "    1         99     C      -      -      -      -    other\n",
        }
        path = self.folder / "bin" / "nvidia-smi"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{sys.executable}\nimport sys\nprint({answers!r}[sys.argv[1]], end='')\n")
        path.chmod(0o755)
        return mock.patch.dict(os.environ, {"PATH": f"{path.parent}:{os.environ['PATH']}"})

    def test_gpus_now(self):
        gpu_power = self.import_alias("gpu_power")
        with self.nvidia_smi(pmon="    1      20382     C     40      0      0      0    python\n" * 2):
            self.assertEqual(gpu_power.is_nvidia_compatible(), (True, "NVIDIA's GPUs report their power: NVIDIA A, NVIDIA B"))
            self.assertEqual(gpu_power.get_min_power(), {0: 100, 1: None})
            self.assertEqual(gpu_power.get_gpu_use_pmon(2), {0: {}, 1: {20382: 0.4, 99: None}})
            found = gpu_power.get_nvidia_gpu_power([20382], nsample=2)
            self.assertEqual(found["per_gpu_estimated_attributable_utilization"], {0: 0, 1: 1})
            self.assertEqual(gpu_power.get_nvidia_gpu_power([99])["per_gpu_absolute_percent_usage"], {0: 0, 1: None})
            self.assertEqual(gpu_power.get_nvidia_gpu_power()["per_gpu_attributable_mem_use"], {0: {}, 1: {20382: 1737 << 20, 99: None}})
        self.assertAlmostEqual(found.pop("nvidia_draw_absolute"), 88.16)
        del found["per_gpu_estimated_attributable_utilization"]
        self.assertEqual(found, {
            "per_gpu_power_draw": {0: 18.92, 1: 69.24},
            "per_gpu_attributable_mem_use": {0: {}, 1: {20382: 1737 << 20}},
            "per_gpu_per_pid_utilization_absolute": {0: {}, 1: {20382: 0.4, 99: None}},
            "per_gpu_absolute_percent_usage": {0: 0, 1: 0.4},
        })  # fmt: skip

    def test_no_gpus_now(self):
        gpu_power = self.import_alias("gpu_power")
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            self.assertEqual(gpu_power.is_nvidia_compatible(), (False, "There is no nvidia-smi here: NVIDIA's driver brings it."))
            self.assertRaises(RuntimeError, gpu_power.get_nvidia_gpu_power)


if __name__ == "__main__":
    logging.getLogger("gpu_tracker").setLevel(logging.WARNING)
    package.main()
