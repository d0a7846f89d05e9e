"""A Tracker in one of many ranks: names of files are those that the command would use."""

import os
from unittest import mock

import package
import gpu_tracker

LAUNCHERS = "OMPI_", "PMIX_", "PMI_", "SLURM", "TORCHELASTIC_", "MV2_", "PALS_", "JSM_", "FLUX_", "LSF_", "LSB_", "JOB_COMPLETION"


class Ranks(package.PackageTest):
    def rank(self, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
        return mock.patch.dict(os.environ, {**kept, **variables}, clear=True)

    def track(self, name, **options):
        with gpu_tracker.Tracker(**{"sleep_time": 0.05, "tracking_file": name, "disable_logs": True, **options}):
            pass

    def names(self):
        return sorted(path.name for path in self.folder.iterdir() if not path.name.endswith(".session.json"))

    def test_each_rank_has_a_file_of_its_own(self):
        for rank in "0", "1":
            with self.rank(PMI_RANK=rank, PMI_SIZE="2"):
                self.track("s.csv")
        self.assertEqual(self.names(), ["s.r0.csv", "s.r1.csv"])

    def test_placeholders(self):
        with self.rank(SLURM_JOB_ID="47", SLURM_STEP_ID="0", SLURM_PROCID="5", KIND="x"):
            self.track("s.%j.%r.%q{KIND}.%%.csv")
        self.assertEqual(self.names(), ["s.47.5.x.%.csv"])

    def test_without_a_launcher_a_name_stays(self):
        with self.rank():
            self.track("s.csv")
            with self.assertRaises(FileExistsError):
                self.track("s.csv")
        self.assertEqual(self.names(), ["s.csv"])

    def test_a_rank_does_not_stop_at_a_file_that_is_there(self):
        (self.folder / "s.r1.csv").write_text("of somebody else")
        with self.rank(PMI_RANK="1", PMI_SIZE="2"), self.assertLogs("gpu_tracker") as logs:
            self.track("s.csv", disable_logs=False)
        self.assertIn("The tracking file exists: samples are written to s.r1.1.csv.", "\n".join(logs.output))
        self.assertEqual((self.folder / "s.r1.csv").read_text(), "of somebody else")
        self.assertEqual(self.names(), ["s.r1.1.csv", "s.r1.csv"])

    def test_a_job_that_runs_again_is_not_stopped(self):
        for _ in range(2):
            with self.rank(SLURM_JOB_ID="47"):
                self.track("s.csv")
        self.assertEqual(self.names(), ["s.1.csv", "s.csv"])

    def test_a_process_of_its_own_uses_the_same_names(self):
        with self.rank(PMI_RANK="1", PMI_SIZE="2"):
            self.track("s.csv", own_process=True, resource_usage_file="u.%%r.json")
        self.assertEqual(self.names(), ["s.r1.csv"])

    def test_a_variable_without_a_name_is_refused(self):
        with self.assertRaisesRegex(ValueError, "%q needs the name of an environment variable"):
            self.track("s.%q.csv")


if __name__ == "__main__":
    package.main()
