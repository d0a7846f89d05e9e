"""A measurement more breaks nothing: the command is built with one, added as CONTRIBUTING.md says, and tests of commands pass
with it. For readers find columns by their names, and a file that lacks one is read as well."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
WHOLE = pathlib.Path(os.environ["GPUT_BUILD"])
# Kept, so that it is configured once and only what changed is compiled again.
COPY, BUILD = WHOLE / "one-more" / "source", WHOLE / "one-more" / "build"
# All that the command needs, and quickly compiled.
OPTIONS = [f"-D{each}=disabled" for each in ("python", "collectors", "report")]
OPTIONS += ["-Dtests=false", "-Dbenchmarks=false", "--buildtype=plain", "-Doptimization=0", "-Ddebug=false"]

NAME = "combined_rehearsed_ram"
# Of each step in CONTRIBUTING.md the file, and what comes before which line of it.
STEPS = [
    ("include/gputracker/measurement.h", "    GPUT_MEASUREMENT_COUNT,", "    GPUT_COMBINED_REHEARSED_RAM,\n"),
    (
        "src/model/measurement_list.h",
        "    X(SYSTEM_RAM, ",
        f'    X(COMBINED_REHEARSED_RAM, "{NAME}", RAM, MOMENT, "itself", "ram", "Rehearsal", "ram", "combined", "half of it") \\\n',
    ),
    ("src/session/sampler/sampler.c", "    values[GPUT_SYSTEM_RAM] = ",
     "    values[GPUT_COMBINED_REHEARSED_RAM] = values[GPUT_COMBINED_RAM] / 2;\n"),
    ("src/model/measurement_list.h", "/* clang-format on */\n\n#define TRACKED_PLACE", "    COLUMN(COMBINED_REHEARSED_RAM)\n"),
]  # fmt: skip

# Programs of tests/cli that track, read tracking files, or show what was made of them.
PROGRAMS = ["files", "tables", "analyze", "compare", "plot", "kept_results", "removed_files"]


def needed(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command}:\n{done.stdout[-4000:]}")
    return done.stdout


def with_steps(path):
    """The text of a source with what the steps add to it."""
    text = (SOURCE / path).read_text()
    for file, line, addition in STEPS:
        if file == path:
            assert text.count("\n" + line) == 1, f"{path} has no line, or several, that begin with {line}"
            text = text.replace("\n" + line, "\n" + addition + line)
    return text.replace(", COLUMN)\n    COLUMN", ", COLUMN) \\\n    COLUMN")


def copy_source():
    """Makes links to all sources; those that the steps change are files, written where their text is another one."""
    changed = {path for path, _, _ in STEPS}
    wanted = {path: with_steps(path) for path in changed}
    kept = {path: COPY / path for path in changed if (COPY / path).is_file() and (COPY / path).read_text() == wanted[path]}
    for entry in SOURCE.iterdir():
        if entry.name.startswith((".", "build")) or entry.name in ("src", "include") or (COPY / entry.name).is_symlink():
            continue
        (COPY / entry.name).symlink_to(entry)
    for folder, _, names in [*os.walk(SOURCE / "src"), *os.walk(SOURCE / "include")]:
        place = COPY / os.path.relpath(folder, SOURCE)
        place.mkdir(parents=True, exist_ok=True)
        for gone in {path.name for path in place.iterdir() if path.is_symlink()} - set(names):
            (place / gone).unlink()
        for name in names:
            path = os.path.relpath(pathlib.Path(folder, name), SOURCE)
            if path in changed and path not in kept:
                (place / name).write_text(wanted[path])
            elif path not in changed and not (place / name).is_symlink():
                (place / name).symlink_to(pathlib.Path(folder, name))


class OneMoreMeasurement(unittest.TestCase):
    MOSTLY_WAITS = True

    @classmethod
    def setUpClass(cls):
        COPY.mkdir(parents=True, exist_ok=True)
        copy_source()
        if not (BUILD / "build.ninja").exists():
            shutil.rmtree(BUILD, ignore_errors=True)
            needed("meson", "setup", *OPTIONS, BUILD, COPY)
        needed("ninja", "-C", BUILD, "gpu-tracker")
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_command(self, *arguments, command=BUILD / "gpu-tracker"):
        done = subprocess.run([command, *arguments], capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def track(self, name, command=BUILD / "gpu-tracker"):
        self.run_command("run", "-q", "--st=0.02", "--tf", f"{name}.csv", "sleep", "0.2", command=command)
        self.run_command("sub-track", "analyze", "--tf", f"{name}.csv", "-f", "json", "-o", f"{name}.json", command=command)

    def test_tests_of_commands_pass_with_it(self):
        environment = {**os.environ, "GPUT_COMMAND": str(BUILD / "gpu-tracker")}
        failed = []
        for program in PROGRAMS:
            done = subprocess.run(
                [sys.executable, SOURCE / "tests/cli" / f"test_{program}.py"], env=environment, capture_output=True, text=True
            )
            if done.returncode != 0:
                failed += [f"{program}: {part}" for part in done.stdout.split("\nnot ok ")[1:]] or [program + done.stderr]
        self.assertEqual(failed, [], "\n".join(failed))

    def test_it_is_in_the_file_and_in_what_is_made_of_it(self):
        self.track("new")
        with open(os.path.join(self.folder.name, "new.csv")) as file:
            self.assertEqual(file.read().split("\n")[2].split(",")[-1], NAME)
        self.assertIn(f'"{NAME}"', self.run_command("sub-track", "analyze", "--tf", "new.csv", "-f", "json"))
        self.run_command("plot", "new.csv", f"--figures={NAME}", "-o", "-")

    def test_sessions_with_and_without_it_are_compared_and_plotted(self):
        old = WHOLE / "gpu-tracker"
        self.track("with")
        self.track("without", command=old)
        for command in (old, BUILD / "gpu-tracker"):
            for order in ("with", "without"), ("without", "with"):
                maps = [word for name in order for word in ("-m", f"{name}={name}.json")]
                compared = self.run_command("sub-track", "compare", *maps, "-f", "csv", command=command)
                values = {tuple(line.split(",")[1:5]) for line in compared.splitlines() if NAME in line}
                self.assertEqual({row[2] for row in values}, {"with", "without"})
            self.run_command("plot", "with.csv", "without.csv", "-o", "-", command=command)
            self.run_command("sub-track", "analyze", "--tf", "with.csv", command=command)


if __name__ == "__main__":
    tap.main()
