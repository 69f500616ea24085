#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/sim around a command: its status, signals and descriptors are the command's; what it refuses.
# shellcheck disable=SC2016 # quoted scripts are for an inner shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell; that is the point

# bats file_tags=long
load sim_common
load public

teardown() { leave_public; }

simulator_is_gone() { # PID
    ! pgrep -f -- "--watch $1\b" >/dev/null
}

@test "the status is that of the command" {
    run -0 "$sim" true
    run -3 "$sim" -- bash -c 'exit 3'
    run -125 "$sim" -- bash -c 'exit 125'
    run -127 "$sim" no-such-command
    run -126 "$sim" /etc/passwd
    run -143 "$sim" -- bash -c 'kill -TERM $$'
    run -137 "$sim" -- bash -c 'kill -KILL $$'
}

@test "a signal reaches the command" {
    local pid line status=0

    mkfifo "$BATS_TEST_TMPDIR/fifo"
    "$sim" -- bash -c 'trap "exit 42" USR1; echo ready; while :; do sleep 0.01; done' \
        >"$BATS_TEST_TMPDIR/fifo" 3>&- &
    pid=$!
    read -r line <"$BATS_TEST_TMPDIR/fifo"
    [[ $line == ready ]]
    kill -USR1 "$pid"
    wait "$pid" || status=$?
    [[ $status -eq 42 ]]
}

@test "stdin, stdout, stderr, descriptors, arguments and folder are the caller's" {
    cd "$BATS_TEST_TMPDIR"
    head -c 300000 /dev/urandom >in
    "$sim" -- cat <in >out 2>err
    cmp in out
    [[ ! -s err ]]
    run -0 --separate-stderr "$sim" -- bash -c 'printf "<%s>" "$PWD" "$@"; echo oops >&2' sh -- 'a  b' '' --spec
    [[ $output == "<$BATS_TEST_TMPDIR><--><a  b><><--spec>" ]]
    # shellcheck disable=SC2154 # set by run
    [[ $stderr == oops ]]
    [[ $("$sim" -- ls /proc/self/fd) == "$(ls /proc/self/fd)" ]]
    [[ $("$sim" -- env | grep -v ^_= | sort) == "$(env | grep -v ^_= | sort)" ]]
}

@test "the simulator keeps none of the caller's descriptors" {
    run -0 "$sim" -- bash -c 'readlink "/proc/$(pgrep -f -- "--watch $$\b")/fd/"*' \
        9>"$BATS_TEST_TMPDIR/held"
    [[ $output == */dev/null*  && $output != */held* && $output != *bats* ]]
}

@test "nothing remains" {
    local method ending pid

    mkdir "$BATS_TEST_TMPDIR/empty"
    for method in fuse files; do
        { : <>/dev/fuse; } 2>/dev/null || [[ $method != fuse ]] || continue
        for ending in true 'kill -KILL $$'; do
            pid=$(TMPDIR="$BATS_TEST_TMPDIR/empty" "$sim" --method "$method" -- \
                bash -c "echo \$\$; pgrep -f -- \"--watch \$\$\\b\" >&2 || exit 1; $ending" \
                2>"$BATS_TEST_TMPDIR/simulator") || [[ $ending != true ]]
            [[ -s "$BATS_TEST_TMPDIR/simulator" ]]
            eventually simulator_is_gone "$pid"
            ! grep apapi-sim /proc/mounts
            [[ -z $(ls -A "$BATS_TEST_TMPDIR/empty") ]]
        done
    done
}

@test "a plain user" {
    if ((EUID == 0)); then
        make_public
        "${nobody[@]}" unshare -Urm true 2>/dev/null || skip 'user namespaces are off'
        publish "$sim" "$APAPI_SIMHW"
        sim=$public/sim
        export APAPI_SIMHW=$public/apapi-simhw
    else
        nobody=()
    fi
    run -0 "${nobody[@]}" "$sim" --method files -- bash -c \
        'id -u; head -n 1 /sys/class/powercap/intel-rapl:1/energy_uj; stat -Lc %a /sys/class/powercap/*:0/energy_uj'
    [[ ${lines[0]} == 0 && ${lines[1]} =~ ^[0-9]+$ && ${lines[2]} == 400 ]]
    run -7 "${nobody[@]}" "$sim" -- bash -c 'exit 7'
}

@test "other users see the hardware as far as its mode allows" {
    [[ $(id -u) -eq 0 ]] || skip 'needs root'
    local method read_as_nobody='umask; setpriv --reuid 65534 --regid 65534 --clear-groups \
        head -n 1 /sys/class/powercap/intel-rapl:0:0/energy_uj'

    umask 077
    for method in fuse files; do
        { : <>/dev/fuse; } 2>/dev/null || [[ $method != fuse ]] || continue
        run -0 "$sim" --method "$method" --mode 444 -- bash -c "$read_as_nobody"
        [[ ${lines[0]} == 0077 && ${lines[1]} =~ ^[0-9]+$ ]]
        run -1 "$sim" --method "$method" -- bash -c "$read_as_nobody"
        [[ ${lines[1]} == *'Permission denied' ]]
    done
}

@test "a user namespace with FUSE" {
    need_fuse
    unshare -Urm true 2>/dev/null || skip 'user namespaces are off'
    run -0 unshare -Ur "$sim" --method fuse -- bash -c 'cat /sys/class/powercap/intel-rapl:1/energy_uj; grep " /sys/class/powercap " /proc/mounts'
    [[ ${lines[0]} =~ ^[0-9]+$ ]]
    [[ ${lines[1]} == 'apapi-simhw /sys/class/powercap fuse '* ]]
}

@test "bad options: 125, a message, no command" {
    local options message

    while IFS='|' read -r options message; do
        # shellcheck disable=SC2086 # words
        run -125 "$sim" $options -- touch "$BATS_TEST_TMPDIR/ran"
        [[ $output == "sim: $message"* ]] || { echo "$options: $output" && return 1; }
        [[ ! -e "$BATS_TEST_TMPDIR/ran" ]]
    done <<TABLE
--bad 1|unknown option --bad
--packages x|--packages x: expected a number from 0 to 99
--package-w -1|--package-w -1: expected a power in W
--package-w none|--package-w none: expected a power in W
--dram-w 1e3|--dram-w 1e3: expected a power in W, or none
--range-uj 0|--range-uj 0: expected a number of uJ
--start-uj 262143328851|--start-uj is larger
--mode 888|--mode 888: expected an octal mode
--method best|--method best: expected auto, fuse or files
--spec /no/such|--spec /no/such: cannot be read
TABLE
    run -125 "$sim"
    [[ $output == 'sim: no command was given'* ]]
    run -125 "$sim" --spec
    [[ $output == 'sim: --spec: a value is missing' ]]
    APAPI_SIMHW=/no/such run -125 "$sim" true
    [[ $output == *'/no/such (from APAPI_SIMHW) cannot be executed' ]]
    run -0 "$sim" --help
    [[ $output == 'usage: scripts/sim'* ]]
}

@test "bad spec lines: file, line, what was expected, and nothing was done" {
    local line message dir="$BATS_TEST_TMPDIR/dir"

    mkdir "$dir"
    while IFS='|' read -r line message; do
        printf '# a comment\n\na/b energy 1 10 0\nlost link nowhere\n%s\n' "$line" >"$spec"
        run -2 "$APAPI_SIMHW" --fuse "$dir" "$spec"
        [[ $output == "apapi-simhw: $spec:5: $message" ]] || { echo "$line: $output" && return 1; }
    done <<'TABLE'
x|nothing is said of x; expected: PATH WORD ARGUMENTS
x joules 1|unknown word "joules"; expected: PATH WORD ARGUMENTS
x energy 1 2|2 of the 3 arguments are there; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy 1 2 3 4|"4" is one argument too many; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy 1W 2 0|"1W" is not a power from 0 to 1e+06 W; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy nan 2 0|"nan" is not a power from 0 to 1e+06 W; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy 1 -2 0|"-2" is not a whole number from 0 to 18446744073709551615; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy 1 2 3|"3" is not a whole number from 0 to 2; expected: PATH energy WATTS RANGE_UJ START_UJ
x gauge 1 1 0|"0" is not a period; expected: PATH gauge MEAN AMPLITUDE PERIOD_S
a/b text again|a/b is defined already; expected: PATH text [STRING]
a text folder|a is a folder that holds something; expected: PATH text [STRING]
a/b/c text x|path a/b/c: something on the way is not a folder; expected: PATH text [STRING]
/x text x|path /x: not a plain relative path; expected: PATH text [STRING]
x/../y text x|path x/../y: not a plain relative path; expected: PATH text [STRING]
lost/x text x|path lost/x: a link on the way leads nowhere; expected: PATH text [STRING]
x mode 444|x is not defined before this line; expected: PATH mode OCTAL
a/b mode 999|"999" is not an octal mode from 0 to 777; expected: PATH mode OCTAL
a reset 1|reset cannot be used for what a is; expected: PATH reset AT_S
a/b fail 1 2 EOOPS|"EOOPS" is not an error number or its name; expected: PATH fail FROM_S TO_S ERRNO
a/b fail 2 1 EIO|TO_S is not after FROM_S; expected: PATH fail FROM_S TO_S ERRNO
a/b unit 0 J|"0" is not a whole number from 1; expected: PATH unit DIVISOR [UNIT]
a/b unit 1 a-very-long-unit|UNIT is longer than 15 bytes; expected: PATH unit DIVISOR [UNIT]
a/b freeze -1 1|"-1" is not a time from 0 to 1e9 s; expected: PATH freeze FROM_S TO_S
a/b reg 0x611 const 1|reg cannot be used for what a/b is; expected: PATH reg NUMBER const VALUE | NUMBER energy WATTS UNIT_EXP START
TABLE
    [[ -z $(ls -A "$dir") ]]
    printf 'a energy 1 1 0\na vanish 1 2\n' >"$spec"
    run -2 "$APAPI_SIMHW" --files "$dir" "$spec"
    [[ $output == *"$spec:2: vanish is possible with --fuse only; "* ]]
    [[ -z $(ls -A "$dir") ]]
    run -125 "$sim" --method files --spec "$spec" -- touch "$dir/ran"
    [[ $output == *"$spec:2: vanish is possible with --fuse only; "* ]]
    [[ -z $(ls -A "$dir") ]]
}

@test "the simulator alone: ready, SIGTERM, death of the parent" {
    [[ $(id -u) -eq 0 ]] || skip 'needs root'
    local dir="$BATS_TEST_TMPDIR/dir" method pid
    mkdir "$dir"
    local script='mount -t tmpfs none "$2" && mkdir "$2/t" && mkfifo "$2/f" && exec 8<>"$2/f"
        "$0" "$1" "$2/t" --ready-fd 8 "$3" >/dev/null 2>&1 & read -r -u 8 && cat "$2/t/powercap/clock" >/dev/null || exit 1'

    for method in --files --fuse; do
        { : <>/dev/fuse; } 2>/dev/null || [[ $method != --fuse ]] || continue
        run -0 timeout -k 1 120 unshare -m bash -c "$script"'; kill -TERM $!; wait $! || exit 2
            ! grep " $2/t " /proc/mounts' "$APAPI_SIMHW" "$method" "$dir" "$spec"
        run -137 unshare -m bash -c "$script"'; echo $!; kill -KILL $$' "$APAPI_SIMHW" "$method" "$dir" "$spec"
        pid=${lines[0]}
        eventually bash -c '! grep -q "^State:.[^Z]" "/proc/$0/status" 2>/dev/null' "$pid"
    done
}
