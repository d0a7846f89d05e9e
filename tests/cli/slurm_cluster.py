"""Slurm on this machine alone: four nodes with names of their own, without systemd, munge or control groups."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess

import command

NODES = "n1", "n2", "n3", "n4"
CONFIG = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/%n.log
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
"""


def why_not():
    """Why Slurm cannot run here, or ''."""
    for name in "slurmctld", "slurmd", "srun":
        if not find(name):
            return f"{name} is not installed (Debian: slurmctld, slurmd, slurm-client)"
    if any(pathlib.Path(path).resolve().is_relative_to("/tmp") for path in (command.COMMAND, command.BUILD)):
        return "the build is in /tmp, which each node has for itself"
    if os.geteuid() != 0:
        return "Slurm's daemons need root here"
    return command.refusal("unshare", "--mount", "--uts", "sh", "-c", "hostname x && mount -t tmpfs none /mnt")


def find(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """Ended by end(). `folder` is not below /tmp, which each node has for itself."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "state").mkdir()
        self.config = self.folder / "slurm.conf"
        controller, *ports = free_ports(1 + len(NODES))
        nodes = [
            f"NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=500\n"
            for name, port in zip(NODES, ports)]  # fmt: skip
        head, partition = CONFIG.format(controller=controller, folder=self.folder).split("PartitionName")
        self.config.write_text(head + "".join(nodes) + "PartitionName" + partition)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "OMPI_", "PMI", "PMIX_"))}
        self.environment["SLURM_CONF"] = str(self.config)
        self.daemons = []
        try:
            self.begin()
        except BaseException:
            self.end()
            raise

    def begin(self):
        self.start(find("slurmctld"), "-D", "-c", "-f", self.config)
        for name in NODES:
            (self.folder / f"spool-{name}").mkdir()
            inside = f"hostname {name} && mount -t tmpfs none /tmp && exec {find('slurmd')} -D -N {name} -f {self.config}"
            self.start("unshare", "--mount", "--uts", "sh", "-c", inside)
        command.wait_until(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(len(NODES)), "the nodes")

    def start(self, *words):
        self.daemons.append(subprocess.Popen(
            list(map(str, words)), env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))  # fmt: skip

    def run(self, *words, **options):
        return subprocess.run(
            list(map(str, words)), env=self.environment, capture_output=True, text=True, timeout=command.PATIENCE, **options)  # fmt: skip

    def processes(self):
        """Of its nodes: daemons, and what they start for each step. Their environment names this cluster's file."""
        wanted, found = f"SLURM_CONF={self.config}".encode(), []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:  # it ended
                continue
        return found

    def end(self):
        self.run("scancel", "-u", "root")
        with contextlib.suppress(AssertionError):
            command.wait_until(lambda: not self.run("squeue", "-h").stdout.strip(), "an empty queue")
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for process in self.processes():  # of steps, which outlive their daemon
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        command.wait_until(lambda: not self.processes(), "the end of Slurm's processes")
