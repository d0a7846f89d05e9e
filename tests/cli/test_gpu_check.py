"""tools/gpu-check, rehearsed: all that it compares agrees with the simulated GPU, and what does not is said to differ."""

import pathlib
import sys
import unittest

import command
from simulated_gpu import FAKE_TORCH, MEMORY, SCENARIO, SERVED, GpuCheckTest


class Agrees(GpuCheckTest):
    def test_memory_agrees_with_the_simulated_gpu(self):
        done = self.check("--scale", "0.1", "memory", "peaks")
        rows = self.rows()
        self.assert_nothing_differs(done)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(rows[MEMORY, "process that holds 1024 MiB"]["ours"], (256 + 1024) * 2**20)
        self.assertEqual(rows[MEMORY, "process that holds 1024 MiB: in use on the GPU"]["ours"], (256 + 1024) * 2**20)
        self.assertEqual(rows[MEMORY, "nine children"]["ours"], 9 * (256 + 64) * 2**20)
        self.assertEqual(rows[MEMORY, "a program without a GPU, started after it"]["ours"], 0)
        self.assertIn(rows["Peaks of memory", "peak of 500 ms, sampled each 0.01 s"]["verdict"], ("agrees", "skipped"))
        self.assertIn("| nine children | bytes |", pathlib.Path(self.folder, "out", "gpu-check.md").read_text())

    def test_use_and_energy_agree(self):
        done = self.check("--scale", "0.05", "use")
        self.assert_nothing_differs(done)
        rows = self.rows()
        busy = rows["Use of processors", "mean use by the process, 50 % busy and rests around it"]
        self.assertGreater(busy["truth"], 1)
        self.assertEqual(rows["Power and energy", "energy, busy, 3.0 s"]["unit"], "joules")

    def test_driver_is_measured(self):
        done = self.check("--scale", "0.05", "driver")
        rows = {(row["figure"], row["unit"]): row for row in self.table()}
        self.assert_nothing_differs(done)
        # Timestamps are exact; changes are seen when they are read.
        self.assertAlmostEqual(rows["utilization", "ms between timestamps"]["ours"], 166, delta=0.01)
        self.assertAlmostEqual(rows["power", "ms between timestamps"]["ours"], 100, delta=0.01)
        for figure in "memory in use", "list of processes":
            self.assertIsNotNone(rows[figure, "ms after an allocation"]["ours"])
        figure = "list of processes, 50 contexts, 50 processes listed: median"
        self.assertGreater(rows[figure, "us"]["ours"], 0)

    def test_figures_of_the_card_agree_and_one_that_does_not_differs(self):
        card = "value nvmlDeviceGetClockInfo/0 1755\nvalue nvmlDeviceGetTemperature/0 61\nvalue nvmlDeviceGetEnforcedPowerLimit 700000\n" \
            "value field/74 1500000000\nvalue field/138 2048\nvalue field/251 7\n" \
            "value nvmlGpmQueryDeviceSupport 1\nvalue gpm/2 31\nvalue gpm/20 100\n"
        done = self.check("card", scenario=SCENARIO + card)
        self.assert_nothing_differs(done)
        rows = {row["figure"]: row for row in self.table()}
        for figure, value in ("graphics_clock_mhz", 1755), ("power_limit_watts", 700), ("power_cap_seconds", 1.5), ("sm_active_percent", 31), ("nvlink_transmitted_bytes", 2**21):
            self.assertEqual((rows[figure]["verdict"], rows[figure]["ours"], rows[figure]["driver"]), ("agrees", value, value))
        self.assertEqual((rows["fan_percent"]["verdict"], rows["field 251"]["ours"]), ("skipped", 7))
        self.assertGreaterEqual(rows["temperature_celsius: median of a call"]["ours"], 0)
        # A tracker whose driver says something else than the one that is read.
        other = pathlib.Path(self.folder, "other.txt")
        other.write_text((SCENARIO + card).replace("1755", "300").replace("/74 15", "/74 95").replace("gpm/2 31", "gpm/2 91"))
        tracker = pathlib.Path(self.folder, "tracker")
        tracker.write_text(f'#!/bin/sh\nFAKE_NVML_SCENARIO="{other}" exec "{command.COMMAND}" "$@"\n')
        tracker.chmod(0o755)
        self.check("card", scenario=SCENARIO + card, tracker=tracker)
        self.assertEqual(self.verdicts("differs"), {"graphics_clock_mhz", "power_cap_seconds", "sm_active_percent"})

    @unittest.skipIf(command.SANITIZED, "Python cannot load an extension that is built with AddressSanitizer")
    def test_front_ends_and_pytorch_agree(self):
        python = f"{command.BUILD / 'python'}:{FAKE_TORCH}"
        done = self.check("--scale", "0.1", "--python", sys.executable, "front-ends", PYTHONPATH=python)
        self.assert_nothing_differs(done)
        agree = self.verdicts("agrees")
        self.assertLess({"doctor names the driver", SERVED, "PyTorch trace: time of all kernels",
                         "PyTorch trace: breakdown: idle", "PyTorch: memory of a run, less what was kept after it",
                         "PyTorch trace: kernel 1 by time: how often"}, agree)  # fmt: skip

    @unittest.skipIf(command.SANITIZED, "Python cannot load an extension that is built with AddressSanitizer")
    def test_pytorch_whose_table_contradicts_its_trace_differs(self):
        python = f"{command.BUILD / 'python'}:{FAKE_TORCH}"
        self.check("--python", sys.executable, "front-ends", PYTHONPATH=python, FAKE_TORCH_FACTOR="2")
        self.assertLess({"PyTorch trace: time of all kernels", "PyTorch trace: breakdown: not idle"}, self.verdicts("differs"))


if __name__ == "__main__":
    command.main()
