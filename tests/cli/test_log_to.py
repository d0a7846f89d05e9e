"""run --log-to: through the Python package, into a stand-in of a tracker's package; tests/python/test_log_to.py has the packages themselves."""

import json
import os
import signal
import time

from command import CommandTest, PATIENCE, main, needs_package, python, use_package

use_package()
STAND_IN = """
import json, os, time
class SummaryWriter:
    def __init__(self, folder):
        self.lines = [["folder", folder]]
    def add_scalar(self, *words):
        self.lines.append(words)
    add_text = add_scalar
    def flush(self):
        with open("flushed.json", "w") as file:
            json.dump(self.lines, file)
        os.rename("flushed.json", "so-far.json")
    def close(self):
        if os.environ.get("SLOW"):
            open("began", "w").close()
            time.sleep(600)
        print("what such packages print")
        with open("logged.json", "w") as file:
            json.dump(self.lines, file)
"""
BUSY = "import time; end = time.monotonic() + 0.5; held = bytearray(30_000_000)\nwhile time.monotonic() < end: sum(held[:10000])"


@needs_package
class LogTo(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "modules" / "tensorboardX").mkdir(parents=True)
        (self.folder / "modules" / "tensorboardX" / "__init__.py").write_text(STAND_IN)
        self.variables = os.environ | {"PYTHONPATH": f"{self.folder}/modules:{os.environ['PYTHONPATH']}"}
        self.variables.pop("TENSORBOARD_LOGDIR", None)

    def log(self, *words, **options):
        return self.run_command("run", "--log-to", "tensorboard", *words, **{"env": self.variables} | options)

    def test_curves_and_summary(self):
        done = self.log("--st=0.05", "-o", "report.json", *python(BUSY))
        report = json.loads((self.folder / "report.json").read_text())
        own = report["identity"]["session_id"]
        (_, folder), *lines = json.loads((self.folder / "logged.json").read_text())
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn(f"gpu-tracker: logged to TensorBoard: {folder}\n", done.stderr)
        self.assertNotIn("what such packages print", done.stderr)
        self.assertRegex(folder, rf"^runs/python.*-{own}$")
        points = [line for line in lines if line[0] == "system/combined_ram_megabytes"]
        self.assertGreater(len(points), 2)
        self.assertEqual([step for _, _, step, _ in points], list(range(len(points))))
        peak = report["max_ram"]["combined"]["total_rss"] * {"gigabytes": 1e3, "megabytes": 1}[report["max_ram"]["unit"]]
        self.assertAlmostEqual(max(value for _, value, _, _ in points), peak, delta=peak / 20)
        self.assertAlmostEqual(points[0][3], time.time(), delta=PATIENCE * 10)
        (summary,) = [value for name, value, *_ in lines if name == "gpu_tracker/max_combined_ram_bytes"]
        self.assertAlmostEqual(summary, peak * 1e6, delta=peak * 10)
        self.assert_folder_is("logged.json", "modules", "report.json", "so-far.json")

    def test_the_samples_of_a_tracking_file_that_is_kept(self):
        done = self.log("-q", "--st=0.05", "--tf", "t.csv", "--no-history", *python(BUSY))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        lines = json.loads((self.folder / "logged.json").read_text())
        n_rows = len((self.folder / "t.csv").read_text().splitlines()) - 3
        self.assertEqual(len([line for line in lines if line[0] == "system/main_n_threads"]), n_rows)

    def test_the_status_is_the_commands_whatever_becomes_of_the_log(self):
        self.assertEqual(self.log("-q", "sh", "-c", "exit 7").returncode, 7)
        (self.folder / "modules" / "tensorboardX" / "__init__.py").write_text("def SummaryWriter(folder): raise OSError('there is\\nno space')")
        done = self.log("-q", "sh", "-c", "exit 7")
        self.assertEqual((done.returncode, done.stderr), (7, "gpu-tracker: warning: This session is not in tensorboard: there is no space\n"))

    def test_what_cannot_work_is_said_before_the_command_runs(self):
        done = self.run_command("run", "--log-to", "mlfow", "touch", "ran")
        self.assert_fails(done, 125, '"mlfow" is not a valid tracker of experiments: did you mean mlflow? Valid values are "mlflow", "wandb", "trackio" or "tensorboard".')
        hidden = self.variables | {"PYTHONPATH": str(self.folder / "modules")}
        done = self.log("touch", "ran", env=hidden)
        self.assertEqual(done.returncode, 125)
        self.assertIn("The Python package gputracker logs to trackers of experiments, and ", done.stderr)
        self.assertIn("Without it, run without --log-to.", done.stderr)
        done = self.log("touch", "ran", env=self.variables | {"GPUT_PYTHON": "/bin/true"})
        self.assertIn("GPUT_PYTHON=/bin/true is not a Python interpreter", done.stderr)
        self.assert_folder_is("modules")

    def test_curves_are_there_while_the_command_runs(self):
        """The command waits for them, and ends only then; each sample is logged once."""
        waits = "while ! grep -q combined_ram so-far.json 2>/dev/null; do sleep 0.05; done"
        done = self.log("-q", "--st=0.1", "--tf", "t.csv", "sh", "-c", waits)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = json.loads((self.folder / "logged.json").read_text())
        points = [line for line in lines if line[0] == "system/main_n_threads"]
        self.assertEqual([step for _, _, step, _ in points], list(range(len(points))))
        self.assertEqual(len(points), len((self.folder / "t.csv").read_text().splitlines()) - 3)
        self.assertEqual(sorted({time for *_, time in points}), [time for *_, time in points])

    def test_a_tracker_that_hangs_holds_neither_the_command_nor_for_long_its_end(self):
        """Waiting for an answer while the command ran, and at the end; limits of seconds are shortened, nothing else."""
        (self.folder / "modules" / "sitecustomize.py").write_text("import gpu_tracker._log_to as log_to\nlog_to._ANSWER_SECONDS = log_to._END_SECONDS = log_to._LAST_TRY_SECONDS = 0.3\nlog_to._LEAST_SECONDS = 0.1\n")
        (self.folder / "modules" / "tensorboardX" / "__init__.py").write_text("import time\ndef SummaryWriter(folder):\n    open('hung', 'a').write('x')\n    while True:\n        try: time.sleep(600)\n        except Exception: pass\n")
        done = self.log("-q", "sh", "-c", "while [ $(wc -c <hung || echo 0) -lt 2 ]; do sleep 0.05; done; exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stderr, r"\ngpu-tracker: warning: This session is not in tensorboard: there was no answer for \d seconds\n$")

    def test_a_command_that_cannot_start_leaves_nobody_behind(self):
        done = self.log("-q", "./missing")
        self.assertEqual(done.returncode, 127)
        self.assert_folder_is("modules")

    def test_sigterm_does_not_wait_for_a_slow_tracker(self):
        process = self.start_command("run", "-q", "--log-to", "tensorboard", "true", env=self.variables | {"SLOW": "1"})
        end = time.monotonic() + PATIENCE
        while not (self.folder / "began").exists() and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, errors = self.finish(process)
        self.assertIn("This session is not in tensorboard: ", errors)


if __name__ == "__main__":
    main()
