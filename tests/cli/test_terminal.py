"""Under a terminal, with a shell that has job control, as people use it."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from command import COMMAND, PATIENCE, CommandTest, main, wait_until

# What bash -c "…" runs: it ends when there is a file "go".
UNTIL_GO = "echo ready; until [ -e go ]; do sleep 0.05; done; echo awake"

GIVES_LAST_ROW_BACK = "\0337\033\\[r\033\\[999;1H\033\\[K\0338"


class Terminal(CommandTest):
    """An interactive bash on a terminal of its own."""

    def setUp(self):
        super().setUp()
        self.master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        environment = os.environ | {"PS1": "PROMPT> ", "gt": COMMAND, "TERM": "dumb", "HISTFILE": ""}
        self.shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "--noediting", "-i"], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, cwd=self.folder, env=environment,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.seen = ""
        self.addCleanup(self.close)
        self.expect("PROMPT> ")

    def close(self):
        os.close(self.master)
        self.shell.kill()
        self.shell.wait()

    def send(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern, patience=PATIENCE):
        """Reads until the pattern comes; returns what stood before it."""
        end = time.monotonic() + patience
        while not (match := re.search(pattern, self.seen)):
            left = end - time.monotonic()
            if left < 0 or not select.select([self.master], [], [], left)[0]:
                raise AssertionError(f"{pattern!r} did not come; there is {self.seen!r}")
            self.seen += os.read(self.master, 65536).decode().replace("\r\n", "\n")
        before, self.seen = self.seen[: match.start()], self.seen[match.end():]
        return before

    def run_line(self, line):
        self.send(line + "\n")
        return self.expect("PROMPT> ")

    def test_the_command_has_the_terminal(self):
        output = self.run_line('"$gt" run -o report -- bash -c "test -t 0 && test -t 1 && test -t 2 && tty && read x && echo got \\$x"\nhello')
        self.assertIn("/dev/pts/", output)
        self.assertIn("got hello", output)

    def set_size(self, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))

    def begin_progress(self, code):
        """Runs Python code with a line of progress in the last of 24 rows; returns when that is there."""
        self.set_size(24)
        (self.folder / "program.py").write_text(code)
        self.send(f'TERM=xterm "$gt" run --progress --st 0.1 -- "{sys.executable}" program.py; echo ended with $?\n')
        self.expect("\0337\033\\[1;23r\033\\[24;1H\033\\[0m\033\\[K[0-9.]+ m?s  [0-9.]+ cores  RAM [0-9.]+ MB, peak [0-9.]+ MB\0338")

    def test_progress_has_the_last_row_and_gives_it_back(self):
        self.begin_progress("import sys; sys.stdin.read(1)")
        self.send("\n")
        shown = self.expect(r"ended with \d+")
        self.assertRegex(shown, f"{GIVES_LAST_ROW_BACK}(?=\\ngpu-tracker: )")
        self.assertNotIn("cores", self.run_command("run", "--progress", "-q", "--", "sleep", "1.2").stderr)
        self.assertNotIn("cores", self.run_line('JPY_PARENT_PID=7 TERM=xterm "$gt" run --progress -q -- sleep 1.2'))

    def test_progress_follows_the_size_of_the_terminal(self):
        self.begin_progress("import sys; sys.stdin.read(1)")
        self.set_size(12)
        self.expect("\033\\[1;11r\033\\[12;1H")
        self.send("\n")
        self.expect(r"ended with \d+")

    def test_a_stop_gives_the_row_of_progress_back(self):
        self.begin_progress("import sys; sys.stdin.read(1)")
        self.send("\x1a")
        self.expect(GIVES_LAST_ROW_BACK)
        self.expect("PROMPT> ")
        self.send("fg\n")
        self.expect("\033\\[1;23r\033\\[24;1H")
        self.send("\n")
        self.expect("gpu-tracker: ")

    def test_a_killed_tracker_gives_the_row_of_progress_back(self):
        self.begin_progress("import os, signal, sys; sys.stdin.read(1); os.kill(os.getppid(), signal.SIGKILL)")
        self.send("\n")
        self.expect(GIVES_LAST_ROW_BACK)

    def test_control_c_reaches_the_command_once_and_the_report_comes(self):
        code = ("import signal,sys,time\n"
                "n=[]\n"
                "signal.signal(signal.SIGINT, lambda *_: n.append(1))\n"
                "print('ready', flush=True)\n"
                "while not n: time.sleep(0.01)\n"
                "time.sleep(0.5)\n"
                "print('interrupts', len(n))\n"
                "sys.exit(5)\n")
        (self.folder / "program.py").write_text(code)
        self.send(f'"$gt" run -- "{sys.executable}" program.py; echo ended with $?\n')
        self.expect("ready")
        self.send("\x03")
        output = self.expect(r"ended with \d+")
        self.assertIn("interrupts 1\n", output)
        self.assert_is_summary(output)
        self.expect("PROMPT> ")
        self.assertIn("before 5", self.run_line(f'"$gt" run -o r -- "{sys.executable}" -c "exit(5)"; echo before $?'))

    def test_a_command_that_control_c_kills(self):
        self.send('"$gt" run -o report -- bash -c "echo ready; sleep 100"\n')
        self.expect("ready")
        self.send("\x03")
        self.expect("PROMPT> ")
        self.assertIn("130", self.run_line("echo $?"))
        self.assert_is_report((self.folder / "report").read_text())

    def ends_at_another_control_c(self):
        """Those that come while a busy machine does not let the tracker run are one. A third would end its report."""
        self.send("\x03")
        with contextlib.suppress(AssertionError):
            self.expect("PROMPT> ", patience=10)
            return True

    def test_a_second_control_c_gives_the_prompt_back(self):
        code = "import signal,time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('ready', flush=True); time.sleep(100)"
        (self.folder / "program.py").write_text(code)
        self.send(f'"$gt" run -o report -- "{sys.executable}" program.py\n')
        self.expect("ready")
        self.send("\x03")
        time.sleep(0.3)
        self.assertNotIn("PROMPT> ", self.seen)
        wait_until(self.ends_at_another_control_c, "the prompt")
        self.assert_is_report((self.folder / "report").read_text())

    def test_control_z_stops_and_fg_continues(self):
        self.send(f'"$gt" run -o report -- bash -c "{UNTIL_GO}"; echo status $?\n')
        self.expect("ready")
        self.send("\x1a")
        self.expect("Stopped")
        self.expect("PROMPT> ")
        self.assertIn("Stopped", self.run_line("jobs"))
        (self.folder / "go").touch()
        self.send("fg\n")
        self.expect("awake")
        self.expect("PROMPT> ")
        self.assert_is_report((self.folder / "report").read_text())

    def test_bg_continues_in_the_background(self):
        self.send(f'"$gt" run -o report -- bash -c "{UNTIL_GO}"\n')
        self.expect("ready")
        self.send("\x1a")
        self.expect("Stopped")
        self.expect("PROMPT> ")
        (self.folder / "go").touch()
        self.send("bg; wait; echo over\n")
        output = self.expect("\nover")
        self.assertIn("awake", output)
        self.assert_is_report((self.folder / "report").read_text())

    def test_a_program_that_stops_itself_in_the_foreground(self):
        self.send('"$gt" run -o report -- bash -c "echo ready; kill -STOP \\$\\$; echo awake"\n')
        self.expect("ready")
        self.expect("Stopped")
        self.expect("PROMPT> ")
        self.send("fg\n")
        self.expect("awake")
        self.expect("PROMPT> ")
        self.assert_is_report((self.folder / "report").read_text())

    def test_a_background_job_that_reads_the_terminal_is_stopped_like_any(self):
        self.send('"$gt" run -o report -- bash -c "read line; echo got \\$line" &\n')
        self.expect("PROMPT> ")
        wait_until(lambda: "Stopped" in self.run_line("jobs"), "the stop")
        self.send("fg\n")
        time.sleep(0.2)
        self.send("hello\n")
        self.expect("got hello")
        self.expect("PROMPT> ")

    def test_a_pipeline_of_the_shell(self):
        self.assertIn("100000", self.run_line('seq 100000 | "$gt" run -o report -- sort -n | tail -1'))
        self.assert_is_report((self.folder / "report").read_text())

    def test_a_hang_up_ends_the_command(self):
        self.send('exec "$gt" run -o report -- bash -c "echo \\$\\$ >pid; echo ready; exec sleep 100"\n')
        self.expect("ready")
        pid = int((self.folder / "pid").read_text())
        master = self.master
        self.master = os.open("/dev/null", os.O_RDONLY)  # for close()
        os.close(master)
        self.assertEqual(self.shell.wait(PATIENCE), -signal.SIGHUP)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)
        self.assert_is_report((self.folder / "report").read_text())


if __name__ == "__main__":
    main()
