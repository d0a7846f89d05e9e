#!/usr/bin/env python3
"""Tries what tools/portable/build.sh made, another architecture's under qemu: check.py FOLDER/dist"""

import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

LARGEST_BYTES = 3_000_000
NEWEST_GLIBC = (2, 17)
IMPORT = "import gpu_tracker as g; t = g.Tracker(); t.start(); t.stop(); assert t.resource_usage.max_ram.main.total_rss > 0"
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
DEBIAN_RELEASE = "bookworm"
BUSY = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.2"


def architecture_of(name):
    return next(filter(None, re.search(r"linux-([^-.]+)|(?:manylinux_2_17|musllinux_1_2)_(\w+?)\.", name).groups()))


def check_elf(program, architecture):
    """64-bit, little-endian, and for the architecture that the file's name promises."""
    header = program.read_bytes()[:20]
    assert header[:6] == b"\x7fELF\2\1", f"{program.name}: {header[:6]}"
    assert int.from_bytes(header[18:20], "little") == ELF_MACHINES[architecture], f"{program.name} is not for {architecture}"


def runner(name):
    """The words before the command that run a program of the archive's architecture."""
    architecture = architecture_of(name)
    return [] if architecture == platform.machine() else [f"qemu-{architecture}-static", "-L", f"/usr/{architecture}-linux-gnu"]


def glibc_of(program):
    symbols = subprocess.run(["objdump", "-T", program], capture_output=True, text=True).stdout
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols)}
    if not versions:  # objdump of another architecture's binutils, or a static program
        text = program.read_bytes()
        versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_([0-9]+(?:\.[0-9]+)+)\0", text)}
    return max(versions, default=None)


def check_program(program, before):
    run = lambda *words: subprocess.run([*before, str(program), *words], capture_output=True, text=True, timeout=120)
    assert run("--version").stdout.strip(), "says no version"
    with tempfile.TemporaryDirectory() as folder:
        report, samples = f"{folder}/r.json", f"{folder}/s.sqlite"
        result = run("run", "--st", "0.05", "-o", report, "--tf", samples, "--", "sh", "-c", BUSY)
        assert result.returncode == 0, result.stderr
        figures = json.loads(pathlib.Path(report).read_text())
        assert figures["max_ram"]["combined"]["total_rss"] > 0, figures["max_ram"]
        assert figures["compute_time"]["time"] > 0, figures["compute_time"]
        assert run("run", "-q", "--", "sh", "-c", "exit 7").returncode == 7
        assert "procfs" in run("doctor").stdout
        assert pathlib.Path(samples).stat().st_size > 0


def check_static(program, before):
    """It says what a static program cannot do, before a command runs."""
    with tempfile.TemporaryDirectory() as folder:
        for words in ["run", "--otlp=https://localhost", "--", "touch", "x"], ["run", "--remote-write=https://localhost", "--", "touch", "x"]:
            done = subprocess.run([*before, program, *words], cwd=folder, capture_output=True, text=True)
            assert done.returncode == 125 and "this statically linked gpu-tracker cannot load" in done.stderr, done.stderr
        assert not any(pathlib.Path(folder).iterdir())
        done = subprocess.run([*before, program, "doctor"], capture_output=True, text=True)
        assert "this statically linked gpu-tracker cannot load libnvidia-ml.so.1" in " ".join(done.stdout.split()), done.stdout


def check_archive(archive):
    is_static = "-static" in archive.name
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as packed:
            packed.extractall(folder)
        program = next(pathlib.Path(folder).glob("*/gpu-tracker"))
        size, glibc = program.stat().st_size, glibc_of(program)
        for binary in (program, *program.parent.rglob("*.so")):
            check_elf(binary, architecture_of(archive.name))
        assert size <= LARGEST_BYTES, f"{size} bytes"
        assert glibc is None if is_static else glibc <= NEWEST_GLIBC, f"needs glibc {glibc}"
        for place in (b"/home/", b"build-portable"):
            assert place not in program.read_bytes(), f"names {place}"
        names = {path.name for path in program.parent.rglob("*")}
        assert {"LICENSE", "gpu-tracker.1", "gpu-tracker-run.1", "components.cdx.json", "_gpu-tracker"} <= names, names
        check_program(program, runner(archive.name))
        if is_static:
            check_static(program, runner(archive.name))
    print(f"{archive.name}: {size / 1e6:.2f} MB, {'static' if is_static else 'glibc ' + '.'.join(map(str, glibc))}")


def import_foreign(wheel, folder):
    """Tracks by the module of a wheel for another architecture, in that architecture's Python of Debian; says why it cannot."""
    if not shutil.which("mmdebstrap"):
        return "its module was not imported: mmdebstrap is missing"
    architecture, root = architecture_of(wheel.name), f"{folder}/root"
    options = [f"--architectures={DEBIAN_NAMES[architecture]}", "--variant=extract", "--include=python3"]
    made = subprocess.run(["mmdebstrap", *options, DEBIAN_RELEASE, root], capture_output=True, text=True)
    if made.returncode:
        return f"its module was not imported: {made.stderr.strip().splitlines()[-1]}"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(f"{folder}/packages")
    (python,) = pathlib.Path(root, "usr/bin").glob("python3.*[0-9]")
    words = [f"qemu-{architecture}-static", "-L", root, "-E", f"PYTHONPATH={folder}/packages", python, "-c", IMPORT]
    subprocess.run(words, check=True, timeout=120)
    return f"its module was imported by {python.name} for {architecture}"


def check_wheel(wheel):
    """In an environment of its own where this machine can run it; of another architecture in such a Python where that can be had.
    Of musl its command alone, for Debian and PyPI have no Python for musl."""
    said = ""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as packed:
        before, is_musl = runner(wheel.name), "musllinux" in wheel.name
        (module,) = (name for name in packed.namelist() if name.startswith("gpu_tracker/_native.") and name.endswith(".so"))
        for name in ("gpu_tracker/gpu-tracker", module):
            binary = pathlib.Path(packed.extract(name, f"{folder}/binaries"))
            check_elf(binary, architecture_of(wheel.name))
            glibc = glibc_of(binary)
            assert glibc is None if is_musl else glibc <= NEWEST_GLIBC, f"{name} needs glibc {glibc}"
        (metadata,) = (name for name in packed.namelist() if name.endswith(".dist-info/WHEEL"))
        tags = re.findall(r"(?m)^Tag: (\S+)", packed.read(metadata).decode())
        assert tags == [wheel.stem.split("-", 2)[2]], tags
        (components,) = (name for name in packed.namelist() if name.endswith(".dist-info/sboms/components.cdx.json"))
        assert len(json.loads(packed.read(components))["components"]) == 4, components
        if before or is_musl:
            program = pathlib.Path(packed.extract("gpu_tracker/gpu-tracker", folder))
            said = "" if is_musl else f", {import_foreign(wheel, folder)}"
        else:
            version = re.search(r"-cp3(\d+)-cp", wheel.name)  # its own, of a wheel that is for one only
            subprocess.run([f"python3.{version[1]}" if version else sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([f"{folder}/bin/pip", "install", "--quiet", wheel], check=True)
            subprocess.run([f"{folder}/bin/python", "-c", IMPORT], check=True)
            program = next(pathlib.Path(folder).rglob("gpu_tracker/gpu-tracker"))
        program.chmod(0o755)
        check_program(program, before)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB{said}")


def main():
    archives = sorted(pathlib.Path(sys.argv[1]).glob("gpu-tracker-*.tar.gz"))
    for archive in archives:
        check_archive(archive)
    for wheel in sorted(pathlib.Path(sys.argv[1]).glob("*.whl")):
        check_wheel(wheel)
    sys.exit(0 if archives else 1)


main()
