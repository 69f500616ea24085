# SPDX-License-Identifier: BSD-3-Clause
# Records by hand for the tests of apapi report and apapi show; for `load`.
# shellcheck disable=SC2034 # variables are the tests'

load ../environment
load ../records.bash

setup() { common_setup; }

common_setup() {
    acct=$BATS_TEST_TMPDIR/acct
    export APAPI_CONFIG=$BATS_TEST_TMPDIR/apapi.conf COLUMNS=200
    mkdir -p "$acct"
    : >>"$APAPI_CONFIG"
    cd "$BATS_TEST_TMPDIR" || return
}

# A record of `watts` that began FROM seconds after 2026-11-20T10:00:00Z.
record_line() { # JOB STEP NODE FROM_S LENGTH_S WATTS [JQ EXPRESSION that changes it]
    jq -nc --argjson job "$1" --arg step "$2" --arg node "$3" --argjson from "$4" \
        --argjson length "$5" --argjson watts "$6" '
        def stamp: strftime("%Y-%m-%dT%H:%M:%S.000000000Z");
        (1795168800 + $from) as $start |
        {apapi: 1, cluster: "c1", job: $job, array_job: null, array_task: null, het_job: null, het_offset: null, step: $step, name: "app", job_name: "run", node: $node, nodes: 1, uid: null, user: "anna",
         account: "physics", partition: "batch", start: ($start | stamp), elapsed_s: $length, late_s: 0, complete: true,
         end: ($start + $length | stamp),
         domains: {package: {energy_j: ($watts * $length), mean_w: $watts, min_w: $watts, max_w: ($watts + 10)}},
         total: {energy_j: ($watts * $length), mean_w: $watts}, components: [],
         timeline: {bin_s: ($length / 4), package: {unit_j: 1, n: [range(4) | $watts * $length / 4 | round]}},
         trust: {covered: 1, cpu_s: 0.1, samples: 10}} | '"${7:-.}"' | with_entries(select(.value != null))'
}

# The same in the accounting folder.
record() {
    local line
    line=$(record_line "$@")
    [[ $line =~ \"end\":\"([0-9-]{10})T ]]
    mkdir -p "$acct/${BASH_REMATCH[1]}"
    printf '%s\n' "$line" >>"$acct/${BASH_REMATCH[1]}/$3.jsonl"
}

# The only record of JOB on NODE, for the jobs FROM to TO, too.
copies() { # JOB NODE FROM TO
    local file lines job
    file=$(grep -l "\"job\":$1," "$acct"/*/"$2.jsonl")
    lines=$(grep "\"job\":$1," "$file")
    for ((job = $3; job <= $4; job++)); do
        printf '%s\n' "${lines//\"job\":$1,/\"job\":$job,}"
    done >>"$file"
}

report() { "$apapi" report --acct-dir "$acct" "$@"; }

# FIELDS of the rows, separated by '|', without titles.
cells() { # FIELDS [OPTION...]
    report -P -n -S 2026-01-01 --format="$1" "${@:2}"
}
