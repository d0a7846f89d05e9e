"""What is counted to the end: CPU time, bytes and control groups of commands whose use is known."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from command import AS_NOBODY, COMMAND, SANITIZED, main, python
from compilers import compiler_words
from exact_test import CONSUMER, ExactTest


class Exact(ExactTest):
    def setUp(self):
        super().setUp()
        self.began = time.time()

    def test_a_file_that_is_removed_before_it_is_written_did_not_reach_storage(self):
        """A busy disk may have a part of it before."""
        code = ("import os; file = open('big', 'wb'); file.write(bytes(20_000_000)); file.close(); os.unlink('big'); "
                "print(open('/proc/self/io').read(), file=open('io', 'w'))")
        report = self.track(command=python(code))
        own = {name: int(value) for name, value in (line.split(": ") for line in (self.folder / "io").read_text().split("\n") if line)}
        cancelled = own["cancelled_write_bytes"]
        self.assertLess(report["accounting"]["bytes"]["written_to_storage"], own["write_bytes"] - cancelled + 10e6)
        if self.knows_ends(report):
            self.assertEqual(report["sources"]["counts"]["state"], "exact")
        if cancelled > 0:  # not so where files are in RAM
            source = report["sources"]["written_to_storage"]
            self.assertEqual(source["state"], "sampled")
            self.assertGreaterEqual(int(re.match(r"at least: without (\d+) bytes ", source["reason"])[1]), cancelled)

    def test_waiting_for_a_cpu_is_what_the_threads_say_themselves(self):
        """Two processes on one CPU wait for each other. Each writes what the kernel says of it, and ends a moment later."""
        spin = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; read told < /proc/self/schedstat; echo $told > "
        command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), "sh", "-c", f"({spin} child) & {spin} parent; wait"]
        if not shutil.which("taskset"):
            self.skipTest("taskset is not installed")
        for track in (self.track, self.track_as_user):
            with self.subTest(track=track.__name__):
                report = track(command=command)
                told = [list(map(int, (self.folder / name).read_text().split()[:2])) for name in ("parent", "child")]
                queue, source = report["accounting"]["run_queue"], report["sources"]["run_queue"]
                if queue["wait_seconds"] is None:
                    self.skipTest(source["reason"])
                elapsed = (time.time() - self.began) * 2
                self.assertLess(queue["wait_seconds"] + queue["run_seconds"], elapsed)
                if source["state"] == "exact":
                    self.assertTrue(self.knows_ends(report))
                    self.assertGreaterEqual(queue["wait_seconds"], sum(wait for _, wait in told) / 1e9)
                    self.assertGreaterEqual(queue["run_seconds"], sum(run for run, _ in told) / 1e9)
                else:
                    self.assertRegex(source["reason"], "^at least: ")
                    self.assertGreaterEqual(queue["wait_seconds"], told[0][1] / 1e9)  # main is still there when it has ended

    def track_as_user(self, command):
        """Tracks it without the rights of root."""
        if os.geteuid() != 0:
            return self.track(command=command)
        self.open_to_nobody(COMMAND)
        for name in ("parent", "child", "report.json"):
            (self.folder / name).unlink(missing_ok=True)
        subprocess.run([*AS_NOBODY, "./gpu-tracker", "run", "--disable-logs", "--ru", "bytes", "-f", "json", "-o", "report.json", "--", *command],
                       cwd=self.folder, capture_output=True, check=True)
        return self.read(self.folder / "report.json")

    def test_samples_of_a_tiny_command_hold_no_more_than_the_kernel_counted(self):
        for _ in range(3):
            seconds = self.track("spin", 0.001)["accounting"]["cpu_seconds"]
            self.assertGreater(seconds["sampled"], 0.0009)
            self.assertLessEqual(seconds["captured_percent"] or 0, 100)  # None: something else may have been started

    def test_cpu_time_is_the_kernels_where_a_library_replaces_clocks(self):
        """As libfaketime does, two years ahead."""
        source, library = self.folder / "clocks.c", self.folder / "clocks.so"
        source.write_text("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <time.h>\n"
                          "int clock_gettime(clockid_t id, struct timespec *now) {\n"
                          "    int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, \"clock_gettime\");\n"
                          "    int failure = real(id, now);\n"
                          "    now->tv_sec += 2 * 365 * 86400;\n"
                          "    return failure;\n}\n")
        words = compiler_words("CC", "cc")
        if SANITIZED or not shutil.which(words[0]):
            self.skipTest("no C compiler here, or a sanitizer that wants to be the first library")
        subprocess.run([*words, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        report = self.track("spin", 0.05, "sleep", 0.2, options=["--limit", "cpu_seconds=3600", "--enforce"],
                            env={**os.environ, "LD_PRELOAD": str(library)})
        self.assertEqual(report["identity"]["exit_status"], 0)
        self.assertGreaterEqual(report["accounting"]["cpu_seconds"]["kernel"], 0.05)
        self.assertLess(report["accounting"]["cpu_seconds"]["kernel"], 10)

    def test_user_and_system_time_of_a_tiny_command_are_not_known(self):
        """No clock tick interrupts it, or one."""
        report = self.track("sleep", 0)
        self.assertIsNone(report["accounting"]["cpu_seconds"]["kernel_user"])
        self.assertIsNone(report["accounting"]["cpu_seconds"]["kernel_system"])
        self.assertEqual(report["sources"]["cpu_split"]["state"], "unavailable")
        self.assertIn("clock ticks", report["sources"]["cpu_split"]["reason"])

    def test_user_and_system_time_of_a_long_command_add_up(self):
        for track in self.track, self.track_without_rights:
            report = track("spin", 0.2)
            seconds = report["accounting"]["cpu_seconds"]
            self.assertAlmostEqual(seconds["kernel_user"] + seconds["kernel_system"], seconds["kernel"], delta=3e-6)
            self.assertGreater(seconds["kernel_user"], 0.6 * seconds["kernel"])
            self.assertEqual(report["sources"]["cpu_split"]["state"], "sampled")

    def test_short_processes_that_work_in_the_kernel_have_system_time_or_none(self):
        """Each of a millisecond, most of it in read(): what the kernel divides by itself is user time as a rule."""
        code = ("import os; zero = os.open('/dev/zero', os.O_RDONLY); buffer = bytearray(1 << 20)\n"
                "for _ in range(150):\n"
                "    if os.fork() == 0:\n"
                "        for _ in range(20): os.readv(zero, [buffer])\n"
                "        os._exit(0)\n"
                "    os.wait()\n")
        report = self.track(command=python(code))
        seconds = report["accounting"]["cpu_seconds"]
        split = report["sources"]["cpu_split"]
        if "control group" in split["reason"] and split["state"] == "sampled":
            self.assertGreater(seconds["kernel_system"], 0.5 * seconds["kernel"])
            self.assertAlmostEqual(seconds["kernel_user"] + seconds["kernel_system"], seconds["kernel"], delta=3e-6)
        elif seconds["kernel"] < 150 * 0.004:  # at 1,000 ticks a second that is enough
            self.assertIsNone(seconds["kernel_user"])

    def test_bytes_of_sockets_are_not_said_to_be_counted(self):
        code = ("import socket, threading; a, b = socket.socketpair(); threading.Thread(target=a.sendall, args=[bytes(8_000_000)]).start()\n"
                "left = 8_000_000\n"
                "while left: left -= len(b.recv(1 << 16))\n")
        report = self.track(command=python(code))
        self.assertLess(report["accounting"]["bytes"]["read"], 8_000_000)
        self.assertEqual(report["sources"]["bytes"]["state"], "sampled")
        self.assertRegex(report["sources"]["bytes"]["reason"], r"^at least: by read\(\), write\(\).*sockets")
        if self.knows_ends(report):
            self.assertEqual(report["sources"]["counts"]["state"], "exact")

    def private_groups(self) -> list[str]:
        """In a mount namespace of its own: the machine's own groups may be of version 1."""
        script = 'mount --make-rprivate / && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"'
        private = ["unshare", "--mount", "sh", "-c", script, "sh"]
        if subprocess.run([*private, "true"], capture_output=True).returncode != 0:
            self.skipTest("no control groups may be mounted here")
        return private

    def left_of(self, tracker: subprocess.Popen, private: list[str] = []) -> str:
        """Not those of a tracker that was killed before and had the same id."""
        find = ["find", "/sys/fs/cgroup", "-ignore_readdir_race", "-type", "d", "-name", f"gpu-tracker-{tracker.pid}-*", "-newermt", f"@{self.began - 1:.3f}"]
        done = subprocess.run([*private, *find], capture_output=True, text=True)
        # A group of another test that ends at this moment can be listed, and not be there when it is opened.
        self.assertEqual([line for line in done.stderr.splitlines() if "No such file or directory" not in line], [])
        return done.stdout

    def test_a_control_group_of_version_2_counts_it_all(self):
        private = self.private_groups()
        tracker = subprocess.Popen(
            [*private, COMMAND, "run", "--disable-logs", "-f", "json", "-o", self.folder / "v2.json", "--",
             CONSUMER, "swarm", "20", "0.01"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(tracker)
        _, errors = self.finish(tracker)
        self.assertEqual(tracker.returncode, 0, errors)
        report = json.loads((self.folder / "v2.json").read_text())
        source = report["sources"]["kernel_cpu_time"]["reason"]
        if "a control group of its own" not in source:
            self.skipTest("no control group may be made here")
        self.assertGreaterEqual(report["accounting"]["cpu_seconds"]["kernel"], 0.2)
        self.assertEqual(self.left_of(tracker, private), "")

    def limited_group(self) -> pathlib.Path:
        """A control group in which programs of 60 MB are killed. Not everybody may make one."""
        groups = dict(line.split(":", 2)[1:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines())
        v1 = "memory" in groups
        here = pathlib.Path("/sys/fs/cgroup", *(["memory", groups["memory"][1:]] if v1 else [groups.get("", "/")[1:]]))
        group = here / f"test-{os.getpid()}"
        try:
            group.mkdir()
            self.addCleanup(group.rmdir)
            (group / ("memory.limit_in_bytes" if v1 else "memory.max")).write_text("60000000")
            if not v1:
                (group / "memory.swap.max").write_text("0")
        except OSError:
            self.skipTest("no control group with a limit may be made here")
        return group

    def run_in_limited_group(self, *args) -> subprocess.CompletedProcess:
        script = 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"'
        done = subprocess.run(
            ["sh", "-c", script, "sh", self.limited_group(), COMMAND, "run", "--disable-logs", *args],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_files_that_others_brought_into_ram_are_not_near_a_limit(self):
        """Their pages count for RSS, but not for the limit of a group that was not charged for them."""
        file, report = self.folder / "file", self.folder / "report.json"
        file.write_bytes(bytes(80_000_000))
        reader = ("import mmap, sys; file = open(sys.argv[1], 'rb'); "
                  "memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ); "
                  "print(sum(memory[i] for i in range(0, len(memory), 4096)))")
        done = self.run_in_limited_group("--summary", "-o", report, "--", sys.executable, "-Sc", reader, file)
        peaks = json.loads(report.read_text())["peaks"]
        self.assertLess(peaks["limit_group"], 0.06)
        if peaks["combined"] < 0.08:
            self.skipTest("RSS has no pages of mapped files here")
        self.assertNotIn("Advice", done.stderr)
        self.assertIn("with pages of files that the limit of 60 MB", " ".join(done.stderr.split()))

    def test_a_child_that_was_killed_for_want_of_memory_is_named(self):
        # It alone is to be killed, also where a sanitizer makes the tracker large.
        eater = f"(echo 1000 >/proc/self/oom_score_adj; exec {sys.executable} -Sc 'b\"x\" * 10**9'); exit 0"
        done = self.run_in_limited_group("sh", "-c", eater)
        self.assertRegex(done.stderr, r"Advice +1 process was killed: out of memory\s+\(counted by [^;]*\)")

    def test_nothing_is_left_of_control_groups(self):
        """Those of this machine, whatever it has; a daemon lives on in them."""
        tracker = self.start_command("run", "--disable-logs", "-o", self.folder / "report.txt", "--",
                                     CONSUMER, "daemon", "[", "sleep", "1", "]")
        _, errors = self.finish(tracker)
        self.assertEqual(tracker.returncode, 0, errors)
        self.assertEqual(self.left_of(tracker), "")

    def test_a_tracker_killed_below_another_leaves_no_control_group(self):
        private = self.private_groups()
        started = self.folder / "started"
        killed = [COMMAND, "run", "--disable-logs", "--resource-usage-file", self.folder / "inner", "-o",
                  self.folder / "inner.txt", "--", "sh", "-c", f"touch {started}; exec sleep 1"]
        script = f'"$@" & until test -e {started}; do sleep 0.02; done; kill -9 $!'
        tracker = subprocess.Popen(
            [*private, COMMAND, "run", "--disable-logs", "-f", "json", "-o", self.folder / "outer.json", "--",
             "sh", "-c", script, "sh", *killed], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(tracker)
        _, errors = self.finish(tracker)
        self.assertEqual(tracker.returncode, 0, errors)
        self.assertEqual(self.left_of(tracker, private), "")

    def test_cpu_time_of_short_lived_processes_is_counted(self):
        report = self.track("swarm", 40, 0.02)
        seconds = report["accounting"]["cpu_seconds"]
        self.assertGreaterEqual(seconds["kernel"], 0.8)
        if report["sources"].get("cpu_split", {}).get("state") != "unavailable":  # of short processes only a group's ticks are divided
            self.assertAlmostEqual(seconds["kernel"], seconds["kernel_user"] + seconds["kernel_system"], delta=0.05)
        self.assertGreater(seconds["sampled"], 0.95 * seconds["kernel"])
        self.assertEqual(report["sources"]["cpu_time"]["state"], "sampled")
        if self.knows_ends(report):
            self.assertGreater(seconds["captured_percent"], 95)
            self.assertEqual(report["sources"]["kernel_cpu_time"]["state"], "exact")
            self.assertEqual(report["sources"]["counts"]["state"], "exact")

    def test_auto_reaped_children_are_counted(self):
        report = self.track("ignored", 10, 0.1, options=["--st", "0.02"])
        seconds = report["accounting"]["cpu_seconds"]
        source = report["sources"]["kernel_cpu_time"]
        self.assertLess(seconds["kernel"], 1.3)
        self.assertEqual(source["state"], "sampled")
        self.assertIn("at least", source["reason"])
        self.assertIsNone(seconds["captured_percent"])
        if "a control group of its own" in source["reason"]:
            self.assertGreaterEqual(seconds["kernel"], 1)
            self.assertAlmostEqual(seconds["kernel"], seconds["kernel_user"] + seconds["kernel_system"], delta=3e-6)
        else:
            # A little is left where the kernel sends no exit records.
            self.assertGreaterEqual(seconds["kernel"], 0.9 if self.knows_ends(report) else 0.3)
            self.assertIsNone(seconds["kernel_user"])
            self.assertEqual(report["peaks"]["descendants_at_most"] is not None, self.knows_ends(report))

    def test_a_child_that_was_neither_seen_nor_waited_for_leaves_no_exact_figure(self):
        report = self.track_without_rights("ignored", 1, 0.02, "sleep", 0.1)
        if not self.announced(report):
            self.skipTest("the kernel does not announce processes here")
        seconds = report["accounting"]["cpu_seconds"]
        source = report["sources"]["kernel_cpu_time"]
        self.assertEqual(source["state"], "sampled")
        self.assertIn("at least", source["reason"])
        self.assertIsNone(seconds["captured_percent"])
        self.assertIsNone(seconds["kernel_user"])
        self.assertIsNone(report["peaks"]["descendants_at_most"])
        self.assertIsNone(report["peaks"]["combined_at_most"])
        self.assertIn("some were not waited for", report["accounting"]["processes"]["missed_reason"])
        self.assertEqual(report["sources"]["counts"]["state"], "sampled")
        self.assertIn("some processes were not waited for", report["sources"]["counts"]["reason"])

    def test_what_a_daemon_has_collected_is_no_sign_of_auto_reaped_children(self):
        """Samples see 28 ms of its child, and it has collected 20 ms: collected figures of the living come in clock ticks."""
        work = ["child", "[", "spin", 0.028, "sleep", 0.3, "]", "wait"]
        report = self.track_with_daemon(self.track_without_rights, work, options=["--st", "0.05"])
        source = report["sources"]["kernel_cpu_time"]
        seconds = report["accounting"]["cpu_seconds"]
        self.assertIn("still running", source["reason"])
        if report["sources"].get("cpu_split", {}).get("state") != "unavailable":  # as it is of so little CPU time
            self.assertIsNotNone(seconds["kernel_user"])
        self.assertEqual(source["state"], "sampled")
        if "a control group of its own" not in source["reason"]:
            missing = float(re.search(r"^at least: .* up to (\d+) ms less$", source["reason"])[1]) / 1000
            self.assertGreaterEqual(seconds["kernel"] + missing, 0.028)
            self.assertIsNone(seconds["captured_percent"])

    def track_with_daemon(self, track, work, lives=True, rest=(), **options):
        """The report of a command that ends when a daemon has done that work, and has the `rest` to do. `lives`: the daemon goes on."""
        ready, is_ready = os.pipe()
        held, hold = os.pipe()
        words = ["daemon", "[", *work, "ready", *(["await", 0] * lives), "]", "await", ready, *rest]
        try:
            return track(*words, stdin=held, stdout=is_ready, capture_output=False, pass_fds=[ready], **options)
        finally:
            for pipe in ready, is_ready, held, hold:
                os.close(pipe)

    def assert_work_is_counted(self, report, times):
        """Of `alloc 40 write 5`; exit records have bytes in whole kilobytes."""
        accounting = report["accounting"]
        least = times * 40_000_000 // 4096
        self.assertGreaterEqual(accounting["page_faults"]["minor"], least)
        self.assertLess(accounting["page_faults"]["minor"], least + 3000)
        self.assertAlmostEqual(accounting["bytes"]["written"], times * 5_000_000, delta=3000)
        self.assertEqual(report["sources"]["counts"]["state"], "sampled")
        self.assertRegex(report["sources"]["counts"]["reason"], "^at least: ")

    def test_what_lives_on_and_its_children_are_counted(self):
        work = ["alloc", 40, "write", 5]
        for track in self.track, self.track_without_rights:
            report = self.track_with_daemon(track, ["child", "[", *work, "]", "wait", *work])
            self.assert_work_is_counted(report, 2)
            self.assertIn("still running", report["sources"]["counts"]["reason"])
            self.assertEqual(report["accounting"]["processes"]["left_running"], 1)

    def test_work_of_auto_reaped_children(self):
        report = self.track("ignore", "child", "[", "alloc", 40, "write", 5, "]", "wait")
        if not self.knows_ends(report):
            self.skipTest("the kernel sends no exit records here")
        self.assert_work_is_counted(report, 1)

    def test_bytes_of_a_daemon_are_known(self):
        work = ["write", 5, "sleep", 1, "spin", 0.05, "sleep", 2]
        report = self.track_with_daemon(self.track_without_rights, work, lives=False, rest=["sleep", 2], options=["--st", "0.05"])
        self.assertGreaterEqual(report["accounting"]["bytes"]["written"], 5_000_000)
        self.assertLess(report["accounting"]["bytes"]["written"], 5_010_000)
        self.assertEqual(report["sources"]["counts"]["state"], "exact" if self.knows_ends(report) else "sampled")

    def test_bytes_of_a_daemon_that_no_sample_saw_are_no_exact_figure(self):
        report = self.track_without_rights("daemon", "[", "write", 5, "]", "sleep", 0.3)
        counts = report["sources"]["counts"]
        if "whose bytes could not be read: 1" in counts["reason"] or "still running" in counts["reason"]:
            self.assertNotEqual(counts["state"], "exact")
        else:  # it was seen after all: the kernel was slow to end it
            self.assertGreaterEqual(report["accounting"]["bytes"]["written"], 5_000_000, counts)

    def test_every_byte_of_a_tiny_command_is_known(self):
        report = self.track("sleep", 0)
        self.assertNotIn(None, report["accounting"]["bytes"].values())
        self.assertEqual(report["sources"]["network"]["state"], "exact")

    def test_no_process_is_missed_where_the_kernel_announces_them(self):
        report = self.track("swarm", 100, 0)
        processes = report["accounting"]["processes"]
        if self.announced(report):
            self.assertEqual(processes["seen"], 101)
            self.assertEqual(processes["missed"], 0)
        else:
            self.assertNotEqual(processes["missed_reason"], "")

    def test_bytes_and_faults_are_counted(self):
        report = self.track("write", 3, "alloc", 40)
        accounting = report["accounting"]
        self.assertGreaterEqual(accounting["bytes"]["written"], 3_000_000)
        self.assertLess(accounting["bytes"]["written"], 3_100_000)
        self.assertGreaterEqual(accounting["page_faults"]["minor"], 40_000_000 // 4096)
        self.assertGreaterEqual(accounting["context_switches"]["voluntary"], 0)

    def test_what_we_write_to_start_it_is_not_the_commands(self):
        report = self.track("sleep", 0.01, options=["--processes"])
        self.assertIn(report["accounting"]["bytes"]["written"], (0, None))
        self.assertIn(report["processes"][0]["write_bytes"], (0, None))

    def test_short_lived_processes_are_counted_without_a_list(self):
        report = self.track("programs", 100, "/bin/true", "child", "[", "sleep", 0.2, "]", "wait")
        processes, cpu_seconds = report["accounting"]["processes"], report["accounting"]["cpu_seconds"]
        if self.knows_ends(report):
            self.assertIn(processes["short_lived"], range(50, 101))  # a busy machine may run one for longer
            self.assertLess(cpu_seconds["short_lived"], cpu_seconds["kernel"])
            self.assertGreater(cpu_seconds["short_lived"], 0)
        report = self.track_without_rights("programs", 3, "/bin/true")
        if not self.knows_ends(report):
            self.assertIsNone(report["accounting"]["processes"]["short_lived"])

    def test_processes_shorter_than_a_scheduler_tick_have_their_cpu_time(self):
        script = "for i in $(seq 300); do /bin/true; done; times > $0"
        report = self.track(command=["sh", "-c", script, str(self.folder / "times")])
        if not self.knows_ends(report) or report["accounting"]["processes"]["missed"] != 0:
            return
        minutes, seconds = zip(*(time[:-1].split("m") for time in (self.folder / "times").read_text().split()[2:]))
        of_children = sum(60 * int(minute) + float(second) for minute, second in zip(minutes, seconds))
        counts, cpu_seconds = report["accounting"]["processes"], report["accounting"]["cpu_seconds"]
        # A busy machine may run some for longer than 50 ms: these, with all that each may lack, are skipped.
        others = counts["seen"] - counts["short_lived"]
        self.assertLess(cpu_seconds["short_lived"], of_children + 0.03)
        self.assertGreater(cpu_seconds["short_lived"], of_children - 0.05 * others)

    def test_the_end_of_an_attached_process_counts_once(self):
        seconds = self.attach("spin 1")["accounting"]["cpu_seconds"]
        self.assertGreater(seconds["sampled"], 0.7)
        self.assertLess(seconds["sampled"], 1.1)

    def test_an_attached_tracker_follows_orphans(self):
        report = self.attach("daemon [ swarm 20 0.01 ready ] READY sleep 1")
        if self.announced(report):
            # The main one, the daemon and its parent, and twenty.
            self.assertEqual(report["accounting"]["processes"]["seen"], 23)
        if self.knows_ends(report):
            self.assertGreaterEqual(report["accounting"]["cpu_seconds"]["kernel"], 0.2)

    def test_what_exit_records_lack_is_in_figures_that_parents_collected(self):
        """Most of what a program uses that ends within a clock tick; next to it an orphan that was not collected."""
        truth = self.folder / "truth"
        report = self.attach(f"daemon [ spin 0.5 ready ] READY programs 1000 /bin/true report {truth} sleep 0.5")
        if not self.knows_ends(report):
            self.skipTest(report["sources"]["process_ends"]["reason"])
        seconds = 0.5 + float(truth.read_text().split()[0])
        kernel = report["accounting"]["cpu_seconds"]["kernel"]
        # Collected figures come in clock ticks.
        self.assertGreater(kernel, seconds * 0.95 - 0.02)
        self.assertLess(kernel, seconds * 1.02 + 0.02)


if __name__ == "__main__":
    main()
