# SPDX-License-Identifier: BSD-3-Clause
# Where the tests are and what they run in: nothing of the caller's settings but what chooses what is tested.
# shellcheck shell=bash disable=SC2034 # used by the tests

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
repository=${tests%/test/integration}

# shellcheck source-path=SCRIPTDIR source=../eventually.bash
. "$tests/../eventually.bash"

umask 022 # ordinary users run what the tests make
export LC_ALL=C.UTF-8 TZ=UTC
exec </dev/null # a terminal is what a test makes itself

# What of these a file exports itself comes after this, for its tests too.
forget_settings() {
    local name
    for name in $(compgen -e); do
        case $name in
        APAPI_TEST_* | APAPI_SIMHW) ;;
        APAPI_* | SLURM_* | SBATCH_* | SALLOC_* | SRUN_*) unset "$name" ;;
        esac
    done
}
# the tests' processes are started with what setup_file has exported
[[ -n ${APAPI_FORGOTTEN:-} ]] || forget_settings
export APAPI_FORGOTTEN=yes

cluster() { "$repository/scripts/cluster" "$@"; }
as_alice() { cluster run --user alice "$@"; }

# This version of bats cannot skip in setup_file: each test does it.
skip_all() { # REASON
    export APAPI_SKIP_ALL=$1
}
