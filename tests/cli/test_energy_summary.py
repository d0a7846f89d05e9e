"""Recordings of power in AIPowerMeter's form, read back and held to arithmetic of Python's own."""

import csv
import datetime
import io
import json

from command import CommandTest, main
from energy_recording import END, trapezoid
from svg_chart import Chart

def line(seconds, cpu, gpu=None, day=30):
    date = datetime.datetime(2023, 6, day, 16, 32, 14) + datetime.timedelta(seconds=seconds)
    return json.dumps({"date": str(date), "metrics": {"cpu": cpu} | ({"gpu": gpu} if gpu is not None else {})})


def cut(points, start, stop):
    """The curve through (seconds, value) between two moments."""
    def at(moment):
        before, after = max(point for point in points if point[0] <= moment), min(point for point in points if point[0] > moment)
        return moment, before[1] + (moment - before[0]) / (after[0] - before[0]) * (after[1] - before[1])

    return [at(start), *(point for point in points if start < point[0] < stop), at(stop)]


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
        self.assertIn("   intel_power: n/a joules (average 10.0 W, max 10.0 W)\n", text)
        self.record(line(0, {"intel_power": 10}), END, line(5, {"intel_power": 20}), line(7, {"intel_power": 20}), END)
        self.assertEqual((self.summary()["total_power_draw"], self.summary("--end", "1")["total_power_draw"]), (40, None))

    def test_a_total_takes_the_keys_that_each_segment_has(self):
        old, new = {"nvidia_draw_absolute": 100, "per_gpu_power_draw": {"0": 100}}, {"nvidia_power": 50, "per_gpu_nvidia_power": {"0": 50}}
        self.record(
            line(0, {"intel_power": 10}, old), line(10, {"intel_power": 10}, old), END,
            line(20, {"total_dram_power": 2}, new), line(24, {"total_dram_power": 2}, new), END,
        )
        self.assertEqual(self.summary()["total_power_draw"], 10 * 10 + 10 * 100 + 4 * 50)
        self.assertEqual(self.summary("--start", "5", "--end", "22")["total_power_draw"], 5 * 10 + 5 * 100 + 2 * 50)
        self.assertTrue(self.run_command("energy", "summary", "rec").stdout.startswith("1.31 kJ in 14 s, "))  # with DRAM, as it says
        self.assertIn("Total power draw: 1300.0 joules\n", self.run_command("energy", "summary", "rec", "-f", "text").stdout)

    def test_a_torn_last_line_costs_itself(self):
        whole = [line(0, {"intel_power": 10}), line(2, {"intel_power": 20})]
        self.record(*whole, line(4, {"intel_power": 30})[:-9], last="")
        self.assertEqual(self.summary(warning="line 3 is truncated and was skipped")["metrics"]["intel_power"]["total"], 30)
        # Recording went on after it: nothing is known of the time between.
        self.record(*whole, line(4, {"intel_power": 30})[:-9], line(50, {"intel_power": 1}), line(51, {"intel_power": 1}))
        metric = self.summary(warning="line 3 is truncated")["metrics"]["intel_power"]
        self.assertEqual((metric["total"], metric["segments"]), (31, 2))

    def test_a_torn_end_of_a_segment_costs_nothing(self):
        whole = [line(0, {"intel_power": 10}), line(2, {"intel_power": 20})]
        for torn in '"', END[:9], END[:-1]:
            self.record(*whole, torn, last="")
            self.assertEqual(self.summary(warning="line 3 is truncated and was skipped")["total_power_draw"], 30)
            self.record(*whole, torn, END, line(50, {"intel_power": 1}), line(51, {"intel_power": 1}))
            metric = self.summary(warning="line 3 is truncated")["metrics"]["intel_power"]
            self.assertEqual((metric["total"], metric["segments"]), (31, 2))
        self.record(*whole, '"END OF ALL')
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, "rec/power_metrics.json: line 3 is not JSON.")

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
        self.assertIn("line 2 is truncated and was skipped. ", done.stderr)
        self.assertRegex(done.stderr, r" And \d+ more warnings? of this kind\.\n")
        self.record(whole, whole[:-1] + ",}", END)
        done = self.run_command("energy", "summary", "rec")
        self.assertIn("line 2 is not JSON and was skipped. ", done.stderr)
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
        summary = self.summary(warning="omegawatt.csv: the last line is truncated")
        self.assertEqual(summary["metrics"]["P1"]["total"], 300)
        self.assertEqual(summary["metrics"]["accuracy"]["max"], 0.75)
        self.assertEqual(summary["metrics"]["accuracy"]["total"], 0.625)
        self.assertEqual(summary["model_summary"]["total_params"], 11689512)
        self.assertEqual(summary["metadata"]["description"], "train")
        text = self.run_command("energy", "summary", "-f", "text", "rec").stdout
        self.assertIn("   Total power draw: 20.0 joules\n   Recorded duration: 2.0 seconds\nOn the CPU:\n", text)
        self.assertIn("   intel_power: 20.0 joules (average 10.0 W, max 10.0 W)\n", text)
        self.assertIn("   total_params: 11689512\n", text)
        for form in ({"accuracy": [0.5, 9, 0.75], "loss": 3, "end_training_epoch": [1688142735, None, 1688142736.0]},
                     {"end_training_epoch": [1688142735, 1688142736.0, 1688142737], "accuracy": [0.5, 0.75], "loss": []},
                     {"accuracy": {"dates": ["2023-06-30 16:32:15", "2023-06-30 16:32:16"], "values": [0.5, 0.75]}}):
            (folder / "results_exp.json").write_text(json.dumps(form))
            self.assertEqual(self.summary(warning="truncated")["metrics"]["accuracy"]["total"], 0.625)

    def test_the_summary_has_machine_and_command_next_to_each_other_and_a_row_a_gpu(self):
        gpus = {"nvidia_power": 250.0, "per_gpu_nvidia_power": {"0": 240.0, "1": 10.0}, "per_gpu_nvidia_use_rate": {"0": 0.5},
                "per_gpu_nvidia_memory": {"0": 2e9, "1": 0}, "nvidia_memory": 2e9, "nvidia_use_rate": 0.5}
        cpu = {"total_mem_use": 8e9, "intel_power": 40.0, "rel_intel_power": {"7": 20.0, "8": 10.0}, "psys_power": 400.0, "loss_of_mine": 0.125,
               "absolute_cpu_time_per_pid": {"7": 1.5}, "per_process_mem_use_abs": {"7": 3e8},
               "per_process_cpu_uses": {"7": 0.000875, "8": 0.25}, "per_process_mem_use_percent": {"7": 0.05}, "tiny": 0.00089123456}
        self.record(line(0, cpu, gpus), line(100, cpu, gpus), END)
        done = self.run_command("energy", "summary", "rec")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = {" ".join(row.split()) for row in done.stdout.splitlines()}
        self.assertLessEqual({
            "29 kJ in 1 min 40 s, 290 W on average (CPU packages and GPUs)",
            "Power of the machine energy average max command share",
            "CPU packages 4 kJ 40 W 40 W 3 kJ 75.0 %",
            "whole platform 40 kJ 400 W 400 W",
            "GPUs 25 kJ 250 W 250 W",
            "GPUs energy average max busy memory",
            "GPU 0 24 kJ 240 W 240 W 50.0 % 2 GB",
            "GPU 1 1 kJ 10 W 10 W n/a 0 B",
            "CPU time 2 min 30 s mean 1.50 cores, max 1.50",
            "RAM (PSS) 300 MB mean, max 300 MB",
            "Share of CPU in use 25.1 % mean, max 25.1 %",
            "Share of RAM in use 5.0 % mean, max 5.0 %",
            "Other metrics average max",
            "tiny 0.0008912 0.0008912",
            "loss_of_mine 0.125 0.125",
            "RAM of the machine 8 GB 8 GB",
        }, rows)
        self.assertFalse([row for row in rows if row.startswith("nvidia_")])
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def test_a_total_that_is_not_known_has_a_reason(self):
        self.record(line(0, {"psys_power": 40.0}), line(10, {"psys_power": 40.0}))
        first, *_ = self.run_command("energy", "summary", "rec").stdout.splitlines()
        self.assertEqual(first, "Energy not known (10 s): there is only the psys counter, of the whole platform: it is not in any total")
        self.record(line(0, {"total_mem_use": 1.0}), line(10, {"total_mem_use": 1.0}))
        first, *_ = self.run_command("energy", "summary", "rec").stdout.splitlines()
        self.assertEqual(first, "Energy not known (10 s): packages, DRAM and GPUs were read less than twice")

    def test_the_summary_of_a_recording_of_2023_has_a_heading_for_each_figure_of_a_gpu(self):
        gpus = {
            "nvidia_draw_absolute": 90, "per_gpu_power_draw": {"0": 20, "1": 70}, "per_gpu_attributable_power": {"1": 36, "all": 36},
            "per_gpu_attributable_mem_use": {"0": {}, "1": {"7": 1e9, "8": 5e8}}, "per_gpu_absolute_percent_usage": {"0": 0, "1": 0.5},
            "per_gpu_estimated_attributable_utilization": {"0": 0, "1": 0.8},
        }
        heading = "GPUs energy average max busy memory command"
        of_all = gpus | {"per_gpu_per_pid_utilization_absolute": {"0": {"9": 0.25}, "1": {"7": 0.5, "9": 0.125}}}
        for recorded, first, second in (gpus, "0.0 %", "50.0 %"), (of_all, "25.0 %", "62.5 %"):
            self.record(line(0, {"intel_power": 40}, recorded), line(10, {"intel_power": 40}, recorded), END)
            done = self.run_command("energy", "summary", "rec")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            rows = [" ".join(row.split()) for row in done.stdout.splitlines()]
            begin = rows.index(heading)
            self.assertEqual(rows[begin + 1 :], [f"GPU 0 200 J 20 W 20 W {first} n/a n/a", f"GPU 1 700 J 70 W 70 W {second} n/a 360 J",
                                                 "", "The command", "memory of GPU 0 0 B mean, max 0 B",
                                                 "memory of GPU 1 1.5 GB mean, max 1.5 GB"])
            self.assertEqual(len({len(row) for row in done.stdout.splitlines()[begin : begin + 3]}), 1)
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
        chart = Chart((self.folder / "x.svg").read_text())
        self.assertEqual([[(line.name, len(line.parts)) for line in panel] for panel in chart.panels], [[("intel_power", 2)], [("b<", 1)]])
        self.assertEqual(chart.headings, ["Power (W)", "b<"])
        self.assertAlmostEqual(max(chart.line().values()), 30, delta=0.1)

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
        self.assertIn('The start "yesterday" is not a valid time of a recording.', done.stderr)
        self.record("hello", line(0, {"intel_power": 1}))
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, "rec/power_metrics.json: line 1 is not JSON.")
        self.record('{"metrics": {}}')
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, "rec/power_metrics.json: line 1 has no date.")


if __name__ == "__main__":
    main()
