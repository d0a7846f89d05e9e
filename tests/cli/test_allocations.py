"""Commands that read and write files, with each of their allocations failing once: the whole result, or an error."""

import contextlib
import json
import os
import struct
import subprocess

from command import BUILD, COMMAND, SANITIZED, CommandTest, main, times_of

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
    def setUp(self):
        super().setUp()
        if SANITIZED:
            self.skipTest("the sanitizer has an allocator of its own")
        if not PRELOADED.exists():
            self.skipTest("this libc's allocations cannot be made to fail")

    @contextlib.contextmanager
    def attempts(self, arguments):
        """A function that runs the command with the allocation of a number failing: its exit status and, if that is 0, what was said."""
        numbers, numbers_end = os.pipe()
        statuses_end, statuses = os.pipe()
        said_path = self.folder / "said"
        with open(said_path, "ab") as said:
            environment = os.environ | {"LD_PRELOAD": str(PRELOADED), "FAILING_MALLOC": f"each:{numbers}:{statuses}"}
            server = subprocess.Popen([COMMAND, *arguments], env=environment, cwd=self.folder, pass_fds=(numbers, statuses),
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)  # fmt: skip
        self.processes.append(server)
        os.close(numbers)
        os.close(statuses)

        def attempt(number):
            os.write(numbers_end, struct.pack("@l", number))
            status = os.read(statuses_end, struct.calcsize("@i"))
            self.assertTrue(status, "the command that starts others has ended")
            status = os.waitstatus_to_exitcode(struct.unpack("@i", status)[0])
            if status != 0:
                return status, ""
            text = said_path.read_text()
            os.truncate(said_path, 0)
            return 0, text

        try:
            yield attempt
        finally:
            os.close(numbers_end)
            os.close(statuses_end)

    def check(self, output, *arguments):
        """With every allocation failing in turn: an error that leaves no file, or all of what it writes otherwise."""
        path = self.folder / output
        done = self.run_command(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = path.read_bytes()
        failures = 0
        with self.attempts(arguments) as attempt:
            path.unlink()
            _, said = attempt(10**9)
            count = int(said.rpartition("no allocation failed of ")[2])
            for number in range(1, count + 1):
                path.unlink(missing_ok=True)
                status, _ = attempt(number)
                with self.subTest(number=number):
                    self.assertGreaterEqual(status, 0, "it died")
                    if status == 0:
                        self.assertEqual(path.read_bytes(), whole)
                    else:
                        self.assertFalse(path.exists())
                        failures += 1
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
        stamp = times_of(self.folder / "t.csv")[-1]
        (self.folder / "m.csv").write_text(MARKS.replace("1700000000.1", stamp).replace("1700000000.4", stamp).replace("1700000000.", "1900000000."))
        self.check("a.json", "sub-track", "analyze", "--tf", "t.csv", "--stf", "m.csv", "--details", "-f", "json", "-o", "a.json")
        self.check("c.json", "sub-track", "compare", "-m", "A=a.json", "-m", "B=a.json", "-f", "json", "-o", "c.json")


if __name__ == "__main__":
    main()
