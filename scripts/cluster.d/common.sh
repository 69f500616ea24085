# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034  # variables for the files that source this
#
# Part of scripts/cluster: functions used both outside and inside the site.

marker=.apapi-cluster   # this file says that a folder is a cluster's state folder
patience_s=120          # limit for what takes a few seconds on an idle machine
network=10.77.0         # the site's network; nothing outside can see it
site_state=/run/cluster # path at which the site also sees the state folder, whatever its own path is
state=                  # the state folder, an absolute path without symbolic links
state_inside=           # path by which Slurm knows the state folder: `state` or site_state
clean_env=()            # environment of all daemons and commands

# Set `state`, `state_inside` and `clean_env`. The path gets into slurm.conf, plugstack.conf and
# /etc/passwd, where blanks and some other characters cannot be written; and the names of slurmd's sockets
# below it have 107 bytes at most. If it does not fit, Slurm knows the folder as site_state.
state_locate() {
    local LC_ALL=C # letters are those of ASCII only
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

# Close every descriptor above 2. A daemon must not keep open what its starter's caller has open: a test
# runner would wait for it for ever.
close_fds() {
    local fd
    for fd in /proc/self/fd/*; do
        fd=${fd##*/}
        ((fd <= 2 || fd == 255)) || eval "exec $fd>&-"
    done
}

# --- records of processes -------------------------------------------------------------------------
#
# STATE/run/NAME holds "BOOT-ID PID START-TIME", so that a later process with the same PID, or a PID
# from before the machine's last boot, is never taken for the recorded process.

# Set `stat_start` and `stat_state` of a process. Fail if there is no such process.
process_stat() {
    local stat
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    # the name, in parentheses, may contain any characters
    read -ra stat <<<"${stat##*) }"
    stat_state=${stat[0]}
    stat_start=${stat[19]}
}

# record NAME PID [NUMBER]: record a process; NUMBER is its PID as readers see it, if that differs
record() {
    local boot
    process_stat "$2" || return 0
    read -r boot </proc/sys/kernel/random/boot_id
    echo "$boot ${3:-$2} $stat_start" >"$state/run/.$1.new"
    mv "$state/run/.$1.new" "$state/run/$1"
}

# Set `record_pid`. Fail if the recorded process is not alive.
record_alive() {
    local boot start now
    { read -r boot record_pid start <"$state/run/$1"; } 2>/dev/null || return 1
    read -r now </proc/sys/kernel/random/boot_id
    [[ $boot == "$now" ]] && process_stat "$record_pid" &&
        [[ $stat_start == "$start" && $stat_state != [ZX] ]]
}

# --- control groups -------------------------------------------------------------------------------

# Set `groups_name`, the name of the folder in each control group file system that holds the groups of
# this cluster's nodes. Fail if there is none.
groups_locate() {
    local pid start
    { read -r _ pid start <"$state/run/site"; } 2>/dev/null || return 1
    groups_name=apapi-$pid-$start
}

# Print the folders where control group file systems are mounted.
groups_mounts() {
    local folder type
    while read -r _ folder type _; do
        [[ $type != cgroup && $type != cgroup2 ]] || echo "$folder"
    done </proc/mounts
}
