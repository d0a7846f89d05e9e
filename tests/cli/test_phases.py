"""gpu-tracker run --phase-token: lines of a command's output begin phases, and the output is passed on as it is."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios

from command import PATIENCE, CommandTest, main, python, read_terminal, wait_until

# Written in parts, which begin and end anywhere; with each byte.
NOISE = "import os, random; r = random.Random(1); b = r.randbytes(700_001); v = memoryview(b)\nwhile v: v = v[os.write(1, v[:r.randrange(1, 90_000)]):]"


class PhasesTest(CommandTest):
    def record(self, *command, pattern="Epoch [0-9]+", options=(), **more):
        return self.run_command("run", "-q", "--phase-token", pattern, "--region-file", "m.csv", *options, "--", *command, **more)

    def read_marks(self):
        _, *lines = (self.folder / "m.csv").read_text().splitlines()
        return [line.split(",") for line in lines]

    def names(self):
        """Of the phases, in the order of their starts; each ends. Marks of two streams are in the order of each."""
        rows = sorted(self.read_marks(), key=lambda row: float(row[3]))
        starts, stops = ([row[1] for row in rows if row[2] == position] for position in "01")
        self.assertCountEqual(starts, stops)
        return starts


class Recorded(PhasesTest):
    def test_lines_of_both_streams_begin_phases_of_the_command(self):
        done = self.record("sh", "-c", "echo $$; echo Epoch 1 of 2; echo x; echo now Epoch 2 >&2; printf 'Epoch 3'")
        self.assertEqual(done.returncode, 0, done.stderr)
        pid = done.stdout.split()[0]
        self.assertEqual(done.stdout, f"{pid}\nEpoch 1 of 2\nx\nEpoch 3")
        self.assertEqual(done.stderr, "now Epoch 2\n")
        self.assertCountEqual(self.names(), ["token:Epoch 1", "token:Epoch 2", "token:Epoch 3"])
        self.assertEqual({row[0] for row in self.read_marks()}, {pid})

    def test_one_stream_keeps_its_order_and_so_do_its_phases(self):
        shell = "for i in 1 2 3 4 5; do echo Epoch $i; echo error $i >&2; done"
        done = self.record("sh", "-c", shell, capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.stdout, "".join(f"Epoch {i}\nerror {i}\n" for i in range(1, 6)))
        self.assertEqual(self.names(), [f"token:Epoch {i}" for i in range(1, 6)])

    def test_the_report_and_the_analysis_have_them(self):
        shell = "echo load; sleep 0.2; echo train; sleep 0.2"
        done = self.run_command("run", "--phase-token", "load|train", "--tf", "t.csv", "--st", "0.02", "--", "sh", "-c", shell)
        self.assertIn("Regions: 2, the longest first", done.stderr)
        self.assertIn("token:train", done.stderr)
        done = self.run_command("sub-track", "analyze", "--tf", "t.csv", "--stf", "t-regions.gputblocks", "-f", "csv")
        self.assertIn("token:load", done.stdout)

    def test_a_line_that_is_drawn_again_goes_on(self):
        self.record("printf", "Epoch 1 10%%\\rEpoch 1 20%%\\rEpoch 2\\n")
        self.assertEqual(self.names(), ["token:Epoch 1", "token:Epoch 2"])

    def test_names_are_bounded(self):
        self.record("seq", "10050", pattern="^[0-9]+$")
        names = self.names()
        self.assertEqual((len(names), len(set(names)), names[-1]), (10050, 10001, "token:(other names)"))

    def test_no_line_and_an_invalid_expression(self):
        done = self.run_command("run", "--phase-token", "nothing", "--", "echo", "text")
        self.assertIn("No line of the command's output matched --phase-token.", done.stderr)
        done = self.record("touch", "ran", pattern="a(b")
        self.assertEqual(done.returncode, 125)
        self.assertIn('--phase-token: "a(b" is not a valid extended regular expression', done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_command_that_cannot_be_started(self):
        done = self.record("./missing")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(os.listdir(self.folder), [])


class PassedOn(PhasesTest):
    def test_each_byte_is_passed_on(self):
        expected = subprocess.run(python(NOISE), capture_output=True).stdout
        for target in "pipe", "file":
            with open(self.folder / "out", "wb+") as file:
                done = self.record(*python(NOISE), text=False, capture_output=False, stdout=subprocess.PIPE if target == "pipe" else file)
                file.seek(0)
                self.assertTrue((done.stdout if target == "pipe" else file.read()) == expected, target)
            (self.folder / "m.csv").unlink(missing_ok=True)

    def test_what_is_printed_is_passed_on_at_once(self):
        process = self.start_command("run", "-q", "--phase-token", "x", "--", "sh", "-c", "printf part; read line; echo $line", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.read(4), "part")
        self.assertEqual(process.communicate("rest\n", timeout=PATIENCE)[0], "rest\n")

    def test_a_reader_that_leaves(self):
        process = self.start_command("run", "-q", "--phase-token", "x", "--", "yes")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=PATIENCE), -signal.SIGPIPE)

    def test_what_outlives_the_command_is_not_waited_for_and_still_printed(self):
        os.mkfifo(self.folder / "go")
        process = self.start_command("run", "-q", "--phase-token", "x", "--", "sh", "-c", "{ read line <go; echo late; } & echo early")
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        (self.folder / "go").write_text("\n")
        self.assertEqual(process.stdout.read(), "early\nlate\n")

    def test_a_killed_tracker_leaves_the_output_and_the_phases(self):
        os.mkfifo(self.folder / "go")
        process = self.start_command("run", "-q", "--phase-token", "x[0-9]", "--region-file", "m.csv", "--", "sh", "-c", "echo x1; read line <go; echo x2")
        self.assertEqual(process.stdout.readline(), "x1\n")
        process.kill()
        process.wait()
        (self.folder / "go").write_text("\n")
        self.assertEqual(process.stdout.read(), "x2\n")
        self.run_command("sub-track", "combine", "--mix", "--stf", "m.csv", "-p", "m.csv.parts/")
        self.assertEqual(self.names(), ["token:x1", "token:x2"])

    def test_a_full_disk_of_the_output_is_said(self):
        with open("/dev/full", "w") as full:
            done = self.run_command("run", "--phase-token", "x", "-o", "r.txt", "--", "sh", "-c", "echo x", capture_output=False, stdout=full)
        self.assertEqual(done.returncode, 0)
        self.assertIn("The command's output was not passed on completely: No space left on device", (self.folder / "r.txt").read_text())


class Derived(PhasesTest):
    def test_changes_in_the_samples_are_phases(self):
        code = """
import time
def rows():
    return open("t.csv").read().count("\\n")
def wait():
    seen = rows()
    while rows() < seen + 40:
        time.sleep(0.01)
wait()
held = b"x" * 200_000_000
wait()
"""
        done = self.run_command("run", "--phases=auto", "--st", "0.01", "--tf", "t.csv", "--region-file", "m.csv", "--", *python(code))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.read_marks()
        self.assertEqual([row[1] for row in rows[::2]], [f"derived:phase {i + 1}" for i in range(len(rows) // 2)])
        self.assertGreater(len(rows), 2)
        self.assertEqual([row[3] for row in rows[1:-1:2]], [row[3] for row in rows[2::2]])  # without gaps
        self.assertRegex(done.stderr, r"ved:phase 1\n")  # the beginning is cut where the table is wide

    def test_next_to_printed_ones_and_where_nothing_changes(self):
        done = self.run_command("run", "--phases=auto", "--phase-token", "go", "--", "echo", "go")
        self.assertIn("token:go", done.stderr)
        self.assertIn("No phases were derived: the samples show no change beyond their noise.", done.stderr)
        done = self.run_command("run", "--phases=x", "--", "true")
        self.assertEqual((done.returncode, done.stderr), (125, 'gpu-tracker: "x" is not a valid kind of phases. Valid values are "auto".\n'))


class OnATerminal(PhasesTest):
    def run_on_terminal(self, *command, options=()):
        """On a terminal of 24 by 80; returns what it shows."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.addCleanup(os.close, master)
        process = self.start_command(
            *("run", "-q", "--phase-token", "Epoch [0-9]+", "--region-file", "m.csv", *options, "--", *command),
            **{"stdin": slave, "stdout": slave, "stderr": slave, "start_new_session": True},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        return master, slave, process

    def read_until(self, expected, master, process):
        shown = b""
        while expected not in shown:
            if select.select([master], [], [], 0.1)[0]:
                shown += os.read(master, 4096)
            else:
                self.assertIsNone(process.poll(), shown)

    def test_the_command_sees_a_terminal_of_that_size(self):
        master, slave, process = self.run_on_terminal("sh", "-c", "test -t 1 && test -t 2 && stty size <&1; echo Epoch 1; printf 'a\\r\\nb'")
        process.wait(timeout=PATIENCE)
        os.close(slave)
        self.assertEqual(read_terminal(master), b"24 80\r\nEpoch 1\r\na\r\r\nb")
        self.assertEqual(self.names(), ["token:Epoch 1"])

    def test_a_new_size_and_an_interrupt(self):
        code = """
import os, signal, sys, time
def resized(*_):
    os.write(1, b"%d %d\\n" % os.get_terminal_size(1))  # print() may be under way
signal.signal(signal.SIGWINCH, resized)
try:
    print("ready", flush=True)
    while True: time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
        master, slave, process = self.run_on_terminal(*python(code))
        self.read_until(b"ready", master, process)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
        self.read_until(b"132 50", master, process)
        os.write(master, b"\x03")
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        os.close(slave)
        self.assertIn(b"interrupted", read_terminal(master))

    def test_settings_that_the_command_changes_are_those_of_the_terminal(self):
        code = "import sys, termios, tty; before = termios.tcgetattr(1); tty.setraw(1); print('raw', end='\\r\\n', flush=True); input(); termios.tcsetattr(1, termios.TCSADRAIN, before); print('end', flush=True)"
        master, slave, process = self.run_on_terminal(*python(code))
        wait_until(lambda: not termios.tcgetattr(slave)[3] & termios.ICANON, "raw mode")
        os.write(master, b"\n")
        process.wait(timeout=PATIENCE)
        wait_until(lambda: termios.tcgetattr(slave)[3] & termios.ICANON, "the settings as before")
        os.close(slave)
        self.assertIn(b"raw\r\n", read_terminal(master))


if __name__ == "__main__":
    main()
