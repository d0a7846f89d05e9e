"""What `gpu-tracker job` needs for many ranks: CPU time and memory by ranks and samples.

    bench/job.py GPU_TRACKER [RANKS SAMPLES]...

Each rank has a tracking file of that many samples, all the same bytes: one file that has as many names as there are ranks, so
that the disk holds it once. Whose samples they are is next to each name.
"""

import json
import os
import pathlib
import resource
import sys
import tempfile

COLUMNS = 21
HEADER = (
    "main_ram,descendants_ram,combined_ram,system_ram,main_gpu_ram,descendants_gpu_ram,combined_gpu_ram,system_gpu_ram,"
    "gpu_sum_utilization_percent,gpu_hardware_utilization_percent,main_n_threads,descendants_n_threads,combined_n_threads,"
    "cpu_system_sum_utilization_percent,cpu_system_hardware_utilization_percent,cpu_main_sum_utilization_percent,"
    "cpu_main_hardware_utilization_percent,cpu_descendants_sum_utilization_percent,"
    "cpu_descendants_hardware_utilization_percent,cpu_combined_sum_utilization_percent,"
    "cpu_combined_hardware_utilization_percent,timestamp\n")  # fmt: skip
STATIC = (
    "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,system_core_count,n_expected_cores,"
    "system_gpu_count,n_expected_gpus\ngigabytes,gigabytes,hours,67.2,0.0,64,64,0,0\n")  # fmt: skip
START = 1769860800.0
PER_MACHINE = 64


def write_samples(path, count):
    with path.open("w") as file:
        file.write(STATIC + HEADER)
        for row in range(count):
            values = [round(0.1 + (row * 7 + column) % 97 / 1000, 6) for column in range(10)] + [4, 0, 4]
            values += [round((row * 13 + column * 5) % 400 / 3, 4) for column in range(8)]
            file.write(",".join(map(str, values)) + f",{START + row:.6f}\n")


def write_rank(folder, samples, rank, ranks, count):
    name = folder / f"{rank // 1000}" / f"s.r{rank}.csv"
    name.parent.mkdir(exist_ok=True)
    os.link(samples, name)
    machine = f"n{rank // PER_MACHINE}"
    name.with_name(name.name + ".session.json").write_text(json.dumps({
        "tracking_file": name.name, "host": machine, "boot_id": f"boot-{machine}", "pid": 1000 + rank,
        "start": "2026-01-31T12:00:00.000000Z", "end": None, "version": "1.0.0", "launcher": "Slurm", "job_id": "1", "step": "0",
        "rank": rank, "world_size": ranks, "node": machine}))  # fmt: skip


def measure(program, ranks, count):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        samples = folder / "samples"
        write_samples(samples, count)
        results = folder / "results"
        results.mkdir()
        for rank in range(ranks):
            write_rank(results, samples, rank, ranks, count)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        pid = os.fork()
        if pid == 0:
            os.execv(program, [program, "job", "-f", "json", "-o", str(folder / "job.json"), str(results)])
        _, status, usage = os.wait4(pid, 0)
        assert status == 0, status
        read = json.loads((folder / "job.json").read_text())
        assert read["jobs"][0]["ranks"] == ranks and sum(rank["samples"] for rank in read["ranks"]) == ranks * count
        seconds = usage.ru_utime + usage.ru_stime
        print(f"{ranks:6} ranks x {count:7} samples: {seconds:8.2f} s of CPU time, {ranks * count / seconds / 1e6:6.2f} million samples/s, "
              f"peak {usage.ru_maxrss / 1024:6.1f} MiB", flush=True)  # fmt: skip


def main():
    program, *numbers = sys.argv[1:]
    sizes = list(zip(map(int, numbers[::2]), map(int, numbers[1::2]))) or [(100, 1000), (100, 100_000), (1000, 1000), (10_000, 1000)]
    for ranks, count in sizes:
        measure(os.path.abspath(program), ranks, count)


if __name__ == "__main__":
    main()
