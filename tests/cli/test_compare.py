"""gpu-tracker compare and sub-track compare: sessions side by side, and rules for CI."""

import csv
import io
import json
import os
import pathlib
import pickle
import struct
import subprocess
import xml.etree.ElementTree

from analysis_files import MEASUREMENTS, call, row, write_marks, write_tracking
from command import COMMAND, CommandTest, main, needs_package, python, use_package

PICKLES = pathlib.Path(os.environ["GPUT_SOURCE"]) / "tests" / "fixtures" / "pickles"
use_package()


class StandIns(pickle.Unpickler):
    """Makes any class up."""

    def find_class(self, module, name):
        return type(name, (), {"__init__": lambda self, *arguments: None})


class CompareTest(CommandTest):
    def results(self, name, scale=1.0, blocks=("load", "train"), lost=None):
        """Analyzes a session whose figures are `scale` times those of the first."""
        write_tracking(self.folder / "t.csv", [row(second, scale) for second in range(10)])
        marks = [mark for i, block in enumerate(blocks) for mark in call(7, block, i, i + 2 * scale)]
        if lost:
            marks += call(7, f"[gpu-tracker] lost calls: {lost}", 4, 6)
        write_marks(self.folder / "s.csv", marks)
        kind = name.rpartition(".")[2].replace("pkl", "pickle")
        done = self.run_command("sub-track", "analyze", "--tf=t.csv", "--stf=s.csv", "-f", kind, "-o", name)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1 if lost else 0))

    def compare(self, *arguments):
        return self.run_command("sub-track", "compare", *arguments)


class Forms(CompareTest):
    @needs_package
    def test_text_shows_sessions_in_ascending_order(self):
        self.results("a.json", 2.0)
        self.results("b.pkl")
        done = self.compare("-m", "A=a.json", "-m", "session B=b.pkl", "--stat=max")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.split("\n")
        self.assertEqual(
            lines[:4], ["Overall Resource Usage:", "\tMain Ram:", "\t\t  session B    A", "\t\t        9.0 18.0"]
        )
        self.assertIn("\tCpu Descendants Hardware Utilization Percent:", lines)
        block = lines.index("Code Block Resource Usage:")
        self.assertEqual(
            lines[block : block + 4],
            ["Code Block Resource Usage:", "\tMain Ram:", "\t\tload:", "\t\t\t  session B   A"],
        )
        self.assertEqual(
            lines[-7:],
            [
                "\tload:",
                "\t\t  session B   A",
                "\t\t        2.0 4.0",
                "\ttrain:",
                "\t\t  session B   A",
                "\t\t        2.0 4.0",
                "",
            ],
        )

    def test_json_has_the_same_in_the_same_order(self):
        self.results("a.json", 2.0)
        self.results("b.json")
        done = self.compare("-m", "A=a.json", "-m", "B=b.json", "-f", "json")
        results = json.loads(done.stdout)
        self.assertEqual(
            list(results), ["overall_resource_usage", "code_block_resource_usage", "code_block_compute_time"]
        )
        self.assertEqual(list(results["overall_resource_usage"]), MEASUREMENTS)
        self.assertEqual(list(results["overall_resource_usage"]["main_ram"].items()), [("B", 4.5), ("A", 9.0)])
        self.assertEqual(results["code_block_compute_time"], {"load": {"B": 2.0, "A": 4.0}, "train": {"B": 2.0, "A": 4.0}})

    def test_sessions_without_code_blocks_compare_overall(self):
        self.results("a.json", blocks=())
        self.results("b.json", blocks=())
        self.assertNotIn("Code Block", self.compare("-m", "A=a.json", "-m", "B=b.json").stdout)
        results = json.loads(self.compare("-m", "A=a.json", "-m", "B=b.json", "-f", "json").stdout)
        self.assertEqual((results["code_block_resource_usage"], results["code_block_compute_time"]), ({}, {}))

    @needs_package
    def test_pickles_of_the_python_tool_are_read(self):
        done = self.compare("-m", f"A={PICKLES / 'pandas15-2.pkl'}", "-m", f"B={PICKLES / 'pandas31-arrow-5.pkl'}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\ttrain:é:\n\t\t   A   B\n\t\t 2.0 2.0\n", done.stdout)

    @needs_package
    def test_integers_of_older_pickles_stay_integers(self):
        self.results("a.pkl", blocks=())
        zero = b"G" + struct.pack(">d", 0)
        pickled = (self.folder / "a.pkl").read_bytes()
        (self.folder / "old.pkl").write_bytes(pickled.replace(zero, b"J" + struct.pack("<i", 0)))
        old, mixed = ["-m", "A=old.pkl", "-m", "B=old.pkl"], ["-m", "A=old.pkl", "-m", "B=a.pkl"]
        title = "\tMain N Threads:\n"
        self.assertIn(title + "\t\t  A  B\n\t\t  0  0\n", self.compare(*old, "--stat=min").stdout)
        self.assertIn(title + "\t\t   A   B\n\t\t 0.0 0.0\n", self.compare(*mixed, "--stat=min").stdout)
        self.assertIn('"main_n_threads": {\n   "A": 0,\n   "B": 0\n  }', self.compare(*old, "--stat=min", "-fjson").stdout)
        self.compare(*old, "--stat=min", "-fpickle", "-oc.pkl")
        self.assertNotIn(zero, (self.folder / "c.pkl").read_bytes())

    @needs_package
    def test_lost_calls_are_said_in_every_format(self):
        self.results("a.json", lost="0000000012")
        self.results("b.json", lost="at least 0000000003")
        self.results("c.json")
        unknown = json.loads((self.folder / "c.json").read_text()) | {"num_lost_calls": 0, "lost_calls_at_least": True}
        (self.folder / "d.json").write_text(json.dumps(unknown))
        maps = ["-m", "A=a.json", "-m", "A=a.json", "-m", "B=b.json", "-m", "C=c.json", "-m", "D=d.json"]
        self.assertTrue(self.compare(*maps, "-f", "text").stdout.endswith("\nLost Calls:\n\tA: 24\n\tB: at least 3\n\tD: not known\n"))
        summary = self.compare(*maps, "-f", "summary").stdout
        self.assertTrue(summary.endswith("\nCalls of A that are not in its sub-tracking files: 24\nCalls of B that are not in its sub-tracking file: "
                                         "at least 3\nCalls of D may be missing in its sub-tracking file.\n"), summary)
        lost = {name: {"num_lost_calls": count, "lost_calls_at_least": at_least}
                for name, count, at_least in (("A", 24, False), ("B", 3, True), ("D", 0, True))}
        self.assertEqual(json.loads(self.compare(*maps, "-f", "json").stdout)["lost_calls"], lost)
        rows = [row for row in csv.DictReader(io.StringIO(self.compare(*maps, "-f", "csv").stdout)) if row["measurement"].startswith("lost")]
        self.assertEqual([(row["session"], row["measurement"], row["statistic"], row["value"]) for row in rows],
                         [("A", "lost_calls", "total", "24.0"), ("B", "lost_calls_at_least", "total", "3.0"), ("D", "lost_calls_at_least", "total", "0.0")])
        self.compare(*maps, "-f", "pickle", "-o", "c.pkl")
        with open(self.folder / "c.pkl", "rb") as file:
            self.assertEqual(StandIns(file).load().lost_calls, lost)
        for form in "text", "json", "csv":
            self.assertNotRegex(self.compare("-m", "A=c.json", "-m", "B=c.json", "-f", form).stdout, "(?i)lost")

    def test_relative_and_runs_come_on_request(self):
        self.results("a.json")
        self.results("b.json", 1.5)
        self.results("c.json", 1.51)
        maps = ["-m", "A=a.json", "-m", "B=b.json", "-m", "B=c.json"]
        text = self.compare(*maps, "--relative").stdout
        self.assertRegex(text, r"\tMain Ram:\n\t\t +A +B\n\t\t +4.5 +6.7725\n\t\tchange \+0.0 % +\+50.5 %\n\t\t95 %")
        results = json.loads(self.compare(*maps, "--relative", "-f", "json").stdout)
        self.assertEqual(list(results)[3:], ["percent_change", "confidence"])
        runs = results["confidence"]["overall_resource_usage"]["main_ram"]
        self.assertEqual((runs["A"]["runs"], runs["A"]["low"], runs["B"]["runs"]), (1, None, 2))
        self.assertLess(runs["B"]["low"], 6.7725)


class Pictures(CompareTest):
    def bars(self, *arguments):
        """Lengths of the bars of each panel, with their texts."""
        done = self.compare(*arguments, "-o", "x.svg")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        svg = "{http://www.w3.org/2000/svg}"
        root = xml.etree.ElementTree.parse(self.folder / "x.svg").getroot()
        return root.find(f"{svg}title").text, [(float(box.get("width")), box[0].text) for box in root.iter(f"{svg}rect") if len(box)]

    def test_bars_are_as_long_as_the_figures_are_high(self):
        self.results("a.json")
        self.results("b.json", 2.0)
        title, bars = self.bars("-m", "a & b=a.json", "-m", "<i>=b.json", "--stat=max")
        self.assertTrue(title.startswith("RAM, max: a & b 27 GB, <i> 54 GB (+100.0 %); GPU RAM, max: a & b"), title)
        self.assertEqual([text for _, text in bars][:2], ["a & b: 27 GB", "<i>: 54 GB (+100.0 %)"])
        self.assertEqual([text for _, text in bars][-2:], ["a & b: 2 s", "<i>: 4 s (+100.0 %)"])
        for (first, _), (second, _) in zip(bars[::2], bars[1::2]):
            self.assertAlmostEqual(second, 2 * first, delta=0.02)

    def test_several_runs_have_intervals(self):
        for i, scale in enumerate((1.0, 1.1, 2.0, 2.2)):
            self.results(f"{i}.json", scale)
        title, bars = self.bars("-m", "a=0.json", "-m", "a=1.json", "-m", "b=2.json", "-m", "b=3.json")
        self.assertIn("RAM, mean, with the 95 % interval of several runs: a 1", title)
        self.assertRegex(bars[1][1], r"b: .* GB \(\+100\.0 %(, within noise)?\)")

    def test_no_terminal_gets_one(self):
        self.results("a.json")
        done = self.compare("-m", "a=a.json", "-f", "svg")
        self.assertTrue(done.stdout.startswith("<svg"), done.stdout[:80])
        leader, follower = os.openpty()
        with open(leader, "rb"), open(follower, "wb") as terminal:
            done = subprocess.run([COMMAND, "sub-track", "compare", "-m", "a=a.json", "-f", "png"], stdout=terminal, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("A picture cannot be shown on the screen: name a file with -o.", done.stderr)


class Config(CompareTest):
    def test_gives_sessions_and_statistic_and_options_win(self):
        self.results("a.json")
        self.results("b.json", 2.0)
        config = {"file_path_map": {"A": "a.json", "B": "missing.json"}, "statistic": "max"}
        (self.folder / "config.json").write_text(json.dumps(config))
        done = self.compare("--cconfig=config.json", "-m", "B=b.json", "-m", "C=b.json", "-f", "json")
        self.assertEqual(
            list(json.loads(done.stdout)["overall_resource_usage"]["main_ram"].items()),
            [("A", 9.0), ("B", 18.0), ("C", 18.0)],
        )
        done = self.compare("--cconfig=config.json", "-m", "B=b.json", "--stat", "min", "-f", "json")
        self.assertEqual(json.loads(done.stdout)["overall_resource_usage"]["main_ram"], {"A": 0.0, "B": 0.0})

    def test_that_makes_no_sense_is_refused(self):
        for text in ("[]", '{"x": 1}', '{"file_path_map": []}', '{"file_path_map": {"A": 1}}', '{"statistic": "most"}'):
            (self.folder / "config.json").write_text(text)
            done = self.compare("--cconfig=config.json", "-m", "A=a.json")
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1), text)


class Units(CompareTest):
    def test_sessions_that_were_tracked_in_other_units_are_compared_in_those_of_the_first(self):
        self.results("a.json")
        (self.folder / "b.json").write_text((self.folder / "a.json").read_text().replace('"ram_unit": "gigabytes"', '"ram_unit": "megabytes"'))
        maps = ["-m", "A=a.json", "-m", "B=b.json", "--stat=max"]
        done = self.compare(*maps, "-f", "json")
        values = json.loads(done.stdout)["overall_resource_usage"]["main_ram"]
        self.assertEqual({name: round(value, 9) for name, value in values.items()}, {"A": 9.0, "B": 0.009})
        done = self.compare(*maps, "--fail-if", "max main_ram < 1")
        self.assertEqual(done.stderr, "gpu-tracker: max main_ram < 1: B has 0.009 gigabytes, A has 9.0 gigabytes (-99.9 %)\n")

    def test_the_first_is_the_one_that_is_given_first_whatever_its_name(self):
        self.results("a.json")
        (self.folder / "b.json").write_text((self.folder / "a.json").read_text().replace('"ram_unit": "gigabytes"', '"ram_unit": "megabytes"'))
        maps = ["-m", "before=b.json", "-m", "after=a.json", "--stat=max"]
        done = self.compare(*maps, "--fail-if", "max main_ram > 100")
        self.assertEqual(done.stderr, "gpu-tracker: max main_ram > 100: after has 9000.0 megabytes, before has 9.0 megabytes (1000 times)\n")
        rows = [line.split() for line in self.compare(*maps, "-f", "summary").stdout.splitlines()]
        self.assertIn(["9", "MB", "9", "GB", "x", "1000", "main_ram"], rows)


class Rules(CompareTest):
    def test_that_are_broken_end_with_3(self):
        self.results("a.json")
        self.results("b.json", 1.1)
        maps = ["-m", "A=a.json", "-m", "B=b.json"]
        self.assertEqual(self.compare(*maps, "--fail-if", "max main_ram > +11%").returncode, 0)
        done = self.compare(*maps, "--fail-if", "max main_ram > +5%", "--fail-if", "mean compute_time in load > 9")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "gpu-tracker: max main_ram > +5%: B has 9.9 gigabytes, A has 9.0 gigabytes (+10.0 %)\n")
        self.assertTrue(done.stdout.startswith("Overall Resource Usage:\n"))
        self.assertEqual(self.compare(*maps, "--fail-if", "nonsense").returncode, 1)
        for word, near in (("main_rma", ": did you mean main_ram?"), ("compute_tim", ": did you mean compute_time?"), ("x", ".")):
            done = self.compare(*maps, "--fail-if", f"max {word} > +5%")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"is not valid: there is no such measurement{near} A rule is like", done.stderr)


class RulesWithoutFigures(CompareTest):
    """A gate that is open because a figure is missing lets everything through."""

    def setUp(self):
        super().setUp()
        self.results("a.json")
        self.results("b.json")

    def lose(self, name, *path):
        content = json.loads((self.folder / name).read_text())
        part = content
        for key in path:
            part = part[key]
        self.assertIn("max", part)
        for statistic in part:
            part[statistic] = None
        (self.folder / name).write_text(json.dumps(content))

    def check(self, *rules, maps=("A=a.json", "B=b.json")):
        done = self.compare(*(word for name in maps for word in ("-m", name)), *(word for rule in rules for word in ("--fail-if", rule)))
        return done.returncode, done.stderr

    def test_a_figure_that_the_new_session_lost_is_an_error(self):
        self.lose("b.json", "overall", "main_ram")
        for rule in "max main_ram > +5%", "max main_ram > 100", "min main_ram < 1":
            self.assertEqual(self.check(rule), (1, f'gpu-tracker: The rule "{rule}" cannot be checked: B has no such figure.\n'))
        self.assertEqual(self.check("max descendants_ram > 100"), (0, ""))

    def test_a_change_from_a_figure_that_the_first_lacks_is_an_error(self):
        self.lose("a.json", "overall", "main_ram")
        self.assertEqual(self.check("max main_ram > +5%")[0], 1)
        self.assertEqual(self.check("max main_ram > 100"), (0, ""))  # which asks nothing of the first

    def test_a_figure_that_no_session_has_is_an_error(self):
        status, message = self.check("max energy_package > +5%")
        self.assertEqual(status, 1)
        self.assertIn("cannot be checked: A has no such figure.", message)

    def test_a_broken_rule_is_broken_whatever_the_others_lack(self):
        self.lose("b.json", "overall", "main_ram")
        status, message = self.check("max main_ram > +5%", "max descendants_ram >= 0")
        self.assertEqual((status, message.count("\n")), (3, 2))

    def test_one_session_alone_breaks_no_rule_and_keeps_none(self):
        self.assertEqual(self.check("max main_ram > +5%", maps=("A=a.json",)),
                         (1, 'gpu-tracker: The rule "max main_ram > +5%" cannot be checked: there is one session alone.\n'))


class EnergyRules(CompareTest):
    def test_joules_that_no_or_only_the_first_session_has(self):
        for name in "none", "some":
            self.results(f"{name}.json")
        content = json.loads((self.folder / "some.json").read_text())
        content["energy"] = {"unit": "joules", "gpu": 522.0}
        (self.folder / "some.json").write_text(json.dumps(content))
        rule = "max energy_gpu > +5%"
        for first, second, lacking in ("none", "none", "A"), ("some", "none", "B"), ("none", "some", "A"):
            done = self.compare("-m", f"A={first}.json", "-m", f"B={second}.json", "--fail-if", rule)
            self.assertEqual((done.returncode, done.stderr), (1, f'gpu-tracker: The rule "{rule}" cannot be checked: {lacking} has no such figure.\n'))
        done = self.compare("-m", "A=some.json", "-m", "B=some.json", "--fail-if", rule)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_compute_time_without_code_blocks(self):
        self.results("a.json", blocks=())
        self.results("b.json", 7, blocks=())
        done = self.compare("-m", "A=a.json", "-m", "B=b.json", "--fail-if", "max compute_time > +5%")
        self.assertEqual((done.returncode, done.stderr), (1, 'gpu-tracker: The rule "max compute_time > +5%" cannot be checked: there are no code blocks.\n'))


class Runs(CommandTest):
    """What run -o wrote, side by side."""

    def setUp(self):
        super().setUp()
        for name, megabytes in ("a.json", 50), ("b.json", 150):
            done = self.run_command("run", "-q", "-o", name, "--", *python(f"x = bytearray({megabytes} * 1000000)"))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_figures_are_shown_with_their_changes_from_the_first(self):
        done = self.run_command("compare", "a.json", "b.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0].split(), ["a.json", "b.json"])
        rows = {line[:14].strip(): line[14:].split() for line in lines[1:]}
        self.assertLessEqual({"Wall time", "CPU time", "RAM peak", "Exit status"}, set(rows))
        peaks = [json.loads((self.folder / name).read_text())["peaks"]["combined"] * 1e3 for name in ("a.json", "b.json")]
        first, unit, second, _, change, _ = rows["RAM peak"]
        self.assertEqual(unit, "MB")
        for shown, peak in (first, peaks[0]), (second, peaks[1]):
            self.assertEqual(f"{float(shown):.3g}", f"{peak:.3g}")  # as in the summary
        self.assertAlmostEqual(float(change.strip("(+")), 100 * (peaks[1] / peaks[0] - 1), delta=0.06)
        self.assertNotIn("Command", rows)
        table = self.run_command("compare", "a.json", "b.json", "-f", "csv").stdout.splitlines()
        self.assertEqual((len(table), "max_ram_bytes" in table[0]), (3, True))

    def check(self, *rules, files=("a.json", "b.json")):
        done = self.run_command("compare", *files, *(word for rule in rules for word in ("--fail-if", rule)))
        return done.returncode, done.stderr

    def test_rules_are_of_whole_runs(self):
        status, message = self.check("ram > +5%")
        self.assertEqual(status, 3)
        self.assertRegex(message, r"^gpu-tracker: ram > \+5%: b.json has [0-9.]+ MB, a.json has [0-9.]+ MB\n$")
        for rule, status in (("ram > +1000%", 0), ("ram > 1e8", 3), ("wall < 1e6", 3), ("cpu > 0", 3), ("read > 1e12", 0), ("written >= 0", 3), ("exit_status > 0", 0)):
            self.assertEqual((rule, self.check(rule)[0]), (rule, status))

    def test_rules_that_meet_no_figure_are_errors(self):
        for rule in "energy > +5%", "energy > 100":
            for name in "a.json", "b.json":
                content = json.loads((self.folder / name).read_text())
                content.get("energy", {}).clear()
                (self.folder / name).write_text(json.dumps(content))
            self.assertEqual((self.check(rule)[0], "cannot be checked: " in self.check(rule)[1]), (1, True))
        self.assertEqual(self.check("energy > +5%", "ram > +5%")[0], 3)
        for rule, words in ("rma > 5", '"rma"; did you mean ram'), ("ram = 5", "> or < has to follow"), ("ram > 5 x", "something follows"), ("zzzzzz > 1", "there are wall cpu"):
            status, message = self.check(rule)
            self.assertEqual(status, 1)
            self.assertIn(words, message)

    def test_commands_that_differ_are_named(self):
        self.assertEqual(self.run_command("run", "-q", "-o", "c.json", "--", "true").returncode, 0)
        lines = self.run_command("compare", "a.json", "c.json").stdout.splitlines()
        label, first, second = lines[1].split()
        self.assertEqual((label, second), ("Command", "true"))
        self.assertIn("python", first)
        self.assertRegex(lines[2], r"^Wall time +[0-9.]+ m?s +[0-9.]+ m?s \(-[0-9.]+ %\)$")

    def test_what_is_no_result_of_a_run_is_named_with_the_way_out(self):
        (self.folder / "x.json").write_text("[]")
        for name, words in ("x.json", "x.json cannot be compared: name reports"), ("none.json", "Cannot read none.json: No such file"):
            done = self.run_command("compare", "a.json", name)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(words, done.stderr)


class Messages(CompareTest):
    def test_what_cannot_be_compared(self):
        self.results("a.json")
        self.results("few.json", blocks=("load",))
        self.results("other.json", blocks=("load", "test"))
        self.assert_fails(
            self.compare(),
            1,
            "A mapping of tracking session name to file path must be provided either through the -m option or a "
            "config file.",
        )
        self.assert_fails(
            self.compare("-m", "A=a.json", "-m", "B=few.json"),
            1,
            "All sub-tracking results must have the same number of code blocks. The first has 2 code blocks but "
            'tracking session "B" has 1 code blocks.',
        )
        self.assert_fails(
            self.compare("-m", "A=a.json", "-m", "B=other.json"),
            1,
            'Code block name "train" of tracking session "A" does not match code block name "test" of tracking '
            'session "B"',
        )
        self.assert_fails(
            self.compare("-m", "A=a.json", "--stat=most"),
            1,
            "Invalid summary statistic 'most'. Valid values are min max mean std.",
        )
        self.assert_fails(
            self.compare("-m", "A"), 1, '"-m A" is not a mapping. It has the form -m <name>=<file-path>.'
        )

    def test_names_that_differ_by_line_number_are_warned_of(self):
        self.results("a.json", blocks=("f.py:9",))
        self.results("b.json", blocks=("f.py:10",))
        done = self.compare("-m", "A=a.json", "-m", "B=b.json")
        self.assertEqual(done.returncode, 0)
        self.assertIn('warning: Code block name "f.py:9" of tracking session "A" matched', done.stderr)
        self.assertIn("\t\tf.py:10 -> f.py:9:\n", done.stdout)

    @needs_package
    def test_a_hostile_pickle_is_refused_and_not_run(self):
        (self.folder / "evil.pkl").write_bytes(b"\x80\x04cposix\nsystem\n\x8c\x09touch own\x85R.")
        done = self.compare("-m", "A=evil.pkl")
        self.assert_fails(
            done,
            1,
            'Pickle file evil.pkl cannot be read: it names "posix.system", which results do not need; nothing of it '
            "was run.",
        )
        self.assert_folder_is("evil.pkl")


if __name__ == "__main__":
    main()
