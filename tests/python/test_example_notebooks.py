"""The saved notebooks of docs/examples: each runs from top to bottom, and what it shows is what comes out.

GPUT_NOTEBOOK_UPDATE=1 runs them in Jupyter (nbclient, ipykernel) and saves what they show.
"""

import importlib.util
import json
import os
import re
import unittest

import package

NOTEBOOKS = sorted((package.SOURCE / "docs" / "examples").glob("*.ipynb"))
# Prints what each cell of the notebook shows, as a list in JSON.
PROGRAM = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

# The user's history has a database that tests at once move away from each other.
shell = InteractiveShell.instance(colors="NoColor", config=Config({"HistoryManager": {"enabled": False}}))
shown = []
for source in json.load(sys.stdin):
    with capture_output() as held:
        result = shell.run_cell(source, store_history=True)
    result.raise_error()
    shown.append(held.stdout)
print(json.dumps(shown))
"""
# Lines with figures of the machine: the reports of cells, and what begins with "Peak".
OF_THE_MACHINE = re.compile(r"(RAM|Gen|GPU|All|Peak\b.*?):")
CLOSE_MB = 20


def text_of(cell):
    """What a saved cell shows, as IPython would print it on a terminal."""
    text = ""
    for output in cell["outputs"]:
        if output.get("name") == "stderr":  # what one machine lacks
            continue
        shown = output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
        shown = "".join(shown)
        if output["output_type"] == "execute_result":
            shown = f"Out[{output['execution_count']}]: {shown}"
        text += shown if shown.endswith("\n") else shown + "\n"
    return text


def masked(text):
    lines = [re.sub(r"-?\d+(\.\d+)?|n/a", "N", line) if OF_THE_MACHINE.match(line) else line for line in text.splitlines()]
    return [re.sub(r" +", " ", line) for line in lines if not line.startswith(("GPU:", "All:"))]  # where there is a GPU


def used(text):
    """The first two figures of a report: consumed and peaked, in MB."""
    return [(int(consumed), int(peaked)) for consumed, peaked in re.findall(r"(?m)^Gen: +(-?\d+) +(-?\d+) ", text)]


def update(path):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=package.PATIENCE, kernel_name="python3").execute()
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    nbformat.write(notebook, path)


@unittest.skipUnless(importlib.util.find_spec("IPython"), "IPython is not installed")
class Notebooks(package.PackageTest):
    def test_each_shows_what_it_shows_when_it_runs(self):
        self.assertTrue(NOTEBOOKS)
        for path in NOTEBOOKS:
            with self.subTest(notebook=path.name):
                if os.environ.get("GPUT_NOTEBOOK_UPDATE"):
                    update(path)
                cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
                self.assertEqual([cell["execution_count"] for cell in cells], list(range(1, len(cells) + 1)))
                sources = json.dumps(["".join(cell["source"]) for cell in cells])
                now = json.loads(self.run_python(PROGRAM, input=sources).stdout)
                for cell, text in zip(cells, now):
                    saved = text_of(cell)
                    self.assertEqual(masked(text), masked(saved))
                    if package.forks_hang:
                        continue  # AddressSanitizer keeps freed memory
                    for ours, theirs in zip(used(text), used(saved)):
                        self.assertLessEqual(max(abs(ours[0] - theirs[0]), abs(ours[1] - theirs[1])), CLOSE_MB, (text, saved))


if __name__ == "__main__":
    package.main()
