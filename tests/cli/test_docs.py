"""Every command of ours that README, docs and the help show is run, in a folder that has what they name. What stands in a sentence is not run:
its command, its options and its make targets exist."""

import cProfile
import gzip
import json
import os
import re
import shutil
import signal
import subprocess

from analysis_files import call, row, write_marks, write_tracking
from command import BUILD, COMMAND, PATIENCE, SOURCE, CommandTest, main, wait_until
from receiver import Receiver
from report_data import PAGE

FIXTURES = SOURCE / "tests" / "fixtures"
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]
OURS = re.compile(r"(?:\$ )?((?:[A-Z_]+=\S+ )*gpu-tracker .*|mkdir .*)")
# Names stand for what each user has; and nothing waits for a minute, computes for seconds, or takes a port that may be in use.
STANDS_FOR = [
    (r"_4711\b", "_kept"), (r"\b4711\b", "$PID"), (r"--for 60\b", "--for 0.1"), (r"attach \$PID", "attach --for 0.1 $PID"),
    (r"merge --steps 10-12", "merge --steps 1-2"), (r"--steps 3-4 -o", "--steps 3 -o"),
    (r"--start 2 --end 6 ", ""),
    (r"(--listen (?:[\d.]+:)?)5001\b", r"\g<1>0"), (r"\bgpu-tracker serve\b(?!.*--listen)", r"\g<0> --listen 127.0.0.1:0"),
    (r"\bgpu-tracker live\b[^\n]*", r"script -qec 'timeout --foreground --preserve-status -s TERM 1 \g<0> || [ $? = 143 ]' /dev/null"),  # 143: it had not begun
    (r"(gpu-tracker push .*)http://(?:prometheus|collector):\d+", r"\1$RECEIVER"),
    (r"/var/lib/node_exporter/(?= )", "."), (r"/var/lib/node_exporter/", ""), (r"\bDIR\b", "profiler-output"), (r"\bmkdir\b", "mkdir -p"),
    (r"examples/(busy-program|mark-blocks)\b", r"\g<0> 0.05"),
    (r"(gpu-tracker compare --fail-if 'ram > )\+5%", r"\1+900%"),  # two runs of true may differ by a fifth
    (r"\bgpu-tracker bench\b(?!.*--max-time)", r"\g<0> --max-time 1"),  # on a busy machine it would go on for a minute
]  # fmt: skip
PROGRAM = '#!/bin/sh\ncase "$*" in *"SystemExit(86)") exit 86;; esac  # as a Python does\n[ -z "$GPUT_BLOCKS_FILE" ] || exec build/examples/mark-blocks 0.05\nexec sleep 0.1\n'


def shown(text):
    """The commands of the blocks of a page, each with its line."""
    block, language, before = False, "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            block, language = not block, line[3:]
        elif block and not language and (found := OURS.fullmatch(before + line)):
            if line.endswith("\\"):
                before = line[:-1]
                continue
            yield number, found[1]
        before = ""


def in_sentences(page):
    """The words of each command that stands in a sentence or a table."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text())
    for found in re.findall(r"`gpu-tracker ([^`]+)`", text):
        yield re.split(r"[\s=\[\]]+", found.partition(" -- ")[0].replace("\\|", " "))


def examples(text):
    """The command lines under "Examples" of a help text."""
    lines = text.split("Examples:\n")[1].split("\n\n")[0].replace("\\\n", " ")
    return [line.strip() for line in lines.splitlines() if line.strip().startswith("gpu-tracker ")]


class Documented(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "gpu-tracker").symlink_to(COMMAND)
        for name in "bin/make", "bin/python", "bin/curl", "simulate", "program", "nightly.sh", "script-with-marks", "example-script.sh":
            (self.folder / name).write_text(PROGRAM)
            (self.folder / name).chmod(0o755)
        for name in "env/bin", "build":
            (self.folder / name).mkdir(parents=True)
        (self.folder / "env" / "bin" / "python").symlink_to(self.folder / "simulate")
        (self.folder / "build" / "examples").symlink_to(BUILD / "examples")
        self.prepare_sessions()
        self.prepare_recordings()
        self.prepare_training()
        self.kept()
        self.waiting = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(self.waiting.wait)
        self.addCleanup(self.waiting.kill)
        (self.folder / "page.html").write_text(PAGE)
        receiver = Receiver()
        self.addCleanup(receiver.close)
        self.environment = {name: value for name, value in os.environ.items() if name != "GPUT_CONFIG"} | {
            "GPUT_REPORT_PAGE": str(self.folder / "page.html"),  # there is none where npm was not
            "GPUT_PYTHON": str(self.folder / "bin" / "python"),  # pyarrow may be missing
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state"), "PID": str(self.waiting.pid), "url": "x",
            "RECEIVER": receiver.url()}
        for program in ["true", "true", "./simulate"]:
            subprocess.run([COMMAND, "run", "-q", "--history", "--", program], env=self.environment, cwd=self.folder, check=True)

    def prepare_sessions(self):
        marks = call(7, "load", 0, 2) + call(7, "train", 2, 8)
        for name in "tracking.csv", "run.csv", "samples.csv":
            write_tracking(self.folder / name, [row(second) for second in range(10)])
        for name in "marks.csv", "blocks.csv", "worker-1.csv", "worker-2.csv", "worker1.csv", "worker2.csv", "marks/a.csv", "folder/a.csv":
            (self.folder / name).parent.mkdir(exist_ok=True)
            write_marks(self.folder / name, marks)
        self.ours("sub-track", "analyze", "--tf=samples.csv", "--stf=blocks.csv", "-f", "json", "-o", "analysis")
        for name in "a", "b", "m1", "m2", "n1", "n2", "before", "after":
            shutil.copy(self.folder / "analysis", self.folder / f"{name}.json")
            shutil.copy(self.folder / "analysis", self.folder / f"{name}.kept")
        (self.folder / "results").mkdir()
        for name in "usage.r0.json", "usage.r1.json", "results/usage.json", "old.json", "new.json":
            self.ours("run", "-q", "-o", name, "--", "true")
        for name in "before.sqlite", "after.sqlite", "train.sqlite":
            self.ours("run", "-q", "--tf", name, "--", "sleep", "0.05")
        environment = os.environ | {"GPUT_BLOCKS_FILE": str(self.folder / "a.gputblocks")}
        subprocess.run([BUILD / "examples" / "mark-blocks", "0.05"], env=environment, cwd=self.folder, check=True, capture_output=True)

    def prepare_recordings(self):
        cpu = {"intel_power": 40.0, "total_dram_power": 2.0, "per_process_mem_use_abs": {"7": 3e8}}
        lines = [json.dumps({"date": f"2023-06-30 16:32:{second:02}", "metrics": {"cpu": cpu, "gpu": {}}}) for second in range(60)]
        lines += [json.dumps({"date": f"2023-06-30 16:{minute}:00", "metrics": {"cpu": cpu, "gpu": {}}}) for minute in (33, 34)]
        (self.folder / "recorded").mkdir()
        (self.folder / "recorded" / "power_metrics.json").write_text("\n".join(lines) + '\n"END OF RECORDING SEGMENT"\n')

    def prepare_training(self):
        shutil.copytree(FIXTURES / "trace-root", self.folder / "profiler-output")
        shutil.copytree(FIXTURES / "trace-root", self.folder / "profile-folder")
        trace = (FIXTURES / "trace-kineto" / "rank0.json").read_bytes()
        for folder in "traces", "before", "after":
            (self.folder / folder).mkdir()
        for name in "rank0.json", "rank1.json", "trace.json", "traces/rank0.json", "before/rank0.json", "after/rank0.json":
            (self.folder / name).write_bytes(trace)
        for name in "rank0.json.gz", "rank1.json.gz":
            (self.folder / name).write_bytes(gzip.compress(trace))
        profile, steps = cProfile.Profile(), "framework/pytorch/cprofile/7-host/train-1-stepstart-1000_train-2-stepend-2000"
        profile.runcall(sorted, range(9))
        (self.folder / "profiler-output" / steps).mkdir(parents=True)
        for name in "program.prof", f"profiler-output/{steps}/python_stats":
            profile.dump_stats(self.folder / name)

    def kept(self):
        """What a killed tracker leaves."""
        tracker = self.start_command("run", "--resource-usage-file", ".gpu-tracker_kept", "--", "sh", "-c", "echo $$; exec sleep 1000")
        pid = int(tracker.stdout.readline())
        wait_until(lambda: self.run_command("show", ".gpu-tracker_kept").returncode == 0, "the results so far")
        tracker.send_signal(signal.SIGKILL)
        tracker.wait()
        os.kill(pid, signal.SIGKILL)

    def ours(self, *arguments):
        done = self.run_command(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)

    def make_way(self, command):
        """Restores what the command reads, and removes what it makes, of a line before it."""
        shutil.rmtree(self.folder / "exp1", ignore_errors=True)
        shutil.rmtree(self.folder / "exp2", ignore_errors=True)
        if "energy summary" in command or "energy curve" in command:
            shutil.copytree(self.folder / "recorded", self.folder / "exp1")
        if re.search(r"gpu-tracker (run|attach|-e) ", command) and (made := re.search(r"--tf[ =](\S+)", command)):
            (self.folder / made[1]).unlink(missing_ok=True)
        if "train.sqlite --stf" in command:  # of the time of the marks
            (self.folder / "train.sqlite").unlink(missing_ok=True)
            write_tracking(self.folder / "train.sqlite", [row(second) for second in range(10)])
        regions = self.folder / "samples-regions.gputblocks"  # of a program that announces some
        if "--regions" in command:
            regions.unlink(missing_ok=True)
        elif regions.name in command:
            shutil.copy(self.folder / "a.gputblocks", regions)
        for kept in self.folder.glob("*.kept") if "compare" in command else ():
            shutil.copy(kept, kept.with_suffix(".json"))
        if "combine" in command:
            (self.folder / re.search(r"--stf[ =](\S+)", command)[1]).unlink(missing_ok=True)
        for name in re.findall(r"GPUT_BLOCKS_FILE=(\S+)", command):
            (self.folder / name).unlink(missing_ok=True)

    def check(self, command):
        for pattern, instead in STANDS_FOR:
            command = re.sub(pattern, instead, command.split("  #")[0].strip())
        self.make_way(command)
        ends_well = {0}
        if "serve" in command.split(" -- ")[0].split():
            command = f"timeout --preserve-status -s TERM 1 {command}"
            ends_well.add(128 + signal.SIGTERM)  # that came before it served
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE)
        lacking = "is not in this build", "needs the libraries cairo and Pango", "failed to create pseudo-terminal"
        if any(text in done.stderr for text in lacking):
            return
        self.assertIn(done.returncode, ends_well, f"{command}\n{done.stderr}")

    def test_pages(self):
        count = 0
        for page in PAGES:
            for number, command in shown(page.read_text()):
                with self.subTest(page=page.name, line=number):
                    self.check(command)
                    count += 1
        self.assertGreater(count, 30)

    def test_examples_of_the_help(self):
        text = self.run_command("help").stdout
        topics = re.findall(r"(?m)^    ([a-z]+)  ", text)
        overview = self.run_command("--help").stdout.split("Commands")[1].split("\nOptions:")[0]
        commands = re.findall(r"(?m)^    ([a-z][a-z-]*(?: [a-z]+)?)(?:  |$)", overview)
        lines = [line for words in [[], *([word] for word in topics), *(command.split() for command in commands)]
                 for line in examples(self.run_command("help", *words).stdout)]
        self.assertGreater(len(lines), len(commands))
        for line in dict.fromkeys(lines):
            with self.subTest(line=line):
                self.check(line)


class KeysForAgents(CommandTest):
    """The keys of JSON that docs/for-agents.md names."""

    def named(self, command):
        text = (SOURCE / "docs" / "for-agents.md").read_text()
        rows = re.search(rf"\| key of {command} \|.*\n\|.*\n((?:\|.*\n)+)", text)[1].splitlines()
        keys = [key for row in rows for key in re.findall(r"`([^`]+)`", row.split("|")[1])]
        self.assertTrue(keys)
        return keys

    def assert_has(self, command, *words):
        done = self.run_command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        for key in self.named(command):
            value = json.loads(done.stdout)
            for name in key.split("."):
                self.assertIn(name.removesuffix("[]"), value, key)
                value = value[name.removesuffix("[]")]
                value = value[0] if name.endswith("[]") else value

    def test_of_run(self):
        self.assert_has("`run`, `attach`", "run", "-f", "json", "-o", "-", "--", "true")

    def test_of_analyses(self):
        write_tracking(self.folder / "run.csv", [row(second) for second in range(10)])
        write_marks(self.folder / "marks.csv", call(7, "load", 0, 2))
        self.assert_has("`sub-track analyze`", "sub-track", "analyze", "--tf=run.csv", "--stf=marks.csv", "-f", "json")

    def test_of_jobs(self):
        self.run_command("run", "-q", "-o", "usage.json", "--", "true")
        self.assert_has("`job`", "job", "usage.json", "-f", "json")

    def test_of_doctor(self):
        self.assert_has("`doctor`", "doctor", "-f", "json")


class Length(CommandTest):
    def test_a_stranger_reads_the_readme_to_its_end(self):
        self.assertLessEqual(len((SOURCE / "README.md").read_text().split()), 900)

    def test_the_changelog_is_one_page(self):
        self.assertLessEqual(len((SOURCE / "CHANGELOG.md").read_text().split()), 600)


class Named(CommandTest):
    def test_options_in_sentences(self):
        helps, count = {}, 0
        for page in PAGES:
            for words in in_sentences(page):
                options = {word for word in words if re.fullmatch(r"--?[a-z]\w*(-\w+)*", word)}
                command = []
                for word in words:
                    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", word) or len(command) == 2:
                        break
                    command.append(word)
                if not options and not command:
                    continue
                key = " ".join(command)
                if key not in helps:
                    helps[key] = [self.run_command(*command[:length], "--help") for length in range(len(command), -1, -1)]
                known = next((done.stdout for done in helps[key] if done.returncode == 0))
                with self.subTest(page=page.name, words=words):
                    for option in options:
                        self.assertRegex(known, rf"(?m)(^|\s){option}\b")
                    count += bool(command) and helps[key][-2].returncode == 0
        self.assertGreater(count, 30)

    def test_make_targets(self):
        targets = set(re.findall(r"(?m)^([a-z-]+):", (SOURCE / "Makefile").read_text()))
        named = {target for page in [*PAGES, SOURCE / "CONTRIBUTING.md"]
                 for target in re.findall(r"(?m)(?:`|^)(?:sudo )?make ([a-z-]+)\b", page.read_text())}
        self.assertGreater(len(named), 15)
        self.assertEqual(named - targets, set())


if __name__ == "__main__":
    main()
