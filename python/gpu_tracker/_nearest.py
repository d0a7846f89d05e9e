"""What a mistyped word may stand for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])

# Words of other tools and of habit, and the name that we have. A row counts where that name is one of those that are there.
_SYNONYMS = (
    ("interval sleep period frequency", "sleep_time"),
    ("pid process", "process_id"),
    ("file filename path output out log_file csv", "tracking_file"),
    ("file filename path out html", "output"),
    ("file filename path out output", "sub_tracking_file"),
    ("name block label", "code_block_name"),
    ("marks", "sub_tracking_files"),
    ("unit units memory_unit", "ram_unit"),
    ("gpu gpus gpu_id gpu_ids device devices", "gpu_uuids"),
    ("cores n_cores cpus", "n_expected_cores"),
    ("quiet silent verbose", "disable_logs"),
    ("log logger wandb mlflow", "log_to"),
    ("port prometheus serve", "listen"),
    ("kill", "enforce"),
    ("force replace", "overwrite"),
    ("n repeat repeats repetitions iterations count", "runs"),
    ("track measure monitor", "Tracker"),
    ("analyze analyse analysis", "SubTrackingAnalyzer"),
    ("compare comparison diff", "TrackingComparison"),
    ("load read read_csv", "read_samples"),
)


def question(words: Iterable[str], word: object) -> str:
    """`: did you mean json?`, or "." where no word is near."""
    from . import _native

    # A list of words has no word with what separates them.
    known = [one for one in words if isinstance(one, str) and not set(one) & set(", ")]
    near = next((meant for others, meant in _SYNONYMS if word in others.split() and meant in known), "")
    listed = " ".join(known)
    if not near and isinstance(word, str) and "\0" not in word + listed:
        near = _native.nearest_words(listed, word)
    return f": did you mean {near}?" if near else "."


def explains_options(function: _F) -> _F:
    """A decorator: whoever mistypes the name of an option of this function is told which one may be meant."""
    import functools

    code = function.__code__
    options = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    shown = function.__qualname__.replace(".__init__", "")

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        for name in named:
            if name not in options:
                meant = question(options, name)
                raise TypeError(f"{shown}() has no option {name!r}{meant} All options: help(gpu_tracker.{shown})")
        return function(*args, **named)

    return call  # type: ignore[return-value]
