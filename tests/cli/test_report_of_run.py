"""run --report and attach --report: a report when the command has ended."""

import contextlib
import json
import math
import os
import sqlite3
import subprocess
import time
import unittest

from command import COMMAND, PATIENCE, main, python, refusal, until_ticks
from report_data import Report
from report_test import ReportTest

MOUNTING = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
NO_MOUNTS = refusal(*MOUNTING, "sh", "-c", "mount -t tmpfs -o size=64k none /mnt")


class AtTheEnd(ReportTest):
    """run --report and attach --report."""

    def run_tracked(self, *arguments, **options):
        folder = self.folder / "tmp"
        folder.mkdir(exist_ok=True)
        done = self.run_command(*arguments, env=self.environment | {"TMPDIR": str(folder)}, **options)
        self.assertEqual(list(folder.iterdir()), [])
        return done

    def test_run_writes_it_when_the_command_has_ended(self):
        done = self.run_tracked("run", "--st", "0.02", "--report", "x.html", "-o", "r.json", "--resource-usage-file", "kept", "--",
                                *until_ticks(10, 4))
        self.assertEqual(done.returncode, 4)
        report = Report(self.folder / "x.html")
        (session,) = report.sessions
        self.assertEqual(session["identity"]["exit_status"], 4)
        self.assertEqual(session["identity"]["command"], python("")[0])
        self.assertGreater(len(report.series()["main_ram"][1]), 5)
        self.assertIn("pid", session["process_list"])
        results = json.loads((self.folder / "r.json").read_text())
        self.assertNotIn("processes", results)
        cards = report.cards()
        self.assertAlmostEqual(cards["cpu"]["value"], results["accounting"]["cpu_seconds"]["kernel"])
        # There is no bound where something else may have been started.
        self.assertGreaterEqual(cards["ram"]["at_most"] or math.inf, cards["ram"]["at_least"])
        self.assertIn("exit status 4", session["summary"])

    def test_cards_say_what_is_at_least(self):
        """A machine with a GPU's counter and none of the processors: the share is known. Counts that lack something are lower bounds."""
        self.run_tracked("run", "-f", "json", "-o", "r.json", "--", "true", check=True)
        results = json.loads((self.folder / "r.json").read_text())
        results["energy"] = {"unit": "joules", "machine": {"gpu": 1100.0, "total": 1100.0}, "main": 361.5, "descendants": 0.0, "combined": 361.5}
        for name, state in {"counts": "sampled", "kernel_cpu_time": "sampled", "cpu_energy": "unavailable", "energy_shares": "sampled"}.items():
            results["sources"][name] = {"state": state, "reason": f"at least: {name}"}
        (self.folder / "r.json").write_text(json.dumps(results))
        cards = self.report("r.json").cards()
        self.assertEqual((cards["energy"]["value"], cards["energy"]["state"]), (361.5, "sampled"))
        for name in "cpu", "cores", "read", "written", "storage_read", "storage_written":
            self.assertEqual((cards[name]["at_least"], cards[name]["at_most"]), (cards[name]["value"], None), name)
            self.assertIn("at least: ", cards[name]["reason"])

    def test_arguments_are_in_files_only_where_asked_for(self):
        script = self.folder / "train.sh"
        script.write_text("true\n")
        for options, title in ([], "sh train.sh"), (["--command-lines"], "sh train.sh --token hidden"):
            with self.subTest(options=options):
                self.run_tracked("run", *options, "--report", "x.html", "--overwrite", "-f", "summary", "-o", "s.txt", "--", "sh", script, "--token", "hidden", check=True)
                self.assertIn(f"<title>{title} - ", (self.folder / "x.html").read_text())
                for text in (self.folder / "s.txt").read_text(), json.dumps(Report(self.folder / "x.html").sessions):
                    self.assertEqual("hidden" in text, bool(options), text)
                    self.assertIn("train.sh", text)
        self.assertIn("--token hidden", self.run_tracked("run", "--", "sh", script, "--token", "hidden").stderr)

    def test_a_file_has_the_title_of_its_run(self):
        script = self.folder / "train.sh"
        script.write_text("true\n")
        self.run_tracked("run", "-q", "--tf", "t.sqlite", "--report", "x.html", "--", "sh", script, check=True)
        self.run_command("report", "t.sqlite", "-o", "y.html", env=self.environment)
        for name in "x.html", "y.html":
            self.assertIn("<title>sh train.sh - gpu-tracker</title>", (self.folder / name).read_text())
        self.run_command("report", "before=t.sqlite", "-o", "z.html", env=self.environment)
        self.assertIn("<title>before - gpu-tracker</title>", (self.folder / "z.html").read_text())

    def test_bytes_are_a_curve_that_adds_up(self):
        script = "import os, subprocess\nfor _ in range(3): subprocess.run(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1M', 'count=7', 'status=none'])"
        self.run_tracked("run", "--tf", "t.sqlite", "--report", "x.html", "-o", "r.json", "--", *python(script), check=True)
        with contextlib.closing(sqlite3.connect(self.folder / "t.sqlite")) as database:
            rows = database.execute("SELECT timestamp, read_bytes, write_bytes FROM io_data").fetchall()
        self.assertEqual(rows[0][1:], (0, 0))
        for column in zip(*rows):
            self.assertEqual(list(column), sorted(column))
        self.assertTrue(len(rows) == 2 or rows[1][0] - rows[0][0] > 0.19, rows)  # not the rate of a moment
        results = json.loads((self.folder / "r.json").read_text())
        accounting = results["accounting"]["bytes"]
        self.assertTrue(21 * 2**20 <= accounting["written"], accounting)
        self.assertLessEqual(rows[-1][2], accounting["written"])
        if results["sources"]["process_ends"]["state"] != "unavailable":
            # Exit records have up to 1023 bytes of a thread less. Without them the curve ends with the last tick.
            self.assertLessEqual(accounting["written"], rows[-1][2] + 50 * 1023, rows)
        times, written = Report(self.folder / "x.html").series()["io_write"]
        total = sum(rate * (end - begin) for begin, end, rate in zip(times, times[1:], written[1:]))
        self.assertAlmostEqual(total, rows[-1][2], delta=1e-4 * total)  # times and rates are rounded

    def test_a_temporary_file_is_not_named(self):
        self.run_tracked("run", "--report", "x.html", "-q", "--", "true", check=True)
        (session,) = Report(self.folder / "x.html").sessions
        self.assertNotIn("file", session)
        self.assertEqual(session["identity"]["command"], "true")

    def names_of_marks(self, script, **environment):
        self.environment |= environment
        self.run_tracked("run", "--report", "x.html", "--overwrite", "-q", "--", *python(script), check=True)
        (session,) = Report(self.folder / "x.html").sessions
        return session["calls"]["names"] if "calls" in session else None

    def test_marks_that_the_command_wrote_are_shown(self):
        marks = ("import os, time; now = time.time(); lines = ['process_id,code_block_name,position,timestamp',"
                 "f'{os.getpid()},fit,0,{now}', f'{os.getpid()},fit,1,{now + 0.01}', '']; "
                 "text = chr(10).join(lines); path = ")
        self.assertEqual(self.names_of_marks(marks + "f'{os.getpid()}.csv'; open(path, 'w').write(text)"), ["fit"])
        self.assertEqual(self.names_of_marks(marks + "'m.csv'; open(path, 'w').write(text)", GPUT_BLOCKS_FILE="m.csv"), ["fit"])
        # A file that was there before is of another session, and one that is not a file of marks does not count.
        before = time.time() - 1  # times of files and of processes are as coarse as hundredths of a second
        os.utime(self.folder / "m.csv", (before, before))
        self.assertIsNone(self.names_of_marks("pass", GPUT_BLOCKS_FILE="m.csv"))
        self.assertIsNone(self.names_of_marks("import os; open(f'{os.getpid()}.csv', 'w').write('a,b')", GPUT_BLOCKS_FILE="%p.csv"))

    def test_nothing_temporary_outlives_a_kill(self):
        folder = self.folder / "tmp"
        folder.mkdir()
        process = self.start_command("run", "--report", "x.html", "-q", "--", *python("print(flush=True); import time; time.sleep(60)"),
                                     env=self.environment | {"TMPDIR": str(folder)})
        process.stdout.readline()
        self.assertTrue(list(folder.iterdir()))
        process.kill()
        process.wait()
        while list(folder.iterdir()):
            pass

    @unittest.skipIf(NO_MOUNTS, f"no file systems can be mounted here: {NO_MOUNTS}")
    def test_a_full_temporary_folder_is_named_with_the_way_out(self):
        for free, status in (0, 125), (40, 0):
            script = (f"mkdir -p full; mount -t tmpfs -o size=1m none full; dd if=/dev/zero of=full/filler bs=1k count={1024 - free} 2>/dev/null; "
                      'TMPDIR=$PWD/full exec "$0" run --st 0.002 -q --report x.html -- sleep 0.4')
            done = subprocess.run([*MOUNTING, "sh", "-c", script, COMMAND], cwd=self.folder, env=self.environment, text=True,
                                  capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("samples.sqlite", done.stderr)
            for line in done.stderr.splitlines():
                self.assertIn("The file is temporary: TMPDIR can name another folder.", line)

    def test_another_folder_is_no_way_out_of_a_limit(self):
        script = 'trap "" XFSZ; ulimit -f 0; exec "$0" run -q --report x.html -- true'
        done = subprocess.run(["sh", "-c", script, COMMAND], cwd=self.folder, env=self.environment, text=True, capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, r"samples\.sqlite: .*ulimit -f")
        self.assertNotIn("TMPDIR", done.stderr)

    def test_a_tracking_file_is_kept_and_used(self):
        self.run_tracked("run", "--tf", "t.csv", "--report", "x.html", "-q", "--", "true", check=True)
        self.assertEqual(Report(self.folder / "x.html").sessions[0]["file"], "t.csv")
        self.assertTrue((self.folder / "t.csv").exists())

    def test_attach_writes_it_too(self):
        target = subprocess.Popen(until_ticks(8), cwd=self.folder)
        self.processes.append(target)
        self.run_tracked("attach", "--st", "0.02", "--resource-usage-file", "kept", "--report", "x.html", "-q", target.pid, check=True)
        self.assertGreater(len(Report(self.folder / "x.html").series()["main_ram"][1]), 2)

    def test_names_of_other_formats_are_refused_before_the_command_runs(self):
        for name in "x.parquet", "x.json", "x.csv", "x.CSV":
            done = self.run_tracked("run", "--report", name, "--", "touch", "ran")
            self.assertEqual(done.returncode, 125)
            self.assertIn(f"{name} has the extension of another format: use .html", done.stderr)
            self.assertFalse((self.folder / "ran").exists())
            self.assertFalse((self.folder / name).exists())
        done = self.run_tracked("run", "--report", "x.SVG", "--", "touch", "ran")
        self.assertEqual((done.returncode, (self.folder / "ran").exists()), (125, False))
        self.assertIn("x.SVG has the extension of a picture: 'gpu-tracker plot' draws", done.stderr)
        done = self.run_tracked("run", "--report", "x.xyz", "--", "touch", "ran")
        self.assertEqual((done.returncode, (self.folder / "ran").exists()), (125, False))
        self.assertIn("x.xyz: '.xyz' is not the extension of a report: use .html", done.stderr)
        for name in "x", "x.2026-11-24", "x.aB3xYz", "x.tmp":
            self.run_tracked("run", "--report", name, "-q", "--", "true", check=True)
            self.assertTrue((self.folder / name).read_text().startswith("<!"), name)
        # A rank does without.
        self.environment |= {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
        done = self.run_tracked("run", "-q", "--report", "x.json", "--", "touch", "ran")
        self.assertEqual(done.returncode, 0)
        self.assertIn("use .html", done.stderr)
        self.assertTrue((self.folder / "ran").exists())
        self.assertFalse((self.folder / "x.r1.json").exists())

    def test_what_cannot_be_written_is_refused_before_the_command_runs(self):
        for file, message in ("/proc/no/x.html", "/proc/no/x.html"), ("t.csv", "which it would replace"):
            done = self.run_tracked("run", "--tf", "t.csv", "--report", file, "--", "touch", "started")
            self.assertIn(done.returncode, (2, 125))
            self.assertIn(message, done.stderr)
            self.assertFalse((self.folder / "started").exists())


    def test_a_report_in_json_has_the_figures_of_its_session(self):
        self.run_command("run", "--tf", "t.csv", "--ru", "megabytes", "-o", "t.json", "--", "true", check=True)
        results = json.loads((self.folder / "t.json").read_text())
        report = self.report("t.json", "t.csv")
        (session,) = report.sessions
        cards = report.cards()
        self.assertEqual(session["kind"], "tracking")
        self.assertNotIn("state", cards["wall"])  # of a clock, which none of the sources is
        self.assertEqual("ram_main" in cards, results["accounting"]["processes"]["seen"] != 1)
        most = results["peaks"]["combined_at_most"]
        is_useful = most and most <= 1.5 * results["max_ram"]["combined"]["total_rss"]
        self.assertEqual(cards["ram"].get("at_most"), round(most * 1e6) if is_useful else None)
        self.assertEqual(cards["cpu"]["value"], results["accounting"]["cpu_seconds"]["kernel"])
        self.assertEqual({source["name"]: source["reason"] for source in session["sources"]},
                         {name: source["reason"] for name, source in results["sources"].items()})

    def test_a_report_of_the_older_tool_is_one(self):
        self.run_command("-e", "true", "-f", "json", "-o", "old.json", check=True)
        older = {key: value for key, value in json.loads((self.folder / "old.json").read_text()).items() if key in (
            "max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time")}
        (self.folder / "old.json").write_text(json.dumps(older))
        cards = self.report("old.json").cards()
        self.assertEqual(cards["ram"]["value"], round(older["max_ram"]["combined"]["total_rss"] * 1e9))
        self.assertAlmostEqual(cards["wall"]["value"], older["compute_time"]["time"] * 3600)


if __name__ == "__main__":
    main()
