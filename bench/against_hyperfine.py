"""Where `gpu-tracker bench` and hyperfine 2 differ, on commands of which the truth is known: against_hyperfine.py BUILD

Prints the rows of the table in docs/bench.md: the command, ours, theirs and the truth. hyperfine is that of repeat.py.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
COMMAND, PEER = BUILD / "gpu-tracker", BUILD / "bench-hyperfine" / "bin" / "hyperfine"
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
/* children, megabytes of each, milliseconds of sleep, millions of steps */
int main(int argc, char **argv)
{
    size_t bytes = (size_t)atol(argv[2]) * 1000000;
    for (int i = 0; i < atoi(argv[1]); i++) {
        if (fork() == 0) {
            char *memory = malloc(bytes);
            memset(memory, argc, bytes);
            usleep((useconds_t)atol(argv[3]) * 1000);
            _exit(memory[bytes - 1] != argc);
        }
    }
    while (wait(NULL) > 0)
        ;
    volatile double sum = 0;
    for (long i = 0; i < atol(argv[4]) * 1000000; i++)
        sum += (double)i;
    return 0;
}
"""


def ours(folder, runs, *commands):
    subprocess.run([COMMAND, "bench", "-r", str(runs), "-q", "-o", folder / "a.json", *commands], check=True, stdin=subprocess.DEVNULL)
    return json.loads((folder / "a.json").read_text())


def theirs(folder, runs, *commands):
    subprocess.run([PEER, "-N", "-r", str(runs), "--style", "none", "--export-json", folder / "b.json", *commands], check=True, stderr=subprocess.DEVNULL)
    return json.loads((folder / "b.json").read_text())["results"]


def metric(result, name):
    return [run[name]["value"] for run in result["measurements"]]


def row(*cells):
    print("", *cells, "", sep=" | ", flush=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "work.c").write_text(PROGRAM)
        work = folder / "work"
        subprocess.run(["cc", "-O1", "-o", work, folder / "work.c"], check=True)
        for what, arguments, truth in (("four children of 100 MB each, at once", "4 100 1500 0", "400 MB and five programs"),
                                       ("one child of 100 MB", "1 100 300 0", "100 MB and two programs")):  # fmt: skip
            ram = ours(folder, 5, f"{work} {arguments}")["variants"][0]["figures"]["ram_bytes"]
            peer = metric(theirs(folder, 5, f"{work} {arguments}")[0], "memory_peak_resident")
            row(f"RAM: {what}", f"{ram['min'] / 1e6:.0f} to {ram['max'] / 1e6:.0f} MB", f"{min(peer) / 1e6:.0f} to {max(peer) / 1e6:.0f} MB", truth)
        own = "while read key value rest; do test $key != VmHWM: || echo peak $value; done < /proc/$$/status"
        found = ours(folder, 30, "--work", "peak ([0-9]+)", "--", "sh", "-c", own)["variants"][0]["figures"]
        peer = metric(theirs(folder, 30, "sh -c 'exit 0'")[0], "memory_peak_resident")
        row("RAM: a small program (sh)", f"{found['ram_bytes']['mean'] / 1e6:.2f} MB" if found["ram_bytes"]["mean"] else "n/a",
            f"{statistics.mean(peer) / 1e6:.2f} MB", f"{found['work']['mean'] * 1024 / 1e6:.2f} MB, as it says itself (VmHWM)")  # fmt: skip
        command = f"{work} 0 0 0 30"
        alone = ours(folder, 10, command, f"{command} ")
        words = next(one["words"] for one in alone["comparisons"] if one["figure"] == "wall_seconds")
        disturbed = sum(run["causes"]["cpu_wait"] > 0.05 for run in alone["runs"])
        peer = [statistics.mean(metric(one, "time_wall_clock")) for one in theirs(folder, 10, command, f"{command} ")]
        row(f"one command as A and as B, load {os.getloadavg()[0]:.0f}", f"{words}; {disturbed} of 20 runs waited for a CPU",
            f"B is {100 * (peer[1] / peer[0] - 1):+.0f} %", "equal")  # fmt: skip
        cpu = alone["variants"][0]["figures"]["cpu_seconds"]
        peer = metric(theirs(folder, 10, command)[0], "time_user"), metric(theirs(folder, 10, command)[0], "time_system")
        row("CPU time of that command", f"{cpu['mean'] * 1e3:.1f} ms", f"{statistics.mean(peer[0]) * 1e3 + statistics.mean(peer[1]) * 1e3:.1f} ms", "the same")
        wall = ours(folder, 20, "sleep 0.1")["variants"][0]["figures"]["wall_seconds"]
        peer = metric(theirs(folder, 20, "sleep 0.1")[0], "time_wall_clock")
        row("wall time of sleep 0.1, the smallest of 20", f"{wall['min'] * 1e3:.1f} ms", f"{min(peer) * 1e3:.1f} ms", "100 ms and one program")


main()
