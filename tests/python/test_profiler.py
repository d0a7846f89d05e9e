"""gpu_tracker.profiler: training profiles with the classes of SageMaker Debugger's analysis, with pandas and without."""

import contextlib
import datetime
import importlib.util
import inspect
import io
import json
import os
import pstats
import sys
import unittest
import xml.etree.ElementTree

import package
import training
from training import BEGIN_US, EVAL, TRAIN

from gpu_tracker import _pandas, profiler
from gpu_tracker.profiler import (
    MergedTimeline,
    MergeUnit,
    Metrics,
    PandasFrame,
    PandasFrameAnalysis,
    PT_dataloader_analysis,
    PythonProfileModes,
    Resource,
    StatsBy,
    StepPhase,
    StepPythonProfileStats,
)

try:
    import pandas
except ImportError:
    pandas = None

#: the alias is a namespace package, which comes from no file
installed_smdebug = getattr(importlib.util.find_spec("smdebug"), "origin", None)


def moment(seconds):
    at = datetime.datetime(2020, 9, 13, 12, 26, 40) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S:%f")


def us(seconds):
    return BEGIN_US + round(seconds * 1e6)


def rows(frame):
    """A frame of any kind as tuples."""
    columns = [list(frame[name]) for name in frame.columns]
    return list(zip(*columns))


def column(frame, name):
    return list(frame[name])


def printed(function, *arguments):
    """What a function returns, and the lines that it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        result = function(*arguments)
    return result, text.getvalue().splitlines()


class Signatures(unittest.TestCase):
    def test_are_those_of_the_old_library(self):
        for name, expected in {
            "MergedTimeline": "(path, file_suffix_filter=None, output_directory=None)",
            "MergedTimeline.open": "(self, file_path)",
            "MergedTimeline.file_name": "(self, end_timestamp_in_us)",
            "MergedTimeline.merge_timeline": "(self, start, end, unit=<MergeUnit.TIME: 'time'>, sys_metrics_filter={'lowgpu': ()})",
            "MergedTimeline.close": "(self)",
            "PandasFrameAnalysis": "(system_df, framework_df)",
            "PandasFrameAnalysis.get_job_statistics": "(self)",
            "PandasFrameAnalysis.get_step_statistics": "(self, by=<StatsBy.TRAINING_PHASE: 'training_phase'>)",
            "PandasFrameAnalysis.get_utilization_stats": "(self, resource=None, by=None, phase=None)",
            "PandasFrameAnalysis.get_device_usage_stats": "(self, device=None, utilization_ranges=None)",
            "PandasFrameAnalysis.get_training_phase_intervals": "(self, phase=None)",
            "PandasFrame": "(path, use_in_memory_cache=False, scan_interval=5000000000)",
            "PandasFrame.get_all_system_metrics": "(self, selected_system_metrics=[])",
            "PandasFrame.get_all_framework_metrics": "(self, selected_framework_metrics=[])",
            "PandasFrame.convert_datetime_to_timestamp": "(self, timestamp)",
            "PandasFrame.get_framework_metrics_by_timesteps": "(self, timestep_list=[], selected_framework_metrics=[])",
            "PandasFrame.get_framework_metrics_by_begin_and_end_timesteps": "(self, begin_timestep_list, end_timestep_list, "
            "selected_framework_metrics=[])",
            "PandasFrame.get_profiler_data_by_time": "(self, start_time_us, end_time_us, cache_metrics=False, "
            "selected_framework_metrics=[], selected_system_metrics=[], get_framework_metrics=True, get_system_metrics=True)",
            "PandasFrame.get_profiler_data_by_step": "(self, start_step, end_step, cache_metrics=False)",
            "PandasFrame.get_all_dataloader_metrics": "(self, selected_framework_metrics=[])",
            "StepPythonProfileStats": "(framework, profiler_name, node_id, stats_dir, stats_path)",
            "StepPythonProfileStats.has_start_and_end_mode": "(self, start_mode, end_mode)",
            "StepPythonProfileStats.in_time_interval": "(self, start_time_since_epoch_in_micros, end_time_since_epoch_in_micros)",
            "StepPythonProfileStats.in_step_interval": "(self, start_step, end_step, start_phase, end_phase)",
            "StepPythonProfileStats.has_node_id": "(self, node_id)",
            "cProfileStats": "(ps)",
            "cProfileStats.print_top_n_functions": "(self, by, n=10)",
            "cProfileStats.get_function_stats": "(self)",
            "cProfileFunctionStats": "(key, value)",
            "PyinstrumentStepStats": "(html_file_path, json_stats)",
            "PT_dataloader_analysis": "(pandas_frame)",
            "PT_dataloader_analysis.plot_the_window": "(self, start_timestamp, end_timestamp, select_events=['.*'], "
            "select_dimensions=['.*'])",
        }.items():
            what = profiler
            for part in name.split("."):
                what = getattr(what, part)
            self.assertEqual(str(inspect.signature(what)), expected, name)
            self.assertTrue(name.startswith("StepPython") or inspect.getdoc(what), name)

    def test_every_public_name_is_there(self):
        for name in profiler.__all__:
            self.assertTrue(hasattr(profiler, name), name)
        self.assertRaises(AttributeError, getattr, profiler, "no_such_name")


class Training(package.PackageTest):
    """With what is installed; the class below does the same without pandas."""

    def setUp(self):
        super().setUp()
        self.frame = PandasFrame(training.write_training())
        self.analysis = PandasFrameAnalysis(
            self.frame.get_all_system_metrics(), self.frame.get_all_framework_metrics()
        )

    # ---- PandasFrame ----

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

    # ---- PandasFrameAnalysis ----

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

    def test_job_that_cannot_be_told(self):
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

    # ---- PT_dataloader_analysis ----

    def test_data_loader(self):
        loader = PT_dataloader_analysis(self.frame)
        kind = "_MultiProcessingDataLoaderIter.__init__"
        _, lines = printed(loader.analyze_dataloaderIter_initialization)
        self.assertEqual(
            lines,
            [
                f"Training is configured to use {kind} with pin_memory enabled = True and number of workers = 2",
                f"The {kind} is initialized for 1 times during training",
                "Median Duration 1000.0 and Maximum duration for initialization of iterators 1000",
                "Training is not configured to use _SingleProcessDataLoaderIter.__init__ iterator",
            ],
        )
        workers, lines = printed(loader.analyze_dataloaderWorkers)
        self.assertEqual(
            lines[:2],
            [
                "Total number of workers spun off during the training 3",
                "Median Duration 100000.0 and Maximum duration for worker processes 500000",
            ],
        )
        self.assertEqual(list(workers.columns), ["start_time", "end_time", "duration_us", "worker_id"])
        self.assertEqual(rows(workers), [(moment(1.002), moment(1.502), 500000, 2)])
        calls, lines = printed(loader.analyze_dataloader_getnext)
        self.assertEqual(lines[0], "Total number of GetNext calls made during the training 4")
        self.assertEqual(lines[2], "Start time and End time for GetNext durations that are outliers (duration > 2 * median)")
        self.assertEqual(column(calls, "duration_us"), [400000])

    def test_batch_times(self):
        batches, lines = printed(PT_dataloader_analysis(self.frame).analyze_batchtime)
        self.assertEqual(lines[0], "Median time spent on each batch of data = 1.0 seconds")
        self.assertIsNone(batches)
        self.assertEqual(lines[1], "No outliers found in time taken to process the databatches.")
        path = next(os.path.join(at, name) for at, _, names in os.walk("run/framework") for name in names)
        events = json.load(open(path))
        late = [event for event in events if event["name"].endswith("GetNext")][-1]
        late["ts"] += 1500000  # 2.5 s after the one before; 1 s is the median
        json.dump(events, open(path, "w"))
        batches, _ = printed(PT_dataloader_analysis(self.frame).analyze_batchtime)
        self.assertEqual(
            list(batches.columns), ["previous_batch_start", "start_time", "BatchTime_in_seconds", "worker_id"]
        )
        self.assertEqual(column(batches, "BatchTime_in_seconds"), [2.5])
        self.assertEqual(column(batches, "start_time")[0], datetime.datetime(2020, 9, 13, 12, 26, 45, 510000))

    def test_no_data_loader(self):
        open("run/framework/pevents/none", "w").close()
        for at, _, names in os.walk("run/framework"):
            for name in names:
                os.remove(os.path.join(at, name))
        loader = PT_dataloader_analysis(self.frame)
        for function, what in {
            loader.analyze_dataloaderIter_initialization: "DataLoaderIter initialization",
            loader.analyze_dataloaderWorkers: "DataLoaderWorker processes",
            loader.analyze_dataloader_getnext: "DataLoaderIter::GetNext calls",
            loader.analyze_batchtime: "DataLoaderIter::GetNext calls",
        }.items():
            result, lines = printed(function)
            self.assertIsNone(result)
            self.assertEqual(lines[0], f"Trace events corresponding to {what} are not present")

    def test_a_window_is_a_chart(self):
        loader = PT_dataloader_analysis(self.frame)
        window = loader.plot_the_window(moment(0), moment(5), select_dimensions=["^CPU", "gpu0"])
        self.assertEqual(window._repr_html_(), window.html)
        chart = xml.etree.ElementTree.fromstring(window.html)
        self.assertEqual(len(chart.findall(".//polyline")), 2)
        self.assertEqual(len(chart.findall(".//g")), 6)
        self.assertIn("Forward-node: conv<1>", [title.text for title in chart.iter("title")])
        self.assertEqual([span.text for span in chart.iter("span")], ["CPUUtilization cpu0 algo-1", "GPUUtilization gpu0 algo-1"])
        with open(f"run/system/incremental/2020091312/{BEGIN_US // 1000000}.algo-1.json", "a") as file:
            for i, value in enumerate((1000.0, 3000.0)):
                reading = {"Type": "network", "Name": "eth0", "Dimension": "Algorithm", "NodeId": "algo-1", "Value": value}
                print(json.dumps(reading | {"Timestamp": BEGIN_US / 1e6 + i}), file=file)
        chart = xml.etree.ElementTree.fromstring(loader.plot_the_window(us(0), us(5), [], ["eth0"]).html)
        self.assertEqual([span.text for span in chart.iter("span")], ["Algorithm eth0 algo-1 (to 3000)"])
        heights = [point.split(",")[1] for point in chart.find(".//polyline").get("points").split()]
        self.assertEqual(heights, ["80.7", "2.0"])  # a third, and all of 118
        window = loader.plot_the_window(us(0), us(5), ["^Forward$"], ["none"])
        self.assertEqual(len(xml.etree.ElementTree.fromstring(window.html).findall(".//g")), 0)
        self.assertIn("0 lines, 0 kinds of events", repr(window))
        self.assertRaisesRegex(ValueError, "must end after it begins", loader.plot_the_window, us(1), us(1))

    # ---- Python profiles ----

    def test_functions_as_a_frame(self):
        folder = training.write_dumps()
        stats = profiler.cProfileAnalysis(folder).fetch_profile_stats_by_step(0)
        frame = stats.get_function_stats()
        self.assertEqual(
            list(frame.columns),
            ["function name", "# of primitive calls", "# of total calls", "total time", "cumulative time"],
        )
        line = training.factorial.__code__.co_firstlineno
        row = next(row for row in rows(frame) if row[0].endswith(f"training.py:{line}(factorial)"))
        self.assertEqual(row[1:3], (1, 5))

    def test_list_of_profiles(self):
        listed = profiler.cProfileAnalysis(training.write_dumps()).list_profile_stats()
        self.assertEqual(
            column(listed, "start_mode"), ["prestepzero", "train", "train", "train", "eval"]
        )
        self.assertEqual(list(listed.columns)[:3], ["profiler_name", "framework", "node_id"])
        self.assertEqual(set(column(listed, "framework")), {"pytorch"})
        self.assertEqual(column(listed, "end_step")[-1], float("inf"))
        os.mkdir("empty")
        listed, lines = printed(profiler.cProfileAnalysis("empty").list_profile_stats)
        self.assertEqual((len(listed), lines), (0, ["No stats were found!"]))


class Plain(Training):
    """As where pandas is not installed."""

    def setUp(self):
        kept = _pandas.pandas
        # Wherever it was imported to.
        for module in list(sys.modules.values()):
            if getattr(module, "pandas", None) is kept:
                module.pandas = lambda: None
                self.addCleanup(setattr, module, "pandas", kept)
        super().setUp()

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

    def test_frames_of_the_user_are_looked_at(self):
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


class Timelines(package.PackageTest):
    def setUp(self):
        super().setUp()
        training.write_training()

    def merge(self, *arguments, timeline=None, **keywords):
        path = (timeline or MergedTimeline("run")).merge_timeline(*arguments, **keywords)
        with open(path) as file:
            return path, json.load(file)

    def test_by_time(self):
        timeline = MergedTimeline("run", output_directory=".")
        path, events = self.merge(us(0), us(3.5), timeline=timeline)
        self.assertEqual(path, timeline.file_name(us(3.5)))
        self.assertRegex(os.path.basename(path), rf"^{us(3.5)}_{os.getpid()}-.*_merged_timeline\.json$")
        self.assertEqual(sum(event["ph"] == "X" for event in events), 16 - 3)
        self.assertEqual(sum(event["ph"] == "C" for event in events), 8)
        low = [event for event in events if event["ph"] == "i"]
        self.assertEqual([event["name"] for event in low], ["sys_metrics_bottlenecks"] * 2)
        self.assertEqual(low[0]["args"]["gpu0_GPUUtilization_algo-1"], 50)
        self.assertEqual(self.merge(us(0), us(3.5), timeline=timeline)[1], events)  # twice

    def test_by_step(self):
        for unit in MergeUnit.STEP, "step":
            path, events = self.merge(1, 3, unit)
            self.assertEqual(path, MergedTimeline("run").file_name(us(4) - 1))
            self.assertEqual({event["args"].get("step_num") for event in events if event["ph"] == "X"}, {"0", "1", "2", None})
        with self.assertRaisesRegex(FileNotFoundError, "There is no step 7; the steps there are go from 0 to 3"):
            MergedTimeline("run").merge_timeline(0, 7, MergeUnit.STEP)
        with self.assertRaisesRegex(ValueError, "not a valid unit"):
            MergedTimeline("run").merge_timeline(0, 7, "steps")

    def test_filters(self):
        for filters, counters, marks in (
            ({"lowgpu": ()}, 20, 7),
            ({"lowgpu": ("CPUUtilization", 15)}, 20, 2),
            ({}, 0, 0),
            (None, 0, 0),
        ):
            _, events = self.merge(None, None, sys_metrics_filter=filters)
            types = [event["ph"] for event in events]
            self.assertEqual((types.count("C"), types.count("i")), (counters, marks), filters)
        with self.assertRaisesRegex(FileNotFoundError, "nothing to merge"):
            MergedTimeline("run", ["horovod_timeline.json"]).merge_timeline(None, None, sys_metrics_filter=None)
        with self.assertRaisesRegex(ValueError, "not a valid suffix"):
            MergedTimeline("run", ["x.json"]).merge_timeline(None, None)
        self.assertEqual([name for name in os.listdir("run") if not os.path.isdir(f"run/{name}")].count("x"), 0)

    def test_a_file_that_was_named(self):
        timeline = MergedTimeline("run")
        timeline.open("named.json")
        self.assertEqual(self.merge(us(0), us(9), timeline=timeline)[0], "named.json")
        timeline.open("other.json")
        timeline.close()
        self.assertEqual(self.merge(us(0), us(9), timeline=timeline)[0], timeline.file_name(us(9)))
        self.assertFalse(os.path.exists("other.json"))


class PythonProfiles(package.PackageTest):
    def setUp(self):
        super().setUp()
        self.folder_of_dumps = training.write_dumps()
        self.analysis = profiler.cProfileAnalysis(self.folder_of_dumps)

    def dump(self, start, node="27-algo-1"):
        for name in os.listdir(f"{self.folder_of_dumps}/{node}"):
            if f"-{start}_" in name:
                return f"{self.folder_of_dumps}/{node}/{name}/python_stats"
        raise AssertionError(start)

    def assert_prints(self, stats, *paths):
        """Just what pstats prints of these dumps, added one by one."""
        expected = pstats.Stats(stream=io.StringIO())
        for path in paths:
            expected.add(path)
        stats.ps.stream = io.StringIO()
        for by in Metrics:
            stats.print_top_n_functions(by, 5)
            expected.sort_stats(by.value).print_stats(5)
        self.assertEqual(stats.ps.stream.getvalue(), expected.stream.getvalue())
        self.assertIn("filename:lineno(function)", expected.stream.getvalue())

    def test_prints_what_pstats_prints(self):
        self.assert_prints(self.analysis.fetch_profile_stats_by_step(0), self.dump(2000000))
        everything = self.analysis.fetch_profile_stats_by_time(0, 100)
        self.assert_prints(everything, *map(self.dump, (1000000, 2000000, 4000000, 7000000)))
        self.assertEqual(everything.function_stats_list[0].function_name, pstats.func_std_string(next(iter(everything.ps.stats))))
        self.assertRaises(AssertionError, everything.print_top_n_functions, "tottime")
        self.assertRaises(AssertionError, everything.print_top_n_functions, Metrics.TOTAL_TIME, 1.5)

    def test_stats_are_what_pstats_reads(self):
        path = self.dump(4000000)
        self.assertEqual(self.analysis.fetch_profile_stats_by_step(1, 2).ps.stats, pstats.Stats(path).stats)
        line = training.factorial.__code__.co_firstlineno
        callers = {
            function.function_name: function.callers
            for function in self.analysis.fetch_profile_stats_by_step(1, 2).function_stats_list
        }
        name = f"{training.__file__}:{line}(factorial)"
        self.assertIn(name, callers[name])

    def fetched(self, stats):
        """The arguments of factorial() in what was fetched: what tells the dumps apart."""
        line = training.factorial.__code__.co_firstlineno
        return stats and next(f for f in stats.function_stats_list if f"{line}(factorial)" in f.function_name).total_calls

    def test_selection(self):
        analysis, modes = self.analysis, PythonProfileModes
        for stats, calls in [
            (analysis.fetch_profile_stats_by_step(0), 5),
            (analysis.fetch_profile_stats_by_step(0, 2), 5 + 8),
            (analysis.fetch_profile_stats_by_step(0, 2, start_phase=StepPhase.FORWARD_PASS_END), 8),
            (analysis.fetch_profile_stats_by_step(1, 2, node_id="31-algo-2"), 9),
            (analysis.fetch_profile_stats_by_time(4.5, 5.5), 8),  # within the profile
            (analysis.fetch_profile_stats_by_time(3, 4), 5 + 8),
            (analysis.fetch_profile_stats_between_modes(modes.EVAL, modes.POST_HOOK_CLOSE), 2),
            (analysis.fetch_pre_step_zero_profile_stats(), 3),
            (analysis.fetch_post_hook_close_profile_stats(refresh_stats=False), 2),
        ]:
            self.assertEqual(self.fetched(stats), calls)
        for missing in (
            lambda: analysis.fetch_profile_stats_by_step(7),
            lambda: analysis.fetch_profile_stats_by_step(1, 2, mode=modes.EVAL),
            lambda: analysis.fetch_profile_stats_by_time(0, 100, node_id="none"),
        ):
            result, lines = printed(missing)
            self.assertIsNone(result)
            self.assertEqual(lines, ["No stats were found for the requested interval!"])
        self.assertEqual(analysis.list_available_node_ids(), ["27-algo-1", "31-algo-2"])

    def test_by_phases_of_training_and_job(self):
        modes = PythonProfileModes
        by_phase, _ = printed(self.analysis.fetch_profile_stats_by_training_phase)
        self.assertEqual(
            {pair: self.fetched(stats) for pair, stats in by_phase.items()},
            {(modes.PRE_STEP_ZERO, modes.TRAIN): 3, (modes.TRAIN, modes.TRAIN): 13, (modes.EVAL, modes.POST_HOOK_CLOSE): 2},
        )
        by_job_phase, _ = printed(self.analysis.fetch_profile_stats_by_job_phase)
        self.assertEqual(
            {name: self.fetched(stats) for name, stats in by_job_phase.items()},
            {"initialization": 3, "finalization": 2, "training_loop": 13},
        )

    def test_names_of_folders(self):
        stats = StepPythonProfileStats("pytorch", "cprofile", "n", "global-*-start-1.5_train-3-stepend-20", "path")
        self.assertEqual((stats.start_mode, stats.start_step, stats.start_phase), (PythonProfileModes.GLOBAL, -1, StepPhase.START))
        self.assertEqual((stats.end_step, stats.end_time_since_epoch_in_micros), (3, 20.0))
        self.assertTrue(stats.has_pre_step_zero_profile_stats() and not stats.has_post_hook_close_profile_stats())
        self.assertEqual(repr(stats), repr(vars(stats)))
        self.assertEqual(list(vars(stats))[3:6], ["start_mode", "start_step", "start_phase"])
        older = StepPythonProfileStats("f", "cprofile", "n", "1596585376012363.8_1596585376017246.5_151-algo-1_3", "path")
        self.assertEqual((older.start_step, older.end_step, older.start_mode), (3, 3, None))
        for name in "", "x_y", "train-1-stepstart-1", "nomode-1-start-1_train-1-end-2", "train-1-nophase-1_train-1-end-2":
            with self.assertRaises(ValueError, msg=name):
                StepPythonProfileStats("f", "p", "n", name, "path")

    def test_intervals_of_time_and_steps(self):
        stats = StepPythonProfileStats("f", "p", "n", "train-3-stepstart-100_train-5-stepend-200", "path")
        for start, end, expected in (0, 100, True), (120, 130, True), (200, 300, True), (0, 99, False), (201, 300, False):
            self.assertEqual(stats.in_time_interval(start, end), expected)
        start, end = StepPhase.STEP_START, StepPhase.STEP_END
        for first, last, from_phase, to_phase, expected in (
            (2, 6, start, end, True),
            (3, 5, start, end, True),
            (4, 6, start, end, False),
            (2, 4, start, end, False),
            (3, 6, StepPhase.STEP_END, end, False),
            (3, 6, StepPhase.FORWARD_PASS_END, end, False),
            (2, 5, start, StepPhase.STEP_START, False),
        ):
            self.assertEqual(stats.in_step_interval(first, last, from_phase, to_phase), expected)

    def test_sessions_of_pyinstrument(self):
        folder = "run/framework/pytorch/pyinstrument/27-algo-1/train-0-stepstart-10_train-0-stepend-20"
        os.makedirs(folder)
        session = {"duration": 1.0, "root_frame": None}
        for name, text in ("python_stats.json", json.dumps(session)), ("python_stats.html", "<html>"):
            open(f"{folder}/{name}", "w").write(text)
        analysis = profiler.PyinstrumentAnalysis("run/framework/pytorch/pyinstrument")
        (stats,) = analysis.fetch_profile_stats_by_step(0)
        self.assertEqual((stats.html_file_path, stats.json_stats), (f"{folder}/python_stats.html", session))
        self.assertEqual(len(analysis.list_profile_stats()), 2)  # the session and its page

    def test_a_damaged_session_is_left_out(self):
        base = "run/framework/pytorch/pyinstrument/27-algo-1/train-{0}-stepstart-1{0}_train-{0}-stepend-2{0}"
        for step, text in enumerate(('{"duration": 1.0, "root_frame": null}', '{"duration": 1.')):
            os.makedirs(base.format(step))
            with open(base.format(step) + "/python_stats.json", "w") as file:
                file.write(text)
        analysis = profiler.PyinstrumentAnalysis("run/framework/pytorch/pyinstrument")
        with self.assertLogs("gpu_tracker", "WARNING") as logs:
            (stats,) = analysis.fetch_profile_stats_by_step(0, 1)
        self.assertEqual(stats.json_stats["duration"], 1.0)
        self.assertRegex("".join(logs.output), "train-1-.*python_stats.json is no session of pyinstrument.*left out")
        self.assertRaisesRegex(ValueError, "train-1-.*python_stats.json", analysis.fetch_profile_stats_by_step, 1)

    def test_a_damaged_dump_is_left_out(self):
        with open(self.dump(4000000), "r+b") as file:
            file.truncate(100)
        with self.assertLogs("gpu_tracker", "WARNING") as logs:
            self.assertEqual(self.fetched(self.analysis.fetch_profile_stats_by_step(0, 2)), 5)
        self.assertEqual(len(logs.output), 1)
        self.assertRegex(logs.output[0], "python_stats.* ends too early.*left out")
        with open(self.dump(1000000), "r+b") as file:
            file.truncate(100)
        with self.assertLogs("gpu_tracker", "WARNING"):
            by_job_phase, _ = printed(self.analysis.fetch_profile_stats_by_job_phase)
        self.assertEqual(set(by_job_phase), {"finalization", "training_loop"})

    def test_what_is_no_dump_is_refused(self):
        path = self.dump(4000000)
        with open(path, "r+b") as file:
            file.truncate(100)
        self.assertRaisesRegex(ValueError, "ends too early", self.analysis.fetch_profile_stats_by_step, 1, 2)
        self.assertRaisesRegex(FileNotFoundError, "no folder none", profiler.cProfileAnalysis, "none")
        self.assertRaisesRegex(ValueError, "aws s3 sync", profiler.cProfileAnalysis, "x", "s3://bucket/x")


class Views(package.PackageTest):
    def test_profiles(self):
        training.write_training()
        (job,) = profiler.read_profile("job", "run").values()
        self.assertEqual(job["job_duration"][0], 9.0)
        tables = profiler.read_profile("metrics", "run", start=1, end=2, unit="step")
        self.assertEqual((len(tables["system"]), len(tables["framework"])), (2, 2))
        steps = profiler.read_profile("steps", "run", by="process")["steps"]
        self.assertEqual(steps.units["duration_mean_us"], "microseconds")
        phases = profiler.read_profile("phases", "run", phases=[TRAIN], each_step=True)["phases"]
        self.assertEqual(len(phases), 6)  # steps 0 and 1 have nothing between them

    def test_kineto(self):
        kernels = profiler.read_kineto("kernels", package.FIXTURES / "trace-kineto", limit=1)
        self.assertEqual((kernels.name, len(kernels) > 0), ("kernels", True))

    def test_refusals(self):
        for exception, words, function, *arguments in (
            (FileNotFoundError, "no folder /nowhere", PandasFrame, "/nowhere"),
            (ValueError, "no trace root", PandasFrame, "."),
            (ValueError, "aws s3 sync s3://bucket/job FOLDER", PandasFrame, "s3://bucket/job"),
            (ValueError, "aws s3 sync", MergedTimeline, "s3://bucket/job"),
            (ValueError, '"x" is not a valid view', profiler.read_profile, "x", "."),
            (ValueError, '"x" is not a valid view', profiler.read_kineto, "x", "."),
        ):
            self.assertRaisesRegex(exception, words, function, *arguments)
        training.write_training()
        self.assertRaisesRegex(ValueError, "not a valid grouping", profiler.read_profile, "steps", "run", by="x")
        self.assertRaisesRegex(ValueError, "not a valid unit", profiler.read_profile, "steps", "run", unit="x")

    def test_damage_is_a_warning(self):
        with self.assertLogs("gpu_tracker", "WARNING") as logs:
            frame = PandasFrame(package.FIXTURES / "trace-root").get_all_framework_metrics()
        self.assertEqual(len(frame), 23)
        self.assertEqual(len(logs.output), 2)
        self.assertIn("2 events without a time, a duration or a partner were left out", logs.output[0])
        self.assertIn("ends too early; its 8 whole events are used", logs.output[1])

    def test_rows_must_be_columns_of_one_length(self):
        from gpu_tracker import _native

        for rows_ in (0, [[1], [], [], [], [], []], [[]] * 6), (0, [[]] * 5, [[]] * 6), (0, [[]] * 6, [[1]] * 6), (0, 1, 2):
            with self.assertRaises((TypeError, ValueError)):
                _native.assign_steps(rows_)


class Aliases(package.PackageTest):
    MODULES = (
        "analysis.utils.merge_timelines",
        "analysis.utils.pandas_data_analysis",
        "analysis.utils.profiler_data_to_pandas",
        "analysis.utils.python_profile_analysis_utils",
        "analysis.utils.pytorch_dataloader_analysis",
        "analysis.python_profile_analysis",
        "python_profile_utils",
    )

    @unittest.skipIf(installed_smdebug, "smdebug itself is installed")
    def test_old_names_are_ours(self):
        done = self.run_python(
            "import importlib, sys\n"
            "import gpu_tracker.profiler as ours\n"
            "for name in sys.argv[1:]:\n"
            "    module = importlib.import_module('smdebug.profiler.' + name)\n"
            "    for public in module.__all__:\n"
            "        assert getattr(module, public) is getattr(ours, public), public\n"
            "    print(len(module.__all__) > 0)\n"
            "from smdebug.profiler.profiler_constants import HOROVODTIMELINE_SUFFIX\n",
            *self.MODULES,
        )
        self.assertEqual(done.stdout, "True\n" * len(self.MODULES))

    @unittest.skipIf(installed_smdebug, "smdebug itself is installed")
    def test_an_installed_package_of_that_name_wins(self):
        os.makedirs("installed/smdebug")
        open("installed/smdebug/__init__.py", "w").write("mine = True\n")
        code = "import sys; sys.path.append(sys.argv[1]); import smdebug; print(smdebug.mine)"
        self.assertEqual(self.run_python(code, self.folder / "installed").stdout, "True\n")

    def test_importing_the_package_loads_none_of_it(self):
        code = "import sys, gpu_tracker; print([name for name in sys.modules if 'profiler' in name or 'smdebug' in name])"
        self.assertEqual(self.run_python(code).stdout, "[]\n")


if __name__ == "__main__":
    package.main()
