"""Only gput_ names leave the libraries."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

BUILD = pathlib.Path(os.environ["GPUT_BUILD"])


def exported(*arguments):
    text = subprocess.run(["nm", "--defined-only", *arguments], check=True, capture_output=True, text=True).stdout
    fields = (line.split() for line in text.splitlines())
    return {f[2] for f in fields if len(f) == 3 and f[1] in "TDBRVWi"}


class Symbols(unittest.TestCase):
    def check(self, names):
        self.assertIn("gput_version", names)
        self.assertEqual(sorted(n for n in names if not n.startswith("gput_")), [])

    def test_shared_library(self):
        self.check(exported("-D", str(BUILD / "libgputracker.so")))

    def test_static_library(self):
        if "-fsanitize" in (BUILD / "compile_commands.json").read_text():
            self.skipTest("the sanitizers' own names are in it")
        self.check(exported("-g", str(BUILD / "libgputracker.a")))


if __name__ == "__main__":
    tap.main()
