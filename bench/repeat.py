"""What `gpu-tracker bench` costs and finds: repeat.py BUILD [PART…]

Prints rows as bench.h says, of all parts or those that are named:

cost     a run of `true` next to hyperfine's. hyperfine 2 is that of PyPI, in an environment of its own below the build folder
equal    how often equal commands are called different, under a load that changes
found    how often a difference is found. Where others use the machine, run this part with a real-time priority (chrt -f 5)

BENCH_FULL=1 makes 200 comparisons of 10 runs each; BENCH_COMPARISONS=60 as many.
"""

import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
COMMAND = BUILD / "gpu-tracker"
PACKAGE = "astral-dev-toolchain-hyperfine==2.0.0"
FULL = os.environ.get("BENCH_FULL") == "1"
COMPARISONS = int(os.environ.get("BENCH_COMPARISONS", 200 if FULL else 20))
RUNS = 10
PARTS = "cost", "equal", "found"
# A program whose work, memory and sleep are arguments: CPU loops, megabytes that are touched, microseconds.
PROGRAM = """
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    volatile double sum = 0;
    size_t bytes = (size_t)(atof(argv[2]) * 1e6);
    volatile char *memory = malloc(bytes); /* volatile: the compiler would leave the memory out */
    for (size_t i = 0; i < bytes; i += 1024)
        memory[i] = 1;
    for (long i = 0; i < atol(argv[1]); i++)
        sum += (double)i;
    usleep(argc > 3 ? (useconds_t)atol(argv[3]) : 0);
    return 0;
}
"""


def hyperfine():
    """None: it cannot be had."""
    folder = BUILD / "bench-hyperfine"
    program = folder / "bin" / "hyperfine"
    if not program.exists():
        done = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True)
        done = done.returncode or subprocess.run([folder / "bin" / "pip", "install", "-q", PACKAGE], capture_output=True).returncode
    return program if program.exists() else None


def cost(command, runs):
    """Wall and CPU time of the driver and what it starts, for a run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall / runs, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / runs


def row(what, unit, ours, against, theirs, target):
    ratio = f"{ours / theirs:.3g}" if theirs else "-"
    print(what, unit, f"{ours:.3g}", against, f"{theirs:.3g}" if theirs is not None else "-", ratio, target, sep="\t", flush=True)


def compare_costs(peer, folder):
    runs = 300 if FULL else 100
    result, walls, cpus, measured = folder / "x.json", ([], []), ([], []), ([], [])
    commands = ([COMMAND, "bench", "-r", runs, "-q", "-o", result, "true"],
                [peer, "-N", "-r", runs, "--style", "none", "--export-json", result, "true"])  # fmt: skip
    for _ in range(5):
        for side, command in enumerate(commands):
            wall, cpu = cost(list(map(str, command)), runs)
            walls[side].append(wall * 1e3)
            cpus[side].append(cpu * 1e3)
            found = json.loads(result.read_text())
            times = [run["figures"]["wall_seconds"] for run in found["runs"]] if side == 0 else [run["time_wall_clock"]["value"] for run in found["results"][0]["measurements"]]
            measured[side].append(statistics.median(times) * 1e3)
    for what, unit, sides, target in (("measured wall time of true", "ms", measured, "+1 ms"), ("a run of true, all told", "ms", walls, "+1 ms"),
                                      ("CPU time of driver and true", "ms", cpus, "-")):  # fmt: skip
        row(what, unit, statistics.median(sides[0]), "hyperfine", statistics.median(sides[1]), target)


class Load:
    """Other programs on the machine, whose number changes twice a second."""

    def __init__(self):
        self.processes = []

    def change(self):
        self.end()
        for _ in range(random.choice((0, 0, 1, 2, os.cpu_count() or 1))):
            self.processes.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes = []


def verdicts(folder, base, other, load):
    """One comparison; the load changes while it runs."""
    result = folder / "x.json"
    bench = subprocess.Popen([COMMAND, "bench", "-r", str(RUNS), "-q", "-o", result, "-n", "A", base, "-n", "B", other])
    while bench.poll() is None:
        if load:
            load.change()
        time.sleep(0.5 if load else 0.05)
    if load:
        load.end()
    return {row["figure"]: row["verdict"] for row in json.loads(result.read_text())["comparisons"]}


def share(folder, base, other, load, claims):
    """Of each figure that is compared: in how many percent of the comparisons its verdict is one of `claims`."""
    found = [verdicts(folder, base, other, load) for _ in range(COMPARISONS)]
    figures = dict.fromkeys(figure for one in found for figure in one)
    return {figure: 100 * sum(one.get(figure) in claims for one in found) / len(found) for figure in figures}


def main():
    parts = sys.argv[2:] or PARTS
    random.seed(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "work.c").write_text(PROGRAM)
        work = folder / "work"
        subprocess.run(["cc", "-O1", "-o", work, folder / "work.c"], check=True)
        peer = hyperfine() if "cost" in parts else None
        if peer:
            compare_costs(peer, folder)
        base = f"{work} 20000000 20"
        if "equal" in parts:
            short = f"{work} 2000000 5"
            for figure, percent in share(folder, short, short, Load(), ("less", "more")).items():
                row(f"equal commands called different, {figure}, changing load", "%", percent, "-", None, "5")
        # Apart from each other: each program differs in one figure, whatever the speed of the machine.
        for what, pair, figure in (("+2 % CPU", (base, f"{work} 20400000 20"), "cpu_seconds"),
                                   ("+2 % RAM", (f"{work} 100000 20", f"{work} 100000 20.45"), "ram_bytes"),
                                   ("+5 % wall time", (f"{work} 100000 1 100000", f"{work} 100000 1 105100"), "wall_seconds")):  # fmt: skip
            if "found" in parts:
                row(f"{what} found in {RUNS} runs", "%", share(folder, *pair, None, ("more",))[figure], "-", None, "95")


main()
