"""The history of sessions, which `gpu-tracker history` shows: whether this one is kept, and where."""

from __future__ import annotations

import os
import sys

from . import _native


def place() -> str | None:
    """The folder, as the command finds it (docs/history.md); None: there is none."""
    if named := os.environ.get("GPUT_HISTORY"):
        return named
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        home = os.environ.get("HOME", "")
        state = os.path.join(home, ".local/state") if os.path.isabs(home) else ""
    return os.path.join(state, "gpu-tracker") if state else None


def is_kept(wanted: bool | None) -> bool:
    """`wanted`: what the caller asked for; None: as the environment and `gpu-tracker history on` say. What is tracked inside of another
    session is in the row of that one."""
    if wanted is None and os.environ.get("GPUT_SESSION"):
        return False
    folder = place()
    if wanted and folder is None:
        raise ValueError("There is no place for a history: HOME is not set. GPUT_HISTORY=FOLDER names one.")
    return bool(wanted if wanted is not None else os.environ.get("GPUT_HISTORY") or (folder and _native.history_is_on(folder)))


def own_name() -> str:
    """This program and its script, as `gpu-tracker run` would name them."""
    program = getattr(sys, "orig_argv", [sys.executable])[0] or "python3"
    script = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c") else ""
    return f"{program} {script}".strip()
