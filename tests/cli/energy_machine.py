"""A machine with energy counters, made of files: what GPUT_SYSFS can point at."""

import contextlib
import os
import pathlib
import threading

RANGE_UJ = 262143328850

# Runs as the tracked command. Moves counters by that many joules a second, a line for each:
#     python -c MOVE SECONDS FILE WATTS [FILE WATTS]...
# The files are written in place, as wide as the kernel's ever get, so that readers never see half a number.
MOVE = """
import os, sys, time
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
        """Moves counters by a microjoule every few milliseconds; not while there is a file `hold` in the folder, as `held` says."""
        hold, held, is_over = folder / "hold", folder / "held", threading.Event()

        def move():
            while not is_over.wait(0.004):
                if hold.exists():
                    held.touch()
                    continue
                held.unlink(missing_ok=True)
                for counter in map(self.counter, zones):
                    moved = b"%020d\n" % (int(counter.read_text()) + 1)
                    with open(counter, "r+b", buffering=0) as file:
                        file.write(moved)

        thread = threading.Thread(target=move)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def environment(self):
        return os.environ | {"GPUT_SYSFS": str(self.root), "GPUT_NVML": "/nonexistent"}

    def move(self, seconds, **watts):
        """The arguments of MOVE: zones are given as package_0 (intel-rapl:0), package_0_1 (intel-rapl:0:1)."""
        arguments = [str(seconds)]
        for zone, value in watts.items():
            arguments += [self.counter(zone.replace("package_", "intel-rapl:").replace("_", ":")), value]
        return arguments
