"""Calls of the fake libnvidia-ml.so.1, which it writes to its log."""

# For programs of their own: wait_until_listed(log, n_before) returns when the driver was asked who holds memory, after the memory was
# read, both after the first n_before calls.
WAIT_UNTIL_LISTED = """
import time

def nvml_calls(log):
    with open(log) as file:
        return [line.split()[1] for line in file if line.endswith("\\n")]

def wait_until_listed(log, n_before):
    at, new = 1, []
    while at > len(new):
        time.sleep(0.001)
        new, at = nvml_calls(log)[n_before:], 0
        # The first call may have begun before.
        for call in "MemoryInfo_v2", "MemoryInfo_v2", "ComputeRunningProcesses_v3", "MPSComputeRunningProcesses_v3":
            at = new.index(f"nvmlDeviceGet{call}", at) + 1 if f"nvmlDeviceGet{call}" in new[at:] else len(new) + 1
"""
