#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The record of a step when apapi-sampler is killed, its disk is full, its folder is gone.
# shellcheck disable=SC2016 # $SAMPLER is for an inner shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell

load ../environment
load ../eventually
load kept
load host

setup_file() {
    export SAMPLER_PROGRAM=$built/sampler/apapi-sampler
    printf '[estimate]\nidle_w = 60\ncore_w = 8\n' >"$BATS_FILE_TMPDIR/apapi.conf"
    chmod 600 "$BATS_FILE_TMPDIR/apapi.conf"
}

setup() {
    export acct=$BATS_TEST_TMPDIR/acct spool=$BATS_TEST_TMPDIR/spool
    export -f eventually begun checkpointed
}

# A step of job JOB on n1 that lasts as long as SCRIPT; prints its record. site: words of plugstack.conf.
step() { # JOB SCRIPT [KEY=VALUE...]
    local words="${site:-}"$'\n'"interval=10ms"$'\n'"acct_dir=$acct"$'\n'"spool_dir=$spool"$'\n'"checkpoint=1s"$'\n'"live_dir=off" # the first word counts
    timeout 600 "$slurm_host" sampler "$SAMPLER_PROGRAM" "${@:3}" job="$1" step=0 node=n1 nodes=1 tasks=1 uid=0 \
        components=estimate config="$BATS_FILE_TMPDIR/apapi.conf" words="$words" -- bash -c "$2"
}

written() { # JQ EXPRESSION: of all lines in the accounting files of n1
    cat "$acct"/*/n1.jsonl | jq -c "$1" # one day after the other
}

as_written() { # the answer without what is for its reader alone
    sed 's/,"unwritten":"[^"]*"//'
}

spooled() { # how many files are in the spool
    find "$spool" -type f -name '*.json' 2>/dev/null | wc -l
}

# For a step's script: the first reading is in the spool.
begun() { # JOB
    eventually compgen -G "$spool/n1/$1.0-*.json" >/dev/null
}

# Another checkpoint is there in the place of the one that is there now. Before the second one, the sampler has looked
# through the whole spool.
checkpointed() { # JOB
    local first
    begun "$1"
    first=$(stat -c %i "$spool/n1/$1".0-*.json)
    eventually eval '[[ $(stat -c %i "$spool"/n1/'"$1"'.0-*.json) != '"$first"' ]]'
}

@test "a step that ends leaves a record and nothing in the spool" {
    run -0 step 1 'checkpointed 1' +exit_code=3 +failed_tasks=2
    jq -e '.job == 1 and .complete and .exit_code == 3 and .failed_tasks == 2' <<<"$output"
    jq -e 'has("recovered") or has("delayed") or has("exit_signal") | not' <<<"$output"
    [[ $(cat "$acct"/*/n1.jsonl) == "$output" && $(spooled) -eq 0 ]]
}

@test "the sampler is killed before its second checkpoint: its first reading is a record of its step" {
    site=checkpoint=1h run -0 step 1 'begun 1 && kill -KILL $SAMPLER'
    [[ $(spooled) -eq 1 && ! -e $acct ]]
    run -0 step 2 'checkpointed 2'
    run -0 written 'select(.job == 1)'
    jq -e '.recovered and (.complete | not) and .nodes == 1 and (has("total") | not)' <<<"$output"
    [[ $(written .job) == $'1\n2' && $(spooled) -eq 0 ]]
}

@test "samplers are killed at random moments after their first reading: each step has a record, whole or not" {
    local kills=${KILLS:-10} # KILLS=100
    RANDOM=${RANDOM_SEED:=$RANDOM}
    echo "RANDOM_SEED=$RANDOM_SEED"
    for ((job = 1; job <= kills; job++)); do
        step "$job" "begun $job; (sleep 0.0$((RANDOM % 10)); kill -KILL \$SAMPLER) & sleep 0.05" >/dev/null 2>&1
    done
    run -0 step "$job" "checkpointed $job"
    [[ $(written .job | sort -nu) == "$(seq "$job")" && $(spooled) -eq 0 ]]
}

@test "the sampler is killed: its step is recovered by the next one, up to the last checkpoint, and copied for its user" {
    site=user_records=$BATS_TEST_TMPDIR/users
    run -0 step 1 'checkpointed 1 && kill -KILL $SAMPLER' uid=4711
    [[ $output == *"the sampler has ended"* && $(spooled) -eq 1 && ! -e $acct ]]
    [[ $(stat -c %a "$spool" "$spool/n1" "$spool"/n1/*.json) == $'700\n700\n600' ]]
    cp "$spool"/n1/1.0-*.json "$BATS_TEST_TMPDIR/checkpoint"
    run -0 step 2 'checkpointed 2'
    jq -e .complete <<<"$output"
    run -0 written 'select(.job == 1)'
    jq -e '.recovered and (.complete | not) and .elapsed_s > 0 and .trust.samples > 1' <<<"$output"
    jq -e '.reason | test("^the node or the sampler ended; recovered from the checkpoint of 20.*Z$")' <<<"$output"
    jq -e '.components[0].events[0].total > 0' <<<"$output"
    run -0 written 'select(.job == 1)'
    [[ $output == "$(jq -c . "$BATS_TEST_TMPDIR/checkpoint")" ]]
    [[ $(jq .job "$BATS_TEST_TMPDIR"/users/4711/*/n1.jsonl) == 1 && $(jq .job "$BATS_TEST_TMPDIR"/users/0/*/n1.jsonl) == 2 ]]
    [[ $(written .job) == $'1\n2' && $(spooled) -eq 0 ]]
}

@test "the folder above the accounting files is gone: the record waits, and is written when it is back" {
    acct=$BATS_TEST_TMPDIR/mounted/acct
    run -0 step 1 true
    jq -e .complete <<<"$output"
    [[ $(spooled) -eq 1 ]]
    mkdir "$BATS_TEST_TMPDIR/mounted"
    run -0 step 2 'checkpointed 2'
    [[ $(written .job) == $'1\n2' && $(spooled) -eq 0 ]]
    run -0 written 'select(.job == 1)'
    jq -e '.delayed and .complete and (has("recovered") | not)' <<<"$output"
    run -0 written 'select(.job == 2)'
    jq -e 'has("delayed") | not' <<<"$output"
}

# Records of jobs that are over, as samplers have left them in the spool.
leave() { # JOB DAY VERSION
    (umask 077 && mkdir -p "$spool/n1")
    jq -c ".job = $1 | .apapi = $3 | .start = \"$2T12:00:00.000000000Z\"" "$BATS_TEST_TMPDIR/record" >"$spool/n1/$1.0-1.json"
    chmod 600 "$spool/n1/$1.0-1.json"
}

@test "records of a day that cannot be written, and of a newer version, stay in the spool: the others are written" {
    step 1 true >"$BATS_TEST_TMPDIR/record"
    for job in {10..13}; do leave "$job" 2024-01-01 1; done
    for job in {20..23}; do leave "$job" 2024-01-02 1; done
    for job in {30..33}; do leave "$job" 2024-01-02 99; done
    : >"$acct/2024-01-01" # no folder
    run -0 step 2 'checkpointed 2'
    [[ $(written .job | sort -n | xargs) == '1 2 20 21 22 23' && $(spooled) -eq 8 ]]
}

@test "the disk is full, in the middle of a line: every record comes, and none is damaged" {
    ((EUID == 0)) || skip "needs root for a small file system"
    acct=$BATS_TEST_TMPDIR/full/acct
    mkdir "$BATS_TEST_TMPDIR/full"
    mount -t tmpfs -o size=64k tmpfs "$BATS_TEST_TMPDIR/full" 2>/dev/null || skip "no mount(2) here"
    step 1 true >/dev/null
    day=$(find "$acct" -name n1.jsonl)
    # 200 bytes are left in the last page, less than the next record needs
    size=$(stat -c %s "$day")
    head -c $((4096 - size % 4096 - 200)) /dev/zero | tr '\0' '\n' >>"$day"
    dd if=/dev/zero of="$BATS_TEST_TMPDIR/full/filler" bs=4096 2>/dev/null || true
    step 2 true >/dev/null
    step 3 true >/dev/null
    [[ $(spooled) -eq 2 && $(tail -c 1 "$day") != '' ]]
    rm "$BATS_TEST_TMPDIR/full/filler"
    step 4 'checkpointed 4' >/dev/null
    # the torn line is skipped, as readers do
    run -0 jq -Rc 'fromjson? | [.job, .delayed]' "$day"
    sorted=$(sort <<<"$output")
    umount "$BATS_TEST_TMPDIR/full"
    [[ $sorted == $'[1,null]\n[2,true]\n[3,true]\n[4,null]' && $(spooled) -eq 0 ]]
}

# In the place of $SAMPLER_PROGRAM: the same with the shim.
shim_sampler() { # VARIABLE=FILE
    local shim=$BATS_TEST_TMPDIR/sampler_shim.so
    cc -shared -fPIC -o "$shim" "$repository/test/fake/sampler_shim.c"
    printf '#!/bin/bash\nexec env LD_PRELOAD=%q ASAN_OPTIONS=verify_asan_link_order=0 %q %q\n' \
        "$shim" "$1" "$SAMPLER_PROGRAM" >"$BATS_TEST_TMPDIR/sampler"
    chmod 700 "$BATS_TEST_TMPDIR/sampler"
    SAMPLER_PROGRAM=$BATS_TEST_TMPDIR/sampler
}

@test "the accounting's file system does not answer: the record waits in the spool, and is one line in the end" {
    held=$BATS_TEST_TMPDIR/held
    shim_sampler "SHIM_HELD=$held"
    : >"$held"
    step 1 true >"$BATS_TEST_TMPDIR/out" 3>&- &
    host=$!
    eventually test -s "$BATS_TEST_TMPDIR/out" # the answer
    is_delayed() { jq -e '.complete and .delayed' "$spool"/n1/1.0-*.json; } # until then a checkpoint is there
    eventually is_delayed
    [[ $(spooled) -eq 1 ]]
    jq -e '.complete and (has("delayed") | not)' "$BATS_TEST_TMPDIR/out"
    rm "$held"
    wait "$host"
    [[ $(cat "$acct"/*/n1.jsonl) == "$(as_written <"$BATS_TEST_TMPDIR/out")" && $(spooled) -eq 0 ]]
}

@test "the accounting's file system takes a recovered record, but cannot put it on the disk: it stays in the spool" {
    full=$BATS_TEST_TMPDIR/full
    run -0 step 1 'checkpointed 1 && kill -KILL $SAMPLER'
    shim_sampler "SHIM_SYNC_FAILS=$full"
    : >"$full"
    run -0 step 2 'checkpointed 2'
    [[ $(basename "$spool"/n1/1.0-*.json) == 1.0-*.json && -s $(echo "$spool"/n1/1.0-*.json) ]]
    rm "$full"
    run -0 step 3 'checkpointed 3'
    [[ $(written .job | sort -nu) == $'1\n2\n3' && $(spooled) -eq 0 ]]
}

@test "the accounting's file system knows no fsync: a recovered record is one line" {
    run -0 step 1 'checkpointed 1 && kill -KILL $SAMPLER'
    shim_sampler "SHIM_NO_SYNC=/"
    run -0 step 2 'checkpointed 2'
    run -0 step 3 'checkpointed 3'
    [[ $(written .job | sort -n) == $'1\n2\n3' && $(spooled) -eq 0 ]]
}

@test "the users' file system does not answer: answer and accounting as ever, and the copy in the end" {
    held=$BATS_TEST_TMPDIR/held users=$BATS_TEST_TMPDIR/users
    shim_sampler "SHIM_USERS_HELD=$held"
    : >"$held"
    site=user_records=$users step 1 true >"$BATS_TEST_TMPDIR/out" 3>&- &
    host=$!
    eventually test -s "$BATS_TEST_TMPDIR/out" # the answer
    in_accounting() { [[ $(written .job) == 1 && $(spooled) -eq 0 ]]; }
    eventually in_accounting
    [[ ! -e $users/0/$(date -u +%F) ]]
    rm "$held"
    wait "$host"
    [[ $(cat "$users"/0/*/n1.jsonl) == "$(cat "$acct"/*/n1.jsonl)" ]]
}

@test "the user database does not answer: the step is measured, and has its user's name as soon as it is known" {
    held=$BATS_TEST_TMPDIR/held
    shim_sampler "SHIM_NAMES_HELD=$held"
    : >"$held"
    run -0 step 1 'begun 1' gid=0 trace="$BATS_TEST_TMPDIR/trace-%j"
    jq -e '.complete and .uid == 0 and (has("user") | not)' <<<"$output"
    [[ -s $BATS_TEST_TMPDIR/trace-1 ]]
    site=checkpoint=1h run -0 step 2 "begun 2 && rm '$held' && checkpointed 2 && cp '$spool'/n1/2.0-*.json '$BATS_TEST_TMPDIR/checkpoint'"
    jq -e '.complete and .user == "user0"' <<<"$output"
    jq -e '.recovered and .user == "user0"' "$BATS_TEST_TMPDIR/checkpoint"
}

@test "the clock is set back by an hour during a step: it lasts as long as it did, and began when the clock said so" {
    back=$BATS_TEST_TMPDIR/back
    shim_sampler "SHIM_CLOCK_BACK=$back"
    begun_s=$EPOCHSECONDS
    run -0 step 1 "begun 1; touch '$back'; sleep 1"
    took_s=$((EPOCHSECONDS - begun_s + 1))
    jq -e ".complete and .elapsed_s >= 0.99 and .elapsed_s < $took_s and
        ((.start | sub(\"[.][0-9]+\"; \"\") | fromdate) - $begun_s | . >= 0 and . < $took_s)" <<<"$output"
    # in the first hour of a day, the next step's day is the one before
    run -0 step 2 true
    [[ $(written .job | sort -n) == $'1\n2' && $(spooled) -eq 0 ]]
}

@test "a disk whose fsync takes 300 ms: 5 steps at once are 5 lines, each complete" {
    slow=$BATS_TEST_TMPDIR/slow
    shim_sampler "SHIM_SLOW=$slow"
    : >"$slow"
    for job in {1..5}; do
        step "$job" "checkpointed $job" >/dev/null 3>&- &
    done
    wait
    rm "$slow"
    run -0 step 6 'checkpointed 6' # it would write what these have left
    [[ $(written 'select(.complete and (has("recovered") | not)) | .job' | sort -n) == "$(seq 6)" && $(spooled) -eq 0 ]]
}

@test "no copies where others can change what is in the folder; the step gets its record" {
    users=$BATS_TEST_TMPDIR/users
    mkdir -m 1777 "$users"
    site=user_records=$users run -0 step 1 true
    jq -e .complete <<<"$output"
    [[ -z $(ls -A "$users") && $(written .job) == 1 ]]
}

@test "a sampler is killed between its record and the end of its checkpoint: a report takes the whole record" {
    run -0 step 1 "checkpointed 1 && cp $spool/n1/1.0-*.json $BATS_TEST_TMPDIR/"
    cp "$BATS_TEST_TMPDIR"/1.0-*.json "$spool/n1/"
    run -0 step 2 'checkpointed 2'
    [[ $(written 'select(.job == 1) | .complete' | sort) == $'false\ntrue' && $(spooled) -eq 0 ]]
    run -0 "$apapi" report --json -j 1 --acct-dir "$acct" --format=records,incomplete
    jq -e '.rows == [{records: 1, incomplete: 0}]' <<<"$output"
}

@test "neither the folder nor the spool can be written: the step gets its record all the same" {
    acct=/proc/nowhere/acct spool=/proc/nowhere/spool
    run -0 step 1 'sleep 0.3'
    jq -e '.complete and (.unwritten | test("^/proc/nowhere/acct: .*; only the system log of the node has it$"))' <<<"$output"
}

@test "a default of the site's with a component that nothing knows: that one is left out" {
    run -0 step 1 'sleep 0.3' components=rpl:estimate site_components=1
    jq -e '.components[0].name == "estimate" and (.components | length) == 1' <<<"$output"
    run step 1 'sleep 0.3' components=rpl site_components=1
    [[ $output == *"unknown component 'rpl'"* ]]
    run -0 step 1 'sleep 0.3' components=cray_pm:rpl:estimate site_components=1
    jq -e '[.components[].name] == ["cray_pm", "estimate"]' <<<"$output"
    run -0 step 1 'sleep 0.3' components=rpl:estimate # the user's
    jq -e '[.components[].name] == ["rpl", "estimate"]' <<<"$output"
}

# In the place of $slurm_host: a program that runs it beside a listener at a /dev/log of its own and puts what that hears into LOG.
host_with_log() { # LOG
    local program=$BATS_TEST_TMPDIR/host_with_log dev=$BATS_TEST_TMPDIR/dev
    mkdir "$dev"
    cp -a /dev/null /dev/urandom "$dev"
    cat >"$program.py" <<'END'
import pathlib, socket, subprocess, sys
pathlib.Path("/dev/log").unlink(missing_ok=True)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("/dev/log")
status = subprocess.run(sys.argv[2:]).returncode
listener.setblocking(False)
with open(sys.argv[1], "wb") as log:
    try:
        while True:
            log.write(listener.recv(65536) + b"\n")
    except BlockingIOError:
        sys.exit(status)
END
    # shellcheck disable=SC2016 # for the program
    printf '#!/bin/bash\nexec unshare -m bash -c '\''mount --bind %q /dev && exec python3 %q %q %q "$@"'\'' - "$@"\n' \
        "$dev" "$program.py" "$1" "$slurm_host" >"$program"
    chmod 700 "$program"
    slurm_host=$program
}

@test "a record that cannot be written is in the system's log, too" {
    unshare -m true 2>/dev/null || skip "needs root, for a mount namespace"
    log=$BATS_TEST_TMPDIR/log
    host_with_log "$log"
    for spool in "$BATS_TEST_TMPDIR/spool" /proc/nowhere/spool; do
        acct=/proc/nowhere/acct
        run -0 step 1 'sleep 0.3'
        record=$(as_written <<<"$output")
        grep -q "record of job 1 step 0 not written: .*/proc/nowhere" "$log"
        [[ $(sed -n 's/.*record: {/{/p' "$log") == "$record" ]]
        [[ $spool == /proc/* ]] || jq -e .delayed "$spool"/n1/*.json
        [[ $spool != /proc/* ]] || grep -q 'record of job 1 step 0 is only in this log: ' "$log"
    done
}

@test "a record that stays in the spool is in the system's log, once for each step that could not write it" {
    unshare -m true 2>/dev/null || skip "needs root, for a mount namespace"
    step 1 true >"$BATS_TEST_TMPDIR/record"
    leave 10 2024-01-01 1
    : >"$acct/2024-01-01"
    mkdir "$BATS_TEST_TMPDIR/spool/n1/11.0-1.json" # cannot be opened
    host_with_log "$BATS_TEST_TMPDIR/log"
    run -0 step 2 'checkpointed 2 && checkpointed 2'
    [[ $(grep -c 'spool: ' "$BATS_TEST_TMPDIR/log") -eq 1 ]]
    grep -qE 'spool: records that could not be written: 2; (10.0-1.json: .*/2024-01-01: |11.0-1.json: Is a dir)' "$BATS_TEST_TMPDIR/log"
}

@test "an srun that cannot hear totals: that is in the log once, and the step has its record" {
    unshare -m true 2>/dev/null || skip "needs root, for a mount namespace"
    host_with_log "$BATS_TEST_TMPDIR/log"
    run -0 step 1 'sleep 0.6' @collect=1024:0123456789abcdef0123456789abcdef:100 @collect_address=nowhere
    jq -e .complete <<<"$output"
    [[ $(grep -c 'job 1 step 0: total not sent: ' "$BATS_TEST_TMPDIR/log") -eq 1 ]]
}

@test "a plugin of another version: the step is measured, and the log says which versions met" {
    unshare -m true 2>/dev/null || skip "needs root, for a mount namespace"
    log=$BATS_TEST_TMPDIR/log
    host_with_log "$log"
    version=$(sed -n 's/^#define APAPI_CHANNEL_VERSION "\(.*\)"$/\1/p' "$BATS_TEST_DIRNAME/../../core/channel/channel.h")
    run -0 step 1 true channel="$version"
    jq -e .complete <<<"$output"
    run -1 grep 'version of the channel' "$log"
    run -0 step 2 true # too old to tell
    jq -e .complete <<<"$output"
    grep -q "job 2 step 0: the plugin's version of the channel is 0, this program's is $version" "$log"
    run -0 step 3 true channel=9999 word_of_tomorrow=x +other_word=y
    jq -e .complete <<<"$output"
    grep -q "job 3 step 0: the plugin's version of the channel is 9999, this program's is $version" "$log"
}

@test "logrotate removes what is older than 400 days, and folders that are empty then" {
    ((EUID == 0)) || skip "needs root, for files of root"
    mkdir -p "$acct"/2024-01-01 "$acct"/2026-11-20
    day=$(date -d '401 days ago' +%F)
    mkdir "$acct/$day"
    for file in "$acct"/2024-01-01/n1.{jsonl,hours} "$acct/$day/n1.jsonl.gz" "$acct"/2026-11-20/n1.jsonl; do
        jq -cn '{}' >"$file"
    done
    touch -d '401 days ago' "$acct"/2024-01-01/n1.* "$acct/$day/n1.jsonl.gz"
    sed "s,@APAPI_ACCT_DIR@,$acct,g" "$BATS_TEST_DIRNAME/../../config/logrotate.in" >"$BATS_TEST_TMPDIR/logrotate"
    { # it does nothing with a file when it first sees it
        echo 'logrotate state -- version 2'
        find "$acct" -type f -printf '"%p" 2024-1-2-0:0:0\n'
    } >"$BATS_TEST_TMPDIR/state"
    logrotate -s "$BATS_TEST_TMPDIR/state" "$BATS_TEST_TMPDIR/logrotate"
    [[ $(cd "$acct" && find . | sort) == $'.\n./2026-11-20\n./2026-11-20/n1.jsonl' ]]
    rm -r "$acct"
}

@test "1000 events: a record of more than 131 072 bytes is answered" {
    export APAPI_SYSROOT=$BATS_TEST_TMPDIR/root
    mkdir -p "$APAPI_SYSROOT"/sys/class/hwmon/hwmon{0..999}
    for i in {0..999}; do
        echo "the_chip_with_a_name_of_forty_characters_$i" >"$APAPI_SYSROOT/sys/class/hwmon/hwmon$i/name"
        echo 100000000 >"$APAPI_SYSROOT/sys/class/hwmon/hwmon$i/power1_input"
    done
    step 1 'sleep 0.3' components=hwmon >"$BATS_TEST_TMPDIR/out"
    jq -e '.complete and (.components[0].events | length == 1000)' "$BATS_TEST_TMPDIR/out"
    [[ $(wc -c <"$BATS_TEST_TMPDIR/out") -gt 131072 ]]
    cmp "$acct"/*/n1.jsonl "$BATS_TEST_TMPDIR/out"
}
