"""Every link of a page leads to a file, and to a heading of it; what the pages for newcomers name is there; the site is made of the
same pages."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages():
    listed = [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md"), *(SOURCE / "bench").glob("*.md"), *(SOURCE / "tests").glob("*/README.md"), SOURCE / "packaging" / "README.md"]
    return sorted(listed)


def links(page):
    return LINK.findall(CODE.sub("", page.read_text()))


def headings(page):
    """The anchors that code hosts make of them."""
    found = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", page.read_text()))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text) for text in found)
    return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") for text in plain}


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        count = 0
        for page in pages():
            for link in links(page):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                with self.subTest(page=page.name, link=link):
                    self.assertTrue(target.exists())
                    if anchor and target.suffix == ".md":
                        self.assertIn(anchor, headings(target))
                count += 1
        self.assertGreater(count, 100)


def sources():
    for folder in ("bench", "cli", "collectors", "completions", "docs", "examples", "include", "man", "packaging", "python", "src", "tests", "tools", "web"):
        for path in (SOURCE / folder).rglob("*"):
            if "node_modules" not in path.parts:
                yield path
    yield from SOURCE.iterdir()


# What stands for any name, and what is the system's.
PLACEHOLDER = re.compile(r"NAME|NOUN|THINGS|noun_|_noun|_name\b|gput_x|^x_|^[./]|^build")


class Names(unittest.TestCase):
    def test_files_folders_and_functions_that_pages_for_newcomers_name_are_there(self):
        """A name is a file with or without its ending, a folder, a test, or a word of some source; `*` stands for anything."""
        paths = list(sources())
        names = {name for path in paths for name in (path.name, path.stem)}
        inner = "\n".join(f"/{path.relative_to(SOURCE)}/" for path in paths)
        words = {word for path in paths if path.suffix in {".c", ".h", ".py"} for word in re.findall(r"\w+", path.read_text())}
        builds = [path for path in paths if path.name in {"meson.build", "Makefile"}]
        words |= {word for path in builds for word in re.findall(r"[\w/]+", path.read_text())}
        for page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
            code = re.findall(r"`([^`\n]+)`", (SOURCE / page).read_text())
            named = {word for text in code if not text.startswith("gpu-tracker") for word in re.findall(r"[\w./*-]*[_/.][\w./*-]*", text)}
            for name in named:
                if PLACEHOLDER.search(name):
                    continue
                with self.subTest(page=page, name=name):
                    pattern = re.escape("/" + name.rstrip("./")).replace("/", "/(?:test_)?").replace(r"\*", "[^/]*")
                    found = name in names or name in words or re.search(pattern + r"(\.\w+)?/", inner)
                    self.assertTrue(found, f"{page} names {name}")
            self.assertGreater(len(code), 100)


class Site(unittest.TestCase):
    def test_every_page_is_made_and_in_the_menu(self):
        menu = set(re.findall(r"(?m)^ +- [^:]+: (\S+\.md)$", (SOURCE / "mkdocs.yml").read_text()))
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, SOURCE / "tools/make-site.py", folder], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            made = {str(path.relative_to(f"{folder}/pages")) for path in pathlib.Path(folder).rglob("*.md")}
            site = (pathlib.Path(folder) / "mkdocs.yml").read_text()
            session = (pathlib.Path(folder) / "pages/api/session.md").read_text()
            terms = re.findall(r"(?m)^\| ([^|]+) \|", (pathlib.Path(folder) / "pages/glossary.md").read_text())
        self.assertEqual(menu - made, set())
        for page in made:
            if not page.startswith("api/"):
                self.assertRegex(site, rf"(?m)^ +- [^:]+: {re.escape(page)}$")
        headers = {path.stem for path in (SOURCE / "include/gputracker").glob("*.h")}
        self.assertEqual({pathlib.PurePath(page).stem for page in made if page.startswith("api/")}, headers | {"index"})
        self.assertRegex(session, r"(?m)^## gput_session_create\n\nChecks the options")
        own = [term for term in terms if term not in ("term", "---")]
        self.assertEqual(len(set(own)), len(own))
        self.assertLess(own.index("tracking file"), own.index("ledger"))


if __name__ == "__main__":
    tap.main()
