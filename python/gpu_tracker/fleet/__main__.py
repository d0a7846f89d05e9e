"""`python -m gpu_tracker.fleet export|analyze`."""

from __future__ import annotations

import argparse
import sys

from .engines import ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TABLES = "overall", "code_blocks", "code_block_usage"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpu_tracker.fleet", description="Many sessions on an engine that exists.")
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser("export", help="write sessions as Parquet or Arrow: a file for each session and table")
    export.add_argument("sessions", nargs="+", metavar="FILE|DIR", help="tracking files, reports in JSON, sub-tracking files, or folders of these")
    export.add_argument("-o", "--output", required=True, metavar="DIR", help="where to; sessions that it has stay")
    export.add_argument("-f", "--format", choices=("parquet", "arrow"), default="parquet")
    export.add_argument("--overwrite", action="store_true", help="also sessions that the folder has")
    analyze = commands.add_parser("analyze", help="what the sessions and their code blocks used")
    analyze.add_argument("folder", metavar="DIR", help="made by export")
    analyze.add_argument("-e", "--engine", choices=ENGINES, help="default: the first that is installed")
    analyze.add_argument("--by", default="name", metavar="COLUMNS", help='of the sessions: "job_id,host"; "" for all as one (default: name)')
    analyze.add_argument("-t", "--table", choices=_TABLES, default="code_block_usage")
    analyze.add_argument("-o", "--output", metavar="FILE", help="a file that ends in .parquet or .csv; default: CSV to the standard output")
    return parser


def _write(table: Any, output: str | None) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    if output is None:
        pyarrow.csv.write_csv(table, sys.stdout.buffer)
    elif output.endswith(".parquet"):
        pyarrow.parquet.write_table(table, output, compression="zstd")
    else:
        pyarrow.csv.write_csv(table, output)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    failed = 0
    try:
        if options.command == "export":
            from .writing import export_some

            names, failed = export_some(options.sessions, options.output, options.format, options.overwrite)
            print(f"{len(names)} session{'s' * (len(names) != 1)} in {options.output}")
        else:
            from .analysis import analyze_some

            tables, failed = analyze_some(options.folder, options.engine, [name for name in options.by.split(",") if name])
            _write(tables[options.table], options.output)
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        print(f"gpu-tracker: {error}", file=sys.stderr)
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
