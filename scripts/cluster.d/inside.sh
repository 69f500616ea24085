#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Part of scripts/cluster, run by it inside the site's namespaces:
#   inside.sh STATE VERB ARGUMENT...     a verb is a function marked "Verb" below
set -euo pipefail
umask 022

helpers=${BASH_SOURCE[0]%/*} # scripts/cluster calls this file by its absolute path, without links
repository=${helpers%/scripts/cluster.d}
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$helpers/common.sh"

# wait_until SECONDS COMMAND...: repeat the command until it succeeds; fail after SECONDS
wait_until() {
    local deadline=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))
    shift
    until "$@"; do
        ((${EPOCHREALTIME/[.,]/} < deadline)) || return 1
        sleep 0.02
    done
}

# --- the site -------------------------------------------------------------------------------------

# Verb. site_init STATE COVERED...: the site's first process. The folders COVERED keep ordinary users from
# the repository or the state folder, whose own path is STATE. The process sets the site up and then waits for
# ever; bash reaps orphans.
site_init() {
    local pid folder known=$state
    state=$1
    shift
    # /proc is still the machine's, so this is the PID under which others know this process
    read -r pid _ </proc/self/stat
    mount -t proc proc /proc
    echo login >/proc/sys/kernel/hostname
    for folder in "$@"; do
        [[ -z $folder ]] || cover "$folder"
    done
    own_folders
    mkdir -p "$site_state"
    mount --bind "$state" "$site_state"
    state=$known
    own_etc
    ip -batch - <<END
link set lo up
link add br0 address 02:00:00:00:00:fe type bridge
address add $network.254/24 dev br0
link set br0 up
END
    record site $$ "$pid"
    while :; do
        sleep infinity &
        wait $! || true
    done
}

# cover FOLDER KEPT...: mount an empty file system over a folder. Of what lies in it, only KEPT, the
# repository and the state folder stay visible.
cover() {
    local folder=$1 path fd kept=() fds=()
    local -A seen=()
    shift
    for path in "$@" "$repository" "$state"; do
        [[ $path/ == "$folder"/* && -z ${seen[$path]:-} ]] || continue
        [[ $path == "$repository" || $path/ != "$repository"/* ]] || continue
        exec {fd}<"$path"
        kept+=("$path")
        seen[$path]=1
        fds+=("$fd")
    done
    mount -t tmpfs -o mode=755 tmpfs "$folder"
    for path in "${kept[@]}"; do
        mkdir -p "$path"
        fd=${fds[0]}
        # the descriptor still leads to the covered folder
        mount --no-canonicalize --rbind "/proc/self/fd/$fd" "$path"
        exec {fd}<&-
        fds=("${fds[@]:1}")
    done
}

# Mount an own /run and /dev/shm, as each machine has them. KEPT as for cover.
own_folders() {
    cover /run "$@"
    cover /dev/shm
    chmod 1777 /dev/shm
}

# Mount an own /etc. A mount over a single file would be lost when the file is replaced, as useradd replaces
# /etc/passwd.
own_etc() {
    local own=$site_state/site-etc machine=$site_state/machine-etc folder
    mkdir "$own" "$machine"
    mount --bind /etc "$machine"
    find /etc -mindepth 1 -maxdepth 1 ! -type d -exec cp -a -t "$own" {} +
    for folder in "$machine"/*/ "$machine"/.[!.]*/; do
        [[ ! -d $folder ]] || ln -s "${folder%/}" "$own"
    done
    cp -a "$state"/etc/{hosts,passwd,group,shadow,nsswitch.conf} "$own"
    [[ ! -d /etc/slurm ]] || ln -sfn "$site_state/etc" "$own/slurm"
    mount --bind "$own" /etc
}

# spawn NAME COMMAND...: start a daemon as a child of the site's first process. The subshell enters the
# PID namespace and ends at once.
spawn() {
    local name=$1
    shift
    (
        close_fds
        cd /
        setsid env --default-signal=INT,QUIT "$@" </dev/null >>"$state/log/$name.out" 2>&1 &
        record "$name" $!
    )
}

as_user() { echo setpriv --reuid "$1" --regid "$(id -g "$1")" --init-groups --; }

# wait_daemon NAME COMMAND...: wait until the command succeeds. If that takes too long, or the daemon or
# the one that it needs has died, print the end of the daemon's log and fail.
wait_daemon() {
    local name=$1 deadline=$((${EPOCHREALTIME/[.,]/} + patience_s * 1000000)) reason log=$1
    shift
    until "$@" >/dev/null 2>&1; do
        reason=
        if [[ $name == slurmdbd ]] && ! record_alive mariadbd; then # slurmdbd soon ends, too
            name=mariadbd log=mariadbd reason="has ended"
        elif ! record_alive "$name" || [[ -e $state/run/$name.ended ]]; then
            reason="has ended"
        elif ((${EPOCHREALTIME/[.,]/} > deadline)); then
            reason="is not ready"
            # slurmctld's log says why it does not accept a node
            [[ $name != n* ]] || log=slurmctld
        fi
        if [[ -n $reason ]]; then
            echo "cluster: $name $reason; the end of $log's log:" >&2
            tail -n 15 "$state/log/$log.out" | sed 's/^/    /' >&2
            return 1
        fi
        sleep 0.02
    done
}

# Verb. Start everything in the new site, and wait until all nodes are idle.
up() {
    local node as_munge as_slurm
    read -ra as_munge <<<"$(as_user munge)"
    read -ra as_slurm <<<"$(as_user slurm)"
    install -d -o munge -g munge -m 755 /run/munge
    install -d -o munge -g munge -m 700 /run/munge.private
    head -c 128 /dev/urandom >/run/munge.private/key
    chown munge:munge /run/munge.private/key
    chmod 400 /run/munge.private/key
    # munged checks the owners and modes of its folders; here it has its own folders
    spawn munged "${as_munge[@]}" munged --foreground --key-file=/run/munge.private/key \
        --socket=/run/munge/munge.socket.2 --pid-file=/run/munge/munged.pid \
        --seed-file=/run/munge.private/seed --log-file=/run/munge.private/log
    wait_daemon munged munge -n
    ! has_accounting || start_accounting
    spawn slurmctld "${as_slurm[@]}" slurmctld -D -c
    wait_daemon slurmctld slurmctld_up
    while read -r node _; do node_power_on "$node"; done <"$state/etc/nodes"
    while read -r node _; do wait_daemon "$node" node_is "$node" idle; done <"$state/etc/nodes"
}

slurmctld_up() { [[ $(scontrol ping) == *" is UP"* ]]; }

# --- accounting -----------------------------------------------------------------------------------

database=/run/mysqld/mysqld.sock # MariaDB's only socket

has_accounting() { [[ -e $state/etc/slurmdbd.conf ]]; }

# MariaDB may lose data if the machine crashes. It runs without io_uring: it aborts when one of its requests there is
# refused or cancelled. It has the site's own folder for temporary tables: MariaDB names them by its process ID, which
# servers of other sites have, too, and removes those that it finds when it starts.
start_accounting() {
    local as_mysql as_slurm
    local options=(--no-defaults --datadir="$state/spool/mysql" --innodb-use-native-aio=OFF --innodb-flush-method=nosync
        --innodb-flush-log-at-trx-commit=0 --innodb-log-file-size=8M --tmpdir=/dev/shm)
    read -ra as_mysql <<<"$(as_user mysql)"
    read -ra as_slurm <<<"$(as_user slurm)"
    install -d -o mysql -g mysql -m 755 "${database%/*}"
    mariadb-install-db "${options[@]}" --user=mysql --skip-test-db \
        --auth-root-authentication-method=socket >"$state/log/mariadb-install.out" 2>&1 </dev/null ||
        die "mariadb-install-db failed ($(grep . "$state/log/mariadb-install.out" | tail -n 3))"
    spawn mariadbd "${as_mysql[@]}" mariadbd "${options[@]}" --socket="$database" \
        --pid-file="$state/spool/mysql/pid" --skip-networking --innodb-fast-shutdown=2
    wait_daemon mariadbd mariadb_say "create user slurm@localhost identified via unix_socket"
    mariadb_say "grant all on slurm_acct_db.* to slurm@localhost"
    spawn slurmdbd "${as_slurm[@]}" env MYSQL_UNIX_PORT="$database" slurmdbd -D
    wait_daemon slurmdbd sacctmgr -i add cluster apapi
}

mariadb_say() { mariadb --no-defaults --socket="$database" --execute="$1"; }

# Verb. End slurmd and slurmctld in order, but wait only for a short time.
down() {
    local node
    while read -r node _; do
        ! record_alive "$node.init" || kill -TERM "$record_pid"
    done <"$state/etc/nodes"
    wait_until 2 all_nodes_dead || true
    ! record_alive slurmctld || kill -TERM "$record_pid"
    wait_until 1 dead slurmctld || true # slurmdbd and its database end with the site: its data are not needed again
}
dead() { ! record_alive "$1"; }
all_nodes_dead() {
    local node
    while read -r node _; do dead "$node" || return 1; done <"$state/etc/nodes"
}

# Verb. Print one line for each daemon and node. Fail if one is down.
status() {
    local name words failed=0
    for name in munged $(! has_accounting || echo mariadbd slurmdbd) slurmctld $(cut -d' ' -f1 "$state/etc/nodes"); do
        words="up"
        if ! record_alive "$name"; then
            words="down"
        elif [[ -e $state/run/$name.ended ]]; then
            words="up, but slurmd is down"
        fi
        [[ $words == up ]] || failed=1
        printf '%-10s %s\n' "$name" "$words"
    done
    if ! record_alive munged || ! record_alive slurmctld; then
        return 1 # sinfo would try for a long time
    fi
    timeout 60 sinfo -N -o '%6N %10T %C' || failed=1
    return "$failed"
}

# --- nodes ----------------------------------------------------------------------------------------

# STATE/run has NODE, the process with whose end the node ends, and NODE.init, the first process inside
# (under scripts/sim not necessarily the first of the node's PID namespace).

node_check() { [[ $'\n'$(<"$state/etc/nodes") == *$'\n'"$1 "* ]] || die "there is no node $1"; }

node_power_on() {
    # the link of a node that has died by itself may still be there
    ip link delete "$1" 2>/dev/null || true
    rm -f "$state/run/$1.ended" "$state/run/$1.init"
    install -d -m 755 "$state/spool/$1"
    spawn "$1" unshare --mount --uts --ipc --net bash "$helpers/inside.sh" "$state" node_wire "$1"
}

# Verb. Plug in the network and become the node. This process is in the node's namespaces, but not yet in a
# PID namespace of its own.
node_wire() {
    local node=$1 number=${1#n} kind arguments mac launcher=() unshare=(--pid)
    printf -v mac '02:00:00:00:00:%02x' "$number" # the same after each boot, as others remember it
    ip -batch - <<END
link set lo up
link add eth0 address $mac type veth peer name $node netns 1
address add $network.$number/24 dev eth0
link set eth0 up
END
    nsenter -t 1 -n ip link set "$node" master br0 up
    read -r _ kind arguments < <(grep "^$node " "$state/etc/nodes")
    # each word of --sim's value is an argument
    # shellcheck disable=SC2206
    [[ $kind == plain ]] ||
        launcher=(env "APAPI_SIMHW=$(<"$state/etc/simulator")" "$repository/scripts/sim" $arguments --)
    if grep -qi '^[^#]*=.*cgroup' "$state/etc/slurm.conf"; then
        groups_join "$node"
        unshare+=(--cgroup)
    fi
    exec unshare "${unshare[@]}" --fork --kill-child -- "${launcher[@]}" \
        bash "$helpers/inside.sh" "$state" node_init "$node"
}

# Give a node a private part of the control groups, which looks like the whole, if its Slurm works with control
# groups. So clusters do not share groups, and groups that are left can be found and removed.
groups_join() {
    local folder group
    groups_locate
    for folder in $(groups_mounts); do
        for group in "$folder/$groups_name" "$folder/$groups_name/$1"; do
            mkdir -p "$group"
            groups_inherit "$group"
        done
        echo 0 >"$group/cgroup.procs"
        mount --bind "$group" "$folder"
    done
}
groups_inherit() {
    local parent=${1%/*} file controller
    for file in cpuset.cpus cpuset.mems; do # version 1: while they are empty, no process can enter
        [[ ! -e $parent/$file || -e $parent/cgroup.controllers ]] || cat "$parent/$file" >"$1/$file"
    done
    if [[ -e $parent/cgroup.controllers ]]; then # version 2
        for controller in $(<"$parent/cgroup.controllers"); do
            echo "+$controller" >"$parent/cgroup.subtree_control" || true
        done
    fi
}

# Verb. The node's first process.
node_init() {
    local node=$1 pid slurmd
    read -r pid _ </proc/self/stat # /proc is still the site's
    record "$node.init" "$pid"
    mount -t proc proc /proc
    echo "$node" >/proc/sys/kernel/hostname
    own_folders /run/munge "$site_state"
    env --default-signal=INT,QUIT slurmd -D & # bash starts it with these signals ignored; jobs would inherit that
    slurmd=$!
    trap 'node_shutdown "$slurmd"' TERM
    wait "$slurmd" || echo "slurmd ended with status $?"
    : >"$state/run/$node.ended"
    while :; do
        sleep infinity &
        wait $! || true
    done
}

# shellcheck disable=SC2317  # called by a trap
node_shutdown() {
    local i
    kill -TERM "$1" 2>/dev/null || true
    for ((i = 0; i < 100; i++)); do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.02
    done
    exit 0
}

# node_is NODE STATE-PATTERN: test a node's state in slurmctld; a state that ends in "*" is not responding
node_is() {
    local states # one line for each partition
    states=$(sinfo -h -N -n "$1" -o %T)
    [[ ${states%%$'\n'*} =~ ^($2)$ ]]
}

# node_registered NODE TIME: test whether slurmctld has heard of a slurmd started after TIME
node_registered() {
    local show
    node_is "$1" 'idle|mixed|allocated|completing|drained|draining|reserved|planned' || return 1
    show=$(scontrol -o show node "$1")
    show=${show#* SlurmdStartTime=}
    [[ ! ${show%% *} < $2 ]]
}

# Verb.
node_boot() {
    local now
    node_check "$1"
    ! record_alive "$1" || { echo "cluster: $1 is up already"; return; }
    printf -v now '%(%Y-%m-%dT%H:%M:%S)T' -1
    node_power_on "$1"
    wait_daemon "$1" node_registered "$1" "$now"
}

# Verb. End a node as if its power failed. Its network link goes first: no process can send a last message.
node_kill() {
    node_check "$1"
    record_alive "$1" || { echo "cluster: $1 is down already"; return; }
    ip link delete "$1" 2>/dev/null || true
    ! record_alive "$1.init" || kill -KILL "$record_pid" 2>/dev/null || true
    ! record_alive "$1" || kill -KILL "$record_pid" 2>/dev/null || true
    wait_until "$patience_s" dead "$1" || die "$1 does not end"
    wait_until "$patience_s" dead "$1.init" || die "$1 does not end"
}

# --- commands -------------------------------------------------------------------------------------

# Verb. on_node NODE FOLDER COMMAND...
on_node() {
    local node=$1 namespaces
    shift
    (node_check "$node") || exit 125
    record_alive "$node.init" || die -125 "$node is down"
    # The PID is the site's, like /proc. This process is not in the site's PID namespace, where newer versions
    # of nsenter would look for "-t PID".
    namespaces=/proc/$record_pid/ns
    exec nsenter --mount="$namespaces/mnt" --uts="$namespaces/uts" --ipc="$namespaces/ipc" \
        --net="$namespaces/net" --pid="$namespaces/pid" -F -- \
        bash "$helpers/inside.sh" "$state" attach root "$@"
}

# Verb. attach USER FOLDER COMMAND...: run a command and act as that command for the caller: with the same
# descriptors and status. Signals to this process go on to the command, which dies with this process. Signals
# that mean "end" go to the command's whole process group, as from a terminal.
attach() {
    local user=$1 folder=$2 name uid gid home shell status command
    shift 2
    while IFS=: read -r name _ uid gid _ home shell; do # like getent in the site
        [[ $name != "$user" ]] || break
    done </etc/passwd
    [[ $name == "$user" ]] || die -125 "there is no user $user"
    # shellcheck disable=SC2016,SC2054  # sh expands them; one argument
    command=(setpriv --reuid "$uid" --regid "$gid" --init-groups --pdeathsig KILL --
        sh -c 'cd -- "$1" 2>/dev/null || cd -- "$2" 2>/dev/null || cd /; shift 2; exec "$@"' sh
        "$folder" "$home"
        env -i --default-signal=INT,QUIT "${clean_env[@]}" HOME="$home" USER="$user" LOGNAME="$user"
        SHELL="$shell" TERM="$TERM" "$@")
    local group=- interrupted=
    if [[ -t 0 ]]; then
        # the terminal sends its signals to this process and to the command
        group=
        trap 'interrupted=1' INT QUIT
    else
        # a process group of its own: otherwise a signal to the caller's group would come twice
        command=(setsid "${command[@]}")
        trap 'interrupted=1; forward INT -' INT
        trap 'interrupted=1; forward QUIT -' QUIT
    fi
    trap 'interrupted=1; forward TERM "$group"' TERM
    trap 'interrupted=1; forward HUP "$group"' HUP
    trap 'interrupted=1; forward USR1' USR1
    trap 'interrupted=1; forward USR2' USR2
    "${command[@]}" <&0 &
    while :; do
        status=0
        wait "$!" 2>/dev/null || status=$?
        [[ -n $interrupted ]] || exit "$status"
        interrupted=
    done
}

# forward SIGNAL [-]: send a signal to the command, with "-" to its process group. The group, or the command,
# may not exist yet.
# shellcheck disable=SC2317  # called by a trap
forward() {
    [[ -n ${!-} ]] || exit 1
    kill "-$1" -- "${2-}$!" 2>/dev/null || kill "-$1" "$!" 2>/dev/null || true
}

state_set "$1"
shift
"$@"
