#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ordinary users' view of the site's records: their own, where the site has user_records.

load report_common
load public

# Root's folder has both users' jobs: 17 is of user 65534, 18 of user 65533; user_records has the copies.
setup() {
    repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
    apapi=$repository/${APAPI_TEST_BUILD:-build/release}/core/cli/apapi
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

teardown() { leave_public; }

# As a user of the site, who has no other words for it than the command.
of_nobody() { "${nobody[@]}" env APAPI_CONFIG="$public/apapi.conf" "$public/apapi" "$@"; }
of_somebody() { "${somebody[@]}" env APAPI_CONFIG="$public/apapi.conf" "$public/apapi" "$@"; }

@test "a user's report has his own jobs, and no complaint about others'" {
    run -0 --separate-stderr of_nobody report -P -n -S 2026-01-01 --format=jobid,energy
    [[ $output == '17|20000' && -z $stderr ]]
    run -0 --separate-stderr of_somebody report -P -n -S 2026-01-01 --format=jobid,energy
    [[ $output == '18|30000' && -z $stderr ]]
    run -0 --separate-stderr env APAPI_CONFIG="$public/apapi.conf" "$apapi" report -P -n -S 2026-01-01 --format=jobid
    [[ $output == $'17\n18' ]]
}

@test "show and plot, too" {
    run -0 --separate-stderr of_nobody show 17
    [[ $output == *'20'*'kJ'* && -z $stderr ]]
    run -0 --separate-stderr of_nobody show --json 17
    jq -e '.job == "17" or .job == 17' <<<"$output"
    run -0 --separate-stderr of_nobody plot -o - 17
    [[ -n $output && -z $stderr ]]
}

@test "another's job: one sentence" {
    for words in 'report -j 18' 'show 18' 'plot -o - 18' 'regions 18'; do
        # shellcheck disable=SC2086 # words
        run -1 of_nobody $words
        [[ $output == "apapi ${words%% *}: none of your own records matches; only root reads the records of other users" ]]
    done
    run -1 of_nobody report -u somebody
    [[ $output == "apapi report: --user=somebody: only root reads the records of other users; without it, yours are shown" ]]
    run -0 of_nobody report -n -P -u 65534 -S 2026-01-01 --format=jobid
    [[ $output == 17 ]]
}

@test "a user without any record: the same sentence; his own records have no regions: that" {
    rm -r "$public/users/65534"
    run -1 of_nobody report
    [[ $output == "apapi report: none of your own records matches;"* ]]
    run -1 of_somebody regions 18
    [[ $output == "apapi regions: no region in the records of this job" ]]
}

@test "named files and folders are what is read" {
    run -1 of_nobody report --acct-dir "$acct"
    [[ ${#lines[@]} -eq 1 && $output == *"are root's"* ]]
    cp "$public/users/65533/2026-11-20/n1.jsonl" "$public/given.json"
    chmod 644 "$public/given.json"
    run -0 of_nobody report -n -P --format=jobid "$public/given.json"
    [[ $output == 18 ]]
}

@test "without user_records: as ever" {
    echo "acct_dir = $acct" >"$public/apapi.conf"
    run -1 of_nobody report
    [[ ${#lines[@]} -eq 1 && $output == "apapi report: the accounting files in $acct are root's: "* ]]
}

# A sacct for every user of the test: lines with blanks for the delimiter of apapi's format, "-" at the end: no comment.
fake_sacct() { # LINE...
    mkdir -p "$public/bin"
    printf '%s\n' "$@" | tr ' ' '\037' >"$public/slurm"
    printf '%s\n' '#!/bin/sh' "cat '$public/slurm'" >"$public/bin/sacct"
    chmod 755 "$public/bin" "$public/bin/sacct"
    chmod 644 "$public/slurm"
    PATH=$public/bin:$PATH
}

slurm_lines=('17 17 c1 nobody physics batch normal run COMPLETED 0:0 1795168800 1795168900 100 2 8 800 00:00:00 {"apapi":{"v":1,"energy_j":1440.5,"uncertainty_j":2.5,"mean_w":14.4,"nodes":2,"measured_pct":99.5}}'
    '18_1 18_1 c1 nobody physics batch normal run FAILED 1:0 1795168800 1795168900 100 1 8 800 00:00:00 {"apapi":{"v":1,"energy_j":2000,"mean_w":20}}'
    '19 19 c1 nobody physics batch normal run COMPLETED 0:0 1795168800 1795168900 100 1 8 800 00:00:00 {"apapi":{"v":1,"energy_j":3000,"mean_w":30}}'
    '20 20 c1 nobody physics batch normal run COMPLETED 0:0 1795168800 1795168900 100 1 8 800 00:00:00 -')

@test "records that cannot be read: jobs as Slurm's accounting has them" {
    echo "acct_dir = $acct" >"$public/apapi.conf"
    fake_sacct "${slurm_lines[@]/18_1 /18 }"
    run -0 --separate-stderr of_nobody report -P -n --format=jobid,user,state,nodes,elapsed,energy,uncertainty,power,measured,package,records
    [[ ${#lines[@]} -eq 3 && -z $stderr ]]
    [[ ${lines[0]} == '17|nobody|COMPLETED|2|100|1440.5|2.5|14.4|99.5||' ]]
    [[ ${lines[1]} == '18_1|nobody|FAILED|1|100|2000||20|||' ]]
    run -0 --separate-stderr of_nobody report
    [[ $output == *19*'3'*'kJ'* && $stderr == "apapi report: from Slurm's accounting, which has totals of jobs alone" ]]
    run -0 of_nobody report -P -n --format=jobid --sort energy --top 2
    [[ $output == $'19\n18_1' ]]
    run -0 of_nobody report --json
    jq -e '.rows | length == 3 and all(has("package_j") | not)' <<<"$output"
}

@test "sums of jobs from Slurm's accounting, and jobs by their state" {
    echo "acct_dir = $acct" >"$public/apapi.conf"
    local lines_of=("${slurm_lines[@]/18_1 18_1 c1 nobody physics/18 18_1 c1 nobody chemistry}")
    fake_sacct "${lines_of[@]}" \
        '21 21 c1 nobody physics gpu normal run COMPLETED 0:0 1795168700 1795168900 200 1 8 1600 00:00:00 {"apapi":{"v":1,"energy_j":1000,"uncertainty_j":2.5,"mean_w":5,"measured_pct":49.5}}'
    run -0 --separate-stderr of_nobody report -P -n --by=account,partition \
        --format=account,partition,user,jobs,nodes,elapsed,energy,uncertainty,power,measured,state
    [[ ${lines[0]} == 'chemistry|batch|nobody|1||100|2000||20||' ]]
    [[ ${lines[1]} == 'physics|batch|nobody|2||200|4440.5||22.1986461||' ]]
    [[ ${lines[2]} == 'physics|gpu|nobody|1||200|1000|2.5|5|49.5|' && ${#lines[@]} -eq 3 ]]
    run -0 of_nobody report -P -n --by=user --format=user,partition,jobs,energy
    [[ $output == 'nobody||4|7440.5' ]]
    run -0 of_nobody report -P -n --by=partition --sort=energy --format=partition,energy --top=1
    [[ $output == 'batch|6440.5' ]]
    fake_sacct "${slurm_lines[0]}" "${slurm_lines[2]/100 1 8/300 1 8}"
    sed -i 's/3000,"mean_w":30/3000,"mean_w":10,"measured_pct":39.5/' "$public/slurm"
    run -0 of_nobody report -P -n --by=user --format=jobs,energy,power,measured # by time of nodes: 200 s and 300 s
    [[ $output == '2|4440.5|11.1002864|63.5' ]]
    fake_sacct "${slurm_lines[0]/1440.5/-1440.5}" # no energy at all
    run -1 of_nobody report
    [[ $output == *"are root's: "* ]]
    fake_sacct "${slurm_lines[@]/18_1 /18 }"
    run -0 of_nobody report -P -n --state=F --format=jobid
    [[ $output == 18_1 ]]
    run -0 of_nobody report -P -n --state=CD,F --format=jobid
    [[ $output == $'17\n18_1\n19' ]]
}

@test "what Slurm's accounting does not say either: why there is nothing" {
    echo "acct_dir = $acct" >"$public/apapi.conf"
    fake_sacct "${slurm_lines[3]}"
    run -1 of_nobody report
    [[ ${#lines[@]} -eq 1 && $output == "apapi report: the accounting files in $acct are root's: "* ]]
    fake_sacct "${slurm_lines[0]}"
    for option in --by=step --by=node --by=day --energy=share --nodelist=n1; do # these need records
        run -1 of_nobody report "$option"
        [[ ${#lines[@]} -eq 1 && $output == *"are root's: "* ]]
    done
    run -1 of_nobody report --acct-dir "$acct"
    [[ $output == *"are root's: "* ]]
}

@test "own records come first; Slurm's accounting is asked for what they do not have" {
    fake_sacct "${slurm_lines[@]}"
    run -0 of_nobody report -P -n -S 2026-01-01 --format=jobid,energy
    [[ $output == '17|20000' ]]
    rm -r "$public/users/65534"
    run -0 of_nobody report -P -n -S 2026-01-01 --format=jobid,energy
    [[ ${lines[0]} == '17|1440.5' ]]
}
