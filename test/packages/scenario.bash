#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Part of packages.bats: what is done in a clean Debian 12, as root. Each step begins as the one before has left it:
# packages and files stay, processes do not.
set -euo pipefail

repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
readonly repository packages=$repository/build/1 newer=$repository/build/2
readonly line=/etc/slurm/plugstack.conf.d/apapi.conf records=/var/log/apapi
cluster=$repository/scripts/cluster

fail() { echo "$*" >&2; exit 1; }

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 install -y "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; fail "apt-get install failed"; }; }
apt_purge() { DEBIAN_FRONTEND=noninteractive apt-get purge -y --auto-remove "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; fail "apt-get purge failed"; }; }

start_cluster() { "$cluster" start --plugstack "$line" --sim '' >/tmp/cluster.log || fail "$(cat /tmp/cluster.log)"; }

forget_earlier_runs() {
    dpkg --purge slurm-spank-apapi python3-apapi apapi-devel apapi >/dev/null 2>&1
    apt-get autoremove -y >/dev/null 2>&1
    rm -rf "$records" /etc/apapi
}

first_table() {
    local begin table
    forget_earlier_runs
    : >"/tmp/empty"
    "$cluster" start --plugstack /tmp/empty --sim '' >/tmp/cluster.log || fail "$(cat /tmp/cluster.log)"
    begin=$SECONDS
    apt_install "$packages"/{apapi,slurm-spank-apapi}_*.deb
    sed -i '0,/^#optional/s/^#optional/optional/' "$line"
    cp "$line" "$repository/build/cluster/etc/plugstack.conf"
    table=$("$cluster" run srun -N2 --apapi=rapl sleep 1 2>&1)
    echo "$table"
    echo "from apt-get install to the first table: $((SECONDS - begin)) s"
    [[ $table =~ total\ +[0-9.]+\ k?J ]] || fail "no table"
    ((SECONDS - begin < 60)) || fail "that took too long"
}

# Steps of 16 at a time: some run before the upgrade, some through it, some after it.
upgrade() {
    local i before version lines
    grep -q '^optional' "$line" || fail "the first step has not been made"
    sed -i 's/^#*default = .*/default = rapl/; $a default = rapl' /etc/apapi/apapi.conf
    start_cluster
    before=$(cat "$records"/*/*.jsonl | wc -l)
    for ((i = 0; i < 20; i++)); do
        "$cluster" run srun -n1 -c1 --apapi=rapl sleep 4 >"/tmp/step.$i" 2>&1 &
    done
    until [[ $("$cluster" run squeue -h -t R | wc -l) -ge 10 || $(jobs -rp | wc -l) -lt 20 ]]; do sleep 0.1; done # a busy machine may be slower
    apt_install "$newer"/{apapi,slurm-spank-apapi}_*.deb
    wait
    version=$(dpkg-query -W -f '${Version}' apapi)
    [[ $version == *-2 ]] || fail "version $version is installed"
    lines=$(($(cat "$records"/*/*.jsonl | wc -l) - before))
    [[ $lines == 20 ]] || fail "$lines records of 20 steps: $(cat /tmp/step.*)"
    for ((i = 0; i < 20; i++)); do
        grep -qE '^ +total +[0-9.]+ k?J' "/tmp/step.$i" || fail "step $i has no table: $(cat "/tmp/step.$i")"
    done
    grep -q '^optional' "$line" || fail "the upgrade has replaced the site's $line"
    grep -qx 'default = rapl' /etc/apapi/apapi.conf || fail "the upgrade has replaced the site's apapi.conf"
}

purge() {
    local left
    [[ -n $(ls "$records") ]] || fail "there are no records to keep"
    mkdir -p /var/lib/apapi/users/1000
    touch /var/spool/apapi/n1.idle /var/lib/apapi/index.db
    touch /var/lib/apapi/records.db /var/lib/apapi/users/1000/2026-11-21.jsonl # the site's own
    apt_purge apapi slurm-spank-apapi
    [[ -e /var/lib/apapi/records.db && -e /var/lib/apapi/users/1000/2026-11-21.jsonl ]] || fail "the site's database or its users' records are gone"
    rm -r /var/lib/apapi/users /var/lib/apapi/records.db
    [[ -z $(ls /var/lib/apapi) ]] || fail "still there: $(ls /var/lib/apapi)"
    rmdir /var/lib/apapi
    left=$(find /etc /usr /var /run -xdev -path "$repository" -prune -o -name '*apapi*' ! -path "$records" ! -path '/var/lib/dpkg/*' \
        ! -path '/var/cache/*' -print)
    [[ -z $left ]] || fail "still there: $left"
    [[ -n $(cat "$records"/*/*.jsonl) ]] || fail "the records are gone"
}

case $1 in
first_table | upgrade | purge) "$1" ;;
*) fail "unknown step $1" ;;
esac
