"""gpu_tracker.power under the names of AIPowerMeter's package."""

import importlib
import importlib.util
import logging
import os
import pathlib
import signal
import subprocess
import sys
import types
import xml.dom.minidom
from unittest import mock

import package

sys.path.insert(0, str(package.SOURCE / "tests" / "cli"))
from energy_machine import MOVE, RANGE_UJ, Machine
from power_recording import BEGIN, line, lines_of, wait_until, write_recording


class Alias(package.PackageTest):
    def test_a_program_runs_as_it_is(self):
        program = (
            "from deep_learning_power_measure.power_measure import experiment, parsers\n"
            "driver = parsers.JsonParser('rec')\n"
            "exp = experiment.Experiment(driver)\n"
            "for phase in range(2):\n"
            "    p, q = exp.measure_yourself(period=0.1)\n"
            "    p.join(0.3)\n"
            "    q.put(experiment.STOP_MESSAGE)\n"
            "    assert q.get(block=True) == experiment.EXP_DONE\n"
            "driver = parsers.JsonParser('rec')\n"
            "exp_result = experiment.ExpResults(driver)\n"
            "exp_result.print()\n"
            "print(exp_result)\n"
            "exp_result.print_metrics()\n"
            "d, start, end = exp_result.get_exp_duration()\n"
            "curve = exp_result.get_curve('total_mem_use')\n"
            "assert [point['date'] for segment in curve for point in segment][0] >= start and d <= end - start\n"
            "assert abs(experiment.total(curve) / exp_result.total_('total_mem_use') - 1) < 1e-6\n"
            "assert len(curve) == 2\n"
        )
        for _ in range(2):  # the second time what the first one recorded is replaced
            done = self.run_python(program)
            self.assertRegex(done.stdout, "^Energy consumption:\n   Total power draw: ")
            self.assertIn("   per_process_cpu_uses: average ", done.stdout)
            self.assertIn("Available metrics :\nCPU\n  ", done.stdout)
            self.assertIn("GPU\n   NOT AVAILABLE\n", done.stdout)

    def run_module(self, *arguments, module="deep_learning_power_measure", folder=("--output_folder", "rec")):
        command = [sys.executable, "-m", module, *folder, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=package.PATIENCE, env=os.environ | {"MPLBACKEND": "svg"})

    def test_the_command(self):
        command = f"{sys.executable} -c 'import time; print(\"here\", flush=True); time.sleep(0.4); exit(7)'"
        recorded = ("--cmd", command, "--period", "0.1", "--measurement_period", "0.1")
        done = self.run_module(*recorded)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertRegex(done.stdout, "^here\nEnergy consumption:\n")
        self.assertEqual(lines_of()[-1], "END OF RECORDING SEGMENT")
        for segments, cont in ((2, ["--cont", "True"]), (3, ["--cont"]), (1, ["--cont", "False"])):
            self.assertEqual(self.run_module(*recorded, *cont).returncode, 7)
            self.assertEqual(lines_of().count("END OF RECORDING SEGMENT"), segments)
        self.assertIn("'maybe' is neither True nor False", self.run_module(*recorded, "--cont", "maybe").stderr)
        self.assertIn("   total_mem_use: average ", self.run_module().stdout)
        failed = self.run_module("--curve", "intel")
        self.assertEqual(failed.returncode, 1)
        self.assertIn('There is no metric "intel" in rec. There are: ', failed.stderr)

    def test_a_signal_that_ends_the_command_ends_it_too(self):
        pathlib.Path("end.sh").write_text("sleep 0.3; kill -KILL $$")
        done = self.run_module("--cmd", "sh end.sh")
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertIn("Energy consumption:", done.stdout)

    def test_a_command_that_there_is_not(self):
        done = self.run_module("--cmd", "no-such-command")
        self.assertEqual((done.returncode, done.stdout), (127, ""))

    def test_a_shell_runs_the_command(self):
        done = self.run_module("--cmd", "cd / && pwd; for word in a b; do echo $word; done | tr -d '\\n' >&2; exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stdout, "^/\nEnergy consumption:\n")
        self.assertIn("ab", done.stderr)

    def test_what_only_a_shell_has_can_be_recorded(self):
        for command, status in (("exit 3", 3), ("cd /", 0), ("ulimit -n", 0), (":", 0)):
            self.assertEqual(self.run_module("--cmd", command).returncode, status, command)
            self.assertEqual(lines_of()[-1], "END OF RECORDING SEGMENT")

    def test_the_folder_has_a_default(self):
        done = self.run_module("--cmd", "sleep 0.3", folder=())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Recorded duration: ", done.stdout)
        self.assertTrue(os.path.exists("power_measure/power_metrics.json"))

    def test_the_module_shows_a_recording(self):
        write_recording(line(0, intel_power=10), line(2, intel_power=20))
        module = "deep_learning_power_measure.power_measure.experiment"
        done = self.run_module("--curve", "intel_power", module=module)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("   intel_power: 30.0 joules", done.stdout)
        path = done.stdout.rstrip().rpartition(" ")[2]
        xml.dom.minidom.parse(path)
        os.unlink(path)

    def import_alias(self, name):
        return importlib.import_module(f"deep_learning_power_measure.power_measure.{name}")

    def test_arithmetic(self):
        experiment = self.import_alias("experiment")
        sizes = [experiment.humanize_bytes(number) for number in (0, 1023, 1536, 4.6 * 2**30, 2**90)]
        self.assertEqual(sizes, ["0.0B", "1023.0B", "1.5KiB", "4.6GiB", "1024.0YiB"])
        self.assertEqual((experiment.joules_to_wh(7200), experiment.joules_to_wh([3600]), experiment.joules_to_kwh(3.6e6)), (2, [1], 1))
        first = [{"date": 0, "value": 2}, {"date": 2, "value": 4}]
        second = [{"date": 10, "value": 1}, {"date": 13, "value": 1}]
        self.assertEqual((experiment.integrate(first), experiment.cumsum(first), experiment.cumsum([])), ([0, 6], [2, 6], []))
        self.assertEqual(experiment.total([first, second]), 9)
        self.assertEqual(experiment.total([first, second], start=1, end=11), 3.5 + 1)
        self.assertEqual(experiment.total({"0": [first], "1": [second]}), {"0": 6, "1": 3})
        self.assertIsNone(experiment.total(None))
        gap = [{"date": 0, "value": 2}, {"date": 1, "value": None}, {"date": 2, "value": 2}]
        self.assertEqual((experiment.integrate(gap), experiment.integrate(gap, allow_None=True), experiment.total([gap])), (None, [0, 4], None))
        one, other = experiment.interpolate(first, [{"date": 1, "value": 7}])
        self.assertEqual(one, [{"date": 0, "value": 2}, {"date": 1, "value": 3}, {"date": 2, "value": 4}])
        self.assertEqual([point["value"] for point in other], [7, 7, 7])
        self.assertEqual(experiment.time_to_sec(BEGIN), BEGIN.timestamp())

    def test_processes_now(self):
        rapl_power = self.import_alias("rapl_power")
        code = "more = bytearray(64 << 20); more[::4096] = b'x' * len(more[::4096]); print(flush=True)\nwhile True: pass"
        busy = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (busy.kill(), busy.wait(), busy.stdout.close()))
        busy.stdout.readline()
        gone = subprocess.Popen(["true"])
        gone.wait()
        with self.assertWarns(UserWarning):
            processes = rapl_power.get_processes([busy.pid, gone.pid])
        self.assertEqual([process.pid for process in processes], [busy.pid])
        ended = types.SimpleNamespace(pid=gone.pid)
        pss, uss = rapl_power.get_mem_uses([*processes, ended])
        self.assertEqual((set(pss), set(uss)), ({busy.pid}, {busy.pid}))
        self.assertTrue(64 << 20 < uss[busy.pid] <= pss[busy.pid] < 1 << 30, (uss, pss))
        self.assertTrue(0 < rapl_power.get_relative_mem_use(pss)[busy.pid] < 1)
        wait_until(lambda: rapl_power.get_cpu_uses(processes, period=0.2)[1][busy.pid] > 0)
        uses, seconds = rapl_power.get_cpu_uses([*processes, ended], period=0.2)
        self.assertEqual((set(uses), set(seconds)), ({busy.pid}, {busy.pid}))
        self.assertTrue(0 <= uses[busy.pid] <= 1)
        self.assertEqual(rapl_power.get_rel_power({7: 0.25}, 100), {7: 25})

    def test_memory_that_may_not_be_read(self):
        rapl_power = self.import_alias("rapl_power")
        folder = self.folder / "proc" / "7"
        folder.mkdir(parents=True)
        (folder / "status").write_text("Name:\tx\nVmRSS:\t      12 kB\n")
        (folder / "smaps_rollup").write_text("")  # as for one of the kernel's own
        with mock.patch.dict(os.environ, {"GPUT_PROCFS": str(self.folder / "proc")}):
            for process in types.SimpleNamespace(pid=7), 7:
                self.assertEqual(rapl_power.get_mem_uses([process]), ({7: 12288}, {}))

    def test_a_model(self):
        model = mock.Mock()
        model.parameters.return_value = [mock.Mock(numel=lambda: 30)]
        with mock.patch.dict(sys.modules, {"torchinfo": None}), self.assertLogs("gpu_tracker"):
            self.assertEqual(self.import_alias("model_complexity").get_summary(model, (1, 3)), {"total_params": 30})
            driver = self.import_alias("parsers").JsonParser("rec")
            self.import_alias("experiment").Experiment(driver).save_model_card(model, (1, 3), device="cpu")
        self.assertEqual(driver.get_model_card(), {"total_params": 30})

    def test_counters_now(self):
        rapl, rapl_power = self.import_alias("rapl"), self.import_alias("rapl_power")
        machine = Machine(self.folder / "sys")
        with mock.patch.dict(os.environ, machine.environment()):
            self.assertFalse(rapl_power.is_rapl_compatible()[0])
            self.assertRaises(ValueError, rapl.RAPLSample.take_sample)
            machine.add_two_packages()
            compatible, said = rapl_power.is_rapl_compatible()
            self.assertTrue(compatible)
            self.assertEqual(said, "RAPL is available: core, dram, package-0, package-1, psys")
            before = rapl.RAPLSample().take_sample()
            for zone, joules in (("0", 60), ("1", 40), ("0:0", 8), ("1:0", 1), ("0:1", 30), ("2", 200)):
                machine.counter(f"intel-rapl:{zone}").write_text(f"{int((1000 + joules) * 1e6)}\n")
            machine.counter("intel-rapl:1").write_text(f"{40_000_000 - 1}\n")  # it has begun anew
            difference = rapl.RAPLSample.take_sample() - before
            difference.duration = 2.0
            self.assertEqual(rapl_power.get_diff_power_draw(difference), rapl_power.get_power(difference))
            powers = rapl_power.get_power(difference)
            wrapped = (RANGE_UJ - 1e9 + 4e7 - 1) / 1e6
            self.assertAlmostEqual(powers.pop("intel_power"), (60 + wrapped) / 2)
            self.assertEqual(powers, {"psys_power": 100, "dram_power": 4.5, "cpu_power": 15})
            self.assertEqual(difference.energy("package-0", "dram"), 8e6)
            self.assertEqual((difference.energy("package-0", unit=rapl.JOULES), difference.average_power("package-0")), (60, 30))
            unmoved = before - before
            unmoved.duration = 1
            self.assertRaises(ValueError, rapl_power.get_power, unmoved)
            machine.counter("intel-rapl:2").unlink()
            sample = rapl.RAPLMonitor.sample()
            self.assertNotIn("psys", sample.domains)
            mover = subprocess.Popen([sys.executable, "-c", MOVE, *map(str, machine.move(600, package_0=60, package_0_0=6))])
            self.addCleanup(lambda: (mover.kill(), mover.wait()))
            start = machine.counter("intel-rapl:0").read_text()
            wait_until(lambda: machine.counter("intel-rapl:0").read_text() != start)
            metrics = rapl_power.get_metrics([os.getpid()], period=0.2)
        self.assertGreater(metrics["intel_power"], 0)
        self.assertIsNone(metrics["psys_power"])
        self.assertEqual(set(metrics["per_process_dram_power"]), {os.getpid()})

    def nvidia_smi(self, memory="20382, 1737", pmon="    1      20382     C     40      0      0      0    python\n"):
        """A program of that name that says this."""
        uuids = ["GPU-a", "GPU-b"]
        answers = {
            "--query-gpu=index,uuid,power.draw": "0, GPU-a, 18.92\n1, GPU-b, 69.24\n",
            "--query-gpu=index,name,power.draw": "0, NVIDIA A, 18.92\n1, NVIDIA B, 69.24\n",
            "--query-gpu=index,power.min_limit": "0, 100.00\n1, [N/A]\n",
            "--query-compute-apps=gpu_uuid,pid,used_gpu_memory": f"{uuids[1]}, {memory}\n{uuids[1]}, 99, [N/A]\n",
            "pmon": "# gpu        pid  type    sm   mem   enc   dec   command\n# Idx          #   C/G     %     %     %     %   name\n"
                    "    0          -     -      -      -      -      -      -\n" + pmon + "    1         99     C      -      -      -      -    other\n",
        }
        path = self.folder / "bin" / "nvidia-smi"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{sys.executable}\nimport sys\nprint({answers!r}[sys.argv[1]], end='')\n")
        path.chmod(0o755)
        return mock.patch.dict(os.environ, {"PATH": f"{path.parent}:{os.environ['PATH']}"})

    def test_gpus_now(self):
        gpu_power = self.import_alias("gpu_power")
        with self.nvidia_smi(pmon="    1      20382     C     40      0      0      0    python\n" * 2):
            self.assertEqual(gpu_power.is_nvidia_compatible(), (True, "NVIDIA's GPUs report their power: NVIDIA A, NVIDIA B"))
            self.assertEqual(gpu_power.get_min_power(), {0: 100, 1: None})
            self.assertEqual(gpu_power.get_gpu_use_pmon(2), {0: {}, 1: {20382: 0.4, 99: None}})
            found = gpu_power.get_nvidia_gpu_power([20382], nsample=2)
            self.assertEqual(found["per_gpu_estimated_attributable_utilization"], {0: 0, 1: 1})
            self.assertEqual(gpu_power.get_nvidia_gpu_power([99])["per_gpu_absolute_percent_usage"], {0: 0, 1: None})
            self.assertEqual(gpu_power.get_nvidia_gpu_power()["per_gpu_attributable_mem_use"], {0: {}, 1: {20382: 1737 << 20, 99: None}})
        self.assertAlmostEqual(found.pop("nvidia_draw_absolute"), 88.16)
        del found["per_gpu_estimated_attributable_utilization"]
        self.assertEqual(found, {
            "per_gpu_power_draw": {0: 18.92, 1: 69.24},
            "per_gpu_attributable_mem_use": {0: {}, 1: {20382: 1737 << 20}},
            "per_gpu_per_pid_utilization_absolute": {0: {}, 1: {20382: 0.4, 99: None}},
            "per_gpu_absolute_percent_usage": {0: 0, 1: 0.4},
        })  # fmt: skip

    def test_no_gpus_now(self):
        gpu_power = self.import_alias("gpu_power")
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            self.assertEqual(gpu_power.is_nvidia_compatible(), (False, "There is no nvidia-smi here: NVIDIA's driver brings it."))
            self.assertRaises(RuntimeError, gpu_power.get_nvidia_gpu_power)


if __name__ == "__main__":
    logging.getLogger("gpu_tracker").setLevel(logging.WARNING)
    package.main()
