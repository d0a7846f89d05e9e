"""What a notebook cell feels of being measured at 1 ms: cell.py BUILD

Each cell is run with and without, in short turns that alternate, in one process. Prints rows as bench.h says: wall time and
CPU time of the cell's own thread, ours over alone, medians of pairs; then, alone over alone, the noise. On a machine that
others use, wall time holds their share as well.
"""

import os
import pathlib
import statistics
import sys
import time

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve() / "python"))
from gpu_tracker._meter import Meter  # noqa: E402

PAIRS = 400 if os.environ.get("BENCH_FULL") == "1" else 60
MS = 1000


def pure_python():
    total = 0
    for i in range(300_000):
        total += i * i % 7
    return total


def small_objects():
    for _ in range(3):
        [bytearray(64) for _ in range(60_000)]


def large_blocks():
    # Long enough that it does not matter whether the allocator still has the pages of the run before.
    for _ in range(150):
        bytearray(8 << 20)


def numpy_cell():
    try:
        import numpy
    except ImportError:
        return None
    matrix, vector = numpy.random.rand(400, 400), numpy.random.rand(1 << 18)

    def numpy_arrays():
        for _ in range(4):
            (matrix @ matrix).sum()
            numpy.sqrt(vector * vector + 1).sum()

    return numpy_arrays


def run(cell, measured):
    """(wall, CPU) seconds of the cell itself."""
    meter = Meter().start() if measured else None
    cpu, wall = time.thread_time(), time.perf_counter()
    cell()
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    if meter:
        meter.stop()
    return wall, cpu


def compare(cell, measured):
    """Medians (wall, CPU) of ours, of alone, and of their ratios."""
    ours, alone = [], []
    for i in range(PAIRS):
        for which in (0, 1) if i % 2 else (1, 0):
            (alone if which else ours).append(run(cell, measured and not which))
    for column in 0, 1:
        ratio = statistics.median(a[column] / b[column] for a, b in zip(ours, alone))
        yield statistics.median(a[column] for a in ours), statistics.median(b[column] for b in alone), ratio


def row(what, ours, theirs, ratio, target):
    print(what, "ms", f"{ours * MS:.3g}", "alone", f"{theirs * MS:.3g}", f"{ratio:.3f}", target, sep="\t", flush=True)


def around():
    """What begin and end of a cell's measuring take, outside of its time."""
    times = []
    for _ in range(PAIRS):
        begin = time.perf_counter()
        Meter().start().stop()
        times.append(time.perf_counter() - begin)
    print("begin and end of measuring a cell", "ms", f"{statistics.median(times) * MS:.3g}", "-", "-", "-", "-", sep="\t")


def main():
    for cell in (pure_python, numpy_cell(), small_objects, large_blocks):
        if cell is None:
            print("numpy is not installed; its cell was skipped", file=sys.stderr)
            continue
        name = cell.__name__.replace("_", " ")
        run(cell, True)
        for measured in True, False:
            for kind, (ours, alone, ratio) in zip(("wall", "CPU"), compare(cell, measured)):
                title = f"cell of {name}, {kind}" if measured else f"cell of {name}, {kind}: noise"
                row(title, ours, alone, ratio, "<= 1.01" if measured else "-")
    around()


main()
