"""Python profiles of a training run: cProfileAnalysis, PyinstrumentAnalysis and what they give."""

import io
import json
import os
import pstats
import xml.etree.ElementTree

import package
import training
from profiles import ProfileTest, WithoutPandas, column, printed, rows

from gpu_tracker import profiler
from gpu_tracker.profiler import (
    Metrics,
    PythonProfileModes,
    StepPhase,
    StepPythonProfileStats,
)


class Tables(ProfileTest):
    def test_what_notebooks_show(self):
        analysis = profiler.cProfileAnalysis(training.write_dumps())
        stats = analysis.fetch_profile_stats_by_step(0)
        one = stats.function_stats_list[0]
        shown = (
            (profiler.MergedTimeline("<root>"), "<MergedTimeline: trace root <root>, merges into <root>>", "&lt;root&gt;"),
            (analysis, f"<cProfileAnalysis: folder {analysis.profile_dir}, profiles 5>", ">5</td>"),
            (stats, f"<cProfileStats: functions {len(stats.function_stats_list)}, seconds {stats.ps.total_tt:.6g}>", ">functions</th>"),
            (one, repr(one.figures()), ">cumulative time</th>"),
            (analysis.python_profile_stats[0], repr(vars(analysis.python_profile_stats[0])), ">PRE_STEP_ZERO</td>"),
            (profiler.python_stats.PyinstrumentStepStats("a.html", {}), "<PyinstrumentStepStats: page a.html>", ">a.html</td>"),
        )
        for thing, text, cell in shown:
            html = thing._repr_html_()
            xml.etree.ElementTree.fromstring(html)
            self.assertEqual(repr(thing), text)
            self.assertIn(cell, html)

    def test_functions_as_a_frame(self):
        folder = training.write_dumps()
        stats = profiler.cProfileAnalysis(folder).fetch_profile_stats_by_step(0)
        frame = stats.get_function_stats()
        self.assertEqual(
            list(frame.columns),
            ["function name", "# of primitive calls", "# of total calls", "total time", "cumulative time"],
        )
        line = training.factorial.__code__.co_firstlineno
        row = next(row for row in rows(frame) if row[0].endswith(f"training.py:{line}(factorial)"))
        self.assertEqual(row[1:3], (1, 5))

    def test_list_of_profiles(self):
        listed = profiler.cProfileAnalysis(training.write_dumps()).list_profile_stats()
        self.assertEqual(
            column(listed, "start_mode"), ["prestepzero", "train", "train", "train", "eval"]
        )
        self.assertEqual(list(listed.columns)[:3], ["profiler_name", "framework", "node_id"])
        self.assertEqual(set(column(listed, "framework")), {"pytorch"})
        self.assertEqual(column(listed, "end_step")[-1], float("inf"))
        os.mkdir("empty")
        listed, lines = printed(profiler.cProfileAnalysis("empty").list_profile_stats)
        self.assertEqual((len(listed), lines), (0, ["No stats were found!"]))


class Plain(WithoutPandas, Tables):
    pass


class PythonProfiles(package.PackageTest):
    def setUp(self):
        super().setUp()
        self.folder_of_dumps = training.write_dumps()
        self.analysis = profiler.cProfileAnalysis(self.folder_of_dumps)

    def dump(self, start, node="27-algo-1"):
        for name in os.listdir(f"{self.folder_of_dumps}/{node}"):
            if f"-{start}_" in name:
                return f"{self.folder_of_dumps}/{node}/{name}/python_stats"
        raise AssertionError(start)

    def assert_prints(self, stats, *paths):
        """Just what pstats prints of these dumps, added one by one."""
        expected = pstats.Stats(stream=io.StringIO())
        for path in paths:
            expected.add(path)
        stats.ps.stream = io.StringIO()
        for by in Metrics:
            stats.print_top_n_functions(by, 5)
            expected.sort_stats(by.value).print_stats(5)
        self.assertEqual(stats.ps.stream.getvalue(), expected.stream.getvalue())
        self.assertIn("filename:lineno(function)", expected.stream.getvalue())

    def test_prints_what_pstats_prints(self):
        self.assert_prints(self.analysis.fetch_profile_stats_by_step(0), self.dump(2000000))
        everything = self.analysis.fetch_profile_stats_by_time(0, 100)
        self.assert_prints(everything, *map(self.dump, (1000000, 2000000, 4000000, 7000000)))
        self.assertEqual(everything.function_stats_list[0].function_name, pstats.func_std_string(next(iter(everything.ps.stats))))
        self.assertRaises(AssertionError, everything.print_top_n_functions, "tottime")
        self.assertRaises(AssertionError, everything.print_top_n_functions, Metrics.TOTAL_TIME, 1.5)

    def test_stats_are_what_pstats_reads(self):
        path = self.dump(4000000)
        self.assertEqual(self.analysis.fetch_profile_stats_by_step(1, 2).ps.stats, pstats.Stats(path).stats)
        line = training.factorial.__code__.co_firstlineno
        callers = {
            function.function_name: function.callers
            for function in self.analysis.fetch_profile_stats_by_step(1, 2).function_stats_list
        }
        name = f"{training.__file__}:{line}(factorial)"
        self.assertIn(name, callers[name])

    def fetched(self, stats):
        """The arguments of factorial() in what was fetched: what distinguishes the dumps."""
        line = training.factorial.__code__.co_firstlineno
        return stats and next(f for f in stats.function_stats_list if f"{line}(factorial)" in f.function_name).total_calls

    def test_selection(self):
        analysis, modes = self.analysis, PythonProfileModes
        for stats, calls in [
            (analysis.fetch_profile_stats_by_step(0), 5),
            (analysis.fetch_profile_stats_by_step(0, 2), 5 + 8),
            (analysis.fetch_profile_stats_by_step(0, 2, start_phase=StepPhase.FORWARD_PASS_END), 8),
            (analysis.fetch_profile_stats_by_step(1, 2, node_id="31-algo-2"), 9),
            (analysis.fetch_profile_stats_by_time(4.5, 5.5), 8),  # within the profile
            (analysis.fetch_profile_stats_by_time(3, 4), 5 + 8),
            (analysis.fetch_profile_stats_between_modes(modes.EVAL, modes.POST_HOOK_CLOSE), 2),
            (analysis.fetch_pre_step_zero_profile_stats(), 3),
            (analysis.fetch_post_hook_close_profile_stats(refresh_stats=False), 2),
        ]:
            self.assertEqual(self.fetched(stats), calls)
        for missing in (
            lambda: analysis.fetch_profile_stats_by_step(7),
            lambda: analysis.fetch_profile_stats_by_step(1, 2, mode=modes.EVAL),
            lambda: analysis.fetch_profile_stats_by_time(0, 100, node_id="none"),
        ):
            result, lines = printed(missing)
            self.assertIsNone(result)
            self.assertEqual(lines, ["No stats were found for the requested interval!"])
        self.assertEqual(analysis.list_available_node_ids(), ["27-algo-1", "31-algo-2"])

    def test_by_phases_of_training_and_job(self):
        modes = PythonProfileModes
        by_phase, _ = printed(self.analysis.fetch_profile_stats_by_training_phase)
        self.assertEqual(
            {pair: self.fetched(stats) for pair, stats in by_phase.items()},
            {(modes.PRE_STEP_ZERO, modes.TRAIN): 3, (modes.TRAIN, modes.TRAIN): 13, (modes.EVAL, modes.POST_HOOK_CLOSE): 2},
        )
        by_job_phase, _ = printed(self.analysis.fetch_profile_stats_by_job_phase)
        self.assertEqual(
            {name: self.fetched(stats) for name, stats in by_job_phase.items()},
            {"initialization": 3, "finalization": 2, "training_loop": 13},
        )

    def test_names_of_folders(self):
        stats = StepPythonProfileStats("pytorch", "cprofile", "n", "global-*-start-1.5_train-3-stepend-20", "path")
        self.assertEqual((stats.start_mode, stats.start_step, stats.start_phase), (PythonProfileModes.GLOBAL, -1, StepPhase.START))
        self.assertEqual((stats.end_step, stats.end_time_since_epoch_in_micros), (3, 20.0))
        self.assertTrue(stats.has_pre_step_zero_profile_stats() and not stats.has_post_hook_close_profile_stats())
        self.assertEqual(repr(stats), repr(vars(stats)))
        self.assertEqual(list(vars(stats))[3:6], ["start_mode", "start_step", "start_phase"])
        older = StepPythonProfileStats("f", "cprofile", "n", "1596585376012363.8_1596585376017246.5_151-algo-1_3", "path")
        self.assertEqual((older.start_step, older.end_step, older.start_mode), (3, 3, None))
        for name in "", "x_y", "train-1-stepstart-1", "nomode-1-start-1_train-1-end-2", "train-1-nophase-1_train-1-end-2":
            with self.assertRaises(ValueError, msg=name):
                StepPythonProfileStats("f", "p", "n", name, "path")

    def test_intervals_of_time_and_steps(self):
        stats = StepPythonProfileStats("f", "p", "n", "train-3-stepstart-100_train-5-stepend-200", "path")
        for start, end, expected in (0, 100, True), (120, 130, True), (200, 300, True), (0, 99, False), (201, 300, False):
            self.assertEqual(stats.in_time_interval(start, end), expected)
        start, end = StepPhase.STEP_START, StepPhase.STEP_END
        for first, last, from_phase, to_phase, expected in (
            (2, 6, start, end, True),
            (3, 5, start, end, True),
            (4, 6, start, end, False),
            (2, 4, start, end, False),
            (3, 6, StepPhase.STEP_END, end, False),
            (3, 6, StepPhase.FORWARD_PASS_END, end, False),
            (2, 5, start, StepPhase.STEP_START, False),
        ):
            self.assertEqual(stats.in_step_interval(first, last, from_phase, to_phase), expected)

    def test_sessions_of_pyinstrument(self):
        folder = "run/framework/pytorch/pyinstrument/27-algo-1/train-0-stepstart-10_train-0-stepend-20"
        os.makedirs(folder)
        session = {"duration": 1.0, "root_frame": None}
        for name, text in ("python_stats.json", json.dumps(session)), ("python_stats.html", "<html>"):
            open(f"{folder}/{name}", "w").write(text)
        analysis = profiler.PyinstrumentAnalysis("run/framework/pytorch/pyinstrument")
        (stats,) = analysis.fetch_profile_stats_by_step(0)
        self.assertEqual((stats.html_file_path, stats.json_stats), (f"{folder}/python_stats.html", session))
        self.assertEqual(len(analysis.list_profile_stats()), 2)  # the session and its page

    def test_a_damaged_session_is_left_out(self):
        base = "run/framework/pytorch/pyinstrument/27-algo-1/train-{0}-stepstart-1{0}_train-{0}-stepend-2{0}"
        for step, text in enumerate(('{"duration": 1.0, "root_frame": null}', '{"duration": 1.')):
            os.makedirs(base.format(step))
            with open(base.format(step) + "/python_stats.json", "w") as file:
                file.write(text)
        analysis = profiler.PyinstrumentAnalysis("run/framework/pytorch/pyinstrument")
        with self.assertLogs("gpu_tracker", "WARNING") as logs:
            (stats,) = analysis.fetch_profile_stats_by_step(0, 1)
        self.assertEqual(stats.json_stats["duration"], 1.0)
        self.assertRegex("".join(logs.output), "train-1-.*python_stats.json is not a session of pyinstrument.*skipped")
        self.assertRaisesRegex(ValueError, "train-1-.*python_stats.json", analysis.fetch_profile_stats_by_step, 1)

    def test_a_damaged_dump_is_left_out(self):
        with open(self.dump(4000000), "r+b") as file:
            file.truncate(100)
        with self.assertLogs("gpu_tracker", "WARNING") as logs:
            self.assertEqual(self.fetched(self.analysis.fetch_profile_stats_by_step(0, 2)), 5)
        self.assertEqual(len(logs.output), 1)
        self.assertRegex(logs.output[0], "python_stats.* ends too early.*skipped")
        with open(self.dump(1000000), "r+b") as file:
            file.truncate(100)
        with self.assertLogs("gpu_tracker", "WARNING"):
            by_job_phase, _ = printed(self.analysis.fetch_profile_stats_by_job_phase)
        self.assertEqual(set(by_job_phase), {"finalization", "training_loop"})

    def test_what_is_no_dump_is_refused(self):
        path = self.dump(4000000)
        with open(path, "r+b") as file:
            file.truncate(100)
        self.assertRaisesRegex(ValueError, "ends too early", self.analysis.fetch_profile_stats_by_step, 1, 2)
        self.assertRaisesRegex(FileNotFoundError, "no folder none", profiler.cProfileAnalysis, "none")
        self.assertRaisesRegex(ValueError, "aws s3 sync", profiler.cProfileAnalysis, "x", "s3://bucket/x")


if __name__ == "__main__":
    package.main()
