"""gpu-tracker report -f and --perfetto: the figures of a report for other programs."""

import csv
import datetime
import json
import marshal
import os
import pstats
import re
import subprocess
import sys
import urllib.request

from analysis_files import MEASUREMENTS, START, STATIC, call, row, rows_of_a_session, write_marks, write_tracking
from command import main, wait_until
from report_test import ReportTest

GIGABYTE = 1e9


def scale_of(name):
    return GIGABYTE if name.endswith("_ram") else 1


def tolerance_of(name):
    return 0.5 if name.endswith("_ram") or name.endswith("_threads") else 0.0005001


class Exports(ReportTest):
    """report -f: the figures of the page for other programs."""

    def setUp(self):
        super().setUp()
        del self.environment["GPUT_REPORT_PAGE"]  # exports need no page
        self.rows = [row(second) for second in range(11)]
        self.rows[3][0] = ""
        write_tracking(self.folder / "t.csv", self.rows)
        write_marks(self.folder / "m.csv", [*call(1, "fit;all", 1, 9), *call(1, 'step, "a"', 2, 3), *call(1, 'step, "a"', 5, 7),
                                            *call(2, "load", 0, 4), (1, "left", 0, START + 8)])

    def export(self, form, *sessions):
        done = self.run_report(*(sessions or ("t.csv", "--stf", "m.csv")), "-f", form)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def table(self, name):
        with open(self.folder / "out" / f"{name}.csv", newline="") as file:
            return list(csv.DictReader(file))

    def export_tables(self, *sessions):
        done = self.run_report(*sessions, "-f", "csv", "-o", "out")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_json_has_columns_as_arrays(self):
        session = json.loads(self.export("json"))["sessions"][0]
        self.assert_series(session["times"][0], range(11), 1e-6)
        for index, series in enumerate(session["series"]):
            wanted = [None if one[index] == "" else one[index] * scale_of(series["id"]) for one in self.rows]
            self.assert_series(series["values"], wanted, tolerance_of(series["id"]))
        self.assertEqual(session["calls"]["stop"], [4, 9, 3, 7, None])

    def test_sessions_say_what_ran_and_where(self):
        self.environment.update(OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="1")
        options = ["run", "-q", "--tf", "s.sqlite", "-o", "s.json", "-f", "json", "--limit", "ram=64MB", "--", "true"]
        self.assertEqual(self.run_command(*options, env=self.environment).returncode, 0)
        self.export_tables("s.sqlite")
        (tracked,) = self.table("sessions")
        (self.folder / "s.sqlite").unlink()
        self.export_tables("s.json")
        (results,) = self.table("sessions")
        identity = json.loads((self.folder / "s.json").read_text())["identity"]
        for row in tracked, results:
            self.assertEqual([row[name] for name in ("program", "host", "user", "pid", "rank", "world_size", "exit_status", "allowed_ram_bytes")],
                             ["true", identity["host"], identity["user"], str(identity["pid"]), "0", "1", "0", "64000000"])
        start = datetime.datetime.fromisoformat(identity["start"].replace("Z", "+00:00")).timestamp()
        self.assertAlmostEqual(float(results["start_timestamp"]), start, delta=1e-5)

    def test_csv_is_a_folder_of_tables(self):
        self.export_tables("t.csv", "--stf", "m.csv")
        samples = self.table("samples")
        self.assertEqual([one["main_ram"] for one in samples][:5], ["0", "1000000000", "2000000000", "", "4000000000"])
        self.assertEqual([one["time"] for one in samples], [str(second) for second in range(11)])
        self.assertEqual([(one["process"], one["name"], one["start"], one["stop"], one["depth"]) for one in self.table("calls")],
                         [("2", "load", "0", "4", "0"), ("1", "fit;all", "1", "9", "0"), ("1", 'step, "a"', "2", "3", "1"),
                          ("1", 'step, "a"', "5", "7", "1"), ("1", "left", "8", "", "1")])
        blocks = {one["name"]: one for one in self.table("blocks")}
        self.assertEqual((blocks['step, "a"']["calls"], blocks['step, "a"']["total"]), ("2", "3"))
        self.assertEqual(blocks["fit;all"]["main_ram_max"], "9000000000")
        self.assertEqual({one["id"]: one["unit"] for one in self.table("series")}["main_ram"], "bytes")
        self.assertEqual([(one["name"], one["kind"]) for one in self.table("sessions")], [("t.csv", "tracking")])
        # Again: files are replaced.
        self.export_tables("t.csv")
        self.assertEqual(len(self.table("samples")), 11)

    def test_no_table_has_figures_of_gpus_that_are_not_there(self):
        """Tracking files have zeros for them."""
        def without_gpus(rows):
            return [[0 if "gpu" in name else value for name, value in zip(MEASUREMENTS + ["timestamp"], one)] for one in rows]
        static = {**STATIC, "system_gpu_count": 0}
        write_tracking(self.folder / "t.csv", without_gpus(self.rows), static=static)
        write_tracking(self.folder / "u.csv", without_gpus(self.rows[4:]), static=static)
        (self.folder / "m.csv").rename(self.folder / "t-blocks.csv")  # of t.csv, by its name
        self.export_tables("t.csv", "u.csv", "t-blocks.csv")
        for name in "1-blocks", "1-samples", "1-series", "1-figures", "mean", "max":
            found = [one for one in self.table(name) for cell in [*one, *one.values()] if "gpu" in cell and one.get("value") != ""]
            self.assertEqual(found, [], name)
        # One of them has a GPU: it is missing in the other.
        write_tracking(self.folder / "u.csv", self.rows[4:])
        self.export_tables("t.csv", "u.csv")
        values = {(one["measurement"], one["session"]): one["value"] for one in self.table("max")}
        self.assertEqual([values["main_gpu_ram", name] for name in ("t.csv", "u.csv")], ["", "50000000000"])

    def test_several_sessions_are_numbered(self):
        write_tracking(self.folder / "u.csv", rows_of_a_session(*range(4)))
        self.export_tables("t.csv", "u.csv")
        self.assertEqual([one["name"] for one in self.table("sessions")], ["t.csv", "u.csv"])
        self.assertEqual((len(self.table("1-samples")), len(self.table("2-samples"))), (11, 4))
        self.assertIn("percent_change", self.table("mean")[0])

    def test_speedscope_has_a_profile_for_each_thread(self):
        document = json.loads(self.export("speedscope"))
        self.assertEqual(document["$schema"], "https://www.speedscope.app/file-format-schema.json")
        frames = [frame["name"] for frame in document["shared"]["frames"]]
        found = {}
        for profile in document["profiles"]:
            self.assertEqual((profile["type"], profile["unit"], profile["startValue"]), ("evented", "seconds", 0))
            found[profile["name"]] = [(event["type"], frames[event["frame"]], event["at"]) for event in profile["events"]]
            open_frames, last = [], 0
            for kind, frame, at in found[profile["name"]]:
                self.assertGreaterEqual(at, last)
                last = at
                if kind == "O":
                    open_frames.append(frame)
                else:
                    self.assertEqual(open_frames.pop(), frame)
            self.assertEqual(open_frames, [])
            self.assertLessEqual(last, profile["endValue"])
        self.assertEqual(found["t.csv: 2, thread 2"], [("O", "load", 0), ("C", "load", 4)])
        self.assertEqual(found["t.csv: 1, thread 1"][:3], [("O", "fit;all", 1), ("O", 'step, "a"', 2), ("C", 'step, "a"', 3)])

    def test_stacks_of_many_processes(self):
        """30,000 of them: the time is not to grow with the square of their number."""
        count = 30_000
        events = [{"ph": "X", "pid": i, "tid": i, "ts": i, "dur": 1, "name": "step"} for i in range(count)]
        (self.folder / "many.json").write_text(json.dumps({"traceEvents": events}))
        lines = self.export("collapsed", "many.json").splitlines()
        self.assertEqual(len(lines), count)
        self.assertEqual(len({line.split(";")[0] for line in lines}), count)
        self.assertEqual(len(json.loads(self.export("speedscope", "many.json"))["profiles"]), count)

    def test_collapsed_has_own_time_in_microseconds(self):
        self.assertEqual(sorted(self.export("collapsed").splitlines()), sorted([
            "1, thread 1;fit:all 5000000", '1, thread 1;fit:all;step, "a" 3000000', "1, thread 1;left 2000000",
            "2, thread 2;load 4000000"]))

    def test_several_sessions_are_stacks_of_their_own(self):
        write_tracking(self.folder / "u.csv", rows_of_a_session(*range(8)))
        lines = self.export("collapsed", "t.csv", "u.csv", "--stf", "m.csv", "--stf", "m.csv").splitlines()
        self.assertIn("u.csv;2, thread 2;load 4000000", lines)

    def test_events_of_a_trace_are_stacks_too(self):
        events = [{"ph": "X", "name": name, "pid": 1, "tid": 2, "ts": start, "dur": length} for name, start, length in
                  (("outer", 100, 50), ("inner", 110, 20))]
        (self.folder / "trace.json").write_text(json.dumps({"traceEvents": events}))
        self.assertEqual([line.split(";")[-1] for line in self.export("collapsed", "trace.json").splitlines()],
                         ["outer 30", "inner 20"])

    def test_deep_stacks_cost_no_more_than_their_events(self):
        # With a search through all open calls at each event this takes minutes.
        depth = 60_000
        events = [{"ph": "X", "name": f"f{i % 7}", "pid": 1, "tid": 2, "ts": i, "dur": 4 * depth - 2 * i} for i in range(depth)]
        (self.folder / "trace.json").write_text(json.dumps({"traceEvents": events}))
        (profile,) = json.loads(self.export("speedscope", "trace.json"))["profiles"]
        self.assertEqual([event["type"] for event in profile["events"]], ["O"] * depth + ["C"] * depth)

    def test_calls_that_overlap_cost_no_more_than_their_number(self):
        # With each of them closed and opened again where another one ends this takes hours.
        count = 60_000
        events = [{"ph": "X", "name": "task", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 10 * count} for i in range(count)]
        (self.folder / "trace.json").write_text(json.dumps({"traceEvents": events}))
        self.assertEqual(len(json.loads(self.export("speedscope", "trace.json"))["profiles"]), count)
        (line,) = self.export("collapsed", "trace.json").splitlines()
        self.assertEqual(line.split(";")[-1], f"task {10 * count * count}")

    def test_sessions_of_pyinstrument_are_stacks(self):
        def frame(name, seconds, *children):
            return {"function": name, "file_path_short": "a.py", "line_no": 1, "time": seconds, "children": list(children)}
        root = frame("main", 4.0, frame("load", 1.0, frame("[self]", 0.25), frame("read", 0.75)), frame("fit", 2.5))
        (self.folder / "p.json").write_text(json.dumps({"start_time": 1e9, "duration": 4.0, "sample_count": 4000, "root_frame": root}))
        self.assertEqual(sorted(self.export("collapsed", "p.json").splitlines()), sorted([
            "Python, thread 0;a.py:1(main) 500000", "Python, thread 0;a.py:1(main);a.py:1(load) 250000",
            "Python, thread 0;a.py:1(main);a.py:1(load);a.py:1(read) 750000", "Python, thread 0;a.py:1(main);a.py:1(fit) 2500000"]))
        (session,) = json.loads(self.export("json", "p.json"))["sessions"]
        self.assertEqual((session["kind"], [table["id"] for table in session["tables"]]), ("python", ["python_functions"]))

    def test_dumps_of_cprofile_are_stacks_by_the_shares_of_callers(self):
        def function(name):
            return "a.py", 1, name
        # Primitive calls, calls, own and cumulative seconds, callers: leaf took 3 s of which b had 2; it calls itself.
        stats = {function("main"): (1, 1, 1.0, 8.0, {}),
                 function("a"): (1, 1, 1.0, 2.0, {function("main"): (1, 1, 1.0, 2.0)}),
                 function("b"): (1, 1, 3.0, 5.0, {function("main"): (1, 1, 3.0, 5.0)}),
                 function("leaf"): (2, 3, 2.4, 3.0, {function("a"): (1, 1, 0.8, 1.0), function("b"): (1, 1, 1.6, 2.0), function("leaf"): (0, 1, 0.0, 0.5)}),
                 function("end"): (1, 1, 0.6, 0.6, {function("leaf"): (1, 1, 0.6, 0.6)}),
                 function("short"): (1, 1, 1e-6, 1e-6, {function("b"): (1, 1, 1e-6, 1e-6)})}
        (self.folder / "p.prof").write_bytes(marshal.dumps(stats))
        stack = "Python, thread 0;a.py:1(main)"
        self.assertEqual(sorted(self.export("collapsed", "p.prof").splitlines()), sorted([
            f"{stack} 1000000", f"{stack};a.py:1(a) 1000000", f"{stack};a.py:1(b) 3000000",
            f"{stack};a.py:1(a);a.py:1(leaf) 800000", f"{stack};a.py:1(a);a.py:1(leaf);a.py:1(end) 200000",
            f"{stack};a.py:1(b);a.py:1(leaf) 1600000", f"{stack};a.py:1(b);a.py:1(leaf);a.py:1(end) 400000"]))
        (session,) = json.loads(self.export("json", "p.prof"))["sessions"]
        (table,) = session["tables"]
        self.assertEqual(table["rows"][:3], [["a.py:1(b)", 1, 3.0, 5.0], ["a.py:1(leaf)", 3, 2.4, 3.0], ["a.py:1(main)", 1, 1.0, 8.0]])

    def test_real_dumps_of_cprofile_have_the_stacks_of_the_program(self):
        (self.folder / "p.py").write_text("import json\ndef work():\n    for _ in range(30): json.dumps(list(range(20000)))\nwork()\n")
        subprocess.run([sys.executable, "-m", "cProfile", "-o", "p.prof", "p.py"], cwd=self.folder, check=True)
        stacks = dict(line.rsplit(" ", 1) for line in self.export("collapsed", "p.prof").splitlines())
        (encode,) = [stack for stack in stacks if re.search(r"p\.py:1\(<module>\);p\.py:2\(work\);json/__init__\.py:\d+\(dumps\);json/encoder\.py:\d+\(encode\)$", stack)]
        self.assertGreater(int(stacks[encode]), 0)

    def test_a_recursion_loses_no_time_of_a_dump_of_cprofile(self):
        (self.folder / "slow.py").write_text("import time\ntime.sleep(0.3)\n")
        (self.folder / "p.py").write_text("import slow, time\ndef work(): time.sleep(0.1)\nwork()\n")
        for arguments in (["p.py"], ["-m", "p"]):
            subprocess.run([sys.executable, "-m", "cProfile", "-o", "p.prof", *arguments], cwd=self.folder, check=True)
            stats = pstats.Stats(str(self.folder / "p.prof"))
            stacks = [line.rsplit(" ", 1) for line in self.export("collapsed", "p.prof").splitlines()]
            self.assertAlmostEqual(sum(int(time) for _, time in stacks) / 1e6, stats.total_tt, delta=0.01 * stats.total_tt)
            for function in ("slow.py:1(<module>)", "p.py:2(work)"):
                (expected,) = [row[3] for key, row in stats.stats.items() if pstats.func_std_string(key).endswith(function)]
                self.assertAlmostEqual(sum(int(time) for stack, time in stacks if function in stack) / 1e6, expected, delta=0.01 * stats.total_tt)

    def test_a_recursion_from_several_callers_is_shared_by_its_calls(self):
        def function(name):
            return "a.py", 1, name
        # f was called from outside for 3 s, and by g, which was called from outside, for 1 s; h calls it again within its time.
        stats = {function("f"): (2, 3, 1.0, 4.0, {function("g"): (1, 1, 0.2, 1.0), function("h"): (1, 1, 0.3, 1.5)}),
                 function("g"): (1, 1, 0.5, 1.5, {}),
                 function("h"): (2, 2, 3.0, 3.5, {function("f"): (2, 2, 3.0, 3.5)})}
        (self.folder / "p.prof").write_bytes(marshal.dumps(stats))
        lines = self.export("collapsed", "p.prof").splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), 4_500_000)
        self.assertTrue(any(line.startswith("Python, thread 0;a.py:1(g);a.py:1(f)") for line in lines), lines)

    def test_what_cannot_be_exported_is_refused(self):
        self.assert_fails(self.run_report("t.csv", "-f", "speedscope"), 1, "There are no code blocks and no slices of a trace: nothing to make stacks "
                          "of. --stf names a sub-tracking file.")
        self.assert_fails(self.run_report("t.csv", "-f", "csv", "-o", "-"), 1, "There are several tables, for which -o names a folder: the "
                          "standard output takes json, speedscope or collapsed.")
        self.assert_fails(self.run_report("t.csv", "-f", "csv", "-o", "m.csv"), 1, "m.csv is a file; tables go to a folder, a file each. "
                          "Name another one.")
        self.assert_fails(self.run_report("t.csv", "-f", "pdf"), 1, '"pdf" is not a valid format. Valid values are "html", "json", "csv", '
                          '"parquet", "arrow", "speedscope" or "collapsed".')
        self.assert_fails(self.run_report("t.csv", "--perfetto", "-f", "csv"), 1, "--perfetto has its own format: use it without -f.")

    def use_python(self, script):
        """A program that `report` takes for Python."""
        path = self.folder / "python"
        path.write_text(f'#!/bin/sh\ncase "$*" in *"SystemExit(86)") exit 86;; esac\n{script}\n')
        path.chmod(0o755)
        self.environment["GPUT_PYTHON"] = str(path)

    def test_parquet_is_written_by_the_python_package(self):
        self.use_python('shift 2; printf "%s\\n" "$@"; exit 3')
        for arguments, passed in (
            (["t.csv", "-o", "x.parquet"], ["parquet", "x.parquet", "session", "", "t.csv"]),
            (["t.csv", "-o", "x.PARQUET"], ["parquet", "x.PARQUET", "session", "", "t.csv"]),
            (["first=t.csv", "--stf", "m.csv", "-f", "arrow"], ["arrow", "report-arrow", "session", "first", "t.csv", "stf", "", "m.csv"]),
            (["-f", "parquet", "-o", "x.json", "--", "-t.csv"], ["parquet", "x.json", "session", "", "-t.csv"]),
        ):
            done = self.run_report(*arguments)
            self.assertEqual((done.returncode, done.stdout.splitlines(), done.stderr), (3, passed, ""), arguments)

    def test_parquet_without_the_package_or_python(self):
        (self.folder / "gpu_tracker.py").write_text("raise SystemExit('not ours')\n")  # what lies in a folder is not a package
        self.use_python(f'exec "{sys.executable}" -E -S "$@"')
        done = self.run_report("t.csv", "-o", "x.png")
        self.assertEqual((done.returncode, (self.folder / "x.png").exists()), (1, False))
        self.assertIn("x.png has the extension of a picture", done.stderr)
        for name in "x.sqlite", "x.SQLite3", "x.db":
            self.assert_fails(self.run_report("t.csv", "-o", name), 1, f"{name} has the extension of a tracking file: use .html; a page holds all that it shows")
            self.assertFalse((self.folder / name).exists())
        done = self.run_report("t.csv", "-o", "x.parquet")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^gpu-tracker: The Python package gputracker writes Parquet and Arrow files, and \S+ has none that does: "
                         r"No module named .*\(pip install gputracker pyarrow\).*GPUT_PYTHON.*-f csv\.\n$")
        for program in "false", "true":
            self.environment["GPUT_PYTHON"] = program
            self.assert_fails(self.run_report("t.csv", "-o", "x.parquet"), 1, f"GPUT_PYTHON={program} is not a Python interpreter: name one with the package "
                              "gputracker, which writes Parquet and Arrow files. The same tables as text: -f csv.")
        self.environment["GPUT_PYTHON"] = "/nowhere/python"
        self.assert_fails(self.run_report("t.csv", "-f", "arrow"), 1, "Cannot execute /nowhere/python: No such file or directory. The Python "
                          "package gputracker writes Parquet and Arrow files: GPUT_PYTHON=/path/to/python names a Python that has it. The same "
                          "tables as text: -f csv.")
        self.assert_fails(self.run_report("t.csv", "-f", "arrow", "-o", "-"), 1, "-o names a folder for the tables, or a file x.arrow for the "
                          "samples.")

    def test_the_ending_says_the_format(self):
        done = self.run_report("t.csv", "-o", "x.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("sessions", json.loads((self.folder / "x.json").read_text()))
        self.assert_fails(self.run_report("t.csv", "-o", "x.csv"), 1, "A report is several tables: as CSV they go to a folder, -f csv -o FOLDER.")
        self.assertFalse((self.folder / "x.csv").exists())


class Perfetto(ReportTest):
    def serve(self, *arguments):
        (self.folder / "tmp").mkdir()
        environment = self.environment | {"GPUT_PERFETTO_ADDRESS": "127.0.0.1:0", "TMPDIR": str(self.folder / "tmp")}
        process = self.start_command("report", "--perfetto", *arguments, env=environment)
        url = process.stdout.readline().strip()
        self.assertTrue(url.startswith("https://ui.perfetto.dev/#!/?url=http://127.0.0.1:"), process.stderr.read() if not url else url)
        return process, url.partition("url=")[2]

    def test_the_timeline_is_given_once_to_the_page(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(5)])
        write_marks(self.folder / "m.csv", call(1, "fit", 1, 3))
        process, url = self.serve("t.csv", "--stf", "m.csv")
        with urllib.request.urlopen(url) as answer:
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], "https://ui.perfetto.dev")
            events = json.load(answer)
        events = events["traceEvents"] if isinstance(events, dict) else events
        self.assertIn("fit", {event.get("name") for event in events})
        self.assertEqual(process.wait(), 0)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_a_signal_ends_it(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(5)])
        process, _ = self.serve("t.csv", "-o", "kept.json")
        process.terminate()
        self.assertNotEqual(process.wait(), 0)
        self.assertIn("was not fetched", process.stderr.read())
        json.loads((self.folder / "kept.json").read_text())

    def test_a_signal_ends_it_where_the_address_has_no_reader(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in range(5)])
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)
        os.set_blocking(theirs, False)
        for size in 65536, 1:
            with self.assertRaises(BlockingIOError):
                while True:
                    os.write(theirs, b"x" * size)
        os.set_blocking(theirs, True)
        process = self.start_command("report", "--perfetto", "t.csv", "-o", "kept.json", stdout=theirs,
                                     env=self.environment | {"GPUT_PERFETTO_ADDRESS": "127.0.0.1:0"})
        os.close(theirs)
        wait_until((self.folder / "kept.json").exists, "the timeline")
        wait_until(lambda: process.poll() is not None or process.terminate(), "the end")


if __name__ == "__main__":
    main()
