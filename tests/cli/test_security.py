"""Rights that the file of gpu-tracker has and its user lacks do not reach others: docs/security.md."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import unittest

from command import AS_NOBODY, BUILD, COMMAND, SOURCE, CommandTest, main, refusal

WITHOUT_RIGHTS = [*AS_NOBODY, "--inh-caps=-all", "--ambient-caps=-all", "--"]
FAKE_NVML = BUILD / "tests" / "fake-nvml" / "libfake-nvml.so"
REMOVED = {"LD_LIBRARY_PATH": "/opt/cuda/lib64", "TMPDIR": "/nowhere/x", "LOCPATH": "/nowhere/locale"}


class Capabilities(CommandTest):
    """As after `setcap cap_sys_ptrace+ep`: what a user's environment names would have that capability."""

    def setUp(self):
        super().setUp()
        self.open_to_nobody(COMMAND, FAKE_NVML)
        self.set_capability()

    def set_capability(self):
        program = self.folder / "gpu-tracker"
        why = refusal("setcap", "cap_sys_ptrace+ep", str(program))
        held = "" if why else subprocess.run([*WITHOUT_RIGHTS, str(program), "doctor", "-f", "json"], capture_output=True, text=True).stdout
        if not held or json.loads(held)["sources"]["memory_maps"]["state"] != "available":
            self.skipTest(f"files give no capabilities here: {why or 'this file system is mounted nosuid'}")

    def run_as_nobody(self, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUT_")}
        return subprocess.run([*WITHOUT_RIGHTS, "./gpu-tracker", *arguments], cwd=self.folder, env=environment | variables,
                              capture_output=True, text=True)

    def gpus(self, **variables):
        (self.folder / "scenario").write_text("gpu GPU-aaaa\nmemory 16000000000 0 0\n")
        done = self.run_as_nobody("doctor", "-f", "json", GPUT_NVML=str(self.folder / "libfake-nvml.so"),
                                  FAKE_NVML_SCENARIO=str(self.folder / "scenario"), **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return len(json.loads(done.stdout)["gpus"]), done.stderr

    def test_no_library_that_the_environment_names_is_loaded(self):
        count, messages = self.gpus()
        self.assertEqual(count, 0)
        self.assertIn("follows no path of the environment: GPUT_NVML.", messages)
        subprocess.run(["setcap", "-r", str(self.folder / "gpu-tracker")], check=True)
        self.assertEqual(self.gpus(), (1, ""))  # without the capability it is the user's own affair

    def test_no_folder_that_the_environment_names_is_read(self):
        done = self.run_as_nobody("doctor", "-f", "json", GPUT_PROCFS="/nowhere", GPUT_SYSFS="/nowhere")
        self.assertEqual(json.loads(done.stdout)["sources"]["procfs"]["state"], "available")
        self.assertIn("GPUT_PROCFS, GPUT_SYSFS", done.stderr)

    def test_no_history_is_kept_and_that_is_said(self):
        done = self.run_as_nobody("run", "-q", "--", "true", GPUT_HISTORY=str(self.folder / "history"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("follows no path of the environment: GPUT_HISTORY.", done.stderr)
        done = self.run_as_nobody("history", "on", HOME=str(self.folder))
        self.assertEqual(done.returncode, 1)
        self.assertIn("has capabilities of its file (setcap), so it follows no path of the environment and has no history", done.stderr)

    def test_no_config_of_the_environment_is_followed(self):
        (self.folder / "config.json").write_text('{"output": "made-by-config.json"}')
        done = self.run_as_nobody("run", "--", "true", GPUT_CONFIG=str(self.folder / "config.json"))
        self.assertEqual(done.returncode, 0)
        self.assertFalse((self.folder / "made-by-config.json").exists())
        self.assertIn("follows no path of the environment: GPUT_CONFIG.", done.stderr)

    def test_the_command_has_neither_the_capability_nor_lost_a_variable(self):
        script = "import json, os; print(json.dumps([open('/proc/self/status').read(), dict(os.environ)]))"
        given = REMOVED | {"KEPT": "yes"}
        # Another user may not be able to run the first one of PATH, which is perhaps a script that starts the right one (pyenv).
        python = shutil.which("python3", path=os.defpath) or sys.executable
        plain = subprocess.run([*WITHOUT_RIGHTS, python, "-S", "-c", script], cwd="/", env=os.environ | given, capture_output=True,
                               text=True, check=True)
        done = self.run_as_nobody("run", "-q", "--", python, "-S", "-c", script, **given)
        self.assertEqual(done.returncode, 0, done.stderr)
        status, environment = json.loads(done.stdout)
        self.assertRegex(status, r"CapPrm:\t0+\nCapEff:\t0+\n")
        wanted = {name: value for name, value in json.loads(plain.stdout)[1].items() if not name.startswith("GPUT_")}
        self.assertEqual({name: environment.get(name) for name in wanted if name not in ("PWD", "OLDPWD", "LC_CTYPE")},
                         {name: wanted[name] for name in wanted if name not in ("PWD", "OLDPWD", "LC_CTYPE")})

    def test_commands_that_read_files_give_the_capability_up(self):
        os.mkfifo(self.folder / "x.json")
        process = subprocess.Popen([*WITHOUT_RIGHTS, "./gpu-tracker", "show", "x.json"], cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        with open(self.folder / "x.json", "w"):  # returns when it has been opened for reading
            status = open(f"/proc/{process.pid}/status").read()
        self.assertRegex(status, r"CapPrm:\t0+\nCapEff:\t0+\n")


class OfAnotherUser(CommandTest):
    """What somebody else wrote, or could have, says nothing to us."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can be given another user's files")

    def make_config(self, mode=0o644, owner=65534, folder_mode=0o755, folder_owner=65534):
        folder = self.folder / ".config" / "gpu-tracker"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text('{"output": "made.json"}')
        os.chown(folder / "config.json", owner, -1)
        os.chown(folder, folder_owner, -1)
        (folder / "config.json").chmod(mode)
        folder.chmod(folder_mode)
        return folder / "config.json"

    def run_with_home(self, **variables):
        environment = {name: value for name, value in os.environ.items() if name not in ("GPUT_CONFIG", "XDG_CONFIG_HOME")}
        done = self.run_command("run", "--", "true", env=environment | {"HOME": str(self.folder)} | variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "made.json").exists(), done.stderr

    def test_a_users_config_is_not_followed_by_root(self):
        path = self.make_config()
        is_followed, messages = self.run_with_home()
        self.assertFalse(is_followed)
        self.assertIn(f"Config file {path} is not followed: another user can write it.", messages)
        self.assertTrue(self.run_with_home(GPUT_CONFIG=str(path))[0])  # named, it is

    def test_nor_one_that_all_can_write(self):
        self.make_config(mode=0o666, owner=0, folder_owner=0)
        self.assertFalse(self.run_with_home()[0])

    def test_nor_one_in_a_folder_of_another_user(self):
        self.make_config(owner=0)
        self.assertFalse(self.run_with_home()[0])

    def test_nor_one_in_a_folder_that_all_can_write(self):
        self.make_config(owner=0, folder_mode=0o777, folder_owner=0)
        self.assertFalse(self.run_with_home()[0])

    def test_roots_own_is_followed(self):
        self.make_config(owner=0, folder_owner=0)
        self.assertTrue(self.run_with_home()[0])

    def test_a_folder_of_parts_that_others_can_write_is_not_used_again(self):
        parts = self.folder / "x.gputblocks.parts"
        for mode, owner in (0o777, 0), (0o700, 65534):
            parts.mkdir()
            parts.chmod(mode)
            os.chown(parts, owner, -1)
            done = self.run_command("run", "--regions=nvtx", "--region-file", "x.gputblocks", "--overwrite", "--", "true")
            self.assertEqual(done.returncode, 125)
            self.assertIn("x.gputblocks.parts is not used again, as other users can write to it: remove it.", done.stderr)
            parts.rmdir()


class Names(CommandTest):
    """A process may be called what it likes."""

    def test_a_table_for_people_has_no_formula_and_no_control_character(self):
        for name in "=HYPERLINK(1)", "x\033]0;title\007y":
            shutil.copy(shutil.which("sleep"), self.folder / name)
        script = "'./=HYPERLINK(1)' 0.3 & './x\033]0;title\007y' 0.3; wait"
        done = self.run_command("run", "--processes", "--st", "0.05", "--tf", "s.sqlite", "-o", "r.json", "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        exact = {process["name"] for process in json.loads((self.folder / "r.json").read_text())["processes"]}
        self.assertLessEqual({"=HYPERLINK(1)", "x\033]0;title\007y"}, exact)
        done = self.run_command("report", "s.sqlite", "-f", "csv", "-o", "tables")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = (self.folder / "tables" / "processes.csv").read_text()
        self.assertIn("'=HYPERLINK(1),", table)
        self.assertIn("x?]0;title?y", table)


class SetUserId(CommandTest):
    def test_it_is_refused(self):
        self.open_to_nobody(COMMAND)
        program = self.folder / "gpu-tracker"
        program.chmod(0o755 | stat.S_ISUID)
        done = subprocess.run([*WITHOUT_RIGHTS, "./gpu-tracker", "run", "--", "touch", "made"], cwd=self.folder, capture_output=True, text=True)
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("this file system is mounted nosuid")
        self.assertEqual(done.returncode, 125)
        self.assertIn("must not be set-user-ID", done.stderr)
        self.assertFalse((self.folder / "made").exists())


class Advice(CommandTest):
    def test_nothing_of_ours_advises_capabilities_of_the_file(self):
        for path in [*SOURCE.glob("src/**/*.c"), *SOURCE.glob("cli/*.c"), *SOURCE.glob("docs/*.md"), SOURCE / "README.md"]:
            for line in path.read_text().splitlines():
                self.assertNotRegex(line, r"setcap cap_\w+\+", path)

    def test_a_path_in_the_script_is_one_word_of_the_shell(self):
        sysfs = self.folder / "a b'; touch made (x, or y); '"
        zone = sysfs / "class" / "powercap" / "intel-rapl:0"
        zone.mkdir(parents=True)
        (zone / "name").write_text("package-0\n")
        (zone / "energy_uj").write_text("1\n")
        (zone / "energy_uj").chmod(0)
        self.open_to_nobody(COMMAND)
        done = subprocess.run([*WITHOUT_RIGHTS, "./gpu-tracker", "doctor", "--fix-script"], cwd=self.folder, capture_output=True, text=True,
                              env=os.environ | {"GPUT_SYSFS": str(sysfs), "GPUT_NVML": "/nonexistent"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("energy_uj", done.stdout)
        lines = "".join(line + "\n" for line in done.stdout.splitlines() if not line.startswith("sysctl"))
        subprocess.run(["sh", "-e"], input=lines, text=True, check=True, cwd=self.folder)
        self.assertFalse((self.folder / "made").exists())
        self.assertTrue((zone / "energy_uj").stat().st_mode & 0o004)


class Source(unittest.TestCase):
    """New variables and libraries follow the rules of docs/security.md."""

    # None of these has a path that is opened or executed with our rights; PATH is followed for the command alone, which has none.
    NO_PATHS = {"PATH", "TERM", "NO_COLOR", "MPLBACKEND", "JPY_PARENT_PID", "SSH_CONNECTION", "GPUT_PERFETTO_ADDRESS", "GPUT_BLOCK_EXACT", "GPUT_SESSION",
                "KINETO_IPC_SOCKET_DIR"}

    def test_variables_that_name_paths_are_read_securely(self):
        for path in [*SOURCE.glob("src/**/*.c"), *SOURCE.glob("cli/**/*.c"), *SOURCE.glob("python/native/*.c"), *SOURCE.glob("collectors/*.c")]:
            for name in re.findall(r'(?<!secure_)getenv\("(\w+)"\)', path.read_text()):
                if path.name != "defaults.c":  # which asks environment_is_untrusted() itself
                    self.assertIn(name, self.NO_PATHS, path)

    def test_libraries_are_opened_in_one_place(self):
        found = {str(path.relative_to(SOURCE)) for path in [*SOURCE.glob("src/**/*.c"), *SOURCE.glob("cli/**/*.c")]
                 if re.search(r"\bdlopen\((?!NULL|\))", path.read_text())}
        self.assertEqual(found, {"src/base/shared_library.c", "cli/phases/line_search.c"})


if __name__ == "__main__":
    main()
