"""tools/gpu-check against a simulated GPU that the stand-ins of libcuda and NVML share: what its tests have in common."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import command

PROGRAMS = command.BUILD / "tools" / "gpu-check"
FAKE_TORCH = pathlib.Path(__file__).parents[1] / "fake-torch"
SCENARIO = "driver 580.1\ngpu GPU-simulated\nsimulated\n"
MEMORY = "Memory of processes"
SERVED = "GPU RAM of the program in Prometheus' text"


class GpuCheckTest(unittest.TestCase):
    MOSTLY_WAITS = True  # for programs that hold the GPU for seconds

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)

    def environment(self, scenario=SCENARIO, **more):
        path = f"{self.folder}/scenario.txt"
        with open(path, "w") as file:
            file.write(scenario)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA_", "GPU_CHECK_"))}
        return {
            **inherited,
            "GPUT_NVML": str(command.BUILD / "tests/fake-nvml/libfake-nvml.so"),
            "GPU_CHECK_CUDA": str(command.BUILD / "tests/fake-nvml/libfake-cuda.so"),
            "FAKE_CUDA_DEVICE": f"{self.folder}/nvidia0",
            "FAKE_NVML_SCENARIO": path,
            "FAKE_GPU_STATE": f"{self.folder}/state",
            "PYTHONPATH": str(command.BUILD / "python"),
            **more,
        }

    def command_line(self, *arguments, tracker=command.COMMAND):
        return [PROGRAMS / "gpu-check", "--tracker", tracker, "-o", f"{self.folder}/out", *arguments]

    def check(self, *arguments, scenario=SCENARIO, tracker=command.COMMAND, **more):
        return subprocess.run(self.command_line(*arguments, tracker=tracker), env=self.environment(scenario, **more),
                              capture_output=True, text=True, timeout=10 * command.PATIENCE)  # fmt: skip

    def table(self):
        with open(f"{self.folder}/out/gpu-check.json") as file:
            return json.load(file)["rows"]

    def rows(self):
        return {(row["trial"], row["figure"]): row for row in self.table()}

    def verdicts(self, verdict):
        return {row["figure"] for row in self.table() if row.get("verdict") == verdict}

    def assert_nothing_differs(self, done):
        """A sanitizer makes programs late, and figures with them: there its findings alone count."""
        if command.SANITIZED:
            log = (pathlib.Path(self.folder) / "out" / "log.txt").read_text()
            self.assertNotRegex(log + done.stderr, "Sanitizer|runtime error", self.explain(done))
            self.skipTest("a sanitizer makes figures late: they were not compared")
        self.assertEqual(self.verdicts("differs"), set(), self.explain(done))

    def explain(self, done):
        log = pathlib.Path(self.folder) / "out" / "log.txt"
        differing = [row for row in self.table() if row.get("verdict") == "differs"] if log.exists() else []
        return "\n".join([*map(str, differing), done.stderr, log.read_text()[-3000:] if log.exists() else ""])
