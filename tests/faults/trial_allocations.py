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
import xml.etree.ElementTree
import zlib

from faults import COMMAND, FAILING_MALLOC, PATIENCE, SANITIZED, leftovers, main, problem_of, run, trial
from formats import FIXTURES, analysis, marks, marks_csv, rapl, recording, results_so_far, trace, tracked

import report_data
from marking import Marker
from receiver import Receiver
from terminal_screen import ENTER, LEAVE, ViewTerminal

# There are at most some thousand allocations a command: in large, all of them.
SMALL, LARGE = 12, 20000
NEVER = 1_000_000_000
PROGRAM = ["sh", "-c", "echo output"]


def failing(victim, small=SMALL, patience=5):
    return trial("failing allocation", victim, small, LARGE, patience)


def both(folder):
    marks_csv(folder)
    shutil.copy(folder / "m.csv", folder / "n.csv")


def fail_each(rounds, make, output, *arguments, check=None, also=(), execute=run, grows=False):
    """Lets allocations of a command fail, one a round. Without `check` the output has to be that of a run without.

    `grows`: the output is written line by line, and what is in it stays where the command fails later."""
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
        elif not problem and output and content and not grows:
            problem = f"it failed, and left a result: {done.stderr[-300:].strip()}"
        left = leftovers(folder, *inputs, output, *also)
        if not problem and left and not all(name.startswith(".gpu-tracker_") for name in left):
            problem = f"it left {left}"
        rounds.count_round(problem, f"allocation {number + 1}")


def is_untracked(done):
    """It says that the command runs all the same, with its own exit status."""
    return "The command runs untracked: Out of memory." in done.stderr


def session_lost(done, content):
    """What a session that ended with 0 lacks."""
    if not done.stdout.startswith("output\n"):
        return "the command's output is missing"
    if content is None and is_untracked(done):
        return ""
    return "exit status 0, and no report" if content is None else is_json(done, content)


def is_json(done, content):
    try:
        json.loads(content)
    except ValueError as error:
        return f"exit status 0, and no whole document: {error}"
    return ""


@failing("run")
def run_json(rounds):
    fail_each(rounds, lambda folder: None, "r.json", "run", "--disable-logs", "-o", "r.json", "--", *PROGRAM, check=session_lost)


@failing("run --tf x.csv --processes", 60)
def run_csv(rounds):
    fail_each(rounds, lambda folder: None, "r.json", "run", "--processes", "--tf", "t.csv", "-o", "r.json", "--",
              *PROGRAM, check=session_lost, also=["t.csv"])


@failing("run --tf x.plain.csv", 30)
def run_plain_csv(rounds):
    fail_each(rounds, lambda folder: None, "r.json", "run", "--tf", "t.plain.csv", "-o", "r.json", "--", *PROGRAM, check=session_lost,
              also=["t.plain.csv"])


@failing("analyze")
def analyze(rounds):
    fail_each(rounds, lambda folder: (tracked(folder, "t.csv"), marks_csv(folder)), "a.json",
              "sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "--details", "-f", "json", "-o", "a.json")


@failing("analyze, SQLite")
def analyze_sqlite(rounds):
    fail_each(rounds, lambda folder: (tracked(folder, "t.sqlite"), marks(folder, "m.sqlite")), "",
              "sub-track", "analyze", "--tf", "t.sqlite", "--stf", "m.sqlite", "-f", "json")


@failing("compare")
def compare(rounds):
    fail_each(rounds, lambda folder: (analysis(folder, "a.json"), analysis(folder, "b.json")), "",
              "sub-track", "compare", "-m", "A=a.json", "-m", "B=b.json")


@failing("combine, CSV")
def combine(rounds):
    fail_each(rounds, both, "all.csv", "sub-track", "combine", "--stf", "all.csv", "-p", "m.csv", "n.csv")


@failing("combine, SQLite")
def combine_sqlite(rounds):
    fail_each(rounds, both, "all.sqlite", "sub-track", "combine", "--mix", "--stf", "all.sqlite", "-p", "m.csv", "n.csv")


@failing("timeline merge")
def merge(rounds):
    fail_each(rounds, lambda folder: (trace(folder, "a.json"), trace(folder, "b.json")), "m.json",
              "timeline", "merge", "-o", "m.json", "a.json", "b.json")


@failing("timeline merge, sessions")
def merge_sessions(rounds):
    fail_each(rounds, lambda folder: (tracked(folder, "t.csv"), marks(folder, "m.sqlite")), "m.json",
              "timeline", "merge", "-o", "m.json", "t.csv", "m.sqlite")


@failing("timeline merge, training profile")
def merge_root(rounds):
    fail_each(rounds, lambda folder: None, "m.json", "timeline", "merge", "-o", "m.json", FIXTURES / "trace-root")


def begins_and_ends(folder):
    """A trace whose slices have a begin and an end, with arguments that have to be made clean."""
    args = '{"loss": NaN, "step": %d}'
    rows = ['{"ph": "%s", "cat": "work", "pid": 1, "tid": 2, "ts": %d, "name": "step", "args": %s}' % (kind, 1000 + 10 * at, args % at)
            for at in range(8) for kind in ("BE"[at % 2],)]
    (folder / "b.json").write_text('{"traceEvents": [%s]}' % ",\n".join(rows))


@failing("timeline merge, begins and ends")
def merge_begins(rounds):
    fail_each(rounds, begins_and_ends, "m.json", "timeline", "merge", "-o", "m.json", "b.json")


def is_whole_report(done, content):
    """What a report that ended with 0 lacks: what it leaves out, it warns of."""
    try:
        payload = report_data.Report.of(content.decode())
    except (ValueError, AssertionError, zlib.error) as error:
        return f"exit status 0, and no whole report: {error}"
    found = payload.sessions[0]
    return "" if done.stderr.count("warning") or {"series", "calls", "blocks"} <= found.keys() else f"exit status 0, and only {list(found)}"


@failing("report")
def report(rounds):
    page = rounds.folder / "page.html"
    page.write_text(report_data.PAGE)
    os.environ["GPUT_REPORT_PAGE"] = str(page)
    fail_each(rounds, lambda folder: (tracked(folder, "t.sqlite"), marks_csv(folder)), "x.html",
              "report", "t.sqlite", "--stf", "m.csv", "-o", "x.html", check=is_whole_report)


@failing("report -f speedscope")
def stacks(rounds):
    fail_each(rounds, lambda folder: (tracked(folder, "t.sqlite"), marks_csv(folder)), "x.json",
              "report", "t.sqlite", "--stf", "m.csv", "-f", "speedscope", "-o", "x.json")


def is_whole_picture(done, content):
    """What a picture that ended with 0 lacks."""
    try:
        names = {node.text for node in xml.etree.ElementTree.fromstring(content).iter() if node.tag.endswith("}title")}
    except xml.etree.ElementTree.ParseError as error:
        return f"exit status 0, and no whole picture: {error}"
    return "" if done.stderr.count("warning") or "RAM" in names else f"exit status 0, and only {names}"


@failing("plot")
def plot(rounds):
    fail_each(rounds, lambda folder: (tracked(folder, "t.sqlite"), marks_csv(folder)), "x.svg",
              "plot", "t.sqlite", "--stf", "m.csv", "--blocks", "-o", "x.svg", check=is_whole_picture)


@failing("profile kernels")
def kernels(rounds):
    fail_each(rounds, trace, "", "profile", "kernels", "-f", "json", "k.json")


@failing("profile steps")
def steps(rounds):
    fail_each(rounds, lambda folder: None, "", "profile", "steps", "-f", "json", FIXTURES / "trace-root")


def profile(rounds, view):
    fail_each(rounds, lambda folder: None, "", "profile", view, "-f", "json", FIXTURES / "trace-root")


@failing("profile job")
def job(rounds):
    profile(rounds, "job")


@failing("profile phases")
def phases(rounds):
    profile(rounds, "phases")


@failing("profile utilization")
def utilization(rounds):
    profile(rounds, "utilization")


@failing("profile devices")
def devices(rounds):
    profile(rounds, "devices")


@failing("profile dataloader")
def dataloader(rounds):
    profile(rounds, "dataloader")


@failing("profile metrics")
def metrics(rounds):
    profile(rounds, "metrics")


def pytorch(rounds, view):
    traces = [FIXTURES / "trace-kineto" / f"rank{rank}.json" for rank in (0, 1)]
    fail_each(rounds, lambda folder: None, "", "pytorch", view, "-f", "json", *traces)


@failing("pytorch breakdown")
def pytorch_breakdown(rounds):
    pytorch(rounds, "breakdown")


@failing("pytorch idle")
def pytorch_idle(rounds):
    pytorch(rounds, "idle")


@failing("pytorch diff")
def pytorch_diff(rounds):
    pytorch(rounds, "diff")


@failing("show")
def show(rounds):
    fail_each(rounds, results_so_far, "", "show", "-f", "json", "kept")


@failing("energy summary, JSON", 200)
def energy_summary(rounds):
    fail_each(rounds, lambda folder: recording(folder, "json"), "", "energy", "summary", "-f", "json", "rec")


@failing("energy summary, SQLite")
def energy_summary_sqlite(rounds):
    fail_each(rounds, lambda folder: recording(folder, "sqlite"), "", "energy", "summary", "-f", "json", "rec")


def recorded(done, content):
    if "Lines of the recording are being lost" in done.stderr or is_untracked(done):
        return ""  # said, and the command's own exit status
    if content is None or not content.endswith(b'"END OF RECORDING SEGMENT"\n'):
        return "exit status 0, and the recording is not whole"
    return "" if done.stdout == "output\n" else "the command's output is missing"


@failing("energy record", 5)
def energy_record(rounds):
    fail_each(rounds, lambda folder: None, "rec/power_metrics.json", "energy", "record", "--output-folder", "rec", "--measurement-period", "0.1", "--",
              "sh", "-c", "echo output; sleep 0.1", check=recorded, also=["rec"], grows=True)


@failing("marks of code blocks, CSV, SQLite and .gputblocks")
def marks_of_program(rounds):
    if SANITIZED or not FAILING_MALLOC.exists():
        raise unittest.SkipTest("the allocator cannot be replaced here")
    folder = rounds.fresh()
    names = ("m.csv", "m.sqlite", "m.gputblocks")

    def attempt(name, number):
        for left in leftovers(folder):
            (folder / left).unlink()
        environment = os.environ | {"LD_PRELOAD": str(FAILING_MALLOC), "FAILING_MALLOC": str(number)}
        marker = Marker(rounds, folder / name, env=environment)
        for _ in range(2):
            marker.mark(20)
        said, problem = marker.end()
        if not problem and marker.asked:
            problem = marker.problem_of_file(folder / name, folder / "all.csv")
        return said, problem

    made = [int(re.search("no allocation failed of ([0-9]+)", attempt(name, NEVER)[0])[1]) for name in names]
    rounds.note = f"of {sum(made):,} allocations"
    for number in rounds.spread(sum(made)):
        at = next(i for i in range(3) if number < sum(made[:i + 1]))
        problem = attempt(names[at], number - sum(made[:at]) + 1)[1]
        rounds.count_round(problem, f"{names[at]}, allocation {number - sum(made[:at]) + 1}")


@failing("mark start")
def mark_start(rounds):
    fail_each(rounds, lambda folder: None, "m.csv", "mark", "start", "--stf", "m.csv", "a block", check=lambda done, content: "" if content else "no mark")


@failing("mark stop")
def mark_stop(rounds):
    marked = []
    fail_each(rounds, lambda folder: marks(folder, "m.sqlite"), "", "mark", "stop", "--stf", "m.sqlite", "a new block",
              check=lambda done, content: marked.append(done) or "", also=["m.sqlite-journal"])
    with contextlib.closing(sqlite3.connect(rounds.last_folder / "m.sqlite")) as base:
        count, = base.execute("SELECT count(*) FROM data WHERE code_block_name = 'a new block'").fetchone()
    if count < len(marked):
        rounds.count_round(f"{len(marked)} marks were made, {count} are there")


@failing("attach", 6)
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


@failing("run --otlp")
def run_and_send(rounds):
    collector = Receiver()
    fail_each(rounds, lambda folder: None, "r.json", "run", "--disable-logs", "--otlp=" + collector.url(), "-o", "r.json", "--", *PROGRAM, check=session_lost)
    collector.close()


@failing("serve", 6)
def serve(rounds):
    fail_each(rounds, lambda folder: None, "", "serve", "--listen", "127.0.0.1:0", execute=serve_once,
              check=lambda done, page: "" if page.endswith(b"\n") or re.search("HTTP Error 503|closed connection without", done.stderr) else f"{page!r}: {done.stderr}")


def view_once(*arguments, folder, env):
    """Waits until the view shows figures, then closes it; its standard error is what was written before and after views."""
    terminal = ViewTerminal(arguments, folder, **env)

    def has_figures():
        """A rate takes two samples: where it says that there is none between the first and the last, RAM is all there is."""
        return terminal.shows(r"^RAM +\d" if b"There are a first and a last sample alone" in terminal.written else r"^CPU +\d")

    try:
        terminal.wait_for(lambda: terminal.process.poll() is not None or has_figures(), "figures")
        shown = has_figures()
        if arguments[0] == "live" and terminal.process.poll() is None:
            terminal.send("q")
        status = terminal.end()
        if terminal.settings() != terminal.before or terminal.written.count(ENTER) != terminal.written.count(LEAVE):
            raise AssertionError(f"the terminal is not as before; it ended with {status}: {terminal.first_screen()}")
        written = terminal.first_screen().decode().replace("\r", "")
        return subprocess.CompletedProcess(arguments, status, "shown" if shown else "", written)
    finally:
        terminal.close()


def has_shown(done, content):
    return "" if content else f"exit status 0, and no figures were shown: {done.stderr}"


@failing("live", 4, patience=20)
def live(rounds):
    fail_each(rounds, lambda folder: None, "", "live", "--st", "0.1", check=has_shown, execute=view_once)


@failing("live PID", 4, patience=20)
def live_process(rounds):
    sleeper = rounds.start(["sleep", "1000"])
    fail_each(rounds, lambda folder: None, "", "live", "--st", "0.1", sleeper.pid, check=has_shown, execute=view_once)


def whole_run(done, content):
    if "output\n" not in done.stderr:
        return f"the command's output is missing: {done.stderr}"
    if content is None and is_untracked(done):
        return ""
    return "exit status 0, and no report" if content is None else is_json(done, content)


@failing("run --live", 4, patience=20)
def run_live(rounds):
    fail_each(rounds, lambda folder: None, "r.json", "run", "--live", "--st", "0.1", "-f", "json", "-o", "r.json", "--",
              "sh", "-c", "echo output; sleep 0.6", check=whole_run, execute=view_once)


@failing("profile python")
def profile_python(rounds):
    def make(folder):
        profiler = cProfile.Profile()
        profiler.runcall(sorted, range(100), key=str)
        profiler.dump_stats(folder / "a.prof")

    fail_each(rounds, make, "", "profile", "python", "top", "-f", "json", "a.prof")


@failing("energy curve")
def energy_curve(rounds):
    fail_each(rounds, lambda folder: recording(folder, "json"), "c.svg", "energy", "curve", "-o", "c.svg", "rec", "intel_power")


@failing("doctor")
def doctor(rounds):
    fail_each(rounds, lambda folder: None, "", "doctor", "-f", "json", check=is_json)


if __name__ == "__main__":
    main()
