"""Many sessions on engines: what is exported, and that every engine finds what the C analyzer finds."""

import contextlib
import csv
import importlib.util
import json
import logging
import math
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest

import package
import sessions
from gpu_tracker import SubTracker, SubTrackingAnalyzer, fleet, read_marks
from gpu_tracker.fleet import layout
from power_recording import wait_until

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

NAMES = "load", "step", "forward", "io, \"quoted\"", "Größe"
SEED = int(os.environ.get("GPUT_TEST_SEED", "20261123"))


def write_samples(path, rows, unit="gigabytes"):
    """rows: (time, values), None is missing."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([sessions.STATIC.keys(), {**sessions.STATIC, "ram_unit": unit}.values(), [*sessions.MEASUREMENTS, "timestamp"]])
        for time, values in rows:
            writer.writerow([*("" if value is None else repr(value) for value in values), repr(time)])


def write_marks(path, marks):
    """marks: (process, thread, name, position, time); threads None: a file without them."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        threaded = marks[0][1] is not None
        writer.writerow(["process_id", *(["thread_id"] if threaded else []), "code_block_name", "position", "timestamp"])
        writer.writerows([process, *([thread] if threaded else []), name, position, repr(time)] for process, thread, name, position, time in marks)


def random_values(generator, row):
    """Large values with a small spread, whole numbers, zeros that are partly missing, use of CPUs that the first sample lacks."""
    values = []
    for number, name in enumerate(sessions.MEASUREMENTS):
        if name.endswith("_threads"):
            values.append(generator.randrange(100))
        elif name.startswith("cpu_main"):
            values.append(None if row == 0 else 0.0)
        elif name.startswith("cpu_") or number % 5 == 4:
            values.append(None if row == 0 or generator.random() < 0.2 else generator.choice([0.0, 12.5, generator.random()]))
        elif number % 5 == 3:
            values.append(None if generator.random() < 0.3 else 0.0)
        else:
            values.append(64.0 + generator.random() * 1e-4)
    return values


def random_calls(generator, thread, start, end, depth=0):
    """Nested calls, recursion included, on a grid that samples are on, too: starts and stops at the time of a sample, and empty ones."""
    marks, time = [], start
    while time < end and generator.random() < 0.9:
        first = time + generator.randrange(4) / 4
        last = min(first + generator.choice([0, 0, 1, 3, 10]) / 4, end)
        if first > last:
            break
        name = generator.choice(NAMES)
        marks.append((*thread, name, 0, first))
        marks += random_calls(generator, thread, first, last, depth + 1) if depth < 4 else []
        marks.append((*thread, name, 1, last))
        time = last
    return marks


class Folder(package.PackageTest):
    def setUp(self):
        super().setUp()
        os.mkdir("runs")

    def table(self, name):
        """All rows of an exported table."""
        return [row for path in sorted(pathlib.Path("out", name).iterdir()) for row in pyarrow.parquet.ParquetFile(path).read().to_pylist()]


    def columns_of(self, path):
        with contextlib.closing(sqlite3.connect(path)) as database:
            return [column[1] for column in database.execute("pragma table_info(session_data)")]


@unittest.skipUnless(pyarrow, "needs pyarrow")
class Export(Folder):
    def test_tables_have_types_units_and_identity(self):
        sessions.write_session("runs/a.csv", "runs/a-blocks.csv")
        pathlib.Path("runs/a.csv.session.json").write_text(json.dumps({"tracking_file": "a.csv", "host": "n1", "start": "x", "job_id": "47", "rank": 3}))
        (name,) = fleet.export("runs", "out")
        self.assertRegex(name, r"\A47\.r3\.n1\.[0-9a-f]{15}\Z")
        self.assertEqual(sorted(os.listdir("out")), ["calls", "leaves", "marks", "samples", "segments", "sessions"])
        file = pyarrow.parquet.ParquetFile(f"out/samples/{name}.parquet")
        field = file.schema_arrow.field("main_ram")
        self.assertEqual((field.type, field.metadata[b"unit"]), (pyarrow.float64(), b"bytes"))
        self.assertEqual(file.schema_arrow.field("main_n_threads").type, pyarrow.int64())
        self.assertEqual(json.loads(file.schema_arrow.metadata[b"gpu_tracker"])["job_id"], "47")
        self.assertEqual([row["main_ram"] for row in self.table("samples")], [row * 1e9 for row in range(10)])
        (session,) = self.table("sessions")
        self.assertEqual((session["host"], session["rank"], session["samples"], session["pid"]), ("n1", 3, 10, None))
        self.assertEqual([row["start"] for row in self.table("segments")][:3], [-math.inf, 1000.5, 1001.75])

    def test_sessions_have_what_they_were_allowed_and_times_that_are_numbers(self):
        sessions.write_tracking("runs/a.csv")
        known = {"tracking_file": "a.csv", "host": "n1", "start": "1970-01-01T00:16:39.5Z", "allowed_quota_cores": 1.5, "allowed_memory_max_bytes": 8000000000}
        pathlib.Path("runs/a.csv.session.json").write_text(json.dumps(known))
        fleet.export("runs", "out")
        (session,) = self.table("sessions")
        self.assertEqual([session[name] for name in ("allowed_quota_cores", "allowed_memory_max_bytes", "allowed_gpus")], [1.5, 8e9, None])
        self.assertEqual([session[name] for name in ("start", "start_timestamp", "end_timestamp")], [known["start"], 999.5, None])
        subprocess.run([os.environ["GPUT_COMMAND"], "run", "-q", "--tf", "b.sqlite", "--", "true"], check=True)
        written = {name for name in self.columns_of("b.sqlite") if name.startswith("allowed_")}
        self.assertEqual({name for name in session if name.startswith("allowed_")}, written)

    def test_sessions_have_the_figures_of_their_end(self):
        """The peak lies between two samples."""
        program = "import time; time.sleep(0.2); block = b'x' * 60_000_000; del block; time.sleep(0.2)"
        for name in "a.csv", "b.sqlite":
            run = [os.environ["GPUT_COMMAND"], "run", "-q", "--st", "100", "--tf", f"runs/{name}", "-o", f"{name}.json", "--ru", "bytes"]
            subprocess.run([*run, "--", sys.executable, "-S", "-c", program], check=True)
        fleet.export("runs", "out")
        rows = {os.path.basename(row["path"]): row for row in self.table("sessions")}
        for name, row in rows.items():
            report = json.loads(pathlib.Path(f"{name}.json").read_text())
            self.assertGreater(row["max_combined_ram_bytes"], 60e6)
            self.assertEqual(row["max_combined_ram_bytes"], report["max_ram"]["combined"]["total_rss"])
            self.assertEqual(row["accounting_cpu_seconds_kernel"], report["accounting"]["cpu_seconds"]["kernel"])
            self.assertEqual(row["session_id"], report["identity"]["session_id"])
        self.assertLessEqual({*layout.FIGURES, *layout.IDENTITY_TEXTS, *layout.IDENTITY_NUMBERS}, set(self.columns_of("runs/b.sqlite")))

    def test_bytes_are_whole(self):
        write_samples("runs/a.csv", [(1000.0 + row, [(63864832 + row) / 1e9] * 8 + [0.0] * 13) for row in range(1000)])
        fleet.export("runs", "out")
        self.assertEqual([row["main_ram"] for row in self.table("samples")], [63864832.0 + row for row in range(1000)])

    def test_the_questions_of_the_docs_have_answers(self):
        """Each on an export of real sessions; without pyarrow on the table that C writes."""
        if not importlib.util.find_spec("duckdb"):
            self.skipTest("duckdb is not installed")
        import duckdb

        environment = os.environ | {"SLURM_JOB_ID": "47", "SLURM_JOB_NAME": "train.sh", "SLURM_MEM_PER_NODE": "4096", "SLURM_CPUS_ON_NODE": "1", "CUDA_VISIBLE_DEVICES": "0"}
        os.makedirs("asked", exist_ok=True)
        for number in range(3):
            subprocess.run([os.environ["GPUT_COMMAND"], "run", "-q", "-o", f"asked/{number}.json", "--", "sleep", "0.05"], check=True, env=environment)
        fleet.export("asked", "exported")
        text = (pathlib.Path(os.environ["GPUT_SOURCE"]) / "docs/fleet.md").read_text().split("## Questions about sessions")[1].split("```sql\n")[1].split("```")[0]
        queries = [query for query in text.split(";") if query.strip()]
        self.assertEqual(len(queries), 6)
        subprocess.run([os.environ["GPUT_COMMAND"], "job", "--table", "sessions", "-f", "csv", "asked", "-o", "sessions.csv"], check=True)
        found = [duckdb.sql(query).fetchall() for query in queries]
        self.assertEqual((found[0][0][:3], len(found[1]), len(found[2]), found[4]), (("sleep", 3, 3), 1, 1, []))
        self.assertEqual(found[5][0][:3], ("47", "train.sh", 3))
        by_csv = duckdb.sql("SELECT command, count(*), round(sum(accounting_cpu_seconds_kernel), 6) FROM 'sessions.csv' GROUP BY command").fetchall()
        self.assertEqual(by_csv, duckdb.sql("SELECT command, count(*), round(sum(accounting_cpu_seconds_kernel), 6) FROM 'exported/sessions/*.parquet' GROUP BY command").fetchall())

    def test_processes_of_sqlite_files_are_exported(self):
        run = [os.environ["GPUT_COMMAND"], "run", "-q", "--st", "0.05", "--processes", "--tf", "runs/a.sqlite", "--", sys.executable, "-c", "x = b'x' * 30_000_000"]
        subprocess.run(run, check=True)
        fleet.export("runs", "out")
        (process,) = self.table("processes")
        self.assertEqual(process["exit_status"], 0)
        self.assertTrue(30e6 < process["peak_ram"] < 300e6, process["peak_ram"])
        (session,) = self.table("sessions")
        self.assertEqual((session["exit_status"], session["pid"]), (0, process["pid"]))

    def test_arrow_files_have_the_same_tables(self):
        sessions.write_session("runs/a.csv", "runs/a-blocks.csv")
        (name,) = fleet.export(["runs"], "out", format="arrow")
        with pyarrow.memory_map(f"out/calls/{name}.arrow") as file:
            self.assertEqual(pyarrow.ipc.open_file(file).read_all()["code_block_name"].to_pylist(), ["a", "b", "a", "a"])
        with self.assertRaisesRegex(ValueError, "Arrow files"):
            fleet.analyze("out")

    def test_the_same_session_twice_is_exported_once(self):
        sessions.write_session("runs/a.csv", "runs/a-blocks.csv")
        os.mkdir("copy")
        shutil.copy("runs/a.csv", "copy/b.csv")
        with self.assertLogs("gpu_tracker") as logs:
            self.assertEqual(len(fleet.export(["runs", "copy"], "out")), 1)
        self.assertIn("copy/b.csv is skipped: it is the same session as runs/a.csv.", logs.output[0])
        with self.assertLogs("gpu_tracker") as logs:
            fleet.export("runs", "out")
        self.assertIn("out has this session", logs.output[0])

    def test_a_copy_without_its_identity_is_the_same_session(self):
        subprocess.run([os.environ["GPUT_COMMAND"], "run", "-q", "--tf", "runs/b.csv", "--", "true"], check=True)
        shutil.copy("runs/b.csv", "runs/a.csv")
        with self.assertLogs("gpu_tracker") as logs:
            self.assertEqual(len(fleet.export("runs", "out")), 1)
        self.assertEqual([line.split(":", 2)[2] for line in logs.output], ["runs/a.csv is skipped: it is the same session as runs/b.csv."])
        (session,) = self.table("sessions")
        self.assertIsNotNone(session["host"])

    def test_a_copy_in_an_export_of_its_own_is_the_same_session(self):
        subprocess.run([os.environ["GPUT_COMMAND"], "run", "-q", "--tf", "runs/b.csv", "--", "true"], check=True)
        os.mkdir("copy")
        shutil.copy("runs/b.csv", "copy/a.csv")
        for format in "parquet", "arrow":
            for first, second in ("runs", "copy"), ("copy", "runs"):
                out = f"{format}-{first}"
                fleet.export(first, out, format=format)
                with self.assertLogs("gpu_tracker") as logs:
                    fleet.export(second, out, format=format)
                if second == "copy":
                    self.assertRegex(logs.output[0], rf"copy/a.csv is skipped: {out} has its samples, as ")
                else:
                    self.assertRegex(logs.output[0], rf"runs/b.csv replaces [0-9a-f]{{15}} in {out}, a copy of it without its identity\.$")
                self.assertEqual({len(list(table.iterdir())) for table in pathlib.Path(out).iterdir()}, {1})
                self.assertEqual([path for path in pathlib.Path(out).rglob("*.part")], [])
                (path,) = pathlib.Path(out, "sessions").iterdir()
                table = pyarrow.parquet.read_table(path) if format == "parquet" else pyarrow.ipc.open_file(path).read_all()
                self.assertIsNotNone(table["host"][0].as_py())

    def test_what_is_damaged_is_left_out_and_the_rest_stands(self):
        sessions.write_session("runs/a.csv", "runs/a-blocks.csv")
        sessions.write_tracking("runs/b.csv", 2.0)
        content = pathlib.Path("runs/b.csv").read_text()
        pathlib.Path("runs/b.csv").write_text(content[: len(content) - 30])  # a tracker that writes, or was killed
        sessions.write_tracking("runs/c.csv", 3.0)
        lines = pathlib.Path("runs/c.csv").read_text().splitlines(True)
        pathlib.Path("runs/c.csv").write_text("".join([*lines[:5], "no,number\n", *lines[5:]]))
        sessions.write_session("runs/d.csv", "runs/d-blocks.csv", [(7, "a", 1, 2)], factor=4.0)
        with open("runs/d-blocks.csv", "a") as file:
            file.write("7,a,1,1003.5\n8,a,1,1004\n")
        with self.assertLogs("gpu_tracker") as logs:
            self.assertEqual(len(fleet.export("runs", "out")), 4)
        said = "\n".join(logs.output)
        self.assertIn("1 row was skipped, 10 were kept", said)
        self.assertIn("b.csv: the last line is truncated", said)
        self.assertIn("Of runs/d.csv only samples are exported:", said)
        self.assertEqual(sorted(row["samples"] for row in self.table("sessions")), [9, 10, 10, 10])
        self.assertEqual([path for path in pathlib.Path("out").rglob("*.part")], [])

    def test_databases_and_reports_that_are_cut_are_named(self):
        sessions.write_tracking("runs/a.csv")
        subprocess.run([os.environ["GPUT_COMMAND"], "run", "-q", "--tf", "runs/b.sqlite", "-o", "runs/b.json", "--", "true"], check=True)
        for name, size in ("runs/b.sqlite", 3000), ("runs/b.json", 500):
            os.truncate(name, size)
        done = subprocess.run([sys.executable, "-m", "gpu_tracker.fleet", "export", "runs", "-o", "out"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, "1 session in out\n"), done.stderr)
        self.assertRegex(done.stderr, r"runs/b\.json is skipped: runs/b\.json is not valid JSON \(line ")
        self.assertRegex(done.stderr, r"runs/b\.sqlite is skipped: the database is truncated: it should have \d+ bytes and has 3000")

    def test_what_can_be_read_of_a_database_that_is_cut_is_exported(self):
        environment = {**os.environ, "PMI_RANK": "1", "PMI_SIZE": "2"}
        subprocess.run([os.environ["GPUT_COMMAND"], "run", "-q", "--tf", "runs/b.sqlite", "--", "true"], check=True, env=environment)
        with contextlib.closing(sqlite3.connect("runs/b.r1.sqlite")) as database, database:
            for _ in range(8):
                database.execute("insert into data select * from data")
            database.execute("create table late_data (name text)")
        os.truncate("runs/b.r1.sqlite", os.path.getsize("runs/b.r1.sqlite") - 7000)
        with self.assertLogs("gpu_tracker") as logs:
            (name,) = fleet.export("runs", "out")
        (session,) = self.table("sessions")
        self.assertEqual((session["rank"], session["host"]), (1, os.uname().nodename))
        self.assertGreater(session["samples"], 100)
        self.assertIn("Of runs/b.r1.sqlite no further tables are exported: ", "".join(logs.output))

    def test_reports_without_samples_are_rows_of_sessions(self):
        """With exact figures, as the tracking file of the same session would have them; what a killed session kept is no report."""
        sessions.write_session("runs/a.csv", "runs/a-blocks.csv")
        program = "import time; time.sleep(0.2); block = b'x' * 60_000_000; del block; time.sleep(0.2)"
        run = [os.environ["GPUT_COMMAND"], "run", "-q", "--st", "100", "--ru", "kilobytes", "-o", "runs/u.json"]
        subprocess.run([*run, "--tf", "u.csv", "--", sys.executable, "-S", "-c", program], check=True)
        for name in "v.json", "w.txt":  # a text has a manifest next to it
            subprocess.run([*run[:3], "-o", f"runs/{name}", "--", "true"], check=True)
        kept = subprocess.Popen([*run[:3], "--resource-usage-file", "runs/kept", "--", "sleep", "60"], start_new_session=True)
        wait_until(lambda: os.path.exists("runs/kept") and os.path.getsize("runs/kept"))
        os.killpg(kept.pid, signal.SIGKILL)
        kept.wait()
        with self.assertLogs("gpu_tracker") as logs:
            self.assertEqual(len(fleet.export("runs", "out")), 4)
        self.assertEqual(len(logs.output), 1, logs.output)
        self.assertIn("runs/kept is skipped: it has no samples and no report (results)", logs.output[0])
        self.assertEqual(len(os.listdir("out/samples")), 1)
        rows = {os.path.basename(row["path"]): row for row in self.table("sessions")}
        row = rows["w.txt.session.json"]
        self.assertEqual((row["command"], row["exit_status"], row["samples"], row["max_combined_ram_bytes"] > 0), ("true", 0, 0, True))
        os.mkdir("texts")
        for name in "w.txt", "w.txt.session.json":
            os.rename(f"runs/{name}", f"texts/{name}")
        self.assertEqual(fleet.export("texts", "out-of-texts"), [row["name"]])
        report = json.loads(pathlib.Path("runs/u.json").read_text())
        row = rows["u.json"]
        self.assertAlmostEqual(row["max_combined_ram_bytes"], report["max_ram"]["combined"]["total_rss"] * 1e3, delta=1)
        self.assertGreater(row["max_combined_ram_bytes"], 60e6)
        self.assertEqual(row["accounting_cpu_seconds_kernel"], report["accounting"]["cpu_seconds"]["kernel"])
        self.assertEqual((row["exit_status"], row["pid"], row["session_id"]), (0, report["identity"]["pid"], report["identity"]["session_id"]))
        self.assertEqual((row["samples"], row["first_timestamp"], row["samples_digest"]), (0, None, None))
        for engine in fleet.installed_engines():
            self.assertEqual({row["name"] for row in fleet.analyze("out", engine=engine)["overall"].to_pylist()}, {rows["a.csv"]["name"]})
        with self.assertLogs("gpu_tracker") as logs:  # the same session, and now its samples
            fleet.export("u.csv", "out")
            fleet.export("runs/u.json", "out")
        self.assertEqual(len(logs.output), 1, logs.output)
        self.assertIn("runs/u.json is skipped: out has this session, as ", logs.output[0])
        (tracked,) = [one for one in self.table("sessions") if one["name"] == row["name"]]
        self.assertGreater(tracked["samples"], 0)
        # A report has no bound that is the peak itself.
        different = {
            name: (row[name], tracked[name]) for name in layout.FIGURES
            if row[name] != tracked[name] and not math.isclose(row[name] or 0, tracked[name] or 0, rel_tol=1e-6)}  # fmt: skip
        self.assertEqual(different.pop("peaks_control_group_at_most_bytes", (None, row["peaks_control_group_bytes"])), (None, row["peaks_control_group_bytes"]))
        self.assertLessEqual(set(different), {"tracker_cpu_seconds"})  # which the tracker goes on using

    def test_files_that_are_cut_before_their_first_row_are_said(self):
        sessions.write_tracking("runs/a.csv")
        content = pathlib.Path("runs/a.csv").read_text().splitlines(True)
        for name, lines in ("b", content[:1]), ("c", content[:2]), ("d", [*content[:2], content[2][:40]]):
            pathlib.Path(f"runs/{name}.csv").write_text("".join(lines))
        pathlib.Path("runs/data.csv").write_text("x,y\n1,2\n")  # of somebody else
        with self.assertLogs("gpu_tracker") as logs:
            self.assertEqual(len(fleet.export("runs", "out")), 1)
        self.assertEqual(len(logs.output), 3, logs.output)
        for name, said in zip("bcd", logs.output):
            self.assertIn(f"runs/{name}.csv is skipped: Tracking file runs/{name}.csv is invalid: it", said)

    # ---- faults ----

    def ranks(self, count):
        for rank in range(count):
            sessions.write_session(f"runs/r{rank}.csv", f"runs/r{rank}-blocks.csv", factor=rank + 1.0)

    def check_what_is_there(self):
        """Each file is whole, and a session that counts has all of its tables. Gives the names of these sessions."""
        for path in pathlib.Path("out").rglob("*.parquet"):
            pyarrow.parquet.ParquetFile(path).read()
        names = {path.name for path in pathlib.Path("out/sessions").glob("*.parquet")}
        for table in "samples", "calls", "marks", "segments", "leaves":
            self.assertLessEqual(names, {path.name for path in pathlib.Path("out", table).glob("*.parquet")})
        return names

    def check_again(self, count):
        """What was interrupted is made whole by another export."""
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        self.assertEqual(len(fleet.export("runs", "out")), count)
        self.assertEqual(len(self.check_what_is_there()), count)
        self.assertEqual([str(path) for path in pathlib.Path("out").rglob("*.part")], [])
        rows = sorted(row["main_n_threads"] for row in self.table("samples"))
        self.assertEqual(rows, sorted(10 + sample * (rank + 1) for rank in range(count) for sample in range(10)))

    def test_an_export_that_is_killed_leaves_whole_sessions(self):
        self.ranks(60)
        for wanted in 0, 1, 20:
            export = subprocess.Popen([sys.executable, "-m", "gpu_tracker.fleet", "export", "runs", "-o", "out"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while len(list(pathlib.Path("out").rglob("*"))) == 0 or len(list(pathlib.Path("out/sessions").glob("*.parquet"))) < wanted:
                self.assertIsNone(export.poll(), "it ended before it was killed")
            export.kill()
            export.wait()
            there = self.check_what_is_there()
            self.assertGreaterEqual(len(there), wanted)
        self.check_again(60)

    def test_a_full_disk_costs_the_sessions_that_do_not_fit(self):
        self.ranks(20)
        os.mkdir("out")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", "out"], capture_output=True, text=True)
        if done.returncode:
            self.skipTest(f"no file system can be mounted here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.folder / "out"], check=True)
        with self.assertLogs("gpu_tracker") as logs:
            found = fleet.export("runs", "out")
        self.assertTrue(0 < len(found) < 20, found)
        self.assertEqual(self.check_what_is_there(), {f"{name}.parquet" for name in found})
        self.assertEqual(len([line for line in logs.output if "No space left on device" in line]), 20 - len(found), logs.output)
        self.assertEqual(list(pathlib.Path("out").rglob("*.part")), [])
        subprocess.run(["mount", "-o", "remount,size=64m", "out"], check=True)
        self.check_again(20)

    def test_a_rank_that_may_not_be_read_is_named(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become another user")
        self.ranks(3)
        fleet.export("runs", "before")  # all modules are loaded: another user may not read them
        os.chmod("runs/r1.csv", 0o600)
        os.chmod(".", 0o777)
        with self.assertLogs("gpu_tracker") as logs:
            os.seteuid(65534)
            try:
                self.assertEqual(len(fleet.export("runs", "out")), 2)
            finally:
                os.seteuid(0)
        self.assertTrue(any("runs/r1.csv" in line and "Permission denied" in line for line in logs.output), logs.output)
        self.check_again(3)

    def test_ranks_of_other_versions_lack_columns(self):
        sessions.write_tracking("runs/a.csv")
        with open("runs/old.csv", "w") as file:
            file.write("ram_unit,gpu_ram_unit,time_unit\nbytes,bytes,hours\nmain_ram,other,timestamp\n5,x,1000\n")
        fleet.export("runs", "out")
        rows = [row for row in self.table("samples") if row["main_ram"] == 5]
        self.assertEqual((len(rows), rows[0]["system_ram"]), (1, None))
        self.assertNotIn("other", rows[0])

    def test_nothing_to_export_is_an_error(self):
        with self.assertRaises(FileNotFoundError):
            fleet.export("nowhere", "out")
        with self.assertRaisesRegex(FileNotFoundError, "not a folder of exported sessions"):
            fleet.analyze("out")
        with self.assertRaisesRegex(ValueError, "not a valid format"):
            fleet.export("runs", "out", format="csv")


class Packages(package.PackageTest):
    def test_importing_the_package_loads_no_engine(self):
        code = "import sys, gpu_tracker.fleet; assert not {'pyarrow', 'duckdb', 'polars', 'pyspark', 'gpu_tracker.fleet.analysis'} & set(sys.modules)"
        self.run_python(code)

    def test_an_engine_must_be_known_and_installed(self):
        from gpu_tracker.fleet.engines import engine_of

        with self.assertRaisesRegex(ValueError, '"sqlite" is not a valid engine'):
            engine_of("sqlite")
        for name in set(fleet.ENGINES) - set(fleet.installed_engines()):
            with self.assertRaisesRegex(ImportError, f"{name} is not installed: "):
                engine_of(name)

    @unittest.skipIf(pyarrow, "pyarrow is installed")
    def test_without_pyarrow_the_way_out_is_named(self):
        with self.assertRaisesRegex(ImportError, "pip install pyarrow"):
            fleet.export("runs", "out")


@unittest.skipUnless(pyarrow, "needs pyarrow")
class Analysis(Folder):
    def close(self, found, wanted, scale, what):
        if wanted is None or found is None:
            self.assertEqual(found, wanted, what)
        else:  # of equal values the deviation is that of rounding
            self.assertTrue(math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12 * scale), f"{what}: {found}, not {wanted}")

    def compare_usage(self, found, wanted, unit, what):
        factor = {"gigabytes": 1e9, "megabytes": 1e6}[unit]
        names = {its["measurement"] for its in wanted}  # the C analyzer leaves out causes of waits that no sample has
        found = [mine for mine in found if mine["measurement"] in names or mine["max"] is not None]
        self.assertEqual(len(found), len(wanted), what)
        for mine, its in zip(found, wanted):
            by = factor if mine["unit"] == "bytes" and its["unit"] == unit else 1e9 if mine["unit"] == "bytes" else 1
            where = f"{what} {its.get('code_block_name')} {its['measurement']}"
            self.assertEqual(mine["measurement"], its["measurement"])
            self.assertEqual(mine["missing_timepoints"], its["missing_timepoints"], where)
            for name in "min", "max", "mean", "std":
                value = its[name] if its[name] is None else its[name] * by
                self.close(mine[name], value, abs(its["max"] or 0) * by, f"{where} {name}")

    def compare(self, engine, files):
        """files: session -> (tracking file, sub-tracking file, unit of RAM)."""
        tables = {name: table.to_pylist() for name, table in fleet.analyze("out", engine=engine).items()}
        for session, (tracking, marks, unit) in files.items():
            of = {name: [row for row in rows if row["name"] == session] for name, rows in tables.items()}
            wanted = SubTrackingAnalyzer(tracking, marks).tables()
            rows = {name: [dict(zip(table.columns, row)) for row in table.rows()] for name, table in wanted.items()}
            self.compare_usage(of["overall"], rows["overall"], unit, f"{engine} {tracking}")
            self.compare_usage(of["code_block_usage"], [row for row in rows["code_block_usage"] if self.has_samples(row, rows)], unit, f"{engine} {tracking}")
            self.assertEqual(len(of["code_blocks"]), len(rows["code_blocks"]))
            for mine, its in zip(of["code_blocks"], rows["code_blocks"]):
                for name, value in its.items():
                    if name not in ("process_id", "thread_id"):
                        where = f"{engine} {tracking} {its['code_block_name']} {name}"
                        self.close(mine[name], value, 1, where) if isinstance(value, float) else self.assertEqual(mine[name], value, where)

    @staticmethod
    def has_samples(row, rows):
        """Of a code block without samples the analyzer has rows of nothing."""
        return next(block["num_timepoints"] for block in rows["code_blocks"] if block["code_block_name"] == row["code_block_name"]) > 0

    def random_session(self, generator, number, *, backward):
        """Threads whose calls overlap and nest; samples on the same grid of quarters, some at one time."""
        tracking, marks = f"runs/s{number}.csv", f"runs/s{number}-blocks.csv"
        start = 1_700_000_000 + 1000 * number
        all_marks = []
        for thread in range(3):
            all_marks += random_calls(generator, (10 + thread % 2, 100 + thread), start + generator.randrange(20), start + 60)
        write_marks(marks, all_marks or [(10, 100, "load", 0, start), (10, 100, "load", 1, start + 1)])
        times = sorted(start + 10 + generator.randrange(180) / 4 for _ in range(generator.choice([1, 5, 400])))
        if backward:
            times += times[: len(times) // 2]
        unit = generator.choice(["gigabytes", "megabytes"])
        write_samples(tracking, [(time, random_values(generator, row)) for row, time in enumerate(times)], unit)
        return tracking, marks, unit

    def logged_session(self, generator):
        """Real calls to the nanosecond, of which several lie between two doubles; samples at their marks, and next to them."""
        path = "runs/log.gputblocks"
        for _ in range(100):
            with SubTracker("outer", sub_tracking_file=path), SubTracker(generator.choice(NAMES), sub_tracking_file=path):
                pass
        moments = sorted({near for mark in read_marks(path)["timestamp"] for near in (mark, math.nextafter(mark, 0), math.nextafter(mark, math.inf))})
        write_samples("runs/log.csv", [(time, random_values(generator, row)) for row, time in enumerate(moments)])
        return "runs/log.csv", path, "gigabytes"

    def exported(self, files):
        names = {}
        for tracking, marks, unit in files:
            (name,) = fleet.export([tracking, marks], "out")
            names[name] = (tracking, marks, unit)
        return names

    def engines(self):
        tried = fleet.installed_engines()
        if not tried:
            self.skipTest("no engine is installed")
        return tried

    def on_all(self, files):
        for engine in self.engines():
            with self.subTest(engine=engine):
                self.compare(engine, files)

    def test_every_engine_finds_what_the_c_analyzer_finds(self):
        generator = random.Random(SEED)
        files = [self.random_session(generator, number, backward=number == 3) for number in range(8)]
        files.append(self.logged_session(generator))
        with self.assertNoLogs("gpu_tracker"):
            exported = self.exported(files)
        logging.disable()  # what the analyzer says of random files
        self.addCleanup(logging.disable, logging.NOTSET)
        self.on_all(exported)

    @unittest.skipUnless(importlib.util.find_spec("duckdb"), "needs DuckDB")
    def test_duckdb_joins_in_time_and_not_each_with_each(self):
        import duckdb
        from gpu_tracker.fleet.engine_duckdb import queries
        from gpu_tracker.fleet.engines import Batch

        for number in range(2):
            write_samples(f"runs/s{number}.csv", [(1000.0 * number + row, random_values(random.Random(row), row)) for row in range(500)])
            marks = [(1, 1, "step", side, 1000 * number + step + side / 2) for step in range(400) for side in range(2)]
            write_marks(f"runs/s{number}-blocks.csv", marks)
        batch = Batch("out", fleet.export("runs", "out"), True)
        self.assertEqual(len(batch.sessions), 2)
        with duckdb.connect() as connection:
            for query in queries(batch, ["main_ram"]):
                plan = connection.sql(f"EXPLAIN {query}").fetchall()[0][1].lower().replace("_", " ")
                self.assertIn("asof join", plan)
                self.assertNotIn("nested loop", plan)

    def test_a_damaged_file_of_an_export_costs_its_session_alone(self):
        for rank, factor in enumerate((1.0, 2.0, 5.0, 7.0)):
            sessions.write_session(f"runs/r{rank}.csv", f"runs/r{rank}-blocks.csv", factor=factor)
            pathlib.Path(f"runs/r{rank}.csv.session.json").write_text(json.dumps({"tracking_file": f"r{rank}.csv", "start": str(rank), "rank": rank}))
        names = fleet.export("runs", "out")
        os.truncate(f"out/samples/{names[0]}.parquet", 1000)
        os.unlink(f"out/segments/{names[1]}.parquet")
        os.truncate(f"out/calls/{names[2]}.parquet", 0)
        for engine in set(self.engines()) - {"spark"}:  # what is skipped is the same for all
            with self.assertLogs("gpu_tracker") as logs:
                tables = fleet.analyze("out", engine=engine)
            self.assertEqual({row["name"] for row in tables["overall"].to_pylist()}, {names[3]})
            said = sorted(line.split(":", 2)[2] for line in logs.output)
            for (name, table, fault), line in zip(sorted(zip(names, ("samples", "segments", "calls"), ("damaged", "missing", "damaged"))), said):
                self.assertRegex(line, rf"^{name} is skipped: .*/out/{table}/{name}\.parquet is {fault}\. Export it again with overwrite\.$")
        done = subprocess.run([sys.executable, "-m", "gpu_tracker.fleet", "analyze", "out"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(names[3], done.stdout)
        os.unlink(f"out/samples/{names[3]}.parquet")
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        with self.assertRaisesRegex(ValueError, "No session in .* is complete"):
            fleet.analyze("out")

    def test_groups_add_up_sessions(self):
        for rank, factor in enumerate((1.0, 2.0, 5.0)):
            sessions.write_session(f"runs/r{rank}.csv", f"runs/r{rank}-blocks.csv", factor=factor)
            pathlib.Path(f"runs/r{rank}.csv.session.json").write_text(
                json.dumps({"tracking_file": f"r{rank}.csv", "start": str(rank), "rank": rank, "job_id": "7" if rank < 2 else None})
            )
        fleet.export("runs", "out")
        values = {1.0: [1, 2, 5], 2.0: [2, 4, 10]}  # main_ram at the samples of block a
        both = [value * 1e9 for of in values.values() for value in of]
        mean = sum(both) / 6
        for engine in set(self.engines()) - {"spark"}:  # it takes half a minute, and grouping is the same for all
            tables = fleet.analyze("out", engine=engine, by="job_id")
            row = next(row for row in tables["code_block_usage"].to_pylist() if row["job_id"] == "7" and row["code_block_name"] == "a")
            self.assertEqual((row["measurement"], row["num_timepoints"], row["min"], row["max"]), ("main_ram", 6, 1e9, 1e10))
            self.close(row["mean"], mean, 1, engine)
            self.close(row["std"], math.sqrt(sum((value - mean) ** 2 for value in both) / 6), 1, engine)
            blocks = {(row["job_id"], row["code_block_name"]): row for row in tables["code_blocks"].to_pylist()}
            self.assertEqual((blocks["7", "a"]["num_calls"], blocks[None, "b"]["num_calls"]), (6, 1))
            self.assertEqual({row["sessions"] for row in tables["overall"].to_pylist()}, {2, 1})
            self.assertEqual(set(fleet.analyze("out", engine=engine, by=())["overall"]["num_timepoints"].to_pylist()), {30})
        with self.assertRaisesRegex(ValueError, 'no column "jobs"'):
            fleet.analyze("out", by="jobs")


if __name__ == "__main__":
    package.main()
