"""Who a session is, in every result: machine, command, job, and what it may use."""

import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import command
from report_data import Report

LAUNCHERS = "OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM", "TORCHELASTIC_", "RANK", "KUBERNETES_"


def without_launchers():
    return {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}


class Identity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, words, **variables):
        return subprocess.run(
            words, cwd=self.folder, env={**without_launchers(), **variables},
            capture_output=True, text=True, timeout=command.PATIENCE)  # fmt: skip

    def report(self, *words, options=(), status=0, into="r.json", **variables):
        done = self.run_command([command.COMMAND, "run", "-q", "--st", "0.1", "-o", "r.json", "--overwrite", *options, "--", *words], **variables)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads((self.folder / into).read_text())

    def test_every_report_says_who_it_is_of(self):
        identity = self.report("sh", "-c", "exit 3", status=3)["identity"]
        self.assertEqual(identity["host"], socket.gethostname())
        self.assertIn(identity["clock"], ("synchronized", "unsynchronized"))
        self.assertEqual(identity["boot_id"], pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        self.assertEqual((identity["command"], identity["exit_status"], identity["signal"]), ("sh", 3, None))
        self.assertRegex(identity["start"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertLessEqual(identity["start"], identity["end"])
        self.assertGreater(identity["pid"], 1)
        version = subprocess.run([command.COMMAND, "--version"], capture_output=True, text=True).stdout
        self.assertIn(identity["version"], version)

    def test_a_manifest_names_the_files_and_their_first_sample(self):
        """Alike in the report and in the file next to the tracking file, and as the samples have it."""
        report = self.report("sleep", "0.3", options=["--tf", "s.csv"])
        manifest = json.loads((self.folder / "s.csv.session.json").read_text())
        self.assertEqual(report["files"]["tracking_file"], "s.csv")
        self.assertEqual({key: manifest[key] for key in ("tracking_file", "first_sample")},
                         {key: report["files"][key] for key in ("tracking_file", "first_sample")})  # fmt: skip
        lines = (self.folder / "s.csv").read_text().splitlines()
        time = float(lines[3].split(",")[lines[2].split(",").index("timestamp")])
        self.assertAlmostEqual(datetime.datetime.fromisoformat(report["files"]["first_sample"].replace("Z", "+00:00")).timestamp(), time, places=6)
        self.assertNotIn("files", self.report("true"))  # it wrote no other

    def test_the_job_s_name_and_time_limit_are_the_scheduler_s(self):
        slurm = {"SLURM_JOB_ID": "47", "SLURM_JOB_NAME": "train.sh", "SLURM_JOB_START_TIME": "1700000000", "SLURM_JOB_END_TIME": "1700003600"}
        job = self.report("true", **slurm)["job"]
        self.assertEqual((job["job_id"], job["job_name"], job["time_limit_seconds"]), ("47", "train.sh", 3600))

    def test_a_task_is_known_without_an_id_of_a_job(self):
        """GNU parallel, Grid Engine, AWS Batch."""
        for variables, task in (
            ({"PARALLEL_SEQ": "5"}, "5"),
            ({"JOB_ID": "4", "SGE_TASK_ID": "3", "SGE_ROOT": "/x"}, "3"),
            ({"AWS_BATCH_JOB_ARRAY_INDEX": "0"}, "0"),
        ):
            into = f"r.t{task}.json"
            self.assertEqual(self.report("true", into=into, **variables)["job"]["task"], task)
            rows = self.run_command([command.COMMAND, "job", "-f", "csv", into]).stdout.splitlines()
            self.assertEqual(dict(zip(*(row.split(",") for row in rows), strict=True))["task"], task)

    def test_a_signal_is_no_exit_status(self):
        identity = self.report("sh", "-c", "kill -TERM $$", status=-signal.SIGTERM)["identity"]
        self.assertEqual((identity["exit_status"], identity["signal"]), (None, signal.SIGTERM))

    def test_arguments_are_there_only_where_asked_for(self):
        secret = "sleep 0.01 # secret"
        self.assertNotIn("secret", json.dumps(self.report("sh", "-c", secret)))
        report = self.report("sh", "-c", secret, options=["--command-lines"])
        self.assertEqual(report["identity"]["command"], f"sh -c {secret}")

    def test_a_script_is_named_with_the_program_that_runs_it(self):
        """In reports, tracking files and their pages, jobs and metrics; never with further arguments."""
        script = self.folder / "train.py"
        script.write_text("import time\ntime.sleep(0.3)\n")
        options = ["--tf", "s.sqlite", "--textfile", "metrics"]
        (self.folder / "metrics").mkdir()
        name = f"{sys.executable} train.py"
        identity = self.report(sys.executable, "-u", "train.py", "--password=secret", options=options)["identity"]
        self.assertEqual(identity["command"], name)
        self.assertIn(f"  Command  {name}\n", self.run_command([command.COMMAND, "job", "r.json"]).stdout)
        (metrics,) = (self.folder / "metrics").iterdir()
        self.assertIn(f'command="{name}"', metrics.read_text())
        for path in self.folder.rglob("*"):
            self.assertNotIn(b"secret", path.read_bytes() if path.is_file() else b"", path)

    def test_pages_name_the_script_too(self):
        (self.folder / "train.py").write_text("import time\ntime.sleep(0.3)\n")
        words = "run", "-q", "--tf", "s.sqlite", "--report", "r.html", "--", sys.executable, "-u", "train.py", "--password=secret"
        done = self.run_command([command.COMMAND, *words])
        if "has no report" in done.stderr:
            self.skipTest("this build has no page of reports")
        name = f"{sys.executable} train.py"
        self.assertEqual(Report(self.folder / "r.html").sessions[0]["identity"]["command"], name)
        self.run_command([command.COMMAND, "report", "s.sqlite", "-o", "s.html"])
        self.assertEqual(Report(self.folder / "s.html").sessions[0]["identity"]["program"], name)
        self.assertNotIn(b"secret", (self.folder / "r.html").read_bytes() + (self.folder / "s.html").read_bytes())

    def test_a_script_of_a_process_that_was_attached_to(self):
        (self.folder / "wait.sh").write_text("sleep 60 & wait $!\n")
        process = subprocess.Popen(["sh", "-e", "wait.sh", "secret"], cwd=self.folder, start_new_session=True)
        try:
            done = self.run_command([command.COMMAND, "attach", str(process.pid), "--for", "0.2", "-q", "-o", "r.json"])
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["identity"]["command"], "sh wait.sh", done.stderr)

    def test_a_command_outside_of_a_job_has_none(self):
        self.assertNotIn("job", self.report("true"))

    def test_a_rank_that_calls_execve_late_is_seen(self):
        """As of mpirun on a busy machine: a child has its environment until then."""
        program = (
            "import os, sys, time\n"
            "for rank in '0', '1':\n"
            "    if os.fork() == 0:\n"
            "        time.sleep(1.2)\n"
            "        os.execvpe('sh', ['sh', '-c', sys.argv[1]], {**os.environ, 'PMI_RANK': rank, 'PMI_SIZE': '2'})\n"
            "os.wait(), os.wait()\n")  # fmt: skip
        job = self.job_with_ranks("0,1", lambda waits: [sys.executable, "-c", program, waits])
        self.assertEqual((job["ranks"], job["ranks_of"], job["rank"]), ("0,1", "descendants", None))
        self.assertIn("1 session of ranks 0,1 on", self.run_command([command.COMMAND, "job", "r.json"]).stdout)

    def test_what_slurm_allocated(self):
        allowed = self.report(
            "true", SLURM_JOB_ID="4", SLURM_STEP_ID="0", SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="1",
            SLURM_CPUS_ON_NODE="1", SLURM_MEM_PER_NODE="1")["allowed"]  # fmt: skip
        self.assertEqual(allowed["slurm_cores"], 1)
        self.assertEqual(allowed["ram"], 2**20 / 1e9)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertEqual(allowed["cores"], 1)

    def test_a_killed_session_still_says_it(self):
        kept = self.folder / "kept"
        tracker = subprocess.Popen(
            [command.COMMAND, "run", "-q", "--st", "0.05", "--resource-usage-file", kept, "--", "sleep", "60"],
            env={**without_launchers(), "PMI_RANK": "2", "PMI_SIZE": "3"}, cwd=self.folder)  # fmt: skip
        own = self.folder / "kept.r2"
        try:
            command.wait_until(lambda: own.exists() and own.stat().st_size > 100)
        finally:
            tracker.kill()
            tracker.wait()
        shown = self.run_command([command.COMMAND, "show", "-f", "json", own])
        report = json.loads(shown.stdout)
        self.assertEqual(report["job"]["rank"], 2)
        self.assertEqual(report["identity"]["command"], "sleep")
        self.assertIsNone(report["identity"]["end"])
        os.kill(report["identity"]["pid"], signal.SIGKILL)

    # ---- tracking files ----

    def test_next_to_a_csv_file_is_whose_it_is(self):
        self.report("true", options=["--tf", "s.csv"], PMI_RANK="1", PMI_SIZE="2", HOSTNAME="x", status=0, into="r.r1.json")
        session = json.loads((self.folder / "s.r1.csv.session.json").read_text())
        self.assertEqual(session["tracking_file"], "s.r1.csv")
        self.assertEqual((session["rank"], session["world_size"], session["exit_status"]), (1, 2, 0))
        self.assertEqual(session["host"], socket.gethostname())
        self.assertEqual(self.identity_of("s.r1.csv")["rank"], 1)

    def test_a_database_has_it_as_a_table_of_one_row(self):
        self.report("sh", "-c", "sleep 0.5; exit 3", options=["--tf", "s.sqlite"], status=3)
        database = sqlite3.connect(self.folder / "s.sqlite")
        database.row_factory = sqlite3.Row
        (row,) = database.execute("select * from session_data")
        database.close()
        self.assertEqual((row["command"], row["exit_status"], row["host"]), ("sh", 3, socket.gethostname()))
        self.assertIsNone(row["rank"])
        identity = self.identity_of("s.sqlite")
        self.assertEqual((identity["program"], identity["exit_status"], identity["start"]), ("sh", 3, row["start"]))
        self.assertNotIn("rank", identity)

    def test_a_file_of_earlier_samples_is_not_taken(self):
        self.report("true", options=["--tf", "s.csv"])
        samples = self.folder / "s.csv"
        self.assertTrue(command.times_of(samples))
        samples.write_text(command.with_times_later(samples, 1000))
        self.assertNotIn("host", self.identity_of("s.csv"))

    def test_another_file_of_that_name_is_left_alone(self):
        other = self.folder / "s.csv.session.json"
        other.write_text('{"of": "somebody else"}')
        done = self.run_command([command.COMMAND, "run", "-q", "--tf", "s.csv", "--", "true"])
        self.assertEqual(done.returncode, 0)
        self.assertIn("s.csv.session.json already exists and does not describe a session", done.stderr)
        self.assertEqual(other.read_text(), '{"of": "somebody else"}')
        self.assertNotIn("host", self.identity_of("s.csv"))

    def test_a_pipe_has_no_file_next_to_it(self):
        os.mkfifo(self.folder / "s.csv")
        reader = os.open(self.folder / "s.csv", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        done = self.run_command([command.COMMAND, "run", "-q", "--overwrite", "--tf", "s.csv", "--", "true"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["s.csv"])

    def test_a_report_of_a_folder_has_one_session(self):
        self.report("true", options=["--tf", "s.csv"])
        (self.folder / "r.json").unlink()
        self.assertEqual(len(self.sessions(".")), 1)

    def test_a_report_in_json_says_it_too(self):
        self.report("true", PMI_RANK="1", PMI_SIZE="2", into="r.r1.json")
        self.assertEqual(self.identity_of("r.r1.json")["world_size"], 2)

    def sessions(self, *names):
        done = self.run_command([command.COMMAND, "report", "-f", "json", *names])
        if "without" in done.stderr and done.returncode:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["sessions"]

    def identity_of(self, name):
        (session,) = self.sessions(name)
        return session["identity"]

    # ---- metrics ----

    def test_the_page_of_metrics_says_it(self):
        tracker = subprocess.Popen(
            [command.COMMAND, "run", "-q", "--st", "0.05", "--listen", "127.0.0.1:0", "--", "sleep", "60"],
            env={**without_launchers(), "PMI_RANK": "2", "PMI_SIZE": "3"}, cwd=self.folder, stderr=subprocess.PIPE, text=True)  # fmt: skip
        try:
            address = re.search(r"http://\S+", tracker.stderr.readline()).group()
            command.wait_until(lambda: 'rank="2",world_size="3"' in urllib.request.urlopen(address).read().decode())
        finally:
            tracker.terminate()
            tracker.communicate(timeout=command.PATIENCE)

    # ---- launchers ----

    def mpirun(self, *words):
        mpirun = shutil.which("mpirun")
        if not mpirun:
            self.skipTest("mpirun is not installed (Debian: openmpi-bin)")
        return [mpirun, "--allow-run-as-root", "--oversubscribe", "-np", "3", *words]

    def test_ranks_of_mpirun(self):
        done = self.run_command(self.mpirun(command.COMMAND, "run", "-q", "-o", "r.json", "--", "true"))
        self.assertEqual(done.returncode, 0, done.stderr)
        jobs = [json.loads((self.folder / f"r.r{rank}.json").read_text())["job"] for rank in range(3)]
        self.assertEqual([job["rank"] for job in jobs], [0, 1, 2])
        self.assertEqual({job["world_size"] for job in jobs}, {3})
        self.assertEqual({job["launcher"] for job in jobs}, {"Open MPI"})
        self.assertEqual(len({job["job_id"] for job in jobs}), 1)

    def test_marks_of_ranks_do_not_clash(self):
        example = str(pathlib.Path(command.COMMAND).parent / "examples" / "mark-blocks")
        (self.folder / "marks.r1.csv").write_text("of an earlier job")
        done = self.run_command(self.mpirun(example, "0.05"), GPUT_BLOCKS_FILE="marks.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("they are in marks.r1.1.csv", done.stderr)
        names = {path.name for path in self.folder.glob("marks.*.csv") if "-" not in path.name}
        self.assertEqual(names, {"marks.r0.csv", "marks.r1.csv", "marks.r1.1.csv", "marks.r2.csv"})
        # The report of the session that started them finds all of theirs, and nothing else.
        words = self.mpirun(example, "0.05")
        self.run_command([command.COMMAND, "run", "-q", "--report", "x.html", "--", *words], GPUT_BLOCKS_FILE="%h.%r.csv")
        (session,) = Report(self.folder / "x.html").sessions
        self.assertIn("step: forward", session["calls"]["names"])

    def test_mpirun_as_the_command(self):
        """The ranks are descendants: they are read from their environments."""
        job = self.job_with_ranks("0-2", lambda waits: self.mpirun("sh", "-c", waits))
        self.assertEqual((job["launcher"], job["rank"], job["ranks"], job["world_size"]), ("Open MPI", None, "0-2", 3))

    def job_with_ranks(self, ranks, words):
        """Of the report of a command whose ranks end when they have been seen; `words` makes it of what they run."""
        go = self.folder.parent / f"{self.folder.name}.go"
        self.addCleanup(go.unlink, missing_ok=True)
        tracker = subprocess.Popen(
            [command.COMMAND, "run", "-q", "--st", "0.1", "--resource-usage-file", "kept", "-o", "r.json", "--",
             *words(f"while ! [ -e {go} ]; do sleep 0.05; done")],
            env=without_launchers(), cwd=self.folder)  # fmt: skip
        try:
            command.wait_until(lambda: self.shown_ranks() == ranks, "the ranks")
        finally:
            go.touch()
            tracker.wait(command.PATIENCE)
        return json.loads((self.folder / "r.json").read_text())["job"]

    def shown_ranks(self):
        if not (self.folder / "kept").exists():
            return None
        shown = self.run_command([command.COMMAND, "show", "-f", "json", "kept"])
        return json.loads(shown.stdout).get("job", {}).get("ranks") if shown.returncode == 0 else None


if __name__ == "__main__":
    command.main()
