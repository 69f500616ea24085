#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# user_records: each user's own copies of the records of his steps.

load common

setup_file() {
    start_simulated_cluster
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    export users=$APAPI_CLUSTER_DIR/users conf=$APAPI_CLUSTER_DIR/etc/own.conf
    printf '%s\n' "acct_dir = $APAPI_ACCT_DIR" "user_records = $users" >"$conf"
}

setup() {
    common_setup
    plugstack user_records="$users"
}

as() { cluster run --user "$1" "${@:2}"; }
uid_of() { cluster run id -u "$1"; }

# Lines of a user's copies, of all nodes.
copies_of() { # USER
    find "$users/$(uid_of "$1")" -name '*.jsonl' -exec cat {} + 2>/dev/null
}

has_copies() { # USER COUNT
    [[ $(copies_of "$1" | wc -l) -ge $2 ]]
}

# Steps of alice's and of bob's, with their copies.
both_run() {
    as alice srun -N2 --apapi=rapl sleep 0.3
    as bob srun -N1 -w n2 --apapi=rapl sleep 0.3
    eventually has_copies alice 2
    eventually has_copies bob 1
}

@test "what the user reads is what root has written, and only he and root can read it" {
    both_run
    for user in alice bob; do
        diff <(copies_of "$user" | sort) <(records 'n?' | jq -c "select(.user == \"$user\")" | sort) >/dev/null ||
            sorted='walk(if type == "object" then to_entries | sort_by(.key) | from_entries else . end)'
            diff <(copies_of "$user" | jq -c "$sorted" | sort) <(records 'n?' | jq -c "select(.user == \"$user\") | $sorted" | sort)
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

@test "a folder that cannot be written, or that does not answer: the step ends as ever" {
    plugstack user_records=/proc/nowhere
    run -0 --separate-stderr as alice srun -N1 -w n1 --apapi=rapl sh -c 'echo well'
    [[ $output == well && $stderr == *package* ]]
    eventually no_helper_on n1
    whole "$(last_record n1)"
    # a pipe stands where the file should be: opening it would wait for a reader
    local day
    both_run
    day=$(find "$users/$(uid_of alice)" -name n1.jsonl | tail -n 1)
    plugstack user_records="$users"
    mv "$day" "$day.kept"
    mkfifo -m 600 "$day"
    prints 0 well as alice srun -N1 -w n1 --apapi=rapl sh -c 'echo well'
    eventually no_helper_on n1
    rm "$day"
    mv "$day.kept" "$day"
}

@test "a record that comes from the spool is copied, too" {
    plugstack checkpoint=1s user_records="$users"
    has_checkpoint() { compgen -G "$APAPI_SPOOL_DIR/n1/*.json" >/dev/null; }
    recovered_copy() { [[ -n $(copies_of alice | jq -c 'select(.recovered)') ]]; }
    begin_held_step '' -N1 -w n1 --apapi=rapl
    eventually has_checkpoint
    cluster on n1 pkill -KILL -x apapi-sampler
    end_held_step
    is_there() { as bob srun -N1 -w n1 --apapi=rapl sleep 0.2 && recovered_copy; }
    eventually is_there
    run ! grep -q recovered <(copies_of bob)
}
