# SPDX-License-Identifier: BSD-3-Clause
# Steps and jobs of alice's, and how to wait for what they do.
# shellcheck shell=bash disable=SC2034,SC2154 # used by the tests; set by those who load this

# Submit a batch job and wait for its end: the status is the job's.
sbatch_wait() { # ARGUMENTS OF sbatch
    as_alice sh -c "$(<"$tests/sbatch_wait.sh")" sbatch_wait "$@"
}

submit() { # CMD [OPTIONS]: in a batch script of alice's; prints its output; the status is the script's
    local file=$APAPI_CLUSTER_DIR/home/alice/out-$RANDOM
    local status=0
    sbatch_wait --output="$file" "${@:2}" --wrap "$1" || status=$?
    eventually test -f "$file"
    cat "$file"
    rm -f "$file"
    return $status
}

# A program of a step that must be seen running ends when the test says so: $until_over is a command of sh
# that waits for `release`. Call hold before the step begins.
hold() {
    over=$APAPI_CLUSTER_DIR/home/alice/over-$BATS_TEST_NUMBER
    rm -f "$over"
    until_over="while [ ! -e $over ]; do sleep 0.1; done"
}
release() { as_alice touch "$over"; }

# A step of alice's in the background: its process is $step, its output in out and err.
begin_step() { # ARGUMENTS OF srun
    as_alice srun "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    step=$!
}

# Wait for it; its exit status is in $status.
end_step() {
    status=0
    wait "$step" || status=$?
    echo "status $status, output: $(cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err")"
}

# Such a step that lasts until end_held_step, which begins with SCRIPT.
begin_held_step() { # SCRIPT ARGUMENTS OF srun
    hold
    begin_step "${@:2}" sh -c "$until_over; $1"
}

end_held_step() {
    release
    end_step
}

# alice's program runs on a node.
runs_on() { # NODE PROGRAM
    cluster on "$1" pgrep -u alice -x "$2" >/dev/null
}

# Its sampler has taken the first reading: the program has been started after that.
begun_on() { # NODE PROGRAM
    eventually helpers_on "$1" >/dev/null
    eventually runs_on "$1" "$2"
}

# The sampler of a node has ended.
no_helper_on() { # NODE
    ! helpers_on "$1" >/dev/null
}

# A node has more records than COUNT.
has_more_records() { # NODE COUNT
    [[ $(records "$1" | wc -l) -gt $2 ]]
}

# Bring what the spool of a node has into the accounting: a step that lasts until its sampler has done so.
recover_on() { # NODE
    spool_is_empty() { ! compgen -G "$APAPI_SPOOL_DIR/$1/*.json" >/dev/null; }
    plugstack checkpoint=off # none of its own
    begin_held_step '' -N1 -w "$1" --apapi=rapl
    eventually spool_is_empty "$1"
    end_held_step
    [[ $status -eq 0 ]]
}

job_runs() { # JOB
    [[ $(cluster run squeue -h -j "$1" -o %T 2>/dev/null) == RUNNING ]]
}

job_is_gone() { # JOB
    [[ -z $(cluster run squeue -h -j "$1" 2>/dev/null) ]]
}

# A requeued job runs again now, not when the credential of its last run would have ended. slurmd refuses one that was
# made in the second in which it ended that run.
run_again() { # JOB
    is_pending() { [[ $(cluster run squeue -h -j "$1" -o %T 2>/dev/null) == PENDING ]]; }
    eventually is_pending "$1"
    sleep 2
    eventually cluster run scontrol update jobid="$1" starttime=now
}

# A message in one line, however it was broken.
unwrapped() { # TEXT
    tr -s ' \n' ' ' <<<"$1"
}
