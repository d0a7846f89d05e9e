"""What the tests of gpu-tracker report share: a page of their own, and reports made with it."""

import os

from command import CommandTest
from report_data import PAGE, Report

UNFINISHED = (
    ": the session did not finish: it was killed, or still runs. What it used after its last sample is not known.\n"
)
GIGABYTE = 1e9


def scale_of(name):
    return GIGABYTE if name.endswith("_ram") else 1


def tolerance_of(name):
    return 0.5 if name.endswith("_ram") or name.endswith("_threads") else 0.0005001


class ReportTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.page = self.folder / "page"
        self.page.mkdir()
        (self.page / "page.html").write_text(PAGE)
        self.environment = os.environ | {"GPUT_REPORT_PAGE": str(self.page / "page.html")}

    def run_report(self, *arguments, **options):
        return self.run_command("report", *arguments, env=self.environment, **options)

    def report(self, *arguments, unfinished=None):
        """`unfinished` names the one of them that says nothing of its end."""
        done = self.run_report(*arguments, "-o", "report.html")
        warning = f"gpu-tracker: warning: {unfinished}{UNFINISHED}" if unfinished else ""
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", warning))
        return Report(self.folder / "report.html")

    def assert_series(self, found, expected, tolerance):
        self.assertEqual(len(found), len(expected))
        for value, wanted in zip(found, expected):
            self.assertEqual(value is None, wanted is None)
            if wanted is not None:
                self.assertAlmostEqual(value, wanted, delta=tolerance)
