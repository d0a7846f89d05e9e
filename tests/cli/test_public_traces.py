"""Traces as other programs, and other versions of them, write them: right figures, or a word on what is left out."""

import json
import pathlib

from command import SOURCE, CommandTest, main

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
        self.assertIn("There is no activity of GPUs and CPUs in the trace that is understood. Its events are of the categories jit (1)", done.stderr)

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


if __name__ == "__main__":
    main()
