"""Not run: what a type checker sees of the package. `make test-python` checks it strictly."""

import gpu_tracker as gput

with gput.Tracker(sleep_time=0.1, ram_unit="megabytes", gpu_uuids={"GPU-1"}, tracking_file="t.csv") as tracker:
    pass
rss: float = tracker.resource_usage.max_ram.main.total_rss
threads: int = tracker.resource_usage.cpu_utilization.main_n_threads


@gput.sub_track("name", sub_tracking_file="m.csv")
def add(first: int, second: int) -> int:
    return first + second


three: int = add(1, second=2)
with gput.SubTracker("name") as block:
    name: str = block.code_block_name
results: gput.SubTrackingResults = gput.SubTrackingAnalyzer("t.csv", "m.csv").sub_tracking_results()
calls: int = results.code_block_results[0].num_calls
text: str = str(gput.TrackingComparison({"A": "a.pkl", "B": ["b.pkl", "c.pkl"]}).compare("max"))
