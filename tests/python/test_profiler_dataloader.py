"""PT_dataloader_analysis and its chart, with pandas and without."""

import datetime
import json
import os
import xml.etree.ElementTree

import package
from profiles import ProfileTest, WithoutPandas, column, moment, printed, rows, us
from training import BEGIN_US

from gpu_tracker.profiler import PT_dataloader_analysis


class Loader(ProfileTest):
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
        said = ["No reading in this window fits select_dimensions.", "No event in this window fits select_events."]
        self.assertEqual(repr(window).splitlines()[1:], said)
        self.assertIn("".join(f"<div>{sentence}</div>" for sentence in said), window.html)
        window = loader.plot_the_window(us(1000), us(1001))
        said = ["There are no readings in this window.", "There are no events in this window."]
        self.assertEqual(repr(window).splitlines()[1:], said)
        self.assertIn("".join(f"<div>{sentence}</div>" for sentence in said), window.html)
        self.assertNotIn("this window", loader.plot_the_window(us(0), us(5)).html)
        self.assertRaisesRegex(ValueError, "must end after it begins", loader.plot_the_window, us(1), us(1))


class Plain(WithoutPandas, Loader):
    pass


if __name__ == "__main__":
    package.main()
