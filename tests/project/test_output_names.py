"""The names in the outputs of analyses, energy, jobs and training are those that docs/figures.md lists."""

import cProfile
import csv
import io
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
BUILD = pathlib.Path(os.environ["GPUT_BUILD"])
COMMAND = os.environ["GPUT_COMMAND"]
FIXTURES = SOURCE / "tests" / "fixtures"
sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[1] / "cli")]
import tap
from analysis_files import MEASUREMENTS, call, row, write_marks, write_tracking

# Where the sources have the names that not every output has.
WRITERS = [path for folder in ("analysis", "files/trace", "model", "views/jobs", "views/output") for path in (SOURCE / "src" / folder).rglob("*.c")]
# Members that are named after what was measured: sessions, code blocks, measurements, ranges of a GPU's use, causes of waits.
OF_THE_USER = {*MEASUREMENTS, "combined_swapped_ram", "before", "after", "load", "train", "wait", "intel_power", "total_dram_power", "per_process_mem_use_abs"}
RANGE_OR_CAUSE = re.compile(r"\(\d+, \d+\)|time_\w+_percent")
# command: its runs, with the options that add names.
RUNS = {
    "sub-track analyze": ["--tf t.csv --stf m.csv --details --by process", "--tf t.csv --stf m.csv --details --by process -f csv",
                          "--tf run.sqlite --stf b.gputblocks --details --by thread", "--tf run.sqlite --stf b.gputblocks -f csv"],
    "sub-track compare": ["--relative -m before=a.json -m after=a.json", "-m before=a.json -m before=a.json -m after=a.json -m after=a.json",
                          "-f csv -m before=a.json -m after=a.json"],
    "job": ["run.sqlite", "-f csv run.sqlite"],
    "energy summary": ["rec"],
    "energy curve": ["rec intel_power", "rec intel_power -f csv"],
    "profile job": ["root"],
    "profile steps": ["root", "--by framework_metric root", "--by process root"],
    "profile phases": ["root"],
    "profile utilization": ["root --by training_phase --by dimension"],
    "profile devices": ["root"],
    "profile dataloader": ["root"],
    "profile metrics": ["root"],
    "profile python top": ["p.prof"],
    "profile python list": ["p.prof"],
    "pytorch breakdown": ["rank0.json"],
    "pytorch kernels": ["rank0.json"],
    "pytorch idle": ["rank0.json"],
    "pytorch diff": ["rank0.json rank0.json"],
}


def listed():
    """{command: names}. gpu_{a,b} stands for two."""
    section = (SOURCE / "docs/figures.md").read_text().split("## Names in outputs")[1].split("\n## ")[0]
    names = {}
    for command, cell in re.findall(r"(?m)^\| `([^`]+)` \| (.*) \|$", section):
        names[command] = set()
        for name in re.findall(r"`([^`]+)`", cell):
            parts = [part.split(",") for part in re.split(r"[{}]", name)]
            names[command] |= {"".join(each) for each in itertools.product(*parts)}
    return names


def members(value):
    """All keys, at every depth."""
    if isinstance(value, dict):
        return set(value).union(*map(members, value.values()))
    return set().union(*map(members, value)) if isinstance(value, list) else set()


def columns(text):
    return set(next(csv.reader(io.StringIO(text))))


class OutputNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        write_tracking(cls.folder / "t.csv", [row(second) for second in range(10)])
        write_marks(cls.folder / "m.csv", call(7, "load", 0, 2) + call(7, "train", 2, 8))
        cls.run_command("sub-track analyze --tf t.csv --stf m.csv -f json -o a.json")
        marks = os.environ | {"GPUT_BLOCKS_FILE": str(cls.folder / "b.gputblocks"), "GPUT_BLOCK_EXACT": "1"}
        cls.run_command("run -q --st 0.02 --tf run.sqlite --", BUILD / "examples" / "mark-blocks", "0.1", env=marks)
        cpu = {"intel_power": 40.0, "total_dram_power": 2.0, "per_process_mem_use_abs": {"7": 3e8}}
        lines = [json.dumps({"date": f"2023-06-30 16:32:{second:02}", "metrics": {"cpu": cpu, "gpu": {}}}) for second in range(60)]
        (cls.folder / "rec").mkdir()
        (cls.folder / "rec" / "power_metrics.json").write_text("\n".join(lines) + "\n")
        profile = cProfile.Profile()
        profile.runcall(sorted, range(9))
        profile.dump_stats(cls.folder / "p.prof")
        (cls.folder / "root").symlink_to(FIXTURES / "trace-root")
        (cls.folder / "rank0.json").symlink_to(FIXTURES / "trace-kineto" / "rank0.json")

    @classmethod
    def run_command(cls, words, *more, **options):
        done = subprocess.run([COMMAND, *words.split(), *more], cwd=cls.folder, capture_output=True, text=True, timeout=120, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def outputs(self, command):
        found = set()
        for run in RUNS[command]:
            if "-f csv" in run:
                found |= columns(self.run_command(f"{command} {run}"))
            else:
                found |= members(json.loads(self.run_command(f"{command} -f json {run}")))
        return {name for name in found - OF_THE_USER if not RANGE_OR_CAUSE.fullmatch(name)}

    def setUp(self):
        done = subprocess.run([COMMAND, "profile", "job", str(FIXTURES / "trace-root")], capture_output=True, text=True)
        self.has_training = done.returncode == 0

    def test_every_name_is_listed_and_every_listed_name_is_there(self):
        names, sources = listed(), "\n".join(path.read_text() for path in WRITERS)
        self.assertEqual(set(names), set(RUNS))
        for command in RUNS:
            if not self.has_training and command.startswith(("profile", "pytorch")):
                continue
            with self.subTest(command=command):
                found = self.outputs(command)
                self.assertEqual(found - names[command], set(), "not listed")
                for name in names[command] - found:
                    # In quotes, or as what a macro makes a row of.
                    self.assertRegex(sources, rf'"{name}"|\b[A-Z_]+\({name}\b', "listed, in no output and no source")


if __name__ == "__main__":
    tap.main()
