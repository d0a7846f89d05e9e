"""Pickles are read as data: those of every pandas, hostile ones, damaged ones. Nothing that they name is called."""

import json
import os
import pickle
import pickletools
import resource
import struct
import sys
import unittest
from unittest import mock

import package

sys.path.insert(0, str(package.SOURCE / "tests"))
sys.path.insert(0, str(package.FIXTURES / "pickles" / "hostile"))
import make as hostile
import older_usage

import gpu_tracker as gput
from gpu_tracker import _pickles

PICKLES = package.FIXTURES / "pickles"
RESULTS = json.loads((PICKLES / "results.json").read_text())
PROTOCOL_4 = b"\x80\x04"
REFERENCE = b"h\x07"
TIGHT = 400 << 20


def of(name):
    return (PICKLES / name).read_bytes()


def results_of(**attributes):
    """Results of which some attributes are other opcodes than they should be."""
    return PROTOCOL_4 + hostile.built("gpu_tracker.sub_tracker", "SubTrackingResults", hostile.mapping(**attributes)) + b"."


def array_of_shape(*shape):
    """An array without any bytes, whatever shape it says."""
    dtype = hostile.call("numpy", "dtype", hostile.text("f8"))
    sizes = [b"\x8a\x08" + struct.pack("<q", size) for size in shape]
    return hostile.call("numpy.core.numeric", "_frombuffer", hostile.data(b""), dtype, hostile.sequence(*sizes), hostile.text("F"))


def frame_of(block, columns, rows=("main_ram",)):
    manager = hostile.call("pandas.core.internals.managers", "BlockManager", b"(" + block + b"t",
                           hostile.array_of(hostile.names(*columns), hostile.names(*rows)))  # fmt: skip
    return hostile.built("pandas", "DataFrame", hostile.mapping(_mgr=manager))


def block_of(values):
    placement = hostile.call("builtins", "slice", *map(hostile.integer, (0, 1, 1)))
    return hostile.call("pandas._libs.internals", "_unpickle_block", values, placement, hostile.integer(2))


class Reading(package.PackageTest):
    def refuses(self, content, reason, read=_pickles.read_analysis):
        with self.assertRaisesRegex(ValueError, reason):
            read(content, "x.pkl")

    def test_those_of_every_pandas_and_protocol_hold_the_same(self):
        names = sorted(path.name for path in PICKLES.glob("*.pkl"))
        self.assertGreaterEqual(len(names), 18)
        for name in names:
            with self.subTest(name):
                self.assertEqual(_pickles.read_analysis(of(name), name), RESULTS)
                self.assertEqual(gput.SubTrackingResults.load(PICKLES / name).to_json(), RESULTS)

    def test_what_we_pickle_without_pandas(self):
        with mock.patch("gpu_tracker._pandas.pandas", lambda: None):
            results = gput.SubTrackingResults.load(PICKLES / "pandas22-5.pkl")
        for protocol in range(2, 6):
            self.assertEqual(_pickles.read_analysis(pickle.dumps(results, protocol), "x"), RESULTS)

    def test_what_the_older_package_keeps(self):
        for descendants in "descendants", "descendents":
            for protocol in range(2, 6):
                usage = _pickles.read_usage(older_usage.pickled(older_usage.usage(descendants), protocol), "x")
                self.assertEqual(usage["max_ram"]["descendants"], older_usage.rss(20))
                self.assertEqual(usage["cpu_utilization"]["descendants_n_threads"], 2)
                self.assertEqual(usage["compute_time"], {"unit": "minutes", "time": 1.5})

    def test_nothing_that_a_pickle_names_is_called(self):
        command = b"\x8c\x09touch ran\x85R."
        for name in b"posix\nsystem", b"os\nsystem", b"builtins\neval", b"subprocess\nPopen", b"pandas\nread_pickle", b"numpy\nload", \
                b"pandas.io.common\nos.system", b"gpu_tracker._usage\nload_kept", b"gpu_tracker.sub_tracker\nSubTracker":  # fmt: skip
            for read in _pickles.read_analysis, _pickles.read_usage:
                self.refuses(PROTOCOL_4 + b"c" + name + b"\n" + command, r'^Pickle file x\.pkl cannot be read: it names "[\w.]+", which results do '
                             r"not need; nothing of it was run\.$", read)  # fmt: skip
        # The names that it knows are of no use either: bytearray would make ten gigabytes, the class is no attribute's owner.
        self.refuses(PROTOCOL_4 + b"cbuiltins\nbytearray\n\x8a\x05" + struct.pack("<q", 10**10)[:5] + b"\x85R.", "not a SubTrackingResults")
        self.refuses(PROTOCOL_4 + b"\x8c\x06pandas\x8c\x12DataFrame.__init__\x93.", "it names")
        self.refuses(PROTOCOL_4 + b"N)R.", "it calls something that is not a class")
        self.refuses(PROTOCOL_4 + b"NNb.", "it gives a state to what is not an object")
        self.refuses(PROTOCOL_4 + b"NNa.", "neither a list nor a dict")
        self.assertEqual(os.listdir(), [])

    def test_what_does_not_fit_together_is_refused(self):
        for name, reason in (
            ("no-rows-of-three.pkl", 'its "static_data" is not in a form'),
            ("three-rows-of-none.pkl", 'its "static_data" is not in a form'),
            ("long-arrow-name.pkl", 'its "static_data" is not in a form'),
            ("table-without-columns-as-series.pkl", 'its "static_data" is not in a form'),
            ("series-as-table.pkl", 'its "overall" is not in a form'),
        ):
            self.refuses(of(f"hostile/{name}"), reason)
        for content, reason in (
            (b"", "it is not a pickle of protocol 2 to 5"),
            (b"\x80\x01N.", "protocol 1 is unknown"),
            (b"\x80\x06N.", "protocol 6 is unknown"),
            (PROTOCOL_4 + b"N.", "it is not a SubTrackingResults object"),
            (PROTOCOL_4 + b"I1\n.", "its opcode INT at byte 2 is not accepted"),
            (PROTOCOL_4 + b"Pname\n.", "its opcode PERSID at byte 2 is not accepted"),
            (PROTOCOL_4 + b"\x97.", "its opcode NEXT_BUFFER at byte 2 is not accepted"),
            (PROTOCOL_4 + b"\x8a\x09" + b"\x7f" * 9 + b".", "a whole number in it is too large"),
            (results_of(), 'its "overall" is not in a form that pandas 1.5 to 3 writes'),
            (results_of(overall=hostile.OVERALL, static_data=hostile.EMPTY), "it has no list of code blocks"),
            (hostile.results(blocks=b"](Ne"), "its list of code blocks has something else in it"),
            (hostile.results(overall=hostile.plain_frame([], ["min"])), 'it has no "overall"'),
            (hostile.results(overall=hostile.plain_frame([str(i) for i in range(257)], ["min"])), "it has too many measurements"),
            (hostile.results(overall=hostile.plain_frame(["a", "a"], ["min"])), 'its "overall" is not in a form'),
            (hostile.results(overall=frame_of(block_of(array_of_shape(1 << 60, 0)), ["min"], [])), 'its "overall" is not in a form'),
            (hostile.results(overall=frame_of(block_of(array_of_shape(-1, -1)), ["min"])), 'its "overall" is not in a form'),
            (results_of(overall=hostile.OVERALL, static_data=hostile.EMPTY, energy=hostile.built("pandas", "Series", b"N")), "no list of code blocks"),
        ):
            self.refuses(content, reason)
        usage = older_usage.usage(ram_unit="miles")
        self.refuses(older_usage.pickled(usage), '"miles" is not a valid unit', _pickles.read_usage)
        self.refuses(older_usage.pickled(usage.max_ram), "it is not a ResourceUsage object", _pickles.read_usage)
        del usage.compute_time
        self.refuses(older_usage.pickled(usage), "a part of it is missing", _pickles.read_usage)

    def test_lengths_that_lie_take_no_memory(self):
        with limited_memory():
            for content in (
                PROTOCOL_4 + b"Nr\xff\xff\xff\x7f.",  # the memo's two thousand millionth place
                PROTOCOL_4 + b"\x95" + b"\xff" * 8 + b"N.",  # a frame
                PROTOCOL_4 + b"\x8e" + struct.pack("<Q", 1 << 60) + b"abc.",  # bytes
                PROTOCOL_4 + b"\x96" + struct.pack("<Q", 1 << 62) + b"abc.",  # a bytearray
                PROTOCOL_4 + b"\x8d" + struct.pack("<Q", 1 << 62) + b"abc.",  # a text
                PROTOCOL_4 + b"\x8b" + struct.pack("<i", 1 << 30) + b"abc.",  # a number
                PROTOCOL_4 + b"\x8b" + struct.pack("<i", -5) + b"abc.",
            ):
                self.refuses(content, "it is truncated or damaged|it is not a SubTrackingResults object")

    def test_nests_and_circles_end(self):
        with limited_memory():
            tuples = b"N\x85" + b"2\x86" * 60  # hashing them would take for ever
            self.refuses(PROTOCOL_4 + b"}" + tuples + b"Ns.", "a dict in it has a key that is not a text")
            self.refuses(PROTOCOL_4 + b"](N" + b"2" * 60 + b"e" + tuples + b"0.", "not a SubTrackingResults")
            self.refuses(PROTOCOL_4 + b"]" * 100_000 + b"a" * 99_999 + b".", "not a SubTrackingResults")
            self.refuses(PROTOCOL_4 + b"cpandas\nSeries\n\x94" + b"h\x00)\x81" * 50_000 + b"b" * 49_999 + b".", "not a SubTrackingResults")
            circle = b"}\x94(" + hostile.text("energy") + b"h\x00u"
            more = PROTOCOL_4 + hostile.built("gpu_tracker.sub_tracker", "SubTrackingResults", circle) + b"."
            self.refuses(more, 'its "overall" is not in a form')

    def test_few_bytes_do_not_lead_to_many_values(self):
        with limited_memory(), mock.patch.object(_pickles, "_LEAST_VALUES", 100_000), mock.patch.object(_pickles, "_MOST_VALUES", 300_000):
            self.assertEqual(len(_pickles.read_analysis(of("hostile/repeated-code-block.part"), "x")["code_block_results"]), 2)
            for name, reason in ("repeated-code-block", "more values than a file of its size can hold"), ("repeated-frame-block", 'its "overall" is not'):
                part = of(f"hostile/{name}.part")
                at = part.index(REFERENCE)
                self.refuses(part[:at] + REFERENCE * 20_000 + part[at:], reason)
            self.refuses(PROTOCOL_4 + b"}\x94" * 200_000 + b".", "its content is too large for results")
            long = hostile.text("y" * 4000) + b"\x94"
            cells = b"".join(hostile.text(str(i)) + (b"h\x00" if i else long) for i in range(20_000))
            self.refuses(results_of(energy=b"}(" + cells + b"u"), "more values than a file of its size can hold")
            self.refuses(results_of(energy=b"}(" + hostile.text("x" * 5000) + b"Nu"), 'it has attributes that results do not have')
        self.refuses(b"\x80\x04" + bytes(_pickles.MOST_BYTES), "it is too large for results")

    def test_large_results_are_read(self):
        blocks = b"](" + hostile.block_of_code() * 2000 + b"e"
        results = _pickles.read_analysis(hostile.results(blocks=blocks), "x")
        self.assertEqual(len(results["code_block_results"]), 2000)

    def test_damage_is_a_refusal_or_results(self):
        contents = [(of(name), _pickles.read_analysis) for name in ("pandas15-2.pkl", "pandas20-sqlite-3.pkl", "pandas31-5.pkl", "pandas31-arrow-4.pkl")]
        contents.append((older_usage.pickled(older_usage.usage()), _pickles.read_usage))
        for content, read in contents:
            for at in range(0, len(content), 23):
                self.assertRaises(ValueError, read, content[:at], "x")
                for bits in 1, 0xFF:
                    try:
                        json.dumps(read(content[:at] + bytes([content[at] ^ bits]) + content[at + 1 :], "x"))
                    except ValueError as error:
                        self.assertTrue(str(error).startswith("Pickle file x "), error)


class limited_memory:
    """The memory that may be taken from here on is bounded; what was taken before is not counted."""

    def __enter__(self):
        with open("/proc/self/statm") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        self.before = resource.getrlimit(resource.RLIMIT_AS)
        if not package.forks_hang:  # under a sanitizer all addresses are taken
            resource.setrlimit(resource.RLIMIT_AS, (size + TIGHT, self.before[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_AS, self.before)


class Writing(package.PackageTest):
    def pickle_of(self, kind, content):
        done = self.run_python("from gpu_tracker._pickle_files import main; import sys; sys.exit(main(sys.argv[1:]))", f"write-{kind}",
                               input=content.encode(), text=False)  # fmt: skip
        return done.stdout

    def test_an_analysis_is_made_of_plain_lists(self):
        """So it loads with every pandas, and without any here."""
        content = self.pickle_of("analysis", json.dumps(RESULTS))
        self.assertEqual(_pickles.read_analysis(content, "x"), RESULTS)
        names = {argument for opcode, argument, _ in pickletools.genops(content) if opcode.name.endswith("UNICODE")}
        self.assertLessEqual({"pandas", "DataFrame", "Series", "gpu_tracker.sub_tracker", "SubTrackingResults", "CodeBlockResults"}, names)
        self.assertNotIn("_mgr", names)

    def test_more_than_the_older_package_knows_is_kept(self):
        block = RESULTS["code_block_results"][0]
        more = {"energy": {"unit": "joules", "total": 1.5, "dram": None}, "missing_timepoints": {"main_ram": 2}}
        exact = {"process_cpu_time": {"unit": "seconds", "total": 0.5, "mean": None}}
        results = {**RESULTS, **more, "num_lost_calls": 3, "lost_calls_at_least": True, "code_block_results": [{**block, **more, "exact": exact, "num_outside_calls": 1}]}
        self.assertEqual(_pickles.read_analysis(self.pickle_of("analysis", json.dumps(results)), "x"), results)


if __name__ == "__main__":
    package.main()
