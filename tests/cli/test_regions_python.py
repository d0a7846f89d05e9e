"""gpu-tracker run --regions=python:…: calls of chosen functions, in each Python that is installed."""

import collections
import csv
import functools
import json
import os
import pathlib
import subprocess
import sys

from command import BUILD, PATIENCE, CommandTest, main
from region_rows import check_nesting

DROPPED = ("NVTX_", "INTEL_", "GPUT_REGION", "PYTHON")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}

SCRIPT = """
import asyncio, json, threading
class Model:
    def forward(self, depth):
        if depth:
            self.forward(depth - 1)
def step():
    json.dumps([1])
def numbers():
    yield 1
    yield 2
def fails():
    raise ValueError
async def waits():
    await asyncio.sleep(0.001)
async def both():
    await asyncio.gather(waits(), waits())
def not_named():
    return [each for each in numbers()]
for _ in range(3):
    step()
Model().forward(2)
not_named()
try:
    fails()
except ValueError:
    pass
asyncio.run(both())
thread = threading.Thread(target=step)
thread.start()
thread.join()
"""


@functools.cache
def interpreters():
    """One of each version from 3.9 on that can be started."""
    found = {}
    folders = [*os.get_exec_path(), *map(str, pathlib.Path.home().glob(".pyenv/versions/3.*/bin"))]
    for path in [sys.executable, *(f"{folder}/python3" for folder in folders)]:
        try:
            done = subprocess.run(
                [path, "-c", "import sys, ctypes; print(*sys.version_info[:2])"], capture_output=True, text=True, timeout=PATIENCE
            )
        except OSError:
            continue
        if done.returncode == 0 and (version := tuple(map(int, done.stdout.split()))) >= (3, 9):
            found.setdefault(version, path)
    return found


class Python(CommandTest):
    def setUp(self):
        if not (BUILD / "collectors" / "libgputracker-python.so").exists():
            self.skipTest("this build has no collectors")
        super().setUp()
        (self.folder / "train.py").write_text(SCRIPT)

    def record(self, interpreter, functions, environment=None):
        done = self.run_command(
            *("run", f"--regions=python:{functions}", "-q", "--overwrite", "--region-file", "marks.csv", "--", interpreter, "train.py"),
            env=ENVIRONMENT | (environment or {}),
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.folder / "marks.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(check_nesting(self, rows)[2], [])
        return dict(collections.Counter(row["code_block_name"] for row in rows if row["position"] == "1")), done.stdout

    def test_each_version(self):
        for version, interpreter in interpreters().items():
            with self.subTest(version=version):
                calls, _ = self.record(interpreter, "train.step,json.dumps,train.fails,train.numbers,train.*waits,train.*forward")
                method = "Model.forward" if version >= (3, 11) else "forward"
                self.assertEqual(
                    calls,
                    {"python:train/step": 4, "python:json/dumps": 4, "python:train/fails": 1, "python:train/numbers": 3}
                    | {"python:train/waits": 4, f"python:train/{method}": 3},
                )

    def test_the_users_own_hook_is_imported(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "sitecustomize.py").write_text("import sys\nprint('mine', [e for e in sys.path if 'collectors' in e])\n")
        calls, printed = self.record(sys.executable, "train.step", {"PYTHONPATH": str(self.folder / "mine")})
        self.assertEqual(calls, {"python:train/step": 4})
        self.assertEqual(printed, "mine []\n")

    def notes(self, functions, *command):
        done = self.run_command("run", f"--regions=python:{functions}", "-f", "json", "-o", "report.json", "--overwrite", "--", *command, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "report.json").read_text())["regions"].get("notes", [])

    def test_functions_that_were_not_called_are_named(self):
        for version, interpreter in interpreters().items():
            with self.subTest(version=version):
                self.assertEqual(self.notes("__main__.step,json.dumps,train.n*", interpreter, "train.py"), [])
                self.assertEqual(
                    self.notes("nosuch.fn,json.dumps,train.x*", interpreter, "train.py"),
                    ["python: no function written in Python was called that matches nosuch.fn, train.x*."],
                )
                self.assertEqual(self.notes("nosuch.fn", interpreter, "train.py"), ["python: no function written in Python was called that matches nosuch.fn."])
        self.assertEqual(
            self.notes("json.dumps", sys.executable, "-I", "train.py"), ["python: no Python with start-up hooks ran (-I, -E and -S switch them off)."]
        )

    def test_a_program_that_watches_itself_goes_on(self):
        (self.folder / "train.py").write_text("import cProfile\ndef step():\n    pass\ncProfile.run('step()')\nstep()\n")
        done = self.run_command("run", "--regions=python:train.step", "-q", "--", sys.executable, "train.py", env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    interpreters()  # before the forks, each of which would start all of them
    main()
