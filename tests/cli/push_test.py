"""What tests of metrics that are sent or written have in common."""

import datetime
import json
import os

from command import CommandTest
from receiver import Receiver, double, fields

try:
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
except ImportError:
    metrics_service_pb2 = None

BRIEF = ["sleep", "0.3"]


def session_name(identity):
    """With the start in a pid namespace, where the processes of others may have the same pids."""
    name = f"{identity['host']}:{identity['pid']}"
    return name if os.readlink("/proc/self/ns/pid") == "pid:[4026531836]" else f"{name}@{identity['start']}"


class PushTest(CommandTest):
    def receive(self, *answers, tls=None):
        made = Receiver(*answers, tls=tls)
        self.addCleanup(made.close)
        return made

    def receive_busy(self, status, *answers, **fields):
        """A receiver that answers the first request so, and a command that ends when it has got that, however late it is sent."""
        asked = self.folder / f"asked-{status}"

        def refuse(handler):
            asked.touch()
            handler.send_response(status)
            for name, value in ({"Content-Length": "0"} | fields).items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()

        command = ["sh", "-c", f'while [ -d {self.folder} ] && ! [ -e {asked} ]; do sleep 0.05; done; "$@"', "sh"]
        return self.receive(refuse, *answers), command

    def environment(self, **variables):
        plain = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        patient = {"OTEL_EXPORTER_OTLP_TIMEOUT": "10000"}  # the share of a short command is less than a receiver may need here
        return plain | {"GPUT_SYSFS": "/nonexistent", "GPUT_NVML": "/nonexistent"} | patient | variables

    def track(self, *options, command=BRIEF, status=0, **variables):
        if "--remote-write" in options:  # of which the variable says nothing
            options += "--push-timeout", "10"
        done = self.run_command("run", "--st", "0.1", "-o", "r.json", "--overwrite", *options, "--", *command, env=self.environment(**variables))
        self.assertEqual(done.returncode, status, done.stderr)
        self.results = json.loads((self.folder / "r.json").read_text())
        return done.stderr.replace("gpu-tracker: warning: ", "")

    def source(self, name="otlp"):
        return self.results["sources"][name]["reason"]


def attributes(message, number):
    """Key -> value of the attributes that are that field."""
    found = {}
    for attribute in map(fields, message.get(number, [])):
        value = fields(attribute[2][0])
        found[attribute[1][0].decode()] = value[1][0].decode() if 1 in value else value[3][0]
    return found


def moment_of(time):
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


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


def unpack_snappy(body):
    """The bytes of a block of snappy, as format_description.txt of snappy describes it."""
    length = shift = at = 0
    while True:
        length |= (body[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if body[at - 1] < 0x80:
            break
    plain = bytearray()
    while at < len(body):
        kind, size, at = body[at] & 3, body[at] >> 2, at + 1
        if kind == 0:  # a literal
            extra = max(0, size - 59)
            size = (int.from_bytes(body[at:at + extra], "little") if extra else size) + 1
            plain += body[at + extra:at + extra + size]
            at += extra + size
            continue
        if kind == 1:
            offset, size, at = (size >> 3) << 8 | body[at], (size & 7) + 4, at + 1
        else:
            width = 2 if kind == 2 else 4
            offset, size, at = int.from_bytes(body[at:at + width], "little"), size + 1, at + width
        for _ in range(size):
            plain.append(plain[-offset])
    assert len(plain) == length
    return bytes(plain)


def read_remote_write(body):
    """Labels -> samples (value, milliseconds) of each series."""
    plain = unpack_snappy(body)
    series = {}
    for message in map(fields, fields(plain)[1]):
        labels = [(label[1][0].decode(), label[2][0].decode()) for label in map(fields, message[1])]
        assert labels == sorted(labels)
        series[tuple(labels)] = [(double(sample[1][0]), sample[2][0]) for sample in map(fields, message[2])]
    return series
