"""Analyses and comparisons as tables for people: numbers first, what changed most first."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

from analysis_files import MEASUREMENTS, START, call, write_marks, write_tracking
from command import COMMAND, SOURCE, CommandTest, main, needs_package, read_terminal, use_package

use_package()
NAME = "/a/path/that/is/long/enough/to/be/cut/on/every/terminal.py:12 load"


def sample(second, ram, threads=2):
    figures = dict.fromkeys(MEASUREMENTS, 0) | {"main_ram": ram, "combined_ram": ram, "main_n_threads": threads,
                                                "cpu_combined_sum_utilization_percent": 150}
    return [figures[name] for name in MEASUREMENTS] + [START + second]


class Tables(CommandTest):
    def setUp(self):
        super().setUp()
        for name, ram, train in ("before", 1, 2), ("after", 1.5, 3):
            write_tracking(self.folder / f"{name}.csv", [sample(second, ram, second % 2) for second in range(10)])
            write_marks(self.folder / f"{name}-marks.csv", [*call(7, NAME, 0, 1), *call(7, "train", 2, 2 + train), *call(7, "train", 8, 8.25)])
            self.run_command("sub-track", "analyze", f"--tf={name}.csv", f"--stf={name}-marks.csv", "-f", "json", "-o", f"{name}.json")
        self.analyze = ["sub-track", "analyze", "--tf=before.csv", "--stf=before-marks.csv"]
        self.compare = ["sub-track", "compare", "-m", "before=before.json", "-m", "after=after.json"]

    def rows(self, *arguments):
        done = self.run_command(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [" ".join(line.split()) for line in done.stdout.splitlines()]

    def on_a_terminal(self, columns, *arguments):
        leader, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([COMMAND, *arguments], stdout=terminal, stderr=subprocess.DEVNULL, cwd=self.folder)
        self.processes.append(process)
        os.close(terminal)
        shown = read_terminal(leader).decode().replace("\r\n", "\n")
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        return shown

    def test_an_analysis_has_figures_that_fit_and_the_longest_block_first(self):
        rows = self.rows(*self.analyze, "-f", "summary")
        self.assertEqual(rows[:3], ["Session: 10 samples", "mean max min std measurement", "1 GB 1 GB 1 GB 0 B main_ram"])
        self.assertIn("150 % 150 % 150 % 0 % cpu_combined_sum_utilization_percent", rows)
        blocks = rows.index("Code blocks: 2, the longest first")
        self.assertEqual(rows[blocks + 1 : blocks + 4], [
            "calls total mean max CPU RAM max code block", "2 2.25 s 1.12 s 2 s 150 % 1 GB train", f"1 1 s 1 s 1 s 150 % 1 GB {NAME}"])

    def test_rows_of_zeros_are_left_out_unless_asked_for(self):
        for command, word in (self.analyze, "throughout"), (self.compare, "in all sessions"):
            few, all_of_them = self.rows(*command, "-f", "summary"), self.rows(*command, "--all")
            self.assertRegex("\n".join(few), rf"(?m)^\d+ (figures|measurements) are 0 or unknown {word} \(--all shows them\)$")
            self.assertNotIn("--all", "\n".join(all_of_them))
            self.assertTrue(any(row.endswith("system_gpu_ram") for row in all_of_them))
            self.assertFalse(any(row.endswith("system_gpu_ram") for row in few))

    def test_a_comparison_begins_with_what_changed_most(self):
        rows = self.rows(*self.compare, "-f", "summary")
        self.assertEqual(rows[:2], ["mean of each figure; what changed most first", "before after change figure"])
        changes = [float(row.split(" %")[0].split()[-1]) for row in rows[2:] if "+" in row and "GB" in row]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertIn("1 GB 1.5 GB +50.0 % main_ram", rows)
        self.assertIn("1.12 s 1.62 s +44.4 % train: compute_time", rows)
        self.assertLess(rows.index("1 GB 1.5 GB +50.0 % main_ram"), rows.index("1.12 s 1.62 s +44.4 % train: compute_time"))
        same = next(row for row in rows if row.endswith(" = cpu_combined_sum_utilization_percent"))
        self.assertGreater(rows.index(same), rows.index("1.12 s 1.62 s +44.4 % train: compute_time"))

    def test_changes_that_are_too_little_to_matter_follow_the_others(self):
        for name, private, percent in ("little", 0.0002, 0.2), ("more", 0.0009, 0.6):
            analysis = json.loads((self.folder / "before.json").read_text())
            for kind in "mean", "max":
                analysis["overall"]["main_ram"][kind] *= 1 + percent / 10
                analysis["overall"]["descendants_ram"][kind] = private
                analysis["overall"]["cpu_main_sum_utilization_percent"][kind] = percent
            (self.folder / f"{name}.json").write_text(json.dumps(analysis))
        rows = self.rows("sub-track", "compare", "-m", "little=little.json", "-m", "more=more.json", "-f", "summary")
        self.assertEqual(rows[2:5], ["1.02 GB 1.06 GB +3.9 % main_ram", "200 kB 900 kB 4.5 times descendants_ram",
                                     "0.2 % 0.6 % +200.0 % cpu_main_sum_utilization_percent"])
        self.assertIn("2 figures changed by less than 1 MB, or 1 % of a core or GPU: they follow the others", rows)

    def test_what_was_0_before_comes_first(self):
        write_tracking(self.folder / "none.csv", [sample(second, 0) for second in range(3)])
        self.run_command("sub-track", "analyze", "--tf=none.csv", "-f", "json", "-o", "none.json")
        self.run_command("sub-track", "analyze", "--tf=after.csv", "-f", "json", "-o", "whole.json")
        rows = self.rows("sub-track", "compare", "-m", "none=none.json", "-m", "some=whole.json", "-f", "summary")
        self.assertEqual(rows[2:4], ["0 B 1.5 GB from 0 main_ram", "0 B 1.5 GB from 0 combined_ram"])

    def test_a_terminal_gets_tables_of_its_width_and_everything_else_the_older_text(self):
        for command in self.analyze, self.compare:
            for columns in 80, 120:
                shown = self.on_a_terminal(columns, *command)
                self.assertLessEqual(max(map(len, shown.splitlines())), columns)
                self.assertIn("…", shown)
                self.assertIn(" main_ram\n", shown)
            self.assertRegex(self.run_command(*command).stdout, r"\AOverall( Resource Usage)?:\n")
            self.assertRegex(self.on_a_terminal(80, *command, "-f", "text"), r"\AOverall")
            self.run_command(*command, "-o", "out.txt")
            self.assertRegex((self.folder / "out.txt").read_text(), r"\AOverall")

    def test_tables_of_traces_and_profiles_have_the_width_of_the_terminal_and_lose_no_column(self):
        fixtures = SOURCE / "tests" / "fixtures"
        for command, trace in ("kernels", "trace-kineto"), ("breakdown", "trace-kineto"), ("idle", "trace-kineto"), \
                ("utilization", "trace-root"), ("phases", "trace-root"), ("metrics", "trace-root"):
            with self.subTest(command=command):
                family = "pytorch" if trace == "trace-kineto" else "profile"
                words = family, command, str(fixtures / trace)
                whole = self.run_command(*words).stdout
                self.assertGreater(max(map(len, whole.splitlines())), 80)
                shown = self.on_a_terminal(80, *words)
                self.assertLessEqual(max(map(len, shown.splitlines())), 80)
                heads = [line.split() for line in whole.splitlines()[:2]]
                self.assertLessEqual(set(heads[command == "metrics"]), set(shown.split()))
                self.assertEqual(self.on_a_terminal(400, *words), whole)
                self.on_a_terminal(80, *words, "-o", "table.txt")
                self.assertEqual((self.folder / "table.txt").read_text(), whole)

    def test_names_move_no_cursor(self):
        write_marks(self.folder / "before-marks.csv", call(7, "a\033[2Jb", 0, 2))
        self.assertNotIn("\033", "\n".join(self.rows(*self.analyze, "-f", "summary")))
        self.assertIn("a?[2Jb", self.run_command(*self.analyze).stdout)
        self.run_command(*self.analyze, "-o", "out.txt")
        self.assertIn("a?[2Jb", (self.folder / "out.txt").read_text())
        self.run_command(*self.analyze, "-o", "hostile.json")
        self.assertIn("a?[2Jb", self.run_command("sub-track", "compare", "-m", "x=hostile.json", "-m", "y=hostile.json").stdout)
        self.assertIn("a\\u001b[2Jb", self.run_command(*self.analyze, "-f", "json").stdout)

    @needs_package
    def test_the_name_of_the_output_says_the_format(self):
        starts = {"x.json": b"{", "x.pkl": b"\x80", "x.csv": b"", "x.txt": b"Overall"}
        for command in self.analyze, self.compare:
            for name, start in starts.items():
                self.run_command(*command, "-o", name)
                written = (self.folder / name).read_bytes()
                self.assertTrue(written.startswith(start), (command, name, written[:60]))
                self.assertEqual(written.startswith(b"Overall"), name == "x.txt")
            self.run_command(*command, "-f", "text", "-o", "x.json")
            self.assertTrue((self.folder / "x.json").read_bytes().startswith(b"Overall"))
        self.run_command("doctor", "-o", "x.json")
        json.loads((self.folder / "x.json").read_text())


if __name__ == "__main__":
    main()
