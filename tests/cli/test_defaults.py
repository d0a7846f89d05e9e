"""Defaults of options from the user's config file."""

import json
import os

from command import BUILD, CommandTest, main


class Defaults(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "etc").mkdir()
        self.file = self.folder / "etc" / "config.json"
        self.environment = os.environ | {"GPUT_CONFIG": str(self.file)}

    def write(self, **members):
        self.file.write_text(json.dumps(members))

    def track(self, *arguments, **environment):
        return self.run_command(*arguments, env=self.environment | environment)

    def report(self, *arguments, **environment):
        done = self.track("run", *arguments, "true", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_format_and_units(self):
        self.write(format="text", ru="bytes", **{"time_unit": None})
        self.assert_is_report(self.report())
        self.assertIn("Max RAM:\n   Unit: bytes\n", self.report())

    def test_the_command_line_goes_before_it(self):
        self.write(format="json", ru="bytes")
        self.assert_is_summary(self.report("-f", "summary"))
        self.assertEqual(json.loads(self.report("--ru", "kilobytes"))["max_ram"]["unit"], "kilobytes")

    def test_a_summary_that_is_asked_for_is_printed(self):
        for members in ({"format": "full"}, {"format": "json"}, {"quiet": True}):
            self.write(**members)
            self.assert_is_summary(self.report("--summary"))
        self.write(format="json", summary=True)
        json.loads(self.report())
        json.loads(self.report("--summary", "-f", "json"))

    def test_the_extension_of_an_output_goes_before_its_format(self):
        self.write(format="text", summary=True)
        self.assert_is_summary(self.report("-o", "x.json"))
        json.loads((self.folder / "x.json").read_text())

    def test_flags_are_true_or_false(self):
        self.write(quiet=True)
        self.assertEqual(self.report(), "")
        self.write(quiet=False)
        self.assert_is_summary(self.report())

    def test_repeated_options_are_arrays_and_yield_as_a_whole(self):
        self.write(limit=["ram=9TB", "seconds=0.05"], st=0.02)
        self.assertIn("The seconds limit", self.track("run", "sleep", "0.3").stderr)
        self.assertNotIn("The seconds limit", self.track("run", "--limit", "ram=8TB", "sleep", "0.3").stderr)

    def test_a_tconfig_goes_before_what_does_not_concern_the_report(self):
        self.write(format="json", ru="bytes")
        (self.folder / "t.json").write_text('{"ram_unit": "terabytes"}')
        self.assertEqual(json.loads(self.report("--tconfig", "t.json"))["max_ram"]["unit"], "terabytes")

    def test_how_to_go_without_it(self):
        self.write(format="json")
        self.assert_is_summary(self.report("--no-config"))
        self.assert_is_summary(self.report(GPUT_CONFIG=""))

    def test_where_it_is(self):
        self.write(format="json")
        del self.environment["GPUT_CONFIG"]
        for variables, folder in ({"XDG_CONFIG_HOME": str(self.folder / "x")}, "x"), ({"HOME": str(self.folder / "h")}, "h/.config"):
            place = self.folder / folder / "gpu-tracker"
            place.mkdir(parents=True)
            base = {"XDG_CONFIG_HOME": "", "HOME": "/nonexistent"} | variables
            self.assert_is_summary(self.report(**base))
            (place / "config.json").write_bytes(self.file.read_bytes())
            json.loads(self.report(**base))

    def test_the_older_form_and_other_commands_do_not_read_it(self):
        self.write(format="json", nonsense=1)
        done = self.track("-e", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Max RAM:", done.stdout)
        self.assertEqual(self.track("doctor").returncode, 0)

    def test_the_older_form_has_numbers_where_nothing_is_known(self):
        scenario = self.folder / "scenario"
        scenario.write_text("gpu GPU-a\nmemory 1000 0 50\n" + "".join(
            f"code nvmlDeviceGet{call} 3\n" for call in ("MemoryInfo", "MemoryInfo_v2", "UtilizationRates")))
        gpu = {"FAKE_NVML_SCENARIO": str(scenario), "GPUT_NVML": str(BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"), "GPUT_SYSFS": "/nonexistent"}
        sections = ["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time"]

        def parts(value):
            return [part for each in value.values() for part in parts(each)] if isinstance(value, dict) else [value]

        for words, has_nulls in (("-e", "true", "-f", "json", "-o", "older.json"), False), (("run", "-q", "-f", "json", "-o", "older.json", "--", "true"), True):
            self.run_command(*words, env=os.environ | gpu, check=True)
            report = json.loads((self.folder / "older.json").read_text())
            (self.folder / "older.json").unlink()
            self.assertEqual(list(report)[:5], sections)
            self.assertEqual(None in [part for name in sections for part in parts(report[name])], has_nulls, report["max_gpu_ram"])

    def test_what_attach_does_not_take_is_skipped(self):
        self.write(progress=True, format="json")
        done = self.track("attach", "--for", "0.05", os.getpid())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_wrong_is_named(self):
        cases = [
            ("{", None),
            ("[]", f"Config file {self.file} must hold one JSON object, for example {{\"format\": \"full\"}}."),
            ('{"quiet": "yes"}', f'Config file {self.file}: "quiet" must be true or false.'),
            ('{"format": true}', f'Config file {self.file}: "format" must be a string or a number.'),
            ('{"format": {}}', f'Config file {self.file}: "format" must be a string, a number, true, false, or an array of these.'),
            ('{"format": "xml"}', '"xml" is not a valid format. Valid values are "summary", "text", "full", "json", "pickle", "prometheus", "nextflow-trace" or "snakemake-benchmark".'),
        ]
        for content, message in cases:
            self.file.write_text(content)
            with self.subTest(content=content):
                done = self.track("run", "touch", "started")
                self.assertEqual(done.returncode, 125)
                if message:
                    self.assert_fails(done, 125, message)
        self.write(formt="text")
        done = self.track("run", "touch", "started")
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, r'\Agpu-tracker: Config file \S+: unknown option "formt": did you mean format\? Options: output format .*\n\Z')
        self.assertEqual(self.track("run", "true", GPUT_CONFIG="no-such-file").returncode, 125)
        self.assert_folder_is("etc")


if __name__ == "__main__":
    main()
