"""Two hosts on this machine: namespaces of network, names and mounts, joined by a pair of virtual interfaces."""

import os
import pathlib
import shutil
import subprocess

import command

NAMES = "h1", "h2"
ADDRESSES = "10.77.0.1", "10.77.0.2"


def why_not():
    """Why there can be none, or ''."""
    if not shutil.which("ip"):
        return "ip is not installed (Debian: iproute2)"
    if pathlib.Path(command.BUILD).resolve().is_relative_to("/tmp"):
        return "the build is in /tmp, which each host has for itself"
    if not pathlib.Path("/etc/hosts").exists():
        return "there is no /etc/hosts in whose place others could be"
    return command.refusal("unshare", "--mount", "--uts", "--net", "sh", "-c", "hostname x && mount -t tmpfs none /mnt && ip link add name one type veth peer name two")


class Hosts:
    """Ended by end(). Each has its own /tmp and /dev/shm, and knows both names; `folder` is shared."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        hosts = self.folder / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for address, name in zip(ADDRESSES, NAMES)))
        self.holders = []
        try:
            self.join(hosts)
        except BaseException:
            self.end()
            raise

    def join(self, hosts):
        for name in NAMES:
            self.start(name, hosts)
        self.pids = {name: holder.pid for name, holder in zip(NAMES, self.holders)}
        first, second = self.holders
        self.ip("link", "add", "one", "netns", str(first.pid), "type", "veth", "peer", "name", "one", "netns", str(second.pid))
        for name, address in zip(NAMES, ADDRESSES):
            for words in ("addr", "add", f"{address}/24", "dev", "one"), ("link", "set", "one", "up"), ("link", "set", "lo", "up"):
                subprocess.run([*self.on(name), "ip", *words], check=True)
        self.agent = self.folder / "agent"
        self.agent.write_text("#!/bin/sh\n" + "".join(
            f'[ "$1" = {name} ] && shift && exec {" ".join(self.on(name))} sh -c "$*"\n' for name in NAMES) + 'echo "no host $1" >&2; exit 1\n')
        self.agent.chmod(0o755)

    def start(self, name, hosts):
        """Holds the namespaces as long as it lives."""
        inside = f"hostname {name} && mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm && mount --bind {hosts} /etc/hosts && echo ready && exec sleep infinity"
        holder = subprocess.Popen(["unshare", "--mount", "--uts", "--net", "sh", "-c", inside], stdout=subprocess.PIPE, text=True)
        self.holders.append(holder)
        if holder.stdout.readline() != "ready\n":
            raise AssertionError(f"{name} did not start")

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    def on(self, name):
        """What to put before a command for it to run there, in the folder where it is called."""
        return ["nsenter", "-t", str(self.pids[name]), "--mount", "--uts", "--net", f"--wd={os.fspath(self.folder)}"]

    def end(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()
            holder.stdout.close()
