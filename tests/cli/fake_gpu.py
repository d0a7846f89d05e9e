"""A tracked command on a fake libnvidia-ml.so.1: scenarios, and the tests' common class."""

import json
import os

from command import BUILD, CommandTest, python

# Two GPUs; {main} and {child} hold memory on both.
TWO_GPUS = """
gpu GPU-aaaa
name NVIDIA A
memory 16000000000 300000000 5000000000
utilization 40
power_mw 150000
compute {main} 1000000000
compute {child} 250000000
sample {main} 1000 30
gpu GPU-bbbb
name NVIDIA B
memory 8000000000 0 2000000000
utilization 20
power_mw 50000
compute {child} 500000000
graphics {child} 100000000
"""

# Waits so long, and until the driver was asked at some ticks. Where it does not start or answer, not for ever.
WAIT = """
import os, time

def calls():
    with open(os.environ["FAKE_NVML_LOG"]) as file:
        return [line.split()[1] for line in file if line.endswith("\\n")]

def wait(seconds):
    text = ""
    if os.path.exists(os.environ["GPUT_NVML"]):
        with open(os.environ["FAKE_NVML_SCENARIO"]) as file:
            text = file.read()
    answers = "gpu GPU-" in text and "code nvmlInit" not in text
    gpus, before, end = text.count("gpu GPU-"), len(calls()), time.monotonic() + seconds
    is_over = False
    while time.monotonic() < end or answers and not is_over and time.monotonic() < end + 10:
        time.sleep(0.01)
        new = calls()[before:]
        is_over = sum("MemoryInfo" in call for call in new) >= 4 * gpus and sum("ComputeRunningProcesses" in call for call in new) >= 2 * gpus
"""
BRIEF = python(WAIT + "import sys\nwait(float(sys.argv[1]))", 0.3)

# Writes the scenario with its own pid and that of a child, and lives until both were seen for a while. A driver lists no
# process that has ended, so the child leaves the scenario first.
TREE = WAIT + """
import os, subprocess, sys, time
scenario, text, seconds = sys.argv[1:]
child = subprocess.Popen(["sleep", "60"])
def write(lines):
    with open(scenario + ".new", "w") as file:
        file.write("\\n".join(lines).replace("{main}", str(os.getpid())).replace("{child}", str(child.pid)))
    os.rename(scenario + ".new", scenario)
lines = text.split("\\n")
write(lines)
wait(float(seconds))
write(line for line in lines if "{child}" not in line)
child.kill()
child.wait()
"""

# For the start of a program that changes the scenario: the driver has been asked for figures of ticks.
AFTER_TICKS = """
import os, time
while open(os.environ["FAKE_NVML_LOG"]).read().count("nvmlDeviceGetMemoryInfo_v2") < 8:
    time.sleep(0.001)
"""

# A GPU in use, and a driver that lists no process, or pids of the host.
IN_USE = "gpu GPU-aaaa\nmemory 16000000000 0 9000000000\nutilization 40\npower_mw 100000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
UNKNOWN_PID = 4194304  # no process has this pid, which is above the kernel's highest
HOST_PIDS = IN_USE + f"compute {UNKNOWN_PID} 9000000000\nsample {UNKNOWN_PID} 1000 40\n"
HIDDEN = {"empty list": IN_USE, "pids of the host": HOST_PIDS}


class GpuTest(CommandTest):
    MOSTLY_WAITS = True  # for answers of a driver

    def setUp(self):
        super().setUp()
        self.scenario = self.folder / "scenario"
        (self.folder / "calls").touch()
        self.environment = os.environ | {
            "GPUT_NVML": str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"),
            "GPUT_SYSFS": "/nonexistent",
            "FAKE_NVML_SCENARIO": str(self.scenario),
            "FAKE_NVML_LOG": str(self.folder / "calls"),
        }

    def write(self, text):
        fresh = self.folder / "scenario.new"
        fresh.write_text(text)
        fresh.rename(self.scenario)

    def gpu_tracker(self, *arguments, **environment):
        return self.run_command(*arguments, env=self.environment | environment)

    def tracked(self, *options, command=BRIEF, **environment):
        """Runs a command to its good end; returns the report and what was said on the way."""
        done = self.gpu_tracker(
            "run", "--st", "0.05", "--gru", "megabytes", "-f", "json", "-o", "out.json", "--overwrite", *options, "--", *command, **environment
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "out.json").read_text()), done.stderr

    def tracked_tree(self, *options, scenario=TWO_GPUS, before=None, seconds=1):
        """`before` is the scenario until there are processes, by default the same without them."""
        self.write(before or "\n".join(line for line in scenario.splitlines() if "{" not in line))
        return self.tracked(*options, command=python(TREE, self.scenario, scenario, seconds))
