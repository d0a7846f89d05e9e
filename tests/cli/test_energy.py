"""Energy of a command, on machines made of files whose counters the command itself moves."""

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess

from command import AS_NOBODY, COMMAND, PATIENCE, CommandTest, main, parse_text, python, wait_until
from energy_machine import MOVE, RANGE_UJ, Machine

# The counters move by themselves except while it moves them. Readings are awaited before and after that, so that no interval between two of
# them is of the busy block and of another time.
MARKED_MOVE = """
import pathlib, sqlite3, subprocess, sys, time
command, tf, stf, code, *counters = sys.argv[1:]
def mark(what, name):
    subprocess.run([command, "mark", what, name, "--stf=" + stf], check=True)
def wait_for_reading():
    begin, last = time.time(), 0
    database = sqlite3.connect(f"file:{tf}?mode=ro", uri=True)
    while not (last or 0) > begin:
        time.sleep(0.02)
        try:
            ((last,),) = database.execute("select max(timestamp) from energy_data")
        except sqlite3.OperationalError:  # locked, or there is no such table yet
            pass
def move(seconds):
    sys.argv[1:] = [str(seconds), *counters]
    exec(code, {})
    pathlib.Path("hold").unlink()
mark("start", "busy")
wait_for_reading()
move(1.0)
wait_for_reading()
mark("stop", "busy")
mark("start", "idle")
time.sleep(0.5)
mark("stop", "idle")
"""

CONSUMER = os.environ["GPUT_CONSUMER"]
# After MOVE: waits until what it moved is in a sample. Meanwhile, and after release(), counters move by themselves again: one that stands
# still for 2 s is not a figure.
SAMPLED = f"""
import json, subprocess
def release():
    os.unlink("hold")
    while os.path.exists("held"):
        time.sleep(0.004)
release()
def ticks():
    done = subprocess.run([{COMMAND!r}, "show", "-f", "json", "kept"], capture_output=True)
    return json.loads(done.stdout)["tracker"]["ticks"] if done.returncode == 0 else 0
seen = ticks()
while ticks() < seen + 2:
    time.sleep(0.05)
open("hold", "w").close()
while not os.path.exists("held"):
    time.sleep(0.004)
"""


def on_time(results):
    """On a machine so busy that a command ran for long before the first reading, its source says so: here it does not matter."""
    source = results["sources"]["cpu_energy"]
    reason = re.sub(r"; without the first \d+\.\d\d s, before they were first read", "", source["reason"])
    results["is_late"] = reason != source["reason"]
    if results["is_late"]:
        source |= {"reason": reason, "state": "sampled" if reason.startswith("RAPL, but") else "exact"}
    return results


class Energy(CommandTest):
    def setUp(self):
        super().setUp()
        self.machine = Machine(self.folder / "sys")

    def track(self, command, *options, **more):
        """The results of a session on the machine, in place of those before."""
        with self.machine.moving(self.folder, *self.machine.moved):
            done = self.run_command(
                "run", "-f", "json", "-o", "out.json", "--st", "0.1", "--resource-usage-file", "kept", "--overwrite",
                *(option for option in options if option != "--overwrite"), "--", *command, env=self.machine.environment(), **more
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        return on_time(json.loads((self.folder / "out.json").read_text()))

    def assert_near(self, value, expected):
        """Within 0.1 %."""
        self.assertLessEqual(abs(value - expected), 1e-3 * abs(expected), f"{value} is not {expected}")

    def test_the_full_report_says_what_the_total_is_of(self):
        self.machine.add("intel-rapl:0", "package-0")
        move = self.machine.move(0.5, package_0=60)
        with self.machine.moving(self.folder, *self.machine.moved):
            done = self.run_command("run", "-f", "full", "--st", "0.1", "--", *python(MOVE, *move), env=self.machine.environment())
        self.assertRegex(done.stderr, r"\n      Total of CPU packages: \d")

    def test_two_packages(self):
        self.machine.add_two_packages()
        move = self.machine.move(
            1.0, package_0=60, package_1=40, package_0_0=5, package_1_0=3, package_0_1=30, package_2=200
        )
        results = self.track(python(MOVE, *move), "--carbon-intensity", "360")
        energy, machine = results["energy"], results["energy"]["machine"]
        self.assertEqual(energy["unit"], "joules")
        for name, joules in (("package", 100), ("dram", 8), ("core", 30), ("psys", 200), ("total", 108)):
            self.assert_near(machine[name], joules)
        self.assertIsNone(machine["uncore"])
        self.assertIsNone(machine["gpu"])
        self.assertGreater(energy["main"], 0)
        self.assertLess(energy["combined"], 108)
        self.assertAlmostEqual(energy["main"] + energy["descendants"], energy["combined"], places=2)
        self.assertAlmostEqual(energy["combined"] + energy["unattributed"], machine["total"], places=2)
        if energy["mean_watts"] is not None or not results["is_late"]:
            self.assert_near(energy["mean_watts"] * results["compute_time"]["time"] * 3600, 108)
            self.assertGreaterEqual(energy["max_watts"], energy["mean_watts"])
        self.assertAlmostEqual(energy["co2e_grams"], energy["combined"] / 1e4, places=3)
        self.assertEqual(energy["co2e_source"], "360 g/kWh, as given")
        self.assertTrue(0 <= energy["idle_share"] <= 1)
        self.assertEqual(results["sources"]["cpu_energy"]["state"], "exact")
        self.assertEqual(results["sources"]["energy_shares"]["state"], "sampled")
        self.assertRegex(results["sources"]["energy_shares"]["reason"], "^estimate: ")

    def test_shares_of_few_clock_ticks_are_rough(self):
        self.machine.add("intel-rapl:0", "package-0")
        move = f"sleep 0.05; printf '%020d\\n' 1005000000 > {self.machine.counter('intel-rapl:0')}"
        results = self.track(["sh", "-c", move])
        self.assert_near(results["energy"]["machine"]["package"], 5)
        self.assertGreater(results["energy"]["combined"], 0)
        source = results["sources"]["cpu_energy"]
        self.assertEqual(source["state"], "exact")
        busy_seconds = (1 - results["energy"]["idle_share"]) * os.cpu_count() * results["compute_time"]["time"] * 3600
        if busy_seconds < 0.9:  # a hundred ticks are enough, and a busy machine, or one of many processors, may have had them
            self.assertRegex(source["reason"], r"; shares are rough: based on \d+ clock ticks? of CPU time of all processes$")

    def auto_reaped(self, consumer):
        """Uses 1 s of CPU time in children that are not waited for; then 20 J have been used."""
        self.machine.add("intel-rapl:0", "package-0")
        counter = self.machine.counter("intel-rapl:0")
        counter.chmod(0o666)
        self.machine.moved.append("intel-rapl:0")
        hold = "until [ -e held ]; do : > hold; sleep 0.01; done"
        return ["sh", "-c", f"{consumer} ignored 10 0.1; {hold}; printf '%020d\\n' 1020000000 > {counter}"]

    def test_joules_of_auto_reaped_children(self):
        # One interval, however slow the machine: the joules are of its end, and so of all the CPU time.
        results = self.track(self.auto_reaped(CONSUMER), "--st", "60")
        if results["accounting"]["cpu_seconds"]["kernel"] < 0.9 or results["sources"]["processes"]["state"] != "exact":
            self.skipTest("the kernel does not report auto-reaped children to us")
        energy = results["energy"]
        busy_seconds = (1 - energy["idle_share"]) * os.cpu_count() * results["compute_time"]["time"] * 3600
        self.assert_near(energy["machine"]["package"], 20)
        self.assertGreater(energy["combined"] / 20, 0.5 / busy_seconds)
        self.assertLessEqual(energy["combined"], energy["machine"]["package"])
        self.assertEqual(results["sources"]["cpu_energy"]["state"], "exact")
        self.assertNotIn("not waited for", results["sources"]["cpu_energy"]["reason"])

    def test_joules_of_children_without_exit_records_are_at_least(self):
        self.open_to_nobody(COMMAND, CONSUMER)
        command = [*AS_NOBODY, "./gpu-tracker", "run", "-f", "json", "-o", "out.json", "--", *self.auto_reaped("./consumer")]
        with self.machine.moving(self.folder, *self.machine.moved):
            done = subprocess.run(command, env=self.machine.environment(), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        sources = json.loads((self.folder / "out.json").read_text())["sources"]
        if sources["processes"]["state"] != "exact":
            self.skipTest("the kernel does not announce processes here")
        self.assertIn("; at least: some processes may not have been waited for", sources["energy_shares"]["reason"])

    def test_carbon_of_a_country(self):
        self.machine.add("intel-rapl:0", "package-0")
        move = self.machine.move(0.5, package_0=100)
        energy = self.track(python(MOVE, *move), "--carbon-intensity", "fr")["energy"]
        self.assertAlmostEqual(energy["co2e_grams"], energy["combined"] / 3.6e6 * 56.039)
        self.assertRegex(energy["co2e_source"], r"^56\.039 g/kWh: France, 2023 \(codecarbon [0-9.]+\)$")
        energy = self.track(python(MOVE, *move), "--carbon-intensity", "0", "--overwrite")["energy"]
        self.assertEqual((energy["co2e_grams"], energy["co2e_source"]), (0, "0 g/kWh, as given"))
        self.assert_fails(
            self.run_command("run", "--carbon-intensity", "Atlantis", "--", "touch", "ran"),
            125,
            'The carbon intensity of "Atlantis" is not known. Give the code of a country (FR, FRA), or grams of CO2 for a kWh.',
        )
        self.assertFalse((self.folder / "ran").exists())

    def test_energy_units(self):
        self.machine.add_two_packages()
        move = self.machine.move(0.5, package_0=7200)
        energy = self.track(python(MOVE, *move), "--eu", "watt-hours")["energy"]
        self.assertEqual(energy["unit"], "watt-hours")
        self.assert_near(energy["machine"]["package"], 1)
        self.assert_fails(
            self.run_command("run", "--eu", "calories", "--", "true"),
            125,
            '"calories" is not a valid energy unit. Valid values are joules, kilowatt-hours, watt-hours',
        )

    def test_the_text_report(self):
        self.machine.add("intel-rapl:0", "package-0")
        command = python(MOVE, *self.machine.move(0.3, package_0=100))
        with self.machine.moving(self.folder, *self.machine.moved):
            # The command waits for the first reading of the counters by the results so far.
            done = self.run_command("run", "-f", "full", "--resource-usage-file", "kept", "--", *command, env=self.machine.environment())
        report = parse_text(done.stderr)["Energy"]
        self.assertEqual(report["Machine"]["Package"], "30 J")

    def test_an_amd_machine(self):
        self.machine.add("intel-rapl:0", "package-0")
        self.machine.add("intel-rapl:0:0", "core")
        machine = self.track(python(MOVE, *self.machine.move(0.5, package_0=100, package_0_0=50)))["energy"]["machine"]
        self.assert_near(machine["package"], 50)
        self.assert_near(machine["core"], 25)
        self.assert_near(machine["total"], 50)
        self.assertIsNone(machine["dram"])

    def test_a_counter_wraps(self):
        self.machine.add("intel-rapl:0", "package-0", RANGE_UJ / 1e6 - 20)
        results = self.track(python(MOVE, *self.machine.move(0.5, package_0=100)))
        self.assert_near(results["energy"]["machine"]["package"], 50)
        self.assertEqual(results["sources"]["cpu_energy"]["state"], "exact")

    def test_a_counter_jumps_back(self):
        self.machine.add("intel-rapl:0", "package-0", 100000)
        code = MOVE + SAMPLED + "\nos.pwrite(counters[0][0], b'%020d\\n' % 5, 0); release(); time.sleep(0.3)"
        results = self.track(python(code, *self.machine.move(0.5, package_0=100)))
        self.assertLessEqual(results["energy"]["machine"]["package"], 50.05)
        self.assertGreater(results["energy"]["machine"]["package"], 20)
        source = results["sources"]["cpu_energy"]
        self.assertEqual(source["state"], "sampled")
        self.assertIn("the package counter decreased", source["reason"])

    def test_a_counter_stands_still(self):
        self.machine.add("intel-rapl:0", "package-0")
        results = self.track(["sleep", "2.5"])
        self.assertNotIn("energy", results)
        source = results["sources"]["cpu_energy"]
        self.assertEqual((source["state"], source["reason"]), ("unavailable", "RAPL, but the package counter does not advance and is skipped"))

    def test_half_a_machine_has_no_power(self):
        self.machine.add_two_packages()
        energy = self.track(python(MOVE, *self.machine.move(0.5, package_0=100)))["energy"]
        self.assert_near(energy["machine"]["package"], 50)
        self.assertEqual((energy["mean_watts"], energy["max_watts"]), (None, None))

    def test_a_counter_has_not_moved_yet(self):
        self.machine.add("intel-rapl:0", "package-0")
        self.machine.add("intel-rapl:0:0", "dram")
        results = self.track(python(MOVE, *self.machine.move(0.4, package_0_0=10)))
        source = results["sources"]["cpu_energy"]
        self.assertIsNone(results["energy"]["machine"]["package"])
        # It stands still when it had 2 s: a busy machine can need as long to start the command.
        had_time = results["compute_time"]["time"] * 3600 >= 1.5
        self.assertEqual(source["state"], "sampled")
        self.assertIn(source["reason"], ("RAPL, but the package counter has not advanced yet", had_time and "RAPL, but the package counter does not advance and is skipped"))

    def test_a_counter_gets_unreadable(self):
        self.machine.add("intel-rapl:0", "package-0")
        self.machine.add("intel-rapl:0:0", "dram")
        code = MOVE + SAMPLED + "\nos.ftruncate(counters[0][0], 0); release(); time.sleep(0.6)"
        results = self.track(
            python(code, *self.machine.move(0.6, package_0=100, package_0_0=10)), "--tf", "t.sqlite", "--energy-folder", "rec"
        )
        self.assertLessEqual(results["energy"]["machine"]["package"], 60.1)
        self.assertIsNone(results["energy"]["mean_watts"])
        source = results["sources"]["cpu_energy"]
        self.assertEqual(source["state"], "sampled")
        self.assertIn("the package counter can no longer be read", source["reason"])
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            rows = database.execute("SELECT package, dram, total FROM energy_data ORDER BY timestamp").fetchall()
        self.assertIsNotNone(rows[-1][1])
        self.assertEqual((rows[-1][0], rows[-1][2]), (None, None))
        done = self.run_command("sub-track", "analyze", "--tf", "t.sqlite", "-f", "json", "-o", "a.json")
        self.assertRegex(done.stderr, r"No joules of the session: package, total, main, descendants, combined, of which up to [0-9.]+ of its ")
        analysis = json.loads((self.folder / "a.json").read_text())["energy"]
        self.assertEqual((analysis["package"], analysis["total"], analysis["combined"]), (None, None, None))
        self.assertGreater(analysis["dram"], 5)
        text = self.run_command("sub-track", "analyze", "--tf", "t.sqlite").stdout
        self.assertRegex(text, r"Energy \(joules\):\n\t +dram +total\n\t +[0-9.]+ +NaN\n")
        compared = json.loads(self.run_command("sub-track", "compare", "-m", "A=a.json", "-m", "B=a.json", "-f", "json").stdout)
        self.assertEqual(compared["overall_energy"]["total"], {"A": None, "B": None})
        lines = [json.loads(line) for line in (self.folder / "rec" / "power_metrics.json").read_text().splitlines()]
        self.assertNotIn("intel_power", lines[-2]["metrics"]["cpu"])
        self.assertIn("total_dram_power", lines[-2]["metrics"]["cpu"])

    def test_a_counter_that_is_readable_late(self):
        self.machine.add("intel-rapl:0", "package-0")
        self.machine.counter("intel-rapl:0").write_text("")
        appear = "import sys, time; time.sleep(1); open(sys.argv[2], 'w').write('%020d' % 10**9)\n"
        results = self.track(python(appear + MOVE, *self.machine.move(1.5, package_0=100)), "--tf", "t.sqlite")
        self.assertGreater(results["energy"]["machine"]["package"], 0)
        self.assertEqual((results["energy"]["mean_watts"], results["energy"]["max_watts"]), (None, None))
        source = results["sources"]["cpu_energy"]
        self.assertEqual(source["state"], "sampled")
        self.assertRegex(source["reason"], r"the package counter could not be read in the first \d+\.\d s, which are missing")
        done = self.run_command("sub-track", "analyze", "--tf", "t.sqlite", "-f", "json")
        self.assertIn("No joules of the session: package, ", done.stderr)
        self.assertIsNone(json.loads(done.stdout)["energy"]["package"])

    def test_a_missing_sub_domain(self):
        self.machine.add_two_packages()
        self.machine.counter("intel-rapl:0:1").unlink()
        results = self.track(python(MOVE, *self.machine.move(0.5, package_0=100)))
        self.assert_near(results["energy"]["machine"]["package"], 50)
        self.assertIsNone(results["energy"]["machine"]["core"])
        self.assertIn("the core counter cannot be read", results["sources"]["cpu_energy"]["reason"])

    def test_domains_that_are_in_no_total(self):
        self.machine.add_two_packages()
        for zone in ("intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0", "intel-rapl:1:0"):
            self.machine.counter(zone).unlink()
        results = self.track(python(MOVE, *self.machine.move(0.5, package_0_1=30, package_2=90)))
        energy = results["energy"]
        self.assert_near(energy["machine"].pop("core"), 15)
        self.assert_near(energy["machine"].pop("psys"), 45)
        self.assertEqual(set(energy["machine"].values()), {None})
        self.assertEqual({energy[name] for name in ("main", "combined", "unattributed", "mean_watts", "max_watts")}, {None})
        self.assertIn("the package 0 counter cannot be read", results["sources"]["cpu_energy"]["reason"])

    def test_what_is_in_no_total_is_not_shared_out(self):
        self.machine.add("intel-rapl:0", "psys")
        results = self.track(python(MOVE, *self.machine.move(0.3, package_0=90)))
        self.assertIsNone(results["energy"]["combined"])
        alone = "there is only the psys counter, of the whole platform: it is not in any total and is not shared out"
        self.assertEqual(results["sources"]["cpu_energy"], {"state": "sampled", "reason": f"RAPL, but {alone}"})
        self.assertIsNone(results["energy"]["idle_share"])
        # The doctor and a recording say the same.
        rapl = self.doctor_on_rapl()
        self.assertEqual((rapl["state"], rapl["reason"]), ("partly", f"1 of 1 counters in {self.machine.powercap}; {alone}"))
        done = self.run_command("energy", "record", "--output-folder=e", "--cmd=true", env=self.machine.environment())
        self.assertIn(f"The recording goes on without some of the CPU's power: {alone}.", done.stderr)

    def test_a_counter_without_a_name_is_named_as_left_out(self):
        self.machine.add("intel-rapl:0", "package-0")
        self.machine.add("intel-rapl:1", "package-1")
        name = self.machine.powercap / "intel-rapl:1" / "name"
        left_out = f"{name.parent} has no name that says what it counts"
        for spoil in (lambda: name.write_text(""), lambda: name.write_text("npu\n"), name.unlink):
            spoil()
            results = self.track(python(MOVE, *self.machine.move(0.3, package_0=100)), "--overwrite")
            self.assert_near(results["energy"]["machine"]["package"], 30)
            self.assertEqual((results["energy"]["mean_watts"], results["energy"]["max_watts"]), (None, None))
            source = results["sources"]["cpu_energy"]
            self.assertEqual(source["state"], "sampled")
            self.assertIn(f"RAPL, but {left_out} and is skipped", source["reason"])
            rapl = self.doctor_on_rapl()
            self.assertEqual(rapl["state"], "partly")
            self.assertEqual(rapl["reason"], f"1 of 2 counters in {self.machine.powercap}; {left_out} and is skipped")
        (self.machine.powercap / "intel-rapl:0" / "name").unlink()
        results = self.track(["true"], "--overwrite")
        self.assertNotIn("energy", results)
        self.assertEqual(results["sources"]["cpu_energy"], {"state": "unavailable", "reason": left_out.replace(":1 ", ":0 ")})

    def doctor_on_rapl(self):
        done = self.run_command("doctor", "-f", "json", env=self.machine.environment())
        return json.loads(done.stdout)["sources"]["rapl"]

    def test_packages_that_are_there_by_mmio_alone(self):
        self.machine.add("intel-rapl:0", "package-0")
        self.machine.add("intel-rapl-mmio:0", "package-0")
        self.machine.add("intel-rapl-mmio:1", "package-1")
        self.machine.add("intel-rapl-mmio:1:0", "dram")
        self.assertEqual(self.doctor_on_rapl()["reason"], f"3 counters in {self.machine.powercap}")
        watts = {"package_0": 60, "intel-rapl-mmio_0": 60, "intel-rapl-mmio_1": 40, "intel-rapl-mmio_1_0": 5}
        results = self.track(python(MOVE, *self.machine.move(0.5, **watts)))
        self.assert_near(results["energy"]["machine"]["package"], 50)
        self.assert_near(results["energy"]["machine"]["dram"], 2.5)
        self.assertEqual(results["sources"]["cpu_energy"]["state"], "exact")
        self.machine.counter("intel-rapl-mmio:1").unlink()
        self.assertIn("the package 1 (mmio) counter cannot be read", self.doctor_on_rapl()["reason"])

    def test_no_counters_are_one_clear_line(self):
        shutil.rmtree(self.machine.root)
        results = self.track(["true"])
        self.assertNotIn("energy", results)
        self.assertNotIn("co2e", results["sources"])
        without = self.track(["true"], "--carbon-intensity", "FR", "--overwrite")["sources"]["co2e"]
        self.assertEqual(without, {"state": "unavailable", "reason": "the energy of the tracked processes is not known"})
        source = results["sources"]["cpu_energy"]
        self.assertEqual(source["state"], "unavailable")
        self.assertIn("no RAPL counters", source["reason"])
        self.assertGreater(results["max_ram"]["main"]["total_rss"], 0)

    def test_a_counter_that_others_may_not_read(self):
        self.machine.add_two_packages()
        for counter in self.machine.powercap.glob("*/energy_uj"):
            counter.chmod(0o400)
        self.open_to_nobody(COMMAND)
        as_other = [*AS_NOBODY, "./gpu-tracker"]
        options = {"env": self.machine.environment(), "cwd": self.folder, "capture_output": True, "text": True, "timeout": PATIENCE}
        done = subprocess.run([*as_other, "run", "-f", "json", "-o", "other.json", "--", "true"], **options)
        if done.returncode:
            self.skipTest(done.stderr)
        results = json.loads((self.folder / "other.json").read_text())
        self.assertNotIn("energy", results)
        source = results["sources"]["cpu_energy"]
        self.assertEqual(source["state"], "unavailable")
        self.assertIn("intel-rapl:0/energy_uj: Permission denied; an administrator can run: sudo chmod a+r ", source["reason"] + " ")
        # Only some of them: the others go on, and what is missing is said at once, with the way out.
        dram = self.machine.counter("intel-rapl:0:0")
        dram.chmod(0o444)
        before = dram.read_text()
        move = subprocess.Popen(python(MOVE, *self.machine.move(PATIENCE, package_0_0=10)))
        self.addCleanup(move.wait)
        self.addCleanup(move.terminate)
        wait_until(lambda: dram.read_text() != before)
        done = subprocess.run([*as_other, "run", "-f", "json", "-o", "some.json", "--energy-folder", "rec", "--", "sleep", "2"], **options)
        results = json.loads((self.folder / "some.json").read_text())
        self.assertIsNone(results["energy"]["machine"]["package"])
        self.assertGreater(results["energy"]["machine"]["dram"], 0)
        source = results["sources"]["cpu_energy"]
        self.assertEqual(source["state"], "sampled")
        for said in (source["reason"], done.stderr):
            self.assertIn("the package 1 counter cannot be read (Permission denied)", said)
            self.assertIn("an administrator can run: sudo chmod a+r ", said)
        dram.chmod(0o400)
        done = subprocess.run([*as_other, "doctor", "-f", "json"], **options)
        rapl = json.loads(done.stdout)["sources"]["rapl"]
        self.assertEqual(rapl["state"], "unavailable")
        self.assertIn("Permission denied", rapl["reason"])
        self.assertEqual(rapl["remedy"], f"sudo chmod a+r {self.machine.root}/class/powercap/intel-rapl:*/energy_uj")

    def test_the_doctor_reads_every_source(self):
        self.machine.add_two_packages()
        supply = self.machine.root / "class" / "power_supply" / "BAT0"
        supply.mkdir(parents=True)
        for name, text in (("type", "Battery"), ("status", "Discharging"), ("power_now", "12500000")):
            (supply / name).write_text(text + "\n")
        power = self.machine.root / "bus" / "event_source" / "devices" / "power"
        (power / "events").mkdir(parents=True)
        for name, text in (("type", "2147483000"), ("cpumask", "0"), ("events/energy-pkg", "event=0x02"), ("events/energy-pkg.scale", "2.3e-10")):
            (power / name).write_text(text + "\n")
        sources = json.loads(self.run_command("doctor", "-f", "json", env=self.machine.environment()).stdout)["sources"]
        self.assertEqual(sources["rapl"]["state"], "available")
        self.assertIn("6 counters", sources["rapl"]["reason"])
        self.assertEqual(sources["battery"]["reason"], "12.5 W now")
        self.assertEqual(sources["perf_energy"]["state"], "unavailable")
        self.assertIn("perf_event_paranoid", sources["perf_energy"]["remedy"])
        self.machine.counter("intel-rapl:1").unlink()
        rapl = json.loads(self.run_command("doctor", "-f", "json", env=self.machine.environment()).stdout)["sources"]["rapl"]
        self.assertEqual(rapl["state"], "partly")
        self.assertIn("5 of 6 counters", rapl["reason"])
        self.assertIn("the package 1 counter cannot be read", rapl["reason"])

    def test_a_battery_is_said_to_be_the_whole_machine(self):
        supply = self.machine.root / "class" / "power_supply" / "BAT0"
        supply.mkdir(parents=True)
        for name, text in (("type", "Battery"), ("status", "Discharging"), ("power_now", "20000000")):
            (supply / name).write_text(text + "\n")
        results = self.track(["sleep", "0.5"])
        machine = results["energy"]["machine"]
        seconds = results["compute_time"]["time"] * 3600
        self.assert_near(machine["battery"], 20 * seconds)
        self.assertEqual(machine["total"], machine["battery"])
        self.assertIsNone(results["energy"]["combined"])
        self.assertIn("the whole machine", results["sources"]["battery"]["reason"])

    def test_joules_of_code_blocks(self):
        self.machine.add_two_packages()
        move = self.machine.move(0, package_0=100, package_0_0=10)[1:]
        for run in ("a", "b"):
            self.track(python(MARKED_MOVE, COMMAND, f"{run}.sqlite", f"{run}-blocks.csv", MOVE, *move), "--tf", f"{run}.sqlite")
            done = self.run_command(
                "sub-track", "analyze", "--tf", f"{run}.sqlite", "--stf", f"{run}-blocks.csv", "-f", "json", "-o", f"{run}.json"
            )
            self.assertEqual(done.returncode, 0, done.stderr)
        analysis = json.loads((self.folder / "a.json").read_text())
        self.assertEqual(analysis["energy"]["unit"], "joules")
        self.assert_near(analysis["energy"]["package"], 100)
        self.assert_near(analysis["energy"]["total"], 110)
        busy, idle = analysis["code_block_results"]
        self.assert_near(busy["energy"]["total"], 110)
        self.assertLessEqual(busy["energy"]["combined"], busy["energy"]["total"])
        self.assertLess(idle["energy"]["total"], 0.11)
        self.assertIsNone(busy["energy"]["gpu"])
        analyze = ("sub-track", "analyze", "--tf", "a.sqlite", "--stf", "a-blocks.csv")
        self.assertRegex(self.run_command(*analyze).stdout, r"Energy \(joules\):\n\t +package +dram +total")
        rows = list(csv.DictReader(io.StringIO(self.run_command(*analyze, "-f", "csv").stdout)))
        totals = {(row["code_block"], row["measurement"]): row["total"] for row in rows}
        self.assert_near(float(totals["busy", "energy_total"]), 110)
        self.assert_near(float(totals["", "energy_dram"]), 10)

        compare = ("sub-track", "compare", "-m", "A=a.json", "-m", "B=b.json")
        comparison = json.loads(self.run_command(*compare, "-f", "json").stdout)
        self.assert_near(comparison["overall_energy"]["total"]["B"], 110)
        self.assert_near(comparison["code_block_energy"]["total"]["busy"]["A"], 110)
        text = self.run_command(*compare).stdout
        self.assertIn("Overall Energy (joules):\n\tPackage:\n", text)
        self.assertIn("Code Block Energy (joules):\n\tPackage:\n\t\tbusy:\n", text)
        self.assertIn("busy,energy_total,mean,A,", self.run_command(*compare, "-f", "csv").stdout)
        rule = "mean energy_total in busy > 109"
        self.assertEqual(self.run_command(*compare, "--fail-if", rule).returncode, 3)
        self.assertEqual(self.run_command(*compare, "--fail-if", "mean energy_total > +5%").returncode, 0)

    def test_analysis_without_energy_says_nothing_of_it(self):
        self.track(["sleep", "0.3"], "--tf", "plain.csv")
        self.assertNotIn("nergy", self.run_command("sub-track", "analyze", "--tf", "plain.csv").stdout)


if __name__ == "__main__":
    main()
