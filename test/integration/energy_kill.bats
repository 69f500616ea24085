#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=long
# A thousand node samplers are killed: slurmd has no word above info, and no total goes back.

load common
load energy_common

nodes=8

setup_file() {
    make_energy_folder
    make_prefix
    start_cluster --nodes "$nodes" --extra "$(energy_lines)" --sim "--packages 1 --package-w 100 --dram-w none"
}

no_helpers() { ! cluster run pgrep -x apapi-collect; }
nodes_idle() { [[ $(cluster run sinfo -h -N -o %T | sort -u) == idle ]]; }

totals() {
    local i
    for ((i = 1; i <= nodes; i++)); do
        node_energy "n$i"
    done
}

none_goes_back() { # BEFORE NOW: lines
    paste <(echo "$1") <(echo "$2") | awk '{ bad += !($2 >= $1) } END { exit bad > 0 || NR == 0 }'
}

@test "killing node samplers a thousand times at random moments" {
    local i killed=0 more before now
    for ((i = 1; i <= nodes; i++)); do
        eventually node_has "n$i" 'e > 0'
    done
    before=$(totals)
    while ((killed < 1000)); do
        sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))" # any moment is as good as another
        more=$(cluster run pkill -KILL -c -x apapi-sampler || true) # some may be about to start
        killed=$((killed + more))
        now=$(totals)
        none_goes_back "$before" "$now" || {
            printf 'after %d: before, now\n%s\n%s\n' "$killed" "$before" "$now"
            return 1
        }
        before=$now
    done
    for ((i = 1; i <= nodes; i++)); do
        eventually node_has "n$i" 'p > 99'
    done
    [[ -z $(log_errors) ]]
}
