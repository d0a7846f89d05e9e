"""What was written survives a power loss right after the end: on ext4 as distributions mount it, which is shut down without its journal."""

import ctypes
import fcntl
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from command import COMMAND, main, refusal
from report_data import use_page

EXT4_IOC_SHUTDOWN, WITHOUT_LOG = 0x8004587D, 2
CLONE_NEWNS = 0x20000


class PowerLoss(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.image, self.disk = self.folder / "image", self.folder / "disk"
        self.disk.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(32 << 20)
        # Where only this process sees the mount, no namespace that another test makes meanwhile keeps it after the loss of power.
        if ctypes.CDLL(None).unshare(CLONE_NEWNS) or refusal("mount", "--make-rprivate", "/"):
            self.skipTest("no mount namespace can be made")
        for words in ["mkfs.ext4", "-q", "-F", self.image], self.mount_words():
            if reason := refusal(*map(str, words)):
                self.skipTest(f"no file system can be mounted: {reason}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], stderr=subprocess.DEVNULL)
        use_page(self)

    def mount_words(self):
        return ["mount", "-o", "loop", self.image, self.disk]

    def lose_power(self):
        disk = os.open(self.disk, os.O_RDONLY)
        fcntl.ioctl(disk, EXT4_IOC_SHUTDOWN, struct.pack("I", WITHOUT_LOG))
        os.close(disk)
        subprocess.run(["umount", self.disk], check=True)
        subprocess.run(self.mount_words(), check=True)

    def test_reports_are_whole(self):
        for old in None, "old " * 100:
            for name in ("r.json", "r.html") if old else ():
                (self.disk / name).write_text(old)
                os.sync()
            subprocess.run([COMMAND, "run", "-q", "--overwrite", "-o", "r.json", "--report", "r.html", "--", "true"], cwd=self.disk, check=True)
            self.lose_power()
            self.assertIn("max_ram", (self.disk / "r.json").read_text())
            self.assertTrue((self.disk / "r.html").read_text().startswith("<!"))


if __name__ == "__main__":
    main()
