"""tools/gpu-check where something hangs, differs or is missing: the table is there in any case."""

import os
import pathlib
import signal
import subprocess

import command
from simulated_gpu import PROGRAMS, SCENARIO, SERVED, GpuCheckTest

NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
NO_NAMESPACE = command.refusal(*NAMESPACE, "true")


class Faults(GpuCheckTest):
    """What hangs or differs costs its own rows; the table is there in any case."""

    def test_says_what_differs(self):
        # A driver that lists twice the processes' memory: what a context takes does not add up any more.
        done = self.check("front-ends", scenario=SCENARIO + "list_factor 2\n")
        self.assertEqual(done.returncode, 1, self.explain(done))
        self.assertEqual(self.rows()["Front ends", SERVED]["verdict"], "differs")
        self.assertIn("gpu-check: differs: " + SERVED, done.stderr)

    def test_a_program_that_hangs_is_ended(self):
        tracker = pathlib.Path(self.folder) / "tracker"
        tracker.write_text(f'#!/bin/sh\n[ "$1" = run ] || exec "{command.COMMAND}" "$@"\n'
                           f'echo $$ >>"{self.folder}/pids"\ntrap "" TERM\nwhile :; do sleep 1; done\n')  # fmt: skip
        tracker.chmod(0o755)
        smi = pathlib.Path(self.folder) / "bin" / "nvidia-smi"
        smi.parent.mkdir()
        smi.write_text("#!/bin/sh\nexec sleep 600\n")
        smi.chmod(0o755)
        done = self.check("--patience", "5", "front-ends", tracker=str(tracker), PATH=f"{smi.parent}:{os.environ['PATH']}")
        rows = self.rows()
        self.assertIn("was ended", rows["Preparation", "nvidia-smi -q"]["note"])
        self.assertEqual(done.returncode, 1, self.explain(done))
        self.assertEqual(rows["Front ends", "doctor names the driver"]["verdict"], "agrees")
        note = rows["Front ends", "in a pid namespace: right, or missing with a reason"]["note"]
        self.assertIn("was ended" if not NO_NAMESPACE else "no pid namespace can be made here", note)
        for pid in pathlib.Path(self.folder, "pids").read_text().split():
            self.assertFalse(self.is_ours(pid), pid)

    def test_a_call_of_the_driver_that_hangs_ends_the_check(self):
        done = self.check("--patience", "5", "driver", scenario="delay_ms nvmlDeviceGetFieldValues 3600000\n" + SCENARIO)
        self.assertEqual(done.returncode, 1, self.explain(done))
        self.assertIn("did not return", self.table()[-1]["note"])
        self.assertIn("did not return", pathlib.Path(self.folder, "out", "gpu-check.md").read_text())

    def test_what_was_found_is_kept_when_it_is_interrupted(self):
        environment = self.environment()
        with subprocess.Popen(self.command_line("memory"), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as check:
            path = pathlib.Path(self.folder) / "out" / "gpu-check.json"
            command.wait_until(lambda: path.exists() and "a context alone" in path.read_text(), "a row of a trial")
            check.send_signal(signal.SIGTERM)
            check.communicate(timeout=command.PATIENCE)
        self.assertEqual(check.returncode, 128 + signal.SIGTERM)
        self.assertEqual(self.table()[-1]["note"], "it was interrupted")
        command.wait_until(lambda: not self.running(), "the end of what it had started")

    def is_ours(self, pid):
        try:
            return f"FAKE_GPU_STATE={self.folder}/state\0".encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False

    def running(self):
        return [pid for pid in os.listdir("/proc") if pid.isdigit() and self.is_ours(pid)]

    def test_needs_a_gpu(self):
        environment = self.environment(GPUT_NVML=f"{self.folder}/none.so")
        done = subprocess.run([PROGRAMS / "gpu-check"], env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("no NVIDIA GPU here", done.stderr)

    def test_needs_the_gpu_that_is_named(self):
        done = self.check("preparation", GPU_CHECK_GPU="7")
        self.assertEqual(done.returncode, 3)
        self.assertIn("GPU_CHECK_GPU", done.stderr)

    def test_reads_lists_of_every_driver(self):
        for variant in "v1", "v2", "r535":
            with self.subTest(variant):
                library = str(command.BUILD / f"tests/fake-nvml/libfake-nvml-{variant}.so")
                done = self.check("front-ends", GPUT_NVML=library)
                self.assert_nothing_differs(done)
                self.assertIn("the driver lists our processes", self.verdicts("agrees"))

    def test_refuses_a_trial_that_does_not_exist(self):
        done = self.check("memori")
        self.assertEqual(done.returncode, 2)
        self.assertIn("memory, peaks, use, driver, card or front-ends", done.stderr)

    def test_load_refuses_wrong_steps(self):
        for steps in ["hold"], ["hold", "x"], ["fly"], ["release"], ["children", "2", "wait", "1"]:
            done = subprocess.run([PROGRAMS / "gpu-load", *steps], env=self.environment(), capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, steps)


if __name__ == "__main__":
    command.main()
