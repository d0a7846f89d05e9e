"""make test TESTS=changed chooses the programs that a change touches."""

import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests"))
sys.path.append(str(SOURCE / "tools"))
import changed_tests
import tap


class Chosen(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = changed_tests.programs_of(os.environ["GPUT_BUILD"], SOURCE)
        cls.texts = {name: file.read_text() for name, file in cls.programs.items() if file}

    def touched(self, path):
        self.assertTrue((SOURCE / path).exists(), path)
        return changed_tests.touched_by(path, self.programs, self.texts)

    def test_a_source_has_its_own_program_and_those_that_name_its_header(self):
        touched = self.touched("src/machine/os/proc_stat.c")
        self.assertLess({"machine/os/proc_stat", "cli/run"}, touched)
        self.assertNotIn("views/plot/axis", touched)
        self.assertIn("machine/process/ram_meter_bounds", self.touched("src/machine/process/ram_meter.c"))

    def test_a_part_that_a_command_is_named_after_has_that_command(self):
        self.assertLess({"services/serve/http_request", "cli/serve"}, self.touched("src/services/serve/http_request.c"))
        self.assertLess({"cli/analyze", "cli/run"}, self.touched("src/analysis/analyze/sweep.c"))

    def test_a_source_without_a_program_has_those_of_its_folder(self):
        named = self.touched("src/session/session_wait.c")
        self.assertLess({"session/session", "session/sampler/schedule"}, named)
        self.assertIn("session/sinks/sinks", self.touched("src/session/sinks/sink_push.c"))
        self.assertIn("session/ledger/ledger_totals", self.touched("src/session/ledger/ledger.h"))

    def test_a_test_is_alone_and_what_tests_share_has_all_that_use_it(self):
        self.assertEqual(self.touched("tests/cli/test_run.py"), {"cli/run"})
        self.assertLess({"cli/run", "cli/timeline"}, self.touched("tests/cli/command.py"))
        self.assertNotIn("cli/run", self.touched("tests/python/package.py"))
        self.assertLess({"python/notebook", "python/tracker"}, self.touched("tests/python/package.py"))

    def test_of_the_python_package(self):
        self.assertLess({"python/notebook", "python/pytest_plugin"}, self.touched("python/gpu_tracker/_meter.py"))
        self.assertIn("python/fleet", self.touched("python/gpu_tracker/fleet/merge.py"))
        # Whose name is also a word of most tests.
        touched = self.touched("python/gpu_tracker/tracker.py")
        self.assertLess({"python/package", "python/tracker", "python/tracker_own_process"}, touched)
        self.assertFalse({"cli/run", "session/session_ticks", "cli/labels", "project/python_package"} & touched, touched)
        self.assertIn("project/sinks", touched)
        # No program of C is about a module of the same name.
        self.assertFalse({"model/results_columns", "cli/report"} & self.touched("python/gpu_tracker/fleet/results.py"))

    def test_pages_are_run(self):
        self.assertEqual(self.touched("README.md"), {"project/links", "cli/docs", "cli/generated"})

    def test_every_place_names_programs_that_exist(self):
        names = set().union(*(names for _, names in changed_tests.BY_PLACE)) | changed_tests.ALWAYS
        folders = {name.partition("/")[0] for name in self.programs}  # a build may have no Python package
        self.assertLessEqual({name for name in names if name.partition("/")[0] in folders}, set(self.programs))


if __name__ == "__main__":
    tap.main()
