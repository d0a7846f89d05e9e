"""Every case that tools/accuracy.py runs stands in a table of docs/accuracy.md."""

import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
sys.path.insert(0, str(SOURCE / "tools"))
sys.dont_write_bytecode = True
import tap

import accuracy


class Accuracy(unittest.TestCase):
    def test_every_case_stands_in_a_table(self):
        figures = {"cpu": 1, "ram": 1e6, accuracy.PROCESSES: 1, accuracy.WRITTEN: 1e6}
        outcome = [(case, [(figures, figures)]) for case in accuracy.CASES]
        made = "\n".join(accuracy.tables([accuracy.Tool("run", None)], outcome))
        written = (SOURCE / "docs" / "accuracy.md").read_text()
        for name, *_ in accuracy.CASES:
            self.assertIn(f"\n| {name} |", made)
            self.assertIn(f"\n| {name} |", written)

    def test_what_a_consumer_writes_is_known_from_its_words(self):
        self.assertEqual(accuracy.written_bytes("write 25 child [ write 0.5 ] wait"), 25.5e6)
        self.assertEqual(accuracy.written_bytes("spin 2"), 0)


if __name__ == "__main__":
    tap.main()
