"""What the history costs: the row at the end of a session, a list of 100,000, and trackers that end at once.

    python3 bench/history.py BUILD [TRACKERS]
"""

import json
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROWS = 100_000


def run(command, environment):
    begun = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begun) * 1000


def measure_row(tracker, environment, rounds=100):
    """Milliseconds that a session takes longer with a row: of pairs in turn."""
    run([tracker, "run", "-q", "--history", "true"], environment)
    without, added = [], []
    for _ in range(rounds):
        without.append(run([tracker, "run", "-q", "--no-history", "true"], environment))
        added.append(run([tracker, "run", "-q", "--history", "true"], environment) - without[-1])
    added.sort()
    print(f"| a session without, ms | {statistics.median(without):.2f} |")
    print(f"| added by its row, ms: median, 90 % | {statistics.median(added):.2f}, {added[rounds * 9 // 10]:.2f} |")


def measure(command, environment, name):
    """Prints the seconds and the memory of a command."""
    begun = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    elapsed = time.perf_counter() - begun
    cpu = usage.ru_utime + usage.ru_stime
    print(f"| {name} of {ROWS:,}: s, CPU s, MB | {elapsed:.2f}, {cpu:.2f}, {usage.ru_maxrss / 1024:.0f} |")


def measure_list(tracker, environment, folder):
    """Seconds and memory of a list of many sessions."""
    path, = folder.glob("history.*.sqlite")
    with sqlite3.connect(path) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(sessions)")]
        rest = ", ".join(name for name in columns if name not in ("number", "session_id", "start_seconds"))
        database.execute("DELETE FROM sessions WHERE number > 1")
        database.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) "
            f"INSERT INTO sessions (session_id, start_seconds, {rest}) SELECT 's' || i, 1.7e9 + i, {rest} FROM n, sessions WHERE number = 1"
        )
    database.close()
    for arguments in ["history"], ["history", "-n", "0"], ["history", "-f", "csv"], ["size", "true"]:
        measure([tracker, *arguments], environment, " ".join(arguments))


def measure_folder(tracker, environment, folder):
    """Seconds and memory of a list of many reports, next to reading their first bytes in Python."""
    results = folder / "results"
    results.mkdir()
    subprocess.run([tracker, "run", "-q", "-o", str(results / "0.json"), "--tf", str(folder / "0.csv"), "sleep", "0"], env=environment, check=True)
    report = (results / "0.json").read_text()
    identity = json.loads(report)["identity"]
    for i in range(1, ROWS):
        text = report.replace(f'"pid": {identity["pid"]}', f'"pid": {i + 10}').replace(identity["session_id"], f"s{i}")
        (results / f"{i}.json").write_text(text)
    begun = time.process_time()
    for entry in os.scandir(results):
        with open(entry, "rb", buffering=0) as file:
            file.read(8192)
    print(f"| floor: the first 8 kB of {ROWS:,} reports read by Python: CPU s | {time.process_time() - begun:.2f} |")
    for arguments in [], ["--sort", "ram"], ["-n", "0"]:
        measure([tracker, "history", f"{results}/", *arguments], environment, f"history DIR {' '.join(arguments)}")


def measure_crowd(tracker, environment, folder, count):
    """Trackers that end at once: none loses its row."""
    before = len(json.loads(subprocess.run([tracker, "history", "-f", "json", "sleep"], env=environment, capture_output=True).stdout or b"[]"))
    begun = time.perf_counter()
    trackers = [subprocess.Popen([tracker, "run", "-q", "--history", "--", "sleep", "0.2"], env=environment) for _ in range(count)]
    failed = sum(process.wait() != 0 for process in trackers)
    elapsed = time.perf_counter() - begun
    waiting = len(list(folder.glob("history.*.rows/*.json")))
    rows = json.loads(subprocess.run([tracker, "history", "-f", "json", "sleep"], env=environment, capture_output=True, check=True).stdout)
    print(f"| {count:,} trackers at once: rows, of which waited in files, failed, s | {len(rows) - before}, {waiting}, {failed}, {elapsed:.1f} |")
    assert len({row["session_id"] for row in rows}) == len(rows) == before + count


def main():
    tracker = str(pathlib.Path(sys.argv[1]) / "gpu-tracker")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = os.environ | {"GPUT_HISTORY": name, "GPUT_CONFIG": ""}
        print("| what | value |\n| --- | --- |")
        measure_row(tracker, environment)
        measure_crowd(tracker, environment, folder, count)
        measure_list(tracker, environment, folder)
        measure_folder(tracker, environment, folder)


if __name__ == "__main__":
    main()
