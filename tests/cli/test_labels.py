"""A figure that is called exact is: programs whose children cannot be accounted for."""

import json
import os
import pathlib
import signal
import subprocess

from command import AS_NOBODY, COMMAND, NO_NOBODY, PATIENCE, CommandTest, main, python, refusal, wait_until

CONSUMER = os.environ["GPUT_CONSUMER"]
NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
NO_NAMESPACE = refusal(*NAMESPACE, "true")
# No process of the tree gets its children's exit statuses, also not of those that were started before.
LEAVE_300_MB = "ignore child [ alloc 300 sleep 0.2 exec /bin/true ] wait".split()
# Runs the rest outside of the control groups that the command is in, as far as it may; it is not waited for.
LEAVE_GROUPS = """
import glob, os, signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    for file in ["/sys/fs/cgroup/cgroup.procs", *glob.glob("/sys/fs/cgroup/*/cgroup.procs")]:
        try:
            with open(file, "w") as processes:
                processes.write("0")
        except OSError:
            pass
    os.execv(sys.argv[1], sys.argv[1:])
try:
    os.wait()
except ChildProcessError:
    pass
"""


# Asks the kernel for events of processes again and again; it replies to all that listen. Fails where it does not.
ASK_FOR_EVENTS = """
import socket, struct
request = struct.pack("IHHIIIIIIHHI", 40, 3, 0, 0, 0, 1, 1, 0, 0, 4, 0, 1)
connector = socket.socket(16, socket.SOCK_DGRAM, 11)
connector.bind((0, 1))
connector.settimeout(1)
connector.send(request)
connector.recv(256)
print(flush=True)
while True:
    connector.send(request)
"""

# Starts a process whose pid is chosen (clone3(), set_tid), which lives that long; waits for it.
CHOOSE_PID = """
import ctypes, os, sys, time
pid = (ctypes.c_int32 * 1)(30000)
arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17, 0, 0, 0, ctypes.addressof(pid), 1, 0)
child = ctypes.CDLL(None, use_errno=True).syscall(435, arguments, ctypes.sizeof(arguments))
if child < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
if child == 0:
    time.sleep(float(sys.argv[1]))
    os._exit(0)
os.waitpid(child, 0)
"""

# Has children of 20 MB that come and go between two samples.
COME_AND_GO = "child [ alloc 20 sleep 0.03 ] child [ alloc 20 sleep 0.03 ] wait".split()


class Labels(CommandTest):
    def setUp(self):
        super().setUp()
        self.prefix, self.tracker, self.consumer = [], COMMAND, CONSUMER

    def as_nobody(self):
        if os.geteuid() != 0:
            return
        self.open_to_nobody(COMMAND, CONSUMER)
        self.prefix, self.tracker, self.consumer = AS_NOBODY, "./gpu-tracker", "./consumer"

    def users(self):
        """Who runs the tests, and a user without rights; each is to be called."""
        return [self.as_ourselves] + ([] if NO_NOBODY or os.geteuid() != 0 else [self.as_nobody])

    def as_ourselves(self):
        pass

    def command_line(self, *command, options=()):
        return [*self.prefix, self.tracker, "run", "--disable-logs", "--ru", "bytes", "-f", "json", "-o", "report.json",
                *options, "--", *map(str, command)]

    def report(self):
        report = json.loads((self.folder / "report.json").read_text())
        self.assert_agrees(report)
        return report

    def track(self, *command, options=("--st", "5"), **process_options):
        (self.folder / "report.json").unlink(missing_ok=True)
        subprocess.run(self.command_line(*command, options=options), check=True,
                       **{"cwd": self.folder, "capture_output": True, "timeout": PATIENCE} | process_options)
        return self.report()

    def consume(self, *words, **options):
        return self.track(self.consumer, *words, **options)

    def state(self, report, source):
        return report["sources"][source]["state"]

    def assert_cpu(self, report, truth):
        """It is exact and the truth, or at least, and no more than that."""
        source = report["sources"]["kernel_cpu_time"]
        if source["state"] == "exact":
            self.assertGreaterEqual(report["accounting"]["cpu_seconds"]["kernel"], truth)
        else:
            self.assertRegex(source["reason"], "^at least: ")
            self.assertIsNone(report["accounting"]["cpu_seconds"]["captured_percent"])

    def assert_at_least(self, report, *sources):
        for name in sources:
            self.assertEqual(self.state(report, name), "sampled")
            self.assertRegex(report["sources"][name]["reason"], "^at least: ")

    def assert_bounds(self, report, truth):
        for whose in "descendants", "combined":
            at_most = report["peaks"][f"{whose}_at_most"]
            self.assertTrue(at_most is None or at_most >= truth, report["peaks"])

    def test_ram_of_processes_that_come_and_go_between_samples_is_at_least_that(self):
        for become in self.users():
            with self.subTest(user=become.__name__):
                become()
                self.assert_at_least(self.consume(*COME_AND_GO), "ram", "threads")
                report = self.consume("alloc", 20)
                if report["accounting"]["processes"]["missed"] == 0:  # None where some may have been, for all that is known
                    self.assertNotRegex(report["sources"]["ram"]["reason"], "at least")

    def test_bounds_hold_where_one_of_300_was_not_waited_for(self):
        for become in self.users():
            with self.subTest(user=become.__name__):
                become()
                report = self.consume("programs", 300, "/bin/true", *LEAVE_300_MB)
                self.assert_bounds(report, 300e6)
                self.assert_at_least(report, "counts")
                self.assert_cpu(report, 0)

    def test_cpu_time_of_one_of_400_that_was_not_waited_for(self):
        for become in self.users():
            with self.subTest(user=become.__name__):
                become()
                report = self.consume("programs", 400, "/bin/true", "ignored", 1, 0.5)
                self.assert_cpu(report, 0.5)
                self.assert_at_least(report, "counts")

    def test_a_daemon_that_is_killed_with_its_namespace(self):
        if NO_NAMESPACE:
            self.skipTest(f"no pid namespace can be had: {NO_NAMESPACE}")
        script = 'for i in $(seq 300); do /bin/true; done; "$0" daemon [ spin 0.4 ready sleep 1000 ] | head -c 1'
        for become in self.users():
            with self.subTest(user=become.__name__):
                become()
                report = self.track(*NAMESPACE, "sh", "-c", script, self.consumer)
                self.assert_cpu(report, 0.4)
                self.assert_at_least(report, "counts")

    def test_a_process_that_leaves_the_control_group(self):
        if NO_NAMESPACE:
            self.skipTest(f"no pid namespace can be had: {NO_NAMESPACE}")
        leave = python(LEAVE_GROUPS, CONSUMER, "spin", 0.4)
        for prefix in [], ["unshare", "--pid", "--fork", "--mount-proc"] if os.geteuid() == 0 else NAMESPACE:
            with self.subTest(prefix=prefix):
                self.prefix = prefix
                self.assert_cpu(self.track(*leave), 0.4)

    def test_a_child_with_several_threads(self):
        """Its first thread ends before the others, and then its parent still has it."""
        for become in self.users():
            with self.subTest(user=become.__name__):
                become()
                report = self.consume("ignore", "child", "[", "exit-leader", "[", "spin", 0.3, "]", "]", "wait")
                self.assert_cpu(report, 0.3)
                self.assert_at_least(report, "counts")

    def test_a_process_alone_is_exact(self):
        for become in self.users():
            with self.subTest(user=become.__name__):
                become()
                report = self.consume("threads", 3, 0.02, "alloc", 20)
                if report["accounting"]["processes"]["missed"] != 0:
                    self.skipTest("others may have been started here")
                for name in "kernel_cpu_time", "counts":
                    self.assertEqual(self.state(report, name), "exact", report["sources"][name])
                self.assertIsNotNone(report["accounting"]["cpu_seconds"]["captured_percent"])

    def test_a_tree_is_exact_with_all_exit_records(self):
        words = ["child", "[", "child", "[", "threads", 3, 0.01, "]", "alloc", 20, "wait", "]", "swarm", 20, 0,
                 "programs", 20, "/bin/true", "wait"]
        report = self.consume(*words)
        if self.state(report, "process_ends") == "unavailable":
            self.assert_at_least(report, "counts")
            return
        for name in "kernel_cpu_time", "counts":
            self.assertEqual(self.state(report, name), "exact", report["sources"][name])
        self.assertIsNotNone(report["peaks"]["descendants_at_most"])

    def test_without_exit_records_a_tree_is_at_least(self):
        self.as_nobody()
        report = self.consume("swarm", 3, 0.01)
        if self.state(report, "process_ends") != "unavailable":
            self.skipTest("the kernel sends exit records here")
        self.assert_at_least(report, "counts")
        self.assert_cpu(report, 0.03)
        self.assertIsNone(report["peaks"]["descendants_at_most"])

    def test_without_sysfs_no_exit_records_are_asked_for(self):
        """Nothing says then of which processors, and those of one would look like all."""
        hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh"]
        reason = refusal(*hidden, "true")
        if reason:
            self.skipTest(f"no file system can be mounted here: {reason}")
        self.prefix = [*self.prefix, *hidden]
        report = self.consume("swarm", 3, 0.01)
        source = report["sources"]["process_ends"]
        self.assertEqual(source["state"], "unavailable", source)
        self.assert_at_least(report, "counts")

    def test_in_a_pid_namespace_whose_processes_ignore_their_children(self):
        self.as_nobody()
        if NO_NAMESPACE:
            self.skipTest(f"no pid namespace can be had: {NO_NAMESPACE}")
        self.prefix = [*self.prefix, *NAMESPACE]
        report = self.consume("child", "[", "ignored", 1, 0.3, "]", "wait")
        self.assert_cpu(report, 0.3)
        self.assert_at_least(report, "counts")

    def test_replies_to_others_are_not_taken_in_a_pid_namespace(self):
        """The kernel does not reply there, but to those outside who use the same network."""
        container = ["unshare", "--pid", "--fork", "--mount-proc"]
        reason = refusal(*container, "true")
        if reason:
            self.skipTest(f"no pid namespace can be had: {reason}")
        outside = subprocess.Popen(python(ASK_FOR_EVENTS), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.processes.append(outside)
        if not outside.stdout.readline():
            self.skipTest("the kernel announces no processes here")
        self.prefix = [*self.prefix, *container]
        for _ in range(60):
            report = self.consume("swarm", 3, 0)
            self.assertEqual(self.state(report, "processes"), "sampled", report["sources"]["processes"])

    def test_alone_in_a_pid_namespace(self):
        """Nothing announces processes there; but that no other was started can be known."""
        if NO_NAMESPACE:
            self.skipTest(f"no pid namespace can be had: {NO_NAMESPACE}")
        self.as_nobody()
        self.prefix = [*self.prefix, *NAMESPACE]
        report = self.consume("spin", 0.02)
        self.assertEqual(report["accounting"]["processes"]["missed"], 0, report["accounting"]["processes"])
        for name in "kernel_cpu_time", "counts":
            self.assertEqual(self.state(report, name), "exact", report["sources"][name])
        with_threads = self.consume("threads", 2, 0.01)
        self.assert_at_least(with_threads, "kernel_cpu_time", "counts")

    def test_chosen_pids_leave_open_what_was_missed(self):
        """They are out of order, so that the last pid does not tell how many were started."""
        if NO_NAMESPACE:
            self.skipTest(f"no pid namespace can be had: {NO_NAMESPACE}")
        if reason := refusal(*NAMESPACE, *python(CHOOSE_PID, 0)):
            self.skipTest(f"no pid can be chosen here: {reason}")
        self.prefix = [*self.prefix, *NAMESPACE]
        processes = self.track(*python(CHOOSE_PID, 0.5), options=("--st", "0.05"))["accounting"]["processes"]
        self.assertEqual(processes["seen"], 2, processes)
        self.assertIsNone(processes["missed"], processes)

    def test_a_tracker_that_was_stopped_for_a_while(self):
        """What the kernel keeps for it is bounded; what is too much is lost."""
        self.as_nobody()
        ready, go = self.folder / "ready", self.folder / "go"
        os.mkfifo(go)
        script = 'touch ready; read line < go; "$0" swarm 1500 0; "$0" ignored 1 0.3'
        tracker = subprocess.Popen(self.command_line("sh", "-c", script, self.consumer, options=["--st", "0.05"]),
                                   cwd=self.folder, stderr=subprocess.PIPE)
        self.processes.append(tracker)
        wait_until(ready.exists)
        (child,) = self.children(tracker.pid)
        tracker.send_signal(signal.SIGSTOP)
        go.write_text("\n")
        wait_until(lambda: self.has_ended(child), "the command")
        tracker.send_signal(signal.SIGCONT)
        _, errors = tracker.communicate(timeout=PATIENCE)
        self.assertEqual(tracker.returncode, 0, errors)
        report = self.report()
        self.assert_cpu(report, 0.3)
        self.assert_at_least(report, "counts")

    @staticmethod
    def children(pid):
        threads = pathlib.Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]

    @staticmethod
    def has_ended(pid):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"

    def test_counts_of_an_attached_program_are_at_least(self):
        script = "read line; for i in $(seq 50); do head -c 900 /dev/zero; done; read line"
        program = subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.processes.append(program)
        tracker = self.start_command("attach", "--disable-logs", "-f", "json", "-o", "report.json", "--st", "0.05",
                                     "--resource-usage-file", "kept", program.pid)
        kept = self.folder / "kept"
        wait_until(lambda: kept.exists() and kept.stat().st_size > 0, "the first sample")
        program.stdin.write(b"\n\n")
        program.stdin.close()
        program.wait()
        _, errors = self.finish(tracker)
        self.assertEqual(tracker.returncode, 0, errors)
        report = self.report()
        self.assert_at_least(report, "counts")
        self.assertNotEqual(self.state(report, "kernel_cpu_time"), "exact")


if __name__ == "__main__":
    main()
