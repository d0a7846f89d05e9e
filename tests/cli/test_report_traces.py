"""gpu-tracker report: traces and training profiles."""

import cProfile
import json
import shutil

from analysis_files import row, write_tracking
from command import SOURCE, main, needs_package, use_package
from report_data import Report
from report_test import ReportTest

use_package()


class Traces(ReportTest):
    def test_slices_are_calls_and_counters_are_curves(self):
        events = [
            {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "trainer"}},
            {"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": 1000, "dur": 1000},
            {"ph": "X", "name": "load \\u00e9 </script>", "pid": 1, "tid": 1, "ts": 1200.5, "dur": 100.25},
            {"ph": "C", "name": "queue", "pid": 1, "tid": 1, "ts": 1000, "args": {"length": 3}},
            {"ph": "C", "name": "queue", "pid": 1, "tid": 1, "ts": 1500, "args": {"length": 7.5}},
        ]
        (self.folder / "trace.json").write_text(json.dumps({"traceEvents": events}).replace("\\\\", "\\"))
        report = self.report("trace.json")
        (session,) = report.sessions
        self.assertEqual(session["kind"], "trace")
        calls = session["calls"]
        self.assertEqual(calls["names"], ["step", "load \u00e9 </script>"])
        found = report.columns(calls, "name", "start", "stop", "depth")
        self.assertEqual([(name, depth) for name, _, _, depth in found], [(0, 0), (1, 1)])
        self.assert_series([start for _, start, _, _ in found], [0, 0.0002005], 1e-9)
        self.assert_series([stop for _, _, stop, _ in found], [0.001, 0.00030075], 1e-9)
        (counter,) = [name for name in report.series() if name.endswith("queue length")]
        times, values = report.series()[counter]
        self.assert_series(times, [0, 0.0005], 1e-6)
        self.assertEqual(values, [3, 7.5])

    def test_traces_of_gpus_have_tables(self):
        if not self.has_training():
            self.skipTest("built without training profiles")
        report = self.report(SOURCE / "tests/fixtures/trace-kineto/rank0.json")
        tables = {table["id"]: table for table in report.sessions[0]["tables"]}
        self.assertEqual(sorted(tables), ["trace_breakdown", "trace_idle", "trace_kernels"])
        names = [column["name"] for column in tables["trace_breakdown"]["columns"]]
        self.assertEqual(dict(zip(names, tables["trace_breakdown"]["rows"][0]))["compute_us"], 170)

    def test_bars_of_gpus_add_up_to_their_time(self):
        if not self.has_training():
            self.skipTest("built without training profiles")
        report = self.report(SOURCE / "tests/fixtures/trace-kineto/rank0.json")
        for account in report.sessions[0]["time_went"]:
            self.assertAlmostEqual(sum(share["seconds"] for share in account["shares"]), account["seconds"], delta=1e-9)
            self.assertAlmostEqual(sum(share["percent"] for share in account["shares"]), 100, delta=1e-6)
        computing = {share["cause"]: share["seconds"] for share in report.sessions[0]["time_went"][0]["shares"]}["computing"]
        self.assertAlmostEqual(computing, 170e-6, delta=1e-9)

    def test_a_launch_and_its_kernel_have_the_same_link(self):
        events = [
            {"ph": "X", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 2, "args": {"correlation": 7}},
            {"ph": "X", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 5, "args": {"stream": 7, "correlation": 7}},
            {"ph": "X", "name": "wait", "pid": 1, "tid": 1, "ts": 30, "dur": 5, "args": {"note": "\"correlation\": 7"}},
        ]
        (self.folder / "launch.json").write_text(json.dumps(events))
        report = self.report("launch.json")
        self.assertEqual(report.column(report.sessions[0]["calls"]["link"]), [7, 7, None])
        (self.folder / "other.json").write_text(json.dumps(events[2:]))
        self.assertNotIn("link", self.report("other.json").sessions[0]["calls"])

    def test_two_traces_are_compared_as_pytorch_diff_does(self):
        if not self.has_training():
            self.skipTest("built without training profiles")
        names = ["rank0.json", "rank1.json"]
        paths = [SOURCE / "tests/fixtures/trace-kineto" / name for name in names]
        (table,) = self.report(*paths).document["comparison"]
        wanted = json.loads(self.run_command("pytorch", "diff", *paths, "-f", "json").stdout)
        columns = [column["name"] for column in table["columns"]]
        self.assertEqual([dict(zip(columns, row)) for row in table["rows"]], wanted[:50])
        self.assertTrue(wanted)

    def has_training(self):
        return self.run_command("profile", "job", "-h").returncode == 0

    def test_a_training_profile_has_steps_and_devices(self):
        if not self.has_training():
            self.skipTest("built without training profiles")
        root = self.folder / "root"
        shutil.copytree(SOURCE / "tests/fixtures/trace-root", root)
        stats = root / "framework/pytorch/cprofile/111-algo-1/train-1-stepstart-1_train-2-stepstart-2"
        stats.mkdir(parents=True)
        profile = cProfile.Profile()
        profile.runcall(sorted, [2, 1])
        profile.dump_stats(stats / "python_stats")
        done = self.run_report(root, "-o", "report.html")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.stderr.splitlines()), len(set(done.stderr.splitlines())))
        report = Report(self.folder / "report.html")
        (session,) = report.sessions
        self.assertEqual(session["kind"], "profile")
        origin = session["identity"]["start_timestamp"]
        firsts = [min(times) for times, _ in report.series().values()] + [min(report.column(session["calls"]["start"]))]
        self.assertEqual(min(firsts), 0)  # not the minute that its first file is named after
        phases = json.loads(self.run_command("profile", "phases", root, "-f", "json").stdout)
        training = session["training"]
        self.assertEqual([phase["name"] for phase in training["phases"]], [row["training_phase"] for row in phases])
        for phase, wanted in zip(training["phases"], phases):
            self.assertAlmostEqual(phase["stop"] - phase["start"], wanted["duration_us"] / 1e6, delta=2e-6)
        steps = json.loads(self.run_command("profile", "steps", root, "-f", "json").stdout)
        names = training["steps"]["phases"]
        durations = {}
        for phase, start, stop in report.columns(training["steps"], "phase", "start", "stop"):
            durations.setdefault(names[phase], []).append(stop - start)
        for row in steps:
            self.assertAlmostEqual(max(durations[row["training_phase"]]), row["duration_max_us"] / 1e6, delta=2e-6)
        rows = json.loads(self.run_command("profile", "metrics", root, "-f", "json", "--table", "system").stdout)
        cpu = [row for row in rows if "cpu0" in row.values()]
        times, values = report.series()["algo-1/cpu0/CPUUtilization"]
        self.assertEqual(len(values), len(cpu))
        self.assertTrue(all(abs(time) < 100 for time in times), origin)
        self.assertIn({"series": "algo-1/cpu0/CPUUtilization", "node": "algo-1", "device": "cpu0",
                       "dimension": "CPUUtilization", "resource": "cpu"}, training["utilization"])
        tables = {table["id"]: table for table in session["tables"]}
        self.assertIn("profile_dataloader_summary", tables)
        units = {column["name"]: column.get("unit") for column in tables["profile_job"]["columns"]}
        self.assertEqual((units["job_duration"], units["initialization"]), ("seconds", "seconds"))
        units = {column["name"]: column.get("unit") for column in tables["profile_utilization"]["columns"]}
        self.assertEqual((units["nodeID"], units["utilization_mean"], units["utilization_p99"]), ("", "percent", "percent"))
        columns = [column["name"] for column in tables["profile_utilization"]["columns"]]
        rows = [dict(zip(columns, row)) for row in tables["profile_utilization"]["rows"]]
        self.assertEqual({row["dimension"]: row["utilization_mean"] for row in rows if row["Resource"] == "gpu"},
                         {"GPUMemoryUtilization": 40, "GPUUtilization": 42})
        self.assertIn("builtins.sorted", str(tables["python_functions"]["rows"]))

    def test_a_reading_of_a_profile_ends_where_the_job_was_interrupted(self):
        folder = self.folder / "job" / "system" / "incremental" / "2020091312"
        folder.mkdir(parents=True)
        (folder / "1600000000.algo-1.json").write_text("".join(json.dumps(
            {"Type": "cpu", "Name": "cpu0", "Dimension": "CPUUtilization", "Value": value, "NodeId": "algo-1", "Timestamp": 1600000000.0 + at}) + "\n"
            for at, value in ((0, 10), (60, 20), (600_000, 30), (600_001, 40))))  # fmt: skip
        times, values = self.report("job").series()["algo-1/cpu0/CPUUtilization"]
        self.assertEqual((times, values), ([0, 60, 120, 600_000, 600_001], [10, 20, None, 30, 40]))

    def test_other_json_is_no_session(self):
        (self.folder / "x.json").write_text('{"a": 1}')
        done = self.run_report("x.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("x.json is not a session", done.stderr)

    @needs_package
    def test_analyses_and_comparisons_say_what_to_name_instead(self):
        write_tracking(self.folder / "t.csv", [row(number) for number in range(3)])
        for form in "json", "csv", "pickle", "text":
            self.run_command("sub-track", "analyze", "--tf=t.csv", "-f", form, "-o", f"analysis.{form}")
            self.run_command("sub-track", "compare", "-m", "a=analysis.json", "-m", "b=analysis.json", "-f", form, "-o", f"comparison.{form}")
            for name, hint in (("analysis", "name the tracking file that it was made of"), ("comparison", "name the tracking files of its sessions")):
                for command in ("report", "-o", "r.html"), ("plot", "-o", "p.svg"):
                    done = self.run_command(command[0], f"{name}.{form}", *command[1:], env=self.environment)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(hint, done.stderr)


if __name__ == "__main__":
    main()
