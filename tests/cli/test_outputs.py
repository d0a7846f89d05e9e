"""Reports that find no space, and outputs that would replace what else is written or read."""

import json
import os
import resource
import subprocess

from command import SANITIZED, CommandTest, main

REPLACES = r"^gpu-tracker: -o \S+ is (the same file as|a part of) .*, which it would (replace|damage)\. Please name another one\.\n$"


class Extensions(CommandTest):
    def test_one_of_a_format_that_it_does_not_get_is_said(self):
        of_run = "summary text full json pickle prometheus nextflow-trace snakemake-benchmark"
        for name, arguments, formats in (
            ("y.yml", ["run", "-q", "-o", "y.yml", "true"], of_run),
            ("y.csv", ["run", "-q", "-o", "y.csv", "true"], f"{of_run}; --tf y.csv keeps the samples"),
            ("x.html", ["profile", "job", ".", "-o", "x.html"], "text json csv"),
        ):
            said = f"gpu-tracker: warning: {name} is written as text: -f has no format for {name[1:]}, only {formats}\n"
            self.assertEqual(self.run_command(*arguments).stderr.count(said), 1, name)
        self.assertTrue((self.folder / "y.yml").read_text().startswith("Max RAM:\n"))

    def test_of_many_ranks_one_says_it(self):
        for rank, expected in (0, 1), (1, 0), (2, 0):
            environment = {**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": "3"}
            stderr = self.run_command("run", "-q", "-o", "y.yml", "true", env=environment).stderr
            self.assertEqual(stderr.count("y.yml is written as text"), expected, stderr)

    def test_others_and_those_of_a_format_that_was_given_are_not(self):
        for arguments in (["run", "-q", "-o", "y.txt"], ["run", "-q", "-o", "y.2026-11-27"], ["run", "-q", "-o", "y.json"], ["run", "-q", "-o", "y.yml", "-f", "text"]):
            self.assertEqual(self.run_command(*arguments, "true").stderr, "", arguments)
        self.assertNotIn("y.yml", self.run_command("-e", "true", "-o", "y.yml").stderr)


class FullScreen(CommandTest):
    def test_a_report_without_space_is_a_failure(self):
        for arguments, stream, status in (
            (["-e", "true"], "stdout", 125),
            (["run", "true"], "stderr", 125),
            (["run", "-o", "-", "true"], "stdout", 125),
            (["run", "-f", "json", "true"], "stderr", 125),
            (["attach", "--for", "0.1", os.getpid()], "stdout", 1),
        ):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                done = self.run_command(*arguments, capture_output=False,
                                        **({"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} | {stream: full}))
                self.assertEqual(done.returncode, status)
                if stream == "stdout":
                    self.assertIn("Cannot write the report: No space left on device\n", done.stderr)

    def test_the_command_s_own_failure_goes_before_it(self):
        with open("/dev/full", "w") as full:
            done = self.run_command("run", "--", "sh", "-c", "exit 4", capture_output=False, stdout=full, stderr=full)
        self.assertEqual(done.returncode, 4)

    def test_a_pipe_that_has_no_reader_is_none(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.run_command("run", "true", capture_output=False, stdout=subprocess.DEVNULL, stderr=writer)
        os.close(writer)
        self.assertEqual(done.returncode, 0)


class SameFile(CommandTest):
    def refused(self, *arguments):
        done = self.run_command(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertRegex(done.stderr, REPLACES)
        self.assertFalse((self.folder / "started").exists())

    def test_a_report_is_no_tracking_file(self):
        (self.folder / "link.csv").symlink_to("s.csv")
        (self.folder / "here").symlink_to(".")
        for output in ("s.csv", "./s.csv", "link.csv", "here/s.csv", self.folder / "s.csv"):
            with self.subTest(output=output):
                self.refused("run", "--tf", "s.csv", "-o", output, "touch", "started")
                self.refused("-e", "touch started", "--tf", "s.csv", "-o", output)
        self.assertFalse((self.folder / "s.csv").exists())

    def test_whatever_names_the_file_has(self):
        (self.folder / "s.csv").write_text("precious")
        os.link(self.folder / "s.csv", self.folder / "other")
        self.refused("run", "--overwrite", "--tf", "s.csv", "-o", "other", "touch", "started")
        self.refused("run", "--resource-usage-file", "s.csv", "-o", "other", "touch", "started")
        self.assertEqual((self.folder / "s.csv").read_text(), "precious")

    def test_a_config_file_may_name_it(self):
        (self.folder / "c.json").write_text(json.dumps({"tracking_file": "s.csv"}))
        done = self.run_command("run", "--tconfig", "c.json", "-f", "text", "-o", "s.csv", "touch", "started")
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, REPLACES)
        self.refused("run", "--tconfig", "c.json", "-o", "c.json", "touch", "started")
        self.assert_folder_is("c.json")

    def test_what_is_read_is_not_replaced(self):
        self.run_command("run", "--tf", "a.csv", "true")
        before = (self.folder / "a.csv").read_bytes()
        self.refused("sub-track", "analyze", "--tf", "a.csv", "-o", "a.csv")
        self.assertEqual((self.folder / "a.csv").read_bytes(), before)
        self.assertEqual(self.run_command("sub-track", "analyze", "--tf", "a.csv", "-f", "json", "-o", "a.json").returncode, 0)
        self.refused("sub-track", "compare", "-m", "A=a.json", "-o", "a.json")
        self.refused("show", "-o", "a.json", "a.json")
        self.refused("timeline", "merge", "-o", "a.csv", "a.csv")

    def test_nor_what_belongs_to_a_database_or_a_recording(self):
        for ending in "wal", "shm", "journal":
            self.refused("run", "--tf", "s.sqlite", "-o", f"./s.sqlite-{ending}", "touch", "started")
        (self.folder / "rec").mkdir()
        for name in "power_metrics.json", "power_metrics.sqlite-wal", "metadata.json":
            self.refused("run", "--energy-folder", "rec", "-o", f"rec/{name}", "touch", "started")
        (self.folder / "c.json").write_text(json.dumps({"energy_folder": "rec/"}))
        done = self.run_command("run", "--tconfig", "c.json", "-o", "rec/metadata.json", "touch", "started")
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, REPLACES)
        self.run_command("run", "--energy-folder", "rec", "-o", "rec/report.json", "true")
        recorded = (self.folder / "rec" / "power_metrics.json").read_bytes()
        self.refused("energy", "summary", "rec", "-o", "rec/power_metrics.json")
        self.assertEqual((self.folder / "rec" / "power_metrics.json").read_bytes(), recorded)

    def test_devices_may_be_named_often(self):
        done = self.run_command("run", "--tconfig", "/dev/null", "-o", "/dev/null", "true")
        self.assertNotRegex(done.stderr, "same file")


class OlderForm(CommandTest):
    def test_takes_no_notice_of_the_name(self):
        self.run_command("-e", "true", "-o", "x.json")
        self.assertTrue((self.folder / "x.json").read_text().startswith("Max RAM:"))


class WithoutEnd(CommandTest):
    def test_no_file_is_read_that_cannot_be_one(self):
        """Nor does it take the memory of the machine to find out."""
        (self.folder / "sparse").touch()
        os.truncate(self.folder / "sparse", 1 << 40)
        (self.folder / "c.json").write_text('{"file_path_map": {"a": "/dev/zero", "b": "sparse"}}')
        memory = lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        for name in ("/dev/zero", "sparse"):
            for arguments in (["show", name], ["run", "--tconfig", name, "touch", "started"], ["sub-track", "compare", "--cconfig", name], ["sub-track", "compare", "--cconfig", "c.json"]):
                with self.subTest(arguments=arguments):
                    done = self.run_command(*arguments, preexec_fn=None if SANITIZED else memory)
                    self.assertIn(done.returncode, (1, 125))
                    self.assertRegex(done.stderr, r"is longer than \d+ [kM]B, too long for such a file\.")
        self.assertFalse((self.folder / "started").exists())


class EmptyName(CommandTest):
    def test_it_is_refused_before_anything_is_done(self):
        for arguments in (["-e", "touch started", "-o", ""], ["run", "-o", "", "touch", "started"],
                          ["attach", "-o", "", os.getpid()], ["doctor", "-o", ""], ["sub-track", "analyze", "--tf", "x.csv", "-o", ""]):
            with self.subTest(arguments=arguments):
                done = self.run_command(*arguments)
                if "Unknown option" in done.stderr:
                    continue
                self.assert_fails(done, 2,
                                  '-o needs the name of a file, and was given an empty one. "-" is the standard output.')
        for option in ("--tf", "--resource-usage-file", "--energy-folder"):
            with self.subTest(option=option):
                done = self.run_command("run", option, "", "touch", "started")
                self.assertEqual(done.returncode, 125, done)
        self.assert_folder_is()


if __name__ == "__main__":
    main()
