"""Small tracking and sub-tracking files, and the slow way to analyze them."""

import csv
import itertools
import math
import sqlite3

STATIC = {
    "ram_unit": "gigabytes",
    "gpu_ram_unit": "gigabytes",
    "time_unit": "hours",
    "ram_system_capacity": 67.25414912000001,
    "gpu_ram_system_capacity": 16.376,
    "system_core_count": 12,
    "n_expected_cores": 12,
    "system_gpu_count": 1,
    "n_expected_gpus": 1,
}
MEASUREMENTS = (
    ["main_ram", "descendants_ram", "combined_ram", "system_ram"]
    + ["main_gpu_ram", "descendants_gpu_ram", "combined_gpu_ram", "system_gpu_ram"]
    + ["gpu_sum_utilization_percent", "gpu_hardware_utilization_percent"]
    + ["main_n_threads", "descendants_n_threads", "combined_n_threads"]
    + [
        f"cpu_{who}_{how}_utilization_percent"
        for who in ("system", "main", "descendants", "combined")
        for how in ("sum", "hardware")
    ]
)
MARK_COLUMNS = ["process_id", "code_block_name", "position", "timestamp"]
START = 1745449609.25


def row(second, scale=1.0):
    """A sample: the i-th measurement is (i + 1) * second * scale."""
    return [(i + 1) * second * scale for i in range(len(MEASUREMENTS))] + [START + second]


_SESSIONS = itertools.count(1)


def rows_of_a_session(*seconds):
    """Samples that no other session has: files with the same ones are copies."""
    scale = 1 + next(_SESSIONS) / 1e6
    return [row(second, scale) for second in seconds]


def call(process, name, start, stop):
    """The marks of a call."""
    return [(process, name, 0, START + start), (process, name, 1, START + stop)]


def write_csv(path, tables, line_end="\n"):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator=line_end)
        for header, rows in tables:
            writer.writerow(header)
            writer.writerows(rows)


def write_sqlite(path, tables):
    database = sqlite3.connect(path)
    for name, header, rows in tables:
        database.execute(f"CREATE TABLE {name} ({', '.join(header)})")
        database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(header))})", rows)
    database.commit()
    database.close()


def write_tracking(path, rows, line_end="\n", static=STATIC):
    header = MEASUREMENTS + ["timestamp"]
    if str(path).endswith(".sqlite"):
        write_sqlite(path, [("static_data", list(static), [list(static.values())]), ("data", header, rows)])
    else:
        write_csv(path, [(list(static), [list(static.values())]), (header, rows)], line_end)


def write_marks(path, marks, line_end="\n"):
    if str(path).endswith(".sqlite"):
        write_sqlite(path, [("data", MARK_COLUMNS, marks)])
    else:
        write_csv(path, [(MARK_COLUMNS, marks)], line_end)


def statistics(values):
    mean = math.fsum(values) / len(values)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return {"min": min(values), "max": max(values), "mean": mean, "std": std}


def expected(rows, calls):
    """The results for samples and calls (process, name, start, stop), by brute force."""

    def usage(chosen):
        return {name: statistics([values[i] for values in chosen]) for i, name in enumerate(MEASUREMENTS)}

    blocks = []
    for name in sorted({call[1] for call in calls}):
        spans = [(START + start, START + stop) for _, block, start, stop in calls if block == name]
        inside = [values for values in rows if any(a <= values[-1] <= b for a, b in spans)]
        durations = [b - a for a, b in spans]
        times = [values[-1] for values in rows]
        outside = sum(b < min(times) or a > max(times) for a, b in spans)
        blocks.append(
            {
                "name": name,
                "num_timepoints": len(inside),
                "num_calls": len(spans),
                "num_non_empty_calls": sum(any(a <= values[-1] <= b for values in rows) for a, b in spans),
                **({"num_outside_calls": outside} if outside else {}),
                "compute_time": statistics(durations) | {"total": math.fsum(durations)},
                "resource_usage": usage(inside),
            }
        )
    return {"overall": usage(rows), "static_data": STATIC, "code_block_results": blocks}
