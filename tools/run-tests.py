#!/usr/bin/env python3
"""Runs the tests of a build folder and ends with "N passed, N failed": run-tests.py BUILD [--left-by=LOG[,LOG]] [--wait-for-quiet=SECONDS] [meson test option…]
With "changed" in place of names it builds and runs what the changes since the last commit touch (changed_tests.py). Without names all
programs run, those first that these changes touch.

A program that is named runs once, however often it is named; one that does not run, or a harness that breaks off, ends this with 1.

LOG is the testlog.json of a run elsewhere: only what was skipped or failed there runs, and the programs that it lacks; all without such
a file. A second LOG is of a run here: what passed there is left out, although tests of it were skipped, as they would be again. A program in Python (tests/tap.py) runs the tests alone that were skipped, any other runs whole. Most tests wait for something, so more run at once than there are processors.

A program that failed runs once more at the end, alone; CI waits first until the machine does nothing else. If it passes then, it does not fail the run: it is listed as FLAKY. That is a
defect of the product or of the test, to be fixed before anything else. More than three of them fail the run.
"""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import changed_tests

# Times out what hangs, not what is slow: several of these may run at once.
PATIENCE = "3"
MAX_FLAKY = 3
# Options of meson test whose value is the next word.
WITH_VALUE = {"--suite", "--no-suite", "-t", "--timeout-multiplier", "--wrapper", "--num-processes", "--maxfail", "--repeat", "--setup", "--test-args"}


def logs_of(build):
    return list((pathlib.Path(build) / "meson-logs").glob("testlog*.json"))


def run(build, *options):
    """Runs meson test; returns its status and {name: ((passed, failed, skipped), what the failed ones said)}."""
    for log in logs_of(build):
        log.unlink()
    at_once = str(4 * os.cpu_count())
    words = ["meson", "test", "-C", build, "--print-errorlogs", "--num-processes", at_once, "--timeout-multiplier", PATIENCE, *options]
    # Meson has each allocation filled, a tenth of the CPU time of all tests. What that finds, the sanitizers (which fill them, too) and valgrind find.
    done = subprocess.run(words, env={"MALLOC_PERTURB_": "0", **os.environ})
    results = {}
    for log in logs_of(build):
        results |= read_log(log)
    return done.returncode, results


def names_and_options(words):
    """The programs that are named, each once: Meson's harness breaks off at the second. And the options."""
    names, options = {}, []
    for before, word in zip(["", *words], words):
        if word.startswith("-") or before in WITH_VALUE:
            options.append(word)
        else:
            names[word] = True
    return list(names), options


def read_log(log):
    tests = map(json.loads, log.read_text().splitlines())
    return {test["name"].split(" / ")[-1]: (count(test), complaints(test)) for test in tests}


@functools.cache
def programs_of(build):
    listed = subprocess.run(["meson", "test", "-C", build, "--list"], capture_output=True, text=True, check=True).stdout
    return {line.split(" / ")[-1] for line in listed.splitlines() if " / " in line}


def left_by(build, log):
    """The programs of which a run elsewhere says less than that all of it passed: {name: the tests that it skipped; none for the whole program}."""
    left = dict.fromkeys(sorted(programs_of(build)), ())
    for test in map(json.loads, log.read_text().splitlines()):
        (passed, failed, skipped), name = count(test), test["name"].split(" / ")[-1]
        if not passed or failed:
            continue
        if not skipped:
            left.pop(name, None)
        elif name in left:
            left[name] = re.findall(r"(?m)^ok \d+ - (\S+).*# SKIP", test["stdout"])
    return left


def left_by_all(build, elsewhere, *here):
    """What a run elsewhere left, all of it where there was none, without what passed in runs here."""
    left = left_by(build, elsewhere) if elsewhere.exists() else dict.fromkeys(sorted(programs_of(build)), ())
    for log in filter(pathlib.Path.exists, here):
        for name, ((passed, failed, _), _) in read_log(log).items():
            if passed and not failed:
                left.pop(name, None)
    return left


def complaints(test):
    """Meson shows no output of tests that speak TAP: the lines of those that failed, and their comments."""
    wanted, lines = False, []
    for line in test.get("stdout", "").splitlines():
        wanted = line.startswith("not ok") or (wanted and line.startswith("#"))
        if wanted:
            lines.append(line)
    return lines or [f"{test['result']} after {test['duration']:.0f} s, and no test of it failed"]


def count(test):
    lines = [line for line in test.get("stdout", "").splitlines() if re.match(r"(not )?ok\b", line)]
    failed = sum(line.startswith("not ok") for line in lines)
    skipped = sum("# SKIP" in line for line in lines)
    skipped += sum(line.startswith("# skipped:") for line in test.get("stdout", "").splitlines())
    if not failed and test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP"):
        failed = 1  # died, timed out or printed nothing
    return sum(line.startswith("ok") for line in lines) - skipped, failed, skipped


def wait_for_quiet(seconds):
    """Until no more than one program a processor has run or waited for a disk within the last minute, on average; not longer than that."""
    end = time.monotonic() + seconds
    while os.getloadavg()[0] > os.cpu_count() and time.monotonic() < end:
        time.sleep(1)


def run_again(build, options, results, patience):
    """Runs what failed once more, alone: {name: what it said at first} of those that pass then. Their `results` become the new ones."""
    failed = [name for name, ((_, failed, _), _) in results.items() if failed]
    if not failed or len(failed) > MAX_FLAKY:
        return {}
    print(f"Once more, alone: {' '.join(failed)}", flush=True)
    wait_for_quiet(patience)
    first_logs = {log: log.read_text() for log in logs_of(build)}
    _, again = run(build, *options, "--num-processes=1", *failed)
    for log, text in first_logs.items():  # --left-by reads them
        log.write_text(text)
    flaky = {name: results[name][1] for name in failed if name in again and not again[name][0][1]}
    results |= {name: again[name] for name in flaky}
    return flaky


def show(word, complaints_of):
    for name, said in complaints_of.items():
        print(f"{word} {name}:")
        print("".join(f"  {line}\n" for line in said), end="")


def lacking(broken_status, names, results):
    """What is not known to have run, as a word for the totals; '' if all did."""
    missing = [name for name in names if name not in results]
    if missing:
        return f", NOT RUN: {' '.join(missing)}"
    return f", BROKEN OFF: meson test ended with {broken_status}" if broken_status else ""


def in_order(build, names, options):
    """The programs in batches, one to be run after the other; a batch without names is all of them."""
    source = pathlib.Path(__file__).resolve().parents[1]
    needed = source / ".git", pathlib.Path(build) / "meson-info" / "intro-tests.json"
    if names or "--suite" in options or not all(path.exists() for path in needed):
        return [names]
    touched = changed_tests.choose(build, source)
    return [touched, sorted(programs_of(build) - set(touched))] if touched else [[]]


def run_batches(build, options, batches):
    """As run(), with the first status that is not 0."""
    statuses, results = [], {}
    for batch in batches:
        status, found = run(build, *options, *batch)
        statuses.append(status)
        results |= found
    return next(filter(None, statuses), 0), results


def main():
    build, words = sys.argv[1], [word for word in sys.argv[2:] if not word.startswith("--wait-for-quiet=")]
    patience = max((float(word.partition("=")[2]) for word in sys.argv[2:] if word not in words), default=0)
    if words == ["changed"]:
        words = changed_tests.choose(build, pathlib.Path(__file__).resolve().parents[1])
        if not words:
            sys.exit("Nothing has changed since the last commit.")
    else:
        elsewhere = [[pathlib.Path(log) for log in word.partition("=")[2].split(",")] for word in words if word.startswith("--left-by=")]
        words = ["--no-rebuild", *(word for word in words if not word.startswith("--left-by="))]
        for logs in elsewhere:
            left = left_by_all(build, *logs)
            words += left
            only = pathlib.Path(build).resolve() / "meson-logs" / "only.json"
            only.write_text(json.dumps(left))
            os.environ["GPUT_ONLY_TESTS"] = str(only)
    names, options = names_and_options(words)
    status, results = run_batches(build, options, in_order(build, names, options))
    broke_off = status and not any(failed for (_, failed, _), _ in results.values())
    flaky = run_again(build, options, results, patience)
    show("FLAKY", flaky)
    show("FAILED", {name: said for name, ((_, failed, _), said) in results.items() if failed})
    lack = lacking(status if broke_off else 0, names, results)
    counts = [count for count, _ in results.values()]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "") + lack)
    sys.exit(1 if failed or lack or not passed else 0)


if __name__ == "__main__":
    main()
