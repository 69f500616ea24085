#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The record of a step: its user, its end; it survives its sampler and its node; each user's own copies.
# shellcheck disable=SC2016 # $SLURM_PROCID is for the step

load common

# The record of a step whose sampler is gone, once another one has run.
recovered() { # NODE
    recover_on "$1" >/dev/null
    records "$1" | jq -c 'select(.recovered)' | tail -n 1
}

has_checkpoint() { # NODE
    compgen -G "$APAPI_SPOOL_DIR/$1/*.json" >/dev/null
}

# Not only its first reading.
has_measured() { # NODE
    jq -e '.elapsed_s >= 0.8' "$APAPI_SPOOL_DIR/$1"/*.json 2>/dev/null >&2
}

@test "the sampler is killed on one of two nodes: it has no record, and after the node's next step an incomplete one" {
    begin_held_step '' -N2 --apapi=rapl
    begun_on n1 sh
    begun_on n2 sh
    eventually has_checkpoint n2
    cluster on n2 pkill -KILL -x apapi-sampler
    end_held_step
    grep -q 'n2: no record (the sampler ended too early)' "$BATS_TEST_TMPDIR/err"
    job=$(last_record n1 | jq .job)
    run -0 --separate-stderr "$install/bin/apapi" report --acct-dir "$APAPI_ACCT_DIR" -j "$job" --format=jobid,missing,missing_nodes
    [[ ${lines[1]} =~ ^"$job"\ +1\ +n2$ && $stderr == "apapi report: $job.0: no record of 1 of 2 nodes: n2" ]]
    tells 0 '*step 0: no record of 1 of its 2 nodes: n2*' "$install/bin/apapi" show --acct-dir "$APAPI_ACCT_DIR" "$job"
    tells 0 '*n2: no record (no record in the files)*' "$install/bin/apapi" show -f table -j "$job" "$APAPI_ACCT_DIR"
    # whatever a user says of it in the environment, srun says it again
    as_alice env SLURM_STEP_NODELIST='n[7-9]' srun -N2 --apapi=rapl sleep 0.2
    holds "$(last_record n1)" '.nodes == 2 and .nodelist == "n[1-2]"'
    recover_on n2
    run -0 --separate-stderr "$install/bin/apapi" report --acct-dir "$APAPI_ACCT_DIR" -j "$job" --format=jobid,incomplete,missing
    [[ ${lines[1]} =~ ^"$job"\ +1\ +0$ && $stderr == "apapi report: $job.0: incomplete on n2: the node or the sampler ended; recovered "* ]]
}

@test "the sampler is told to end, as at a node's shutdown: srun and the script get its record, with the reason" {
    begin_held_step 'exit 3' -N1 -n2 -w n1 --apapi=rapl
    begun_on n1 sh
    cluster on n1 pkill -TERM -x apapi-sampler
    eventually no_helper_on n1
    end_held_step
    [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/err") == *'  total '* ]]
    [[ $(<"$BATS_TEST_TMPDIR/err") == *'n1: incomplete (the sampler was told to end)'* ]]
    holds "$(last_record n1)" '(.complete | not) and .reason == "the sampler was told to end"'
    hold
    submit "$until_over" --apapi=rapl -w n1 >"$BATS_TEST_TMPDIR/out" 3>&- &
    step=$!
    begun_on n1 slurm_script
    cluster on n1 pkill -TERM -x apapi-sampler
    eventually no_helper_on n1
    end_held_step
    [[ $status -eq 0 && $(<"$BATS_TEST_TMPDIR/out") == *'apapi: step '*.batch*'n1: incomplete (the sampler was told to end)'* ]]
}

@test "the node loses its power: after it has come back, the next step recovers what was measured" {
    plugstack checkpoint=1s stop_timeout=2s # so long srun waits for a record
    expected_errors='.' # a node that was dead has much to tell
    cluster run srun -N1 -w n2 --apapi=rapl sleep 1000 3>&- >/dev/null 2>&1 &
    step=$!
    eventually has_measured n2
    job=$(cluster run squeue -h -w n2 -o %A)
    cluster kill-node n2
    has_checkpoint n2
    cluster run scancel "$job"
    wait $step || true
    cluster boot-node n2
    # where the counters start again with the node
    eventually nodes_idle
    record=$(recovered n2)
    holds "$record" ".job == $job and (.complete | not) and .elapsed_s >= 0.8 and .total.energy_j > 100"
    run ! has_checkpoint n2
}

@test "exit statuses of the tasks" {
    run as_alice srun -N1 -w n1 -n4 --apapi=rapl sh -c 'sleep 0.$SLURM_PROCID; exit $SLURM_PROCID'
    holds "$(last_record n1)" '.exit_code == 3 and .failed_tasks == 3 and (has("exit_signal") | not)'
    run as_alice srun -N1 -w n1 -n2 --apapi=rapl sh -c '[ $SLURM_PROCID = 0 ] || kill -9 $$; sleep 0.2'
    holds "$(last_record n1)" '.exit_code == 0 and .failed_tasks >= 1 and .exit_signal == 9'
    as_alice srun -N1 -w n1 --apapi=rapl true
    holds "$(last_record n1)" '.exit_code == 0 and (has("failed_tasks") or has("exit_signal") | not)'
}

batch() { # COMMAND SBATCH-OPTION...
    sbatch_wait --output=/dev/null --apapi=rapl "${@:2}" --wrap "$1"
}

@test "who and what: batch steps say what Slurm says, others what their environment says" {
    batch 'srun -n2 sleep 0.3' -N1 -w n1 -n2 -J "my job"
    step=$(records n1 | tail -n 2 | jq -c 'select(.step == "0")')
    script=$(records n1 | tail -n 2 | jq -c 'select(.step == "batch")')
    for record in "$step" "$script"; do
        holds "$record" '.job_name == "my job" and .partition == "main" and .cluster == "apapi" and .cores == 2 and .node_cores == 8'
        holds "$record" ".uid == $(cluster run id -u alice) and .nodes == 1 and (has(\"nodelist\") | not)"
        holds "$record" '.user == "alice" and .exit_code == 0 and (has("array_job") or has("het_job") | not)'
    done
    holds "$script" '.verified'
    holds "$step" '(has("verified") | not) and .name == "sleep" and .tasks == 2'
}

@test "a forged environment: what Slurm vouches for stays, the rest is not called verified" {
    as_alice env SLURM_JOB_ACCOUNT=physics SLURM_JOB_PARTITION=other SLURM_JOB_USER=root SLURM_JOB_UID=0 \
        SLURM_CLUSTER_NAME=moon SLURM_ARRAY_JOB_ID=1 SLURM_ARRAY_TASK_ID=2 SLURM_RESTART_COUNT=many \
        SLURM_HET_SIZE=999999999 SLURM_JOB_ID_HET_GROUP_0=4711 SLURM_JOB_QOS="$(head -c 300 /dev/zero | tr '\0' x)" \
        srun -N1 -w n1 --apapi=rapl sleep 0.2
    holds "$(last_record n1)" '.user == "alice" and .uid > 0 and (has("verified") | not)'
    holds "$(last_record n1)" '.node == "n1" and .step == "0" and .tasks == 1 and (has("het_job") or has("array_job") | not)'
    next=$(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }')
    as_alice env SLURM_JOB_ACCOUNT=physics SLURM_JOB_PARTITION=other SLURM_CLUSTER_NAME=moon \
        SLURM_JOB_QOS=best SLURM_ARRAY_JOB_ID=1 SLURM_ARRAY_TASK_ID=2 \
        SLURM_HET_SIZE=2 SLURM_JOB_ID_HET_GROUP_0=77 SLURM_JOB_ID_HET_GROUP_1="$next" \
        sh -c "$(<"$tests/sbatch_wait.sh")" sbatch_wait --output=/dev/null --apapi=rapl -N1 -w n1 --wrap 'sleep 0.2'
    record=$(last_record n1)
    holds "$record" '.verified and .cluster == "apapi" and .partition == "main" and (has("array_job") | not)'
    holds "$record" ".job == $next and (has(\"het_job\") | not)"
}

@test "a job array" {
    batch 'srun sleep 0.2' -N1 -w n1 --array=3,5
    records=$(records n1 | tail -n 4 | jq -c '[.array_task, .step, .array_job != null]' | sort)
    [[ $records == $'[3,"0",true]\n[3,"batch",true]\n[5,"0",true]\n[5,"batch",true]' ]]
    [[ $(records n1 | tail -n 4 | jq .array_job | uniq | wc -l) -eq 1 ]]
    as_alice env SLURM_ARRAY_JOB_ID=1 SLURM_ARRAY_TASK_ID=2 sh -c "$(<"$tests/sbatch_wait.sh")" sbatch_wait --output=/dev/null \
        --apapi=rapl -N1 -w n1 --wrap 'srun sleep 0.2' # as of an sbatch in such a task
    [[ $(records n1 | tail -n 2 | jq -c '[.step, .array_job]') == $'["0",null]\n["batch",null]' ]]
}

@test "a heterogeneous job: which component" {
    batch 'srun --het-group=0,1 sleep 0.3' -N1 -w n1 : -N1 -w n2
    first=$(last_record n1) second=$(last_record n2)
    records n1 | tail -n 2 | jq -c 'select(.step == "0")' >"$BATS_TEST_TMPDIR/n1"
    holds "$(<"$BATS_TEST_TMPDIR/n1")" '.het_job == .job and .het_offset == 0'
    holds "$second" '.het_job == .job - 1 and .het_offset == 1'
    [[ $(jq .het_job <<<"$first") == "$(jq .het_job <<<"$second")" ]]
    as_alice srun --quiet -N1 -w n1 --apapi=rapl --apapi-output=none sleep 0.3 : -N1 -w n2 sleep 0.3 # an allocation of srun's own
    first=$(last_record n1) second=$(last_record n2)
    holds "$first" '.het_job == .job and .het_offset == 0'
    holds "$second" ".het_job == $(jq .het_job <<<"$first") and .het_offset == 1"
}

# --- user_records ---------------------------------------------------------------------------------------

as() { cluster run --user "$1" "${@:2}"; }
uid_of() { cluster run id -u "$1"; }

# Lines of a user's copies, of all nodes.
copies_of() { # USER
    find "$users/$(uid_of "$1")" -name '*.jsonl' -exec cat {} + 2>/dev/null
}

has_copies() { # USER COUNT
    [[ $(copies_of "$1" | wc -l) -ge $2 ]]
}

@test "what the user reads is what root has written, and only he and root can read it" {
    users=$APAPI_CLUSTER_DIR/users
    plugstack user_records="$users"
    as alice srun -N2 -J copied --apapi=rapl sleep 0.3
    as bob srun -N1 -w n2 -J copied --apapi=rapl sleep 0.3
    eventually has_copies alice 2
    eventually has_copies bob 1
    for user in alice bob; do
        diff <(copies_of "$user" | sort) <(records 'n?' | grep '"job_name":"copied"' | grep "\"user\":\"$user\"" | sort)
    done
    [[ -z $(find "$users" ! -uid 0) ]]
    local mine theirs
    mine=$users/$(uid_of alice)
    theirs=$users/$(uid_of bob)
    as alice ls "$mine"
    run ! as alice ls "$users"
    run ! as alice ls "$theirs"
    run ! as bob find "$mine" -type f
    for file in "$mine"/*/*.jsonl; do
        as alice head -c 1 "$file"
        run ! as bob head -c 1 "$file"
        run ! as alice sh -c "echo x >>'$file'"
        run ! as alice rm -f "$file"
        run ! as alice chmod 666 "$file"
    done
    run ! as alice touch "$mine/more"
    run ! as alice rmdir "$mine"/*
}
