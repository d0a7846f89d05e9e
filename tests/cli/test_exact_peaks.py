"""Peaks of RAM of commands whose use is known, and their bounds."""

import json
import subprocess
import time

from command import main, python
from exact_test import CONSUMER, ExactTest


class ExactPeaks(ExactTest):
    def test_a_peak_between_two_samples_is_known(self):
        report = self.track("child", "[", "alloc", 200, "sleep", 0.01, "]", "wait", "sleep", 0.1)
        peaks = report["peaks"]
        if self.knows_ends(report):
            self.assertGreaterEqual(peaks["descendants_at_most"], 200e6)
            self.assertLess(peaks["descendants_at_most"], 210e6)
        self.assertLess(peaks["main"], 20e6)
        self.assertGreaterEqual(report["max_ram"]["combined"]["total_rss"], 200e6)
        self.assertLess(report["max_ram"]["main"]["total_rss"], 20e6)

    def test_where_a_peak_comes_from_is_said_to_the_end(self):
        report = self.track_without_rights("child", "[", "alloc", 50, "]", "wait", "sleep", 0.1)
        self.assertRegex(report["peaks"]["main_source"], "; at most ru_maxrss of it and its children$")
        for key, text in report["peaks"].items():
            self.assertNotIn("…", str(text), key)

    def track_for_a_while(self, track, count, *words, seconds=3):
        """All of the processes are there for these seconds, however late they start: less than until the next sample."""
        return self.track_while(track, count, lambda: time.sleep(seconds), *words)

    def test_processes_that_come_and_go_between_two_samples_count_together(self):
        backends = ["child", "[", "alloc", 20, "ready", "await", 0, "]"] * 8
        for track in self.track, self.track_without_rights:
            with self.subTest(track=track.__name__):
                report = self.track_for_a_while(track, 8, "alloc", 40, "sleep", 0.2, *backends, "wait", "sleep", 0.1)
                if self.announced(report):
                    self.assertGreater(report["peaks"]["combined"], 190e6)
                self.assertLess(report["peaks"]["combined"], 240e6)

    def test_memory_that_processes_have_for_a_moment_is_seen_long_before_the_next_sample(self):
        """Some time after they were started, for a part of that time. A busy machine may not let the tracker run then."""
        workers = ["child", "[", "sleep", 0.8, "alloc", 20, "sleep", 0.35, "]"] * 4
        for track in self.track, self.track_without_rights:
            for _ in range(5):
                report = track(*workers, "wait", "sleep", 0.1)
                if not self.announced(report) or report["peaks"]["combined"] > 75e6:
                    break
            else:
                self.fail(f"{track.__name__}: {report['peaks']}")

    def test_a_fork_that_only_reads_has_a_peak_too(self):
        report = self.track("alloc", 60, "child", "[", "sleep", 0.5, "]", "wait", options=["--st", "0.1"])
        peaks = report["peaks"]
        if self.knows_ends(report):
            self.assertGreaterEqual(peaks["descendants_at_most"], 60e6)
        self.assertNotEqual(peaks["descendants_source"], "there were none")

    def test_a_helper_that_ends_with_the_command_is_awaited(self):
        """It ends when the pipe of main does, as the resource tracker of Python's multiprocessing."""
        code = ("import os; hold, held = os.pipe()\n"
                "if os.fork() == 0:\n"
                "    os.close(held); os.read(hold, 1); os._exit(0)\n")
        report = self.track(command=python(code))
        if not self.knows_ends(report):
            self.skipTest("the kernel sends no exit records here")
        self.assertEqual(report["accounting"]["processes"]["left_running"], 0)
        self.assertEqual(report["sources"]["kernel_cpu_time"]["state"], "exact")
        self.assertIsNotNone(report["peaks"]["combined_at_most"])

    def test_memory_from_before_execve_is_within_bounds(self):
        report = self.track("child", "[", "alloc", 200, "exec", "/bin/true", "]", "wait", options=["--processes"])
        peaks = report["peaks"]
        for whose in "descendants", "combined":
            at_most = peaks[f"{whose}_at_most"]
            self.assertTrue(at_most is None or at_most >= 200e6, peaks)
        self.assertGreaterEqual(report["max_ram"]["combined"]["total_rss"], 200e6)
        self.assertNotIn("final", [row["peak_ram_source"] for row in report["processes"] if row["name"] == "true"])

    def test_bounds_hold_however_a_process_ends(self):
        before_execve = "alloc 100 exec /bin/true"
        for words in (f"daemon [ {before_execve} ] sleep 0.5", f"child [ {before_execve} ] sleep 0.5",
                      "child [ alloc 100 die ] wait", f"child [ child [ {before_execve} ] wait die ] wait",
                      "daemon [ alloc 100 sleep 2 ] sleep 0.5"):
            for track in self.track, self.track_without_rights:
                with self.subTest(words=words, track=track.__name__):
                    report = track(*words.split())
                    peaks = report["peaks"]
                    for whose in "descendants", "combined":
                        at_most = peaks[f"{whose}_at_most"]
                        self.assertTrue(at_most is None or at_most >= 100e6, peaks)
                    if self.knows_ends(report) and "still running" not in peaks["descendants_source"]:
                        self.assertLess(peaks["descendants_at_most"], 110e6)

    def test_memory_that_main_had_before_execve_is_mains(self):
        report = self.track("child", "[", "]", "wait", "alloc", 200, "exec", "/bin/true", options=["--processes"])
        peaks = report["peaks"]
        self.assertGreaterEqual(peaks["main_at_most"], 200e6)
        if self.announced(report) and self.knows_ends(report):
            self.assertGreaterEqual(peaks["main"], 200e6)
            self.assertLess(peaks["descendants_at_most"], 20e6)

    def test_what_others_put_into_its_memory_is_within_bounds(self):
        words = ["child", "[", "]", "wait", "sleep", 0.3, "vfork", "[", "alloc", 200, "]", "free", "wait"]
        for track in self.track, self.track_without_rights:
            peaks = track(*words, options=["--st", "0.1"])["peaks"]
            for whose in "main", "combined":
                at_most = peaks[f"{whose}_at_most"]
                self.assertTrue(at_most is None or at_most >= 200e6, peaks)
            if peaks["descendants_at_most"] is not None:
                self.assertLess(peaks["descendants"], peaks["descendants_at_most"])

    def test_no_bound_is_below_what_was_seen(self):
        report = self.track("sleep", 0.1)
        at_most = report["peaks"]["combined_at_most"]
        self.assertGreaterEqual(report["peaks"]["combined"], report["max_ram"]["combined"]["total_rss"])
        self.assertTrue(at_most is None or at_most >= report["peaks"]["combined"])

    def test_page_cache_is_nobodys_peak(self):
        peaks = self.track("write", 50)["peaks"]
        self.assertLess(peaks["combined"], 40e6)  # a sanitized program takes 20
        self.assertTrue(peaks["combined_at_most"] is None or peaks["combined_at_most"] < 40e6)
        self.assertNotEqual(peaks["control_group_source"], "")

    def test_all_together_stay_below_the_sum_of_the_peaks_of_those_that_lived_at_once(self):
        one, other = "child [ alloc 60 ready await 0 ]", "child [ alloc 40 ready await 0 ]"
        together = self.track_for_a_while(self.track, 2, *f"{one} {other} wait".split(), seconds=0.2)
        by_turns = self.track(*"child [ alloc 60 sleep 0.2 ] wait sleep 0.1 child [ alloc 40 sleep 0.2 ] wait".split())
        for report, most in (together, 100e6), (by_turns, 60e6):
            peaks = report["peaks"]
            self.assertGreaterEqual(peaks["combined"], peaks["main"])
            if self.announced(report) and self.knows_ends(report):
                self.assertGreaterEqual(peaks["combined_at_most"], most)
                self.assertLess(peaks["combined_at_most"], most + 20e6)

    def test_the_peak_of_a_single_process_is_the_kernels(self):
        report = self.track("alloc", 150, "free", "sleep", 0.2)
        peaks = report["peaks"]
        self.assertEqual(peaks["main"], peaks["main_at_most"])
        self.assertGreaterEqual(peaks["main"], 150e6)
        self.assertLess(peaks["main"], 153e6)
        self.assertEqual(report["max_ram"]["main"]["total_rss"], peaks["main"])

    def test_a_peak_since_attaching_is_in_the_maximum(self):
        report = self.attach("alloc 100 free sleep 1.5")
        self.assertGreaterEqual(report["max_ram"]["main"]["total_rss"], 100e6)
        self.assertGreaterEqual(report["max_ram"]["combined"]["total_rss"], 100e6)

    def test_a_peak_from_before_attaching_is_only_a_bound(self):
        actor = subprocess.Popen([CONSUMER, *"alloc 200 free ready await 0".split()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.processes.append(actor)
        self.assertEqual(actor.stdout.read(1), b".")
        report = self.folder / "report.json"
        done = self.run_command("attach", "--disable-logs", "--for", "1", "--st", "0.1", "--ru", "bytes", "-f", "json", "-o", report, str(actor.pid))
        self.assertEqual(done.returncode, 0, done.stderr)
        peaks = json.loads(report.read_text())["peaks"]
        self.assertLess(peaks["main"], 100e6)
        self.assertTrue(peaks["main_at_most"] is None or peaks["main_at_most"] >= 200e6)
        self.assertIn("before tracking", peaks["main_source"])


if __name__ == "__main__":
    main()
