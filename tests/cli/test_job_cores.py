"""gpu-tracker job: what sessions are ranks, and what of the machine they have together."""

import json
import os
import subprocess

import command
from job_test import NAMES, JobTest


class Cores(JobTest):
    def element(self, element, **more):
        """One of an array of LSF, of which nothing limits the cores."""
        members = {"job": {"launcher": "LSF", "job_id": f"99_{element}", "rank": None, "world_size": None, "node": "n1", "task": str(element)}}
        self.rank(element, allowed={"cores": None}, members=members, **more)

    def test_pods_of_one_machine_have_no_more_than_it(self):
        """Without quotas; each has all 8 cores for itself."""
        for rank in range(4):
            pod = {"host": f"pod{rank}", "boot_id": "the-same", "cgroup": f"/pod{rank}"}
            self.rank(rank, machine=f"pod{rank}", cpu=190, system_percent=780, identity=pod, allowed={"cores": None})
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["machines"], job["cores"], job["efficiency_percent"]), (4, 8, 95))
        self.assertEqual([(rank["cores"], rank["share_cores"], rank["efficiency_percent"]) for rank in read["ranks"]], [(8, 2, 95)] * 4)
        self.assertEqual(read["findings"], [])

    def test_pods_with_quotas_have_these(self):
        for rank in range(4):
            pod = {"host": f"pod{rank}", "boot_id": "the-same", "cgroup": f"/pod{rank}"}
            self.rank(rank, machine=f"pod{rank}", cpu=95, identity=pod, allowed={"cores": 1, "quota_cores": 1})
        read = self.job()
        self.assertEqual(read["jobs"][0]["cores"], 4)
        self.assertEqual([rank["share_cores"] for rank in read["ranks"]], [1] * 4)

    def test_elements_that_run_at_once_have_no_more_than_the_machine(self):
        """Four at once, then one by itself: all 8 cores in both halves."""
        for element in range(4):
            self.element(element, cpu=190)
        self.element(4, start=100, cpu=80)
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["seconds"], job["cores"], job["cpu_seconds"], job["efficiency_percent"]), (200, 8, 840, 52.5))
        self.assertEqual([rank["share_cores"] for rank in read["ranks"]], [2, 2, 2, 2, 8])

    def step(self, number, **more):
        """One of the commands of a loop, of 8 cores."""
        members = {"job": {"launcher": None, "job_id": None, "rank": None, "world_size": None, "node": "n1"}}
        self.rank(number, name=f"step{number}.json", allowed={"cores": None}, members=members, **more)

    def test_no_cores_are_advised_to_sessions_one_after_the_other(self):
        """Whatever others used, and however much a session left: they had these cores one after the other, and perhaps asked for none."""
        for system_percent in 800, 150:
            for number in range(6):
                self.step(number, start=150 * number, seconds=100, cpu=100, system_percent=system_percent)
            self.assertEqual(self.findings(), {})
            (job,) = self.job()["jobs"]
            self.assertEqual((job["cores"], job["efficiency_percent"]), (8, 12.5))  # of the time in which one ran

    def test_others_have_what_ranks_leave_to_one_that_hangs(self):
        self.rank(0, world=4, seconds=1000, cpu=10, system_percent=790, allowed={"cores": 8})
        for rank in range(1, 4):
            self.rank(rank, world=4, seconds=10, cpu=20, system_percent=790, allowed={"cores": 8})
        self.assertIn("others kept 7.8 of them busy", self.findings()["shared_cores"])

    def test_cores_that_others_left_free_are_idle(self):
        for number in range(6):
            self.step(number, seconds=100, cpu=10, system_percent=150)
        self.assertNotIn("shared_cores", self.findings())
        self.assertIn("ask for fewer", self.findings()["idle_cores"])

    def test_cores_that_several_are_bound_to_count_once(self):
        for rank in range(4):
            self.rank(rank, cpu=95, identity={"cpus": "2-5"}, allowed={"cores": 4})
        read = self.job()
        self.assertEqual((read["jobs"][0]["cores"], read["jobs"][0]["efficiency_percent"]), (4, 95))
        self.assertEqual([rank["share_cores"] for rank in read["ranks"]], [1] * 4)
        for rank in range(4):
            self.rank(rank, cpu=95, identity={"cpus": f"{rank},{rank + 1}"}, allowed={"cores": 2})
        self.assertEqual(self.job()["jobs"][0]["cores"], 5)
        self.rank(3, cpu=95, allowed={"cores": 2}, identity={"cpus": None})  # as earlier versions: what is known alone
        self.assertEqual(self.job()["jobs"][0]["cores"], 8)

    def test_ranks_that_are_bound_to_one_core_have_one(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(NAMES)}
        cpu = min(os.sched_getaffinity(0))
        for rank in "01":
            done = subprocess.run(
                ["taskset", "-c", str(cpu), command.COMMAND, "run", "-q", "-o", f"u{rank}.json", "--", "true"], cwd=self.folder,
                env=environment | {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "a@1"})  # fmt: skip
            self.assertEqual(done.returncode, 0)
        reports = [json.loads(path.read_text()) for path in self.folder.glob("*.json")]
        self.assertEqual([report["identity"]["cpus"] for report in reports], [str(cpu)] * 2)
        self.assertEqual(self.job()["jobs"][0]["cores"], 1)

    def test_where_all_ranks_failed_none_is_a_straggler(self):
        for rank in range(4):
            self.rank(rank, seconds=100 if rank == 3 else 10, identity={"exit_status": 1})
        self.assertEqual([rank["is_straggler"] for rank in self.job()["ranks"]], [0] * 4)

    def test_a_list_of_cpus_that_is_none_is_not_known(self):
        self.rank(0, world=2, cpu=95, allowed={"cores": 1}, identity={"cpus": "abc"})
        self.rank(1, world=2, cpu=95, allowed={"cores": 1}, identity={"cpus": "abc"})
        self.assertEqual(self.job()["jobs"][0]["cores"], 2)

    def test_uneven_work_is_of_time_or_of_cpu_time(self):
        for rank in range(3):
            self.rank(rank, world=3, cpu=90 if rank else 240, allowed={"cores": 4})
        self.assertIn("Work is uneven: the busiest rank needs 167 % more CPU time than the median", self.findings()["imbalance"])
        self.rank(0, world=3, seconds=200, cpu=90, allowed={"cores": 4})
        self.assertIn("Work is uneven: the slowest rank needs 100 % more than the median", self.findings()["imbalance"])

    # ---- which sessions are ranks ----

    def test_figures_that_cannot_be_are_left_out(self):
        self.rank(0, world=2)
        self.rank(1, world=1e300, seconds=-3600)
        self.assertEqual([(rank["seconds"], rank["rank"]) for rank in self.job()["ranks"]], [(100, 0), (None, 1)])
        text = self.run_command(".").stdout
        self.assertIn("./r.r1.json has a world size that cannot be right, 1e+300: it is skipped", text)
        self.assertIn("./r.r1.json has a wall time that cannot be right, -3600: it is skipped", text)
        self.assertLess(max(map(len, text.splitlines())), 200)

    def test_what_is_an_array_and_what_is_none(self):
        for element in 1, 2:
            job = {"launcher": None, "job_id": f"12[{element}].srv", "task": str(element), "rank": None, "world_size": None, "node": "n1"}
            self.rank(element, name=f"pbs{element}.json", identity={"pid": element}, members={"job": job})
            job = {"launcher": "torchrun", "job_id": f"lr_{element}", "task": None, "rank": 0, "world_size": 1, "node": "n1"}
            self.rank(element, name=f"torch{element}.json", identity={"pid": 10 + element}, members={"job": job})
        read = self.job()
        self.assertEqual([(job["name"], job["ranks"]) for job in read["jobs"]], [("12[].srv (array)", 2), ("lr_1", 1), ("lr_2", 1)])
        self.assertEqual([rank["rank"] for rank in read["ranks"]], [1, 2, 0, 0])

    def test_arrays_of_grid_engine_and_aws_batch_are_apart(self):
        for number, (job_id, element) in enumerate((("55_1", "1"), ("55_2", "2"), ("56_1", "1"), ("56_2", "2"), ("1e7f:0", "0"), ("1e7f:1", "1"))):
            job = {"launcher": None, "job_id": job_id, "task": element, "rank": None, "world_size": None, "node": None}
            self.rank(number, name=f"s{number}.json", identity={"pid": 1 + number}, members={"job": job})
        read = self.job()
        self.assertEqual(
            [(job["name"], job["ranks"]) for job in read["jobs"]], [("1e7f (array)", 2), ("55 (array)", 2), ("56 (array)", 2)])  # fmt: skip

    def test_a_session_without_a_rank_hides_no_rank_that_is_missing(self):
        prep = {"job": {"launcher": None, "job_id": "4711", "rank": None, "world_size": None, "node": "n1"}}
        self.rank(9, start=-50, seconds=40, cpu=1, name="prep.json", members=prep)
        for rank in range(3):
            self.rank(rank)
        read = self.job()
        self.assertEqual([(job["name"], job["ranks"], job["missing"]) for job in read["jobs"]],
                         [("4711", 3, 1), ("4711, sessions without a rank", 1, 0)])  # fmt: skip
        self.assertEqual(read["jobs"][0]["median_seconds"], 100)
        self.assertEqual(self.findings()["missing_ranks"], "1 rank is missing: 3: the world size is 4, and there are files of 3 ranks")

    def test_a_rank_that_was_started_again_is_one_rank(self):
        job = {"launcher": "Kubernetes", "job_id": "k", "world_size": 2, "node": "n1"}
        self.rank(0, members={"job": job | {"rank": 0}})
        self.rank(1, seconds=30, cpu=27, name="first.json", identity={"exit_status": 1}, members={"job": job | {"rank": 1}})
        self.rank(1, start=33, seconds=67, cpu=60, identity={"pid": 7}, members={"job": job | {"rank": 1, "restarts": 1}})
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["name"], job["missing"], job["failed"], job["seconds"], job["cores"]), ("k", 0, 1, 100, 2))
        self.assertEqual((job["median_seconds"], job["slowest_seconds"]), (98.5, 100))
        self.assertEqual([rank["is_straggler"] for rank in read["ranks"]], [0] * 3)
        self.assertIn("Job k (Kubernetes): 2 ranks (1 started again) on 1 machine, 1 min 40 s\n", self.run_command(".").stdout)
        self.assertEqual(self.findings()["failed_ranks"], "1 of 2 ranks failed: rank 1 on n1: exit status 1, and was started again")

    def test_indexed_jobs_of_kubernetes_are_named_by_their_pods(self):
        for number, (name, index, status) in enumerate([("train", 0, 0), ("eval", 0, 0), ("train", 1, 3), ("eval", 1, 0), ("train", 1, 0)]):
            job = {"launcher": "Kubernetes", "job_id": None, "rank": index, "world_size": None, "node": None}
            pod = {"host": f"{name}-{index}", "pod": f"{name}-{index}-x{number}abc", "pid": 1, "exit_status": status}
            self.rank(index, start=40 * number, seconds=100 if status == 0 else 70, name=f"{number}.json", identity=pod, members={"job": job})
        self.assertEqual([(job["name"], job["ranks"], job["retried"], job["failed"], job["missing"]) for job in self.job()["jobs"]],
                         [("eval", 2, 0, 0, 0), ("train", 2, 1, 1, 0)])  # fmt: skip

    def test_a_rank_counts_once_however_often_it_was_started_again(self):
        job = {"launcher": "Kubernetes", "job_id": "k", "world_size": 2, "node": "n1"}
        self.rank(0, members={"job": job | {"rank": 0}})
        for attempt in range(2):  # each does its work from the beginning again
            self.rank(1, start=30 * attempt, seconds=25, cpu=24, name=f"try{attempt}.json", identity={"exit_status": 1, "pid": 10 + attempt},
                      members={"job": job | {"rank": 1, "restarts": attempt}})  # fmt: skip
        self.rank(1, start=60, seconds=45, cpu=90, identity={"pid": 7}, members={"job": job | {"rank": 1, "restarts": 2}})
        (job,) = (read := self.job())["jobs"]
        self.assertEqual((job["ranks"], job["retried"], job["failed"], job["missing"]), (2, 2, 1, 0))
        self.assertEqual((job["busiest_rank"], job["busiest_cpu_seconds"], round(job["imbalance_percent"], 6)), (0, 90, 2.564103))
        self.assertEqual([rank["is_straggler"] for rank in read["ranks"]], [0] * 4)
        findings = self.findings()
        self.assertNotIn("imbalance", findings)
        self.assertIn("1 of 2 ranks failed: rank 1 on n1: exit status 1, and was started again; rank 1 on n1: exit status 1", findings["failed_ranks"])

    # ---- what ranks are compared with ----

    def test_a_rank_that_uses_its_share_does_not_wait_for_one_with_threads(self):
        for rank in range(8):
            self.rank(rank, world=8, cpu=230 if rank == 3 else 90, seconds=100)
        read = self.job()
        waited = [rank["waited_seconds"] and round(rank["waited_seconds"], 6) for rank in read["ranks"]]
        self.assertEqual(waited, [None if rank == 3 else 10 for rank in range(8)])
        self.assertNotIn("waiting", self.findings())

    def test_ranks_that_were_killed_make_no_straggler_of_the_one_that_was_not(self):
        for rank in range(4):
            self.rank(rank, seconds=25 if rank else 65, cpu=20 if rank else 60, identity={"exit_status": None, "signal": 9} if rank else {})
        (job,) = (read := self.job())["jobs"]
        self.assertEqual((job["median_seconds"], job["imbalance_percent"]), (65, 0))
        self.assertEqual([rank["is_straggler"] for rank in read["ranks"]], [0] * 4)
        self.assertEqual({finding["kind"] for finding in read["findings"]} - {"waiting", "idle_cores"}, {"failed_ranks"})
        for rank in range(4):  # where none ended well, they are all there is
            self.rank(rank, seconds=25 if rank else 65, cpu=20, identity={"exit_status": 1})
        self.assertEqual(self.job()["jobs"][0]["median_seconds"], 25)

    def test_ram_that_ranks_share(self):
        """As much as their control group allows is not what each may use."""
        for group, limits in ("/one", {"ram": 10e9, "memory_max": 10e9}), (None, {"ram": 10e9, "slurm_ram": 10e9}):
            for rank in range(4):
                self.rank(rank, ram=2.4e9, identity={"cgroup": group or f"/task_{rank}"}, allowed={"unit": "bytes"} | limits)
            self.assertEqual(
                self.findings()["ram_short"],
                "RAM may be nearly used up on n1 (96 % of what its ranks are allowed together): ask for more: peaks of 4 ranks: 9.6 GB of 10 GB; "
                "at most, for peaks need not coincide, and shared pages count for each")  # fmt: skip
        for rank in range(4):  # each has a group of its own
            self.rank(rank, ram=2.4e9, identity={"cgroup": f"/pod{rank}"}, allowed={"unit": "bytes", "ram": 10e9, "memory_max": 10e9})
        self.assertNotIn("ram_short", self.findings())

    def test_ram_that_a_control_group_was_not_charged_for_is_not_near_its_limit(self):
        allowed = {"unit": "bytes", "ram": 1e9, "memory_max": 1e9}
        for charged, is_short in (0.97e9, True), (0.2e9, False):
            peaks = {"unit": "bytes", "limit_group": charged}
            self.rank(0, world=1, ram=1.2e9, allowed=allowed, members={"peaks": peaks})
            self.assertEqual(
                self.findings().get("ram_short"),
                "RAM is nearly used up (97 % of what is allowed): ask for more: 970 MB of 1 GB: rank 0 on n1" if is_short else None)  # fmt: skip


if __name__ == "__main__":
    command.main()
