"""gpu-tracker job: what was allocated, what was used of it, and what to ask for next time."""

import csv
import io
import json
import os
import signal
import subprocess

import command
from job_test import NAMES, JobTest, sampled_ram

GIBIBYTE = 2**30
BAR = r"\[\|*\s*\]"


class Allocations(JobTest):
    def task(self, step, rank, *, start=0, seconds=600, world=1, machine="n1", cores=8, allocated=32 * GIBIBYTE, job="47", limit=14400, **more):
        of = {"launcher": "Slurm", "job_id": job, "step": step, "rank": rank, "world_size": world, "node": machine, "job_name": "train.sh", "time_limit_seconds": limit}
        if step is None:  # of the batch script itself
            of |= {"launcher": None, "rank": None, "world_size": None}
        identity = {"user": "anna", "pid": 1000 * int(step or 9) + rank, "cgroup": f"/job_47/step_{step}"} | more.pop("identity", {})
        return self.rank(rank, name=f"s{step}.r{rank}.{machine}.json", start=start, seconds=seconds, machine=machine, identity=identity, members={"job": of},
                         allowed={"unit": "bytes", "cores": cores, "slurm_cores": cores, "ram": allocated, "slurm_ram": allocated}, **more)  # fmt: skip

    def test_steps_of_one_job_have_a_total_with_the_time_between_them(self):
        self.task("0", 0, seconds=600, cpu=600, ram=2 * GIBIBYTE)
        self.task("1", 0, start=900, seconds=1800, cpu=5400, ram=7.9 * GIBIBYTE)
        self.task(None, 0, start=2700, seconds=300, cpu=30, ram=GIBIBYTE)
        read = self.job()
        self.assertEqual([job["name"] for job in read["jobs"]], ["47", "47.0", "47.1"])
        (total,) = read["allocations"]
        self.assertEqual(
            (total["job_id"], total["job_name"], total["user"], total["jobs"], total["sessions"], total["machines"]), ("47", "train.sh", "anna", 3, 3, 1))
        self.assertEqual((total["seconds"], total["run_seconds"], total["idle_seconds"], total["time_limit_seconds"]), (3000, 2700, 300, 14400))
        self.assertEqual((total["cpu_seconds"], total["cores"], total["efficiency_percent"]), (6030, 8, 100 * 6030 / 24000))
        self.assertEqual((total["machine_ram_bytes"], total["allowed_ram_bytes"]), (round(7.9 * GIBIBYTE), 32 * GIBIBYTE))
        self.assertEqual(total["ask"], "--mem=10G --cpus-per-task=4 --time=01:15:00")
        text = self.run_command(".").stdout
        self.assertRegex(text, r"(?m)^All of job 47: 3 sessions on 1 machine, which ran for 45 min 0 s of 50 min 0 s\n"
                               r"  Script   train.sh of anna\n  Time     \[\|{4} {16}\] 50 min 0 s of a limit of 4 h 00 min \(21 %\)\n"
                               r"  CPU      \[\|{5} {15}\] 2.0 of 8 cores busy \(25 %\), 1 h 41 min of CPU time\n"
                               r"  RAM      \[\|{5} {15}\] 8.48 GB of 34.4 GB \(25 %\)\n")  # fmt: skip
        self.assertEqual(text.count("Ask for --mem=10G --cpus-per-task=4 --time=01:15:00."), 1)
        self.assertIn("Nothing that was tracked ran for 10 % of the time of job 47", text)
        self.assertNotIn("straggler", text)
        for kind in "idle_cores", "idle_ram":  # of a step: what it had was the job's
            self.assertNotIn(kind, self.findings())

    def test_ram_of_each_machine_is_held_against_what_was_allocated_there(self):
        for rank in range(4):
            self.task("0", rank, world=4, machine=f"n{rank // 2}", ram=(rank + 1) * GIBIBYTE, cpu=550, cores=2, allocated=8 * GIBIBYTE)
        read = self.job()
        self.assertEqual([(machine["allowed_ram_bytes"], machine["ram_percent"]) for machine in read["machines"]], [(8 * GIBIBYTE, 37.5), (8 * GIBIBYTE, 87.5)])
        (job,) = read["jobs"]
        self.assertEqual((job["machine_ram_bytes"], job["allowed_ram_bytes"], job["ram_percent"]), (7 * GIBIBYTE, 8 * GIBIBYTE, 87.5))
        text = self.run_command(".").stdout
        self.assertRegex(text, rf"\n  RAM      {BAR} 7.52 GB of 8.59 GB on n1, the fullest machine \(88 %\), 4.29 GB in the largest rank\n")
        self.assertRegex(text, rf"\n  CPU      {BAR} 3.7 of 4 cores busy \(92 %\)")
        self.assertRegex(text, rf"\n  Script   train.sh of anna\n  Time     {BAR} 10 min 0 s of a limit of 4 h 00 min \(4 %\)\n")

    def test_nothing_is_advised_from_what_failed_or_is_known_in_part(self):
        for identity in {"exit_status": None, "signal": 9}, {"exit_status": None, "end": None}:
            self.task("0", 0, cpu=1, identity=identity)
            self.assertNotIn("ask", self.findings())
            self.assertEqual(self.job()["allocations"][0]["ask"], None)

    def test_what_fits_is_not_advised(self):
        self.task("0", 0, cpu=600, cores=1, ram=9 * GIBIBYTE, allocated=12 * GIBIBYTE, limit=900)
        self.assertNotIn("ask", self.findings())

    def test_what_hardly_fit_is_to_be_more(self):
        self.task("0", 0, cpu=600, cores=1, ram=9.5 * GIBIBYTE, allocated=10 * GIBIBYTE, limit=630)
        self.assertEqual(self.job()["allocations"][0]["ask"], "--mem=12G --time=00:15:00")

    def test_a_task_with_its_share_of_the_cores_is_not_told_to_take_fewer(self):
        for rank in range(8):
            self.task("0", rank, world=8, cpu=600, cores=8)
        self.assertNotIn("--cpus", self.job()["allocations"][0]["ask"] or "")

    def test_two_machines_with_one_name_are_two(self):
        for rank in 0, 1:
            self.task("0", rank, world=2, machine="node", ram=(rank + 1) * GIBIBYTE, allocated=4 * GIBIBYTE, identity={"boot_id": f"boot-{rank}", "pid": 7})
        self.assertEqual(len(self.job()["machines"]), 2)
        self.assertEqual((self.job()["allocations"][0]["machines"], self.job()["allocations"][0]["machine_ram_bytes"]), (2, 2 * GIBIBYTE))

    def test_the_table_of_sessions_has_all_figures_of_each(self):
        self.task("0", 0, cpu=600, ram=3 * GIBIBYTE)
        (row,) = json.loads(self.run_command("--table", "sessions", "-f", "json", ".").stdout)
        self.assertEqual((row["job"], row["path"], row["report"]), (0, "./s0.r0.n1.json", None))
        self.assertEqual((row["host"], row["user"], row["job_id"], row["job_name"], row["time_limit_seconds"]), ("n1", "anna", "47", "train.sh", 14400))
        self.assertEqual((row["max_combined_ram_bytes"], row["accounting_cpu_seconds_kernel"], row["elapsed_seconds"]), (3 * GIBIBYTE, 600, 600))
        self.assertEqual((row["allowed_slurm_ram_bytes"], row["exit_status"]), (32 * GIBIBYTE, 0))
        (of_csv,) = csv.DictReader(io.StringIO(self.run_command("--table", "sessions", "-f", "csv", ".").stdout))
        self.assertEqual(list(of_csv), list(row))

    def test_a_killed_session_has_no_figures_of_its_end(self):
        words = [command.COMMAND, "run", "-q", "--st", "0.05", "--tf", "s.csv", "--", "sleep", "60"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(NAMES)}
        with subprocess.Popen(words, cwd=self.folder, env=environment, start_new_session=True) as tracker:
            command.wait_until(lambda: sampled_ram(self.folder / "s.csv") > 0, "samples")
            os.killpg(tracker.pid, signal.SIGKILL)
        (row,) = json.loads(self.run_command("--table", "sessions", "-f", "json", "s.csv").stdout)
        self.assertEqual((row["command"], row["tracking_file"]), ("sleep", "s.csv"))
        self.assertEqual((row["end"], row["elapsed_seconds"], row["max_combined_ram_bytes"], row["accounting_processes_seen"]), (None,) * 4)

    def test_sessions_without_an_id_have_no_allocation(self):
        self.rank(0, world=1, members={"job": {"launcher": None, "job_id": None, "rank": None, "world_size": None, "node": "n1"}})
        self.assertEqual(self.job()["allocations"], [])


if __name__ == "__main__":
    command.main()
