"""gpu-tracker job: files of one session, through links, given twice, or copied."""

import contextlib
import datetime
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import command
from analysis_files import MEASUREMENTS, START, row, write_tracking
from job_test import JobTest
from report_data import use_page


class Files(JobTest):
    def track(self, *options, status=0):
        """A session of several samples, in s.csv."""
        words = [command.COMMAND, "run", "-q", "--st", "0.05", "--tf", "s.csv", "--resource-usage-file", "kept", *options, "--"]
        done = subprocess.run([*words, *command.until_ticks(8, status)], cwd=self.folder, timeout=command.PATIENCE)
        self.assertEqual(done.returncode, status)

    def test_files_through_links(self):
        """As Nextflow publishes them, out of a folder for each step; a link to a folder may lead in a circle."""
        for step in "ab":
            (self.folder / "work" / step).mkdir(parents=True)
            self.rank(ord(step), world=None, job=None, name=f"work/{step}/usage.json", members={"job": {"launcher": None, "rank": None}})
        listed = self.run_command("work").stdout
        self.assertEqual(re.findall(r"exit 0  (\S+)$", listed, re.MULTILINE), ["a/usage.json", "b/usage.json"])
        (self.folder / "results").mkdir()
        for step in "ab":
            (self.folder / "results" / f"usage.{step}.json").symlink_to(self.folder / "work" / step / "usage.json")
        (self.folder / "results" / "again").symlink_to(".")
        (self.folder / "results" / "latest").symlink_to("nothing")
        self.assertEqual([rank["path"] for rank in self.job("results")["ranks"]], ["results/usage.a.json", "results/usage.b.json"])
        self.assertEqual(self.findings("results"), {})
        self.assertEqual((len(self.job(".")["ranks"]), self.findings(".")), (2, {}))
        (self.folder / "results" / "gone.json").symlink_to("nothing")
        self.assertEqual(self.findings("results"), {"unreadable": "results/gone.json could not be read: results/gone.json: No such file or directory"})

    def test_a_folder_that_is_missing_is_named_and_the_rest_stands(self):
        self.rank(0, world=1)
        (self.folder / "n1").mkdir()
        (self.folder / "r.r0.json").rename(self.folder / "n1" / "r.r0.json")
        read = self.job("n0", "n1")
        self.assertEqual([rank["path"] for rank in read["ranks"]], ["n1/r.r0.json"])
        self.assertEqual(self.findings("n0", "n1"), {"unreadable": "n0 could not be read: n0: No such file or directory"})
        self.assertEqual(self.run_command("n0", "n2", status=1).stderr, "gpu-tracker: n0: No such file or directory\n")

    def test_why_nothing_of_a_folder_could_be_read(self):
        self.rank(0)
        (self.folder / "r.r0.json").write_text('{"max_ram": ')
        reason = self.run_command("r.r0.json", status=1).stderr.removeprefix("gpu-tracker: ").rstrip(".\n")
        self.assertEqual(self.run_command(".", status=1).stderr.replace("./", ""),
                         f"gpu-tracker: There are no results of sessions in .: r.r0.json could not be read ({reason}).\n")  # fmt: skip

    def test_recordings_and_logs_are_no_damaged_reports(self):
        """One document a line."""
        self.rank(0, world=1)
        subprocess.run([command.COMMAND, "run", "-q", "--disable-logs", "--energy-folder", "power", "--", "sleep", "0.2"], cwd=self.folder, check=True)
        (self.folder / "log.json").write_text('{"epoch": 1}\n{"epoch": 2}\n')
        self.assertEqual(self.findings(), {})
        (self.folder / "cut.json").write_text(self.report[:-200])
        self.assertIn("cut.json", self.findings()["unreadable"])

    def test_the_same_file_twice(self):
        shutil.copy(self.rank(0, world=1), self.folder / "copy.json")
        read = self.job(".", "r.r0.json")
        self.assertEqual(len(read["ranks"]), 1)
        self.assertIn("belongs to the same session as another file: it counts once", self.findings(".", "r.r0.json")["twice"])

    def test_of_two_copies_that_which_goes_furthest_counts(self):
        """One was copied while the session ran: its name may come first or last."""
        program = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
        subprocess.run([command.COMMAND, "run", "-q", "--st", "0.05", "--tf", "s.csv", "--", sys.executable, "-c", program], cwd=self.folder, check=True)
        rows, sidecar = (self.folder / "s.csv").read_text().splitlines(keepends=True), json.loads((self.folder / "s.csv.session.json").read_text())
        whole = self.job("s.csv")["ranks"][0]
        for name in "a", "z":
            (self.folder / name).mkdir()
            (self.folder / name / "s.csv").write_text("".join(rows[:6]))
            early = {key: value for key, value in sidecar.items() if key not in ("end", "exit_status")}
            (self.folder / name / "s.csv.session.json").write_text(json.dumps(early))
            (rank,) = self.job(name, "s.csv")["ranks"]
            self.assertEqual([rank[key] for key in ("seconds", "cpu_seconds", "exit_status")], [whole[key] for key in ("seconds", "cpu_seconds", "exit_status")])
            self.assertIn(f"{name}/s.csv belongs to the same session", self.findings(name, "s.csv")["twice"])

    def cut_databases(self):
        """Of 300 rows in several pages; the second file is as long as before."""
        words = [command.COMMAND, "run", "-q", "--tf", "s.sqlite", "--", "true"]
        subprocess.run(words, cwd=self.folder, check=True, env={**os.environ, "PMI_RANK": "1", "PMI_SIZE": "2"})
        path = self.folder / "s.r1.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            cursor = database.execute("select * from data")
            row = dict(zip((column[0] for column in cursor.description), cursor.fetchone()))
            values = {name: 1.5 if isinstance(value, float) else value for name, value in row.items()}
            database.execute("delete from data")
            for sample in range(300):
                values["timestamp"] = row["timestamp"] + 0.1234567 * (sample + 1)
                database.execute(f"insert into data values ({', '.join('?' * len(row))})", list(values.values()))
        whole = path.read_bytes()
        for length in range(len(whole) // 2, len(whole), 1009):
            for zeroes in b"", bytes(len(whole) - length):
                path.write_bytes(whole[:length] + zeroes)
                with self.subTest(length=length, zeroes=len(zeroes)):
                    yield path.name

    def test_no_sample_of_a_database_is_kept_that_is_cut(self):
        use_page(self)
        kept = []
        for name in self.cut_databases():
            read = self.job(name)
            (rank,) = read["ranks"]
            kept.append(rank["samples"])
            kinds = {finding["kind"] for finding in read["findings"]}
            self.assertNotIn("clock", kinds, read["findings"])
            if "damaged" in kinds and rank["ram_is_at_least"]:  # not where the zeroes are those of a page without rows
                self.assertIsNone(rank["cpu_seconds"])
            if len(kept) in (1, 2, 21, 22):
                done = subprocess.run([command.COMMAND, "report", name, "-o", "x.html"], cwd=self.folder, capture_output=True, text=True)
                self.assertNotIn("lies before", done.stderr)
        self.assertGreater(max(kept), 100)

    def test_no_cpu_time_of_a_csv_that_is_cut(self):
        self.track()
        whole = (self.folder / "s.csv").read_bytes()
        self.assertIsNotNone(self.job("s.csv")["ranks"][0]["cpu_seconds"])
        (self.folder / "s.csv").write_bytes(whole[:-40])
        self.assertIsNotNone(self.job("s.csv")["ranks"][0]["cpu_seconds"])  # that of its end
        self.forget_figures("s.csv")
        self.assertIsNone(self.job("s.csv")["ranks"][0]["cpu_seconds"])
        self.assertIn("s.csv is damaged", self.findings("s.csv")["damaged"])

    def test_the_first_sample_has_what_was_used_before_it(self):
        path = self.folder / "s.csv"
        write_tracking(path, [row(1), row(2)])
        without = self.job("s.csv")["ranks"][0]["cpu_seconds"]
        start = datetime.datetime.fromtimestamp(START - 2, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        path.with_name("s.csv.session.json").write_text(json.dumps({"tracking_file": "s.csv", "host": "n1", "start": start}))
        percent = row(1)[MEASUREMENTS.index("cpu_combined_sum_utilization_percent")]
        self.assertAlmostEqual(self.job("s.csv")["ranks"][0]["cpu_seconds"], without + 3 * percent / 100, places=6)

    def test_cpu_time_is_not_known_where_no_sample_has_it(self):
        path = self.folder / "s.csv"
        write_tracking(path, [row(1), row(2)])
        self.assertEqual(self.job("s.csv")["ranks"][0]["cpu_seconds"], 0.4)
        column = MEASUREMENTS.index("cpu_combined_sum_utilization_percent")
        write_tracking(path, [row(second)[:column] + [""] + row(second)[column + 1:] for second in (1, 2)])
        (rank,) = self.job("s.csv")["ranks"]
        self.assertEqual((rank["seconds"], rank["cpu_seconds"]), (1, None))
        self.assertNotIn("idle_cores", self.findings("s.csv"))

    def test_a_copy_of_a_tracking_file_without_its_identity(self):
        self.track()
        for name in "copy.csv", "another.csv":
            shutil.copy(self.folder / "s.csv", self.folder / name)
        read = self.job()
        self.assertEqual([(rank["path"], rank["exit_status"]) for rank in read["ranks"]], [("./s.csv", 0)])
        self.assertEqual([finding["kind"] for finding in read["findings"]].count("twice"), 2, read["findings"])
        (self.folder / "s.csv").unlink()  # without it they are copies of one another
        self.assertEqual(len(self.job()["ranks"]), 1)
        text = (self.folder / "copy.csv").read_text().splitlines(keepends=True)
        for early in "".join(text[:-2]), "".join(text)[:-30]:  # copied while it was written
            (self.folder / "copy.csv").write_text(early)
            (rank,) = self.job()["ranks"]
            self.assertEqual((rank["path"], rank["samples"]), ("./another.csv", len(text) - 3))
        (self.folder / "copy.csv").write_text("".join(text[:-2]) + "1" + text[-2])  # another session
        self.assertEqual(len(self.job()["ranks"]), 2)

    def test_a_copy_without_its_identity_goes_further_than_the_file_with_it(self):
        self.track("-o", "r.json", status=3)
        (whole,) = self.job("s.csv", "r.json")["ranks"]
        rows = (self.folder / "s.csv").read_text().splitlines(keepends=True)
        for name in "a.csv", "z.csv":
            os.rename(self.folder / "s.csv", self.folder / name)
            (self.folder / "s.csv").write_text("".join(rows[:5]))
            for files in ("s.csv", name), (name, "s.csv", "r.json"):
                (rank,) = self.job(*files)["ranks"]
                self.assertEqual([rank[key] for key in ("path", "pid", "samples")], [name, whole["pid"], whole["samples"]])
            self.assertEqual([rank[key] for key in ("exit_status", "seconds", "cpu_seconds")], [whole[key] for key in ("exit_status", "seconds", "cpu_seconds")])
            os.rename(self.folder / name, self.folder / "s.csv")

    def test_the_figures_of_the_end_are_in_tracking_files(self):
        """Samples saw neither the peak nor all of the CPU time."""
        program = "import time\ntime.sleep(0.3)\nblock = b'x' * 90_000_000\ndel block\ntime.sleep(0.3)"
        for extension in "csv", "plain.csv", "sqlite":
            name = f"s.{extension}"
            words = [command.COMMAND, "run", "-q", "--st", "100", "--tf", name, "-o", "r.json", "--overwrite", "--", *command.python(program)]
            subprocess.run(words, check=True, cwd=self.folder)
            of_report, of_samples = (self.job(path)["ranks"][0] for path in ("r.json", name))
            with self.subTest(extension=extension):
                self.assertGreater(of_samples["max_ram_bytes"], 90e6)
                for figure in "seconds", "cpu_seconds", "max_ram_bytes", "ram_is_at_least", "energy_joules", "oom_killed":
                    self.assertAlmostEqual(of_samples[figure], of_report[figure], msg=figure)  # the report has hours
                self.assertEqual(of_samples["ram_is_at_least"], 0)
                self.assertNotIn("at least", self.run_command(name).stdout)

    def test_the_ram_of_samples_is_at_least_the_peak(self):
        program = "import time\ntime.sleep(0.3)\nblock = b'x' * 90_000_000\ndel block\ntime.sleep(0.3)"
        words = [command.COMMAND, "run", "-q", "--st", "100", "--tf", "s.csv", "--", *command.python(program)]
        subprocess.run(words, check=True, cwd=self.folder)
        self.forget_figures("s.csv")
        read = self.job("s.csv")
        for table in "jobs", "machines", "ranks":
            self.assertEqual([row["ram_is_at_least"] for row in read[table]], [1], table)
        text = self.run_command("s.csv").stdout
        self.assertRegex(text, r"(?m)^  RAM      at least \S+ MB in the largest session$")
        self.assertRegex(text, r"exit 0, RAM at least  s\.csv")

    def test_cpu_time_is_not_known_where_rows_were_lost(self):
        for extension in "csv", "sqlite":
            words = [command.COMMAND, "run", "-q", "--st", "0.05", "--tf", f"s.{extension}", "-o", "r.json", "--overwrite", "--", "sleep", "0.3"]
            subprocess.run(words, check=True, cwd=self.folder, env={**os.environ, "PMI_RANK": "0", "PMI_SIZE": "2"})
            samples = f"s.r0.{extension}"
            self.assertIsNotNone(self.job(samples)["ranks"][0]["cpu_seconds"])
            if extension == "csv":
                self.forget_figures(samples)
                sidecar = self.folder / f"{samples}.session.json"
                sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"rows_lost": 7}))
            else:
                with contextlib.closing(sqlite3.connect(self.folder / samples)) as database, database:
                    database.execute("update session_data set rows_lost = 7, elapsed_seconds = null")
            with self.subTest(extension=extension):
                read = self.job(samples)
                (rank,) = read["ranks"]
                self.assertEqual((rank["rows_lost"], rank["cpu_seconds"], rank["gpu_percent"]), (7, None, None))
                self.assertEqual({finding["kind"] for finding in read["findings"]}, {"missing_ranks", "rows_lost"})
                self.assertIn("CPU time and use of GPUs are not known where there is no report, and RAM may have been more", self.findings(samples)["rows_lost"])
                self.assertIsNotNone(self.job(samples, "r.r0.json")["ranks"][0]["cpu_seconds"])
                self.assertNotIn("not known", self.findings(samples, "r.r0.json")["rows_lost"])


class Figures(JobTest):
    """What is printed of figures that are missing, or cannot be."""

    def test_a_rank_without_cpu_time_is_not_said_to_wait(self):
        for rank in 0, 1:
            self.rank(rank, world=2)
        path = self.folder / "r.r1.json"
        report = json.loads(path.read_text())
        report["accounting"]["cpu_seconds"] |= {"kernel": None, "sampled": None}
        for name in "main", "descendants", "combined":
            report["cpu_utilization"][name] = {key: None for key in report["cpu_utilization"][name]}
        path.write_text(json.dumps(report))
        rows = self.job()["ranks"]
        self.assertEqual([(row["cpu_seconds"], row["waited_seconds"]) for row in rows], [(90, None), (None, None)])
        self.assertRegex(self.run_command(".").stdout, r"(?m)^ +1  n1 .* n/a .* exit 0$")

    def test_a_rank_whose_tracker_was_killed_makes_no_other_one_a_straggler(self):
        known = {"exit_status": None, "end": None}
        self.rank(0, world=2, cpu=90)
        self.rank(1, world=2, seconds=60, cpu=50, identity=known)
        (job,) = self.job()["jobs"]
        self.assertEqual((job["median_seconds"], job["median_cpu_seconds"], job["unfinished"]), (100, 90, 1))
        self.assertEqual({"stragglers", "imbalance"} & set(self.findings()), set())
        self.rank(0, world=2, cpu=90, identity=known)  # both still run
        (job,) = self.job()["jobs"]
        self.assertEqual((job["median_seconds"], job["unfinished"]), (80, 2))

    def test_ranks_of_which_no_end_is_known_are_compared_if_they_are_known_for_the_same_time(self):
        def compare(seconds, cpu):
            for rank, known in enumerate(zip(seconds, cpu)):
                self.rank(rank, world=3, seconds=known[0], cpu=known[1], identity={"exit_status": None, "end": None})
            read = self.job()
            return [rank["is_straggler"] for rank in read["ranks"]], read["jobs"][0]["imbalance_percent"], "imbalance" in self.findings()

        self.assertEqual(compare((100, 40, 41), (90, 35, 36)), ([0, 0, 0], None, False))  # trackers were killed
        self.assertEqual(compare((100, 99, 101), (90, 30, 30)), ([1, 0, 0], 200, True))  # all still run

    def test_many_ranks_of_which_none_stands_out(self):
        for rank in range(20):
            self.rank(rank, world=20, machine=f"n{rank}")
        text = self.run_command(".").stdout
        self.assertIn("\n  none of 20 ranks stands out (-f csv lists all)\n", text)
        self.assertNotIn("wall time", text)
        self.rank(7, world=20, machine="n7", identity={"exit_status": 3})
        text = self.run_command(".").stdout
        self.assertRegex(text, r"wall time.*\n +7 .* exit 3\n  and 19 more \(-f csv lists all\)\n")

    def test_more_ram_than_is_allowed_is_called_so(self):
        for used, said in (97e6, "RAM is nearly used up (97 % of what is allowed)"), (235e6, "More RAM was used than is allowed (235 % of that): the limit was not enforced"):
            self.rank(0, world=1, ram=used, allowed={"unit": "bytes", "ram": 1e8})
            self.assertIn(said, self.findings()["ram_short"])

    def test_figures_that_cannot_be_are_left_out(self):
        """More CPU time than all cores of the machine have, and numbers that no counter has."""
        self.rank(0, world=3)
        self.rank(1, world=3, cpu=90_000)
        self.rank(2, world=3, cpu=1e308, ram=1e300, identity={"exit_status": 1e308}, job={"restarts": 1e300})
        read = self.job()
        self.assertEqual([row["cpu_seconds"] for row in read["ranks"]], [90, None, None])
        said = self.run_command(".").stdout
        for words in "r.r1.json has a CPU time that cannot be right, 9e+04: it is skipped", "r.r2.json has a RAM that cannot be right, 1e+300", "has an exit status that cannot be right, 1e+308":
            self.assertIn(words, said)
        self.assertNotRegex(said, r"\d{20}")


if __name__ == "__main__":
    command.main()
