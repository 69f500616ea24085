#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi sync: what jobs have used, in Slurm's own accounting.

load common

apapi() { cluster run "$install/bin/apapi" "$@"; }
sync_all() { apapi sync --acct-dir "$APAPI_ACCT_DIR" "$@"; }

# As alice, silently; prints the job's number.
submit() { # OPTIONS... --wrap CMD
    as_alice sbatch --parsable --output=/dev/null "$@"
}

field() { # JOB FIELD
    cluster run sacct -X -n -P -j "$1" -o "$2"
}
comment() { field "$1" admincomment; }

database() { # SQL
    cluster run mariadb -N -S /run/mysqld/mysqld.sock slurm_acct_db -e "$1"
}

# Have all these jobs an end in slurmdbd, and nodes, which it may learn seconds later?
ended() { # JOB...
    local jobs
    jobs=$(IFS=, && echo "$*")
    [[ $(database "select count(*) from apapi_job_table where id_job in ($jobs)") -ge $# ]] &&
        [[ $(database "select count(*) from apapi_job_table where (id_job in ($jobs) or id_array_job in ($jobs)) and
            (time_end = 0 or nodes_alloc = 0)") -eq 0 ]]
}

# Has the job's batch step begun, and so been measured?
measured() { # JOB
    job_runs "$1" && [[ -e $APAPI_CLUSTER_DIR/home/alice/begun-$1 ]]
}

# All kinds of ends at once: each job sees the node's 240 W, whatever else runs there. Those that are ended from
# outside do not end by themselves; a requeued one does in its second run.
start_jobs() {
    export COMPLETED FAILED CANCELLED TIMEOUT REQUEUED ARRAY TWO_NODES MANY HET TEXT OBJECT
    local begin='touch ~/begun-$SLURM_JOB_ID'
    TIMEOUT=$(submit -N1 -t 5 --wrap "$begin; sleep 1000")
    REQUEUED=$(submit -N1 --requeue --wrap "$begin; "'[ -n "$SLURM_RESTART_COUNT" ] || sleep 1000; sleep 1')
    eventually measured "$TIMEOUT"
    # slurmctld looks after these every 30 s
    cluster run scontrol update jobid="$TIMEOUT" endtime=now+1
    COMPLETED=$(submit -N1 --wrap 'sleep 1')
    FAILED=$(submit -N1 --wrap 'sleep 1; exit 3')
    CANCELLED=$(submit -N1 --wrap "$begin; sleep 1000")
    ARRAY=$(submit -N1 -a 1-2 --wrap 'sleep $SLURM_ARRAY_TASK_ID')
    TWO_NODES=$(submit -N2 --wrap 'srun -N2 sleep 2')
    MANY=$(submit -N1 -n3 --wrap 'srun -n1 --exact sleep 3 & srun -n1 --exact sleep 3 & sleep 3; wait')
    TEXT=$(submit --hold -N1 --wrap 'sleep 1')
    OBJECT=$(submit --hold -N1 --wrap 'sleep 1')
    HET=$(as_alice sbatch --parsable --output=/dev/null -N1 --wrap 'srun --het-group=0,1 sleep 1' : -N1)
    cluster run scontrol update jobid="$TEXT" admincomment="it's \"mine\": 50 % \\ {so}"
    cluster run scontrol update jobid="$OBJECT" admincomment='{"a": 0.10}'
    cluster run scontrol release "$TEXT" "$OBJECT"
    eventually measured "$CANCELLED"
    eventually measured "$REQUEUED"
    sleep 1 # and have been for so long
    cluster run scontrol requeue "$REQUEUED"
    cluster run scancel "$CANCELLED"
    run_again "$REQUEUED"
}

setup_file() {
    start_simulated_cluster --dbd
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    plugstack default=rapl output=none
    start_jobs
    eventually ended "$COMPLETED" "$FAILED" "$CANCELLED" "$TIMEOUT" "$REQUEUED" "$ARRAY" "$TWO_NODES" "$MANY" "$TEXT" \
        "$OBJECT" "$HET"
}

setup() {
    common_setup
    plugstack default=rapl output=none
}

# The records of a job's batch step, or of its only one, together: for how long they measured, and how far they may be
# from the truth.
batch_sum() { # JOB
    records 'n?' | jq -c "select(.job == $1)" | jq -s "$jq_helpers
        if any(.step == \"batch\") then map(select(.step == \"batch\")) else . end |
        {n: length, s: map(.elapsed_s) | add, slack_s: map(slack_s + not_covered_s) | add}"
}

# APAPI's figures of a job fit its records, whose batch step lasts as long as the job (on two nodes, its step
# nearly so), and with Slurm's own figures: no job is longer for us than for Slurm, to a second.
right() { # JOB NODES
    local text elapsed batch
    text=$(comment "$1")
    elapsed=$(field "$1" elapsedraw)
    batch=$(batch_sum "$1")
    echo "job $1: $elapsed s $text; batch step: $batch"
    holds "[$text, $batch]" ".[1] as \$b | .[0].apapi | .v == 1 and .nodes == $2 and
            .uncertainty_j > 0 and .uncertainty_j < .energy_j and (.mean_w * \$b.s / .energy_j - 1 | fabs) < 0.02 + $2 * \$b.slack_s / \$b.s" &&
        holds "[$text, $batch]" ".[1] as \$b | .[0].apapi | .energy_j <= 240 * $2 * ([$elapsed + 1.5, \$b.s * 1.01 + \$b.slack_s] | max) and
            .energy_j >= 240 * (\$b.s * 0.99 - \$b.slack_s)" &&
        holds "$text" '.apapi | .measured_pct <= 100 and has("incomplete") == false'
}

# Is the mean power of a job on one node that of the node?
draws_240_w() { # TEXT JOB
    holds "[$1, $(batch_sum "$2")]" '.[1] as $b | .[0].apapi.mean_w / 240 - 1 | fabs < 0.02 + $b.slack_s / $b.s'
}

@test "a dry run tells, and changes nothing" {
    run -0 --separate-stderr sync_all --dry-run
    [[ $output == *"job $COMPLETED: AdminComment {\"apapi\":{\"v\":1,"*"}} (not set: dry run)"* ]]
    [[ -z $(comment "$COMPLETED") ]]
    [[ ! -e $APAPI_ACCT_DIR/sync.json ]]
}

@test "jobs that ended in any way have their energy, and keep their status" {
    status_of_all() { cluster run sacct -D -X -n -P -o jobidraw,state,exitcode,submit,start,end,nnodes; }
    before=$(status_of_all)
    run --separate-stderr sync_all
    [[ $status -eq 0 && -z $output && -z $stderr ]]
    diff <(echo "$before") <(status_of_all)
    for job in "$COMPLETED" "$FAILED" "$CANCELLED" "$TIMEOUT"; do
        right "$job" 1
        [[ $(comment "$job" | wc -c) -lt 250 ]]
    done
    right "$TWO_NODES" 2
    right "$MANY" 1 # steps side by side within the batch step count once
    [[ $(field "$COMPLETED" state) == COMPLETED && $(field "$FAILED" state) == FAILED ]]
    [[ $(field "$CANCELLED" state) == CANCELLED* && $(field "$TIMEOUT" state) == TIMEOUT ]]
    [[ $(field "$FAILED" exitcode) == 3:0 ]]
}

@test "a requeued job has the energy of both runs, at its last run" {
    sync_all
    cluster run sacct -D -X -P -j "$REQUEUED" -o jobid,state,start,end,submit,elapsedraw,admincomment
    runs=$(cluster run sacct -D -X -n -P -j "$REQUEUED" -o elapsedraw,admincomment)
    [[ $(wc -l <<<"$runs") -eq 2 && $(head -n 1 <<<"$runs") == *'|' ]]
    both=$(awk -F'|' '{ sum += $1 } END { print sum }' <<<"$runs")
    text=$(comment "$REQUEUED" | tail -n 1)
    batch=$(batch_sum "$REQUEUED")
    echo "$batch"
    holds "$batch" '.n == 2'
    draws_240_w "$text" "$REQUEUED"
    holds "[$text, $batch]" ".[1] as \$b | .[0].apapi | .energy_j <= 240 * ([$both + 2.5, \$b.s * 1.01 + \$b.slack_s] | max) and
        .energy_j >= 240 * (\$b.s * 0.99 - \$b.slack_s)"
    holds "$text" '.apapi.measured_pct <= 100'
}

@test "elements of an array have each their own" {
    sync_all
    first=$(comment "${ARRAY}_1")
    second=$(comment "${ARRAY}_2")
    echo "$first $second"
    for task in 1 2; do
        record=$(records 'n?' | jq -c "select(.array_job == $ARRAY and .array_task == $task)")
        holds "[$(comment "${ARRAY}_$task"), $record]" \
            ".[1].elapsed_s >= $task - 0.01 and (.[0].apapi.energy_j / .[1].total.energy_j - 1 | fabs) < 0.005"
    done
    # one element has the array's number, which elsewhere stands for all of them
    cluster run sacctmgr -i modify job where jobid="$ARRAY" set admincomment=
    sync_all -j "$ARRAY"
    [[ -z $(comment "${ARRAY}_1") && $(comment "${ARRAY}_2") == "$second" ]]
}

@test "components of a heterogeneous job have each their own" {
    sync_all
    first=$(comment "$HET+0")
    second=$(comment "$HET+1")
    echo "$first $second"
    holds "[$first, $second]" 'all(.apapi.nodes == 1)'
    draws_240_w "$first" "$HET"
    draws_240_w "$second" $((HET + 1))
    cluster run sacctmgr -i modify job where jobid="$HET" set admincomment=
    [[ -z $(comment "$HET+1") ]]
    sync_all -j "$HET"
    [[ $(comment "$HET+0") == "$first" && -z $(comment "$HET+1") ]]
}

@test "what others wrote stays" {
    sync_all
    [[ $(comment "$TEXT") == "it's \"mine\": 50 % \\ {so} {\"apapi\":{\"v\":1,"*"}}" ]]
    holds "$(comment "$OBJECT")" '.a == 0.1 and .apapi.energy_j > 200'
    # Slurm's administrators go on writing
    cluster run sacctmgr -i modify job where jobid="$COMPLETED" set admincomment=audited
    sync_all -j "$COMPLETED"
    [[ $(comment "$COMPLETED") == 'audited {"apapi":{"v":1,'*"}}" ]]
}

@test "a second run changes nothing" {
    sync_all -S 1h
    before=$(cluster run sacct -X -n -P -o jobidraw,admincomment,comment)
    changes() { database 'select count(*) from txn_table'; }
    count=$(changes)
    prints 0 '*, 0 changed, 0 not ended, 0 unknown*' sync_all -S 1h -v
    [[ $(grep -c 'as it was' <<<"$output") -ge 13 ]]
    prints 0 '0 jobs, 0 changed*' sync_all -v
    diff <(echo "$before") <(cluster run sacct -X -n -P -o jobidraw,admincomment,comment)
    [[ $(changes) -eq $count ]]
}

@test "a running job waits for its end" {
    job=$(submit -N1 --wrap 'srun sleep 0.2; sleep 1000')
    has_record() { records 'n?' | grep -q "\"job\":$job,\"step\":\"0\""; }
    eventually has_record
    in_slurmdbd() { [[ $(field "$job" state) == RUNNING ]]; }
    eventually in_slurmdbd
    prints 0 '*1 not ended*' sync_all -v
    [[ -z $(comment "$job") ]]
    eventually prints 0 '*state *RUNNING: the figures are of its steps that have ended*' apapi show --acct-dir "$APAPI_ACCT_DIR" "$job"
    cluster run scancel "$job"
    eventually ended "$job"
    sync_all
    draws_240_w "$(comment "$job")" "$job" # the step and the batch step around it, once
}

@test "a job that slurmdbd does not know is told, and tried again" {
    folder=$APAPI_CLUSTER_DIR/other
    mkdir -p "$folder/$(date -u +%F)"
    # the record comes first, then the job: numbers go up
    job=$(submit -w n1 --wrap 'sleep 0.2')
    eventually ended "$job"
    record=$(records n1 | grep "\"job\":$job,")
    job=$((job + 1))
    jq -c ".job = $job" <<<"$record" >"$folder/$(date -u +%F)/n1.jsonl"
    prints 0 '' apapi sync --acct-dir "$folder"
    [[ $stderr == "apapi sync: slurmdbd does not know 1 job, tried again by the next run: $job" ]]
    plugstack
    [[ $(submit -N1 --wrap 'sleep 0.1') == "$job" ]]
    eventually ended "$job"
    complains 0 '' apapi sync --acct-dir "$folder"
    [[ $(comment "$job") == '{"apapi":'* ]]
}

# Put changed records of a job into a folder of their own.
forge() { # JOB JQ-EXPRESSION
    folder=$APAPI_CLUSTER_DIR/forged
    mkdir -p "$folder/$(date -u +%F)"
    records n1 | jq -c "select(.job == $1) | $2" >"$folder/$(date -u +%F)/n1.jsonl"
}

@test "a record of another user's is not this job's, whatever cluster it names" {
    job=$(submit -w n1 --wrap 'sleep 0.2')
    eventually ended "$job"
    forge "$job" '.uid += 1'
    run --separate-stderr apapi sync --acct-dir "$folder" -v -j "$job"
    [[ $status -eq 0 && $output == "1 jobs, 0 changed"* && -z $(comment "$job") ]]
    forge "$job" 'del(.uid)'
    apapi sync --acct-dir "$folder" -j "$job"
    [[ -z $(comment "$job") ]]
}

@test "records of unknown clusters, and a file that cannot be read, hold up no other" {
    job=$(submit -w n1 --wrap 'sleep 0.2')
    eventually ended "$job"
    for cluster in moon $'"`\'; drop'; do
        forge "$job" ".cluster = $(jq -n --arg name "$cluster" '$name')"
        cat "$folder/$(date -u +%F)/n1.jsonl" >>"$folder/$(date -u +%F)/n2.jsonl"
    done
    forge "$job" .
    ln -s n1.jsonl "$folder/$(date -u +%F)/n3.jsonl"
    complains 1 "*n3.jsonl: a symbolic link*slurmdbd does not know 2 jobs, tried again by the next run: $job, $job*" apapi sync --acct-dir "$folder"
    [[ $(comment "$job") == '{"apapi":'* ]]
    run ! grep 'mysql_query failed' "$APAPI_CLUSTER_DIR/log/slurmdbd.log"
}

@test "an ordinary user is told that it is not for him" {
    complains 1 "*Permission denied*the accounting files are root's: run it as root*" as_alice "$install/bin/apapi" sync --acct-dir "$APAPI_ACCT_DIR"
    home=$APAPI_CLUSTER_DIR/home/alice
    cp -r "$APAPI_ACCT_DIR" "$home/acct"
    chown -R --reference="$home" "$home/acct"
    cluster run sacctmgr -i modify job where jobid="$FAILED" set admincomment=
    complains 1 "*slurmdbd refuses: only root, SlurmUser and Slurm's operators*" as_alice "$install/bin/apapi" sync --acct-dir "$home/acct" -S 1h
    [[ -z $(comment "$FAILED") ]]
}

@test "an ordinary user's job, from Slurm's accounting" {
    sync_all
    conf=$APAPI_CLUSTER_DIR/etc/own.conf
    echo "acct_dir = $APAPI_ACCT_DIR" >"$conf"
    tells 0 "*Job ID: $TWO_NODES*" as_alice env APAPI_CONFIG="$conf" "$install/bin/apapi" show --brief "$TWO_NODES"
    energy=$(awk '$1 == "Energy:" { print $2 * ($3 == "kJ" ? 1000 : 1) }' <<<"$output")
    holds "$(comment "$TWO_NODES")" ".apapi.energy_j / $energy - 1 | fabs < 1e-3"
}

@test "usage" {
    tells 0 'usage: apapi sync*' apapi help sync
    complains 2 'apapi sync: *' apapi sync -S soon
    complains 0 "apapi sync: job 999999: no record of it in $APAPI_ACCT_DIR" sync_all -j 999999
    complains 1 "apapi sync: no record is of cluster 'typo', but of $(records n1 | jq -r .cluster | sort -u)" sync_all -M typo
    complains 0 '' sync_all -M "$(records n1 | jq -r .cluster | sort -u)" -S "$(date -u +%FT%T)"
    complains 1 'apapi sync: /nowhere: No such file or directory' apapi sync --acct-dir /nowhere
    echo "libexec_dir = /nowhere" >"$APAPI_CLUSTER_DIR/etc/other.conf"
    complains 1 'apapi sync: /nowhere/apapi-sync: No such file or directory; it is built where*' \
        cluster run APAPI_CONFIG="$APAPI_CLUSTER_DIR/etc/other.conf" "$install/bin/apapi" sync
}

@test "the example for EpilogSlurmctld: one run for many jobs, and slurmctld does not wait" {
    sync_all
    echo "acct_dir = $APAPI_ACCT_DIR" >"$APAPI_CLUSTER_DIR/etc/apapi.conf"
    job=$(submit -N1 --wrap 'sleep 0.2')
    eventually ended "$job"
    [[ -z $(comment "$job") ]]
    # the first one waits for the others, however long they take
    local nap=$APAPI_CLUSTER_DIR/nap epilog=$APAPI_CLUSTER_DIR/epilog
    printf '%s\n' '#!/bin/sh' "echo waits >>$nap.log" "until [ -e $nap.over ]; do sleep 0.1; done" >"$nap"
    sed "s|sleep 10|$nap|" "$install/share/apapi/examples/epilog-slurmctld" >"$epilog"
    chmod 755 "$nap" "$epilog"
    for _ in 1 2 3; do
        timeout 60 "$repository/scripts/cluster" run APAPI_CONFIG="$APAPI_CLUSTER_DIR/etc/apapi.conf" \
            SLURM_JOB_ID="$job" "$epilog"
    done
    one_is_left() { [[ -s $nap.log && $(cluster run pgrep -f -c 'bash -c [f]lock --nonblock') -eq 1 ]]; }
    eventually one_is_left
    touch "$nap.over"
    set_now() { [[ $(comment "$job") == '{"apapi":'* ]]; }
    eventually set_now
    [[ $(<"$nap.log") == waits ]]
}

@test "without slurmdbd, or if it ends in the middle: a clear error, nothing half done, and the next run catches up" {
    start_slurmdbd() { cluster run --user slurm env MYSQL_UNIX_PORT=/run/mysqld/mysqld.sock slurmdbd; }
    sync_all
    cluster run pkill -TERM -x slurmdbd
    gone() { ! cluster run pgrep -x slurmdbd; }
    eventually gone
    # nothing is new: nobody is asked
    complains 0 '' sync_all
    start_slurmdbd
    job=$(submit -N1 --wrap 'sleep 0.3')
    has_record() { records 'n?' | grep -q "\"job\":$job,"; }
    eventually has_record
    cp "$APAPI_ACCT_DIR/sync.json" "$BATS_TEST_TMPDIR/before"
    # slurmdbd waits for a table while it is killed
    { echo "lock tables apapi_job_table write;"; eventually test -e "$BATS_TEST_TMPDIR/killed"; } |
        cluster run mariadb -n -S /run/mysqld/mysqld.sock slurm_acct_db 3>&- &
    waits() { [[ $(database "select id from information_schema.processlist where state like 'Waiting for table%'") ]]; }
    locked() { [[ $(database "show open tables where in_use > 0") ]]; }
    eventually locked
    sync_all >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
    eventually waits
    cluster run pkill -KILL -x slurmdbd
    status=0
    wait $! || status=$?
    [[ $status -eq 1 && $(<"$BATS_TEST_TMPDIR/said") == *'apapi sync: slurmdbd: it does not answer'* ]]
    touch "$BATS_TEST_TMPDIR/killed"
    cmp "$APAPI_ACCT_DIR/sync.json" "$BATS_TEST_TMPDIR/before"
    complains 1 '*apapi sync: slurmdbd: no connection: *' sync_all
    cmp "$APAPI_ACCT_DIR/sync.json" "$BATS_TEST_TMPDIR/before"
    start_slurmdbd
    set_now() { sync_all && [[ $(comment "$job") == '{"apapi":'* ]]; }
    eventually set_now
}
