"""What operators get in packaging/ is valid, and names rights that gpu-tracker has. tests/cli/test_metrics.py has its metrics."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
PACKAGING = SOURCE / "packaging"
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

DASHBOARD = json.loads((PACKAGING / "grafana/gpu-tracker.json").read_text())
# What Grafana fills in.
VARIABLES = {"$__rate_interval": "1m", "$__range": "1h", "$job": ".*", "$instance": ".*"}


def queries():
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


class Portable(unittest.TestCase):
    """Archives and wheels of `make portable` run with glibc 2.17. CI builds them rarely."""

    # Functions of later versions; a system call stands in for them.
    NEWER = (
        "arc4random close_range closefrom copy_file_range execveat explicit_bzero getentropy getrandom gettid memfd_create "
        "mlock2 pidfd_open pidfd_send_signal preadv2 pwritev2 reallocarray renameat2 statx strlcat strlcpy tgkill"
    ).split()

    def test_no_function_is_called_that_old_glibc_lacks(self):
        called = re.compile(rf"(?<![\w.>])(?:{'|'.join(self.NEWER)})\(")
        found = []
        for folder in "cli", "collectors", "python/native", "src":
            for path in sorted((SOURCE / folder).rglob("*.[ch]")):
                code = re.sub(r"/\*.*?\*/|//[^\n]*", lambda comment: "\n" * comment[0].count("\n"), path.read_text(), flags=re.S)
                for number, line in enumerate(code.splitlines(), 1):
                    if called.search(line):
                        found.append(f"{path.relative_to(SOURCE)}:{number}: {line.strip()}")
        self.assertEqual(found, [])


class Dashboard(unittest.TestCase):
    def test_panels_have_ids_and_places_of_their_own(self):
        panels = DASHBOARD["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        cells = [(x, y) for panel in panels for at in [panel["gridPos"]]
                 for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
        self.assertEqual(len(set(cells)), len(cells))
        self.assertLessEqual(max(x for x, _ in cells), 23)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (Debian package prometheus)")
    def test_prometheus_takes_the_rules_and_every_query(self):
        rules = PACKAGING / "prometheus"
        for words in ("check", "rules", rules / "gpu-tracker.yml"), ("test", "rules", rules / "gpu-tracker.test.yml"):
            done = run("promtool", *map(str, words))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        group = {"name": "dashboard", "rules": []}
        for number, query in enumerate(queries()):
            for variable, value in VARIABLES.items():
                query = query.replace(variable, value)
            group["rules"].append({"record": f"q{number}", "expr": query})
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [group]}, file)  # JSON is YAML
            file.flush()
            done = run("promtool", "check", "rules", file.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


VERSION = re.search(r"version: '([\d.]+)'", (SOURCE / "meson.build").read_text())[1]
# Of each recipe what reads it, without building: a program that may be missing, and its arguments.
RECIPES = {
    "apptainer/gpu-tracker.def": None,
    "arch/PKGBUILD": ["bash", "-n"],
    "conda/meta.yaml": None,
    f"easybuild/gpu-tracker-{VERSION}-GCCcore-13.3.0.eb": ["python3", "-m", "py_compile"],
    "homebrew/gpu-tracker.rb": ["ruby", "-c"],
    f"modules/gpu-tracker/{VERSION}": ["tclsh"],
    "nix/default.nix": ["nix-instantiate", "--parse"],
    "rpm/gpu-tracker.spec": ["rpmspec", "--parse"],
    "spack/package.py": ["python3", "-m", "py_compile"],
}
# What a module file calls.
MODULE = "proc unknown args {}\n"


class Recipes(unittest.TestCase):
    def test_each_is_of_this_version(self):
        for name in RECIPES:
            with self.subTest(recipe=name):
                text = (PACKAGING / name).read_text()
                self.assertTrue(VERSION in text or VERSION in name, name)
                self.assertEqual(set(re.findall(r"\b\d+\.\d+\.\d+(?=\.tar|-linux)", text)) - {VERSION}, set())

    def test_each_can_be_read(self):
        for name, reader in RECIPES.items():
            if not reader or not shutil.which(reader[0]):
                continue
            with self.subTest(recipe=name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / pathlib.Path(name).name
                path.write_text((MODULE if reader == ["tclsh"] else "") + (PACKAGING / name).read_text())
                done = run(*reader, str(path))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_list_of_recipes_has_all(self):
        listed = set(re.findall(r"\]\(([^).][^)]*)\)", (PACKAGING / "README.md").read_text()))
        self.assertEqual({name for name in RECIPES if name not in listed and name.split("/")[0] + "/" not in listed}, set())

    def test_each_lists_what_is_opened_when_it_is_needed(self):
        """Tools that make dependencies find only what is linked."""
        opened = set()
        for path in [*(SOURCE / "src").rglob("*.c"), *(SOURCE / "cli").rglob("*.c")]:
            opened |= set(re.findall(r'"lib([a-z0-9]+)[a-z0-9.-]*\.so\.[0-9]+"', path.read_text()))
        self.assertLessEqual({"sqlite3", "curl", "zstd"}, opened)
        names = {"sqlite3": "sqlite", "curl": "curl", "isal": "isa-?l", "pangocairo": "pango", "pcre2": "pcre2", "snappy": "snappy", "zstd": "zstd"}
        others = {"c", "z", "nvidia"}  # the C library; linked; the driver's
        self.assertEqual(opened - set(names) - others, set(), "a library that is opened when it is needed has no row here")
        for name in ("arch/PKGBUILD", "nix/default.nix", "rpm/gpu-tracker.spec", "homebrew/gpu-tracker.rb", f"easybuild/gpu-tracker-{VERSION}-GCCcore-13.3.0.eb",
                     "spack/package.py", "conda/meta.yaml", "../debian/control", "../docs/install.md"):
            text = (PACKAGING / name).read_text().lower()
            lacks = {library for library in opened & set(names) if not re.search(names[library], text)}
            if name.split("/")[0] in ("spack", "conda"):
                lacks.discard("isal")
            self.assertEqual(lacks, set(), name)

    def test_their_options_are_there(self):
        known = set(re.findall(r"option\('(\w+)'", (SOURCE / "meson_options.txt").read_text())) | {"b_lto", "c_args"}
        for name in RECIPES:
            with self.subTest(recipe=name):
                self.assertEqual(set(re.findall(r"-D([a-z_]+)=", (PACKAGING / name).read_text())) - known, set())


class Rights(unittest.TestCase):
    """The one right beyond a user's that serve needs opens the perf events of energy."""

    capability = "CAP_PERFMON"

    def test_the_unit_has_that_capability_and_no_other(self):
        unit = (PACKAGING / "systemd/gpu-tracker.service").read_text()
        for setting in "AmbientCapabilities", "CapabilityBoundingSet":
            self.assertEqual(re.findall(rf"(?m)^{setting}=(.*)$", unit), [self.capability])

    def test_the_daemon_set_has_that_capability_and_no_other(self):
        text = (PACKAGING / "kubernetes/daemonset.yaml").read_text()
        self.assertEqual(re.findall(r"add: \[(.*)\]", text), [f'"{self.capability.removeprefix("CAP_")}"'])
        self.assertEqual(re.findall(r"drop: \[(.*)\]", text), ['"ALL"'])
        self.assertNotIn("privileged: true", text)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_takes_the_unit(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = (PACKAGING / "systemd/gpu-tracker.service").read_text()
            path = pathlib.Path(folder) / "gpu-tracker.service"
            path.write_text(re.sub("ExecStart=\\S+", "ExecStart=/bin/true", unit).replace("Documentation=man:gpu-tracker(1)\n", ""))
            done = run("systemd-analyze", "verify", str(path))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = run("systemd-analyze", "security", "--offline=true", "--threshold=30", str(path))
            self.assertEqual(done.returncode, 0, done.stdout[-500:] + done.stderr)


class Commands(unittest.TestCase):
    """What unit, image and DaemonSet start is a command that gpu-tracker takes."""

    def test_they_start_serve_with_an_option_it_has(self):
        usage = run(os.environ["GPUT_COMMAND"], "serve", "-h").stdout
        self.assertIn("--listen=", usage)
        for name in "systemd/gpu-tracker.service", "kubernetes/daemonset.yaml", "container/Containerfile":
            text = (PACKAGING / name).read_text()
            started = re.findall(r'(?:CMD \[|args: \[|ExecStart=\S+ )"?(\w+)"?,? "?(--[\w-]+)', text)
            self.assertTrue(started, name)
            self.assertEqual(set(started), {("serve", "--listen")}, name)


if __name__ == "__main__":
    tap.main()
