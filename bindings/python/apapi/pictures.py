# SPDX-License-Identifier: BSD-3-Clause
"""Power over time as a picture, by `apapi plot`; a notebook shows it.

    apapi.plot(4711)                       # from the site's accounting
    apapi.plot(4711, "energy-4711.json")   # from files of your own
"""

from __future__ import annotations

import os
import tempfile

from .recorded import run_program

__all__ = ["Picture", "plot"]


class Picture:
    """An SVG, which notebooks show by themselves."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str) -> None:
        """Write it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def plot(job: object, *files: str) -> Picture:
    """A picture of the power of a job, or step ("4711.0"), over time.

    files: records; none: the site's accounting. RuntimeError has what `apapi plot` says is wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "power.svg")
        ran = run_program("apapi", "plot", str(job), "-o", path, *map(os.fspath, files))
        if ran.returncode:
            raise RuntimeError(ran.stderr.decode(errors="replace").strip())
        with open(path, encoding="utf-8") as file:
            return Picture(file.read())
