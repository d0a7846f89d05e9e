"""Recordings of unmodified programs (run --regions, --torch-trace): programs that end in every way, trackers that are killed, full disks.
The program goes on as without them, and what was complete is there, or it is said that it is not."""

import json
import os
import sys
import time

from disks import FullDisk
from faults import BUILD, COMMAND, leftovers, main, problem_of, run, trial, wait_until
from test_torch_trace import CLIENT, ENVIRONMENT

SMALL, LARGE = 3, 60
PROGRAM = BUILD / "tests" / "collectors" / "nvtx-program"
RANGE = ("push:-:a", "pop:-")


def recorded(folder):
    """How many whole calls of "a" are in m.csv; what has a stop without a start is refused by combine."""
    path = folder / "m.csv"
    rows = path.read_text().splitlines()[1:] if path.exists() else []
    starts, stops = (sum(f",nvtx:default/a,{position}," in row for row in rows) for position in (0, 1))
    assert starts >= stops, rows
    return stops


def needs_collectors(rounds):
    if not (BUILD / "collectors" / "libgputracker-nvtx.so").exists():
        rounds.skipped = "this build has no collectors"
    return not rounds.skipped


@trial("any end", "run --regions, the program", 8, 200)
def ends_of_programs(rounds):
    """Forks, execs, dlclose, _exit and SIGKILL in any order: the number of whole ranges is known."""
    if not needs_collectors(rounds):
        return
    for number in rounds:
        folder = rounds.fresh()
        actions, expected, processes = [], 0, 1
        for _ in range(rounds.random.randrange(1, 12)):
            action = rounds.random.choice(("range", "range", "fork", "exec", "unload", "open"))
            if action == "fork" and processes < 8:
                processes *= 2
                actions.append("fork")
            elif action in ("exec", "unload"):
                actions.append(action)
            elif action == "open":
                actions.append("push:lib:open")
            else:
                actions += RANGE
                expected += processes
        end = ("kill", "leave", "sleep:0")[number % 3]
        done = run("run", "-q", "--regions=nvtx", "--region-file", "m.csv", "--", PROGRAM, *actions, end, folder=folder)
        problem = "" if end == "kill" else problem_of(done)
        if not problem and recorded(folder) != expected:
            problem = f"{expected} ranges were whole, {recorded(folder)} are there: {done.stderr}"
        rounds.count_round(problem, f"{' '.join(actions)} {end}")


@trial("kill", "run --regions, the tracker", SMALL, LARGE)
def killed_tracker(rounds):
    if not needs_collectors(rounds):
        return
    for number in rounds:
        folder = rounds.fresh()
        actions = [word for _ in range(20) for word in (*RANGE, "sleep:5")]
        program = "shift; echo >started; \"$@\"; echo >ended"
        process = rounds.start(
            [COMMAND, "run", "-q", "--regions=nvtx", "--region-file", "m.csv", "--", "sh", "-c", program, "sh", "x", PROGRAM, *actions], cwd=folder
        )
        if number % 2:
            wait_until(lambda folder=folder, process=process: (folder / "started").exists() or process.poll() is not None, "the program")
        time.sleep(rounds.random.uniform(0, 0.2))
        process.kill()
        rounds.close(process)
        if (folder / "started").exists():
            wait_until(lambda folder=folder: (folder / "ended").exists(), "the end of the program")
        problem = ""
        if (folder / "started").exists() and (folder / "m.csv.parts").exists():
            done = run("sub-track", "combine", "--mix", "--stf", "m.csv", "-p", "m.csv.parts/", folder=folder)
            problem = problem_of(done) or ("" if recorded(folder) == 20 else f"{recorded(folder)} of 20 ranges are there: {done.stderr}")
        rounds.count_round(problem, f"kill {number}")


@trial("full disk", "run --regions", SMALL, LARGE)
def regions_on_full_disk(rounds):
    if not needs_collectors(rounds):
        return
    with FullDisk(rounds.folder, "512k") as disk:
        for number in rounds:
            for name in leftovers(disk):
                if (disk / name).is_file():
                    (disk / name).unlink()
            space = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            (disk / "filler").write_bytes(bytes(space - rounds.random.randrange(0, space // 2)))
            done = run("run", "--regions=nvtx", "--region-file", "m.gputblocks", "--overwrite", "--", PROGRAM, "threads:2:20000", folder=disk)
            (disk / "filler").unlink()
            problem = problem_of(done)
            if not problem and done.returncode == 0:
                problem = marks_problem(rounds, disk, done.stderr)
            elif not problem and done.returncode != 125:
                problem = f"exit status {done.returncode}: {done.stderr}"
            rounds.count_round(problem, f"round {number}")


def marks_problem(rounds, disk, said):
    """All calls are there, or the report says that they are not."""
    folder = rounds.fresh()
    kept = 0
    if (disk / "m.gputblocks").exists():
        done = run("sub-track", "combine", "--mix", "--stf", folder / "m.csv", "-p", disk / "m.gputblocks", folder=disk)
        if done.returncode != 0:
            return f"it cannot be read: {done.stderr}"
        kept = (folder / "m.csv").read_text().count(",1,")
    is_said = any(word in said for word in ("not in it", "turned itself off", "No process", "No space", "is full"))
    return "" if kept == 80000 or is_said else f"{kept} of 80,000 calls are there, and not a word of it: {said}"


def torch_command(folder, *options):
    code = CLIENT + "client = Client()\nopen('asked', 'w').close()\nwrite(client.wait())\nopen('ended', 'w').close()\n"
    return [COMMAND, "run", "--torch-trace=1s", *options, "--", sys.executable, "-c", code]


@trial("kill", "run --torch-trace", SMALL, LARGE)
def killed_with_torch(rounds):
    """What the program had written stays in the folder of parts; the program is ended, as its profiler waits for no answer."""
    for number in rounds:
        folder = rounds.fresh()
        process = rounds.start(torch_command(folder), cwd=folder, env=ENVIRONMENT)
        awaited = folder / ("ended" if number % 2 else "asked")
        wait_until(lambda awaited=awaited, process=process: awaited.exists() or process.poll() is not None, "the program")
        process.kill()
        rounds.close(process)
        problem = ""
        if number % 2 and not (folder / "torch-trace.json").exists():
            traces = list((folder / "torch-trace.parts").glob("*.trace"))
            done = run("timeline", "merge", "-o", "late.json", *traces, folder=folder)
            problem = problem_of(done) or ("" if traces and done.returncode == 0 else f"the trace is gone: {done.stderr}")
        rounds.count_round(problem, f"kill {number}")


@trial("full disk", "run --torch-trace", SMALL, LARGE)
def torch_on_full_disk(rounds):
    with FullDisk(rounds.folder, "128k") as disk:
        for number in rounds:
            folder = rounds.fresh()
            (disk / "torch.json").unlink(missing_ok=True)
            space = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            (disk / "filler").write_bytes(bytes(space - rounds.random.randrange(0, 8) * 4096))
            command = torch_command(folder, "--torch-trace-file", disk / "torch.json", "--overwrite")
            done = run(*command[1:], folder=folder, env=ENVIRONMENT)
            (disk / "filler").unlink()
            problem = problem_of(done)
            if not problem and done.returncode == 0 and (disk / "torch.json").exists():
                json.loads((disk / "torch.json").read_text())
            elif not problem and not done.stderr.strip():
                problem = "there is no trace, and not a word of it"
            rounds.count_round(problem, f"round {number}")


if __name__ == "__main__":
    main()
