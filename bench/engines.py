"""What one session of many rows and calls costs: `sub-track analyze` and engines on the same question, from the same rows and calls.

    bench/engines.py BUILD [ROWS CALLS]    with the Python that has polars and DuckDB

The question is the mean and the maximum of each column by code block (ours: also minimum, deviation and durations). Means must be equal.
Rows are read from CSV, and with BENCH_ALSO from further files: "sqlite" by us, next to SQLite alone, "parquet" by engines.
BENCH_FOLDER is where the files go (2 GB of each kind for 1e7 rows), BENCH_ROUNDS how often each is asked, in turn. BENCH_MEMORY is what DuckDB
may use (4GB).
"""

import json
import os
import pathlib
import sqlite3
import subprocess
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


def write_sqlite(path, source):
    """The rows of a CSV file, as gpu-tracker's tables."""
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    with source.open() as file:
        for table, lines in ("static_data", 1), ("data", None):
            names = file.readline().strip().split(",")
            kinds = ["TEXT" if name.endswith("unit") else "INTEGER" if "_n_" in name or name.endswith(("count", "gpus")) else "REAL" for name in names]
            database.execute(f"CREATE TABLE {table} ({', '.join(map(' '.join, zip(names, kinds, strict=True)))})")
            rows = (line.rstrip("\n").split(",") for line in ([file.readline()] if lines else file))
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)
    database.commit()
    database.close()


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
scanned = pl.scan_parquet(rows) if rows.endswith(".parquet") else pl.scan_csv(rows, skip_rows=2)
samples = scanned.set_sorted("timestamp")
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
table = f"'{rows}'" if rows.endswith(".parquet") else f"read_csv('{rows}', skip = 2, header = true)"
found = duckdb.sql(f'''
    WITH calls AS (SELECT * FROM (SELECT position, code_block_name AS name, timestamp AS start,
        lead(timestamp) OVER (ORDER BY timestamp) AS stop FROM read_csv('{marks}')) WHERE position = 0)
    SELECT name, {figures} FROM {table} s ASOF JOIN calls ON s.timestamp >= calls.start
    WHERE s.timestamp <= calls.stop GROUP BY name''').fetchall()
json.dump({row[0]: list(row[1::2]) for row in found}, open(out, "w"))
"""
TO_PARQUET = "import sys, polars as pl; pl.scan_csv(sys.argv[1], skip_rows=2).sink_parquet(sys.argv[2])"
SQLITE = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT sum(combined_ram), max(timestamp) FROM data').fetchone()"


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


def commands_of(build, folder, rows):
    files, marks = str(rows), str(folder / "marks.csv")
    return {"sub-track analyze": [str(build / "gpu-tracker"), "sub-track", "analyze", "--tf", files, "--stf", marks, "-f", "json", "-o",
                                  str(folder / "ours.json")],
            "polars": [sys.executable, "-c", POLARS, files, marks, str(folder / "polars.json"), *COLUMNS],
            "duckdb": [sys.executable, "-c", DUCKDB, files, marks, str(folder / "duckdb.json"), *COLUMNS]}  # fmt: skip


def main():
    build = pathlib.Path(sys.argv[1]).absolute()
    rows, calls = (int(float(text)) for text in sys.argv[2:4] or (1e6, 1e5))
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
        folder = pathlib.Path(folder)
        write_rows(folder / "rows.csv", rows)
        write_marks(folder / "marks.csv", rows, calls)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{rows:.3g} rows, {calls:.3g} calls, {size / 1e6:.0f} MB\nwhat\tCPU s\twall s\tpeak MB", flush=True)
        also = os.environ.get("BENCH_ALSO", "").split()
        commands = commands_of(build, folder, folder / "rows.csv")
        if "sqlite" in also:
            write_sqlite(folder / "rows.sqlite", folder / "rows.csv")
            commands["sub-track analyze, SQLite"] = commands_of(build, folder, folder / "rows.sqlite")["sub-track analyze"]
            commands["SQLite alone"] = [sys.executable, "-c", SQLITE, str(folder / "rows.sqlite")]
        if "parquet" in also:
            subprocess.run([sys.executable, "-c", TO_PARQUET, folder / "rows.csv", folder / "rows.parquet"], check=True)
            others = commands_of(build, folder, folder / "rows.parquet")
            commands |= {f"{name}, Parquet": others[name] for name in ("polars", "duckdb")}
        asked = os.environ.get("BENCH_ENGINES", "polars duckdb").split()
        for _ in range(int(os.environ.get("BENCH_ROUNDS", "1"))):
            for name, command in commands.items():
                if name.split(",")[0] in ("sub-track analyze", "SQLite alone", *asked):
                    cost(build, name, command)
        for name in asked:
            if (folder / f"{name}.json").exists():
                print(f"means of {name} differ from ours by at most {furthest(folder / 'ours.json', folder / f'{name}.json'):.0e} of them")


if __name__ == "__main__":
    main()
