"""Tracking programs of several processes: multiprocessing by each start method, fork, asyncio, threads."""

import os

import package

import gpu_tracker as gput

POOL = """
import multiprocessing, sys, time
import gpu_tracker as gput

def begin(barrier):
    global both
    both = barrier


def hold(_):
    block = b"x" * 50_000_000
    both.wait()
    time.sleep(1)
    return len(block)

if __name__ == "__main__":
    method = sys.argv[1]
    with gput.Tracker(sleep_time=0.02, ram_unit="bytes", disable_logs=True) as tracker:
        context = multiprocessing.get_context(method)
        with context.Pool(2, begin, (context.Barrier(2),)) as pool:
            pool.map(hold, range(2), chunksize=1)
    usage = tracker.resource_usage
    print(usage.max_ram.descendants.total_rss, usage.cpu_utilization.descendants_n_threads)
"""


class Pools(package.PackageTest):
    def check(self, method):
        rss, threads = self.run_python(POOL, method).stdout.split()
        self.assertGreater(float(rss), 90_000_000)
        self.assertGreaterEqual(int(threads), 2)

    @package.skip_where_forks_hang
    def test_fork(self):
        self.check("fork")

    def test_spawn(self):
        self.check("spawn")

    def test_forkserver(self):
        self.check("forkserver")


class Forks(package.PackageTest):
    @package.skip_where_forks_hang
    def test_a_child_does_not_track_and_does_not_disturb(self):
        with gput.Tracker(sleep_time=0.01, tracking_file="t.csv") as tracker:
            child = os.fork()
            if child == 0:
                try:
                    tracker.stop()
                except RuntimeError as error:
                    os._exit(0 if "fork" in str(error) else 2)
                os._exit(1)
            status = os.waitpid(child, 0)[1]
        self.assertEqual(status, 0)
        self.assertIsNotNone(tracker.resource_usage)
        self.assertEqual(sorted(os.listdir()), ["t.csv", "t.csv.session.json"])

    @package.skip_where_forks_hang
    def test_a_child_may_leave_the_block(self):
        code = """
import gpu_tracker as gput, os, sys
with gput.Tracker(disable_logs=True) as tracker:
    child = os.fork()
if child == 0:
    sys.exit(0 if tracker.resource_usage is None else 1)
print(os.waitpid(child, 0)[1], tracker.resource_usage is not None)
"""
        self.assertEqual(self.run_python(code).stdout, "0 True\n")

    @package.skip_where_forks_hang
    def test_a_child_may_track_itself(self):
        code = """
import gpu_tracker as gput, os, time
with gput.Tracker(sleep_time=0.01, disable_logs=True) as tracker:
    child = os.fork()
    if child == 0:
        with gput.Tracker(sleep_time=0.01, disable_logs=True, ram_unit="bytes") as own:
            block = b"x" * 60_000_000
        os._exit(0 if own.resource_usage.max_ram.main.total_rss > 60_000_000 else 1)
    print(os.waitpid(child, 0)[1])
"""
        self.assertEqual(self.run_python(code).stdout, "0\n")

    def test_leaves_no_thread_and_no_file_behind(self):
        before = len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
        for _ in range(200):
            with gput.Tracker(sleep_time=0.01, disable_logs=True):
                pass
        package.await_threads(before[0])
        self.assertEqual(len(os.listdir("/proc/self/fd")), before[1])

    def test_a_tracker_that_is_forgotten_stops_and_leaves_its_figures(self):
        before = len(os.listdir("/proc/self/task"))
        tracker = gput.Tracker(sleep_time=0.01)
        tracker.start()
        self.assertGreater(len(os.listdir("/proc/self/task")), before)
        del tracker
        package.await_threads(before)
        (kept,) = os.listdir()
        self.assertGreater(gput.load_resource_usage(kept).max_ram.main.total_rss, 0)

    def test_a_tracker_that_never_started_leaves_nothing(self):
        gput.Tracker(resource_usage_file="kept")
        self.assertEqual(os.listdir(), [])


if __name__ == "__main__":
    package.main()
