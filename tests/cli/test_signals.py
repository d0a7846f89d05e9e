"""Signals: those sent to the command, to gpu-tracker, and to both."""

import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import time

from command import COMMAND, PATIENCE, CommandTest, main, python, wait_until

# What the commands below share. A handler may run in the middle of a print(), which cannot be entered
# again: they write. And a signal just before a pause() or a long sleep() would be handled only after it.
LISTENER_BASE = """
import os, signal, sys, time
def say(text):
    os.write(1, text.encode() + b"\\n")
def wait():
    say("ready")
    while True:
        time.sleep(0.01)
"""

# Says when it is ready and which signals it gets; ends at SIGTERM.
LISTENER = LISTENER_BASE + """
def handler(number, frame):
    say(signal.Signals(number).name)
    if number == signal.SIGTERM:
        sys.exit(7)
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), handler)
wait()
"""


class OfTheCommand(CommandTest):
    def test_a_signal_that_killed_the_command_kills_us_after_the_report(self):
        for name in ("SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGINT", "SIGPIPE", "SIGUSR1", "SIGHUP", "SIGQUIT"):
            with self.subTest(name=name):
                number = getattr(signal, name)
                done = self.run_command("run", "--", "sh", "-c", f"kill -{int(number)} $$")
                self.assertEqual(done.returncode, -number)
                self.assert_is_summary(done.stderr)

    def test_a_shell_sees_the_usual_status(self):
        script = f"'{COMMAND}' run -o /dev/null -- sh -c 'kill -9 $$'; echo status $?"
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, capture_output=True, text=True)
        self.assertIn("status 137", done.stdout)

    def test_the_old_form_prints_the_negative_number(self):
        done = self.run_command("-e", "sh -c 'kill -9 $$'")
        self.assertTrue(
            done.stdout.startswith("Resource tracking complete. Process completed with status code: -9\nMax RAM:"))
        self.assertEqual(done.returncode, -9)

    def test_there_is_no_second_core_file(self):
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        pattern = open("/proc/sys/kernel/core_pattern").read().strip()
        if hard == 0 or pattern.startswith(("|", "/")):
            self.skipTest("core files do not go to the working directory here")
        # The command may not write one, so that any core file is ours.
        code = "import os, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.abort()"
        done = self.run_command(
            "run", "--", *python(code),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)))
        self.assertEqual(done.returncode, -signal.SIGABRT)
        self.assert_folder_is()


class SentToUs(CommandTest):
    def start_listener(self, *signals, **options):
        process = self.start_command("run", "--", *python(LISTENER, *signals), **options)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_signals_are_sent_on(self):
        names = ["SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGHUP", "SIGALRM", "SIGQUIT", "SIGINT", "SIGTERM"]
        process = self.start_listener(*names)
        for name in names:
            process.send_signal(getattr(signal, name))
            self.assertEqual(process.stdout.readline(), name + "\n")
        report = self.finish(process)[1]
        self.assertEqual(process.returncode, 7)
        self.assert_is_summary(report)

    def test_signals_of_watchdogs_are_sent_on(self):
        names = ["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP", "SIGPIPE", "SIGXFSZ"]
        process = self.start_listener(*names, "SIGTERM")
        for name in names:
            process.send_signal(getattr(signal, name))
            self.assertEqual(process.stdout.readline(), name + "\n")
        process.send_signal(signal.SIGTERM)
        self.assert_is_summary(self.finish(process)[1])
        self.assertEqual(process.returncode, 7)

    def test_the_command_and_we_die_of_a_watchdogs_signal(self):
        process = self.start_listener()
        process.send_signal(signal.SIGABRT)
        self.assert_is_summary(self.finish(process)[1])
        self.assertEqual(process.returncode, -signal.SIGABRT)

    def test_without_a_command_we_die_of_a_watchdogs_signal(self):
        process = self.start_command("serve", "--listen", "127.0.0.1:0")
        wait_until(lambda: "http://" in process.stderr.readline())
        process.send_signal(signal.SIGABRT)
        self.finish(process)
        self.assertEqual(process.returncode, -signal.SIGABRT)

    def test_a_real_time_signal_is_sent_on(self):
        code = LISTENER_BASE + "signal.signal(signal.SIGRTMIN + 3, lambda *_: sys.exit('got it')); wait()"
        process = self.start_command("run", "--", *python(code))
        process.stdout.readline()
        process.send_signal(signal.SIGRTMIN + 3)
        self.assertIn("got it\n", self.finish(process)[1])
        self.assertEqual(process.returncode, 1)

    def test_what_the_command_sends_to_its_whole_group_is_not_sent_twice(self):
        code = """
import os, signal, sys, time
count = 0
def got(number, frame):
    global count
    count += 1
signal.signal(signal.SIGUSR1, got)
os.kill(0, signal.SIGUSR1)
time.sleep(0.5)
print(count)
"""
        process = self.start_command("run", "--", *python(code), start_new_session=True)
        self.assertEqual(self.finish(process)[0], "1\n")
        self.assertEqual(process.returncode, 0)

    def test_a_stopped_command_is_tracked_on_in_the_background(self):
        process = self.start_listener("SIGTERM", "SIGUSR1", start_new_session=True)
        children = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
        command = int(children[0])
        os.kill(command, signal.SIGSTOP)
        state = lambda pid: open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
        wait_until(lambda: state(command) == "T")
        process.send_signal(signal.SIGUSR1)
        os.kill(command, signal.SIGCONT)
        self.assertEqual(process.stdout.readline(), "SIGUSR1\n")
        process.terminate()
        self.finish(process)
        self.assertEqual(process.returncode, 7)

    def test_a_stop_sent_to_us_stops_both_and_both_continue(self):
        process = self.start_listener("SIGTERM", start_new_session=True)
        command = int(open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()[0])
        state = lambda pid: open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
        # A process group without a shell above it does not stop at SIGTSTP; the command does at SIGSTOP.
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state(process.pid) == "T")
        process.send_signal(signal.SIGCONT)
        wait_until(lambda: state(process.pid) != "T")
        self.assertNotEqual(state(command), "T")
        process.terminate()
        self.finish(process)
        self.assertEqual(process.returncode, 7)

    def test_what_was_ignored_stays_ignored(self):
        code = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, flush=True); signal.pause()"
        process = self.start_command(
            "run", "--", *python(code), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(process.stdout.readline(), "True\n")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_the_command_has_default_actions_and_an_empty_mask(self):
        process = self.run_command("run", "--", "grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status")
        plain = subprocess.run(
            ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"], capture_output=True, text=True)
        self.assertEqual(process.stdout, plain.stdout)


class OurOwnCpuTime(CommandTest):
    """`ulimit -t` holds for each process: what the tracker itself may use ends its tracking, and not the command."""

    MANY = ("ulimit -St; for i in $(seq 150); do sleep 1000 & done; trap 'kill $(jobs -p); exit 6' TERM; "
            "while [ ! -e enough ]; do sleep 0.1; done; kill $(jobs -p); exit 5")

    def start(self, *limits):
        with open(self.folder / "report", "w") as report: # what the command started holds a pipe open
            process = self.start_command(
                "run", "--st=0.001", "--ram=exact", "--", "sh", "-c", self.MANY, stderr=report, start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limits))
        self.addCleanup(self.end_group, process.pid)
        return process

    def end_group(self, group):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

    def report(self):
        return (self.folder / "report").read_text()

    def cpu_seconds(self, process):
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_before_it_is_used_up_the_report_so_far_is_written_and_the_command_waited_for(self):
        for end, status in ((lambda process: (self.folder / "enough").touch(), 5), (lambda process: process.terminate(), 6)):
            process = self.start(2, 2)
            wait_until(lambda: "peak" in self.report() or process.poll() is not None, "the report", 4 * PATIENCE)
            said, _, summary = self.report().partition("\n")
            self.assertRegex(said, r"^gpu-tracker: gpu-tracker's own CPU time \(ulimit -t\) is exhausted: .* The command goes on\.$")
            self.assertIsNone(process.poll())
            end(process)
            self.assertEqual(process.wait(PATIENCE), status)
            self.assert_is_summary(summary)
            (self.folder / "enough").unlink(missing_ok=True)

    def test_a_soft_limit_alone_is_not_ours(self):
        process = self.start(1, resource.RLIM_INFINITY)
        self.assertEqual(process.stdout.readline(), "1\n")
        wait_until(lambda: self.cpu_seconds(process) > 1.3, "its CPU time", 4 * PATIENCE)
        (self.folder / "enough").touch()
        self.assertEqual(process.wait(PATIENCE), 5)
        self.assert_is_summary(self.report())


class Interrupts(CommandTest):
    def test_after_the_first_the_report_waits_for_the_command(self):
        code = LISTENER_BASE + \
            "signal.signal(signal.SIGINT, lambda *_: (say('cleaning up'), time.sleep(0.3), sys.exit(3))); wait()"
        process = self.start_command("run", "--", *python(code))
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        output, report = self.finish(process)
        self.assertEqual((process.returncode, output), (3, "cleaning up\n"))
        self.assert_is_summary(report)

    def ends_at_another_interrupt(self, process):
        """Those that come while a busy machine does not let it run are one. A third would end its report."""
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        return process.returncode is not None

    def test_the_second_ends_us_at_once_with_the_report_so_far(self):
        process = self.start_command("run", "-o", "report", "--", *python(LISTENER, "SIGINT"))
        process.stdout.readline()
        command = int(open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()[0])
        self.addCleanup(os.kill, command, signal.SIGKILL)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stdout.readline(), "SIGINT\n")  # sent on: the first one was taken
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        wait_until(lambda: self.ends_at_another_interrupt(process), "the end")
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assert_is_report((self.folder / "report").read_text())
        os.kill(command, 0)  # it is still there
        self.assert_folder_is("report", "report.session.json")

    def test_two_at_the_same_moment_are_one(self):
        while True:
            process = self.start_command("run", "--", *python(LISTENER, "SIGINT", "SIGTERM"))
            process.stdout.readline()
            begin = time.monotonic()
            os.kill(process.pid, signal.SIGINT)
            os.kill(process.pid, signal.SIGINT)
            if time.monotonic() - begin < 0.025:
                break
            self.end_processes()  # a busy machine did not send them at the same moment
        self.assertEqual(process.stdout.readline(), "SIGINT\n")
        process.terminate()
        self.finish(process)
        self.assertEqual(process.returncode, 7)

    def test_timeout_gets_a_report(self):
        process = subprocess.Popen(["timeout", "1000", COMMAND, "run", "--", "sh", "-c", "echo ready; exec sleep 1000"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        process.stdout.readline()
        # Where `timeout` has not returned from fork() yet, it ends without ending what it has started.
        wait_until(lambda: pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "S", "timeout to wait")
        process.send_signal(signal.SIGALRM)  # as the kernel does when the time is over
        _, report = self.finish(process)
        self.assertEqual(process.returncode, 124)
        self.assert_is_summary(report)


class NobodyReads(CommandTest):
    """Pipes that are full, or that are not opened: nothing that writes for people stops the sampler, and signals end waiting."""

    BEGIN = ["sh", "-c", "trap '' TERM; touch begun"]

    def end(self, process, begun="begun"):
        """Ends it by SIGTERM: until the command has ended that is the command's, and after that ours."""
        lines = 4 if begun.endswith(".csv") else 0  # with a sample: before it signals may not be caught yet
        wait_until(lambda: (self.folder / begun).exists() and (self.folder / begun).read_text().count("\n") >= lines, "the beginning")
        wait_until(lambda: process.poll() is not None or process.terminate(), "the end")
        (self.folder / begun).unlink()

    def full_pipe(self):
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(theirs, b"x" * 65536)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(theirs, b"x")
        os.set_blocking(theirs, True)
        self.addCleanup(os.close, theirs)
        return ours, theirs

    def read_rest(self, pipe):
        os.set_blocking(pipe, False)
        text = b""
        try:
            while part := os.read(pipe, 65536):
                text += part
        except BlockingIOError:
            pass
        return text.decode().lstrip("x")

    def test_a_report_for_a_pipe_that_is_not_opened_comes_by_the_standard_error(self):
        os.mkfifo(self.folder / "pipe")
        sleeper = self.start_sleeper()
        for words in (["run", "-o", "pipe", "--", *self.BEGIN],
                      ["attach", "-o", "pipe", "--tf", "begun.csv", "--for", "0.1", str(sleeper.pid)]):
            process = self.start_command(*words)
            self.end(process, "begun" if words[0] == "run" else "begun.csv")
            report = process.stderr.read()
            self.assert_is_report(report)
            self.assertRegex(report, "(?m)^gpu-tracker: Cannot write pipe: it has no reader.$")
            self.assertEqual(process.returncode, 125 if words[0] == "run" else 1)

    def test_an_html_report_for_a_pipe_that_is_not_opened(self):
        os.mkfifo(self.folder / "pipe")
        page = self.folder / "page.html"
        page.write_text("<!--gput-data-->")
        environment = os.environ | {"GPUT_REPORT_PAGE": str(page)}
        process = self.start_command("run", "-q", "--report", "pipe", "--", *self.BEGIN, env=environment)
        self.end(process)
        self.assertEqual(process.stderr.read(), "gpu-tracker: Cannot write pipe: it has no reader.\n")
        self.assertEqual(process.returncode, 125)

    def start_sleeper(self):
        sleeper = subprocess.Popen(["sleep", "1000"])
        self.processes.append(sleeper)
        return sleeper

    def test_a_reader_that_comes_late_gets_it(self):
        os.mkfifo(self.folder / "pipe")
        process = self.start_command("run", "-o", "pipe", "--", "sh", "-c", "echo begun")
        process.stdout.readline()
        command = f"/proc/{process.pid}/task/{process.pid}/children"
        wait_until(lambda: not open(command).read(), "the end of the command")
        self.assert_is_report((self.folder / "pipe").read_text())
        process.wait(PATIENCE)
        self.assertEqual(process.returncode, 0)

    def test_a_pipe_with_a_reader_that_reads_nothing(self):
        os.mkfifo(self.folder / "pipe")
        reader = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        writer = os.open(self.folder / "pipe", os.O_WRONLY | os.O_NONBLOCK)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writer, b"x" * 4096)
        os.close(writer)
        process = self.start_command("run", "-o", "pipe", "--", *self.BEGIN)
        self.end(process)
        self.assert_is_report(process.stderr.read())
        self.assertEqual(process.returncode, 125)

    def test_a_full_standard_error(self):
        for words in ["run", "--", *self.BEGIN], ["-e", "sh -c 'trap \"\" TERM; touch begun'"], ["run", "-o", "/dev/stderr", "--", *self.BEGIN]:
            ours, theirs = self.full_pipe()
            streams = {"stderr": theirs} | ({"stdout": theirs} if words[0] == "-e" else {})
            process = self.start_command(*words, **streams)
            self.end(process)
            self.assertEqual(process.returncode, 125 if "-o" in words else -signal.SIGTERM)
            os.close(ours)

    def test_a_signal_for_the_command_bounds_the_waiting_for_a_reader(self):
        # A service that is stopped gets one SIGTERM, and then SIGKILL.
        script = "trap 'touch got' TERM; touch begun; while [ ! -e got ]; do sleep 0.01; done"
        page = self.folder / "page.html"
        page.write_text("<!--gput-data-->")
        command = ["--", "sh", "-c", script]
        started = []
        for words, full, status in ((["run", "--tf", "rows.csv", *command], "stderr", -signal.SIGTERM),
                                    (["-e", f"sh -c '{script.replace(chr(39), chr(34))}'"], "stdout", -signal.SIGTERM),
                                    (["run", "--tf", "rows.csv", "-o", "-", *command], "stdout", 125),
                                    (["run", "--tf", "rows.csv", "-o", "kept", "--report", "-", *command], "stdout", 125),
                                    (["attach", "--tf", "rows.csv", "-o", "-", str(self.start_sleeper().pid)], "stdout", 1)):
            ours, theirs = self.full_pipe()
            self.addCleanup(os.close, ours)
            folder = self.folder / f"{len(started)}"
            folder.mkdir()
            process = self.start_command(*words, **{full: theirs}, cwd=folder, env=os.environ | {"GPUT_REPORT_PAGE": str(page)})
            started.append((words, process, folder, status))
        for words, process, folder, status in started:
            begun = folder / ("rows.csv" if words[0] == "attach" else "begun")
            wait_until(lambda: begun.exists() and (begun.name == "begun" or begun.read_text().count("\n") > 3), "the beginning")
            process.terminate()
        for words, process, folder, status in started:
            self.assertEqual(process.wait(PATIENCE), status, words)
            if "--tf" in words:
                self.assertGreater((folder / "rows.csv").read_text().count("\n"), 1)
            if "kept" in words:
                self.assert_is_report((folder / "kept").read_text())

    def test_warnings_wait_for_a_reader_without_stopping_the_sampler(self):
        ours, theirs = self.full_pipe()
        rows = self.folder / "rows.csv"
        count = lambda: rows.read_text().count("\n") if rows.exists() else 0
        script = "while [ ! -e enough ]; do sleep 0.01; done"
        process = self.start_command(
            "run", "--st", "0.01", "--tf", "rows.csv", "-o", "report", "--listen", "127.0.0.1:0", "--limit", "seconds=0.05",
            "--", "sh", "-c", script, stderr=theirs)
        wait_until(lambda: count() > 50, "rows")
        (self.folder / "enough").touch()
        self.assertEqual(os.read(ours, 65536).strip(b"x"), b"")
        process.wait(PATIENCE)
        self.assertEqual(process.returncode, 0)
        said = self.read_rest(ours)
        os.close(ours)
        self.assertIn("The seconds limit of 0.05 s was exceeded", said)
        self.assertIn("gpu-tracker: serving http://127.0.0.1:", said)

    def test_rows_for_a_pipe_that_has_no_reader_are_lost_and_counted(self):
        os.mkfifo(self.folder / "rows.csv")
        done = self.run_command("run", "--overwrite", "--tf", "rows.csv", "--", "touch", "started")
        self.assertIn("rows.csv", done.stderr)
        self.assertEqual(done.returncode, 125)
        self.assert_folder_is("rows.csv")


if __name__ == "__main__":
    main()
