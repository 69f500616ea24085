#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi report --db: databases that fail; golden.bats has the answers.

load report_common
load public
load ../eventually

ask() { "$apapi" report --db "$@"; }

@test "SQLite: a file that may only be read, while an import writes" {
    record 17 0 n1 0 100 200
    reader=("$apapi")
    if ((EUID == 0)); then
        make_public
        publish "$apapi"
        cd "$public"
        reader=("${nobody[@]}" "$public/apapi")
    fi
    "$apapi" import --db sqlite:db --acct-dir "$acct" >/dev/null
    chmod 444 db
    tells 0 '17|20000' "${reader[@]}" report --db "sqlite:$PWD/db" -j 17 -n -P --format=jobid,energy
    # somebody has begun to write: what is not committed is not there
    chmod 644 db
    sqlite3 db "begin immediate; update records set line = json_set(line, '$.domains.package.energy_j', 1)" \
        ".shell touch begun; for i in \$(seq 2400); do [ -e done ] || sleep 0.05; done" "commit" 3>&- &
    eventually test -e begun
    tells 0 '17|20000' "${reader[@]}" report --db "sqlite:$PWD/db" -j 17 -n -P --format=jobid,energy
    run ! sqlite3 db "begin immediate; rollback"
    touch "done"
    wait $!
    tells 0 '17|1' "${reader[@]}" report --db "sqlite:$PWD/db" -j 17 -n -P --format=jobid,energy
}

@test "a job whose total is not there yet is found by the number of its array, and in lists with blanks" {
    record 31 0 n1 20 10 100 '.array_job = 40 | .array_task = 3 | .uid = 1000'
    "$apapi" import --db "sqlite:$BATS_TEST_TMPDIR/db" --acct-dir "$acct" >/dev/null
    sqlite3 "$BATS_TEST_TMPDIR/db" "insert into stale_jobs select cluster, job from jobs; delete from jobs"
    tells 0 '40_3|1000' ask "sqlite:$BATS_TEST_TMPDIR/db" -j 40 -n -P --format=jobid,energy
    for list in --user=' ben , anna' --user='ben, 1000 ' --account='bio , physics' --clusters='c2, c1'; do
        tells 0 '40_3|1000' ask "sqlite:$BATS_TEST_TMPDIR/db" "$list" -S 2000-01-01 -n -P --format=jobid,energy
    done
}

@test "lines that no import has written are left out" {
    record 17 0 n1 0 100 200
    record 18 0 n1 0 100 200
    record 19 0 n1 0 100 200
    url=sqlite:$BATS_TEST_TMPDIR/db
    "$apapi" import --db "$url" --acct-dir "$acct" >/dev/null
    sqlite3 "$BATS_TEST_TMPDIR/db" "update records set line = 'nothing' where job = 17;
        update records set line = json_set(line, '$.elapsed_s', 9e9) where job = 18"
    run -0 ask "$url" -S 2026-01-01 -v -n -P --format=jobid,energy
    [[ $output == "apapi report: $url: "*"apapi report: $url: "*$'\napapi report: 2 lines skipped\n19|20000' ]]
    tells 1 $'apapi report: 2 lines skipped (-v shows them)\n19' ask "$url" -S 2026-01-01 --strict -n -P --format=jobid
}

# SQLite's plan for the queries of a report; the questions are those of core/index/select.c.
@test "each question has an index" {
    "$apapi" import --db sqlite:db /dev/null >/dev/null
    plan() { sqlite3 db "explain query plan $1"; }
    day="day = '2026-11-20' and end_ns >= 1 and end_ns < 2"
    for case in "job = 5|(job=?)" "$day|records_by_day (day=?)" "$day and (user in ('a', '5') or uid in (5))|records_by_day (day=?" \
        "$day and (user in ('a', 'b'))|records_by_user (user=? AND day=?)" \
        "$day and account in ('a')|records_by_account (account=? AND day=?)" \
        "$day and node in ('n1', 'n2')|records_by_node (node=? AND day=?)"; do
        order=node
        [[ $case == *" and ("* || $case == *" in "* ]] && order="coalesce(node, '')"
        run -0 plan "select line from records where ${case%%|*} order by $order, id"
        [[ $output == *"${case#*|}"* && $output != *SCAN* ]] || { echo "${case%%|*}: $output"; false; }
    done
    tells 0 '*COVERING INDEX records_by_day (day>? AND day<?)*' plan "select min(day) from records where day >= '2026-11-20' and day <= '2026-11-21'"
    tells 0 '*(job=?)*(array_job=?)*(het_job=?)*' plan \
        "select line from records where (job in (1) or array_job in (1) or het_job in (1)) and end_ns >= 1 order by day, node, id"
}
