"""Calls between source files: they go one way, and what one file alone uses is static."""

import ast
import collections
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap
from test_layers import MAY_INCLUDE, layer

BUILD = pathlib.Path(os.environ["GPUT_BUILD"])
SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
LIBRARY = BUILD / "libgput-internal.a.p"
COMMAND = BUILD / "gpu-tracker.p"


def symbols(*folders):
    """What each object defines for others, and what it takes from them."""
    objects = [path for folder in folders for path in sorted(folder.glob("*.o"))]
    text = subprocess.run(["nm", "-A", "-g", *map(str, objects)], check=True, capture_output=True, text=True).stdout
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    for path, kind, name in re.findall(r"(?m)^(\S+):[0-9a-f ]+ (\w) (\S+)$", text):
        (used if kind == "U" else defined)[pathlib.Path(path).name.removeprefix("meson-generated_.._")].add(name)
    return defined, used


def loops(defined, used):
    """Groups of files that call each other, perhaps through others (Tarjan's algorithm)."""
    owner = {name: path for path, names in defined.items() for name in names}
    calls = {path: {owner[name] for name in used[path] if name in owner} - {path} for path in defined}
    number, lowest, stack, found = {}, {}, [], []

    def visit(path):
        number[path] = lowest[path] = len(number)
        stack.append(path)
        for called in calls[path]:
            if called not in number:
                visit(called)
            if called in stack:
                lowest[path] = min(lowest[path], lowest[called])
        if lowest[path] == number[path]:
            group = set(stack[stack.index(path):])
            del stack[stack.index(path):]
            if len(group) > 1:
                found.append(group)

    sys.setrecursionlimit(10000)
    for path in calls:
        if path not in number:
            visit(path)
    return found


def imports(path, package):
    """The modules that a module of the package imports, also inside of functions, but not for type checkers alone."""
    found, inside = set(), path.parent.relative_to(package.parent).parts

    def visit(node):
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.ImportFrom) and node.level:
            module = [*inside[: len(inside) - node.level + 1], *(node.module or "").split(".")]
            names = [[*module, name.name] for name in node.names] + [module]
            found.update(".".join(filter(None, name)) for name in names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text()))
    return found


class Calls(unittest.TestCase):
    def test_files_of_the_library_call_each_other_one_way(self):
        defined, used = symbols(LIBRARY)
        self.assertGreater(len(defined), 300)
        self.assertEqual(loops(defined, used), [])

    def test_calls_follow_the_layers(self):
        # A public function can be called without a header of its folder.
        defined, used = symbols(LIBRARY)
        folder = {name: layer(*path.split("_")[1:]) for path, names in defined.items() for name in names}
        wrong = set()
        for path, names in used.items():
            caller = layer(*path.split("_")[1:])
            wrong |= {(path, name) for name in names if folder.get(name, caller) not in {caller, *MAY_INCLUDE[caller]}}
        self.assertEqual(sorted(wrong), [])

    def test_the_command_calls_the_public_api_and_base(self):
        defined, _ = symbols(LIBRARY)
        inner = {name for path, names in defined.items() if not path.startswith("src_base_") for name in names}
        public = re.findall(r"gput_\w+", (SOURCE / "src" / "libgputracker.map").read_text())
        _, used = symbols(COMMAND)
        self.assertEqual(sorted((path, name) for path, names in used.items() for name in names & inner - set(public)), [])

    def test_files_of_the_command_call_each_other_one_way(self):
        defined, used = symbols(COMMAND)
        # The table of commands names their functions, and some commands print the table.
        table = used["cli_commands_command_table.c.o"]
        table -= {name for name in table if name.startswith("cmd_")}
        self.assertEqual(loops(defined, used), [])

    def test_modules_of_the_python_package_import_each_other_one_way(self):
        # Its __init__.py hands on names alone.
        package = SOURCE / "python" / "gpu_tracker"
        paths = [path for folder in (package, package / "profiler") for path in folder.glob("*.py") if path.stem != "__init__"]
        names = {path: ".".join(path.relative_to(package.parent).with_suffix("").parts) for path in paths}
        used = {name: imports(path, package) for path, name in names.items()}
        self.assertIn("gpu_tracker._results", used["gpu_tracker._analysis"])
        self.assertEqual(loops({name: {name} for name in used}, used), [])

    def test_what_one_file_alone_uses_is_static(self):
        defined, _ = symbols(LIBRARY, COMMAND)
        objects = (path for path in BUILD.rglob("*.p") if path.is_dir() and not {"without-training", "one-more"} & set(path.parts))  # which may be made right now
        _, used = symbols(*objects)
        public = re.findall(r"gput_\w+", (SOURCE / "src" / "libgputracker.map").read_text())
        fuzzed = re.findall(r"\w+", "".join(path.read_text() for path in (SOURCE / "tests" / "fuzz").glob("*.[ch]")))
        taken = {"main", *public, *fuzzed}.union(*used.values())
        alone = {(path, name) for path, names in defined.items() for name in names - taken}
        self.assertEqual([row for row in sorted(alone) if not row[1].startswith("_")], [])


class Loops(unittest.TestCase):
    def test_a_loop_through_another_file_is_found(self):
        defined = {"a": {"f"}, "b": {"g"}, "c": {"h"}, "d": {"i"}}
        used = {"a": {"g"}, "b": {"h", "printf"}, "c": {"f", "i"}, "d": set()}
        self.assertEqual(loops(defined, used), [{"a", "b", "c"}])
        self.assertEqual(loops(defined, {**used, "c": {"i"}}), [])


if __name__ == "__main__":
    tap.main()
