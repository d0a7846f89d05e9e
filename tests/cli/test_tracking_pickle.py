"""-f pickle of a tracking session: a stopped Tracker, loaded here with stand-ins for the package's classes."""

import json
import pickle

from command import CommandTest, main

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

    def test_that_cannot_be_written_is_shown_as_text(self):
        (self.folder / "folder").mkdir()
        done = self.run_command("run", "-f", "pickle", "-o", "folder/t.pkl", "sh", "-c", "rm -r folder; touch folder")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assert_is_report(done.stderr.partition("\nPeaks:")[0])

    def test_other_formats_are_none_of_reports(self):
        of_a_session = '"summary", "text", "full", "json", "pickle" or "prometheus"'
        for command, status, valid in (["run", "true"], 125, of_a_session), (["show", "x"], 1, of_a_session), \
                (["doctor"], 1, '"text" or "json"'):
            done = self.run_command(*command[:1], "-f", "csv", *command[1:])
            self.assert_fails(done, status, f'"csv" is not a valid format. Valid values are {valid}.')
        done = self.run_command("doctor", "-f", "pickle")
        self.assert_fails(done, 1, '"pickle" is not a valid format. Valid values are "text" or "json".')


if __name__ == "__main__":
    main()
