#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write hours of nodes and four records of each day, for the time that `apapi audit` needs."""
import datetime
import os
import sys

SUM = '{"energy_j":360000.5,"steps_j":250000.25,"idle_j":100000.125,"unattributed_j":10000.125}'
HOUR = (
    '{"apapi":1,"type":"hour","cluster":"c","node":"%s","start":"%s","end":"%s","measured_s":3599.9,"idle_w":112.5,'
    f'"steps":17,"method":"cpu-time","domains":{{"package":{SUM},"dram":{SUM},"gpu":{SUM}}},"total":{SUM},'
    f'"node_meter":{SUM},"gaps":[],"gaps_total":0,"resets":0}}\n'
)
ENERGY = '"package":{"energy_j":1500001.5,"uncertainty_j":1}'
RECORD = (
    '{"apapi":1,"cluster":"c","job":%d,"step":"0","name":"app","node":"%s","nodes":1,"user":"anna","start":"%s",'
    '"elapsed_s":21600,"late_s":0,"complete":true,"domains":{"package":{"energy_j":2000000,"mean_w":92}},"components":[],'
    f'"trust":{{"covered":1,"cpu_s":0.1,"samples":10}},"share":{{"method":"cpu-time","idle":"apart","interval_s":1,'
    f'"domains":{{{ENERGY}}},"total":{{"energy_j":1500001.5,"uncertainty_j":1}}}}}}\n'
)
FIRST = datetime.datetime(2026, 9, 1)


def stamp(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def write_day(folder, day, nodes):
    begin = FIRST + datetime.timedelta(days=day)
    times = [begin + datetime.timedelta(hours=hour) for hour in range(25)]
    os.makedirs(folder := f"{folder}/{begin:%Y-%m-%d}", exist_ok=True)
    for number in range(nodes):
        node = f"n{number:04}"
        with open(f"{folder}/{node}.hours", "w", encoding="ascii") as file:
            file.writelines(HOUR % (node, stamp(a), stamp(b)) for a, b in zip(times, times[1:]))
        with open(f"{folder}/{node}.jsonl", "w", encoding="ascii") as file:
            file.writelines(RECORD % ((day * nodes + number) * 4 + i, node, stamp(times[6 * i])) for i in range(4))


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: write_hours.py FOLDER NODES DAYS")
    for day in range(int(sys.argv[3])):
        write_day(sys.argv[1], day, int(sys.argv[2]))


main()
