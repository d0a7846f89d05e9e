"""Full disks: what was lost is said, with an exit status, and what is there is whole."""

import os
import re
import subprocess
import unittest

from faults import MARKER, leftovers, main, problem_of, run, trial
from formats import marks_csv, rapl, trace, tracked

# The exit status of a tracker that could not start the command, or not write its report.
TRACKER_FAILED = 125


class FullDisk:
    """A file system of a few pages, unmounted at the end."""

    def __init__(self, folder, size):
        self.folder = folder / "disk"
        self.folder.mkdir(exist_ok=True)
        self.size = size

    def __enter__(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}", "none", self.folder], capture_output=True, text=True)
        if done.returncode:
            raise unittest.SkipTest(f"no file system can be mounted here: {done.stderr.strip()}")
        return self.folder

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.folder], check=True)


def fill_some(disk, rounds):
    """Leaves room for any number of bytes, down to none, and returns it."""
    room = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    keep = rounds.random.randrange(0, room // 2)
    (disk / "filler").write_bytes(bytes(room - keep))
    return keep


def rows_problem(disk, name, said):
    """With room again the file opens, SQLite's log next to it included; where rows are missing, that was said."""
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


@trial("full disk", "outputs of commands", 8, 200)
def outputs_on_full_disk(rounds):
    folder = rounds.fresh()
    tracked(folder, "t.csv")
    marks_csv(folder, 400)
    trace(folder, events=400)
    commands = [("a.json", ["sub-track", "analyze", "--tf", "../round/t.csv", "--stf", "../round/m.csv", "-f", "json", "-o", "a.json"]),
                ("all.csv", ["sub-track", "combine", "--stf", "all.csv", "-p", "../round/m.csv", "../round/m.csv"]),
                ("all.sqlite", ["sub-track", "combine", "--mix", "--stf", "all.sqlite", "-p", "../round/m.csv", "../round/m.csv"]),
                ("all.gputblocks", ["sub-track", "combine", "--mix", "--stf", "all.gputblocks", "-p", "../round/m.csv", "../round/m.csv"]),
                ("m.json", ["timeline", "merge", "-o", "m.json", "../round/k.json"])]
    whole = {}
    for output, command in commands:
        (rounds.folder / "room").mkdir(exist_ok=True)
        run(*command, folder=rounds.folder / "room")
        whole[output] = (rounds.folder / "room" / output).stat().st_size
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


@trial("full disk", "marks of code blocks", 6, 150)
def marks_on_full_disk(rounds):
    with FullDisk(rounds.folder, "256k") as disk:
        for number in rounds:
            for name in leftovers(disk):
                (disk / name).unlink()
            room = fill_some(disk, rounds)
            name = ("m.csv", "m.sqlite", "m.gputblocks")[number % 3]
            process = rounds.start([MARKER, disk / name, "3000"])
            said, complaints = (text.decode() for text in process.communicate())
            rounds.processes.remove(process)
            problem = ""
            if process.returncode not in (0, 1):
                problem = f"the marking program ended with {process.returncode}"
            elif (process.returncode == 1) != bool(complaints) or process.returncode == 0 and len(said) < 3000:
                problem = f"exit status {process.returncode}, {len(said)} of 3000 calls, and it said {complaints!r}"
            elif said:
                (disk / "filler").unlink()
                done = run("sub-track", "combine", "--mix", "--stf", rounds.folder / f"all{number}.csv", "-p", name, folder=disk)
                rows = (rounds.folder / f"all{number}.csv").read_text().splitlines() if done.returncode == 0 else []
                kept = sum(",1," in row and "lost calls" not in row for row in rows)
                lost = re.search(r": (\d+) calls? (is|are) not in it", done.stderr)
                lost = int(lost[1]) if lost else 0
                problem = problem_of(done) or ("" if kept >= len(said) else f"{len(said)} calls were marked, {kept} are there; {done.stderr}")
                # Where only a few pages were free at the start (SQLite takes 40 KiB), none could be reserved to say that calls were lost.
                knows = name == "m.gputblocks" or room >= (96 << 10 if name == "m.sqlite" else 8 << 10)
                if not problem and knows and kept + lost != 3000:
                    problem = f"{kept} of 3000 calls are there, and {lost} said to be lost; {done.stderr}"
            rounds.count_round(problem, f"{name}, round {number}")


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
