#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# docs/record.schema.json takes records, and nothing else. Tests hold what programs write against it (kept.bash).

load atime_common

teardown() { :; } # bad ones are made on purpose

# A record as it stands in an accounting file.
good() {
    cat <<'END'
{"apapi":1,"cluster":"mars","job":17,"step":"0","name":"stream","node":"n1","node_index":0,"nodes":2,"nodelist":"n[1-2]","tasks":4,
"uid":1000,"user":"alice","start":"2026-11-21T11:20:01.123456789Z","elapsed_s":3.0,"late_s":0.0,"exit_code":0,"complete":true,
"end":"2026-11-21T11:20:04.123456789Z","domains":{"package":{"energy_j":12.5,"mean_w":4.2}},"total":{"energy_j":12.5},
"components":[{"name":"rapl","source":"sysfs powercap","interval_s":0.1,"period_mean_s":0.1,
"events":[{"name":"rapl:::A","domain":"package","unit":"J","total":6.25,"scale":1e-6,"counter":true,"covered_s":3.0,"samples":30},
{"name":"rapl:::B","domain":"package","unit":"J","total":6.25,"scale":1e-6,"counter":true,"covered_s":3.0,"samples":30}]},
{"name":"nvml","reason":"no NVIDIA driver"}],
"timeline":{"bin_s":0.16,"package":{"unit_j":0.01,"n":[625,null,625],"covered_pct":{"2":50}}},
"trust":{"covered":0.99,"cpu_s":0.001,"samples":30}}
END
}

@test "a good record is good, and each of these changes makes it a bad one" {
    good | jq -c . >"$BATS_TEST_TMPDIR/good"
    validate_records "$BATS_TEST_TMPDIR/good"
    count=0
    while read -r change; do
        jq -c "$change" "$BATS_TEST_TMPDIR/good" >>"$BATS_TEST_TMPDIR/bad"
        count=$((count + 1))
        echo "$count: $change"
        [[ $(wc -l <"$BATS_TEST_TMPDIR/bad") -eq $count ]]
    done <<'END'
.apapi = 2
del(.node)
.unknown = 1
.step = "7a"
del(.job)
.array_job = 3
.nodes = 0
.start = "2026-11-21T11:20:01Z"
.end = 1795260001
.exit_signal = 9 | del(.exit_code)
.complete = false
.recovered = true
.domains.moon = {"energy_j": 1}
.domains.package.energy_J = 1
del(.components[0].events)
.components[0].events[0].samples = "17"
.components[0].events[0].kind = "warmth"
.timeline.package.n = [range(121)]
.trust.covered = 1.5
.regions = []
.regions = [{"name": "a", "method": "guessed", "time_s": 1}]
.regions = [{"name": "a", "kind": "idle", "method": "estimated", "time_s": 1}]
.regions = [{"name": "a", "method": "estimated", "time_s": 1, "domains": {"package": {"power_w": 1}}}]
.share = {"method": "cpu-time", "idle": "mine", "domains": {}}
.share = {"method": "cpu-time", "domains": {"package": {"uncertainty_j": 1}}}
END
    run -1 validate_records "$BATS_TEST_TMPDIR/bad"
    [[ $count -gt 20 && $(sed -nE 's,^.*/bad:([0-9]+): [$].*,\1,p' <<<"$output" | sort -nu) == "$(seq "$count")" ]]
}

@test "changes that leave it a good one" {
    while read -r change; do
        echo "$change"
        good | jq -ce "$change" >>"$BATS_TEST_TMPDIR/record"
    done <<'END'
.complete = false | .reason = "recovered from the checkpoint" | .recovered = true | del(.exit_code)
.het_job = 17 | .het_offset = 0
.exit_code = 255 | .exit_signal = 9 | .failed_tasks = 4
del(.job, .step, .cluster, .timeline, .total) | .domains = {}
.components[0].events[0].samples = "18446744073709551615"
.components[0].events[0].kind = "temperature" | .components[0].events[0].total = -3
.regions = [{"name": "a/b", "method": "estimated", "count": 3, "programs": 1, "threads": 4, "time_s": 1, "domains": {"package": {"energy_j": 3, "uncertainty_j": 0.1}}}]
.regions = [{"name": "a", "method": "unknown", "reason": "no reading", "time_s": 0}, {"kind": "idle", "method": "estimated", "time_s": 3, "domains": {"package": {"energy_j": 3, "power_w": 1}}}]
.foms = [{"name": "GFLOP", "value": 3, "unit": "GFLOP/s", "programs": 2}, {"name": "steps", "value": -1}] | .regions_lost = {"names": 3}
.share = {"method": "cpu-time", "idle": "cores", "slices": true, "tail_s": 0.2, "domains": {"gpu": {"energy_j": 3, "idle_j": 1}}}
END
    validate_records "$BATS_TEST_TMPDIR/record"
}

@test "every key of a record has a description" {
    jq -e '[.properties, ."$defs".event.properties, ."$defs".component.properties, .properties.trust.properties,
        .properties.domains.additionalProperties.properties] | map(to_entries[] |
        select(.value.description == null) | .key) == []' \
        "$repository/docs/record.schema.json"
}
