#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Slurm's own ledger: sacct, sstat and sreport show what the node's meters counted.

load common
load energy_common

setup_file() {
    make_energy_folder
    simulate_time
    make_prefix
    # 2 W: 100 s of the meters' time are 200 J
    start_cluster --dbd --extra "$(energy_lines)" --sim "--packages 1 --package-w 2 --dram-w none --spec $energy/spec"
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    eventually node_has n1 'e >= 0'
    eventually node_has n2 'e >= 0'
    cluster run sacctmgr -i add account physics
    cluster run sacctmgr -i add user alice account=physics
}

has_read() { (($(node_readings "$1") >= $2)); } # NODE COUNT

# From here on both nodes' figures have all that the meters have counted, and a power of nearly 0 W, so that what a step is
# told is final: of three more readings, the second one began after all before.
settle() {
    local n1 n2
    n1=$(node_readings n1)
    n2=$(node_readings n2)
    eventually has_read n1 $((n1 + 3))
    eventually has_read n2 $((n2 + 3))
}

sum_of_step() { # PROGRAM STEP: what sacct or sstat says [J]
    cluster run "$1" -n -P -j "$2" -o JobID,ConsumedEnergyRaw | awk -F'|' -v "step=$2" '($1 "") == (step "") { print $2 }'
}

told() { # PROGRAM STEP LEAST MOST
    local energy
    energy=$(sum_of_step "$1" "$2")
    echo "$1: $energy J"
    [[ -n $energy ]] && ((energy >= $3 && energy <= $4))
}

one_task_is_on() { [[ $(cluster on "$1" pgrep -c -u alice -x sh) -eq 1 ]]; } # NODE

# A step that begins and ends while the meters stand still, on both nodes, and draws 400 J. The second task of each node,
# about which slurmstepd asks first, ends after the half.
draw_400_j() {
    settle
    hold
    begin_step -N2 --ntasks-per-node=2 \
        sh -c "until test -e $over || test \$SLURM_LOCALID = 1 -a -e $energy/\$SLURM_JOB_ID; do sleep 0.1; done"
    eventually runs_on n1 sh
    eventually runs_on n2 sh
    job=$(cluster run squeue -h -u alice -o %i)
    let_pass 50000
    settle
    eventually told sstat "$job.0" 199 201
    touch "$energy/$job"
    eventually one_task_is_on n1
    eventually one_task_is_on n2
    let_pass 50000
    settle
}

@test "400 J of truth are 400 J in sacct, and in sstat while the step runs" {
    draw_400_j
    eventually told sstat "$job.0" 399 401
    end_held_step
    [[ $status -eq 0 ]]
    eventually told sacct "$job.0" 399 401
    eventually told sacct "$job" 399 401
}

# slurmctld may tell slurmdbd of a job's begin seconds after its end. Until then, the job has no user's association and no
# time at which it became eligible: sreport and sacct -S do not count it.
has_begun_in_ledger() { # JOB
    [[ $(cluster run sacct -n -P -X -j "$1" -o Eligible) == 20* ]]
}

# The meters go on while the node sampler hangs: none of that time is the step's, and the rest is not all of it.
@test "a step that begins while the meters are not read has no energy, the next one has its own" {
    local held
    settle
    cluster on n1 pkill -STOP -x apapi-sampler
    let_pass 50000
    sleep 3 # for two seconds the latest power goes on
    begin_held_step '' -N1 -w n1
    eventually runs_on n1 sh
    held=$(cluster run squeue -h -u alice -o %i)
    cluster on n1 pkill -CONT -x apapi-sampler
    settle
    end_held_step
    [[ $status -eq 0 ]]
    is_unknown() { [[ $(cluster run sacct -n -P -j "$held.0" -o State,ConsumedEnergyRaw) == 'COMPLETED|' ]]; }
    eventually is_unknown
    run -0 as_alice srun -w n1 sh -c 'echo $SLURM_JOB_ID'
    eventually told sacct "$output.0" 0 1
}

@test "sreport adds them up by user" {
    this_hour() { cluster run date +%FT%H:00:00; }
    local start own all
    until [[ ${start:-} == "$(this_hour)" ]]; do # sreport knows an hour whose jobs slurmdbd has added up
        start=$(this_hour)
        draw_400_j
        end_held_step
        eventually told sacct "$job" 399 401
        eventually has_begun_in_ledger "$job"
    done
    local end
    end=$(cluster run date -d "${start/T/ } 1 hour" +%FT%H:00:00)
    cluster run sacctmgr -i rollup "$start" "$end"
    own=$(cluster run sreport -n -P -t seconds -T energy cluster AccountUtilizationByUser start="$start" end="$end" |
        awk -F'|' '$3 == "alice" { print $NF }')
    all=$(cluster run sacct -n -P -X -u alice -S "$start" -o ConsumedEnergyRaw | awk '{ s += $1 } END { print s }')
    echo "sreport $own J, sacct $all J"
    ((own >= 399 && own <= all + 1))
}

@test "scontrol reconfigure and a restart of slurmd: the node's total goes on" {
    expected_errors='mpi|MPI' # Debian's Slurm says so at each start
    let_pass 100000
    settle
    local before first
    before=$(node_energy n1)
    first=$(node_sampler n1)
    cluster run scontrol reconfigure
    let_pass 50000
    eventually node_has n1 "e - $before > 99.9 && e - $before < 101"
    end_slurmd n1
    let_pass 50000 # while nobody looks
    cluster on n1 slurmd
    eventually node_has n1 "e - $before > 199.9 && e - $before < 201"
    [[ $(node_sampler n1) != "$first" ]]
}
