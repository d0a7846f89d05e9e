"""gpu-tracker timeline merge, as a user runs it."""

import collections
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import time

from analysis_files import MEASUREMENTS, START, STATIC, row, write_sqlite
from command import COMMAND, SOURCE, CommandTest, main, read_terminal

ROOT = SOURCE / "tests" / "fixtures" / "trace-root"
KINETO = SOURCE / "tests" / "fixtures" / "trace-kineto"


def check_structure(test, events):
    """What Perfetto asks of a trace: slices of a thread nest, every process and thread has one name, ids are numbers or hex."""
    names = collections.Counter()
    open_slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "M":
            names[event["name"], event["pid"], event.get("tid")] += 1
            continue
        thread = event["pid"], event["tid"]
        test.assertEqual(names["process_name", event["pid"], None], 1)
        test.assertEqual(names[("thread_name", *thread)], 1)
        test.assertTrue(0 <= event["tid"] < 2**31)
        test.assertTrue(isinstance(event.get("id", "0x"), str) or event["id"] < 2**53)
        if event["ph"] == "X":
            stack = open_slices[thread]
            while stack and stack[-1] <= event["ts"]:
                stack.pop()
            end = event["ts"] + event["dur"]
            test.assertTrue(not stack or end <= stack[-1] + 1e-3, event)
            stack.append(end)
    test.assertTrue(all(count == 1 for count in names.values()))


class Merge(CommandTest):
    def merge(self, *arguments):
        return self.run_command("timeline", "merge", *map(str, arguments))

    def test_a_root_and_the_traces_of_two_ranks_go_on_one_timeline(self):
        done = self.merge(ROOT, KINETO, "-o", "out.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(" ends too early"), 2)
        self.assertIn("overlap.json has no absolute times: what is in it does not line up with the other inputs\n", done.stderr)
        self.assertIn("rank0.json begins 1157 days after ", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 4, done.stderr)
        events = json.loads(pathlib.Path(self.folder, "out.json").read_text())
        check_structure(self, events)
        slices = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(slices), 23 + 2 * 12 + 4)
        self.assertIn("51 slices", done.stdout)
        times = [event["ts"] for event in events if "ts" in event]
        self.assertEqual(times, sorted(times))

    def test_any_number_of_cores_gives_the_same_bytes(self):
        events = (f'{{"ph": "X", "name": "k{i % 97}", "cat": "kernel", "pid": {i % 3}, "tid": {i % 5}, "ts": {i * 7919 % 100003}.5, '
                  f'"dur": {i % 11}, "args": {{"device": 0, "stream": {i % 5}, "in": [{{"}},{{": "\\"{{{i}"}}]}}}}' for i in range(60000))
        pathlib.Path(self.folder, "large.json").write_text("[" + ",\n".join(events) + "]")
        merged, kernels = set(), set()
        for cores in 1, 2, 5:
            done = self.merge("large.json", "-o", f"{cores}.json", "-j", cores)
            self.assertEqual(done.returncode, 0, done.stderr)
            merged.add(pathlib.Path(self.folder, f"{cores}.json").read_bytes())
            kernels.add(self.run_command("pytorch", "kernels", f"--cores={cores}", "large.json").stdout)
        self.assertEqual(len(merged), 1)
        self.assertEqual(merged.pop().count(b'"ph": "X"'), 60000)
        self.assertEqual(len(kernels), 1)
        self.assertIn("k10 ", kernels.pop())

    def test_a_number_of_cores_is_one_or_more(self):
        for word in "0", "-1", "x", "":
            done = self.merge(KINETO / "rank0.json", "-o", "m.json", f"-j{word}" if word else "--cores=")
            self.assertEqual(done.returncode, 2)
            self.assertIn("-j must be a number of cores from 1 to 1024", done.stderr)

    def test_an_output_to_a_pipe_is_the_trace_alone(self):
        done = self.merge(KINETO / "rank0.json", "-o", "-")
        check_structure(self, json.loads(done.stdout))
        self.assertIn("12 slices", done.stderr)

    def test_the_standard_output_may_be_a_file_and_is_named_when_it_is_full(self):
        trace = self.merge(KINETO / "rank0.json", "-o", "-").stdout
        for output in ("-", "/proc/self/fd/1"):
            with open(self.folder / "log", "w") as log:
                log.write("before\n")
                log.flush()
                done = subprocess.run([COMMAND, "timeline", "merge", KINETO / "rank0.json", "-o", output],
                                      stdout=log, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.folder / "log").read_text(), "before\n" + trace)
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, "timeline", "merge", KINETO / "rank0.json", "-o", "-"], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "gpu-tracker: Cannot write - (the standard output): No space left on device\n"))

    def test_an_output_named_so_is_packed(self):
        plain = self.merge(KINETO / "rank0.json", "-o", "-").stdout
        self.assertEqual(self.merge(KINETO / "rank0.json", "-o", "out.json.gz").returncode, 0)
        self.assertEqual(gzip.decompress((self.folder / "out.json.gz").read_bytes()).decode(), plain)
        self.assertEqual(self.merge("out.json.gz", "-o", "-").returncode, 0)

    def test_an_output_that_is_an_input_is_refused(self):
        trace = (KINETO / "rank0.json").read_bytes()
        root = self.put_root([(0, "gpu0", 99)])
        reading = root / "system" / "incremental" / "1600000000.algo-1.json"
        before = reading.read_bytes()
        os.mkdir(self.folder / "ranks")
        for name in ("a.json", "ranks/rank0.json"):
            (self.folder / name).write_bytes(trace)
        (self.folder / "link.json").symlink_to("a.json")
        os.link(self.folder / "a.json", self.folder / "hard.json")
        for inputs, output in ((["a.json"], "a.json"), (["a.json"], "./a.json"), (["a.json"], "link.json"),
                               (["link.json"], "a.json"), ([KINETO, "a.json"], "hard.json")):
            done = self.merge(*inputs, "-o", output)
            self.assertEqual(done.returncode, 2, output)
            self.assertIn(f"-o {output} is the same file as ", done.stderr)
        for inputs, output in ((["ranks"], "ranks/rank0.json"), ([root], reading)):
            done = self.merge(*inputs, "-o", output)
            self.assertEqual(done.returncode, 1, output)
            self.assertIn(f"The output {output} is the input ", done.stderr)
        with open(self.folder / "a.json", "a") as log:
            done = subprocess.run([COMMAND, "timeline", "merge", "a.json", "-o", "-"], cwd=self.folder, stdout=log,
                                  stderr=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1)
        self.assertEqual({path.read_bytes() for path in self.folder.rglob("*.json") if path != reading}, {trace})
        self.assertEqual(reading.read_bytes(), before)

    def test_packed_traces_are_read(self):
        packed = pathlib.Path(self.folder, "rank0.pt.trace.json.gz")
        packed.write_bytes(gzip.compress((KINETO / "rank0.json").read_bytes()))
        plain = self.merge(KINETO / "rank0.json", "-o", "-").stdout
        self.assertEqual(self.merge(packed, "-o", "-").stdout.replace(packed.name, "rank0.json"), plain)

    def test_events_of_a_profile_are_the_same_from_a_packed_file(self):
        start = {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 10**15}}
        events = [{"name": "conv", "ph": "X", "pid": 0, "ts": 7, "dur": 1, "args": {"step_num": "1"}},
                  {"name": "a\tb \u00e9", "ph": "X", "pid": 0, "ts": 5, "dur": 3, "args": {"value": float("nan")}},
                  {"name": "\u00e9", "ph": "X", "pid": 0, "ts": 6, "dur": 1}]
        name = "1000000_1-host_pythontimeline.json"
        for packed in (False, True):
            text = json.dumps([start, *events], indent=1, ensure_ascii=False).encode()
            folder = self.folder / str(packed)
            folder.mkdir()
            (folder / name).write_bytes(gzip.compress(text) if packed else text)
            done = self.merge(folder / name, "-o", f"{packed}.json")
            self.assertEqual(done.returncode, 0, done.stderr)
        merged = (self.folder / "False.json").read_text()
        self.assertEqual(merged, (self.folder / "True.json").read_text())
        self.assertEqual([(event["name"], event["ts"], event.get("args")) for event in json.loads(merged) if event["ph"] == "X"],
                         [("a\tb \u00e9", 10**15 + 5, {"value": None}), ("\u00e9", 10**15 + 6, None),
                          ("conv", 10**15 + 7, {"step_num": "1"})])

    def test_processes_and_threads_named_by_words_keep_them(self):
        pathlib.Path(self.folder, "words.json").write_text(json.dumps([
            {"ph": "X", "name": "a", "pid": "Spans", "tid": "PyTorch \u00e9", "ts": 1, "dur": 1},
            {"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 3, "s": "g"},
            {"ph": "X", "name": "b", "pid": "Spans", "tid": "12", "ts": 1, "dur": 1}]))
        events = json.loads(self.merge("words.json", "-o", "-").stdout)
        check_structure(self, events)
        self.assertEqual([e["args"]["name"] for e in events if e["name"] in ("process_name", "thread_name")],
                         ["Spans", "PyTorch \u00e9", "thread 12", "whole trace", "thread 0"])

    def test_events_of_all_types_keep_their_ids(self):
        ids = [{"id": 7}, {"id": "0x7"}, {"id": 2**60}, {"id": "0x1000000000000001"}, {"id2": {"local": "0x7"}},
               {"id2": {"global": "0x9"}}, {"id": "word"}, {}]
        for name in ("one.json", "two.json"):
            (self.folder / name).write_text(json.dumps(
                [{"ph": type, "name": "n", "cat": "c", "pid": 1, "tid": 1, "ts": 1, **id}
                 for id in ids for type in "bneSTpFNODPRvVstf"] + [{"ph": "?", "pid": 1, "tid": 1, "ts": 1}]))
        done = self.merge("one.json", "-o", "-")
        self.assertIn("1 events lack a time, a duration or their other end, or are of no known type", done.stderr)
        events = [event for event in json.loads(done.stdout) if event["ph"] != "M"]
        kept = [{key: event[key] for key in ("id", "id2") if key in event} for event in events if event["ph"] == "b"]
        self.assertEqual(kept[:6], [{"id": 7}, {"id": 7}, {"id": "0x1000000000000000"}, {"id": "0x1000000000000001"},
                                    {"id2": {"local": "0x7"}}, {"id": 9}])
        self.assertIn("id", kept[6])
        self.assertEqual(kept[7], {})
        for type in "neSTpFNOD":
            self.assertEqual([{key: event[key] for key in ("id", "id2") if key in event}
                              for event in events if event["ph"] == type], kept)
        self.assertEqual(sum(event["ph"] in "PRvVstf" for event in events), 7 * len(ids))

        both = [event for event in json.loads(self.merge("one.json", "two.json", "-o", "-").stdout) if event["ph"] == "b"]
        self.assertEqual(len({(event["pid"], str(event.get("id2"))) for event in both if "id2" in event}), 2)
        counts = collections.Counter(event["id"] for event in both if "id" in event)
        self.assertEqual(sorted(counts.values()), [1] * 8 + [2] * 2)  # 7 and "0x7" of a file are one

    def test_steps_are_both_included(self):
        def last_step(*selection):
            done = self.merge(ROOT, "--suffix", "pythontimeline.json", *selection, "-o", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            return max(int(event["args"]["step_num"]) for event in json.loads(done.stdout)
                       if event["ph"] == "X" and "step_num" in event.get("args", {}))

        self.assertEqual(last_step("--steps", "1-2"), 2)
        self.assertEqual(last_step("--steps=1"), 1)
        self.assertEqual(last_step("--unit", "step", "--start", "1", "--end", "2"), 2)
        self.assertEqual(last_step("--steps", "2-4"), 4)  # the last one there is

    def test_progress_is_shown_on_a_terminal(self):
        events = [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(20000)]
        (self.folder / "long.json").write_text(json.dumps(events))
        for unit in ([], ["--unit", "step"]):
            ours, theirs = pty.openpty()
            subprocess.run([COMMAND, "timeline", "merge", *unit, "long.json", "-o", "out.json"], cwd=self.folder,
                           stdout=subprocess.DEVNULL, stderr=theirs, check=True)
            os.close(theirs)
            shown = read_terminal(ours).decode()
            os.close(ours)
            percents = [int(word) for word in re.findall(r"gpu-tracker: merging, (\d+) %", shown)]
            self.assertEqual(percents, sorted(set(percents)))
            self.assertGreater(percents[-1], 80)
            self.assertTrue(shown.endswith("\r\033[K"))

    def test_merging_a_merged_timeline_changes_nothing(self):
        self.merge(ROOT, "-o", "once.json")
        once = [e for e in json.loads(pathlib.Path(self.folder, "once.json").read_text()) if e["ph"] != "M"]
        again = [e for e in json.loads(self.merge("once.json", "-o", "-").stdout) if e["ph"] != "M"]
        self.assertEqual([(e["name"], e["ts"], e.get("dur")) for e in once],
                         [(e["name"], e["ts"], e.get("dur")) for e in again])

    def test_a_cut_trace_gives_every_whole_event(self):
        text = (KINETO / "rank0.json").read_text()
        cut = pathlib.Path(self.folder, "cut.json")
        cut.write_text(text[: text.index('"relu"') + 40])
        done = self.merge(cut, "-o", "-")
        self.assertIn("8 whole events are used", done.stderr)
        self.assertEqual(sum(event["ph"] == "X" for event in json.loads(done.stdout)), 8)

    def test_a_machine_without_gpus_has_no_counters_of_gpus(self):
        for gpus in 0, 1, "":  # "": a driver had not answered when the file began
            (self.folder / "samples.csv").write_text(
                "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,system_core_count,"
                f"n_expected_cores,system_gpu_count,n_expected_gpus\ngigabytes,gigabytes,hours,8,{gpus},2,2,{gpus},{gpus}\n"
                "main_ram,main_gpu_ram,gpu_sum_utilization_percent,main_n_threads,timestamp\n0,0,0,1,5\n")
            events = json.loads(self.merge("samples.csv", "-o", "-").stdout)
            expected = {"main_ram (bytes)", "main_n_threads"}
            if gpus != 0:
                expected |= {"main_gpu_ram (bytes)", "gpu_sum_utilization_percent"}
            self.assertEqual({event["name"] for event in events if event["ph"] == "C"}, expected)

    def test_a_folder_has_the_sessions_that_are_in_it(self):
        folder = self.folder / "run"
        folder.mkdir()
        tracked = self.run_command("run", "-q", "--st", "0.05", "--tf", folder / "samples.csv", "-o", folder / "usage.json", "--", "sleep", "0.1")
        self.assertEqual(tracked.returncode, 0)
        self.assertTrue((folder / "samples.csv.session.json").exists())
        now = time.time()
        (folder / "blocks.csv").write_text(f"process_id,code_block_name,position,timestamp\n7,load,0,{now}\n7,load,1,{now + 1}\n")
        (folder / "other.csv").write_text("a,b\n1,2\n")
        for name in "pipe.csv", "pipe.json":
            os.mkfifo(folder / name)
        names = {"main_ram (bytes)", "load"}
        done = self.merge(folder, "-o", "-")
        self.assertEqual(done.returncode, 0)
        self.assertIn("events of 2 files", done.stderr)
        self.assertNotIn("warning", done.stderr)
        self.assertLessEqual(names, {event["name"] for event in json.loads(done.stdout)})
        shutil.copy(KINETO / "rank0.json", folder)
        done = self.merge(folder, "-o", "-")
        self.assertLessEqual(names | {"relu"}, {event["name"] for event in json.loads(done.stdout)})

    def test_samples_become_counters_and_code_blocks_slices(self):
        tracked = self.run_command("run", "--st", "0.05", "--tf", "samples.csv", "--", "sleep", "0.2")
        self.assertEqual(tracked.returncode, 0)
        rows = (self.folder / "samples.csv").read_text().splitlines()
        start = float(rows[-1].split(",")[rows[2].split(",").index("timestamp")])
        (self.folder / "blocks.csv").write_text(
            "process_id,code_block_name,position,timestamp\n"
            f"7,outer,0,{start}\n7,inner,0,{start + 0.25}\n7,inner,1,{start + 0.5}\n7,outer,1,{start + 1}\n"
            f"7,open,0,{start + 1}\n")
        done = self.merge("samples.csv", "blocks.csv", KINETO / "rank0.json", "-o", "out.json")
        self.assertIn("1 events lack", done.stdout)
        events = json.loads((self.folder / "out.json").read_text())
        check_structure(self, events)
        counters = [event for event in events if event["ph"] == "C"]
        self.assertIn("main_ram (bytes)", {event["name"] for event in counters})
        blocks = {e["name"]: (e["ts"], e["dur"]) for e in events if e["ph"] == "X" and e["name"] in ("outer", "inner")}
        self.assertAlmostEqual(blocks["inner"][0] - blocks["outer"][0], 250000, delta=1)
        self.assertAlmostEqual(blocks["inner"][1], 250000, delta=1)
        last = max(event["ts"] for event in counters)
        self.assertAlmostEqual(last, blocks["outer"][0], delta=1)

    def test_sizes_are_in_bytes_whatever_the_unit_of_the_file(self):
        text = "main_ram,system_gpu_ram,timestamp\n1.5,0.25,5\n"
        for unit, factor in ("gigabytes", 1e9), ("kilobytes", 1e3):
            (self.folder / "samples.csv").write_text(
                "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,system_core_count,"
                f"n_expected_cores,system_gpu_count,n_expected_gpus\n{unit},{unit},hours,8,1,2,2,1,1\n{text}")
            events = json.loads(self.merge("samples.csv", "-o", "-").stdout)
            self.assertEqual({event["name"]: event["args"]["value"] for event in events if event["ph"] == "C"},
                             {"main_ram (bytes)": 1.5 * factor, "system_gpu_ram (bytes)": 0.25 * factor})

    def test_a_sample_has_the_microsecond_of_its_file(self):
        (self.folder / "samples.csv").write_text(
            "ram_unit,gpu_ram_unit,time_unit\nbytes,bytes,hours\nmain_ram,timestamp\n1,1795790007.153157\n2,1795790007.608109\n")
        events = json.loads(self.merge("samples.csv", "-o", "-").stdout)
        self.assertEqual([event["ts"] for event in events if event["ph"] == "C"], [1795790007153157, 1795790007608109])

    def test_processes_gpus_power_and_io_of_a_database(self):
        write_sqlite(self.folder / "s.sqlite", [
            ("static_data", list(STATIC), [list(STATIC.values())]),
            ("data", [*MEASUREMENTS, "timestamp"], [row(second) for second in range(4)]),
            ("process_data", ["pid INTEGER", "parent INTEGER", "name TEXT", "start_timestamp REAL", "end_timestamp REAL", "peak_ram REAL", "signal INTEGER"],
             [(7, None, 'ma"in', START, START + 2, 1.5, None), (8, 7, "one", START + 1, START + 1.5, 0.25, 9), (9, 7, "two", START + 1.25, None, None, None)]),
            ("gpu_data", ["timestamp REAL", "uuid TEXT", "ram_used REAL", "power_watts REAL", "energy_joules REAL"],
             [(START + second, f"GPU-{gpu}", 1 + gpu, 100 * gpu, 5) for second in range(2) for gpu in range(2)]),
            ("energy_data", ["timestamp REAL", "package REAL", "dram REAL"],
             [(START, None, None), (START + 0.01, 0.5, None), (START + 1, 20, None), (START + 2, 60, None), (START + 2.01, 61, None)]),
            ("io_data", ["timestamp REAL", "read_bytes REAL"], [(START, 0), (START + 0.5, 1000), (START + 2, 400)]),
        ])  # fmt: skip
        events = json.loads(self.merge("s.sqlite", "-o", "-").stdout)
        check_structure(self, events)
        slices = {event["name"]: event for event in events if event["ph"] == "X"}
        self.assertEqual({name: (round((one["ts"] / 1e6 - START), 3), round(one["dur"] / 1e6, 3)) for name, one in slices.items()},
                         {'ma"in': (0, 2), "one": (1, 0.5), "two": (1.25, 1.75)})
        self.assertEqual(slices['ma"in']["args"], {"pid": 7, "peak_ram_bytes": 1500000000})
        self.assertEqual(slices["one"]["args"], {"pid": 8, "parent": 7, "peak_ram_bytes": 250000000, "signal": 9})
        counters = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "C":
                counters[event["name"]].append((round(event["ts"] / 1e6 - START, 3), event["args"]["value"]))
        self.assertEqual(counters["GPU 1: ram_used (bytes)"], [(0, 2e9), (1, 2e9)])
        self.assertEqual(counters["GPU 1: power_watts"], [(0, 100), (1, 100)])
        self.assertNotIn("GPU 1: energy_joules", counters)
        # A rate stands where its interval begins; what is left at the end is part of the last one.
        self.assertEqual([(at, round(watts, 3)) for at, watts in counters["power_package (watts)"]], [(0, 20), (1, 40.594), (2.01, 0)])
        self.assertNotIn("power_dram (watts)", counters)
        self.assertEqual(counters["read_bytes per second"], [(0, 2000), (0.5, 0), (2, 0)])

    def test_calls_that_overlap_are_slices_of_their_own_times(self):
        marks = []  # their times are microseconds after a moment

        def ns(time):
            return 1_700_000_000_123_456_789 + time * 1000

        def mark(block, position, time, thread, started=None):
            text = f"{ns(time) // 10**9}.{ns(time) % 10**9:09}"
            marks.append(f"7,{block},{position},{text},{thread},{'' if started is None else ns(started)}\n")

        count = 5000  # first in, first out
        for i in range(count):
            mark("task", 0, i * 10, 1)
        for i in range(count):
            mark("task", 1, count * 10 + i * 10, 1, i * 10)
        mark("moved", 0, 100, 1)  # to another thread
        mark("moved", 1, 300, 2, 100)
        mark("inner", 0, 1000, 1)
        mark("inner", 0, 2000, 1)
        mark("inner", 1, 4000, 1, 2000)
        mark("inner", 1, 8000, 1)
        mark("open", 0, 1000, 1)
        (self.folder / "m.csv").write_text(
            "process_id,code_block_name,position,timestamp,thread_id,started_ns\n" + "".join(marks))
        expected = {("moved", 200): 1, ("inner", 2000): 1, ("inner", 7000): 1, ("task", count * 10): count}
        for name in "m.csv", "m.sqlite", "m.gputblocks":
            if name != "m.csv":
                combined = self.run_command("sub-track", "combine", "--mix", "-p", "m.csv", "--stf", name)
                self.assertEqual(combined.returncode, 0, combined.stderr)
            done = self.merge(name, "-o", f"{name}.json")
            self.assertIn("1 events lack", done.stdout, name)
            slices = [event for event in json.loads((self.folder / f"{name}.json").read_text()) if event["ph"] == "X"]
            self.assertEqual(dict(collections.Counter((e["name"], round(e["dur"])) for e in slices)), expected, name)

    def test_of_a_damaged_session_whatever_is_whole_is_merged(self):
        static = "ram_unit,gpu_ram_unit,time_unit,system_core_count\ngigabytes,gigabytes,hours,2\n"
        (self.folder / "samples.csv").write_text(static + f"main_ram,timestamp\n1,{START + 5}\ngarbage,,\n3,{START + 6}\n4,x\n5,{START + 7}\n")
        (self.folder / "blocks.csv").write_text(
            f"process_id,code_block_name,position,timestamp\n7,a,0,{START + 5}\n7,a,1,{START + 6}\nx,y\n7,b,0,{START + 7}\n7,b,1,{START + 8}\n")
        (self.folder / "none.csv").write_text("what is this\n")
        done = self.merge("samples.csv", "blocks.csv", "none.csv", "-o", "out.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.folder / "out.json").read_text())
        self.assertEqual([event["args"]["value"] for event in events if event["ph"] == "C"], [1e9, 3e9, 5e9])
        self.assertEqual([event["name"] for event in events if event["ph"] == "X"], ["a", "b"])
        for warning, (name, words) in zip(done.stderr.splitlines(), [
            ("samples.csv", "line 5 has 3 cells where the header has 2. 2 rows were skipped, 3 were kept."),
            ("blocks.csv", "line 4: its field 1 is not a process id. 1 row was skipped, 4 were kept."),
            ("none.csv", "This file is skipped"),
        ], strict=True):
            self.assertIn(name, warning)
            self.assertIn(words, warning)
        # Figures are not computed from such a file.
        for options, line in [(["--tf", "samples.csv"], "line 5"), (["--tf", "samples.csv", "--stf", "blocks.csv"], "line ")]:
            done = self.run_command("sub-track", "analyze", *options)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(line, done.stderr)

    def put_root(self, readings):
        """A training profile of one file of readings: (microsecond, name, value)."""
        folder = self.folder / "root" / "system" / "incremental"
        folder.mkdir(parents=True)
        lines = [json.dumps({"Type": "gpu", "Name": name, "Dimension": "GPUUtilization", "Value": value, "NodeId": "algo-1",
                             "Timestamp": 1600000000 + at / 1e6}) for at, name, value in readings]
        (folder / "1600000000.algo-1.json").write_text("\n".join(lines) + "\n")
        return folder.parents[1]

    def test_a_low_moment_shows_the_reading_of_that_moment(self):
        root = self.put_root([(0, "gpu0", 99), (10000, "gpu0", 10), (10000, "gpu1", 50), (20000, "gpu0", 98)])
        done = self.merge(root, "--low", "gpu0=20", "-o", "out.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        marks = [event for event in json.loads((self.folder / "out.json").read_text()) if event["ph"] == "i"]
        self.assertEqual([mark["args"] for mark in marks],
                         [{"gpu0_GPUUtilization_algo-1": 10.0, "gpu1_GPUUtilization_algo-1": 50.0}])

    def test_of_two_readings_as_near_the_later_is_shown(self):
        root = self.put_root([(0, "gpu1", 97), (10000, "gpu0", 10), (20000, "gpu1", 98)])
        self.merge(root, "--low", "gpu0=20", "-o", "out.json")
        (mark,) = [event for event in json.loads((self.folder / "out.json").read_text()) if event["ph"] == "i"]
        self.assertEqual(mark["args"], {"gpu0_GPUUtilization_algo-1": 10.0, "gpu1_GPUUtilization_algo-1": 98.0})

    def test_a_metric_that_nothing_has_is_said(self):
        done = self.merge(self.put_root([(0, "gpu0", 99)]), "--low", "NoSuch=10", "-o", "out.json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("There are no readings of NoSuch", done.stderr)

    def test_a_file_of_a_root_that_cannot_be_read_is_left_out(self):
        root = self.put_root([(0, "gpu0", 99)])
        folder = root / "system" / "incremental"
        (folder / "1600000060.algo-1.json").symlink_to("nowhere")
        os.mkfifo(folder / "1600000120.algo-1.json")
        for command in (("timeline", "merge", root, "-o", "out.json"), ("profile", "utilization", root)):
            done = self.run_command(*map(str, command))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("is skipped"), 2, done.stderr)

    def test_a_slice_has_what_its_beginning_and_its_end_have(self):
        (self.folder / "in.json").write_text(json.dumps([
            {"ph": "B", "name": "y", "cat": "c", "pid": 1, "tid": 1, "ts": 1, "args": {"shape": [1, 2], "both": "begin"}},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 5, "args": {"both": "end", "bytes": 3}},
            {"ph": "B", "name": "z", "cat": "d", "pid": 1, "tid": 1, "ts": 6, "args": {"a": "\u00e9"}},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 7}]))
        self.merge("in.json", "-o", "out.json")
        y, z = [event for event in json.loads((self.folder / "out.json").read_text()) if event["ph"] == "X"]
        self.assertEqual((y["cat"], y["args"]), ("c", {"shape": [1, 2], "both": "end", "bytes": 3}))
        self.assertEqual((z["cat"], z["args"]), ("d", {"a": "\u00e9"}))

    def test_failure_is_one_line_and_leaves_no_file(self):
        before = sorted(pathlib.Path(self.folder).iterdir())
        for arguments, status, words in [
            ([self.folder], 1, "trace root"),
            (["/nowhere"], 1, "/nowhere"),
            ([ROOT, "--start", "x"], 2, "whole number"),
            ([ROOT, "--start", "9", "--end", "8"], 1, "after the end"),
            ([ROOT, "--unit", "step", "--start", "77"], 1, "no step 77"),
            ([ROOT, "--steps", "1-99"], 1, "no step 99"),
            ([ROOT, "--steps", "1", "--start", "1"], 2, "--steps cannot be combined"),
            ([ROOT, "--low", "GPU"], 2, "threshold"),
            ([ROOT, "--suffix", "x.json"], 1, "not a valid suffix"),
            ([ROOT, "--start", "1", "--end", "2"], 1, "nothing to merge"),
            ([SOURCE / "Makefile"], 1, "nothing to merge"),
        ]:
            done = self.merge(*arguments, "-o", "out.json")
            self.assertEqual(done.returncode, status, arguments)
            self.assertIn(words, done.stderr.splitlines()[-1])
        self.assertEqual(sorted(pathlib.Path(self.folder).iterdir()), before)


if __name__ == "__main__":
    main()
