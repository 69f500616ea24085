# SPDX-License-Identifier: BSD-3-Clause
# A PostgreSQL server of the tests' own, for `load`, which the first test that needs it starts: `postgres` is its folder,
# which has `up` while it runs, and `why` where it does not. Load mariadb before.

no_postgres="package postgresql is not installed"

# For setup_file().
postgres_begin() {
    local public
    find_server_folder && export postgres=$public
}

# For teardown_file().
postgres_end() {
    local id
    if [[ -s $postgres/data/postmaster.pid ]]; then
        id=$(head -n 1 "$postgres/data/postmaster.pid")
        kill -QUIT "$id" # nobody needs its data
        eventually server_is_gone "$id"
    fi
    rm -rf "$postgres"
}

postgres_start() {
    local programs owner=()
    programs=$(find /usr/lib/postgresql /usr/bin -name initdb -printf '%h\n' 2>/dev/null | sort -V | tail -n 1)
    [[ -n $programs && -n $(command -v psql) ]] || { echo "$no_postgres" >&2; return 1; }
    mkdir "$postgres/data"
    if ((EUID == 0)); then
        chown 65534:65534 "$postgres/data"
        owner=("${nobody[@]}")
    fi
    # only its owner can enter the folder of the socket
    (cd "$postgres" && "${owner[@]}" "$programs/initdb" -D "$postgres/data" -U apapi -A trust -E UTF8 --locale=C.UTF-8 --no-sync) >"$postgres/install" 2>&1 || return 1
    (cd "$postgres" && exec "${owner[@]}" "$programs/postgres" -D "$postgres/data" -k "$postgres/data" -c listen_addresses= \
        -c fsync=off -c shared_buffers=16MB) >"$postgres/log" 2>&1 3>&- &
    eventually postgres_is_decided $!
    [[ $(psql_apapi "select 1" postgres) == 1 ]] || { tail -n 5 "$postgres/log" >&2; return 1; }
    : >"$postgres/up"
}

# It answers, or it has ended.
postgres_is_decided() { # PID
    ! kill -0 "$1" 2>/dev/null || [[ $(psql_apapi "select 1" postgres 2>/dev/null) == 1 ]]
}

psql_apapi() { # SQL [DATABASE]
    psql -X -h "$postgres/data" -U apapi -d "${2:-apapi}" -At -v ON_ERROR_STOP=1 -c "$1"
}

# An empty database, whose URL is `url`.
needs_postgres() {
    needs_started "$postgres" postgres_start "$no_postgres"
    "$apapi" import --db postgresql:///nothing 2>&1 /dev/null | grep -q 'built without PostgreSQL' &&
        skip "built without PostgreSQL"
    psql_apapi "drop database if exists apapi" postgres
    psql_apapi "create database apapi" postgres
    url="postgresql://apapi@/apapi?host=$postgres/data"
}
