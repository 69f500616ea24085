# SPDX-License-Identifier: BSD-3-Clause
# Programs that start a helper process as Slurm's do; for `load`.
# shellcheck disable=SC2034 # they are the tests'

built=$build/core
slurm_host=$repository/test/fake/slurm_host.py

# A record of JOULES, 1000 if there is no number, on NODE.
record() { # NODE INDEX NODES [JOULES]
    printf '{"apapi":1,"job":7,"step":"0","node":"%s","node_index":%d,"nodes":%d,' "$1" "$2" "$3"
    printf '"start":"2026-11-21T11:20:01Z","elapsed_s":10,"late_s":0,"complete":true,'
    printf '"domains":{"package":{"energy_j":%d,"mean_w":100,"min_w":90,"max_w":110}},' "${4:-1000}"
    printf '"components":[{"name":"rapl","source":"sim","interval_s":0.1,"events":[]}],'
    printf '"trust":{"covered":1,"cpu_s":0,"samples":0}}'
}
