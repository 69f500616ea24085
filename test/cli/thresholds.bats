#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# atime --overflow, over simulated hardware.

load atime_common
load public
load ../eventually

# A program that counts SIGUSR1 in the file $1 until the file $2 is there.
counting() {
    cat >"$BATS_TEST_TMPDIR/counting" <<'END'
n=0
: >"$1"
trap 'n=$((n + 1)); echo "$n" >"$1"' USR1
until [ -e "$2" ]; do sleep 0.05; done
echo "the program's own output"
exit 3
END
}

# atime of a program that runs until a file of this name exists; what atime writes is in stdout, stderr and status. A signal
# that comes before the trap is there waits for it.
start_counting() { # OPTION...
    counting
    env --block-signal=USR1 "$repository/scripts/sim" --package-w 100 --dram-w 20 -- "$atime" "$@" \
        sh "$BATS_TEST_TMPDIR/counting" "$BATS_TEST_TMPDIR/count" "$BATS_TEST_TMPDIR/enough" \
        >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" &
    measuring=$!
}

end_counting() {
    touch "$BATS_TEST_TMPDIR/enough"
    status=0
    wait "$measuring" || status=$?
    output=$(<"$BATS_TEST_TMPDIR/stdout")
    stderr=$(<"$BATS_TEST_TMPDIR/stderr")
    echo "$stderr"
}

is_gone() { # PID
    ! kill -0 "$1"
}

@test "a signal comes once, and the exit status and output stay the program's" {
    needs_sim
    start_counting --overflow 'total >= 20J : signal=USR1'
    eventually grep -q . "$BATS_TEST_TMPDIR/count"
    end_counting
    [[ $status -eq 3 && $output == "the program's own output" && $(<"$BATS_TEST_TMPDIR/count") == 1 ]]
    [[ $stderr == *'total >= 20J: crossed (at '*' s with 20.0'*' J; SIGUSR1: to 1 process)'* ]]
}

@test "where the meter is missing, the message says why, and nothing is started" {
    needs_sim
    run -2 --separate-stderr sim --packages 0 -- "$atime" --overflow 'total >= 1J : log' touch "$BATS_TEST_TMPDIR/started"
    [[ $stderr == 'atime: --overflow: this session does not measure it: rapl: '*'powercap'*$'\n  total >= 1J\n  ^' && ! -e $BATS_TEST_TMPDIR/started ]]
}

@test "too few descriptors or processes to act: the program runs, and is not measured" {
    local few
    export APAPI_ESTIMATE_IDLE_W=100 APAPI_ESTIMATE_CORE_W=8
    # shellcheck disable=SC2016 # for bash
    few=(bash -c 'exec 3>&- 4>&- 5>&- 6>&-; ulimit $0; exec "$1" -c estimate --overflow "estimate:::NODE_ENERGY >= 1J : stamp" sh -c "exit 9"')
    for descriptors in 4 5 6 7; do
        complains 9 '*Too many open files'$'\n''atime: the program is not measured' "${few[@]}" "-n $descriptors" "$atime"
    done
    make_public
    publish "$atime"
    for processes in 1 2 3 4; do
        complains 9 'atime: '*$'\n''atime: the program is not measured' "${nobody[@]}" "${few[@]}" "-u $processes" "$public/atime"
    done
}

@test "a level, for some time: logged with time, node and value" {
    needs_sim
    start_counting --overflow 'package > 150W for 300ms : log' --overflow 'package > 5kW : signal=USR1' # far above what a busy machine makes of 200 W
    eventually grep -q 'package > 150W for 300ms crossed at' "$BATS_TEST_TMPDIR/stderr"
    end_counting
    [[ $stderr =~ "atime: $(hostname): package > 150W for 300ms crossed at "[0-9:.]{12}" with "(19|20)[0-9.]+" W" ]]
    [[ $stderr != *'5kW'* && ! -s $BATS_TEST_TMPDIR/count ]]
}

@test "term ends the program, and the report is still printed" {
    needs_sim
    run --separate-stderr sim --package-w 100 -- "$atime" --overflow 'total >= 10J : term' sleep 1000
    [[ $status -eq 143 && $stderr == *'SIGTERM: to 1 process'* && $stderr == *'killed by signal 15'* ]]
    # each run of each program, also if root's has another user
    local other=()
    ((EUID)) || other=(setpriv --reuid 65534 --clear-groups)
    run -143 --separate-stderr sim --package-w 100 -- "$atime" -r 2 -f json --overflow 'total >= 10J : term' \
        --compare "${other[@]}" sleep 1000 -- "${other[@]}" sleep 1001
    [[ $(jq -c '[.. | .crossings? // empty | .[].result]' <<<"$stderr") == '["SIGTERM: to 1 process","SIGTERM: to 1 process","SIGTERM: to 1 process","SIGTERM: to 1 process"]' ]]
}

@test "a command has its variables, no input, and its output on standard error" {
    needs_sim
    # shellcheck disable=SC2016 # for the command's shell
    start_counting --overflow 'total >= 20J : exec=cat; echo "$APAPI_OVERFLOW_EVENT|$APAPI_OVERFLOW_THRESHOLD|$APAPI_OVERFLOW_VALUE$APAPI_OVERFLOW_UNIT|$APAPI_OVERFLOW_COUNT|$APAPI_OVERFLOW_NODE"'
    eventually grep -q '^total|total >= 20J|20J|1|' "$BATS_TEST_TMPDIR/stderr"
    end_counting
    [[ $status -eq 3 && $output == "the program's own output" && $stderr == *"|$(hostname)"$'\n'* ]]
}

@test "a command that hangs holds up neither the program nor the measurement, and ends with it" {
    needs_sim
    # shellcheck disable=SC2016
    start_counting --overflow "total every 10J : signal=USR1, exec=echo \$\$ >$BATS_TEST_TMPDIR/pid; trap '' TERM; sleep 1000; true"
    eventually test -s "$BATS_TEST_TMPDIR/pid"
    eventually grep -q '[4-9]' "$BATS_TEST_TMPDIR/count"
    end_counting
    [[ $status -eq 3 && $stderr == *'not again, as it still runs'* ]]
    eventually is_gone "$(<"$BATS_TEST_TMPDIR/pid")"
}

@test "a command that cannot be run is reported" {
    needs_sim
    start_counting -f json --overflow 'total >= 20J : exec=/nonexistent/command'
    eventually grep -q nonexistent "$BATS_TEST_TMPDIR/stderr"
    end_counting
    jq -e '.crossings[0].result == "exec: exit status 127"' <<<"$(grep '^{' <<<"$stderr")"
}

@test "a bare number of an event is in the event's unit, in the record as well" {
    needs_sim
    # on a busy machine no power is known for long, as it needs a window of 20 times the time that a reading took
    run --separate-stderr sim --package-w 100 -- "$atime" -f json \
        --overflow 'rapl:::PACKAGE_ENERGY:PACKAGE0 >= 5 : stamp' \
        --overflow "rapl:::PACKAGE_ENERGY:PACKAGE0 > 20 : exec=touch '$BATS_TEST_TMPDIR/crossed'" \
        sh -c 'for i in $(seq 1000); do [ ! -e "$0" ] || exit 0; sleep 0.1; done' "$BATS_TEST_TMPDIR/crossed"
    jq -e '[.crossings[] | {unit, threshold}] | sort_by(.unit) == [{unit: "J", threshold: "rapl:::PACKAGE_ENERGY:PACKAGE0 >= 5"},
        {unit: "W", threshold: "rapl:::PACKAGE_ENERGY:PACKAGE0 > 20"}]' <<<"$stderr"
}

@test "several runs: crossings of each in JSON and CSV, and together" {
    needs_sim
    run --separate-stderr sim --package-w 100 -- "$atime" -r 3 --overflow 'total >= 5J : stamp' sleep 0.3
    [[ $(tr -s ' \n' ' ' <<<"$stderr") =~ 'total >= 5J: crossed in 3 of 3 runs' ]]
    run --separate-stderr sim --package-w 100 -- "$atime" -r 3 -f json --overflow 'total >= 5J : stamp' sleep 0.3
    jq -e '[.runs[].crossings | length] == [1, 1, 1]' <<<"$stderr"
    run --separate-stderr sim --package-w 100 -- "$atime" -r 3 -f csv --overflow 'total >= 5J : stamp' sleep 0.3
    [[ $(grep -c '^[123],crossing,total >= 5J,,stamp,J,' <<<"$stderr") -eq 3 ]]
    [[ $(grep -c '^[123],crossings,total >= 5J,,,,1,' <<<"$stderr") -eq 3 ]]
}

@test "mistakes are marked before the program starts" {
    local text marked said
    needs_sim
    while IFS='|' read -r text marked said; do
        run --separate-stderr sim -- "$atime" --overflow "$text" touch "$BATS_TEST_TMPDIR/started"
        echo "$text: $stderr"
        [[ $status -eq 2 && $stderr == 'atime: --overflow: '*"$said"* && ! -e $BATS_TEST_TMPDIR/started ]]
        [[ -z $marked || $(sed -n 3p <<<"$stderr") == "$(printf '%*s^' $((${#marked} + 2)) '')" ]]
    done <<'END'
total >=5parsecs|total >=5|unknown unit 'parsecs': J, mJ
nosuch:::EVENT >= 5J||no such event or domain
gpu >= 5J||this session does not measure it: nvml: no NVIDIA driver
rapl:::PACKAGE_ENERGY:PACKAG0 >= 5J||no such event or domain: did you mean 'rapl:::PACKAGE_ENERGY:PACKAGE0'
rapl:::PACKAGE_ENERGY:PACKAGE0 > 5C|rapl:::PACKAGE_ENERGY:PACKAGE0 > 5|a threshold in W, not in C
step total >= 5J|step |atime measures this node
rapl:::PACKAGE_ENERGY:PACKAGE0 >= 0.0000001J|rapl:::PACKAGE_ENERGY:PACKAGE0 >= |resolution
END
    complains 2 '*does not measure it: estimate: idle_w and core_w are not set*' "$atime" -c nvml:estimate --overflow 'node > 5W' true
}
