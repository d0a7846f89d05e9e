#!/usr/bin/env python3
"""The merger of SageMaker Debugger (smdebug from PyPI, in an environment of its own) on a profile of its own form, and ours
on the same files: trace-peer.py BUILD [MEGABYTES…]. Several sizes show how each grows."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
PEER = BUILD / "peer-smdebug"
SIZES = [int(size) for size in sys.argv[2:]] or [28]
NEEDS = ["smdebug", "numpy", "pandas", "protobuf<4", "packaging", "boto3", "pyinstrument==3.4.2", "setuptools<80", "requests",
         "psutil", "bokeh", "tqdm", "ipywidgets"]
START = 1594662618000000


def make_environment():
    if (PEER / "ready").exists():
        return
    subprocess.run([sys.executable, "-m", "venv", PEER], check=True, stdout=sys.stderr)
    pip = [PEER / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", NEEDS[0]], check=True, stdout=sys.stderr)
    subprocess.run([*pip, *NEEDS[1:]], check=True, stdout=sys.stderr)
    (PEER / "ready").touch()


def write_profile(root, megabytes):
    """Files of some 10 MB, as the profiler rotates them. Returns their bytes."""
    random.seed(1)
    hour = root / "framework/pevents/2020071317"
    hour.mkdir(parents=True)
    now, total, phases = 0, 0, ["Step:ModeKeys.TRAIN", "Forward-node", "Backward-node", "DataIterator"]
    while total < megabytes * 1000000:
        events = [{"name": "process_name", "ph": "M", "pid": i, "args": {"name": phase, "start_time_since_epoch_in_micros": START}}
                  for i, phase in enumerate(phases)]
        for _ in range(60000):
            now += random.randrange(20)
            events.append({"name": random.choice(["conv1", "layer1.0.bn2", "fc"]), "ph": "X", "pid": random.randrange(4), "ts": now,
                           "dur": random.randrange(40), "tid": random.randrange(3),
                           "args": {"step_num": str(now // 100000), "layer_name": "resnet.layer1.0.conv1", "device": "0"}})
        text = "[\n" + ",\n".join(json.dumps(event) for event in events) + "\n]\n"
        (hour / f"{START + now + 40}_905-algo-1_pythontimeline.json").write_text(text)
        total += len(text)
    return total


def measured(what, size, command):
    """Runs a command and prints its CPU time."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{what:24} {size / 1e6:6.0f} MB {cpu:8.2f} s CPU {size / 1e9 / cpu:8.4f} GB/s"
          f"{'' if status == 0 else '  (failed)'}", flush=True)


def compare(megabytes):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "profile")
        size = write_profile(root, megabytes)
        old = ("import sys\nfrom smdebug.profiler.analysis.utils.merge_timelines import MergedTimeline, MergeUnit\n"
               f"MergedTimeline(sys.argv[1], output_directory=sys.argv[2]).merge_timeline({START - 1}, {START * 2}, MergeUnit.TIME)\n")
        files = [str(path) for path in sorted(root.rglob("*.json"))]
        measured("timeline merge", size, [BUILD / "gpu-tracker", "timeline", "merge", root, "-o", root / "merged.json"])
        measured("Python: json.load", size, [sys.executable, "-c", "import json, sys\nfor f in sys.argv[1:]: json.load(open(f))", *files])
        measured("smdebug: MergedTimeline", size, [PEER / "bin/python", "-c", old, str(root), folder])
        merged = sorted(pathlib.Path(folder).glob("*_merged_timeline.json"))
        ours = sum(event["ph"] == "X" for event in json.loads((root / "merged.json").read_text()))
        theirs = sum(event["ph"] == "X" for event in json.loads(merged[0].read_text())) if merged else 0
        print(f"slices: {ours} ours, {theirs} smdebug's")


make_environment()
for megabytes in SIZES:
    compare(megabytes)
