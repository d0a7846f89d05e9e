"""PandasFrameAnalysis, with pandas and without."""

import unittest

import package
import training
from profiles import ProfileTest, WithoutPandas, column, moment, pandas, rows
from training import EVAL, TRAIN

from gpu_tracker.profiler import (
    PandasFrame,
    PandasFrameAnalysis,
    Resource,
    StatsBy,
)


class Analysis(ProfileTest):
    def test_steps_are_found_for_events_that_name_none(self):
        events = self.analysis.framework_metrics_df
        self.assertEqual(set(column(events, "step")), {0, 1, 2, 3})
        for start, step, duration in zip(*(column(events, name) for name in ("start_time_us", "step", "duration_us"))):
            _, begin, end = training.STEPS[step]
            self.assertTrue(begin * 1e6 <= start and start + duration <= end * 1e6 + 1)

    def test_job(self):
        job = self.analysis.get_job_statistics()
        self.assertEqual(
            list(job),
            [
                *("start_time", "end_time", "job_duration", "training_loop_start", "training_loop_end"),
                *("training_loop_duration", "initialization", "finalization"),
                *("initialization_%", "training_loop_%", "finalization_%"),
            ],
        )
        self.assertEqual((job["start_time"], job.end_time, job.job_duration), (moment(0.5), moment(9.5), 9000000))
        self.assertEqual((job.training_loop_start, job["training_loop_end"]), (moment(1), moment(6)))
        self.assertEqual(list(job["training_loop_duration"]), [5000000])
        self.assertEqual((job["initialization"], job["finalization"]), (1000000, 3500000))
        self.assertAlmostEqual(list(job["training_loop_%"])[0], 5 / 9 * 100)
        self.assertIn("training_loop_duration", repr(job))
        self.assertIn("5000000", repr(job))
        self.assertRegex(job._repr_html_(), r">training_loop_duration</th><td [^>]*>\d+")

    def test_job_that_cannot_be_determined(self):
        system = self.frame.get_all_system_metrics
        no_loop = PandasFrameAnalysis(system(), self.frame.get_all_framework_metrics(["Forward"]))
        with self.assertRaisesRegex(ValueError, "no step 0 of Step:ModeKeys.TRAIN or Step:ModeKeys.GLOBAL"):
            no_loop.get_job_statistics()
        self.assertEqual(column(no_loop.framework_metrics_df, "step"), [-1] * 4)
        no_readings = PandasFrameAnalysis(system(["none"]), self.frame.get_all_framework_metrics())
        with self.assertRaisesRegex(ValueError, "no readings"):
            no_readings.get_job_statistics()

    def test_durations_of_steps(self):
        steps = self.analysis.get_step_statistics()
        self.assertEqual(
            list(steps.columns),
            ["training_phase", *(f"duration_{name}_us" for name in ("mean", "min", "max", "p50", "p95", "p99"))],
        )
        self.assertEqual(rows(steps)[0], (EVAL, *[200000.0] * 6))
        self.assertEqual(rows(steps)[1], (TRAIN, 3500000 / 3, 500000.0, 2000000.0, 1000000.0, 1900000.0, 1980000.0))
        by_process = self.analysis.get_step_statistics(by=StatsBy.PROCESS)
        self.assertEqual(
            column(by_process, "process"),
            ["DataIterator", "DataLoaderIterInitialize", "DataLoaderWorker", "Forward-node", EVAL, TRAIN],
        )
        metrics = self.analysis.get_step_statistics(StatsBy.FRAMEWORK_METRICS)
        self.assertEqual(metrics.columns[0], "framework_metric")
        workers = next(row for row in rows(metrics) if row[0] == "DataLoaderWorker")
        self.assertEqual(workers[1:4], (500000.0,) * 3)  # three of one step are one span
        self.assertIsNone(self.analysis.get_step_statistics("process"))

    def test_utilization(self):
        utilization = self.analysis.get_utilization_stats()
        names = [f"utilization_{name}" for name in ("mean", "min", "max", "p50", "p95", "p99")]
        self.assertEqual(list(utilization.columns), ["Resource", "nodeID", *names])
        self.assertEqual(rows(utilization)[0][:6], ("cpu", "algo-1", 45.0, 0.0, 90.0, 45.0))
        self.assertAlmostEqual(rows(utilization)[0][6], 85.5)
        self.assertEqual(column(self.analysis.get_utilization_stats([Resource.GPU, Resource.CPU]), "Resource"), ["gpu", "cpu"])
        self.assertEqual(len(self.analysis.get_utilization_stats(Resource.NETWORK)), 0)
        self.assertIsNone(self.analysis.get_utilization_stats("gpu"))
        self.assertIsNone(self.analysis.get_utilization_stats(by="training_phase"))

    def test_utilization_by_training_phase(self):
        between = f"Between {EVAL} and {TRAIN}"
        by_phase = self.analysis.get_utilization_stats(Resource.CPU, by=StatsBy.TRAINING_PHASE)
        self.assertEqual(list(by_phase.columns)[:4], ["Resource", "Training_phase", "nodeID", "utilization_mean"])
        self.assertEqual(
            dict(zip(column(by_phase, "Training_phase"), column(by_phase, "utilization_mean"))),
            {f"After {TRAIN}": 75.0, f"Before {TRAIN}": 0.0, between: 30.0, TRAIN: 30.0},
        )  # 0.5 s | 1.5, 2.5 s | EVAL has none | 3.5 s | 4.5, 5.5 s | 6.5 to 9.5 s; TRAIN: 10, 20, 40, 50
        alone = self.analysis.get_utilization_stats(Resource.CPU, StatsBy.TRAINING_PHASE, [TRAIN])
        self.assertEqual(
            column(alone, "Training_phase"), [f"After {TRAIN}", f"Before {TRAIN}", f"Between {TRAIN} and {TRAIN}", TRAIN]
        )
        self.assertIsNone(self.analysis.get_utilization_stats(by=StatsBy.TRAINING_PHASE, phase=["none"]))
        for wrong in ["gpu"], [Resource.CPU, None], "gpu":
            with self.assertLogs("gpu_tracker", "WARNING"):
                self.assertIsNone(self.analysis.get_utilization_stats(wrong))

    def test_devices(self):
        devices = self.analysis.get_device_usage_stats()
        self.assertEqual(list(devices.columns), ["type", "nodeID", (0, 10), (10, 90), (90, 100)])
        self.assertEqual(rows(devices), [("cpu", "algo-1", 1, 8, 1), ("gpu", "algo-1", 4, 3, 3)])
        self.assertIn("(10, 90)", repr(devices))
        some = self.analysis.get_device_usage_stats(Resource.GPU, [(50, 60)])
        self.assertEqual((list(some.columns), rows(some)), (["type", "nodeID", (50, 60)], [("gpu", "algo-1", 2)]))
        self.assertEqual(len(self.analysis.get_device_usage_stats(utilization_ranges=[(200, 300)])), 0)
        for wrong in ("gpu", None), (None, []), (None, (1, 2)), (None, [(1,)]):
            self.assertEqual(len(self.analysis.get_device_usage_stats(*wrong)), 0)

    def test_intervals_of_training_phases(self):
        intervals = self.analysis.get_training_phase_intervals()
        self.assertEqual(list(intervals.columns), ["start_time_us", "end_time_us", "phase"])
        between = f"Between {EVAL} and {TRAIN}"
        self.assertEqual(
            rows(intervals),
            [
                (500000, 999999, f"Before {TRAIN}"),
                (1000000, 2500000, TRAIN),
                (2500001, 2999999, between),
                (3000000, 3200000, EVAL),
                (3200001, 3999999, between),
                (4000000, 6000000, TRAIN),
                (6000001, 9500000, f"After {TRAIN}"),
            ],
        )
        alone = self.analysis.get_training_phase_intervals(TRAIN)
        self.assertEqual(column(alone, "phase").count(TRAIN), 3)
        self.assertIsNone(self.analysis.get_training_phase_intervals(["none"]))
        self.assertIsNone(self.analysis.get_training_phase_intervals((TRAIN,)))


class Plain(WithoutPandas, Analysis):
    pass


@unittest.skipUnless(pandas, "pandas is not installed")
class Pandas(package.PackageTest):
    def test_frames_of_the_user_are_read(self):
        frame = PandasFrame(training.write_training())
        system, framework = frame.get_all_system_metrics(), frame.get_all_framework_metrics()
        shuffled = framework.sample(frac=1, random_state=3)
        analysis = PandasFrameAnalysis(system[system["value"] > 40].copy(), shuffled)
        self.assertEqual(analysis.get_utilization_stats(Resource.CPU)["utilization_min"][0], 50)
        sorted_again = shuffled.sort_index()
        self.assertEqual(
            list(sorted_again["step"]),
            list(PandasFrameAnalysis(system, framework).framework_metrics_df["step"]),
        )
        self.assertEqual(repr(analysis.get_device_usage_stats()).split()[0], "ranges")


if __name__ == "__main__":
    package.main()
