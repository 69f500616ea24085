# SPDX-License-Identifier: BSD-3-Clause
# A cluster with Slurm's energy plugin, in whose nodes the time of the simulated meters goes on as a test says.
# shellcheck shell=bash disable=SC2154 # set by those who load this

# A folder that the nodes see, whatever is above the tests' own.
make_energy_folder() {
    energy=$(mktemp -d -p "$repository/build" energy.XXXXXX)
    chmod 755 "$energy"
    export energy
}

# The node sampler runs as long as slurmd.
no_helpers() { ! cluster run pgrep -x apapi-collect; }

teardown_file() {
    local status=0
    end_of_file || status=1
    rm -rf "${energy:?}"
    return $status
}

# A copy of the plugin, with its own etc/apapi/apapi.conf: LINES.
make_prefix() { # LINES
    local prefix=$energy/prefix
    mkdir -p "$prefix/lib/slurm" "$prefix/etc/apapi" "$prefix/libexec"
    ln -s "$libexec" "$prefix/libexec/apapi" # what makes it an installation
    cp "$install/lib/slurm/acct_gather_energy_apapi.so" "$prefix/lib/slurm/"
    energy_config "$@"
}

energy_config() { # LINES
    printf '%s\n' "$@" >"$energy/prefix/etc/apapi/apapi.conf"
}

# Lines of slurm.conf.
energy_lines() {
    local plugins
    plugins=$(dirname "$(find /usr/lib /usr/lib64 -name auth_munge.so 2>/dev/null | head -n 1)")
    printf '%s\\n' "PluginDir=$plugins:$energy/prefix/lib/slurm" \
        "AcctGatherEnergyType=${1:-acct_gather_energy/apapi}" AcctGatherNodeFreq=1 \
        JobAcctGatherFrequency=task=300
}

# Simulated meters whose time is in a file: but for what the test lets pass, they go on ten thousand times too slowly, and
# each reading finds that they have moved.
simulate_time() {
    export sim_time=$energy/time
    echo 0 >"$sim_time"
    echo 'powercap/intel-rapl:0/energy_uj update 0' >"$energy/spec"
    printf '%s\n' '#!/bin/sh' "APAPI_SIMHW_TIME=$sim_time exec '$repository/build/release/test/sim/apapi-simhw' \"\$@\"" \
        >"$energy/simhw"
    chmod 755 "$energy/simhw"
    export APAPI_SIMHW=$energy/simhw
}

let_pass() { # MS
    echo $(($(<"$sim_time") + $1 * 1000000)) >"$sim_time.new"
    mv "$sim_time.new" "$sim_time"
}

# A figure of the node's page: what slurmd tells Slurm of it [J], [W], and after how many readings.
node_figure() { # NODE OFFSET [TYPE OF od]
    cluster on "$1" od -An -t "${3:-f8}" -j "$2" -N 8 "/run/apapi/$1/node" 2>/dev/null | tr -d ' '
}
node_energy() { node_figure "$1" 1040; }
node_readings() { node_figure "$1" 1056 u8; }

# The condition of awk, with e for the node's energy and p for its power.
node_has() { # NODE CONDITION
    awk -v "e=$(node_energy "$1")" -v "p=$(node_figure "$1" 1048)" \
        "BEGIN { exit !(e != \"\" && e !~ /nan/ && ($2)) }"
}

node_sampler() { cluster on "$1" pgrep -x apapi-sampler; }

# End slurmd, and with it the node sampler. After `scontrol reconfigure`, that of Slurm 24.11 is another
# program with the name of its file, which Debian calls slurmd-wlm.
end_slurmd() { # NODE
    cluster on "$1" pkill -TERM -x 'slurmd(-wlm)?'
    eventually slurmd_is_gone "$1"
}
slurmd_is_gone() { ! cluster on "$1" pgrep -x 'slurmd(-wlm)?' && ! node_sampler "$1"; } # NODE

slurmd_log() { cat "$APAPI_CLUSTER_DIR/log/slurmd-$1.log"; }
