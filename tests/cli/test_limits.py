"""Limits: a warning, or the end of the whole tree."""

import json
import os
import pathlib
import select
import signal
import subprocess
import time

from command import AS_NOBODY, COMMAND, PATIENCE, CommandTest, main, python, wait_until

CONSUMER = os.environ["GPUT_CONSUMER"]

# No scan is as fast as these follow each other; they hold a pipe open.
CHAIN = f"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
end = time.monotonic() + {4 * PATIENCE}
if os.fork():
    time.sleep({4 * PATIENCE})
while time.monotonic() < end:
    try:
        if os.fork():
            os._exit(0)
    except BlockingIOError:  # of as many as there may be some are ended, and wait for the tracker to collect them
        time.sleep(0.001)
"""


class Limits(CommandTest):
    def test_a_limit_warns_once_and_the_command_goes_on(self):
        process = self.start_command("run", "--st", "0.02", "--limit", "ram=50MB", "--", CONSUMER, "alloc", "100", "await", "0", stdin=subprocess.PIPE)
        self.assertIn("The ram limit of 50 MB was exceeded", process.stderr.readline())
        process.stdin.close()
        self.assertNotIn("The ram limit of 50 MB was exceeded", process.stderr.read())
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_every_limit_that_was_passed_is_in_the_report(self):
        limits = ["--limit", "seconds=0.1", "--limit", "ram=50MB", "--limit", "cpu_seconds=1h"]
        words = ["run", "--st", "0.02", "--ru", "megabytes", "-f", "json", "-o", "report.json", *limits]
        process = self.start_command(*words, "--", CONSUMER, "await", "0", "alloc", "100", "await", "0", stdin=subprocess.PIPE)
        for kind in "seconds", "ram":  # the command goes on when it was said
            self.assertIn(f"The {kind} limit of ", process.stderr.readline())
            process.stdin.write("x")
            process.stdin.flush()
        self.assertEqual(process.wait(PATIENCE), 0)
        report = json.loads((self.folder / "report.json").read_text())
        passed = [report["limit_passed"], *report["limits_passed_later"]]
        self.assertEqual([(limit["kind"], limit["value"]) for limit in passed], [("seconds", 0.1), ("ram", 50)])
        self.assertLess(passed[0]["at_seconds"], passed[1]["at_seconds"])

    def test_a_limit_that_cannot_be_watched_is_said(self):
        done = self.run_command("run", "--limit", "gpu_ram=1GB", "-f", "json", "-o", "report.json", "--", "true")
        report = json.loads((self.folder / "report.json").read_text())
        if report["gpu_utilization"]["system_gpu_count"] > 0:
            self.skipTest("this machine has a GPU")
        self.assertIn("The gpu_ram limit cannot be watched", done.stderr)

    def test_an_enforced_limit_ends_the_whole_tree(self):
        start = time.monotonic()
        done = self.run_command(
            "run", "--limit", "seconds=0.3", "--enforce", "--", CONSUMER, "child", "[", "sleep", "100", "]", "sleep", "100"
        )
        self.assertEqual(done.returncode, 124)
        self.assertLess(time.monotonic() - start, 50)
        self.assertIn("The seconds limit of 0.3 s was exceeded", done.stderr)

    def test_what_ignores_sigterm_is_killed(self):
        done = self.run_command(
            "run", "--st", "0.1", "--limit", "cpu_seconds=0.1", "--enforce",
            "--", "sh", "-c", 'trap "" TERM; exec "$@"', "sh", CONSUMER, "spin", "0.3", "sleep", PATIENCE)
        self.assertEqual(done.returncode, 124)

    def test_what_outlives_the_command_is_killed_too(self):
        child = 'trap "" TERM; echo $$ > written; mv written ready; while :; do sleep 0.05; done'
        done = self.run_command(
            "run", "--st", "0.05", "--limit", "seconds=1", "--enforce", "--", "sh", "-c", "setsid sh -c '%s' & wait" % child
        )
        self.assertEqual(done.returncode, 124)
        ready = self.folder / "ready"
        if not ready.exists():
            self.skipTest("this machine was too slow: the limit came before the child's trap")
        # Killed, it is gone when somebody has waited for it.
        wait_until(lambda: not pathlib.Path(f"/proc/{int(ready.read_text())}").exists(), "the end of the child")

    def test_what_forks_on_while_it_is_ended_is_killed(self):
        # A group is killed at once. Without one the chain may outrun the kills, so it has a user namespace of its own, in which
        # it may have no more than 64 processes: all others of this user are none of its business.
        self.run_command("run", "-f", "json", "-o", "probe.json", "--", "true", check=True)
        source = json.loads((self.folder / "probe.json").read_text())["sources"]["kernel_cpu_time"]["reason"]
        bounded = [] if "a control group of its own" in source else ["unshare", "-U", "prlimit", "--nproc=64"]
        if bounded and (os.getuid() == 0 or subprocess.run([*bounded, "true"], capture_output=True).returncode):
            self.skipTest("neither a control group of version 2 nor a user namespace with a limit may be made here")
        end, pipe = os.pipe()
        self.addCleanup(os.close, end)
        try:
            done = self.run_command("run", "-f", "json", "-o", "report.json", "--limit", "seconds=0.5", "--enforce",
                                    "--", *bounded, *python(CHAIN), pass_fds=[pipe])
        finally:
            os.close(pipe)
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertEqual(select.select([end], [], [], PATIENCE)[0], [end])

    def test_attached_processes_are_ended_too(self):
        process = subprocess.Popen([CONSUMER, "child", "[", "sleep", "100", "]", "sleep", "100"])
        try:
            done = self.run_command("attach", "--limit", "seconds=0.2", "--enforce", process.pid)
            self.assertEqual(done.returncode, 124)
            self.assertEqual(process.wait(), -signal.SIGTERM)
        finally:
            process.kill()
            process.wait()

    def test_processes_that_may_not_be_ended_are_left(self):
        self.open_to_nobody(COMMAND)
        target = subprocess.Popen([CONSUMER, "sleep", "1000"])
        try:
            done = subprocess.run(
                [*AS_NOBODY, "./gpu-tracker", "attach", "--limit", "seconds=0.1", "--enforce", str(target.pid)],
                cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
            self.assertIsNone(target.poll())
        finally:
            target.kill()
            target.wait()
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertIn("1 of the processes to be ended for the limit could not be: they belong to another user.", done.stderr)
        self.assert_is_summary(done.stdout)

    def test_cpu_time_of_auto_reaped_children_counts(self):
        done = self.run_command(
            "run", "--st", "0.1", "--limit", "cpu_seconds=0.5", "-f", "json", "-o", "report.json", "--", CONSUMER,
            "ignored", "100", "0.01", "sleep", "0.3")
        report = json.loads((self.folder / "report.json").read_text())
        if report["accounting"]["cpu_seconds"]["kernel"] < 0.9:
            self.skipTest("the kernel does not report auto-reaped children to us")
        self.assertIn("The cpu_seconds limit of 0.5 s was exceeded", done.stderr)

    def test_a_limit_that_is_too_far_off_is_never_passed(self):
        for seconds in "1e11", "1e200":
            done = self.run_command("run", "--st", "0.02", "--limit", f"seconds={seconds}", "--", CONSUMER, "sleep", "0.1")
            self.assertEqual(done.returncode, 0)
            self.assertNotIn("was exceeded", done.stderr)

    def test_limits_of_a_config_file(self):
        (self.folder / "config.json").write_text('{"limits": {"seconds": "1 d", "cpu_seconds": 1e9}, "enforce": true}')
        done = self.run_command("run", "--tconfig", "config.json", "--limit", "seconds=0.2", "--", CONSUMER, "sleep", "100")
        self.assertEqual(done.returncode, 124)
        self.assertIn("The seconds limit of 0.2 s was exceeded", done.stderr)

    def test_a_limit_that_is_none_is_refused(self):
        done = self.run_command("run", "--limit", "ram=lots", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn('"ram=lots" is not a valid limit', done.stderr)

    def test_a_limit_that_is_given_twice_is_refused(self):
        done = self.run_command("run", "--limit", "seconds=1", "--limit", "ram=1GB", "--limit", "seconds=2", "--", "true")
        self.assert_fails(done, 125, "The limit of seconds is given twice.")

    def test_enforcing_nothing_is_refused(self):
        done = self.run_command("run", "--enforce", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("There is no limit to enforce. Give one, for example --limit ram=8GB.", done.stderr)


if __name__ == "__main__":
    main()
