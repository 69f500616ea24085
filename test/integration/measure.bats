#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Measured steps: right numbers, one table, the program unchanged.

load common

@test "a step on 2 nodes, four tasks on each: each domain has power x duration" {
    prints 0 '' cluster run srun -N2 --ntasks-per-node=4 --apapi=rapl sleep 2
    for node in n1 n2; do
        record=$(last_record $node)
        right_energy "$record"
        holds "$record" '.elapsed_s >= 1.99 and not_covered_s <= slack_s + 0.01 * .elapsed_s'
        read_at_least "$record" 19
        holds "$record" '.nodes == 2 and .nodelist == "n[1-2]" and .tasks == 4'
    done
    # the merged table: both nodes' energy, with the digits that are known
    echo "$stderr"
    both=$({ last_record n1; last_record n2; } | jq -s -r '[(map(.domains.package.energy_j) | add), (map(.total.energy_j) | add)] | @tsv')
    awk -v both="$both" 'function j() { return $2 * ($3 == "kJ" ? 1000 : 1) }
        $1 == "package" { package = j() }
        $1 == "total" { total = j() }
        END { split(both, sum); exit !(package / sum[1] > 0.98 && package / sum[1] < 1.02 &&
                                       total / sum[2] > 0.98 && total / sum[2] < 1.02) }' <<<"$stderr"
    [[ $(grep -c '^apapi: step' <<<"$stderr") -eq 1 ]]
    [[ $stderr == *'"sleep"  2 nodes'*'rapl (sysfs powercap)'* ]]
    [[ $stderr =~ n1\ [0-9.]+\ J(\ ±[0-9.]+\ %)?\ \ \ n2\ [0-9.]+\ J ]]
    [[ $(wc -L <<<"$stderr") -le 80 ]]
}

@test "standard output is the same to the byte, with and without" {
    # Slurm itself now and then loses the end of much output of a step that ends at once: so none does.
    # two nodes' lines come in any order
    as_alice srun -N2 --apapi=off sh -c 'seq 1 20000; sleep 0.5' | sort >"$BATS_TEST_TMPDIR/without"
    as_alice srun -N2 --apapi=rapl sh -c 'seq 1 20000; sleep 0.5' | sort | cmp - "$BATS_TEST_TMPDIR/without"
    program='seq 1 20000; printf "no newline"; printf "\0\1\377"; sleep 0.5'
    as_alice srun -N1 --apapi=off sh -c "$program" >"$BATS_TEST_TMPDIR/without"
    as_alice srun -N1 --apapi=rapl sh -c "$program" >"$BATS_TEST_TMPDIR/with"
    cmp "$BATS_TEST_TMPDIR/with" "$BATS_TEST_TMPDIR/without"
    [[ -s $BATS_TEST_TMPDIR/with ]]
}

step() { as_alice srun -N1 "$2" sh -c "$1"; } # PROGRAM OPTION

@test "exit status of srun and of sbatch: 0, 3, killed by signal 9" {
    for caller in step submit; do
        for program in 'exit 0' 'exit 3' 'kill -9 $$'; do
            run "$caller" "$program" --apapi=off
            without=$status
            run "$caller" "$program" --apapi=rapl
            echo "$caller $program: $without $status"
            [[ $status -eq $without ]]
        done
        [[ $status -eq 137 || ($caller == submit && $status -ne 0) ]]
    done
}

@test "nothing is measured or printed where nobody asked" {
    count=$(records n1 | wc -l)
    tells 0 '' as_alice srun -N2 true
    [[ $(records n1 | wc -l) -eq $count ]]
}

@test "the record ends with the last task, not with the first" {
    as_alice srun -N1 -n2 --apapi=rapl sh -c 'sleep $SLURM_PROCID.5'
    holds "$(last_record n1)" '.elapsed_s > 1.4'
}

@test "the sampler is a process apart: no task, no child, no signal, no descriptor" {
    begin_step -N1 -w n1 --apapi=rapl sleep 1000
    begun_on n1 sleep
    pid=$(helpers_on n1)
    tasks=$(cluster on n1 pgrep -x sleep -u alice)
    [[ $(cluster on n1 ps -o ppid= -p "$pid" | tr -d ' ') == 1 ]]
    [[ $(cluster on n1 ps -o sid= -p "$pid") != $(cluster on n1 ps -o sid= -p "$tasks") ]]
    [[ " $(cluster on n1 scontrol listpids | awk '{ print $1 }' | tr '\n' ' ') " != *" $pid "* ]]
    # standard descriptors are the null device, all others are closed on exec
    for fd in $(cluster on n1 ls "/proc/$pid/fd"); do
        if ((fd < 3)); then
            [[ $(cluster on n1 readlink "/proc/$pid/fd/$fd") == /dev/null ]]
        else
            flags=$(cluster on n1 awk '$1 == "flags:" { print $2 }' "/proc/$pid/fdinfo/$fd")
            ((flags & 02000000))
        fi
    done
    # a signal for the whole step does not reach it
    as_alice scancel --signal=CONT --full -u alice
    as_alice scancel --signal=TERM -u alice
    end_step
    eventually no_helpers
    holds "$(last_record n1)" '.complete'
}

@test "a step that has a part of a node says so, and its job; one that has all of it does not" {
    run as_alice srun -N1 -w n1 --apapi=rapl sleep 0.3
    [[ $output == *"  1 of 8 cores; the energy is that of the whole node"* ]]
    run as_alice srun -N1 -w n1 -n8 --apapi=rapl sleep 0.3
    [[ $output == *package* && $output != *" cores; "* ]]
    make_work
    alice_sh "sbatch_wait -N1 -w n1 -n2 -o out --apapi=rapl --wrap 'sleep 0.3'"
    cat "$work/out"
    [[ $(<"$work/out") == *"  2 of 8 cores; the energy is that of the whole node"* ]]
}
