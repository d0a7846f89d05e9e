"""Writers that are killed (SIGKILL) at any moment: what was committed is there, and files open."""

import json
import os
import sqlite3
import time

from faults import COMMAND, MARKER, leftovers, main, problem_of, run, trial, wait_until
from formats import marks_csv, rapl, trace

SMALL, LARGE = 3, 84  # 12 writers: about 1,000

# The tracked command: it has to come to its own end, whatever becomes of the tracker.
def command_line(seconds=0.1):
    return ["sh", "-c", f"echo >started; sleep {seconds}; echo >ended"]


COMMAND_LINE = command_line()


def kill_at_some_moment(rounds, number, command, wait_for, longest, **options):
    """Starts a writer and kills it: any time from its start, or, every other time, from when the file is there."""
    process = rounds.start(command, **options)
    if number % 2:
        wait_until(lambda: wait_for.exists() or process.poll() is not None, wait_for.name)
    time.sleep(rounds.random.uniform(0, longest))
    return process


def read_rows(path, table):
    """How many rows are committed; 0 where there is no table yet."""
    if not path.exists():
        return 0
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
        try:
            return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        finally:
            database.close()
    except sqlite3.OperationalError:
        return 0


def read_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def command_lost(folder):
    """The tracked command goes on without its tracker."""
    if (folder / "started").exists():
        wait_until(lambda: (folder / "ended").exists(), "the end of the tracked command")


def track(rounds, name, count_rows):
    for number in rounds:
        seconds = 1.5 if number % 6 == 2 else 0.1  # SQLite's rows are committed once a second
        folder = rounds.fresh()
        marks_csv(folder)
        line = ["run", "-q", "--st", "0.001", "--overwrite", "--tf", name, "--"]
        process = kill_at_some_moment(rounds, number, [COMMAND, *line, *command_line(seconds)], folder / name, 1.2 * seconds, cwd=folder)
        committed = count_rows(folder / name)
        process.kill()
        rounds.close(process)
        command_lost(folder)
        problem = ""
        if (folder / name).exists():
            problem = analyze_problem(folder, name, committed)
            if count_rows(folder / name) < committed:
                problem = f"{committed} rows were committed, {count_rows(folder / name)} are left"
        if not problem and number % 4 == 0:
            done = run(*line, "true", folder=folder)
            left = [entry for entry in leftovers(folder, name, "m.csv", "started", "ended") if not entry.startswith(".gpu-tracker_")]
            problem = problem_of(done) or (f"the next run left {left}" if left else "")
        rounds.count_round(problem, f"kill {number}")


def analyze_problem(folder, name, committed):
    """A file without rows may be refused, with rows it opens."""
    done = run("sub-track", "analyze", "--tf", name, "--stf", "m.csv", "-f", "json", folder=folder)
    if done.returncode > 0 and committed == 0:
        return problem_of(done)
    return "" if done.returncode == 0 else f"{committed} rows, and: {done.stderr}"


@trial("kill", "run, tracking file as CSV", SMALL, LARGE)
def tracking_csv(rounds):
    track(rounds, "t.csv", read_lines)


@trial("kill", "run, tracking file as SQLite", SMALL, LARGE)
def tracking_sqlite(rounds):
    track(rounds, "t.sqlite", lambda path: read_rows(path, "data"))


def mark(rounds, name):
    for number in rounds:
        folder = rounds.fresh()
        process = kill_at_some_moment(rounds, number, [MARKER, folder / name, "60000"], folder / name, 0.05)
        process.kill()
        acknowledged = len(process.stdout.read())
        rounds.close(process)
        problem = ""
        if (folder / name).exists():
            done = run("sub-track", "combine", "--mix", "--stf", "all.csv", "-p", name, folder=folder)
            kept = (folder / "all.csv").read_text().count(",1,") if done.returncode == 0 else 0
            problem = problem_of(done)
            if kept < acknowledged:
                problem = f"{acknowledged} calls were marked, {kept} are there; {done.stderr}"
        elif acknowledged:
            problem = "there is no file"
        rounds.count_round(problem, f"kill {number}")


@trial("kill", "marks as CSV", SMALL, LARGE)
def marks_as_csv(rounds):
    mark(rounds, "m.csv")


@trial("kill", "marks as SQLite", SMALL, LARGE)
def marks_as_sqlite(rounds):
    mark(rounds, "m.sqlite")


@trial("kill", "marks as .gputblocks", SMALL, LARGE)
def marks_as_log(rounds):
    mark(rounds, "m.gputblocks")


def record(rounds, driver, name, count_rows):
    for number in rounds:
        folder = rounds.fresh()
        environment = os.environ | rapl(folder)
        command = [COMMAND, "energy", "record", "--output-folder", "rec", "--energy-driver", driver, "--period", "0.01",
                   "--measurement-period", "0.1", "--", *COMMAND_LINE]
        path = folder / "rec" / name
        process = kill_at_some_moment(rounds, number, command, path, 0.15, cwd=folder, env=environment)
        committed = count_rows(path)
        process.kill()
        rounds.close(process)
        command_lost(folder)
        problem = ""
        if path.exists():
            done = run("energy", "summary", "rec", folder=folder)
            problem = problem_of(done) or ("" if done.returncode == 0 or committed == 0 else done.stderr)
            if count_rows(path) < committed:
                problem = f"{committed} rows were committed, {count_rows(path)} are left"
        rounds.count_round(problem, f"kill {number}")


@trial("kill", "energy record as JSON", SMALL, LARGE)
def recording_json(rounds):
    record(rounds, "json", "power_metrics.json", read_lines)


@trial("kill", "energy record as SQLite", SMALL, LARGE)
def recording_sqlite(rounds):
    record(rounds, "sqlite", "power_metrics.sqlite", lambda path: read_rows(path, "power_metrics"))


def replace(rounds, make, output, *arguments, before=b""):
    """An output takes the place of the one before as a whole or not at all, and the next run leaves nothing else."""
    folder = rounds.fresh()
    make(folder)
    inputs = leftovers(folder)
    begin = time.monotonic()
    done = run(*arguments, folder=folder)
    seconds = time.monotonic() - begin
    whole = (folder / output).read_bytes() if done.returncode == 0 else b""
    if not whole:
        raise AssertionError(done.stderr)
    for number in rounds:
        if before:
            (folder / output).write_bytes(before)
        else:
            (folder / output).unlink(missing_ok=True)
        process = rounds.start([COMMAND, *arguments], cwd=folder)
        time.sleep(rounds.random.uniform(0, seconds))
        process.kill()
        rounds.close(process)
        content = (folder / output).read_bytes() if (folder / output).exists() else b""
        problem = "" if content in (before, whole) else "the output is neither the old one nor the new one"
        if not problem and number % 4 == 0:
            (folder / output).unlink(missing_ok=True)
            done = run(*arguments, folder=folder)
            left = leftovers(folder, output, *inputs)
            problem = problem_of(done) or (f"the next run left {left}" if left else "")
        rounds.count_round(problem, f"kill {number}")


@trial("kill", "sub-track combine", SMALL, LARGE)
def combine(rounds):
    replace(rounds, lambda folder: marks_csv(folder, 40000), "all.csv", "sub-track", "combine", "--stf", "all.csv", "-p", "m.csv", "m.csv")


@trial("kill", "timeline merge", SMALL, LARGE)
def merge(rounds):
    replace(rounds, lambda folder: trace(folder, events=30000), "m.json", "timeline", "merge", "-o", "m.json", "k.json", before=b"old")


@trial("kill", "a report by -o", SMALL, LARGE)
def report(rounds):
    def make(folder):
        run("run", "-q", "--tf", "t.csv", "--", "sleep", "0.1", folder=folder)
        marks_csv(folder, 40000)

    replace(rounds, make, "a.json", "sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "-f", "json", "-o", "a.json", before=b"old")


@trial("kill", "run, its report by -o", SMALL, LARGE)
def report_of_a_session(rounds):
    for number in rounds:
        folder = rounds.fresh()
        (folder / "r.json").write_bytes(b"old")
        process = rounds.start([COMMAND, "run", "--disable-logs", "-o", "r.json", "--", "sh", "-c", "echo >started; echo >ended"], cwd=folder)
        wait_until(lambda: (folder / "started").exists() or process.poll() is not None, "the command")
        time.sleep(rounds.random.uniform(0, 0.03))
        process.kill()
        rounds.close(process)
        command_lost(folder)
        content = (folder / "r.json").read_bytes()
        rounds.count_round("" if content == b"old" or "max_ram" in json.loads(content) else "half a report", f"kill {number}")


@trial("kill", "results so far", SMALL, LARGE)
def results_so_far(rounds):
    for number in rounds:
        folder = rounds.fresh()
        command = [COMMAND, "run", "-q", "--st", "0.002", "--resource-usage-file", "kept", "--", *COMMAND_LINE]
        process = kill_at_some_moment(rounds, number, command, folder / "kept", 0.1, cwd=folder)
        readable = number % 3 == 0 and run("show", "kept", folder=folder).returncode == 0
        process.kill()
        rounds.close(process)
        command_lost(folder)
        problem = ""
        if (folder / "kept").exists():
            done = run("show", "-f", "json", "kept", folder=folder)
            problem = problem_of(done) or (done.stderr if readable and done.returncode else "")
        rounds.count_round(problem, f"kill {number}")


@trial("kill", "run --phase-token, its output and its phases", SMALL, LARGE)
def phases(rounds):
    """The command's output arrives whole without its tracker, and so do its phases."""
    shell = "echo >started; for i in $(seq 200); do echo line $i; done; sleep 0.1; echo line 201; echo >ended"
    for number in rounds:
        folder = rounds.fresh()
        command = [COMMAND, "run", "-q", "--phase-token", "line [0-9]+", "--region-file", "m.csv", "--", "sh", "-c", shell]
        process = kill_at_some_moment(rounds, number, command, folder / "started", 0.15, cwd=folder)
        process.kill()
        printed = process.stdout.read().decode()  # until no process prints any more
        rounds.close(process)
        if not (folder / "started").exists():
            rounds.count_round("", f"kill {number}")
            continue
        problem = "" if printed == "".join(f"line {i}\n" for i in range(1, 202)) else f"output of {len(printed)} bytes"
        if not (folder / "m.csv").exists() and list(folder.glob("m.csv.parts/*.gputblocks")):
            run("sub-track", "combine", "--mix", "--stf", "m.csv", "-p", "m.csv.parts/", folder=folder)
        rows = (folder / "m.csv").read_text().splitlines()[1:] if (folder / "m.csv").exists() else []
        rounds.count_round(problem or ("" if len(rows) in (0, 402) else f"{len(rows)} marks of 201 phases"), f"kill {number}")


if __name__ == "__main__":
    main()
