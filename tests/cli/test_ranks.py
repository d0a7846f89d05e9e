"""One of many ranks: each writes files of its own, and a clash never stops the job."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import command
from command import COMMAND, PATIENCE
from energy_machine import Machine


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_rank(self, *options, command=("true",), **variables):
        return subprocess.run(
            [COMMAND, "run", "--st", "0.1", *options, "--", *command],
            cwd=self.folder, env={**os.environ, **variables}, capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip

    def names(self):
        """Without those that say whose samples a CSV file has."""
        return sorted(path.name for path in self.folder.iterdir() if not path.name.endswith(".session.json"))

    def test_each_rank_has_files_of_its_own(self):
        for rank in "0", "1":
            done = self.run_rank("--tf", "s.csv", "-o", "r.json", OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE="2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr, f"gpu-tracker: rank {rank} (Open MPI) writes s.r{rank}.csv, r.r{rank}.json\n")
        self.assertEqual(self.names(), ["r.r0.json", "r.r1.json", "s.r0.csv", "s.r1.csv"])
        self.assertIn("max_ram", json.loads((self.folder / "r.r1.json").read_text()))

    def test_ranks_that_pytorch_reads(self):
        for rank in "0", "1":
            done = self.run_rank("--tf", "s.csv", "-o", "r.json", RANK=rank, WORLD_SIZE="2", MASTER_ADDR="127.0.0.1")
            self.assertEqual((done.returncode, done.stderr), (0, f"gpu-tracker: rank {rank} (PyTorch) writes s.r{rank}.csv, r.r{rank}.json\n"))

    def test_a_quiet_rank_says_nothing(self):
        done = self.run_rank("-q", "-o", "r.json", OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2")
        self.assertEqual((done.returncode, done.stderr, done.stdout, self.names()), (0, "", "", ["r.r1.json"]))

    def test_a_clash_does_not_stop_a_rank(self):
        (self.folder / "s.r1.csv").write_text("of somebody else")
        done = self.run_rank("--tf", "s.csv", "-q", PMI_RANK="1", PMI_SIZE="2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: s.r1.csv exists: writing s.r1.1.csv (--overwrite replaces s.r1.csv).", done.stderr)
        self.assertEqual((self.folder / "s.r1.csv").read_text(), "of somebody else")
        self.assertEqual(self.names(), ["s.r1.1.csv", "s.r1.csv"])

    def test_a_job_that_runs_again_is_not_stopped(self):
        """A batch script that was requeued: `gpu-tracker run -- mpirun …`, outside of any rank."""
        for name in "s.csv", "s.1.csv", "s.2.csv":
            done = self.run_rank("--tf", "s.csv", "-q", command=("touch", "ran"), SLURM_JOB_ID="47")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.folder / name).exists())
            self.assertEqual("s.csv exists: writing s." in done.stderr, name != "s.csv")
            (self.folder / "ran").unlink()

    def test_results_of_a_job_that_runs_again_are_not_replaced(self):
        for name in "r.json", "r.1.json":
            done = self.run_rank("-o", "r.json", SLURM_JOB_ID="47")
            self.assertEqual((done.returncode, "r.json exists: writing r.1.json" in done.stderr), (0, name != "r.json"), done.stderr)
            self.assertIn("max_ram", json.loads((self.folder / name).read_text()))
        self.assertEqual(self.names(), ["r.1.json", "r.json"])
        before = (self.folder / "r.json").read_text()
        self.run_rank("-o", "r.json", "--overwrite", SLURM_JOB_ID="47")
        self.assertNotEqual((self.folder / "r.json").read_text(), before)
        done = self.run_rank("-o", "r.json/below.json", SLURM_JOB_ID="47")
        self.assertEqual((done.returncode, done.stderr.count("r.json/below.json")), (125, 1), done.stderr)
        done = self.run_rank("--energy-folder", "r.json/below", SLURM_JOB_ID="47")
        self.assertEqual((done.returncode, done.stderr.count("r.json")), (125, 1), done.stderr)

    def test_a_recording_that_is_continued_keeps_its_folder(self):
        for variables, folder in ({"SLURM_JOB_ID": "47"}, "e"), ({"PMI_RANK": "1", "PMI_SIZE": "2"}, "e.r1"):
            for _ in range(2):
                done = self.run_rank("--energy-folder", "e", "--cont", "-q", command=("sleep", "0.2"), **variables)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("exists", done.stderr)
            self.assertIn(folder, self.names())
        self.assertEqual(self.names(), ["e", "e.r1"])

    def test_no_output_of_a_rank_replaces_another(self):
        (self.folder / "p.r1").mkdir()
        for name in "r.r1.json", "p.r1/power_metrics.json":
            (self.folder / name).write_text("of somebody else")
        done = self.run_rank("-o", "r.json", "--energy-folder", "p", PMI_RANK="1", PMI_SIZE="2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: r.r1.json exists: writing r.r1.1.json", done.stderr)
        self.assertIn("warning: p.r1 exists: writing p.r1.1", done.stderr)
        self.assertEqual((self.folder / "r.r1.json").read_text(), "of somebody else")
        self.assertIn("max_ram", json.loads((self.folder / "r.r1.1.json").read_text()))
        self.assertEqual([path.name for path in (self.folder / "p.r1").iterdir()], ["power_metrics.json"])
        done = self.run_rank("-o", "r.json", "--overwrite", PMI_RANK="1", PMI_SIZE="2")
        self.assertIn("max_ram", json.loads((self.folder / "r.r1.json").read_text()))

    def test_a_command_that_is_not_found_leaves_no_empty_file(self):
        done = subprocess.run(
            [command.COMMAND, "run", "-o", "r.json", "--", "no-such-command-anywhere"],
            cwd=self.folder, env={**os.environ, "PMI_RANK": "1", "PMI_SIZE": "2"}, capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 127)
        self.assertEqual(self.names(), [])

    def test_a_rank_runs_without_files_that_cannot_be_made(self):
        (self.folder / "file").write_text("of somebody else")
        done = self.run_rank("--tf", "file/s.csv", "-o", "file/r.json", "--energy-folder", "e", PMI_RANK="1", PMI_SIZE="2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "Cannot write file/s.r1.csv: .* \\(the command runs without it\\)")
        place = re.search(r"Cannot write file/r\.r1\.json: .* The report is in (\S+) instead\.", done.stderr)[1]
        self.assertEqual(place, str(self.folder / "r.r1.json"))
        self.assertIn("max_ram", json.loads((self.folder / "r.r1.json").read_text()))
        self.assertNotIn('"max_ram"', done.stderr)
        self.assertTrue((self.folder / "e.r1" / "metadata.json").exists(), "each output stands for itself")
        self.assertIn("gpu-tracker: rank 1 (MPICH) writes e.r1\n", done.stderr)
        done = self.run_rank("-q", "-o", "file/r.json", PMI_RANK="1", PMI_SIZE="2")  # that of the first run stays
        self.assertIn(f"The report is in {self.folder}/r.r1.1.json instead.", done.stderr)
        done = self.run_rank("-q", "-o", "file/r.json")  # no rank of many: its command has not run
        self.assertEqual((done.returncode, (self.folder / "r.json").exists()), (125, False))

    def test_names_are_said_of_files_that_are_written(self):
        (self.folder / "file").touch()
        options = ["--tf", "file/s.csv", "--report", "file/a.html", "--region-file", "file/x.gputblocks", "--phase-token", "X",
                   "--textfile", "nowhere", "-o", "r.json"]  # fmt: skip
        done = self.run_rank(*options, PMI_RANK="1", PMI_SIZE="2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gpu-tracker: rank 1 (MPICH) writes r.r1.json\n", done.stderr)
        self.assertEqual(self.names(), ["file", "r.r1.json"])
        done = self.run_rank("-o", "r.json", command=["no-such-command-anywhere"], PMI_RANK="0", PMI_SIZE="2")
        self.assertNotIn("writes", done.stderr)

    def test_a_rank_runs_whatever_cannot_be_written(self):
        (self.folder / "file").touch()
        cases = [(option, f"file/{name}") for option, name in [
            ("--tf", "s.csv"), ("--tf", "s.sqlite"), ("-o", "r.json"), ("--report", "a.html"), ("--energy-folder", "e"),
            ("--resource-usage-file", "u"), ("--spool", ""), ("--textfile", "")]]  # fmt: skip
        cases += [("--textfile", "nowhere")]
        more = [["--phases", "auto", "--tf", "file/s.csv"], ["--phase-token", "X", "--region-file", "file/x.gputblocks"],
                ["--torch-trace", "1s@0", "--torch-trace-file", "file/t.json"]]  # fmt: skip
        for options in [*map(list, cases), *more]:
            with self.subTest(options=options):
                done = self.run_rank("-q", *options, command=["sh", "-c", "echo ran; exit 3"], PMI_RANK="1", PMI_SIZE="2")
                self.assertEqual((done.returncode, done.stdout), (3, "ran\n"), done.stderr)
                self.assertIn("gpu-tracker: warning: ", done.stderr)

    def test_files_of_regions_and_traces_take_free_names(self):
        trace = ["--torch-trace", "1s@0", "--torch-trace-file", "t.json"]
        (self.folder / "t.r1.json").write_text("of somebody else")
        for options in ["--tf", "s.csv"], ["--region-file", "f.gputblocks"]:
            for number in 1, 2, 3:
                done = self.run_rank(
                    "-q", "--phase-token", "^ran", *options, *trace, command=["echo", "ran"], PMI_RANK="1", PMI_SIZE="2")  # fmt: skip
                self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
                self.assertIn(f"warning: t.r1.json exists: writing t.r1.{number}.json", done.stderr)
        self.assertIn("warning: Instead of f.r1.gputblocks, f.r1.3.gputblocks is written: files of one session have one number.", done.stderr)
        names = [name for name in self.names() if name.endswith(".gputblocks")]
        self.assertEqual(names, [
            "f.r1.1.gputblocks", "f.r1.2.gputblocks", "f.r1.3.gputblocks", "s.r1-regions.1.gputblocks",
            "s.r1-regions.2.gputblocks", "s.r1-regions.3.gputblocks"])  # fmt: skip

    def test_runs_of_mpich_are_distinguished_by_the_address_of_their_mpiexec(self):
        """A shell that is called as Hydra's proxy starts the rank."""
        script = 'sh -c "$0 run -q -o r.json -- true; true"; true'
        for name in "hydra_pmi_proxy", "other":
            subprocess.run(
                ["bash", "-c", f'exec -a {name} bash -c "$@"', "-", script, command.COMMAND, "--control-port", "n1:34375"],
                check=True, cwd=self.folder, env={**os.environ, "PMI_RANK": "1", "PMI_SIZE": "2"})  # fmt: skip
        reports = [json.loads((self.folder / name).read_text()) for name in ("r.r1.json", "r.r1.1.json")]
        self.assertEqual([report["job"]["run"] for report in reports], ["n1:34375", None])

    def test_elements_of_arrays_and_jobs_of_parallel_have_files_of_their_own(self):
        array = {"SLURM_ARRAY_JOB_ID": "47", "SLURM_ARRAY_TASK_ID": "3"}
        for variables, writer, name in [
            (array, "task 3", "r.t3.json"),
            ({"PARALLEL_SEQ": "5"}, "task 5", "r.t5.json"),
            ({"PBS_ARRAY_INDEX": "6", "PMI_RANK": "0", "PMI_SIZE": "1"}, "task 6", "r.t6.json"),
            ({**array, "PMI_RANK": "1", "PMI_SIZE": "2"}, "task 3, rank 1 (MPICH)", "r.t3.r1.json"),
        ]:
            done = self.run_rank("-o", "r.json", **variables)
            self.assertEqual((done.returncode, done.stderr), (0, f"gpu-tracker: {writer} writes {name}\n"))
        self.assertEqual(self.names(), ["r.t3.json", "r.t3.r1.json", "r.t5.json", "r.t6.json"])
        for _ in range(2):
            done = self.run_rank("-o", "r.json", "--tf", "s.csv", **array)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: r.t3.json exists: writing r.t3.2.json", done.stderr)
        self.assertIn("warning: Instead of s.t3.csv, s.t3.2.csv is written: files of one session have one number.", done.stderr)
        done = self.run_rank("-o", "r.%j.json", **array)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = subprocess.run(
            [COMMAND, "job", "r.t3.r1.json", "r.t5.json", "r.47_3.json", "s.t3.csv"],
            cwd=self.folder, capture_output=True, text=True)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_placeholders_in_what_every_command_writes(self):
        self.run_rank("-o", "r.json", "--tf", "s.csv")
        (self.folder / "pd").mkdir()
        (self.folder / "pd" / "x").mkdir()
        self.run_rank("--textfile", "pd/%q{KIND}", "--spool", "pd/%q{KIND}", "-q", "--tf", "more.csv", KIND="x")
        for options in [
            ["job", "r.json", "-o", "job.%q{KIND}.txt"], ["plot", "s.csv", "-o", "plot.%q{KIND}.svg"],
            ["doctor", "-o", "doctor.%q{KIND}.txt"], ["report", "s.csv", "-f", "json", "-o", "report.%q{KIND}.json"],
        ]:  # fmt: skip
            with self.subTest(command=options[0]):
                done = subprocess.run(
                    [COMMAND, *options], cwd=self.folder, env={**os.environ, "KIND": "x"}, capture_output=True, text=True)  # fmt: skip
                if options[0] == "plot" and "built without" in done.stderr:
                    continue
                path = self.folder / options[-1].replace("%q{KIND}", "x")
                self.assertTrue(path.exists(), done.stderr)
                self.assertGreater(path.stat().st_size, 0)
        self.assertIn("more.csv", self.names())
        done = subprocess.run(
            [COMMAND, "mark", "start", "x", "--stf", "marks.%q{KIND}.csv"], cwd=self.folder, env={**os.environ, "KIND": "x"})  # fmt: skip
        self.assertEqual(done.returncode, 0)
        self.assertIn("marks.x.csv", self.names())
        done = subprocess.run([COMMAND, "job", "r.json", "-o", "j.%q{"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("%q needs the name of an environment variable", done.stderr)

    def test_a_rank_runs_where_another_serves_metrics(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            listen = "--listen=127.0.0.1:%d" % taken.getsockname()[1]
            for files in [], ["--tf", "s.csv"]:
                done = self.run_rank(listen, "-f", "json", *files, PMI_RANK="1", PMI_SIZE="2")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("the port is in use.", done.stderr)
                self.assertIn("(the command runs without --listen)", done.stderr)
            (self.folder / "pd").mkdir()
            done = self.run_rank(listen, "-q", "--textfile", "pd", PMI_RANK="1", PMI_SIZE="2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(list((self.folder / "pd").iterdir())), 1, "the other place has them")
            shutil.rmtree(self.folder / "pd")
            done = self.run_rank(listen, "-q", "--textfile", "nowhere", PMI_RANK="1", PMI_SIZE="2")
            self.assertEqual(done.returncode, 0, done.stderr)
            for option in "--listen", "--textfile":
                self.assertIn(f"(the command runs without {option})", done.stderr)
            self.assertEqual(self.names(), ["s.r1.csv"])  # files do not depend on metrics
            done = self.run_rank(listen, "-q")
            self.assertEqual(done.returncode, 125, "one process alone: an error")

    def test_a_clash_does_not_stop_one_process_but_the_older_form(self):
        (self.folder / "s.csv").write_text("of somebody else")
        done = self.run_rank("--tf", "s.csv", "-q")
        self.assertEqual((done.returncode, self.names()), (0, ["s.1.csv", "s.csv"]), done.stderr)
        self.assertIn("s.csv exists: writing s.1.csv (--overwrite replaces s.csv).", done.stderr)
        done = subprocess.run([COMMAND, "-e", "true", "--tf", "s.csv"], cwd=self.folder, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("File s.csv already exists. --overwrite replaces it.", done.stderr)

    def test_placeholders_in_every_output(self):
        done = self.run_rank(
            "--tf", "s.%r.csv", "-o", "r.%q{KIND}.json", "--energy-folder", "p.%l", "--resource-usage-file", "u.%j",
            SLURM_JOB_ID="47", SLURM_STEP_ID="0", SLURM_PROCID="5", SLURM_LOCALID="1", KIND="x")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        names = self.names()
        for name in "s.5.csv", "r.x.json", "p.1":
            self.assertIn(name, names)
        self.assertNotIn("writes", done.stderr)

    def test_folders_with_placeholders_are_made(self):
        (self.folder / "runs").mkdir()
        job = {"SLURM_JOB_ID": "47", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
        name = "runs/%j/100%%/rank%r/u.json"
        done = self.run_rank("-q", "-o", name, command=("sh", "-c", "exit 3"), **job)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        made = self.folder / "runs" / "47" / "100%" / "rank1"
        self.assertIn("max_ram", json.loads((made / "u.json").read_text()))
        done = self.run_rank("-q", "-o", "runs/%j/rank%r/u.json", command=("./no-such-command",), **job)
        self.assertEqual(done.returncode, 127)
        self.assertEqual([path.name for path in (self.folder / "runs" / "47").iterdir()], ["100%"])
        done = self.run_rank("-q", "-o", "missing/%r/u.json")
        self.assertEqual((done.returncode, (self.folder / "missing" / "0" / "u.json").exists()), (0, True), done.stderr)

    def test_trackers_at_once_take_numbers_of_their_own(self):
        """%n is the number of a file that is made at once: none replaces another's, and no command is refused."""
        line = [COMMAND, "run", "-q", "--tf", "s%n.csv", "-o", "u%n.json", "--energy-folder", "power%n", "--", "cat"]
        held = [subprocess.Popen(line, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for _ in range(6)]  # fmt: skip
        for tracker in held:
            _, said = tracker.communicate(timeout=PATIENCE)
            self.assertEqual(tracker.returncode, 0, said)
            self.assertNotIn("exist", said)
        self.assertEqual(self.names(), sorted(f"{name}{number}{end}" for number in range(6) for name, end in
                                              (("s", ".csv"), ("u", ".json"), ("power", ""))))  # fmt: skip
        for number in range(6):
            self.assertIn("max_ram", json.loads((self.folder / f"u{number}.json").read_text()))
            self.assertTrue((self.folder / f"power{number}" / "power_metrics.json").exists())

    def test_a_report_finds_the_samples_of_its_rank(self):
        if "report" not in subprocess.run([command.COMMAND, "help"], capture_output=True, text=True).stdout:
            self.skipTest("built without reports")
        done = self.run_rank("--report", "x.html", "--tf", "s.csv", PMI_RANK="0", PMI_SIZE="2")
        if "not built" in done.stderr or "npm" in done.stderr:
            self.skipTest("built without the page of reports")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), ["s.r0.csv", "x.r0.html"])

    # ---- figures of the machine ----

    def start_rank(self, rank, go="go", **variables):
        """Both are children of this process, which stands for the launcher. The command ends when there is a file `go`."""
        tracker = subprocess.Popen(
            [command.COMMAND, "run", "-q", "--st", "0.05", "--resource-usage-file", "kept", "-o", "r.json", "--",
             "sh", "-c", f"while [ -d {self.folder} ] && ! [ -e {go} ]; do sleep 0.05; done"],
            cwd=self.folder, env={**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": "2", **variables}, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(lambda: ((self.folder / go).touch(), tracker.wait(command.PATIENCE)))
        return tracker

    def shown(self, rank):
        """The results so far."""
        if not (self.folder / f"kept.r{rank}").exists():
            return {}
        done = subprocess.run(
            [command.COMMAND, "show", "-f", "json", f"kept.r{rank}"], cwd=self.folder, capture_output=True, text=True)  # fmt: skip
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def node_seconds(self, rank):
        return self.shown(rank).get("tracker", {}).get("node_seconds")

    def test_one_tracker_reads_the_machine_and_another_takes_over(self):
        first = self.start_rank(0)
        command.wait_until(lambda: self.node_seconds(0))
        second = self.start_rank(1)
        command.wait_until(lambda: self.node_seconds(1) == 0)
        report = self.shown(1)
        self.assertEqual(report["sources"]["system"]["state"], "unavailable")
        self.assertIn(f"(rank 0, process {first.pid})", report["sources"]["system"]["reason"])
        self.assertIsNone(report["max_ram"]["system"])
        self.assertGreater(self.shown(0)["max_ram"]["system"], 0)
        first.kill()
        command.wait_until(lambda: self.node_seconds(1))
        (self.folder / "go").touch()
        self.assertEqual(second.wait(command.PATIENCE), 0)
        report = json.loads((self.folder / "r.r1.json").read_text())
        self.assertGreater(report["max_ram"]["system"], 0)
        self.assertIn("s: the tracker of another rank read it, and none did for up to the last ", report["sources"]["system"]["reason"])

    def test_joules_of_the_machine_count_once_whoever_reads_them(self):
        """The second reads when the first has ended. Of a part of its time it gives no mean power."""
        machine = Machine(self.folder / "sys")
        machine.add("intel-rapl:0", "package-0", joules=1000)
        variables = {name: machine.environment()[name] for name in ("GPUT_SYSFS", "GPUT_NVML")}
        joules = 1000

        def moves_and_is_read(rank):
            nonlocal joules
            joules += 1
            machine.counter("intel-rapl:0").write_text("%020d\n" % (joules * 1_000_000))
            return "energy" in self.shown(rank)

        first = self.start_rank(0, go="go0", **variables)
        command.wait_until(lambda: self.node_seconds(0))
        second = self.start_rank(1, go="go1", **variables)
        command.wait_until(lambda: self.node_seconds(1) == 0)
        for rank, tracker in enumerate((first, second)):
            command.wait_until(lambda rank=rank: moves_and_is_read(rank))
            (self.folder / f"go{rank}").touch()
            self.assertEqual(tracker.wait(command.PATIENCE), 0)
        reports = [json.loads((self.folder / f"r.r{rank}.json").read_text()) for rank in range(2)]
        energy = [report["energy"] for report in reports]
        read = [of["machine"]["package"] for of in energy]
        self.assertGreater(min(read), 0)
        self.assertLessEqual(sum(read), joules - 1000)
        # On a busy machine the first, too, may have begun to read after a part of its time.
        has_read_all = reports[0]["tracker"]["node_seconds"] >= 0.98 * reports[0]["compute_time"]["time"] * 3600
        self.assertEqual(energy[0]["mean_watts"] is not None, has_read_all, reports[0]["tracker"])
        self.assertIsNone(energy[1]["mean_watts"])
        done = subprocess.run([COMMAND, "job", "-f", "json", "."], cwd=self.folder, capture_output=True, text=True, check=True)
        job = json.loads(done.stdout)
        self.assertAlmostEqual(job["jobs"][0]["energy_joules"], sum(read))
        self.assertGreater(job["machines"][0]["unread_seconds"], 0)  # what neither read is not lost without a word

    def test_the_older_report_reads_the_machine_itself(self):
        self.start_rank(0)
        command.wait_until(lambda: self.node_seconds(0))
        done = self.run_rank("-f", "text", PMI_RANK="1", PMI_SIZE="2")
        self.assertRegex(done.stderr, r"System capacity: [\d.]+\n   System: [\d.]*[1-9]")

    def test_under_mpirun(self):
        mpirun = shutil.which("mpirun")
        if not mpirun:
            self.skipTest("mpirun is not installed (Debian: openmpi-bin)")
        done = subprocess.run(
            [mpirun, "--allow-run-as-root", "--oversubscribe", "-np", "3", command.COMMAND, "run", "-q", "--st", "0.1",
             "--tf", "s.csv", "-o", "r.json", "--", "sleep", "0.2"],
            cwd=self.folder, capture_output=True, text=True, timeout=command.PATIENCE)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), [f"{name}.r{rank}.{ending}" for name, ending in (("r", "json"), ("s", "csv")) for rank in range(3)])


if __name__ == "__main__":
    command.main()
