"""Which files are one session: report and job have the same answer, whatever they were called, copied or moved to."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

import command
from job_test import NAMES
from report_data import PAGE


class Catalogue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.recorded = pathlib.Path(folder.name)
        environment = {name: value for name, value in os.environ.items() if not name.startswith((*NAMES, "GPUT_"))}
        for name in "one", "two":
            subprocess.run([command.COMMAND, "run", "-q", "--st", "0.05", "--tf", f"{name}.csv", "-o", f"{name}.json", "--", "sh", "-c", "sleep 0.3"],
                           cwd=cls.recorded, env=environment, check=True)  # fmt: skip
        cls.cpu = json.loads((cls.recorded / "one.json").read_text())["accounting"]["cpu_seconds"]["kernel"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, name, source):
        (self.folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(self.recorded / source, self.folder / name)

    def run_command(self, *words):
        done = subprocess.run([command.COMMAND, *words], cwd=self.folder, capture_output=True, text=True, timeout=command.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def assert_sessions(self, count, *words):
        """As both count them; that of the first has its CPU time, and its machine, once."""
        read = json.loads(self.run_command("job", "-f", "json", *(words or ["."])).stdout)
        done = self.run_command("report", "-f", "json", "-o", "-", *(words or ["."]))
        self.assertEqual((len(read["ranks"]), len(json.loads(done.stdout)["sessions"])), (count, count))
        self.assertLessEqual(len(read["machines"]), 2 - all(rank["boot_id"] for rank in read["ranks"]))
        self.assertIn(self.cpu, [rank["cpu_seconds"] for rank in read["ranks"]])
        return read, done.stderr

    def test_files_as_they_were_written(self):
        for name in "one", "two":
            for end in ".csv", ".csv.session.json", ".json":
                self.put(name + end, name + end)
        _, said = self.assert_sessions(2)
        self.assertEqual(said, "")

    def test_files_that_were_renamed(self):
        """Neither has a name of the other, and the file that says whose samples these are is lost."""
        for samples, report in ("x.csv", "y.json"), ("samples/a.csv", "reports/b.json"):
            self.put(samples, "one.csv")
            self.put(report, "one.json")
            self.assert_sessions(1)

    def test_names_that_were_exchanged(self):
        for name, source in ("one", "two"), ("two", "one"):
            self.put(f"{name}.csv", f"{source}.csv")
            self.put(f"{source}.json", f"{source}.json")
        read, _ = self.assert_sessions(2)
        self.assertEqual({(rank["path"], rank["report"]) for rank in read["ranks"]}, {("./one.csv", "./two.json"), ("./two.csv", "./one.json")})

    def test_copies_count_once(self):
        for end in ".csv", ".csv.session.json", ".json":
            self.put(f"one{end}", f"one{end}")
        self.put("copy.csv", "one.csv")
        self.put("copy.json", "one.json")
        _, said = self.assert_sessions(1)
        self.assertIn("copy.csv is skipped: it is the same session as ./one.csv.", said)

    def test_a_copy_of_the_first_rows(self):
        for end in ".csv", ".csv.session.json":
            self.put(f"one{end}", f"one{end}")
        lines = (self.recorded / "one.csv").read_text().splitlines(keepends=True)
        (self.folder / "part.csv").write_text("".join(lines[:-2]))
        self.assert_sessions(1)

    def test_files_of_versions_that_do_not_name_the_first_sample(self):
        """By their folder, their names and their times, as nothing else is known."""
        report = json.loads((self.recorded / "one.json").read_text())
        del report["files"]
        self.put("samples.csv", "one.csv")
        (self.folder / "usage.json").write_text(json.dumps(report))
        self.assert_sessions(1)

    def test_a_manifest_that_names_a_file_which_is_gone(self):
        for end in ".csv.session.json", ".json":
            self.put(f"one{end}", f"one{end}")
        read, said = self.assert_sessions(1)
        self.assertEqual((read["ranks"][0]["path"], said), ("./one.json", ""))

    def test_a_session_that_wrote_no_file_which_says_whose_it_is_has_a_manifest(self):
        """A text, or the page; where another file says it, there is none."""
        page = self.recorded / "page.html"  # there is none in a build where npm was not
        page.write_text(PAGE)
        with unittest.mock.patch.dict(os.environ, {"GPUT_REPORT_PAGE": str(page)}):
            for options in ["-o", "x.txt"], ["-q", "--report", "y.html"], ["-q", "-o", "z.txt", "--tf", "z.csv"], ["-q", "-o", "z.json"]:
                self.run_command("run", *options, "--", "sleep", "0.1")
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.session.json")), ["x.txt.session.json", "y.html.session.json", "z.csv.session.json"])
        read = json.loads(self.run_command("job", "-f", "json", ".").stdout)
        self.assertEqual({(rank["path"], rank["exit_status"], rank["max_ram_bytes"] > 0) for rank in read["ranks"]},
                         {(f"./{name}", 0, True) for name in ("x.txt.session.json", "y.html.session.json", "z.csv", "z.json")})  # fmt: skip
        self.assertEqual(len(json.loads(self.run_command("history", "-f", "json", "./").stdout)), 4)
        table = json.loads(self.run_command("job", "--table", "sessions", "-f", "json", ".").stdout)
        self.assertTrue(all(row["command"] == "sleep" and row["max_combined_ram_bytes"] > 0 for row in table), table)

    def test_every_other_form_has_a_manifest_but_the_older_command(self):
        for options in ["-f", "nextflow-trace", "-o", ".command.trace"], ["-f", "snakemake-benchmark", "-o", "b.tsv"], ["-o", "m.prom"], ["--energy-folder", "rec"]:
            self.run_command("run", "-q", *options, "--", "sleep", "0.1")
        process = subprocess.Popen(["sleep", "0.3"])
        self.run_command("attach", "-q", "-o", "a.txt", str(process.pid))
        process.wait()
        self.run_command("-e", "sleep 0.1", "-o", "old.txt")
        self.assertEqual(sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*.session.json")),
                         [f"{name}.session.json" for name in (".command.trace", "a.txt", "b.tsv", "m.prom", "rec/metadata.json")])  # fmt: skip
        sessions = json.loads(self.run_command("history", "-f", "json", "./").stdout)
        self.assertEqual([session["name"] for session in sessions], ["sleep"] * 4)  # without that in a hidden file
        for path in self.folder.rglob("*.session.json"):
            self.assertEqual(json.loads(path.read_text())["command"], "sleep")

    def test_a_tracking_file_of_another_session_is_none_of_this_one(self):
        self.put("one.csv", "two.csv")
        self.put("one.json", "one.json")
        self.assert_sessions(2)


if __name__ == "__main__":
    command.main()
