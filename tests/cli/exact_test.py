"""Runs of the consumer, of which is known what it uses, and their reports."""

import json
import os
import subprocess
import threading

from command import AS_NOBODY, COMMAND, CommandTest, wait_until

CONSUMER = os.environ["GPUT_CONSUMER"]


class ExactTest(CommandTest):
    def track(self, *words, options=(), command=None, **process_options):
        """The report of a run of the consumer with these words."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        done = self.run_command("run", "--disable-logs", "--ru", "bytes", "--st", "5", "-f", "json", "-o", report,
                                *options, "--", *(command or [CONSUMER, *map(str, words)]), **process_options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.read(report)

    def read(self, path):
        report = json.loads(path.read_text())
        self.assert_agrees(report)
        return report

    def track_without_rights(self, *words, options=(), **process_options):
        """The same as a user to whom the kernel sends no exit records, and who may make no control groups."""
        if os.geteuid() != 0:
            return self.track(*words, options=options, **process_options)
        self.open_to_nobody(COMMAND, CONSUMER)
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        subprocess.run([*AS_NOBODY, "./gpu-tracker", "run", "--disable-logs", "--ru", "bytes", "--st", "5", "-f", "json",
                        "-o", report, *options, "--", "./consumer", *map(str, words)],
                       **{"cwd": self.folder, "capture_output": True, "check": True} | process_options)
        return self.read(report)

    def track_while(self, track, count, hold, *words, **options):
        """The report of a command of which so many processes are ready, and go on when hold() has returned."""
        (ready, is_ready), (held, release) = os.pipe(), os.pipe()

        def wait_and_release():
            left = count
            while left > 0 and (dots := os.read(ready, left)):
                left -= len(dots)
            hold()
            os.close(release)

        thread = threading.Thread(target=wait_and_release)
        thread.start()
        try:
            return track(*words, stdin=held, stdout=is_ready, capture_output=False, **options)
        finally:
            for pipe in held, is_ready:
                os.close(pipe)
            thread.join()
            os.close(ready)

    def await_rows(self, path, count):
        """Waits for so many more rows of a tracking file in CSV, of which one may have been begun before."""
        rows = lambda: path.read_text().count("\n") if path.exists() else 3
        wanted = rows() + count + 1
        wait_until(lambda: rows() >= wanted, "rows")

    def knows_ends(self, report):
        return report["sources"]["process_ends"]["state"] != "unavailable"

    def announced(self, report):
        return report["sources"]["processes"]["state"] == "exact"

    def attach(self, words):
        """The report of a process that does this once it is tracked. `READY` waits for the word ready of another process of it."""
        ready, is_ready = os.pipe()
        words = ["await", "0", *words.replace("READY", f"await {ready}").split()]
        actor = subprocess.Popen([CONSUMER, *words], stdin=subprocess.PIPE, stdout=is_ready, pass_fds=[ready])
        self.processes.append(actor)
        for end in ready, is_ready:
            os.close(end)
        report, rows = self.folder / "report.json", self.folder / "rows.csv"
        tracker = self.start_command("attach", "--disable-logs", "--st", "0.1", "--tf", rows, "--ru", "bytes", "-f", "json", "-o", report, actor.pid)
        wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 3, "a row")
        actor.stdin.close()
        _, said = self.finish(tracker)
        self.assertEqual(tracker.returncode, 0, said)
        return self.read(report)
