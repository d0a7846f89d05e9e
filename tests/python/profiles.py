"""What the tests of gpu_tracker.profiler share."""

import contextlib
import datetime
import io
import sys

import package
import training
from training import BEGIN_US

from gpu_tracker import _pandas
from gpu_tracker.profiler import PandasFrame, PandasFrameAnalysis

try:
    import pandas
except ImportError:
    pandas = None


def moment(seconds):
    at = datetime.datetime(2020, 9, 13, 12, 26, 40) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S:%f")


def us(seconds):
    return BEGIN_US + round(seconds * 1e6)


def rows(frame):
    """A frame of any kind as tuples."""
    columns = [list(frame[name]) for name in frame.columns]
    return list(zip(*columns))


def column(frame, name):
    return list(frame[name])


def printed(function, *arguments):
    """What a function returns, and the lines that it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        result = function(*arguments)
    return result, text.getvalue().splitlines()


class ProfileTest(package.PackageTest):
    """With what is installed; WithoutPandas does the same as where pandas is not."""

    def setUp(self):
        super().setUp()
        self.frame = PandasFrame(training.write_training())
        self.analysis = PandasFrameAnalysis(
            self.frame.get_all_system_metrics(), self.frame.get_all_framework_metrics()
        )


class WithoutPandas:
    def setUp(self):
        kept = _pandas.pandas
        # Wherever it was imported to.
        for module in list(sys.modules.values()):
            if getattr(module, "pandas", None) is kept:
                module.pandas = lambda: None
                self.addCleanup(setattr, module, "pandas", kept)
        super().setUp()
