"""gpu-tracker run --torch-trace: traces that PyTorch's profiler is asked for while the command runs.

Most tests have a small program in place of PyTorch, which asks as that does, every hundredth of a second."""

import json
import os
import subprocess
import sys

from command import PATIENCE, CommandTest, main, refusal

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("KINETO_", "TORCHELASTIC_", "RANK", "LOCAL_", "WORLD_"))}

# The part of PyTorch: ask() returns the answer's lines as a dictionary, write() writes the trace that it wants.
CLIENT = """
import json, os, socket, struct, sys, time, uuid
folder = os.environ["KINETO_IPC_SOCKET_DIR"]
assert os.environ["KINETO_USE_DAEMON"] == "1"

class Client:
    def __init__(self, ancestors=()):
        self.pids = [os.getpid(), os.getppid(), *ancestors]
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(folder + "/dynoconfigclient" + str(uuid.uuid4()))
        self.socket.settimeout(50)

    def send(self, kind, content):
        self.socket.sendto(struct.pack("=Q32s", len(content), kind) + content, folder + "/dynolog")
        answer = self.socket.recv(65536)
        size, answered = struct.unpack_from("=Q32s", answer)
        assert answered.rstrip(b"\\0") == kind and size == len(answer) - 40, answer
        return answer[40:]

    def ask(self, kinds=3):
        content = struct.pack(f"=iiq{len(self.pids)}i", kinds, len(self.pids), 0, *self.pids)
        lines = self.send(b"req", content).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def wait(self):
        while not (answer := self.ask()):
            time.sleep(0.01)
        return answer

def write(answer, name="aten::mm", category="cpu_op"):
    now = time.time_ns() // 1000
    events = [{"ph": "X", "cat": category, "name": name, "pid": os.getpid(), "tid": os.getpid(), "ts": now, "dur": 10, "args": {}}]
    with open(answer["ACTIVITIES_LOG_FILE"], "w") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)
"""


def ranks_of(path):
    """The ranks of a merged timeline, by the names of its processes."""
    marks = [event["args"] for event in json.loads(path.read_text()) if event["name"] == "process_name"]
    return {mark["rank"]: mark["world_size"] for mark in marks if "rank" in mark}


class TorchTest(CommandTest):
    def run_traced(self, traces, code, *options, environment=None, status=0):
        done = self.run_command(
            "run", "--st", "0.05", *(f"--torch-trace={trace}" for trace in traces), *options, "--", sys.executable, "-c", CLIENT + code,
            env=ENVIRONMENT | (environment or {}),
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def names(self, path="torch-trace.json"):
        return {event["name"] for event in json.loads((self.folder / path).read_text())}


class Asked(TorchTest):
    def test_a_trace_is_on_the_timeline_with_the_samples(self):
        done = self.run_traced(["2s@0"], "client = Client()\nanswer = client.wait()\nwrite(answer)\nprint(json.dumps([answer, client.ask()]))")
        answer, second = json.loads(done.stdout)
        self.assertEqual((answer["ACTIVITIES_DURATION_MSECS"], answer["PROFILE_START_TIME"], second), ("2000", "0", {}))
        self.assertIn("1 trace of PyTorch, with the samples: torch-trace.json", done.stderr)
        self.assertTrue({"aten::mm", "main_ram (bytes)"} <= self.names())
        self.assert_folder_is("torch-trace.json")

    def test_a_trace_without_operators_is_said_to_have_none(self):
        nothing = "write(client.wait(), 'cpu_op and more', 'user_annotation')\n"
        done = self.run_traced(["1s"], "client = Client()\n" + nothing)
        self.assertIn("1 trace of PyTorch without operators, with the samples: torch-trace.json", done.stderr)
        self.assertIn("or by steps (--torch-trace 5steps@100), has some.", done.stderr)
        done = self.run_traced(["1s", "1s"], "client = Client()\n" + nothing + "write(client.wait())", "--overwrite")
        self.assertIn("2 traces of PyTorch (1 without operators), with the samples", done.stderr)

    def test_names_of_files(self):
        self.run_traced(["1s"], "write(Client().wait())", "--tf", "samples.csv", "-o", "report.json")
        self.assert_folder_is("report.json", "samples-torch.json", "samples.csv", "samples.csv.session.json")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["torch_trace"]["file"], "samples-torch.json")
        self.run_traced(["1s"], "write(Client().wait())", "--torch-trace-file", "mine.json.gz")
        self.assertEqual((self.folder / "mine.json.gz").read_bytes()[:2], b"\x1f\x8b")

    def test_several_traces_follow_each_other(self):
        code = """
client = Client()
first = client.wait()
assert client.ask(kinds=1) == {}  # it is tracing
write(first)
second = client.wait()
assert client.ask() == second  # until it is written: a program that counts no steps ignores it
write(second, "aten::add")
assert client.ask() == {}
print(json.dumps([first, second]))
"""
        done = self.run_traced(["500ms@0s", "5steps@100"], code)
        first, second = json.loads(done.stdout)
        self.assertEqual(first["ACTIVITIES_DURATION_MSECS"], "500")
        self.assertEqual((second["ACTIVITIES_ITERATIONS"], second["PROFILE_START_ITERATION"]), ("5", "100"))
        self.assertEqual(second["ACTIVITIES_DURATION_MSECS"], "0")
        self.assertTrue({"aten::mm", "aten::add"} <= self.names())

    def test_nothing_before_its_time(self):
        done = self.run_traced(["1s@1h"], "print(Client().ask())")
        self.assertEqual(done.stdout, "{}\n")
        self.assertIn("No trace was asked for: the command ended before", done.stderr)
        self.assert_folder_is()

    def test_malformed_messages_are_skipped(self):
        code = """
client = Client()
for bad in b"", b"x", bytes(40), struct.pack("=Q32s", 99, b"req"), struct.pack("=Q32siiq", 16, b"req", 2, 1 << 30, 0), bytes(9000):
    client.socket.sendto(bad, folder + "/dynolog")
print(struct.unpack("=i", client.send(b"ctxt", struct.pack("=iiq", 0, os.getpid(), 0)))[0])
write(client.wait())
"""
        self.assertEqual(self.run_traced(["1s"], code).stdout, "1\n")

    def test_a_live_view_answers_too(self):
        self.run_traced(["1s"], "write(Client().wait())", "--live")
        self.assertIn("aten::mm", self.names())


RANKS = """
import subprocess
RANK = '''
client = Client([%d])
answer = client.wait()
write(answer, f"aten::rank{client_rank}")
print(answer["PROFILE_START_TIME"], flush=True)
'''
launcher = Client()
ranks = []
for rank in range(2):
    environment = dict(os.environ, TORCHELASTIC_RUN_ID="none", RANK=str(rank + 4), LOCAL_RANK=str(rank), WORLD_SIZE="8", LOCAL_WORLD_SIZE="2")
    code = CODE + f"client_rank = {rank}" + RANK % os.getpid()
    ranks.append(subprocess.Popen([sys.executable, "-c", code], env=environment))
assert [rank.wait() for rank in ranks] == [0, 0]
assert launcher.ask() == {}
"""


class Ranks(TorchTest):
    def test_all_ranks_begin_together_and_have_their_numbers(self):
        done = self.run_traced(["1s"], f"CODE = {CLIENT!r}\n" + RANKS)
        starts = set(done.stdout.split())
        self.assertEqual(len(starts), 1, done.stdout)
        self.assertGreater(int(starts.pop()), 1.7e12)
        self.assertEqual(ranks_of(self.folder / "torch-trace.json"), {4: 8, 5: 8})
        self.assertTrue({"aten::rank0", "aten::rank1"} <= self.names())
        self.assertIn("2 traces of PyTorch", done.stderr)
        shown = self.run_command("pytorch", "kernels", "torch-trace.json")
        self.assertNotIn("does not name its rank", shown.stderr)

    def test_a_launcher_that_was_asked_before_its_ranks_has_no_trace(self):
        early = RANKS.replace("launcher = Client()\n", "launcher = Client()\nwrite(launcher.wait(), 'nothing', 'user_annotation')\n")
        done = self.run_traced(["1s"], f"CODE = {CLIENT!r}\n" + early)
        self.assertIn("2 traces of PyTorch, with the samples", done.stderr)
        self.assertNotIn("nothing", self.names())

    def test_a_tracker_of_one_rank_waits_for_no_other(self):
        code = "answer = Client().wait()\nwrite(answer)\nprint(answer['PROFILE_START_TIME'])"
        own = {"TORCHELASTIC_RUN_ID": "none", "RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
        self.assertEqual(self.run_traced(["1s"], code, environment=own).stdout, "0\n")
        self.assertEqual(ranks_of(self.folder / "torch-trace.r1.json"), {1: 2})

    def test_ranks_that_are_missing_are_said(self):
        environment = {"TORCHELASTIC_RUN_ID": "none", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
        code = f"import subprocess\nsubprocess.run([sys.executable, '-c', {CLIENT + 'client = Client(); assert client.ask() == client.ask() == {}'!r}], env=os.environ | {environment!r}, check=True)"
        done = self.run_traced(["1s"], code)
        self.assertIn("No trace was asked for: 1 of 2 ranks on this machine loaded PyTorch.", done.stderr)


class Failing(TorchTest):
    def test_a_process_that_ends_before_it_has_written(self):
        done = self.run_traced(["1s"], "Client().wait()")
        self.assertRegex(done.stderr, r"Process \d+ was asked for a trace, and ended before it had written it\.")
        self.assert_folder_is()

    def test_a_file_that_is_no_trace_is_kept(self):
        done = self.run_traced(["1s"], "answer = Client().wait()\nopen(answer['ACTIVITIES_LOG_FILE'], 'w').write('nonsense')")
        self.assertRegex(done.stderr, r"torch-trace.parts/torch-.*\.trace is not a trace of PyTorch's profiler\.")
        self.assertEqual(len(list((self.folder / "torch-trace.parts").iterdir())), 1)

    def test_a_killed_tracker_leaves_traces_that_can_be_merged(self):
        code = CLIENT + "write(Client().wait())\nprint(os.getpid(), flush=True)\nimport time\ntime.sleep(1000)"
        tracker = self.start_command("run", "--torch-trace", "1s", "--", sys.executable, "-c", code, env=ENVIRONMENT)
        program = int(tracker.stdout.readline())
        tracker.kill()
        tracker.wait()
        os.kill(program, 9)
        done = self.run_command("timeline", "merge", "-o", "late.json", *(self.folder / "torch-trace.parts").iterdir())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("aten::mm", self.names("late.json"))

    def test_a_command_that_loads_no_pytorch(self):
        done = self.run_command("run", "--torch-trace=1s", "--", "true", env=ENVIRONMENT)
        self.assertIn("No process of the command asked whether to be traced, as PyTorch 2.1 and later", done.stderr)
        self.assert_folder_is()

    def test_a_daemon_of_another_tool_wins(self):
        done = self.run_command("run", "--torch-trace=1s", "--", "true", env=ENVIRONMENT | {"KINETO_IPC_SOCKET_DIR": "/tool"})
        self.assertIn("PyTorch is not asked for traces, as KINETO_IPC_SOCKET_DIR is set already, to /tool.", done.stderr)
        alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
        if why := refusal(*alone, "true"):
            self.skipTest(f"there is no network of one's own: {why}")
        code = """
import os, socket, subprocess, sys
daemon = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
daemon.bind(b"\\0dynolog\\0")
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""
        command = [os.environ["GPUT_COMMAND"], "run", "--torch-trace=1s", "--", "sh", "-c", "test -z $KINETO_USE_DAEMON"]
        done = subprocess.run([*alone, sys.executable, "-c", code, *command], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("PyTorch is not asked for traces, as a daemon (dynolog) on this machine does that already.", done.stderr)

    def test_a_long_temporary_folder_and_one_with_a_name_that_pytorch_changes(self):
        long = self.folder / ("x" * 100)
        long.mkdir()
        self.run_traced(["1s"], "write(Client().wait())", "--torch-trace-file", "a.json", environment={"TMPDIR": str(long)})
        odd = self.folder / "a.json.d"
        odd.mkdir()
        self.run_traced(["1s"], "write(Client().wait())", "--torch-trace-file", "a.json.d/b.json")
        self.assertIn("aten::mm", self.names("a.json.d/b.json"))
        self.assertEqual([entry.name for entry in odd.iterdir()], ["b.json"])

    def test_values_that_are_none(self):
        for value in "x", "2x", "0s", "2s@x", "2s@5steps", "1.5steps@2", "@60s", "99999999h":
            done = self.run_command("run", f"--torch-trace={value}", "--", "true")
            self.assert_fails(
                done,
                125,
                f"--torch-trace={value} is not a trace. Examples: 2s@60s (two seconds, a minute after the start), "
                "5steps@100 (five steps, from step 100 on).",
            )
        done = self.run_command("run", *["--torch-trace=1s"] * 9, "--", "true")
        self.assert_fails(done, 125, "--torch-trace can be given 8 times at most.")

    def test_a_file_that_exists_is_kept_or_replaced(self):
        (self.folder / "torch-trace.json").write_text("mine")
        done = self.run_command("run", "--torch-trace=1s", "--", "true", env=ENVIRONMENT)
        self.assertIn("torch-trace.json exists: writing torch-trace.1.json (--overwrite replaces torch-trace.json).", done.stderr)
        self.assertEqual((self.folder / "torch-trace.json").read_text(), "mine")
        self.run_traced(["1s"], "write(Client().wait())", "--overwrite")
        self.assertIn("aten::mm", self.names())
        (self.folder / "torch-trace.json").unlink()
        (self.folder / "torch-trace.parts").mkdir()
        done = self.run_command("run", "--torch-trace=1s", "--", "true", env=ENVIRONMENT)
        self.assertIn("torch-trace.json exists: writing torch-trace.1.json", done.stderr)


# Torch asks when it is loaded and every 5 seconds. Trains until a trace has been written to its end that has a range of
# its own: PyTorch can crash where a program ends while it is traced. Each range has the number of its step.
TRAINING = """
import os, sys, time, torch
folder, wanted = os.environ["KINETO_ONDEMAND_TRACE_DIR"], sys.argv[1].encode()
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
steps, end = 0, time.monotonic() + 50
while time.monotonic() < end:
    with torch.profiler.record_function(f"my forward {steps}"):
        loss = model(torch.randn(64, 64)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    steps += 1
    time.sleep(0.001)
    traces = [open(f"{folder}/{name}", "rb").read() for name in os.listdir(folder) if name.endswith(".trace")] if steps % 100 == 0 else []
    if any(wanted in trace and trace.rstrip().endswith(b"}") for trace in traces):
        break
"""


class PyTorch(TorchTest):
    """Skipped where there is no PyTorch; GPUT_TEST_TORCH_PYTHON names an interpreter that has it."""

    def setUp(self):
        super().setUp()
        self.interpreter = os.environ.get("GPUT_TEST_TORCH_PYTHON") or sys.executable
        if refusal(self.interpreter, "-c", "import torch; assert torch.profiler.kineto_available()"):
            self.skipTest("there is no PyTorch")

    def trace(self, *traces):
        options = [f"--torch-trace={trace}" for trace in traces]
        done = self.run_command("run", *options, "--", self.interpreter, "-c", TRAINING, "my forward", env=ENVIRONMENT, timeout=4 * PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertNotIn("kineto", done.stderr.lower())
        return [event["name"] for event in json.loads((self.folder / "torch-trace.json").read_text())]

    def test_an_untouched_training_loop_by_time(self):
        names = self.trace("6s")  # the first step can take seconds on a busy machine
        self.assertTrue({"aten::addmm", "Optimizer.step#SGD.step", "main_ram (bytes)"} <= set(names))
        self.assertTrue(self.steps_of(names))

    def steps_of(self, names):
        return [int(name.rsplit(" ", 1)[1]) for name in names if name.startswith("my forward ")]

    def test_by_steps(self):
        # PyTorch stops its profiler in another thread, while the loop goes on: steps that begin meanwhile are there, too.
        steps = self.steps_of(self.trace("3steps@20"))
        self.assertGreaterEqual(steps[0], 20)
        self.assertEqual(steps, list(range(steps[0], steps[0] + len(steps))))
        self.assertIn(len(steps), range(3, 10))


if __name__ == "__main__":
    main()
