"""--tconfig: a JSON file of options."""

import json
import os
import shutil

from command import CommandTest, main, python
from energy_machine import MOVE, Machine


class Config(CommandTest):
    def write(self, content):
        (self.folder / "config.json").write_text(content if isinstance(content, str) else json.dumps(content))

    def report(self, *arguments, command=("true",), **options):
        done = self.run_command("run", "--tconfig=config.json", "-f", "json", "-o", "-", *arguments, *command, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_refused(self, content, message):
        self.write(content)
        self.assert_fails(
            self.run_command("--tconfig", "config.json", "-e", "touch started"), 1, f"Config file config.json: {message}")
        self.assertFalse((self.folder / "started").exists())

    def test_of_the_tutorial(self):
        self.write({"sleep_time": 0.5, "ram_unit": "megabytes", "gpu_ram_unit": "megabytes", "time_unit": "seconds"})
        report = self.report()
        self.assertEqual(report["max_ram"]["unit"], "megabytes")
        self.assertEqual(report["max_gpu_ram"]["unit"], "megabytes")
        self.assertEqual(report["compute_time"]["unit"], "seconds")

    def test_every_member_is_known(self):
        self.write({
            "sleep_time": 1, "ram_unit": "bytes", "gpu_ram_unit": "terabytes", "time_unit": "days", "n_expected_cores": 5,
            "gpu_uuids": None, "gpu_brand": None, "disable_logs": True, "process_id": 1, "resource_usage_file": "kept",
            "tracking_file": "rows.csv", "overwrite": True, "n_join_attempts": 5, "join_timeout": 10.5,
            "ram_mode": "exact", "energy_unit": "watt-hours", "carbon_intensity": 50, "energy_folder": "rec", "listen": "127.0.0.1:0", "limits": {"ram": "8GB", "seconds": 90, "cpu_seconds": 0.5}, "enforce": False,
            "processes": True, "command_lines": False, "own_process": True})
        report = self.report()
        self.assertEqual(report["cpu_utilization"]["n_expected_cores"], 5)
        self.assert_folder_is("config.json", "rec", "rows.csv", "rows.csv.session.json")
        shutil.rmtree(self.folder / "rec")
        self.report()  # "overwrite" holds

    def test_processes(self):
        self.write({})
        self.assertNotIn("processes", self.report())
        self.write({"processes": True})
        self.assertNotIn("command_line", self.report()["processes"][0])
        self.write({"command_lines": True})
        self.assertEqual(self.report(command=["sleep", "0.2"])["processes"][0]["command_line"], "sleep 0.2")
        self.write({"processes": False})
        self.assertIn("command_line", self.report("--command-lines")["processes"][0])

    def test_energy(self):
        machine = Machine(self.folder / "sys")
        machine.add("intel-rapl:0", "package-0")
        options = {"env": machine.environment(), "command": python(MOVE, *machine.move(0.3, package_0=12000))}
        self.write({"energy_unit": "watt-hours", "carbon_intensity": "FR"})
        energy = self.report(**options)["energy"]
        self.assertEqual(energy["unit"], "watt-hours")
        self.assertAlmostEqual(energy["machine"]["package"], 1, delta=1e-3)
        self.assertIn("France", energy["co2e_source"])
        self.assertIn("Germany", self.report("--carbon-intensity=DE", **options)["energy"]["co2e_source"])
        self.write({"carbon_intensity": 50.5})
        self.assertEqual(self.report(**options)["energy"]["co2e_source"], "50.5 g/kWh, as given")
        energy = self.report("--carbon-intensity=DE", "--eu=joules", **options)["energy"]
        self.assertEqual(energy["unit"], "joules")
        self.assertIn("Germany", energy["co2e_source"])

    def test_the_command_line_wins(self):
        self.write({"ram_unit": "bytes", "time_unit": "days", "tracking_file": "config.csv"})
        report = self.report("--tu=minutes", "--tf", "line.csv")
        self.assertEqual(report["max_ram"]["unit"], "bytes")
        self.assertEqual(report["compute_time"]["unit"], "minutes")
        self.assert_folder_is("config.json", "line.csv", "line.csv.session.json")

    def test_null_is_the_default(self):
        self.write({"ram_unit": None, "sleep_time": None, "tracking_file": None})
        self.assertEqual(self.report()["max_ram"]["unit"], "gigabytes")

    def test_a_process_is_for_attach(self):
        self.write({"process_id": os.getpid()})
        warning = "gpu-tracker: warning: The process_id of the config file is not used: the command is tracked. gpu-tracker attach tracks a process.\n"
        for words, status in (("run", "--tconfig", "config.json", "-q", "--", "true"), 0), (("-e", "true", "--tconfig", "config.json"), 0):
            done = self.run_command(*words)
            self.assertEqual(done.returncode, status)
            self.assertIn(warning, done.stderr)
            self.assertNotIn("process_id", self.run_command(*words[:1], "--disable-logs", *words[1:]).stderr if words[0] == "run" else "")
        self.assertNotIn("process_id", self.run_command("attach", "--tconfig", "config.json", "--for", "0.1").stderr)

    def test_an_unknown_member_is_named(self):
        self.write({"sleeptime": 1})
        done = self.run_command("--tconfig", "config.json", "-e", "true")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stderr,
            r'\Agpu-tracker: Config file config.json: Unknown option "sleeptime": did you mean sleep_time\? Valid options are sleep_time, .*tracking_file.*\.\n\Z')

    def test_a_wrong_type_or_value_is_named(self):
        units = "Valid values are bytes, kilobytes, megabytes, gigabytes, terabytes"
        cases = [
            ({"sleep_time": "1"}, '"sleep_time" must be a number of seconds, 0.001 or more, such as 0.1.'),
            ({"sleep_time": 0}, '"sleep_time" must be a number of seconds, 0.001 or more, such as 0.1.'),
            ({"sleep_time": True}, '"sleep_time" must be a number of seconds, 0.001 or more, such as 0.1.'),
            ({"ram_unit": 3}, '"ram_unit" must be a string.'),
            ({"ram_unit": "miles"}, f'"miles" is not a valid RAM unit. {units}'),
            ({"gpu_ram_unit": "miles"}, f'"miles" is not a valid GPU RAM unit. {units}'),
            ({"time_unit": "miles"}, '"miles" is not a valid time unit. Valid values are seconds, minutes, hours, days'),
            ({"n_expected_cores": 1.5}, '"n_expected_cores" must be a whole number above 0.'),
            ({"n_expected_cores": 0}, '"n_expected_cores" must be a whole number above 0.'),
            ({"n_expected_cores": 2**40}, '"n_expected_cores" must be a whole number above 0.'),
            ({"gpu_uuids": 3}, '"gpu_uuids" must be an array of strings.'),
            ({"gpu_uuids": ["a", 3]}, '"gpu_uuids" must be an array of strings.'),
            ({"gpu_brand": ["nvidia"]}, '"gpu_brand" must be a string.'),
            ({"disable_logs": 1}, '"disable_logs" must be true or false.'),
            ({"overwrite": "yes"}, '"overwrite" must be true or false.'),
            ({"tracking_file": {}}, '"tracking_file" must be a string.'),
            ({"process_id": "me"}, '"process_id" must be a whole number above 0.'),
            ({"join_timeout": "long"}, '"join_timeout" must be a number of seconds above 0.'),
            ({"join_timeout": 0}, '"join_timeout" must be a number of seconds above 0.'),
            ({"n_join_attempts": 0}, '"n_join_attempts" must be a whole number above 0.'),
            ({"limits": ["ram=8GB"]}, '"limits" must be an object of limits, for example {"ram": "8GB"}.'),
            ({"limits": {"ram": None}}, '"ram=" is not a valid limit. Give a size, for example ram=8GB.'),
            ({"limits": {"ram": -1.5}}, '"ram=-1.5" is not a valid limit. Give a size, for example ram=8GB.'),
            ({"limits": {"RAM": 1}},
             '"RAM=1" is not a valid limit: did you mean ram? Limits are ram, gpu_ram, seconds and cpu_seconds, for example ram=8GB.'),
            ({"processes": 1}, '"processes" must be true or false.'),
            ({"own_process": "yes"}, '"own_process" must be true or false.'),
            ({"enforce": 1}, '"enforce" must be true or false.'),
            ({"energy_unit": "calories"},
             '"calories" is not a valid energy unit. Valid values are joules, kilowatt-hours, watt-hours'),
            ({"energy_unit": 1}, '"energy_unit" must be a string.'),
            ({"carbon_intensity": -3}, '"carbon_intensity" must be grams of CO2 for a kWh, 0 or more, or the code of a country.'),
            ({"carbon_intensity": True}, '"carbon_intensity" must be grams of CO2 for a kWh, 0 or more, or the code of a country.'),
            ({"energy_folder": 1}, '"energy_folder" must be a string.'),
            ({"ram_mode": "much"}, '"much" is not a valid RAM mode. Valid values are adaptive, exact, totals'),
        ]
        for content, message in cases:
            with self.subTest(content=content):
                self.assert_refused(content, message)

    def test_no_object_at_all(self):
        for content in ("[]", "3", '"sleep_time"'):
            self.write(content)
            done = self.run_command("--tconfig", "config.json", "-e", "true")
            self.assert_fails(
                done, 1, 'Config file config.json must hold one JSON object, for example {"sleep_time": 0.5}.')
        for content in ("", "{", '{"sleep_time": }', "{} x", "\0", '{"a" 1}'):
            self.write(content)
            done = self.run_command("--tconfig", "config.json", "-e", "true")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\A.*config\.json.*\n\Z")

    def test_no_file(self):
        done = self.run_command("run", "--tconfig", "none.json", "true")
        self.assert_fails(done, 125, "Cannot open none.json: No such file or directory")


if __name__ == "__main__":
    main()
