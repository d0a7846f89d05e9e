"""Programs go on working with later libraries: layouts and values of the public headers.

tests/project/abi.txt records the size of each public struct, the place of each member and the value of each
enumerator. What is recorded never changes. GPUT_ABI_UPDATE=1 adds what is new; read the difference. What may change in a struct
follows from its kind:

  final    exactly as recorded
  sized    as recorded, and more members at the end
  shared   likewise

The kind of a struct stands in its comment (see gputracker/sized.h); a struct without one is not opaque by mistake.
"""

import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap
from compilers import compiler_words

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])
RECORD = SOURCE / "tests" / "project" / "abi.txt"
HEADERS = sorted((SOURCE / "include" / "gputracker").glob("*.h"))
COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRUCT = re.compile(r"((?:/\*(?:[^*]|\*(?!/))*\*/\s*)?)^struct (gput_\w+) \{(.*?)^\};", re.S | re.M)
ENUM = re.compile(r"enum gput_\w+ \{(.*?)\};", re.S)
MEMBER = re.compile(r"(?:\(\*(\w+)\)\s*\([^;]*\)|(\w+)\s*(?:\[[^\]]*\])*)$")
KINDS = {"Sized": "sized", "Shared": "shared", "Final": "final"}


def members(body):
    """The names of the members of a struct without structs in it."""
    names = []
    for declaration in COMMENT.sub("", body).split(";"):
        # "int start, end" has two; the commas of a function pointer's parameters are in brackets.
        parts = [declaration] if "(" in declaration else declaration.split(",")
        for part in parts:
            if found := MEMBER.search(part.strip()):
                names.append(found[1] or found[2])
    return names


def public():
    """{struct: (kind, members)} and the enumerators of all public headers."""
    structs, enumerators = {}, []
    for header in HEADERS:
        text = header.read_text()
        for comment, name, body in STRUCT.findall(text):
            kind = next((KINDS[word] for word in KINDS if re.search(rf"\b{word}\b", comment)), None)
            structs[name] = (kind, members(body))
        for body in ENUM.findall(COMMENT.sub("", text)):
            enumerators += [item.split("=")[0].strip() for item in body.split(",") if item.strip()]
    return structs, enumerators


def measured(structs, enumerators):
    """What a C compiler makes of them: lines "name value"."""
    lines = ["#include <gputracker/gputracker.h>", "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for name, (_, names) in structs.items():
        lines.append(f'printf("struct {name} %zu\\n", sizeof(struct {name}));')
        for member in names:
            lines.append(f'printf("{name}.{member} %zu\\n", offsetof(struct {name}, {member}));')
    for name in enumerators:
        lines.append(f'printf("enum {name} %d\\n", (int){name});')
    lines.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "abi")
        compiler = [*compiler_words("CC", "cc"), "-std=c17", "-I", SOURCE / "include", "-x", "c", "-", "-o", program]
        done = subprocess.run(compiler, input="\n".join(lines), capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in (line.rsplit(" ", 1) for line in text.splitlines())}


def recorded():
    lines = (line for line in RECORD.read_text().splitlines() if line and not line.startswith("#"))
    return {name: int(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


HEAD = "# Sizes of public structs, places of their members, values of enumerators, on 64-bit machines: see test_abi.py.\n"


class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if struct.calcsize("P") != 8:
            raise unittest.SkipTest("the record is of 64-bit machines")
        cls.structs, cls.enumerators = public()
        cls.now = measured(cls.structs, cls.enumerators)
        if os.environ.get("GPUT_ABI_UPDATE") == "1":
            RECORD.write_text(HEAD + "".join(f"{name} {value}\n" for name, value in cls.now.items()))
        cls.before = recorded()

    def kind(self, name):
        return self.structs[name][0]

    def test_each_struct_is_of_a_kind(self):
        self.assertGreater(len(self.structs), 20)
        self.assertEqual([name for name in self.structs if not self.kind(name)], [])

    def test_what_is_recorded_is_there_and_has_not_moved(self):
        for name, value in self.before.items():
            if name.startswith("struct ") or name.endswith(("_COUNT", "_KINDS")):
                continue
            self.assertIn(name, self.now, "it was removed")
            self.assertEqual(self.now[name], value, f"{name} moved")

    def test_structs_only_grow_and_final_ones_do_not(self):
        for name, size in self.before.items():
            if not name.startswith("struct "):
                continue
            if self.kind(name.split()[1]) == "final":
                self.assertEqual(self.now[name], size, f"{name} is final")
            else:
                self.assertGreaterEqual(self.now[name], size, name)

    def test_new_members_are_at_the_end(self):
        for name in (name for name in self.now if "." in name and name not in self.before):
            owner = name.split(".")[0]
            if f"struct {owner}" in self.before:
                last = max(at for other, at in self.before.items() if other.startswith(f"{owner}."))
                self.assertGreater(self.now[name], last, f"{name} is among older members")

    def test_what_is_new_is_recorded(self):
        self.assertEqual(sorted(set(self.now) - set(self.before)), [], "run it with GPUT_ABI_UPDATE=1")

    def test_a_sized_struct_begins_with_its_size(self):
        for name, (kind, names) in self.structs.items():
            if kind == "sized":
                self.assertEqual(self.now[f"{name}.size"], 0, name)
                self.assertEqual(names[0], "size", name)


if __name__ == "__main__":
    tap.main()
