"""GPUs that are not there, and figures of theirs that the driver does not report."""

import csv
import json
import os

from command import main, python
from fake_gpu import AFTER_TICKS, HIDDEN, IN_USE, TWO_GPUS, WAIT, GpuTest

class Trouble(GpuTest):
    def test_without_a_gpu_there_are_zeros_and_one_warning(self):
        report, warnings = self.tracked(GPUT_NVML="/nonexistent")
        self.assertEqual(warnings, "")  # it stands in the report
        warning = "gpu-tracker: warning: No GPU was found, so GPU figures are reported as 0 (why: gpu-tracker doctor).\n"
        self.assertEqual(self.gpu_tracker("-e", "true", GPUT_NVML="/nonexistent").stderr, warning)
        self.assertEqual(set(report["max_gpu_ram"].values()), {"megabytes", 0.0})
        self.assertEqual(report["gpu_utilization"]["system_gpu_count"], 0)
        self.assertNotIn("gpus", report)
        self.assertEqual(self.gpu_tracker("-e", "true", "--disable-logs", GPUT_NVML="/nonexistent").stderr, "")

    def test_folders_that_cannot_be_read_are_not_empty(self):
        for name in "class/drm", "class/powercap", "class/power_supply", "bus/pci/devices":
            path = self.folder / "sys" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(path.name)  # a loop: also root cannot read it
        machine = {"GPUT_NVML": "/nonexistent", "GPUT_SYSFS": str(self.folder / "sys")}
        report, _ = self.tracked(**machine)
        self.assertEqual({figure for name, figure in report["max_gpu_ram"].items() if name != "unit"}, {None})
        doctor = self.gpu_tracker("doctor", **machine).stdout
        for source, names in {"gpu": ("bus/pci/devices", "class/drm"), "cpu_energy": ("class/powercap",), "battery": ("class/power_supply",)}.items():
            self.assertEqual(report["sources"][source]["state"], "unavailable")
            for name in names:
                why = f"annot read {self.folder}/sys/{name}: Too many levels of symbolic links"
                self.assertIn(why, report["sources"][source]["reason"])
                self.assertIn(why, " ".join(doctor.split()))

    def test_no_gpu_is_not_said_next_to_another_failure(self):
        (self.folder / "t.csv").touch()
        done = self.gpu_tracker("-e", "true", "--tf=t.csv", GPUT_NVML="/nonexistent")
        message = "File t.csv already exists. --overwrite replaces it."
        self.assert_fails(done, 1, message)
        done = self.gpu_tracker("-e", "no-such-command", GPUT_NVML="/nonexistent")
        self.assert_fails(done, 1, 'Command not found: "no-such-command"')

    def test_json_on_the_standard_error_is_alone_there(self):
        done = self.gpu_tracker("run", "-f", "json", "true", GPUT_NVML="/nonexistent")
        self.assertEqual(json.loads(done.stderr)["sources"]["gpu"]["state"], "unavailable")
        done = self.gpu_tracker("-e", "true", GPUT_NVML="/nonexistent")
        self.assertIn("warning: No GPU was found", done.stderr)
        done = self.gpu_tracker("run", "true", GPUT_NVML="/nonexistent")
        self.assertNotIn("warning", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^  Not measured  .*GPU")

    def test_a_driver_that_does_not_start_says_why(self):
        self.write("code nvmlInit 18\n")
        _, warnings = self.tracked()
        self.assertEqual(
            warnings,
            "gpu-tracker: warning: No GPU can be read, so GPU figures are missing: nvml: NVIDIA driver and library "
            "versions differ (NVML code 18) (more: gpu-tracker doctor)\n",
        )

    def test_a_figure_that_is_not_supported_is_missing_and_explained(self):
        self.write("gpu GPU-aaaa\nmemory 100 0 50\ncode nvmlDeviceGetUtilizationRates 3\n")
        report, _ = self.tracked("--tf", "t.csv")
        self.assertIsNone(report["gpus"][0]["max_utilization_percent"])
        self.assertEqual(report["gpus"][0]["missing"], "utilization: not supported by this GPU")
        with open(self.folder / "t.csv", newline="") as file:
            lines = list(csv.reader(file))
        self.assertEqual({row[lines[2].index("gpu_sum_utilization_percent")] for row in lines[3:]}, {""})

    def test_utilization_of_processes_that_is_not_reported_is_never_zero(self):
        # Before a process uses the GPU, too: its list is empty when the tree begins.
        code = "code nvmlDeviceGetProcessUtilization 3\ncode nvmlDeviceGetProcessesUtilizationInfo 3\n"
        report, _ = self.tracked_tree(scenario=code + TWO_GPUS)
        self.assertIsNone(report["gpus"][0]["max_main_sm_percent"])
        self.assertEqual(report["gpus"][0]["max_main_ram"], 1000.0)
        self.assertEqual(report["gpus"][0]["missing"], "process_utilization: not supported by this GPU")

    def test_a_busy_gpu_without_a_process_in_its_list_is_nobodys(self):
        gpu = "gpu GPU-aaaa\nname A\nmemory 16000000000 0 5000000000\nutilization 40\npower_mw 100000\n" \
            "code nvmlDeviceGetTotalEnergyConsumption 3\n"
        self.write(gpu)
        report, _ = self.tracked()
        self.assertIsNone(report["energy"]["combined"])
        self.assertAlmostEqual(report["energy"]["unattributed"], report["energy"]["machine"]["gpu"])
        why = "not shared out: of GPU 0, the driver lists no process while memory is in use"
        self.assertIn(why, report["sources"]["gpu_energy"]["reason"])
        self.write(gpu.replace("utilization 40", "utilization 0"))
        report, _ = self.tracked("--overwrite")
        self.assertEqual(report["energy"]["combined"], 0)
        self.assertIn("shared out by use", report["sources"]["gpu_energy"]["reason"])
        # A list that ever shows a process hides none: when that one has gone, nothing is ours.
        self.write(gpu + f"compute {os.getpid()} 5000000000\n")
        leave = WAIT + "import os, sys; wait(0.3); open(sys.argv[1] + '.new', 'w').write(sys.argv[2]); " \
            "os.rename(sys.argv[1] + '.new', sys.argv[1]); wait(0.5)"
        report, _ = self.tracked("--overwrite", command=python(leave, self.scenario, gpu))
        self.assertEqual(report["energy"]["combined"], 0)

    def test_a_gpu_that_vanishes_costs_one_warning(self):
        gone = "gpu GPU-aaaa\nname A\ncode * 15\ngpu GPU-bbbb\nmemory 100000000 0 50000000\n"
        report, warnings = self.tracked_tree(scenario=gone, seconds=1)
        # The scenario stands from the start: GPU-aaaa is there, and every figure of it fails.
        self.assertEqual(report["max_gpu_ram"]["system"], 50.0)
        self.write(TWO_GPUS.replace("{main}", "1").replace("{child}", "1"))
        vanish = WAIT + "import os, sys; wait(0.3); open(sys.argv[1] + '.new', 'w').write(sys.argv[2]); " \
            "os.rename(sys.argv[1] + '.new', sys.argv[1]); wait(0.7)"
        report, warnings = self.tracked(command=python(vanish, self.scenario, gone))
        self.assertEqual(
            warnings, "gpu-tracker: warning: GPU GPU-aaaa (NVIDIA A) was lost: its figures are missing from here on\n"
        )
        self.assertEqual(report["max_gpu_ram"]["system"], 7000.0)
        self.assertEqual(
            report["gpus"][0]["missing"],
            "ram_used, utilization, power, process_ram, process_utilization: the GPU was lost (it fell off the bus or "
            "was taken away)",
        )

    def test_calls_that_hang_stop_neither_ticks_nor_the_end(self):
        hang = TWO_GPUS.replace("{main}", "1").replace("{child}", "1")
        self.write(hang)
        start = AFTER_TICKS + "import sys; open(sys.argv[1] + '.new', 'w').write('delay_ms * 600000\\n' + sys.argv[2]); " \
            "os.rename(sys.argv[1] + '.new', sys.argv[1]); time.sleep(1)"
        report, _ = self.tracked(command=python(start, self.scenario, hang))
        self.assertGreater(report["tracker"]["ticks"], 3)
        self.assertEqual(report["max_gpu_ram"]["system"], 7000.0)

    def test_wrong_choices_are_named(self):
        self.write(TWO_GPUS)
        unknown = "GPU UUID of GPU-zzzz is not valid. Available UUIDs are: GPU-aaaa, GPU-bbbb"
        self.assert_fails(self.gpu_tracker("--guuids=GPU-zzzz", "-e", "true"), 1, unknown)
        self.assert_fails(self.gpu_tracker("run", "--guuids=GPU-zzzz", "true"), 125, unknown)
        self.assert_fails(
            self.gpu_tracker("--guuids=", "-e", "true"),
            1,
            "The list of GPU UUIDs is empty. Name at least one GPU UUID, or leave the option out for all GPUs",
        )
        self.assert_fails(
            self.gpu_tracker("--gb=voodoo", "-e", "true"), 1, '"voodoo" is not a valid GPU brand. Valid values are amd, intel, nvidia'
        )


class NotAvailable(GpuTest):
    """Memory and use that the driver does not report."""

    def test_memory_that_is_not_available_is_null(self):
        report, _ = self.tracked_tree("--processes", scenario=IN_USE + "compute {main} na\nsample {main} 1000 30\n")
        self.assertEqual((report["max_gpu_ram"]["main"], report["max_gpu_ram"]["combined"]), (None, None))
        self.assertEqual(report["max_gpu_ram"]["system"], 9000.0)
        self.assertIn("does not report it for the tracked processes", report["sources"]["process_gpu_ram"]["reason"])
        self.assertIn("does not report it", report["gpus"][0]["missing"])
        self.assertEqual({process["peak_gpu_ram"] for process in report["processes"]}, {None})
        report, _ = self.tracked_tree("--overwrite", scenario=IN_USE + "compute {main} na\ncompute {child} 5000000\n")
        self.assertEqual(report["max_gpu_ram"]["combined"], 5.0)
        self.assertTrue(report["sources"]["process_gpu_ram"]["reason"].startswith("at least: "), report["sources"])

    def test_a_gpu_that_cannot_be_read_has_no_figures(self):
        self.write("code nvmlInit 18\n")
        report, _ = self.tracked()
        self.assertEqual(set(report["max_gpu_ram"].values()), {"megabytes", None})
        self.assertEqual(set(report["gpu_utilization"]["gpu_percentages"].values()), {None})
        done = self.gpu_tracker("run", "-f", "text", "-o", "out.txt", "--", "true")
        self.assertIn("Reason: No GPU can be read, so GPU figures are missing", (self.folder / "out.txt").read_text())

    def test_joules_of_a_busy_gpu_without_samples_of_use_are_not_known(self):
        for scenario, combined in (("compute {main} 8000000000\n", None), ("compute {main} 8000000000\nsample {main} 1000 40\n", True)):
            report, _ = self.tracked_tree("--overwrite", scenario=IN_USE + scenario, seconds=0.7)
            self.assertEqual(report["energy"]["combined"] is not None, combined is not None)
            self.assertEqual(report["max_gpu_ram"]["main"], 8000.0)
        report, _ = self.tracked_tree("--overwrite", scenario=IN_USE + "compute {main} 8000000000\n")
        self.assertIsNone(report["gpus"][0]["max_main_sm_percent"])
        self.assertIn("gives no samples of its use by each process", report["gpus"][0]["missing"])
        why = "not shared out: of GPU 0, the GPU is busy, and the driver gives no samples of its use by each process"
        self.assertIn(why, report["sources"]["gpu_energy"]["reason"])

    def test_a_limit_of_what_is_hidden_is_said_to_be_unwatched_once(self):
        known = "gpu GPU-bbbb\nmemory 16000000000 0 6000000000\ncompute {main} 6000000000\n"
        for name, scenario in HIDDEN.items():
            for options in ([], ["--enforce"]):
                with self.subTest(name, options=options):
                    self.write(scenario)
                    _, said = self.tracked("--limit", "gpu_ram=1GB", *options, "--overwrite")
                    why = "The gpu_ram limit cannot be watched: of GPU 0 (GPU-aaaa), the driver lists "
                    self.assertEqual((said.count(why), said.count("gpu_ram limit")), (1, 1), said)
        _, said = self.tracked_tree("--limit", "gpu_ram=8GB", "--overwrite", scenario=IN_USE.replace(
            "code nvmlDeviceGetTotalEnergyConsumption 3\n", "compute {main} na\n") + known)
        self.assertEqual(said.count("The gpu_ram limit cannot be watched"), 1, said)

    def test_a_limit_of_what_is_listed_is_watched(self):
        unused = "gpu GPU-aaaa\nmemory 16000000000 0 0\ngpu GPU-bbbb\nmemory 8000000000 0 0\n"
        for limit, passed in (("8GB", 0), ("1GB", 1)):
            _, said = self.tracked_tree("--limit", f"gpu_ram={limit}", "--overwrite", before=unused)
            self.assertEqual(said.count("The gpu_ram limit"), passed, said)

    def test_joules_of_a_counter_that_never_moved_are_not_exact(self):
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 1000\nutilization 0\npower_mw 100000\nenergy_mj 5000\n")
        report, _ = self.tracked("--st", "0.1", command=("sleep", "1"))
        self.assertGreater(report["energy"]["machine"]["gpu"], 50)
        source = report["sources"]["gpu_energy"]
        self.assertEqual(source["state"], "sampled")
        self.assertIn("the counter of GPU 0 has not advanced yet; its power was integrated instead", source["reason"])


if __name__ == "__main__":
    main()
