"""Metaphors that only this project understood stay out of sources, messages and pages. Sentences of pages are short."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = "bench", "cli", "completions", "docs", "examples", "include", "man", "packaging", "python", "src", "tests", "tools", "web"
SUFFIXES = {".c", ".h", ".md", ".py", ".pyi", ".sh", ".build", ".toml", ".mjs", ".ts", ".txt", ".yaml", ".yml"}

# What not to write: what to write instead. Names are split at `_`, so that `is_lent` is found too. Only words that once meant something
# here that they mean nowhere else: any other word is welcome where it is the plain one.
BANNED = {
    "books": "accounting, CPU totals",
    "image of, images of": "copy, snapshot, exec generation",
    "kin": "the full list, or: and others",
    "lend, lends, lent, lender": "vfork parent, vfork child",
    "mend, mends, mended": "repair, correct",
    "outlived": "leader exited",
    "surroundings": "environment",
    "twin, twins": "copy, pair",
    "unwaited": "auto-reaped, not waited for",
    "wishes": "options",
    "all behind, comes behind, behind all, behind it, behind its, behind one, behind so, behind the, behind them, behind these": "after, past",
    "passed over": "skipped",
    "at least what they say": "lower bounds",
    "come to its end, came to its end": "finish, finished",
    "give or take": "±",
    "in which others may be": "possibly shared with other processes",
}
ALLOWED = {"tests/project/test_words.py"}  # the list


def pattern(phrases):
    words = "|".join(phrase.replace(" ", "[ _]") for phrase in phrases.split(", "))
    return re.compile(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", re.IGNORECASE)


PATTERNS = [(pattern(phrases), instead) for phrases, instead in BANNED.items()]
PHRASES = [phrase for phrases in BANNED for phrase in phrases.split(", ")]
SINGLE_WORDS = {phrase for phrase in PHRASES if " " not in phrase}
OF_MANY_WORDS = [phrase for phrase in PHRASES if " " in phrase]


def simple(text):
    return text.lower().replace("_", " ")


def may_have(text):
    """Of the phrases those that a text may have, found in a hundredth of the time that the patterns take."""
    words = simple(text)
    found = [phrase for phrase in OF_MANY_WORDS if phrase in words]
    return found + list(SINGLE_WORDS.intersection(re.findall("[a-z]+", words)))


def violations(text):
    """Yields the number of each line with a banned word, the word, and what to write instead."""
    phrases = may_have(text)
    if not phrases:
        return
    for number, (line, words) in enumerate(zip(text.splitlines(), simple(text).splitlines()), 1):
        for banned, instead in PATTERNS if any(phrase in words for phrase in phrases) else ():
            if found := banned.search(line):
                yield number, found[0], instead


def files():
    for folder in FOLDERS:
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file())
    yield from ROOT.glob("*.md")
    yield ROOT / "Makefile"


MAX_WORDS = 30
LIST_ITEM = re.compile(r"[-*+] |\d+\. ")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])[\"”)*]*\s+")
END_OF_PART = re.compile(r"(?<=[.!?:;])[\"”)*]*\s+")


def paragraphs(page):
    """Yields the number of the first line and the text of each paragraph and list item, without code blocks, tables and headings."""
    page = re.sub(r"^ *```.*?^ *```[ \t]*$", lambda block: "\n" * block[0].count("\n"), page, flags=re.MULTILINE | re.DOTALL)
    first, lines, is_list = 1, [], False
    for number, line in enumerate([*page.splitlines(), ""], 1):
        line = line.strip()
        is_prose = line and not line.startswith(("|", "#", "<"))
        item = LIST_ITEM.match(line)
        begins_item = item and (is_list or not lines or not line[0].isdigit())  # A line of a paragraph may begin with "8. Then".
        if lines and (not is_prose or begins_item):
            yield first, " ".join(lines)
            lines = []
        if is_prose and not lines:
            first, is_list = number, bool(item)
            line = line[item.end() :] if item else line
        if is_prose:
            lines.append(line)


def long_sentences(page, end=END_OF_SENTENCE):
    """Yields the line of the paragraph, the number of words and the text of each sentence that is too long. Code between backticks is a word."""
    for number, paragraph in paragraphs(page):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", paragraph))
        for sentence in end.split(text):
            n_words = len(re.findall(r"[^\W_][\w'’.,/+-]*", sentence))
            if n_words > MAX_WORDS:
                yield number, n_words, sentence


class Sentences(unittest.TestCase):
    def test_no_sentence_of_a_page_is_long(self):
        pages = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted((ROOT / "docs").rglob("*.md"))
        self.assertGreater(len(pages), 15)
        found = [f"{page.relative_to(ROOT)}:{number}: {n} words: {sentence}" for page in pages for number, n, sentence in long_sentences(page.read_text())]
        self.assertFalse(found, "\n".join(found))

    def test_no_part_of_a_sentence_about_measurements_is_long(self):
        page = ROOT / "bench" / "RESULTS.md"
        found = [f"bench/RESULTS.md:{number}: {n} words: {part}" for number, n, part in long_sentences(page.read_text(), END_OF_PART)]
        self.assertFalse(found, "\n".join(found))

    def test_words_are_counted_by_sentence_outside_of_code_tables_and_headings(self):
        many = "word " * 31
        self.assertEqual([(number, n) for number, n, _ in long_sentences(f"# {many}\n\nShort.\n\n- Two. {many}\n")], [(5, 31)])
        self.assertEqual(list(long_sentences(f"| {many} |\n\n```\n{many}\n```\n\n`{many}` and [a page](a.md).\n")), [])
        self.assertEqual([n for _, n, _ in long_sentences("word " * 20 + "\n" + "word " * 20)], [40])
        self.assertEqual(list(long_sentences("word " * 20 + "word: " + "word " * 20, END_OF_PART)), [])


class Words(unittest.TestCase):
    def test_no_banned_word_is_in_any_file(self):
        found, read = [], 0
        for path in files():
            name = str(path.relative_to(ROOT))
            if {"node_modules", "dist"} & set(path.parts) or name in ALLOWED:
                continue
            read += 1
            for number, word, instead in violations(path.read_text(encoding="utf-8", errors="replace")):
                found.append(f"{name}:{number}: {word}: write {instead}")
        self.assertGreater(read, 500)
        if found:
            self.fail("\n".join(found))

    def test_words_are_found_in_names_and_in_sentences(self):
        self.assertEqual([word for _, word, _ in violations("bool is_lent;\nint n;\n/* Kin of it. */")], ["lent", "Kin"])
        self.assertEqual(list(violations("kindred, silent; skin = king; relent")), [])
        self.assertEqual([word for _, word, _ in violations("what lags behind our clocks; moves behind its line")], ["behind its"])


if __name__ == "__main__":
    tap.main()
