"""What gpu-tracker says of programs with one known bottleneck, beside what they know of themselves."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
from bottlenecks import COUNTED, PROGRAMS, first, run, said_of
from command import AS_NOBODY, COMMAND, CommandTest, main

PROGRAM = os.environ["GPUT_BOTTLENECK"]
SECONDS = 2
# In points: what is counted, and what is sampled beyond its half-width. One run in thousands is beyond twice that.
COUNTED_POINTS = 3
SAMPLED_POINTS = 3


class Bottlenecks(CommandTest):
    MOSTLY_WAITS = True

    def check(self, name, interval, **options):
        report, truth = run(self.folder, options.pop("command", COMMAND), options.pop("program", PROGRAM), name, SECONDS, interval, **options)
        section = PROGRAMS[name]
        said, widths = said_of(report, section)
        told = f"{name}: it says {truth}, gpu-tracker {said}"
        self.assertAlmostEqual(sum(said.values()), 100, delta=1, msg=told)
        self.assertEqual(report["sources"]["time_went"]["state"], "sampled")
        if report["sources"]["run_queue"]["state"] == "unavailable":
            self.skipTest(report["sources"]["run_queue"]["reason"])
        for cause, share in truth.items():
            points = COUNTED_POINTS if cause in COUNTED else SAMPLED_POINTS + 2 * widths[cause]
            self.assertAlmostEqual(said[cause], share, delta=points, msg=told)
        others = sum(share for cause, share in said.items() if cause not in truth)
        self.assertLess(others, 10, told)
        # Which one is first is certain only where the second one is well below it.
        second = max((share for cause, share in truth.items() if cause != first(truth)), default=0)
        if truth[first(truth)] - second > 10 + 2 * max(widths.values()):
            self.assertEqual(first(said), first(truth), told)

    def check_as_user(self, name, interval):
        if os.geteuid() != 0:
            return self.check(name, interval)
        self.open_to_nobody(COMMAND, PROGRAM)
        return self.check(name, interval, command="./gpu-tracker", program="./bottleneck", as_user=AS_NOBODY)


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
