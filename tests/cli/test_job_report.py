"""gpu-tracker job --report: the HTML report of a job, with its findings and a lane for each rank."""

import os
import subprocess

import command
from job_test import JobTest
from report_data import PAGE, Report


class JobReport(JobTest):
    def report_of_job(self):
        """The document of the report, and what was said on the standard error."""
        (self.folder / "page.html").write_text(PAGE)
        done = subprocess.run([command.COMMAND, "job", ".", "--report", "x.html"], cwd=self.folder, capture_output=True, text=True,
                              env=os.environ | {"GPUT_REPORT_PAGE": str(self.folder / "page.html")}, timeout=command.PATIENCE)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return Report(self.folder / "x.html").document, done.stderr

    def test_the_report_begins_with_what_was_found(self):
        self.rank(0, identity={"exit_status": None, "signal": 9})
        self.rank(2)
        self.rank(0, job="4712", start=9000, name="other.json")
        document, errors = self.report_of_job()
        self.assertIn("gpu-tracker: the files are of 2 jobs: the HTML report has the first one", errors)
        notes = document["notes"]
        self.assertEqual(document["title"], "Job 4711")
        self.assertIn("The files are of 2 jobs", notes[0])
        self.assertIn("1 of 2 ranks failed: rank 0 on n1: ended by signal 9", notes)
        self.assertTrue([note for note in notes if note.startswith("2 ranks are missing: 1, 3")], notes)

    def test_a_list_of_sessions_is_called_no_job(self):
        members = {"job": {"launcher": None, "job_id": None, "rank": None, "world_size": None, "node": "n1"}}
        for number, name in enumerate(("prepare", "train")):
            self.rank(number, name=f"{name}.json", start=200 * number, members=members)
        document, _ = self.report_of_job()
        self.assertEqual((document["title"], len(document["sessions"])), ("Sessions", 2))

    def test_the_report_says_how_much_of_what_was_found_it_leaves_out(self):
        self.rank(0, world=1)
        for number in range(80):
            (self.folder / f"half{number}.json").touch()
        document, _ = self.report_of_job()
        notes = document["notes"]
        self.assertEqual((len(notes), notes[-1]), (64, "17 more are in the output of gpu-tracker job"), notes)

    def test_a_clock_is_on_the_page_also_of_a_machine_that_may_have_no_lane(self):
        for rank in range(40):
            self.rank(rank, machine=f"n{rank // 10}", world=40, clock=3600 if rank >= 30 else 0)
        document, _ = self.report_of_job()
        clocks = [finding["text"] for finding in self.job()["findings"] if finding["kind"] == "clock"]
        self.assertEqual(len(clocks), 1)
        self.assertIn(clocks[0], "".join(document["notes"]))

    def test_a_half_written_file_costs_no_other_rank_its_lane(self):
        for rank in self.start_ranks("sleep", "0.3"):
            self.assertEqual(rank.wait(command.PATIENCE), 0)
        (self.folder / "s.r0.csv").write_text("".join(self.samples_of(0))[:-5])
        document, errors = self.report_of_job()
        self.assertIn("s.r0.csv: the last line is truncated", errors)
        self.assertEqual(len(document["sessions"]), 2)

    def test_lanes_of_the_report(self):
        for rank in self.start_ranks("sleep", "0.3"):
            self.assertEqual(rank.wait(command.PATIENCE), 0)
        done = subprocess.run(
            [command.COMMAND, "job", ".", "--report", "x.html"], cwd=self.folder, capture_output=True, text=True)  # fmt: skip
        if "npm" in done.stderr or "without" in done.stderr:
            self.skipTest("built without the page of reports")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater((self.folder / "x.html").stat().st_size, 10000)


if __name__ == "__main__":
    command.main()
