"""A machine with energy counters, made of files: what GPUT_SYSFS can point at."""

import contextlib
import os
import pathlib
import threading

RANGE_UJ = 262143328850

# Runs as the tracked command. Moves counters by that many joules a second, a line for each:
#     python -c MOVE SECONDS FILE WATTS [FILE WATTS]...
# The files are written in place, as wide as the kernel's ever get, so that readers never see half a number.
# Where they move by themselves (Machine.moving), they stop before, and stay where this leaves them. And where results so far are kept, there
# are some before: the tracker has read the counters, however late that was.
MOVE = """
import os, sys, time
while os.path.exists("kept") and not os.path.getsize("kept"):
    time.sleep(0.004)
while os.path.exists("moving") and not os.path.exists("held"):
    open("hold", "w").close()
    time.sleep(0.004)
seconds = float(sys.argv[1])
counters = [(os.open(path, os.O_RDWR), float(watts)) for path, watts in zip(sys.argv[2::2], sys.argv[3::2])]
starts = [int(os.pread(fd, 64, 0)) for fd, watts in counters]
begin = time.monotonic()
def move(passed):
    for (fd, watts), start in zip(counters, starts):
        os.pwrite(fd, b"%020d\\n" % ((start + int(watts * passed * 1e6)) % %(range)d), 0)
while (passed := time.monotonic() - begin) < seconds:
    move(passed)
    time.sleep(0.004)
move(seconds)
""".replace("%(range)d", str(RANGE_UJ))


class Machine:
    """A sysfs below a folder."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        self.powercap = self.root / "class" / "powercap"
        self.powercap.mkdir(parents=True)
        self.moved = []  # zones that commands were given to move

    def counter(self, zone):
        return self.powercap / zone / "energy_uj"

    def add(self, zone, name, joules=1000.0):
        (self.powercap / zone).mkdir()
        (self.powercap / zone / "name").write_text(name + "\n")
        (self.powercap / zone / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
        self.counter(zone).write_text("%020d\n" % int(joules * 1e6))

    def add_two_packages(self):
        for package in (0, 1):
            self.add(f"intel-rapl:{package}", f"package-{package}")
            self.add(f"intel-rapl:{package}:0", "dram")
        self.add("intel-rapl:0:1", "core")
        self.add("intel-rapl:2", "psys")
        self.add("intel-rapl-mmio:0", "package-0")

    @contextlib.contextmanager
    def moving(self, folder, *zones):
        """
        Moves counters by a microjoule every few milliseconds; not while there is a file `hold` in the folder, as `held` says.

        A counter that has not moved yet, or stands still for 2 s, is not a figure, and the command may need as long to begin.
        """
        moving, hold, held, is_over = folder / "moving", folder / "hold", folder / "held", threading.Event()

        def move():
            while not is_over.wait(0.004):
                if hold.exists():
                    held.touch()
                    continue
                held.unlink(missing_ok=True)
                for counter in map(self.counter, zones):
                    with open(counter, "r+b", buffering=0) as file:
                        if text := file.read().strip():
                            os.pwrite(file.fileno(), b"%020d\n" % (int(text) + 1), 0)

        thread = threading.Thread(target=move)
        moving.touch()
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
            for file in moving, hold, held:
                file.unlink(missing_ok=True)

    def environment(self):
        return os.environ | {"GPUT_SYSFS": str(self.root), "GPUT_NVML": "/nonexistent"}

    def move(self, seconds, **watts):
        """The arguments of MOVE: zones are given as package_0 (intel-rapl:0), package_0_1 (intel-rapl:0:1)."""
        arguments = [str(seconds)]
        for name, value in watts.items():
            zone = name.replace("package_", "intel-rapl:").replace("_", ":")
            self.moved.append(zone)
            arguments += [self.counter(zone), value]
        return arguments
