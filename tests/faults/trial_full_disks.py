"""Full disks and limits of file sizes: what was lost is said, with an exit status, and what is there is whole. With space
again it goes on."""

import contextlib
import csv
import datetime
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import time

from disks import FullDisk
from faults import COMMAND, leftovers, main, problem_of, run, trial, wait_until
from formats import marks_csv, rapl, trace, tracked
from marking import Marker

# The exit status of a tracker that could not start the command, or not write its report.
TRACKER_FAILED = 125

# Writers that found a full disk try again after 50 ms.
RETRY_SECONDS = 0.06


def fill_some(disk, rounds):
    """Leaves space for any number of bytes, down to none, and returns it."""
    space = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    keep = rounds.random.randrange(0, space // 2)
    (disk / "filler").write_bytes(bytes(space - keep))
    return keep


def rows_problem(disk, name, said):
    """With space again the file opens, SQLite's log next to it included; where rows are missing, that was said."""
    (disk / "filler").unlink()
    if not (disk / name).exists():
        return "" if said else "there is no tracking file, and not a word of it"
    (disk / "m.csv").write_text("process_id,code_block_name,position,timestamp\n")
    done = run("sub-track", "analyze", "--tf", name, "--stf", "m.csv", "-f", "json", folder=disk)
    for made in "m.csv", "t.sqlite-wal", "t.sqlite-shm":
        (disk / made).unlink(missing_ok=True)
    return problem_of(done) or ("" if done.returncode == 0 or said else f"it cannot be read, and not a word of it: {done.stderr}")


@trial("full disk", "run, all of its files", 6, 200)
def run_on_full_disk(rounds):
    with FullDisk(rounds.folder, "256k") as disk:
        for number in rounds:
            for name in leftovers(disk):
                (disk / name).unlink()
            fill_some(disk, rounds)
            extension = ("csv", "sqlite")[number % 2]
            done = run("run", "--st", "0.001", "--tf", f"t.{extension}", "-o", "r.json", "--", "sh", "-c", "echo output; sleep 0.05", folder=disk)
            problem = problem_of(done)
            if not problem and done.returncode == 0:
                problem = "" if done.stdout == "output\n" and (disk / "r.json").exists() else "exit status 0, and something is missing"
            elif not problem and done.returncode != TRACKER_FAILED:
                problem = f"exit status {done.returncode}: {done.stderr}"
            left = leftovers(disk, "filler", f"t.{extension}", "r.json", "t.sqlite-wal", "t.sqlite-shm")
            problem = problem or rows_problem(disk, f"t.{extension}", done.stderr)
            rounds.count_round(problem or (f"it left {left}" if left else ""), f"{extension}, round {number}")


@trial("full disk", "run, the row of its history", 6, 200)
def history_on_full_disk(rounds):
    """The command keeps its status; a row that is missing was said, and those before it are there."""
    with FullDisk(rounds.folder, "256k") as disk:
        environment = os.environ | {"GPUT_HISTORY": str(disk / "history")}
        n_rows = 0
        for number in rounds:
            if number % 6 == 0:
                shutil.rmtree(disk / "history", ignore_errors=True)
                n_rows = 0
            fill_some(disk, rounds)
            done = run("run", "-q", "--", "true", folder=rounds.folder, env=environment)
            (disk / "filler").unlink()
            read = run("history", "-f", "json", folder=rounds.folder, env=environment)
            rows = json.loads(read.stdout or "[]")
            n_rows += not done.stderr
            problem = problem_of(done) or problem_of(read) or (read.stderr if "warning" in read.stderr else "")
            if not problem and done.returncode != 0:
                problem = f"exit status {done.returncode}: {done.stderr}"
            if not problem and len(rows) != n_rows:
                problem = f"{len(rows)} rows, and {n_rows} of which nothing was said: {done.stderr}"
            rounds.count_round(problem, f"round {number}")


@trial("full disk", "outputs of commands", 8, 200)
def outputs_on_full_disk(rounds):
    folder = rounds.fresh()
    tracked(folder, "t.csv")
    marks_csv(folder, 400)
    trace(folder, events=400)
    commands = [("a.json", ["sub-track", "analyze", "--tf", folder / "t.csv", "--stf", folder / "m.csv", "-f", "json", "-o", "a.json"]),
                ("all.csv", ["sub-track", "combine", "--stf", "all.csv", "-p", folder / "m.csv", folder / "m.csv"]),
                ("all.sqlite", ["sub-track", "combine", "--mix", "--stf", "all.sqlite", "-p", folder / "m.csv", folder / "m.csv"]),
                ("all.gputblocks", ["sub-track", "combine", "--mix", "--stf", "all.gputblocks", "-p", folder / "m.csv", folder / "m.csv"]),
                ("m.json", ["timeline", "merge", "-o", "m.json", folder / "k.json"])]
    whole = {}
    for output, command in commands:
        (rounds.folder / "space").mkdir(exist_ok=True)
        run(*command, folder=rounds.folder / "space")
        whole[output] = (rounds.folder / "space" / output).stat().st_size
    with FullDisk(rounds.folder, "256k") as disk:
        for number in rounds:
            for name in leftovers(disk):
                (disk / name).unlink()
            fill_some(disk, rounds)
            output, command = commands[number % len(commands)]
            done = run(*command, folder=disk)
            problem = problem_of(done)
            size = (disk / output).stat().st_size if (disk / output).exists() else None
            if not problem and (size is not None and size != whole[output] or done.returncode == 0 and size is None):
                problem = f"exit status {done.returncode}, {size} of {whole[output]} bytes of {output}"
            left = leftovers(disk, "filler", output)
            rounds.count_round(problem or (f"it left {left}" if left else ""), f"{output}, round {number}")


@trial("full disk", "marks of code blocks, until there is space again", 6, 150)
def marks_on_full_disk(rounds):
    with FullDisk(rounds.folder, "512k") as disk:
        for number in rounds:
            for name in leftovers(disk):
                (disk / name).unlink()
            fill_some(disk, rounds)
            path = disk / ("m.csv", "m.sqlite", "m.gputblocks")[number % 3]
            marker = Marker(rounds, path)
            while marker.mark(1000):
                pass
            (disk / "filler").unlink()
            time.sleep(RETRY_SECONDS)
            after = marker.mark(300)
            _, problem = marker.end()
            if not problem and marker.asked:
                problem = "" if after == 300 else f"with space again {after} of 300 calls are kept"
                problem = problem or marker.problem_of_file(path, rounds.folder / f"all{number}.csv")
            rounds.count_round(problem, f"{path.name}, round {number}")


@trial("file size limit", "marks of code blocks", 6, 150)
def marks_below_limit(rounds):
    for number in rounds:
        folder = rounds.fresh()
        limit = rounds.random.randrange(1000, 400_000)
        path = folder / ("m.csv", "m.sqlite", "m.gputblocks")[number % 3]
        marker = Marker(rounds, path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        for _ in range(20):
            marker.mark(500)
        complaints, problem = marker.end()
        if complaints and f"ulimit -f allows {limit} bytes" not in complaints:
            problem = problem or f"it said {complaints!r}"
        if not problem and marker.asked:
            problem = marker.problem_of_file(path, rounds.folder / f"all{number}.csv")
        rounds.count_round(problem, f"{path.name}, {limit} bytes")


def last_time_of(path):
    """Of the last row, in seconds since the epoch."""
    if path.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(path)) as database:
            return database.execute("SELECT max(timestamp) FROM data").fetchone()[0] or 0
    with open(path, newline="") as file:
        return float(list(csv.DictReader(file.read().splitlines()[2:]))[-1]["timestamp"])


def last_moment_of(folder):
    """Of the last line of a recording."""
    if (folder / "power_metrics.sqlite").exists():
        with contextlib.closing(sqlite3.connect(folder / "power_metrics.sqlite")) as database:
            date = database.execute("SELECT max(date) FROM power_metrics").fetchone()[0]
    else:
        lines = (folder / "power_metrics.json").read_text().splitlines()
        date = json.loads([line for line in lines if line.startswith("{")][-1])["date"]
    return datetime.datetime.fromisoformat(date).timestamp()


def lags_of(disk, name):
    """How long after there was space the last row and the last line of the recording are; -1 until they can be read."""
    try:
        freed = float((disk / "freed").read_text())
        return last_time_of(disk / name) - freed, last_moment_of(disk / "rec") - freed
    except (OSError, ValueError, IndexError, TypeError, sqlite3.Error):
        return (-1,)


def rows_lost_of(kept):
    """By the results so far."""
    done = run("show", "-f", "json", kept, folder=kept.parent)
    return json.loads(done.stdout)["tracker"]["rows_lost"] if done.returncode == 0 else 0


@trial("full disk", "run and its recording of power, until there is space again", 2, 40)
def run_until_space(rounds):
    environment = os.environ | rapl(rounds.folder)
    with FullDisk(rounds.folder, "2m") as disk:  # the logs of two databases fill 384k once more in 2 s
        for number in rounds:
            subprocess.run(["rm", "-rf", *(disk / name for name in leftovers(disk))], check=True)
            driver, name = (("json", "t.csv"), ("sqlite", "t.sqlite"))[number % 2]
            kept = rounds.folder / "kept"
            # The disk is full at once, and has space before it ends.
            script = "cat /dev/zero >filler 2>/dev/null; until [ -e ../space ]; do sleep 0.1; done; rm filler; date +%s.%N >freed; until [ -e ../enough ]; do sleep 0.1; done"
            process = rounds.start([COMMAND, "run", "--st", "0.01", "--tf", name, "--energy-folder", "rec", "--energy-driver", driver, "--measurement-period", "0.1",
                                    "-f", "json", "-o", rounds.folder / "report.json", "--resource-usage-file", kept, "--overwrite", "--", "sh", "-c", script], cwd=disk, env=environment)
            if driver == "json":
                wait_until(lambda: rows_lost_of(kept) > 0, "a row that is lost")
            else:
                time.sleep(0.5)
            (rounds.folder / "space").touch()
            wait_until(lambda: all(lag >= 1 for lag in lags_of(disk, name)), "rows and lines of a second after there was space")
            (rounds.folder / "enough").touch()
            said = process.stderr.read().decode()
            rounds.close(process)
            (rounds.folder / "enough").unlink()
            (rounds.folder / "space").unlink()
            problem = "" if process.returncode == 0 else f"exit status {process.returncode}: {said}"
            if not problem:
                lost = json.loads((rounds.folder / "report.json").read_text())["tracker"]["rows_lost"]
                problem = ("" if lost or driver == "sqlite" else "no row was lost: the disk was not full")
                problem = problem or ("" if "are being lost" in said or not lost else f"{lost} rows are lost, and not a word of it")
            rounds.count_round(problem, f"{driver}, round {number}")


@trial("file size limit", "run and its recording of power", 2, 40)
def run_below_limit(rounds):
    environment = os.environ | rapl(rounds.folder)
    for number in rounds:
        folder = rounds.fresh()
        limit = rounds.random.randrange(1000, 30_000)
        driver, name = (("json", "t.csv"), ("sqlite", "t.sqlite"))[number % 2]
        done = run("run", "--st", "0.002", "--tf", name, "--energy-folder", "rec", "--energy-driver", driver, "--measurement-period", "0.1", "--",
                   "sh", "-c", "echo output; sleep 0.5", folder=folder, env=environment,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        problem = problem_of(done)
        if not problem and done.returncode not in (0, TRACKER_FAILED):
            problem = f"exit status {done.returncode}: {done.stderr}"
        if not problem and "Cannot write" in done.stderr and f"ulimit -f allows {limit} bytes" not in done.stderr:
            problem = f"it said {done.stderr!r}"
        rounds.count_round(problem, f"{driver}, {limit} bytes")


@trial("full disk", "recordings of power", 4, 60)
def recording_on_full_disk(rounds):
    environment = os.environ | rapl(rounds.folder)
    with FullDisk(rounds.folder, "128k") as disk:
        for number in rounds:
            subprocess.run(["rm", "-rf", disk / "rec", disk / "filler"], check=True)
            fill_some(disk, rounds)
            driver = ("json", "sqlite")[number % 2]
            done = run("energy", "record", "--output-folder", "rec", "--energy-driver", driver, "--measurement-period", "0.1", "--period", "0.05", "--",
                       "sh", "-c", "echo output; sleep 0.3", folder=disk, env=environment)
            problem = problem_of(done)
            if not problem and done.returncode == 0 and not done.stderr:
                (disk / "filler").unlink()
                problem = problem_of(read := run("energy", "summary", "rec", folder=disk)) or (read.stderr if read.returncode else "")
            if not problem and done.stdout != "output\n" and done.returncode != TRACKER_FAILED:
                problem = f"exit status {done.returncode} and the command's output is missing"
            rounds.count_round(problem, f"{driver}, round {number}")


if __name__ == "__main__":
    main()
