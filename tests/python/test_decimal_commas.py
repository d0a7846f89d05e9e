"""Programs that have set a locale with decimal commas: what the library gives them is the same."""

import json
import os
import pathlib
import pickle
import struct
import subprocess
import sys

import package
import sessions

import gpu_tracker as gput

# Prints what has numbers in texts, or reads them from texts.
PROGRAM = """
import json, locale, pathlib, sys
sys.path.append(sys.argv[1])
from report_data import Report
import gpu_tracker as gput
if len(sys.argv) > 2:
    locale.setlocale(locale.LC_NUMERIC, sys.argv[2])
    assert locale.localeconv()["decimal_point"] == ","
analyzer = gput.SubTrackingAnalyzer("one.csv", "one-marks.csv")
comparison = gput.TrackingComparison({"one": "one.pkl", "two": "two.pkl"})
print(analyzer.sub_tracking_results().to_json(), analyzer.load_timestamp_pairs("a"), comparison.compare("max").to_json())
print(analyzer.sub_tracking_results(), comparison.compare(), comparison.table("max").to_dict())
for name, table in gput.job("one.csv", "two.csv").items():
    print(name, table.to_dict())
print(gput.read_samples("one.csv").to_dict())
gput.plot("one.csv", "plot.svg")
print(pathlib.Path("plot.svg").read_text())
gput.report(["one.csv", "two.csv"], "report.html", sub_tracking_files=["one-marks.csv", "two-marks.csv"])
print(json.dumps(Report("report.html").document | {"created": 0}))
"""
SESSION = """
import json, locale
import gpu_tracker as gput
locale.setlocale(locale.LC_NUMERIC, "odd")
with gput.Tracker(sleep_time=0.05, tracking_file="own.csv", overwrite=True, limits={"seconds": "2.5h"}) as tracker:
    pass
print(json.dumps(tracker.details))
print(tracker)
"""


def write_locale(folder):
    """LC_NUMERIC as glibc reads it (locale/loadlocale.c), whichever locales are installed."""
    values = b",\0", b"\0", b"\x7f\0", struct.pack("=I", ord(",")), struct.pack("=I", 0), b"UTF-8\0"
    content, places = b"", []
    for value in values:
        content += b"\0" * (-len(content) % 4)
        places.append(8 + 4 * len(values) + len(content))
        content += value
    folder.mkdir(parents=True)
    (folder / "LC_NUMERIC").write_bytes(struct.pack(f"={2 + len(values)}I", 0x20031115 ^ 1, len(values), *places) + content)


class DecimalCommas(package.PackageTest):
    def setUp(self):
        super().setUp()
        write_locale(pathlib.Path("locales", "odd"))
        pathlib.Path("page.html").write_text("<title><!--gput-title--></title><!--gput-data-->")
        for name, factor in ("one", 1.25), ("two", 2.5):
            analyzer = gput.SubTrackingAnalyzer(*sessions.write_session(f"{name}.csv", f"{name}-marks.csv", factor=factor))
            with open(f"{name}.pkl", "wb") as file:
                pickle.dump(analyzer.sub_tracking_results(), file)

    def run_program(self, program, *arguments):
        environment = os.environ | {"LOCPATH": str(pathlib.Path("locales").absolute()), "GPUT_REPORT_PAGE": "page.html"}
        done = subprocess.run([sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, timeout=package.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_what_is_read_and_shown_of_sessions_is_the_same(self):
        tests = str(package.SOURCE / "tests" / "cli")
        shown = self.run_program(PROGRAM, tests)
        self.assertIn("2.5", shown)
        self.assertEqual(self.run_program(PROGRAM, tests, "odd").splitlines(), shown.splitlines())

    def test_a_session_has_decimal_points(self):
        report, *text = self.run_program(SESSION).splitlines()
        self.assertGreater(len(json.loads(report)), 5)
        for line in text:
            self.assertNotRegex(line, "[0-9],[0-9]")
        names, *rows = [line.split(",") for line in pathlib.Path("own.csv").read_text().splitlines()[2:]]
        self.assertTrue(rows)
        self.assertEqual({len(row) for row in rows}, {len(names)})


if __name__ == "__main__":
    package.main()
