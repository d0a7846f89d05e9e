"""HTML reports inside of notebooks: the page, compressed, in a frame that may run its script and nothing else."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import os
import tempfile
from html import escape

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    _Path = str | os.PathLike[str]

# What the display of an object may add to a notebook, and what a report that is asked for may.
_MAX_OF_DISPLAY = 400_000
_MAX_OF_REPORT = 16_000_000

# The page replaces this one. It allows nothing but its own style and script, and has no origin: it sees nothing of the notebook.
_LOADER = """<!doctype html><html lang="en"><meta charset="utf-8"><title>gpu-tracker report</title><body>\
<script type="application/octet-stream" id="page">{page}</script><script>(async () => {{
const bytes = Uint8Array.from(atob(document.getElementById("page").textContent), (letter) => letter.charCodeAt(0));
const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
document.open(); document.write(text); document.close();
}})();</script>"""
_STYLE = "display:block;grid-area:1/1;width:100%;height:680px;border:1px solid #80889155;border-radius:6px;resize:vertical"


@contextlib.contextmanager
def sessions_of_tracker(tracking_file: _Path | None, results: dict[str, Any]) -> Iterator[list[_Path]]:
    """What a report of a tracker is made of. results: as JSON has them. Without a tracking file there are figures, and no curves."""
    with tempfile.TemporaryDirectory(prefix="gpu-tracker-") as folder:
        usage = os.path.join(folder, "session.json")
        with open(usage, "w") as file:
            json.dump(results, file)
        yield [usage] if tracking_file is None else [tracking_file, usage]


def page_of(sessions: Iterable[_Path], **options: Any) -> tuple[str, list[str]]:
    """The page of a report as text, and its warnings."""
    with tempfile.TemporaryDirectory(prefix="gpu-tracker-") as folder:
        path = os.path.join(folder, "report.html")
        warnings = _native.report(sessions, path, page=os.environ.get("GPUT_REPORT_PAGE"), **options)
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(), warnings


def frame(page: str, untrusted: str, most: int = _MAX_OF_REPORT, name: str = "report") -> str:
    """A frame with the page; "" where it would be larger than that. untrusted: what viewers show that strip the frame; it covers
    that text. name: "charts" begins at the charts."""
    packed = gzip.compress(page.encode("utf-8", "surrogateescape"), 9, mtime=0)
    if len(packed) * 4 / 3 > most:
        return ""
    text = _LOADER.format(page=base64.b64encode(packed).decode())
    content = f'<iframe title="gpu-tracker report" name="{name}" sandbox="allow-scripts" loading="lazy" style="{_STYLE}" srcdoc="{escape(text)}"></iframe>'
    return f'<div style="display:grid"><div style="grid-area:1/1">{untrusted}</div>{content}</div>'


def charts(sessions: Iterable[_Path], marks: Iterable[_Path] = ()) -> str:
    """Charts to zoom into, closed at first: nothing of them is drawn until somebody opens them. "" where there are none: no
    file any more, a build without reports, or a session that would make the notebook large."""
    try:
        page, _ = page_of(sessions, marks=list(marks))
    except (OSError, ValueError, RuntimeError):
        return ""
    content = frame(page, "Charts are shown here once the notebook is trusted.", _MAX_OF_DISPLAY, "charts")
    return f'<details><summary style="cursor:pointer">Charts to zoom into</summary>{content}</details>' if content else ""
