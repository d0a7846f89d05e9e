"""gpu-tracker sub-track analyze: figures, forms and messages."""

import csv
import io
import json
import os
import random
import unittest

from analysis_files import MEASUREMENTS, START, call, expected, row, write_marks, write_tracking
from command import SANITIZED, CommandTest, main

CALLS = [(7, "train", 1, 3), (7, "train", 5, 8), (9, "train", 2, 6), (7, "load", 0, 0.5), (9, "f.py:38", 2, 2)]
ROWS = [row(second) for second in range(10)]


def labels(*categories):
    """Marks that say that these are categories."""
    return [mark for category in categories for mark in call(7, f"[gpu-tracker] category: {category}", 4, 4)]


class AnalyzeTest(CommandTest):
    def write(self, rows=ROWS, calls=CALLS, extra_marks=(), kind="csv", **options):
        self.tracking = self.folder / f"tracking.{kind}"
        self.marks = self.folder / f"sub-tracking.{kind}"
        marks = [mark for each in calls for mark in call(*each)] + list(extra_marks)
        write_tracking(self.tracking, rows, **options)
        write_marks(self.marks, marks, **options)

    def analyze(self, *options):
        return self.run_command("sub-track", "analyze", f"--tf={self.tracking}", f"--stf={self.marks}", *options)

    def results(self, *options):
        done = self.analyze("-f", "json", *options)
        self.assertEqual(done.returncode, 0)
        results = json.loads(done.stdout)
        outside = sum(block.get("num_outside_calls", 0) for block in results["code_block_results"])
        calls = sum(block["num_calls"] for block in results["code_block_results"])
        lines = done.stderr.splitlines(keepends=True)
        self.back = [line for line in lines if "before the sample before" in line]
        lines = [line for line in lines if line not in self.back]
        self.open = [line for line in lines if " did not end" in line]
        lines = [line for line in lines if line not in self.open]
        self.assertEqual("".join(lines), self.warning(outside, calls) if outside else "")
        return results

    def warning(self, outside, calls):
        return (
            f"gpu-tracker: warning: {outside} of {calls} calls in {self.marks} stopped before the first sample of "
            f"{self.tracking} or started after its last: they count as calls, but what they used is not known.\n"
        )

    def assert_same(self, value, wanted, place="results"):
        """The same keys in the same order, and figures equal to 12 digits."""
        if isinstance(wanted, dict):
            self.assertEqual(list(value), list(wanted), place)
            for key in wanted:
                self.assert_same(value[key], wanted[key], f"{place}.{key}")
        elif isinstance(wanted, list):
            self.assertEqual(len(value), len(wanted), place)
            for i, item in enumerate(wanted):
                self.assert_same(value[i], item, f"{place}[{i}]")
        elif isinstance(wanted, float):
            self.assertLessEqual(abs(value - wanted), 1e-12 * abs(wanted) + 1e-13, place)
        else:
            self.assertEqual(value, wanted, place)


class Figures(AnalyzeTest):
    def test_are_those_of_the_slow_way(self):
        for kind in ("csv", "sqlite"):
            self.write(kind=kind)
            self.assert_same(self.results(), expected(ROWS, CALLS))

    def test_are_right_for_any_order_of_rows_and_calls(self):
        for seed in range(8):
            chance = random.Random(seed)
            rows = [row(chance.uniform(0, 50), chance.uniform(1, 2)) for _ in range(chance.randint(1, 60))]
            calls, inside = [], sorted(chance.choices(rows, k=4), key=lambda values: values[-1])
            for process, name in [(1, "a"), (2, "a"), (1, "b"), (3, 'c, "d"')]:
                moment = 0
                for _ in range(chance.randint(1, 9)):
                    start = moment + chance.uniform(0, 6)
                    moment = start + chance.uniform(0, 6)
                    calls.append((process, name, start, moment))
                calls.append((process + 10, name, inside[0][-1] - START, inside[-1][-1] - START))
            marks = [mark for each in calls for mark in call(*each)]
            chance.shuffle(marks)
            self.write(rows=rows, calls=[], extra_marks=marks)
            calls = [(p, n, START + a - START, START + b - START) for p, n, a, b in calls]
            self.assert_same(self.results(), expected(rows, calls))
            back = sum(later[-1] < earlier[-1] for earlier, later in zip(rows, rows[1:]))
            wanted = f"gpu-tracker: warning: {back} of {len(rows)} samples in {self.tracking} lie before the sample before them. "
            self.assertEqual([line[: len(wanted)] for line in self.back], [wanted] if back else [])
            self.tracking.unlink(), self.marks.unlink()

    def test_calls_while_the_system_s_time_was_set_back_are_left_out(self):
        calls = call(1, "X", 2, 4) + call(1, "X", 6, 1) + call(1, "X", 1, 2)
        self.write(calls=[], extra_marks=calls)
        done = self.analyze("-f", "json")
        block = json.loads(done.stdout)["code_block_results"][0]
        self.assertEqual((block["num_calls"], block["compute_time"]["max"]), (2, 2))
        self.assertEqual(
            done.stderr,
            f"gpu-tracker: warning: Sub-tracking file {self.marks}: 1 call stops before it starts and was skipped. The "
            "system's time was set back meanwhile; other calls may be off by as much.\n",
        )

    def test_calls_outside_of_the_samples_are_said(self):
        calls = [(7, "a", second, second + 0.5) for second in (-3, -2, -1, 2, 3, 4, 9.5, 12)] + [(9, "b", 1, 1.5)]
        self.write(calls=calls)
        done = self.analyze("--by", "process")
        self.assertEqual((done.returncode, done.stderr), (0, self.warning(5, 9)))
        self.assertRegex(done.stdout, r"Name: +a\n.*\n.*Num Calls: +8\n\tNum Non Empty Calls: 3\n\tNum Outside Calls:   5\n")
        self.assertRegex(done.stdout, r"Process ID: +7\n.*\n.*\n.*\n\t\tNum Outside Calls:   5\n")
        self.assertNotIn("Outside", done.stdout.partition("Name:                b\n")[2])
        a, b = self.results()["code_block_results"]
        self.assertEqual((a["num_calls"], a["num_non_empty_calls"], a["num_outside_calls"]), (8, 3, 5))
        self.assertNotIn("num_outside_calls", b)
        self.assertEqual(self.analyze("-f", "summary").stdout.splitlines()[-1], "5 of 9 calls are outside of the tracked time")

    def test_missing_cells_are_said_and_zeros_next_to_them_are_no_figures(self):
        rows = [row(second) for second in range(10)]
        hidden, seen = MEASUREMENTS.index("main_gpu_ram"), MEASUREMENTS.index("descendants_gpu_ram")
        empty, zero = MEASUREMENTS.index("combined_gpu_ram"), MEASUREMENTS.index("main_ram")
        for second, values in enumerate(rows):
            values[hidden] = "" if second in (2, 3, 7) else 0
            values[seen] = "" if second in (2, 3, 7) else second
            values[empty] = ""
            values[zero] = 0
        for kind in ("csv", "sqlite"):
            if kind == "sqlite":
                rows = [[None if value == "" else value for value in values] for values in rows]
            self.write(rows=rows, calls=[(7, "a", 1, 3), (7, "b", 4, 6)], kind=kind)
            done = self.analyze("-f", "json", "--details")
            results = json.loads(done.stdout)
            self.assertEqual(
                done.stderr,
                f"gpu-tracker: warning: Values are missing in some of the 10 samples of {self.tracking} (main_gpu_ram in 3, "
                "descendants_gpu_ram in 3): statistics are of the others, and none where those are all 0.\n",
            )
            self.assertEqual(set(results["overall"]["main_gpu_ram"].values()), {None})
            self.assertEqual(results["overall"]["descendants_gpu_ram"]["max"], 9)
            self.assertAlmostEqual(results["overall"]["descendants_gpu_ram"]["mean"], 33 / 7)
            self.assertEqual(set(results["overall"]["main_ram"].values()), {0})
            counts = {"main_gpu_ram": 3, "descendants_gpu_ram": 3, "combined_gpu_ram": 10}
            self.assertEqual(results["missing_timepoints"], counts)
            a, b = results["code_block_results"]
            self.assertEqual(a["resource_usage"]["main_gpu_ram"]["max"], None)
            self.assertEqual(a["missing_timepoints"], {"main_gpu_ram": 2, "descendants_gpu_ram": 2, "combined_gpu_ram": 3})
            self.assertEqual(b["resource_usage"]["main_gpu_ram"]["max"], 0)
            self.assertEqual(b["missing_timepoints"], {"combined_gpu_ram": 3})
            lines = self.analyze("-f", "csv").stdout.splitlines()
            self.assertEqual(next(csv.DictReader(lines))["missing_timepoints"], "0")
            self.assertEqual([line["missing_timepoints"] for line in csv.DictReader(lines)][hidden], "3")
            self.assertRegex(
                self.analyze().stdout,
                r"Missing Timepoints:\n\t main_gpu_ram descendants_gpu_ram combined_gpu_ram\n\t +3 +3 +10\nStatic Data:",
            )

    def test_the_first_sample_has_no_cpu_utilization_to_miss(self):
        rows = [row(second) for second in range(5)]
        at = MEASUREMENTS.index("cpu_system_sum_utilization_percent")
        for values in rows:
            values[at] = "" if values is rows[0] else 0
        self.write(rows=rows, calls=[(7, "a", 0, 2), (7, "b", 2, 3)])
        results = self.results("--by", "process")
        self.assertNotIn("missing_timepoints", results)
        self.assertEqual(set(results["overall"][MEASUREMENTS[at]].values()), {0})
        for block in results["code_block_results"]:
            for part in (block, *block["processes"]):
                self.assertNotIn("missing_timepoints", part)
                self.assertEqual(part["resource_usage"][MEASUREMENTS[at]]["max"], 0)

    def test_a_call_that_is_still_open_is_left_out(self):
        self.write(extra_marks=[(7, "train", 0, START + 9), (11, "train", 0, START)])
        self.assert_same(self.results(), expected(ROWS, CALLS))
        self.assertEqual(self.open, [
            f"gpu-tracker: warning: 2 calls in {self.marks} did not end, and are skipped. --open-calls counts them up to "
            "the last sample.\n"])

    def test_a_call_that_is_still_open_counts_up_to_the_last_sample_if_wanted(self):
        self.write(calls=[(7, "train", 1, 2)], extra_marks=[(7, "train", 0, START + 6), (7, "load", 0, START + 8)])
        load, train = self.results("--open-calls", "--details")["code_block_results"]
        last = max(second for second in (row[-1] - START for row in ROWS))
        self.assertEqual((train["num_calls"], train["num_non_empty_calls"]), (1, 1))
        self.assertEqual((train["compute_time"]["max"], train["compute_time"]["total"]), (1, 1 + last - 6))
        self.assertEqual(train["self_time"], 1 + 2)  # without the other one, which is open within it
        self.assertEqual((load["num_calls"], load["num_timepoints"]), (0, sum(row[-1] >= START + 8 for row in ROWS)))
        self.assertEqual((load["compute_time"]["max"], load["compute_time"]["total"]), (None, last - 8))
        self.assertEqual(load["resource_usage"]["main_ram"]["max"], last)
        self.assertEqual(self.open, [
            f"gpu-tracker: warning: 2 calls in {self.marks} did not end (load, train): up to the last sample they are part of "
            "their block's time and figures, but not of its calls.\n"])

    def test_a_stop_without_a_start_is_left_out_if_open_calls_are_wanted(self):
        self.write(calls=[(7, "train", 1, 2)], extra_marks=[(7, "train", 1, START + 0.5)])
        self.assertEqual(self.analyze().returncode, 1)
        done = self.analyze("--open-calls", "-f", "json")
        self.assertEqual(json.loads(done.stdout)["code_block_results"][0]["num_calls"], 1)
        self.assertEqual(
            done.stderr,
            f"gpu-tracker: warning: Sub-tracking file {self.marks}: 1 stop is skipped, because the mark of its start is not "
            f'in it; it is of code block "train" of process 7 at {START + 0.5}.\n')

    def test_a_block_without_a_whole_call_or_a_sample_has_no_figures(self):
        self.write(calls=[(7, "short", 0.1, 0.2)], extra_marks=[(7, "open", 0, START)])
        opened, short = self.results()["code_block_results"]
        self.assertEqual((opened["num_calls"], opened["num_timepoints"]), (0, 0))
        self.assertEqual(opened["compute_time"], {"min": None, "max": None, "mean": None, "std": None, "total": 0.0})
        self.assertEqual((short["num_calls"], short["num_non_empty_calls"]), (1, 0))
        self.assertEqual(set(short["resource_usage"]["main_ram"].values()), {None})

    def test_without_a_sub_tracking_file_it_is_the_session_alone(self):
        self.write()
        done = self.run_command("sub-track", "analyze", "--tf", self.tracking, "--format=json")
        self.assert_same(json.loads(done.stdout), expected(ROWS, []))

    def test_dos_line_ends_change_nothing(self):
        self.write(line_end="\r\n")
        self.assert_same(self.results(), expected(ROWS, CALLS))

    def test_a_torn_last_line_is_left_out_with_a_warning(self):
        self.write()
        for path in (self.tracking, self.marks):
            path.write_text(path.read_text() + "7,")
        done = self.analyze("-f", "json")
        self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)
        self.assert_same(json.loads(done.stdout), expected(ROWS, CALLS) | {"num_lost_calls": 0, "lost_calls_at_least": True})
        self.assertTrue(self.analyze("-f", "text").stdout.endswith("\n\nLost Calls: not known\n"))

    def test_lost_calls_are_counted_in_every_format(self):
        for at_least, number, words in (False, "0000000012", "12"), (True, "at least 0000000012", "at least 12"):
            self.write(extra_marks=call(7, f"[gpu-tracker] lost calls: {number}", 4, 6))
            done = self.analyze("-f", "json")
            self.assertIn(f"{self.marks}: {words} calls are not in it, because", done.stderr)
            counts = {"num_lost_calls": 12} | ({"lost_calls_at_least": True} if at_least else {})
            self.assert_same(json.loads(done.stdout), expected(ROWS, CALLS) | counts)
            self.assertIn(f"\nLost Calls: {words}\n", self.analyze("-f", "text").stdout)
            self.assertIn(f"\nCalls that are not in the sub-tracking file: {words}\n", self.analyze("-f", "summary").stdout)
            rows = [row for row in csv.DictReader(io.StringIO(self.analyze("-fcsv").stdout)) if row["measurement"].startswith("lost_calls")]
            self.assertEqual([(row["code_block"], row["measurement"], row["total"]) for row in rows],
                             [("", "lost_calls_at_least" if at_least else "lost_calls", "12.0")])

    def test_a_split_of_no_marks_is_empty(self):
        for kind, content in ("csv", "process_id,code_block_name,position,timestamp\n"), ("csv", ""), ("gputblocks", ""):
            self.write(calls=[])
            self.marks = self.folder / f"empty.{kind}"
            self.marks.write_text(content)
            for split in (), ("--by", "process"), ("--by", "thread"):
                done = self.analyze("-f", "json", *split)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_same(json.loads(done.stdout), expected(ROWS, []))
        self.write(calls=[], kind="sqlite")
        self.assertEqual(self.analyze("--by", "thread").returncode, 0)


class Details(AnalyzeTest):
    def test_calls_without_a_sample_bring_a_hint(self):
        self.write(calls=[(7, "train", 1, 3), (7, "short", 2.2, 2.4)])
        self.assertIn("\nCalls without a sample: 1. With GPUT_BLOCK_EXACT=1 ", self.analyze("--details").stdout)
        self.assertNotIn("GPUT_BLOCK_EXACT", self.analyze().stdout)
        self.write(calls=[(7, "train", 1, 3)])
        self.assertNotIn("GPUT_BLOCK_EXACT", self.analyze("--details").stdout)

    def test_percentiles_self_time_and_parts_come_on_request(self):
        self.write(calls=[(7, "outer", 0, 9), (7, "inner", 2, 4), (8, "inner", 5, 6)])
        results = self.results("--details", "--by", "process")
        inner, outer = results["code_block_results"]
        self.assertEqual(results["num_timepoints"], 10)
        self.assertEqual(results["overall"]["main_ram"]["p50"], 4.5)
        self.assertEqual((outer["self_time"], inner["self_time"], inner["cpu_time"]), (7.0, 3.0, None))
        self.assertEqual(inner["resource_usage"]["main_ram"]["p50"], 4.0)
        self.assertEqual(inner["compute_time"]["p99"], 1.99)
        parts = {part["process_id"]: part["num_timepoints"] for part in inner["processes"]}
        self.assertEqual(parts, {7: 3, 8: 2})
        text = self.analyze("--details", "--by=process").stdout
        self.assertIn("\tSelf Time:           7.0\n", text)
        self.assertIn("\t\tProcess ID:          8\n", text)
        self.assertRegex(text, r"min +max +mean +std +p50 +p95 +p99\n")

    def test_percentiles_of_no_sample_are_missing(self):
        self.write(rows=[])
        results = self.results("--details")
        usages = [results["overall"], *(block["resource_usage"] for block in results["code_block_results"])]
        self.assertEqual(len(usages), 4)
        for usage in usages:
            self.assertEqual({value for figures in usage.values() for value in figures.values()}, {None})
        self.assertNotRegex(self.analyze("--details").stdout, r"(?m)^\tmain_ram .*0\.0")
        table = csv.DictReader(io.StringIO(self.analyze("--details", "-f", "csv").stdout))
        self.assertEqual({row[key] for row in table if row["measurement"] == "main_ram" for key in ("p50", "p95", "p99")}, {""})

    def test_threads_need_a_file_that_knows_them(self):
        self.write()
        self.assert_fails(
            self.analyze("--by", "thread"),
            1,
            f"Sub-tracking file {self.marks} has no thread ids: its code blocks can be split by process only.",
        )
        self.assert_fails(
            self.analyze("--by", "x"), 1, '"x" is not a valid part. Valid values are "process", "thread", "source", "domain", "category" or "rank".'
        )


class Grouped(AnalyzeTest):
    def test_blocks_of_a_source_or_domain_count_as_one(self):
        self.write(calls=[(7, "nvtx:a/x", 0, 4), (7, "nvtx:a/y", 1, 2), (7, "nvtx:b/z", 6, 7), (7, "plain", 0, 9)])
        blocks = {block["name"]: block for block in self.results("--by", "domain")["code_block_results"]}
        self.assertEqual(list(blocks), ["(no source)", "nvtx:a", "nvtx:b"])
        # a moment in both counts once, their times fully each
        self.assertEqual((blocks["nvtx:a"]["num_calls"], blocks["nvtx:a"]["num_timepoints"], blocks["nvtx:a"]["compute_time"]["total"]), (2, 5, 5))
        block = self.results("--by", "source", "--details")["code_block_results"][1]
        self.assertEqual((block["name"], block["num_calls"], block["num_timepoints"], block["self_time"]), ("nvtx", 3, 7, 5))
        for form in "summary", "text", "csv":
            self.assertIn("nvtx:b", self.analyze("--by", "domain", "-f", form).stdout)
        self.assertNotIn("nvtx:a/x", self.analyze("--by", "source", "-f", "csv").stdout)


    def test_blocks_of_a_category_count_as_one(self):
        calls = [(7, "nvtx:a/x [load]", 0, 4), (7, "nvtx:a/y [load]", 1, 2), (7, "nvtx:b/z [load]", 6, 7), (7, "nvtx:a/w", 0, 9)]
        self.write(calls=calls, extra_marks=labels("nvtx:a [load]", "nvtx:b [load]"))
        blocks = {block["name"]: block["num_calls"] for block in self.results("--by", "category")["code_block_results"]}
        self.assertEqual(blocks, {"(no category)": 1, "nvtx:a [load]": 2, "nvtx:b [load]": 1})

    def test_brackets_are_a_category_where_the_marks_say_so(self):
        others = "nvtx:a/tensor [3, 4]", "nvtx:b/x [load]", "nvtx:a/step [0]", "nvtx:a/sizes = []", "nvtx:a/sizes = [[3], [4]]", "itt:a/x [load]"
        self.write(calls=[(7, "nvtx:a/x [load]", 0, 4), (7, "nvtx:a/w", 0, 9), (7, "token:y [z]", 1, 2), (7, "plain [z]", 1, 2)] + [(7, name, 1, 2) for name in others], extra_marks=labels("nvtx:a [load]"))
        expected = {"nvtx:a/x [load]": "load", "nvtx:a/w": None, "token:y [z]": None, "plain [z]": None} | dict.fromkeys(others)
        blocks = self.results()["code_block_results"]
        self.assertEqual({block["name"]: block.get("category") for block in blocks}, expected)
        self.assertIn("Category:            load", self.analyze("-f", "text").stdout)
        table = list(csv.DictReader(io.StringIO(self.analyze("-f", "csv").stdout)))
        rows = {row["code_block"]: row["category"] for row in table if row["measurement"] == "compute_time"}
        self.assertEqual(rows, {name: category or "" for name, category in expected.items()})
        # without any the columns are those of before
        self.write(calls=[(7, "nvtx:a/w", 0, 9)])
        self.assertNotIn("category", self.analyze("-f", "csv").stdout)

    def test_a_block_has_a_part_for_each_rank(self):
        ranks = [(process, f"[gpu-tracker] rank: {rank}", position, START) for process, rank in ((7, 1), (8, 0), (9, 1)) for position in (0, 1)]
        self.write(calls=[(7, "a", 0, 4), (8, "a", 0, 1), (9, "a", 1, 2), (10, "a", 0, 3)], extra_marks=ranks)
        results = self.results("--by", "rank")["code_block_results"]
        self.assertEqual([block["name"] for block in results], ["a"])
        parts = [(part["rank"], part["num_calls"], part["compute_time"]["total"]) for part in results[0]["ranks"]]
        self.assertEqual(parts, [(None, 1, 3), (0, 1, 1), (1, 2, 5)])
        self.assertRegex(self.analyze("--by", "rank", "-f", "summary").stdout, r"(?s)  no rank\n.*  rank 0\n.*  rank 1\n")
        self.assertIn("\tRank:                none", self.analyze("--by", "rank", "-f", "text").stdout)
        table = list(csv.DictReader(io.StringIO(self.analyze("--by", "rank", "-f", "csv").stdout)))
        self.assertEqual([row["rank"] for row in table if row["measurement"] == "compute_time"], ["", "", "0", "1"])

    def test_threads_have_the_names_that_they_were_given(self):
        names = ("process_id,code_block_name,position,timestamp,thread_id",)
        rows = [f"7,{name},{position},{START + second},{thread}" for name, thread in (("a", 7), ("a", 8)) for position, second in ((0, 1), (1, 2))]
        rows += [f"7,[gpu-tracker] thread 8: loader,{position},{START},7" for position in (0, 1)]
        self.write(calls=[])
        self.marks.write_text("\n".join([*names, *rows, ""]))
        parts = self.results("--by", "thread")["code_block_results"][0]["threads"]
        self.assertEqual([(part["thread_id"], part.get("thread_name")) for part in parts], [(7, None), (8, "loader")])
        for form, expected in {"summary": ", thread 8 loader", "text": "Thread Name:         loader", "csv": ",7,8,loader,"}.items():
            self.assertIn(expected, self.analyze("--by", "thread", "-f", form).stdout)


class Exact(AnalyzeTest):
    """What the kernel counted at the marks, here in columns of a CSV file: two calls of a block, one of another."""

    COLUMNS = "thread_id,thread_cpu_ns,process_cpu_ns,minor_faults,major_faults,peak_rss_bytes,energy_uj"

    def write_exact(self, first_energy="1000000"):
        self.write(calls=[])
        counts = [
            ("wait", 0, 1, f"3,0,0,10,0,4096,{first_energy}"),
            ("wait", 1, 2, "3,130000,20500000,12,1,8192,3500000"),
            ("wait", 0, 3, "3,200000,30000000,20,1,8192,4000000"),
            ("wait", 1, 4, "3,250000,30100000,21,1,8192,4500000"),
            ("none", 0, 5, "3,300000,31000000,21,1,8192,"),
            ("none", 1, 6, "3,300000,31000000,21,1,8192,"),
        ]
        lines = [f"7,{name},{position},{START + second},{rest}" for name, position, second, rest in counts]
        self.marks.write_text("\n".join([f"process_id,code_block_name,position,timestamp,{self.COLUMNS}", *lines, ""]))

    def test_totals_and_means_of_the_calls_stand_next_to_what_was_sampled(self):
        self.write_exact()
        none, wait = self.results()["code_block_results"]
        self.assertEqual(list(wait)[-2:], ["resource_usage", "exact"])
        self.assert_same(
            wait["exact"],
            {
                "thread_cpu_time": {"unit": "seconds", "total": 0.00018, "mean": 0.00009},
                "process_cpu_time": {"unit": "seconds", "total": 0.0206, "mean": 0.0103},
                "minor_faults": {"total": 3, "mean": 1.5},
                "major_faults": {"total": 1, "mean": 0.5},
                "peak_rss_rise": {"unit": "bytes", "total": 4096, "mean": 2048.0},
                "package_energy": {"unit": "joules", "total": 3.0, "mean": 1.5},
            },
        )
        self.assertEqual(none["exact"]["minor_faults"], {"total": 0, "mean": 0.0})
        self.assertEqual(none["exact"]["package_energy"], {"unit": "joules", "total": None, "mean": None})

    def test_one_call_without_a_figure_leaves_the_total_unknown(self):
        self.write_exact(first_energy="")
        wait = self.results("--details", "--by=thread")["code_block_results"][1]
        for each in (wait, wait["threads"][0]):
            self.assertEqual(each["exact"]["package_energy"]["total"], None)
            self.assertEqual(each["exact"]["minor_faults"]["total"], 3)
            self.assertEqual(each["cpu_time"], each["exact"]["thread_cpu_time"]["total"])

    def test_text_has_them_on_request(self):
        self.write_exact()
        self.assertNotIn("Exact", self.analyze().stdout)
        lines = self.analyze("--details").stdout.split("\n")
        place = lines.index("\tExact (counted at start and stop of each call):", lines.index("\tName:                wait"))
        names = ["thread_cpu_time_seconds", "process_cpu_time_seconds", "minor_faults", "major_faults"]
        self.assertEqual(lines[place + 1].split(), [*names, "peak_rss_rise_bytes", "package_energy_joules"])
        self.assertEqual(lines[place + 2].split(), ["total", "0.00018", "0.0206", "3.0", "1.0", "4096.0", "3.0"])
        self.assertEqual(lines[place + 3].split(), ["mean", "9e-05", "0.0103", "1.5", "0.5", "2048.0", "1.5"])

    def test_csv_has_a_line_a_figure(self):
        self.write_exact()
        for options in ([], ["--details"]):
            rows = list(csv.DictReader(io.StringIO(self.analyze("-fcsv", *options).stdout)))
            self.assertFalse([row for row in rows if None in row or None in row.values()])
            exact = {row["measurement"]: row for row in rows if row["code_block"] == "wait" and "exact" in row["measurement"]}
            self.assertEqual(len(exact), 6)
            faults = exact["exact_minor_faults"]
            self.assertEqual((faults["total"], faults["mean"], faults["min"]), ("3.0", "1.5", ""))

    def test_without_such_columns_nothing_says_exact(self):
        self.write()
        for options in (["-fjson"], ["-fjson", "--details"], ["-fcsv", "--details"], ["--details"]):
            self.assertNotIn("xact", self.analyze(*options).stdout)


class Forms(AnalyzeTest):
    def test_text_is_laid_out_as_the_python_tool_does(self):
        self.write(rows=[row(0), row(2)], calls=[(7, "train", 1, 3)])
        lines = self.analyze().stdout.split("\n")
        width = max(map(len, MEASUREMENTS))
        self.assertEqual(lines[0], "Overall:")
        self.assertEqual(lines[1], "\t" + " " * width + "  min  max  mean  std")
        self.assertEqual(lines[2], "\t" + "main_ram".ljust(width) + "  0.0  2.0   1.0  1.0")
        self.assertEqual(lines[22], "\t" + MEASUREMENTS[-1].ljust(width) + "  0.0 42.0  21.0 21.0")
        block = lines.index("Code Block Results:")
        self.assertEqual(
            lines[block + 1 : block + 9],
            [
                "\tName:                train",
                "\tNum Timepoints:      1",
                "\tNum Calls:           1",
                "\tNum Non Empty Calls: 1",
                "\tCompute Time:",
                "\t\t  min  max  mean  std  total",
                "\t\t  2.0  2.0   2.0  0.0    2.0",
                "\tResource Usage:",
            ],
        )
        self.assertEqual(lines[-2:], ["", ""])
        static = lines[lines.index("Static Data:") + 1 :][:2]
        self.assertEqual(static[0][:33], "\t   ram_unit gpu_ram_unit time_un")
        self.assertEqual(static[1][:33], "\t  gigabytes    gigabytes     hou")

    def test_csv_has_a_line_a_measurement(self):
        self.write()
        rows = list(csv.DictReader(io.StringIO(self.analyze("-fcsv").stdout)))
        self.assertEqual(len(rows), 21 + 3 * 22)
        self.assertEqual({row["code_block"] for row in rows}, {"", "train", "load", "f.py:38"})
        train = [row for row in rows if row["code_block"] == "train" and row["measurement"] == "compute_time"]
        self.assertEqual((train[0]["num_calls"], train[0]["total"]), ("3", "9.0"))

    def test_an_output_file_is_whole_or_not_there(self):
        self.write()
        done = self.analyze("-o", "out.txt")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual((self.folder / "out.txt").read_text(), self.analyze().stdout)
        self.assertNotEqual(self.analyze("-o", "no-folder/out.txt").returncode, 0)
        self.marks.write_text("process_id,code_block_name,position,timestamp\n1,a,1,1\n1,a,0,2\n1,a,1,3\n1,a,1,4\n")
        self.assertEqual(self.analyze("-o", "never.txt").returncode, 1)
        self.assertFalse((self.folder / "never.txt").exists())


class ManyNames(AnalyzeTest):
    """A name for each step: 10,000 of them."""

    COUNT = 10_000

    def setUp(self):
        super().setUp()
        write_tracking(self.folder / "t.csv", [row(0), row(1)])
        marks = [mark for i in range(self.COUNT) for mark in call(7, f"step {i}", i * 1e-4, i * 1e-4 + 5e-5)]
        write_marks(self.folder / "m.csv", marks)

    def test_each_form_ends(self):
        for form in "json", "csv", "text", "summary":
            done = self.run_command("sub-track", "analyze", "--tf=t.csv", "--stf=m.csv", "-f", form)
            self.assertEqual((done.returncode, done.stdout.count("step ") >= self.COUNT), (0, True), (form, done.stderr))

    @unittest.skipIf(SANITIZED, "the sanitizer has memory of its own")
    def test_a_name_takes_at_most_8_kb(self):
        with open(self.folder / "a.json", "w") as output:
            process = self.start_command("sub-track", "analyze", "--tf=t.csv", "--stf=m.csv", "-f", "json", stdout=output)
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertLess(used.ru_maxrss * 1024 / self.COUNT, 8e3)


class Messages(AnalyzeTest):
    def test_marks_that_do_not_pair(self):
        self.write(calls=[(2, "X", 1, 2)], extra_marks=call(1, "X", 0, 1) + [(1, "X", 1, START + 3)])
        self.assert_fails(
            self.analyze(),
            1,
            "Sub-tracking file is invalid. Detected timestamp pair (1745449612.25, 1745449610.25) with differing "
            "process IDs: 1 and 2.",
        )
        self.write(calls=[], extra_marks=[(1, "X", 1, START), (1, "X", 0, START + 1), (1, "X", 1, START + 2)])
        self.assert_fails(
            self.analyze(),
            1,
            "Sub-tracking file is invalid. Detected timestamp pair (1745449609.25, 1745449610.25) of process ID 1 "
            "with a start time greater than the stop time.",
        )

    def test_files_that_are_none(self):
        self.write()
        done = self.run_command("sub-track", "analyze", "--tf=x.foo", "--stf=y.csv")
        self.assert_fails(done, 1, 'Invalid file name: "x.foo". Valid file extensions are ".csv" and ".sqlite".')
        self.assert_fails(
            self.run_command("sub-track", "analyze", f"--tf={self.tracking}", "--stf=y.foo"),
            1,
            'Invalid file name: "y.foo". Valid file extensions are ".csv" and ".sqlite". Marks may also be in a ".gputblocks" log.',
        )
        done = self.run_command("sub-track", "analyze", "--tf=x.csv")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("x.csv", done.stderr)
        self.assert_fails(
            self.analyze("-f", "xml"), 1, '"xml" is not a valid format. Valid values are "summary", "text", "json", "csv" or "pickle".'
        )
        done = self.run_command("sub-track", "analyze", "--stf=y.csv")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("gpu-tracker: A tracking file is needed."))


if __name__ == "__main__":
    main()
