"""The core builds and works without the part for training profiles: -Dtraining=false."""

import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
WHOLE = pathlib.Path(os.environ["GPUT_BUILD"])
# Kept, so that it is configured once.
BUILD = WHOLE / "without-training"
OPTIONS = ["-Dtraining=false", "-Dtests=false", "-Dpython=disabled", "-Dbenchmarks=false"]
SAME_OPTIONS = {"buildtype", "debug", "optimization", "werror", "prefix", "libdir", "bundled", "collectors", "isal", "report"}
# What distinguishes the build: sources that ask for it are compiled again.
DEFINE = "-DWITH_TRAINING"


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def needed(*command):
    status, output = output_of(*command)
    if status != 0:
        raise RuntimeError(f"{command}:\n{output[-4000:]}")
    return output


def options_of_whole():
    for option in json.loads(needed("meson", "introspect", "--buildoptions", WHOLE)):
        value = option["value"]
        if option["name"] in SAME_OPTIONS:
            yield f"-D{option['name']}={str(value).lower() if isinstance(value, bool) else value}"


def steps_of(build):
    """The commands that make gpu-tracker, in their order; of those that compile also the source and the object."""
    for line in needed("ninja", "-C", build, "-t", "commands", "gpu-tracker").splitlines():
        words = shlex.split(line)
        if "-c" not in words:
            yield line, None, None
            continue
        folder = os.path.relpath(SOURCE, build)
        words = [re.sub(f"(?<![./]){re.escape(folder)}(?=/|$)", "SOURCE", word) for word in words]
        source = words[words.index("-c") + 1].replace("SOURCE", str(SOURCE))
        if "WITH_TRAINING" not in pathlib.Path(build, source).read_text():
            words = [word for word in words if word != DEFINE]
        yield line, words[words.index("-o") + 1], words


def compiler_of(build):
    """As CC has it, such as "ccache gcc": what comes before the first option."""
    words = next(words for _, _, words in steps_of(build) if words)
    return shlex.join(itertools.takewhile(lambda word: not word.startswith("-"), words))


def configure():
    """By the compiler of the whole build: no object of another one could be taken."""
    os.environ["CC"] = compiler_of(WHOLE)
    if not (BUILD / "build.ninja").exists():
        needed("meson", "setup", *OPTIONS, *options_of_whole(), BUILD, SOURCE)
        return
    needed("ninja", "-C", BUILD, "build.ninja")  # first, as a source may have gone
    if compiler_of(BUILD) != os.environ["CC"]:
        needed("meson", "setup", "--wipe", *OPTIONS, *options_of_whole(), BUILD, SOURCE)


def build_core():
    """Makes every step of the build, except that a source that the whole build compiles by the same command is not
    compiled again: its object is taken."""
    headers = [*SOURCE.glob("cli/**/*.h"), *SOURCE.glob("include/**/*.h")]
    assert not any("WITH_TRAINING" in header.read_text() for header in headers)
    for link in BUILD.rglob("*.o"):
        link.unlink()  # some may be of sources that are gone
    compiled = {name: words for _, name, words in steps_of(WHOLE) if words}
    taken = 0
    for line, name, words in steps_of(BUILD):
        if name:
            (BUILD / name).parent.mkdir(exist_ok=True)
        if name and compiled.get(name) == words:
            (BUILD / name).symlink_to(WHOLE / name)
            taken += 1
        else:
            needed("sh", "-c", f"cd '{BUILD}' && {line}")
    assert taken > len(compiled) / 2, f"of {len(compiled)} objects {taken} could be taken"


class WithoutTraining(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Newer versions of Meson have ninja write the objects of an archive to a file, which is not one of the steps.
        os.environ["MESON_RSP_THRESHOLD"] = "100000"
        configure()
        build_core()

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
