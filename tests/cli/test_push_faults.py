"""Receivers of metrics that fail in the midst of their answers, or whose address is not known in time: what they took counts, what they
did not is counted and said, and the command ends."""

import json
import socket
import struct
import subprocess
import unittest

from command import COMMAND, PATIENCE, main, python, refusal
from push_test import PushTest
from receiver import RawReceiver

OK = b"HTTP/1.1 200 OK\r\n"
NONE = b"Content-Length: 0\r\n\r\n"
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount", "--net", "sh", "-c"]
# A name server that does not answer: nothing reads what comes to its port. Then the command.
SILENT = 'ip link set lo up && echo "nameserver 127.0.0.1" > servers && mount --bind servers /etc/resolv.conf && exec "$@"'
SERVER = """
import os, socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
os.set_inheritable(server.fileno(), True)
os.execvp(sys.argv[1], sys.argv[1:])
"""
NO_NAMES = refusal(*NAMESPACE, "ip link set lo up && mount --bind /dev/null /etc/resolv.conf")


def send(answer):
    return lambda connection, ended: connection.sendall(answer)


def send_and_hang(answer):
    def act(connection, ended):
        connection.sendall(answer)
        ended.wait()

    return act


def send_slowly(answer):
    def act(connection, ended):
        for byte in answer:
            connection.sendall(bytes([byte]))
            if ended.wait(0.02):
                return

    return act


def send_without_end(head, more):
    def act(connection, ended):
        connection.sendall(head)
        while not ended.is_set():
            connection.sendall(more)

    return act


def reset(connection, ended):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.sendall(b"HTTP/1.1 200")


class Faults(PushTest):
    MOSTLY_WAITS = True

    def receive_raw(self, answer, **address):
        made = RawReceiver(answer, **address)
        self.addCleanup(made.close)
        return made

    def send_to(self, answer, *options):
        """Both protocols to one receiver; yields what was said of each, and its source."""
        for protocol in "otlp", "remote-write":
            receiver = self.receive_raw(answer)
            said = self.track(f"--{protocol}=http://127.0.0.1:{receiver.port}", *(options or ("--push-timeout", "10")))
            yield said, self.source(protocol.replace("-", "_")), receiver

    def test_what_it_took_counts_whatever_becomes_of_the_body(self):
        for name, answer in {
            "dies in the body": send(OK + b"Content-Length: 100\r\n\r\nabc"),
            "closes after the head": send(OK + b"\r\n"),
            "broken protobuf": send(OK + b"Content-Length: 6\r\n\r\n\x0a\xff\xff\xff\xff\x0f"),
            "broken chunks": send(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc"),
            "a body without an end": send_without_end(OK + b"\r\n", b"x" * 65536),
            "announced": send(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + NONE),
            "slowly": send_slowly(OK + NONE),
        }.items():
            for said, source, _ in self.send_to(answer):
                self.assertEqual((name, said, self.results["tracker"]["metrics_lost"]), (name, "", 0))
                self.assertRegex(source, r"^2 samples sent to ")

    def test_what_it_did_not_take_is_counted(self):
        for name, answer, words in (
            ("dies in the status", send(b"HTTP/1.1 20"), "does not answer as HTTP"),
            ("dies in the head", send(OK + b"Content-Le"), "does not answer as HTTP"),
            ("dies at once", send(b""), "does not answer as HTTP"),
            ("is another server", send(b"SSH-2.0-x\r\n"), "does not answer as HTTP"),
            ("a head without an end", send_without_end(OK, b"X: y\r\n" * 1000), "does not answer as HTTP"),
            ("resets", reset, "Connection reset by peer|does not answer as HTTP"),
            ("announces alone", send_without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000), "does not answer as HTTP"),
            ("is busy for an hour", send(b"HTTP/1.1 429 Too Many\r\nRetry-After: 3600\r\n" + NONE), "answered 429 Too Many"),
            ("moved", send(b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/x\r\n" + NONE), "answered 307 Moved: give the new address, http://127.0.0.1:1/x"),
        ):  # fmt: skip
            for said, source, _ in self.send_to(answer):
                self.assertRegex(said, words, name)
                self.assertRegex(said, "2 of 2 samples did not reach", name)
                self.assertRegex(source, f"^2 of 2 samples did not reach .*: .*({words})", name)
                self.assertEqual(self.results["tracker"]["metrics_lost"], 2, name)

    def test_one_that_never_comes_to_an_end_is_not_waited_for(self):
        """It goes on until the test is over: a command that waited for it would not end."""
        for answer in send_slowly(OK + b"X: " + b"y" * 1000000), send_and_hang(b"HTTP/1.1 2"):
            for said, source, _ in self.send_to(answer, "--push-timeout", "0.3"):
                self.assertRegex(said, "did not (answer|take the request|accept the connection) in time")
                self.assertRegex(source, "^2 of 2 samples did not reach ")
                self.assertEqual(self.results["tracker"]["metrics_lost"], 2)

    def test_a_body_that_is_never_complete_is_not_sent_again(self):
        self.track()
        for answer in send_and_hang(OK + b"\r\n"), send_and_hang(OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"):
            receiver = self.receive_raw(answer)
            done = self.run_command("push", "r.json", f"--otlp=http://127.0.0.1:{receiver.port}", "--push-timeout", "3", env=self.environment())
            self.assertEqual((done.returncode, receiver.requests), (0, 1), done.stderr)

    def test_the_time_of_the_option_counts_for_both_protocols(self):
        """Answers that are too late for the end of a short command, and for what the variable says."""
        for protocol in "otlp", "remote-write":
            receiver = self.receive_raw(lambda connection, ended: (ended.wait(1.2), connection.sendall(OK + NONE)))
            said = self.track(f"--{protocol}=http://127.0.0.1:{receiver.port}", "--push-timeout", "10", command=["true"], OTEL_EXPORTER_OTLP_TIMEOUT="200")
            self.assertEqual((protocol, said, self.results["tracker"]["metrics_lost"]), (protocol, "", 0))
        for text in "0", "soon", "3601", "nan":
            done = self.run_command("run", "--otlp", "--push-timeout", text, "--", "touch", "ran", env=self.environment())
            self.assertEqual((done.returncode, done.stderr),
                             (125, f"gpu-tracker: --push-timeout={text} is not a valid time. It is a number of seconds, 0.1 to 3600.\n"))  # fmt: skip
            done = self.run_command("push", ".", "--otlp", "--push-timeout", text)
            self.assertIn(f"--push-timeout={text} is not a valid time", done.stderr)

    @unittest.skipIf(not socket.has_dualstack_ipv6(), "there is no IPv6 here")
    def test_ipv6(self):
        receiver = self.receive_raw(send(OK + NONE), family=socket.AF_INET6, address="::1")
        said = self.track(f"--otlp=http://[::1]:{receiver.port}")
        self.assertEqual((said, self.source()), ("", f"2 samples sent to http://[::1]:{receiver.port}/v1/metrics"))
        self.assertEqual(receiver.requests, 2)

    @unittest.skipIf(NO_NAMES, f"no namespaces: {NO_NAMES}")
    def test_a_name_server_that_does_not_answer(self):
        """A lookup takes ten seconds and more: it is not waited for."""
        for protocol in "otlp", "remote-write":
            tracked = [COMMAND, "run", "-q", "--st", "0.1", "-o", "r.json", "--overwrite", f"--{protocol}=http://collector.example:1", "--", "true"]
            done = subprocess.run([*NAMESPACE, SILENT, "sh", *python(SERVER), *tracked], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE,
                                  env=self.environment(OTEL_EXPORTER_OTLP_TIMEOUT=""))  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("2 of 2 samples did not reach", done.stderr)
            self.assertIn("collector.example: name servers did not answer in time", done.stderr)
            self.assertEqual(json.loads((self.folder / "r.json").read_text())["tracker"]["metrics_lost"], 2)


if __name__ == "__main__":
    main()
