"""The dependency rule of ARCHITECTURE.md: which folder may include which."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])

# Folder -> folders whose headers it may include besides its own, in the order of ARCHITECTURE.md: a row names those above it alone.
# The public API, "gputracker", is everybody's. Most rows are folders of a group ("machine/os"); a part of a folder may have its own row.
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "machine/os": {"base"},
    "machine/gpu": {"base", "model", "machine/os"},
    "machine/process": {"base", "model", "machine/os"},
    "machine/energy": {"base", "model", "machine/os", "machine/gpu", "machine/process"},
    "machine/rank": {"base", "machine/os"},
    "files": {"base", "model"},
    "files/trace": {"base", "model", "files"},
    "files/import": {"base", "model", "files/trace"},
    "analysis/blocks": {"base", "model", "machine/gpu", "machine/rank", "files"},
    "analysis/analyze": {"base", "model", "files", "files/import"},
    "analysis/bench": {"base", "analysis/analyze"},
    "analysis/why": {"base", "model"},
    "analysis/timeline": {"base", "model", "files", "files/trace"},
    "analysis/size": {"base", "model"},
    "analysis/training": {"base", "model", "files/trace", "files/import"},
    "views/plot": {"base"},
    "views/output": {"base", "model", "files/trace", "files/import", "analysis/analyze", "analysis/size", "analysis/training", "analysis/why", "views/plot"},
    "views/report/document": {"base", "model", "analysis/analyze"},
    "views/report/loaders": {
        "base", "model", "files", "files/trace", "files/import", "analysis/analyze", "analysis/timeline", "analysis/training",
        "views/output", "views/report/document",
    },
    "views/report/export": {"base", "views/report/document"},
    "views/report": {
        "base", "model", "machine/rank", "files", "analysis/blocks", "analysis/analyze", "analysis/why", "views/plot", "views/output", "views/report/document",
        "views/report/loaders", "views/report/export",
    },
    "views/jobs": {"base", "model", "files", "analysis/why", "views/output"},
    "services/push": {"base", "model", "files", "views/output"},
    "services/serve": {"base"},
    "config": {"base", "model", "analysis/analyze"},
    "gpus": {"base", "model", "machine/os", "machine/gpu", "views/output"},
    "doctor": {"base", "model", "machine/os", "machine/gpu", "machine/energy", "analysis/blocks"},
    "session/sampler": {"base", "model", "machine/os", "machine/gpu", "machine/energy", "machine/process"},
    "session/ledger": {
        "base", "model", "machine/os", "machine/gpu", "machine/energy", "machine/process", "files", "views/output", "session/sampler",
    },
    "session/sinks": {
        "base", "model", "machine/os", "machine/gpu", "machine/energy", "machine/process", "files", "views/output", "services/push",
        "services/serve", "session/sampler", "session/ledger",
    },
    "session": {
        "base", "model", "machine/os", "machine/gpu", "machine/energy", "machine/process", "session/sampler", "session/ledger",
        "session/sinks",
    },
    "bench": {"base", "model", "machine/os", "analysis/bench", "views/output", "session"},
}  # fmt: skip
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def includes(path):
    return INCLUDE.findall(path.read_text())


def layer(*parts):
    """The row of MAY_INCLUDE for what is in src/PART/PART…; None: it is in no folder of src/."""
    return next((row for row in ("/".join(parts[:length]) for length in (3, 2, 1)) if row in MAY_INCLUDE), None)


class Layers(unittest.TestCase):
    def test_every_folder_has_a_rule(self):
        folders = {path.parent.relative_to(SOURCE / "src") for path in (SOURCE / "src").rglob("*.[ch]")}
        self.assertEqual([str(folder) for folder in folders if not layer(*folder.parts)], [])
        self.assertEqual([row for row in MAY_INCLUDE if not (SOURCE / "src" / row).is_dir()], [])

    def test_names_of_files_have_underscores(self):
        files = [path for folder in ("cli", "collectors", "include", "python", "src") for path in (SOURCE / folder).rglob("*.[ch]")]
        self.assertGreater(len(files), 500)
        self.assertEqual([str(path) for path in files if "-" in path.name], [])

    def test_arrows_do_not_turn_round(self):
        rows = list(MAY_INCLUDE)
        self.assertEqual([(row, other) for row in rows for other in MAY_INCLUDE[row] if rows.index(other) >= rows.index(row)], [])

    def test_sources_include_only_what_their_layer_may(self):
        wrong = []
        for path in sorted((SOURCE / "src").rglob("*.[ch]")):
            own = layer(*path.relative_to(SOURCE / "src").parent.parts, "")
            for name in includes(path):
                other = layer(*name.split("/")[:-1], "")
                if own and other not in {None, own, *MAY_INCLUDE[own]}:
                    wrong.append(f"{path.relative_to(SOURCE)} includes {name}")
        self.assertEqual(wrong, [])

    def test_the_command_sees_the_public_api_and_base(self):
        wrong = []
        for folder, seen in ("cli", {"base"}), ("examples", set()):
            for path in sorted((SOURCE / folder).rglob("*.[ch]")):
                for name in includes(path):
                    if layer(*name.split("/")[:-1], "") not in {None, *seen}:
                        wrong.append(f"{path.relative_to(SOURCE)} includes {name}")
        self.assertEqual(wrong, [])

    def test_collectors_see_what_writes_marks(self):
        wrong = []
        for path in sorted((SOURCE / "collectors").glob("*.[ch]")):
            for name in includes(path):
                if layer(*name.split("/")[:-1], "") not in {None, "base", "machine/os", "files", "analysis/blocks"}:
                    wrong.append(f"{path.relative_to(SOURCE)} includes {name}")
        self.assertEqual(wrong, [])

    def test_public_headers_stand_on_themselves(self):
        wrong = []
        for path in sorted((SOURCE / "include").rglob("*.h")):
            for name in includes(path):
                if layer(*name.split("/")[:-1], ""):
                    wrong.append(f"{path.relative_to(SOURCE)} includes {name}")
        self.assertEqual(wrong, [])

    def test_the_map_of_the_command_names_every_file(self):
        folder = SOURCE / "cli"
        head = (folder / "main.c").read_text().split("*/")[0]
        folders = dict(re.findall(r"(?ms)^ \* (\w+/) (.*?)(?=^ \* \w+/|\Z)", head))
        self.assertEqual(set(folders), {path.name + "/" for path in folder.iterdir() if path.is_dir()})
        missing = [
            str(path.relative_to(folder)) for path in sorted(folder.rglob("*.c")) if path.parent.name + "/" in folders
            and path.parent.name not in ("live", "phases") and not path.name.startswith("cmd_") and path.name not in folders[path.parent.name + "/"]
        ]  # fmt: skip
        self.assertEqual(missing, [])
        named = {(part, name) for part, text in folders.items() for name in re.findall(r"\w+\.[ch]\b", text)}
        self.assertEqual([row for row in sorted(named) if not (folder / row[0] / row[1]).exists()], [])


if __name__ == "__main__":
    tap.main()
