"""Few descriptors (ulimit -n): said, with an exit status, and the command's own end is kept."""

from faults import main, problem_of, run, trial
from formats import marks_csv, recording, trace, tracked
from receiver import Receiver

# The command's own output and exit status. Where a tracker cannot start it, it has neither.
PROGRAM = ["sh", "-c", "echo output; exit 7"]
NOT_STARTED = 125


def session_problem(done):
    if done.returncode == 7 and done.stdout == "output\n":
        return ""
    if problem := problem_of(done):
        return problem
    if done.returncode == NOT_STARTED and done.stdout == "":
        return ""
    return f"exit status {done.returncode}, output {done.stdout!r}: {done.stderr}"


def few(number):
    return ["sh", "-c", f'ulimit -n {number} && exec "$@"', "sh"]


@trial("few descriptors", "run", 10, 200)
def run_with_few(rounds):
    for number in rounds:
        folder = rounds.fresh()
        limit = 15 + 7 * number % 50
        done = run("run", "--processes", "--tf", "t.csv", "-o", "r.json", "--", *PROGRAM, folder=folder, wrapper=few(limit))
        problem = session_problem(done)
        if not problem and done.returncode == 7 and not (folder / "r.json").exists() and not done.stderr:
            problem = "there is no report, and not a word of it"
        rounds.count_round(problem, f"{limit} descriptors")


@trial("few descriptors", "run --listen", 5, 100)
def serve_with_few(rounds):
    for number in rounds:
        limit = 15 + 7 * number % 50
        done = run("run", "-q", "--listen", "127.0.0.1:0", "--", *PROGRAM, folder=rounds.fresh(), wrapper=few(limit))
        rounds.count_round(session_problem(done), f"{limit} descriptors")


@trial("few descriptors", "run --otlp", 5, 100)
def send_with_few(rounds):
    collector = Receiver()
    for number in rounds:
        limit = 15 + 7 * number % 50
        done = run("run", "-q", "--otlp=" + collector.url(), "--", *PROGRAM, folder=rounds.fresh(), wrapper=few(limit))
        rounds.count_round(session_problem(done), f"{limit} descriptors")
    collector.close()


@trial("few descriptors", "commands that read files", 8, 200)
def read_with_few(rounds):
    folder = rounds.fresh()
    tracked(folder, "t.sqlite")
    tracked(folder, "t.csv")
    marks_csv(folder)
    trace(folder)
    recording(folder, "json")
    commands = [["sub-track", "analyze", "--tf", "t.sqlite", "--stf", "m.csv", "-f", "json"], ["sub-track", "combine", "--stf", "all.csv", "-p", "m.csv", "m.csv"],
                ["timeline", "merge", "-o", "m.json", "k.json", "t.csv"], ["energy", "summary", "rec"], ["profile", "kernels", "k.json"],
                ["report", "-o", "x.html", "t.sqlite", "t.csv", "rec", "k.json"], ["plot", "-o", "x.svg", "t.sqlite", "t.csv", "rec"]]
    for number in rounds:
        (folder / "all.csv").unlink(missing_ok=True)
        command, limit = commands[number % len(commands)], 3 + 5 * number % 30
        done = run(*command, folder=folder, wrapper=few(limit))
        rounds.count_round(problem_of(done), f"{command[:2]}, {limit} descriptors")


if __name__ == "__main__":
    main()
