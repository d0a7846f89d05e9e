"""Many sessions at once, on an engine that exists: their samples, calls and processes as Parquet, and what their code blocks used.

    from gpu_tracker import fleet

    fleet.export(["runs"], "exported")              # a file for each session and table
    tables = fleet.analyze("exported")              # on DuckDB, polars, ClickHouse or Spark
    tables["code_block_usage"]                      # pyarrow Tables

`export` needs pyarrow (pip install pyarrow), `analyze` one of the engines, too. Of one session `gpu-tracker sub-track analyze`
says the same. `python -m gpu_tracker.fleet` has both as commands.
"""

from .._lazy import names_of as _names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .analysis import analyze as analyze
    from .engines import ENGINES as ENGINES, installed_engines as installed_engines
    from .writing import export as export

_WHERE = {
    "ENGINES": "engines",
    "analyze": "analysis",
    "export": "writing",
    "installed_engines": "engines",
}

__all__ = sorted(_WHERE)
__getattr__, __dir__ = _names_of(globals(), _WHERE)
