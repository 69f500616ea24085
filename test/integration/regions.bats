#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Regions of the programs of a step: what its record says of them, whatever happens to program and sampler.

# shellcheck disable=SC2030,SC2031 # each test is a subshell
load survive

# Nodes have folders of their own for PMIx, as machines have.
setup_file() {
    start_simulated_cluster --extra "TmpFS=$BATS_FILE_TMPDIR/cluster/tmp-%n"
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    mkdir -m 755 "$APAPI_CLUSTER_DIR/tmp-n1" "$APAPI_CLUSTER_DIR/tmp-n2"
    compile cc "$repository/test/sim/phases.c" phases -I "$repository/core" -lpthread
}

setup() {
    common_setup
    make_work
    phases=$APAPI_CLUSTER_DIR/phases
}

# The regions of a record: they and the other kinds have all of the step's energy, each domain's.
adds_up='
    def sum($d): [.regions[].domains[$d].energy_j // 0] | add;
    def adds_up($d): (sum($d) / .domains[$d].energy_j - 1 | fabs) < 0.005;
    def region($name): .regions[] | select(.name == $name);
    adds_up("package") and adds_up("dram")'

@test "a record has the regions of its step, and they have all of its energy" {
    tells 0 '*  high *' as_alice srun -N1 -w n1 --apapi=rapl --apapi-interval=10ms "$phases" - 2 1 1
    truth=${lines[0]}
    record=$(last_record n1)
    whole "$record"
    holds "$record" "$adds_up"' and ([.regions[] | select(.name) | .name] | sort) == ["high", "low", "middle"] and .regions_lost == null'
    # the meters do not change: 200 W and 40 W whatever the program does
    holds "$record" "$adds_up"' and (region("high") | .count > 10 and .programs == 1 and .threads == 1 and .method != "unknown" and
        (.domains.package.energy_j / .time_s / 200 - 1 | fabs) < 0.1 and (.domains.dram.energy_j / .time_s / 40 - 1 | fabs) < 0.1)'
    holds "$record" "$truth"' as $truth | [.regions[] | select(.name) | .count == $truth[.name].count and
        (.time_s / $truth[.name].time_s - 1 | fabs) < 0.1] | all'
    # when they were used: all the time, and in no bin more than there is
    holds "$record" '[.regions[] | select(.name).bins] | (map(.bin_s) | unique | length) == 1 and
        (map(.share_pct) | (map(length) | min > 10) and (transpose | map(map(. // 0) | add) | max <= 101 and add / length > 50))'
}

@test "eight tasks of four threads each are added up" {
    run -0 as_alice srun -N1 -n8 --overcommit -w n1 --apapi=rapl --apapi-interval=10ms "$phases" - 1 1 4
    record=$(last_record n1)
    whole "$record"
    holds "$record" "$adds_up"' and (region("high") | .programs == 8 and .threads >= 8 and .threads <= 32) and .regions_lost == null'
}

@test "the sampler's end does not disturb a program with regions" {
    plugstack checkpoint=1s
    hold
    begin_step -N1 -w n1 --apapi=rapl --apapi-interval=10ms sh -c "'$phases' - 1000 1 2 & $until_over; kill \$!"
    begun_on n1 phases
    has_checkpoint() { # of a program that is in its regions: the first one may be made before
        cat "$APAPI_SPOOL_DIR"/n1/*.json 2>/dev/null | jq -es 'any(.[].regions[]?; .name == "high" and .time_s > 0)' >/dev/null
    }
    eventually has_checkpoint
    cluster on n1 pkill -KILL -x apapi-sampler
    end_held_step
    [[ $status -eq 0 ]]
    recover_on n1
    record=$(records n1 | jq -c 'select(.recovered and .regions)')
    run -0 cluster on n1 sh -c '! ls /run/apapi/n1/*/*.regions'
    holds "$record" "$adds_up"' and (region("high") | .time_s > 0)'
}

@test "others than the step's user cannot say anything of its regions" {
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    socket=$(cluster on n1 sh -c 'ls /run/apapi/n1/*/*.0.regions')
    [[ $socket == /run/apapi/n1/*/*.0.regions ]]
    say='import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]); s.settimeout(5)
print("in" if s.send(b"x") == 1 else "out"); print(len(s.recv(9)))'
    tells 1 '*Permission denied*' cluster on n1 setpriv --reuid nobody --clear-groups python3 -c "$say" "$socket"
    tells 0 'in*0' cluster on n1 setpriv --reuid alice --clear-groups python3 -c "$say" "$socket" # a message that is none ends it
    end_held_step
    [[ $status -eq 0 ]]
    run -0 cluster on n1 sh -c '! ls /run/apapi/n1/*/*.regions'
    holds "$(last_record n1)" 'has("regions") | not'
}

@test "marks of a batch script: its record names their regions, and the script goes on as without them" {
    cat >"$BATS_TEST_TMPDIR/job" <<END
#!/bin/sh -e
PATH=$install/bin:\$PATH
apapi mark begin staging
sleep 1
apapi mark read staging
apapi mark end staging
apapi mark run solve -- sh -c 'sleep 2; exit 3' || echo "solve: \$?"
apapi mark fom cells 480 cells
apapi mark end nothing
echo over
END
    run -0 sbatch_wait -N1 -w n1 --apapi=rapl --apapi-interval=50ms --output="$work/out" <"$BATS_TEST_TMPDIR/job"
    eventually grep -q over "$work/out"
    cat "$work/out"
    mapfile -t said <"$work/out"
    [[ ${said[0]} =~ ^[0-9.]+\ J\ ±[0-9.]+\ %$ && ${said[1]} == "solve: 3" && ${said[2]} == "apapi mark: "* && ${said[3]} == over ]]
    record=$(last_record n1)
    # the meters do not change: 200 W and 40 W whatever the script does
    holds "$record" 'def region($name): .regions[] | select(.name == $name);
        def right($watts; $s): (.energy_j - $watts * $s | fabs) <= .uncertainty_j + 0.01 * .energy_j;
        # intervals at both ends are shared with others: a late reading may take a tenth of its time
        ([region("staging", "solve") | .time_s as $s | (.method == "measured" or .method == "estimated") and .count == 1 and
            (.domains.package | right(200; $s)) and (.domains.dram | right(40; $s))] | all) and
        region("staging").time_s >= 1 and region("solve").time_s >= 2 and
        .foms == [{name: "cells", value: 480, unit: "cells", programs: 1}]'
    run -0 "$install/bin/apapi" regions --acct-dir "$APAPI_ACCT_DIR" "$(jq .job <<<"$record")"
    [[ $output =~ solve\ +1\ .*staging\ +1\ .*"480 cells, " ]]
}

# The commands of a page's block, and what they print; without what differs from run to run: numbers, the prefix of
# their units, uncertainties, what is outside of the region, whether a busy machine was late.
block() { # HEADING
    awk -v heading="$1" '/^## / { found = $0 == heading } found && /^```/ { inside = !inside; plain = $0 == "```"; next } found && inside && plain' \
        "$repository/docs/regions.md"
}
alike() {
    sed -E '/^  \([a-z]+\) /d; / readings: errors above /d; /^  first .* not covered$/d; / ticks? missed/d; s/^  covered.*/  covered/; s/ ±[0-9.]+ %//g
        s/[0-9.]+ (ms|us|s)\>/N s/g; s/[0-9.]+ [kmuM]?([JW])\>/N \1/g; s/[0-9.]+/N/g; s/ +/ /g' | LC_ALL=C sort
}

@test "PAPI's example, as docs/regions.md shows it" {
    compile cc "$repository/docs/examples/papi_hl.c" papi_hl
    local command commands=0 apapi=$install/bin/apapi
    while read -r command; do
        case $command in
        srun*) run -0 alice_sh "${command/.\/papi_hl/$APAPI_CLUSTER_DIR/papi_hl}" </dev/null ;;
        'apapi regions 1') run -0 "$apapi" regions --acct-dir "$APAPI_ACCT_DIR" "$(jq .job <<<"$(last_record n1)")" ;;
        esac
        echo "$output" | tee -a "$BATS_TEST_TMPDIR/printed"
        commands=$((commands + 1))
    done < <(block "## An example" | sed -n 's/^\$ //p')
    ((commands == 2))
    diff <(block "## An example" | grep -v '^\$ ' | alike) <(alike <"$BATS_TEST_TMPDIR/printed")
}

# --- ranks of an MPI program (Open MPI) ---------------------------------------------------------------------

compile_ranks() {
    command -v mpicc >/dev/null || skip 'no mpicc'
    compile mpicc "$BATS_TEST_DIRNAME/regions_mpi.c" ranks
}

# The ranks in the records of all steps of the last job.
right_records() {
    local file=$BATS_TEST_TMPDIR/records
    records 'n?' >"$file"
    jq -es '[.[] | select(.job == $job) | select(.regions)] as $records | ($records | map(.node) | sort == ["n1", "n2"]) and
        ([$records[].regions[] | select(.name == "computation") | .programs] == [2, 2]) and
        ([$records[].regions[] | select(.name // "" | startswith("computation/rank ")) | .name] | sort ==
            [range(4) | "computation/rank \(.) of 4"]) and ([$records[].foms[0].value] == [20, 20])' \
        --argjson job "$(jq -s 'max_by(.job).job' "$file")" "$file"
}

# bats test_tags=long
@test "ranks that srun starts through PMIx" {
    compile_ranks
    run --separate-stderr as_alice srun -N2 --ntasks-per-node=2 --mpi=pmix --apapi=rapl "$APAPI_CLUSTER_DIR/ranks"
    echo "$output$stderr"
    [[ $status == 0 && $output == $'done\ndone\ndone\ndone' ]]
    right_records
}

# bats test_tags=long
@test "ranks that mpirun starts in a job" {
    compile_ranks
    run -0 sbatch_wait -N2 --ntasks-per-node=2 --apapi=rapl --output="$work/log" \
        --wrap "mpirun -n 4 --map-by ppr:2:node '$APAPI_CLUSTER_DIR/ranks'"
    cat "$work/log"
    [[ $(<"$work/log") == $'done\ndone\ndone\ndone'* ]]
    right_records
}
