"""The command works where the kernel has no system call that is newer than Linux 3.10."""

import ctypes
import json
import os
import pathlib
import platform
import struct
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["GPUT_COMMAND"]
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

# The last system call of Linux 3.10: finit_module.
LAST = {"x86_64": 313, "aarch64": 273}.get(platform.machine())
ENOSYS = 38
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def forget_newer_calls():
    """In the child: each newer call answers ENOSYS."""
    load_number, is_above, give = 0x20, 0x25, 0x06
    lines = [(load_number, 0, 0, 0), (is_above, 0, 1, LAST), (give, 0, 0, 0x00050000 | ENOSYS), (give, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


@unittest.skipIf(LAST is None, "numbers of system calls are known of x86-64 and aarch64")
class OldKernel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *words):
        done = subprocess.run(
            [COMMAND, *words], cwd=self.folder, capture_output=True, text=True, timeout=60, preexec_fn=forget_newer_calls)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_newer_calls_are_not_there(self):
        code = "import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.syscall(434, 1, 0), ctypes.get_errno())"  # pidfd_open
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=forget_newer_calls)
        self.assertEqual(done.stdout.split(), ["-1", str(ENOSYS)])

    def test_a_command_is_tracked(self):
        self.run_command("run", "--processes", "--st", "0.02", "--tf", "run.csv", "-o", "run.json", "--", "sh", "-c", "sleep 0.2; true")
        report = json.loads((self.folder / "run.json").read_text())
        self.assertEqual(report["identity"]["exit_status"], 0)
        self.assertGreater(report["peaks"]["combined"], 0)
        self.assertGreater(report["accounting"]["cpu_seconds"]["kernel"], 0)
        self.run_command("run", "--phase-token", "x=phase", "--stf", "phases.csv", "--st", "0.02", "--", "sh", "-c", "echo phase; sleep 0.1")
        self.run_command("job", "run.json")
        self.run_command("doctor")

    def test_a_limit_ends_a_command(self):
        done = subprocess.run(
            [COMMAND, "run", "--limit", "time=0.2s", "--enforce", "--st", "0.02", "--", "sleep", "1000"],
            cwd=self.folder, capture_output=True, text=True, timeout=60, preexec_fn=forget_newer_calls)  # fmt: skip
        self.assertNotEqual(done.returncode, 0)

    def test_a_process_is_tracked(self):
        rows = self.folder / "rows.csv"
        end_it = f"until [ -e {rows} ] && [ $(wc -l <{rows}) -gt 5 ] || ! [ -d {self.folder} ]; do sleep 0.05; done"
        with subprocess.Popen(["sh", "-c", end_it]) as process:
            self.run_command("attach", str(process.pid), "--st", "0.02", "--tf", "rows.csv", "-f", "json", "-o", "track.json")
        self.assertGreater(json.loads((self.folder / "track.json").read_text())["peaks"]["main"], 0)


if __name__ == "__main__":
    tap.main()
