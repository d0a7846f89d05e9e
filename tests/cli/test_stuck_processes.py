"""A process that waits in the kernel for ever costs its own figures, and never the session, the report or the command's end."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from command import BUILD, COMMAND, CommandTest, PATIENCE, SANITIZED, main, python, wait_until

STUCK = BUILD / "tests" / "stuck-process"
NO_ANSWER = "waits in the kernel, perhaps for storage, and its memory maps cannot be read"

# Starts the process, waits until it is stuck and was sampled, has some memory itself and ends with 3.
COMMAND_WITH_STUCK = """
import json, subprocess, sys, time
command, kept, *stuck = sys.argv[1:]
def ticks():
    done = subprocess.run([command, "show", "-f", "json", kept], capture_output=True)
    return 0 if done.returncode else json.loads(done.stdout)["tracker"]["ticks"]
with open("stuck.txt", "w") as output:
    subprocess.Popen(stuck, stdout=output, stderr=subprocess.DEVNULL)
while not open("stuck.txt").read().endswith("\\n"):
    time.sleep(0.01)
time.sleep(0.1)
for step in range(3):
    memory = bytearray(60_000_000 * step)
    begin = ticks()
    while ticks() < begin + 2:
        time.sleep(0.05)
sys.exit(3)
"""

# Starts the process and waits for its own end, whatever Ctrl-C it gets.
DEAF_COMMAND_WITH_STUCK = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
with open("stuck.txt", "w") as output:
    subprocess.Popen(sys.argv[1:], stdout=output, stderr=subprocess.DEVNULL)
time.sleep(1000)
"""

# Is tracked by itself, with the process as its child.
PROGRAM_WITH_TRACKER = """
import subprocess, sys, time
import gpu_tracker
with gpu_tracker.Tracker(sleep_time=0.05, ram_unit="bytes") as tracker:
    with open("stuck.txt", "w") as output:
        subprocess.Popen(sys.argv[1:], stdout=output, stderr=subprocess.DEVNULL)
    while not open("stuck.txt").read().endswith("\\n"):
        time.sleep(0.01)
    for step in range(3):
        memory = bytearray(b"x" * 60_000_000 * step)
        time.sleep(0.3)
print(tracker.resource_usage.max_ram.main.total_rss, flush=True)
sys.exit(4)
"""

FILES = "smaps", "smaps_rollup", "cmdline", "environ", "maps", "numa_maps"


def has_ended(pid):
    try:
        return "State:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


@unittest.skipIf(SANITIZED, "a sanitizer stops each thread at the end, for ever where one is stuck")
class StuckProcesses(CommandTest):
    def setUp(self):
        super().setUp()
        self.mount = self.folder / "mount"
        self.mount.mkdir()
        self.addCleanup(self.end_stuck)
        if not STUCK.exists():
            self.skipTest("this machine has no headers of FUSE")

    def end_stuck(self):
        """When its storage is gone, nothing waits any more."""
        said = self.folder / "stuck.txt"
        for pid in reversed(said.read_text().split() if said.exists() else []):
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
            wait_until(lambda pid=pid: has_ended(pid), "its end")

    def start_stuck(self, *more):
        with open(self.folder / "stuck.txt", "w") as output:
            process = subprocess.Popen([STUCK, self.mount, *more], stdout=output, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stderr.close)
        self.addCleanup(self.end_stuck)
        said = self.folder / "stuck.txt"
        wait_until(lambda: process.poll() is not None or said.read_text().endswith("\n"), "a stuck process", 30)
        if process.poll() is not None:
            self.skipTest(f"no process can be stuck here: {process.stderr.read()}")
        if more:  # it calls execve() now
            status = pathlib.Path(f"/proc/{process.pid}/status")
            wait_until(lambda: "State:\tD" in status.read_text(), "an execve() that waits")
        return process.pid

    def check_run(self, *more):
        self.start_stuck()  # whether that is possible at all
        self.end_stuck()
        (self.folder / "stuck.txt").unlink()
        done = self.run_command(
            "run", "--st=0.05", "--ru=bytes", "--processes", "--command-lines", "--resource-usage-file", "kept",
            "-o", "report.json", "--", *python(COMMAND_WITH_STUCK, COMMAND, "kept", STUCK, self.mount, *more))  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["identity"]["exit_status"], 3)
        self.assertGreater(report["max_ram"]["main"]["total_rss"], 120e6)  # it was sampled on
        return done, report

    def test_run_ends_with_its_command(self):
        done, report = self.check_run()
        self.assertIn(NO_ANSWER, done.stderr)
        self.assertRegex(report["sources"]["ram"]["reason"], "at least: 1 of [0-9]+ processes do not answer")

    def test_run_ends_when_an_execve_waits(self):
        self.check_run("exec")

    def test_attach_ends_in_time_and_by_a_signal(self):
        pid = self.start_stuck()
        done = self.run_command("attach", "--st=0.1", "--for", "1.5", "-f", "json", pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(NO_ANSWER, done.stderr)
        self.assertGreater(json.loads(done.stdout)["tracker"]["ticks"], 1)
        for number in signal.SIGTERM, signal.SIGINT:
            tracker = self.start_command("attach", "--st=0.1", "--resource-usage-file", "kept", pid)
            wait_until((self.folder / "kept").exists, "results so far")
            tracker.send_signal(number)
            self.finish(tracker)
            self.assertIsNotNone(tracker.returncode)

    def test_attach_to_one_in_an_execve_says_why_it_cannot(self):
        pid = self.start_stuck("exec")
        done = self.run_command("attach", "--for", "1", pid)
        if done.returncode:  # a kernel where stat waits, too
            self.assert_fails(done, 1, f"/proc/{pid}/stat does not answer: process {pid} waits in the kernel, perhaps for storage.")

    def await_stuck(self):
        said = self.folder / "stuck.txt"
        wait_until(lambda: said.exists() and said.read_text().endswith("\n"), "a stuck process", 30)

    def test_a_second_ctrl_c_ends_run(self):
        self.start_stuck()  # whether that is possible at all
        self.end_stuck()
        (self.folder / "stuck.txt").unlink()
        for more in [], ["exec"]:
            with self.subTest(more=more):
                tracker = self.start_command(
                    "run", "--st=0.05", "--resource-usage-file", "kept", "-o", "report.json", "--overwrite",
                    "--", *python(DEAF_COMMAND_WITH_STUCK, STUCK, self.mount, *more))  # fmt: skip
                self.await_stuck()
                wait_until((self.folder / "kept").exists, "results so far")
                command = int(pathlib.Path(f"/proc/{tracker.pid}/task/{tracker.pid}/children").read_text().split()[0])
                tracker.send_signal(signal.SIGINT)
                time.sleep(0.2)  # two at the same moment are one
                self.assertIsNone(tracker.poll())
                tracker.send_signal(signal.SIGINT)
                # The command has its output, too, and goes on.
                self.assertEqual(tracker.wait(PATIENCE), -signal.SIGINT)
                self.assertTrue((self.folder / "report.json").exists())
                os.kill(command, signal.SIGKILL)
                self.end_stuck()
                (self.folder / "stuck.txt").unlink()
                (self.folder / "kept").unlink(missing_ok=True)

    def test_a_program_with_a_tracker_ends(self):
        package = BUILD / "python"
        if not list(package.glob("*.so")):
            self.skipTest("the Python package was not built")
        self.start_stuck()  # whether that is possible at all
        self.end_stuck()
        (self.folder / "stuck.txt").unlink()
        for more in [], ["exec"]:
            with self.subTest(more=more):
                done = subprocess.run(
                    python(PROGRAM_WITH_TRACKER, STUCK, self.mount, *more), env=os.environ | {"PYTHONPATH": str(package)},
                    cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertGreater(float(done.stdout), 120e6)  # it was sampled on
                self.end_stuck()
                (self.folder / "stuck.txt").unlink()

    def test_others_are_tracked_while_one_is_stuck(self):
        self.start_stuck()
        done = self.run_command("run", "-q", "--", "sh", "-c", "exit 5")
        self.assertEqual((done.returncode, done.stderr), (5, ""))


class Pipes(CommandTest):
    """The same without a stuck process: files of a procfs that never give anything."""

    def test_attach_ends(self):
        process = subprocess.Popen(["sleep", str(2 * PATIENCE)])
        self.processes.append(process)
        procfs = self.folder / "proc"
        (procfs / str(process.pid)).mkdir(parents=True)
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                (procfs / entry).symlink_to(f"/proc/{entry}")
        for entry in os.listdir(f"/proc/{process.pid}"):
            if entry not in FILES:
                (procfs / str(process.pid) / entry).symlink_to(f"/proc/{process.pid}/{entry}")
        for entry in FILES:
            os.mkfifo(procfs / str(process.pid) / entry)
        done = self.run_command(
            "attach", "--st=0.1", "--for", "0.5", "--ram", "exact", "-f", "json", process.pid,
            env=os.environ | {"GPUT_PROCFS": str(procfs)})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertRegex(report["sources"]["ram"]["reason"], "at least: 1 of 1 processes do not answer")
        self.assertGreater(report["max_ram"]["main"]["total_rss"], 0)


if __name__ == "__main__":
    main()
