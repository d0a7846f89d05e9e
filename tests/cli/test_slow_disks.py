"""A disk that does not answer delays neither samples nor what is written elsewhere."""

import contextlib
import json
import os
import pathlib
import sqlite3
import unittest

from command import SANITIZED, CommandTest, main, wait_until

HANGING_DISK = pathlib.Path(os.environ["GPUT_BUILD"]) / "tests" / "hanging-disk.so"


@unittest.skipIf(SANITIZED, "AddressSanitizer must be loaded first")
@unittest.skipUnless(HANGING_DISK.exists(), "it wraps glibc's write()")
class SlowDisk(CommandTest):
    def start(self, hanging, *options, **variables):
        """A session whose file of that name hangs once a file `hang` is there, and the command of which ends with `go`."""
        environment = os.environ | {
            "LD_PRELOAD": str(HANGING_DISK), "HANGING_FILE": hanging, "HANGING_WHILE": str(self.folder / "hang")} | variables
        script = "touch started; until test -e go; do sleep 0.02; done"
        return self.start_command(
            "run", "--st=0.02", "-f", "json", "-o", "report.json", "--resource-usage-file", "kept", *options, "--", "sh", "-c", script,
            env=environment)

    def ticks(self):
        """As of the results so far."""
        done = self.run_command("show", "-f", "json", "kept")
        return json.loads(done.stdout)["tracker"]["ticks"] if done.returncode == 0 else 0

    def wait_for_ticks(self, more):
        wanted = self.ticks() + more
        wait_until(lambda: self.ticks() >= wanted, f"{more} more samples")

    def end(self, process):
        (self.folder / "go").touch()
        _, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        return json.loads((self.folder / "report.json").read_text())["tracker"], messages

    def check_hanging(self, name):
        process = self.start("/" + name, "--tf", name)
        self.wait_for_ticks(1)
        (self.folder / "hang").touch()
        self.wait_for_ticks(100)
        size = (self.folder / name).stat().st_size
        self.wait_for_ticks(100)
        self.assertEqual((self.folder / name).stat().st_size, size)
        (self.folder / "hang").unlink()
        tracker, messages = self.end(process)
        self.assertEqual(tracker["rows_lost"], 0)
        self.assertNotIn("disk", messages)
        return tracker

    def count(self, what):
        return (self.folder / ("hang." + what)).stat().st_size

    def test_rows_that_waited_for_the_disk_are_written_at_once(self):
        """Where each write takes long, the queue would fill up, and the end wait for all that is in it."""
        process = self.start("/x.csv", "--tf", "x.csv")
        self.wait_for_ticks(1)
        (self.folder / "hang").touch()
        self.wait_for_ticks(100)
        before = self.count("writes")
        (self.folder / "hang").unlink()
        tracker, _ = self.end(process)
        self.assertLess(self.count("writes") - before, (tracker["ticks"] - before) / 4)
        self.assertEqual(self.count_lines(), 3 + tracker["ticks"] - 1)

    def test_a_disk_that_fails_for_a_moment_loses_no_row(self):
        """As a network file system does while its server starts again."""
        process = self.start("/x.csv", "--tf", "x.csv")
        self.wait_for_ticks(1)
        (self.folder / "hang.fails").touch()
        tried = self.count("writes")
        wait_until(lambda: self.count("writes") > tried + 1, "writes that fail")
        (self.folder / "hang.fails").unlink()
        tracker, messages = self.end(process)
        self.assertEqual((tracker["rows_lost"], messages), (0, ""))
        self.assertEqual(self.count_lines(), 3 + tracker["ticks"] - 1)

    def test_a_disk_that_fails_at_the_start_refuses_no_command(self):
        for name, count in ("x.csv", self.count_lines), ("x.sqlite", self.count_rows):
            (self.folder / "hang.once").touch()
            process = self.start("/x.csv" if name == "x.csv" else ".part", "--tf", name)
            self.wait_for_ticks(1)
            self.assertFalse((self.folder / "hang.once").exists())
            tracker, messages = self.end(process)
            self.assertEqual(messages, "")
            self.assertEqual(count(), tracker["ticks"] - 1 + (3 if name == "x.csv" else 0))
            (self.folder / "go").unlink()
            (self.folder / "report.json").unlink()

    def test_a_disk_that_fails_at_the_end_has_the_report(self):
        process = self.start(" (deleted)")  # the name of a file without one, which becomes the report
        self.wait_for_ticks(1)
        (self.folder / "hang.once").touch()
        _, messages = self.end(process)
        self.assertEqual(messages, "")
        if (self.folder / "hang.once").exists():
            self.skipTest("temporary files have names here")

    def without_locks(self):
        return {"LD_PRELOAD": str(HANGING_DISK), "HANGING_FILE": "", "HANGING_WHILE": str(self.folder / "hang"), "HANGING_LOCKS": "1"}

    def test_a_disk_without_locks_has_databases(self):
        """As Lustre without -o flock."""
        process = self.start("/x.sqlite", "--tf", "x.sqlite", "--energy-folder", "en", "--energy-driver", "sqlite", HANGING_LOCKS="1")
        self.wait_for_ticks(100)
        tracker, messages = self.end(process)
        self.assertNotIn("x.sqlite", messages)
        self.assertEqual((self.count_rows(), tracker["rows_lost"]), (tracker["ticks"] - 1, 0))
        self.assertTrue((self.folder / "en" / "power_metrics.sqlite").exists())
        done = self.run_command("job", "-f", "json", "x.sqlite", env=os.environ | self.without_locks())
        self.assertEqual(json.loads(done.stdout)["ranks"][0]["samples"], tracker["ticks"] - 1, done.stderr)

    def test_marks_of_many_need_locks_of_a_database(self):
        done = self.run_command("mark", "start", "--stf", "m.sqlite", "x", env=os.environ | self.without_locks())
        self.assertIn("m.sqlite: its file system has no locks, and SQLite needs them. Name a .csv file", done.stderr)

    def test_a_disk_without_locks_has_combined_marks(self):
        for name in "a.csv", "b.csv":
            (self.folder / name).write_text("process_id,code_block_name,position,timestamp\n1,x,0,1.5\n1,x,1,2.5\n")
        done = self.run_command("sub-track", "combine", "--mix", "--stf", "m.sqlite", "-p", "a.csv", "b.csv", env=os.environ | self.without_locks())
        self.assertEqual(done.returncode, 0, done.stderr)
        with contextlib.closing(sqlite3.connect(self.folder / "m.sqlite")) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM data").fetchone(), (4,))

    def test_a_disk_that_fails_to_the_end_loses_rows_and_says_so(self):
        process = self.start("/x.csv", "--tf", "x.csv")
        wait_until(lambda: self.ticks() >= 1 and self.count_lines() > 3, "a row")
        (self.folder / "hang.fails").touch()
        self.wait_for_ticks(10)
        tracker, messages = self.end(process)
        self.assertIn("x.csv: Input/output error", messages)
        self.assertGreater(tracker["rows_lost"], 0)
        self.assertEqual(self.count_lines(), 3 + tracker["ticks"] - 1 - tracker["rows_lost"])

    def test_a_disk_is_asked_little_before_the_command_begins(self):
        process = self.start("/x.csv", "--tf", "x.csv")
        wait_until((self.folder / "started").exists, "the command")
        asked = self.count("stats")
        self.end(process)
        self.assertLess(asked, 40)

    def count_lines(self):
        return len((self.folder / "x.csv").read_text().splitlines())

    def test_a_hanging_tracking_file_delays_no_sample_and_loses_no_row(self):
        tracker = self.check_hanging("x.csv")
        self.assertEqual(self.count_lines(), 3 + tracker["ticks"] - 1)

    def count_rows(self):
        with sqlite3.connect(self.folder / "x.sqlite") as database:
            return database.execute("SELECT count(*) FROM data").fetchone()[0]

    def test_nor_does_a_database(self):
        tracker = self.check_hanging("x.sqlite")
        self.assertEqual(self.count_rows(), tracker["ticks"] - 1)

    def test_hanging_results_so_far_delay_no_row(self):
        process = self.start("/kept", "--tf", "x.csv")
        self.wait_for_ticks(1)
        (self.folder / "hang").touch()
        rows = self.count_lines() + 100
        wait_until(lambda: self.count_lines() > rows, "100 more rows")
        (self.folder / "hang").unlink()
        self.end(process)
        self.assertFalse((self.folder / "kept").exists())


if __name__ == "__main__":
    main()
