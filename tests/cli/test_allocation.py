"""Hardware percent and capacities are of what the command may use; the older report's are the machine's."""

import json
import os
import pathlib
import sqlite3
import unittest

import command
import fake_gpu

SLURM = {"SLURM_JOB_ID": "4", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_CPUS_ON_NODE": "1"}
CORES = os.sysconf("SC_NPROCESSORS_ONLN")
BUSY = "import time\nend = time.monotonic() + 0.4\nwhile time.monotonic() < end: pass"


@unittest.skipIf(CORES < 2, "one core: nothing can be less")
class Cores(command.CommandTest):
    def setUp(self):
        super().setUp()
        launchers = "OMPI_", "PMIX_", "PMI_", "SLURM", "TORCHELASTIC_"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(launchers)}

    def report(self, *options, **variables):
        self.run_command("run", "-q", "--st", "0.1", "-f", "json", "-o", "r.json", "--overwrite", *options, "--", *command.python(BUSY),
                         env=self.environment | variables, check=True)  # fmt: skip
        return json.loads((self.folder / "r.json").read_text())

    def test_hardware_percent_is_of_what_is_allowed(self):
        cpu = self.report(**SLURM)["cpu_utilization"]
        self.assertEqual((cpu["n_expected_cores"], cpu["system_core_count"]), (1, CORES))
        self.assertEqual(cpu["main"]["max_hardware_percent"], cpu["main"]["max_sum_percent"])

    def test_by_affinity(self):
        mask = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(mask)})
        self.addCleanup(os.sched_setaffinity, 0, mask)
        report = self.report()
        self.assertEqual(report["cpu_utilization"]["n_expected_cores"], 1)
        self.assertEqual((report["allowed"]["cores"], report["allowed"]["affinity_cores"]), (1, 1))

    def test_what_is_asked_for_goes_before(self):
        self.assertEqual(self.report("--nec", "3", **SLURM)["cpu_utilization"]["n_expected_cores"], 3)

    def test_tracking_files_agree(self):
        self.report("--tf", "s.csv", **SLURM)
        lines = (self.folder / "s.csv").read_text().splitlines()
        static = dict(zip(lines[0].split(","), lines[1].split(",")))
        self.assertEqual((static["n_expected_cores"], static["system_core_count"]), ("1", str(CORES)))
        self.assertTrue(lines[2].startswith("main_ram,"))
        self.report("--tf", "s.sqlite", **SLURM)
        database = sqlite3.connect(self.folder / "s.sqlite")
        self.assertEqual(database.execute("select n_expected_cores, system_core_count from static_data").fetchall(), [(1, CORES)])
        database.close()

    def test_of_a_process_that_runs(self):
        process = self.start_command("run", "-q", "--", "sleep", "60", env=self.environment | SLURM)
        self.addCleanup(process.kill)
        (child,) = command.wait_until(lambda: pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
        self.run_command("attach", "--for", "0.3", "--st", "0.1", "-q", "--tf", "s.csv", "-f", "json", "-o", "r.json", child, check=True)
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["cpu_utilization"]["n_expected_cores"], 1)
        self.assertEqual((self.folder / "s.csv").read_text().splitlines()[1].split(",")[6], "1")

    def test_the_older_report_is_of_the_machine_and_says_so(self):
        for arguments in ["-e", "sleep 0.01"], ["run", "-f", "text", "--", "sleep", "0.01"]:
            with self.subTest(arguments=arguments):
                text = self.run_command(*arguments, env=self.environment | SLURM, check=True)
                text = text.stdout + text.stderr
                self.assertIn(f"Number of expected cores: {CORES}\n", text)
                self.assertIn("Allowed:\n   Cores: 1.0\n", text)

    def test_without_limits_the_older_report_is_as_it_was(self):
        if len(os.sched_getaffinity(0)) < CORES:
            self.skipTest("this process has limits of its own")
        self.assertNotIn("Allowed:\n   Cores", self.run_command("-e", "sleep 0.01", check=True).stdout)

    def test_the_summary_has_both(self):
        done = self.run_command("run", "--", "sleep", "0.01", env=self.environment | SLURM | {"SLURM_MEM_PER_NODE": "100"}, check=True)
        # Where a row would be longer than 80 columns, the machine is skipped.
        self.assertRegex(done.stderr, rf"(?m)of 1 (cores allowed \(machine: {CORES}\)|allowed cores)(;|$)")
        self.assertRegex(done.stderr, r"of the allowed 105 MB \(machine: [0-9.]+ [GT]B\)")
        done = self.run_command("run", "--limit", "ram=99MB", "--", "sleep", "0.01", check=True)
        self.assertRegex(done.stderr, r"of the allowed 99 MB \(machine: [0-9.]+ [GT]B\)")

    def test_a_limit_of_ram_is_one_of_them(self):
        allowed = self.report("--limit", "ram=99MB", SLURM_MEM_PER_NODE="100", **SLURM)["allowed"]
        self.assertEqual((allowed["ram"], allowed["limit_ram"], allowed["slurm_ram"]), (0.099, 0.099, 0.10485760000000001))


class Gpus(fake_gpu.GpuTest):
    ONE = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}

    def setUp(self):
        super().setUp()
        self.write("\n".join(line for line in fake_gpu.TWO_GPUS.splitlines() if "{" not in line))

    def test_gpus_that_the_command_does_not_see_do_not_count(self):
        report, _ = self.tracked(**self.ONE)
        use = report["gpu_utilization"]
        self.assertEqual((use["system_gpu_count"], use["n_expected_gpus"], report["allowed"]["gpus"]), (2, 1, 1))
        self.assertEqual(use["gpu_percentages"]["max_hardware_percent"], 20)
        self.assertEqual([gpu["selected"] for gpu in report["gpus"]], [False, True])

    def test_gpus_that_are_named_do(self):
        report, _ = self.tracked("--guuids", "GPU-aaaa", **self.ONE)
        self.assertEqual([gpu["selected"] for gpu in report["gpus"]], [True, False])
        self.assertEqual((report["allowed"]["gpus"], report["allowed"]["named_gpus"]), (None, 1))

    def test_the_older_report_is_of_all(self):
        text = self.gpu_tracker("-e", "sleep 0.2", "--st", "0.05", **self.ONE).stdout
        self.assertIn("Number of expected GPUs: 2\n", text)
        self.assertRegex(text, r"(?m)^Allowed:\n(   (Cores|RAM): .*\n)*   GPUs: 1$")  # and what the process that runs the tests may use

    def test_none(self):
        report, _ = self.tracked(CUDA_VISIBLE_DEVICES="")
        self.assertEqual((report["gpu_utilization"]["n_expected_gpus"], report["allowed"]["gpus"]), (0, 0))


if __name__ == "__main__":
    command.main()
