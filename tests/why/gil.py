"""Two threads that compute in Python, of which one can at a time: gil.py gil SECONDS FILE. What the main thread knows of itself goes to FILE,
as that of bottleneck.c does: all that it neither ran nor waited for a CPU, it waited for the other one's lock."""

import sys
import threading
import time


def compute(until):
    count = 0
    while time.monotonic() < until:
        count += 1


def times():
    """Of this thread: the time, for how long it ran, and for how long it waited for a CPU."""
    with open("/proc/thread-self/schedstat") as file:
        ran, waited, _ = file.read().split()
    return time.monotonic(), int(ran) / 1e9, int(waited) / 1e9


def main():
    start = times()
    until = start[0] + float(sys.argv[2])
    other = threading.Thread(target=compute, args=(until,))
    other.start()
    compute(until)
    other.join()
    wall, ran, waited = (now - before for now, before in zip(times(), start))
    with open(sys.argv[3], "w") as file:
        file.write(f"seconds {wall:.6f}\ncomputing {ran:.6f}\ncpu_wait {waited:.6f}\nlock {wall - ran - waited:.6f}\n")


main()
