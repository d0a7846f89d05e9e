"""One figure has one name in JSON, tables, SQLite, exported reports and the C API; docs/cpu-time.md lists the exceptions."""

import contextlib
import csv
import ctypes
import json
import os
import pathlib
import re
import sqlite3
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


def names_section():
    return (SOURCE / "docs/cpu-time.md").read_text().split("## Names of figures")[1].split("\n## ")[0]


def documented_exceptions():
    return set(re.findall(r"`(\w+)`", re.search(r"(?m)^\| JSON: ([^;]*);", names_section())[1]))


def of_session(known):
    """What identifies a session, without its sections."""
    pairs = [name.split(".", 1) for name in known if "." in name]
    return {name for section, name in pairs if section in ("identity", "job", "files")} | {f"allowed_{name}" for section, name in pairs if section == "allowed"}


def figures_of_session(known):
    """peaks.main_bytes is peaks_main_bytes, max.main_ram is max_main_ram_bytes."""
    ends = {name: "_bytes" if name.startswith(("max.", "mean.")) and unit == "bytes" else "" for name, unit in known.items()}
    return {name.replace(".", "_") + end for name, end in ends.items()}


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

    def test_columns_of_sqlite_are_named_as_in_json_and_in_the_c_api(self):
        known, processes = columns(), set(self.report["processes"][0])
        of_samples = {name.split(".")[1] for name in known if name.startswith("max.")}
        tables = {
            "data": of_samples | {"timestamp"},
            "process_data": processes | {"command_line"},
            "io_data": processes | {"timestamp"},
            "session_data": of_session(known) | figures_of_session(known) | {"rows_lost"},
            "static_data": {name.removeprefix("static_data.").removesuffix("_bytes") for name in known if name.startswith("static_data.")},
        }
        with contextlib.closing(sqlite3.connect(pathlib.Path(self.folder.name) / "run.sqlite")) as database:
            found = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
            self.assertEqual(found, set(tables))
            for table, names in tables.items():
                columns_of_it = {name for _, name, *_ in database.execute(f"pragma table_info({table})")}
                self.assertEqual(columns_of_it - names, set(), table)

    def test_reports_name_a_session_as_its_results_do(self):
        row = re.search(r"(?m)^\| `identity` of reports \| ([^;]*);", names_section())[1]
        own, names = set(re.findall(r"`(\w+)`", row)), of_session(columns())
        self.assertEqual(own & names, set())
        session = json.loads(self.run_command("report", "-f", "json", "run.sqlite", "-o", "-"))["sessions"][0]
        self.assertIn("exit_status", session["identity"])
        self.assertEqual(set(session["identity"]) - names - own, set())
        self.run_command("report", "-f", "csv", "run.sqlite", "-o", "sessions")
        with (pathlib.Path(self.folder.name) / "sessions" / "sessions.csv").open() as file:
            header = set(next(csv.reader(file)))
        self.assertEqual(header - names - own, {"session", "name", "file", "kind"})

    def test_other_names_of_outputs_are_as_documented(self):
        rows = dict(re.findall(r"(?m)^\| ([^|]*?) \| ([^|]*?) \|", names_section()))
        self.run_command("report", "-f", "csv", "run.sqlite", "run.json", "-o", "figures")
        with (pathlib.Path(self.folder.name) / "figures" / "figures.csv").open() as file:
            cards = {row["id"] for row in csv.DictReader(file)}
        documented = set(re.findall(r"`(\w+)`", rows["`figures.csv` of exported reports"].split("; the curves")[0]))
        self.assertLessEqual(documented, cards)
        job = json.loads(self.run_command("job", "--format", "json", "run.json"))
        documented = set(re.findall(r"`(\w+)`", rows["ranks of `job`"]))
        self.assertLessEqual(documented, set(job["ranks"][0]))

    def test_processes_have_the_same_names_in_json_files_and_exported_reports(self):
        in_json = set(self.report["processes"][0])
        tables = json.loads(self.run_command("report", "-f", "json", "run.sqlite", "-o", "-"))
        self.run_command("report", "-f", "csv", "run.sqlite", "-o", "tables")
        (path,) = pathlib.Path(self.folder.name, "tables").glob("*processes.csv")
        with path.open() as file:
            exported = set(next(csv.reader(file)))
        self.assertLessEqual({"peak_ram", "peak_gpu_ram"}, in_json)
        self.assertLessEqual({"exit_status", "signal"}, in_json & set(self.report["identity"]) & exported)
        self.assertEqual({name for name in in_json if name.endswith("ram_bytes")}, set())
        in_bytes = {f"{name}_bytes" for name in in_json}
        self.assertLessEqual(exported - {"start", "end"}, in_json | in_bytes)
        self.assertIn("peak_ram_bytes", exported)
        listed = tables["sessions"][0]["process_list"]
        self.assertLessEqual(set(listed) - {"names", "signals", "start", "end"}, in_json | in_bytes)


if __name__ == "__main__":
    tap.main()
