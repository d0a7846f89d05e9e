"""What leaves the libraries: gput_ names alone, and of those exactly what the headers declare."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

BUILD = pathlib.Path(os.environ["GPUT_BUILD"])
SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def exported(*arguments):
    text = subprocess.run(["nm", "--defined-only", *arguments], check=True, capture_output=True, text=True).stdout
    fields = (line.split() for line in text.splitlines())
    return {f[2] for f in fields if len(f) == 3 and f[1] in "TDBRVWi"}


def declared():
    """The functions that public headers declare."""
    names = set()
    for header in (SOURCE / "include" / "gputracker").glob("*.h"):
        for declaration in re.findall(r"(?m)^GPUT_API\s[^;]*;", COMMENT.sub("", header.read_text())):
            names.add(re.search(r"\b(gput_\w+)\s*\(", declaration)[1])
    return names


def mapped():
    """The functions of the version script, in its order, with their version."""
    names = []
    version = None
    for line in COMMENT.sub("", (SOURCE / "src" / "libgputracker.map").read_text()).splitlines():
        if opened := re.match(r"(GPUTRACKER_[\d.]+) \{", line):
            version = opened[1]
        elif name := re.match(r"    (gput_\w+);", line):
            names.append((version, name[1]))
    return names


class Symbols(unittest.TestCase):
    def test_shared_library_exports_each_name_with_its_version(self):
        names = exported("-D", str(BUILD / "libgputracker.so"))
        self.assertEqual(
            sorted(n for n in names if not n.startswith("GPUTRACKER_")), sorted(f"{n}@@{v}" for v, n in mapped())
        )

    def test_version_script_has_what_the_headers_declare(self):
        names = [name for _, name in mapped()]
        self.assertIn("gput_version", names)
        self.assertEqual(sorted(set(names) - declared()), [], "in src/libgputracker.map alone")
        self.assertEqual(sorted(declared() - set(names)), [], "not in src/libgputracker.map")

    def test_each_public_function_has_a_user(self):
        """The command, Python's module, a collector or an example; or an inline function of a header that one of them calls."""
        paths = [path for folder in ("cli", "python", "collectors", "examples") for path in (SOURCE / folder).rglob("*.[ch]")]
        used = set(re.findall(r"\bgput_\w+", " ".join(COMMENT.sub("", path.read_text()) for path in paths)))
        for header in (SOURCE / "include" / "gputracker").glob("*.h"):
            for name, body in re.findall(r"(?s)static inline [^{;]*?\b(gput_\w+)\([^)]*\)\s*\{(.*?)\n\}", header.read_text()):
                used |= set(re.findall(r"\bgput_\w+", body)) if name in used else set()
        self.assertEqual(sorted({name for _, name in mapped()} - used), [])

    def test_command_and_library_share_no_name(self):
        # Builds with sanitizers link the command with all of the library.
        command = exported("-g", *map(str, (BUILD / "gpu-tracker.p").glob("*.o")))
        library = exported("-g", str(BUILD / "libgput-internal.a"))
        self.assertIn("main", command)
        self.assertEqual(sorted(command & library), [])

    def test_version_script_is_sorted(self):
        self.assertEqual(mapped(), sorted(mapped()))

    def test_static_library(self):
        if "-fsanitize" in (BUILD / "compile_commands.json").read_text():
            self.skipTest("the sanitizers' own names are in it")
        names = exported("-g", str(BUILD / "libgputracker.a"))
        self.assertIn("gput_version", names)
        self.assertEqual(sorted(n for n in names if not n.startswith("gput_")), [])


if __name__ == "__main__":
    tap.main()
