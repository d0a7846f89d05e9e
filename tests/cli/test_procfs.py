"""A procfs of another pid namespace, where processes have other numbers than here."""

import json
import os
import subprocess
import unittest

from command import COMMAND, PATIENCE, CommandTest, main, refusal, wait_until

CONSUMER = os.environ["GPUT_CONSUMER"]
INSIDE = ["unshare", "--pid", "--fork"]  # without a procfs of its own
NO_NAMESPACE = refusal(*INSIDE, "true")
NO_PROCFS = refusal(*INSIDE, "--mount-proc", "true")  # as where / is no mount point
REFUSAL = ("There is no procfs of this pid namespace at /proc: pids differ there. Mount one (mount -t proc "
           "proc /proc, unshare --mount-proc), or name another folder in GPUT_PROCFS.")


class ForeignProcfs(CommandTest):
    def setUp(self):
        super().setUp()
        if NO_NAMESPACE:
            self.skipTest(f"cannot make a pid namespace: {NO_NAMESPACE}")

    def run_inside(self, *arguments, procfs=None, more=()):
        environment = {name: value for name, value in os.environ.items() if name != "GPUT_PROCFS"}
        if procfs:
            environment["GPUT_PROCFS"] = procfs
        return subprocess.run([*INSIDE, *more, COMMAND, *map(str, arguments)], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=PATIENCE)

    def start_outside(self, *work):
        process = subprocess.Popen([CONSUMER, *work], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.processes.append(process)
        return process

    def test_a_command_is_not_started_where_another_would_be_tracked(self):
        for procfs in None, "/proc":
            done = self.run_inside("run", "--disable-logs", "--", "touch", "started", procfs=procfs)
            self.assert_fails(done, 125, REFUSAL)
        self.assert_folder_is()

    @unittest.skipIf(NO_PROCFS, f"cannot mount a procfs: {NO_PROCFS}")
    def test_a_procfs_of_its_own_is_all_it_needs(self):
        done = self.run_inside("run", "-o", "report", "--", "echo", "said", more=["--mount-proc"])
        self.assertEqual((done.returncode, done.stdout), (0, "said\n"), done.stderr)
        self.assert_is_report((self.folder / "report").read_text())

    def test_attach_is_refused_where_it_is_unknown_whose_number_it_is(self):
        process = self.start_outside("sleep", str(PATIENCE))
        self.assert_fails(self.run_inside("attach", "--disable-logs", "--for", "0.1", process.pid), 1, REFUSAL)

    def test_attach_takes_a_number_of_the_procfs_that_was_named(self):
        process = self.start_outside("alloc", "50", "ready", "await", "0")
        process.stdout.read(1)
        done = self.run_inside("attach", "--ru=bytes", "-f", "json", "--disable-logs", "--for", "0.2", process.pid, procfs="/proc")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["max_ram"]["main"]["total_rss"], 50e6)
        self.assertIsNone(process.poll())

    def test_attach_ends_when_that_process_does(self):
        process = self.start_outside("sleep", str(PATIENCE))
        tracker = subprocess.Popen(
            [*INSIDE, COMMAND, "attach", "--tf", "rows.csv", "--st=0.05", "-f", "json", "--disable-logs", str(process.pid)],
            cwd=self.folder, env=os.environ | {"GPUT_PROCFS": "/proc"}, stdout=subprocess.PIPE, text=True)
        self.processes.append(tracker)
        rows = self.folder / "rows.csv"
        wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 3, "rows")
        process.kill()
        process.wait()
        report = json.loads(tracker.communicate(timeout=PATIENCE)[0])
        self.assertEqual(tracker.returncode, 0)
        self.assertGreater(report["max_ram"]["main"]["total_rss"], 0)

    def test_nothing_is_ended_by_a_number_of_others(self):
        """The number of the process to end is, inside, that of an innocent one."""
        process = self.start_outside("sleep", str(PATIENCE))
        script = """
            echo $(($2 - 1)) > /proc/sys/kernel/ns_last_pid
            sleep 60 & echo $!
            "$1" attach --disable-logs --limit seconds=0.05 --enforce --for 0.3 "$2"; echo $?
            kill -0 $! && echo alive
            kill $!
        """
        done = subprocess.run([*INSIDE, "sh", "-c", script, "sh", COMMAND, str(process.pid)], cwd=self.folder,
                              env=os.environ | {"GPUT_PROCFS": "/proc"}, capture_output=True, text=True, timeout=PATIENCE)
        number, status, alive = done.stdout.split()
        if int(number) != process.pid:
            self.skipTest("numbers of processes cannot be chosen here")
        self.assertEqual((status, alive), ("1", "alive"))
        self.assertIn("Processes of /proc cannot be killed for a limit: their pids belong to another pid namespace", done.stderr)
        self.assertIsNone(process.poll())

    def test_doctor_says_so(self):
        done = self.run_inside("doctor", "-f", "json", procfs="/proc")
        clocks = json.loads(done.stdout)["sources"]["cpu_clocks"]
        self.assertEqual(clocks["state"], "unavailable")
        self.assertIn("no command can be tracked with it", clocks["reason"])


if __name__ == "__main__":
    main()
