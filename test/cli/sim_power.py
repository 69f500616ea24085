# SPDX-License-Identifier: BSD-3-Clause
"""In a simulation with powercap/clock, a counter at 1 W: does that clock go as the machine's does, and has each zone its
power? What was looked at while the machine did something else is looked at again."""
import pathlib
import sys
import time

TOP = pathlib.Path("/sys/class/powercap")
WATTS = {"intel-rapl:0": 100, "intel-rapl:1": 100, "intel-rapl:0:0": 35.5, "intel-rapl:1:0": 35.5, "intel-rapl:0:1": 20, "intel-rapl:1:1": 20}
PATIENCE_S = 120


def joules(path):
    return int((TOP / path).read_text().split()[0]) / 1e6


def late_s():
    """By how much the clock is behind the machine's, at best."""
    return min(time.monotonic() - joules("clock") for _ in range(50))


def clock_goes_right():
    begin_s, late_at_begin_s = time.monotonic(), late_s()
    time.sleep(0.5)
    return abs(late_s() - late_at_begin_s) < 0.01 * (time.monotonic() - begin_s)


def has_its_power(zone, watts):
    before_s, energy_j, after_s = joules("clock"), joules(f"{zone}/energy_uj"), joules("clock")
    return after_s - before_s < 0.002 * before_s and before_s - 1e-6 <= energy_j / watts <= after_s + 1e-6


def until(condition, what):
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline_s:
            sys.exit(f"never: {what}")


zones = {path.parent.name for path in TOP.glob("intel-rapl:*/energy_uj")}
if zones != set(WATTS):
    sys.exit(f"other zones: {zones}")
until(clock_goes_right, "the pace of the machine's clock")
for name, power_w in WATTS.items():
    until(lambda: has_its_power(name, power_w), f"{power_w} W of {name}")
