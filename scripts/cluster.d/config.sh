# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154  # variables of the files that source this
#
# Part of scripts/cluster: makes the state folder and the files in its etc/.

test_users=(alice bob)

# write_state NODES PLUGSTACK EXTRA SIM...
write_state() {
    local count=$1 plugstack=$2 extra=$3
    shift 3
    install -d -m 755 "$state" "$state"/{etc,log,spool,run,home,home/root}
    : >"$state/$marker"
    ln -s -- "$repository" "$state/repository"
    # slurmctld runs as slurm and writes its log and pid file
    chgrp slurm "$state/log" "$state/run"
    chmod 1775 "$state/log" "$state/run"
    install -d -o slurm -g slurm -m 755 "$state/spool/slurmctld"
    write_nodes "$count" "$@"
    write_users
    cat -- "$plugstack" >"$state/etc/plugstack.conf"
    write_slurm_conf "$count" "$extra"
}

# Write etc/nodes, one line per node: "NAME plain" or "NAME sim ARGUMENT..."; etc/hosts; and etc/simulator,
# the path of another program for scripts/sim, or empty.
write_nodes() {
    local count=$1 general="plain" spec i
    local -A own=()
    shift
    for spec in "$@"; do
        [[ -x $repository/scripts/sim ]] || die "scripts/sim is missing"
        if [[ $spec =~ ^(n[0-9]+):(.*)$ ]]; then
            ((${BASH_REMATCH[1]#n} >= 1 && ${BASH_REMATCH[1]#n} <= count)) ||
                die "--sim $spec: there is no node ${BASH_REMATCH[1]}"
            own[${BASH_REMATCH[1]}]="sim ${BASH_REMATCH[2]}"
        else
            general="sim $spec"
        fi
    done
    echo "${APAPI_SIMHW:-}" >"$state/etc/simulator"
    {
        echo "127.0.0.1 localhost"
        echo "$network.254 login"
    } >"$state/etc/hosts"
    for ((i = 1; i <= count; i++)); do
        echo "$network.$i n$i" >>"$state/etc/hosts"
        echo "n$i ${own[n$i]:-$general}" >>"$state/etc/nodes"
    done
}

# Write the site's own user database: the machine's users and the test users, with numbers that are free
# on this machine. Their homes, and root's, are in the state folder.
write_users() {
    local user id=4001 database
    for database in passwd group; do
        sed "/^\(alice\|bob\):/d" "/etc/$database" >"$state/etc/$database"
    done
    # no user can log in with a password, and no password leaves /etc
    sed "/^\(alice\|bob\):/d; s/:[^:]*/:*/" /etc/shadow >"$state/etc/shadow"
    chmod 640 "$state/etc/shadow"
    sed -i "s|^\(root:[^:]*:[^:]*:[^:]*:[^:]*\):[^:]*|\1:$state_inside/home/root|" "$state/etc/passwd"
    for user in "${test_users[@]}"; do
        while getent passwd "$id" >/dev/null || getent group "$id" >/dev/null; do ((++id)); done
        echo "$user:x:$id:$id:test user:$state_inside/home/$user:/bin/bash" >>"$state/etc/passwd"
        echo "$user:x:$id:" >>"$state/etc/group"
        echo "$user:*:19000:0:99999:7:::" >>"$state/etc/shadow"
        install -d -o "$id" -g "$id" -m 755 "$state/home/$user"
        ((++id))
    done
    printf '%s: files\n' passwd group shadow gshadow hosts networks protocols services ethers rpc \
        >"$state/etc/nsswitch.conf"
}

# Drop the lines whose settings EXTRA makes, too: Slurm logs an error if a setting is made twice. A
# partition is replaced by one of the same name, the nodes by any definition of nodes.
# shellcheck disable=SC2016  # awk's variables
not_replaced='
    function key(line, words) {
        sub(/^[ \t]+/, "", line)
        split(tolower(line), words, /[= \t]+/)
        return words[1] (words[1] == "partitionname" ? words[2] : "")
    }
    BEGIN { for (i = split(ENVIRON["EXTRA"], lines, "\n"); i > 0; i--) replaced[key(lines[i])] }
    !(key($0) in replaced)
'

write_slurm_conf() {
    local count=$1 extra=$2
    EXTRA=$extra awk "$not_replaced" >"$state/etc/slurm.conf" <<END
ClusterName=apapi
SlurmctldHost=login($network.254)
SlurmUser=slurm
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=$state_inside/spool/slurmctld
SlurmdSpoolDir=$state_inside/spool/%n
SlurmctldPidFile=$state_inside/run/slurmctld.pid
SlurmdPidFile=$state_inside/run/slurmd-%n.pid
SlurmctldLogFile=$state_inside/log/slurmctld.log
SlurmdLogFile=$state_inside/log/slurmd-%n.log
SlurmctldDebug=info
SlurmdDebug=verbose
PlugStackConfig=$state_inside/etc/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
KillWait=3
MessageTimeout=30
NodeName=n[1-$count] CPUs=8 RealMemory=4000
PartitionName=main Nodes=n[1-$count] Default=YES MaxTime=INFINITE State=UP
END
    echo "$extra" >>"$state/etc/slurm.conf"
    # Without this file Slurm 22.05 makes folders named "freezer(null)". No systemd runs in a node.
    printf '%s\n' "CgroupMountpoint=/sys/fs/cgroup" "IgnoreSystemd=yes" >"$state/etc/cgroup.conf"
}

# Print lines of slurm.conf for a cluster with slurmdbd.
accounting_lines() {
    cat <<END
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=$network.254
AccountingStoreFlags=job_comment
END
}

# Write slurmdbd.conf. slurmdbd demands that others cannot read it.
write_slurmdbd_conf() {
    cat >"$state/etc/slurmdbd.conf" <<END
DbdHost=login
DbdAddr=$network.254
SlurmUser=slurm
AuthType=auth/munge
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct_db
LogFile=$state_inside/log/slurmdbd.log
PidFile=$state_inside/run/slurmdbd.pid
END
    chown slurm:slurm "$state/etc/slurmdbd.conf"
    chmod 600 "$state/etc/slurmdbd.conf"
    install -d -o mysql -g mysql -m 700 "$state/spool/mysql"
}
