# SPDX-License-Identifier: BSD-3-Clause
# Tables of whole jobs, against the records of their steps.
# shellcheck shell=bash

# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"

# A node draws 240 W.

# The lines of the job's table; that of an srun which ends after the script may follow.
job_table() { # TEXT
    awk '/^apapi: / { found = $2 == "job" } found' <<<"$1"
}

# The records of a job and its components, of all nodes or of one.
job_records() { # JOB [NODE]
    records "${2:-n?}" | jq -c --arg job "$1" \
        'select([.job, .het_job, "\(.array_job)_\(.array_task)"] | map(tostring) | index($job))'
}

job_id() { # TEXT
    sed -n 's/^apapi: job \([0-9_]*\) .*/\1/p' <<<"$1"
}

# How long a node was measured by any step, by the records alone [s].
union_s() { # JOB NODE
    job_records "$1" "$2" | jq -r '[(.start | sub("\\.[0-9]+Z"; "Z") | fromdate) +
            (.start | capture("\\.(?<f>[0-9]+)Z").f | "0." + . | tonumber), .elapsed_s] | @tsv' |
        sort -n | awk '
            { from = $1; to = $1 + $2 }
            NR == 1 || from > end { sum += to - from; end = to; next }
            to > end { sum += to - end; end = to }
            END { printf "%.6f\n", sum }'
}

# Is the table's total, in J or kJ, 240 W x the union of all steps' times, within 1 % and what readings were late?
right_total() { # TEXT
    local table job expected slack
    table=$(job_table "$1")
    job=$(job_id "$table")
    expected=$(awk -v a="$(union_s "$job" n1)" -v b="$(union_s "$job" n2)" 'BEGIN { print 240 * (a + b) }')
    slack=$(job_records "$job" | jq -s "$jq_helpers map(240 * (slack_s + not_covered_s)) | add")
    awk -v expected="$expected" -v slack="$slack" '$1 == "total" {
            energy = $2 * ($3 == "kJ" ? 1000 : 1)
            printf "total %s J, 240 W x union %s J, +- %s J\n", energy, expected, slack
            slack += 0.01 * expected
            found = energy >= expected - slack && energy <= expected + slack
        }
        END { exit !found }' <<<"$table"
}

# Is the share that was measured that of the two nodes' records in all of the time of n1's, which is the job's?
right_share() { # TEXT
    local job
    job=$(job_id "$1")
    awk -v a="$(union_s "$job" n1)" -v b="$(union_s "$job" n2)" -v share="$(share "$1")" 'BEGIN {
        expected = 100 * (a + b) / (2 * a)
        print "share", share, "%, by the records", expected, "%"
        exit !(share > expected - 3 && share < expected + 3) }'
}

share() { # TEXT: what was measured [%]
    sed -n 's/^  measured \([0-9.]*\) % of .*/\1/p' <<<"$1"
}
