"""TrackingComparison and ComparisonResults."""

import json
import os
import pickle
import re
import subprocess
import unittest

import package
import sessions

import gpu_tracker as gput
from gpu_tracker import _pandas


installed = _pandas.pandas()


class Comparison(package.PackageTest):
    def setUp(self):
        super().setUp()
        for name, factor in ("A", 2.0), ("B", 1.0):
            analyzer = gput.SubTrackingAnalyzer(*sessions.write_session(f"{name}-t.csv", f"{name}-m.csv", factor=factor))
            with open(f"{name}.pkl", "wb") as file:
                pickle.dump(analyzer.sub_tracking_results(), file)
        self.comparison = gput.TrackingComparison({"A": "A.pkl", "B": "B.pkl"})

    def test_sessions_stand_in_order_of_their_values(self):
        results = self.comparison.compare("max")
        self.assertEqual(list(results.overall_resource_usage), sessions.MEASUREMENTS)
        self.assertEqual(results.overall_resource_usage["main_ram"].to_dict(), {"B": 9.0, "A": 18.0})
        self.assertEqual(list(results.overall_resource_usage["main_ram"].index), ["B", "A"])
        self.assertEqual(results.code_block_resource_usage["main_ram"]["a"].to_dict(), {"B": 5.0, "A": 10.0})
        self.assertEqual(list(results.code_block_compute_time), ["a", "b"])
        self.assertAlmostEqual(results.code_block_compute_time["b"]["A"], 2.25)

    def test_mean_is_the_default(self):
        self.assertEqual(self.comparison.compare().to_json(), self.comparison.compare("mean").to_json())
        self.assertEqual(self.comparison.compare().overall_resource_usage["main_ram"]["B"], 4.5)

    def test_text_is_the_commands(self):
        for statistic in "mean", "std":
            arguments = ["sub-track", "compare", "-m", "A=A.pkl", "-m", "B=B.pkl", f"--stat={statistic}"]
            done = subprocess.run([os.environ["GPUT_COMMAND"], *arguments], capture_output=True, text=True)
            self.assertEqual(str(self.comparison.compare(statistic)), done.stdout)

    def test_results_map(self):
        self.assertEqual(list(self.comparison.results_map), ["A", "B"])
        self.assertIsInstance(self.comparison.results_map["A"], gput.SubTrackingResults)

    def test_old_pickles_compare(self):
        path = package.FIXTURES / "pickles" / "pandas22-5.pkl"
        results = gput.TrackingComparison({"old": path, "same": str(path)}).compare()
        self.assertEqual(len(results.overall_resource_usage), 3)

    @unittest.skipUnless(installed, "pandas is not installed")
    def test_counts_of_older_pickles_stay_whole(self):
        with open("A.pkl", "rb") as file:
            results = pickle.load(file)
        if not hasattr(results.overall, "astype"):
            self.skipTest("made without pandas")
        results.overall = results.overall.astype(object)
        results.overall.loc["main_n_threads", "max"] = 7
        with open("old.pkl", "wb") as file:
            pickle.dump(results, file)
        compared = gput.TrackingComparison({"A": "old.pkl", "B": "old.pkl"}).compare("max")
        self.assertIs(type(compared.to_json()["overall_resource_usage"]["main_n_threads"]["A"]), int)
        self.assertIn("\t\t  A  B\n\t\t  7  7\n", str(compared))

    def test_several_runs_of_a_session(self):
        results = gput.TrackingComparison({"A": ["A.pkl", "A.pkl"], "B": "B.pkl"}).compare("max")
        self.assertEqual(results.overall_resource_usage["main_ram"]["A"], 18.0)

    def test_as_a_table(self):
        table = self.comparison.table("max")
        rows = [row for row in table.rows() if row[1] == "main_ram"]
        missing = (None, None)
        self.assertEqual(table.columns[:5], ["code_block", "measurement", "statistic", "session", "value"])
        self.assertEqual(
            rows[:3],
            [
                (None, "main_ram", "max", "B", 9.0, -50.0, 1, *missing, 0),
                (None, "main_ram", "max", "A", 18.0, 0.0, 1, *missing, 0),
                ("a", "main_ram", "max", "B", 5.0, -50.0, 1, *missing, 0),
            ],
        )
        self.assertEqual(len(rows), 6)
        self.assertIn("compute_time", table["measurement"].tolist())
        self.assertRaises(ValueError, self.comparison.table, "z")
        self.assertTrue(hasattr(table, "__arrow_c_stream__"))

    def test_refusals(self):
        self.assert_raises(
            ValueError, "Invalid summary statistic 'z'. Valid values are min max mean std.", self.comparison.compare, "z"
        )
        self.assertRaises(ValueError, gput.TrackingComparison, {})
        self.assert_raises(
            FileNotFoundError, "[Errno 2] No such file or directory: 'no.pkl'", gput.TrackingComparison, {"A": "no.pkl"}
        )
        open("bad.pkl", "wb").write(b"cos\nsystem\n(S'touch harmed'\ntR.")
        self.assertRaises(ValueError, gput.TrackingComparison, {"A": "bad.pkl"})
        self.assertFalse(os.path.exists("harmed"))

    def test_blocks_must_match(self):
        sessions.write_session("C-t.csv", "C-m.csv", sessions.CALLS[:3])
        with open("C.pkl", "wb") as file:
            pickle.dump(gput.SubTrackingAnalyzer("C-t.csv", "C-m.csv").sub_tracking_results(), file)
        with self.assertRaisesRegex(ValueError, "All sub-tracking results must have the same number of code blocks."):
            gput.TrackingComparison({"A": "A.pkl", "C": "C.pkl"})

    def test_warnings_of_those_that_match_come_before_the_error(self):
        for session, line in ("D", 3), ("E", 5), ("F", 7):
            names = {"a": f"a.py:{line}", "b": "b.py:work" if session == "F" else f"b.py:{line}"}
            calls = [(process, names[block], *times) for process, block, *times in sessions.CALLS]
            sessions.write_session(f"{session}-t.csv", f"{session}-m.csv", calls)
            with open(f"{session}.pkl", "wb") as file:
                pickle.dump(gput.SubTrackingAnalyzer(f"{session}-t.csv", f"{session}-m.csv").sub_tracking_results(), file)
        with self.assertLogs("gpu_tracker") as logs, self.assertRaisesRegex(ValueError, '"b.py:3".* does not match .*"b.py:work"'):
            gput.TrackingComparison({"D": "D.pkl", "E": "E.pkl", "F": "F.pkl"})
        pairs = [re.findall(r'"([^"]+:\d)"', record.message) for record in logs.records]
        self.assertEqual(pairs, [["a.py:3", "a.py:5"], ["b.py:3", "b.py:5"], ["a.py:3", "a.py:7"]])


class Plain(Comparison):
    """As where pandas is not installed."""

    def setUp(self):
        kept = _pandas.pandas
        _pandas.pandas = lambda: None
        self.addCleanup(setattr, _pandas, "pandas", kept)
        super().setUp()


if __name__ == "__main__":
    package.main()
