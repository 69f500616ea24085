#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Steps in namespaces and under every kind of tracking: measured as any other, and run as any other. Each
# test has a cluster of its own, set up for it. Those with the tag newer-slurm are for a Slurm that is newer
# than Debian 12's; scripts/slurm-matrix has one.

load common

sources=$repository

# Slurm's containers have a /tmp and a /dev/shm of their own, the repository may lie there: the tests use a copy
# of what is installed, in a folder elsewhere.
find_place() {
    local folder
    for folder in /var/tmp /srv /opt /var/lib; do
        [[ $(realpath -m "$folder")/ != @(/tmp|/dev/shm|/run)/* ]] || continue
        containers_place=$(mktemp -d "$folder/${APAPI_TEST_RUN:-apapi-test}.XXXXXX" 2>/dev/null) || continue
        cp /bin/true "$containers_place"
        ! "$containers_place/true" 2>/dev/null || return 0
        rm -r "$containers_place"
    done
    return 1
}

copy_repository() {
    local copy=$containers_place/apapi
    mkdir -p "$copy/scripts" "$copy/build"
    cp -R "$sources"/scripts/{cluster,cluster.d,sim} "$copy/scripts"
    cp -R "$install" "$copy/build/install"
    chmod -R go+rX "$containers_place"
}

use_copy() {
    local simulators=("$sources"/build/{release,dev}/test/sim/apapi-simhw)
    repository=$containers_place/apapi
    install=$repository/build/install
    plugin=$install/lib/slurm/spank_apapi.so
    libexec=$install/libexec/apapi
    plugstack_words=libexec_dir=$libexec # the plugin knows the original's, which users may be unable to enter
    [[ -n ${APAPI_SIMHW:-} ]] || export APAPI_SIMHW=${simulators[0]}
    [[ -x $APAPI_SIMHW ]] || APAPI_SIMHW=${simulators[1]}
}

setup_file() {
    if ((EUID != 0)); then
        skip_all "must be root"
    elif find_place; then
        export containers_place
        copy_repository
    else
        skip_all "no folder outside /tmp for programs and files of the cluster"
    fi
}

setup() {
    [[ -z ${APAPI_SKIP_ALL:-} ]] || skip "$APAPI_SKIP_ALL"
    expected_errors=
    use_copy
    cd "$containers_place" || return # what users start begins in the caller's folder, which may be below /tmp
    cluster_folder=$(mktemp -d "$containers_place/test.XXXXXX")
    chmod 755 "$cluster_folder"
    etc=$BATS_TEST_TMPDIR
}

teardown() {
    local status=0
    undisturbed || status=1
    records_are_valid || status=1
    [[ -n ${cluster_folder:-} ]] || return 0
    [[ ! -d ${APAPI_CLUSTER_DIR:-} ]] || cluster stop
    rm -rf --one-file-system "$cluster_folder" ${mark:+"$mark" "$mark".*}
    return "$status"
}

teardown_file() {
    [[ -z ${containers_place:-} ]] || rm -rf --one-file-system "$containers_place"
}

slurm_is_at_least() { # MAJOR.MINOR
    local version
    version=$(slurmd -V 2>/dev/null || PATH=$PATH:/usr/sbin slurmd -V)
    [[ $(printf '%s\n' "$1" "${version#slurm* }" | sort -V | head -n 1) == "$1" ]]
}

# The test's cluster, with these lines in slurm.conf.
start_with() { # LINES [ARGUMENTS OF scripts/cluster start]
    start_simulated_cluster --extra "$1" "${@:2}"
    [[ -z ${APAPI_SKIP_ALL:-} ]] || skip "$APAPI_SKIP_ALL"
    clear_logs # slurmd's start is not looked at
    expected_errors=$errors_of_extern_steps
}

# Linux 6.18 numbers mount namespaces by the CPU that makes them, and binds only one of a higher number than
# the process's own; Slurm's containers need that. So all of the cluster is on one CPU.
stay_on_one_cpu() {
    local cpus
    cpus=$(taskset -c -p $BASHPID)
    cpus=${cpus##* }
    taskset -c -p "${cpus%%[,-]*}" $BASHPID >/dev/null
}

# A private /tmp for each job. EXTRA is for slurm.conf, WORDS for the lines of job_container.conf.
start_with_private_tmp() { # [EXTRA [WORDS]]
    local type=JobContainerType=job_container/tmpfs node
    ! slurm_is_at_least 25.11 || type=NamespaceType=namespace/tmpfs
    for node in n1 n2; do
        echo "NodeName=$node AutoBasePath=true BasePath=$cluster_folder/containers-$node ${2:-}"
    done >"$etc/job_container.conf"
    stay_on_one_cpu
    start_with "$type\nPrologFlags=Contain\n${1:-}" --etc "$etc/job_container.conf"
}

# Mount, process and user namespaces for each job; hooks run in them.
start_with_namespaces() {
    cat >"$etc/namespace.yaml" <<END
defaults:
  auto_base_path: true
  base_path: "$cluster_folder/containers-%n"
  clone_ns_flags: [CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER]
END
    stay_on_one_cpu
    start_with 'NamespaceType=namespace/linux\nPrologFlags=Contain\nSlurmdParameters=config_overrides,contain_spank' \
        --etc "$etc/namespace.yaml"
}

# A step and a batch job: output and status are as without measuring; each node has its record of each,
# with the right energy, and none of anything else. PROGRAM's output is OUTPUT, its status 3.
measured_as_ever() { # PROGRAM OUTPUT
    local node file=$APAPI_CLUSTER_DIR/home/alice/out
    for option in --apapi=off --apapi=rapl; do
        run --separate-stderr as_alice srun -N2 $option sh -c "$1; sleep 0.5; exit 3"
        echo "srun $option: $status '$output' '$stderr'"
        [[ $status -eq 3 && $(sort -u <<<"$output") == "$2" ]]
    done
    [[ $(grep -c '^apapi: step' <<<"$stderr") -eq 1 && $stderr == *'2 nodes'*package* ]]
    for option in --apapi=off --apapi=rapl; do
        status=0
        sbatch_wait -N1 -w n1 --output="$file" $option \
            --wrap "$1; sleep 0.5; exit 3" || status=$?
        eventually test -s "$file"
        echo "sbatch $option: $status '$(cat "$file")'"
        [[ $status -eq 3 && $(head -n 1 "$file") == "$2" ]]
    done
    eventually grep -q '^  package' "$file"
    for node in n1 n2; do
        holds "$(records "$node" | grep '"step":"0"')" \
            '.complete and package(200)'
    done
    holds "$(records n1 | grep '"step":"batch"')" '.complete and .elapsed_s >= 0.49'
    [[ $(records n1 | wc -l) -eq 2 && $(records n2 | wc -l) -eq 1 ]]
}

# Put another plugin into the stack, before ours or after it.
other_plugin() { # first|last WORDS...
    local library=$cluster_folder/spank_namespace.so
    [[ -e $library ]] ||
        cc -shared -fPIC -D_GNU_SOURCE -o "$library" "$sources/test/fake/spank_namespace.c"
    plugstack
    local line="required $library ${*:2}" stack=$APAPI_CLUSTER_DIR/etc/plugstack.conf
    if [[ $1 == first ]]; then sed -i "1i $line" "$stack"; else echo "$line" >>"$stack"; fi
}

# For a job whose /tmp is not the machine's.
has_private_tmp() {
    mark=/tmp/mark-$$-$BATS_TEST_NUMBER # of the machine
    touch "$mark"
    measured_as_ever "test ! -e $mark && echo private && touch $mark.2" private
    [[ ! -e $mark.2 ]]
}

# The namespaces of a process on n1, as one line.
namespaces() { # PATTERN OF pgrep
    cluster on n1 sh -c 'readlink /proc/$(pgrep "$@")/ns/mnt' sh "$@"
}

# A step runs, its tasks in another mount namespace than the sampler, which is slurmd's.
sampler_stays_outside() {
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    [[ $(namespaces -x apapi-sampler) == "$(namespaces -o -x slurmd)" ]]
    [[ $(namespaces -o -x sh -u alice) != "$(namespaces -o -x slurmd)" ]]
    end_held_step
    [[ $status -eq 0 ]]
}

# The step ends as it would, the sampler is gone.
survives_a_hung_sampler() {
    plugstack stop_timeout=300ms
    begin_held_step 'echo out; exit 3' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    cluster on n1 pkill -STOP -x apapi-sampler
    end_held_step
    [[ $status -eq 3 && $(cat "$BATS_TEST_TMPDIR/out") == out ]]
    grep -q 'did not answer' "$BATS_TEST_TMPDIR/err"
    eventually no_helpers
}

@test "a /tmp for each job (job_container/tmpfs)" {
    start_with_private_tmp
    has_private_tmp
    sampler_stays_outside
    other_plugin first touch "$mark.hook"
    as_alice srun -N1 -w n1 true
    [[ -e $mark.hook ]]
}

# bats test_tags=long
@test "a sampler that hangs, seen from a container" {
    start_with_private_tmp "$(! slurm_is_at_least 24.05 || echo 'SlurmdParameters=config_overrides,contain_spank')"
    survives_a_hung_sampler
}

@test "the extern step and control groups" {
    [[ -d /sys/fs/cgroup/freezer || -f /sys/fs/cgroup/cgroup.controllers ]] || skip "no control groups here"
    start_with 'PrologFlags=Contain\nProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\nJobAcctGatherType=jobacct_gather/cgroup'
    version=1
    [[ ! -f /sys/fs/cgroup/cgroup.controllers ]] || version=2
    echo "# control groups of version $version" >&3
    plugstack default=rapl
    measured_as_ever "echo out" out
}

@test "another plugin's container for the tasks, or a mount namespace into which it moves slurmstepd" {
    start_with ''
    for place in {first,last}' '{task,step}; do
        rm -rf "$APAPI_ACCT_DIR"
        # shellcheck disable=SC2086 # two words
        other_plugin $place /tmp
        measured_as_ever "ls /tmp" inside
        [[ $place == *step ]] || sampler_stays_outside
    done
}

# bats test_tags=newer-slurm
@test "a /tmp for each job, hooks run in the container (contain_spank)" {
    slurm_is_at_least 24.05 || skip "this Slurm has no contain_spank"
    start_with_private_tmp 'SlurmdParameters=config_overrides,contain_spank'
    has_private_tmp
    sampler_stays_outside
    # they do: what they make in /tmp is not in the machine's. What they leave in memory counts
    other_plugin first touch "$mark.hook"
    run as_alice srun -N2 -n6 --apapi=rapl true
    [[ $status -eq 0 && $output == *'apapi: step'*'2 nodes'* && $output != *'no record'* ]]
    [[ ! -e $mark.hook ]]
}

# bats test_tags=newer-slurm
@test "a /tmp for each job, whole steps in the container (EntireStepInNS)" {
    slurm_is_at_least 24.11 || skip "this Slurm has no EntireStepInNS"
    start_with_private_tmp '' 'EntireStepInNS=true'
    has_private_tmp
}

# bats test_tags=newer-slurm
@test "process and user namespaces and a /tmp for each job, hooks run in them (namespace/linux)" {
    slurm_is_at_least 25.11 || skip "this Slurm has no namespace/linux"
    start_with_namespaces
    has_private_tmp
    run as_alice srun -N1 ps -e -o comm=
    [[ $status -eq 0 && $output != *slurmd* ]]
}

# bats test_tags=newer-slurm
@test "a sampler that hangs, seen from all namespaces" {
    slurm_is_at_least 25.11 || skip "this Slurm has no namespace/linux"
    start_with_namespaces
    survives_a_hung_sampler
}
