#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi-mail: Slurm's mails, with the energy of the job that has ended.

load common

# A mailer that keeps each mail: arguments, one a line, then the text. MailProg says where apapi.conf is.
setup_file() {
    export shared=$BATS_FILE_TMPDIR/cluster/mail mails=$BATS_FILE_TMPDIR/cluster/mail/mails
    start_simulated_cluster --dbd --extra "MailProg=$shared/mailprog"
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    mkdir -m 755 "$shared"
    mkdir -m 1777 "$mails"
    printf '%s\n' '#!/bin/bash' "file=\$(mktemp '$mails/.XXXXXX')" \
        'printf "%s\n" "$@" -- >"$file"; cat >>"$file"; chmod 644 "$file"; mv "$file" "${file%/.*}/${file##*/.}"' >"$shared/mailer"
    printf '%s\n' '#!/bin/sh' "APAPI_CONFIG=$shared/apapi.conf exec '$install/bin/apapi-mail' \"\$@\"" >"$shared/mailprog"
    chmod 755 "$shared"/mail{er,prog}
    printf '%s\n' "acct_dir = $APAPI_ACCT_DIR" '[mail]' "mailer = $shared/mailer" 'wait = 2m' >"$shared/apapi.conf"
    plugstack default=rapl output=none
}

setup() {
    common_setup
    rm -f "$mails"/*
    plugstack default=rapl output=none
}

submit_mailed() { # OPTIONS... --wrap CMD
    as_alice sbatch --parsable --output=/dev/null --mail-user=alice@example.org "$@"
}

has_mail() { # WORDS: in one mail
    grep -lF -- "$*" "$mails"/* 2>/dev/null
}

# The work of a site's timer.
sync_all() { cluster run "$install/bin/apapi" sync --acct-dir "$APAPI_ACCT_DIR" >/dev/null 2>&1; }
synced_mail() { sync_all; has_mail "$1"; }

@test "a job's end: Slurm's subject and address, and the energy of the job" {
    job=$(submit_mailed --mail-type=END -N1 -J mailed --wrap 'srun sleep 1')
    eventually synced_mail "Job_id=$job"
    mail=$(cat "$(has_mail "Job_id=$job")")
    echo "$mail"
    [[ $(head -n 4 <<<"$mail") == $'-s\nSlurm Job_id='$job$' Name=mailed Ended, Run time '*$'\nalice@example.org\n--' ]]
    grep -qx "Job ID: $job" <<<"$mail"
    grep -qxE 'State: COMPLETED.*' <<<"$mail"
    grep -qxE 'Energy: .* k?J.*' <<<"$mail"
    # as the accounting says
    written=$(cluster run sacct -X -n -P -j "$job" -o admincomment)
    holds "$written" '.apapi.energy_j > 200'
    # Slurm's number counts where a user has one in the name of the job
    cluster run sh -c "unset SLURM_JOB_ID; exec '$shared/mailprog' -s 'Slurm Job_id=$job Name=Job_id=99 Ended, Run time 00:00:01' dave@example.org </dev/null"
    eventually has_mail dave@example.org
    grep -qx "Job ID: $job" "$(has_mail dave@example.org)"
}

@test "a beginning is passed on at once, as Slurm has written it; a failure has its energy" {
    job=$(submit_mailed --mail-type=BEGIN,FAIL -N1 --wrap 'sleep 1; exit 3')
    eventually has_mail "Job_id=$job Name=wrap Began"
    [[ $(wc -l <"$(has_mail "Job_id=$job Name=wrap Began")") -eq 4 ]]
    eventually synced_mail "Job_id=$job Name=wrap Failed"
    mail=$(has_mail "Job_id=$job Name=wrap Failed")
    grep -qx 'State: FAILED (exit code 3:0)' "$mail"
    grep -q '^Energy: ' "$mail"
}

@test "each task of an array has its own energy, also the one whose job id is the array's" {
    job=$(submit_mailed --mail-type=END,ARRAY_TASKS -N1 --array=3,5 --wrap 'srun sleep 0.5')
    for task in "${job}_3" "${job}_5"; do
        eventually synced_mail "Job_id=$task "
        grep -qx "Job ID: $task" "$(has_mail "Job_id=$task ")"
        grep -q '^Energy: ' "$(has_mail "Job_id=$task ")"
    done
}

@test "a step of another user that claims the number of a job is in no mail about it" {
    plugstack default=off
    sed -i 's/^wait = .*/wait = 1s/' "$shared/apapi.conf"
    job=$(as_alice sbatch --parsable -W --output=/dev/null -N1 --wrap 'sleep 0.1')
    cluster run env SLURM_ARRAY_JOB_ID="$job" SLURM_ARRAY_TASK_ID=1 salloc -Q -N1 \
        sh -c 'SLURM_APAPI_ARRAY=$SLURM_JOB_ID srun --apapi=rapl sleep 0.3'
    ended() { [[ $(cluster run sacct -X -n -P -j "$job" -o state) == COMPLETED ]]; }
    eventually ended
    for user in root alice; do
        cluster run env SLURM_JOB_MAIL_TYPE=Ended SLURM_JOB_USER=$user SLURM_JOB_ID="$job" "$shared/mailprog" \
            -s "Slurm Job_id=$job Name=wrap Ended, Run time 00:00:01" "$user@example.org" </dev/null
        eventually has_mail "$user@example.org"
    done
    grep -q '^Energy: ' "$(has_mail root@example.org)"
    run ! grep '^Energy: ' "$(has_mail alice@example.org)"
}

@test "energy that never becomes known, and an apapi that fails: the mail as Slurm has written it" {
    plugstack default=off
    sed -i 's/^wait = .*/wait = 1s/' "$shared/apapi.conf"
    job=$(submit_mailed --mail-type=END -N1 --wrap 'sleep 0.1')
    eventually has_mail "Job_id=$job"
    [[ $(wc -l <"$(has_mail "Job_id=$job")") -eq 4 ]]
    sed "s|^apapi=.*|apapi=/nowhere/apapi|; s|/usr/bin/mail|$shared/mailer|" "$install/bin/apapi-mail" >"$shared/broken"
    chmod 755 "$shared/broken"
    run -0 "$shared/broken" -s 'Slurm Job_id=1 Name=x Ended, Run time 00:00:01' bob@example.org </dev/null
    eventually has_mail bob@example.org
    [[ $(head -n 3 "$(has_mail bob@example.org)") == $'-s\nSlurm Job_id=1 Name=x Ended, Run time 00:00:01\nbob@example.org' ]]
}

# setsid forks first. Until the new process has left the group, slurmctld can kill it together with the script.
@test "slurmctld kills the group of the script as soon as it ends: the mail is sent" {
    mkdir "$BATS_TEST_TMPDIR/slow"
    printf '%s\n' '#!/bin/bash' 'shift; (sleep 0.5; exec /usr/bin/setsid "$@") &' >"$BATS_TEST_TMPDIR/slow/setsid"
    chmod 755 "$BATS_TEST_TMPDIR/slow/setsid"
    sed -i 's/^wait = .*/wait = 0s/' "$shared/apapi.conf"
    # shellcheck disable=SC2016 # the shell in the group expands them
    PATH=$BATS_TEST_TMPDIR/slow:$PATH /usr/bin/setsid --wait bash -c 'trap "" TERM; "$@" </dev/null; kill -KILL 0' - \
        "$shared/mailprog" -s 'Slurm Job_id=1 Name=x Ended, Run time 00:00:01' carol@example.org || true
    eventually has_mail carol@example.org
}

@test "a mailer that fails for a mail that has waited is in the system log" {
    sed -i "s|^mailer = .*|mailer = /nonexist|; s/^wait = .*/wait = 0s/" "$shared/apapi.conf"
    # shellcheck disable=SC2016 # the script's own
    printf '%s\n' '#!/bin/sh' 'echo "$*" >"${0%/*}/log"' >"$BATS_TEST_TMPDIR/logger"
    chmod 755 "$BATS_TEST_TMPDIR/logger"
    PATH=$BATS_TEST_TMPDIR:$PATH run -0 "$shared/mailprog" -s 'Slurm Job_id=50 Name=j Ended, Run time 00:00:01' alice@example.org </dev/null
    eventually grep -q 'apapi-mail.*/nonexist: exit status 127.*job 50' "$BATS_TEST_TMPDIR/log"
    # a relative one is not run: the default is
    sed -i 's|^mailer = .*|mailer = nonexist|' "$shared/apapi.conf"
    sed "s|/usr/bin/mail|$shared/mailer|" "$install/bin/apapi-mail" >"$BATS_TEST_TMPDIR/program"
    APAPI_CONFIG=$shared/apapi.conf PATH=$BATS_TEST_TMPDIR:$PATH run -0 sh "$BATS_TEST_TMPDIR/program" -s 'Slurm Job_id=51 Name=j Began' erin@example.org </dev/null
    has_mail erin@example.org
    grep -q 'apapi-mail.*mailer = nonexist: no absolute path' "$BATS_TEST_TMPDIR/log"
}
