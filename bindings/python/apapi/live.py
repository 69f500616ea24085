# SPDX-License-Identifier: BSD-3-Clause
"""The live page of a step: what has been measured so far, in shared memory (docs/live-page.md, apapi/live.h).

    page = apapi.LivePage()          # of this process's own step
    while page.domain("package").total is None:
        time.sleep(0.001)            # until the second reading of the step
    before = page.energy_j("package")
    work()
    print(page.energy_j("package") - before, "J")
"""

from __future__ import annotations

import math
import mmap
import os
import struct
import time
from typing import NamedTuple, Optional

__all__ = ["LivePage", "Slot"]

ENVIRONMENT = "APAPI_LIVE_PAGE"
MAGIC = b"APAPILIV"
VERSION = 1
UNKNOWN = 0xFFFFFFFF
HEAD = struct.Struct("=8s 4I 7I I q Q Q 64s 64s 256s 64s 128s")
HEAD_SIZE, SLOT_SIZE, EVENT_COUNT = 1024, 64, 256
SLOT = struct.Struct("=Q Q d d Q Q Q d")
DOMAINS = ("package", "dram", "gpu", "core", "uncore", "psys", "node")  # in the order of their numbers, from 1
TRIES = 1000
MEASURED, ESTIMATED, FAILED = 1, 2, 4


class Slot(NamedTuple):
    """A figure: energy and power of a domain, or total and rate of an event. None: not known."""

    time_ns: int  # time of the latest good reading, by CLOCK_MONOTONIC; 0: none yet
    total: Optional[float]
    rate: Optional[float]
    readings: int
    interval_ns: int
    estimated: bool
    failed: bool  # the latest reading failed
    uncertainty_j: Optional[float] = None  # of `total`, if that is an energy, when it was read


def _known(value: float) -> Optional[float]:
    return None if math.isnan(value) else value


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


class LivePage:
    """A page, mapped for reading. ENOENT, EACCES and others as OSError; ValueError: not a page of this version."""

    def __init__(self, path: Optional[str] = None) -> None:
        path = path or os.environ.get(ENVIRONMENT)
        if not path:
            raise FileNotFoundError(f"{ENVIRONMENT} is not set: this process is not in a measured step")
        with open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        if len(self._map) < HEAD_SIZE or self._map[:8] != MAGIC:
            raise ValueError(f"{path}: not a live page")
        head = HEAD.unpack_from(self._map)
        if head[1] != VERSION:
            raise ValueError(f"{path}: a live page of version {head[1]}, not {VERSION}")
        self.job, self.uid = head[5], head[10]
        self.step, self.cluster, self.node, self.user, self.job_name = (_text(raw) for raw in head[16:21])

    def close(self) -> None:
        """Unmap it."""
        self._map.close()

    def __enter__(self) -> LivePage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> str:
        """starting, running or ended."""
        number: int = struct.unpack_from("=I", self._map, 16)[0]
        return ("starting", "running", "ended")[min(number, 2)]

    def _slot(self, offset: int) -> Optional[Slot]:
        """A consistent copy: its number is even, and the same before and after."""
        for _ in range(TRIES):
            raw = bytes(self._map[offset : offset + SLOT_SIZE])
            sequence, time_ns, total, rate, readings, interval_ns, flags, within_j = SLOT.unpack(raw)
            if sequence % 2 == 0 and struct.unpack_from("=Q", self._map, offset)[0] == sequence:
                break
        else:
            return None
        if not flags & MEASURED:
            return None
        return Slot(time_ns, _known(total), _known(rate), readings, interval_ns, bool(flags & ESTIMATED),
                    bool(flags & FAILED), within_j if within_j > 0 else None)

    def domain(self, name: str) -> Optional[Slot]:
        """The figures of a domain; None: no meter, or no consistent copy."""
        return self._slot(HEAD_SIZE + (1 + DOMAINS.index(name)) * SLOT_SIZE)

    def domains(self) -> dict[str, Slot]:
        """All that have a meter."""
        found = ((name, self.domain(name)) for name in DOMAINS)
        return {name: slot for name, slot in found if slot}

    def energy_j(self, name: str, now_ns: Optional[int] = None) -> Optional[float]:
        """Energy of a domain since the first reading, extrapolated to now with its latest power, for two intervals at
        most. None: not known, as before the second reading."""
        slot = self.domain(name)
        if not slot:
            return None
        since_ns = max(0, (time.monotonic_ns() if now_ns is None else now_ns) - slot.time_ns)
        if slot.total is None or slot.rate is None:
            return None
        return slot.total + slot.rate * min(since_ns, 2 * slot.interval_ns) / 1e9

    def events(self) -> dict[str, Slot]:
        """The figures of each event, by its name."""
        count: int = struct.unpack_from("=I", self._map, 20)[0]
        slots = HEAD_SIZE + 8 * SLOT_SIZE
        names = slots + EVENT_COUNT * SLOT_SIZE
        name_size = (len(self._map) - names) // EVENT_COUNT
        found = {}
        for i in range(min(count, EVENT_COUNT)):
            slot = self._slot(slots + i * SLOT_SIZE)
            if slot:
                found[_text(self._map[names + i * name_size : names + (i + 1) * name_size])] = slot
        return found
