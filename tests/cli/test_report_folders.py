"""gpu-tracker report: which files of a folder are one session, and which sessions are the ranks of a job."""

import json
import math
import os
import subprocess
import time

from analysis_files import MEASUREMENTS, START, call, row, rows_of_a_session, write_marks, write_tracking
from command import COMMAND, main
from report_data import Report
from report_test import ReportTest
from test_identity import without_launchers


class Folders(ReportTest):
    def test_a_folder_stands_for_the_sessions_in_it(self):
        for rank in 0, 1, 10:
            folder = self.folder / "job" / f"rank{rank}"
            folder.mkdir(parents=True)
            write_tracking(folder / "t.csv", [row(1), row(rank + 2)])
            write_marks(folder / "m.csv", call(rank, f"step{rank}", 1, 2))
            (folder / "notes.txt").write_text("nothing")
        report = self.report("job")
        self.assertEqual([session["file"] for session in report.sessions],
                         ["job/rank0/t.csv", "job/rank1/t.csv", "job/rank10/t.csv"])
        self.assertEqual([session["calls"]["names"] for session in report.sessions], [["step0"], ["step1"], ["step10"]])

    def test_files_of_one_folder_belong_together_by_name(self):
        for rank in 0, 1:
            write_tracking(self.folder / f"rank{rank}.csv", [row(1)])
            write_marks(self.folder / f"rank{rank}-blocks.csv", call(rank, f"step{rank}", 1, 2))
        report = self.report("rank0.csv", "rank1.csv", "rank1-blocks.csv", "rank0-blocks.csv")
        self.assertEqual([session["calls"]["names"] for session in report.sessions], [["step0"], ["step1"]])

    def test_a_damaged_file_in_a_folder_costs_that_file_alone(self):
        folder = self.folder / "job"
        folder.mkdir()
        write_tracking(folder / "t.csv", [row(1), row(2)])
        write_marks(folder / "m.sqlite", [(1, "a", 0, math.inf)])
        done = self.run_report("job", "-o", "report.html")
        self.assertEqual(done.returncode, 0)
        (session,) = Report(self.folder / "report.html").sessions
        self.assertEqual(len(session["series"]), len(MEASUREMENTS))
        self.assertIn("Sub-tracking file job/m.sqlite is invalid: row 1", session["warnings"][0])
        self.assertIn("Sub-tracking file job/m.sqlite is invalid: row 1", done.stderr)
        # One that was named is not left out.
        (folder / "m.gputblocks").write_bytes(bytes(200))
        self.assertEqual(self.run_report("job/t.csv", "--stf", "job/m.gputblocks").returncode, 1)

    def test_a_file_of_which_no_sample_can_be_read_is_an_error_by_itself_alone(self):
        job = self.folder / "job"
        job.mkdir()
        many = "until [ $(stat -c %s job/t.sqlite) -gt 100000 ]; do sleep 0.1; done"  # rows follow the description of the tables then
        self.run_command("run", "-q", "--st", "0.001", "--tf", job / "t.sqlite", "--", "sh", "-c", many)
        whole = (job / "t.sqlite").read_bytes()
        for size in range(20000, len(whole), 4096):  # up to its tables without their rows
            (job / "cut.sqlite").write_bytes(whole[:size])
            done = self.run_report("job/cut.sqlite", "-o", "report.html")
            self.assertEqual(done.returncode, 1)
            if "There is nothing to show." in done.stderr:
                break
        self.assertIn("There is nothing to show.", done.stderr)
        self.assertFalse((self.folder / "report.html").exists())
        done = self.run_report("job", "-o", "report.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("Cannot read"), 1, done.stderr)
        self.assertTrue((self.folder / "report.html").exists())

    def test_results_of_a_file_that_is_left_out_are_of_no_other(self):
        folder = self.folder / "job"
        folder.mkdir()
        write_tracking(folder / "t.csv", [row(1), row(2)])
        (folder / "cut.csv").write_text("main_ram,descendants_ram,combined_ram,")
        self.run_command("run", "-q", "-f", "json", "-o", str(folder / "cut.json"), "--", "true")
        done = self.run_report("job", "-o", "report.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cut.csv is skipped", done.stderr)
        sessions = Report(self.folder / "report.html").sessions
        self.assertEqual(sorted(session["kind"] for session in sessions), ["results", "tracking"])

    def test_files_of_ranks_are_one_session_a_rank(self):
        """By what is in them: none of the names continues that of another."""
        job = self.folder / "job"
        job.mkdir()
        for rank in range(3):
            now = time.time()
            self.run_command("run", "-q", "--tf", job / "samples.csv", "-o", job / "usage.json", "--", "sleep", f"0.{rank + 2}",
                             env=os.environ | {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "3"})
            pid = json.loads((job / f"usage.r{rank}.json").read_text())["identity"]["pid"]
            for name, process, block in (f"{pid}", pid, "main"), (f"{pid}-99", 99, "fork"), (f"child.r{rank}", 1, "child"):
                write_marks(job / f"{name}.csv", [(process, f"{block}{rank}", 0, now), (process, f"{block}{rank}", 1, now + 0.1)])
        sessions = self.report("job").sessions
        self.assertEqual([session["name"] for session in sessions], [f"samples.r{rank}.csv" for rank in range(3)])
        self.assertEqual([session["identity"]["rank"] for session in sessions], [0, 1, 2])
        self.assertEqual([sorted(session["calls"]["names"]) for session in sessions], [[f"child{rank}", f"fork{rank}", f"main{rank}"] for rank in range(3)])
        self.assertEqual(len(self.report(*sorted(path.relative_to(self.folder) for path in job.iterdir())).sessions), 3)  # job/*

    def test_results_of_another_session_are_a_session_by_themselves(self):
        folder = self.folder / "job"
        folder.mkdir()
        for name in "other.json", "t.json":  # other.json is the first in order, t.json is of t.csv
            self.run_command("run", "-q", "--st", "0.1", "--overwrite", "--tf", folder / "t.csv", "-o", folder / name, "--", "sleep", "0.2")
        self.assertEqual([(session["name"], session["kind"]) for session in self.report("job").sessions],
                         [("other.json", "results"), ("t.csv", "tracking")])
        (folder / "t.csv.session.json").unlink()  # the times alone say it
        for name in "other.json", "t.json":
            content = json.loads((folder / name).read_text())
            del content["files"]  # as earlier versions wrote it
            content["identity"]["start"] = content["identity"]["start"].replace("20", "19", 1)
            (folder / name).write_text(json.dumps(content))
        self.assertEqual([session["kind"] for session in self.report("job").sessions], ["results", "tracking", "results"])

    def test_empty_files_are_named_and_left_out(self):
        folder = self.folder / "job"
        folder.mkdir()
        write_tracking(folder / "t.csv", [row(1), row(2)])
        for name in "m.csv", "begun.sqlite", "lock", "notes.txt":
            (folder / name).touch()
        done = self.run_report("job", "-o", "report.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [f"gpu-tracker: warning: job/{name} is skipped: it is empty." for name in ("begun.sqlite", "m.csv")]
        self.assertEqual(done.stderr.splitlines(), said)
        (session,) = Report(self.folder / "report.html").sessions
        self.assertNotIn("calls", session)
        done = self.run_report("job/m.csv", "job/t.csv", "-o", "two.html")
        self.assertEqual((done.returncode, done.stderr.splitlines()), (0, said[1:]))
        self.assertEqual([session["file"] for session in Report(self.folder / "two.html").sessions], ["job/t.csv"])

    def test_links_to_folders_are_not_followed(self):
        folder = self.folder / "job"
        folder.mkdir()
        write_tracking(folder / "t.csv", [row(1), row(2)])
        (folder / "loop").symlink_to(".")
        self.assertEqual([session["file"] for session in self.report("job").sessions], ["job/t.csv"])

    def test_files_that_have_lost_their_content_are_named(self):
        folder = self.folder / "job"
        folder.mkdir()
        write_tracking(folder / "t.csv", [row(1), row(2)])
        (folder / "a.sqlite").write_bytes(b"\xa7nothing of the kind" * 10)
        (folder / "b.sqlite").write_bytes(b"SQLite format 3\0")
        (folder / "c.sqlite").write_bytes(bytes(5000))
        (folder / "d.csv").write_bytes(bytes(5000))
        (folder / "e.gputblocks").write_bytes(b"\xa7nothing of the kind" * 10)
        (folder / "f.gputblocks").write_bytes(b"GPUTBLK\0cut")
        (folder / "g.gputblocks").touch()
        (folder / "of-others.csv").write_text("a,b\n1,2\n")
        done = self.run_report("job", "-o", "report.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split(": ")[2] for line in done.stderr.splitlines()],
                         [f"job/{name} is skipped" for name in ("a.sqlite", "b.sqlite", "c.sqlite", "d.csv", "e.gputblocks", "f.gputblocks", "g.gputblocks")])

    def test_empty_files_alone_are_no_report(self):
        for name in "a.csv", "b.sqlite":
            (self.folder / name).touch()
        done = self.run_report("a.csv", "-o", "x.html")
        self.assertEqual((done.returncode, done.stderr), (1, "gpu-tracker: a.csv is empty.\n"))
        done = self.run_report("a.csv", "b.sqlite", "-o", "x.html")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.endswith("gpu-tracker: There is nothing to report on: all files are empty.\n"), done.stderr)
        self.assertFalse((self.folder / "x.html").exists())

    def test_a_folder_without_sessions_is_none(self):
        (self.folder / "empty").mkdir()
        (self.folder / "empty" / "notes.txt").write_text("nothing")
        done = self.run_report("empty")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("empty is not a session", done.stderr)


class Ranks(ReportTest):
    def ranks_of(self, *sessions):
        return [(session["name"], session["identity"].get("rank")) for session in self.report(*sessions).sessions]

    def write(self, *paths):
        for path in paths:
            (self.folder / path).parent.mkdir(exist_ok=True)
            write_tracking(self.folder / path, rows_of_a_session(1, 2))

    def test_sessions_are_ranks_by_their_files(self):
        self.write("job/run.r0.csv", "job/run.r1.csv", "job/run.r10.csv")
        self.assertEqual(self.ranks_of("job"), [("run.r0.csv", 0), ("run.r1.csv", 1), ("run.r10.csv", 10)])
        self.write("rank0/t.csv", "rank1/t.csv")
        self.assertEqual(self.ranks_of("rank0/t.csv", "rank1/t.csv"), [("rank0/t.csv", 0), ("rank1/t.csv", 1)])

    def test_ranks_in_the_order_of_a_shell_are_sorted(self):
        self.write(*(f"run.r{rank}.csv" for rank in range(12)))
        names = sorted(f"run.r{rank}.csv" for rank in range(12))
        self.assertEqual(names[2], "run.r10.csv")
        self.assertEqual(self.ranks_of(*names), [(f"run.r{rank}.csv", rank) for rank in range(12)])

    def test_ranks_of_which_there_is_no_file_are_named(self):
        for rank in 0, 1, 4:
            environment = without_launchers() | {"PMI_RANK": str(rank), "PMI_SIZE": "6"}
            done = subprocess.run([COMMAND, "run", "-q", "-o", "u.json", "--", "true"], cwd=self.folder, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_report("u.r0.json", "u.r1.json", "u.r4.json", "-o", "report.html")
        missing = "3 of 6 ranks are missing: 2-3, 5. They have no file."
        self.assertEqual((done.returncode, done.stderr), (0, f"gpu-tracker: warning: {missing}\n"))
        self.assertEqual(Report(self.folder / "report.html").document["warnings"], [missing])
        subprocess.run([COMMAND, "run", "-q", "-o", "u.json", "--", "true"], cwd=self.folder, env=environment, check=True)
        done = self.run_report("u.r0.json", "u.r1.json", "u.r4.json", "u.r4.1.json", "-o", "report.html")  # of two runs
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_sessions_are_ranks_by_names_that_are_given(self):
        self.write("a.csv", "b.csv", "x=y.csv")
        self.assertEqual(self.ranks_of("rank 1=a.csv", "rank 0=b.csv"), [("rank 1", 1), ("rank 0", 0)])
        self.assertEqual(self.ranks_of("before=a.csv", "x=y.csv"), [("before", None), ("x=y.csv", None)])
        self.assertEqual(self.ranks_of("model/large=a.csv", "x=y.csv"), [("model/large", None), ("x=y.csv", None)])

    def test_a_title_has_the_first_of_many(self):
        self.write(*(f"{number}.csv" for number in range(6)))
        self.assertEqual(self.report(*(f"{number}.csv" for number in range(6))).document["title"],
                         "0.csv, 1.csv, 2.csv and 3 others - gpu-tracker")

    def test_sessions_with_one_rank_are_no_ranks(self):
        self.write("before.r1.csv", "after.r1.csv")
        self.assertEqual(self.ranks_of("before.r1.csv", "after.r1.csv"), [("before.r1.csv", None), ("after.r1.csv", None)])

    def test_a_folder_with_a_name_has_sessions_with_theirs(self):
        self.write("job/a.csv", "job/b.csv", "one/a.csv")
        self.assertEqual([name for name, _ in self.ranks_of("x=job")], ["a.csv", "b.csv"])
        self.assertEqual([name for name, _ in self.ranks_of("x=one")], ["x"])

    def test_the_output_is_no_session_with_a_name(self):
        self.write("a.csv")
        self.assertIn("which it would replace", self.run_report("one=a.csv", "-o", "a.csv").stderr)


if __name__ == "__main__":
    main()
