"""pytest --gput, and the marker gput_limit."""

import importlib.metadata
import importlib.util
import itertools
import re
import unittest
import unittest.mock

import package

HAS_PYTEST = importlib.util.find_spec("pytest") is not None
if HAS_PYTEST:
    import pytest
# Where our package is not installed, pytest need not search all packages for plugins, nor load them.
_POINTS = importlib.metadata.entry_points()
INSTALLED = "gpu_tracker" in {point.name for point in (_POINTS.select(group="pytest11") if hasattr(_POINTS, "select") else _POINTS.get("pytest11", ()))}


@unittest.skipUnless(HAS_PYTEST, "pytest is not installed")
class Plugin(package.PackageTest):
    def run_tests(self, code, *arguments, environment={}):
        (self.folder / "test_it.py").write_text("import pytest, time\n" + code)
        command = ["-p", "no:cacheprovider", *arguments]
        if not INSTALLED:
            command += ["-p", "gpu_tracker.pytest_plugin"]
            environment = environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return package.run_forked(lambda: pytest.main(command), environment=environment)

    def test_reports_each_test(self):
        done = self.run_tests("def test_big():\n    b = b'x' * 80_000_000\n    time.sleep(0.05)\ndef test_small(): pass\n", "--gput")
        self.assertEqual(done.returncode, 0, done.stdout)
        big = next(line for line in done.stdout.splitlines() if line.endswith("test_it.py::test_big"))
        self.assertTrue(70 < float(big.split()[0]) < 100, big)
        self.assertRegex(done.stdout, r"RAM peak +GPU RAM +CPU +time +test\n")
        self.assertIn("test_it.py::test_small\n", done.stdout)

    def rows(self, done):
        table = done.stdout[done.stdout.index("resources (gput)") :]
        return [line.rpartition("::")[2] for line in table.splitlines() if "::" in line]

    def test_the_ten_largest_are_shown_and_all_on_request(self):
        code = "@pytest.mark.parametrize('i', range(12))\ndef test_many(i):\n    b = b'x' * (2_000_000 * i)\n    time.sleep(0.02)\n"
        done = self.run_tests(code, "--gput")
        rows = self.rows(done)
        self.assertEqual(len(rows), 10)
        self.assertEqual(rows[0], "test_many[11]")
        self.assertIn("2 more tests (--gput-top all)\n", done.stdout)
        self.assertEqual(len(self.rows(self.run_tests(code, "--gput", "--gput-top", "3"))), 3)
        done = self.run_tests(code, "--gput", "--gput-top=all")
        self.assertEqual(len(self.rows(done)), 12)
        self.assertNotIn("more tests", done.stdout)
        self.assertEqual(self.run_tests(code, "--gput", "--gput-top=few").returncode, 4)

    def test_they_are_sorted_by_what_is_asked_for(self):
        code = ("def test_slow(): time.sleep(0.5)\ndef test_big():\n    b = b'x' * 40_000_000\n    time.sleep(0.05)\n"
                "def test_busy():\n    end = time.process_time() + 0.15\n    while time.process_time() < end: pass\n")
        for column, key in enumerate(("ram", "cpu", "time")):
            done = self.run_tests(code, "--gput", "--gput-sort", key)
            figures = re.findall(r"(?m)^ *([\d.]+) MB +\S+ +([\d.]+) s +([\d.]+) s +test_it", done.stdout)
            self.assertEqual(len(figures), 3, done.stdout)
            # A busy machine can let any of them take the longest.
            asked_for = [float(row[column]) for row in figures]
            self.assertEqual(asked_for, sorted(asked_for, reverse=True), done.stdout)

    @unittest.skipIf(package.forks_hang, "AddressSanitizer takes time of its own, now more and now less")
    def test_what_measuring_takes_is_taken_out(self):
        done = self.run_tests("".join(f"def test_{i}(): pass\n" for i in range(40)), "--gput", "--junit-xml=it.xml")
        self.assertEqual(done.returncode, 0)
        seconds = [float(value) for value in re.findall(r'name="gput_cpu_seconds" value="([^"]*)"', (self.folder / "it.xml").read_text())]
        self.assertEqual(len(seconds), 40)
        from gpu_tracker.pytest_plugin import _own_cpu_seconds
        self.assertGreater(_own_cpu_seconds(0.001), 0)
        self.assertLess(min(seconds), _own_cpu_seconds(0.001))
        times = [float(value) for value in re.findall(r'name="gput_seconds" value="([^"]*)"', (self.folder / "it.xml").read_text())]
        self.assertLess(sorted(seconds)[20], 1.3 * sorted(times)[20])  # the sampling thread may run in some of them

    def test_cpu_time_of_the_sampling_thread_at_the_end_is_not_taken_out(self):
        from gpu_tracker import _meter

        with unittest.mock.patch.object(_meter.time, "process_time", itertools.count().__next__):
            self.assertGreater(_meter.Meter(0.001).start().stop().cpu_seconds, 0)

    def test_an_interval_or_a_limit_that_is_none(self):
        for interval in "0", "-1", "nan", "inf":
            done = self.run_tests("def test_a(): pass\ndef test_b(): pass\n", "--gput", f"--gput-interval={interval}")
            self.assertEqual(done.returncode, 4, done.stdout)
            self.assertEqual((done.stdout + done.stderr).count(f"--gput-interval={interval} is not an interval"), 1)
        for limit in "seconds=-1", "seconds=float('nan')", "ram=-1":
            done = self.run_tests(f"@pytest.mark.gput_limit({limit})\ndef test_a(): pass\n")
            self.assertRegex(done.stdout, "gput_limit: (-1|nan) is not a ")

    def test_gpu_ram_that_was_held_for_a_moment_passes_its_limit(self):
        gpu = package.FakeGpu(self.folder)
        done = self.run_tests(
            package.FakeGpu.HOLD + "hold(100)\n"
            "@pytest.mark.gput_limit(gpu_ram='2 GB')\ndef test_peak():\n    hold_until_listed(8100); hold(100)\n"
            "@pytest.mark.gput_limit(gpu_ram='2 GB')\ndef test_kept():\n    hold(8100)\n"
            "@pytest.mark.gput_limit(gpu_ram='2 GB')\ndef test_none(): pass\n",
            "--gput", environment=gpu.environment,
        )  # fmt: skip
        self.assertRegex(done.stdout, r"(?m)^test_it.py FF\. ")
        problems = re.findall(r"(?m)^gput_limit: it needed (.*) of GPU RAM, and its limit is 2000.0 MB$", done.stdout)
        self.assertEqual(len(problems), 2, done.stdout)
        self.assertEqual(problems[1], "8388.6 MB")

    def test_what_may_have_been_held_passes_a_limit_too(self):
        from gpu_tracker.pytest_plugin import _problem

        self.assertIsNone(_problem("gpu_ram", 1e6, 2e6, at_most=2e6))
        self.assertIsNone(_problem("gpu_ram", 1e6, 2e6))
        self.assertEqual(
            _problem("gpu_ram", 1e6, 2e6, at_most=3e6), "it needed 1.0 MB to 3.0 MB of GPU RAM, and its limit is 2.0 MB"
        )

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
        self.assertRegex(done.stdout, r"gput_limit: it took [\d.]+ s, and its limit is 0.01 s")
        self.assertIn("AssertionError: own", done.stdout)

    def test_gpu_ram_that_a_driver_hides_passes_no_limit_unseen(self):
        with package.fake_gpu(self.folder, "memory 16000000000 0 9000000000\nutilization 40\n"):
            done = self.run_tests("@pytest.mark.gput_limit(gpu_ram='2 GB')\ndef test_it(): pass\n", "--gput")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("gput_limit: gpu_ram cannot be measured on this machine: the driver lists no process while", done.stdout)
        self.assertIn("GPU RAM n/a: the driver lists no process while", done.stdout)
        self.assertRegex(done.stdout, r" +n/a +[\d.]+ s +[\d.]+ s +test_it.py::test_it\n")

    def test_a_driver_that_fails_passes_no_limit_unseen(self):
        with package.fake_gpu(self.folder, ""):
            (self.folder / "scenario").write_text("code nvmlInit 18\ngpu GPU-aaaa\n")
            done = self.run_tests("@pytest.mark.gput_limit(gpu_ram='2 GB')\ndef test_it(): pass\n", "--gput")
        self.assertIn("gput_limit: gpu_ram cannot be measured on this machine: No GPU can be read", done.stdout)
        self.assertIn("NVIDIA driver and library versions differ", done.stdout)

    def test_wrong_limits_are_reported(self):
        for arguments in "ram='much'", "cpu=3", "5", "seconds='long'":
            done = self.run_tests(f"@pytest.mark.gput_limit({arguments})\ndef test_it(): pass\ndef test_other(): pass\n")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, r"\ngput_limit: .*\n")
            self.assertIn("1 failed, 1 passed", done.stdout)
            self.assertNotIn("pytest_plugin.py", done.stdout)

    def test_fixtures_do_not_count(self):
        done = self.run_tests(
            "@pytest.fixture\ndef data():\n    block = b'x' * 80_000_000\n    time.sleep(0.3)\n    yield block\n"
            "    more = b'x' * 160_000_000\n    time.sleep(0.3)\n"
            "@pytest.mark.gput_limit(ram='40 MB')\ndef test_small(data): pass\n",
            "--gput",
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        row = next(line for line in done.stdout.splitlines() if line.endswith("test_it.py::test_small"))
        self.assertLess(float(row.split()[0]), 40, row)

    def test_those_that_fail_are_reported_too(self):
        done = self.run_tests(
            "def test_bad(): assert False\n"
            "@pytest.fixture\ndef broken(): raise ValueError\n"
            "def test_never(broken): pass\n"
            "@pytest.mark.skip\ndef test_skipped(): pass\n"
            "@pytest.mark.xfail(strict=True)\n@pytest.mark.gput_limit(seconds=0.01)\ndef test_too_long(): time.sleep(0.05)\n",
            "--gput",
        )
        self.assertIn("1 failed, 1 skipped, 1 xfailed, 1 error", done.stdout)
        table = done.stdout[done.stdout.index("resources (gput)") :]
        self.assertIn("test_it.py::test_bad\n", table)
        self.assertIn("test_it.py::test_too_long\n", table)
        self.assertNotIn("test_never\n", table)

    def test_no_gpu_passes_no_limit_of_gpu_ram(self):
        done = self.run_tests("@pytest.mark.gput_limit(gpu_ram=1)\ndef test_it(): pass\n", "--gput")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_closest_limit_counts(self):
        done = self.run_tests(
            "pytestmark = pytest.mark.gput_limit(seconds=0.01, ram='40 MB')\n"
            "@pytest.mark.gput_limit(seconds=60)\ndef test_long(): time.sleep(0.05)\n"
            "@pytest.mark.gput_limit(seconds=60)\ndef test_big():\n    b = b'x' * 80_000_000\n",
        )
        self.assertIn("1 failed, 1 passed", done.stdout)

    def test_figures_are_in_the_junit_file(self):
        self.run_tests("def test_it(): pass\n", "--gput", "--junit-xml=it.xml")
        text = (self.folder / "it.xml").read_text()
        self.assertRegex(text, r'<property name="gput_ram_bytes" value="\d+"')
        for name in "gput_seconds", "gput_cpu_seconds":
            self.assertRegex(text, rf'<property name="{name}" value="(\d+\.\d{{1,6}}|\d(\.\d)?e-0[56])"')
        self.assertNotIn("gput_gpu_ram", text)
        self.assertNotIn("None", text)
        paragraph = (package.SOURCE / "docs" / "python.md").read_text().split("The figures are also properties in the JUnit")[1].split("\n\n")[0]
        documented, written = set(re.findall(r"`(gput_\w+)`", paragraph)), set(re.findall(r'name="(gput_\w+)"', text))
        self.assertEqual(written - documented, set())
        self.assertEqual(documented - written, {"gput_gpu_ram_bytes", "gput_no_gpu_ram"})  # there is no GPU

    @unittest.skipUnless(importlib.util.find_spec("xdist"), "pytest-xdist is not installed")
    def test_from_several_processes(self):
        done = self.run_tests(
            "@pytest.mark.parametrize('i', range(4))\ndef test_fine(i): pass\n"
            "@pytest.mark.gput_limit(ram='50 MB')\ndef test_big():\n    b = b'x' * 80_000_000\n",
            "--gput",
            "-n",
            "2",
        )
        self.assertIn("1 failed, 4 passed", done.stdout)
        self.assertEqual(done.stdout.count("resources (gput)"), 1)
        table = done.stdout[done.stdout.index("resources (gput)") :]
        self.assertEqual(sum("test_fine[" in line for line in table.splitlines()), 4, table)
        self.assertRegex(table, r"\n *[\d.]+ MB +\S.* s +test_it.py::test_big\n")

    def test_marker_is_known(self):
        done = self.run_tests("@pytest.mark.gput_limit(seconds=60)\ndef test_it(): pass\n", "--strict-markers")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    package.main()
