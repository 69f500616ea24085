# SPDX-License-Identifier: BSD-3-Clause
"""Energy of Slurm jobs and of programs, measured by APAPI: regions of a program, records, live pages, pictures.

    import apapi

    with apapi.region("assemble"):              # apapi.regions
        ...
    for record in apapi.records("energy.json"): # apapi.recorded
        print(record.node, record.energy_j)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .regions import available, begin, end, fom, region, stop

if TYPE_CHECKING:
    from .live import LivePage as LivePage, Slot as Slot
    from .pictures import Picture as Picture, plot as plot
    from .recorded import Bin as Bin, Domain as Domain, Record as Record, Records as Records
    from .recorded import frame as frame, records as records

# These modules are loaded when a name of theirs is asked for: a program that only marks regions does not wait for them.
_HOMES = {
    "LivePage": "live", "Slot": "live",
    "Picture": "pictures", "plot": "pictures",
    "Bin": "recorded", "Domain": "recorded", "Record": "recorded", "Records": "recorded", "frame": "recorded",
    "records": "recorded",
}

__all__ = ["available", "begin", "end", "fom", "region", "stop", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'apapi' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
