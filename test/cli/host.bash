# SPDX-License-Identifier: BSD-3-Clause
# Programs that start a helper process as Slurm's do; for `load`.
# shellcheck disable=SC2034 # they are the tests'

built=$build/core

# Compile test/fake/NAME.c to $HOST.
make_host() { # NAME
    export HOST=$BATS_FILE_TMPDIR/$1
    cc -std=gnu11 -D_GNU_SOURCE -I"$repository/core" -I"$repository/core/include" -I"$repository/test" -o "$HOST" \
        "$repository/test/fake/$1.c" "$repository"/core/channel/*.c "$repository/core/base/error.c"
}

# A record of JOULES, 1000 if there is no number, on NODE.
record() { # NODE INDEX NODES [JOULES]
    printf '{"apapi":1,"job":7,"step":"0","node":"%s","node_index":%d,"nodes":%d,' "$1" "$2" "$3"
    printf '"start":"2026-11-21T11:20:01Z","elapsed_s":10,"late_s":0,"complete":true,'
    printf '"domains":{"package":{"energy_j":%d,"mean_w":100,"min_w":90,"max_w":110}},' "${4:-1000}"
    printf '"components":[{"name":"rapl","source":"sim","interval_s":0.1,"events":[]}],'
    printf '"trust":{"covered":1,"cpu_s":0,"samples":0}}'
}
