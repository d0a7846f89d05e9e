"""Processes in numbers: forks at full speed, and many at once."""

import json
import os
import sqlite3
import time

from faults import COMMAND, CONSUMER, FORKER, PATIENCE, main, problem_of, run, trial


def track(rounds, least, *command, status=0):
    """One run; `least` is how many processes there were."""
    folder = rounds.fresh()
    begin = time.monotonic()
    done = run("run", "--st", "0.1", "-f", "json", "-o", "r.json", "--", *command, folder=folder, timeout=300)
    seconds = time.monotonic() - begin
    if done.returncode != status:
        return problem_of(done) or f"exit status {done.returncode}: {done.stderr}"
    report = json.loads((folder / "r.json").read_text())
    seen, missed = (report["accounting"]["processes"][name] for name in ("seen", "missed"))
    rounds.note = f"{least:,} processes in {seconds:.0f} s, {seen:,} of them seen"
    if seen < least and missed == 0:
        return f"{seen} of {least} processes seen, and none missed"
    if seen > least:
        return f"{seen} of {least} processes seen"
    return ""


# One run each: how often these are tried is how many processes there are.


@trial("swarm", "run, forks at full speed", 5, 200)
def forks(rounds):
    forks = 1000 * rounds.count
    rounds.count_round(track(rounds, 1 + forks, CONSUMER, "swarm", forks, "0"))


@trial("swarm", "run, vforks on all processors", 1, 60)
def vforks(rounds):
    """For so many seconds, as fast as the machine goes; compared with what the program counted itself."""
    folder = rounds.fresh()
    done = run("run", "--st", "0.1", "-f", "json", "-o", "r.json", "--", FORKER, rounds.count, "truth", folder=folder, timeout=300)
    if done.returncode != 0:
        rounds.count_round(problem_of(done) or done.stderr)
        return
    accounting = json.loads((folder / "r.json").read_text())["accounting"]
    source = json.loads((folder / "r.json").read_text())["sources"]["kernel_cpu_time"]
    children, seconds = (folder / "truth").read_text().split()
    processes, kernel, truth = accounting["processes"], accounting["cpu_seconds"]["kernel"], float(seconds)
    rounds.note = f"{int(children):,} processes, {int(children) / rounds.count:,.0f} a second; CPU {source['state']}, off by {abs(kernel / truth - 1):.1%}"
    problem = ""
    if processes["missed"] == 0 and processes["seen"] != int(children) + 1 or processes["seen"] > int(children) + 1:
        problem = f"{processes['seen']} of {int(children) + 1} processes seen"
    # The program itself, before its main() and after it has counted.
    if kernel > truth * 1.01 + 0.02 or (source["state"] == "exact" and kernel < truth * 0.999 - 0.001):
        problem = f"{kernel} CPU seconds, {source['state']}; the program counted {truth}"
    rounds.count_round(problem)


@trial("swarm", "run, many processes at once", 200, 5000)
def many(rounds):
    script = f'i=0; while [ $i -lt {rounds.count} ]; do sleep 300 & i=$((i + 1)); all="$all $!"; done; sleep 1; kill $all; wait; exit 3'
    rounds.count_round(track(rounds, rounds.count + 2, "sh", "-c", script, status=3))


@trial("swarm", "history, trackers that end at once, every fifth killed", 30, 1000)
def history(rounds):
    """No command is harmed, no row of one that was not killed is lost, and none is torn."""
    folder = rounds.fresh()
    environment = os.environ | {"GPUT_HISTORY": str(folder / "history")}
    command = [COMMAND, "run", "-q", "--", "sh", "-c", "sleep 0.2; exit 3"]
    trackers = [rounds.start(command, cwd=folder, env=environment) for _ in range(rounds.count)]
    for tracker in trackers[::5]:
        time.sleep(rounds.random.uniform(0, 0.4 / len(trackers)))
        tracker.kill()
    statuses = [tracker.wait(PATIENCE) for tracker in trackers]
    done = run("history", "-f", "json", folder=folder, env=environment)
    problem = problem_of(done) or done.stderr
    rows = json.loads(done.stdout or "[]")
    n_ended = sum(status == 3 for status in statuses)
    if not problem and {status for number, status in enumerate(statuses) if number % 5} != {3}:
        problem = f"exit statuses {sorted(set(statuses))}"
    if not problem and not n_ended <= len({row["session_id"] for row in rows}) == len(rows) <= len(trackers):
        problem = f"{len(rows)} rows of {n_ended} sessions"
    if not problem and any(row["name"] != "sh" or row["exit_status"] != 3 for row in rows):
        problem = "a row is torn"
    (database,) = (folder / "history").glob("*.sqlite")
    with sqlite3.connect(database) as opened:
        found = opened.execute("PRAGMA integrity_check").fetchall()
    opened.close()
    rounds.note = f"{len(rows)} rows of {n_ended} that were not killed"
    rounds.count_round(problem or ("" if found == [("ok",)] else f"the database is damaged: {found}"))


if __name__ == "__main__":
    main()
