# SPDX-License-Identifier: BSD-3-Clause
# A MariaDB server of the tests' own, for `load`, which the first test that needs it starts: `server` is its folder, which
# has `up` while it runs, and `why` where it does not.

load public
load ../eventually

no_server="package mariadb-server is not installed"

# Sets public to a folder for a server, which is not root's. For setup_file().
find_server_folder() {
    if ((EUID == 0)); then
        find_public
    else
        public=$(mktemp -d "${TMPDIR:-/tmp}/apapi-test.XXXXXX")
    fi
}

server_begin() { find_server_folder && export server=$public; }

# For teardown_file().
server_end() {
    if [[ -s $server/pid ]]; then
        kill -KILL "$(<"$server/pid")" # nobody needs its data
        eventually server_is_gone "$(<"$server/pid")"
    fi
    rm -rf "$server"
}

server_is_gone() { # PID
    ! grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null
}

# Its files need not survive the machine. Without io_uring: MariaDB aborts when one of its requests there is refused or
# cancelled. With a folder of its own for temporary tables: at its start MariaDB removes those that it finds.
server_start() {
    local options=(--no-defaults --datadir="$server/data" --tmpdir="$server" --innodb-use-native-aio=OFF --innodb-flush-method=nosync
        --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --innodb-log-file-size=8M --innodb-buffer-pool-size=32M
        --performance-schema=OFF)
    local root
    PATH=$PATH:/usr/sbin
    command -v mariadbd mariadb-install-db mariadb >/dev/null || { echo "$no_server" >&2; return 1; }
    mkdir "$server/data"
    root=$(id -un) || return 1 # a server knows its users by name
    if ((EUID == 0)); then
        chown mysql "$server" "$server/data"
        options+=(--user=mysql)
    fi
    mariadb-install-db "${options[@]}" --skip-test-db --auth-root-authentication-method=socket --auth-root-socket-user="$root" \
        >"$server/install" 2>&1 || return 1
    mariadbd "${options[@]}" --socket="$server/socket" --pid-file="$server/pid" --skip-networking >"$server/log" 2>&1 3>&- &
    eventually is_decided $!
    : >"$server/up"
    sql "create database apapi"
    [[ $(sql "show databases like 'apapi'") != apapi ]] || return 0
    rm "$server/up"
    tail -n 5 "$server/log" >&2
    return 1
}

# It answers, or it has ended.
is_decided() { # PID
    ! kill -0 "$1" 2>/dev/null || [[ $(sql "select 1" 2>/dev/null) == 1 ]]
}

sql() { mariadb --no-defaults --default-character-set=utf8mb4 --socket="$server/socket" -N "${@:2}" -e "$1" | tr '\t' '|'; }

# Have START run once; where that fails, say why, or skip the test if it is for want of a package.
needs_started() { # FOLDER START MISSING
    [[ -e $1/up || -s $1/why ]] || "$2" 2>"$1/why" || true
    [[ ! -e $1/up ]] || return 0
    [[ $(<"$1/why") != "$3" ]] || skip "$3"
    echo "the server does not start:"
    tail -n 5 "$1/why" "$1/install" "$1/log"
    return 1
}

# An empty database, whose URL is `url`.
needs_server() {
    needs_started "$server" server_start "$no_server"
    "$apapi" import --db mysql:///nothing 2>&1 /dev/null | grep -q 'built without MariaDB' &&
        skip "built without MariaDB"
    sql "drop database if exists apapi; create database apapi"
    url="mysql:///apapi?socket=$server/socket"
}
