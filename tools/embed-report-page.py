#!/usr/bin/env python3
"""Writes a C header with the page of HTML reports, compressed: embed-report-page.py HEADER [--required] [--depfile FILE]

The page is web/dist/report.html where that was built from the sources as they are now, as in a released archive; else
tools/report-page.sh builds it, into the folder of the header. Where it cannot (no npm), a page of older sources is taken
with a warning. If that fails too, the header is empty and the command has no reports, unless the page is required.
With --dist alone, as a script of "meson dist", it puts the page into the archive.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
WEB = ROOT / "web"
PAGE = "dist/report.html"
BUILT_FROM = ["build.mjs", "package-lock.json", "src/*"]
ROW = 24


def build_page(target):
    """None, or the first line of why it could not be built; all of them are on the standard error."""
    done = subprocess.run([ROOT / "tools" / "report-page.sh", target.resolve()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    sys.stderr.write(done.stdout)
    return None if done.returncode == 0 else (done.stdout.strip() or f"status {done.returncode}").splitlines()[0]


def sources_hash():
    """As web/build.mjs writes it into the page."""
    digest = hashlib.sha256()
    for name in ["build.mjs", "package-lock.json", *sorted(f"src/{path.name}" for path in WEB.glob("src/*"))]:
        digest.update(name.encode() + b"\0" + (WEB / name).read_bytes())
    return digest.hexdigest()


def find_page(folder):
    """The page, b"" where there is none, and why it could not be built."""
    ready = (WEB / PAGE).read_bytes() if (WEB / PAGE).is_file() else b""
    if f'content="{sources_hash()}"'.encode() in ready:
        return ready, None
    target = folder / "report.html"
    reason = build_page(target)
    if not reason:
        return target.read_bytes(), None
    if ready:
        print("web/dist/report.html was built from other sources than those in web/; it is taken all the same.", file=sys.stderr)
    return ready, reason


def header_of(page):
    packed = zlib.compress(page, 9) if page else b""
    rows = (packed[at : at + ROW] for at in range(0, len(packed), ROW))
    numbers = "".join("    " + ", ".join(map(str, row)) + ",\n" for row in rows)
    return (
        "/* Made by tools/embed-report-page.py. */\n"
        f"static const unsigned char report_page[] = {{\n{numbers or '    0,'}\n}};\n"
        f"static const size_t report_page_length = {len(packed)};\n"
        f"#define REPORT_PAGE_BYTES {len(page)}\n"
    )


def dependencies_of(header):
    """A rule of make: what the page was built from."""
    sources = [path for one in [*BUILT_FROM, PAGE] for path in WEB.glob(one)]
    names = " ".join(str(path).replace(" ", "\\ ") for path in sources)
    return f"{header}: {names}\n"


def add_to_archive():
    target = pathlib.Path(os.environ["MESON_DIST_ROOT"]) / "web" / PAGE
    target.parent.mkdir(parents=True, exist_ok=True)
    if reason := build_page(target):
        return f"The page of HTML reports could not be built: {reason}"
    # Two archives of one commit are the same bytes, whatever umask and time it is.
    target.parent.chmod(0o755)
    target.chmod(0o644)
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        os.utime(target, (int(epoch), int(epoch)))
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("header", type=pathlib.Path, nargs="?")
    parser.add_argument("--required", action="store_true", help="fail when there is no page")
    parser.add_argument("--depfile", type=pathlib.Path)
    parser.add_argument("--dist", action="store_true")
    options = parser.parse_args()
    if options.dist:
        return add_to_archive()
    page, reason = find_page(options.header.parent)
    if not page and options.required:
        return f"The page of HTML reports could not be built: {reason}"
    if not page:
        print(f"HTML reports are not built in: {reason}", file=sys.stderr)  # tools/compile.sh shows this line
    options.header.write_text(header_of(page))
    if options.depfile:
        options.depfile.write_text(dependencies_of(options.header))
    return None


if __name__ == "__main__":
    sys.exit(main())
