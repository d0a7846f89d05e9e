"""Types: the package's own code, and programs that use it, pass `mypy --strict`."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import package

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class Types(unittest.TestCase):
    def check(self, *words):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(
                [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *words],
                cwd=SOURCE, capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_package_itself(self):
        self.check("--config-file", "pyproject.toml")

    def test_programs_that_use_it(self):
        self.check("--config-file", os.devnull, "tests/python/typed.py")


if __name__ == "__main__":
    package.main()
