"""A terminal as programs see it: a pseudo-terminal, and a screen that understands what the live view writes."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

from command import COMMAND, PATIENCE

SEQUENCE = re.compile(rb"\033\[([?0-9;$]*)([A-Za-z])")
ENTER, LEAVE = b"\033[?1049h", b"\033[?1049l"


def width(character):
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    """Cells that text and moves change. Anything that is not understood is an error."""

    def __init__(self, columns, rows):
        self.other, self.sequences = False, []
        self.is_shared = False  # others write to it, too, while the view is there
        self.has_one_screen = False  # asking for the other one has no effect
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0

    def put(self, character):
        if self.column < self.columns and self.row < self.rows:
            self.cells[self.row][self.column] = character
            if width(character) == 2 and self.column + 1 < self.columns:
                self.cells[self.row][self.column + 1] = ""
        self.column += width(character)

    def obey(self, parameters, letter):
        self.sequences.append(parameters + letter)
        if letter == b"H":
            row, column = map(int, parameters.split(b";"))
            self.row, self.column = row - 1, column - 1
        elif letter in b"JK":
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)
            for row in self.cells[self.row + 1:] if letter == b"J" else []:
                row[:] = [" "] * self.columns
        elif parameters + letter in (b"?1049h", b"?1049l"):
            self.other = letter == b"h"
            if not self.has_one_screen:
                self.clear()
        elif letter not in b"mhlpc":
            raise AssertionError(f"the view wrote {parameters + letter}")

    def feed(self, data):
        """Takes what was written; an incomplete end is left for the next time. Returns what is left."""
        while data:
            if data[0] == 0x1B:
                if not (found := SEQUENCE.match(data)):
                    if len(data) > 32:
                        raise AssertionError(f"no sequence: {data[:32]}")
                    return data
                self.obey(*found.groups())
                data = data[found.end():]
            elif data[0] < 0x20 or data[0] == 0x7F:
                if self.other and not self.is_shared:
                    raise AssertionError(f"a control character: {data[:16]}")
                data = data[1:]
            else:
                length = 1 if data[0] < 0x80 else 2 if data[0] < 0xE0 else 3 if data[0] < 0xF0 else 4
                if length > len(data):
                    return data
                self.put(data[:length].decode())
                data = data[length:]
        return b""

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]


class ViewTerminal:
    """Runs a command with a terminal of its own that controls it."""

    def __init__(self, arguments, folder, columns=80, rows=24, program=(COMMAND,), answers=b"", stdout=None, **environment):
        self.master, slave = pty.openpty()
        self.screen = Screen(columns, rows)
        self.answers, self.pending, self.written = answers, b"", b""
        self.set_size(columns, rows)
        self.before = termios.tcgetattr(slave)
        environment = {name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LC_CTYPE", "NO_COLOR")} | {
            "TERM": "xterm", "LANG": "C.UTF-8"} | environment
        self.process = subprocess.Popen(
            [*program, *map(str, arguments)], stdin=slave, stdout=stdout or slave, stderr=slave, cwd=folder, env=environment,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0))
        self.slave = slave  # open, so that settings can be read after the end

    def close(self):
        for fd in self.master, self.slave:
            if fd >= 0:
                os.close(fd)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def set_size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.set_size(columns, rows)
        self.screen.resize(columns, rows)

    def send(self, text):
        os.write(self.master, text.encode())

    def read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        if self.answers and b"\033[?2026$p" in data:
            os.write(self.master, self.answers)
        self.written += data
        self.pending = self.screen.feed(self.pending + data)
        return True

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come; there is\n" + "\n".join(self.screen.lines()) + repr(self.written[-2000:]))
            self.read(0.05)

    def expect(self, pattern):
        """Waits until a line of the screen matches."""
        self.wait_for(lambda: self.shows(pattern), repr(pattern))

    def shows(self, pattern):
        return any(re.search(pattern, line) for line in self.screen.lines())

    def expect_written(self, text):
        self.wait_for(lambda: text in self.written, repr(text))

    def end(self):
        """Waits for the end of the program; returns its status."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self.read(0.05)
            if time.monotonic() > end:
                raise AssertionError("it did not end; there is\n" + "\n".join(self.screen.lines()))
        while self.read(0.1):
            pass
        return self.process.returncode

    def settings(self):
        return termios.tcgetattr(self.slave)

    def first_screen(self):
        """What was written before and after views."""
        return re.sub(re.escape(ENTER) + b".*?" + re.escape(LEAVE), b"", self.written, flags=re.S)

    def kill(self, number=signal.SIGKILL):
        os.kill(self.process.pid, number)
