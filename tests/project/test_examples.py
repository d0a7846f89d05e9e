"""The examples in the public headers compile, as C and as C++.

An example is what is indented by four in the comment that opens a header. It becomes the body of a function, whose
parameters are what an example takes for granted.
"""

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

HEAD = """#include <gputracker/gputracker.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
void work(void);
void load(void);
void train(void);
void use(double);
"""
PARAMETERS = """(struct gput_session *session, struct gput_results *results, struct gput_analysis *analysis,
    struct gput_tables *tables, struct gput_doctor *doctor)"""
FUNCTION = """
void example_NUMBER PARAMETERS;
void example_NUMBER PARAMETERS
{
    struct gput_error error;
    (void)error, (void)session, (void)results, (void)analysis, (void)tables, (void)doctor;
    {
#line 1 "example of HEADER"
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


class Examples(CompilesAsBoth, unittest.TestCase):
    def compile_all(self, compiler):
        """In one run of the compiler; what it says has the header's name."""
        examples = {header.name: example_of(header) for header in sorted((INCLUDE / "gputracker").glob("*.h"))}
        program = HEAD
        for number, (header, example) in enumerate(examples.items()):
            if example:
                words = {"NUMBER": str(number), "PARAMETERS": PARAMETERS, "HEADER": header, "EXAMPLE": example}
                program += re.sub("|".join(words), lambda word: words[word[0]], FUNCTION)
        done = subprocess.run(
            [*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", INCLUDE, "-"],
            input=program,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(list(filter(None, examples.values()))), 15)


if __name__ == "__main__":
    tap.main()
