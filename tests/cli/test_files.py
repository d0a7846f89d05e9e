"""Tracking files and reports on disk, as other programs read them."""

import csv
import json
import os
import pathlib
import resource
import signal
import sqlite3
import stat
import subprocess
import time

from command import COMMAND, PATIENCE, CommandTest, main, until_ticks, wait_until

STATIC = ["ram_unit", "gpu_ram_unit", "time_unit", "ram_system_capacity", "gpu_ram_system_capacity", "system_core_count",
          "n_expected_cores", "system_gpu_count", "n_expected_gpus"]
# In this order; what a later version has follows them.
COLUMNS = (
    [f"{who}_ram" for who in ("main", "descendants", "combined", "system")]
    + [f"{who}_gpu_ram" for who in ("main", "descendants", "combined", "system")]
    + ["gpu_sum_utilization_percent", "gpu_hardware_utilization_percent"]
    + [f"{who}_n_threads" for who in ("main", "descendants", "combined")]
    + [f"cpu_{who}_{kind}_utilization_percent" for who in ("system", "main", "descendants", "combined")
       for kind in ("sum", "hardware")]
    + ["timestamp"]
)


class TrackingFile(CommandTest):
    OPTIONS = ["--st=0.05", "--resource-usage-file=kept", "--ru=megabytes", "--tu=minutes", "--nec=3", "-f", "json", "-o", "report.json"]

    def report(self):
        return json.loads((self.folder / "report.json").read_text())

    def check(self, static, rows):
        self.assertEqual((static["ram_unit"], static["gpu_ram_unit"], static["time_unit"]), ("megabytes", "gigabytes", "minutes"))
        self.assertEqual(int(static["n_expected_cores"]), 3)
        self.assertGreater(len(rows), 3)
        stamps = [float(row["timestamp"]) for row in rows]
        self.assertEqual(stamps, sorted(stamps))
        self.assertLess(abs(stamps[-1] - time.time()), 60)
        report = self.report()
        # The report knows the kernel's own peak too, which no row need have seen. A row whose sample met an execve() has no RAM.
        peak = max(float(row["main_ram"]) for row in rows if row["main_ram"])
        self.assertGreater(peak, 0)
        self.assertLessEqual(peak, report["max_ram"]["main"]["total_rss"] + 1e-6)
        self.assertEqual(max(int(r["main_n_threads"]) for r in rows), report["cpu_utilization"]["main_n_threads"])

    def test_csv(self):
        done = self.run_command("run", *self.OPTIONS, "--tf", "rows.csv", *until_ticks(8))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.folder / "rows.csv", newline="") as file:
            lines = list(csv.reader(file))
        self.assertEqual(lines[0], STATIC)
        self.assertEqual(lines[2][: len(COLUMNS)], COLUMNS)
        self.check(dict(zip(lines[0], lines[1])), [dict(zip(lines[2], line, strict=True)) for line in lines[3:]])

    def test_sqlite_is_loaded_for_its_files_alone(self):
        if b"libsqlite3.so.0" not in pathlib.Path(COMMAND).read_bytes():
            self.skipTest("SQLite is built in")
        (self.folder / "rows.sqlite").write_bytes(b"SQLite format 3\0")
        (self.folder / "empty").mkdir()
        (self.folder / "empty" / "libsqlite3.so.0").write_text("")
        environment = os.environ | {"LD_LIBRARY_PATH": str(self.folder / "empty")}
        for command in (
            ["run", "--tf", "new.sqlite", "touch", "started"],
            ["mark", "start", "block", "--stf", "new.sqlite"],
            ["sub-track", "analyze", "--tf", "rows.sqlite"],
            ["timeline", "merge", "rows.sqlite", "-o", "new.json"],
            ["job", "rows.sqlite"],
            ["report", "rows.sqlite", "-f", "csv"],  # HTML needs a page, which not every build has
        ):
            with self.subTest(command[0]):
                done = self.run_command(*command, env=environment)
                self.assertIn(done.returncode, (1, 125))
                self.assertRegex(done.stderr, r"SQLite files need its library \(Debian: apt-get install libsqlite3-0\); CSV needs nothing\. .*file too short")
        self.assert_folder_is("empty", "rows.sqlite")
        done = self.run_command("run", *self.OPTIONS, "--tf", "new.csv", "true", env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_sqlite(self):
        done = self.run_command("run", *self.OPTIONS, "--tf", "rows.sqlite", *until_ticks(8))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_folder_is("rows.sqlite", "report.json")
        with sqlite3.connect(self.folder / "rows.sqlite") as base:
            base.row_factory = sqlite3.Row
            static = base.execute("SELECT * FROM static_data").fetchall()
            rows = base.execute("SELECT * FROM data").fetchall()
        base.close()
        self.assertEqual(len(static), 1)
        self.assertEqual(list(static[0].keys()), STATIC)
        self.assertEqual(list(rows[0].keys())[: len(COLUMNS)], COLUMNS)
        self.check(static[0], rows)

    def test_another_extension_is_refused(self):
        self.assert_fails(
            self.run_command("-e", "touch started", "--tf=rows.txt", "--disable-logs"), 1,
            'Invalid file name: "rows.txt". Valid file extensions are ".csv" and ".sqlite".')
        self.assert_folder_is()

    def test_an_existing_file_is_kept_unless_asked(self):
        for name in ("rows.csv", "rows.sqlite"):
            (self.folder / name).write_text("precious")
            self.assert_fails(
                self.run_command("-e", "touch started", "--disable-logs", "--tf", name), 1,
                f"File {name} already exists. --overwrite replaces it.")  # as the older tool does
            self.assertFalse((self.folder / "started").exists())
            done = self.run_command("run", "-q", "--tf", name, "true")
            free = name.replace("rows", "rows.1")
            self.assertEqual((done.returncode, done.stderr), (0, f"gpu-tracker: warning: {name} exists: writing {free} (--overwrite replaces {name}).\n"))
            self.assertGreater((self.folder / free).stat().st_size, 100)
            self.assertEqual((self.folder / name).read_text(), "precious")
            done = self.run_command("run", "--overwrite", "--tf", name, "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(b"precious", (self.folder / name).read_bytes())

    def test_plain_csv_is_read_by_all_as_the_usual_form_is(self):
        self.assertEqual(self.run_command("run", "--st=0.02", "--ru=megabytes", "--tf", "a.plain.csv", "sleep", "0.1").returncode, 0)
        self.assert_folder_is("a.plain.csv", "a.plain.csv.session.json")
        with open(self.folder / "a.plain.csv", newline="") as file:
            lines = list(csv.reader(file))
        self.assertEqual(lines[0][: len(COLUMNS)], COLUMNS)
        static = json.loads((self.folder / "a.plain.csv.session.json").read_text())["static_data"]
        self.assertEqual((list(static), static["ram_unit"]), (STATIC, "megabytes"))
        with open(self.folder / "b.csv", "w", newline="") as file:
            csv.writer(file).writerows([static.keys(), static.values(), *lines])
        (self.folder / "m.csv").write_text("process_id,code_block_name,position,timestamp\n1,x,0,0\n1,x,1,4e9\n")
        both = [self.run_command("sub-track", "analyze", "--tf", name, "--stf", "m.csv", "-f", "json").stdout for name in ("a.plain.csv", "b.csv")]
        self.assertIn('"main_ram"', both[0])
        self.assertEqual(both[0].replace("a.plain.csv", "b.csv"), both[1])
        for command in (["report", "a.plain.csv", "-f", "json"], ["job", "a.plain.csv", "-f", "json"], ["timeline", "merge", "-o", "t.json", "a.plain.csv"]):
            self.assertEqual(self.run_command(*command).returncode, 0, command)
        ranks = json.loads(self.run_command("job", "a.plain.csv", "-f", "json").stdout)["ranks"]
        peak = max(float(line[COLUMNS.index("combined_ram")]) for line in lines[1:])
        self.assertGreater(ranks[0]["max_ram_bytes"] / 1e6, 0.999 * peak)  # that of the session's end, samples may see less
        (self.folder / "a.plain.csv.session.json").unlink()
        done = self.run_command("sub-track", "analyze", "--tf", "a.plain.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a.plain.csv.session.json, which has its units, is missing", done.stderr)

    def test_a_command_that_never_began_leaves_no_file_in_the_way(self):
        for name in ("rows.csv", "rows.plain.csv", "rows.sqlite"):
            self.assertEqual(self.run_command("run", "--tf", name, "no-such-command").returncode, 127)
            self.assert_folder_is()

    def test_a_killed_tracker_leaves_every_row(self):
        for name in ("rows.csv", "rows.sqlite"):
            with self.subTest(name=name):
                process = self.start_command("run", "--st=0.02", "--tf", name, "sleep", "100")
                children = f"/proc/{process.pid}/task/{process.pid}/children"
                command = int(wait_until(lambda: open(children).read().split())[0])
                self.addCleanup(os.kill, command, signal.SIGKILL)
                seen = wait_until(lambda: (self.folder / name).exists() and (n := self.rows(name, is_live=True)) > 20 and n, "rows")
                process.kill()
                process.wait()
                self.assertGreaterEqual(self.rows(name), seen)

    def rows(self, name, is_live=False):
        if name.endswith(".csv"):
            with open(self.folder / name, newline="") as file:
                lines = list(csv.reader(file))
            if is_live and lines:  # it may be in the middle of its last row
                lines.pop()
            self.assertLessEqual({len(line) for line in lines[3:]}, {len(line) for line in lines[2:3]})
            return max(len(lines) - 3, 0)
        base = sqlite3.connect(self.folder / name)
        try:
            return base.execute("SELECT count(*) FROM data").fetchone()[0]
        finally:
            base.close()

    def test_two_trackers_never_write_to_one_file(self):
        for name in ("rows.csv", "rows.sqlite"):
            with self.subTest(name=name):
                first = self.start_command("run", "--st=0.02", "--overwrite", "--tf", name, "--", "sh", "-c", "echo; read line",
                                           stdin=subprocess.PIPE)
                first.stdout.readline()
                done = self.run_command("run", "-q", "--overwrite", "--tf", name, "true")
                free = name.replace("rows", "rows.1")
                self.assertEqual((done.returncode, done.stderr), (0, f"gpu-tracker: warning: Another tracker is writing to {name}: writing {free} instead.\n"))
                self.assertGreater((self.folder / free).stat().st_size, 100)
                self.finish(first)
                rows = self.rows(name)
                self.assertGreater(rows, 0)
                done = self.run_command("run", "--overwrite", "--tf", name, "true")
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_folder_is("rows.1.csv", "rows.1.csv.session.json", "rows.1.sqlite", "rows.csv", "rows.csv.session.json", "rows.sqlite")

    def test_a_killed_tracker_leaves_no_database_without_tables(self):
        """Whenever it dies: none, or one that can be read."""
        for number in range(40):
            process = self.start_command("run", "--tf", "rows.sqlite", "true")
            time.sleep(number * 0.0005)
            process.kill()
            process.wait()
            if (self.folder / "rows.sqlite").exists():
                self.assertGreaterEqual(self.rows("rows.sqlite"), 0)
                (self.folder / "rows.sqlite").unlink()
            for path in self.folder.glob("rows.sqlite-*"):
                path.unlink()
        self.assertEqual(self.run_command("run", "--tf", "rows.sqlite", "true").returncode, 0)
        self.assertEqual(list(self.folder.glob("*.part")), [])

    def test_rows_without_space_are_counted_and_nothing_else_is_lost(self):
        done = self.run_command(
            "run", "--st=0.005", "--tf", "rows.csv", "-f", "json", "-o", "-", "sh", "-c", "sleep 2; exit 4",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual(done.returncode, 4)
        self.assertEqual(len([line for line in done.stderr.splitlines() if "rows.csv" in line]), 1, done.stderr)
        self.assertGreater(json.loads(done.stdout)["tracker"]["rows_lost"], 0)


class OutputFile(CommandTest):
    def test_it_replaces_the_old_one_wholly(self):
        path = self.folder / "report"
        path.write_text("the old one, " * 10000)
        path.chmod(0o640)
        self.run_command("run", "--overwrite", "-o", "report", "true")
        self.assertNotIn("the old one", path.read_text())
        self.assert_is_report(path.read_text())
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        self.assert_folder_is("report", "report.session.json")

    def test_the_old_one_stays_until_the_new_one_is_whole(self):
        (self.folder / "report").write_text("old")
        process = self.start_command("run", "--overwrite", "-o", "report", "--", "sh", "-c", "echo ready; exec sleep 100")
        process.stdout.readline()
        self.assertEqual((self.folder / "report").read_text(), "old")
        command = int(open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()[0])
        self.addCleanup(os.kill, command, signal.SIGKILL)
        process.kill()
        process.wait()
        self.assertEqual((self.folder / "report").read_text(), "old")

    def test_a_full_disk_keeps_the_old_one_and_shows_the_report(self):
        (self.folder / "report").write_text("old")
        done = self.run_command(
            "run", "--overwrite", "-o", "report", "true",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assertEqual(done.returncode, 125)
        self.assert_is_report(done.stderr)
        self.assertRegex(done.stderr, r"(?m)^gpu-tracker: Cannot write report: File too large \(ulimit -f allows 100 bytes\)$")
        self.assertEqual((self.folder / "report").read_text(), "old")
        self.assert_folder_is("report")

    def test_pipes_and_devices_are_written_straight(self):
        os.mkfifo(self.folder / "pipe")
        process = self.start_command("run", "-o", "pipe", "true")
        read = subprocess.run(["cat", "pipe"], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assert_is_report(read.stdout)
        self.finish(process)
        self.assert_is_report(self.run_command("run", "-o", "/dev/stdout", "true").stdout)

    # Never as root, whom nothing would keep from putting another file in the place of /dev/stdout.
    def test_the_standard_output_may_lead_to_a_file(self):
        def be_ordinary():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        if subprocess.run(["test", "-x", COMMAND], preexec_fn=be_ordinary).returncode != 0:
            self.skipTest("an ordinary user cannot reach the command")
        self.folder.chmod(0o755)
        with open(self.folder / "out", "w+") as out:
            if os.geteuid() == 0:
                os.fchown(out.fileno(), 65534, 65534)
            done = subprocess.run([COMMAND, "run", "-o", "/dev/stdout", "echo", "said"], stdout=out, stderr=subprocess.PIPE,
                                  cwd="/", text=True, timeout=PATIENCE, preexec_fn=be_ordinary)
            self.assertEqual(done.returncode, 0, done.stderr)
            out.seek(0)
            written = out.read()
        self.assertIn("said\n", written)
        self.assert_is_report(written.replace("said\n", ""))

    def test_a_link_stays_and_what_it_leads_to_is_written(self):
        (self.folder / "deep").mkdir()
        (self.folder / "link").symlink_to("deep/report")
        self.assertEqual(self.run_command("run", "-o", "link", "true").returncode, 0)
        self.assertEqual(os.readlink(self.folder / "link"), "deep/report")
        self.assert_is_report((self.folder / "deep" / "report").read_text())
        self.assertEqual(os.listdir(self.folder / "deep"), ["report"])


    def test_a_tracking_file_goes_where_a_link_leads_only_with_overwrite(self):
        (self.folder / "deep").mkdir()
        for ending in "csv", "sqlite":
            link, target = self.folder / f"link.{ending}", self.folder / "deep" / f"rows.{ending}"
            link.symlink_to(f"deep/{target.name}")
            for content in None, "old":
                if content:
                    target.write_text(content)
                done = self.run_command("run", "--tf", link.name, "--", "true")
                self.assertIn(f"{link.name} exists: writing link.", done.stderr)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(target.read_text() if target.exists() else None, content)
                done = self.run_command("run", "--overwrite", "--tf", link.name, "--", "true")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(os.readlink(link), f"deep/{target.name}")
                self.assertGreater(target.stat().st_size, 100)
        self.assertEqual(sorted(os.listdir(self.folder / "deep")), ["rows.csv", "rows.sqlite"])

    def test_a_tracking_file_of_sqlite_replaces_no_pipe(self):
        os.mkfifo(self.folder / "pipe")
        (self.folder / "link.sqlite").symlink_to("pipe")
        done = self.run_command("run", "--overwrite", "--tf", "link.sqlite", "--", "touch", "started")
        self.assertIn("Cannot write link.sqlite: it is not a regular file", done.stderr)
        self.assertTrue((self.folder / "pipe").is_fifo())
        self.assertFalse((self.folder / "started").exists())

    def test_a_dangling_link_is_a_recording_of_power_too(self):
        (self.folder / "recording").mkdir()
        for form in "json", "sqlite":
            link = self.folder / "recording" / f"power_metrics.{form}"
            link.symlink_to("nowhere")
            done = self.run_command("run", "--energy-folder", "recording", "--energy-driver", form, "--", "touch", "started")
            self.assertIn("There is a recording in recording already.", done.stderr)
            self.assertEqual(os.listdir(link.parent), [link.name])
            link.unlink()
        self.assertFalse((self.folder / "started").exists())


class LinksOfOthers(CommandTest):
    """In a sticky folder that everybody can write to, as /tmp is; not followed whatever fs.protected_symlinks is here."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can make links of others")
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        self.victims = self.folder / "victims"
        self.victims.mkdir()

    def link(self, name, content="precious", owner=65534):
        """A link of another user to a file (to nothing, without content) of ours."""
        victim = self.victims / name
        if content is not None:
            victim.write_text(content)
        (self.shared / name).symlink_to(victim)
        os.lchown(self.shared / name, owner, owner)
        return self.shared / name

    def assert_refused(self, done, link):
        self.assertIn(f"{link} is a link owned by another user, in a folder that everybody can write to.", done.stderr)
        self.assertNotEqual(done.returncode, 0)
        self.assert_untouched(link)

    def assert_untouched(self, link):
        for victim in self.victims.iterdir():
            self.assertEqual(victim.read_text(), "precious")
        self.assertFalse((self.folder / "started").exists())

    def test_a_report_does_not_go_there_and_the_command_is_not_started(self):
        for content in "precious", None:
            link = self.link(f"report{content}", content)
            self.assert_refused(self.run_command("run", "-o", link, "--", "touch", "started"), link)

    def test_nor_does_a_tracking_file(self):
        for ending, more in ("csv", ["--overwrite"]), ("csv", []), ("sqlite", ["--overwrite"]):
            link = self.link(f"rows{len(more)}.{ending}")
            done = self.run_command("run", *more, "--tf", link, "--", "true")
            if more:
                self.assert_refused(done, link)
            self.assert_untouched(link)

    def test_nor_do_results_so_far(self):
        link = self.link("kept", "")
        self.assertIn("is a link owned by another user", self.run_command(
            "run", "--resource-usage-file", link, "--", "touch", "started").stderr)
        self.assertEqual((self.victims / "kept").read_text(), "")
        self.assertFalse((self.folder / "started").exists())

    def test_nor_do_recordings_of_power(self):
        (self.victims / "folder").mkdir()
        (self.shared / "folder").symlink_to(self.victims / "folder")
        os.lchown(self.shared / "folder", 65534, 65534)
        for name in "folder", "folder/":
            done = self.run_command("run", "--energy-folder", f"{self.shared}/{name}", "--", "touch", "started")
            self.assertIn("is a link owned by another user", done.stderr)
        self.assertEqual(os.listdir(self.victims / "folder"), [])
        self.assertFalse((self.folder / "started").exists())

    def test_nor_do_marks(self):
        for ending in "csv", "sqlite":
            link = self.link(f"marks.{ending}")
            self.assert_refused(self.run_command("mark", "start", "--stf", link, "x"), link)

    def test_nor_do_combined_marks_and_merged_traces(self):
        for name in "a.csv", "b.csv":
            self.run_command("mark", "start", "--stf", name, "x")
        (self.folder / "trace.json").write_text('[{"name": "x", "ph": "X", "ts": 1, "dur": 1, "pid": 1, "tid": 1}]')
        link = self.link("c.csv", None)
        self.assertNotEqual(self.run_command("sub-track", "combine", "--stf", link, "-p", "a.csv", "-p", "b.csv").returncode, 0)
        self.assertEqual(os.listdir(self.victims), [])
        link = self.link("merged.json")
        self.assert_refused(self.run_command("timeline", "merge", "-o", link, "trace.json"), link)

    def test_nor_is_a_pipe_written_by_one(self):
        os.mkfifo(self.folder / "pipe")
        (self.shared / "pipe").symlink_to(self.folder / "pipe")
        os.lchown(self.shared / "pipe", 65534, 65534)
        self.assert_refused(self.run_command("run", "-o", self.shared / "pipe", "--", "touch", "started"), self.shared / "pipe")

    def test_ours_and_those_of_the_folders_owner_are(self):
        self.shared.chmod(0o1777)
        for owner, folders_owner in (0, 65534), (65534, 65534):
            os.chown(self.shared, folders_owner, folders_owner)
            link = self.link(f"report{owner}", "old", owner)
            done = self.run_command("run", "--overwrite", "-o", link, "--", "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_is_report((self.victims / f"report{owner}").read_text())
            self.assertTrue(link.is_symlink())


if __name__ == "__main__":
    main()
