"""The compilers that the environment names, as make takes them: "ccache gcc" is two words."""

import os
import shlex
import shutil


def compiler_words(variable, usual):
    return shlex.split(os.environ.get(variable, "")) or [usual]


class CompilesAsBoth:
    """Tests that have `compile_all(command)`: with a C compiler, and with one of C++ where there is one."""

    def test_as_c(self):
        self.compile_all([*compiler_words("CC", "cc"), "-x", "c", "-std=c17"])

    def test_as_cpp(self):
        words = compiler_words("CXX", "c++")
        if not shutil.which(words[0]):
            self.skipTest("no C++ compiler here")
        self.compile_all([*words, "-x", "c++", "-std=c++17"])
