"""gpu_tracker.bench(): functions and commands that run repeatedly; %%gput_bench; the fixture gput_bench of pytest."""

import importlib.util
import json
import os
import pathlib
import sys
import unittest

import package
import gpu_tracker

HAS_PYTEST = importlib.util.find_spec("pytest") is not None
HAS_IPYTHON = importlib.util.find_spec("IPython") is not None


def small():
    return bytes(1000)


class Bench(package.PackageTest):
    def test_functions_are_compared(self):
        calls = []
        result = gpu_tracker.bench({"one": lambda: calls.append(1), "two": lambda: calls.append(2)}, runs=4, number=3, warmup=1)
        self.assertEqual((calls.count(1), calls.count(2)), (13, 13))
        self.assertEqual([variant["name"] for variant in result.variants], ["one", "two"])
        self.assertEqual(result["two"]["work"]["mean"], 3)
        self.assertEqual(len(result.runs), 8)
        self.assertEqual({row["base"] for row in result.comparisons}, {"one"})
        self.assertRegex(str(result), r"Wall time .*\n")
        self.assertIn("wall per call", str(result))
        if os.path.exists("/proc/thread-self/schedstat"):
            self.assertTrue(all(0 <= run["causes"]["cpu_wait"] <= 1 for run in result.runs))
            for figures in (run["figures"] for run in result.runs):
                self.assertGreater(figures["wall_without_wait_seconds"], 0)
                self.assertAlmostEqual(figures["wall_without_wait_seconds"], max(0, figures["wall_seconds"] - figures["wait_seconds"]))
            self.assertIn("without waits", str(result))
        self.assertIn("<pre>", result._repr_html_())
        self.assertEqual(repr(result), "<BenchResult of 2 variants, 8 runs>")

    def test_a_quick_function_is_called_often_in_a_run(self):
        result = gpu_tracker.bench(small, runs=2)
        self.assertGreater(result["small"]["work"]["mean"], 100)
        self.assertLess(result["small"]["wall_seconds_per_work"]["mean"], 0.001)

    def test_commands_have_parameters_and_a_baseline(self):
        result = gpu_tracker.bench("sh -c 'exit 0' {n}", runs=3, parameters={"n": [1, 2]})
        self.assertEqual([variant["name"] for variant in result.variants], ["n=1", "n=2"])
        path = pathlib.Path("main.json")
        result.save(path)
        again = gpu_tracker.bench(["sh", "-c", "exit 0", "1"], runs=3, baseline=path)
        self.assertEqual(again.data["baseline"]["file"], "main.json")
        self.assertIsNone(result.check("wall > 1000"))
        self.assertIn("holds", result.check("ram > 1000"))
        result.save("x.html")
        self.assertTrue(pathlib.Path("x.html").read_text().startswith("<!doctype html>"))
        result.save("y", format="hyperfine")
        self.assertEqual(len(json.loads(pathlib.Path("y").read_text())["results"]), 2)

    def test_what_cannot_run_is_an_exception(self):
        for subjects, options, kind, message in (
            ((), {}, ValueError, "Nothing to run"), ((small, "true"), {}, ValueError, "cannot be compared"), ((small,), {"runs": 0}, ValueError, "runs=0 is not"), ((small,), {"runs": "2"}, ValueError, "runs='2' is not"),
            (("nonsense-program",), {"runs": 2}, FileNotFoundError, "nonsense-program"), (("sh -c 'exit 3'",), {"runs": 2}, RuntimeError, "exit status 3"),
            (("'",), {}, ValueError, "quote"), (("true",), {"precision": -1}, ValueError, "precision"), (("true",), {"baseline": "no.json"}, FileNotFoundError, "no.json"),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                gpu_tracker.bench(*subjects, **options)
        with self.assertRaisesRegex(KeyError, "mine"):
            gpu_tracker.bench(lambda: {}["mine"], runs=2)
        result = gpu_tracker.bench("true", runs=2)
        with self.assertRaisesRegex(ValueError, "no figure"):
            result.check("nonsense > 1")
        with self.assertRaisesRegex(ValueError, "nothing to compare with"):
            result.check("wall > +5%")


@unittest.skipUnless(HAS_PYTEST, "pytest is not installed")
class Fixture(package.PackageTest):
    def run_tests(self, code, *arguments):
        import pytest

        pathlib.Path("test_it.py").write_text(code)
        command = ["-p", "no:cacheprovider", "-p", "gpu_tracker.pytest_plugin", *arguments]
        return package.run_forked(lambda: pytest.main(command), environment={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})

    def test_a_baseline_is_made_and_then_compared_with(self):
        code = "def test_it(gput_bench):\n    assert len(gput_bench(['sh', '-c', 'exit 0'], runs=4).runs) == 4\n"
        arguments = "--gput-baseline", "all.json", "--gput-fail-if"
        done = self.run_tests(code, *arguments, "ram > +5%")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(list(json.loads(pathlib.Path("all.json").read_text())), ["test_it.py::test_it"])
        grown = code.replace("'sh', '-c', 'exit 0'", f"{sys.executable!r}, '-S', '-c', 'x = bytearray(300000000)'")
        self.assertEqual(self.run_tests(grown, *arguments, "ram < -5%").returncode, 0)
        done = self.run_tests(grown, *arguments, "ram > +5%")
        self.assertEqual(done.returncode, 1)
        self.assertIn('"ram > +5%" holds', done.stdout)

    def test_a_rule_that_meets_no_figure_fails_the_test(self):
        done = self.run_tests("def test_it(gput_bench):\n    gput_bench('true', runs=3)\n", "--gput-fail-if", "work > +5%")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be checked", done.stdout)


def run_cell():
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    gpu_tracker.load_ipython_extension(shell)
    result = shell.run_cell("%%gput_bench --runs 3 --number 2\nx = [1]\n# --- first\nx.append(2)\n# --- second\nx.append(3)").result
    print([variant["name"] for variant in result.variants], len(result.runs), shell.user_ns["x"].count(3))
    shell.run_cell("%%gput_bench --nonsense\n1")


@unittest.skipUnless(HAS_IPYTHON, "IPython is not installed")
class Cell(package.PackageTest):
    def test_a_cell_is_split_into_variants(self):
        done = package.run_forked(run_cell)
        self.assertIn("['first', 'second'] 6 6", done.stdout, done.stderr)
        self.assertIn("--nonsense is no option", done.stdout + done.stderr)


if __name__ == "__main__":
    package.main()
