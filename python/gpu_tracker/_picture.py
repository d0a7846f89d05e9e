"""Static pictures for notebooks: an <img> with a data URI, which viewers keep that strip scripts and inline SVG."""

import base64
import re
from html import escape, unescape

from . import _native

# Of a cell's report, in millimetres.
_SMALL = {"width_mm": 95.0, "height_mm": 30.0}


def curves(lines, is_small=True):
    """A picture over one axis of time.

    lines: (chart, label, unit, seconds, values) each.
    """
    svg, _ = _native.plot((), curves=lines, is_inline=True, **(_SMALL if is_small else {}))
    return image(svg)


def session(tracking_file):
    """What a session used; "" where its samples make no line. Raises OSError and ValueError."""
    svg, _ = _native.plot((tracking_file,), is_inline=True)
    return image(svg) if re.search(r' d="[^"]*L[^"]*"><title>', svg) else ""


def image(svg):
    """Its title says what it shows."""
    label = unescape(re.search("<title>(.*?)</title>", svg)[1])
    data = base64.b64encode(svg.encode("utf-8", "surrogateescape")).decode()
    return f'<img alt="{escape(label)}" src="data:image/svg+xml;base64,{data}"/>'
