#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# srun --apapi-overflow in a real Slurm: who gets signals, and whose rights commands have.

load common

setup_file() {
    start_simulated_cluster --extra 'KillWait=1'
}

# A program in $work that counts SIGUSR1 in count-N, N: of its task, until there is a file `enough`.
make_counting() {
    make_work
    alice_sh 'cat >counting; chmod +x counting' <<'END'
#!/bin/sh
n=0
echo 0 >"count-$SLURM_PROCID"
trap 'n=$((n + 1)); echo "$n" >"count-$SLURM_PROCID"' USR1
until [ -e enough ]; do sleep 0.05; done
echo "output of the program"
exit 3
END
}

# A step of alice's in $work, in the background.
begin_step() { # ARGUMENTS OF srun
    as_alice env -C "$work" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    step=$!
}

# A test that failed leaves no step.
teardown() {
    [[ -z ${work:-} || ! -d $work ]] || as_alice touch "$work/enough"
    cluster run scancel -u alice || true
    eventually eval '[[ -z $(cluster run squeue -h) ]]'
}

end_counting() {
    as_alice touch "$work/enough"
    status=0
    wait "$step" || status=$?
    output=$(<"$BATS_TEST_TMPDIR/out")
    cat "$BATS_TEST_TMPDIR/err"
    records n1 | tail -n 1 | jq -c .crossings
}

@test "each task gets the signal once; exit status and output stay the program's" {
    make_counting
    begin_step srun -N1 -w n1 -n2 --apapi --apapi-overflow='total >= 300J : log, signal=USR1' ./counting
    eventually grep -q 'apapi: n1: total >= 300J crossed at .* with 300.*J' "$BATS_TEST_TMPDIR/err"
    eventually grep -q 1 "$work/count-0"
    eventually grep -q 1 "$work/count-1"
    end_counting
    [[ $status -eq 3 && $output == $'output of the program\noutput of the program' ]]
    [[ $(cat "$work/count-0" "$work/count-1") == $'1\n1' ]]
    grep -q 'total >= 300J: crossed (at .*; SIGUSR1: to 2 processes)' "$BATS_TEST_TMPDIR/err"
    holds "$(last_record n1)" '.crossings | length == 1 and .[0].threshold == "total >= 300J" and .[0].count == 1 and
        .[0].action == "log, signal=USR1" and .[0].result == "SIGUSR1: to 2 processes"'
}

@test "with @step, the processes that a task has started get it, and nobody else does" {
    make_counting
    as_alice sh -c "trap 'touch $work/bystander' USR1; until [ -e $work/enough ]; do sleep 0.1; done" 3>&- &
    local bystander=$!
    begin_step srun -N1 -w n1 --apapi --apapi-overflow='total >= 300J : signal=USR1@step' sh -c './counting; exit $?'
    eventually grep -q 1 "$work/count-0"
    end_counting
    wait "$bystander"
    [[ $(<"$work/count-0") == 1 && ! -e $work/bystander ]]
    holds "$(last_record n1)" '.crossings[0].result | test("^SIGUSR1: to [23] processes$")'
}

@test "a command has the user's identity, and the environment, limits and folder of the task; nothing of root's" {
    make_counting
    alice_sh 'cat >command; chmod +x command' <<'END'
#!/bin/sh
id >who; pwd >where; umask >mask
tr '\0' '\n' <"/proc/$$/environ" | grep -v -e '^APAPI_OVERFLOW_' -e '^PWD=' -e '^OLDPWD=' -e '^_=' | sort >environment
env | grep '^APAPI_OVERFLOW_' | sort >variables
grep -e '^Cap' -e '^NoNewPrivs' -e '^Cpus_allowed:' /proc/self/status >rights
cat /proc/self/limits >limits
cat /proc/self/cgroup >groups
for fd in /proc/$$/fd/*; do readlink "$fd"; done | sort -u >descriptors
sudo -n true 2>/dev/null || true
kill -0 "$(cat /proc/$PPID/status | sed -n 's/^PPid:\t//p')" 2>/dev/null && echo yes >reached
touch done
END
    # the same of a task
    alice_sh "sed -e 's/ >\([a-z]\)/ >task-\1/g' -e '/done/d' -e '/reached/d' -e '/PPID/d' command >as-task; chmod +x as-task"
    begin_step srun -N1 -w n1 --export=ALL,MARK=17 --apapi --apapi-overflow='total >= 300J : exec=./command' \
        sh -c 'umask 027; ./as-task; exec ./counting'
    eventually test -e "$work/done"
    end_counting
    [[ $status -eq 3 ]]
    for file in who where mask rights limits; do
        echo "$file"
        diff "$work/task-$file" "$work/$file"
    done
    grep -q '^uid=.*(alice)' "$work/who"
    grep -qx 'MARK=17' "$work/environment"
    diff "$work/task-environment" "$work/environment"
    [[ $(<"$work/descriptors") == /dev/null || $(grep -v -e '^/dev/null$' -e "$work/" "$work/descriptors") == '' ]]
    [[ ! -e $work/reached ]]
    grep -qx 'APAPI_OVERFLOW_THRESHOLD=total >= 300J' "$work/variables"
    grep -qx 'APAPI_OVERFLOW_NODE=n1' "$work/variables"
    [[ $(wc -l <"$work/variables") -eq 7 ]]
    holds "$(last_record n1)" '.crossings[0].result == "exec: exit status 0"'
}

@test "a command beside a set-uid program has the limits of the task, too" {
    make_work
    cp /bin/sleep "$work/privileged"
    chown root "$work/privileged"
    chmod 4755 "$work/privileged"
    begin_step srun -N1 -w n1 --apapi \
        --apapi-overflow="total >= 300J : exec=cd $work; ulimit -n >limits; ulimit -Hl >>limits; touch done" \
        sh -c 'ulimit -n 100; ulimit -l 64; exec ./privileged 1000'
    eventually test -e "$work/done"
    cluster run scancel -u alice
    wait "$step" || true
    [[ $(<"$work/limits") == $'100\n64' ]]
}

@test "all texts of an option reach the nodes, and a script's steps; its own replace them" {
    make_work
    local count
    count=$(($(records n1 | wc -l) + 2)) # two steps, and then the batch step
    alice_sh "cat >job" <<'END'
#!/bin/sh
srun sleep 0.5
srun --apapi-overflow='total >= 3J : stamp' sleep 0.5
END
    alice_sh "sbatch_wait -N1 -w n1 --apapi --apapi-overflow='total >= 1J : stamp' --apapi-overflow='dram >= 1J : stamp' job"
    eventually has_more_records n1 "$count"
    records n1 | tail -n 3 | jq -c '[.step, [.crossings[].threshold]]'
    holds "$(records n1 | tail -n 3 | jq -s .)" 'map({key: .step, value: [.crossings[].threshold] | sort}) | from_entries ==
        {"0": ["dram >= 1J", "total >= 1J"], "1": ["total >= 3J"], "batch": ["dram >= 1J", "total >= 1J"]}'
}

@test "mistakes are marked at the prompt" {
    local command
    for command in "srun hostname" "sbatch --wrap=hostname" "salloc hostname"; do
        # shellcheck disable=SC2086 # two words
        run as_alice ${command%% *} --apapi-overflow='total >=5parsecs' ${command#* }
        [[ $status -ne 0 && $output == *"apapi: --apapi-overflow: unknown unit 'parsecs': J, mJ"* ]]
        [[ $output == *$'apapi:   total >=5parsecs\n'*'apapi:            ^'* ]]
    done
    complains 255 '*this threshold is there already*' as_alice srun --apapi-overflow='total >= 5J' --apapi-overflow='total >= 5 J : term' true
    complains 255 '*apapi: --apapi-overflow: the threshold is empty*' as_alice srun --apapi-overflow= true
    tells 0 '' as_alice SLURM_APAPI_OVERFLOW=' ' srun --apapi=rapl --apapi-format=none true
    complains 255 "*unknown component 'foo'*" as_alice srun --apapi-overflow='foo:::X >= 5' true
    complains 255 '*this event is of energy: J, mJ*> 60C*' as_alice srun --apapi-overflow='rapl:::PACKAGE_ENERGY:PACKAGE0 > 60C' true
}

@test "an event that a node does not have is reported, and the step is measured" {
    run as_alice srun -N1 -w n1 --apapi --apapi-overflow='rapl:::NO_SUCH_EVENT >= 5J' --apapi-overflow='total >= 1J : stamp' \
        sh -c 'sleep 0.3; exit 4'
    [[ $status -eq 4 && $output == *"apapi: --apapi-overflow on n1: this session measures no such event"*"('rapl:::NO_SUCH_EVENT >= 5J')"* ]]
    holds "$(last_record n1)" '.complete and .crossings[0].threshold == "total >= 1J"'
}
