#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Slurm's energy plugin where something is missing or killed: slurmd and the steps do not notice.

load common
load energy_common

setup_file() {
    make_energy_folder
    make_prefix
    # n2 has no meters
    start_cluster --extra "$(energy_lines)" --sim "--packages 2 --package-w 30 --dram-w 20" --sim "n2:--packages 0"
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    said() { slurmd_log n2 | grep -q 'node n2 is not measured'; }
    eventually said
}

restart_slurmd() { # NODE
    end_slurmd "$1"
    cluster on "$1" slurmd
    eventually nodes_idle
}

# The meters count 100 W all the time.
truth_on() { # NODE
    cluster on "$1" sh -c 'cat /sys/class/powercap/intel-rapl:?/energy_uj /sys/class/powercap/intel-rapl:?:?/energy_uj' |
        awk '{ s += $1 } END { print s / 1e6 }'
}

@test "scontrol show node has the power of now and the mean" {
    power_is_shown() {
        [[ $(cluster run scontrol show node n1) =~ CurrentWatts=([0-9]+)\ AveWatts=([0-9]+) ]] &&
            ((BASH_REMATCH[1] >= 80 && BASH_REMATCH[1] <= 120 && BASH_REMATCH[2] >= 80 && BASH_REMATCH[2] <= 120))
    }
    eventually power_is_shown
}

# KILLS=100
@test "killing the node sampler five times: no word above info, its total never goes back, and no joule is lost" {
    local before_truth_j seen_j now_j begin_j begin_truth_j counted_j
    eventually node_has n1 'e > 0 && p > 99'
    before_truth_j=$(truth_on n1)
    for _ in 1 2; do # the second new figure is of a reading that began after that
        seen_j=$(node_energy n1)
        eventually node_has n1 "e > $seen_j"
    done
    begin_j=$(node_energy n1)
    begin_truth_j=$(truth_on n1)
    now_j=$(node_energy n1)
    for ((i = 0; i < ${KILLS:-5}; i++)); do
        eventually node_sampler n1 >/dev/null
        # any moment is as good as another; after a short life the next sampler starts later and later
        sleep "$((i % 6 > 0)).$((RANDOM % 10))$((RANDOM % 10))"
        cluster on n1 pkill -KILL -x apapi-sampler || true # it may be about to start
        seen_j=$now_j now_j=$(node_energy n1)
        echo "kill $i: $seen_j J, then $now_j J"
        awk -v "now=$now_j" -v "before=$seen_j" 'BEGIN { exit !(now >= before) }'
    done
    eventually node_has n1 'p > 99'
    # e only grows: it comes to all that the meters have counted until now, and is never more than that
    counted_j=$(awk -v now="$(truth_on n1)" -v begin="$begin_truth_j" 'BEGIN { print now - begin }')
    eventually node_has n1 "e - $begin_j >= $counted_j"
    awk -v end="$(node_energy n1)" -v begin="$begin_j" -v end_truth="$(truth_on n1)" -v before="$before_truth_j" 'BEGIN {
        print end - begin, "J, at most", end_truth - before
        exit !(end - begin <= end_truth - before + 0.01) }'
    [[ -z $(log_errors) ]]
    run -0 as_alice srun -w n1 true
}

has_another() { # SAMPLER: of n1
    [[ -n $(node_sampler n1) && $(node_sampler n1) != "$1" ]]
}

@test "live_dir removed, or a file system mounted there: another node sampler makes the pages, and the total goes on" {
    local change first before
    for change in 'rm -rf /run/apapi' 'mount -t tmpfs -o mode=0755 tmpfs /run/apapi'; do
        eventually node_has n1 'p > 99'
        first=$(node_sampler n1)
        before=$(node_energy n1)
        cluster on n1 sh -c "$change"
        eventually has_another "$first"
        eventually node_has n1 "p > 99 && e > $before"
        run -0 as_alice srun -w n1 --apapi=rapl true
    done
}

says() { # NODE PATTERN: slurmd does
    slurmd_log "$1" | grep -E "acct_gather_energy/apapi: $2"
}

tries_again() { # NODE
    [[ $(slurmd_log "$1" | grep -c 'the node sampler has ended') -ge 3 ]]
}

@test "nothing that could be measured, or no sampler: one clear message, and steps run" {
    # n2, which has no meters, tries again at any moment, and reads the same file
    expected_errors='mpi|MPI|acct_gather_energy/apapi: (node n[12] is not measured|cannot start)'
    energy_config 'live_dir = off'
    restart_slurmd n1
    eventually says n1 'node n1 is not measured: live_dir = off'
    run -3 as_alice srun -w n1 sh -c 'exit 3'
    energy_config "libexec_dir = /nowhere"
    restart_slurmd n1
    eventually says n1 'cannot start /nowhere/apapi-sampler: '
    run -4 as_alice srun -w n1 sh -c 'exit 4'
    eventually tries_again n1
    [[ $(slurmd_log n1 | grep -c 'cannot start') -eq 1 ]]
    energy_config
    restart_slurmd n1
    eventually node_has n1 'p > 99'
}

@test "a node without meters: the reason once, no power, and steps run" {
    expected_errors='mpi|MPI|acct_gather_energy/apapi: node n2 is not measured'
    end_slurmd n2
    clear_logs # the other one may have said it since the test began
    cluster on n2 slurmd
    eventually says n2 'node n2 is not measured: '
    cluster run scontrol show node n2 | grep 'CurrentWatts=n/[as]' # n/a: Slurm 24.11
    run -5 as_alice srun -w n2 sh -c 'exit 5'
    eventually tries_again n2
    [[ $(slurmd_log n2 | grep -c 'is not measured') -eq 1 ]]
}

# The plugin as built for micro version 99 of this Slurm.
name_version_99() { # PLUGIN
    local at
    at=$(nm -D "$1" | awk '$3 == "plugin_version" { print "0x" $1 }')
    cp "$1" "$1.99"
    printf '\x63' | dd of="$1.99" bs=1 seek=$((at)) conv=notrunc status=none
    mv "$1.99" "$1" # those who have loaded the other keep it
}

# bats test_tags=long
@test "built for another version of Slurm: slurmd says so and does not start" {
    expected_errors='.' # each of slurmd's own words about it
    local plugin=$energy/prefix/lib/slurm/acct_gather_energy_apapi.so
    end_slurmd n1
    name_version_99 "$plugin"
    run cluster on n1 slurmd
    said() { slurmd_log n1 | grep -E 'Incompatible Slurm plugin .*acct_gather_energy_apapi.so version \([0-9.]*\.99\)'; }
    eventually said
    eventually slurmd_is_gone n1
    cp "$install/lib/slurm/acct_gather_energy_apapi.so" "$plugin.new"
    mv "$plugin.new" "$plugin"
    cluster on n1 slurmd
    eventually nodes_idle
    eventually node_has n1 'p > 99'
    run -0 as_alice srun -w n1 true
}

# bats test_tags=long
@test "however seldom slurmd asks, a node sampler runs soon after a start and after scontrol reconfigure" {
    expected_errors='mpi|MPI|n2 is not measured' # Debian's Slurm says the first at each start
    sed -i 's|^AcctGatherNodeFreq=.*|AcctGatherNodeFreq=600|' "$APAPI_CLUSTER_DIR/etc/slurm.conf"
    restart_slurmd n1
    eventually node_sampler n1
    eventually nodes_idle
    local first
    first=$(node_sampler n1)
    sleep 3 # slurmd has asked what it asks after a start
    cluster run scontrol reconfigure
    eventually has_another "$first"
    sed -i 's|^AcctGatherNodeFreq=.*|AcctGatherNodeFreq=1|' "$APAPI_CLUSTER_DIR/etc/slurm.conf"
    restart_slurmd n1
}

# bats test_tags=long
@test "energy plugins of Slurm's own besides: the joules that count twice are told" {
    expected_errors='.' # Slurm's own finds nothing here
    sed -i 's|^AcctGatherEnergyType=.*|AcctGatherEnergyType=acct_gather_energy/apapi,acct_gather_energy/gpu|' \
        "$APAPI_CLUSTER_DIR/etc/slurm.conf"
    restart_slurmd n1
    said() { slurmd_log n1 | grep -q 'Slurm adds up what these plugins measure; name apapi alone'; }
    eventually said
    run -0 as_alice srun -w n1 true
}
