"""Which tests tools/run-tests.py runs after a run elsewhere: those that it does not know to have passed whole. Which tests.tap runs at once."""

import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest
import unittest.mock

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


class AtOnce(unittest.TestCase):
    """On a machine without a free processor."""

    def run_two(self, body, **members):
        """The lines of two tests of a class, each of which is body(self, name)."""
        tests = {f"test_{name}": lambda self, name=name: body(self, name) for name in "ab"}
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(type("Case", (unittest.TestCase,), tests | members))
        with unittest.mock.patch.object(tap, "processor_is_free", return_value=False):
            return [line.partition(" ")[0] for line in tap.run(suite)]

    def test_tests_that_mostly_wait_run_together(self):
        with tempfile.TemporaryDirectory() as folder:

            def meet(test, name):
                pathlib.Path(folder, name).touch()
                end = time.monotonic() + 60
                while len(os.listdir(folder)) < 2:
                    test.assertLess(time.monotonic(), end, "the other did not come")
                    time.sleep(0.01)

            self.assertEqual(self.run_two(meet, MOSTLY_WAITS=True), ["ok", "ok"])

    def test_others_run_one_by_one(self):
        with tempfile.TemporaryDirectory() as folder:

            def be_alone(test, name):
                test.assertEqual(os.listdir(folder), [])
                pathlib.Path(folder, name).touch()
                time.sleep(0.1)
                pathlib.Path(folder, name).unlink()

            self.assertEqual(self.run_two(be_alone), ["ok", "ok"])


tap.main()
