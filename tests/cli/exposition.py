"""The text formats that Prometheus reads, held to their grammars: its own (version 0.0.4) and OpenMetrics 1.0."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ({NUMBER})")
HEAD = re.compile(rf"# (HELP|TYPE|UNIT) ({NAME}) (.+)")
SUFFIXES = {"gauge": "", "counter": "_total", "info": "_info"}
UNITS = {"bytes", "seconds", "joules", "watts", "grams", "ratio"}


class Violation(Exception):
    """Text that is not in the format."""


def parse(text, openmetrics=False):
    """The samples: {'name{labels}': value}. Raises Violation for the first line that does not belong."""
    samples, families = {}, {}
    family = None
    lines = text.split("\n")
    if lines.pop() != "":
        raise Violation("the last line is not ended")
    if openmetrics and (not lines or lines.pop() != "# EOF"):
        raise Violation("the last line is not # EOF")
    for line in lines:
        head = HEAD.fullmatch(line)
        if head:
            what, name, rest = head.groups()
            if family is None or name != family["name"]:
                if name in families:
                    raise Violation(f"{name} is there twice: {line}")
                family = families[name] = {"name": name, "samples": 0}
            if what in family or family["samples"]:
                raise Violation(f"out of order: {line}")
            family[what] = rest
            continue
        sample = SAMPLE.fullmatch(line)
        if not sample:
            raise Violation(f"neither head nor sample: {line}")
        check_sample(sample[1], family, openmetrics, line)
        family["samples"] += 1
        series = sample[1] + (f"{{{sample[2]}}}" if sample[2] else "")
        if series in samples:
            raise Violation(f"there twice: {line}")
        samples[series] = float(sample[3])
    for family in families.values():
        check_family(family, openmetrics)
    return samples


def check_sample(name, family, openmetrics, line):
    if family is None or "TYPE" not in family or "HELP" not in family:
        raise Violation(f"no TYPE or HELP before {line}")
    suffix = SUFFIXES.get(family["TYPE"])
    if suffix is None or (family["TYPE"] == "info" and not openmetrics):
        raise Violation(f"no such type: {family['TYPE']}")
    if name != family["name"] + (suffix if openmetrics else ""):
        raise Violation(f"not of {family['name']}: {line}")


def check_family(family, openmetrics):
    name = family["name"]
    if not family["samples"]:
        raise Violation(f"{name} has no samples")
    if openmetrics:
        if name.endswith(("_total", "_info")):
            raise Violation(f"{name} is not a name of a family")
        if "UNIT" in family and (family["UNIT"] not in UNITS or not name.endswith("_" + family["UNIT"])):
            raise Violation(f"{name} does not end with its unit {family['UNIT']}")
    elif "UNIT" in family:
        raise Violation(f"{name} has a UNIT")
    elif name.endswith("_total") != (family["TYPE"] == "counter"):
        raise Violation(f"{name} is a {family['TYPE']}")
