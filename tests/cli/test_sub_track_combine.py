"""gpu-tracker sub-track combine and gpu-tracker mark, as a user runs them."""

import fcntl
import os
import pty
import sqlite3
import subprocess

from command import COMMAND, CommandTest, main, wait_until

HEADER = "process_id,code_block_name,position,timestamp\n"


class Combine(CommandTest):
    def write(self, name, *rows):
        (self.folder / name).write_text(HEADER + "".join(row + "\n" for row in rows))

    def combine(self, *arguments):
        return self.run_command("sub-track", "combine", *arguments)

    def test_two_files_become_one(self):
        self.write("sub-tracking1.csv", "1,X,0,1745449609.7528222", "1,X,1,1745449613.5325918")
        self.write("sub-tracking2.csv", "2,X,0,1.5")
        done = self.combine("--stf=combined-file.csv", "-p", "sub-tracking1.csv", "-p", "sub-tracking2.csv")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(
            (self.folder / "combined-file.csv").read_text(),
            HEADER + "1,X,0,1745449609.7528222\n1,X,1,1745449613.5325918\n2,X,0,1.5\n",
        )

    def test_a_file_that_is_still_empty_stops_nothing(self):
        self.write("a.csv", "1,X,0,1.5", "1,X,1,2.5")
        (self.folder / "begun.csv").write_text("")
        done = self.combine("--stf", "all.csv", "-p", "begun.csv", "a.csv")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("warning: Sub-tracking file begun.csv: it has no marks yet.", done.stderr)
        self.assertEqual((self.folder / "all.csv").read_text(), (self.folder / "a.csv").read_text())

    def test_lost_calls_are_added_up_in_each_format(self):
        """As a row of the CSV file that programs have when the disk was full."""
        lost = [f"{pid},[gpu-tracker] lost calls: 00000000{n},{position},{pid}.{position + 1}" for pid, n in ((1, 12), (2, 30)) for position in (0, 1)]
        self.write("a.csv", "1,X,0,1.5", *lost[:2], "1,X,1,2.5")
        self.write("b.csv", *lost[2:])
        for name in ("all.sqlite", "all.gputblocks", "all.csv"):
            done = self.combine("--mix", "--stf", name, "-p", "a.csv", "b.csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("warning: Sub-tracking file a.csv: 12 calls are not in it", done.stderr)
            done = self.combine("--mix", "--stf", f"{name}.csv", "-p", name, "b.csv")
            self.assertIn(f"warning: Sub-tracking file {name}: 42 calls are not in it", done.stderr)

    def test_a_single_path_is_a_directory(self):
        (self.folder / "parts").mkdir()
        for number in (2, 10, 1):
            self.write(f"parts/{number}.csv", f"{number},X,0,1.5")
        done = self.combine("--stf", "all.csv", "-p", "parts/")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / "all.csv").read_text(), HEADER + "1,X,0,1.5\n10,X,0,1.5\n2,X,0,1.5\n")

    def test_what_a_shell_makes_of_a_pattern_is_several_files(self):
        for number in (1, 2, 3):
            self.write(f"worker-{number}.csv", f"{number},X,0,1.5")
        parts = ["worker-1.csv", "worker-2.csv", "worker-3.csv"]
        for name, arguments in {"a.csv": ["-p", *parts], "b.csv": parts, "c.csv": [*parts[1:], "-p", parts[0]]}.items():
            done = self.combine("--stf", name, *arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual((self.folder / name).read_text(), HEADER + "1,X,0,1.5\n2,X,0,1.5\n3,X,0,1.5\n")

    def test_what_a_killed_one_left_goes_with_the_next(self):
        """A part that no process holds is left over; one that a living writer holds is not."""
        self.write("a.csv", "1,X,0,1.5")
        for name in ("all.csv.123-0.part", "all.csv.124-0.part", "all.csv.part", "all.csv.12-x.part", "other.csv.123-0.part"):
            self.write(name, "9,Y,0,1.5")
        with open(self.folder / "all.csv.124-0.part") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertEqual(self.combine("--stf", "all.csv", "-p", "a.csv", "a.csv").returncode, 0)
        self.assert_folder_is("a.csv", "all.csv", "all.csv.124-0.part", "all.csv.part", "all.csv.12-x.part", "other.csv.123-0.part")

    def test_one_that_is_killed(self):
        rows = "".join(f"1,block {n},0,{n}.5\n" for n in range(200000))
        (self.folder / "a.csv").write_text(HEADER + rows)
        for name in ("all.csv", "all.sqlite", "all.gputblocks"):
            arguments = ["sub-track", "combine", "--mix", "--stf", name, "-p", "a.csv", "a.csv"]
            process = self.start_command(*arguments)
            wait_until(lambda: list(self.folder.glob(name + ".*.part")) or process.poll() is not None, "its part")
            process.kill()
            process.wait()
            if (self.folder / name).exists():
                continue  # it was quicker
            self.write("b.csv", "1,X,0,1.5")
            self.assertEqual(self.run_command(*arguments[:-1], "b.csv").returncode, 0)
            self.assertEqual([path.name for path in self.folder.glob("*.part")], [])

    def test_messages_are_those_of_the_old_tool(self):
        self.write("a.csv", "1,X,0,1.5")
        self.write("b.sqlite")
        self.assert_fails(
            self.combine("--stf=a.csv", "-p", "a.csv", "-p", "a.csv"),
            1,
            "Cannot create sub-tracking file a.csv. File already exists.",
        )
        self.assert_fails(
            self.combine("--stf=x.csv", "-p", "a.csv", "-p", "b.sqlite"),
            1,
            'File b.sqlite does not end with the same extension as x.csv. Must end in ".csv".',
        )
        self.assert_fails(
            self.combine("--stf=x.txt", "-p", "a.csv", "-p", "b.csv"),
            1,
            'Invalid file name: "x.txt". Valid file extensions are ".csv" and ".sqlite". Marks may also be in a ".gputblocks" '
            "log.",
        )
        self.assertEqual(self.combine("--stf=x.csv").returncode, 2)
        self.assert_folder_is("a.csv", "b.sqlite")

    def test_a_damaged_file_leaves_nothing_half_written(self):
        self.write("a.csv", "1,X,0,1.5")
        self.write("b.csv", "1,X,0,soon", "1,X,1,2.5")
        self.assert_fails(
            self.combine("--stf=x.csv", "-p", "a.csv", "-p", "b.csv"),
            1,
            "Sub-tracking file b.csv is invalid: line 2: its field 4 is not a time in seconds since the epoch.",
        )
        self.assert_folder_is("a.csv", "b.csv")

    def test_one_file_is_converted(self):
        self.write("a.csv", "1,X,0,1745449609.7528222")
        for source, target in (("a.csv", "b.gputblocks"), ("b.gputblocks", "c.sqlite"), ("c.sqlite", "d.csv")):
            done = self.combine("--mix", f"--stf={target}", "-p", source)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / "d.csv").read_text(), (self.folder / "a.csv").read_text())
        with sqlite3.connect(self.folder / "c.sqlite") as database:
            self.assertEqual(database.execute("SELECT * FROM data").fetchall(), [(1, "X", 0, 1745449609.7528222)])

    def test_many_files_are_combined_with_few_open_at_a_time(self):
        (self.folder / "parts").mkdir()
        for number in range(1000):
            self.write(f"parts/{number}.csv", f"{number},X,0,1.5", f"{number},X,1,2.5")
        done = subprocess.run(
            ["sh", "-c", f"ulimit -n 16; exec '{COMMAND}' sub-track combine --stf=all.csv -p parts"],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / "all.csv").read_text().count("\n"), 2001)

    def test_progress_is_shown_on_a_terminal(self):
        self.write("a.csv", *["1,X,0,1745449609.7528222"] * 20000)
        ours, theirs = pty.openpty()
        subprocess.run(
            [COMMAND, "sub-track", "combine", "--stf=b.csv", "-p", "a.csv", "-p", "a.csv"],
            cwd=self.folder,
            stderr=theirs,
            check=True,
        )
        os.close(theirs)
        self.assertIn(" %", os.read(ours, 65536).decode())
        os.close(ours)


class Mark(CommandTest):
    def rows(self, name):
        header, *rows = (self.folder / name).read_text().splitlines()
        self.assertEqual(header + "\n", HEADER)
        return [row.split(",") for row in rows]

    def test_a_script_marks_its_blocks(self):
        script = f"'{COMMAND}' mark start load --stf=marks.csv && '{COMMAND}' mark stop load --stf=marks.csv; echo $$"
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        (start, stop) = self.rows("marks.csv")
        self.assertEqual(start[:3], [done.stdout.strip(), "load", "0"])
        self.assertEqual(stop[:3], [done.stdout.strip(), "load", "1"])
        self.assertLess(float(start[3]), float(stop[3]))

    def test_the_default_file_is_named_by_the_process(self):
        self.assertEqual(self.run_command("mark", "start", "a", "--pid", "4711").returncode, 0)
        self.assertEqual(self.rows("4711.csv")[0][:3], ["4711", "a", "0"])

    def test_marks_go_to_a_database(self):
        for position in ("start", "stop"):
            done = self.run_command("mark", position, "a", "--stf=m.sqlite", "--pid=5")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        with sqlite3.connect(self.folder / "m.sqlite") as database:
            rows = database.execute("SELECT process_id, code_block_name, position FROM data").fetchall()
        self.assertEqual(rows, [(5, "a", 0), (5, "a", 1)])

    def test_many_scripts_mark_to_one_file_at_once(self):
        script = f"for i in 1 2 3 4 5; do '{COMMAND}' mark start $$ --stf=m.csv; done"
        scripts = [subprocess.Popen(["sh", "-c", script], cwd=self.folder) for _ in range(8)]
        self.assertEqual([process.wait() for process in scripts], [0] * 8)
        self.assertEqual(len(self.rows("m.csv")), 40)

    def test_what_cannot_be_marked_is_said(self):
        self.assert_fails(
            self.run_command("mark", "start", "a", "--pid=x"), 1, '--pid must be a process id, not "x".'
        )
        self.assertEqual(self.run_command("mark", "start").returncode, 2)
        self.assert_folder_is()


if __name__ == "__main__":
    main()
