"""Results in the forms of workflow engines, and an engine that reads them."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys

from command import COMMAND, SOURCE, CommandTest, main, python

COLUMNS = ["s", "h:m:s", "max_rss", "max_vms", "max_uss", "max_pss", "io_in", "io_out", "mean_load", "cpu_time"]


class Forms(CommandTest):
    def report(self, form):
        done = self.run_command("run", "-q", "-f", form, "-o", "out", "--", *python("x = bytearray(100 << 20)"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "out").read_text()

    def test_nextflow_reads_keys_and_whole_numbers(self):
        lines = self.report("nextflow-trace").splitlines()
        self.assertEqual(lines[0], "nextflow.trace/v2")
        values = dict(line.split("=") for line in lines[1:])
        self.assertLessEqual(set(values), {"realtime", "%cpu", "rchar", "wchar", "read_bytes", "write_bytes", "%mem", "rss", "peak_rss", "vol_ctxt", "inv_ctxt"})
        self.assertLessEqual({"realtime", "%cpu", "peak_rss", "%mem"}, set(values))
        self.assertTrue(all(value.isdigit() for value in values.values()), values)
        self.assertGreater(int(values["peak_rss"]), 100 << 10)  # KiB
        self.assertLess(int(values["peak_rss"]), 300 << 10)
        memory = int(next(line for line in open("/proc/meminfo") if line.startswith("MemTotal")).split()[1])
        self.assertAlmostEqual(int(values["%mem"]), 1000 * int(values["peak_rss"]) / memory, delta=1)

    def test_snakemake_reads_two_lines_with_tabs(self):
        head, row = self.report("snakemake-benchmark").splitlines()
        self.assertEqual(head.split("\t"), COLUMNS)
        values = dict(zip(COLUMNS, row.split("\t"), strict=True))
        self.assertRegex(values["s"], r"\A\d+\.\d{4}\Z")
        self.assertRegex(values["h:m:s"], r"\A0:00:\d\d\Z")
        self.assertGreater(float(values["max_rss"]), 100)  # MiB
        self.assertLess(float(values["max_rss"]), 300)
        self.assertEqual(values["max_vms"], "NA")
        self.assertGreater(float(values["cpu_time"]), 0)

    def test_a_report_is_shown_in_them_later(self):
        self.run_command("run", "-q", "-o", "x.json", "--", "true")
        report = json.loads((self.folder / "x.json").read_text())
        shown = self.run_command("show", "-f", "nextflow-trace", "x.json").stdout
        self.assertIn(f"peak_rss={report['peaks']['combined'] * {'bytes': 1, 'kilobytes': 1e3, 'megabytes': 1e6, 'gigabytes': 1e9}[report['max_ram']['unit']] / 1024:.0f}\n", shown)


class Snakemake(CommandTest):
    """The recipe of docs/workflows.md."""

    def test_every_rule_has_a_benchmark_of_its_whole_tree(self):
        if not shutil.which("snakemake"):
            self.skipTest("Snakemake is not installed")
        shell = self.folder / "tracked-bash"
        shell.write_text('#!/bin/sh\nexec gpu-tracker run -q -f snakemake-benchmark -o tracked.tsv -- bash "$@"\n')
        shell.chmod(0o755)
        (self.folder / "Snakefile").write_text(
            f'shell.executable("{shell}")\nrule all:\n    output: "done"\n    shell: "{sys.executable} -c \'x = bytearray(100 << 20)\' && touch done"\n'
        )
        environment = os.environ | {"PATH": f"{os.path.dirname(COMMAND)}:{os.environ['PATH']}"}
        done = subprocess.run(["snakemake", "-c1"], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        head, row = (self.folder / "tracked.tsv").read_text().splitlines()
        self.assertEqual(head.split("\t"), COLUMNS)
        self.assertGreater(float(row.split("\t")[2]), 100)


class Nextflow(CommandTest):
    """The recipe of docs/workflows.md."""

    def test_its_own_report_has_the_peak_of_the_whole_tree(self):
        if not shutil.which("nextflow"):
            self.skipTest("Nextflow is not installed")
        page = (SOURCE / "docs" / "workflows.md").read_text()
        (self.folder / "nextflow.config").write_text(re.search(r"```groovy\n(.*?)```", page, re.S)[1].replace("'--history', ", ""))
        (self.folder / "main.nf").write_text(
            "process work {\n  output: stdout\n  script:\n  \"\"\"\n"
            f"  {sys.executable} -c 'x = bytearray(100 << 20)'\n  \"\"\"\n}}\nworkflow {{ work() }}\n"
        )
        environment = os.environ | {"PATH": f"{os.path.dirname(COMMAND)}:{os.environ['PATH']}"}
        done = subprocess.run(["nextflow", "run", "main.nf", "-with-trace", "trace.txt"], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        row, = csv.DictReader((self.folder / "trace.txt").open(), delimiter="\t")
        number, unit = row["peak_rss"].split()
        self.assertEqual((row["status"], unit), ("COMPLETED", "MB"))
        self.assertGreater(float(number), 100)


if __name__ == "__main__":
    main()
