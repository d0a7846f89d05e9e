"""Sessions within others: each knows them by GPUT_SESSION, and `job` adds their figures once."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import command

LAUNCHERS = "OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM", "TORCHELASTIC_", "RANK", "PARALLEL", "GPUT_SESSION"
BURN = "import time\nwhile time.process_time() < 0.2: pass"


class Nested(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
        (self.folder / "burn.py").write_text(BURN)
        self.inner = f"{command.COMMAND} run -q"
        self.burn = f"{sys.executable} -S burn.py"

    def run_words(self, *words, status=0, **variables):
        done = subprocess.run(
            list(map(str, words)), cwd=self.folder, env=self.environment | variables, capture_output=True, text=True,
            timeout=command.PATIENCE)  # fmt: skip
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def track(self, *words, options=("-o", "outer.json")):
        self.run_words(command.COMMAND, "run", "-q", *options, "--", *words)

    def job(self):
        return json.loads(self.run_words(command.COMMAND, "job", "-f", "json", "."))

    def identity(self, name):
        return json.loads((self.folder / name).read_text())["identity"]

    def check_once(self, count, outer="outer.json", burns=None):
        """Only the outer session is in sums, whose CPU time has that of all."""
        read = self.job()
        self.assertEqual([rank["path"] for rank in read["ranks"]], [f"./{outer}"], read["findings"])
        self.assertEqual(read["jobs"][0]["cpu_seconds"], read["ranks"][0]["cpu_seconds"])
        self.assertGreater(read["jobs"][0]["cpu_seconds"], 0.2 * (burns or count))
        (finding,) = (finding for finding in read["findings"] if finding["kind"] == "nested")
        self.assertIn(f"./{outer} has the processes of {count} other session", finding["text"])
        return finding

    def shell(self, names, separator="; "):
        return separator.join(f"{self.inner} -o {name}.json -- {self.burn}" for name in names)

    def test_a_script(self):
        self.track("sh", "-c", self.shell("ab"))
        finding = self.check_once(2)
        self.assertRegex(finding["evidence"], r"^\./[ab]\.json: .* of CPU time; \./[ab]\.json: .* of CPU time$")
        self.assertEqual(self.identity("a.json")["within"], self.identity("outer.json")["session_id"])
        self.assertIsNone(self.identity("outer.json")["within"])

    def test_without_the_outer_file_each_counts(self):
        self.track("sh", "-c", self.shell("ab"))
        (self.folder / "outer.json").unlink()
        self.assertEqual(len(self.job()["ranks"]), 2)

    def test_make_and_xargs(self):
        rule = f"\t{self.inner} -o $@.json -- {self.burn}\n"
        (self.folder / "Makefile").write_text(f"all: a b c\na b c:\n{rule}")
        programs = {
            "make": ["make", "-s", "-j2"],
            "xargs": ["sh", "-c", f"echo a b c | xargs -n 1 -P 3 sh -c '{self.inner} -o $0.json -- {self.burn}'"],
        }
        for name, words in programs.items():
            if not shutil.which(name):
                continue
            with self.subTest(name):
                self.track(*words)
                self.check_once(3)
                for path in self.folder.glob("*.json"):
                    path.unlink()

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed (Debian: parallel)")
    def test_gnu_parallel(self):
        self.track("parallel", "--will-cite", f"{self.inner} -o {{}}.json -- {self.burn}", ":::", "a", "b", "c")
        self.check_once(3)

    def test_a_descendant_is_no_task_of_the_session(self):
        """GNU parallel sets these variables for each of its jobs, not for itself."""
        script = "for i in 1 2 3; do PARALLEL_SEQ=$i PARALLEL_PID=$$ sleep 1 & done; wait"
        self.track("sh", "-c", script, options=("--st", "0.1", "-o", "outer.json"))
        self.assertNotIn("job", json.loads((self.folder / "outer.json").read_text()))

    def test_files_of_samples_say_it_too(self):
        for name in "a.csv", "a.sqlite":
            outer = f"outer{pathlib.Path(name).suffix}"
            self.track("sh", "-c", f"{self.inner} --tf {name} -- {self.burn}", options=("--tf", outer))
            self.check_once(1, outer)
            for path in self.folder.glob("*.*[qv]*"):
                path.unlink()

    def test_of_three_levels_the_outermost_that_is_there_counts(self):
        middle = f"{self.inner} -o middle.json -- {self.inner} -o a.json -- {self.burn}"
        self.track("sh", "-c", middle)
        self.check_once(2, burns=1)
        (self.folder / "middle.json").unlink()
        self.check_once(1)
        outer, within = self.identity("outer.json")["session_id"], self.identity("a.json")["within"]
        self.assertRegex(within, f"^{outer}/[^/]+$")

    def test_attach(self):
        """It cannot set a variable of what runs, but knows whose it is."""
        self.track("sh", "-c", f"{self.burn} & {command.COMMAND} attach -q -o a.json $!")
        self.check_once(1)

    def test_another_pid_namespace(self):
        unshare = "unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"
        if command.refusal(*unshare, "true"):
            self.skipTest("user namespaces are not to be had")
        self.track(*unshare, "sh", "-c", self.shell("a"))
        self.check_once(1)

    def test_what_outlives_the_outer_session_is_not_within_it(self):
        late = f"while ! [ -s outer.json ]; do sleep 0.05; done; {self.shell('a')}"
        self.track("sh", "-c", f"setsid sh -c '{late}' </dev/null >/dev/null 2>&1 &")
        command.wait_until(lambda: (self.folder / "a.json").exists() and (self.folder / "a.json").stat().st_size)
        self.assertEqual(len(self.job()["ranks"]), 2)

    def test_a_variable_that_was_copied_is_not_believed(self):
        """Slurm starts a batch job with the environment of sbatch, below a daemon of its own."""
        with subprocess.Popen(["sleep", "60"]) as other:
            try:
                namespace = os.stat(f"/proc/{other.pid}/ns/pid").st_ino
                self.run_words(
                    command.COMMAND, "run", "-q", "-o", "a.json", "--", "true",
                    GPUT_SESSION=f"0123456789abcdef-{other.pid}-{namespace}")  # fmt: skip
            finally:
                other.kill()
        self.assertIsNone(self.identity("a.json")["within"])

    def test_ranks_count_and_not_their_launcher(self):
        """Also where they lived too shortly for it to see them."""
        ranks = "; ".join(f"PMI_RANK={rank} PMI_SIZE=2 {self.inner} -o r.json -- true" for rank in range(2))
        self.track("sh", "-c", ranks)
        read = self.job()
        self.assertEqual([rank["path"] for rank in read["ranks"]], ["./r.r0.json", "./r.r1.json"])
        self.assertEqual([finding["kind"] for finding in read["findings"] if finding["job"] is None], ["launcher"])

    def test_steps_of_a_rank_are_within_it(self):
        words = [command.COMMAND, "run", "-q", "-o", "r.json", "--", "sh", "-c", self.shell("ab")]
        for rank in "01":
            self.run_words(*words, PMI_RANK=rank, PMI_SIZE="2")
        read = self.job()
        self.assertEqual([rank["path"] for rank in read["ranks"]], ["./r.r0.json", "./r.r1.json"])
        self.assertEqual([finding["kind"] for finding in read["findings"] if finding["job"] is None], ["nested"] * 2)

    def test_a_command_has_no_other_variable_of_ours(self):
        self.track("sh", "-c", "env >variables")
        seen = dict(line.split("=", 1) for line in (self.folder / "variables").read_text().splitlines() if "=" in line)
        added = {name for name in seen if self.environment.get(name) != seen[name]} - {"PWD", "OLDPWD", "SHLVL", "_"}
        self.assertEqual(added, {"GPUT_SESSION"})
        self.assertEqual(seen["GPUT_SESSION"], self.identity("outer.json")["session_id"])


if __name__ == "__main__":
    command.main()
