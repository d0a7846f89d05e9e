"""Metrics in a folder of node_exporter's textfile collector."""

import json
import os
import re
import shutil
import signal
import subprocess

from command import COMMAND, PATIENCE, main, python, refusal, wait_until
from push_test import BRIEF, PushTest, session_name


class Textfile(PushTest):
    """Many sessions in one folder of node_exporter's textfile collector."""

    def setUp(self):
        super().setUp()
        self.metrics = self.folder / "metrics"
        self.metrics.mkdir()

    def track_there(self, *options, status=0, command=BRIEF):
        return self.track("--textfile", self.metrics, *options, command=command, status=status)

    def page(self):
        """What the collector makes of all files."""
        return "".join(path.read_text() for path in sorted(self.metrics.glob("*.prom")))

    def test_sessions_share_a_folder(self):
        sessions = []
        for options in [], ["--label", "team=a"]:
            self.assertEqual(self.track_there(*options), "")
            identity = self.results["identity"]
            sessions.append(session_name(identity))
        self.assertEqual({path.name for path in self.metrics.iterdir()}, {f"gpu-tracker-{re.sub('[:@]', '-', session)}.prom" for session in sessions})
        samples = [line.split()[0] for line in self.page().splitlines() if not line.startswith("#")]
        self.assertEqual(len(samples), len(set(samples)), "two of the same metric")
        for session in sessions:
            self.assertTrue(any(sample.startswith("gputracker_combined_memory_bytes{") and f'session="{session}"' in sample for sample in samples))
        for sample in samples:
            self.assertIn('session="', sample)
            self.assertRegex(sample, "^gputracker_(?!system_|gpu_info)")
        self.assertIn('team="a"', self.page())
        self.assertEqual({path.stat().st_mode & 0o444 for path in self.metrics.iterdir()}, {0o444})  # the collector is another user

    def test_sessions_of_one_host_and_pid_have_files_of_their_own(self):
        """Two containers with the host's name, in both of which the command has pid 2; and a file that is named by it."""
        inside = ["unshare", "-pf", "--mount-proc"]
        if reason := refusal(*inside, "true"):
            self.skipTest(f"no pid namespace can be made: {reason}")
        run = [COMMAND, "run", "-q", "--st", "0.05", "--textfile", self.metrics, "-o", "usage.%p.json", "--", "cat"]
        at_once = [subprocess.Popen([*inside, *run], cwd=self.folder, env=self.environment(), stdin=subprocess.PIPE) for _ in range(2)]
        for tracker in at_once:
            tracker.communicate(timeout=PATIENCE)
            self.assertEqual(tracker.returncode, 0)
        pages = [path.read_text() for path in self.metrics.glob("*.prom")]
        sessions = {re.search('session="([^"]*)"', page)[1] for page in pages}
        self.assertEqual((len(pages), len(sessions)), (2, 2))
        reports = [json.loads(path.read_text())["identity"] for path in self.folder.glob("usage.1*.json")]
        self.assertEqual(len(reports), 2)
        self.assertEqual({f"{identity['host']}:{identity['pid']}@{identity['start']}" for identity in reports}, sessions)

    def test_figures_of_the_end_stay_and_go_with_the_next_but_one(self):
        self.track_there(command=python("bytearray(10**8)"))
        [path] = self.metrics.iterdir()
        self.assertIn("gputracker_elapsed_seconds_total{", path.read_text())
        others = self.metrics / "gpu-tracker.prom", self.metrics / "gpu-tracker-notes.txt"
        for old in path, *others:
            old.touch()
            os.utime(old, (0, 0))
        self.track_there()
        self.assertFalse(path.exists())
        for other in others:
            self.assertTrue(other.exists())

    def test_a_running_session_has_its_file(self):
        running = self.start_command("run", "--textfile", self.metrics, "-q", "--", "sh", "-c", "echo $$; exec sleep 1000", env=self.environment())
        command = int(running.stdout.readline())
        wait_until(lambda: list(self.metrics.glob("*.prom")), "the file")
        running.kill()
        running.wait()
        os.kill(command, signal.SIGKILL)
        self.assertIn("gputracker_combined_memory_bytes{", self.page())

    def test_folders_that_cannot_be(self):
        (self.folder / "tx").write_text("")
        for place, reason in ("tx", "Not a directory"), ("tx/a.prom", "Not a directory"), ("none/a.prom", "No such file or directory"):
            said = subprocess.run([COMMAND, "run", "--textfile", place, "--", "touch", "ran"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(said.returncode, 125)
            self.assertRegex(said.stderr, f"^gpu-tracker: --textfile needs a folder that exists, .* there: {place}: {reason}.\n$")
        self.assertFalse((self.folder / "ran").exists())

    def test_a_folder_that_goes_costs_its_metrics_alone(self):
        said = self.track_there(command=["sh", "-c", f"sleep 0.3; rm -r {self.metrics}; exit 3"], status=3)
        self.assertIn("Metrics are not in that folder; tracking goes on.", said)

    def test_promtool_takes_it(self):
        if not shutil.which("promtool"):
            self.skipTest("needs promtool")
        self.track_there()
        done = subprocess.run(["promtool", "check", "metrics"], input=self.page(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
