"""What the analysis of many ranks costs: `sub-track analyze` rank by rank, the export to Parquet, and each engine on it.

    bench/fleet.py BUILD [RANKS SAMPLES CALLS]    of each rank; with the Python that has pyarrow and engines

All ranks have the same samples and calls (train > epoch > step > 4 phases), as one file with many names; each is a session of its own.
CPU seconds are the kernel's, of all processes of a step; memory is their peak together. gpu-tracker itself measures both.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from job import START, write_samples

PHASES = "load", "forward", "backward", "update"


def write_marks(path, calls, end):
    """One train, ten epochs, and in them steps of four phases."""
    steps = max((calls - 11) // 5, 1)
    length, generator, marks = end / steps, random.Random(1), [(START, "train", 0), (START + end, "train", 1)]
    for epoch in range(10):
        marks += [(START + end * (epoch + side) / 10, "epoch", side) for side in range(2)]
    for step in range(steps):
        begin = START + step * length
        cuts = sorted(generator.random() * length for _ in range(3))
        marks += [(begin, "step", 0), (begin + length * 0.999, "step", 1)]
        for phase, first, last in zip(PHASES, [0, *cuts], [*cuts, length * 0.999]):
            marks += [(begin + min(first, length * 0.999), phase, 0), (begin + min(last, length * 0.999), phase, 1)]
    marks.sort(key=lambda mark: mark[0])
    with path.open("w") as file:
        file.write("process_id,thread_id,code_block_name,position,timestamp\n")
        file.writelines(f"1,1,{name},{position},{moment:.6f}\n" for moment, name, position in marks)


def make_ranks(folder, ranks, samples, calls):
    (folder / "ranks").mkdir()
    write_samples(folder / "samples", samples)
    write_marks(folder / "marks", calls, samples)
    for rank in range(ranks):
        name = folder / "ranks" / f"s{rank}.csv"
        os.link(folder / "samples", name)
        os.link(folder / "marks", folder / "ranks" / f"s{rank}-blocks.csv")
        name.with_name(name.name + ".session.json").write_text(json.dumps({"tracking_file": name.name, "start": str(rank), "rank": rank}))


def cost(build, name, command, environment=None):
    """Runs it, tracked; a row of CPU seconds, wall time and the peak of its processes together."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        tracked = [str(build / "gpu-tracker"), "run", "-q", "--st", "0.2", "--ru", "megabytes", "-o", str(report), "--", *command]
        done = subprocess.run(tracked, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name}\tfailed: {done.stderr[-300:]}", flush=True)
            return
        used = json.loads(report.read_text())
    seconds, peak = used["accounting"]["cpu_seconds"]["kernel"], used["max_ram"]["combined"]["total_rss"]
    print(f"{name}\t{seconds:.1f}\t{used['compute_time']['time'] * 3600:.0f}\t{peak:.0f}", flush=True)


def main():
    build = pathlib.Path(sys.argv[1]).absolute()
    ranks, samples, calls = map(int, sys.argv[2:5] or (64, 15_625, 1_562))
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    fleet = [sys.executable, "-m", "gpu_tracker.fleet"]
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
        folder = pathlib.Path(folder)
        make_ranks(folder, ranks, samples, calls)
        engines = os.environ.get("BENCH_ENGINES", "").split() or subprocess.run(
            [sys.executable, "-c", "from gpu_tracker import fleet; print(*fleet.installed_engines())"], env=environment, capture_output=True,
            text=True, check=True).stdout.split()  # fmt: skip
        print(f"{ranks} ranks, {ranks * samples:.3g} samples, {ranks * calls:.3g} calls\nwhat\tCPU s\twall s\tpeak MB")
        each = 'for f in "$1"/ranks/s*-blocks.csv; do "$0" sub-track analyze --tf "${f%-blocks.csv}.csv" --stf "$f" -f json || exit; done'
        cost(build, "sub-track analyze, CSV, rank by rank", ["sh", "-c", each, str(build / "gpu-tracker"), str(folder)])
        cost(build, "export of the CSV to Parquet", [*fleet, "export", str(folder / "ranks"), "-o", str(folder / "out")], environment)
        size = sum(path.stat().st_size for path in (folder / "out").rglob("*.parquet"))
        print(f"the export has {size / 1e6:.0f} MB, the CSV {ranks * sum((folder / name).stat().st_size for name in ('samples', 'marks')) / 1e6:.0f} MB")
        for engine in engines:
            cost(build, engine, [*fleet, "analyze", str(folder / "out"), "-e", engine, "--by", ""], environment)


if __name__ == "__main__":
    main()
