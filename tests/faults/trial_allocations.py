"""Every command, with one allocation failing each time: the whole result, or an error and none."""

import contextlib
import cProfile
import http.client
import json
import os
import re
import shutil
import sqlite3
import subprocess
import threading
import unittest
import urllib.request
import zlib

from faults import COMMAND, FAILING_MALLOC, PATIENCE, SANITIZED, leftovers, main, problem_of, run, trial
from formats import FIXTURES, analysis, marks, marks_csv, rapl, recording, results_so_far, trace, tracked

import report_data

# There are at most some thousand allocations a command: in large, all of them.
SMALL, LARGE = 12, 5000
NEVER = 1_000_000_000
PROGRAM = ["sh", "-c", "echo output"]


def both(folder):
    marks_csv(folder)
    shutil.copy(folder / "m.csv", folder / "n.csv")


def fail_each(rounds, make, output, *arguments, check=None, also=(), execute=run):
    """Lets allocations of a command fail, one a round. Without `check` the output has to be that of a run without."""
    if SANITIZED or not FAILING_MALLOC.exists():
        raise unittest.SkipTest("the allocator cannot be replaced here")
    folder = rounds.fresh()
    environment = os.environ | rapl(folder) | {"LD_PRELOAD": str(FAILING_MALLOC)}
    make(folder)
    inputs = leftovers(folder)

    def attempt(number):
        for name in leftovers(folder, *inputs):
            shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()
        done = execute(*arguments, folder=folder, env=environment | {"FAILING_MALLOC": str(number)})
        path = folder / output if output else None
        content = path.read_bytes() if path and path.exists() else done.stdout.encode() if not path else None
        return done, content

    done, whole = attempt(NEVER)
    made = re.search("no allocation failed of ([0-9]+)", done.stderr)
    if done.returncode != 0 or not made:
        raise AssertionError(done.stderr)
    rounds.note = f"of {int(made[1]):,} allocations"
    for number in rounds.spread(int(made[1])):
        done, content = attempt(number + 1)
        problem = problem_of(done)
        if not problem and done.returncode == 0:
            if check:
                problem = check(done, content)
            elif content != whole:
                problem = "exit status 0, and another result"
        elif not problem and output and content:
            problem = "it failed, and left a result"
        left = leftovers(folder, *inputs, output, *also)
        if not problem and left and not all(name.startswith(".gpu-tracker_") for name in left):
            problem = f"it left {left}"
        rounds.count_round(problem, f"allocation {number + 1}")


def session_lost(done, content):
    """What a session that ended with 0 lacks."""
    if not done.stdout.startswith("output\n"):
        return "the command's output is missing"
    return "exit status 0, and no report" if content is None else is_json(done, content)


def is_json(done, content):
    try:
        json.loads(content)
    except ValueError as error:
        return f"exit status 0, and no whole document: {error}"
    return ""


@trial("failing allocation", "run", SMALL, LARGE)
def run_json(rounds):
    fail_each(rounds, lambda folder: None, "r.json", "run", "--disable-logs", "-o", "r.json", "--", *PROGRAM, check=session_lost)


@trial("failing allocation", "run --tf x.csv --processes", 60, LARGE)
def run_csv(rounds):
    fail_each(rounds, lambda folder: None, "r.json", "run", "--processes", "--tf", "t.csv", "-o", "r.json", "--",
              *PROGRAM, check=session_lost, also=["t.csv"])


@trial("failing allocation", "analyze", SMALL, LARGE)
def analyze(rounds):
    fail_each(rounds, lambda folder: (tracked(folder, "t.csv"), marks_csv(folder)), "a.json",
              "sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "--details", "-f", "json", "-o", "a.json")


@trial("failing allocation", "analyze, SQLite", SMALL, LARGE)
def analyze_sqlite(rounds):
    fail_each(rounds, lambda folder: (tracked(folder, "t.sqlite"), marks(folder, "m.sqlite")), "",
              "sub-track", "analyze", "--tf", "t.sqlite", "--stf", "m.sqlite", "-f", "json")


@trial("failing allocation", "compare", SMALL, LARGE)
def compare(rounds):
    fail_each(rounds, lambda folder: (analysis(folder, "a.json"), analysis(folder, "b.pickle")), "",
              "sub-track", "compare", "-m", "A=a.json", "-m", "B=b.pickle")


@trial("failing allocation", "combine, CSV", SMALL, LARGE)
def combine(rounds):
    fail_each(rounds, both, "all.csv", "sub-track", "combine", "--stf", "all.csv", "-p", "m.csv", "n.csv")


@trial("failing allocation", "combine, SQLite", SMALL, LARGE)
def combine_sqlite(rounds):
    fail_each(rounds, both, "all.sqlite", "sub-track", "combine", "--mix", "--stf", "all.sqlite", "-p", "m.csv", "n.csv")


@trial("failing allocation", "timeline merge", SMALL, LARGE)
def merge(rounds):
    fail_each(rounds, lambda folder: (trace(folder, "a.json"), trace(folder, "b.json")), "m.json",
              "timeline", "merge", "-o", "m.json", "a.json", "b.json")


def is_whole_report(done, content):
    """What a report that ended with 0 lacks: what it leaves out, it warns of."""
    try:
        payload = report_data.Report.of(content.decode())
    except (ValueError, AssertionError, zlib.error) as error:
        return f"exit status 0, and no whole report: {error}"
    found = payload.sessions[0]
    return "" if done.stderr.count("warning") or {"series", "calls", "blocks"} <= found.keys() else f"exit status 0, and only {list(found)}"


@trial("failing allocation", "report", SMALL, LARGE)
def report(rounds):
    page = rounds.folder / "page.html"
    page.write_text(report_data.PAGE)
    os.environ["GPUT_REPORT_PAGE"] = str(page)
    fail_each(rounds, lambda folder: (tracked(folder, "t.sqlite"), marks_csv(folder)), "x.html",
              "report", "t.sqlite", "--stf", "m.csv", "-o", "x.html", check=is_whole_report)


@trial("failing allocation", "profile kernels", SMALL, LARGE)
def kernels(rounds):
    fail_each(rounds, trace, "", "profile", "kernels", "-f", "json", "k.json")


@trial("failing allocation", "profile steps", SMALL, LARGE)
def steps(rounds):
    fail_each(rounds, lambda folder: None, "", "profile", "steps", "-f", "json", FIXTURES / "trace-root")


@trial("failing allocation", "show", SMALL, LARGE)
def show(rounds):
    fail_each(rounds, results_so_far, "", "show", "-f", "json", "kept")


@trial("failing allocation", "energy summary, JSON", 200, LARGE)
def energy_summary(rounds):
    fail_each(rounds, lambda folder: recording(folder, "json"), "", "energy", "summary", "-f", "json", "rec")


@trial("failing allocation", "energy summary, SQLite", SMALL, LARGE)
def energy_summary_sqlite(rounds):
    fail_each(rounds, lambda folder: recording(folder, "sqlite"), "", "energy", "summary", "-f", "json", "rec")


def recorded(done, content):
    if content is None or not content.endswith(b'"END OF RECORDING SEGMENT"\n'):
        return "exit status 0, and the recording is not whole"
    return "" if done.stdout == "output\n" else "the command's output is missing"


@trial("failing allocation", "energy record", 5, 100)
def energy_record(rounds):
    fail_each(rounds, lambda folder: None, "rec/power_metrics.json", "energy", "record", "--output-folder", "rec", "--measurement-period", "0.1", "--",
              "sh", "-c", "echo output; sleep 0.1", check=recorded, also=["rec"])


@trial("failing allocation", "mark start", SMALL, LARGE)
def mark_start(rounds):
    fail_each(rounds, lambda folder: None, "m.csv", "mark", "start", "--stf", "m.csv", "a block", check=lambda done, content: "" if content else "no mark")


@trial("failing allocation", "mark stop", SMALL, LARGE)
def mark_stop(rounds):
    marked = []
    fail_each(rounds, lambda folder: marks(folder, "m.sqlite"), "", "mark", "stop", "--stf", "m.sqlite", "a new block",
              check=lambda done, content: marked.append(done) or "", also=["m.sqlite-journal"])
    with contextlib.closing(sqlite3.connect(rounds.folder / "round" / "m.sqlite")) as base:
        count, = base.execute("SELECT count(*) FROM data WHERE code_block_name = 'a new block'").fetchone()
    if count < len(marked):
        rounds.count_round(f"{len(marked)} marks were made, {count} are there")


@trial("failing allocation", "attach", 6, 300)
def attach(rounds):
    sleeper = rounds.start(["sleep", "1000"])
    fail_each(rounds, lambda folder: None, "r.json", "attach", "--for", "0.1", "--st", "0.05", "--tf", "t.csv", "-o", "r.json", sleeper.pid,
              check=is_json, also=["t.csv"])


def serve_once(*arguments, folder, env):
    """Asks for one page, then ends the server; its standard output is the page."""
    process = subprocess.Popen([COMMAND, *arguments], cwd=folder, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said, page = [], ""
    ends = threading.Timer(2, process.terminate)  # one that could not say its address serves all the same
    ends.start()
    for line in process.stderr:
        said.append(line)
        if address := re.search("serving (http://[^ ]+)", line):
            try:
                with urllib.request.urlopen(address[1], timeout=PATIENCE) as answer:
                    page = answer.read().decode()
            except (OSError, http.client.HTTPException) as error:
                said.append(f"{error}\n")
            process.terminate()
    process.wait(PATIENCE)
    ends.cancel()
    return subprocess.CompletedProcess(arguments, process.returncode, page, "".join(said))


@trial("failing allocation", "serve", 6, 300)
def serve(rounds):
    fail_each(rounds, lambda folder: None, "", "serve", "--listen", "127.0.0.1:0", execute=serve_once,
              check=lambda done, page: "" if page.endswith(b"\n") or re.search("HTTP Error 503|closed connection without", done.stderr) else f"{page!r}: {done.stderr}")


@trial("failing allocation", "profile python", SMALL, LARGE)
def profile_python(rounds):
    def make(folder):
        profiler = cProfile.Profile()
        profiler.runcall(sorted, range(100), key=str)
        profiler.dump_stats(folder / "a.prof")

    fail_each(rounds, make, "", "profile", "python", "top", "-f", "json", "a.prof")


@trial("failing allocation", "energy curve", SMALL, LARGE)
def energy_curve(rounds):
    fail_each(rounds, lambda folder: recording(folder, "json"), "c.svg", "energy", "curve", "-o", "c.svg", "rec", "intel_power")


@trial("failing allocation", "doctor", SMALL, LARGE)
def doctor(rounds):
    fail_each(rounds, lambda folder: None, "", "doctor", "-f", "json", check=is_json)


if __name__ == "__main__":
    main()
