"""Sessions that have ended, sent to stores of metrics."""

from __future__ import annotations

from . import _native
from ._messages import log_warnings
from ._nearest import explains_options
from .table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    _Path = str | PathLike[str]


class Pushed:
    """What became of sessions: `sessions` were found, `failed` of them not sent, or not to their end. Moments of time whose metrics
    a receiver took (`sent`), did not take (`lost`), and figures of those that were sent that it refused (`refused`)."""

    def __init__(self) -> None:
        self.sessions = self.failed = self.sent = self.lost = self.refused = 0

    def __repr__(self) -> str:
        return f"Pushed({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


@explains_options
def push(
    *sessions: _Path,
    otlp: str | None = None,
    remote_write: str | None = None,
    labels: Mapping[str, str] | None = None,
    interval: float = 0,
    timeout: float = 0,
) -> Pushed:
    """Sends sessions that have ended to a receiver of metrics, with the times of their samples, as `gpu-tracker push` does.

    sessions: tracking files, reports in JSON, what killed sessions left, or folders of these.
    otlp: the address of an OpenTelemetry receiver ("http://collector:4318"), remote_write: of Prometheus or another store
    ("http://prometheus:9090"); one of them at least.
    labels: of all metrics.
    interval: at least so many seconds between two samples; 0: all are sent.
    timeout: seconds that the receiver has to answer; 0: 10 by otlp, 30 by remote_write.

    A session that cannot be sent is a warning, and the others are sent; where the receiver is not there, they are not tried. Raises
    OSError (ConnectionError: it is not there) or ValueError where none could be sent, and FileNotFoundError and ValueError for what is not a session.
    """
    text = ",".join(f"{name}={value}" for name, value in labels.items()) if labels else None
    tables, warnings = _native.report_files(list(sessions))
    pushed = Pushed()
    problem: Exception | None = None
    is_there = True
    for _, path, kind, results, copy_of in Table(tables["sessions"]).rows():
        if copy_of:
            warnings.append(f"{path} is skipped: it is the same session as {copy_of}.")
            continue
        if kind not in ("tracking", "results"):
            warnings.append(f"{path} is skipped: it has no metrics of a session.")
            continue
        samples, report = (path, results) if kind == "tracking" else (None, path)
        counts: list[tuple[int, int, int]] = []
        pushed.sessions += 1
        try:
            warnings += _native.push_session(samples, report, counts, otlp=otlp, remote_write=remote_write, labels=text, interval=interval, timeout=timeout)
        except (OSError, ValueError) as error:
            is_there = not isinstance(error, ProcessLookupError)
            problem = problem or (error if is_there else ConnectionError(str(error)))
            pushed.failed += 1
            warnings.append(f"{path} was not sent: {error}")
        for sent, lost, refused in counts:
            pushed.sent += sent
            pushed.lost += lost
            pushed.refused += refused
        if not is_there:
            break
    log_warnings(warnings)
    if problem and pushed.failed == pushed.sessions:
        raise problem
    if not pushed.sessions:
        raise ValueError("The named files and folders contain no session with metrics.")
    return pushed
