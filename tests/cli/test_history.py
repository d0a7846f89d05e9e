"""gpu-tracker history: which sessions are kept, what a row has, and what cannot happen to it."""

import csv
import io
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess

from command import AS_NOBODY, BUILD, COMMAND, PATIENCE, SOURCE, CommandTest, main, python, wait_until


class HistoryTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.place = self.folder / "state" / "gpu-tracker"
        self.environment = {name: value for name, value in os.environ.items() if name != "GPUT_HISTORY"}
        self.environment |= {"XDG_STATE_HOME": str(self.folder / "state"), "HOME": str(self.folder)}

    def run_command(self, *arguments, **options):
        options["env"] = self.environment | options.pop("more", {})
        return super().run_command(*arguments, **options)

    def history(self, *arguments, **options):
        """What it prints, which has to be all right."""
        done = self.run_command("history", *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def rows(self, *arguments, **options):
        return json.loads(self.history("-f", "json", *arguments, **options).stdout or "[]")

    def names(self, *arguments):
        return [row["name"] for row in self.rows(*arguments)]

    def track(self, *command, options=(), status=0, **rest):
        done = self.run_command("run", "-q", *options, "--", *command, **rest)
        self.assertEqual((done.returncode, done.stderr), (status, ""))

    def database(self):
        path, = self.place.glob("history.*.sqlite")
        return path

    def waiting(self):
        return sorted(self.place.glob("history.*.rows/*.json"))


class Kept(HistoryTest):
    def test_nothing_is_kept_before_on_or_after_off(self):
        self.track("true")
        self.assertFalse((self.folder / "state").exists())
        said = self.history().stderr
        self.assertIn("gpu-tracker history on keeps them from now on", said)
        self.assertEqual(json.loads(self.history("-f", "json").stdout), [])
        self.assertRegex(self.history("-f", "csv").stdout, r"\Anumber,session_id,.*\n\Z")
        self.assert_fails(self.run_command("history", "show", "1"), 1, "The history has no such session. gpu-tracker history shows their numbers.")
        self.history("on")
        self.assertIn("has no session yet", self.history().stderr)
        self.track("true")
        self.history("off")
        self.track("false", status=1)
        self.assertEqual(self.names(), ["true"])

    def test_an_option_a_config_and_the_environment_turn_it_on(self):
        config = self.folder / "config.json"
        config.write_text('{"history": true}')
        elsewhere = self.folder / "elsewhere"
        self.track("true", options=["--history"])
        self.track("sleep", "0", more={"GPUT_CONFIG": str(config)})
        self.track("false", status=1, more={"GPUT_HISTORY": str(elsewhere)})
        self.track("expr", "1", options=["--no-history"], more={"GPUT_CONFIG": str(config), "GPUT_HISTORY": str(elsewhere)})
        self.assertEqual(self.names(), ["true", "sleep"])
        self.assertEqual([row["name"] for row in self.rows(more={"GPUT_HISTORY": str(elsewhere)})], ["false"])

    def test_the_older_form_and_attach_are_kept_too(self):
        self.history("on")
        self.run_command("-e", "true")
        process = subprocess.Popen(["sleep", "1000"])
        self.processes.append(process)
        self.run_command("attach", "-q", "--for", "0.1", process.pid)
        self.assertEqual(self.names(), ["true", "sleep"])
        self.assertEqual([row["exit_status"] for row in self.rows()], [0, None])

    def test_a_row_has_the_figures_of_the_report_and_no_arguments(self):
        self.track(*python("x = bytearray(50 << 20)", "secret"), options=["--history", "-o", "x.json"], status=0)
        report = json.loads((self.folder / "x.json").read_text())
        row, = self.rows()
        self.assertEqual(row["session_id"], report["identity"]["session_id"])
        self.assertEqual(row["cpu_seconds"], report["accounting"]["cpu_seconds"]["kernel"])
        self.assertEqual(row["start"], report["identity"]["start"])
        self.assertGreater(row["ram_bytes"], 50 << 20)
        self.assertIsNone(row["arguments"])
        self.assertEqual(json.loads(row["files"]), [str(self.folder.resolve() / "x.json")])
        self.assertNotIn("secret", json.dumps(row))
        self.track("echo", "a b", options=["--history", "--command-lines"])
        self.assertEqual((self.rows()[1]["name"], self.rows()[1]["arguments"]), ("echo", "echo 'a b'"))

    def test_ends_are_told_apart(self):
        for command in (["true"], ["sh", "-c", "exit 3"], ["sh", "-c", "kill -KILL $$"]):
            self.run_command("run", "-q", "--history", "--", *command)
        self.run_command("run", "-q", "--history", "--limit", "ram=1MB", "--enforce", "--st", "0.01", "--", "sleep", "1000")
        header, *lines = self.history().stdout.splitlines()
        ends = [line[header.index("End"):header.index("Command")].strip() for line in lines]
        self.assertEqual(ends, ["ok", "exit 3", "SIGKILL", "limit: ram"])

    def test_sizes_of_inputs(self):
        (self.folder / "a.bin").write_bytes(b"x" * 1000)
        (self.folder / "b.bin").write_bytes(b"x" * 234)
        self.track("true", options=["--history", "--size-of", "a.bin", "--size-of", "b.bin"])
        self.track("true", options=["--history", "--size-of", "a.bin", "--size-of", "gone"])
        self.track("true", options=["--history"])
        self.assertEqual([row["input_bytes"] for row in self.rows()], [1234, None, None])
        self.assertEqual([row["inputs"] for row in self.rows()], ['{"a.bin": 1000, "b.bin": 234}', '{"a.bin": 1000, "gone": null}', None])

    def test_a_failing_history_changes_no_status_and_says_one_line(self):
        (self.folder / "state").write_text("")
        done = self.run_command("run", "-q", "--history", "--", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stderr, r"\Agpu-tracker: warning: This session is not in the history: Cannot make the folder .*\n\Z")
        done = self.run_command("run", "-q", "--history", "--disable-logs", "--", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_it_is_its_users_alone(self):
        self.track("true", options=["--history"])
        self.assertEqual(self.place.stat().st_mode & 0o777, 0o700)
        self.assertEqual({path.stat().st_mode & 0o777 for path in self.place.iterdir()}, {0o600})

    def test_another_user_has_one_too(self):
        self.open_to_nobody(COMMAND)
        tracker = self.folder / os.path.basename(COMMAND)
        library = {"LD_LIBRARY_PATH": str(BUILD)}
        for arguments in (["run", "-q", "--history", "true"], ["history", "-f", "csv"]):
            done = subprocess.run([*AS_NOBODY, tracker, *arguments], env=self.environment | library, cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["name"] for row in csv.DictReader(io.StringIO(done.stdout))], ["true"])


class Shown(HistoryTest):
    def setUp(self):
        super().setUp()
        for command in ("true", "sleep 0.01", "expr 1"):
            self.track(*command.split(), options=["--history"])

    def test_a_line_each_with_a_number(self):
        lines = self.history().stdout.splitlines()
        self.assertRegex(lines[0], "Began +Took +CPU +RAM +GPU RAM +End +Command$")
        self.assertEqual([(line.split()[0], line.split()[-1]) for line in lines[1:]], [("1", "true"), ("2", "sleep"), ("3", "expr")])

    def test_filters(self):
        self.assertEqual(self.names("slee"), ["sleep"])
        self.assertEqual(self.names("2", "3"), ["sleep", "expr"])
        self.assertEqual(self.names("-n", "2"), ["sleep", "expr"])
        self.assertEqual(self.names("--since", "1d"), ["true", "sleep", "expr"])
        self.assertEqual(self.names("--since", "2999-01-01"), [])
        self.assertIn("no session in the history matches", self.history("nothing").stderr)

    def test_names_are_harmless_for_a_terminal(self):
        script = self.folder / "a\nb\x1b[31mc"
        script.symlink_to("/bin/true")
        self.track(script, options=["--history"])
        self.assertTrue(self.history().stdout.splitlines()[-1].endswith("/a?b?[31mc"))
        self.assertRegex(self.history("show", "4").stdout, r"(?m)^Name +/.*/a\?b\?\[31mc$")
        self.assertEqual(self.names("4"), [str(script)])

    def test_all_columns_as_csv_and_json(self):
        self.history("-o", "x.csv")
        rows = list(csv.DictReader((self.folder / "x.csv").open()))
        self.assertEqual([row["number"] for row in rows], ["1", "2", "3"])
        self.assertEqual(list(rows[0]), list(self.rows()[0]))

    def test_all_that_is_known_of_one(self):
        text = self.history("show", "2").stdout
        self.assertRegex(text, r"(?m)^Name +sleep$")
        self.assertRegex(text, r"(?m)^RAM +[\d.]+ MB$")
        self.assertRegex(text, r"(?m)^CPU is exact +(yes|no)$")
        self.assertRegex(text, r"(?m)^Machine RAM +[\d.]+ GB$")
        self.assertNotIn("_", re.sub("(?m)  .*", "", text))
        self.assertNotIn("n/a", text)
        done = self.run_command("history", "show", "9")
        self.assert_fails(done, 1, "The history has no such session. gpu-tracker history shows their numbers.")

    def test_they_are_sorted_by_a_figure_and_the_largest_are_last(self):
        self.track("python3", "-c", "x = b'x' * 30_000_000", options=["--history"])
        self.track("true", options=["--history"])
        rows = self.rows("--sort", "ram")
        self.assertEqual([row["ram_bytes"] for row in rows], sorted(row["ram_bytes"] for row in rows))
        self.assertEqual(self.names("--sort", "ram", "-n", "1"), ["python3"])
        self.assertEqual([row["number"] for row in self.rows("--sort", "began")], [1, 2, 3, 4, 5])
        valid = 'Valid values are "began", "took", "cpu", "ram", "gpu-ram" or "energy".'
        self.assert_fails(self.run_command("history", "--sort", "age"), 1, f'"age" is not a valid order. {valid}')

    def test_sessions_of_a_folder_are_shown_as_a_history(self):
        """Each once, by whatever it wrote; in the order of their starts, not of their names."""
        results = self.folder / "results"
        (results / "deep").mkdir(parents=True)
        for seconds, *options in (
            ("0.01", "-o", "results/z.json"),
            ("0.02", "-o", "results/deep/b.json", "--tf", "results/a.csv"),
            ("0.03", "--tf", "results/samples.csv"),
            ("0.04", "--tf", "results/samples.sqlite"),
        ):  # fmt: skip
            self.track("sleep", seconds, options=options)
        (results / "copy.json").write_bytes((results / "z.json").read_bytes())
        (results / "other.json").write_text('{"a": 1}')
        (results / "other.csv").write_text("a,b\n1,2\n")
        rows = self.rows("results/")
        self.assertEqual([row["number"] for row in rows], [1, 2, 3, 4])
        self.assertEqual([row["start"] for row in rows], sorted(row["start"] for row in rows))
        self.assertTrue(all(row["wall_seconds"] > 0 and row["exit_status"] == 0 and row["ram_bytes"] > 0 for row in rows))
        self.assertEqual([sorted(os.path.basename(path) for path in json.loads(row["files"])) for row in rows],
                         [["copy.json", "z.json"], ["a.csv", "b.json"], ["samples.csv"], ["samples.sqlite"]])  # fmt: skip
        self.assertEqual([row["number"] for row in self.rows("results/", "-n", "2")], [3, 4])
        longest = self.rows("results/", "--sort", "took", "-n", "1")
        self.assertEqual(longest[0]["wall_seconds"], max(row["wall_seconds"] for row in rows))
        self.assertEqual(self.rows("results/", "nothing"), [])

    def test_what_is_damaged_or_gone_in_a_folder_costs_nothing_else(self):
        (self.folder / "results").mkdir()
        for name in "a", "b", "c":
            self.track("sleep", "0", options=["-o", f"results/{name}.json", "--tf", f"results/{name}.csv"])
        (self.folder / "results" / "a.csv").unlink()
        (self.folder / "results" / "a.json").unlink()  # its manifest has the figures
        for name in "b.csv", "b.csv.session.json":
            (self.folder / "results" / name).unlink()
        report = (self.folder / "results" / "b.json").read_bytes()
        (self.folder / "results" / "b.json").write_bytes(report[: len(report) // 8])
        done = self.history("-f", "json", "results/")
        self.assertEqual([row["wall_seconds"] > 0 for row in json.loads(done.stdout)], [True, True])
        self.assertRegex(done.stderr, r"\Agpu-tracker: warning: results/b\.json is not valid JSON .*\n\Z")

    def test_reports_and_comparisons_by_number(self):
        for name in "a", "b":
            self.track("sleep", "0.01", options=["--history", "-o", f"{name}.json", "--tf", f"{name}.csv"])
        self.assertRegex(self.history("compare", "4", "5").stdout, r"a\.json +.*b\.json")
        (self.folder / "a.json").unlink()
        (self.folder / "a.csv").unlink()
        done = self.run_command("history", "compare", "4", "5")
        self.assert_fails(done, 1, "Session 4 has no file that is still there. gpu-tracker run --tf and -o write files.")
        self.assert_fails(self.run_command("history", "compare", "5"), 1, "compare needs numbers of sessions: gpu-tracker history compare 12 13")
        self.assert_fails(self.run_command("history", "report", "99"), 1, "The history has no such session. gpu-tracker history shows their numbers.")

    def test_what_cannot_be_read_is_said(self):
        for arguments, message in (
            (["--since", "soon"], "--since=soon is not a valid time. It is how long ago, such as 90m, 12h, 30d or 4w, or a date, such as 2026-11-29."),
            (["-n", "x"], "-n x is not a number of sessions. It is a whole number; 0 is all."),
            (["show"], "show needs the number of a session: gpu-tracker history show 12"),
            (["forget"], "What is to be forgotten? gpu-tracker history forget 12, forget NAME, or forget all"),
            (["on", "now"], 'on takes no "now": it is for all sessions.'),
            (["1", "sleep"], '"sleep" is not the number of a session. Give one name, or numbers: the first column of gpu-tracker history.'),
        ):  # fmt: skip
            self.assert_fails(self.run_command("history", *arguments), 1, message)

    def test_what_is_forgotten_is_overwritten(self):
        self.assertIn("1 session was removed", self.history("forget", "2").stderr)
        self.assertEqual(self.names(), ["true", "expr"])
        left = b"".join(path.read_bytes() for path in self.place.glob("history.*.sqlite*"))
        self.assertNotIn(b"sleep", left)
        self.assertIn(b"expr", left)
        self.assert_fails(self.run_command("history", "forget", "2"), 1, "The history has no such session: nothing was removed.")
        self.history("forget", "all")
        self.assertEqual(self.names(), [])


class Together(HistoryTest):
    MOSTLY_WAITS = True

    def test_many_that_end_at_once_lose_no_row(self):
        self.history("on")
        trackers = [self.start_command("run", "-q", "--", "true", env=self.environment) for _ in range(40)]
        self.assertEqual([self.finish(tracker) for tracker in trackers], [("", "")] * 40)
        self.assertEqual({tracker.returncode for tracker in trackers}, {0})
        rows = self.rows()
        self.assertEqual(len({row["session_id"] for row in rows}), 40)
        self.assertEqual([row["number"] for row in sorted(rows, key=lambda row: row["number"])], list(range(1, 41)))
        self.assertEqual(self.waiting(), [])

    def test_no_kill_tears_a_row(self):
        self.history("on")
        for _ in range(12):
            tracker = self.start_command("run", "-q", "--", "touch", "ran", env=self.environment)
            wait_until(lambda: tracker.poll() is not None or (self.folder / "ran").exists())
            (self.folder / "ran").unlink(missing_ok=True)
            tracker.send_signal(signal.SIGKILL)
            tracker.wait()
            self.track("true")
        rows = self.rows()
        self.assertGreaterEqual(len(rows), 12)
        self.assertLessEqual({row["name"] for row in rows}, {"true", "touch"})
        with sqlite3.connect(self.database()) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])

    def test_a_row_waits_in_a_file_where_the_database_is_locked(self):
        self.track("true", options=["--history"])
        database = sqlite3.connect(self.database(), isolation_level=None)
        self.addCleanup(database.close)
        database.execute("BEGIN IMMEDIATE")
        self.track("sleep", "0", options=["--history"])
        self.assertEqual([json.loads(path.read_text())["name"] for path in self.waiting()], ["sleep"])
        database.execute("ROLLBACK")
        self.assertEqual([(row["number"], row["name"]) for row in self.rows()], [(1, "true"), (2, "sleep")])
        self.assertEqual(self.waiting(), [])

    def test_no_session_copies_a_long_log_into_the_database(self):
        """That waits for the disk: a reader does it."""
        self.track("true", options=["--history"])
        other = sqlite3.connect(self.database(), isolation_level=None)
        self.addCleanup(other.close)
        other.execute("PRAGMA wal_autocheckpoint=0")
        other.execute("CREATE TABLE filling (bytes)")
        other.execute("INSERT INTO filling VALUES (zeroblob(2000000))")
        log = pathlib.Path(f"{self.database()}-wal")
        size = self.database().stat().st_size
        self.track("sleep", "0", options=["--history"])
        self.assertEqual([json.loads(path.read_text())["name"] for path in self.waiting()], ["sleep"])
        self.assertEqual(self.database().stat().st_size, size)
        self.assertEqual(self.names(), ["true", "sleep"])
        self.assertEqual((self.waiting(), log.stat().st_size), ([], 0))

    def test_a_row_waits_in_a_file_where_there_is_no_sqlite(self):
        (self.folder / "lib").mkdir()
        (self.folder / "lib" / "libsqlite3.so.0").write_text("no library")
        without = {"LD_LIBRARY_PATH": f"{self.folder / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        self.track("true", options=["--history"], more=without)
        if not self.waiting():
            self.skipTest("SQLite is built in")
        done = self.history("-f", "json", more=without)
        self.assertEqual([(row["number"], row["name"]) for row in json.loads(done.stdout)], [(None, "true")])
        self.assertIn("SQLite files need its library", done.stderr)
        self.assertEqual([(row["number"], row["name"]) for row in self.rows()], [(1, "true")])
        self.assertEqual(self.waiting(), [])

    def test_a_file_that_is_no_row_is_named_and_stays(self):
        self.track("true", options=["--history"])
        rows = self.database().with_suffix(".rows")
        rows.mkdir()
        (rows / "a.json").write_text('{"gpu_tracker_history_row": 1, "session_id": "cut')
        (rows / "b.json").write_text("[]")
        done = self.history("-f", "csv")
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertIn("a.json", done.stderr)
        self.assertIn("b.json is no row of a history", done.stderr)
        self.assertEqual(len(self.waiting()), 2)


class Ranks(HistoryTest):
    def rank(self, rank, *command, size=3, job="47", restarts=None, **rest):
        slurm = {"SLURM_JOB_ID": job, "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": str(size), "SLURM_LOCALID": str(rank),
                 "SLURM_RESTART_COUNT": restarts}  # fmt: skip
        self.track(*(command or ["true"]), options=["--history"], more={name: value for name, value in slurm.items() if value}, **rest)

    def test_the_last_rank_adds_one_row_for_all(self):
        for rank in 2, 0:
            self.rank(rank)
            self.assertEqual(self.rows(), [])
        self.rank(1, "sh", "-c", "exit 3", status=3)
        row, = self.rows()
        self.assertEqual((row["ranks"], row["world_size"], row["nodes"], row["job_id"], row["exit_status"]), (3, 3, 1, "47", 3))
        self.assertEqual(row["name"], "true")
        self.assertGreater(row["node_ram_bytes"], 2 * row["ram_bytes"] / 2)
        self.assertEqual(row["processes"], 3)
        self.assertEqual(list((self.place / "history.jobs").iterdir()), [])
        self.assertIn("true", self.history().stdout)

    def test_ranks_that_end_at_once_add_one_row(self):
        environment = self.environment | {"SLURM_JOB_ID": "48", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8"}
        trackers = [
            self.start_command("run", "-q", "--history", "--", "true", env=environment | {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank)})
            for rank in range(8)
        ]
        self.assertEqual([self.finish(tracker) for tracker in trackers], [("", "")] * 8)
        self.assertEqual([row["ranks"] for row in self.rows()], [8])

    def test_ranks_of_a_job_that_was_started_again_are_not_mixed_with_those_before(self):
        self.rank(0)
        self.rank(1, "sleep", "0")  # and the tracker of rank 2 was killed
        self.rank(2, restarts="1")
        self.assertEqual(self.rows(), [])
        self.rank(0, restarts="1")
        self.rank(1, restarts="1")
        self.assertEqual([(row["ranks"], row["name"]) for row in self.rows()], [(3, "true")])

    def test_a_job_without_all_of_its_ranks_has_no_row(self):
        self.rank(0)
        self.rank(1)
        self.assertEqual(self.rows(), [])


class Databases(HistoryTest):
    """Those of other versions, and damaged ones."""

    def test_an_older_one_gets_the_columns_that_it_lacks(self):
        self.track("true", options=["--history"])
        path = self.database()
        path.unlink()
        for rest in self.place.glob("history.*.sqlite-*"):
            rest.unlink()
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE sessions (number INTEGER PRIMARY KEY, session_id TEXT UNIQUE, name TEXT, start_seconds REAL, old TEXT)")
            database.execute("INSERT INTO sessions VALUES (7, 'x', 'older', 1, 'kept')")
        self.assertEqual([(row["number"], row["name"], row["ram_bytes"]) for row in self.rows()], [(7, "older", None)])
        self.track("true", options=["--history"])
        self.assertEqual([(row["number"], row["name"]) for row in self.rows()], [(7, "older"), (8, "true")])
        with sqlite3.connect(path) as database:
            self.assertEqual(database.execute("SELECT old FROM sessions WHERE number = 7").fetchall(), [("kept",)])

    def test_a_newer_one_is_left_as_it_is(self):
        self.track("true", options=["--history"])
        with sqlite3.connect(self.database()) as database:
            database.execute("PRAGMA user_version = 99")
        self.track("sleep", "0", options=["--history"])
        done = self.history("-f", "json")
        self.assertEqual([(row["number"], row["name"]) for row in json.loads(done.stdout)], [(1, "true"), (None, "sleep")])
        self.assertIn("is of a newer gpu-tracker", done.stderr)

    def test_of_a_damaged_one_the_rest_is_shown_and_it_is_said(self):
        self.history("on")
        for _ in range(3):
            self.track("true")
        path = self.database()
        with sqlite3.connect(path) as database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(sessions)")][2:]
            listed = ", ".join(columns)
            for number in range(4, 400):
                database.execute(f"INSERT INTO sessions (number, session_id, {listed}) SELECT {number}, 's{number}', {listed} FROM sessions WHERE number = 1")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        pages = bytearray(path.read_bytes())
        pages[len(pages) // 2 : len(pages) // 2 + 20000] = b"\xff" * 20000
        path.write_bytes(pages)
        done = self.history("-f", "csv")
        self.assertIn("the database is damaged: rows are missing that could not be read", done.stderr)
        self.assertGreater(len(done.stdout.splitlines()), 50)

    def test_what_is_no_database_costs_no_session(self):
        self.history("on")
        self.track("true")
        path = self.database()
        for rest in self.place.glob("history.*.sqlite-*"):
            rest.unlink()
        path.write_text("something else" * 1000)
        self.track("sleep", "0")
        done = self.history("-f", "json")
        self.assertEqual([row["name"] for row in json.loads(done.stdout)], ["sleep"])
        self.assertIn("file is not a database", done.stderr)
        self.assertEqual(path.read_text(), "something else" * 1000)


if __name__ == "__main__":
    main()
