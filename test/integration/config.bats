#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Settings of a site in apapi.conf and in plugstack.conf.

load common

setup_file() {
    start_simulated_cluster --extra 'PartitionName=debug Nodes=ALL MaxTime=INFINITE State=UP'
    script=$APAPI_CLUSTER_DIR/home/alice/job.sh
    printf '#!/bin/sh\nhostname\n' >"$script"
    chmod 755 "$script"
}

setup() {
    common_setup
    conf=$APAPI_CLUSTER_DIR/apapi.conf
    script=$APAPI_CLUSTER_DIR/home/alice/job.sh
    rm -f "$conf"
}

# apapi.conf, and plugstack.conf with the words after it.
configure() { # TEXT [WORD...]
    echo "$1" >"$conf"
    chmod 644 "$conf"
    plugstack "config=$conf" "${@:2}"
}

interval_ms() { # NODE
    last_record "$1" | jq '.components[0].interval_s * 1000 | round'
}

@test "the file is read; plugstack.conf wins over it" {
    configure $'default = rapl\ninterval = 50ms'
    tells 0 '*apapi: step*package*' as_alice srun -N1 -w n1 sleep 0.3
    [[ $(interval_ms n1) == 50 ]]
    configure $'default = rapl\ninterval = 50ms' interval=20ms
    as_alice srun -N1 -w n1 sleep 0.3
    [[ $(interval_ms n1) == 20 ]]
}

@test "a bad line: file and line in the log, its key's default instead, the job unaffected" {
    for line in 'interval = fast' '[impi]'$'\n''x = 3'; do
        clear_logs
        configure "# one"$'\n'"default = rapl"$'\n'"$line"
        tells 0 '*apapi: step*package*' as_alice srun -N1 -w n1 sleep 0.2
        errors=$(log_errors)
        echo "$errors"
        [[ $(wc -l <<<"$errors") -eq 1 && $errors == *"apapi: $conf:"[34]": "* ]]
    done
    expected_errors='apapi: '
}

@test "a file that others can write is no word of the site's" {
    configure 'default = rapl'
    chmod 666 "$conf"
    tells 0 '' as_alice srun -N1 -w n1 sleep 0.2
    [[ $(log_errors) == *"$conf: ignored: others can write it"* ]]
    expected_errors='apapi: '
}

@test "min_interval: refused at the prompt, root is exempt" {
    configure 'min_interval = 50ms'
    for command in 'srun -N1' sbatch salloc; do
        # shellcheck disable=SC2086 # words
        run as_alice $command --apapi=rapl --apapi-interval=rapl:20ms "$script"
        [[ $status -ne 0 && $output == *'--apapi-interval: 20ms for rapl is faster than this site allows: at least 50ms'* ]]
    done
    run as_alice srun -N1 -w n1 --apapi=rapl --apapi-interval=1s sleep 0.2
    [[ $status -eq 0 && $(interval_ms n1) == 1000 ]]
    run cluster run srun -N1 -w n1 --apapi=rapl --apapi-interval=20ms sleep 0.2
    [[ $status -eq 0 && $(interval_ms n1) == 20 ]]
}

@test "min_interval: the node does not believe the prompt" {
    configure 'min_interval = 50ms'
    # as a plugin of the user's own making would: the option's value goes to the node unchecked
    as_alice env _SLURM_SPANK_OPTION_apapi_apapi_interval=1ms sh -c 'srun -N1 -w n1 --apapi=rapl sleep 0.3'
    interval=$(interval_ms n1)
    echo "$interval"
    [[ $interval == 50 ]]
}

@test "measured silently; the report for those who ask" {
    configure $'default = rapl\noutput = none'
    before=$(records n1 | wc -l)
    tells 0 '' as_alice srun -N1 -w n1 sleep 0.2
    eventually records_are n1 $((before + 1))
    tells 0 '*apapi: step*package*' as_alice srun -N1 -w n1 --apapi sleep 0.2
    tells 0 '*apapi: step*package*' as_alice SLURM_APAPI= srun -N1 -w n1 sleep 0.2
    tells 0 '' as_alice SLURM_APAPI_FORMAT=json srun -N1 -w n1 sleep 0.2 # how, not whether
    tells 0 '' as_alice srun -N1 -w n1 --apapi=off sleep 0.2
    eventually records_are n1 $((before + 4))
    run submit 'srun sleep 0.2; echo done' -N1 -w n1
    [[ $output == *done && $output != *apapi* ]]
    configure $'default = rapl\nformat = none'
    tells 0 '' as_alice srun -N1 -w n1 sleep 0.2
    tells 0 '*apapi: step*package*' as_alice srun -N1 -w n1 --apapi sleep 0.2
}

@test "allow_users: others are refused, and measured as the site wants" {
    configure "allow_users = $(cluster run id -u bob), carol"
    for command in 'srun -N1' sbatch salloc; do
        # shellcheck disable=SC2086 # words
        fails '*lets only certain users ask*' as_alice $command --apapi=rapl "$script"
    done
    # what stands in his shell's files ends nothing
    tells 0 '*: apapi: SLURM_APAPI is ignored: *certain users*' as_alice SLURM_APAPI=rapl srun -N1 "$script"
    [[ $output != *package* ]]
    tells 0 '' as_alice srun -N1 --apapi=off true
    tells 0 '*package*' cluster run --user bob srun -N1 --apapi=rapl sleep 0.2
    tells 0 '*package*' cluster run srun -N1 --apapi=rapl sleep 0.2
    # the node's own word
    before=$(records n1 | wc -l)
    as_alice _SLURM_SPANK_OPTION_apapi_apapi=rapl srun -N1 -w n1 true
    [[ $(records n1 | wc -l) -eq $before ]]
    configure $'allow_users = bob\ndefault=rapl'
    tells 0 '' cluster run --user bob srun -N1 -w n1 --apapi=off true
    fails '*lets only certain users ask*' as_alice srun -N1 -w n1 --apapi=off true
    tells 0 '*SLURM_APAPI is ignored: *certain users*package*' as_alice SLURM_APAPI=off srun -N1 -w n1 sleep 0.2
    as_alice _SLURM_SPANK_OPTION_apapi_apapi=off srun -N1 -w n1 true
    eventually records_are n1 $((before + 2))
}

@test "what a site changes after a job was submitted fails none of its sruns" {
    configure ''
    out=$APAPI_CLUSTER_DIR/home/alice/changed.out
    job=$(as_alice sbatch --parsable -H -N1 -w n1 -o "$out" --apapi=rapl:sde --apapi-interval=20ms --wrap \
        'srun sh -c "echo ran; exit 3"; echo "rc=$?"; APAPI_EVENTLIST=/none srun sh -c "exit 4"; echo "rc=$?"; srun --apapi-interval=20ms true || echo refused')
    configure $'allow_users = bob\nmin_interval = 1s'
    cluster run scontrol release "$job"
    eventually grep -q refused "$out"
    cat "$out"
    grep -qx ran "$out"
    grep -qx rc=3 "$out"
    grep -qx rc=4 "$out"
    grep -q 'apapi: --apapi of the job: this site lets only certain users' "$out"
    grep -q 'apapi: --apapi-interval of the job: 20ms is faster' "$out"
    [[ $(records n1 | jq -c "select(.job == $job)") == '' ]]
    configure ''
    out+=.2
    as_alice sbatch -N1 -w n1 -o "$out" --apapi=rapl --apapi-budget=9kJ --apapi-overflow='total >= 5J : log' --wrap \
        'env -u SLURM_APAPI_OVERFLOW srun sleep 0.3; srun --apapi-budget=many true || echo refused; APAPI_EVENTLIST=/none srun sh -c "exit 4"; echo "rc=$?"'
    eventually grep -q '^  measured' "$out"
    cat "$out"
    grep -qx rc=4 "$out"
    grep -q 'apapi: --apapi of the job: /none: No such file' "$out"
    grep -q package "$out"
    grep -q 'total >= 5J crossed at' "$out" # the job's own, without the variable
    grep -qx refused "$out"
}

@test "deny_partitions: one line to those who ask, none to others" {
    configure $'deny_partitions = debug\ndefault=rapl'
    before=$(records n1 | wc -l)
    tells 0 '' as_alice srun -p debug -N1 -w n1 sleep 0.2
    tells 0 '*this site measures nothing in partition debug*' as_alice srun -p debug -N1 -w n1 --apapi sleep 0.2
    [[ $(records n1 | wc -l) -eq $before ]]
    tells 0 '*package*' as_alice srun -N1 -w n1 sleep 0.2
}

@test "enabled = no: every option is taken, nothing is measured, no line is printed" {
    configure $'enabled = no\ndefault = rapl\nallow_users = bob'
    before=$(records n1 | wc -l)
    for options in --apapi=rapl '--apapi=no_such_component --apapi-interval=1ns --apapi-format=xml --apapi-trace=t'; do
        run as_alice sh -c "srun -N1 -w n1 $options sh -c 'exit 3'"
        echo "$options: $output"
        [[ $status -eq 3 && $output == *'srun: error: '*'Exited with exit code 3'* && $output != *apapi* ]]
        # shellcheck disable=SC2086 # words
        run submit 'srun --apapi true; echo done' -N1 -w n1 $options
        [[ $output == "done" ]]
    done
    tells 0 '' as_alice SLURM_APAPI=nonsense SLURM_APAPI_INTERVAL=x srun -N1 -w n1 true
    run as_alice salloc -N1 --apapi=rapl srun true
    [[ $status -eq 0 && $output != *apapi:* ]]
    [[ $(records n1 | wc -l) -eq $before ]]
}

@test "enabled by partition: one is silent, the others are measured" {
    configure $'enabled = yes:debug:no\ndefault = rapl'
    before=$(records n1 | wc -l)
    tells 0 '' as_alice srun -p debug -N1 -w n1 --apapi sleep 0.2
    run submit 'srun true; echo done' -p debug -N1 -w n1 --apapi
    [[ $output == "done" && $(records n1 | wc -l) -eq $before ]]
    tells 0 '*package*' as_alice srun -N1 -w n1 sleep 0.2
}

@test "a literal installation keeps its records: apapi report shows the step of the installed plugstack.conf" {
    tree=$APAPI_CLUSTER_DIR/tree
    cmake --install "$repository/build/release" --prefix "$tree" >/dev/null
    rm -r "${tree:?}/var" # as on a node that shares the programs only
    sed '/^optional/s/$/ start_timeout=1m stop_timeout=1m/' "$tree/etc/apapi/plugstack.conf" \
        >"$APAPI_CLUSTER_DIR/etc/plugstack.conf"
    run as_alice srun -N1 -w n1 --apapi=rapl sleep 0.3
    [[ $status -eq 0 && $output == *package* && $output != *'not written'* ]]
    run -0 "$tree/bin/apapi" report --format=user,nodes
    [[ ${#lines[@]} -eq 2 && ${lines[1]} == *alice*1* ]]
    [[ $(stat -c %U:%a "$tree/var/log/apapi") == root:700 ]]
}

@test "a wrong word in SLURM_APAPI... is said, and the program runs" {
    configure ''
    for words in SLURM_APAPI=rpl SLURM_APAPI_INTERVAL=fast "SLURM_APAPI=rapl APAPI_EVENTLIST=/nowhere" \
        "SLURM_APAPI=$(head -c 5000 /dev/zero | tr '\0' x)"; do
        # shellcheck disable=SC2086 # words
        run as_alice $words srun -N1 -w n1 sh -c 'exit 3'
        echo "$words: $output"
        [[ $status -eq 3 && $output == *"srun: apapi: ${words%%=*} is ignored: "* && $output != *package* && $output != *'not measured'* ]]
    done
    # what is said on the command line counts all the same, and is refused if it is wrong
    tells 0 '*is ignored: *package*' as_alice SLURM_APAPI_INTERVAL=fast srun -N1 -w n1 --apapi=rapl sleep 0.2
    tells 0 '*package*' as_alice SLURM_APAPI=rpl srun -N1 -w n1 --apapi=rapl sleep 0.2
    fails "*'rpl'*" as_alice SLURM_APAPI=rapl srun -N1 -w n1 --apapi=rpl sleep 0.2
}

@test "sampler_cpu and sampler_nice: where it can, and no error where not" {
    configure $'sampler_cpu = 0\nsampler_nice = 7'
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    run cluster on n1 sh -c 'pid=$(pgrep -x apapi-sampler); taskset -cp $pid; ps -o ni= -p $pid'
    [[ $output == *': 0'$'\n'*7 ]]
    end_held_step
    configure $'sampler_cpu = 1000'
    tells 0 '*package*' as_alice srun -N1 -w n1 --apapi=rapl sleep 0.2
}

@test "sections reach the sources on the nodes; an estimate is marked, for all nodes and in each record" {
    configure $'[estimate]\nidle_w = 60\ncore_w = 8'
    complains 0 '*estimate (/proc/stat: 60 W + 8 W per busy core)*' as_alice srun -N2 --apapi=estimate sleep 1
    [[ $(grep -c '(estimated)' <<<"$stderr") -eq 2 ]]
    run ! grep -qE '^  (domain|total) ' <<<"$stderr"
    for node in n1 n2; do
        holds "$(last_record $node)" '(.components[0] | .common.energy as $common | .events | all($common + . | .estimated)) and .domains == {} and (has("total") | not)'
    done
    # not from a user's environment
    configure ''
    run --separate-stderr as_alice APAPI_ESTIMATE_IDLE_W=60 APAPI_ESTIMATE_CORE_W=8 srun -N2 --apapi=estimate sh -c 'exit 3'
    [[ $status -eq 3 && $stderr == *'estimate: not measured (idle_w and core_w are not set'* && $stderr != *' J'* ]]
}

@test "enabled = no on one of the nodes: it says so, and no srun waits for it" {
    install -m 644 /dev/stdin "$conf.off" <<<'enabled = no'
    configure 'stop_timeout = 10s'
    cluster on n2 mount --bind "$conf.off" "$conf"
    tells 3 '*package*n2: no record (this site measures nothing on this node)*' as_alice srun -N2 --apapi=rapl --apapi-overflow='total >= 1MJ' \
        sh -c 'env | grep ^SLURM_APAPI_ && exit 4; sleep 0.2; exit 3' # jobs that a task submits are others
    configure $'stop_timeout = 10s\ndefault = rapl'
    tells 0 '*package*n2: no record (this site measures nothing*' as_alice srun -N2 sleep 0.2
    cluster on n2 umount "$conf"
}
