"""gpu-tracker bench: commands that run repeatedly."""

import csv
import json
import os
import pathlib
import re
import signal
import sys
import unittest
import xml.etree.ElementTree

from command import SANITIZED, CommandTest, main, wait_until

GROW = "import sys; x = bytearray({} * 1000000)"


class BenchTest(CommandTest):
    def bench(self, *arguments, status=0, **options):
        done = self.run_command("bench", *arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def result(self, *arguments, status=0):
        self.bench("-q", "-o", "x.json", *arguments, status=status)
        return json.loads((self.folder / "x.json").read_text())

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!{sys.executable}\n{text}\n")
        path.chmod(0o755)
        return f"./{name}"


class Runs(BenchTest):
    def test_one_command_has_a_table(self):
        done = self.bench("-r", "3", "--", "sh", "-c", "exit 0")
        self.assertIn("3 runs", done.stdout)
        self.assertRegex(done.stdout, r"Wall time .* [mµ]s ± ")
        self.assertRegex(done.stdout, r"RAM peak .* MB")
        self.assertEqual(done.stderr, "")

    def test_ram_of_all_processes_counts(self):
        children = self.script("four", "import os, time\nfor i in range(4):\n    if not os.fork():\n        x = bytearray(50000000); time.sleep(1); os._exit(0)\n"
                               "for i in range(4): os.wait()")
        found = self.result("-r", "3", "--", children)
        ram = found["variants"][0]["figures"]["ram_bytes"]
        self.assertGreater(ram["min"], 200e6)
        self.assertLess(ram["max"], 320e6)

    @unittest.skipIf(SANITIZED, "a fork of a sanitized program is larger than the command")
    def test_ram_is_not_that_of_our_fork_before_it_started_the_command(self):
        own = "while read key value rest; do test $key != VmHWM: || echo peak: $value; done < /proc/$$/status"
        for run in self.result("-r", "60", "--work", "peak: ([0-9]+)", "--", "sh", "-c", own)["runs"]:
            ram, own_bytes = run["figures"]["ram_bytes"], 1024 * run["figures"]["work"]
            self.assertLess(own_bytes if ram is None else ram, 1.25 * own_bytes)

    def test_more_ram_is_seen_and_equal_ram_is_not(self):
        small, large = self.script("small", GROW.format(20)), self.script("large", GROW.format(60))
        found = self.result("-r", "5", "-n", "small", small, "-n", "large", large, "-n", "again", small)
        self.assertEqual([row["name"] for row in found["variants"]], ["small", "large", "again"])
        verdicts = {(row["name"], row["figure"]): row for row in found["comparisons"]}
        self.assertEqual(verdicts["large", "ram_bytes"]["verdict"], "more")
        self.assertGreater(verdicts["large", "ram_bytes"]["change_percent"], 50)
        self.assertIn("% more", verdicts["large", "ram_bytes"]["words"])
        self.assertLess(abs(verdicts["again", "ram_bytes"]["change_percent"]), 5)

    def test_each_block_has_each_command_once_in_an_order_that_a_seed_repeats(self):
        arguments = "-r", "6", "true", "false", "-i"
        first, again, other = (self.result(*arguments, "--seed", seed)["runs"] for seed in ("7", "7", "8"))
        order = [[(run["block"], run["variant"]) for run in runs] for runs in (first, again, other)]
        self.assertEqual(order[0], order[1])
        self.assertNotEqual(order[0], order[2])
        self.assertEqual(sorted(order[0]), [(block, variant) for block in range(6) for variant in range(2)])
        in_order = self.result(*arguments, "--in-order")["runs"]
        self.assertEqual([run["variant"] for run in in_order], [0, 1] * 6)
        self.assertEqual({run["exit_status"] for run in in_order if run["variant"] == 1}, {1})

    def test_parameters_make_a_command_for_each_combination(self):
        found = self.result("-r", "1", "-P", "a=1,2", "-P", "b=3..5", "echo {a} {b} {c}")
        self.assertEqual([row["command"] for row in found["variants"]], [f"echo {a} {b} {{c}}" for a in (1, 2) for b in (3, 4, 5)])
        self.assertEqual(found["variants"][1]["parameters"], {"a": "1", "b": "4"})
        self.assertEqual(found["variants"][1]["name"], "a=1 b=4")
        found = self.result("-r", "1", "-P", "a=1,2", "-P", "b=0..1..1", "--pair", "echo {a} {b}")
        self.assertEqual([row["command"] for row in found["variants"]], ["echo 1 0", "echo 2 1"])

    def test_variables_before_a_command_are_its_environment(self):
        self.bench("-r", "1", "-S", 'test "$NAME" = 1 || exit 9', status=1)
        self.bench("-r", "1", "NAME=1 HOME=/x sh -c 'test \"$NAME$HOME\" = 1/x'")

    def test_lines_run_around_the_runs(self):
        self.bench("-r", "2", "-w", "1", "--setup", "echo setup {n} >> log", "-p", "echo prepare >> log", "--conclude", "echo conclude >> log",
                   "--cleanup", "echo cleanup >> log", "-P", "n=5", "-S", "echo run {n} >> log")
        run = ["prepare", "run 5", "conclude"]
        self.assertEqual((self.folder / "log").read_text().splitlines(), ["setup 5", *run, *run, *run, "cleanup"])

    def test_input_is_a_file_or_nothing(self):
        (self.folder / "in").write_text("abc")
        self.bench("-r", "2", "--input", "in", "-S", "test $(cat) = abc")
        self.bench("-r", "2", "-S", "test -z \"$(cat)\"", stdin=None)

    def test_work_is_a_number_in_the_output(self):
        program = self.script("work", "import sys\nprint('tokens: 5\\nx\\ntokens: 200')\nprint('a' * 100000, file=sys.stderr)")
        figures = self.result("-r", "2", "--work", "tokens: ([0-9]+)", "--", program)["variants"][0]["figures"]
        self.assertEqual(figures["work"]["mean"], 200)
        self.assertAlmostEqual(figures["ram_bytes_per_work"]["mean"], figures["ram_bytes"]["mean"] / 200, delta=1)

    def test_a_pattern_that_matches_nothing_is_said(self):
        self.assertIn("No line of the output matches --work", self.bench("-r", "1", "--work", "tokens: ([0-9]+)", "echo").stderr)

    def test_a_command_that_becomes_another_one_is_said_to_have_changed(self):
        changes = self.script("changes", "import os\nn = os.path.exists('n') and os.path.getsize('n')\nopen('n', 'a').write('x')\nx = bytearray((5, 80)[n >= 6] * 10**6)")
        self.assertRegex(self.bench("-r", "12", changes).stdout, r"\./changes changed while it was measured: RAM peak is [0-9.]+ times as much in its later runs\.")
        self.assertNotIn("changed while", self.bench("-r", "12", self.script("same", GROW.format(5))).stdout)

    def test_output_is_shown_where_it_is_asked_for(self):
        self.assertNotIn("hello", self.bench("-r", "1", "-n", "a", "echo hello").stdout)
        self.assertIn("hello\n", self.bench("-r", "1", "-n", "a", "--show-output", "echo hello").stdout)

    def test_by_itself_it_says_why_it_ended(self):
        head = self.result("--min-time", "0", "--max-time", "0", "true")["bench"]
        self.assertEqual(head["stopped_by"], "time")
        found = self.result("--min-time", "0", "--precision", "1000%", "true")
        self.assertEqual((found["bench"]["stopped_by"], found["variants"][0]["runs"]), ("precision", 5))

    def test_kept_runs_of_one_name_are_files_of_their_own(self):
        self.bench("-r", "2", "--keep", "runs", "-n", "a/b", "true", "-n", "a_b", "true")
        names = sorted(path.name for path in (self.folder / "runs").glob("*.csv"))
        self.assertEqual(names, ["1-a_b.2.csv", "1-a_b.csv", "2-a_b.2.csv", "2-a_b.csv"])

    def test_samples_of_each_run_can_be_kept(self):
        self.bench("-r", "2", "--keep", "runs", "-n", "a/b", "sleep 0.3")
        self.assertEqual(sorted(path.name for path in (self.folder / "runs").glob("*b.csv")), ["1-a_b.csv", "2-a_b.csv"])


class Failures(BenchTest):
    def refused(self, *arguments, status=1):
        done = self.bench(*arguments, status=status)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_a_failure_is_named_with_the_end_of_its_output(self):
        message = self.refused("-S", "echo why >&2; exit 3")
        self.assertIn("ended with exit status 3", message)
        self.assertIn("why", message)
        self.assertIn("ended by signal 9", self.refused("-S", "kill -9 $$"))
        self.assertIn("--prepare ended with exit status 1", self.refused("-p", "false", "true"))

    def test_a_failure_after_some_runs_shows_them(self):
        done = self.bench("-r", "5", "-S", "echo x >> n; test $(wc -l < n) -lt 3", status=1)
        self.assertIn("2 runs", done.stdout)
        self.assertIn("A run failed", done.stdout)

    def test_a_command_that_cannot_start_is_found_before_the_first_run(self):
        self.assertIn('Command not found: "nonsense-program"', self.refused("touch ran", "nonsense-program"))
        self.assertFalse((self.folder / "ran").exists())
        (self.folder / "plain").write_text("")
        self.assertIn("not executable", self.refused("./plain"))

    def test_a_run_that_takes_too_long_is_killed_with_its_tree(self):
        message = self.refused("--timeout", "0.3", "-S", "sleep 1000 & echo $! > pid; wait")
        self.assertIn("longer than 0.3 s", message)
        pid = (self.folder / "pid").read_text().strip()
        wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists() or "Z" in pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2], "its end")

    def test_a_number_of_runs_given_as_a_name_is_noticed(self):
        done = self.run_command("bench", "-n", "3", "-r", "2", "true")
        self.assertIn("gpu-tracker: warning: -n is the name of a command. The number of runs is -r.\n", done.stderr)
        self.assertNotIn("warning", self.run_command("bench", "-n", "v3", "-r", "2", "true").stderr)

    def test_bad_options_are_named(self):
        for arguments, expected in ((("-r", "0", "true"), "--runs"), (("-r", "1.5", "true"), "whole number"), (("-P", "a=1..", "true"), "no end"),
                                    (("-P", "a=1..1e9", "true"), "more than 1000"), (("-P", "a", "true"), "not a parameter"),
                                    (("-P", "a=3..1", "true"), "has to rise"), (("-P", "a=1,2", "echo {b}"), "No command has {a}"), (("-P", "a=1,2", "-P", "b=1", "--pair", "true"), "same number"),
                                    (("--work", "tokens", "true"), "no group"), (("--work", "(", "true"), "regular expression"),
                                    (("--input", "missing", "true"), "missing"), (("",), "Empty command"), (("-n", "a", "-n", "b", "true"), '"b"'),
                                    (("--baseline", "missing.json", "true"), "missing.json"), (("--fail-if", "nonsense > 1", "true"), "nonsense"),
                                    (("--fail-if", "ram = 1", "true"), "has to follow"), (("-o", "missing/x.json", "true"), "missing"),
                                    (("'open", ), "quote"), (("A=1",), "no command")):
            with self.subTest(arguments):
                self.assertIn(expected, self.refused(*arguments))
        self.assertIn("COMMAND", self.bench(status=2).stderr)

    def test_an_interrupt_kills_the_run_and_shows_what_there_is(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number):
                tracker = self.start_command("bench", "-r", "99", "-S", "echo $$ >> pids; test $(wc -l < pids) -lt 3 || sleep 1000; sleep 0.01")
                wait_until(lambda: (self.folder / "pids").exists() and len((self.folder / "pids").read_text().split()) == 3, "the third run")
                tracker.send_signal(number)
                output, _ = tracker.communicate()
                self.assertEqual(tracker.returncode, -number)
                self.assertIn("2 runs", output)
                self.assertIn("interrupted", output)
                (self.folder / "pids").unlink()

    def test_an_interrupt_that_the_command_gets_too_is_no_failure(self):
        line = "echo x >> n; test $(wc -l < n) -lt 3 || { kill -INT $PPID; kill -INT $$; }"
        done = self.run_command("bench", "-r", "9", "-S", line)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGINT, ""))
        self.assertIn("2 runs", done.stdout)
        self.assertIn("It was interrupted", done.stdout)

    def test_a_daemon_does_not_hold_the_run(self):
        self.bench("-r", "2", "-S", "sleep 1000 & echo $! >> pids")
        for pid in (self.folder / "pids").read_text().split():
            os.kill(int(pid), signal.SIGKILL)


class Forms(BenchTest):
    def test_each_form_has_the_figures(self):
        self.bench("-r", "3", "-q", "-o", "x.json", "-n", "a|b <i>", "true", "-n", "other", "sh -c :")
        for form, expected in {"x.csv": "variant,command,block,at_seconds,exit_status,left_out,wall_seconds,", "x.md": "**Wall time**\n\n| variant | mean (95 %) | spread | min | max | compared |\n|---|---:|---:|---:|---:|---|\n| a\\|b \\<i\\> | ",
                               "x.adoc": "|===", "x.html": "a|b &lt;i>"}.items():
            with self.subTest(form):
                self.bench("-r", "3", "-q", "-o", form, "-n", "a|b <i>", "true", "-n", "other", "sh -c :")
                self.assertIn(expected, (self.folder / form).read_text())
        rows = list(csv.DictReader((self.folder / "x.csv").open()))
        self.assertEqual((len(rows), rows[0]["exit_status"]), (6, "0.0"))
        self.assertGreater(float(rows[0]["wall_seconds"]), 0)

    def test_the_page_is_whole_and_has_each_run_and_the_curve_of_a_parameter(self):
        self.bench("-r", "3", "-q", "-o", "x.html", "-P", "n=1,2,4", "sh -c 'exit 0' {n}")
        page = (self.folder / "x.html").read_text()
        self.assertNotIn("http", page)
        charts = re.findall(r"<svg .*?</svg>", page, re.S)
        self.assertGreater(len(charts), 3)
        for chart in charts:
            quoted = re.sub(r"=([^\s\">]+?)(?=[\s>]|/>)", r'="\1"', re.sub(r"<title>.*?</title>", "", chart, flags=re.S))
            xml.etree.ElementTree.fromstring(quoted)
        wall = next(chart for chart in charts if "Wall time of each run" in chart)
        self.assertGreaterEqual(wall.count("<title>"), 9)
        self.assertIn("<polyline", next(chart for chart in charts if "Wall time by parameter" in chart))

    def test_forms_of_other_programs(self):
        self.bench("-r", "3", "-q", "-f", "hyperfine", "-o", "x", "-P", "n=1,2", "sh -c 'exit 0' {n}")
        result = json.loads((self.folder / "x").read_text())["results"][1]
        self.assertEqual((result["command"], result["parameters"], result["exit_codes"], len(result["times"])),
                         ("sh -c 'exit 0' 2", {"n": "2"}, [0, 0, 0], 3))
        self.assertAlmostEqual(result["mean"], sum(result["times"]) / 3)
        self.assertEqual(result["measurements"][0]["time_wall_clock"]["value"], result["times"][0])
        self.assertEqual(result["summary"]["memory_peak_resident"]["mean"], sum(result["memory_usage_byte"]) / 3)
        self.bench("-r", "3", "-q", "-f", "bencher", "-o", "x", "true")
        measure = json.loads((self.folder / "x").read_text())["true"]["wall_seconds"]
        self.assertTrue(measure["lower_value"] <= measure["value"] <= measure["upper_value"])


class Rules(BenchTest):
    def test_a_rule_that_holds_ends_with_3(self):
        small, large = self.script("small", GROW.format(10)), self.script("large", GROW.format(60))
        done = self.bench("-r", "4", small, large, "--fail-if", "ram > +5%", "--fail-if", "ram > 1000000000", status=3)
        self.assertIn('"ram > +5%" holds: ./large', done.stderr)
        self.assertNotIn("1000000000", done.stderr)
        self.bench("-r", "3", small, "--fail-if", "ram > 1000000", status=3)
        self.bench("-r", "4", small, large, "--fail-if", "ram < -5%")

    def test_a_rule_with_nothing_to_compare_with_is_found_before_the_first_run(self):
        done = self.bench("-r", "3", self.script("leaves", "open('ran', 'w')"), "--fail-if", "wall > +5%", status=1)
        self.assertIn("there is nothing to compare with: give a second command, or --baseline FILE.", done.stderr)
        self.assertFalse((self.folder / "ran").exists())

    def test_a_line_for_a_shell_is_told_of_the_shell(self):
        self.assertIn("(a line for a shell needs -S; -i", self.bench("-r", "3", "sh -c 'exit 2' | head", status=1).stderr)
        self.assertNotIn("-S", self.bench("-r", "3", "false", status=1).stderr)

    def test_a_rule_that_meets_no_figure_is_an_error(self):
        self.assertIn("cannot be checked: the result has no such figure", self.bench("-r", "3", "true", "--fail-if", "work > 5", status=1).stderr)

    def test_a_change_of_too_few_runs_is_refused_before_the_first_one(self):
        done = self.bench("-r", "2", self.script("leaves", "open('ran', 'w')"), "true", "--fail-if", "wall > +5%", status=1)
        self.assertIn("a change needs at least 3 runs (-r)", done.stderr)
        self.assertFalse((self.folder / "ran").exists())

    def test_a_rule_that_the_runs_do_not_decide_is_not_kept(self):
        changing = self.script("changing", "import os\nn = os.path.exists('n') and os.path.getsize('n')\nopen('n', 'a').write('x')\nx = bytearray((5, 80)[n % 2] * 10**6)")
        same = self.script("same", GROW.format(5))
        done = self.bench("-r", "4", same, changing, "--fail-if", "ram > +50%", status=1)
        self.assertIn('The rule "ram > +50%" is not decided: ./changing: ', done.stderr)
        self.assertIn("as much is possible. More runs (-r)", done.stderr)
        self.bench("-r", "4", same, same, "--fail-if", "ram > +50%")

    def test_cpu_time_that_varies_is_named_unless_the_work_does(self):
        turns = "import os\nn = os.path.exists('n') and os.path.getsize('n')\nopen('n', 'a').write('x')\nfor i in range((1, 3)[n % 2] * 10**6): pass"
        done = self.bench("-r", "6", "-o", "x.json", self.script("turns", turns))
        counts = json.loads((self.folder / "x.json").read_text())["variants"][0]["figures"].get("instructions")
        (self.assertNotRegex if counts and counts["n"] else self.assertRegex)(done.stdout, r"CPU time of ./turns varies by \d+ % from run to run\. .* What helps: a fixed clock")

    def test_an_earlier_day_is_compared(self):
        small, large = self.script("small", GROW.format(10)), self.script("large", GROW.format(60))
        self.bench("-r", "4", "-q", "-o", "main.json", "-n", "program", small)
        done = self.bench("-r", "4", "--baseline", "main.json", "-n", "program", large, "--fail-if", "ram > +5%", status=3)
        self.assertIn("against main.json", done.stdout)
        self.assertRegex(done.stdout, r"RAM peak .* times as much")
        other = json.loads((self.folder / "main.json").read_text())
        other["machine"]["kernel"] = "Linux 2.6"
        (self.folder / "main.json").write_text(json.dumps(other))
        self.assertIn("kernel was Linux 2.6", self.bench("-r", "3", "--baseline", "main.json", "-n", "program", small).stdout)

    def test_a_rule_meets_each_of_several_commands_or_is_an_error(self):
        self.bench("-r", "3", "-q", "-o", "main.json", "-n", "one", "true")
        done = self.bench("-r", "3", "--baseline", "main.json", "-n", "one", "true", "-n", "two", "sleep 0", "--fail-if", "ram > +900%", status=1)
        self.assertIn('The rule "ram > +900%" cannot be checked: main.json has no command "two"', done.stderr)
        self.assertIn('main.json has no command "two": it is compared with nothing.', done.stdout)
        # Of two commands one prints its work.
        speaks = self.script("speaks", "print('work 7')")
        done = self.bench("-r", "3", "--work", "work ([0-9]+)", speaks, "true", "--fail-if", "work > 8", status=1)
        self.assertIn("cannot be checked: true has no such figure", done.stderr)

    def test_a_baseline_that_is_none_is_refused(self):
        for text in "{}", "[]", "nonsense", '{"bench": {}, "variants": [{"name": "a"}], "runs": [{"variant": 3}]}', '{"bench": 1, "variants": 2, "runs": 3}':
            (self.folder / "bad.json").write_text(text)
            self.assertIn("bad.json", self.bench("--baseline", "bad.json", "true", status=1).stderr)


if __name__ == "__main__":
    main()
