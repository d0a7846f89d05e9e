"""tools/gpu-check where a driver or a machine has less, or more, than it compares."""

import pathlib
import subprocess

import command
from simulated_gpu import MEMORY, PROGRAMS, SCENARIO, SERVED, GpuCheckTest


class Machines(GpuCheckTest):
    """What rows say where a driver or a machine has less, or more."""

    def test_hidden_processes_are_skipped_with_the_reason_and_memory_in_use_is_compared(self):
        done = self.check("--scale", "0.1", "memory", scenario=SCENARIO + "unlisted\n")
        rows = self.rows()
        self.assert_nothing_differs(done)
        self.assertRegex(rows[MEMORY, "process that holds 64 MiB"]["note"], "^the driver lists ")
        used = rows[MEMORY, "process that holds 64 MiB: in use on the GPU"]
        self.assertEqual((used["verdict"], used["truth"]), ("agrees", (256 + 64) * 2**20))

    def test_pids_of_the_host_are_skipped_with_the_reason(self):
        done = self.check("front-ends", scenario=SCENARIO + "shift_pids 4194304\n")
        self.assert_nothing_differs(done)
        self.assertLess({"the driver lists our processes", SERVED}, self.verdicts("skipped"))

    def test_figures_that_the_driver_lacks_are_skipped(self):
        calls = "TotalEnergyConsumption", "UtilizationRates", "ProcessUtilization", "Samples"
        lacking = "".join(f"code nvmlDeviceGet{call} 3\n" for call in calls)
        done = self.check("--scale", "0.05", "use", scenario=SCENARIO + lacking)
        self.assert_nothing_differs(done)
        self.assertIn("energy without a counter, busy, 3.0 s", self.verdicts("agrees"))
        rows = self.rows()
        figure = "highest utilization in one long kernel"
        self.assertIn("not supported", rows["Use of processors", figure]["note"])

    def test_takes_the_gpu_that_is_named_and_makes_cuda_see_it_alone(self):
        several = "gpu GPU-other\nmemory 16000000000 0 5000000000\nenergy_mj 7000\n" + SCENARIO
        for name, value in ("GPU_CHECK_GPU", "1"), ("CUDA_VISIBLE_DEVICES", "1"), ("GPU_CHECK_GPU", "GPU-simulated"):
            with self.subTest(name):
                done = self.check("front-ends", scenario=several, FAKE_CUDA_UUID="GPU-simulated", **{name: value})
                self.assert_nothing_differs(done)
                self.assertIn(SERVED, self.verdicts("agrees"))

    def test_takes_an_instance_of_a_gpu_that_is_split(self):
        split = "gpu GPU-card\nmemory 16000000000 0 5000000000\nmig MIG-simulated\nsimulated\n"
        done = self.check("front-ends", scenario=split, FAKE_CUDA_UUID="MIG-simulated")
        self.assert_nothing_differs(done)
        self.assertIn(SERVED, self.verdicts("agrees"))

    def test_parts_of_the_chip_are_those_of_the_instance(self):
        split = "gpu GPU-card\nmemory 16000000000 0 5000000000\nvalue nvmlGpmQueryDeviceSupport 1\nvalue gpm/2 90\n" \
            "mig MIG-other\nmemory 8000000000 0 0\nvalue gpm/2 11\nmig MIG-simulated\nsimulated\nvalue gpm/2 22\n"
        self.check("card", scenario=split, FAKE_CUDA_UUID="MIG-simulated", GPU_CHECK_GPU="MIG-simulated")
        row, = (row for row in self.table() if row["figure"] == "sm_active_percent")
        self.assertEqual((row["verdict"], row["ours"], row["driver"]), ("agrees", 22, 22))

    def test_a_gpu_for_one_process_alone_skips_what_needs_several(self):
        exclusive = SCENARIO + "compute_mode 3\n"
        done = self.check("--scale", "0.1", "memory", scenario=exclusive, FAKE_CUDA_EXCLUSIVE="1")
        self.assert_nothing_differs(done)
        self.assertIn("several contexts, and several processes", self.verdicts("skipped"))

    def test_other_processes_are_reported_and_what_they_spoil_is_not_compared(self):
        environment = self.environment()
        done_steps = pathlib.Path(self.folder) / "other"
        other = subprocess.Popen([PROGRAMS / "gpu-load", "hold", str(2**30), "wait", "600000"],
                                 env={**environment, "GPU_LOAD_REPORT": str(done_steps)})  # fmt: skip
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        command.wait_until(lambda: done_steps.exists() and "hold" in done_steps.read_text(), "the other process")
        done = self.check("--scale", "0.1", "memory")
        rows = self.rows()
        self.assertIn("compared with the driver alone", rows["Preparation", "other processes use this GPU"]["note"])
        self.assert_nothing_differs(done)
        self.assertIsNone(rows[MEMORY, "process that holds 64 MiB: in use on the GPU"]["truth"])

    def test_a_program_that_may_not_use_the_gpu_skips_trials(self):
        done = self.check("memory", "use", "driver", "front-ends", FAKE_CUDA_UUID="GPU-of-others")
        self.assertEqual(self.verdicts("differs"), {"a program can use the GPU"}, self.explain(done))
        self.assertLess({"memory", "use"}, self.verdicts("skipped"))


if __name__ == "__main__":
    command.main()
