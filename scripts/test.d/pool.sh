# SPDX-License-Identifier: BSD-3-Clause
# Part of scripts/test: runs the jobs side by side, each as soon as what it needs is there.
# shellcheck shell=bash

readonly hang_limit_s=1800 # a job that has not ended by then hangs
declare -A running=()      # process: job
declare -A state=()        # job: ended or failed
load_processes=()
run_folder= # for all temporary files of the jobs; they see it as TMPDIR

make_run_folder() {
    run_folder=$(mktemp -d "${TMPDIR:-/tmp}/apapi-test.XXXXXX") || exit 1
    chmod 1777 "$run_folder" # as /tmp
    export TMPDIR=$run_folder APAPI_TEST_RUN=${run_folder##*/}
}

# In a process group of its own, whose number is the process's.
start_job() { # JOB
    local log
    log=$(log_of "$1")
    set -m
    {
        TIMEFORMAT='%R %U %S'
        { time run_job "$1" >"$log" 2>&1 </dev/null; } 2>"$log.time"
    } &
    running[$!]=$1
    set +m
}

log_of() { echo "build/test/${1//\//-}.tap"; }

# Words to run a command of a job by.
bounded() { timeout --foreground --kill-after=10 "$hang_limit_s" "$@"; }

job_ended() { # PROCESS STATUS
    local job=${running[$1]} log real user system
    unset "running[$1]"
    kill -KILL -- "-$1" 2>/dev/null # what it has left behind
    log=$(log_of "$job")
    read -r real user system < <(tail -n 1 "$log.time")
    echo "$job $real $(awk "BEGIN { print $user + $system }")" >>build/test/times
    state[$job]=ended
    [[ $2 == 0 ]] || state[$job]=failed
    count_tap "$log" "$2" "$job"
    tell "$job" "${real/./}" "$log"
}

# Is what the job needs there? 0 yes, 1 not yet, 2 never.
is_ready() { # JOB
    local need
    find_need "$1"
    [[ -n $need ]] || return 0
    case ${state[$need]:-} in
    ended) return 0 ;;
    failed) return 2 ;;
    *) return 1 ;;
    esac
}

# Sets `next` to the place of a job that can start; drops those that never can.
find_next() {
    local i status
    next=
    for i in "${!jobs[@]}"; do
        status=0
        is_ready "${jobs[i]}" || status=$?
        if [[ $status == 0 ]]; then
            next=$i
            return 0
        elif [[ $status == 2 ]]; then
            drop "$i"
        fi
    done
    return 1
}

drop() { # PLACE: of a job whose build has failed, which is a failure of its own
    total_jobs=$((total_jobs - 1))
    unset "jobs[$1]"
}

# The builds that the jobs need come first: others wait for them.
add_builds() {
    local builds need job
    mapfile -t builds < <(for job in "${jobs[@]}"; do find_need "$job"; echo "$need"; done | sort -u | grep .)
    jobs=("${builds[@]}" "${jobs[@]}")
}

run_pool() {
    local process status
    add_builds
    : >build/test/times
    total_jobs=${#jobs[@]}
    while ((${#jobs[@]} + ${#running[@]} > 0)); do
        while ((${#running[@]} < slots)) && find_next; do
            start_job "${jobs[next]}"
            unset "jobs[$next]"
        done
        ((${#running[@]} > 0)) || continue
        status=0
        wait -n -p process "${!running[@]}" || status=$?
        [[ -z $process ]] || job_ended "$process" "$status"
    done
}

# After an interruption there may be clusters whose tests cannot stop them any more; bats may have removed
# their state folders. All of a cluster ends with its first process.
end_clusters() {
    local folder
    for folder in "$run_folder" "/var/tmp/$APAPI_TEST_RUN"; do
        pkill -KILL -f "/inside\\.sh ${folder//./\\.}[^ ]* site_init"
    done
}

pool_end() {
    local process
    trap - EXIT
    end_load
    for process in "${!running[@]}"; do
        kill -TERM -- "-$process" 2>/dev/null
    done
    ((${#running[@]} == 0)) || wait "${!running[@]}" 2>/dev/null
    for process in "${!running[@]}"; do
        kill -KILL -- "-$process" 2>/dev/null
    done
    end_clusters
    rm -rf --one-file-system "$run_folder" /var/tmp/"$APAPI_TEST_RUN"*
}

# --- load ---------------------------------------------------------------------------------------

begin_load() { # N
    local i
    set -m
    for ((i = 0; i < $1; i++)); do
        { while :; do :; done; } &
        load_processes+=("$!")
    done
    while :; do
        dd if=/dev/zero of=build/test/load bs=64K count=64 conv=fsync status=none
    done &
    load_processes+=("$!")
    set +m
}

end_load() {
    local process
    for process in "${load_processes[@]}"; do
        kill -KILL -- "-$process" 2>/dev/null
    done
    ((${#load_processes[@]} == 0)) || wait "${load_processes[@]}" 2>/dev/null
    rm -f build/test/load
}
