"""`Shown`: what notebooks and prompts show of an object that has no figures of its own to show, or not yet."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Shown:
    """A subclass says by `_facts()` what it is: pairs of a word or two, and a text."""

    __slots__ = ()

    def _facts(self) -> Iterable[tuple[str, str]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(f'{what} {text}' for what, text in self._facts())}>"

    def _repr_html_(self) -> str:
        """For notebooks: a row for each fact."""
        from ._display import facts_html

        return facts_html(type(self).__name__, self._facts())
