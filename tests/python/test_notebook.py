"""Reports under cells: IPython as in a terminal, and Jupyter with a notebook that is executed headless."""

import importlib.util
import json
import os
import re
import signal
import sys
import time
import unittest

import package

HAS_IPYTHON = importlib.util.find_spec("IPython") is not None
if HAS_IPYTHON:
    import gpu_tracker.notebook
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

# The user's history has a database that tests at once move away from each other.
NO_HISTORY = {"HistoryManager": {"enabled": False}}


def run_shell():
    """A program: IPython with the cells of its standard input."""
    shell = InteractiveShell.instance(config=Config(NO_HISTORY))
    for cell in sys.stdin.read().split("#cell\n"):
        shell.run_cell(cell, store_history=True)


# Says "begun" and waits for an interrupt, in one statement. One long sleep would miss a signal that comes right before it: Python
# runs a signal's handler between two steps of a program, and a sleep under way ends at those alone that come during it.
WAIT = "import itertools, time; any(time.sleep(0.01) for _ in itertools.repeat(print('be' + 'gun', flush=True)))"
THREE_LINES = r"RAM: Consumed Peaked  Used Total  in [\d.]+s(?: \(In \[\d+\]\))?\nGen: +-?\d+ +\d+ +\d+ MiB\n(?:GPU: +\S+ +\S+ +\S+ MiB\n)?"
ONE_LINE = r"CPU: -?\d+/\d+/\d+ MiB(?: \| GPU: (?:n/a|-?\d+/\d+/\d+ MiB))? \| Time [\d.]+s(?: \(In \[\d+\]\))? \| \(Consumed/Peaked/Used Total\)\n"
REPORT = rf"(?:{THREE_LINES}|{ONE_LINE})"  # as the cell used next to nothing or not: how much moves differs with the machine


@unittest.skipUnless(HAS_IPYTHON, "IPython is not installed")
class ShellTest(package.PackageTest):
    def run_cells(self, *cells, environment={}):
        done = package.run_forked(run_shell, "#cell\n".join(cells), environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class HiddenGpu(ShellTest):
    def test_a_cell_whose_gpu_ram_the_driver_hides_says_so(self):
        with package.fake_gpu(self.folder, "memory 16000000000 0 9437184000\nutilization 40\n"):
            output = self.run_cells("%load_ext gpu_tracker", "1", "%%gput --compact --text\n1")
        self.assertRegex(output, r"\nGPU: +n/a +n/a +n/a MiB\nAll: +0 +0 +9000 MiB  use of the GPUs by any process; of this process: the driver")
        self.assertIn("| GPU: n/a (all use: 0/0/9000 MiB) | Time ", output)


class NoGpu(ShellTest):
    def test_without_a_gpu_nothing_is_said_of_one(self):
        output = self.run_cells("%load_ext gpu_tracker", "block = bytearray(20 * 2**20)", "x = 1", environment={"GPUT_NVML": "/nonexistent", "GPUT_SYSFS": str(self.folder)})
        self.assertRegex(output, r"\nGen: +-?\d+ +\d+ +\d+ MiB\n")
        self.assertRegex(output, r"CPU: -?\d+/\d+/\d+ MiB \| Time .*\n$")
        self.assertNotIn("GPU", output)
        self.assertNotIn("n/a", output)


class CodeBlocks(ShellTest):
    def test_a_block_without_a_name_is_named_after_its_cell_and_line(self):
        cells = (
            "import gpu_tracker as gput",
            "number = 1\nwith gput.SubTracker(sub_tracking_file='marks.csv'): pass",
            "@gput.sub_track(sub_tracking_file='marks.csv')\ndef step(): pass\nstep(); step()",
            "print(open('marks.csv').read())",
        )
        blocks = re.findall(r"(?m)^\d+,([^,]+),[01],", self.run_cells(*cells))
        self.assertEqual(blocks, ["In[2]:2"] * 2 + ["In[3]:step"] * 4)


class Loggers(ShellTest):
    def test_logger_prints_three_lines_a_cell(self):
        output = self.run_cells(
            "from gpu_tracker.notebook import IPyGPULogger; logger = IPyGPULogger().start()",
            "block = bytearray(100 * 2**20)",
            "logger.stop()",
            "print('end')",
        )
        self.assertRegex(output, rf"^{THREE_LINES}end\n$")
        consumed = int(output.splitlines()[1].split()[1])
        self.assertTrue(95 <= consumed <= 110, output)

    def test_alias_and_one_line(self):
        output = self.run_cells(
            "from ipygpulogger import IPyGPULogger; IPyGPULogger(compact=True, gc_collect=True).start()", "1 + 1"
        )
        self.assertRegex(output, rf"{ONE_LINE}$")

    def test_data_is_the_documented_tuple(self):
        output = self.run_cells(
            "from gpu_tracker.notebook import IPyGPULogger; il = IPyGPULogger(); il.start()",
            "pass",
            "gen_mem_used_delta, gen_mem_peaked, gen_mem_used, gpu_mem_used_delta, gpu_mem_peaked, gpu_mem_used, time_delta = il.data",
            "print(il.data._fields == ('gen_mem_used_delta', 'gen_mem_peaked', 'gen_mem_used', 'gpu_mem_used_delta', "
            "'gpu_mem_peaked', 'gpu_mem_used', 'time_delta'), gen_mem_used == il.data.gen_mem_used or gen_mem_used > 0)",
        )
        self.assertIn("True True\n", output)

    @unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "AddressSanitizer keeps freed memory")
    def test_a_peak_between_two_samples_is_seen(self):
        # Two samples, at its begin and its end: what was there between them the kernel knows.
        output = self.run_cells(
            "from gpu_tracker.notebook import IPyGPULogger; l = IPyGPULogger(interval=1000).start()",
            "block = b'x' * (150 * 2**20); del block",
        )
        peaked = int(re.search(r"(?m)^Gen: +-?\d+ +(\d+)", output)[1])
        self.assertTrue(140 <= peaked <= 165, output)

    def test_cells_that_raise_wait_and_use_threads_and_processes(self):
        output = self.run_cells(
            "%load_ext gpu_tracker",
            "1 / 0",
            "import asyncio; await asyncio.sleep(0.01)",
            "import threading; t = threading.Thread(target=print, args=('in a thread',)); t.start(); t.join()",
            "import multiprocessing as mp; p = mp.get_context('fork').Process(target=int); p.start(); p.join()",
            "import os; child = os.fork() or os._exit(0)",
            "this is not Python",
            "raise KeyboardInterrupt",
        )
        self.assertEqual(len(re.findall(rf"{THREE_LINES}|{ONE_LINE}", output)), 7)
        self.assertIn("ZeroDivisionError", output)
        self.assertIn("in a thread", output)
        self.assertNotIn("Error in callback", output)

    def test_two_loggers(self):
        output = self.run_cells(
            "from gpu_tracker.notebook import IPyGPULogger; a = IPyGPULogger().start(); b = IPyGPULogger(compact=True).start()",
            "pass",
            "a.stop()",
            "b.stop()",
        )
        self.assertEqual((output.count("RAM: Consumed"), output.count("CPU: ")), (0, 2))

    def test_a_logger_that_is_started_replaces_the_one_before(self):
        output = self.run_cells(
            "%load_ext gpu_tracker",
            "from ipygpulogger import IPyGPULogger; IPyGPULogger().start(); print('#1')",
            "IPyGPULogger(compact=True).start(); print('#2')",
            "print('#3')",
            "%gput --on",
            "print('#4')",
        )
        self.assertRegex(output, rf"^#1\n#2\n#3\n{ONE_LINE}#4\n{REPORT}$")

    def test_version(self):
        output = self.run_cells("import ipygpulogger, gpu_tracker; print(ipygpulogger.__version__ == gpu_tracker.__version__)")
        self.assertEqual(output, "True\n")

    def test_the_later_form(self):
        output = self.run_cells(
            "from ipygpulogger import IPyGPULogger; il = IPyGPULogger(grouped=True).start()",
            "block = bytearray(100 * 2**20)",
            "cpu_mem, gpu_mem, time_data = il.data; il.stop()",
            "delta, peaked, used = cpu_mem; (seconds,) = time_data; print(90 < delta < 115, delta == il.data.cpu.used_delta, "
            "used == il.data.cpu.used_total, peaked == il.data.cpu.peaked_delta, len(gpu_mem), seconds == il.data.time.time_delta)",
        )
        self.assertRegex(output, THREE_LINES.replace("Gen", "CPU"))
        self.assertTrue(output.endswith("True True True True 3 True\n"), output)

    def test_the_later_form_without_asking_for_it(self):
        output = self.run_cells(
            "from ipygpulogger import IPyGPULogger; il = IPyGPULogger().start()",
            "block = bytearray(100 * 2**20)",
            "cpu, gpu, time = il.data; il.stop()\nseven = delta, peaked, used, *_ = il.data\na, b, c, d, e, f, g = il.data\n"
            "print(cpu.used_delta == delta == a, cpu.used_total == used, gpu.peaked_delta == e, time.time_delta == g, len(il.data))\n"
            "print(list(il.data) == list(tuple(il.data)) == [a, b, c, d, e, f, g], il.data._asdict()['time_delta'] == g)",
        )
        self.assertTrue(output.endswith("True True True True 7\nTrue True\n"), output)

    def test_a_captured_cell_has_its_report_in_what_is_captured(self):
        output = self.run_cells(
            "from gpu_tracker.notebook import IPyGPULogger; il = IPyGPULogger().start()",
            "%%capture held\nprint('inside')\nblock = bytearray(100 * 2**20)",
            "il.stop()",
            "print('held:', str(held), sep='\\n')",
        )
        self.assertRegex(output, rf"^{THREE_LINES}held:\ninside\n{THREE_LINES}\n$")

    def test_stopping_and_starting_again(self):
        output = self.run_cells(
            "from gpu_tracker.notebook import IPyGPULogger; a = IPyGPULogger(); a.stop(); a.start(); a.start()",
            "a.stop(); a.stop()",
            "a.start()",
            "pass",
        )
        self.assertEqual(output.count("RAM: Consumed"), 1)

    def test_loading_is_undone(self):
        output = self.run_cells("%load_ext gpu_tracker", "%unload_ext gpu_tracker", "print('quiet')", "%%gput\n1")
        self.assertTrue(output.startswith("quiet\n"), output)


TORCH = """
calls = []
class cuda:
    is_available = is_initialized = staticmethod(lambda: True)
    empty_cache = staticmethod(lambda: calls.append("release"))
class ones:
    def __init__(self, shape): pass
    def cuda(self): calls.append("preload")
"""


class WithFrameworks(ShellTest):
    def setUp(self):
        super().setUp()
        (self.folder / "torch.py").write_text(TORCH)

    def test_context_is_loaded_after_the_import_and_caches_released_on_both_sides(self):
        output = self.run_cells("%load_ext gpu_tracker", "import torch", "print(torch.calls)", "print(torch.calls)")
        # The first cell ends with torch there, and only the next begins with its context loaded.
        self.assertIn("['release', 'preload', 'release']\n", output)
        self.assertIn("['release', 'preload', 'release', 'release', 'release']\n", output)

    def test_neither_where_not_wanted(self):
        output = self.run_cells(
            "from gpu_tracker.notebook import IPyGPULogger",
            "logger = IPyGPULogger(gc_collect=False, preload=False).start(); import torch",
            "print(torch.calls)",
            "logger.stop()",
            "%load_ext gpu_tracker\n%gput --off",
            "torch.calls.clear()",
            "%%gput --no-gc --no-preload\nprint(torch.calls)",
        )
        self.assertEqual(output.count("[]\n"), 2, output)


@unittest.skipUnless(importlib.util.find_spec("pexpect"), "pexpect is not installed")
class Terminal(package.PackageTest):
    """`ipython` as it is typed at."""

    def test_text_and_ctrl_c(self):
        import pexpect

        if not importlib.util.find_spec("IPython"):
            self.skipTest("IPython is not installed")
        environment = os.environ | {"TERM": "dumb", "IPYTHONDIR": str(self.folder), "HOME": str(self.folder)}
        arguments = ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor", "--no-confirm-exit"]
        child = pexpect.spawn(
            sys.executable, arguments, env=environment, timeout=package.PATIENCE, encoding="utf-8",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # ignored in a shell's background
        self.addCleanup(child.close, force=True)
        child.expect(r"In \[1\]: ")
        child.sendline("%load_ext gpu_tracker")
        child.expect(r"In \[2\]: ")
        child.sendline("print('a' + 'b')")
        child.expect(r"ab\r\n(?:CPU: \S+ MiB \| Time|RAM: Consumed Peaked  Used Total  in) [\d.]+s \(In \[2\]\)")
        self.assertNotIn("<", child.after)
        child.expect(r"In \[3\]: ")
        child.sendline(WAIT)
        child.expect("begun")
        child.sendintr()
        child.expect("KeyboardInterrupt")
        child.expect(r"[\d.]+s \(In \[3\]\)")
        child.expect(r"In \[4\]: ")
        child.sendline("exit")
        child.expect(pexpect.EOF)


class Magics(ShellTest):
    LOAD = ("%load_ext gpu_tracker\n%gput --off",)

    def test_one_cell(self):
        output = self.run_cells(*self.LOAD, "%%gput\nx = bytearray(20 * 2**20)\nprint(1)", "%%gput\ny = 1\nprint(2)")
        self.assertRegex(output, rf"^1\n{THREE_LINES}2\n{ONE_LINE}$")

    def test_reports_under_every_cell_are_switched(self):
        output = self.run_cells(
            "%load_ext gpu_tracker", "%gput --off", "print(1)", "%%gput --compact\nprint(2)", "%gput --on ", "print(3)",
            "%gput --on", "print(4)", "%gput --off\n%gput --off", "%unload_ext gpu_tracker")
        self.assertRegex(output, rf"^1\n2\n{ONE_LINE}3\n{REPORT}{REPORT}4\n{REPORT}$")

    def test_options(self):
        output = self.run_cells(*self.LOAD, "%%gput --compact --interval 0.01 --no-gc --text\nx = 1")
        self.assertRegex(output, rf"^{ONE_LINE}$")

    def test_a_cell_with_wrong_options_is_not_run(self):
        wrong = "--nonsense", "--interval soon", "--interval 0", "print(2)", "\n%%gput --nonsense"
        done = package.run_forked(run_shell, "#cell\n".join([*self.LOAD, *(f"%%gput {options}\nprint('ran')\n" for options in wrong)]))
        self.assertRegex(done.stderr, rf"^(UsageError: gput: .*\n){{{len(wrong)}}}$")
        self.assertEqual(done.stdout, "")

    def test_the_nearest_option_is_suggested(self):
        done = package.run_forked(run_shell, "#cell\n".join([*self.LOAD, "%gput --of"]))
        self.assertRegex(done.stderr, r'^UsageError: gput: "--of" is not an option: did you mean --off\? Options are --interval, .* --on, --off\n$')

    def test_await_and_line_numbers_are_as_ever(self):
        output = self.run_cells(*self.LOAD, "%%gput\nimport asyncio\nawait asyncio.sleep(0)\n1 / 0")
        self.assertRegex(output, r"line 4\b|4 1 / 0|----> 4")

    def test_below_another_magic(self):
        output = self.run_cells(*self.LOAD, "%%capture kept\n%%gput --compact\nprint(7)", "print(kept.stdout)")
        self.assertRegex(output, rf"^{ONE_LINE}7\n")
        output = self.run_cells(*self.LOAD, "%%time\n\n%%gput --compact\nx = 7", "print(x)")
        self.assertRegex(output, rf"(?s)^CPU times: .*{ONE_LINE}7\n$")

    def test_below_a_magic_that_is_not_known(self):
        output = self.run_cells(
            *self.LOAD,
            "get_ipython().register_magic_function(lambda line, cell: get_ipython().run_cell(cell) and None, 'cell', 'other')",
            "%%other\n%%gput --compact\nprint(7)",
            "get_ipython().run_cell_magic('gput', '--compact', 'print(8)')",
        )
        self.assertRegex(output, rf"^7\n{ONE_LINE}8\n{ONE_LINE}$")

    def test_above_another_magic(self):
        output = self.run_cells(*self.LOAD, "%%gput --compact\n%%capture kept\nprint(7)", "print(kept.stdout)")
        self.assertRegex(output, rf"^{ONE_LINE}7\n")

    def test_a_magic_that_fails_says_so(self):
        output = self.run_cells(
            *self.LOAD,
            "try:\n    get_ipython().run_cell_magic('gput', '', '1 / 0')\nexcept ZeroDivisionError:\n    print('caught')",
        )
        self.assertTrue(output.endswith("caught\n"), output)

    def test_nested(self):
        output = self.run_cells(
            *self.LOAD,
            "%%gput --compact\nget_ipython().run_cell('%%gput\\nprint(1)')\nprint(2)",
        )
        self.assertRegex(output, rf"^1\n{REPORT}2\n{ONE_LINE}$")

    def test_twice_in_a_cell_is_once_with_the_options_of_both(self):
        output = self.run_cells(
            *self.LOAD,
            "%%gput --text\n%%gput --compact\nimport asyncio\nawait asyncio.sleep(0)\nprint(1)",
            "%%gput --compact\n%%capture\n\n%%gput\n%%time\n%%gput\nprint(2)",
            "%%gput\n%%gput --compact\n1 / 0",
        )
        self.assertRegex(output, rf"(?s)^1\n{ONE_LINE}{ONE_LINE}.*ZeroDivisionError.*(?:line 3\b|-> 3 ).*\n{ONE_LINE}$")
        self.assertEqual((output.count("CPU: "), output.count("Traceback")), (3, 1))

    def test_called_with_the_logger_on(self):
        output = self.run_cells("%load_ext gpu_tracker", "get_ipython().run_cell_magic('gput', '--compact', 'print(1)')")
        self.assertRegex(output, rf"^1\n{ONE_LINE}{REPORT}$")

    def test_a_cell_within_another_has_no_number(self):
        output = self.run_cells("%load_ext gpu_tracker", "get_ipython().run_cell('a = bytearray(20 * 2**20)');")
        self.assertEqual([line.partition("s (")[2] for line in output.splitlines() if "RAM:" in line], ["", "In [2])"])

    def test_with_the_logger_on(self):
        output = self.run_cells("%load_ext gpu_tracker", "%%gput --compact\nprint(1)", "print(2)", "%%gput --compact\n1 / 0")
        self.assertRegex(output, rf"(?s)^1\n{ONE_LINE}2\n{REPORT}.*ZeroDivisionError.*\n{ONE_LINE}$")
        self.assertEqual(len(re.findall(REPORT, output)), 3)

    def test_a_line(self):
        output = self.run_cells(*self.LOAD, "y = %gput --compact 3 + 4", "%gput --compact z = y * 2", "print(y, z)")
        self.assertEqual(output.count("CPU: "), 2)
        self.assertTrue(output.endswith("7 14\n"), output)

    def test_a_line_in_a_function(self):
        output = self.run_cells(*self.LOAD, "def f(x):\n    y = %gput x + 1\n    return y\nprint(f(41))")
        self.assertTrue(output.endswith("42\n"), output)

    AWAIT = "import asyncio\nasync def later(x):\n    await asyncio.sleep(0.01)\n    return x"

    def test_a_line_that_awaits(self):
        output = self.run_cells(
            *self.LOAD,
            self.AWAIT,
            "y = %gput --compact await later('a\\'b\"')",
            "%gput --compact z = await later(y)",
            "async def f(x):\n    y = %gput --compact await later(x)\n    return y",
            "print(y, z, await f(41))",
            "%gput --no await later(1)",
        )
        self.assertEqual(len(re.findall(REPORT, output)), 3)
        self.assertIn("a'b\" a'b\" 41\n", output)

    def test_a_line_that_raises(self):
        output = self.run_cells(*self.LOAD, "%gput --compact 1 / 0", "print('on')")
        self.assertRegex(output, rf"^{ONE_LINE}")
        self.assertIn("ZeroDivisionError", output)


@unittest.skipUnless(importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel"), "Jupyter is not installed")
class Jupyter(package.PackageTest):
    def execute(self, *cells):
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        NotebookClient(notebook, timeout=package.PATIENCE, kernel_name="python3", allow_errors=True).execute()
        return [cell.outputs for cell in notebook.cells]

    def test_html_and_text_under_each_cell(self):
        outputs = self.execute(
            "%load_ext gpu_tracker",
            "import time; block = bytearray(60 * 2**20); time.sleep(0.05)",
            "%%gput --text\nimport asyncio\nawait asyncio.sleep(0.01)\n5",
            "1 / 0",
            "%gput --text await asyncio.sleep(0.01, 'slept')",
        )
        report = outputs[1][-1].data
        self.assertIn("RAM: Consumed", report["text/plain"])
        self.assertIn("data:image/svg+xml", report["text/html"])
        self.assertNotIn("<script", report["text/html"])
        kinds = [output.output_type for output in outputs[2]]
        self.assertIn("execute_result", kinds)
        self.assertIn("stream", kinds)
        self.assertEqual(outputs[3][0].output_type, "error")
        self.assertIn("text/html", outputs[3][-1].data)
        self.assertEqual([output.data["text/plain"] for output in outputs[4] if output.output_type == "execute_result"], ["'slept'"])
        self.assertNotIn("Error in callback", json.dumps(outputs))

    def test_a_captured_cell_has_its_report_as_text_in_what_is_captured(self):
        outputs = self.execute(
            "%load_ext gpu_tracker",
            "%%capture held\nprint('inside')",
            "print('held:', str(held), sep='\\n')",
            "%%capture held\n%gput --text 1 + 1",
            "print('held:', str(held), sep='\\n')",
        )
        self.assertRegex(outputs[2][0].text, rf"^held:\ninside\n{REPORT}\n$")
        self.assertRegex(outputs[4][0].text, rf"^held:\n{REPORT}{REPORT}\n$")
        self.assertIn("text/html", outputs[1][-1].data)

    def messages(self, client, code, begun=None):
        """Of one cell, up to its end. `begun` is called when it prints "begun", and ends it."""
        asked = client.execute(code)
        while True:
            message = client.get_iopub_msg(timeout=package.PATIENCE)
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != asked:
                continue
            if kind == "status" and content["execution_state"] == "idle":
                return
            yield kind, content
            if begun and kind == "stream" and "begun" in content["text"]:
                begun()

    def assert_reported(self, messages):
        kinds = [(kind, sorted(content.get("data", {}))) for kind, content in messages]
        self.assertIn(("display_data", ["text/html", "text/plain"]), kinds)

    def test_a_cell_that_is_interrupted_and_a_kernel_that_is_restarted(self):
        from jupyter_client.manager import start_new_kernel

        manager, client = start_new_kernel(startup_timeout=package.PATIENCE)
        self.addCleanup(manager.shutdown_kernel, now=True)
        self.addCleanup(client.stop_channels)
        kept_before = self.kept_files()
        list(self.messages(client, "%load_ext gpu_tracker"))
        messages = list(self.messages(client, WAIT, manager.interrupt_kernel))
        self.assertIn("KeyboardInterrupt", [content.get("ename") for _, content in messages])
        self.assert_reported(messages)
        self.assert_reported(self.messages(client, "1"))

        next(kind for kind, _ in self.messages(client, WAIT) if kind == "stream")
        manager.restart_kernel(now=True)
        client.wait_for_ready(timeout=package.PATIENCE)
        self.wait_until_gone(kept_before)
        list(self.messages(client, "%load_ext gpu_tracker"))
        self.assert_reported(self.messages(client, "1"))

    def wait_until_gone(self, before):
        """Files of other programs come and go; what a killed kernel left would stay."""
        end = time.monotonic() + package.PATIENCE
        while left := self.kept_files() - before:
            self.assertLess(time.monotonic(), end, left)
            time.sleep(0.05)

    def kept_files(self):
        return {name for name in os.listdir("/dev/shm") if name.startswith(".gpu-tracker")}


class Samples(package.PackageTest):
    def test_first_and_last_stay_whatever_is_kept_between(self):
        from gpu_tracker import _native

        session = _native.Session(sleep_time=0.001, ram_unit="bytes", keep_samples=6)
        session.track()
        block = b"x" * (100 * 2**20)
        first = session.samples()[0]
        # Far more than are kept, and one of the whole block.
        while (last := session.samples()[-1])[0] - first[0] < 0.1 or last[1] < first[1] + 95 * 2**20:
            time.sleep(0.01)
        del block
        session.stop()
        samples = session.samples()
        self.assertEqual(samples[0][:3], first[:3])
        self.assertLessEqual(len(samples), 8)
        self.assertEqual(samples, sorted(samples))
        mb = [ram / 2**20 for _, ram, *_ in samples]
        self.assertGreater(max(mb[1:-1]), mb[0] + 90)
        if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # it keeps freed memory
            self.assertLess(mb[-1], mb[0] + 20)


@unittest.skipUnless(HAS_IPYTHON, "IPython is not installed")
class GpuRam(ShellTest):
    def output_of(self, *cells):
        gpu = package.FakeGpu(self.folder)
        start = "from gpu_tracker.notebook import IPyGPULogger; hold(100); logger = IPyGPULogger().start()"
        return self.run_cells(package.FakeGpu.HOLD, start, *cells, environment=gpu.environment)

    def figures(self, *cells):
        """Of a driver that answers in time. A busy machine may not run the thread that asks it for so long that this is said: then again."""
        for _ in range(20):
            output = self.output_of(*cells)
            lines = [line for line in output.splitlines() if line.startswith("GPU:")]
            if not any("n/a" in line or "the driver's answer of" in line for line in lines):
                break
        return [tuple(map(int, line.split()[1:4])) for line in lines], output

    def test_cells_without_length_have_their_own(self):
        figures, output = self.figures(*(f"hold({100 + 256 * i})" for i in range(1, 7)))
        self.assertEqual(figures, [(256, 0, 100 + 256 * i) for i in range(1, 7)], output)

    def test_what_a_cell_gives_back(self):
        figures, output = self.figures("hold(4004)", "hold(50)", "pass")
        self.assertEqual(figures, [(3904, 0, 4004), (-3954, 3954, 50), (0, 0, 50)], output)

    def test_short_peaks(self):
        cell = "hold_until_listed(4004); hold(2567)"
        figures, output = self.figures(*(part for _ in range(5) for part in ("hold(100)", cell)))
        self.assertEqual(figures[1::2], [(2467, 1437, 2567)] * 5, output)

    def test_a_driver_that_does_not_answer_has_its_age_reported(self):
        hang = "text = open(os.environ['FAKE_NVML_SCENARIO']).read()\n" \
            "open('new', 'w').write('delay_ms nvmlDeviceGetComputeRunningProcesses_v3 600000\\n' + text)\n" \
            "os.rename('new', os.environ['FAKE_NVML_SCENARIO'])"
        output = self.output_of(hang)
        self.assertRegex(output, r"GPU: +0 +0 +100 MiB \(the driver's answer of \d+\.\d{3} s before the end\)\n")

    def test_what_is_not_known_at_one_end_is_not_consumed(self):
        from gpu_tracker._meter import Memory

        memory = Memory([None, 5.0, 7.0], 9.0)
        self.assertEqual((memory.consumed, memory.peaked, memory.used, memory.peak), (None, 2.0, 7.0, 9.0))
        memory = Memory([1.0, 5.0, None], 9.0)
        self.assertEqual((memory.consumed, memory.peaked, memory.used, memory.peak), (None, None, None, None))


if __name__ == "__main__":
    package.main()
