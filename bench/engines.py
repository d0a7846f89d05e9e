"""What one session of many rows and calls costs: `sub-track analyze` and engines on the same question, from the same two CSV files.

    bench/engines.py BUILD [ROWS CALLS]    with the Python that has polars and DuckDB

The question is the mean and the maximum of each column by code block (ours: also minimum, deviation and durations). Means must be equal.
BENCH_FOLDER is where the files go (2 GB for 1e7 rows), BENCH_ROUNDS how often each is asked, in turn. BENCH_MEMORY is what DuckDB may use (4GB).
"""

import json
import os
import pathlib
import sys
import tempfile

from fleet import cost
from job import HEADER, START, STATIC

NAMES, TAILS, PART = 10, 1_000, 100_000
COLUMNS = HEADER.strip().split(",")[:-1]


def write_rows(path, count):
    """Ten rows a second, of 1,000 different kinds."""
    kinds = [",".join(f"{(kind * 7 + column) % 997 / 31:.4f}" for column in range(len(COLUMNS))) for kind in range(TAILS)]
    with path.open("w") as file:
        file.write(STATIC + HEADER)
        for first in range(0, count, PART):
            file.writelines([f"{kinds[row * 7 % TAILS]},{START + row / 10:.6f}\n" for row in range(first, min(first + PART, count))])


def write_marks(path, rows, calls):
    """Calls one after the other, with a pause between them."""
    length = rows / 10 / calls
    with path.open("w") as file:
        file.write("process_id,thread_id,code_block_name,position,timestamp\n")
        for call in range(calls):
            begin, name = START + call * length, f"block {call % NAMES}"
            file.write(f"1,1,{name},0,{begin + 0.01 * length:.6f}\n1,1,{name},1,{begin + 0.99 * length:.6f}\n")


POLARS = """
import json, sys, polars as pl
rows, marks, out, *columns = sys.argv[1:]
calls = pl.scan_csv(marks).select("position", pl.col("code_block_name").alias("name"), pl.col("timestamp").alias("start"),
    pl.col("timestamp").shift(-1).alias("stop")).filter(pl.col("position") == 0).drop("position").set_sorted("start")
samples = pl.scan_csv(rows, skip_rows=2).set_sorted("timestamp")
joined = samples.join_asof(calls, left_on="timestamp", right_on="start").filter(pl.col("timestamp") <= pl.col("stop"))
figures = [f(pl.col(c)).alias(c + n) for c in columns for n, f in (("", pl.Expr.mean), ("_max", pl.Expr.max))]
found = joined.group_by("name").agg(figures).collect(engine="streaming")
json.dump({row["name"]: [row[c] for c in columns] for row in found.to_dicts()}, open(out, "w"))
"""
DUCKDB = """
import json, os, sys, duckdb
rows, marks, out, *columns = sys.argv[1:]
duckdb.sql(f"SET memory_limit='{os.environ.get('BENCH_MEMORY', '4GB')}'; SET temp_directory='{os.path.dirname(out)}/spilled'")
figures = ", ".join(f"avg({c}), max({c})" for c in columns)
found = duckdb.sql(f'''
    WITH calls AS (SELECT * FROM (SELECT position, code_block_name AS name, timestamp AS start,
        lead(timestamp) OVER (ORDER BY timestamp) AS stop FROM read_csv('{marks}')) WHERE position = 0)
    SELECT name, {figures} FROM read_csv('{rows}', skip = 2, header = true) s ASOF JOIN calls ON s.timestamp >= calls.start
    WHERE s.timestamp <= calls.stop GROUP BY name''').fetchall()
json.dump({row[0]: list(row[1::2]) for row in found}, open(out, "w"))
"""


def means(path):
    """By block and column; of an engine, or of our analysis."""
    found = json.loads(path.read_text())
    if "code_block_results" not in found:
        return found
    return {block["name"]: [block["resource_usage"][column]["mean"] for column in COLUMNS] for block in found["code_block_results"]}


def furthest(path, other):
    """The largest difference of two means, as a part of them."""
    theirs = means(other)
    return max(abs(a - b) / abs(a) for name, row in means(path).items() for a, b in zip(row, theirs[name], strict=True))


def main():
    build = pathlib.Path(sys.argv[1]).absolute()
    rows, calls = (int(float(text)) for text in sys.argv[2:4] or (1e6, 1e5))
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
        folder = pathlib.Path(folder)
        write_rows(folder / "rows.csv", rows)
        write_marks(folder / "marks.csv", rows, calls)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{rows:.3g} rows, {calls:.3g} calls, {size / 1e6:.0f} MB\nwhat\tCPU s\twall s\tpeak MB", flush=True)
        files = [str(folder / "rows.csv"), str(folder / "marks.csv")]
        ours = [str(build / "gpu-tracker"), "sub-track", "analyze", "--tf", files[0], "--stf", files[1], "-f", "json", "-o"]
        commands = {"sub-track analyze": [*ours, str(folder / "ours.json")],
                    "polars": [sys.executable, "-c", POLARS, *files, str(folder / "polars.json"), *COLUMNS],
                    "duckdb": [sys.executable, "-c", DUCKDB, *files, str(folder / "duckdb.json"), *COLUMNS]}  # fmt: skip
        asked = os.environ.get("BENCH_ENGINES", "polars duckdb").split()
        for _ in range(int(os.environ.get("BENCH_ROUNDS", "1"))):
            for name, command in commands.items():
                if name == "sub-track analyze" or name in asked:
                    cost(build, name, command)
        for name in asked:
            if (folder / f"{name}.json").exists():
                print(f"means of {name} differ from ours by at most {furthest(folder / 'ours.json', folder / f'{name}.json'):.0e} of them")


if __name__ == "__main__":
    main()
