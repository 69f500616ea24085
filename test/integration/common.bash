# SPDX-License-Identifier: BSD-3-Clause
# For the tests that measure steps in a real Slurm: a cluster for each file, and what is looked at after
# each test. A loaded machine may do everything late: tests wait for what they need to see, and compare
# with what the record says of itself.
# shellcheck disable=SC2034 # used by the tests

# shellcheck source-path=SCRIPTDIR source=environment.bash
. "$(dirname "${BASH_SOURCE[0]}")/environment.bash"
# shellcheck source-path=SCRIPTDIR source=../records.bash
. "$tests/../records.bash"
# shellcheck source-path=SCRIPTDIR source=steps.bash
. "$tests/steps.bash"

install=$repository/${APAPI_TEST_INSTALL:-build/install}
plugin=$install/lib/slurm/spank_apapi.so
libexec=$install/libexec/apapi

# Start the file's cluster: 2 nodes, each with 2 packages of 100 W and 20 W DRAM.
start_cluster() { # [ARGUMENTS OF scripts/cluster start]
    export APAPI_CLUSTER_DIR=${cluster_folder:-$BATS_FILE_TMPDIR}/cluster
    export APAPI_ACCT_DIR=$APAPI_CLUSTER_DIR/acct # what the nodes see is what this shell sees
    export APAPI_SPOOL_DIR=$APAPI_CLUSTER_DIR/apapi-spool
    local log=$BATS_FILE_TMPDIR/start.log status=0
    plugstack_line >"$BATS_FILE_TMPDIR/plugstack.conf"
    cluster start --nodes 2 --plugstack "$BATS_FILE_TMPDIR/plugstack.conf" "$@" >"$log" 2>&1 ||
        status=$?
    cat "$log"
    [[ $status -ne 125 ]] || skip_all "$(tail -n 1 "$log")"
    [[ $status -eq 0 || $status -eq 125 ]]
}

start_simulated_cluster() {
    start_cluster --sim "--packages 2 --package-w 100 --dram-w 20" "$@"
}

# Of a file that does not say otherwise.
setup_file() { start_simulated_cluster; }

# With steps that are tracked by control groups.
start_cgroup_cluster() { # [LINES OF slurm.conf]
    start_simulated_cluster --extra "${1:-}ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\nJobAcctGatherType=jobacct_gather/cgroup"
}

# The plugin's line in plugstack.conf. It waits for a sampler that is late, so that no record is missing or
# begins late; tests of these times, and of nodes that never answer, set their own. $plugstack_words: what a
# file adds to each line.
plugstack_line() { # WORDS...
    local words="${plugstack_words:-} $*" word
    for word in "acct_dir=$APAPI_ACCT_DIR" "spool_dir=$APAPI_SPOOL_DIR" start_timeout=1m stop_timeout=1m; do
        [[ " $words" == *" ${word%%=*}="* ]] || words+=" $word"
    done
    echo "optional $plugin $words"
}

# For the steps from now on.
plugstack() { # WORDS...
    plugstack_line "$@" >"$APAPI_CLUSTER_DIR/etc/plugstack.conf"
}

# Node samplers, as slurmd's energy plugin starts them, with LINES in apapi.conf.
start_node_sampler() { # LINES NODE...
    local node conf=$APAPI_CLUSTER_DIR/node.conf
    printf 'acct_dir = %s\nspool_dir = %s\n%s\n' "$APAPI_ACCT_DIR" "$APAPI_SPOOL_DIR" "$1" >"$conf"
    plugstack "config=$conf"
    mkdir -p "$APAPI_SPOOL_DIR"
    for node in "${@:2}"; do
        cluster on "$node" sh -c 'exec setsid "$0" --node "$1" "$2" >/dev/null 2>&1 &' "$libexec/apapi-sampler" "$node" "$conf"
        eventually cluster on "$node" test -s "/run/apapi/$node/shares"
    done
}

# To a program that the nodes see.
compile() { # COMPILER SOURCE PROGRAM WORDS...
    "$1" -Wall -Wextra -Werror -I "$install/include" "$2" -o "$APAPI_CLUSTER_DIR/$3" "${@:4}" -L "$install/lib" -lapapi \
        "-Wl,-rpath,$install/lib"
}

# Make an empty folder of alice's, $work.
make_work() {
    work=$APAPI_CLUSTER_DIR/home/alice/work
    rm -rf "$work"
    cluster run --user alice mkdir "$work"
}

# One shell command of alice's in that folder. There, sbatch_wait is `sbatch --wait`.
alice_sh() { as_alice sh -c "sbatch_wait() ( $(<"$tests/sbatch_wait.sh"); ); cd '$work' && $1"; }

# The accounting lines of a node, all days.
records() { # NODE
    find "$APAPI_ACCT_DIR" -name "$1.jsonl" -print0 | sort -z | xargs -0r cat 2>/dev/null # by day
}
# A record may be written when srun has ended already.
records_are() { [[ $(records "$1" | wc -l) -eq $2 ]]; } # NODE COUNT

last_record() { # NODE
    records "$1" | tail -n 1
}

# For expressions about a record. How far it may be from what the simulated meters say: they are exact, but
# between a meter and the clock the machine may take the CPU away; how long it does, the longest period shows.
# near() is of energies between `start` and `end`, near_w() of mean powers.
jq_helpers='
    def late_reading_s: [.components[]? | select(.source) | (.period_longest_s // 0) - (.interval_s // 0)] | max // 0 | [., 0] | max;
    def not_covered_s: .elapsed_s - (.trust.covered // 0) * (.late_s + .elapsed_s) | [., 0] | max;
    def slack_s: 0.05 + late_reading_s;
    def near($energy_j; $w): ($energy_j - $w * .elapsed_s | fabs) <= $w * (slack_s + not_covered_s + 0.01 * .elapsed_s);
    def near_w($mean_w; $w): ($mean_w / $w - 1 | fabs) <= 0.01 + slack_s / .elapsed_s;
    def package($w): near(.domains.package.energy_j; $w);
    def dram($w): near(.domains.dram.energy_j; $w);
    def total($w): near(.total.energy_j; $w);
'

# Does the jq expression hold for the text?
holds() { # TEXT EXPRESSION
    if [[ -z $1 ]] || ! jq -e "$jq_helpers $2" <<<"$1" >/dev/null; then # jq is content with no text at all
        echo "not so: $2"
        jq . <<<"$1" || echo "$1"
        return 1
    fi
}

# A record of a whole step of a node with two packages of 100 W.
whole() { # RECORD
    holds "$1" '.complete and package(200)'
}

# The same with all of the node's 240 W.
right_energy() { # RECORD
    holds "$1" '.complete and package(200) and dram(40) and total(240) and near_w(.domains.package.mean_w; 200)'
}

# Readings of the sampler, and those that it knows it has missed: so many or more.
read_at_least() { # RECORD NUMBER
    holds "$1" ".trust.samples + (.trust.missed // 0) >= $2"
}

helpers_on() { # NODE
    cluster on "$1" pgrep -x 'apapi-sampler'
}

# Samplers of all nodes, which the login node sees, and collectors.
no_helpers() {
    ! cluster run pgrep -x 'apapi-(sampler|collect)' 2>/dev/null # it warns of the pattern's length
}

nodes_idle() {
    [[ $(cluster run sinfo -h -N -o %T | sort -u) == idle ]]
}

# Lines that begin with "error:" in the nodes' logs, but for what the test expects, what Slurm says of every cancelled
# step and of a launch that its job's end overtakes, and what each start of slurmd says where Slurm's plugin for PMIx is installed without its library.
log_errors() {
    grep -hE '\] (\[[^]]*\] )?error:' "$APAPI_CLUSTER_DIR"/log/slurmd-n?.log |
        grep -viE "CANCELLED AT|Job credential revoked|pmix|${expected_errors:-nothing else}" || true
}

# With no plugin at all, too: an extern step of Slurm 24.11 now and then cleans up with the user's identity.
# shellcheck disable=SC2034 # for those who have extern steps
errors_of_extern_steps='\.extern\] error: .*(: Permission denied|to root cgroup)'

# Empty the logs, so that a test sees its own lines only.
clear_logs() { truncate -s 0 "$APAPI_CLUSTER_DIR"/log/slurmd-n?.log; }

setup() { common_setup; }

common_setup() {
    [[ -z ${APAPI_SKIP_ALL:-} ]] || skip "$APAPI_SKIP_ALL"
    expected_errors=
    [[ ! -d $APAPI_CLUSTER_DIR ]] || clear_logs
}

teardown() { undisturbed; }

# For a cluster that does not come to rest.
what_goes_on() {
    cluster run squeue -o '%i %T %r %N'
    cluster run sinfo -N -o '%N %T %E'
    cluster run ps -e -o pid,ppid,etime,stat,wchan:20,args
    tail -n 15 "$APAPI_CLUSTER_DIR"/log/slurmctld.log "$APAPI_CLUSTER_DIR"/log/slurmd-n?.log
}

# No job, no helper, each node idle: all by one command, as this is looked at after each test.
at_rest() {
    [[ $(cluster run sh -c 'squeue -h; sinfo -h -N -o %T | sort -u; pgrep -x "apapi-(sampler|collect)" 2>/dev/null') == idle ]]
}

# After each test: nothing is drained, left behind or in the logs.
undisturbed() {
    [[ -d ${APAPI_CLUSTER_DIR:-} ]] || return 0
    plugstack
    at_rest || { sleep 0.2; at_rest; } || come_to_rest
    nothing_in_logs
}

# Jobs that a test has left are cancelled; files say what else may go on.
come_to_rest() {
    cluster run sh -c 'scancel --quiet --user=root; scancel --quiet --user=alice'
    eventually nodes_idle || { what_goes_on; return 1; }
    eventually no_helpers || { what_goes_on; return 1; }
}

nothing_in_logs() {
    local errors
    errors=$(log_errors)
    [[ -z $errors ]] || {
        echo "errors in slurmd's log: $errors"
        return 1
    }
}

# All that a file's tests have made the samplers write.
records_are_valid() {
    local files
    mapfile -t files < <(find "$APAPI_ACCT_DIR" -name '*.jsonl' 2>/dev/null)
    ((${#files[@]} == 0)) || validate_records "${files[@]}"
}

teardown_file() { end_of_file; }

end_of_file() {
    local status=0
    [[ -n ${APAPI_CLUSTER_DIR:-} ]] || return 0
    records_are_valid || status=1
    cluster stop
    return $status
}
