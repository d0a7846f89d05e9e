"""The resource usage that the older Python package pickles while it tracks: its classes, made up here."""

import os
import pickle
import sys
import types

MODULE = "gpu_tracker.tracker"
RSS_PARTS = {"total_rss": 1, "private_rss": 0.75, "shared_rss": 0.25}


class Evil:
    """Runs a command when it is loaded as a pickle."""

    def __reduce__(self):
        return os.system, ("touch ran",)


def _made(name, **fields):
    value = type(name, (), {"__module__": MODULE, "__qualname__": name})()
    vars(value).update(fields)
    return value


def _percentages(number):
    return _made("ProcessingUnitPercentages", max_sum_percent=number, max_hardware_percent=number / 4,
                 mean_sum_percent=number / 2, mean_hardware_percent=number / 8)


def rss(megabytes):
    """Whole bytes times the factor of the unit."""
    return {name: round(megabytes * part * 1e6) * 1e-6 for name, part in RSS_PARTS.items()}


def usage(descendants="descendants", ram_unit="megabytes"):
    """Of version 3 with descendants="descendents"."""
    return _made(
        "ResourceUsage",
        max_ram=_made("MaxRAM", unit=ram_unit, system_capacity=67254.165504, system=1847.590912, main=_made("RSSValues", **rss(603.52512)),
                      combined=_made("RSSValues", **rss(623.522048)), **{descendants: _made("RSSValues", **rss(20))}),
        max_gpu_ram=_made("MaxGPURAM", unit="gigabytes", system_capacity=16.376, system=0.535, main=0.314, combined=0.506,
                          **{descendants: 0.192}),
        cpu_utilization=_made(
            "CPUUtilization", system_core_count=12, n_expected_cores=4, system=_percentages(160.0), main=_percentages(100.0),
            combined=_percentages(120.0), main_n_threads=15, combined_n_threads=17,
            **{descendants: _percentages(20.0), descendants + "_n_threads": 2}),
        gpu_utilization=_made("GPUUtilization", system_gpu_count=1, n_expected_gpus=1, gpu_percentages=_percentages(8.0)),
        compute_time=_made("ComputeTime", unit="minutes", time=1.5),
    )


def pickled(value, protocol=4):
    """As a program pickles it in which those classes are the module's."""
    module = types.ModuleType(MODULE)
    todo = [value]
    while todo:
        one = todo.pop()
        if type(one).__module__ != MODULE:
            continue
        name = type(one).__name__
        one.__class__ = vars(module).setdefault(name, type(one))
        todo += vars(one).values()
    kept = {name: sys.modules.get(name) for name in ("gpu_tracker", MODULE)}
    sys.modules.update({"gpu_tracker": types.ModuleType("gpu_tracker"), MODULE: module})
    try:
        return pickle.dumps(value, protocol)
    finally:
        for name, before in kept.items():
            if before is None:
                del sys.modules[name]
            else:
                sys.modules[name] = before
