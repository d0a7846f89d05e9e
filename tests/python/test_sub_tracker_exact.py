"""Exact figures of code blocks."""

import mmap
import os
import pickle
import resource
import threading
import time
import warnings

import package

import gpu_tracker as gput

FILES = "m.csv", "m.sqlite", "m.gputblocks"


def counts():
    """What the kernel has counted of this thread and its process until now, as marks have it."""
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return time.thread_time_ns(), time.process_time_ns(), usage.ru_minflt, usage.ru_majflt


def exact_of(path):
    """The exact figures of each block."""
    with gput.Tracker(tracking_file=f"{path}.csv", overwrite=True):
        pass
    results = gput.SubTrackingAnalyzer(f"{path}.csv", path).sub_tracking_results()
    return {block.name: block.exact for block in results.code_block_results}


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Exact(package.PackageTest):
    """Counts of the kernel at each mark. What it has counted within a block and around it are bounds of what it is given."""

    FIGURES = {"thread_cpu_time": 1e-9, "process_cpu_time": 1e-9, "minor_faults": 1, "major_faults": 1, "peak_rss_rise": 1}

    def test_figures_are_what_the_kernel_counted(self):
        def work():
            burn(0.002)
            with mmap.mmap(-1, 2_000_000) as fresh:
                for place in range(0, len(fresh), 4096):
                    fresh[place] = 1

        for name in FILES:
            within, around = [0] * 4, [0] * 4
            block = gput.SubTracker("a", sub_tracking_file=name, exact=True)
            for _ in range(3):
                before = counts()
                with block:
                    begin = counts()
                    work()
                    end = counts()
                after = counts()
                within = [total + stop - start for total, start, stop in zip(within, begin, end)]
                around = [total + stop - start for total, start, stop in zip(around, before, after)]
            figures = exact_of(name)["a"]
            for (figure, unit), least, most in zip(self.FIGURES.items(), within, around):
                total = figures[figure]["total"]
                self.assertTrue(least * unit - 1e-9 <= total <= most * unit + 1e-9, (name, figure, least, total, most))
            self.assertGreaterEqual(figures["minor_faults"]["total"], 3 * 2_000_000 // resource.getpagesize())

    def test_they_are_in_results_tables_and_marks(self):
        for _ in range(3):
            with gput.SubTracker("a", sub_tracking_file="m.gputblocks", exact=True):
                burn(0.001)
        exact = exact_of("m.gputblocks")["a"]
        table = gput.SubTrackingAnalyzer("m.gputblocks.csv", "m.gputblocks").tables()["code_blocks"]
        calls, marks = gput.read_calls("m.gputblocks"), gput.read_marks("m.gputblocks")
        for figure in self.FIGURES:
            self.assertEqual(exact[figure]["total"], table[f"exact_{figure}"][0])
            self.assertAlmostEqual(exact[figure]["total"], sum(calls[f"exact_{figure}"]))
        self.assertGreaterEqual(min(calls["exact_thread_cpu_time"]), 0.001)
        for mark in ("thread_cpu_ns", "process_cpu_ns", "minor_faults", "major_faults", "peak_rss_bytes"):
            self.assertNotIn(None, list(marks[mark]))

    def test_peaks_within_calls_that_nest_and_run_at_once(self):
        def use(mib):
            with mmap.mmap(-1, mib << 20) as fresh:
                for place in range(0, len(fresh), 4096):
                    fresh[place] = 1

        for name in FILES:
            blocks = {key: gput.SubTracker(key, sub_tracking_file=name, exact="peak") for key in ("high", "outer", "inner", "waits")}
            with blocks["high"]:
                use(96)
            begun, done = threading.Event(), threading.Event()

            def wait(block=blocks["waits"], begun=begun, done=done):
                with block:
                    begun.set()
                    done.wait()

            thread = threading.Thread(target=wait)
            thread.start()
            begun.wait()
            with blocks["outer"]:
                use(48)
                with blocks["inner"]:
                    pass
            done.set()
            thread.join()
            exact = exact_of(name)
            rise = {key: figures["block_peak_rss_rise"]["total"] / (1 << 20) for key, figures in exact.items()}
            for key, expected in {"high": 96, "outer": 48, "inner": 0, "waits": 48}.items():
                self.assertAlmostEqual(rise[key], expected, delta=12, msg=(name, rise))
            self.assertGreater(exact["high"]["block_peak_rss"]["max"], exact["outer"]["block_peak_rss"]["max"])
            self.assertEqual(exact["outer"]["peak_rss_rise"]["total"], 0, "the highest peak of the process is remembered")
            self.assertNotIn("cycles", exact["high"])
            self.assertIn("block_peak_rss_bytes", gput.read_marks(name).columns)

    def test_kinds_are_words(self):
        with self.assertRaisesRegex(ValueError, r'"peaks" is not a kind of exact figures: did you mean peak\? Valid are: 1, peak, counters, gpu.'):
            gput.SubTracker("a", sub_tracking_file="m.csv", exact="peaks").__enter__()
        with gput.SubTracker("a", sub_tracking_file="m.csv", exact="counters"):
            pass
        self.assertIn("instructions", gput.read_calls("m.csv").columns[-3])
        for exact, columns in {"gpu": ["exact_package_energy", "exact_gpu_time"], "counters,gpu": ["exact_cache_misses", "exact_gpu_time"]}.items():
            with gput.SubTracker("a", sub_tracking_file=f"{exact}.csv", exact=exact):
                pass
            self.assertEqual(list(gput.read_calls(f"{exact}.csv").columns[-2:]), columns)

    def test_the_environment_turns_them_on(self):
        code = """
import sys
import gpu_tracker as gput

@gput.sub_track("decorated", sub_tracking_file="env.gputblocks")
def decorated():
    pass

decorated()
with gput.SubTracker("a", sub_tracking_file="off.csv", exact=False):
    pass
"""
        for value, expected in ("1", True), ("peak,other", True), ("", False), ("0", False):
            self.run_python(code, env=os.environ | {"GPUT_BLOCK_EXACT": value})
            self.assertEqual("thread_cpu_ns" in gput.read_marks("env.gputblocks").columns, expected)
            self.assertNotIn("thread_cpu_ns", gput.read_marks("off.csv").columns)
            os.unlink("env.gputblocks")
            os.unlink("off.csv")

    def test_the_first_mark_of_a_file_says_whether_it_has_them(self):
        first, late = (gput.SubTracker(name, sub_tracking_file="m.csv", exact=name == "late") for name in ("first", "late"))
        for block in first, first:
            with block:
                pass
        with self.assertWarnsRegex(UserWarning, "m.csv was begun without exact figures") as warned, late:
            pass
        self.assertEqual(warned.filename, __file__)
        self.assertIsNone(exact_of("m.csv")["late"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for exact in True, False, None:
                with gput.SubTracker("b", sub_tracking_file="exact.csv", exact=exact):
                    pass
        self.assertIsNotNone(exact_of("exact.csv")["b"]["process_cpu_time"]["total"])

    def test_calls_that_overlap_in_a_thread_have_their_own(self):
        for name in FILES:
            first, second = (gput.SubTracker("a", sub_tracking_file=name, exact=True) for _ in range(2))
            before = counts()
            first.__enter__()
            begin = counts()
            burn(0.002)
            second.__enter__()  # never stops
            end = counts()
            first.__exit__(None, None, None)
            after = counts()
            figures = exact_of(name)["a"]
            for i, figure in enumerate(("thread_cpu_time", "process_cpu_time")):
                total = figures[figure]["total"]
                self.assertTrue(end[i] - begin[i] - 1 <= total * 1e9 <= after[i] - before[i] + 1, (name, figure, total))

    def test_a_call_that_stops_in_another_thread_has_those_of_its_process(self):
        for name in FILES:

            @gput.sub_track("a", sub_tracking_file=name, exact=True)
            def numbers():
                yield from range(2)

            within = around = 0
            for _ in range(2):
                around -= time.process_time_ns()
                started = numbers()
                next(started)
                within -= time.process_time_ns()
                burn(0.002)
                within += time.process_time_ns()
                thread = threading.Thread(target=list, args=(started,))
                thread.start()
                thread.join()
                around += time.process_time_ns()
            figures = exact_of(name)["a"]
            total = figures["process_cpu_time"]["total"]
            self.assertTrue(within - 1 <= total * 1e9 <= around + 1, (name, total))
            self.assertIsNotNone(figures["peak_rss_rise"]["total"])
            for figure in "thread_cpu_time", "minor_faults", "major_faults":
                self.assertIsNone(figures[figure]["total"])

    def test_the_peak_is_that_of_the_program_though_a_larger_one_started_it(self):
        code = """
import re, subprocess, sys

if sys.argv[1] == "parent":
    memory = b"1" * 200_000_000
    sys.exit(subprocess.run([sys.executable, __file__, "child"]).returncode)

import gpu_tracker as gput

def peak():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]) * 1024

block = gput.SubTracker("a", sub_tracking_file="m.gputblocks", overwrite=True, exact=True)
for _ in range(2):
    before = peak()
    with block:
        begin = peak()
        kept = b"1" * 50_000_000
        end = peak()
    print(end - begin, peak() - before)
    del kept
"""
        for who in "parent", "child":
            bounds = [line.split() for line in self.run_python(code, who).stdout.splitlines()]
            peaks = list(gput.read_marks("m.gputblocks")["peak_rss_bytes"])
            self.assertEqual(len(peaks), 2 * len(bounds))
            for (least, most), start, stop in zip(bounds, peaks[::2], peaks[1::2]):
                self.assertTrue(int(least) - 1e6 <= stop - start <= int(most) + 1e6, (who, least, most, stop - start))
            self.assertGreater(peaks[1] - peaks[0], 48e6)

    def test_other_processes_have_them_too(self):
        code = "import pickle, sys; block = pickle.loads(bytes.fromhex(sys.argv[1]))\nwith block: pass"
        environment = os.environ | {"GPUT_BLOCK_EXACT": ""}
        for name in FILES:
            block = gput.SubTracker("a", sub_tracking_file=name, exact=True)
            with block:
                pass
            child = os.fork()
            if child == 0:
                with block:
                    pass
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.run_python(code, pickle.dumps(block).hex(), env=environment)
        for name in "m.csv", "m.sqlite":
            self.assertEqual(len(gput.read_calls(name)), 3)
            self.assertIsNotNone(exact_of(name)["a"]["thread_cpu_time"]["total"])
        logs = [name for name in os.listdir() if name.startswith("m") and name.endswith(".gputblocks")]
        self.assertEqual(len(logs), 3)
        for name in logs:
            self.assertIsNotNone(exact_of(name)["a"]["thread_cpu_time"]["total"])


if __name__ == "__main__":
    package.main()
