# SPDX-License-Identifier: BSD-3-Clause
# For the tests of what goes wrong: beyond what is looked at after each test, nothing may be left behind.

load common

# What could be left: shared memory, files, listening sockets, processes of ours. The folder of live pages stays, and a
# page of a sampler that was killed until the next one starts: live.bats looks at these.
traces() {
    local node look='ls -A /dev/shm; ls -A -I apapi /run; ipcs -mqs; ss -Hltn | awk "{ print \$4 }" | sort; ps -e -o comm= | grep apapi'
    while read -r node _; do
        cluster on "$node" sh -c "$look" </dev/null || true
    done <"$APAPI_CLUSTER_DIR/etc/nodes"
    cluster run sh -c "$look" || true
    find /tmp -maxdepth 1 -name '*apapi*' ! -name 'apapi-*[-.]??????' # but those of unit tests
}

# After start_cluster, in setup_file.
remember_traces() {
    [[ -n ${APAPI_SKIP_ALL:-} ]] || traces >"$BATS_FILE_TMPDIR/traces"
}

nothing_left() {
    [[ -f $BATS_FILE_TMPDIR/traces ]] || return 0
    as_before() { traces | cmp -s "$BATS_FILE_TMPDIR/traces"; }
    eventually as_before || {
        diff "$BATS_FILE_TMPDIR/traces" <(traces)
        return 1
    }
}

teardown() {
    undisturbed
    nothing_left
}

# A step of alice's in the background: its process is $step, its output in out and err.
begin_step() { # ARGUMENTS OF srun
    as_alice srun "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    step=$!
}

# Wait for it; its exit status is in $status.
end_step() {
    status=0
    wait "$step" || status=$?
    echo "status $status, output: $(cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err")"
}

# alice's program runs on a node.
runs_on() { # NODE PROGRAM
    cluster on "$1" pgrep -u alice -x "$2" >/dev/null
}

# Its sampler has taken the first reading: the program has been started after that.
begun_on() { # NODE PROGRAM
    eventually helpers_on "$1" >/dev/null
    eventually runs_on "$1" "$2"
}

# A record of a whole step of a node with two packages of 100 W.
whole() { # RECORD
    holds "$1" '.complete and (.domains.package.energy_j / (200 * .elapsed_s) - 1 | fabs) < 0.02'
}

# A message in one line, however it was broken.
unwrapped() { # TEXT
    tr -s ' \n' ' ' <<<"$1"
}

# A script that stands for the sampler and starts it with the shim.
shimmed_sampler() { # VARIABLE=FILE, see the shim
    local shim=$APAPI_CLUSTER_DIR/sampler_shim.so
    [[ -e $shim ]] || cc -shared -fPIC -o "$shim" "$repository/test/fake/sampler_shim.c"
    printf '%s\n' '#!/bin/sh' "exec env 'LD_PRELOAD=$shim' '$1' '$libexec/apapi-sampler'"
}
