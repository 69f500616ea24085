# SPDX-License-Identifier: BSD-3-Clause
# What the tests of atime and apapi share; for `load`.

load ../environment
load kept

setup() {
    repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
    atime=$repository/${APAPI_TEST_BUILD:-build/release}/core/atime/atime
    apapi=$repository/${APAPI_TEST_BUILD:-build/release}/core/apapi/apapi
    export APAPI_SIMHW=$repository/build/release/test/sim/apapi-simhw
}

sim() { "$repository/scripts/sim" "$@"; }

needs_sim() {
    sim -- true || skip "no simulated hardware here: see scripts/sim"
}

close_to() { # VALUE TRUTH TOLERANCE
    awk -v v="$1" -v t="$2" -v r="$3" 'BEGIN { exit !(v > t * (1 - r) && v < t * (1 + r)) }' || {
        echo "$1 is not $2"
        return 1
    }
}
