#!/usr/bin/env python3
"""Makes the tables of "How well it is known": confusion.py BUILD [SECONDS] [--write docs/why.md]. Each program is run as root and as another user,
with samples at 10 Hz and 1 Hz, both as one of many on the machine and before all others (a real-time policy, which no quota holds)."""

import argparse
import collections
import os
import pathlib
import shutil
import tempfile

AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
FIRST_LINE, LAST_LINE = "<!-- made by tests/why/confusion.py -->\n", "<!-- end -->\n"


def words_of(shares):
    """The shares of 1 % or more, the largest first."""
    causes = sorted((cause for cause, share in shares.items() if share >= 0.995), key=shares.get, reverse=True)
    return ", ".join(f"{cause} {shares[cause]:.0f}" for cause in causes)


def mean_of(shares):
    return {cause: sum(each.get(cause, 0) for each in shares) / len(shares) for cause in {cause for each in shares for cause in each}}


def tables(runs, refused):
    """`runs`: (program, truth, said, first one known, first one named) of each."""
    from bottlenecks import COUNTED, PROGRAMS

    worst = {"counted": 0, "sampled": 0}
    lines = ["| program | truth | gpu-tracker | largest difference |", "| --- | --- | --- | ---: |"]
    for name in PROGRAMS:
        of_it = [run for run in runs if run[0] == name]
        if not of_it:
            lines.append(f"| {name} | | not run: {refused[name]} | |")
            continue
        largest = 0
        for _, truth, said, _, _ in of_it:
            for cause, share in truth.items():
                difference = abs(said.get(cause, 0) - share)
                kind = "counted" if cause in COUNTED else "sampled"
                worst[kind], largest = max(worst[kind], difference), max(largest, difference)
        lines.append(f"| {name} | {words_of(mean_of([run[1] for run in of_it]))} | {words_of(mean_of([run[2] for run in of_it]))} | {largest:.1f} |")
    counts = collections.Counter((known, named) for *_, known, named in runs)
    causes = list(dict.fromkeys([known for known, _ in counts] + [named for _, named in counts]))
    lines += ["", "| known | " + " | ".join(causes) + " |", "| --- |" + " ---: |" * len(causes)]
    for known in causes:
        lines.append(f"| {known} | " + " | ".join(str(counts[known, named] or "") for named in causes) + " |")
    right = sum(count for (known, named), count in counts.items() if known == named)
    return lines + ["", f"The first cause was right in {right} of {len(runs)} runs. The largest difference was {worst['counted']:.1f} points of what "
                    f"is counted and {worst['sampled']:.1f} of what is sampled."]


def run_all(build, seconds):
    from bottlenecks import PROGRAMS, Refused, first_known, first_named, run, said_of

    runs, refused = [], {}
    users = ([], AS_NOBODY) if os.geteuid() == 0 else ([],)
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = pathlib.Path(name_of_folder)
        folder.chmod(0o777)
        for program in "gpu-tracker", "tests/why/bottleneck":
            shutil.copy(build / program, folder)
        for name, section in PROGRAMS.items():
            for as_user, interval, before in ((user, interval, before) for user in users for interval in (0.1, 1) for before in ([], ["chrt", "-r", "5"])):
                try:
                    before = [] if os.geteuid() != 0 or name == "quota" else before
                    report, truth, _ = run(folder, "./gpu-tracker", name, seconds, interval, as_user=as_user, before=before)
                except Refused as reason:
                    refused[name] = str(reason)
                    break
                said = said_of(report, section)[0]
                runs.append((name, truth, said, first_known(truth, name), first_named(folder, "./gpu-tracker", report, name)))
                print(*runs[-1], sep="\n  ", flush=True)
    return runs, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("seconds", nargs="?", type=float, default=4)
    parser.add_argument("--write", type=pathlib.Path, help="the page that the tables go into")
    options = parser.parse_args()
    os.environ |= {"GPUT_BOTTLENECK": str(options.build / "tests/why/bottleneck"), "GPUT_SLOW_DISK": str(options.build / "tests/why/slow_disk"),
                   "GPUT_FAKE_NVML": str(options.build / "tests/fake-nvml/libfake-nvml.so")}
    before = os.getloadavg()[0]
    text = "\n".join(tables(*run_all(options.build, options.seconds)))
    text += f"\n{os.cpu_count()} CPUs, load {before:.0f} before and {os.getloadavg()[0]:.0f} at the end, Linux {os.uname().release.split('-')[0]}.\n"
    print(text)
    if options.write:
        page = options.write.read_text()
        head, rest = page.split(FIRST_LINE)
        options.write.write_text(head + FIRST_LINE + "\n" + text + "\n" + LAST_LINE + rest.split(LAST_LINE)[1])


if __name__ == "__main__":
    main()
