"""Commands that read and write files, with each of their allocations failing once: the whole result, or an error."""

import json
import os

from command import BUILD, SANITIZED, CommandTest, main

PRELOADED = BUILD / "tests" / "failing-malloc.so"
TRACE = {"traceEvents": [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "a process"}},
    {"ph": "M", "pid": 1, "tid": 5, "name": "thread_name", "args": {"name": "a thread"}},
    {"ph": "M", "pid": 1, "name": "process_labels", "args": {"labels": "a label"}},
    {"ph": "X", "pid": 1, "tid": 5, "ts": 1000, "dur": 50, "name": "first", "args": {"a": "b"}},
    {"ph": "X", "pid": 1, "tid": 5, "ts": 1020, "dur": 50, "name": "across the first"},
    {"ph": "X", "pid": "w2", "tid": "a word", "ts": 1010, "dur": 5, "name": "second", "cat": "kernel"},
    {"ph": "C", "pid": 1, "ts": 1000, "name": "counter", "args": {"v": 3}},
    {"ph": "i", "pid": 1, "tid": 7, "ts": 1020, "name": "instant", "s": "t"},
]}
MARKS = """process_id,code_block_name,position,timestamp
1,outer,0,1700000000.1
1,"in, ner",0,1700000000.2
1,"in, ner",1,1700000000.3
1,outer,1,1700000000.4
"""


class FailingAllocations(CommandTest):
    MAX_FAILURES = 4000

    def setUp(self):
        super().setUp()
        if SANITIZED:
            self.skipTest("the sanitizer has an allocator of its own")
        if not PRELOADED.exists():
            self.skipTest("this libc's allocations cannot be made to fail")

    def check(self, output, *arguments):
        """With every allocation failing in turn: an error that leaves no file, or all of what it writes otherwise."""
        path = self.folder / output
        done = self.run_command(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = path.read_bytes()
        failures = 0
        for number in range(1, self.MAX_FAILURES):
            path.unlink(missing_ok=True)
            done = self.run_command(*arguments, env=os.environ | {"LD_PRELOAD": str(PRELOADED), "FAILING_MALLOC": str(number)})
            with self.subTest(number=number):
                self.assertGreaterEqual(done.returncode, 0, "it died")
                if done.returncode == 0:
                    self.assertEqual(path.read_bytes(), whole)
                else:
                    self.assertFalse(path.exists())
                    failures += 1
            if "no allocation failed" in done.stderr:
                break
        else:
            self.fail("there is no end of allocations")
        self.assertGreater(failures, 10)

    def test_timeline_merge(self):
        (self.folder / "a.json").write_text(json.dumps(TRACE))
        (self.folder / "b.json").write_text(json.dumps(TRACE))
        self.check("m.json", "timeline", "merge", "-o", "m.json", "a.json", "b.json")

    def test_combine(self):
        for name in "ab":
            (self.folder / f"{name}.csv").write_text(MARKS)
        self.check("c.csv", "sub-track", "combine", "--stf", "c.csv", "-p", "a.csv", "b.csv")
        self.check("c.gputblocks", "sub-track", "combine", "--mix", "--stf", "c.gputblocks", "-p", "a.csv", "b.csv")

    def test_analyze_and_compare(self):
        self.run_command("run", "--tf", "t.csv", "true")
        stamp = (self.folder / "t.csv").read_text().splitlines()[-1].split(",")[-1]
        (self.folder / "m.csv").write_text(MARKS.replace("1700000000.1", stamp).replace("1700000000.4", stamp).replace("1700000000.", "1900000000."))
        self.check("a.json", "sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "--details", "-f", "json", "-o", "a.json")
        self.check("a.pickle", "sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "-f", "pickle", "-o", "a.pickle")
        self.check("c.json", "sub-track", "compare", "-m", "A=a.json", "-m", "B=a.pickle", "-f", "json", "-o", "c.json")


if __name__ == "__main__":
    main()
