#!/usr/bin/env python3
"""Runs the trials of tests/faults in large, and writes what was tried and lost: docs/faults.md.

    tests/faults/torture.py BUILD [-o docs/faults.md] [--scale 1.0] [--seconds N] [WORD...]

--scale multiplies how often everything is tried; --seconds is the longest that one trial may take (failing
allocations: five times that, of views twenty times; truncations: ten times), after which it counts what it tried by then. With words, only trials in whose names one of them stands.
"""

import argparse
import importlib
import os
import pathlib
import platform
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]

ABOUT = """# Faults

Made by `make torture` on Linux {release}, {cores} cores, in {minutes:.0f} minutes. Each trial does harm to a command of ours many times, and
examines what is left. A small part of all of them runs with `make test` (`tests/faults/`).

Survived means all of this:

- No command died of a signal, hung, or failed without a message.
- What was tracked came to its own end, with its own output and exit status.
- Rows, marks and lines that were committed are in the file, and the file opens. Where nothing was in it yet it may be refused, with a message.
- An output by `-o` is the old one or the new one, whole. No temporary files stay beyond the next run.
- The exit status is not 0 where anything was lost. Rows and lines that a tracker could not write are an exception: it warns, counts them in
  its report, and keeps the command's own exit status.

The trials:

- *any end*: forks, execs, dlclose, `_exit` and SIGKILL, in any order.
- *kill*: SIGKILL at any moment, counted from the start or from when the file is there.
- *failing allocation*: one allocation (malloc, calloc, realloc) fails, each time another of all that the command makes (the last
  column has their number).
- *truncation*, *bit flip*: the input ends after each of its bytes; one bit of it is another one.
- *few descriptors*: `ulimit -n` of 15 to 64. *full disk*: a file system with space for a few pages.
- *stopped*: SIGSTOP for a while, in which the command may end. *stepped clock*: the system's time jumps, or a day passes in jumps.
- *unreadable*: one of several inputs cannot be read. *failing receiver*: it hangs, hangs up, answers 503 or what is not HTTP.
- *swarm*: processes in numbers: many that live at once, and as many forks a second as one process can make here (a copy of its memory each).
  As many as all processors can make, too (vfork, memory shared). The rates are the limit of this machine.

"""


def modules():
    return [importlib.import_module(path.stem) for path in sorted(HERE.glob("trial_*.py"))]


def chosen(trials, words):
    names = [(one, f"{one.fault}, {one.victim}") for one in trials]
    return [one for one, name in names if not words or any(word in name for word in words)]


def row(one, rounds):
    counts = f"not tried: {rounds.skipped} | " if rounds.skipped else f"{rounds.tried:,} | {rounds.tried - len(rounds.lost):,}"
    return f"| {one.fault} | {one.victim} | {counts} | {'' if rounds.skipped else len(rounds.lost)} | {rounds.note} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("-o", "--output")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_intermixed_args()
    build = pathlib.Path(arguments.build).resolve()
    os.environ |= {"GPUT_COMMAND": str(build / "gpu-tracker"), "GPUT_BUILD": str(build), "GPUT_SOURCE": str(SOURCE),
                   "GPUT_CONSUMER": str(build / "tests" / "consumers" / "consumer"), "GPUT_TEST_FIXTURES": str(SOURCE / "tests" / "fixtures")}
    sys.path.insert(0, str(HERE))
    sys.dont_write_bytecode = True
    import faults

    modules()
    start = time.monotonic()
    lines = ["| fault | what | tried | survived | lost | |", "| --- | --- | ---: | ---: | ---: | --- |"]
    lost = []
    print("\n".join(lines))
    for one in chosen(faults.TRIALS, arguments.words):
        rounds = one.run(max(1, round(one.large * arguments.scale)), arguments.seconds * one.patience)
        lines.append(row(one, rounds))
        if one.small:  # what is known to be lost stands in the table alone
            lost += [f"{one.fault}, {one.victim}: {problem}" for problem in rounds.lost]
        print(lines[-1], *rounds.lost[:5], sep="\n    ", flush=True)
    about = ABOUT.format(release=platform.release().split("-")[0], cores=os.cpu_count(), minutes=(time.monotonic() - start) / 60)
    if arguments.output:
        text = about + "\n".join(lines) + "\n" + "".join(["\n## What was lost\n\n"] * bool(lost) + [f"- {problem}\n" for problem in lost])
        pathlib.Path(arguments.output).write_text(text)
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
