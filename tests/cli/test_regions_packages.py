"""Regions of real programs: packages of PyPI for NVTX and ITT, which are fetched when this runs, and PyTorch where it is installed."""

import collections
import contextlib
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from command import BUILD, PATIENCE, CommandTest, main, refusal

COLLECTORS = BUILD / "collectors"
HAS_COLLECTORS = (COLLECTORS / "libgputracker-nvtx.so").exists()
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("NVTX_", "INTEL_", "GPUT_REGION", "OMP_", "PYTHON"))}

NVTX = """
import nvtx, threading, time
begun = time.perf_counter()
for i in range(3):
    with nvtx.annotate("step", domain="train", category="phase", payload=i):
        with nvtx.annotate("forward", domain="train"):
            time.sleep(0.01)
@nvtx.annotate()
def function():
    pass
function()
nvtx.push_range("pushed")
nvtx.pop_range()
crossing = nvtx.start_range("crossing", domain="other")
thread = threading.Thread(target=nvtx.end_range, args=(crossing,))
thread.start()
thread.join()
domain = nvtx.get_domain("prepared")
event = domain.get_event_attributes(message="made")
for i in range(1000):
    domain.push_range(event)
    domain.pop_range()
nvtx.mark("moment")
print(time.perf_counter() - begun)
"""

ITT = """
import ittapi, threading
for i in range(3):
    with ittapi.task("outer", domain="mine"):
        with ittapi.task("inner", domain="mine"):
            pass
with ittapi.task("overlapped", overlapped=True):
    pass
with ittapi.event("happening"):
    pass
def work():
    for i in range(100):
        with ittapi.task("threaded"):
            pass
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

C = """
#include <nvtx3/nvToolsExt.h>
#include <wchar.h>
int main(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
    nvtxEventAttributes_t event = {0};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    for (int i = 0; i < 1000; i++) {
        nvtxRangePushA("plain");
        nvtxDomainRangePushEx(domain, &event);
        nvtxDomainRangePop(domain);
        nvtxRangePop();
    }
    nvtxRangePushW(L"wide \\u00e9");
    nvtxRangePop();
    nvtxRangeEnd(nvtxRangeStartA("started"));
    event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    event.message.unicode = L"attribute";
    nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &event));
    nvtxMarkA("mark");
    return 0;
}
"""


def pip_for(folder):
    """The command that makes an environment there, and the pip that installs into it. A pip of its own takes longer to make than
    all the rest; pip knows --python from 22.3 on."""
    interpreter = folder / "bin" / "python"
    with contextlib.suppress(ImportError):
        import pip

        if tuple(map(int, pip.__version__.split(".")[:2])) >= (22, 3):
            return [sys.executable, "-m", "venv", "--without-pip", folder], [sys.executable, "-m", "pip", "--python", interpreter]
    return [sys.executable, "-m", "venv", folder], [interpreter, "-m", "pip"]


def packages():
    """A Python with the packages and a folder of headers; or why there is none."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gpu-tracker-test-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    interpreter = folder / "bin" / "python"
    make, pip = pip_for(folder)
    for command in (
        make,
        [*pip, "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:", "nvtx", "ittapi", "nvidia-nvtx"],
    ):
        try:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=4 * PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, None, str(error)
        if done.returncode:
            return None, None, "packages cannot be had: " + (done.stderr.strip().splitlines() or ["?"])[-1]
    headers = next(folder.glob("lib/python*/site-packages/nvidia/**/nvtx3"), None)
    return str(interpreter), headers.parent if headers else None, ""


class RealTest(CommandTest):
    def setUp(self):
        if not HAS_COLLECTORS:
            self.skipTest("this build has no collectors")
        super().setUp()

    def record(self, source, *command):
        """The calls by name, with their seconds, and what the command printed."""
        done = self.run_command("run", f"--regions={source}", "-q", "--region-file", "marks.csv", "--", *command, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        calls, opened = collections.defaultdict(list), collections.defaultdict(list)
        with open(self.folder / "marks.csv", newline="") as file:
            for row in csv.DictReader(file):
                name = row["code_block_name"]
                if name.startswith("[gpu-tracker] "):  # a label
                    continue
                if row["position"] == "0":
                    opened[name].append(float(row["timestamp"]))
                else:
                    calls[name].append(float(row["timestamp"]) - opened[name].pop())
        self.assertEqual([name for name, left in opened.items() if left], [])
        return calls, done.stdout

    def counts(self, calls):
        return {name: len(seconds) for name, seconds in calls.items()}


class PackagesTest(RealTest):
    @classmethod
    def setUpClass(cls):
        """Each test or class runs in a fork (tap.py): only what a class makes is made once."""
        super().setUpClass()
        if not HAS_COLLECTORS:
            return
        cls.interpreter, cls.headers, why = packages()
        if why:
            raise unittest.SkipTest(why)

    def test_nvtx_for_python(self):
        calls, printed = self.record("nvtx", self.interpreter, "-c", NVTX)
        self.assertEqual(
            self.counts(calls),
            {"nvtx:train/step [phase]": 3, "nvtx:train/forward": 3, "nvtx:default/function": 1, "nvtx:default/pushed": 1}
            | {"nvtx:other/crossing": 1, "nvtx:prepared/made": 1000},
        )
        for inner, outer in zip(calls["nvtx:train/forward"], calls["nvtx:train/step [phase]"]):
            self.assertGreaterEqual(inner, 0.0099)
            self.assertGreaterEqual(outer, inner)
        self.assertLess(sum(calls["nvtx:train/step [phase]"]), float(printed))

    def test_ittapi_for_python(self):
        calls, _ = self.record("itt", self.interpreter, "-c", ITT)
        self.assertEqual(
            self.counts(calls),
            {"itt:mine/outer": 3, "itt:mine/inner": 3, "itt:ittapi/overlapped": 1, "itt:event/happening": 1, "itt:ittapi/threaded": 400},
        )

    def test_a_c_program_with_the_headers_of_nvtx(self):
        compiler = shutil.which("cc")
        if not compiler or not self.headers:
            self.skipTest("there is no compiler" if self.headers else "the package has no headers")
        (self.folder / "main.c").write_text(C)
        subprocess.run([compiler, "main.c", "-I", self.headers, "-ldl", "-lpthread", "-o", "main"], cwd=self.folder, check=True)
        calls, _ = self.record("nvtx", "./main")
        self.assertEqual(
            self.counts(calls),
            {"nvtx:default/plain": 1000, "nvtx:library/registered": 1000, "nvtx:default/wide \u00e9": 1}
            | {"nvtx:default/started": 1, "nvtx:library/attribute": 1},
        )


TORCH_ITT = """
import time, torch
begun = time.perf_counter()
with torch.autograd.profiler.emit_itt():
    for i in range(3):
        torch.profiler.itt.range_push("step")
        torch.mm(torch.ones(8, 8), torch.ones(8, 8))
        time.sleep(0.01)
        torch.profiler.itt.range_pop()
print(time.perf_counter() - begun)
"""

TORCH_NVTX = """
import time, torch
begun = time.perf_counter()
for i in range(3):
    with torch.cuda.nvtx.range("step {}", i):
        torch.cuda.nvtx.range_push("forward")
        time.sleep(0.01)
        torch.cuda.nvtx.range_pop()
crossing = torch.cuda.nvtx.range_start("crossing")
torch.cuda.nvtx.range_end(crossing)
torch.cuda.nvtx.mark("moment")
print(time.perf_counter() - begun)
"""


class PyTorch(RealTest):
    """Skipped where there is no PyTorch; GPUT_TEST_TORCH_PYTHON names an interpreter that has it."""

    def setUp(self):
        super().setUp()
        self.interpreter = os.environ.get("GPUT_TEST_TORCH_PYTHON") or sys.executable

    def skip_unless(self, code):
        if why := refusal(self.interpreter, "-c", code):
            self.skipTest(f"PyTorch has none: {why}")

    def test_operators_and_ranges_by_itt(self):
        self.skip_unless("import torch; assert torch.profiler.itt.is_available()")
        calls, printed = self.record("itt", self.interpreter, "-c", TORCH_ITT)
        steps, products = calls["itt:PyTorch/step"], calls["itt:PyTorch/aten::mm"]
        self.assertEqual((len(steps), len(products), len(calls["itt:PyTorch/aten::ones"])), (3, 3, 6))
        for step, product in zip(steps, products):
            self.assertGreaterEqual(step, product + 0.0099)
        self.assertLess(sum(steps), float(printed))

    def test_ranges_by_nvtx_without_a_gpu(self):
        self.skip_unless("import torch; torch.cuda.nvtx.range_push('x')")  # builds for the CPU refuse
        calls, printed = self.record("nvtx", self.interpreter, "-c", TORCH_NVTX)
        names = ["crossing", "forward", "step 0", "step 1", "step 2"]
        self.assertEqual(self.counts(calls), {f"nvtx:default/{name}": 3 if name == "forward" else 1 for name in names})
        self.assertGreaterEqual(min(calls["nvtx:default/forward"]), 0.0099)
        self.assertGreaterEqual(sum(sum(calls[f"nvtx:default/step {i}"]) for i in range(3)), sum(calls["nvtx:default/forward"]))
        self.assertLess(sum(calls["nvtx:default/forward"]), float(printed))


if __name__ == "__main__":
    main()
