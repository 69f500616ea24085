# SPDX-License-Identifier: BSD-3-Clause
# A MariaDB server of the tests' own, for `load`: `server` is its folder, which has `up` while it runs, and `why` where it
# does not.

# For setup_file().
server_begin() {
    server=$(mktemp -d)
    export server
    server_start 2>"$server/why" || true
}

# For teardown_file().
server_end() {
    if [[ -s $server/pid ]]; then kill "$(<"$server/pid")" && wait_gone "$(<"$server/pid")"; fi
    rm -rf "$server"
}

server_start() {
    local owner=()
    PATH=$PATH:/usr/sbin
    command -v mariadbd mariadb-install-db mariadb >/dev/null || { echo "no mariadb-server" >&2; return 1; }
    mkdir "$server/data"
    if ((EUID == 0)); then
        chmod 711 "$server"
        chown mysql "$server" "$server/data"
        owner=(--user=mysql)
    fi
    mariadb-install-db --no-defaults "${owner[@]}" --datadir="$server/data" --skip-test-db \
        --auth-root-authentication-method=socket >"$server/install" 2>&1 || return 1
    mariadbd --no-defaults "${owner[@]}" --datadir="$server/data" --socket="$server/socket" \
        --pid-file="$server/pid" --skip-networking --innodb-flush-log-at-trx-commit=0 \
        >"$server/log" 2>&1 3>&- &
    for _ in {1..300}; do
        if sql "select 1" >/dev/null 2>&1; then : >"$server/up"; return; fi
        sleep 0.1
    done
    echo "mariadbd does not start" >&2
    return 1
}

wait_gone() { for _ in {1..100}; do kill -0 "$1" 2>/dev/null || return 0; sleep 0.1; done; }

sql() { mariadb --no-defaults --default-character-set=utf8mb4 --socket="$server/socket" -N "${@:2}" -e "$1" | tr '\t' '|'; }

# An empty database, whose URL is `url`.
needs_server() {
    [[ -e $server/up ]] || skip "no MariaDB here: $(<"$server/why")"
    "$apapi" import --db mysql:///nothing 2>&1 /dev/null | grep -q 'built without MariaDB' &&
        skip "built without MariaDB"
    sql "drop database if exists apapi; create database apapi"
    url="mysql:///apapi?socket=$server/socket"
}
