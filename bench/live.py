"""What the live view costs: live.py BUILD

A tree of processes is watched by `gpu-tracker live` on a terminal of 120x40, and by `gpu-tracker attach` at the same
interval, in turn. Prints rows as bench.h says: CPU time of the tracker as percent of a core, over the same without a
view; then the bytes that a frame writes. Busy processes run 40 times a second each.
"""

import os
import pathlib
import shutil
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from fcntl import ioctl

BUILD = pathlib.Path(sys.argv[1]).resolve()
FULL = os.environ.get("BENCH_FULL") == "1"
SECONDS, ROUNDS = (20, 5) if FULL else (6, 2)
WARM_UP = 1.5  # it starts, and draws everything once
ENVIRONMENT = os.environ | {"TERM": "xterm", "LANG": "C.UTF-8", "GPUT_CONFIG": ""}


def cpu_seconds(pid):
    """Of all its threads, by the scheduler's clock: ticks are too coarse."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def drain(master, seconds):
    """Reads what comes; returns how much it was."""
    count, end = 0, time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([master], [], [], left)[0]:
            count += len(os.read(master, 65536))
    return count


def measure(*arguments, size=(120, 40)):
    return measure_command([BUILD / "gpu-tracker", *map(str, arguments)], size)


def measure_command(command, size):
    """Percent of a core, and bytes written a second; `size` is columns and rows."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                               env=ENVIRONMENT, start_new_session=True, preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0))
    drain(master, WARM_UP)
    before, start = cpu_seconds(process.pid), time.monotonic()
    count = drain(master, SECONDS)
    cpu, passed = cpu_seconds(process.pid) - before, time.monotonic() - start
    process.send_signal(signal.SIGTERM)
    while process.poll() is None:
        drain(master, 0.05)
    os.close(master)
    os.close(slave)
    return 100 * cpu / passed, count / passed


def row(*fields):
    print(*fields, sep="\t", flush=True)


def compare(what, view, without):
    pairs = [(measure(*view), measure(*without)) for _ in range(ROUNDS)]
    ours = statistics.median(view[0] for view, _ in pairs)
    theirs = statistics.median(plain[0] for _, plain in pairs)
    row(f"{what}, at 2 Hz", "% of a core", f"{ours:.2f}", "without a view", f"{theirs:.2f}", f"{ours / theirs:.2f}", "1 %")
    row(f"{what}, written", "bytes/frame", f"{statistics.median(view[1] for view, _ in pairs) / 2:.0f}", "-", "-", "-", "-")


def compare_peers(what, size):
    """The machine in other views that draw twice a second."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "btop", "btop.conf")
        config.parent.mkdir()
        config.write_text("update_ms = 500\n")
        ENVIRONMENT["XDG_CONFIG_HOME"] = folder
        peers = ["htop", "-d", "5"], ["btop", "--utf-force"], ["top", "-d", "0.5"]
        for peer in (peer for peer in peers if shutil.which(peer[0])):
            pairs = [(measure("live", "--st", 0.5, size=size), measure_command(peer, size)) for _ in range(ROUNDS)]
            (ours, written), (theirs, others) = [[statistics.median(figures) for figures in zip(*side)] for side in zip(*pairs)]
            row(f"{what}, at 2 Hz", "% of a core", f"{ours:.2f}", peer[0], f"{theirs:.2f}", f"{ours / theirs:.2f}", "")
            row(f"{what}, written", "bytes/frame", f"{written / 2:.0f}", peer[0], f"{others / 2:.0f}", f"{written / others:.2f}", "")


def main():
    compare_peers("the machine", (120, 40))
    for count, kind in (1, "idle"), (100, "idle"), (500, "idle"), (100, "busy"):
        tree = subprocess.Popen(
            [BUILD / "bench" / "bench-tree", str(count), kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        tree.stdout.read(1)
        compare(f"{count} {kind}", ("live", "--st", 0.5, tree.pid), ("attach", "-q", "--st", 0.5, tree.pid))
        if count == 500:
            compare("the machine with these", ("live", "--st", 0.5), ("serve", "--st", 0.5, "--listen", "127.0.0.1:0"))
            compare_peers("the machine with these, on 200x60", (200, 60))
        tree.stdin.close()
        tree.wait()


if __name__ == "__main__":
    main()
