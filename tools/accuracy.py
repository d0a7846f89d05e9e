#!/usr/bin/env python3
"""Holds gpu-tracker and other tools against programs whose use is known; writes docs/accuracy.md.

    tools/accuracy.py BUILD [-o docs/accuracy.md] [--quick]

The consumers (tests/consumers) report, at their end, what the kernel counted for them: CPU
time by getrusage() of themselves and of all that they waited for, and their own peak. Everything
else stands in the table of cases below. Next to gpu-tracker run: GNU time, a loop that polls psutil
(what psrecord does), and the Python package gpu-tracker from PyPI, both in a virtual environment
that is made in the build folder.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

INTERVAL = 0.5
PROCESSES = "processes"
WRITTEN = "written"

POLL = """
import json, subprocess, sys, time, psutil
main = psutil.Popen(sys.argv[3:], stdout=subprocess.DEVNULL)
interval, path = float(sys.argv[1]), sys.argv[2]
seconds, peak = {}, 0
while True:
    try:
        family = [main, *main.children(recursive=True)]
    except psutil.Error:
        family = []
    rss = 0
    for process in family:
        try:
            times = process.cpu_times()
            seconds[process.pid, process.create_time()] = times.user + times.system
            rss += process.memory_info().rss
        except psutil.Error:
            pass
    peak = max(peak, rss)
    try:
        main.wait(interval)
        break
    except psutil.TimeoutExpired:
        pass
json.dump({"cpu": sum(seconds.values()), "ram": peak}, open(path, "w"))
"""

# Name, words, CPU seconds (None: as the consumer reports), MB at the peak of all (None: its own
# report; 0: not compared), processes. A consumer alone has about 1.5 MB.
CASES = [
    ("2 s in one thread", "spin 2", None, 0, 1),
    ("4 threads of 0.5 s", "threads 4 0.5", None, 0, 1),
    ("a child and a grandchild", "child [ spin 0.6 child [ spin 0.6 ] wait ] spin 0.6 wait", None, 0, 3),
    ("200 children of 10 ms each", "swarm 200 0.01", None, 0, 201),
    ("a daemon of 0.5 s", "daemon [ spin 0.5 ] sleep 6", 0.5, 0, 3),
    ("20 children of 50 ms that are auto-reaped", "ignored 20 0.05", 1, 0, 21),
    ("10,000 times `true`", "programs 10000 /bin/true", None, 0, 10001),
    ("300 MB", "alloc 300 sleep 1.2", None, None, 1),
    # The rest of the words, and with them the report, are another thread's.
    ("300 MB and 1 s, its first thread gone", "exit-leader [ alloc 300 spin 1 sleep 0.6", None, None, 1),
    ("300 MB for 30 ms", "sleep 0.7 alloc 300 sleep 0.03 free sleep 1", None, None, 1),
    ("300 MB in transparent huge pages", "huge 300 sleep 1.2", None, None, 1),
    ("300 MB for 30 ms, in a child", "sleep 0.7 child [ alloc 300 sleep 0.03 ] wait sleep 1", None, 302, 2),
    ("200 MB shared by 4", "shared 200 child [ touch sleep 1.2 ] child [ touch sleep 1.2 ] child [ touch sleep 1.2 ] wait",
     None, 203, 4),
    ("200 MB from before 3 forks", "alloc 200 child [ sleep 1.2 ] child [ sleep 1.2 ] child [ sleep 1.2 ] wait",
     None, 203, 4),
    ("writes 50 MB", "write 50", None, 0, 1),
    ("writes 50 MB, half in a child", "write 25 child [ write 25 ] wait", None, 0, 2),
]


class Tool:
    def __init__(self, name, run):
        self.name = name
        self.run = run


def prepare_environment(build):
    folder = build / "accuracy-venv"
    if not (folder / "bin" / "gpu-tracker").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "--quiet", "install", "psutil", "gpu-tracker"], check=True)
    return folder / "bin"


def figures_of(report):
    """What a report of ours says: CPU seconds, peak of RAM, processes, bytes written."""
    accounting = report["accounting"]
    seconds = accounting["cpu_seconds"]
    processes = accounting["processes"]
    return {
        "cpu": seconds["kernel"] if seconds["kernel"] is not None else seconds["sampled"],
        "ram": report["max_ram"]["combined"]["total_rss"],
        PROCESSES: processes["seen"] if processes["missed"] == 0 else None,
        WRITTEN: accounting["bytes"]["written"],
    }


def ours(build, rights=()):
    def run(command, folder):
        path = folder / "report.json"
        subprocess.run([*rights, build / "gpu-tracker", "run", "--disable-logs", "--st", str(INTERVAL), "--ru", "bytes",
                        "-f", "json", "-o", path, "--", *command], check=True, cwd=folder)
        return figures_of(json.loads(path.read_text()))

    return run


def ours_attached(build):
    def run(command, folder):
        path = folder / "report.json"
        # It waits until the tracker is there.
        end, release = os.pipe()
        command = [command[0], "await", str(end), *command[1:]]
        consumer = subprocess.Popen(command, cwd=folder, pass_fds=[end])
        tracker = subprocess.Popen([build / "gpu-tracker", "attach", "--disable-logs", "--st", str(INTERVAL), "--ru", "bytes",
                                    "-f", "json", "-o", path, str(consumer.pid)], cwd=folder)
        time.sleep(0.3)
        os.write(release, b".")
        # As its parent we would keep its last figures in sight longer than most do.
        consumer.wait()
        tracker.wait()
        os.close(end)
        os.close(release)
        return figures_of(json.loads(path.read_text()))

    return run


def gnu_time(command, folder):
    path = folder / "time"
    subprocess.run(["/usr/bin/time", "-o", path, "-f", "%U %S %M", *command], check=True, cwd=folder)
    user, system, kilobytes = path.read_text().split()
    return {"cpu": float(user) + float(system), "ram": float(kilobytes) * 1024}


def psutil_loop(bin_folder):
    def run(command, folder):
        path = folder / "polled.json"
        subprocess.run([bin_folder / "python", "-c", POLL, str(INTERVAL), path, *command], check=True, cwd=folder)
        return json.loads(path.read_text())

    return run


def peer(bin_folder):
    def run(command, folder):
        path = folder / "peer.json"
        subprocess.run([bin_folder / "gpu-tracker", "-e", " ".join(map(str, command)), "-o", path, "-f", "json", "--st",
                        str(INTERVAL), "--ru", "bytes", "--tu", "seconds", "--disable-logs"],
                       check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        report = json.loads(path.read_text())
        percent = report["cpu_utilization"]["combined"]["mean_sum_percent"]
        return {"cpu": percent / 100 * report["compute_time"]["time"], "ram": report["max_ram"]["combined"]["total_rss"]}

    return run


def written_bytes(words):
    """What a consumer was asked to write, in all its processes."""
    words = words.split()
    return sum(float(words[at + 1]) * 1e6 for at, word in enumerate(words) if word == "write")


def truth_of(case, folder):
    _, words, seconds, megabytes, processes = case
    reported_seconds, reported_bytes = (folder / "truth").read_text().split()
    return {
        "cpu": float(reported_seconds) if seconds is None else seconds,
        WRITTEN: written_bytes(words),
        "ram": float(reported_bytes) if megabytes is None else megabytes * 1e6,
        PROCESSES: processes,
    }


def cell(value, truth, scale, decimals):
    if value is None:
        return "unknown"
    error = (value - truth) / truth * 100
    return f"{value / scale:.{decimals}f} ({error:+.1f} %)"


def measure(build, tool, case):
    with tempfile.TemporaryDirectory(prefix="accuracy-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        command = [build / "tests" / "consumers" / "consumer", *case[1].split(), "report", str(folder / "truth")]
        try:
            figures = tool.run(command, folder)
        except (subprocess.CalledProcessError, FileNotFoundError, json.JSONDecodeError) as error:
            print(f"{tool.name}, {case[0]}: {error}", file=sys.stderr)
            return None, None
        return figures, truth_of(case, folder)


def row(title, case, results, key, scale, decimals):
    cells = []
    for figures, truth in results:
        if figures is None:
            cells.append("failed")
        elif key not in figures:
            cells.append("")
        else:
            cells.append(cell(figures[key], truth[key], scale, decimals))
    truths = [truth[key] for _, truth in results if truth]
    return f"| {title} | {truths[0] / scale:.{decimals}f} | " + " | ".join(cells) + " |"


def tables(tools, outcome):
    head = "| | truth | " + " | ".join(tool.name for tool in tools) + " |"
    line = "| --- " * (len(tools) + 2) + "|"
    parts = []
    for title, key, scale, decimals, wanted in [
        ("CPU seconds", "cpu", 1, 2, lambda case: not written_bytes(case[1]) and case[3] == 0),
        ("Peak of RAM of all together, MB", "ram", 1e6, 1, lambda case: case[3] != 0),
        ("Written, MB", WRITTEN, 1e6, 3, lambda case: written_bytes(case[1])),
        ("Processes known", PROCESSES, 1, 0, lambda case: case[4] > 1),
    ]:
        rows = [row(case[0], case, results, key, scale, decimals) for case, results in outcome if wanted(case)]
        parts += [f"## {title}", "", head, line, *rows, ""]
    return parts


HEAD = """# Accuracy

Made by `make accuracy` on Linux {kernel}, {cores} cores; every tool sampled every {interval} s. In brackets:
the error. The truth is what each program says of itself at its end: the kernel's count (getrusage) of
itself and all it waited for, and its own VmHWM. For families of processes it is what they were asked to allocate,
and 1 MB each for the programs themselves. CPU time of daemons and of what is not waited for, and bytes written,
are what the program was asked to use and to write. The truth differs a little from run to run, so each error is
against that of its own run; the column shows that of the first.

- *run*: `gpu-tracker run` as root; *no rights*: the same as a user without any; *attach*: as
  root, to a program that runs already. Its CPU seconds are a lower bound. What a process used since its last
  clock tick is only in its parent's CPU totals, which count ticks of 10 ms and end with the parent.
- Auto-reaped children are in no parent's CPU totals. A control group counts them, and the kernel reports their
  ends to root; without rights there is what samples see of them, and the report says "at least". How much they see differs from
  run to run: 15 % to 27 % were missing in five. What proves a figure to be exact: [cpu-time.md](cpu-time.md#what-is-exact).
- *GNU time*: Debian's package `time`. Its peak is that of the largest single process.
- *psutil*: a loop over `psutil` that adds up RSS and CPU time of the family, as psrecord does.
- *PyPI*: the Python package `gpu-tracker` {version}; CPU seconds are its mean percent times its time.
"""

LIMITS = """## Known limits

What `peaks` calls "at least" and "exact" is proven, except for this:

- *Pages of one object that change hands.* Maps of processes are read one after the other. Two processes map the same range of a file or of shared
  memory. After the first was read it gives pages of it up, and takes as many others. Before the second is read it takes those pages, and gives as
  many up. Neither has more file pages than before, so nothing shows it, and these pages count twice in `combined`. The error is at most what the
  smaller of the two has alone in that range. It stays until one of them is read again. Pages that are only given up, or only taken, are recognized.
- *Files that others map.* Readings of a control group count the mapped files of the command as far as its processes had mapped files at the
  last scan. If these gave such pages up since, while another program had files of the command mapped, that much counts too many.
- *Control groups.* The group's peak without page cache is not a lower bound of RAM. How much page cache and memory of the kernel there was at that
  moment is in no counter ([between samples](memory.md#between-samples)).
"""


def peer_version(bin_folder):
    done = subprocess.run([bin_folder / "pip", "list", "--format", "json"], capture_output=True, text=True)
    return next((package["version"] for package in json.loads(done.stdout) if package["name"] == "gpu-tracker"), "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("docs/accuracy.md"))
    parser.add_argument("--quick", action="store_true", help="our own tool alone")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    tools = [Tool("run", ours(build))]
    if os.geteuid() == 0:
        without = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        tools.append(Tool("no rights", ours(build, without)))
    tools.append(Tool("attach", ours_attached(build)))
    version = ""
    if not arguments.quick:
        if not os.path.exists("/usr/bin/time"):
            sys.exit("GNU time is missing. Install it: apt-get install time")
        bin_folder = prepare_environment(build)
        version = peer_version(bin_folder)
        tools += [Tool("GNU time", gnu_time), Tool("psutil", psutil_loop(bin_folder)), Tool("PyPI", peer(bin_folder))]

    outcome = []
    for case in CASES:
        print(case[0], file=sys.stderr)
        outcome.append((case, [measure(build, tool, case) for tool in tools]))
    text = HEAD.format(kernel=platform.release().split("-")[0], cores=os.cpu_count(), interval=INTERVAL, version=version)
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text("\n".join([text, *tables(tools, outcome), LIMITS]))
    print(f"wrote {arguments.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
