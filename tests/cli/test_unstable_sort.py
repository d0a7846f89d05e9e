"""Commands with a qsort() that reverses what compares equal: what they write is the same."""

import json
import os
import re
import subprocess
import sys
import unittest

from analysis_files import call, row, write_marks, write_tracking
from command import BUILD, COMMAND, PATIENCE, SANITIZED, SOURCE, main
from job_test import JobTest
from report_data import use_page

UNSTABLE = BUILD / "tests" / "unstable-sort.so"


@unittest.skipIf(SANITIZED, "AddressSanitizer must be loaded first")
class UnstableSort(JobTest):
    def setUp(self):
        super().setUp()
        use_page(self)

    def end(self, *words, **environment):
        """Its exit status, what it prints, and the file that it writes."""
        output = self.folder / (words[words.index("-o") + 1] if "-o" in words else "none")
        output.unlink(missing_ok=True)
        done = subprocess.run([COMMAND, *map(str, words)], cwd=self.folder, env=os.environ | environment, capture_output=True, timeout=PATIENCE)
        written = output.read_text() if output.exists() else ""
        return done.returncode, done.stdout.decode(), done.stderr.decode(), re.sub(r'"created": [0-9.]+', '"created": 0', written)

    def assert_same(self, *words, status=0):
        stable = self.end(*words)
        self.assertEqual(stable[0], status, stable)
        self.assertTrue(stable[1] or stable[3])
        self.assertEqual(self.end(*words, LD_PRELOAD=str(UNSTABLE)), stable)

    def test_it_reverses_what_compares_equal(self):
        program = ("import ctypes; libc = ctypes.CDLL(None); compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p); "
                   "items = (ctypes.c_int * 4)(1, 2, 3, 4); libc.qsort(items, 4, 4, compare(lambda a, b: 0)); print(*items)")
        done = subprocess.run([sys.executable, "-c", program], env=os.environ | {"LD_PRELOAD": str(UNSTABLE)}, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.stdout, done.stderr), ("4 3 2 1\n", ""))

    def session(self, name, scale=1.0):
        """With blocks, calls and samples of which many are the same in what they are sorted by."""
        write_tracking(self.folder / f"{name}.csv", [row(second % 3 + 0.25, scale)[:-1] + [row(second / 2)[-1]] for second in range(20)])
        marks = [mark for name in ("b", "a", "d", "c") for at in range(4) for mark in call(7 + at % 2, name, 2 * at, 2 * at + 1.5)]
        write_marks(self.folder / f"{name}-marks.csv", marks)
        return f"--tf={name}.csv", f"--stf={name}-marks.csv"

    def test_analyses_and_comparisons(self):
        files = self.session("one"), self.session("two", 1.5)
        for kind in "json", "text", "summary", "csv":
            self.assert_same("sub-track", "analyze", *files[0], "-f", kind)
        for i, pair in enumerate(files):
            self.end("sub-track", "analyze", *pair, "-f", "json", "-o", f"{i}.json")
        for kind in "json", "text", "summary", "csv", "svg":
            self.assert_same("sub-track", "compare", "-m", "one=0.json", "-m", "two=1.json", "-f", kind, "-o", "out", "--fail-if", "max main_ram > 0.5", status=3)

    def test_timelines_and_reports(self):
        self.session("one")
        self.assert_same("timeline", "merge", "one.csv", "one-marks.csv", "-o", "out")
        self.assert_same("plot", "one.csv", "-o", "out.svg")
        for kind in "json", "speedscope", "collapsed":
            self.assert_same("report", "one.csv", "one-marks.csv", "-f", kind, "-o", "out")

    def test_jobs(self):
        for rank in range(4):
            self.rank(rank, machine=f"n{rank % 2}", cpu=22.5, identity={"exit_status": rank % 2})
        for kind in "summary", "json", "csv":
            self.assert_same("job", ".", "-f", kind)

    def test_profiles(self):
        trace = SOURCE / "tests" / "fixtures" / "trace-kineto"
        for words in ("pytorch", "breakdown"), ("profile", "kernels"):
            self.assert_same(*words, trace)

    def test_what_a_command_used(self):
        shapes = []
        for environment in {}, {"LD_PRELOAD": str(UNSTABLE)}:
            done = self.end("run", "--processes", "-f", "json", "-o", "out", "--", "true", **environment)
            self.assertEqual(done[0], 0, done)
            shapes.append(list(self.paths(json.loads(done[3]))))
        self.assertEqual(shapes[1], shapes[0])

    def paths(self, value, path=""):
        """Of the members of a report, in their order."""
        yield path
        if isinstance(value, dict):
            for name, member in value.items():
                if name != "sources":  # these say what happened on the way
                    yield from self.paths(member, f"{path}.{name}")


if __name__ == "__main__":
    main()
