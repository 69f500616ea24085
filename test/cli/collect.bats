#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi-collect: what comes over its socket, from nodes and from everybody else.
# shellcheck disable=SC2016 # quoted scripts are for an inner shell
# shellcheck disable=SC2317 # the functions are called in an inner shell

load ../environment
load ../eventually
load host

setup_file() {
    export COLLECT=$built/collect/apapi-collect
}

teardown() {
    [[ ! -s $BATS_TEST_TMPDIR/holder ]] || kill "$(<"$BATS_TEST_TMPDIR/holder")" 2>/dev/null || true
}

# Send standard input as it is.
raw() {
    # the other side may close before it has everything
    { cat >"/dev/tcp/127.0.0.1/$PORT"; } 2>/dev/null || true
}

deliver() { # WORD NODE [NODELIST]: standard input is the payload
    local payload
    payload=$(cat; echo .)
    # at once, as nodes do: in a crowd, who says nothing is not waited for
    { printf '%s %s %s%s\n%s' "$TOKEN" "$1" "$2" "${3:+ $3}" "${payload%.}" >"/dev/tcp/127.0.0.1/$PORT"; } 2>/dev/null || true
}

node() { # NODE INDEX NODES [NODELIST]
    record "$1" "$2" "$3" | deliver record "$1" ${4:+"$4"}
}

# srun of a step of NODES nodes, to which SCRIPT happens; its names known to srun: NODELIST or "".
collect() { # NODES NODELIST SCRIPT
    export -f record raw deliver node
    run -0 --separate-stderr timeout 180 "$slurm_host" collect "$COLLECT" "$1" "$2" "${wait_ms:-100000}" bash -c "$3"
    echo "$output"
    echo "took $stderr ms"
}

fast() { # no waiting for anybody: the report came before the deadline
    ((stderr < ${wait_ms:-100000})) || {
        echo "took $stderr ms"
        return 1
    }
}

whole() { # NODES: all is there, nothing else is told
    [[ ${lines[0]} == 'apapi: step 7.0 "app"  '"$1"' nodes  10.0 s  rapl (sim)' ]]
    [[ $output == *"total     $1.000 kJ"* ]]
    [[ $output != *refused* && $output != *missing* ]]
}

# The report of a step has each text.
reports() { # NODES NODELIST SCRIPT TEXT...
    local text
    collect "${@:1:3}"
    for text in "${@:4}"; do
        [[ $output$'\n' == *"$text"* ]] || { echo "not: $text"; return 1; }
    done
}

@test "a report that nobody takes is no success: exit status 1" {
    export -f record raw deliver node
    GONE=1 prints 1 '' timeout 180 "$slurm_host" collect "$COLLECT" 2 "" 100000 bash -c 'node n1 0 2; node n2 1 2'
}

@test "connections without the token change nothing and are counted" {
    collect 2 "" 'node n1 0 2
        exec 9<>"/dev/tcp/127.0.0.1/$PORT"
        echo "GET / HTTP/1.0" >&9
        [[ -z $(cat <&9) ]] || echo answered
        : | raw
        head -c 300000 /dev/urandom | raw
        { printf "%s record n3\n" "${TOKEN/0/1}"; record n3 2 2; } | raw
        printf "%s" "${TOKEN:0:31}" | raw
        printf " %s record n3\n" "$TOKEN" | raw
        node n2 1 2'
    [[ ${lines[0]} == *"  2 nodes  10.0 s"* ]]
    [[ $output == *"total     2.000 kJ"* ]]
    [[ ${lines[-1]} == "  6 foreign connections refused" && $output != *answered* ]]
    fast
}

# Open connections that say nothing, and stay open when the script has ended.
hold_connections() { # COUNT
    printf '
        hold() {
            for ((i = 0; i < %d; i++)); do
                exec {fd}<>"/dev/tcp/127.0.0.1/$PORT"
            done
            echo ready
            exec sleep 600
        }
        exec 9< <(hold 3>&-)
        echo "$!" >%q
        read -r -u 9' "$1" "$BATS_TEST_TMPDIR/holder"
}

@test "3900 connections from many addresses of one machine, held: both nodes are in the table before these are given up" {
    ulimit -n 4096 || skip "not so many descriptors are allowed here"
    cat >"$BATS_TEST_TMPDIR/hold.py" <<'END'
import os, socket, time
held = []
for i in range(3900):
    held.append(socket.socket())
    held[-1].bind((f"127.1.{i // 250}.{i % 250 + 1}", 0))
    held[-1].connect(("127.0.0.1", int(os.environ["PORT"])))
print("ready", flush=True)
time.sleep(600)
END
    # those that wait in the queue would be given 0.3 s, 128 at a time: 9.1 s at least, on every machine
    wait_ms=9000 collect 2 "" "exec 9< <(exec python3 $BATS_TEST_TMPDIR/hold.py 3>&-)
        echo \$! >$BATS_TEST_TMPDIR/holder
        read -r -u 9
        node n1 0 2; node n2 1 2"
    [[ $output == *"total     2.000 kJ"* ]]
    [[ $output == *"foreign connections refused"* ]]
}

@test "with few descriptors it goes on when there are some again" {
    ulimit -Sn 128
    collect 2 "" "ulimit -Sn 1024; $(hold_connections 200); node n1 0 2; node n2 1 2"
    [[ $output == *"total     2.000 kJ"* ]]
    [[ $output == *"foreign connections refused"* ]]
    fast
}

@test "a record that is cut off, too long, damaged or of another node is told by its node" {
    reports 2 "" 'node n1 0 2; record n2 1 2 | head -c 200 | deliver record n2' \
        '  2 nodes, 1 missing  ' '  n2: no record (unreadable record: line 1, ' $'\n  1 damaged record\n'
    fast
    reports 2 "" 'node n1 0 2; record n3 1 2 | deliver record n2' '  n2: no record (its record is of another node)'
    reports 1 "" 'printf "%s\n" "$TOKEN" | raw; printf "%s record n1" "$TOKEN" | raw
        printf "%s frobnicate n1\n" "$TOKEN" | raw; node n1 0 1' 'total     1.000 kJ' $'\n  3 damaged records\n'
    reports 2 "" 'node n1 0 2; { record n2 1 2; head -c 1200000 /dev/zero | tr "\0" " "; } | deliver record n2' \
        '  n2: no record (its record was cut off)'
    fast
    collect 2 "" 'node n1 0 2; { record n2 1 2; head -c 600000 /dev/zero | tr "\0" " "; } | deliver record n2'
    whole 2
    fast
}

@test "a second record of a node, and nodes that the step does not have, are not counted" {
    reports 2 "" 'node n1 0 2; node n1 0 2; echo no | deliver absent n1; node n2 1 2' 'total     2.000 kJ' $'\n  2 records came twice\n'
    reports 2 "" 'node n1 0 2; node n2 1 2; node n3 2 2; echo no | deliver absent n4' \
        '  2 nodes  ' 'total     2.000 kJ' $'\n  2 records of unexpected nodes\n'
}

@test "a node whose record does not come is named after the deadline, not before, by any list of nodes" {
    wait_ms=3000
    reports 3 "n[1-3]" 'node n2 1 3' '  3 nodes, 2 missing  ' '  n[1,3]: no record (it did not answer in time)'
    ((stderr >= 3000))
    reports 4 "" 'node n2 1 4 "n[1-3],x7"' '  n[1,3],x7: no record (it did not answer in time)'
    # of another component of a heterogeneous job
    reports 2 "" 'node a1 0 2 "a[1-2]"; node b2 1 2 "b[1-2]"' '  4 nodes, 2 missing  ' '  a2,b1: no record (it did not answer in time)'
    # lists that are none
    reports 2 "" 'node n1 0 2 "n[1-"; node n2 1 2 "n[1-99999999]"' '  2 nodes  ' 'total     2.000 kJ'
    wait_ms=300
    collect 3 "" true
    [[ $output == 'apapi: step 7.0 "app"  3 nodes, 3 missing' ]]
}

@test "a node that has no record says why; nodes that have nothing to say make no report" {
    reports 3 "" 'node n1 0 3; for n in n2 n3; do printf "no\e[31mmeter" | deliver absent "$n"; done' '  n[2-3]: no record (no?[31mmeter)'
    collect 2 "" 'for n in n1 n2; do deliver absent "$n" </dev/null; done'
    [ -z "$output" ]
}

@test "hundreds of nodes at once" {
    # a node that was stopped between its first and its second word was refused, and told so: then again
    for _ in {1..5}; do
        collect 300 "" 'for i in {1..300}; do node "n$i" "$i" 300 & done; wait'
        [[ $output == *"foreign connections refused"* ]] || break
    done
    [[ ${lines[0]} == *"  300 nodes  10.0 s"* ]]
    [[ $output == *"total     300.0 kJ"* ]]
    [[ $output == *"  lowest n1 1.000 kJ   highest n1 1.000 kJ   mean 1.000 kJ, sd 0 %"* ]]
}

@test "srun that has gone: it ends, and leaves nobody waiting" {
    local name=$BATS_TEST_TMPDIR/apapi-collect # of this one
    ln -s "$COLLECT" "$name"
    run -0 timeout 180 "$slurm_host" collect "$name" 1 "" 100 pgrep -x -f "$name"
    run -1 timeout 180 "$slurm_host" collect "$name" 1 "" 1000 false
    is_gone() { ! pgrep -x -f "$name" >/dev/null; }
    eventually is_gone
}
