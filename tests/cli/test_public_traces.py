"""Traces as other programs, and other versions of them, write them: right figures, or a word on what is left out."""

import gzip
import json
import time

from analysis_files import row, write_tracking
from command import SOURCE, CommandTest, main
from report_test import ReportTest

TRACES = SOURCE / "tests" / "fixtures" / "public" / "traces"


class Views(CommandTest):
    """gpu-tracker pytorch"""

    def view(self, view, name):
        done = self.run_command("pytorch", view, TRACES / name, "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr.replace(f"{TRACES}/", "").replace("gpu-tracker: warning: ", "").splitlines()

    def figures(self, view, name, *columns):
        rows, warnings = self.view(view, name)
        return [tuple(row[column] for column in columns) for row in rows], warnings

    def test_the_categories_of_pytorch_1_8(self):
        figures = self.figures("breakdown", "torch-1.8.json", "gpu", "span_us", "idle_us", "compute_us", "memory_us")
        self.assertEqual(figures, ([(0, 305, 170, 110, 25)], []))
        rows, _ = self.figures("kernels", "torch-1.8.json", "name", "work", "total_us")
        self.assertEqual(rows, [("implicit_gemm", "compute", 80), ("relu_kernel", "compute", 30), ("Memcpy DtoH", "memory", 20),
                                ("Memset (Device)", "memory", 5)])  # fmt: skip
        rows, _ = self.figures("idle", "torch-1.8.json", "stream", "host_wait_us", "kernel_wait_us", "other_us", "unknown_us")
        self.assertEqual(rows, [(7, 160, 10, 0, 0)])

    def test_gaps_are_delays_of_kernels_as_in_holistic_trace_analysis(self):
        """Its get_idle_time_breakdown() says 16 and 74 us."""
        rows, _ = self.figures("idle", "queued-kernels.json", "idle_us", "host_wait_us", "kernel_wait_us", "other_us", "unknown_us")
        self.assertEqual(rows, [(90, 0, 16, 74, 0)])

    def test_a_step_among_operators_is_no_operator(self):
        events = [{"ph": "X", "cat": "Operator", "name": name, "pid": 9, "tid": "9", "ts": ts, "dur": dur}
                  for name, ts, dur in (("ProfilerStep#4", 0, 1000), ("Optimizer.step#SGD.step", 600, 300), ("aten::mm", 100, 100),
                                        ("aten::add_", 700, 50))]  # fmt: skip
        for category in "Operator", "cpu_op", None:
            for event in events:
                event["cat"] = category
                if category is None:
                    del event["cat"]
                    event["pid"] = "CPU functions"
            (self.folder / "t.json").write_text(json.dumps(events))
            rows, warnings = self.figures("breakdown", self.folder / "t.json", "span_us", "operators_us", "other_us")
            self.assertEqual((rows, warnings), ([(1000, 150, 850)], ["There is no GPU activity: this is what the CPU did"]))
            rows, _ = self.figures("kernels", self.folder / "t.json", "name", "own_us")
            self.assertEqual(rows, [("aten::mm", 100), ("aten::add_", 50)])

    def test_a_call_within_another_of_the_same_operator_is_not_added_to_it(self):
        rows, _ = self.figures("kernels", "recursive-operator.json", "name", "count", "own_us", "total_us", "max_us")
        self.assertEqual(rows, [("aten::norm", 3, 50, 60, 50), ("aten::mul", 1, 10, 10, 10)])

    def test_what_streams_of_cpp_make_of_numbers_and_texts_costs_no_kernel(self):
        event = '{"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": %d, "dur": 5, "args": {"blocks per SM": %s}}'
        events = [event % (name, ts, value) for ts, (name, value) in enumerate((("a", "inf"), ("b", "-nan"), ("line 1\n\tline 2", "NaN"), ("d", "1")))]
        (self.folder / "t.json").write_text(f"[{','.join(events)}]")
        rows, warnings = self.figures("kernels", self.folder / "t.json", "name", "total_us")
        self.assertEqual(sorted(rows), [("a", 5), ("b", 5), ("d", 5), ("line 1\n\tline 2", 5)])
        self.assertEqual(len(warnings), 1)
        self.assertIn("t.json: 1 place was read with backslashes or control characters that are not escaped", warnings[0])

    def test_what_is_not_understood_is_not_said_to_be_missing(self):
        for name, left_out, own in (("accelerators.json", "hpu_op (2), mtia_ccp_events (1)", 5),
                                    ("ascend.json", 'no category, in the process "Ascend Hardware" (1)', 5.5)):  # fmt: skip
            rows, warnings = self.figures("kernels", name, "name", "own_us")
            self.assertEqual(rows, [("aten::mm", own)])
            self.assertEqual(warnings, [f"Events of these categories are not understood and are left out: {left_out}",
                                        "No GPU activity is understood: this is what the CPU did"])  # fmt: skip
        (self.folder / "t.json").write_text('[{"ph": "X", "name": "f", "cat": "jit", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]')
        done = self.run_command("pytorch", "idle", "t.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("There is no activity of GPUs and CPUs in the trace that is understood. Categories that are not: jit (1)", done.stderr)

    def test_a_pytorch_without_kineto(self):
        rows, warnings = self.figures("kernels", "without-kineto.json", "name", "own_us")
        self.assertEqual((rows, len(warnings)), ([("aten::mm", 30), ("aten::empty", 10)], 1))
        rows, warnings = self.figures("breakdown", "without-kineto.json", "process", "thread", "span_us", "operators_us")
        self.assertEqual(rows, [(None, 3, 50, 40)])
        rows, warnings = self.figures("breakdown", "without-kineto-cuda.json", "gpu", "compute_us")
        self.assertEqual((rows, warnings), ([(0, 30), (1, 50)], []))

    def test_a_kernel_and_a_copy_of_one_name_are_two(self):
        events = [{"ph": "X", "cat": cat, "name": "op", "pid": 0, "tid": 7, "ts": ts, "dur": 5 + ts} for cat, ts in (("kernel", 0), ("gpu_memcpy", 10))]
        (self.folder / "t.json").write_text(json.dumps(events))
        rows, _ = self.figures("kernels", self.folder / "t.json", "name", "work", "count", "total_us")
        self.assertEqual(rows, [("op", "memory", 1, 15), ("op", "compute", 1, 5)])

    def test_versions_of_pytorch_are_compared_by_what_their_categories_mean(self):
        event = {"ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 0, "dur": 5}
        (self.folder / "old.json").write_text(json.dumps([event]))
        (self.folder / "new.json").write_text(json.dumps([event | {"cat": "kernel", "dur": 3}]))
        done = self.run_command("pytorch", "diff", "old.json", "new.json", "-f", "json")
        rows = [(row["category"], row["name"], row["total_change_us"]) for row in json.loads(done.stdout)]
        self.assertEqual(rows, [("kernel", "gemm", -2)])



class Merge(CommandTest):
    """gpu-tracker timeline merge"""

    def merge(self, *inputs):
        done = self.run_command("timeline", "merge", *(TRACES / name if isinstance(name, str) else name for name in inputs), "-o", "merged.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.words = done.stdout
        self.warnings = [line.replace("gpu-tracker: warning: ", "").replace(f"{TRACES}/", "").replace(f"{self.folder}/", "")
                         for line in done.stderr.splitlines()]  # fmt: skip
        return json.loads((self.folder / "merged.json").read_text())

    def slices(self, *inputs):
        return {event["name"]: (event["ts"], event["dur"]) for event in self.merge(*inputs) if event["ph"] == "X"}

    def write(self, name, content):
        path = self.folder / name
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    def test_a_base_time_after_the_events_is_used(self):
        expected = {"aten::mm": (1751500000002000.25, 40)}
        self.assertEqual((self.slices("base-after-events.json"), self.warnings), (expected, []))
        text = (TRACES / "base-after-events.json").read_text()
        packed = self.write("t.json.gz", text)
        self.assertEqual((self.slices(packed), self.warnings), (expected, []))
        # With as many events as do not fit into what is read of the end.
        event = '{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 1, "dur": 1},\n'
        for name in "long.json", "long.json.gz":
            long = self.write(name, text.replace('{"ph"', event * 30000 + '{"ph"', 1))
            self.assertEqual((self.slices(long)["aten::mm"], self.warnings), (expected["aten::mm"], []))
        bad = self.write("bad.json", text.replace('"t.json"', '"C:\\Users\\t.json"'))
        self.assertEqual(self.slices(bad), expected)

    def test_a_base_time_that_was_not_found_is_said(self):
        text = (TRACES / "base-after-events.json").read_text().rstrip()
        long = self.write("long.json", f'{text[:-1]}, "more": "{"x" * 3000000}"}}')
        self.assertEqual(self.slices(long), {"aten::mm": (2000.25, 40)})
        self.assertEqual(self.warnings, ["long.json: its base time stands after the events and is not used"])

    def test_a_text_that_only_looks_like_a_base_time_is_none(self):
        event = {"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "args": {"baseTimeNanoseconds": 7000}}
        odd = self.write("odd.json", {"displayTimeUnit": "ms", "traceEvents": [event, event | {"name": "g"}]})
        self.assertEqual(self.slices(odd), {"f": (5, 1), "g": (5, 1)})

    def test_begins_and_ends_are_paired_by_their_names(self):
        slices = self.slices("begin-end.json")
        self.assertEqual(slices, {"epoch": (0, 100), "step 1": (10, 10), "step 2": (30, 15), "other thread": (12, 58)})
        self.assertEqual(self.warnings, ['begin-end.json: 1 slice has no end and is left out: "load"'])
        self.assertIn("1 events lack a time, a duration or their other end", self.words)

    def test_events_of_a_training_profile_are_paired_by_their_names(self):
        events = self.write("1600000004400000_7-host_pythontimeline.json", (TRACES / "begin-end.json").read_text())
        slices = self.slices(events)
        self.assertEqual(slices, {"epoch": (0, 100), "step 1": (10, 10), "step 2": (30, 15), "other thread": (12, 58)})
        self.assertIn("1 events lack a time, a duration or their other end", self.words)

    def test_slices_without_an_end_are_said(self):
        begins = [{"ph": "B", "name": f"f{i}", "pid": 1, "tid": 1, "ts": i} for i in range(7)]
        done = self.run_command("timeline", "merge", self.write("open.json", begins), "-o", "merged.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn('open.json: 7 slices have no end and are left out: "f0", "f1", "f2", "f3", "f4", ...', done.stderr)
        self.assertIn("There is nothing to merge: 7 events lack a time, a duration or their other end", done.stderr)

    def test_an_end_of_another_name_ends_nothing(self):
        events = [{"ph": "B", "name": "a", "pid": 1, "tid": 1, "ts": 0}, {"ph": "E", "name": "b", "pid": 1, "tid": 1, "ts": 5},
                  {"ph": "E", "name": "a", "pid": 1, "tid": 1, "ts": 9}]  # fmt: skip
        self.assertEqual(self.slices(self.write("t.json", events)), {"a": (0, 9)})

    def test_a_backslash_that_escapes_nothing_costs_no_trace(self):
        slices = self.slices("unescaped-paths.json")
        self.assertEqual(slices, {"a": (1751500000000100, 50), "D:\\Work\\k.cu(7): run": (1751500000000200, 30), "c": (1751500000000300, 20)})
        self.assertEqual(self.warnings, ["unescaped-paths.json: 2 places were read with backslashes or control characters that are not escaped"])
        rows = json.loads(self.run_command("pytorch", "breakdown", TRACES / "unescaped-paths.json", "-f", "json").stdout)
        self.assertEqual([(row["rank"], row["compute_us"]) for row in rows], [(3, 100)])

    def test_a_header_that_cannot_be_read_costs_no_events(self):
        text = '{"a": oops, "traceName": "say \\"traceEvents\\"", "traceEvents": [{"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 5, "dur": 1}]}'
        self.assertEqual(self.slices(self.write("t.json", text)), {"f": (5, 1)})
        self.assertEqual(len(self.warnings), 1)
        self.assertIn("damaged place", self.warnings[0])

    def test_what_follows_the_trace_is_counted(self):
        self.assertEqual(self.slices("two-documents.json"), {"a": (0, 5)})
        follows = (TRACES / "two-documents.json").read_text().split("]\n", 1)[1]
        self.assertEqual(self.warnings, [f"two-documents.json: {len(follows)} bytes were not read after the end of the trace"])
        spaced = self.write("spaced.json", '{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 5}]}  \n\n')
        self.assertEqual((self.slices(spaced), self.warnings), ({"a": (0, 5)}, []))

    def test_members_that_are_left_out_are_counted(self):
        event = {"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 0, "dur": 5}
        events = [event | {"tts": 1}, event | {"sf": 2, "cname": "good"}, event, {"ph": "b", "name": "g", "pid": 1, "tid": 1, "ts": 1, "id2": {"local": 1}}]
        self.merge(self.write("t.json", {"traceEvents": events, "stackFrames": {"2": {"name": "f"}}, "samples": []}))
        self.assertEqual(self.warnings, ["t.json: these members are left out: stackFrames",
                                         "t.json: 2 events have members that are left out (stacks, times of threads, colours)"])  # fmt: skip

    def test_inputs_that_are_not_on_one_clock_are_said(self):
        def trace(name, *times):
            return self.write(name, [{"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": at * 1e6, "dur": 5} for at in times])

        now = int(time.time())
        run, same, relative, other = trace("run.json", now - 9), trace("same.json", now - 5), trace("relative.json", 7), trace("other.json", 3)
        self.merge(run, same)
        self.assertEqual(self.warnings, [])
        self.merge(run, relative)
        self.assertEqual(self.warnings, ["relative.json has no absolute times: what is in it does not line up with the other inputs"])
        self.merge(relative, other)
        self.assertEqual(self.warnings, ["relative.json, other.json have no absolute times: they line up only if all of them count from one moment"])
        self.merge(relative)
        self.assertEqual(self.warnings, [])
        self.merge(trace("old.json", now - 5 * 3600 - 100), run)
        self.assertEqual(len(self.warnings), 1)
        self.assertRegex(self.warnings[0], r"^run.json begins 5 hours after old.json ended \(20.* and 20.* UTC\): are they of one run")
        self.merge(*(trace(f"{i}.json", now - i * 7200) for i in range(7)))
        self.assertEqual([warning.split(" after ")[0] for warning in self.warnings],
                         ["5.json begins 1 hour", "4.json begins 1 hour", "3.json begins 1 hour", "So do 3 more inputs,"])  # fmt: skip
        self.merge(trace("mixed.json", now, 5, now, 6))
        self.assertEqual(self.warnings, ["mixed.json: 2 of 4 events have times before the year 2000: they are not on the clock of the others"])
        self.merge(trace("future.json", now, now + 9 * 86400))
        self.assertEqual(self.warnings, ["future.json: 1 of 2 events have times in the future: a clock is wrong"])
        self.merge(trace("years.json", now, now - 900 * 86400))
        self.assertEqual(self.warnings, ["years.json: its events are spread over 900 days: some of their times cannot be true"])

    def test_samples_and_a_trace_without_absolute_times(self):
        write_tracking(self.folder / "samples.csv", [row(number) for number in range(3)])
        trace = self.write("jax.json", {"displayTimeUnit": "ns", "traceEvents": [{"ph": "X", "name": "jit_f", "pid": 1, "tid": 1, "ts": 7.5, "dur": 100}]})
        self.merge(self.folder / "samples.csv", trace)
        self.assertEqual(self.warnings, ["jax.json has no absolute times: what is in it does not line up with the other inputs"])

    def test_events_and_readings_of_a_training_profile_are_on_one_clock(self):
        reading = {"Type": "cpu", "Name": "cpu0", "Dimension": "CPUUtilization", "Value": 5, "NodeId": "algo-1", "Timestamp": 1600000001.5}
        step = {"ph": "X", "name": "Step:ModeKeys.TRAIN", "pid": 1, "tid": 1, "ts": 100, "dur": 9, "args": {"step_num": "0"}}
        for path, text in (("system/incremental/1600000000.algo-1.json", json.dumps(reading) + "\n"),
                           ("framework/pevents/2020091312/1600000004400000_7-host_pythontimeline.json",
                            json.dumps([step, step | {"ph": "C"}, step | {"ph": "i"}]))):  # fmt: skip
            (self.folder / "root" / path).parent.mkdir(parents=True)
            self.write(f"root/{path}", text)
        clock = "root: 1 of 2 events have times before the year 2000: they are not on the clock of the others"
        left_out = "pythontimeline.json: 2 events are neither a slice nor a name, and left out (instants, counters, flows)"
        self.merge(self.folder / "root")
        self.assertEqual([word in warning for word, warning in zip((left_out, clock), self.warnings, strict=True)], [True, True])
        done = self.run_command("profile", "metrics", "root")
        self.assertIn(clock, done.stderr)
        self.assertIn(left_out, done.stderr)

    def test_what_is_outside_of_the_selection_is_counted(self):
        done = self.run_command("timeline", "merge", TRACES / "queued-kernels.json", "--end", "50", "-o", "merged.json")
        self.assertIn("12 events are outside of the selection\n", done.stdout)


class Reports(ReportTest):
    def test_processes_of_one_name_are_not_one(self):
        done = self.run_command("report", TRACES / "two-gpus-one-name.json", "-f", "collapsed", "-o", "stacks.txt", env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted((self.folder / "stacks.txt").read_text().splitlines()),
                         ["python (300), thread 7;aten::mm 10", "python (GPU 0), thread 7;gemm 90", "python (GPU 1), thread 7;relu 30"])  # fmt: skip
        report = self.report(TRACES / "two-gpus-one-name.json")
        curves = {name: values for name, (_, values) in report.series().items()}
        self.assertEqual(curves, {"python (GPU 0): memory bytes": [1], "python (GPU 1): memory bytes": [2], "python (GPU 1): memory 4 bytes": [3]})
        (session,) = report.sessions
        self.assertIn("Slices and counters are shown. Left out are 1 instant, 2 flow events.", session["warnings"])
        self.assertNotIn("start_timestamp", session["identity"])

    def test_a_trace_of_other_events_alone_is_not_said_to_be_empty(self):
        events = [{"ph": phase, "cat": "c", "id": 1, "name": "request", "pid": 1, "tid": 1, "ts": ts} for phase, ts in (("b", 0), ("n", 5), ("e", 9), ("i", 9))]
        (self.folder / "t.json").write_text(json.dumps(events))
        done = self.run_command("report", "t.json", "-f", "collapsed", "-o", "-", env=self.environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("There are no code blocks and no slices", done.stderr)
        (session,) = self.report("t.json").sessions
        self.assertEqual(session["warnings"], ["Slices and counters are shown. Left out are 1 instant, 3 asynchronous events."])

    def test_slices_of_equal_times_are_within_those_that_began_before(self):
        """As py-spy writes stacks of one sample."""
        names = "main", "step", "load"
        begins = [{"ph": "B", "name": name, "pid": 1, "tid": 1, "ts": 10} for name in names]
        ends = [{"ph": "E", "name": name, "pid": 1, "tid": 1, "ts": 20} for name in reversed(names)]
        (self.folder / "t.json").write_text(json.dumps([*begins, *ends]))
        done = self.run_command("report", "t.json", "-f", "collapsed", "-o", "stacks.txt", env=self.environment)
        self.assertEqual(done.returncode, 0)
        self.assertEqual([line for line in (self.folder / "stacks.txt").read_text().splitlines() if not line.endswith(" 0")],
                         ["process 1, thread 1;main;step;load 10"])  # fmt: skip

    def test_a_list_of_objects_is_no_trace(self):
        for text in '[{"a": 1}, {"b": 2}]', '[{"ph": 7.2}, {"ph": 6.9}]', "[{}]", '{"schemaVersion": 2, "layers": [{"size": 1}]}':
            (self.folder / "x.json").write_text(text)
            done = self.run_report("x.json")
            self.assertEqual(done.returncode, 1, text)
            self.assertIn("x.json is not a session", done.stderr)
        (self.folder / "x.json").write_text('[{"a": 1}, {"ph": "X", "name": "f", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]')
        self.assertEqual(self.run_report("x.json").returncode, 0)

    def test_a_report_says_what_of_a_trace_is_not_understood(self):
        done = self.run_report(TRACES / "accelerators.json")
        self.assertIn("are not understood and are left out: hpu_op (2), mtia_ccp_events (1)", done.stderr)
        self.assertEqual((done.returncode, done.stderr.count("warning: ")), (0, 1))

    def test_a_trace_says_what_of_it_is_not_shown(self):
        done = self.run_report(TRACES / "begin-end.json")
        self.assertEqual(done.returncode, 0)
        self.assertIn('begin-end.json: 1 slice has no end and is left out: "load"', done.stderr)
        self.assertNotIn("was skipped", done.stderr)
        events = [{"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 0, "dur": 5}, {"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 0}]
        (self.folder / "t.json").write_text(json.dumps(events))
        self.assertIn("t.json: 1 event without a time, a duration or a partner was skipped", self.run_report("t.json").stderr)

    def test_a_saved_session_of_pyinstrument_says_the_way_out(self):
        saved = json.dumps({"start_time": 1.0, "duration": 0.1, "start_call_stack": ["main\0w.py\x001"], "frame_records": []})
        for name, text in ("w.pyisession", saved), ("page.json", f'{{"session": {saved}, "frame_tree": {{}}}}'):
            (self.folder / name).write_text(text)
            for arguments in ("profile", "python", "top", name), ("report", name, "-o", "r.html"):
                done = self.run_command(*arguments, env=self.environment)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{name} is a saved session of pyinstrument, which only pyinstrument can read", done.stderr)
                self.assertIn("pyinstrument --load FILE.pyisession -r json -o FILE.json", done.stderr)


if __name__ == "__main__":
    main()
