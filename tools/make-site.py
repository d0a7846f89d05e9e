#!/usr/bin/env python3
"""Makes the pages of the documentation site from docs/, the README and the public headers: make-site.py FOLDER

FOLDER/pages and FOLDER/mkdocs.yml are for mkdocs. Links that leave docs/ lead to the page made of that file, or to a copy of it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Files outside docs/ that become pages.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "bench/RESULTS.md": "bench-results.md",
    "bench/README.md": "bench-how.md",
    "tests/fake-nvml/README.md": "fake-nvml.md",
    "packaging/README.md": "packaging.md",
    "LICENSE": "LICENSE",
}
LINK = re.compile(r"(!?\[)([^\]]*)(\]\()([^)#\s]*)((?:#[^)\s]*)?\))")
NAME = re.compile(r"\b(?:GPUT_\w+|gput_\w+\*?(?:\(\))?)")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def place_of(source):
    """Where a file of the project is in the site, from its root."""
    if source in PAGES:
        return PAGES[source]
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    if source.startswith("include/gputracker/") and source.endswith(".h"):
        return f"api/{pathlib.PurePath(source).stem}.md"
    return f"files/{source}"


def titles():
    """What the menu calls each page."""
    return {page: title for title, page in re.findall(r"(?m)^ +- ([^:]+): (\S+\.md)$", (ROOT / "mkdocs.yml").read_text())}


def with_links(text, source, copied):
    """The page with its relative links as they are in the site, where a page has a title and not the name of a file. Files that
    are not pages are added to `copied`."""
    title_of = titles()

    def relink(found):
        before, words, middle, target, after = found.groups()
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        path = os.path.normpath(os.path.join(os.path.dirname(source), target))
        if not (ROOT / path).exists():
            sys.exit(f"{source} links to {target}, which is not there.")
        place = place_of(path)
        if place.startswith("files/") or place == "LICENSE":
            copied[path] = place
        here = os.path.dirname(place_of(source))
        if words.strip("`").endswith(".md"):
            words = title_of.get(place, words)
        return before + words + middle + os.path.relpath(place, here or ".") + after

    parts = CODE.split(text)
    return "".join(part if number % 2 else LINK.sub(relink, part) for number, part in enumerate(parts))


def prose(comment):
    """The text of a C comment; what is indented in it is code."""
    lines = [re.sub(r"^ ?\* ?", "", line.rstrip()) for line in re.sub(r"^/\*\*?|\*/$", "", comment.strip()).split("\n")]
    # Code is every second part: it stays as it is.
    parts = re.split(r"((?m:^    .*$)|`[^`]*`)", "\n".join(lines).strip())
    return "".join(part if number % 2 else NAME.sub(r"`\g<0>`", part.replace("<", "&lt;")) for number, part in enumerate(parts))


def api_page(header):
    """The documentation of a public header: its comment, and each declaration below its own."""
    text = header.read_text()
    body = re.sub(r"(?m)^#(ifndef|define) \w+_H$|^#ifdef __cplusplus\n.*\n#endif$|^#endif$", "", text)
    comments = re.match(r"\s*(/\*.*?\*/)", body, re.DOTALL)
    page = [f"# gputracker/{header.name}", ""]
    if comments:
        page += [prose(comments[1]), ""]
        body = body[comments.end() :]
    body = re.sub(r"(?m)^#include .*\n", "", body)
    # A declaration: its comment, and what follows up to the next one that begins in the first column.
    for block in re.split(r"(?m)^(?=/\*\*)", body):
        found = re.match(r"(/\*\*.*?\*/)\n?(.*)", block, re.DOTALL)
        comment, code = (found[1], found[2]) if found else ("", block)
        code = re.sub(r"\n{3,}", "\n\n", code).strip()
        if not code and not comment:
            continue
        name = re.search(r"\b((?:enum|struct) gput_\w+)(?= \{)|\b(gput_\w+)(?=\()|#define (GPUT_\w+)", code)
        if name:
            page += [f"## {next(filter(None, name.groups()))}", ""]
        if comment:
            page += [prose(comment), ""]
        if code:
            page += ["```c", code, "```", ""]
    return "\n".join(page)


def summary(header):
    """The first sentence of its comment."""
    text = re.match(r"\s*/\*\s*\*?\s*(.*?)\*/", header.read_text(), re.DOTALL)
    line = " ".join(re.sub(r"(?m)^ \* ?", "", text[1]).split()) if text else ""
    return NAME.sub(r"`\g<0>`", re.split(r"(?<=\.)\s", line)[0].rstrip(".").replace("|", "\\|"))


def glossary():
    """First what users read, then what the source adds to it."""

    def rows(source, title):
        return re.search(rf"## {title}\n\n(\|.*?\n)\n", (ROOT / source).read_text(), re.DOTALL)[1].splitlines()

    head, line, *read = rows("docs/figures.md", "Terms")
    terms = {row.split("|")[1] for row in read}
    more = [row for row in rows("ARCHITECTURE.md", "Glossary")[2:] if row.split("|")[1] not in terms]
    return "\n".join(["# Glossary", "", "## In reports and files", "", head, line, *read, "",
                      "## In the API and the source", "", head, line, *more, ""])


def gallery():
    lines = ["# Gallery", ""]
    for title, page, kind, about in (
        ("Reports", "report.md", "png", "HTML files: `gpu-tracker report` and `--report`"),
        ("Plots", "plots.md", "svg", "Pictures for papers: `gpu-tracker plot`"),
    ):
        captions = re.findall(rf"\[([^\]]*)\]\(screenshots/([\w-]+\.{kind})\)", (ROOT / "docs" / page).read_text())
        shown = {name: caption[0].upper() + caption[1:] for caption, name in captions}
        lines += [f"## {title}", "", f"{about} ([{titles()[page]}]({page})).", ""]
        for picture in sorted((ROOT / "docs" / "screenshots").glob(f"*.{kind}")):
            caption = shown.get(picture.name) or picture.stem.replace("-", " ").capitalize()
            lines += [f"### {caption}", "", f"![{caption}](screenshots/{picture.name})", ""]
    return "\n".join(lines)


def repository():
    """The link to the repository, where this copy came from one that browsers open."""
    if not shutil.which("git"):
        return ""
    done = subprocess.run(["git", "-C", ROOT, "remote", "get-url", "origin"], capture_output=True, text=True)
    url = done.stdout.strip().removesuffix(".git")
    return f"repo_url: {url}\n" if url.startswith("https://") else ""


def menu(pages):
    """mkdocs.yml for the folder, with the pages that it does not name under Details."""
    text = (ROOT / "mkdocs.yml").read_text()
    named = titles()
    more = []
    for page in sorted(pages.rglob("*.md")):
        name = str(page.relative_to(pages))
        if name not in named and not name.startswith(("api/", "files/")):
            more.append(f"      - {page.read_text().splitlines()[0].lstrip('# ')!r}: {name}")
    return f"docs_dir: pages\nsite_dir: site\n{repository()}" + text.replace("      # more", "\n".join(more))


def main():
    pages = pathlib.Path(sys.argv[1]) / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages)
    (pages / "api").mkdir()
    copied = {}
    sources = [path for path in PAGES if path.endswith(".md")]
    sources += [str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")]
    for source in sources:
        (pages / place_of(source)).write_text(with_links((ROOT / source).read_text(), source, copied))
    headers = sorted((ROOT / "include" / "gputracker").glob("*.h"))
    for header in headers:
        (pages / "api" / f"{header.stem}.md").write_text(api_page(header))
    index = "".join(f"| [gputracker/{header.name}]({header.stem}.md) | {summary(header)} |\n" for header in headers)
    (pages / "api" / "index.md").write_text(
        f"# The C API\n\nEach header stands alone; `gputracker/gputracker.h` includes all.\n\n| header | about |\n| --- | --- |\n{index}")
    (pages / "glossary.md").write_text(glossary())
    (pages / "gallery.md").write_text(gallery())
    for source, place in copied.items():
        (pages / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, pages / place)
    (pages.parent / "mkdocs.yml").write_text(menu(pages))


if __name__ == "__main__":
    main()
