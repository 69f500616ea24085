# SPDX-License-Identifier: BSD-3-Clause
# Programs that start a helper process as Slurm's do; for `load`.
# shellcheck disable=SC2034 # they are the tests'

repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
built=$repository/${APAPI_TEST_BUILD:-build/release}/core

# Compile test/fake/NAME.c to $HOST.
make_host() { # NAME
    export HOST=$BATS_FILE_TMPDIR/$1
    cc -std=gnu11 -D_GNU_SOURCE -I"$repository/core" -I"$repository/core/include" -I"$repository/test" -o "$HOST" \
        "$repository/test/fake/$1.c" "$repository"/core/channel/*.c "$repository/core/base/error.c"
}
