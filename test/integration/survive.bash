# SPDX-License-Identifier: BSD-3-Clause
# For the tests of what goes wrong: beyond what is looked at after each test, nothing may be left behind.

load common

# Possible left-overs: shared memory, files, listening sockets, processes of ours. The folder of live pages stays, and a
# page of a sampler that was killed until the next one starts: live.bats looks at these. /tmp is the machine's, where
# others work too; that nothing of ours opens a file there is shown in security.bats.
traces() {
    local node look='ls -A /dev/shm; ls -A -I apapi /run; ipcs -mqs; ss -Hltn | awk "{ print \$4 }" | sort; ps -e -o comm= | grep apapi'
    while read -r node _; do
        cluster on "$node" sh -c "$look" </dev/null || true
    done <"$APAPI_CLUSTER_DIR/etc/nodes"
    cluster run sh -c "$look" || true
}

# After start_cluster, in setup_file.
remember_traces() {
    [[ -n ${APAPI_SKIP_ALL:-} ]] || traces >"$BATS_FILE_TMPDIR/traces"
}

setup_file() {
    start_simulated_cluster
    remember_traces
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

# A folder of helper programs with a sampler of our own.
sampler_is() { # SCRIPT, or nothing: there is none
    helpers=$APAPI_CLUSTER_DIR/libexec-$BATS_TEST_NUMBER
    mkdir -p "$helpers"
    cp "$libexec/apapi-collect" "$helpers/"
    if [[ $# -gt 0 ]]; then
        printf '%s\n' "$1" >"$helpers/apapi-sampler"
        chmod 755 "$helpers/apapi-sampler"
    fi
    plugstack "libexec_dir=$helpers ${2:-}"
}
