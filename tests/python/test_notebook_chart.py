"""The chart below a cell: its figures and its picture, made of given samples."""

import time

import package


class Chart(package.PackageTest):
    def report(self, samples, kernel_peak=0.0, gpu_peak=0.0, read_at=2.0):
        from gpu_tracker._meter import Usage
        from gpu_tracker.notebook import CellReport

        machine = {
            "max_ram": {"combined": {"total_rss": kernel_peak}},
            "max_gpu_ram": {"combined": gpu_peak},
            "sources": {"process_gpu_ram": {"reason": "not <known>; by any process, 9 MiB"}} if gpu_peak is None else {},
            "compute_time": {"time": 2.0},
            "gpus": [{"last_reading_seconds": read_at}, {"last_reading_seconds": None}],
            "gpu_utilization": {"system_gpu_count": 1, "gpu_percentages": {"mean_sum_percent": 40.0}},
            "accounting": {"cpu_seconds": {"sampled": 1.5}},
            "energy": {"combined": 12.0},
        }
        return CellReport(Usage(2.0, machine, [(*sample, 9e8) for sample in samples]), 3)

    def html(self, *parameters, **options):
        """The report's HTML, and the picture in it."""
        html = self.report(*parameters, **options)._repr_mimebundle_()["text/html"]
        return html, package.picture_of(html)

    def test_what_other_reports_take_is_not_the_cells(self):
        from gpu_tracker.notebook import Options, _CellMeter

        begin = time.perf_counter()
        meter = _CellMeter(Options("--no-preload")).start()
        with _CellMeter.own_time:
            time.sleep(0.2)
            with _CellMeter.own_time:  # counts once
                time.sleep(0.1)
        report = meter.stop()
        self.assertLessEqual(report.usage.seconds, time.perf_counter() - begin - 0.3)
        self.assertGreaterEqual(meter.own_time.spent[0], 0.3)
        self.assertGreaterEqual(report.usage.samples[-1][0] - report.usage.samples[0][0], 0.0)

    def test_figures(self):
        mb = 2**20
        report = self.report([(10, 100 * mb, 1 * mb), (11, 300 * mb, 5 * mb), (12, 150 * mb, 2 * mb)])
        self.assertEqual(report.data, (50, 150, 150, 1, 3, 2, 2.0))
        html = report._repr_mimebundle_()["text/html"]
        self.assertIn("In [3] · 2.000 s · CPU 1.500 s (75 %) · GPU 40 % · 12 J", html)
        self.assertNotIn("<svg", html)  # viewers of notebooks from others strip it
        self.assertEqual({line.name for line in package.chart_of(html).panels[0]}, {"RAM", "GPU RAM"})

    def test_gpu_ram_that_is_not_reported_of_this_process_is_that_of_the_gpus(self):
        nan = float("nan")
        report = self.report([(10, 1e8, 0.0), (11, 1e8, nan), (12, 1e8, 0.0)], gpu_peak=None)
        self.assertEqual(report.data[3:6], (None, None, None))
        self.assertEqual(str(report).splitlines()[2:], [
            "GPU:      n/a    n/a    n/a MiB", "All:        0      0    858 MiB  use of the GPUs by any process; of this process: not <known>"])
        html = report._repr_mimebundle_()["text/html"]
        self.assertIn("GPU RAM of all 858 MiB", html)
        self.assertIn("GPU RAM of this process is not known: not &lt;known&gt;", html)
        report.compact = True
        self.assertIn("GPU: n/a (all use: 0/0/858 MiB) | Time", str(report))
        report = self.report([(10, 1e8, 0.0), (12, 1e8, 0.0)], gpu_peak=None, read_at=1.5)  # the driver did not answer at the end
        self.assertIn("All:        0      0    858 MiB (the driver's answer of 0.500 s before the end)  use of", str(report))
        self.assertIn("GPU RAM as of 0.500 s before the end", report._repr_mimebundle_()["text/html"])
        report = self.report([(10, 1e8, nan), (11, 1e8, 5e8), (12, 1e8, 2e8)])  # before the first list
        self.assertEqual(report.data[3:6], (None, 286, 191))
        report = self.report([(10, 1e8, 0.0), (11, 1e8, 5e8), (12, 1e8, nan)])
        self.assertEqual(report.data[3:6], (None, None, None))

    def test_a_peak_that_only_the_kernel_saw_counts(self):
        mb = 2**20
        report = self.report([(10, 100 * mb, 0), (11, 120 * mb, 0), (12, 150 * mb, 0)], kernel_peak=400 * mb)
        self.assertEqual(report.data[:3], (50, 250, 150))
        self.assertIn(">250</td>", report._repr_mimebundle_()["text/html"])

    def test_ends_with_what_is_used_when_all_is_settled(self):
        mb = 2**20
        report = self.report([(10, 100 * mb, 0), (11, 120 * mb, 0), (12.1, 300 * mb, 0), (12.2, 165 * mb, 0)])
        self.assertEqual(report.data[:3], (65, 0, 165))
        html = report._repr_mimebundle_()["text/html"]
        self.assertIn('alt="RAM over 2 s, at most 165 MiB"', html)
        line = package.chart_of(html).line()
        self.assertAlmostEqual(line.points[-1][1], 165 * mb, delta=line.resolution[0])  # labelled MiB

    def test_is_well_formed_and_bounded(self):
        import xml.etree.ElementTree

        samples = [(i / 1000, 1e8 + (i == 777) * 1e8 - (i == 1222) * 1e8, float("nan")) for i in range(2000)]
        html, picture = self.html(samples)
        xml.etree.ElementTree.fromstring(html)
        self.assertLess(len(html), 12000)
        xml.etree.ElementTree.fromstring(picture)
        line = package.chart_of(html).line()  # of one panel and one line
        self.assertAlmostEqual(max(line.values()), 2e8, delta=line.resolution[0])  # the one high sample
        self.assertAlmostEqual(min(line.values()), 0, delta=line.resolution[0])  # and the one low sample

    def test_a_cell_that_used_next_to_nothing_has_one_line(self):
        mb = 2**20
        html = self.report([(10, 100 * mb, 0), (11, 100.4 * mb, 0), (12, 100.2 * mb, 0)])._repr_mimebundle_()["text/html"]
        self.assertIn("In [3] · 2.000 s · CPU 1.500 s (75 %) · GPU 40 % · 12 J · RAM 100 MiB<", html)
        self.assertNotIn("<table", html)
        self.assertNotIn("<img", html)

    def test_nothing_sampled(self):
        html = self.report([])._repr_mimebundle_()["text/html"]
        self.assertIn("In [3] · 2.000 s", html)
        self.assertNotIn("n/a", html)


if __name__ == "__main__":
    package.main()
