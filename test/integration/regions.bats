#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Regions of the programs of a step: what its record says of them, whatever happens to program and sampler.

# shellcheck disable=SC2030,SC2031 # each test is a subshell
load survive

setup_file() {
    start_simulated_cluster
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    cc -Wall -Wextra -Werror -I "$install/include" "$BATS_TEST_DIRNAME/region_phases.c" -o "$APAPI_CLUSTER_DIR/phases" \
        -L "$install/lib" -lapapi -lpthread "-Wl,-rpath,$install/lib"
}

setup() {
    common_setup
    phases=$APAPI_CLUSTER_DIR/phases
}

# The regions of a record: they and the other kinds have all of the step's energy, each domain's.
adds_up='
    def sum($d): [.regions[].domains[$d].energy_j // 0] | add;
    def adds_up($d): (sum($d) / .domains[$d].energy_j - 1 | fabs) < 0.005;
    def region($name): .regions[] | select(.name == $name);
    adds_up("package") and adds_up("dram")'

@test "a record has the regions of its step, and they have all of its energy" {
    run -0 as_alice srun -N1 -w n1 --apapi=rapl --apapi-interval=10ms "$phases" 2 1
    [[ ${lines[0]} == begins && $output == *"main/long"* ]]
    record=$(last_record n1)
    whole "$record"
    holds "$record" "$adds_up"
    holds "$record" "$adds_up"' and ([.regions[] | select(.name)] | length) == 3 and
        ([region("main/short", "main/long", "main") | .programs == 1 and .threads == 1] | all)'
    # the meters do not change: 200 W and 40 W whatever the program does
    holds "$record" "$adds_up"' and (region("main/long") | .count > 10 and .method != "unknown" and
        (.domains.package.energy_j / .time_s / 200 - 1 | fabs) < 0.1 and (.domains.dram.energy_j / .time_s / 40 - 1 | fabs) < 0.1)'
    # when they were used: both all the time, and in no bin more than there is
    holds "$record" "$adds_up"' and ([region("main/long").bins, region("main/short").bins] as [$long, $short] | $long.bin_s == $short.bin_s and
        ([$long.share_pct, $short.share_pct] | map(length) | min > 10) and
        ([$long.share_pct, $short.share_pct] | transpose | map(map(. // 0) | add) | max <= 101 and add / length > 50))'
    holds "$record" '.foms == [{"name": "turns", "value": 12.5, "unit": "turns/s", "programs": 1}] and .regions_lost == null'
}

@test "eight tasks of four threads each are added up" {
    run -0 as_alice srun -N1 -n8 --overcommit -w n1 --apapi=rapl --apapi-interval=10ms "$phases" 1 4
    record=$(last_record n1)
    whole "$record"
    holds "$record" "$adds_up"' and ([region("main/short", "main") | .programs == 8 and .threads >= 8 and .threads <= 32] | all)'
    holds "$record" '.foms[0].programs == 8 and .foms[0].value == 100 and .regions_lost == null'
}

@test "what a program that is killed was in is in the record" {
    run -137 as_alice srun -N1 -w n1 --apapi=rapl --apapi-interval=10ms sh -c \
        '"$0" 100 2 & sleep 1; kill -KILL $!; wait $!' "$phases"
    record=$(last_record n1)
    holds "$record" "$adds_up"' and (region("main/long") | .count > 10 and .threads == 2 and .time_s > 0.1)'
}

@test "the sampler's end does not disturb a program with regions" {
    plugstack checkpoint=1s
    hold
    begin_step -N1 -w n1 --apapi=rapl --apapi-interval=10ms "$phases" "$over" 2
    begun_on n1 phases
    has_checkpoint() { # of a program that is in its regions: the first one may be made before
        cat "$APAPI_SPOOL_DIR"/n1/*.json 2>/dev/null | jq -es 'any(.[].regions[]?; .name == "main/long" and .time_s > 0)' >/dev/null
    }
    eventually has_checkpoint
    cluster on n1 pkill -KILL -x apapi-sampler
    end_held_step
    [[ $status -eq 0 ]]
    grep -x begins "$BATS_TEST_TMPDIR/out"
    recover_on n1
    record=$(records n1 | jq -c 'select(.recovered and .regions)')
    run -0 cluster on n1 sh -c '! ls /run/apapi/n1/*/*.regions'
    holds "$record" "$adds_up"' and (region("main/long") | .time_s > 0)'
}

@test "others than the step's user cannot say anything of its regions" {
    hold
    begin_step -N1 -w n1 --apapi=rapl sh -c "$until_over"
    begun_on n1 sh
    socket=$(cluster on n1 sh -c 'ls /run/apapi/n1/*/*.0.regions')
    [[ $socket == /run/apapi/n1/*/*.0.regions ]]
    say='import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]); s.settimeout(5)
print("in" if s.send(b"x") == 1 else "out"); print(len(s.recv(9)))'
    tells 1 '*Permission denied*' cluster on n1 setpriv --reuid nobody --clear-groups python3 -c "$say" "$socket"
    tells 0 'in*0' cluster on n1 setpriv --reuid alice --clear-groups python3 -c "$say" "$socket" # a message that is none ends it
    release
    end_step
    [[ $status -eq 0 ]]
    run -0 cluster on n1 sh -c '! ls /run/apapi/n1/*/*.regions'
    holds "$(last_record n1)" 'has("regions") | not'
}

@test "marks of a script are regions of its step" {
    run -0 as_alice srun -N1 -w n1 --apapi=rapl --apapi-interval=10ms sh -c \
        '"$0" mark begin copy; sleep 0.5; "$0" mark end copy; "$0" mark run solve -- sleep 0.3; "$0" mark fom cells 12 cells' \
        "$install/bin/apapi"
    record=$(last_record n1)
    holds "$record" "$adds_up"' and ([region("copy", "solve") | .count == 1 and .time_s > 0.2 and .domains.package.energy_j > 20] | all)'
    holds "$record" '[.regions[] | select(.name) | .name] | sort == ["copy", "solve"]'
    holds "$record" '.foms == [{"name": "cells", "value": 12, "unit": "cells", "programs": 1}]'
}

@test "marks of a batch script: its record names their regions, and the script goes on as without them" {
    make_work
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

# --- programs marked for PAPI -----------------------------------------------------------------------------

program_of() { # COMPILER
    "$1" -include apapi/papi_hl_compat.h -I "$install/include" "$repository/test/fake/regions/papi_hl_program.c" \
        -o "$APAPI_CLUSTER_DIR/ranks" -L "$install/lib" -lapapi "-Wl,-rpath,$install/lib" -pthread
}

# Four ranks of a step on two nodes, by its records.
four_ranks() {
    { last_record n1; last_record n2; } | jq -es '([.[].regions[] | select(.name == "computation") | .count] | add == 12) and
        ([.[].regions[] | select(.name == "computation") | .programs] | length == 2 and add == 4) and all(.[]; .complete)'
}

# The program says "done" on standard output, and that a region was never begun on standard error.
ran_as_ever() {
    [[ $status -eq 0 && $(sort -u <<<"$output") == "done" && $(wc -l <<<"$output") == 4 ]]
}

@test "PAPI: ranks on two nodes that srun starts with PMI2" {
    echo '#include <papi.h>' | cc -E - >/dev/null 2>&1 || skip 'no papi.h'
    program_of cc
    run --separate-stderr as_alice srun -N2 -n4 --mpi=pmi2 --apapi=rapl "$APAPI_CLUSTER_DIR/ranks"
    echo "$output$stderr"
    ran_as_ever
    four_ranks
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
    cc "$repository/docs/examples/papi_hl.c" -I "$install/include" -o "$APAPI_CLUSTER_DIR/papi_hl" -L "$install/lib" -lapapi \
        "-Wl,-rpath,$install/lib"
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
