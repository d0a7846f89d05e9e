"""Sessions that have ended, sent to receivers by gpu-tracker push."""

import csv
import datetime
import json
import socket
import sqlite3
import subprocess

import receiver
from command import AS_NOBODY, BUILD, COMMAND, main, until_ticks, wait_until
from fake_gpu import TWO_GPUS
from push_test import PushTest, read_otlp, read_remote_write


def apart(rows):
    """Those that are a millisecond after the one before, which are sent."""
    kept = rows[:1]
    for row in rows[1:]:
        if float(row["timestamp"]) >= float(kept[-1]["timestamp"]) + 1e-3:
            kept.append(row)
    return kept


class Ended(PushTest):
    """gpu-tracker push: sessions that have ended, with the times of their samples."""

    def session(self, name="s", extension=".sqlite", command=until_ticks(6), **variables):
        folder = self.folder / name
        folder.mkdir()
        files = ["--tf", folder / f"a{extension}", "-o", folder / "a.json", "--resource-usage-file", "kept"]
        done = self.run_command("run", "--st", "0.1", "-q", *files, "--", *command, env=self.environment(**variables))
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder, json.loads((folder / "a.json").read_text())

    def push(self, *words, status=0):
        done = self.run_command("push", *words, env=self.environment())
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def samples(self, server):
        """Metric, with its cause if it has one -> [(value, milliseconds)] in the order in which they came, of the only session."""
        found = {}
        for _, _, body in server.requests:
            for labels, samples in read_remote_write(body).items():
                found.setdefault(dict(labels)["__name__"] + dict(labels).get("cause", ""), []).extend(samples)
        return found

    def test_samples_have_their_times(self):
        folder, results = self.session(extension=".csv")
        server = self.receive()
        said = self.push(folder, "--remote-write", server.url(), "--label", "team=a").stdout
        with open(folder / "a.csv") as file:
            rows = apart(list(csv.DictReader(file.readlines()[2:])))
        self.assertEqual(said, f"1 of 1 sessions sent: {len(rows) + 1} samples\n")
        found = self.samples(server)
        times = [round(float(row["timestamp"]) * 1000) for row in rows]
        for (_, time), wanted in zip(found["gputracker_combined_memory_bytes"], times):
            self.assertAlmostEqual(time, wanted, delta=1)
        self.assertEqual([value for value, _ in found["gputracker_combined_threads"]], [float(row["combined_n_threads"]) for row in rows])
        percents = [float(row["cpu_combined_sum_utilization_percent"] or 0) for row in rows]
        seconds = sum((later - time) / 1000 * percent / 100 for time, later, percent in zip(times, times[1:], percents[1:]))
        counted = [value for value, _ in found["gputracker_combined_cpu_seconds_total"]]
        self.assertAlmostEqual(counted[-2], seconds, delta=0.01)
        self.assertEqual(counted, sorted(counted))
        self.assertEqual(found["gputracker_processes_total"][0][0], results["accounting"]["processes"]["seen"])
        for times in ([time for _, time in samples] for samples in found.values()):
            self.assertEqual(times, sorted(set(times)))
        [labels] = {labels for labels in read_remote_write(server.requests[0][2]) if ("__name__", "gputracker_elapsed_seconds_total") in labels}
        self.assertEqual(dict(labels)["instance"], f"{results['identity']['host']}:{results['identity']['pid']}")
        self.assertEqual(dict(labels)["team"], "a")

    def test_gpus_and_bytes_of_databases(self):
        (self.folder / "scenario").write_text(TWO_GPUS.replace("{main}", "1").replace("{child}", "1"))
        asked_often = "until [ \"$(grep -c nvmlDeviceGetPowerUsage calls)\" -ge 8 ]; do sleep 0.05; done 2>errors"  # both GPUs, at each tick
        folder, results = self.session(command=["sh", "-c", asked_often], GPUT_NVML=str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"),
                                       FAKE_NVML_SCENARIO=str(self.folder / "scenario"), FAKE_NVML_LOG=str(self.folder / "calls"))
        server = self.receive()
        self.push(folder, "--remote-write", server.url())
        found = {}
        for _, _, body in server.requests:
            for labels, samples in read_remote_write(body).items():
                found.setdefault((dict(labels)["__name__"], dict(labels).get("uuid")), []).extend(samples)
        with sqlite3.connect(folder / "a.sqlite") as database:
            for column, name, factor in ("power_watts", "gputracker_gpu_power_watts", 1), ("utilization_percent", "gputracker_gpu_utilization_ratio", 0.01), (
                    "energy_joules", "gputracker_gpu_energy_joules_total", 1):
                for gpu in "GPU-aaaa", "GPU-bbbb":
                    rows = [row[0] * factor for row in database.execute(f"SELECT {column} FROM gpu_data WHERE uuid = ? ORDER BY timestamp", (gpu,)) if row[0] is not None]
                    self.assertGreater(len(rows), 1)
                    for wanted, (value, _) in zip(rows, found[name, gpu], strict=False):
                        self.assertAlmostEqual(value, wanted)
            joules = {gpu["uuid"]: gpu["energy_joules"] for gpu in results["gpus"]}
            for gpu in "GPU-aaaa", "GPU-bbbb":
                counted = [value for value, _ in found["gputracker_gpu_energy_joules_total", gpu]]
                self.assertEqual(counted, sorted(counted))
                self.assertAlmostEqual(counted[-1], max(counted[-2], joules[gpu]))
                self.assertGreater(counted[-2], 0)
            count = database.execute("SELECT count(read_bytes) FROM io_data").fetchone()[0]
        self.assertIn(len(found["gputracker_combined_read_bytes_total", None]), (count, count + 1))
        # What does not change goes with the samples alone: a second one at an earlier time would be refused.
        for name in "gputracker_system_cores", "gputracker_elapsed_seconds_total":
            times = [time for _, time in found[name, None]]
            self.assertEqual(times, sorted(set(times)))

    def test_by_otlp_and_thinned(self):
        folder, results = self.session()
        collector = self.receive()
        self.push(folder / "a.sqlite", "--otlp=" + collector.url(), "--push-interval", "60")
        resource, metrics = read_otlp(collector.requests[0][2])
        self.assertEqual((resource["host.name"], resource["process.pid"]), (results["identity"]["host"], results["identity"]["pid"]))
        sent = [read_otlp(body)[1] for _, _, body in collector.requests]
        threads = [metrics["process.thread.count"].points for metrics in sent if "process.thread.count" in metrics]
        self.assertEqual(list(map(len, threads)), [2, 1])  # the first and the last row, and the end

    def test_the_last_row_and_the_end_are_sent_whatever_the_interval_is(self):
        folder, results = self.session(extension=".csv")
        with open(folder / "a.csv") as file:
            rows = apart(list(csv.DictReader(file.readlines()[2:])))
        server = self.receive()
        self.push(folder / "a.csv", "--remote-write", server.url(), "--push-interval", "60")
        found = self.samples(server)
        ended = datetime.datetime.fromisoformat(results["identity"]["end"].replace("Z", "+00:00")).timestamp()
        times = [time / 1000 for _, time in found["gputracker_combined_threads"]]  # RAM is missing while a process exits
        self.assertEqual(len(times), 3)
        for time, wanted in zip(times, (float(rows[0]["timestamp"]), float(rows[-1]["timestamp"]), max(ended, float(rows[-1]["timestamp"])))):
            self.assertAlmostEqual(time, wanted, delta=0.003)
        self.assertGreaterEqual(found["gputracker_combined_cpu_seconds_total"][-1][0], found["gputracker_combined_cpu_seconds_total"][-2][0])
        for name in "gputracker_main_exit_status", "gputracker_session_end_timestamp_seconds":
            self.assertEqual([time for _, time in found[name]], [round(times[-1] * 1000)])  # of no moment before

    def test_reports_alone_are_one_sample(self):
        folder, results = self.session()
        server = self.receive()
        self.assertEqual(self.push(folder / "a.json", "--remote-write", server.url()).stdout, "1 of 1 sessions sent: 1 samples\n")
        [(value, time)] = self.samples(server)["gputracker_elapsed_seconds_total"]
        self.assertAlmostEqual(value, results["compute_time"]["time"] * 3600, delta=0.001)
        ended = datetime.datetime.fromisoformat(results["identity"]["end"].replace("Z", "+00:00")).timestamp()
        self.assertAlmostEqual(time / 1000, ended, delta=0.002)

    def test_busy_receivers_are_asked_again(self):
        folder, _ = self.session()
        for status in 502, 503, 504, 429:
            server = self.receive((status, {}, b""), (204, {}, b""))
            self.push(folder / "a.json", "--remote-write", server.url())
            first, second = [read_remote_write(body) for _, _, body in server.requests]
            self.assertEqual(first, second)

    def test_refusals_name_the_session_and_the_way_out(self):
        self.session("s", ".csv")
        self.session("t", ".csv")
        server = self.receive((400, {}, b"out of bounds\n"), (204, {}, b""))
        done = self.push("s", "t", "--remote-write", server.url(), status=1)
        self.assertRegex(done.stderr, r"s/a\.csv was not sent: .* answered 400 Bad Request: out of bounds\. Prometheus takes .*out_of_order_time_window")
        self.assertTrue(done.stderr.endswith("gpu-tracker: 1 of 2 sessions were not sent, or not completely.\n"), done.stderr)
        self.assertRegex(done.stdout, "^1 of 2 sessions sent")

    def test_one_that_is_not_there_is_not_waited_for(self):
        self.session("s", ".csv")
        with socket.create_server(("127.0.0.1", 0)) as free:
            closed = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.assertIn("s/a.csv was not sent: ", self.push("s", "--remote-write", closed, status=1).stderr)

    def test_others_are_not_tried_where_it_is_not_there(self):
        for name in "s", "t", "u":
            self.session(name, ".csv")
        with socket.create_server(("127.0.0.1", 0)) as free:
            closed = f"http://127.0.0.1:{free.getsockname()[1]}"
        done = self.push("s", "t", "u", "--remote-write", closed, status=1)
        self.assertEqual(done.stderr.count("was not sent"), 1, done.stderr)
        self.assertIn("the receiver is not there: the sessions after that one were not tried.", done.stderr)
        self.assertEqual(done.stdout, "0 of 3 sessions sent: 0 samples\n")
        self.assertTrue(done.stderr.endswith("gpu-tracker: 3 of 3 sessions were not sent, or not completely.\n"), done.stderr)

    def test_others_are_not_tried_where_it_stays_busy(self):
        for name in "s", "t":
            self.session(name, ".csv")
        server = self.receive((503, {"Retry-After": "0"}, b""))
        done = self.push("s", "t", "--remote-write", server.url(), status=1)
        self.assertRegex(done.stderr, r"s/a\.csv was not sent: .* answered 503")
        self.assertIn("the receiver stays busy: the sessions after that one were not tried.", done.stderr)
        self.assertEqual(len(server.requests), 5)

    def test_a_push_that_was_killed_is_sent_again(self):
        self.session("s", ".csv")
        server = self.receive(receiver.hang, (204, {}, b""))
        killed = self.start_command("push", "s", "--remote-write", server.url(), env=self.environment())
        wait_until(lambda: server.requests, "a request")
        killed.kill()
        killed.wait()
        self.assertEqual(self.push("s", "--remote-write", server.url()).stderr, "")
        self.assertEqual(read_remote_write(server.requests[0][2]), read_remote_write(server.requests[1][2]))

    def test_a_receiver_that_dies_half_way(self):
        self.session("s")
        server = self.receive((204, {}, b""), (400, {}, b"full"))
        done = self.push("s", "--remote-write", server.url(), status=1)
        self.assertRegex(done.stderr, r"s/a\.sqlite was not sent to its end: .*400 Bad Request: full")

    def test_one_that_may_not_be_read_is_named_and_the_others_are_sent(self):
        for name in "s", "t", "u":
            self.session(name, ".csv")[0].chmod(0o777)
        (self.folder / "s" / "a.csv").chmod(0o600)
        (self.folder / "u").chmod(0o700)
        self.open_to_nobody(COMMAND)
        server = self.receive()
        done = subprocess.run([*AS_NOBODY, self.folder / "gpu-tracker", "push", ".", "--remote-write", server.url()], cwd=self.folder,
                              env=self.environment(), capture_output=True, text=True)
        self.assertIn("./s/a.csv is skipped: Cannot open ./s/a.csv: Permission denied", done.stderr)
        self.assertIn("./u is skipped: Cannot open ./u: Permission denied", done.stderr)
        self.assertEqual(done.stdout.split(":")[0], "2 of 2 sessions sent")  # t, and of s its report

    def test_a_copy_without_its_identity_is_the_same_session(self):
        folder, _ = self.session("s", ".csv")
        rows = (folder / "a.csv").read_bytes()
        for name in "a-copy.csv", "b.csv":  # both in the order before and after the file
            (folder / name).write_bytes(rows)
        (folder / "early.csv").write_bytes(rows[:-30])  # copied while it was written
        lines = rows.splitlines(keepends=True)
        (folder / "other.csv").write_bytes(b"".join(lines[:4] + lines[5:]))
        server = self.receive()
        done = self.push("s", "--remote-write", server.url())
        said = [f"gpu-tracker: warning: s/{name} is skipped: it is the same session as s/a.csv." for name in ("a-copy.csv", "b.csv", "early.csv")]
        self.assertEqual(sorted(line for line in done.stderr.splitlines() if "same session" in line), said)
        self.assertEqual(done.stdout.split(":")[0], "2 of 2 sessions sent")
        instances = {dict(labels)["instance"] for _, _, body in server.requests for labels in read_remote_write(body)}
        self.assertEqual({name for name in instances if name.endswith(".csv")}, {"other.csv"})

    def test_of_two_copies_that_which_goes_furthest_is_sent(self):
        folder, _ = self.session("s", ".csv")
        rows, sidecar = (folder / "a.csv").read_text().splitlines(keepends=True), json.loads((folder / "a.csv.session.json").read_text())
        (folder / "a.json").unlink()
        for name in "early", "zz":  # copied while it ran
            copy = self.folder / name
            copy.mkdir()
            (copy / "a.csv").write_text("".join(rows[:4]))
            (copy / "a.csv.session.json").write_text(json.dumps({key: value for key, value in sidecar.items() if key not in ("end", "exit_status")}))
            server = self.receive()
            done = self.push(name, "s", "--remote-write", server.url())
            self.assertEqual(done.stderr, f"gpu-tracker: warning: {name}/a.csv is skipped: it is the same session as s/a.csv.\n")
            self.assertEqual(done.stdout.split(":")[0], "1 of 1 sessions sent")
            self.assertEqual(self.samples(server)["gputracker_main_exit_status"][-1][0], 0)

    def test_counters_of_cpu_time_are_not_made_of_rows_that_were_lost(self):
        folder, _ = self.session("s", ".csv")
        (folder / "a.json").unlink()
        sidecar = folder / "a.csv.session.json"
        sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"rows_lost": 3}))
        server = self.receive()
        done = self.push("s", "--remote-write", server.url())
        self.assertIn("s/a.csv lacks 3 rows, which could not be written: its samples are sent without counters of CPU time", done.stderr)
        found = self.samples(server)
        self.assertIn("gputracker_combined_memory_bytes", found)
        counted = {name: samples for name, samples in found.items() if name.endswith("_cpu_seconds_total")}
        self.assertEqual({len(samples) for samples in counted.values()}, {1})  # at the end, as the kernel counted it
        kernel = json.loads(sidecar.read_text())["accounting_cpu_seconds_kernel"]
        self.assertEqual(counted["gputracker_combined_cpu_seconds_total"][0][0], kernel)

    def test_counters_of_cpu_time_end_with_what_the_kernel_counted(self):
        burn = "for i in 1 2 3 4 5 6; do timeout 0.1 sh -c 'while :; do :; done'; done; :"
        folder, results = self.session("s", ".csv", command=["sh", "-c", burn])
        kernel = results["accounting"]["cpu_seconds"]["kernel"]
        for has_report in True, False:
            server = self.receive()
            self.push("s", "--remote-write", server.url())
            counted = {
                whose: [value for value, _ in self.samples(server)[f"gputracker_{whose}_cpu_seconds_total"]]
                for whose in ("main", "descendants", "combined")}  # fmt: skip
            with self.subTest(has_report=has_report):
                self.assertEqual(counted["combined"][-1], kernel)
                self.assertAlmostEqual(counted["main"][-1] + counted["descendants"][-1], kernel)
                for values in counted.values():
                    self.assertEqual(values, sorted(values))
            (folder / "a.json").unlink(missing_ok=True)

    def test_damaged_files_are_named_and_the_others_are_sent(self):
        folder, _ = self.session("s", ".csv")
        database, report = self.session("t")[0] / "a.sqlite", self.session("u")[0] / "a.json"
        size = database.stat().st_size
        database.write_bytes(database.read_bytes()[:3000])
        (database.parent / "a.json").unlink()
        report.write_bytes(report.read_bytes()[:500])
        (folder / "notes.json").write_text('{"a": [1, ')  # somebody else's
        server = self.receive()
        done = self.push(".", "--remote-write", server.url(), status=1)
        said = done.stderr.splitlines()
        self.assertEqual(said[0], f"gpu-tracker: warning: ./t/a.sqlite is skipped: the database is truncated: it should have {size} bytes and has 3000.")
        self.assertRegex(said[1], r"^gpu-tracker: warning: ./u/a\.json is skipped: ./u/a\.json is not valid JSON \(line ")
        self.assertEqual(said[2:], ["gpu-tracker: 2 files were skipped."])
        self.assertEqual(done.stdout.split(":")[0], "2 of 2 sessions sent")  # s, and of u its samples

    def test_what_cannot_be_sent(self):
        (self.folder / "notes.json").write_text("{}")
        for words, said in [(["s"], "No receiver was given"), (["none.csv", "--remote-write", "http://127.0.0.1:1"], "none.csv"),
                            (["notes.json", "--remote-write", "http://127.0.0.1:1"], "notes.json"),
                            (["s", "--otlp", "http://127.0.0.1:1"], "--otlp=http://127.0.0.1:1."),
                            (["s", "--remote-write", "x", "--push-interval", "soon"], "--push-interval=soon is not a valid interval")]:
            self.assertIn(said, self.push(*words, status=1).stderr)


if __name__ == "__main__":
    main()
