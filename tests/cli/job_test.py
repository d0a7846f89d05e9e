"""Reports of ranks that never ran, for tests of gpu-tracker job."""

import csv
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import command

BEGIN = datetime.datetime(2026, 1, 31, 12, 0, 0)
NAMES = "OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM", "TORCHELASTIC_", "RANK"


def moment(seconds):
    return (BEGIN + datetime.timedelta(seconds=seconds)).isoformat(timespec="microseconds") + "Z"


def sampled_ram(path):
    """The most bytes of RAM that a tracking file in CSV has so far, also while it is written."""
    lines = path.read_text().splitlines(keepends=True)[2:] if path.exists() else []
    rows = csv.DictReader(line for line in lines if line.endswith("\n"))
    return max((float(row["combined_ram"] or 0) for row in rows), default=0) * 1e9


class JobTest(unittest.TestCase):
    """Reports of ranks that never ran: one real report, changed."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.json"
            environment = {name: value for name, value in os.environ.items() if not name.startswith(NAMES)}
            subprocess.run([command.COMMAND, "run", "-q", "-o", path, "--ru", "bytes", "--", "true"], check=True, env=environment)
            cls.report = path.read_text()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def rank(self, rank, *, machine="n1", world=4, start=0, seconds=100, cpu=90, ram=1e9, clock=0, job="4711", name=None, **more):
        report = json.loads(self.report)
        report["identity"] |= {
            "host": machine, "boot_id": f"boot-of-{machine}", "clock": "unsynchronized" if clock else "synchronized", "cpus": None, "pid": 100 + rank, "exit_status": 0,
            "start": moment(start + clock), "end": moment(start + seconds + clock)} | more.get("identity", {})  # fmt: skip
        report["job"] = {"launcher": "Open MPI", "job_id": job, "rank": rank, "world_size": world, "node": machine} | more.get("job", {})
        report["compute_time"] = {"unit": "seconds", "time": seconds}
        report["accounting"]["cpu_seconds"]["kernel"] = cpu
        report["max_ram"]["combined"]["total_rss"] = ram
        report["allowed"] |= {"cores": 1, "cpuset_cores": None, "quota_cores": None, "slurm_cores": None} | more.get("allowed", {})
        report["cpu_utilization"] |= {"system_core_count": 8}
        report["cpu_utilization"]["system"]["mean_sum_percent"] = more.get("system_percent", 0)
        report["tracker"]["node_seconds"] = seconds if rank == 0 else 0
        report |= more.get("members", {})
        path = self.folder / (name or f"r.r{rank}.json")
        path.write_text(json.dumps(report))
        return path

    def run_command(self, *words, status=0):
        done = subprocess.run([command.COMMAND, "job", *words], cwd=self.folder, capture_output=True, text=True, timeout=command.PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def job(self, *names):
        return json.loads(self.run_command("-f", "json", *(names or ["."])).stdout)

    def findings(self, *names):
        return {finding["kind"]: f"{finding['text']}: {finding['evidence']}" for finding in self.job(*names)["findings"]}

    def start_ranks(self, *words, world=2):
        return [
            subprocess.Popen(
                [command.COMMAND, "run", "-q", "--st", "0.05", "--tf", "s.csv", "-o", "r.json", "--resource-usage-file", "kept",
                 "--", *words], cwd=self.folder, stderr=subprocess.DEVNULL,
                env={**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": str(world)})
            for rank in range(world)]  # fmt: skip

    def forget_figures(self, name="s.r0.csv"):
        """The file next to it is as earlier versions wrote it: without the figures of the end."""
        sidecar = self.folder / f"{name}.session.json"
        known = json.loads(sidecar.read_text())
        names = list(known)
        kept = {*names[: names.index("elapsed_seconds")], "rows_lost"} if "elapsed_seconds" in known else names
        sidecar.write_text(json.dumps({key: value for key, value in known.items() if key in kept}))

    def samples_of(self, rank):
        """The lines of its tracking file, of which the last is that of the end."""
        return (self.folder / f"s.r{rank}.csv").read_text().splitlines(keepends=True)
