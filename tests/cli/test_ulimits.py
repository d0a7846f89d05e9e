"""The command runs under each limit and filter of system calls under which it runs alone, and inherits what it would alone."""

import ctypes
import platform
import resource
import signal
import struct
import subprocess
import sys

from command import COMMAND, NO_NOBODY, PATIENCE, SANITIZED, CommandTest, main, unittest

WORK = ["sh", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; exit 3"]
KILO = 1024

# Numbers of system calls, and errnos that filters give.
CALLS = {"x86_64": {"clone3": 435, "waitid": 247, "signalfd4": 289, "pidfd_open": 434, "pipe2": 293},
         "aarch64": {"clone3": 435, "waitid": 95, "signalfd4": 74, "pidfd_open": 434, "pipe2": 59}}.get(platform.machine())  # fmt: skip
EPERM, ENOSYS = 1, 38


def limit(*limits):
    return lambda: [resource.setrlimit(which, (value, value)) for which, value in limits]


def refuse(errno, *names):
    """In the child: these calls give that errno."""
    lines = [(0x20, 0, 0, 0)]
    for name in names:
        lines += [(0x15, 0, 1, CALLS[name]), (0x06, 0, 0, 0x00050000 | errno)]
    lines.append((0x06, 0, 0, 0x7FFF0000))

    def apply():
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
        program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")

    return apply


class Limits(CommandTest):
    def check(self, preparation, says=""):
        alone = subprocess.run(WORK, preexec_fn=preparation, capture_output=True, timeout=PATIENCE)
        if alone.returncode != 3:
            return
        done = self.run_command("run", "-q", "--", *WORK, preexec_fn=preparation)
        self.assertEqual(done.returncode, 3, done.stderr)
        if says == "":
            self.assertEqual(done.stderr, "")
        else:
            self.assertRegex(done.stderr, says)
            self.assertLessEqual(done.stderr.count("\n"), 2)

    @unittest.skipIf(SANITIZED, "a sanitizer needs much address space and stack")
    def test_stack_and_memory(self):
        for kilobytes in 32, 64, 512, 8_000_000:
            for space in 4_000_000, resource.RLIM_INFINITY // KILO:
                with self.subTest(stack=kilobytes, address_space=space):
                    space = min(space * KILO, resource.RLIM_INFINITY) if space > 0 else resource.RLIM_INFINITY
                    self.check(limit((resource.RLIMIT_STACK, kilobytes * KILO), (resource.RLIMIT_AS, space)))
        self.check(limit((resource.RLIMIT_STACK, resource.RLIM_INFINITY)))
        for kilobytes in 300, 1000, 3000, 10000:
            with self.subTest(data=kilobytes):
                self.check(limit((resource.RLIMIT_DATA, kilobytes * KILO)), "^$|sampling thread|untracked|memory|GPU")

    def test_files(self):
        for count in 3, 4, 6, 8, 12, 16, 24:
            with self.subTest(count=count):
                self.check(limit((resource.RLIMIT_NOFILE, count)), "^$|The command runs untracked: |No more files")

    def test_what_is_not_needed(self):
        for which in "RLIMIT_FSIZE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_SIGPENDING", "RLIMIT_CORE", "RLIMIT_NICE", "RLIMIT_RTPRIO":
            with self.subTest(which=which):
                self.check(limit((getattr(resource, which), 0)))

    @unittest.skipIf(SANITIZED, "a sanitizer starts a thread")
    def test_processes(self):
        """Of an ordinary user: root has no such limit."""
        self.open_to_nobody()
        done = {}
        work = ["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 3"]  # still there when the thread is started
        for count in range(1, 7):
            run = ["setpriv", "--reuid", "64321", "--regid", "64321", "--clear-groups", "prlimit", f"--nproc={count}"]
            alone = subprocess.run([*run, *work], cwd="/", capture_output=True, text=True, timeout=PATIENCE)
            if alone.returncode != 3:
                continue
            done[count] = subprocess.run([*run, COMMAND, "run", "-q", "--", *work], cwd="/", capture_output=True, text=True, timeout=PATIENCE)
            if "ermission denied" in done[count].stderr:
                self.skipTest("the build lies where others cannot go")
            self.assertEqual(done[count].returncode, 3, done[count].stderr)
        self.assertIn("The command runs untracked: Cannot start sh: ", done[1].stderr)
        self.assertEqual(sum("Cannot start the sampling thread: " in one.stderr for one in done.values()) > 0, True)

    def test_limits_that_are_to_be_enforced_are_not_given_up(self):
        done = self.run_command(
            "run", "--limit", "ram=1GB", "--enforce", "--", *WORK, preexec_fn=limit((resource.RLIMIT_NOFILE, 6)))  # fmt: skip
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("ulimit -n", done.stderr)


@unittest.skipIf(CALLS is None, "numbers of system calls are known of x86-64 and aarch64")
class Filters(CommandTest):
    def test_refused_calls(self):
        for errno in EPERM, ENOSYS:
            for names in ["waitid"], ["waitid", "pidfd_open"], ["pidfd_open"], ["clone3"], ["signalfd4"], ["pipe2"]:
                with self.subTest(errno=errno, names=names):
                    done = self.run_command("run", "-q", "--", *WORK, preexec_fn=refuse(errno, *names))
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertLessEqual(done.stderr.count("\n"), 2)


class IgnoredSignals(CommandTest):
    def run_ignoring(self, *command):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        return subprocess.run(command, preexec_fn=ignore, capture_output=True, text=True, timeout=PATIENCE)

    def test_sigchld(self):
        show = ["grep", "SigIgn", "/proc/self/status"]
        alone, tracked = self.run_ignoring(*show), self.run_ignoring(COMMAND, "run", "-q", "--", *show)
        self.assertEqual(tracked.stdout, alone.stdout)
        self.assertTrue(int(tracked.stdout.split()[1], 16) & 1 << signal.SIGCHLD - 1)
        self.assertEqual(self.run_ignoring(COMMAND, "run", "-q", "--", "sh", "-c", "exit 7").returncode, 7)
        done = self.run_command("run", "-q", "--", *show)
        self.assertFalse(int(done.stdout.split()[1], 16) & 1 << signal.SIGCHLD - 1)


if __name__ == "__main__":
    main()
