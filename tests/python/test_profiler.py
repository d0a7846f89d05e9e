"""gpu_tracker.profiler as a whole: its names, its views, the names of old packages."""

import importlib.util
import inspect
import os
import unittest

import package
import training
from training import TRAIN

from gpu_tracker import profiler
from gpu_tracker.profiler import (
    MergedTimeline,
    PandasFrame,
)


#: the alias is a namespace package, which comes from no file
installed_smdebug = getattr(importlib.util.find_spec('smdebug'), 'origin', None)


def signature_of(what):
    """As the old library has it: without types."""
    signature = inspect.signature(what)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


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
            self.assertEqual(signature_of(what), expected, name)
            self.assertTrue(name.startswith("StepPython") or inspect.getdoc(what), name)

    def test_every_public_name_is_there(self):
        for name in profiler.__all__:
            self.assertTrue(hasattr(profiler, name), name)
        self.assertRaises(AttributeError, getattr, profiler, "no_such_name")


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
            (ValueError, "not a trace root", PandasFrame, "."),
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
        self.assertIn("2 events without a time, a duration or a partner were skipped", logs.output[0])
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
    def test_names_and_times_of_files(self):
        os.makedirs("R/framework/tensorflow/detailed_profiling/2020070206/000000001")
        open("R/framework/tensorflow/detailed_profiling/2020070206/000000001/7-algo-1_1593673051_1593673052.metadata", "w").close()
        done = self.run_python("""
from smdebug.profiler import profiler_constants, utils
from smdebug.profiler.utils import TimeUnits, str2bool
assert [str2bool(word) for word in (True, "Yes", "ON", "0", "false")] == [True, True, True, False, False]
try:
    str2bool("maybe")
except ValueError as error:
    print(error)
events = "R/framework/pevents/2020051923/1589930988000000_4487-host_pythontimeline.json"
system = "R/system/incremental/2020060500/1591160699.algo-2.json"
trace = "R/framework/tensorflow/detailed_profiling/2020070206/000000001/plugins/profile/run/host.trace.json.gz"
print(utils.get_node_id_from_tracefilename(events), utils.get_timestamp_from_tracefilename(events), utils.is_valid_tracefilename(system))
print(utils.get_node_id_from_system_profiler_filename(system), utils.get_utctimestamp_us_since_epoch_from_system_profiler_file(system))
print(utils.get_node_id_from_system_profiler_filename(events), utils.validate_system_profiler_file(system + ".tmp.json"))
print(utils.read_tf_profiler_metadata_file(trace), utils.get_node_id_from_tracefilename(trace), utils.get_timestamp_from_tracefilename(trace))
print(utils.us_since_epoch_to_human_readable_time(1589930988000001), utils.convert_utc_timestamp_to_seconds(2500, TimeUnits.MILLISECONDS),
      utils.convert_utc_timestamp_to_nanoseconds(3), utils.convert_utc_timestamp_to_microseconds(1500, TimeUnits.NANOSECONDS))
print(len([name for name in dir(profiler_constants) if name.isupper()]), profiler_constants.TIME_BUFFER_DEFAULT)
""")
        self.assertEqual(done.stdout.splitlines(), [
            "'maybe' is neither true nor false.",
            "4487-host 1589930988000000 False",
            "algo-2 1591160699000000",
            "None False",
            "('7-algo-1', '1593673051', '1593673052') 7-algo-1 1593673052",
            "2020-05-19T23:29:48:000001 2 3000 1.5",
            "35 180000000",
        ])  # fmt: skip

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
