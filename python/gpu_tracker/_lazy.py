"""Names of a module that load where they live when they are first asked for: importing the package stays quick."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def names_of(namespace: dict[str, Any], where: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a module.

    namespace: its globals(). where: {name: module of its package that has it}.
    """

    def __getattr__(name: str) -> Any:
        module = where.get(name)
        if module is None:
            from ._nearest import question

            # Programs ask for private names, to see whether they are there.
            meant = "." if name.startswith("_") else question([*where, *namespace.get("__all__", ())], name)
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}{meant}")
        from importlib import import_module

        value = getattr(import_module(f".{module}", namespace["__package__"]), name)
        namespace[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*namespace, *where, *namespace.get("__all__", ())})

    return __getattr__, __dir__
