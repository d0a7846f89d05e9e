"""Every trial of tests/faults stands in the table of docs/faults.md."""

import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(SOURCE / "tests" / "faults")]
sys.dont_write_bytecode = True
import faults
import tap
import torture


class Faults(unittest.TestCase):
    def test_every_trial_stands_in_the_table(self):
        torture.modules()
        written = (SOURCE / "docs" / "faults.md").read_text()
        self.assertGreater(len(faults.TRIALS), 50)
        for one in faults.TRIALS:
            self.assertIn(f"\n| {one.fault} | {one.victim} | ", written)


if __name__ == "__main__":
    tap.main()
