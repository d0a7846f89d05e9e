"""gpu_tracker.push(): sessions that have ended, to a receiver on the loopback."""

import os
import pathlib
import sys
import tempfile
import unittest

import package
import sessions
import gpu_tracker

sys.path.append(str(package.SOURCE / "tests" / "cli"))
from receiver import Receiver

SAMPLES = 10  # that sessions have


class Push(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        os.chdir(folder.name)
        self.addCleanup(os.chdir, before)

    def receive(self, *answers):
        made = Receiver(*answers)
        self.addCleanup(made.close)
        return made

    def test_what_was_sent(self):
        os.mkdir("runs")
        for number, name in enumerate("ab"):
            sessions.write_tracking(f"runs/{name}.csv", number + 1.0)
        server = self.receive()
        pushed = gpu_tracker.push("runs", remote_write=server.url(), labels={"team": "vision"})
        self.assertEqual(repr(pushed), f"Pushed(sessions=2, failed=0, sent={2 * SAMPLES}, lost=0, refused=0)")
        self.assertTrue(server.requests)
        for path, _, body in server.requests:
            self.assertEqual(path, "/api/v1/write")
            self.assertIn(b"vision", body)

    def test_an_interval_and_otlp(self):
        sessions.write_tracking("a.csv")
        collector = self.receive()
        self.assertEqual(gpu_tracker.push(pathlib.Path("a.csv"), otlp=collector.url(), interval=3).sent, 4)  # at 0, 3, 6 and 9 s
        self.assertEqual({path for path, _, _ in collector.requests}, {"/v1/metrics"})

    def test_one_that_fails_is_a_warning(self):
        for number, name in enumerate("ab"):
            sessions.write_tracking(f"{name}.csv", number + 1.0)
        server = self.receive((400, {}, b"out of bounds\n"), (204, {}, b""))
        with self.assertLogs("gpu_tracker") as logs:
            pushed = gpu_tracker.push("a.csv", "b.csv", remote_write=server.url())
        self.assertEqual((pushed.sessions, pushed.failed, pushed.sent, pushed.lost), (2, 1, SAMPLES, SAMPLES))
        self.assertIn("a.csv was not sent: ", logs.output[0])

    def test_a_copy_is_sent_once(self):
        for name in "a", "b":
            sessions.write_tracking(f"{name}.csv")
        server = self.receive()
        with self.assertLogs("gpu_tracker") as logs:
            pushed = gpu_tracker.push("a.csv", "b.csv", remote_write=server.url())
        self.assertEqual((pushed.sessions, pushed.failed, pushed.sent), (1, 0, SAMPLES))
        self.assertIn("b.csv is skipped: it is the same session as a.csv.", logs.output[0])

    def test_errors(self):
        sessions.write_tracking("a.csv")
        server = self.receive((400, {}, b"no\n"))
        for error, words, names, options in [
            (OSError, "answered 400", ["a.csv"], {"remote_write": server.url()}),
            (ValueError, "nowhere to send", ["a.csv"], {}),
            (ValueError, "does not begin with http", ["a.csv"], {"otlp": "collector"}),
            (ConnectionError, "127.0.0.1:1", ["a.csv", "a.csv"], {"remote_write": "http://127.0.0.1:1"}),
            (FileNotFoundError, "none.csv", ["none.csv"], {"remote_write": server.url()}),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                gpu_tracker.push(*names, **options)


if __name__ == "__main__":
    package.main()
