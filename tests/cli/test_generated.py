"""The man page and the completions: every command and option is in each, and the shells can read them."""

import re
import shutil
import subprocess

from command import BUILD, SOURCE, CommandTest, main


class Generated(CommandTest):
    FILES = {"man": "man/gpu-tracker.1", "bash": "completions/gpu-tracker.bash", "zsh": "completions/_gpu-tracker",
             "fish": "completions/gpu-tracker.fish"}

    def setUp(self):
        super().setUp()
        overview = self.run_command("--help").stdout
        listed = overview.split("Commands")[1].split("\n\nOptions:")[0]
        self.commands = re.findall(r"(?m)^    (\S+(?: \S+)?)(?:  |$)", listed)
        self.helps = {command: self.run_command(*command.split(), "--help").stdout for command in self.commands}
        self.helps[""] = overview
        self.assertIn("run", self.commands)

    def options(self, command):
        """(short, long) of every option in the help of a command."""
        entries = re.findall(r"(?m)^    (-\S.*?)(?:  .*)?$", self.helps[command].split("\nOptions:\n")[1])
        for entry in entries:
            short = re.match(r"-([a-zA-Z])\b", entry)
            long = re.search(r"--([a-z-]+)", entry)
            yield short and short[1], long and long[1]

    def read(self, kind):
        return (BUILD / self.FILES[kind]).read_text()

    def assert_names_everything(self, kind, short_form, long_form):
        text = self.read(kind)
        for command in ["", *self.commands]:
            for word in command.split():
                self.assertIn(word, text)
            for short, long in self.options(command):
                if short:
                    self.assertIn(short_form.format(short), text, f"{command} in {kind}")
                if long:
                    self.assertIn(long_form.format(long), text, f"{command} in {kind}")

    def page(self, word):
        return (BUILD / "man" / f"gpu-tracker-{word}.1").read_text().replace("\\-", "-").replace("\\(aq", "'")

    def test_there_is_a_man_page_for_each_first_word(self):
        made = {path.name for path in (BUILD / "man").glob("*.1")}
        self.assertEqual(made, {"gpu-tracker.1"} | {f"gpu-tracker-{command.split()[0]}.1" for command in self.commands})
        overview = self.read("man").replace("\\-", "-")
        for command in self.commands:
            self.assertIn(f"\n.TP\n.B {command}\n", overview)

    def test_man_pages_have_every_option(self):
        for command in self.commands:
            text = self.page(command.split()[0])
            self.assertIn(f".B gpu-tracker {command}\n", text)
            for short, long in self.options(command):
                self.assertRegex(text, rf"(?m)^\.B (-{short} )?--{long}\b" if long else rf"(?m)^\.B -{short}\b")

    def test_options_of_the_older_form_are_in_the_overview_or_those_of_run(self):
        text = self.read("man").replace("\\-", "-") + self.page("run")
        for short, long in self.options(""):
            self.assertRegex(text, rf"(?m)^\.B (-{short} )?--{long}\b" if long else rf"(?m)^\.B -{short}\b")

    def test_topics_name_pages_that_are_installed(self):
        topics = re.findall(r"(?m)^    ([a-z]+)  ", self.run_command("help").stdout)
        self.assertGreater(len(topics), 4)
        for topic in topics:
            named = re.search(r"(?m)^More: .*\(or man (\S+)\)$", self.run_command("help", topic).stdout)[1]
            self.assertTrue((BUILD / "man" / f"{named}.1").exists(), named)

    def test_man_page_knows_the_environment(self):
        text = self.read("man").partition(".SH ENVIRONMENT\n")[2].partition("\n.SH ")[0]
        read = set()
        for path in [*(SOURCE / "cli").rglob("*.c"), *(SOURCE / "src").rglob("*.c")]:
            read |= set(re.findall(r'"(GPUT_[A-Z_]+)"', path.read_text()))
        self.assertIn("GPUT_BLOCKS_FILE", read)
        beginnings = tuple(name for name in read if name.endswith("_"))  # of several variables
        written = {next(filter(name.startswith, beginnings), name) for name in re.findall(r"GPUT_[A-Z_]+", text)}
        self.assertEqual(written, read)

    def test_man_page_without_complaints(self):
        if not shutil.which("groff"):
            self.skipTest("no groff here")
        for page in sorted((BUILD / "man").glob("*.1")):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bash_names_everything(self):
        self.assert_names_everything("bash", "-{} ", "--{}")

    def test_zsh_names_everything(self):
        self.assert_names_everything("zsh", "-{}", "--{}")

    def test_fish_names_everything(self):
        self.assert_names_everything("fish", " -s {}", " -l {}")

    def test_the_shells_can_read_them(self):
        read = 0
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", BUILD / self.FILES[shell]], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
                read += 1
        self.assertGreater(read, 0)


class Bash(CommandTest):
    """What bash completes for a line whose last word is being typed."""

    def complete(self, *words):
        script = """
            source "$1"; shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            compopt() { :; }
            _gpu_tracker
            printf '%s\\n' "${COMPREPLY[@]}"
        """
        path = BUILD / Generated.FILES["bash"]
        done = subprocess.run(
            ["bash", "-c", script, "bash", path, "gpu-tracker", *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_commands_come_first(self):
        self.assertIn("attach", self.complete(""))
        self.assertEqual(self.complete("att"), ["attach"])
        self.assertEqual(self.complete("--st", "0.1", "att"), ["attach"])

    def test_options_are_those_of_the_command(self):
        self.assertIn("--execute", self.complete("--"))
        self.assertEqual(self.complete("run", "--exe"), [])
        self.assertEqual(self.complete("attach", "--fo"), ["--for", "--format"])
        self.assertEqual(self.complete("--tu", "days", "run", "--over"), ["--overwrite"])

    def test_values(self):
        self.assertEqual(self.complete("run", "--tu", "m"), ["minutes"])
        self.assertEqual(self.complete("run", "--tu", "=", "m"), ["minutes"])
        self.assertEqual(self.complete("run", "--tu", "="), ["seconds", "minutes", "hours", "days"])
        (self.folder / "a-config.json").touch()
        self.assertEqual(self.complete("run", "--tconfig", "a-"), ["a-config.json"])
        self.assertEqual(self.complete("show", "a-"), ["a-config.json"])

    def test_help_has_topics_and_commands(self):
        words = self.complete("help", "")
        self.assertLessEqual({"track", "training", "run", "sub-track"}, set(words))
        self.assertEqual(len(set(words)), len(words))
        self.assertEqual(self.complete("help", "trai"), ["training"])
        self.assertEqual(self.complete("help", "sub-track", "an"), ["analyze"])
        self.assertEqual(self.complete("help", "run", ""), [])
        self.assertIn("--help", self.complete("help", "--"))
        for word in words:
            self.assertEqual(self.run_command("help", word).returncode, 0, word)

    def test_a_tracked_command_is_completed_as_a_command(self):
        self.assertIn("printf", self.complete("run", "print"))
        self.assertIn("printf", self.complete("run", "--", "print"))


if __name__ == "__main__":
    main()
