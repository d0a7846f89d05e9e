"""gpu-tracker job: cores that ranks of one machine have together."""

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


if __name__ == "__main__":
    command.main()
