"""What drivers hide from containers."""

import csv
import json
import os
import pathlib
import pickle
import subprocess
import unittest

from command import COMMAND, PATIENCE, main, needs_package, python, refusal, use_package
from fake_gpu import HIDDEN, HOST_PIDS, IN_USE, UNKNOWN_PID, WAIT, GpuTest

# Takes memory of the GPU while it runs: writes one scenario, then another.
RISE = WAIT + "import os, sys\nfor text in sys.argv[2:]:\n open(sys.argv[1] + '.new', 'w').write(text)\n" \
    " os.rename(sys.argv[1] + '.new', sys.argv[1]); wait(0.5)"
use_package()
SHARES = "main", "descendants", "combined"

# In a pid namespace of its own, where the host's procfs stands in the folder $0.
CONTAINER = ["unshare", "--mount", "--pid", "--fork", "sh", "-c",
             'mount --rbind /proc "$0" && mount -t proc proc /proc && exec "$@"']
NO_CONTAINER = refusal(*CONTAINER, "/mnt", "true")

# In a pid namespace of its own, where no procfs of the host is left, such as that of a chroot.
ALONE = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", 'umount -a -l -t proc; mount -t proc proc /proc && exec "$@"', "sh"]

# Writes the scenario with the pid that it has on the host, and one more than that.
ON_HOST = WAIT + """
import os, sys
host, scenario, text = sys.argv[1:]
pid = int(os.readlink(host + "/self"))
with open(scenario + ".new", "w") as file:
    file.write(text.replace("{main}", str(pid)).replace("{inner}", str(os.getpid())))
os.rename(scenario + ".new", scenario)
wait(1)
"""

# The same in a child whose pid inside the container is one of those given.
ON_HOST_AS = """
import os, sys
code, numbers = sys.argv[1], sys.argv[2].split(",")
status = 1
while status == 1:
    # Threads of gpu-tracker that start meanwhile take such a number, too, and keep it.
    wanted = next(int(number) for number in numbers if not os.path.exists("/proc/" + number))
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(wanted - 1))
    child = os.fork()
    if child == 0:
        if os.getpid() != wanted:  # a thread was started in between
            os._exit(1)
        sys.argv[1:] = sys.argv[3:]
        exec(code)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status)
"""


class Containers(GpuTest):
    """What drivers hide from containers is missing, never 0."""

    def test_processes_that_may_be_hidden_hold_no_known_memory(self):
        for name, scenario in HIDDEN.items():
            with self.subTest(name):
                self.write(scenario)
                report, _ = self.tracked("--processes", "--overwrite")
                self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)
                self.assertEqual(report["max_gpu_ram"]["system"], 9000.0)
                gpu, = report["gpus"]
                self.assertIsNone(gpu["max_combined_ram"])
                self.assertIsNone(gpu["max_main_sm_percent"])
                self.assertRegex(gpu["missing"], "^process_ram, process_utilization: the driver lists ")
                source = report["sources"]["process_gpu_ram"]
                self.assertEqual(source["state"], "unavailable")
                self.assertRegex(source["reason"], "the driver lists .*; by any process, 9000 MB were in use on the GPUs at first")
                self.assertEqual({process["peak_gpu_ram"] for process in report["processes"]}, {None})
                self.assertIsNone(report["energy"]["combined"])

    def test_memory_whose_use_the_driver_does_not_report_is_not_said_to_be_in_use(self):
        for name, scenario in HIDDEN.items():
            with self.subTest(name):
                self.write(scenario + "code nvmlDeviceGetMemoryInfo 3\ncode nvmlDeviceGetMemoryInfo_v2 3\n")
                report, _ = self.tracked("--overwrite")
                self.assertIsNone(report["max_gpu_ram"]["system"])
                reasons = [report["sources"]["process_gpu_ram"]["reason"], *(gpu["missing"] for gpu in report["gpus"])]
                for reason in reasons:
                    self.assertNotRegex(reason, "nan|while memory is in use|were in use")
                if name == "empty list":
                    self.assertEqual(reasons[0], "the driver lists no process and does not report how much memory is in use")

    def test_memory_that_rises_while_only_ours_runs_may_be_ours_and_is_not_zero(self):
        idle = IN_USE.replace(" 9000000000\n", " 4000000\n").replace("utilization 40", "utilization 0")
        self.write(idle)
        report, _ = self.tracked("--tf", "t.csv", command=python(RISE, self.scenario, idle, IN_USE, idle))
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)
        self.assertIn("4 MB were in use on the GPUs at first and 9000 MB at most", report["sources"]["process_gpu_ram"]["reason"])
        self.assertIsNone(report["energy"]["combined"])
        with open(self.folder / "t.csv", newline="") as file:
            lines = list(csv.reader(file))
        columns = [lines[2].index(f"{scope}_gpu_ram") for scope in SHARES]
        used = lines[2].index("system_gpu_ram")
        self.assertEqual({row[column] for row in lines[3:] for column in columns if row[used] == "9000.0"}, {""})
        self.assertIn("0.0", {row[columns[0]] for row in lines[3:]})

    def test_a_gpu_that_no_process_uses_is_not_used_by_ours(self):
        self.write("gpu GPU-aaaa\nmemory 16000000000 300000000 20000000\nutilization 0\n")
        report, _ = self.tracked("--processes")
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [0.0] * 3)
        self.assertNotIn("missing", report["gpus"][0])
        self.assertEqual(report["sources"]["process_gpu_ram"]["state"], "sampled")

    def test_one_gpu_that_may_hide_some_leaves_no_zero_of_the_others(self):
        idle = "gpu GPU-bbbb\nmemory 16000000000 0 1000000\nutilization 0\n"
        self.write(IN_USE + idle)
        report, _ = self.tracked()
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)
        self.assertEqual([gpu["max_combined_ram"] for gpu in report["gpus"]], [None, 0.0])
        denied = IN_USE + "code nvmlDeviceGetComputeRunningProcesses_v3 4\n"
        self.write(denied + idle)
        report, _ = self.tracked("--overwrite")
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)
        self.assertIn("denies permission", report["sources"]["process_gpu_ram"]["reason"])

    @needs_package
    def test_reports_of_all_formats_say_why(self):
        self.write(HOST_PIDS)
        for form in "text", "full", "summary", "json", "pickle", "prometheus":
            done = self.gpu_tracker("run", "--st", "0.05", "--gru", "megabytes", "-f", form, "-o", form, "--", "sleep", "0.3")
            self.assertEqual(done.returncode, 0, done.stderr)
        why = "the driver lists only pids that are not visible here"
        for form in "text", "full":
            text = (self.folder / form).read_text()
            ram = text[text.index("Max GPU RAM:"):text.index("CPU utilization:")]
            self.assertEqual(ram.count(": n/a\n"), 3)
            self.assertIn("System: 9000.0\n", ram)
            self.assertIn(why, text)
        summary = (self.folder / "summary").read_text()
        self.assertIn("9 GB  peak, by whoever used it, of 16 GB", summary)
        self.assertIn("who used the GPU", summary)
        self.assertIn(why, (self.folder / "json").read_text())
        self.assertIn(why.encode(), (self.folder / "pickle").read_bytes())
        metrics = (self.folder / "prometheus").read_text()
        self.assertNotRegex(metrics, "(?m)^gputracker_(main|descendants|combined)_gpu_memory_bytes|^gputracker_gpu_combined_memory")
        self.assertRegex(metrics, "(?m)^gputracker_system_gpu_memory_used_bytes 9")
        self.assertIn('gputracker_source_info{source="process_gpu_ram",state="unavailable"} 1', metrics)

    @needs_package
    def test_a_pickle_has_numbers_where_the_older_classes_have_them(self):
        self.write(IN_USE)
        self.gpu_tracker("run", "-f", "pickle", "-o", "t.pkl", "--", "true")

        class Any:
            class State:
                def __init__(self, value):
                    pass

        class Reader(pickle.Unpickler):
            def find_class(self, module, name):
                return Any.State if name == "Tracker.State" else Any if name == "Tracker" else type(name, (), {})

        with open(self.folder / "t.pkl", "rb") as file:
            tracker = Reader(file).load()
        self.assertEqual(tracker.resource_usage.max_gpu_ram.main, 0.0)
        self.assertIsNone(tracker.details["max_gpu_ram"]["main"])

    def test_doctor_says_what_is_hidden(self):
        self.write(IN_USE)
        doctor = json.loads(self.gpu_tracker("doctor", "-f", "json").stdout)
        nvml = doctor["sources"]["nvml"]
        self.assertEqual(nvml["state"], "partly")
        self.assertIn("lists no process while memory is in use", nvml["reason"])
        self.assertIn("--pid=host", nvml["remedy"])
        self.assertIn("process_ram", doctor["gpus"][0]["missing"])

    def test_who_has_no_file_of_the_driver_open_uses_no_gpu(self):
        control, device = self.folder / "nvidiactl", self.folder / "nvidia0"
        control.touch()
        device.touch()
        for scenario in HIDDEN.values():
            self.write(scenario)
            report, _ = self.tracked("--overwrite", FAKE_NVML_CONTROL=str(control), command=("sleep", "1"))
            self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [0.0] * 3)
            self.assertNotIn("process_gpu_ram", report["sources"])
            holder = python("import sys, time; file = open(sys.argv[1]); time.sleep(2)", device)
            report, _ = self.tracked("--overwrite", FAKE_NVML_CONTROL=str(control), command=holder)
            self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)

    def tracked_inside(self, container, command):
        words = [*container, COMMAND, "run", "--st", "0.05", "--gru", "megabytes", "--processes", "-f", "json", "-o", "out.json", "--"]
        done = subprocess.run(
            [*map(str, words), *command], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "out.json").read_text())

    def start_stranger(self):
        """A process of the host, with a pid that is not among the first in a container even where we are in one."""
        if os.getpid() < 1000:
            pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text("1000")
        stranger = subprocess.Popen(["sleep", str(2 * PATIENCE)])
        self.processes.append(stranger)
        return stranger.pid

    @unittest.skipIf(NO_CONTAINER, f"cannot make a pid namespace: {NO_CONTAINER}")
    def test_pids_of_the_host_are_ours_where_its_procfs_is_mounted(self):
        host = self.folder / "host"
        host.mkdir()
        same, other = [self.start_stranger() for _ in range(20)], self.start_stranger()
        scenario = IN_USE + f"compute {{main}} 2000000000\ncompute {{inner}} 500000000\ncompute {other} 100000000\n"
        self.write(IN_USE)
        command = python(ON_HOST_AS, ON_HOST, ",".join(map(str, same)), host, self.scenario, scenario)
        report = self.tracked_inside([*CONTAINER, host], command)
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [0.0, 2000.0, 2000.0])
        self.assertEqual({process["peak_gpu_ram"] for process in report["processes"]}, {0, 2000.0})

    @unittest.skipIf(NO_CONTAINER, f"cannot make a pid namespace: {NO_CONTAINER}")
    def test_a_number_that_another_process_of_the_host_has_now_makes_pids_no_host_pids(self):
        host = self.folder / "host"
        host.mkdir()
        # The last entry is of a process in the container that has ended; outside, another process has its number.
        scenario = IN_USE + f"compute {{inner}} 500000000\ncompute {self.start_stranger()} 100000000\n"
        self.write(IN_USE)
        report = self.tracked_inside([*CONTAINER, host], python(ON_HOST, host, self.scenario, scenario))
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [500.0, 0.0, 500.0])

    @unittest.skipIf(NO_CONTAINER, f"cannot make a pid namespace: {NO_CONTAINER}")
    def test_pids_of_the_host_belong_to_no_process_where_no_procfs_shows_them(self):
        self.write(HOST_PIDS.replace(str(UNKNOWN_PID), str(self.start_stranger())))
        report = self.tracked_inside(ALONE, ["sleep", "0.5"])
        self.assertEqual([report["max_gpu_ram"][scope] for scope in SHARES], [None] * 3)

    @unittest.skipIf(NO_CONTAINER, f"cannot make a pid namespace: {NO_CONTAINER}")
    def test_a_pid_of_the_host_that_equals_ours_is_not_ours(self):
        control = self.folder / "nvidiactl"
        control.touch()
        self.environment["FAKE_NVML_CONTROL"] = str(control)
        write = WAIT + "import os, sys\nif sys.argv[3]: file = open(sys.argv[3])\nopen(sys.argv[1] + '.new', 'w').write(" \
            "sys.argv[2].replace('{main}', str(os.getpid())))\nos.rename(sys.argv[1] + '.new', sys.argv[1]); wait(1)"
        other = self.folder / "other"
        files = {name: self.folder / name for name in ("nvidia0", "nvidia-uvm")}
        for path in (other, *files.values()):
            path.touch()
        for opened, listed, expected in (
            (files["nvidia0"], "{main}", 2000.0),  # it has the driver's file open: the list has our pids
            (files["nvidia-uvm"], "1", None),  # another process here has that number, and does not use the GPU
            (other, "{main}", 0.0),  # it does not use the GPU, whatever pids are listed
        ):
            with self.subTest(opened=opened.name, listed=listed):
                scenario = IN_USE + f"compute {listed} 2000000000\n"
                self.write(IN_USE)
                report = self.tracked_inside(ALONE, python(write, self.scenario, scenario, opened))
                self.assertEqual(report["max_gpu_ram"]["main"], expected)
                if expected is None:
                    self.assertIn("pids that may be of the host", report["sources"]["process_gpu_ram"]["reason"])
                (self.folder / "out.json").unlink()


if __name__ == "__main__":
    main()
