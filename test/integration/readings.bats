#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# One process reads the meters of a node, for all steps that run there.

load common

# The pattern does not match the commands that it stands in.
signal_node_sampler() { # SIGNAL
    cluster on n1 pkill "-$1" -f 'apapi-sampler [-]-node'
}

teardown() {
    signal_node_sampler KILL || true
    undisturbed
}

# Samplers of steps on n1 that hold files of the meters open, "hardware", or have mapped the page, "page".
readers() { # WHICH
    cluster on n1 sh -c 'for pid in $(pgrep -x apapi-sampler); do
        tr "\0" " " <"/proc/$pid/cmdline" | grep -q -e --node && continue
        ls -l "/proc/$pid/fd" | grep -q energy_uj && echo hardware
        grep -q /n1/readings "/proc/$pid/maps" && echo page
    done' | grep -c -x "$1"
}

has_readers() { # COUNT WHICH
    [[ $(readers "$2") -eq $1 ]]
}

# Steps at once, each until its own file is gone.
start_steps() { # COUNT
    steps=()
    for ((i = 0; i < $1; i++)); do
        touch "$APAPI_CLUSTER_DIR/go.$i"
        as_alice srun -N1 -w n1 -n1 -c1 --apapi=rapl \
            sh -c "while [ -e '$APAPI_CLUSTER_DIR/go.$i' ]; do sleep 0.1; done" &
        steps+=($!)
    done
}

# Steps that read through the page. On a busy machine one may not get an answer in time, and read itself.
start_steps_through_page() { # COUNT
    local count=$1
    all_run() { [[ $(($(readers page) + $(readers hardware))) -eq $count ]]; }
    for ((try = 0; try < 5; try++)); do
        start_steps "$count"
        eventually all_run
        ! has_readers "$count" page || return 0
        end_steps
    done
    return 1
}

end_steps() {
    rm -f "$APAPI_CLUSTER_DIR"/go.*
    for step in "${steps[@]}"; do
        wait "$step"
    done
}

# The last COUNT records of n1 are whole and right, and say that WHO has read.
all_say() { # COUNT WHO
    local record
    [[ $(records n1 | wc -l) -ge $1 ]]
    while read -r record; do
        right_energy "$record"
        holds "$record" "(.trust.resets // 0) == 0 and (.components[0].source | $2)"
    done < <(records n1 | tail -n "$1")
}
through_page='. == "sysfs powercap, node sampler"'
directly='. == "sysfs powercap"'

@test "the meters are read by the node sampler alone, whatever the number of steps" {
    start_node_sampler '' n1
    start_steps_through_page 4
    has_readers 0 hardware
    [[ $(cluster on n1 stat -c '%U %a' /run/apapi/n1/readings /run/apapi/n1/.now) == $'root 600\nroot 600' ]]
    end_steps
    all_say 4 "$through_page"
}

@test "each step reads the meters itself where the site says so, or often" {
    start_node_sampler $'[node]\nreadings = off' n1
    start_steps 1
    eventually has_readers 1 hardware
    end_steps
    all_say 1 "$directly"
    signal_node_sampler KILL
    start_node_sampler '' n1
    as_alice srun -N1 -w n1 -n1 --apapi=rapl --apapi-interval=20ms sleep 1
    all_say 1 "$directly"
}
