#!/usr/bin/env python3
"""What passing a command's output on costs (run --phase-token): wall time of a program that prints lines into a pipe, read by cat.

    output.py BUILD [MEGABYTES]      default 1024

In turn: alone, under `run`, and under `run --phase-token` with four expressions. One has a text to search for, and one says how lines begin.
PCRE2 searches for the third where it is installed; the last means the same and is tried on each line.
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 7
LINE = b"step %08d: loss 0.1234, and what else a program prints of a step, seconds 1.5\n"


def seconds(*command):
    begin = time.monotonic()
    printed = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    subprocess.run(["cat"], stdin=printed.stdout, stdout=subprocess.DEVNULL, check=True)
    printed.wait()
    return time.monotonic() - begin


def main():
    command = str(pathlib.Path(sys.argv[1]).resolve() / "gpu-tracker")
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 1024
    with tempfile.TemporaryDirectory(prefix="bench-output-") as folder:
        path = pathlib.Path(folder) / "lines"
        part = b"".join(LINE % i for i in range(100_000))
        with path.open("wb") as file:
            while file.tell() < megabytes * 1e6:
                file.write(part)
        size = path.stat().st_size
        run = [command, "run", "-q"]
        turns = {
            "alone": ["cat", path],
            "run": [*run, "--", "cat", path],
            "a text to search for": [*run, "--phase-token", "Epoch [0-9]+", "--", "cat", path],
            "how lines begin": [*run, "--phase-token", "^[0-9]+$", "--", "cat", path],
            "searched by PCRE2": [*run, "--phase-token", "[0-9]{12}|nan", "--", "cat", path],
            "each line": [*run, "--phase-token", "[0-9]{12}|nan{1}{1}", "--", "cat", path],
            "words, by PCRE2": [*run, "--phase-token", "warning|error", "--", "cat", path],
            "words, each line": [*run, "--phase-token", "warning|error{1}{1}", "--", "cat", path],
        }
        times = {name: [] for name in turns}
        for _ in range(ROUNDS):
            for name, line in turns.items():
                times[name].append(seconds(*map(str, line)))
        alone = statistics.median(times["alone"])
        for name, taken in times.items():
            median = statistics.median(taken)
            print(f"{name:22} {size / median / 1e6:8.0f} MB/s   {median / alone:5.2f} x alone")


main()
