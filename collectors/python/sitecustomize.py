"""Records chosen functions as regions: a start-up hook that `gpu-tracker run --regions python:…` puts first on PYTHONPATH.

From Python 3.12 on by sys.monitoring, in which functions that were not chosen cost nothing after their first call; before by
sys.setprofile. A user's own sitecustomize is imported as if this one were not there.
"""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _import_next():
    """The user's own start-up hook."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _FOLDER]
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if mine:
            sys.modules["sitecustomize"] = mine


class _Recorder:
    """Which code is chosen, and the calls into the collector."""

    def __init__(self, patterns, library):
        import ctypes
        import fnmatch
        import re

        self.missing = {number: re.compile(fnmatch.translate(pattern)).match for number, pattern in enumerate(patterns)}
        self.fits = re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns)).match
        self.chosen = {}  # code -> (domain, name); None: it was seen and not chosen
        self.library = ctypes.CDLL(library)
        self.library.gput_region_domain.restype = ctypes.c_void_p
        self.library.gput_region_push.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self.library.gput_region_push.restype = None
        self.library.gput_region_pop.argtypes = [ctypes.c_void_p]
        self.library.gput_region_pop.restype = None
        self.push = self.library.gput_region_push
        self.pop = self.library.gput_region_pop

    def choose(self, code, namespace):
        """The domain and name of code that is met for the first time; None: it is not chosen."""
        name = getattr(code, "co_qualname", code.co_name)
        module = namespace.get("__name__")
        names = [module if isinstance(module, str) else "?"]
        if module == "__main__":  # the script by its own name, too
            names.append(os.path.splitext(os.path.basename(code.co_filename))[0])
        found = None
        if not name.rpartition(".")[2].startswith("<") and any(self.fits(f"{each}.{name}") for each in names):
            self._say_that_they_fit([f"{each}.{name}" for each in names])
            domain = self.library.gput_region_domain(names[-1].encode("utf-8", "replace"))
            found = (domain, name.encode("utf-8", "replace")) if domain else None
        return found


    def _say_that_they_fit(self, names):
        """What the report says nothing of: patterns that fit a function."""
        for number, fits in list(self.missing.items()):
            if any(map(fits, names)):
                self.missing.pop(number, None)
                _leave_file(f"{number}.fits")


def _leave_file(name):
    """An empty file next to the logs, which the command looks for."""
    try:
        os.close(os.open(os.path.join(os.environ["GPUT_REGIONS_FOLDER"], f"python-{name}"), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o666))
    except (OSError, KeyError):
        pass  # the report names one pattern too many


def _use_monitoring(recorder):
    """False: no tool id is free."""
    monitoring = sys.monitoring
    tool = next((number for number in (4, 3, 2, 1, 5, 0) if monitoring.get_tool(number) is None), None)
    if tool is None:
        return False
    events, disable, chosen = monitoring.events, monitoring.DISABLE, recorder.chosen
    push, pop, missing, frame_at = recorder.push, recorder.pop, object(), sys._getframe

    def start(code, offset):
        region = chosen.get(code, missing)
        if region is missing:
            region = recorder.choose(code, frame_at(1).f_globals)
            if region:
                chosen[code] = region
                monitoring.set_local_events(tool, code, events.PY_RETURN | events.PY_YIELD | events.PY_RESUME)
        if not region:
            return disable
        push(*region)

    def resume(code, offset, *exception):
        region = chosen.get(code)
        if region:
            push(*region)

    def leave(code, offset, value):
        region = chosen.get(code)
        if region:
            pop(region[0])

    monitoring.use_tool_id(tool, "gpu-tracker")
    for event, function in (
        (events.PY_START, start),
        (events.PY_RESUME, resume),
        (events.PY_THROW, resume),
        (events.PY_RETURN, leave),
        (events.PY_YIELD, leave),
        (events.PY_UNWIND, leave),
    ):
        monitoring.register_callback(tool, event, function)
    monitoring.set_events(tool, events.PY_START | events.PY_UNWIND | events.PY_THROW)
    return True


def _use_profile(recorder):
    """A generator's slices are calls and returns of their own here, too."""
    import threading

    chosen, push, pop, missing = recorder.chosen, recorder.push, recorder.pop, object()
    depths = threading.local()

    def profile(frame, event, value):
        if event == "call":
            region = chosen.get(frame.f_code, missing)
            if region is missing:
                region = chosen[frame.f_code] = recorder.choose(frame.f_code, frame.f_globals)
            if region:
                depths.open = getattr(depths, "open", 0) + 1
                push(*region)
        elif event == "return":
            region = chosen.get(frame.f_code)
            if region and getattr(depths, "open", 0) > 0:  # not of a call from before
                depths.open -= 1
                pop(region[0])

    threading.setprofile(profile)
    sys.setprofile(profile)


def _begin():
    patterns = [pattern for pattern in os.environ.get("GPUT_REGION_PYTHON", "").split(",") if pattern]
    if not patterns or not os.environ.get("GPUT_REGIONS_FOLDER"):
        return
    try:
        recorder = _Recorder(patterns, os.path.join(os.path.dirname(_FOLDER), "libgputracker-python.so"))
    except (ImportError, OSError, AttributeError):
        return  # the program goes on without
    _leave_file("started.fits")
    if not (hasattr(sys, "monitoring") and _use_monitoring(recorder)):
        _use_profile(recorder)


_import_next()
_begin()
