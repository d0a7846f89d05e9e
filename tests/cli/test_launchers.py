"""Launchers of parallel jobs as they really are, as far as they are installed: every rank has files, and they are one job."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import command
import slurm_cluster
import two_hosts

NAMES = "OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM", "TORCHELASTIC_", "RANK", "PARALLEL"
STAND_IN = command.SOURCE / "tests" / "cli" / "torchrun_stand_in.py"
NO_SLURM = slurm_cluster.why_not()
NO_HOSTS = two_hosts.why_not()


class Launched(unittest.TestCase):
    folder_of_folders = None  # where the temporary folders are

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.folder_of_folders)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(NAMES)}

    def run_words(self, *words, status=0, patience=command.PATIENCE):
        done = subprocess.run(
            list(map(str, words)), cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=patience)  # fmt: skip
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def tracked(self, *words, options=("--tf", "s.csv", "-o", "r.json")):
        return [command.COMMAND, "run", "-q", "--st", "0.1", *options, "--", *words]

    def as_the_command(self, *launcher):
        """The report of one tracker for all three ranks of the machine, which end when it has seen them."""
        go = self.folder / "go"
        waits = f"while [ -d {self.folder} ] && ! [ -e {go} ]; do sleep 0.05; done"
        words = self.tracked(*launcher, "sh", "-c", waits, options=("--tf", "s.csv", "-o", "r.json", "--resource-usage-file", "kept"))
        with subprocess.Popen(list(map(str, words)), cwd=self.folder, env=self.environment) as tracker:
            try:
                command.wait_until(lambda: self.ranks_so_far() == "0-2", "the ranks")
            finally:
                go.touch()
        self.assertEqual(tracker.returncode, 0)
        return json.loads((self.folder / "r.json").read_text())

    def ranks_so_far(self):
        done = subprocess.run([command.COMMAND, "show", "-f", "json", "kept"], cwd=self.folder, capture_output=True, text=True)
        return json.loads(done.stdout).get("job", {}).get("ranks") if done.returncode == 0 else None

    def why_no_torchrun(self):
        return None if shutil.which("torchrun") and not command.refusal(sys.executable, "-c", "import torch") else "torchrun is not installed (PyPI: torch)"

    def job(self):
        return json.loads(self.run_words(command.COMMAND, "job", "-f", "json", ".").stdout)

    def the_job(self, *, ranks, launcher, machines=1):
        """Of files that must be of one job, with all of its ranks."""
        read = self.job()
        (job,) = read["jobs"]
        self.assertEqual((job["ranks"], job["world_size"], job["missing"], job["failed"], job["machines"]), (ranks, ranks, 0, 0, machines), read)
        self.assertEqual([rank["rank"] for rank in sorted(read["ranks"], key=lambda rank: rank["rank"])], list(range(ranks)))
        self.assertEqual({rank["launcher"] for rank in read["ranks"]}, {launcher})
        return read

    def check_readers(self, read):
        """One rank at a time reads a machine's figures: another one where the first has ended before it began."""
        for machine in read["machines"]:
            ranks = [rank["rank"] for rank in read["ranks"] if rank["machine"] == machine["machine"]]
            seconds = [json.loads((self.folder / f"r.r{rank}.json").read_text())["tracker"]["node_seconds"] for rank in ranks]
            self.assertGreater(max(seconds), 0, machine)
            self.assertLessEqual(sum(seconds), machine["seconds"] + 0.1, (machine, seconds))


class WithMpi(Launched):
    def mpirun(self, name, package, *options):
        program = shutil.which(f"mpirun.{name}") or (name == "openmpi" and shutil.which("mpirun"))
        if not program:
            self.skipTest(f"mpirun of {name} is not installed (Debian: {package})")
        if command.refusal(program, *options, "-np", "1", "true"):
            self.skipTest(f"{program} cannot start a process: {command.refusal(program, *options, '-np', '1', 'true')}")
        return [program, *options]

    def openmpi(self):
        return self.mpirun("openmpi", "openmpi-bin", "--allow-run-as-root", "--oversubscribe")

    def mpich(self):
        return self.mpirun("mpich", "mpich")


class Mpi(WithMpi):
    def check_ranks(self, mpirun, launcher):
        self.run_words(*mpirun, "-np", "3", *self.tracked("sleep", "0.3"))
        read = self.the_job(ranks=3, launcher=launcher)
        self.check_readers(read)
        self.assertEqual([rank["exit_status"] for rank in read["ranks"]], [0, 0, 0])

    def check_reverse(self, mpirun):
        report = self.as_the_command(*mpirun, "-np", "3")
        job = report["job"]
        self.assertEqual((job["ranks"], job["ranks_of"], job["rank"], job["world_size"]), ("0-2", "descendants", None, 3))
        self.assertGreaterEqual(report["accounting"]["processes"]["seen"], 4)

    def check_clash(self, mpirun):
        """The same names twice: nothing is replaced, and each run is one."""
        for _ in range(2):
            self.run_words(*mpirun, "-np", "2", *self.tracked("true"))
        self.assertEqual([job["ranks"] for job in self.job()["jobs"]], [2, 2])

    def start(self, words, cleanup):
        """A process with a TMPDIR of its own, which ends with `cleanup`, and the file of its messages.
        Two of Open MPI that start at once in one TMPDIR both make ompi.HOST.0, and one of them fails."""
        own = {"TMPDIR": tempfile.mkdtemp(dir=self.folder_of_folders or "/tmp", prefix="m")}
        cleanup.callback(shutil.rmtree, own["TMPDIR"], ignore_errors=True)
        handle, path = tempfile.mkstemp(dir=self.folder, suffix=".messages")
        run = cleanup.enter_context(subprocess.Popen(words, cwd=self.folder, env=self.environment | own, stderr=handle))
        os.close(handle)
        cleanup.callback(run.terminate)
        return run, pathlib.Path(path)

    def check_two_at_once(self, mpirun):
        """Neither of them ends before both have all their ranks."""
        script = "touch here.$$; until [ $(ls here.* | wc -l) = 4 ]; do sleep 0.05; done"
        with contextlib.ExitStack() as cleanup:
            runs = [self.start([*mpirun, "-np", "2", *self.tracked("sh", "-c", script)], cleanup) for _ in range(2)]
            end = time.monotonic() + command.PATIENCE
            while any(run.poll() is None for run, _ in runs) and not any(run.poll() for run, _ in runs) and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual([run.poll() for run, _ in runs], [0, 0], [messages.read_text() for _, messages in runs])
        read = self.job()
        self.assertEqual([(job["ranks"], job["missing"]) for job in read["jobs"]], [(2, 0), (2, 0)], read)
        self.assertEqual(len({(rank["job"], rank["run"]) for rank in read["ranks"]}), 2)

    def test_open_mpi(self):
        self.check_ranks(self.openmpi(), "Open MPI")

    def test_open_mpi_as_the_command(self):
        self.check_reverse(self.openmpi())

    def test_open_mpi_twice(self):
        self.check_clash(self.openmpi())

    def test_open_mpi_at_once_in_one_job_of_slurm(self):
        self.environment["SLURM_JOB_ID"] = "47"
        self.check_two_at_once([*self.openmpi(), "--mca", "plm", "rsh", "--mca", "ras", "^slurm"])

    def test_mpich_at_once(self):
        self.check_two_at_once(self.mpich())

    def test_mpich(self):
        self.check_ranks(self.mpich(), "MPICH")

    def test_mpich_as_the_command(self):
        self.check_reverse(self.mpich())

    def test_mpich_twice(self):
        self.check_clash(self.mpich())

    def test_a_rank_that_fails(self):
        mpirun = self.openmpi()
        done = subprocess.run(
            [*mpirun, "-np", "3", *self.tracked("sh", "-c", "[ $OMPI_COMM_WORLD_RANK != 1 ] || exit 3; exec sleep 30")],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=command.PATIENCE)  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stderr)
        findings = {finding["kind"]: finding["evidence"] for finding in self.job()["findings"]}
        self.assertIn("exit status 3", findings["failed_ranks"])


class Torchrun(Launched):
    """PyTorch's, or a stand-in with its variables."""

    def words(self, ranks, *options):
        program = [sys.executable, STAND_IN] if self.why_no_torchrun() else [shutil.which("torchrun")]
        return [*program, "--standalone", "--no-python", "--nproc-per-node", str(ranks), *options, "--"]

    def test_twice(self):
        """The same names again: nothing is replaced, and each run is one."""
        self.run_words(*self.words(2), *self.tracked("sleep", "0.3"))
        self.the_job(ranks=2, launcher="torchrun")
        self.run_words(*self.words(2), *self.tracked("true"))
        self.assertEqual([(job["ranks"], job["missing"]) for job in self.job()["jobs"]], [(2, 0), (2, 0)])

    def test_as_the_command(self):
        job = self.as_the_command(*self.words(3))["job"]
        self.assertEqual((job["launcher"], job["ranks"], job["ranks_of"], job["rank"], job["world_size"]), ("torchrun", "0-2", "descendants", None, 3))
        text = self.run_words(command.COMMAND, "job", ".").stdout
        self.assertIn("(torchrun): 1 session of ranks 0-2 on 1 machine, ", text)
        self.assertIn(" in the largest session\n", text)

    def test_all_are_started_again(self):
        """One rank fails once, when the others run: torchrun ends them."""
        first = 'touch here.$RANK; [ $RANK = 1 ] || exec sleep 60; until [ -e here.0 ] && [ -e here.2 ]; do sleep 0.05; done; exit 3'
        self.run_words(*self.words(3, "--max-restarts", "1"), *self.tracked("sh", "-c", f"[ $TORCHELASTIC_RESTART_COUNT = 1 ] || {{ {first}; }}"))
        read = self.job()
        self.assertEqual([(job["ranks"], job["missing"], job["failed"]) for job in read["jobs"]], [(3, 0, 3), (3, 0, 0)], read)
        self.assertEqual(sorted((rank["job"], rank["rank"], rank["restarts"]) for rank in read["ranks"]), [(run, rank, run) for run in (0, 1) for rank in (0, 1, 2)])
        self.assertEqual([rank["exit_status"] for rank in read["ranks"] if rank["rank"] == 1], [3, 0])
        text = self.run_words(command.COMMAND, "job", ".").stdout
        self.assertRegex(text, r"(?m)^Job \S+, run 2 \(torchrun\), after 1 restart: 3 ranks on 1 machine, ")
        self.assertRegex(text, r"(?m)^  - 3 of 3 ranks failed, rank 1 on \S+ first\. All were started again: the next run\.$")


class Others(Launched):
    def test_gnu_parallel(self):
        if not shutil.which("parallel") or "GNU" not in subprocess.run(["parallel", "--version"], capture_output=True, text=True).stdout:
            self.skipTest("GNU parallel is not installed (Debian: parallel)")
        self.run_words("parallel", "--will-cite", "-j", "2", *self.tracked("sleep", options=("-o", "r.%q{PARALLEL_SEQ}.json")), ":::", "0.1", "0.2", "0.1")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["r.1.json", "r.2.json", "r.3.json"])
        self.assertEqual(self.job()["jobs"][0]["ranks"], 3)
        self.run_words("parallel", "--will-cite", *self.tracked("true", options=("-o", "again.%q{PARALLEL_SEQ}.json")), "#", ":::", "a")
        self.assertEqual(sorted(job["ranks"] for job in self.job()["jobs"]), [1, 3])

    def test_gnu_parallel_twice_in_one_job(self):
        if not shutil.which("parallel") or "GNU" not in subprocess.run(["parallel", "--version"], capture_output=True, text=True).stdout:
            self.skipTest("GNU parallel is not installed (Debian: parallel)")
        self.environment["SLURM_JOB_ID"] = "47"
        for tasks in 2, 3:
            self.run_words("parallel", "--will-cite", *self.tracked("true"), "#", ":::", *range(tasks))
        self.assertEqual([(job["name"], job["ranks"]) for job in self.job()["jobs"]], [("47", 2), ("47, run 2", 3)])

    def test_snakemake(self):
        """As docs/jobs.md has it: a step that fails keeps its report, which would be removed as an output."""
        if not shutil.which("snakemake"):
            self.skipTest("Snakemake is not installed (Debian and PyPI: snakemake)")
        (self.folder / "Snakefile").write_text(
            f'rule all:\n    input: "1", "2"\nrule step:\n    output: "{{i}}"\n    log: usage="log/{{i}}.usage.json"\n'
            f'    shell: "{command.COMMAND} run -q -o {{log.usage}} -- test {{wildcards.i}} = 1 > {{output}}"\n')  # fmt: skip
        self.run_words("snakemake", "-c", "2", "-k", status=1, patience=5 * command.PATIENCE)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if not path.name.startswith(".")), ["1", "Snakefile", "log"])
        ranks = self.job()["ranks"]
        self.assertEqual(sorted((rank["path"], rank["exit_status"]) for rank in ranks), [("./log/1.usage.json", 0), ("./log/2.usage.json", 1)])

    def test_ray(self):
        """Ray starts each worker by the py_executable of a runtime environment."""
        if command.refusal(sys.executable, "-c", "import ray"):
            self.skipTest("Ray is not installed (PyPI: ray)")
        executable = " ".join([*self.tracked(options=("--tf", f"{self.folder}/worker.%p.csv")), sys.executable])
        code = ("import pathlib, ray, sys, time; folder = pathlib.Path(sys.argv[2])\n"
                "ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={'py_executable': sys.argv[1]})\n"
                "print('started')\nprint(sum(ray.get([ray.remote(lambda: 21).remote() for _ in range(2)])))\n"
                "while not all(path.read_bytes().count(b'\\n') > 10 for path in folder.glob('*.csv')): time.sleep(0.1)\n"
                "ray.shutdown()")  # fmt: skip
        done = subprocess.run([sys.executable, "-c", code, executable, self.folder], env=self.environment, capture_output=True, text=True, timeout=5 * command.PATIENCE)
        if done.returncode and "started" not in done.stdout:
            self.skipTest(f"Ray does not start here: {done.stderr.strip().splitlines()[-1:]}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split()[-1], "42")
        read = self.job()  # on a busy machine Ray kills workers with their trackers: samples stay
        self.assertEqual({rank["launcher"] for rank in read["ranks"]}, {"Ray"})
        self.assertTrue(any(rank["samples"] > 5 and rank["max_ram_bytes"] > 1e6 for rank in read["ranks"]), read)  # spare ones may have just begun

    def test_spark(self):
        """Spark starts each executor by the java of its JAVA_HOME: two workers, and a wrapper."""
        java = shutil.which("java")
        if not java or command.refusal(sys.executable, "-c", "import pyspark"):
            self.skipTest("Spark is not installed (PyPI: pyspark, and Java)")
        wrapper = self.folder / "home" / "bin" / "java"
        wrapper.parent.mkdir(parents=True)
        tracked = self.tracked(os.path.realpath(java), options=("-o", f"{self.folder}/executor.%p.json"))
        wrapper.write_text(f'#!/bin/sh\nexec {" ".join(tracked)} "$@"\n')
        wrapper.chmod(0o755)
        code = ("import sys; from pyspark.sql import SparkSession; "
                "spark = SparkSession.builder.master('local-cluster[2,1,1024]').config('spark.ui.enabled', 'false')"
                ".config('spark.driver.host', 'localhost').config('spark.executorEnv.JAVA_HOME', sys.argv[1]).getOrCreate(); "
                "print(spark.range(1000).count()); spark.stop()")  # fmt: skip
        self.environment["PYSPARK_PYTHON"] = sys.executable
        done = self.run_words(sys.executable, "-c", code, self.folder / "home", patience=5 * command.PATIENCE)  # three JVMs start
        self.assertEqual(done.stdout.split()[-1], "1000")
        command.wait_until(lambda: sum(path.stat().st_size > 0 for path in self.folder.glob("executor.*.json")) == 2, "reports of the executors")
        read = self.job()
        self.assertEqual([(job["ranks"], job["failed"]) for job in read["jobs"]], [(2, 0)])
        self.assertEqual({(rank["launcher"], rank["stopped_by"]) for rank in read["ranks"]}, {("Spark", "Spark")})
        self.assertTrue(all(rank["max_ram_bytes"] > 50e6 for rank in read["ranks"]), read)

    def test_dask(self):
        if command.refusal(sys.executable, "-c", "import distributed"):
            self.skipTest("Dask is not installed (PyPI: distributed)")
        self.environment["PYTHONPATH"] = str(command.BUILD / "python")
        self.run_words(sys.executable, command.SOURCE / "examples" / "dask-workers.py", "workers")
        read = self.job()
        self.assertEqual(sorted((rank["path"], rank["rank"]) for rank in read["ranks"]), [(f"./workers/worker.r{rank}.csv", rank) for rank in (0, 1)])
        self.assertEqual((read["jobs"][0]["unfinished"], read["jobs"][0]["ranks"]), (0, 2))
        self.assertIn("tracking ended", self.run_words(command.COMMAND, "job", ".").stdout)


@unittest.skipIf(NO_HOSTS, f"There can be no two hosts here: {NO_HOSTS}")
class TwoHosts(WithMpi):
    """In a folder that is not below /tmp, which each host has for itself."""

    folder_of_folders = command.BUILD

    def setUp(self):
        super().setUp()
        self.hosts = two_hosts.Hosts(self.folder)
        self.addCleanup(self.hosts.end)

    def two_machines(self, launcher):
        read = self.the_job(ranks=4, launcher=launcher, machines=2)
        self.assertEqual([(machine["machine"], machine["ranks"]) for machine in read["machines"]], [("h1", 2), ("h2", 2)])
        self.check_readers(read)

    def test_open_mpi(self):
        mpirun = self.openmpi()
        agent = "--host", "h1:2,h2:2", "--mca", "plm_rsh_agent", self.hosts.agent, "--mca", "oob_tcp_if_include", "one", "--map-by", "ppr:2:node:OVERSUBSCRIBE"
        self.run_words(*self.hosts.on("h1"), *mpirun, *agent, "-np", "4", *self.tracked("sleep", "0.3"))
        self.two_machines("Open MPI")

    def test_mpich(self):
        agent = "-launcher", "rsh", "-launcher-exec", self.hosts.agent, "-hosts", "h1:2,h2:2", "-iface", "one"
        self.run_words(*self.hosts.on("h1"), *self.mpich(), *agent, "-np", "4", *self.tracked("sleep", "0.3"))
        self.two_machines("MPICH")

    def test_torchrun(self):
        if self.why_no_torchrun():
            self.skipTest(self.why_no_torchrun())
        torchrun = shutil.which("torchrun")
        if pathlib.Path(torchrun).is_relative_to("/tmp"):
            self.skipTest("torchrun is in /tmp, which each host has for itself")
        nodes = []
        for number, name in enumerate(two_hosts.NAMES):
            words = [*self.hosts.on(name), torchrun, "--nnodes=2", f"--node-rank={number}", f"--master-addr={two_hosts.ADDRESSES[0]}",
                     "--master-port=29400", "--no-python", "--nproc-per-node=2", "--", *self.tracked("sleep", "0.3")]  # fmt: skip
            nodes.append(subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        said = [node.communicate(timeout=command.PATIENCE)[1] for node in nodes]
        self.assertEqual([node.returncode for node in nodes], [0, 0], said)
        self.two_machines("torchrun")


@unittest.skipIf(NO_SLURM, f"Slurm cannot run here: {NO_SLURM}")
class Slurm(Launched):
    """In a folder that is not below /tmp, which each node has for itself."""

    folder_of_folders = command.BUILD

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(dir=command.BUILD)
        cls.addClassCleanup(cls.place.cleanup)
        cls.cluster = slurm_cluster.Cluster(cls.place.name)
        cls.addClassCleanup(cls.cluster.end)

    def setUp(self):
        super().setUp()
        self.environment = self.cluster.environment

    def test_srun(self):
        self.run_words("srun", "-N4", "-n8", *self.tracked("sleep", "0.3"))
        read = self.the_job(ranks=8, launcher="Slurm", machines=4)
        self.assertEqual(sorted({machine["machine"] for machine in read["machines"]}), list(slurm_cluster.NODES))
        self.assertEqual([machine["ranks"] for machine in read["machines"]], [2, 2, 2, 2])
        self.check_readers(read)

    def test_srun_with_a_spool(self):
        self.run_words("srun", "-N2", "-n2", *self.tracked("sleep", "0.1", options=("--spool", "/tmp", "-o", "r.json", "--tf", "s.csv")))
        self.the_job(ranks=2, launcher="Slurm", machines=2)
        self.assertEqual([path for path in self.folder.iterdir() if "spooled" in path.name], [])

    def test_srun_with_pmix(self):
        if "pmix" not in self.cluster.run("srun", "--mpi=list").stderr + self.cluster.run("srun", "--mpi=list").stdout:
            self.skipTest("this Slurm has no PMIx")
        done = subprocess.run(
            ["srun", "--mpi=pmix", "-N2", "-n2", *self.tracked("sleep", "0.2")],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=command.PATIENCE)  # fmt: skip
        if done.returncode and "pmix" in done.stderr.lower():
            self.skipTest(f"PMIx does not work here: {done.stderr[:200]}")
        self.assertEqual(done.returncode, 0, done.stderr)
        read = self.job()
        self.assertEqual((read["jobs"][0]["ranks"], read["jobs"][0]["machines"]), (2, 2))

    def test_srun_with_pmi2(self):
        """It has the variables of MPICH's mpirun, without the local rank: the two of a node have `%l`."""
        self.run_words("srun", "--mpi=pmi2", "-N2", "-n4", *self.tracked("sleep", "0.2", options=("-o", "r.%l.%q{SLURM_PROCID}.json")))
        self.the_job(ranks=4, launcher="Slurm", machines=2)
        found = [json.loads(path.read_text())["job"]["local_rank"] for path in self.folder.glob("r.[01].?.json")]
        self.assertEqual(sorted(found), [0, 0, 1, 1])

    def batch(self, *options, script):
        path = self.folder / "job.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        return self.run_words("sbatch", "--wait", "--parsable", "-o", "/dev/null", "-D", self.folder, *options, path).stdout.strip()

    def shell(self, *words, **options):
        return " ".join(f"'{word}'" for word in self.tracked(*words, **options))

    def test_sbatch_with_two_steps(self):
        number = self.batch("-N2", "-n4", script="srun " + self.shell("true") + "\nsrun -n2 -N1 " + self.shell("sleep", "0.2"))
        self.assertEqual([(job["name"], job["ranks"]) for job in self.job()["jobs"]], [(f"{number}.0", 4), (f"{number}.1", 2)])

    def test_a_batch_script_with_steps_and_a_pause(self):
        """They are one allocation: with its name, its user, its limits, and the pause in which nothing ran."""
        busy = "import time\nend = time.time() + 4\nwhile time.time() < end: pass"
        script = "\n".join((
            self.shell(sys.executable, "-c", busy, options=("-o", "prepare.json")), "sleep 2",
            "srun " + self.shell(sys.executable, "-c", busy, options=("-o", "train.json")),
            "srun " + self.shell("sleep", "4", options=("-o", "test.json"))))  # fmt: skip
        number = self.batch("-n1", "-c1", "-t5", "--mem=400M", "-Jtrain.sh", script=script)
        read = self.job()
        (total,) = read["allocations"]
        self.assertEqual((total["job_id"], total["job_name"], total["jobs"], total["sessions"], total["machines"]), (number, "train.sh", 3, 3, 1))
        self.assertEqual((total["allowed_ram_bytes"], total["cores"]), (400 * 2**20, 1))
        self.assertIn(total["time_limit_seconds"], (None, 300))  # Slurm says it from 23.02 on
        self.assertGreaterEqual(total["idle_seconds"], 2)
        self.assertAlmostEqual(total["idle_seconds"] + total["run_seconds"], total["seconds"], places=3)
        self.assertEqual({rank["is_straggler"] for rank in read["ranks"]}, {0})
        self.assertEqual(total["ask"].split()[0], "--mem=256M")

    def test_an_array(self):
        number = self.batch("-n1", "-a", "1-3", script="srun " + self.shell("true", options=("-o", "r.%j.json")))
        read = self.job()
        self.assertEqual([(job["name"], job["ranks"]) for job in read["jobs"]], [(f"{number} (array)", 3)])
        self.assertEqual(sorted(rank["rank"] for rank in read["ranks"]), [1, 2, 3])

    def test_a_het_job(self):
        script = "srun --het-group=0,1 " + self.shell("sleep", "0.2")
        self.batch("-n1", "-N1", ":", "-n2", "-N1", script=script)
        ranks = [rank["rank"] for rank in self.job()["ranks"]]
        self.assertEqual(sorted(ranks), [0, 1, 2])

    def test_scancel(self):
        path = self.folder / "job.sh"
        path.write_text("#!/bin/sh\nsrun " + self.shell("sleep", "60") + "\n")
        number = self.run_words("sbatch", "--parsable", "-N2", "-n2", "-o", "/dev/null", "-D", self.folder, path).stdout.strip()
        command.wait_until(lambda: len(list(self.folder.glob("s.r*.csv.session.json"))) == 2, "both ranks")
        self.run_words("scancel", number)
        command.wait_until(lambda: len([path for path in self.folder.glob("r.r*.json") if path.stat().st_size]) == 2, "both reports")
        read = self.job()
        self.assertEqual({rank["signal"] for rank in read["ranks"]}, {15})
        self.assertEqual(read["jobs"][0]["failed"], 2)


if __name__ == "__main__":
    command.main()
