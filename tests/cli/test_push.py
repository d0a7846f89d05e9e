"""Metrics that are sent to receivers: what arrives, and that a receiver which fails costs its metrics alone."""

import contextlib
import ctypes
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request

import receiver
from command import BUILD, PATIENCE, SOURCE, main, python, until_ticks, wait_until, with_times_later
from fake_gpu import TWO_GPUS
from push_test import PushTest, moment_of, read_otlp, read_remote_write, unpack_snappy, session_name

LONG = ["sleep", "1.6"]


class Otlp(PushTest):
    def receive_three(self):
        """A receiver, and a command that ends when it has got three requests, however late they are sent."""
        go = self.folder / "go"

        def take_it(handler):
            go.touch()
            handler.send_response(200)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        command = ["sh", "-c", f"while [ -d {self.folder} ] && ! [ -e {go} ]; do sleep 0.05; done"]
        return self.receive((200, {}, b""), (200, {}, b""), take_it), command

    def test_what_arrives(self):
        collector, command = self.receive_three()
        self.track("--otlp=" + collector.url(), "--push-interval", "0.5", "--label", "job=train", "--label", "team=b", command=command,
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
        self.assertEqual((resource["process.command"], resource["gputracker.boot_id"]), (identity["command"], identity["boot_id"]))
        self.assertEqual((resource["process.linux.cgroup"], resource["gputracker.clock"]), (identity["cgroup"], identity["clock"]))
        self.assertNotIn("process.command_line", resource)
        self.assertEqual(metrics["gputracker.main_exit_status"].value(), 0)
        start, end = (metrics[f"gputracker.session_{which}_timestamp"] for which in ("start", "end"))
        self.assertAlmostEqual(start.value(), moment_of(identity["start"]), delta=0.001)
        self.assertAlmostEqual(end.value(), moment_of(identity["end"]), delta=0.001)
        self.assertEqual((start.unit, start.is_sum), ("s", False))
        memory, cpu, utilization = metrics["process.memory.usage"], metrics["process.cpu.time"], metrics["process.cpu.utilization"]
        self.assertEqual((memory.unit, memory.is_sum, memory.is_monotonic), ("By", True, False))
        self.assertEqual((cpu.unit, cpu.is_monotonic), ("s", True))
        self.assertEqual((utilization.unit, utilization.is_sum), ("1", False))
        self.assertEqual(metrics["system.cpu.logical.count"].value(), os.cpu_count())
        self.assertEqual(metrics["process.paging.faults"].value(system_paging_fault_type="minor"), self.results["accounting"]["page_faults"]["minor"])
        self.assertIn("gputracker.main_private_memory", metrics)
        self.assertNotIn("gputracker.combined_memory", metrics)  # is process.memory.usage
        sent = len(collector.requests)
        self.assertEqual(self.source(), f"{sent} sample{'s' if sent > 1 else ''} sent to {collector.url('/v1/metrics')}")

    def test_the_program_is_not_its_arguments(self):
        collector = self.receive()
        program = self.folder / "train"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        self.track("--otlp=" + collector.url(), "--command-lines", command=[program, "--secret"])
        resource, _ = read_otlp(collector.requests[-1][2])
        self.assertEqual((resource["process.executable.name"], resource["process.command"]), ("train", str(program)[:127]))
        self.assertEqual(resource["process.command_line"], f"{program} --secret"[:127])

    def check_names(self, attributes, metrics):
        """docs/push.md lists what is sent, and nothing else."""
        section = (SOURCE / "docs/push.md").read_text().split("| metrics | of |")[1].split("\n## ")[0]
        table, _, text = section.partition("\nThe resource has these attributes:\n")
        documented = {name for row in re.findall(r"(?m)^\| (`.*?) \|", table) for name in re.findall(r"(?<!with )`([a-z_]+\.[a-z_.]+)`", row)}
        self.assertGreater(len(documented), 15)
        sent = {name for name in metrics if not name.startswith("gputracker.")}
        self.assertEqual(sent - documented, set())
        self.assertLessEqual(documented - sent, {"hw.host.energy", "hw.host.power", "hw.gpu.part.utilization"})  # few machines have a counter of the platform; only with --gpu-parts
        named = set(re.findall(r"`([a-z0-9_]+\.[a-z0-9_.]+)`", text))
        self.assertEqual({name for name in attributes if not name.startswith("gputracker.")} - named, set())
        self.assertLessEqual({"service.name", "service.instance.id", "host.name", "process.pid"}, named & attributes)

    def test_gpus(self):
        collector = self.receive()
        card = "value nvmlDeviceGetTemperature/0 61\nvalue nvmlDeviceGetEnforcedPowerLimit 700000\nvalue nvmlDeviceGetClockInfo/0 1755\n" \
            "value field/74 0\nvalue field/3 0\nvalue field/4 0\nvalue field/197 4096\nvalue field/198 8192\n"
        (self.folder / "scenario").write_text(TWO_GPUS.replace("{main}", "1").replace("{child}", "1").replace("gpu GPU-bbbb", card + "gpu GPU-bbbb"))
        self.track("--otlp=" + collector.url(), GPUT_NVML=str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"), FAKE_NVML_SCENARIO=str(self.folder / "scenario"))
        resource, metrics = read_otlp(collector.requests[-1][2])
        self.check_names(set(resource), set(metrics))
        a, b = ({"hw_id": f"GPU-{x * 4}", "hw_type": "gpu", "hw_name": f"NVIDIA {x.upper()}", "hw_vendor": "nvidia"} for x in "ab")
        self.assertEqual((metrics["hw.gpu.memory.limit"].value(**a), metrics["hw.gpu.memory.limit"].value(**b)), (16e9, 8e9))
        self.assertEqual((metrics["hw.gpu.utilization"].unit, metrics["hw.gpu.utilization"].value(**a)), ("1", 0.4))
        self.assertEqual((metrics["hw.power"].unit, metrics["hw.power"].value(**b)), ("W", 50))
        self.assertTrue(metrics["hw.energy"].is_monotonic)
        self.assertEqual((metrics["hw.temperature"].unit, metrics["hw.temperature"].value(**a)), ("Cel", 61))
        self.assertEqual(metrics["hw.gpu.power.limit"].value(**a), 700)

    def test_variables_of_opentelemetry(self):
        (collector, command), other = self.receive_three(), self.receive()
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url("/base/"), "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
                     "OTEL_METRIC_EXPORT_INTERVAL": "500", "OTEL_SERVICE_NAME": "night"}
        said = self.track("--otlp", command=command, **variables)
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
        self.assertEqual(said, 'OTEL_METRIC_EXPORT_INTERVAL is "soon", which is ignored.\n')

    def test_each_variable_that_cannot_be_read_is_named(self):
        wrong = {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon",
                 "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION": "zstd", "OTEL_EXPORTER_OTLP_HEADERS": "a=b,secret", "OTEL_METRIC_EXPORT_INTERVAL": "1.5",
                 "OTEL_RESOURCE_ATTRIBUTES": "team"}  # fmt: skip
        said = ['OTEL_EXPORTER_OTLP_TIMEOUT is "soon", which is ignored.', 'OTEL_EXPORTER_OTLP_METRICS_COMPRESSION is "zstd", which is ignored.',
                'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL is "grpc", which is ignored.',
                "OTEL_EXPORTER_OTLP_HEADERS is not a list of NAME=VALUE: the part after the mistake is skipped.",
                'OTEL_METRIC_EXPORT_INTERVAL is "1.5", which is ignored.',
                "OTEL_RESOURCE_ATTRIBUTES is not a list of NAME=VALUE: the part after the mistake is skipped."]  # fmt: skip
        collector = self.receive()
        self.assertEqual(self.track("--otlp=" + collector.url(), **wrong).splitlines()[:6], said)
        self.assertEqual(collector.requests[0][1]["a"], "b")
        self.run_command("run", "-q", "--tf", "s.csv", "--", "true", env=self.environment())
        self.run_command("run", "-q", "--tf", "t.csv", "--", "true", env=self.environment())
        done = self.run_command("push", "s.csv", "t.csv", "--otlp=" + collector.url(), env=self.environment(**wrong))
        self.assertEqual(done.stderr.replace("gpu-tracker: warning: ", "").splitlines(), said)

    def test_busy_receivers_get_it_later(self):
        go = self.folder / "go"
        waiting = ["sh", "-c", f"while [ -d {self.folder} ] && ! [ -e {go} ]; do sleep 0.05; done"]  # until the metrics came the second time

        def take_it(handler):
            go.touch()
            handler.send_response(200)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        busy, until_asked = self.receive_busy(429, take_it, Retry_After="100")
        for collector, status, command in (self.receive((503, {"Retry-After": "1"}, b""), take_it), 503, waiting), (busy, 429, [*until_asked, "true"]):
            said = self.track("--otlp=" + collector.url(), command=command)
            self.assertIn(f"answered {status}", said)
            self.assertIn("Metrics wait, and are sent later", said)
            first, *others = [read_otlp(body)[1]["process.memory.usage"].points for _, _, body in collector.requests]
            if command == waiting:  # before the end
                self.assertEqual(others[0][:1], first)
                self.assertLess(others[0][0][2], others[-1][-1][2])
            else:
                self.assertEqual([others[0][0], len(others[0])], [first[0], 2])
                self.assertRegex(self.source(), "^2 samples sent to ")

    def test_gateways_that_fail_are_busy(self):
        for status in 502, 504:
            collector, until_asked = self.receive_busy(status, (200, {}, b""))
            self.assertIn(f"answered {status}", self.track("--otlp=" + collector.url(), command=[*until_asked, "true"]))
            self.assertRegex(self.source(), "^2 samples sent to ")
            self.assertEqual(self.results["tracker"]["metrics_lost"], 0)

    def test_it_waits_as_long_as_the_receiver_says(self):
        collector, until_asked = self.receive_busy(503, (200, {}, b""), Retry_After="100")
        self.track("--otlp=" + collector.url(), "--push-interval", "0.5", "--resource-usage-file", "kept", command=[*until_asked, *until_ticks(25)])
        self.assertEqual(len(collector.requests), 2)  # and once at the end
        self.assertGreaterEqual(len(read_otlp(collector.requests[1][2])[1]["process.memory.usage"].points), 3)

    def test_a_receiver_that_is_far_away(self):
        """It answers too late for a short command, unless the user gives it that time."""

        def far(handler):
            handler.server.ended.wait(1.5)
            handler.send_response(200)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        for name in "OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT":
            collector = self.receive(far)
            said = self.track("--otlp=" + collector.url(), command=["true"], **{"OTEL_EXPORTER_OTLP_TIMEOUT": "", name: "10000"})
            self.assertEqual((said, self.source()), ("", f"2 samples sent to {collector.url('/v1/metrics')}"))
            self.assertEqual(self.results["tracker"]["metrics_lost"], 0)
        self.assertIn("2 of 2 samples did not reach", self.track("--otlp=" + self.receive(far).url(), command=["true"], OTEL_EXPORTER_OTLP_TIMEOUT="200"))

    def test_refusals_are_counted(self):
        for answer, words in [((400, {}, b"bad metric\n"), "answered 400 Bad Request: bad metric"),
                              ((307, {"Location": "https://new/v1/metrics"}, b""), "answered 307 Temporary Redirect: give the new address, https://new/v1/metrics"),
                              ((404, {}, b""), "answered 404 Not Found")]:
            collector = self.receive(answer)
            said = self.track("--otlp=" + collector.url())
            self.assertIn(words, said)
            self.assertIn("2 of 2 samples did not reach", said)
            self.assertIn("2 of 2 samples did not reach", self.source())
            self.assertEqual(self.results["tracker"]["metrics_lost"], 2)

    def test_partial_success(self):
        message = b"\x08\x03\x12\x05old \x07"
        collector = self.receive((200, {}, b"\x0a" + bytes([len(message)]) + message))
        self.assertIn("refused some figures: old ?", self.track("--otlp=" + collector.url()))
        self.assertEqual(self.source(), f"2 samples sent; 6 of their figures refused: {collector.url('/v1/metrics')} refused some figures: old ?")

    def test_samples_go_on_while_a_receiver_hangs(self):
        """The request is not given up before the end: ticks that waited for it would never come."""
        collector = self.receive(receiver.hang)
        samples, go = self.folder / "s.csv", self.folder / "go"
        tracked = self.start_command(
            "run", "-q", "--st", "0.05", "--tf", samples, "--otlp=" + collector.url(), "--push-interval", "0.5", "-o", "r.json",
            "--", "sh", "-c", f"while [ -d {self.folder} ] && ! [ -e {go} ]; do sleep 0.05; done; exit 3",
            env=self.environment(OTEL_EXPORTER_OTLP_TIMEOUT="600000"))
        wait_until(lambda: collector.requests, "a request")
        rows = samples.read_bytes().count(b"\n")
        wait_until(lambda: samples.read_bytes().count(b"\n") > rows + 20, "samples")
        self.assertEqual(len(collector.requests), 1)
        go.touch()
        self.assertEqual(tracked.wait(PATIENCE), 3)
        reason = json.loads((self.folder / "r.json").read_text())["sources"]["otlp"]["reason"]
        self.assertRegex(reason, "did not reach .* did not answer in time")

    def test_receivers_that_fail_are_no_failure_of_the_command(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            closed = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.assertIn("Connection refused", self.track("--otlp=" + closed, command=python("raise SystemExit(3)"), status=3))
        self.assertIn("2 of 2 samples did not reach", self.source())
        for answer in receiver.hang, receiver.hang_up, lambda handler: handler.wfile.write(b"what?\r\n"):
            collector = self.receive(answer)
            said = self.track("--otlp=" + collector.url(), OTEL_EXPORTER_OTLP_TIMEOUT="")
            self.assertRegex(said, "did not answer in time|does not answer as HTTP|reset")
            self.assertIn("2 of 2 samples did not reach", self.source())

    def test_addresses_that_are_none(self):
        for url, words in [("collector:4318", "does not begin with http:// or https://"), ("http://:1/x", "there is no host"), ("http://a:0", "the port is not a number from 1 to 65535")]:
            done = self.run_command("run", "--otlp=" + url, "--", "touch", "ran", env=self.environment())
            self.assertEqual(done.returncode, 125)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / "ran").exists())
        done = self.run_command("run", "--label", "2=x", "--otlp", "--", "touch", "ran", env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (125, 'gpu-tracker: "2" is not NAME=VALUE with a name of letters, digits and _. Several are separated by commas.\n'))


class RemoteWrite(PushTest):
    def test_what_arrives(self):
        server, until_asked = self.receive_busy(503, (204, {}, b""))
        said = self.track("--remote-write", server.url(), "--label", "job=train", command=[*until_asked, "true"], SLURM_JOB_ID="77")
        self.assertIn("answered 503", said)
        path, head, body = server.requests[-1]
        self.assertEqual((path, head["Content-Encoding"], head["X-Prometheus-Remote-Write-Version"]), ("/api/v1/write", "snappy", "0.1.0"))
        series = read_remote_write(body)
        whose = {"instance": session_name(self.results["identity"]), "job": "train", "job_id": "77"}
        causes = set()
        for labels in map(dict, series):
            name = labels.pop("__name__")
            if name == "gputracker_time_went_seconds":
                causes.add(labels.pop("cause"))
            if name == "gputracker_session_info":
                known = self.results["identity"]
                more = {name: str(known[name]) for name in ("host", "boot_id", "clock", "user", "pid", "command", "version", "cgroup")}
                self.assertEqual({name: labels.get(name) for name in whose | more}, whose | more)
            else:
                self.assertEqual(labels, whose)
        self.assertLessEqual({"computing", "cpu_wait", "pipe", "unknown"}, causes)
        samples = {dict(labels)["__name__"]: found for labels, found in series.items()}
        self.assertEqual(len(samples["gputracker_combined_memory_bytes"]), 2)
        first, last = samples["gputracker_elapsed_seconds_total"]
        self.assertAlmostEqual(last[0] - first[0], (last[1] - first[1]) / 1000, delta=1)
        self.assertRegex(self.source("remote_write"), "^2 samples sent to ")

    def prometheus(self, configuration):
        """Starts one; gives its address, and a function that asks it."""
        program = shutil.which("prometheus")
        if not program:
            self.skipTest("needs prometheus")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (self.folder / "prometheus.yml").write_text(configuration)
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
        return f"http://127.0.0.1:{port}", ask

    def test_a_real_prometheus(self):
        url, ask = self.prometheus("{}")
        self.assertEqual(self.track("--remote-write", url, "--label", "team=a", "--push-interval", "0.5", command=LONG), "")
        query = urllib.parse.quote('count_over_time(gputracker_elapsed_seconds_total{job="gpu-tracker",team="a"}[10m])')
        [found] = json.loads(ask(f"/api/v1/query?query={query}"))["data"]["result"]
        self.assertEqual(self.source("remote_write").split()[0], found["value"][1])

    def test_a_real_prometheus_takes_the_past(self):
        url, ask = self.prometheus("storage: {tsdb: {out_of_order_time_window: 30d}}")
        self.track("--tf", "s.csv")
        for days in 3, 9:
            (self.folder / f"o{days}.csv").write_text(with_times_later(self.folder / "s.csv", -days * 86400))
        for _ in range(2):  # again is as once
            done = self.run_command("push", "o3.csv", "s.csv", "o9.csv", "--remote-write", url, env=self.environment())
            self.assertEqual(done.returncode, 0, done.stderr)
        query = urllib.parse.quote("count_over_time(gputracker_elapsed_seconds_total[30d])")
        found = {item["metric"]["instance"]: int(item["value"][1]) for item in json.loads(ask(f"/api/v1/query?query={query}"))["data"]["result"]}
        self.assertEqual((found["o3.csv"], len(found)), (found["o9.csv"], 3))
        self.assertIn(found["o3.csv"], (len(lines) - 3, len(lines) - 4))  # the last one may be within a millisecond of the one before

    def test_a_real_victoria_metrics(self):
        program = shutil.which("victoria-metrics")
        if not program:
            self.skipTest("needs victoria-metrics (Debian, from 13 on)")
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with open(self.folder / "victoria.log", "w") as log:
            self.processes.append(subprocess.Popen([program, f"-storageDataPath={self.folder}/data", f"-httpListenAddr={url[7:]}"], stdout=log, stderr=log))

        def ask(path):
            try:
                with urllib.request.urlopen(url + path, timeout=PATIENCE) as answer:
                    return answer.read().decode()
            except OSError:
                return None

        def takes_otlp():
            """That of Debian 12 does not yet."""
            try:
                urllib.request.urlopen(f"{url}/opentelemetry/v1/metrics", data=b"", timeout=PATIENCE).close()
            except urllib.error.HTTPError as error:
                return "unsupported path" not in error.read().decode()
            return True

        def stored(team, metric):
            """Samples of the only series."""
            match = urllib.parse.quote('{__name__="' + metric + '",team="' + team + '"}')
            series = [json.loads(line) for line in (ask(f"/api/v1/export?match[]={match}") or "").splitlines()]
            return len(series[0]["values"]) if len(series) == 1 else None

        wait_until(lambda: ask("/health"), "VictoriaMetrics")
        otlp = [f"--otlp={url}/opentelemetry/v1/metrics"] if takes_otlp() else []
        words = [*otlp, f"--remote-write={url}", "--label", "team=a", "--push-interval", "0.5", "--tf", "s.csv"]
        self.assertEqual(self.track(*words, command=LONG), "")
        metric = "process.memory.usage" if otlp else "gputracker_elapsed_seconds_total"
        done = self.run_command("push", "s.csv", *(otlp or [f"--remote-write={url}"]), "--label", "team=b", env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        sources = [("otlp", "process.memory.usage")] * len(otlp) + [("remote_write", "gputracker_elapsed_seconds_total")]
        sent = [int(self.source(name).split()[0]) for name, _ in sources] + [int(done.stdout.split()[-2])]
        asked = [*(("a", name) for _, name in sources), ("b", metric)]
        ask("/internal/force_flush")
        wait_until(lambda: [stored(*what) for what in asked] == sent, f"{sent} samples")

    def test_labels_of_pages(self):
        self.run_command("run", "-o", "r.prom", "--label", "job=train", "--", "true", env=self.environment())
        self.assertIn('\ngputracker_system_cores{job="train"} ', (self.folder / "r.prom").read_text())


def is_loadable(name):
    with contextlib.suppress(OSError):
        return bool(ctypes.CDLL(name))
    return False


@unittest.skipUnless(is_loadable("libcurl.so.4") or is_loadable("libcurl-gnutls.so.4"), "needs libcurl4")
@unittest.skipUnless(shutil.which("openssl"), "needs openssl, to make certificates")
class Https(PushTest):
    """With an authority of the test's own, on the loopback."""

    def setUp(self):
        super().setUp()
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem")
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr")
        (self.folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        self.openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.pem")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        self.collector = self.receive(tls=tls)

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def test_an_authority_that_is_named(self):
        said = self.track("--otlp=" + self.collector.url(), OTEL_EXPORTER_OTLP_CERTIFICATE=str(self.folder / "ca.pem"), OTEL_EXPORTER_OTLP_HEADERS="x-y=z")
        self.assertEqual(said, "")
        path, head, body = self.collector.requests[-1]
        self.assertEqual((path, head["x-y"], head["Content-Encoding"]), ("/v1/metrics", "z", "gzip"))
        self.assertIn("process.memory.usage", read_otlp(body)[1])
        self.assertRegex(self.source(), "^2 samples sent to https://")

    def test_remote_write(self):
        url = self.collector.url().replace("//", "//user:word@")
        self.assertEqual(self.track("--remote-write", url, CURL_CA_BUNDLE=str(self.folder / "ca.pem")), "")
        path, head, body = self.collector.requests[-1]
        self.assertEqual((path, head["Authorization"]), ("/api/v1/write", "Basic dXNlcjp3b3Jk"))
        self.assertTrue(read_remote_write(body))
        if is_loadable("libsnappy.so.1"):
            self.assertLess(3 * len(body), len(unpack_snappy(body)))

    def test_remote_write_with_a_long_token_a_tenant_and_an_authority(self):
        for length in 100, 2047, 2048, 20000:
            token = "t" * length
            said = self.track("--remote-write", self.collector.url(), GPUT_REMOTE_WRITE_CERTIFICATE=str(self.folder / "ca.pem"),
                              GPUT_REMOTE_WRITE_HEADERS=f"Authorization=Bearer%20{token},X-Scope-OrgID=team-1")
            self.assertEqual(said, "")
            head = self.collector.requests[-1][1]
            self.assertEqual((head["Authorization"], head["X-Scope-OrgID"]), (f"Bearer {token}", "team-1"))

    def test_a_receiver_that_asks_who_we_are(self):
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=tracker", "-keyout", "client.key", "-out", "client.csr")
        self.openssl("x509", "-req", "-in", "client.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-out", "client.pem")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        tls.load_verify_locations(self.folder / "ca.pem")
        tls.verify_mode = ssl.CERT_REQUIRED
        receiver = self.receive(tls=tls)
        (self.folder / "both.pem").write_text((self.folder / "client.pem").read_text() + (self.folder / "client.key").read_text())
        for option, prefix in ("--otlp=", "OTEL_EXPORTER_OTLP_"), ("--otlp=", "OTEL_EXPORTER_OTLP_METRICS_"), ("--remote-write=", "GPUT_REMOTE_WRITE_"):
            for files in {"CLIENT_CERTIFICATE": "client.pem", "CLIENT_KEY": "client.key"}, {"CLIENT_CERTIFICATE": "both.pem"}:
                variables = {prefix + name: str(self.folder / file) for name, file in (files | {"CERTIFICATE": "ca.pem"}).items()}
                before = len(receiver.requests)
                self.assertEqual(self.track(option + receiver.url(), **variables), "", variables)
                self.assertGreater(len(receiver.requests), before)
        self.assertIn('A CLIENT_KEY without CLIENT_CERTIFICATE is "k", which is ignored.',
                      self.track("--otlp=" + self.collector.url(), OTEL_EXPORTER_OTLP_CERTIFICATE=str(self.folder / "ca.pem"), OTEL_EXPORTER_OTLP_CLIENT_KEY="k"))

    def test_an_authority_that_is_unknown_gets_nothing(self):
        said = self.folder / "said"
        with said.open("w") as file:
            tracker = self.start_command("run", "--st", "0.1", "-o", "r.json", "--otlp=" + self.collector.url(), "--", "cat", stdin=subprocess.PIPE,
                                         stderr=file, env=self.environment(CURL_CA_BUNDLE="", SSL_CERT_FILE=""))  # fmt: skip
            wait_until(lambda: "certificate" in said.read_text().lower(), "the refusal")
            tracker.stdin.close()
            self.assertEqual(tracker.wait(), 0)
        self.results = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(self.collector.requests, [])
        self.assertIn("2 of 2 samples did not reach", self.source())


if __name__ == "__main__":
    main()
