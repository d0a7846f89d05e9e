"""PandasFrame, with pandas and without."""

import datetime
import unittest

import package
import training
from profiles import ProfileTest, WithoutPandas, column, moment, pandas, rows, us
from training import BEGIN_US, EVAL, TRAIN

from gpu_tracker.profiler import PandasFrame


class Frame(ProfileTest):
    def test_readings(self):
        system = self.frame.get_all_system_metrics()
        self.assertEqual(
            list(system.columns), ["timestamp", "timestamp_us", "value", "system_metric", "dimension", "nodeID", "type"]
        )
        self.assertEqual(len(system), 20)
        self.assertIn((moment(1.5), 1500000, 10.0, "cpu0", "CPUUtilization", "algo-1", "cpu"), rows(system))
        self.assertEqual(self.frame.start_time, BEGIN_US)
        self.assertEqual(column(self.frame.get_all_system_metrics(["gpu0"]), "value"), training.GPU)

    def test_events(self):
        events = self.frame.get_all_framework_metrics()
        self.assertEqual(
            list(events.columns),
            [
                *("start_time", "end_time", "start_time_us", "end_time_us", "tid", "pid", "framework_metric", "step", "bytes"),
                *("process", "nodeID"),
            ],
        )
        self.assertEqual(len(events), 15)  # two workers do not differ in these columns
        times = moment(2), moment(2.5), 2000000, 2500000
        self.assertIn((*times, 7, 27, TRAIN, 1, -1, TRAIN, "algo-1-27"), rows(events))
        forward = self.frame.get_all_framework_metrics(["Forward"])
        self.assertEqual(column(forward, "framework_metric"), ["conv<1>"] * 4)
        self.assertEqual((column(forward, "bytes"), column(forward, "step")), ([4096] * 4, [-1] * 4))
        self.assertEqual(len(self.frame.get_all_framework_metrics([TRAIN, "DataIterator"])), 3 + 4)
        self.assertEqual(len(self.frame.get_all_framework_metrics(["none"])), 0)

    def test_by_time(self):
        system, framework = self.frame.get_profiler_data_by_time(us(2.5), us(3.5))
        self.assertEqual(column(system, "timestamp_us"), [2500000, 2500000, 3500000, 3500000])
        self.assertEqual(sorted(set(column(framework, "step"))), [-1, 1, 2])  # step 1 ends at 2.5 s
        system, framework = self.frame.get_profiler_data_by_time(us(2.5), us(3.5), get_system_metrics=False)
        self.assertEqual((len(system), len(framework)), (0, 4))
        self.assertEqual(column(system, "value"), [])
        system, framework = self.frame.get_profiler_data_by_time(
            us(0), us(9), selected_system_metrics=["cpu0"], selected_framework_metrics=[EVAL], get_framework_metrics=True
        )
        self.assertEqual((len(system), len(framework)), (9, 1))

    def test_by_time_with_what_was_asked_for_before(self):
        self.frame.get_profiler_data_by_time(us(0), us(2.4), cache_metrics=True)
        system, framework = self.frame.get_profiler_data_by_time(us(2.2), us(3.5), cache_metrics=True)
        expected = self.frame.get_profiler_data_by_time(us(0), us(3.5))
        self.assertEqual([sorted(rows(system)), sorted(rows(framework))], [sorted(map(tuple, rows(it))) for it in expected])

    def test_by_step(self):
        system, framework = self.frame.get_profiler_data_by_step(1, 2)
        self.assertEqual(column(framework, "framework_metric"), [TRAIN, EVAL])
        self.assertEqual(column(system, "timestamp_us"), [2500000, 2500000])

    def test_a_stretch_that_ends_first_is_empty(self):
        for frames in self.frame.get_profiler_data_by_step(2, 1), self.frame.get_profiler_data_by_time(us(2), us(1)):
            self.assertEqual([rows(frame) for frame in frames], [[], []])
            self.assertEqual(column(frames[1], "framework_metric"), [])

    def test_moments(self):
        self.assertEqual(self.frame.convert_datetime_to_timestamp(moment(1.123457)), us(1.123457))
        aware = datetime.datetime(2020, 9, 13, 14, 26, 40, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
        self.assertEqual(self.frame.convert_datetime_to_timestamp(aware), BEGIN_US)
        by_moments = self.frame.get_framework_metrics_by_timesteps
        self.assertEqual(by_moments(), ({}, {}, {}))
        self.assertEqual(by_moments([moment(9)]), ({}, {}, {}))
        self.assertEqual(by_moments([moment(1)]), ({}, {}, {}))  # where something begins, it is not yet going on
        processes, events, steps = by_moments([moment(1.12), moment(4.2)])
        self.assertEqual(processes, {"DataIterator": 0.4 / 0.5, "Forward-node": 0.05 / 0.5, "DataLoaderWorker": 1.0})
        self.assertEqual(events, {"DataLoaderIter::GetNext": 400000, "Forward": 50000, "DataLoaderWorker": 500000})
        self.assertEqual(steps, {TRAIN: 3000000})
        self.assertEqual(by_moments([moment(1.12)], ["Forward"]), ({"Forward-node": 1.0}, {"Forward": 50000}, {}))

    def test_intervals(self):
        by_intervals = self.frame.get_framework_metrics_by_begin_and_end_timesteps
        processes, events = by_intervals([moment(2), moment(4)], [moment(2.05), moment(5)])
        self.assertEqual(processes, {"DataIterator": 1.0, "Forward-node": 0.05 / 0.5})
        self.assertEqual(events, {"DataLoaderIter::GetNext": 1.0, "Forward": 0.05 / 0.5})
        self.assertEqual(by_intervals([], []), ({}, {}))

    def test_events_of_data_loaders(self):
        events = self.frame.get_all_dataloader_metrics(["DataLoaderIter$", "LoaderWork", r"^_Multi.*__$"])
        self.assertEqual(
            list(events.columns),
            [
                *("start_time", "end_time", "start_time_us", "end_time_us", "duration_us", "pid", "framework_metric", "step"),
                *("worker_id", "num_workers", "pin_memory", "process", "node_id"),
            ],
        )
        self.assertEqual(len(events), 4)
        kind = "_MultiProcessingDataLoaderIter.__init__"
        times = moment(1.001), moment(1.002), 1001000, 1002000, 1000
        self.assertEqual(rows(events)[0], (*times, 27, kind, -1, -1, 2, "True", "DataLoaderIterInitialize", "algo-1-27"))
        self.assertEqual(set(column(events, "pin_memory")), {"True", "NA"})
        self.assertEqual(len(self.frame.get_all_dataloader_metrics()), 16)


class Plain(WithoutPandas, Frame):
    def test_frames_are_plain(self):
        self.assertEqual(type(self.frame.get_all_system_metrics()).__module__, "gpu_tracker._tables")
        self.assertIn("CPUUtilization", repr(self.frame.get_all_system_metrics()))
        frame = self.frame.get_all_system_metrics(["none"])
        self.assertEqual((list(frame.columns), frame.shape), (list(self.frame.get_all_system_metrics().columns), (0, 7)))
        with self.assertRaises(ValueError):
            frame["new"] = [1]


@unittest.skipUnless(pandas, "pandas is not installed")
class Pandas(package.PackageTest):
    def test_frames_are_dataframes(self):
        frame = PandasFrame(training.write_training())
        system, framework = frame.get_profiler_data_by_step(0, 1)
        self.assertIsInstance(system, pandas.DataFrame)
        self.assertEqual(str(system.dtypes["value"]), "float64")
        self.assertEqual(str(framework.dtypes["step"]), "int64")
        self.assertEqual(frame.convert_datetime_to_timestamp(pandas.Timestamp("2020-09-13T12:26:40.000001")), us(1e-6))
        self.assertEqual(frame.convert_datetime_to_timestamp(pandas.Timestamp("2020-09-13").to_datetime64()) % 86400000000, 0)


if __name__ == "__main__":
    package.main()
