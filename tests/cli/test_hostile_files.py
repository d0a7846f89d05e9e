"""Hostile files: pipes in folders of sessions, databases with views, an index of a log that is cut."""

import json
import os
import sqlite3
import subprocess
import sys

from command import BUILD, SANITIZED, CommandTest, main, wait_until
from report_data import use_page

# Adds rows for ever, in a file of a few pages.
VIEW = "CREATE VIEW data AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT d2.* FROM d2, c"


class Hostile(CommandTest):
    def each_reader(self, path):
        """Whatever reads a file or folder of a session ends, and says what is wrong."""
        for words in (["report", path, "-o", "x.html"], ["job", path], ["plot", path, "-o", "x.svg"], ["push", path, "--otlp=http://127.0.0.1:9"],
                      ["timeline", "merge", path, "-o", "m.json"], ["sub-track", "analyze", "--tf", path], ["energy", "summary", path]):  # fmt: skip
            with self.subTest(words=words):
                yield words, self.run_command(*words)

    def test_a_view_is_no_table(self):
        use_page(self)
        self.run_command("run", "-q", "--st", "0.05", "--tf", "t.sqlite", "--", "sleep", "0.1")
        for script in f"ALTER TABLE data RENAME TO d2; {VIEW}", "ALTER TABLE static_data RENAME TO s2; CREATE VIEW static_data AS SELECT * FROM s2":
            database = sqlite3.connect(self.folder / "t.sqlite")
            database.executescript(script)
            database.close()
            for words, done in self.each_reader("t.sqlite"):
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertEqual(len(done.stderr.splitlines()) > 0, True)
        marks = sqlite3.connect(self.folder / "m.sqlite")
        marks.executescript("CREATE TABLE d2 (process_id INTEGER, code_block_name TEXT, position INTEGER, timestamp REAL); "
                            f"INSERT INTO d2 VALUES (1, 'a', 0, 1); {VIEW}")  # fmt: skip
        marks.close()
        done = self.run_command("sub-track", "combine", "--stf", "all.sqlite", "-p", "m.sqlite")
        self.assertEqual(done.returncode, 1)
        self.assertIn("m.sqlite", done.stderr)

    def test_pipes_in_a_folder_are_not_waited_for(self):
        use_page(self)
        for name in "power_metrics.json", "power_metrics.sqlite", "omegawatt.csv", "s.csv.session.json", "x.spooled", "s.sqlite", "m.gputblocks":
            folder = self.folder / f"with {name}"
            folder.mkdir()
            os.mkfifo(folder / name)
            (folder / "s.csv").write_bytes(b"")
            for words, done in self.each_reader(folder.name):
                self.assertIn(done.returncode, (0, 1, 2))

    def test_a_cut_index_of_the_log_ends_no_tracker(self):
        command = "touch ready; while [ ! -e go ] && [ -e ready ]; do sleep 0.05; done; : > t.sqlite-shm; sleep 1.2; exit 7"
        tracker = self.start_command("run", "-q", "--st", "0.01", "--tf", "t.sqlite", "-f", "json", "-o", "r.json", "--", "sh", "-c", command)
        self.addCleanup((self.folder / "ready").unlink, missing_ok=True)
        wait_until(lambda: (self.folder / "ready").exists() and (self.folder / "t.sqlite-shm").exists())
        (self.folder / "go").touch()
        self.assertEqual(tracker.wait(), 7)
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["tracker"]["rows_lost"], 0)
        database = sqlite3.connect(self.folder / "t.sqlite")
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        times = [row[0] for row in database.execute("SELECT timestamp FROM data ORDER BY timestamp")]
        self.assertGreater(times[-1] - times[0], 1)  # those after the cut are there

    def test_rows_that_a_cut_index_has_cost_are_said(self):
        """Where the index is as long as before, a commit cannot know whether pages were lost."""
        command = "sleep 0.55; : > t.sqlite-shm; truncate -s 32768 t.sqlite-shm; sleep 1.2"
        done = self.run_command("run", "-q", "--st", "0.01", "--tf", "t.sqlite", "-f", "json", "-o", "r.json", "--", "sh", "-c", command)
        lost = json.loads((self.folder / "r.json").read_text())["tracker"]["rows_lost"]
        self.assertEqual("the index of its log. Rows of the tracking file are being lost" in done.stderr, lost > 0, done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_nor_a_program_that_tracks_itself(self):
        if SANITIZED or not (BUILD / "python" / "gpu_tracker").exists():
            self.skipTest("the sanitizer's library comes too late in Python" if SANITIZED else "built without Python")
        script = ("import gpu_tracker, os, time\nwith gpu_tracker.Tracker(sleep_time=0.05, tracking_file='t.sqlite', disable_logs=True):\n"
                  "    while not os.path.exists('t.sqlite-shm'): time.sleep(0.01)\n"
                  "    open('t.sqlite-shm', 'w').close()\n    time.sleep(1.2)\nprint('goes on')\n")  # fmt: skip
        done = subprocess.run([sys.executable, "-c", script], cwd=self.folder, env=os.environ | {"PYTHONPATH": str(BUILD / "python")},
                              capture_output=True, text=True)  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (0, "goes on\n"), done.stderr)


if __name__ == "__main__":
    main()
