"""gpu-tracker profile, as a user runs it."""

import cProfile
import csv
import gzip
import io
import json
import marshal
import os
import pathlib
import pstats
import pty
import re
import subprocess

from command import COMMAND, SOURCE, CommandTest, main, read_terminal

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
        done = self.run_command("pytorch", "kernels", "in.json")
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
        (self.folder / "none" / "system").mkdir(parents=True)
        for arguments, status, words in [
            (["job", "/nowhere"], 1, "no folder /nowhere"),
            (["job", self.folder], 1, "not a trace root"),
            (["steps", "none"], 1, "There are no steps of any training phase in none"),
            (["steps", "none", "--by", "process"], 1, "There are no events of any training step in none"),
            (["steps", ROOT, "--unit", "step", "--start", 900], 1, "There are no steps of any training phase in "),
            (["steps", ROOT, "--unit", "step", "--start", 900], 1, "trace-root in the steps asked for"),
            (["steps", ROOT, "--steps", "900-901"], 1, "trace-root in the steps asked for"),
            (["steps", ROOT, "--steps", "9-1"], 2, "--steps=9-1 names no steps. Give the first and the last one, as in --steps=10-12."),
            (["steps", ROOT, "--steps", "few"], 2, "--steps=few names no steps"),
            (["steps", ROOT, "--steps", "1", "--start", 5], 2, "--steps cannot be combined"),
            (["phases", ROOT, "--end", 5], 1, "trace-root in the time asked for"),
            (["utilization", "none"], 1, "There are no readings of the system in none"),
            (["utilization", "none", "--resource", "gpu"], 1, "There are no readings of gpu in none"),
            (["devices", "none"], 1, "There are no readings of CPUs and GPUs in none"),
            (["devices", ROOT, "--resource", "network"], 1, "There are no readings of network in "),
            (["steps", ROOT, "--by", "x"], 2, "not a valid grouping"),
            (["devices", ROOT, "--ranges", "9-1"], 2, "--ranges"),
            (["utilization", ROOT, "--resource", "tpu"], 1, "not a valid resource"),
            (["metrics", ROOT, "-f", "csv"], 1, "choose one with --table"),
            (["metrics", ROOT, "--table", "x"], 1, "There are: system, framework"),
            (["metrics", ROOT, "--between", "5"], 2, "--between"),
            (["metrics", ROOT, "--metric", "nothere"], 1, "There are no readings or events of nothere in "),
            (["metrics", ROOT, "--metric", "CPUUtilization,nothere"], 1, "There are no readings or events of nothere in "),
            (["metrics", ROOT, "--metric", "CPUUtilization", "--end", 5], 1, "trace-root in the time asked for"),
            (["job", SOURCE / "Makefile"], 1, "Makefile is a file, not a folder"),
            (["breakdown", ROOT], 1, "traces of PyTorch's profiler, and that is the trace root of a training profile"),
            (["python", "top", ROOT, "--start-mode", "xx"], 2, '"xx" is not a valid mode. Valid values are train, eval, predict'),
            (["python", "list", ROOT, "--end-phase", "yy"], 2, '"yy" is not a valid phase. Valid values are start, stepstart'),
            (["python", "top", "/nowhere"], 1, "/nowhere"),
            (["python", "x", ROOT], 2, "top or list"),
            (["python", "top", SOURCE / "Makefile"], 1, "not a profile"),
        ]:
            done = self.profile(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, ""), arguments)
            self.assertIn(words, done.stderr.splitlines()[-1])

    def test_sums_of_a_metric_that_is_missing_come_with_a_word(self):
        moment = ["--at", 1600000000000000, "-f", "json"]
        done = self.profile("metrics", ROOT, *moment, "--metric", "nothere")
        self.assertEqual((done.returncode, set(map(str, json.loads(done.stdout).values()))), (0, {"[]"}))
        self.assertIn("There are no readings or events of nothere in ", done.stderr)
        self.assertNotIn("There are no", self.profile("metrics", ROOT, *moment, "--metric", "Step:ModeKeys.TRAIN").stderr)

    def write_long_profile(self, count):
        """A trace root of that many events and as many readings."""
        name = "1600000004400000_7-host_pythontimeline.json"
        events = self.folder / "long" / "framework" / "pevents" / "2020091312" / name
        system = self.folder / "long" / "system" / "incremental" / "2020091312" / "1600000000.algo-1.json"
        for path in events, system:
            path.parent.mkdir(parents=True)
        events.write_text(json.dumps([
            {"ph": "X", "name": f"a {'b' * (i // 5000)}", "pid": 1, "tid": 1, "ts": 1.6e15 + i, "dur": 9, "args": {"step_num": "0"}}
            for i in range(count)]))
        reading = {"Type": "cpu", "Name": "cpu0", "Dimension": "CPUUtilization", "NodeId": "algo-1"}
        system.write_text("".join(
            json.dumps(reading | {"Value": i % 100, "Timestamp": 1600000000 + i / 100}) + "\n" for i in range(count)))

    def test_rows_that_come_in_parts_are_one_table(self):
        self.write_long_profile(25000)
        document = json.loads(self.profile("metrics", "long", "-f", "json").stdout)
        self.assertEqual({name: len(rows) for name, rows in document.items()}, {"system": 25000, "framework": 25000})
        for name, rows in document.items():
            done = self.profile("metrics", "long", "-f", "csv", "--table", name, "-o", "rows.csv")
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            with open(self.folder / "rows.csv", newline="") as file:
                table = list(csv.DictReader(file))
            self.assertEqual([list(row) for row in table[::5000]], [list(row) for row in rows[::5000]])
            first = next(iter(rows[0]))
            self.assertEqual([row[first] for row in table], [row[first] for row in rows])
        lines = self.profile("metrics", "long").stdout.splitlines()
        self.assertEqual((len(lines), lines[0], lines[25002], lines[25003]), (50005, "System:", "", "Framework:"))
        self.assertEqual(len({line.index(" a ") for line in lines[25005:25005 + 10000]}), 1)

    def test_outliers_of_data_loaders_come_in_parts_too(self):
        name = "1600000009000000_7-host_pythontimeline.json"
        path = self.folder / "run" / "framework" / "pevents" / "2020091312" / name
        path.parent.mkdir(parents=True)
        call = {"ph": "X", "name": "DataLoaderIter::GetNext", "pid": 1, "tid": 1}
        durations = [10 + i % 3 if i % 9 < 5 else 100 + i for i in range(25000)]
        path.write_text(json.dumps([call | {"ts": 1.6e15 + 40 * i, "dur": us} for i, us in enumerate(durations)]))
        document = json.loads(self.profile("dataloader", "run", "-f", "json").stdout)
        self.assertEqual(document["summary"][2:], [
            {"part": "getnext", "count": 25000, "duration_median_us": 12.0, "duration_max_us": 25099},
            {"part": "batch_time", "count": 24999, "duration_median_us": 40.0, "duration_max_us": 40},
        ])
        outliers = sorted((us for us in durations if us >= 24), reverse=True)
        self.assertGreater(len(outliers), 11000)
        self.assertEqual([row["duration_us"] for row in document["getnext_outliers"]], outliers)
        table = csv.DictReader(io.StringIO(self.profile("dataloader", "run", "-f", "csv", "--table", "getnext_outliers").stdout))
        self.assertEqual([int(row["duration_us"]) for row in table], outliers)

    def test_what_breaks_off_leaves_no_file(self):
        self.write_long_profile(300)
        done = self.profile("metrics", "long", "-f", "csv", "-o", "rows.csv")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1))
        self.assert_folder_is("long")

    def test_progress_is_shown_on_a_terminal(self):
        self.write_long_profile(10000)
        (self.folder / "dumps").mkdir()
        for i in range(10):
            (self.folder / "dumps" / f"{i}.prof").write_bytes(marshal.dumps({("f.py", 1, "f"): (1, 1, 0.5, 0.5, {})}))
        trace = {"traceEvents": [Kineto.KERNEL | {"ts": 100 * i} for i in range(20000)]}
        (self.folder / "trace.json").write_text(json.dumps(trace))
        for arguments in (["steps", "long", "--by", "process"], ["metrics", "long"], ["breakdown", "trace.json"], ["diff", "trace.json", "trace.json"],
                          ["python", "top", "dumps"]):
            ours, theirs = pty.openpty()
            subprocess.run([COMMAND, "profile", *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=theirs, check=True)
            os.close(theirs)
            shown = read_terminal(ours).decode()
            os.close(ours)
            percents = [int(word) for word in re.findall(r"gpu-tracker: reading, (\d+) %", shown)]
            self.assertEqual(percents, sorted(set(percents)), arguments)
            self.assertGreater(percents[-1], 80, arguments)
            self.assertTrue(shown.endswith("\r\033[K"), arguments)

    def test_events_of_no_use_are_counted(self):
        events = self.folder / "run" / "framework" / "pevents" / "2020091312" / "1600000004400000_7-host_pythontimeline.json"
        events.parent.mkdir(parents=True)
        step = {"ph": "X", "name": "Step:ModeKeys.TRAIN", "pid": 1, "tid": 1, "ts": 1.6e15, "dur": 9, "args": {"step_num": "0"}}
        broken = [{key: value for key, value in step.items() if key != "dur"}, step | {"dur": -5}, step | {"ph": "B"}]
        events.write_text(json.dumps([step, *broken]))
        done = self.profile("steps", self.folder / "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("pythontimeline.json: 3 events without a time, a duration or a partner were skipped", done.stderr)
        events.write_text(json.dumps([step]))
        self.assertEqual(self.profile("steps", self.folder / "run").stderr, "")


class Kineto(CommandTest):
    KERNEL = {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 100, "dur": 50}

    def trace(self, name, rank, *events, world_size=2):
        """A trace whose rank follows its events."""
        text = json.dumps({"schemaVersion": 1, "traceEvents": events, "distributedInfo": {"rank": rank, "world_size": world_size}})
        path = self.folder / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    def breakdown(self, *paths):
        done = self.run_command("pytorch", "breakdown", *map(str, paths), "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [row["rank"] for row in json.loads(done.stdout)], done.stderr.splitlines()

    def test_a_rank_after_the_events_is_read(self):
        ranks, warnings = self.breakdown(self.trace("r1.json", 1, self.KERNEL))
        self.assertEqual(ranks, [1])
        self.assertEqual(len(warnings), 1)
        self.assertIn("1 of 2 ranks is missing: 0", warnings[0])
        _, warnings = self.breakdown(self.trace("r1.json", 1, self.KERNEL, world_size=4))
        self.assertIn("3 of 4 ranks are missing: 0, 2, 3", warnings[0])

    def test_a_rank_without_gpu_events_is_named(self):
        operator = self.KERNEL | {"cat": "cpu_op"}
        ranks, warnings = self.breakdown(self.trace("r0.json", 0, self.KERNEL), self.trace("c1.json", 1, operator))
        self.assertEqual((ranks, len(warnings)), ([0], 1))
        self.assertIn("Rank 1 has no GPU events: ", warnings[0])
        self.assertIn("c1.json", warnings[0])

    def test_ranks_come_in_their_order(self):
        kernels = [self.KERNEL | {"args": {"device": device}} for device in (1, 0)]
        for name, rank in ("a", 10), ("b", None), ("c", 2), ("d", 0), ("e", None):
            self.trace(f"{name}.json", rank, *kernels, world_size=None)
        self.run_command("timeline", "merge", ".", "-o", "merged.json")
        for view in "breakdown", "idle":
            for inputs in ("a.json", "b.json", "c.json", "d.json", "e.json"), ("merged.json",):
                done = self.run_command("profile", view, *inputs, "-f", "json")
                rows = [(row["rank"], row["trace"].removeprefix("merged.json: "), row["gpu"]) for row in json.loads(done.stdout)]
                ranks = (0, "d.json"), (2, "c.json"), (10, "a.json"), (None, "b.json"), (None, "e.json")
                self.assertEqual(rows, [(*rank, gpu) for rank in ranks for gpu in (0, 1)])

    def test_a_trace_without_a_rank_may_be_of_a_missing_one(self):
        _, warnings = self.breakdown(self.trace("r0.json", 0, self.KERNEL, world_size=4), self.trace("n.json", None, self.KERNEL))
        self.assertTrue(warnings[-1].endswith("3 of 4 ranks are missing: 1, 2, 3; 1 trace of unknown rank may be of these"), warnings)

    def test_a_rank_that_cannot_be_is_named(self):
        for rank, said in (3, 0), (4, 1), (15, 1):
            path = self.trace("odd.json", rank, self.KERNEL, world_size=4)
            for arguments in ("breakdown", path), ("diff", path, path):
                done = self.run_command("profile", *map(str, arguments))
                self.assertEqual(done.stderr.count(f"odd.json says that it is rank {rank} of 4, but ranks are counted from 0"), said * (len(arguments) - 1))

    def test_a_rank_that_is_given_twice_is_named(self):
        paths = [self.trace(name, 0, self.KERNEL, world_size=1) for name in ("r0.json", "r0.json.gz", "again.json")]
        _, warnings = self.breakdown(*paths[:2])
        self.assertEqual(len(warnings), 1)
        self.assertIn("Rank 0 has 2 traces", warnings[0])
        self.assertTrue(warnings[0].endswith(f"{paths[0]}, {paths[1]}"))
        _, warnings = self.breakdown(*paths)
        self.assertEqual(len(warnings), 1)
        self.assertIn("Rank 0 has 3 traces", warnings[0])

    def diff(self, *paths):
        done = self.run_command("pytorch", "diff", *map(str, paths), "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["name"]: (row["total_a_us"], row["total_b_us"]) for row in json.loads(done.stdout)}
        return rows, [line.removeprefix("gpu-tracker: warning: ") for line in done.stderr.splitlines()]

    def test_runs_are_compared_with_all_their_ranks(self):
        for run, ranks in {"a": (0, 1), "b": (0, 2)}.items():
            (self.folder / run).mkdir()
            for rank in ranks:
                self.trace(f"{run}/rank{rank}.json", rank, self.KERNEL | {"dur": 10 + rank}, world_size=3)
        self.assertEqual(self.diff("a/rank0.json", "b/rank0.json"), ({"sgemm": (10, 10)}, []))
        _, warnings = self.diff("a/rank1.json", "b/rank2.json")
        self.assertEqual(warnings, ["Different ranks are compared: rank 1 with rank 2"])
        rows, warnings = self.diff("a", "b")
        self.assertEqual(rows, {"sgemm": (21, 22)})
        self.assertEqual(warnings, [
            "1 of 3 ranks is missing in a: 2",
            "1 of 3 ranks is missing in b: 1",
            "Different ranks are compared: ranks 0, 1 with ranks 0, 2",
        ])
        (self.folder / "b" / "rank1.json").write_text(json.dumps([self.KERNEL]))
        self.assertEqual(
            self.diff("a/rank0.json", "b")[1][-1], "Different ranks are compared: rank 0 with 1 trace of unknown rank and ranks 0, 2")
        self.assertEqual(self.diff("b/rank1.json", "b/rank1.json")[1], [])
        (self.folder / "empty").mkdir()
        done = self.run_command("pytorch", "diff", "a", "empty")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no trace files (.json, .json.gz, .json.zst) in empty", done.stderr)

    def test_traces_that_do_not_name_their_rank_are_distinguished(self):
        for name in "a.json", "b.json":
            (self.folder / name).write_text(json.dumps([self.KERNEL]))
        for view in "breakdown", "idle":
            done = self.run_command("profile", view, "a.json", "b.json", "-f", "json")
            self.assertEqual([(row["rank"], row["trace"]) for row in json.loads(done.stdout)], [(None, "a.json"), (None, "b.json")])
            self.assertIn("2 of 2 traces do not name their rank (distributedInfo): a.json, b.json", done.stderr)
            done = self.run_command("profile", view, "a.json", self.trace("r0.json", 0, self.KERNEL, world_size=1))
            self.assertIn("1 of 2 traces does not name its rank (distributedInfo): a.json", done.stderr)
            self.assertEqual(self.run_command("profile", view, "a.json").stderr, "")

    def csv_of(self, view, *paths):
        done = self.run_command("profile", view, *map(str, paths), "-f", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.sub(r"(\w+\.json: |ranks/)", "", done.stdout), done.stderr.count("missing")

    def test_a_merged_timeline_says_what_its_ranks_said(self):
        folder = self.folder / "ranks"
        folder.mkdir()
        for rank in (0, 2, 3):  # equal GPUs, streams and correlation ids
            launches = [self.KERNEL | {"cat": "cuda_runtime", "name": "launch", "pid": 50, "tid": 50, "ts": i * (90 + rank), "dur": 1,
                                       "args": {"correlation": i}} for i in range(4)]
            kernels = [self.KERNEL | {"ts": 3 + i * (80 + 10 * rank), "args": {"device": 0, "stream": 7, "correlation": i}}
                       for i in range(4)]
            self.trace(f"ranks/{'abcd'[rank]}.json", rank if rank < 3 else None, *launches, *kernels, world_size=4)
        for inputs, output in (["ranks"], "merged.json"), (["merged.json"], "again.json"), (["merged.json", "again.json"], "both.json"):
            done = self.run_command("timeline", "merge", *inputs, "-o", output)
            self.assertEqual((done.returncode, done.stderr.count("have no absolute times"), done.stderr.count("\n")),
                             (0, output != "again.json", output != "again.json"))  # fmt: skip
        for view in "breakdown", "idle", "kernels":
            expected = self.csv_of(view, "ranks")
            self.assertEqual(self.csv_of(view, "merged.json"), expected)
            self.assertEqual(self.csv_of(view, "again.json"), expected)
        rows, warnings = self.diff("ranks", "merged.json")
        self.assertTrue(all(a == b for a, b in rows.values()))
        self.assertEqual(warnings, [f"2 of 4 ranks are missing in {side}: 1, 3; 1 trace of unknown rank may be of these" for side in ("ranks", "merged.json")])
        ranks, warnings = self.breakdown("both.json")
        self.assertEqual(sorted(ranks, key=str), [0, 0, 2, 2, None, None])
        self.assertTrue(any("Rank 2 has 2 traces" in warning for warning in warnings))

    def test_a_merged_timeline_in_the_folder_of_its_traces_is_left_out(self):
        for rank in (0, 1):
            self.trace(f"r{rank}.json", rank, self.KERNEL)
        expected = self.run_command("pytorch", "kernels", ".").stdout
        outputs = "merged.json", "packed.json.gz", "7_all_merged_timeline.json"
        slices = []
        for output in (*outputs, *outputs):
            done = self.run_command("timeline", "merge", ".", "-o", output)
            slices += re.findall(r": (\d+) slices", done.stdout)
        self.assertEqual(slices, ["2"] * 6)
        self.assertEqual(done.stderr.count("is a merged timeline and is skipped"), 3)
        done = self.run_command("pytorch", "kernels", ".")
        self.assertEqual((done.stdout, done.stderr.count("and is skipped; name it")), (expected, 3))

    def of_gpu(self, view, *events):
        (self.folder / "gpu.json").write_text(json.dumps(events))
        done = self.run_command("profile", view, "gpu.json", "-f", "json")
        return json.loads(done.stdout)[0]

    def test_memory_that_is_moved_meanwhile_overlaps(self):
        copy = self.KERNEL | {"cat": "gpu_memcpy", "name": "copy", "tid": 8}
        row = self.of_gpu("breakdown", self.KERNEL, copy | {"ts": 90, "dur": 30}, copy | {"ts": 145, "dur": 5}, copy | {"ts": 200, "dur": 5})
        names = "memory_us", "memory_overlap_us", "memory_overlap_%", "communication_overlap_us"
        self.assertEqual([row[name] for name in names], [40, 25, 62.5, 0])

    def test_idle_time_without_evidence_has_no_cause(self):
        kernels = [self.KERNEL | {"ts": ts, "dur": 5, "args": {"correlation": ts}} for ts in (10, 20, 40)]
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 9, "tid": 9, "ts": 12, "dur": 1, "args": {"correlation": 40}}
        names = "idle_us", "host_wait_us", "kernel_wait_us", "other_us", "unknown_us"
        self.assertEqual([self.of_gpu("idle", *kernels)[name] for name in names], [20, 0, 0, 0, 20])
        self.assertEqual([self.of_gpu("idle", *kernels, launch)[name] for name in names], [20, 0, 15, 0, 5])

    def test_events_of_no_use_are_counted(self):
        broken = self.KERNEL | {"dur": -1}
        path = self.trace("r0.json", 0, self.KERNEL, broken, world_size=1)
        other = self.trace("other.json", 0, self.KERNEL, world_size=1)
        for arguments in ("breakdown", path), ("kernels", path), ("idle", path), ("diff", path, other):
            done = self.run_command("profile", *map(str, arguments))
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (0, 1), done.stderr)
            self.assertIn("r0.json: 1 event without a time, a duration or a partner was skipped", done.stderr)


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
                    done = self.run_command("profile", "python", "top", "--sort", order, "-n", limit, *files)
                    self.assertEqual(done.stdout, expected.getvalue())
        older = self.run_command("profile", "python", "top", "--by", "cumtime", *self.files)  # its older name
        self.assertEqual(older.stdout, self.run_command("profile", "python", "top", "--sort", "cumtime", *self.files).stdout)

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
            (["--steps", "1-2"], 1),
            (["--steps", "0-9"], 2),
            (["--steps=5-6"], 1),
            (["--start", 1500, "--end", 1600], 1),
            (["--start-mode", "eval"], 1),
            (["--node", "other"], 0),
        ]:
            done = self.run_command("profile", "python", "list", "root", "-f", "json", *choice)
            self.assertEqual(len(json.loads(done.stdout)), count, choice)
        self.dump(f"{base}train-9-stepend-7000_posthookclose-*-end-8000/python_stats", lambda: factorial(5))
        self.dump(f"{base}prestepzero-*-start-500_train-0-stepstart-900/python_stats", lambda: factorial(5))
        self.dump("older/100.5_200.5_7-host_3/python_stats", lambda: factorial(5))
        rows = json.loads(self.run_command("profile", "python", "list", "root", "older", "-f", "json").stdout, parse_constant=self.fail)
        steps = [(None, 0), (1, 2), (5, 6), (9, None), (3, 3)]
        self.assertEqual([(row["start_step"], row["end_step"]) for row in rows], steps)
        self.assertTrue(all(type(row["start_step"]) is int for row in rows[1:]))
        shown = self.run_command("profile", "python", "list", "root", "older", "-f", "csv").stdout
        listed = list(csv.DictReader(io.StringIO(shown)))
        self.assertEqual([(row["start_step"], row["end_step"]) for row in listed], [("", "0"), ("1", "2"), ("5", "6"), ("9", ""), ("3", "3")])
        shown = self.run_command("profile", "python", "list", "root", "older").stdout.splitlines()
        self.assertEqual([line.split()[4] for line in shown[1:]], ["n/a", "1", "5", "9", "3"])
        self.assertEqual([line.split()[8] for line in shown[1:]], ["0", "2", "6", "n/a", "3"])
        self.assertEqual([rows[4][name] for name in ("start_mode", "end_phase", "framework")], [None] * 3)
        done = self.run_command("profile", "python", "top", "root", "--node", "other")
        self.assertEqual(done.stderr, "gpu-tracker: No Python profile matches the selection\n")

    def test_a_damaged_profile_is_left_out(self):
        whole = pathlib.Path(self.files[0]).read_bytes()
        (self.folder / "torn.prof").write_bytes(whole[:-20])
        # Whole as data, but not of the form: nothing of the functions before it counts either.
        (self.folder / "odd.prof").write_bytes(marshal.dumps({("f.py", 1, "f"): (1, 1, 9.0, 9.0, {}), ("g.py", 1, "g"): 5}))
        alone = self.run_command("profile", "python", "top", self.files[0], "-f", "json")
        done = self.run_command("profile", "python", "top", "torn.prof", self.files[0], "odd.prof", "-f", "json")
        self.assertEqual((done.returncode, done.stdout), (0, alone.stdout))
        warnings = done.stderr.splitlines()
        self.assertEqual(len(warnings), 2)
        for name in ("torn.prof", "odd.prof"):
            self.assertEqual(sum(name in line and "skipped" in line for line in warnings), 1, warnings)
        done = self.run_command("profile", "python", "top", "torn.prof")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1))
        self.assertIn("torn.prof", done.stderr)

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
        # What pyinstrument calls "[self]" and the like is not a function but own time of the one above.
        own = [frame(name, 0, time) for name, time in (("[self]", 0.5), ("[await]", 0.25), ("[out-of-context]", 0.125))]
        root = frame("[root]", 0, 3.0, frame("main", 1, 3.0, *own, frame("work", 5, 2.0, frame("[self]", 0, 2.0))))
        path.write_text(json.dumps(session | {"root_frame": root}))
        result = json.loads(self.run_command("profile", "python", "top", path, "-f", "json").stdout)
        self.assertEqual(result["functions"], [
            {"function_name": "m.py:5(work)", "total_time": 2.0, "cumulative_time": 2.0},
            {"function_name": "m.py:1(main)", "total_time": 1.0, "cumulative_time": 3.0},
        ])
        path.write_text(json.dumps(session | {"root_frame": None}))
        self.assertEqual(self.run_command("profile", "python", "top", path).returncode, 0)

    def test_a_named_file_of_the_other_profiler_is_warned_of(self):
        session = {"start_time": 1.0, "duration": 3.0, "sample_count": 30, "program": "m.py", "cpu_time": 2.5, "root_frame": None}
        (self.folder / "s.json").write_text(json.dumps(session))
        for options, taken, left in [([], "a.prof", "s.json"), (["--profiler", "pyinstrument"], "s.json", "a.prof")]:
            alone = self.run_command("profile", "python", "top", taken)
            done = self.run_command("profile", "python", "top", *options, "s.json", "a.prof")
            self.assertEqual((done.returncode, done.stdout), (0, alone.stdout))
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(f"{left} is skipped: ", done.stderr)
        # Those of a folder were not named one by one: help says which are taken.
        for name in "folder/1/python_stats.json", "folder/2/python_stats":
            (self.folder / name).parent.mkdir(parents=True)
            (self.folder / name).write_bytes((self.folder / ("s.json" if name.endswith("json") else "a.prof")).read_bytes())
        self.assertEqual(self.run_command("profile", "python", "top", "folder").stderr, "")


if __name__ == "__main__":
    main()
