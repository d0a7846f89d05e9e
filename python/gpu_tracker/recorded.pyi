from collections.abc import Iterable
from os import PathLike

from .table import Table

_Path = str | PathLike[str]

def read_samples(tracking_file: _Path, spans: Iterable[tuple[float, float]] | None = None) -> Table: ...
def read_marks(sub_tracking_file: _Path, code_block_name: str | None = None) -> Table: ...
def read_calls(sub_tracking_file: _Path, code_block_name: str | None = None) -> Table: ...
