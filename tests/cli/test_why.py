"""gpu-tracker why: where the time of a command went, or of sessions that were kept."""

import json
import pathlib
import os
import re

from command import CommandTest, main, python
from fake_gpu import GpuTest
from report_data import Report, use_page

SLEEPER = ["sh", "-c", "sleep 1.5"]
# Polls a pipe that a sleeper holds. First it finds out whether one process may read another one's memory at all.
POLLING = """
import ctypes, os, select, sys
ends = os.pipe()
os.set_inheritable(ends[1], True)
child = os.fork()
if child == 0:
    os.execlp("sleep", "sleep", "2")
os.close(ends[1])
word = ctypes.create_string_buffer(8)
part = (ctypes.c_void_p * 2)(ctypes.addressof(word), 8)
if ctypes.CDLL(None, use_errno=True).process_vm_readv(child, part, 1, part, 1, 0) < 0 and ctypes.get_errno() not in (0, 14):
    print("process_vm_readv refused", file=sys.stderr)
poller = select.poll()
poller.register(ends[0], select.POLLIN)
poller.poll()
os.wait()
"""
# Waits for a child as make does: until its own handler of SIGCHLD has written to a pipe.
SELECTING = """
import os, select, signal
ends = os.pipe()
os.set_blocking(ends[1], False)
signal.set_wakeup_fd(ends[1])
signal.signal(signal.SIGCHLD, lambda *_: None)
if os.fork() == 0:
    os.execlp("sleep", "sleep", "2")
select.select([ends[0]], [], [])
os.wait()
"""
# What may be taken for that, and is something else: another thread writes, a socket is awaited too, there is a time limit.
NO_CHILD = (
    """
import os, select, threading, time
ends = os.pipe()
threading.Thread(target=lambda: (time.sleep(2), os.write(ends[1], b"x"))).start()
select.select([ends[0]], [], [])
""", """
import os, select, socket, subprocess
ends, (own, other) = os.pipe(), socket.socketpair()
child = subprocess.Popen(["sleep", "2"], stdin=other)
other.close()
select.select([ends[0], own], [], [])
child.wait()
""", """
import os, select, subprocess
ends, child = os.pipe(), subprocess.Popen(["sleep", "2"])
select.select([ends[0]], [], [], 1.5)
child.kill()
child.wait()
""")


class Why(CommandTest):
    MOSTLY_WAITS = True

    def test_a_command_is_run_and_explained(self):
        done = self.run_command("why", "--", "sh", "-c", "sleep 1.5; exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^Where the time went  1\.\d+ s: the main thread, and its children while it waited for them\n")
        self.assertRegex(done.stderr, r"\n  asleep \(timer\) +\d+ %  .* sampled, ± ")
        self.assertRegex(done.stderr, r"\nMain thread alone  .*\n  asleep \(child\) ")
        self.assertRegex(done.stderr, r"\nPrograms, by time on a CPU: .*sleep \(1 process\)")
        self.assertRegex(done.stderr, r"\nAdvice\n  It slept for a time of its own choice for \d+ % of its time")
        self.assertRegex(done.stderr, r"\ntime_went: sampled\. .*\nrun_queue: (exact|sampled)\. ")

    def test_what_is_too_short_is_said_to_be(self):
        done = self.run_command("why", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "\nThe evidence is thin: ")
        self.assertNotIn("Advice", done.stderr)

    def test_kept_sessions_are_explained(self):
        done = self.run_command("run", "-f", "json", "-o", "one.json", "--", *SLEEPER)
        self.assertEqual(done.returncode, 0, done.stderr)
        one = self.run_command("why", "one.json")
        self.assertEqual((one.returncode, one.stderr), (0, ""))
        report = json.loads((self.folder / "one.json").read_text())
        share = round(100 * report["time_went"]["timer_seconds"] / report["time_went"]["seconds"])
        self.assertRegex(one.stdout, rf"\n  asleep \(timer\) +{share} %")
        two = self.run_command("why", "one.json", "one.json")
        self.assertEqual(two.stdout, f"one.json\n\n{one.stdout}\none.json\n\n{one.stdout}")
        self.assertEqual(self.run_command("why", "-o", "page.txt", "one.json").returncode, 0)
        self.assertEqual((self.folder / "page.txt").read_text(), one.stdout)

    def test_the_summary_has_a_line_where_it_tells_something(self):
        done = self.run_command("run", "--", *SLEEPER)
        self.assertRegex(done.stderr, r"\n  Time went +\d+ %  asleep \(timer\)")
        done = self.run_command("run", "--", "true")
        self.assertNotIn("Time went", done.stderr)

    def test_json_is_the_report(self):
        done = self.run_command("why", "-f", "json", "-o", "report.json", "--", *SLEEPER)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["identity"]["exit_status"], 0)
        for section in "time_went", "main_thread":
            parts = sum(value for name, value in report[section].items() if name.endswith("_seconds"))
            self.assertAlmostEqual(parts, report[section]["seconds"], delta=0.01 * report[section]["seconds"])

    def test_pressure_is_what_the_kernel_counted_meanwhile(self):
        files = {name: pathlib.Path("/proc/pressure", name) for name in ("cpu", "memory", "io")}
        if not files["cpu"].exists():
            self.skipTest("this kernel has no pressure stall information")
        def total(name):
            return int(files[name].read_text().split("some ")[1].split("total=")[1].split()[0]) / 1e6
        before = {name: total(name) for name in files}
        done = self.run_command("why", "-f", "json", "-o", "report.json", "--", *SLEEPER)
        self.assertEqual(done.returncode, 0, done.stderr)
        pressure = json.loads((self.folder / "report.json").read_text())["pressure"]["system"]
        self.assertIsNone(pressure["cpu_full_seconds"])
        for name in files:
            self.assertGreaterEqual(pressure[f"{name}_some_seconds"], 0)
            self.assertLessEqual(pressure[f"{name}_some_seconds"], total(name) - before[name] + 1e-6)
        self.assertRegex(done.stderr + self.run_command("why", "report.json").stdout, r"\nSome task waited for +a CPU +memory +storage\n(.*\n)?  of the machine ")

    def test_it_is_said_who_holds_the_other_end_of_a_pipe(self):
        """A reader waits for a writer that sleeps, and a writer for a reader that does."""
        pipeline = self.run_command("why", "-f", "json", "-o", "report.json", "--overwrite", "--", "sh", "-c", "sleep 2 | cat; exit")
        went = json.loads((self.folder / "report.json").read_text())["time_went"]
        # One of two slept in a pipe, and did what the other one did: almost nothing is left of that.
        self.assertGreater(went["timer_seconds"], went["pipe_seconds"], pipeline.stderr)
        for command, told in ("sleep 2 | cat; exit", "cat read a pipe of sleep"), ("cat /dev/zero | (exec sleep 2); exit", "cat wrote to a pipe of sleep"):
            done = self.run_command("why", "-f", "json", "-o", "report.json", "--overwrite", "--", "sh", "-c", command)
            self.assertEqual(done.returncode, 0, done.stderr)
            awaited = json.loads((self.folder / "report.json").read_text())["time_went"]["awaited"]
            self.assertRegex(awaited, rf"^{told} for \d.* s \(\d+ % asleep \(timer\)", done.stderr)
            self.assertIn(f"\nWaited for: {awaited}\n", self.run_command("why", "report.json").stdout)

    def test_it_is_said_who_holds_the_other_end_of_a_pipe_that_is_polled(self):
        done = self.run_command("why", "-f", "json", "-o", "report.json", "--", *python(POLLING))
        self.assertEqual(done.returncode, 0, done.stderr)
        if "process_vm_readv refused" in done.stderr:
            self.skipTest("the memory of a child cannot be read here")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertGreater(report["time_went"]["poll_seconds"], 0.5 * report["time_went"]["seconds"])
        self.assertRegex(report["time_went"]["awaited"], r"^.* read a pipe of sleep for \d.* s \(\d+ % asleep \(timer\)")
        self.assertRegex(self.run_command("why", "report.json").stdout, r"\nAdvice\n  It slept in poll, for a pipe, for \d+ % of its time, and what it waited for did not run either: .* of sleep ")

    def test_who_selects_a_pipe_of_its_own_waits_for_a_child(self):
        done = self.run_command("why", "-f", "json", "-o", "report.json", "--", *python(SELECTING))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        if self.run_command("run", "-q", "--", *python(POLLING)).stderr:
            self.skipTest("the memory of a child cannot be read here")
        self.assertGreater(report["main_thread"]["child_seconds"], report["main_thread"]["poll_seconds"])
        self.assertGreater(report["time_went"]["timer_seconds"], report["time_went"]["poll_seconds"])

    def test_who_may_wait_for_something_else_does_not_wait_for_a_child(self):
        for code in NO_CHILD:
            done = self.run_command("why", "-f", "json", "-o", "report.json", "--overwrite", "--", *python(code))
            self.assertEqual(done.returncode, 0, done.stderr)
            main_thread = json.loads((self.folder / "report.json").read_text())["main_thread"]
            self.assertGreater(main_thread["poll_seconds"], 0.5 * main_thread["seconds"])
            self.assertLess(main_thread["child_seconds"], 0.3 * main_thread["seconds"])

    def test_a_file_that_is_no_session_is_refused(self):
        (self.folder / "x.json").write_text("{}")
        done = self.run_command("why", "x.json")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^gpu-tracker: .*x\.json")

    def test_a_report_that_is_missing_is_no_command(self):
        done = self.run_command("why", "missing.json")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^gpu-tracker: .*missing\.json.*No such file")

    def test_a_session_without_these_figures_says_so(self):
        self.run_command("run", "-f", "json", "-o", "old.json", "--", *SLEEPER)
        report = json.loads((self.folder / "old.json").read_text())
        for section in "time_went", "main_thread", "other_threads":
            del report[section]
        for source in "time_went", "run_queue":
            del report["sources"][source]
        (self.folder / "old.json").write_text(json.dumps(report))
        done = self.run_command("why", "old.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "It is not known where the time went.\n")

    def test_a_command_that_is_missing_is_named(self):
        done = self.run_command("why", "--", "no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no-such-program", done.stderr)
        self.assertEqual(self.run_command("why").returncode, 2)


class WhyOfGpus(GpuTest):
    def explain(self, utilization):
        self.write(f"gpu GPU-aaaa\nmemory 16000000000 0 9000000000\nutilization {utilization}\n")
        done = self.gpu_tracker("why", "--st", "0.1", "-f", "json", "-o", "out.json", "--overwrite", "--", "sh", "-c", "sleep 1.5 | cat; exit")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "out.json").read_text())
        return report, self.gpu_tracker("why", "out.json").stdout

    def test_while_a_gpu_is_idle_all_threads_are_told_of(self):
        report, page = self.explain(0)
        main_thread, others = report["gpu_idle"], report["gpu_idle_others"]
        self.assertGreater(main_thread["child_seconds"], 0.5 * main_thread["seconds"])
        # At each moment there are both, one in a timer and one in a pipe, but while they start.
        for cause in "timer", "pipe":
            self.assertGreater(others[f"{cause}_seconds"], 0.25 * others["seconds"])
            self.assertLess(others[f"{cause}_seconds"], 0.6 * others["seconds"])
        self.assertRegex(page, r"\nWhile no GPU was busy, the main thread:\n  asleep \(child\) .*\n(  .*\n)*and all other threads, their times added up:\n  asleep ")
        self.assertRegex(page, r"\nAdvice\n  The GPU was idle for \d+ % of the time\. Meanwhile the main thread was: ")
        use_page(self)
        self.assertEqual(self.gpu_tracker("report", "out.json", "-o", "report.html", GPUT_REPORT_PAGE=str(self.folder / "page.html")).returncode, 0)
        shown = {account["id"]: account for account in Report(self.folder / "report.html").sessions[0]["time_went"]}
        for name, section in (("gpu_idle", main_thread), ("gpu_idle_others", others)):
            self.assertEqual(shown[name]["seconds"], section["seconds"])
            for share in shown[name]["shares"]:
                self.assertEqual(share["seconds"], section[f"{share['cause']}_seconds"])

    def test_while_a_gpu_is_busy_nothing_is(self):
        report, page = self.explain(90)
        # The first answer of the driver may come after the first moments.
        self.assertLess(report["gpu_idle"]["seconds"] or 0, 0.5 * report["gpu_idle"]["known_seconds"])
        self.assertNotIn("Advice\n  The GPU", page)


if __name__ == "__main__":
    main()
