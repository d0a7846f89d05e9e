"""What pip installs (all with the install tag python-runtime): whole, and running from where it lies."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
BUILD = pathlib.Path(os.environ["GPUT_BUILD"])
IMPORT_ALL = """
import gpu_tracker, site, sys
print(gpu_tracker.__file__, gpu_tracker.__version__)
site.addsitedir(sys.argv[1])
import deep_learning_power_measure, ipygpulogger
print(deep_learning_power_measure.__file__)
"""


def python_files(folder):
    found = {path.relative_to(folder) for path in folder.rglob("*.py*") if "__pycache__" not in path.parts}
    return {path for path in found if path.suffix in (".py", ".pyi") or path.name == "py.typed"}


@unittest.skipUnless((BUILD / "python/gpu_tracker").exists(), "this build has no Python package")
class PythonPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        command = ["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet", "--tags", "python-runtime"]
        subprocess.run(command + ["--destdir", cls.folder.name], check=True, stdout=subprocess.DEVNULL)
        cls.packages = next(pathlib.Path(cls.folder.name).rglob("gpu_tracker/__init__.py")).parents[1]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_python(self, *arguments):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.packages), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)

    def test_every_python_file_is_in_it(self):
        package = {path for path in python_files(self.packages) if path.parts[:2] != ("gpu_tracker", "collectors")}
        self.assertEqual(python_files(SOURCE / "python"), package)

    def test_nothing_else_is_in_it(self):
        others = {path.name for path in self.packages.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyi")}
        collectors = {path.name for path in BUILD.glob("collectors/*.so")}
        self.assertEqual(others, {"_native.abi3.so", "gpu-tracker", "gpu_tracker_aliases.pth", "py.typed"} | collectors)

    def test_the_collectors_are_in_it(self):
        if not (BUILD / "collectors" / "python").exists():
            self.skipTest("this build has no collectors")
        hooks = python_files(SOURCE / "collectors/python")
        self.assertEqual(hooks, python_files(self.packages / "gpu_tracker/collectors/python"))

    def test_it_imports_with_the_aliases_of_older_packages(self):
        result = self.run_python("-c", IMPORT_ALL, str(self.packages))
        self.assertEqual(result.stderr, "")
        for line in result.stdout.splitlines():
            self.assertTrue(line.startswith(str(self.packages)), line)

    def test_mixed_with_the_older_package_it_says_what_to_do(self):
        file = self.packages / "gpu_tracker/_helper_classes.py"
        file.touch()
        self.addCleanup(file.unlink)
        result = self.run_python("-c", "import gpu_tracker")
        self.assertIn("ImportError: The older package gpu-tracker", result.stderr)
        self.assertIn("pip uninstall gpu-tracker gputracker", result.stderr)

    def test_its_command_runs(self):
        result = self.run_python("-m", "gpu_tracker", "--version")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(result.stdout.split()[-1], (BUILD / "meson-info/intro-projectinfo.json").read_text())


tap.main()
