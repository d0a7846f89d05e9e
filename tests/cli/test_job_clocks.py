"""gpu-tracker job: clocks of machines that are off, and what says so."""

import datetime
import json
import os
import random
import subprocess

import command
from analysis_files import row, write_marks, write_tracking
from job_test import BEGIN, JobTest, moment
from report_data import PAGE, Report

EPOCH = BEGIN.replace(tzinfo=datetime.timezone.utc).timestamp()


class Clocks(JobTest):
    # ---- by starts and ends ----

    def test_runs_of_one_id_are_distinguished_where_a_clock_is_off(self):
        for run in 0, 1:
            for rank in range(4):
                self.rank(rank, machine=f"n{rank // 2}", start=200 * run + rank * 0.01, clock=3600 if rank > 1 else 0,
                          identity={"pid": 100 * run + rank}, name=f"r{run}.{rank}.json")  # fmt: skip
        read = self.job()
        self.assertEqual([(job["name"], job["ranks"], job["missing"], round(job["seconds"])) for job in read["jobs"]],
                         [("4711", 4, 0, 100), ("4711, run 2", 4, 0, 100)])  # fmt: skip
        self.assertEqual([round(machine["clock_offset_seconds"]) for machine in read["machines"]], [0, 3600] * 2)
        self.assertEqual([path["path"] for path in read["ranks"]], [f"./r{run}.{rank}.json" for run in (0, 1) for rank in range(4)])

    def test_pods_of_an_indexed_job_need_not_start_together(self):
        """Two at once, of four: the others come after them, on another machine."""
        for rank in range(4):
            members = {"job": {"launcher": "Kubernetes", "job_id": None, "rank": rank, "world_size": None, "node": f"n{rank // 2}"}}
            self.rank(rank, machine=f"n{rank // 2}", start=rank // 2 * 101, cpu=95 if rank else 40, members=members)
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["seconds"], round(job["cores"], 9), job["efficiency_percent"]), (201, round(400 / 201, 9), 81.25))
        self.assertEqual([machine["clock_source"] for machine in read["machines"]], ["reference", "none"])
        self.assertEqual(read["findings"], [])

    def test_a_clock_that_is_an_hour_off(self):
        for rank in range(4):
            self.rank(rank, machine=f"n{rank // 2}", start=rank * 0.1, clock=3600 if rank > 1 else 0)
        read = self.job()
        (job,) = read["jobs"]
        self.assertLess(job["seconds"], 102)
        first, second = read["machines"]
        self.assertEqual((first["clock_is_corrected"], second["clock_is_corrected"]), (0, 1))
        self.assertAlmostEqual(second["clock_offset_seconds"], 3600, delta=1)
        self.assertLess(second["clock_doubt_seconds"], 1)
        self.assertIn("The clock of n1 is off by 3600", self.findings()["clock"])

    def test_a_clock_that_is_off_where_ends_differ(self):
        """An hour, on one of four machines whose ranks take 10 seconds longer."""
        for rank in range(16):
            last = rank // 4 == 3
            self.rank(rank, world=16, machine=f"n{rank // 4}", seconds=3610 if last else 3600, cpu=3500, clock=3600 if last else 0)
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual([machine["clock_is_corrected"] for machine in read["machines"]], [0, 0, 0, 1])
        self.assertAlmostEqual(job["seconds"], 3610, delta=0.01)
        self.assertGreater(job["efficiency_percent"], 95)
        self.assertNotIn("late_start", self.findings())

    def test_a_clock_that_is_off_of_a_machine_that_died(self):
        for rank in range(4):
            dead = rank > 1
            report = self.rank(rank, machine=f"n{rank // 2}", clock=-7200 if dead else 0, seconds=50 if dead else 100, cpu=45 if dead else 90)
            if dead:
                read = json.loads(report.read_text())
                read["identity"] |= {"end": None, "exit_status": None, "clock": "unsynchronized"}
                report.write_text(json.dumps(read))
        (job,) = self.job()["jobs"]
        self.assertEqual(job["seconds"], 100)
        self.assertGreater(job["efficiency_percent"], 60)
        findings = self.findings()
        self.assertIn("or its clock is off: which of the two is not known before they end", findings["late_start"])
        self.assertIn("The job's time does not include them: by their kernels the clock of n1 is unsynchronized, that of n0 synchronized", findings["late_start"])
        self.assertNotIn("idle_cores", findings)

    def test_a_machine_that_starts_late_keeps_its_times(self):
        for rank in range(4):
            self.rank(rank, machine=f"n{rank // 2}", start=0 if rank < 2 else 60, seconds=100 if rank < 2 else 40,
                      identity={"clock": "unsynchronized"})  # fmt: skip
        read = self.job()
        self.assertEqual([machine["clock_is_corrected"] for machine in read["machines"]], [0, 0])
        self.assertIn("started 60.0 s after those on n0, or its clock is off: their ends differ by another amount", self.findings()["late_start"])

    def test_clocks_that_are_synchronized_are_right(self):
        """Two nodes of which one began 40 seconds later, and ended so."""
        for rank in 0, 1:
            self.rank(rank, world=2, machine=f"n{rank}", start=40 * rank, identity={"clock": "synchronized"})
        read = self.job()
        self.assertAlmostEqual(read["jobs"][0]["seconds"], 140, delta=0.1)
        self.assertEqual([machine["clock_is_corrected"] for machine in read["machines"]], [0, 0])
        findings = self.findings()
        self.assertNotIn("clock", findings)
        self.assertIn("The ranks on n1 started 40.0 s after those on n0", findings["late_start"])
        self.assertIn("by their kernels the clock of n1 is synchronized, that of n0 synchronized", findings["late_start"])

    def test_elements_of_an_array_that_run_later_have_clocks_that_are_right(self):
        for rank in range(4):
            self.rank(rank, world=1, machine=f"n{rank // 2}", start=3600 * (rank // 2), job=f"12_{rank}")
        read = self.job()
        self.assertEqual([(machine["clock_source"], machine["clock_is_corrected"]) for machine in read["machines"]], [("reference", 0), ("none", 0)])
        self.assertEqual(read["machines"][1]["clock_offset_seconds"], None)
        self.assertEqual(read["jobs"][0]["seconds"], 3700)
        self.assertNotIn("clock", self.findings())
        self.assertIn("Clocks   reference: n0; none: n1\n", self.run_command(".").stdout)

    # ---- machines that are one ----

    def test_machines_with_one_boot_id_have_one_clock(self):
        """Two nodes of Slurm on one machine, the ranks of one of which start a minute later and take equally long."""
        for rank in range(4):
            self.rank(rank, machine=f"n{rank // 2}", start=60 * (rank // 2), identity={"boot_id": "the-same"})
        read = self.job()
        self.assertEqual([(machine["clock_source"], machine["clock_offset_seconds"], machine["clock_doubt_seconds"], machine["clock_is_corrected"])
                          for machine in read["machines"]], [("reference", 0, 0, 0), ("same boot", 0, 0, 0)])  # fmt: skip
        self.assertEqual(read["jobs"][0]["seconds"], 160)
        self.assertEqual(read["findings"], [])

    def test_machines_with_one_boot_id_are_corrected_alike(self):
        for rank in range(6):
            boot = {"boot_id": "other"} if rank > 1 else {}
            self.rank(rank, world=6, machine=f"n{rank // 2}", clock=3600 if rank > 1 else 0, start=rank / 2, identity=boot)
        read = self.job()
        self.assertEqual([(machine["clock_source"], machine["clock_is_corrected"]) for machine in read["machines"]],
                         [("reference", 0), ("starts and ends", 1), ("same boot", 1)])  # fmt: skip
        self.assertEqual(read["machines"][1]["clock_offset_seconds"], read["machines"][2]["clock_offset_seconds"])
        self.assertIn("The clock of n1 and 1 more is off by 360", self.findings()["clock"])

    # ---- by blocks that ranks exit together ----

    def marks(self, rank, ends, *, clock=0, block="step", name=None, seconds=0.5, process=None):
        """The file of a rank; `ends` by a clock that is right."""
        ends = [ends] if isinstance(ends, float) else ends
        rows = [[100 + rank if process is None else process, block, position, EPOCH + end + clock - seconds * (1 - position)]
                for end in ends for position in (0, 1)]  # fmt: skip
        write_marks(self.folder / (name or f"blocks.r{rank}.csv"), rows)

    def two_machines(self, *, clock=0, late=0, kernel="synchronized", seconds=100):
        for rank in range(4):
            off = rank > 1
            self.rank(rank, machine=f"n{rank // 2}", start=late if off else 0, seconds=seconds - (late if off else 0),
                      clock=clock if off else 0, identity={"clock": kernel})  # fmt: skip

    def clock(self):
        first, second = self.job()["machines"]
        self.assertEqual(first["clock_source"], "reference")
        return second

    def test_blocks_say_how_far_a_clock_is_off(self):
        """Ends of ranks would not: those of n1 began later, and the offset is known to a millisecond."""
        self.two_machines(clock=3600, late=3)
        draw = random.Random(1)
        for rank in range(4):
            self.marks(rank, [10 + step + draw.random() / 1000 for step in range(80)], clock=3600 if rank > 1 else 0)
        clock = self.clock()
        self.assertEqual((clock["clock_source"], clock["clock_block"], clock["clock_is_corrected"]), ("marks", "step", 1))
        self.assertAlmostEqual(clock["clock_offset_seconds"], 3600, delta=0.001)
        self.assertLess(clock["clock_doubt_seconds"], 0.002)
        found = self.findings()["clock"]
        self.assertRegex(found, r"^The clock of n1 is off by 3600.000 s against the clock of n0 \(±\d+ .s\): ranks exit 80 calls of block .step. at the same time")
        text = self.run_command(".").stdout
        self.assertRegex(text, r"  Clocks   reference: n0; marks: n1 \(to within [\d.]+ .s\)\n")

    def test_a_clock_that_drifts(self):
        """By a second in an hour: what is taken is the middle, and the doubt says how far the ends are from it."""
        self.two_machines(clock=60, seconds=4000)
        self.marks(0, [100.0 + 3 * step for step in range(1200)])
        self.marks(2, [100 + 3 * step + 60 + step / 1200 for step in range(1200)])
        clock = self.clock()
        self.assertEqual((clock["clock_source"], clock["clock_is_corrected"]), ("marks", 1))
        self.assertAlmostEqual(clock["clock_offset_seconds"], 60.5, delta=0.1)
        self.assertTrue(0.3 < clock["clock_doubt_seconds"] < 0.6, clock)

    def test_blocks_that_ranks_do_not_have_in_common(self):
        self.two_machines(clock=3600)
        self.marks(0, [10.0 + step for step in range(50)])
        self.marks(2, [10.0 + step for step in range(50)], clock=3600, block="other")
        self.assertEqual((self.clock()["clock_source"], self.clock()["clock_block"]), ("starts and ends", None))

    def test_blocks_that_are_not_left_together(self):
        """Each rank at its own pace: their ends drift apart, by more than a clock does."""
        self.two_machines(clock=3600, seconds=400, kernel="unsynchronized")
        self.marks(0, [10.0 + step for step in range(200)])
        self.marks(2, [10 + 1.5 * step for step in range(200)], clock=3600)
        clock = self.clock()
        self.assertEqual((clock["clock_source"], clock["clock_is_corrected"]), ("starts and ends", 1))
        self.assertEqual(clock["clock_offset_seconds"], 3600)
        self.assertIn('calls of block "step" end ', self.findings()["clock"])

    def test_blocks_that_contradict_each_other_are_in_the_doubt(self):
        self.two_machines(clock=3600)
        for rank, late in (0, 0), (2, 0.8):
            rows = []
            for block, shift in ("step", 0), ("stage", late):
                for step in range(40):
                    end = EPOCH + 10 + step + shift + 3600 * (rank // 2)
                    rows += [[100 + rank, block, 0, end - 0.1], [100 + rank, block, 1, end]]
            write_marks(self.folder / f"blocks.r{rank}.csv", rows)
        clock = self.clock()
        self.assertEqual(clock["clock_source"], "marks")
        self.assertAlmostEqual(clock["clock_doubt_seconds"], 0.8, delta=0.001)

    def test_stages_of_a_pipeline_are_no_clock_that_is_off(self):
        """Ranks start together; a block of n1 ends 30 seconds after that of n0."""
        self.two_machines()
        self.marks(0, [10.0 + step for step in range(50)])
        self.marks(2, [40.0 + step for step in range(50)])
        clock = self.clock()
        self.assertEqual((clock["clock_source"], clock["clock_offset_seconds"], clock["clock_is_corrected"]), ("starts and ends", 0, 0))

    def test_a_machine_that_starts_late_has_a_clock_that_is_right(self):
        self.two_machines(late=60)
        for rank in 0, 2:
            self.marks(rank, [70.0 + step for step in range(20)])
        clock = self.clock()
        self.assertEqual((clock["clock_source"], clock["clock_is_corrected"], clock["clock_is_doubtful"]), ("marks", 0, 0))
        self.assertRegex(self.findings()["late_start"], r"^The ranks on n1 started 60.0 s after those on n0. Its clock is right to within [\d.]+ .?s, by ends")

    def test_a_small_offset_counts_where_no_kernel_keeps_the_clock(self):
        for kernel, corrected in ("unsynchronized", 1), ("synchronized", 0):
            self.two_machines(clock=1.5, kernel=kernel)
            for rank in 0, 2:
                self.marks(rank, [10.0 + step for step in range(20)], clock=1.5 if rank else 0)
            clock = self.clock()
            self.assertAlmostEqual(clock["clock_offset_seconds"], 1.5, delta=0.001)
            self.assertEqual((clock["clock_source"], clock["clock_is_corrected"]), ("marks", corrected), kernel)

    def test_marks_of_a_process_that_is_no_rank_s(self):
        """Of no known name and no known process: left alone. Of the command itself: by its number."""
        self.two_machines(clock=3600)
        ends = [10.0 + step for step in range(20)]
        for process, source in (7, "starts and ends"), (None, "marks"):
            for rank in 0, 2:
                self.marks(rank, ends, clock=3600 if rank else 0, name=f"of{rank}.csv", process=process)
            self.assertEqual(self.clock()["clock_source"], source)

    # ---- the report ----

    def test_lanes_are_corrected_and_say_by_what(self):
        (self.folder / "page.html").write_text(PAGE)
        self.two_machines(clock=3600)
        for rank in 0, 2:
            self.marks(rank, [10.0 + step for step in range(20)], clock=3600 if rank else 0)
        for rank in range(4):  # a start is shown of samples
            clock = 3600 if rank > 1 else 0
            path = self.folder / f"s.r{rank}.csv"
            write_tracking(path, [[*row(second)[:-1], EPOCH + clock + second] for second in range(3)])
            path.with_name(path.name + ".session.json").write_text(json.dumps(
                {"tracking_file": path.name, "start": moment(clock), "pid": 100 + rank, "rank": rank, "boot_id": f"boot-of-n{rank // 2}"}))  # fmt: skip
        subprocess.run([command.COMMAND, "job", ".", "--report", "x.html"], cwd=self.folder, check=True, capture_output=True,
                       env=os.environ | {"GPUT_REPORT_PAGE": str(self.folder / "page.html")})  # fmt: skip
        sessions = Report(self.folder / "x.html").sessions
        starts = [session["identity"]["start_timestamp"] for session in sessions]
        self.assertEqual(len(starts), 4)
        self.assertAlmostEqual(max(starts) - min(starts), 0, delta=0.01)
        notes = [session["identity"]["clock_note"] for session in sessions]
        self.assertEqual(notes[0], "of n0: the reference clock")
        self.assertRegex(notes[3], r'^of n1, corrected by -3600.000 s: to within 0.000 s, by marks of block "step"$')
        self.assertEqual([session.get("warnings") for session in sessions][2:], [["Clock " + notes[3]]] * 2)


if __name__ == "__main__":
    command.main()
