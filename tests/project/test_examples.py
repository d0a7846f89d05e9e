"""The examples in the public headers compile, as C and as C++.

An example is what is indented by four in the comment that opens a header. It becomes the body of a function, whose
parameters are what an example takes for granted.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

INCLUDE = pathlib.Path(os.environ["GPUT_SOURCE"]) / "include"

PROGRAM = """#include <gputracker/gputracker.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
void work(void);
void load(void);
void train(void);
void use(double);
void example(struct gput_session *, struct gput_results *, struct gput_analysis *, struct gput_tables *,
    struct gput_doctor *);
void example(struct gput_session *session, struct gput_results *results, struct gput_analysis *analysis,
    struct gput_tables *tables, struct gput_doctor *doctor)
{
    struct gput_error error;
    (void)error, (void)session, (void)results, (void)analysis, (void)tables, (void)doctor;
    {
EXAMPLE
    }
}
"""


def example_of(header):
    """The paragraphs of the first comment that are indented by four."""
    comment = re.match(r"/\*(.*?)\*/", header.read_text(), re.S)[1]
    paragraphs = re.split(r"^ \*$", comment, flags=re.M)
    code = (text.strip("\n") for text in paragraphs if re.match(r"\n \*     \S", text))
    return "\n".join(re.sub(r"^ \*", "", text, flags=re.M) for text in code)


class Examples(unittest.TestCase):
    def compile_each(self, compiler, *language):
        count = 0
        for header in sorted((INCLUDE / "gputracker").glob("*.h")):
            example = example_of(header)
            if not example:
                continue
            count += 1
            program = PROGRAM.replace("EXAMPLE", example)
            with self.subTest(header=header.name):
                done = subprocess.run(
                    [compiler, *language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", INCLUDE, "-"],
                    input=program,
                    capture_output=True,
                    text=True,
                )
                self.assertEqual(done.returncode, 0, done.stderr + program)
        self.assertGreater(count, 15)

    def test_as_c(self):
        self.compile_each(os.environ.get("CC", "cc"), "-x", "c", "-std=c17")

    def test_as_cpp(self):
        compiler = os.environ.get("CXX", "c++")
        if not shutil.which(compiler):
            self.skipTest("no C++ compiler here")
        self.compile_each(compiler, "-x", "c++", "-std=c++17")


if __name__ == "__main__":
    tap.main()
