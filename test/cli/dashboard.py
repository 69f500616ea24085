#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at dashboards as Grafana would.

usage: dashboard.py check FILE...    print what Grafana's classic JSON model does not allow; status 1: something
       dashboard.py queries FILE     print each query in a line, its panel's title and a tab before it; variables and macros
                                     of Grafana replaced
"""
import json
import re
import sys

PANELS = {"stat", "timeseries", "table", "barchart", "gauge", "bargauge", "text", "row", "heatmap", "state-timeline"}
UNITS = {"none", "short", "watt", "joule", "kwatth", "percentunit", "percent", "s", "dtdurations", "celsius"}
COLUMNS = 24
# Grafana's macros for MySQL, and variables with their formats, as values of the test
REPLACED = {
    "$__unixEpochFrom()": "1700000000",
    "$__unixEpochTo()": "1900000000",
    "${cluster:sqlstring}": "'c1'",
    "${job:sqlstring}": "'7'",
    "$cluster": ".*",
}


def panel_problems(panel, variables):
    name = panel.get("title", "?")
    if panel.get("type") not in PANELS:
        yield f"{name}: no panel {panel.get('type')}"
    if panel["fieldConfig"]["defaults"]["unit"] not in UNITS:
        yield f"{name}: no unit {panel['fieldConfig']['defaults']['unit']}"
    if not panel["targets"]:
        yield f"{name}: no query"
    refs = [target["refId"] for target in panel["targets"]]
    if len(set(refs)) < len(refs):
        yield f"{name}: a refId stands twice"
    for target in panel["targets"]:
        if not (target.get("expr") or target.get("rawSql")):
            yield f"{name}: a target without a query"
        if target["datasource"]["uid"] != "${datasource}" or target["datasource"]["type"] != panel["datasource"]["type"]:
            yield f"{name}: another data source"
        for variable in re.findall(r"\$\{?(?!__)(\w+)", target.get("expr") or target["rawSql"]):
            if variable not in variables:
                yield f"{name}: no variable {variable}"


def place_problems(panels):
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        if place["x"] + place["w"] > COLUMNS:
            yield f"{panel['title']}: right of column {COLUMNS}"
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        if cells & taken:
            yield f"{panel['title']}: on another panel"
        taken |= cells


def problems(dashboard):
    for key, kind in {"uid": str, "title": str, "schemaVersion": int, "panels": list, "templating": dict, "time": dict,
                      "annotations": dict, "tags": list}.items():
        if not isinstance(dashboard.get(key), kind):
            yield f"no {key}"
    if not 8 <= len(dashboard["uid"]) <= 40:
        yield "uid: 8 to 40 characters"
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(set(ids)) < len(ids):
        yield "an id stands twice"
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    yield from place_problems(dashboard["panels"])
    for panel in dashboard["panels"]:
        yield from panel_problems(panel, variables)


def queries(dashboard):
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query" and variable["datasource"]["type"] == "mysql":
            yield f"variable {variable['name']}", variable["definition"]
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target.get("expr") or target["rawSql"]


def replaced(query):
    for old, new in REPLACED.items():
        query = query.replace(old, new)
    return query


def main(command, *names):
    found = False
    for name in names:
        with open(name, encoding="utf-8") as file:
            dashboard = json.load(file)
        if command == "queries":
            for title, query in queries(dashboard):
                print(f"{title}\t{replaced(query)}")
        else:
            for problem in problems(dashboard):
                found = True
                print(f"{name}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
