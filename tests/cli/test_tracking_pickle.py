"""-f pickle of a tracking session: a stopped Tracker, loaded here with stand-ins for the package's classes."""

import json
import os
import pathlib
import pickle
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import older_usage
from command import CommandTest, main, needs_package, use_package

use_package()
REFUSAL = "A pickle cannot be shown on the screen: name a file with -o."
SECTIONS = ["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time"]


class StandIns(pickle.Unpickler):
    """Makes any class of gpu_tracker.tracker up, and refuses all others."""

    def find_class(self, module, name):
        if module != "gpu_tracker.tracker":
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a report")
        if name == "Tracker.State":
            return lambda value: ("State", value)
        return type(name, (), {})


def as_json(value):
    """Objects as dictionaries, the name of their class first."""
    if type(value) in (dict, list, str, int, float, bool, type(None)):
        return value
    return {"class": type(value).__name__} | {name: as_json(inner) for name, inner in vars(value).items()}


class TrackingPickle(CommandTest):
    def load(self, name):
        with open(self.folder / name, "rb") as file:
            tracker = StandIns(file).load()
            self.assertEqual(file.read(), b"")
        return tracker

    @needs_package
    def test_holds_what_the_json_report_does(self):
        done = self.run_command("run", "-fpickle", "-o", "t.pkl", "--processes", "--tu=seconds", "sleep", "0.2")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        tracker = self.load("t.pkl")
        self.assertEqual(type(tracker).__name__, "Tracker")
        self.assertEqual((tracker.state, tracker.n_join_attempts, tracker.join_timeout), (("State", 2), 5, 10.0))
        self.assertEqual(list(tracker.details)[:5], SECTIONS)
        self.assertEqual(tracker.details["processes"][0]["name"], "sleep")
        self.assertIs(type(tracker.details["tracker"]["ticks"]), int)
        json.dumps(tracker.details, allow_nan=False)
        self.assert_is_report(tracker.text.partition("\nPeaks:")[0])
        self.assertIn("\nProcesses (RAM in gigabytes):\n", tracker.text)

        usage = as_json(tracker.resource_usage)
        self.assertEqual(list(usage), ["class", *SECTIONS])
        classes = {}
        for section in SECTIONS:
            classes[section] = [usage[section].pop("class")]
            for part in usage[section].values():
                if isinstance(part, dict):
                    classes[section].append(part.pop("class"))
            self.assertEqual(usage[section], tracker.details[section])
        self.assertEqual(
            classes,
            {
                "max_ram": ["MaxRAM", *["RSSValues"] * 3],
                "max_gpu_ram": ["MaxGPURAM"],
                "cpu_utilization": ["CPUUtilization", *["ProcessingUnitPercentages"] * 4],
                "gpu_utilization": ["GPUUtilization", "ProcessingUnitPercentages"],
                "compute_time": ["ComputeTime"],
            },
        )

    @needs_package
    def test_every_command_that_tracks_writes_it(self):
        with open(self.folder / "standard-output", "wb") as file:
            done = self.run_command("-e", "true", "-f", "pickle", "-o", "-", capture_output=False, stdout=file)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.load("standard-output").details["accounting"]["processes"]["seen"], 1)
        sleep = self.start_command("run", "sleep", "100")
        self.assertEqual(self.run_command("attach", "--for=0.1", "-fpickle", "-oa.pkl", sleep.pid).returncode, 0)
        self.assertIn("before_attaching", self.load("a.pkl").details["sources"])

    def test_is_not_for_a_screen(self):
        self.assert_fails(self.run_command("run", "-f", "pickle", "--", "touch", "ran"), 125, REFUSAL)
        self.assert_fails(self.run_command("-e", "touch ran", "-f", "pickle"), 1, REFUSAL)
        self.assert_folder_is()

    def test_without_the_package_nothing_is_run(self):
        python = [sys.executable, "-E", "-S"]
        (self.folder / "python").write_text(f'#!/bin/sh\nexec {" ".join(python)} "$@"\n')
        (self.folder / "python").chmod(0o755)
        (self.folder / "gpu_tracker.py").write_text("raise SystemExit('not ours')\n")  # what lies in a folder is not a package
        (self.folder / "older.pkl").write_bytes(older_usage.pickled(older_usage.usage()))
        before = sorted(path.name for path in self.folder.iterdir())
        without = r"\Agpu-tracker: The Python package gputracker reads and writes pickles, and \S+ has none that does: No module named .*\(pip install " \
            r"gputracker\), or name a Python that has it: GPUT_PYTHON=/path/to/python\. Without it, -f json writes the same figures\.\n\Z"
        for name, said in (
            (str(self.folder / "python"), without),
            ("true", r"\Agpu-tracker: GPUT_PYTHON=true is not a Python interpreter: name one with the package gputracker, which reads and writes pickles\. .*\n\Z"),
            ("/nowhere/python", r"\Agpu-tracker: Cannot execute /nowhere/python: No such file or directory\. .*GPUT_PYTHON=.*\n\Z"),
        ):
            environment = os.environ | {"GPUT_PYTHON": name}
            for status, *command in ((125, "run", "-f", "pickle", "-o", "t.pkl", "--", "touch", "ran"), (1, "show", "older.pkl"),
                                     (1, "sub-track", "compare", "-m", "A=older.pkl"), (1, "report", "older.pkl", "-f", "json")):
                done = self.run_command(*command, env=environment)
                self.assertEqual((done.returncode, done.stdout), (status, ""), command)
                self.assertRegex(done.stderr, said)
        self.assert_folder_is(*before)

    @needs_package
    def test_that_cannot_be_written_is_shown_as_text(self):
        (self.folder / "folder").mkdir()
        done = self.run_command("run", "-f", "pickle", "-o", "folder/t.pkl", "sh", "-c", "rm -r folder; touch folder")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assert_is_report(done.stderr.partition("\nPeaks:")[0])

    def test_other_formats_are_none_of_reports(self):
        done = self.run_command("run", "-f", "csv", "true")
        self.assertIn("-f has no format csv; --tf x.csv keeps the samples", done.stderr)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        done = self.run_command("show", "-f", "csv", "x")
        self.assertIn('"csv" is not a valid format. Valid values are "summary", "text", ', done.stderr)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        done = self.run_command("doctor", "-f", "csv")
        self.assert_fails(done, 1, '"csv" is not a valid format. Valid values are "text" or "json".')
        done = self.run_command("doctor", "-f", "pickle")
        self.assert_fails(done, 1, '"pickle" is not a valid format. Valid values are "text" or "json".')


if __name__ == "__main__":
    main()
