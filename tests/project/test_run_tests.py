"""What tools/run-tests.py runs after a run elsewhere and once more, and what tests/tap.py runs at once and leaves running: nothing."""

import importlib.util
import json
import os
import pathlib
import subprocess
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

    def test_what_passed_here_is_left_out_though_tests_of_it_were_skipped(self):
        with tempfile.TemporaryDirectory() as folder:
            logs = [pathlib.Path(folder, name) for name in ("elsewhere", "here", "missing")]
            skipped = {"result": "OK", "stdout": "ok 1 - a\nok 2 - b # SKIP no npm\n", "duration": 1}
            failed = {"result": "ERROR", "stdout": "not ok 1 - a\n", "duration": 1}
            for log, last in (logs[0], skipped), (logs[1], failed):
                lines = [{"name": f"gpu-tracker:whole / cli/{name}", **said} for name, said in (("run", skipped), ("docs", last))]
                log.write_text("".join(json.dumps(line) + "\n" for line in lines))
            left = run_tests.left_by_all(BUILD, *logs[:2])
            self.assertEqual((left.get("cli/run"), left.get("cli/docs")), (None, ["b"]))
            self.assertEqual(run_tests.left_by_all(BUILD, logs[0])["cli/run"], ["b"])
            self.assertGreater(len(run_tests.left_by_all(BUILD, logs[2], logs[1])), 50)

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

    def test_of_what_was_skipped_in_part_the_tests_are_named(self):
        text = "ok 1 - A.test_a\nok 2 - A.test_b # SKIP not root\nok 3 - B.test_c (name='x') # SKIP no npm\n"
        self.assertEqual(self.left_by(**{"cli/run": ("OK", text)})["cli/run"], ["A.test_b", "B.test_c"])
        for result, text in ("FAIL", "ok 1 - a # SKIP no npm\nnot ok 2 - b\n"), ("OK", "ok 1 - a\n# skipped: b\n"):
            self.assertFalse(self.left_by(**{"cli/run": (result, text)})["cli/run"], "it is to run whole")


class Only(unittest.TestCase):
    """What tests/tap.py runs of a program when tests are named."""

    def run_script(self, only):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "cli", "test_it.py")
            script.parent.mkdir()
            script.write_text("import sys, unittest\nsys.path.insert(0, sys.argv.pop())\nimport tap\n"
                              "class A(unittest.TestCase):\n"
                              "    @classmethod\n    def setUpClass(cls): cls.made = True\n"
                              "    def test_a(self): pass\n    def test_b(self): self.assertTrue(self.made)\n"
                              "class B(unittest.TestCase):\n    def test_a(self): pass\n"
                              "tap.main()\n")  # fmt: skip
            wanted = pathlib.Path(folder, "only.json")
            wanted.write_text(json.dumps(only))
            done = subprocess.run([sys.executable, script, TOOLS.parent / "tests"], env=os.environ | {"GPUT_ONLY_TESTS": str(wanted)},
                                  capture_output=True, text=True, timeout=60)  # fmt: skip
            return sorted(line.partition(" - ")[2] for line in done.stdout.splitlines() if line.startswith("ok"))

    def test_tests_that_are_named_run_alone(self):
        self.assertEqual(self.run_script({"cli/it": ["A.test_b"]}), ["A.test_b"])
        self.assertEqual(self.run_script({"cli/it": ["A.test_b", "A.test_b", "B.test_a"]}), ["A.test_b", "B.test_a"])

    def test_all_run_where_none_is_named_or_one_is_unknown(self):
        for only in {}, {"cli/it": []}, {"cli/run": ["A.test_b"]}, {"cli/it": ["A.test_b", "(__main__.B)"]}:
            with self.subTest(only=only):
                self.assertEqual(self.run_script(only), ["A.test_a", "A.test_b", "B.test_a"])


class Order(unittest.TestCase):
    def in_order(self, names, options, touched):
        with unittest.mock.patch.object(run_tests.changed_tests, "choose", return_value=touched):
            return run_tests.in_order(BUILD, names, options)

    @unittest.skipUnless((TOOLS.parent / ".git").exists(), "not a clone")
    def test_what_changed_is_run_first_and_the_rest_after_it(self):
        first, rest = self.in_order([], ["--no-rebuild"], ["base/str", "cli/run"])
        self.assertEqual(first, ["base/str", "cli/run"])
        self.assertEqual(set(first) | set(rest), run_tests.programs_of(BUILD))
        self.assertFalse(set(first) & set(rest))

    def test_what_is_named_is_run_alone_and_all_where_nothing_changed(self):
        self.assertEqual(self.in_order(["cli/run"], [], ["base/str"]), [["cli/run"]])
        self.assertEqual(self.in_order([], ["--suite", "unit"], ["base/str"]), [[]])
        self.assertEqual(self.in_order([], ["--no-rebuild"], []), [[]])


class Named(unittest.TestCase):
    """By a build folder in which `meson test` is a program of ours: it says what it was given, and has run what the test wants."""

    def run_tests(self, *words, ran, again=(), status=0):
        """The exit status of run-tests.py, what it printed, and what meson got after the options that are always there."""
        with tempfile.TemporaryDirectory() as folder:
            logs = pathlib.Path(folder) / "meson-logs"
            logs.mkdir()
            for number, of_run in enumerate((ran, again), 1):
                log = [json.dumps({"name": f"gpu-tracker:whole / {name}", "result": result, "stdout": f"{line} 1 - a\n1..1\n", "duration": 1})
                       for name, result, line in of_run]  # fmt: skip
                (pathlib.Path(folder) / f"run{number}").write_text("".join(line + "\n" for line in log))
            meson = pathlib.Path(folder) / "meson"
            meson.write_text(f"#!/bin/sh\ncd {folder}\n[ ! -e given1 ]\nn=$(($? + 1))\nprintf '%s\\n' \"$@\" > given$n\ncp run$n {logs}/testlog.json\n"
                             f"exit {status}\n")  # fmt: skip
            meson.chmod(0o755)
            environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
            done = subprocess.run([sys.executable, TOOLS / "run-tests.py", folder, *words], env=environment, capture_output=True, text=True)
            given = (pathlib.Path(folder) / "given1").read_text().split()
            self.again = pathlib.Path(folder, "given2").read_text().split()[-2:] if pathlib.Path(folder, "given2").exists() else None
            self.assertEqual((logs / "testlog.json").read_text(), pathlib.Path(folder, "run1").read_text())
            return done.returncode, done.stdout, given[given.index("--no-rebuild") :]

    def test_a_program_runs_once(self):
        status, text, given = self.run_tests("a/b", "-t", "20", "a/c", "--suite", "unit", "a/b", ran=[("a/b", "OK", "ok"), ("a/c", "OK", "ok")])
        self.assertEqual(given, ["--no-rebuild", "-t", "20", "--suite", "unit", "a/b", "a/c"])
        self.assertEqual((status, text), (0, "2 passed, 0 failed\n"))

    def test_a_program_that_did_not_run_is_named(self):
        status, text, _ = self.run_tests("a/b", "a/c", ran=[("a/b", "OK", "ok")])
        self.assertEqual((status, text), (1, "1 passed, 0 failed, NOT RUN: a/c\n"))

    def test_a_harness_that_breaks_off_fails(self):
        status, text, _ = self.run_tests(ran=[("a/b", "OK", "ok")], status=2)
        self.assertEqual((status, text), (1, "1 passed, 0 failed, BROKEN OFF: meson test ended with 2\n"))

    FAILED = [("a/b", "FAIL", "not ok"), ("a/c", "OK", "ok")]

    def test_a_failure_is_said_once(self):
        status, text, _ = self.run_tests(ran=self.FAILED, again=self.FAILED[:1], status=1)
        self.assertEqual(self.again, ["--num-processes=1", "a/b"])
        self.assertEqual((status, text), (1, "Once more, alone: a/b\nFAILED a/b:\n  not ok 1 - a\n1 passed, 1 failed\n"))

    def test_what_passes_alone_is_flaky(self):
        status, text, _ = self.run_tests(ran=self.FAILED, again=[("a/b", "OK", "ok")], status=1)
        self.assertEqual((status, text), (0, "Once more, alone: a/b\nFLAKY a/b:\n  not ok 1 - a\n2 passed, 0 failed\n"))

    def test_more_than_three_do_not_run_again(self):
        status, text, _ = self.run_tests(ran=[(f"a/{i}", "FAIL", "not ok") for i in range(4)], status=1)
        self.assertEqual((status, self.again, text.splitlines()[-1]), (1, None, "0 passed, 4 failed"))

    def test_what_does_not_run_again_has_failed(self):
        status, text, _ = self.run_tests(ran=self.FAILED, status=1)
        self.assertEqual((status, text.splitlines()[-1]), (1, "1 passed, 1 failed"))


class Leftovers(unittest.TestCase):
    def test_a_process_that_a_test_left_is_ended(self):
        code = ("import subprocess, sys, unittest\nsys.path.insert(0, sys.argv.pop())\nimport tap\n"
                "class Case(unittest.TestCase):\n"
                "    def test_a(self): subprocess.Popen(['sh', '-c', 'sleep 1000 & exec sleep 1000'])\n"
                "    def test_b(self): pass\n"
                "tap.main()\n")  # fmt: skip
        done = subprocess.run([sys.executable, "-c", code, TOOLS.parent / "tests"], capture_output=True, text=True, timeout=60)
        self.assertEqual([line.partition(" - ")[0] for line in done.stdout.splitlines() if line[0] != "#"], ["ok 1", "ok 2", "1..2"], done)
        self.assertEqual((done.stdout.count("# left running: "), done.returncode), (2, 0))


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
