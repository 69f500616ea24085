# SPDX-License-Identifier: BSD-3-Clause
# The beginning of a benchmark in a private Slurm of one node; its usage() is defined.
# shellcheck shell=bash disable=SC2034 # variables are for those who load this

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

cluster() { "$repository/scripts/cluster" "$@"; }

# Sets number, install and folder, and starts the cluster.
begin() { # OPTION STANDARD QUICK SIM-OPTIONS WORD...
    local option=$1 quick=$3 sim=$4
    number=$2 install=$repository/build/install
    shift 4
    while (($#)); do
        case $1 in
        "$option") number=$2; shift ;;
        --quick) number=$quick ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
        esac
        shift
    done
    folder=$(mktemp -d /tmp/apapi-bench.XXXXXX)
    export APAPI_CLUSTER_DIR=$folder/cluster
    chmod 755 "$folder"
    trap end_cluster EXIT
    cluster start --nodes 1 --sim "$sim" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
}

# shellcheck disable=SC2317 # called by the trap
end_cluster() {
    [[ ! -d $APAPI_CLUSTER_DIR ]] || cluster stop
    rm -rf "$folder"
}
