"""gpu-tracker job: GPUs and joules that ranks share count once."""

import json

import command
from analysis_files import MEASUREMENTS, STATIC, row, write_tracking
from job_test import JobTest, moment


class Shared(JobTest):
    def test_each_machine_and_gpu_counts_once(self):
        def gpus(*uuids):
            return [{"uuid": uuid, "name": "GPU", "energy_joules": 500} for uuid in uuids]

        for rank in range(4):
            energy = {"unit": "joules", "machine": {"package": 1000 if rank in (0, 2) else None}}
            path = self.rank(rank, machine=f"n{rank // 2}", members={"energy": energy, "gpus": gpus("a", "b") if rank < 2 else gpus("c")})
            report = json.loads(path.read_text())
            report["tracker"]["node_seconds"] = 100 if rank in (0, 2) else 0
            path.write_text(json.dumps(report))
        (job,) = self.job()["jobs"]
        self.assertEqual(job["cpu_joules"], 2000)
        self.assertEqual((job["gpu_joules"], job["energy_joules"]), (1500, 3500))
        self.assertEqual(job["gpus"], 3)

    def test_seconds_in_which_no_tracker_read_the_joules_are_said(self):
        """The reader of n0 ended after 40 s; another one took over half a second later."""
        for rank in range(4):
            is_first = rank == 0
            joules = {0: 1000, 1: 1500, 2: 2500}.get(rank)
            path = self.rank(rank, machine=f"n{rank // 2}", seconds=40 if is_first else 100, cpu=36 if is_first else 90,
                             members={"energy": {"unit": "joules", "machine": {"package": joules}}})  # fmt: skip
            report = json.loads(path.read_text())
            report["tracker"]["node_seconds"] = {0: 40, 1: 59.5, 2: 100, 3: 0}[rank]
            path.write_text(json.dumps(report))
        read = self.job()
        self.assertEqual(read["jobs"][0]["cpu_joules"], 5000)
        self.assertEqual([machine["unread_seconds"] for machine in read["machines"]], [0.5, 0])
        self.assertEqual(self.findings()["unread_energy"],
                         "Energy of CPUs and DRAM does not include 500 ms during which no tracker read the counters of 1 machine: n0: 500 ms of 1 min 40 s")

    def test_ranks_that_took_turns_share_no_peak_but_add_up_the_joules_of_their_machine(self):
        for rank, (start, seconds) in enumerate([(0, 100), (50, 50), (101, 300)]):
            gpu = {"uuid": "a", "name": "GPU", "energy_joules": 500 + rank, "mean_utilization_percent": 10 * (rank + 1)}
            energy = {"unit": "joules", "machine": {"package": 1000 + rank}}
            path = self.rank(rank, world=3, start=start, seconds=seconds, ram=(rank + 1) * 1e9, members={"energy": energy, "gpus": [gpu]})
            report = json.loads(path.read_text())
            report["tracker"]["node_seconds"] = None
            path.write_text(json.dumps(report))
        read = self.job()
        (job,), (machine,) = read["jobs"], read["machines"]
        self.assertEqual(machine["max_ram_bytes"], 3e9)  # of the first two; the last one had as much alone
        self.assertEqual((machine["energy_joules"], job["cpu_joules"]), (1001 + 1002, 1001 + 1002))
        self.assertEqual(job["gpu_joules"], 501 + 502)
        self.assertAlmostEqual(job["gpu_percent"], (10 * 100 + 20 * 50 + 30 * 300) / 450)

    def test_gpus_that_ranks_see_count_and_pci_addresses_are_of_one_machine(self):
        for rank in range(4):
            gpus = [{"uuid": f"0000:0{gpu}:00.0", "selected": gpu < 2, "energy_joules": 500, "mean_utilization_percent": 10 + 40 * gpu} for gpu in range(3)]
            self.rank(rank, machine=f"n{rank // 2}", members={"gpus": gpus})
        (job,) = self.job()["jobs"]
        self.assertEqual((job["gpus"], job["gpu_percent"], job["gpu_joules"]), (4, 30, 2000))
        self.assertIn("\n  GPU      4 GPUs, 30 % used on average\n", self.run_command(".").stdout)

    def test_gpus_of_ranks_that_have_samples_alone(self):
        """They do not say which ones: at most those of the machine, without those that reports name."""
        sample = row(1)
        sample[MEASUREMENTS.index("gpu_hardware_utilization_percent")] = 40
        for rank in range(4):
            path = self.folder / f"s.r{rank}.csv"
            write_tracking(path, [sample], static={**STATIC, "system_gpu_count": 3, "n_expected_gpus": 2})
            path.with_name(path.name + ".session.json").write_text(json.dumps(
                {"tracking_file": path.name, "start": moment(0), "pid": rank, "rank": rank, "job_id": "4711", "boot_id": "boot-of-n1"}))  # fmt: skip
        self.assertEqual([(job["gpus"], job["gpu_percent"]) for job in self.job()["jobs"]], [(3, 40)])
        self.assertNotIn("unknown_gpus", self.findings())
        write_tracking(path, [sample], static={**STATIC, "system_gpu_count": "", "n_expected_gpus": ""})
        self.assertEqual(self.findings()["unknown_gpus"], "How many GPUs 1 of 4 ranks had is not known: together they may have had more than 3: rank 3 on a machine that is not known")


if __name__ == "__main__":
    command.main()
