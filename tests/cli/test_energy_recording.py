"""Recordings of power in AIPowerMeter's form: written, read back, and held to arithmetic of Python's own."""

import contextlib
import csv
import datetime
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import xml.dom.minidom

from command import BUILD, PATIENCE, SOURCE, CommandTest, main, python, wait_until
from energy_machine import MOVE, Machine

FIXTURES = SOURCE / "tests" / "fixtures"
END = json.dumps("END OF RECORDING SEGMENT")
# Runs its arguments until its input ends, as a child that is never a zombie: killed, it is gone.
COLLECTING = """
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child = subprocess.Popen(sys.argv[1:])
print(child.pid, flush=True)
sys.stdin.read()
child.kill()
"""


def line(seconds, cpu, gpu=None, day=30):
    date = datetime.datetime(2023, 6, day, 16, 32, 14) + datetime.timedelta(seconds=seconds)
    return json.dumps({"date": str(date), "metrics": {"cpu": cpu} | ({"gpu": gpu} if gpu is not None else {})})


def cut(points, start, stop):
    """The curve through (seconds, value) between two moments."""
    def at(moment):
        before, after = max(point for point in points if point[0] <= moment), min(point for point in points if point[0] > moment)
        return moment, before[1] + (moment - before[0]) / (after[0] - before[0]) * (after[1] - before[1])

    return [at(start), *(point for point in points if start < point[0] < stop), at(stop)]


def trapezoid(points):
    """The integral of (seconds, value) as the old tool computes it."""
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))


class TheirReader:
    """A recording as AIPowerMeter's own reader takes it: by these keys of every line, cut into segments where a curve has a
    point at the last date of one."""

    OF_ALL = ("nvidia_power", "nvidia_memory", "nvidia_use_rate")
    BY_GPU = ("per_gpu_nvidia_power", "per_gpu_nvidia_memory", "per_gpu_nvidia_use_rate")

    def __init__(self, folder):
        self.curves, self.ends, date = {}, [], None
        for text in (folder / "power_metrics.json").read_text().splitlines():
            entry = json.loads(text)
            if entry == "END OF RECORDING SEGMENT":
                self.ends.append(date)
                continue
            date = datetime.datetime.fromisoformat(entry["date"]).timestamp()
            for name, value in entry["metrics"]["cpu"].items():
                self.add(name, date, sum(value.values()) if isinstance(value, dict) else value)
            if "gpu" in entry["metrics"]:
                for name in self.OF_ALL:
                    self.add(name, date, entry["metrics"]["gpu"][name])
                for name in self.BY_GPU:
                    for gpu, value in entry["metrics"]["gpu"][name].items():
                        self.add((name, gpu), date, value)
        self.ends.pop()

    def add(self, name, date, value):
        if value is not None:
            self.curves.setdefault(name, []).append((date, value))

    def segments(self, name):
        found = [[]]
        for point in self.curves[name]:
            found[-1].append(point)
            if point[0] in self.ends:
                found.append([])
        return found

    def total(self, name):
        return sum(map(trapezoid, self.segments(name)))


class Reading(CommandTest):
    def record(self, *lines, last="\n", folder="rec"):
        (self.folder / folder).mkdir(exist_ok=True)
        (self.folder / folder / "power_metrics.json").write_text("\n".join(lines) + last)

    def summary(self, *options, warning=""):
        done = self.run_command("energy", "summary", "rec", "-f", "json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(warning, done.stderr)
        if not warning:
            self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def assert_equal(self, value, expected):
        self.assertLessEqual(abs(value - expected), 1e-9 * abs(expected), f"{value!r} is not {expected!r}")

    def test_figures_are_those_of_the_old_tool(self):
        seed, points, processes = 7, [], []
        lines = []
        for i in range(500):
            seed = seed * 1103515245 % 2**31
            seconds = round(i * 0.2 + seed % 1000 / 1e5, 6)
            points.append((seconds, 40 + seed % 997 / 31))
            processes.append((seconds, seed % 991 / 7 + seed % 17 / 3))
            lines.append(line(seconds, {"intel_power": points[-1][1], "rel_intel_power": {"12": seed % 991 / 7, "13": seed % 17 / 3}}))
        self.record(*lines, END)
        summary = self.summary()
        for name, curve in (("intel_power", points), ("rel_intel_power", processes)):
            metric = summary["metrics"][name]
            self.assert_equal(metric["total"], trapezoid(curve))
            self.assert_equal(metric["average"], trapezoid(curve) / (curve[-1][0] - curve[0][0]))
            self.assert_equal(metric["max"], max(value for _, value in curve))
            self.assertEqual(metric["points"], 500)
        self.assert_equal(summary["exp_duration"], points[-1][0] - points[0][0])
        self.assert_equal(summary["total_power_draw"], trapezoid(points))
        windowed = self.summary("--start", "10", "--end", "20.5")["metrics"]["intel_power"]
        begin = points[0][0]
        self.assert_equal(windowed["total"], trapezoid(cut(points, begin + 10, begin + 20.5)))
        self.assert_equal(windowed["seconds"], 10.5)
        between = self.summary("--start", "10.01", "--end", "10.05")  # two lines
        self.assert_equal(between["metrics"]["intel_power"]["total"], trapezoid(cut(points, begin + 10.01, begin + 10.05)))
        self.assert_equal(between["exp_duration"], 0.04)
        start = datetime.datetime(2023, 6, 30, 16, 32, 14) + datetime.timedelta(seconds=begin + 10)
        self.assertEqual(self.summary("--start", str(start))["metrics"]["intel_power"], self.summary("--start", "10")["metrics"]["intel_power"])
        seconds = start.timestamp()
        for moment in repr(seconds), str(round(seconds * 1e6)):
            self.assert_equal(self.summary("--start", moment)["metrics"]["intel_power"]["total"],
                              self.summary("--start", "10")["metrics"]["intel_power"]["total"])

    def test_segments_are_not_bridged(self):
        self.record(
            line(0, {"intel_power": 10}), line(2, {"intel_power": 10}), END, line(100, {"intel_power": 30}), line(101, {"intel_power": 30}), END, END
        )
        metric = self.summary()["metrics"]["intel_power"]
        self.assertEqual((metric["total"], metric["segments"], metric["seconds"], metric["max"]), (50, 2, 3, 30))
        self.assert_equal(metric["average"], 50 / 3)

    def test_a_moment_has_no_joules(self):
        self.record(line(0, {"intel_power": 10}), END)
        text = self.run_command("energy", "summary", "-f", "text", "rec").stdout
        self.assertIn("   Total power draw: n/a joules\n", text)
        self.assertIn("   intel_power: n/a joules (mean 10.0 W, max 10.0 W)\n", text)
        self.record(line(0, {"intel_power": 10}), END, line(5, {"intel_power": 20}), line(7, {"intel_power": 20}), END)
        self.assertEqual((self.summary()["total_power_draw"], self.summary("--end", "1")["total_power_draw"]), (40, None))

    def test_a_total_takes_the_keys_that_each_segment_has(self):
        old, new = {"nvidia_draw_absolute": 100, "per_gpu_power_draw": {"0": 100}}, {"nvidia_power": 50, "per_gpu_nvidia_power": {"0": 50}}
        self.record(
            line(0, {"intel_power": 10}, old), line(10, {"intel_power": 10}, old), END,
            line(20, {"total_dram_power": 2}, new), line(24, {"total_dram_power": 2}, new), END,
        )
        self.assertEqual(self.summary()["total_power_draw"], 10 * 10 + 10 * 100 + 4 * 2 + 4 * 50)
        self.assertEqual(self.summary("--start", "5", "--end", "22")["total_power_draw"], 5 * 10 + 5 * 100 + 2 * 2 + 2 * 50)

    def test_a_torn_last_line_costs_itself(self):
        whole = [line(0, {"intel_power": 10}), line(2, {"intel_power": 20})]
        self.record(*whole, line(4, {"intel_power": 30})[:-9], last="")
        self.assertEqual(self.summary(warning="line 3 is cut off and was left out")["metrics"]["intel_power"]["total"], 30)
        # Recording went on after it: nothing is known of the time between.
        self.record(*whole, line(4, {"intel_power": 30})[:-9], line(50, {"intel_power": 1}), line(51, {"intel_power": 1}))
        metric = self.summary(warning="line 3 is cut off")["metrics"]["intel_power"]
        self.assertEqual((metric["total"], metric["segments"]), (31, 2))

    def test_a_torn_end_of_a_segment_costs_nothing(self):
        whole = [line(0, {"intel_power": 10}), line(2, {"intel_power": 20})]
        for torn in '"', END[:9], END[:-1]:
            self.record(*whole, torn, last="")
            self.assertEqual(self.summary(warning="line 3 is cut off and was left out")["total_power_draw"], 30)
            self.record(*whole, torn, END, line(50, {"intel_power": 1}), line(51, {"intel_power": 1}))
            metric = self.summary(warning="line 3 is cut off")["metrics"]["intel_power"]
            self.assertEqual((metric["total"], metric["segments"]), (31, 2))
        self.record(*whole, '"END OF ALL')
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, "rec/power_metrics.json: line 3 is no JSON.")

    def test_numbers_that_json_has_not_are_missing(self):
        nan = float("nan")
        self.record(
            line(0, {"intel_power": 10}, {"nvidia_draw_absolute": 100, "per_gpu_power_draw": {"0": nan}}),
            line(2, {"intel_power": 10, "psys_power": float("-inf")}, {"nvidia_draw_absolute": 100}),
            line(4, {"intel_power": nan}, {"nvidia_draw_absolute": 100}),
        )
        (self.folder / "rec" / "results_exp.json").write_text(json.dumps({"loss": nan}))
        summary = self.summary()
        self.assertEqual(summary["metrics"]["intel_power"]["total"], 20)
        self.assertEqual(summary["metrics"]["nvidia_draw_absolute"]["total"], 400)
        self.assertNotIn("psys_power", summary["metrics"])

    def test_a_byte_order_mark_is_no_line(self):
        self.record("\ufeff" + line(0, {"intel_power": 10}), line(2, {"intel_power": 20}))
        self.assertEqual(self.summary()["metrics"]["intel_power"]["total"], 30)

    def test_everything_that_is_left_out_is_reported(self):
        whole = line(0, {"intel_power": 10})
        self.record(whole, *[whole[:-9]] * 20, whole[:-1] + ",}")
        (self.folder / "rec" / "model_summary.json").write_text("{")
        done = self.run_command("energy", "summary", "rec")
        self.assertIn("line 2 is cut off and was left out. ", done.stderr)
        self.assertRegex(done.stderr, r" And \d+ more of the kind\.\n")
        self.record(whole, whole[:-1] + ",}", END)
        done = self.run_command("energy", "summary", "rec")
        self.assertIn("line 2 is no JSON and was left out. ", done.stderr)
        self.assertIn("model_summary.json is not valid JSON", done.stderr)

    def test_missing_metrics(self):
        self.record(
            line(0, {"intel_power": 10, "psys_power": -1, "uncore_power": [1.0, 2.0]}, {}),
            line(1, {"psys_power": -1, "uncore_power": [3.0, 4.0]}, {"nvidia_draw_absolute": 100, "per_gpu_power_draw": {"0": 60, "1": 40}}),
            line(2, {"intel_power": 20, "total_mem_use": None}, {"nvidia_draw_absolute": 100}),
        )
        metrics = self.summary()["metrics"]
        self.assertEqual(metrics["intel_power"]["total"], 30)
        self.assertNotIn("psys_power", metrics)
        self.assertNotIn("total_mem_use", metrics)
        self.assertEqual(metrics["uncore_power"]["total"], 5)
        self.assertEqual((metrics["nvidia_draw_absolute"]["group"], metrics["nvidia_draw_absolute"]["total"]), ("gpu", 100))
        self.assertEqual([metrics[f"per_gpu_power_draw:{gpu}"]["max"] for gpu in (0, 1)], [60, 40])
        self.assertEqual(self.summary()["total_power_draw"], 130)

    def test_nothing_is_no_zero_of_gpus(self):
        gpu = {"per_gpu_nvidia_power": {}, "nvidia_power": None, "per_gpu_per_pid_utilization_absolute": {"0": {}}}
        self.record(line(0, {"rel_intel_power": {}}, gpu), line(1, {"rel_intel_power": {}}, gpu))
        metrics = self.summary()["metrics"]
        self.assertEqual({name: metric["total"] for name, metric in metrics.items()},
                         {"rel_intel_power": 0, "per_gpu_per_pid_utilization_absolute:0": 0})  # of no processes

    def test_everything_else_in_the_folder(self):
        self.record(line(0, {"intel_power": 10}), line(2, {"intel_power": 10}))
        folder = self.folder / "rec"
        (folder / "metadata.json").write_text('{"description": "train", "date": "2023-06-30"}')
        (folder / "model_summary.json").write_text('{"total_params": 11689512, "total_mult_adds": 1.81e9}')
        (folder / "results_exp.json").write_text(json.dumps([
            {"epoch": 1, "accuracy": 0.5, "end_training_epoch": "2023-06-30 16:32:15"},
            {"epoch": 2, "accuracy": 0.75, "end_training_epoch": "2023-06-30 16:32:16"},
        ]))
        (folder / "omegawatt.csv").write_text(
            "# a wattmeter\n#timestamp,#frame_is_ok,#P1\n1688142734,1,100\n1688142735,0,9999\n1688142736,1,200\n1688142737,1,2"
        )
        summary = self.summary(warning="omegawatt.csv: the last line is cut off")
        self.assertEqual(summary["metrics"]["P1"]["total"], 300)
        self.assertEqual(summary["metrics"]["accuracy"]["max"], 0.75)
        self.assertEqual(summary["metrics"]["accuracy"]["total"], 0.625)
        self.assertEqual(summary["model_summary"]["total_params"], 11689512)
        self.assertEqual(summary["metadata"]["description"], "train")
        text = self.run_command("energy", "summary", "-f", "text", "rec").stdout
        self.assertIn("   Total power draw: 20.0 joules\n   Recorded duration: 2.0 seconds\nOn the CPU:\n", text)
        self.assertIn("   intel_power: 20.0 joules (mean 10.0 W, max 10.0 W)\n", text)
        self.assertIn("   total_params: 11689512\n", text)
        for form in ({"accuracy": [0.5, 9, 0.75], "loss": 3, "end_training_epoch": [1688142735, None, 1688142736.0]},
                     {"end_training_epoch": [1688142735, 1688142736.0, 1688142737], "accuracy": [0.5, 0.75], "loss": []},
                     {"accuracy": {"dates": ["2023-06-30 16:32:15", "2023-06-30 16:32:16"], "values": [0.5, 0.75]}}):
            (folder / "results_exp.json").write_text(json.dumps(form))
            self.assertEqual(self.summary(warning="cut off")["metrics"]["accuracy"]["total"], 0.625)

    def test_the_summary_has_machine_and_command_next_to_each_other_and_a_row_a_gpu(self):
        gpus = {"nvidia_power": 250.0, "per_gpu_nvidia_power": {"0": 240.0, "1": 10.0}, "per_gpu_nvidia_use_rate": {"0": 0.5},
                "per_gpu_nvidia_memory": {"0": 2e9, "1": 0}}
        cpu = {"intel_power": 40.0, "rel_intel_power": {"7": 20.0, "8": 10.0}, "psys_power": 400.0, "loss_of_mine": 0.125,
               "absolute_cpu_time_per_pid": {"7": 1.5}, "per_process_mem_use_abs": {"7": 3e8}}
        self.record(line(0, cpu, gpus), line(100, cpu, gpus), END)
        done = self.run_command("energy", "summary", "rec")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = {" ".join(row.split()) for row in done.stdout.splitlines()}
        self.assertLessEqual({
            "29 kJ in 1 min 40 s, 290 W in the mean (packages, DRAM, GPUs)",
            "Power of the machine energy mean max command share",
            "CPU packages 4 kJ 40 W 40 W 3 kJ 75.0 %",
            "whole board 40 kJ 400 W 400 W",
            "GPUs 25 kJ 250 W 250 W",
            "GPUs energy mean max busy memory",
            "GPU 0 24 kJ 240 W 240 W 50.0 % 2 GB",
            "GPU 1 1 kJ 10 W 10 W n/a 0 B",
            "CPU time 2 min 30 s 1.50 cores in the mean, at most 1.50",
            "RAM (PSS) 300 MB in the mean, at most 300 MB",
            "Other metrics mean max",
            "loss_of_mine 0.125 0.125",
        }, rows)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def test_curves(self):
        self.record(line(0, {"intel_power": 10.5, "b<": 1}), line(1.5, {"intel_power": 20, "b<": 2}), END, line(60, {"intel_power": 30}))
        curve = ("energy", "curve", "rec", "intel_power")
        self.assertEqual(
            self.run_command(*curve).stdout,
            "intel_power:\n   2023-06-30 16:32:14         10.5\n   2023-06-30 16:32:15.500000  20.0\n   …\n   2023-06-30 16:33:14         30.0\n",
        )
        points = json.loads(self.run_command(*curve, "-f", "json").stdout)["intel_power"]
        self.assertEqual(points[1], {"date": "2023-06-30 16:32:15.500000", "value": 20.0, "segment": 0})
        rows = list(csv.DictReader(io.StringIO(self.run_command("energy", "curve", "rec", "intel_power,b<", "-f", "csv", "--end", "2").stdout)))
        self.assertEqual([(row["metric"], float(row["value"])) for row in rows], [("intel_power", 10.5), ("intel_power", 20), ("b<", 1), ("b<", 2)])
        self.assertEqual(self.run_command("energy", "curve", "rec", "intel_power,b<", "-o", "x.svg").returncode, 0)
        picture = xml.dom.minidom.parse(str(self.folder / "x.svg"))
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 3)  # two segments and one
        self.assertIn("b<", [node.firstChild.data for node in picture.getElementsByTagName("text")])

    def test_errors_name_the_thing_and_the_way_out(self):
        self.assert_fails(self.run_command("energy", "summary", "nowhere"), 1, "There is no folder nowhere.")
        (self.folder / "rec").mkdir()
        self.assert_fails(
            self.run_command("energy", "summary", "rec"), 1, "There is no recording of power in rec: no power_metrics.json or .sqlite, and no omegawatt.csv."
        )
        self.record(line(0, {"intel_power": 1, "psys_power": 2}))
        self.assert_fails(
            self.run_command("energy", "curve", "rec", "power"), 1, 'There is no metric "power" in rec. There are: intel_power, psys_power.'
        )
        for none in "", ",":
            self.assert_fails(
                self.run_command("energy", "curve", "rec", none), 1, f'There is no metric "{none}" in rec. There are: intel_power, psys_power.'
            )
        self.assert_fails(
            self.run_command("energy", "curve", "rec", ",".join(65 * ["intel_power"])), 1, "At most 64 metrics are shown at once."
        )
        done = self.run_command("energy", "summary", "rec", "--start", "yesterday")
        self.assertIn('The start "yesterday" is no moment of a recording.', done.stderr)
        self.record("hello", line(0, {"intel_power": 1}))
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, "rec/power_metrics.json: line 1 is no JSON.")
        self.record('{"metrics": {}}')
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, "rec/power_metrics.json: line 1 has no date.")


class Recording(CommandTest):
    def setUp(self):
        super().setUp()
        self.machine = Machine(self.folder / "sys")

    def lines(self, folder="rec"):
        return [json.loads(text) for text in (self.folder / folder / "power_metrics.json").read_text().splitlines()]

    def summary(self):
        return json.loads(self.run_command("energy", "summary", "rec", "-f", "json").stdout)

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
        # As of the first period in which the counters moved.
        cpu = next(cpu for entry in lines if {"intel_power", "total_mem_use"} <= (cpu := entry["metrics"]["cpu"]).keys())
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

    def total(self, *names):
        """The integral over the sum of these metrics as the old tool computes it, of the lines or rows as they are."""
        points = {}
        if (self.folder / "rec" / "power_metrics.json").exists():
            for entry in self.lines()[:-1]:
                for name in names:
                    value = entry["metrics"]["cpu"].get(name)
                    if value is not None:
                        value = sum(value.values()) if isinstance(value, dict) else value
                        points[entry["date"]] = points.get(entry["date"], 0) + value
        else:
            with contextlib.closing(sqlite3.connect(self.folder / "rec" / "power_metrics.sqlite")) as database:
                rows = f"SELECT date, sum(value) FROM power_metrics WHERE name IN ({', '.join('?' * len(names))}) GROUP BY date"
                points = dict(database.execute(rows, names))
        return trapezoid([(datetime.datetime.fromisoformat(date).timestamp(), points[date]) for date in sorted(points)])

    def assert_near(self, value, expected):
        """Within 0.1 %."""
        self.assertLessEqual(abs(value - expected), 1e-3 * abs(expected), f"{value} is not {expected}")

    def test_totals_are_the_reports_also_of_short_programs(self):
        self.machine.add_two_packages()
        rising = MOVE.replace("watts * passed", "watts * passed ** 2")
        for seconds, options in ((1, ()), (1, ("--energy-driver", "sqlite")), (0.3, ()), (1.5, ("--measurement-period", "0.4", "--st", "0.1"))):
            with self.subTest(seconds=seconds, options=options):
                shutil.rmtree(self.folder / "rec", ignore_errors=True)
                move = self.machine.move(seconds, package_0=60, package_1=40, package_0_0=8, package_0_1=30, package_2=200)
                # The counters are moved by a child, which ends before the command does.
                command = ("sh", "-c", '"$@"; true', "sh", *python(rising, *move))
                done = self.run_command("run", "--energy-folder", "rec", *options, "-f", "json", "-o", "out.json", "--", *command,
                                        env=self.machine.environment())
                self.assertEqual(done.returncode, 0, done.stderr)
                energy = json.loads((self.folder / "out.json").read_text())["energy"]
                machine, metrics = energy["machine"], self.summary()["metrics"]
                for name, watts, known in (("intel_power", 100, machine["package"]), ("total_dram_power", 8, machine["dram"]),
                                           ("total_cpu_power", 30, machine["core"]), ("psys_power", 200, machine["psys"])):
                    self.assert_near(known, watts * seconds**2)
                    self.assert_near(self.total(name), known)
                    self.assert_near(metrics[name]["total"], known)
                self.assert_near(self.summary()["total_power_draw"], machine["total"])
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
        for _ in range(5):  # a busy machine can leave out the tick at 2 s
            shutil.rmtree(self.folder / "rec", ignore_errors=True)
            done = self.run_command("run", "--energy-folder", "rec", "--st", "1", "--", "sleep", "2.6", env=self.machine.environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            *lines, _ = self.lines()
            if len(lines) == 2 * 3:
                break
        # A short one, that to the tick at 2 s, and the last one: two lines each.
        self.assertEqual(len(lines), 2 * 3)

    def gpu_environment(self, scenario="", sysfs="/nonexistent"):
        """The GPUs of the scenario, and by default no counters of the CPU."""
        path = self.folder / "scenario"
        path.write_text(scenario)
        return os.environ | {"GPUT_SYSFS": str(sysfs), "FAKE_NVML_SCENARIO": str(path),
                             "GPUT_NVML": str(BUILD / "tests" / "gpu" / "libfake-nvml.so")}

    def test_what_a_gpu_does_not_report_is_not_there(self):
        calls = ("TotalEnergyConsumption", "PowerUsage", "UtilizationRates")
        scenario = "gpu GPU-a\nmemory 100 0 50\n" + "".join(f"code nvmlDeviceGet{call} 3\n" for call in calls)
        for driver in "json", "sqlite":
            done = self.run_command("energy", "record", "--output-folder", driver, "--energy-driver", driver, "--", "sleep", "0.5",
                                    env=self.gpu_environment(scenario))
            self.assertEqual(done.returncode, 0, done.stderr)
            metrics = json.loads(self.run_command("energy", "summary", driver, "-f", "json").stdout)["metrics"]
            self.assertEqual([name for name in metrics if re.search("power|rate", name)], [])
            self.assertEqual(metrics["per_gpu_nvidia_memory:0"]["max"], 0)

    def test_what_was_used_before_the_first_sample_counts_too(self):
        scenario = "gpu GPU-a\nmemory 100 0 50\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
        done = self.run_command("run", "--energy-folder", "rec", "-f", "json", "-o", "out.json", "--", "sleep", "0.2", env=self.gpu_environment(scenario))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_near(self.summary()["metrics"]["nvidia_power"]["total"], json.loads((self.folder / "out.json").read_text())["energy"]["machine"]["gpu"])

    def record_gpus(self, scenarios, *options, sysfs="/nonexistent", figure="gpu"):
        """Scenarios, 0.7 s each, over a recording of one long period. The joules of the machine as the report has them."""
        change = "import os, sys, time\n" \
            "for scenario in sys.argv[2:]: open(sys.argv[1] + '.new', 'w').write(scenario); os.rename(sys.argv[1] + '.new', sys.argv[1]); time.sleep(0.7)"
        done = self.run_command("run", "--energy-folder", "rec", "--measurement-period", "60", "--st", "0.1", *options, "-f", "json", "-o", "out.json", "--",
                                *python(change, self.folder / "scenario", *scenarios), env=self.gpu_environment(scenarios[0], sysfs))
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
        try:
            joules = self.record_gpus((there, there + "code * 15\n"), sysfs=self.machine.root, figure="total")
        finally:
            mover.kill()
            mover.wait()
        metrics = self.summary()["metrics"]
        in_package, = (metric for name, metric in metrics.items() if name.startswith("in_package_gpu_power:"))
        self.assertGreater(in_package["total"], 0)
        own, = (metric for name, metric in metrics.items() if name.startswith("per_gpu_nvidia_power:"))
        self.assert_near(own["total"], metrics["nvidia_power"]["total"])
        self.assert_near(self.summary()["total_power_draw"], joules)

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
            segments = theirs.segments(name)
            self.assertEqual(len(segments), 2, name)  # nothing is drawn over the time between
            self.assert_near(sum(map(trapezoid, segments)), ours[name if isinstance(name, str) else ":".join(name)]["total"])
        used = sum(report["accounting"]["cpu_seconds"]["sampled"] for report in reports)
        self.assertTrue(abs(theirs.total("absolute_cpu_time_per_pid") - used) < 0.1 * used)
        self.assertGreater(max(bytes for _, bytes in theirs.curves["per_process_mem_use_abs"]), 50_000_000)

    def test_a_gpus_power_is_what_its_counter_moved_by(self):
        environment, scenario = self.gpu_environment(), self.folder / "scenario"
        move = """
import os, sys, time
def write(joules):  # what it draws at this moment is little, always
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(f"gpu GPU-a\\nmemory 100 0 50\\nutilization 50\\npower_mw 10000\\nenergy_mj {1000000 + int(joules * 1e3)}\\n")
    os.rename(sys.argv[1] + ".new", sys.argv[1])
write(0)
if sys.argv[2:]:
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < float(sys.argv[2]):
        write(passed * 100)
        time.sleep(0.01)
    write(float(sys.argv[2]) * 100)
"""
        subprocess.run(python(move, scenario), check=True)
        done = self.run_command(
            "energy", "record", "--output_folder", "rec", "--period", "0.1", "--measurement_period", "0.5", *python(move, scenario, "1.5"),
            env=environment
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        *lines, _ = self.lines()
        dates = [datetime.datetime.fromisoformat(entry["date"]) for entry in lines]
        watts = [entry["metrics"]["gpu"]["nvidia_power"] for entry in lines]
        joules = sum((date - before).total_seconds() * watts for before, date, watts in zip(dates, dates[1:], watts[1:]))
        # The driver is asked by a thread of its own, and before the counter moves for the first time there is the power alone.
        self.assertTrue(120 < joules < 155, (joules, watts))
        for power, entry in zip(watts, lines):
            self.assertAlmostEqual(power, entry["metrics"]["gpu"]["per_gpu_nvidia_power"]["0"])

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

    def record_in_sqlite(self, *options, command=("sleep", "0.5")):
        if not self.machine.counter("intel-rapl:0").exists():
            self.machine.add_two_packages()
        done = self.run_command("energy", "record", "--output-folder", "rec", "--energy-driver", "sqlite", "--measurement-period", "0.1",
                                *options, "--", *command, env=self.machine.environment())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_recording_in_sqlite(self):
        self.machine.add_two_packages()
        move = self.machine.move(1.5, package_0=60, package_1=40)
        self.record_in_sqlite(command=python(MOVE, *move))
        self.assertEqual(sorted(path.name for path in (self.folder / "rec").iterdir()), ["metadata.json", "power_metrics.sqlite"])
        with contextlib.closing(sqlite3.connect(self.folder / "rec" / "power_metrics.sqlite")) as database:
            rows = database.execute("SELECT date, segment, value FROM power_metrics WHERE device = 'cpu' AND name = 'intel_power' AND key IS NULL "
                                    "ORDER BY date").fetchall()
            pids = database.execute("SELECT count(*) FROM power_metrics WHERE name = 'per_process_cpu_uses' AND key GLOB '[1-9]*'").fetchone()[0]
        self.assertGreater(len(rows), 3)
        self.assertGreater(pids, 3)
        # The same figures as from lines of JSON.
        summary = self.summary()
        (self.folder / "rec2").mkdir()
        lines = [json.dumps({"date": date, "metrics": {"cpu": {"intel_power": value}}}) + "\n" for date, _, value in rows]
        (self.folder / "rec2" / "power_metrics.json").write_text("".join(lines))
        other = json.loads(self.run_command("energy", "summary", "rec2", "-f", "json").stdout)
        self.assertEqual(summary["metrics"]["intel_power"], other["metrics"]["intel_power"])
        curves = [self.run_command("energy", "curve", folder, "intel_power").stdout for folder in ("rec", "rec2")]
        self.assertEqual(*curves)
        self.assertEqual(curves[0].count("\n"), len(rows) + 1)

    def test_a_recording_in_sqlite_goes_on(self):
        self.record_in_sqlite()
        done = self.run_command("energy", "record", "--output-folder", "rec", "--", "touch", "ran")  # in the other form
        self.assertEqual(done.returncode, 125)
        self.assertIn("There is a recording in rec already. Give another folder, or --cont to add to it.", done.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.record_in_sqlite("--cont")
        self.assertEqual(self.summary()["metrics"]["total_mem_use"]["segments"], 2)
        self.assertEqual(
            self.run_command("energy", "record", "--output-folder", "rec", "--cont", "--cmd", "sleep 0.5", env=self.machine.environment()).returncode, 0
        )
        self.assertEqual(self.summary()["metrics"]["total_mem_use"]["segments"], 3)

    def test_what_a_kill_leaves_of_sqlite_is_read(self):
        self.machine.add("intel-rapl:0", "package-0")
        process = self.start_command("run", "--energy-folder", "rec", "--energy-driver", "sqlite", "--measurement-period", "0.1", "--st", "0.1", "--",
                                     "sleep", str(PATIENCE), env=self.machine.environment())

        def moments():
            with contextlib.closing(sqlite3.connect(self.folder / "rec" / "power_metrics.sqlite")) as database:
                table = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'power_metrics'").fetchone()
                return database.execute("SELECT count(DISTINCT date) FROM power_metrics").fetchone()[0] if table else 0

        wait_until(lambda: (self.folder / "rec" / "power_metrics.sqlite").exists())
        wait_until(lambda: moments() > 5)  # two a period
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertGreater(self.summary()["exp_duration"], 0)
        self.assertGreater(self.summary()["metrics"]["total_mem_use"]["points"], 2)

    def test_a_driver_or_database_that_is_none(self):
        self.assert_fails(
            self.run_command("run", "--energy-folder", "rec", "--energy-driver", "xml", "--", "true"), 125,
            '"xml" is not a valid driver. Valid values are "json" or "sqlite".',
        )
        (self.folder / "rec").mkdir()
        path = self.folder / "rec" / "power_metrics.sqlite"
        path.write_text("no database at all, but long enough to be taken for one" * 20)
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, "Cannot read rec/power_metrics.sqlite: file is not a database")
        path.unlink()
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE other (x)")
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, 'rec/power_metrics.sqlite has no table "power_metrics".')
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE power_metrics (date, segment, device, name, key, value)")
            database.execute("INSERT INTO power_metrics VALUES ('yesterday', 0, 'cpu', 'intel_power', NULL, 1)")
            database.commit()
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, 'rec/power_metrics.sqlite: "yesterday" is no date.')

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
