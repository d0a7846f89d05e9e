"""Many sessions: an export that is killed, lacks space or may not read all; receivers of metrics that fail, and a push that is killed."""

import importlib.util
import json
import os
import subprocess
import sys
import unittest

from disks import FullDisk
from faults import BUILD, COMMAND, HANGS, PATIENCE, leftovers, main, problem_of, run, trial, wait_until
from formats import tracked

import receiver  # of tests/cli, whose folder faults.py adds
from command import refusal

SESSIONS = 8
# A file that was renamed is there, and is read; prints the sessions that are complete.
CHECK = """
import pathlib, sys, pyarrow.parquet
found = sorted(path.name for path in pathlib.Path("out/sessions").glob("*.parquet"))
for path in pathlib.Path("out").rglob("*.parquet"):
    pyarrow.parquet.ParquetFile(path).read()
print(len(found))
"""


class Export:
    """A folder `runs` of sessions, and the Python package of this build."""

    def __init__(self, folder):
        if not importlib.util.find_spec("pyarrow"):
            raise unittest.SkipTest("pyarrow is not installed (PyPI)")
        if not (BUILD / "python" / "gpu_tracker").exists():
            raise unittest.SkipTest("the Python package was not built")
        self.folder = folder
        self.environment = os.environ | {"PYTHONPATH": str(BUILD / "python")}
        (folder / "runs").mkdir()
        for number in range(SESSIONS):  # copies of one would count once
            tracked(folder / "runs", f"r{number}.csv")

    def words(self):
        return [sys.executable, "-m", "gpu_tracker.fleet", "export", "runs", "-o", "out"]

    def run(self, words=None, **options):
        try:
            return subprocess.run(words or self.words(), cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, **options)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, HANGS, "", "")

    def problem(self, *, complete=None):
        """Every file that is there is whole; so many sessions are complete, or all after another export."""
        done = self.run([sys.executable, "-c", CHECK])
        if done.returncode == 0 and complete is None:
            done = self.run()
            if problem := problem_of(done) or (done.returncode and done.stderr):
                return f"another export: {problem}"
            complete = SESSIONS
            done = self.run([sys.executable, "-c", CHECK])
        if done.returncode:
            return f"a file is not whole: {done.stderr[-300:]}"
        parts = [path.name for path in self.folder.joinpath("out").rglob("*.part")]
        if int(done.stdout) != complete or parts:
            return f"{done.stdout.strip()} sessions and {parts} are there, not {complete}"
        return ""


@trial("kill", "fleet export", 3, 40)
def killed_exports(rounds):
    for _ in rounds:
        export = Export(rounds.fresh())
        process = rounds.start(export.words(), cwd=export.folder, env=export.environment)
        # A file of each session, in tables: at any of them.
        files = rounds.random.randrange(1, 4 * SESSIONS)
        wait_until(lambda: process.poll() is not None or sum(path.is_file() for path in (export.folder / "out").rglob("*")) >= files, "files")
        process.kill()
        rounds.close(process)
        rounds.count_round(export.problem(), f"after {files} files")


@trial("full disk", "fleet export, until there is space again", 2, 30)
def exports_on_full_disk(rounds):
    for _ in rounds:
        export = Export(rounds.fresh())
        kilobytes = rounds.random.randrange(16, 60) * 4
        with FullDisk(export.folder, f"{kilobytes}k") as disk:
            (export.folder / "out").symlink_to(disk)
            done = export.run()
            problem = problem_of(done)
            if not problem and done.returncode == 0:
                problem = export.problem(complete=SESSIONS)
            elif not problem and "No space left on device" not in done.stderr:
                problem = f"not a word of the disk: {done.stderr[-300:]}"
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
            rounds.count_round(problem or export.problem(), f"{kilobytes} kB")


# Root may read everything, but for this.
LIKE_OTHERS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@trial("unreadable", "fleet export", 2, 20)
def exports_of_what_may_not_be_read(rounds):
    if LIKE_OTHERS and (why := refusal(*LIKE_OTHERS, "true")):
        raise unittest.SkipTest(why)
    for _ in rounds:
        export = Export(rounds.fresh())
        path = export.folder / "runs" / f"r{rounds.random.randrange(SESSIONS)}.csv"
        path.chmod(0)
        done = export.run([*LIKE_OTHERS, *export.words()])
        problem = problem_of(done) or ("" if f"{path.name} is skipped" in done.stderr and done.returncode == 1 else f"exit status {done.returncode}: {done.stderr[-300:]}")
        problem = problem or export.problem(complete=SESSIONS - 1)
        path.chmod(0o600)
        rounds.count_round(problem or export.problem(), path.name)


BUSY = 503, {}, b""
FAILING = {"hangs": receiver.hang, "hangs up": receiver.hang_up, "answers 503": BUSY, "answers nonsense": lambda handler: handler.wfile.write(b"what?\r\n")}


@trial("failing receiver", "run --otlp, run --remote-write", 8, 80)
def failing_receivers(rounds):
    """The command keeps its output and status, and the report says how many samples were lost."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")} | {"OTEL_EXPORTER_OTLP_TIMEOUT": "200"}
    for number in rounds:
        folder = rounds.fresh()
        how = list(FAILING)[number % len(FAILING)]
        option = ("otlp", "remote-write")[number // len(FAILING) % 2]
        server = receiver.Receiver(FAILING[how])
        try:
            done = run("run", "--st", "0.05", "--tf", "s.csv", "-o", "r.json", f"--{option}={server.url()}", "--",
                       "sh", "-c", "echo output; sleep 0.2; exit 3", folder=folder, env=environment)  # fmt: skip
        finally:
            server.close()
        problem = problem_of(done) or ("" if (done.returncode, done.stdout) == (3, "output\n") else f"exit status {done.returncode}: {done.stderr}")
        if not problem:
            lost = json.loads((folder / "r.json").read_text())["tracker"]["metrics_lost"]
            problem = "" if lost > 0 and (folder / "s.csv").read_bytes().count(b"\n") > 3 else f"{lost} samples are said to be lost"
        rounds.count_round(problem or str(leftovers(folder, "s.csv", "r.json")).strip("[]"), f"{option}: {how}")


@trial("kill", "push --remote-write", 3, 60)
def killed_pushes(rounds):
    """What was not taken is sent by another push, as it was."""
    folder = rounds.fresh()
    tracked(folder, "t.csv")
    for number in rounds:
        server = receiver.Receiver(receiver.hang, (204, {}, b""))
        try:
            process = rounds.start([COMMAND, "push", "t.csv", "--remote-write", server.url()], cwd=folder)
            wait_until(lambda: server.requests, "a request")
            process.kill()
            rounds.close(process)
            done = run("push", "t.csv", "--remote-write", server.url(), folder=folder)
        finally:
            server.close()
        bodies = [body for _, _, body in server.requests[:2]]
        problem = problem_of(done) or ("" if done.returncode == 0 else done.stderr)
        rounds.count_round(problem or ("" if len(bodies) == 2 and bodies[0] == bodies[1] else "it was not sent as before"), f"round {number}")


if __name__ == "__main__":
    main()
