"""gpu-tracker run --regions: the regions of programs that announce them to some other tool."""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from command import AS_NOBODY, BUILD, PATIENCE, SOURCE, CommandTest, main, python, wait_until
from region_rows import check_nesting
from report_data import PAGE

# Opens and closes a GPU, and has it compute: files of a procfs of its own take the place of the kernel's.
GPU_SCRIPT = """
import pathlib, sys, time
FOLDER = pathlib.Path("proc/self")
INFO = "drm-driver:\\ti915\\ndrm-pdev:\\t0000:00:02.0\\ndrm-client-id:\\t5\\ndrm-engine-render:\\t{} ns\\n"
busy_ns = 70
def write():
    (FOLDER / "fdinfo" / "5").write_text(INFO.format(busy_ns))
def computes(ns):
    global busy_ns
    busy_ns += ns
    write()
def waits():
    pass
def opens(name):
    (FOLDER / "fd" / "6").symlink_to(name)
    (FOLDER / "fdinfo" / "6").write_text("pos:\\t0\\n")
    time.sleep(0.02)  # a folder of files does not say how many it has: it is searched again after 10 ms
(FOLDER / "fdinfo").mkdir(parents=True)
(FOLDER / "fd").mkdir()
(FOLDER / "fd" / "5").symlink_to("/dev/dri/renderD128")
write()
for i in range(3):
    computes(250000000)
    waits()
for name in sys.argv[1:]:
    opens(name)
    waits()
"""
PROGRAM = str(BUILD / "tests" / "collectors" / "nvtx-program")
COLLECTORS = BUILD / "collectors"
BUILT = (COLLECTORS / "libgputracker-nvtx.so").exists()
# What each exports, and nothing else.
HOOKS = {
    "nvtx": {"InitializeInjectionNvtx2"},
    "itt": {"__itt_api_init"},
    "ompt": {"ompt_start_tool"},
    "roctx": {"roctxRangePushA", "roctxRangePop", "roctxRangeStartA", "roctxRangeStop"},
    "python": {"gput_region_domain", "gput_region_push", "gput_region_pop"},
    "mpi": set(re.findall(r"WRAP(?:_SEND|_REDUCE)?\((MPI_\w+),", (SOURCE / "collectors" / "mpi.c").read_text())),
}
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("NVTX_", "INTEL_", "GPUT_REGION", "OMP_", "LD_PRELOAD"))}


def end(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class RegionsTest(CommandTest):
    def setUp(self):
        if not BUILT:
            self.skipTest("this build has no collectors")
        super().setUp()

    def record(self, *actions, options=(), environment=None, status=0):
        """Runs the program; returns the marks, as rows of (process, thread, name, position, time, started), and what was printed."""
        done = self.run_command(
            "run", "--regions=nvtx", "--region-file", "marks.csv", *options, "--", PROGRAM, *actions, env=ENVIRONMENT | (environment or {})
        )
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertFalse((self.folder / "marks.csv.parts").exists())
        return self.read_marks(), done.stderr

    def read_marks(self):
        path = self.folder / "marks.csv"
        if not path.exists():
            return []
        header, *lines = path.read_text().splitlines()
        names = header.split(",")
        return [dict(zip(names, line.split(","))) for line in lines]

    def calls(self, rows):
        """The calls by name, each with a start and a stop."""
        starts = collections.Counter(row["code_block_name"] for row in rows if row["position"] == "0")
        stops = collections.Counter(row["code_block_name"] for row in rows if row["position"] == "1")
        self.assertEqual(stops - starts, {})
        return dict(stops)


class Recorded(RegionsTest):
    def test_nested_ranges_of_several_domains(self):
        rows, shown = self.record("push:-:a", "push:lib:x", "push:-:b", "pop:lib", "pop:-", "pop:-", "start:lib:c", "end")
        order = [(row["code_block_name"], row["position"]) for row in rows if "c" not in row["code_block_name"].split("/")[1]]
        self.assertEqual(
            order,
            [("nvtx:default/a", "0"), ("nvtx:lib/x", "0"), ("nvtx:default/b", "0")]
            + [("nvtx:lib/x", "1"), ("nvtx:default/b", "1"), ("nvtx:default/a", "1")],
        )
        ends = [row for row in rows if row["code_block_name"] == "nvtx:lib/c"]
        self.assertEqual([row["position"] for row in ends], ["0", "1"])
        self.assertNotEqual(ends[0]["thread_id"], ends[1]["thread_id"])
        self.assertIn("Regions: 4, the longest first", shown)
        self.assertNotIn("skipped", shown)

    def test_ranges_are_as_long_as_they_are(self):
        rows, _ = self.record("push:-:a", "sleep:50", "pop:-")
        start, stop = (float(row["timestamp"]) for row in rows)
        self.assertGreaterEqual(stop - start, 0.05)

    def test_each_range_of_many_threads(self):
        rows, _ = self.record("threads:8:5000")
        self.assertEqual(self.calls(rows), {"nvtx:default/outer": 40000, "nvtx:default/inner": 40000})
        threads, depth, _ = check_nesting(self, rows)
        self.assertLessEqual(depth, 2)
        self.assertEqual(len(threads), 8)

    def test_a_fork_an_exec_and_a_kill_lose_nothing_that_was_complete(self):
        rows, _ = self.record(
            *("push:-:before", "fork", "push:-:both", "pop:-", "pop:-", "exec", "push:-:after", "pop:-", "push:-:open", "kill"), status=-9
        )
        self.assertEqual(self.calls(rows), {"nvtx:default/before": 1, "nvtx:default/both": 2, "nvtx:default/after": 2})
        self.assertEqual(len({row["process_id"] for row in rows}), 2)

    def test_a_program_that_leaves_without_destructors(self):
        rows, _ = self.record("push:-:a", "pop:-", "leave")
        self.assertEqual(self.calls(rows), {"nvtx:default/a": 1})

    def test_ends_without_a_begin_are_counted(self):
        rows, shown = self.record("pop:-", "pop:lib", "push:-:a", "pop:-", "pop:-", "end")
        self.assertEqual(self.calls(rows), {"nvtx:default/a": 1})
        self.assertIn("3 ends of ranges that had not begun were ignored.", shown)


class Labels(RegionsTest):
    def test_ranks_and_names_of_threads_are_known_to_the_analysis(self):
        done = self.run_command(
            *("run", "--regions=nvtx", "--st", "0.02", "--tf", "samples.csv", "--", "env", "PMI_RANK=5", PROGRAM),
            *("name:main loop", "push:-:a", "fork", "pop:-", "push:-:b", "pop:-"),
            env=ENVIRONMENT,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Regions: 2, the longest first", done.stderr)

        def parts(by, key):
            done = self.run_command("sub-track", "analyze", "--tf", "samples.csv", "--stf", "samples-regions.gputblocks", "--by", by, "-f", "json")
            return {block["name"]: block[key] for block in json.loads(done.stdout)["code_block_results"]}

        ranks = {name: [(part["rank"], part["num_calls"]) for part in listed] for name, listed in parts("rank", "ranks").items()}
        self.assertEqual(ranks, {"nvtx:default/a": [(5, 1)], "nvtx:default/b": [(5, 2)]})  # also of the forked process
        self.assertEqual(parts("thread", "threads")["nvtx:default/a"][0]["thread_name"], "main loop")
        done = self.run_command("timeline", "merge", "-o", "t.json", "samples.csv", "samples-regions.gputblocks")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.folder / "t.json").read_text())
        self.assertIn("main loop", {event["args"]["name"] for event in events if event["name"] == "thread_name"})
        self.assertFalse([event for event in events if event["name"].startswith("[gpu-tracker]")])


class Exact(RegionsTest):
    def exact(self, *options):
        done = self.run_command(
            *("run", "--regions=nvtx", *options, "--st", "0.02", "-f", "json", "-o", "exact.json", "--overwrite", "--", PROGRAM), *("push:-:a", "push:-:b", "pop:-", "pop:-"), env=ENVIRONMENT
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        regions = json.loads((self.folder / "exact.json").read_text())["regions"]
        return regions["code_blocks"][0].get("exact"), regions.get("notes", [])

    def test_figures_are_of_the_kinds_that_were_asked_for(self):
        self.assertIsNone(self.exact()[0])
        exact, notes = self.exact("--region-exact")
        self.assertIsNotNone(exact["process_cpu_time"]["total"])
        self.assertNotIn("block_peak_rss", exact)
        self.assertEqual(notes, [])
        exact, _ = self.exact("--region-exact=peak")
        self.assertGreater(exact["block_peak_rss"]["max"], 0)
        self.assertNotIn("cycles", exact)

    def test_the_table_of_the_report_has_what_was_counted(self):
        for options, columns in ((), ""), (("--region-exact",), " CPU time"), (("--region-exact=peak",), " CPU time RSS peak"):
            done = self.run_command("run", "--regions=nvtx", *options, "--", PROGRAM, "push:-:a", "pop:-", env=ENVIRONMENT)
            head, row = (line.split() for line in done.stderr.splitlines() if line.endswith(("code block", "nvtx:default/a")))
            self.assertRegex(" ".join(head), f"^calls total mean max{columns}( CPU| RAM max| GPU RAM| GPU| energy)* code block$")
            self.assertIn(row[2], ("ns", "µs", "ms", "s"))
            self.assertNotEqual(row[1], "0")

    def test_counters_are_there_or_the_report_says_why_not(self):
        exact, notes = self.exact("--region-exact=counters")
        if exact["instructions"]["total"] is None:
            self.assertTrue(notes[0].startswith("--region-exact: "), notes)
        else:
            self.assertGreater(exact["instructions"]["total"], 100)

    def test_the_kernels_peak_is_no_bound_where_it_is_reset(self):
        until_sampled = python("import time\nwhile open('rows.csv').read().count('\\n') < 6: time.sleep(0.01)")
        for kinds, is_bound in ("1", True), ("peak", False):
            self.run_command("run", "--st=0.02", "--tf=rows.csv", "-f", "json", "-o", "peaks.json", "--overwrite", "--processes", "--",
                             *until_sampled, env=ENVIRONMENT | {"GPUT_BLOCK_EXACT": kinds})  # fmt: skip
            report = json.loads((self.folder / "peaks.json").read_text())
            self.assertEqual(report["peaks"]["main_at_most"] is not None, is_bound, report["peaks"])
            self.assertEqual({process["peak_ram_source"] for process in report["processes"]}, {"final" if is_bound else "kept"})

    def compute_on_gpu(self, *opened, sysfs="sys"):
        (self.folder / "script.py").write_text(GPU_SCRIPT)
        driver = self.folder / "sys" / "class" / "drm" / "card0" / "device" / "uevent"
        driver.parent.mkdir(parents=True, exist_ok=True)
        driver.write_text("DRIVER=i915\n")
        shutil.rmtree(self.folder / "proc", ignore_errors=True)
        functions = "script.computes,script.waits" + (",script.opens" if opened else "")
        done = self.run_command(
            *("run", f"--regions=python:{functions}", "--region-exact=gpu", "--st", "0.02", "--tf", "gpu.csv", "--overwrite", "-f", "json", "-o", "gpu.json", "--"),
            *("env", "GPUT_PROCFS=proc", sys.executable, "script.py", *opened),
            env=ENVIRONMENT | {"GPUT_SYSFS": sysfs},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        regions = json.loads((self.folder / "gpu.json").read_text())["regions"]
        times = {block["name"].split("/")[1]: block["exact"]["gpu_time"] for block in regions["code_blocks"]}
        return {name: figure["total"] for name, figure in times.items()}, regions.get("notes", [])

    def test_gpu_time_is_what_the_driver_counted(self):
        self.assertEqual(self.compute_on_gpu(), ({"computes": 0.75, "waits": 0}, []))
        for marks in "marks.csv", "marks.sqlite", "marks.gputblocks":
            self.run_command("sub-track", "combine", "--mix", "--stf", marks, "gpu-regions.gputblocks")
            done = self.run_command("sub-track", "analyze", "--tf", "gpu.csv", "--stf", marks, "-f", "json")
            blocks = json.loads(done.stdout)["code_block_results"]
            self.assertEqual({block["name"]: block["exact"]["gpu_time"]["total"] for block in blocks}["python:script/computes"], 0.75, marks)
        self.run_command("report", "-o", "gpu.html", "gpu.csv", "--stf", "gpu-regions.gputblocks", env=ENVIRONMENT | {"GPUT_REPORT_PAGE": str(PAGE)})

    def test_gpu_time_is_missing_with_the_reason(self):
        times, notes = self.compute_on_gpu("/dev/nvidia0")
        self.assertEqual(times, {"computes": 0.75, "opens": None, "waits": None})
        self.assertEqual(
            notes,
            [
                "--region-exact: 2 of 3 code blocks have no GPU time: while they ran, the program had a GPU open whose driver does not report it "
                "(NVIDIA's, and ROCm's queues)."
            ],
        )
        times, notes = self.compute_on_gpu(sysfs="/nonexistent")
        self.assertEqual(times, {"computes": None, "waits": None})
        self.assertRegex(notes[0], "^--region-exact: (This machine has no GPU whose driver reports|NVIDIA's driver reports no) .*")

    def test_what_does_not_go(self):
        for options, message in {
            ("--region-exact=peaks",): '--region-exact: "peaks" is not a kind of exact figures: did you mean peak? Valid are: 1, peak, counters, gpu.',
            ("--region-exact", "--region-min=1"): "--region-exact cannot be combined with --region-min: what a region used is read when it begins.",
        }.items():
            done = self.run_command("run", "--regions", *options, "--", "true")
            self.assert_fails(done, 125, message)


class Failing(RegionsTest):
    def test_a_program_that_may_not_write_goes_on_and_the_report_says_so(self):
        for blocks, reason in (0, "A collector turned itself off: it could not write its files"), (16, "2 calls are not in it"):
            shell = f"ulimit -f {blocks}; exec {PROGRAM} push:-:a pop:- push:-:b pop:-"
            done = self.run_command("run", "--regions=nvtx", "--", "sh", "-c", shell, env=ENVIRONMENT)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(reason, done.stderr)

    def test_a_killed_tracker_leaves_what_can_be_combined(self):
        tracker = self.start_command(
            "run", "--regions=nvtx", "--region-file", "marks.csv", "--", PROGRAM, *("push:-:a", "pop:-", "push:-:b", "sleep:600000"), env=ENVIRONMENT
        )
        parts = self.folder / "marks.csv.parts"
        log = wait_until(lambda: next(parts.glob("nvtx-*.gputblocks"), None), "a log")
        for name in "mpi-1-0.values", "python-0.fits":  # of other sources
            (parts / name).touch()
        program = int(log.stem.removeprefix("nvtx-"))
        self.addCleanup(end, program)
        wait_until(lambda: b"nvtx:default/b" in log.read_bytes(), "the second range")
        tracker.kill()
        tracker.wait()
        done = self.run_command("sub-track", "combine", "--mix", "--stf", "marks.csv", "-p", "marks.csv.parts/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(self.read_marks()), {"nvtx:default/a": 1})

    def test_a_folder_that_is_gone(self):
        shell = f'rm -r "$GPUT_REGIONS_FOLDER"; exec {PROGRAM} push:-:a pop:-'
        done = self.run_command("run", "--regions=nvtx", "--region-file", "marks.csv", "--", "sh", "-c", shell, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"No region was recorded: folder \S*/marks\.csv\.parts: it was removed while the command ran")

    def test_a_folder_that_may_not_be_written(self):
        shell = f'mount -t tmpfs -o ro none "$GPUT_REGIONS_FOLDER" || exit 77; exec {PROGRAM} push:-:a pop:-'
        if os.geteuid() != 0:
            self.skipTest("only root can mount a file system")
        done = self.run_command("run", "--regions=nvtx", "--region-file", "marks.csv", "--", "sh", "-c", shell, env=ENVIRONMENT)
        self.addCleanup(subprocess.run, ["umount", "-l", self.folder / "marks.csv.parts"], stderr=subprocess.DEVNULL)
        if done.returncode == 77:
            self.skipTest("no file system can be mounted here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"No region was recorded: folder \S*/marks\.csv\.parts: Read-only file system")

    def test_a_program_that_closes_the_library(self):
        rows, shown = self.record("push:-:a", "unload", "push:lib:b", "pop:lib", "pop:-")
        self.assertEqual(self.calls(rows), {"nvtx:default/a": 1, "nvtx:lib/b": 1})
        self.assertNotIn("turned itself off", shown)


class Selected(RegionsTest):
    RANGES = ("push:-:one", "push:lib:two", "push:lib:three", "sleep:30", "pop:lib", "pop:lib", "pop:-", "push:-:short", "pop:-")

    def test_by_name(self):
        rows, shown = self.record(*self.RANGES, options=["--region-filter", "lib:t*", "--region-filter", "!three", "--region-filter", "s?ort"])
        self.assertEqual(self.calls(rows), {"nvtx:lib/two": 1, "nvtx:default/short": 1})
        self.assertIn("2 ranges were skipped by --region-filter.", shown)

    def test_by_depth_of_their_domain(self):
        rows, shown = self.record(*self.RANGES, options=["--region-depth", "1"])
        self.assertEqual(self.calls(rows), {"nvtx:default/one": 1, "nvtx:lib/two": 1, "nvtx:default/short": 1})
        self.assertIn("1 range was skipped by --region-depth.", shown)

    def test_by_duration(self):
        rows, shown = self.record(*self.RANGES, "fork", "push:-:child", "sleep:30", "pop:-", options=["--region-min", "0.02"])
        self.assertEqual(self.calls(rows), {"nvtx:default/one": 1, "nvtx:lib/two": 1, "nvtx:lib/three": 1, "nvtx:default/child": 2})
        self.assertIn("1 range was skipped by --region-min.", shown)


class Refused(RegionsTest):
    def test_a_variable_of_another_tool_wins(self):
        rows, shown = self.record("push:-:a", "pop:-", environment={"NVTX_INJECTION64_PATH": "/tool.so"})
        self.assertEqual(rows, [])
        self.assertIn("nvtx: not recorded, as NVTX_INJECTION64_PATH is set already, to /tool.so.", shown)

    def test_a_command_without_regions_has_a_line_and_no_file(self):
        rows, shown = self.record()
        self.assertEqual(rows, [])
        self.assertIn("No process of the command announced a region", shown)
        self.assert_folder_is()

    def test_a_static_program_has_a_line(self):
        compiler = shutil.which("cc")
        (self.folder / "main.c").write_text("int main(void) { return 0; }\n")
        if not compiler or subprocess.run([compiler, "-static", "main.c", "-o", "main"], cwd=self.folder, capture_output=True).returncode:
            self.skipTest("no static program can be built here")
        done = self.run_command("run", "--regions", "--", "./main")
        self.assertIn("./main is linked statically: it loads no library that could record its regions.", done.stderr)
        self.assertNotIn("No process of the command announced", done.stderr)

    def test_a_program_that_changes_its_user_has_a_line(self):
        self.open_to_nobody(os.environ["GPUT_COMMAND"], shutil.which("true"))
        (self.folder / "true").chmod(0o4755)
        command = [*AS_NOBODY, "./gpu-tracker", "run", "--regions", "--", "./true"]
        done = subprocess.run(command, cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("./true changes its user or has capabilities: it loads no library that could record its regions.", done.stderr)

    def test_a_program_that_changes_its_user_records_nothing(self):
        """Its user would write files for who started it. NVTX loads what the variable names even so."""
        self.open_to_nobody(os.environ["GPUT_COMMAND"], PROGRAM, BUILD / "collectors" / "libgputracker-nvtx.so")
        program = self.folder / pathlib.Path(PROGRAM).name
        command = [*AS_NOBODY, "./gpu-tracker", "run", "--regions=nvtx", "--", f"./{program.name}", "push:-:a", "pop:-"]

        def regions():
            environment = ENVIRONMENT | {"GPUT_COLLECTORS": str(self.folder)}
            done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout + done.stderr

        self.assertIn("nvtx:default/a", regions())
        program.chmod(0o4755)
        found = regions()
        self.assertNotIn("nvtx:default/a", found)
        self.assertIn("changes its user or has capabilities", found)

    def test_a_build_without_them_says_so(self):
        done = self.run_command("run", "--regions=itt", "--", "true", env=ENVIRONMENT | {"GPUT_COLLECTORS": str(self.folder)})
        self.assertEqual(done.returncode, 0)
        self.assertIn("itt: this build has no libgputracker-itt.so.", done.stderr)

    def test_values_that_are_none(self):
        for option, message in {
            "--regions=nvtxx": '--regions: "nvtxx" is not a source of regions: did you mean nvtx? Valid are: ',
            "--regions=pythn:a.b": '--regions: "pythn:a.b" is not a source of regions: did you mean python? Valid are: ',
            "--regions=python": '--regions: after "python:" come functions, such as python:package.module.function or python:module.*',
            "--region-depth=0": "--region-depth=0 is not a valid depth. It is a whole number above 0.",
            "--region-min=x": "--region-min=x is not a valid duration. It is a number of seconds.",
            "--region-filter=": "--region-filter needs a pattern such as 'domain:name*', and was given \"\".",
        }.items():
            done = self.run_command("run", "--regions", option, "--", "true")
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertTrue(done.stderr.startswith(f"gpu-tracker: {message}"), done.stderr)

    def test_a_file_that_exists_is_kept_or_replaced(self):
        (self.folder / "marks.csv").write_text("mine")
        done = self.run_command("run", "--regions=nvtx", "--region-file", "marks.csv", "--", PROGRAM, "push:-:a", "pop:-", env=ENVIRONMENT)
        self.assertIn("marks.csv exists: writing marks.1.csv (--overwrite replaces marks.csv).", done.stderr)
        self.assertEqual((self.folder / "marks.csv").read_text(), "mine")
        self.assertEqual(len((self.folder / "marks.1.csv").read_text().splitlines()), 3)
        rows, _ = self.record("push:-:a", "pop:-", options=["--overwrite"])
        self.assertEqual(len(rows), 2)

    def test_logs_of_a_killed_tracker_are_kept(self):
        (self.folder / "marks.csv.parts").mkdir()
        (self.folder / "marks.csv.parts" / "nvtx-1.gputblocks").touch()
        done = self.run_command("run", "--regions", "--region-file", "marks.csv", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("marks.csv exists: writing marks.1.csv (--overwrite replaces marks.csv).", done.stderr)
        self.assertTrue((self.folder / "marks.csv.parts" / "nvtx-1.gputblocks").exists())


class Used(RegionsTest):
    """What is made of them."""

    def setUp(self):
        super().setUp()
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.page = pathlib.Path(folder) / "page.html"  # the command has none where npm was not
        self.page.write_text(PAGE)

    def run_program(self, *options):
        return self.run_command(
            *("run", "--regions", "--st", "0.02", "--tf", "samples.sqlite", *options, "--", PROGRAM),
            *("push:-:all", "push:lib:part", "sleep:200", "pop:lib", "sleep:100", "pop:-"),
            env=ENVIRONMENT | {"GPUT_REPORT_PAGE": str(self.page)},
        )

    def test_the_report_has_what_each_used(self):
        self.assertEqual(self.run_program("-o", "report.json", "--report", "report.html").returncode, 0)
        self.assert_folder_is("report.html", "report.json", "samples-regions.gputblocks", "samples.sqlite")
        blocks = json.loads((self.folder / "report.json").read_text())["regions"]["code_blocks"]
        self.assertEqual([block["name"] for block in blocks], ["nvtx:default/all", "nvtx:lib/part"])
        for block in blocks:
            self.assertEqual(block["num_calls"], 1)
            self.assertGreater(block["resource_usage"]["main_ram"]["max"], 0)
        self.assertGreaterEqual(blocks[1]["compute_time"]["total"], 0.2)

    def test_other_commands_read_the_file(self):
        self.assertEqual(self.run_program("-q").returncode, 0)
        marks = "samples-regions.gputblocks"
        done = self.run_command("sub-track", "analyze", "--tf", "samples.sqlite", "--stf", marks, "-f", "json", "-o", "analysis.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.run_command("sub-track", "compare", "-m", "a=analysis.json", "-m", "b=analysis.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nvtx:lib/part", done.stdout)
        done = self.run_command("timeline", "merge", "-o", "timeline.json", "samples.sqlite", marks)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nvtx:lib/part", (self.folder / "timeline.json").read_text())
        done = self.run_command(
            "report", "-o", "report.html", "samples.sqlite", "--stf", marks, env=ENVIRONMENT | {"GPUT_REPORT_PAGE": str(self.page)})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_exact_figures(self):
        done = self.run_command(
            *("run", "--regions", "-o", "report.json", "--", PROGRAM, "push:-:a", "sleep:10", "pop:-"), env=ENVIRONMENT | {"GPUT_BLOCK_EXACT": "1"}
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        block = json.loads((self.folder / "report.json").read_text())["regions"]["code_blocks"][0]
        self.assertIsNotNone(block["exact"]["thread_cpu_time"]["total"])

    def test_a_session_without_files_leaves_none(self):
        done = self.run_command("run", "--regions", "--", PROGRAM, "push:-:a", "pop:-", env=ENVIRONMENT | {"TMPDIR": str(self.folder)})
        self.assertIn("nvtx:default/a", done.stderr)
        self.assert_folder_is()


class Libraries(unittest.TestCase):
    def test_they_export_their_hook_alone_and_start_nothing(self):
        if not BUILT:
            self.skipTest("this build has no collectors")
        for name, hooks in HOOKS.items():
            path = COLLECTORS / f"libgputracker-{name}.so"
            text = subprocess.run(["nm", "-D", str(path)], check=True, capture_output=True, text=True).stdout
            fields = [line.split() for line in text.splitlines()]
            self.assertEqual({field[2] for field in fields if len(field) == 3 and field[1] in "TDBRVWi"}, hooks)
            taken = {field[-1].split("@")[0] for field in fields if field[0] == "U"}
            self.assertEqual(taken & {"pthread_create", "thrd_create", "sigaction", "signal", "exit", "abort", "__cxa_throw", "pthread_atfork"}, set())
            needed = subprocess.run(["readelf", "-d", str(path)], check=True, capture_output=True, text=True).stdout
            self.assertNotIn("libsqlite3", needed)
            self.assertIn("NODELETE", needed)


if __name__ == "__main__":
    main()
