"""gpu-tracker size: the request alone on standard output, what it rests on, and what it cannot know."""

import json
import shlex

from command import main
from test_history import HistoryTest


class Size(HistoryTest):
    def setUp(self):
        super().setUp()
        self.history("on")
        self.n_runs = 0

    def runs(self, count, **values):
        """Sessions as the history has them, which the next reader finds."""
        rows = self.place / f"history.{self.host()}.rows"
        rows.mkdir(exist_ok=True)
        begun, self.n_runs = self.n_runs, self.n_runs + count
        for number in range(begun, begun + count):
            row = {
                "gpu_tracker_history_row": 1, "session_id": f"s{number}", "name": "./simulate", "start_seconds": 1.7e9 + number, "exit_status": 0,
                "wall_seconds": 3000 + number, "cpu_seconds": 9000, "max_cores": 3.9, "ram_bytes": 9.0e9 + 1e6 * number,
                "ram_at_most_bytes": 9.1e9 + 1e6 * number,
            }  # fmt: skip
            row |= {name: value(number) if callable(value) else value for name, value in values.items()}
            (rows / f"s{number}.json").write_text(json.dumps(row))

    def host(self):
        self.track("true")
        return self.database().name.split(".", 1)[1].removesuffix(".sqlite")

    def size(self, *arguments):
        done = self.run_command("size", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def figures(self, *arguments):
        return json.loads(self.size("-f", "json", *arguments).stdout)

    def test_the_output_is_a_request_for_sbatch_and_nothing_else(self):
        self.runs(20)
        done = self.size("--", "./simulate", "big.in")
        self.assertEqual(done.stdout, "--mem=9G --cpus-per-task=4 --time=00:55:00\n")
        self.assertEqual(len(shlex.split(done.stdout)), 3)
        self.assertRegex(done.stderr, r"\Agpu-tracker: 20 runs of ./simulate, the last one .* ago, the first one .* ago\.\n")
        self.assertNotIn("assumed", done.stderr)

    def test_forms(self):
        self.runs(20, gpus_used=2, gpu_ram_bytes=3e10)
        self.assertEqual(self.size("simulate").stdout, "--mem=9G --cpus-per-task=4 --time=00:55:00 --gres=gpu:2\n")
        self.assertEqual(self.size("-f", "pbs", "simulate").stdout, "-l select=1:ncpus=4:mem=9216mb:ngpus=2 -l walltime=00:55:00\n")
        self.assertEqual(self.size("-f", "kubernetes", "simulate").stdout,
            'resources:\n  requests:\n    memory: 9216Mi\n    cpu: "4"\n  limits:\n    memory: 9216Mi\n    nvidia.com/gpu: "2"\n')  # fmt: skip
        self.assertRegex(self.size("-f", "text", "simulate").stdout, r"\ARAM +9.66 GB\nTime +55 min 0 s\nCores +4\nGPUs +2\n\n20 runs of ")
        self.assertEqual(self.size("-f", "text", "simulate").stderr, "")
        figures = self.figures("simulate")
        self.assertEqual((figures["request"]["ram_bytes"], figures["ram_bytes"]["basis"]), (9 * 2**30, "order"))

    def test_few_runs_are_said_to_be_few(self):
        self.runs(1)
        self.assertIn("That is a guess from 1 run, with an assumed spread. With 19 runs or more, nothing is assumed.", self.size("simulate").stderr)
        self.runs(6)
        self.assertIn("With 7 runs a log-normal spread is assumed; with 19 or more, nothing is.", self.size("simulate").stderr)
        self.assertIn("with 99 or more, nothing is.", self.size("--share", "99", "simulate").stderr)

    def test_a_run_that_lacked_memory_wanted_more(self):
        self.runs(8)
        before = self.figures("simulate")["ram_bytes"]["value"]
        self.runs(1, exit_status=137, oom_killed=1, ram_bytes=1.4e10, allowed_ram_bytes=1.5e10)
        done = self.size("simulate")
        figures = self.figures("simulate")
        self.assertLess(before, 1.2e10)
        self.assertGreaterEqual(figures["ram_bytes"]["value"], 1.8e10)
        self.assertEqual(figures["ram_bytes"]["runs_ended_early"], 1)
        self.assertIn("the highest took at least 15 GB, and 1 was ended before it had enough.", done.stderr)

    def test_one_that_a_limit_of_the_tracker_ended_wanted_more_than_it_had(self):
        """The limit is below what its control group was allowed, of which that says nothing."""
        self.runs(3, exit_status=137, limit_passed="ram", limit_enforced=1, ram_bytes=1e9, ram_at_most_bytes=1e9, allowed_ram_bytes=6.4e10)
        figures, said = self.figures("simulate"), self.size("simulate").stderr
        self.assertEqual(figures["ram_bytes"]["highest_seen"], 1e9)
        self.assertLess(figures["ram_bytes"]["value"], 3.1e9)
        self.assertEqual(figures["ram_bytes"]["basis"], "guess")
        self.assertIn("the highest took at least 1 GB, and 3 were ended before they had enough. That is a guess: what they wanted is not known.", said)
        self.assertNotIn("RAM: 95 %", said)

    def test_no_machine_gives_more_than_it_has(self):
        self.runs(20, max_cores=71.5, machine_cores=64, machine_ram_bytes=6e10)
        self.runs(1, exit_status=137, oom_killed=1, allowed_ram_bytes=9e10, machine_ram_bytes=6e10)
        self.assertEqual(self.figures("simulate")["request"]["cores"], 64)
        self.assertEqual(self.figures("simulate")["ram_bytes"]["highest_seen"], 6e10)

    def test_what_is_not_bounded_is_said(self):
        self.runs(3, ram_at_most_bytes=None)
        self.assertIn("in 3 of the runs nothing says how much higher a peak between two samples may have been", self.size("simulate").stderr)

    def test_ranks_of_jobs_are_no_runs(self):
        """What a job needs of a machine is more than that of one of its ranks."""
        self.runs(8, world_size=8, ram_bytes=1e9)
        done = self.run_command("size", "simulate")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("There is no run to go by: 8 sessions are ranks of jobs. gpu-tracker job says", done.stderr)
        self.runs(20)
        self.assertEqual(self.size("simulate").stdout, "--mem=9G --cpus-per-task=4 --time=00:55:00\n")
        self.assertIn("8 more are ranks of jobs and are left out", self.size("simulate").stderr)
        self.runs(20, name="job", world_size=8, ranks=8, node_ram_bytes=3.2e10, gpus_used=1)
        self.assertEqual(self.size("job").stdout, "--mem=30G --cpus-per-task=4 --time=00:55:00\n")

    def test_failed_runs_are_left_out(self):
        self.runs(20)
        self.runs(3, exit_status=1, ram_bytes=9e12)
        self.runs(1, signal=11, exit_status=None, ram_bytes=9e12)
        self.assertEqual(self.size("simulate").stdout, "--mem=9G --cpus-per-task=4 --time=00:55:00\n")
        self.assertIn("; 4 more failed and are left out.", self.size("simulate").stderr)
        self.assertEqual(self.figures("simulate")["failed_runs_left_out"], 4)

    def test_one_that_ran_out_of_time_wanted_more(self):
        self.runs(6)
        self.runs(1, signal=15, exit_status=None, wall_seconds=7190, time_limit_seconds=7200)
        self.assertGreaterEqual(self.figures("simulate")["wall_seconds"]["value"], 7190 * 1.2)

    def test_a_bound_that_is_near_is_taken_and_one_that_is_far_is_said(self):
        self.runs(20, ram_at_most_bytes=1.2e10)
        self.assertEqual(self.figures("simulate")["ram_bytes"]["value"], 1.2e10)
        self.runs(20, ram_at_most_bytes=9e10, name="far")
        self.assertLess(self.figures("far")["ram_bytes"]["value"], 1e10)
        self.assertIn("in 20 of the runs a peak between two samples may have been higher, up to 90 GB", self.size("far").stderr)
        self.runs(20, ram_at_most_bytes=9e10, group_ram_bytes=1.1e10, name="charged")
        self.assertEqual(self.figures("charged")["ram_bytes"]["value"], 1.1e10)

    def test_what_grows_is_for_the_input_of_the_next_run(self):
        self.runs(20, input_bytes=lambda number: 1e6 * (number + 1), ram_bytes=lambda number: 1e9 + 1e3 * 1e6 * (number + 1), ram_at_most_bytes=None)
        (self.folder / "small.in").write_bytes(b"x" * 2_000_000)
        (self.folder / "big.in").write_bytes(b"x" * 30_000_000)
        small, big = (self.figures("--", "./simulate", name)["ram_bytes"] for name in ("small.in", "big.in"))
        self.assertAlmostEqual(small["value"], 3e9, delta=1e8)
        self.assertAlmostEqual(big["value"], 31e9, delta=1e9)
        self.assertIn("this is for 30 MB, larger than any that was seen.", self.size("--size-of", "big.in", "simulate").stderr)
        self.assertIn("the largest that was seen (--size-of FILE for another)", self.size("simulate").stderr)

    def test_what_grows_is_for_the_ranks_of_the_next_job_where_no_run_has_an_input(self):
        ranks = {"ranks": lambda number: 2 + number % 5, "world_size": lambda number: 2 + number % 5}
        self.runs(20, **ranks, node_ram_bytes=lambda number: 2e9 * (2 + number % 5) + 1e6 * number)
        read = self.figures("--ranks", "3", "simulate")["ram_bytes"]
        self.assertEqual((read["grows_with_ranks"], read["grows_with_input"], read["for_ranks"]), (True, False, 3))
        self.assertAlmostEqual(read["value"], 6e9, delta=1e8)
        self.assertIn("It grows with the ranks: this is for 8, more than any that were seen.", self.size("--ranks", "8", "simulate").stderr)
        self.assertIn("this is for 6, the most that were seen (--ranks N for another number)", self.size("simulate").stderr)
        for text in "none", "0", "1.5", "inf", "1e300":
            self.assert_fails(self.run_command("size", "--ranks", text, "simulate"), 1, f"--ranks={text} is not a number of ranks: it is a whole number, 1 or more.")

    def test_folders_do_not_count_in_a_name_and_parts_of_it_do(self):
        self.runs(2, name="python3 /home/x/train.py")
        self.runs(2, name="python3 other-train.py")
        self.assertEqual(self.figures("--", "python3", "train.py", "--epochs", "3")["runs"], 2)
        self.assertEqual(self.run_command("size", "train.py").returncode, 1)

    def test_reports_are_evidence_too(self):
        for name in "a.json", "b.json":
            self.track("sleep", "0.01", options=["-o", name, "--no-history"])
        self.assertEqual(self.figures("a.json", "b.json")["runs"], 2)

    def test_nothing_is_asked_for_where_nothing_is_known(self):
        done = self.run_command("size", "--", "./never", "x")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the history has no run of ./never that helps", done.stderr)
        self.runs(2, exit_status=1)
        self.assertIn('no run of simul alone, but of "./simulate": gpu-tracker size "./simulate"', self.run_command("size", "simul").stderr)
        done = self.run_command("size", "simulate")
        self.assertIn("of 2, none ended well or lacked memory or time", done.stderr)
        self.runs(2, name="silent", **dict.fromkeys(["ram_bytes", "ram_at_most_bytes", "wall_seconds", "cpu_seconds", "max_cores"]))
        done = self.run_command("size", "silent")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("none of 2 says how much RAM, time or cores it took.", done.stderr)
        for arguments, message in (
            (["--share", "100"], "--share=100 is not a valid share. It is how many of 100 runs are to fit: 50 or more, below 100."),
            (["--size-of", "gone"], "--size-of=gone is not a file whose size could be read."),
        ):
            self.assert_fails(self.run_command("size", *arguments, "simulate"), 1, message)


if __name__ == "__main__":
    main()
