"""Few descriptors: what cannot be read is said, and no command that was started is left alone."""

import json
import os
import resource

from command import CommandTest, main, python

CONSUMER = os.environ["GPUT_CONSUMER"]
CHILDREN = 40
# All children live at once until the tracker has read files of them several times, however slow it is; one that cannot open them reads few.
WORK = f"""
import os, subprocess, sys, time
def reads():
    try:
        return int(open("/proc/%d/io" % os.getppid()).read().split("syscr: ")[1].split()[0])
    except (OSError, IndexError):  # not every kernel counts them
        return None
open("started", "w").close()
children = {CHILDREN} * "child [ alloc 2 ready await 0 ] ".split()
with subprocess.Popen([{CONSUMER!r}, *children, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
    process.stdout.read({CHILDREN})
    begin, end = reads(), time.monotonic() + 5
    time.sleep(1)
    while begin is not None and reads() < begin + 5 * {CHILDREN} and time.monotonic() < end:
        time.sleep(0.05)
    process.stdin.close()
sys.exit(7)
"""


class FewDescriptors(CommandTest):
    def run_with(self, count, *arguments):
        return self.run_command(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))

    def test_figures_are_whole_or_said_not_to_be(self):
        for count in (12, 14, 15, 16, 17, 18, 20, 24, 32):
            with self.subTest(count=count):
                done = self.run_with(count, "run", "--st=0.1", "--ru=megabytes", "-f", "json", "-o", "-", "--", *python(WORK))
                started = self.folder / "started"
                if not started.exists():
                    self.fail(f"the command did not run: {done.stderr}")
                if "The command runs untracked: " in done.stderr:
                    started.unlink()
                    self.assertEqual((done.returncode, done.stdout), (7, ""))
                    self.assertRegex(done.stderr, "more open files, .*\\(ulimit -n\\)|Too many open files")
                    self.assertLess(count, 24)
                    continue
                started.unlink()
                self.assertEqual(done.returncode, 7, done.stderr)
                report = json.loads(done.stdout)
                if "descriptors" in report["sources"]:
                    self.assertIn("No more files can be opened (ulimit -n)", done.stderr)
                    bounds = [report["peaks"][f"{who}_at_most"] for who in ("main", "descendants", "combined")]
                    self.assertEqual(bounds, [None] * 3)
                    exact = [name for name, source in report["sources"].items() if source["state"] == "exact"]
                    self.assertEqual([name for name in exact if name in ("kernel_cpu_time", "counts", "processes")], [])
                else:
                    self.assertGreaterEqual(report["cpu_utilization"]["combined_n_threads"], CHILDREN + 1)
                    self.assertGreater(report["max_ram"]["combined"]["private_rss"], 2 * CHILDREN)
                if count >= 24:
                    self.assertNotIn("descriptors", report["sources"])

    def test_a_process_that_is_attached_to(self):
        for count in 12, 16, 24:
            done = self.run_with(count, "attach", "--for", "0.2", "-f", "json", os.getpid())
            if done.returncode == 0:
                self.assertGreater(json.loads(done.stdout)["max_ram"]["main"]["total_rss"], 0)
            else:
                self.assertRegex(done.stderr, "ulimit -n|Too many open files")
            self.assertTrue(done.returncode == 0 or count < 24, done.stderr)


if __name__ == "__main__":
    main()
