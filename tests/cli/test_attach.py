"""gpu-tracker attach: a process that is running already."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from command import SOURCE, CommandTest, main, python, wait_until
from report_data import use_page

CONSUMER = os.environ["GPUT_CONSUMER"]
BUSY = """
import subprocess, sys, threading, time
held = b"x" * 30_000_000
child = subprocess.Popen([sys.executable, "-c", "import time; held = b'x' * 20_000_000; print('ready', flush=True); time.sleep(100)"])
threading.Thread(target=time.sleep, args=[100], daemon=True).start()
try: time.sleep(100)
finally: child.kill()
"""


class Attach(CommandTest):
    def start(self, arguments, **options):
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, **options)
        self.processes.append(process)
        return process

    def start_busy(self):
        process = self.start(python(BUSY), start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.addCleanup(self.kill_group, process.pid)
        return process

    @staticmethod
    def kill_group(group):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_a_process_that_has_ended_cannot_be_tracked(self):
        process = self.start([CONSUMER, "sleep", "0"])
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        done = self.run_command("attach", str(process.pid))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"Process {process.pid} has ended already", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_for_some_time(self):
        process = self.start_busy()
        done = self.run_command(
            "attach", "--for", "0.3", "--st=0.05", "--ru=bytes", "--tu=seconds", "-f", "json", process.pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertGreater(report["max_ram"]["main"]["private_rss"], 30e6)
        self.assertGreater(report["max_ram"]["descendants"]["private_rss"], 20e6)
        self.assertEqual(report["cpu_utilization"]["main_n_threads"], 2)
        self.assertGreaterEqual(report["compute_time"]["time"], 0.3)
        self.assertIsNone(process.poll())

    def test_pages_of_hugetlbfs_are_ram(self):
        """On a recorded procfs, since few machines have any; as maps show them, and as status does where the machine has some."""
        shutil.copytree(SOURCE / "tests" / "fixtures" / "procfs-hybrid", self.folder / "proc")
        maps = self.folder / "proc" / "4005" / "smaps_rollup"
        status, meminfo = (self.folder / "proc" / name for name in ("4005/status", "meminfo"))
        status.write_text(re.sub(r"HugetlbPages:.*\n", "", status.read_text()) + "HugetlbPages:\t  409600 kB\n")
        meminfo.write_text(re.sub(r"Hugetlb:.*\n", "", meminfo.read_text()))
        figures = []
        for kilobytes, pool, said, mode in ((0, 0, None, "adaptive"), (204800, 0, 210, "adaptive"), (0, 1048576, 419, "totals")):
            maps.write_text(re.sub(r"(Shared_Hugetlb:) +\d+", rf"\1 {kilobytes:12}", maps.read_text()))
            meminfo.write_text(re.sub(r"Hugetlb:.*\n", "", meminfo.read_text()) + f"Hugetlb: {pool:12} kB\n")
            done = self.run_command(
                "attach", "--for", "0.1", "--st=0.05", "--ru=bytes", "--ram", mode, "-f", "json", "--disable-logs", 4005,
                env={**os.environ, "GPUT_PROCFS": str(self.folder / "proc")})
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            reason = report["sources"]["ram"]["reason"]
            self.assertEqual(re.findall(r"with hugetlb pages \(up to (\d+) MB", reason), [str(said)] if said else [], reason)
            figures.append(report["max_ram"]["main"]["total_rss"])
            self.assertEqual(report["tracker"]["contradictions"], 0)
        self.assertEqual([figure - figures[0] for figure in figures], [0, 204800 * 1024, 409600 * 1024])

    def test_a_procfs_of_processes_alone_has_nothing_of_the_machine(self):
        """As it is mounted with subset=pid."""
        shutil.copytree(SOURCE / "tests" / "fixtures" / "procfs-hybrid", self.folder / "proc")
        for name, state, reason in (("meminfo", "sampled", "without RAM: /proc/meminfo cannot be read, and /proc/stat"),
                                    ("stat", "unavailable", "neither /proc/meminfo nor /proc/stat can be read")):
            (self.folder / "proc" / name).unlink()
            environment = {**os.environ, "GPUT_PROCFS": str(self.folder / "proc")}
            done = self.run_command("attach", "--for", "0.1", "--st=0.05", "-f", "json", "--disable-logs", 4005, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            system = json.loads(done.stdout)["sources"]["system"]
            self.assertEqual(system["state"], state)
            self.assertIn(reason, system["reason"])
        self.assertNotIn("% of", self.run_command("attach", "--for", "0.1", "--disable-logs", 4005, env=environment).stdout)

    def test_until_the_process_ends(self):
        process = self.start([CONSUMER, "await", "0"], stdin=subprocess.PIPE)
        tracker = self.start_command("attach", process.pid, "--tu=seconds", "--st=0.05", "--tf", "rows.csv")
        rows = self.folder / "rows.csv"
        wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 3, "samples")
        process.stdin.close()
        output, _ = self.finish(tracker)
        self.assertEqual(tracker.returncode, 0)
        self.assert_is_summary(output)
        self.assertRegex(output, rf"^gpu-tracker: {CONSUMER}, pid {process.pid}\n  Time .*s  (the process has ended|exit status 0)\n")

    def test_says_how_the_process_ended(self):
        """Where the kernel announces ends."""
        use_page(self)
        for script, said in (("read x; exit 3", "exit status 3"), ("read x; kill -9 $$", "killed by signal 9 (Killed)")):
            process = self.start(["sh", "-c", script], stdin=subprocess.PIPE)
            tracker = self.start_command("attach", process.pid, "--st=0.05", "--tf", "rows.csv", "--overwrite", "--report", "r.html")
            rows = self.folder / "rows.csv"
            wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 3, "samples")
            process.stdin.close()
            output, _ = self.finish(tracker)
            identity = json.loads((self.folder / "rows.csv.session.json").read_text())
            if identity.keys().isdisjoint({"exit_status", "signal"}):
                self.assertIn("the process has ended", output)
            else:
                self.assertRegex(output, rf"\n  Time .*s  {re.escape(said)}\n")
            self.assertIn(f"sh, pid {process.pid}", (self.folder / "r.html").read_text())
            rows.unlink()

    def test_the_summary_says_what_was_tracked(self):
        process = self.start(["sleep", "100"])
        done = self.run_command("attach", "--for", "0.1", process.pid, env={**os.environ, "GPUT_NVML": "/nonexistent"})
        self.assertRegex(done.stdout, rf"^gpu-tracker: sleep, pid {process.pid}\n  Time .*s  the process is still running\n")
        self.assertNotIn("No GPU was found", done.stderr)
        done = self.run_command("attach", "--for", "0.1", "--command-lines", process.pid)
        self.assertTrue(done.stdout.startswith(f"gpu-tracker: sleep 100, pid {process.pid}\n"), done.stdout)

    def test_a_summary_can_go_next_to_a_file(self):
        process = self.start(["sleep", "100"])
        done = self.run_command("attach", "--for", "0.1", "--summary", "-o", "r.json", process.pid)
        self.assert_is_summary(done.stdout)
        json.loads((self.folder / "r.json").read_text())
        done = self.run_command("attach", "--for", "0.1", "--summary", "-f", "json", "-o", "-", process.pid)
        json.loads(done.stdout)
        self.assertIn(f"sleep, pid {process.pid}\n  Time", done.stderr)

    @staticmethod
    def counted(pid):
        """Page faults and bytes written of a process and the children it waited for; None: it may not be seen."""
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        try:
            written = int(re.search(r"wchar: (\d+)", Path(f"/proc/{pid}/io").read_text())[1])
        except OSError:
            written = None
        return int(fields[7]) + int(fields[8]), written

    def test_counts_begin_when_tracking_does(self):
        work = ["alloc", "10", "write", "1"]
        process = self.start(
            [CONSUMER, *work, "ready", "await", "0", *work, "child", "[", *work, "]", "wait", "ready", "await", "0"],
            stdin=subprocess.PIPE,
        )
        self.assertEqual(process.stdout.read(1), ".")
        before = self.counted(process.pid)
        tracker = self.start_command("attach", "--st=0.05", "-f", "json", "--tf", "rows.csv", process.pid)
        rows = self.folder / "rows.csv"
        wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 3, "samples")
        process.stdin.write("x")
        process.stdin.flush()
        self.assertEqual(process.stdout.read(1), ".")
        after = self.counted(process.pid)
        seen = rows.read_text().count("\n")
        wait_until(lambda: rows.read_text().count("\n") > seen + 2, "samples of the end")
        process.stdin.close()
        output, _ = self.finish(tracker)
        report = json.loads(output)
        self.assertAlmostEqual(report["accounting"]["page_faults"]["minor"], after[0] - before[0], delta=50)
        if after[1] is not None:
            # Of what ended the kernel reports whole kilobytes.
            self.assertAlmostEqual(report["accounting"]["bytes"]["written"], after[1] - before[1], delta=3000)
        knows_ends = report["sources"]["process_ends"]["state"] != "unavailable"
        self.assertEqual(report["accounting"]["context_switches"]["voluntary"] is not None, knows_ends)
        self.assertEqual(report["sources"]["counts"]["state"], "sampled")

    def test_until_an_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            process = self.start(["sleep", "100"])
            tracker = self.start_command("attach", "--st=0.01", "--tf", "rows.csv", "--overwrite", process.pid)
            rows = self.folder / "rows.csv"
            wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 5, "samples")
            tracker.send_signal(number)
            output, _ = self.finish(tracker)
            self.assertEqual(tracker.returncode, 0)
            self.assert_is_summary(output)
            self.assertIsNone(process.poll())
            rows.unlink()

    def test_the_report_says_what_cannot_be_known(self):
        process = self.start(["sleep", "100"])
        done = self.run_command("attach", "--for=0.05", process.pid, "-f", "json")
        self.assertIn("exit status", json.dumps(json.loads(done.stdout)["sources"]))

    def test_the_process_may_come_from_the_config(self):
        process = self.start(["sleep", "100"])
        (self.folder / "config.json").write_text(json.dumps({"process_id": process.pid}))
        done = self.run_command("attach", "--for=0.05", "--tconfig=config.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_is_summary(done.stdout)
        (self.folder / "config.json").write_text("{}")
        self.assertEqual(self.run_command("attach", "--tconfig=config.json").returncode, 1)

    def test_no_such_process(self):
        process = self.start(["true"])
        process.wait()
        done = self.run_command("attach", "--disable-logs", process.pid)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, rf"\A[^\n]*\b{process.pid}\b[^\n]*\n\Z")
        self.assert_folder_is()

    def test_attaching_twice_at_once(self):
        process = self.start_busy()
        trackers = [self.start_command("attach", "--for=0.2", process.pid) for _ in range(2)]
        for tracker in trackers:
            self.assert_is_summary(self.finish(tracker)[0])


if __name__ == "__main__":
    main()
