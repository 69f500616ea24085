# SPDX-License-Identifier: BSD-3-Clause
# scripts/sim; for `load`. $spec is a specification that each test may add to.
# shellcheck disable=SC2034 # they are the tests'

load ../environment
# shellcheck source-path=SCRIPTDIR source=../eventually.bash
. "$BATS_TEST_DIRNAME/../eventually.bash"

sim="$BATS_TEST_DIRNAME/../../scripts/sim"

setup_file() {
    local candidate root="$BATS_TEST_DIRNAME/../.."

    for candidate in "$root"/build/{release,dev}/test/sim/apapi-simhw; do
        [[ -n ${APAPI_SIMHW:-} || ! -x $candidate ]] || export APAPI_SIMHW=$candidate
    done
    unshare -m true 2>/dev/null || unshare -Urm true 2>/dev/null || skip 'no mount namespaces here'
}

setup() {
    spec="$BATS_TEST_TMPDIR/spec"
    printf 'powercap/clock energy 1 999999999999 0\n' >"$spec"
}

need_fuse() {
    { : <>/dev/fuse; } 2>/dev/null || skip '/dev/fuse cannot be opened'
}
