#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Questions about 5000 crafted records: the answers of test/golden/questions, and the same from every source.

load ../environment
load mariadb
load postgres

setup_file() {
    server_begin && postgres_begin
    cd "$BATS_TEST_DIRNAME/../.." || return
    export golden=$BATS_FILE_TMPDIR/golden apapi=$PWD/build/release/core/cli/apapi
}

teardown_file() { server_end; postgres_end; }

ask() { "$BATS_TEST_DIRNAME/../golden/run" --answers="$golden" "$@"; }

import() { # URL
    [[ -d $golden/files ]] || ask >/dev/null || true
    run -0 --separate-stderr "$apapi" import --db "$1" "$golden/acct"
    echo "$output $stderr"
}

@test "the answers from files are as before" {
    ask
}

# bats test_tags=long
@test "the index that apapi keeps by itself gives the same answers as the files, also about many records" {
    [[ -d $golden/files ]] || ask >/dev/null || true
    ask --index
}

# bats test_tags=long
@test "SQLite gives the same answers as the files" {
    import "sqlite:$golden/records.db"
    ask --db="sqlite:$golden/records.db"
}

# bats test_tags=long
@test "so does MariaDB" {
    needs_server
    import "$url"
    ask --db="$url"
}

# bats test_tags=long
@test "so does PostgreSQL" {
    needs_postgres
    import "$url"
    ask --db="$url"
}
