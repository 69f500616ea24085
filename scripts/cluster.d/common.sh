# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034  # variables for the files that source this
#
# Part of scripts/cluster: what both sides, outside and inside the site, use.

marker=.apapi-cluster   # this file says that a folder is a cluster's state folder
patience_s=120          # for what takes seconds at most on a machine that has nothing else to do
network=10.77.0         # of the site; nobody outside can see it
site_state=/run/cluster # where the site sees the state folder, too, whatever its path is
state=                  # the state folder, an absolute path without symbolic links
state_inside=           # the path by which Slurm knows it: `state`, or site_state
clean_env=()            # environment of all daemons and commands

# Sets `state`, `state_inside` and `clean_env`. The path ends up in slurm.conf, plugstack.conf and
# /etc/passwd, where blanks and some other characters cannot be written, and slurmd's sockets lie below it,
# whose names have 107 bytes at most. Where it does not fit, Slurm knows the folder as site_state.
state_locate() {
    local LC_ALL=C # the letters are those of ASCII
    state_set "${APAPI_CLUSTER_DIR:-$repository/build/cluster}"
    state_set "$(if cd -P -- "$state" 2>/dev/null; then echo "$PWD"; else realpath -m -- "$state"; fi)"
    [[ ${#state} -le 64 && $state =~ ^/[A-Za-z0-9@_./+~-]+$ ]] || state_inside=$site_state
    set_environment
}

state_set() {
    state=$1
    state_inside=$1
    set_environment
}

set_environment() {
    clean_env=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
        SLURM_CONF="$state_inside/etc/slurm.conf")
}

# die [-STATUS] MESSAGE...
die() {
    local status=1
    if [[ $1 =~ ^-[0-9]+$ ]]; then
        status=${1#-}
        shift
    fi
    echo "cluster: $*" >&2
    exit "$status"
}

# Closes every descriptor above 2: a daemon must not hold what its starter's caller has open (a test
# runner would wait for it for ever).
close_fds() {
    local fd
    for fd in /proc/self/fd/*; do
        fd=${fd##*/}
        ((fd <= 2 || fd == 255)) || eval "exec $fd>&-"
    done
}

# --- records of processes -------------------------------------------------------------------------
#
# STATE/run/NAME holds "BOOT-ID PID START-TIME": a process that merely got the same number later, or
# a number from before the machine's last boot, is never taken for the one that was recorded.

# Sets `stat_start` and `stat_state` of a process. Fails when there is none.
process_stat() {
    local stat
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    # the name, in parentheses, may contain anything
    read -ra stat <<<"${stat##*) }"
    stat_state=${stat[0]}
    stat_start=${stat[19]}
}

# record NAME PID [NUMBER]: remember PID; NUMBER when readers will know it under another number
record() {
    local boot
    process_stat "$2" || return 0
    read -r boot </proc/sys/kernel/random/boot_id
    echo "$boot ${3:-$2} $stat_start" >"$state/run/.$1.new"
    mv "$state/run/.$1.new" "$state/run/$1"
}

# Sets `record_pid`, or fails when the recorded process is not alive.
record_alive() {
    local boot start now
    { read -r boot record_pid start <"$state/run/$1"; } 2>/dev/null || return 1
    read -r now </proc/sys/kernel/random/boot_id
    [[ $boot == "$now" ]] && process_stat "$record_pid" &&
        [[ $stat_start == "$start" && $stat_state != [ZX] ]]
}

# --- control groups -------------------------------------------------------------------------------

# The name of the folder, in each control group file system, that holds the groups of this cluster's
# nodes. Sets `groups_name`, or fails.
groups_locate() {
    local pid start
    { read -r _ pid start <"$state/run/site"; } 2>/dev/null || return 1
    groups_name=apapi-$pid-$start
}

# Prints the folders where control group file systems are mounted.
groups_mounts() {
    local folder type
    while read -r _ folder type _; do
        [[ $type != cgroup && $type != cgroup2 ]] || echo "$folder"
    done </proc/mounts
}
