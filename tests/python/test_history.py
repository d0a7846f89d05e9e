"""A Tracker's row in the history, which `gpu-tracker history` shows."""

import json
import os
import pathlib
import subprocess
import sys
from unittest import mock

import package
import gpu_tracker
from gpu_tracker.__main__ import COMMAND


class History(package.PackageTest):
    def setUp(self):
        super().setUp()
        kept = {name: value for name, value in os.environ.items() if name not in ("GPUT_HISTORY", "GPUT_SESSION")}
        patch = mock.patch.dict(os.environ, {**kept, "XDG_STATE_HOME": str(self.folder / "state")}, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def track(self, **options):
        with gpu_tracker.Tracker(**{"sleep_time": 0.05, "disable_logs": True, **options}):
            pass

    def rows(self):
        done = subprocess.run([str(COMMAND), "history", "-f", "json"], capture_output=True, text=True, check=True, timeout=package.PATIENCE)
        return json.loads(done.stdout)

    def test_it_is_kept_where_it_was_asked_for(self):
        self.track()
        self.assertEqual(self.rows(), [])
        self.track(history=True, tracking_file="x.csv")
        row, = self.rows()
        self.assertEqual(json.loads(row["files"]), [str(pathlib.Path("x.csv").resolve())])
        self.assertEqual(row["name"].split()[-1], sys.argv[0])
        self.assertGreater(row["ram_bytes"], 0)
        subprocess.run([str(COMMAND), "history", "on"], capture_output=True, check=True)
        self.track()
        self.track(history=False)
        self.assertEqual(len(self.rows()), 2)
        os.environ["GPUT_HISTORY"] = str(self.folder / "elsewhere")
        self.track()
        self.assertEqual(len(self.rows()), 1)

    def test_what_is_inside_of_another_session_is_in_the_row_of_that_one(self):
        os.environ["GPUT_HISTORY"] = str(self.folder / "kept")
        with gpu_tracker.Tracker(sleep_time=0.05, disable_logs=True):
            self.track()
        self.assertEqual(len(self.rows()), 1)
        with gpu_tracker.Tracker(sleep_time=0.05, disable_logs=True):
            self.track(history=True)
        _, inner, outer = sorted(self.rows(), key=lambda row: row["end"])
        self.assertEqual((inner["within"], outer["within"]), (outer["session_id"], None))

    def test_a_process_of_its_own_keeps_it(self):
        self.track(history=True, own_process=True, resource_usage_file="u.json")
        self.assertEqual(len(self.rows()), 1)
        self.track(own_process=True, resource_usage_file="u.json")
        self.assertEqual(len(self.rows()), 1)

    def test_a_history_that_cannot_be_written_is_a_warning(self):
        (self.folder / "file").write_text("")
        for place in self.folder / "file" / "below", self.folder / "file":
            os.environ["GPUT_HISTORY"] = str(place)
            with self.subTest(place=place), self.assertLogs("gpu_tracker") as logs:
                self.track(disable_logs=False)
            self.assertIn("This session is not in the history", "\n".join(logs.output))
        for name in "GPUT_HISTORY", "XDG_STATE_HOME", "HOME":
            os.environ.pop(name, None)
        with self.assertRaisesRegex(ValueError, "There is no place for a history"):
            self.track(history=True)


if __name__ == "__main__":
    package.main()
