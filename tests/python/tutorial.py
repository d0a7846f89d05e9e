# The examples of the old package's tutorial, with its argument names, run from top to bottom by test_tutorial.py.
# Sleep times are shorter; asserts stand where the tutorial shows output.
import json
import multiprocessing as mp
import pickle as pkl

import gpu_tracker as gput
from example_module import example_function

with gput.Tracker(n_expected_cores=1, sleep_time=0.1) as tracker:
    example_function()
print(tracker)

tracker = gput.Tracker()
tracker.start()
example_function()
tracker.stop()

with gput.Tracker(ram_unit='megabytes', gpu_ram_unit='megabytes', time_unit='seconds', sleep_time=0.1) as tracker:
    example_function()
print(tracker)
print(json.dumps(tracker.to_json(), indent=1))
assert tracker.resource_usage.max_ram.unit == 'megabytes'
assert tracker.resource_usage.max_ram.main.total_rss > 20
assert repr(tracker.resource_usage.max_gpu_ram).startswith("MaxGPURAM(unit='megabytes', system_capacity=")
assert repr(tracker.resource_usage.compute_time).startswith("ComputeTime(unit='seconds', time=")

# As the first release's tutorial has it.
assert tracker.max_ram is tracker.resource_usage.max_ram
assert tracker.max_ram.unit == 'megabytes'
assert tracker.max_ram.main.total_rss == tracker.resource_usage.max_ram.main.total_rss
assert repr(tracker.compute_time).startswith("ComputeTime(unit='seconds', time=")

if __name__ == '__main__':
    ctx = mp.get_context(method='fork')
    child_process = ctx.Process(target=example_function)
    with gput.Tracker(n_expected_cores=2, sleep_time=0.02) as tracker:
        child_process.start()
        example_function()
        child_process.join()
    child_process.close()
    print(tracker)
    assert tracker.resource_usage.max_ram.descendants.total_rss > 0

try:
    with gput.Tracker() as tracker:
        example_function()
        raise RuntimeError('AN ERROR')
except Exception as error:
    print(f'The following error occured while tracking: {error}')
finally:
    print(tracker.resource_usage.max_gpu_ram.main)

tracker = gput.Tracker(resource_usage_file='path/to/my-file.pkl')
tracker = gput.Tracker(gpu_brand='nvidia')
tracker = gput.Tracker(tracking_file='my-file.csv')
tracker = gput.Tracker(tracking_file='my-file.sqlite')

tracker = gput.Tracker(sleep_time=0.05, tracking_file='tracking.csv', overwrite=False)
tracker.start()
for _ in range(5):
    with gput.SubTracker(code_block_name='my-code-block', sub_tracking_file='sub-tracking.csv', overwrite=False):
        example_function()


@gput.sub_track(code_block_name='my-function', sub_tracking_file='sub-tracking.csv', overwrite=False)
def my_function(*args, **kwargs):
    example_function()


for _ in range(3):
    my_function()
tracker.stop()

analyzer = gput.SubTrackingAnalyzer(tracking_file='tracking.csv', sub_tracking_file='sub-tracking.csv')
results = analyzer.sub_tracking_results()
assert f'{type(results).__module__}.{type(results).__name__}' == 'gpu_tracker.sub_tracker.SubTrackingResults'
print(results.overall)
print(results.static_data)
[my_code_block_results, my_function_results] = results.code_block_results
assert type(my_code_block_results).__name__ == 'CodeBlockResults'
print(my_code_block_results.compute_time)
print(my_code_block_results.resource_usage)
assert my_code_block_results.name == 'my-code-block'
assert (my_code_block_results.num_calls, my_code_block_results.num_non_empty_calls) == (5, 5)
assert my_code_block_results.num_timepoints >= 5
assert my_function_results.num_calls == 3
print(results)
json.dumps(results.to_json())

with open('results.pkl', 'wb') as file:
    pkl.dump(results, file)


@gput.sub_track(code_block_name='my-function', sub_tracking_file='sub-tracking-2.csv', overwrite=True)
def my_function(*args, **kwargs):
    example_function()


with gput.Tracker(sleep_time=0.05, tracking_file='tracking.csv', overwrite=True):
    for _ in range(3):
        with gput.SubTracker(code_block_name='my-code-block', sub_tracking_file='sub-tracking-2.csv', overwrite=True):
            example_function()
        my_function()
results2 = gput.SubTrackingAnalyzer(tracking_file='tracking.csv', sub_tracking_file='sub-tracking-2.csv').sub_tracking_results()
assert [block.num_calls for block in results2.code_block_results] == [3, 3]
with open('results2.pkl', 'wb') as file:
    pkl.dump(results2, file)

comparison = gput.TrackingComparison(file_path_map={'A': 'results.pkl', 'B': 'results2.pkl'})
results = comparison.compare(statistic='max')
assert type(results).__name__ == 'ComparisonResults'
assert len(results.overall_resource_usage.keys()) == 22
print(results.overall_resource_usage['main_ram'])
assert list(results.code_block_resource_usage['main_ram'].keys()) == ['my-code-block', 'my-function']
print(results.code_block_resource_usage['main_ram']['my-code-block'])
print(results.code_block_compute_time['my-code-block'])
print(results)
json.dumps(results.to_json())
print('ALL DONE')
