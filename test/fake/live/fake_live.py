#!/usr/bin/python3 -IS
# SPDX-License-Identifier: BSD-3-Clause
"""Live pages as a test wants them. Members are where test/abi/libapapi.layout says.

fake_live.py DIR FILE: live pages in DIR as the JSON array in FILE describes them, as samplers would write them. It prints
"ready", holds them until its standard input ends, and then removes them.

A page is {"node": "n1", "job": 17, "step": "0", "gid": 1000, "state": "running", "age_s": 12, "start_s": 1795168800 (since
1970, if it shall not be 12 s ago by the calendar, too), "user": ..., "domains": {"package": SLOT}, "events": [{"name": ...,
"unit": ..., "kind": 0, "domain": 1, "counter": true, SLOT}]}; members of the head have their names. A SLOT is {"now": 200,
"total": 100, "age_s": 0.1, "uncertainty_j": 0.5, "interval_s": 0.1, "readings": 10, "failed": true, "estimated": true,
"torn": true}; null is as if it were not there. "locked": false is a page whose writer was killed. "file" is a name that is not made of the page's own texts.
"""
import fcntl
import json
import math
import os
import pathlib
import re
import struct
import sys
import time

DOMAINS = ["", "package", "dram", "gpu", "core", "uncore", "psys", "node"]
STARTING, RUNNING, ENDED = range(3)
MEASURED, ESTIMATED, FAILED = 1, 2, 4
UNKNOWN = 2**32 - 1
CODES = {"uint32_t": "I", "uint64_t": "Q", "int64_t": "q", "double": "d"}


def read_layout():
    """By structure: its size, and of each member the offset, and how it is packed."""
    text = (pathlib.Path(__file__).parents[2] / "abi/libapapi.layout").read_text(encoding="utf-8")
    layout = {}
    for name, size, members in re.findall(r"^struct apapi_live_(\w+): (\d+); (.*)$", text, re.M):
        found = re.findall(r"(\d+) ([^;]*) (\w+)", members)
        layout[name] = int(size), {member: (int(offset), CODES.get(kind) or re.sub(r"char\[(\d+)\]", r"\1s", kind)) for offset, kind, member in found}
    return layout


LAYOUT = read_layout()


def put(page, at, structure, **values):
    for member, value in values.items():
        offset, code = LAYOUT[structure][1][member]
        if isinstance(value, str):
            value = value.encode()[: struct.calcsize(code) - 1]
        struct.pack_into(code, page, at + offset, value)


def place_of(member, number, structure):
    return LAYOUT["page"][1][member][0] + number * LAYOUT[structure][0]


def ago(seconds):
    return time.monotonic_ns() - int(seconds * 1e9)


def put_slot(page, at, wanted):
    age_s = wanted.get("age_s", 0.01)
    flags = MEASURED + FAILED * wanted.get("failed", False) + ESTIMATED * wanted.get("estimated", False)
    put(page, at, "slot", sequence=3 if wanted.get("torn") else 2, time_ns=ago(age_s) if age_s >= 0 else 0, flags=flags,
        total=wanted.get("total", math.nan), rate=wanted.get("now", math.nan), uncertainty_j=wanted.get("uncertainty_j", 0),
        readings=wanted.get("readings", 10), interval_ns=int(wanted.get("interval_s", 0.1) * 1e9))


def put_head(page, wanted):
    state = {"starting": STARTING, "ended": ENDED}.get(wanted.get("state"), RUNNING)
    age_s = wanted.get("age_s", 60)
    put(page, 0, "head", version=wanted.get("version", 1), size=len(page), state=state, tasks=1, writer=os.getpid(),
        event_count=len(wanted.get("events", [])), budget_j=wanted.get("budget_j", 0),
        budget_used_j=wanted.get("budget_used_j", 0), end_ns=ago(1) if state == ENDED else 0)
    put(page, 0, "head", **{key: wanted.get(key, UNKNOWN) for key in ("job", "array_job", "array_task", "het_job", "het_offset", "uid")})
    put(page, 0, "head", **{key: wanted.get(key, "") for key in ("step", "cluster", "node", "user", "job_name")})
    if state != STARTING:
        start_unix_ns = wanted["start_s"] * 10**9 if "start_s" in wanted else time.time_ns() - int(age_s * 1e9)
        put(page, 0, "head", start_ns=ago(age_s), start_unix_ns=start_unix_ns)
    page[:8] = b"APAPILIV"


def make_page(wanted):
    page = bytearray(LAYOUT["page"][0])
    for name, slot in wanted.get("domains", {}).items():
        put_slot(page, place_of("domains", DOMAINS.index(name), "slot"), slot)
    for number, event in enumerate(wanted.get("events", [])):
        put(page, place_of("names", number, "event"), "event", name=event.get("name", ""), unit=event.get("unit", ""),
            kind=event.get("kind", 0), domain=event.get("domain", 0), accumulates=event.get("counter", False))
        put_slot(page, place_of("events", number, "slot"), event)
    put_head(page, wanted)
    return page


def write_page(path, wanted):
    path.parent.mkdir(mode=0o755, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o440)  # it stays open, and locked
    if "gid" in wanted:
        os.fchown(file, -1, wanted["gid"])
    if wanted.get("locked", True):
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    os.write(file, make_page(wanted))


def main(folder, file):
    known = lambda members: {key: value for key, value in members.items() if value is not None}
    pages = json.loads(pathlib.Path(file).read_text(encoding="utf-8"), object_hook=known)
    paths = [pathlib.Path(folder, "n1", page["file"]) if "file" in page else
             pathlib.Path(folder, page.get("node", ""), f"{page.get('job', 0)}.{page.get('step', '')}") for page in pages]
    for path, page in zip(paths, pages):
        write_page(path, page)
    print("ready", flush=True)
    sys.stdin.read()
    for path in paths:
        path.unlink(missing_ok=True)


main(*sys.argv[1:])
