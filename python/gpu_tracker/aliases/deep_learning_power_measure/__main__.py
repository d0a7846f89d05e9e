"""`python -m deep_learning_power_measure`: records a command, or shows what was recorded."""

import argparse
import sys


def _parser():
    parser = argparse.ArgumentParser(prog="python -m deep_learning_power_measure", description=__doc__.partition(": ")[2])
    parser.add_argument("--output_folder", "--output-folder", required=True, help="the recording")
    parser.add_argument("--cmd", help="record this command; its exit status is passed on")
    parser.add_argument("--period", help="seconds between two samples")
    parser.add_argument("--measurement_period", "--measurement-period", help="seconds between two lines")
    parser.add_argument("--cont", action="store_true", help="add to the recording that is there")
    parser.add_argument("--curve", "--curves", help="plot these metrics: intel_power,total_dram_power")
    return parser


def _record(arguments):
    from gpu_tracker.__main__ import main

    words = ["energy", "record", f"--output-folder={arguments.output_folder}", f"--cmd={arguments.cmd}"]
    for option in ("period", "measurement_period"):
        if getattr(arguments, option) is not None:
            words.append(f"--{option.replace('_', '-')}={getattr(arguments, option)}")
    sys.argv[1:] = words + ["--cont"] * arguments.cont
    return main()


def _show(arguments):
    from gpu_tracker.power import ExpResults

    results = ExpResults(arguments.output_folder)
    if arguments.curve is None:
        results.print()
    else:
        results.display_curves(arguments.curve.split(","))


def main():
    arguments = _parser().parse_args()
    if arguments.cmd is not None:
        return _record(arguments)
    try:
        return _show(arguments)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
