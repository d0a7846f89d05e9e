"""Jobs on bad days, with real ranks: what is missing is said, the rest stands, and no rank ends or waits because of its tracker."""

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess

import receiver
from command import COMMAND, PATIENCE, CommandTest, main, refusal, wait_until
from job_test import NAMES, sampled_ram

NO_MOUNTS = refusal("unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt")


class BadDays(CommandTest):
    world = 3

    def environment(self, rank, **variables):
        plain = {name: value for name, value in os.environ.items() if not name.startswith((*NAMES, "OTEL_"))}
        return plain | {"PMI_RANK": str(rank), "PMI_SIZE": str(self.world)} | variables

    def tracked(self, *words, options=("--tf", "s.csv", "-o", "r.json")):
        return [COMMAND, "run", "-q", "--st", "0.05", *options, "--", *words]

    def start(self, rank, words, **variables):
        process = subprocess.Popen(words, cwd=self.folder, env=self.environment(rank, **variables), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def end(self, process, status=0):
        output, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, status, said)
        return output, said

    def job(self, *names):
        done = self.run_command("job", "-f", "json", *(names or ["."]))
        self.assertEqual(done.returncode, 0, done.stderr)
        read = json.loads(done.stdout)
        read["found"] = {finding["kind"]: f"{finding['text']}: {finding['evidence']}" for finding in read["findings"]}
        return read

    def the_job(self, read, *, ranks, failed=0, unfinished=0):
        (job,) = read["jobs"]
        self.assertEqual((job["ranks"], job["missing"], job["failed"], job["unfinished"]), (ranks, self.world - ranks, failed, unfinished), read)

    def report(self, rank):
        return json.loads((self.folder / f"r.r{rank}.json").read_text())

    def waiting(self):
        """A command that says its pid, and ends when there is a file "go"."""
        return self.tracked("sh", "-c", f"echo $$; while [ -d {self.folder} ] && ! [ -e go ]; do sleep 0.05; done; echo done")

    def test_a_rank_and_a_tracker_are_killed(self):
        ranks = [self.start(rank, self.waiting()) for rank in range(self.world)]
        commands = [int(process.stdout.readline()) for process in ranks]
        # The first rows can be of a command that is still being loaded.
        for rank in range(self.world):
            wait_until(lambda file=self.folder / f"s.r{rank}.csv": sampled_ram(file) > 100_000, "a row of a loaded command")
        os.kill(commands[1], signal.SIGKILL)
        self.end(ranks[1], -signal.SIGKILL)
        ranks[2].kill()
        ranks[2].wait()
        os.kill(commands[2], 0)  # goes on without its tracker
        (self.folder / "go").touch()
        self.assertEqual(self.end(ranks[0])[0], "done\n")
        self.assertEqual(self.end(ranks[2], -signal.SIGKILL)[0], "done\n")
        read = self.job()
        self.the_job(read, ranks=3, failed=1, unfinished=1)
        self.assertIn("1 of 3 ranks failed: rank 1 on ", read["found"]["failed_ranks"])
        self.assertIn("ended by signal 9", read["found"]["failed_ranks"])
        self.assertIn("The end of 1 rank is not known: still running, or the tracker was killed: rank 2 on ", read["found"]["unfinished_ranks"])
        self.assertTrue(all(rank["max_ram_bytes"] > 100_000 and rank["seconds"] > 0 for rank in read["ranks"]), read)

    def test_what_a_killed_tracker_leaves_is_where_its_report_would_be(self):
        (self.folder / "results").mkdir()
        options = "-o", "results/r.json"
        rank = self.start(1, self.tracked("sleep", "1000", options=options))
        child = wait_until(lambda: pathlib.Path(f"/proc/{rank.pid}/task/{rank.pid}/children").read_text(), "the command")
        self.addCleanup(os.kill, int(child), signal.SIGKILL)
        (kept,) = wait_until(lambda: [*self.folder.glob("results/.gpu-tracker_*")], "results so far")
        wait_until(lambda: kept.stat().st_size, "a first copy of them")
        rank.kill()
        rank.wait()
        self.end(self.start(0, self.tracked("sh", "-c", "sleep 0.7", options=options)))
        read = self.job("results")
        self.the_job(read, ranks=2, unfinished=1)
        self.assertEqual([path.name for path in self.folder.rglob(".*")], [kept.name])  # that of rank 0 is gone
        self.assertIn("rank 1 on ", read["found"]["unfinished_ranks"])

    def on_full_disk(self, extension, *, free, command):
        """One node with a disk of its own that is full, or becomes so: its files are what fitted there."""
        script = (f"mkdir node; mount -t tmpfs -o size=1m none node; dd if=/dev/zero of=node/filler bs=1k count={1024 - free} 2>/dev/null; "
                  '"$@"; status=$?; rm node/filler; mkdir kept; cp node/* kept; exit $status')  # fmt: skip
        options = "--tf", f"node/s.{extension}", "-o", "node/r.json", "--st", "0.005"
        return ["unshare", "--mount", "sh", "-c", script, "sh", *self.tracked("sh", "-c", f"{command}; sleep 1; echo done", options=options)]

    def test_the_disk_of_one_node_is_full(self):
        if NO_MOUNTS:
            self.skipTest(f"no file system can be mounted here: {NO_MOUNTS}")
        whole = [self.start(rank, self.waiting()) for rank in (0, 1)]  # one that starts when others have ended is of the next run
        # Not before it is written whose samples these are. The last rows before it is full take what is left of their page.
        fill = f"until [ -s node/s.r2.csv.session.json ] || ! [ -d {self.folder} ]; do sleep 0.05; done; cat /dev/zero >>node/filler 2>/dev/null; sleep 1"
        output, said = self.end(self.start(2, self.on_full_disk("csv", free=1000, command=fill)))
        self.assertEqual(output, "done\n")
        self.assertIn("Cannot write node/s.r2.csv: No space left on device. Rows of the tracking file are being lost; tracking goes on.", said)
        self.assertIn("Cannot write node/r.r2.json: No space left on device", said)
        self.assertIn(f"The report is in {self.folder}/r.r2.json instead.", said)
        (self.folder / "go").touch()
        for process in whole:
            self.assertRegex(self.end(process)[0], r"\A\d+\ndone\n\Z")
        read = self.job()
        self.the_job(read, ranks=3)
        (full,) = [rank for rank in read["ranks"] if rank["rank"] == 2]
        self.assertGreater(full["cpu_seconds"], 0)  # of the report
        rows_lost = self.report(2)["tracker"]["rows_lost"]
        (self.folder / "r.r2.json").unlink()
        read = self.job()
        self.the_job(read, ranks=3)  # how it ended took the place of what was written at the start
        self.assertRegex(read["found"]["rows_lost"], r"^Rows of 1 tracking file could not be written: .*: rank 2 on .*: [1-9]\d*$")
        self.assertEqual(rows_lost, json.loads((self.folder / "kept/s.r2.csv.session.json").read_text())["rows_lost"])
        (full,) = [rank for rank in read["ranks"] if rank["rank"] == 2]
        self.assertGreater(full["samples"], 5)
        self.assertGreater(full["rows_lost"], 5)
        self.assertIsNone(full["cpu_seconds"])
        self.assertEqual(full["exit_status"], 0)
        self.assertGreater(full["max_ram_bytes"], 100_000)

    def test_whose_samples_these_are_is_written_once_there_is_space(self):
        if NO_MOUNTS:
            self.skipTest(f"no file system can be mounted here: {NO_MOUNTS}")
        # The tracking file takes the one page that is free, until the command has seen that nothing is left for the file next to it.
        script = ("mkdir node; mount -t tmpfs -o size=64k none node; dd if=/dev/zero of=node/filler bs=1k count=60 2>/dev/null; "
                  '"$@" 2>said; status=$?; mkdir kept; cp node/* kept; exit $status')  # fmt: skip
        words = ["sh", "-c", f"until grep -q session.json said || ! [ -d {self.folder} ]; do sleep 0.05; done; rm node/filler"]
        self.end(self.start(1, ["unshare", "--mount", "sh", "-c", script, "sh", *self.tracked(*words, options=("--tf", "node/s.csv"))]))
        self.assertEqual((self.folder / "said").read_text().count("Cannot write node/s.r1.csv.session.json: No space left on device"), 1)
        (rank,) = self.job("kept")["ranks"]
        self.assertEqual((rank["rank"], rank["exit_status"]), (1, 0))

    def test_a_database_that_did_not_fit_has_no_samples_and_that_is_said(self):
        if NO_MOUNTS:
            self.skipTest(f"no file system can be mounted here: {NO_MOUNTS}")
        process = self.start(2, self.on_full_disk("sqlite", free=12, command="true"))
        output, said = process.communicate(timeout=PATIENCE)
        self.assertIn("Cannot write node/s.r2.sqlite: database or disk is full", said)
        if process.returncode == 125:  # that was known before the command was to start, as with one processor
            self.assertEqual(output, "")
            return
        self.assertEqual((process.returncode, output), (0, "done\n"), said)
        self.assertIn("Only a tracking file without samples was found for 1 rank: ./kept/s.r2.sqlite", self.job()["found"]["no_samples"])
        self.assertNotIn("nan", self.run_command("job", ".").stdout)

    def test_a_database_is_read_where_the_disk_is_full(self):
        """As it stays there when its tracker was killed: SQLite makes files next to it, also for reading."""
        if NO_MOUNTS:
            self.skipTest(f"no file system can be mounted here: {NO_MOUNTS}")
        self.end(self.start(0, self.tracked("sleep", "0.3", options=("--tf", "s.sqlite"))))
        with contextlib.closing(sqlite3.connect(self.folder / "s.r0.sqlite")) as database:
            database.execute("pragma journal_mode = wal")
        script = "mkdir node; mount -t tmpfs -o size=256k none node; cp s.r0.sqlite node; cat /dev/zero >node/filler 2>/dev/null; exec \"$0\" job -f json node"
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, COMMAND], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        (rank,) = json.loads(done.stdout)["ranks"]
        self.assertEqual((rank["samples"], rank["exit_status"]), (self.job("s.r0.sqlite")["ranks"][0]["samples"], 0))

    def test_collectors_that_hang_or_are_busy(self):
        answers = [receiver.hang], [(503, {}, b"")], [(200, {}, b"")]
        ranks = []
        for rank, answer in enumerate(answers):
            to = receiver.Receiver(*answer)
            self.addCleanup(to.close)
            options = "-o", "r.json", "--push-interval", "0.5", "--otlp=" + to.url(), "--remote-write", to.url()
            if rank > 0:  # the share of a short command is less than a collector that answers may need here
                options += "--push-timeout", "10"
            ranks.append(self.start(rank, self.tracked("sh", "-c", "sleep 1.2; echo done", options=options)))
        said = [self.end(process) for process in ranks]
        self.assertEqual([output for output, _ in said], ["done\n"] * 3)
        read = self.job()
        self.the_job(read, ranks=3)
        self.assertNotIn("failed_ranks", read["found"])
        for rank, words in enumerate(("did not answer in time", "answered 503", "samples sent to")):
            report = self.report(rank)
            for name in "otlp", "remote_write":
                reason = report["sources"][name]["reason"]
                self.assertIn(words, reason if rank == 2 else said[rank][1])
                self.assertEqual("did not reach" in reason, rank < 2, reason)
            self.assertEqual(report["tracker"]["metrics_lost"] > 0, rank < 2)


if __name__ == "__main__":
    main()
