"""Results so far outlive a killed tracker, and `gpu-tracker show` prints them."""

import json
import os
import pathlib
import pickle
import signal
import time

from command import CommandTest, in_base_unit, main, needs_package, parse_text, use_package, wait_until
from report_data import Report, use_page

import older_usage

# JSON keys and their labels in the text report, where these are not the same but for blanks and capitals.
use_package()
LABELS = {
    "max_ram": "Max RAM", "total_rss": "Total RSS", "private_rss": "Private RSS", "shared_rss": "Shared RSS",
    "max_gpu_ram": "Max GPU RAM", "cpu_utilization": "CPU utilization", "n_expected_cores": "Number of expected cores",
    "main_n_threads": "Main number of threads", "descendants_n_threads": "Descendants number of threads",
    "combined_n_threads": "Combined number of threads", "gpu_utilization": "GPU utilization",
    "system_gpu_count": "System GPU count", "n_expected_gpus": "Number of expected GPUs", "gpu_percentages": "GPU percentages",
}

PARTIAL = (
    "gpu-tracker: warning: These are the results so far of a session that did not finish: it was killed, or still "
    "runs.\n"
)


class KeptResults(CommandTest):
    def kill_half_way(self, *options):
        """Kills the tracker of a `sleep` after some samples."""
        process = self.start_command("run", "--st=0.02", "--ru=megabytes", "--tu=seconds", *options, "--", "sleep", "100")
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        command = int(wait_until(lambda: open(children).read().split(), "the command")[0])
        self.addCleanup(os.kill, command, signal.SIGKILL)
        wait_until(self.kept_seconds, "results of half a second")
        process.kill()
        process.wait()

    def kept_seconds(self):
        """Whether the file has results of half a second."""
        for path in [*self.folder.glob("kept*"), *self.folder.glob(".gpu-tracker_*")]:
            done = self.run_command("show", path.name, "-f", "json", "-o", "-", "--tu=seconds")
            return done.returncode == 0 and json.loads(done.stdout)["compute_time"]["time"] > 0.5
        return False

    def test_a_hidden_file_in_the_working_directory(self):
        self.kill_half_way()
        (file,) = self.folder.iterdir()
        self.assertRegex(file.name, r"\A\.gpu-tracker_")
        done = self.run_command("show", file.name)
        self.assertEqual((done.returncode, done.stderr), (0, PARTIAL))
        self.assert_is_summary(done.stdout)
        self.assertRegex(done.stdout, r"\Agpu-tracker: sleep, pid \d+\n")
        done = self.run_command("show", "-f", "text", file.name)
        self.assert_is_report(done.stdout)
        self.assertIn("Unit: megabytes", done.stdout)

    def test_without_a_name_the_newest_is_shown(self):
        done = self.run_command("show")
        self.assert_fails(
            done, 1, "The working directory has no results of a running or killed session (.gpu-tracker_*). Name a report "
            "in JSON: gpu-tracker show usage.json")
        self.kill_half_way()
        (killed,) = self.folder.glob(".gpu-tracker_*")
        os.utime(killed, (2000, 2000))
        (self.folder / ".gpu-tracker_older").write_text("damaged")
        os.utime(self.folder / ".gpu-tracker_older", (1000, 1000))
        (self.folder / ".gpu-tracker_claimed").touch()  # empty, and the newest
        done = self.run_command("show")
        self.assertEqual(
            (done.returncode, done.stderr), (0, f"gpu-tracker: using {killed.name}, the newest results kept here\n{PARTIAL}"))
        self.assertEqual(done.stdout, self.run_command("show", killed.name).stdout)
        content = killed.read_bytes()
        self.assert_fails(
            self.run_command("show", "-o", killed.name), 1,
            f"using {killed.name}, the newest results kept here\ngpu-tracker: -o {killed.name} is the same file as the file that is shown {killed.name}, "
            "which it would replace. Please name another one.")
        self.assertEqual(killed.read_bytes(), content)

    def test_a_report_in_json_is_shown_again(self):
        self.run_command("run", "-q", "-o", "r.json", "--ru", "bytes", "--", "true")
        done = self.run_command("show", "r.json", "-f", "json")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", (self.folder / "r.json").read_text()))
        done = self.run_command("show", "r.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_is_summary(done.stdout)

    def test_its_report_says_that_it_did_not_end(self):
        use_page(self)
        self.kill_half_way("--tf", "rows.csv")
        (file,) = self.folder.glob(".gpu-tracker_*")
        for path in (file.name, "rows.csv"):
            done = self.run_command("report", path, "-o", "r.html")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{path}: the session did not finish: it was killed, or still runs.", done.stderr)
            session = Report(self.folder / "r.html").sessions[0]
            self.assertTrue(session["identity"]["is_unfinished"])
        self.run_command("run", "--tf", "whole.csv", "-q", "--", "true")
        done = self.run_command("report", "whole.csv", "-o", "r.html")
        self.assertNotIn("did not come", done.stderr)

    def test_or_where_one_says(self):
        self.kill_half_way("--resource-usage-file", "kept.pkl")
        self.assert_folder_is("kept.pkl")
        report = json.loads(self.run_command("show", "kept.pkl", "-f", "json").stdout)
        self.assertIn("did not finish", report["sources"]["after_last_sample"]["reason"])
        self.assertGreater(report["max_ram"]["main"]["total_rss"], 0)
        self.assertGreater(report["compute_time"]["time"], 0.2)
        self.assertEqual(report["cpu_utilization"]["main_n_threads"], 1)

    def test_a_place_that_does_not_exist_is_our_failure(self):
        done = self.run_command("run", "--disable-logs", "--resource-usage-file", "/proc/nowhere/kept", "true")
        self.assert_fails(done, 125, "Cannot create /proc/nowhere/kept: No such file or directory")

    def test_it_goes_when_tracking_ends_well(self):
        self.run_command("run", "--resource-usage-file", "kept.pkl", "true")
        self.run_command("-e", "false")
        self.assert_folder_is()

    def test_it_stays_until_the_report_is_written(self):
        """A second signal may kill the tracker before."""
        os.mkfifo(self.folder / "r.json")
        tracked = self.start_command("run", "-q", "--st=0.02", "--resource-usage-file", "kept", "-o", "r.json", "--", "sleep", "1")
        children = pathlib.Path(f"/proc/{tracked.pid}/task/{tracked.pid}/children")
        wait_until(lambda: (self.folder / "kept").exists() and (self.folder / "kept").stat().st_size, "results so far")
        wait_until(lambda: not children.read_text(), "the end of the command")
        time.sleep(0.1)
        self.assertIsNone(tracked.poll())  # the report waits for a reader
        self.assertTrue((self.folder / "kept").stat().st_size)
        self.assertIn("max_ram", json.loads((self.folder / "r.json").read_text()))
        self.assertEqual(tracked.wait(), 0)
        self.assertFalse((self.folder / "kept").exists())

    def test_text_and_json_say_the_same_in_any_unit(self):
        self.kill_half_way("--resource-usage-file", "kept")
        units = ["--ru=kilobytes", "--gru=bytes", "--tu=minutes"]
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
            elif isinstance(value, float) and key.endswith("percent"):
                self.assertLessEqual(abs(in_base_unit(shown) - value), 0.0051 * value, f"{path}.{key}")
            elif isinstance(value, float):
                self.assertEqual(shown, repr(round(value, 3)), f"{path}.{key}")
            else:
                self.assertEqual(shown, str(value), f"{path}.{key}")

    @needs_package
    def test_what_the_older_package_left_behind(self):
        for descendants in ("descendants", "descendents"):
            for protocol in range(2, 6):
                (self.folder / "older.pkl").write_bytes(older_usage.pickled(older_usage.usage(descendants), protocol))
                done = self.run_command("show", "older.pkl", "-f", "json", "-o", "-")
                self.assertEqual((done.returncode, done.stderr), (0, PARTIAL))
                report = json.loads(done.stdout)
                self.assertEqual(
                    report["max_ram"],
                    {"unit": "megabytes", "system_capacity": 67254.165504, "system": 1847.590912,
                     "main": older_usage.rss(603.52512),
                     "descendants": older_usage.rss(20),
                     "combined": older_usage.rss(623.522048)})
                self.assertEqual(
                    report["max_gpu_ram"],
                    {"unit": "gigabytes", "system_capacity": 16.376, "system": 0.535, "main": 0.314, "descendants": 0.192,
                     "combined": 0.506})
                cpu = report["cpu_utilization"]
                self.assertEqual((cpu["system_core_count"], cpu["n_expected_cores"]), (12, 4))
                self.assertEqual((cpu["system"]["max_sum_percent"], cpu["main"]["max_hardware_percent"]), (160, 25))
                self.assertEqual((cpu["descendants"]["mean_sum_percent"], cpu["combined"]["mean_hardware_percent"]), (10, 15))
                self.assertEqual(
                    [cpu[f"{whose}_n_threads"] for whose in ("main", "descendants", "combined")], [15, 2, 17])
                self.assertEqual(
                    report["gpu_utilization"],
                    {"system_gpu_count": 1, "n_expected_gpus": 1, "gpu_percentages": {
                        "max_sum_percent": 8.0, "max_hardware_percent": 2.0, "mean_sum_percent": 4.0, "mean_hardware_percent": 1.0}})
                self.assertEqual(report["compute_time"], {"unit": "minutes", "time": 1.5})
                # Nothing is shown that the file does not have.
                self.assertEqual(list(report)[5:], ["sources"])
                self.assertIn("older_file", report["sources"])
        text = parse_text(self.run_command("show", "older.pkl", "-f", "text", "--ru=gigabytes", "--tu=seconds").stdout)
        self.assertEqual((text["Max RAM"]["Main"]["Total RSS"], text["Compute time"]["Time"]), ("0.604", "90.0"))
        metrics = self.run_command("show", "older.pkl", "-f", "prometheus").stdout
        self.assertIn("gputracker_main_peak_memory_bytes 603525120.0\n", metrics)
        self.assertNotIn("gputracker_tracker", metrics)

    @needs_package
    def test_a_pickle_is_read_as_data(self):
        usage = older_usage.usage()
        usage.compute_time = older_usage.Evil()
        whole = older_usage.pickled(older_usage.usage())
        broken = [older_usage.pickled(usage), older_usage.pickled(older_usage.usage(ram_unit="miles")), pickle.dumps(usage.max_ram.unit)]
        broken += [whole[:at] for at in range(1, len(whole), 37)]
        del usage.compute_time
        for content in (*broken, older_usage.pickled(usage), older_usage.pickled(usage.max_ram)):
            (self.folder / "other").write_bytes(content)
            done = self.run_command("show", "other")
            self.assertEqual((done.returncode, done.stdout), (1, ""), content)
            self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
        self.assert_folder_is("other")

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
