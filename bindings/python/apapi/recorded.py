# SPDX-License-Identifier: BSD-3-Clause
"""Records of APAPI: a line of JSON for each job step and node (docs/record.md).

    for record in apapi.records("energy-*.json", job=4711):
        print(record.node, record.energy_j, "±", record.uncertainty_j)

    apapi.frame(apapi.records("/var/log/apapi", since=date(2026, 11, 1)))   # pandas

Energies are in joules, powers in watts, times in seconds. What is not known is None.
"""

from __future__ import annotations

import dataclasses
import datetime
import glob
import gzip
import json
import operator
import os
import subprocess
from collections.abc import Iterable, Iterator
from typing import IO, Any, Optional, Union

__all__ = ["Bin", "Domain", "Record", "Records", "frame", "records"]

VERSION = 1  # of the record's format
ADD_UP = ("package", "dram", "gpu")  # domains whose energies add up
MANDATORY = operator.itemgetter("node", "start", "elapsed_s", "late_s", "complete", "domains", "components", "trust")
Source = Union[str, "os.PathLike[str]", IO[str], IO[bytes]]


@dataclasses.dataclass(frozen=True)
class Domain:
    """Energy and power of a domain: package, dram, gpu and so on."""

    energy_j: Optional[float] = None
    uncertainty_j: Optional[float] = None
    covered: Optional[float] = None
    rest_j: Optional[float] = None
    mean_w: Optional[float] = None
    min_w: Optional[float] = None
    max_w: Optional[float] = None
    p95_w: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class Bin:
    """A part of a record's timeline."""

    start_s: float  # since the start of the record
    length_s: float
    energy_j: Optional[float]  # of the known part of the bin
    covered: float  # known part of the bin's time, 0..1

    @property
    def mean_w(self) -> Optional[float]:
        """Mean power of the known part."""
        known_s = self.length_s * self.covered
        return None if self.energy_j is None or known_s <= 0 else self.energy_j / known_s


@dataclasses.dataclass(frozen=True)
class Record:
    """What was measured for one step on one node. `raw` has all of it, with the names of docs/record.md."""

    raw: dict[str, Any]
    node: str
    start: datetime.datetime  # UTC
    elapsed_s: float
    complete: bool
    cluster: Optional[str] = None
    job: Optional[int] = None
    step: Optional[str] = None
    name: Optional[str] = None
    job_name: Optional[str] = None
    user: Optional[str] = None
    account: Optional[str] = None
    partition: Optional[str] = None
    tasks: Optional[int] = None
    domains: dict[str, Domain] = dataclasses.field(default_factory=dict)

    @property
    def end(self) -> datetime.datetime:
        """When its last reading was, UTC."""
        return self.start + datetime.timedelta(seconds=self.elapsed_s)

    @property
    def energy_j(self) -> Optional[float]:
        """Energy of the domains that add up: package, dram and gpu."""
        return _number(self.raw.get("total", {}).get("energy_j"))

    @property
    def mean_w(self) -> Optional[float]:
        """Mean power of the same."""
        return _sum(domain.mean_w for name, domain in self.domains.items() if name in ADD_UP and domain.mean_w is not None)

    @property
    def uncertainty_j(self) -> Optional[float]:
        """Of energy_j: covers the error in 95 of 100 runs, but for the meters' own."""
        return _sum(domain.uncertainty_j for name, domain in self.domains.items()
                    if name in ADD_UP and domain.energy_j is not None)

    @property
    def covered(self) -> Optional[float]:
        """Share of the time between good readings, 0..1."""
        return _number(self.raw.get("trust", {}).get("covered"))

    def timeline(self, domain: str) -> list[Bin]:
        """Energy over time of a domain; empty if there is none."""
        timeline = self.raw.get("timeline", {})
        bins = timeline.get(domain)
        if bins is None:
            return []
        width = timeline["bin_s"]
        percent = bins.get("covered_pct", {})
        return [self._bin(place, count, width, bins["unit_j"], percent) for place, count in enumerate(bins["n"])]

    def _bin(self, place: int, count: Optional[int], width: float, unit_j: float, percent: dict[str, float]) -> Bin:
        start = place * width
        length = min(width, self.elapsed_s - start) if start < self.elapsed_s else width
        if count is None:
            return Bin(start, length, None, 0.0)
        return Bin(start, length, count * unit_j, percent.get(str(place), 100) / 100)


def _number(value: Any) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _stamp(text: str) -> datetime.datetime:
    """Of a record: nanoseconds, which Python cuts to microseconds."""
    whole, _, rest = text.rstrip("Z").partition(".")
    moment = datetime.datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return moment + datetime.timedelta(microseconds=int((rest + "000000")[:6]))


def _sum(numbers: Iterable[Optional[float]]) -> Optional[float]:
    """None if there are none, or one of them is not known."""
    found = list(numbers)
    known = [number for number in found if number is not None]
    return sum(known) if known and len(known) == len(found) else None


def _domain(values: dict[str, Any]) -> Domain:
    return Domain(**{field.name: _number(values.get(field.name)) for field in dataclasses.fields(Domain)})


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _record(raw: dict[str, Any]) -> Record:
    MANDATORY(raw)
    if any(part.get("energy_j", 0) < 0 for part in (*raw["domains"].values(), raw.get("total", {}), raw["trust"])):
        raise ValueError("an energy below 0")
    texts = {key: raw.get(key) for key in
             ("cluster", "job", "step", "name", "job_name", "user", "account", "partition", "tasks")}
    return Record(
        raw=raw,
        node=raw["node"],
        start=_stamp(raw["start"]),
        elapsed_s=float(raw["elapsed_s"]),
        complete=bool(raw["complete"]),
        domains={name: _domain(values) for name, values in raw["domains"].items()},
        **texts,
    )


class Records(Iterator[Record]):
    """An iterator of records. `skipped` counts the lines that were none, as a torn last line; `newer` those of a later
    version."""

    def __init__(self, lines: Iterator[Union[str, bytes]], job: Optional[int], user: Optional[str]) -> None:
        self._lines = lines
        self._pending: list[Record] = []
        self._job, self._user = job, user
        self.skipped = 0
        self.newer = 0

    def __iter__(self) -> Records:
        return self

    def __next__(self) -> Record:
        while not self._pending:
            self._pending = [record for record in self._read(next(self._lines)) if self._is_wanted(record)]
        return self._pending.pop(0)

    def _is_wanted(self, record: Record) -> bool:
        return self._job in (None, record.job) and self._user in (None, record.user)

    def _read(self, line: Union[str, bytes]) -> list[Record]:
        """Of a line: a record, or those of `atime -r`."""
        try:
            text = _element(line)
            found = list(_raws(json.loads(text, object_pairs_hook=_object, parse_constant=_refuse))) if text else []
            if any(each["apapi"] > VERSION for each in found):
                self.newer += 1
                return []
            return [_record(each) for each in found if "start" in each]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.skipped += 1
            return []


def _element(line: Union[str, bytes]) -> str:
    """An array has an element in each line, as `srun --apapi-format=json` writes it."""
    text = line.decode() if isinstance(line, bytes) else line
    return text.strip().removeprefix("[").rstrip(",]")


def _raws(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for several in ("programs", "runs"):
        if several in raw:
            for each in raw[several]:
                yield from _raws(each)
            return
    yield raw


def run_program(*words: str) -> subprocess.CompletedProcess[bytes]:
    """Run it and keep what it writes."""
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except FileNotFoundError:
        raise FileNotFoundError(f"the program '{words[0]}' is not in PATH") from None


def _open(path: str) -> Union[IO[bytes], gzip.GzipFile]:
    if path.endswith(".gz"):
        return gzip.open(path, "rb")
    if path.endswith(".zst"):
        raise OSError(f"{path}: compressed with zstd, and only gzip is read")
    return open(path, "rb")


def _files(source: str, since: Optional[datetime.date]) -> Iterator[str]:
    """A file, a pattern, or an accounting folder: its folders are named by the day of the records' end."""
    if not os.path.isdir(source):
        found = sorted(glob.glob(source)) or [source]
        yield from found
        return
    for folder, folders, names in os.walk(source):
        folders.sort()
        day = os.path.basename(folder)
        if since and len(day) == 10 and day < since.isoformat()[:10]:
            continue
        for name in sorted(names):
            if name.endswith((".jsonl", ".json", ".jsonl.gz", ".jsonl.zst")):
                yield os.path.join(folder, name)


def _lines(source: Source, since: Optional[datetime.date]) -> Iterator[Union[str, bytes]]:
    if not isinstance(source, (str, os.PathLike)):
        yield from source
        return
    before, seen = "", set[int]()
    for path in _files(os.fspath(source), since):
        plain = path[:-3] if path.endswith(".gz") else path
        known = seen if plain == before else set[int]()
        before, seen = plain, set(known)
        other = plain if path != plain else plain + ".gz"
        if not os.path.exists(path) and os.path.exists(other):
            path = other  # gzip or gunzip has made the other one meanwhile
        with _open(path) as file:
            try:
                for line in file:
                    seen.add(hash(line))
                    if hash(line) not in known:
                        yield line
            except EOFError:
                # tolerate a .gz that gzip is still writing from the plain file, but not an older .gz of another file
                if not known or (os.path.exists(plain) and os.path.getmtime(path) < os.path.getmtime(plain)):
                    raise


def accounting_folder() -> str:
    """acct_dir of apapi.conf, as `apapi config` shows it."""
    shown = run_program("apapi", "config")
    for line in shown.stdout.decode().splitlines():
        words = line.replace("=", " ").split()
        if words[:1] == ["acct_dir"]:
            return words[1]
    raise LookupError(f"apapi config shows no acct_dir {shown.stderr.decode(errors='replace')}".strip())


def records(source: Optional[Source] = None, *, job: Optional[int] = None, user: Optional[str] = None,
            since: Optional[datetime.date] = None) -> Records:
    """Read records.

    source: a file (also .gz), a pattern of files, an accounting folder, or an open file; None: the site's
    accounting folder, which only root can read. Of srun's formats: json; a merged record has no records of nodes.
    job, user: only these. since: of a folder, only records that ended on this day (UTC) or later.
    """
    return Records(_lines(accounting_folder() if source is None else source, since),
                   None if job is None else operator.index(job), user)


def frame(found: Iterable[Record]) -> Any:
    """A pandas.DataFrame with a row for each record. Unknown numbers are NaN."""
    import pandas  # type: ignore[import]  # only here, because everything else works without pandas

    columns = ("cluster", "job", "step", "node", "name", "job_name", "user", "account", "partition", "tasks", "start",
               "elapsed_s", "complete", "covered", "energy_j", "uncertainty_j", "mean_w")
    rows = []
    for record in found:
        row = {name: getattr(record, name) for name in columns}
        for name, domain in record.domains.items():
            row[f"{name}_j"], row[f"{name}_w"] = domain.energy_j, domain.mean_w
        rows.append(row)
    return pandas.DataFrame(rows, columns=None if rows else list(columns))
