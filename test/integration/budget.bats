#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Energy budgets of steps on four nodes of 240 W each.
# shellcheck disable=SC2016 # quoted scripts are for an inner shell

load common

setup_file() {
    start_simulated_cluster --nodes 4 --extra KillWait=2
}

# A step of alice's on four nodes: its exit status in $status, what srun says in $stderr. $work has a file for each task.
step() { # ARGUMENTS OF srun
    make_work
    run --separate-stderr timeout 120 "$repository/scripts/cluster" run --user alice srun -N4 -n4 -D "$work" "$@"
    echo "status $status, output: $output"
    echo "$stderr"
}

# A program that counts the signals it gets in got-RANK and goes on, or ends with status 0.
counts() { # SIGNAL WHAT
    echo "trap 'echo $1 >>got-\$SLURM_PROCID; $2' $1; : >got-\$SLURM_PROCID; while :; do sleep 0.1; done"
}

# Each of four tasks got this, and nothing else.
each_got() { # SIGNALS
    local rank
    for rank in 0 1 2 3; do
        [[ $(<"$work/got-$rank") == "$1" ]] || {
            echo "task $rank got: $(<"$work/got-$rank")"
            return 1
        }
    done
}

# The step did not end before the sum of all nodes had reached JOULES, by its own records: power is constant. How long it
# went on after that depends on the machine: it is shown.
not_stopped_before() { # JOULES
    local lines node late_s
    lines=$(for node in n1 n2 n3 n4; do last_record "$node"; done)
    late_s=$(jq -s "(map(.total.energy_j) | add) as \$energy_j | (\$energy_j - $1) / (map(.total.energy_j / .elapsed_s) | add)" <<<"$lines")
    echo "# stopped $late_s s after the budget of $1 J was reached" >&3
    jq -s -e "$jq_helpers (map(slack_s) | max) as \$slack_s | $late_s >= -\$slack_s" <<<"$lines"
}

@test "a budget is reached: each task gets one signal, and its exit status 0 is srun's" {
    step --apapi-budget=2500J,warn=50%,signal=USR1 sh -c "$(counts USR1 'exit 0')"
    [[ $status -eq 0 ]]
    each_got USR1
    [[ $(grep -c 'apapi: step [0-9.]*: 50 % of the energy budget of 2500J used: ' <<<"$stderr") -eq 1 ]]
    [[ $(grep -c 'apapi: step [0-9.]*: energy budget of 2500J reached: 2\.[0-9]* kJ, SIGUSR1 to the step$' <<<"$stderr") -eq 1 ]]
    not_stopped_before 2500
    # the first node's record has what happened, and the table says it
    holds "$(last_record n1)" '.crossings | length == 2 and .[0].threshold == "budget of 2500J, warn=50%" and .[0].action == "log"
        and .[1].threshold == "budget of 2500J" and .[1].action == "signal=USR1" and .[1].unit == "J" and .[1].value >= 2500
        and .[0].time < .[1].time'
    holds "$(last_record n2)" '.crossings == null'
    [[ $(unwrapped "$stderr") == *'budget of 2500J'*'signal=USR1'* ]]
}

@test "a limit of the step, of the nodes and a budget: all nodes count, each acts once" {
    step --apapi-budget=100kJ --apapi-overflow='step total >= 2500J : log, signal=USR1' --apapi-overflow='total >= 100J : stamp' \
        --apapi-overflow='step total every 1kJ : stamp' sh -c "$(counts USR1 'exit 0')"
    [[ $status -eq 0 && $(grep -c 'apapi: step [0-9.]*: step total >= 2500J crossed with [0-9.]* kJ, SIGUSR1 to the step$' <<<"$stderr") -eq 1 ]]
    each_got USR1
    not_stopped_before 2500
    holds "$(last_record n1)" '[.crossings[] | [.threshold, .action]] | unique == [["step total >= 2500J", "log, signal=USR1"],
        ["step total every 1kJ", "stamp"], ["total >= 100J", "stamp"]]'
    holds "$(last_record n2)" '[.crossings[].threshold] == ["total >= 100J"]'
    run as_alice srun --apapi-overflow='job total >= 5kJ' true
    [[ $status -ne 0 && $output == *'only sbatch has a step that could watch a job'* ]]
    run as_alice SLURM_APAPI_OVERFLOW='job total >= 5kJ' srun --apapi=rapl --apapi-format=none true
    [[ $status -eq 0 && $output == 'srun: apapi: SLURM_APAPI_OVERFLOW is ignored: only sbatch has a step'* ]]
    run as_alice salloc -Q -N1 env SLURM_APAPI_OVERFLOW='job total >= 5kJ' srun --apapi=rapl --apapi-format=none true
    [[ $status -eq 0 && $output == 'srun: apapi: SLURM_APAPI_OVERFLOW is ignored: only sbatch has a step'* ]]
}

@test "srun -Q and --apapi-format=none: no lines, and the budget holds" {
    step -Q --apapi-format=none --apapi-budget=1500J,signal=USR2 sh -c "$(counts USR2 'exit 3')"
    [[ $status -eq 3 && $stderr != *apapi* ]]
    each_got USR2
}

# Two steps of a job, of which the second one has a budget.
two_steps() { # BUDGET
    make_work
    printf '%s\n' '#!/bin/sh' "cd $work" \
        "srun -N2 -n2 --overlap -o first sh -c '$until_over; echo over' &" \
        'srun -N4 -n4 --overlap --apapi-format=none'" --apapi-budget=$1 sh -c 'while :; do sleep 0.1; done'" \
        'echo "second: $?"' "$release_first" 'wait $!; echo "first: $?"' >"$BATS_TEST_TMPDIR/job"
    run sbatch_wait -N4 --output="$work/out" <"$BATS_TEST_TMPDIR/job"
    eventually test -s "$work/out"
    cat "$work/out"
}

@test "scope=step: the job's other steps go on" {
    hold
    release_first="touch $over"
    two_steps 1500J,scope=step,signal=USR1
    [[ $(<"$work/out") == *'second: 138'*'first: 0'* && $(<"$work/first") == $'over\nover' ]]
}

@test "scope=job: the job's other steps get the signal, too" {
    hold
    release_first=:
    two_steps 1500J,scope=job,signal=USR1
    [[ $(<"$work/out") == *'second: 138'*'first: 138'* && $(<"$work/first") != *over* ]]
}

@test "scope=job without a signal: the job is ended as at its time limit, its script with it" {
    hold
    release_first='while :; do sleep 0.1; done' # a script that goes on as long as it can
    two_steps 1500J,scope=job
    [[ $(<"$work/out") == *'SIGTERM to the job'*' CANCELLED AT '* && $(<"$work/first") != *over* ]]
}

says() { # TEXT
    grep -qF -- "$1" "$BATS_TEST_TMPDIR/err"
}

@test "variables that name another address do not lead the totals there" {
    run as_alice env SLURM_LAUNCH_NODE_IPADDR=10.99.99.99 SLURM_SRUN_COMM_HOST=10.99.99.99 srun -N4 --apapi-budget=500J,log sleep 2
    [[ $status -eq 0 && $output == *'energy budget of 500J reached: '* ]]
}

# Of the running step alone: no record.
exported() { # NODE EXPRESSION
    mkdir -p "$APAPI_CLUSTER_DIR/none"
    cluster on "$1" "$install/bin/apapi" export --prometheus --acct-dir "$APAPI_CLUSTER_DIR/none" --spool-dir "$APAPI_SPOOL_DIR" \
        -N "$1" - | grep -E "$2"
}

@test "a silent node counts as drawing its latest power; each node's metrics have the budget meanwhile" {
    begin_held_step '' -N4 -n4 --apapi-budget=6kJ,warn=50%,log
    eventually says ': 50 % of the energy budget' # all have sent totals, so that their power is known
    for node in n1 n4; do
        eventually exported "$node" '^apapi_step_budget_joules\{.*step="0".*\} 6000$'
        eventually exported "$node" '^apapi_step_budget_used_joules\{.*step="0".*\} [1-9][0-9]*\.'
    done
    sampler=$(cluster on n4 pgrep -x apapi-sampler)
    cluster on n4 kill -STOP "$sampler"
    eventually says ': n4 is silent: it counts as drawing 2'
    eventually says 'energy budget of 6kJ reached: '
    cluster on n4 kill -CONT "$sampler"
    eventually says ': n4 is heard again'
    end_held_step
    [[ $status -eq 0 && $(grep -c 'is silent' "$BATS_TEST_TMPDIR/err") -eq 1 ]]
    [[ $(grep -c 'reached' "$BATS_TEST_TMPDIR/err") -eq 1 ]]
}

site() { # LINES OF [budget]
    printf '[budget]\n%s\n' "$1" >"$APAPI_CLUSTER_DIR/etc/apapi.conf"
    plugstack "config=$APAPI_CLUSTER_DIR/etc/apapi.conf default=rapl"
}

@test "a site's limit holds for who asks for none, and for who asks for less it stays" {
    site $'max_budget = 2kJ\nbudget_action = signal=USR1'
    step sh -c "$(counts USR1 'exit 0')"
    [[ $status -eq 0 && $stderr == *'80 % of the energy budget of 2kJ used: '*'of 2kJ reached: '*', SIGUSR1 to the step'* ]]
    each_got USR1
    step --apapi-budget=1kJ,log sh -c "$(counts USR1 'exit 0')"
    [[ $status -eq 0 && $stderr == *'of 1kJ reached: '*'of 2kJ reached: '*', SIGUSR1 to the step'* ]]
    each_got USR1
}

@test "who asks for more than a site permits is refused, by a variable ignored" {
    site 'max_budget = 2kJ,main:1kJ'
    step --apapi-budget=3kJ true
    [[ $status -ne 0 && $stderr == *'--apapi-budget: 3kJ is more than this site permits: max_budget = 2kJ,main:1kJ'* ]]
    tells 0 '*SLURM_APAPI_BUDGET is ignored: 3kJ is more than this site permits*' as_alice env SLURM_APAPI_BUDGET=3kJ srun true
}

@test "a bad budget is refused before anything is launched, with its place" {
    local last
    last=$(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }')
    run as_alice srun --apapi-budget=5kJ,wran=80% true
    [[ $status -ne 0 && $output == *'--apapi-budget: expected warn=N%'*$'\n  5kJ,wran=80%\n      ^\n'* ]]
    run as_alice sbatch --apapi-budget=5kJ,scope=step --wrap true
    [[ $status -ne 0 && $output == *'a budget of sbatch is for the job'* ]]
    run as_alice sbatch --apapi-budget=5parsecs --wrap true
    [[ $status -ne 0 && $output == *"unknown unit 'parsecs'"* ]]
    run as_alice salloc --apapi-budget=5kJ true
    [[ $status -ne 0 && $output == *'give it to srun or sbatch'* ]]
    [[ $(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }') == "$last" ]]
}
