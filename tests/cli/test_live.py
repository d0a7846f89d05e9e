"""The live view, on terminals of many sizes, and every way in which it ends."""

import os
import re
import signal
import socket
import subprocess
import sys

from command import COMMAND, PATIENCE, CommandTest, main, python, wait_until
from terminal_screen import ENTER, LEAVE, ViewTerminal

# Prints that many lines, waits for a line, prints on.
TALKS = ("import sys\nfor n in range(int(sys.argv[1])): print('line', n)\n"
         "print('ready', flush=True)\nprint('got', sys.stdin.readline().strip(), flush=True)\nsys.exit(7)\n")
# A shell leads the session: where gpu-tracker does, its end is a hang-up for all.
IN_SHELL = ["sh", "-c", '"$0" "$@"; echo status $?; read line', os.environ["GPUT_COMMAND"]]
# Ends when there is a file "go".
TTY = ("import os, time\nprint(*[os.isatty(fd) for fd in range(3)], flush=True)\n"
       "while os.path.exists('.') and not os.path.exists('go'): time.sleep(0.01)")


class Live(CommandTest):
    def view(self, *arguments, **options):
        terminal = ViewTerminal(arguments, self.folder, **options)
        self.addCleanup(terminal.close)
        return terminal

    def run_live(self, *command, **options):
        return self.view("run", "--live", "--st", "0.1", "--", *command, **options)

    def assert_restored(self, terminal):
        """Both screens, and the settings, are as before."""
        self.assertEqual(terminal.written.count(ENTER), terminal.written.count(LEAVE))
        self.assertEqual(terminal.settings(), terminal.before)

    # What is shown

    def test_a_command_is_shown_with_its_output_and_both_remain(self):
        terminal = self.run_live(*python(TALKS, 3))
        terminal.expect(r"^CPU +\d")
        terminal.expect("^ready$")
        self.assertTrue(terminal.screen.other)
        self.assertIn("python", terminal.screen.lines()[0])
        terminal.expect(r"^RAM +\d+\.?\d* [kM]B")
        terminal.expect(r"^ +\d+ [a-zA-Z ]+ [0-9.]+ +[0-9.]+ [kM]B .*python")
        terminal.expect(r"^Doing .* asleep")
        terminal.send("i")
        terminal.expect("To the command:")
        terminal.send("hello\r")
        self.assertEqual(terminal.end(), 7)
        after = terminal.first_screen().decode()
        self.assertRegex(after, r"^line 0\r\nline 1\r\nline 2\r\nready\r\n(hello\r\n)?got hello\r\n")
        self.assert_is_summary(after.replace("\r", ""))
        self.assertIn("exit status 7", after)
        self.assert_restored(terminal)

    def test_a_command_that_ends_at_once_shows_no_view(self):
        terminal = self.run_live("echo", "hello")
        self.assertEqual(terminal.end(), 0)
        if ENTER in terminal.written:  # for a busy machine may need longer for that than the 0.2 s after which there is a view
            number, unit = re.search(rb"(?m)^  Time +([0-9.]+) (ms|s|min)\b", terminal.first_screen()).groups()
            self.assertGreaterEqual(float(number) * {b"ms": 0.001, b"s": 1, b"min": 60}[unit], 0.2)
        else:
            self.assertTrue(terminal.written.startswith(b"hello"), terminal.written[:100])

    def test_streams_are_terminals_where_they_were(self):
        terminal = self.run_live(*python(TTY))
        terminal.expect("^True True True$")
        (self.folder / "go").touch()
        terminal.end()
        (self.folder / "go").unlink()
        with open(self.folder / "out", "w+") as out:
            terminal = self.run_live(*python(TTY), stdout=out)
            terminal.expect_written(ENTER)
            (self.folder / "go").touch()
            self.assertEqual(terminal.end(), 0)
            out.seek(0)
            self.assertEqual(out.read(), "True False True\n")

    def test_all_output_is_there_in_order(self):
        code = "import sys\nfor n in range(60000): print(n, file=sys.stderr if n % 7 == 0 else sys.stdout, flush=True)"
        terminal = self.run_live(*python(code), TMPDIR="/not/there")  # output is kept in memory then
        self.assertEqual(terminal.end(), 0)
        numbers = re.findall(rb"(\d+)\r\n", terminal.first_screen().split(b"gpu-tracker: ")[0])
        self.assertEqual([int(number) for number in numbers], list(range(60000)))
        self.assertIn(ENTER, terminal.written)

    def test_keys_come_from_the_terminal_where_the_command_reads_a_pipe(self):
        code = "import os, sys, time\nprint(sys.stdin.read(), flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)"
        piped = ["sh", "-c", 'echo of the pipe | "$0" "$@"', os.environ["GPUT_COMMAND"]]
        terminal = self.run_live(*python(code), program=piped)
        terminal.expect("^of the pipe$")
        terminal.expect_written(ENTER)
        terminal.send("q")
        terminal.expect_written(LEAVE)
        self.assertIsNone(terminal.process.poll())
        (self.folder / "go").touch()
        self.assertEqual(terminal.end(), 0)
        self.assert_restored(terminal)

    def test_a_terminal_that_takes_nothing_does_not_hold_up_the_command(self):
        code = "for n in range(60000): print(n, flush=True)\nopen('done', 'w')"
        terminal = self.run_live(*python(f"import time; time.sleep(1)\n{code}"))
        terminal.expect_written(ENTER)
        wait_until((self.folder / "done").exists)  # and nothing is read meanwhile
        self.assertEqual(terminal.end(), 0)
        numbers = re.findall(rb"(\d+)\r\n", terminal.first_screen().split(b"gpu-tracker: ")[0])
        self.assertEqual([int(number) for number in numbers], list(range(60000)))
        self.assert_restored(terminal)

    def test_every_size(self):
        for columns, rows in (40, 10), (60, 12), (80, 24), (100, 30), (132, 43), (200, 60):
            with self.subTest(columns=columns, rows=rows):
                terminal = self.view("live", "--st", "0.1", os.getpid(), columns=columns, rows=rows)
                terminal.expect(r"^CPU +\d")
                terminal.wait_for(lambda: terminal.screen.lines()[-1].startswith("q quit  ? help"), "the last row")
                terminal.expect(rf"^ *{os.getpid()} ")
                self.assertRegex(terminal.screen.lines()[0], rf"^ Process {os.getpid()}  .*python.* s$")
                self.assertTrue(terminal.shows(r"PID +.*CPU % +.*Command$"))
                terminal.send("q")
                self.assertEqual(terminal.end(), 0)
                self.assert_restored(terminal)

    def test_the_machine_with_500_processes(self):
        sleepers = [subprocess.Popen(["sleep", "1000.2505" if n == 250 else "1000"]) for n in range(500)]
        try:
            terminal = self.view("live", "--st", "0.1", columns=200, rows=60)
            terminal.expect(r"^Threads +\d+ +\d+ .* (?:[5-9]\d\d|\d{4,}) processes")
            terminal.send("/1000.2505\r")  # what no other command line of the machine has in it
            terminal.expect(rf"^ *{sleepers[250].pid} asleep .* sleep 1000.2505$")
            terminal.send("j")
            terminal.send("K")
            terminal.expect(rf"^Send SIGTERM to {sleepers[250].pid} sleep\?")
            terminal.send("y")
            self.assertEqual(sleepers[250].wait(PATIENCE), -signal.SIGTERM)
            self.assertEqual([sleeper.poll() for sleeper in sleepers].count(None), 499)
            terminal.send("q")
            self.assertEqual(terminal.end(), 0)
        finally:
            for sleeper in sleepers:
                sleeper.kill()
                sleeper.wait()

    def test_a_storm_of_sizes(self):
        terminal = self.view("live", "--st", "0.1", os.getpid())
        terminal.expect(r"^CPU")
        for n in range(200):
            terminal.set_size(20 + n * 7 % 180, 5 + n * 3 % 55)
            terminal.screen.resize(200, 60)  # of what is on its way nothing is known
            terminal.read(0)
        # No size before had 60 rows: with the last of them, all frames before have been read, however late they were drawn.
        terminal.set_size(200, 60)
        terminal.wait_for(lambda: terminal.screen.lines()[59].startswith("q quit"), "the last of 60 rows")
        terminal.set_size(90, 20)  # our screen stays as large: a frame of 60 rows may be on its way still
        terminal.wait_for(lambda: re.search(r"^ Process .* s$", terminal.screen.lines()[0][:90].rstrip()), "the first row")
        terminal.wait_for(lambda: terminal.screen.lines()[19].startswith("q quit"), "the last row")
        terminal.send("q")
        self.assertEqual(terminal.end(), 0)
        self.assert_restored(terminal)

    def test_hostile_names_are_harmless(self):
        code = ("import ctypes, time\nctypes.CDLL(None).prctl(15, b'\\x1b[2J\\x07\\xff\\xe4\\xb8\\xad\\xe2\\x80\\xae', 0, 0, 0)\n"
                "time.sleep(1000)")
        names = ["\033]0;title\a", "\u4e2d\u6587", "\u202e\u05d0\u05d1", "x" * 5000, b"\xff\xfe\x9b31m"]
        process = subprocess.Popen([*python(code), *names])
        try:
            terminal = self.view("live", "--st", "0.1", process.pid, columns=300)
            terminal.expect(r"python\S* .*\]0;title 中文 אב x+~$")  # the screen fails on what it does not know
            terminal.send("q")
            self.assertEqual(terminal.end(), 0)
        finally:
            process.kill()
            process.wait()

    def test_open_code_blocks_are_shown(self):
        code = ("import os, sys, time\nmarks = open('marks.csv', 'w')\n"
                "print('process_id,code_block_name,position,timestamp', file=marks)\n"
                "def mark(name, position): print(os.getpid(), name, position, time.time(), sep=',', file=marks, flush=True)\n"
                "mark('epoch', 0); mark('load\\033[2J', 0); mark('gone', 0); mark('gone', 1)\n"
                "sys.stdin.readline(); mark('load\\033[2J', 1)\nsys.stdin.readline()")
        terminal = self.view("run", "--live", "--st", "0.1", "--stf", "marks.csv", "--", *python(code))
        terminal.expect(r"^Blocks +\d+ s +epoch +in \d+$")
        terminal.expect(r"^ +\d+ s +load\?\[2J +in \d+$")
        self.assertFalse(terminal.shows("gone"))
        terminal.send("i\r")
        terminal.wait_for(lambda: not terminal.shows(r" s +load"), "the stop of the block")
        self.assertTrue(terminal.shows("^Blocks.*epoch"))
        terminal.send("i\r")
        self.assertEqual(terminal.end(), 0)

    def test_ascii_without_colours(self):
        terminal = self.run_live(*python(TALKS, 1), LANG="C", NO_COLOR="1")
        terminal.expect("^ready$")
        terminal.send("t")
        terminal.expect("t tree")
        self.assertTrue(terminal.written.isascii())
        self.assertEqual([s for s in terminal.screen.sequences if re.search(rb"(^|;)[39]\d", s) and s.endswith(b"m")], [])
        terminal.send("i\r")
        self.assertEqual(terminal.end(), 7)

    def test_terminals_of_few_glyphs_or_colours_get_no_others(self):
        for term, glyphs, has_colours in ("linux", "▄█", True), ("vt100", "▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▒▓", False):
            with self.subTest(term=term):
                terminal = self.view("live", "--st", "0.1", os.getpid(), TERM=term)
                terminal.expect("^Threads.*[▇█]")
                terminal.send("q")
                self.assertEqual(terminal.end(), 0)
                drawn = re.findall("[\u2580-\u259f]", terminal.written.decode())
                self.assertLessEqual(set(drawn), set(glyphs))
                self.assertEqual(any(re.search(rb"(^|;)[39]\dm$", s) for s in terminal.screen.sequences), has_colours)

    def test_the_mouse_and_a_look_back(self):
        terminal = self.view("live", "--st", "0.1", os.getpid())
        terminal.expect(r"^Threads.*[▇█]")
        self.assertIn(b"\033[?1000h\033[?1006h", terminal.written)
        heading = next(i for i, line in enumerate(terminal.screen.lines()) if "PID Doing" in line)
        terminal.send(f"\033[<0;{terminal.screen.lines()[heading].index('RAM') + 2};{heading + 1}M")
        terminal.expect("sort: RAM")
        terminal.send("\033[<64;1;2M")
        terminal.expect("^ Process .* held +")
        terminal.expect(r"^ +then .*minute up to")
        terminal.expect(r"^ +\d+ .*python")
        terminal.send(">")
        terminal.expect(r"^ +now +peak")
        terminal.send("q")
        self.assertEqual(terminal.end(), 0)
        self.assertIn(b"\033[?1006l\033[?1000l", terminal.written)
        self.assert_restored(terminal)

    # The ranks of a job

    def rank_process(self, rank, *words, **environment):
        environment = os.environ | {"SLURM_JOB_ID": "7", "SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_LOCALID": str(rank),
                                    "SLURM_NODEID": "0", "SLURM_JOB_NUM_NODES": "1"} | environment
        process = subprocess.Popen([COMMAND, "run", *words], cwd=self.folder, env=environment, stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_ranks_by_their_pages_and_one_that_never_answers(self):
        ports = []
        for rank in range(2):
            process = self.rank_process(rank, "-q", "--st", "0.1", "--listen", "127.0.0.1:0", "--", "cat")
            ports.append(re.search(r"http://127.0.0.1:(\d+)/", process.stderr.readline())[1])
        with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as closed:
            dead = closed.getsockname()[1]
            closed.close()
            # The second one by a name of this machine that it does not know.
            hosts = "127.0.0.1", "127.1", "127.0.0.1", "127.0.0.1"
            pages = [f"{host}:{port}" for host, port in zip(hosts, (*ports, silent.getsockname()[1], dead))]
            terminal = self.view("live", "--job", ",".join(pages), columns=120)
            for page in pages[:2]:
                terminal.expect(rf"^{page} +\S+ .* [0-9.]+ [kM]B .* s$")
            terminal.expect(rf"^{pages[3]} .* silent: Connection refused$")
            terminal.expect(rf"^{pages[2]} .* silent: no whole answer within 2 s$")
            self.assertIn("4 ranks, 2 silent", terminal.screen.lines()[0])
            terminal.expect(rf"^Rank 127.0.0.1:\d+ is silent: ")
            terminal.send("q")
            self.assertEqual(terminal.end(), 0)
            self.assert_restored(terminal)

    def test_ranks_by_their_files(self):
        (self.folder / "job").mkdir()
        ranks = [self.rank_process(rank, "-q", "-f", "json", "-o", f"job/r{rank}.json", "--", "sh", "-c",
                                   f"touch ready{rank}; read line; exit {3 * rank}") for rank in range(2)]
        for rank in range(2):
            wait_until((self.folder / f"ready{rank}").exists)
        for process in ranks:
            process.communicate("\n")
        terminal = self.view("live", "--job", "job", columns=100, rows=12)
        terminal.expect(r"^1 .* failed: exit status 3$")
        terminal.expect(r"^0 .* ended$")
        terminal.expect(r"^Rank 1 on \S+ failed: exit status 3$")
        self.assertIn("2 ranks, 1 failed", terminal.screen.lines()[0])
        self.assertLess(*(next(i for i, line in enumerate(terminal.screen.lines()) if line.startswith(f"{rank} ")) for rank in (1, 0)))
        terminal.resize(40, 10)
        terminal.wait_for(lambda: terminal.screen.lines()[9].startswith("q quit"), "the last row")
        terminal.kill(signal.SIGTERM)
        self.assertEqual(terminal.end(), 0)
        self.assert_restored(terminal)

    def test_a_job_needs_a_place_and_a_terminal(self):
        terminal = self.view("live", "--job", "nonsense")
        self.assertEqual(terminal.end(), 1)
        self.assertIn(b'"nonsense" is neither a folder nor HOST:PORT', terminal.written)
        self.assertNotIn(ENTER, terminal.written)
        self.assert_fails(self.run_command("live", "--job", "."), 1, "The live view cannot be shown: neither the standard error nor "
                          "the standard output is a terminal. gpu-tracker job prints a summary.")

    def test_frames_are_drawn_at_once_where_the_terminal_can(self):
        terminal = self.view("live", "--st", "0.1", answers=b"\033[?2026;2$y\033[?62c")
        terminal.expect_written(b"\033[?2026l")
        terminal.send("q")
        self.assertEqual(terminal.end(), 0)
        terminal = self.view("live", "--st", "0.1", answers=b"\033[?62c")
        terminal.expect("^CPU")
        terminal.send("?")
        terminal.expect("Any key: back")
        self.assertNotIn(b"?2026h", terminal.written)

    def test_a_command_that_draws_on_the_whole_terminal_has_it_meanwhile(self):
        code = ("import sys\nprint('ready', flush=True)\nsys.stdin.readline()\nprint('\\033[?1049hfull screen', flush=True)\n"
                "line = sys.stdin.readline().strip()\nprint('\\033[?1049l')\nprint('got', line, flush=True)\nsys.stdin.readline()")
        terminal = self.run_live(*python(code))
        terminal.expect("^CPU")
        terminal.expect("^ready$")
        terminal.screen.is_shared = True
        terminal.send("i\r")
        terminal.expect_written(LEAVE)
        terminal.expect("^full screen$")
        terminal.send("quit\r")
        terminal.wait_for(lambda: terminal.written.count(ENTER) == 3, "the view again")
        terminal.expect("^got quit$")
        terminal.expect("^CPU")
        self.assertFalse(terminal.shows("full screen"))
        terminal.send("i\r")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(terminal.written.count(b"full screen"), 1)
        self.assert_restored(terminal)

    def test_a_command_learns_when_its_terminal_has_another_size(self):
        # The kernel's own signal may come next to the view's: print() must not be called in a print().
        code = ("import os, signal, time\n"
                "signal.signal(signal.SIGWINCH, lambda *_: os.write(1, b'columns %d\\n' % os.get_terminal_size().columns))\n"
                "print('ready', flush=True)\nwhile True: time.sleep(1000)")
        terminal = self.run_live(*python(code))
        terminal.expect("^CPU")
        terminal.expect("^ready$")
        terminal.resize(120, 24)
        terminal.expect("^columns 120$")
        terminal.send("\x03")
        terminal.end()

    def test_a_terminal_with_one_screen_keeps_nothing_of_the_view(self):
        terminal = self.view("live", "--st", "0.1", os.getpid(), columns=60, rows=12)
        terminal.expect("^CPU")
        terminal.screen.has_one_screen = True
        terminal.send("q")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(set(terminal.screen.lines()), {""})

    # How it ends

    def test_q_leaves_the_command_alone(self):
        terminal = self.run_live(*python(TALKS, 2))
        terminal.expect("^ready$")
        terminal.send("q")
        terminal.expect_written(LEAVE)
        terminal.expect_written(b"ready\r")
        terminal.send("hello\r")
        self.assertEqual(terminal.end(), 7)
        self.assertIn(b"got hello\r", terminal.first_screen())
        self.assertEqual(terminal.written.count(b"got hello"), 1)
        self.assert_restored(terminal)

    def test_output_begins_in_the_first_column_after_a_resize(self):
        for columns in 120, 40:
            with self.subTest(columns=columns):
                terminal = self.run_live(*python(TALKS, 2), columns=40, rows=10)
                terminal.expect(r"^CPU +\d")
                terminal.resize(columns, 10)
                terminal.send("q")
                terminal.expect_written(LEAVE)
                terminal.send("hello\r")
                self.assertEqual(terminal.end(), 7)
                self.assertEqual(terminal.written.split(LEAVE)[1].startswith((b"\r\n", b"\r\r\n")), columns != 40)
                self.assert_restored(terminal)

    def test_control_c_is_for_the_command(self):
        terminal = self.run_live(*python(TALKS, 1))
        terminal.expect("^ready$")
        terminal.send("\x03")
        self.assertEqual(terminal.end(), -signal.SIGINT)
        self.assertIn(b"KeyboardInterrupt", terminal.first_screen())
        self.assert_restored(terminal)

    def test_a_signal_is_for_the_command(self):
        for number in signal.SIGTERM, signal.SIGHUP:
            with self.subTest(number=number):
                terminal = self.run_live(*python(TALKS, 1))
                terminal.expect("^ready$")
                terminal.kill(number)
                self.assertEqual(terminal.end(), -number)
                self.assert_is_summary(terminal.first_screen().decode().replace("\r", ""))
                self.assert_restored(terminal)

    def test_signals_end_the_view_of_a_process(self):
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT:
            with self.subTest(number=number):
                terminal = self.view("live", os.getpid())
                terminal.expect("^CPU")
                terminal.kill(number)
                self.assertEqual(terminal.end(), 0)
                self.assert_restored(terminal)
                self.assert_folder_is()

    def test_after_a_kill_the_terminal_is_as_before_and_the_command_goes_on(self):
        terminal = self.run_live(*python("import os, time\nparent = os.getppid()\nprint('parent', parent, flush=True)\n"
                                         "while os.getppid() == parent: time.sleep(0.01)\n"
                                         "os.write(1, b'still here\\n')"), program=IN_SHELL)  # in one write: the shell writes, too
        terminal.expect(r"^parent \d+$")
        terminal.expect("^CPU")
        parent = next(int(line.split()[1]) for line in terminal.screen.lines() if line.startswith("parent "))
        terminal.screen.is_shared = True
        os.kill(parent, signal.SIGKILL)
        terminal.expect_written(LEAVE)
        terminal.expect_written(b"still here\r\n")
        terminal.expect_written(b"status 137")
        self.assertRegex(terminal.first_screen(), rb"parent \d+\r\n(.|\n)*still here\r\n")
        wait_until(lambda: terminal.settings() == terminal.before, "the settings of the terminal")

    def test_after_a_kill_a_hang_up_reaches_the_command(self):
        code = ("import os, signal, sys\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\nprint('parent', os.getppid(), flush=True)\n"
                "try: sys.stdin.read()\nexcept OSError: pass\nopen('ended', 'w')")
        terminal = self.run_live(*python(code), program=IN_SHELL)
        terminal.expect("^CPU")
        terminal.expect(r"^parent \d+$")
        terminal.screen.is_shared = True
        os.kill(next(int(line.split()[1]) for line in terminal.screen.lines() if line.startswith("parent ")), signal.SIGKILL)
        terminal.expect_written(LEAVE)
        os.close(terminal.slave)
        os.close(terminal.master)
        terminal.master = terminal.slave = -1
        wait_until((self.folder / "ended").exists, "the end of the command's input")

    def test_after_a_kill_of_the_view_of_a_process(self):
        terminal = self.view("live", os.getpid())
        terminal.expect("^CPU")
        terminal.kill()
        terminal.expect_written(LEAVE)
        wait_until(lambda: terminal.settings() == terminal.before, "the settings of the terminal")

    def test_a_hang_up_ends_all(self):
        terminal = self.run_live(*python("import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(1000)"))
        terminal.expect("^CPU")
        file = self.folder / "pid"
        wait_until(lambda: file.exists() and file.read_text(), "the command's pid")
        pid = int(file.read_text())
        os.close(terminal.slave)
        os.close(terminal.master)
        terminal.master = terminal.slave = -1
        self.assertEqual(terminal.process.wait(PATIENCE), -signal.SIGHUP)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_stop_and_continue(self):
        terminal = self.view("--norc", "--noprofile", "--noediting", "-i", program=["bash"], PS1="PROMPT> ")
        terminal.expect_written(b"PROMPT> ")
        command = os.environ["GPUT_COMMAND"]
        terminal.send(f"'{command}' run -q --live -- '{sys.executable}' -c 'import time; print(\"ready\", flush=True); time.sleep(1000)'\r")
        terminal.expect("^ready$")
        before = terminal.settings()
        terminal.send("\x1a")
        terminal.expect_written(b"Stopped")
        self.assertNotEqual(terminal.settings(), before)
        self.assertEqual(terminal.written.count(LEAVE), 1)
        terminal.send("fg\r")
        terminal.wait_for(lambda: terminal.written.count(ENTER) == 2, "the view again")
        terminal.expect(r"^CPU")
        prompts = terminal.written.count(b"PROMPT> ")
        terminal.send("\x03")
        terminal.wait_for(lambda: terminal.written.count(LEAVE) == 2, "the end of the view")
        # The shell discards what is typed before its prompt.
        terminal.wait_for(lambda: terminal.written.count(b"PROMPT> ") > prompts, "the prompt")
        terminal.send("echo status $?\r")
        terminal.expect_written(b"status 130")
        terminal.send("exit\r")
        terminal.end()

    def test_who_lives_on_still_writes_to_the_terminal(self):
        code = ("import os, sys, time\nif os.fork() == 0:\n"
                "    while not os.path.exists('go'): time.sleep(0.02)\n    print('from afar', flush=True)\n"
                "    os._exit(0)\ntime.sleep(0.5)")
        terminal = self.run_live(*python(code), program=IN_SHELL)
        terminal.expect_written(b"status 0")
        (self.folder / "go").touch()
        terminal.expect_written(b"from afar")

    # Without a view

    def test_without_a_terminal_a_command_is_tracked_all_the_same(self):
        done = self.run_command("run", "--live", "--", "sh", "-c", "echo out; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, "out\n"))
        first, rest = done.stderr.split("\n", 1)
        self.assertEqual(first, "gpu-tracker: the live view cannot be shown: neither the standard error nor the standard output is a terminal.")
        self.assert_is_summary(rest)

    def test_a_dumb_terminal_is_refused(self):
        terminal = self.run_live("echo", "out", TERM="dumb")
        self.assertEqual(terminal.end(), 0)
        self.assertIn(b"the live view cannot be shown: the terminal (TERM) understands no escape sequences.", terminal.written)
        self.assertIn(b"\nout\r\n", terminal.written)

    def test_messages(self):
        reason = "The live view cannot be shown: neither the standard error nor the standard output is a terminal."
        self.assert_fails(self.run_command("live"), 1, f"{reason} gpu-tracker serve measures without one.")
        self.assert_fails(self.run_command("live", "1"), 1, f"{reason} gpu-tracker attach tracks without one.")
        self.assert_fails(
            self.run_command("live", "--", "sh", "-c", "true"), 2,
            'Unexpected "-c". Usage: gpu-tracker live [OPTIONS] [PID]. To start a command: gpu-tracker run --live -- COMMAND')
        self.assert_fails(
            self.run_command("live", "x"), 1,
            '"x" is not a process ID. It is a whole number, as ps or pgrep show it. To start a command: gpu-tracker run --live -- COMMAND')
        terminal = self.view("live", 2**22 + 1)
        self.assertEqual(terminal.end(), 1)
        self.assertIn(b"gpu-tracker: There is no process 4194305 to track.", terminal.written)
        self.assertNotIn(ENTER, terminal.written)
        terminal = self.run_live("./not-there")
        self.assertEqual(terminal.end(), 127)
        self.assertIn(b"Command not found", terminal.written)
        self.assert_restored(terminal)

    def test_the_end_of_a_process_is_shown(self):
        sleeper = subprocess.Popen(["sleep", "1000"])
        terminal = self.view("live", "--st", "0.1", sleeper.pid)
        terminal.expect("^CPU")
        sleeper.kill()
        sleeper.wait()
        terminal.expect("ended  ")
        terminal.send("q")
        self.assertEqual(terminal.end(), 0)


if __name__ == "__main__":
    main()
