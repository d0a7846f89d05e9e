"""What a mistyped word may stand for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def question(words: Iterable[str], word: object) -> str:
    """`: did you mean json?`, or "." where no word is near."""
    from . import _native

    # A list of words has no word with what separates them.
    listed = " ".join(known for known in words if isinstance(known, str) and not set(known) & set(", "))
    near = _native.nearest_words(listed, word) if isinstance(word, str) and "\0" not in word + listed else ""
    return f": did you mean {near}?" if near else "."
