"""What gpu-tracker says of programs with one known bottleneck, beside what they know of themselves."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
from bottlenecks import COUNTED, PROGRAMS, first, rows_of, run, said_of
from command import AS_NOBODY, COMMAND, CommandTest, main

PROGRAM = os.environ["GPUT_BOTTLENECK"]
SECONDS = 2
# In points: what is counted, and what is sampled beyond its half-width. One run in thousands is beyond twice that.
COUNTED_POINTS = 1
SAMPLED_POINTS = 3
# On a machine with far more to do than it has CPUs, of the few rows of two seconds.
ROWS_POINTS = 15


class Bottlenecks(CommandTest):
    MOSTLY_WAITS = True

    def check(self, name, interval, **options):
        report, truth, seconds = run(self.folder, options.pop("command", COMMAND), options.pop("program", PROGRAM), name, SECONDS, interval, **options)
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
        said, rows = said_of(report, "time_went")[0], rows_of(self.folder / "rows.csv")
        self.assertAlmostEqual(sum(rows.values()), 100, delta=1)
        unknown = rows["unknown"] + rows["child"]
        for cause in set(said) - {"unknown", "child"}:
            told, points = f"{cause}: rows {rows}, results {said}", ROWS_POINTS + 3 * widths[cause]
            self.assertLessEqual(rows[cause], said[cause] + points, told)
            self.assertGreaterEqual(rows[cause], said[cause] - points - unknown, told)

    def check_as_user(self, name, interval):
        if os.geteuid() != 0:
            return self.check(name, interval)
        self.open_to_nobody(COMMAND, PROGRAM)
        return self.check(name, interval, command="./gpu-tracker", program="./bottleneck", as_user=AS_NOBODY)


    def test_a_parent_did_what_its_child_did(self):
        """It waits for children, which sleep."""
        report = self.check("child", 0.1)
        went, main_thread = report["time_went"], report["main_thread"]
        self.assertLess(went["child_seconds"], 0.5 * main_thread["child_seconds"])
        self.assertGreater(went["timer_seconds"], 0.5 * main_thread["child_seconds"] - went["cpu_wait_seconds"] - went["unknown_seconds"])


    def test_quota(self):
        """A control group of its own, which may have a fifth of a core."""
        group = pathlib.Path(f"/sys/fs/cgroup/cpu/gpu-tracker-test-{os.getpid()}")
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no control group of CPU time can be made: {error}")
        self.addCleanup(group.rmdir)
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.cfs_quota_us").write_text("20000")
        script = f'echo $$ > {group}/cgroup.procs; exec "$@"'
        report, truth, _ = run(self.folder, COMMAND, PROGRAM, "compute", SECONDS, 0.1, as_user=["sh", "-c", script, "sh"])
        held = int((group / "cpu.stat").read_text().split("throttled_time ")[1].split()[0]) / 1e9
        went = report["time_went"]
        told = f"{held} s held by the group, {went}, {truth}"
        self.assertLessEqual(went["quota_seconds"], held, told)
        # The group has the tracker in it, too: as little as that uses, it may have been held.
        self.assertGreaterEqual(went["quota_seconds"], 0.5 * held, told)
        if held == 0:
            self.skipTest("others left it less than its quota")
        self.assertGreater(went["quota_seconds"], 0, told)


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
