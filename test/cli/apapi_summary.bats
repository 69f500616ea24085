#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi show --brief: a job in a few lines, on records whose truth is known, and a sacct that says what the test wants.
# shellcheck disable=SC2030,SC2031 # each test has its own PATH

load report_common

# A sacct that knows these lines: the columns of the real one, separated by blanks; "-": empty.
fake_sacct() { # LINE...
    printf '%s\n' "$@" | tr ' ' '\037' | sed 's/\x1f-\x1f/\x1f\x1f/g' >"$BATS_TEST_TMPDIR/slurm"
    sacct_is "cat '$BATS_TEST_TMPDIR/slurm'"
}

# Job 17 as Slurm knows it: 2 nodes with 8 cores in all for 100 s, of which its processes have used 600 s.
job_17='17 17 c1 anna physics COMPLETED 0:0 100 2 8 800 00:10:00 '

# A sacct that is this script of sh.
sacct_is() { # SCRIPT
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\n%s\n' "$1" >"$BATS_TEST_TMPDIR/bin/sacct"
    chmod +x "$BATS_TEST_TMPDIR/bin/sacct"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

no_sacct() { sacct_is 'echo "sacct: error: Problem talking to the database" >&2; exit 1'; }

summary() { "$apapi" show --brief --acct-dir "$acct" "$@"; }

says() { # LINE...: each is one of the output
    for line; do
        grep -qxF "$line" <<<"$output" || { echo "not there: $line"; return 1; }
    done
}

# 200 W and 300 W on two nodes for 100 s: 50 kJ, 500 W, 250 W a node.
two_nodes() {
    record 17 0 n1 0 100 200 '.nodes = 2 | .nodelist = "n[1-2]" | .uid = 1000'
    record 17 0 n2 0 100 300 '.nodes = 2 | .nodelist = "n[1-2]" | .uid = 1000'
}

@test "all that is known of a job, in the manner of seff" {
    fake_sacct "$job_17"
    two_nodes
    complains 0 '' summary 17
    diff - <<<"$output" <(cat <<'END'
Job ID: 17
Cluster: c1
User/Account: anna/physics
State: COMPLETED (exit code 0:0)
Program: app
Nodes: 2
Cores: 8
Wall-clock time: 00:01:40
Energy: 50.00 kJ
Mean power: 500.0 W, 250.0 W a node
Measured: 100.0 % of the node time
CPU utilized: 00:10:00
CPU efficiency: 75.00 % of 00:13:20 core time
Energy per CPU hour used: 300.0 kJ
END
)
    fake_sacct "${job_17/00:10:00/00:00:10}" # of little CPU time nearly all energy is idle power's
    run -0 --separate-stderr summary 17
    [[ $output == *"CPU efficiency: 1.25 % "* && $output != *"Energy per CPU hour"* ]]
}

@test "without Slurm's accounting, or if it never answers: what records know, and nothing else" {
    no_sacct
    two_nodes
    complains 0 '' summary 17
    says 'Energy: 50.00 kJ' 'Wall-clock time: 00:01:40'
    [[ $output != *CPU* && $output != *State* ]]
    record 19 0 n1 0 29 100 '.nodes = 2'
    record 19 0 n2 0 7 100 '.nodes = 2'
    complains 0 '' summary 19
    says 'Measured: 62.0 % of the node time' # of 62.07, rounded down as everywhere
    complains 0 'apapi show: sacct: error: Problem talking to the database' summary -v 17
    record 20 0 n1 0 29 100 '.restarts = 0'
    record 20 0 n2 40 10 110 '.restarts = 1'
    complains 0 '' summary 20
    says 'Energy: 4.000 kJ of 2 runs, 00:00:39'
    sacct_is 'exec sleep 1000' # 2 s
    complains 0 'apapi show: sacct: Connection timed out' summary -v 17
    says 'Energy: 50.00 kJ'
    [[ $output != *CPU* ]]
}

@test "a job of which Slurm alone knows the energy: that, in an object of its own or after other words" {
    for words in '' audited '{`by`:`me`}'; do
        fake_sacct "$job_17$words"'{"apapi":{"v":1,"energy_j":1440.12,"uncertainty_j":2.5,"mean_w":240.02,"nodes":1,"measured_pct":99.5}}'
        run -0 summary 17
        says 'Energy: 1.440 kJ ±0.17 %' 'Mean power: 240.0 W' 'Measured: 99.5 % of the node time' 'CPU efficiency: 75.00 % of 00:13:20 core time'
        [[ $output != *Program* ]]
    done
}

@test "a job that runs: its figures are of the steps that have ended" {
    local none='apapi show: no record of this job found: it is RUNNING, and a step has its record at its end'
    fake_sacct "${job_17/COMPLETED/RUNNING}"
    tells 1 "$none" summary 17
    tells 1 "$none" "$apapi" show --acct-dir "$acct" 17
    tells 1 'apapi show: /no/such: No such file or directory' "$apapi" show --acct-dir /no/such 17
    two_nodes
    run -0 summary 17
    says 'State: RUNNING: the figures are of its steps that have ended' 'Energy: 50.00 kJ'
    tells 0 '*state *RUNNING: the figures are of its steps that have ended*' "$apapi" show --acct-dir "$acct" 17
    sacct_is "cat '$BATS_TEST_TMPDIR/slurm'; sed -i s/RUNNING/COMPLETED/ '$BATS_TEST_TMPDIR/slurm'"
    run -0 summary --wait=10m 17 # slurmdbd hears of a job's end some time after it
    says 'State: COMPLETED (exit code 0:0)'
    fake_sacct "${job_17/COMPLETED/RUNNING}"
    record 17 batch n1 0 500 100 # its script has ended: Slurm is not asked
    run -0 "$apapi" show --acct-dir "$acct" 17
    [[ $output != *RUNNING* ]]
    record 17 0 n1 600 10 100 '.restarts = 1' # requeued
    tells 0 '*state *RUNNING:*' "$apapi" show --acct-dir "$acct" 17
}

@test "a job of another user's with the same number in Slurm is not this one" {
    fake_sacct "${job_17/anna/berta}"
    two_nodes
    run -0 summary 17
    [[ $output != *CPU* ]]
}

@test "CPU time in all forms of sacct" {
    two_nodes
    for form in '1-00:00:01 1-00:00:01' '00:01.500 00:00:01' '10:00 00:10:00'; do
        fake_sacct "${job_17/00:10:00/${form% *}}"
        run -0 summary 17
        says "CPU utilized: ${form#* }"
    done
    fake_sacct "${job_17/00:10:00/00:00:00}" # no jobacct_gather
    run -0 summary 17
    [[ $output != *CPU* ]]
}

@test "GPUs: the mean of their own meters, of the longest record of each node" {
    no_sacct
    gpu='.components = [{name: "nvml", interval_s: 0.1, source: "NVML", events: [30, 90 | {name: "nvml:::X:device_0:gpu_utilization",
        scale: 1, kind: "utilization", domain: "gpu", unit: "%", min: 0, mean: ., max: 100, last: ., covered_s: 100, samples: 100}]}]'
    record 17 batch n1 0 100 200 "$gpu"
    record 17 0 n1 10 50 200 "${gpu/30, 90/100, 100}"
    tells 0 '*GPU efficiency: 60.00 % of 2 GPUs*' summary 17
}

@test "a job without steps of its own has the name of the job" {
    no_sacct
    record 17 batch n1 0 100 200 '.job_name = "lmp" | .name = "batch"'
    run -0 summary 17
    says 'Job name: lmp'
    [[ $output != *Program* ]]
}

@test "a heterogeneous job: its components in Slurm's accounting added up; an array has to be one task" {
    fake_sacct '17 17+0 c1 anna physics COMPLETED 0:0 100 1 8 800 00:10:00 ' \
        '18 17+1 c1 anna physics COMPLETED 0:0 150 2 4 600 00:02:00 '
    record 17 0 n1 0 100 200 '.het_job = 17 | .het_offset = 0'
    record 18 0 n2 0 150 300 '.het_job = 17 | .het_offset = 1'
    run -0 summary 17
    says 'Nodes: 3' 'Cores: 12' 'Wall-clock time: 00:02:30' 'Energy: 65.00 kJ' 'CPU utilized: 00:12:00' 'CPU efficiency: 51.43 % of 00:23:20 core time'
    sed -i '2s/COMPLETED/RUNNING/' "$BATS_TEST_TMPDIR/slurm"
    tells 0 '*state *RUNNING:*' "$apapi" show --acct-dir "$acct" 17 # as long as one of them does
    fake_sacct '27 27+0 c1 anna physics COMPLETED 0:0 100 1 8 800 00:10:00 {"apapi":{"energy_j":20000,"mean_w":200,"elapsed_s":100}}' \
        '28 27+1 c1 anna physics COMPLETED 0:0 150 2 4 600 00:02:00 {"apapi":{"energy_j":45000,"mean_w":300,"elapsed_s":150}}'
    run -0 summary 27 # no records: what apapi sync has written; the first component draws nothing in the last 50 s
    says 'Job ID: 27' 'Energy: 65.00 kJ' 'Mean power: 433.3 W'
    fake_sacct '30 30+0 c1 anna physics COMPLETED 0:0 100 1 8 800 00:10:00 ' \
        '31 30+1 c1 anna physics COMPLETED 0:0 100 1 8 800 00:10:00 {"apapi":{"energy_j":20000,"mean_w":200,"measured_pct":99,"elapsed_s":100}}' \
        '32 30+2 c1 anna physics COMPLETED 0:0 100 1 8 800 00:10:00 '
    run -0 --separate-stderr summary -v 30
    says 'Job ID: 30' 'Energy: 20.00 kJ of 1 of 3 components' 'Mean power: 200.0 W'
    [[ $output != *"Measured"* && $output != *" per CPU hour"* && -z $stderr ]]
    fake_sacct '20 19_1 c1 anna physics COMPLETED 0:0 100 1 8 800 00:10:00 {"apapi":{"energy_j":5}}' \
        '21 19_2 c1 anna physics COMPLETED 0:0 100 1 8 800 00:10:00 {"apapi":{"energy_j":5}}'
    tells 1 'apapi show: several jobs match: name one, as 17_3 of an array' summary 19
}

@test "a job without a record: -v says why Slurm's accounting says nothing" {
    local none='apapi show: no record of this job found'
    no_sacct
    tells 1 "$none" summary 17
    tells 1 'apapi show: sacct: error: Problem talking to the database'$'\n'"$none" summary -v 17
    fake_sacct "$job_17"
    tells 1 "apapi show: sacct: the job has no energy of apapi-sync in Slurm's accounting"$'\n'"$none" summary -v 17
    fake_sacct ''
    tells 1 'apapi show: sacct: no such job that you may see'$'\n'"$none" summary -v 17
    sacct_is 'exit 127'
    tells 1 'apapi show: sacct: No such file or directory'$'\n'"$none" summary -v 17
    tells 1 "$none" summary 17
}
