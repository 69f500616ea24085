# SPDX-License-Identifier: BSD-3-Clause
# Part of scripts/test: what came of each job.
# shellcheck shell=bash

passed=0 failed=0 skipped=0 done_jobs=0
failures=() skips=() # lines for the end

# Adds up the lines of a TAP file; what did not pass goes to `failures` and `skips`. A program that died
# without a failed test counts as one failure. Sets good, bad, left_out: the numbers of this job.
count_tap() { # FILE STATUS JOB
    local line
    good=$(grep -E '^ok' "$1" | grep -cviE '# skip')
    bad=0 left_out=0
    while IFS= read -r line; do
        if [[ ${line,,} == *'# skip'* ]]; then # cmocka says "not ok ... # SKIP"
            left_out=$((left_out + 1))
            skips+=("$3: $(name_in "$line"): $(reason_in "$line")")
        else
            bad=$((bad + 1))
            add_failure "$3" "$(name_in "$line")"
        fi
    done < <(grep -iE '^not ok|^ok .*# skip' "$1")
    if [[ $2 != 0 && $bad == 0 ]] || ((good + bad + left_out == 0)); then
        bad=$((bad + 1))
        add_failure "$3" ''
        echo "# ended with $(status_text "$2")" >>"$1"
    fi
}

status_text() {
    case $1 in
    124) echo "no end after $hang_limit_s s: killed" ;;
    0) echo "status 0, but no test has run" ;;
    *) echo "status $1" ;;
    esac
}

# "not ok 3 - a name", bats' "ok 3 a name # skip why" or cmocka's "not ok 3 # SKIP a_name", which has no reason.
name_in() { sed -E 's/^(not )?ok [0-9]+ (- )?//; s/^# SKIP //; s/ # skip.*//' <<<"$1"; }
reason_in() { sed -E 's/^not ok [0-9]+ # SKIP .*/its source says why/; s/.*# skip ?//' <<<"$1"; }

# As one word for a shell.
quoted() { # TEXT
    if [[ $1 != *\'* ]]; then
        echo "'$1'"
    elif [[ $1 != *[\"\$\`\\!]* ]]; then
        echo "\"$1\""
    else
        printf '%q\n' "$1"
    fi
}

add_failure() { # JOB TEST
    local text=$1 command
    command="scripts/test $1"
    if [[ -n $2 && $1 != */"$2" ]]; then
        text+=": $2"
        command+=" -f $(quoted "$(filter_for "$1" "$2")")"
    fi
    failures+=("$text"$'\n'"      $command")
}

skip_jobs() { # REASON JOB...
    local job
    for job in "${@:2}"; do
        skips+=("$job: $1")
    done
    skipped=$((skipped + 1))
}

# One line about a job that has ended; all of its output if something failed.
tell() { # JOB MS LOG
    local word=passed
    done_jobs=$((done_jobs + 1))
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left_out))
    ((bad == 0)) || word=FAILED
    printf '[%*d/%d%s]  %-34s %s %3d%s%s  %6.1f s\n' ${#total_jobs} "$done_jobs" "$total_jobs" \
        "$( ((failed == 0)) || echo ", $failed failed")" "$1" "$word" \
        $((bad > 0 ? bad : good)) "$( ((bad == 0)) || echo " of $((good + bad))")" \
        "$( ((left_out == 0)) || echo ", $left_out skipped")" "$2e-3"
    ((bad == 0)) || sed 's/^/    /' "$3"
}

show_parts_times() {
    echo 'seconds of each part (all its jobs added up; they run side by side) and of processor:'
    awk '{ part = $1; sub("/.*", "", part); wall[part] += $2; cpu[part] += $3; n[part]++ }
         END { for (p in wall) printf "  %-14s %4d jobs %8.1f s %8.1f s\n", p, n[p], wall[p], cpu[p] }' \
        build/test/times | sort -k4 -nr
    echo 'the twenty jobs that took longest:'
    sort -k2 -nr build/test/times | head -n 20 |
        awk '{ printf "  %-40s %8.1f s %8.1f s\n", $1, $2, $3 }'
}

report() {
    local now=${EPOCHREALTIME/[.,]/}
    [[ -z $show_times ]] || show_parts_times
    if ((${#skips[@]} > 0)); then
        echo "skipped:"
        printf '  %s\n' "${skips[@]}"
    fi
    if ((${#failures[@]} > 0)); then
        echo "failed, and how to repeat it:"
        printf '  %s\n' "${failures[@]}"
    fi
    echo "$(((now - begin) / 60000000)) min $(((now - begin) / 1000000 % 60)) s"
    if ((skipped > 0)); then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [[ $failed == 0 ]]
}
