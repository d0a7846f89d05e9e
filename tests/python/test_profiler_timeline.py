"""MergedTimeline."""

import json
import os

import package
import training
from profiles import us

from gpu_tracker.profiler import MergedTimeline, MergeUnit


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
        with self.assertRaisesRegex(FileNotFoundError, "There is no step 7; steps go from 0 to 3"):
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


if __name__ == "__main__":
    package.main()
