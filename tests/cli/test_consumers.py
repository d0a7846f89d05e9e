"""Programs that use exactly what their arguments say, run under the built command: are the figures true?"""

import csv
import json
import mmap
import os
import pathlib
import re
import resource
import shutil
import subprocess
import unittest

from command import (
    AS_NOBODY, COMMAND, PATIENCE, SANITIZED, CommandTest, in_base_unit, main, parse_text, python, refusal, wait_until)

CONSUMER = os.environ["GPUT_CONSUMER"]
MB = 1e6


def cpu_seconds_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class ConsumerTest(CommandTest):
    def track(self, *command, options=(), **process_options):
        """Tracks a command; the report as JSON, its RAM in megabytes and time in seconds."""
        before = cpu_seconds_of_children()
        done = self.run_command(
            "run", "-f", "json", "-o", "report.json", "--ru", "megabytes", "--tu", "seconds", "--st", "0.05",
            *options, "--", *command, **process_options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.done = done
        report = json.loads((self.folder / "report.json").read_text())
        self.assert_agrees(report)
        # What the kernel gave us, who waited for all of it, less what the tracker says of itself.
        self.true_cpu_seconds = cpu_seconds_of_children() - before - report["tracker"]["cpu_seconds"]
        return report

    def wait_for_rows(self, path, count):
        """Until there are so many more: all but the first are of samples that began later than now."""
        count_rows = lambda: path.read_text().count("\n") if path.exists() else 0
        seen = count_rows()
        wait_until(lambda: count_rows() > seen + count, "samples")

    def consume(self, words, **keywords):
        return self.track(CONSUMER, *words.split(), **keywords)

    def assert_within(self, part, figure, truth, more=0.0):
        self.assertGreaterEqual(figure, truth * (1 - part) - more)
        self.assertLessEqual(figure, truth * (1 + part) + more)

    def assert_accounting_adds_up(self, report):
        cpu = report["accounting"]["cpu_seconds"]
        # The tracker's own beginning and end, outside its session, are in `true`; sanitizers make them long.
        self.assert_within(0.02, cpu["kernel"], self.true_cpu_seconds, more=0.15 if SANITIZED else 0.03)
        self.assert_within(0.02, cpu["sampled"], cpu["kernel"], more=0.04)


class KnownFigures(ConsumerTest):
    def test_300_mb_and_three_seconds_of_cpu(self):
        report = self.consume("alloc 300 child [ spin 1 ] spin 2 wait")
        for scope in ("main", "descendants", "combined"):
            self.assert_within(0.02, report["max_ram"][scope]["total_rss"], 300)
        cpu = report["accounting"]["cpu_seconds"]
        self.assertGreaterEqual(cpu["kernel"], 3)
        self.assert_accounting_adds_up(report)
        usage = report["cpu_utilization"]
        self.assertEqual((usage["main_n_threads"], usage["descendants_n_threads"], usage["combined_n_threads"]), (1, 1, 2))
        self.assertEqual(report["accounting"]["processes"]["seen"], 2)

    def test_mean_percent_times_time_is_the_cpu_time_used(self):
        report = self.consume("child [ spin 0.5 ] spin 0.3 sleep 0.2 wait")
        seconds = report["cpu_utilization"]["combined"]["mean_sum_percent"] / 100 * report["compute_time"]["time"]
        self.assert_within(0.001, seconds, report["accounting"]["cpu_seconds"]["sampled"])

    def test_threads_are_exact(self):
        held, hold = os.pipe()
        tracker = self.start_command(
            "run", "-f", "json", "-o", "report.json", "--st", "0.05", "--tf", "rows.csv", "--",
            CONSUMER, *f"child [ waiters 2 {held} ] waiters 3 {held} wait".split(), pass_fds=[held])
        os.close(held)
        self.assertEqual(tracker.stdout.read(2), "..")  # all seven are there, until we let them go
        self.wait_for_rows(self.folder / "rows.csv", 2)
        os.close(hold)
        _, errors = self.finish(tracker)
        self.assertEqual(tracker.returncode, 0, errors)
        usage = json.loads((self.folder / "report.json").read_text())["cpu_utilization"]
        self.assertEqual(usage["main_n_threads"], 4)
        self.assertEqual(usage["descendants_n_threads"], 3)
        self.assertEqual(usage["combined_n_threads"], 7)

    def test_a_peak_between_two_samples_is_in_the_maximum(self):
        report = self.consume("sleep 0.1 alloc 90 free sleep 0.1", options=["--st", "10"])
        self.assert_within(0.02, report["peaks"]["main"], 90, more=2)
        self.assertGreaterEqual(report["max_ram"]["main"]["total_rss"], 90)

    def test_a_daemon_is_tracked(self):
        ready, is_ready = os.pipe()
        try:  # the command ends when the daemon has done its work, however long that takes
            report = self.consume(f"daemon [ alloc 60 spin 0.3 ready sleep 1 ] await {ready}", stdout=is_ready, capture_output=False, pass_fds=[ready])
        finally:
            os.close(ready)
            os.close(is_ready)
        self.assert_within(0.05, report["max_ram"]["descendants"]["total_rss"], 60)
        self.assertGreaterEqual(report["accounting"]["cpu_seconds"]["kernel"], 0.3)

    def test_what_a_thread_forked_is_tracked(self):
        report = self.consume("thread-child [ alloc 60 sleep 2 ] wait")
        self.assert_within(0.05, report["max_ram"]["descendants"]["total_rss"], 60)

    def test_a_process_whose_first_thread_has_ended(self):
        report = self.consume(
            "alloc 20 exit-leader [ sleep 0.3 alloc 50 child [ alloc 30 spin 0.2 sleep 2 ] spin 0.2 sleep 0.4 wait ]",
            options=["--tf", "rows.csv", "--processes"])
        with open(self.folder / "rows.csv", newline="") as file:
            names, *rows = list(csv.reader(file))[2:]
        main, threads = names.index("main_ram"), names.index("main_n_threads")
        # From when it has reached 50 MB: that is long after its first thread ended. RAM of the moment at which it ends may be missing.
        rows = rows[next(i for i, row in enumerate(rows) if float(row[main] or 0) > 50):]
        while not rows[-1][main]:  # likewise while the process ends, which takes long on a busy machine
            rows.pop()
        self.assertGreaterEqual(min(float(row[main]) for row in rows), 50)
        self.assertEqual({row[threads] for row in rows}, {"1"})
        self.assertGreaterEqual(report["max_ram"]["main"]["total_rss"], 70)
        # The 70 MB of before the fork count once.
        self.assert_within(0.03, report["max_ram"]["combined"]["total_rss"], 100, more=2)
        self.assert_accounting_adds_up(report)
        process = report["processes"][0]
        self.assertGreaterEqual(process["end_timestamp"] - process["start_timestamp"], 0.9)
        self.assertEqual(process["exit_status"], 0)

    def track_in_steps(self, ram_mode):
        """A family that shares, copies, grows and shrinks, held at each step for several samples."""
        main_end, main_pipe = os.pipe()
        children_end, children_pipe = os.pipe()
        words = (f"alloc 40 shared 30 child [ touch alloc 20 ready await {children_end} ] "
                 f"child [ ready await {children_end} ] ready await {main_end} "
                 f"alloc 25 ready await {main_end} free ready await {main_end} wait").split()
        tracker = self.start_command(
            "run", "-f", "json", "-o", f"{ram_mode}.json", "--ru", "megabytes", "--st", "0.02", "--ram", ram_mode, "--tf", f"{ram_mode}.csv",
            "--", CONSUMER, *words, pass_fds=(main_end, children_end))
        os.close(main_end)
        os.close(children_end)
        for ready in (3, 1, 1):
            self.assertEqual(tracker.stdout.read(ready), "." * ready)
            self.wait_for_rows(self.folder / f"{ram_mode}.csv", 20)
            os.write(main_pipe, b".")
        os.close(children_pipe)
        _, errors = self.finish(tracker)
        os.close(main_pipe)
        self.assertEqual(tracker.returncode, 0, errors)
        with open(self.folder / f"{ram_mode}.csv", newline="") as file:
            names, *rows = list(csv.reader(file))[2:]
        main, descendants, combined = (names.index(f"{scope}_ram") for scope in ("main", "descendants", "combined"))
        # Also in a row of a moment at which members freed memory or ended.
        for row in rows:
            if row[main] and row[descendants]:
                self.assertLessEqual(float(row[combined]), float(row[main]) + float(row[descendants]) + 0.01, row)
        return json.loads((self.folder / f"{ram_mode}.json").read_text())["max_ram"]

    def test_exact_and_adaptive_agree(self):
        adaptive, exact = self.track_in_steps("adaptive"), self.track_in_steps("exact")
        for scope in ("main", "descendants", "combined"):
            self.assert_within(0.01, adaptive[scope]["total_rss"], exact[scope]["total_rss"], more=0.2)
        # 40 in main and one child, 40 + 20 in the other, 30 shared, and 25 in main.
        self.assert_within(0.02, exact["combined"]["total_rss"], 155, more=2)


class CountedOnce(ConsumerTest):
    def test_a_shared_mapping(self):
        report = self.consume("shared 150 child [ touch sleep 2 ] child [ touch sleep 2 ] touch wait")
        for scope in ("main", "descendants", "combined"):
            self.assert_within(0.02, report["max_ram"][scope]["total_rss"], 150, more=1)

    def test_a_file_that_three_processes_map(self):
        path = self.folder / "data"
        path.write_bytes(b"x" * 60_000_000)
        report = self.consume(f"child [ file {path} sleep 2 ] child [ file {path} sleep 2 ] file {path} wait")
        for scope in ("main", "descendants", "combined"):
            self.assert_within(0.02, report["max_ram"][scope]["total_rss"], 60, more=2)

    def test_memory_from_before_a_fork(self):
        report = self.consume(
            "alloc 100 alloc 100 alloc 100 alloc 100 child [ sleep 2 ] child [ sleep 2 ] sleep 2 wait")
        for scope in ("main", "descendants", "combined"):
            self.assert_within(0.02, report["max_ram"][scope]["total_rss"], 400)

    def test_copies_after_a_fork_count_for_each(self):
        report = self.consume("alloc 80 child [ touch sleep 2 ] child [ touch sleep 2 ] wait")
        self.assert_within(0.02, report["max_ram"]["main"]["total_rss"], 80, more=1)
        # Of all three 1 % may be copied unseen: what a child has copied counts for it, and until main is read again as main's too.
        self.assert_within(0.02, report["max_ram"]["descendants"]["total_rss"], 160, more=1 + 0.01 * 240)
        self.assert_within(0.02, report["max_ram"]["combined"]["total_rss"], 240, more=1)


    def test_bursts_of_a_server_never_count_for_more_than_they_are(self):
        """Shared memory of all, and backends that take memory for moments between two samples, with and without forks."""
        backend = "child [ touch " + "sleep 0.1 burst 40 0.05 " * 12 + "] "
        fork = "sleep 0.1 " + "child [ touch burst 40 0.05 ] " * 3 + "wait "
        for words in 3 * backend + "wait", 6 * fork:
            report = self.consume("shared 60 " + words, options=("--st", "1"))
            self.assertLessEqual(report["peaks"]["combined"], 60 + 3 * 40 + 8)
            self.assertGreater(report["peaks"]["combined"], 60 + 39)

    def test_files_of_the_command_that_others_map_are_not_its_ram(self):
        command = self.start_command(
            "run", "-f", "json", "-o", "report.json", "--ru", "megabytes", "--st", "0.2", "--",
            "sh", "-c", "head -c 100000000 /dev/zero > file; > written; until [ -e mapped ]; do sleep 0.05; done; sleep 1 & wait")
        wait_until((self.folder / "written").exists, "the file")
        with open(self.folder / "file", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
            self.assertEqual(sum(pages[at] for at in range(0, len(pages), mmap.PAGESIZE)), 0)
            (self.folder / "mapped").touch()
            self.finish(command)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertLess(report["peaks"]["combined"], 30)
        self.assertLess(report["max_ram"]["combined"]["total_rss"], 30)


class JsonAndText(ConsumerTest):
    LABELS = {"number of expected": "n_expected", "number of threads": "n_threads", ", at least": ""}
    # What a label in text has in place of a unit, which is in the value there.
    IN_PLACE_OF_UNIT = re.compile(r"(_some_seconds|_full_seconds|_seconds|,_some_tasks_waited|,_all_tasks_waited|_time)$")
    # Sections whose labels are the words of the summary: "Asleep (pipe)" for pipe_seconds.
    IN_WORDS = "time_went", "main_thread", "other_threads", "gpu_idle", "gpu_idle_others"

    def leaves(self, value, path=(), has_units=False):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from self.leaves(inner, (*path, self.key_of(key)), has_units)
        elif has_units or path[-1] != "unit":
            yield path, value

    def key_of(self, label):
        label = label.lower()
        for words, key in self.LABELS.items():
            label = label.replace(words, key)
        return label.replace(" ", "_").replace("i/o", "io")

    def test_say_the_same(self):
        tracker = self.start_command(
            "run", "--st", "0.05", "--resource-usage-file", "kept", "--",
            CONSUMER, "alloc", "50", "child", "[", "spin", "0.2", "]", "spin", "0.2", "sleep", "100")
        shown = lambda *options: self.run_command("show", *options, "kept")
        wait_until(lambda: shown("-f", "json").returncode == 0 and
                   json.loads(shown("-f", "json").stdout)["tracker"]["ticks"] > 20, "kept results")
        # The same figures in both forms, which a session that goes on does not give.
        children = pathlib.Path(f"/proc/{tracker.pid}/task/{tracker.pid}/children").read_text().split()
        tracker.kill()
        tracker.wait()
        for pid in children:
            os.kill(int(pid), 9)
        base_units = ["--ru", "bytes", "--gru", "bytes", "--tu", "seconds"]
        in_json = list(self.leaves(json.loads(shown("-f", "json", *base_units).stdout)))
        in_text = list(self.leaves(parse_text(shown("-f", "full").stdout)))
        self.compare(in_json, in_text)
        self.assertRegex(dict(in_text)["max_ram", "system"], r"\A[0-9.]+ [MG]B\Z")
        units = ["--ru", "megabytes", "--gru", "megabytes", "--tu", "minutes"]
        in_json = list(self.leaves(json.loads(shown("-f", "json", *units).stdout), has_units=True))
        in_text = list(self.leaves(parse_text(shown("-f", "full", *units).stdout), has_units=True))
        self.compare(in_json, in_text)
        self.assertIn((("max_ram", "unit"), "megabytes"), in_text)
        self.assertRegex(dict(in_text)["tracker", "rss"], r"\A[0-9.]+ megabytes\Z")

    def named(self, leaves):
        return [path[0] if path[0] in self.IN_WORDS else tuple(self.IN_PLACE_OF_UNIT.sub("", key) for key in path) for path, _ in leaves]

    def compare(self, in_json, in_text):
        self.assertEqual(self.named(in_text), self.named(in_json))
        for (path, number), (_, text) in zip(in_json, in_text):
            if not isinstance(number, (int, float)):
                self.assertTrue(number is None or text == str(number), path)
            elif re.fullmatch(r"[0-9.]+ megabytes", text):
                self.assertAlmostEqual(float(text.split()[0]), number, delta=0.0005001, msg=path)
            elif " " in text:  # three digits
                self.assertLessEqual(abs(in_base_unit(text) - number), 0.0051 * abs(number) + 1e-12, f"{path}: {text} is not {number}")
            else:  # three decimals, or two digits where there would be none left
                self.assertAlmostEqual(float(text), number, delta=0.0005001, msg=path)


class RealPrograms(ConsumerTest):
    def test_5000_short_lived_children(self):
        report = self.consume("swarm 5000 0", options=["--st", "0.01"])
        self.assert_accounting_adds_up(report)
        self.assertLessEqual(len(self.done.stderr.splitlines()), 2, self.done.stderr)
        self.assertGreaterEqual(report["accounting"]["processes"]["seen"], 2)
        self.assertEqual(report["cpu_utilization"]["main_n_threads"], 1)

    def test_children_that_live_between_samples_are_accounted_for(self):
        report = self.consume("swarm 60 0.01", options=["--st", "5"])
        self.assertGreaterEqual(report["accounting"]["cpu_seconds"]["kernel"], 0.6)
        self.assert_accounting_adds_up(report)

    def test_a_shell_pipeline(self):
        report = self.track("sh", "-c", "seq 300000 | sort -rn | tail -1 | tr 1 x")
        self.assertEqual(self.done.stdout, "x\n")
        self.assert_accounting_adds_up(report)

    def test_a_python_multiprocessing_pool(self):
        code = """
import multiprocessing
def work(number):
    return sum(i * i for i in range(200000)) + number
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(len(pool.map(work, range(20))))
        pool.close()
        pool.join()
"""
        report = self.track(*python(code))
        self.assertEqual(self.done.stdout, "20\n")
        self.assertGreaterEqual(report["accounting"]["processes"]["seen"], 4)
        self.assert_accounting_adds_up(report)

    @unittest.skipUnless(shutil.which("make") and shutil.which("cc"), "needs make and cc")
    def test_a_parallel_build(self):
        for i in range(4):
            (self.folder / f"part{i}.c").write_text(f"#include <stdio.h>\nint part{i}(void) {{ return {i}; }}\n")
        calls = "".join(f"int part{i}(void);\n" for i in range(4))
        (self.folder / "main.c").write_text(
            calls + "int main(void) { return part0() + part1() + part2() + part3() == 6 ? 0 : 1; }\n")
        (self.folder / "Makefile").write_text(
            "program: main.o part0.o part1.o part2.o part3.o\n\tcc -o $@ $^\n%.o: %.c\n\tcc -c -O1 -o $@ $<\n")
        report = self.track("make", "-s", "-j2", options=["--st", "0.01"])
        self.assertEqual(subprocess.run([self.folder / "program"]).returncode, 0)
        self.assertGreater(report["accounting"]["processes"]["seen"], 5)
        self.assert_accounting_adds_up(report)


HIDDEN = ["unshare", "--mount", "--pid", "--fork", "sh", "-c",
          'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh"]
NO_HIDDEN = refusal(*HIDDEN, *AS_NOBODY, "true")


class WithoutRights(ConsumerTest):
    """As a user who may not see or read what others run. Everything of one's own is to be there."""

    def setUp(self):
        super().setUp()
        self.open_to_nobody(COMMAND, CONSUMER)

    def track_in_shell(self, *prefix):
        words = "alloc 80 child [ spin 0.3 ] spin 0.2 wait".split()
        done = subprocess.run(
            [*prefix, "./gpu-tracker", "run", "-f", "json", "-o", "report.json", "--ru", "megabytes", "--st", "0.05",
             "--", "./consumer", *words], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        self.assert_agrees(report)
        for scope in ("main", "descendants", "combined"):
            self.assert_within(0.03, report["max_ram"][scope]["total_rss"], 80, more=1)
        self.assertGreaterEqual(report["accounting"]["cpu_seconds"]["kernel"], 0.5)
        self.assert_within(
            0.02, report["accounting"]["cpu_seconds"]["sampled"], report["accounting"]["cpu_seconds"]["kernel"], 0.03)
        self.assertEqual(report["accounting"]["processes"]["seen"], 2)
        self.assertEqual(report["sources"]["ram"]["state"], "sampled")
        self.assertNotIn("no permission", report["sources"]["ram"]["reason"])

    def test_as_a_user_without_rights(self):
        self.track_in_shell(*AS_NOBODY)

    @unittest.skipIf(NO_HIDDEN, f"cannot mount a procfs with hidepid: {NO_HIDDEN}")
    def test_where_processes_of_others_are_hidden(self):
        self.track_in_shell(*HIDDEN, *AS_NOBODY)

    @unittest.skipIf(NO_HIDDEN, f"cannot mount a procfs with hidepid: {NO_HIDDEN}")
    def test_a_hidden_process_cannot_be_attached_to(self):
        # Pid 1 of the new namespace is root's shell.
        done = subprocess.run(
            [*HIDDEN, "sh", "-c", 'sleep 1000 & "$@"; status=$?; kill $!; exit $status', "sh", *AS_NOBODY,
             "./gpu-tracker", "attach", "--disable-logs", "1"],
            cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr, "gpu-tracker: Process 1 exists, but procfs shows it only to its owner and root (hidepid).\n")

    def test_what_may_not_be_read_is_said(self):
        """Another user's processes: their statm is for all, their maps are not. Both have the 40 MB."""
        words = "alloc 40 child [ await 0 ] await 0 wait".split()
        consumer = subprocess.Popen([CONSUMER, *words], stdin=subprocess.PIPE)
        try:
            if hidden := refusal(*AS_NOBODY, "cat", f"/proc/{consumer.pid}/statm"):
                self.skipTest(f"processes of others are hidden here: {hidden}")
            wait_until(lambda: int(pathlib.Path(f"/proc/{consumer.pid}/statm").read_text().split()[1]) > 9700)
            done = subprocess.run(
                [*AS_NOBODY, "./gpu-tracker", "attach", "-f", "json", "-o", "report.json", "--ru", "megabytes",
                 "--for", "0.3", "--st", "0.1", str(consumer.pid)],
                cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        finally:
            consumer.stdin.close()
            consumer.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        self.assert_agrees(report)
        for scope in ("main", "descendants", "combined"):
            self.assert_within(0.02, report["max_ram"][scope]["total_rss"], 40, more=2)
        self.assertIn("at least: no permission to read the memory maps of 2 of 2 processes", report["sources"]["ram"]["reason"])


if __name__ == "__main__":
    main()
