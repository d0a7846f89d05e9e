"""Small sessions to analyze: a tracking file, a sub-tracking file, and what is to be found in them."""

import csv

MEASUREMENTS = (
    "main_ram descendants_ram combined_ram system_ram main_gpu_ram descendants_gpu_ram combined_gpu_ram system_gpu_ram "
    "gpu_sum_utilization_percent gpu_hardware_utilization_percent main_n_threads descendants_n_threads combined_n_threads "
    "cpu_system_sum_utilization_percent cpu_system_hardware_utilization_percent cpu_main_sum_utilization_percent "
    "cpu_main_hardware_utilization_percent cpu_descendants_sum_utilization_percent "
    "cpu_descendants_hardware_utilization_percent cpu_combined_sum_utilization_percent "
    "cpu_combined_hardware_utilization_percent"
).split()
STATIC = {
    "ram_unit": "gigabytes", "gpu_ram_unit": "gigabytes", "time_unit": "hours", "ram_system_capacity": 16.5,
    "gpu_ram_system_capacity": 0.0, "system_core_count": 4, "n_expected_cores": 4, "system_gpu_count": 0,
    "n_expected_gpus": 0,
}  # fmt: skip
START = 1000.0


def write_tracking(path, factor=1.0):
    """Ten samples a second apart from START; measurement number m is m + row * factor."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([STATIC.keys(), STATIC.values(), [*MEASUREMENTS, "timestamp"]])
        for row in range(10):
            writer.writerow([*(m + row * factor for m in range(len(MEASUREMENTS))), START + row])


def write_marks(path, calls):
    """Of (process, name, start, stop), seconds after START."""
    marks = sorted((START + t, pid, name, p) for pid, name, *ends in calls for p, t in enumerate(ends))
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["process_id", "code_block_name", "position", "timestamp"])
        writer.writerows([pid, name, position, time] for time, pid, name, position in marks)


# Block a: samples 1, 2 and 5; its second call has none. Block b: 2 to 4.
CALLS = [(7, "a", 0.5, 2.25), (7, "a", 2.5, 2.75), (7, "a", 5.0, 5.5), (7, "b", 1.75, 4.0)]


def write_session(tracking="tracking.csv", marks="sub-tracking.csv", calls=CALLS, factor=1.0):
    write_tracking(tracking, factor)
    write_marks(marks, calls)
    return tracking, marks
