"""What pip installs (all with the install tag python-runtime): whole, and running from where it lies."""

import ast
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
BUILD = pathlib.Path(os.environ["GPUT_BUILD"])
IMPORT_ALL = """
import gpu_tracker, site, sys
print(gpu_tracker.__file__, gpu_tracker.__version__)
site.addsitedir(sys.argv[1])
import deep_learning_power_measure, ipygpulogger
print(deep_learning_power_measure.__file__, ipygpulogger.__file__)
"""


def python_files(folder):
    found = {path.relative_to(folder) for path in folder.rglob("*.py*") if "__pycache__" not in path.parts}
    return {path for path in found if path.suffix in (".py", ".pyi") or path.name == "py.typed"}


class Metadata(unittest.TestCase):
    def test_what_is_shown_on_pypi_has_no_link_that_leads_nowhere_there(self):
        project = re.search(r'readme = "(.+)"', (SOURCE / "pyproject.toml").read_text())[1]
        links = re.findall(r"\]\(([^)]+)\)", (SOURCE / project).read_text())
        self.assertEqual([link for link in links if not link.startswith("https://")], [])

    def test_no_syntax_or_name_is_newer_than_the_oldest_python(self):
        for path in (SOURCE / "python").rglob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 9))
            self.assertNotRegex(path.read_text(), r"strict=(True|False)\)|\bdataclass\([^)]*\b(slots|kw_only)=|itertools\.(pairwise|batched)", path)


@unittest.skipUnless((BUILD / "python/gpu_tracker").exists(), "this build has no Python package")
class Installed(unittest.TestCase):
    """The files of the package in a folder of their own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        command = ["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet", "--tags", "python-runtime"]
        subprocess.run(command + ["--destdir", cls.folder.name], check=True, stdout=subprocess.DEVNULL)
        cls.packages = next(pathlib.Path(cls.folder.name).rglob("gpu_tracker/__init__.py")).parents[1]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


class PythonPackage(Installed):
    def run_python(self, *arguments):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.packages), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)

    def test_every_python_file_is_in_it(self):
        package = {path for path in python_files(self.packages) if path.parts[:2] != ("gpu_tracker", "collectors")}
        self.assertEqual(python_files(SOURCE / "python"), package)

    def test_nothing_else_is_in_it(self):
        others = {path.name for path in self.packages.rglob("*")
                  if path.is_file() and path.suffix not in (".py", ".pyi") and "__pycache__" not in path.parts}  # newer Mesons compile
        collectors = {path.name for path in BUILD.glob("collectors/*.so")}
        suffix = ".abi3.so" if sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED") else sysconfig.get_config_var("EXT_SUFFIX")
        self.assertEqual(others, {f"_native{suffix}", "gpu-tracker", "gpu_tracker_aliases.pth", "py.typed"} | collectors)

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

    def test_an_older_package_of_an_aliass_name_can_be_uninstalled(self):
        older = self.packages / "ipygpulogger"
        older.mkdir()
        (older / "__init__.py").write_text("IPyGPULogger = 'older'\n")
        code = "import site, sys; site.addsitedir(sys.argv[1]); import ipygpulogger; print(ipygpulogger.IPyGPULogger)"
        self.assertEqual(self.run_python("-c", code, str(self.packages)).stdout, "older\n")
        shutil.rmtree(older)  # as pip does
        self.assertEqual(self.run_python("-c", code, str(self.packages)).stdout, "<class 'gpu_tracker.notebook.IPyGPULogger'>\n")

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


# What the older package has under names of ours, and the file by which it is known.
OLDER = {"gpu_tracker/__init__.py": "print('older')\n", "gpu_tracker/__main__.py": "def main():\n    print('older command')\n",
         "gpu_tracker/_helper_classes.py": "", "gpu_tracker/tracker.py": "", "gpu_tracker/sub_tracker.py": ""}  # fmt: skip


def write_wheel(folder, name, version, files):
    """Of {path: text or file} and the command `gpu-tracker`."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    information = f"{name}-{version}.dist-info"
    files = files | {
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n",
        f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{information}/entry_points.txt": "[console_scripts]\ngpu-tracker = gpu_tracker.__main__:main\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{information}/RECORD"])
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in (files | {f"{information}/RECORD": record}).items():
            wheel.writestr(name, content.read_bytes() if isinstance(content, pathlib.Path) else content)
    return path


HAS_PIP = importlib.util.find_spec("pip")
# Runs pip, which is installed elsewhere, for each line of words: in a fork, as loading it takes most of its time. Prints its exit statuses.
PIP = """
import importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("pip", sys.argv[1])
sys.modules["pip"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["pip"])
from pip._internal.cli.main import main
from pip._internal.commands import create_command
create_command("install"), create_command("uninstall")
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os.dup2(2, 1)
        sys.exit(main(json.loads(line)))
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@unittest.skipUnless(HAS_PIP, "there is no pip")
class BesideTheOlder(Installed):
    """pip lets a package overwrite files of another without a word. docs/python.md says which one counts then."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.environment = pathlib.Path(folder.name, "env")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", cls.environment], check=True)
        package = {path.relative_to(cls.packages).as_posix(): path for path in cls.packages.rglob("*") if path.is_file()}
        cls.ours = write_wheel(pathlib.Path(folder.name), "gputracker", "1.0.0", package)
        cls.theirs = write_wheel(pathlib.Path(folder.name), "gpu_tracker", "5.0.1", OLDER)
        cls.said = open(pathlib.Path(folder.name, "said"), "w+")
        cls.addClassCleanup(cls.said.close)
        command = [cls.environment / "bin/python", "-c", PIP, HAS_PIP.origin]
        cls.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=cls.said, text=True)
        cls.addClassCleanup(cls.server.communicate)

    def setUp(self):
        self.addCleanup(self.empty)

    def empty(self):
        """Leaves the environment as it was made."""
        for path in self.environment.glob("lib/python*/site-packages/*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        (self.environment / "bin/gpu-tracker").unlink(missing_ok=True)

    def pip(self, *words):
        self.server.stdin.write(json.dumps(["--isolated", *map(str, words)]) + "\n")
        self.server.stdin.flush()
        status = self.server.stdout.readline()
        self.said.seek(0)
        self.assertEqual(status, "0\n", self.said.read())

    def install(self, *wheels):
        for wheel in wheels:
            self.pip("install", "--no-index", "--no-deps", "--no-compile", wheel)

    def run_command(self, *words):
        environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([self.environment / "bin" / words[0], *words[1:]], env=environment, capture_output=True, text=True)

    def assert_ours(self):
        done = self.run_command("python", "-c", "import gpu_tracker; print(gpu_tracker.Tracker.__module__)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "gpu_tracker.tracker\n", ""))

    def test_theirs_counts_when_it_came_last(self):
        self.install(self.ours, self.theirs)
        self.assertEqual(self.run_command("python", "-c", "import gpu_tracker").stdout, "older\n")
        self.assertEqual(self.run_command("gpu-tracker").stdout, "older\nolder command\n")

    def test_an_error_names_both_when_ours_came_last(self):
        self.install(self.theirs, self.ours)
        what = "The older package gpu-tracker and this one, gputracker, are both installed"
        done = self.run_command("python", "-c", "import gpu_tracker")
        self.assertIn(f"\nImportError: {what}", done.stderr)
        for words in ["gpu-tracker", "--version"], ["python", "-m", "gpu_tracker", "--version"]:
            done = self.run_command(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, rf"^gpu-tracker: {what}.*\n$")  # and no traceback

    def test_what_the_error_says_repairs_both(self):
        for order in (self.ours, self.theirs), (self.theirs, self.ours):
            self.install(*order)
            self.pip("uninstall", "--yes", "gpu-tracker", "gputracker")
            self.assertIn("No module named 'gpu_tracker'", self.run_command("python", "-c", "import gpu_tracker").stderr)
            self.install(self.ours)
            self.assert_ours()
            self.pip("uninstall", "--yes", "gputracker")

    def test_an_upgrade_of_theirs_does_not_replace_ours(self):
        self.install(self.ours)
        self.pip("install", "--no-index", "--no-deps", "--no-compile", "--upgrade", "--find-links", self.ours.parent, "gputracker")
        self.assert_ours()


tap.main()
