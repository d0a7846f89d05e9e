"""One rule for files that are there already: they are kept, a free name is written and said in one line, or --overwrite replaces them."""

import fcntl
import json
import os
import shutil
import subprocess

from command import PATIENCE, CommandTest, main, wait_until
from report_data import use_page

# What a run writes: options, its name, and what it looks like.
OUTPUTS = [
    (["-o"], "r.json", "r.1.json"),
    (["--tf"], "s.csv", "s.1.csv"),
    (["--tf"], "s.plain.csv", "s.1.plain.csv"),
    (["--tf"], "s.sqlite", "s.1.sqlite"),
    (["--phase-token", "x", "--region-file"], "m.csv", "m.1.csv"),
    (["--spool", "spool", "--tf"], "p.csv", "p.1.csv"),
    (["--spool", "spool", "-o"], "p.json", "p.1.json"),
]


class Existing(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "spool").mkdir()

    def kept(self, *options, command=("echo", "x")):
        return self.run_command("run", "-q", "--st", "0.02", *options, "--", *command)

    def names(self, begin):
        return sorted(path.name for path in self.folder.iterdir() if path.name.startswith(begin) and ".session." not in path.name)

    def go(self, *options, until="go"):
        """A run whose command ends when there is a file."""
        command = f"echo x; touch ready-{until}; while [ ! -e {until} ] && [ -d spool ]; do sleep 0.05; done; echo x"
        tracker = self.start_command("run", "-q", "--st", "0.02", *options, "--", "sh", "-c", command)
        wait_until((self.folder / f"ready-{until}").exists)
        return tracker

    def end(self, tracker, until="go"):
        (self.folder / until).touch()
        _, said = tracker.communicate(timeout=PATIENCE)
        return said

    def test_every_output_keeps_what_is_there(self):
        for options, name, free in OUTPUTS:
            with self.subTest(options=options, name=name):
                (self.folder / name).write_text("precious")
                done = self.kept(*options, name)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stderr, f"gpu-tracker: warning: {name} exists: writing {free} (--overwrite replaces {name}).\n")
                self.assertEqual((self.folder / name).read_text(), "precious")
                self.assertGreater((self.folder / free).stat().st_size, 30)
                done = self.kept(*options, name, "--overwrite")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertNotIn(b"precious", (self.folder / name).read_bytes())

    def test_a_recording_of_power_too(self):
        for name, overwrite in ("power", []), ("power.1", []), ("power", ["--overwrite"]):
            before = {path: path.read_bytes() for path in (self.folder / "power").glob("*")}
            done = self.kept("--energy-folder", "power", *overwrite, command=("sleep", "0.1"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("power_metrics.json", os.listdir(self.folder / name))
            kept = all(path.read_bytes() == bytes for path, bytes in before.items())
            self.assertEqual(kept, not overwrite)
            self.assertEqual(f"power exists: writing {name}" in done.stderr, name == "power.1", done.stderr)

    def test_a_page_too(self):
        use_page(self)
        (self.folder / "x.html").write_text("precious")
        done = self.run_command("run", "-q", "--report", "x.html", "--", "true")
        self.assertEqual((done.returncode, (self.folder / "x.html").read_text()), (0, "precious"), done.stderr)
        self.assertIn("x.html exists: writing x.1.html", done.stderr)

    def test_a_report_or_picture_without_a_name_keeps_the_one_before(self):
        """A name that was given with -o is replaced: what is made of files can be made again."""
        use_page(self)
        self.kept("--tf", "s.csv", command=("sleep", "0.1"))
        for words, name, free in (["report", "s.csv"], "report.html", "report.1.html"), (["plot", "s.csv"], "plot.svg", "plot.1.svg"):
            (self.folder / name).write_text("precious")
            done = self.run_command(*words)
            self.assertEqual((done.returncode, (self.folder / name).read_text()), (0, "precious"), done.stderr)
            self.assertIn(f"{name} exists: writing {free} (--overwrite replaces {name}).", done.stderr)
            self.assertIn(f"Wrote {free} (-o chooses another name).", done.stderr)
            for more in ["--overwrite"], ["-o", name]:
                (self.folder / name).write_text("precious")
                self.assertEqual(self.run_command(*words, *more).returncode, 0)
                self.assertNotEqual((self.folder / name).read_text(), "precious")

    def test_the_older_form_is_as_it_was(self):
        """It replaces a report, and refuses a tracking file."""
        (self.folder / "out.txt").write_text("old")
        (self.folder / "s.csv").write_text("precious")
        self.assertEqual(self.run_command("-e", "true", "-o", "out.txt").returncode, 0)
        self.assertIn("Max RAM:", (self.folder / "out.txt").read_text())
        done = self.run_command("-e", "true", "--tf", "s.csv")
        self.assertIn("File s.csv already exists. --overwrite replaces it.", done.stderr)
        self.assertEqual((done.returncode, (self.folder / "s.csv").read_text(), self.names("out")), (1, "precious", ["out.txt"]))

    def test_three_at_once_have_three_reports(self):
        at_once = [self.start_command("run", "-q", "-o", "u.json", "--tf", "u.csv", "--", "cat", stdin=subprocess.PIPE) for _ in range(3)]
        for tracker in at_once:
            tracker.communicate(timeout=PATIENCE)
            self.assertEqual(tracker.returncode, 0)
        self.assertEqual(self.names("u"), ["u.1.csv", "u.1.json", "u.2.csv", "u.2.json", "u.csv", "u.json"])
        pids = {json.loads((self.folder / name).read_text())["identity"]["pid"] for name in self.names("u") if name.endswith(".json")}
        self.assertEqual(len(pids), 3)

    def test_all_files_of_a_session_have_one_number(self):
        """With the lowest number that is free for each of them, also where only one of them is taken."""
        (self.folder / "u.json").write_text("precious")
        (self.folder / "u.2.csv").write_text("precious")
        for number in 1, 3:
            done = self.kept("-o", "u.json", "--tf", "u.csv", "--phase-token", "x", "--region-file", "m.csv", "--energy-folder", "e")
            said = [line for line in done.stderr.splitlines() if "The recording goes on" not in line]
            self.assertEqual((done.returncode, said), (0, [f"gpu-tracker: warning: {text}" for text in [
                f"Instead of u.csv, u.{number}.csv is written: files of one session have one number.",
                f"u.json exists: writing u.{number}.json (--overwrite replaces u.json).",
                f"Instead of e, e.{number} is written: files of one session have one number.",
                f"Instead of m.csv, m.{number}.csv is written: files of one session have one number."]]))  # fmt: skip
            for name in f"u.{number}.json", f"u.{number}.csv", f"m.{number}.csv", f"e.{number}":
                self.assertTrue((self.folder / name).exists(), name)
        self.assertEqual(self.names("u"), ["u.1.csv", "u.1.json", "u.2.csv", "u.3.csv", "u.3.json", "u.json"])

    def test_a_number_that_another_tracker_has_claimed_is_skipped_for_all(self):
        """Also where the tracking file is found to be taken only when the session makes it: nothing is at the end of the link."""
        for name in "u.json", "u.1.json":
            (self.folder / name).touch()
        with open(self.folder / "u.json") as first, open(self.folder / "u.1.json") as second:
            for claimed in first, second:
                fcntl.flock(claimed, fcntl.LOCK_EX)
            (self.folder / "u.2.csv").symlink_to("nowhere")
            done = self.kept("-o", "u.json", "--tf", "u.csv")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Another tracker is writing to u.json: writing u.3.json instead.", done.stderr)
        self.assertEqual([name for name in self.names("u") if "3" in name], ["u.3.csv", "u.3.json"])

    def test_numbers_of_placeholders_are_those_of_one_session(self):
        for number in 0, 1, 3:
            (self.folder / "n.2.csv").touch()
            self.assertEqual(self.kept("-o", "n.%n.json", "--tf", "n.%n.csv", "--phase-token", "x", "--region-file", "f.%n/m.csv").stderr, "")
            for name in f"n.{number}.json", f"n.{number}.csv", f"f.{number}/m.csv":
                self.assertTrue((self.folder / name).exists(), name)
        self.assertEqual(self.names("f."), ["f.0", "f.1", "f.3"])

    def test_what_another_tracker_writes_is_not_replaced_even_with_overwrite(self):
        for options, name, free in OUTPUTS:
            with self.subTest(options=options, name=name):
                first = self.go(*options, name, "--overwrite")
                done = self.kept(*options, name, "--overwrite", command=("sh", "-c", "echo x; echo x"))
                self.assertEqual((done.returncode, done.stderr), (0, f"gpu-tracker: warning: Another tracker is writing to {name}: writing {free} instead.\n"))
                self.assertEqual(self.end(first), "")
                for path in name, free:
                    self.assertGreater((self.folder / path).stat().st_size, 30)
                self.assertEqual(self.names("m.csv.parts") + self.names("m.1.csv.parts"), [])
                for left in "go", "ready-go":
                    (self.folder / left).unlink()

    def test_a_spooled_file_and_one_that_is_not(self):
        for spooled, second in (["--spool", "spool"], []), ([], ["--spool", "spool"]):
            with self.subTest(first=spooled):
                first = self.go("--tf", "t.csv", "--overwrite", *spooled)
                done = self.kept("--tf", "t.csv", "--overwrite", *second)
                self.assertIn("Another tracker is writing to t.csv: writing t.1.csv instead.", done.stderr)
                self.end(first)
                for name in "t.csv", "t.1.csv":
                    self.assertGreater(len((self.folder / name).read_text().splitlines()), 3)
                for path in [*self.folder.glob("t*"), *self.folder.glob("*go")]:
                    path.unlink()

    def test_an_empty_file_is_none_to_keep(self):
        """mktemp makes one, and a tracker that was killed leaves one."""
        (self.folder / "r.json").touch()
        self.assertEqual(self.kept("-o", "r.json").stderr, "")
        self.assertEqual(self.names("r."), ["r.json"])
        self.assertGreater((self.folder / "r.json").stat().st_size, 30)
        tracker = self.go("-o", "k.json")
        tracker.kill()
        tracker.wait()
        (self.folder / "go").touch()
        self.assertEqual((self.folder / "k.json").stat().st_size, 0)
        self.assertEqual(self.kept("-o", "k.json").stderr, "")
        self.assertEqual(self.names("k."), ["k.json"])

    def test_missing_folders_are_made(self):
        for options, name, _ in OUTPUTS:
            done = self.kept(*options, f"a/b/{name}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertGreater((self.folder / "a" / "b" / name).stat().st_size, 30)
            shutil.rmtree(self.folder / "a")
        self.assertEqual(self.kept("-o", "a/b/r.json", command=("no-such-command",)).returncode, 127)
        self.assertFalse((self.folder / "a").exists())

    def test_what_the_command_puts_there_is_kept(self):
        for options, name, free in OUTPUTS:
            if "--tf" in options and "--spool" not in options:
                continue  # the tracking file is open all the time: see test_removed_files.py
            with self.subTest(options=options, name=name):
                done = self.kept(*options, name, command=("sh", "-c", f"echo x; rm {name}; echo mine > {name}"))
                self.assertEqual(done.stderr, f"gpu-tracker: warning: Something else is at {name} by now: {free} is written.\n")
                self.assertEqual((done.returncode, (self.folder / name).read_text()), (0, "mine\n"))
                self.assertGreater((self.folder / free).stat().st_size, 30)

    def test_a_pipe_in_its_place_stops_nothing(self):
        for options, name, free in OUTPUTS:
            if "--tf" in options and "--spool" not in options:
                continue
            with self.subTest(options=options, name=name):
                done = self.kept(*options, name, command=("sh", "-c", f"echo x; rm {name}; mkfifo {name}"))
                self.assertEqual((done.returncode, done.stderr), (0, f"gpu-tracker: warning: Something else is at {name} by now: {free} is written.\n"))
                self.assertGreater((self.folder / free).stat().st_size, 30)
        done = self.kept("--spool", "spool", "--tf", "q.csv", command=("mkfifo", "q.csv.session.json"))
        self.assertIn("q.csv could not be moved (its .session.json could not)", done.stderr)

    def test_a_pipe_among_the_logs_of_regions_stops_nothing(self):
        done = self.kept("--phase-token", "x", "--region-file", "m.csv",
                         command=("sh", "-c", "echo x; until rm m.csv.parts/phases.gputblocks; do sleep 0.05; done; for e in gputblocks status values; do mkfifo m.csv.parts/phases.$e; done 2> /dev/null"))  # fmt: skip
        self.assertEqual(done.returncode, 0)
        self.assertIn("something else was put in the place of 1 of the logs, and their regions are lost.", done.stderr)


if __name__ == "__main__":
    main()
