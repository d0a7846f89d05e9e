"""gpu-tracker sub-track compare: sessions side by side, and rules for CI."""

import json
import os
import pathlib
import struct
import unittest

from analysis_files import MEASUREMENTS, call, row, write_marks, write_tracking
from command import CommandTest, main

PICKLES = pathlib.Path(os.environ["GPUT_SOURCE"]) / "tests" / "fixtures" / "pickles"


class CompareTest(CommandTest):
    def results(self, name, scale=1.0, blocks=("load", "train")):
        """Analyzes a session whose figures are `scale` times those of the first."""
        write_tracking(self.folder / "t.csv", [row(second, scale) for second in range(10)])
        marks = [mark for i, block in enumerate(blocks) for mark in call(7, block, i, i + 2 * scale)]
        write_marks(self.folder / "s.csv", marks)
        kind = name.rpartition(".")[2].replace("pkl", "pickle")
        done = self.run_command("sub-track", "analyze", "--tf=t.csv", "--stf=s.csv", "-f", kind, "-o", name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def compare(self, *arguments):
        return self.run_command("sub-track", "compare", *arguments)


class Forms(CompareTest):
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

    def test_pickles_of_the_python_tool_are_read(self):
        done = self.compare("-m", f"A={PICKLES / 'pandas15-2.pkl'}", "-m", f"B={PICKLES / 'pandas31-arrow-5.pkl'}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\ttrain:é:\n\t\t   A   B\n\t\t 2.0 2.0\n", done.stdout)

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

    def test_relative_and_runs_come_on_request(self):
        self.results("a.json")
        self.results("b.json", 1.5)
        self.results("c.json", 1.51)
        maps = ["-m", "A=a.json", "-m", "B=b.json", "-m", "B=c.json"]
        text = self.compare(*maps, "--relative").stdout
        self.assertRegex(text, r"\tMain Ram:\n\t\t +A +B\n\t\t +4.5 +6.7725\n\t\tchange \+0.00 % +\+50.50 %\n\t\t95 %")
        results = json.loads(self.compare(*maps, "--relative", "-f", "json").stdout)
        self.assertEqual(list(results)[3:], ["percent_change", "confidence"])
        runs = results["confidence"]["overall_resource_usage"]["main_ram"]
        self.assertEqual((runs["A"]["runs"], runs["A"]["low"], runs["B"]["runs"]), (1, None, 2))
        self.assertLess(runs["B"]["low"], 6.7725)


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


class Rules(CompareTest):
    def test_that_are_broken_end_with_3(self):
        self.results("a.json")
        self.results("b.json", 1.1)
        maps = ["-m", "A=a.json", "-m", "B=b.json"]
        self.assertEqual(self.compare(*maps, "--fail-if", "max main_ram > +11%").returncode, 0)
        done = self.compare(*maps, "--fail-if", "max main_ram > +5%", "--fail-if", "mean compute_time in load > 9")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "gpu-tracker: max main_ram > +5%: B has 9.9, A has 9.0 (+10.00 %)\n")
        self.assertTrue(done.stdout.startswith("Overall Resource Usage:\n"))
        self.assertEqual(self.compare(*maps, "--fail-if", "nonsense").returncode, 1)


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
            self.compare("-m", "A"), 1, '"-m A" is no mapping. It has the form -m <name>=<file-path>.'
        )

    def test_names_that_differ_by_line_number_are_warned_of(self):
        self.results("a.json", blocks=("f.py:9",))
        self.results("b.json", blocks=("f.py:10",))
        done = self.compare("-m", "A=a.json", "-m", "B=b.json")
        self.assertEqual(done.returncode, 0)
        self.assertIn('warning: Code block name "f.py:9" of tracking session "A" matched', done.stderr)
        self.assertIn("\t\tf.py:10 -> f.py:9:\n", done.stdout)

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
