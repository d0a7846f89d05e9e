"""make install: what README and docs say of it, used from a folder that only it wrote to; make uninstall leaves nothing."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from command import BUILD, PATIENCE, SANITIZED, SOURCE, CommandTest, main

TOOLS = [tool for tool in ("make", "meson", "ninja", "cc", "pkg-config") if not shutil.which(tool)]


def configured(name):
    """The prefix or libdir of the build folder."""
    text = (BUILD / "meson-private" / "gputracker.pc").read_text()
    return re.search(rf"(?m)^{name}=(?:\$\{{prefix\}}/)?(.*)$", text)[1]


@unittest.skipIf(TOOLS, f"not installed: {' '.join(TOOLS)}")
@unittest.skipIf(SANITIZED, "programs with sanitizers are not installed")
class Install(CommandTest):
    def setUp(self):
        """Installs from a folder of links to the built files, so that the log of a user's own `make install` stays."""
        super().setUp()
        build, self.root = self.folder / "build", self.folder / "root"
        build.mkdir()
        for path in BUILD.iterdir():
            if path.name not in ("meson-logs", "meson-private"):
                (build / path.name).symlink_to(path)
        (build / "meson-logs").mkdir()
        shutil.copytree(BUILD / "meson-private", build / "meson-private")
        self.prefix = self.root / configured("prefix").lstrip("/")
        self.libraries = self.prefix / configured("libdir")
        self.make = ["make", "-s", "-C", SOURCE, "-o", "all", f"BUILD={build}", f"PREFIX={configured('prefix')}", f"LIBDIR={configured('libdir')}"]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("GPUT_", "PYTHON"))} | {
            "DESTDIR": str(self.root), "PATH": f"{self.prefix / 'bin'}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(self.libraries),
            "PKG_CONFIG_LIBDIR": f"{self.libraries / 'pkgconfig'}:{self.packages_of_the_system()}", "PKG_CONFIG_SYSROOT_DIR": str(self.root)}
        self.shell(*self.make, "install")

    def packages_of_the_system(self):
        done = subprocess.run(["pkg-config", "--variable=pc_path", "pkg-config"], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def shell(self, *words):
        done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def test_the_command_runs(self):
        self.assertEqual(shutil.which("gpu-tracker", path=self.environment["PATH"]), str(self.prefix / "bin" / "gpu-tracker"))
        self.assertIn("exit status 0", self.shell("gpu-tracker", "run", "--", "true"))

    def record_calls_of_python(self):
        (self.folder / "program.py").write_text("import json\nfor _ in range(3):\n    json.dumps([1])\n")
        self.shell("gpu-tracker", "run", "-o", "usage.json", "--tf", "run.csv", "--regions=python:json.dumps", "--", "python3", "program.py")

    def test_the_command_records_calls_of_python(self):
        self.record_calls_of_python()
        analysis = self.shell("gpu-tracker", "sub-track", "analyze", "--tf", "run.csv", "--stf", "run-regions.gputblocks")
        self.assertRegex(analysis, r"Name: +python:json/dumps\n(.*\n){1,2}\tNum Calls: +3\n")

    def test_man_page_and_completions_are_there(self):
        for name in "man/man1/gpu-tracker.1", "bash-completion/completions/gpu-tracker.bash", "zsh/site-functions/_gpu-tracker", \
                "fish/vendor_completions.d/gpu-tracker.fish":
            self.assertTrue("sub-track" in (self.prefix / "share" / name).read_text().replace("\\-", "-"), name)

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_man_finds_the_page(self):
        self.environment["MANPATH"] = str(self.prefix / "share" / "man")
        self.assertEqual(self.shell("man", "-w", "gpu-tracker").strip(), str(self.prefix / "share/man/man1/gpu-tracker.1"))

    def test_c_programs_are_built_and_run(self):
        source = str(SOURCE / "examples" / "track-block.c")
        flags = self.shell("pkg-config", "--cflags", "--libs", "gputracker").split()
        self.shell("cc", source, *flags, "-pthread", "-o", "shared")
        self.assertIn(str(self.libraries / "libgputracker.so.1"), self.shell("ldd", "./shared"))
        self.shell("./shared")
        self.shell("cc", source, *flags[:-1], "-l:libgputracker.a", "-ljansson", "-lz", "-lm", "-pthread", "-o", "static")
        self.assertNotIn("libgputracker", self.shell("ldd", "./static"))
        self.shell("./static")

    @unittest.skipUnless(pathlib.Path("/etc/debian_version").exists(), "not a Debian")
    def test_libraries_are_where_debian_looks(self):
        if configured("prefix") != "/usr/local":
            self.skipTest("the build folder is not for /usr/local")
        folder = f"/usr/local/{configured('libdir')}"
        self.assertIn(f"{folder}/pkgconfig", self.packages_of_the_system().split(":"))
        self.assertIn(folder, "\n".join(path.read_text() for path in pathlib.Path("/etc/ld.so.conf.d").iterdir()).splitlines())

    def test_uninstall_leaves_nothing(self):
        self.record_calls_of_python()  # whose Python writes next to the hook
        self.shell(*self.make, "install")
        self.shell(*self.make, "uninstall")
        self.assertEqual([path for path in self.root.rglob("*") if not path.is_dir() or "tracker" in path.name], [])
        self.shell(*self.make, "install")
        shutil.rmtree(self.root)
        self.shell(*self.make, "install")
        self.shell(*self.make, "uninstall")
        self.assertFalse(self.root.exists())


if __name__ == "__main__":
    main()
