"""gpu-tracker run and -e: the command behaves as without us, and the report goes where it belongs."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

from command import ANNOUNCEMENT, AS_NOBODY, BUILD, COMMAND, PATIENCE, CommandTest, main, python


class ExitStatus(CommandTest):
    def test_the_commands_own_is_passed_on(self):
        for status in (0, 1, 2, 42, 125, 126, 127, 255):
            self.assertEqual(self.run_command("run", "--", "sh", "-c", f"exit {status}").returncode, status)
            self.assertEqual(self.run_command("-e", f"sh -c 'exit {status}'").returncode, status)

    def test_a_command_that_is_not_there(self):
        for name in ("no-such-command", "./no-such-command", "/etc/passwd/x"):
            self.assert_fails(self.run_command("run", "--disable-logs", name), 127, f'Command not found: "{name}"')
            self.assert_fails(self.run_command("-e", f"{name} -x", "--disable-logs"), 1, f'Command not found: "{name}"')
        self.assert_folder_is()

    def test_a_command_that_is_there_but_not_what_runs_it(self):
        """As the scripts of a virtual environment that was moved."""
        cases = [(b"#! /no/such/python -I\n", 'its interpreter "/no/such/python" does not'), (b"#!/bin/sh\r\n", "its shebang line ends with a carriage return, as in Windows")]
        program = pathlib.Path(shutil.which("true")).read_bytes()
        if b"/ld-linux" in program:
            cases.append((program.replace(b"/ld-linux", b"/ld-other"), "the loader that it needs does not: it was built for another C library or machine"))
        for content, why in cases:
            (self.folder / "torchrun").write_bytes(content)
            (self.folder / "torchrun").chmod(0o755)
            for name in "./torchrun", "torchrun":
                done = self.run_command("run", name, env={**os.environ, "PATH": f"{self.folder}:/no/such/folder"})
                self.assert_fails(done, 127, f'Command not found: "{name}" exists, but {why}')

    def test_a_value_after_a_blank_that_was_taken_for_the_command(self):
        done = self.run_command("run", "--otlp", "nowhere", "--", "true")
        self.assertEqual(done.returncode, 127)
        self.assertTrue(done.stderr.endswith("gpu-tracker: a value of --otlp follows an equals sign: --otlp=nowhere\n"), done.stderr)
        self.assertNotIn("equals sign", self.run_command("run", "--otlp=http://127.0.0.1:9", "nowhere", "--").stderr)
        self.assertNotIn("equals sign", self.run_command("run", "-q", "nowhere", "--", "true").stderr)
        self.assertIn("a value of --regions follows an equals sign: --regions=mpi\n", self.run_command("run", "-q", "--regions", "mpi", "./x").stderr)
        self.assertNotIn("equals sign", self.run_command("run", "--regions", "-q", "nowhere").stderr)

    def test_a_command_that_is_not_executable(self):
        (self.folder / "script").write_text("#!/bin/sh\n")
        for form, status in ((["run", "./script"], 126), (["-e", "./script"], 1), (["run", "/"], 126)):
            done = self.run_command("--disable-logs", *form)
            self.assertEqual(done.returncode, status)
            self.assertRegex(done.stderr, r'\Agpu-tracker: Command not executable: "[^"]+".*\n\Z')
        self.assert_folder_is("script")

    def test_a_script_without_a_first_line_is_run_by_the_shell(self):
        (self.folder / "script").write_text("exit 9\n")
        (self.folder / "script").chmod(0o755)
        self.assertEqual(self.run_command("run", "./script").returncode, 9)


class Streams(CommandTest):
    def test_run_prints_only_the_report_and_only_to_standard_error(self):
        done = self.run_command("run", "--disable-logs", "--", "echo", "out")
        self.assertEqual(done.stdout, "out\n")
        self.assertTrue(done.stderr.startswith("gpu-tracker: echo out\n"), done.stderr)
        self.assert_is_summary(done.stderr)

    def test_the_summary_begins_a_line_of_its_own_where_the_command_ended_none(self):
        for command in (["printf", "out"], ["sh", "-c", "printf out >&2"]):
            done = self.run_command("run", "--", *command, capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertIn("out\ngpu-tracker: ", done.stdout)
        done = self.run_command("run", "-f", "full", "--", "printf", "out", capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertIn("out\nMax RAM:\n", done.stdout)
        self.assertTrue(self.run_command("run", "-f", "full", "-o", "-", "--", "true").stdout.startswith("Max RAM:\n"))

    def test_execute_announces_and_prints_to_standard_output(self):
        done = self.run_command("--disable-logs", "-e", "echo out")
        self.assertTrue(done.stdout.startswith(f"out\n{ANNOUNCEMENT}0\nMax RAM:\n"), done.stdout)
        self.assert_is_report(done.stdout)
        self.assertEqual(done.stderr, "")

    def test_an_output_file_takes_the_report_alone(self):
        done = self.run_command("--disable-logs", "-o", "out.txt", "-e", "echo out")
        self.assertEqual((done.stdout, done.stderr), (f"out\n{ANNOUNCEMENT}0\n", ""))
        self.assert_is_report((self.folder / "out.txt").read_text())
        done = self.run_command("run", "--disable-logs", "-o", "run.txt", "echo", "out")
        self.assertEqual((done.stdout, done.stderr), ("out\n", ""))
        self.assert_is_report((self.folder / "run.txt").read_text())

    def test_a_dash_is_the_standard_output(self):
        self.assert_is_summary(self.run_command("run", "-o", "-", "true").stdout)

    def test_arguments_are_passed_untouched(self):
        arguments = ["", " ", "a b", "$HOME", "*", "'", '"', "\\", "--", "-o", "--st=1", "-h", "é", "\n"]
        done = self.run_command("run", "--", *python("import sys; print(repr(sys.argv[1:]))", *arguments))
        self.assertEqual(done.stdout, repr(arguments) + "\n")
        done = self.run_command("run", "printf", "%s|", "-h", "--", "-v")
        self.assertEqual(done.stdout, "-h|--|-v|")

    def test_a_pipe_through_us_is_clean(self):
        data = bytes(range(256)) * 4096
        done = self.run_command("run", "cat", input=data, text=False)
        self.assertEqual(done.stdout, data)

    def test_a_reader_that_leaves_ends_the_command_as_without_us(self):
        script = f"set -o pipefail; '{COMMAND}' run -o /dev/null yes | head -1"
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (128 + 13, "y\n"))

    def test_a_report_without_a_reader_does_not_change_the_status(self):
        read, write = os.pipe()
        os.close(read)
        done = self.run_command("run", "sh", "-c", "exit 5", capture_output=False, stderr=write)
        self.assertEqual(done.returncode, 5)
        done = self.run_command("run", "true", capture_output=False, stderr=write)
        os.close(write)
        self.assertEqual(done.returncode, 0)

    def test_the_command_inherits_what_we_were_given(self):
        read, write = os.pipe()
        code = ("import os, resource; os.write(%d, b'through'); print(os.getcwd(), os.environ['MARK'], "
                "resource.getrlimit(resource.RLIMIT_NOFILE)[0], oct(os.umask(0)), os.nice(0))") % write
        done = self.run_command(
            "run", *python(code), pass_fds=[write], env=os.environ | {"MARK": "here"},
            preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_NOFILE, (123, 200)), os.umask(0o27), os.nice(1)))
        os.close(write)
        self.assertEqual(os.read(read, 100), b"through")
        os.close(read)
        self.assertEqual(done.stdout, f"{os.path.realpath(self.folder)} here 123 0o27 {min(os.nice(0) + 1, 19)}\n")

    def test_files_of_its_own_are_not_limited_by_the_soft_limit(self):
        code = ("import os, resource, time\nwhile resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)[0] != 200: time.sleep(0.01)\n"
                "print(*resource.getrlimit(resource.RLIMIT_NOFILE))")
        done = self.run_command("run", *python(code), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (123, 200)))
        self.assertEqual(done.stdout, "123 200\n", done.stderr)

    def test_it_inherits_nothing_else(self):
        listing = "import os; print(sorted(int(fd) for fd in os.listdir('/proc/self/fd')))"
        plain = subprocess.run(python(listing), capture_output=True, text=True)
        done = self.run_command("run", "--tf", "x.csv", *python(listing))
        self.assertEqual(done.stdout, plain.stdout)


class ClosedStreams(CommandTest):
    def test_closed_streams_stay_closed_for_the_command(self):
        for closed in ("0<&-", "1>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"):
            with self.subTest(closed=closed):
                look = "for fd in 0 1 2 3; do [ -e /proc/$$/fd/$fd ] && echo $fd open >&9 || echo $fd closed >&9; done; exit 6"
                expected = subprocess.run(
                    ["sh", "-c", f"exec 9>expected; sh -c '{look}' {closed}"], cwd=self.folder)
                done = subprocess.run(
                    ["sh", "-c", f"exec 9>seen; '{COMMAND}' run -o report --tf x.csv --overwrite -- sh -c '{look}' {closed}"],
                    cwd=self.folder, timeout=PATIENCE)
                self.assertEqual(done.returncode, expected.returncode)
                self.assertEqual((self.folder / "seen").read_text(), (self.folder / "expected").read_text())
                self.assert_is_report((self.folder / "report").read_text())

    def test_without_any_stream_files_are_whole(self):
        script = f"exec 0<&- 1>&- 2>&-; exec '{COMMAND}' --tf rows.csv -o report -e 'sh -c \"echo lost; echo lost >&2; exit 6\"'"
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, timeout=PATIENCE)
        self.assertEqual(done.returncode, 6)
        self.assertNotIn("lost", (self.folder / "rows.csv").read_text())
        self.assertTrue((self.folder / "rows.csv").read_text().startswith("ram_unit,"))


class Report(CommandTest):
    def test_json_has_the_old_keys_in_order(self):
        report = json.loads(self.run_command("run", "-f", "json", "-o", "-", "true").stdout)
        self.assertEqual(
            list(report)[:5], ["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time"])
        self.assertEqual(list(report["max_ram"]), ["unit", "system_capacity", "system", "main", "descendants", "combined"])
        self.assertEqual(list(report["max_ram"]["main"]), ["total_rss", "private_rss", "shared_rss"])
        self.assertEqual(
            list(report["cpu_utilization"]),
            ["system_core_count", "n_expected_cores", "system", "main", "descendants", "combined", "main_n_threads",
             "descendants_n_threads", "combined_n_threads"])
        self.assertEqual(list(report["compute_time"]), ["unit", "time"])
        self.assertGreater(report["max_ram"]["main"]["total_rss"], 0)

    def test_units_are_those_asked_for(self):
        options = ["--ru", "megabytes", "--gru=kilobytes", "--tu=days", "--nec=3"]
        report = json.loads(self.run_command("run", *options, "-f", "json", "-o", "-", "true").stdout)
        self.assertEqual(report["max_ram"]["unit"], "megabytes")
        self.assertEqual(report["max_gpu_ram"]["unit"], "kilobytes")
        self.assertEqual(report["compute_time"]["unit"], "days")
        self.assertEqual(report["cpu_utilization"]["n_expected_cores"], 3)
        capacity = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e6
        self.assertAlmostEqual(report["max_ram"]["system_capacity"] / capacity, 1, delta=0.01)

    def test_the_figures_of_a_known_program(self):
        code = """
import subprocess, sys, threading, time
block = b"x" * 100_000_000
def spin(seconds):
    while time.process_time() < seconds: pass
sampled = threading.Event()
threading.Thread(target=sampled.wait).start()
work = "import sys, time\\nb = b'x' * 50_000_000\\nwhile time.process_time() < 0.5: pass\\nprint(flush=True); sys.stdin.read()"
child = subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
spin(0.5)
child.stdout.readline()
rows = lambda: open("rows.csv").read().count("\\n")
seen = rows()
while rows() < seen + 2: time.sleep(0.01)
sampled.set()
child.stdin.close()
child.wait()
"""
        done = self.run_command("run", "--st=0.05", "--tf=rows.csv", "--ru=bytes", "--tu=seconds", "-f", "json", "-o", "-", *python(code))
        report = json.loads(done.stdout)
        ram = report["max_ram"]
        self.assertGreater(ram["main"]["private_rss"], 100e6)
        self.assertLess(ram["main"]["private_rss"], 125e6)
        self.assertGreater(ram["descendants"]["total_rss"], 50e6)
        self.assertLess(ram["combined"]["total_rss"], ram["main"]["total_rss"] + ram["descendants"]["total_rss"])
        self.assertEqual(report["cpu_utilization"]["main_n_threads"], 2)
        self.assertGreaterEqual(report["cpu_utilization"]["combined_n_threads"], 3)
        self.assertGreaterEqual(report["accounting"]["cpu_seconds"]["kernel"], 1.0)
        self.assertGreaterEqual(report["compute_time"]["time"], 0.5)

    def test_a_program_of_a_moment_still_has_figures(self):
        report = json.loads(self.run_command("run", "-f", "json", "-o", "-", "sleep", "0.02").stdout)
        self.assertGreater(report["max_ram"]["combined"]["total_rss"], 0)
        self.assertEqual(report["cpu_utilization"]["main_n_threads"], 1)


class Tracked(CommandTest):
    """Real programs."""

    def test_a_shell_pipeline(self):
        done = self.run_command("run", "sh", "-c", "seq 100000 | sort -rn | head -1")
        self.assertEqual(done.stdout, "100000\n")

    def test_a_python_pool(self):
        # A second: who may not listen to the kernel sees a process only if a sample is taken while it lives.
        code = ("import multiprocessing as m, time\nif __name__ == '__main__':\n"
                "  with m.Pool(3) as p: print(sum(p.map(abs, range(1000)))), time.sleep(1)")
        (self.folder / "pool.py").write_text(code)
        done = self.run_command("run", "--st=0.01", "-f", "json", "-o", "report.json", sys.executable, "pool.py")
        self.assertEqual((done.returncode, done.stdout), (0, "499500\n"))
        self.assertGreaterEqual(json.loads((self.folder / "report.json").read_text())["accounting"]["processes"]["seen"], 4)

    def test_a_descendant_that_lives_on_does_not_keep_us(self):
        done = self.run_command("run", "-o", "report", "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!")
        os.kill(int(done.stdout), 15)
        self.assertEqual(done.returncode, 0)

    def test_the_examples(self):
        done = self.run_command("run", "--st=0.02", BUILD / "examples" / "busy-program", "0.1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("busy-program: 150 MB", done.stdout)
        done = subprocess.run([BUILD / "examples" / "track-block"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_is_report(done.stdout)

    def example(self, name, *words):
        done = subprocess.run([BUILD / "examples" / name, *words], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_example_that_prints_results(self):
        text = self.example("print-results", "sh", "-c", "sleep 0.2; true")
        for line in (r"machine procfs: available: .+", r"rank -1, local rank -1 on \S+, -1 restarts", r"tick [1-9]\d*",
                     r"combined_ram: max 0\.\d+, mean 0\.\d+, last 0\.\d+ gigabytes", r"time: \S+ hours", r"source ram: \w+: .+",
                     r"process sleep: \S+ s, peak \w+, end \w+, at least: .+", r"table results: a record of \d+ columns"):
            with self.subTest(line):
                self.assertRegex(text, rf"(?m)^{line}$")

    def test_the_example_that_analyzes_blocks(self):
        text = self.example("analyze-blocks")
        self.assertRegex(text, r"(?m)^block outer\n  2 calls, \d+ samples$")
        self.assertRegex(text, r"(?m)^block inner\n  2 calls, \d+ samples$")
        done = self.run_command("run", "-q", "--st=0.05", "--energy-folder", "rec", "--", "sleep", "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.example("analyze-blocks", "rec"), r"\S+ joules\n\Z")

    def test_in_the_background_without_a_terminal(self):
        script = f"'{COMMAND}' run -o report -- sh -c 'cat; sleep 0.1; echo done' & wait $!; echo status $?"
        done = subprocess.run(
            ["sh", "-c", script], cwd=self.folder, capture_output=True, text=True, start_new_session=True, timeout=PATIENCE)
        self.assertEqual(done.stdout, "done\nstatus 0\n")
        self.assert_is_report((self.folder / "report").read_text())


class Unprivileged(CommandTest):
    def setUp(self):
        super().setUp()
        if os.getuid() != 0:
            self.skipTest("all other tests are run so here")
        self.open_to_nobody(COMMAND)

    def run_as_nobody(self, *arguments):
        return subprocess.run([*AS_NOBODY, "./gpu-tracker", "run", *arguments], cwd=self.folder, capture_output=True,
                              text=True, timeout=PATIENCE)

    def test_everything_of_ones_own_can_be_tracked(self):
        done = self.run_as_nobody("--disable-logs", "-f", "json", "-o", "report", "--", "sleep", "0.1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads((self.folder / "report").read_text())
        self.assertGreater(report["max_ram"]["main"]["total_rss"], 0)

    def test_a_folder_without_write_permission_is_said_before_the_start(self):
        self.folder.chmod(0o755)
        self.assert_fails(
            self.run_as_nobody("-o", "report", "true"), 125,
            "Cannot write report: the folder .: Permission denied")


if __name__ == "__main__":
    main()
