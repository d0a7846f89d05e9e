"""Metrics that are sent to receivers: what arrives, and that a receiver which fails costs its metrics alone."""

import json
import os
import shutil
import socket
import subprocess
import unittest
import urllib.parse
import urllib.request

import receiver
from command import BUILD, PATIENCE, CommandTest, main, python, wait_until
from fake_gpu import TWO_GPUS
from receiver import Receiver, double, fields

LONG, BRIEF = ["sleep", "1.6"], ["sleep", "0.3"]

try:
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
except ImportError:
    metrics_service_pb2 = None


def attributes(message, number):
    """Key -> value of the attributes that are that field."""
    found = {}
    for attribute in map(fields, message.get(number, [])):
        value = fields(attribute[2][0])
        found[attribute[1][0].decode()] = value[1][0].decode() if 1 in value else value[3][0]
    return found


class Metric:
    def __init__(self, message):
        self.unit = message.get(3, [b""])[0].decode()
        self.is_sum = 7 in message
        data = fields(message[7 if self.is_sum else 5][0])
        self.is_monotonic = data.get(3) == [1]
        if self.is_sum:
            assert data[2] == [2], "cumulative"
        self.points = [(attributes(point, 7), double(point[4][0]), int.from_bytes(point[3][0], "little")) for point in map(fields, data[1])]

    def value(self, **wanted):
        [found] = [value for attributes, value, _ in self.points if attributes == {name.replace("_", "."): text for name, text in wanted.items()}]
        return found


def read_otlp(body):
    """Attributes of the resource, and the metrics by name."""
    if metrics_service_pb2:
        metrics_service_pb2.ExportMetricsServiceRequest.FromString(body)
    [whole] = map(fields, fields(body)[1])
    [scope] = map(fields, whole[2])
    metrics = {}
    for message in map(fields, scope[2]):
        name = message[1][0].decode()
        assert name not in metrics, name
        metrics[name] = Metric(message)
    return attributes(fields(whole[1][0]), 1), metrics


class PushTest(CommandTest):
    def receive(self, *answers):
        made = Receiver(*answers)
        self.addCleanup(made.close)
        return made

    def environment(self, **variables):
        plain = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        return plain | {"GPUT_SYSFS": "/nonexistent", "GPUT_NVML": "/nonexistent"} | variables

    def track(self, *options, command=BRIEF, status=0, **variables):
        done = self.run_command("run", "--st", "0.1", "-o", "r.json", "--overwrite", *options, "--", *command, env=self.environment(**variables))
        self.assertEqual(done.returncode, status, done.stderr)
        self.results = json.loads((self.folder / "r.json").read_text())
        return done.stderr.replace("gpu-tracker: warning: ", "")

    def source(self, name="otlp"):
        return self.results["sources"][name]["reason"]


class Otlp(PushTest):
    def test_what_arrives(self):
        collector = self.receive()
        self.track("--otlp=" + collector.url(), "--push-interval", "0.5", "--label", "job=train", "--label", "team=b", command=LONG,
                   OTEL_RESOURCE_ATTRIBUTES="team=a,site=x%2Cy", OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20t,x-y=z")
        self.assertGreaterEqual(len(collector.requests), 3)
        for path, head, _ in collector.requests:
            self.assertEqual((path, head["Content-Type"], head["Content-Encoding"]), ("/v1/metrics", "application/x-protobuf", "gzip"))
            self.assertEqual((head["Authorization"], head["x-y"]), ("Bearer t", "z"))
        resource, metrics = read_otlp(collector.requests[-1][2])
        identity = self.results["identity"]
        self.assertEqual(resource["service.name"], "gpu-tracker")
        self.assertEqual((resource["job"], resource["team"], resource["site"]), ("train", "b", "x,y"))
        self.assertEqual((resource["host.name"], resource["process.pid"]), (identity["host"], identity["pid"]))
        memory, cpu, utilization = metrics["process.memory.usage"], metrics["process.cpu.time"], metrics["process.cpu.utilization"]
        self.assertEqual((memory.unit, memory.is_sum, memory.is_monotonic), ("By", True, False))
        self.assertEqual((cpu.unit, cpu.is_monotonic), ("s", True))
        self.assertEqual((utilization.unit, utilization.is_sum), ("1", False))
        self.assertEqual(metrics["system.cpu.logical.count"].value(), os.cpu_count())
        self.assertEqual(metrics["process.paging.faults"].value(system_paging_fault_type="minor"), self.results["accounting"]["page_faults"]["minor"])
        self.assertIn("gputracker.main_private_memory", metrics)
        self.assertNotIn("gputracker.combined_memory", metrics)  # is process.memory.usage
        self.assertEqual(self.source(), f"{len(collector.requests)} samples sent to {collector.url('/v1/metrics')}")

    def test_gpus(self):
        collector = self.receive()
        (self.folder / "scenario").write_text(TWO_GPUS.replace("{main}", "1").replace("{child}", "1"))
        self.track("--otlp=" + collector.url(), GPUT_NVML=str(BUILD / "tests" / "gpu" / "libfake-nvml.so"), FAKE_NVML_SCENARIO=str(self.folder / "scenario"))
        metrics = read_otlp(collector.requests[-1][2])[1]
        a, b = ({"hw_id": f"GPU-{x * 4}", "hw_type": "gpu", "hw_name": f"NVIDIA {x.upper()}", "hw_vendor": "nvidia"} for x in "ab")
        self.assertEqual((metrics["hw.gpu.memory.limit"].value(**a), metrics["hw.gpu.memory.limit"].value(**b)), (16e9, 8e9))
        self.assertEqual((metrics["hw.gpu.utilization"].unit, metrics["hw.gpu.utilization"].value(**a)), ("1", 0.4))
        self.assertEqual((metrics["hw.power"].unit, metrics["hw.power"].value(**b)), ("W", 50))
        self.assertTrue(metrics["hw.energy"].is_monotonic)

    def test_variables_of_opentelemetry(self):
        collector, other = self.receive(), self.receive()
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url("/base/"), "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
                     "OTEL_METRIC_EXPORT_INTERVAL": "500", "OTEL_SERVICE_NAME": "night"}
        said = self.track("--otlp", command=LONG, **variables)
        self.assertEqual(said, "")
        self.assertGreaterEqual(len(collector.requests), 3)
        path, head, body = collector.requests[0]
        self.assertEqual((path, head["Content-Encoding"]), ("/base/v1/metrics", None))
        self.assertEqual(read_otlp(body)[0]["service.name"], "night")
        self.track("--otlp", **variables | {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": other.url("/whole")})
        self.assertEqual(other.requests[0][0], "/whole")
        count = len(collector.requests)
        said = self.track("--otlp", **variables | {"OTEL_SDK_DISABLED": "true"})
        self.assertEqual((len(collector.requests), said), (count, "OTEL_SDK_DISABLED is set: no metrics are sent.\n"))
        said = self.track("--otlp", **variables | {"OTEL_METRIC_EXPORT_INTERVAL": "soon"})
        self.assertEqual(said, 'OTEL_METRIC_EXPORT_INTERVAL is "soon", which is not followed.\n')

    def test_busy_receivers_get_it_later(self):
        for status, command in (503, LONG), (429, BRIEF):
            collector = self.receive((status, {"Retry-After": "1"}, b""), (200, {}, b""))
            said = self.track("--otlp=" + collector.url(), command=command)
            self.assertIn(f"answered {status}", said)
            self.assertIn("Metrics wait, and are sent later", said)
            self.assertRegex(self.source(), "^2 samples sent to ")
            first, *others = [read_otlp(body)[1]["process.memory.usage"].points for _, _, body in collector.requests]
            if command == LONG:  # before the end
                self.assertEqual(others[0], first)
            else:
                self.assertEqual([others[0][0], len(others[0])], [first[0], 2])

    def test_refusals_are_counted(self):
        for answer, words in [((400, {}, b"bad metric\n"), "answered 400 Bad Request: bad metric"),
                              ((307, {"Location": "https://new/v1/metrics"}, b""), "answered 307 Temporary Redirect: give the new address, https://new/v1/metrics"),
                              ((404, {}, b""), "answered 404 Not Found")]:
            collector = self.receive(answer)
            said = self.track("--otlp=" + collector.url())
            self.assertIn(words, said)
            self.assertIn("2 of 2 samples did not reach", said)
            self.assertIn("2 of 2 samples did not reach", self.source())

    def test_partial_success(self):
        message = b"\x08\x03\x12\x05old \x07"
        collector = self.receive((200, {}, b"\x0a" + bytes([len(message)]) + message))
        self.assertIn("refused some figures: old ?", self.track("--otlp=" + collector.url()))
        self.assertEqual(self.source(), f"2 samples sent; 6 figures of them were refused: {collector.url('/v1/metrics')} refused some figures: old ?")

    def test_receivers_that_fail_delay_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            closed = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.assertIn("Connection refused", self.track("--otlp=" + closed, command=python("raise SystemExit(3)"), status=3))
        self.assertIn("2 of 2 samples did not reach", self.source())
        for answer in receiver.hang, receiver.hang_up, lambda handler: handler.wfile.write(b"what?\r\n"):
            collector = self.receive(answer)
            said = self.track("--otlp=" + collector.url())
            self.assertRegex(said, "did not answer in time|does not answer as HTTP|reset")
            self.assertIn("2 of 2 samples did not reach", self.source())
            self.assertEqual(self.results["tracker"]["missed_ticks"], 0)

    def test_addresses_that_are_none(self):
        for url, words in [("collector:4318", "does not begin with http:// or https://"), ("http://:1/x", "there is no host"), ("http://a:0", "the port is none")]:
            done = self.run_command("run", "--otlp=" + url, "--", "touch", "ran", env=self.environment())
            self.assertEqual(done.returncode, 125)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / "ran").exists())
        done = self.run_command("run", "--label", "2=x", "--otlp", "--", "touch", "ran", env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (125, 'gpu-tracker: "2" is not NAME=VALUE with a name of letters, digits and _. Several are separated by commas.\n'))


def read_remote_write(body):
    """Labels -> samples (value, milliseconds) of each series; the body is a block of snappy, made of literals alone."""
    length = shift = at = 0
    while True:
        length |= (body[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if body[at - 1] < 0x80:
            break
    plain = b""
    while at < len(body):
        assert body[at] == 61 << 2
        size = int.from_bytes(body[at + 1:at + 3], "little") + 1
        plain += body[at + 3:at + 3 + size]
        at += 3 + size
    assert len(plain) == length
    series = {}
    for message in map(fields, fields(plain)[1]):
        labels = [(label[1][0].decode(), label[2][0].decode()) for label in map(fields, message[1])]
        assert labels == sorted(labels)
        series[tuple(labels)] = [(double(sample[1][0]), sample[2][0]) for sample in map(fields, message[2])]
    return series


class RemoteWrite(PushTest):
    def test_what_arrives(self):
        server = self.receive((503, {}, b""), (204, {}, b""))
        said = self.track("--remote-write", server.url(), "--label", "job=train", SLURM_JOB_ID="77")
        self.assertIn("answered 503", said)
        path, head, body = server.requests[-1]
        self.assertEqual((path, head["Content-Encoding"], head["X-Prometheus-Remote-Write-Version"]), ("/api/v1/write", "snappy", "0.1.0"))
        series = read_remote_write(body)
        whose = {"instance": f"{self.results['identity']['host']}:{self.results['identity']['pid']}", "job": "train", "job_id": "77"}
        for labels in series:
            self.assertEqual({name: value for name, value in labels if name != "__name__"}, whose)
        samples = {dict(labels)["__name__"]: found for labels, found in series.items()}
        self.assertEqual(len(samples["gputracker_combined_memory_bytes"]), 2)
        first, last = samples["gputracker_elapsed_seconds_total"]
        self.assertAlmostEqual(last[0] - first[0], (last[1] - first[1]) / 1000, delta=1)
        self.assertRegex(self.source("remote_write"), "^2 samples sent to ")

    def test_a_real_prometheus(self):
        program = shutil.which("prometheus")
        if not program:
            self.skipTest("needs prometheus")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (self.folder / "prometheus.yml").write_text("{}")
        with open(self.folder / "prometheus.log", "w") as log:
            self.processes.append(subprocess.Popen(
                [program, f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data", "--web.enable-remote-write-receiver",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log))

        def ask(path):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
                    return answer.read()
            except OSError:
                return None

        wait_until(lambda: ask("/-/ready"), "Prometheus")
        self.assertEqual(self.track("--remote-write", f"http://127.0.0.1:{port}", "--label", "team=a", "--push-interval", "0.5", command=LONG), "")
        query = urllib.parse.quote('count_over_time(gputracker_elapsed_seconds_total{job="gpu-tracker",team="a"}[10m])')
        [found] = json.loads(ask(f"/api/v1/query?query={query}"))["data"]["result"]
        self.assertEqual(self.source("remote_write").split()[0], found["value"][1])

    def test_labels_of_pages(self):
        self.run_command("run", "-o", "r.prom", "--label", "job=train", "--", "true", env=self.environment())
        self.assertIn('\ngputracker_system_cores{job="train"} ', (self.folder / "r.prom").read_text())


if __name__ == "__main__":
    main()
