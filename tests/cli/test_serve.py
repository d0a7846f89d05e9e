"""Metrics for Prometheus: what is served, to whom, and what it costs the tracked command (nothing)."""

import http.client
import importlib.util
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import unittest
import urllib.request

import exposition
from command import BUILD, PATIENCE, SOURCE, CommandTest, main, python, wait_until
from energy_machine import MOVE, Machine

OPENMETRICS = "application/openmetrics-text;version=1.0.0"
FIXTURES = SOURCE / "tests" / "fixtures" / "output"


class ServeTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment = os.environ | {"GPUT_SYSFS": "/nonexistent", "GPUT_NVML": "/nonexistent"}

    def start_serving(self, *arguments, listen="127.0.0.1:0", **options):
        """Starts gpu-tracker with --listen; returns the process and the host and port that it said on its standard error."""
        log = self.folder / "stderr"
        command, *more = arguments
        first = ["--listen", listen, command] if command == "-e" else [command, "--listen", listen]
        with open(log, "w") as stderr:
            process = self.start_command(*first, *more, stderr=stderr, **({"env": self.environment} | options))
        said = wait_until(lambda: re.search(r"^gpu-tracker: serving http://(.+):(\d+)/metrics$", log.read_text(), re.M), "the address")
        return process, said[1], int(said[2])

    def get(self, address, path="/metrics", method="GET", accept=None):
        connection = http.client.HTTPConnection(address[0].strip("[]"), address[1], timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request(method, path, headers={"Accept": accept} if accept else {})
        return connection.getresponse()

    def scrape(self, address, openmetrics=False):
        response = self.get(address, accept=OPENMETRICS if openmetrics else None)
        self.assertEqual(response.status, 200)
        return exposition.parse(response.read().decode(), openmetrics)

    def wait_for_sample(self, address, name, least):
        return wait_until(lambda: (samples := self.scrape(address)).get(name, -1) >= least and samples, f"{name} of {least}")

    def assert_hung_up(self, address):
        with self.assertRaises(OSError):
            socket.create_connection((address[0].strip("[]"), address[1]), timeout=PATIENCE).close()

    def start_prometheus(self, program, targets):
        """On a port that is free; returns how to ask it."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        configuration = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                         "scrape_configs": [{"job_name": "test", "static_configs": [{"targets": targets}]}]}
        (self.folder / "prometheus.yml").write_text(json.dumps(configuration))  # JSON is YAML
        with open(self.folder / "prometheus.log", "w") as log:
            self.processes.append(subprocess.Popen(
                [program, f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log))

        def ask(path):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=PATIENCE) as answer:
                    return json.load(answer)["data"]
            except OSError:
                return None
        return ask


class Written(ServeTest):
    def test_a_report_for_the_textfile_collector(self):
        done = self.run_command("run", "-f", "prometheus", "-o", "nightly.prom", "--", "sh", "-c", "echo hello", env=self.environment)
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n"), done.stderr)
        samples = exposition.parse((self.folder / "nightly.prom").read_text())
        self.assertGreater(samples["gputracker_combined_cpu_seconds_total"], 0)
        self.assertGreater(samples["gputracker_combined_written_bytes_total"], 5)
        self.assert_folder_is("nightly.prom", "nightly.prom.session.json")
        done = self.run_command("run", "-f", "prometheus", "--", "sleep", "0.1", env=self.environment)
        said = "".join(line + "\n" for line in done.stderr.splitlines() if not line.startswith("gpu-tracker: "))
        self.assertIn("gputracker_combined_cpu_seconds_total", exposition.parse(said))


class Serving(ServeTest):
    def test_a_command_while_it_runs(self):
        process, *address = self.start_serving("run", "--st", "0.05", "--", "sh", "-c", "read line; exit 7", stdin=subprocess.PIPE)
        samples = self.wait_for_sample(address, "gputracker_elapsed_seconds_total", 0.6)
        self.assertGreater(samples["gputracker_combined_memory_bytes"], 0)
        self.assertGreaterEqual(samples["gputracker_combined_peak_memory_bytes"], samples["gputracker_combined_memory_bytes"])
        self.assertEqual(samples["gputracker_main_threads"], 1)
        self.assertEqual(samples["gputracker_system_cores"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertLess(samples["gputracker_combined_cpu_utilization_ratio"], 1.01)
        self.assertEqual(samples["gputracker_system_gpus"], 0)
        self.assertEqual(samples["mem_used_cpu"], samples["gputracker_system_memory_used_bytes"])
        for name in samples:
            self.assertNotRegex(name, "joules|power|gpu_memory|mem_used_gpu", "this machine has none")
        later = self.wait_for_sample(address, "gputracker_elapsed_seconds_total", samples["gputracker_elapsed_seconds_total"] + 0.5)
        for name, value in samples.items():
            if "_total" in name:
                self.assertGreaterEqual(later[name], value, name)
        self.assertEqual(self.scrape(address, openmetrics=True).keys(), self.scrape(address).keys())
        process.stdin.write("\n")
        self.finish(process)
        self.assertEqual(process.returncode, 7)
        self.assert_hung_up(address)

    def test_an_address_in_a_config_file(self):
        (self.folder / "config.json").write_text('{"listen": "127.0.0.1:0"}')
        done = self.run_command("run", "--tconfig", "config.json", "--", "true", env=self.environment)
        self.assertRegex(done.stderr, r"(?m)^gpu-tracker: serving http://127\.0\.0\.1:\d+/metrics$")
        (self.folder / "config.json").write_text('{"listen": 5001}')
        done = self.run_command("run", "--tconfig", "config.json", "--", "true")
        self.assertEqual((done.returncode, done.stderr), (125, 'gpu-tracker: Config file config.json: "listen" must be a string.\n'))

    def test_bytes_of_the_tree(self):
        command = "dd if=/dev/zero of=big bs=1M count=20 2>/dev/null; cat big >/dev/null; read line"
        process, *address = self.start_serving("run", "--st", "0.05", "--", "sh", "-c", command, stdin=subprocess.PIPE)
        moved = 40 << 20  # by dd and by cat, which have ended by then
        samples = self.wait_for_sample(address, "gputracker_combined_written_bytes_total", moved)
        samples = self.wait_for_sample(address, "gputracker_combined_read_bytes_total", moved)
        for name in ("read", "written"):
            self.assertLess(samples[f"gputracker_combined_{name}_bytes_total"], moved * 1.1, "nothing counts twice")
        for name in ("storage_read", "storage_written"):
            self.assertIn(f"gputracker_combined_{name}_bytes_total", samples)
        self.assertIn('gputracker_source_info{source="counts",state="sampled"}', samples)
        process.communicate("\n", timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)

    def test_answers(self):
        process, *address = self.start_serving("serve")
        page = self.get(address)
        body = page.read()
        self.assertEqual(page.getheader("Content-Type"), "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(int(page.getheader("Content-Length")), len(body))
        head = self.get(address, method="HEAD")
        self.assertEqual((head.status, head.read()), (200, b""))
        page = self.get(address, accept=OPENMETRICS)
        self.assertEqual(page.getheader("Content-Type"), "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(page.read().endswith(b"# EOF\n"))
        missing = self.get(address, "/")
        self.assertEqual((missing.status, missing.read()), (404, b"Not found. The metrics are at /metrics.\n"))
        self.assertEqual(self.get(address, "/metrics/").status, 404)
        refused = self.get(address, method="POST")
        self.assertEqual((refused.status, refused.getheader("Allow")), (405, "GET, HEAD"))

    def status_for(self, address, host):
        connection = http.client.HTTPConnection(address[0].strip("[]"), address[1], timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request("GET", "/metrics", headers={"Host": host})
        return connection.getresponse().status

    def test_no_name_of_somebody_else_is_served(self):
        process, *address = self.start_serving("serve")
        port = address[1]
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "192.0.2.7", socket.gethostname()):
            self.assertEqual(self.status_for(address, host), 200, host)
        for host in ("rebound.example", f"rebound.example:{port}", "localhost.rebound.example"):
            self.assertEqual(self.status_for(address, host), 421, host)

    def test_names_to_answer_to(self):
        process, *address = self.start_serving("serve", listen="127.0.0.1:0,trainer.example,box")
        self.assertEqual([self.status_for(address, host) for host in ("trainer.example:80", "box", "rebound.example")], [200, 200, 421])

    def test_the_machine_alone(self):
        process, *address = self.start_serving("serve", "--st", "0.1", "--energy-folder", "rec", "--measurement-period", "0.2")
        samples = self.wait_for_sample(address, "gputracker_system_cpu_seconds_total", 0)
        samples = self.wait_for_sample(address, "gputracker_tracker_ticks_total", 5)
        for name in samples:
            self.assertRegex(name, "^(gputracker_(build|session|source|elapsed|system|tracker)_|mem_used_cpu$)", "no process is tracked")
        self.assertLessEqual(samples["gputracker_system_memory_used_bytes"], samples["gputracker_system_memory_capacity_bytes"])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process)[0], "")
        self.assertEqual(process.returncode, 0)
        self.assert_hung_up(address)
        self.assert_folder_is("rec", "stderr")
        summary = json.loads(self.run_command("energy", "summary", "rec", "-f", "json").stdout)
        self.assertGreater(summary["metrics"]["total_mem_use"]["max"], 0)

    def test_a_process_that_runs_already(self):
        sleeper = subprocess.Popen(["sleep", str(PATIENCE)])
        self.processes.append(sleeper)
        process, *address = self.start_serving("attach", "--st", "0.1", str(sleeper.pid))
        self.assertGreater(self.scrape(address)["gputracker_main_memory_bytes"], 0)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertEqual(process.returncode, 0)
        self.assert_hung_up(address)

    def test_the_form_of_the_old_command(self):
        process, *address = self.start_serving("-e", "sh -c 'read line'", stdin=subprocess.PIPE)
        self.assertIn("gputracker_combined_cpu_seconds_total", self.scrape(address))
        stdout, _ = process.communicate("\n", timeout=PATIENCE)
        self.assertIn("Resource tracking complete. Process completed with status code: 0", stdout)

    def test_over_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError as error:
            self.skipTest(f"no IPv6 here: {error}")
        process, *address = self.start_serving("serve", listen="[::1]:0")
        self.assertEqual(address[0], "[::1]")
        self.assertIn("mem_used_cpu", self.scrape(address))

    def test_only_this_machine_unless_said(self):
        process, *address = self.start_serving("serve", listen="0")
        self.assertEqual(address[0], "127.0.0.1")

    def test_a_port_in_use_is_reported_before_the_command_starts(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            message = f"Cannot listen at 127.0.0.1:{port}: the port is in use. Give another one, or 0 to pick a free one."
            options = {"env": self.environment | {"GPUT_SYSFS": "/sys"}}
            listen = ("--disable-logs", "--listen", f"127.0.0.1:{port}")
            self.assert_says(self.run_command("run", *listen, "--", "touch", "ran", **options), 125, message)
            self.assert_says(self.run_command("-e", "touch ran", *listen, **options), 1, message)
            self.assert_says(self.run_command("attach", *listen, os.getpid(), **options), 1, message)
            self.assert_says(self.run_command("serve", *listen, **options), 1, message)
        self.assert_folder_is()

    def assert_says(self, done, status, message):
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        self.assertEqual(done.stderr.splitlines()[-1], f"gpu-tracker: {message}")

    def test_no_address(self):
        done = self.run_command("run", "--disable-logs", "--listen", "::1:5001", "--", "touch", "ran")
        self.assert_says(
            done, 125,
            '"::1:5001" is not an address to listen at. It is HOST:PORT, such as 127.0.0.1:5001 or [::1]:5001, or only a port (for this machine only); '
            "port 0 picks a free one.",
        )
        self.assert_folder_is()

    def test_the_command_inherits_nothing(self):
        show = python("import os; print([os.readlink('/proc/self/fd/%s' % fd) for fd in os.listdir('/proc/self/fd') if int(fd) > 2 and "
                      "os.path.exists('/proc/self/fd/%s' % fd)])")
        plain = self.run_command("run", "--disable-logs", "-o", "out", "--", *show)
        serving = self.run_command("run", "--disable-logs", "-o", "out", "--listen", "0", "--", *show)
        self.assertEqual(serving.stdout, plain.stdout)
        self.assertNotIn("socket", serving.stdout)

    def test_few_descriptors(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (33, 33))

        done = self.run_command("run", "--listen", "127.0.0.1:0", "--", "true", env=self.environment, preexec_fn=few)
        self.assertEqual(done.returncode, 0, done.stderr)
        process, *address = self.start_serving("serve", preexec_fn=few)
        self.assertEqual(self.get(address).status, 200)
        process.terminate()
        self.finish(process)
        self.assertEqual(process.returncode, 0)

    def test_those_who_hang_on_hold_no_other_up(self):
        process, *address = self.start_serving("run", "--st", "0.05", "--", "sh", "-c", "read line", stdin=subprocess.PIPE)
        silent = [socket.create_connection(tuple(address), timeout=PATIENCE) for _ in range(60)]
        for connection in silent:
            self.addCleanup(connection.close)
            connection.sendall(b"GET /metr")
        self.assertGreater(self.scrape(address)["gputracker_combined_memory_bytes"], 0)
        process.communicate("\n", timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assert_hung_up(address)

    def test_what_another_process_sends_ends_both(self):
        process, *address = self.start_serving("run", "--", "sleep", str(PATIENCE))
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assert_hung_up(address)


class Figures(ServeTest):
    def test_energy(self):
        machine = Machine(self.folder / "sys")
        machine.add_two_packages()
        move = machine.move(PATIENCE, package_0=60, package_1=40, package_0_0=8, package_0_1=30)
        process, *address = self.start_serving("run", "--st", "0.1", "--carbon-intensity", "360", "--", *python(MOVE, *move), env=machine.environment())
        samples = self.wait_for_sample(address, "intel_power", 10)
        self.assertAlmostEqual(
            samples["gputracker_system_energy_joules_total"],
            samples["gputracker_system_package_energy_joules_total"] + samples["gputracker_system_dram_energy_joules_total"],
        )
        self.assertTrue(0 < samples["gputracker_combined_energy_joules_total"] < samples["gputracker_system_energy_joules_total"])
        self.assertAlmostEqual(samples["gputracker_combined_co2e_grams_total"], samples["gputracker_combined_energy_joules_total"] / 1e4)
        self.assertAlmostEqual(samples["power_draw_cpu"], samples["intel_power"] * 0.3, delta=samples["intel_power"] * 0.1)
        self.assertNotIn("power_draw_gpu", samples)
        self.assertNotIn("gputracker_system_uncore_energy_joules_total", samples)
        process.terminate()
        self.finish(process)

    def test_gpus(self):
        scenario = self.folder / "scenario"
        scenario.write_text("gpu GPU-aaaa\nname NVIDIA A\nmemory 16000000000 300000000 5000000000\nutilization 40\npower_mw 150000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n"
                            "gpu GPU-bbbb\nname NVIDIA B\nmemory 8000000000 0 2000000000\nutilization 20\npower_mw 50000\ncode nvmlDeviceGetTotalEnergyConsumption 3\n")
        environment = self.environment | {"GPUT_NVML": str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"), "FAKE_NVML_SCENARIO": str(scenario)}
        process, *address = self.start_serving("serve", "--st", "0.1", env=environment)
        first, second = '{gpu="0",uuid="GPU-aaaa"}', '{gpu="1",uuid="GPU-bbbb"}'
        energy = "gputracker_gpu_energy_joules_total"
        # Three times the power: the longer it lasts, the less it matters that one is read a moment after the other.
        samples = wait_until(lambda: (found := self.scrape(address)).get(energy + first, 0) > 15 and
                             abs(found[energy + first] / found[energy + second] - 3) < 0.3 and found, "joules by power")
        self.assertEqual(samples["gputracker_system_gpus"], 2)
        self.assertEqual(samples["gputracker_gpu_power_watts" + first], 150)
        self.assertEqual(samples["gputracker_gpu_utilization_ratio" + second], 0.2)
        self.assertEqual(samples["gputracker_gpu_memory_capacity_bytes" + first], 16e9)
        used = samples["gputracker_gpu_memory_used_bytes" + first] + samples["gputracker_gpu_memory_used_bytes" + second]
        self.assertEqual(samples["mem_used_gpu"], used)
        self.assertEqual(samples["gputracker_system_gpu_memory_used_bytes"], used)
        self.assertEqual(samples["power_draw_gpu"], 200)
        self.assertEqual(samples['gputracker_source_info{source="gpu_energy",state="sampled"}'], 1)
        self.assertIn('gputracker_gpu_info{gpu="0",uuid="GPU-aaaa",name="NVIDIA A",vendor="nvidia",pci_address="', "".join(samples))
        self.assertAlmostEqual(samples[energy + first] + samples[energy + second], samples["gputracker_system_gpu_energy_joules_total"])
        # Of those that are left there is no sum of all.
        lost = self.folder / "lost"
        lost.write_text(scenario.read_text() + "code * 15\n")
        lost.rename(scenario)
        wait_until(lambda: not {"power_draw_gpu", "mem_used_gpu"} & self.scrape(address).keys())
        samples = self.scrape(address)
        self.assertEqual(samples["gputracker_gpu_power_watts" + first], 150)
        self.assertNotIn("gputracker_system_gpu_memory_used_bytes", samples)
        self.assertIn("gputracker_system_gpu_energy_joules_total", samples)


class Judges(ServeTest):
    """What others read of it."""

    def test_our_own_grammar_of_every_figure(self):
        plain = exposition.parse((FIXTURES / "metrics.prom").read_text())
        openmetrics = exposition.parse((FIXTURES / "metrics.openmetrics").read_text(), openmetrics=True)
        self.assertEqual(plain, openmetrics)
        self.assertTrue({"power_draw_cpu", "intel_power", "mem_used_cpu", "mem_used_gpu", "power_draw_gpu"} <= plain.keys())
        for text in ("x 1\n", "# HELP x y\n# TYPE x gauge\nx 1", "# HELP x y\n# TYPE x counter\nx 1\n", "# HELP x y\n# TYPE x gauge\nx nan\n",
                     "# HELP x y\n# TYPE x gauge\nx 1\nx 2\n", "# HELP x y\n# TYPE x gauge\n", "# TYPE x gauge\nx 1\n"):
            with self.assertRaises(exposition.Violation, msg=text):
                exposition.parse(text)

    def test_promtool(self):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("no promtool here (Debian: prometheus)")
        process, *address = self.start_serving("run", "--st", "0.1", "--", "sleep", str(PATIENCE))
        served = self.get(address).read()
        self.run_command("run", "-f", "prometheus", "-o", "ended.prom", "--", "true")
        for text in (served, (self.folder / "ended.prom").read_bytes(), (FIXTURES / "metrics.prom").read_bytes()):
            done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    @unittest.skipUnless(importlib.util.find_spec("prometheus_client"), "no prometheus_client here (Debian: python3-prometheus-client)")
    def test_the_openmetrics_parser_of_prometheus_client(self):
        from prometheus_client.openmetrics.parser import text_string_to_metric_families

        process, *address = self.start_serving("serve")
        served = self.get(address, accept=OPENMETRICS).read().decode()
        for text in (served, (FIXTURES / "metrics.openmetrics").read_text()):
            names = {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}
            self.assertIn("gputracker_elapsed_seconds_total", names)

    def test_a_real_prometheus(self):
        program = shutil.which("prometheus")
        if not program:
            self.skipTest("no prometheus here (Debian: prometheus)")
        process, *address = self.start_serving("run", "--st", "0.1", "--", "sleep", str(2 * PATIENCE))
        ask = self.start_prometheus(program, [f"{address[0]}:{address[1]}"])
        result = wait_until(lambda: (answer := ask("query?query=gputracker_combined_memory_bytes")) and answer["result"], "a scrape")
        self.assertEqual(result[0]["metric"]["instance"], f"{address[0]}:{address[1]}")
        self.assertGreater(float(result[0]["value"][1]), 0)
        self.assertEqual([(target["health"], target["lastError"]) for target in ask("targets")["activeTargets"]], [("up", "")])
        metadata = ask("metadata")
        scraped = self.scrape(address)
        families = {name.partition("{")[0] for name in scraped}
        known = {name + suffix for name in metadata for suffix in ("", "_total", "_info")}
        self.assertEqual({name for name in families if name not in known}, set())
        types = {name: entries[0]["type"] for name, entries in metadata.items()}
        self.assertEqual(types.get("gputracker_combined_cpu_seconds", types.get("gputracker_combined_cpu_seconds_total")), "counter")
        self.assertEqual(types["gputracker_combined_memory_bytes"], "gauge")


if __name__ == "__main__":
    main()
