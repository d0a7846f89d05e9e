"""The installed library as other languages' compilers see it."""

import shutil
import subprocess
import unittest

from command import BUILD, SANITIZED, SOURCE, CommandTest, main
from compilers import compiler_words

CALLER = r"""
#include <gputracker/gputracker.h>

#include <cstdio>
#include <string>

int main()
{
    gput_session_options options = gput_session_options_default();
    options.sleep_time_seconds = 0.01;
    gput_session *session = nullptr;
    gput_error error{};
    if (gput_session_create(&options, &session, &error) != GPUT_OK ||
        gput_session_track_self(session, &error) != GPUT_OK) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    std::string work(50000000, 'x');
    if (gput_session_stop(session, &error) != GPUT_OK)
        return 2;
    gput_results *results = nullptr;
    if (gput_session_results(session, &results, &error) != GPUT_OK)
        return 3;
    gput_session_destroy(session);
    std::printf("%s %d %d\n", gput_measurement(GPUT_MAIN_RAM)->name,
        gput_results_max(results, GPUT_MAIN_RAM) > work.size(), gput_results_number(results, "max.main_n_threads") == 1);
    gput_results_destroy(results);
    return 0;
}
"""
COMPILER = compiler_words("CXX", "c++")


class FromOtherLanguages(CommandTest):
    @unittest.skipUnless(shutil.which(COMPILER[0]), "needs a C++ compiler")
    @unittest.skipIf(SANITIZED, "sanitized libraries need a sanitized program around them")
    def test_cxx_can_call_it(self):
        (self.folder / "caller.cpp").write_text(CALLER)
        subprocess.run(
            [*COMPILER, "-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c++17", "-I", SOURCE / "include", "caller.cpp",
             "-L", BUILD, "-lgputracker", f"-Wl,-rpath,{BUILD}", "-o", "caller"], cwd=self.folder, check=True)
        done = subprocess.run([self.folder / "caller"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "main_ram 1 1\n", ""))
        self.assert_folder_is("caller", "caller.cpp")


if __name__ == "__main__":
    main()
