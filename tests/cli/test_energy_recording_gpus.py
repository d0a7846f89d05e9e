"""Power of GPUs in recordings of AIPowerMeter's form."""

import datetime
import json
import re
import shutil
import subprocess

from command import PATIENCE, SOURCE, main, python, wait_until
from energy_machine import MOVE
from energy_recording import RecordingTest, TheirReader

FIXTURES = SOURCE / "tests" / "fixtures"


class RecordingOfGpus(RecordingTest):
    def test_what_a_gpu_does_not_report_is_not_there(self):
        calls = ("TotalEnergyConsumption", "PowerUsage", "UtilizationRates")
        scenario = "gpu GPU-a\nmemory 100 0 50\n" + "".join(f"code nvmlDeviceGet{call} 3\n" for call in calls)
        for driver in "json", "sqlite":
            done = self.run_command("energy", "record", "--output-folder", driver, "--energy-driver", driver, "--", "sleep", "0.5",
                                    env=self.gpu_environment(scenario))
            self.assertEqual(done.returncode, 0, done.stderr)
            metrics = json.loads(self.run_command("energy", "summary", driver, "-f", "json").stdout)["metrics"]
            self.assertEqual([name for name in metrics if re.search("power|rate", name)], [])
            self.assertEqual((metrics["per_gpu_nvidia_memory:0"]["max"], metrics["nvidia_mem_use:0"]["max"]), (50, 0))

    def test_aipowermeters_reader_has_numbers_for_each_gpu(self):
        """Its print() needs some of each, whatever the driver does not report; NaN is one. Memory is the card's."""
        whole = "gpu GPU-a\nmemory 1000 0 50\nutilization 50\npower_mw 100000\n"
        scenarios = {
            "no list": whole + "".join(f"code nvmlDeviceGet{kind}RunningProcesses 3\n" for kind in ("Compute", "Graphics")),
            "no use": whole + "code nvmlDeviceGetUtilizationRates 3\n",
            "no memory": whole + "".join(f"code nvmlDeviceGetMemoryInfo{version} 3\n" for version in ("", "_v2")),
            "no power": whole + "".join(f"code nvmlDeviceGet{call} 3\n" for call in ("PowerUsage", "TotalEnergyConsumption")),
            "instances": whole + "mig MIG-1\nmemory 50 0 10\nmig MIG-2\nmemory 50 0 10\n",
        }
        for name, scenario in scenarios.items():
            with self.subTest(name):
                done = self.run_command("energy", "record", "--output-folder", name, "--period", "0.1", "--", "sleep", "0.3",
                                        env=self.gpu_environment(scenario))
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = [entry["metrics"] for entry in self.lines(name) if isinstance(entry, dict)]
                self.assertEqual({next(iter(metrics["cpu"])) for metrics in lines}, {"total_mem_use"})  # whose time is taken for all
                for key in TheirReader.BY_GPU:
                    found = {gpu for metrics in lines for gpu, value in metrics["gpu"][key].items() if isinstance(value, float)}
                    self.assertEqual(found, {"0", "1"} if name == "instances" else {"0"}, key)
                held = {"no memory": None, "instances": 20}.get(name, 50)
                self.assertEqual(lines[-1]["gpu"]["nvidia_memory"], held)
                metrics = json.loads(self.run_command("energy", "summary", name, "-f", "json").stdout)["metrics"]
                self.assertFalse([metric for metric in metrics.values() if metric["average"] is None])  # NaN is read as missing

    def test_no_gpu_draws_megawatts(self):
        for name, milliwatts in ("too much", 2**32 - 1), ("much", 9_000_000):
            scenario = f"gpu GPU-a\nmemory 100 0 50\npower_mw {milliwatts}\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
            done = self.run_command("run", "-f", "json", "-o", f"{name}.json", "--", "sleep", "0.3", env=self.gpu_environment(scenario))
            self.assertEqual(done.returncode, 0, done.stderr)
            energy = json.loads((self.folder / f"{name}.json").read_text()).get("energy")
            self.assertEqual(bool(energy and energy["machine"]["gpu"]), name == "much", name)

    def test_what_was_used_before_the_first_sample_counts_too(self):
        scenario = "gpu GPU-a\nmemory 100 0 50\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
        done = self.run_command("run", "--energy-folder", "rec", "-f", "json", "-o", "out.json", "--", "sleep", "0.2", env=self.gpu_environment(scenario))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_near(self.summary()["metrics"]["nvidia_power"]["total"], json.loads((self.folder / "out.json").read_text())["energy"]["machine"]["gpu"])

    def record_gpus(self, scenarios, *options, sysfs="/nonexistent", figure="gpu"):
        """Scenarios, of 7 samples and 3 answers of the driver at least each, over a recording of one long period. The joules of the machine as
        the report has them."""
        change = """
import os, sys, time
def rows():
    return open("t.csv").read().count("\\n") if os.path.exists("t.csv") else 0
def answers():
    return open("calls").read().count("nvmlDeviceGetPowerUsage") if os.path.exists("calls") else 0
for scenario in sys.argv[2:]:
    open(sys.argv[1] + ".new", "w").write(scenario)
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    before = rows(), answers()
    while rows() < before[0] + 7 or ("code * " not in scenario and answers() < before[1] + 3):  # one that is lost is not asked
        time.sleep(0.02)
"""
        done = self.run_command("run", "--energy-folder", "rec", "--measurement-period", "60", "--st", "0.1", "--overwrite", "--tf", "t.csv", *options,
                                "-f", "json", "-o", "out.json", "--", *python(change, self.folder / "scenario", *scenarios),
                                env=self.gpu_environment(scenarios[0], sysfs) | {"FAKE_NVML_LOG": str(self.folder / "calls")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was lost: its figures are missing from here on", done.stderr)
        return json.loads((self.folder / "out.json").read_text())["energy"]["machine"][figure]

    def test_a_lost_gpu_keeps_its_joules(self):
        there = "gpu GPU-a\nmemory 100 0 50\nutilization 50\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
        for driver in "json", "sqlite":
            with self.subTest(driver=driver):
                shutil.rmtree(self.folder / "rec", ignore_errors=True)
                joules = self.record_gpus((there, there + "code * 15\n"), "--energy-driver", driver)
                self.assert_near(self.summary()["metrics"]["nvidia_power"]["total"], joules)
                self.assert_near(self.summary()["total_power_draw"], joules)

    def test_the_power_of_a_split_card_is_no_instances(self):
        scenario = "gpu GPU-a\nmemory 100 0 50\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n" \
            "mig MIG-1\nmemory 50 0 10\nmig MIG-2\nmemory 50 0 10\n"
        done = self.run_command("run", "--energy-folder", "rec", "-f", "json", "-o", "out.json", "--", "sleep", "0.3", env=self.gpu_environment(scenario))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_near(self.summary()["total_power_draw"], json.loads((self.folder / "out.json").read_text())["energy"]["machine"]["gpu"])
        self.assertFalse([name for name in self.summary()["metrics"] if name.startswith("per_gpu_nvidia_power")])
        self.assert_near(self.summary()["metrics"]["mig_card_power:0"]["total"], self.summary()["metrics"]["nvidia_power"]["total"])

    def test_no_line_is_drawn_to_where_a_gpu_is_back(self):
        there = "gpu GPU-a\nmemory 100 0 50\nutilization 50\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
        joules = self.record_gpus((there, there + "code * 15\n", there))
        summary = self.summary()
        metric = summary["metrics"]["nvidia_power"]
        self.assertEqual(metric["segments"], 2)
        self.assertLess(metric["seconds"], summary["exp_duration"] - 0.3)
        self.assertTrue(joules / 2 < metric["total"] <= joules * (1 + 1e-3))

    def test_after_the_loss_of_a_gpu_nothing_is_the_sum_of_all(self):
        one = "gpu GPU-a\nmemory 100 0 50\nutilization 50\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
        other = one.replace("GPU-a", "GPU-b")
        joules = self.record_gpus((one + other, one + other + "code * 15\n"))
        gpus = [entry["metrics"]["gpu"] for entry in self.lines() if isinstance(entry, dict)]
        both = [gpu for gpu in gpus if len(gpu["per_gpu_nvidia_power"]) == 2]
        alone = [gpu for gpu in gpus if len(gpu["per_gpu_nvidia_power"]) == 1]
        self.assertTrue(both and alone and all(gpu["nvidia_power"] for gpu in both))
        self.assertFalse([gpu for gpu in alone if gpu["nvidia_power"] is not None])
        self.assertIsNone(alone[-1]["nvidia_memory"])
        self.assertEqual(list(alone[-1]["per_gpu_nvidia_use_rate"]), ["0"])
        self.assert_near(self.summary()["total_power_draw"], joules)  # of the one that is left

    def test_a_split_card_goes_on_after_the_loss_of_another_gpu(self):
        lost = "gpu GPU-a\nmemory 100 0 50\nutilization 50\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
        card = lost.replace("GPU-a", "GPU-b") + "mig MIG-1\nmemory 50 0 10\nmig MIG-2\nmemory 50 0 10\n"
        joules = self.record_gpus((lost + card, lost + "code * 15\n" + card))
        self.assert_near(self.summary()["total_power_draw"], joules)
        metrics = self.summary()["metrics"]
        self.assertGreater(metrics["mig_card_power:1"]["seconds"], metrics["nvidia_power"]["seconds"] + 0.3)

    def test_a_gpu_in_the_package_is_never_added(self):
        self.machine.add("intel-rapl:0", "package-0")
        shutil.copytree(FIXTURES / "gpu-amd-apu" / "sys", self.machine.root, dirs_exist_ok=True)
        there = "gpu GPU-a\nmemory 100 0 50\nutilization 50\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
        mover = subprocess.Popen(python(MOVE, *self.machine.move(PATIENCE, package_0=50)))
        self.processes.append(mover)
        before = self.machine.counter("intel-rapl:0").read_text()
        wait_until(lambda: self.machine.counter("intel-rapl:0").read_text() != before, "a counter that moves")
        joules = self.record_gpus((there, there + "code * 15\n"), sysfs=self.machine.root, figure="total")
        metrics = self.summary()["metrics"]
        in_package, = (metric for name, metric in metrics.items() if name.startswith("in_package_gpu_power:"))
        self.assertGreater(in_package["total"], 0)
        own, = (metric for name, metric in metrics.items() if name.startswith("per_gpu_nvidia_power:"))
        self.assert_near(own["total"], metrics["nvidia_power"]["total"])
        self.assert_near(self.summary()["total_power_draw"], joules)

    def test_a_gpus_power_is_what_its_counter_moved_by(self):
        scenario, log = self.folder / "scenario", self.folder / "calls"
        environment = self.gpu_environment() | {"FAKE_NVML_LOG": str(log)}
        move = """
import os, sys, time
def write(joules):  # what it draws at this moment is little, always
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(f"gpu GPU-a\\nmemory 100 0 50\\nutilization 50\\npower_mw 100\\nenergy_mj {1000000 + int(joules * 1e3)}\\n")
    os.rename(sys.argv[1] + ".new", sys.argv[1])
def wait_until_read():  # the first of two answers may have begun before
    answers = lambda: open(sys.argv[3]).read().count("TotalEnergyConsumption")
    seen = answers()
    while answers() < seen + 2:
        time.sleep(0.01)
write(0)
if sys.argv[2:]:
    write(0.001)  # from when it moves the counter is believed
    wait_until_read()
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < float(sys.argv[2]):
        write(passed * 100)
        time.sleep(0.01)
    write(float(sys.argv[2]) * 100)
    wait_until_read()
"""
        subprocess.run(python(move, scenario), check=True)
        done = self.run_command(
            "energy", "record", "--output_folder", "rec", "--period", "0.1", "--measurement_period", "0.5", *python(move, scenario, "1.5", log),
            env=environment
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        *lines, _ = self.lines()
        dates = [datetime.datetime.fromisoformat(entry["date"]) for entry in lines]
        watts = [entry["metrics"]["gpu"]["nvidia_power"] for entry in lines]
        joules = sum((date - before).total_seconds() * watts for before, date, watts in zip(dates, dates[1:], watts[1:]))
        # Before the counter moves for the first time there is the power alone.
        self.assertTrue(120 < joules < 155, (joules, watts))
        for power, entry in zip(watts, lines):
            self.assertAlmostEqual(power, entry["metrics"]["gpu"]["per_gpu_nvidia_power"]["0"])


if __name__ == "__main__":
    main()
