"""The core builds and works without the part for training profiles: -Dtraining=false."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
# Kept, so that only what changed is compiled the next time.
BUILD = pathlib.Path(os.environ["GPUT_BUILD"]) / "without-training"
OPTIONS = ["-Dtraining=false", "-Dtests=false", "-Dpython=disabled", "-Dbuildtype=plain", "-Dwerror=true"]


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


class WithoutTraining(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        steps = [["ninja", "-C", BUILD, "gpu-tracker"]]
        if not (BUILD / "build.ninja").exists():
            steps.insert(0, ["meson", "setup", *OPTIONS, BUILD, SOURCE])
        for step in steps:
            status, output = output_of(*step)
            if status != 0:
                raise RuntimeError(output[-4000:])

    def command(self, *arguments):
        return output_of(BUILD / "gpu-tracker", *arguments)

    def test_a_command_is_tracked(self):
        status, output = self.command("run", "-f", "json", "--", "sh", "-c", "exit 7")
        self.assertEqual(status, 7, output)
        self.assertIn('"max_ram"', output)

    def test_help_has_all_commands_but_those_for_profiles(self):
        status, output = self.command("--help")
        self.assertEqual(status, 0)
        self.assertRegex(output, "(?m)^    sub-track analyze ")
        self.assertRegex(output, "(?m)^    timeline merge ")
        self.assertNotRegex(output, "(?m)^    (profile|pytorch) ")

    def test_profiles_on_a_timeline_are_refused(self):
        root = SOURCE / "tests/fixtures/trace-root"
        status, output = self.command("timeline", "merge", "-o", "-", root)
        self.assertEqual(status, 1)
        self.assertIn("-Dtraining=false", output)

    def test_traces_are_merged(self):
        status, output = self.command("timeline", "merge", "-o", "-", SOURCE / "tests/fixtures/trace-kineto/rank0.json")
        self.assertEqual(status, 0)
        self.assertIn("aten::mm", output)


if __name__ == "__main__":
    tap.main()
