"""Tables: what files hold as columns, and how they leave by the Arrow PyCapsule interface and by buffers."""

import gc
import json
import os
import pathlib
import threading
import unittest
import xml.etree.ElementTree

import package
import sessions

import gpu_tracker as gput


def installed(name):
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


numpy, pandas, pyarrow, polars, duckdb = map(installed, ("numpy", "pandas", "pyarrow", "polars", "duckdb"))


def write_gaps(path):
    """A session whose second sample has no main_ram and no main_n_threads."""
    sessions.write_tracking("whole.csv")
    lines = open("whole.csv").read().splitlines()
    cells = lines[4].split(",")
    cells[sessions.MEASUREMENTS.index("main_ram")] = cells[sessions.MEASUREMENTS.index("main_n_threads")] = ""
    lines[4] = ",".join(cells)
    open(path, "w").write("\n".join(lines) + "\n")


class Reading(package.PackageTest):
    def setUp(self):
        super().setUp()
        sessions.write_session()

    def test_samples(self):
        samples = gput.read_samples("tracking.csv")
        self.assertEqual((samples.name, samples.shape, len(samples)), ("samples", (10, 22), 10))
        self.assertEqual(samples.columns, [*sessions.MEASUREMENTS, "timestamp"])
        self.assertEqual(samples["timestamp"][:], [1000.0 + i for i in range(10)])
        self.assertEqual((samples["main_ram"][0], samples["main_ram"][-1]), (0.0, 9.0))
        self.assertEqual(samples.types["main_n_threads"], "int64")
        self.assertIs(type(samples["main_n_threads"][0]), int)
        self.assertEqual(next(samples.rows()), (*range(21), 1000.0))

    def test_units(self):
        units = gput.read_samples("tracking.csv").units
        self.assertEqual(units["main_ram"], "gigabytes")
        self.assertEqual(units["cpu_main_sum_utilization_percent"], "percent")
        self.assertEqual(units["timestamp"], "seconds since the epoch")
        self.assertIsNone(units["main_n_threads"])

    def test_spans_may_overlap_and_come_in_any_order(self):
        samples = gput.read_samples("tracking.csv", [(1007, 1007), (1001.5, 1003), (1002, 1004), (9, 3)])
        self.assertEqual(samples["timestamp"].tolist(), [1002.0, 1003.0, 1004.0, 1007.0])
        self.assertEqual(len(gput.read_samples("tracking.csv", [])), 0)

    def test_what_is_missing_is_none(self):
        write_gaps("gaps.csv")
        samples = gput.read_samples("gaps.csv")
        self.assertEqual(samples["main_ram"][:3], [0.0, None, 2.0])
        self.assertEqual(samples["main_n_threads"][:3], [10, None, 12])

    def test_calls(self):
        calls = gput.read_calls("sub-tracking.csv")
        self.assertEqual(calls["code_block_name"].tolist(), ["a", "b", "a", "a"])
        self.assertEqual(calls["start"].tolist(), [1000.5, 1001.75, 1002.5, 1005.0])
        self.assertEqual(calls["compute_time"].tolist(), [1.75, 2.25, 0.25, 0.5])
        self.assertEqual(calls["thread_id"].tolist(), [None] * 4)
        self.assertEqual(gput.read_calls("sub-tracking.csv", "b")["stop"].tolist(), [1004.0])

    def test_marks_of_every_format(self):
        for name in "m.csv", "m.sqlite", "m.gputblocks":
            with gput.SubTracker("a", sub_tracking_file=name):
                pass
            marks = gput.read_marks(name)
            self.assertEqual(marks["position"].tolist(), [0, 1], name)
            self.assertEqual(marks["process_id"].tolist(), [os.getpid()] * 2)
            self.assertEqual(len(gput.read_calls(name)), 1)
            self.assertEqual(len(gput.read_marks(name, "no block")), 0)

    def test_the_ranks_of_a_job(self):
        os.mkdir("results")
        for rank in range(2):
            header = {"host": "n", "boot_id": "b", "pid": 7 + rank, "start": f"2026-01-31T12:00:0{rank}.000000Z", "exit_status": 0}
            job = {"launcher": "MPICH", "rank": rank, "world_size": 2}
            report = {"max_ram": {"unit": "bytes"}, "max_gpu_ram": {"unit": "bytes"}, "compute_time": {"unit": "seconds", "time": 2}}
            pathlib.Path("results", f"{rank}.json").write_text(json.dumps({**report, "identity": header, "job": job}))
        tables = gput.job("results")
        self.assertEqual(list(tables["ranks"]["rank"]), [0, 1])
        self.assertEqual(list(tables["jobs"]["world_size"]), [2])
        self.assertIn("<h4>ranks</h4>", tables._repr_html_())
        self.assertRaises(FileNotFoundError, gput.job, "nowhere")
        with self.assertRaisesRegex(TypeError, "sleep_time is 'a'"):
            gput.Tracker(sleep_time="a")
        self.assertRaises(ValueError, gput.job)

    def test_further_tables_of_a_database(self):
        with gput.Tracker(sleep_time=0.01, tracking_file="t.sqlite", processes=True, ram_unit="kilobytes", disable_logs=True):
            pass
        processes = gput.read_tables("t.sqlite")["process_data"]
        self.assertEqual(processes["pid"].tolist(), [os.getpid()])
        self.assertEqual((processes.units["peak_ram"], processes.units["pid"]), ("kilobytes", None))
        self.assertEqual(processes.units["start_timestamp"], "seconds since the epoch")
        self.assertGreater(processes["peak_ram"][0], 1000)
        self.assertIsNone(processes["exit_status"][0])
        message = "tracking.csv has no further tables; a tracking file that ends in .sqlite has"
        self.assert_raises(ValueError, message, gput.read_tables, "tracking.csv")
        self.assertRaises(FileNotFoundError, gput.read_tables, "no.sqlite")

    def test_refusals(self):
        self.assertRaises(FileNotFoundError, gput.read_samples, "no.csv")
        self.assertRaises(FileNotFoundError, gput.read_calls, "no.csv")
        self.assertRaises(ValueError, gput.read_samples, "sub-tracking.csv")
        self.assertRaises(ValueError, gput.read_marks, "tracking.csv")
        self.assertRaises(ValueError, gput.read_samples, "no.txt")
        self.assertRaises(TypeError, gput.read_samples, "tracking.csv", [1, 2])
        self.assertRaises(TypeError, type(gput.read_calls("sub-tracking.csv")["start"]))

    def test_a_torn_last_line_is_warned_of(self):
        with open("tracking.csv", "a") as file:
            file.write("1,2")
        with self.assertLogs("gpu_tracker") as logs:
            self.assertEqual(len(gput.read_samples("tracking.csv")), 10)
        self.assertIn("the last line is truncated", logs.output[0])


class Columns(package.PackageTest):
    def setUp(self):
        super().setUp()
        write_gaps("gaps.csv")
        self.samples = gput.read_samples("gaps.csv")

    def test_a_column_is_a_sequence(self):
        column = self.samples["timestamp"]
        self.assertEqual((len(column), list(column)), (10, column.tolist()))
        self.assertEqual(column[7:2:-2], [1007.0, 1005.0, 1003.0])
        for row in 10, -11:
            self.assertRaises(IndexError, column.__getitem__, row)
        self.assertRaises(TypeError, column.__getitem__, "a")
        self.assert_raises(KeyError, repr("there is no column 'no_such_column'."), lambda: self.samples["no_such_column"])
        self.assert_raises(KeyError, repr("there is no column 'main_rma': did you mean main_ram?"), lambda: self.samples["main_rma"])
        for word in 7, "", "main ram", "main\0ram", "main,ram":
            self.assertRaises(KeyError, self.samples.__getitem__, word)

    def test_numbers_have_a_buffer(self):
        times = memoryview(self.samples["timestamp"])
        self.assertEqual((times.format, times.shape, times.readonly), ("d", (10,), True))
        self.assertEqual(times.tolist(), self.samples["timestamp"].tolist())
        self.assertEqual(memoryview(self.samples["descendants_n_threads"]).format, "q")
        self.assertEqual(len(bytes(self.samples["timestamp"])), 80)

    def test_what_has_no_number_has_no_buffer(self):
        self.assertRaises(BufferError, memoryview, self.samples["main_n_threads"])
        with gput.SubTracker("a", sub_tracking_file="m.csv"):
            pass
        self.assertRaises(BufferError, memoryview, gput.read_marks("m.csv")["code_block_name"])

    def test_a_buffer_outlives_its_table(self):
        times = memoryview(self.samples["timestamp"])
        del self.samples
        gc.collect()
        self.assertEqual(times[9], 1009.0)

    def test_repr_has_shape_units_and_values(self):
        lines = repr(self.samples).splitlines()
        self.assertEqual(lines[0], "samples: 10 rows, 22 columns")
        self.assertRegex(lines[1], r"^  main_ram +gigabytes +0, None, 2, 3, 4, 5, …$")
        self.assertRegex(lines[-1], r"^  timestamp +seconds since the epoch +1000, 1001, ")

    def test_notebooks_show_the_first_rows(self):
        html = self.samples._repr_html_()
        rows = list(xml.etree.ElementTree.fromstring(html).iter("tr"))
        self.assertEqual(len(rows), 11)
        self.assertIn(">samples: 10 rows, 22 columns<", html)
        self.assertEqual([[cell.text for cell in row][0] for row in rows[:4]], ["main_ram (gigabytes)", "0", "n/a", "2"])

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_numpy_does_not_copy(self):
        array = numpy.asarray(self.samples["main_ram"])
        self.assertFalse(array.flags.owndata)
        self.assertTrue(numpy.isnan(array[1]))


class Arrow(package.PackageTest):
    def setUp(self):
        super().setUp()
        write_gaps("gaps.csv")
        self.samples = gput.read_samples("gaps.csv")
        sessions.write_marks("m.csv", [(1, "schön", 0, 1)])
        with open("m.csv", "ab") as file:
            file.write(b"1,n\xff,0,1002\n1,n\xff,1,1003\n")
        self.calls = gput.read_calls("m.csv")

    def test_capsules_that_are_not_taken_are_freed(self):
        for _ in range(1000):
            self.samples.__arrow_c_stream__()
            self.samples.__arrow_c_schema__()

    @unittest.skipUnless(pyarrow, "pyarrow is not installed")
    def test_pyarrow(self):
        table = pyarrow.table(self.samples)
        table.validate(full=True)
        self.assertEqual(table.column_names, self.samples.columns)
        self.assertEqual(table.to_pydict(), self.samples.to_dict())
        self.assertEqual(table["main_n_threads"].null_count, 1)
        self.assertEqual(table["timestamp"].null_count, 0)
        self.assertEqual(table.schema.field("main_ram").metadata, {b"unit": b"gigabytes"})
        self.assertIsNone(table.schema.field("main_n_threads").metadata)
        self.assertEqual(table.schema.metadata, {b"name": b"samples"})
        self.assertEqual(pyarrow.schema(self.samples), table.schema)

    @unittest.skipUnless(pyarrow, "pyarrow is not installed")
    def test_texts_are_utf8(self):
        table = pyarrow.table(self.calls)
        table.validate(full=True)
        self.assertEqual(table["code_block_name"].to_pylist(), ["schön", "n\ufffd"])
        self.assertEqual(self.calls["code_block_name"].tolist(), ["schön", "n\ufffd"])

    @unittest.skipUnless(pyarrow and numpy, "pyarrow or numpy is not installed")
    def test_arrays_do_not_copy_and_outlive_the_table(self):
        address = numpy.asarray(self.samples["timestamp"]).__array_interface__["data"][0]
        array = pyarrow.table(self.samples)["timestamp"].chunk(0)
        self.assertEqual(array.buffers()[1].address, address)
        del self.samples
        gc.collect()
        self.assertEqual(array[9].as_py(), 1009.0)

    @unittest.skipUnless(pyarrow, "pyarrow is not installed")
    def test_is_released_by_any_thread(self):
        taken = [pyarrow.table(self.samples) for _ in range(50)]
        threads = [threading.Thread(target=lambda: [taken.pop() for _ in range(10)]) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((taken, self.samples["timestamp"][0]), ([], 1000.0))

    @unittest.skipUnless(polars, "polars is not installed")
    def test_polars(self):
        frame = polars.DataFrame(self.samples)
        self.assertEqual(frame.to_dict(as_series=False), self.samples.to_dict())
        self.assertEqual(polars.DataFrame(self.calls)["code_block_name"].to_list(), ["schön", "n\ufffd"])

    @unittest.skipUnless(duckdb, "duckdb is not installed")
    def test_duckdb(self):
        samples, calls = self.samples, self.calls
        join = "SELECT sum(main_ram), count(main_ram), count(*) FROM samples, calls WHERE timestamp BETWEEN start AND stop"
        self.assertEqual(duckdb.sql(join).fetchall(), [(5.0, 3, 4)])
        self.assertEqual(duckdb.sql("SELECT count(*) FROM samples").fetchall(), [(10,)])

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_pandas(self):
        frame = self.samples.to_pandas()
        self.assertEqual(list(frame.columns), self.samples.columns)
        self.assertEqual(frame["main_ram"].isna().sum(), 1)
        self.assertEqual(str(frame.dtypes["descendants_n_threads"]), "int64")
        self.assertEqual(str(frame.dtypes["main_n_threads"]), "float64")
        self.assertEqual(str(self.calls.to_pandas().dtypes["thread_id"]), "float64")
        frame.loc[0, "main_ram"] = 5.0  # a copy, which may be changed
        self.assertEqual(self.samples["main_ram"][0], 0.0)

    def test_tables_without_rows(self):
        empty = gput.read_calls("m.csv", "no block")
        self.assertEqual((len(empty), list(empty.rows())), (0, []))
        self.assertEqual(len(memoryview(empty["start"])), 0)
        if pyarrow:
            pyarrow.table(empty).validate(full=True)
        if polars:
            self.assertEqual(polars.DataFrame(empty).shape, (0, 6))
        if duckdb:
            self.assertEqual(duckdb.sql("SELECT count(*) FROM empty").fetchall(), [(0,)])
        if pandas:
            self.assertEqual(empty.to_pandas().shape, (0, 6))


if __name__ == "__main__":
    package.main()
