"""`python -m gpu_tracker`, and the command `gpu-tracker` that pip installs: the command itself, which
takes the place of this interpreter."""

from __future__ import annotations

import os
import pathlib
import signal
import sys

COMMAND = pathlib.Path(__file__).with_name("gpu-tracker")


def main() -> int:
    # Python ignores these, and what is executed would inherit that.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    if sys.argv[1:2] == ["report"]:
        os.environ.setdefault("GPUT_PYTHON", sys.executable)  # which writes Parquet files
    try:
        os.execv(COMMAND, ["gpu-tracker", *sys.argv[1:]])
    except OSError as error:
        print(f"gpu-tracker: Cannot execute {COMMAND}: {error.strerror}. Install the package again.", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
