#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has a url of its own
# apapi import: records into SQLite, and into a MariaDB and a PostgreSQL of the test's own.

load atime_common
load mariadb
load postgres

setup_file() { server_begin && postgres_begin; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }

teardown_file() { server_end; postgres_end; }

import() { "$apapi" import "$@"; }

# A record: 100 W in the package, 10 W in the memory, from 11:MINUTE:00 on for SECONDS.
record() { # JOB STEP NODE SECONDS [MINUTE] [MORE]
    printf '{"apapi":1,"cluster":"c1","job":%s,"step":"%s","name":"stream","node":"%s",%s' "$1" "$2" "$3" "${6:-}"
    printf '"start":"2026-11-21T11:%s:00Z","elapsed_s":%s,"late_s":0.0,"complete":true,' "${5:-20}" "$4"
    printf '"domains":{"package":{"energy_j":%s,"mean_w":100.0},"dram":{"energy_j":%s,"mean_w":10.0}},' "$(($4 * 100))" "$(($4 * 10))"
    printf '"components":[{"name":"rapl","source":"sim","interval_s":0.1,"events":['
    printf '{"name":"rapl:::PKG","domain":"package","unit":"J","scale":1,"counter":true,"total":%s,"covered_s":%s,"samples":%s}]}],' \
        "$(($4 * 100))" "$4" "$(($4 * 10))"
    printf '"timeline":{"bin_s":%s,"package":{"unit_j":1,"n":[%s]}},"trust":{"covered":1.0,"cpu_s":0.0,"samples":100}}\n' "$4" "$(($4 * 100))"
}

# Batch and a step at the same time on n1, the step on n2, too; and another job's; two days.
folder() {
    mkdir -p acct/2026-11-21 acct/2026-11-22
    { record 7 batch n1 40 20 '"user":"alice","account":"a","partition":"p","verified":true,'
      record 7 0 n1 40 20 '"user":"mallory",'; } >acct/2026-11-21/n1.jsonl
    record 7 0 n2 40 20 '"user":"mallory",' >acct/2026-11-21/n2.jsonl
    record 8 0 n2 10 30 '"user":"bob",' >acct/2026-11-22/n2.jsonl
}

# Totals of an import are those that the lines of the database have.
check_totals() {
    local totals
    totals=$(ask "select * from jobs order by cluster, job, uid")
    ask "insert into stale_jobs (cluster, job) select distinct cluster, job from jobs"
    ask "delete from jobs"
    import --db "$url" /dev/null
    diff - <(ask "select * from jobs order by cluster, job, uid") <<<"$totals"
}

# The same for each kind of database: `ask` SQL prints rows with "|". For PostgreSQL it is as SQL of the others; flags and sums of
# whole numbers look the same.
on() { # DATABASE
    case $1 in
    SQLite)
        url=sqlite:db
        ask() { sqlite3 db "$1"; }
        ;;
    MariaDB)
        needs_server
        ask() { sql "$1" apapi; }
        ;;
    PostgreSQL)
        needs_postgres
        ask() { psql_apapi "$(sed -E 's/`([a-z]*)`/"\1"/g; s/\buser\b/"user"/g; s/([a-z_]+ is null)/(\1)::int/g; s/^select line from/select convert_from(line, '"'UTF8'"') from/' <<<"$1")"; }
        ;;
    esac
}

check_all() {
    folder
    tells 0 '4 records added, 0 replaced, 0 known; 2 jobs added up' import --db "$url" --acct-dir acct
    check_rows
    tells 0 '0 records added, 0 replaced, 0 known; 0 jobs added up' import --db "$url" --acct-dir acct # nothing new is read
    tells 0 '0 records added, 0 replaced, 4 known; 0 jobs added up' import --db "$url" acct/*/* # all of it is read, and known
    check_rows
    check_other_cluster
    check_more
}

check_rows() {
    [[ $(ask "select count(*) from records") == 4 ]]
    [[ $(ask "select count(*) from domains") == 8 && $(ask "select count(*) from events") == 4 ]]
    [[ $(ask "select sum(total) from events e join records r on r.id = e.record where job = 7") =~ ^12000(.0)?$ ]]
    # batch and step on n1 are the same energy: two nodes, 40 s, 110 W
    [[ $(ask "select energy_j, steps, nodes, records, user, account, \`partition\`, verified from apapi_jobs where job = 7") \
        == 8800*'|2|2|3|alice|a|p|1' ]]
    [[ $(ask "select package_j + 0, dram_j + 0, gpu_j is null, elapsed_s + 0 from apapi_jobs where job = 7") \
        =~ ^8000(.0)?\|800(.0)?\|1\|40(.0*)?$ ]]
    [[ $(ask "select day, cluster, user, jobs, records from apapi_days order by user") == \
        $'2026-11-21|c1|alice|1|3\n2026-11-21|c1|bob|1|1' ]]
    [[ $(ask "select timeline from timelines t join records r on r.id = t.record where job = 8" | jq -c .) == '{"bin_s":10,"package":{"n":[1000],"unit_j":1}}' ]]
    [[ $(ask "select line from records where job = 8") == "$(record 8 0 n2 10 30 '"user":"bob",')" ]]
}

# A node of the same name, in a folder of the same path.
check_other_cluster() {
    mv acct here
    mkdir -p acct/2026-11-22
    for step in {0..9}; do record 8 "$step" n2 10 30; done | sed 's/"c1"/"c2"/' >acct/2026-11-22/n2.jsonl
    tells 0 '10 records added, 0 replaced, 0 known; 1 jobs added up' import --db "$url" --acct-dir acct
    ask "delete from records where cluster = 'c2'"
    ask "delete from jobs where cluster = 'c2'"
    rm -r acct
    mv here acct
    tells 0 '0 records added, 0 replaced, 0 known; 0 jobs added up' import --db "$url" --acct-dir acct
}

# Appended, torn, finished, longer, later version.
check_more() {
    record 8 1 n2 20 40 >>acct/2026-11-22/n2.jsonl
    record 9 0 n2 10 50 | head -c 100 >>acct/2026-11-22/n2.jsonl
    tells 0 '*1 records added, 0 replaced, 0 known; 1 jobs added up*' import --db "$url" --acct-dir acct
    [[ $output == *'1 line skipped (-v shows them)'* ]]
    [[ $(ask "select energy_j, steps from apapi_jobs where job = 8") =~ ^3300(.0)?\|2$ ]]
    record 9 0 n2 10 50 | tail -c +101 >>acct/2026-11-22/n2.jsonl
    tells 0 '1 records added, 0 replaced, 0 known; 1 jobs added up' import --db "$url" --acct-dir acct

    { record 9 0 n2 30 50; record 9 0 n2 20 50; echo '{"apapi":1,"job'; echo '{"apapi":99}'; } >other
    tells 0 '*0 records added, 1 replaced, 1 known; 1 jobs added up*' import -v --db "$url" other
    [[ $output == *'other:3: '*'other:4: '*'2 lines skipped'* ]]
    [[ $(ask "select count(*), sum(energy_j) from records where job = 9") =~ ^1\|3300(.0)?$ ]]
    [[ $(ask "select energy_j from apapi_jobs where job = 9") =~ ^3300(.0)?$ ]]
    tells 1 '*2 known*' import --strict --db "$url" other
    tells 0 '*0 records added, 0 replaced, 0 known;*' import --db "$url" other -S 2027-01-01
    check_broken_off
    check_totals
}

# The state after an import that was broken off between records and totals.
check_broken_off() {
    ask "update jobs set energy_j = 1 where job = 9"
    ask "insert into stale_jobs values ('c1', 9)"
    [[ -z $(ask "select * from apapi_jobs where job = 9") ]]
    [[ $(ask "select sum(jobs) from apapi_days") == 2 ]]
    tells 0 '0 records added, 0 replaced, 0 known; 1 jobs added up' import --db "$url" /dev/null
    [[ $(ask "select energy_j from apapi_jobs where job = 9") =~ ^3300(.0)?$ ]]
}

@test "SQLite: twice is once, only what is new, totals, views" {
    on SQLite
    check_all
    [[ $(stat -c %a "$BATS_TEST_TMPDIR/db") == 600 ]]
}

@test "MariaDB: twice is once, only what is new, totals, views" {
    on MariaDB
    check_all
}

# bats test_tags=long
@test "PostgreSQL: twice is once, only what is new, totals, views" {
    on PostgreSQL
    check_all
}

# Of 150 nodes; some records have come twice and longer, in any order, with as many as are written at once.
@test "SQLite: twins among many" {
    on SQLite
    for node in {1..150}; do
        record 5 0 "n$node" 10
        ((node % 10)) || { record 5 0 "n$node" 30; record 5 0 "n$node" 20; }
    done >twins
    tells 0 '150 records added, 15 replaced, 15 known; 1 jobs added up' import --db "$url" twins
    tells 0 '0 records added, 0 replaced, 180 known; 0 jobs added up' import --db "$url" twins
    [[ $(ask "select count(*), sum(elapsed_s) + 0 from records") =~ ^150\|1800(.0)?$ ]]
    for table in timelines:1 domains:2 components:1 events:1; do
        [[ $(ask "select count(*) from ${table%:*} join records on id = record") == $((150 * ${table#*:})) ]]
        [[ $(ask "select count(*) from ${table%:*}") == $((150 * ${table#*:})) ]]
    done
    [[ $(ask "select records, nodes, energy_j + 0 from apapi_jobs") =~ ^150\|150\|198000(.0)?$ ]]
    [[ $(ask "select count(*), sum(elapsed_s) + 0 from twins") =~ ^30\|450(.0)?$ ]]
    tells 0 '150|30|198000' "$apapi" report --db "$url" -P --format=nodes,elapsed,energy -n -S 2026-01-01
    TZ=UTC tells 0 '150|20' "$apapi" report --db "$url" -P --format=nodes,elapsed -n -S 2026-01-01 -E 2026-11-21T11:20:25
    check_totals
    [[ $(ask "pragma integrity_check") == ok ]]
}

@test "SQLite: killed in the middle, nothing is half" {
    for node in {1..300}; do record 7 0 "n$node" 10; done >file
    mkfifo pipe
    "$apapi" import --db sqlite:db pipe 3>&- &
    exec 4>pipe
    cat file >&4
    eventually test -s db-journal
    kill -KILL $!
    wait $! || true
    exec 4>&-
    [[ $(sqlite3 db "pragma integrity_check; select count(*) from records; select count(*) from domains") == $'ok\n0\n0' ]]
    tells 0 '300 records added,*' import --db sqlite:db file
}

# Two records of the same step, node and start: which came first does not matter.
check_equals() { # IN FAVOUR OF THE FIRST, ONE LINE EACH
    local first second
    while IFS=$'\t' read -r first second; do
        for order in "$first"$'\n'"$second" "$second"$'\n'"$first"; do
            rm -f db
            import --db sqlite:db - <<<"$order" >equals
            [[ $(sqlite3 db 'select line from records') == "$first" ]] || { echo "$order"; cat equals; return 1; }
        done
    done
}

@test "of two records the longer one stays, then the complete one, then the one with the greater line" {
    incomplete() { sed 's/"complete":true/"complete":false/'; }
    { paste <(record 7 0 n1 20 20) <(record 7 0 n1 10 20)
      paste <(record 7 0 n1 20 20 | incomplete) <(record 7 0 n1 10 20)
      paste <(record 7 0 n1 10 20 '"account":"a",') <(record 7 0 n1 10 20 '"account":"b",' | incomplete)
      paste <(record 7 0 n1 10 20 '"account":"b",') <(record 7 0 n1 10 20 '"account":"a",'); } >pairs
    check_equals <pairs
}

@test "totals know the power over time" {
    { record 7 batch n1 40 | sed 's/"bin_s":40,/"bin_s":20,/; s/"n":\[4000\]/"n":[4000,null]/'
      record 7 0 n1 20 20 | sed 's/T11:20:00Z/T11:20:20Z/'; } >file
    run -0 import --db sqlite:db file
    [[ $(sqlite3 db "select package_j, dram_j from apapi_jobs") == '6000.0|400.0' ]]
    # two that overlap by half, the second with most of its energy at its end
    { record 9 0 n1 40 20
      record 9 1 n1 40 20 | sed 's/T11:20:00Z/T11:20:20Z/; s/"bin_s":40,/"bin_s":20,/; s/"n":\[4000\]/"n":[1000,3000]/'; } >overlap
    run -0 import --db sqlite:db overlap
    [[ $(sqlite3 db "select package_j, covered_s from apapi_jobs where job = 9") == '7000.0|60.0' ]]
    # one record alone, half of which is not known
    record 8 0 n1 40 | sed 's/"bin_s":40,/"bin_s":20,/; s/"n":\[4000\]/"n":[4000,null]/' >gap
    run -0 import --db sqlite:db gap
    [[ $(sqlite3 db "select package_j, covered_s from apapi_jobs where job = 8") == '4000.0|20.0' ]]
}

@test "what is known of a job comes from each of its records, as in a report" {
    on SQLite
    { record 7 extern n1 40 20 '"uid":1,"user":"alice",'
      record 7 0 n1 10 21 '"uid":1,"account":"a","partition":"p","qos":"q","job_name":"j","het_job":6,"het_offset":1,'
      record 7 1 n1 10 22 '"uid":1,"account":"b","partition":"p2","qos":"q2","job_name":"j2","het_job":5,"het_offset":2,'
      record 8 0 n1 10 30 '"uid":1,"account":"b","partition":"p2","qos":"q2","user":"bob","array_job":4,"array_task":1,'
      record 8 batch n1 10 31 '"uid":1,"account":"a","partition":"p","user":"alice","job_name":"j","verified":true,'; } >file
    import --db "$url" file
    [[ $(ask "select job, user, account, partition, qos, job_name, het_job, het_offset, array_job, array_task, verified from apapi_jobs order by job") == \
        $'7|alice|a|p|q|j|6|1|||0\n8|alice|a|p|q2|j|||||1' ]]
    tells 0 $'6+1|alice|a|p|q|j\n8|alice|a|p|q2|j' "$apapi" report file -P -n --format=jobid,user,account,partition,qos,jobname
}

@test "hostile values stay values" {
    record 7 "0'); drop table records; --" n1 10 20 '"user":"x'"'"'; \u00e9 \ud83d\ude00","reason":"\"timeline\":{\"",' >file
    run -0 import --db sqlite:db file
    [[ $(sqlite3 db "select count(*), step, user from records") == "1|0'); drop table records; --|x'; é 😀" ]]
    [[ $(sqlite3 db "select timeline from timelines") == '{"bin_s":10,'* ]]
}

# shellcheck disable=SC1003 # backslashes of JSON
check_hostile() {
    { record 7 "0'); drop table records; --" n1 10 20 '"user":"x'"'"'; \ud83d\ude00",'
      record 7 a n1 10; record 7 A n1 10; record 7 'a ' n1 10
      record 8 0 n1 10 | sed 's/"energy_j":[0-9]*/"energy_j":5e-324/g'
      record 7 '\\' n1 10 20 '"user":"\u20ac\\'"'"' ? $1\n--\\","reason":"'$'\xc3\xa9'"'"'\\",'; } >good
    { cat good; record 7 b n1 10 20 '"user":"\u0000",'; record 7 c n1 10 20 '"reason":"\ud800",'; } >file
    run -0 import --db "$url" file
    [[ $output == *'6 records added,'* && $output == *'2 lines skipped'* ]]
    [[ $(ask "select sum(char_length(user)), count(user) from apapi_records") == '17|2' ]]
    [[ $(ask "select count(energy_kwh) from apapi_jobs") == 2 ]]
    diff <("$apapi" report good --by=step --json) <("$apapi" report --db "$url" -S 2026-01-01 --by=step --json)
}

@test "MariaDB: hostile values, capitals and blanks are told apart" {
    on MariaDB
    printf '[client]\ndefault-character-set=gbk\n' >options # in which half of a euro sign takes the backslash behind it
    url+="&option-file=$PWD/options"
    check_hostile
}

# bats test_tags=long
@test "PostgreSQL: hostile values, capitals and blanks are told apart" {
    on PostgreSQL
    check_hostile
}

# Two nodes, of which one has two steps: 4 + 2 + 3 J of three energies.
@test "the uncertainty of a job is in jobs, of a day in apapi_days, where all of it is known" {
    on SQLite
    known() { jq -c ".domains.dram.uncertainty_j = 1 | .domains.package.uncertainty_j = $1 - 1"; }
    { record 7 0 n1 10 20 | known 4
      record 7 1 n1 10 30 | known 2
      record 7 0 n2 10 20 | known 3
      record 8 0 n1 10 40; } >file
    run -0 import --db "$url" file
    [[ $(ask "select job, round(uncertainty_j, 6) + 0 from jobs where job = 7") =~ ^7\|9(.0*)?$ ]]
    [[ $(ask "select uncertainty_j is null from apapi_jobs where job = 8") == 1 ]]
    [[ $(ask "select uncertainty_j is null from apapi_days") == 1 ]] # of one of its jobs it is not known
    tells 0 $'7|9\n8|' "$apapi" report --db "$url" -P -n -S 2026-11-21 --format=jobid,uncertainty
    record 8 0 n1 20 40 | known 5 >longer
    run -0 import --db "$url" longer
    [[ $(ask "select round(uncertainty_j, 6) + 0 from apapi_days") =~ ^14(.0*)?$ ]]
}

@test "nothing half: a full database" {
    record 7 0 n1 10 >file
    import --db sqlite:db /dev/null
    sqlite3 db "create trigger t before insert on stale_jobs begin select raise(abort, 'disk full'); end"
    tells 1 '*disk full' import --db sqlite:db file
    [[ $(sqlite3 db "select count(*) from records") == 0 ]]
    sqlite3 db "drop trigger t; create trigger t before insert on jobs begin select raise(abort, 'disk full'); end"
    tells 1 '*disk full' import --db sqlite:db file
    [[ $(sqlite3 db "select count(*) from records") == 1 && $(sqlite3 db "select count(*) from apapi_jobs") == 0 ]]
    sqlite3 db "drop trigger t"
    tells 0 '0 records added, 0 replaced, 1 known; 1 jobs added up' import --db sqlite:db file
    [[ $(sqlite3 db "select records from apapi_jobs") == 1 ]]
}

# bats test_tags=long
@test "MariaDB: the server is down, dies, or refuses" {
    needs_server
    record 7 0 n1 10 >file
    tells 1 "apapi import: MariaDB: Can't connect to *" import --db "mysql:///apapi?socket=$BATS_TEST_TMPDIR/none" file
    tells 1 "apapi import: MariaDB: Access denied for user 'stranger'*" import --db "mysql://stranger@/apapi?socket=$server/socket" file
    tells 1 "apapi import: none: No such file or directory" import --db "$url&option-file=none" file
    tells 1 "apapi import: MariaDB: Unknown database 'none'" import --db "mysql:///none?socket=$server/socket" file
    import --db "$url" /dev/null
    # the connection dies in the middle of the reading
    connected() { [[ $(sql "select count(*) from information_schema.processlist where db = 'apapi'") != 0 ]]; }
    { record 8 0 n1 10; eventually connected
      sql "select concat('kill ', id, ';') from information_schema.processlist where db = 'apapi'" | sql "$(cat)"
      record 9 0 n1 10; } | {
        tells 1 'apapi import: MariaDB: *' import --db "$url" -
    }
    [[ $(sql "select count(*) from records" apapi) == 0 ]]
}

# bats test_tags=long
@test "MariaDB: an import that has waited too long for another one changes nothing; nor does one whose IDs are taken" {
    needs_server
    record 7 0 n1 10 >file
    import --db "$url" file
    mkfifo pipe
    "$apapi" import --db "$url" pipe >first 2>&1 3>&- &
    exec 4>pipe
    record 8 0 n1 10 >&4
    eventually writes_to_mariadb
    sql "set global innodb_lock_wait_timeout = 1"
    tells 1 'apapi import: MariaDB: another import is writing to this database' import --db "$url" file
    sql "set global innodb_lock_wait_timeout = default"
    # someone who does not ask for the lock
    sql "create temporary table other select * from records; update other set id = 2, job = 9; insert into records select * from other" apapi
    exec 4>&-
    status=0
    wait $! || status=$?
    [[ $status == 1 && $(<first) == "apapi import: MariaDB: Column 'id' cannot be null" ]]
    [[ $(sql "select group_concat(job order by id) from records" apapi) == 7,9 ]]
}

writes_to_mariadb() { [[ $(sql "select count(*) from information_schema.innodb_trx") != 0 ]]; }

# bats test_tags=long
@test "MariaDB: a user who may only add rows or read, with a password from a file" {
    needs_server
    record 7 0 n1 10 >file
    sql "drop user if exists loader@localhost; create user loader@localhost identified by 'a secret';
        grant select, insert, update, delete on apapi.* to loader@localhost"
    printf '[client]\nuser=loader\npassword=a secret\n' >options
    loader="$url&option-file=$PWD/options"
    tells 1 '*command denied*' import --db "$loader" file
    import --db "$url" /dev/null
    tells 0 '1 records added,*' import --db "$loader" file
    report() { "$apapi" report --db "$loader" -j 7 -n -P --format=jobid,energy; }
    sql "revoke insert, update, delete on apapi.* from loader@localhost"
    tells 0 '7|1100' report
    sql "revoke all on apapi.* from loader@localhost; grant select on apapi.apapi_schema to loader@localhost"
    tells 1 'apapi report: MariaDB: *denied*' report
}

# bats test_tags=long
@test "PostgreSQL: the server is down, ends the connection, or refuses; who may do what" {
    needs_postgres
    record 7 0 n1 10 >file
    tells 1 'apapi import: PostgreSQL: connection to server on socket *No such file or directory' import --db "postgresql:///apapi?host=$BATS_TEST_TMPDIR/none" file
    tells 1 'apapi import: PostgreSQL: *role "stranger" does not exist' import --db "postgresql://stranger@/apapi?host=$postgres/data" file
    psql_apapi "create database ascii encoding 'SQL_ASCII' locale 'C' template template0" postgres
    tells 1 'apapi import: PostgreSQL: this database has the encoding SQL_ASCII, not UTF8' import --db "postgresql://apapi@/ascii?host=$postgres/data" file
    tells 1 'apapi import: PostgreSQL: *database "none" does not exist' import --db "postgresql://apapi@/none?host=$postgres/data" file
    tells 1 'apapi report: no records were imported into this database' "$apapi" report --db "$url" -j 7
    psql_apapi "drop role if exists loader; create role loader login"
    tells 1 '*permission denied for schema public' import --db "postgresql://loader@/apapi?host=$postgres/data" file
    import --db "$url" /dev/null
    psql_apapi "grant select, insert, update, delete on all tables in schema public to loader"
    tells 0 '1 records added,*' import --db "postgresql://loader@/apapi?host=$postgres/data" file
    # rows that a user may not see are not in the views, either
    psql_apapi "drop role if exists reader; create role reader login; grant select on all tables in schema public to reader;
        alter table records enable row level security; create policy own on records for select to reader using (\"user\" = 'alice')"
    record 8 0 n1 10 20 '"user":"alice",' >another
    import --db "$url" another
    [[ $(psql -X -h "$postgres/data" -U reader -At -c "select count(*), min(job) from records r join domains d on d.record = r.id" apapi) == '2|8' ]]
    [[ $(psql -X -h "$postgres/data" -U reader -At -c "select job from apapi_records" apapi) == 8 ]]
    tells 0 8 "$apapi" report --db "postgresql://reader@/apapi?host=$postgres/data" -S 2026-01-01 -P -n --format=jobid
    # the connection ends in the middle of the reading
    { record 9 0 n1 10; eventually connected_to_postgres
      psql_apapi "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'apapi'" >&2
      record 10 0 n1 10; } | {
        tells 1 '*apapi import: PostgreSQL: *' import --db "$url" -
    }
    [[ $(psql_apapi "select count(*) from records where job > 8") == 0 ]]
}

connected_to_postgres() { [[ $(psql_apapi "select count(*) from pg_stat_activity where application_name = 'apapi'") != 0 ]]; }

@test "from one second on a terminal shows how far import and report are; nothing else does" {
    record 7 0 n1 10 >a
    record 8 0 n2 10 >c
    mkfifo b
    later() { exec 8>b; sleep 1.1; record 9 0 n3 10 >&8; exec 8>&-; } # it is open when apapi reads it
    for words in 'import --dry-run' 'report -n -o jobid'; do
        local list
        read -ra list <<<"$words"
        later &
        run -0 script -qec "'$apapi' $words a b c" /dev/null
        [[ $output =~ $'\r['#{12}'.'{12}']  50 %, 2 records, '[0-9]+'/s, '[0-9]+:[0-9]{2}' left'$'\e[K'.*$'\r\e[K' ]]
        later &
        complains 0 '' "$apapi" "${list[@]}" a b c
        run -0 script -qec "'$apapi' $words a c" /dev/null
        [[ $output != *$'\e'* ]]
        rm -f begun
        { record 7 0 n1 10; eventually test -e begun; sleep 1.5; record 8 0 n2 10; } >b & # apapi may begin after `cat`
        run -0 script -qec "cat b | { touch begun; exec '$apapi' $words -; }" /dev/null
        [[ $output =~ $'\r2 records, '[0-9]+$'/s\e[K' ]]
    done
}

@test "the page names every table and column" {
    import --db sqlite:db /dev/null
    sqlite3 db "select m.name || '.' || p.name from sqlite_master m, pragma_table_info(m.name) p where m.type in ('table', 'view')" >columns
    [[ $(wc -l <columns) -gt 100 ]]
    while IFS=. read -r table column; do
        grep -qF "\`$column\`" "$repository/docs/database.md" || { echo "$table.$column"; false; }
    done <columns
}
