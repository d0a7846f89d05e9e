"""Regions that runtimes announce: OpenMP of LLVM, MPI libraries, rocTX. What is not installed is skipped."""

import collections
import csv
import json
import os
import shutil
import subprocess
import sys

from command import BUILD, PATIENCE, CommandTest, main

COLLECTORS = BUILD / "collectors"
DROPPED = ("NVTX_", "INTEL_", "GPUT_REGION", "OMP_", "LD_PRELOAD", "OMPI_", "PMI_")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}

OPENMP = """
#include <stdio.h>
static double values[1000];
void solve(void)
{
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
        values[i] += i;
}
int main(void)
{
    for (int k = 0; k < 20; k++)
        solve();
    return values[1] != 20;
}
"""

OPENMP_CPP = """
namespace solver {
double values[100];
void solve(int n)
{
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < n; i++)
        values[i] += i;
}
}
int main()
{
    for (int k = 0; k < 3; k++)
        solver::solve(100);
}
"""

# The runtime lets workers say that a region is over only when the next one begins.
OPENMP_SERIAL = """
#include <unistd.h>
void solve(void)
{
#pragma omp parallel
    usleep(10000);
}
int main(void)
{
    for (int k = 0; k < 3; k++) {
        solve();
        usleep(2000000);
    }
    _exit(0);
}
"""

# Regions that threads of a region begin at the same time, in tasks that a barrier runs.
OPENMP_NESTED = """
#include <omp.h>
static long count;
void leaf(void)
{
#pragma omp parallel num_threads(2)
#pragma omp atomic
    count++;
}
void outer(void)
{
#pragma omp parallel num_threads(4)
    {
#pragma omp for
        for (int i = 0; i < 8; i++) {
#pragma omp task
            leaf();
        }
#pragma omp barrier
        leaf();
    }
}
int main(void)
{
    omp_set_max_active_levels(3);
    for (int k = 0; k < 100; k++)
        outer();
    return count != 2400;
}
"""

MPI = """
#include <mpi.h>
int main(int argc, char **argv)
{
    double one = 1, sum = 0;
    int size, number = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 100; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&size, 1, MPI_INT, 0, 7, &number, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &status);
    MPI_Finalize();
    return sum != size || number != size;
}
"""

ROCTX = """
#include <stdint.h>
#include <stdio.h>
int roctxRangePushA(const char *);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *);
void roctxRangeStop(uint64_t);
int main(void)
{
    for (int i = 0; i < 10; i++) {
        roctxRangePushA("outer");
        roctxRangePushA("inner");
        roctxRangePop();
        roctxRangePop();
    }
    uint64_t id = roctxRangeStartA("started");
    roctxRangeStop(id);
    return id == 4711 ? 0 : 1;
}
"""

# As AMD's library: functions with versions, which the preloaded ones without take the place of.
ROCTX_LIBRARY = """
#include <stdint.h>
#include <stdio.h>
int roctxRangePushA(const char *name) { printf("push %s\\n", name); return 0; }
int roctxRangePop(void) { puts("pop"); return 0; }
uint64_t roctxRangeStartA(const char *name) { printf("start %s\\n", name); return 4711; }
void roctxRangeStop(uint64_t id) { printf("stop %d\\n", (int)id); }
"""


ROCTX_OF_AMD = """
#include <roctracer/roctx.h>
int main(void)
{
    for (int i = 0; i < 10; i++) {
        roctxRangePush("outer");
        roctxRangePush("inner");
        roctxMark("moment");
        roctxRangePop();
        roctxRangePop();
    }
    roctxRangeStop(roctxRangeStart("started"));
    return 0;
}
"""


# A range of one library of ours around calls that another one marks.
ALLOCATES = """
import ctypes
roctx = ctypes.CDLL(None)
def inner():
    memory = bytearray(100_000_000)
    memory[::4096] = b"1" * len(memory[::4096])
roctx.roctxRangePushA(b"outer")
inner()
roctx.roctxRangePop()
"""


class RuntimesTest(CommandTest):
    def setUp(self):
        if not (COLLECTORS / "libgputracker-ompt.so").exists():
            self.skipTest("this build has no collectors")
        super().setUp()

    def build(self, compiler, source, *options, name="main"):
        """Compiles; skips the test where that cannot be."""
        path = shutil.which(compiler)
        if not path:
            self.skipTest(f"{compiler} is not installed")
        (self.folder / f"{name}.c").write_text(source)
        done = subprocess.run([path, f"{name}.c", "-g", *options, "-o", name], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            self.skipTest(f"{compiler} cannot compile this: {done.stderr.strip()[-200:]}")

    def record(self, source, *command, environment=None):
        """Counts of the calls by name, and what the command printed."""
        done = self.run_command(
            "run", f"--regions={source}", "-o", "report.json", "--region-file", "marks.csv", "--", *command, env=ENVIRONMENT | (environment or {})
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.notes = json.loads((self.folder / "report.json").read_text())["regions"].get("notes", [])
        with open(self.folder / "marks.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        names = collections.Counter(row["code_block_name"] for row in rows if row["position"] == "1")
        self.labels = {name for name in names if name.startswith("[gpu-tracker] ")}
        return collections.Counter({name: count for name, count in names.items() if name not in self.labels}), done.stdout


class OpenMP(RuntimesTest):
    def test_a_program_with_llvms_runtime(self):
        self.build("clang", OPENMP, "-fopenmp")
        calls, _ = self.record("ompt", "./main", environment={"OMP_NUM_THREADS": "2"})
        self.assertEqual(calls["ompt:parallel/solve"], 20)
        self.assertEqual(calls["ompt:task/solve"], 40)
        self.assertEqual(calls["ompt:work/loop in solve"], 40)

    def test_functions_of_cpp_have_their_own_names(self):
        self.build("clang++", OPENMP_CPP, "-fopenmp", "-x", "c++")
        calls, _ = self.record("ompt", "./main", environment={"OMP_NUM_THREADS": "2"})
        for name, count in {"parallel": 3, "task": 6, "work/loop in": 6, "sync/implicit barrier in": 6}.items():
            name += " " if name.endswith("in") else "/"
            self.assertEqual(calls[f"ompt:{name}solver::solve(int)"], count, calls)

    def test_workers_take_no_time_after_their_region(self):
        self.build("clang", OPENMP_SERIAL, "-fopenmp")
        calls, _ = self.record("ompt", "./main", environment={"OMP_NUM_THREADS": "2"})
        barrier = "ompt:sync/implicit barrier in solve"
        self.assertEqual(dict(calls), {"ompt:parallel/solve": 3, "ompt:task/solve": 6, barrier: 6})
        blocks = {block["name"]: block for block in json.loads((self.folder / "report.json").read_text())["regions"]["code_blocks"]}
        for name in "ompt:task/solve", barrier:
            self.assertLess(blocks[name]["compute_time"]["max"], 1.9, name)

    def test_regions_in_regions(self):
        self.build("clang", OPENMP_NESTED, "-fopenmp")
        calls, _ = self.record("ompt", "./main")
        for name, count in {"parallel/outer": 100, "parallel/leaf": 1200, "task/outer": 400, "task/leaf": 2400}.items():
            self.assertEqual(calls[f"ompt:{name}"], count, name)
        self.assertEqual(calls["ompt:sync/implicit barrier in leaf"], 2400)
        self.assertEqual(self.notes, [])

    def test_a_program_of_gcc_has_the_way_out(self):
        self.build("gcc", OPENMP, "-fopenmp")
        for options in ("--regions=ompt",), ("--regions",), ("--regions=nvtx",), ("--regions=ompt", "--", "true"):
            done = self.run_command("run", *options, "--", "./main", env=ENVIRONMENT)
            reasons = [line for line in done.stderr.splitlines() if "libgomp" in line or "No process" in line]
            way_out = "./main has GCC's runtime of OpenMP (libgomp), which announces nothing. LLVM's takes its place with LD_PRELOAD=libomp.so.5."
            nothing = "No process of the command announced a region."
            self.assertEqual(len(reasons), 1, done.stderr)
            self.assertIn(nothing if options[-1] in ("true", "--regions=nvtx") else way_out, reasons[0])

    def test_a_variable_of_another_tool_wins(self):
        for variable, value in ("OMP_TOOL_LIBRARIES", "/tool.so"), ("OMP_TOOL", "disabled"):
            done = self.run_command("run", "--regions=ompt", "--", "true", env=ENVIRONMENT | {variable: value})
            self.assertIn(f"ompt: not recorded, as {variable} is set already, to {value}.", done.stderr)


class Mpi(RuntimesTest):
    def check(self, library, *options):
        self.build(f"mpicc.{library}", MPI)
        launcher = shutil.which(f"mpirun.{library}")
        if not launcher:
            self.skipTest(f"mpirun.{library} is not installed")
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        calls, _ = self.record("mpi", launcher, *options, "-n", "2", "./main", environment=environment)
        self.assertEqual(
            dict(calls),
            {"mpi:process/MPI_Init": 2, "mpi:process/MPI_Finalize": 2, "mpi:collective/MPI_Allreduce": 200, "mpi:point-to-point/MPI_Sendrecv": 2},
        )
        self.assertEqual(self.labels, {"[gpu-tracker] rank: 0", "[gpu-tracker] rank: 1"})
        self.assertEqual(
            self.notes,
            [
                "mpi:collective/MPI_Allreduce: bytes 1600 in 200 calls (8 to 8, mean 8).",
                "mpi:point-to-point/MPI_Sendrecv: bytes 8 in 2 calls (4 to 4, mean 4).",
            ],
        )

    def test_a_program_without_it_has_a_line(self):
        done = self.run_command("run", "--regions=mpi", "--", "true", env=ENVIRONMENT)
        self.assertIn("mpi: no process of the command loaded an MPI library and called it.", done.stderr)
        self.assertNotIn("No process of the command announced", done.stderr)

    def test_open_mpi(self):
        self.check("openmpi", "--oversubscribe")

    def test_mpich(self):
        self.check("mpich")


class RocTX(RuntimesTest):
    def test_ranges_reach_us_and_the_library(self):
        (self.folder / "versions").write_text("ROCTX_4.1 {\nglobal: *;\n};\n")
        self.build("cc", ROCTX_LIBRARY, "-shared", "-fPIC", "-Wl,--version-script=versions", "-Wl,-soname,libroctx64.so.4", name="libroctx64.so.4")
        self.build("cc", ROCTX, "./libroctx64.so.4", "-Wl,-rpath,$ORIGIN")
        calls, printed = self.record("roctx", "./main")
        self.assertEqual(dict(calls), {"roctx:default/outer": 10, "roctx:default/inner": 10, "roctx:default/started": 1})
        self.assertEqual(printed.count("push "), 20)
        self.assertIn("start started\nstop 4711\n", printed)

    def test_a_peak_is_known_to_all_sources_of_a_process(self):
        """The kernel keeps one, which each library of ours reads and resets."""
        (self.folder / "train.py").write_text(ALLOCATES)
        done = self.run_command(
            *("run", "--regions=roctx,python:train.inner", "--region-exact=peak", "-f", "json", "-o", "report.json", "--", sys.executable, "train.py"), env=ENVIRONMENT
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        regions = json.loads((self.folder / "report.json").read_text())["regions"]
        blocks = {block["name"]: block["exact"]["block_peak_rss_rise"]["total"] for block in regions["code_blocks"]}
        self.assertEqual(set(blocks), {"roctx:default/outer", "python:train/inner"}, regions)
        for name, rise in blocks.items():
            self.assertGreater(rise, 90e6, name)

    def test_amds_own_header_and_library(self):
        """Debian 13: libroctx-dev."""
        self.build("cc", ROCTX_OF_AMD, "-lroctx64")
        calls, _ = self.record("roctx", "./main")
        self.assertEqual(dict(calls), {"roctx:default/outer": 10, "roctx:default/inner": 10, "roctx:default/started": 1})


if __name__ == "__main__":
    main()
