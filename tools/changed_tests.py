"""Which test programs a change touches, by names: make test TESTS=changed.

It is a choice for the minutes between two changes, not a proof: before a change is handed on, all of them run.
"""

import json
import pathlib
import re
import subprocess

# Of the sources as a whole, and quick.
ALWAYS = {"project/words", "project/layers"}
# What is held to files outside of src/, cli/, python/ and tests/.
BY_PLACE = [
    (r".*\.md|mkdocs\.yml|man/.*", {"project/links", "cli/docs", "cli/generated"}),
    (r"include/.*", {"project/headers", "project/abi", "project/names", "project/examples"}),
    (r"examples/.*", {"project/examples"}),
    (r"web/.*", {"web/types", "web/page", "web/sessions", "web/training", "web/reading", "web/command", "project/report_page"}),
    (r"packaging/.*|debian/.*", {"project/packaging"}),
    (r"collectors/.*", {"cli/regions", "cli/regions_python", "cli/regions_runtimes"}),
    (r"tools/gpu-check/.*|tests/fake-.*", {"cli/gpu_check", "cli/gpu_check_machines", "cli/gpu_check_faults", "cli/gpu"}),
    (r"tests/fuzz/.*", {"fuzz/targets"}),
    (r"tests/.*\.(c|h)", {"cli/run"}),
    (r"(src|cli)/.*", {"cli/run", "project/calls"}),
    (r"(.*/)?meson\.build|meson_options\.txt", {"project/without_training"}),
    (r"python/gpu_tracker/.*\.py", {"python/package"}),
    (r"python/native/.*", {"python/package", "python/tracker", "python/sub_tracker"}),
]  # fmt: skip


def programs_of(build, source):
    """{name of each test program: its file, or None}."""
    programs = {}
    for test in json.loads((pathlib.Path(build) / "meson-info" / "intro-tests.json").read_text()):
        folder, _, noun = test["name"].rpartition("/")
        files = [source / "tests" / folder / name for name in (f"test_{noun}.c", f"test_{noun}.py", f"trial_{noun}.py")]
        programs[test["name"]] = next((file for file in files if file.exists()), None)
    return programs


def changed_files(source):
    """What differs from the last commit, and what is new."""
    listed = []
    for command in (["diff", "--name-only", "HEAD"], ["ls-files", "--others", "--exclude-standard"]):
        done = subprocess.run(["git", "-C", str(source), *command], capture_output=True, text=True, check=True)
        listed += done.stdout.splitlines()
    return listed


def noun_of(path):
    return re.sub(r"^(cmd|test|trial|fuzz)[-_]", "", path.stem).replace("-", "_").strip("_")


def is_about(name, noun):
    """"cli/energy_recording" is about "energy"."""
    last = name.rpartition("/")[2]
    return last == noun or last.startswith(noun + "_")


def mentions(text, path, folder):
    """A C file names the header of what it tests, a Python file the module."""
    if path.suffix in (".c", ".h"):
        return f'"{folder}/{path.stem}.h"' in text or f'"{path.stem}.h"' in text
    if path.suffix != ".py":
        return False
    stem = re.escape(path.stem)
    return re.search(rf"(?m)^\s*(from|import)\b.*\b{stem}\b|\b\w+\.{stem}\b|\b{stem}\.py\b", text) is not None


def may_be_about(name, text, path):
    """Of the Python package are its own programs, and those that read its files."""
    return path.parts[0] != "python" or name.startswith("python/") or path.as_posix() in text


def touched_by(changed, programs, texts):
    """The programs that one changed file touches; `texts`: of the program files."""
    path = pathlib.PurePath(changed)
    folder = "/".join(path.parts[1:-1]) or path.parts[0]
    own = {name for name, file in programs.items() if file and file.as_posix().endswith("/" + changed)}
    if own:
        return own
    touched = {name for pattern, names in BY_PLACE if re.fullmatch(pattern, changed) for name in names}
    if path.parts[:2] == ("tests", "fixtures"):
        return touched | {name for name, text in texts.items() if path.parts[2] in text}
    if path.parts[0] not in ("src", "cli", "python", "tests", "collectors"):
        return touched
    alike = [name for name in programs if may_be_about(name, texts.get(name, ""), path)]
    near = {name for name in alike if is_about(name, noun_of(path))}
    near |= {name for name in texts.keys() & alike if (path.suffix == ".py") <= (programs[name].suffix == ".py") and mentions(texts[name], path, folder)}
    if not near and path.suffix in (".c", ".h"):
        near = {name for name in programs if name.startswith(folder + "/")}
    if path.parts[0] in ("src", "cli"):
        near |= {name for name in programs if name.startswith("cli/") and is_about(name, path.parent.name)}
    if path.parts[0] == "python":
        near |= {name for name in programs if name.startswith("python/") and is_about(name, path.parent.name)}
    return touched | near


def choose(build, source):
    """The names of the programs to run; none: nothing has changed."""
    changed = changed_files(source)
    if not changed:
        return []
    programs = programs_of(build, source)
    texts = {name: file.read_text(errors="replace") for name, file in programs.items() if file}
    chosen = set(ALWAYS).union(*(touched_by(path, programs, texts) for path in changed))
    return sorted(chosen & set(programs))
