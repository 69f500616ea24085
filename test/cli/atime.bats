#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# atime as a person uses it, over simulated hardware.

load atime_common
load public
load ../eventually

number() { # DOMAIN COLUMN: of the table in $stderr, in J or W
    awk -v domain="$1" -v column="$2" '
        { sub(/ ±[0-9.]+ %/, "") }
        $1 == domain {
            unit = $(2 * column + 1); value = $(2 * column)
            if (unit ~ /^k/) value *= 1000
            if (unit ~ /^m/) value /= 1000
            print value
        }' <<<"$stderr"
}

# A sanitizer would handle it, in place of atime.
leave_segv() { export ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0; }

# Is a row of the table in $stderr what WATTS give? On a busy machine the program takes longer, and the measurement
# longer still, with both ends of it not covered: the power is not less, nor more where all the time counts. Digits
# that are not known are rounded.
row_fits() { # DOMAIN WATTS
    LC_ALL=C awk -v w="$2" -v j="$(number "$1" 1)" -v mean="$(number "$1" 2)" '
        $1 == "elapsed" { elapsed = $2 }
        $1 == "covered" { covered = $2 / 100 }
        END { exit !(j > w * elapsed * 0.97 && mean > w * 0.97 && mean * covered < w * 1.03 && j < mean * elapsed * 5) }' \
        <<<"$stderr" || {
        echo "$1 is not that of $2 W"
        return 1
    }
}

@test "the table: energy, power, total, coverage, times" {
    needs_sim
    prints 0 '' sim --package-w 100 --dram-w 20 -- "$atime" sleep 2
    row_fits package 200
    row_fits dram 40
    row_fits total 240
    [[ $stderr =~ ^apapi:\ \"sleep\"\ \ ([0-9.]+)\ s\ \ rapl\ \(sysfs\ powercap\) && ${BASH_REMATCH[1]%.*} -ge 2 ]]
    [[ $stderr == *'covered '*' %, '*' samples'* && $stderr == *"elapsed ${BASH_REMATCH[1]} s"*'user 0'*'system 0'*'peak memory '*' MiB' ]]
    [[ $(wc -L <<<"$stderr") -le 80 ]]
}

@test "exit status and standard output are the program's" {
    run --separate-stderr "$atime" sh -c 'echo out; echo err >&2; exit 3'
    [[ $status -eq 3 && $output == out && $stderr == err* ]]
    run -0 "$atime" true
    [[ $output != *'exit status'* && $output != *'killed'* ]]
    tells 137 $'*\n  killed by signal 9 (Killed)' "$atime" sh -c 'kill -9 $$'
    tells 3 $'*\n  exit status 3' "$atime" sh -c 'exit 3'
    tells 127 '*/nonexistent/program: No such file or directory*' "$atime" /nonexistent/program
    tells 126 '*/etc/passwd: Permission denied*' "$atime" /etc/passwd
}

@test "signals sent to atime go to the program, and there is a report" {
    leave_segv
    # a background job of this shell would ignore SIGINT
    for signal in INT TERM HUP USR1 USR2 ALRM XCPU ABRT SEGV RTMIN+3; do
        rm -f "$BATS_TEST_TMPDIR/out" # what the one before said is not "ready"
        env --default-signal "$atime" bash -c "trap 'echo got $signal; exit 5' $signal; echo ready; for i in \$(seq 2000); do sleep 0.05; done" \
            >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
        pid=$!
        eventually grep -q ready "$BATS_TEST_TMPDIR/out"
        kill -$signal $pid
        status=0
        wait $pid || status=$?
        echo "$signal: $status $(cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err")"
        [[ $status -eq 5 && $(cat "$BATS_TEST_TMPDIR/out") == $'ready\ngot '"$signal" ]]
        grep -q '^apapi: "bash"' "$BATS_TEST_TMPDIR/err"
    done
}

@test "signals that atime's caller ignores or blocks go to the program, which may handle them" {
    cd "$BATS_TEST_TMPDIR"
    env --ignore-signal=INT,USR1 --block-signal=TERM,RTMIN "$atime" -c estimate python3 -c '
import os, signal, sys, time
got = []
for number in 2, 10, 15, 34:
    signal.signal(number, lambda number, frame: got.append(number))
signal.pthread_sigmask(signal.SIG_UNBLOCK, [15, 34])
open("ready", "w").close()
for i in range(400):
    time.sleep(0.05 if len(got) < 4 else 0)
print(*got)' >out 2>err 3>&- &
    eventually test -e ready
    for signal in INT USR1 TERM RTMIN; do
        kill -$signal $!
        sleep 0.1
    done
    wait $!
    [[ $(<out) == '2 10 15 34' && $(<err) == *'apapi: "python3"'* ]]
    # without a handler they are ignored there, too, and end no series of runs
    env --ignore-signal=INT "$atime" -c estimate -r 2 sh -c 'echo >>runs; for i in $(seq 2000); do [ -e sent ] || sleep 0.05; done' 2>err 3>&- &
    eventually test -e runs
    kill -INT $! && touch sent
    wait $!
    [[ $(wc -l <runs) -eq 2 ]]
}

@test "a signal to the whole group reaches the program once" {
    local count="trap 'n=\$((n + 1))' \$0; touch ready; for i in {1..2000}; do sleep 0.05; [ -z \"\$n\" ] || [ \$((left += 1)) -lt 6 ] || break; done; echo \"signals \$n\" >out" signal
    leave_segv
    cd "$BATS_TEST_TMPDIR"
    for signal in TERM TERM TERM USR1 ALRM XCPU VTALRM PROF IO SYS ABRT SEGV RTMIN RTMAX; do
        rm -f ready
        setsid env --default-signal "$atime" -c estimate bash -c "$count" "$signal" >/dev/null 2>err 3>&- &
        eventually test -e ready
        kill "-$signal" -- -$!
        wait $!
        [[ $(<out) == 'signals 1' && $(<err) == *'apapi: "bash"'* ]]
    done
}

@test "the same on a machine so busy that atime's witness of such signals does not run; one to atime alone is passed on" {
    local count="trap 'n=\$((n + 1)); echo \$n >>out' TERM; touch ready; for i in {1..400}; do [ -e over ] || sleep 0.05; done" i witness
    cd "$BATS_TEST_TMPDIR"
    setsid env --default-signal "$atime" -c estimate bash -c "$count" >/dev/null 2>&1 3>&- &
    eventually test -e ready
    witness=$(eventually pgrep -P $! -x witness)
    kill -STOP "$witness"
    eventually grep -q '^State:.T' "/proc/$witness/status"
    kill -TERM -- -$!
    eventually test -s out
    sleep 0.2
    [[ $(<out) == 1 ]]
    kill -CONT "$witness"
    sleep 0.2
    kill -TERM $!
    eventually grep -q 2 out
    touch over
    wait $!
    [[ $(<out) == $'1\n2' ]]
}

@test "a program that has left atime's group gets what timeout, killall and the terminal send, once" {
    local count="trap 'n=\$((n + 1))' TERM; touch ready; for i in {1..2000}; do sleep 0.05; [ -z \"\$n\" ] || [ \$((left += 1)) -lt 6 ] || exit \$n; done"
    cd "$BATS_TEST_TMPDIR"
    time_is_up() { # for timeout OPTION atime setsid bash -c PROGRAM, once the program is ready
        rm -f ready
        timeout "$1" 100 "$atime" -c estimate setsid bash -c "$2" 2>err 3>&- &
        eventually test -e ready
        kill -ALRM $!
        wait $!
    }
    tells 124 '' time_is_up --kill-after=100 'touch ready; exec sleep 60'
    [[ $(<err) == *'killed by signal 15 (Terminated)'* ]]
    tells 1 '' time_is_up --preserve-status "$count"
    "$atime" -c estimate sleep 60 3>&- &
    eventually pgrep -P $! -x sleep
    [[ " $(pidof atime) " == *" $! "* && " $(pidof atime) " != *" $(pgrep -P $! -x witness) "* ]]
    kill $!
    rm ready
    tells 5 '' at_terminal 'os.write(terminal, b"\3")' "$atime" -c estimate timeout 100 bash -c "$(await_signal INT)"
    # where atime does not lead its group, the program could leave the terminal: it gets no hangup, which the kernel has sent when sh has ended
    local program="trap 'echo HUP >>got' HUP; trap 'echo TERM >>got; exit' TERM; echo \$PPID >parent; touch ready; for i in {1..2000}; do sleep 0.05; done"
    rm ready
    at_terminal 'os.close(terminal)' /bin/sh -c '"$@"; exit' - "$atime" -c estimate setsid bash -c "$program"
    kill "$(<parent)"
    eventually grep -q TERM got
    [[ $(<got) == TERM ]]
}

# Run a program at a terminal, do something to the terminal once it is ready, and have the program's exit status.
at_terminal() {
    timeout 100 env --default-signal python3 -c '
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[3], sys.argv[3:])
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
exec(sys.argv[1])
sys.exit(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))' "$1" "$BATS_TEST_TMPDIR/ready" "${@:2}"
}

await_signal() { echo "trap 'exit 5' $1; touch '$BATS_TEST_TMPDIR/ready'; for i in {1..2000}; do sleep 0.05; done"; }

@test "a hangup, which the kernel sends to the leader of a session alone, reaches the program" {
    run -5 at_terminal 'os.close(terminal)' "$atime" -c estimate bash -c "$(await_signal HUP)"
}

@test "each run has the timers of atime's caller" {
    # shellcheck disable=SC2016 # for Python
    run -0 --separate-stderr python3 -c '
import os, signal, sys
for timer in range(3):
    signal.setitimer(timer, 1000)
os.execv(sys.argv[1], sys.argv[1:])' "$atime" -c estimate -r 2 python3 -c '
import signal
print(all(signal.getitimer(timer)[0] > 100 for timer in range(3)))'
    [[ $output == $'True\nTrue' ]]
}

@test "the program has atime's signal mask, dispositions and descriptors" {
    inside='grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status; ls /proc/self/fd'
    plain=$(bash -c "$inside" 7</dev/null)
    measured=$("$atime" bash -c "$inside" 7</dev/null 2>/dev/null)
    diff <(echo "$plain") <(echo "$measured")
}

# Each end of a process would stay a zombie. 36 is PR_SET_CHILD_SUBREAPER.
@test "as a container's first process, atime reaps the orphans of the program" {
    run -0 --separate-stderr python3 -c '
import ctypes, os, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])' "$atime" -c estimate bash -c '
        orphan=$(bash -c "sleep 0 & echo \$!")
        for ((i = 0; i < 6000; i++)); do
            [[ -e /proc/$orphan ]] || { echo reaped; exit; }
            sleep 0.01
        done'
    [[ $output == reaped && $stderr == *elapsed* ]]
}

@test "SIGCHLD is ignored, as by daemons: the program's end is known, and it is ignored there, too" {
    needs_sim
    local inside='grep ^SigIgn /proc/self/status; exit 7' plain
    plain=$(env --ignore-signal=CHLD sh -c "$inside") || true
    run -7 --separate-stderr env --ignore-signal=CHLD "$atime" sh -c "$inside"
    [[ $output == "$plain" && $stderr == *'apapi: "sh"'* ]]
    run -0 --separate-stderr env --ignore-signal=CHLD "$repository/scripts/sim" -- \
        "$atime" --overflow 'total >= 1J : exec=exit 3' sleep 0.5
    [[ $stderr == *'exit status 3'* ]]
}

@test "no meter: the reason, and elapsed and CPU time all the same" {
    [[ ! -e /sys/class/powercap/intel-rapl:0 ]] || skip "this machine has energy meters"
    complains 0 '*rapl: not measured (the kernel has no*' "$atime" sleep 0.2
    [[ $stderr == *'elapsed '*' s '*'user 0'*'system 0'* && $stderr != *' J'* ]]
}

@test "wrong usage: what and what would be right, exit status 2, the program is not started" {
    local words said
    while IFS='|' read -r words said; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr "$atime" ${words/PROGRAM/touch $BATS_TEST_TMPDIR/started}
        [[ $status -eq 2 && -z $output && $stderr == *"$said"* && ! -e $BATS_TEST_TMPDIR/started ]] || { echo "$words: $stderr"; false; }
    done <<'END'
-c rpal PROGRAM|unknown component 'rpal': did you mean 'rapl'?
-c rapl,nvml PROGRAM|names are separated by colons, did you mean 'rapl:nvml'?
-t rpal:1s PROGRAM|unknown component 'rpal': did you mean 'rapl'?
-t fast PROGRAM|an interval is missing after 'fast'
-t 1x PROGRAM|'1x' is not a duration
-t 10us PROGRAM|out of bounds: 1ms to 1h
-x PROGRAM|unknown option '-x'; 'atime --help' shows all
-f xml PROGRAM|--format=xml: valid are table, json and csv
-r 0 PROGRAM|--runs=0: not a number from 1 on
-r x PROGRAM|--runs=x
-r -1 PROGRAM|--runs=-1
-r 3x PROGRAM|--runs=3x
--warmup 0 -- PROGRAM|--warmup=0: not a number from 1 on
-r 2 --compare PROGRAM|two programs are needed: A [ARG]... -- B [ARG]...
-r 2 --compare PROGRAM --|two programs are needed
--compare PROGRAM -- true|each program has to run several times: add -r 10
-r 2 -f csv --compare PROGRAM -- true|only with -f table or -f json
|usage:
END
    complains 2 '*empty*' "$atime" -c '' true
    APAPI_SOURCES=nonsense complains 2 "*unknown source 'nonsense'*" "$atime" true
}

@test "help and version" {
    prints 0 'usage:*PROGRAM*' "$atime" --help
    run --separate-stderr "$atime" -V
    [[ $status -eq 0 && $output =~ ^atime\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "a chosen order of sources" {
    needs_sim
    APAPI_SOURCES='' run -0 --separate-stderr sim -- "$atime" true # as if it were not set
    [[ $stderr == *'rapl (sysfs powercap)'* ]]
    APAPI_SOURCES=sysfs run --separate-stderr sim -- "$atime" sleep 0.2
    [[ $stderr == *'rapl (sysfs powercap)'* ]]
}

@test "the helper programs explain themselves when started by hand" {
    built=$build/core
    for program in sampler/apapi-sampler collect/apapi-collect; do
        tells 2 '*is started by spank_apapi.so*' "$built/$program" 3>&- 4>&-
        tells 0 "${program#*/} is started by spank_apapi.so*-h, --help, -V, --version" "$built/$program" --help
        tells 0 "${program#*/} [0-9]*" "$built/$program" -V
        tells 2 "${program#*/}: unknown option '--no-such'*" "$built/$program" --no-such
    done
}
