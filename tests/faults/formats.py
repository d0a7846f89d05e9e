"""One small file of each format, and the command that reads it."""

import gzip
import json
import os
import shutil
import subprocess
import time

from faults import COMMAND, MARKER, SOURCE, run, wait_until

FIXTURES = SOURCE / "tests" / "fixtures"
RAPL = {"name": "package-0\n", "max_energy_range_uj": "262143328850\n", "energy_uj": "1000000\n"}


def marks_csv(folder, calls=3):
    """Marks of a block from a moment before now on."""
    start = time.time() - 0.01 * calls
    lines = ["process_id,code_block_name,position,timestamp"]
    for number in range(calls):
        lines += [f"1,block {number % 7},0,{start + number * 0.01}", f"1,block {number % 7},1,{start + number * 0.01 + 0.005}"]
    (folder / "m.csv").write_text("\n".join(lines) + "\n")


def tracked(folder, name):
    done = run("run", "-q", "--st", "0.02", "--overwrite", "--tf", name, "--", "sleep", "0.1", folder=folder)
    assert done.returncode == 0, done.stderr


def trace(folder, name="k.json", events=4):
    rows = [{"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": 1000 + 50 * i, "dur": 40, "name": f"kernel {i % 5}",
             "args": {"device": 0, "stream": 7}} for i in range(events)]
    (folder / name).write_text(json.dumps({"traceEvents": rows}))


def rapl(folder):
    """The environment of a machine with one energy counter."""
    zone = folder / "sys" / "class" / "powercap" / "intel-rapl:0"
    zone.mkdir(parents=True, exist_ok=True)
    for name, content in RAPL.items():
        (zone / name).write_text(content)
    return {"GPUT_SYSFS": str(folder / "sys"), "GPUT_NVML": "/nonexistent"}


def recording(folder, driver):
    """Two lines, in the form of AIPowerMeter; as SQLite, recorded."""
    (folder / "rec").mkdir()
    if driver == "json":
        lines = [{"date": f"2026-01-01T00:00:0{second}.000000", "metrics": {"cpu": {"intel_power": 10.0 + second, "per_process_cpu_uses": {"17": 0.5}}}}
                 for second in (1, 2)]
        (folder / "rec" / "power_metrics.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        done = run("energy", "record", "--output-folder", "rec", "--energy-driver", "sqlite", "--measurement-period", "0.1", "--", "sleep", "0.3",
                   folder=folder, env=os.environ | rapl(folder))
        assert done.returncode == 0, done.stderr


def marks(folder, name):
    subprocess.run([MARKER, folder / name, "3"], stdout=subprocess.DEVNULL, check=True)


def results_so_far(folder):
    """What a killed tracker left, without the unused space and what follows it."""
    command = [COMMAND, "run", "-q", "--st", "0.01", "--resource-usage-file", "kept", "--", "cat"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: (folder / "kept").exists() and run("show", "kept", folder=folder).returncode == 0, "results so far")
        process.kill()
    kept = folder / "kept"
    kept.write_bytes(kept.read_bytes().removesuffix(b"\x85R.").rstrip(b"\0"))


def analysis(folder, name):
    tracked(folder, "t.csv")
    marks_csv(folder)
    extension = name.rsplit(".", 1)[1]
    done = run("sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "-f", extension, "-o", name, folder=folder)
    assert done.returncode == 0, done.stderr


ANALYZE = ["sub-track", "analyze", "-f", "json"]

# Name of the format, the file, what makes it in a folder, the command that reads it.
FORMATS = [
    ("tracking file, CSV", "t.csv", lambda folder: (tracked(folder, "t.csv"), marks_csv(folder)), [*ANALYZE, "--tf", "t.csv", "--stf", "m.csv"]),
    ("tracking file, SQLite", "t.sqlite", lambda folder: (tracked(folder, "t.sqlite"), marks_csv(folder)), [*ANALYZE, "--tf", "t.sqlite", "--stf", "m.csv"]),
    ("marks, CSV", "m.csv", lambda folder: (tracked(folder, "t.csv"), marks_csv(folder)), [*ANALYZE, "--tf", "t.csv", "--stf", "m.csv"]),
    ("marks, SQLite", "m.sqlite", lambda folder: (tracked(folder, "t.csv"), marks(folder, "m.sqlite")), [*ANALYZE, "--tf", "t.csv", "--stf", "m.sqlite"]),
    ("marks, .gputblocks", "m.gputblocks", lambda folder: (tracked(folder, "t.csv"), marks(folder, "m.gputblocks")),
     [*ANALYZE, "--tf", "t.csv", "--stf", "m.gputblocks"]),
    ("analysis, JSON", "a.json", lambda folder: analysis(folder, "a.json"), ["sub-track", "compare", "-m", "A=a.json", "-m", "B=a.json"]),
    ("results so far", "kept", results_so_far, ["show", "-f", "json", "kept"]),
    ("recording of power, JSON", "rec/power_metrics.json", lambda folder: recording(folder, "json"), ["energy", "summary", "rec"]),
    ("recording of power, SQLite", "rec/power_metrics.sqlite", lambda folder: recording(folder, "sqlite"), ["energy", "summary", "rec"]),
    ("config file", "c.json", lambda folder: (folder / "c.json").write_text(json.dumps({"sleep_time": 0.5, "ram_unit": "megabytes"})),
     ["run", "-q", "--tconfig", "c.json", "--", "true"]),
    ("PyTorch trace", "k.json", trace, ["profile", "kernels", "k.json"]),
    ("PyTorch trace, gzip", "k.json.gz", lambda folder: (trace(folder), (folder / "k.json.gz").write_bytes(gzip.compress((folder / "k.json").read_bytes()))),
     ["profile", "kernels", "k.json.gz"]),
    ("merged timeline", "m.json", lambda folder: (trace(folder), run("timeline", "merge", "-o", "m.json", "k.json", folder=folder)),
     ["timeline", "merge", "-o", "again.json", "m.json"]),
    ("training profile", "root/framework/pevents/2020091312/1600000003100000_11-host_pythontimeline.json",
     lambda folder: shutil.copytree(FIXTURES / "trace-root", folder / "root"), ["profile", "steps", "root"]),
]
