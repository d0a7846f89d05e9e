"""SubTracker and sub_track in several processes: forks, signal handlers around them, pools, pickled objects, a kill."""

import copy
import os
import pickle

import package

import gpu_tracker as gput


def sqlite_log(path):
    """What SQLite has next to an open file."""
    return [name for name in (f"{path}-shm", f"{path}-wal") if os.path.exists(name)]


class Processes(package.PackageTest):
    @package.skip_where_forks_hang
    def test_a_signal_handler_may_mark_while_the_program_forks(self):
        code = """
import os, signal

def mark(*_):
    for name in "m.sqlite", "other.sqlite":
        with gput.SubTracker("signal", sub_tracking_file=name):
            pass

def signal_in_a_fork():
    signal.raise_signal(signal.SIGUSR1)

# Hooks before a fork run last in, first out, those after it first in, first out: these run between the package's.
os.register_at_fork(before=signal_in_a_fork, after_in_parent=signal_in_a_fork)
import gpu_tracker as gput
with gput.SubTracker("begin", sub_tracking_file="m.sqlite"):
    pass
signal.signal(signal.SIGUSR1, mark)
child = os.fork()
if child == 0:
    mark()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(gput.read_calls("m.sqlite")))
"""
        self.assertEqual(self.run_python(code).stdout, "4\n")

    @package.skip_where_forks_hang
    def test_a_signal_handler_that_raises_while_the_program_forks_leaves_nothing_locked(self):
        code = """
import ctypes, functools, os, signal, sys, threading

# Pending when the next hook begins: neither of these two is Python code, after which handlers run.
send = functools.partial(getattr(ctypes.CDLL(None), "raise"), int(signal.SIGUSR1))
when = sys.argv[1]
if when == "after_in_parent":
    os.register_at_fork(after_in_parent=send)
import gpu_tracker as gput
if when == "before":
    os.register_at_fork(before=send)

def mark(name):
    with gput.SubTracker("a", sub_tracking_file=name):
        pass

def interrupt(*_):
    raise KeyboardInterrupt

mark("m.sqlite")
signal.signal(signal.SIGUSR1, interrupt)
try:
    child = os.fork()
    if child == 0:
        os._exit(0)
    for _ in range(1000):
        pass
except KeyboardInterrupt:
    print("interrupted")
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
for name in "m.sqlite", "other.csv":
    thread = threading.Thread(target=mark, args=(name,))
    thread.start()
    thread.join()
print(len(gput.read_calls("m.sqlite")))
"""
        for when in "before", "after_in_parent":
            done = self.run_python(code, when)
            self.assertEqual((done.stdout, done.stderr), ("interrupted\n2\n", ""))
            os.unlink("m.sqlite")
            os.unlink("other.csv")

    def test_a_child_leaves_the_block_of_its_parent_unmarked(self):
        for name in "m.csv", "m.sqlite":
            with gput.SubTracker("a", sub_tracking_file=name) as block:
                child = os.fork()
                if child == 0:
                    block.__exit__()
                    os._exit(0)
                os.waitpid(child, 0)
            self.assertEqual(list(gput.read_calls(name)["process_id"]), [os.getpid()])

    def test_a_forked_child_adds_to_the_file(self):
        for name in "m.csv", "m.sqlite":
            block = gput.SubTracker("a", sub_tracking_file=name)

            def mark():
                with block:
                    pass

            mark()
            child = os.fork()
            if child == 0:
                mark()
                grandchild = os.fork()
                mark()
                os._exit(os.waitpid(grandchild, 0)[1] if grandchild else 0)
            mark()
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            mark()
            calls = gput.read_calls(name)["process_id"]
            self.assertEqual((list(calls).count(os.getpid()), list(calls).count(child), len(calls)), (3, 2, 6))
        self.assertEqual(sorted(os.listdir()), ["m.csv", "m.sqlite", *sqlite_log("m.sqlite")])

    def test_a_forked_child_writes_a_log_of_its_own(self):
        block = gput.SubTracker("a", sub_tracking_file="m.gputblocks")
        with block:
            pass
        child = os.fork()
        with block:
            pass
        if child == 0:
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(gput.read_calls("m.gputblocks")), 2)
        self.assertEqual(len(gput.read_calls(f"m-{child}.gputblocks")), 1)
        with gput.Tracker(tracking_file="t.csv"):
            pass
        with self.assertLogs("gpu_tracker", "WARNING") as logged:
            gput.SubTrackingAnalyzer("t.csv", "m.gputblocks").sub_tracking_results()
        self.assertIn(f"not included: m-{child}.gputblocks. Combine", logged.output[0])

    def test_pools_mark_in_one_file(self):
        code = """
import multiprocessing, sys
import gpu_tracker as gput

path = sys.argv[2]

@gput.sub_track("decorated", sub_tracking_file=path)
def work(block):
    with block:
        pass

def spawned(block):
    with block:
        pass


if __name__ == "__main__":
    block = gput.SubTracker("given", sub_tracking_file=path)
    method = sys.argv[1]
    work(block)
    with multiprocessing.get_context(method).Pool(3) as pool:
        pool.map(work if method == "fork" else spawned, [block] * 200, chunksize=5)
"""
        methods = [] if package.forks_hang else ["fork"]
        for method in methods + ["spawn", "forkserver"]:
            for name in f"{method}.csv", f"{method}.sqlite":
                self.run_python(code, method, name)
                names = list(gput.read_calls(name)["code_block_name"])
                expected = 201 if method == "fork" else 1
                self.assertEqual((names.count("given"), names.count("decorated")), (201, expected), name)
        self.assertEqual([name for name in os.listdir() if "-" in name and not name.endswith(("-wal", "-shm", "-journal"))], [])

    def test_a_copy_keeps_what_it_marks(self):
        block = gput.SubTracker("a", sub_tracking_file="m.gputblocks")
        copied = pickle.loads(pickle.dumps(copy.copy(block)))
        with block, copied:
            pass
        expected = ("a", os.path.join(os.getcwd(), "m.gputblocks"), os.getpid())
        self.assertEqual((copied.code_block_name, copied.sub_tracking_file, copied.process_id), expected)
        self.assertEqual(len(gput.read_calls("m.gputblocks")), 2)

    def test_another_process_marks_in_the_same_file_wherever_it_runs(self):
        code = """
import pickle, sys
with pickle.loads(bytes.fromhex(sys.argv[1])):
    pass
"""
        os.mkdir("elsewhere")
        for name in "m.csv", "m.sqlite":
            block = gput.SubTracker("a", sub_tracking_file=name)
            first = pickle.dumps(block)
            with block:
                os.chdir("elsewhere")
            second = pickle.dumps(block)
            for pickled in first, second:
                self.run_python(code, pickled.hex())
            os.chdir("..")
            self.assertEqual(len(gput.read_calls(name)), 3)
        self.assertEqual(os.listdir("elsewhere"), [])

    def test_a_file_of_an_earlier_run_is_not_shared(self):
        open("m.csv", "w").write("mine")
        self.assertRaises(FileExistsError, pickle.dumps, gput.SubTracker("a", sub_tracking_file="m.csv"))
        self.assertEqual(open("m.csv").read(), "mine")

    def test_a_killed_program_leaves_its_marks(self):
        for name in "m.csv", "m.sqlite", "m.gputblocks":
            code = f"""
import gpu_tracker as gput, os
with gput.SubTracker("a", sub_tracking_file="{name}"):
    pass
os.kill(os.getpid(), 9)
"""
            self.assertEqual(self.run_python(code, check=False).returncode, -9)
            self.assertEqual(gput.SubTrackingAnalyzer(None, name).load_code_block_names(), ["a"])
            self.assertEqual(len(gput.SubTrackingAnalyzer(None, name).load_timestamp_pairs("a")), 1)


if __name__ == "__main__":
    package.main()
