#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The output of atime: forms, files, traces, several runs, running processes.

load atime_common
load ../eventually
load public

column() { # ROW NAME COLUMN: of the CSV in $output
    awk -F, -v row="$1" -v name="$2" -v column="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i }
        $2 == row && $3 == name { print $place[column] }' <<<"$output"
}

@test "-f json: one line, a record and the program" {
    needs_sim
    run --separate-stderr sim --package-w 100 --dram-w 20 -- "$atime" -f json sh -c 'echo out; sleep 1; exit 3'
    [[ $status -eq 3 && $output == out && $(wc -l <<<"$stderr") -eq 1 ]]
    jq -e '.apapi == 1 and .name == "sh" and .complete and .nodes == 1 and (has("job") | not)' <<<"$stderr"
    jq -e '.program | .command == ["sh", "-c", "echo out; sleep 1; exit 3"] and .exit_status == 3' <<<"$stderr"
    jq -e '.elapsed_s as $elapsed | .program |
        .elapsed_s > 1 and .elapsed_s <= $elapsed and .user_s >= 0 and .system_s >= 0' <<<"$stderr"
    jq -e '.program.max_rss_bytes > 100000' <<<"$stderr"
    domain_fits total 240 "$stderr"
    jq -e '.domains.package | .p95_w >= .min_w and .p95_w <= .max_w' <<<"$stderr"
    # one of ten windows is the greatest; a reading that itself took long makes it wrong by what the uncertainty says
    jq -e '(.domains.package.uncertainty_j / .components[0].interval_s) as $unsure_w |
        (.domains.package.p95_w - 200 | fabs) < 5 + $unsure_w' <<<"$stderr"
    jq -e '.components[0].period_longest_s > 0.09' <<<"$stderr"
    jq -e '([.domains[].uncertainty_j] | add) as $sum | .trust.uncertainty_j | . > 0 and (. / $sum - 1 | fabs) < 0.001' <<<"$stderr"
    jq -e '[.components[0].events[].uncertainty_j] | length == 4 and min > 0' <<<"$stderr"
}

@test "-f json: a signal, and no meter" {
    run -143 --separate-stderr "$atime" -f json sh -c 'kill -15 $$'
    jq -e '.program.signal == 15 and (.program | has("exit_status") | not)' <<<"$stderr"
    jq -e '.components[0].name == "rapl"' <<<"$stderr"
}

@test "-o: the report goes there, and the program does not have the file" {
    file=$BATS_TEST_TMPDIR/report
    echo 'something old and long enough to be seen again' >"$file"
    run --separate-stderr "$atime" -o "$file" bash -c 'ls /proc/self/fd; echo err >&2'
    [[ $status -eq 0 && $stderr == err && $output == "$(bash -c 'ls /proc/self/fd')" ]]
    [[ $(head -n 1 "$file") == 'apapi: "bash"'* && $(cat "$file") != *something* ]]
    run --separate-stderr "$atime" --output="$BATS_TEST_TMPDIR/a b" --format=json true
    jq -e .apapi "$BATS_TEST_TMPDIR/a b"
    prints 0 '*[$'"'\n'"'],*,step,elapsed,*' "$apapi" show -f csv "$BATS_TEST_TMPDIR/a b" # no step
}

@test "a file that cannot be written: said before the program starts, exit status 2" {
    for option in -o --trace; do
        run --separate-stderr "$atime" $option "$BATS_TEST_TMPDIR/none/x" touch "$BATS_TEST_TMPDIR/started"
        echo "$option: $status $stderr"
        [[ $status -eq 2 && $stderr == "atime: cannot write $BATS_TEST_TMPDIR/none/x: No such file or directory" ]]
        run --separate-stderr "$atime" $option / touch "$BATS_TEST_TMPDIR/started"
        [[ $status -eq 2 && $stderr == *'Is a directory' && ! -e $BATS_TEST_TMPDIR/started ]]
    done
}

@test "a file is written with the user's rights, and starts empty" {
    seq -f 'line %g' 10000 >"$BATS_TEST_TMPDIR/old"
    "$atime" -o "$BATS_TEST_TMPDIR/old" -f json true
    jq -se 'length == 1' "$BATS_TEST_TMPDIR/old"
    make_public
    publish "$atime"
    touch "$public/roots"
    for option in -o --trace; do
        complains 2 '*Permission denied' "${nobody[@]}" "$public/atime" $option "$public/roots" true
    done
}

@test "a report that cannot be written changes nothing about the exit status" {
    complains 5 '*"sh"*elapsed*atime: the report stands here: /dev/full: No space left on device' "$atime" -o /dev/full sh -c 'exit 5'
    complains 2 'atime: -o and --trace are the same file: *' "$atime" -o "$BATS_TEST_TMPDIR/x" --trace "$BATS_TEST_TMPDIR/./x" touch "$BATS_TEST_TMPDIR/started"
    [[ ! -e $BATS_TEST_TMPDIR/started ]]
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    timeout 120 head -c 0 "$BATS_TEST_TMPDIR/fifo" 3>&- &
    complains 6 '*Broken pipe' timeout 120 "$atime" -o "$BATS_TEST_TMPDIR/fifo" sh -c 'sleep 0.3; exit 6'
    run -7 "$atime" --trace /dev/full sh -c 'exit 7'
    # a limit of file size, which the page for regions exceeds, too, is a signal to the program alone
    run -153 bash -c 'ulimit -f 1; export APAPI_ESTIMATE_IDLE_W=100 APAPI_ESTIMATE_CORE_W=8
        "$0" -c estimate -t 1ms --trace "$1" sh -c "sleep 0.5; exit 8" 2>&1 | cat; echo "${PIPESTATUS[0]}"
        exec "$0" head -c 9999 /dev/zero >"$1"' "$atime" "$BATS_TEST_TMPDIR/trace"
    [[ $output == *"trace $BATS_TEST_TMPDIR/trace is not complete: File too large"*$'\n8\n'* ]]
    limited() { bash -c "exec 3>&- 4>&- 5>&- 6>&-; ulimit -n $1; exec '$atime' sh -c 'exit 9'"; }
    for descriptors in 5 6; do # too few to measure
        complains 9 '*Too many open files'$'\n''atime: the program is not measured' limited "$descriptors"
    done
    for descriptors in 7 8 9; do # enough for a part of that, or not
        run -9 limited "$descriptors"
    done
    [[ ${APAPI_TEST_BUILD:-} == *san ]] || # the sanitizers need more
        complains 9 'atime: the stack has less than 128 KiB (ulimit -s)'$'\n''atime: the program is not measured' \
            bash -c "ulimit -s 64; exec '$atime' sh -c 'exit 9'"
}

@test "--trace: every sample with time, units and power" {
    needs_sim
    trace=$BATS_TEST_TMPDIR/trace.csv
    run --separate-stderr sim --packages 1 --package-w 100 --dram-w 20 -- "$atime" -t 20ms --trace "$trace" -f json sleep 1
    head "$trace"
    [[ $status -eq 0 && $(head -n 1 "$trace") == run,time_s,event,raw,value,unit,power_w,error,estimated ]]
    samples=$(jq .components[0].events[0].samples <<<"$stderr")
    missed=$(jq '.components[0].missed // 0' <<<"$stderr")
    # the first one, and each but those that follow it after 1, 2, 4, 8 and 16 ms
    rows=$(grep -c 'rapl:::PACKAGE_ENERGY:PACKAGE0' "$trace")
    [[ $rows -le $((samples + 1)) && $rows -ge $((samples - 4)) && $((samples + missed)) -ge 45 ]]
    # what was counted adds up to the total, and time never goes back
    sum=$(awk -F, '$3 ~ /PACKAGE_ENERGY/ { sum += $5 } END { print sum }' "$trace")
    close_to "$sum" "$(jq .domains.package.energy_j <<<"$stderr")" 0.0001
    awk -F, 'NR > 1 { if ($2 < last || NF != 9 || $6 != "J") exit 1; last = $2 }' "$trace"
}

@test "-r: mean and standard deviation, all runs in JSON, status of the first failure" {
    needs_sim
    complains 0 'apapi: "sleep"  3 runs  rapl (sysfs powercap)*' sim --packages 1 --package-w 100 --dram-w 20 -- "$atime" -r 3 sleep 0.5
    [[ $stderr == *'package'*' ± '*' J '*' ± '*' W'*'elapsed '*' ± '*'user '*' ± '*'system '* ]]
    awk '$1 == "package" { energy = $2 } $1 == "elapsed" { exit !(energy > 99 * $2 && energy < 200 * $2) }' <<<"$stderr"
    [[ $(wc -L <<<"$stderr") -le 80 ]]
    counter=$BATS_TEST_TMPDIR/counter
    run --separate-stderr sim --packages 1 -- "$atime" --runs 4 -f json sh -c "echo x >>$counter; sleep 0.1; exit \$((\$(wc -l <$counter) % 3))"
    [[ $status -eq 1 && $(wc -l <"$counter") -eq 4 ]]
    jq -e '[.runs[].program.exit_status] == [1, 2, 0, 1]' <<<"$stderr"
    jq -e '.statistics | .elapsed_s.mean > 0.1 and .elapsed_s.sd > 0 and .domains.package.energy_j.mean > 0' <<<"$stderr"
    # the same by hand
    jq -e '([.runs[].program.elapsed_s] | add / length) as $mean | (.statistics.elapsed_s.mean - $mean) | fabs < 1e-6' <<<"$stderr"
    run "$atime" -r 2 -f csv true
    [[ $(column program elapsed run) == $'1\n2' ]]
}

@test "--warmup: runs that are not measured come first" {
    counter=$BATS_TEST_TMPDIR/counter
    run --separate-stderr "$atime" --warmup 2 -r 3 -f json sh -c "echo x >>$counter; [ \$(wc -l <$counter) -gt 2 ]"
    [[ $status -eq 0 && $(wc -l <"$counter") -eq 5 ]]
    jq -e '.runs | length == 3' <<<"$stderr"
}

@test "--compare: the programs take turns; the difference has an error and a probability" {
    needs_sim
    order=$BATS_TEST_TMPDIR/order
    for _ in {1..4}; do # a busy machine may hold up one of eight runs: then nothing is significant
        rm -f "$order"
        run -0 --separate-stderr sim --packages 1 -- "$atime" -r 4 --compare sh -c "echo a >>$order; sleep 0.1" -- sh -c "echo b >>$order; sleep 0.5"
        [[ $(tr -d '\n' <"$order") == abababab && $(wc -L <<<"$stderr") -le 80 ]]
        [[ $stderr == *'"sh"  4 runs'*'"sh"  4 runs'*'difference: second program - first'* ]]
        [[ $stderr =~ energy\ +-?[0-9.]+\ ±\ [0-9.]+\ J\ \ \([+-][0-9.]+\ %\)\ \ p\ [\<=] ]]
        [[ $stderr == *'  no significant difference in energy'* && $stderr =~ %\)\ \ p\ =\ (1|0.0[5-9]|0.[1-9]) ]] || break
    done
    [[ $stderr =~ energy\ +[0-9.]+\ ±.*\(\+ && $stderr == *'the first program, "sh", uses less energy'* ]]
    run --separate-stderr sim --packages 1 -- "$atime" -r 3 --compare -f json sleep 0.1 -- sleep 0.3
    jq -e '.programs | length == 2 and .[1].runs[2].program.command == ["sleep", "0.3"]' <<<"$stderr"
    # three runs of each may have the same energy, as the meter's steps are 0.1 J, but are not certain
    jq -e '(.programs[1].statistics.total.energy_j.mean - .programs[0].statistics.total.energy_j.mean) as $d |
        .difference.energy_j | (.mean / $d - 1 | fabs) < 1e-6 and .ci95 > 0 and .p > 0 and .p < 1' <<<"$stderr"
    eventually is_short # a slow machine may make a tenth of a second of it
}

is_short() {
    complains 0 '*  short run, * readings: errors above 5 % are possible*' sim --packages 1 -- "$atime" -r 2 sleep 0.003
}

@test "-r: progress is for a terminal alone" {
    run --separate-stderr "$atime" -r 2 true
    [[ $stderr != *'run 1 of 2'* ]]
    tells 0 '*atime: "true": run 1 of 2*run 2 of 2*' script -qec "'$atime' -r 2 true" /dev/null
}

@test "-r, --warmup, --compare: a program that cannot be started is tried once; the status is that of the first that failed" {
    complains 127 'atime: /nonexistent/program: No such file or directory' "$atime" -r 5 /nonexistent/program
    complains 127 'atime: /nonexistent/program: No such file or directory' "$atime" --warmup 2 /nonexistent/program
    complains 127 '*atime: /nonexistent/program: No such file or directory*' "$atime" -r 2 --compare true -- /nonexistent/program
    run -3 --separate-stderr "$atime" -r 2 --compare true -- sh -c 'exit 3'
}

# Sends a signal to atime in its first run.
interrupt() { # SIGNAL OPTION...
    rm -f "$BATS_TEST_TMPDIR/runs"
    timeout 100 env --default-signal "$atime" "${@:2}" sh -c "echo x >>'$BATS_TEST_TMPDIR/runs'; exec sleep 60" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    pid=$!
    eventually test -s "$BATS_TEST_TMPDIR/runs"
    kill "-$1" "$(pgrep -P $pid -x atime)"
    status=0
    wait $pid || status=$?
    echo "$*: $status $(cat "$BATS_TEST_TMPDIR/err")"
    [[ $status -eq $((128 + $(kill -l "$1"))) && $(wc -l <"$BATS_TEST_TMPDIR/runs") -eq 1 ]]
}

@test "-r, --warmup: after a signal no further run is started" {
    interrupt TERM --warmup 5
    for signal in INT TERM HUP; do
        interrupt $signal -r 5 -f json
        jq -e '.runs | length == 1' "$BATS_TEST_TMPDIR/err"
    done
}

@test "-v, or APAPI_VERBOSE=1: all events and how far they can be trusted" {
    needs_sim
    run --separate-stderr sim --packages 1 -- "$atime" -v sleep 0.5
    [[ $status -eq 0 && $stderr == *p95* && $stderr == *'rapl:::DRAM_ENERGY:PACKAGE0'*'total '* ]]
    [[ $stderr == *'uncertainty of the total '*' J (±'*' %)'* ]]
    [[ $(tr -s ' \n' ' ' <<<"$stderr") == *'rapl: sysfs powercap, 2 events, interval 100.0 ms, '*' readings, '*' apart (standard deviation '*', longest '*' ms), '*' missed'* ]]
    [[ $stderr == *'wraps 0, resets 0, '* && $stderr == *'the sampling thread used '*' of CPU time'* ]]
    [[ $(wc -L <<<"$stderr") -le 80 ]]
    APAPI_VERBOSE=1 run --separate-stderr sim --packages 1 -- "$atime" true
    [[ $stderr == *'the sampling thread used '* ]]
    for value in 0 2 1x ''; do
        APAPI_VERBOSE=$value run --separate-stderr sim --packages 1 -- "$atime" true
        [[ $stderr != *'the sampling thread used '* ]]
    done
}

@test "APAPI_CMPLIST, unless -c is given" {
    APAPI_CMPLIST=powercap run --separate-stderr "$atime" -f json true
    jq -e '[.components[].name] == ["powercap"]' <<<"$stderr"
    APAPI_CMPLIST=powercap run --separate-stderr "$atime" -f json -c rapl true
    jq -e '[.components[].name] == ["rapl"]' <<<"$stderr"
    APAPI_CMPLIST=nonsense run --separate-stderr "$atime" touch "$BATS_TEST_TMPDIR/started"
    [[ $status -eq 2 && $stderr == *"unknown component 'nonsense'"* && ! -e $BATS_TEST_TMPDIR/started ]]
    APAPI_CMPLIST='' run -0 "$atime" true
}
