"""gpu-tracker job: cores that ranks of one machine have together."""

import command
from job_test import JobTest


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


if __name__ == "__main__":
    command.main()
