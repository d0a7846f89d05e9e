"""The command line itself: help, version, how options are written, and what is said about wrong ones."""

import json
import os
import re
import shutil
import signal
import subprocess

from command import BUILD, SOURCE, CommandTest, main

ONE_SCREEN = 23  # lines: 24 with the prompt after them


# As the Python class calls them.
LONGER_NAMES = {"st": ["sleep-time", "interval"], "ru": ["ram-unit"], "gru": ["gpu-ram-unit"], "tu": ["time-unit"],
                "nec": ["expected-cores", "n-expected-cores"], "guuids": ["gpu-uuids"], "gb": ["gpu-brand"], "tf": ["tracking-file"],
                "eu": ["energy-unit"], "ram": ["ram-mode"]}

# What people type, and what the answer has to suggest.
SLIPS = """
rn true: run | rum true: run | exec true: run | execute true: run | start true: run | track true: run | measure true: run
atach 1: attach | attatch 1: attach | pid 1: attach | watch 1: live | monitor 1: live | top: live | liev: live
doctr: doctor | docter: doctor | check: doctor | hepl: help | comprae a b: compare | diff a b: compare
analyze x: sub-track analyze | analyse x: sub-track analyze | combine x: sub-track combine | merge x: timeline merge
subtrack analyze: sub-track | sub_track analyze: sub-track | repport x: report | reprot x: report | html x: report
graph x: plot | plto x: plot | server: serve | sevre: serve | metrics: serve | send x: push | psuh x: push
jobs x: job | ranks x: job | record x: energy record | power: energy record | energie summary x: energy
sub-track anaylze: analyze | sub-track diff: compare | energy sumary x: summary | energy report x: summary
run --outptu x -- true: --output | run --fromat json -- true: --format | run --json -- true: --format=json | run --csv -- true: --tf
run --sampling-interval 1 -- true: --interval | run --timeout 5 -- true: --limit=seconds | run --silent -- true: --quiet
run --verbose -- true: --processes | run --tracking_fil x.csv -- true: --tracking-file | run --html x -- true: --report
run --memory -- true: --limit=ram | run --limits ram=1 -- true: --limit | run --region -- true: --regions | run --period 1 -- true: --interval
run --force -- true: --overwrite | run --gpus 0 -- true: --gpu-uuids | run --pid 1: attach | attach --duration 5 1: --for
run --interva 1 -- true: --interval | run --ram-unt kilobytes -- true: --ram-unit
run --time 5 -- true: --limit=seconds= | run --duration 5 -- true: --limit=seconds= | run --mem 8GB -- true: --limit=ram=
run --max-ram 8GB -- true: --limit=ram= | run --file x -- true: --output | run --save x -- true: --output
run --sqlite x -- true: --tf=<file.sqlite> | run --db x -- true: --tf=<file.sqlite> | run --freq 1 -- true: --interval
run --every 1 -- true: --interval | run --sample 1 -- true: --interval | run --sampling 1 -- true: --interval
run --plot x -- true: --report | run --watch -- true: --live | run --mb -- true: --ram-unit=megabytes
run --poll 1 -- true: --interval | gpus -l: --watch | history --last: -n
bench -m 3 true: --runs | bench --min-runs 3 true: --runs | bench --export-json x true: --output | bench -L x=1,2 true: --parameter
version: --version | list: history | stats: job | smi: gpus | gpu: gpus
"""

# What is near to nothing.
NO_SLIPS = ["--name", "--runs", "--shell", "--stop", "--repeat", "--nonsense"]

# A wrong line, and a piece of the way out that its answer ends with.
MISTAKES = [
    (["run"], "for example: gpu-tracker run -- make -j8"),
    (["run", "true 1"], "Without them: gpu-tracker run -- true 1"),
    (["run", "true | true"], "gpu-tracker run -- sh -c 'true | true'"),
    (["run", "A=1 true"], "gpu-tracker run -- sh -c 'A=1 true'"),
    (["run", "A=1", "true"], "gpu-tracker run -- env A=1 true"),
    (["run", "no-such-program"], 'Command not found: "no-such-program"'),
    (["run", "./plain"], "Is it a program, with the execute permission set?"),
    (["run", "--otlp", "http://127.0.0.1:1", "--", "true"], "--otlp=http://127.0.0.1:1"),
    (["run", "--regions", "mpi", "./x"], "--regions=mpi"),
    (["run", "--regions=cuda", "true"], "Valid are: nvtx"),
    (["run", "-e", "true"], "gpu-tracker run -- COMMAND"),
    (["run", "--st", "0", "true"], "a number of seconds, 0.001 or more, such as 0.1"),
    (["run", "--st", "1s", "true"], "a number of seconds, 0.001 or more, such as 0.1"),
    (["run", "-f", "yaml", "true"], "Valid values are"),
    (["run", "-f", "jsno", "true"], "did you mean json?"),
    (["run", "--ru", "GB", "true"], "did you mean gigabytes? Valid values are bytes, kilobytes, megabytes"),
    (["run", "--tf", "x.txt", "true"], ".csv"),
    (["run", "-o", ".", "true"], "it is a folder"),
    (["run", "--limit", "8GB", "true"], "ram="),
    (["run", "--limit", "ram=lots", "true"], "ram="),
    (["run", "--limit", "rma=8GB", "true"], "ram"),
    (["run", "--enforce", "true"], "for example --limit ram=8GB"),
    (["run", "--tconfig", "none.json", "true"], "none.json"),
    (["run", "--tf"], "--tf <tracking-file>"),
    (["run", "--quiet=yes", "true"], "Write only --quiet"),
    (["env", "true"], "gpu-tracker run -- env true"),
    (["no-such-program"], "gpu-tracker run -- no-such-program"),
    (["attach"], "gpu-tracker attach"),
    (["attach", "python"], "gpu-tracker"),
    (["attach", "0"], "is"),
    (["attach", "--", "true"], "gpu-tracker run -- COMMAND"),
    (["compare", "a.json"], "gpu-tracker compare old.json new.json"),
    (["compare", "none.json", "none.json"], "none.json: No such file"),
    (["report"], "name what to show: gpu-tracker report SESSION"),
    (["report", "none.csv"], "none.csv"),
    (["show"], "gpu-tracker show usage.json"),
    (["show", "plain"], "plain is not a resource usage file or report of gpu-tracker."),
    (["sub-track"], "combine, analyze, compare"),
    (["sub-track", "compare"], "-m"),
    (["mark", "begin", "x"], "start, stop"),
    (["help", "rnu"], "did you mean run?"),
    (["-e"], "Option -e needs a value"),
    (["run", "-v", "true"], "gpu-tracker --version. Details of a run: -f full."),
    (["run", "script.py", "1"], "script.py is a file here: gpu-tracker run -- python3 script.py"),
    (["run", "./script.py"], "./script.py is a file here: gpu-tracker run -- python3 ./script.py"),
    (["run", "no-program"], "no-program is a file here: gpu-tracker run -- ./no-program"),
    (["run", "cd", "/tmp"], "cd is a shell's own: gpu-tracker run -- sh -c 'cd /tmp'"),
    (["run", "source", "x"], "source is a shell's own: gpu-tracker run -- bash -c 'source x'"),
    (["run", "-o", "a.html", "false"], "; --report a.html writes the page"),
    (["run", "-o", "a.csv", "false"], "; --tf a.csv keeps the samples"),
    (["run", "--tf", "x.parquet", "true"], "Parquet: gpu-tracker report x.sqlite -o x.parquet"),
    (["run", "--st", "100ms", "true"], ", such as 0.1"),
    (["attach", "--for", "2m", "1"], ", such as 90"),
    (["run", "--ru", "MB", "true"], "did you mean megabytes?"),
    (["run", "--gru", "gb", "true"], "did you mean gigabytes?"),
    (["run", "--tu", "s", "true"], "did you mean seconds?"),
    (["show", "samples.sqlite"], "gpu-tracker. A tracking file: gpu-tracker report samples.sqlite"),
    (["sub-track", "analyze", "samples.csv"], ": did you mean --tf samples.csv?"),
    (["plot", "usage.json"], "Keep samples with run --tf."),
    (["compare", "folder"], "A folder: gpu-tracker job folder"),
    (["compare", "folder", "usage.json"], "gpu-tracker job folder shows a folder"),
    (["live", "999999999"], "There is no process 999999999 to track."),
    (["run", "--tf", "--", "true"], "Option --tf needs a value: --tf <tracking-file>"),
    (["run", "-o", "--", "true"], "Option -o needs a value: -o <output>"),
    (["run", "--report", "--", "true"], "Option --report needs a value: --report <file>"),
    (["run", "--ru", "Megabytes", "true"], "did you mean megabytes?"),
    (["run", "--ru", "GB", "true"], "did you mean gigabytes?"),
    (["run", "--tu", "Sec", "true"], "did you mean seconds?"),
    (["run", "-f", "JSON", "true"], "did you mean json?"),
    (["run", "-f", "Full", "true"], "did you mean full?"),
    (["run", "-f", "html", "true"], "--report x.html writes the page"),
    (["run", "-f", "csv", "true"], "--tf x.csv keeps the samples"),
    (["run", "-o", "folder", "true"], "Name a file in it."),
    (["run", "--tf", "folder", "true"], "folder is a folder. A tracking file in it: --tf folder/samples.sqlite"),
    (["run", "--tf", "samples", "true"], "For example: --tf samples.sqlite"),
    (["run", "--tf", "samples.CSV", "true"], "For example: --tf samples.sqlite"),
    (["run", "--tf", "a.b/samples", "true"], "For example: --tf a.b/samples.sqlite"),
    (["run", "--tf", "usage.x.json", "true"], "--tf usage.x.sqlite; results as JSON: -o usage.x.json"),
    (["run", "--limit", "ram=8", "true"], "With a unit: ram=8GB"),
    (["run", "--limit", "8GB", "true"], "for example ram=8GB"),
    (["run", "--limit", "memory=8GB", "true"], "for example ram=8GB"),
    (["run", "--", "-o", "x.json", "true"], "options go before the command: gpu-tracker run [OPTIONS] -- COMMAND"),
    (["run", "\u2013o", "x.json", "true"], "As an option: -o"),
    (["run", "\u2014interval", "1", "true"], "As an option: --interval"),
    (["run", "--device", "0", "true"], "did you mean --gpu-uuids"),
    (["run", "-t", "1", "true"], "did you mean --interval=<seconds>?"),
    (["run", "-V"], "did you mean --version?"),
    (["-V"], "did you mean --version?"),
    (["--", "true"], "To give the command as it is: gpu-tracker run [OPTIONS] -- COMMAND"),
    (["--tf", "x.csv", "--", "true"], "To give the command as it is: gpu-tracker run [OPTIONS] -- COMMAND"),
    (["RUN", "--", "true"], "did you mean run?"),
    (["attach", "-p", "1"], "did you mean gpu-tracker attach <pid>?"),
    (["live", "--pid", "1"], "did you mean gpu-tracker live <pid>?"),
    (["serve", "9000"], "gpu-tracker serve --listen 9000"),
    (["serve", "--port", "9000"], "did you mean --listen=<port>?"),
    (["mark", "begin", "x"], "Did you mean start?"),
    (["mark", "end", "x"], "Did you mean stop?"),
    (["manual"], "did you mean help?"),
    (["show", "folder"], "gpu-tracker job folder shows a folder"),
    (["-e", "sleep", "1"], '-e takes the whole command in quotes: gpu-tracker -e "sleep 1"'),
    (["-e", "python", "train.py", "--st=0.3"], 'gpu-tracker -e "python train.py"'),
    (["run", "--interval", "fast", "--", "true"], "--interval=fast is not a valid sleep time. It is a number of seconds"),
    (["run", "--interval", "--", "true"], "Option --interval needs a value: --interval <sleep-time>"),
    (["run", "--live", "5", "--", "true"], "--live takes no value. Options: gpu-tracker run -h"),
    (["run", "--name", "x", "--", "true"], "See gpu-tracker run --help"),
    (["show", "--nonsense", "x"], "Options of gpu-tracker show: --help"),
]


class Help(CommandTest):
    def test_help_begins_with_what_it_is_and_how_it_is_used(self):
        for option in ("--help", "--hel"):
            done = self.run_command(option)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith(
                "gpu-tracker shows what a command, and all that it starts, really uses.\n\nUsage:\n    gpu-tracker run "))
            self.assertIn(  # of the older command, before its options
                "Tracks the computational resource usage (RAM, GPU RAM, CPU utilization, GPU utilization, and compute"
                " time) of a process corresponding to a given shell command. Options:", " ".join(done.stdout.split()))

    def test_short_help_is_on_one_screen_with_examples_first(self):
        self.assertEqual(self.run_command("-h").stdout, self.run_command("help").stdout)
        for command in self.commands():
            done = self.run_command(*command.split(), "-h")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertLessEqual(len(done.stdout.splitlines()), ONE_SCREEN, command)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80, command)
            self.assertRegex(done.stdout, rf"\AUsage:\n    gpu-tracker {command} .*\n(        .*\n)*.+\.\n\nExamples:\n    gpu-tracker {command}\b")
            self.assertIn(f"(all about them: gpu-tracker {command} --help)", done.stdout)
            whole = self.run_command(*command.split(), "--help").stdout
            for option in re.findall(r"(?<= )--[a-z][a-z-]*(?=[ =\[])", done.stdout.split("\nOptions")[1].split("\n", 1)[1]):
                self.assertIn(option, whole)

    def commands(self):
        overview = self.run_command("--help").stdout
        listed = overview.split("Commands")[1].split("\nOptions:")[0]
        return re.findall(r"(?m)^    ([a-z][a-z-]*(?: [a-z]+)?)(?:  |$)", listed)

    def test_help_lists_every_command_and_each_has_its_own(self):
        self.assertLessEqual({"run", "attach", "show"}, set(self.commands()))
        for command in self.commands():
            done = self.run_command(*command.split(), "--help")
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stdout.startswith(f"Usage:\n    gpu-tracker {command} "), done.stdout)

    def test_a_family_of_commands_has_help_too(self):
        families = {command.split()[0] for command in self.commands() if " " in command}
        self.assertLessEqual({"mark", "sub-track", "energy", "profile", "pytorch", "timeline"}, families)
        for family in families:
            done = self.run_command(family, "-h")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            members = [command for command in self.commands() if command.startswith(family + " ")]
            listed = done.stdout.split("\nOlder names")[0]
            self.assertEqual(re.findall(rf"(?m)^    ({family} [a-z]+) ", listed), members)
            self.assertEqual(self.run_command("--help", family).stdout, done.stdout)

    def test_topics_are_on_one_screen_and_name_every_command(self):
        text = self.run_command("help").stdout
        self.assertLessEqual(len(text.splitlines()), ONE_SCREEN)
        words = " ".join(text.split())
        for command in self.commands():
            self.assertRegex(words, rf"\b{command.replace(' ', ' ([a-z]+, )*')}\b")

    def test_each_topic_begins_with_examples(self):
        topics = re.findall(r"(?m)^    ([a-z]+)  ", self.run_command("help").stdout)
        self.assertEqual(topics, ["track", "report", "blocks", "energy", "training", "serve"])
        named = set()
        for topic in topics:
            done = self.run_command("help", topic)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"\A.+\.\n\nExamples:\n    gpu-tracker .*\n")
            named |= set(re.findall(r"(?m)^    ([a-z-]+(?: [a-z]+)?)  ", done.stdout.split("Commands")[1]))
            more = re.search(r"\nMore: gpu-tracker ([a-z -]+) --help \(or man gpu-tracker-[a-z-]+\)\n\Z", done.stdout)
            self.assertTrue(more, done.stdout)
            self.assertEqual(self.run_command(*more[1].split(), "--help").returncode, 0)
            self.assertLessEqual(len(done.stdout.splitlines()), ONE_SCREEN, topic)
        self.assertEqual(named, set(self.commands()))

    def test_older_names_are_commands_too(self):
        self.assertIn("profile kernels", self.run_command("help", "profile").stdout.split("Older names")[1])
        self.assertEqual(self.run_command("profile", "kernels", "--help").stdout, self.run_command("pytorch", "kernels", "--help").stdout)

    def test_help_of_a_command_or_a_family_is_that_of_its_option(self):
        for words in (["run"], ["sub-track", "analyze"], ["profile"], ["mark"]):
            self.assertEqual(self.run_command("help", *words).stdout, self.run_command(*words, "--help").stdout)
        self.assertRegex(
            self.run_command("help", "rnu").stderr,
            r'\Agpu-tracker: There is no help on "rnu": did you mean run\? Topics and commands: track .*\brun\b.*\n\Z')
        self.assertEqual(self.run_command("help", "rnu").returncode, 2)
        self.assertIn('"anaylze": did you mean sub-track analyze?', self.run_command("help", "anaylze").stderr)
        self.assertRegex(self.run_command("help", "sub-track").stdout, r"\nExamples:\n(    gpu-tracker sub-track [^\n]*\n){3}\n")

    def test_each_command_has_examples_that_it_understands(self):
        for command in self.commands():
            text = self.run_command(*command.split(), "--help").stdout
            usage, examples = text.split("\n\n")[:2]
            self.assertRegex(examples, rf"\AExamples:\n    gpu-tracker {command}\b")
            for option in re.findall(r"(?<= )--?[a-z][a-z-]*", re.sub(r" -- .*", "", examples)):
                if option not in ("-O", "-m", "-p"):
                    self.assertRegex(text, rf"(?m)^    (-. )?{option}\b")

    def test_help_is_readable_in_80_columns(self):
        for command in ["", *self.commands()]:
            text = self.run_command(*command.split(), "--help").stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 80, command)

    def test_help_names_every_option_of_the_old_command(self):
        text = self.run_command("--help").stdout
        for usage in (
            "-h --help", "-v --version", "-e --execute=<command>", "-o --output=<output>", "-f --format=<format>",
            "--tconfig=<config-file>", "--st=<sleep-time>", "--ru=<ram-unit>", "--gru=<gpu-ram-unit>",
            "--tu=<time-unit>", "--nec=<num-cores>", "--guuids=<gpu-uuids>", "--disable-logs", "--gb=<gpu-brand>",
            "--tf=<tracking-file>", "--overwrite",
        ):
            self.assertIn(f"    {usage}", text)

    def test_a_closed_pipe_ends_it_without_a_word(self):
        for arguments in (["-h"], ["run", "-h"], ["--version"], ["doctor"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = self.run_command(*arguments, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
            os.close(writer)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, ""), arguments)

    def test_a_tracked_command_outlives_a_closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.run_command("-e", "sh -c 'sleep 0.1; echo done > done'", "--st=0.05", capture_output=False, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual((self.folder / "done").read_text(), "done\n")

    def test_version(self):
        for options in (["-v"], ["--version"], ["-v", "-e", "true"], ["run", "--version"]):
            self.assertRegex(self.run_command(*options).stdout, r"\A[0-9]+\.[0-9]+\.[0-9]+\n\Z")

    def test_v_after_a_command_is_no_way_to_lose_a_job(self):
        version = "-v is the version: gpu-tracker --version."
        for command in (["run", "-v", "--", "touch", "started"], ["-v", "run", "touch", "started"], ["attach", "-qv", "1"]):
            self.assert_fails(self.run_command(*command), 2, f"{version} Details of a run: -f full.")
        self.assert_fails(self.run_command("serve", "-v"), 2, version)
        self.assert_folder_is()
        self.assertNotIn("-v", self.run_command("run", "--help").stdout.split())

    def test_help_to_a_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = self.run_command("-h", capture_output=False, stdout=full, stderr=-1)
        self.assertEqual((done.returncode, done.stderr), (1, "gpu-tracker: Cannot write to the standard output.\n"))


class WrongUse(CommandTest):
    def test_wrong_use_is_one_line_and_status_2(self):
        show = "--help --version --output --format --ru --gru --tu"
        cases = [
            ([], "There is nothing to track. Try gpu-tracker run -- COMMAND, or gpu-tracker help"),
            (["show", "-x", "true"], f"Unknown option -x. Options of gpu-tracker show: {show}"),
            (["show", "--nonsense=3", "true"], f"Unknown option --nonsense. Options of gpu-tracker show: {show}"),
            (["show", "--outptu=3"], "Unknown option --outptu: did you mean --output? See gpu-tracker show -h"),
            (["show", "-e", "true"], f"Unknown option -e. Options of gpu-tracker show: {show}"),
            (["run", "-e", "true"], 'Unknown option -e. To give a command as one string: gpu-tracker -e "COMMAND"; as it is: gpu-tracker run -- COMMAND'),
            (["attach", "--exec=true"], "Unknown option --exec. To start a command: gpu-tracker run -- COMMAND"),
            (["-e", "true", "--t=1"], "Option --t is ambiguous: --tconfig or --tu?"),
            (["-e", "true", "--st"], "Option --st needs a value: --st <sleep-time>"),
            (["-e"], "Option -e needs a value: -e <command>"),
            (["-e", "true", "--overwrite=yes"], "Option --overwrite takes no value. Write only --overwrite"),
            (["run"], "COMMAND is missing: gpu-tracker run [OPTIONS] [--] COMMAND [ARG...], for example: gpu-tracker run -- make -j8"),
            (["run", "--"], "COMMAND is missing: gpu-tracker run [OPTIONS] [--] COMMAND [ARG...], for example: gpu-tracker run -- make -j8"),
            (["attach"], "No process was given. Usage: gpu-tracker attach [OPTIONS] PID"),
            (["attach", "1", "2"], 'Unexpected "2". Usage: gpu-tracker attach [OPTIONS] PID. To start a command: gpu-tracker run -- COMMAND'),
            (["job"], "DIR|FILE is missing: gpu-tracker job [OPTIONS] DIR|FILE..., for example: gpu-tracker job results"),
            (["energy", "curve", "x"], "NAME is missing: gpu-tracker energy curve [OPTIONS] DIR NAME[,NAME...], for example: gpu-tracker energy curve exp1 intel_power,total_dram_power -o power.svg"),
            (["mark"], '"mark" must be followed by one of: start, stop. See gpu-tracker mark -h'),
            (["mark", "--nonsense"], '"mark" must be followed by one of: start, stop. See gpu-tracker mark -h'),
            (["mark", "strat"], '"mark" must be followed by one of: start, stop. Did you mean start? See gpu-tracker mark -h'),
            (["mark", "end", "-h"], '"mark" must be followed by one of: start, stop. Did you mean stop? See gpu-tracker mark -h'),
        ]
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                self.assert_fails(self.run_command(*arguments), 2, message)

    def test_an_unknown_command_is_refused_with_the_nearest_or_all_of_them(self):
        for word, nearest in ("no-such-program", "."), ("rnu", ": did you mean run?"), ("sub-trak", ": did you mean sub-track?"), (
                "comprae", ": did you mean compare?"):
            with self.subTest(word=word):
                done = self.run_command(word)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                commands = "All commands: gpu-tracker help" if nearest != "." else r"Commands: run .*\battach .*\bdoctor\b.*; see gpu-tracker help"
                self.assertRegex(
                    done.stderr, rf'\Agpu-tracker: Unknown command "{word}"{re.escape(nearest)} To track a program of that'
                    rf" name: gpu-tracker run -- {word}\. {commands}\n\Z")

    def test_slips_are_answered_with_what_was_meant(self):
        slips = [slip.strip().rsplit(": ", 1) for line in SLIPS.strip().splitlines() for slip in line.split("|")]
        self.assertGreaterEqual(len(slips), 60)
        for line, meant in slips:
            with self.subTest(line=line):
                done = self.run_command(*line.split())
                self.assertIn(done.returncode, (2, 125))
                question = re.search(r"(?i)did you mean ([^?]*)\?|is ambiguous: ([^?]*)\?", done.stderr)
                self.assertTrue(question, done.stderr)
                self.assertIn(meant, question[1] or question[2])

    def test_mistakes_are_answered_with_the_way_out(self):
        self.assertGreaterEqual(len(MISTAKES), 40)
        for name in "plain", "script.py", "no-program", "samples.sqlite":
            (self.folder / name).write_text("no program")
        (self.folder / "no-program").chmod(0o755)
        (self.folder / "folder").mkdir()
        self.run_command("run", "-q", "-o", "usage.json", "true")
        for words, way_out in MISTAKES:
            with self.subTest(words=words):
                done = self.run_command(*words)
                self.assertNotEqual(done.returncode, 0)
                if "This build of gpu-tracker has no report." in done.stderr:
                    continue
                self.assertIn(way_out, done.stderr)
                self.assertTrue(all(line.startswith("gpu-tracker: ") for line in done.stderr.splitlines()), done.stderr)

    def test_a_program_is_answered_with_the_line_that_tracks_it(self):
        done = self.run_command("env", "A=1", "true")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r'\Agpu-tracker: Unknown command "env".* To track the program: gpu-tracker run -- env A=1 true\n\Z')

    def test_quotes_around_a_whole_command_are_explained(self):
        for words, way_out in ("true 1", "Without them: gpu-tracker run -- true 1"), ("true | true", "For a shell to read it: gpu-tracker run -- sh -c 'true | true'"):
            done = self.run_command("run", "-q", words)
            self.assertEqual(done.returncode, 127)
            self.assertTrue(done.stderr.endswith(f"gpu-tracker: the quotes make it the name of one program. {way_out}\n"), done.stderr)

    def test_an_option_of_ours_that_the_command_refused_is_noticed(self):
        note = "gpu-tracker: --tf was given to the command. Options of gpu-tracker go before it: gpu-tracker run --tf ... -- sh\n"
        for words, is_noted in ((["exit 2", "--tf", "x.csv"], True), (["exit 2", "--tf=x.csv"], True), (["exit 1", "--tf", "x.csv"], False),
                                (["exit 0", "--tf", "x.csv"], False), (["exit 2", "--", "--tf"], False), (["exit 2", "x"], False)):  # fmt: skip
            done = self.run_command("run", "sh", "-c", *words)
            self.assertEqual(done.stderr.endswith(note), is_noted, words)
        self.assertEqual(self.run_command("run", "-q", "sh", "-c", "exit 2", "--tf", "x.csv").stderr, "")

    def test_an_option_is_known_by_what_help_calls_its_value(self):
        for name, option in ("--trackng-file=x", "--tracking-file"), ("--sleep-tme", "--sleep-time"), ("--num-core", "--nec=<num-cores>"):
            with self.subTest(name):
                said = self.run_command("run", name, "--", "true").stderr
                self.assertIn(f"Unknown option {name.partition('=')[0]}: did you mean {option}? See gpu-tracker run -h\n", said)

    def test_options_have_longer_names_too(self):
        for short, names in LONGER_NAMES.items():
            for name in names:
                value = {"st": "0.5", "ru": "bytes", "gru": "bytes", "tu": "hours", "nec": "1", "guuids": "", "gb": "amd", "tf": "x.csv", "eu": "joules", "ram": "exact"}[short]
                for form in ([f"--{name}={value}"], [f"--{name}", value], [f"--{name.replace('-', '_')}={value}"]):
                    said = [self.run_command("attach", *words, "none").stderr for words in (form, [f"--{short}={value}"])]
                    self.assertEqual(said[0], said[1])
                    self.assertNotIn("Unknown option", said[0])
                self.assertIn(f"--{name}", self.run_command("run", "--help").stdout)
        self.assertEqual(self.run_command("run", "--interval=0.1", "--tracking-file=t.csv", "-q", "--", "true").returncode, 0)
        self.assertTrue((self.folder / "t.csv").exists())

    def test_an_unknown_option_is_refused_with_the_nearest_or_the_help(self):
        for command in [["run", "true"], ["attach", "1"]]:
            names = re.findall(r"(?m)^    (?:-. )?(--[a-z-]+)", self.run_command(*command[:-1], "--help").stdout)
            self.assert_fails(
                self.run_command("--overwirte", *command), 2,
                f"Unknown option --overwirte: did you mean --overwrite? See gpu-tracker {command[0]} -h")
            self.assert_fails(self.run_command("--nonsense", *command), 2, f"Unknown option --nonsense. See gpu-tracker {command[0]} --help")
            self.assertIn(f": did you mean {names[-1]}", self.run_command(names[-1] + "x", *command).stderr)
        self.assert_fails(self.run_command("--nonsense", "-e", "true"), 2, "Unknown option --nonsense. See gpu-tracker --help")
        self.assert_fails(self.run_command("--overwirte", "-e", "true"), 2, "Unknown option --overwirte: did you mean --overwrite? See gpu-tracker --help")

    def test_what_is_near_to_nothing_is_answered_with_the_help(self):
        for name in NO_SLIPS:
            with self.subTest(name):
                self.assert_fails(self.run_command("run", name, "true"), 2, f"Unknown option {name}. See gpu-tracker run --help")

    def test_an_option_with_a_part_of_another_name_is_answered_with_that(self):
        for name, nearest in ("--limit-ram=8GB", "--ram or --limit"), ("--no-overwrite", "--overwrite"), ("--sleep", "--sleep-time"):
            said = self.run_command("run", name, "--", "true").stderr
            self.assertIn(f"Unknown option {name.partition('=')[0]}: did you mean {nearest}? See gpu-tracker run -h\n", said)

    def test_a_wrong_value_names_the_option_and_the_valid_ones(self):
        units = "Valid values are bytes, kilobytes, megabytes, gigabytes, terabytes"
        cases = [
            (["-f", "xml"], '"xml" is not a valid format. Valid values are "summary", "text", "full", "json", "pickle", "prometheus", "nextflow-trace" or "snakemake-benchmark".'),
            (["-f", "jsno"], '"jsno" is not a valid format: did you mean json? Valid values are "summary", "text", "full", "json", "pickle", "prometheus", "nextflow-trace" or "snakemake-benchmark".'),
            (["--ru", "miles"], f'"miles" is not a valid RAM unit. {units}'),
            (["--gru=miles"], f'"miles" is not a valid GPU RAM unit. {units}'),
            (["--tu=miles"], '"miles" is not a valid time unit. Valid values are seconds, minutes, hours, days'),
            (["--st=0.0009"], "--st=0.0009 is not a valid sleep time. It is a number of seconds, 0.001 or more, such as 0.1."),
            (["--st=soon"], "--st=soon is not a valid sleep time. It is a number of seconds, 0.001 or more, such as 0.1."),
            (["--st=nan"], "--st=nan is not a valid sleep time. It is a number of seconds, 0.001 or more, such as 0.1."),
            (["--st="], "--st= is not a valid sleep time. It is a number of seconds, 0.001 or more, such as 0.1."),
            (["--nec=0"], "--nec=0 is not a valid number of cores. It is a whole number above 0."),
            (["--nec=2.5"], "--nec=2.5 is not a valid number of cores. It is a whole number above 0."),
            (["--ram=much"], '"much" is not a valid RAM mode. Valid values are adaptive, exact, totals'),
            (["-o", "/proc/no/file"], "Cannot write /proc/no/file: the folder /proc/no: No such file or directory"),
            (["-o", "."], "Cannot write .: it is a folder. Name a file in it."),
        ]
        for options, message in cases:
            with self.subTest(options=options):
                self.assert_fails(self.run_command("-e", "touch started", *options), 1, message)
                self.assert_fails(self.run_command("run", *options, "touch", "started"), 125, message)
        self.assert_folder_is()

    def options_with_words(self):
        """(command, option, words) of every option that takes one of a list, as the completions have them."""
        text = (BUILD / "completions" / "gpu-tracker.bash").read_text().split("case $name in")[1]
        for command, options in re.findall(r"(?ms)^    '([a-z -]*)'\)\n(.*?)(?=^    ')", text):
            for names, words in re.findall(r"(?m)^ +(\S.*)\) _gpu_tracker_words ([^;$]+); return ;;$", options):
                yield command, names.split(" | ")[0], words.split()

    def test_a_mistyped_word_of_a_list_is_answered_with_the_nearest_and_all(self):
        shutil.copytree(SOURCE / "tests" / "fixtures" / "trace-root", self.folder / "profile")
        self.run_command("run", "-q", "--resource-usage-file", "kept", "sh", "-c", "until [ -s kept ]; do sleep 0.05; done; cp kept results.json")
        rest = {"": ["-e", "true"], "run": ["true"], "energy record": ["--output-folder", "x", "--cmd", "true"], "show": ["results.json"], "attach": [str(os.getpid())],
                "sub-track analyze": ["--tf", "x.csv"], "sub-track compare": ["-m", "a=x"], "energy curve": ["x", "y"], "profile python": ["top", "profile"],
                "pytorch diff": ["x", "y"], "compare": ["x", "y"], "doctor": [], "gpus": [], "serve": []}
        count = 0
        for command, option, words in self.options_with_words():
            for word in words:
                if command == "live":  # needs a terminal; its option is that of attach
                    continue
                with self.subTest(command=command, option=option, word=word):
                    operands = rest.get(command) if command in rest else ["profile"]
                    done = self.run_command(*command.split(), option, word + word[-1], *operands)
                    count += 1
                    self.assertNotEqual(done.returncode, 0)
                    said = done.stderr.splitlines()
                    self.assertEqual(len(said), 1, done.stderr)
                    self.assertRegex(said[0], rf"\Agpu-tracker: .*{re.escape(word + word[-1])}.*: did you mean {re.escape(word)}( or [a-z-]+)?\? Valid values are ")
                    for valid in words:
                        self.assertIn(valid, said[0].split("Valid values are ")[1])
        self.assertGreater(count, 150)
        self.assert_folder_is("profile", "results.json")

    def test_a_mistyped_name_in_a_value_is_answered_with_the_nearest_and_all(self):
        (self.folder / "c.json").write_text('{"ram_unit": "gigabyts"}')
        (self.folder / "d.json").write_text('{"ram_uint": "gigabytes"}')
        for short, name in ("st", "sleep_time"), ("tf", "tracking_file"):
            (self.folder / f"{short}.json").write_text(json.dumps({short: "x"}))
            self.assertIn(f'Unknown option "{short}": did you mean {name}? Valid options are ', self.run_command("run", "--tconfig", f"{short}.json", "true").stderr)
        for options, said in (
                (["--limit", "rma=8GB"], '"rma=8GB" is not a valid limit: did you mean ram? Limits are ram, gpu_ram, seconds and cpu_seconds, '),
                (["--regions=nvtxx"], '"nvtxx" is not a source of regions: did you mean nvtx? Valid are: nvtx'),
                (["--regions", "--region-exact=peek"], '"peek" is not a kind of exact figures: did you mean peak? Valid are: 1, peak, counters, gpu.'),
                (["--tconfig", "c.json"], '"gigabyts" is not a valid RAM unit: did you mean gigabytes? Valid values are bytes, kilobytes, '),
                (["--tconfig", "d.json"], 'Unknown option "ram_uint": did you mean ram_unit? Valid options are '),
        ):
            with self.subTest(options=options):
                done = self.run_command("run", *options, "true")
                self.assertEqual(done.returncode, 125)
                self.assertRegex(done.stderr, rf"\Agpu-tracker: .*{re.escape(said)}.*\n\Z")

    def test_values_of_attach(self):
        self.assert_fails(
            self.run_command("attach", "me"), 1,
            '"me" is not a process ID. It is a whole number, as ps or pgrep show it. To start a command: gpu-tracker run -- COMMAND')
        self.assert_fails(
            self.run_command("attach", "--for=ever", "1"), 1,
            "--for=ever is not a valid duration. It is a number of seconds, 0.001 or more, such as 90.")


class Spelling(CommandTest):
    """Ways to write options that the old command's users know."""

    def report_of(self, *arguments):
        done = self.run_command(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_values_are_joined_or_apart(self):
        for option in (["--tu=seconds"], ["--tu", "seconds"]):
            self.assertIn("Unit: seconds", self.report_of("-e", "true", *option))
        for option in (["-fjson"], ["-f", "json"], ["--format=json"], ["--format", "json"]):
            self.assertIn('"max_ram": {', self.report_of("-etrue", *option))

    def test_long_options_may_be_any_unique_prefix(self):
        for option in (["--form", "json"], ["--f=json"], ["--for", "json"]):
            self.assertIn('"max_ram": {', self.report_of("--exec=true", *option))
        # Newer options do not take a prefix away from old ones: --ram and --resource-usage-file begin so too.
        self.assertIn("Unit: bytes", self.report_of("--e", "true", "--r", "bytes"))

    def test_order_does_not_matter(self):
        text = self.report_of("--tu", "seconds", "-e", "true", "--ru=bytes")
        self.assertIn("Unit: seconds", text)
        self.assertIn("Unit: bytes", text)
        done = self.run_command("--tu=days", "run", "-f", "text", "--ru", "kilobytes", "true", "--tu=seconds")
        self.assertIn("Unit: days", done.stderr)
        self.assertIn("Unit: kilobytes", done.stderr)

    def test_the_last_of_several_values_counts(self):
        self.assertIn("Unit: minutes", self.report_of("-e", "true", "--tu=days", "--tu=minutes"))


class ShellWords(CommandTest):
    """-e is split like a shell splits; compared with the shell itself."""

    PRINT = "printf '<%s>' "

    def words_of(self, text):
        done = self.run_command("-o", "/dev/null", "-e", self.PRINT + text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("Resource tracking")[0]

    def test_as_a_shell_does(self):
        import subprocess

        for text in (
            "a  b\tc", "'a b' c", '"a b" c', "a\\ b c", "'a'\"b\"c", '""', "''x''", "a\\\\b", '"a\\"b"', "'a\\nb'",
            '"a\\nb"', "'it'\\''s'", '"it\'s"', "a\\\nb", "a \\\n b", "\\'x\\'", '"\\\\x"', "x  ", "'two\nlines'",
        ):
            with self.subTest(text=text):
                shell = subprocess.run(["sh", "-c", self.PRINT + text], capture_output=True, text=True)
                self.assertEqual(self.words_of(text), shell.stdout)

    def test_nothing_is_expanded(self):
        self.assertEqual(self.words_of("$HOME * ~ a|b >c `d` a;b # e"), "<$HOME><*><~><a|b><>c><`d`><a;b><#><e>")

    def test_open_quotes_are_errors(self):
        for text in ("echo 'a", 'echo "a', "'", "a\"b'c"):
            with self.subTest(text=text):
                self.assert_fails(self.run_command("-e", text), 1, f"A quote is not closed in the command: {text}")

    def test_an_empty_command(self):
        for text in ("", "  ", "\t\n"):
            self.assert_fails(self.run_command("-e", text), 1, "Empty command provided.")


if __name__ == "__main__":
    main()
