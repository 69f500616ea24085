#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A step with many programs that have regions, and with one that claims more than it has.
# shellcheck disable=SC2016 # $LIVE is for an inner shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell

load ../environment
load host

setup_file() {
    cc -std=gnu11 -D_GNU_SOURCE -I"$repository/core" -I"$repository/core/include" -o "$BATS_FILE_TMPDIR/crowd" \
        "$repository/test/fake/regions/crowd.c" "$repository/core/regions/message.c" -L"$built" -lapapi -Wl,-rpath,"$built"
}

setup() {
    live=$(mktemp -d /dev/shm/apapi-crowd-XXXXXX)
    chmod 755 "$live"
}

teardown() {
    rm -rf "$live"
}

# A step of crowd's; prints its record. On standard error: how long the sampler took, and its memory.
crowd() { # WORD...
    HOST_TELLS_STOP=1 timeout 120 "$repository/scripts/sim" --packages 1 --package-w 100 -- "$slurm_host" sampler "$built/sampler/apapi-sampler" \
        job=1 step=0 node=n1 nodes=1 tasks=1 uid=0 components=rapl \
        words="interval=50ms"$'\n'"acct_dir=$BATS_TEST_TMPDIR/acct"$'\n'"spool_dir=$BATS_TEST_TMPDIR/spool"$'\n'"live_dir=$live" -- env APAPI_LIVE_PAGE="$live/n1/0/1.0" "$BATS_FILE_TMPDIR/crowd" "$@"
}

# The order to stop waits for no region. (The record took 4 s and 600 MiB, or minutes.) Times are those of the processor.
is_soon_and_small() {
    awk '$1 == "answered" { late += $6 > 100; seen++ } $1 == "recorded" { late += $6 > 500; seen++ }
        $1 == "memory" { large = $2 > 65536; seen++ }
        END { exit seen != 3 || late || large }' <<<"$1"
}

@test "pages that grow after they are known get no memory from the sampler and do not delay the record" {
    run -0 --separate-stderr crowd grow 100 0.5
    is_soon_and_small "$stderr"
    jq -e '.elapsed_s as $s | .complete and (.domains.package | .energy_j - 100 * $s | fabs) < 10 * $s + .domains.package.uncertainty_j and .regions_lost.threads == 100 * 1024' <<<"$output"
}

@test "a page of many threads that is known five hundred times delays neither the answer nor the record" {
    run -0 --separate-stderr crowd full 500 0.5
    is_soon_and_small "$stderr"
    jq -e '.elapsed_s as $s | .complete and (.domains.package | .energy_j - 100 * $s | fabs) < 10 * $s + .domains.package.uncertainty_j and .regions_lost.threads >= 1024 and
        ([.regions[].domains.package.energy_j | select(.)] | add) - .domains.package.energy_j < 1' <<<"$output"
    [[ $("$apapi" show -f table - <<<"$output") =~ 'not counted: regions of '.*' threads' ]]
}

@test "two hundred programs with regions in one step" {
    run -0 --separate-stderr crowd honest 200 1
    is_soon_and_small "$stderr"
    jq -e '.complete and .regions_lost == null and ([.regions[] | select(.name) | {(.name): [.count, .programs]}] | add) ==
        {"main": [200, 200], "main/read": [200, 200], "main/solve": [200, 200], "main/write": [200, 200]}' <<<"$output"
}
