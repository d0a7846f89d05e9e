"""A disk that is full."""

import subprocess
import unittest


class FullDisk:
    """A file system of a few pages, unmounted at the end."""

    def __init__(self, folder, size):
        self.folder = folder / "disk"
        self.folder.mkdir(exist_ok=True)
        self.size = size

    def __enter__(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}", "none", self.folder], capture_output=True, text=True)
        if done.returncode:
            raise unittest.SkipTest(f"no file system can be mounted here: {done.stderr.strip()}")
        return self.folder

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.folder], check=True)
