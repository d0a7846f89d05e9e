"""What docs, dashboard and alerts query is served: on a machine that has two GPUs, every energy counter and a tracked command."""

import itertools
import json
import os
import pwd
import re
import shutil
import urllib.parse

from command import BUILD, SOURCE, main, python, wait_until
from energy_machine import MOVE, Machine
from fake_gpu import TWO_GPUS
from test_serve import ServeTest

NAME = re.compile(r"\bgputracker_\w+")
DASHBOARD = json.loads((SOURCE / "packaging/grafana/gpu-tracker.json").read_text())
# What Grafana fills in.
VARIABLES = {"$__rate_interval": "10s", "$__range": "1h", "$job": ".*", "$instance": ".*"}
# What the first of two cards says of itself.
CARD = """
value nvmlDeviceGetEnforcedPowerLimit 300000
value nvmlDeviceGetTemperature/0 61
value nvmlDeviceGetClockInfo/0 1755
""" + "".join(f"value field/{field} 0\n" for field in (3, 4, 74, 76, 251, 252, 253, 197, 198, 138, 139))
CARD += "value nvmlGpmQueryDeviceSupport 1\n" + "".join(f"value gpm/{metric} 20\n" for metric in (2, 3, 5, 10))  # of its parts
GPUS = "driver 580.95.05\n" + TWO_GPUS.replace("\ngpu GPU-bbbb", CARD + "gpu GPU-bbbb")
# Served where a command may use less than the machine has (tests/views/output has them), and where one may read the kernel's log.
OF_SOME_MACHINES = {"gputracker_allowed_cores", "gputracker_allowed_memory_bytes", "gputracker_gpu_xid_errors_total"}
# Known when the command has ended; tests/views/output and test_push.py have them.
OF_THE_END = {"gputracker_session_end_timestamp_seconds", "gputracker_main_exit_status", "gputracker_main_signal"}
# Served with --owners alone.
OF_OWNERS = re.compile(r"gputracker_(user|job)_")
# Moves the counters, and is in the driver's list with its child.
COMMAND = "import os, subprocess, sys\n" + """
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # which ends with its parent
text = sys.argv[1].replace("{main}", str(os.getpid())).replace("{child}", str(child.pid))
open("scenario.new", "w").write(text)
os.rename("scenario.new", "scenario")
sys.argv[1:] = sys.argv[2:]
"""


def expanded(name):
    """gpu_{a,b}_bytes -> gpu_a_bytes, gpu_b_bytes."""
    parts = [part.split(",") for part in re.split(r"[{}]", name)]
    return {"".join(each) for each in itertools.product(*parts)}


def documented():
    """The names in the table of docs/prometheus.md: those of the first column, of which `*` stands for what the second lists."""
    section = (SOURCE / "docs/prometheus.md").read_text().split("## What is served")[1].split("\n## ")[0]
    names = set(NAME.findall(re.sub(r"\w*[{*]\S*", "", section)))
    for left, right in re.findall(r"(?m)^\| (`.*?) \| (.*) \|$", section):
        for pattern in re.findall(r"`([^`]+)`", left):
            before, star, _ = pattern.partition("*")
            members = re.findall(r"`((?!gputracker_)[a-z_{},]+)`", right) if star else [""]
            names |= {name for member in members for name in expanded(before + member)}
    return names


def queries():
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            yield expression


class Metrics(ServeTest):
    def setUp(self):
        super().setUp()
        machine = Machine(self.folder / "sys")
        machine.add_two_packages()
        machine.add("intel-rapl:0:2", "uncore")
        battery = machine.root / "class" / "power_supply" / "BAT0"
        battery.mkdir(parents=True)
        for name, text in ("type", "Battery"), ("status", "Discharging"), ("power_now", "12500000"):
            (battery / name).write_text(text + "\n")
        (self.folder / "scenario").write_text("\n".join(line for line in GPUS.splitlines() if "{" not in line))
        self.environment = machine.environment() | {
            "GPUT_NVML": str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"), "FAKE_NVML_SCENARIO": str(self.folder / "scenario"),
            "SLURM_JOB_ID": "4711"}
        move = machine.move(1000, package_0=60, package_1=40, package_0_0=8, package_1_0=3, package_0_1=30, package_0_2=5, package_2=99)
        self.command = python(COMMAND + MOVE, GPUS, *move)
        self.process, *self.address = self.start_serving("run", "--st", "0.1", "--gpu-parts", "--carbon-intensity", "360", "--", *self.command)
        self.addCleanup(self.finish, self.process)
        self.addCleanup(self.process.terminate)

    def served(self, address):
        return {name.partition("{")[0] for name in self.scrape(address)}

    def wait_for(self, names, address):
        """The names that are served, once these are among them."""
        left = set()

        def there():
            left.clear()
            left.update(names - (found := self.served(address)))
            return not left and found

        try:
            return wait_until(there)
        except AssertionError:
            self.assertEqual(left, set())

    def test_every_documented_metric_is_served_and_every_served_one_documented(self):
        served = self.wait_for(documented() - OF_SOME_MACHINES - OF_THE_END, self.address)
        self.assertGreater(len(served), 60)
        self.assertEqual(served - documented(), set())

    def test_the_metrics_of_dashboard_and_alerts_are_served(self):
        alerts = (SOURCE / "packaging/prometheus/gpu-tracker.yml").read_text()
        named = set(NAME.findall(json.dumps(DASHBOARD) + alerts))
        self.assertGreater(len(named), 15)
        owners = set(filter(OF_OWNERS.match, named))
        self.wait_for(named - owners, self.address)
        _, *address = self.start_serving("serve", "--owners", "--st", "0.1")
        self.wait_for(owners, address)

    def test_users_and_jobs_of_the_machine(self):
        _, *address = self.start_serving("serve", "--owners", "--st", "0.1")
        user = pwd.getpwuid(os.getuid()).pw_name
        labels = f'{{user="{user}",job_id="4711"}}'
        self.wait_for_sample(address, f"gputracker_job_gpus{labels}", 2)
        samples = self.wait_for_sample(address, f"gputracker_job_cpu_seconds_total{labels}", 0.01)  # of the command, or its tracker
        self.assertGreaterEqual(samples[f"gputracker_job_processes{labels}"], 2)
        self.assertGreaterEqual(samples[f"gputracker_job_gpu_memory_bytes{labels}"], 1.75e9)
        self.assertAlmostEqual(samples[f"gputracker_job_gpu_utilization_ratio{labels}"], 0.6)
        for name in "processes", "resident_memory_bytes", "gpus", "gpu_memory_bytes":
            self.assertGreaterEqual(samples[f'gputracker_user_{name}{{user="{user}"}}'], samples[f"gputracker_job_{name}{labels}"])
        section = (SOURCE / "docs/prometheus.md").read_text().split("## Users and jobs")[1].split("\n## ")[0]
        members = set(re.findall(r"`([a-z_]+)`", section))
        for name in filter(OF_OWNERS.match, samples):
            self.assertIn(OF_OWNERS.sub("", name.partition("{")[0]), members)
        self.scrape(address, openmetrics=True)

    def test_without_owners_there_are_none(self):
        _, *address = self.start_serving("serve", "--st", "0.1")
        self.assertEqual([name for name in self.wait_for({"gputracker_system_cores"}, address) if OF_OWNERS.match(name)], [])

    def test_what_alerts_and_variables_name_is_served_of_the_machine_alone(self):
        alerts = (SOURCE / "packaging/prometheus/gpu-tracker.yml").read_text()
        _, *address = self.start_serving("serve", "--st", "0.1")
        named = set(NAME.findall(json.dumps(DASHBOARD["templating"]) + alerts))
        self.wait_for({name for name in named if not OF_OWNERS.match(name)}, address)

    def test_a_real_prometheus_has_an_answer_to_every_query(self):
        program = shutil.which("prometheus")
        if not program:
            self.skipTest("no prometheus here (Debian: prometheus)")
        _, *machine = self.start_serving("serve", "--owners", "--st", "0.1")
        ask = self.start_prometheus(program, ["%s:%d" % tuple(address) for address in (self.address, machine)])
        for query in queries():
            path = "query?query=" + urllib.parse.quote(query)
            wait_until(lambda: (answer := ask(path)) and answer["result"], query)


if __name__ == "__main__":
    main()
