"""gpu-tracker report: calls and code blocks, and the sessions that files of marks belong to."""

import json
import random
from datetime import datetime, timezone

import analysis_files
from analysis_files import START, call, row, rows_of_a_session, write_marks, write_tracking
from command import main
from report_data import Report
from report_test import ReportTest, scale_of, tolerance_of


class Blocks(ReportTest):
    def calls_of(self, report):
        calls = report.sessions[0]["calls"]
        return [(calls["processes"][int(process)]["pid"], calls["names"][int(name)], start, stop, depth) for
                process, name, start, stop, depth in report.columns(calls, "process", "name", "start", "stop", "depth")]

    def test_calls_are_nested_by_process(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(11)])
        write_marks(self.folder / "m.csv", [*call(1, "outer", 0, 10), *call(1, "inner", 1, 2), *call(1, "inner", 3, 9),
                                            *call(1, "leaf", 4, 5), *call(2, "outer", 2, 6)])
        report = self.report("t.csv", "--stf", "m.csv")
        self.assertEqual(self.calls_of(report), [
            (1, "outer", 0, 10, 0), (1, "inner", 1, 2, 1), (2, "outer", 2, 6, 0), (1, "inner", 3, 9, 1),
            (1, "leaf", 4, 5, 2)])

    def test_calls_that_never_ended_are_open(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(11)])
        write_marks(self.folder / "m.csv", [(1, "outer", 0, START + 1), *call(1, "inner", 2, 3), *call(1, "left", 4, 5),
                                            (1, "left", 0, START + 6)])
        report = self.report("t.csv", "--stf", "m.csv")
        self.assertEqual(self.calls_of(report), [
            (1, "outer", 1, None, 0), (1, "inner", 2, 3, 1), (1, "left", 4, 5, 1), (1, "left", 6, None, 1)])
        blocks, names = report.sessions[0]["blocks"], report.sessions[0]["calls"]["names"]
        finished = {names[int(name)]: count for name, count in report.columns(blocks, "name", "calls")}
        self.assertEqual((finished["inner"], finished["left"]), (1, 1))
        write_marks(self.folder / "only.csv", [(1, "outer", 0, START + 1)])
        self.assertEqual(self.calls_of(self.report("only.csv")), [(1, "outer", 0, None, 0)])

    def test_a_session_that_was_killed_half_way_says_which_calls_did_not_end(self):
        """Two processes, one of which was killed in a call that the same block was under, and no thread ids."""
        write_tracking(self.folder / "t.csv", [row(second) for second in range(11)])
        write_marks(self.folder / "m.csv", [(1, "step", 0, START + 3), *call(1, "step", 4, 5), *call(2, "step", 4, 6)])
        done = self.run_report("t.csv", "--stf", "m.csv", "-o", "report.html")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = Report(self.folder / "report.html")
        blocks = report.sessions[0]["blocks"]
        # The open one is part of the time and of the samples up to the last one, at 10 s.
        self.assertEqual(report.columns(blocks, "calls", "open", "samples", "total_s"), [(2, 1, 8, 10)])
        (ram,) = [usage for usage in blocks["usage"] if usage["series"] == "combined_ram"]
        self.assertAlmostEqual(report.columns(ram, "max")[0][0], 3 * 10 * 1e9)
        self.assertEqual(self.calls_of(report), [(1, "step", 3, None, 0), (2, "step", 4, 6, 0), (1, "step", 4, 5, 1)])
        self.assertIn('Sub-tracking file m.csv: 1 call did not end: "step" (7 s up to the end of the session).',
                      report.sessions[0]["warnings"])

    def test_a_session_ends_on_the_clock_of_its_curves(self):
        """They begin with the first sample, here 2 seconds after the session."""
        moment = lambda second: datetime.fromtimestamp(START + second, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        write_tracking(self.folder / "t.csv", [row(second) for second in range(2, 11)])
        (self.folder / "t.csv.session.json").write_text(json.dumps(
            {"tracking_file": "t.csv", "host": "h", "pid": 1, "start": moment(0), "end": moment(10.5)}))
        write_marks(self.folder / "m.csv", [(1, "open", 0, START + 4)])
        report = self.report("t.csv", "--stf", "m.csv")
        identity = report.sessions[0]["identity"]
        self.assertEqual([identity[name] for name in ("start_timestamp", "seconds", "end_s")], [START + 2, 10.5, 8.5])
        self.assertIn('"open" (6.5 s up to the end of the session)', report.sessions[0]["warnings"][0])
        done = self.run_report("t.csv", "--stf", "m.csv", "-f", "speedscope")
        self.assertEqual(json.loads(done.stdout)["profiles"][0]["endValue"], 8.5)

    def test_many_short_calls_take_few_bytes(self):
        """Most differences of their times are a byte or two, in steps that the file itself has."""
        source, moment, marks, wanted = random.Random(5), START, [], []
        for _ in range(5000):
            start = moment + source.uniform(1e-6, 2e-6)
            moment = start + source.uniform(1e-5, 2e-5)
            marks += [(1, "step", 0, start), (1, "step", 1, moment)]
            wanted.append((start - marks[0][3], moment - marks[0][3]))
        write_marks(self.folder / "m.csv", marks)
        report = self.report("m.csv")
        calls = report.sessions[0]["calls"]
        self.assertEqual(report.columns(calls, "start", "stop"), wanted)
        self.assertEqual(calls["start"]["offset"], calls["stop"]["offset"])
        self.assertLess(calls["start"]["bytes"], 3.1 * len(wanted))

    def test_blocks_have_the_figures_of_the_analysis(self):
        rows = [row(second) for second in range(11)]
        calls = [(1, "train", 1.5, 4.5), (2, "train", 6, 7), (1, "load", 0, 1)]
        write_tracking(self.folder / "t.csv", rows)
        write_marks(self.folder / "m.csv", [mark for one in calls for mark in call(*one)])
        report = self.report("t.csv", "--stf", "m.csv")
        blocks, names = report.sessions[0]["blocks"], report.sessions[0]["calls"]["names"]
        wanted = analysis_files.expected(rows, calls)["code_block_results"]
        self.assertEqual([names[index] for index in report.column(blocks["name"])], [block["name"] for block in wanted])
        self.assertEqual(report.columns(blocks, "calls", "samples"),
                         [(block["num_calls"], block["num_timepoints"]) for block in wanted])
        self.assert_series(report.column(blocks["total_s"]), [block["compute_time"]["total"] for block in wanted], 1e-6)
        for usage in blocks["usage"]:
            for statistic in "min", "max", "mean", "std":
                expected = [block["resource_usage"][usage["series"]][statistic] * scale_of(usage["series"])
                            for block in wanted]
                self.assert_series(report.column(usage[statistic]), expected, tolerance_of(usage["series"]))

    def test_blocks_have_what_was_counted_in_their_calls(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(11)])
        header = "process_id,code_block_name,position,timestamp,thread_id,thread_cpu_ns,instructions,block_peak_rss_bytes"
        rows = [(0, 1, 0, 10, 4096), (1, 2, 500000000, 70, 9000), (0, 3, 600000000, 80, 4096), (1, 4, 800000000, 90, 8192)]
        lines = [f"1,a,{position},{START + second},1,{cpu},{count},{peak}" for position, second, cpu, count, peak in rows]
        (self.folder / "m.csv").write_text("\n".join([header, *lines, ""]))
        report = self.report("t.csv", "--stf", "m.csv")
        exact = {one["figure"]: one for one in report.sessions[0]["blocks"]["exact"]}
        self.assertEqual(report.column(exact["instructions"]["total"]), [70])
        self.assertEqual(report.column(exact["block_peak_rss"]["max"]), [9000])
        self.assert_series(report.column(exact["thread_cpu_time"]["total"]), [0.7], 1e-6)
        self.assertEqual({exact[name]["unit"] for name in ("instructions", "block_peak_rss")}, {"count", "bytes"})
        self.assert_series(report.column(exact["process_cpu_time"]["total"]), [None], 1e-6)

    def test_blocks_have_their_categories(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(5)])
        names = ["nvtx:a/x [load]", "nvtx:a/y", "plain [3]"]
        label = call(1, "[gpu-tracker] category: nvtx:a [load]", 0, 0)
        write_marks(self.folder / "m.csv", [*label, *(mark for name in names for mark in call(1, name, 0, 2))])
        self.assertEqual(self.report("t.csv", "--stf", "m.csv").sessions[0]["blocks"]["category"], ["load", None, None])

    def test_marks_without_samples_have_durations(self):
        write_marks(self.folder / "m.csv", [*call(1, "a", 0, 2), *call(1, "a", 3, 4)])
        report = self.report("m.csv")
        self.assertEqual(report.sessions[0]["kind"], "marks")
        blocks = report.sessions[0]["blocks"]
        self.assertEqual(report.columns(blocks, "calls", "total_s"), [(2, 3)])
        self.assertEqual([round(report.column(blocks["call_s"][name])[0], 6) for name in ("min", "max", "mean")], [1, 2, 1.5])

    def test_several_files_of_marks_are_of_the_only_session(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(5)])
        write_marks(self.folder / "a.csv", call(1, "a", 0, 2))
        write_marks(self.folder / "b.sqlite", call(2, "b", 1, 3))
        report = self.report("t.csv", "--stf", "a.csv", "--stf", "b.sqlite")
        self.assertEqual(self.calls_of(report), [(1, "a", 0, 2, 0), (2, "b", 1, 3, 0)])

    def test_calls_before_and_after_the_session_are_left_out(self):
        """A file of marks that an earlier run left, say: the session and its blocks stay as they are."""
        write_tracking(self.folder / "t.csv", [row(second) for second in range(11)])
        inside = [*call(1, "step", -0.5, 2), *call(1, "step", 3, 4), (1, "open", 0, START + 5)]
        outside = [*call(2, "step", -300, -290), *call(2, "late", 20, 30), (2, "open", 0, START - 280)]
        write_marks(self.folder / "m.csv", [*inside, *outside])
        done = self.run_report("t.csv", "--stf", "m.csv", "-o", "report.html")
        self.assertEqual((done.returncode, done.stderr), (0, "gpu-tracker: warning: Sub-tracking file m.csv: 3 calls are before or after the "
                         "session, by up to 4 min 49 s, and skipped: they seem to be of another run.\n"))
        report = Report(self.folder / "report.html")
        self.assertEqual(report.sessions[0]["identity"]["seconds"], 10)
        self.assertEqual(self.calls_of(report), [(1, "step", -0.5, 2, 0), (1, "step", 3, 4, 0), (1, "open", 5, None, 0)])
        blocks, names = report.sessions[0]["blocks"], report.sessions[0]["calls"]["names"]
        (step,) = [found for found in report.columns(blocks, "name", "calls", "total_s") if names[int(found[0])] == "step"]
        self.assertEqual(step[1:], (2, 3.5))
        self.assertFalse([name for name, in report.columns(blocks, "name") if names[int(name)] == "late"])

    def test_warnings_name_the_files_that_were_read_together(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(5)])
        write_marks(self.folder / "t.a.csv", [*call(1, "a", 0, 2), (1, "o", 0, START + 3)])
        write_marks(self.folder / "t.b.csv", call(2, "b", 1, 2))
        report = self.report(".")
        self.assertEqual(report.sessions[0]["warnings"],
                         ['Sub-tracking file ./t.a.csv, ./t.b.csv: 1 call did not end: "o" (1 s up to the end of the session).'])

    def test_marks_go_to_the_session_at_their_place(self):
        for name in "x.csv", "y.csv":
            write_tracking(self.folder / name, rows_of_a_session(*range(5)))
        write_marks(self.folder / "first.csv", call(1, "a", 0, 2))
        write_marks(self.folder / "second.csv", call(2, "b", 1, 3))
        report = self.report("x.csv", "y.csv", "--stf", "first.csv", "--stf", "second.csv")
        self.assertEqual([session["calls"]["names"] for session in report.sessions], [["a"], ["b"]])

    def test_marks_among_sessions_of_none_are_said(self):
        for name in "x.csv", "y.csv":
            write_tracking(self.folder / name, rows_of_a_session(1))
        write_marks(self.folder / "m.csv", call(1, "a", 0, 2))
        done = self.run_report("x.csv", "y.csv", "m.csv")
        self.assertEqual((done.returncode, done.stderr.count("the marks in m.csv belong to: they are shown as a session of their own")), (0, 1), done.stderr)
        for arguments in ["x.csv", "m.csv"], ["m.csv"]:
            self.assertEqual(self.run_report(*arguments, "-o", "r.html").stderr, "")

    def test_marks_of_no_clear_session_are_refused(self):
        for name in "x.csv", "y.csv":
            write_tracking(self.folder / name, rows_of_a_session(1))
        write_marks(self.folder / "m.csv", call(1, "a", 0, 2))
        self.assert_fails(self.run_report("x.csv", "y.csv", "--stf", "m.csv"), 1,
                          "Which session m.csv belongs to is not clear: there are 2 sessions and 1 sub-tracking files. Name "
                          "one for each session, in the same order.")


if __name__ == "__main__":
    main()
