"""Times and file names of a training profile, under the names that programs of SageMaker Debugger import."""

from __future__ import annotations

import datetime
import enum
import os
import pathlib
import re

__all__ = [
    "TimeUnits", "convert_utc_datetime_to_microseconds", "convert_utc_datetime_to_nanoseconds",
    "convert_utc_timestamp_to_microseconds", "convert_utc_timestamp_to_nanoseconds", "convert_utc_timestamp_to_seconds",
    "get_node_id_from_system_profiler_filename", "get_node_id_from_tracefilename", "get_timestamp_from_tracefilename",
    "get_utctimestamp_us_since_epoch_from_system_profiler_file", "is_valid_tfprof_tracefilename", "is_valid_tracefilename",
    "ns_since_epoch_to_human_readable_time", "read_tf_profiler_metadata_file", "str2bool",
    "us_since_epoch_to_human_readable_time", "validate_system_profiler_file",
]  # fmt: skip

_WORDS = {True: {"y", "yes", "t", "true", "on", "1"}, False: {"n", "no", "f", "false", "off", "0"}}


def str2bool(v: bool | str) -> bool:
    """A bool as it is, and a word: y, yes, t, true, on and 1; n, no, f, false, off and 0; in any case of letters."""
    if isinstance(v, bool):
        return v
    for value, words in _WORDS.items():
        if v.lower() in words:
            return value
    raise ValueError(f"{v!r} is neither true nor false.")


# ---- Times ----


class TimeUnits(enum.Enum):
    SECONDS = 1
    MILLISECONDS = 2
    MICROSECONDS = 3
    NANOSECONDS = 4


# What one of each has of nanoseconds.
_NS = {TimeUnits.SECONDS: 10**9, TimeUnits.MILLISECONDS: 10**6, TimeUnits.MICROSECONDS: 10**3, TimeUnits.NANOSECONDS: 1}


def _converted(timestamp: float, unit: TimeUnits, wanted: TimeUnits) -> float:
    """Whole, except where it is divided out of nanoseconds."""
    if _NS[unit] >= _NS[wanted]:
        return int(timestamp * (_NS[unit] // _NS[wanted]))
    divided = timestamp / (_NS[wanted] // _NS[unit])
    return divided if unit is TimeUnits.NANOSECONDS else int(divided)


def convert_utc_timestamp_to_nanoseconds(timestamp: float, unit: TimeUnits = TimeUnits.MICROSECONDS) -> float:
    return _converted(timestamp, unit, TimeUnits.NANOSECONDS)


def convert_utc_timestamp_to_microseconds(timestamp: float, unit: TimeUnits = TimeUnits.MICROSECONDS) -> float:
    return _converted(timestamp, unit, TimeUnits.MICROSECONDS)


def convert_utc_timestamp_to_seconds(timestamp: float, unit: TimeUnits = TimeUnits.MICROSECONDS) -> float:
    return _converted(timestamp, unit, TimeUnits.SECONDS)


def convert_utc_datetime_to_nanoseconds(timestamp_datetime: datetime.datetime) -> float:
    return convert_utc_timestamp_to_nanoseconds(timestamp_datetime.timestamp(), TimeUnits.SECONDS)


def convert_utc_datetime_to_microseconds(timestamp_datetime: datetime.datetime) -> float:
    return convert_utc_timestamp_to_microseconds(timestamp_datetime.timestamp(), TimeUnits.SECONDS)


def _readable(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S:%f")


def us_since_epoch_to_human_readable_time(us_since_epoch: float) -> str:
    """"2020-06-03T04:51:39:000000" (UTC)."""
    return _readable(us_since_epoch / 1e6)


def ns_since_epoch_to_human_readable_time(ns_since_epoch: float) -> str:
    return _readable(ns_since_epoch / 1e9)


# ---- File names ----


def is_valid_tfprof_tracefilename(filename: str) -> bool:
    """Whether it is a trace of TensorFlow's profiler."""
    return filename.endswith("trace.json.gz") and "tensorflow/detailed_profiling" in filename


def is_valid_tracefilename(filename: str) -> bool:
    """Whether it is a file of events: …/pevents/…/END_NODE_….json."""
    return filename.endswith(".json") and "pevents" in filename and filename.count("_") >= 2


def validate_system_profiler_file(filename: str) -> bool:
    """Whether it is a file of readings: …/system/…/SECOND.algo-N.json."""
    return re.fullmatch(r".+/system/.+/\d{10}\.algo-\d+\.json", filename) is not None


def get_node_id_from_tracefilename(filename: str) -> str:
    if is_valid_tracefilename(filename):
        return os.path.basename(filename).split("_")[1]
    return read_tf_profiler_metadata_file(filename)[0]


def get_node_id_from_system_profiler_filename(filename: str) -> str | None:
    return os.path.basename(filename).split(".")[1] if validate_system_profiler_file(filename) else None


def get_timestamp_from_tracefilename(filename: str) -> int:
    """When its last event ended, in microseconds; 0: not known."""
    if is_valid_tracefilename(filename):
        return int(os.path.basename(filename).split("_")[0])
    return int(read_tf_profiler_metadata_file(filename)[2])


def get_utctimestamp_us_since_epoch_from_system_profiler_file(filename: str) -> int | None:
    return int(os.path.basename(filename).split(".")[0]) * 1_000_000 if validate_system_profiler_file(filename) else None


def read_tf_profiler_metadata_file(file_path: str) -> tuple[str, str, str]:
    """(node, start, end), in microseconds, as the name of the metadata file four folders above a trace has them."""
    if is_valid_tfprof_tracefilename(file_path):
        for path in sorted(pathlib.Path(*pathlib.Path(file_path).parts[:-4]).rglob("*.metadata")):
            node_id, start, end = path.stem.split("_")
            return node_id, start, end
    return "", "0", "0"
