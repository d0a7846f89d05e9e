from collections.abc import Iterable
from typing import Any

from .frame import PandasFrame

class Window:
    start_us: int
    end_us: int
    system: Any
    framework: Any
    def __init__(
        self,
        frame: PandasFrame,
        start_us: int,
        end_us: int,
        select_events: Iterable[str],
        select_dimensions: Iterable[str],
    ) -> None: ...
    @property
    def html(self) -> str: ...
