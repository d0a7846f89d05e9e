"""One figure has one name in JSON, tables, exported reports and the C API; docs/running-commands.md lists the exceptions."""

import csv
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
COMMAND = os.environ["GPUT_COMMAND"]
LIBRARY = pathlib.Path(os.environ["GPUT_BUILD"]) / "libgputracker.so"
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

# Lists of JSON: their members are columns of tables of their own.
LISTS = {"sources", "processes", "other_processes", "gpus", "limits_passed"}


class ResultsColumn(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "unit", "source", "meaning")] + [("type", ctypes.c_int)]


def columns():
    """{name: unit} of the C API."""
    library = ctypes.CDLL(str(LIBRARY))
    library.gput_results_column_count.restype = ctypes.c_size_t
    library.gput_results_column.restype = ctypes.POINTER(ResultsColumn)
    library.gput_results_column.argtypes = [ctypes.c_size_t]
    rows = [library.gput_results_column(i).contents for i in range(library.gput_results_column_count())]
    return {row.name.decode(): row.unit and row.unit.decode() for row in rows}


def paths(value, path=""):
    if not isinstance(value, dict):
        return [path]
    return [found for key, member in value.items() for found in paths(member, f"{path}.{key}".lstrip("."))]


def documented_exceptions():
    text = (SOURCE / "docs/running-commands.md").read_text().split("## Names of figures")[1].split("\n## ")[0]
    return set(re.findall(r"`(\w+)`", re.search(r"(?m)^\| JSON: ([^;]*);", text)[1]))


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.run_command("run", "--processes", "--st", "0.02", "--tf", "run.sqlite", "-o", "run.json", "--", "sh", "-c", "sleep 0.2; true")
        cls.report = json.loads((pathlib.Path(cls.folder.name) / "run.json").read_text())

    @classmethod
    def run_command(cls, *words):
        done = subprocess.run([COMMAND, *words], cwd=cls.folder.name, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_what_is_at_a_path_of_json_is_the_column_of_that_name(self):
        known, exceptions = columns(), documented_exceptions()
        self.assertLessEqual(exceptions, set(self.report))
        ours = [path for section in self.report if section not in exceptions | LISTS
                for path in paths(self.report[section], section) if not path.endswith(".unit")]
        self.assertGreater(len(ours), 30)
        unknown = [path for path in ours if not {path, f"{path}_bytes", f"{path}_joules"} & set(known)]
        self.assertEqual(unknown, [])

    def test_a_column_that_ends_in_a_unit_is_in_that_unit(self):
        ends = {"_bytes": "bytes", "_joules": "joules", "_percent": "percent", "_watts": "watts", "_grams": "grams"}
        for name, unit in columns().items():
            for end, of in ends.items():
                if name.endswith(end):
                    self.assertEqual(unit, of, name)

    def test_processes_have_the_same_names_in_json_files_and_exported_reports(self):
        in_json = set(self.report["processes"][0])
        tables = json.loads(self.run_command("report", "-f", "json", "run.sqlite", "-o", "-"))
        self.run_command("report", "-f", "csv", "run.sqlite", "-o", "tables")
        (path,) = pathlib.Path(self.folder.name, "tables").glob("*processes.csv")
        with path.open() as file:
            exported = set(next(csv.reader(file)))
        self.assertLessEqual({"peak_ram", "peak_gpu_ram"}, in_json)
        self.assertEqual({name for name in in_json if name.endswith("ram_bytes")}, set())
        in_bytes = {f"{name}_bytes" for name in in_json}
        self.assertLessEqual(exported - {"start", "end"}, in_json | in_bytes)
        self.assertIn("peak_ram_bytes", exported)
        listed = tables["sessions"][0]["process_list"]
        self.assertLessEqual(set(listed) - {"names", "start", "end"}, in_json | in_bytes)


if __name__ == "__main__":
    tap.main()
