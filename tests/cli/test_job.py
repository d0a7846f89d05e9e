"""gpu-tracker job: the results of many ranks as one job, and what is said of bad ones."""

import csv
import datetime
import io
import json
import os
import re
import subprocess

import command
from analysis_files import row, write_tracking
from job_test import NAMES, JobTest, sampled_ram


class Job(JobTest):
    # ---- files of other kinds ----

    def test_each_table_by_itself_and_ranks_in_their_order(self):
        for rank, machine in (0, "n2"), (1, "n1"), (2, "n10"), (10, "n1"):
            self.rank(rank, machine=machine, world=12)
        self.assertEqual([row["rank"] for row in self.job()["ranks"]], [0, 1, 2, 10])
        listed = re.findall(r"(?m)^ +(\d+)  n\d+ ", self.run_command(".").stdout)
        self.assertEqual(listed, ["0", "1", "2", "10"])
        for table in "jobs", "machines", "ranks", "findings":
            rows = list(csv.DictReader(io.StringIO(self.run_command("--table", table, "-f", "csv", ".").stdout)))
            self.assertEqual(len(rows), len(self.job()[table]))
            self.assertEqual(list(rows[0]), list(self.job()[table][0]))
        self.assertIn("8 ranks are missing: 3-9, 11", self.run_command("--table", "findings", "-f", "csv", ".").stdout)
        self.assertEqual(json.loads(self.run_command("--table", "jobs", "-f", "json", ".").stdout), self.job()["jobs"])
        self.assertNotIn("wall_time", self.run_command("--table", "findings", ".").stdout)

    def test_the_efficiency_of_a_rank_says_what_it_is_of(self):
        for rank in 0, 1:
            self.rank(rank, world=2, cpu=45, allowed={"cores": 4, "cpuset_cores": 4})
        for row in self.job()["ranks"]:
            self.assertEqual((row["cores"], row["busy_cores"]), (4, 0.45))
            self.assertAlmostEqual(row["efficiency_percent"], 100 * row["busy_cores"] / row["share_cores"])
            self.assertEqual(row["share_cores"], 2)  # two ranks share four cores

    def test_files_of_marks_are_called_what_they_are(self):
        self.rank(0)
        for name in "blocks.csv", "other.csv":
            (self.folder / name).write_text("process_id,thread_id,code_block_name,position,timestamp\n1,1,a,0,1.0\n1,1,a,1,2.0\n")
        said = self.findings()
        self.assertEqual(said["marks"], "./blocks.csv and 1 more have marks of code blocks: gpu-tracker sub-track analyze shows their code blocks")
        self.assertNotIn("unreadable", said)

    def test_a_truncated_line_is_not_called_no_row(self):
        path = self.folder / "s.csv"
        subprocess.run([command.COMMAND, "run", "-q", "--st", "0.05", "--tf", path, "--", "sleep", "0.2"], check=True)
        path.write_bytes(path.read_bytes()[:-20])
        self.assertRegex(self.findings("s.csv")["damaged"], r"^s.csv is damaged: .*the last line is truncated")

    # ---- figures ----

    def test_what_a_job_used(self):
        for rank in range(4):
            self.rank(rank, machine=f"n{rank // 2}", ram=(rank + 1) * 1e9)
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["name"], job["ranks"], job["world_size"], job["missing"], job["machines"]), ("4711", 4, 4, 0, 2))
        self.assertEqual((job["seconds"], job["cpu_seconds"], job["cores"], job["efficiency_percent"]), (100, 360, 4, 90))
        self.assertEqual(job["max_ram_bytes"], 4e9)
        self.assertIsInstance(job["max_ram_bytes"], int)
        self.assertEqual((job["gpus"], job["max_gpu_ram_bytes"]), (0, None))
        self.assertEqual([machine["max_ram_bytes"] for machine in read["machines"]], [3e9, 7e9])
        self.assertEqual([rank["rank"] for rank in read["ranks"]], [0, 1, 2, 3])
        self.assertEqual(read["findings"], [])
        text = self.run_command(".").stdout
        self.assertIn("Job 4711 (Open MPI): 4 ranks on 2 machines, 1 min 40 s\n  Command  true\n  CPU      [||||||||||||||||||  ] 3.6 of 4 cores busy (90 %), 6 min 0 s of CPU time\n", text)
        rows = list(csv.DictReader(io.StringIO(self.run_command("-f", "csv", ".").stdout)))
        self.assertEqual([row["rank"] for row in rows], ["0", "1", "2", "3"])

    def test_a_job_that_hardly_used_its_cores_has_the_words_of_a_summary(self):
        for rank in range(4):
            self.rank(rank, cpu=0.001)
        self.assertIn("\n  CPU      [                    ] under 0.01 of 4 cores busy (under 1 %), 4 ms of CPU time\n", self.run_command(".").stdout)
        self.assertIn("kept under 0.01 of its 4 cores busy (under 1 %)", self.findings()["idle_cores"])

    def test_a_session_of_several_ranks_is_one_session(self):
        self.rank(0)
        path = next(self.folder.iterdir())
        report = json.loads(path.read_text())
        report["job"].update(rank=None, ranks="0-2", world_size=3)
        path.write_text(json.dumps(report))
        text = self.run_command(".").stdout
        self.assertIn("1 session of ranks 0-2 on 1 machine,", text)
        self.assertIn("\n    0-2  n1 ", text)
        self.assertIn(" in the largest session\n", text)
        self.assertNotIn("missing", text)

    def test_ranks_of_descendants_that_were_not_seen_are_not_missing(self):
        path = self.rank(0, job="5", world=2)
        report = json.loads(path.read_text())
        report["job"].update(rank=None, ranks="1", ranks_of="descendants")
        path.write_text(json.dumps(report))
        text = self.run_command(".").stdout
        self.assertIn("1 session of rank 1 (known: 1 of 2) on 1 machine,", text)
        self.assertNotIn("missing", text)
        (job,) = self.job()["jobs"]
        self.assertEqual((job["missing"], job["known_ranks"], job["world_size"]), (0, 1, 2))
        report["job"].update(ranks="0,1")
        path.write_text(json.dumps(report))
        self.assertIn("1 session of ranks 0,1 on 1 machine,", self.run_command(".").stdout)

    def launcher_session(self, **more):
        path = self.rank(0, name="outer.json", world=2, **more)
        report = json.loads(path.read_text())
        report["identity"]["pid"] = 99
        report["job"] |= {"rank": None, "ranks": "0,1", "ranks_of": "descendants"}
        path.write_text(json.dumps(report))

    def test_the_session_of_a_launcher_is_no_rank_where_its_ranks_have_files(self):
        for rank in range(2):
            self.rank(rank, world=2, start=1, identity={"exit_status": 3})
        gpus = [{"uuid": "a", "name": "GPU", "energy_joules": 500}]
        self.launcher_session(seconds=102, cpu=180, identity={"exit_status": 3}, members={"gpus": gpus})
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["ranks"], job["world_size"], job["missing"], job["failed"], job["known_ranks"]), (2, 2, 0, 2, None))
        self.assertEqual((job["cpu_seconds"], job["slowest_seconds"], job["imbalance_percent"], job["gpus"]), (180, 100, 0, 0))
        self.assertEqual([(rank["rank"], rank["is_straggler"]) for rank in read["ranks"]], [(0, 0), (1, 0)])
        findings = {finding["kind"]: f"{finding['text']}: {finding['evidence']}" for finding in read["findings"]}
        self.assertIn("2 of 2 ranks failed", findings["failed_ranks"])
        self.assertEqual(
            findings["launcher"].replace("./", ""),
            "outer.json is the session of the launcher, and no rank: 2 of its ranks have files of their own: "
            "its figures are of these ranks together, and are not added: 3 min 0 s of CPU time; exit status 3")  # fmt: skip
        (self.folder / "r.r1.json").unlink()
        self.assertEqual(self.job()["jobs"][0]["missing"], 1)
        self.assertIn("1 rank is missing: 1", self.findings()["missing_ranks"])

    def test_a_session_within_that_of_a_script_counts_once(self):
        """gpu-tracker run -- a script with gpu-tracker run -- mpirun …: neither knows one rank alone."""
        self.launcher_session(seconds=102, cpu=180)
        inner = {"job": {"launcher": "Open MPI", "job_id": "4711", "rank": None, "ranks": "0-1", "ranks_of": "descendants", "world_size": 2, "node": "n1"}}
        self.rank(7, name="inner.json", start=1, cpu=170, members=inner)
        (job,) = self.job()["jobs"]
        self.assertEqual((job["ranks"], job["cpu_seconds"]), (1, 170))
        self.assertIn("outer.json is the session of the launcher, and no rank: 2 of its ranks have files of their own", self.findings()["launcher"])

    def test_other_sessions_are_not_within_that_of_a_launcher(self):
        self.launcher_session()
        self.rank(0, world=2, start=200)  # later
        self.rank(1, world=2, job="4712")  # of another job
        self.rank(1, world=2, machine="n2", name="far.json")
        self.assertNotIn("launcher", self.findings())

    def test_both_wrappers_at_once(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(NAMES)}
        for seconds in 1, 4, 16:  # on a busy machine ranks are seen later
            inner = f"{command.COMMAND} run -q --st 0.1 -o r.json --overwrite -- sleep {seconds}"
            script = " & ".join(f"PMI_RANK={rank} PMI_SIZE=2 sh -c '{inner}; :'" for rank in range(2)) + " & wait"
            words = [command.COMMAND, "run", "-q", "--st", "0.1", "-o", "outer.json", "--overwrite", "--", "sh", "-c", script]
            subprocess.run(words, check=True, cwd=self.folder, env=environment, timeout=command.PATIENCE)
            if "descendants" in (self.folder / "outer.json").read_text():
                break
        read = self.job()
        self.assertEqual([(job["ranks"], job["missing"], job["known_ranks"]) for job in read["jobs"]], [(2, 0, None)])
        self.assertEqual([rank["path"] for rank in read["ranks"]], ["./r.r0.json", "./r.r1.json"])
        self.assertEqual([finding["job"] for finding in read["findings"] if finding["kind"] == "launcher"], [None])

    def went(self, seconds, **causes):
        """Where the time of a rank's main thread went."""
        names = [name for name in json.loads(self.report)["time_went"] if name.endswith("_seconds")]
        parts = {name: causes.get(name.removesuffix("_seconds"), 0) for name in names}
        return {"time_went": parts | {"seconds": seconds, "samples": 200, "computing_seconds": seconds - sum(parts.values())}}

    def test_the_worst_ranks_come_first_and_all_fits_one_screen(self):
        for rank in range(8):
            self.rank(rank, world=8, seconds=200 if rank == 5 else 100, identity={"exit_status": int(rank == 6)})
        text = self.run_command(".").stdout
        self.assertEqual(re.findall(r"^ +(\d) +n1 ", text, re.M), list("65012347"))
        for rank in range(8, 200):
            self.rank(rank, world=200, seconds=100, machine=f"n{rank // 8}")
        for path in self.folder.glob("r.r*.json"):
            report = json.loads(path.read_text())
            report["job"]["world_size"] = 200
            path.write_text(json.dumps(report))
        text = self.run_command(".").stdout
        self.assertEqual(re.findall(r"^ +(\d) +n1 ", text, re.M), list("65"))
        self.assertIn("and 198 more (-f csv lists all)", text)
        self.assertLessEqual(len(text.splitlines()), 24)

    def test_a_straggler_has_its_reason(self):
        for rank in range(4):
            is_slow = rank == 2
            seconds = 150 if is_slow else 100
            waits = {"cpu_wait": 61.5} if is_slow else {"cpu_wait": 3, "pipe": 5}
            self.rank(rank, machine=f"n{rank}", seconds=seconds, system_percent=780 if is_slow else 100, members=self.went(seconds, **waits))
        findings = self.findings()
        reason = "waiting for a CPU for 41 % of its time (1 min 2 s), the others for 3 % (3 s)"
        self.assertIn(f"rank 2 on n2: 2 min 30 s, 1 min 30 s of CPU time; {reason}", findings["stragglers"])
        self.assertIn(f"1 rank was held up far longer than the others, which may wait for it: rank 2 on n2: {reason}", findings["held_ranks"])
        self.assertIn("All programs there used 7.8 of 8 cores", findings["held_ranks"])
        read = self.job()
        self.assertEqual([round(rank["cpu_wait_percent"]) for rank in read["ranks"]], [3, 3, 41, 3])
        self.assertEqual([rank["time_went_pipe_seconds"] for rank in read["ranks"]], [5, 5, 0, 5])
        text = self.run_command(".").stdout
        self.assertRegex(text, r"\n   rank  machine .* CPU wait .*\n")
        self.assertRegex(text, r"\n      2  n2 .* 41 % .* straggler\n")

    def test_a_rank_of_which_it_is_not_known_where_the_time_went_has_no_reason(self):
        for rank in range(3):
            went = self.went(100, cpu_wait=1 if rank else 60)
            unknown = {name: None for name in went["time_went"]}
            self.rank(rank, seconds=100 if rank else 150, members=went if rank else {"time_went": unknown})
        findings = self.findings()
        self.assertIn("stragglers", findings)
        self.assertNotIn("waiting for a CPU", findings["stragglers"])
        self.assertNotIn("held_ranks", findings)
        self.assertEqual([rank["cpu_wait_percent"] for rank in self.job()["ranks"]], [None, 1, 1])
        self.assertNotIn("CPU wait", self.run_command(".").stdout)

    def test_who_is_slow_and_who_waits(self):
        for rank in range(4):
            self.rank(rank, cpu=95 if rank == 2 else 20)
        read = self.job()
        self.assertEqual([rank["is_straggler"] for rank in read["ranks"]], [0, 0, 1, 0])
        self.assertEqual(read["jobs"][0]["busiest_rank"], 2)
        waited = [rank["waited_seconds"] and round(rank["waited_seconds"]) for rank in read["ranks"]]
        self.assertEqual(waited, [79, 79, None, 79])  # the busiest may spin while it waits
        findings = self.findings()
        self.assertIn("rank 2 on n1: 1 min 40 s, 1 min 35 s of CPU time", findings["stragglers"])
        self.assertIn("the busiest rank needs 375 % more CPU time than the median", findings["imbalance"])
        self.assertIn("The ranks waited for about 59 % of their time: the most: rank 0 on n1, 1 min 19 s; an estimate: time in which", findings["waiting"])
        self.assertIn("kept 1.6 of its 4 cores busy", findings["idle_cores"])

    def test_ranks_that_spin_waited_as_long_as_their_regions_say(self):
        def blocks(**seconds):
            return {"regions": {"code_blocks": [{"name": f"mpi:{name}", "compute_time": {"total": total}} for name, total in seconds.items()]}}

        for rank in range(2):
            self.rank(rank, world=3, members=blocks(**{"collective/MPI_Barrier": 30.5 * rank, "wait/MPI_Wait": 1, "process/MPI_Init": 9}))
        self.rank(2, world=3)
        read = self.job()
        self.assertEqual([rank["waited_seconds"] for rank in read["ranks"]], [1, 31.5, None])
        self.assertEqual(read["jobs"][0]["waited_seconds"], 32.5)
        self.rank(1, world=3, members=blocks(**{"collective/MPI_Barrier": 80}))
        self.assertIn("rank 1 on n1, 1 min 20 s; time in calls of MPI, by the regions of this rank", self.findings()["waiting"])

    def test_a_core_group_is_shared_and_slurm_knows_best(self):
        for rank in range(4):
            self.rank(rank, allowed={"cores": 8, "cpuset_cores": 8})
        self.assertEqual(self.job()["jobs"][0]["cores"], 8)
        for rank in range(4):
            self.rank(rank, allowed={"cores": 4, "slurm_cores": 4})
        self.assertEqual(self.job()["jobs"][0]["cores"], 4)

    def test_elements_of_an_array_have_their_cores_while_they_run(self):
        """Three of one core and 100 seconds each on one machine: two at once, then one."""
        for element in range(3):
            members = {"job": {"launcher": "Slurm", "job_id": f"4711_{element}", "rank": None, "world_size": None, "node": "n1", "task": str(element)}}
            self.rank(element, start=100 * (element // 2), cpu=30 + 30 * element, allowed={"slurm_cores": 1, "cores": 8}, members=members)
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["ranks"], job["seconds"], job["cores"], job["efficiency_percent"], job["waited_seconds"]), (3, 200, 1.5, 60, None))
        self.assertEqual([rank["efficiency_percent"] for rank in read["ranks"]], [30, 60, 90])
        self.assertEqual([finding["kind"] for finding in read["findings"]], ["stragglers"])
        self.assertIn("\n  CPU      [||||||||||||        ] 0.9 of 1.5 cores busy on average (60 %), 3 min 0 s of CPU time\n", self.run_command(".").stdout)

    def test_who_failed_first_is_said(self):
        """Launchers end the others, on another machine whose clock is an hour ahead, too."""
        for rank in range(20):
            first = rank == 13
            end = {"exit_status": None, "signal": 9 if first else 15}
            self.rank(rank, world=20, machine=f"n{rank // 10}", clock=3600 * (rank // 10), seconds=99 if first else 100, identity=end)
        said = self.findings()["failed_ranks"]
        self.assertTrue(said.startswith("20 of 20 ranks failed, rank 13 on n1 first: rank 13 on n1: ended by signal 9; rank 0 on n0: ended by signal 15;"), said)
        self.assertEqual(said.count("signal 15"), 7)

    def test_sessions_of_one_rank_are_distinguished(self):
        for number, more in enumerate([{"step": "0"}, {"step": "1"}, {"step": "1", "restarts": 1}]):
            members = {"job": {"launcher": "Slurm", "job_id": "4711", "rank": 0, "world_size": 1, "node": "n1"} | more}
            self.rank(0, start=500 * number, name=f"r{number}.json", identity={"pid": 7 + number}, members=members)
        rows = list(csv.DictReader(io.StringIO(self.run_command("-f", "csv", ".").stdout)))
        seen = [(row["job"], row["job_id"], row["step"], row["pid"], row["restarts"]) for row in rows]
        self.assertEqual(seen, [("0", "4711", "0", "7", ""), ("1", "4711", "1", "8", ""), ("2", "4711", "1", "9", "1")])

    def test_tasks_have_their_numbers(self):
        for task in 3, 12:
            members = {"job": {"launcher": None, "job_id": None, "rank": None, "world_size": None, "node": "n1", "task": str(task)}}
            self.rank(task, name=f"usage.{'x' * task}.json", members=members, identity={"exit_status": 1 if task == 12 else 0})
        self.assertEqual([(rank["rank"], rank["task"]) for rank in self.job()["ranks"]], [(None, "3"), (None, "12")])
        self.assertRegex(self.run_command(".").stdout, r"\n +12  n1 .*\n +3  n1 ")
        self.assertIn("task 12 on n1: exit status 1", self.findings()["failed_ranks"])

    # ---- bad days ----

    def test_workers_that_their_launcher_stops(self):
        ends = [("Ray", 1, None), ("Ray", 2, None), ("Spark", 143, None), ("Spark", None, 15), ("Spark", 1, None), ("Open MPI", 143, None)]
        for number, (launcher, status, signal) in enumerate(ends):
            members = {"job": {"launcher": launcher, "job_id": "4711", "rank": None, "world_size": None, "node": "n1"}}
            self.rank(number, name=f"w{'abcdef'[number]}.json", identity={"exit_status": status, "signal": signal}, members=members)
        ranks = sorted(self.job()["ranks"], key=lambda rank: rank["path"])
        self.assertEqual([rank["stopped_by"] for rank in ranks], ["Ray", None, "Spark", "Spark", None, None])
        self.assertEqual(self.job()["jobs"][0]["failed"], 3)
        self.assertIn("3 of 6 sessions failed", self.findings()["failed_ranks"])
        text = self.run_command(".").stdout
        self.assertEqual((text.count("stopped by Ray"), text.count("stopped by Spark")), (1, 2))

    def test_missing_and_failed_ranks(self):
        for rank in 0, 1, 5:
            self.rank(rank, world=8, identity={"exit_status": None, "signal": 9} if rank == 5 else {})
        findings = self.findings()
        self.assertIn("5 ranks are missing: 2-4, 6-7", findings["missing_ranks"])
        self.assertIn("1 of 3 ranks failed: rank 5 on n1: ended by signal 9", findings["failed_ranks"])
        self.assertIn("3 of 8 ranks", self.run_command(".").stdout)

    def test_a_node_that_is_gone(self):
        for rank in range(8):
            path = self.rank(rank, machine=f"n{rank // 2}", world=8)
            if rank // 2 == 2:
                path.unlink()
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["ranks"], job["missing"], job["machines"], job["cpu_seconds"]), (6, 2, 3, 540))
        self.assertEqual(self.findings()["missing_ranks"], "2 ranks are missing: 4-5: the world size is 8, and there are files of 6 ranks")

    def test_runs_of_a_launcher_without_ids_are_named_by_it(self):
        for rank, run in (0, "n1:2"), (1, "n1:1"):
            job = {"launcher": "MPICH", "job_id": None, "run": run, "rank": 0, "world_size": 1, "node": "n1"}
            self.rank(rank, start=rank, members={"job": job})
        self.assertEqual(re.findall("(?m)^Job (.*?):", self.run_command(".").stdout), ["MPICH", "MPICH, run 2"])

    def test_machines_of_which_there_is_nothing_are_named(self):
        for rank, node in (0, 0), (1, 0), (4, 2):
            job = {"launcher": "Slurm", "job_id": "4711", "rank": rank, "world_size": 8, "node": f"n{node}", "node_rank": node, "node_count": 4}
            self.rank(rank, machine=f"n{node}", members={"job": job})
        self.assertTrue(self.findings()["missing_ranks"].endswith("; 2 of 4 machines have no files: those with the numbers 1, 3"))

    def test_ranks_without_numbers(self):
        for i, seconds in enumerate((100, 100, 200)):
            members = {"job": {"launcher": "PBS", "job_id": "4711", "rank": None, "world_size": None, "node": "n1"}}
            self.rank(i, seconds=seconds, name=f"part{'abc'[i]}.json", members=members)
        text = self.run_command(".").stdout
        self.assertIn("slowest session: 3 min 20 s, median 1 min 40 s; busiest session: ", text)
        self.assertNotIn("nan", text)
        self.assertRegex(text, r"\n +-  n1 .*  exit 0  parta.json\n")  # by which they are distinguished
        self.assertRegex(text, r"\n +-  n1 .*  exit 0, straggler  partc.json\n")

    def test_jobs_of_gnu_parallel_are_tasks(self):
        for i in range(3):
            members = {"job": {"launcher": None, "job_id": None, "task": str(i + 1), "rank": None, "world_size": None, "node": "n1"}}
            self.rank(i, name=f"usage.{i + 1}.json", seconds=300 if i == 2 else 100, cpu=20, members=members, identity={"exit_status": i % 2})
        text = self.run_command(".").stdout
        self.assertIn("Job of GNU parallel: 3 tasks on 1 machine, ", text)
        self.assertIn(" in the largest task\n  Balance  slowest task ", text)
        self.assertIn("\n   task  machine ", text)
        self.assertIn("1 of 3 tasks failed.\n    task 2 on n1: exit status 1\n", text)
        self.assertIn("or run more tasks or threads", text)
        self.assertNotIn("rank", text)

    def test_two_runs_of_gnu_parallel_are_two_jobs(self):
        for i, run in enumerate(("1940", "1950", "1940", "1950")):
            members = {"job": {"launcher": None, "job_id": None, "task": str(i // 2 + 1), "step": run, "rank": None, "world_size": None, "node": "n1"}}
            self.rank(i, name=f"usage.{run}.{i}.json", members=members)
        self.assertEqual([(job["name"], job["ranks"]) for job in self.job()["jobs"]], [("of GNU parallel (pid 1940)", 2), ("of GNU parallel (pid 1950)", 2)])

    def test_others_of_a_machine_with_two_names_count_once(self):
        """As two pods, or nodes of Slurm: all 8 cores of it are busy."""
        for rank in range(4):
            self.rank(rank, machine=f"n{rank // 2}", cpu=20, system_percent=780, identity={"boot_id": "the-same"})
        said = self.findings()["shared_cores"]
        self.assertIn("The job used 0.8 of its 4 cores (20 %); others kept 3.0 of them busy", said)

    def step(self, name, start, seconds, **more):
        members = {"job": {"launcher": None, "job_id": None, "rank": None, "world_size": None, "node": "n1"} | more.pop("of", {})}
        return self.rank(ord(name[0]), name=f"{name}.json", start=start, seconds=seconds, members=members, **more)

    def test_steps_one_after_the_other_are_a_list_and_no_job(self):
        """Nothing but their folder says that they belong together: none is compared with another, and nobody held cores between them."""
        self.step("prepare", 0, 100, cpu=20, allowed={"cores": 4})
        self.step("train", 160, 900, cpu=90, allowed={"cores": 4})
        self.step("test", 1100, 10, cpu=9, allowed={"cores": 4})
        text = self.run_command(".").stdout
        self.assertTrue(text.startswith("3 sessions on 1 machine, 16 min 50 s of 18 min 30 s from the first start to the last end (separate runs, not one job)\n"), text)
        self.assertIn("\n  CPU      0.12 of 4 cores busy (3 %), 1 min 59 s of CPU time\n", text)
        for word in "Job", "job kept", "ask for fewer", "straggler", "Balance", "waited", "uneven", "rank":
            self.assertNotIn(word, text)
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["is_list"], job["ranks"], job["seconds"], job["run_seconds"], job["cpu_seconds"]), (1, 3, 1110, 1010, 119))
        self.assertEqual([row["path"] for row in read["ranks"]], ["./prepare.json", "./train.json", "./test.json"])  # in their order
        self.assertEqual([row["is_straggler"] for row in read["ranks"]], [0, 0, 0])
        self.assertEqual(read["findings"], [])

    def test_a_list_says_what_each_session_ran_where_that_differs(self):
        for number, name in enumerate(("prepare", "train")):
            self.step(name, 200 * number, 100, identity={"command": f"python3 {name}.py"})
        text = self.run_command(".").stdout
        self.assertRegex(text, r"exit 0  prepare.json  python3 prepare.py\n.*exit 0  train.json  python3 train.py\n")
        self.assertNotIn("Command", text)

    def test_names_with_numbers_make_no_ranks_of_steps(self):
        for number in 0, 1:
            self.step(f"{'ab'[number]}.r{number}", 100 * number, 90 if number else 20)
        (job,) = self.job()["jobs"]
        self.assertEqual((job["is_list"], job["slowest_rank"]), (1, None))
        self.assertIn("2 sessions on 1 machine", self.run_command(".").stdout)

    def test_what_ran_together_is_compared(self):
        for number, seconds in enumerate((100, 100, 100, 300)):
            self.step("abcd"[number], number, seconds)
        read = self.job()
        self.assertEqual((read["jobs"][0]["is_list"], [row["is_straggler"] for row in read["ranks"]]), (0, [0, 0, 0, 1]))

    def test_one_session_is_advised_by_its_own_cores(self):
        self.step("a", 0, 100, cpu=1, allowed={"cores": 4})
        self.assertIn("The session kept 0.01 of its 4 cores busy (under 1 %): ask for fewer", self.findings()["idle_cores"])

    def test_ranks_of_an_element_of_an_array_are_ranks(self):
        for rank in range(2):
            self.rank(rank, world=2, cpu=90 if rank else 20, members={"job": {
                "launcher": "Slurm", "job_id": "12_3", "task": "3", "step": "0", "rank": rank, "world_size": 2, "node": "n1"}})  # fmt: skip
        text = self.run_command(".").stdout
        self.assertIn(": 2 ranks on 1 machine", text)
        self.assertIn("The ranks waited for about ", text)

    def test_ranks_that_only_the_names_of_files_have(self):
        for rank in 0, 1, 10:
            members = {"job": {"launcher": "", "job_id": "", "rank": None, "world_size": None, "node": "n1"}}
            self.rank(rank, ram=(rank + 1) * 1e9, name=f"solve.r{rank}.json", members=members)
        read = self.job()
        self.assertEqual([(rank["rank"], rank["max_ram_bytes"]) for rank in read["ranks"]], [(0, 1e9), (1, 2e9), (10, 11e9)])
        self.assertEqual(len(read["jobs"]), 1)

    def test_the_number_in_the_name_of_an_array_s_element_makes_no_job_of_it(self):
        for element in 1, 2:
            members = {"job": {"launcher": "Slurm", "job_id": f"4711_{element}", "rank": None, "world_size": None, "node": "n1"}}
            self.rank(element, name=f"usage.r{element}.json", members=members)
        self.assertEqual([job["name"] for job in self.job()["jobs"]], ["4711 (array)"])

    def test_a_rank_without_an_end(self):
        self.rank(0, world=1, identity={"end": None, "exit_status": None})
        self.assertIn("The end of 1 rank is not known: still running, or the tracker was killed", self.findings()["unfinished_ranks"])

    def test_a_process_that_tracked_itself_goes_on(self):
        self.rank(0, world=1, identity={"exit_status": None})
        self.assertNotIn("unfinished_ranks", self.findings())
        self.assertRegex(self.run_command(".").stdout, "tracking ended\n")

    def test_files_that_cannot_be_read_are_named_and_the_rest_stands(self):
        for rank in range(4):
            self.rank(rank)
        path = self.folder / "r.r3.json"
        path.write_text(path.read_text()[:1000])
        (self.folder / "r.r2.json").write_text("")
        (self.folder / "s.csv").write_text("ram_unit,gpu_ram_unit\ngigabytes,gigabytes\n")
        (self.folder / "loss.csv").write_text("epoch,loss\n1,0.5\n")
        (self.folder / "notes.txt").write_text("of somebody else")
        (self.folder / "r.r3.json.spooled").write_text("host n1\nfolder /tmp/gpu-tracker-x\n")
        read = self.job()
        self.assertEqual(read["jobs"][0]["ranks"], 2)
        texts = "\n".join(f"{finding['text']} {finding['evidence']}" for finding in read["findings"])
        self.assertIn("2 ranks are missing: 2-3", texts)
        self.assertIn("r.r3.json could not be read", texts)
        self.assertIn("r.r2.json is empty: its tracker was ended before it could write", texts)
        self.assertIn("s.csv could not be read", texts)
        self.assertIn("its files stayed where they were spooled host n1, folder /tmp/gpu-tracker-x", texts)
        self.assertNotIn("loss.csv", texts)
        self.assertIn("2 other files were ignored.", self.run_command(".").stdout)
        self.assertIn("loss.csv could not be read", self.findings("loss.csv", "r.r0.json")["unreadable"])

    def test_a_rank_whose_files_are_on_another_machine_is_all_there_is(self):
        (self.folder / "s.csv.spooled").write_text("host n1\nfolder /tmp/gpu-tracker-x\n")
        said = self.run_command(".", status=1).stderr
        self.assertEqual(said, "gpu-tracker: There are no results of sessions in ., but files stayed where they were spooled: host n1, folder /tmp/gpu-tracker-x.\n")
        (self.folder / "s.csv.spooled").write_text("half")
        said = self.run_command(".", status=1).stderr
        self.assertEqual(said, "gpu-tracker: There are no results of sessions in .: ./s.csv.spooled does not say where files were spooled: they may still be there.\n")

    def test_its_own_output_is_left_alone(self):
        self.rank(0, world=1)
        for name in "j.csv", "j.json":
            self.run_command(".", "-o", name, "-f", name[2:])
        self.assertNotIn("unreadable", self.findings())
        text = self.run_command(".").stdout
        self.assertIn("2 other files were ignored.", text)

    def test_ranks_of_different_versions(self):
        self.rank(0, world=2)
        path = self.rank(1, world=2, identity={"version": "0.9.0"})
        self.assertIn("1.0.0 and 0.9.0", self.findings()["versions"])
        report = json.loads(path.read_text())
        del report["identity"], report["job"]  # of a version that knew no jobs
        path.write_text(json.dumps(report))
        read = self.job()
        self.assertEqual(sorted(rank["rank"] for rank in read["ranks"]), [0, 1])  # by its name
        self.assertEqual(len(read["jobs"]), 2)

    def test_two_jobs_in_one_folder(self):
        for rank in range(2):
            self.rank(rank, world=2)
            self.rank(rank, world=2, job="4712", name=f"other{rank}.json", start=50)
            self.rank(rank, world=2, start=500, name=f"again{rank}.json")  # the same job's next mpirun
        read = self.job()
        self.assertEqual([(job["name"], job["ranks"]) for job in read["jobs"]], [("4711", 2), ("4711, run 2", 2), ("4712", 2)])

    def test_a_clock_that_is_set_while_a_rank_runs(self):
        for name, jump in ("back", -3600), ("ahead", 7200):
            write_tracking(self.folder / f"{name}.csv", [row(1), row(2), [*row(3)[:-1], row(3 + jump)[-1]]])
        read = self.job()
        self.assertEqual([rank["seconds"] for rank in read["ranks"]], [None, None])
        self.assertEqual(sorted(finding["text"].split(" jump by ")[1].split(",")[0] for finding in read["findings"] if finding["kind"] == "clock"),
                         ["-3599.0 s", "7201.0 s"])

    def test_cores_that_others_use_are_no_reason_to_ask_for_fewer(self):
        for rank in range(4):
            self.rank(rank, cpu=20, system_percent=780)  # of 8 cores, 4 of which are the job's
        findings = self.findings()
        self.assertNotIn("idle_cores", findings)
        self.assertIn("The job used 0.8 of its 4 cores (20 %); others kept 3.0 of them busy", findings["shared_cores"])

    def test_nothing_to_read(self):
        self.assertIn("There are no results of sessions in .: name reports in JSON", self.run_command(".", status=1).stderr)
        self.assertIn("No such file or directory", self.run_command("nowhere", status=1).stderr)
        (self.folder / "none.csv").touch()
        self.assertEqual(self.run_command("none.csv", status=1).stderr, "gpu-tracker: none.csv is empty: its tracker was ended before it could write\n")
        (self.folder / "other.csv").write_text("a,b\n1,2\n")
        self.assertIn("Tracking file other.csv is invalid", self.run_command("other.csv", status=1).stderr)

    # ---- real ranks ----

    def test_a_tracker_that_was_killed(self):
        ranks = self.start_ranks("sh", "-c", f"echo $$ >> pids; while [ -d {self.folder} ] && ! [ -e go ]; do sleep 0.05; done")
        samples, pids, kept = self.folder / "s.r1.csv", self.folder / "pids", self.folder / "kept.r1"
        # The first samples can be of a command that is still being loaded.
        command.wait_until(lambda: pids.exists() and pids.read_bytes().count(b"\n") == 2 and kept.exists() and sampled_ram(samples) > 100_000)
        ranks[1].kill()
        ranks[1].wait()
        (self.folder / "go").touch()
        self.assertEqual(ranks[0].wait(command.PATIENCE), 0)
        with samples.open("ab") as file:
            file.write(b"0.1,0.2")  # half a row
        read = self.job()
        self.assertEqual([rank["rank"] for rank in read["ranks"]], [0, 1])
        self.assertEqual(len(read["jobs"]), 1)
        self.assertGreaterEqual(read["ranks"][1]["samples"], 1)
        self.assertGreater(read["ranks"][1]["max_ram_bytes"], 100_000)  # the file has gigabytes
        self.assertIn("rank 1 on ", self.findings()["unfinished_ranks"])
        self.assertIn("r.r1.json is empty", self.run_command(".").stdout)

    def test_the_peak_before_a_tracker_was_killed_counts(self):
        """Results so far are kept once a second; the last samples can have what the kernel killed it for."""
        (tracker,) = self.start_ranks("sh", "-c", f"while [ -d {self.folder} ] && ! [ -e go ]; do sleep 0.05; done", world=1)
        samples = self.folder / "s.csv"
        command.wait_until(lambda: (self.folder / "kept").exists() and sampled_ram(samples) > 0)
        tracker.kill()
        tracker.wait()
        (self.folder / "go").touch()
        lines = [line for line in samples.read_text().splitlines(keepends=True) if line.endswith("\n")]
        names, last = lines[2].strip().split(","), lines[-1].strip().split(",")
        last[names.index("combined_ram")] = "5000.0"
        last[names.index("timestamp")] = str(float(last[names.index("timestamp")]) + 600)
        samples.write_text("".join(lines) + ",".join(last) + "\n")
        (rank,) = self.job()["ranks"]
        self.assertEqual(rank["max_ram_bytes"], 5e12)
        self.assertGreater(rank["seconds"], 600)

    def test_a_disk_that_was_full_shortens_no_session(self):
        for rank in self.start_ranks("sleep", "0.3"):
            self.assertEqual(rank.wait(command.PATIENCE), 0)
        (self.folder / "r.r0.json").unlink()
        (self.folder / "s.r0.csv").write_text("".join(self.samples_of(0)[:5]))
        sidecar = self.folder / "s.r0.csv.session.json"
        self.forget_figures()
        identity = json.loads(sidecar.read_text())
        identity["end"] = "2100-01-01T00:00:00.000000Z"
        sidecar.write_text(json.dumps(identity))
        read = self.job()
        first, second = read["ranks"]
        self.assertGreater(first["seconds"], 365 * 86400)
        self.assertIsNone(first["cpu_seconds"])
        self.assertGreater(second["cpu_seconds"], 0)
        self.assertIsNone(read["jobs"][0]["efficiency_percent"])
        self.assertIn("s.r0.csv has no samples of the last ", "".join(finding["text"] for finding in read["findings"]))
        self.assertIn(" of CPU time, not known of all\n", self.run_command(".").stdout)

    def test_cpu_time_is_not_known_of_a_file_that_was_cut_off(self):
        """Shortly before its end, too; what a report says of it stands."""
        for rank in self.start_ranks("sleep", "0.3"):
            self.assertEqual(rank.wait(command.PATIENCE), 0)
        samples, sidecar = self.folder / "s.r0.csv", self.folder / "s.r0.csv.session.json"
        lines = self.samples_of(0)
        stamps = [float(line.strip().split(",")[lines[2].strip().split(",").index("timestamp")]) for line in lines[3:]]
        last, cut = stamps[-1], 2 + 3 * (stamps[-1] - stamps[0])  # more than a few intervals, which a busy machine makes longer

        samples.write_text("".join(lines)[:-9])
        read = self.job(samples.name)
        self.assertEqual([finding["text"] for finding in read["findings"] if finding["kind"] == "damaged"], ["s.r0.csv is damaged"])
        counted = json.loads(sidecar.read_text())["accounting_cpu_seconds_kernel"]
        self.assertEqual(read["ranks"][0]["cpu_seconds"], counted)  # the kernel's figure is next to it
        samples.write_text("".join(lines))
        self.forget_figures()

        def cpu_of(end, *reports):
            end = datetime.datetime.fromtimestamp(end, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"end": end}))
            read = self.job(samples.name, *reports)
            return read["ranks"][0]["cpu_seconds"] is not None, [finding["text"] for finding in read["findings"] if finding["kind"] == "damaged"]

        self.assertEqual(cpu_of(last + 0.5), (True, []))
        known, said = cpu_of(last + cut)
        self.assertFalse(known)
        self.assertIn(f"s.r0.csv has no samples of the last {cut:.1f} s, so its CPU time is not known", said[0])
        samples.write_text("".join(lines)[:-9])
        self.assertEqual(cpu_of(last), (False, ["s.r0.csv is damaged"]))
        samples.write_text("".join(lines))
        self.assertEqual(cpu_of(last + cut, "r.r0.json"), (True, []))

    def test_the_rank_of_a_killed_tracker_is_the_first_to_fail(self):
        """The launcher then ends the others, whose trackers say so."""
        self.rank(0, world=3, seconds=50, identity={"exit_status": None, "signal": 15})
        self.rank(1, world=3, seconds=49, identity={"exit_status": None, "signal": None, "end": None})
        self.rank(2, world=3, seconds=51, identity={"exit_status": None, "signal": 15})
        self.assertIn("2 of 3 ranks failed, rank 1 on n1 first: its tracker was killed: rank 0 on n1", self.findings()["failed_ranks"])
        for rank in 0, 2:  # by themselves, as far as is known: which was the first is not
            self.rank(rank, world=3, seconds=50 + rank, identity={"exit_status": 1})
        self.assertIn("2 of 3 ranks failed, rank 0 on n1 first: rank 0 on n1", self.findings()["failed_ranks"])
        self.rank(1, world=3, seconds=40, identity={"exit_status": None, "signal": None, "end": None})
        self.assertIn("2 of 3 ranks failed, rank 1 on n1 first: its tracker was killed", self.findings()["failed_ranks"])
        self.rank(1, world=3, seconds=60, identity={"exit_status": None, "signal": None, "end": None})  # it goes on
        self.assertIn("2 of 3 ranks failed, rank 0 on n1 first: rank 0 on n1", self.findings()["failed_ranks"])

    def parallel_task(self, task, session, **more):
        members = {"job": {"launcher": None, "job_id": None, "rank": None, "world_size": None, "task": str(task), "step": "77", "run": "77", "node": "n1"}}
        return self.rank(session, name=f"{session}.json", members=members, **more)

    def test_a_task_that_succeeds_when_it_is_started_again_has_not_failed(self):
        """GNU parallel --retries."""
        self.parallel_task(1, 1)
        for session, status in enumerate((1, 1, 0)):
            self.parallel_task(2, 2 + session, start=20 * session, seconds=10, identity={"exit_status": status})
        (job,) = self.job()["jobs"]
        self.assertEqual((job["ranks"], job["retried"], job["failed"]), (2, 2, 0))
        self.assertNotIn("failed_ranks", self.findings())
        self.parallel_task(2, 4, start=40, seconds=10, identity={"exit_status": 3})
        (job,) = self.job()["jobs"]
        self.assertEqual((job["ranks"], job["retried"], job["failed"]), (2, 2, 1))
        self.assertIn("1 of 2 tasks failed: task 2 on n1: exit status 3", self.findings()["failed_ranks"])

    def test_commands_of_one_task_are_no_retries(self):
        for session in range(2):
            self.parallel_task(1, session, start=20 * session, seconds=10)
        (job,) = self.job()["jobs"]
        self.assertEqual((job["ranks"], job["retried"]), (2, 0))

    def test_why_a_rank_was_ended(self):
        """The kernel killed it because memory ran out, or its tracker for a limit: the reports say so."""
        killed = {"exit_status": None, "signal": 9}
        processes = {"oom_killed": 1, "oom_killed_reason": "counted by its control group, possibly shared with other processes"}
        self.rank(0, identity=killed)
        report = json.loads((self.folder / "r.r0.json").read_text())
        report["accounting"]["processes"] |= processes
        (self.folder / "r.r0.json").write_text(json.dumps(report))
        limit = {"kind": "ram", "value": 2e9, "at_seconds": 3, "enforced": True}
        self.rank(1, identity={"exit_status": None, "signal": 15}, members={"limit_passed": limit})
        self.rank(2, identity={"exit_status": 1}, members={"limit_passed": limit | {"kind": "seconds", "value": 90}})
        self.rank(3, identity=killed, members={"limit_passed": limit | {"enforced": False}})
        rows = self.job()["ranks"]
        self.assertEqual([row["limit_enforced"] for row in rows], [None, "ram", "seconds", None])
        self.assertEqual(rows[0]["oom_killed"], 1)
        found = self.findings()
        for said in (
            "rank 0 on n1: ended by signal 9, out of memory", "rank 1 on n1: ended by signal 15, ram limit exceeded (2 GB)",
            "rank 2 on n1: exit status 1, seconds limit exceeded (1 min 30 s)", "rank 3 on n1: ended by signal 9"):  # fmt: skip
            self.assertIn(said, found["failed_ranks"].split(": ", 1)[1].split("; "))
        self.assertEqual(
            found["out_of_memory"],
            "The kernel killed processes because memory ran out, in the control group of 1 rank: ask for more: "
            "rank 0 on n1: 1, counted by its control group, possibly shared with other processes")  # fmt: skip
        text = self.run_command(".").stdout
        for end in "signal 9, out of memory", "signal 15, ram limit exceeded", "exit 1, seconds limit exceeded":
            self.assertRegex(text, rf"(?m)^ .*  {end}$")


if __name__ == "__main__":
    command.main()
