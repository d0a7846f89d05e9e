"""pytest --gput, and the marker gput_limit."""

import importlib.metadata
import importlib.util
import subprocess
import sys
import unittest

import package


@unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
class Plugin(package.PackageTest):
    def run_tests(self, code, *arguments):
        (self.folder / "test_it.py").write_text("import pytest, time\n" + code)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        if "gpu_tracker" not in {point.name for point in importlib.metadata.entry_points(group="pytest11")}:
            command += ["-p", "gpu_tracker.pytest_plugin"]
        return subprocess.run(command, capture_output=True, text=True, timeout=package.PATIENCE)

    def test_reports_each_test(self):
        done = self.run_tests("def test_big():\n    b = b'x' * 80_000_000\n    time.sleep(0.05)\ndef test_small(): pass\n", "--gput")
        self.assertEqual(done.returncode, 0, done.stdout)
        big = next(line for line in done.stdout.splitlines() if line.endswith("test_it.py::test_big"))
        self.assertTrue(70 < float(big.split()[0]) < 100, big)
        self.assertRegex(done.stdout, r"RAM peak +GPU RAM +CPU +time +test\n")
        self.assertIn("test_it.py::test_small\n", done.stdout)

    def test_is_silent_without_the_option(self):
        done = self.run_tests("def test_small(): pass\n")
        self.assertNotIn("gput", done.stdout)

    def test_limits(self):
        done = self.run_tests(
            "@pytest.mark.gput_limit(ram='50 MB')\ndef test_ram():\n    b = b'x' * 80_000_000\n    time.sleep(0.05)\n"
            "@pytest.mark.gput_limit(ram='2GiB', seconds=60)\ndef test_fine(): pass\n"
            "@pytest.mark.gput_limit(seconds=0.01)\ndef test_slow(): time.sleep(0.05)\n"
            "@pytest.mark.gput_limit(seconds=0.01)\ndef test_its_own_failure():\n    time.sleep(0.05)\n    assert False, 'own'\n",
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("3 failed, 1 passed", done.stdout)
        self.assertRegex(done.stdout, r"gput_limit: it needed [\d.]+ MB of RAM, and its limit is 50.0 MB")
        self.assertRegex(done.stdout, r"gput_limit: it took 0.\d+ s, and its limit is 0.01 s")
        self.assertIn("AssertionError: own", done.stdout)

    def test_wrong_limits_are_told(self):
        for arguments in "ram='much'", "cpu=3", "5":
            done = self.run_tests(f"@pytest.mark.gput_limit({arguments})\ndef test_it(): pass\n")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("gput_limit", done.stdout + done.stderr)

    def test_marker_is_known(self):
        done = self.run_tests("@pytest.mark.gput_limit(seconds=60)\ndef test_it(): pass\n", "--strict-markers")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    package.main()
