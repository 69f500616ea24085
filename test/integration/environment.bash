# SPDX-License-Identifier: BSD-3-Clause
# Where the tests are, and what they run in; skips.
# shellcheck shell=bash disable=SC2034 # used by the tests

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../environment.bash
. "$tests/../environment.bash"
plain_path "${tests%/test/integration}"
repository=$plain tests=$plain/test/integration
# shellcheck source-path=SCRIPTDIR source=../eventually.bash
. "$tests/../eventually.bash"

cluster() { "$repository/scripts/cluster" "$@"; }
as_alice() { cluster run --user alice "$@"; }

# This version of bats cannot skip in setup_file: each test does it.
skip_all() { # REASON
    export APAPI_SKIP_ALL=$1
}
