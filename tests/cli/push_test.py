"""What tests of metrics that are sent or written have in common."""

import json
import os

from command import CommandTest
from receiver import Receiver

BRIEF = ["sleep", "0.3"]


class PushTest(CommandTest):
    def receive(self, *answers, tls=None):
        made = Receiver(*answers, tls=tls)
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
