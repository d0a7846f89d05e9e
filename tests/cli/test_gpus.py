"""gpu-tracker gpus: who is on which card with how much, and how the card is."""

import csv
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import time

from command import BUILD, COMMAND, SOURCE, CommandTest, main, python
from fake_gpu import IN_USE, WAIT, GpuTest

FIXTURES = SOURCE / "tests" / "fixtures"
CARD = """
driver 580.95.05
gpu GPU-aaaa
name NVIDIA H200
pci 0:41:0
memory 141000000000 0 12300000000
utilization 87
power_mw 412000
compute {pid} 10200000000
sample {pid} 1000 85
value nvmlDeviceGetClockInfo/0 1755
value nvmlDeviceGetClockInfo/2 3201
value nvmlDeviceGetMaxClockInfo/0 1980
value nvmlDeviceGetTemperature/0 61
value nvmlDeviceGetPerformanceState 0
value nvmlDeviceGetEnforcedPowerLimit 700000
value nvmlDeviceGetCurrPcieLinkGeneration 5
value nvmlDeviceGetCurrPcieLinkWidth 8
value nvmlDeviceGetMaxPcieLinkGeneration 5
value nvmlDeviceGetMaxPcieLinkWidth 16
value nvmlDeviceGetCurrentClocksEventReasons 0x4
value field/74 1500000000
value field/76 0
value field/251 0
value field/252 250000000
value field/253 0
value field/4 2
value field/230 1
value field/138 2048
"""
PARTS = """value nvmlGpmQueryDeviceSupport 1
value gpm/2 31
value gpm/3 20
value gpm/5 4
value gpm/10 12
value gpm/12 25
value gpm/20 100
value gpm/60 2
value gpm/61 3
"""
BARE = "gpu GPU-bbbb\nname NVIDIA B\nmemory 8000000000 0 0\n"
NO_GPU = {"GPUT_NVML": "/nonexistent", "GPUT_SYSFS": "/nonexistent"}


class Gpus(CommandTest):
    def setUp(self):
        super().setUp()
        self.sleeper = subprocess.Popen(["sleep", "600"])
        self.addCleanup(self.sleeper.wait)
        self.addCleanup(self.sleeper.kill)

    def environment(self, scenario):
        (self.folder / "scenario").write_text(scenario.replace("{pid}", str(self.sleeper.pid)))
        return os.environ | {
            "GPUT_NVML": str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"),
            "GPUT_SYSFS": "/nonexistent",
            "FAKE_NVML_SCENARIO": str(self.folder / "scenario"),
        }

    def gpus(self, *options, scenario=CARD + BARE, status=0, **environment):
        done = self.run_command("gpus", *options, env=self.environment(scenario) | environment)
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return done.stdout

    def test_people_see_who_is_on_which_card_and_what_it_is_slowed_by(self):
        lines = self.gpus().splitlines()
        self.assertEqual(lines[0], "GPU 0  NVIDIA H200  0000:41:00.0")
        self.assertEqual(lines[1], "  RAM 12.3 GB of 141 GB · busy 87 % · 412 of 700 W · 61 °C · 1755 of 1980 MHz · P0 · PCIe 5 x8 (of 5 x16)")
        self.assertEqual(lines[2:5], ["  slowed by power_cap", "  2 memory errors that could not be corrected (ECC)", "  the driver asks for gpu_reset"])
        self.assertEqual(lines.pop(5), "  its PCIe link has 8 of 16 lanes")
        self.assertEqual(lines[5].split(), ["PID", "USER", "RAM", "BUSY", "COMMAND"])
        fields = lines[6].split()
        self.assertEqual([fields[0], *fields[2:]], [str(self.sleeper.pid), "10.2", "GB", "85", "%", "sleep", "600"])
        self.assertEqual(lines[8:], ["GPU 1  NVIDIA B  0000:02:00.0", "  RAM 0 B of 8 GB · busy 0 % · 0 W", "  no process"])

    def test_programs_get_every_figure_and_what_is_missing_with_its_reason(self):
        both = json.loads(self.gpus("-f", "json"))
        card, bare = both["gpus"]
        self.assertEqual({key: card[key] for key in ("uuid", "graphics_clock_mhz", "memory_clock_mhz", "temperature_celsius", "performance_state",
                                                     "power_limit_watts", "pcie_width", "max_pcie_width", "slowdown_reasons", "recovery_action",
                                                     "power_cap_seconds", "hardware_thermal_seconds", "sync_boost_seconds", "memory_busy_percent",
                                                     "ecc_uncorrected_errors", "nvlink_transmitted_bytes", "n_processes", "compute_mode")},
                         {"uuid": "GPU-aaaa", "graphics_clock_mhz": 1755, "memory_clock_mhz": 3201, "temperature_celsius": 61, "performance_state": 0,
                          "power_limit_watts": 700, "pcie_width": 8, "max_pcie_width": 16, "slowdown_reasons": "power_cap",
                          "recovery_action": "gpu_reset", "power_cap_seconds": 1.5, "hardware_thermal_seconds": 0.25, "sync_boost_seconds": 0,
                          "memory_busy_percent": 10, "ecc_uncorrected_errors": 2, "nvlink_transmitted_bytes": 2097152, "n_processes": 1,
                          "compute_mode": "default"})
        self.assertIsNone(card["fan_percent"])
        self.assertIn("fan_percent", card["missing"])
        self.assertIsNone(bare["graphics_clock_mhz"])
        self.assertIsNone(bare["slowdown_reasons"])
        self.assertIsNone(bare["power_cap_seconds"])
        self.assertIn("graphics_clock_mhz, memory_clock_mhz", bare["missing"])
        self.assertIn("not supported by this GPU", bare["missing"])
        process, = both["processes"]
        self.assertEqual((process["gpu"], process["uuid"], process["pid"], process["ram_bytes"], process["sm_percent"], process["command"]),
                         (0, "GPU-aaaa", self.sleeper.pid, 10200000000, 85, "sleep 600"))

    def parts(self, *options, scenario):
        done = self.run_command("gpus", "--parts", *options, env=self.environment(scenario))
        self.assertEqual((done.returncode, done.stderr),
                         (0, "gpu-tracker: --gpu-parts reads the counters that DCGM reads, which may miss values meanwhile\n"))
        return done.stdout

    def cards_with_parts(self, scenario):
        return json.loads(self.parts("--table", "gpus", "-f", "json", scenario=scenario))

    def test_parts_of_the_chip_are_shown_where_they_are_asked_for(self):
        text = self.parts(scenario=CARD + PARTS + BARE)
        self.assertIn("\n  parts: SM 31 %, occupancy 20 %, tensor 4 %, memory 12 %, FP32 25 %: launch-bound\n", text)
        self.assertIn("\n  parts: n/a (NVIDIA GPUs count it from Hopper on, and not all of them)\n", text)
        card, bare = self.cards_with_parts(CARD + PARTS + BARE)
        self.assertEqual((card["sm_active_percent"], card["dram_bandwidth_percent"], card["pcie_transmit_bytes_per_second"],
                          card["nvlink_transmit_bytes_per_second"], card["nvlink_receive_bytes_per_second"], card["fp64_active_percent"]),
                         (31, 12, 100 * 2**20, 3 * 2**20, 2 * 2**20, None))
        self.assertRegex(card["missing"], r"fp64_active_percent, fp16_active_percent.*: not supported by this GPU")
        self.assertNotIn("sm_active_percent", card["missing"])
        self.assertIsNone(bare["sm_active_percent"])
        self.assertRegex(bare["missing"], r"sm_active_percent, sm_occupancy_percent[^:]*: NVIDIA GPUs count it from Hopper on")

    def test_every_figure_is_documented(self):
        documented = set(re.findall(r"`([a-z0-9_]+)`", (SOURCE / "docs/gpus.md").read_text()))
        card, *_ = self.cards_with_parts(CARD + PARTS)
        figures = set(list(card)[list(card).index("graphics_clock_mhz"):])
        self.assertGreater(len(figures), 50)
        self.assertEqual(figures - documented, set())

    def test_parts_that_were_not_asked_for_are_not_read(self):
        log = self.folder / "calls"
        card = json.loads(self.gpus("--table", "gpus", "-f", "json", scenario=CARD + PARTS, FAKE_NVML_LOG=str(log)))[0]
        self.assertNotIn("sm_active_percent", card)
        self.assertNotIn("sm_active_percent", card["missing"])
        self.assertIn("nvmlDeviceGetTemperature", log.read_text())
        self.assertNotIn("Gpm", log.read_text())

    def test_parts_that_are_refused_cost_themselves_alone_and_say_why(self):
        for line, reason in ("code nvmlGpmSampleGet 4\n", "the NVIDIA driver denies permission"), \
                ("code nvmlGpmQueryDeviceSupport 25\n", "this NVIDIA driver expects another version of the call"), \
                ("code nvmlGpmMetricsGet 10\n", "the NVIDIA driver timed out"), \
                ("delay_ms nvmlGpmSampleGet 600000\n", "the NVIDIA driver has not given two samples of it yet"):
            card, _ = self.cards_with_parts(line + CARD + PARTS + BARE)
            self.assertIsNone(card["sm_active_percent"])
            self.assertRegex(card["missing"], rf"sm_active_percent, [^:]*nvlink_receive_bytes_per_second: {reason}")
            self.assertEqual((card["temperature_celsius"], card["n_processes"]), (61, 1), line)

    def test_a_driver_without_counters_of_parts_and_one_with_nonsense(self):
        environment = self.environment(CARD) | {"GPUT_NVML": str(BUILD / "tests" / "fake-nvml" / "libfake-nvml-minimal.so")}
        done = self.run_command("gpus", "--parts", env=environment)
        self.assertIn("\n  parts: n/a (this NVIDIA driver has no such function)\n", done.stdout)
        card, = self.cards_with_parts(CARD + PARTS.replace("gpm/2 31", "gpm/2 4294967295"))
        self.assertEqual((card["sm_active_percent"], card["sm_occupancy_percent"]), (None, 20))
        self.assertIn("sm_active_percent: the NVIDIA driver has no figure now", card["missing"])

    def test_each_mig_instance_has_parts_of_its_own(self):
        slices = "".join(f"mig MIG-{name}\nmemory 40000000000 0 0\nvalue gpm/2 {sm}\n" for name, sm in (("a", 11), ("b", 22)))
        cards = self.cards_with_parts("gpu GPU-aaaa\nmemory 80000000000 0 0\nvalue nvmlGpmQueryDeviceSupport 1\nvalue gpm/2 99\n" + slices)
        self.assertEqual([(card["uuid"], card["sm_active_percent"]) for card in cards], [("MIG-a", 11), ("MIG-b", 22)])

    def test_csv_has_a_row_for_each_process_or_for_each_card(self):
        row, = csv.DictReader(io.StringIO(self.gpus("-f", "csv")))
        self.assertEqual((row["pid"], row["ram_bytes"], row["command"]), (str(self.sleeper.pid), "10200000000.0", "sleep 600"))
        cards = list(csv.DictReader(io.StringIO(self.gpus("-f", "csv", "--table", "gpus"))))
        self.assertEqual([(card["uuid"], card["temperature_celsius"]) for card in cards], [("GPU-aaaa", "61.0"), ("GPU-bbbb", "")])
        self.gpus("--table", "gpus", "-o", "cards.json")
        self.assertEqual([card["gpu"] for card in json.loads((self.folder / "cards.json").read_text())], [0, 1])

    def test_a_process_of_another_container_is_counted_and_not_named(self):
        text = self.gpus(scenario="gpu GPU-aaaa\nmemory 16000000000 0 9000000000\ncompute 4194304 9000000000\n")
        self.assertIn("\n  and 1 of no visible process (another container's)\n", text)
        card, = json.loads(self.gpus("--table", "gpus", "-f", "json", scenario="gpu GPU-aaaa\nmemory 16000000000 0 9000000000\ncompute 4194304 9000000000\n"))
        self.assertEqual(card["n_processes"], 1)

    def test_a_command_of_several_lines_is_no_row_of_its_own(self):
        command = python("import time\ntime.sleep(600)", "a\n  1  root  9 GB  9 %  forged\tb")
        self.sleeper = subprocess.Popen(command)
        self.addCleanup(self.sleeper.wait)
        self.addCleanup(self.sleeper.kill)
        lines = self.gpus(scenario=CARD).splitlines()
        self.assertEqual(len(lines), 8, lines)
        self.assertTrue(lines[7].endswith("import time time.sleep(600) a   1  root  9 GB  9 %  forged b"), lines)

    def test_only_the_wanted_cards_are_shown(self):
        text = self.gpus("--guuids", "GPU-bbbb")
        self.assertNotIn("GPU-aaaa", text)
        self.assertTrue(text.startswith("GPU 1  NVIDIA B"))

    def test_thermal_counters_are_those_of_the_driver_and_checked_against_its_reasons(self):
        # Where a newer driver has other things at the older numbers, and a driver that knows the newer ones alone.
        newer = "".join(f"value field/{field} {seconds}000000000\n" for field, seconds in ((269, 3), (270, 4), (271, 5)))
        smoothing = "value field/251 1\nvalue field/252 0\nvalue field/253 0\n"
        gpu = "gpu GPU-aaaa\nmemory 16000000000 0 0\nvalue nvmlDeviceGetCurrentClocksEventReasons 0\n"
        for driver, fields in ("590.12", newer + smoothing), ("580.95.05", newer), ("610.1", newer):
            card = json.loads(self.gpus("--table", "gpus", "-f", "json", scenario=f"driver {driver}\n{gpu}{fields}"))[0]
            seconds = [card[name] for name in ("thermal_seconds", "hardware_thermal_seconds", "power_brake_seconds")]
            self.assertEqual(seconds, [3, 4, 5], driver)

    def test_no_gpu_is_said_and_is_no_failure_but_a_broken_driver_is(self):
        done = self.run_command("gpus", env=os.environ | NO_GPU)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\ANo GPU was found: .*\nWhat each source needs: gpu-tracker doctor\n\Z")
        done = self.run_command("gpus", "-f", "json", env=os.environ | NO_GPU)
        self.assertEqual((done.returncode, json.loads(done.stdout)), (0, {"gpus": [], "processes": []}))
        done = self.run_command("gpus", "-f", "json", env=self.environment("code nvmlInit 999\n"))
        self.assertEqual((done.returncode, json.loads(done.stdout)["gpus"]), (1, []))
        self.assertIn("NVML code 999", done.stderr)

    def test_a_lost_card_and_a_refused_call_cost_that_figure_alone(self):
        refused = json.loads(self.gpus("--table", "gpus", "-f", "json", scenario=CARD + "code nvmlDeviceGetTemperature 4\n"))[0]
        self.assertIsNone(refused["temperature_celsius"])
        self.assertIn("temperature_celsius: the NVIDIA driver denies permission", refused["missing"])
        self.assertEqual(refused["graphics_clock_mhz"], 1755)
        lost = json.loads(self.gpus("--table", "gpus", "-f", "json", status=1, scenario=CARD + "code nvmlDeviceGetMemoryInfo_v2 15\n"))[0]
        self.assertIsNone(lost["temperature_celsius"])
        self.assertIn("the GPU was lost", lost["missing"])

    def test_a_driver_that_hangs_is_a_failure_and_a_list_that_hangs_costs_the_list_alone(self):
        text = self.gpus(status=1, scenario="delay_ms nvmlDeviceGetTemperature 60000\n" + CARD)
        self.assertIn("RAM n/a (the driver has not answered yet)", text)
        text = self.gpus(scenario="delay_ms nvmlDeviceGetComputeRunningProcesses_v3 60000\n" + CARD)
        self.assertIn("RAM 12.3 GB of 141 GB · busy 87 %", text)
        self.assertIn("processes: n/a (the driver has not answered yet)", text)

    def test_an_older_driver_has_what_it_has(self):
        card = json.loads(self.gpus("--table", "gpus", "-f", "json", GPUT_NVML=str(BUILD / "tests" / "fake-nvml" / "libfake-nvml-minimal.so")))[0]
        self.assertIsNone(card["temperature_celsius"])
        self.assertIn("this NVIDIA driver has no such function", card["missing"])

    def test_watching_goes_on_until_it_is_ended(self):
        environment = self.environment(CARD)
        for options, first, next_ in (["-f", "csv"], "time,gpu,uuid,", None), ([], "GPU 0  NVIDIA H200", "GPU 0  NVIDIA H200"):
            with subprocess.Popen([COMMAND, "gpus", "--watch", "--interval", "0.1", *options], env=environment, stdout=subprocess.PIPE, text=True) as watching:
                self.assertTrue(watching.stdout.readline().startswith(first))
                lines = [watching.stdout.readline() for _ in range(30)]
                watching.send_signal(signal.SIGTERM)
                watching.stdout.read()
                self.assertEqual(watching.wait(), -signal.SIGTERM)
            if next_:
                self.assertGreaterEqual(sum(line.startswith(next_) for line in lines), 2)
            else:
                self.assertFalse(any(line.startswith(first) for line in lines))
                self.assertEqual({line.split(",")[3] for line in lines}, {str(self.sleeper.pid)})

    def test_watching_makes_up_for_no_pause(self):
        options = ["--watch", "--interval", "0.1", "-f", "csv"]
        with subprocess.Popen([COMMAND, "gpus", *options], env=self.environment(CARD), stdout=subprocess.PIPE, text=True) as watching:
            for _ in range(2):
                watching.stdout.readline()
            watching.send_signal(signal.SIGSTOP)
            time.sleep(2.5)
            watching.send_signal(signal.SIGCONT)
            moments = [float(watching.stdout.readline().split(",")[0]) for _ in range(20)]
            watching.kill()
            watching.stdout.read()
        self.assertGreater(moments[-1] - moments[2], 1.5)  # 17 intervals, however late each is

    def test_bad_options_say_what_is_wrong(self):
        for options, message in (["--interval", "0"], "--interval is a number of seconds from 0.1 to 86400"), \
                (["--interval", "2"], "--interval needs --watch"), (["--watch", "-o", "x.csv"], "not to a file"), \
                (["--table", "cards"], "cards"), (["-f", "xml"], "xml"):
            done = self.run_command("gpus", *options, env=self.environment(CARD))
            self.assertNotEqual(done.returncode, 0, options)
            self.assertIn(message, done.stderr)
        self.assertFalse((self.folder / "x.csv").exists())

    def test_an_amd_card_has_its_processes(self):
        root = FIXTURES / "gpu-amd-discrete"
        text = json.loads(self.gpus("-f", "json", GPUT_NVML="/nonexistent", GPUT_SYSFS=str(root / "sys"), GPUT_PROCFS=str(root / "proc")))
        self.assertEqual(text["gpus"][0]["vendor"], "amd")
        self.assertIn(4242, [process["pid"] for process in text["processes"]])


# Once the driver has been asked for a while, the counters move.
CHANGES = WAIT + """
import sys
path, before, after = os.environ["FAKE_NVML_SCENARIO"], *sys.argv[1:]
text = open(path).read()
wait(0.3)
for old, new in zip(before.split(";"), after.split(";")):
    assert old in text, old
    text = text.replace(old, new)
with open(path + ".new", "w") as file:
    file.write(text)
os.rename(path + ".new", path)
wait(0.3)
"""
OF_SESSION = CARD.replace("compute {pid} 10200000000\nsample {pid} 1000 85\n", "").replace("EventReasons 0x4", "EventReasons 0")


class Sessions(GpuTest):
    def changed(self, *changes, scenario=OF_SESSION, options=()):
        """The report of a command that changes lines of the scenario, and its summary."""
        before, after = zip(*changes)
        report, _ = self.tracked_with(scenario, options, python(CHANGES, ";".join(before), ";".join(after)))
        return report["gpus"][0], report

    def tracked_with(self, scenario, options, command):
        self.write(scenario)
        return self.tracked(*options, command=command)

    def test_counters_are_exact_and_what_got_worse_is_said(self):
        gpu, report = self.changed(("field/74 1500000000", "field/74 2100000000"), ("field/4 2", "field/4 5"),
                                   ("Temperature/0 61", "Temperature/0 83"), options=["--tf", "t.sqlite"])
        self.assertAlmostEqual(gpu["power_cap_seconds"], 0.6)
        self.assertEqual([gpu[name] for name in ("sync_boost_seconds", "thermal_seconds", "hardware_thermal_seconds", "power_brake_seconds")], [0.0] * 4)
        self.assertEqual((gpu["slowed_by"], gpu["max_temperature_celsius"], gpu["power_limit_watts"], gpu["graphics_clock_limit_mhz"]),
                         ("power_cap 600 ms", 83.0, 700.0, 1980.0))
        self.assertEqual(gpu["health"], "3 new memory errors that could not be corrected")
        self.assertIn(report["sources"]["gpu_slowdowns"]["state"], ("exact", "sampled"))
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(gpu_data)")]
            rows = database.execute("SELECT power_cap_seconds, temperature_celsius, slowdown_reasons, fan_percent FROM gpu_data").fetchall()
        self.assertEqual(columns[:11], ["timestamp", "uuid", "ram_used", "utilization_percent", "main_ram", "descendants_ram", "combined_ram",
                                        "main_sm_percent", "descendants_sm_percent", "power_watts", "energy_joules"])
        self.assertNotIn("power_limit_watts", columns)  # a limit
        self.assertEqual((rows[0], rows[-1]), ((1.5, 61.0, "none", None), (2.1, 83.0, "none", None)))

    def test_a_csv_file_has_the_figures_of_each_gpu_in_a_file_next_to_it(self):
        self.changed(("field/74 1500000000", "field/74 2100000000"), options=["--tf", "t.csv"])
        with open(self.folder / "t.csv.gpu_data", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0])[:3], ["timestamp", "uuid", "ram_used"])
        self.assertNotIn("power_limit_watts", rows[0])  # a limit
        first, last = rows[0], rows[-1]
        self.assertEqual((first["power_cap_seconds"], last["power_cap_seconds"]), ("1.5", "2.1"))
        self.assertEqual((last["slowdown_reasons"], last["fan_percent"]), ("none", ""))
        with open(self.folder / "t.csv", newline="") as file:
            times = [row[21] for row in list(csv.reader(file))[3:]]
        self.assertEqual([row["timestamp"] for row in rows if row["uuid"] == first["uuid"]], times)
        job = self.run_command("job", *(path.name for path in self.folder.glob("*.csv")))
        self.assertNotIn("could not be read", job.stdout + job.stderr)
        self.run_command("timeline", "merge", "t.csv", "-o", "t.json")
        self.assertIn("temperature_celsius", (self.folder / "t.json").read_text())

    def test_a_summary_has_these_lines_only_where_there_is_something(self):
        changes = [("field/74 1500000000", "field/74 2100000000"), ("field/143 0", "field/143 1")]
        for wanted, (before, after) in (True, tuple(zip(*changes))), (False, ((), ())):
            self.write(OF_SESSION + "value field/143 0\n")
            command = python(CHANGES, ";".join(before), ";".join(after)) if wanted else python(WAIT + "wait(0.5)")
            done = self.gpu_tracker("run", "--st", "0.05", "--", *command)
            self.assertEqual("slowed by power_cap 600 ms" in done.stderr, wanted, done.stderr)
            self.assertEqual("health: 1 row of memory was replaced" in done.stderr, wanted, done.stderr)

    def test_parts_of_the_chip_are_measured_where_a_session_asks_for_them(self):
        done = {}
        for option in "--gpu-parts", "-q":
            self.write(OF_SESSION + PARTS)
            files = ["--tf", "t.sqlite", "--overwrite", "-o", "out.json", "--summary"]
            done[option] = self.gpu_tracker("run", "--st", "0.1", option, *files, "--", *python(WAIT + "wait(1.5)"))
            with sqlite3.connect(self.folder / "t.sqlite") as database:
                columns = [row[1] for row in database.execute("PRAGMA table_info(gpu_data)")]
            report = json.loads((self.folder / "out.json").read_text())
            gpu, = report["gpus"]
            asked = option == "--gpu-parts"
            self.assertEqual(("sm_active_percent" in columns, "gpu_parts" in report["sources"], gpu["mean_sm_active_percent"] is None),
                             (asked, asked, not asked))
            self.assertEqual(gpu["parts"], "SM 31 %, occupancy 20 %, tensor 4 %, memory 12 %, FP32 25 %: launch-bound" if asked else "")
            self.assertEqual("DCGM" in done[option].stderr, asked)
            self.assertEqual("parts: SM 31 %" in done[option].stderr, asked, done[option].stderr)
            if asked:
                self.assertEqual(report["sources"]["gpu_parts"]["state"], "sampled")
                with sqlite3.connect(self.folder / "t.sqlite") as database:
                    last = database.execute("SELECT tensor_active_percent, pcie_transmit_bytes_per_second, fp64_active_percent FROM gpu_data").fetchall()[-1]
                self.assertEqual(last, (4.0, 100 * 1048576.0, None))

    def test_parts_that_a_session_asks_for_and_a_driver_lacks_have_their_reason(self):
        self.write(OF_SESSION)
        report, _ = self.tracked("--gpu-parts")
        self.assertEqual((report["gpus"][0]["parts"], report["sources"]["gpu_parts"]["state"]), ("", "unavailable"))
        self.assertIn("NVIDIA", report["sources"]["gpu_parts"]["reason"])

    def test_a_counter_that_contradicts_the_reasons_is_withdrawn(self):
        # The driver says that the power limit slows the card, and its counter stands still.
        self.write(OF_SESSION.replace("EventReasons 0", "EventReasons 0x4"))
        report, _ = self.tracked(command=python(WAIT + "wait(4)"))
        gpu = report["gpus"][0]
        self.assertIsNone(gpu["power_cap_seconds"])
        self.assertRegex(gpu["slowed_by"], r"\Apower_cap in (\d+) of \1 readings\Z")

    def only_gpu(self):
        report, _ = self.tracked()
        return report["gpus"][0], report

    def test_a_card_that_nothing_slowed_says_so(self):
        self.write(OF_SESSION)
        self.assertEqual(self.only_gpu()[0]["slowed_by"], "nothing")

    def test_a_driver_that_only_gives_reasons_is_sampled(self):
        self.write(IN_USE + "value nvmlDeviceGetCurrentClocksEventReasons 0x20\n")
        report, _ = self.tracked()
        gpu = report["gpus"][0]
        self.assertIsNone(gpu["thermal_seconds"])
        self.assertRegex(gpu["slowed_by"], r"\Athermal in (\d+) of \1 readings\Z")
        self.assertEqual(report["sources"]["gpu_slowdowns"]["state"], "sampled")

    def test_a_driver_that_says_nothing_of_the_card_claims_nothing(self):
        self.write(IN_USE)
        gpu, report = self.only_gpu()
        for name in ("power_limit_watts", "max_temperature_celsius", "power_cap_seconds", "pcie_received_bytes"):
            self.assertIsNone(gpu[name], name)
        self.assertEqual((gpu["slowed_by"], gpu["health"]), ("", ""))
        self.assertNotIn("gpu_slowdowns", report["sources"])

    def test_a_counter_that_is_reset_is_said(self):
        for others, health in ((), "the counter power_cap_seconds began anew"), \
                ([("field/4 2", "field/4 0")], "the card was reset, or its driver was loaded again"):
            gpu, report = self.changed(("field/74 1500000000", "field/74 100000000"), *others)
            self.assertAlmostEqual(gpu["power_cap_seconds"], 0.1)
            self.assertEqual(gpu["health"], health)
            self.assertEqual(report["sources"]["gpu_slowdowns"]["state"], "sampled")

    def test_a_call_that_hangs_delays_nothing(self):
        self.write(OF_SESSION + "")
        scenario = "delay_ms nvmlDeviceGetTemperature 60000\n" + OF_SESSION
        command = python(WAIT + "import sys\npath = os.environ['FAKE_NVML_SCENARIO']\nopen(path + '.new', 'w').write(sys.argv[1])\nwait(0.2)\n"
                         "os.rename(path + '.new', path)\ntime.sleep(0.5)", scenario)
        report, _ = self.tracked(command=command)
        self.assertEqual(report["gpus"][0]["max_temperature_celsius"], 61.0)
        self.assertLess(report["compute_time"]["time"], 20 / 3600)
        self.write(OF_SESSION)


if __name__ == "__main__":
    main()
