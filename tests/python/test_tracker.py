"""Tracker: arguments, states, errors, results, and where its files go."""

import contextlib
import csv
import dataclasses
import glob
import inspect
import json
import logging
import math
import os
import pathlib
import pickle
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from unittest import mock

import package
import older_usage

sys.path.insert(0, str(package.SOURCE / "tests" / "cli"))
from energy_machine import MOVE, Machine
from receiver import Receiver

import gpu_tracker as gput
from gpu_tracker import _native, power

TOO_EARLY = (
    "Cannot display the tracker in string or JSON format before tracking completes. "
    "Exit the content manager or call the stop() method before calling to_json() or str()"
)
SECTIONS = ["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time"]


class Results(package.PackageTest):
    def has_row_above(self, path, ram):
        lines = open(path).read().splitlines(keepends=True)[3:] if os.path.exists(path) else []
        return any(float(line.split(",")[0] or 0) > ram for line in lines if line.endswith("\n"))

    def test_sees_memory_that_the_block_took(self):
        with gput.Tracker(sleep_time=0.02, ram_unit="bytes", tracking_file="t.csv") as tracker:
            block = bytearray(b"x" * 80_000_000)
            end = time.monotonic() + package.PATIENCE
            while not self.has_row_above("t.csv", len(block)) and time.monotonic() < end:
                time.sleep(0.1)
            del block
        self.assertGreater(tracker.resource_usage.max_ram.main.total_rss, 80_000_000)
        self.assertGreater(tracker.resource_usage.max_ram.main.private_rss, 80_000_000)
        self.assertGreaterEqual(tracker.resource_usage.max_ram.system_capacity, 80_000_000)

    def test_sees_children(self):
        with gput.Tracker(sleep_time=0.02, ram_unit="bytes") as tracker:
            hold = "x = b'x' * 60_000_000; import time; time.sleep(2)"
            subprocess.run([sys.executable, "-c", hold], check=True)
        self.assertGreater(tracker.resource_usage.max_ram.descendants.total_rss, 60_000_000)
        self.assertGreaterEqual(tracker.resource_usage.cpu_utilization.descendants_n_threads, 1)

    def count_threads(self):
        """How many too many. Libraries have threads that Python does not know, and the kernel counts those of trackers
        before this one until they are gone."""
        before = 0
        for thread in pathlib.Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError):
                before += (thread / "comm").read_text() != "gpu-tracker\n"
        with gput.Tracker(sleep_time=0.01) as tracker:
            time.sleep(0.1)
        return tracker.resource_usage.cpu_utilization.main_n_threads - before

    def test_does_not_count_its_own_thread(self):
        self.assertEqual(self.count_threads(), 0)

    def test_does_not_count_its_thread_that_reads_the_gpu(self):
        with package.fake_gpu(pathlib.Path.cwd(), "memory 80000000000 0 9000000\n"):
            self.assertEqual(self.count_threads(), 0)

    def test_data_classes_have_the_documented_fields_and_reprs(self):
        with gput.Tracker(ram_unit="megabytes", gpu_ram_unit="kilobytes", time_unit="seconds") as tracker:
            pass
        usage = tracker.resource_usage
        self.assertEqual([field.name for field in dataclasses.fields(usage)], SECTIONS)
        self.assertRegex(
            repr(usage.max_ram),
            r"^MaxRAM\(unit='megabytes', system_capacity=[\d.]+, system=[\d.]+, "
            r"main=RSSValues\(total_rss=[\d.]+, private_rss=[\d.]+, shared_rss=[\d.]+\), "
            r"descendants=RSSValues\(total_rss=0.0, private_rss=0.0, shared_rss=0.0\), "
            r"combined=RSSValues\(total_rss=[\d.]+, private_rss=[\d.]+, shared_rss=[\d.]+\)\)$",
        )
        self.assertRegex(repr(usage.compute_time), r"^ComputeTime\(unit='seconds', time=[\d.e-]+\)$")
        self.assertEqual(usage.max_gpu_ram.unit, "kilobytes")
        self.assertIs(type(usage.max_ram), gput.tracker.MaxRAM)
        self.assertEqual(pickle.loads(pickle.dumps(usage)), usage)

    def test_every_argument_may_stand_in_a_config_file(self):
        names = list(inspect.signature(gput.Tracker).parameters)
        self.assertIn("processes", names)
        with open("config.json", "w") as file:
            json.dump(dict.fromkeys(names), file)
        subprocess.run(
            [os.environ["GPUT_COMMAND"], "run", "--tconfig=config.json", "--disable-logs", "-o", "out.txt", "true"], check=True)

    def test_sections_are_on_the_tracker_too(self):
        tracker = gput.Tracker()
        self.assertIsNone(tracker.max_ram)
        self.assertRaises(AttributeError, getattr, tracker, "max_disk")
        with tracker:
            pass
        for section in SECTIONS:
            self.assertIs(getattr(tracker, section), getattr(tracker.resource_usage, section))

    def test_json_is_the_data_classes(self):
        with gput.Tracker() as tracker:
            pass
        self.assertEqual(list(tracker.to_json()), SECTIONS)
        self.assertEqual(tracker.to_json(), dataclasses.asdict(tracker.resource_usage))
        json.dumps(tracker.to_json())

    def test_pickles_once_it_is_stopped(self):
        tracker = gput.Tracker()
        self.assert_raises(
            TypeError,
            "Cannot pickle a tracker before tracking completes. Call the stop() method first.",
            pickle.dumps,
            tracker,
        )
        with tracker:
            pass
        loaded = pickle.loads(pickle.dumps(tracker))
        self.assertEqual((repr(loaded), str(loaded), loaded.report()), (repr(tracker), str(tracker), tracker.report()))
        self.assertEqual((loaded.details, loaded.resource_usage), (tracker.details, tracker.resource_usage))
        self.assert_raises(RuntimeError, "Cannot stop tracking when tracking has already stopped.", loaded.stop)

    def test_loads_what_the_command_pickled(self):
        command = [os.environ["GPUT_COMMAND"], "run", "--disable-logs", "--st=0.02", "--tf=t.csv", "-f", "pickle", "-o", "t.pkl"]
        until_its_ram_is_known = "import time\nwhile open('t.csv').read().count('\\n') < 6: time.sleep(0.01)"
        subprocess.run([*command, sys.executable, "-c", until_its_ram_is_known], check=True)
        with open("t.pkl", "rb") as file:
            tracker = pickle.load(file)
        self.assertIs(type(tracker), gput.Tracker)
        self.assertEqual(tracker.to_json(), dataclasses.asdict(tracker.resource_usage))
        self.assertEqual(tracker.details["accounting"]["processes"]["seen"], 1)
        self.assertTrue(tracker.report().startswith(str(tracker)))

    def test_json_is_a_copy(self):
        with gput.Tracker() as tracker:
            pass
        tracker.to_json()["max_ram"]["unit"] = "changed"
        self.assertEqual(tracker.to_json()["max_ram"]["unit"], "gigabytes")

    def test_text_has_the_documented_lines(self):
        with gput.Tracker() as tracker:
            pass
        labels = [line.partition(":")[0] for line in str(tracker).splitlines()]
        self.assertEqual(labels[:8], ["Max RAM", "   Unit", "   System capacity", "   System", "   Main",
                                      "      Total RSS", "      Private RSS", "      Shared RSS"])
        self.assertEqual(labels[-3:], ["Compute time", "   Unit", "   Time"])
        self.assertIn("   Main number of threads", labels)
        self.assertIn("   Number of expected GPUs", labels)
        self.assertEqual(len(labels), 60)

    def test_report_has_more(self):
        with gput.Tracker() as tracker:
            pass
        self.assertTrue(tracker.report().startswith(str(tracker)))
        self.assertIn("\nSources:\n", tracker.report())
        self.assertIn("kernel", tracker.details["accounting"]["cpu_seconds"])

    def test_keeps_figures_when_the_block_raises(self):
        with self.assertRaisesRegex(RuntimeError, "AN ERROR"):
            with gput.Tracker() as tracker:
                raise RuntimeError("AN ERROR")
        self.assertEqual(tracker.resource_usage.max_gpu_ram.main, 0.0)

    def test_expected_cores_divide_hardware_percents(self):
        with gput.Tracker(sleep_time=0.02, n_expected_cores=4) as tracker:
            end = time.process_time() + 0.2
            while time.process_time() < end:
                pass
        cpu = tracker.resource_usage.cpu_utilization
        self.assertEqual(cpu.n_expected_cores, 4)
        self.assertAlmostEqual(cpu.main.max_hardware_percent, cpu.main.max_sum_percent / 4, places=3)
        self.assertGreater(cpu.main.max_sum_percent, 0)

    def test_samples_while_the_interpreter_is_blocked(self):
        with gput.Tracker(sleep_time=0.01, tracking_file="t.csv"):
            # One call that releases the lock to no other.
            import ctypes

            ctypes.PyDLL(None).usleep(3_000_000)
        rows = list(csv.reader(open("t.csv")))[3:]
        self.assertGreater(len(rows), 4)  # it were two, and a busy machine may need 500 ms for each


class States(package.PackageTest):
    def test_misuse_is_refused_as_it_always_was(self):
        tracker = gput.Tracker()
        self.assertEqual(repr(tracker), "State: NEW")
        self.assert_raises(RuntimeError, "Cannot stop tracking when tracking has not started yet.", tracker.stop)
        self.assert_raises(RuntimeError, TOO_EARLY, str, tracker)
        self.assert_raises(RuntimeError, TOO_EARLY, tracker.to_json)
        tracker.start()
        self.assertIs(tracker.state, gput.Tracker.State.STARTED)
        self.assertIsNone(tracker.resource_usage)
        self.assert_raises(RuntimeError, "Cannot start tracking when tracking has already started.", tracker.start)
        tracker.stop()
        self.assertEqual(repr(tracker), "State: STOPPED")
        self.assert_raises(RuntimeError, "Cannot stop tracking when tracking has already stopped.", tracker.stop)
        self.assert_raises(RuntimeError, "Cannot start tracking when tracking has already stopped.", tracker.start)

    def test_numbers_do_not_wrap(self):
        for name in "n_expected_cores", "process_id":
            for number in 0, -1, 2**31, 2**32 + 1, 2**70:
                for own_process in False, True:
                    message = f"{name} is {number}; it is a number from 1 to 2147483647, or None."
                    self.assert_raises(ValueError, message, gput.Tracker, own_process=own_process, **{name: number})
        self.assertRaises(TypeError, gput.Tracker, n_expected_cores=1.5)
        for number in -1, 2**32 + 1, 2**70:
            self.assertRaises(ValueError, _native.Session, n_expected_cores=number)
            self.assertRaises(ValueError, _native.Session().track, number)

    def test_joining_takes_some_time(self):
        for attempts in 0, -1:
            self.assert_raises(
                ValueError, f"n_join_attempts is {attempts}; it is 1 or more.", gput.Tracker, n_join_attempts=attempts
            )
        for timeout in 0, -1.0, float("nan"), float("inf"):
            message = f"join_timeout is {timeout}; it is a number of seconds above 0."
            self.assert_raises(ValueError, message, gput.Tracker, join_timeout=timeout)
        self.assertRaises(TypeError, gput.Tracker, n_join_attempts=1.5)

    def test_a_uuid_as_text(self):
        with self.assertRaises(ValueError) as caught:
            gput.Tracker(gpu_uuids="no such uuid")
        self.assertIn("no such uuid", str(caught.exception))

    def test_paths_of_any_kind(self):
        for name in b"a.csv", "b-\udcff.csv", pathlib.Path("c.csv"), b"d-\xfe.sqlite":
            for own_process in False, True:
                with gput.Tracker(sleep_time=0.02, tracking_file=name, overwrite=True, own_process=own_process):
                    time.sleep(0.05)
                self.assertTrue(os.path.exists(name))
                self.assertRaises(FileExistsError, gput.Tracker, tracking_file=name)

    def test_arguments_are_checked(self):
        units = "bytes, kilobytes, megabytes, gigabytes, terabytes"
        for message, arguments in {
            f'"x" is not a valid RAM unit. Valid values are {units}': {"ram_unit": "x"},
            f'"x" is not a valid GPU RAM unit. Valid values are {units}': {"gpu_ram_unit": "x"},
            '"x" is not a valid time unit. Valid values are seconds, minutes, hours, days': {"time_unit": "x"},
            '"totls" is not a valid RAM mode: did you mean totals? Valid values are adaptive, exact, totals': {"ram_mode": "totls"},
            'Invalid file name: "a.txt". Valid file extensions are ".csv" and ".sqlite".': {"tracking_file": "a.txt"},
            "sleep_time must be a number of seconds, 0.001 or more, such as 0.1.": {"sleep_time": 0},
            '"x" is not a valid GPU brand. Supported values are "nvidia", "amd" and "intel".': {"gpu_brand": "x"},
            '"nvidai" is not a valid GPU brand: did you mean nvidia? Supported values are "nvidia", "amd" and "intel".': {"gpu_brand": "nvidai"},
            "gpu_uuids is not None but the set is empty. Please provide a set of at least one GPU UUID.": {"gpu_uuids": set()},
        }.items():
            with self.subTest(arguments):
                self.assert_raises(ValueError, message, gput.Tracker, **arguments)
        self.assert_raises(TypeError, "listen must be str, not 5001", gput.Tracker, listen=5001)
        self.assert_raises(ValueError, "otlp has an embedded null character", gput.Tracker, otlp="http://a\0")
        self.assertRaises(ValueError, gput.Tracker, gpu_uuids={"no such uuid"})
        self.assertRaises(TypeError, gput.Tracker, sleep_time="a")
        self.assert_raises(TypeError, "process_id is '12'; it is a whole number, or None.", gput.Tracker, process_id="12")

    def test_whoever_mistypes_an_option_is_told_which_one_is_meant(self):
        for name, meant in {
            "interval": ": did you mean sleep_time?", "sleeptime": ": did you mean sleep_time?", "pid": ": did you mean process_id?",
            "output": ": did you mean tracking_file?", "gpus": ": did you mean gpu_uuids?", "qqqqqqqq": ".",
        }.items():  # fmt: skip
            with self.subTest(name):
                message = f"Tracker() has no option '{name}'{meant} All options: help(gpu_tracker.Tracker)"
                self.assert_raises(TypeError, message, gput.Tracker, **{name: 1})
        for call, option, meant in (gput.report, "file", "output"), (gput.bench, "n", "runs"), (gput.plot, "figure", "figures"), (gput.sub_track, "name", "code_block_name"):
            with self.assertRaisesRegex(TypeError, rf"^{call.__name__}\(\) has no option '{option}': did you mean {meant}\?"):
                call(**{option: 1})
        self.assertIn("sleep_time", inspect.signature(gput.Tracker).parameters)

    def test_whoever_mistypes_a_name_of_the_package_is_told_which_one_is_meant(self):
        for name, meant in {"Subtracker": ": did you mean SubTracker?", "compare": ": did you mean TrackingComparison?", "_qqqq": "."}.items():
            self.assert_raises(AttributeError, f"module 'gpu_tracker' has no attribute '{name}'{meant}", getattr, gput, name)

    def test_takes_no_number_that_the_command_and_config_files_refuse(self):
        number = "a number of seconds, "
        for name, option, wanted, values in (
            ("sleep_time", "--st", number + "0.001 or more, such as 0.1", (0, -1, 1e9, math.nan, math.inf)),
            ("push_interval", "--push-interval", number + "0.5 or more", (-5, 0.4, 1e9, math.nan, math.inf)),
            ("push_timeout", "--push-timeout", number + "0.1 to 3600", (-5, 0.05, 3601, math.nan, math.inf)),
            ("carbon_intensity", "--carbon-intensity", "grams of CO2 for a kWh, 0 or more, or the code of a country", (-1, math.inf)),
        ):
            for value in values:
                with self.subTest(name=name, value=value):
                    self.assert_raises(ValueError, f"{name} must be {wanted}.", gput.Tracker, **{name: value})
                    command = [os.environ["GPUT_COMMAND"], "run", "-q", f"{option}={value}", "true"]
                    self.assertEqual(subprocess.run(command, capture_output=True).returncode, 125)
                    if math.isfinite(value):
                        pathlib.Path("config.json").write_text(json.dumps({name: value}))
                        done = subprocess.run([os.environ["GPUT_COMMAND"], "run", "-q", "--tconfig", "config.json", "true"], capture_output=True, text=True)
                        self.assertEqual(done.stderr, f'gpu-tracker: Config file config.json: "{name}" must be {wanted}.\n')

    def test_takes_its_arguments_in_the_old_order(self):
        tracker = gput.Tracker(1.0, "megabytes", "megabytes", "seconds", 1, None, True, None, "kept", 3, 2.0, None, "t.csv", True)
        self.assertEqual((tracker.n_join_attempts, tracker.join_timeout), (3, 2.0))

    def test_a_process_that_is_gone_costs_a_warning(self):
        child = subprocess.Popen(["true"])
        child.wait()
        tracker = gput.Tracker(process_id=child.pid, ram_unit="kilobytes")
        with self.assertLogs("gpu_tracker") as logs:
            tracker.start()
        self.assertIn(f"The target process of ID {child.pid} ended before tracking could begin.", logs.output[-1])
        tracker.stop()
        self.assertEqual(tracker.resource_usage.max_ram.main, gput.tracker.RSSValues())
        self.assertEqual(tracker.resource_usage.max_ram.unit, "kilobytes")
        self.assertIn("Compute time:", str(tracker))

    def test_tracks_another_process(self):
        hold = "x = b'x' * 70_000_000; print('ready', flush=True); __import__('sys').stdin.read()"
        child = subprocess.Popen([sys.executable, "-c", hold], stdin=-1, stdout=-1)
        self.addCleanup(child.communicate)
        child.stdout.readline()
        with gput.Tracker(sleep_time=0.02, process_id=child.pid, ram_unit="bytes") as tracker:
            time.sleep(0.1)
        self.assertGreater(tracker.resource_usage.max_ram.main.total_rss, 70_000_000)
        self.assertEqual(tracker.resource_usage.max_ram.descendants.total_rss, 0)

    def test_disable_logs_silences(self):
        with mock.patch.object(logging.getLogger("gpu_tracker"), "handle") as handle:
            with gput.Tracker(disable_logs=True):
                pass
        handle.assert_not_called()

    def test_warnings_begin_with_our_name_where_no_logging_is_configured(self):
        ended = "import logging, subprocess, sys, gpu_tracker as gput\n%s\ndone = subprocess.Popen(['true'])\ndone.wait()\n"
        ended += "gput.Tracker(process_id=done.pid).start()\n"
        said = "The target process of ID [0-9]+ ended before tracking could begin."
        for configured, begin in ("", "gpu-tracker: "), ("logging.basicConfig()", "WARNING:gpu_tracker:"):
            done = self.run_python(ended % configured, check=False)
            self.assertRegex(done.stderr, f"(?m)^{begin}{said}$")

    def test_two_at_once(self):
        with gput.Tracker() as outer, gput.Tracker() as inner:
            pass
        self.assertLess(inner.resource_usage.compute_time.time, outer.resource_usage.compute_time.time)


class Nested(package.PackageTest):
    """What starts while a program tracks itself knows that it is within that session."""

    def test_the_environment_names_the_session(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("GPUT_SESSION", None)
            for own_process in False, True:
                with self.subTest(own_process=own_process):
                    outer = gput.Tracker(sleep_time=0.02, own_process=own_process, disable_logs=True)
                    inner = gput.Tracker(sleep_time=0.02, own_process=own_process, disable_logs=True)
                    with outer:
                        named = os.environ["GPUT_SESSION"]
                        with inner:
                            both = os.environ["GPUT_SESSION"]
                        self.assertEqual(os.environ["GPUT_SESSION"], named)
                    self.assertNotIn("GPUT_SESSION", os.environ)
                    self.assertEqual(outer.details["identity"]["session_id"], named)
                    self.assertEqual(inner.details["identity"]["within"], named)
                    self.assertEqual(both, f"{named}/{inner.details['identity']['session_id']}")

    def test_a_session_of_another_process_sets_nothing(self):
        with mock.patch.dict(os.environ), subprocess.Popen(["sleep", "60"]) as other:
            os.environ.pop("GPUT_SESSION", None)
            with gput.Tracker(sleep_time=0.02, process_id=other.pid, disable_logs=True):
                self.assertNotIn("GPUT_SESSION", os.environ)
            other.kill()

    def test_another_value_is_left_alone(self):
        with mock.patch.dict(os.environ):
            with gput.Tracker(sleep_time=0.02, disable_logs=True):
                os.environ["GPUT_SESSION"] = "mine"
            self.assertEqual(os.environ["GPUT_SESSION"], "mine")


class Files(package.PackageTest):
    def test_csv_and_sqlite_are_filled(self):
        # In a program of its own: a process that closes a database loses what it has locked of it.
        count = "import sqlite3; print(sqlite3.connect('t.sqlite').execute('SELECT count(main_ram) FROM data').fetchone()[0])"
        for name, has_three in (
            ("t.csv", lambda: open("t.csv").read().count("\n") >= 6),
            ("t.sqlite", lambda: int(self.run_python(count, check=False).stdout or 0) >= 3),
        ):
            with gput.Tracker(sleep_time=0.02, tracking_file=name):
                end = time.monotonic() + package.PATIENCE
                while not has_three() and time.monotonic() < end:
                    time.sleep(0.01)
        os.unlink("program.py")
        rows = list(csv.reader(open("t.csv")))
        self.assertEqual(rows[0][0], "ram_unit")
        self.assertEqual(rows[2][0], "main_ram")
        self.assertGreater(len(rows), 5)
        with sqlite3.connect("t.sqlite") as database:
            self.assertGreater(database.execute("SELECT count(main_ram) FROM data").fetchone()[0], 2)
        database.close()
        self.assertEqual(sorted(os.listdir()), ["t.csv", "t.csv.session.json", "t.sqlite"])

    def test_an_existing_file_is_kept(self):
        open("t.csv", "w").write("mine")
        self.assert_raises(
            FileExistsError,
            "File t.csv already exists. Set overwrite to True to overwrite the existing file.",
            gput.Tracker,
            tracking_file="t.csv",
        )
        self.assertEqual(open("t.csv").read(), "mine")
        with gput.Tracker(tracking_file="t.csv", overwrite=True):
            pass
        self.assertTrue(open("t.csv").read().startswith("ram_unit"))

    def test_files_that_cannot_be_made_are_reported_with_the_reason(self):
        open("file", "w").close()
        for error, path in (FileNotFoundError, "no/t"), (NotADirectoryError, "file/t"):
            for ending in ".csv", ".sqlite":
                for own_process in False, True:
                    self.assertRaises(error, gput.Tracker, tracking_file=path + ending, own_process=own_process)
            self.assertRaises(error, gput.Tracker(resource_usage_file=path).start)
            for ending in ".csv", ".sqlite", ".gputblocks":
                self.assertRaises(error, gput.SubTracker("a", sub_tracking_file=path + ending).__enter__)
            self.assertRaises(error, gput.SubTrackingAnalyzer(path + ".csv", None).sub_tracking_results)
        os.mkdir("folder.csv")
        self.assertRaises(IsADirectoryError, gput.read_samples, "folder.csv")

    def test_an_empty_name_is_refused(self):
        with self.assertRaisesRegex(ValueError, "^resource_usage_file needs the name of a file"):
            gput.Tracker(resource_usage_file="")

    def test_figures_so_far_are_in_a_hidden_file_that_goes(self):
        with gput.Tracker(sleep_time=0.02):
            time.sleep(0.1)
            self.assertEqual([name[:13] for name in os.listdir()], [".gpu-tracker_"])
        self.assertEqual(os.listdir(), [])

    def test_a_program_that_ends_without_stopping_leaves_figures(self):
        for ending in "raise RuntimeError", "os.kill(os.getpid(), 2); time.sleep(10)", "sys.exit(1)", "":
            code = f"""
import gpu_tracker as gput, os, sys, time
tracker = gput.Tracker(resource_usage_file="kept.pkl", disable_logs=True)
tracker.start()
block = b"x" * 100_000_000
{ending}
"""
            self.run_python(code, check=False)
            self.assertGreater(gput.load_resource_usage("kept.pkl").max_ram.main.total_rss, 0.1, ending)
            os.unlink("kept.pkl")

    def test_figures_so_far_can_be_unpickled(self):
        """As the older package's tutorial says: they are a pickle in a hidden file of the working directory."""
        code = """
import gpu_tracker as gput, glob, os, signal, time
tracker = gput.Tracker(0.02, disable_logs=True)
tracker.start()
block = b"x" * 90_000_000
while True:
    for path in glob.glob(".gpu-tracker_*.pkl"):
        if gput.load_resource_usage(path).max_ram.main.total_rss > 0.09:
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
"""
        self.assertEqual(self.run_python(code, check=False).returncode, -signal.SIGKILL)
        (path,) = glob.glob(".gpu-tracker_*.pkl")
        with open(path, "rb") as file:
            usage = pickle.load(file)
            self.assertEqual(file.read(), b"")
        self.assertIs(type(usage), gput.tracker.ResourceUsage)
        self.assertEqual(usage, gput.load_resource_usage(path))
        self.assertGreater(usage.max_ram.main.total_rss, 0.09)
        with open(path, "r+b") as file:  # damaged
            file.truncate(1000)
        self.assertRaises(ValueError, gput.load_resource_usage, path)
        with open(path, "rb") as file:
            self.assertRaises(pickle.UnpicklingError, pickle.load, file)

    def test_a_killed_program_leaves_figures_and_samples(self):
        code = """
import gpu_tracker as gput, os, signal, subprocess, sys, time
tracker = gput.Tracker(0.02, "bytes", disable_logs=True, tracking_file=sys.argv[1], resource_usage_file="kept", overwrite=True)
tracker.start()
block = b"x" * 90_000_000
# In a program of its own: a process that closes a database loses what it has locked of it.
READ = '''import gpu_tracker as gput, sys
print(min(max(gput.read_samples(sys.argv[1])["main_ram"]), gput.load_resource_usage("kept").max_ram.main.total_rss))'''
while float(subprocess.run([sys.executable, "-c", READ, sys.argv[1]], capture_output=True).stdout or 0) <= len(block):
    time.sleep(0.1)
os.kill(os.getpid(), signal.SIGKILL)
"""
        for name in "t.csv", "t.sqlite":
            done = self.run_python(code, name, check=False)
            self.assertEqual(done.returncode, -signal.SIGKILL)
            self.assertGreater(gput.load_resource_usage("kept").max_ram.main.total_rss, 90_000_000)
            self.assertGreater(max(gput.read_samples(name)["main_ram"]), 90_000_000)
            overall = gput.SubTrackingAnalyzer(name, None).overall_timepoint_results()
            self.assertGreater(overall.loc["main_ram", "max"], 90_000_000)

    def test_what_the_older_package_left_behind(self):
        for descendants in "descendants", "descendents":
            content = older_usage.pickled(older_usage.usage(descendants))
            with open("older.pkl", "wb") as file:
                file.write(content)
            read = gput.load_resource_usage("older.pkl")
            # Its users unpickle the file themselves.
            for usage in read, pickle.loads(content):
                self.assertIs(type(usage), gput.tracker.ResourceUsage)
                self.assertEqual(usage.max_ram.descendants.private_rss, 15)
                self.assertEqual(usage.max_ram.descendents, usage.max_ram.descendants)
                self.assertEqual(usage.max_gpu_ram.descendents, 0.192)
                self.assertEqual(usage.cpu_utilization.descendents.max_sum_percent, 20)
                self.assertEqual(usage.cpu_utilization.descendents_n_threads, 2)
                self.assertNotIn("descendents", dataclasses.asdict(usage)["max_ram"])
        with open("older.pkl", "wb") as file:
            pickle.dump(older_usage.Evil(), file)
        self.assertRaises(ValueError, gput.load_resource_usage, "older.pkl")
        self.assertFalse(os.path.exists("ran"))

    def test_what_is_no_kept_file_is_refused(self):
        open("other", "w").write("other")
        self.assertRaises(ValueError, gput.load_resource_usage, "other")
        self.assertRaises(FileNotFoundError, gput.load_resource_usage, "nothing")


class Processes(package.PackageTest):
    def test_each_is_a_row(self):
        with gput.Tracker(sleep_time=0.02, processes=True) as tracker:
            so_far = tracker.processes
            shell = subprocess.Popen(["sh", "-c", "read line; exit 7"], stdin=subprocess.PIPE)
            while len(tracker.processes) < 2:  # where the kernel announces nothing, a sample has to see it
                time.sleep(0.01)
            shell.communicate()
        self.assertEqual(so_far["pid"].tolist(), [os.getpid()])
        table = tracker.processes
        self.assertEqual(table.name, "processes")
        child = [row for row in table.rows() if row[0] != os.getpid()][0]
        row = dict(zip(table.columns, child))
        self.assertEqual((row["parent"], row["command_line"]), (os.getpid(), None))
        self.assertIn(row["exit_status"], (7, None))  # None where the kernel does not announce it
        self.assertEqual(table.units["peak_ram_bytes"], "bytes")
        self.assertEqual(len(tracker.details["processes"]), len(table))

    def test_command_lines_are_kept_on_request(self):
        with gput.Tracker(sleep_time=0.02, command_lines=True) as tracker:
            time.sleep(0.1)
        self.assertIn("test_tracker.py", tracker.processes["command_line"][0])

    def test_own_process_has_them_in_its_report(self):
        with gput.Tracker(sleep_time=0.02, processes=True, own_process=True) as tracker:
            time.sleep(0.1)
        self.assertEqual(tracker.details["processes"][0]["pid"], os.getpid())
        self.assertRaises(RuntimeError, lambda: tracker.processes)

    def test_none_without_being_asked_for(self):
        with gput.Tracker() as tracker:
            self.assertRaises(RuntimeError, lambda: tracker.processes)
        self.assertRaises(RuntimeError, lambda: tracker.processes)
        self.assertNotIn("processes", tracker.details)


class Listening(package.PackageTest):
    def test_metrics_while_it_tracks(self):
        with gput.Tracker(sleep_time=0.02, listen="127.0.0.1:0") as tracker:
            with urllib.request.urlopen(f"http://{tracker.address}/metrics", timeout=package.PATIENCE) as answer:
                self.assertIn(b"\ngputracker_main_memory_bytes ", answer.read())
        self.assertIsNone(tracker.address)

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.assertRaises(OSError, gput.Tracker, listen=f"127.0.0.1:{taken.getsockname()[1]}")
        self.assertRaises(ValueError, gput.Tracker, listen="127.0.0.1:port")
        self.assertEqual(os.listdir(), [])

    def test_no_procfs_of_another_namespace_stands_for_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, str(os.getpid())))
            for name in "stat", "meminfo":
                shutil.copy(f"/proc/{name}", folder)
            with mock.patch.dict(os.environ, {"GPUT_PROCFS": folder}):
                for own_process in False, True:
                    with self.assertRaisesRegex(RuntimeError, "pid namespace"):
                        gput.Tracker(own_process=own_process).start()

    def test_own_process(self):
        with gput.Tracker(sleep_time=0.02, own_process=True, listen="127.0.0.1:0") as tracker:
            self.assertEqual(tracker.address, "127.0.0.1:0")
        self.assertGreater(tracker.resource_usage.max_ram.main.total_rss, 0)


class Sending(package.PackageTest):
    # The share of a short program is less than a receiver may need here.
    @mock.patch.dict(os.environ, {"OTEL_EXPORTER_OTLP_TIMEOUT": "10000"})
    def test_metrics_while_it_tracks(self):
        for own_process in False, True:
            collector = Receiver()
            self.addCleanup(collector.close)
            with gput.Tracker(sleep_time=0.02, otlp=collector.url(), labels={"job": "train", "team": "b"}, push_interval=0.5, own_process=own_process):
                pass
            path, _, body = collector.requests[-1]
            self.assertEqual(path, "/v1/metrics")
            self.assertIn(b"\x0a\x04team\x12\x03\x0a\x01b", body)
            self.assertIn(b"process.memory.usage", body)
        self.assertRaisesRegex(ValueError, "does not begin with http", gput.Tracker, otlp="collector")


class Energy(package.PackageTest):
    def setUp(self):
        super().setUp()
        machine = Machine(self.folder / "sys")
        machine.add("intel-rapl:0", "package-0")
        patch = mock.patch.dict(os.environ, machine.environment())
        patch.start()
        self.addCleanup(patch.stop)
        self.move = [sys.executable, "-c", MOVE, *map(str, machine.move(0.3, package_0=12000))]

    def energy(self, **options):
        with gput.Tracker(sleep_time=0.05, energy_unit="watt-hours", **options) as tracker:
            subprocess.run(self.move, check=True)
        energy = tracker.details["energy"]
        self.assertEqual(energy["unit"], "watt-hours")
        self.assertAlmostEqual(energy["machine"]["package"], 1, delta=0.01)
        return energy

    def test_units_carbon_and_a_recording(self):
        for own_process in False, True:
            folder = pathlib.Path(f"rec {own_process}")
            energy = self.energy(carbon_intensity="FR", energy_folder=folder, own_process=own_process)
            self.assertIn("France", energy["co2e_source"])
            self.assertIn("intel_power", power.ExpResults(folder).list_metrics()["CPU"])
            self.assertEqual(self.energy(carbon_intensity=0, own_process=own_process)["co2e_source"], "0 g/kWh, as given")

    def test_what_makes_no_sense(self):
        self.energy(energy_folder="rec")
        gput.Tracker(energy_unit=None, energy_folder=None)  # as without them
        with self.assertRaisesRegex(FileExistsError, "^There is a recording in rec already. Give another folder.$"):
            gput.Tracker(energy_folder="rec")
        self.assertRaisesRegex(ValueError, "The name of the folder for the recording is empty. Give one", gput.Tracker, energy_folder="")
        self.assertRaisesRegex(ValueError, '"calories" is not a valid energy unit', gput.Tracker, energy_unit="calories")
        self.assertRaisesRegex(ValueError, 'The carbon intensity of "XX" is not known', gput.Tracker, carbon_intensity="XX")
        self.assertRaisesRegex(ValueError, "must be grams of CO2 for a kWh, 0 or more", gput.Tracker, carbon_intensity=-3)
        self.assertRaises(TypeError, gput.Tracker, carbon_intensity=[])


class Limits(package.PackageTest):
    def test_a_limit_passed_is_reported_while_it_tracks_and_after(self):
        limits = {"seconds": 0.05, "ram": "1TB", "gpu_ram": 1e15, "cpu_seconds": "1 d"}
        with self.assertLogs("gpu_tracker", "WARNING") as logs, gput.Tracker(sleep_time=0.02, limits=limits) as tracker:
            end = time.monotonic() + package.PATIENCE
            while tracker.limit_passed is None and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(tracker.limit_passed["kind"], "seconds")
        self.assertEqual(tracker.limit_passed, tracker.details["limit_passed"])
        self.assertEqual((tracker.limit_passed["value"], tracker.limit_passed["enforced"]), (0.05, False))
        self.assertGreaterEqual(tracker.limit_passed["at_seconds"], 0.05)
        self.assertEqual(sum("The seconds limit of 0.05 s was exceeded" in line for line in logs.output), 1)

    def test_none_was_passed(self):
        with gput.Tracker(limits={"ram": "1TB"}) as tracker:
            self.assertIsNone(tracker.limit_passed)
        self.assertIsNone(tracker.limit_passed)

    def test_enforced_on_another_process(self):
        with subprocess.Popen(["sleep", str(package.PATIENCE)]) as child:
            with gput.Tracker(process_id=child.pid, sleep_time=0.02, limits={"seconds": 0.05}, enforce=True) as tracker:
                self.assertEqual(child.wait(package.PATIENCE), -signal.SIGTERM)
        self.assertTrue(tracker.limit_passed["enforced"])

    def test_a_program_does_not_end_itself(self):
        tracker = gput.Tracker(tracking_file="t.csv", limits={"ram": "1TB"}, enforce=True)
        with self.assertRaisesRegex(ValueError, "cannot be killed for a limit"):
            tracker.start()
        del tracker
        self.assertEqual(os.listdir(), [])

    def test_own_process_ends_the_program(self):
        done = self.run_python("""
import gpu_tracker as gput, time
tracker = gput.Tracker(sleep_time=0.02, limits={"seconds": 0.2}, enforce=True, own_process=True, resource_usage_file="kept")
tracker.start()
time.sleep(60)
""", check=False)
        self.assertEqual(done.returncode, -signal.SIGTERM)
        end = time.monotonic() + package.PATIENCE
        while not (os.path.exists("kept") and os.path.getsize("kept")) and time.monotonic() < end:
            time.sleep(0.01)
        with open("kept") as file:
            self.assertEqual(json.load(file)["limit_passed"]["kind"], "seconds")

    def test_wrong_ones(self):
        for own_process in False, True:
            for limits in {"ram": "lots"}, {"ram": 0}, {"disk": "1GB"}, {"seconds": None}, {"seconds": float("nan")}:
                self.assertRaises(ValueError, gput.Tracker, limits=limits, own_process=own_process)
            self.assertRaises(TypeError, gput.Tracker, limits="ram=8GB", own_process=own_process)
            self.assertRaises(ValueError, gput.Tracker, enforce=True, own_process=own_process)
        self.assertEqual(os.listdir(), [])


if __name__ == "__main__":
    package.main()
