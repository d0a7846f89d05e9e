"""Results so far outlive a killed tracker, and `gpu-tracker show` prints them."""

import json
import os
import signal
import time

from command import CommandTest, main, parse_text, wait_until

# JSON keys and their labels in the text report, where these are not the same but for blanks and capitals.
LABELS = {
    "max_ram": "Max RAM", "total_rss": "Total RSS", "private_rss": "Private RSS", "shared_rss": "Shared RSS",
    "max_gpu_ram": "Max GPU RAM", "cpu_utilization": "CPU utilization", "n_expected_cores": "Number of expected cores",
    "main_n_threads": "Main number of threads", "descendants_n_threads": "Descendants number of threads",
    "combined_n_threads": "Combined number of threads", "gpu_utilization": "GPU utilization",
    "system_gpu_count": "System GPU count", "n_expected_gpus": "Number of expected GPUs", "gpu_percentages": "GPU percentages",
}

PARTIAL = (
    "gpu-tracker: warning: These are the results so far of a session that did not come to its end: it was killed, or still "
    "runs.\n"
)


class KeptResults(CommandTest):
    def kill_half_way(self, *options):
        """Kills the tracker of a `sleep` after some samples."""
        process = self.start_command("run", "--st=0.02", "--ru=megabytes", "--tu=seconds", *options, "--", "sleep", "100")
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        command = int(wait_until(lambda: open(children).read().split(), "the command")[0])
        self.addCleanup(os.kill, command, signal.SIGKILL)
        time.sleep(1.5)
        process.kill()
        process.wait()

    def test_a_hidden_file_in_the_working_directory(self):
        self.kill_half_way()
        (file,) = self.folder.iterdir()
        self.assertRegex(file.name, r"\A\.gpu-tracker_")
        done = self.run_command("show", file.name)
        self.assertEqual((done.returncode, done.stderr), (0, PARTIAL))
        self.assert_is_summary(done.stdout)
        done = self.run_command("show", "-f", "text", file.name)
        self.assert_is_report(done.stdout)
        self.assertIn("Unit: megabytes", done.stdout)

    def test_or_where_one_says(self):
        self.kill_half_way("--resource-usage-file", "kept.pkl")
        self.assert_folder_is("kept.pkl")
        report = json.loads(self.run_command("show", "kept.pkl", "-f", "json").stdout)
        self.assertIn("did not come to its end", report["sources"]["after_last_sample"]["reason"])
        self.assertGreater(report["max_ram"]["main"]["total_rss"], 0)
        self.assertGreater(report["compute_time"]["time"], 0.2)
        self.assertEqual(report["cpu_utilization"]["main_n_threads"], 1)

    def test_a_place_that_does_not_exist_is_our_failure(self):
        done = self.run_command("run", "--disable-logs", "--resource-usage-file", "nowhere/kept", "true")
        self.assert_fails(done, 125, f"Cannot create {self.folder}/nowhere/kept: No such file or directory")

    def test_it_goes_when_tracking_ends_well(self):
        self.run_command("run", "--resource-usage-file", "kept.pkl", "true")
        self.run_command("-e", "false")
        self.assert_folder_is()

    def test_text_and_json_say_the_same_in_any_unit(self):
        self.kill_half_way("--resource-usage-file", "kept")
        units = ["--ru=kilobytes", "--tu=minutes"]
        text = parse_text(self.run_command("show", "kept", "-f", "full", *units).stdout)
        data = json.loads(self.run_command("show", "kept", "-f", "json", "-o", "-", *units).stdout)
        self.assertEqual(text["Max RAM"]["Unit"], "kilobytes")
        sections = ["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time"]
        for section in sections:
            self.compare(data[section], text[LABELS.get(section, section.replace("_", " ").capitalize())], section)
        self.assertEqual(len(data), len(text))

    def compare(self, data, text, path):
        self.assertEqual(len(data), len(text), path)
        for (key, value), (label, shown) in zip(data.items(), text.items(), strict=True):
            self.assertEqual(label, LABELS.get(key, key.replace("_", " ").capitalize()))
            if isinstance(value, dict):
                self.compare(value, shown, f"{path}.{key}")
            elif isinstance(value, float):
                self.assertEqual(shown, repr(round(value, 3)), f"{path}.{key}")
            else:
                self.assertEqual(shown, str(value), f"{path}.{key}")

    def test_a_file_that_is_none_of_ours(self):
        done = self.run_command("show", "none")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\A[^\n]*none[^\n]*\n\Z")
        for content in (b"", b"{}", b"\x80\x04N.", bytes(range(256)), b'{"max_ram": 3}'):
            (self.folder / "other").write_bytes(content)
            done = self.run_command("show", "other")
            self.assertEqual((done.returncode, done.stdout), (1, ""), content)
            self.assertRegex(done.stderr, r"\A[^\n]*other[^\n]*\n\Z")


if __name__ == "__main__":
    main()
