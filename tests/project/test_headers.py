"""Each public header is installed, and compiles alone, as C and as C++."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap
from compilers import CompilesAsBoth

INCLUDE = pathlib.Path(os.environ["GPUT_SOURCE"]) / "include"


class Headers(CompilesAsBoth, unittest.TestCase):
    def compile_all(self, compiler):
        headers = sorted((INCLUDE / "gputracker").glob("*.h"))
        self.assertTrue(headers)
        for header in headers:
            with self.subTest(header=header.name):
                done = subprocess.run(
                    [*compiler, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I", INCLUDE, "-"],
                    input=f"#include <gputracker/{header.name}>\n",
                    capture_output=True,
                    text=True,
                )
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_is_installed(self):
        listed = re.findall(r"'(\w+\.h)'", (INCLUDE / "gputracker" / "meson.build").read_text())
        self.assertEqual(sorted(listed), sorted(header.name for header in (INCLUDE / "gputracker").glob("*.h")))

    def test_each_is_in_the_list_of_the_first_one(self):
        comment = (INCLUDE / "gputracker/gputracker.h").read_text().split("*/")[0]
        listed = re.findall(r"\w+\.h\b", comment.split("A function that can fail")[0])
        self.assertEqual(sorted(listed), sorted({header.name for header in (INCLUDE / "gputracker").glob("*.h")} - {"gputracker.h"}))


if __name__ == "__main__":
    tap.main()
