"""A program that marks, and what its file then has to say."""

import contextlib
import re
import subprocess

from faults import MARKER, problem_of, run


class Marker:
    """A program that marks as many calls as it is asked for."""

    def __init__(self, rounds, path, **options):
        self.rounds, self.asked, self.kept = rounds, 0, 0
        self.process = rounds.start([MARKER, path, "-"], stdin=subprocess.PIPE, text=True, **options)

    def mark(self, calls, meanwhile=lambda: None):
        """Returns how many of them are kept, as it says; 0 when it could not begin. `meanwhile` is called while it marks."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{calls}\n")
            self.process.stdin.flush()
        meanwhile()
        answer = self.process.stdout.readline()
        if not answer:  # it could not create the file
            return 0
        self.asked, self.kept = self.asked + calls, self.kept + int(answer)
        return int(answer)

    def end(self):
        """Returns its complaints, after checking that they agree with its exit status."""
        _, complaints = self.process.communicate()
        self.rounds.processes.remove(self.process)
        status = self.process.returncode
        if status not in (0, 1):
            return complaints, f"the marking program ended with {status}"
        if (status == 1) != bool(complaints):
            return complaints, f"exit status {status}, {self.kept} of {self.asked} calls, and it said {complaints!r}"
        return complaints, ""

    def problem_of_file(self, path, output):
        """Each call that it marked is in the file or counted as lost there."""
        done = run("sub-track", "combine", "--mix", "--stf", output, "-p", path, folder=path.parent)
        rows = output.read_text().splitlines() if done.returncode == 0 else []
        kept = sum(",1," in row and "lost calls" not in row for row in rows)
        lost = re.search(r": (\d+) calls? (is|are) not in it", done.stderr)
        lost = int(lost[1]) if lost else 0
        if problem_of(done) or kept < self.kept:
            return problem_of(done) or f"{self.kept} calls were marked, {kept} are there; {done.stderr}"
        return "" if kept + lost == self.asked else f"{kept} of {self.asked} calls are there, and {lost} said to be lost; {done.stderr}"
