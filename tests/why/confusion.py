#!/usr/bin/env python3
"""Makes the confusion matrix of docs/why.md: confusion.py COMMAND BOTTLENECK [SECONDS]. Each program is run as root and as another user, with
samples at 10 Hz and 1 Hz; a row has what it says of itself, a line below it what gpu-tracker says."""

import os
import pathlib
import shutil
import sys
import tempfile

from bottlenecks import COUNTED, PROGRAMS, first, run, said_of

CAUSES = ["computing", "cpu_wait", "storage", "paging", "stopped", "pipe", "socket", "lock", "poll", "child", "timer", "other", "unknown"]
AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def row(name, values):
    return f"| {name} | " + " | ".join(f"{values[cause]:.0f}" if values.get(cause, 0) >= 0.5 else "" for cause in CAUSES) + " |"


def main():
    command, program, seconds = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "5"
    worst = {"counted": 0, "sampled": 0}
    right = total = 0
    print("| program, who, interval | " + " | ".join(CAUSES) + " |")
    print("| --- |" + " ---: |" * len(CAUSES))
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        os.chmod(folder, 0o777)
        for file in command, program:
            shutil.copy(file, folder)
        for name, section in PROGRAMS.items():
            for as_user, who in ([], "root"), (AS_NOBODY, "user"):
                if os.geteuid() != 0 and not as_user:
                    continue
                for interval in 0.1, 1:
                    report, truth, _ = run(folder, "./gpu-tracker", "./bottleneck", name, seconds, interval, as_user=as_user if os.geteuid() == 0 else [])
                    said, _ = said_of(report, section)
                    print(row(f"{name}: truth", truth))
                    print(row(f"{name}: {who}, {interval} s", said), flush=True)
                    for cause, share in truth.items():
                        kind = "counted" if cause in COUNTED else "sampled"
                        worst[kind] = max(worst[kind], abs(said[cause] - share))
                    right += first(said) == first(truth)
                    total += 1
    load = os.getloadavg()[0]
    print(f"\nThe first cause was right in {right} of {total} runs. The largest difference was {worst['counted']:.1f} points of what is "
          f"counted and {worst['sampled']:.1f} of what is sampled (load {load:.0f} on {os.cpu_count()} CPUs).")


if __name__ == "__main__":
    main()
