"""Words that are not those of the field stay out of sources, messages and pages."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = "bench", "cli", "completions", "docs", "examples", "include", "man", "python", "src", "tests", "tools"
SUFFIXES = {".c", ".h", ".md", ".py", ".pyi", ".sh", ".build", ".toml", ".ts", ".txt"}

# What not to write: what to write instead. Names are split at `_`, so that `is_told` is found too.
BANNED = {
    "beside": "next to",
    "books": "accounting, CPU totals",
    "hear, hears, heard": "receive, read",
    "kin": "the full list, or: and others",
    "lend, lends, lent, lender": "vfork parent, vfork child",
    "mend, mends, mended": "repair, correct",
    "nobody": "no process, not waited for, no reader",
    "outlived": "leader exited",
    "surroundings": "environment",
    "tell, tells, telling, told, untold": "report, announce, distinguish",
    "twin, twins": "copy, pair",
    "unwaited": "auto-reaped, not waited for",
    "wishes": "options",
    "what comes behind": "what follows",
    "behind the end": "after the end",
    "looked for at": "scanned at",
}
ALLOWED = {
    "tests/project/test_words.py",  # the list
    "tests/cli/command.py",  # the user nobody
}
ALLOWED_TEXT = re.compile(r"(?:AS|NO)_NOBODY|(?:as|to)_nobody|\.tell\(\)")  # the user nobody; files of Python


def pattern(phrases):
    words = "|".join(re.escape(phrase) for phrase in phrases.split(", "))
    return re.compile(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", re.IGNORECASE)


PATTERNS = [(pattern(phrases), instead) for phrases, instead in BANNED.items()]
ANY = pattern(", ".join(BANNED))


def violations(text):
    """Yields the number of each line with a banned word, the word, and what to write instead."""
    if not ANY.search(text):
        return
    for number, line in enumerate(ALLOWED_TEXT.sub("", text).splitlines(), 1):
        for banned, instead in PATTERNS:
            if found := banned.search(line):
                yield number, found[0], instead


def files():
    for folder in FOLDERS:
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file())
    yield from ROOT.glob("*.md")
    yield ROOT / "Makefile"


class Words(unittest.TestCase):
    def test_no_banned_word_is_in_any_file(self):
        found, read = [], 0
        for path in files():
            name = str(path.relative_to(ROOT))
            if "node_modules" in path.parts or name in ALLOWED:
                continue
            read += 1
            for number, word, instead in violations(path.read_text(encoding="utf-8", errors="replace")):
                found.append(f"{name}:{number}: {word}: write {instead}")
        self.assertGreater(read, 500)
        if found:
            self.fail("\n".join(found))

    def test_words_are_found_in_names_and_in_sentences(self):
        self.assertEqual([word for _, word, _ in violations("bool is_told;\nint n;\n/* Nobody waits. */")], ["told", "Nobody"])
        self.assertEqual(list(violations("f.tell(); retelling = tellurium; skin = king")), [])


if __name__ == "__main__":
    tap.main()
