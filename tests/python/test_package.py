"""The package as such: what importing it does, its command, its names."""

import shutil
import subprocess
import sys

import package

import gpu_tracker


class Importing(package.PackageTest):
    def test_starts_nothing_and_imports_nothing_heavy(self):
        done = self.run_python(
            "import sys, threading\n"
            "before = set(sys.modules)\n"
            "import gpu_tracker\n"
            "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
            "heavy = {'pandas', 'numpy', 'json', 'logging', 'dataclasses', 'inspect', 'IPython', 'sqlite3', 'subprocess'}\n"
            "assert threading.active_count() == 1\n"
            "print(sorted(heavy & new))\n"
        )
        self.assertEqual(done.stdout, "[]\n")

    def test_every_public_name_is_there(self):
        for name in gpu_tracker.__all__:
            self.assertTrue(hasattr(gpu_tracker, name), name)
        self.assertRaises(AttributeError, getattr, gpu_tracker, "no_such_name")
        for name in "SubTrackingResults", "CodeBlockResults", "ComparisonResults", "SubTrackingAnalyzer", "TrackingComparison":
            self.assertEqual(getattr(gpu_tracker.sub_tracker, name).__module__, "gpu_tracker.sub_tracker")

    def test_works_without_the_main_guard(self):
        done = self.run_python(
            "import gpu_tracker as gput\n"
            "with gput.Tracker(disable_logs=True) as tracker:\n"
            "    pass\n"
            "print(tracker.resource_usage.compute_time.unit)\n"
        )
        self.assertEqual(done.stdout, "hours\n")


class Command(package.PackageTest):
    def run_module(self, *arguments):
        return subprocess.run([sys.executable, "-m", "gpu_tracker", *arguments], capture_output=True, text=True)

    def test_the_module_is_the_command(self):
        done = self.run_module("--version")
        self.assertEqual((done.returncode, done.stdout), (0, gpu_tracker.__version__ + "\n"))

    def test_passes_the_status_on(self):
        self.assertEqual(self.run_module("run", "--", "sh", "-c", "exit 7").returncode, 7)

    def test_leaves_no_signal_ignored(self):
        # By its path, as Python itself is: what posix_spawn() starts ignores two signals of glibc's, and 3.13 uses it for paths alone.
        ignored = [shutil.which("grep"), "SigIgn", "/proc/self/status"]
        plain = subprocess.run(ignored, capture_output=True, text=True).stdout
        self.assertEqual(self.run_module("run", "--", *ignored).stdout, plain)


if __name__ == "__main__":
    package.main()
