"""Memory, descriptors and threads after many rounds of everything that the extension hands out."""

import ctypes
import gc
import os
import pickle
import unittest

import package
import sessions

import gpu_tracker as gput
from gpu_tracker import _native

ROUNDS = 200
# Of malloc, over all rounds: less than one of the smallest pieces a round.
ALLOWED_BYTES = ROUNDS * 24


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def bytes_in_use():
    """What malloc has given out and not got back; 0 where it is not glibc's, or a sanitizer stands in for it."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    mallinfo.restype = _Mallinfo
    info = mallinfo()
    return info.uordblks + info.hblkhd


def malloc_reports():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    before = bytes_in_use()
    block = libc.malloc(1000)
    reports = bytes_in_use() > before
    libc.free(block)
    return reports


class Leaks(package.PackageTest):
    def setUp(self):
        super().setUp()
        sessions.write_session()

    def check(self, work):
        for _ in range(20):
            work()
        # Something is kept once now and then, by Python itself too; what leaks grows in every window.
        grown = [self.grown_in_rounds(work)]
        while min(grown) >= ALLOWED_BYTES and len(grown) < 10:
            grown.append(self.grown_in_rounds(work))
        self.assertLess(min(grown), ALLOWED_BYTES, grown)

    def grown_in_rounds(self, work):
        gc.collect()
        before = bytes_in_use(), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
        for _ in range(ROUNDS):
            work()
        gc.collect()
        package.await_threads(before[2])
        after = bytes_in_use(), len(os.listdir("/proc/self/fd"))
        self.assertEqual(after[1], before[1])
        return after[0] - before[0]

    def test_sessions(self):
        def work():
            session = _native.Session(sleep_time=0.001, resource_usage_file="kept", keep_samples=True, processes=True)
            session.track()
            session.samples(), session.processes(), session.report(_native.TEXT)
            session.stop()
            session.report(_native.DETAILS), session.take_warnings()

        self.check(work)

    def test_sessions_that_are_refused_or_forgotten(self):
        def work():
            for options in {"ram_unit": "x"}, {"sleep_time": 0.0}, {"tracking_file": "no/t.csv"}, {"gpu_uuids": ""}, {"no": 1}:
                try:
                    _native.Session(**options)
                except (ValueError, OSError, TypeError):
                    pass
            _native.Session(resource_usage_file="kept").track()

        self.check(work)

    def test_marks(self):
        def work():
            for name in "m.csv", "m.gputblocks":
                log = _native.Blocks(name, overwrite=True)
                log.mark("a", 0), log.mark("a", 1), log.status()
                log.close()

        self.check(work)

    def test_sub_trackers(self):
        def work():
            with gput.SubTracker("a", sub_tracking_file="m.gputblocks", overwrite=True):
                pass

        self.check(work)

    def test_tables(self):
        def work():
            samples = gput.read_samples("tracking.csv", [(1000, 1005)])
            calls = gput.read_calls("sub-tracking.csv")
            for table in samples, calls, gput.read_marks("sub-tracking.csv", "a"):
                table.__arrow_c_stream__(), table.__arrow_c_schema__(), table.to_dict(), repr(table)
            memoryview(samples["main_ram"]).tolist()
            for refused in "no.csv", "sub-tracking.csv":
                try:
                    gput.read_samples(refused)
                except (OSError, ValueError):
                    pass

        self.check(work)

    def test_recordings_of_power(self):
        os.mkdir("rec")
        with open("rec/power_metrics.json", "w") as file:
            for second in range(3):
                file.write('{"date": "2023-06-30 16:32:1%d", "metrics": {"cpu": {"intel_power": 1}}}\n' % second)

        def work():
            recording = _native.Recording("rec")
            recording.metrics, recording.warning, recording.metric("intel_power", "1"), recording.seconds(None, "1")
            recording.seconds(), recording.text(), recording.summary(), recording.draw(["intel_power"])
            recording.curves(["intel_power"], "1")["intel_power"].column(0).tolist()
            for wrong in (lambda: recording.metric("x"), lambda: recording.seconds("x"), lambda: recording.curves(["intel_power", "x"]),
                          lambda: recording.draw([1]), lambda: _native.Recording("no")):  # fmt: skip
                try:
                    wrong()
                except (OSError, ValueError, TypeError):
                    pass
            session = _native.Session(sleep_time=0.001, resource_usage_file="kept", energy_folder="written", energy_continue=True)
            session.track_all((os.getpid(), os.getppid()))

        self.check(work)

    def test_analyses(self):
        with open("r.pkl", "wb") as file:
            pickle.dump(gput.SubTrackingAnalyzer("tracking.csv", "sub-tracking.csv").sub_tracking_results(), file)

        def work():
            gput.SubTrackingAnalyzer("tracking.csv", "sub-tracking.csv").tables(details=True, split="process")
            gput.SubTrackingResults.load("r.pkl")
            gput.TrackingComparison({"A": "r.pkl"}).compare()

        self.check(work)

    @unittest.skipUnless(malloc_reports(), "malloc does not report")
    def test_a_leak_would_be_seen(self):
        leaked = []
        with self.assertRaises(AssertionError):
            self.check(lambda: leaked.append(ctypes.CDLL(None).malloc(16)))


if __name__ == "__main__":
    package.main()
