"""The list of processes of commands whose use is known."""

import os
import shutil
import sqlite3
import subprocess
import time

from command import COMMAND, main
from exact_test import CONSUMER, ExactTest


class ExactProcesses(ExactTest):
    def test_every_process_is_listed(self):
        report = self.track("child", "[", "alloc", 60, "spin", 0.05, "]", "swarm", 3, 0, "wait", options=["--processes"])
        processes = report["processes"]
        self.assertEqual(processes[0]["name"], "consumer")
        self.assertEqual(processes[0]["exit_status"], 0)
        self.assertNotIn("command_line", processes[0])
        self.assertIsNotNone(processes[0]["end_timestamp"])
        if self.announced(report):
            self.assertEqual(len(processes), 5)
            self.assertEqual({process["parent"] for process in processes[1:]}, {processes[0]["pid"]})
            self.assertEqual({process["exit_status"] for process in processes}, {0})
        if self.knows_ends(report):
            largest = max(processes, key=lambda process: process["peak_ram"])
            self.assertGreaterEqual(largest["peak_ram"], 60e6)
            self.assertEqual(largest["peak_ram_source"], "final")
            self.assertEqual(largest["at_least"], "cpu_seconds, bytes")
            self.assertGreaterEqual(largest["cpu_seconds"], 0.05)

    def children_whose_first_thread_ends(self, *words):
        for track in self.track, self.track_without_rights:
            rows = self.folder / f"{track.__name__}.csv"
            thread = ["alloc", 30, "ready", "await", 0, "sleep", 0.3, *words]
            report = self.track_while(track, 1, lambda rows=rows: self.await_rows(rows, 2), "child", "[", "exit-leader", "[", *thread, "]", "]", "wait",
                                      options=["--processes", "--st", "0.1", "--tf", rows.name])
            self.assertEqual(report["accounting"]["processes"]["seen"], 2)
            self.assertEqual(len(report["processes"]), 2)
            child = report["processes"][1]
            self.assertGreaterEqual(child["peak_ram"], 30e6)
            self.assertGreaterEqual(child["end_timestamp"] - child["start_timestamp"], 0.2)
            if self.announced(report):
                self.assertEqual(child["end_timestamp_source"], "final")
                self.assertGreaterEqual(child["end_timestamp"] - child["start_timestamp"], 0.3)
            yield report, child

    def test_a_child_whose_first_thread_ends_counts_once(self):
        for report, child in self.children_whose_first_thread_ends():
            self.assertEqual(child["name"], "consumer")
            self.assertEqual(child["exit_status"], 0 if self.announced(report) else None)

    def test_a_program_that_another_thread_calls_counts_once(self):
        for report, child in self.children_whose_first_thread_ends("exec", "/bin/false"):
            if self.announced(report):
                self.assertIn(child["name"], ("false", None))  # gone before its name could be read
                self.assertEqual(child["exit_status"], 1)

    def test_times_of_processes_are_right_in_a_time_namespace(self):
        """The kernel announces them by its own clock, not by that of the namespace."""
        for offset in "1000000", "-20":
            private = ["unshare", "--time", "--boottime", offset, "--monotonic", offset, "--fork"]
            if subprocess.run([*private, "true"], capture_output=True).returncode != 0:
                self.skipTest("no time namespace can be made here")
            path = self.folder / f"{offset}.json"
            began = time.time()
            subprocess.run([*private, COMMAND, "run", "--disable-logs", "--processes", "-f", "json", "-o", path, "--",
                            CONSUMER, "child", "[", "spin", "0.05", "]", "wait"], check=True)
            report = self.read(path)
            self.assertEqual(len(report["processes"]), 2)
            for row in report["processes"]:
                self.assertGreater(row["start_timestamp"], began - 1)
                self.assertLess(row["start_timestamp"], time.time() + 1)
                if self.knows_ends(report):
                    self.assertEqual(row["at_least"], "cpu_seconds, bytes")
                    self.assertNotEqual(row["name"], "")

    def test_the_command_in_the_list_has_the_peak_of_main(self):
        words = ["sleep", 0.1, "alloc", 200, "free", "sleep", 0.2]
        for track in self.track, self.track_without_rights:
            report = track(*words, options=["--processes"])
            self.assertEqual(report["processes"][0]["peak_ram"], report["peaks"]["main"])
            self.assertEqual(report["processes"][0]["peak_ram_source"], "final")

    def test_what_ended_unseen_is_a_lower_bound(self):
        report = self.track("child", "[", "write", 3, "spin", 0.2, "]", "wait", options=["--processes", "--st", 60])
        for process in report["processes"]:
            self.assertEqual(process["at_least"], "cpu_seconds, bytes" if self.knows_ends(report) else "all")
            for figure in ("cpu_seconds", "read_bytes", "write_bytes"):
                self.assertTrue(process["at_least"] != "all" or process[figure] != 0, (figure, process))

    def test_figures_of_ends_say_what_they_lack(self):
        report = self.track("programs", 100, "/bin/true", options=["--processes"])
        self.assertNotIn(0, [process["cpu_seconds"] for process in report["processes"]])
        source = report["sources"]["process_ends"]
        if self.knows_ends(report):
            self.assertEqual(source["state"], "sampled")
            self.assertRegex(source["reason"], "at least: bytes .*1023.* CPU time .*last scheduler tick")

    def test_many_processes_are_summed_up(self):
        report = self.track("swarm", 6000, 0, options=["--processes"])
        if self.announced(report) and report["accounting"]["processes"]["missed"] == 0:
            self.assertEqual(len(report["processes"]) + report["other_processes"]["count"], 6001)
            self.assertLess(len(report["processes"]), 4200)

    def test_the_tree_follows_the_text(self):
        done = self.run_command("run", "--disable-logs", "--processes", "--command-lines", "-f", "full", "-o", "-", "--",
                                CONSUMER, "child", "[", "sleep", "0.2", "]", "wait")
        lines = done.stdout[done.stdout.index("\nProcesses:") + 1:].splitlines()
        self.assertIn(f"{CONSUMER} child [ sleep 0.2 ] wait", lines[2])
        self.assertIn("└─ consumer(", lines[3])

    def test_command_lines_are_of_the_programs_that_the_names_are_of(self):
        for track in self.track, self.track_without_rights:
            report = track("alloc", 50, "programs", 20, "/bin/true", options=["--processes", "--command-lines"])
            for process in report["processes"]:
                self.assertIn("consumer" if process["name"] == "consumer" else "true",
                              process["command_line"] or "consumer or true", process)

    def test_names_of_any_bytes_become_text(self):
        program = self.folder / os.fsdecode(b"bad\xff\xfe")
        shutil.copy(CONSUMER, program)
        path = self.folder / "tracking.sqlite"
        report = self.track(options=["--processes", "--command-lines", "--tf", path], command=[program, "sleep", "0.1"])
        with sqlite3.connect(path) as connection:
            (row,) = connection.execute("select name, command_line from process_data").fetchall()
        command = f"{self.folder}/bad\ufffd\ufffd sleep 0.1"
        self.assertEqual(row, ("bad\ufffd\ufffd", command))
        self.assertEqual(row, tuple(report["processes"][0][key] for key in ("name", "command_line")))

    def test_the_table_stands_in_the_tracking_file(self):
        path = self.folder / "tracking.sqlite"
        self.track("child", "[", "sleep", 0.2, "]", "wait", options=["--processes", "--tf", path])
        with sqlite3.connect(path) as connection:
            rows = connection.execute("select pid, parent, name, exit_status from process_data").fetchall()
        child, main = sorted(rows, key=lambda row: row[1] in {row[0] for row in rows}, reverse=True)
        self.assertEqual(child[1], main[0])
        self.assertEqual(main[2:], ("consumer", 0))
        self.assertEqual(child[2], "consumer")
        self.assertIn(child[3], (0, None))  # where the kernel does not announce it, it is unknown

    def test_without_asking_there_is_no_list(self):
        self.assertNotIn("processes", self.track("sleep", 0))


if __name__ == "__main__":
    main()
