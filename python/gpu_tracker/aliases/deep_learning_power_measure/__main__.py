"""`python -m deep_learning_power_measure`: records a command and shows the summary, or shows what was recorded."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys


def _yes(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    try:
        return words[text.lower()]
    except KeyError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither True nor False") from None


def parser(program: str) -> argparse.ArgumentParser:
    """What of a recording is to be shown."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--output_folder", "--output-folder", default="power_measure", help="the recording (%(default)s)")
    parser.add_argument("--curve", "--curves", help="plot these metrics: intel_power,total_dram_power")
    return parser


def _parser() -> argparse.ArgumentParser:
    of_all = parser("python -m deep_learning_power_measure")
    of_all.description = __doc__.partition(": ")[2]
    of_all.add_argument("--cmd", help="record this command, which a shell runs where it needs one; its exit status is passed on")
    of_all.add_argument("--period", help="seconds between two samples")
    of_all.add_argument("--measurement_period", "--measurement-period", help="seconds between two lines")
    of_all.add_argument(
        "--cont", nargs="?", const=True, default=False, type=_yes, metavar="True|False",
        help="add to the recording that is there, which is replaced without it",
    )  # fmt: skip
    return of_all


# What only a shell understands.
_OF_SHELLS = frozenset("|&;<>()$`*?[]#~=%{}!\n")


def _command(text: str) -> list[str]:
    """A shell runs the command where it needs one: also for builtins such as `exit`, `cd` and `ulimit`. Signals reach
    any other one itself."""
    if _OF_SHELLS.intersection(text) or not shutil.which(text.split()[0] if text.split() else ""):
        return ["--", "/bin/sh", "-c", text]
    return [f"--cmd={text}"]


def _record(arguments: argparse.Namespace) -> int:
    """The status of the command as subprocess has it: negative, where a signal ended it."""
    from gpu_tracker.__main__ import COMMAND
    from gpu_tracker.power import JsonParser

    if not arguments.cont:
        JsonParser(arguments.output_folder).erase()
    words = ["energy", "record", f"--output-folder={arguments.output_folder}"]
    for option in ("period", "measurement_period"):
        if getattr(arguments, option) is not None:
            words.append(f"--{option.replace('_', '-')}={getattr(arguments, option)}")
    words += ["--cont"] * arguments.cont
    recording = subprocess.Popen([COMMAND, *words, *_command(arguments.cmd)])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: recording.send_signal(number))
    return recording.wait()


def show(arguments: argparse.Namespace) -> int:
    """Prints the summary, or plots the metrics; the exit status."""
    from gpu_tracker.power import ExpResults

    try:
        results = ExpResults(arguments.output_folder)
        results.print()
        if arguments.curve is not None:
            results.display_curves(arguments.curve.split(","))
    except (OSError, ValueError) as error:
        print(f"gpu-tracker: {error}", file=sys.stderr)
        return 1
    return 0


def _end(status: int) -> int:
    """As the command ended."""
    if status < 0:
        sys.stdout.flush()  # a signal that ends us would take the summary with it
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def main() -> int:
    arguments = _parser().parse_args()
    if arguments.cmd is None:
        return show(arguments)
    try:
        status = _record(arguments)
    except OSError as error:
        print(f"gpu-tracker: {error}", file=sys.stderr)
        return 125
    if status not in (125, 126, 127):  # a command that never began has recorded nothing
        show(arguments)
    return _end(status)


if __name__ == "__main__":
    sys.exit(main())
