"""HTML reports and pictures from Python: what they show is what the files have."""

import base64
import importlib.util
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

import package
import gpu_tracker

sys.path.append(str(package.SOURCE / "tests" / "cli"))
from analysis_files import call, row, write_marks, write_tracking
from report_data import Report, use_page
from svg_chart import Chart


class Reports(package.PackageTest):
    def setUp(self):
        super().setUp()
        use_page(self)
        write_tracking(self.folder / "t.csv", [row(second) for second in range(1, 12)])
        write_tracking(self.folder / "u.csv", [row(second, 0.5) for second in range(1, 8)])
        write_marks(self.folder / "m.csv", call(7, "load <x>", 2, 4))

    def tracked(self, **options):
        with gpu_tracker.Tracker(sleep_time=0.02, disable_logs=True, **options) as tracker:
            held = bytearray(50_000_000)
            time.sleep(0.15)
        self.assertGreater(len(held), 0)
        return tracker

    def test_a_plot_is_a_file(self):
        self.assertIsNone(gpu_tracker.plot("t.csv", self.folder / "x.svg", figures=["main_ram"], size=(88, 50), title="Title"))
        chart = Chart((self.folder / "x.svg").read_text())
        self.assertAlmostEqual(chart.size[0] * 25.4 / 72, 88, delta=0.01)
        self.assertAlmostEqual(max(chart.line().values()), 11e9, delta=chart.line().resolution[0])
        self.assertIn("Title", chart.texts)

    def test_without_a_file_it_is_a_picture_for_notebooks(self):
        picture = gpu_tracker.plot(["t.csv", "u.csv"], figures=["ram"], start=2, end=5.5)
        chart = Chart(picture._repr_svg_())
        self.assertEqual({line.name for line in chart.panels[0]}, {"t.csv", "u.csv"})
        line = chart.line(0, "t.csv")
        self.assertAlmostEqual(max(line.values()), 3 * 6.5e9, delta=line.resolution[0])
        image = re.fullmatch(r'<img alt="RAM .*" src="data:image/svg\+xml;base64,(.*)"/>', picture._repr_html_())
        self.assertEqual(base64.b64decode(image[1]).decode(), picture.svg)
        picture.save("x.svg")
        self.assertEqual((self.folder / "x.svg").read_text(), picture.svg)

    def test_code_blocks(self):
        chart = Chart(gpu_tracker.plot("t.csv", sub_tracking_files="m.csv", blocks=True).svg)
        self.assertEqual(set(chart.rows), {"load <x>"})

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_tables_as_parquet_and_arrow_files(self):
        import pyarrow.ipc
        import pyarrow.parquet

        count = 70_000  # more than a part has
        write_tracking(self.folder / "long.csv", [row(second) for second in range(1, count + 1)])
        gpu_tracker.report("long.csv", "parquet", sub_tracking_files="m.csv", format="parquet")
        samples = pyarrow.parquet.read_table(self.folder / "parquet" / "samples.parquet")
        self.assertEqual(samples.num_rows, count)
        self.assertEqual(samples["combined_ram"].to_pylist()[-1], 3e9 * count)
        self.assertEqual(samples.schema.field("combined_ram").metadata, {b"unit": b"bytes"})
        (self.folder / "u.csv.session.json").write_text('{"tracking_file": "u.csv", "start": "2025-04-23T23:06:49.000000Z", "host": "n1", "rank": 3, "job_id": "47"}')
        gpu_tracker.report(["t.csv", "u.csv"], "arrow", format="arrow")
        with pyarrow.ipc.open_file(self.folder / "arrow" / "2-series.arrow") as file:
            known = json.loads(file.schema.metadata[b"gpu_tracker"])
        self.assertEqual([known[name] for name in ("session", "name", "host", "rank", "job_id")], [2, "u.csv", "n1", 3, "47"])
        self.assertEqual(json.loads(samples.schema.metadata[b"gpu_tracker"])["name"], "long.csv")
        with pyarrow.ipc.open_file(self.folder / "arrow" / "2-samples.arrow") as file:
            self.assertEqual(file.read_all()["time"].to_pylist(), [float(i) for i in range(7)])
        blocks = pyarrow.parquet.read_table(self.folder / "parquet" / "blocks.parquet").to_pylist()
        self.assertEqual([(block["name"], block["calls"], block["total"]) for block in blocks], [("load <x>", 1, 2)])
        for name in "parquet", "arrow":
            self.assertEqual([path for path in os.listdir(name) if path.endswith(".part")], [])

    def test_ids_and_counts_are_whole_numbers(self):
        from gpu_tracker import _native
        from gpu_tracker.table import Table

        subprocess.run([os.environ["GPUT_COMMAND"], "run", "-q", "--processes", "--tf", "t.sqlite", "--", "true"], check=True)
        write_marks(self.folder / "n.csv", call(7, "load <x>", 2, 4))
        types = {}
        for paths, marks in (["t.sqlite"], []), (["t.csv"], ["n.csv"]):
            _native.report_tables(paths, lambda tables: types.update({name: Table(table).types for name, table in tables.items()}), marks=marks)
        for table, columns in (("sessions", "session exit_status pid rank"), ("processes", "pid parent exit_status signal"),
                               ("calls", "depth"), ("blocks", "calls samples")):
            for column in columns.split():
                self.assertEqual(types[table].get(column), types["sessions"]["session"], (table, column))
        self.assertNotEqual(types["blocks"]["total"], types["sessions"]["session"])

    def test_the_ending_says_the_format_in_either_case(self):
        from gpu_tracker._table_files import format_of

        self.assertEqual([format_of(name) for name in ("x.parquet", "x.PARQUET", pathlib.Path("x.Arrow"), "x.html", "parquet")],
                         ["parquet", "parquet", "arrow", None, None])

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_samples_as_one_file(self):
        import pyarrow.ipc
        import pyarrow.parquet

        gpu_tracker.report("t.csv", "x.parquet")
        samples = pyarrow.parquet.read_table(self.folder / "x.parquet")
        self.assertEqual(samples["combined_ram"].to_pylist(), [3e9 * second for second in range(1, 12)])
        self.assertNotIn("session", samples.column_names)
        gpu_tracker.report(["t.csv", "u.csv"], "x.arrow")
        with pyarrow.ipc.open_file(self.folder / "x.arrow") as file:
            samples = file.read_all()
        self.assertEqual([known["name"] for known in json.loads(samples.schema.metadata[b"gpu_tracker"])["sessions"]], ["t.csv", "u.csv"])
        self.assertEqual(list(zip(*samples.select(["session", "name", "time"]).to_pydict().values())),
                         [(1, "t.csv", float(i)) for i in range(11)] + [(2, "u.csv", float(i)) for i in range(7)])
        self.assertEqual(samples.schema.field("combined_ram").metadata, {b"unit": b"bytes"})
        with self.assertRaisesRegex(ValueError, "There are no samples for y.parquet"):
            gpu_tracker.report("m.csv", "y.parquet")
        self.assertEqual([name for name in os.listdir() if "y.parquet" in name], [])

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_samples_of_several_time_axes_are_all_in_the_file(self):
        import pyarrow.parquet

        tracked = [os.environ["GPUT_COMMAND"], "run", "-q", "--st", "0.1", "--tf", "t.sqlite", "--", "sleep", "1"]
        subprocess.run(tracked, check=True)  # rates of I/O have moments of their own
        gpu_tracker.report("t.sqlite", "tables", format="parquet")
        gpu_tracker.report("t.sqlite", "x.parquet")
        parts = [pyarrow.parquet.read_table(path) for path in (self.folder / "tables").glob("samples*.parquet")]
        samples = pyarrow.parquet.read_table(self.folder / "x.parquet")
        self.assertGreater(len(parts), 1)
        self.assertEqual(set(samples.column_names), {name for part in parts for name in part.column_names})
        self.assertEqual(samples["time"].to_pylist(), sorted(time for part in parts for time in part["time"].to_pylist()))
        for part in parts:
            for name in set(part.column_names) - {"time"}:
                self.assertEqual(samples[name].drop_null(), part[name].drop_null(), name)

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_the_command_writes_them_too(self):
        import pyarrow.parquet

        command = [os.environ["GPUT_COMMAND"], "report"]
        environment = os.environ | {"GPUT_PYTHON": sys.executable}
        subprocess.run([*command, "first=t.csv", "u.csv", "-o", "x.parquet"], env=environment, check=True)
        samples = pyarrow.parquet.read_table(self.folder / "x.parquet")
        self.assertEqual(set(samples["name"].to_pylist()), {"first", "u.csv"})
        subprocess.run([*command, "t.csv", "--stf", "m.csv", "-f", "parquet", "-o", "tables"], env=environment, check=True)
        self.assertEqual(pyarrow.parquet.read_table(self.folder / "tables" / "calls.parquet")["name"].to_pylist(), ["load <x>"])
        done = subprocess.run([*command, "nothing.csv", "-o", "y.arrow"], env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "gpu-tracker: Cannot open nothing.csv: No such file or directory\n"))

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_tables_that_cannot_be_written_leave_nothing(self):
        (self.folder / "tables" / "samples.parquet.part").mkdir(parents=True)
        with self.assertRaises(OSError):
            gpu_tracker.report("t.csv", "tables", format="parquet")
        self.assertEqual(os.listdir("tables"), ["samples.parquet.part"])

    def test_tables_need_pyarrow_and_a_folder(self):
        with unittest.mock.patch.dict(sys.modules, {"pyarrow": None}):
            with self.assertRaisesRegex(ImportError, "pip install pyarrow"):
                gpu_tracker.report("t.csv", "tables", format="parquet")
        self.assertFalse((self.folder / "tables").exists())
        with self.assertRaisesRegex(ValueError, "name the folder"):
            gpu_tracker.report("t.csv", format="arrow")
        with self.assertRaisesRegex(ValueError, '"orc" is not a valid format'):
            gpu_tracker.report("t.csv", "x", format="orc")

    def test_errors_are_exceptions(self):
        self.assert_raises(ValueError, "A picture is SVG, PDF or PNG: name it .svg, .pdf or .png, not x.jpg", gpu_tracker.plot, "t.csv", "x.jpg")
        with self.assertRaisesRegex(ValueError, 'no figure "nothing"'):
            gpu_tracker.plot("t.csv", figures=["nothing"])
        for function in gpu_tracker.plot, gpu_tracker.report:
            with self.assertRaises(FileNotFoundError):
                function("missing.csv", "x.svg")
        with self.assertRaises(TypeError):
            gpu_tracker.plot("t.csv", figures=[3])
        with self.assertLogs("gpu_tracker") as logs:
            gpu_tracker.plot("t.csv", blocks=True)
        self.assertIn("There are no code blocks to draw.", logs.output[0])

    def test_a_report_has_the_samples(self):
        gpu_tracker.report("t.csv", "x.html", sub_tracking_files=["m.csv"], title="</title>")
        report = Report("x.html")
        self.assertEqual(report.document["title"], "</title>")
        self.assertEqual(len(report.series()["combined_ram"][1]), 11)
        self.assertEqual(report.sessions[0]["calls"]["names"], ["load <x>"])

    def test_a_tracker_is_drawn_and_reported(self):
        tracker = self.tracked(tracking_file="own.csv")
        chart = Chart(tracker.plot(figures=["ram"]).svg)
        peak = max(gpu_tracker.read_samples("own.csv")["combined_ram"]) * 1e9
        self.assertAlmostEqual(max(chart.line().values()), peak, delta=chart.line().resolution[0])
        self.assertEqual(tracker.report("x.html"), tracker.report())
        (session,) = Report("x.html").sessions
        self.assertLessEqual({"series", "cards", "sources"}, session.keys())
        pickle.loads(pickle.dumps(tracker)).report("y.html")  # it does not know where its file is
        (session,) = Report("y.html").sessions
        self.assertIn("cards", session)

    def test_a_tracker_without_samples_has_figures_in_its_report_and_no_plot(self):
        tracker = self.tracked()
        tracker.report("x.html")
        (session,) = Report("x.html").sessions
        self.assertIn("cards", session)
        self.assert_raises(RuntimeError, "There are no samples to draw: give the tracker a tracking_file.", tracker.plot)

    def test_a_native_curve_needs_a_value_for_each_time(self):
        from gpu_tracker import _native

        curve = ("ram", "RAM", "bytes", [0.0, 1.0], [1.0, None])
        xml.etree.ElementTree.fromstring(_native.plot((), curves=[curve])[0])
        self.assert_raises(ValueError, "A curve needs a value for each time.", _native.plot, (), curves=[(*curve[:4], [1.0])])
        for wrong in ("ram", "RAM"), ("ram", "RAM", "bytes", 1, 2), ("ram", "RAM", "bytes", ["x"], [1]):
            with self.assertRaises(TypeError):
                _native.plot((), curves=[wrong])


if __name__ == "__main__":
    package.main()
