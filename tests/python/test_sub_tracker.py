"""SubTracker and sub_track: names and files."""

import contextlib
import csv
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import threading
import time

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

    def test_the_default_name_takes_the_next_free_one(self):
        name = f"{os.getpid()}.csv"
        open(name, "w").write("of another host")
        with self.assertWarnsRegex(RuntimeWarning, f"marks of code blocks are written to {os.getpid()}.1.csv"):
            with gput.SubTracker("a"):
                pass
        with gput.SubTracker("b"):
            pass
        self.assertEqual(open(name).read(), "of another host")
        self.assertEqual(len(open(f"{os.getpid()}.1.csv").readlines()), 5)

    def test_placeholders_in_a_name(self):
        for _ in range(2):  # the same file
            with gput.SubTracker("a", sub_tracking_file="m-%p-%%.csv"):
                pass
        self.assertEqual(len(open(f"m-{os.getpid()}-%.csv").readlines()), 5)

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
                with block:  # another working directory is not another file
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

    def test_a_small_limit_of_file_sizes_costs_marks_and_not_the_program(self):
        for name in ("m.csv", "m.sqlite", "m.gputblocks"):
            program = f"""
import resource, gpu_tracker as gput
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
for _ in range(500):
    with gput.SubTracker("a", sub_tracking_file={name!r}): pass
"""
            with self.subTest(name=name):
                done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                lost = re.search(r"RuntimeWarning: (\d+) marks of code blocks are not in m\.", done.stderr)
                self.assertTrue(lost, done.stderr)
                if name == "m.sqlite":
                    with contextlib.closing(sqlite3.connect(self.folder / name)) as base:
                        marks = base.execute("SELECT code_block_name FROM data").fetchall()
                    kept = marks.count(("a",))
                    self.assertGreater(kept, 0)
                    self.assertEqual(kept + int(lost[1]), 1000)

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

    MOSTLY_WAITS = True

    def setUp(self):
        super().setUp()
        self.block = gput.SubTracker("a", sub_tracking_file="m.sqlite")
        self.block.__enter__()
        self.block.__exit__(None, None, None)
        self.locker = subprocess.Popen([sys.executable, "-c", LOCKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.unlock)
        self.assertEqual(self.locker.stdout.readline(), b"locked\n")
        self.progress, self.progressed, self.has_begun = 0, None, threading.Event()
        self.thread = threading.Thread(target=self.mark)

    def unlock(self):
        if self.locker.returncode is None:
            self.locker.communicate()

    def mark(self):
        before = self.progress
        self.has_begun.set()
        try:
            self.block.__enter__()
        except OSError:  # waited long enough
            pass
        self.progressed = self.progress - before

    def wait_a_little(self):
        self.has_begun.wait()
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


if __name__ == "__main__":
    package.main()
