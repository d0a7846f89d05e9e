"""gpu-tracker doctor: what can be measured on a machine, and how to open what is closed."""

import json
import os
import subprocess

from command import AS_NOBODY, BUILD, COMMAND, SOURCE, CommandTest, main
from terminal_screen import ViewTerminal

FIXTURES = SOURCE / "tests" / "fixtures"
NO_GPU = {"GPUT_NVML": "/nonexistent", "GPUT_SYSFS": "/nonexistent"}


class Doctor(CommandTest):
    def doctor(self, *options, scenario="", **environment):
        (self.folder / "scenario").write_text(scenario)
        fake = {
            "GPUT_NVML": str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"),
            "GPUT_SYSFS": "/nonexistent",
            "FAKE_NVML_SCENARIO": str(self.folder / "scenario"),
        }
        done = self.run_command("doctor", *options, env=os.environ | fake | environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def findings(self, **environment):
        return json.loads(self.doctor("-f", "json", **environment))

    def test_every_source_has_a_state_and_a_reason(self):
        sources = self.findings(**NO_GPU)["sources"]
        for name in ("procfs", "children", "memory_maps", "cpu_clocks", "cgroup", "nvml", "amdgpu", "kfd", "drm", "rapl", "battery"):
            self.assertIn(sources[name]["state"], ("available", "partly", "unavailable"))
            self.assertTrue(sources[name]["reason"], name)
            self.assertTrue(sources[name]["gives"], name)
        self.assertEqual(sources["procfs"]["state"], "available")
        self.assertIn("Linux ", sources["procfs"]["reason"])

    def test_no_gpu_is_explained(self):
        findings = self.findings(**NO_GPU)
        self.assertEqual(findings["gpus"], [])
        self.assertEqual(findings["sources"]["nvml"]["state"], "unavailable")
        self.assertEqual(findings["sources"]["nvml"]["reason"], "no NVIDIA driver: there is no file /nonexistent")
        self.assertEqual(findings["sources"]["amdgpu"]["reason"], "no AMD GPU in /nonexistent/class/drm")
        self.assertRegex(self.doctor(**NO_GPU), r"^CPU, RAM: yes\. GPU: none found\. Energy: .*\.\n\nprocfs ")

    def test_the_first_line_answers_in_one_sentence(self):
        gpu = "gpu GPU-{0}\nname NVIDIA {1}\nmemory 16000000000 0 0\n"
        for scenario, answer in (
            (gpu.format("a", "H200"), "GPU: NVIDIA H200. Energy: of GPUs."),
            (gpu.format("a", "H200") + gpu.format("b", "H200"), "GPU: 2 x NVIDIA H200. Energy: of GPUs."),
            (gpu.format("a", "H200") + gpu.format("b", "T4"), "GPU: NVIDIA H200 and 1 more. Energy: of GPUs."),
            (gpu.format("a", "H200") + "code nvmlDeviceGetPowerUsage 3\ncode nvmlDeviceGetTotalEnergyConsumption 3\n",
             "GPU: NVIDIA H200. Energy: not on this "),
            ("code nvmlInit 18\n", "GPU: driver does not work, see nvml. Energy: not on this "),
        ):
            summary = self.findings(scenario=scenario)["summary"]
            self.assertTrue(summary.startswith("CPU, RAM: yes. " + answer), summary)
            self.assertTrue(self.doctor("-o", "d.txt", scenario=scenario) == "")
            self.assertEqual((self.folder / "d.txt").read_text().splitlines()[0], summary)
        machine = self.folder / "proc"
        machine.mkdir()
        self.assertTrue(self.findings(GPUT_PROCFS=str(machine), **NO_GPU)["summary"].startswith("CPU, RAM: no. GPU: none found. "))

    def test_a_script_has_the_commands_that_open_what_is_closed(self):
        packages = self.folder / "sys" / "class" / "powercap"
        (packages / "intel-rapl:0").mkdir(parents=True)
        (packages / "intel-rapl:0" / "name").write_text("package-0\n")
        (packages / "intel-rapl:0" / "energy_uj").write_text("1\n")
        (packages / "intel-rapl:0" / "energy_uj").chmod(0)
        self.open_to_nobody(COMMAND)
        environment = os.environ | NO_GPU | {"GPUT_SYSFS": str(self.folder / "sys")}
        done = subprocess.run([*AS_NOBODY, "./gpu-tracker", "doctor", "--fix-script"], cwd=self.folder, env=environment,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "#!/bin/sh")
        self.assertNotIn("setcap", done.stdout)
        self.assertIn(f"chmod a+r {self.folder}/sys/class/powercap/intel-rapl:*/energy_uj", lines)
        self.assertNotIn("sudo", done.stdout)
        self.assertEqual(subprocess.run(["sh", "-n"], input=done.stdout, text=True).returncode, 0)
        closed = self.folder / "sys" / "class" / "powercap" / "intel-rapl:0" / "energy_uj"
        subprocess.run(["sh"], input="\n".join(line for line in lines if not line.startswith("sysctl")), text=True, check=True)
        self.assertTrue(closed.stat().st_mode & 0o004)

    def test_a_script_goes_to_a_file_too_and_says_what_is_to_be_done_by_hand(self):
        self.doctor("--fix-script", "-o", "fix.sh", scenario="library_version_mismatch\n")
        self.assertTrue((self.folder / "fix.sh").read_text().startswith("#!/bin/sh\n# Makes available what gpu-tracker doctor found unavailable."))

    def test_gpus_are_listed_with_what_they_do_not_report(self):
        scenario = "gpu GPU-aaaa\nname NVIDIA A\npci 0:41:0\nmemory 16000000000 0 0\ngpu GPU-bbbb\nmemory 8000000000 0 0\n" \
            "code nvmlDeviceGetPowerUsage 3\n"
        gpus = self.findings(scenario=scenario)["gpus"]
        self.assertEqual([gpu["uuid"] for gpu in gpus], ["GPU-aaaa", "GPU-bbbb"])
        self.assertEqual((gpus[0]["name"], gpus[0]["pci_address"], gpus[0]["ram_capacity"]), ("NVIDIA A", "0000:41:00.0", 16.0))
        self.assertNotIn("missing", gpus[0])
        self.assertEqual(gpus[1]["missing"], "power: not supported by this GPU")
        text = self.doctor(scenario=scenario)
        self.assertIn("\nGPU 0: NVIDIA A\n   UUID: GPU-aaaa\n   PCI address: 0000:41:00.0\n   RAM capacity: 16.0 gigabytes\n", text)
        self.assertIn("\n   Missing: power: not supported by this GPU\n", text)

    def test_lines_fit_a_terminal_and_files_have_them_whole(self):
        text = self.doctor(**NO_GPU)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80)
        self.doctor("-o", "doctor.txt", **NO_GPU)
        whole = (self.folder / "doctor.txt").read_text()
        self.assertGreater(max(map(len, whole.splitlines())), 80)
        self.assertEqual(text.split(), whole.split())
        terminal = ViewTerminal(["doctor"], self.folder, columns=60, **NO_GPU)
        self.addCleanup(terminal.close)
        self.assertEqual(terminal.end(), 0)
        begin = len(terminal.written.split(b"processes, RSS, threads")[0].split(b"\n")[-1])
        self.assertRegex(terminal.written, b"CPU( and)?\r\n {%d}(and )?RAM of the system\r\n" % begin)

    def test_a_driver_that_fails_comes_with_the_way_out(self):
        nvml = self.findings(scenario="code nvmlInit 18\n")["sources"]["nvml"]
        self.assertEqual(nvml["state"], "unavailable")
        self.assertEqual(nvml["reason"], "NVIDIA driver and library versions differ (NVML code 18)")
        self.assertIn("restart the machine", nvml["remedy"])
        self.assertIn("To open it: restart the machine", self.doctor(scenario="code nvmlInit 18\n"))
        nvml = self.findings(scenario="code nvmlInit 9\n")["sources"]["nvml"]
        self.assertIn("modprobe nvidia", nvml["remedy"])

    def test_what_is_wrong_with_a_card_is_said(self):
        gpu = "gpu GPU-aaaa\nmemory 16000000000 0 0\n"
        wrong = "value nvmlDeviceGetCurrentClocksEventReasons 0x20\nvalue field/230 1\nvalue field/144 1\nvalue nvmlDeviceGetCurrPcieLinkWidth 8\n" \
            "value nvmlDeviceGetMaxPcieLinkWidth 16\n"
        health = "slowed by thermal; rows of memory wait to be replaced: the card needs a reset; the driver asks for gpu_reset; " \
            "its PCIe link has 8 of 16 lanes"
        self.assertEqual(self.findings(scenario=gpu + wrong)["gpus"][0]["health"], health)
        self.assertIn("   Health: slowed by thermal; ", self.doctor(scenario=gpu + wrong))
        fine = "value nvmlDeviceGetCurrentClocksEventReasons 0x1\nvalue field/230 0\nvalue field/144 0\n"
        for scenario in gpu, gpu + fine:
            self.assertNotIn("health", self.findings(scenario=scenario)["gpus"][0])

    def test_recorded_machines(self):
        for tree, source, state in (
            ("gpu-amd-discrete", "amdgpu", "available"),
            ("gpu-amd-apu", "amdgpu", "available"),
            ("gpu-i915", "drm", "partly"),
            ("gpu-xe", "drm", "partly"),
            ("gpu-two-vendors", "amdgpu", "available"),
        ):
            findings = self.findings(GPUT_NVML="/nonexistent", GPUT_SYSFS=str(FIXTURES / tree / "sys"))
            self.assertEqual(findings["sources"][source]["state"], state, tree)
            self.assertIn(source, [gpu["source"] for gpu in findings["gpus"]])
        kfd = self.findings(GPUT_SYSFS=str(FIXTURES / "gpu-amd-discrete" / "sys"))["sources"]["kfd"]
        self.assertEqual(kfd["state"], "available")

    def test_it_writes_to_a_file_and_names_wrong_options(self):
        self.assertEqual(self.doctor("-o", "out.json", "-f", "json"), "")
        self.assertIn("sources", json.loads((self.folder / "out.json").read_text()))
        self.assert_fails(
            self.run_command("doctor", "--gb", "voodoo"), 1, '"voodoo" is not a valid GPU brand. Valid values are amd, intel, nvidia'
        )
        self.assert_fails(
            self.run_command("doctor", "-f", "csv"), 1, '"csv" is not a valid format. Valid values are "text" or "json".'
        )


if __name__ == "__main__":
    main()
