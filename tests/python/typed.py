"""Not run: what a type checker sees of the package. test_types.py checks it strictly."""

import gpu_tracker as gput
import ipygpulogger
import pytest
from gpu_tracker import fleet, notebook, power, profiler, pytest_plugin

with gput.Tracker(sleep_time=0.1, ram_unit="megabytes", gpu_uuids={"GPU-1"}, tracking_file="t.csv") as tracker:
    pass
rss: float = tracker.resource_usage.max_ram.main.total_rss
threads: int = tracker.resource_usage.cpu_utilization.main_n_threads


@gput.sub_track("name", sub_tracking_file="m.csv", exact=True)
def add(first: int, second: int) -> int:
    return first + second


three: int = add(1, second=2)
with gput.SubTracker("name", exact=True) as block:
    name: str = block.code_block_name
results: gput.SubTrackingResults = gput.SubTrackingAnalyzer("t.csv", "m.csv").sub_tracking_results()
calls: int = results.code_block_results[0].num_calls
total: float = results.code_block_results[0].compute_time["total"]
peak: float = results.overall["max"]["main_ram"]
usage = results.code_block_results[0].resource_usage.loc["main_ram", "max"]
loaded: gput.SubTrackingResults = gput.SubTrackingResults.load("results.pkl")
kept: float = gput.load_resource_usage("kept").compute_time.time
changes: float = gput.TrackingComparison({"A": "a.pkl"}).compare().overall_resource_usage["main_ram"]["A"]
tracker.report("report.html")
picture: gput.Picture | None = tracker.plot(blocks=True, size=(88, 50))
gput.plot(["a.csv", "b.csv"], "ab.pdf", figures=["ram"], start=1.5)
gput.report("t.csv", "t.html", sub_tracking_files="m.csv", title="Run 7")
shown: gput.Report | None = gput.report(["a.csv", "b.csv"])
gput.report("t.csv", "tables", format="parquet")
logger: notebook.IPyGPULogger = ipygpulogger.IPyGPULogger(compact=True, interval=0.01).start()
used: int = logger.data.gen_mem_used
gpu_used: int | None = logger.data.gpu_mem_used
said: str = str(logger.report)
logger.stop()


def configure(config: pytest.Config) -> None:
    pytest_plugin.pytest_configure(config)


frame = profiler.PandasFrame("root", scan_interval=1)
system, framework = frame.get_profiler_data_by_time(0, 1, cache_metrics=True)
shares: dict[str, float] = frame.get_framework_metrics_by_timesteps(["2020-09-13T12:26:40:000000"])[0]
analysis = profiler.PandasFrameAnalysis(system, framework)
analysis.get_utilization_stats([profiler.Resource.GPU], by=profiler.StatsBy.TRAINING_PHASE, phase="Step:ModeKeys.TRAIN")
job: profiler.JobStats = analysis.get_job_statistics()
chart: str = profiler.PT_dataloader_analysis(frame).plot_the_window(0, 1).html
path: str = profiler.MergedTimeline("root").merge_timeline(0, 5, profiler.MergeUnit.STEP, {"lowgpu": ("cpu", 50)})
stats: profiler.cProfileStats = profiler.cProfileAnalysis("root").fetch_profile_stats_by_job_phase()["training_loop"]
seconds: float = stats.function_stats_list[0].total_time
durations = profiler.read_profile("steps", "root", by="process", unit="step", start=1)["steps"]["duration_mean_us"]
text: str = str(gput.TrackingComparison({"A": "a.pkl", "B": ["b.pkl", "c.pkl"]}).compare("max"))
compared: gput.Table = gput.TrackingComparison({"A": "a.pkl"}).table("max")
exported: list[str] = fleet.export(["runs"], "exported", format="parquet")
used_by_jobs = fleet.analyze("exported", engine=fleet.installed_engines()[0], by=("job_id", "host"))["code_block_usage"]
joules_so_far: gput.Table = gput.read_tables("t.sqlite")["energy_data"]
recorder, queue = power.Experiment(power.JsonParser("exp"), cont=True).measure_yourself(period=0.1)
queue.put(power.Experiment.STOP_MESSAGE)
alive: bool = recorder.is_alive()
recording = power.ExpResults("exp")
joules = recording.total_("intel_power", start=1, end="2023-06-30 16:32:15")
curve = recording.get_curve("intel_power")
assert isinstance(curve, power.Curve)
for point in curve[0]:
    watts: float = point["value"]
samples: gput.Table = gput.read_samples("t.csv", spans=[(0.0, 1.0)])
names: list[str] = samples.columns
unit: str | None = samples.units["main_ram"]
starts: list[float] = gput.read_calls("m.csv", "name")["start"].tolist()
blocks: gput.Table = gput.SubTrackingAnalyzer("t.csv", "m.csv").tables(details=True, split="thread")["code_blocks"]
with gput.Tracker(processes=True) as tracker:
    so_far: gput.Table = tracker.processes

# Each is an error, else the type is lost on the way: an "ignore" that is not needed is one as well.
wrong_time: str = tracker.resource_usage.compute_time.time  # type: ignore[assignment]
wrong_names: int = gput.SubTrackingAnalyzer("t.csv", "m.csv").load_code_block_names()  # type: ignore[assignment]
wrong_columns: int = compared.columns  # type: ignore[assignment]
wrong_energy: int = results.energy  # type: ignore[assignment]
wrong_total: str = results.overall["max"]["main_ram"]  # type: ignore[assignment]
wrong_result: str = add(1, 2)  # type: ignore[assignment]
wrong_summary: int = recording.get_summary()  # type: ignore[assignment]
wrong_job: str = frame.get_framework_metrics_by_timesteps([])[0]  # type: ignore[assignment]
wrong_logger: int = logger.start()  # type: ignore[assignment]
gput.Tracker(ram_unit="furlongs")  # type: ignore[arg-type]
