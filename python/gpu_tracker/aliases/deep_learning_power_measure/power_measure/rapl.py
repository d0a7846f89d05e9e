"""RAPL's counters as AIPowerMeter's programs take them: two samples, and their difference.

    before = rapl.RAPLSample.take_sample()
    ...
    difference = rapl.RAPLSample.take_sample() - before
    difference.average_power("package-0")                       # watts
    difference.energy("package-0", "dram", unit=rapl.JOULES)
"""

from __future__ import annotations

import os
import pathlib
import re
from datetime import datetime
from time import monotonic

UJOULES, JOULES, WATT_HOURS = 1, 2, 3
_IN_A_JOULE: dict[int, float] = {UJOULES: 1e6, JOULES: 1, WATT_HOURS: 1 / 3600}

_ZONE = re.compile(r"intel-rapl:\d+(:\d+)?")


def folder() -> pathlib.Path:
    """Where the zones are."""
    return pathlib.Path(os.environ.get("GPUT_SYSFS") or "/sys") / "class" / "powercap"


def zones() -> list[pathlib.Path]:
    """The folders of packages and their domains, those above first."""
    try:
        found = [path for path in folder().iterdir() if _ZONE.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(found, key=lambda path: [int(number) for number in path.name.split(":")[1:]])


class RAPLDomain:
    """A counter: name, id, values and max_values (both {"energy_uj": microjoules}), and subdomains by name."""

    def __init__(self, zone: str, name: str, energy_uj: int, range_uj: int) -> None:
        self.id = zone
        self.name = name
        self.values = {"energy_uj": energy_uj}
        self.max_values = {"energy_uj": range_uj}
        self.subdomains: dict[str, RAPLDomain] = {}
        self.parent: RAPLDomain | None = None

    def is_subdomain(self) -> bool:
        return self.id.count(":") > 1

    def parent_id(self) -> str:
        return ":".join(self.id.split(":")[:2])

    def __sub__(self, other: RAPLDomain) -> RAPLDomain:
        moved, range_uj = self.values["energy_uj"] - other.values["energy_uj"], self.max_values["energy_uj"]
        return RAPLDomain(self.id, self.name, moved if moved >= 0 else moved + range_uj, range_uj)

    def __repr__(self) -> str:
        return f"{self.name}: energy_uj={self.values['energy_uj']}"


class RAPLSample:
    """All counters at one moment: domains by name, domains_by_id, timestamp.

    A counter that cannot be read is skipped. Raises ValueError where there is none at all.
    """

    def __init__(self) -> None:
        self.domains: dict[str, RAPLDomain] = {}
        self.domains_by_id: dict[str, RAPLDomain] = {}
        self.timestamp = datetime.now()
        self._taken = monotonic()

    @classmethod
    def take_sample(cls) -> RAPLSample:
        sample = cls()
        for path in zones():
            try:
                name = (path / "name").read_text().strip()
                numbers = (int((path / file).read_text()) for file in ("energy_uj", "max_energy_range_uj"))
                sample._add(RAPLDomain(path.name, name, *numbers))
            except (OSError, ValueError):
                continue
        if not sample.domains:
            raise ValueError(f"No RAPL counter can be read in {folder()}. `gpu-tracker doctor` says why and what opens them.")
        return sample

    def _add(self, domain: RAPLDomain) -> None:
        self.domains_by_id[domain.id] = domain
        if not domain.is_subdomain():
            self.domains[domain.name] = domain
        elif domain.parent_id() in self.domains_by_id:
            parent = domain.parent = self.domains_by_id[domain.parent_id()]
            parent.subdomains[domain.name] = domain

    def __sub__(self, other: RAPLSample) -> RAPLDifference:
        difference = RAPLDifference()
        difference.duration = self._taken - other._taken
        for zone, domain in self.domains_by_id.items():
            if zone in other.domains_by_id:
                difference._add(domain - other.domains_by_id[zone])
        return difference

    def energy(self, package: str, domain: str | None = None, unit: int = UJOULES) -> float:
        """What a package's counter, or one of its domains', shows or has moved by."""
        of = self.domains[package] if domain is None else self.domains[package].subdomains[domain]
        microjoules = of.values["energy_uj"]
        return microjoules if unit == UJOULES else microjoules / 1e6 * _IN_A_JOULE[unit]


class RAPLDifference(RAPLSample):
    """What the counters moved by between two samples, `duration` seconds apart."""

    duration: float

    def average_power(self, package: str, domain: str | None = None, unit: int = JOULES) -> float:
        """The unit a second: watts."""
        return self.energy(package, domain, unit) / self.duration


class RAPLMonitor:
    @classmethod
    def sample(cls) -> RAPLSample:
        return RAPLSample.take_sample()
