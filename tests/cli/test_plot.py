"""gpu-tracker plot: what is drawn is what the files have."""

import json
import os
import random
import re
import sqlite3
import struct
import unittest
import zlib

from analysis_files import MEASUREMENTS, START, call, row, write_marks, write_tracking
from command import CommandTest, main
from svg_chart import Chart, SVG

NO_LIBRARY = "A picture in PNG or PDF needs the libraries cairo and Pango (Debian: apt-get install libpangocairo-1.0-0); SVG needs nothing. "
RAM = MEASUREMENTS.index("combined_ram")
CPU = MEASUREMENTS.index("cpu_combined_sum_utilization_percent")


def sample(second, **values):
    """A row in which all is 0 but what is named."""
    return [values.get(name, 0) for name in MEASUREMENTS] + [START + second]


def chunks(png):
    """[(type, content), …]; fails where a checksum is wrong."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = [], 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        body = png[at + 4 : at + 8 + length]
        assert zlib.crc32(body) == struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0]
        found.append((body[:4], body[4:]))
        at += 12 + length
    return found


class PlotTest(CommandTest):
    def plot(self, *arguments):
        done = self.run_command("plot", *arguments, "-o", "x.svg")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return Chart((self.folder / "x.svg").read_text())

    def assert_has_point(self, line, second, value):
        value_step, time_step = line.resolution
        found = [point for point in line.points if abs(point[0] - second) <= time_step and abs(point[1] - value) <= value_step]
        self.assertTrue(found, f"no point at {second} s, {value} in {line.points[:20]}")


class NamesOfSessions(PlotTest):
    def test_are_called_by_their_ranks_or_without_the_folders_that_all_have(self):
        for folder, names in (("job", ("solve.r0.csv", "solve.r1.csv")), ("runs", ("before.csv", "after.csv"))):
            (self.folder / folder).mkdir()
            for number, name in enumerate(names):
                write_tracking(self.folder / folder / name, [sample(second, combined_ram=1 + second, system_ram=number) for second in range(3)])
            chart = self.plot(*(f"{folder}/{name}" for name in names), "--figures", "ram")
            labels = {line.name for panel in chart.panels for line in panel}
            self.assertEqual(labels, {"rank 0", "rank 1"} if folder == "job" else set(names))


class Gpus(PlotTest):
    def test_those_that_were_not_used_are_not_drawn(self):
        write_tracking(self.folder / "t.sqlite", [sample(second) for second in range(3)])
        database = sqlite3.connect(self.folder / "t.sqlite")
        database.execute("CREATE TABLE gpu_data (timestamp REAL, uuid TEXT, combined_ram REAL, utilization_percent REAL, power_watts REAL)")
        rows = [(START + second, f"GPU-{gpu}", gpu * 2.0, 90 * gpu if second else None, 50 + 200 * gpu) for second in range(3) for gpu in range(2)]
        database.executemany("INSERT INTO gpu_data VALUES (?, ?, ?, ?, ?)", rows)
        database.commit()
        database.close()
        chart = self.plot("t.sqlite")
        self.assertEqual([line.name for panel in chart.panels for line in panel if "GPU 0" in line.name], [])
        self.assertEqual(len([line for panel in chart.panels for line in panel if "GPU 1" in line.name]), 3)


class Curves(PlotTest):
    def test_the_highest_and_lowest_of_the_file_are_vertices(self):
        source = random.Random(7)
        for count in 50, 5000:
            rows = [sample(i / 10, combined_ram=1 + source.random(), cpu_combined_sum_utilization_percent=source.random() * 300) for i in range(count)]
            for extension in "csv", "sqlite":
                write_tracking(self.folder / f"t{count}.{extension}", rows)
                chart = self.plot(f"t{count}.{extension}")
                self.assertEqual([heading.split(" (")[0] for heading in chart.headings], ["RAM", "CPU"])
                for panel, column, unit in ((0, RAM, 1e9), (1, CPU, 1)):
                    line = chart.line(panel)
                    for extreme in max, min:
                        found = extreme(rows, key=lambda values: values[column])
                        self.assert_has_point(line, found[-1] - START, found[column] * unit)
                        self.assertAlmostEqual(extreme(line.values()), found[column] * unit, delta=line.resolution[0])

    def test_a_single_peak_of_many_rows_is_there(self):
        rows = [sample(i / 100, combined_ram=1) for i in range(200000)]
        rows[123456][RAM] = 2.5
        write_tracking(self.folder / "t.csv", rows)
        line = self.plot("t.csv", "--figures", "ram").line()
        self.assert_has_point(line, 1234.56, 2.5e9)
        self.assertLess(len(line.points), 20)  # the rest is level
        self.assertLess((self.folder / "x.svg").stat().st_size, 20000)

    def test_a_gap_is_not_drawn_over(self):
        rows = [sample(i, combined_ram=1) for i in range(10)]
        for number in 4, 5:
            rows[number][RAM] = ""
        write_tracking(self.folder / "t.csv", rows)
        line = self.plot("t.csv").line()
        self.assertEqual([[round(time) for time, _ in part] for part in line.parts], [[0, 3], [6, 9]])

    def test_what_was_not_used_is_not_drawn_unless_it_is_named(self):
        write_tracking(self.folder / "t.csv", [sample(i, combined_ram=1) for i in range(3)])
        self.assertEqual(len(self.plot("t.csv").panels), 1)
        chart = self.plot("t.csv", "--figures", "ram,cpu,threads")
        self.assertEqual([heading.split(" (")[0] for heading in chart.headings], ["RAM", "CPU", "Threads"])

    def test_single_curves_can_be_named(self):
        write_tracking(self.folder / "t.csv", [row(i) for i in range(1, 9)])
        chart = self.plot("t.csv", "--figures", "main_ram,descendants_ram,combined_n_threads")
        self.assertEqual([[line.name for line in panel] for panel in chart.panels],
                         [["RAM of descendants", "RAM of main"], ["Threads"]])
        self.assertIn("RAM of main", chart.texts)  # a legend
        self.assert_has_point(chart.line(0, "RAM of main"), 7, 8e9)
        self.assertEqual(len({line.style for line in chart.panels[0]}), 2)

    def test_an_unknown_figure_is_answered_by_all_that_there_are(self):
        write_tracking(self.folder / "t.csv", [row(1), row(2)])
        done = self.run_command("plot", "t.csv", "--figures", "rma")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn('There is no figure "rma": did you mean ram? There are the charts ram, gpu_ram, gpu, threads, cpu', done.stderr)
        self.assertIn("main_ram", done.stderr)
        self.assert_folder_is("t.csv")

    def test_a_part_of_the_time_is_cut_out(self):
        write_tracking(self.folder / "t.csv", [sample(i, combined_ram=i) for i in range(101)])
        line = self.plot("t.csv", "--start", "20.5", "--end", "30").line()
        self.assert_has_point(line, 20.5, 20.5e9)
        self.assert_has_point(line, 30, 30e9)
        self.assertAlmostEqual(max(line.values()), 30e9, delta=line.resolution[0])
        self.assert_fails(self.run_command("plot", "t.csv", "--start", "200"), 1, "Nothing was recorded in that range: the recording is from 0 to 100 seconds.")
        self.assert_fails(self.run_command("plot", "t.csv", "--end", "soon"), 1,
                          "--end=soon is not a number of seconds after the beginning of the session.")

    def test_limits_are_drawn_where_they_are_near(self):
        write_tracking(self.folder / "t.csv", [sample(i, system_ram=60, combined_ram=1) for i in range(3)])
        chart = self.plot("t.csv", "--figures", "system_ram")
        self.assertEqual(chart.limits, ["67.3 GB"])
        write_tracking(self.folder / "t.csv", [sample(i, system_ram=6, combined_ram=1) for i in range(3)])
        chart = self.plot("t.csv", "--figures", "system_ram")
        self.assertEqual((chart.limits, chart.headings), ([], ["RAM of the system (GB), limit 67.3 GB"]))

    def test_the_limit_that_a_session_ran_under_is_drawn_where_its_curve_is_not(self):
        write_tracking(self.folder / "t.csv", [sample(i, combined_ram=value) for i, value in enumerate((1, 2, 2.6, 1))])
        (self.folder / "t.csv.session.json").write_text(json.dumps({
            "tracking_file": "t.csv", "host": "h", "start": "2020-01-01T00:00:00Z", "end": "", "allowed_ram_bytes": 2000000000}))
        chart = self.plot("t.csv", "--figures", "ram")
        self.assertEqual(chart.limits, ["2 GB"])
        text = next(node for node in chart.root.iter(SVG + "text") if node.text == "limit 2 GB")
        self.assertIsNone(text.get("text-anchor"))  # at the left: the curve crosses it at the right

    def test_one_sample_is_a_dot(self):
        write_tracking(self.folder / "t.csv", [row(1)])
        chart = self.plot("t.csv", "--figures", "ram")
        self.assertEqual([len(part) for part in chart.line().parts], [1])
        self.assertIn("h0", (self.folder / "x.svg").read_text())

    def test_nothing_to_draw_is_said(self):
        write_tracking(self.folder / "t.csv", [])
        done = self.run_command("plot", "t.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing to draw", done.stderr)
        self.assert_folder_is("t.csv")


class Sessions(PlotTest):
    def test_several_are_drawn_over_each_other_from_their_beginnings(self):
        write_tracking(self.folder / "before.csv", [sample(i, combined_ram=2) for i in range(5)])
        write_tracking(self.folder / "after.csv", [sample(i + 1000, combined_ram=1) for i in range(9)])
        chart = self.plot("before.csv", "after.csv", "--figures", "ram")
        self.assertEqual([line.name for line in chart.panels[0]][::-1], ["before.csv", "after.csv"])
        self.assertEqual({"before.csv", "after.csv"} - set(chart.texts), set())
        self.assert_has_point(chart.line(0, "before.csv"), 4, 2e9)
        self.assert_has_point(chart.line(0, "after.csv"), 0, 1e9)
        self.assertEqual(len({line.style for line in chart.panels[0]}), 2)

    def test_code_blocks_are_rows_and_bands(self):
        write_tracking(self.folder / "t.csv", [sample(i, combined_ram=1) for i in range(11)])
        write_marks(self.folder / "m.csv", call(1, "outer", 1, 9) + call(1, "inner", 2, 3) + call(1, "inner", 5, 6))
        chart = self.plot("t.csv", "--stf", "m.csv", "--blocks")
        rows = {name: [(round(start, 1), round(stop, 1)) for start, stop in spans] for name, spans in chart.rows.items()}
        self.assertEqual(rows, {"outer": [(1, 9)], "inner": [(2, 3), (5, 6)]})
        self.assertEqual([(round(start), round(stop)) for start, stop in chart.bands], [(1, 9)])
        self.assertEqual(self.plot("t.csv", "--stf", "m.csv").rows, {})

    def test_every_call_is_drawn(self):
        write_tracking(self.folder / "t.csv", [sample(i, combined_ram=1) for i in range(31)])
        spans = [(round(start, 1), round(start + 0.5, 1)) for start in range(1, 29)]
        write_marks(self.folder / "m.csv", [mark for start, stop in spans for mark in call(1, "step", start, stop)] + call(1, "tail", 29, 30))
        rows = {name: [(round(start, 1), round(stop, 1)) for start, stop in found]
                for name, found in self.plot("t.csv", "--stf", "m.csv", "--blocks").rows.items()}  # fmt: skip
        self.assertEqual(rows, {"step": spans, "tail": [(29, 30)]})

    def test_bands_are_never_over_each_other(self):
        write_tracking(self.folder / "t.csv", [sample(i, combined_ram=1) for i in range(21)])
        write_marks(self.folder / "m.csv", call(1, "rank 0", 1, 8) + call(2, "rank 1", 2, 9) + call(3, "rank 2", 3, 7) + call(1, "save", 10, 12))
        chart = self.plot("t.csv", "--stf", "m.csv", "--blocks")
        self.assertEqual(list(chart.rows), ["rank 0", "rank 1", "rank 2", "save"])
        self.assertEqual([(round(start), round(stop)) for start, stop in chart.bands], [(1, 8), (10, 12)])

    def test_marks_alone_are_rows(self):
        write_marks(self.folder / "m.csv", call(1, "outer", 1, 9) + call(2, "other", 2, 30))
        self.assertEqual(set(self.plot("m.csv").rows), {"outer", "other"})

    def test_many_code_blocks_are_bounded_and_the_rest_is_said(self):
        marks = []
        for number in range(3000):
            marks += call(1, f"block {number % 30}", number / 100, number / 100 + 0.005 + number % 30 / 10000)
        write_marks(self.folder / "m.csv", marks)
        done = self.run_command("plot", "m.csv", "-o", "x.svg")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("The 8 code blocks that took the most time are shown.", done.stderr)
        self.assertEqual(set(Chart((self.folder / "x.svg").read_text()).rows), {f"block {number}" for number in range(22, 30)})

    def test_names_from_files_are_only_text(self):
        name = '</title><script>alert("1")</script>]]>&\u202e\x1b[31m'
        write_tracking(self.folder / "<b>&.csv", [sample(i, combined_ram=1) for i in range(3)])
        write_tracking(self.folder / "b.csv", [sample(i, combined_ram=2) for i in range(3)])
        write_marks(self.folder / "m.csv", call(1, name, 0, 2))
        self.assertEqual({line.name for line in self.plot("<b>&.csv", "b.csv").panels[0]}, {"<b>&.csv", "b.csv"})
        self.assertEqual({line.name for line in self.plot("before=<b>&.csv", "after=b.csv").panels[0]}, {"before", "after"})
        done = self.run_command("plot", "a=b.csv", "-o", "b.csv")
        self.assertIn("-o b.csv is the same file as a session b.csv", done.stderr)
        self.plot("b.csv", "--stf", "m.csv", "--blocks", "--title", name)
        text = (self.folder / "x.svg").read_text()
        self.assertNotIn("<script", text)
        self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text))


class Recordings(PlotTest):
    def lines_of(self, *gpus):
        """The curves of power of a recording with these GPUs."""
        (self.folder / "rec").mkdir(exist_ok=True)
        gpu = {"nvidia_power": 100.0 * len(gpus), "per_gpu_nvidia_power": dict.fromkeys(gpus, 100.0)}
        rows = [{"date": f"2023-06-30 16:32:{second}", "metrics": {"cpu": {"intel_power": 40.0}, "gpu": gpu}} for second in (10, 20)]
        (self.folder / "rec" / "power_metrics.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return sorted(line.name for line in self.plot("rec", "--figures", "power").panels[0])

    def test_of_one_gpu_the_sum_of_all_is_not_drawn_too(self):
        self.assertEqual(self.lines_of("0"), ["CPU packages", "GPU 0"])
        self.assertEqual(self.lines_of("0", "1"), ["CPU packages", "GPU 0", "GPU 1", "all GPUs"])

    def test_power_comes_first_and_shares_are_in_percent(self):
        (self.folder / "rec").mkdir()
        gpu = {"nvidia_power": 100.0, "per_gpu_nvidia_power": {"0": 100.0}, "per_gpu_nvidia_use_rate": {"0": 0.5}}
        rows = [{"date": f"2023-06-30 16:32:{second}", "metrics": {"gpu": gpu}} for second in (10, 20)]
        (self.folder / "rec" / "power_metrics.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        chart = self.plot("rec")
        self.assertEqual(chart.headings, ["Power (W)", "GPU utilization (%)"])
        self.assert_has_point(chart.line(1), 0, 50)


class Files(PlotTest):
    def setUp(self):
        super().setUp()
        write_tracking(self.folder / "t.csv", [sample(i, combined_ram=i % 3) for i in range(30)])

    def test_a_size_is_kept_and_one_that_is_too_small_is_refused(self):
        for size, millimetres in (("88x50mm", (88, 50)), ("3.5x2in", (88.9, 50.8)), ("8x5cm", (80, 50)), ("300x200pt", (105.83, 70.56))):
            chart = self.plot("t.csv", "--size", size)
            for found, wanted in zip(chart.size, millimetres):
                self.assertAlmostEqual(found / 72 * 25.4, wanted, delta=0.01)
        self.assertAlmostEqual(self.plot("t.csv", "--size", "200mm").size[0] / 72 * 25.4, 200, delta=0.01)
        done = self.run_command("plot", "t.csv", "--size", "60x10mm", "-o", "small.svg")
        self.assertEqual(done.returncode, 1)
        least = re.search(r"at least ([0-9]+) x ([0-9]+) mm", done.stderr)
        self.plot("t.csv", "--size", f"{least[1]}x{least[2]}mm")
        for wrong in "88", "x50mm", "0x50mm", "-5mm", "88x50ell", "nanmm", "1e9mm", "99999mm", "1.2.3mm":
            self.assertEqual(self.run_command("plot", "t.csv", "--size", wrong).returncode, 1, wrong)
        self.assert_folder_is("t.csv", "x.svg")

    def test_svg_goes_to_standard_output(self):
        done = self.run_command("plot", "t.csv", "-o", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(Chart(done.stdout).panels), 1)

    def test_other_extensions_are_refused(self):
        self.assert_fails(self.run_command("plot", "t.csv", "-o", "x.jpg"), 1, "A picture is SVG, PDF or PNG: name it .svg, .pdf or .png, not x.jpg")
        self.assert_folder_is("t.csv")

    def test_the_output_is_no_input(self):
        done = self.run_command("plot", "t.csv", "-o", "t.csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("would replace", done.stderr)

    def picture(self, name, *arguments):
        done = self.run_command("plot", "t.csv", "-o", name, *arguments)
        if done.returncode and NO_LIBRARY in done.stderr:
            raise unittest.SkipTest("cairo and Pango are not here")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return (self.folder / name).read_bytes()

    def test_png_has_the_colours_of_the_curves(self):
        parts = chunks(self.picture("x.png", "--size", "80x40mm"))
        width, height, depth, kind = struct.unpack(">IIBB", parts[0][1][:10])
        self.assertEqual((width, height, depth), (945, 473, 8))
        self.assertIn((b"pHYs", struct.pack(">IIB", 11811, 11811, 1)), parts)
        channels = {2: 3, 6: 4}[kind]
        pixels = zlib.decompress(b"".join(content for name, content in parts if name == b"IDAT"))
        rows, before, size = [], bytes(width * channels), width * channels
        for number in range(height):
            at = number * (size + 1)
            before = unfilter(pixels[at], bytearray(pixels[at + 1 : at + 1 + size]), before, channels)
            rows.append(bytes(before))
        colours = {content[i : i + 3] for content in rows for i in range(0, size, channels)}
        self.assertIn(bytes.fromhex("0072b2"), colours)
        self.assertIn(b"\xff\xff\xff", colours)

    def test_pdf_is_whole_and_has_its_fonts(self):
        content = self.picture("x.pdf", "--title", "A title")
        self.assertTrue(content.startswith(b"%PDF-1."))
        self.assertTrue(content.rstrip().endswith(b"%%EOF"))
        place = int(re.search(rb"startxref\s+([0-9]+)", content)[1])
        self.assertRegex(content[place : place + 40], rb"^(xref|[0-9]+ 0 obj)")
        inner = b"".join(inflated(content))
        self.assertRegex(content + inner, rb"/FontFile[23]? ")

    def test_without_the_libraries_svg_remains(self):
        (self.folder / "empty").mkdir()
        (self.folder / "empty" / "libpangocairo-1.0.so.0").write_text("")
        environment = os.environ | {"LD_LIBRARY_PATH": str(self.folder / "empty")}
        for name in "x.png", "x.pdf":
            done = self.run_command("plot", "t.csv", "-o", name, env=environment)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(NO_LIBRARY, done.stderr)
        self.assertEqual(self.run_command("plot", "t.csv", "-o", "x.svg", env=environment).returncode, 0)
        self.assert_folder_is("empty", "t.csv", "x.svg")


def unfilter(kind, line, before, step):
    """A row of a PNG: https://www.w3.org/TR/png/#9Filters"""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        corner = before[i - step] if i >= step else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = before[i]
        elif kind == 3:
            guess = (left + before[i]) // 2
        elif kind == 4:
            distances = [abs(left + before[i] - corner - end) for end in (left, before[i], corner)]
            guess = (left, before[i], corner)[distances.index(min(distances))]
        else:
            guess = 0
        line[i] = (line[i] + guess) & 255
    return line


def inflated(content):
    """Streams of a PDF that are compressed."""
    for found in re.finditer(rb"stream\r?\n", content):
        try:
            yield zlib.decompressobj().decompress(content[found.end() :])
        except zlib.error:
            pass


if __name__ == "__main__":
    main()
