"""Tracking from a process of its own: the command, attached to the program. Whatever becomes of the program, that process
continues to the program's end and completes its files."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
import uuid

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

# A shell starts the command in the background and ends, so that it is not a child of the program, and not counted. The command waits for
# a line: the shell has to be gone, or it would be seen as a child of the program. After that line come its options.
_DETACH = 'exec 3<&0; (read -r _ <&3; exec "$@" <&3 3<&-) >/dev/null & echo $!'
_BEGIN_SECONDS = 30
_DETAILS_SECONDS = 1
# Options of files are arguments: their names need not be UTF-8, as JSON is. They have their names in this process, which the command
# must not change. The file of results so far is another one there.
_PATHS = {"tracking_file": "--tf", "energy_folder": "--energy-folder", "resource_usage_file": None}


def _literal(path: str) -> str:
    """A name that the command takes as it is, also as one of many ranks: nothing is put into one that has a variable."""
    return path.replace("%", "%%") + "%q{GPUT_UNSET}"


def _own_number(procfs: str) -> int:
    """This process's pid there: in the procfs of another pid namespace it differs."""
    try:
        return int(os.readlink(f"{procfs}/self"))
    except (OSError, ValueError):
        raise RuntimeError(f"{procfs} does not show this process: it is of another pid namespace. See GPUT_PROCFS.") from None


class OwnProcessSession:
    """Has the methods of _native.Session that a Tracker uses."""

    def __init__(self, options: dict[str, Any], warnings: list[str], attempts: int, timeout: float, keeps_history: bool) -> None:
        """warnings: those that a session in this process has of these options."""
        self._warnings = warnings
        self._reported = set(warnings)
        self._options = options
        self._attempts = attempts
        self._timeout = timeout
        self._keeps_history = keeps_history
        name = options["resource_usage_file"] or f".gpu-tracker_{uuid.uuid4()}.json"
        self._report_file = os.path.abspath(name)
        self._so_far = f"{self._report_file}.so-far"
        self._log = f"{self._report_file}.log"
        self._pid: int | None = None
        self._pid_fd: int | None = None
        self._details: dict[str, Any] | None = None
        self._owner = os.getpid()

    def _command(self, pid: int) -> list[str]:
        from .__main__ import COMMAND

        words = [str(COMMAND), "attach", "-f", "json", "-o", _literal(self._report_file), "--tconfig=/dev/stdin"]
        words += ["--history" if self._keeps_history else "--no-history", "--resource-usage-file", _literal(self._so_far)]
        words += [f"{word}={_literal(self._options[name])}" for name, word in _PATHS.items() if word and self._options[name] is not None]
        return [*words, str(pid)]

    def _config(self) -> bytes:
        """The options for the command, as a config file has them."""
        given = {name: value for name, value in self._options.items() if name not in _PATHS and value is not None}
        return json.dumps(given, default=float).encode()  # JSON does not know numbers of NumPy

    def track(self, pid: int) -> None:
        procfs = os.environ.get("GPUT_PROCFS") or "/proc"
        if not pid:
            pid = _own_number(procfs)
        if not os.path.exists(f"{procfs}/{pid}"):
            raise ProcessLookupError(3, os.strerror(3))
        self._open(self._start(pid))
        end = time.monotonic() + _BEGIN_SECONDS
        while not os.path.exists(self._so_far):
            if not self._is_alive() and not os.path.exists(self._report_file):
                raise RuntimeError(f"The tracking process did not begin: {self._take_log() or 'it ended without a message.'}")
            if time.monotonic() > end:
                self._signal(signal.SIGKILL)
                self._close()
                raise RuntimeError(f"The tracking process did not begin within {_BEGIN_SECONDS} seconds.")
            time.sleep(0.001)

    def _start(self, pid: int) -> int:
        """The pid of the tracking process."""
        waits, goes = os.pipe()
        try:
            with self._begin_files() as log:
                done = subprocess.run(
                    ["/bin/sh", "-c", _DETACH, "sh", *self._command(pid)],
                    stdin=waits,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C in the terminal is not for it
                    check=True,
                )
            os.write(goes, b"\n" + self._config())
        finally:
            os.close(waits)
            os.close(goes)
        return int(done.stdout)

    def _begin_files(self) -> BinaryIO:
        """Gives the log, open."""
        self._refuse_other_file()
        try:
            # What an earlier session left would be taken for this one's.
            self._remove(self._report_file, self._so_far, self._log)
            return open(self._log, "xb")
        except OSError as error:
            raise type(error)(
                f"Cannot write {error.filename}: {error.strerror}. The tracking process keeps its files next to "
                "resource_usage_file; name one in a folder that can be written to."
            ) from None

    def _refuse_other_file(self) -> None:
        from ._usage import load_resource_usage

        try:
            if os.path.getsize(self._report_file):
                load_resource_usage(self._report_file)
        except OSError:
            pass  # it is not there, or what is wrong with it is reported when it is removed
        except (ValueError, LookupError, TypeError):
            raise FileExistsError(
                f"File {self._report_file} already exists and is not a resource usage file. Please name another one."
            ) from None

    def details_so_far(self) -> dict[str, Any] | None:
        """They come with the first sample. None: they did not, as on a full disk."""
        end = time.monotonic() + _DETAILS_SECONDS
        while True:
            try:
                return _native.load_report(self._so_far)
            except (OSError, ValueError):
                if time.monotonic() > end or not self._is_alive():
                    return None
            time.sleep(0.001)

    def address(self) -> str | None:
        listen: str | None = self._options["listen"]
        return listen

    def _open(self, pid: int) -> None:
        """The process is not a child of this one, so its pid can be reused; the descriptor cannot."""
        self._pid = pid
        try:
            self._pid_fd = os.pidfd_open(pid)
        except ProcessLookupError:
            self._pid = None  # has ended already
        except (AttributeError, OSError):
            pass  # not to be had in an old kernel or a sandbox

    def _close(self) -> None:
        if self._pid_fd is not None:
            os.close(self._pid_fd)
        self._pid = self._pid_fd = None

    def _signal(self, number: int) -> bool:
        """True when the process was there to get it; 0 only asks."""
        if self._pid is None:
            return False
        try:
            if self._pid_fd is None:
                os.kill(self._pid, number)
            else:
                signal.pidfd_send_signal(self._pid_fd, number)
        except ProcessLookupError:
            return False
        return True

    def _is_alive(self) -> bool:
        return self._signal(0)

    def _wait(self, seconds: float) -> bool:
        """True when it has ended."""
        if self._pid_fd is not None:
            return bool(select.select([self._pid_fd], [], [], seconds)[0])
        end = time.monotonic() + seconds
        while self._is_alive():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def stop(self) -> None:
        if self._owner != os.getpid():
            raise RuntimeError("This process is a fork of the one that tracks; only that one can use the tracker.")
        self._signal(signal.SIGTERM)
        for attempt in range(self._attempts):
            if self._wait(self._timeout):
                break
            self._warnings.append(f"The tracking process is still alive after {self._timeout} seconds.")
        else:
            self._signal(signal.SIGKILL)
            self._wait(self._timeout)
        self._details = self._read()
        said = (line.removeprefix("gpu-tracker: warning: ") for line in self._take_log().splitlines())
        self._warnings += [line for line in said if line not in self._reported]
        self._remove(self._report_file, self._so_far)
        self._close()

    @staticmethod
    def _remove(*paths: str) -> None:
        for path in paths:
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._report_file, encoding="utf-8") as file:
                report: dict[str, Any] = json.load(file)
                return report
        except FileNotFoundError:
            # Killed: what it kept until then.
            return _native.load_report(self._so_far)

    def _take_log(self) -> str:
        try:
            with open(self._log, encoding="utf-8", errors="replace") as file:
                text = file.read().strip()
            os.unlink(self._log)
        except FileNotFoundError:
            return ""
        return text

    def report(self, format: int) -> Any:
        if format == _native.DETAILS:
            return self._details
        from ._text import report_text

        assert self._details is not None
        return report_text(self._details)

    def take_warnings(self) -> list[str]:
        warnings, self._warnings = self._warnings, []
        return warnings
