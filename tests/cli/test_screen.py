"""Names of files, commands and code blocks that hold escape sequences: a terminal shows them, and obeys none."""

import json
import os
import pty
import subprocess

from command import COMMAND, CommandTest, main, read_terminal

# Escape sequences by ESC and by one C1 control, as a byte that is not UTF-8 and as UTF-8; a return; a real letter.
HOSTILE = "a\033]0;title\007b\udc9b31m\u009b1mc\rd-ö"
SHOWN = "a?]0;title?b?31m?1mc?d-ö"


class Screen(CommandTest):
    def on_terminal(self, *arguments, screen="dumb", **environment):
        """What a terminal gets of a command, both of its streams; no line of it may hold a control character."""
        inherited = {name: value for name, value in os.environ.items() if name not in ("TERM", "NO_COLOR")}
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen([COMMAND, *map(str, arguments)], cwd=self.folder, stdout=slave, stderr=slave,
                                   env=inherited | ({"TERM": screen} if screen else {}) | environment)
        self.processes.append(process)
        os.close(slave)
        shown = read_terminal(master).decode()  # fails where it is not UTF-8
        process.wait()
        return shown.replace("\r\n", "\n")

    def assert_harmless(self, shown, expected=SHOWN):
        self.assertIn(expected, shown)
        self.assertEqual([character for character in shown if not character.isprintable() and character not in "\n\t"], [])

    def record(self):
        """A tracking file, and marks of a block with that name inside of its time."""
        marks = ("import os, sys, time\nb = os.fsencode(sys.argv[1])\n"
                 "with open('m.csv', 'wb') as f:\n"
                 " f.write(b'process_id,code_block_name,position,timestamp\\n')\n"
                 " for position in b'0', b'1':\n"
                 "  f.write(b'1,\"' + b + b'\",' + position + b',' + str(time.time()).encode() + b'\\n'); time.sleep(0.05)\n")
        done = self.run_command("run", "-q", "--st", "0.01", "--tf", "t.csv", "--", "python3", "-c", marks, HOSTILE)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_error_messages(self):
        for arguments in (["show", HOSTILE], ["run", "--", f"./{HOSTILE}"], [HOSTILE],
                          ["sub-track", "analyze", "--tf", HOSTILE, "--stf", "m.csv"],
                          ["timeline", "merge", "-o", "m.json", HOSTILE], ["profile", "kernels", HOSTILE]):
            with self.subTest(arguments=arguments):
                self.assert_harmless(self.on_terminal(*arguments))

    def test_no_name_begins_a_line_of_its_own(self):
        shown = self.on_terminal("show", "x\ngpu-tracker: all is well")
        self.assertIn("x?gpu-tracker: all is well", shown)
        self.assertEqual(shown.count("\n"), 1)

    def test_names_of_code_blocks(self):
        self.record()
        self.assert_harmless(self.on_terminal("sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv"))
        for format in "json", "csv":
            self.assert_harmless(self.on_terminal("sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "-f", format), "title")

    def test_a_file_gets_no_control_characters(self):
        """Text and tables may be shown by anything; JSON has the names as they are, escaped."""
        self.record()
        for form in "csv", "text":
            done = self.run_command("sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "-f", form, text=False)
            self.assertIn(b"?]0;title?b", done.stdout)
        done = self.run_command("sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "-f", "json", text=False)
        self.assertIn(b"\\u001b]0;title\\u0007b", done.stdout)

    def test_the_command_and_the_processes_of_a_summary(self):
        hostile = self.folder / HOSTILE
        hostile.write_text("#!/bin/sh\nexit 0\n")
        hostile.chmod(0o755)
        shown = self.on_terminal("run", "--processes", "--command-lines", "--", hostile, HOSTILE)
        self.assert_harmless(shown)
        for format in "full", "json", "text":
            self.assert_harmless(self.on_terminal("run", "--processes", "--command-lines", "-f", format, "--", hostile), "]0;title")

    def test_colors_and_lines_drawn_again_are_for_terminals_that_take_them(self):
        self.record()
        for screen, environment, colors, lines in (
                ("xterm", {}, True, True), ("xterm", {"NO_COLOR": "1"}, False, True), ("xterm", {"NO_COLOR": ""}, True, True),
                ("dumb", {}, False, False), ("dumb", {"NO_COLOR": "1"}, False, False), (None, {}, False, False)):
            with self.subTest(screen=screen, environment=environment):
                shown = self.on_terminal("run", "--", "sh", "-c", "exit 3", screen=screen, **environment)
                self.assertEqual("\033[1m" in shown, colors)
                self.assertEqual("\033" in shown, colors)
                shown = self.on_terminal("sub-track", "analyze", "--tf", "t.csv", screen=screen, **environment)
                self.assertEqual("\rgpu-tracker: reading, 100 %\r\033[K" in shown, lines)
                self.assertEqual("\033" in shown or "\r" in shown, lines)

    def test_no_progress_in_a_notebook(self):
        self.record()
        (self.folder / "one.json").write_text('[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]')
        for environment in ({"JPY_PARENT_PID": "7"}, {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}, {"MPLBACKEND": "agg"}):
            shows = environment.get("MPLBACKEND") == "agg"
            for word, arguments in (("reading, 100 %", ["sub-track", "analyze", "--tf", "t.csv"]),
                                    ("merging, ", ["timeline", "merge", "one.json", "-o", "-"])):
                with self.subTest(environment=environment, word=word):
                    shown = self.on_terminal(*arguments, screen="xterm", **environment)
                    self.assertEqual((word in shown, "\033[K" in shown), (shows, shows), shown)

    def test_a_warning_begins_a_line_where_progress_is_shown(self):
        cut = "process_id,code_block_name,position,timestamp\n1,a,0,1745449609.5\n1,a,1"
        (self.folder / "cut.csv").write_text(cut)
        events = [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(20000)]
        (self.folder / "cut.json").write_text(json.dumps(events)[:-9])
        self.record()
        for arguments in (["sub-track", "analyze", "--tf", "t.csv", "--stf", "cut.csv"],
                          ["sub-track", "combine", "--stf", "all.csv", "-p", "cut.csv", "-p", "cut.csv"],
                          ["timeline", "merge", "cut.json", "cut.csv", "-o", "merged.json"]):
            with self.subTest(arguments=arguments):
                shown = self.on_terminal(*arguments, screen="xterm")
                self.assertIn(" %\r\033[Kgpu-tracker: warning: ", shown)
                self.assertNotIn(" %gpu-tracker: warning: ", shown)

    def test_tables_of_a_profile(self):
        trace = {"traceEvents": [{"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": 1000, "dur": 50, "name": HOSTILE[:-1],
                                  "args": {"device": 0, "stream": 7}}]}
        (self.folder / "k.json").write_text(json.dumps(trace))
        shown = self.on_terminal("profile", "kernels", "k.json")
        self.assert_harmless(shown, "]0;title")


if __name__ == "__main__":
    main()
