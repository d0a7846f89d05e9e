"""Each sink has its rows, and each option of a sink is known to every front end (CONTRIBUTING.md, "Add a sink")."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
def sinks():
    """{name: its source}; sink.c and sinks.c are what they share, sink_writer.c is a thread."""
    sources = (SOURCE / "src/session/sinks").glob("sink_*.c")
    texts = [text for text in (path.read_text() for path in sources) if "const struct sink_class sink_" in text]
    return {name: text for text in texts for name in re.findall(r"const struct sink_class sink_(\w+) =", text)}


def options():
    return sorted(option for text in sinks().values() for option in re.findall(r"\.option = offsetof\(struct gput_session_options, (\w+)\)", text))


class Sinks(unittest.TestCase):
    def test_each_is_a_row(self):
        rows = re.search(r"#define SINKS\(X\)(.*?)\n\n", (SOURCE / "src/session/sinks/sink.h").read_text(), re.DOTALL)[1]
        self.assertEqual(sorted(re.findall(r"X\((\w+)\)", rows)), sorted(sinks()))

    def test_their_options_are_rows_of_the_table_that_front_ends_walk(self):
        self.assertGreaterEqual(len(options()), 7)
        rows = re.findall(r'ROW\("(\w+)", \w+, [^}]*?, (\w+)\)', (SOURCE / "src/model/session_options.c").read_text())
        self.assertEqual(set(options()) - {member for _, member in rows}, set())
        self.assertEqual([name for name, member in rows if member in options() and name != member], [])

    def test_the_command_takes_their_options(self):
        rows = (SOURCE / "cli/options/option.c").read_text()
        taken = re.search(r"#define PUSH_OPTIONS.*?\n\n.*?#define TRACKING_OPTIONS.*?\n\n", (SOURCE / "cli/commands/command_table.c").read_text(), re.DOTALL)[0]
        for option in options():
            with self.subTest(option):
                ids = re.findall(rf'\[(OPTION_\w+)\] = {{[^{{]*?\.setting = "{option}"', rows)
                self.assertTrue([id for id in ids if re.search(rf"\b{id}\b", taken)], "cli/commands/command_table.c")

    def test_python_takes_their_options(self):
        tracker = (SOURCE / "python/gpu_tracker/tracker.py").read_text()
        for option in options():
            with self.subTest(option):
                self.assertRegex(tracker, rf"(?m)^        {option}: ")
                self.assertRegex(tracker, rf'(?m)^            "{option}": ')

    def test_python_names_their_files(self):
        """Names that a job puts its ranks into, and that need not be UTF-8."""
        files = re.search(r"\} files\[OUTPUTS\] = \{(.*?)\n\};", (SOURCE / "cli/track/tracking_files.c").read_text(), re.DOTALL)[1]
        own_process = re.search(r"_PATHS = \{(.*?)\}", (SOURCE / "python/gpu_tracker/_own_process.py").read_text())[1]
        named = re.search(r"names = (\"tracking_file\".*)", (SOURCE / "python/gpu_tracker/tracker.py").read_text())[1]
        of_session = re.findall(r"IN\(options\.(\w+)\)", files)
        self.assertGreaterEqual(len(of_session), 4)
        for option in set(of_session) - {"textfile_folder"}:  # a folder that sessions share
            with self.subTest(option):
                self.assertIn(f'"{option}"', own_process, "python/gpu_tracker/_own_process.py")
                self.assertIn(f'"{option}"', named, "python/gpu_tracker/tracker.py")


if __name__ == "__main__":
    tap.main()
