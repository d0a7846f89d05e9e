"""Static pictures for notebooks: an <img> with a data URI, which viewers keep that strip scripts and inline SVG."""

from __future__ import annotations

import base64
import re
from html import escape, unescape

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from typing import Any

# Of a cell's report, in millimetres.
_SMALL = {"width_mm": 95.0, "height_mm": 30.0}


def curves(lines: Iterable[tuple[Any, ...]], is_small: bool = True) -> str:
    """A picture over one axis of time.

    lines: (chart, label, unit, seconds, values) each.
    """
    svg, _ = _native.plot((), curves=lines, is_inline=True, **(_SMALL if is_small else {}))
    return image(svg)


def session(tracking_file: str | os.PathLike[str], marks: Sequence[str | os.PathLike[str]] = ()) -> str:
    """What a session used, with rows of the code blocks of `marks` below the curves; "" where its samples make no line.
    Raises OSError and ValueError."""
    options: dict[str, Any] = {"marks": list(marks), "blocks": True} if marks else {}
    svg, _ = _native.plot((tracking_file,), is_inline=True, **options)
    return image(svg) if re.search(r' d="[^"]*L[^"]*"><title>', svg) else ""


def image(svg: str) -> str:
    """Its title says what it shows."""
    title = re.search("<title>(.*?)</title>", svg)
    label = unescape(title[1]) if title else ""
    data = base64.b64encode(svg.encode("utf-8", "surrogateescape")).decode()
    return f'<img alt="{escape(label)}" src="data:image/svg+xml;base64,{data}"/>'
