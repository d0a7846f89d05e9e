"""Each test runs: none hides another of its name. (Those in C list themselves, and a second one of a name does not compile.)"""

import ast
import collections
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
TESTS = SOURCE / "tests"
sys.path.insert(0, str(TESTS))
import tap


def repeated(names):
    return [name for name, count in collections.Counter(names).items() if count > 1]


def hidden_in_python(text):
    """Functions and classes that a later one of the same name replaces, as "Class.name"."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            defined = [member.name for member in node.body if isinstance(member, (ast.FunctionDef, ast.ClassDef)) and not member.decorator_list]
            found += [f"{node.name}.{name}" if isinstance(node, ast.ClassDef) else name for name in repeated(defined)]
    return found


class Tests(unittest.TestCase):
    def test_a_second_test_of_one_name_is_found(self):
        text = "class A:\n    def test_a(self): pass\n    def test_a(self): pass\nclass B:\n    def test_a(self): pass\nclass B: pass\n"
        self.assertEqual(sorted(hidden_in_python(text)), ["A.test_a", "B"])

    def test_python_tests_hide_none_of_their_name(self):
        hidden = {path.relative_to(SOURCE): hidden_in_python(path.read_text()) for path in TESTS.rglob("*.py")}
        self.assertGreater(len(hidden), 100)
        self.assertEqual({str(path): names for path, names in hidden.items() if names}, {})

    def test_tests_of_the_page_have_names_of_their_own(self):
        for path in (SOURCE / "web/tests").glob("*.test.mjs"):
            names = re.findall(r'(?m)^test\(["`](.*?)["`],', path.read_text())
            self.assertGreater(len(names), 3, path)
            self.assertEqual(repeated(names), [], path)


if __name__ == "__main__":
    tap.main()
