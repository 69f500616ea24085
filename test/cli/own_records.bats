#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ordinary users' view of the site's records: their own, where the site has user_records.

load report_common
load public

# Root's folder has both users' jobs: 17 is of user 65534, 18 of user 65533; user_records has the copies.
setup() {
    make_public
    publish "$apapi"
    acct=$public/acct
    record 17 0 n1 0 100 200 '.uid = 65534 | .user = "nobody"'
    record 18 0 n1 200 100 300 '.uid = 65533 | .user = "somebody"'
    for user in 65534:17 65533:18; do
        mkdir -p "$public/users/${user%:*}/2026-11-20"
        grep "\"job\":${user#*:}," "$acct/2026-11-20/n1.jsonl" >"$public/users/${user%:*}/2026-11-20/n1.jsonl"
        chown -R "${user%:*}" "$public/users/${user%:*}"
    done
    chmod -R go= "$acct" "$public"/users/*
    printf '%s\n' "acct_dir = $acct" "user_records = $public/users" >"$public/apapi.conf"
    somebody=("${nobody[@]//65534/65533}")
}

# As a user of the site, who has no other words for it than the command.
of_nobody() { "${nobody[@]}" env APAPI_CONFIG="$public/apapi.conf" "$public/apapi" "$@"; }
of_somebody() { "${somebody[@]}" env APAPI_CONFIG="$public/apapi.conf" "$public/apapi" "$@"; }

@test "a user's report has his own jobs, and no complaint about others'" {
    run -0 --separate-stderr of_nobody report -P -n -S 2026-01-01 --format=jobid,energy
    [[ $output == '17|20000' && -z $stderr ]]
    run -0 --separate-stderr of_somebody report -P -n -S 2026-01-01 --format=jobid,energy
    [[ $output == '18|30000' && -z $stderr ]]
    prints 0 $'17\n18' env APAPI_CONFIG="$public/apapi.conf" "$apapi" report -P -n -S 2026-01-01 --format=jobid
}

@test "show and plot, too" {
    run -0 --separate-stderr of_nobody show 17
    [[ $output == 'apapi: job 17 '*'20'*'kJ'* && -z $stderr ]]
    run -0 --separate-stderr of_nobody plot -o - 17
    [[ -n $output && -z $stderr ]]
}

@test "another's job: one sentence" {
    for words in 'report -j 18' 'show 18' 'plot -o - 18' 'regions 18'; do
        # shellcheck disable=SC2086 # words
        tells 1 "apapi ${words%% *}: none of your own records matches; only root reads the records of other users" of_nobody $words
    done
    tells 1 'apapi report: --user=somebody: only root reads the records of other users; without it, yours are shown' of_nobody report -u somebody
    tells 0 17 of_nobody report -n -P -u 65534 -S 2026-01-01 --format=jobid
}

@test "a user without any record: the same sentence; his own records have no regions: that" {
    rm -r "$public/users/65534"
    tells 1 'apapi report: none of your own records matches;*' of_nobody report
    tells 1 'apapi regions: no region in the records of this job' of_somebody regions 18
}

@test "named files and folders are what is read" {
    for words in "report --acct-dir $acct" "show --acct-dir $acct 17" "plot --acct-dir $acct -o - 17" "show -f table -j 17.0 $acct"; do
        # shellcheck disable=SC2086 # words
        tells 1 "apapi ${words%% *}: the accounting files in $acct are root's: name files with records of your own *--apapi-format=json*" \
            of_nobody $words
        [[ ${#lines[@]} -eq 1 ]]
    done
    cp "$public/users/65533/2026-11-20/n1.jsonl" "$public/given.json"
    chmod 644 "$public/given.json"
    tells 0 18 of_nobody report -n -P --format=jobid "$public/given.json"
}
