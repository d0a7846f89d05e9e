"""GPUs, as a user sees them: the built command with a fake libnvidia-ml.so.1 and recorded machines."""

import csv
import json
import sqlite3

from command import SOURCE, main, python
from fake_gpu import AFTER_TICKS, BRIEF, TWO_GPUS, GpuTest
from nvml_calls import WAIT_UNTIL_LISTED

FIXTURES = SOURCE / "tests" / "fixtures"

# Takes each of the sizes in turn, in MB; lets go of one when the driver was asked who holds it, after its memory was read.
TAKE = WAIT_UNTIL_LISTED + """
import os, sys
scenario, log, rest, *sizes = sys.argv[1:]

for size in map(int, sizes):
    n_before = len(nvml_calls(log))
    with open(scenario + ".new", "w") as file:
        file.write(f"gpu GPU-aaaa\\nmemory 16000000000 0 {(size + 50) * 10**6}\\ncompute {os.getpid()} {size * 10**6}\\n" + rest)
    os.rename(scenario + ".new", scenario)
    wait_until_listed(log, n_before)
"""

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


# Ends when the driver was asked for power.
ASKED = """
import os, time
while "nvmlDeviceGetPowerUsage" not in open(os.environ["FAKE_NVML_LOG"]).read():
    time.sleep(0.01)
time.sleep(0.3)
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
        # A busy machine may take no sample between two lists, of which the first is then not seen, or not list in time for the end,
        # which is said: then again.
        for _ in range(20):
            report = self.take(100, 4000, 200)
            peaks = report["gpu_peaks"]
            if peaks["list_age_seconds"] == 0:
                # Whoever was late: the memory in use was read, which bounds what no list says.
                self.assertEqual((peaks["main_at_most"], report["gpus"][0]["max_ram"]), (4000.0, 4050.0))
                self.assertEqual(report["max_gpu_ram"]["system"], 4050.0)
                if peaks["main"] == 4000:
                    break
        self.assertEqual((peaks["unit"], peaks["list_age_seconds"]), ("megabytes", 0.0))
        for whose in "main", "combined":
            self.assertEqual((peaks[whose], peaks[f"{whose}_at_most"]), (4000.0, 4000.0))
            self.assertRegex(peaks[f"{whose}_source"], "at most: the rise of the memory in use")
        self.assertEqual(report["gpus"][0]["max_combined_ram_at_most"], 4000.0)

    def test_processes_have_at_most_what_was_in_use(self):
        """Drivers may count memory twice, and lists may come late."""
        twice = "gpu GPU-aaaa\nmemory 16000000000 0 1000000000\ncompute {main} 1500000000\n"
        hold = "import os, sys, time; open(sys.argv[1], 'w').write(sys.argv[2].replace('{main}', str(os.getpid()))); time.sleep(2)"
        late = "delay_ms nvmlDeviceGetMemoryInfo_v2 150\n"
        for command in python(hold, self.scenario, twice), python(ALTERNATE, self.scenario, late, 8):
            self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
            report, _ = self.tracked("--st", "0.05", "--processes", command=command)
            ram, gpu = report["max_gpu_ram"], report["gpus"][0]
            self.assertGreaterEqual(ram["combined"], 100)
            self.assertGreaterEqual(ram["system"], ram["combined"])
            self.assertGreaterEqual(gpu["max_ram"], gpu["max_combined_ram"])
            if twice in command:
                peak, = {process["peak_gpu_ram"] for process in report["processes"]}
                self.assertEqual([ram["system"], ram["combined"], gpu["max_ram"], gpu["max_combined_ram"], peak], [1000.0] * 5)

    def test_nothing_bounds_it_where_others_use_the_gpu(self):
        peaks = self.take(100, 4000, rest="compute 1 7000000\n")["gpu_peaks"]
        self.assertEqual((peaks["combined"], peaks["combined_at_most"]), (4000.0, None))
        self.assertRegex(peaks["combined_source"], "no upper bound")

    def test_a_gpu_that_was_named_and_not_used_is_named(self):
        """Nothing of an idle GPU is late."""
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 0\n")
        for options, environment in ((), {"CUDA_VISIBLE_DEVICES": "0"}), (("--guuids", "GPU-aaaa"), {}):
            done = self.gpu_tracker("run", *options, "--", "sleep", "1.2", **environment)
            self.assertIn("GPU 0 was not used by the command.", done.stderr)
            self.assertNotIn("late", done.stderr)

    def test_a_list_that_does_not_come_in_time_has_its_age_reported(self):
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        hang = "delay_ms nvmlDeviceGetComputeRunningProcesses_v3 600000\ngpu GPU-aaaa\nmemory 16000000000 0 50000000\n"
        program = AFTER_TICKS + "import sys; open(sys.argv[1] + '.n', 'w').write(sys.argv[2]); os.rename(sys.argv[1] + '.n', sys.argv[1]); time.sleep(2)"
        report, _ = self.tracked("--st", "0.01", command=python(program, self.scenario, hang))
        self.assertGreater(report["gpu_peaks"]["list_age_seconds"], 0)
        self.assertRegex(report["sources"]["gpu_ram"]["reason"], r"the last answer came \d+\.\d\d s before the end$")
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        (self.folder / "calls").write_text("")
        taken = hang.replace(" 50000000", " 90000000")  # by whom is not known
        report, _ = self.tracked("--st", "0.01", "--overwrite", command=python(program, self.scenario, taken))
        self.assertEqual([report["max_gpu_ram"][whose] for whose in ("main", "descendants", "combined", "system")], [None] * 3 + [90.0])
        self.assertIn("last list is from before the memory in use has changed", report["sources"]["process_gpu_ram"]["reason"])

    def test_samples_say_how_old_the_lists_of_a_slow_driver_are(self):
        """The last one comes in time."""
        slow = "delay_ms nvmlDeviceGetComputeRunningProcesses_v3 1500\n"
        program = """
import os, sys, time
for delay, megabytes, seconds in (sys.argv[2], 500, 2.5), (sys.argv[2], 1000, 2.5), ("", 1000, 1):
    with open(sys.argv[1] + ".n", "w") as file:
        file.write(f"{delay}gpu GPU-aaaa\\nmemory 16000000000 0 {megabytes}000000\\ncompute {os.getpid()} {megabytes}000000\\n")
    os.rename(sys.argv[1] + ".n", sys.argv[1])
    time.sleep(seconds)
"""
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        report, _ = self.tracked("--st", "0.1", command=python(program, self.scenario, slow))
        self.assertGreater(report["gpu_peaks"]["late_list_seconds"], 1)
        self.assertRegex(report["sources"]["gpu_ram"]["reason"], r"; the driver is slow: samples have figures up to [1-9]\.\d\d s old, ")
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        done = self.gpu_tracker("run", "--st", "0.1", "--", *python(program, self.scenario, slow))
        self.assertRegex(done.stderr, r"GPU 0 +1 GB  peak, at least: the driver's list was [1-9]\.\d s late, of 16 GB")


class Rows(GpuTest):
    def check(self, first):
        """The report; no row has more than was in use."""
        self.write("gpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        command = python(ALTERNATE, self.scenario, first, 8)
        report, _ = self.tracked("--st", "0.05", "--tf", "rows.csv", command=command)
        with open(self.folder / "rows.csv", newline="") as file:
            names, *rows = list(csv.reader(file))[2:]
        whose = [names.index(f"{name}_gpu_ram") for name in ("main", "combined", "system")]
        rows = [[float(row[column] or "nan") for column in whose] for row in rows]
        self.assertTrue(any(main >= 100 for main, _, _ in rows))
        for main, combined, system in rows:
            self.assertFalse(main > system or combined > system, rows)
        return report

    def test_processes_have_at_most_what_is_in_use(self):
        self.assertEqual(self.check("")["max_gpu_ram"]["main"], 4000.0)

    def test_processes_have_at_most_what_is_in_use_where_lists_are_late(self):
        self.check("delay_ms nvmlDeviceGetComputeRunningProcesses_v3 60\n")


class Start(GpuTest):
    """When the driver's library is opened, which takes tens of milliseconds."""

    def first_reading(self, *options, **environment):
        """Of the GPU, after the start of the command, which lives until there were ticks; and the report."""
        self.write("delay_ms nvmlInit 20\ngpu GPU-aaaa\nmemory 16000000000 0 50000000\npower_mw 100000\n")
        (self.folder / "calls").write_text("")
        report, said = self.tracked(*options, command=python(AFTER_TICKS), **environment)
        self.assertEqual(said, "")
        self.assertEqual(report["max_gpu_ram"]["system"], 50.0)
        self.assertEqual(report["sources"]["gpu_nvml"]["state"], "sampled")
        return report["gpus"][0]["first_reading_seconds"], report

    def test_the_command_does_not_wait_for_it(self):
        seconds, report = self.first_reading(CUDA_VISIBLE_DEVICES="0")
        self.assertGreater(seconds, 0)
        self.assertEqual((report["allowed"]["gpus"], report["gpu_utilization"]["n_expected_gpus"]), (1, 1))
        self.assertEqual(report["gpu_utilization"]["system_gpu_count"], 1)

    def test_it_waits_where_gpus_must_be_known_before(self):
        for options in ("--tf", "rows.csv"), ("--guuids", "GPU-aaaa"), ("--limit", "gpu_ram=1GB"):
            self.assertLessEqual(self.first_reading(*options, "--overwrite")[0], 0)

    def test_a_command_that_ends_before_does_not_wait_either(self):
        self.write("delay_ms nvmlInit 600000\ngpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        report, said = self.tracked(command=("true",), CUDA_VISIBLE_DEVICES="0")
        self.assertEqual(said, "")
        self.assertEqual({figure for name, figure in report["max_gpu_ram"].items() if name != "unit"}, {None})
        self.assertRegex(report["sources"]["gpu"]["reason"], "not asked: opening its library takes longer|has not answered yet")
        self.assertIsNone(report["allowed"]["gpus"])
        counts = report["gpu_utilization"]
        self.assertEqual((counts["system_gpu_count"], counts["n_expected_gpus"]), (None, None))
        done = self.gpu_tracker("job", "-f", "json", "out.json")
        self.assertIsNone(json.loads(done.stdout)["jobs"][0]["gpus"])

    def test_a_tracking_file_has_no_count_of_gpus_where_the_driver_has_not_answered(self):
        self.write("delay_ms nvmlInit 600000\ngpu GPU-aaaa\nmemory 16000000000 0 50000000\n")
        for name in "rows.csv", "rows.sqlite":
            self.tracked(f"--tf={name}")
            done = self.gpu_tracker("sub-track", "analyze", f"--tf={name}", "-f", "json")
            static = json.loads(done.stdout)["static_data"]
            self.assertEqual((static["system_gpu_count"], static["n_expected_gpus"]), (None, None))


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

    def assert_mean_power(self, report, watts):
        """Or, on a machine so busy that the driver first answered late, it is missing, and its source says so."""
        if report["energy"]["mean_watts"] is None:
            self.assertRegex(report["sources"]["gpu_energy"]["reason"], r"reported (nothing )?for [0-9.]+ s, which are missing")
            self.assertIsNone(report["energy"]["max_watts"])
        else:
            self.assertAlmostEqual(report["energy"]["mean_watts"], watts, delta=watts / 50)
            self.assertLessEqual(report["energy"]["max_watts"], watts * 1.05)

    def test_joules_of_constant_power(self):
        """Every figure is of its own moment, however late the driver answers."""
        for missing in ("TotalEnergyConsumption", "nothing"):
            self.write(
                "delay_ms nvmlDeviceGetPowerUsage 20\ngpu GPU-aaaa\nmemory 16000000000 0 1000\npower_mw 100000\n"
                f"code nvmlDeviceGet{missing} 3\nenergy_mj 5000\n"
            )
            report, _ = self.tracked("--st", "1", "--tf", "t.sqlite", "--overwrite", command=("sleep", "2.4"))
            self.assertIn("energy", report, report["sources"]["gpu_energy"])
            self.assert_mean_power(report, 100)
            with sqlite3.connect(self.folder / "t.sqlite") as database:
                rows = database.execute("SELECT gpu, timestamp FROM energy_data WHERE gpu > 0 ORDER BY timestamp").fetchall()
            (first, begin), (last, end) = rows[0], rows[-1]
            # A busy machine may have taken all of them at the end, next to each other: a millisecond more, then.
            self.assertAlmostEqual(last - first, 100 * (end - begin), delta=2 * (end - begin) + 0.1)
            self.assertEqual(rows, sorted(rows))

    def test_a_driver_that_answers_late_gives_joules_of_a_part_and_no_mean_power(self):
        self.write(
            "delay_ms nvmlDeviceGetPowerUsage 2000\ngpu GPU-aaaa\nmemory 16000000000 0 1000\npower_mw 100000\n"
            "code nvmlDeviceGetTotalEnergyConsumption 3\n"
        )
        answered_once = "until [ \"$(grep -c nvmlDeviceGetPowerUsage calls)\" -ge 2 ]; do sleep 0.1; done 2>errors; sleep 1"
        report, _ = self.tracked("--st", "0.1", "--tu", "seconds", command=("sh", "-c", answered_once), FAKE_NVML_LOG=str(self.folder / "calls"))
        self.assertLess(report["energy"]["machine"]["gpu"], 100 * (report["compute_time"]["time"] - 0.3))
        self.assertIsNone(report["energy"]["mean_watts"])
        self.assertIsNone(report["energy"]["max_watts"])
        self.assertIn("GPU 0 reported nothing for", report["sources"]["gpu_energy"]["reason"])

    def test_why_there_are_no_joules(self):
        unsupported = "code nvmlDeviceGetTotalEnergyConsumption 3\ncode nvmlDeviceGetPowerUsage 3\n"
        for scenario, command, reason in (
            (unsupported, BRIEF, "GPU 0 reported neither energy nor power: not supported by this GPU"),
            ("delay_ms nvmlDeviceGetPowerUsage 600000\n", python(ASKED), "GPU 0 reported neither energy nor power: the driver has not answered yet"),
        ):
            self.write(scenario + "gpu GPU-aaaa\nmemory 16000000000 0 1000\npower_mw 100000\nenergy_mj 5000\n")
            report, _ = self.tracked(command=command)
            self.assertEqual(report["sources"]["gpu_energy"], {"state": "unavailable", "reason": reason})
            self.assertNotIn("energy", report)

    def test_joules_of_a_card_that_is_split(self):
        self.write(
            "gpu GPU-aaaa\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
            "mig MIG-1\nmemory 8000000000 0 1000\nmig MIG-2\nmemory 8000000000 0 1000\n"
        )
        report, _ = self.tracked("--st", "0.1", command=("sleep", "0.5"))
        self.assert_mean_power(report, 100)
        self.assertEqual(report["energy"]["machine"]["total"], report["energy"]["machine"]["gpu"])
        self.assertEqual([gpu["max_power_watts"] for gpu in report["gpus"]], [None, None])
        self.assertIn("shared out by GPU memory", report["sources"]["gpu_energy"]["reason"])

    def test_each_process_by_itself(self):
        report, _ = self.tracked_tree("--processes", "--tf", "t.sqlite")
        held = {process["name"]: process["peak_gpu_ram"] for process in report["processes"]}
        self.assertEqual((max(held.values()), held["sleep"]), (1000.0, 750.0))
        self.assertEqual(report["sources"]["process_gpu_ram"]["state"], "sampled")
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            rows = database.execute("SELECT peak_gpu_ram FROM process_data ORDER BY peak_gpu_ram DESC").fetchall()
        self.assertEqual(rows[:2], [(1000.0,), (750.0,)])

        self.write("gpu GPU-aaaa\nmemory 100 0 50\ncode nvmlDeviceGetComputeRunningProcesses_v3 4\n")
        report, _ = self.tracked("--processes")
        self.assertEqual([process["peak_gpu_ram"] for process in report["processes"]], [None])
        self.assertEqual(report["sources"]["process_gpu_ram"], {"state": "unavailable", "reason": "the NVIDIA driver denies permission"})
        report, _ = self.tracked("--processes", GPUT_NVML="/nonexistent")
        self.assertEqual([process["peak_gpu_ram"] for process in report["processes"]], [None])
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
            data_columns = [column[0] for column in database.execute("SELECT * FROM data").description]
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
            _, _, header, *rows = csv.reader(file)
        self.assertEqual(header, data_columns)  # and none of each GPU
        self.assertEqual({len(row) for row in rows}, {len(header)})

    def test_vendors_next_to_each_other(self):
        self.write(TWO_GPUS.replace("{main}", "1").replace("{child}", "1"))
        report, warnings = self.tracked(GPUT_SYSFS=str(FIXTURES / "gpu-two-vendors" / "sys"))
        self.assertEqual([gpu["vendor"] for gpu in report["gpus"]], ["nvidia", "nvidia", "amd", "intel"])
        self.assertEqual(report["gpu_utilization"]["gpu_percentages"]["max_sum_percent"], 123.0)
        self.assertIn("not of the whole GPU", report["gpus"][3]["missing"])
        report, _ = self.tracked("--gb", "amd", GPUT_SYSFS=str(FIXTURES / "gpu-two-vendors" / "sys"))
        self.assertEqual([gpu["vendor"] for gpu in report["gpus"]], ["amd"])


if __name__ == "__main__":
    main()
