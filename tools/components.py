#!/usr/bin/env python3
"""Prints what of others is in a release, as CycloneDX: components.py VERSION [PACKAGE=VERSION…]

The packages are Debian's that are linked in; "source:" is before the names of source packages. Where meson makes an
archive of the source, it is written into that: components.py --dist VERSION
"""

import json
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def component(package):
    name, _, version = package.partition("=")
    is_source = name.startswith("source:")
    name = name.removeprefix("source:")
    purl = f"pkg:deb/debian/{name}@{version}{'?arch=source' if is_source else ''}"
    return {"type": "library", "name": name, "version": version, "purl": purl}


def table_of_carbon_intensities():
    version = re.search(r"codecarbon (\d[\d.]*\d)", (ROOT / "src/model/carbon_intensity_table.h").read_text())[1]
    return {"type": "data", "name": "codecarbon", "version": version, "purl": f"pkg:pypi/codecarbon@{version}",
            "licenses": [{"license": {"id": "MIT"}}]}


def main():
    is_dist = sys.argv[1] == "--dist"
    version, *packages = sys.argv[1 + is_dist :]
    ours = {"type": "application", "name": "gpu-tracker", "version": version, "licenses": [{"license": {"id": "MIT"}}]}
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": ours},
                "components": [*map(component, packages), table_of_carbon_intensities()]}
    text = json.dumps(document)
    if not is_dist:
        print(text)
        return
    root = pathlib.Path(os.environ["MESON_DIST_ROOT"])
    (root / "components.cdx.json").write_text(text + "\n")
    shutil.copystat(root / "meson.build", root / "components.cdx.json")  # not of this moment and this umask: archives are the same bytes


main()
