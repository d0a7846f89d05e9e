"""The dependency rule of ARCHITECTURE.md: which folder may include which."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import tap

SOURCE = pathlib.Path(os.environ["GPUT_SOURCE"])

# folder -> folders whose headers it may include besides its own. "gputracker" is the public API. A part of a folder
# may have a row of its own ("session/ledger"). A row names those above it alone.
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "os": {"base"},
    "gpu": {"base", "model", "os"},
    "process": {"base", "model", "os"},
    "energy": {"base", "model", "os", "gpu", "process"},
    "formats": {"base", "model"},
    "trace": {"base", "model", "formats"},
    "import": {"base", "model", "trace"},
    "rank": {"base", "os", "formats"},
    "blocks": {"base", "model", "gpu", "formats", "rank"},
    "analyze": {"base", "model", "formats", "import"},
    "timeline": {"base", "model", "formats", "trace"},
    "plot": {"base"},
    "output": {"base", "model", "analyze", "plot"},
    "training": {"base", "model", "trace", "import", "output"},
    "report/document": {"base", "model", "analyze"},
    "report/loaders": {"base", "model", "formats", "import", "trace", "analyze", "timeline", "training", "output", "report/document"},
    "report/export": {"base", "report/document"},
    "report": {"base", "model", "formats", "rank", "blocks", "analyze", "plot", "output", "report/document", "report/loaders", "report/export"},
    "jobs": {"base", "model", "formats", "rank", "output"},
    "push": {"base", "model", "formats", "output"},
    "serve": {"base"},
    "config": {"base", "model", "analyze"},
    "doctor": {"base", "model", "os", "gpu", "energy", "blocks"},
    "session/sampler": {"base", "model", "os", "gpu", "energy", "process"},
    "session/ledger": {"base", "model", "os", "gpu", "energy", "process", "formats", "output", "session/sampler"},
    "session/sinks": {"base", "model", "os", "gpu", "energy", "process", "formats", "output", "push", "serve", "session/sampler", "session/ledger"},
    "session": {"base", "model", "os", "gpu", "energy", "process", "session/sampler", "session/ledger", "session/sinks"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def includes(path):
    return INCLUDE.findall(path.read_text())


def layer(*parts):
    """The row of MAY_INCLUDE for what is in src/PART/PART…; None: it is in no folder of src/."""
    return next((row for row in ("/".join(parts[:2]), parts[0]) if row in MAY_INCLUDE), None)


class Layers(unittest.TestCase):
    def test_every_folder_has_a_rule(self):
        folders = {entry.name for entry in (SOURCE / "src").iterdir() if entry.is_dir()}
        self.assertEqual(folders, {row for row in MAY_INCLUDE if "/" not in row})
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

    def test_the_command_sees_only_the_public_api(self):
        wrong = []
        for folder in ("cli", "examples"):
            for path in sorted((SOURCE / folder).rglob("*.[ch]")):
                for name in includes(path):
                    if name.split("/")[0] in MAY_INCLUDE:
                        wrong.append(f"{path.relative_to(SOURCE)} includes {name}")
        self.assertEqual(wrong, [])

    def test_collectors_see_what_writes_marks(self):
        wrong = []
        for path in sorted((SOURCE / "collectors").glob("*.[ch]")):
            for name in includes(path):
                if name.split("/")[0] in set(MAY_INCLUDE) - {"base", "os", "formats", "blocks"}:
                    wrong.append(f"{path.relative_to(SOURCE)} includes {name}")
        self.assertEqual(wrong, [])

    def test_public_headers_stand_on_themselves(self):
        wrong = []
        for path in sorted((SOURCE / "include").rglob("*.h")):
            for name in includes(path):
                if name.split("/")[0] in MAY_INCLUDE:
                    wrong.append(f"{path.relative_to(SOURCE)} includes {name}")
        self.assertEqual(wrong, [])

    def test_the_map_of_the_command_names_every_file(self):
        folder = SOURCE / "cli"
        head = (folder / "main.c").read_text().split("*/")[0]
        named = set(re.findall(r"[\w-]+\.[ch]\b|[\w-]+/", head))
        files = {path.name for path in folder.glob("*.c") if path.name != "main.c" and not path.name.startswith("cmd_")}
        folders = {path.name + "/" for path in folder.iterdir() if path.is_dir()}
        self.assertEqual(files | folders, {name for name in named if not name.endswith(".h")} - {"gputracker/"})


if __name__ == "__main__":
    tap.main()
