#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Programs marked for PAPI as ranks of measured steps: nothing else of them changes.

load common

setup_file() {
    start_simulated_cluster
}

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
