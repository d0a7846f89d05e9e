"""SubTracker and sub_track: names, files, threads, tasks."""

import asyncio
import contextlib
import csv
import functools
import mmap
import os
import pathlib
import pickle
import re
import resource
import sqlite3
import subprocess
import sys
import threading
import time
import warnings

import package

import gpu_tracker as gput


class Names(package.PackageTest):
    def test_default_is_file_and_line(self):
        os.chdir(os.path.dirname(__file__))
        tracker = gput.SubTracker()
        self.assertRegex(tracker.code_block_name, r"^test_sub_tracker\.py:\d+$")
        self.assertEqual(tracker.sub_tracking_file, f"{os.getpid()}.csv")
        self.assertEqual(tracker.process_id, os.getpid())

    def test_attribute_stands_in_place_of_the_line(self):
        os.chdir(os.path.dirname(__file__))
        self.assertEqual(gput.SubTracker(code_block_attribute="part").code_block_name, "test_sub_tracker.py:part")
        self.assertEqual(gput.SubTracker("name", "part").code_block_name, "name")

    def test_a_recursion_can_be_distinguished(self):
        path = self.folder / "m.csv"

        @gput.sub_track("descend", sub_tracking_file=path)
        def descend(depth):
            if depth:
                descend(depth - 1)

        descend(0)
        descend(2)
        calls = gput.read_calls(path)
        times = sorted(zip(calls["start"], calls["stop"]))
        self.assertEqual(len(times), 4)
        self.assertTrue(times[0][1] < times[1][0] < times[2][0] < times[3][0] < times[3][1] < times[2][1] < times[1][1], times)

    def test_function_is_named_by_file_and_name(self):
        os.chdir(os.path.dirname(__file__))
        path = self.folder / "m.csv"

        @gput.sub_track(sub_tracking_file=path)
        def load(value, *, more=0):
            "Loads."
            return value + more

        @gput.sub_track(code_block_attribute="other", sub_tracking_file=path)
        def save():
            pass

        self.assertEqual((load(1, more=2), load.__name__, load.__doc__), (3, "load", "Loads."))
        save()
        self.assertEqual([name for name, _ in package.marks(path)], ["test_sub_tracker.py:load"] * 2 + ["test_sub_tracker.py:other"] * 2)

    def test_what_other_decorators_made_is_named_by_where_it_is_decorated(self):
        (self.folder / "timing.py").write_text("""
import functools

def timed(function):
    @functools.wraps(function)
    def wrapper():
        return function()
    return wrapper

class Dispatcher:
    def __init__(self, function):
        self.function, self.__name__ = function, function.__name__

    def __call__(self):
        return self.function()
""")
        code = """
import functools
import gpu_tracker as gput
from timing import Dispatcher, timed

for decorator in timed, functools.lru_cache, Dispatcher:
    @gput.sub_track(sub_tracking_file="m.csv")
    @decorator
    def train():
        return decorator.__name__
    print(train(), train.__name__)
"""
        self.assertEqual(self.run_python(code).stdout, "timed train\nlru_cache train\nDispatcher train\n")
        self.assertEqual({name for name, _ in package.marks("m.csv")}, {"program.py:train"})

    def test_a_block_keeps_its_name_when_the_working_directory_changes(self):
        code = """
import os
import gpu_tracker as gput
names = []
for folder in ".", "/":
    os.chdir(folder)
    names.append(gput.SubTracker().code_block_name)
print(*names)
"""
        self.assertEqual(self.run_python(code).stdout, "program.py:7 program.py:7\n")

    def test_what_is_no_file_keeps_its_name(self):
        names = {}
        exec(compile("import gpu_tracker\nname = gpu_tracker.SubTracker().code_block_name", "<cell 3>", "exec"), names)
        self.assertEqual(names["name"], "<cell 3>:2")

    def test_odd_names(self):
        for name in 'a,"b"', "schön", "":
            with gput.SubTracker(name, sub_tracking_file="m.csv"):
                pass
        self.assertEqual([name for name, _ in package.marks("m.csv")][::2], ['a,"b"', "schön", ""])
        self.assertRaises(ValueError, gput.SubTracker("a\0b", sub_tracking_file="m.csv").__enter__)

    def test_a_name_is_a_text(self):
        with gput.SubTracker(5, sub_tracking_file="m.csv") as block:
            pass
        self.assertEqual(package.marks("m.csv"), [("5", 0), ("5", 1)])
        block.code_block_name = 6
        self.assert_raises(TypeError, "The name of a code block is a str, not 6.", block.__enter__)


class Files(package.PackageTest):
    def test_nothing_is_made_before_the_first_mark(self):
        gput.SubTracker("a", sub_tracking_file="m.csv")
        self.assertEqual(os.listdir(), [])

    def test_csv_has_the_documented_columns(self):
        with gput.SubTracker("a", sub_tracking_file="m.csv") as tracker:
            self.assertIsInstance(tracker, gput.SubTracker)
        rows = list(csv.reader(open("m.csv")))
        self.assertEqual(rows[0], ["process_id", "code_block_name", "position", "timestamp"])
        self.assertEqual([row[:3] for row in rows[1:]], [[str(os.getpid()), "a", "0"], [str(os.getpid()), "a", "1"]])
        self.assertLess(abs(float(rows[1][3]) - time.time()), package.PATIENCE)

    def test_sqlite_has_them_too(self):
        with gput.SubTracker("a", sub_tracking_file="m.sqlite"):
            pass
        database = sqlite3.connect("m.sqlite")
        rows = database.execute("SELECT process_id, code_block_name, position FROM data").fetchall()
        database.close()
        self.assertEqual(rows, [(os.getpid(), "a", 0), (os.getpid(), "a", 1)])

    def test_a_file_of_an_earlier_run_is_kept(self):
        open("m.csv", "w").write("mine")
        with self.assertRaises(FileExistsError) as caught:
            with gput.SubTracker("a", sub_tracking_file="m.csv"):
                pass
        self.assertEqual(
            str(caught.exception), "File m.csv already exists. Set overwrite to True to overwrite the existing file."
        )
        self.assertEqual(open("m.csv").read(), "mine")

    def test_overwrite_counts_once_a_program(self):
        open("m.csv", "w").write("old")
        for i in range(3):
            with gput.SubTracker(f"a{i}", sub_tracking_file="m.csv", overwrite=True):
                pass
        self.assertEqual([name for name, _ in package.marks("m.csv")], ["a0", "a0", "a1", "a1", "a2", "a2"])

    def test_a_removed_file_is_reported_or_made_anew(self):
        def mark(name, overwrite):
            with gput.SubTracker("a", sub_tracking_file=name, overwrite=overwrite):
                pass

        for name in "m.csv", "m.gputblocks", "m.sqlite":
            mark(name, False)
            os.unlink(name)
            time.sleep(0.05)  # the file of a fast log is checked for every 10 ms
            message = f"The file {name} was removed in the middle of writing data to it."
            self.assert_raises(FileNotFoundError, message, mark, name, False)
            self.assertFalse(os.path.exists(name))
            mark(name, True)
            mark(name, False)
            self.assertEqual(len(gput.read_marks(name)), 4)

    def test_an_object_used_again_sees_that_its_file_was_removed(self):
        for name in "m.csv", "m.gputblocks", "m.sqlite":
            for overwrite in False, True:
                block = gput.SubTracker("a", sub_tracking_file=f"{overwrite}{name}", overwrite=overwrite)
                with block:
                    pass
                os.mkdir(f"in {overwrite}{name}")
                os.chdir(f"in {overwrite}{name}")
                time.sleep(0.05)  # the file is checked for every 10 ms
                with block:  # another working directory is no other file
                    pass
                self.assertEqual(os.listdir(), [])
                os.chdir("..")
                os.unlink(block.sub_tracking_file)
                time.sleep(0.05)
                if overwrite:
                    with block:
                        pass
                    self.assertEqual(len(gput.read_marks(block.sub_tracking_file)), 2)
                else:
                    message = f"The file {block.sub_tracking_file} was removed in the middle of writing data to it."
                    self.assert_raises(FileNotFoundError, message, block.__enter__)

    def test_paths_of_any_kind(self):
        for name in b"a.csv", "b-\udcff.csv", pathlib.Path("c.csv"), b"d-\xfe.gputblocks":
            with gput.SubTracker("a", sub_tracking_file=name):
                pass
            self.assertTrue(os.path.exists(name))

    def test_relative_paths_follow_the_working_directory(self):
        for folder in "one", "two":
            os.mkdir(folder)
            os.chdir(folder)
            with gput.SubTracker(folder, sub_tracking_file="m.csv"):
                pass
            os.chdir("..")
        self.assertEqual([package.marks(f"{folder}/m.csv")[0][0] for folder in ("one", "two")], ["one", "two"])

    def test_other_extensions_are_refused(self):
        self.assert_raises(
            ValueError,
            'Invalid file name: "m.txt". Valid file extensions are ".csv" and ".sqlite".',
            gput.SubTracker,
            sub_tracking_file="m.txt",
        )

    def test_a_block_that_raises_is_closed(self):
        with self.assertRaises(KeyError):
            with gput.SubTracker("a", sub_tracking_file="m.csv"):
                raise KeyError
        self.assertEqual(package.marks("m.csv"), [("a", 0), ("a", 1)])

    def test_a_full_disk_costs_marks_and_not_the_program(self):
        for name in ("m.csv", "m.sqlite", "m.gputblocks"):
            program = f"""
import os, resource, gpu_tracker as gput
def call():
    with gput.SubTracker("outer", sub_tracking_file={name!r}):
        with gput.SubTracker("inner", sub_tracking_file={name!r}):
            pass
for _ in range(10): call()
resource.setrlimit(resource.RLIMIT_FSIZE, (os.stat({name!r}).st_size + 100, resource.RLIM_INFINITY))
for _ in range(10000): call()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
import time
time.sleep(0.2)  # a log tries again after a while
for _ in range(10): call()
"""
            with self.subTest(name=name):
                done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                lost = re.search(r"RuntimeWarning: (\d+) marks of code blocks are not in m\.", done.stderr)
                self.assertTrue(lost, done.stderr)
                if name == "m.csv":
                    marks = package.marks(self.folder / name)
                elif name == "m.sqlite":
                    with contextlib.closing(sqlite3.connect(self.folder / name)) as base:
                        marks = base.execute("SELECT code_block_name, position FROM data").fetchall()
                else:
                    continue
                said = [mark[0] for mark in marks if mark[0].startswith("[gpu-tracker]")]
                marks = [mark for mark in marks if mark[0] not in said]
                self.assertEqual(len(marks) + int(lost[1]), 4 * 10020)
                self.assertEqual(said, [f"[gpu-tracker] lost calls: {2 * 10020 - len(marks) // 2:010}"] * 2)
                self.assertEqual(marks[-4:], [("outer", 0), ("inner", 0), ("inner", 1), ("outer", 1)])

    def test_a_million_marks(self):
        tracker = gput.SubTracker("a", sub_tracking_file="m.gputblocks")
        for _ in range(500_000):
            with tracker:
                pass
        gput.SubTrackingAnalyzer(None, "m.csv")  # a name to combine into
        from gpu_tracker import _native

        _native.combine("m.csv", ["m.gputblocks"], True)
        with open("m.csv") as file:
            self.assertEqual(sum(1 for _ in file), 1_000_001)


LOCKER = """
import sqlite3, sys
database = sqlite3.connect("m.sqlite", isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


class Locked(package.PackageTest):
    """While another program keeps a database locked, a mark waits for it."""

    def setUp(self):
        super().setUp()
        self.block = gput.SubTracker("a", sub_tracking_file="m.sqlite")
        self.block.__enter__()
        self.block.__exit__(None, None, None)
        self.locker = subprocess.Popen([sys.executable, "-c", LOCKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.unlock)
        self.assertEqual(self.locker.stdout.readline(), b"locked\n")
        self.progress, self.progressed = 0, None
        self.thread = threading.Thread(target=self.mark)

    def unlock(self):
        if self.locker.returncode is None:
            self.locker.communicate()

    def mark(self):
        before = self.progress
        try:
            self.block.__enter__()
        except OSError:  # waited long enough
            pass
        self.progressed = self.progress - before

    def wait_a_little(self):
        for _ in range(50):
            if self.progressed is None:
                time.sleep(0.001)
                self.progress += 1

    def test_other_threads_run_on(self):
        self.thread.start()
        self.wait_a_little()
        self.unlock()
        self.thread.join()
        self.assertGreater(self.progressed, 10)

    @package.skip_where_forks_hang
    def test_a_child_that_is_forked_meanwhile_marks_and_ends(self):
        self.thread.start()
        self.wait_a_little()
        child = os.fork()  # waits for the mark
        if child == 0:
            with self.block:
                pass
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.unlock()
        self.thread.join()
        self.assertEqual(len(gput.read_calls(f"m-{child}.sqlite")), 1)  # it could not join the file

    def test_closing_waits_for_the_mark(self):
        log = self.block._log
        self.thread.start()
        self.wait_a_little()
        log.close()
        self.thread.join()
        self.assertIsNone(log.status())
        self.assertRaises(RuntimeError, log.mark, "a", 0)


class Concurrency(package.PackageTest):
    def test_threads(self):
        def work(name):
            for _ in range(100):
                with gput.SubTracker(name, sub_tracking_file="m.csv"):
                    pass

        threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(package.marks("m.csv")), 800)

    def test_tasks_that_interleave_and_decorated_coroutines(self):
        @gput.sub_track("slow", sub_tracking_file="m.csv")
        async def slow(seconds):
            await asyncio.sleep(seconds)
            return seconds

        async def run():
            return await asyncio.gather(slow(0.05), slow(0.02))

        started = time.time()
        self.assertEqual(asyncio.run(run()), [0.05, 0.02])
        rows = list(csv.DictReader(open("m.csv")))
        self.assertEqual([row["position"] for row in rows], ["0", "0", "1", "1"])
        self.assertGreater(float(rows[3]["timestamp"]) - started, 0.04)

    def test_calls_that_overlap_in_a_thread_keep_their_own_times(self):
        for name in "m.csv", "m.sqlite", "m.gputblocks":

            @gput.sub_track("numbers", sub_tracking_file=name)
            def numbers():
                yield from range(2)

            first = numbers()
            next(first)
            second = numbers()
            next(second)
            third = numbers()
            next(third)
            third.close()
            list(first)
            del second  # stops it, too
            thread = threading.Thread(target=list, args=(started := numbers(),))
            next(started)
            thread.start()
            thread.join()
            calls = gput.read_calls(name)
            (a, b), (c, d), (e, f), (g, h) = sorted(zip(calls["start"], calls["stop"]))
            self.assertEqual(sorted([a, b, c, d, e, f, g, h]), [a, c, e, f, b, d, g, h], name)

    def test_tasks_that_are_staggered_keep_their_own_times(self):
        @gput.sub_track("request", sub_tracking_file="m.csv")
        async def request(turn, ended):
            await turn.wait()
            ended.append(turn)

        async def run():
            ended, turns = [], [asyncio.Event() for _ in range(5)]
            tasks = []
            for turn in turns:
                tasks.append(asyncio.create_task(request(turn, ended)))
                await asyncio.sleep(0)
            for task, turn in zip(tasks, turns):  # first in, first out
                turn.set()
                await task

        asyncio.run(run())
        calls = sorted(zip(gput.read_calls("m.csv")["start"], gput.read_calls("m.csv")["stop"]))
        self.assertEqual(calls, list(zip(sorted(start for start, _ in calls), sorted(stop for _, stop in calls))))

    def test_decorated_generators(self):
        @gput.sub_track("numbers", sub_tracking_file="m.csv")
        def numbers():
            yield from range(3)

        iterator = numbers()
        self.assertFalse(os.path.exists("m.csv"))
        self.assertEqual(list(iterator), [0, 1, 2])
        self.assertEqual(package.marks("m.csv"), [("numbers", 0), ("numbers", 1)])

    def test_a_decorated_async_generator_is_given_what_the_outer_one_is(self):
        @gput.sub_track("echo", sub_tracking_file="m.csv")
        async def echo(seen):
            value = 0
            try:
                while True:
                    try:
                        value = yield value
                    except KeyError as error:
                        value = error
                    if value == "enough":
                        return
            finally:
                seen.append("closed")

        async def run():
            sent = echo(seen := [])
            thrown = KeyError()
            self.assertEqual([await anext(sent), await sent.asend(42), await sent.athrow(thrown)], [0, 42, thrown])
            with self.assertRaises(StopAsyncIteration):
                await sent.asend("enough")
            self.assertEqual(seen, ["closed"])
            closed = echo(seen)
            await anext(closed)
            await closed.aclose()
            self.assertEqual(seen, ["closed"] * 2)
            raised = echo(seen)
            await anext(raised)
            with self.assertRaises(ZeroDivisionError):
                await raised.athrow(ZeroDivisionError())
            self.assertEqual(seen, ["closed"] * 3)

        asyncio.run(run())
        self.assertEqual(package.marks("m.csv"), [("echo", 0), ("echo", 1)] * 3)

    def test_an_async_context_manager_may_handle_what_its_body_raises(self):
        @contextlib.asynccontextmanager
        @gput.sub_track("transaction", sub_tracking_file="m.csv")
        async def transaction(seen):
            try:
                yield
            except KeyError:
                seen.append("rolled back")

        async def run():
            async with transaction(seen := []):
                raise KeyError
            return seen

        self.assertEqual(asyncio.run(run()), ["rolled back"])
        self.assertEqual(package.marks("m.csv"), [("transaction", 0), ("transaction", 1)])

    def test_what_gives_back_a_coroutine_runs_to_its_end(self):
        def track(name):
            return gput.sub_track(name, sub_tracking_file="m.csv")

        def passed_on(function):
            return functools.wraps(function)(lambda *arguments: function(*arguments))

        async def pause(seconds=0.05):
            await asyncio.sleep(seconds)
            return "slept"

        class Methods:
            @track("static")
            @staticmethod
            async def static():
                return await pause()

            @track("class")
            @classmethod
            async def of_class(cls):
                return await pause()

            async def __call__(self):
                return await pause()

        async def run():
            for function in (
                Methods.static,
                Methods().static,
                Methods.of_class,
                track("below")(passed_on(pause)),
                track("partial")(functools.partial(pause, 0.05)),
                track("object")(Methods()),
            ):
                self.assertEqual(await function(), "slept")
            with self.assertRaises(TypeError):
                await track("raises")(passed_on(pause))("never")

        asyncio.run(run())
        calls = gput.read_calls("m.csv")
        self.assertEqual(list(calls["code_block_name"]), ["static", "static", "class", "below", "partial", "object", "raises"])
        self.assertGreater(min(list(calls["compute_time"])[:6]), 0.04)


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
        for value, expected in ("1", True), ("", False), ("0", False):
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
            for (least, most), start, stop in zip(bounds, peaks[::2], peaks[1::2], strict=True):
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
