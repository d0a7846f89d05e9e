"""Recordings of power in AIPowerMeter's form, as they are written."""

import csv
import datetime
import json
import math
import os
import shutil
import signal
import subprocess

from command import PATIENCE, main, python, wait_until
from energy_machine import MOVE
from energy_recording import END, RecordingTest, TheirReader, trapezoid

# Runs its arguments until its input ends, as a child that is never a zombie: killed, it is gone.
COLLECTING = """
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child = subprocess.Popen(sys.argv[1:])
print(child.pid, flush=True)
sys.stdin.read()
child.kill()
"""


class Recording(RecordingTest):
    def test_what_a_command_drew(self):
        self.machine.add_two_packages()
        move = self.machine.move(3.0, package_0=60, package_1=40, package_0_0=8, package_0_1=30, package_2=200)
        done = self.run_command(
            "energy", "record", "--output_folder", "rec", "--period", "0.1", "--measurement_period", "0.5", *python(MOVE, *move),
            env=self.machine.environment()
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        *lines, end = self.lines()
        self.assertEqual(end, "END OF RECORDING SEGMENT")
        self.assertGreaterEqual(len(lines), 3)
        # Of a period in which all counters moved: they are files here, which are written one after the other.
        cpu = max((entry["metrics"]["cpu"] for entry in lines), key=len)
        for key in ("per_process_mem_use_abs", "per_process_mem_use_uss", "per_process_mem_use_percent", "per_process_cpu_uses",
                    "absolute_cpu_time_per_pid", "total_mem_use", "intel_power", "psys_power", "total_cpu_power", "total_dram_power",
                    "rel_intel_power", "per_process_cpu_power", "per_process_dram_power"):
            self.assertIn(key, cpu)
        self.assertNotIn("uncore_power", cpu)
        # The power of each line, over the time since the one before, is what the counters moved by.
        dates = [datetime.datetime.fromisoformat(entry["date"]) for entry in lines]
        self.assertLess(abs((dates[-1] - datetime.datetime.now()).total_seconds()), 60)
        self.assertEqual(sorted(set(dates)), dates)
        self.assert_near(300, sum(
            entry["metrics"]["cpu"].get("intel_power", 0) * (date - before).total_seconds()
            for before, date, entry in zip(dates, dates[1:], lines[1:])
        ))
        for entry in lines:
            powers = entry["metrics"]["cpu"].get("rel_intel_power", {})
            self.assertLessEqual(sum(powers.values()), entry["metrics"]["cpu"].get("intel_power", 0) * (1 + 1e-9))
            self.assertLessEqual(sum(entry["metrics"]["cpu"]["per_process_cpu_uses"].values()), 1 + 1e-9)
        self.assertTrue((self.folder / "rec" / "metadata.json").exists())
        self.assertGreater(self.summary()["metrics"]["intel_power"]["max"], 50)

    def test_totals_are_the_reports_also_of_short_programs(self):
        self.machine.add_two_packages()
        rising = MOVE.replace("watts * passed", "watts * passed ** 2")
        for seconds, options in ((1, ()), (1, ("--energy-driver", "sqlite")), (0.3, ()), (1.5, ("--measurement-period", "0.4", "--st", "0.1"))):
            with self.subTest(seconds=seconds, options=options):
                shutil.rmtree(self.folder / "rec", ignore_errors=True)
                move = self.machine.move(seconds, package_0=60, package_1=40, package_0_0=8, package_0_1=30, package_2=200)
                # The counters are moved by a child, which ends before the command does.
                command = ("sh", "-c", '"$@"; true', "sh", *python(rising, *move))
                done = self.run_command("run", "--energy-folder", "rec", "--resource-usage-file", "kept", *options, "-f", "json", "-o", "out.json",
                                        "--overwrite", "--", *command, env=self.machine.environment())
                self.assertEqual(done.returncode, 0, done.stderr)
                energy = json.loads((self.folder / "out.json").read_text())["energy"]
                machine, metrics = energy["machine"], self.summary()["metrics"]
                for name, watts, known in (("intel_power", 100, machine["package"]), ("total_dram_power", 8, machine["dram"]),
                                           ("total_cpu_power", 30, machine["core"]), ("psys_power", 200, machine["psys"])):
                    self.assert_near(known, watts * seconds**2)
                    self.assert_near(self.total(name), known)
                    self.assert_near(metrics[name]["total"], known)
                self.assert_near(self.summary()["total_power_draw"], machine["total"] - machine["dram"])
                self.assertGreater(energy["combined"], 0)
                self.assert_near(self.total("rel_intel_power", "per_process_dram_power"), energy["combined"])

    def test_totals_are_the_reports_where_the_program_was_collected(self):
        self.machine.add_two_packages()
        move = self.machine.move(PATIENCE, package_0=60, package_0_0=8)
        parent = subprocess.Popen(python(COLLECTING, *python(MOVE, *move)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(parent.stdout.close)
        self.addCleanup(parent.wait)
        self.addCleanup(parent.stdin.close)
        pid = parent.stdout.readline().strip()
        attached = self.start_command(
            "attach", "--energy-folder", "rec", "--st", "0.1", "--measurement-period", "60", "-f", "json", "-o", "out.json",
            pid, env=self.machine.environment()
        )
        path, counter = self.folder / "rec" / "power_metrics.json", self.machine.counter("intel-rapl:0")
        wait_until(lambda: path.exists() and path.read_text().count("\n") >= 2)
        begin_uj = int(counter.read_text())
        wait_until(lambda: int(counter.read_text()) > begin_uj + 30e6)  # of the period in which it ends
        parent.stdin.close()
        _, errors = self.finish(attached)
        self.assertEqual(attached.returncode, 0, errors)
        energy = json.loads((self.folder / "out.json").read_text())["energy"]
        self.assertGreater(energy["combined"], 0)
        self.assert_near(self.total("rel_intel_power", "per_process_dram_power"), energy["combined"])

    def test_memory_of_a_program_that_ends_within_a_period(self):
        grow = "import time; time.sleep(0.5); more = bytearray(100_000_000); time.sleep(1)"
        # Of a period that it ends within however slow the machine is.
        done = self.run_command("run", "--energy-folder", "rec", "--st", "0.1", "--measurement-period", "60", "--", *python(grow),
                                env=self.machine.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        *lines, _ = self.lines()
        # Nothing lives any more: what was seen is not lost, and no 0.
        self.assertGreater(sum(lines[-1]["metrics"]["cpu"]["per_process_mem_use_abs"].values()), 100_000_000)

    def test_periods_are_counted_from_the_start(self):
        until_sampled = 'until [ -e rows.csv ] && [ "$(wc -l < rows.csv)" -ge 8 ]; do sleep 0.1; done'
        done = self.run_command("run", "--energy-folder", "rec", "--st", "1", "--tf", "rows.csv", "--", "sh", "-c", until_sampled,
                                env=self.machine.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        *lines, _ = self.lines()  # two of each period: a short one, those of 2 s, and the last one
        start, *dates = [datetime.datetime.fromisoformat(entry["date"]).timestamp() for entry in lines]
        short, *ends, _ = dates[::2]
        self.assertTrue(ends)
        with open(self.folder / "rows.csv", newline="") as file:
            samples = [float(row["timestamp"]) for row in csv.DictReader(list(file)[2:])]
        for before, end in zip([short, *ends], ends):
            due = start + 2 * ((before - start + 0.01) // 2 + 1)
            # A busy machine can leave out a sample: it is at the first one from then on. Of one at about that time it may be either.
            first, second = [*[sample for sample in samples if sample > due - 0.1], math.inf][:2]
            self.assertLessEqual(abs(end - (second if first < due + 0.1 and end > first + 0.1 else first)), 0.1)

    def test_aipowermeter_reads_our_recordings(self):
        spin = "import os, time\ngrow = bytearray(50_000_000)\nwhile sum(os.times()[:2]) < 0.6: pass"
        gpus = "".join(f"gpu GPU-{name}\nmemory 100 0 50\nutilization 50\npower_mw {watts}000\n"
                       "code nvmlDeviceGetTotalEnergyConsumption 3\n" for name, watts in (("a", 100), ("b", 20)))
        self.machine.add_two_packages()
        environment = self.gpu_environment(gpus, self.machine.root)
        reports = []
        for phase, options in enumerate(((), ("--cont",))):
            done = self.run_command("energy", "record", "--output-folder", "rec", "--period", "0.1", "--measurement-period", "0.2", *options,
                                    "-f", "json", "-o", f"{phase}.json", "--", *python(spin), env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            reports.append(json.loads((self.folder / f"{phase}.json").read_text()))
        theirs, ours = TheirReader(self.folder / "rec"), self.summary()["metrics"]
        self.assertEqual(len(theirs.ends), 1)
        for name, watts in (("0", 100), ("1", 20)):
            total = theirs.total(("per_gpu_nvidia_power", name))
            self.assert_near(total, ours[f"per_gpu_nvidia_power:{name}"]["total"])
            self.assert_near(total, watts * ours["nvidia_power"]["seconds"])
        self.assert_near(theirs.total("nvidia_power"), ours["nvidia_power"]["total"])
        for name in theirs.curves:
            if str(name).startswith("per_process") and not theirs.is_cut(name):
                continue  # a busy machine may sample no process between the last two lines
            segments = theirs.segments(name)
            self.assertEqual(len(segments), 2, name)  # nothing is drawn over the time between
            self.assert_near(sum(map(trapezoid, segments)), ours[name if isinstance(name, str) else ":".join(name)]["total"])
        used = sum(report["accounting"]["cpu_seconds"]["sampled"] for report in reports)
        self.assertTrue(abs(theirs.total("absolute_cpu_time_per_pid") - used) < 0.1 * used)
        self.assertGreater(max(bytes for _, bytes in theirs.curves["per_process_mem_use_abs"]), 50_000_000)

    def test_cont_adds_a_segment(self):
        self.machine.add("intel-rapl:0", "package-0")
        record = ("energy", "record", "--output-folder", "rec", "--cmd", "sleep 0.4")
        options = {"env": self.machine.environment()}
        self.assertEqual(self.run_command(*record, **options).returncode, 0)
        done = self.run_command(*record, **options)
        self.assertEqual(done.returncode, 125)
        self.assertIn("There is a recording in rec already. Give another folder, or --cont to add to it.", done.stderr)
        # The one before was killed in the middle of a line.
        path = self.folder / "rec" / "power_metrics.json"
        path.write_text(path.read_text()[: -len(END) - 9])
        self.assertEqual(self.run_command(*record, "--cont", **options).returncode, 0)
        self.assertEqual(self.summary()["metrics"]["per_process_cpu_uses"]["segments"], 2)

    def test_two_at_once_are_refused(self):
        def memory_use():  # reading is free
            done = self.run_command("energy", "summary", driver, "-f", "json")
            return json.loads(done.stdout)["metrics"].get("total_mem_use") if done.returncode == 0 else None

        self.machine.add("intel-rapl:0", "package-0")
        for driver in "json", "sqlite":
            options = ("energy", "record", "--output-folder", driver, "--energy-driver", driver, "--measurement-period", "0.1", "--cont", "--")
            first = self.start_command(*options, "sleep", str(PATIENCE), env=self.machine.environment())
            wait_until(lambda: (found := memory_use()) and found["points"] > 2)
            self.assert_fails(
                self.run_command(*options, "touch", "ran", env=self.machine.environment()), 125,
                f"Another recording to {driver} is under way. Give another folder, or wait until it has ended"
                " (if it was killed: end the forks that it left).",
            )
            self.assertFalse((self.folder / "ran").exists())
            first.send_signal(signal.SIGKILL)
            first.wait()
            self.assertEqual(self.run_command(*options, "sleep", "0.3", env=self.machine.environment()).returncode, 0)
            self.assertEqual(memory_use()["segments"], 2)

    def test_what_a_kill_leaves_is_read(self):
        self.machine.add("intel-rapl:0", "package-0")
        process = self.start_command("run", "--energy-folder", "rec", "--measurement-period", "0.1", "--st", "0.1", "--", "sleep", str(PATIENCE),
                                     env=self.machine.environment())
        path = self.folder / "rec" / "power_metrics.json"
        wait_until(lambda: path.exists() and path.read_text().count("\n") > 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertGreater(self.summary()["exp_duration"], 0)

    def test_a_machine_without_counters_is_warned_of_once(self):
        done = self.run_command("run", "--energy-folder", "rec", "-o", "out.txt", "--", "sleep", "0.4",
                                env=os.environ | {"GPUT_SYSFS": "/nonexistent", "GPUT_NVML": "/nonexistent"})
        self.assertEqual(done.returncode, 0)
        self.assertEqual(
            done.stderr,
            "gpu-tracker: warning: The recording goes on without the CPU's power, and no GPU was found (why: gpu-tracker doctor): "
            "this machine shows no RAPL counters (/nonexistent/class/powercap); virtual machines rarely do.\n",
        )
        self.assertNotIn("intel_power", self.lines()[0]["metrics"]["cpu"])
        self.assertGreater(self.summary()["metrics"]["per_process_mem_use_abs"]["max"], 0)

    def test_folders_above_are_made_too(self):
        for folder in "a/b/c", f"{self.folder}/d/e":
            self.assertEqual(self.run_command("energy", "record", "--output-folder", folder, "--", "sleep", "0.2").returncode, 0)
            self.assertTrue((self.folder / folder / "power_metrics.json").exists())
        (self.folder / "file").touch()
        self.assert_fails(self.run_command("energy", "record", "--output-folder", "file/rec", "--", "true"), 125, "Cannot make the folder file/rec: Not a directory")

    def test_the_exit_status_is_the_commands(self):
        self.assertEqual(self.run_command("energy", "record", "--output-folder", "rec", "--cmd", "sh -c 'exit 7'").returncode, 7)
        self.assertEqual(self.run_command("energy", "record", "--output-folder", "rec2", "--", "no-such-command").returncode, 127)
        self.assertFalse((self.folder / "rec2").exists())  # of what never began nothing is left
        self.assertEqual(self.run_command("energy", "record", "--output-folder", "rec/a//b/c/", "--", "no-such-command").returncode, 127)
        self.assertNotIn("a", os.listdir(self.folder / "rec"))
        usage = self.run_command("energy", "record", "--output-folder", "rec3")
        self.assertEqual(usage.returncode, 2)
        self.assertIn("A folder and one command are needed", usage.stderr)


if __name__ == "__main__":
    main()
