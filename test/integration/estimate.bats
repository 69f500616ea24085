#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Energy that is estimated from CPU time, for the steps that ask for it.

load common

setup_file() {
    start_simulated_cluster
}

# A sampler that knows what the nodes draw at rest and for each busy core.
watts() { # IDLE CORE
    local helpers=$APAPI_CLUSTER_DIR/libexec-$BATS_TEST_NUMBER
    mkdir -p "$helpers"
    cp "$libexec/apapi-collect" "$helpers/"
    cat >"$helpers/apapi-sampler" <<END
#!/bin/sh
export APAPI_ESTIMATE_IDLE_W=$1 APAPI_ESTIMATE_CORE_W=$2
exec "$libexec/apapi-sampler" "\$@"
END
    chmod 755 "$helpers/apapi-sampler"
    plugstack "libexec_dir=$helpers"
}

@test "an estimate is marked, for all nodes together and in each record" {
    watts 50 10
    complains 0 '*estimate (/proc/stat: 50 W + 10 W per busy core)*' as_alice srun -N2 --apapi=estimate sleep 1
    [[ $(grep -c '(estimated)' <<<"$stderr") -eq 2 ]]
    joules=$(awk '$1 == "estimate:::NODE_ENERGY" { print $4 * ($5 == "kJ" ? 1000 : 1) }' <<<"$stderr")
    seconds=$({ last_record n1; last_record n2; } | jq -s 'map(.elapsed_s) | add')
    cores=$(nproc --all)
    awk -v j="$joules" -v s="$seconds" -v cores="$cores" \
        'BEGIN { print j, "J in", s, "s"; exit !(j > 0.9 * 50 * s && j < 1.1 * (50 + 10 * cores) * s) }'
    run ! grep -qE '^  (domain|total) ' <<<"$stderr"
    for node in n1 n2; do
        record=$(last_record $node)
        record=$(jq '.components[0] |= (.common.energy as $common | .events |= map($common + .))' <<<"$record")
        holds "$record" '.components[0].events | length == 2 and all(.estimated)'
        holds "$record" '.domains == {} and (has("total") | not)'
        holds "$record" '.components[0].events | (.[0].total / (50 * .[0].covered_s + 10 * .[1].total) - 1 | fabs) < 0.01'
    done
}

@test "without watts the step runs, and the table says what is missing" {
    run --separate-stderr as_alice srun -N2 --apapi=estimate sh -c 'exit 3'
    [[ $status -eq 3 && $stderr == *'estimate: not measured (idle_w and core_w are not set'* && $stderr != *' J'* ]]
}
