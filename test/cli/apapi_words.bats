#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The words of options, sacct's, in all commands; what rows are, and how wide a table is.

load report_common
load public

@test "wrong words: what is wrong and what would be right, exit status 2, nothing on standard output" {
    local words said
    while IFS='|' read -r words said; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr "$apapi" $words
        [[ $status -eq 2 && -z $output && $stderr =~ ^apapi(\ ${words%% *})?": $said" && $stderr != *secret* ]] || { echo "$words: $stderr"; false; }
    done <<'END'
lst|unknown command 'lst': did you mean 'list'? 'apapi help' shows all
xyz|unknown command 'xyz'; 'apapi help' shows all
help doktor|unknown command 'doktor': did you mean 'doctor'?
--jsn|unknown option '--jsn'; 'apapi help' shows all
help report extra|more than one COMMAND
list --json --names|either --json or --names
list --jsn|unknown option '--jsn': did you mean '--json'? 'apapi help list' shows all
list -x|unknown option '-x'; 'apapi help list' shows all
list --json=3|--json takes no argument
report --db|--db needs an argument
list rpal|unknown component 'rpal': did you mean 'rapl'? 'apapi list' shows what there is
list rapl:powrcap|unknown component 'powrcap': did you mean 'powercap'?
list rapl:|a name is missing in the list of components
doctor foo|unknown component 'foo'; 'apapi list' shows
report -j x|'x' is not a job; write it as 17, 17.0
report -j 17.|'17.' is not a job
report -j 17.0+0|'17.0+0' is not a job
report -j 17_|'17_' is not a job
report -j -1|'-1' is not a job
report -j 17,|'' is not a job
report -S noonish|'noonish' is not a time; write it as
report -S 2026-11-21 -E 2026-11-20|-S is not before -E
report -N n[1|'n[1' is not a list of nodes like n[1-4]
report --format=|unknown field ''
report --format=jobid,enrgy|unknown field 'enrgy'
report --format=jobid%x|'jobid%x': the width is not a number from 1 to 4096
report --format=jobid%0|'jobid%0': the width is not a number from 1 to 4096
report --by week|--by=week: valid are job, step, node, or a list of user, account, partition, qos, cluster and day
report --by user,node|--by=user,node: valid are
report --by user,user|--by=user,user: user is listed twice
report --by user,|--by=user,: valid are
report --energy half|--energy=half: valid are node and share
report --top 0|--top=0: not a number from 1 on
report --db nonsense|--db: 'nonsense' is not a database: write sqlite:FILE, mysql://
report --db sqlite:f file|--db cannot be combined with files or --acct-dir
report --db sqlite:f --acct-dir d|--db cannot be combined with files or --acct-dir
report --acct-dir d file|either files or --acct-dir
show --acct-dir d 17 file|either files or --acct-dir
report -u|-u needs an argument
report --user=|--user: the list is empty
report --accounts=|--accounts: the list is empty
report --name=|--name: the list is empty
report --csv --json|--json contradicts an option before it
report --csv -P|--parsable2 contradicts
import|which database? --db names it, as sqlite:FILE
import --db nonsense f|--db: 'nonsense' is not a database: write sqlite:FILE, mysql://
import --db sqlite: f|--db: which file? write it as sqlite:FILE
import --db mysql://host f|--db: which database? write it as mysql://host/database
import --db mysql://u:secret@h/d f|--db: no password on the command line, where everyone sees it: it belongs into [client] of ~/.my.cnf
import --db mysql://h:0/d f|--db: '0' is not a port
import --db mysql:///d?wrong=1 f|--db: 'wrong' after '?': only socket=PATH and option-file=PATH are valid
import --db postgresql://host f|--db: which database? write it as postgresql://host/database
import --db postgresql://u:secret@h/d f|--db: no password on the command line, where everyone sees it: it belongs into ~/.pgpass
import --db postgresql://h/d?password=secret f|--db: no password on the command line
import --db sqlite:f --acct-dir d f|either files or --acct-dir
show|which JOB? See 'apapi help show'
show -j 25 --db sqlite:x f|--db cannot be combined with files or --acct-dir
show -f csv|which files? 'apapi help show' shows how
show 519.0 -f merged n1|-f takes FILEs: name the step as -j 519.0
show -f csv -u anna n1|one step of FILEs, as -f prints it, has only -j, -M, -N, -v and --strict: for the others name a JOB, without -f
show -f none file|--format=none: valid are table, json, csv and merged
show -f table -j 0 file|'0' is not a job
show --wait 2s 17|--wait is of --brief
show --brief|which JOB? See 'apapi help show'
show --brief 17,18|JOB is one job, as 17, 17_3 of an array or 17+1
show --brief 17.0|JOB is one job
show --brief 17 --wait=5|a unit is missing in '5'
audit n1|takes no arguments: name a folder with --acct-dir
audit --top 0|--top=0: not a number from 1 on
regions|which JOB? See 'apapi help regions'
regions --format xml 17|--format=xml: valid are table, json and csv
plot -o a.html|which JOB? See 'apapi help plot'
plot 17|which file? -o FILE.svg or FILE.html; or -o -
plot 17 -o a.gif|a.gif: its name must end with .svg or .html, or -f name the format
plot 17 --by user -o a.html|--by=user: valid are domain and node
export|which file? Name it, or prometheus_dir in apapi.conf
export --prometheus a.prom b.prom|one file; 'apapi help export' shows how
config a b|more than one FILE
top 17|it takes options only; see 'apapi help top'
top -d 0|--delay=0: not a number of seconds from 0.1 to 86400
top -d .|--delay=.: not a number of seconds
top -d x|--delay=x: not a number of seconds
top -d 1e9|--delay=1e9: not a number of seconds
top -d nan|--delay=nan: not a number of seconds
top -n 0|--iterations=0: not a number from 1 on
top -n 2x|--iterations=2x: not a number from 1 on
top --sort watts|--sort=watts: valid are job, power, energy and time
mark|expected begin, end or read NAME, run NAME -- COMMAND, or fom NAME VALUE [UNIT]
mark begin|begin: expected begin, end or read NAME
mark begin a b|begin: expected begin, end or read NAME
mark start x|start: expected begin, end or read NAME
mark run x|run: expected begin, end or read NAME
mark run x --|run: expected begin, end or read NAME
mark fom x|fom: expected begin, end or read NAME
mark fom x 1 a b|fom: expected begin, end or read NAME
mark fom x 1e400 J|fom: VALUE '1e400' is not a number
mark fom x 12kg|fom: VALUE '12kg' is not a number
END
    complains 2 '*NAME has 0 bytes, expected 1 to 255' "$apapi" mark begin ''
    complains 2 '*NAME has 256 bytes, expected 1 to 255' "$apapi" mark end "$(printf 'x%.0s' {1..256})"
    complains 2 "*'jobid%0': the width *" "$apapi" report --format=jobid%0
    [[ $stderr != *nodelist* ]] # no list of the fields
    complains 2 'usage:*' "$apapi"
    APAPI_SOURCES=nonsense complains 2 "*unknown source 'nonsense'*" "$apapi" list
}

commands=(list doctor mark top report show audit regions plot import export config sync)

@test "help and version of every command" {
    prints 0 'apapi [0-9]*.[0-9]*.[0-9]*' "$apapi" -V
    version=$output
    for words in --help -h help "help help" "help --help"; do
        # shellcheck disable=SC2086 # two words
        prints 0 'usage:*list*doctor*' "$apapi" $words
    done
    for command in "${commands[@]}"; do
        prints 0 "usage: apapi $command *" "$apapi" help "$command"
        [[ $("$apapi" "$command" --help) == "$output" && $(wc -L <<<"$output") -le 100 ]]
        for word in -V --version; do
            prints 0 "$version" "$apapi" "$command" "$word"
        done
    done
    run -0 "$apapi" report --helpformat
    [[ $output == jobid* && $output == *co2* ]]
}

@test "standard output that cannot be written is a failure" {
    record 31 0 n1 0 100 200
    for words in --version list "list --json" "doctor maxeler" "help list" "report -S 2026-01-01 --acct-dir $acct" "show 31 --acct-dir $acct" \
        "export --acct-dir $acct --prometheus -" "top -1 --dir $acct"; do
        # shellcheck disable=SC2016,SC2086 # words
        complains 1 '*standard output: No space left on device' bash -c '"$@" >/dev/full' - "$apapi" $words
    done
    complains 1 'atime: standard output: No space left on device' bash -c "'$atime' --version >/dev/full"
    complains 1 '*standard output*' bash -c "'$apapi' report --acct-dir '$acct' -S 2026-01-01 >&-"
}

@test "records that are not there" {
    for words in report 'show 17' 'regions 17' 'plot 17 -o a.svg' audit 'export --prometheus a.prom' 'import --db sqlite:db'; do
        # shellcheck disable=SC2086 # words
        tells 1 "apapi ${words%% *}: /no/such: No such file or directory" "$apapi" $words --acct-dir /no/such
    done
    for words in report 'show -f table' 'show 17' 'plot 17 -o a.svg' 'regions 17' 'import --db sqlite:db'; do
        # shellcheck disable=SC2086 # words
        tells 1 "apapi ${words%% *}: nowhere: No such file or directory" "$apapi" $words nowhere
    done
}

@test "a file that cannot be read is named, and the others are read" {
    record_line 17 0 n1 0 100 200 '.regions = [{name: "a", method: "unknown", time_s: 1}]' >file
    gzip -c file | head -c 60 >torn.gz
    for words in report 'show -f table' 'show 17' 'regions 17' 'plot 17 -o a.svg' 'import --db sqlite:db'; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr "$apapi" $words nowhere file torn.gz
        fits "$stderr" "apapi ${words%% *}: nowhere: No such file or directory"$'\n'"apapi ${words%% *}: torn.gz: *"
        [[ $output || -s a.svg ]]
    done
    [[ $(sqlite3 db 'select count(*) from records') == 1 ]]
}

@test "lines that are no records are counted, named with -v, and an error with --strict" {
    { record_line 17 0 n1 0 100 200 '.regions = [{name: "a", method: "unknown", time_s: 1}]'
      printf '{"apapi":1,"job\n\0\1\2\n'; } >file
    for words in report 'show 17' 'show -f table' 'regions 17' 'plot 17 -o a.svg' 'import --db sqlite:db'; do
        # shellcheck disable=SC2086 # words
        of_file() { complains "$1" "*$2" "$apapi" $words "${@:3}" file; }
        of_file 0 'apapi '*': 2 lines*skipped*-v shows *'
        of_file 0 'file:2: *file:3: *2 lines*skipped' -v
        of_file 1 '2 lines*skipped*' --strict
    done
}

@test "a database that is not there, none of ours, of another version, or not to be read" {
    echo 'this is no database, and long enough to be told so: ....................................' >foreign
    "$apapi" import --db sqlite:later /dev/null
    sqlite3 later "update apapi_schema set version = 99"
    "$apapi" import --db sqlite:older /dev/null
    sqlite3 older "update apapi_schema set version = 1"
    for words in 'report -j 17' 'show 17' 'regions 17' 'plot 17 -o a.svg' 'import /dev/null'; do
        # shellcheck disable=SC2086 # words
        from() { "$apapi" $words --db "sqlite:$1"; }
        tells 1 "apapi ${words%% *}: *not a database" from foreign
        tells 1 "apapi ${words%% *}: *version 99, this apapi knows 11" from later
        tells 1 '*the database is of version 1, this apapi knows 11: import the records into a new one' from older
        tells 1 "apapi ${words%% *}: *" from .
        [[ $words != import* ]] || continue
        tells 1 "apapi ${words%% *}: mistyped: No such file or directory" from mistyped
        : >empty
        tells 1 "apapi ${words%% *}: no records were imported into this database" from empty
        [[ ! -e mistyped && ! -s empty ]]
    done
    tells 1 'apapi import: nowhere/db: No such file or directory' "$apapi" import --db sqlite:nowhere/db /dev/null
    "$apapi" import --db sqlite:db /dev/null
    tells 1 'apapi report: no job found' "$apapi" report --db sqlite:db -j 17
    needs_another_user
    make_public
    publish "$apapi"
    install -m 000 empty "$public/private"
    tells 1 '*: Permission denied' "${nobody[@]}" "$public/apapi" report --db "sqlite:$public/private" -j 17
}

@test "a table fits COLUMNS: texts are cut, numbers and columns of a given width never" {
    record 70 0 n1 0 3725 200 '.job_name = "a-name-that-is-quite-long"'
    record 71 0 n1 4000 90000 30000 '.user = "anna-with-a-long-name"'
    for width in 80 72 70; do
        COLUMNS=$width run -0 --separate-stderr report -j 70,71
        (($(wc -L <<<"$output") <= width)) || { echo "$width: $output"; false; }
        [[ ${lines[0]} == jobid*"measured" && $output == *"745.0 kJ"*"200.0 W"* && $output == *"1-01:00:00"*"2.700 GJ"* ]]
    done
    [[ $output == *"a-n..."* ]]
    COLUMNS=40 run -0 --separate-stderr report -j 70 -n --format=jobid,jobname%25,nodelist,energy,power
    [[ $output == "70  "*"  a-name-that-is-quite-long  n1  "*"745.0 kJ"*"200.0 W" && ${#lines[@]} -eq 1 ]]
    copies 70 n1 72 1300
    COLUMNS=80 run -0 --separate-stderr report -j "$(seq -s, 70 1300)"
    ((${#lines[@]} == 1232 && $(wc -L <<<"$output") <= 80))
    unset COLUMNS
    [[ $(report -j 70 --format=jobid,jobname,energy | head -n 1) == "jobid       jobname           energy" ]]
}

@test "show FILE... is a step in files, show --brief a job in a few lines; merge and summary are old words for them" {
    record 17 0 n1 0 100 200
    record 17 0 n2 0 100 300
    record 18 0 n1 200 100 200
    files=("$acct"/*/n1.jsonl "$acct"/*/n2.jsonl)
    tells 0 '*step 17.0 *30.00 kJ*' "$apapi" show "${files[1]}"
    [[ $("$apapi" show - <"${files[1]}") == "$output" ]]
    tells 1 'apapi show: records of several steps: 17.0, 18.0; select one with -j' "$apapi" show "${files[@]}"
    tells 0 '*Energy: 50.00 kJ*' "$apapi" show --brief --acct-dir "$acct" -S 2026-01-01 17
    [[ $("$apapi" merge "${files[1]}" 2>&1) == "$("$apapi" show "${files[1]}")" ]]
    [[ $("$apapi" summary -j 17 "${files[@]}" 2>&1) == "$("$apapi" show --brief -j 17 "${files[@]}")" ]]
    script -qec "'$apapi' merge '${files[1]}' >out" /dev/null >said </dev/null
    [[ $(tr -d '\r' <said) == "apapi merge: an old word; it is 'apapi show FILE...' now" && $(head -n 1 out) == *'step 17.0 '* ]]
}

@test "each column of CSV, and of report, is in its manual page" {
    man=$BATS_TEST_DIRNAME/../../docs/man
    record 17 0 n1 0 100 200 '.regions = [{path: "solve", count: 1, programs: 1, threads: 1, time_s: 1, method: "measured", energies: {package: {energy_j: 1, uncertainty_j: 0.1}}}]'
    run -0 --separate-stderr "$apapi" audit --csv --acct-dir "$acct" -S 2026-11-19 -E 2026-11-22
    audit=${lines[0]//,/ }
    run -0 --separate-stderr "$apapi" regions -f csv 17 "$acct"/*/n1.jsonl
    regions=${lines[0]//,/ }
    [[ $audit == *closure_pct* && $regions == *edp_js*dram_j* ]]
    for key in $audit; do grep -q "_${key}_" "$man/apapi-audit.1.scd" || { echo "audit: $key"; false; }; done
    for key in $regions; do grep -q "_${key}_" "$man/apapi-regions.1.scd" || { echo "regions: $key"; false; }; done
    run -0 "$apapi" report --helpformat
    while read -r key _; do
        grep -qw "$key" "$man/apapi-report.1.scd" || { echo "report: $key"; false; }
    done <<<"$output"
}
