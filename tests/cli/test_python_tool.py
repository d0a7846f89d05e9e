"""Ours against the Python gpu_tracker itself, where there is one: its text byte for byte, its pickles, ours.

GPUT_PEER_PYTHON names a Python that has it: python3 -m venv X && X/bin/pip install gpu_tracker.
"""

import json
import os
import random
import subprocess
import unittest

from analysis_files import call, row, write_marks, write_tracking
from command import CommandTest, main, use_package

PEER = os.environ.get("GPUT_PEER_PYTHON")
use_package()

ANALYZE = """
import pickle, sys
from gpu_tracker import SubTrackingAnalyzer
results = SubTrackingAnalyzer(*sys.argv[1:3]).sub_tracking_results()
with open(sys.argv[3], "wb") as file:
    pickle.dump(results, file, int(sys.argv[4]))
print(results, end="")
"""
COMPARE = """
import sys
from gpu_tracker import TrackingComparison
print(TrackingComparison(dict(each.split("=") for each in sys.argv[2:])).compare(sys.argv[1]), end="")
"""
TRACKER = """
import json, pickle, sys
tracker = pickle.load(open(sys.argv[1], "rb"))
assert type(tracker).__module__ == "gpu_tracker.tracker" and repr(tracker) == "State: STOPPED", tracker
print(json.dumps([tracker.to_json(), str(tracker), tracker.resource_usage.max_ram.main.total_rss]))
"""
SHOW = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')), end='')"


@unittest.skipUnless(PEER, "GPUT_PEER_PYTHON names no Python with gpu_tracker")
class PythonTool(CommandTest):
    def peer(self, code, *arguments):
        done = self.run_program(PEER, "-c", code, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def run_program(self, *words):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # ours has the same import name
        return subprocess.run(list(map(str, words)), cwd=self.folder, capture_output=True, text=True, env=environment)

    def ours(self, *arguments):
        done = self.run_command("sub-track", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def write(self, seed, kind):
        """Samples and calls that look like a program's; sixteenths of seconds, so that no mean ends in a tie."""
        chance = random.Random(seed)
        rows = [row(i / 2 + chance.randint(0, 3) / 16, chance.uniform(0.5, 2)) for i in range(40)]
        marks = []
        for process in (11, 12):
            for name in ("load data", "train.py:9", "train.py:10"):
                moment = chance.randint(0, 9) / 16
                for _ in range(chance.randint(1, 6)):
                    start = moment + chance.randint(1, 30) / 16
                    moment = start + chance.randint(0, 30) / 16
                    marks += call(process, name, start, moment)
        write_tracking(self.folder / f"t.{kind}", rows)
        write_marks(self.folder / f"s.{kind}", marks)

    def test_text_pickles_and_comparisons_are_the_same(self):
        for seed, kind in enumerate(("csv", "sqlite", "csv")):
            self.write(seed, kind)
            text = self.peer(ANALYZE, f"t.{kind}", f"s.{kind}", f"peer{seed}.pkl", 2 + seed)
            analyze = ["analyze", f"--tf=t.{kind}", f"--stf=s.{kind}"]
            self.assertEqual(self.ours(*analyze), text)
            self.ours(*analyze, "-f", "pickle", "-o", f"ours{seed}.pkl")
            self.assertEqual(self.peer(SHOW, f"ours{seed}.pkl"), text)
            (self.folder / f"t.{kind}").unlink(), (self.folder / f"s.{kind}").unlink()
        sessions = ["A=peer1.pkl", "C=ours2.pkl", "B=peer0.pkl"]
        maps = [word for each in sessions for word in ("-m", each)]
        for statistic in ("min", "max", "mean", "std"):
            text = self.peer(COMPARE, statistic, *sessions)
            self.assertEqual(self.ours("compare", *maps, "--stat", statistic), text)
            self.ours("compare", *maps, "--stat", statistic, "-f", "pickle", "-o", f"{statistic}.pkl")
            self.assertEqual(self.peer(SHOW, f"{statistic}.pkl"), text)

    def test_a_tracked_session_is_a_tracker(self):
        done = self.run_command("run", "--ru=megabytes", "-f", "pickle", "-o", "t.pkl", "sleep", "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        values, text, main_rss = json.loads(self.peer(TRACKER, "t.pkl"))
        self.assertEqual(values["max_ram"]["main"]["total_rss"], main_rss)
        self.assertGreater(main_rss, 0.5)
        self.assertEqual(list(values), ["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time"])
        self.assert_is_report(text)


if __name__ == "__main__":
    main()
