"""Tracker whose samples are taken by a process of its own."""

import json
import os
import time
from unittest import mock

import package

import gpu_tracker as gput


class OwnProcess(package.PackageTest):
    def test_says_the_same(self):
        with gput.Tracker(sleep_time=0.02, own_process=True, ram_unit="bytes", tracking_file="t.csv") as tracker:
            block = b"x" * 80_000_000
            time.sleep(0.3)
        self.assertGreater(tracker.resource_usage.max_ram.main.total_rss, len(block))
        self.assertEqual(tracker.resource_usage.max_ram.descendants.total_rss, 0)
        self.assertEqual(len(str(tracker).splitlines()), 60)
        self.assertEqual(sorted(os.listdir()), ["t.csv", "t.csv.session.json"])

    def test_its_text_is_laid_out_alike(self):
        with gput.Tracker(sleep_time=0.02) as tracker:
            time.sleep(0.1)
        from gpu_tracker import _text

        lines = _text.report_text(tracker.to_json()).splitlines()
        self.assertEqual(lines, str(tracker).splitlines())

    def test_arguments_are_checked_at_once(self):
        self.assertRaises(ValueError, gput.Tracker, own_process=True, ram_unit="x")
        open("t.csv", "w").write("mine")
        self.assertRaises(FileExistsError, gput.Tracker, own_process=True, tracking_file="t.csv")
        self.assertEqual(os.listdir(), ["t.csv"])

    def test_a_folder_that_cannot_be_written_to(self):
        for name, error in ("nowhere/kept", FileNotFoundError), ("/dev/null/kept", NotADirectoryError):
            tracker = gput.Tracker(own_process=True, resource_usage_file=name)
            with self.assertRaisesRegex(error, rf"^Cannot write /.*{name[-5:]}.*: .* next to resource_usage_file"):
                tracker.start()
        self.assertEqual(os.listdir(), [])

    def test_a_tracking_process_that_ends_at_once(self):
        # Where its exit status is not taken, the kernel has it alive for ever.
        is_gone = mock.patch("gpu_tracker._own_process.OwnProcessSession._is_alive", return_value=False)
        with mock.patch("gpu_tracker.__main__.COMMAND", "true"), is_gone:
            tracker = gput.Tracker(own_process=True)
            self.assert_raises(RuntimeError, "The tracking process did not begin: it ended without a message.", tracker.start)
        self.assertEqual(os.listdir(), [])

    def test_the_command_gets_every_option(self):
        with open("command", "w") as file:
            file.write("#!/bin/sh\nprintf '%s\n' \"$@\" > arguments\ncat > options; mv options options.json\n")
        os.chmod("command", 0o755)
        given = {
            "sleep_time": 0.25, "ram_unit": "bytes", "gpu_ram_unit": "kilobytes", "time_unit": "days", "n_expected_cores": 3,
            "ram_mode": "totals", "processes": True, "command_lines": True, "gpu_parts": True, "energy_unit": "watt-hours", "carbon_intensity": 0.0,
            "listen": "127.0.0.1:0", "limits": {"ram": "8GB", "seconds": 90}, "enforce": True, "otlp": "http://127.0.0.1:1",
            "push_interval": 2.5, "push_timeout": 1.5, "remote_write": "http://127.0.0.1:1/write", "textfile_folder": os.getcwd(), "overwrite": True,
        }  # fmt: skip
        files = {"tracking_file": b"t\xff.csv", "energy_folder": "power"}
        tracker = gput.Tracker(own_process=True, labels={"job": "a", "team": "b"}, disable_logs=True, **given, **files)
        is_gone = mock.patch("gpu_tracker._own_process.OwnProcessSession._is_alive", lambda _: not os.path.exists("options.json"))
        with mock.patch("gpu_tracker.__main__.COMMAND", os.path.abspath("command")), is_gone:
            self.assertRaises(RuntimeError, tracker.start)
        with open("options.json") as file:
            options = json.load(file)
        self.assertEqual(options, given | {"labels": "job=a,team=b"})
        self.assertEqual(set(tracker._session._options) - set(options) - set(files), {"resource_usage_file", "gpu_uuids", "gpu_brand"})
        with open("arguments", "rb") as file:
            words = file.read().split(b"\n")
        self.assertIn(b"--tf=t\xff.csv%q{GPUT_UNSET}", words)
        self.assertIn(b"--energy-folder=power%q{GPUT_UNSET}", words)

    def test_a_file_of_somebody_else_is_kept(self):
        for text in "mine", '{"mine": 1}', "[]":
            with open("kept.json", "w") as file:
                file.write(text)
            tracker = gput.Tracker(own_process=True, resource_usage_file="kept.json")
            self.assertRaisesRegex(FileExistsError, "kept.json already exists and is not a resource usage file", tracker.start)
            self.assertEqual(open("kept.json").read(), text)

    def test_files_of_an_earlier_session_are_not_taken_for_its_own(self):
        with gput.Tracker(sleep_time=0.02, ram_unit="gigabytes") as earlier:
            pass
        for name in "kept.json", "kept.json.so-far", "kept.json.log":
            with open(name, "w") as file:
                json.dump(earlier.to_json(), file)
        with gput.Tracker(sleep_time=0.02, ram_unit="bytes", own_process=True, resource_usage_file="kept.json") as tracker:
            time.sleep(0.1)
        self.assertGreater(tracker.resource_usage.max_ram.main.total_rss, 1_000_000)
        self.assertEqual(os.listdir(), [])

    def test_signals_only_the_process_that_it_started(self):
        def refuse(pid, number):
            raise AssertionError(f"kill({pid}, {number})")

        for is_there in True, False:  # descriptors of processes
            opened = os.pidfd_open if is_there else mock.Mock(side_effect=OSError(38, "Function not implemented"))
            with mock.patch("os.pidfd_open", opened), mock.patch("os.kill", refuse if is_there else os.kill):
                with gput.Tracker(sleep_time=0.02, ram_unit="bytes", own_process=True) as tracker:
                    time.sleep(0.1)
            self.assertGreater(tracker.resource_usage.max_ram.main.total_rss, 1_000_000)

    def test_goes_on_to_the_end_of_a_killed_program(self):
        code = """
import gpu_tracker as gput, os, signal, time
tracker = gput.Tracker(0.02, "bytes", disable_logs=True, own_process=True, resource_usage_file="kept.json", tracking_file="t.csv")
tracker.start()
block = b"x" * 90_000_000
rows = lambda: open("t.csv").read().count("\\n") if os.path.exists("t.csv") else 0
seen = rows()
while rows() < seen + 3:  # the first sample may have begun before
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""
        self.run_python(code, check=False)
        end = time.monotonic() + package.PATIENCE
        while not (os.path.exists("kept.json") and os.path.getsize("kept.json")) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertGreater(gput.load_resource_usage("kept.json").max_ram.main.total_rss, 90_000_000)


if __name__ == "__main__":
    package.main()
