"""Tracker(log_to=…) with the packages themselves, each into a store on this machine; without one, its test is skipped."""

import contextlib
import importlib.util
import json
import math
import os
import pathlib
import sqlite3
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

import package
import sessions
import gpu_tracker
from gpu_tracker import _log_to

CPU = "system/cpu_combined_sum_utilization_percent"
RAM = "system/combined_ram_megabytes"
PEAK = "gpu_tracker/max_combined_ram_bytes"


def needs(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"{name} is not installed")


def work():
    """Some samples of a process that uses some RAM."""
    held = bytearray(30_000_000)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        sum(held[:10000])


class LogTo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        os.chdir(folder.name)
        self.addCleanup(os.chdir, before)
        self.folder = pathlib.Path(folder.name)

    def track(self, target, **variables):
        """The details of a tracked session, which was logged without a warning."""
        with unittest.mock.patch.dict(os.environ, {name: str(value) for name, value in variables.items()}), self.assertNoLogs("gpu_tracker", "ERROR"):
            with unittest.mock.patch("gpu_tracker.tracker._log_warnings", self.refuse_warning):
                with gpu_tracker.Tracker(sleep_time=0.05, log_to=target) as tracker:
                    work()
        self.assertFalse(list(self.folder.glob("*.sqlite")))
        return tracker

    @staticmethod
    def refuse_warning(messages):
        unexpected = [message for message in messages if "No GPU was found" not in message]
        if unexpected:
            raise AssertionError(unexpected)

    def check_figures(self, tracker, curves, summary):
        """Curves have several points, of the process's true size, and their maximum is within the summary's."""
        peak = tracker.max_ram.combined.total_rss * 1e9
        self.assertGreater(len(curves[CPU]), 2)
        self.assertGreater(max(curves[RAM]), 30)
        self.assertAlmostEqual(max(curves[RAM]) * 1e6, peak, delta=peak / 20)
        self.assertAlmostEqual(summary[PEAK], peak, delta=peak / 1e5)
        self.assertGreater(summary["gpu_tracker/elapsed_seconds"], 0.4)

    @needs("mlflow")
    def test_mlflow(self):
        store = f"sqlite:///{self.folder}/mlflow.db" if importlib.util.find_spec("sqlalchemy") else f"file://{self.folder}/mlruns"
        import mlflow

        mlflow.set_tracking_uri(store)
        tracker = self.track("mlflow", MLFLOW_TRACKING_URI=store)
        client = mlflow.MlflowClient(store)
        (own,) = client.search_runs(["0"])
        self.assertEqual(own.info.status, "FINISHED")
        curves = {name: [point.value for point in client.get_metric_history(own.info.run_id, name)] for name in (CPU, RAM)}
        self.check_figures(tracker, curves, own.data.metrics)
        self.assertEqual(own.data.tags["gpu_tracker.session_id"], tracker.details["identity"]["session_id"])
        self.assertFalse([name for name in own.data.metrics if "gpu" in name.replace("gpu_tracker/", "")])
        times = [point.timestamp for point in client.get_metric_history(own.info.run_id, RAM)]
        self.assertLess(own.info.start_time - 1, times[0])
        self.assertLess(times[0], times[-1])

        with mlflow.start_run() as active:
            self.track("mlflow")
        self.assertIn(PEAK, client.get_run(active.info.run_id).data.metrics)
        named = client.create_run("0").info.run_id
        self.track("mlflow", MLFLOW_RUN_ID=named)
        self.assertIn(PEAK, client.get_run(named).data.metrics)
        self.assertEqual(client.get_run(named).info.status, "RUNNING")  # whose it is ends it
        self.track("mlflow", MLFLOW_RUN_ID=named, OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=2)
        (child,) = client.search_runs(["0"], f"tags.mlflow.parentRunId = '{named}'")
        self.assertIn("rank 1", child.info.run_name)
        self.assertIn(PEAK, child.data.metrics)

    @needs("trackio")
    def test_trackio(self):
        trackio_dir = self.folder / "trackio"
        with unittest.mock.patch.dict(os.environ, {"TRACKIO_DIR": str(trackio_dir), "HF_HUB_OFFLINE": "1"}):
            tracker = self.track("trackio", TRACKIO_PROJECT="ours", TRACKIO_RUN_NAME="first")
        with contextlib.closing(sqlite3.connect(trackio_dir / "ours.db")) as database:
            rows = [json.loads(row) for (row,) in database.execute("SELECT metrics FROM system_metrics WHERE run_name = 'first' ORDER BY timestamp")]
            (summary,) = [json.loads(row) for (row,) in database.execute("SELECT metrics FROM metrics WHERE run_name = 'first'")]
        curves = {name: [row[name] for row in rows if name in row] for name in (CPU, RAM)}
        self.check_figures(tracker, curves, summary)

    @needs("wandb")
    def test_wandb_offline(self):
        import wandb

        self.addCleanup(wandb.teardown)
        tracker = self.track("wandb", WANDB_MODE="offline", WANDB_DIR=self.folder, WANDB_RUN_ID="abc")
        (path,) = self.folder.glob("wandb/offline-run-*-abc/run-abc.wandb")
        rows, summary = [], {}
        for record in wandb_records(path):
            if record.history.item:
                rows.append({item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item})
            summary |= {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.summary.update}
        curves = {name: [row[name] for row in rows if name in row] for name in (CPU, RAM)}
        self.check_figures(tracker, curves, summary)

    @needs("tensorboardX")
    @needs("tensorboard")
    def test_tensorboard(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        tracker = self.track("tensorboard", TENSORBOARD_LOGDIR=self.folder / "logs", OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=2)
        self.assertEqual([path.name for path in (self.folder / "logs").iterdir()], ["rank-1"])
        events = EventAccumulator(str(self.folder / "logs" / "rank-1"))
        events.Reload()
        curves = {name: [point.value for point in events.Scalars(name)] for name in (CPU, RAM)}
        self.check_figures(tracker, curves, {name: events.Scalars(name)[0].value for name in (PEAK, "gpu_tracker/elapsed_seconds")})

    def test_other_words_and_missing_packages_are_refused_before_anything_is_tracked(self):
        with self.assertRaisesRegex(ValueError, r'log_to="mlfow" is not .*did you mean mlflow\?.* "tensorboard"\.'):
            gpu_tracker.Tracker(log_to="mlfow")
        with unittest.mock.patch("gpu_tracker._log_to._is_installed", lambda _: False):
            with self.assertRaisesRegex(ImportError, r"-m pip install wandb$"):
                gpu_tracker.Tracker(log_to="wandb")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_store_that_fails_is_a_warning(self):
        stub = types.ModuleType("tensorboardX")
        stub.SummaryWriter = unittest.mock.Mock(side_effect=OSError("no space\nleft"))
        with (
            unittest.mock.patch.dict(sys.modules, tensorboardX=stub),
            unittest.mock.patch("gpu_tracker._log_to._is_installed", lambda _: True),
            unittest.mock.patch("importlib.util.find_spec", lambda _: True),
            self.assertLogs("gpu_tracker", "WARNING") as logs,
        ):
            with gpu_tracker.Tracker(sleep_time=0.05, log_to="tensorboard") as tracker:
                pass
        self.assertIn("This session is not in tensorboard: no space left", logs.output[-1])
        self.assertIsNotNone(tracker.resource_usage)

    def test_long_sessions_keep_every_maximum(self):
        rows = [(float(second), {"a": float(second % 977), "b": float(-second)}) for second in range(5003)]
        rows[4321][1]["a"] = 1e9
        del rows[7][1]["b"]
        thinned = _log_to._thinned(rows, -1.0)
        self.assertLessEqual(len(thinned), 500 + 500 * math.log(10) + 10)
        self.assertEqual(max(figures["a"] for _, figures in thinned), 1e9)
        self.assertEqual(thinned[-1][0], 5002.0)
        self.assertEqual(_log_to._thinned(rows[:499], -1.0), rows[:499])

    def test_nothing_is_said_of_gpus_that_are_not_there(self):
        sessions.write_tracking("a.csv")
        with gpu_tracker.Tracker(sleep_time=0.05) as tracker:
            pass
        if tracker.details["gpu_utilization"]["system_gpu_count"]:
            self.skipTest("this machine has a GPU")
        pathlib.Path("a.json").write_text(json.dumps(tracker.details))
        session = _log_to._session_that_ended("a.json", "a.csv")
        rows = session.rows()
        self.assertEqual(session.rows(), [])  # each is given once
        names = {name for _, figures in rows for name in figures} | set(session.summary)
        self.assertIn("combined_ram_megabytes", names)
        self.assertEqual([name for name in names if "gpu" in name], [])
        self.assertEqual([figures["main_ram_megabytes"] for _, figures in rows][:3], [0, 1000, 2000])


def wandb_records(path):
    """What a file of an offline run has: after 7 bytes, records in parts of blocks of 32 KiB, as LevelDB has them in its logs."""
    from wandb.proto import wandb_internal_pb2

    data, place, whole = path.read_bytes(), 7, b""
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or its last part
            record = wandb_internal_pb2.Record()
            record.ParseFromString(whole)
            whole = b""
            yield record


if __name__ == "__main__":
    package.main()
