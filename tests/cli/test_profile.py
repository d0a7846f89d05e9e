"""gpu-tracker profile, as a user runs it."""

import cProfile
import csv
import io
import json
import os
import pathlib
import pstats

from command import SOURCE, CommandTest, main

ROOT = SOURCE / "tests" / "fixtures" / "trace-root"


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


class Training(CommandTest):
    def profile(self, *arguments):
        return self.run_command("profile", *map(str, arguments))

    def test_names_do_not_reach_the_terminal_as_commands(self):
        trace = json.loads((SOURCE / "tests" / "fixtures" / "trace-kineto" / "rank0.json").read_text())
        kernel = next(event for event in trace["traceEvents"] if event.get("cat") == "kernel")
        kernel["name"] = "k\x1b[31mred\nline"
        (self.folder / "in.json").write_text(json.dumps(trace))
        done = self.run_command("profile", "kernels", "in.json")
        self.assertIn("k\\x1b[31mred\\x0aline", done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_every_view_comes_as_text_json_and_csv(self):
        for view in ("job", "steps", "phases", "utilization", "devices", "dataloader", "metrics"):
            text = self.profile(view, ROOT)
            self.assertEqual(text.returncode, 0, text.stderr)
            self.assertTrue(text.stdout)
            document = json.loads(self.profile(view, ROOT, "-f", "json").stdout)
            tables = document if view in ("dataloader", "metrics") else {view: document}
            for name, rows in tables.items():
                only = ["--table", name] if len(tables) > 1 else []
                table = list(csv.DictReader(io.StringIO(self.profile(view, ROOT, "-f", "csv", *only).stdout)))
                rows = [rows] if isinstance(rows, dict) else rows
                self.assertEqual(len(table), len(rows))
                for line, row in zip(table, rows):
                    self.assertEqual(list(line), list(row))

    def test_output_goes_to_a_file(self):
        self.assertEqual(self.profile("job", ROOT, "-f", "json", "-o", "job.json").stdout, "")
        self.assertEqual(json.loads((self.folder / "job.json").read_text())["job_duration"], 14.5)

    def test_wrong_use_is_one_line(self):
        for arguments, status, words in [
            (["job", "/nowhere"], 1, "no folder /nowhere"),
            (["job", self.folder], 1, "no trace root"),
            (["steps", ROOT, "--by", "x"], 2, "not a valid grouping"),
            (["devices", ROOT, "--ranges", "9-1"], 2, "--ranges"),
            (["utilization", ROOT, "--resource", "tpu"], 1, "not a valid resource"),
            (["metrics", ROOT, "-f", "csv"], 1, "choose one with --table"),
            (["metrics", ROOT, "--table", "x"], 1, "There are: system, framework"),
            (["metrics", ROOT, "--between", "5"], 2, "--between"),
            (["python", "top", "/nowhere"], 1, "/nowhere"),
            (["python", "x", ROOT], 2, "top or list"),
            (["python", "top", SOURCE / "Makefile"], 1, "no profile"),
        ]:
            done = self.profile(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, ""), arguments)
            self.assertIn(words, done.stderr.splitlines()[-1])


class Python(CommandTest):
    def dump(self, name, function):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        profiler = cProfile.Profile()
        profiler.runcall(function)
        profiler.dump_stats(path)
        return str(path)

    def setUp(self):
        super().setUp()
        self.files = [
            self.dump("a.prof", lambda: factorial(20)),
            self.dump("b.prof", lambda: json.dumps([{"a": [1, 2, 3]}] * 50)),
            self.dump("c.prof", lambda: [pathlib.Path(str(i)).name for i in range(50)]),
        ]

    def test_prints_exactly_what_pstats_prints(self):
        for files in ([self.files[0]], [self.files[1]], self.files):
            for order in ("tottime", "cumtime", "pcalls", "ncalls"):
                for limit in (1, 7, 1000):
                    expected = io.StringIO()
                    pstats.Stats(*files, stream=expected).sort_stats(order).print_stats(limit)
                    done = self.run_command("profile", "python", "top", "--by", order, "-n", limit, *files)
                    self.assertEqual(done.stdout, expected.getvalue())

    def test_json_has_the_same_figures(self):
        rows = json.loads(self.run_command("profile", "python", "top", "-n", 1000, "-f", "json", self.files[0]).stdout)
        stats = {pstats.func_std_string(key): value for key, value in pstats.Stats(self.files[0]).stats.items()}
        self.assertEqual(len(rows), len(stats))
        for row in rows:
            calls, total, seconds, cumulative, _ = stats[row["function_name"]]
            self.assertEqual((row["prim_calls"], row["total_calls"]), (calls, total))
            self.assertEqual((row["total_time"], row["cumulative_time"]), (seconds, cumulative))

    def test_profiles_of_a_training_run_are_chosen_by_step_mode_and_node(self):
        base = "root/framework/pytorch/cprofile/7-host/"
        for name in ("train-1-stepstart-1000_train-2-stepend-2000", "eval-5-stepstart-5000_eval-6-stepend-6000"):
            self.dump(f"{base}{name}/python_stats", lambda: factorial(5))
        rows = json.loads(self.run_command("profile", "python", "list", "root", "-f", "json").stdout)
        self.assertEqual([row["start_mode"] for row in rows], ["train", "eval"])
        self.assertEqual({row["node_id"] for row in rows}, {"7-host"})
        self.assertEqual({row["framework"] for row in rows}, {"pytorch"})
        for choice, count in [
            (["--unit", "step", "--start", 1, "--end", 2], 1),
            (["--unit", "step", "--start", 0, "--end", 9], 2),
            (["--start", 1500, "--end", 1600], 1),
            (["--start-mode", "eval"], 1),
            (["--node", "other"], 0),
        ]:
            done = self.run_command("profile", "python", "list", "root", "-f", "json", *choice)
            self.assertEqual(len(json.loads(done.stdout)), count, choice)
        self.dump(f"{base}train-9-stepend-7000_posthookclose-*-end-8000/python_stats", lambda: factorial(5))
        self.dump("older/100.5_200.5_7-host_3/python_stats", lambda: factorial(5))
        rows = json.loads(self.run_command("profile", "python", "list", "root", "older", "-f", "json").stdout, parse_constant=self.fail)
        self.assertEqual([row["end_step"] for row in rows], [2, 6, None, 3])
        self.assertEqual([rows[3][name] for name in ("start_mode", "end_phase", "framework")], [None] * 3)
        done = self.run_command("profile", "python", "top", "root", "--node", "other")
        self.assertEqual(done.stderr, "No Python profile fits what was asked for\n")

    def test_a_session_of_pyinstrument_is_summed_up(self):
        def frame(function, line, time, *children):
            return {"function": function, "file_path_short": "m.py", "line_no": line, "time": time,
                    "is_application_code": True, "children": list(children)}

        session = {"start_time": 1.0, "duration": 3.0, "sample_count": 30, "program": "m.py", "cpu_time": 2.5,
                   "root_frame": frame("main", 1, 3.0, frame("work", 5, 2.0, frame("work", 5, 0.5)), frame("io", 9, 0.25))}
        path = self.folder / "python_stats.json"
        path.write_text(json.dumps(session))
        result = json.loads(self.run_command("profile", "python", "top", path, "-f", "json").stdout)
        self.assertEqual(result["session"]["sample_count"], 30)
        self.assertEqual(result["functions"], [
            {"function_name": "m.py:5(work)", "total_time": 2.0, "cumulative_time": 2.0},
            {"function_name": "m.py:1(main)", "total_time": 0.75, "cumulative_time": 3.0},
            {"function_name": "m.py:9(io)", "total_time": 0.25, "cumulative_time": 0.25},
        ])
        path.write_text(json.dumps(session | {"root_frame": None}))
        self.assertEqual(self.run_command("profile", "python", "top", path).returncode, 0)


if __name__ == "__main__":
    main()
