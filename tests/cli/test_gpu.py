"""GPUs, as a user sees them: the built command with a fake libnvidia-ml.so.1 and recorded machines."""

import csv
import json
import os
import pickle
import sqlite3
import subprocess
import unittest

from command import BUILD, COMMAND, PATIENCE, SOURCE, CommandTest, main, python, refusal

FIXTURES = SOURCE / "tests" / "fixtures"

# Two GPUs; {main} and {child} hold memory on both.
TWO_GPUS = """
gpu GPU-aaaa
name NVIDIA A
memory 16000000000 300000000 5000000000
utilization 40
power_mw 150000
compute {main} 1000000000
compute {child} 250000000
sample {main} 1000 30
gpu GPU-bbbb
name NVIDIA B
memory 8000000000 0 2000000000
utilization 20
power_mw 50000
compute {child} 500000000
graphics {child} 100000000
"""

# Writes the scenario with its own pid and that of a child, and lives until both were seen for a while.
TREE = """
import os, subprocess, sys, time
scenario, text, seconds = sys.argv[1:]
child = subprocess.Popen(["sleep", "60"])
with open(scenario + ".new", "w") as file:
    file.write(text.replace("{main}", str(os.getpid())).replace("{child}", str(child.pid)))
os.rename(scenario + ".new", scenario)
time.sleep(float(seconds))
child.kill()
child.wait()
"""


# Takes each of the sizes in turn, in MB; lets go of one when the driver was asked who holds it, after its memory was read.
TAKE = """
import os, pathlib, sys, time
scenario, log, rest, *sizes = sys.argv[1:]

def calls():
    return [line.split()[1] for line in pathlib.Path(log).read_text().splitlines()]

for size in map(int, sizes):
    before = len(calls())
    with open(scenario + ".new", "w") as file:
        file.write(f"gpu GPU-aaaa\\nmemory 16000000000 0 {(size + 50) * 10**6}\\ncompute {os.getpid()} {size * 10**6}\\n" + rest)
    os.rename(scenario + ".new", scenario)
    at, new = 1, []
    while at > len(new):
        time.sleep(0.001)
        new, at = calls()[before:], 0
        for call in "MemoryInfo_v2", "ComputeRunningProcesses_v3", "MPSComputeRunningProcesses_v3":
            at = new.index(f"nvmlDeviceGet{call}", at) + 1 if f"nvmlDeviceGet{call}" in new[at:] else len(new) + 1
"""


class GpuTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.scenario = self.folder / "scenario"
        self.environment = os.environ | {
            "GPUT_NVML": str(BUILD / "tests" / "gpu" / "libfake-nvml.so"),
            "GPUT_SYSFS": "/nonexistent",
            "FAKE_NVML_SCENARIO": str(self.scenario),
        }

    def write(self, text):
        fresh = self.folder / "scenario.new"
        fresh.write_text(text)
        fresh.rename(self.scenario)

    def gpu_tracker(self, *arguments, **environment):
        return self.run_command(*arguments, env=self.environment | environment)

    def tracked(self, *options, command=("sleep", "0.3"), **environment):
        """Runs a command to its good end; returns the report and what was said on the way."""
        done = self.gpu_tracker(
            "run", "--st", "0.05", "--gru", "megabytes", "-f", "json", "-o", "out.json", *options, "--", *command, **environment
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "out.json").read_text()), done.stderr

    def tracked_tree(self, *options, scenario=TWO_GPUS, seconds=1):
        self.write("\n".join(line for line in scenario.splitlines() if "{" not in line))
        return self.tracked(*options, command=python(TREE, self.scenario, scenario, seconds))


# Sets the utilization to another figure once each sample has shown the one before.
STEPS = """
import os, sys, time
scenario, text, rows = sys.argv[1:]

def samples():
    with open(rows) as file:
        return max(sum(line.endswith("\\n") for line in file) - 3, 0)

for percent in 0, 90, 60:
    count = samples()
    with open(scenario + ".new", "w") as file:
        file.write(text.replace("{percent}", str(percent)))
    os.rename(scenario + ".new", scenario)
    while samples() < count + 3:
        time.sleep(0.01)
"""


class Peaks(GpuTest):
    def take(self, *sizes, rest="", options=()):
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        log = self.folder / "log"
        log.write_text("")
        command = python(TAKE, self.scenario, log, rest, *sizes)
        return self.tracked("--st", "0.01", *options, "--overwrite", command=command, FAKE_NVML_LOG=str(log))[0]

    def test_what_a_list_said_just_before_the_end_is_not_lost(self):
        report = self.take(100, 4000)
        self.assertEqual(report["max_gpu_ram"]["main"], 4000.0)
        self.assertEqual(report["gpus"][0]["max_main_ram"], 4000.0)

    def test_it_is_at_most_the_rise_of_the_device(self):
        report = self.take(100, 4000, 200)
        peaks = report["gpu_peaks"]
        self.assertEqual((peaks["unit"], peaks["list_age_seconds"]), ("megabytes", 0.0))
        for whose in "main", "combined":
            self.assertEqual((peaks[whose], peaks[f"{whose}_at_most"]), (4000.0, 4000.0))
            self.assertRegex(peaks[f"{whose}_source"], "at most: the rise of the memory in use")
        self.assertEqual(report["gpus"][0]["max_combined_ram_at_most"], 4000.0)

    def test_nothing_bounds_it_where_others_use_the_gpu(self):
        peaks = self.take(100, 4000, rest="compute 1 7000000\n")["gpu_peaks"]
        self.assertEqual((peaks["combined"], peaks["combined_at_most"]), (4000.0, None))
        self.assertRegex(peaks["combined_source"], "nothing bounds it")

    def test_a_list_that_does_not_come_in_time_has_its_age_reported(self):
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        hang = "delay_ms nvmlDeviceGetComputeRunningProcesses_v3 600000\ngpu GPU-aaaa\nmemory 16000000000 0 60000000\n"
        program = "import os, sys, time; open(sys.argv[1] + '.n', 'w').write(sys.argv[2]); os.rename(sys.argv[1] + '.n', sys.argv[1]); time.sleep(0.5)"
        report, _ = self.tracked("--st", "0.01", command=python(program, self.scenario, hang))
        self.assertGreater(report["gpu_peaks"]["list_age_seconds"], 0)
        self.assertRegex(report["sources"]["gpu_ram"]["reason"], r"the last answer came \d+\.\d\d s before the end$")


# Holds 4000 and 100 MB by turns.
ALTERNATE = """
import os, sys, time
scenario, first, turns = sys.argv[1:]
for turn in range(int(turns)):
    megabytes = 100 if turn % 2 else 4000
    with open(scenario + ".new", "w") as file:
        file.write(first + f"gpu GPU-aaaa\\nmemory 16000000000 0 {megabytes + 50}000000\\ncompute {os.getpid()} {megabytes}000000\\n")
    os.rename(scenario + ".new", scenario)
    time.sleep(0.25)
"""


class Rows(GpuTest):
    def rows_of(self, first):
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        command = python(ALTERNATE, self.scenario, first, 8)
        report, _ = self.tracked("--st", "0.05", "--tf", "rows.csv", command=command)
        with open(self.folder / "rows.csv", newline="") as file:
            names, *rows = list(csv.reader(file))[2:]
        self.assertEqual(report["max_gpu_ram"]["main"], 4000.0)
        whose = [names.index(f"{name}_gpu_ram") for name in ("main", "combined", "system")]
        return [[float(row[column] or "nan") for column in whose] for row in rows]

    def check(self, rows):
        self.assertTrue(any(main == 4000 for main, _, _ in rows))
        for main, combined, system in rows:
            self.assertFalse(main > system or combined > system, rows)

    def test_processes_have_at_most_what_is_in_use(self):
        self.check(self.rows_of(""))

    def test_processes_have_at_most_what_is_in_use_where_lists_are_late(self):
        self.check(self.rows_of("delay_ms nvmlDeviceGetComputeRunningProcesses_v3 60\n"))


class Figures(GpuTest):
    def test_mean_utilization_is_that_of_the_rows_of_the_tracking_file(self):
        text = "gpu GPU-aaaa\nmemory 16000000000 0 0\nutilization {percent}\n"
        self.write(text.replace("{percent}", "0"))
        report, _ = self.tracked("--st=0.1", "--tf=rows.csv", command=python(STEPS, self.scenario, text, "rows.csv"))
        with open(self.folder / "rows.csv", newline="") as file:
            names, *rows = list(csv.reader(file))[2:]
        percents = [float(row[names.index("gpu_sum_utilization_percent")]) for row in rows]
        self.assertEqual(percents[0], 0)
        self.assertEqual(set(percents), {0, 90, 60})
        mean = sum(percents) / len(percents)
        self.assertAlmostEqual(report["gpu_utilization"]["gpu_percentages"]["mean_sum_percent"], mean)
        self.assertAlmostEqual(report["gpus"][0]["mean_utilization_percent"], mean)

    def test_a_tree_that_uses_two_gpus(self):
        report, warnings = self.tracked_tree()
        self.assertEqual(warnings, "")
        ram = report["max_gpu_ram"]
        self.assertEqual(
            ram,
            {"unit": "megabytes", "system_capacity": 24000.0, "system": 7000.0, "main": 1000.0, "descendants": 750.0, "combined": 1750.0},
        )
        utilization = report["gpu_utilization"]
        self.assertEqual((utilization["system_gpu_count"], utilization["n_expected_gpus"]), (2, 2))
        self.assertEqual(utilization["gpu_percentages"]["max_sum_percent"], 60.0)
        self.assertAlmostEqual(utilization["gpu_percentages"]["mean_hardware_percent"], 30.0)

    def test_each_gpu_by_itself(self):
        report, _ = self.tracked_tree()
        first, second = report["gpus"]
        self.assertEqual((first["uuid"], first["name"], first["vendor"]), ("GPU-aaaa", "NVIDIA A", "nvidia"))
        self.assertEqual((first["ram_capacity"], first["max_ram"]), (16000.0, 5000.0))
        self.assertEqual((first["max_main_ram"], first["max_descendants_ram"]), (1000.0, 250.0))
        self.assertEqual((second["max_main_ram"], second["max_combined_ram"]), (0.0, 500.0))
        self.assertEqual(first["max_utilization_percent"], 40.0)
        self.assertAlmostEqual(first["mean_utilization_percent"], 40.0)
        self.assertEqual((first["max_main_sm_percent"], second["max_power_watts"]), (30.0, 50.0))

    def test_joules_of_constant_power(self):
        """Every figure is of its own moment, however late the driver answers."""
        for missing in ("TotalEnergyConsumption", "nothing"):
            self.write(
                "delay_ms nvmlDeviceGetPowerUsage 20\ngpu GPU-aaaa\nmemory 16000000000 0 1000\npower_mw 100000\n"
                f"code nvmlDeviceGet{missing} 3\nenergy_mj 5000\n"
            )
            report, _ = self.tracked("--st", "1", "--tf", "t.sqlite", "--overwrite", command=("sleep", "1.4"))
            self.assertLessEqual(report["energy"]["max_watts"], 105)
            self.assertAlmostEqual(report["energy"]["mean_watts"], 100, delta=2)
            with sqlite3.connect(self.folder / "t.sqlite") as database:
                rows = database.execute("SELECT gpu, timestamp FROM energy_data WHERE gpu > 0 ORDER BY timestamp").fetchall()
            (first, begin), (last, end) = rows[0], rows[-1]
            self.assertAlmostEqual((last - first) / (end - begin), 100, delta=2)
            self.assertEqual(rows, sorted(rows))

    def test_a_driver_that_answers_late_gives_joules_of_a_part_and_no_mean_power(self):
        self.write(
            "delay_ms nvmlDeviceGetPowerUsage 2000\ngpu GPU-aaaa\nmemory 16000000000 0 1000\npower_mw 100000\n"
            "code nvmlDeviceGetTotalEnergyConsumption 3\n"
        )
        report, _ = self.tracked("--st", "0.1", command=("sleep", "3"))
        self.assertLess(report["energy"]["machine"]["gpu"], 270)
        self.assertIsNone(report["energy"]["mean_watts"])
        self.assertIsNone(report["energy"]["max_watts"])
        self.assertIn("GPU 0 reported nothing for", report["sources"]["gpu_energy"]["reason"])

    def test_why_there_are_no_joules(self):
        unsupported = "code nvmlDeviceGetTotalEnergyConsumption 3\ncode nvmlDeviceGetPowerUsage 3\n"
        for scenario, reason in (
            (unsupported, "GPU 0 reported neither energy nor power: not supported by this GPU"),
            ("delay_ms nvmlDeviceGetPowerUsage 4000\n", "GPU 0 reported neither energy nor power: the driver has not answered yet"),
        ):
            self.write(scenario + "gpu GPU-aaaa\nmemory 16000000000 0 1000\npower_mw 100000\nenergy_mj 5000\n")
            report, _ = self.tracked()
            self.assertEqual(report["sources"]["gpu_energy"], {"state": "unavailable", "reason": reason})
            self.assertNotIn("energy", report)

    def test_joules_of_a_card_that_is_split(self):
        self.write(
            "gpu GPU-aaaa\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
            "mig MIG-1\nmemory 8000000000 0 1000\nmig MIG-2\nmemory 8000000000 0 1000\n"
        )
        report, _ = self.tracked("--st", "0.1", command=("sleep", "0.5"))
        self.assertAlmostEqual(report["energy"]["mean_watts"], 100, delta=2)
        self.assertEqual(report["energy"]["machine"]["total"], report["energy"]["machine"]["gpu"])
        self.assertEqual([gpu["max_power_watts"] for gpu in report["gpus"]], [None, None])
        self.assertIn("shared out by GPU memory", report["sources"]["gpu_energy"]["reason"])

    def test_each_process_by_itself(self):
        report, _ = self.tracked_tree("--processes", "--tf", "t.sqlite")
        held = {process["name"]: process["peak_gpu_ram_bytes"] for process in report["processes"]}
        self.assertEqual((max(held.values()), held["sleep"]), (1e9, 750e6))
        self.assertEqual(report["sources"]["process_gpu_ram"]["state"], "sampled")
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            rows = database.execute("SELECT peak_gpu_ram FROM process_data ORDER BY peak_gpu_ram DESC").fetchall()
        self.assertEqual(rows[:2], [(1000.0,), (750.0,)])

        self.write("gpu GPU-aaaa\nmemory 100 0 50\ncode nvmlDeviceGetComputeRunningProcesses_v3 4\n")
        report, _ = self.tracked("--processes")
        self.assertEqual([process["peak_gpu_ram_bytes"] for process in report["processes"]], [None])
        self.assertEqual(report["sources"]["process_gpu_ram"], {"state": "unavailable", "reason": "the NVIDIA driver denies permission"})
        report, _ = self.tracked("--processes", GPUT_NVML="/nonexistent")
        self.assertEqual([process["peak_gpu_ram_bytes"] for process in report["processes"]], [None])
        self.assertIn("no GPU was found", report["sources"]["process_gpu_ram"]["reason"])

    def test_only_selected_gpus_count_in_the_utilization(self):
        for word in ("GPU-bbbb", "1", "00000000:02:00.0"):
            report, _ = self.tracked_tree("--guuids", word, seconds=0.3)
            self.assertEqual(report["gpu_utilization"]["n_expected_gpus"], 1)
            self.assertEqual(report["gpu_utilization"]["gpu_percentages"]["max_hardware_percent"], 20.0)
            self.assertEqual(report["max_gpu_ram"]["system"], 7000.0)
            self.assertEqual([gpu["selected"] for gpu in report["gpus"]], [False, True])

    def test_tracking_files(self):
        self.tracked_tree("--tf", "t.sqlite")
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            times = {row[0] for row in database.execute("SELECT timestamp FROM data")}
            cursor = database.execute("SELECT * FROM gpu_data ORDER BY timestamp, uuid")
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row)) for row in cursor]
        self.assertEqual({row["timestamp"] for row in rows}, times)
        self.assertEqual(len(rows), 2 * len(times))
        last = [row for row in rows if row["main_ram"] and row["descendants_ram"]][-1]
        self.assertEqual(
            (last["uuid"], last["ram_used"], last["utilization_percent"], last["main_ram"], last["descendants_ram"], last["power_watts"]),
            ("GPU-aaaa", 5000.0, 40.0, 1000.0, 250.0, 150.0),
        )
        self.tracked_tree("--tf", "t.csv", seconds=0.3)
        with open(self.folder / "t.csv", newline="") as file:
            self.assertEqual({len(row) for row in list(csv.reader(file))[2:]}, {22})

    def test_vendors_next_to_each_other(self):
        self.write(TWO_GPUS.replace("{main}", "1").replace("{child}", "1"))
        report, warnings = self.tracked(GPUT_SYSFS=str(FIXTURES / "gpu-two-vendors" / "sys"))
        self.assertEqual([gpu["vendor"] for gpu in report["gpus"]], ["nvidia", "nvidia", "amd", "intel"])
        self.assertEqual(report["gpu_utilization"]["gpu_percentages"]["max_sum_percent"], 123.0)
        self.assertIn("not of the whole GPU", report["gpus"][3]["missing"])
        report, _ = self.tracked("--gb", "amd", GPUT_SYSFS=str(FIXTURES / "gpu-two-vendors" / "sys"))
        self.assertEqual([gpu["vendor"] for gpu in report["gpus"]], ["amd"])


class Trouble(GpuTest):
    def test_without_a_gpu_there_are_zeros_and_one_warning(self):
        report, warnings = self.tracked(GPUT_NVML="/nonexistent")
        self.assertEqual(warnings, "")  # it stands in the report
        warning = "gpu-tracker: warning: No GPU was found, so GPU figures stay 0 (why: gpu-tracker doctor).\n"
        self.assertEqual(self.gpu_tracker("-e", "true", GPUT_NVML="/nonexistent").stderr, warning)
        self.assertEqual(set(report["max_gpu_ram"].values()), {"megabytes", 0.0})
        self.assertEqual(report["gpu_utilization"]["system_gpu_count"], 0)
        self.assertNotIn("gpus", report)
        self.assertEqual(self.gpu_tracker("-e", "true", "--disable-logs", GPUT_NVML="/nonexistent").stderr, "")

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
        self.assertRegex(done.stderr, r"(?m)^  Not known  GPU")

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
        leave = "import os, sys, time; time.sleep(0.3); open(sys.argv[1] + '.new', 'w').write(sys.argv[2]); " \
            "os.rename(sys.argv[1] + '.new', sys.argv[1]); time.sleep(0.5)"
        report, _ = self.tracked("--overwrite", command=python(leave, self.scenario, gpu))
        self.assertEqual(report["energy"]["combined"], 0)

    def test_a_gpu_that_vanishes_costs_one_warning(self):
        gone = "gpu GPU-aaaa\nname A\ncode * 15\ngpu GPU-bbbb\nmemory 100000000 0 50000000\n"
        report, warnings = self.tracked_tree(scenario=gone, seconds=1)
        # The scenario stands from the start: GPU-aaaa is there, and every figure of it fails.
        self.assertEqual(report["max_gpu_ram"]["system"], 50.0)
        self.write(TWO_GPUS.replace("{main}", "1").replace("{child}", "1"))
        vanish = "import os, sys, time; time.sleep(0.3); open(sys.argv[1] + '.new', 'w').write(sys.argv[2]); " \
            "os.rename(sys.argv[1] + '.new', sys.argv[1]); time.sleep(0.7)"
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
        start = "import os, sys, time; open(sys.argv[1] + '.new', 'w').write('delay_ms * 600000\\n' + sys.argv[2]); " \
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


# A GPU in use, and a driver that lists no process, or pids of the host.
IN_USE = "gpu GPU-aaaa\nmemory 16000000000 0 9000000000\nutilization 40\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
UNKNOWN_PID = 4194304  # no process has this pid, which is above the kernel's highest
HOST_PIDS = IN_USE + f"compute {UNKNOWN_PID} 9000000000\nsample {UNKNOWN_PID} 1000 40\n"
HIDDEN = {"empty list": IN_USE, "pids of the host": HOST_PIDS}
# Takes memory of the GPU while it runs: writes one scenario, then another.
RISE = "import os, sys, time\nfor text in sys.argv[2:]:\n open(sys.argv[1] + '.new', 'w').write(text)\n" \
    " os.rename(sys.argv[1] + '.new', sys.argv[1]); time.sleep(0.5)"
SHARES = "main", "descendants", "combined"

# In a pid namespace of its own, where the host's procfs stands in the folder $0.
CONTAINER = ["unshare", "--mount", "--pid", "--fork", "sh", "-c",
             'mount --rbind /proc "$0" && mount -t proc proc /proc && exec "$@"']
NO_CONTAINER = refusal(*CONTAINER, "/mnt", "true")

# Writes the scenario with the pid that it has on the host, and one more than that.
ON_HOST = """
import os, sys, time
host, scenario, text = sys.argv[1:]
pid = int(os.readlink(host + "/self"))
with open(scenario + ".new", "w") as file:
    file.write(text.replace("{main}", str(pid)).replace("{inner}", str(os.getpid())))
os.rename(scenario + ".new", scenario)
time.sleep(1)
"""


class Containers(GpuTest):
    """What drivers hide from containers is missing, never 0."""

    def test_processes_that_may_be_hidden_hold_no_known_memory(self):
        for name, scenario in HIDDEN.items():
            with self.subTest(name):
                self.write(scenario)
                report, _ = self.tracked("--processes", "--overwrite")
                self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)
                self.assertEqual(report["max_gpu_ram"]["system"], 9000.0)
                gpu, = report["gpus"]
                self.assertIsNone(gpu["max_combined_ram"])
                self.assertIsNone(gpu["max_main_sm_percent"])
                self.assertRegex(gpu["missing"], "^process_ram, process_utilization: the driver lists ")
                source = report["sources"]["process_gpu_ram"]
                self.assertEqual(source["state"], "unavailable")
                self.assertRegex(source["reason"], "the driver lists .*; of the GPUs, by anybody, 9000 MB were in use at the start")
                self.assertEqual({process["peak_gpu_ram_bytes"] for process in report["processes"]}, {None})
                self.assertIsNone(report["energy"]["combined"])

    def test_memory_that_rises_while_only_ours_runs_may_be_ours_and_is_not_zero(self):
        idle = IN_USE.replace(" 9000000000\n", " 4000000\n").replace("utilization 40", "utilization 0")
        self.write(idle)
        report, _ = self.tracked("--tf", "t.csv", command=python(RISE, self.scenario, idle, IN_USE, idle))
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)
        self.assertIn("4 MB were in use at the start and 9000 MB at most", report["sources"]["process_gpu_ram"]["reason"])
        self.assertIsNone(report["energy"]["combined"])
        with open(self.folder / "t.csv", newline="") as file:
            lines = list(csv.reader(file))
        columns = [lines[2].index(f"{scope}_gpu_ram") for scope in SHARES]
        used = lines[2].index("system_gpu_ram")
        self.assertEqual({row[column] for row in lines[3:] for column in columns if row[used] == "9000.0"}, {""})
        self.assertIn("0.0", {row[columns[0]] for row in lines[3:]})

    def test_a_gpu_that_no_process_uses_is_not_used_by_ours(self):
        self.write("gpu GPU-aaaa\nmemory 16000000000 300000000 20000000\nutilization 0\n")
        report, _ = self.tracked("--processes")
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [0.0] * 3)
        self.assertNotIn("missing", report["gpus"][0])
        self.assertEqual(report["sources"]["process_gpu_ram"]["state"], "sampled")

    def test_one_gpu_that_may_hide_some_leaves_no_zero_of_the_others(self):
        idle = "gpu GPU-bbbb\nmemory 16000000000 0 1000000\nutilization 0\n"
        self.write(IN_USE + idle)
        report, _ = self.tracked()
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)
        self.assertEqual([gpu["max_combined_ram"] for gpu in report["gpus"]], [None, 0.0])
        denied = IN_USE + "code nvmlDeviceGetComputeRunningProcesses_v3 4\n"
        self.write(denied + idle)
        report, _ = self.tracked("--overwrite")
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)
        self.assertIn("denies permission", report["sources"]["process_gpu_ram"]["reason"])

    def test_reports_of_all_formats_say_why(self):
        self.write(HOST_PIDS)
        for form in "text", "full", "summary", "json", "pickle", "prometheus":
            done = self.gpu_tracker("run", "--st", "0.05", "--gru", "megabytes", "-f", form, "-o", form, "--", "sleep", "0.3")
            self.assertEqual(done.returncode, 0, done.stderr)
        why = "the driver lists only pids that are not in sight"
        for form in "text", "full":
            text = (self.folder / form).read_text()
            ram = text[text.index("Max GPU RAM:"):text.index("CPU utilization:")]
            self.assertEqual(ram.count(": n/a\n"), 3)
            self.assertIn("System: 9000.0\n", ram)
            self.assertIn(why, text)
        summary = (self.folder / "summary").read_text()
        self.assertIn("9 GB  peak, by whoever used it, of 16 GB", summary)
        self.assertIn("Process GPU RAM", summary)
        self.assertIn(why, (self.folder / "json").read_text())
        self.assertIn(why.encode(), (self.folder / "pickle").read_bytes())
        metrics = (self.folder / "prometheus").read_text()
        self.assertNotRegex(metrics, "(?m)^gputracker_(main|descendants|combined)_gpu_memory_bytes|^gputracker_gpu_combined_memory")
        self.assertRegex(metrics, "(?m)^gputracker_system_gpu_memory_used_bytes 9")
        self.assertIn('gputracker_source_info{source="process_gpu_ram",state="unavailable"} 1', metrics)

    def test_a_pickle_has_numbers_where_the_older_classes_have_them(self):
        self.write(IN_USE)
        self.gpu_tracker("run", "-f", "pickle", "-o", "t.pkl", "--", "true")

        class Any:
            class State:
                def __init__(self, value):
                    pass

        class Reader(pickle.Unpickler):
            def find_class(self, module, name):
                return Any.State if name == "Tracker.State" else Any if name == "Tracker" else type(name, (), {})

        with open(self.folder / "t.pkl", "rb") as file:
            tracker = Reader(file).load()
        self.assertEqual(tracker.resource_usage.max_gpu_ram.main, 0.0)
        self.assertIsNone(tracker.details["max_gpu_ram"]["main"])

    def test_doctor_says_what_is_hidden(self):
        self.write(IN_USE)
        doctor = json.loads(self.gpu_tracker("doctor", "-f", "json").stdout)
        nvml = doctor["sources"]["nvml"]
        self.assertEqual(nvml["state"], "partly")
        self.assertIn("lists no process while memory is in use", nvml["reason"])
        self.assertIn("--pid=host", nvml["remedy"])
        self.assertIn("process_ram", doctor["gpus"][0]["missing"])

    def test_who_has_no_file_of_the_driver_open_uses_no_gpu(self):
        control, device = self.folder / "nvidiactl", self.folder / "nvidia0"
        control.touch()
        device.touch()
        for scenario in HIDDEN.values():
            self.write(scenario)
            report, _ = self.tracked("--overwrite", FAKE_NVML_CONTROL=str(control), command=("sleep", "1"))
            self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [0.0] * 3)
            self.assertNotIn("process_gpu_ram", report["sources"])
            holder = python("import sys, time; file = open(sys.argv[1]); time.sleep(1)", device)
            report, _ = self.tracked("--overwrite", FAKE_NVML_CONTROL=str(control), command=holder)
            self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)

    def tracked_inside(self, container, command):
        words = [*container, COMMAND, "run", "--st", "0.05", "--gru", "megabytes", "--processes", "-f", "json", "-o", "out.json", "--"]
        done = subprocess.run(
            [*map(str, words), *command], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "out.json").read_text())

    @unittest.skipIf(NO_CONTAINER, f"cannot make a pid namespace: {NO_CONTAINER}")
    def test_pids_of_the_host_are_ours_where_its_procfs_is_mounted(self):
        host = self.folder / "host"
        host.mkdir()
        # The host's process with the pid that ours has inside is another one.
        scenario = IN_USE + "compute {main} 2000000000\ncompute {inner} 500000000\ncompute 2 100000000\n"
        self.write(IN_USE)
        report = self.tracked_inside([*CONTAINER, host], python(ON_HOST, host, self.scenario, scenario))
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [2000.0, 0.0, 2000.0])
        self.assertEqual([process["peak_gpu_ram_bytes"] for process in report["processes"]], [2e9])

    @unittest.skipIf(NO_CONTAINER, f"cannot make a pid namespace: {NO_CONTAINER}")
    def test_a_number_that_another_process_of_the_host_has_now_makes_pids_no_host_pids(self):
        host = self.folder / "host"
        host.mkdir()
        # The last entry is of a process in the container that has ended; outside, this process has its number.
        scenario = IN_USE + f"compute {{inner}} 500000000\ncompute {os.getpid()} 100000000\n"
        self.write(IN_USE)
        report = self.tracked_inside([*CONTAINER, host], python(ON_HOST, host, self.scenario, scenario))
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [500.0, 0.0, 500.0])

    @unittest.skipIf(NO_CONTAINER, f"cannot make a pid namespace: {NO_CONTAINER}")
    def test_pids_of_the_host_belong_to_no_process_where_no_procfs_shows_them(self):
        self.write(HOST_PIDS.replace(str(UNKNOWN_PID), str(os.getpid())))
        report = self.tracked_inside(["unshare", "--mount", "--pid", "--fork", "--mount-proc"], ["sleep", "0.5"])
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)

    @unittest.skipIf(NO_CONTAINER, f"cannot make a pid namespace: {NO_CONTAINER}")
    def test_a_pid_of_the_host_that_equals_ours_is_not_ours(self):
        control = self.folder / "nvidiactl"
        control.touch()
        self.environment["FAKE_NVML_CONTROL"] = str(control)
        container = ["unshare", "--mount", "--pid", "--fork", "--mount-proc"]
        write = "import os, sys, time\nif sys.argv[3]: file = open(sys.argv[3])\nopen(sys.argv[1] + '.new', 'w').write(" \
            "sys.argv[2].replace('{main}', str(os.getpid())))\nos.rename(sys.argv[1] + '.new', sys.argv[1]); time.sleep(1)"
        other = self.folder / "other"
        files = {name: self.folder / name for name in ("nvidia0", "nvidia-uvm")}
        for path in (other, *files.values()):
            path.touch()
        for opened, listed, expected in (
            (files["nvidia0"], "{main}", 2000.0),  # it has the driver's file open: the list has our pids
            (files["nvidia-uvm"], "1", None),  # another process here has that number, and does not use the GPU
            (other, "{main}", 0.0),  # it does not use the GPU, whatever pids are listed
        ):
            with self.subTest(opened=opened.name, listed=listed):
                scenario = IN_USE + f"compute {listed} 2000000000\n"
                self.write(IN_USE)
                report = self.tracked_inside(container, python(write, self.scenario, scenario, opened))
                self.assertEqual(report["max_gpu_ram"]["main"], expected)
                if expected is None:
                    self.assertIn("pids that may be of the host", report["sources"]["process_gpu_ram"]["reason"])
                (self.folder / "out.json").unlink()


class NotAvailable(GpuTest):
    """Memory and use that the driver does not report."""

    def test_memory_that_is_not_available_is_null(self):
        report, _ = self.tracked_tree("--processes", scenario=IN_USE + "compute {main} na\nsample {main} 1000 30\n")
        self.assertEqual((report["max_gpu_ram"]["main"], report["max_gpu_ram"]["combined"]), (None, None))
        self.assertEqual(report["max_gpu_ram"]["system"], 9000.0)
        self.assertIn("does not report it for the tracked processes", report["sources"]["process_gpu_ram"]["reason"])
        self.assertIn("does not report it", report["gpus"][0]["missing"])
        self.assertEqual({process["peak_gpu_ram_bytes"] for process in report["processes"]}, {None})
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
        self.assertIn("gives no samples of what processes use", report["gpus"][0]["missing"])
        why = "not shared out: of GPU 0, the GPU is busy, and the driver gives no samples of what processes use of it"
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
        for limit, passed in (("8GB", 0), ("1GB", 1)):
            _, said = self.tracked_tree("--limit", f"gpu_ram={limit}", "--overwrite")
            self.assertEqual(said.count("The gpu_ram limit"), passed, said)

    def test_joules_of_a_counter_that_never_moved_are_not_exact(self):
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 1000\nutilization 0\npower_mw 100000\nenergy_mj 5000\n")
        report, _ = self.tracked("--st", "0.1", command=("sleep", "1"))
        self.assertGreater(report["energy"]["machine"]["gpu"], 50)
        source = report["sources"]["gpu_energy"]
        self.assertEqual(source["state"], "sampled")
        self.assertIn("that of GPU 0 has not moved yet; its power was integrated instead", source["reason"])


if __name__ == "__main__":
    main()
