"""What notebooks show of a tracker, an analysis and a comparison."""

import base64
import gzip
import json
import math
import os
import pickle
import random
import re
import sys
import time
import unittest.mock
import xml.etree.ElementTree

import package
import gpu_tracker

sys.path.append(str(package.SOURCE / "tests" / "cli"))
from report_data import Report, use_page
from svg_chart import Chart

HEADER = (
    "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,system_core_count,n_expected_cores,system_gpu_count,n_expected_gpus\n"
    "gigabytes,gigabytes,hours,64.0,0.0,8,8,0,0\n"
)
COLUMNS = (
    "main_ram,descendants_ram,combined_ram,system_ram,main_gpu_ram,descendants_gpu_ram,combined_gpu_ram,system_gpu_ram,"
    "gpu_sum_utilization_percent,gpu_hardware_utilization_percent,main_n_threads,descendants_n_threads,combined_n_threads,"
    "cpu_system_sum_utilization_percent,cpu_system_hardware_utilization_percent,cpu_main_sum_utilization_percent,"
    "cpu_main_hardware_utilization_percent,cpu_descendants_sum_utilization_percent,cpu_descendants_hardware_utilization_percent,"
    "cpu_combined_sum_utilization_percent,cpu_combined_hardware_utilization_percent,timestamp\n"
)


def page_in(html):
    """The page in the frame of what notebooks show."""
    frame = next(xml.etree.ElementTree.fromstring(html).iter("iframe"))
    assert frame.get("sandbox") == "allow-scripts", frame.attrib
    return gzip.decompress(base64.b64decode(re.search('id="page">([^<]*)<', frame.get("srcdoc"))[1])).decode()


class Display(package.PackageTest):
    def setUp(self):
        super().setUp()
        use_page(self)

    def tracking_file(self, name, rams):
        """A session of one process, a sample a second."""
        path = self.folder / name
        rows = [f"{ram},0.0,{ram},5.0,0.0,0.0,0.0,0.0,0.0,0.0,3,0,3,150.0,18.75,100.0,12.5,0.0,0.0,100.0,12.5,{1000 + i}.0\n" for i, ram in enumerate(rams)]
        path.write_text(HEADER + COLUMNS + "".join(rows))
        return str(path)

    def marks(self, name, code_block):
        path = self.folder / name
        path.write_text(f"process_id,code_block_name,position,timestamp\n7,{code_block},0,1001.0\n7,{code_block},1,1003.0\n")
        return str(path)

    def results(self, name, rams):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(gpu_tracker.SubTrackingAnalyzer(self.tracking_file(f"{name}.csv", rams), None).sub_tracking_results().to_json()))
        return str(path)

    def check_details(self, details):
        """A dictionary like any other, of which each section is there."""
        self.assertEqual((json.loads(json.dumps(details)), pickle.loads(pickle.dumps(details))), (details, details))
        details["processes"] = [{"name": "a<b", "pid": 7, "end": None}] * 200
        html = details._repr_html_()
        xml.etree.ElementTree.fromstring(html)
        for section in details:
            self.assertIn(f">{section}</", html)
        for shown in ">combined, total_rss<", ">kernel_cpu_time, state<", ">a&lt;b<", ">n/a<", "more</div>":
            self.assertIn(shown, html)
        self.assertNotIn("None", html)

    def test_a_tracker_shows_its_main_figures_and_curves(self):
        tracker = gpu_tracker.Tracker(sleep_time=0.02, tracking_file=str(self.folder / "t.csv"), disable_logs=True)
        self.assertIn(">not started<", tracker._repr_html_())
        with tracker:
            held = bytearray(60_000_000)
            time.sleep(0.2)
        html = tracker._repr_html_()
        xml.etree.ElementTree.fromstring(html)
        usage = tracker.resource_usage._repr_html_()
        xml.etree.ElementTree.fromstring(usage)
        self.assertIn(re.search(">RAM, peak</th>.*?</tr>", html)[0], usage)
        peak = tracker.details["max_ram"]["combined"]["total_rss"] * 1000
        self.assertRegex(html, rf">RAM, peak</th><td [^>]*>{peak:.0f}" if peak >= 99.95 else r">RAM, peak</th><td [^>]*>\d\d\.?\d? MB")
        self.assertRegex(html, 'alt="RAM(, [^"]*)? over [0-9.]+ m?s, at most [0-9.]+ MB')
        xml.etree.ElementTree.fromstring(package.picture_of(html))
        for absent in "n/a", "GPU RAM", "<svg", "<script":
            self.assertNotIn(absent, html)
        self.check_details(tracker.details)
        again = pickle.loads(pickle.dumps(tracker))
        self.assertIn("RAM, peak", again._repr_html_())
        self.assertGreater(len(held), 0)

    def test_a_tracker_without_a_file_shows_curves_that_it_kept(self):
        tracker = gpu_tracker.Tracker(sleep_time=0.01, disable_logs=True)
        with tracker:
            held = bytearray(60_000_000)
            while len(tracker._session.samples()) < 5:
                time.sleep(0.01)
        html = tracker._repr_html_()
        xml.etree.ElementTree.fromstring(html)
        self.assertRegex(html, 'alt="RAM(, [^"]*)? over [0-9.]+ m?s, at most [0-9.]+ MB')
        self.assertNotIn("<iframe", html)
        self.assertIn("RAM, peak", pickle.loads(pickle.dumps(tracker))._repr_html_())
        self.assertGreater(len(held), 0)

    def test_curves_that_were_kept_have_rates_as_steps(self):
        from gpu_tracker._display import kept_curves

        nan = math.nan
        samples = [(5.0, 1e6, nan, nan, nan), (6.0, 2e6, nan, 100.0, nan), (7.0, 3e6, nan, 50.0, nan)]
        chart = Chart(package.picture_of(kept_curves(samples)))
        ram, cpu = (panel[0] for panel in chart.panels)
        for line, expected in (ram, [(0, 1e6), (1, 2e6), (2, 3e6)]), (cpu, [(0, 100), (1, 100), (1, 50), (2, 50)]):
            self.assertEqual(len(line.points), len(expected), line.points)
            for (at, value), (wanted_at, wanted) in zip(line.points, expected):
                self.assertAlmostEqual(at, wanted_at, delta=line.resolution[1])
                self.assertAlmostEqual(value, wanted, delta=line.resolution[0])

    def test_a_running_tracker_shows_figures_so_far(self):
        with gpu_tracker.Tracker(sleep_time=0.01, disable_logs=True) as tracker:
            held = bytearray(60_000_000)
            while len(tracker._session.samples()) < 5:
                time.sleep(0.01)
            html = tracker._repr_html_()
        xml.etree.ElementTree.fromstring(html)
        self.assertIn("so far", html)
        megabytes = float(re.search(r">RAM, peak</th><td [^>]*>([\d.]+) MB", html)[1])
        self.assertTrue(60 < megabytes <= tracker.details["max_ram"]["combined"]["total_rss"] * 1000 + 1, html)
        self.assertRegex(html, 'alt="RAM(, [^"]*)? over [0-9.]+ m?s, at most [0-9.]+ MB')
        self.assertNotIn("so far", tracker._repr_html_())
        self.assertGreater(len(held), 0)

    def test_a_tracker_in_a_process_of_its_own_says_that_it_runs(self):
        with gpu_tracker.Tracker(sleep_time=0.05, own_process=True, resource_usage_file=str(self.folder / "kept"), disable_logs=True) as tracker:
            self.assertIn(">tracking<", tracker._repr_html_())
        self.assertIn("RAM, peak", tracker._repr_html_())

    def test_parts_of_resource_usage_have_their_units(self):
        with gpu_tracker.Tracker(sleep_time=0.02, time_unit="seconds", disable_logs=True) as tracker:
            time.sleep(0.1)
        usage = tracker.resource_usage
        usage.max_ram.main.total_rss = 0.25
        self.assertRegex(usage.max_ram._repr_html_(), r">main, total_rss</th><td [^>]*>250 MB<")
        self.assertRegex(usage.compute_time._repr_html_(), r">time</th><td [^>]*>\d+ ms<")
        usage.cpu_utilization.main.max_sum_percent = 150.0
        self.assertRegex(usage.cpu_utilization._repr_html_(), r">main, max_sum_percent</th><td [^>]*>150 %<")
        self.assertRegex(usage.max_ram.main._repr_html_(), r">total_rss</th><td [^>]*>0\.25<")
        for part in vars(usage).values():
            xml.etree.ElementTree.fromstring(part._repr_html_())

    def test_every_object_has_a_table_and_one_line_of_text(self):
        from gpu_tracker import _tables, notebook, power

        files = self.tracking_file("t.csv", [4.0, 2.0, 3.0]), self.marks("m.csv", "a<b")
        named = {
            "IPyGPULogger": (notebook.IPyGPULogger(), "<IPyGPULogger: reports stopped, last none yet, samples every 0.001 s>"),
            "SubTracker": (gpu_tracker.SubTracker("a<b", sub_tracking_file="b.csv"), "<SubTracker: code block a<b, marks in b.csv>"),
            "JsonParser": (power.JsonParser("rec"), "<JsonParser: folder rec>"),
            "Experiment": (power.Experiment(power.JsonParser("rec")), "<Experiment: records into rec>"),
            "SubTrackingAnalyzer": (gpu_tracker.SubTrackingAnalyzer(None, files[1]), f"<SubTrackingAnalyzer: tracking file none, marks of code blocks {files[1]}>"),
            "TimeData": (notebook.TimeData(1.5), "TimeData(time_delta=1.5)"),
        }  # fmt: skip
        for name, (shown, text) in named.items():
            with self.subTest(name):
                self.assertEqual(repr(shown), text)
                html = shown._repr_html_()
                xml.etree.ElementTree.fromstring(html)
                self.assertIn(f">{name}</th>", html)
        self.assertIn("a&lt;b", named["SubTracker"][0]._repr_html_())
        grouped = notebook.GroupedData(notebook.MemoryData(1, 2, 3), notebook.MemoryData(None, None, None), notebook.TimeData(1.5))
        self.assertRegex(grouped._repr_html_(), r">cpu, used_total</th><td [^>]*>3</td>.*>gpu, used_total</th><td [^>]*>n/a</td>.*>1\.5</td>")
        self.assertRegex(repr(gpu_tracker.report(files[0])), r"^<Report: characters of HTML [\d,]+>$")
        frame = _tables.Frame({i: {"value": float(i)} for i in range(30)})
        self.assertEqual((frame._repr_html_().count("<tr>"), "<div>and 10 more</div>" in frame._repr_html_()), (21, True))
        self.assertIn(">value<", frame["value"]._repr_html_())

    def test_a_tracker_whose_file_is_gone_shows_its_figures(self):
        path = self.folder / "t.csv"
        with gpu_tracker.Tracker(sleep_time=0.02, tracking_file=str(path), disable_logs=True) as tracker:
            time.sleep(0.1)
        path.unlink()
        html = tracker._repr_html_()
        self.assertIn("RAM, peak", html)
        self.assertNotIn("<img", html)

    def test_an_analysis_shows_code_blocks_and_curves(self):
        files = self.tracking_file("t.csv", [1.0, 2.0, 6.5, 2.0, 1.0]), self.marks("b.csv", "<b>train</b>")
        html = gpu_tracker.SubTrackingAnalyzer(*files)._repr_html_()
        xml.etree.ElementTree.fromstring(html)
        self.assertIn("&lt;b&gt;train&lt;/b&gt;", html)
        self.assertRegex(html, r">RAM</th><td [^>]*>2\.5 GB</td><td [^>]*>6\.5 GB</td>")
        self.assertRegex(html, r"train.*?>1</td><td [^>]*>2 s</td><td [^>]*>2 s</td><td [^>]*>2 s</td><td [^>]*>6\.5 GB</td><td [^>]*>100 %</td>")
        self.assertIn('alt="RAM, CPU over 4 s, at most 6.5 GB, 100 %"', html)
        line = package.chart_of(html).line()
        self.assertAlmostEqual(max(line.values()), 6.5e9, delta=line.resolution[0])
        results = gpu_tracker.SubTrackingAnalyzer(*files).sub_tracking_results()
        self.assertIn("6.5 GB", results._repr_html_())
        self.assertIn(">tracking file</th><td", gpu_tracker.SubTrackingAnalyzer(None, files[1])._repr_html_())

    def test_charts_to_zoom_into_have_the_samples_and_blocks(self):
        files = self.tracking_file("t.csv", [1.0, 2.0, 6.5]), self.marks("b.csv", "train")
        html = gpu_tracker.SubTrackingAnalyzer(*files)._repr_html_()
        (self.folder / "x.html").write_text(page_in(html))
        shown = Report(self.folder / "x.html")
        self.assertEqual(shown.series()["combined_ram"][1], [1e9, 2e9, 6.5e9])
        self.assertEqual(shown.sessions[0]["calls"]["names"], ["train"])
        report = gpu_tracker.report(files[0])
        self.assertEqual(page_in(report._repr_html_()), report.html)
        for display in html, report._repr_html_():
            self.assertIn("once the notebook is trusted", re.sub("<iframe.*</iframe>", "", display))
        report.save(self.folder / "y.html")
        self.assertEqual((self.folder / "y.html").read_text(), report.html)

    def test_a_large_session_makes_no_large_notebook(self):
        path = self.tracking_file("t.csv", [random.random() for _ in range(5_000)])
        with unittest.mock.patch("gpu_tracker._frame._MAX_OF_DISPLAY", 20_000):
            html = gpu_tracker.SubTrackingAnalyzer(path, None)._repr_html_()
        self.assertTrue("<img" in html and "<iframe" not in html)
        self.assertTrue("<iframe" in gpu_tracker.report(path)._repr_html_())

    def test_a_build_without_reports_shows_the_picture_alone(self):
        path = self.tracking_file("t.csv", [1.0, 2.0])
        os.environ["GPUT_REPORT_PAGE"] = str(self.folder / "none.html")
        html = gpu_tracker.SubTrackingAnalyzer(path, None)._repr_html_()
        self.assertTrue("<img" in html and "<details" not in html)

    def test_a_comparison_shows_changes_against_the_first_session(self):
        comparison = gpu_tracker.TrackingComparison({"old": self.results("old", [4.0, 4.0]), "new": self.results("new", [3.0, 3.0])})
        html = comparison._repr_html_()
        xml.etree.ElementTree.fromstring(html)
        self.assertRegex(html, r">RAM</th><td [^>]*>4 GB</td><td [^>]*>3 GB \(-25\.0 %\)</td>")
        self.assertIn("against old", html)
        self.assertIn('alt="RAM, mean: old 4 GB, new 3 GB (-25.0 %)', html)
        xml.etree.ElementTree.fromstring(package.picture_of(html))
        picture = comparison.plot(statistic="max")
        self.assertIn("<title>RAM, max: old 4 GB, new 3 GB", picture._repr_svg_())
        self.assertIsNone(comparison.plot(self.folder / "x.svg", statistic="max"))
        self.assertEqual((self.folder / "x.svg").read_text(), picture.svg)
        self.assert_raises(ValueError, "A picture is SVG, PDF or PNG: name it .svg, .pdf or .png, not x.jpg", comparison.plot, "x.jpg")

    def test_the_longest_name_of_a_session_has_its_place(self):
        for name in ("one", "seven", "a run"):
            results = {name: self.results("old", [4.0, 4.0]), "i": self.results("new", [3.0, 3.0])}
            self.assertIn(f">{name}<", gpu_tracker.TrackingComparison(results).plot().svg)

    def test_what_analyses_and_comparisons_return(self):
        files = self.tracking_file("t.csv", [4.0, 2.0, 3.0, 1.0]), self.marks("m.csv", "a<b")
        results = gpu_tracker.SubTrackingAnalyzer(*files).sub_tracking_results()
        block = results.code_block_results[0]._repr_html_()
        xml.etree.ElementTree.fromstring(block)
        self.assertRegex(block, r">a&lt;b</th><td [^>]*>1</td><td [^>]*>2 s</td>")
        self.assertRegex(block, r">main_ram</th><td [^>]*>1</td><td [^>]*>3</td><td [^>]*>2</td>")
        self.assertNotIn("gpu_ram", block)
        html = results._repr_html_()
        xml.etree.ElementTree.fromstring(html)
        self.assertIn('alt="RAM, CPU over ', html)
        again = pickle.loads(pickle.dumps(results))
        self.assertEqual(again.to_json(), results.to_json())
        self.assertNotIn("<img", again._repr_html_())  # its files may be elsewhere
        comparison = gpu_tracker.TrackingComparison({"old": self.results("old", [4.0, 4.0]), "new": self.results("new", [3.0, 3.0])}).compare("max")
        html = comparison._repr_html_()
        xml.etree.ElementTree.fromstring(html)
        self.assertIn('alt="RAM, max: old 4 GB, new 3 GB (-25.0 %)', html)
        self.assertRegex(html, r">Session, highest<.*>RAM</th><td [^>]*>4 GB</td><td [^>]*>3 GB \(-25\.0 %\)</td>")
        html = pickle.loads(pickle.dumps(comparison))._repr_html_()
        self.assertNotIn("<img", html)
        head = re.search("<thead>(.*?)</thead>", html)[1]
        row = re.search("main_ram</th>(.*?)</tr>", html)[1]
        named = dict(zip(re.findall(">(old|new)<", head), re.findall(r">(\d)<", row)))
        self.assertEqual(named, {"old": "4", "new": "3"})

    def test_a_table_of_many_rows_says_how_many_more(self):
        html = gpu_tracker.read_samples(self.tracking_file("t.csv", [1.0] * 50))._repr_html_()
        self.assertEqual((html.count("<tr>"), "<div>and 30 more</div>" in html), (21, True))

    def test_figures_have_units_that_fit(self):
        from gpu_tracker._display import duration, size

        self.assertEqual([size(value) for value in (0, 999, 1000, 412e6, 25.3e9, 999.6e6)], ["0 B", "999 B", "1 kB", "412 MB", "25.3 GB", "1 GB"])
        self.assertEqual([duration(value) for value in (0.85, 12.3, 192, 7500)], ["850 ms", "12.3 s", "3 min 12 s", "2 h 05 min"])


if __name__ == "__main__":
    package.main()
