#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The ledger of a node whose sampler slurmd has started: shares of steps, idle energy and what is nobody's are what
# the meters saw.

load common
load energy_common

setup_file() {
    if [[ ! -d /sys/fs/cgroup/cpuacct && ! -f /sys/fs/cgroup/cgroup.controllers ]]; then
        skip_all "no control groups here that count CPU time"
    fi
    local cluster=$BATS_FILE_TMPDIR/cluster groups
    make_energy_folder
    make_prefix "acct_dir = $cluster/acct" "spool_dir = $cluster/apapi-spool" '[shares]' 'records = on'
    export plugstack_words="config=$energy/prefix/etc/apapi/apapi.conf"
    groups='ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\nJobAcctGatherType=jobacct_gather/cgroup'
    start_cluster --extra "$(energy_lines)\\n$groups" --sim "--packages 2 --package-w 100 --dram-w 20"
}

no_helpers() { ! cluster run pgrep -x apapi-collect; }

# The hour that runs now is not audited: the same two days earlier.
move_to_past() {
    local day before file
    past=$BATS_TEST_TMPDIR/past
    for day in "$(date -u -d yesterday +%F)" "$(date -u +%F)"; do
        before=$(date -u -d "$day 2 days ago" +%F)
        mkdir -p "$past/$before"
        for file in n1.hours n1.jsonl; do
            [[ ! -f $APAPI_ACCT_DIR/$day/$file ]] ||
                sed -E "s/\"$day/\"$before/g; s/\"$(date -u -d "$day 1 day ago" +%F)/\"$(date -u -d "$day 3 days ago" +%F)/g" \
                    "$APAPI_ACCT_DIR/$day/$file" >"$past/$before/$file"
        done
    done
}

busy="for i in 1 2; do timeout 4 sh -c 'while :; do :; done' & done; wait; true"

@test "the audit of a node with steps side by side closes" {
    local audit row past
    eventually cluster on n1 test -s /run/apapi/n1/shares
    as_alice srun -N1 -w n1 -n1 -c2 --apapi=rapl sh -c "$busy" &
    as_alice srun -N1 -w n1 -n1 -c1 --apapi=rapl sleep 4
    wait
    as_alice srun -N1 -w n1 -n1 -c2 --apapi=rapl sh -c "$busy"
    records n1 | jq -c .share
    end_slurmd n1
    move_to_past
    audit=$("$install/bin/apapi" audit -S "$(date -u -d "4 days ago" +%F)" --acct-dir "$past" -N n1 --csv -n)
    echo "$audit"
    # energy, shares, idle, nobody's; records, and those without a share
    awk -F , '{ e += $4; s += $5; i += $6; u += $7; records += $12; lacking += $13 }
        END { exit !(records == 3 && lacking == 0 && s > 0 && i > 0 && (s + i + u) / e >= 0.999 && (s + i + u) / e <= 1.001) }' <<<"$audit"
    "$install/bin/apapi" audit -S "$(date -u -d "4 days ago" +%F)" --acct-dir "$past" -N n1
    cluster on n1 slurmd
    eventually nodes_idle
}
