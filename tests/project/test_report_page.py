"""Which page of HTML reports tools/embed-report-page.py takes: never one of older sources where it can build another."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
FILES = ["tools/embed-report-page.py", "web/build.mjs", "web/package-lock.json"]


class ReportPage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in FILES:
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy(SOURCE / name, self.root / name)
        shutil.copytree(SOURCE / "web" / "src", self.root / "web" / "src")
        (self.root / "web" / "dist").mkdir()
        self.builds('printf built > "$1"')

    def builds(self, script):
        path = self.root / "tools" / "report-page.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def ready(self, content):
        (self.root / "web" / "dist" / "report.html").write_text(content)

    def embedded(self):
        """The page in the header, and what was said."""
        header = self.root / "report-page.h"
        done = subprocess.run([sys.executable, self.root / FILES[0], header, "--depfile", self.root / "page.d"], check=True,
                              capture_output=True, text=True)
        rows = header.read_text().partition("{")[2].partition("}")[0]
        packed = bytes(int(number) for number in rows.replace("\n", "").split(",") if number.strip())
        return zlib.decompress(packed).decode() if packed != b"\0" else "", done.stderr

    def hash(self):
        spec = f"import sys; sys.path.insert(0, {str(self.root / 'tools')!r}); embed = __import__('embed-report-page'); "
        return subprocess.check_output([sys.executable, "-B", "-c", spec + "print(embed.sources_hash())"], text=True).strip()

    def test_a_page_of_these_sources_is_taken_and_one_of_others_is_built_anew(self):
        self.ready(f'<meta name="gput-sources" content="{self.hash()}">')
        self.assertIn(self.hash(), self.embedded()[0])
        with open(self.root / "web" / "src" / "main.ts", "a") as file:
            file.write("// changed")
        self.assertEqual(self.embedded()[0], "built")
        self.assertIn("main.ts", (self.root / "page.d").read_text())

    def test_where_none_can_be_built_an_older_one_is_taken_with_a_warning(self):
        self.builds("exit 1")
        self.assertEqual(self.embedded()[0], "")
        self.ready("older")
        page, said = self.embedded()
        self.assertEqual(page, "older")
        self.assertIn("other sources", said)

    def test_why_there_is_none_is_said_in_a_line_that_make_shows(self):
        self.builds("echo Node.js is too old >&2; echo more >&2; exit 1")
        self.assertEqual(self.embedded()[1].splitlines()[-1], "HTML reports are not built in: Node.js is too old")
        shutil.copy(SOURCE / "tools/compile.sh", self.root / "tools")
        ninja = self.root / "ninja"
        ninja.write_text(f"#!/bin/sh\necho '[1/1] embed'\n[ $# -gt 2 ] || {sys.executable} {FILES[0]} page.h\n")
        ninja.chmod(0o755)
        done = subprocess.run(["tools/compile.sh", "build"], cwd=self.root, capture_output=True, text=True,
                              env=os.environ | {"PATH": f"{self.root}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stderr), (0, "HTML reports are not built in: Node.js is too old\n"))

    @unittest.skipUnless(shutil.which("node") and (SOURCE / "web" / "node_modules" / "esbuild").exists(), "no page can be built here")
    def test_the_page_has_the_hash_of_its_sources(self):
        page = self.root / "page.html"
        subprocess.run(["node", SOURCE / "web" / "build.mjs", page], check=True)
        self.assertIn(self.hash(), page.read_text())


if __name__ == "__main__":
    tap.main()
