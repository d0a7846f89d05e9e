"""Recordings of power in SQLite."""

import contextlib
import json
import signal
import sqlite3

from command import PATIENCE, main, python, wait_until
from energy_machine import MOVE
from energy_recording import RecordingTest

class RecordingInSqlite(RecordingTest):
    def record_in_sqlite(self, *options, command=("sleep", "0.5")):
        if not self.machine.counter("intel-rapl:0").exists():
            self.machine.add_two_packages()
        done = self.run_command("energy", "record", "--output-folder", "rec", "--energy-driver", "sqlite", "--measurement-period", "0.1",
                                *options, "--", *command, env=self.machine.environment())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_recording_in_sqlite(self):
        self.machine.add_two_packages()
        move = self.machine.move(1.5, package_0=60, package_1=40)
        self.record_in_sqlite(command=python(MOVE, *move))
        self.assertEqual(sorted(path.name for path in (self.folder / "rec").iterdir()), ["metadata.json", "metadata.json.session.json", "power_metrics.sqlite"])
        with contextlib.closing(sqlite3.connect(self.folder / "rec" / "power_metrics.sqlite")) as database:
            rows = database.execute("SELECT date, segment, value FROM power_metrics WHERE device = 'cpu' AND name = 'intel_power' AND key IS NULL "
                                    "ORDER BY date").fetchall()
            pids = database.execute("SELECT count(*) FROM power_metrics WHERE name = 'per_process_cpu_uses' AND key GLOB '[1-9]*'").fetchone()[0]
        self.assertGreater(len(rows), 3)
        self.assertGreater(pids, 3)
        # The same figures as from lines of JSON.
        summary = self.summary()
        (self.folder / "rec2").mkdir()
        lines = [json.dumps({"date": date, "metrics": {"cpu": {"intel_power": value}}}) + "\n" for date, _, value in rows]
        (self.folder / "rec2" / "power_metrics.json").write_text("".join(lines))
        other = json.loads(self.run_command("energy", "summary", "rec2", "-f", "json").stdout)
        self.assertEqual(summary["metrics"]["intel_power"], other["metrics"]["intel_power"])
        curves = [self.run_command("energy", "curve", folder, "intel_power").stdout for folder in ("rec", "rec2")]
        self.assertEqual(*curves)
        self.assertEqual(curves[0].count("\n"), len(rows) + 1)

    def test_a_recording_in_sqlite_goes_on(self):
        self.record_in_sqlite()
        done = self.run_command("energy", "record", "--output-folder", "rec", "--", "touch", "ran")  # in the other form
        self.assertEqual(done.returncode, 125)
        self.assertIn("There is a recording in rec already. Give another folder, or --cont to add to it.", done.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.record_in_sqlite("--cont")
        self.assertEqual(self.summary()["metrics"]["total_mem_use"]["segments"], 2)
        self.assertEqual(
            self.run_command("energy", "record", "--output-folder", "rec", "--cont", "--cmd", "sleep 0.5", env=self.machine.environment()).returncode, 0
        )
        self.assertEqual(self.summary()["metrics"]["total_mem_use"]["segments"], 3)

    def test_what_a_kill_leaves_of_sqlite_is_read(self):
        self.machine.add("intel-rapl:0", "package-0")
        process = self.start_command("run", "--energy-folder", "rec", "--energy-driver", "sqlite", "--measurement-period", "0.1", "--st", "0.1", "--",
                                     "sleep", str(PATIENCE), env=self.machine.environment())

        def moments():
            with contextlib.closing(sqlite3.connect(self.folder / "rec" / "power_metrics.sqlite")) as database:
                table = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'power_metrics'").fetchone()
                return database.execute("SELECT count(DISTINCT date) FROM power_metrics").fetchone()[0] if table else 0

        wait_until(lambda: (self.folder / "rec" / "power_metrics.sqlite").exists())
        wait_until(lambda: moments() > 5)  # two a period
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertGreater(self.summary()["exp_duration"], 0)
        self.assertGreater(self.summary()["metrics"]["total_mem_use"]["points"], 2)

    def test_a_driver_or_database_that_is_none(self):
        self.assert_fails(
            self.run_command("run", "--energy-folder", "rec", "--energy-driver", "xml", "--", "true"), 125,
            '"xml" is not a valid driver. Valid values are json, sqlite',
        )
        (self.folder / "rec").mkdir()
        path = self.folder / "rec" / "power_metrics.sqlite"
        path.write_text("no database at all, but long enough to be taken for one" * 20)
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, "Cannot read rec/power_metrics.sqlite: file is not a database")
        path.unlink()
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE other (x)")
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, 'rec/power_metrics.sqlite has no table "power_metrics".')
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE power_metrics (date, segment, device, name, key, value)")
            database.execute("INSERT INTO power_metrics VALUES ('yesterday', 0, 'cpu', 'intel_power', NULL, 1)")
            database.commit()
        self.assert_fails(self.run_command("energy", "summary", "rec"), 1, 'rec/power_metrics.sqlite: "yesterday" is not a date.')


if __name__ == "__main__":
    main()
