"""Every line of ours on standard error begins with `gpu-tracker: `, whichever command says it, and whatever is wrong."""

import re
import subprocess

from command import COMMAND, CommandTest, main

# What each command gets after its name; "FILE" is one that no command can read, "FOLDER" an empty one.
TRIALS = [
    ["--nonsense"],
    ["--nonsense=1", "-o", "FILE"],
    ["nothere"],
    ["nothere", "nothere", "nothere"],
    ["-o", "nowhere/x", "nothere"],
    ["-f", "nonsense", "nothere"],
    ["FILE"],
    ["FOLDER"],
    ["FILE", "FOLDER", "-o", "nowhere/x"],
    ["--tf", "FILE", "--stf", "FILE"],
    ["--tf=nothere", "--stf=nothere", "FOLDER"],
    ["-p", "FILE", "--stf", "nowhere/x"],
    ["-m", "a=FILE", "-m", "b=nothere"],
    ["-o"],
    ["--listen", "nothere"],
    ["--st", "never", "nothere"],
]


class Messages(CommandTest):
    def commands(self):
        listed = self.run_command("--help").stdout.split("Commands")[1].split("\nOptions:")[0]
        return re.findall(r"(?m)^    ([a-z][a-z-]*(?: [a-z]+)?)(?:  |$)", listed)

    def say(self, command, trial):
        words = [word.replace("FILE", "broken.sqlite").replace("FOLDER", "empty") for word in trial]
        return subprocess.run([COMMAND, *command.split(), *words], cwd=self.folder, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120)

    def test_every_error_of_every_command_begins_with_the_name(self):
        (self.folder / "broken.sqlite").write_bytes(b"\x00\xff\x00 no tracking file\n\x80")
        (self.folder / "empty").mkdir()
        errors = dict.fromkeys(self.commands(), 0)
        self.assertGreater(len(errors), 20)
        for command in errors:
            for trial in TRIALS:
                with self.subTest(command=command, trial=trial):
                    done = self.say(command, trial)
                    lines = done.stderr.splitlines()
                    self.assertEqual([line for line in lines if not line.startswith("gpu-tracker: ")], [])
                    self.assertTrue(lines or done.returncode == 0, "it failed without a word")
                    self.assertNotRegex(done.stderr, r"[\x00-\x09\x0b-\x1f\x7f]")
                    errors[command] += done.returncode != 0
        self.assertEqual([command for command, count in errors.items() if count < 2], [])

    def test_progress_is_for_terminals_alone(self):
        done = self.run_command("run", "--progress", "--st", "0.1", "--tf", "run.csv", "--", "sleep", "1.5")
        self.assertEqual([line for line in done.stderr.splitlines() if "\r" in line or "\x1b" in line], [])


if __name__ == "__main__":
    main()
