"""A command that removes, moves or makes anew what its tracker writes, as 'make clean' does: it is written again, or where it is is said."""

import json
import sqlite3
import unittest

from command import CommandTest, main, times_of

CLEAN = "rm -rf out; mkdir out; sleep 0.4"


class Removed(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "out").mkdir()

    def tracked(self, *options, script=CLEAN):
        done = self.run_command("run", "-q", "--st", "0.05", "--overwrite", *options, "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def times(self, name):
        """Of the rows of a tracking file."""
        path = self.folder / name
        if path.suffix == ".sqlite":
            database = sqlite3.connect(path)
            self.addCleanup(database.close)
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            return [row[0] for row in database.execute("SELECT timestamp FROM data ORDER BY timestamp")]
        return [float(time_) for time_ in times_of(path)]

    def test_a_tracking_file_is_written_again(self):
        for name in "t.csv", "t.plain.csv", "t.sqlite":
            with self.subTest(name=name):
                said = self.tracked("--tf", f"out/{name}", "-o", "r.json", "--processes")
                self.assertIn(f"out/{name} was removed while the command ran: all of its rows were written again, to out/{name}.", said)
                times = self.times(f"out/{name}")
                self.assertGreater(times[-1] - times[0], 0.3)
                self.assertEqual(json.loads((self.folder / "r.json").read_text())["tracker"]["rows_lost"], 0)
                self.assertEqual((self.folder / "out" / f"{name}.session.json").exists(), name != "t.sqlite")
                done = self.run_command("job", "-f", "json", f"out/{name}")
                self.assertEqual(json.loads(done.stdout)["ranks"][0]["path"], f"out/{name}", done.stderr)
                if name == "t.sqlite":
                    database = sqlite3.connect(self.folder / "out" / name)
                    self.addCleanup(database.close)
                    self.assertGreater(database.execute("SELECT count(*) FROM process_data").fetchone()[0], 0)

    def test_what_the_command_puts_there_stays(self):
        for name, free in ("t.csv", "t.1.csv"), ("t.plain.csv", "t.1.plain.csv"), ("t.sqlite", "t.1.sqlite"):
            with self.subTest(name=name):
                said = self.tracked("--tf", f"out/{name}", script=f"rm -rf out; mkdir out; echo mine > out/{name}; sleep 0.3")
                self.assertIn(f"out/{name} was removed while the command ran: all of its rows were written again, to out/{free}.", said)
                self.assertEqual((self.folder / "out" / name).read_text(), "mine\n")
                self.assertGreater(len(self.times(f"out/{free}")), 1)

    def test_where_a_moved_file_is_is_said(self):
        for name in "t.csv", "t.plain.csv", "t.sqlite":
            with self.subTest(name=name):
                said = self.tracked("--tf", f"out/{name}", script="mkdir -p new; mv out/* new/; sleep 0.3")
                self.assertIn(f"out/{name} was moved while the command ran: its rows are in {self.folder.resolve()}/new/{name}.", said)
                self.assertGreater(len(self.times(f"new/{name}")), 3)

    def test_rows_that_the_command_empties_are_said_to_be_lost(self):
        for name in "t.csv", "t.plain.csv":
            has_rows = f"until [ $(wc -l < {name}) -gt 6 ]; do sleep 0.05; done"
            for script in f"{has_rows}; : > {name}; {has_rows}", f"{has_rows}; exec 3> {name}; sleep 0.3; echo mine >&3":
                with self.subTest(name=name, script=script):
                    said = self.tracked("--tf", name, "-o", "r.json", script=script)
                    lost = json.loads((self.folder / "r.json").read_text())["tracker"]["rows_lost"]
                    self.assertGreater(lost, 0)
                    self.assertIn(f"{name} was emptied or overwritten while the command ran: {lost} of its rows are lost.", said)
                    if ": >" in script:
                        self.assertGreater(len(self.times(name)), 2)

    def test_a_file_that_is_emptied_before_its_first_row_has_all_rows(self):
        said = self.tracked("--tf", "t.csv", script=": > t.csv; sleep 0.2")
        self.assertNotIn(": 0 of its rows are lost", said)
        self.assertGreater(len(self.times("t.csv")), 0)

    def test_a_report_has_its_folder_again(self):
        self.assertEqual(self.tracked("-o", "out/r.json", script="rm -rf out"), "")
        self.assertIn("max_ram", (self.folder / "out" / "r.json").read_text())

    def test_a_recording_of_power_is_written_again(self):
        for driver, name in ("json", "power_metrics.json"), ("sqlite", "power_metrics.sqlite"):
            with self.subTest(driver=driver):
                said = self.tracked("--energy-folder", "out/en", "--energy-driver", driver, "--measurement-period", "0.1")
                self.assertIn(f"out/en/{name} was removed while the command ran: it was written again, to out/en/{name}.", said)
                self.assertTrue((self.folder / "out" / "en" / "metadata.json").exists())
                done = self.run_command("energy", "summary", "out/en", "-f", "json")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_regions_are_said_to_be_lost(self):
        said = self.tracked("--phase-token", "E [0-9]", "--region-file", "out/p.gputblocks", script=f"echo E 1; {CLEAN}; echo E 2")
        self.assertIn("out/p.gputblocks.parts was removed while the command ran: the regions that were recorded there are lost.", said)


if __name__ == "__main__":
    main()
