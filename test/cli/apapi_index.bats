#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The index that apapi keeps by itself: whatever happens to it, the answers are those of the files. test/golden/run --index
# asks its questions, and those about so many records that their curves are left out.

load report_common
load public
load ../eventually

setup() {
    common_setup
    index=$BATS_TEST_TMPDIR/cache/index.db
    printf '[index]\npath = %s\n' "$index" >"$APAPI_CONFIG"
    record 17 0 n1 0 100 200 '.user = "anna"'
    record 18 0 n1 200 100 300 '.user = "berta"'
    record 19 0 n2 86300 200 400 '.user = "dora"'
    echo '{"apapi":1,"torn":' >>"$acct/2026-11-20/n1.jsonl"
    copies 17 n1 100 140
    sed -Ei 's/^\{(.*)"apapi":1,/{"apapi":1,\1/' "$acct"/*/*.jsonl # gojq sorts the keys: others than ours are not kept
}

# The same from the index and without, of all and of some; the index does not say a word.
same() { # [WORD of standard error]
    local question
    for question in "--by job --json -E 2026-11-21" "--by day -P -N n1" "-u anna"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr report -S 2026-01-01 $question
        given=$output said=$stderr code=$status
        # shellcheck disable=SC2086 # words
        run "-$code" --separate-stderr report -S 2026-01-01 --no-index $question
        [[ $given && $output == "$given" ]]
        [[ $(grep -v "no index: ${1-}" <<<"$said") == "$stderr" && ${1+set} == "$(grep -q "no index: ${1-}" <<<"$said" && echo set)" ]]
    done
}

rows() { sqlite3 "$index" "SELECT $1"; }
files="count(distinct day || file) from parts"

@test "it is made at the first use, for its owner alone, and not written again" {
    same
    [[ $(stat -c %a "$index") == 600 && $(rows "$files") == 2 ]]
    before=$(stat -c %y "$index")
    same
    [[ $(stat -c %y "$index") == "$before" ]]
}

@test "lines that a file gains, and one that is only half there" {
    same
    line=$(head -1 "$acct/2026-11-20/n1.jsonl" | sed 's/"job":17,/"job":77,/')
    printf %s "${line:0:900}" >>"$acct/2026-11-20/n1.jsonl"
    same
    printf '%s\n' "${line:900}" >>"$acct/2026-11-20/n1.jsonl"
    same
    [[ $(rows "count(*) from parts where file = 'n1.jsonl'") == 2 ]]
    line=$(sed 's/"user":"dora"/"user":"anna"/' "$acct/2026-11-21/n2.jsonl")
    printf '%s\n\n' "$line" >"$acct/2026-11-21/n2.jsonl" # it is longer, and another one
    record 20 0 n3 0 100 200
    same
}

@test "a terminal shows how far it has got, also with what the index gives" {
    report -S 2026-01-01 --by user
    # the index is locked until apapi has run for more than the second without a word
    sqlite3 "$index" 'begin exclusive' ".shell touch locked; until [ -e begun ]; do sleep 0.05; done; sleep 1.5" commit 3>&- &
    eventually test -e locked
    run -0 script -qec "touch begun; exec '$apapi' report --acct-dir '$acct' -S 2026-01-01 --by user" /dev/null
    [[ $output =~ ' records, '[0-9]+'/s, '[0-9]+:[0-9]{2}' left' ]]
    wait
}

@test "a file that has shrunk, was replaced or removed, and a day that retention has taken" {
    same
    sed -i 2d "$acct/2026-11-20/n1.jsonl"
    same
    truncate -s 2000 "$acct/2026-11-20/n1.jsonl"
    same
    line=$(sed 's/"user":"dora"/"user":"anna"/' "$acct/2026-11-21/n2.jsonl")
    echo "$line" >"$acct/2026-11-21/n2.jsonl" # the same size and inode
    same
    rm -r "$acct/2026-11-21"
    same
}

@test "compressed files, and files that are no records" {
    gzip "$acct/2026-11-20/n1.jsonl"
    yes 'no record' | head -n 2000 >"$acct/2026-11-20/n4.jsonl"
    head -c 1100000 /dev/zero | tr '\0' x >"$acct/2026-11-20/n5.jsonl"
    echo >>"$acct/2026-11-20/n5.jsonl"
    ln -s n4.jsonl "$acct/2026-11-20/n6.jsonl"
    same
    same
    [[ $(stat -c %s "$index") -lt 300000 ]]
}

@test "a damaged index is made again" {
    same
    yes 'other bytes' | head -c 60000 >"$BATS_TEST_TMPDIR/bytes"
    for damage in "dd if=$BATS_TEST_TMPDIR/bytes bs=1000 seek=2 conv=notrunc" "dd if=$BATS_TEST_TMPDIR/bytes bs=1000 seek=70 conv=notrunc" "truncate -s 50000" "truncate -s 0" "dd if=/dev/zero bs=100 count=1 conv=notrunc"; do
        if [[ $damage == dd* ]]; then
            $damage of="$index" 2>/dev/null
        else
            $damage "$index"
        fi
        same
        same
        [[ $(rows "(select $files) || (select * from pragma_integrity_check)") == 2ok ]]
    done
    sqlite3 "$index" "UPDATE parts SET lines = CAST(zeroblob(length(lines)) AS TEXT)"
    same
    same
    [[ $(rows 'count(*) from parts where substr(cast(lines as blob), 9, 8) = zeroblob(8)') == 0 ]]
}

@test "one of another version, too; a file of another kind is left alone" {
    same
    sqlite3 "$index" "DROP TABLE parts; PRAGMA user_version = 99"
    same
    [[ $(sqlite3 "$index" "PRAGMA user_version") == 6 ]]
    printf '%0200d' 0 >"$index"
    same "$index: it is no index of apapi"
    [[ $(stat -c %s "$index") == 200 ]]
}

@test "another's index is refused, and one that others can read" {
    same
    chmod 644 "$index"
    same "$index: it is not the caller's"
    chmod 600 "$index"
    needs_another_user
    chown 65534 "$index"
    same "$index: it is not the caller's"
    mv "$index" "$index.moved"
    ln -s "$index.moved" "$index"
    same "$index"
}

@test "no place for it: a line, if it matters" {
    printf '[index]\npath = /dev/null/index.db\n' >"$APAPI_CONFIG"
    same "/dev/null/index.db"
    run -0 --separate-stderr report -j 17
    [[ $stderr != *index* ]]
    needs_another_user
    make_public
    publish "$apapi"
    cp -r "$acct" "$public/acct"
    chmod -R go=rX "$public/acct"
    of_nobody() { "${nobody[@]}" env -u XDG_CACHE_HOME HOME="$1" APAPI_CONFIG=/dev/null "$public/apapi" report -S 2026-01-01 --acct-dir "$public/acct" "${@:2}"; }
    run -0 --separate-stderr of_nobody /nonexistent
    [[ $stderr != *index* ]] # a small folder does not need one
    truncate -s 65M "$public/acct/2026-11-20/n9.jsonl"
    chmod go=r "$public/acct/2026-11-20/n9.jsonl"
    run -0 --separate-stderr of_nobody /nonexistent
    [[ $stderr == *"apapi report: no index: /nonexistent/.cache/apapi/index.db: "* && $output == *anna* ]]
    mkdir "$public/home"
    chown 65534 "$public/home"
    run -0 --separate-stderr of_nobody "$public/home"
    [[ $stderr != *index* && $(stat -c %u:%a "$public/home/.cache/apapi/index.db") == 65534:600 ]]
}

@test "a full disk" {
    copies 18 n1 200 2000
    run -0 --separate-stderr env -i PATH="$PATH" APAPI_CONFIG="$APAPI_CONFIG" bash -c "trap '' XFSZ; ulimit -f 100; '$apapi' report -S 2026-01-01 --acct-dir '$acct' -P"
    [[ $stderr == *"no index: $index: "* ]]
    full=$output
    run -0 --separate-stderr report -S 2026-01-01 -P --no-index
    [[ $output == "$full" ]]
    same
}

@test "several at once, and Ctrl-C while it is made" {
    copies 18 n1 200 3000
    for i in {1..6}; do
        report -S 2026-01-01 --by user --json >"$BATS_TEST_TMPDIR/answer$i" 2>&1 &
    done
    wait
    for i in {2..6}; do
        cmp "$BATS_TEST_TMPDIR/answer1" "$BATS_TEST_TMPDIR/answer$i"
    done
    same
    for wait in 0.01 0.02 0.04 0.08; do
        rm "$index"
        timeout -s INT "$wait" "$apapi" report -S 2026-01-01 --acct-dir "$acct" >/dev/null 2>&1 || true
        same
    done
}

@test "it is not made where it is switched off, in a job, in an epilog, and for one job" {
    report -S 2026-01-01 --no-index
    report -S 2026-01-01 -v
    report -j 17
    SLURMD_NODENAME=n1 report -S 2026-01-01
    SLURM_SCRIPT_CONTEXT=epilog_slurmctld report -S 2026-01-01
    printf '[index]\npath = off\n' >"$APAPI_CONFIG"
    report -S 2026-01-01
    [[ ! -e $index ]]
}
