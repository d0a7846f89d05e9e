"""SubTracker and sub_track in threads, tasks, coroutines and generators."""

import asyncio
import contextlib
import csv
import functools
import os
import threading
import time

import package

import gpu_tracker as gput


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
            self.assertEqual([await sent.__anext__(), await sent.asend(42), await sent.athrow(thrown)], [0, 42, thrown])
            with self.assertRaises(StopAsyncIteration):
                await sent.asend("enough")
            self.assertEqual(seen, ["closed"])
            closed = echo(seen)
            await closed.__anext__()
            await closed.aclose()
            self.assertEqual(seen, ["closed"] * 2)
            raised = echo(seen)
            await raised.__anext__()
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


if __name__ == "__main__":
    package.main()
