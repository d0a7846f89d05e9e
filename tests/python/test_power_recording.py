"""gpu_tracker.power: recording with AIPowerMeter's classes."""

import datetime
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
from unittest import mock

import package

sys.path.insert(0, str(package.SOURCE / "tests" / "cli"))
from energy_machine import MOVE, Machine
from gpu_tracker import power
from power_recording import line, lines_of, wait_for_lines, wait_until, write_recording

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


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
            # Not known of a period in which the counters were read once: a file can be read half-written.
            if "rel_intel_power" in cpu:
                self.assertLessEqual(sum(cpu["rel_intel_power"].values()), cpu["intel_power"] * (1 + 1e-9))
        self.assertTrue(any(entry["metrics"]["cpu"].get("rel_intel_power") for entry in lines))
        self.assertGreater(max(entry["metrics"]["cpu"]["per_process_cpu_uses"][own] for entry in lines), 0)
        results = power.ExpResults(self.driver)
        self.assertGreater(results.max_("intel_power"), 50)
        self.assertEqual(results.total_power_draw(), results.total_("intel_power"))
        seconds = results.get_duration_metric("intel_power")[0]  # less than all of it where a period has none
        self.assertAlmostEqual(seconds, results.total_("intel_power") / results.average_("intel_power"))
        self.assertLessEqual(seconds, results.get_exp_duration()[0] + 1e-9)

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
        command = self.start(SLEEP)
        process, queue = power.Experiment(self.driver).measure_from_pid_list([command.pid], period=0.1)
        command.terminate()
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
            ValueError, "'halt' is not a message for a recording. It takes only STOP_MESSAGE, which ends it.", queue.put, "halt"
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


@unittest.skipUnless(os.geteuid() == 0, "only root can make links of others")
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
        self.assertRaisesRegex(PermissionError, "is a link owned by another user", function, *arguments)
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


if __name__ == "__main__":
    logging.getLogger("gpu_tracker").setLevel(logging.WARNING)
    package.main()
