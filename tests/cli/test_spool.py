"""--spool: files are written on this machine first, and moved to their places at the end."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import unittest

import command
from report_data import use_page

NO_MOUNT = command.refusal("unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt")


class Spool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.spool = self.folder / "spool"
        self.place = self.folder / "place"
        self.spool.mkdir()
        self.place.mkdir()

    def words(self, *options, run=("true",), quiet=("-q",)):
        return [command.COMMAND, "run", *quiet, "--st", "0.05", "--spool", "spool", *options, "--", *run]

    def run_command(self, words, **variables):
        return subprocess.run(
            words, cwd=self.folder, env={**os.environ, **variables}, capture_output=True, text=True, timeout=command.PATIENCE)  # fmt: skip

    def names(self, folder):
        return sorted(path.name for path in folder.iterdir())

    def test_a_folder_whose_name_has_a_placeholder_is_made(self):
        for place in "spool/%j", "spool/%j/":
            words = self.words("-o", "place/u.json", "--overwrite", quiet=())
            words[words.index("spool")] = place
            done = self.run_command(words, SLURM_JOB_ID="4711", SLURM_PROCID="0", SLURM_NTASKS="1")
            self.assertEqual((done.returncode, done.stderr.count("files are written to spool/4711/")), (0, 1), done.stderr)
            self.assertEqual((self.names(self.spool), self.names(self.place)), (["4711"], ["u.json"]))
            (self.spool / "4711").rmdir()

    def test_files_are_in_their_places_at_the_end(self):
        done = self.run_command(self.words(
            "--tf", "place/s.csv", "-o", "place/r.json", "--energy-folder", "place/power", run=("sh", "-c", "ls place > seen; ls -A . >> seen"), quiet=()))  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"files are written to spool/gpu-tracker-\w{6} first")
        self.assertEqual(self.names(self.place), ["power", "r.json", "s.csv", "s.csv.session.json"])
        self.assertEqual(self.names(self.spool), [])
        self.assertTrue(self.names(self.place / "power"))
        self.assertIn("max_ram", json.loads((self.place / "r.json").read_text()))
        self.assertIn("main_ram", (self.place / "s.csv").read_text())
        seen = (self.folder / "seen").read_text().split()
        self.assertIn("s.csv.spooled", seen)
        self.assertNotIn("s.csv.session.json", seen)
        self.assertFalse([name for name in seen if name.startswith(".")])  # results so far are in the spool, too

    def test_quiet_is_silent_about_what_went_well(self):
        for variables in {}, {"PMI_RANK": "0", "PMI_SIZE": "2"}:
            done = self.run_command(self.words("--tf", "place/s.csv", "-o", "place/r.json", "--overwrite"), **variables)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_file_that_exists_is_not_replaced(self):
        (self.place / "s.csv").write_text("of somebody else")
        done = self.run_command(self.words("--tf", "place/s.csv"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("place/s.csv exists: writing place/s.1.csv (--overwrite replaces place/s.csv).", done.stderr)
        self.assertIn("main_ram", (self.place / "s.1.csv").read_text())
        done = self.run_command(self.words("--tf", "place/s.csv"), PMI_RANK="0", PMI_SIZE="2")
        self.assertEqual(done.returncode, 0)
        self.assertEqual((self.place / "s.csv").read_text(), "of somebody else")
        self.assertIn("s.r0.csv", self.names(self.place))
        done = self.run_command(self.words("--overwrite", "--tf", "place/s.csv"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("main_ram", (self.place / "s.csv").read_text())

    def test_a_spool_that_is_not_there(self):
        done = self.run_command([command.COMMAND, "run", "--spool", "nowhere", "--tf", "place/s.csv", "--", "true"])
        self.assertEqual(done.returncode, 125)
        self.assertIn("Cannot spool files in nowhere: No such file or directory.", done.stderr)
        words = [command.COMMAND, "run", "-q", "--spool", "nowhere", "--tf", "place/s.csv", "--", "true"]
        done = self.run_command(words, PMI_RANK="0", PMI_SIZE="2")
        self.assertEqual(done.returncode, 0, done.stderr)  # a rank runs all the same
        self.assertIn("Files are written to their places", done.stderr)
        self.assertIn("s.r0.csv", self.names(self.place))

    def test_a_spool_that_is_full(self):
        """Everything is written to its place."""
        if NO_MOUNT:
            self.skipTest(f"no file system can be mounted: {NO_MOUNT}")
        words = self.words("--tf", "place/s.csv", "-o", "place/r.json", run=("sh", "-c", "echo ran"))
        full = "mount -t tmpfs -o size=64k none spool && cat /dev/zero > spool/rest 2> /dev/null; exec "
        for variables in {}, {"PMI_RANK": "1", "PMI_SIZE": "2"}:
            done = self.run_command(["unshare", "-m", "sh", "-c", full + shlex.join(words)], **variables)
            self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
            self.assertIn("Cannot spool files in spool: No space left on device. Files are written to their places.", done.stderr)
        self.assertEqual(self.names(self.place), ["r.json", "r.r1.json", "s.csv", "s.csv.session.json", "s.r1.csv", "s.r1.csv.session.json"])
        self.assertIn("max_ram", json.loads((self.place / "r.r1.json").read_text()))

    def test_a_spool_that_fills_up_meanwhile(self):
        if NO_MOUNT:
            self.skipTest(f"no file system can be mounted: {NO_MOUNT}")
        words = self.words("-o", "place/r.json", run=("sh", "-c", "cat /dev/zero > spool/rest 2> /dev/null; echo ran"))
        done = self.run_command(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=600k none spool && exec " + shlex.join(words)])
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
        self.assertNotIn("max_ram", done.stderr)
        self.assertIn("max_ram", json.loads((self.place / "r.json").read_text()))

    def assert_stays(self, done, why):
        """What could not be moved is named, and is there."""
        self.assertIn(why, done.stderr)
        where = re.findall(r"could not be moved \(.*?\): it stays at (\S+)\.\n", done.stderr)
        self.assertTrue(where, done.stderr)
        for path in where:
            self.assertGreater((self.folder / path).stat().st_size, 0)
        self.assertTrue([path for path in where if path.endswith("s.csv")])

    def in_mount(self, options, words):
        """With a file system of its own at place/."""
        if NO_MOUNT:
            self.skipTest(f"no file system can be mounted: {NO_MOUNT}")
        return ["unshare", "-m", "sh", "-c", f"mount -t tmpfs {options} none place && exec {shlex.join(words)}"]

    def test_a_place_that_is_full(self):
        words = self.words("--tf", "place/s.csv", "-o", "place/r.json", run=("sh", "-c", "cat /dev/zero > place/rest; true"))
        done = self.run_command(self.in_mount("-o size=64k", words))
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assert_stays(done, "No space left on device")

    def test_a_csv_and_its_identity_stay_together(self):
        """There is space for one of them: which is read first depends on the file system."""
        use_page(self)
        rest = "cat /dev/zero > place/rest; truncate -s -4096 place/rest; until [ $(cat spool/*/0/s.r1.csv | wc -c) -gt 5000 ]; do sleep 0.05; done"
        words = self.words("--tf", "place/s.csv", run=("sh", "-c", rest))
        words[words.index("--st") + 1] = "0.02"
        look = f"ls place; : > place/x.spooled; {command.COMMAND} job place spool; {command.COMMAND} report place spool -o x.html 2>&1"
        inside = self.in_mount("-o size=64k", words)
        inside[-1] = inside[-1].replace("exec ", "", 1).replace("&& ", "&& { ", 1) + f"; {look}; }}"
        done = self.run_command(inside, PMI_RANK="1", PMI_SIZE="2")
        self.assertIn("place/s.r1.csv could not be moved (", done.stderr)
        self.assertEqual(len(list(self.spool.glob("*/0/s.r1.csv*"))), 2)
        self.assertIn("rest\ns.r1.csv.spooled\n", done.stdout)
        self.assertNotIn("without a launcher", done.stdout)
        self.assertIn("place/x.spooled does not say where files were spooled", done.stdout)
        self.assertIn("place/x.spooled is skipped: it does not say where its file was spooled", done.stdout)

    def test_a_place_that_is_read_only(self):
        words = self.words("--tf", "place/s.csv", "-o", "place/r.json", run=("sh", "-c", "echo ran"))
        done = self.run_command(self.in_mount("-o ro", words))
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertEqual(done.stdout, "ran\n")
        self.assertIn("place/s.csv: Read-only file system. It is tried again at the end.", done.stderr)
        self.assert_stays(done, "Read-only file system")

    def test_a_rank_has_the_status_of_its_command(self):
        words = self.words("--tf", "place/s.csv", "-o", "place/r.json", run=("sh", "-c", "echo ran"))
        done = self.run_command(self.in_mount("-o ro", words), PMI_RANK="1", PMI_SIZE="2")
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
        words.remove("--spool")
        words.remove("spool")
        done = self.run_command(self.in_mount("-o ro", words), PMI_RANK="1", PMI_SIZE="2")
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
        self.assertIn("(the command runs without it)", done.stderr)

    def test_a_signal_ends_the_command_and_files_are_moved(self):
        tracker = subprocess.Popen(
            self.words("--tf", "place/s.csv", "-o", "place/r.json", run=("sh", "-c", "touch ready; exec sleep 60")),
            cwd=self.folder, stderr=subprocess.DEVNULL)  # fmt: skip
        command.wait_until((self.folder / "ready").exists)
        tracker.terminate()
        self.assertEqual(tracker.wait(command.PATIENCE), -signal.SIGTERM)
        self.assertEqual(self.names(self.place), ["r.json", "s.csv", "s.csv.session.json"])

    def test_what_a_killed_one_leaves_is_named(self):
        use_page(self)
        tracker = subprocess.Popen(
            self.words("--tf", "place/s.csv", run=("sh", "-c", "echo $$ > pid; while [ -e pid ]; do sleep 0.05; done")),
            cwd=self.folder, stderr=subprocess.DEVNULL)  # fmt: skip
        spooled = self.place / "s.csv.spooled"
        command.wait_until(lambda: list(self.spool.glob("*/*/s.csv.session.json")) and (self.folder / "pid").exists())
        command.wait_until(lambda: [path for path in self.spool.glob("*/*/s.csv") if path.read_text().count("\n") > 6])
        tracker.kill()
        tracker.wait()
        (self.folder / "pid").unlink()
        where = dict(line.split() for line in spooled.read_text().splitlines())
        self.assertEqual(where["host"], os.uname().nodename)
        (samples,) = pathlib.Path(where["folder"]).glob("*/s.csv")
        self.assertIn("main_ram", samples.read_text())
        read = f"place/s.csv is empty: its rows stayed where they were spooled, and are read from {samples}."
        for words in ["report", "place/s.csv", "-o", "x.html"], ["plot", "place/s.csv", "-o", "x.svg"], ["push", "place/s.csv", "--otlp=http://127.0.0.1:9"]:
            done = self.run_command([command.COMMAND, *words])
            self.assertIn(read, done.stderr)
            self.assertEqual(done.returncode == 0, words[0] != "push", done.stderr)  # there is no receiver
        done = self.run_command([command.COMMAND, "sub-track", "analyze", "--tf", "place/s.csv", "-f", "json"])
        self.assertEqual((done.returncode, "main_ram" in done.stdout), (0, True), done.stderr)
        done = self.run_command([command.COMMAND, "job", "-f", "json", "place/s.csv"])
        self.assertEqual([rank["path"] for rank in json.loads(done.stdout)["ranks"]], [str(samples)])
        spooled.write_text(f"host elsewhere\nfolder {where['folder']}\n")
        for words in ["report", "place/s.csv", "-o", "x.html"], ["sub-track", "analyze", "--tf", "place/s.csv"]:
            done = self.run_command([command.COMMAND, *words])
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"place/s.csv is empty: its rows stayed where they were spooled, on elsewhere in {where['folder']}.", done.stderr)
        spooled.write_text(f"host {where['host']}\nfolder {where['folder']}\n")
        done = self.run_command([command.COMMAND, "report", "place", "-o", "x.html"])
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"place/s.csv.spooled is skipped: its file stayed where it was spooled, on {where['host']} in {where['folder']}", done.stderr)
        read = json.loads(self.run_command([command.COMMAND, "job", "-f", "json", "place"]).stdout)
        self.assertEqual([rank["path"] for rank in read["ranks"]], [str(samples)])
        self.assertIn("place/s.csv.spooled: its files stayed where they were spooled, and were read there", [finding["text"] for finding in read["findings"]])


if __name__ == "__main__":
    command.main()
