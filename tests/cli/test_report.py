"""gpu-tracker report: the data in the HTML file is that of the files it was made from."""

import csv
import datetime
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess

import analysis_files
from analysis_files import MEASUREMENTS, START, call, row, rows_of_a_session, write_marks, write_tracking
from command import COMMAND, main, python
from report_data import Report
from report_test import ReportTest, scale_of, tolerance_of

NO_PAGE = (
    "This build of gpu-tracker has no report. Build it where Node.js 18 and npm are (Debian: apt-get install npm), or from a released "
    "archive, which has the page of reports."
)


class WithoutASession(ReportTest):
    def test_it_is_the_newest_tracking_file_here(self):
        for command in ("report", "plot"):
            self.assert_fails(
                self.run_command(command), 1, "The working directory has no tracking file (.csv, .sqlite). Record one: gpu-tracker run "
                f"--tf samples.sqlite -- COMMAND; or name what to show: gpu-tracker {command} SESSION")
        (self.folder / "foreign.csv").write_text("a,b\n1,2\n")
        write_marks(self.folder / "marks.csv", call(1, "block", 1, 2))
        for name, age in (("older.csv", 1000), ("t.sqlite", 2000)):
            write_tracking(self.folder / name, [row(1), row(2)])
            os.utime(self.folder / name, (age, age))
        done = self.run_command("report", env=self.environment)
        said = "gpu-tracker: using t.sqlite, the newest tracking file here\n"
        self.assertEqual((done.returncode, done.stderr), (0, said + "gpu-tracker: Wrote report.html (-o chooses another name).\n"))
        self.assertEqual([session["name"] for session in Report(self.folder / "report.html").sessions], ["t.sqlite"])
        done = self.run_command("plot", "-o", "t.svg")
        self.assertEqual((done.returncode, done.stderr), (0, said))
        os.utime(self.folder / "older.csv", (3000, 3000))
        done = self.run_command("report", "-f", "json", "-o", "-")
        self.assertEqual(done.stderr, said.replace("t.sqlite", "older.csv"))
        self.assertEqual([session["name"] for session in json.loads(done.stdout)["sessions"]], ["older.csv"])


class Curves(ReportTest):
    def random_rows(self, count):
        source = random.Random(count)
        rows = []
        for number in range(count):
            values = [source.choice((0, source.random() * 60, source.randrange(900) / 8)) for _ in MEASUREMENTS]
            rows.append([*(value // 1 if "threads" in name else value for name, value in zip(MEASUREMENTS, values)),
                         START + number / 10])
        return rows

    def check_rows(self, path, rows):
        report = self.report(path)
        (session,) = report.sessions
        self.assertEqual(session["kind"], "tracking")
        self.assertEqual(session["identity"]["start_timestamp"], START)
        found = report.series()
        self.assertEqual(list(found), MEASUREMENTS)
        for index, name in enumerate(MEASUREMENTS):
            times, values = found[name]
            self.assert_series(times, [row[-1] - START for row in rows], 1e-6)
            expected = [None if row[index] == "" else row[index] * scale_of(name) for row in rows]
            self.assert_series(values, expected, tolerance_of(name))
            known = [value for value in expected if value is not None]
            self.assertAlmostEqual(max(value for value in values if value is not None), max(known),
                                   delta=tolerance_of(name))

    def test_every_value_and_peak_of_a_csv_file_is_there(self):
        rows = self.random_rows(700)
        write_tracking(self.folder / "t.csv", rows)
        self.check_rows("t.csv", rows)

    def test_every_value_and_peak_of_a_database_is_there(self):
        rows = self.random_rows(700)
        write_tracking(self.folder / "t.sqlite", rows)
        self.check_rows("t.sqlite", rows)

    def test_missing_is_not_zero(self):
        rows = [row(1), row(2), row(3)]
        rows[0][0] = rows[1][5] = rows[2][13] = ""
        write_tracking(self.folder / "t.csv", rows)
        values = self.report("t.csv").series()
        self.assertEqual([value is None for value in values["main_ram"][1]], [True, False, False])
        self.assertEqual([value is None for value in values["descendants_gpu_ram"][1]], [False, True, False])

    def test_units_of_the_file_become_bytes(self):
        rows = [row(1)]
        analysis_files.write_csv(self.folder / "t.csv", [
            ([*analysis_files.STATIC], [["megabytes" if "ram_unit" in key else value for key, value in
                                         analysis_files.STATIC.items()]]),
            (["main_ram", "combined_gpu_ram", "timestamp"], [[1.5, 2, rows[0][-1]]])])
        found = self.report("t.csv").series()
        self.assertEqual(found["main_ram"][1], [1.5e6])
        self.assertEqual(found["combined_gpu_ram"][1], [2e6])

    def test_a_machine_without_gpus_has_no_curves_of_them(self):
        self.run_command("run", "--tf", "t.csv", "-q", "--", "true", check=True)
        self.assertFalse([name for name in self.report("t.csv").series() if "gpu" in name])

    def test_a_tracking_file_says_where_the_time_went(self):
        self.run_command("run", "--tf", "t.csv", "-q", "--st", "0.05", "--", "sleep", "1.5", check=True)
        (account,) = self.report("t.csv").sessions[0]["time_went"]
        self.assertAlmostEqual(sum(share["percent"] for share in account["shares"]), 100, delta=0.5)
        self.assertEqual(account["shares"][0]["cause"], "timer")
        self.run_command("run", "--tf", "short.csv", "-q", "--", "true", check=True)
        self.assertNotIn("time_went", self.report("short.csv").sessions[0])

    def test_causes_to_which_no_time_went_have_no_curve(self):
        self.run_command("run", "--tf", "t.csv", "-q", "--st", "0.05", "--", "sleep", "0.3", check=True)
        _, _, names, *rows = csv.reader((self.folder / "t.csv").read_text().splitlines())
        there = [name for name in names if any(row[names.index(name)] not in ("", "0.0") for row in rows)]
        self.assertEqual([name for name in self.report("t.csv").series() if name.startswith("time_")],
                         [name for name in there if name.startswith("time_")])

    def test_without_scripts_the_page_names_a_command_that_takes_the_session(self):
        write_tracking(self.folder / "t.csv", [row(1), row(2)])
        page = (pathlib.Path(__file__).resolve().parents[2] / "web" / "src" / "page.html").read_text()
        command = re.search("<noscript>.*<code>gpu-tracker (.*) SESSION</code>.*</noscript>", page)[1]
        self.assertIn('"sessions"', self.run_command(*command.split(), "t.csv").stdout)

    def test_a_truncated_file_is_shown_as_far_as_it_goes(self):
        write_tracking(self.folder / "t.csv", [row(1), row(2), row(3)])
        text = (self.folder / "t.csv").read_bytes()
        (self.folder / "t.csv").write_bytes(text[:-20])
        done = self.run_report("t.csv", "-o", "report.html")
        self.assertEqual(done.returncode, 0)
        self.assertIn("truncated", done.stderr)
        report = Report(self.folder / "report.html")
        self.assertEqual(len(report.series()["main_ram"][1]), 2)
        self.assertEqual(len(report.sessions[0]["warnings"]), 1)

    def test_sizes_that_cannot_be_are_left_out_with_a_warning(self):
        rows = [row(1), row(2)]
        rows[1][0] = 1e200
        write_tracking(self.folder / "t.csv", rows)
        done = self.run_report("t.csv", "-o", "report.html")
        self.assertEqual(done.returncode, 0)
        self.assertIn("main_ram: 1 value cannot be drawn as a size and is skipped", done.stderr)

    def test_without_results_cards_are_of_the_samples(self):
        write_tracking(self.folder / "t.csv", [row(1), [*row(3)[:-1], START + 2], [*row(2)[:-1], START + 3]])
        cards = self.report("t.csv").cards()
        self.assertEqual(cards["ram"]["value"], 9e9)
        self.assertEqual(cards["ram"]["at_least"], 9e9)
        self.assertIsNone(cards["ram"]["at_most"])  # known not to be known: the page says "at least"
        self.assertIn("between", cards["ram"]["reason"])
        self.assertEqual(cards["ram"]["state"], "sampled")
        self.assertAlmostEqual(cards["ram"]["limit"], 67.25414912e9, delta=1)
        self.assertEqual(cards["wall"]["value"], 2)

        self.assertAlmostEqual(cards["cpu"]["value"], 0.01 * sum(row(second)[MEASUREMENTS.index("cpu_combined_sum_utilization_percent")] for second in (2, 3)))
        self.assertEqual((cards["cpu"]["label"], cards["cpu"]["at_most"]), ("CPU time, at least", None))

    def test_tracking_files_have_the_figures_of_the_end(self):
        """So two of them can be compared as their reports can."""
        for name in "t.csv", "t.sqlite":
            words = [COMMAND, "run", "-q", "--st", "100", "--tf", name, "-o", "r.json", "--overwrite", "--", "sleep", "0.1"]
            subprocess.run(words, cwd=self.folder, check=True)
            results = json.loads((self.folder / "r.json").read_text())
            (self.folder / "r.json").unlink()
            cards = self.report(name).cards()
            with self.subTest(name):
                self.assertEqual(cards["cpu"]["value"], results["accounting"]["cpu_seconds"]["kernel"])
                self.assertAlmostEqual(cards["ram"]["value"] * 1e-9, results["max_ram"]["combined"]["total_rss"])
                self.assertAlmostEqual(cards["wall"]["value"], 3600 * results["compute_time"]["time"])

    def test_means_of_rates_are_by_the_time_that_they_are_of(self):
        """Where the tracker stood still, a row is of a long time."""
        column = MEASUREMENTS.index("cpu_combined_sum_utilization_percent")
        for name, values in ("t.csv", [(0, 0), (1, 100), (2, 100), (12, 4)]), ("u.csv", [(0, 7), (4, 20)]):
            rows = [row(second) for second, _ in values]
            for one, (_, percent) in zip(rows, values):
                one[column] = percent
            write_tracking(self.folder / name, rows)
        report = self.report("t.csv", "u.csv")
        self.assertAlmostEqual(report.cards(0)["cores"]["value"], 0.2)  # 240 % s in 12 s
        self.assertAlmostEqual(report.cards(1)["cores"]["value"], 0.2)
        (means,) = [table for table in report.document["comparison"] if table["id"] == "mean"]
        self.assertEqual([values[4] for values in means["rows"] if values[1] == MEASUREMENTS[column]], [20, 20])

    def test_without_results_the_wall_time_is_what_the_session_says(self):
        write_tracking(self.folder / "t.csv", [row(1), [*row(3)[:-1], START + 2], [*row(2)[:-1], START + 3]])
        first = START + 1
        for end, seconds in (2.75, 2.75), (None, 2):  # killed: it says nothing of its end
            start, end = ("" if at is None else datetime.datetime.fromtimestamp(first + at, datetime.timezone.utc).isoformat() for at in (0, end))
            (self.folder / "t.csv.session.json").write_text(json.dumps({"tracking_file": "t.csv", "host": "h", "start": start, "end": end}))
            report = self.report("t.csv", unfinished=None if end else "t.csv")
            self.assertAlmostEqual(report.cards()["wall"]["value"], seconds, delta=1e-6)
            self.assertAlmostEqual(report.sessions[0]["identity"]["seconds"], seconds, delta=1e-6)


class Tables(ReportTest):
    def write(self, tables):
        write_tracking(self.folder / "t.sqlite", [row(0), row(1), row(2)])
        database = sqlite3.connect(self.folder / "t.sqlite")
        for name, columns, rows in tables:
            database.execute(f"CREATE TABLE {name} ({columns})")
            database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        database.commit()
        database.close()

    def test_each_gpu_has_curves_of_its_own(self):
        rows = [(START + second, f"GPU-{gpu}", second + gpu, 50 * gpu if second else None)
                for second in range(3) for gpu in range(2)]
        self.write([("gpu_data", "timestamp REAL, uuid TEXT, ram_used REAL, utilization_percent REAL", rows)])
        report = self.report("t.sqlite")
        self.assertEqual([gpu["uuid"] for gpu in report.sessions[0]["gpus"]], ["GPU-0", "GPU-1"])
        found = report.series()
        self.assertEqual(found["gpu1_ram_used"], ([0, 1, 2], [1e9, 2e9, 3e9]))
        self.assertEqual(found["gpu1_utilization_percent"][1], [None, 50, 50])
        self.assertNotIn("gpu0_power_watts", found)

    def test_a_card_that_was_used_has_curves_of_its_clocks_temperature_and_slowed_time(self):
        # The second counter is reset, and the second card is not used.
        rows = [(START + second, f"GPU-{gpu}", 1 - gpu, 1410, 40 + second, seconds)
                for second, seconds in enumerate([5, 5.25, 0, 1]) for gpu in range(2)]
        columns = "timestamp REAL, uuid TEXT, combined_ram REAL, graphics_clock_mhz REAL, temperature_celsius REAL, power_cap_seconds REAL"
        self.write([("gpu_data", columns, rows)])
        report = self.report("t.sqlite")
        found = report.series()
        self.assertEqual(found["gpu0_graphics_clock_mhz"][1], [1.41e9] * 4)
        self.assertEqual(found["gpu0_temperature_celsius"][1], [40, 41, 42, 43])
        self.assertEqual(found["gpu0_power_cap_seconds"][1], [None, 25, None, 100])
        self.assertEqual([name for name in found if name.startswith("gpu1")], ["gpu1_combined_ram"])

    def test_the_power_of_all_gpus_is_never_below_that_of_one(self):
        """Energy has a row a second, or means of it; the curves of the GPUs have a reading a sample."""
        watts = [(60, 100), (300, 100), (60, None), (60, 100)]
        rows = [(START + i / 4, f"GPU-{gpu}", power) for i, powers in enumerate(watts) for gpu, power in enumerate(powers)]
        energy = ("energy_data", "timestamp REAL, package REAL, gpu REAL, total REAL", [(START, None, 0, 0), (START + 1, None, 200, 200)])
        self.write([("gpu_data", "timestamp REAL, uuid TEXT, power_watts REAL", rows), energy])
        report = self.report("t.sqlite")
        found = report.series()
        self.assertEqual(found["power_gpu"], ([0, 0.25, 0.5, 0.75], [160, 400, None, 160]))
        # Other curves of the chart are means of the time between two rows, and can be lower than their part.
        self.assertEqual([one["label"] for one in report.sessions[0]["series"] if one["id"] == "power_gpu"], ["GPUs, single readings"])
        self.assertNotIn("power_total", found)  # of the machine nothing but its GPUs is known

    def test_the_power_of_a_machine_is_that_of_more_than_gpus(self):
        self.write([("energy_data", "timestamp REAL, package REAL, gpu REAL, total REAL", [(START, 0, 0, 0), (START + 1, 20, 200, 220)])])
        found = self.report("t.sqlite").series()
        self.assertEqual([found[f"power_{name}"][1] for name in ("package", "gpu", "total")], [[None, 20], [None, 200], [None, 220]])

    def test_power_is_joules_over_time(self):
        self.write([("energy_data", "timestamp REAL, package REAL, total REAL",
                     [(START, 5, None), (START + 1, 25, None), (START + 3, 35, None)])])
        found = self.report("t.sqlite").series()
        self.assertEqual(found["power_package"], ([0, 1, 3], [None, 20, 5]))
        self.assertNotIn("power_total", found)

    def test_a_clock_that_was_set_back_is_said(self):
        write_tracking(self.folder / "t.csv", [row(second) for second in (0, 1, 2, 3, 1, 2, 1.5, 4)])
        for command in "report", "plot":
            done = self.run_command(command, "t.csv", "-o", "x.svg" if command == "plot" else "x.html", env=self.environment)
            self.assertEqual((done.returncode, done.stderr), (0, "gpu-tracker: warning: t.csv: 2 samples lie before the one before, by 2.5 s in "
                             "all: the system's time was set back. The session took longer than its times say, and its curves run over each other there.\n"))

    def test_power_begins_with_the_first_interval(self):
        """Counters have their baseline in the first row; it has no joules yet, and the second one those since then."""
        times, package, gpu = (0, 0.04, 0.5, 1), (None, 0.8, 10, 20), (None, 0, 5, 10)
        self.write([("energy_data", "timestamp REAL, package REAL, psys REAL",
                     [(START + time, *joules) for time, *joules in zip(times, package, gpu, strict=True)])])
        found = self.report("t.sqlite").series()
        self.assertEqual(found["power_package"], ([0, 0.5, 1], [None, 20, 20]))
        self.assertEqual(found["power_psys"][1], [None, 10, 10])
        (self.folder / "t.sqlite").unlink()
        self.write([("energy_data", "timestamp REAL, package REAL", [(START, None), (START + 1, 0), (START + 2, 30)])])
        self.assertEqual(self.report("t.sqlite").series()["power_package"][1], [None, None, 30], "its baseline came later")

    def test_bytes_become_rates(self):
        self.write([("io_data", "timestamp REAL, read_bytes REAL, write_bytes REAL, storage_read_bytes REAL",
                     [(START, 0, 0, None), (START + 1, 4e6, 0, None), (START + 3, 4e6, 5e6, None)])])
        report = self.report("t.sqlite")
        found = report.series()
        self.assertEqual(found["io_read"], ([0, 1, 3], [None, 4e6, 0]))
        self.assertEqual(found["io_write"][1], [None, 0, 2.5e6])
        self.assertNotIn("io_storage_read", found)
        self.assertEqual({series["unit"] for series in report.sessions[0]["series"] if series["group"] == "io"}, {"bytes_per_second"})

    def test_a_rate_is_never_that_of_a_moment(self):
        def rates(times, totals, table="io_data", column="read_bytes"):
            (self.folder / "t.sqlite").unlink(missing_ok=True)
            self.write([(table, f"timestamp REAL, {column} REAL", [(START + time, total) for time, total in zip(times, totals, strict=True)])])
            found = self.report("t.sqlite").series()
            return found["io_read" if table == "io_data" else f"power_{column}"]
        for name, times, totals, expected in (
                ("first", (0, 0.0004, 0.5, 1), (0, 30e3, 1e6, 1e6), ([0, 0.5, 1], [None, 2e6, 0])),
                ("last", (0, 0.5, 1, 1.001), (0, 1e6, 1e6, 2.002e6), ([0, 0.5, 1.001], [None, 2e6, 2e6])),
                ("in between", (0, 0.5, 0.5625, 0.625, 1), (0, 1e6, 2e6, 3e6, 2e6), ([0, 0.5, 1], [None, 2e6, 2e6])),
                ("the only one", (0, 0.0625, 0.125), (0, 1e6, 5e6), ([0, 0.125], [None, 40e6])),
                ("at the same time", (0, 0, 1), (0, 2e6, 2e6), ([0, 1], [None, 2e6])),
                ("taken back", (0, 0.5, 1), (0, 1e6, 0), ([0, 0.5, 1], [None, 2e6, 0])),
                ("clock set back", (0, 0.5, -100, -99.9375, -99), (0, 1e6, 2e6, 3e6, 3e6), ([0, 0.5, -100, -99], [None, 2e6, None, 1e6]))):
            with self.subTest(name):
                self.assertEqual(rates(times, totals), expected)
        # Joules grow between rows, however short: a counter that is read 1 ms later may have a whole step more.
        self.assertEqual(rates((0, 0.02, 0.125, 0.25, 0.251), (0, 1, 5, 10, 12.55), "energy_data", "package"),
                         ([0, 0.125, 0.251], [None, 40, 59.921]))

    def test_processes_have_their_lives_and_figures(self):
        columns = ("pid INTEGER, parent INTEGER, name TEXT, start_timestamp REAL, end_timestamp REAL, cpu_seconds REAL, "
                   "peak_ram REAL, exit_status INTEGER")
        rows = [(7, None, "sh", START - 1, None, 0.5, 0.25, None), (8, 7, "</script>\u202e", START, START + 2, None, 1.5, 3)]
        self.write([("process_data", columns, rows)])
        report = self.report("t.sqlite")
        found = report.sessions[0]["process_list"]
        self.assertEqual(found["names"], ["sh", "</script>\u202e"])
        self.assertNotIn("</script>\u202e", report.html)
        self.assertEqual(report.columns(found, "pid", "parent", "name", "start", "end", "peak_ram_bytes", "exit_status"), [
            (7, None, 0, -1, None, 0.25e9, None), (8, 7, 1, 0, 2, 1.5e9, 3)])
        self.assertEqual(report.column(found["peak_gpu_ram_bytes"]), [None, None])

    def test_a_damaged_table_costs_only_itself(self):
        self.write([("gpu_data", "timestamp REAL, uuid TEXT, ram_used REAL", [(START, "a", "no number")])])
        done = self.run_report("t.sqlite", "-o", "report.html")
        self.assertEqual(done.returncode, 0)
        self.assertIn("table gpu_data, row 1: ram_used", done.stderr)
        self.assertEqual(len(Report(self.folder / "report.html").series()["main_ram"][1]), 3)


class Results(ReportTest):
    def run_killed(self, *arguments):
        """Results of a session whose tracker was killed."""
        until_we_end = "import sys; print(flush=True); sys.stdin.read()"
        process = self.start_command("run", "--st", "0.02", "--resource-usage-file", "kept.results", *arguments, "--",
                                     *python(until_we_end), stdin=subprocess.PIPE)
        process.stdout.readline()
        samples = self.folder / "t.csv"
        kept = self.folder / "kept.results"
        while not kept.exists() or not kept.stat().st_size or (samples.exists() and samples.read_text().count("\n") < 5):
            pass
        process.kill()
        process.wait()

    def test_results_give_cards_and_sources(self):
        self.run_killed("--tf", "t.csv")
        report = self.report("kept.results", "t.csv", unfinished="t.csv")
        (session,) = report.sessions
        cards = report.cards()
        self.assertGreaterEqual(cards["ram"]["value"], max(value for value in report.series()["combined_ram"][1] if value))
        self.assertIn("RAM", session["summary"])
        self.assertEqual(cards["cpu"]["at_least"], cards["cpu"]["value"])  # as the summary has it
        self.assertGreater(cards["cpu"]["value"], 0)
        labels = {card: cards[card]["label"] for card in ("wall", "cpu", "cores")}
        self.assertEqual(labels, {"wall": "Wall time", "cpu": "CPU time, at least", "cores": "Cores used, at least"})
        self.assertNotIn("cpu_captured", cards)
        states = {source["name"]: source["state"] for source in session["sources"]}
        self.assertEqual(states["gpu"], "unavailable")
        self.assertTrue(all(source["reason"] for source in session["sources"]))

    def test_results_alone_are_a_session(self):
        self.run_killed()
        (session,) = self.report("kept.results", unfinished="kept.results").sessions
        self.assertEqual(session["kind"], "results")
        self.assertNotIn("series", session)

    def test_the_older_gpu_tracker_s_results_have_all_figures_that_they_know(self):
        use = dict(max_sum_percent=311.6, max_hardware_percent=311.6, mean_sum_percent=249.5, mean_hardware_percent=249.5)
        ram = {part: dict(total_rss=4.25, private_rss=2.0, shared_rss=2.25) for part in ("main", "descendants", "combined")}
        (self.folder / "r.json").write_text(json.dumps({
            "max_ram": {"unit": "megabytes", "system_capacity": 67000.0, "system": 31000.0, **ram},
            "max_gpu_ram": {"unit": "kilobytes", "system_capacity": 36594000.0, "system": 6500000.0,
                            "main": 1600000.0, "descendants": 4300000.0, "combined": 5800000.0},
            "cpu_utilization": {"system_core_count": 4, "n_expected_cores": 1, "combined": use, "main": use, "descendants": use, "system": use,
                                "main_n_threads": 2, "descendants_n_threads": 6, "combined_n_threads": 8},
            "gpu_utilization": {"system_gpu_count": 3, "n_expected_gpus": 2, "gpu_percentages": {
                "max_sum_percent": 125.0, "max_hardware_percent": 62.0, "mean_sum_percent": 75.0, "mean_hardware_percent": 37.0}},
            "compute_time": {"unit": "minutes", "time": 5.0}}))  # fmt: skip
        report = self.report("r.json")
        cards = report.cards()
        self.assertEqual({name: (round(card["value"], 6), card["unit"], card.get("limit")) for name, card in cards.items()}, {
            "wall": (300, "seconds", None), "cores": (2.495, "cores", 4), "ram": (4.25e6, "bytes", 67e9), "ram_main": (4.25e6, "bytes", None),
            "gpu_ram": (5.8e9, "bytes", 36.594e9), "gpu_busy": (37, "percent", None), "threads": (8, "count", None)})  # fmt: skip
        lines = [line.split(maxsplit=1) for line in report.sessions[0]["summary"].splitlines() if line]
        self.assertEqual(
            {label: text for label, text in lines if label in ("CPU", "GPUs", "Threads")},
            {"CPU": "2.5 cores  of 4, the mean of the samples; at most 3.1",
             "GPUs": "5.8 GB  peak of RAM, of 36.6 GB in all; busy: mean 37 %, max 62 %",
             "Threads": "8  seen at once"})  # fmt: skip


class Comparisons(ReportTest):
    def rows_of(self, table):
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row)) for row in table["rows"]]

    def test_sessions_are_compared_in_base_units(self):
        write_tracking(self.folder / "a.csv", [row(1), row(2)])
        write_tracking(self.folder / "b.csv", [row(2), row(4)])
        text = (self.folder / "b.csv").read_text().replace("gigabytes", "megabytes")
        (self.folder / "b.csv").write_text(text)
        for name in "a", "b":
            write_marks(self.folder / f"{name}-marks.csv", call(1, "step", 1, 2))
        report = self.report("a.csv", "b.csv", "a-marks.csv", "b-marks.csv")
        tables = {table["id"]: self.rows_of(table) for table in report.document["comparison"]}
        ram = {one["session"]: one for one in tables["mean"] if one["measurement"] == "main_ram" and not one["code_block"]}
        self.assertAlmostEqual(ram["a.csv"]["value"], 1.5e9, delta=1)
        self.assertAlmostEqual(ram["b.csv"]["value"], 3e6, delta=1)
        self.assertAlmostEqual(ram["b.csv"]["percent_change"], -99.8, delta=0.001)
        step = [one["session"] for one in tables["max"] if one["code_block"] == "step" and one["measurement"] == "main_ram"]
        self.assertEqual(sorted(step), ["a.csv", "b.csv"])

    def test_sessions_of_different_programs_are_compared_as_a_whole(self):
        for name in "a", "b":
            write_tracking(self.folder / f"{name}.csv", rows_of_a_session(1, 2))
            write_marks(self.folder / f"{name}-marks.csv", call(1, name, 1, 2))
        report = self.report("a.csv", "b.csv", "a-marks.csv", "b-marks.csv")
        self.assertEqual({one["code_block"] for one in self.rows_of(report.document["comparison"][0])}, {None})
        self.assertIn("does not match", report.document["warnings"][0])

    def test_code_blocks_that_all_sessions_have_are_compared(self):
        for name, blocks in ("a", ("load", "step")), ("b", ("step", "load", "eval")):
            write_tracking(self.folder / f"{name}.csv", rows_of_a_session(1, 2))
            write_marks(self.folder / f"{name}-marks.csv", [mark for block in blocks for mark in call(1, block, 1, 2)])
        report = self.report("a.csv", "b.csv", "a-marks.csv", "b-marks.csv")
        self.assertEqual({one["code_block"] for one in self.rows_of(report.document["comparison"][0])}, {None, "load", "step"})
        self.assertEqual(report.document["warnings"], ['Code blocks that not all sessions have are not compared: "eval" (in b.csv).'])

    def test_code_blocks_that_all_runs_have_are_compared(self):
        for name, blocks in ("a1", ("step", "x")), ("a2", ("step",)), ("b", ("step", "y")):
            write_tracking(self.folder / f"{name}.csv", rows_of_a_session(1, 2))
            write_marks(self.folder / f"{name}-marks.csv", [mark for block in blocks for mark in call(1, block, 1, 2)])
        report = self.report("a=a1.csv", "a=a2.csv", "b=b.csv", "a1-marks.csv", "a2-marks.csv", "b-marks.csv")
        self.assertEqual({one["code_block"] for one in self.rows_of(report.document["comparison"][0])}, {None, "step"})
        self.assertIn('"x" (in a), "y" (in b)', report.document["warnings"][0])

    def test_a_run_without_marks_leaves_the_sessions_compared(self):
        for name in "a1", "a2", "b":
            write_tracking(self.folder / f"{name}.csv", rows_of_a_session(1, 2))
        for name in "a1", "b":
            write_marks(self.folder / f"{name}-marks.csv", call(1, "step", 1, 2))
        report = self.report("a=a1.csv", "a=a2.csv", "b=b.csv", "a1-marks.csv", "b-marks.csv")
        self.assertEqual({one["code_block"] for one in self.rows_of(report.document["comparison"][0])}, {None})

    def test_a_session_without_marks_is_no_fault_of_the_others(self):
        for name in "a", "b":
            write_tracking(self.folder / f"{name}.csv", rows_of_a_session(1, 2))
        write_marks(self.folder / "a-marks.csv", call(1, "step", 1, 2))
        report = self.report("a.csv", "b.csv", "a-marks.csv")
        self.assertEqual({one["code_block"] for one in self.rows_of(report.document["comparison"][0])}, {None})
        self.assertNotIn("warnings", report.document)

    def test_one_session_is_not_compared(self):
        write_tracking(self.folder / "a.csv", [row(1)])
        self.assertNotIn("comparison", self.report("a.csv").document)


class Power(ReportTest):
    def test_a_recording_has_a_curve_for_each_metric(self):
        folder = self.folder / "exp1"
        folder.mkdir()
        lines = [{"date": f"2023-06-30 16:32:{10 + 2 * i:02d}.500000",
                  "metrics": {"cpu": {"intel_power": 40.5 + i, "total_mem_use": 1000 + i, "absolute_cpu_time_per_pid": {"7": 0.5, "8": 1},
                                      "per_process_cpu_uses": {"7": 0.25}, "per_process_mem_use_percent": {"7": 0.1}},
                              "gpu": {"nvidia_draw_absolute": 100, "per_gpu_nvidia_use_rate": {"0": 0.5}, "per_gpu_attributable_mem_use": {"0": 2e9},
                                      "per_gpu_fan_speed": {"0": 30, "1": 40}}}} for i in range(4)]
        texts = [json.dumps(line) for line in lines]
        (folder / "power_metrics.json").write_text("\n".join([*texts[:2], '"END OF RECORDING SEGMENT"', *texts[2:]]) + "\n")
        report = self.report("exp1")
        self.assertEqual(report.sessions[0]["kind"], "power")
        self.assertEqual([card["label"] for card in report.sessions[0]["cards"]],
                         ["Recorded time", "Energy of CPU packages and GPUs", "Mean power of CPU packages and GPUs"])
        found = report.series()
        times, values = found["intel_power"]
        self.assert_series(values, [40.5, 41.5, None, 42.5, 43.5], 0.0005)
        self.assert_series(times, [0, 2, 4, 4, 6], 1e-6)
        self.assert_series(found["total_mem_use"][1], [1000, 1001, None, 1002, 1003], 0)
        units = {series["id"]: (series["group"], series["unit"]) for series in report.sessions[0]["series"]}
        self.assertEqual(units["intel_power"], ("power", "watts"))
        # The recording does not say these units.
        self.assertEqual(units["absolute_cpu_time_per_pid"], ("cpu_time", "cores"))
        self.assertEqual(units["per_process_cpu_uses"], units["per_process_mem_use_percent"])
        self.assertEqual(units["per_process_cpu_uses"], ("shares", "ratio"))
        self.assertEqual(units["per_gpu_nvidia_use_rate:0"], ("gpu", "ratio"))
        self.assertEqual(found["absolute_cpu_time_per_pid"][1][0], 1.5)
        labels = {series["id"]: (series["group"], series["label"], series["unit"]) for series in report.sessions[0]["series"]}
        self.assertEqual(labels["nvidia_draw_absolute"], ("power", "all GPUs", "watts"))
        self.assertEqual(labels["nvidia_mem_use:0"], ("gpu_ram", "the command on GPU 0", "bytes"))
        self.assertEqual(labels["per_gpu_fan_speed:1"], ("per gpu fan speed", "per gpu fan speed 1", ""))  # of no recorder that is known
        self.assertFalse([label for _, label, _ in labels.values() if "_" in label])
        self.assertAlmostEqual(report.cards()["wall"]["value"], 4)


class File(ReportTest):
    def test_the_title_is_that_of_the_sessions_or_as_given(self):
        write_tracking(self.folder / "t.csv", [row(1)])
        self.assertIn("<title>t.csv - gpu-tracker</title>", self.report("t.csv").html)
        report = self.report("t.csv", "--title", "</title><script>alert(1)</script>")
        self.assertIn("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>", report.html)
        self.assertEqual(report.document["title"], "</title><script>alert(1)</script>")

    def test_hostile_names_stay_inside_the_data(self):
        name = "</script><script>alert('\U0001f600\u202e')</script>"
        write_tracking(self.folder / "t.csv", [row(1), row(2)])
        write_marks(self.folder / "m.csv", call(1, name, 1, 2))
        report = self.report("t.csv", "--stf", "m.csv")
        self.assertEqual(report.sessions[0]["calls"]["names"], [name])
        self.assertEqual(report.html.count("<script"), 1)

    def test_what_was_there_stays_when_it_fails(self):
        (self.folder / "report.html").write_text("old")
        done = self.run_report("missing.csv", "-o", "report.html")
        self.assert_fails(done, 1, "Cannot open missing.csv: No such file or directory")
        self.assertEqual((self.folder / "report.html").read_text(), "old")
        self.assert_folder_is("page", "report.html")

    def test_it_goes_to_the_standard_output(self):
        write_tracking(self.folder / "t.csv", [row(1)])
        done = self.run_report("t.csv", "-o", "-")
        self.assertTrue(done.stdout.startswith("<!doctype html>") and done.stdout.endswith("</body>\n"))
        self.assert_folder_is("page", "t.csv")

    def test_the_default_file_is_report_html(self):
        write_tracking(self.folder / "t.csv", [row(1)])
        done = self.run_report("t.csv", check=True)
        self.assertEqual((done.stdout, done.stderr), ("", "gpu-tracker: Wrote report.html (-o chooses another name).\n"))
        self.assert_folder_is("page", "report.html", "t.csv")

    def test_the_output_is_no_input(self):
        write_tracking(self.folder / "t.csv", [row(1)])
        done = self.run_report("t.csv", "-o", "t.csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("would replace", done.stderr)

    def test_without_space_no_file_is_left(self):
        write_tracking(self.folder / "t.csv", [row(1)])
        done = self.run_report("t.csv", "-o", "no/such/report.html")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no/such/report.html", done.stderr)

    def test_a_page_without_a_place_for_data_is_refused(self):
        (self.page / "page.html").write_text("<title></title>")
        write_tracking(self.folder / "t.csv", [row(1)])
        self.assert_fails(self.run_report("t.csv"), 1, "The page of reports has no <!--gput-data-->.")
        self.assert_folder_is("page", "t.csv")

    def test_the_page_is_built_in_or_the_help_says_that_it_is_not(self):
        write_tracking(self.folder / "t.csv", [row(1)])
        done = self.run_command("report", "t.csv")
        help_text = " ".join(self.run_command("report", "--help").stdout.split())
        if done.returncode == 0:
            self.assertEqual(len(Report(self.folder / "report.html").series()["main_ram"][1]), 1)
            self.assertNotIn(NO_PAGE, help_text)
        else:
            self.assert_fails(done, 1, NO_PAGE)
            self.assertIn(NO_PAGE, help_text)


if __name__ == "__main__":
    main()
