"""What gpu-tracker says of programs with one known bottleneck, beside what they know of themselves."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
from bottlenecks import COUNTED, GPU_ADVICE, GROUPS, PROGRAMS, Refused, first, first_named, rows_of, run, said_of
from command import AS_NOBODY, COMMAND, SOURCE, CommandTest, main

PROGRAM = os.environ["GPUT_BOTTLENECK"]
SECONDS = 2
# In points: what is counted, and what is sampled beyond its half-width. One run in thousands is beyond twice that.
COUNTED_POINTS = 1
SAMPLED_POINTS = 3
# On a machine with far more to do than it has CPUs, of the few rows of two seconds.
ROWS_POINTS = 15


class Bottlenecks(CommandTest):
    MOSTLY_WAITS = True

    def run_program(self, name, interval, command=COMMAND, as_user=()):
        try:
            return run(self.folder, command, name, SECONDS, interval, as_user=as_user)
        except Refused as reason:
            self.skipTest(str(reason))

    def check(self, name, interval, **options):
        report, truth, seconds = self.run_program(name, interval, **options)
        wall = report[PROGRAMS[name]]
        said, widths = said_of(report, PROGRAMS[name])
        told = f"{name}: in {seconds} s it says {truth}, gpu-tracker in {wall['seconds']} s {said}"
        self.assertAlmostEqual(sum(said.values()), 100, delta=1, msg=told)
        self.assertEqual(report["sources"]["time_went"]["state"], "sampled")
        if report["sources"]["run_queue"]["state"] == "unavailable":
            self.skipTest(report["sources"]["run_queue"]["reason"])
        # Before it began to look at itself, and since: what it does then it does not know.
        outside = wall["seconds"] - seconds
        self.assertGreater(outside, -0.02, told)
        for cause, share in truth.items():
            least, here = share / 100 * seconds, said[cause] / 100 * wall["seconds"]
            points = COUNTED_POINTS if cause in COUNTED else SAMPLED_POINTS + 2 * widths[cause]
            self.assertGreaterEqual(here, least - points / 100 * wall["seconds"], told)
            self.assertLessEqual(here, least + points / 100 * wall["seconds"] + max(outside, 0), told)
        # Which one is first is certain only where the second one is well below it.
        second = max((share for cause, share in truth.items() if cause != first(truth)), default=0)
        if truth[first(truth)] - second > 10 + 2 * max(widths.values()) + 100 * max(outside, 0) / seconds:
            self.assertEqual(first(said), first(truth), told)
        if interval < 1:
            self.check_rows(report, widths if PROGRAMS[name] == "time_went" else said_of(report, "time_went")[1])
        return report

    def check_rows(self, report, widths):
        """The rows of the tracking file say the same, but for what no sample or exit record had told by then: of what waits for a CPU that
        it has not got, and of children that it waits for, the least is known at a row."""
        said, (rows, covered) = said_of(report, "time_went")[0], rows_of(self.folder / "rows.csv")
        self.assertAlmostEqual(sum(rows.values()), 100, delta=1)
        outside = max(100 - 100 * covered / report["time_went"]["seconds"], 0)
        unknown = rows["unknown"] + rows["child"]
        for cause in set(said) - {"unknown", "child"}:
            told, points = f"{cause}: rows {rows}, results {said}", ROWS_POINTS + outside + 3 * widths[cause]
            self.assertLessEqual(rows[cause], said[cause] + points, told)
            self.assertGreaterEqual(rows[cause], said[cause] - points - unknown, told)

    def check_as_user(self, name, interval):
        if os.geteuid() != 0:
            return self.check(name, interval)
        self.open_to_nobody(COMMAND, PROGRAM)
        return self.check(name, interval, command="./gpu-tracker", as_user=AS_NOBODY)

    def test_a_parent_did_what_its_child_did(self):
        """It waits for children, which sleep."""
        report = self.check("child", 0.1)
        went, main_thread = report["time_went"], report["main_thread"]
        self.assertLess(went["child_seconds"], 0.5 * main_thread["child_seconds"])
        self.assertGreater(went["timer_seconds"], 0.5 * main_thread["child_seconds"] - went["cpu_wait_seconds"] - went["unknown_seconds"])


    def test_a_quota_is_no_more_than_its_group_was_held(self):
        report, truth, _ = self.run_program("quota", 0.1)
        went = report["time_went"]
        # The group has the tracker in it, too: as little as that uses, it may have been held.
        if truth["quota"] == 0:
            self.skipTest("others left it less than its quota")
        self.assertGreater(went["quota_seconds"], 0, truth)
        self.assertLessEqual(went["quota_seconds"], truth["quota"] / 100 * went["seconds"] + 0.02, f"{truth}, {went}")

    def test_an_idle_gpu_is_named_first(self):
        """It is idle for two thirds of the time, while the main thread reads a pipe."""
        report, truth, _ = self.run_program("gpu_wait", 0.1)
        idle, share = report["gpu_idle"], truth["pipe"] / (truth["pipe"] + truth["timer"])
        self.assertEqual(first_named(self.folder, COMMAND, report, "gpu_wait"), GPU_ADVICE["gpu_wait"][0])
        self.assertEqual(first({name: value for name, value in idle.items() if name.endswith("_seconds") and name != "known_seconds"}), "pipe_seconds")
        self.assertAlmostEqual(idle["seconds"] / idle["known_seconds"], share, delta=0.25, msg=f"{idle}, {truth}")

    def test_a_gpu_that_is_slowed_is_named_first(self):
        """Its driver counts 70 % of the time."""
        report, _, _ = self.run_program("gpu_slowed", 0.1)
        self.assertEqual(first_named(self.folder, COMMAND, report, "gpu_slowed"), GPU_ADVICE["gpu_slowed"][0])
        page = self.run_command("why", "report.json").stdout
        percent = int(re.search(r"\n  GPU 0 was slowed by its power limit for (\d+) % of the time", page)[1])
        self.assertAlmostEqual(percent, 70, delta=15)

    def test_docs_have_each_program_and_no_wrong_cause(self):
        """What confusion.py wrote into docs/why.md is of these programs, and its text is what its tables say."""
        text = (SOURCE / "docs" / "why.md").read_text().split("## How well it is known")[1].split("<!-- end -->")[0]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
        (start,) = (i for i, row in enumerate(rows) if row[0] == "known")
        programs, matrix = rows[2:start], rows[start + 2:]
        self.assertEqual([row[0] for row in programs], list(PROGRAMS))
        named, counts = rows[start][1:], [[int(cell or 0) for cell in row[1:]] for row in matrix]
        total = sum(map(sum, counts))
        right = sum(row[named.index(line[0])] for line, row in zip(matrix, counts))
        self.assertEqual(re.search(r"right in (\d+) of (\d+) runs", text).groups(), (str(right), str(total)))
        self.assertGreaterEqual(right, 0.97 * total)

def add_tests():
    for name in PROGRAMS:
        def with_rights(self, name=name):
            self.check(name, 0.1)

        def as_user(self, name=name):
            self.check_as_user(name, 1)
        setattr(Bottlenecks, f"test_{name}", with_rights)
        setattr(Bottlenecks, f"test_{name}_as_a_user_at_1_Hz", as_user)


add_tests()

if __name__ == "__main__":
    main()
