"""SubTrackingAnalyzer and SubTrackingResults, with pandas and without."""

import contextlib
import json
import os
import pathlib
import pickle
import sqlite3
import statistics
import subprocess
import time
import unittest
from unittest import mock

import package
import sessions

import gpu_tracker as gput
from gpu_tracker import _pandas

try:
    import pandas
except ImportError:
    pandas = None


def mean_of(rows):
    return statistics.fmean(rows)


class Analysis(package.PackageTest):
    """With what is installed; the class below does the same without pandas."""

    def setUp(self):
        super().setUp()
        self.analyzer = gput.SubTrackingAnalyzer(*sessions.write_session())

    def test_overall_covers_every_sample(self):
        overall = self.analyzer.overall_timepoint_results()
        self.assertEqual(list(overall.index), sessions.MEASUREMENTS)
        self.assertEqual(list(overall.columns), ["min", "max", "mean", "std"])
        row = overall.loc["descendants_ram"]
        self.assertEqual((row["min"], row["max"], row["mean"]), (1, 10, 5.5))
        self.assertAlmostEqual(overall.loc["descendants_ram", "std"], statistics.pstdev(range(10)))

    def test_blocks_cover_the_samples_of_their_calls(self):
        a, b = self.analyzer.sub_tracking_results().code_block_results
        self.assertEqual((a.name, a.num_calls, a.num_non_empty_calls, a.num_timepoints), ("a", 3, 2, 3))
        self.assertEqual((b.name, b.num_calls, b.num_non_empty_calls, b.num_timepoints), ("b", 1, 1, 3))
        self.assertAlmostEqual(a.resource_usage.loc["main_ram", "mean"], mean_of([1, 2, 5]))
        self.assertAlmostEqual(a.compute_time["total"], 1.75 + 0.25 + 0.5)
        self.assertEqual(list(a.compute_time.index), ["min", "max", "mean", "std", "total"])
        self.assertAlmostEqual(b.compute_time["max"], 2.25)

    def test_calls_outside_of_the_samples_are_counted(self):
        with open("outside.csv", "w") as file:
            file.write("process_id,code_block_name,position,timestamp\n")
            for start in (1, 4, 1001, 9000):
                file.write(f"7,a,0,{start}\n7,a,1,{start + 1}\n")
            file.write("7,b,0,1001\n7,b,1,1002\n")
        with self.assertLogs("gpu_tracker", "WARNING") as logs:
            results = gput.SubTrackingAnalyzer("tracking.csv", "outside.csv").sub_tracking_results()
        self.assertIn("3 of 5 calls in outside.csv", logs.output[0])
        with open("results.pkl", "wb") as file:
            pickle.dump(results, file)
        with open("results.json", "w") as file:
            json.dump(results.to_json(), file)
        command = [os.environ["GPUT_COMMAND"], "sub-track", "analyze", "--tf=tracking.csv", "--stf=outside.csv", "-f"]
        subprocess.run([*command, "pickle", "-o", "command.pkl"], check=True, stderr=subprocess.DEVNULL)
        text = subprocess.run([*command, "text"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(str(results), text)
        for read in results, *(gput.SubTrackingResults.load(name) for name in ("results.pkl", "results.json", "command.pkl")):
            a, b = read.code_block_results
            self.assertEqual((a.num_calls, a.num_non_empty_calls, a.num_outside_calls), (4, 1, 3))
            self.assertEqual(b.num_outside_calls, 0)
            self.assertNotIn("num_outside_calls", read.to_json()["code_block_results"][1])

    def test_lost_calls_are_counted(self):
        for lost, count, at_least in ("0000000012", 12, False), ("at least 0000000012", 12, True):
            with open("lost.csv", "w") as file:
                file.write("process_id,code_block_name,position,timestamp\n7,a,0,1\n7,a,1,2\n")
                file.write("".join(f"7,[gpu-tracker] lost calls: {lost},{position},{position + 3}\n" for position in (0, 1)))
            with self.assertLogs("gpu_tracker", "WARNING"):
                analyzer = gput.SubTrackingAnalyzer("tracking.csv", "lost.csv")
                results, tables = analyzer.sub_tracking_results(), analyzer.tables()
            self.assertEqual(tables["lost_calls"].to_dict(), {"num_lost_calls": [count], "at_least": [at_least]})
            with open("results.pkl", "wb") as file:
                pickle.dump(results, file)
            with open("results.json", "w") as file:
                json.dump(results.to_json(), file)
            command = [os.environ["GPUT_COMMAND"], "sub-track", "analyze", "--tf=tracking.csv", "--stf=lost.csv", "-f"]
            subprocess.run([*command, "pickle", "-o", "command.pkl"], check=True, stderr=subprocess.DEVNULL)
            text = subprocess.run([*command, "text"], check=True, capture_output=True, text=True).stdout
            self.assertEqual(str(results), text)
            for read in results, *(gput.SubTrackingResults.load(name) for name in ("results.pkl", "results.json", "command.pkl")):
                self.assertEqual((read.num_lost_calls, read.lost_calls_at_least), (count, at_least))
            compared = gput.TrackingComparison({"A": "results.pkl", "B": "command.pkl"}).compare()
            lost_of_each = {"num_lost_calls": count, "lost_calls_at_least": at_least}
            self.assertEqual(compared.lost_calls, {"A": lost_of_each, "B": lost_of_each})
            command = [os.environ["GPUT_COMMAND"], "sub-track", "compare", "-m", "A=results.json", "-m", "B=command.pkl", "-f"]
            text = subprocess.run([*command, "text"], check=True, capture_output=True, text=True).stdout
            self.assertEqual(str(compared), text)
            self.assertEqual(pickle.loads(pickle.dumps(compared)).lost_calls, compared.lost_calls)
        results = self.analyzer.sub_tracking_results()
        self.assertEqual((results.num_lost_calls, results.lost_calls_at_least), (0, False))
        self.assertNotIn("num_lost_calls", results.to_json())

    def test_missing_values_are_missing_in_every_form(self):
        with open("tracking.csv") as file:
            lines = [line.split(",") for line in file.read().splitlines()]
        at = lines[2].index("main_gpu_ram")
        for i, line in enumerate(lines[3:]):
            line[at] = "" if i == 1 else "0"
        with open("missing.csv", "w") as file:
            file.write("".join(",".join(line) + "\n" for line in lines))
        sub_tracking = self.analyzer._sub_tracking_file
        with self.assertLogs("gpu_tracker", "WARNING") as logs:
            results = gput.SubTrackingAnalyzer("missing.csv", sub_tracking).sub_tracking_results()
        self.assertIn("main_gpu_ram in 1", logs.output[0])
        with open("results.pkl", "wb") as file:
            pickle.dump(results, file)
        with open("results.json", "w") as file:
            json.dump(results.to_json(), file)
        command = [os.environ["GPUT_COMMAND"], "sub-track", "analyze", "--tf=missing.csv", f"--stf={sub_tracking}", "-f"]
        subprocess.run([*command, "pickle", "-o", "command.pkl"], check=True, stderr=subprocess.DEVNULL)
        text = subprocess.run([*command, "text"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(str(results), text)
        for read in results, *(gput.SubTrackingResults.load(name) for name in ("results.pkl", "results.json", "command.pkl")):
            self.assertEqual(read.missing_timepoints, {"main_gpu_ram": 1})
            self.assertTrue(all(value != value for value in read.overall.loc["main_gpu_ram"]))
            self.assertEqual([block.missing_timepoints for block in read.code_block_results].count({"main_gpu_ram": 1}), 1)
        self.assertNotIn("missing_timepoints", self.analyzer.sub_tracking_results().to_json())

    def test_static_data_keeps_its_types(self):
        data = self.analyzer.read_static_data()
        self.assertEqual(data.to_dict(), sessions.STATIC)
        self.assertEqual(data.name, 0)

    def test_pieces(self):
        self.assertEqual(self.analyzer.load_code_block_names(), ["a", "b"])
        pairs = self.analyzer.load_timestamp_pairs("a")
        self.assertEqual(pairs, [(1000.5, 1002.25), (1002.5, 1002.75), (1005.0, 1005.5)])
        self.assertEqual(list(self.analyzer.load_timepoints(pairs)["timestamp"]), [1001.0, 1002.0, 1005.0])
        self.assertEqual(self.analyzer.load_timestamp_pairs("no block"), [])
        self.assertEqual(len(self.analyzer.load_timepoints([(1001, 1003), (1002, 1004)])), 4)

    def test_without_blocks(self):
        results = gput.SubTrackingAnalyzer("tracking.csv", None).sub_tracking_results()
        self.assertEqual(results.code_block_results, [])

    def test_tables_say_the_same(self):
        tables = self.analyzer.tables()
        self.assertEqual(tables["code_blocks"].meanings["num_calls"], "calls that were started and stopped")
        self.assertIsNone(tables["code_blocks"].meanings["process_id"])
        self.assertEqual(list(tables), ["static_data", "overall", "code_blocks", "code_block_usage", "lost_calls"])
        overall = self.analyzer.overall_timepoint_results()
        self.assertEqual(tables["overall"]["measurement"].tolist(), list(overall.index))
        self.assertEqual(tables["overall"]["std"].tolist(), list(overall["std"]))
        self.assertEqual(tables["overall"]["unit"][0], "gigabytes")
        blocks = tables["code_blocks"]
        self.assertEqual(blocks["num_calls"].tolist(), [3, 1])
        self.assertEqual(blocks.units["compute_time_total"], "seconds")
        self.assertAlmostEqual(blocks["compute_time_total"][0], 2.5)
        usage = tables["code_block_usage"]
        self.assertEqual(len(usage), 2 * 21)
        self.assertAlmostEqual(usage["mean"][0], mean_of([1, 2, 5]))
        self.assertEqual(next(tables["static_data"].rows()), tuple(sessions.STATIC.values()))

    def test_tables_with_details_and_parts(self):
        sessions.write_session(calls=[(7, "a", 1, 2), (8, "a", 3, 5)])
        tables = self.analyzer.tables(details=True, split="process")
        blocks = tables["code_blocks"]
        self.assertEqual(blocks["process_id"].tolist(), [None, 7, 8])
        self.assertEqual(blocks["self_time_total"].tolist(), [3.0, 1.0, 2.0])
        self.assertEqual(tables["overall"]["p50"][0], 4.5)
        self.assertEqual(len(tables["code_block_usage"]), 3 * 21)
        self.assertRaises(ValueError, self.analyzer.tables, split="day")

    def test_json_reads_back(self):
        values = self.analyzer.sub_tracking_results().to_json()
        self.assertEqual(list(values), ["overall", "static_data", "code_block_results"])
        self.assertEqual(json.loads(json.dumps(values)), values)
        self.assertEqual(values["code_block_results"][0]["num_calls"], 3)

    def test_text_is_the_commands(self):
        arguments = ["sub-track", "analyze", "--tf=tracking.csv", "--stf=sub-tracking.csv"]
        text = subprocess.run([os.environ["GPUT_COMMAND"], *arguments], capture_output=True, text=True).stdout
        self.assertEqual(str(self.analyzer.sub_tracking_results()), text)

    def test_pickles(self):
        results = self.analyzer.sub_tracking_results()
        with open("r.pkl", "wb") as file:
            pickle.dump(results, file)
        self.assertEqual(pickle.load(open("r.pkl", "rb")).to_json(), results.to_json())
        loaded = gput.SubTrackingResults.load("r.pkl")
        self.assertEqual(loaded.to_json(), results.to_json())

    def test_exact_figures_of_marks_that_have_them(self):
        with open("exact.csv", "w") as file:
            file.write("process_id,code_block_name,position,timestamp,process_cpu_ns\n7,a,0,1001,5\n7,a,1,1002,1000000005\n")
        analyzer = gput.SubTrackingAnalyzer("tracking.csv", "exact.csv")
        results = analyzer.sub_tracking_results()
        exact = results.code_block_results[0].exact
        self.assertEqual(exact["process_cpu_time"], {"unit": "seconds", "total": 1.0, "mean": 1.0})
        self.assertIsNone(exact["thread_cpu_time"]["total"])
        self.assertEqual(results.to_json()["code_block_results"][0]["exact"], exact)
        self.assertEqual(list(analyzer.tables()["code_blocks"]["exact_process_cpu_time"]), [1.0])
        self.assertIsNone(self.analyzer.sub_tracking_results().code_block_results[0].exact)
        with open("exact.pkl", "wb") as file:
            pickle.dump(results, file)
        self.assertEqual(pickle.load(open("exact.pkl", "rb")).to_json(), results.to_json())
        self.assertEqual(gput.SubTrackingResults.load("exact.pkl").code_block_results[0].num_calls, 1)

    def test_sqlite_and_log(self):
        with gput.Tracker(sleep_time=0.01, tracking_file="t.sqlite"):
            for name in "m.sqlite", "m.gputblocks":
                with gput.SubTracker("a", sub_tracking_file=name):
                    pass
        for name in "m.sqlite", "m.gputblocks":
            analyzer = gput.SubTrackingAnalyzer("t.sqlite", name)
            self.assertEqual(analyzer.sub_tracking_results().code_block_results[0].num_calls, 1)
            self.assertEqual(len(analyzer.load_timestamp_pairs("a")), 1)
            self.assertGreater(len(analyzer.load_timepoints([(0, 1e12)])), 0)


    def write_energy(self):
        """A session of a machine without counters, and 100 W next to it."""
        with mock.patch.dict(os.environ, {"GPUT_SYSFS": "/nonexistent", "GPUT_NVML": "/nonexistent"}):
            with gput.Tracker(sleep_time=0.01, tracking_file="t.sqlite"):
                time.sleep(0.05)
        timestamps = gput.read_samples("t.sqlite")["timestamp"]
        start, stop = timestamps[0] - 0.25, timestamps[-1] + 0.25  # all samples, and so no figure is missing
        sessions.write_marks("m.csv", [(7, "a", start - sessions.START, stop - sessions.START)])
        ((start, stop),) = gput.SubTrackingAnalyzer("t.sqlite", "m.csv").load_timestamp_pairs("a")
        with contextlib.closing(sqlite3.connect("t.sqlite")) as database, database:
            database.execute("CREATE TABLE energy_data (timestamp REAL, package REAL, total REAL, combined REAL)")
            for time_, share in (start - 1, 0.1), (stop + 0.5, 0.1), (stop + 1, None):
                joules = 100 * (time_ - start + 1)
                database.execute("INSERT INTO energy_data VALUES (?, ?, ?, ?)", (time_, joules, joules, share and share * joules))
        return gput.SubTrackingAnalyzer("t.sqlite", "m.csv").sub_tracking_results(), stop - start

    def test_energy(self):
        results, seconds = self.write_energy()
        self.assertEqual((results.energy["unit"], results.energy["dram"]), ("joules", None))
        self.assertAlmostEqual(results.energy["package"], 100 * (seconds + 2))
        (block,) = results.code_block_results
        self.assertAlmostEqual(block.energy["total"], 100 * seconds)
        self.assertIsNone(results.energy["combined"])  # lost later: the session's is not known, the block's is
        self.assertAlmostEqual(block.energy["combined"], 10 * seconds, places=3)
        values = results.to_json()
        self.assertEqual((values["energy"], values["code_block_results"][0]["energy"]), (results.energy, block.energy))
        command = [os.environ["GPUT_COMMAND"], "sub-track", "analyze", "--tf=t.sqlite", "--stf=m.csv"]
        self.assertEqual(str(results), subprocess.run(command, capture_output=True, text=True).stdout)
        subprocess.run([*command, "-f", "pickle", "-o", "r.pkl"], check=True)
        text = json.dumps(values)  # in which what is missing, NaN, equals itself
        self.assertEqual(json.dumps(gput.SubTrackingResults.load("r.pkl").to_json()), text)
        if pandas and _pandas.pandas():
            self.assertEqual(json.dumps(pickle.load(open("r.pkl", "rb")).to_json()), text)
        with open("r.pkl", "wb") as file:
            pickle.dump(results, file)
        self.assertEqual(json.dumps(gput.SubTrackingResults.load("r.pkl").to_json()), text)
        with open("r.json", "w") as file:
            json.dump(values, file)
        compared = gput.TrackingComparison({"A": "r.json", "B": "r.json"}).compare()
        self.assertAlmostEqual(compared.overall_energy["total"]["B"], 100 * (seconds + 2))
        self.assertAlmostEqual(compared.code_block_energy["total"]["a"]["A"], 100 * seconds)
        command = [os.environ["GPUT_COMMAND"], "sub-track", "compare", "-m", "A=r.json", "-m", "B=r.json"]
        self.assertEqual(str(compared), subprocess.run(command, capture_output=True, text=True).stdout)
        if pandas and _pandas.pandas():
            subprocess.run([*command, "-f", "pickle", "-o", "c.pkl"], check=True)
            kept = pickle.load(open("c.pkl", "rb")).to_json()
            self.assertEqual(json.dumps(kept), json.dumps(compared.to_json()))

    def test_no_energy_is_not_mentioned(self):
        results = self.analyzer.sub_tracking_results()
        self.assertIsNone(results.energy)
        self.assertNotIn("energy", results.to_json()["code_block_results"][0])
        self.assertNotIn("energy", vars(results))


class Plain(Analysis):
    """As where pandas is not installed."""

    def setUp(self):
        kept = _pandas.pandas
        _pandas.pandas = lambda: None
        self.addCleanup(setattr, _pandas, "pandas", kept)
        super().setUp()

    def test_tables_print(self):
        results = self.analyzer.sub_tracking_results()
        self.assertIn("main_ram", repr(results.overall))
        self.assertIn("ram_unit", repr(results.static_data))
        self.assertEqual(results.overall["max"]["main_ram"], 9)
        self.assertEqual(results.overall.max.main_ram, 9)
        self.assertRaises(KeyError, lambda: results.overall["no"])
        self.assertRaises(AttributeError, lambda: results.overall.no)


class OldFiles(package.PackageTest):
    def test_pickles_of_the_old_package_load_without_pandas(self):
        paths = sorted((package.FIXTURES / "pickles").glob("*.pkl"))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path.name):
                results = gput.SubTrackingResults.load(path)
                self.assertEqual(len(results.overall.index), 3)

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_what_we_pickle_is_made_of_pandas(self):
        results = gput.SubTrackingAnalyzer(*sessions.write_session()).sub_tracking_results()
        self.assertIsInstance(results.overall, pandas.DataFrame)
        self.assertIsInstance(results.static_data, pandas.Series)
        self.assertEqual(results.static_data.dtype, object)


class Refusals(package.PackageTest):
    def test_names(self):
        message = 'Invalid file name: "x.txt". Valid file extensions are ".csv" and ".sqlite".'
        self.assert_raises(ValueError, message, gput.SubTrackingAnalyzer, "x.txt", None)
        self.assert_raises(ValueError, message, gput.SubTrackingAnalyzer, "x.csv", "x.txt")

    def test_missing_files(self):
        analyzer = gput.SubTrackingAnalyzer("x.csv", "y.csv")
        self.assert_raises(FileNotFoundError, "[Errno 2] No such file or directory: 'x.csv'", analyzer.sub_tracking_results)

    def test_calls_that_do_not_pair_up(self):
        sessions.write_tracking("t.csv")
        for rows, message in {
            ((1, 0, 5.0), (1, 1, 6.0), (1, 1, 7.0), (2, 0, 4.0), (2, 1, 5.0), (2, 1, 6.0)): "(7.0, 4.0) with differing "
            "process IDs: 1 and 2.",
            ((1, 1, 5.0), (1, 0, 6.0), (1, 1, 7.0), (1, 1, 8.0)): "(5.0, 6.0) of process ID 1 with a start time greater than "
            "the stop time.",
        }.items():
            with open("m.csv", "w") as file:
                file.write("process_id,code_block_name,position,timestamp\n")
                file.writelines(f"{pid},X,{position},{time}\n" for pid, position, time in rows)
            analyzer = gput.SubTrackingAnalyzer("t.csv", "m.csv")
            message = f"Sub-tracking file is invalid. Detected timestamp pair {message}"
            self.assert_raises(ValueError, message, analyzer.sub_tracking_results)
            self.assert_raises(ValueError, message, analyzer.load_timestamp_pairs, "X")

    def test_an_open_call_is_left_out(self):
        sessions.write_tracking("t.csv")
        with open("m.csv", "w") as file:
            file.write("process_id,code_block_name,position,timestamp\n1,X,0,1001\n1,X,1,1002\n1,X,0,1003\n2,X,0,1001.5\n")
        analyzer = gput.SubTrackingAnalyzer("t.csv", "m.csv")
        self.assertEqual(analyzer.sub_tracking_results().code_block_results[0].num_calls, 1)
        self.assertEqual(analyzer.load_timestamp_pairs("X"), [(1001.0, 1002.0)])


class Combining(package.PackageTest):
    def setUp(self):
        super().setUp()
        os.mkdir("parts")
        sessions.write_marks("parts/1.csv", [(1, "a", 0, 1)])
        sessions.write_marks("parts/2.csv", [(2, "a", 0, 1)])

    def test_files_and_folders(self):
        gput.SubTrackingAnalyzer(None, "files.csv").combine_sub_tracking_files(["parts/1.csv", "parts/2.csv"])
        gput.SubTrackingAnalyzer(None, "folder.csv").combine_sub_tracking_files(["parts"])
        self.assertEqual(open("files.csv").read(), open("folder.csv").read())
        self.assertEqual(len(gput.SubTrackingAnalyzer(None, "files.csv").load_timestamp_pairs("a")), 2)

    def test_refusals(self):
        pathlib.Path("there.csv").write_text("an older file\n")
        combine = lambda output, *files: gput.SubTrackingAnalyzer(None, output).combine_sub_tracking_files(files)
        self.assert_raises(
            ValueError, "Cannot create sub-tracking file there.csv. File already exists.", combine, "there.csv", "parts/1.csv"
        )
        self.assert_raises(
            ValueError,
            'File x.sqlite does not end with the same extension as new.csv. Must end in ".csv".',
            combine,
            "new.csv",
            "parts/1.csv",
            "x.sqlite",
        )
        self.assertRaises(FileNotFoundError, combine, "new.csv", "parts/1.csv", "no.csv")
        self.assertFalse(os.path.exists("new.csv"))


if __name__ == "__main__":
    package.main()
