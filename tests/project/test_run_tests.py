"""Which tests tools/run-tests.py runs after a run elsewhere: those that it does not know to have passed whole."""

import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

TOOLS = pathlib.Path(os.environ["GPUT_SOURCE"]) / "tools"
BUILD = os.environ["GPUT_BUILD"]
sys.path.insert(0, str(TOOLS))
spec = importlib.util.spec_from_file_location("run_tests", TOOLS / "run-tests.py")
run_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_tests)


class LeftBy(unittest.TestCase):
    def left_by(self, **said):
        """{program: (meson's result, its output)}"""
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "testlog.json"
            lines = [{"name": f"gpu-tracker:whole / {name}", "result": result, "stdout": text, "duration": 1}
                     for name, (result, text) in said.items()]  # fmt: skip
            log.write_text("".join(json.dumps(line) + "\n" for line in lines))
            return run_tests.left_by(BUILD, log)

    def test_what_passed_whole_is_not_run_again(self):
        every = self.left_by()
        self.assertGreater(len(every), 50)
        passed = ("OK", "ok 1 - a\nok 2 - b\n1..2\n")
        self.assertEqual(set(every) - set(self.left_by(**{"cli/run": passed, "cli/docs": passed})), {"cli/run", "cli/docs"})

    def test_what_failed_or_was_skipped_even_in_part_is(self):
        for result, text in ("OK", "ok 1 - a\nok 2 - b # SKIP no npm\n"), ("OK", "ok 1 - a\n# skipped: b\n"), ("FAIL", "not ok 1 - a\n"), (
                "TIMEOUT", "ok 1 - a\n"), ("SKIP", "1..0 # SKIP\n"):
            with self.subTest(result=result):
                self.assertIn("cli/run", self.left_by(**{"cli/run": (result, text)}))


tap.main()
